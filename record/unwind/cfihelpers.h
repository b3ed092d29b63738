/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfihelpers.h - starts and watches the helper processes that read unwind tables (cfimaker.h), one pair for each
 * tenant.
 *
 * A pair is an opener and a parser. A hostile file may take over the parser that reads it, and a file system that does
 * not respond blocks an opener. Both must harm requests of one tenant only: each tenant has a queue and a pair of its
 * own, and tables that the pair makes are used for that tenant alone (cfitables.h). Processes of root on this host,
 * system services among them, share one pair. A process that ended before the lookup of its tenant uses the tenant of
 * its mount namespace.
 *
 * A pair is started for the first request of its tenant. It is ended when it was idle for CFIHELPERS_IDLE_NS, or when
 * another tenant needs a pair while CFIHELPERS_MAX exist and its last request is the oldest. A pair with pending
 * requests is not ended for another tenant. Helpers that hang or crash are replaced, and files of their place are
 * avoided for a time (backoff.h).
 *
 * All functions are called by one thread. Times are clock_now(), in ns.
 */
#ifndef PJ_CFIHELPERS_H
#define PJ_CFIHELPERS_H

#include "common/process/backoff.h"
#include "record/unwind/cfimaker.h"

enum { CFIHELPERS_MAX = 16 };

#define CFIHELPERS_HOST UINT64_C(2) /* Key of the host's pair. Other keys are odd (backoff_place). */
/* Time in ns without requests after which a pair ends. */
#define CFIHELPERS_IDLE_NS UINT64_C(30000000000)

/* The tenant on whose behalf a table is requested. */
struct cfihelpers_owner {
	uint64_t key;     /* key of the tenant's pair: CFIHELPERS_HOST or `place` */
	uint64_t place;   /* fault domain of the file, from backoff_place() */
	struct tenant of; /* tenant that is charged with the CPU time */
};

/* A pending request. number: the same as in its struct cfimaker_request. */
struct cfihelpers_request {
	uint32_t number;
	struct cfihelpers_owner owner;
};

/* Callbacks of cfihelpers_take and cfihelpers_tick. Their first argument is `to`. */
struct cfihelpers_user {
	/* The pair answered a request. image: descriptor of the table's image, which the callback must take over; -1:
	 * none. */
	void (*answered)(void *to, const struct cfihelpers_request *request, const struct cfimaker_reply *reply,
			 int image, uint64_t now);
	/* The pair failed before it answered a request: it hung if hung is true, else it crashed. first: it failed at
	 * this request; otherwise at one before it. */
	void (*failed)(void *to, const struct cfihelpers_request *request, bool first, bool hung, uint64_t now);
	void *to;
};

struct cfihelpers;

/* Forks the process that starts the pairs (cfistarter.h). The caller has dropped privileges before, and has no threads.
 * proc is "/proc". A pair hangs if for hang_ms it neither runs nor answers. *user is copied. The caller frees the
 * result by cfihelpers_stop. */
struct cfihelpers *cfihelpers_start(const char *proc, unsigned hang_ms, const struct cfihelpers_user *user);
/* Ends all pairs and frees helpers. Helpers that hang are left to init. */
void cfihelpers_stop(struct cfihelpers *helpers);

/* Result of cfihelpers_query. */
enum cfihelpers_pending {
	CFIHELPERS_PENDING,
	CFIHELPERS_BUSY, /* the queue is full, or all pairs are in use: try again later */
	CFIHELPERS_OFF   /* the pair is not running and cannot be started now */
};

/* Sends a request to the pair of owner->key, and starts the pair if necessary. size: number of used bytes of *request,
 * whose path has variable length. Does not block. A callback follows only if the result is CFIHELPERS_PENDING. */
enum cfihelpers_pending cfihelpers_query(struct cfihelpers *helpers, const struct cfihelpers_owner *owner,
					 const struct cfimaker_request *request, size_t size, uint64_t now);

/* Returns true if helpers avoid the files of a fault domain now (backoff.h), and then counts the case. */
bool cfihelpers_avoid(struct cfihelpers *helpers, uint64_t place, uint64_t now);

/* Returns true if the pair of key is likely to answer in time, so that samples may wait for it; samples of all tenants
 * wait meanwhile. Returns false for a pair that does not run, for a tenant's pair that has waited for a file system for
 * 100 ms, and for any pair after a second without answer. */
bool cfihelpers_answer_soon(struct cfihelpers *helpers, uint64_t key, uint64_t now);

/* Returns a descriptor that becomes readable when a pair has answered. */
int cfihelpers_fd(const struct cfihelpers *helpers);

/* Takes all answers, calls the callbacks, and ends pairs that failed; the next request starts new ones. Does not
 * block. */
void cfihelpers_take(struct cfihelpers *helpers, uint64_t now);

/* Takes answers as cfihelpers_take does, and ends idle pairs. The caller calls it every few seconds. */
void cfihelpers_tick(struct cfihelpers *helpers, uint64_t now);

/* Returns the number of pairs that run. */
unsigned cfihelpers_running(const struct cfihelpers *helpers);

/* Returns the counts of failures since the start (backoff.h). */
struct helper_counts cfihelpers_count(const struct cfihelpers *helpers);

#endif
