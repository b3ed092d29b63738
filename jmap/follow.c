/* SPDX-License-Identifier: Apache-2.0 */
#include "follow.h"

#include "allowance.h"
#include "arena.h"
#include "clocks.h"
#include "codemap.h"
#include "diag.h"
#include "outpath.h"
#include "execs.h"
#include "journal.h"
#include "parent.h"
#include "perfmaps.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
#define YOUNG_FOR (2 * SECOND)
#define YOUNG_EVERY (50 * MS)
#define OFTENER 4 /* times, while code goes: an address that is used again is what names can be wrong by */
#define SWEEP_EVERY (60 * SECOND)
#define SWEEP_SHARE 1000 /* of the time at most one part in so many goes into sweeping */
#define TIMELINE_MAX ((uint64_t)512 << 20) /* pjfold reads no more than twice of that */
#define EXECS_EVERY (10 * MS) /* messages about execs are read at most so often: a storm of them costs no wake-up each */
#define LOOK_SHARE 100         /* of the time at most one part in so many goes into looking for JVMs, over some seconds */
#define LOOK_BURST SECOND     /* of rest that may be owed */
#define COST_SHARE 20 /* of the time at most one part in so many goes into one JVM of a tenant in debt */
#define LAST_LOOKS (SECOND / 2) /* for all of them, once a signal asks to end */
#define IN_DEBT (SECOND / 2) /* after which a JVM is tried again whose tenant has used up its CPU time */
#define SOON (20 * MS) /* when the rest of its new code is read */
#define CHEAP (20 * MS) /* a look that keeps no other JVM waiting */
#define REST (60 * SECOND) /* a JVM whose memory was given to another tenant */
#define LOOK_EVERYWHERE (10 * SECOND) /* at processes that were no JVM: they may have loaded one since */

static const unsigned young_after[] = { 15, 40, 90, 200, 500, 1500 }; /* ms after an exec: has it become a JVM? */

struct followed {
	struct jvm_process p;
	struct hotspot h;
	struct journal t;
	struct tenant tenant;
	uint64_t memory;  /* bytes, between looks */
	uint64_t cost;    /* ns of CPU time, of the last look; UINT64_MAX: there was none */
	uint64_t steps;   /* of the next look */
	bool open, told;  /* its memory; that it cannot be read */
	bool stuck;       /* its timeline could not be written the last time */
	uint64_t since, next;
	uint64_t written; /* of t, when the map was last written */
};

/* A process that began a program. */
struct candidate {
	pid_t pid;
	uint64_t at;
	unsigned tries;
};

struct follower {
	const struct request *r;
	struct followed *one;
	size_t n, cap;
	size_t jvms_max;      /* of a tenant */
	uint64_t memory;      /* bytes, of all */
	uint64_t not_followed; /* beyond jvms_max */
	struct allowance allowance;
	struct perfmaps maps;
	struct candidate candidate[1024];
	size_t ncandidates;
	int execs;
	bool failed;
	uint64_t everywhere; /* when all processes are looked at again */
	uint64_t regular;    /* at the latest */
	uint64_t rested;     /* when what looking for JVMs cost so far will be one part in LOOK_SHARE of the time */
	uint64_t execs_read;
	uint64_t seen, ended;
	char boot[BOOT_ID + 1];
	struct mapsdir_swept swept;  /* sums; bytes: of DIR/maps as of the last sweep */
	uint64_t next_sweep, soonest; /* or, when much was written */
	uint64_t grown;              /* bytes that were written since */
	bool told_full;
	uint64_t left_out, begun_anew; /* pieces of code, of JVMs that were let go; timelines */
};

static volatile sig_atomic_t asked_to_end;

static void on_signal(int signal)
{
	(void)signal;
	asked_to_end = 1;
}

/* ---- one JVM --------------------------------------------------------------------------------------------------- */

/* What a JVM in its first second lacks may still come. */
static void tell(struct follower *f, struct followed *j, const struct hotspot_reason *why)
{
	if (!j->told && clock_now() - j->since > SECOND && strcmp(why->code, "starting") != 0 && strcmp(why->code, "gone") != 0) {
		warn("%d: %s: %s", (int)j->p.pid, why->code, why->why);
		f->failed = f->failed || f->r->npids;
		j->told = true;
	}
}

/* True: its memory can be read. */
static bool open_one(struct follower *f, struct followed *j)
{
	struct hotspot_reason why = hotspot_open_within(&j->h, &j->p, &f->allowance.budget);

	if (!why.code) {
		j->open = true;
		return true;
	}
	hotspot_close(&j->h);
	tell(f, j, &why);
	return false;
}

static bool open_journal(struct follower *f, struct followed *j)
{
	const char *what = journal_open(&j->t, f->r->dir, &j->p, &j->tenant, j->h.version);

	if (!what)
		return true;
	if (!j->told)
		warn("%d: %s '%s': %s", (int)j->p.pid, what, f->r->dir,
		     errno == EWOULDBLOCK ? "another pjmap writes its timeline" : strerror(errno));
	j->told = f->failed = true;
	return false;
}

/* perf-PID.map for users of perf: what lives now. */
static void write_map(struct follower *f, struct followed *j)
{
	struct text t = { 0 };
	const char *what;

	if (!journal_map(&j->t, f->r->style, PERFMAPS_ONE_MAX, &t) || !perfmaps_reserve(&f->maps, j->p.pid, j->tenant, t.n)) {
		allowance_tell(&f->allowance, j->tenant, "bytes in perf-PID.map");
		text_free(&t);
		return;
	}
	what = publisher_put(f->r->publisher, j->p.pid, text_view(&t), &j->t.owner, false);
	if (what && !f->failed) {
		warn("%d: %s '%s': %s", (int)j->p.pid, what, f->r->to ? f->r->to : "/tmp", strerror(errno));
		f->failed = true;
	}
	perfmaps_written(&f->maps, j->p.pid, &j->t.owner);
	j->written = j->t.written;
	text_free(&t);
}

/* Is it still that process, and does it run the same program? */
static bool lives(const struct jvm_process *p)
{
	return taskid_is(p->folder, &p->id);
}

/* What was there before is dropped: there is no room for it. */
static void begin_anew(struct follower *f, struct followed *j, const char *limit)
{
	if (journal_begin_anew(&j->t)) {
		warn("%d: %s begins anew (%s): of the time before, code of this JVM has no names any more", (int)j->p.pid, j->t.path, limit);
		f->begun_anew++;
	}
}

/* Memory that the tenant of a JVM has, without this JVM. */
static uint64_t memory_of_others(const struct follower *f, const struct followed *j)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < f->n; i++)
		if (&f->one[i] != j && tenant_same(f->one[i].tenant, j->tenant))
			sum += f->one[i].memory;
	return sum;
}

/* Where all memory is in use, a tenant with little gets what one with much has: the largest JVM of the latter begins anew. */
static void make_room(struct follower *f, const struct followed *j, uint64_t mine)
{
	struct followed *largest = NULL;

	if (f->allowance.memory_all - f->allowance.memory_all / 16 > f->memory)
		return;
	for (size_t i = 0; i < f->n; i++)
		if (!tenant_same(f->one[i].tenant, j->tenant) && (!largest || f->one[i].memory > largest->memory))
			largest = &f->one[i];
	if (!largest || memory_of_others(f, largest) + largest->memory < 2 * (mine + j->memory))
		return;
	allowance_tell(&f->allowance, largest->tenant, "memory");
	journal_close(&largest->t, false);
	f->memory -= largest->memory;
	largest->memory = 0;
	largest->next = clock_now() + REST;
}

/* Behind a look: what the JVM has now, and whether it was refused something. */
static void settle(struct follower *f, struct followed *j, uint64_t written, uint64_t now)
{
	uint64_t memory = sizeof(*j) + journal_bytes(&j->t) + vmstructs_bytes(&j->h.tables);

	hotspot_rest(&j->h);
	f->memory += memory - j->memory;
	j->memory = memory;
	j->cost = allowance_end(&f->allowance, j->tenant, written);
	if (j->t.beyond)
		allowance_tell(&f->allowance, j->tenant, "memory");
	if ((f->allowance.budget.over == BUDGET_TIME || f->allowance.budget.over == BUDGET_BYTES) && j->next < now + COST_SHARE * j->cost)
		j->next = now + COST_SHARE * j->cost;
}

/* What was read of it is written; where nothing could be written, that is said once. */
static void end_scan(struct follower *f, struct followed *j, bool scanned, const char *failed)
{
	if (j->t.size > TIMELINE_MAX)
		begin_anew(f, j, "512 MB, as long as one may be");
	if (failed) {
		if (!j->stuck) /* a disk that is full stays so for a while */
			warn("%s: %s: %s", j->t.path, failed, strerror(errno));
		j->stuck = f->failed = true;
		journal_close(&j->t, false); /* the next one begins anew, and is whole */
	} else if (scanned && f->r->perf_map && !j->t.anew && j->t.written != j->written) { /* anew: nothing is listed before the next scan */
		write_map(f, j);
	}
	j->stuck = j->stuck && failed;
}

/* False: it is gone, or will never be readable. */
static bool scan_one(struct follower *f, struct followed *j, uint64_t now)
{
	uint64_t removed = j->t.removed, mine = memory_of_others(f, j);
	const char *failed = NULL;
	struct hotspot_reason why;

	if (!j->open && !open_one(f, j))
		return lives(&j->p);
	if (j->t.fd < 0 && !open_journal(f, j))
		return lives(&j->p);
	make_room(f, j, mine);
	j->t.bytes_max = j->memory + allowance_memory(&f->allowance, mine + j->memory, f->memory) + 1;
	why = journal_scan(&j->t, &j->h, &failed);
	if (why.code && !lives(&j->p))
		return false;
	if (why.code && f->allowance.budget.over == BUDGET_STEPS && j->steps < ALLOWANCE_STEPS_MAX) {
		j->steps *= 2; /* it did not suffice for the list of its code */
		j->next = now + SOON;
	} else if (why.code) {
		tell(f, j, &why);
	}
	if (j->t.removed > removed && j->next > now + f->r->interval / OFTENER)
		j->next = now + f->r->interval / OFTENER;
	if (j->t.later && j->next > now + SOON)
		j->next = now + SOON;
	end_scan(f, j, !why.code, failed);
	return true;
}

/* False: it is gone, or will never be readable. */
static bool look_at_one(struct follower *f, struct followed *j, uint64_t now, bool last)
{
	uint64_t written = j->t.written;
	bool stays;

	j->next = now + (now - j->since < YOUNG_FOR ? YOUNG_EVERY : f->r->interval);
	if (!allowance_may(&f->allowance, j->tenant, now)) {
		j->next = now + (f->r->interval > IN_DEBT ? f->r->interval : IN_DEBT);
		return lives(&j->p);
	}
	allowance_begin(&f->allowance, j->steps, last);
	stays = scan_one(f, j, now);
	written = j->t.written > written ? j->t.written - written : 0;
	f->grown += written;
	settle(f, j, written, now);
	return stays;
}

static void let_go(struct follower *f, size_t i, bool ended)
{
	struct followed *j = &f->one[i];

	if (!f->r->quiet && ended)
		warn("%d: ended: %llu pieces of code came, %llu went, %llu bytes in %s", (int)j->p.pid, (unsigned long long)j->t.added,
		     (unsigned long long)j->t.removed, (unsigned long long)j->t.written, j->t.path);
	perfmaps_ended(&f->maps, j->p.pid);
	f->left_out += j->t.torn + j->t.unnamed;
	f->memory -= j->memory;
	journal_close(&j->t, ended);
	if (j->open)
		hotspot_close(&j->h);
	jvm_process_close(&j->p);
	f->one[i] = f->one[--f->n];
	f->ended += ended;
}

/* ---- all ------------------------------------------------------------------------------------------------------- */

/* A process that runs another program by now is let go: what it runs is a JVM of its own. */
static bool is_followed(struct follower *f, const struct jvm_process *p)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct jvm_process *known = &f->one[i].p;

		if (known->pid != p->pid || known->start != p->start)
			continue;
		if (lives(known))
			return true;
		let_go(f, i, true);
		return false;
	}
	return false;
}

/* True: its tenant has as many as it may. */
static bool are_enough(struct follower *f, struct tenant of)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++)
		n += tenant_same(f->one[i].tenant, of);
	if (n < f->jvms_max && f->n < 4 * f->jvms_max)
		return false;
	f->not_followed++;
	allowance_tell(&f->allowance, of, "open files");
	return true;
}

/* One that was found. Takes p. */
static bool add(void *arg, struct jvm_process *p)
{
	struct follower *f = arg;
	uint64_t now = clock_now(), age = jvm_process_age_ns(p);
	struct tenant of = tenant_of(p->folder);

	if (is_followed(f, p) || are_enough(f, of))
		return false;
	if (f->n == f->cap) {
		f->cap = f->cap ? f->cap * 2 : 16;
		f->one = mem_grow(f->one, sizeof(*f->one), f->cap);
	}
	f->one[f->n] = (struct followed){ .p = *p,
					  .t = { .fd = -1 },
					  .h = { .memory = { .fd = -1 } },
					  .tenant = of,
					  .cost = UINT64_MAX,
					  .steps = ALLOWANCE_FIRST_STEPS,
					  .since = now > age ? now - age : 0,
					  .next = now };
	f->n++;
	f->seen++;
	return true;
}

/* False: there is no such process. */
static bool add_one(struct follower *f, pid_t pid)
{
	struct jvm_process p;

	if (!discover_candidate(f->r->proc, pid, &p))
		return false;
	if (!p.alive || (p.kind != JVM_HOTSPOT && p.kind != JVM_OPENJ9) || !add(f, &p))
		jvm_process_close(&p);
	return true;
}

static uint64_t cpu_now(void)
{
	struct timespec t;

	return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0 ? (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec : 0;
}

/* Looking for JVMs cost CPU time since `before`. */
static void account(struct follower *f, uint64_t now, uint64_t before)
{
	f->rested = (f->rested > now ? f->rested : now) + (cpu_now() - before) * LOOK_SHARE;
}

/* From when on JVMs may be looked for again. */
static uint64_t may_look_at(const struct follower *f)
{
	return f->rested > LOOK_BURST ? f->rested - LOOK_BURST : 0;
}

static void look_everywhere(struct follower *f, uint64_t now)
{
	uint64_t before = cpu_now();
	struct discovery d = discover(f->r->proc, add, f);

	if (now < f->regular) /* else it comes too seldom to matter, and what is new shall not wait for it */
		account(f, now, before);

	if (f->everywhere == 0 && d.forbidden && !f->r->quiet)
		warn("%u of %u processes may not be looked into", d.forbidden, d.processes);
	f->everywhere = f->regular = now + (f->execs >= 0 ? LOOK_EVERYWHERE : f->r->interval);
}

/* There are more than can be watched one by one: all processes are looked at, as soon as that does not cost too much. */
static void look_soon(struct follower *f, uint64_t now)
{
	uint64_t soon = may_look_at(f) > now ? may_look_at(f) : now;

	if (soon < f->everywhere)
		f->everywhere = soon;
}

/* A process that execs again and again is one candidate, whose program began anew. */
static void add_candidate(struct follower *f, pid_t pid, uint64_t now)
{
	struct candidate new = { pid, now + young_after[0] * MS, 0 };

	for (size_t i = f->ncandidates; i-- > 0;) {
		if (f->candidate[i].pid == pid) {
			f->candidate[i] = new;
			return;
		}
	}
	if (f->ncandidates == countof(f->candidate))
		look_soon(f, now);
	else
		f->candidate[f->ncandidates++] = new;
}

static void take_execs(struct follower *f, uint64_t now)
{
	pid_t pid[256];
	int n;

	if (now < f->execs_read + EXECS_EVERY)
		return;
	while ((n = execs_read(f->execs, pid, countof(pid))) > 0) {
		f->execs_read = now;
		for (int i = 0; i < n; i++)
			add_candidate(f, pid[i], now);
		if (n < (int)countof(pid))
			break;
	}
	if (n < 0)
		look_soon(f, now);
}

static void try_candidates(struct follower *f, uint64_t now)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->ncandidates; i++) {
		struct candidate c = f->candidate[i];
		uint64_t before;
		size_t n = f->n;
		bool lasts;

		if (c.at > now || may_look_at(f) > now) {
			f->candidate[kept++] = c;
			continue;
		}
		before = cpu_now();
		lasts = add_one(f, c.pid);
		account(f, now, before);
		if (lasts && f->n == n && ++c.tries < countof(young_after)) {
			c.at = now + (young_after[c.tries] - young_after[c.tries - 1]) * MS;
			f->candidate[kept++] = c;
		}
	}
	f->ncandidates = kept;
}

/* ---- DIR/maps -------------------------------------------------------------------------------------------------- */

/* Bytes of the timelines of a tenant's JVMs that live. */
static uint64_t timelines_of(const struct follower *f, struct tenant of)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < f->n; i++)
		if (f->one[i].t.fd >= 0 && !f->one[i].t.anew && tenant_same(f->one[i].tenant, of))
			sum += f->one[i].t.size;
	return sum;
}

/* Those whose JVMs live are all that is left, and still too much: of the tenant that holds most, the largest one with mostly former
 * code begins anew. */
static void shorten(struct follower *f)
{
	uint64_t most = f->r->keep_bytes, bytes = f->swept.bytes;

	while (bytes > most) {
		struct followed *largest = NULL;
		uint64_t held = 0;

		for (size_t i = 0; i < f->n; i++) {
			struct followed *j = &f->one[i];
			uint64_t n = timelines_of(f, j->tenant);

			if (j->t.fd >= 0 && !j->t.anew && j->t.size > j->t.whole_size + j->t.whole_size / 2 &&
			    (!largest || n > held || (n == held && j->t.size > largest->t.size))) {
				largest = j;
				held = n;
			}
		}
		if (!largest)
			break;
		bytes -= largest->t.size < bytes ? largest->t.size : bytes;
		begin_anew(f, largest, "--keep-bytes");
		if (!largest->t.anew)
			break;
	}
	if (bytes > most && !f->told_full)
		warn("--keep-bytes: the JVMs that live need %llu bytes in '%s/maps', and more than %llu may not be used: it is exceeded",
		     (unsigned long long)f->swept.bytes, f->r->dir, (unsigned long long)most);
	f->told_full = bytes > most;
}

static void sweep(struct follower *f, uint64_t now)
{
	struct mapsdir_swept s = mapsdir_sweep(f->r->dir, f->r->proc, f->boot, f->r->keep_bytes);

	if (s.unneeded && !f->r->quiet)
		warn("%llu timelines of JVMs that ended removed: no window needs them", (unsigned long long)s.unneeded);
	if (s.needed)
		warn("--keep-bytes: %llu timelines removed that windows in '%s' still need: Java code of these JVMs has no names any more; fold "
		     "sooner, or allow more", (unsigned long long)s.needed, f->r->dir);
	if (s.largest_bytes && (s.needed || s.bytes > f->r->keep_bytes))
		allowance_tell(&f->allowance, s.largest, "bytes in DIR/maps");
	f->swept.unneeded += s.unneeded;
	f->swept.needed += s.needed;
	f->swept.bytes = s.bytes;
	f->grown = 0;
	f->soonest = now + s.took * SWEEP_SHARE;
	f->next_sweep = f->soonest > now + SWEEP_EVERY ? f->soonest : now + SWEEP_EVERY;
	if (f->r->keep_bytes && s.bytes > f->r->keep_bytes)
		shorten(f);
}

static bool is_time_to_sweep(const struct follower *f, uint64_t now)
{
	uint64_t most = f->r->keep_bytes;

	return now >= f->next_sweep || (most && f->grown > most / 10 && now >= f->soonest);
}

static uint64_t next_of(const struct follower *f)
{
	uint64_t next = f->r->npids || f->everywhere > f->next_sweep ? f->next_sweep : f->everywhere;

	for (size_t i = 0; i < f->n; i++)
		if (f->one[i].next < next)
			next = f->one[i].next;
	for (size_t i = 0; i < f->ncandidates; i++) {
		uint64_t at = f->candidate[i].at > may_look_at(f) ? f->candidate[i].at : may_look_at(f);

		if (at < next)
			next = at;
	}
	return next;
}

/* A signal that came before it waits ends the wait. */
static void wait_until(struct follower *f, uint64_t next, const sigset_t *mask)
{
	struct pollfd p = { .fd = f->execs, .events = POLLIN };
	uint64_t now = clock_now(), execs = f->execs_read + EXECS_EVERY, ns;
	bool listens = f->execs >= 0 && now >= execs;
	struct timespec t;

	if (f->execs >= 0 && !listens && execs < next)
		next = execs;
	ns = next <= now ? 0 : next - now;
	t = (struct timespec){ (time_t)(ns / SECOND), (long)(ns % SECOND) };
	ppoll(&p, listens, &t, mask);
}

static void say_sum(const struct follower *f)
{
	struct text t = { 0 };

	if (f->left_out)
		text_printf(&t, "; %llu pieces of code could not be read or named", (unsigned long long)f->left_out);
	if (f->swept.unneeded + f->swept.needed)
		text_printf(&t, "; %llu timelines removed, %llu of them needed", (unsigned long long)(f->swept.unneeded + f->swept.needed),
			    (unsigned long long)f->swept.needed);
	if (f->begun_anew)
		text_printf(&t, "; %llu began anew", (unsigned long long)f->begun_anew);
	if (f->allowance.ntold)
		text_printf(&t, "; %zu tenants over budget", f->allowance.ntold);
	if (f->not_followed)
		text_printf(&t, "; %llu JVMs not followed: too many", (unsigned long long)f->not_followed);
	if (!f->r->quiet)
		warn("%llu JVM%s followed, %llu ended%.*s", (unsigned long long)f->seen, f->seen == 1 ? "" : "s",
		     (unsigned long long)f->ended, (int)t.n, t.p ? t.p : "");
	text_free(&t);
}

static void add_named(struct follower *f)
{
	for (size_t i = 0; i < f->r->npids; i++) {
		size_t before = f->n;

		add_one(f, f->r->pid[i]);
		if (f->n == before) {
			warn("%d: no such process, or no JVM", (int)f->r->pid[i]);
			f->failed = true;
		}
	}
}

/* Of those that are due and may cost much the one that waits longest; NULL: none is. */
static struct followed *costly_one(struct follower *f, uint64_t now)
{
	struct followed *found = NULL;

	for (size_t i = 0; i < f->n; i++)
		if (f->one[i].next <= now && f->one[i].cost > CHEAP && (!found || f->one[i].next < found->next))
			found = &f->one[i];
	return found;
}

/* Those that are due: all that cost little, and one of the others, so that the former are due again before the next one. */
static void look_at_all(struct follower *f, uint64_t now)
{
	struct followed *costly;

	for (size_t i = f->n; i-- > 0 && !asked_to_end;)
		if (f->one[i].next <= now && f->one[i].cost <= CHEAP && !look_at_one(f, &f->one[i], now, false))
			let_go(f, i, true);
	costly = costly_one(f, now);
	if (costly && !asked_to_end && !look_at_one(f, costly, now, false))
		let_go(f, (size_t)(costly - f->one), true);
}

/* Signals come while it works, too, and end what it does; between the last look at the flag and its sleep they wait. */
static void work(struct follower *f, const sigset_t *block, const sigset_t *mask)
{
	while (!asked_to_end && (!f->r->npids || f->n)) {
		uint64_t now = clock_now();

		sigprocmask(SIG_SETMASK, mask, NULL);
		if (f->execs >= 0)
			take_execs(f, now);
		try_candidates(f, now);
		if (!f->r->npids && now >= f->everywhere)
			look_everywhere(f, now);
		look_at_all(f, now);
		if (is_time_to_sweep(f, now) && !asked_to_end)
			sweep(f, now);
		sigprocmask(SIG_BLOCK, block, NULL);
		if (!asked_to_end)
			wait_until(f, next_of(f), mask);
	}
}

/* Once more, so that the last moments have their code, too; as long as there is time. */
static void end_all(struct follower *f)
{
	uint64_t until = clock_now() + LAST_LOOKS;

	for (size_t i = f->n; i-- > 0 && clock_now() < until;)
		if (!look_at_one(f, &f->one[i], clock_now(), true))
			let_go(f, i, true);
	while (f->n)
		let_go(f, f->n - 1, false);
}

bool follow(const struct request *r)
{
	struct follower *f = mem_alloc(sizeof(*f), 1);
	pid_t parent = getppid();
	struct sigaction end = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	sigset_t block, mask;
	bool good;

	mem_give_back();
	mapsdir_make(r->dir);
	f->r = r;
	f->jvms_max = allowance_files();
	allowance_open(&f->allowance, &asked_to_end);
	f->maps = (struct perfmaps){ .dir = r->to ? r->to : "/tmp", .publisher = r->publisher, .tenants = f->allowance.tenants };
	if (boot_id(r->proc, f->boot)) /* without it no timeline can be written, which is said then */
		mapsdir_prepare(r->dir, f->boot);
	sigemptyset(&block);
	sigaddset(&block, SIGINT);
	sigaddset(&block, SIGTERM);
	sigprocmask(SIG_BLOCK, &block, &mask);
	sigaction(SIGINT, &end, NULL);
	sigaction(SIGTERM, &end, NULL);
	if (r->with_parent)
		parent_bind(parent);
	f->execs = r->npids ? -1 : execs_open();
	mapopts_limit(r);
	add_named(f);
	work(f, &block, &mask);
	end_all(f);
	if (f->execs >= 0)
		close(f->execs);
	say_sum(f);
	good = !f->failed;
	perfmaps_free(&f->maps);
	allowance_close(&f->allowance);
	free(f->one);
	free(f);
	return good;
}
