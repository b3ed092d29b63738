/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backoff.h - avoids files at which helper processes failed, for a time, and limits the starts of helper processes.
 *
 * A place is a set of files that one tenant can make unreadable or slow (backoff_place). A place is avoided for one of
 * three reasons:
 *
 * Failures. A place at which a helper hung, or more than two crashed, is avoided for 10 s, after each further failure
 * for four times as long, an hour at most; an hour without a failure forgets them all. So a tenant whose file system
 * does not answer loses its own symbols and tables, delays those of others by one time limit, and no feature is off for
 * good.
 *
 * Helpers that do not end. A helper that is killed while it waits for a file system ends only when that file system
 * answers (FUSE waits uninterruptibly after its server has read the request). It lingers: its place is avoided until it
 * has ended, and while BACKOFF_LINGERING_MAX linger, no other helper of this kind is started, so that they cannot pile
 * up (BACKOFF_LINGERING_TENANTS, where each tenant has a helper of its own).
 *
 * Slowness. Each place may block a helper for a quarter of the time, and for BACKOFF_BURST_NS at once. One that blocked
 * it for longer rests until that is true again, so a FUSE server that delays each answer does not delay the symbols of
 * all others. Only blocked time counts: a loaded machine, on which the helper waits for a CPU, slows no place down.
 *
 * Pure but for backoff_failed, backoff_abandon and the functions that reap. Times are CLOCK_MONOTONIC, ns.
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
		uint64_t paid; /* time at which the time that it blocked a helper will be a quarter of all time */
	} place[BACKOFF_PLACES_MAX];
	struct backoff_lingering {
		pid_t pid; /* 0: free */
		uint64_t place;
	} lingering[BACKOFF_LINGERING_TENANTS];
	unsigned lingering_max; /* 0: BACKOFF_LINGERING_MAX */
	uint64_t rest;          /* no helper is started before this time */
	uint64_t hung, crashed, restarts, avoided;
};

/* Returns the place of a process's files, never 0. All files of a tenant are one place. Those of root on this host are
 * as many places as devices (device: of the file), since only root mounts there. own_ns: mount namespace of the
 * recorder. */
uint64_t backoff_place(const struct tenant *tenant, uint64_t own_ns, uint64_t device);
bool backoff_is_host(const struct tenant *tenant, uint64_t own_ns);

/* Counts a failure: the helper hung or crashed at files of a place (0: at none). The caller has killed it, or it has
 * ended; it is reaped now or later. */
void backoff_failed(struct backoff *backoff, pid_t pid, uint64_t place, bool hung, uint64_t now);

/* Kills a further process of a failed helper, and reaps it now or later. */
void backoff_abandon(struct backoff *backoff, pid_t pid, uint64_t place);

/* Adds the time for which files of a place blocked a helper. */
void backoff_blocked(struct backoff *backoff, uint64_t place, uint64_t blocked_ns, uint64_t now);

/* Returns true, and counts the case, if no helper may use files of the place now, because of failures or a lingering
 * helper. */
bool backoff_avoids(struct backoff *backoff, uint64_t place, uint64_t now);

/* Returns the time until which a place is avoided; 0 if it is not. A place with a lingering helper is avoided for a
 * further minute. */
uint64_t backoff_avoided_until(const struct backoff *backoff, uint64_t place, uint64_t now);

/* Returns true while the place rests because it was slow. */
bool backoff_rests(const struct backoff *backoff, uint64_t place, uint64_t now);

/* Returns true if a helper may be started now. Reaps helpers that have ended. */
bool backoff_may_start(struct backoff *backoff, uint64_t now);

/* Returns true if another helper may linger: as backoff_may_start, but without the pause after a crash. Reaps helpers
 * that have ended. */
bool backoff_has_space(struct backoff *backoff);

/* Return the number of killed helpers that have not ended, and of avoided places. */
unsigned backoff_lingering(const struct backoff *backoff);
unsigned backoff_places_avoided(const struct backoff *backoff, uint64_t now);

struct helper_counts {
	uint64_t hung, crashed;  /* helpers that were replaced */
	uint64_t avoided;        /* requests that were not sent to a helper */
	uint64_t lingering, off; /* now: killed ones that have not ended; off 1: none runs */
};
struct helper_counts backoff_counts(const struct backoff *backoff, bool off);
struct helper_counts helper_counts_since(const struct helper_counts *now, const struct helper_counts *before);

#endif
