/* SPDX-License-Identifier: Apache-2.0 */
/*
 * followed.h - one JVM that pjmap -i follows: its helper process, timeline, perf-PID.map and costs.
 *
 * follow.c finds JVMs and decides when each one is scanned. followed.c scans one JVM by a request to its helper process
 * (struct jvmhandle). If the answer takes longer than FOLLOWED_ALONE, scans of other JVMs start meanwhile. If the
 * helper hangs or crashes, the pause before its next start doubles with each failure.
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

/* FOLLOW_MS: one millisecond in ns; FOLLOW_SECOND: one second in ns */
#define FOLLOW_MS UINT64_C(1000000)
#define FOLLOW_SECOND (1000 * FOLLOW_MS)
/* maximum time in ns for which one scan delays the scans of other JVMs; after it, they start although the helper has
 * not answered */
#define FOLLOWED_ALONE (100 * FOLLOW_MS)

/* One followed JVM. */
struct followed {
	/* process of the JVM */
	struct jvm_process p;
	/* helper process that reads the JVM */
	struct jvmhandle look;
	/* file of the code timeline */
	struct journalfile t;
	/* tenant that the JVM belongs to */
	struct tenant tenant;
	/* bytes of memory that pjmap and the helper hold for this JVM between scans */
	uint64_t memory;
	/* part of `memory`, in bytes: the helper's data about the code (struct journal) */
	uint64_t known;
	/* CPU time of the last scan in ns; UINT64_MAX before the first scan */
	uint64_t cost;
	/* limit for the number of steps of the next scan (readbudget.h) */
	uint64_t steps;
	/* open: true if the helper has read the layout of the JVM; reported: true if a message about this JVM was
	 * printed */
	bool open, reported;
	/* JDK version as the JVM reports it (untrusted); part of the first record of the timeline */
	char version[64];
	/* true if the next scan must write records of all code: the timeline is new, or the helper is */
	bool fresh;
	/* true if the last write to the timeline failed */
	bool stuck;
	/* true if the current or latest scan is the last one, because pjmap ends */
	bool last;
	/* number of helpers that hung or crashed since the last answer */
	unsigned failures;
	/* since: start time of the process; next: time at which the next scan is due; both in ns of clock_now() */
	uint64_t since, next;
	/* value of t.written, in bytes, at the time when perf-PID.map was last written */
	uint64_t written;
	/* number of code blobs for which the last scan wrote no record, because it could not read or name them */
	uint64_t left_out;
};

/* A process that executed a program and may become a JVM. */
struct follow_candidate {
	pid_t pid;
	/* time of the next check, in ns of clock_now() */
	uint64_t at;
	/* number of checks so far */
	unsigned tries;
};

/* State of pjmap -i: the followed JVMs, with their budgets and counters. */
struct follower {
	/* parsed command line */
	const struct request *r;
	/* followed JVMs: n elements, memory for cap */
	struct followed *one;
	size_t n, cap;
	/* maximum number of followed JVMs of one tenant; the limit for all tenants is four times as many */
	size_t jvms_max;
	/* bytes of memory that pjmap and its helpers hold for all followed JVMs */
	uint64_t memory;
	/* number of JVMs that pjmap did not follow because of jvms_max */
	uint64_t not_followed;
	/* hung: number of scans whose helper hung; crashed: number of scans whose helper crashed */
	uint64_t hung, crashed;
	/* helper processes that pjmap has ended but that have not exited yet */
	struct jvmhandle_left left;
	/* CPU, disk and memory budgets of the tenants */
	struct allowance allowance;
	/* perf-PID.map files that pjmap has written */
	struct perfmaps maps;
	/* ncandidates processes that executed a program and may become JVMs */
	struct follow_candidate candidate[1024];
	size_t ncandidates;
	/* descriptor of execs_open; -1 if exec messages are not available */
	int execs;
	/* true if a file could not be written, or a JVM given by its pid could not be read: pjmap then ends with an
	 * error status */
	bool failed;
	/* time of the next search for JVMs among all processes, in ns of clock_now() */
	uint64_t everywhere;
	/* time of the next regular search among all processes, in ns of clock_now(); `everywhere` is earlier if a
	 * search is urgent */
	uint64_t regular;
	/* time, in ns of clock_now(), until which searches for JVMs must pause so that they take at most 1/LOOK_SHARE
	 * of a CPU; a search may start up to LOOK_BURST earlier */
	uint64_t rested;
	/* time of the last read of exec messages that returned a pid, in ns of clock_now() */
	uint64_t execs_read;
	/* seen: number of JVMs that were followed so far; ended: number of these JVMs that have ended */
	uint64_t seen, ended;
	/* id of this boot: name of the directory of timelines in DIR/maps */
	char boot[BOOT_ID + 1];
	/* sums over all sweeps so far: unneeded: number of removed timelines that no window needed; needed: number of
	 * removed timelines that a window needed. bytes: size of DIR/maps after the last sweep */
	struct mapsdir_swept swept;
	/* next_sweep: time of the next regular sweep; soonest: earliest time of a sweep because of many new bytes; both
	 * in ns of clock_now() */
	uint64_t next_sweep, soonest;
	/* number of bytes written to timelines since the last sweep */
	uint64_t grown;
	/* true if pjmap has reported that DIR/maps exceeds --keep-bytes, and DIR/maps still exceeds it */
	bool full_reported;
	/* left_out: number of code blobs without record in JVMs that are no longer followed; begun_anew: number of
	 * restarts of timelines */
	uint64_t left_out, begun_anew;
};

/* Returns true if the JVM's process still runs the program that it ran when pjmap found it. */
bool followed_lives(const struct followed *followed);

/* Starts a scan of the JVM at time `now`, unless its tenant is over budget or has too many blocked helpers. Sets the
 * time of the next scan. last: true if pjmap ends and this is the last scan of the JVM. Returns false if no scan was
 * started because the process has ended. */
bool followed_look(struct follower *follower, struct followed *followed, uint64_t now, bool last);

/* Handles the helper's answer to the current scan if it has arrived. Ends a helper that hangs. Returns false if the
 * process has ended. */
bool followed_take(struct follower *follower, struct followed *followed, uint64_t now);

/* Ends the helper and closes the timeline. The next followed_look starts a new helper. */
void followed_stop(struct follower *follower, struct followed *followed);

/* Restarts the timeline in a new file, because it exceeds a limit. The timeline loses the names of earlier code. limit:
 * name of the limit, for the message. */
void followed_begin_anew(struct follower *follower, struct followed *followed, const char *limit);

#endif
