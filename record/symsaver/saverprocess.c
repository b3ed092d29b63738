/* SPDX-License-Identifier: Apache-2.0 */
#include "record/symsaver/saverprocess.h"

#include "common/arena.h"
#include "common/process/backoff.h"
#include "common/clocks.h"
#include "common/files/targetfile.h"
#include "record/symsaver/jits.h"
#include "record/symsaver/saverfiles.h"
#include "record/symsaver/saverqueue.h"
#include "record/symsaver/saversweep.h"
#include "record/symsaver/kernelsaver.h"
#include "record/perf/schedstat.h"
#include "common/files/fullio.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#define MS ((uint64_t)1000000)
#define JITS_EVERY (500 * MS)
#define SLOW_EVERY (5000 * MS) /* modules, roots */
#define SWEEP_EVERY (600 * 1000 * MS)
#define FILE_MAX ((uint64_t)512 << 20)
#define QUEUE_MS 50 /* between looks at what waits for its place */
#define FINISH_S 10 /* at the end, whatever is still to be done */
#define FAILED 1024 /* remembered until the next window; a power of two */

struct saver {
	struct saver_shared *shared;
	const struct saverprocess_options *o;
	struct saverdir dir;
	struct targetfiles_roots roots;
	struct jits jits;
	struct kernelsaver kernel;
	struct saverfiles files;
	uint64_t next_jits, next_slow, next_sweep;
	struct backoff backoff; /* of this process: time that places blocked it */
	struct saverqueue queue;
	uint64_t own_ns; /* mount namespace */
	uint64_t place;  /* that is entered; 0: none */
	struct cpu_time {
		uint64_t wall, cpu; /* ns; cpu: used, or waited for a CPU */
	} entered;
	int schedstat;
	uint64_t reported[JITS_EVENTS]; /* of jits.count */
	uint64_t failed[FAILED];        /* keys of files that were not kept in this window */
	bool hidden_reported, kernel_reported;
	uint64_t parsers_before[PARSER_LINGERING]; /* failures below keepers before this one */
};

/* ---- counts
 * -------------------------------------------------------------------------------------------------------------- */

static void saverprocess_count(struct saver *k, enum saver_count what, uint64_t n)
{
	atomic_fetch_add_explicit(&k->shared->count[what], n, memory_order_relaxed);
}

static void saverprocess_fail(struct saver *k, enum symsaver_reason why, uint64_t n)
{
	atomic_fetch_add_explicit(&k->shared->failed[why], n, memory_order_relaxed);
}

static void show_bytes(struct saver *k)
{
	atomic_store_explicit(&k->shared->count[COUNT_BYTES], k->dir.bytes, memory_order_relaxed);
}

/* ---- places
 * ---------------------------------------------------------------------------------------------------------------- */

static bool is_avoided(const struct saver *k, uint64_t place)
{
	uint64_t now = clock_now();

	for (size_t i = 0; i < KEEP_AVOID; i++)
		if (k->shared->avoid[i].place == place)
			return now < k->shared->avoid[i].until;
	return false;
}

/* Of this process and its parsers. */
static struct cpu_time saverprocess_cpu_time(const struct saver *k)
{
	struct cpu_time t = { .wall = clock_now() };
	struct schedstat s;

	if (schedstat_read(k->schedstat, &s))
		t.cpu = s.ran + s.waited + k->files.parser.cpu_ns;
	return t;
}

/* From here to leave_place, files of that place are touched; the recorder watches how long that takes. */
static void enter_place(struct saver *k, uint64_t place)
{
	k->place = place;
	k->entered = saverprocess_cpu_time(k);
	atomic_store_explicit(&k->shared->busy_place, place, memory_order_relaxed);
	atomic_store_explicit(&k->shared->busy_since, k->entered.wall, memory_order_release);
}

static void leave_place(struct saver *k)
{
	struct cpu_time now;
	uint64_t wall, cpu;

	if (!k->place)
		return;
	now = saverprocess_cpu_time(k);
	wall = now.wall - k->entered.wall;
	cpu = now.cpu - k->entered.cpu;
	atomic_store_explicit(&k->shared->busy_since, 0, memory_order_release);
	backoff_blocked(&k->backoff, k->place, wall > cpu ? wall - cpu : 0, now.wall);
	k->place = 0;
}

/* Whose files those of a process are now. What the message names may be the tenant that its parent was; of one that
 * ended it is that of its mount namespace, as far as that is known. */
static struct tenant tenant_now(const struct saver *k, int process, uint64_t mount_ns)
{
	return process >= 0 ? tenant_of(process) : targetfiles_roots_tenant(&k->roots, mount_ns);
}

/* Where files of a process are. */
static uint64_t saverprocess_place_of(const struct saver *k, struct tenant of, uint64_t mount_ns, uint64_t device)
{
	if (of.kind == TENANT_UNKNOWN && mount_ns)
		of = (struct tenant){ TENANT_MOUNT_NS, mount_ns };
	return backoff_place(&of, k->own_ns, device);
}

/* For jits.h; process -1: leaves. */
static bool saverprocess_enter(void *to, uint64_t mount_ns, int process)
{
	struct saver *k = to;
	struct tenant of;
	uint64_t place;

	leave_place(k);
	if (process < 0)
		return true;
	of = tenant_now(k, process, mount_ns);
	place = saverprocess_place_of(k, of, mount_ns, 0);
	if (is_avoided(k, place) || backoff_rests(&k->backoff, place, clock_now()))
		return false;
	enter_place(k, place);
	symhelper_enter(&k->files.parser, &of, place);
	return true;
}

/* For jitcopy.h. */
static enum jitcopy_records saverprocess_find_records(void *to, int fd, const struct jitcopy_span *span, uint64_t *end)
{
	struct saver *k = to;

	return symhelper_records(&k->files.parser, fd, span, end);
}

/* ---- binaries
 * ---------------------------------------------------------------------------------------------------------------- */

static void saverprocess_done(struct saver *k, uint64_t key)
{
	atomic_store_explicit(&k->shared->done[key & (KEEP_DONE - 1)], key, memory_order_relaxed);
}

/* What could not be kept is tried and counted once a window, but for what ended: another process may have the file. */
static void saverprocess_give_up(struct saver *k, uint64_t key, enum symsaver_reason why)
{
	if (why != SYMSAVER_GONE)
		saverprocess_done(k, key);
	else if (k->failed[key & (FAILED - 1)] == key)
		return;
	k->failed[key & (FAILED - 1)] = key;
	saverprocess_fail(k, why, 1);
}

/* Reading in /proc may wait for the process (timelimit.h), so it happens at the place that the message names. False:
 * that is avoided. */
static bool enter_process(struct saver *k, const struct symsaver_process *p)
{
	uint64_t place = saverprocess_place_of(k, p->of, p->mount_ns, 0);

	if (is_avoided(k, place))
		return false;
	enter_place(k, place);
	return true;
}

/* The folder in /proc of a process, and its root if that is wanted; -1: it ended. False: it is avoided. */
static bool open_process(struct saver *k, const struct symsaver_process *p, int *process, int *root)
{
	if (!enter_process(k, p))
		return false;
	*process = target_process(k->o->proc, p->pid, p->start);
	if (root)
		*root = *process >= 0 ? targetfiles_root(*process) : -1;
	leave_place(k);
	return true;
}

enum { DEFERRED = SYMSAVER_REASONS }; /* the place of the file rests */

/* The parser failed, or there is none for a moment: then the message waits. */
static int why_failed(struct saver *k, uint64_t place, struct saver_message *m)
{
	if (k->files.parser.failed == SYMPARSER_OFF && saverqueue_add(&k->queue, place, m))
		return DEFERRED;
	return (int)saverfiles_reason(k->files.parser.failed);
}

/* -1: done, else enum symsaver_reason, or DEFERRED. */
static int saverprocess_visit(struct saver *k, struct saver_message *m, uint64_t now)
{
	struct tenant of;
	uint64_t place;
	int process, why;

	if (!open_process(k, &m->process, &process, NULL))
		return SYMSAVER_HUNG;
	m->process.of = tenant_now(k, process, m->process.mount_ns);
	of = saverfiles_owner(m);
	place = saverprocess_place_of(k, of, m->process.mount_ns, (uint64_t)m->mapping.major << 32 | m->mapping.minor);

	if (is_avoided(k, place)) {
		why = SYMSAVER_HUNG;
	} else if (backoff_rests(&k->backoff, place, now)) {
		why = saverqueue_add(&k->queue, place, m) ? DEFERRED : SYMSAVER_SLOW;
	} else {
		enter_place(k, place);
		symhelper_enter(&k->files.parser, &of, place);
		why = saverfiles_save(&k->files, m, process, now);
		if (k->files.parser.failed != SYMPARSER_DONE)
			why = why_failed(k, place, m);
		leave_place(k);
	}
	if (process >= 0)
		close(process);
	return why;
}

static void on_binary(struct saver *k, struct saver_message *m, uint64_t now)
{
	int why = -1;

	if (atomic_load_explicit(&k->shared->done[m->key & (KEEP_DONE - 1)], memory_order_relaxed) == m->key)
		return;
	if (m->kind == KEEP_ID || !saverfiles_are_saved(&k->files, m))
		why = saverprocess_visit(k, m, now);
	if (why < 0)
		saverprocess_done(k, m->key);
	else if (why != DEFERRED)
		saverprocess_give_up(k, m->key, (enum symsaver_reason)why);
}

/* The image that the kernel maps into every process, also into this one: names of [vdso] after a reboot. */
static void keep_vdso(struct saver *k)
{
	const char *image = (const char *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	struct saverdir_file f = { .fd = -1 };
	char path[SAVERDIR_PATH];
	Elf64_Ehdr h;
	size_t size;

	snprintf(path, sizeof(path), "%s/vdso", k->dir.boot);
	if (!image || saverdir_touch(&k->dir, path))
		return;
	memcpy(&h, image, sizeof(h));
	size = (size_t)h.e_shoff + (size_t)h.e_shnum * h.e_shentsize;
	if (h.e_ident[EI_CLASS] != ELFCLASS64 || size > 1u << 20 || !saverdir_begin(&k->dir, &f))
		return;
	if (!fullio_write(f.fd, (struct str){ image, size }) || !saverdir_commit(&k->dir, &f, path, NULL))
		saverdir_discard(&k->dir, &f);
}

/* ---- processes
 * -------------------------------------------------------------------------------------------------------------- */

static void on_root(struct saver *k, const struct saver_message *m, uint64_t now)
{
	int process, root;

	if (!open_process(k, &m->process, &process, &root))
		return;
	if (root >= 0)
		targetfiles_roots_hold(&k->roots, m->process.mount_ns, root, process, now);
	if (root >= 0)
		close(root);
	if (process >= 0)
		close(process);
}

/* What jits counted since the last time. */
static void report_jits(struct saver *k)
{
	static const uint8_t why[JITS_EVENTS] = {
		[JITS_LARGE] = SYMSAVER_LARGE,         [JITS_UNTRUSTED] = SYMSAVER_UNTRUSTED,
		[JITS_FORBIDDEN] = SYMSAVER_FORBIDDEN, [JITS_DISK] = SYMSAVER_DISK,
		[JITS_GONE] = SYMSAVER_GONE,           [JITS_OTHER] = SYMSAVER_OTHER,
		[JITS_SLOW] = SYMSAVER_SLOW,           [JITS_BUDGET] = SYMSAVER_BUDGET
	};

	saverprocess_count(k, COUNT_MAPS, k->jits.count[JITS_SAVED] - k->reported[JITS_SAVED]);
	for (size_t i = JITS_SAVED + 1; i < JITS_EVENTS; i++)
		saverprocess_fail(k, (enum symsaver_reason)why[i], k->jits.count[i] - k->reported[i]);
	memcpy(k->reported, k->jits.count, sizeof(k->reported));
}

/* ---- the kernel
 * ---------------------------------------------------------------------------------------------------------------- */

static void report_kernel(struct saver *k)
{
	struct saver_shared *s = k->shared;

	if (k->kernel.now != atomic_load(&s->kernel_now)) {
		atomic_store(&s->kernel_before, k->kernel.before);
		atomic_store(&s->kernel_changed, clock_now());
		atomic_store(&s->kernel_now, k->kernel.now);
		saverprocess_count(k, COUNT_KERNELS, 1);
	}
	if (k->kernel.hidden && !k->hidden_reported)
		saverprocess_count(k, COUNT_HIDDEN, 1);
	if (k->kernel.failed && !k->kernel.hidden && !k->kernel_reported)
		saverprocess_fail(
			k, k->kernel.error == EACCES || k->kernel.error == EPERM ? SYMSAVER_FORBIDDEN : SYMSAVER_DISK,
			1);
	k->hidden_reported = k->kernel.hidden;
	k->kernel_reported = k->kernel.failed;
}

/* ---- the loop
 * -------------------------------------------------------------------------------------------------------------------
 */

static void on_window(struct saver *k)
{
	memset(k->failed, 0, sizeof(k->failed));
	kernelsaver_touch(&k->kernel);
	keep_vdso(k);
	report_kernel(k);
}

static void on_message(struct saver *k, struct saver_message *m)
{
	uint64_t now = clock_now();

	switch (m->kind) {
	case KEEP_ROOT: on_root(k, m, now); break;
	case KEEP_BINARY:
	case KEEP_CHECK:
	case KEEP_ID: on_binary(k, m, now); break;
	case KEEP_JIT:
		if (enter_process(k, &m->process))
			jits_see(&k->jits, m->process.pid, m->process.start, m->process.mount_ns, now);
		leave_place(k);
		break;
	case KEEP_DUMP:
		if (enter_process(k, &m->process))
			jits_dump(&k->jits, m->process.pid, m->process.start, m->process.mount_ns, &m->mapping, now);
		leave_place(k);
		break;
	case KEEP_EXIT: jits_exit(&k->jits, m->process.pid, now); break;
	case KEEP_WINDOW:
		if (k->o->dir)
			on_window(k);
		else
			memset(k->failed, 0, sizeof(k->failed));
		break;
	default: break;
	}
}

static void saverprocess_sweep(struct saver *k)
{
	struct saversweep s = saversweep_run(&k->dir, k->o->max_bytes, k->o->min_age_s);

	saverprocess_count(k, COUNT_REMOVED, s.removed);
	saverprocess_count(k, COUNT_FORCED, s.forced);
}

/* What became of the parsers. */
static void report_parser(struct saver *k)
{
	const struct backoff *f = &k->files.parser.backoff;

	atomic_store_explicit(&k->shared->parser[PARSER_HUNG], k->parsers_before[PARSER_HUNG] + f->hung,
			      memory_order_relaxed);
	atomic_store_explicit(&k->shared->parser[PARSER_CRASHED], k->parsers_before[PARSER_CRASHED] + f->crashed,
			      memory_order_relaxed);
	atomic_store_explicit(&k->shared->parser[PARSER_LINGERING], backoff_lingering(f), memory_order_relaxed);
}

/* What is due. Returns how many ms there are until something else is. */
static int do_what_is_due(struct saver *k)
{
	uint64_t now = clock_now(), next;

	report_parser(k);
	if (!k->o->dir)
		return k->queue.n ? QUEUE_MS : -1;
	if (k->jits.n && now >= k->next_jits) {
		jits_tick(&k->jits, now);
		k->next_jits = now + JITS_EVERY;
	}
	if (now >= k->next_slow) {
		targetfiles_roots_tick(&k->roots, now);
		if (kernelsaver_scan(&k->kernel))
			report_kernel(k);
		k->next_slow = now + SLOW_EVERY;
	}
	if (now >= k->next_sweep || k->dir.bytes > k->o->max_bytes) {
		saverprocess_sweep(k);
		k->next_sweep = now + SWEEP_EVERY;
	}
	report_jits(k);
	show_bytes(k);
	next = k->jits.n && k->next_jits < k->next_slow ? k->next_jits : k->next_slow;
	if (k->queue.n && next > now + QUEUE_MS * MS)
		next = now + QUEUE_MS * MS;
	return next > now ? (int)((next - now) / MS) + 1 : 0;
}

/* False: the recorder is gone. */
static bool sleep_until_woken(struct saver *k, int wake, int ms)
{
	struct pollfd p = { .fd = wake, .events = POLLIN };
	char bytes[64];
	ssize_t n = 1;

	atomic_store(&k->shared->sleeping, 1);
	if (atomic_load(&k->shared->head) != atomic_load(&k->shared->tail) || atomic_load(&k->shared->stop))
		ms = 0;
	if (poll(&p, 1, ms) > 0)
		n = read(wake, bytes, sizeof(bytes));
	atomic_store(&k->shared->sleeping, 0);
	return n != 0;
}

static void saverprocess_drain(struct saver *k, struct saver_message *m, char *path)
{
	/* a flood of messages must not keep what is due from being done */
	for (unsigned n = 0; n < 256 && saverring_get(k->shared, m, path); n++)
		on_message(k, m);
	for (unsigned n = 0; n < 16 && saverqueue_next(&k->queue, &k->backoff, clock_now(), m, path); n++)
		on_message(k, m);
}

/* Opens what the loop needs; NULL, or why it cannot run. */
static const char *saverprocess_begin(struct saver *k)
{
	const char *why = k->o->dir ? saverdir_open(&k->dir, k->o->dir, k->o->proc, k->o->min_free) : NULL;
	struct stat st;

	k->schedstat = schedstat_open(0);
	k->files = (struct saverfiles){ .shared = k->shared,
					.dir = &k->dir,
					.roots = &k->roots,
					.proc = k->o->proc,
					.largest = k->o->max_bytes / 4 < FILE_MAX ? k->o->max_bytes / 4 : FILE_MAX };
	symhelper_init(&k->files.parser, k->o->proc, k->o->parse, k->o->hang_ns - k->o->hang_ns / 4);
	for (size_t i = 0; i < countof(k->parsers_before); i++)
		k->parsers_before[i] = atomic_load(&k->shared->parser[i]);
	k->own_ns = stat("/proc/self/ns/mnt", &st) == 0 ? st.st_ino : 0;
	if (why || !k->o->dir)
		return why;
	k->jits = (struct jits){ .dir = &k->dir,
				 .roots = &k->roots,
				 .proc = k->o->proc,
				 .limits = jitcopy_limits,
				 .enter = saverprocess_enter,
				 .to = k };
	saverbudget_open(&k->dir.budget, k->o->max_bytes, &k->shared->over);
	k->jits.limits.records = saverprocess_find_records;
	k->jits.limits.to = k;
	kernelsaver_start(&k->kernel, &k->dir, k->o->proc);
	report_kernel(k);
	keep_vdso(k);
	return NULL;
}

/* The recorder ended or wants to: what it sent, and what JITs wrote until now. It waits for a short time only
 * (keep_stop). */
static void saverprocess_finish(struct saver *k, struct saver_message *m, char *path)
{
	alarm(FINISH_S);
	while (saverring_get(k->shared, m, path))
		on_message(k, m);
	if (k->o->dir) {
		jits_free(&k->jits, clock_now());
		report_jits(k);
		show_bytes(k);
	}
	report_parser(k);
	symhelper_free(&k->files.parser);
	targetfiles_roots_free(&k->roots);
	saverqueue_free(&k->queue);
}

void saverprocess_run(struct saver_shared *s, const struct saverprocess_options *o, int wake)
{
	struct saver *k = mem_alloc(sizeof(*k), 1);
	char *path = mem_alloc(1, SAVERRING_PATH + 1);
	struct saver_message m;
	bool more = true;

	k->shared = s;
	k->o = o;
	if (!saverprocess_begin(k)) {
		while (more && !atomic_load(&s->stop)) {
			saverprocess_drain(k, &m, path);
			more = sleep_until_woken(k, wake, do_what_is_due(k));
		}
		saverprocess_finish(k, &m, path);
	}
	if (k->schedstat >= 0)
		close(k->schedstat);
	if (o->dir)
		saverdir_close(&k->dir);
	free(path);
	free(k);
}
