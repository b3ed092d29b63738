/* SPDX-License-Identifier: Apache-2.0 */
#include "record/windows/epochs.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/file.h>
#include <unistd.h>

/* maximum gap in s between two used seconds of one range; the seconds in the gap cannot become names any more */
#define ERA UINT64_C(300)
/* LINE: bytes of each line of the file, newline included. All lines have this length, so a file of which only a part
 * was replaced still has complete lines. FILE_MAX: maximum bytes of the file that are read; further lines are
 * ignored. */
#define LINE 42
#define FILE_MAX ((size_t)LINE * (EPOCHS_RANGES + 1) * 4)

static void remove_range(struct epochs *epochs, size_t i)
{
	memmove(epochs->range + i, epochs->range + i + 1, (epochs->n - i - 1) * sizeof(*epochs->range));
	epochs->n--;
}

static void join_closest(struct epochs *epochs)
{
	size_t best = 0;

	for (size_t i = 1; i + 1 < epochs->n; i++)
		if (epochs->range[i + 1].from - epochs->range[i].to <
		    epochs->range[best + 1].from - epochs->range[best].to)
			best = i;
	epochs->range[best].to = epochs->range[best + 1].to;
	remove_range(epochs, best + 1);
}

/* Adds a range of used seconds, inclusive. Joins it with an earlier range if at most `gap` seconds are between them,
 * and with ranges that overlap or adjoin it. */
static void add_range(struct epochs *epochs, uint64_t from, uint64_t to, uint64_t gap)
{
	size_t i = 0;

	while (i < epochs->n && epochs->range[i].to < from && from - epochs->range[i].to > gap)
		i++;
	if (i < epochs->n && (epochs->range[i].from <= to || epochs->range[i].to < from)) {
		/* The free names in the gap are lost. Only windows after the clock was set back would need them. */
		epochs->range[i].from = from < epochs->range[i].from ? from : epochs->range[i].from;
		epochs->range[i].to = to > epochs->range[i].to ? to : epochs->range[i].to;
	} else {
		memmove(epochs->range + i + 1, epochs->range + i, (epochs->n - i) * sizeof(*epochs->range));
		epochs->range[i] = (struct epochs_range){ from, to };
		epochs->n++;
	}
	while (i + 1 < epochs->n &&
	       epochs->range[i + 1].from <= epochs->range[i].to + (epochs->range[i].to < UINT64_MAX)) {
		if (epochs->range[i + 1].to > epochs->range[i].to)
			epochs->range[i].to = epochs->range[i + 1].to;
		remove_range(epochs, i + 1);
	}
	if (epochs->n > EPOCHS_RANGES)
		join_closest(epochs);
}

void epochs_used(struct epochs *epochs, uint64_t epoch)
{
	add_range(epochs, epoch, epoch, ERA);
}

uint64_t epochs_take(struct epochs *epochs, uint64_t wanted)
{
	for (size_t i = 0; i < epochs->n; i++)
		if (wanted >= epochs->range[i].from && wanted <= epochs->range[i].to &&
		    epochs->range[i].to < UINT64_MAX)
			wanted = epochs->range[i].to + 1;
	epochs_used(epochs, wanted);
	return wanted;
}

void epochs_parse(struct epochs *epochs, struct str text)
{
	*epochs = (struct epochs){ 0 };
	while (text.n) {
		struct str line = str_cut(&text, '\n'), from = str_cut(&line, ' ');
		uint64_t a, b;

		if (str_u64(from, &a) && str_u64(line, &b) && a <= b && b < UINT64_MAX)
			add_range(epochs, a, b, 0);
	}
}

void epochs_text(const struct epochs *epochs, struct text *text)
{
	for (size_t i = 0; i < epochs->n; i++)
		text_printf(text, "%020" PRIu64 " %020" PRIu64 "\n", epochs->range[i].from, epochs->range[i].to);
}

static bool epochs_lock(int fd)
{
	int done;

	while ((done = flock(fd, LOCK_EX)) < 0 && errno == EINTR)
		;
	return done == 0;
}

static bool epochs_load(int fd, struct epochs *epochs)
{
	char buf[FILE_MAX];
	ssize_t got = pread(fd, buf, sizeof(buf), 0);

	epochs_parse(epochs, (struct str){ buf, got > 0 ? (size_t)got : 0 });
	return got >= 0;
}

/* Writes the ranges over the old contents of the file, because creating a new file each time would cost the recorder
 * too much. Returns false with errno on failure. All lines have the same length. If the process is killed in between,
 * the file lists more names as used than are used, never fewer. */
static bool epochs_store(int fd, const struct epochs *epochs)
{
	struct text text = { 0 };
	bool good;

	epochs_text(epochs, &text);
	errno = ENOSPC;
	good = pwrite(fd, text.p, text.n, 0) == (ssize_t)text.n && ftruncate(fd, (off_t)text.n) == 0;
	text_free(&text);
	return good;
}

bool epochs_take_from(int fd, uint64_t wanted, uint64_t *epoch)
{
	struct epochs epochs;
	bool good;
	int error;

	if (!epochs_lock(fd))
		return false;
	good = epochs_load(fd, &epochs);
	if (good) {
		*epoch = epochs_take(&epochs, wanted);
		good = epochs_store(fd, &epochs);
	}
	error = errno;
	flock(fd, LOCK_UN);
	errno = error;
	return good;
}

bool epochs_add_to(int fd, const struct epochs *add)
{
	struct epochs epochs;
	bool good;
	int error;

	if (!epochs_lock(fd))
		return false;
	good = epochs_load(fd, &epochs);
	for (size_t i = 0; i < add->n; i++)
		add_range(&epochs, add->range[i].from, add->range[i].to, 0);
	good = good && epochs_store(fd, &epochs);
	error = errno;
	flock(fd, LOCK_UN);
	errno = error;
	return good;
}
