/* SPDX-License-Identifier: Apache-2.0 */
/*
 * followed.h - one JVM that pjmap -i follows: its helper process, its timeline, its perf-PID.map, and its costs.
 *
 * The module has two parts: follow.c finds JVMs and decides which one is scanned when; followed.c scans one JVM, by a
 * request to its helper process (member `look`). If the answer takes long, scans of other JVMs start meanwhile. A JVM
 * whose helper hangs or crashes is scanned again after increasing times.
 *
 * Times are in ns of clock_now() unless stated otherwise.
 */
#ifndef PJ_FOLLOWED_H
#define PJ_FOLLOWED_H

#include "jmap/reader/allowance.h"
#include "common/filter/boot.h"
#include "jmap/timeline/journalfile.h"
#include "jmap/reader/jvmhandle.h"
#include "jmap/mapopts.h"
#include "jmap/perfmap/perfmaps.h"

/* number of ns in a millisecond and in a second */
#define FOLLOW_MS UINT64_C(1000000)
#define FOLLOW_SECOND (1000 * FOLLOW_MS)
/* maximum time in ns for which a scan delays those of other JVMs; afterwards they start beside it */
#define FOLLOWED_ALONE (100 * FOLLOW_MS)

/* One followed JVM. */
struct followed {
	/* p: the process; look: its helper; t: its timeline; tenant: its tenant */
	struct jvm_process p;
	struct jvmhandle look;
	struct journalfile t;
	struct tenant tenant;
	/* bytes of memory that this JVM costs pjmap between scans, with its helper */
	uint64_t memory;
	/* part of `memory` for the helper's list of code */
	uint64_t known;
	/* CPU time of the last scan in ns; UINT64_MAX: there was none */
	uint64_t cost;
	/* budget of the next scan, in steps (readbudget.h) */
	uint64_t steps;
	/* open: the layout of the JVM is known; reported: a message about this JVM was printed */
	bool open, reported;
	/* version of the JVM, untrusted; the first record of the timeline contains it */
	char version[64];
	/* true: the next scan must report all code as new, because the timeline has nothing from this helper yet */
	bool fresh;
	/* true: the last write to the timeline failed */
	bool stuck;
	/* true: the current scan is the last one, because pjmap ends */
	bool last;
	/* number of failures of helpers (hangs and crashes) since the last answer */
	unsigned failures;
	/* since: start of the process; next: time of the next scan */
	uint64_t since, next;
	/* value of t.written when perf-PID.map was last written */
	uint64_t written;
	/* number of code blobs that the last scan could not read or name */
	uint64_t left_out;
};

/* A process that executed a program and may become a JVM. at: time of the next check; tries: number of checks
 * so far. */
struct follow_candidate {
	pid_t pid;
	uint64_t at;
	unsigned tries;
};

/* State of pjmap -i. */
struct follower {
	/* r: the options; one: the followed JVMs */
	const struct request *r;
	struct followed *one;
	size_t n, cap;
	/* maximum number of followed JVMs of one tenant; four times as many for all tenants */
	size_t jvms_max;
	/* bytes of memory that all followed JVMs cost pjmap */
	uint64_t memory;
	/* number of JVMs that were not followed because of jvms_max */
	uint64_t not_followed;
	/* number of helpers that hung, and that crashed */
	uint64_t hung, crashed;
	/* helpers that were ended but have not exited yet */
	struct jvmhandle_left left;
	/* allowance: budgets of the tenants; maps: perf-PID.map files that were written; candidate: processes that may
	 * become JVMs */
	struct allowance allowance;
	struct perfmaps maps;
	struct follow_candidate candidate[1024];
	size_t ncandidates;
	/* descriptor of execs.h; -1: exec messages are not available */
	int execs;
	/* true: pjmap will end with an error status */
	bool failed;
	/* time of the next search through all processes */
	uint64_t everywhere;
	/* time of the next regular search through all processes; `everywhere` may be earlier */
	uint64_t regular;
	/* time until which the searches for JVMs would have to pause, so that they take 1/LOOK_SHARE of a CPU */
	uint64_t rested;
	/* execs_read: time of the last read of `execs`; seen: number of JVMs that were found; ended: number of those
	 * that ended */
	uint64_t execs_read;
	uint64_t seen, ended;
	char boot[BOOT_ID + 1];
	/* sums of removed timelines over all sweeps; swept.bytes: size of DIR/maps at the last sweep */
	struct mapsdir_swept swept;
	/* next_sweep: time of the next sweep; soonest: earliest time of a sweep, used if much was written */
	uint64_t next_sweep, soonest;
	/* bytes that were written to timelines since the last sweep */
	uint64_t grown;
	/* true: the message that DIR/maps exceeds its limit was printed */
	bool full_reported;
	/* left_out: number of code blobs left out, of JVMs that were dropped; begun_anew: number of restarted
	 * timelines */
	uint64_t left_out, begun_anew;
};

/* Returns true if the process still runs the same program. */
bool followed_lives(const struct followed *followed);

/* Starts a scan if the tenant's budget permits it, and sets the time of the next one. last: pjmap ends. Returns false
 * if the process has ended. */
bool followed_look(struct follower *follower, struct followed *followed, uint64_t now, bool last);

/* Handles the answer of the current scan if it has arrived; ends the helper if it hangs. Returns false if the process
 * has ended. */
bool followed_take(struct follower *follower, struct followed *followed, uint64_t now);

/* Ends the helper and closes the timeline. The next scan starts another helper. */
void followed_stop(struct follower *follower, struct followed *followed);

/* Replaces the timeline by a new file, because it exceeds a limit, which the message names. Names of earlier code are
 * lost. */
void followed_begin_anew(struct follower *follower, struct followed *followed, const char *limit);

#endif
