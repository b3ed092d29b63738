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
/* divisor of the interval after code disappeared: names are wrong most easily for addresses that are reused */
#define OFTENER 4
/* limit of a timeline in bytes; pjfold reads at most twice of that */
#define TIMELINE_MAX ((uint64_t)512 << 20)
/* limit of the records of one look in bytes: 16 MB of map, and one record more */
#define RECORDS_MAX ((uint64_t)80 << 20)
/* a JVM whose look exceeds its budget gets at most this fraction of the time: 1/20 */
#define COST_SHARE 20
/* ns until the next attempt for a JVM whose tenant used up its CPU time */
#define IN_DEBT (SECOND / 2)
/* ns until the rest of the new code is read */
#define SOON (20 * MS)
/* ns of rest for a JVM whose memory was given to another tenant */
#define REST (60 * SECOND)
/* ns; for looks that take longer the cause of the time is determined */
#define NOTICED (20 * MS)
/* ns of CPU time that a look costs pjmap itself */
#define OWN_NS 30000
/* limit of blocked helpers for each tenant, beyond which no more are started */
#define STUCK_MAX 8
/* limit of the doublings of 5 s */
#define BACKOFF_MAX 7
/* assumed memory of a helper in bytes, in addition to its list of code */
#define HELPER_BYTES (256u << 10)

bool followed_lives(const struct followed *followed)
{
	return taskwait_is(followed->p.folder, &followed->p.id);
}

/* Prints a reason once, but not in the first second of a JVM, which may not be initialized yet. */
static void followed_report(struct follower *follower, struct followed *followed, const struct hotspot_reason *why)
{
	if (!followed->reported && clock_now() - followed->since > SECOND && strcmp(why->code, "starting") != 0 &&
	    strcmp(why->code, "gone") != 0) {
		warn("%d: %s: %s", (int)followed->p.pid, why->code, why->why);
		follower->failed = follower->failed || follower->r->npids;
		followed->reported = true;
	}
}

void followed_stop(struct follower *follower, struct followed *followed)
{
	jvmhandle_end(&followed->look, &follower->left, followed->tenant);
	journalfile_close(&followed->t, false);
	follower->memory -= followed->memory;
	followed->memory = 0;
	followed->open = false;
}

/* Handles a helper that hangs or crashed: another one is started after a time that increases with each failure. */
static void followed_fail(struct follower *follower, struct followed *followed, bool crashed, uint64_t now)
{
	struct hotspot_reason hangs = {
		"hangs", "its memory does not respond; it will be retried, and others are followed meanwhile"
	};
	struct hotspot_reason ended = { "crashed", "the process that reads it crashed; it will be retried" };

	allowance_charge(&follower->allowance, followed->tenant, jvmhandle_cpu(&followed->look), 0, now);
	followed_stop(follower, followed);
	*(crashed ? &follower->crashed : &follower->hung) += 1;
	followed->next = now + (5 * SECOND << (followed->failures < BACKOFF_MAX ? followed->failures : BACKOFF_MAX));
	followed->failures++;
	followed_report(follower, followed, crashed ? &ended : &hangs);
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

/* Returns the memory of the tenant's other JVMs. */
static uint64_t memory_of_others(const struct follower *follower, const struct followed *followed)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < follower->n; i++)
		if (&follower->one[i] != followed && tenant_same(follower->one[i].tenant, followed->tenant))
			sum += follower->one[i].memory;
	return sum;
}

/* If all memory is in use, gives that of a tenant with much to a tenant with little: the largest JVM of the former
 * starts anew. */
static void followed_make_space(struct follower *follower, const struct followed *followed, uint64_t mine, uint64_t now)
{
	struct followed *largest = NULL;

	if (follower->allowance.memory_all - follower->allowance.memory_all / 16 > follower->memory)
		return;
	for (size_t i = 0; i < follower->n; i++)
		if (!tenant_same(follower->one[i].tenant, followed->tenant) &&
		    (!largest || follower->one[i].memory > largest->memory))
			largest = &follower->one[i];
	if (!largest || memory_of_others(follower, largest) + largest->memory < 2 * (mine + followed->memory))
		return;
	allowance_report(&follower->allowance, largest->tenant, "memory");
	followed_stop(follower, largest);
	largest->next = now + REST;
}

/* ---- files ----------------------------------------------------------------------------------------------------- */

static bool open_journal(struct follower *follower, struct followed *followed)
{
	const char *what =
		journalfile_open(&followed->t, follower->r->dir, &followed->p, &followed->tenant, followed->version);

	followed->fresh = true;
	if (!what)
		return true;
	if (!followed->reported)
		warn("%d: %s '%s': %s", (int)followed->p.pid, what, follower->r->dir,
		     errno == EWOULDBLOCK ? "another pjmap writes its timeline" : strerror(errno));
	followed->reported = follower->failed = true;
	return false;
}

void followed_begin_anew(struct follower *follower, struct followed *followed, const char *limit)
{
	if (journalfile_begin_anew(&followed->t)) {
		warn("%d: %s is restarted (%s): earlier code of this JVM has lost its names", (int)followed->p.pid,
		     followed->t.path, limit);
		followed->fresh = true;
		follower->begun_anew++;
	}
}

/* Writes perf-PID.map for users of perf, with the code of now. */
static void followed_publish(struct follower *follower, struct followed *followed, const struct read_answer *answer)
{
	const char *what;

	if (answer->map_too_large ||
	    !perfmaps_reserve(&follower->maps, followed->p.pid, followed->tenant, answer->map_bytes)) {
		allowance_report(&follower->allowance, followed->tenant, "bytes in perf-PID.map");
		return;
	}
	what = publisher_put(follower->r->publisher, followed->p.pid, followed->look.map, answer->map_bytes,
			     &followed->t.owner, false);
	if (what && !follower->failed) {
		warn("%d: %s '%s': %s", (int)followed->p.pid, what, follower->r->to ? follower->r->to : "/tmp",
		     strerror(errno));
		follower->failed = true;
	}
	perfmaps_written(&follower->maps, followed->p.pid, &followed->t.owner);
	followed->written = followed->t.written;
}

/* Writes the records of a look; reports the first failure. Returns the bytes that were written. */
static uint64_t write_scan(struct follower *follower, struct followed *followed, const struct read_answer *answer)
{
	const struct journalfile_scan scan = {
		.came = answer->came, .went = answer->went, .began = answer->began, .took = answer->took
	};
	uint64_t before = followed->t.written, written;
	bool good = journalfile_append(&followed->t, &scan, followed->look.records, answer->record_bytes);
	int error = errno;

	written = followed->t.written - before;
	followed->fresh = false;
	if (!good) {
		/* A full disk remains full for a while. */
		if (!followed->stuck)
			warn("%s: cannot write: %s", followed->t.path, strerror(error));
		follower->failed = true;
		/* The next helper starts anew and writes all code. */
		followed_stop(follower, followed);
	} else if ((answer->has_map || answer->map_too_large) && follower->r->perf_map) {
		followed_publish(follower, followed, answer);
	}
	followed->stuck = !good;
	if (good && followed->t.size > TIMELINE_MAX)
		followed_begin_anew(follower, followed, "it reached the limit of 512 MB");
	return written;
}

/* ---- looks ----------------------------------------------------------------------------------------------------- */

/* Requests the list of all code, or at first the version of the JVM, which is the start of the timeline. */
static void followed_query(struct follower *follower, struct followed *followed, uint64_t now)
{
	uint64_t mine = memory_of_others(follower, followed);
	struct readbudget budget = allowance_look(followed->steps, followed->last, now);
	struct read_request request = { .task = followed->open ? READ_TIMELINE : READ_LAYOUT,
					.style = follower->r->style };

	if (followed->open)
		followed_make_space(follower, followed, mine, now);
	request.steps = budget.steps;
	request.bytes = budget.bytes;
	request.deadline = budget.deadline;
	request.memory_max =
		followed->known + allowance_memory(&follower->allowance, mine + followed->memory, follower->memory);
	request.memory_max =
		(request.memory_max < ALLOWANCE_MEMORY_MAX ? request.memory_max : ALLOWANCE_MEMORY_MAX) + 1;
	request.map_max = follower->r->perf_map ? PERFMAPS_ONE_MAX : 0;
	request.map_due = followed->t.written != followed->written;
	request.anew = followed->fresh;
	jvmhandle_query(&followed->look, &request, now);
}

bool followed_look(struct follower *follower, struct followed *followed, uint64_t now, bool last)
{
	struct hotspot_reason why;

	followed->last = last;
	followed->next = now + (now - followed->since < YOUNG_FOR ? YOUNG_EVERY : follower->r->interval);
	if (!allowance_may(&follower->allowance, followed->tenant, now) ||
	    (followed->look.helper == 0 && jvmhandle_stuck(&follower->left, followed->tenant, now) >= STUCK_MAX)) {
		followed->next = now + (follower->r->interval > IN_DEBT ? follower->r->interval : IN_DEBT);
		return followed_lives(followed);
	}
	if (followed->look.helper == 0) {
		why = jvmhandle_start(&followed->look, &followed->p);
		if (why.code) {
			followed_report(follower, followed, &why);
			return followed_lives(followed);
		}
	}
	if (!followed->open || followed->t.fd >= 0 || open_journal(follower, followed))
		followed_query(follower, followed, now);
	return true;
}

/* Charges a scan of a JVM to its tenant: CPU time, and time for which others waited for it. */
static void followed_charge(struct follower *follower, struct followed *followed, const struct read_answer *answer,
			    uint64_t since, uint64_t now)
{
	uint64_t cost = jvmhandle_cpu(&followed->look) + OWN_NS;

	followed->cost = cost;
	if (now - since > NOTICED)
		cost += jvmhandle_blocked(&followed->look, since,
					  now < since + FOLLOWED_ALONE ? now : since + FOLLOWED_ALONE);
	allowance_charge(&follower->allowance, followed->tenant, cost, 0, now);
	if ((answer->over == READBUDGET_TIME || answer->over == READBUDGET_BYTES) &&
	    followed->next < now + COST_SHARE * cost)
		followed->next = now + COST_SHARE * cost;
}

/* Handles the response that the JVM cannot be read, or not now. Returns false if the process has ended. */
static bool followed_refuse(struct follower *follower, struct followed *followed, const struct read_answer *answer,
			    uint64_t now)
{
	struct hotspot_reason why = jvmhandle_reason(answer);

	if (!followed_lives(followed))
		return false;
	if (answer->over == READBUDGET_STEPS && followed->steps < ALLOWANCE_STEPS_MAX) {
		/* The budget did not suffice for the list of its code. */
		followed->steps *= 2;
		followed->next = now + SOON;
	} else {
		followed_report(follower, followed, &why);
	}
	return true;
}

/* Sets the time of the next look after a response. */
static void followed_schedule(struct follower *follower, struct followed *followed, const struct read_answer *answer,
			      uint64_t now)
{
	if (answer->went && followed->next > now + follower->r->interval / OFTENER)
		followed->next = now + follower->r->interval / OFTENER;
	if (answer->later && followed->next > now + SOON)
		followed->next = now + SOON;
	if (answer->beyond)
		allowance_report(&follower->allowance, followed->tenant, "memory");
}

/* Checks after reading and before writing: the process runs the same program, and its user may read the result. */
static bool may_write(struct follower *follower, struct followed *followed, const struct read_answer *answer)
{
	struct hotspot_reason why = hotspot_may_show(followed->p.folder, &followed->p.id, &followed->t.owner);

	if (!why.code && answer->record_bytes <= RECORDS_MAX && answer->map_bytes <= PERFMAPS_ONE_MAX)
		return true;
	if (why.code)
		followed_report(follower, followed, &why);
	followed_stop(follower, followed);
	return false;
}

static void followed_hold(struct follower *follower, struct followed *followed, const struct read_answer *answer)
{
	uint64_t memory =
		sizeof(*followed) + HELPER_BYTES + (answer->memory < UINT32_MAX ? answer->memory : UINT32_MAX);

	follower->memory += memory - followed->memory;
	followed->memory = memory;
	followed->known = answer->journal_bytes < ALLOWANCE_MEMORY_MAX ? answer->journal_bytes : ALLOWANCE_MEMORY_MAX;
}

/* Handles a response. Returns false if the process has ended. */
static bool followed_take_answer(struct follower *follower, struct followed *followed, const struct read_answer *answer,
				 uint64_t since, uint64_t now)
{
	uint64_t written;

	followed->failures = 0;
	followed_charge(follower, followed, answer, since, now);
	followed_hold(follower, followed, answer);
	if (answer->code[0])
		return followed_refuse(follower, followed, answer, now);
	if (!followed->open) {
		followed->open = true;
		memcpy(followed->version, answer->version, sizeof(followed->version));
		if (open_journal(follower, followed))
			followed_query(follower, followed, now);
		return true;
	}
	if (!may_write(follower, followed, answer))
		return followed_lives(followed);
	followed->left_out = answer->torn + answer->unnamed;
	followed_schedule(follower, followed, answer, now);
	written = write_scan(follower, followed, answer);
	allowance_charge(&follower->allowance, followed->tenant, 0, written, now);
	follower->grown += written;
	return true;
}

bool followed_take(struct follower *follower, struct followed *followed, uint64_t now)
{
	struct read_answer answer;
	uint64_t since = followed->look.since;

	switch (jvmhandle_poll(&followed->look, &answer)) {
	case JVMHANDLE_IDLE: break;
	case JVMHANDLE_ANSWERED: return followed_take_answer(follower, followed, &answer, since, now);
	case JVMHANDLE_CRASHED: followed_fail(follower, followed, true, now); return followed_lives(followed);
	case JVMHANDLE_BUSY:
		if (jvmhandle_hangs(&followed->look, now))
			followed_fail(follower, followed, false, now);
	}
	return true;
}
