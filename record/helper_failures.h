/* SPDX-License-Identifier: Apache-2.0 */
/*
 * helper_failures.h - after a helper process hung or crashed: whose files the next one avoids and for how long, and when it may start.
 *
 * A place is a set of files that one tenant can make unreadable (helper_place). A place at which a helper hung, or more than two
 * crashed, is avoided for 10 s, after each further failure for four times as long, an hour at most; an hour without a failure forgets
 * them all. So a tenant whose file system does not answer loses its own symbols and tables, delays those of others by one time limit,
 * and nothing is off for good.
 *
 * A helper that was killed in a file system that does not answer ends only when that file system does (FUSE waits uninterruptibly once its
 * server has read the request). It lingers: its place is avoided until it has ended, and while HELPERS_LINGERING_MAX linger, no
 * other helper of this kind is started, so that they cannot pile up.
 */
#ifndef PJ_HELPER_FAILURES_H
#define PJ_HELPER_FAILURES_H

#include "tenants.h"

enum { HELPER_PLACES_MAX = 64, HELPERS_LINGERING_MAX = 8 };

/* Which place files of a process are in. Those of a tenant are one place; those of root on this host are as many as there are devices
 * (device: of the file), since nobody else mounts there. own_ns: the mount namespace of the recorder. Never 0. */
uint64_t helper_place(const struct tenant *of, uint64_t own_ns, uint64_t device);
bool helper_is_host(const struct tenant *of, uint64_t own_ns);

struct helper_failures {
	struct helper_place_failures {
		uint64_t place, until, last; /* place 0: free; avoided until, last failure: ns */
		unsigned n, crashes; /* failures that count; crashes */
	} place[HELPER_PLACES_MAX];
	struct helper_lingering {
		pid_t pid; /* 0: free */
		uint64_t place;
	} lingering[HELPERS_LINGERING_MAX];
	uint64_t rest; /* no helper is started until then */
	uint64_t hung, crashed, restarts, avoided;
};

/* A helper hung or crashed at files of a place (0: at none). It was killed, or ended; it is reaped now or later. */
void helper_failed(struct helper_failures *f, pid_t pid, uint64_t place, bool hung, uint64_t now);

/* A further process of a helper that failed, killed here: reaped now or later. */
void helper_abandon(struct helper_failures *f, pid_t pid, uint64_t place);

/* A helper used so much CPU time for files of a place. Beyond 0.1 s at a time the place is avoided for 20 times as long: a tenant takes 5 %
 * of a CPU. Not to be called for places of the host. */
void helper_used(struct helper_failures *f, uint64_t place, uint64_t cpu_ns, uint64_t now);

/* True, and counted, if files of the place are not to be given to a helper now. */
bool helper_avoids(struct helper_failures *f, uint64_t place, uint64_t now);

/* Until when, 0: it is not. A place at which a helper lingers is avoided for a minute more. */
uint64_t helper_avoided_until(const struct helper_failures *f, uint64_t place, uint64_t now);

/* True if a helper may be started now. Reaps those that have ended. */
bool helper_may_start(struct helper_failures *f, uint64_t now);

/* Helpers that were killed and have not ended; places that are avoided. */
unsigned helpers_lingering(const struct helper_failures *f);
unsigned helper_places_avoided(const struct helper_failures *f, uint64_t now);

struct helper_counts {
	uint64_t hung, crashed;  /* helpers that were replaced */
	uint64_t avoided;        /* questions that were not put to a helper */
	uint64_t lingering, off; /* now: killed ones that have not ended; 1: there is none to ask */
};
struct helper_counts helper_counts(const struct helper_failures *f, bool off);
struct helper_counts helper_counts_since(const struct helper_counts *now, const struct helper_counts *before);

#endif
