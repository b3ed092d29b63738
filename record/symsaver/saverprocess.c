/* SPDX-License-Identifier: Apache-2.0 */
#include "record/symsaver/saverprocess.h"

#include "common/arena.h"
#include "common/process/backoff.h"
#include "common/clocks.h"
#include "common/files/targetfile.h"
#include "common/formats/vdso.h"
#include "record/symsaver/jits.h"
#include "record/symsaver/saverfiles.h"
#include "record/symsaver/saverqueue.h"
#include "record/symsaver/saversweep.h"
#include "record/symsaver/kernelsaver.h"
#include "record/perf/schedstat.h"
#include "common/files/fullio.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MS ((uint64_t)1000000)
#define JITS_EVERY (500 * MS)
/* SLOW_EVERY: interval in ns between two comparisons of the list of modules, and between two checks of held root
 * directories. SWEEP_EVERY: interval in ns between two sweeps of the symbol store. FILE_MAX: maximum bytes to save of
 * one file, if max_bytes / 4 is not less; larger files are not saved. */
#define SLOW_EVERY (5000 * MS)
#define SWEEP_EVERY (600 * 1000 * MS)
#define FILE_MAX ((uint64_t)512 << 20)
#define QUEUE_MS 50 /* interval in ms between two checks of the queue while it has messages */
/* maximum time in s for the remaining work when the recorder ends; then SIGALRM ends the symbol saver */
#define FINISH_S 10
#define FAILED 1024 /* number of slots of saver.failed; a power of two */

struct saver {
	struct saver_shared *shared;
	const struct saverprocess_options *o;
	struct saverdir dir;
	struct targetfiles_roots roots;
	struct jits jits;
	struct kernelsaver kernel;
	struct saverfiles files;
	/* times in ns (clock_now) of the next jits_tick, of the next comparison of modules, and of the next sweep */
	uint64_t next_jits, next_slow, next_sweep;
	struct backoff backoff; /* fault domains that blocked this process; their files are accessed less often */
	struct saverqueue queue;
	uint64_t own_ns; /* inode of this process's own mount namespace */
	uint64_t place;  /* fault domain (backoff.h) of the files that are being accessed; 0: no files are accessed */
	struct cpu_time {
		/* wall: time in ns (clock_now). cpu: ns for which this process and its parsers have run or waited for a
		 * CPU, since their start. */
		uint64_t wall, cpu;
	} entered;
	int schedstat;
	uint64_t reported[JITS_EVENTS]; /* values of jits.count at the last call of report_jits */
	/* hash table of the keys (saver_message.key) of files that were not saved in this window */
	uint64_t failed[FAILED];
	bool hidden_reported, kernel_reported;
	/* numbers of parser failures under earlier symbol savers, by enum saver_parser */
	uint64_t parsers_before[PARSER_LINGERING];
};

/* ---- counts for the recorder ------------------------------------------------------------------------------------ */

static void saverprocess_count(struct saver *saver, enum saver_count what, uint64_t n)
{
	atomic_fetch_add_explicit(&saver->shared->count[what], n, memory_order_relaxed);
}

static void saverprocess_fail(struct saver *saver, enum symsaver_reason why, uint64_t n)
{
	atomic_fetch_add_explicit(&saver->shared->failed[why], n, memory_order_relaxed);
}

static void show_bytes(struct saver *saver)
{
	atomic_store_explicit(&saver->shared->count[COUNT_BYTES], saver->dir.bytes, memory_order_relaxed);
}

/* ---- access to fault domains ------------------------------------------------------------------------------------ */

static bool is_avoided(const struct saver *saver, uint64_t place)
{
	uint64_t now = clock_now();

	for (size_t i = 0; i < KEEP_AVOID; i++)
		if (saver->shared->avoid[i].place == place)
			return now < saver->shared->avoid[i].until;
	return false;
}

/* Returns the current time, and the ns for which this process and its parsers have run or waited for a CPU since their
 * start. */
static struct cpu_time saverprocess_cpu_time(const struct saver *saver)
{
	struct cpu_time time = { .wall = clock_now() };
	struct schedstat schedstat;

	if (schedstat_read(saver->schedstat, &schedstat))
		time.cpu = schedstat.ran + schedstat.waited + saver->files.parser.cpu_ns;
	return time;
}

/* Begins the access to files of the fault domain `place`; leave_place ends it. The recorder reads busy_since to see how
 * long the access lasts. */
static void enter_place(struct saver *saver, uint64_t place)
{
	saver->place = place;
	saver->entered = saverprocess_cpu_time(saver);
	atomic_store_explicit(&saver->shared->busy_place, place, memory_order_relaxed);
	atomic_store_explicit(&saver->shared->busy_since, saver->entered.wall, memory_order_release);
}

static void leave_place(struct saver *saver)
{
	struct cpu_time now;
	uint64_t wall, cpu;

	if (!saver->place)
		return;
	now = saverprocess_cpu_time(saver);
	wall = now.wall - saver->entered.wall;
	cpu = now.cpu - saver->entered.cpu;
	atomic_store_explicit(&saver->shared->busy_since, 0, memory_order_release);
	backoff_blocked(&saver->backoff, saver->place, wall > cpu ? wall - cpu : 0, now.wall);
	saver->place = 0;
}

/* Returns the current tenant of a process; the message may have the tenant of the parent process. process: descriptor
 * of /proc/PID. If it is -1 (the process has ended), returns the tenant whose root is held for its mount namespace;
 * TENANT_UNKNOWN if none is held. */
static struct tenant tenant_now(const struct saver *saver, int process, uint64_t mount_ns)
{
	return process >= 0 ? tenant_of(process) : targetfiles_roots_tenant(&saver->roots, mount_ns);
}

/* Returns the fault domain (backoff.h) of a process's files on `device`. tenant: tenant of the process. */
static uint64_t saverprocess_place_of(const struct saver *saver, struct tenant tenant, uint64_t mount_ns,
				      uint64_t device)
{
	if (tenant.kind == TENANT_UNKNOWN && mount_ns)
		tenant = (struct tenant){ TENANT_MOUNT_NS, mount_ns };
	return backoff_place(&tenant, saver->own_ns, device);
}

/* Implements jits.enter: begins the access to files of a process; with process -1 ends the access. Returns false if the
 * fault domain of the process is avoided or in backoff; then no access begins. */
static bool saverprocess_enter(void *to, uint64_t mount_ns, int process)
{
	struct saver *saver = to;
	struct tenant tenant;
	uint64_t place;

	leave_place(saver);
	if (process < 0)
		return true;
	tenant = tenant_now(saver, process, mount_ns);
	place = saverprocess_place_of(saver, tenant, mount_ns, 0);
	if (is_avoided(saver, place) || backoff_rests(&saver->backoff, place, clock_now()))
		return false;
	enter_place(saver, place);
	symhelper_enter(&saver->files.parser, &tenant, place);
	return true;
}

/* Implements jitcopy_limits.records: makes the parser find the end of the complete records of a jitdump. */
static enum jitcopy_records saverprocess_find_records(void *to, int fd, const struct jitcopy_span *span, uint64_t *end)
{
	struct saver *saver = to;

	return symhelper_records(&saver->files.parser, fd, span, end);
}

/* ---- files of code ---------------------------------------------------------------------------------------------- */

static void saverprocess_done(struct saver *saver, uint64_t key)
{
	atomic_store_explicit(&saver->shared->done[key & (KEEP_DONE - 1)], key, memory_order_relaxed);
}

/* Counts a file that cannot be saved, once in a window, for the reason `why`. key: saver_message.key. The file is not
 * tried again in this window, except if `why` is SYMSAVER_GONE: then another process may have the file. */
static void saverprocess_give_up(struct saver *saver, uint64_t key, enum symsaver_reason why)
{
	if (why != SYMSAVER_GONE)
		saverprocess_done(saver, key);
	else if (saver->failed[key & (FAILED - 1)] == key)
		return;
	saver->failed[key & (FAILED - 1)] = key;
	saverprocess_fail(saver, why, 1);
}

/* Begins the access to the fault domain of the process in a message, because reads of /proc may block on that process
 * (timelimit.h). Returns false if the fault domain is avoided; then no access begins. */
static bool enter_process(struct saver *saver, const struct symsaver_process *process)
{
	uint64_t place = saverprocess_place_of(saver, process->of, process->mount_ns, 0);

	if (is_avoided(saver, place))
		return false;
	enter_place(saver, place);
	return true;
}

/* Sets *process to a descriptor of the process's /proc folder and, unless root is NULL, *root to one of its root
 * directory; -1 on failure. Returns false, without setting them, if the fault domain of the process is avoided. */
static bool open_process(struct saver *saver, const struct symsaver_process *p, int *process, int *root)
{
	if (!enter_process(saver, p))
		return false;
	*process = target_process(saver->o->proc, p->pid, p->start);
	if (root)
		*root = *process >= 0 ? targetfiles_root(*process) : -1;
	leave_place(saver);
	return true;
}

/* result of saverprocess_visit: the message was queued for later, because the file's fault domain is in backoff or no
 * parser can be started now */
enum { DEFERRED = SYMSAVER_REASONS };

/* Returns the result for a message whose request to the parser failed. If no parser can be started now, queues the
 * message for later and returns DEFERRED. place: fault domain of the file. */
static int why_failed(struct saver *saver, uint64_t place, struct saver_message *message)
{
	if (saver->files.parser.failed == SYMPARSER_OFF && saverqueue_add(&saver->queue, place, message))
		return DEFERRED;
	return (int)saverfiles_reason(saver->files.parser.failed);
}

/* Processes a message about a file. Returns -1 if the file is saved or need not be saved, DEFERRED if the message was
 * queued, otherwise an enum symsaver_reason. */
static int saverprocess_visit(struct saver *saver, struct saver_message *message, uint64_t now)
{
	struct tenant tenant;
	uint64_t place;
	int process, why;

	if (!open_process(saver, &message->process, &process, NULL))
		return SYMSAVER_HUNG;
	message->process.of = tenant_now(saver, process, message->process.mount_ns);
	tenant = saverfiles_owner(message);
	place = saverprocess_place_of(saver, tenant, message->process.mount_ns,
				      (uint64_t)message->mapping.file_id.major << 32 | message->mapping.file_id.minor);

	if (is_avoided(saver, place)) {
		why = SYMSAVER_HUNG;
	} else if (backoff_rests(&saver->backoff, place, now)) {
		why = saverqueue_add(&saver->queue, place, message) ? DEFERRED : SYMSAVER_SLOW;
	} else {
		enter_place(saver, place);
		symhelper_enter(&saver->files.parser, &tenant, place);
		why = saverfiles_save(&saver->files, message, process, now);
		if (saver->files.parser.failed != SYMPARSER_DONE)
			why = why_failed(saver, place, message);
		leave_place(saver);
	}
	if (process >= 0)
		close(process);
	return why;
}

static void on_binary(struct saver *saver, struct saver_message *message, uint64_t now)
{
	int why = -1;

	if (atomic_load_explicit(&saver->shared->done[message->key & (KEEP_DONE - 1)], memory_order_relaxed) ==
	    message->key)
		return;
	if (message->kind == KEEP_ID || !saverfiles_are_saved(&saver->files, message))
		why = saverprocess_visit(saver, message, now);
	if (why < 0)
		saverprocess_done(saver, message->key);
	else if (why != DEFERRED)
		saverprocess_give_up(saver, message->key, (enum symsaver_reason)why);
}

/* Saves the vDSO as symbols/BOOT/vdso, so that code in [vdso] has names even after a reboot. */
static void keep_vdso(struct saver *saver)
{
	struct str image = vdso_image();
	struct saverdir_file file = { .fd = -1 };
	char path[SAVERDIR_PATH];

	snprintf(path, sizeof(path), "%s/vdso", saver->dir.boot);
	if (!image.n || saverdir_touch(&saver->dir, path) || !saverdir_begin(&saver->dir, &file))
		return;
	if (!fullio_write(file.fd, image) || !saverdir_commit(&saver->dir, &file, path, NULL))
		saverdir_discard(&saver->dir, &file);
}

/* ---- root directories and JITs ---------------------------------------------------------------------------------- */

static void on_root(struct saver *saver, const struct saver_message *message, uint64_t now)
{
	int process, root;

	if (!open_process(saver, &message->process, &process, &root))
		return;
	if (root >= 0)
		targetfiles_roots_hold(&saver->roots, message->process.mount_ns, root, process, now);
	if (root >= 0)
		close(root);
	if (process >= 0)
		close(process);
}

/* Adds to the counts that the recorder reads the changes of jits.count since the last call. */
static void report_jits(struct saver *saver)
{
	static const uint8_t why[JITS_EVENTS] = {
		[JITS_LARGE] = SYMSAVER_LARGE,         [JITS_UNTRUSTED] = SYMSAVER_UNTRUSTED,
		[JITS_FORBIDDEN] = SYMSAVER_FORBIDDEN, [JITS_DISK] = SYMSAVER_DISK,
		[JITS_GONE] = SYMSAVER_GONE,           [JITS_OTHER] = SYMSAVER_OTHER,
		[JITS_SLOW] = SYMSAVER_SLOW,           [JITS_BUDGET] = SYMSAVER_BUDGET
	};

	saverprocess_count(saver, COUNT_MAPS, saver->jits.count[JITS_SAVED] - saver->reported[JITS_SAVED]);
	for (size_t i = JITS_SAVED + 1; i < JITS_EVENTS; i++)
		saverprocess_fail(saver, (enum symsaver_reason)why[i], saver->jits.count[i] - saver->reported[i]);
	memcpy(saver->reported, saver->jits.count, sizeof(saver->reported));
}

/* ---- snapshots of kernel symbols -------------------------------------------------------------------------------- */

static void report_kernel(struct saver *saver)
{
	struct saver_shared *shared = saver->shared;

	if (saver->kernel.now != atomic_load(&shared->kernel_now)) {
		atomic_store(&shared->kernel_before, saver->kernel.before);
		atomic_store(&shared->kernel_changed, clock_now());
		atomic_store(&shared->kernel_now, saver->kernel.now);
		saverprocess_count(saver, COUNT_KERNELS, 1);
	}
	if (saver->kernel.hidden && !saver->hidden_reported)
		saverprocess_count(saver, COUNT_HIDDEN, 1);
	if (saver->kernel.failed && !saver->kernel.hidden && !saver->kernel_reported)
		saverprocess_fail(saver,
				  saver->kernel.error == EACCES || saver->kernel.error == EPERM ? SYMSAVER_FORBIDDEN :
												  SYMSAVER_DISK,
				  1);
	saver->hidden_reported = saver->kernel.hidden;
	saver->kernel_reported = saver->kernel.failed;
}

/* ---- main loop -------------------------------------------------------------------------------------------------- */

static void on_window(struct saver *saver)
{
	memset(saver->failed, 0, sizeof(saver->failed));
	kernelsaver_touch(&saver->kernel);
	keep_vdso(saver);
	report_kernel(saver);
}

static void on_message(struct saver *saver, struct saver_message *message)
{
	uint64_t now = clock_now();

	switch (message->kind) {
	case KEEP_ROOT: on_root(saver, message, now); break;
	case KEEP_BINARY:
	case KEEP_CHECK:
	case KEEP_ID: on_binary(saver, message, now); break;
	case KEEP_JIT:
		if (enter_process(saver, &message->process))
			jits_see(&saver->jits, message->process.pid, message->process.start, message->process.mount_ns,
				 now);
		leave_place(saver);
		break;
	case KEEP_DUMP:
		if (enter_process(saver, &message->process))
			jits_dump(&saver->jits, message->process.pid, message->process.start, message->process.mount_ns,
				  &message->mapping, now);
		leave_place(saver);
		break;
	case KEEP_EXIT: jits_exit(&saver->jits, message->process.pid, now); break;
	case KEEP_WINDOW:
		if (saver->o->dir)
			on_window(saver);
		else
			memset(saver->failed, 0, sizeof(saver->failed));
		break;
	default: break;
	}
}

static void saverprocess_sweep(struct saver *saver)
{
	struct saversweep saversweep = saversweep_run(&saver->dir, saver->o->max_bytes, saver->o->min_age_s);

	saverprocess_count(saver, COUNT_REMOVED, saversweep.removed);
	saverprocess_count(saver, COUNT_FORCED, saversweep.forced);
}

/* Copies the counts of parser failures to the memory that the recorder reads. */
static void report_parser(struct saver *saver)
{
	const struct backoff *backoff = &saver->files.parser.backoff;

	atomic_store_explicit(&saver->shared->parser[PARSER_HUNG], saver->parsers_before[PARSER_HUNG] + backoff->hung,
			      memory_order_relaxed);
	atomic_store_explicit(&saver->shared->parser[PARSER_CRASHED],
			      saver->parsers_before[PARSER_CRASHED] + backoff->crashed, memory_order_relaxed);
	atomic_store_explicit(&saver->shared->parser[PARSER_LINGERING], backoff_lingering(backoff),
			      memory_order_relaxed);
}

/* Does the periodic work that is due. Returns the ms until the next periodic work; -1: no periodic work will be
 * necessary. */
static int do_what_is_due(struct saver *saver)
{
	uint64_t now = clock_now(), next;

	report_parser(saver);
	if (!saver->o->dir)
		return saver->queue.n ? QUEUE_MS : -1;
	if (saver->jits.n && now >= saver->next_jits) {
		jits_tick(&saver->jits, now);
		saver->next_jits = now + JITS_EVERY;
	}
	if (now >= saver->next_slow) {
		targetfiles_roots_tick(&saver->roots, now);
		if (kernelsaver_scan(&saver->kernel))
			report_kernel(saver);
		saver->next_slow = now + SLOW_EVERY;
	}
	if (now >= saver->next_sweep || saver->dir.bytes > saver->o->max_bytes) {
		saverprocess_sweep(saver);
		saver->next_sweep = now + SWEEP_EVERY;
	}
	report_jits(saver);
	show_bytes(saver);
	next = saver->jits.n && saver->next_jits < saver->next_slow ? saver->next_jits : saver->next_slow;
	if (saver->queue.n && next > now + QUEUE_MS * MS)
		next = now + QUEUE_MS * MS;
	return next > now ? (int)((next - now) / MS) + 1 : 0;
}

/* Waits for a message of the recorder, for at most wait_ms (-1: no limit). Returns false if the recorder has ended,
 * true otherwise. */
static bool sleep_until_woken(struct saver *saver, int wake, int wait_ms)
{
	struct pollfd polled = { .fd = wake, .events = POLLIN };
	char bytes[64];
	ssize_t got = 1;

	atomic_store(&saver->shared->sleeping, 1);
	if (atomic_load(&saver->shared->head) != atomic_load(&saver->shared->tail) || atomic_load(&saver->shared->stop))
		wait_ms = 0;
	if (poll(&polled, 1, wait_ms) > 0)
		got = read(wake, bytes, sizeof(bytes));
	atomic_store(&saver->shared->sleeping, 0);
	return got != 0;
}

static void saverprocess_drain(struct saver *saver, struct saver_message *message, char *path)
{
	/* The number of messages of one call is limited, so that a flood does not delay the periodic work. */
	for (unsigned n = 0; n < 256 && saverring_get(saver->shared, message, path); n++)
		on_message(saver, message);
	for (unsigned n = 0; n < 16 && saverqueue_next(&saver->queue, &saver->backoff, clock_now(), message, path); n++)
		on_message(saver, message);
}

/* Opens DIR and prepares all state. Returns NULL on success, otherwise the reason of the failure as a static text. */
static const char *saverprocess_begin(struct saver *saver)
{
	const char *why =
		saver->o->dir ? saverdir_open(&saver->dir, saver->o->dir, saver->o->proc, saver->o->min_free) : NULL;
	struct stat status;

	saver->schedstat = schedstat_open(0);
	saver->files = (struct saverfiles){ .shared = saver->shared,
					    .dir = &saver->dir,
					    .roots = &saver->roots,
					    .proc = saver->o->proc,
					    .largest = saver->o->max_bytes / 4 < FILE_MAX ? saver->o->max_bytes / 4 :
											    FILE_MAX };
	symhelper_init(&saver->files.parser, saver->o->proc, saver->o->parse,
		       saver->o->hang_ns - saver->o->hang_ns / 4);
	for (size_t i = 0; i < countof(saver->parsers_before); i++)
		saver->parsers_before[i] = atomic_load(&saver->shared->parser[i]);
	saver->own_ns = stat("/proc/self/ns/mnt", &status) == 0 ? status.st_ino : 0;
	if (why || !saver->o->dir)
		return why;
	saver->jits = (struct jits){ .dir = &saver->dir,
				     .roots = &saver->roots,
				     .proc = saver->o->proc,
				     .limits = jitcopy_limits,
				     .enter = saverprocess_enter,
				     .to = saver };
	saverbudget_open(&saver->dir.budget, saver->o->max_bytes, &saver->shared->over);
	saver->jits.limits.records = saverprocess_find_records;
	saver->jits.limits.to = saver;
	kernelsaver_start(&saver->kernel, &saver->dir, saver->o->proc);
	report_kernel(saver);
	keep_vdso(saver);
	return NULL;
}

/* Finishes the work when the recorder ends or requests the end: processes the remaining messages and copies the rest of
 * JIT files. The recorder waits only a short time for this (symsaver_stop). */
static void saverprocess_finish(struct saver *saver, struct saver_message *message, char *path)
{
	alarm(FINISH_S);
	while (saverring_get(saver->shared, message, path))
		on_message(saver, message);
	if (saver->o->dir) {
		jits_free(&saver->jits, clock_now());
		report_jits(saver);
		show_bytes(saver);
	}
	report_parser(saver);
	symhelper_free(&saver->files.parser);
	targetfiles_roots_free(&saver->roots);
	saverqueue_free(&saver->queue);
}

void saverprocess_run(struct saver_shared *shared, const struct saverprocess_options *options, int wake)
{
	struct saver *saver = mem_alloc(sizeof(*saver), 1);
	char *path = mem_alloc(1, SAVERRING_PATH + 1);
	struct saver_message message;
	bool more = true;

	saver->shared = shared;
	saver->o = options;
	if (!saverprocess_begin(saver)) {
		while (more && !atomic_load(&shared->stop)) {
			saverprocess_drain(saver, &message, path);
			more = sleep_until_woken(saver, wake, do_what_is_due(saver));
		}
		saverprocess_finish(saver, &message, path);
	}
	if (saver->schedstat >= 0)
		close(saver->schedstat);
	if (options->dir)
		saverdir_close(&saver->dir);
	free(path);
	free(saver);
}
