/* SPDX-License-Identifier: Apache-2.0 */
#include "jmap/followed.h"

#include "common/clocks.h"
#include "common/diag.h"
#include "common/process/taskwait.h"

#include <errno.h>
#include <string.h>

#define MS FOLLOW_MS
#define SECOND FOLLOW_SECOND
/* age in ns up to which a JVM is scanned every YOUNG_EVERY ns; an older JVM is scanned once per interval of -i */
#define YOUNG_FOR (2 * SECOND)
/* interval in ns between the scans of a JVM that is younger than YOUNG_FOR */
#define YOUNG_EVERY (50 * MS)
/* After code has disappeared, the next scan follows after 1/OFTENER of the interval: until that scan, new code at a
 * reused address has the name of the old code. */
#define OFTENER 4
/* size of a timeline in bytes above which it is restarted; pjfold reads timelines of up to twice this size */
#define TIMELINE_MAX ((uint64_t)512 << 20)
/* maximum size of the records of one scan in bytes: OUTPUT_MAX (16 MB, journal.c), and one record of 64 MB. If there
 * are more bytes, nothing is written and the helper is ended. */
#define RECORDS_MAX ((uint64_t)80 << 20)
/* after a scan that exceeded its time or memory budget, the next one waits so that the scans of this JVM take at most
 * 1/COST_SHARE of one CPU */
#define COST_SHARE 20
/* minimum time in ns until the next attempt to scan a JVM whose tenant is over budget or has too many blocked
 * helpers */
#define IN_DEBT (SECOND / 2)
/* time in ns until the next scan if the budget of a scan did not suffice for all new code */
#define SOON (20 * MS)
/* time in ns for which a JVM is not scanned after pjmap has ended its helper, to free memory for another tenant */
#define REST (60 * SECOND)
/* minimum duration in ns of a scan for which the tenant is also charged the time in which the helper was blocked */
#define NOTICED (20 * MS)
/* CPU time in ns that pjmap itself needs for one scan; an assumption, which is charged to the tenant */
#define OWN_NS 30000
/* number of blocked helpers of one tenant at which pjmap starts no further helper for that tenant */
#define STUCK_MAX 8
/* maximum number of doublings of the 5 s pause after a failure of a helper */
#define BACKOFF_MAX 7
/* assumed memory of a helper process in bytes, in addition to the memory that the helper reports */
#define HELPER_BYTES (256u << 10)

bool followed_lives(const struct followed *followed)
{
	return taskwait_is(followed->p.folder, &followed->p.id);
}

/* Prints the reason why a JVM cannot be read, once per JVM. Prints nothing in the first second of the JVM, and nothing
 * for the codes "starting" and "gone". If pids were given, pjmap then ends with an error status. */
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

/* Ends a helper that has crashed, or that hangs (crashed is false), and reports it. Sets the time of the next attempt:
 * the pause doubles with each failure. */
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

/* ---- memory of pjmap and the helpers ----------------------------------------------------------------------------- */

/* Returns the bytes of memory that pjmap holds for the other JVMs of the same tenant. */
static uint64_t memory_of_others(const struct follower *follower, const struct followed *followed)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < follower->n; i++)
		if (&follower->one[i] != followed && tenant_same(follower->one[i].tenant, followed->tenant))
			sum += follower->one[i].memory;
	return sum;
}

/* Frees memory if 15/16 of the limit for all JVMs is in use. Selects the JVM with the most memory among the JVMs of
 * other tenants. If the tenant of the selected JVM holds at least twice the memory of the tenant of `followed`, ends
 * the helper of the selected JVM, which is then not scanned for REST. mine: bytes that the other JVMs of the tenant of
 * `followed` hold. */
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

/* ---- timeline and perf-PID.map ----------------------------------------------------------------------------------- */

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

/* Writes the map of a scan to perf-PID.map, for users of perf. If the map exceeds a limit of the tenant, warns about
 * the tenant instead. */
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

/* Appends the records of a scan to the timeline. Also writes perf-PID.map if the helper made a map. Reports only the
 * first of successive write errors. Returns the number of bytes written to the timeline. */
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
		/* An error is reported only if the previous write succeeded, because a full disk stays full for a
		 * while. */
		if (!followed->stuck)
			warn("%s: cannot write: %s", followed->t.path, strerror(error));
		follower->failed = true;
		/* A new helper starts with an empty list of code, so its first scan writes all code again. */
		followed_stop(follower, followed);
	} else if ((answer->has_map || answer->map_too_large) && follower->r->perf_map) {
		followed_publish(follower, followed, answer);
	}
	followed->stuck = !good;
	if (good && followed->t.size > TIMELINE_MAX)
		followed_begin_anew(follower, followed, "it reached the limit of 512 MB");
	return written;
}

/* ---- scans of a JVM ---------------------------------------------------------------------------------------------- */

/* Sends a request to the helper: the first one is for the version and layout of the JVM, all later ones are for a
 * scan. */
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

/* Charges the JVM's tenant for a scan that began at time `since`: for its CPU time, and, if the scan took longer than
 * NOTICED, also for the time in which the helper was blocked during the first FOLLOWED_ALONE ns, since the helper
 * delays other scans only in that time. If the scan exceeded its time or memory budget, also postpones the JVM's next
 * scan. */
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

/* Handles the answer that the JVM cannot be read: doubles the step budget if it was too small, otherwise reports the
 * reason in the answer. Returns false if the process has ended. */
static bool followed_refuse(struct follower *follower, struct followed *followed, const struct read_answer *answer,
			    uint64_t now)
{
	struct hotspot_reason why = jvmhandle_reason(answer);

	if (!followed_lives(followed))
		return false;
	if (answer->over == READBUDGET_STEPS && followed->steps < ALLOWANCE_STEPS_MAX) {
		/* The step budget did not suffice to list all code blobs: retries soon with twice as many steps. */
		followed->steps *= 2;
		followed->next = now + SOON;
	} else {
		followed_report(follower, followed, &why);
	}
	return true;
}

/* Moves the next scan to an earlier time if code has disappeared, or if the last scan has left new code to the next
 * one. Reports the tenant if the limit of memory left code out. */
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

/* Returns true if the result of a scan may be written: the process still runs the same program, its memory may be shown
 * to its user, and the sizes are within their limits. Otherwise ends the helper and returns false. */
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

/* Handles an answer of the helper to the request of time `since`: opens the timeline after the first answer, and writes
 * the result of a scan. Returns false if the process has ended. */
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
