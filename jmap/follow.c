/* SPDX-License-Identifier: Apache-2.0 */
#include "jmap/follow.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "common/diag.h"
#include "jmap/execs.h"
#include "jmap/followed.h"
#include "common/process/parent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MS FOLLOW_MS
#define SECOND FOLLOW_SECOND
#define SWEEP_EVERY (60 * SECOND)
/* sweeps of DIR/maps take at most 1/SWEEP_SHARE of the time */
#define SWEEP_SHARE 1000
/* minimum time in ns between reads of exec messages, so that thousands of execs per second do not wake pjmap each
 * time */
#define EXECS_EVERY (10 * MS)
/* searches for JVMs take at most 1/LOOK_SHARE of one CPU, averaged over some seconds */
#define LOOK_SHARE 100
/* burst of the searches: a search may start up to this time in ns before the end of the pause that earlier searches
 * require */
#define LOOK_BURST SECOND
/* time limit in ns for the last scans of all JVMs together, after a signal has ended the main loop */
#define LAST_SCANS (SECOND / 2)
/* weight of the CPU time in turn_of: a due JVM yields to other due JVMs for LATER times the CPU time of its last
 * scan */
#define LATER 4
/* maximum number of simultaneous scans of one tenant's JVMs; further due JVMs of the tenant wait */
#define SCANS_MAX 4
/* maximum number of simultaneous scans of all tenants' JVMs; further due JVMs wait */
#define PENDING_MAX 64
/* interval in ns at which pjmap retries to scan a due JVM while SCANS_MAX or PENDING_MAX prevents its scan */
#define BLOCKED_TRY (50 * MS)
/* interval in ns at which pjmap checks if the helper of an unanswered scan hangs */
#define HANG_TRY SECOND
/* time limit in ns for the last scan of one JVM, when pjmap ends */
#define LAST_MAX (150 * MS)
/* maximum number of simultaneous last scans, when pjmap ends; the other last scans wait */
#define LASTS_MAX 4
/* interval in ns of searches among all processes if exec messages are available: a process can load a JVM without an
 * exec */
#define LOOK_EVERYWHERE (10 * SECOND)

/* Times in ms after an exec at which pjmap checks if the process has become a JVM. */
static const unsigned young_after[] = { 15, 40, 90, 200, 500, 1500 };

static volatile sig_atomic_t end_requested;

static void follow_on_signal(int signal)
{
	(void)signal;
	end_requested = 1;
}

/* ---- dropping a JVM ---------------------------------------------------------------------------------------------- */

static void follow_let_go(struct follower *follower, size_t i, bool ended)
{
	struct followed *followed = &follower->one[i];

	if (!follower->r->quiet && ended)
		warn("%d: ended: %llu code blobs added, %llu removed, %llu bytes in %s", (int)followed->p.pid,
		     (unsigned long long)followed->t.added, (unsigned long long)followed->t.removed,
		     (unsigned long long)followed->t.written, followed->t.path);
	perfmaps_ended(&follower->maps, followed->p.pid);
	follower->left_out += followed->left_out;
	journalfile_close(&followed->t, ended);
	followed_stop(follower, followed);
	jvm_process_close(&followed->p);
	follower->one[i] = follower->one[--follower->n];
	follower->ended += ended;
}

/* ---- finding JVMs ---------------------------------------------------------------------------------------------- */

/* Returns true if pjmap follows the process with the program that it runs now, otherwise false. If pjmap follows the
 * process with an earlier program, because an exec has replaced it, also drops that JVM. */
static bool is_followed(struct follower *follower, const struct jvm_process *process)
{
	for (size_t i = 0; i < follower->n; i++) {
		const struct followed *known = &follower->one[i];

		if (known->p.pid != process->pid || known->p.start != process->start)
			continue;
		if (followed_lives(known))
			return true;
		follow_let_go(follower, i, true);
		return false;
	}
	return false;
}

/* Returns true if pjmap already follows the maximum number of JVMs of this tenant or of all tenants; then also counts
 * the new JVM as not followed, and reports the tenant. */
static bool are_enough(struct follower *follower, struct tenant tenant)
{
	size_t n = 0;

	for (size_t i = 0; i < follower->n; i++)
		n += tenant_same(follower->one[i].tenant, tenant);
	if (n < follower->jvms_max && follower->n < 4 * follower->jvms_max)
		return false;
	follower->not_followed++;
	allowance_report(&follower->allowance, tenant, "open files");
	return true;
}

/* Adds a JVM to the followed ones, which then own *process. Returns false if the JVM is followed already, or if the
 * limits forbid it; then *process remains the caller's. */
static bool follow_add(void *arg, struct jvm_process *process)
{
	struct follower *follower = arg;
	uint64_t now = clock_now(), age = jvm_process_age_ns(process);
	struct tenant tenant = tenant_of(process->folder);

	if (is_followed(follower, process) || are_enough(follower, tenant))
		return false;
	if (follower->n == follower->cap) {
		follower->cap = follower->cap ? follower->cap * 2 : 16;
		follower->one = mem_grow(follower->one, sizeof(*follower->one), follower->cap);
	}
	follower->one[follower->n] = (struct followed){ .p = *process,
							.t = { .fd = -1, .folder = -1 },
							.look = { .socket = -1, .records = -1, .map = -1 },
							.tenant = tenant,
							.cost = UINT64_MAX,
							.steps = ALLOWANCE_FIRST_STEPS,
							.since = now > age ? now - age : 0,
							.next = now };
	follower->n++;
	follower->seen++;
	return true;
}

/* Adds the process `pid` to the followed JVMs if it is a HotSpot or OpenJ9 JVM, and the limits permit it. Returns false
 * only if there is no such process. */
static bool add_one(struct follower *follower, pid_t pid)
{
	struct jvm_process process;

	if (!discover_candidate(follower->r->proc, pid, &process))
		return false;
	if (!process.alive || (process.kind != JVM_HOTSPOT && process.kind != JVM_OPENJ9) ||
	    !follow_add(follower, &process))
		jvm_process_close(&process);
	return true;
}

static uint64_t follow_cpu_now(void)
{
	struct timespec spec;

	return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spec) == 0 ?
		       (uint64_t)spec.tv_sec * SECOND + (uint64_t)spec.tv_nsec :
		       0;
}

/* Charges a search for JVMs: extends the pause before the next search by LOOK_SHARE times the CPU time of this one.
 * before: follow_cpu_now at the start of the search. */
static void follow_account(struct follower *follower, uint64_t now, uint64_t before)
{
	follower->rested = (follower->rested > now ? follower->rested : now) + (follow_cpu_now() - before) * LOOK_SHARE;
}

/* Returns the time, in ns of clock_now(), at which the next search for JVMs may start. */
static uint64_t may_look_at(const struct follower *follower)
{
	return follower->rested > LOOK_BURST ? follower->rested - LOOK_BURST : 0;
}

static void look_everywhere(struct follower *follower, uint64_t now)
{
	uint64_t before = follow_cpu_now();
	struct discovery discovery = discover(follower->r->proc, follow_add, follower);

	/* Only a search before its regular time is charged to the CPU budget of searches: regular ones are too rare to
	 * matter, and the checks of candidates must not wait because of them. */
	if (now < follower->regular)
		follow_account(follower, now, before);

	if (follower->everywhere == 0 && discovery.forbidden && !follower->r->quiet)
		warn("no permission to examine %u of %u processes", discovery.forbidden, discovery.processes);
	if (follower->everywhere == 0 && discovery.stalled && !follower->r->quiet)
		warn("%u of %u processes do not respond and are left out", discovery.stalled, discovery.processes);
	follower->everywhere = follower->regular =
		now + (follower->execs >= 0 ? LOOK_EVERYWHERE : follower->r->interval);
}

/* Schedules a search among all processes for the earliest time that the CPU budget of searches permits. Called if exec
 * messages were lost, or if there are too many candidates. */
static void look_soon(struct follower *follower, uint64_t now)
{
	uint64_t soon = may_look_at(follower) > now ? may_look_at(follower) : now;

	if (soon < follower->everywhere)
		follower->everywhere = soon;
}

/* Adds a process that executed a program to the candidates. If it is a candidate already, restarts its checks. If the
 * list is full, schedules a search among all processes instead. */
static void add_candidate(struct follower *follower, pid_t pid, uint64_t now)
{
	struct follow_candidate new = { pid, now + young_after[0] * MS, 0 };

	for (size_t i = follower->ncandidates; i-- > 0;) {
		if (follower->candidate[i].pid == pid) {
			follower->candidate[i] = new;
			return;
		}
	}
	if (follower->ncandidates == countof(follower->candidate))
		look_soon(follower, now);
	else
		follower->candidate[follower->ncandidates++] = new;
}

static void take_execs(struct follower *follower, uint64_t now)
{
	pid_t pid[256];
	int got;

	if (now < follower->execs_read + EXECS_EVERY)
		return;
	while ((got = execs_read(follower->execs, pid, countof(pid))) > 0) {
		follower->execs_read = now;
		for (int i = 0; i < got; i++)
			add_candidate(follower, pid[i], now);
		if (got < (int)countof(pid))
			break;
	}
	if (got < 0)
		look_soon(follower, now);
}

static void try_candidates(struct follower *follower, uint64_t now)
{
	size_t retained = 0;

	for (size_t i = 0; i < follower->ncandidates; i++) {
		struct follow_candidate candidate = follower->candidate[i];
		uint64_t before;
		size_t n = follower->n;
		bool lasts;

		if (candidate.at > now || may_look_at(follower) > now) {
			follower->candidate[retained++] = candidate;
			continue;
		}
		before = follow_cpu_now();
		lasts = add_one(follower, candidate.pid);
		follow_account(follower, now, before);
		if (lasts && follower->n == n && ++candidate.tries < countof(young_after)) {
			candidate.at = now + (young_after[candidate.tries] - young_after[candidate.tries - 1]) * MS;
			follower->candidate[retained++] = candidate;
		}
	}
	follower->ncandidates = retained;
}

/* ---- size of DIR/maps -------------------------------------------------------------------------------------------- */

/* Returns the size in bytes of all timelines of a tenant's followed JVMs, except those that are being restarted. */
static uint64_t follow_timelines_of(const struct follower *follower, struct tenant tenant)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < follower->n; i++)
		if (follower->one[i].t.fd >= 0 && !follower->one[i].t.anew &&
		    tenant_same(follower->one[i].tenant, tenant))
			sum += follower->one[i].t.size;
	return sum;
}

/* Restarts timelines of running JVMs while DIR/maps exceeds --keep-bytes. Each time, chooses the tenant that holds most
 * bytes, and of its timelines the largest. Skips a timeline if its JVM has a pending scan, or if its first scan wrote
 * two thirds of it or more: a restart would write these bytes again. */
static void follow_shorten(struct follower *follower)
{
	uint64_t max = follower->r->keep_bytes, bytes = follower->swept.bytes;

	while (bytes > max) {
		struct followed *largest = NULL;
		uint64_t held = 0;

		for (size_t i = 0; i < follower->n; i++) {
			struct followed *followed = &follower->one[i];
			uint64_t n = follow_timelines_of(follower, followed->tenant);

			if (followed->t.fd >= 0 && !followed->look.since && !followed->t.anew &&
			    followed->t.size > followed->t.first_size + followed->t.first_size / 2 &&
			    (!largest || n > held || (n == held && followed->t.size > largest->t.size))) {
				largest = followed;
				held = n;
			}
		}
		if (!largest)
			break;
		bytes -= largest->t.size < bytes ? largest->t.size : bytes;
		followed_begin_anew(follower, largest, "--keep-bytes");
		if (!largest->t.anew)
			break;
	}
	if (bytes > max && !follower->full_reported)
		warn("--keep-bytes: the living JVMs need %llu bytes in '%s/maps', more than the limit of %llu: "
		     "allow more",
		     (unsigned long long)follower->swept.bytes, follower->r->dir, (unsigned long long)max);
	follower->full_reported = bytes > max;
}

static void follow_sweep(struct follower *follower, uint64_t now)
{
	struct mapsdir_swept swept =
		mapsdir_sweep(follower->r->dir, follower->r->proc, follower->boot, follower->r->keep_bytes);

	if (swept.unneeded && !follower->r->quiet)
		warn("%llu timelines of ended JVMs removed: no window needs them", (unsigned long long)swept.unneeded);
	if (swept.needed)
		warn("--keep-bytes: %llu timelines removed that windows in '%s' need: Java code of these JVMs "
		     "has lost its names; fold sooner, or allow more",
		     (unsigned long long)swept.needed, follower->r->dir);
	if (swept.largest_bytes && (swept.needed || swept.bytes > follower->r->keep_bytes))
		allowance_report(&follower->allowance, swept.largest, "bytes in DIR/maps");
	follower->swept.unneeded += swept.unneeded;
	follower->swept.needed += swept.needed;
	follower->swept.bytes = swept.bytes;
	follower->grown = 0;
	follower->soonest = now + swept.took * SWEEP_SHARE;
	follower->next_sweep = follower->soonest > now + SWEEP_EVERY ? follower->soonest : now + SWEEP_EVERY;
	if (follower->r->keep_bytes && swept.bytes > follower->r->keep_bytes)
		follow_shorten(follower);
}

static bool is_time_to_sweep(const struct follower *follower, uint64_t now)
{
	uint64_t max = follower->r->keep_bytes;

	return now >= follower->next_sweep || (max && follower->grown > max / 10 && now >= follower->soonest);
}

/* Returns the time, in ns of clock_now(), until which an unanswered scan delays the scans of other JVMs; 0 if no
 * unanswered scan is younger than FOLLOWED_ALONE. */
static uint64_t busy_until(const struct follower *follower, uint64_t now)
{
	for (size_t i = 0; i < follower->n; i++)
		if (follower->one[i].look.since && now < follower->one[i].look.since + FOLLOWED_ALONE)
			return follower->one[i].look.since + FOLLOWED_ALONE;
	return 0;
}

/* Returns the time of the next action for a JVM, in ns of clock_now(). busy: time until which no scan may start, or 0
 * if scans may start now. */
static uint64_t next_of_one(const struct followed *followed, uint64_t busy, uint64_t now)
{
	if (followed->look.since)
		return now + HANG_TRY;
	if (followed->next > now)
		return followed->next;
	return busy ? busy : now + BLOCKED_TRY;
}

static uint64_t next_of(const struct follower *follower, uint64_t now)
{
	uint64_t next = follower->r->npids || follower->everywhere > follower->next_sweep ? follower->next_sweep :
											    follower->everywhere,
		 busy = busy_until(follower, now);

	for (size_t i = 0; i < follower->n; i++) {
		uint64_t at = next_of_one(&follower->one[i], busy, now);

		if (at < next)
			next = at;
	}
	for (size_t i = 0; i < follower->ncandidates; i++) {
		uint64_t at = follower->candidate[i].at > may_look_at(follower) ? follower->candidate[i].at :
										  may_look_at(follower);

		if (at < next)
			next = at;
	}
	return next;
}

/* Fills `polled` with the sockets of helpers that have not answered their request. Returns the number of sockets, at
 * most PENDING_MAX. */
static nfds_t put_sockets(const struct follower *follower, struct pollfd *polled)
{
	nfds_t n = 0;

	for (size_t i = 0; i < follower->n && n < PENDING_MAX; i++)
		if (follower->one[i].look.since)
			polled[n++] = (struct pollfd){ .fd = follower->one[i].look.socket, .events = POLLIN };
	return n;
}

/* Waits until the time `next`, an answer of a helper, an exec message or a signal. mask: signal mask during the wait. A
 * signal that arrived before the wait ends the wait at once. */
static void follow_wait_until(struct follower *follower, uint64_t next, const sigset_t *mask)
{
	struct pollfd polled[PENDING_MAX + 1];
	nfds_t n = put_sockets(follower, polled);
	uint64_t now = clock_now(), execs = follower->execs_read + EXECS_EVERY, ns;
	struct timespec spec;

	if (follower->execs >= 0 && now >= execs)
		polled[n++] = (struct pollfd){ .fd = follower->execs, .events = POLLIN };
	else if (follower->execs >= 0 && execs < next)
		next = execs;
	ns = next <= now ? 0 : next - now;
	spec = (struct timespec){ (time_t)(ns / SECOND), (long)(ns % SECOND) };
	ppoll(polled, n, &spec, mask);
}

static void print_sum(const struct follower *follower)
{
	struct text text = { 0 };

	if (follower->left_out)
		text_printf(&text, "; %llu code blobs could not be read or named",
			    (unsigned long long)follower->left_out);
	if (follower->swept.unneeded + follower->swept.needed)
		text_printf(&text, "; %llu timelines removed, %llu of them needed",
			    (unsigned long long)(follower->swept.unneeded + follower->swept.needed),
			    (unsigned long long)follower->swept.needed);
	if (follower->begun_anew)
		text_printf(&text, "; %llu restarted", (unsigned long long)follower->begun_anew);
	if (follower->allowance.ntold)
		text_printf(&text, "; %zu tenants over budget", follower->allowance.ntold);
	if (follower->hung + follower->crashed)
		text_printf(&text, "; %llu scans hung, %llu crashed", (unsigned long long)follower->hung,
			    (unsigned long long)follower->crashed);
	if (follower->not_followed)
		text_printf(&text, "; %llu JVMs not followed: too many", (unsigned long long)follower->not_followed);
	if (!follower->r->quiet)
		warn("%llu JVM%s followed, %llu ended%.*s", (unsigned long long)follower->seen,
		     follower->seen == 1 ? "" : "s", (unsigned long long)follower->ended, (int)text.n,
		     text.p ? text.p : "");
	text_free(&text);
}

static void follow_add_named(struct follower *follower)
{
	for (size_t i = 0; i < follower->r->npids; i++) {
		size_t before = follower->n;

		add_one(follower, follower->r->pid[i]);
		if (follower->n == before) {
			warn("%d: no such process, or not a JVM", (int)follower->r->pid[i]);
			follower->failed = true;
		}
	}
}

static void take_answers(struct follower *follower, uint64_t now)
{
	for (size_t i = follower->n; i-- > 0;)
		if (follower->one[i].look.since && !followed_take(follower, &follower->one[i], now))
			follow_let_go(follower, i, true);
	if (follower->left.n)
		jvmhandle_reap(&follower->left);
}

/* Returns the sort key of due JVMs, a time in ns: the lowest key is scanned first. A JVM with expensive scans yields to
 * others for a while. */
static uint64_t turn_of(const struct followed *followed)
{
	return followed->next + (followed->cost == UINT64_MAX ? 0 : LATER * followed->cost);
}

/* Fills `pending` with the tenants of JVMs whose scan is unanswered. Returns the number of these scans, at most
 * PENDING_MAX. */
static size_t pending_tenants(const struct follower *follower, struct tenant pending[PENDING_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < follower->n && n < PENDING_MAX; i++)
		if (follower->one[i].look.since)
			pending[n++] = follower->one[i].tenant;
	return n;
}

static size_t follow_count_tenant(const struct tenant *of, size_t n, struct tenant tenant)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += tenant_same(of[i], tenant);
	return count;
}

/* Returns the JVM to scan next. Returns NULL if no JVM is due, or if SCANS_MAX or PENDING_MAX prevents a scan. */
static struct followed *next_due(struct follower *follower, uint64_t now)
{
	struct tenant pending[PENDING_MAX];
	size_t n = pending_tenants(follower, pending);
	struct followed *found = NULL;

	for (size_t i = 0; i < follower->n && n < PENDING_MAX; i++) {
		struct followed *followed = &follower->one[i];

		if (followed->next <= now && !followed->look.since && (!found || turn_of(followed) < turn_of(found)) &&
		    follow_count_tenant(pending, n, followed->tenant) < SCANS_MAX)
			found = followed;
	}
	return found;
}

/* Starts the scans that are due, one at a time: the next one starts when its predecessor is answered, or unanswered
 * after FOLLOWED_ALONE. */
static void begin_scans(struct follower *follower, uint64_t now)
{
	struct followed *followed;

	while (!busy_until(follower, now) && (followed = next_due(follower, now)) != NULL)
		if (!followed_look(follower, followed, now, false))
			follow_let_go(follower, (size_t)(followed - follower->one), true);
}

/* Main loop; ends after SIGINT or SIGTERM, or when no process of the command line is left. mask: signal mask during
 * work and wait. block: signals that are blocked between the check of end_requested and the wait, so that none is
 * missed. */
static void follow_work(struct follower *follower, const sigset_t *block, const sigset_t *mask)
{
	while (!end_requested && (!follower->r->npids || follower->n)) {
		uint64_t now = clock_now();

		sigprocmask(SIG_SETMASK, mask, NULL);
		if (follower->execs >= 0)
			take_execs(follower, now);
		try_candidates(follower, now);
		if (!follower->r->npids && now >= follower->everywhere)
			look_everywhere(follower, now);
		take_answers(follower, now);
		begin_scans(follower, now);
		if (is_time_to_sweep(follower, now) && !end_requested)
			follow_sweep(follower, now);
		sigprocmask(SIG_BLOCK, block, NULL);
		if (!end_requested)
			follow_wait_until(follower, next_of(follower, clock_now()), mask);
	}
}

/* Ends the helpers of all scans that take longer than LAST_MAX. Returns the number of last scans that are still
 * unanswered. */
static size_t last_scans(struct follower *follower, uint64_t now)
{
	size_t n = 0;

	for (size_t i = 0; i < follower->n; i++) {
		if (follower->one[i].look.since && now > follower->one[i].look.since + LAST_MAX)
			followed_stop(follower, &follower->one[i]);
		n += follower->one[i].look.since && follower->one[i].last;
	}
	return n;
}

/* Scans all JVMs once more, for at most LAST_SCANS, so that the timelines include code of the last moments. Then drops
 * all JVMs. */
static void end_all(struct follower *follower)
{
	uint64_t now = clock_now(), until = now + LAST_SCANS;
	struct pollfd polled[PENDING_MAX];
	size_t left = follower->n, going;

	while ((going = last_scans(follower, now)) + left > 0 && now < until) {
		for (; left > 0 && going < LASTS_MAX; left--)
			if (left <= follower->n && !follower->one[left - 1].look.since &&
			    followed_look(follower, &follower->one[left - 1], now, true))
				going += follower->one[left - 1].look.since != 0;
		poll(polled, put_sockets(follower, polled), 10);
		now = clock_now();
		take_answers(follower, now);
	}
	while (follower->n)
		follow_let_go(follower, follower->n - 1, false);
	jvmhandle_leave(&follower->left);
}

bool follow(const struct request *request)
{
	struct follower *follower = mem_alloc(sizeof(*follower), 1);
	pid_t parent = getppid();
	struct sigaction end = { .sa_handler = follow_on_signal, .sa_flags = SA_RESTART };
	sigset_t block, mask;
	bool good;

	mem_give_back();
	mapsdir_make(request->dir);
	follower->r = request;
	follower->jvms_max = allowance_files();
	allowance_open(&follower->allowance);
	follower->maps = (struct perfmaps){ .dir = request->to ? request->to : "/tmp",
					    .publisher = request->publisher,
					    .tenants = follower->allowance.tenants };
	/* Without a boot id pjmap can write no timeline; journalfile_open reports that later. */
	if (boot_id(request->proc, follower->boot))
		mapsdir_prepare(request->dir, follower->boot);
	sigemptyset(&block);
	sigaddset(&block, SIGINT);
	sigaddset(&block, SIGTERM);
	sigprocmask(SIG_BLOCK, &block, &mask);
	sigaction(SIGINT, &end, NULL);
	sigaction(SIGTERM, &end, NULL);
	if (request->with_parent)
		parent_bind(parent);
	follower->execs = request->npids ? -1 : execs_open();
	mapopts_limit(request);
	follow_add_named(follower);
	follow_work(follower, &block, &mask);
	end_all(follower);
	if (follower->execs >= 0)
		close(follower->execs);
	print_sum(follower);
	good = !follower->failed;
	perfmaps_free(&follower->maps);
	allowance_close(&follower->allowance);
	free(follower->one);
	free(follower);
	return good;
}
