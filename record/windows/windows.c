/* SPDX-License-Identifier: Apache-2.0 */
#include "record/windows/windows.h"

#include "record/windows/announce.h"
#include "common/arena.h"
#include "common/filter/boot.h"
#include "common/clocks.h"
#include "common/diag.h"
#include "record/windows/epochs.h"
#include "record/symsaver/saversweep.h"
#include "record/windows/retention.h"
#include "record/windows/leftovers.h"
#include "record/windows/rescue.h"
#include "record/windows/windir.h"
#include "common/process/threads.h"
#include "common/process/urgency.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define QUEUE 64                 /* windows that wait for the finisher */
#define SPACE UINT64_C(16 << 20) /* to make when there was none even for an empty file */
#define ATTEMPTS 100             /* to find a name while others take theirs */
#define NAME 40
#define TEMP (NAME + 20)
#define DEADLINE_MS 5000 /* at the end, for who reads paths from standard output */

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
	int used; /* recording/used */
	pthread_t finisher;

	/* both threads', under lock */
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct job queue[QUEUE];
	size_t first, n;
	bool closing, left; /* left: windows of ours are in recording/ without a lock */
	uint64_t space;     /* that the recorder needs */
	uint64_t own[2 * QUEUE];
	size_t nown; /* that we have locked */
	uint64_t complete, delayed, dropped[DROPPED_REASONS];

	/* the recorder's */
	bool cannot_create;

	/* the finisher's */
	struct metrics metrics;
	uint64_t reported[DROPPED_REASONS]; /* of dropped, what is in metrics already */
	uint64_t cpu_us, unprinted;
	struct retention saved;
	struct retention_clock clock;
	struct announce announce;
	uint64_t ring_high; /* of the last window */
	uint64_t symbols_bytes;
	uint64_t reserve;                                        /* once the disk was full: room for the next windows */
	bool short_of_space, no_metrics, not_synced, cut_stacks; /* said */
};

static void windows_name_of(char name[NAME], uint64_t epoch)
{
	snprintf(name, NAME, "%" PRIu64 ".data", epoch);
}

static enum metrics_dropped windows_reason_of(int error)
{
	return error == ENOSPC || error == EDQUOT || error == EFBIG ? DROPPED_DISK : DROPPED_IO;
}

static bool space_helps(int error)
{
	return error == ENOSPC || error == EDQUOT;
}

/* ---- names --------------------------------------------------------------------------------------------------- */

/* As rename, but what has the new name stays: EEXIST. */
static bool windows_move(int from, const char *name, int to, const char *new_name)
{
	if (renameat2(from, name, to, new_name, RENAME_NOREPLACE) == 0)
		return true;
	if (errno != EINVAL && errno != ENOSYS)
		return false;
	/* a file system that cannot do so; names are used once, so nobody comes in between */
	if (faccessat(to, new_name, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
		errno = EEXIST;
		return false;
	}
	return renameat(from, name, to, new_name) == 0;
}

static void forget_own(struct windows *ws, uint64_t epoch)
{
	for (size_t i = 0; i < ws->nown; i++)
		if (ws->own[i] == epoch)
			ws->own[i--] = ws->own[--ws->nown];
}

static void windows_forget(struct windows *ws, uint64_t epoch)
{
	pthread_mutex_lock(&ws->lock);
	forget_own(ws, epoch);
	pthread_mutex_unlock(&ws->lock);
}

/* ---- the finisher -------------------------------------------------------------------------------------------- */

static void count_self(struct windows *ws)
{
	struct rusage u;
	uint64_t cpu, pages, size;
	char buf[200];
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, sizeof(buf));
	struct str s = { buf, n > 0 ? (size_t)n : 0 };

	if (fd >= 0)
		close(fd);
	if (str_u64(str_cut(&s, ' '), &size) && str_u64(str_cut(&s, ' '), &pages))
		ws->metrics.rss = pages * (uint64_t)sysconf(_SC_PAGESIZE);
	if (getrusage(RUSAGE_SELF, &u) < 0)
		return;
	cpu = ((uint64_t)u.ru_utime.tv_sec + (uint64_t)u.ru_stime.tv_sec) * 1000000 + (uint64_t)u.ru_utime.tv_usec +
	      (uint64_t)u.ru_stime.tv_usec;
	ws->metrics.cpu_us += cpu > ws->cpu_us ? cpu - ws->cpu_us : 0;
	ws->cpu_us = cpu;
}

static void write_metrics(struct windows *ws)
{
	struct metrics *m = &ws->metrics;
	uint64_t all;

	pthread_mutex_lock(&ws->lock);
	for (size_t i = 0; i < DROPPED_REASONS; i++) {
		m->dropped[i] += ws->dropped[i] - ws->reported[i];
		ws->reported[i] = ws->dropped[i];
	}
	m->delayed += ws->delayed;
	ws->delayed = 0;
	pthread_mutex_unlock(&ws->lock);
	count_self(ws);
	m->unprinted += ws->announce.unprinted;
	ws->unprinted += ws->announce.unprinted;
	ws->announce.unprinted = 0;
	m->loss.ring_high = ws->ring_high;
	m->saved.bytes = ws->symbols_bytes;
	m->retained_windows = ws->saved.windows;
	m->saved_bytes = ws->saved.bytes;
	m->free_bytes = retention_free(&ws->windir, &all);
	if (metrics_write(m, ws->windir.dir)) {
		ws->no_metrics = false;
	} else if (!ws->no_metrics) {
		warn("cannot write '%s/pjrecord.prom': %s", ws->dir, strerror(errno));
		ws->no_metrics = true;
	}
}

/* Symbols are the keeper's, but it looks once a minute, and a full file system cannot wait. Names and times alone say
 * what may go. */
static uint64_t windows_drop_symbols(void *arg)
{
	const struct windows *ws = arg;

	return saversweep_unneeded(ws->windir.dir);
}

static void windows_keep_limits(struct windows *ws, uint64_t space)
{
	struct retention_limits limits = { .bytes = ws->o.keep_bytes,
					   .age_s = ws->o.keep_age_s,
					   .min_free = ws->o.min_free,
					   .reserve = ws->reserve,
					   .drop_symbols = windows_drop_symbols,
					   .arg = ws };
	uint64_t now;

	retention_scan(&ws->saved, &ws->windir);
	now = retention_now(&ws->clock, (uint64_t)time(NULL), clock_since_boot() / SECOND_NS,
			    ws->saved.newest / SECOND_NS, limits.age_s);
	if (retention_limit(&ws->saved, &ws->windir, &limits, space, now, &ws->metrics)) {
		ws->short_of_space = false;
	} else if (!ws->short_of_space) {
		warn("the file system of '%s' is too full%s, and there is no window to delete but the newest", ws->dir,
		     space || ws->reserve ? "" : " for --min-free");
		ws->short_of_space = true;
	}
}

/* It is durable: recording/ has lost it, out/ has it. */
static void sync_dirs(struct windows *ws)
{
	if ((fdatasync(ws->used) < 0 || fsync(ws->windir.out) < 0) && errno != EINVAL && !ws->not_synced) {
		warn("cannot sync '%s/out': %s", ws->dir, strerror(errno));
		ws->not_synced = true;
	}
}

/* To out/; should somebody have put a file of that name there, under another. */
static bool windows_publish(struct windows *ws, uint64_t from, uint64_t *epoch)
{
	char name[NAME], new_name[NAME];

	windows_name_of(name, from);
	*epoch = from;
	for (int i = 0; i < ATTEMPTS; i++) {
		windows_name_of(new_name, *epoch);
		if (windows_move(ws->windir.recording, name, ws->windir.out, new_name))
			return true;
		if (errno != EEXIST || !epochs_take_from(ws->used, *epoch + 1, epoch))
			return false;
	}
	return false;
}

/* It is in out/, whoever wrote it: r says what is in it. */
static void windows_announce(struct windows *ws, int fd, uint64_t epoch, struct window_report *r, const char *what)
{
	struct text path = { 0 }, summary = { 0 };
	struct stat st;

	sync_dirs(ws);
	if (fstat(fd, &st) == 0) {
		r->bytes = r->bytes ? r->bytes : (uint64_t)st.st_size;
		retention_add(&ws->saved, &ws->windir, epoch, &st);
	}
	metrics_add(&ws->metrics, r);
	ws->ring_high = r->loss.ring_high;
	ws->symbols_bytes = r->saved.bytes ? r->saved.bytes : ws->symbols_bytes;
	ws->metrics.last_success = (uint64_t)time(NULL);
	text_printf(&path, "%s/out/%" PRIu64 ".data", ws->dir, epoch);
	if (ws->o.print)
		announce_path(&ws->announce, text_view(&path));
	if (!ws->o.quiet) {
		metrics_summary(&summary, r);
		warn("%.*s: %s%.*s", (int)path.n, path.p, what, (int)summary.n, summary.p);
	}
	if (!ws->o.quiet && !ws->cut_stacks && r->loss.depth && r->depth_limit) {
		warn("stacks are deeper than kernel.perf_event_max_stack=%u, and cut: stop, sysctl kernel.perf_event_max_stack=%u, start",
		     r->depth_limit, r->depth_limit < 512 ? 1024 : 2 * r->depth_limit);
		ws->cut_stacks = true;
	}
	text_free(&path);
	text_free(&summary);
}

static void windows_drop_job(struct windows *ws, struct job *j)
{
	char name[NAME];
	struct stat st;
	uint64_t bytes = fstat(j->w.fd, &st) == 0 ? retention_size(&st) : 0;

	windows_name_of(name, j->w.epoch);
	if (unlinkat(ws->windir.recording, name, 0) < 0)
		warn("cannot remove '%s/recording/%s': %s", ws->dir, name, strerror(errno));
	close(j->w.fd);
	windows_forget(ws, j->w.epoch);
	if (!j->error)
		return;
	warn("window %" PRIu64 " is dropped, with %" PRIu64 " samples: cannot write '%s/recording/%s': %s", j->w.epoch,
	     j->r.samples, ws->dir, name, strerror(j->error));
	pthread_mutex_lock(&ws->lock);
	ws->dropped[windows_reason_of(j->error)]++;
	pthread_mutex_unlock(&ws->lock);
	metrics_add_dropped(&ws->metrics, &j->r);
	ws->symbols_bytes = j->r.saved.bytes ? j->r.saved.bytes : ws->symbols_bytes;
	if (!space_helps(j->error))
		return;
	bytes = bytes > j->r.bytes ? bytes : j->r.bytes;
	ws->reserve = ws->reserve > 2 * bytes ? ws->reserve : 2 * bytes;
	windows_keep_limits(ws, bytes + bytes / 2 + 65536);
}

static void windows_finish_job(struct windows *ws, struct job *j)
{
	uint64_t epoch;

	retention_stamp(&ws->saved, &ws->windir, j->w.fd);
	if (fsync(j->w.fd) < 0 || !windows_publish(ws, j->w.epoch, &epoch)) {
		j->error = errno;
		windows_drop_job(ws, j);
		return;
	}
	windows_announce(ws, j->w.fd, epoch, &j->r, "");
	close(j->w.fd);
	pthread_mutex_lock(&ws->lock);
	forget_own(ws, j->w.epoch);
	ws->complete++;
	pthread_mutex_unlock(&ws->lock);
	windows_keep_limits(ws, 0);
}

static bool windows_rescued(void *arg, int fd, uint64_t from, const struct rescued *found)
{
	struct windows *ws = arg;
	struct window_report r = { .samples = found->samples, .processes = found->processes };
	struct pj_window w;
	uint64_t epoch;

	retention_stamp(&ws->saved, &ws->windir, fd);
	if (!windows_publish(ws, from, &epoch))
		return false;
	chunk_item(fd, FEATURE_PJ_END, PJ_ITEM_LOSS, &r.loss, sizeof(r.loss));
	if (chunk_times(fd, &r.begin, &r.end) &&
	    chunk_item(fd, FEATURE_PJ_START, PJ_ITEM_WINDOW, &w, sizeof(w)) == sizeof(w) && w.begin < r.begin)
		r.begin = w.begin;
	ws->metrics.rescued++;
	windows_announce(ws, fd, epoch, &r, "left by a run that was killed: ");
	return true;
}

static void clean_up(struct windows *ws)
{
	struct leftovers l = { &ws->windir, &ws->metrics, windows_rescued, ws };

	leftovers_rescue(&l);
	windows_keep_limits(ws, 0);
}

/* Up to a second when a reader of paths has to catch up. */
static void wait_for_more(struct windows *ws)
{
	if (ws->announce.waiting.n)
		threads_wait(&ws->more, &ws->lock, clock_now() + SECOND_NS);
	else
		pthread_cond_wait(&ws->more, &ws->lock);
}

static void windows_work(struct windows *ws)
{
	struct job j;
	uint64_t space;
	bool left, has_job;

	pthread_mutex_lock(&ws->lock);
	if (!ws->n && !ws->closing && !ws->space && !ws->left)
		wait_for_more(ws);
	space = ws->space;
	ws->space = 0;
	has_job = ws->n;
	if (has_job) {
		j = ws->queue[ws->first];
		ws->first = (ws->first + 1) % QUEUE;
		ws->n--;
	}
	left = ws->left && !has_job;
	ws->left = ws->left && !left;
	pthread_mutex_unlock(&ws->lock);
	announce_flush(&ws->announce, 0);
	if (space)
		windows_keep_limits(ws, space);
	if (left)
		clean_up(ws);
	if (has_job && j.drop)
		windows_drop_job(ws, &j);
	else if (has_job)
		windows_finish_job(ws, &j);
	if (space || left || has_job)
		write_metrics(ws);
}

static bool windows_at_end(struct windows *ws)
{
	bool end;

	pthread_mutex_lock(&ws->lock);
	end = ws->closing && !ws->n && !ws->space && !ws->left;
	pthread_mutex_unlock(&ws->lock);
	return end;
}

static void *windows_finisher(void *arg)
{
	struct windows *ws = arg;

	urgency_lower(URGENCY_USUAL); /* no sample waits for it */
	leftovers_sweep(&ws->windir);
	clean_up(ws);
	write_metrics(ws);
	while (!windows_at_end(ws))
		windows_work(ws);
	announce_end(&ws->announce, DEADLINE_MS);
	write_metrics(ws);
	return NULL;
}

/* ---- the recorder -------------------------------------------------------------------------------------------- */

static bool note_epoch(void *arg, int space, const char *name, uint64_t epoch)
{
	(void)space;
	(void)name;
	epochs_used(arg, epoch);
	return true;
}

/* Where the file is missing or empty, what is there tells which names were used. */
static int open_used(const struct windir *r, const char *dir)
{
	struct epochs e = { 0 };
	struct stat st;
	/* 0600: who could take its lock would stop the recorder */
	int fd = openat(r->recording, "used", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		die_errno("cannot use '%s/recording/used'", dir);
	if (st.st_size > 0)
		return fd;
	windir_each(r->recording, note_epoch, &e);
	windir_each(r->out, note_epoch, &e);
	windir_each(r->bad, note_epoch, &e);
	if (e.n && !epochs_add_to(fd, &e))
		warn("cannot write '%s/recording/used': %s", dir, strerror(errno));
	return fd;
}

void windows_prepare(const char *dir, uid_t *uid, gid_t *gid)
{
	windir_prepare(dir, uid, gid);
}

struct windows *windows_open(const struct windows_options *options)
{
	struct windows *ws = mem_alloc(sizeof(*ws), 1);
	size_t n = strlen(options->dir) + 1;
	int error;

	ws->o = *options;
	ws->dir = mem_alloc(1, n);
	memcpy(ws->dir, options->dir, n);
	while (n > 2 && ws->dir[n - 2] == '/')
		ws->dir[--n - 1] = 0;
	windir_open(&ws->windir, ws->dir);
	ws->used = open_used(&ws->windir, ws->dir);
	signal(SIGXFSZ, SIG_IGN); /* a file that gets too large is an error of its window */
	pthread_mutex_init(&ws->lock, NULL);
	threads_condition(&ws->more);
	error = threads_start(&ws->finisher, 0, windows_finisher,
			      ws); /* without signals: writing to a reader of paths that left is EPIPE */
	if (error) {
		errno = error;
		die_errno("cannot start a thread");
	}
	return ws;
}

/* Who rescues or removes a window locks it with flock, too, for a moment. That a run writes it is another lock, which
 * can be asked for without taking it. */
static void mark_written(int fd)
{
	struct flock f = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };

	fcntl(fd, F_OFD_SETLK, &f); /* where this fails, runs that overlap do not find each other */
}

static bool is_written(int fd)
{
	struct flock f = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 1 };

	return fcntl(fd, F_OFD_GETLK, &f) == 0 && f.l_type == F_WRLCK;
}

/* Makes a file that is locked before it has the name under which others look at it; `temp` gets its name until then. A
 * run that sweeps may hold the lock of a file that is not locked yet: it then unlinks that name, so each attempt has a
 * name of its own. */
static int new_file(struct windows *ws, const char *name, char temp[TEMP])
{
	struct stat st;

	for (int i = 0; i < ATTEMPTS; i++) {
		int fd;

		snprintf(temp, TEMP, ".%s.%d.tmp", name, i);
		fd = openat(ws->windir.recording, temp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);
		if (fd < 0 && errno != EEXIST)
			return -1;
		if (fd < 0)
			continue;
		if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 && st.st_nlink) {
			mark_written(fd);
			return fd;
		}
		close(fd);
		errno = EWOULDBLOCK;
	}
	return -1;
}

static bool windows_create_window(struct windows *ws, uint64_t epoch, struct window *w)
{
	char name[NAME], temp[TEMP];
	int error;

	for (int i = 0; i < ATTEMPTS; i++) {
		if (!epochs_take_from(ws->used, epoch, &w->epoch))
			return false;
		windows_name_of(name, w->epoch);
		w->fd = new_file(ws, name, temp);
		if (w->fd < 0)
			return false;
		if (windows_move(ws->windir.recording, temp, ws->windir.recording, name))
			return true;
		error = errno;
		unlinkat(ws->windir.recording, temp, 0);
		close(w->fd);
		errno = error;
		if (error != EEXIST)
			return false;
	}
	return false;
}

bool windows_create(struct windows *ws, uint64_t epoch, struct window *w)
{
	bool good;
	int error;

	*w = (struct window){ .fd = -1 };
	good = windows_create_window(ws, epoch, w);
	error = errno;
	pthread_mutex_lock(&ws->lock);
	if (good && ws->nown < countof(ws->own)) {
		ws->own[ws->nown++] = w->epoch;
	} else if (!good) {
		ws->dropped[windows_reason_of(error)]++;
		ws->space = space_helps(error) ? SPACE : ws->space;
		pthread_cond_signal(&ws->more);
	}
	pthread_mutex_unlock(&ws->lock);
	if (!good) {
		w->fd = -1;
		if (!ws->cannot_create)
			warn("cannot make a window in '%s/recording': %s; what is recorded is dropped until it works again",
			     ws->dir, strerror(error));
		errno = error;
	}
	ws->cannot_create = !good;
	return good;
}

/* A window that does not fit into the queue keeps its name and loses its lock: it will be found as one of a killed run.
 */
static void windows_enqueue(struct windows *ws, struct window *w, const struct job *j)
{
	bool fits;

	pthread_mutex_lock(&ws->lock);
	fits = ws->n < QUEUE;
	if (fits) {
		ws->queue[(ws->first + ws->n++) % QUEUE] = *j;
	} else {
		ws->delayed++;
		ws->left = true;
		forget_own(ws, w->epoch);
	}
	pthread_cond_signal(&ws->more);
	pthread_mutex_unlock(&ws->lock);
	if (!fits) {
		close(w->fd);
		warn("the disk is too slow: window %" PRIu64 " waits in '%s/recording' to be rescued", w->epoch,
		     ws->dir);
	}
	w->fd = -1;
}

void windows_finish(struct windows *ws, struct window *w, const struct window_report *r)
{
	windows_enqueue(ws, w, &(struct job){ .w = *w, .r = *r });
}

void windows_drop(struct windows *ws, struct window *w, int error, const struct window_report *r)
{
	struct job j = { .w = *w, .error = error, .drop = true };

	if (r)
		j.r = *r;
	windows_enqueue(ws, w, &j);
}

/* ---- runs that overlap --------------------------------------------------------------------------------------- */

struct predecessor {
	struct windows *ws;
	char boot[BOOT_ID + 1];
	uint64_t end;
	bool found;
};

static bool windows_is_own(struct windows *ws, uint64_t epoch)
{
	bool own = false;

	pthread_mutex_lock(&ws->lock);
	for (size_t i = 0; i < ws->nown; i++)
		own = own || ws->own[i] == epoch;
	pthread_mutex_unlock(&ws->lock);
	return own;
}

static bool windows_look_at(void *arg, int space, const char *name, uint64_t epoch)
{
	struct predecessor *p = arg;
	struct pj_window w;
	char boot[37] = "";
	int fd;

	if (windows_is_own(p->ws, epoch))
		return true;
	fd = windir_file(space, name, O_RDONLY);
	if (fd < 0)
		return true;
	if (is_written(fd) && chunk_item(fd, FEATURE_PJ_START, PJ_ITEM_WINDOW, &w, sizeof(w)) == sizeof(w) &&
	    w.end != UINT64_MAX && chunk_item(fd, FEATURE_PJ_START, PJ_ITEM_BOOT, boot, sizeof(boot) - 1) == 36 &&
	    strcmp(boot, p->boot) == 0) {
		p->end = !p->found || w.end > p->end ? w.end : p->end;
		p->found = true;
	}
	close(fd);
	return true;
}

bool windows_predecessor(struct windows *ws, uint64_t *end_ns)
{
	struct predecessor p = { .ws = ws };

	boot_id("/proc", p.boot);
	windir_each(ws->windir.recording, windows_look_at, &p);
	*end_ns = p.end;
	return p.found;
}

/* ---- the end ------------------------------------------------------------------------------------------------- */

void windows_counts(struct windows *ws, uint64_t *complete, uint64_t *dropped)
{
	pthread_mutex_lock(&ws->lock);
	*complete = ws->complete;
	*dropped = 0;
	for (size_t i = 0; i < DROPPED_REASONS; i++)
		*dropped += ws->dropped[i];
	pthread_mutex_unlock(&ws->lock);
}

bool windows_close(struct windows *ws)
{
	uint64_t complete, dropped, unprinted;

	pthread_mutex_lock(&ws->lock);
	ws->closing = true;
	pthread_cond_signal(&ws->more);
	pthread_mutex_unlock(&ws->lock);
	pthread_join(ws->finisher, NULL);
	windows_counts(ws, &complete, &dropped);
	unprinted = ws->unprinted;
	pthread_mutex_destroy(&ws->lock);
	pthread_cond_destroy(&ws->more);
	retention_free_list(&ws->saved);
	close(ws->used);
	windir_close(&ws->windir);
	free(ws->dir);
	free(ws);
	return !dropped && !unprinted;
}
