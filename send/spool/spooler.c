/* SPDX-License-Identifier: Apache-2.0 */
#include "send/spool/spooler.h"

#include "common/arena.h"
#include "send/spool/chunkinfo.h"
#include "common/clocks.h"
#include "send/spool/counters.h"
#include "common/diag.h"
#include "send/spool/jmapscans.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#define AGAIN_MS 10000
#define TRIES 3 /* of windows that pjfold crashes on */
#define REPORT_MS 60000
#define COUNT_MS 60000 /* the spool is measured again, as others may have changed it */

static bool spooler_may_report(struct spooler *s)
{
	uint64_t now = clock_now_ms();

	if (s->shown && now - s->shown < REPORT_MS)
		return false;
	s->shown = now;
	return true;
}

/* ---- what was done ------------------------------------------------------------------------------------------- */

/* Of that epoch, or where it would stand. */
static size_t spooler_place_of(const struct spooler *s, uint64_t epoch)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->done[mid].epoch < epoch)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static struct spooler_done *spooler_find(struct spooler *s, uint64_t epoch)
{
	size_t i = spooler_place_of(s, epoch);

	return i < s->n && s->done[i].epoch == epoch ? s->done + i : NULL;
}

static struct spooler_done *spooler_remember(struct spooler *s, uint64_t epoch)
{
	struct spooler_done *d = spooler_find(s, epoch);
	size_t i = spooler_place_of(s, epoch);

	if (d)
		return d;
	if (s->n == s->cap) {
		s->cap = s->cap ? 2 * s->cap : 64;
		s->done = mem_grow(s->done, sizeof(*s->done), s->cap);
	}
	memmove(s->done + i + 1, s->done + i, (s->n - i) * sizeof(*s->done));
	s->done[i] = (struct spooler_done){ .epoch = epoch };
	s->n++;
	return s->done + i;
}

/* What is in out/ no more needs no memory; both lists are sorted. */
static void spooler_prune(struct spooler *s, const uint64_t *epochs, size_t n)
{
	size_t saved = 0, at = 0;

	for (size_t i = 0; i < s->n; i++) {
		while (at < n && epochs[at] < s->done[i].epoch)
			at++;
		if (at < n && epochs[at] == s->done[i].epoch)
			s->done[saved++] = s->done[i];
	}
	s->n = saved;
}

/* ---- one window ---------------------------------------------------------------------------------------------- */

/* Have all JVMs been looked at since it ended? Or has that taken too long, or nobody does it? */
static bool is_ready(struct spooler *s, int fd)
{
	struct chunkinfo info;
	char boot[BOOT_ID + 1];
	uint64_t mono = clock_now(), end;

	chunkinfo_read(&info, fd);
	if (!info.end || info.end > mono || !boot_id("/proc", boot) || strcmp(boot, info.boot) != 0)
		return true;
	end = clock_wall() - (mono - info.end);
	if (jmapscans_missing(s->spool->dir, boot, end) == 0)
		return true;
	if (mono - info.end < s->map_wait_ms * 1000000)
		return false;
	/* not for windows of long ago: pjmap has looked at those JVMs since, or is gone */
	count(COUNT_UNMAPPED, 1);
	return true;
}

static void spooler_again(struct spooler *s, struct spooler_done *d, struct str why)
{
	d->due = clock_now_ms() + AGAIN_MS;
	count(COUNT_FOLD_FAILED, 1);
	if (spooler_may_report(s))
		warn("window %" PRIu64 " cannot be folded yet: %.*s", d->epoch, (int)why.n, why.p);
}

static void to_bad(struct spooler *s, struct spooler_done *d, struct str why)
{
	warn("window %" PRIu64 " cannot be folded, and is kept in bad/: %.*s", d->epoch, (int)why.n, why.p);
	d->folded = true; /* whatever becomes of it, it is not looked at again */
	s->unreadable++;
	count(COUNT_UNREADABLE, 1);
	if (!spool_refuse_chunk(s->spool, d->epoch, why))
		warn("cannot put window %" PRIu64 " into bad/: %s", d->epoch, strerror(errno));
}

static void spooler_put(struct spooler *s, struct spooler_done *d, struct str text)
{
	struct spool_name n = { d->epoch, s->spool->recorder };

	if (!spool_put(s->spool, n, text)) {
		struct text why = { 0 };

		text_printf(&why, "cannot write into the spool: %s", strerror(errno));
		spooler_again(s, d, text_view(&why));
		text_free(&why);
		return;
	}
	d->folded = true;
	s->bytes += s->spool->put_bytes;
	count(COUNT_FOLDED, 1);
	if (s->keep_spool && spool_drop_chunk(s->spool, d->epoch))
		count(COUNT_RAW_DROPPED, 1);
	if (s->spooled)
		s->spooled(s->to, n);
}

static void spooler_fold(struct spooler *s, struct spooler_done *d, int fd)
{
	struct text text = { 0 }, why = { 0 }, path = { 0 };
	enum fold_result result;

	text_printf(&path, "%s/out/%" PRIu64 ".data", s->dir, d->epoch);
	text_char(&path, 0);
	d->tries++;
	result = folding_chunk(s->folding, path.p, fd, d->epoch, &text, &why);
	close(fd); /* and its lock */
	switch (result) {
	case FOLD_PART:
		count(COUNT_DAMAGED, 1);
		warn("window %" PRIu64 " is damaged, and used as far as it goes: %.*s", d->epoch, (int)why.n, why.p);
		spooler_put(s, d, text_view(&text));
		break;
	case FOLD_GOOD: spooler_put(s, d, text_view(&text)); break;
	case FOLD_EMPTY:
		d->folded = true;
		count(COUNT_EMPTY, 1);
		spool_drop_chunk(s->spool, d->epoch);
		break;
	case FOLD_BAD: to_bad(s, d, text_view(&why)); break;
	case FOLD_CRASHED:
		if (d->tries >= TRIES)
			to_bad(s, d, text_view(&why));
		else
			spooler_again(s, d, text_view(&why));
		break;
	case FOLD_FAILED: spooler_again(s, d, text_view(&why)); break;
	case FOLD_STOPPED: break;
	}
	text_free(&text);
	text_free(&why);
	text_free(&path);
}

/* True: it waits for pjmap. */
static bool spooler_take(struct spooler *s, uint64_t epoch)
{
	struct spooler_done *d = spooler_find(s, epoch);
	int fd;

	if (d && d->folded)
		return false;
	if (d && d->due > clock_now_ms())
		return false;
	fd = spool_chunk_open(s->spool, epoch);
	if (fd < 0)
		return false; /* pjrecord makes room; should it stay, the next pass takes it */
	if (!is_ready(s, fd)) {
		close(fd);
		return true;
	}
	spooler_fold(s, spooler_remember(s, epoch), fd);
	return false;
}

/* ---- room ---------------------------------------------------------------------------------------------------- */

static void spooler_measure(struct spooler *s)
{
	if (s->counted && clock_now_ms() - s->counted < COUNT_MS)
		return;
	s->counted = clock_now_ms();
	s->bytes = spool_bytes(s->spool, &s->bad_bytes);
	count_set(COUNT_SPOOL_BYTES, s->bytes);
}

static bool short_of_space(const struct spooler *s)
{
	return s->min_free > 0 && spool_free(s->spool) < s->min_free;
}

/* Recordings that the spool stands in for. */
static void drop_chunks(struct spooler *s, const uint64_t *epochs, size_t n)
{
	uint64_t dropped = 0;

	for (size_t i = 0; i < n && short_of_space(s); i++) {
		struct spooler_done *d = spooler_find(s, epochs[i]);

		if (d && d->folded && spool_has(s->spool, (struct spool_name){ epochs[i], s->spool->recorder }) &&
		    spool_drop_chunk(s->spool, epochs[i]))
			dropped++;
	}
	count(COUNT_RAW_DROPPED, dropped);
}

static bool spooler_over(const struct spooler *s)
{
	return (s->max_bytes && s->bytes + s->bad_bytes > s->max_bytes) || short_of_space(s);
}

/* Windows that were sent meanwhile are not known here: what seems too much is measured. */
static bool spooler_too_much(struct spooler *s)
{
	if (s->max_bytes && s->bytes + s->bad_bytes > s->max_bytes) {
		s->counted = 0;
		spooler_measure(s);
	}
	return spooler_over(s);
}

static void take_off(uint64_t *bytes, uint64_t n)
{
	*bytes -= n < *bytes ? n : *bytes;
}

/* Old refused windows, then the oldest of the spool; the newest stays, whatever the limits. */
static void drop_spool(struct spooler *s)
{
	struct spool_name *names;
	size_t n;
	uint64_t dropped = 0, refused = 0, bytes;

	while (spooler_over(s) && spool_drop_bad(s->spool, &bytes)) {
		take_off(&s->bad_bytes, bytes);
		refused++;
	}
	if (refused && spooler_may_report(s))
		warn("%" PRIu64 " of the windows in bad/, the oldest, are deleted to make room", refused);
	if (!spooler_over(s) || !spool_windows(s->spool, &names, &n))
		return;
	spool_oldest_first(s->spool, names, n);
	for (size_t i = 0; i + 1 < n && spooler_over(s); i++) {
		bytes = spool_window_bytes(s->spool, names[i]);
		if (spool_done(s->spool, names[i])) {
			dropped++;
			take_off(&s->bytes, bytes);
		}
	}
	free(names);
	count(COUNT_DROPPED, dropped);
	if (dropped && spooler_may_report(s))
		warn("%" PRIu64 " windows, the oldest, are deleted unsent to make room; in all %" PRIu64, dropped,
		     counter_get(COUNT_DROPPED));
}

static void spooler_keep_limits(struct spooler *s, const uint64_t *epochs, size_t n)
{
	spooler_measure(s);
	if (short_of_space(s))
		drop_chunks(s, epochs, n);
	if (spooler_too_much(s))
		drop_spool(s);
}

/* ---- all ----------------------------------------------------------------------------------------------------- */

void spooler_begin(struct spooler *s)
{
	struct spool_name *names;
	size_t n;

	if (!spool_windows(s->spool, &names, &n))
		die_errno("cannot read the spool");
	for (size_t i = 0; i < n; i++)
		if (names[i].tag == s->spool->recorder)
			spooler_remember(s, names[i].epoch)->folded = true;
	free(names);
}

bool spooler_pass(struct spooler *s)
{
	uint64_t *epochs;
	size_t n;
	bool waits = false;

	spooler_measure(s);
	if (!spool_chunks(s->spool, &epochs, &n)) {
		if (spooler_may_report(s))
			warn("cannot read '%s/out': %s", s->dir, strerror(errno));
		return false;
	}
	for (size_t i = 0; i < n && !*s->stop; i++) {
		waits |= spooler_take(s, epochs[i]);
		if (s->bytes + s->bad_bytes > s->max_bytes)
			spooler_keep_limits(s, epochs, i + 1);
	}
	spooler_keep_limits(s, epochs, n);
	spooler_prune(s, epochs, n);
	free(epochs);
	return waits;
}

bool spooler_left(struct spooler *s)
{
	uint64_t *epochs;
	size_t n, left = 0;

	if (!spool_chunks(s->spool, &epochs, &n))
		return true;
	for (size_t i = 0; i < n; i++) {
		const struct spooler_done *d = spooler_find(s, epochs[i]);

		left += !d || !d->folded;
	}
	free(epochs);
	return left > 0;
}

void spooler_end(struct spooler *s)
{
	free(s->done);
	s->done = NULL;
	s->n = 0;
}
