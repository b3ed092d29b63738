/* SPDX-License-Identifier: Apache-2.0 */
/*
 * followed.h - one JVM that pjmap -i follows: its helper process, its timeline, its perf-PID.map, and what it costs.
 *
 * Two parts of one module: follow.c finds JVMs and decides which is looked at when, followed.c looks. A look is a
 * request to the helper of the JVM; others are looked at while it is not answered for long. A JVM whose helper hangs or
 * crashes is tried again later and later.
 */
#ifndef PJ_FOLLOWED_H
#define PJ_FOLLOWED_H

#include "jmap/reader/allowance.h"
#include "common/filter/boot.h"
#include "jmap/timeline/journalfile.h"
#include "jmap/reader/jvmhandle.h"
#include "jmap/mapopts.h"
#include "jmap/perfmap/perfmaps.h"

#define FOLLOW_MS UINT64_C(1000000)
#define FOLLOW_SECOND (1000 * FOLLOW_MS)
#define FOLLOWED_ALONE \
	(100 * FOLLOW_MS) /* so long a look keeps others waiting; if it takes longer, they go on beside it */

struct followed {
	struct jvm_process p;
	struct jvmhandle look;
	struct journalfile t;
	struct tenant tenant;
	uint64_t memory;     /* bytes, between looks */
	uint64_t known;      /* of these, for what it knows of the code */
	uint64_t cost;       /* ns of CPU time, of the last look; UINT64_MAX: there was none */
	uint64_t steps;      /* of the next look */
	bool open, reported; /* its layout is known; that it cannot be read */
	char version[64];
	bool fresh;        /* the timeline has nothing of this helper yet */
	bool stuck;        /* its timeline could not be written the last time */
	bool last;         /* the look that goes on is the last one: pjmap ends */
	unsigned failures; /* of helpers, in a row */
	uint64_t since, next;
	uint64_t written;  /* of t, when the map was last written */
	uint64_t left_out; /* pieces of code, in the last look */
};

/* A process that began a program. */
struct follow_candidate {
	pid_t pid;
	uint64_t at;
	unsigned tries;
};

struct follower {
	const struct request *r;
	struct followed *one;
	size_t n, cap;
	size_t jvms_max;        /* of a tenant */
	uint64_t memory;        /* bytes, of all */
	uint64_t not_followed;  /* beyond jvms_max */
	uint64_t hung, crashed; /* helpers */
	struct jvmhandle_left left;
	struct allowance allowance;
	struct perfmaps maps;
	struct follow_candidate candidate[1024];
	size_t ncandidates;
	int execs;
	bool failed;
	uint64_t everywhere; /* when all processes are looked at again */
	uint64_t regular;    /* at the latest */
	uint64_t rested;     /* when what looking for JVMs cost so far will be one part in LOOK_SHARE of the time */
	uint64_t execs_read;
	uint64_t seen, ended;
	char boot[BOOT_ID + 1];
	struct mapsdir_swept swept;   /* sums; bytes: of DIR/maps as of the last sweep */
	uint64_t next_sweep, soonest; /* or, when much was written */
	uint64_t grown;               /* bytes that were written since */
	bool full_reported;
	uint64_t left_out, begun_anew; /* pieces of code, of JVMs that were let go; timelines */
};

/* Is it still that process, and does it run the same program? */
bool followed_lives(const struct followed *followed);

/* Begins a look. False: it is gone. */
bool followed_look(struct follower *follower, struct followed *followed, uint64_t now, bool last);

/* Takes the answer of a look that goes on, if there is one, or ends the helper if it hangs. False: the JVM is gone. */
bool followed_take(struct follower *follower, struct followed *followed, uint64_t now);

/* Ends the helper; the next look starts another one. */
void followed_stop(struct follower *follower, struct followed *followed);

/* The timeline is replaced by a new file: there is no room for what was there before. */
void followed_begin_anew(struct follower *follower, struct followed *followed, const char *limit);

#endif
