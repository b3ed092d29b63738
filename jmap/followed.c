/* SPDX-License-Identifier: Apache-2.0 */
#include "jmap/followed.h"

#include "common/clocks.h"
#include "common/diag.h"
#include "common/process/taskwait.h"

#include <errno.h>
#include <string.h>

#define MS FOLLOW_MS
#define SECOND FOLLOW_SECOND
#define YOUNG_FOR (2 * SECOND)
#define YOUNG_EVERY (50 * MS)
#define OFTENER 4 /* times, while code goes: an address that is used again is what names can be wrong by */
#define TIMELINE_MAX ((uint64_t)512 << 20) /* pjfold reads no more than twice of that */
#define RECORDS_MAX ((uint64_t)80 << 20)   /* of one look: 16 MB, and a record more */
#define COST_SHARE 20             /* of the time at most one part in so many goes into one JVM of a tenant in debt */
#define IN_DEBT (SECOND / 2)      /* after which a JVM is tried again whose tenant has used up its CPU time */
#define SOON (20 * MS)            /* when the rest of its new code is read */
#define REST (60 * SECOND)        /* a JVM whose memory was given to another tenant */
#define NOTICED (20 * MS)         /* time of a look from which on is looked at where it went */
#define OWN_NS 30000              /* of CPU time, that a look costs beside its helper */
#define STUCK_MAX 8               /* helpers of a tenant that are blocked: no more are started */
#define BACKOFF_MAX 7             /* doublings of 5 s */
#define HELPER_BYTES (256u << 10) /* of memory, beside what it knows of the code */

bool followed_lives(const struct followed *j)
{
	return taskwait_is(j->p.folder, &j->p.id);
}

/* What a JVM in its first second lacks may still come. */
static void followed_report(struct follower *f, struct followed *j, const struct hotspot_reason *why)
{
	if (!j->reported && clock_now() - j->since > SECOND && strcmp(why->code, "starting") != 0 &&
	    strcmp(why->code, "gone") != 0) {
		warn("%d: %s: %s", (int)j->p.pid, why->code, why->why);
		f->failed = f->failed || f->r->npids;
		j->reported = true;
	}
}

void followed_stop(struct follower *f, struct followed *j)
{
	jvmhandle_end(&j->look, &f->left, j->tenant);
	journalfile_close(&j->t, false);
	f->memory -= j->memory;
	j->memory = 0;
	j->open = false;
}

/* Its helper hangs, or ended: another one is started later, and later each time. */
static void followed_fail(struct follower *f, struct followed *j, bool crashed, uint64_t now)
{
	struct hotspot_reason hangs = { "hangs", "its memory does not answer; others go on, and it is tried again" };
	struct hotspot_reason ended = { "crashed",
					"the process that reads it was ended by an error; it is tried again" };

	allowance_charge(&f->allowance, j->tenant, jvmhandle_cpu(&j->look), 0, now);
	followed_stop(f, j);
	*(crashed ? &f->crashed : &f->hung) += 1;
	j->next = now + (5 * SECOND << (j->failures < BACKOFF_MAX ? j->failures : BACKOFF_MAX));
	j->failures++;
	followed_report(f, j, crashed ? &ended : &hangs);
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

/* Memory that the tenant of a JVM has, without this JVM. */
static uint64_t memory_of_others(const struct follower *f, const struct followed *j)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < f->n; i++)
		if (&f->one[i] != j && tenant_same(f->one[i].tenant, j->tenant))
			sum += f->one[i].memory;
	return sum;
}

/* Where all memory is in use, a tenant with little gets what one with much has: the largest JVM of the latter begins
 * anew. */
static void followed_make_space(struct follower *f, const struct followed *j, uint64_t mine, uint64_t now)
{
	struct followed *largest = NULL;

	if (f->allowance.memory_all - f->allowance.memory_all / 16 > f->memory)
		return;
	for (size_t i = 0; i < f->n; i++)
		if (!tenant_same(f->one[i].tenant, j->tenant) && (!largest || f->one[i].memory > largest->memory))
			largest = &f->one[i];
	if (!largest || memory_of_others(f, largest) + largest->memory < 2 * (mine + j->memory))
		return;
	allowance_report(&f->allowance, largest->tenant, "memory");
	followed_stop(f, largest);
	largest->next = now + REST;
}

/* ---- files ----------------------------------------------------------------------------------------------------- */

static bool open_journal(struct follower *f, struct followed *j)
{
	const char *what = journalfile_open(&j->t, f->r->dir, &j->p, &j->tenant, j->version);

	j->fresh = true;
	if (!what)
		return true;
	if (!j->reported)
		warn("%d: %s '%s': %s", (int)j->p.pid, what, f->r->dir,
		     errno == EWOULDBLOCK ? "another pjmap writes its timeline" : strerror(errno));
	j->reported = f->failed = true;
	return false;
}

void followed_begin_anew(struct follower *f, struct followed *j, const char *limit)
{
	if (journalfile_begin_anew(&j->t)) {
		warn("%d: %s begins anew (%s): of the time before, code of this JVM has no names any more",
		     (int)j->p.pid, j->t.path, limit);
		j->fresh = true;
		f->begun_anew++;
	}
}

/* perf-PID.map for users of perf: what lives now. */
static void followed_publish(struct follower *f, struct followed *j, const struct read_answer *a)
{
	const char *what;

	if (a->map_too_large || !perfmaps_reserve(&f->maps, j->p.pid, j->tenant, a->map_bytes)) {
		allowance_report(&f->allowance, j->tenant, "bytes in perf-PID.map");
		return;
	}
	what = publisher_put(f->r->publisher, j->p.pid, j->look.map, a->map_bytes, &j->t.owner, false);
	if (what && !f->failed) {
		warn("%d: %s '%s': %s", (int)j->p.pid, what, f->r->to ? f->r->to : "/tmp", strerror(errno));
		f->failed = true;
	}
	perfmaps_written(&f->maps, j->p.pid, &j->t.owner);
	j->written = j->t.written;
}

/* What was read of it is written; where nothing could be written, that is said once. Returns bytes. */
static uint64_t write_scan(struct follower *f, struct followed *j, const struct read_answer *a)
{
	const struct journalfile_scan scan = { .came = a->came, .went = a->went, .began = a->began, .took = a->took };
	uint64_t before = j->t.written, written;
	bool good = journalfile_append(&j->t, &scan, j->look.records, a->record_bytes);
	int error = errno;

	written = j->t.written - before;
	j->fresh = false;
	if (!good) {
		if (!j->stuck) /* a disk that is full stays so for a while */
			warn("%s: cannot write into: %s", j->t.path, strerror(error));
		f->failed = true;
		followed_stop(f, j); /* the next helper begins anew, and all code is written */
	} else if ((a->has_map || a->map_too_large) && f->r->perf_map) {
		followed_publish(f, j, a);
	}
	j->stuck = !good;
	if (good && j->t.size > TIMELINE_MAX)
		followed_begin_anew(f, j, "512 MB, as long as one may be");
	return written;
}

/* ---- looks ----------------------------------------------------------------------------------------------------- */

/* Asks for the list of all code, or at first for its version, which the timeline begins with. */
static void followed_query(struct follower *f, struct followed *j, uint64_t now)
{
	uint64_t mine = memory_of_others(f, j);
	struct readbudget budget = allowance_look(j->steps, j->last, now);
	struct read_request q = { .task = j->open ? READ_TIMELINE : READ_LAYOUT, .style = f->r->style };

	if (j->open)
		followed_make_space(f, j, mine, now);
	q.steps = budget.steps;
	q.bytes = budget.bytes;
	q.deadline = budget.deadline;
	q.memory_max = j->known + allowance_memory(&f->allowance, mine + j->memory, f->memory);
	q.memory_max = (q.memory_max < ALLOWANCE_MEMORY_MAX ? q.memory_max : ALLOWANCE_MEMORY_MAX) + 1;
	q.map_max = f->r->perf_map ? PERFMAPS_ONE_MAX : 0;
	q.map_due = j->t.written != j->written;
	q.anew = j->fresh;
	jvmhandle_query(&j->look, &q, now);
}

bool followed_look(struct follower *f, struct followed *j, uint64_t now, bool last)
{
	struct hotspot_reason why;

	j->last = last;
	j->next = now + (now - j->since < YOUNG_FOR ? YOUNG_EVERY : f->r->interval);
	if (!allowance_may(&f->allowance, j->tenant, now) ||
	    (j->look.helper == 0 && jvmhandle_stuck(&f->left, j->tenant, now) >= STUCK_MAX)) {
		j->next = now + (f->r->interval > IN_DEBT ? f->r->interval : IN_DEBT);
		return followed_lives(j);
	}
	if (j->look.helper == 0) {
		why = jvmhandle_start(&j->look, &j->p);
		if (why.code) {
			followed_report(f, j, &why);
			return followed_lives(j);
		}
	}
	if (!j->open || j->t.fd >= 0 || open_journal(f, j))
		followed_query(f, j, now);
	return true;
}

/* What a look cost its tenant: CPU time, and time in which others waited for it. */
static void followed_charge(struct follower *f, struct followed *j, const struct read_answer *a, uint64_t since,
			    uint64_t now)
{
	uint64_t cost = jvmhandle_cpu(&j->look) + OWN_NS;

	j->cost = cost;
	if (now - since > NOTICED)
		cost += jvmhandle_blocked(&j->look, since, now < since + FOLLOWED_ALONE ? now : since + FOLLOWED_ALONE);
	allowance_charge(&f->allowance, j->tenant, cost, 0, now);
	if ((a->over == READBUDGET_TIME || a->over == READBUDGET_BYTES) && j->next < now + COST_SHARE * cost)
		j->next = now + COST_SHARE * cost;
}

/* It cannot be read, or not now. False: it is gone. */
static bool followed_refuse(struct follower *f, struct followed *j, const struct read_answer *a, uint64_t now)
{
	struct hotspot_reason why = jvmhandle_reason(a);

	if (!followed_lives(j))
		return false;
	if (a->over == READBUDGET_STEPS && j->steps < ALLOWANCE_STEPS_MAX) {
		j->steps *= 2; /* it did not suffice for the list of its code */
		j->next = now + SOON;
	} else {
		followed_report(f, j, &why);
	}
	return true;
}

/* When it is due again. */
static void followed_schedule(struct follower *f, struct followed *j, const struct read_answer *a, uint64_t now)
{
	if (a->went && j->next > now + f->r->interval / OFTENER)
		j->next = now + f->r->interval / OFTENER;
	if (a->later && j->next > now + SOON)
		j->next = now + SOON;
	if (a->beyond)
		allowance_report(&f->allowance, j->tenant, "memory");
}

/* Between reading and writing: it is still that program, and its user may read it. */
static bool may_write(struct follower *f, struct followed *j, const struct read_answer *a)
{
	struct hotspot_reason why = hotspot_may_show(j->p.folder, &j->p.id, &j->t.owner);

	if (!why.code && a->record_bytes <= RECORDS_MAX && a->map_bytes <= PERFMAPS_ONE_MAX)
		return true;
	if (why.code)
		followed_report(f, j, &why);
	followed_stop(f, j);
	return false;
}

static void followed_hold(struct follower *f, struct followed *j, const struct read_answer *a)
{
	uint64_t memory = sizeof(*j) + HELPER_BYTES + (a->memory < UINT32_MAX ? a->memory : UINT32_MAX);

	f->memory += memory - j->memory;
	j->memory = memory;
	j->known = a->journal_bytes < ALLOWANCE_MEMORY_MAX ? a->journal_bytes : ALLOWANCE_MEMORY_MAX;
}

/* False: it is gone. */
static bool followed_take_answer(struct follower *f, struct followed *j, const struct read_answer *a, uint64_t since,
				 uint64_t now)
{
	uint64_t written;

	j->failures = 0;
	followed_charge(f, j, a, since, now);
	followed_hold(f, j, a);
	if (a->code[0])
		return followed_refuse(f, j, a, now);
	if (!j->open) {
		j->open = true;
		memcpy(j->version, a->version, sizeof(j->version));
		if (open_journal(f, j))
			followed_query(f, j, now);
		return true;
	}
	if (!may_write(f, j, a))
		return followed_lives(j);
	j->left_out = a->torn + a->unnamed;
	followed_schedule(f, j, a, now);
	written = write_scan(f, j, a);
	allowance_charge(&f->allowance, j->tenant, 0, written, now);
	f->grown += written;
	return true;
}

bool followed_take(struct follower *f, struct followed *j, uint64_t now)
{
	struct read_answer a;
	uint64_t since = j->look.since;

	switch (jvmhandle_poll(&j->look, &a)) {
	case JVMHANDLE_IDLE: break;
	case JVMHANDLE_ANSWERED: return followed_take_answer(f, j, &a, since, now);
	case JVMHANDLE_CRASHED: followed_fail(f, j, true, now); return followed_lives(j);
	case JVMHANDLE_BUSY:
		if (jvmhandle_hangs(&j->look, now))
			followed_fail(f, j, false, now);
	}
	return true;
}
