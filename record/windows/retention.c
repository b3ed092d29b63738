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

#define LOOK_SHARE 1000 /* of the time at most one part in so many goes into reading folders that others change */
#define CLOCK_SET_S UINT64_C(1577836800) /* 2020: a clock that is behind was never set */
#define CLOCK_STEP_S 60                  /* a clock that is ahead by more than this has jumped */
#define CLOCK_AHEAD_S 86400
#define BAD_MAX 100 /* windows in bad/; a recorder that is killed again and again must not fill the disk */

uint64_t retention_free(const struct windir *r, uint64_t *all)
{
	struct statvfs fs;

	if (fstatvfs(r->dir, &fs) < 0 || !fs.f_frsize) {
		*all = 0;
		return UINT64_MAX;
	}
	*all = (uint64_t)fs.f_blocks * fs.f_frsize;
	return (uint64_t)fs.f_bavail * fs.f_frsize;
}

/* ---- the list ------------------------------------------------------------------------------------------------ */

/* The folder as we left it. Who changes it at the same moment is seen with the next change. */
static void retention_remember(struct retention *k, const struct windir *r)
{
	struct stat st;

	if (fstat(r->out, &st) == 0) {
		k->changed_s = st.st_mtim.tv_sec;
		k->changed_ns = st.st_mtim.tv_nsec;
	}
}

uint64_t retention_size(const struct stat *st)
{
	return st->st_blocks ? (uint64_t)st->st_blocks * 512 : (uint64_t)st->st_size;
}

static uint64_t stamp_of(const struct stat *st)
{
	return st->st_mtim.tv_sec > 0 ? (uint64_t)st->st_mtim.tv_sec * SECOND_NS + (uint64_t)st->st_mtim.tv_nsec : 0;
}

static void retention_append(struct retention *k, uint64_t epoch, const struct stat *st, bool bad)
{
	uint64_t bytes = retention_size(st), stamp = stamp_of(st);

	if (k->n == k->cap) {
		k->cap = k->cap ? 2 * k->cap : 64;
		k->window = mem_grow(k->window, sizeof(*k->window), k->cap);
	}
	k->sorted = k->sorted && (k->n == 0 || (!bad && k->window[k->n - 1].stamp < stamp));
	k->window[k->n++] = (struct retention_window){ .epoch = epoch, .bytes = bytes, .stamp = stamp, .bad = bad };
	if (bad) {
		k->bad_bytes += bytes;
		k->bad_windows++;
	} else {
		k->windows++;
		k->bytes += bytes;
		k->newest = stamp > k->newest ? stamp : k->newest;
	}
}

struct looking {
	struct retention *k;
	bool bad;
};

static bool retention_look_at(void *arg, int space, const char *name, uint64_t epoch)
{
	struct looking *l = arg;
	struct stat st;

	if (fstatat(space, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
		retention_append(l->k, epoch, &st, l->bad);
	return true;
}

static void retention_look(struct retention *k, const struct windir *r)
{
	struct looking bad = { k, true }, good = { k, false };
	uint64_t start = clock_now();

	k->n = 0;
	k->windows = k->bytes = k->bad_windows = k->bad_bytes = k->newest = 0;
	retention_remember(k, r);
	windir_each(r->bad, retention_look_at, &bad);
	windir_each(r->out, retention_look_at, &good);
	k->sorted = false;
	k->polled = clock_now();
	k->look_ns = k->polled - start;
}

void retention_scan(struct retention *k, const struct windir *r)
{
	struct stat st;

	if (k->polled && fstat(r->out, &st) == 0 && st.st_mtim.tv_sec == k->changed_s &&
	    st.st_mtim.tv_nsec == k->changed_ns)
		return;
	if (!k->polled || clock_now() - k->polled > k->look_ns * LOOK_SHARE)
		retention_look(k, r);
}

void retention_add(struct retention *k, const struct windir *r, uint64_t epoch, const struct stat *st)
{
	retention_remember(k, r);
	retention_append(k, epoch, st, false);
}

/* A second, as some file systems keep no parts of it. Windows take at least one each, so stamps do not run ahead of the
 * clock for long. */
void retention_stamp(struct retention *k, const struct windir *r, int fd)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { 0 } };
	struct stat st;

	retention_scan(k, r);
	if (fstat(fd, &st) < 0 || stamp_of(&st) > k->newest)
		return;
	times[1].tv_sec = (time_t)(k->newest / SECOND_NS) + 1;
	futimens(fd, times); /* where this fails, the window is deleted too early, which is all */
}

void retention_free_list(struct retention *k)
{
	free(k->window);
	*k = (struct retention){ 0 };
}

/* ---- limits -------------------------------------------------------------------------------------------------- */

uint64_t retention_now(struct retention_clock *c, uint64_t wall, uint64_t boot, uint64_t newest, uint64_t age_s)
{
	uint64_t wait = age_s < CLOCK_AHEAD_S ? age_s : CLOCK_AHEAD_S, expected;

	if (!c->trusted)
		*c = (struct retention_clock){ newest && newest < wall ? newest : wall, boot, 0 };
	expected = c->trusted + (boot - c->boot);
	c->boot = boot;
	if (wall <= expected + CLOCK_STEP_S) {
		c->ahead_since = 0;
		expected = wall;
	} else if (!c->ahead_since) {
		c->ahead_since = boot ? boot : 1;
	} else if (boot - c->ahead_since >= wait) {
		c->ahead_since = 0;
		expected = wall;
	}
	c->trusted = expected ? expected : 1;
	return expected;
}

static int retention_by_age(const void *a, const void *b)
{
	const struct retention_window *x = a, *y = b;

	if (x->bad != y->bad)
		return x->bad ? -1 : 1;
	if (x->stamp != y->stamp)
		return x->stamp < y->stamp ? -1 : 1;
	return x->epoch < y->epoch ? -1 : x->epoch > y->epoch;
}

static void retention_sort(struct retention *k)
{
	if (!k->sorted && k->n)
		qsort(k->window, k->n, sizeof(*k->window), retention_by_age);
	k->sorted = true;
}

/* When the window was recorded, in seconds since 1970: by its name, or, if the clock was not set yet, by its stamp.
 * Returns 0 if both lie in the future, as the clock was ahead when it was written. */
static uint64_t recorded_at(const struct retention_window *w, uint64_t now)
{
	uint64_t stamp = w->stamp / SECOND_NS;

	if (w->epoch >= CLOCK_SET_S && w->epoch <= now)
		return w->epoch;
	return stamp <= now ? stamp : 0;
}

/* What was written by a clock that was ahead is expired if something that was completed later is. */
static void find_expired(struct retention *k, uint64_t age_s, uint64_t now)
{
	bool later = false;

	for (size_t i = k->n; i-- > 0;) {
		struct retention_window *w = &k->window[i];
		uint64_t at = recorded_at(w, now);

		w->expired = age_s && (at ? now - at > age_s : later);
		later = later || w->expired;
	}
}

enum gone { GONE, NOT_THERE, IN_USE, REFUSED };

/* Under its lock, and only what the name still means. */
static enum gone retention_delete(int space, uint64_t epoch, const char *why)
{
	char name[40], beside[50];
	struct stat st, named;
	enum gone gone = GONE;
	int fd;

	snprintf(name, sizeof(name), "%" PRIu64 ".data", epoch);
	snprintf(beside, sizeof(beside), "%s.why", name);
	fd = windir_file(space, name, O_RDONLY);
	if (fd < 0)
		return errno == ENOENT ? NOT_THERE : REFUSED;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		gone = IN_USE;
	else if (fstat(fd, &st) < 0 || fstatat(space, name, &named, AT_SYMLINK_NOFOLLOW) < 0 ||
		 st.st_ino != named.st_ino || st.st_dev != named.st_dev)
		gone = NOT_THERE;
	else if (unlinkat(space, name, 0) < 0) {
		gone = errno == ENOENT ? NOT_THERE : REFUSED;
		if (gone == REFUSED)
			warn("cannot delete %s (%s): %s", name, why, strerror(errno));
	}
	if (gone == GONE)
		unlinkat(space, beside, 0); /* of bad/ */
	close(fd);
	return gone;
}

/* One run over the list. */
struct limiting {
	struct retention *k;
	const struct windir *r;
	const struct retention_limits *limits;
	struct metrics *m;
	uint64_t now, free_wanted, free;
	uint64_t deleted, freed;
	uint64_t next_drop; /* value of deleted at which drop_symbols is called next */
	const char *why;    /* the last that was deleted */
};

/* Why that one has to go; NULL: it may stay. */
static const char *retention_reason(const struct limiting *l, const struct retention_window *w,
				    enum metrics_deleted *which)
{
	const struct retention_limits *limits = l->limits;

	*which = DELETED_AGE;
	if (w->expired)
		return "--keep-age";
	*which = DELETED_BYTES;
	if (limits->bytes && l->k->bytes + l->k->bad_bytes > limits->bytes)
		return "--keep-bytes";
	if (w->bad && l->k->bad_windows > BAD_MAX)
		return "too many in bad/";
	*which = DELETED_FREE;
	if (l->free < l->free_wanted)
		return "the disk is too full";
	return NULL;
}

/* The newest complete window stays whatever the limits: who waits for it would never get one. */
static bool may_go(const struct retention *k, size_t i)
{
	return k->window[i].bad || i + 1 < k->n;
}

/* Has anything to go? Either the oldest of a folder, or none of it. */
static bool retention_too_much(const struct limiting *l)
{
	const struct retention *k = l->k;
	enum metrics_deleted which;
	size_t good = k->bad_windows;

	return (k->bad_windows && retention_reason(l, k->window, &which)) ||
	       (good < k->n && may_go(k, good) && retention_reason(l, k->window + good, &which));
}

static void retention_forget(struct retention *k, const struct retention_window *w)
{
	if (w->bad) {
		k->bad_bytes -= w->bytes;
		k->bad_windows--;
	} else {
		k->bytes -= w->bytes;
		k->windows--;
	}
}

/* Deletes files that no window needs any more, before the first window and, as this reads all of symbols/, after 1, 2,
 * 4, 8, ... more. */
static void retention_drop_symbols(struct limiting *l)
{
	if (!l->limits->drop_symbols || l->deleted < l->next_drop)
		return;
	l->next_drop = l->deleted ? 2 * l->deleted : 1;
	l->free += l->limits->drop_symbols(l->limits->arg);
}

/* True: it is gone, or was already. */
static bool retention_let_go(struct limiting *l, const struct retention_window *w, const char *why,
			     enum metrics_deleted which)
{
	enum gone gone = retention_delete(w->bad ? l->r->bad : l->r->out, w->epoch, why);

	if (gone == IN_USE || gone == REFUSED)
		return false;
	if (gone == GONE) {
		l->m->deleted[which]++;
		l->deleted++;
		l->freed += w->bytes;
		l->free += w->bytes; /* file systems take their time to say so; too much must not go meanwhile */
		l->why = why;
	}
	return true;
}

static void delete_oldest(struct limiting *l)
{
	struct retention *k = l->k;
	size_t stay = 0, i = 0;

	for (; i < k->n && may_go(k, i); i++) {
		struct retention_window w = k->window[i];
		enum metrics_deleted which;
		const char *why = retention_reason(l, &w, &which);

		if (why && which == DELETED_FREE) {
			retention_drop_symbols(l);
			why = retention_reason(l, &w, &which);
		}
		if (!why && !w.bad)
			break;
		if (why && retention_let_go(l, &w, why, which))
			retention_forget(k, &w);
		else
			k->window[stay++] = w; /* somebody reads it: the next one */
	}
	if (i < k->n)
		memmove(k->window + stay, k->window + i, (k->n - i) * sizeof(*k->window));
	k->n -= i - stay;
}

static void retention_print_message(const struct limiting *l)
{
	struct text t = { 0 };

	metrics_bytes(&t, l->freed);
	warn("deleted the oldest %s, %" PRIu64 " of them, %.*s: %s", l->deleted == 1 ? "window" : "windows", l->deleted,
	     (int)t.n, t.p, l->why);
	text_free(&t);
}

bool retention_limit(struct retention *k, const struct windir *r, const struct retention_limits *limits, uint64_t space,
		     uint64_t now, struct metrics *m)
{
	struct limiting l = { .k = k, .r = r, .limits = limits, .m = m, .now = now };
	uint64_t all;

	l.free = retention_free(r, &all);
	l.free_wanted = (uint64_t)((double)all * limits->min_free);
	l.free_wanted = l.free_wanted > limits->reserve ? l.free_wanted : limits->reserve;
	if (space && l.free_wanted < l.free + space)
		l.free_wanted = l.free + space; /* also where a quota is what is full */
	retention_sort(k);
	find_expired(k, limits->age_s, now);
	if (!retention_too_much(&l))
		return l.free >= l.free_wanted;
	retention_look(k, r);
	retention_sort(k);
	find_expired(k, limits->age_s, now);
	delete_oldest(&l);
	if (l.deleted)
		retention_print_message(&l);
	retention_remember(k, r);
	return l.free >= l.free_wanted;
}
