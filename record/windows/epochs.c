/* SPDX-License-Identifier: Apache-2.0 */
#include "record/windows/epochs.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/file.h>
#include <unistd.h>

#define ERA UINT64_C(300) /* seconds without a window that end a range; the closest ranges become one anyhow */
#define LINE 42           /* all lines are as long, so a file that was half replaced still holds whole ones */
#define FILE_MAX ((size_t)LINE * (EPOCHS_RANGES + 1) * 4)

static void remove_range(struct epochs *e, size_t i)
{
	memmove(e->range + i, e->range + i + 1, (e->n - i - 1) * sizeof(*e->range));
	e->n--;
}

static void join_closest(struct epochs *e)
{
	size_t best = 0;

	for (size_t i = 1; i + 1 < e->n; i++)
		if (e->range[i + 1].from - e->range[i].to < e->range[best + 1].from - e->range[best].to)
			best = i;
	e->range[best].to = e->range[best + 1].to;
	remove_range(e, best + 1);
}

/* A range that begins no more than `gap` behind another one continues it. */
static void add_range(struct epochs *e, uint64_t from, uint64_t to, uint64_t gap)
{
	size_t i = 0;

	while (i < e->n && e->range[i].to < from && from - e->range[i].to > gap)
		i++;
	if (i < e->n && (e->range[i].from <= to || e->range[i].to < from)) {
		/* what lies between is not used, but may become so only with the clock set back */
		e->range[i].from = from < e->range[i].from ? from : e->range[i].from;
		e->range[i].to = to > e->range[i].to ? to : e->range[i].to;
	} else {
		memmove(e->range + i + 1, e->range + i, (e->n - i) * sizeof(*e->range));
		e->range[i] = (struct epochs_range){ from, to };
		e->n++;
	}
	while (i + 1 < e->n && e->range[i + 1].from <= e->range[i].to + (e->range[i].to < UINT64_MAX)) {
		if (e->range[i + 1].to > e->range[i].to)
			e->range[i].to = e->range[i + 1].to;
		remove_range(e, i + 1);
	}
	if (e->n > EPOCHS_RANGES)
		join_closest(e);
}

void epochs_used(struct epochs *e, uint64_t epoch)
{
	add_range(e, epoch, epoch, ERA);
}

uint64_t epochs_take(struct epochs *e, uint64_t wanted)
{
	for (size_t i = 0; i < e->n; i++)
		if (wanted >= e->range[i].from && wanted <= e->range[i].to && e->range[i].to < UINT64_MAX)
			wanted = e->range[i].to + 1;
	epochs_used(e, wanted);
	return wanted;
}

void epochs_parse(struct epochs *e, struct str text)
{
	*e = (struct epochs){ 0 };
	while (text.n) {
		struct str line = str_cut(&text, '\n'), from = str_cut(&line, ' ');
		uint64_t a, b;

		if (str_u64(from, &a) && str_u64(line, &b) && a <= b && b < UINT64_MAX)
			add_range(e, a, b, 0);
	}
}

void epochs_text(const struct epochs *e, struct text *t)
{
	for (size_t i = 0; i < e->n; i++)
		text_printf(t, "%020" PRIu64 " %020" PRIu64 "\n", e->range[i].from, e->range[i].to);
}

static bool epochs_lock(int fd)
{
	int done;

	while ((done = flock(fd, LOCK_EX)) < 0 && errno == EINTR)
		;
	return done == 0;
}

static bool epochs_load(int fd, struct epochs *e)
{
	char buf[FILE_MAX];
	ssize_t n = pread(fd, buf, sizeof(buf), 0);

	epochs_parse(e, (struct str){ buf, n > 0 ? (size_t)n : 0 });
	return n >= 0;
}

/* In place: making a new file each time would cost the recorder more than it is worth. What is there is written over
 * with lines of the same length; killed in between, the file says more than is used, never less. */
static bool epochs_store(int fd, const struct epochs *e)
{
	struct text t = { 0 };
	bool good;

	epochs_text(e, &t);
	errno = ENOSPC;
	good = pwrite(fd, t.p, t.n, 0) == (ssize_t)t.n && ftruncate(fd, (off_t)t.n) == 0;
	text_free(&t);
	return good;
}

bool epochs_take_from(int fd, uint64_t wanted, uint64_t *epoch)
{
	struct epochs e;
	bool good;
	int error;

	if (!epochs_lock(fd))
		return false;
	good = epochs_load(fd, &e);
	if (good) {
		*epoch = epochs_take(&e, wanted);
		good = epochs_store(fd, &e);
	}
	error = errno;
	flock(fd, LOCK_UN);
	errno = error;
	return good;
}

bool epochs_add_to(int fd, const struct epochs *add)
{
	struct epochs e;
	bool good;
	int error;

	if (!epochs_lock(fd))
		return false;
	good = epochs_load(fd, &e);
	for (size_t i = 0; i < add->n; i++)
		add_range(&e, add->range[i].from, add->range[i].to, 0);
	good = good && epochs_store(fd, &e);
	error = errno;
	flock(fd, LOCK_UN);
	errno = error;
	return good;
}
