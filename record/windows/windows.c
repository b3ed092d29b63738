/* SPDX-License-Identifier: Apache-2.0 */
#include "record/windows/windows.h"

#include "record/windows/announce.h"
#include "common/arena.h"
#include "common/filter/boot.h"
#include "common/clocks.h"
#include "common/diag.h"
#include "record/symsaver/saversweep.h"
#include "record/windows/recorderlock.h"
#include "record/windows/retention.h"
#include "record/windows/leftovers.h"
#include "record/windows/rescue.h"
#include "record/windows/windir.h"
#include "record/windows/windowfile.h"
#include "common/process/threads.h"
#include "common/process/urgency.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* maximum number of windows that wait for the finisher; a further one is left in recording/ for rescue */
#define QUEUE 64
#define SPACE UINT64_C(16 << 20) /* bytes to free if not even the empty file of a window could be created */
#define DEADLINE_MS 5000 /* maximum time in ms for which the end of the finisher waits for the reader of paths */

struct job {
	struct window w;
	struct window_report r;
	int error;
	bool drop;
};

struct windows {
	struct windows_options o;
	char *dir;
	struct windir windir;
	int used; /* descriptor of recording/used, the ranges of used names (epochs.h) */
	pthread_t finisher;

	/* Members that both threads use, under `lock`. */
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct job queue[QUEUE];
	size_t first, n;
	/* closing: true: windows_close waits for the finisher. left: true: recording/ has unlocked windows of this run,
	 * which must be rescued. */
	bool closing, left;
	uint64_t space; /* bytes that the finisher must free for the recorder; 0: nothing */
	uint64_t own[2 * QUEUE];
	/* number of entries of `own`, the names (s since 1970) of windows in recording/ that this run has locked */
	size_t nown;
	uint64_t complete, delayed, dropped[DROPPED_REASONS];

	/* Member that only the recorder's thread uses. true: a message has reported that windows cannot be created. */
	bool cannot_create;

	/* Members that only the finisher's thread uses. */
	struct metrics metrics;
	/* numbers of dropped windows that were added to metrics already, by reason */
	uint64_t reported[DROPPED_REASONS];
	/* cpu_us: CPU time of the process in us that was added to metrics already. unprinted: number of paths of this
	 * run that were not printed and were added to metrics already. */
	uint64_t cpu_us, unprinted;
	struct retention saved;
	struct retention_clock clock;
	struct announce announce;
	uint64_t ring_high; /* fill of the fullest ring in the last window, in 1/1000 of its size */
	uint64_t symbols_bytes;
	/* bytes to keep free after the disk or quota was full: twice the size of the largest dropped window; 0: it was
	 * never full */
	uint64_t reserve;
	/* true: a message has reported this fault. short_of_space, no_metrics: false again when the fault has ended. */
	bool short_of_space, no_metrics, not_synced, cut_stacks;
};

static enum metrics_dropped windows_reason_of(int error)
{
	return error == ENOSPC || error == EDQUOT || error == EFBIG ? DROPPED_DISK : DROPPED_IO;
}

static bool space_helps(int error)
{
	return error == ENOSPC || error == EDQUOT;
}

static void forget_own(struct windows *windows, uint64_t epoch)
{
	for (size_t i = 0; i < windows->nown; i++)
		if (windows->own[i] == epoch)
			windows->own[i--] = windows->own[--windows->nown];
}

static void windows_forget(struct windows *windows, uint64_t epoch)
{
	pthread_mutex_lock(&windows->lock);
	forget_own(windows, epoch);
	pthread_mutex_unlock(&windows->lock);
}

/* ---- functions of the finisher's thread ---------------------------------------------------------------------- */

static void count_self(struct windows *windows)
{
	struct rusage u;
	uint64_t cpu, pages, size;
	char buf[200];
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, buf, sizeof(buf));
	struct str string = { buf, got > 0 ? (size_t)got : 0 };

	if (fd >= 0)
		close(fd);
	if (str_u64(str_cut(&string, ' '), &size) && str_u64(str_cut(&string, ' '), &pages))
		windows->metrics.rss = pages * (uint64_t)sysconf(_SC_PAGESIZE);
	if (getrusage(RUSAGE_SELF, &u) < 0)
		return;
	cpu = ((uint64_t)u.ru_utime.tv_sec + (uint64_t)u.ru_stime.tv_sec) * 1000000 + (uint64_t)u.ru_utime.tv_usec +
	      (uint64_t)u.ru_stime.tv_usec;
	windows->metrics.cpu_us += cpu > windows->cpu_us ? cpu - windows->cpu_us : 0;
	windows->cpu_us = cpu;
}

static void write_metrics(struct windows *windows)
{
	struct metrics *metrics = &windows->metrics;
	uint64_t all;

	pthread_mutex_lock(&windows->lock);
	for (size_t i = 0; i < DROPPED_REASONS; i++) {
		metrics->dropped[i] += windows->dropped[i] - windows->reported[i];
		windows->reported[i] = windows->dropped[i];
	}
	metrics->delayed += windows->delayed;
	windows->delayed = 0;
	pthread_mutex_unlock(&windows->lock);
	count_self(windows);
	metrics->unprinted += windows->announce.unprinted;
	windows->unprinted += windows->announce.unprinted;
	windows->announce.unprinted = 0;
	metrics->loss.ring_high = windows->ring_high;
	metrics->saved.bytes = windows->symbols_bytes;
	metrics->retained_windows = windows->saved.windows;
	metrics->saved_bytes = windows->saved.bytes;
	metrics->free_bytes = retention_free(&windows->windir, &all);
	if (metrics_write(metrics, windows->windir.dir)) {
		windows->no_metrics = false;
	} else if (!windows->no_metrics) {
		warn("cannot write '%s/pjrecord.prom': %s", windows->dir, strerror(errno));
		windows->no_metrics = true;
	}
}

/* Deletes files in symbols/ and jit/ that no window needs, by their names and times only. The symbol saver does the
 * same every ten minutes, but a full file system cannot wait for that. Returns the number of freed bytes. */
static uint64_t windows_drop_symbols(void *arg)
{
	const struct windows *windows = arg;

	return saversweep_unneeded(windows->windir.dir);
}

static void windows_keep_limits(struct windows *windows, uint64_t space)
{
	struct retention_limits limits = { .bytes = windows->o.keep_bytes,
					   .age_s = windows->o.keep_age_s,
					   .min_free = windows->o.min_free,
					   .reserve = windows->reserve,
					   .drop_symbols = windows_drop_symbols,
					   .arg = windows };
	uint64_t now;

	retention_scan(&windows->saved, &windows->windir);
	now = retention_now(&windows->clock, (uint64_t)time(NULL), clock_since_boot() / SECOND_NS,
			    windows->saved.newest / SECOND_NS, limits.age_s);
	if (retention_limit(&windows->saved, &windows->windir, &limits, space, now, &windows->metrics)) {
		windows->short_of_space = false;
	} else if (!windows->short_of_space) {
		warn("the file system of '%s' is too full%s, and only the newest window is left, which is not "
		     "deleted: free space there",
		     windows->dir, space || windows->reserve ? "" : " for --min-free");
		windows->short_of_space = true;
	}
}

/* Syncs recording/used and the folder out/ after a window was moved to out/. The first failure is reported by a
 * message. */
static void sync_dirs(struct windows *windows)
{
	if ((fdatasync(windows->used) < 0 || fsync(windows->windir.out) < 0) && errno != EINVAL &&
	    !windows->not_synced) {
		warn("cannot sync '%s/out': %s", windows->dir, strerror(errno));
		windows->not_synced = true;
	}
}

/* Prints the path and summary of a window that was moved to out/, and adds it to the metrics. what: text before the
 * summary. */
static void windows_announce(struct windows *windows, int fd, uint64_t epoch, struct window_report *report,
			     const char *what)
{
	struct text path = { 0 }, summary = { 0 };
	struct stat status;

	sync_dirs(windows);
	if (fstat(fd, &status) == 0) {
		report->bytes = report->bytes ? report->bytes : (uint64_t)status.st_size;
		retention_add(&windows->saved, &windows->windir, epoch, &status);
	}
	metrics_add(&windows->metrics, report);
	windows->ring_high = report->loss.ring_high;
	windows->symbols_bytes = report->saved.bytes ? report->saved.bytes : windows->symbols_bytes;
	windows->metrics.last_success = (uint64_t)time(NULL);
	text_printf(&path, "%s/out/%" PRIu64 ".data", windows->dir, epoch);
	if (windows->o.print)
		announce_path(&windows->announce, text_view(&path));
	if (!windows->o.quiet) {
		if (windows->o.verbose)
			metrics_summary(&summary, report);
		else
			metrics_sentence(&summary, report);
		warn("%.*s: %s%.*s", (int)path.n, path.p, what, (int)summary.n, summary.p);
	}
	if (windows->o.verbose && !windows->cut_stacks && report->loss.depth && report->depth_limit) {
		warn("stacks are deeper than kernel.perf_event_max_stack=%u and truncated: stop, sysctl "
		     "kernel.perf_event_max_stack=%u, start",
		     report->depth_limit, report->depth_limit < 512 ? 1024 : 2 * report->depth_limit);
		windows->cut_stacks = true;
	}
	text_free(&path);
	text_free(&summary);
}

static void windows_drop_job(struct windows *windows, struct job *job)
{
	char name[WINDOWFILE_NAME];
	struct stat status;
	uint64_t bytes = fstat(job->w.fd, &status) == 0 ? retention_size(&status) : 0;

	windowfile_name(name, job->w.epoch);
	if (unlinkat(windows->windir.recording, name, 0) < 0)
		warn("cannot remove '%s/recording/%s': %s", windows->dir, name, strerror(errno));
	close(job->w.fd);
	windows_forget(windows, job->w.epoch);
	if (!job->error)
		return;
	warn("window %" PRIu64 " is dropped, with %" PRIu64 " samples: cannot write '%s/recording/%s': %s",
	     job->w.epoch, job->r.samples, windows->dir, name, strerror(job->error));
	pthread_mutex_lock(&windows->lock);
	windows->dropped[windows_reason_of(job->error)]++;
	pthread_mutex_unlock(&windows->lock);
	metrics_add_dropped(&windows->metrics, &job->r);
	windows->symbols_bytes = job->r.saved.bytes ? job->r.saved.bytes : windows->symbols_bytes;
	if (!space_helps(job->error))
		return;
	bytes = bytes > job->r.bytes ? bytes : job->r.bytes;
	windows->reserve = windows->reserve > 2 * bytes ? windows->reserve : 2 * bytes;
	windows_keep_limits(windows, bytes + bytes / 2 + 65536);
}

static void windows_finish_job(struct windows *windows, struct job *job)
{
	uint64_t epoch;

	retention_stamp(&windows->saved, &windows->windir, job->w.fd);
	if (fsync(job->w.fd) < 0 || !windowfile_publish(&windows->windir, windows->used, job->w.epoch, &epoch)) {
		job->error = errno;
		windows_drop_job(windows, job);
		return;
	}
	windows_announce(windows, job->w.fd, epoch, &job->r, "");
	close(job->w.fd);
	pthread_mutex_lock(&windows->lock);
	forget_own(windows, job->w.epoch);
	windows->complete++;
	pthread_mutex_unlock(&windows->lock);
	windows_keep_limits(windows, 0);
}

static bool windows_rescued(void *arg, int fd, uint64_t from, const struct rescued *found)
{
	struct windows *windows = arg;
	struct window_report report = { .samples = found->samples, .processes = found->processes };
	struct pj_window window;
	uint64_t epoch;

	retention_stamp(&windows->saved, &windows->windir, fd);
	if (!windowfile_publish(&windows->windir, windows->used, from, &epoch))
		return false;
	chunk_item(fd, FEATURE_PJ_END, PJ_ITEM_LOSS, &report.loss, sizeof(report.loss));
	if (chunk_times(fd, &report.begin, &report.end) &&
	    chunk_item(fd, FEATURE_PJ_START, PJ_ITEM_WINDOW, &window, sizeof(window)) == sizeof(window) &&
	    window.begin < report.begin)
		report.begin = window.begin;
	windows->metrics.rescued++;
	windows_announce(windows, fd, epoch, &report, "left by a run that was killed: ");
	return true;
}

static void clean_up(struct windows *windows)
{
	struct leftovers leftovers = { &windows->windir, &windows->metrics, windows_rescued, windows };

	leftovers_rescue(&leftovers);
	windows_keep_limits(windows, 0);
}

/* Waits for a signal of the recorder's thread; at most 1 s if queued paths remain because their reader is slow. */
static void wait_for_more(struct windows *windows)
{
	if (windows->announce.waiting.n)
		threads_wait(&windows->more, &windows->lock, clock_now() + SECOND_NS);
	else
		pthread_cond_wait(&windows->more, &windows->lock);
}

static void windows_work(struct windows *windows)
{
	struct job job;
	uint64_t space;
	bool left, has_job;

	pthread_mutex_lock(&windows->lock);
	if (!windows->n && !windows->closing && !windows->space && !windows->left)
		wait_for_more(windows);
	space = windows->space;
	windows->space = 0;
	has_job = windows->n;
	if (has_job) {
		job = windows->queue[windows->first];
		windows->first = (windows->first + 1) % QUEUE;
		windows->n--;
	}
	left = windows->left && !has_job;
	windows->left = windows->left && !left;
	pthread_mutex_unlock(&windows->lock);
	announce_flush(&windows->announce, 0);
	if (space)
		windows_keep_limits(windows, space);
	if (left)
		clean_up(windows);
	if (has_job && job.drop)
		windows_drop_job(windows, &job);
	else if (has_job)
		windows_finish_job(windows, &job);
	if (space || left || has_job)
		write_metrics(windows);
}

static bool windows_at_end(struct windows *windows)
{
	bool end;

	pthread_mutex_lock(&windows->lock);
	end = windows->closing && !windows->n && !windows->space && !windows->left;
	pthread_mutex_unlock(&windows->lock);
	return end;
}

static void *windows_finisher(void *arg)
{
	struct windows *windows = arg;

	urgency_lower(URGENCY_USUAL); /* usual priority instead of the recorder's raised one, because the recording does
					 not wait for this thread */
	leftovers_sweep(&windows->windir);
	clean_up(windows);
	write_metrics(windows);
	while (!windows_at_end(windows))
		windows_work(windows);
	announce_end(&windows->announce, DEADLINE_MS);
	write_metrics(windows);
	return NULL;
}

/* ---- functions of the recorder's thread ---------------------------------------------------------------------- */

void windows_prepare(const char *dir, uid_t *uid, gid_t *gid)
{
	windir_prepare(dir, uid, gid);
}

bool windows_lock(const char *dir, uint64_t from, uint64_t to, struct recorderlock *lock)
{
	struct windir windir;
	bool opened;
	int error;

	windir_open(&windir, dir);
	opened = recorderlock_open(lock, windir.recording, from, to);
	error = errno;
	windir_close(&windir);
	errno = error;
	return opened;
}

struct windows *windows_open(const struct windows_options *options)
{
	struct windows *windows = mem_alloc(sizeof(*windows), 1);
	size_t n = strlen(options->dir) + 1;
	int error;

	windows->o = *options;
	windows->dir = mem_alloc(1, n);
	memcpy(windows->dir, options->dir, n);
	while (n > 2 && windows->dir[n - 2] == '/')
		windows->dir[--n - 1] = 0;
	windir_open(&windows->windir, windows->dir);
	windows->used = windowfile_open_used(&windows->windir, windows->dir);
	/* a write beyond the limit of file sizes (RLIMIT_FSIZE) then fails with EFBIG, instead of ending the process */
	signal(SIGXFSZ, SIG_IGN);
	pthread_mutex_init(&windows->lock, NULL);
	threads_condition(&windows->more);
	error = threads_start(&windows->finisher, 0, windows_finisher,
			      /* signals are blocked in the thread, so a write to a closed pipe returns EPIPE */
			      windows);
	if (error) {
		errno = error;
		die_errno("cannot start a thread");
	}
	return windows;
}

bool windows_create(struct windows *windows, uint64_t epoch, struct window *window)
{
	bool good;
	int error;

	*window = (struct window){ .fd = -1 };
	window->fd = windowfile_create(&windows->windir, windows->used, epoch, &window->epoch);
	good = window->fd >= 0;
	error = errno;
	pthread_mutex_lock(&windows->lock);
	if (good && windows->nown < countof(windows->own)) {
		windows->own[windows->nown++] = window->epoch;
	} else if (!good) {
		windows->dropped[windows_reason_of(error)]++;
		windows->space = space_helps(error) ? SPACE : windows->space;
		pthread_cond_signal(&windows->more);
	}
	pthread_mutex_unlock(&windows->lock);
	if (!good) {
		if (!windows->cannot_create)
			warn("cannot create a window in '%s/recording': %s; samples are dropped until that succeeds",
			     windows->dir, strerror(error));
		errno = error;
	}
	windows->cannot_create = !good;
	return good;
}

/* Passes a window to the finisher. If the queue is full, closes the window's file instead, which releases its lock; the
 * window is then rescued later, like a window of a killed run. */
static void windows_enqueue(struct windows *windows, struct window *window, const struct job *job)
{
	bool fits;

	pthread_mutex_lock(&windows->lock);
	fits = windows->n < QUEUE;
	if (fits) {
		windows->queue[(windows->first + windows->n++) % QUEUE] = *job;
	} else {
		windows->delayed++;
		windows->left = true;
		forget_own(windows, window->epoch);
	}
	pthread_cond_signal(&windows->more);
	pthread_mutex_unlock(&windows->lock);
	if (!fits) {
		close(window->fd);
		warn("the disk is too slow: window %" PRIu64 " waits in '%s/recording' to be rescued", window->epoch,
		     windows->dir);
	}
	window->fd = -1;
}

void windows_finish(struct windows *windows, struct window *window, const struct window_report *report)
{
	windows_enqueue(windows, window, &(struct job){ .w = *window, .r = *report });
}

void windows_drop(struct windows *windows, struct window *window, int error, const struct window_report *report)
{
	struct job job = { .w = *window, .error = error, .drop = true };

	if (report)
		job.r = *report;
	windows_enqueue(windows, window, &job);
}

/* ---- windows of overlapping runs -------------------------------------------------------------------------------- */

struct predecessor {
	struct windows *ws;
	char boot[BOOT_ID + 1];
	uint64_t end;
	bool found;
};

static bool windows_is_own(struct windows *windows, uint64_t epoch)
{
	bool own = false;

	pthread_mutex_lock(&windows->lock);
	for (size_t i = 0; i < windows->nown; i++)
		own = own || windows->own[i] == epoch;
	pthread_mutex_unlock(&windows->lock);
	return own;
}

static bool windows_look_at(void *arg, int space, const char *name, uint64_t epoch)
{
	struct predecessor *predecessor = arg;
	struct pj_window window;
	char boot[37] = "";
	int fd;

	if (windows_is_own(predecessor->ws, epoch))
		return true;
	fd = windir_file(space, name, O_RDONLY);
	if (fd < 0)
		return true;
	if (windowfile_is_written(fd) &&
	    chunk_item(fd, FEATURE_PJ_START, PJ_ITEM_WINDOW, &window, sizeof(window)) == sizeof(window) &&
	    window.end != UINT64_MAX && chunk_item(fd, FEATURE_PJ_START, PJ_ITEM_BOOT, boot, sizeof(boot) - 1) == 36 &&
	    strcmp(boot, predecessor->boot) == 0) {
		predecessor->end = !predecessor->found || window.end > predecessor->end ? window.end : predecessor->end;
		predecessor->found = true;
	}
	close(fd);
	return true;
}

bool windows_predecessor(struct windows *windows, uint64_t *end_ns)
{
	struct predecessor predecessor = { .ws = windows };

	boot_id("/proc", predecessor.boot);
	windir_each(windows->windir.recording, windows_look_at, &predecessor);
	*end_ns = predecessor.end;
	return predecessor.found;
}

/* ---- end of the run ------------------------------------------------------------------------------------------ */

void windows_counts(struct windows *windows, uint64_t *complete, uint64_t *dropped)
{
	pthread_mutex_lock(&windows->lock);
	*complete = windows->complete;
	*dropped = 0;
	for (size_t i = 0; i < DROPPED_REASONS; i++)
		*dropped += windows->dropped[i];
	pthread_mutex_unlock(&windows->lock);
}

bool windows_close(struct windows *windows)
{
	uint64_t complete, dropped, unprinted;

	pthread_mutex_lock(&windows->lock);
	windows->closing = true;
	pthread_cond_signal(&windows->more);
	pthread_mutex_unlock(&windows->lock);
	pthread_join(windows->finisher, NULL);
	windows_counts(windows, &complete, &dropped);
	unprinted = windows->unprinted;
	pthread_mutex_destroy(&windows->lock);
	pthread_cond_destroy(&windows->more);
	retention_free_list(&windows->saved);
	close(windows->used);
	windir_close(&windows->windir);
	free(windows->dir);
	free(windows);
	return !dropped && !unprinted;
}
