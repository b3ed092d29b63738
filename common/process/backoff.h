/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backoff.h - avoids, for a time, the files at which helper processes failed, and limits the starts of helper
 * processes.
 *
 * A fault domain (`place` in the code) is a set of files that one tenant can make unreadable or slow. Helpers avoid it
 * as a unit, for one of three reasons:
 *
 * Failures. A fault domain at which a helper hung, or more than two helpers crashed, is avoided for 10 s, and after
 * each further failure for four times as long, at most an hour. After an hour without a failure, all its failures are
 * forgotten. So a tenant whose file system does not respond loses its own symbols and unwind tables, delays those of
 * others by one time limit, and disables no feature for good.
 *
 * Lingering helpers. A killed helper that waits for a file system ends only when the file system responds (FUSE waits
 * uninterruptibly once its server has read the request). The fault domain at which it waits is avoided until the helper
 * has ended. A helper may have two processes, and both may linger: so no helper is started unless two more may linger
 * within the limit, BACKOFF_LINGERING_MAX, or BACKOFF_LINGERING_TENANTS if each tenant has a helper of its own
 * (lingering_max).
 *
 * Slowness. Each fault domain may block a helper for a quarter of the time, and for BACKOFF_BURST_NS at once. A fault
 * domain that blocked a helper for longer rests until its share of the time is a quarter again. So a FUSE server that
 * delays each response does not delay the symbols of others. Only blocked time counts, not the time in which the helper
 * waits for a CPU of a loaded machine.
 *
 * These functions change only *backoff, except that backoff_failed and backoff_abandon kill processes, and that some
 * functions reap processes. Times are CLOCK_MONOTONIC in ns.
 */
#ifndef PJ_BACKOFF_H
#define PJ_BACKOFF_H

#include "common/process/tenants.h"

enum { BACKOFF_PLACES_MAX = 64, BACKOFF_LINGERING_MAX = 8, BACKOFF_LINGERING_TENANTS = 32 };

#define BACKOFF_BURST_NS UINT64_C(1000000000)
#define BACKOFF_SHARE 4 /* a fault domain may block a helper for 1/BACKOFF_SHARE of the time */
/* limit for the blocked time of one fault domain that is counted, in ns; the time beyond it is ignored */
#define BACKOFF_BLOCKED_MAX_NS UINT64_C(60000000000)

struct backoff {
	struct backoff_place {
		uint64_t place; /* id of the fault domain (backoff_place); 0: the slot is free */
		/* until: time in ns until which the fault domain is avoided; last: time of the last failure in ns */
		uint64_t until, last;
		/* n: number of counted failures, which determine `until`; crashes: number of all crashes, counted as
		 * failures or not */
		unsigned n, crashes;
		/* Time in ns at which the debt of blocked time is paid: each blocked ns costs BACKOFF_SHARE ns. A time
		 * in the past means no debt. */
		uint64_t paid;
	} place[BACKOFF_PLACES_MAX];
	struct backoff_lingering {
		pid_t pid; /* PID of a killed helper that has not ended; 0: the slot is free */
		uint64_t place;
	} lingering[BACKOFF_LINGERING_TENANTS];
	unsigned lingering_max; /* limit for lingering helpers; 0: BACKOFF_LINGERING_MAX */
	uint64_t rest;          /* time before which no helper is started, in ns */
	uint64_t hung, crashed, avoided;
};

/* Returns the id of the fault domain of a file of a process, never 0. All files of a tenant are one fault domain. For
 * root on this host, each device is a fault domain, since only root mounts file systems there. device: device of the
 * file. own_ns: mount namespace of the recorder. */
uint64_t backoff_place(const struct tenant *tenant, uint64_t own_ns, uint64_t device);
/* Returns true for processes of root on this host: if the tenant is unknown, or is mount namespace own_ns. */
bool backoff_is_host(const struct tenant *tenant, uint64_t own_ns);

/* Counts a failure of helper `pid`, which used files of fault domain `place` (0: no files). hung: true if the helper
 * hung, false if it crashed. Kills the helper if it has not ended, and reaps it now or later. */
void backoff_failed(struct backoff *backoff, pid_t pid, uint64_t place, bool hung, uint64_t now);

/* Kills a helper process without counting a failure, and reaps it now or later: for the second process of a helper that
 * failed. While it lingers, fault domain `place` is avoided (0: none). */
void backoff_abandon(struct backoff *backoff, pid_t pid, uint64_t place);

/* Adds blocked_ns, the time for which files of fault domain `place` blocked a helper, to the debt of the fault
 * domain. */
void backoff_blocked(struct backoff *backoff, uint64_t place, uint64_t blocked_ns, uint64_t now);

/* Returns true, and counts this in backoff->avoided, if no helper may use files of fault domain `place` now, because of
 * failures or a lingering helper. Returns false if a helper may use them. */
bool backoff_avoids(struct backoff *backoff, uint64_t place, uint64_t now);

/* Returns the time until which fault domain `place` is avoided, in ns of the clock of `now`; 0 if it is not avoided.
 * While a killed helper lingers at its files, this time is at least one minute from now. */
uint64_t backoff_avoided_until(const struct backoff *backoff, uint64_t place, uint64_t now);

/* Returns true while fault domain `place` rests, because it blocked helpers for more than its share of the time: no
 * helper may use its files. */
bool backoff_rests(const struct backoff *backoff, uint64_t place, uint64_t now);

/* Returns true if a helper may be started now: at least two more may linger within the limit, and no helper crashed in
 * the last 200 ms. Reaps helpers that have ended. */
bool backoff_may_start(struct backoff *backoff, uint64_t now);

/* Returns true if so few killed helpers linger that another two processes may linger, too. Reaps helpers that have
 * ended. In contrast to backoff_may_start, it does not wait after a crash. */
bool backoff_has_space(struct backoff *backoff);

/* backoff_lingering returns the number of killed helpers that have not ended. backoff_places_avoided returns the number
 * of fault domains that are avoided at time `now`. */
unsigned backoff_lingering(const struct backoff *backoff);
unsigned backoff_places_avoided(const struct backoff *backoff, uint64_t now);

struct helper_counts {
	/* hung: number of helpers that hung since the start; crashed: number of helpers that crashed since the start;
	 * all were replaced */
	uint64_t hung, crashed;
	uint64_t avoided; /* number of requests that no helper got, because their fault domain was avoided */
	/* lingering: number of killed helpers that have not ended; off: 1 if no helper runs now */
	uint64_t lingering, off;
};
struct helper_counts backoff_counts(const struct backoff *backoff, bool off);
/* Returns *now with hung, crashed and avoided reduced by those of *before. */
struct helper_counts helper_counts_since(const struct helper_counts *now, const struct helper_counts *before);

#endif
