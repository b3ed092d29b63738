/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfihelpers.h - starts and watches the helper processes that make unwind tables (cfimaker.h), one pair for each
 * tenant.
 *
 * A pair is an opener and a parser. A hostile file may take over the parser that reads it, and a file system that does
 * not respond blocks the opener. Both faults must harm only requests of the tenant that owns the file. So each tenant
 * has its own queue and pair, and a table is used only for the tenant whose pair made it (cfitables.h). Processes of
 * root on this host, among them system services, share one pair. For a process that ended before its tenant was looked
 * up, the pair of its mount namespace is used.
 *
 * A pair starts at the first request of its tenant. It ends after CFIHELPERS_IDLE_NS without requests. It also ends if
 * CFIHELPERS_MAX pairs exist, another tenant needs one, and this pair has no pending requests and is the least
 * recently used one. Helpers that hang or crash are replaced, and files of the same fault domain are avoided for a
 * time (backoff.h).
 *
 * All functions are called by one thread. Times are clock_now(), in ns.
 */
#ifndef PJ_CFIHELPERS_H
#define PJ_CFIHELPERS_H

#include "common/process/backoff.h"
#include "record/unwind/cfimaker.h"

enum { CFIHELPERS_MAX = 16 };

/* key of the pair of root's processes on this host; all other keys are odd (backoff_place) */
#define CFIHELPERS_HOST UINT64_C(2)
/* Time in ns after its last request at which a pair ends. */
#define CFIHELPERS_IDLE_NS UINT64_C(30000000000)

/* Owner of a table: the pair of helpers that makes it, the fault domain of its file, and the tenant that is charged. */
struct cfihelpers_owner {
	uint64_t key;     /* pair of helper processes: CFIHELPERS_HOST for files of the host, else `place` */
	uint64_t place;   /* fault domain of the file, from backoff_place() */
	struct tenant of; /* tenant that is charged with the CPU time of making the table */
};

/* A pending request. number: the number of its struct cfimaker_request. */
struct cfihelpers_request {
	uint32_t number;
	struct cfihelpers_owner owner;
};

/* Callbacks of cfihelpers_take and cfihelpers_tick. Their first argument is the member `to`. */
struct cfihelpers_user {
	/* Called when a pair has sent the reply to a request. image: descriptor of the table's image, which the
	 * callback must close or pass on; -1: no table was made. */
	void (*answered)(void *to, const struct cfihelpers_request *request, const struct cfimaker_reply *reply,
			 int image, uint64_t now);
	/* Called for each pending request of a pair that failed. hung: true if the pair hung, false if it crashed.
	 * first: true if the request is the oldest pending one, at which the pair failed; false for requests queued
	 * after it. */
	void (*failed)(void *to, const struct cfihelpers_request *request, bool first, bool hung, uint64_t now);
	void *to;
};

struct cfihelpers;

/* Forks the process that starts the pairs (cfistarter.h). The caller must have dropped privileges and must have no
 * threads. proc is "/proc" and must outlive the result. hang_ms: time in ms without reply and without CPU use after
 * which a pair has hung and is replaced. Copies *user. Returns the helpers, which cfihelpers_stop frees; never NULL. */
struct cfihelpers *cfihelpers_start(const char *proc, unsigned hang_ms, const struct cfihelpers_user *user);
/* Starts a helper process for interpreters, and returns its pid; 0 on failure (cfistarter_begin_interphelper). Any
 * thread may call it. */
pid_t cfihelpers_start_interphelper(struct cfihelpers *helpers, int socket, int memory);
/* Ends all pairs and frees helpers. Waits for the helper processes for 100 ms at most; those that hang become children
 * of init. */
void cfihelpers_stop(struct cfihelpers *helpers);

/* Result of cfihelpers_query. */
enum cfihelpers_pending {
	/* the request was sent; a callback of struct cfihelpers_user follows */
	CFIHELPERS_PENDING,
	CFIHELPERS_BUSY, /* not sent: the queue is full or all pairs are in use; try again later */
	CFIHELPERS_OFF   /* not sent: the pair is not running and cannot be started now */
};

/* Sends a request to the pair of owner->key, and starts the pair if necessary. size: number of used bytes of *request,
 * whose path has variable length. Does not wait for the reply; waits only for the start of a pair, at most twice
 * CFISTARTER_WAIT_MS (cfistarter.h). Returns CFIHELPERS_PENDING if the request was sent; only then a callback of struct
 * cfihelpers_user follows. */
enum cfihelpers_pending cfihelpers_query(struct cfihelpers *helpers, const struct cfihelpers_owner *owner,
					 const struct cfimaker_request *request, size_t size, uint64_t now);

/* Returns true if helpers must avoid the files of the fault domain `place` now (backoff.h), and then adds 1 to
 * helper_counts.avoided. */
bool cfihelpers_avoid(struct cfihelpers *helpers, uint64_t place, uint64_t now);

/* Returns true if the pair of `key` is likely to reply soon, so that samples may wait for it. (While one sample waits,
 * samples of all tenants wait.) Returns false if the pair does not run, or if requests have waited for a second without
 * a reply. Returns false, too, if they have waited for 100 ms and a file system blocks the pair. The last case does not
 * apply to the pair of the host. */
bool cfihelpers_answer_soon(struct cfihelpers *helpers, uint64_t key, uint64_t now);

/* Returns a descriptor that is readable when a pair has sent a reply or ended. */
int cfihelpers_fd(const struct cfihelpers *helpers);

/* Receives all replies, calls the callbacks, and ends pairs that failed; the next request for such a pair starts a new
 * one. Does not block. */
void cfihelpers_take(struct cfihelpers *helpers, uint64_t now);

/* Receives all replies as cfihelpers_take does, and ends pairs without requests for CFIHELPERS_IDLE_NS. Call it every
 * few seconds. */
void cfihelpers_tick(struct cfihelpers *helpers, uint64_t now);

/* Returns the number of running pairs. */
unsigned cfihelpers_running(const struct cfihelpers *helpers);

/* Returns the counts of helper failures since the start (backoff.h). */
struct helper_counts cfihelpers_count(const struct cfihelpers *helpers);

#endif
