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
 * Slowness. Each place may block a helper for a quarter of the time, and for BACKOFF_BURST_NS at once. A place that
 * blocked a helper for longer rests until its share is a quarter again, so a FUSE server that delays each answer does
 * not delay the symbols of all others. Only blocked time counts: a loaded machine, on which the helper waits for a CPU,
 * slows no place down.
 *
 * Pure but for backoff_failed, backoff_abandon and the functions that reap. Times are CLOCK_MONOTONIC, ns.
 */
#ifndef PJ_BACKOFF_H
#define PJ_BACKOFF_H

#include "common/process/tenants.h"

enum { BACKOFF_PLACES_MAX = 64, BACKOFF_LINGERING_MAX = 8, BACKOFF_LINGERING_TENANTS = 32 };

#define BACKOFF_BURST_NS UINT64_C(1000000000)
#define BACKOFF_SHARE 4                              /* a place may block a helper for 1/4 of the time */
#define BACKOFF_BLOCKED_MAX_NS UINT64_C(60000000000) /* longest blocked time of a place that is counted */

struct backoff {
	struct backoff_place {
		uint64_t place; /* id of the place (backoff_place); 0: the slot is free */
		/* until: end of the time for which the place is avoided; last: time of the last failure */
		uint64_t until, last;
		unsigned n, crashes; /* n: failures that count towards `until`; crashes: all crashes */
		/* End of the time that pays for its blocked time: four times as long. In the past: no debt. */
		uint64_t paid;
	} place[BACKOFF_PLACES_MAX];
	struct backoff_lingering {
		pid_t pid; /* pid of a killed helper that has not ended; 0: the slot is free */
		uint64_t place;
	} lingering[BACKOFF_LINGERING_TENANTS];
	unsigned lingering_max; /* limit for lingering helpers; 0: BACKOFF_LINGERING_MAX */
	uint64_t rest;          /* no helper is started before this time */
	uint64_t hung, crashed, restarts, avoided;
};

/* Returns the id of the place that a process's files belong to, never 0. All files of a tenant are one place. For root
 * on this host, each device (of the file) is one place, since only root mounts there. own_ns: mount namespace of the
 * recorder. */
uint64_t backoff_place(const struct tenant *tenant, uint64_t own_ns, uint64_t device);
bool backoff_is_host(const struct tenant *tenant, uint64_t own_ns);

/* Counts a failure: helper `pid` hung or crashed while it used files of a place (0: of none). The helper has ended, or
 * is killed here; it is reaped now or later. */
void backoff_failed(struct backoff *backoff, pid_t pid, uint64_t place, bool hung, uint64_t now);

/* Kills a helper process and reaps it now or later, without counting a failure: for a second process of a helper that
 * failed. */
void backoff_abandon(struct backoff *backoff, pid_t pid, uint64_t place);

/* Adds blocked_ns, the time for which files of a place blocked a helper, to the place's debt. */
void backoff_blocked(struct backoff *backoff, uint64_t place, uint64_t blocked_ns, uint64_t now);

/* Returns true if no helper may use files of the place now, because of failures or a lingering helper, and counts that
 * in backoff->avoided. */
bool backoff_avoids(struct backoff *backoff, uint64_t place, uint64_t now);

/* Returns the time until which a place is avoided; 0 if it is not avoided. With a lingering helper, this is at least
 * one minute from now. */
uint64_t backoff_avoided_until(const struct backoff *backoff, uint64_t place, uint64_t now);

/* Returns true while the place rests, because it blocked helpers for more than its share. */
bool backoff_rests(const struct backoff *backoff, uint64_t place, uint64_t now);

/* Returns true if a helper may be started now. Reaps helpers that have ended. */
bool backoff_may_start(struct backoff *backoff, uint64_t now);

/* Returns true if so few killed helpers linger that two more processes may. Reaps helpers that have ended. In contrast
 * to backoff_may_start there is no pause after a crash. */
bool backoff_has_space(struct backoff *backoff);

/* Return the number of killed helpers that have not ended, and of places that are avoided now. */
unsigned backoff_lingering(const struct backoff *backoff);
unsigned backoff_places_avoided(const struct backoff *backoff, uint64_t now);

struct helper_counts {
	uint64_t hung, crashed;  /* helpers that hung or crashed since the start, and were replaced */
	uint64_t avoided;        /* requests that were not sent to a helper, because their place was avoided */
	uint64_t lingering, off; /* lingering: killed helpers that have not ended now; off: 1 if no helper runs now */
};
struct helper_counts backoff_counts(const struct backoff *backoff, bool off);
struct helper_counts helper_counts_since(const struct helper_counts *now, const struct helper_counts *before);

#endif
