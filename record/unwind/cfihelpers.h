/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfihelpers.h - the recorder's end of the processes that make tables (cfimaker.h): an opener and a parser for each
 * tenant.
 *
 * A file may take over the parser that reads it, and a file system that does not answer stops an opener. Both then harm
 * requests of one tenant only: each tenant has a queue and a pair of processes of its own, and tables that they make
 * are used for that tenant alone (cfitables.h). Processes of root on this host, system services among them, share one
 * pair. A process that ended before its tenant was looked up has that of its mount namespace.
 *
 * A pair is started for the first request of its tenant and ended when it was idle for TABLEHELPERS_IDLE_NS, or when
 * another tenant needs one while there are TABLEHELPERS_MAX and it is the one that was not used for longest. One that
 * has requests is not ended for another tenant. Helpers that hang or crash are replaced, and files of their place
 * avoided for a while (backoff.h).
 */
#ifndef PJ_CFIHELPERS_H
#define PJ_CFIHELPERS_H

#include "common/process/backoff.h"
#include "record/unwind/cfimaker.h"

enum { CFIHELPERS_MAX = 16 };

#define CFIHELPERS_HOST UINT64_C(2) /* key of the host's pair; others are odd (backoff_place) */
#define CFIHELPERS_IDLE_NS UINT64_C(30000000000)

/* By whom a table is requested. */
struct cfihelpers_owner {
	uint64_t key;     /* of a pair */
	uint64_t place;   /* backoff_place */
	struct tenant of; /* that pays */
};

struct cfihelpers_request {
	uint32_t number;
	struct cfihelpers_owner owner;
};

/* Called by tablehelpers_take and tablehelpers_tick. */
struct cfihelpers_user {
	/* A request is answered; image: -1 or taken over. */
	void (*answered)(void *to, const struct cfihelpers_request *request, const struct cfimaker_reply *reply,
			 int image, uint64_t now);
	/* A request is not answered, as the pair hung or crashed, at this request (first) or before it. */
	void (*failed)(void *to, const struct cfihelpers_request *request, bool first, bool hung, uint64_t now);
	void *to;
};

struct cfihelpers;

/* Forks the process that starts the others. hang_ms: a pair that does not run and does not answer for so long hangs. */
struct cfihelpers *cfihelpers_start(const char *proc, unsigned hang_ms, const struct cfihelpers_user *user);
void cfihelpers_stop(struct cfihelpers *helpers);

enum cfihelpers_pending {
	CFIHELPERS_PENDING,
	CFIHELPERS_BUSY, /* the queue is full, or all pairs are in use: to be tried again */
	CFIHELPERS_OFF   /* no pair can be started now */
};

/* size: of the request's bytes that are used. */
enum cfihelpers_pending cfihelpers_query(struct cfihelpers *helpers, const struct cfihelpers_owner *owner,
					 const struct cfimaker_request *request, size_t size, uint64_t now);

/* True, and counted, if files of that place are left alone now. */
bool cfihelpers_avoid(struct cfihelpers *helpers, uint64_t place, uint64_t now);

/* True if the pair answers, so that it makes sense to wait for it: samples of all tenants wait meanwhile. A
 * pair of a tenant that was blocked for 100 ms, the host's after a second, is not waited for. */
bool cfihelpers_answer_soon(struct cfihelpers *helpers, uint64_t key, uint64_t now);

/* Becomes readable when there is an answer. */
int cfihelpers_fd(const struct cfihelpers *helpers);

/* Takes all answers, and replaces pairs that failed. Waits for nothing. */
void cfihelpers_take(struct cfihelpers *helpers, uint64_t now);

/* Ends idle pairs; every few seconds. */
void cfihelpers_tick(struct cfihelpers *helpers, uint64_t now);

/* Pairs that run. */
unsigned cfihelpers_running(const struct cfihelpers *helpers);

struct helper_counts cfihelpers_count(const struct cfihelpers *helpers);

#endif
