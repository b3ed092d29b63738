/* SPDX-License-Identifier: Apache-2.0 */
#include "record/windows/retention.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "common/diag.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* After another process has changed out/, the folders are read again, but not before LOOK_SHARE times the duration of
 * the last reading has passed since that reading. */
#define LOOK_SHARE 1000
/* start of 2020, in s since 1970; a window with an earlier name was written before the clock was set */
#define CLOCK_SET_S UINT64_C(1577836800)
/* CLOCK_STEP_S: difference in s between the wall clock and the expected time from which on the wall clock counts as
 * ahead. CLOCK_AHEAD_S: maximum time in s for which a wall clock that is ahead is not trusted. */
#define CLOCK_STEP_S 60
#define CLOCK_AHEAD_S 86400
/* maximum number of windows in bad/, because a recorder may be killed repeatedly; beyond it the oldest are deleted */
#define BAD_MAX 100

uint64_t retention_free(const struct windir *windir, uint64_t *all)
{
	struct statvfs filesystem;

	if (fstatvfs(windir->dir, &filesystem) < 0 || !filesystem.f_frsize) {
		*all = 0;
		return UINT64_MAX;
	}
	*all = (uint64_t)filesystem.f_blocks * filesystem.f_frsize;
	return (uint64_t)filesystem.f_bavail * filesystem.f_frsize;
}

/* ---- list of windows ----------------------------------------------------------------------------------------- */

/* Stores the modification time of out/ after this process has changed out/, so that changes by other processes are
 * noticed later. If another process changes out/ at the same instant, that change is not noticed before the next
 * one. */
static void retention_remember(struct retention *retention, const struct windir *windir)
{
	struct stat status;

	if (fstat(windir->out, &status) == 0) {
		retention->changed_s = status.st_mtim.tv_sec;
		retention->changed_ns = status.st_mtim.tv_nsec;
	}
}

uint64_t retention_size(const struct stat *status)
{
	return status->st_blocks ? (uint64_t)status->st_blocks * 512 : (uint64_t)status->st_size;
}

static uint64_t stamp_of(const struct stat *status)
{
	return status->st_mtim.tv_sec > 0 ?
		       (uint64_t)status->st_mtim.tv_sec * SECOND_NS + (uint64_t)status->st_mtim.tv_nsec :
		       0;
}

static void retention_append(struct retention *retention, uint64_t epoch, const struct stat *status, bool bad)
{
	uint64_t bytes = retention_size(status), stamp = stamp_of(status);

	if (retention->n == retention->cap) {
		retention->cap = retention->cap ? 2 * retention->cap : 64;
		retention->window = mem_grow(retention->window, sizeof(*retention->window), retention->cap);
	}
	retention->sorted =
		retention->sorted && (retention->n == 0 || (!bad && retention->window[retention->n - 1].stamp < stamp));
	retention->window[retention->n++] =
		(struct retention_window){ .epoch = epoch, .bytes = bytes, .stamp = stamp, .bad = bad };
	if (bad) {
		retention->bad_bytes += bytes;
		retention->bad_windows++;
	} else {
		retention->windows++;
		retention->bytes += bytes;
		retention->newest = stamp > retention->newest ? stamp : retention->newest;
	}
}

struct looking {
	struct retention *k;
	bool bad;
};

static bool retention_look_at(void *arg, int space, const char *name, uint64_t epoch)
{
	struct looking *looking = arg;
	struct stat status;

	if (fstatat(space, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode))
		retention_append(looking->k, epoch, &status, looking->bad);
	return true;
}

static void retention_look(struct retention *retention, const struct windir *windir)
{
	struct looking bad = { retention, true }, good = { retention, false };
	uint64_t start = clock_now();

	retention->n = 0;
	retention->windows = retention->bytes = retention->bad_windows = retention->bad_bytes = retention->newest = 0;
	retention_remember(retention, windir);
	windir_each(windir->bad, retention_look_at, &bad);
	windir_each(windir->out, retention_look_at, &good);
	retention->sorted = false;
	retention->polled = clock_now();
	retention->look_ns = retention->polled - start;
}

void retention_scan(struct retention *retention, const struct windir *windir)
{
	struct stat status;

	if (retention->polled && fstat(windir->out, &status) == 0 && status.st_mtim.tv_sec == retention->changed_s &&
	    status.st_mtim.tv_nsec == retention->changed_ns)
		return;
	if (!retention->polled || clock_now() - retention->polled > retention->look_ns * LOOK_SHARE)
		retention_look(retention, windir);
}

void retention_add(struct retention *retention, const struct windir *windir, uint64_t epoch, const struct stat *status)
{
	retention_remember(retention, windir);
	retention_append(retention, epoch, status, false);
}

/* The new modification time is at least a second later than those of all windows in out/, as some file systems store no
 * fractions of seconds. Each window lasts at least a second, so modification times are not ahead of the clock for
 * long. */
void retention_stamp(struct retention *retention, const struct windir *windir, int fd)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { 0 } };
	struct stat status;

	retention_scan(retention, windir);
	if (fstat(fd, &status) < 0 || stamp_of(&status) > retention->newest)
		return;
	times[1].tv_sec = (time_t)(retention->newest / SECOND_NS) + 1;
	futimens(fd, times); /* if futimens fails, the window seems older than it is, and is deleted too early */
}

void retention_free_list(struct retention *retention)
{
	free(retention->window);
	*retention = (struct retention){ 0 };
}

/* ---- limits of size, age and free space -------------------------------------------------------------------------- */

uint64_t retention_now(struct retention_clock *clock, uint64_t wall, uint64_t boot, uint64_t newest, uint64_t age_s)
{
	uint64_t wait = age_s < CLOCK_AHEAD_S ? age_s : CLOCK_AHEAD_S, expected;

	if (!clock->trusted)
		*clock = (struct retention_clock){ newest && newest < wall ? newest : wall, boot, 0 };
	expected = clock->trusted + (boot - clock->boot);
	clock->boot = boot;
	if (wall <= expected + CLOCK_STEP_S) {
		clock->ahead_since = 0;
		expected = wall;
	} else if (!clock->ahead_since) {
		clock->ahead_since = boot ? boot : 1;
	} else if (boot - clock->ahead_since >= wait) {
		clock->ahead_since = 0;
		expected = wall;
	}
	clock->trusted = expected ? expected : 1;
	return expected;
}

static int retention_by_age(const void *a, const void *b)
{
	const struct retention_window *window = a, *y = b;

	if (window->bad != y->bad)
		return window->bad ? -1 : 1;
	if (window->stamp != y->stamp)
		return window->stamp < y->stamp ? -1 : 1;
	return window->epoch < y->epoch ? -1 : window->epoch > y->epoch;
}

static void retention_sort(struct retention *retention)
{
	if (!retention->sorted && retention->n)
		qsort(retention->window, retention->n, sizeof(*retention->window), retention_by_age);
	retention->sorted = true;
}

/* Returns the start of a window in s since 1970: its name, or its stamp (time of completion) if its name is before 2020
 * or in the future (`now`: s since 1970). Returns 0 if both are in the future, because the clock was ahead when the
 * window was written. */
static uint64_t recorded_at(const struct retention_window *window, uint64_t now)
{
	uint64_t stamp = window->stamp / SECOND_NS;

	if (window->epoch >= CLOCK_SET_S && window->epoch <= now)
		return window->epoch;
	return stamp <= now ? stamp : 0;
}

/* Sets `expired` of each window: true if it is older than age_s (s; 0: no limit). A window that was written while the
 * clock was ahead is expired if a window that was completed later is expired. */
static void find_expired(struct retention *retention, uint64_t age_s, uint64_t now)
{
	bool later = false;

	for (size_t i = retention->n; i-- > 0;) {
		struct retention_window *window = &retention->window[i];
		uint64_t at = recorded_at(window, now);

		window->expired = age_s && (at ? now - at > age_s : later);
		later = later || window->expired;
	}
}

enum gone { GONE, NOT_THERE, IN_USE, REFUSED };

/* Deletes a window in the folder `space` (out/ or bad/) under its exclusive lock. Returns GONE if it was deleted;
 * IN_USE if another process holds its lock; NOT_THERE if the name refers to no file, or to another one by now; REFUSED
 * on any other error; a message reports a failed unlink. why: reason, for the message. */
static enum gone retention_delete(int space, uint64_t epoch, const char *why)
{
	char name[40], beside[50];
	struct stat status, named;
	enum gone gone = GONE;
	int fd;

	snprintf(name, sizeof(name), "%" PRIu64 ".data", epoch);
	snprintf(beside, sizeof(beside), "%s.why", name);
	fd = windir_file(space, name, O_RDONLY);
	if (fd < 0)
		return errno == ENOENT ? NOT_THERE : REFUSED;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		gone = IN_USE;
	else if (fstat(fd, &status) < 0 || fstatat(space, name, &named, AT_SYMLINK_NOFOLLOW) < 0 ||
		 status.st_ino != named.st_ino || status.st_dev != named.st_dev)
		gone = NOT_THERE;
	else if (unlinkat(space, name, 0) < 0) {
		gone = errno == ENOENT ? NOT_THERE : REFUSED;
		if (gone == REFUSED)
			warn("cannot delete %s (%s): %s", name, why, strerror(errno));
	}
	if (gone == GONE)
		/* deletes E.data.why, the reason for the move to bad/, which only a window in bad/ has */
		unlinkat(space, beside, 0);
	close(fd);
	return gone;
}

/* State of one call of retention_limit. free, free_wanted: free and required bytes of the file system. deleted, freed:
 * number and bytes of the windows deleted so far. now: time for ages, s since 1970. */
struct limiting {
	struct retention *k;
	const struct windir *r;
	const struct retention_limits *limits;
	struct metrics *m;
	uint64_t now, free_wanted, free;
	uint64_t deleted, freed;
	uint64_t next_drop; /* drop_symbols is called again once `deleted` has reached this number */
	const char *why;    /* limit for which the last window was deleted, as static text */
};

/* Returns the limit for which a window must be deleted, as static text; NULL if no limit requires that. Sets *which to
 * the counter of that limit in metrics.deleted. */
static const char *retention_reason(const struct limiting *limiting, const struct retention_window *window,
				    enum metrics_deleted *which)
{
	const struct retention_limits *limits = limiting->limits;

	*which = DELETED_AGE;
	if (window->expired)
		return "--keep-age";
	*which = DELETED_BYTES;
	if (limits->bytes && limiting->k->bytes + limiting->k->bad_bytes > limits->bytes)
		return "--keep-bytes";
	if (window->bad && limiting->k->bad_windows > BAD_MAX)
		return "too many in bad/";
	*which = DELETED_FREE;
	if (limiting->free < limiting->free_wanted)
		return "the disk is full";
	return NULL;
}

/* Returns true if the window with index i of the sorted list may be deleted. Returns false only for the newest complete
 * window, which stays whatever the limits are, so that a reader gets at least one. */
static bool may_go(const struct retention *retention, size_t i)
{
	return retention->window[i].bad || i + 1 < retention->n;
}

/* Returns true if a limit requires the deletion of a window in bad/ or out/ that may be deleted. The oldest window of
 * each folder decides. */
static bool retention_too_much(const struct limiting *limiting)
{
	const struct retention *retention = limiting->k;
	enum metrics_deleted which;
	size_t good = retention->bad_windows;

	return (retention->bad_windows && retention_reason(limiting, retention->window, &which)) ||
	       (good < retention->n && may_go(retention, good) &&
		retention_reason(limiting, retention->window + good, &which));
}

static void retention_forget(struct retention *retention, const struct retention_window *window)
{
	if (window->bad) {
		retention->bad_bytes -= window->bytes;
		retention->bad_windows--;
	} else {
		retention->bytes -= window->bytes;
		retention->windows--;
	}
}

/* Deletes files in symbols/ and jit/ that no window needs any more, and adds the freed bytes to `free`. Works only
 * before the first deletion of a window, and after 1, 2, 4, 8, ... deletions, because a call reads all of symbols/. */
static void retention_drop_symbols(struct limiting *limiting)
{
	if (!limiting->limits->drop_symbols || limiting->deleted < limiting->next_drop)
		return;
	limiting->next_drop = limiting->deleted ? 2 * limiting->deleted : 1;
	limiting->free += limiting->limits->drop_symbols(limiting->limits->arg);
}

/* Deletes a window. Returns true if its file no longer exists; false if it stays, because a reader holds its lock or an
 * error occurred. */
static bool retention_let_go(struct limiting *limiting, const struct retention_window *window, const char *why,
			     enum metrics_deleted which)
{
	enum gone gone = retention_delete(window->bad ? limiting->r->bad : limiting->r->out, window->epoch, why);

	if (gone == IN_USE || gone == REFUSED)
		return false;
	if (gone == GONE) {
		limiting->m->deleted[which]++;
		limiting->deleted++;
		limiting->freed += window->bytes;
		/* File systems report freed space late; without this addition too many windows would be deleted. */
		limiting->free += window->bytes;
		limiting->why = why;
	}
	return true;
}

static void delete_oldest(struct limiting *limiting)
{
	struct retention *retention = limiting->k;
	size_t stay = 0, i = 0;

	for (; i < retention->n && may_go(retention, i); i++) {
		struct retention_window window = retention->window[i];
		enum metrics_deleted which;
		const char *why = retention_reason(limiting, &window, &which);

		if (why && which == DELETED_FREE) {
			retention_drop_symbols(limiting);
			why = retention_reason(limiting, &window, &which);
		}
		if (!why && !window.bad)
			break;
		if (why && retention_let_go(limiting, &window, why, which))
			retention_forget(retention, &window);
		else
			/* The window stays: no limit requires its deletion, a reader holds its lock, or the deletion
			 * failed. */
			retention->window[stay++] = window;
	}
	if (i < retention->n)
		memmove(retention->window + stay, retention->window + i,
			(retention->n - i) * sizeof(*retention->window));
	retention->n -= i - stay;
}

static void retention_print_message(const struct limiting *limiting)
{
	struct text text = { 0 };

	metrics_bytes(&text, limiting->freed);
	warn("deleted the oldest %s, %" PRIu64 " of them, %.*s: %s", limiting->deleted == 1 ? "window" : "windows",
	     limiting->deleted, (int)text.n, text.p, limiting->why);
	text_free(&text);
}

bool retention_limit(struct retention *retention, const struct windir *windir, const struct retention_limits *limits,
		     uint64_t space, uint64_t now, struct metrics *metrics)
{
	struct limiting limiting = { .k = retention, .r = windir, .limits = limits, .m = metrics, .now = now };
	uint64_t all;

	limiting.free = retention_free(windir, &all);
	limiting.free_wanted = (uint64_t)((double)all * limits->min_free);
	limiting.free_wanted = limiting.free_wanted > limits->reserve ? limiting.free_wanted : limits->reserve;
	if (space && limiting.free_wanted < limiting.free + space)
		/* `space` is relative to the free space, so that windows are deleted for a full quota, too */
		limiting.free_wanted = limiting.free + space;
	retention_sort(retention);
	find_expired(retention, limits->age_s, now);
	if (!retention_too_much(&limiting))
		return limiting.free >= limiting.free_wanted;
	retention_look(retention, windir);
	retention_sort(retention);
	find_expired(retention, limits->age_s, now);
	delete_oldest(&limiting);
	if (limiting.deleted)
		retention_print_message(&limiting);
	retention_remember(retention, windir);
	return limiting.free >= limiting.free_wanted;
}
