/* SPDX-License-Identifier: Apache-2.0 */
/*
 * followed.h - one JVM that pjmap -i follows: its helper process, its timeline, its perf-PID.map, and its costs.
 *
 * The module has two parts: follow.c finds JVMs and decides which one is scanned when; followed.c performs the scan,
 * here called a look. A look is a request to the helper process of the JVM. If the response takes long, looks at other
 * JVMs start meanwhile. A JVM whose helper hangs or crashes is retried after increasing times.
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

/* ns in a ms and in a s */
#define FOLLOW_MS UINT64_C(1000000)
#define FOLLOW_SECOND (1000 * FOLLOW_MS)
#define FOLLOWED_ALONE \
	(100 * FOLLOW_MS) /* a look delays others for at most this time; if it takes longer, they start beside it */

/* A followed JVM. */
struct followed {
	/* the process, its helper, its timeline, its tenant */
	struct jvm_process p;
	struct jvmhandle look;
	struct journalfile t;
	struct tenant tenant;
	/* bytes that it uses between looks */
	uint64_t memory;
	/* part of `memory` for the list of its code */
	uint64_t known;
	/* CPU time of the last look in ns; UINT64_MAX: there was none */
	uint64_t cost;
	/* budget of the next look, in steps */
	uint64_t steps;
	/* open: its layout is known; reported: a message that it cannot be read was printed */
	bool open, reported;
	/* version of the JVM, untrusted; start of the timeline */
	char version[64];
	/* nothing of this helper is in the timeline yet, so the next scan reports all code as new */
	bool fresh;
	/* the last write to its timeline failed */
	bool stuck;
	/* the present look is the last one, as pjmap ends */
	bool last;
	/* failures of helpers in a row */
	unsigned failures;
	/* start of the process; time of the next look */
	uint64_t since, next;
	/* value of t.written when the map was last written */
	uint64_t written;
	/* number of code blobs that the last look left out */
	uint64_t left_out;
};

/* A process that executed a program, and may become a JVM; `at` is the time of the next check. */
struct follow_candidate {
	pid_t pid;
	uint64_t at;
	unsigned tries;
};

/* The state of pjmap -i. */
struct follower {
	/* the options; the followed JVMs */
	const struct request *r;
	struct followed *one;
	size_t n, cap;
	/* limit for each tenant */
	size_t jvms_max;
	/* bytes that all JVMs use */
	uint64_t memory;
	/* number of JVMs beyond jvms_max */
	uint64_t not_followed;
	/* number of helpers that hung or crashed */
	uint64_t hung, crashed;
	/* helpers that were killed but have not ended */
	struct jvmhandle_left left;
	/* budgets of the tenants; the maps that were written; processes that may become JVMs */
	struct allowance allowance;
	struct perfmaps maps;
	struct follow_candidate candidate[1024];
	size_t ncandidates;
	/* descriptor of execs.h; -1: none */
	int execs;
	/* pjmap ends with an error status */
	bool failed;
	/* time of the next scan of all processes */
	uint64_t everywhere;
	/* latest time of that scan */
	uint64_t regular;
	/* time at which the cost of the searches for JVMs has fallen to one part in LOOK_SHARE of the time */
	uint64_t rested;
	/* last read of `execs`; number of JVMs that were found and that ended */
	uint64_t execs_read;
	uint64_t seen, ended;
	char boot[BOOT_ID + 1];
	/* sums of all sweeps; member bytes: size of DIR/maps at the last sweep */
	struct mapsdir_swept swept;
	/* time of the next sweep; earliest time, if much was written */
	uint64_t next_sweep, soonest;
	/* bytes that were written since the last sweep */
	uint64_t grown;
	/* the message that DIR/maps exceeds its limit was printed */
	bool full_reported;
	/* code blobs left out of JVMs that were dropped; timelines that were restarted */
	uint64_t left_out, begun_anew;
};

/* True if the process still runs and executes the same program. */
bool followed_lives(const struct followed *followed);

/* Starts a look. `last`: pjmap ends. Returns false if the process has ended. */
bool followed_look(struct follower *follower, struct followed *followed, uint64_t now, bool last);

/* Handles the response of the present look, if it has arrived, or kills the helper if it hangs. Returns false if the
 * process has ended. */
bool followed_take(struct follower *follower, struct followed *followed, uint64_t now);

/* Ends the helper and closes the timeline; the next look starts another helper. */
void followed_stop(struct follower *follower, struct followed *followed);

/* Replaces the timeline by a new file, as it exceeds a limit, whose name is in the message. Names of earlier code
 * are lost. */
void followed_begin_anew(struct follower *follower, struct followed *followed, const char *limit);

#endif
