/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backoff.h - which files helper processes leave alone, and for how long, and when the next helper may start.
 *
 * A place is a set of files that one tenant can make unreadable or slow (backoff_place). Three reasons to leave a place
 * alone:
 *
 * Failures. A place at which a helper hung, or more than two crashed, is avoided for 10 s, after each further failure
 * for four times as long, an hour at most; an hour without a failure forgets them all. So a tenant whose file system
 * does not answer loses its own symbols and tables, delays those of others by one time limit, and no feature is off for
 * good.
 *
 * Helpers that do not end. One that was killed in a file system that does not answer ends only when that file system
 * does (FUSE waits uninterruptibly once its server has read the request). It lingers: its place is avoided until it has
 * ended, and while BACKOFF_LINGERING_MAX linger, no other helper of this kind is started, so that they cannot pile up
 * (BACKOFF_LINGERING_TENANTS, where each tenant has a helper of its own).
 *
 * Slowness. Each place may block a helper for a quarter of the time, and for BACKOFF_BURST_NS at once. One that blocked
 * it for longer rests until that is true again, so a FUSE server that delays each answer does not delay the symbols of
 * all others. Only blocked time counts: a loaded machine, on which the helper waits for a CPU, slows no place down.
 *
 * Pure but for backoff_failed, backoff_abandon and the questions that reap. Times are CLOCK_MONOTONIC, ns.
 */
#ifndef PJ_BACKOFF_H
#define PJ_BACKOFF_H

#include "common/process/tenants.h"

enum { BACKOFF_PLACES_MAX = 64, BACKOFF_LINGERING_MAX = 8, BACKOFF_LINGERING_TENANTS = 32 };

#define BACKOFF_BURST_NS UINT64_C(1000000000)
#define BACKOFF_SHARE 4                              /* 1/4 of the time */
#define BACKOFF_BLOCKED_MAX_NS UINT64_C(60000000000) /* that count */

struct backoff {
	struct backoff_place {
		uint64_t place;       /* 0: free */
		uint64_t until, last; /* avoided until; the last failure */
		unsigned n, crashes;  /* failures that count; crashes */
		uint64_t paid;        /* when the time that it blocked a helper will have been a quarter of the time */
	} place[BACKOFF_PLACES_MAX];
	struct backoff_lingering {
		pid_t pid; /* 0: free */
		uint64_t place;
	} lingering[BACKOFF_LINGERING_TENANTS];
	unsigned lingering_max; /* 0: BACKOFF_LINGERING_MAX */
	uint64_t rest;          /* no helper is started until then */
	uint64_t hung, crashed, restarts, avoided;
};

/* Which place files of a process are in. Those of a tenant are one place; those of root on this host are as many as
 * there are devices (device: of the file), since only root mounts there. own_ns: the mount namespace of the recorder.
 * Never 0. */
uint64_t backoff_place(const struct tenant *tenant, uint64_t own_ns, uint64_t device);
bool backoff_is_host(const struct tenant *tenant, uint64_t own_ns);

/* A helper hung or crashed at files of a place (0: at none). It was killed, or ended; it is reaped now or later. */
void backoff_failed(struct backoff *backoff, pid_t pid, uint64_t place, bool hung, uint64_t now);

/* Kills a further process of a failed helper, and reaps it now or later. */
void backoff_abandon(struct backoff *backoff, pid_t pid, uint64_t place);

/* Files of a place blocked a helper for so long. */
void backoff_blocked(struct backoff *backoff, uint64_t place, uint64_t blocked_ns, uint64_t now);

/* True, and counted, if files of the place are not to be given to a helper now, for failures or a helper that lingers.
 */
bool backoff_avoids(struct backoff *backoff, uint64_t place, uint64_t now);

/* Until when, 0: it is not. A place at which a helper lingers is avoided for a minute more. */
uint64_t backoff_avoided_until(const struct backoff *backoff, uint64_t place, uint64_t now);

/* True while the place rests, for slowness. */
bool backoff_rests(const struct backoff *backoff, uint64_t place, uint64_t now);

/* True if a helper may be started now. Reaps those that have ended. */
bool backoff_may_start(struct backoff *backoff, uint64_t now);

/* The same whatever crashed just now: true if no more helpers linger than may. Reaps those that have ended. */
bool backoff_has_space(struct backoff *backoff);

/* Helpers that were killed and have not ended; places that are avoided. */
unsigned backoff_lingering(const struct backoff *backoff);
unsigned backoff_places_avoided(const struct backoff *backoff, uint64_t now);

struct helper_counts {
	uint64_t hung, crashed;  /* helpers that were replaced */
	uint64_t avoided;        /* questions that were not put to a helper */
	uint64_t lingering, off; /* now: killed ones that have not ended; off 1: none runs */
};
struct helper_counts backoff_counts(const struct backoff *backoff, bool off);
struct helper_counts helper_counts_since(const struct helper_counts *now, const struct helper_counts *before);

#endif
