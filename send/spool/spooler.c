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
/* number of crashes of pjfold on a window after which the window goes to bad/ */
#define TRIES 3
#define REPORT_MS 60000
/* interval in ms of measuring the disk space of the spool, as other processes change it */
#define COUNT_MS 60000

static bool spooler_may_report(struct spooler *spooler)
{
	uint64_t now = clock_now_ms();

	if (spooler->shown && now - spooler->shown < REPORT_MS)
		return false;
	spooler->shown = now;
	return true;
}

/* ---- state of recordings --------------------------------------------------------------------------------------- */

/* Returns the index of an epoch in spooler->done; if it is not there, the index at which to insert it. */
static size_t spooler_place_of(const struct spooler *spooler, uint64_t epoch)
{
	size_t low = 0, high = spooler->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (spooler->done[mid].epoch < epoch)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static struct spooler_done *spooler_find(struct spooler *spooler, uint64_t epoch)
{
	size_t i = spooler_place_of(spooler, epoch);

	return i < spooler->n && spooler->done[i].epoch == epoch ? spooler->done + i : NULL;
}

static struct spooler_done *spooler_remember(struct spooler *spooler, uint64_t epoch)
{
	struct spooler_done *finished = spooler_find(spooler, epoch);
	size_t i = spooler_place_of(spooler, epoch);

	if (finished)
		return finished;
	if (spooler->n == spooler->cap) {
		spooler->cap = spooler->cap ? 2 * spooler->cap : 64;
		spooler->done = mem_grow(spooler->done, sizeof(*spooler->done), spooler->cap);
	}
	memmove(spooler->done + i + 1, spooler->done + i, (spooler->n - i) * sizeof(*spooler->done));
	spooler->done[i] = (struct spooler_done){ .epoch = epoch };
	spooler->n++;
	return spooler->done + i;
}

/* Removes the state of recordings that are no longer in out/; epochs: sorted list of the recordings in out/. */
static void spooler_prune(struct spooler *spooler, const uint64_t *epochs, size_t n)
{
	size_t retained = 0, at = 0;

	for (size_t i = 0; i < spooler->n; i++) {
		while (at < n && epochs[at] < spooler->done[i].epoch)
			at++;
		if (at < n && epochs[at] == spooler->done[i].epoch)
			spooler->done[retained++] = spooler->done[i];
	}
	spooler->n = retained;
}

/* ---- folding a window ------------------------------------------------------------------------------------------ */

/* Returns true if a recording may be folded, that is, if one of these holds: pjmap has scanned all JVMs since the end
 * of the window; no pjmap is running; map_wait_ms have passed since the end; the end is unknown, in another boot or in
 * the future. */
static bool is_ready(struct spooler *spooler, int fd)
{
	struct chunkinfo info;
	char boot[BOOT_ID + 1];
	uint64_t mono = clock_now(), end;

	chunkinfo_read(&info, fd);
	if (!info.end || info.end > mono || !boot_id("/proc", boot) || strcmp(boot, info.boot) != 0)
		return true;
	end = clock_wall() - (mono - info.end);
	if (jmapscans_missing(spooler->spool->dir, boot, end) == 0)
		return true;
	if (mono - info.end < spooler->map_wait_ms * 1000000)
		return false;
	/* Only recent windows get here: for older ones pjmap has completed a scan or is not running. */
	count(COUNT_UNMAPPED, 1);
	return true;
}

static void spooler_again(struct spooler *spooler, struct spooler_done *finished, struct str why)
{
	finished->due = clock_now_ms() + AGAIN_MS;
	count(COUNT_FOLD_FAILED, 1);
	if (spooler_may_report(spooler))
		warn("window %" PRIu64 " cannot be folded yet: %.*s", finished->epoch, (int)why.n, why.p);
}

static void to_bad(struct spooler *spooler, struct spooler_done *finished, struct str why)
{
	warn("window %" PRIu64 " cannot be folded and was moved to bad/: %.*s", finished->epoch, (int)why.n, why.p);
	/* Sets `folded` even if the recording cannot be moved, so that it is not processed again. */
	finished->folded = true;
	spooler->unreadable++;
	count(COUNT_UNREADABLE, 1);
	if (!spool_refuse_chunk(spooler->spool, finished->epoch, why))
		warn("cannot move window %" PRIu64 " to bad/: %s", finished->epoch, strerror(errno));
}

static void spooler_put(struct spooler *spooler, struct spooler_done *finished, struct str text)
{
	struct spool_name name = { finished->epoch, spooler->spool->recorder };

	if (!spool_put(spooler->spool, name, text)) {
		struct text why = { 0 };

		text_printf(&why, "cannot write to the spool: %s", strerror(errno));
		spooler_again(spooler, finished, text_view(&why));
		text_free(&why);
		return;
	}
	finished->folded = true;
	spooler->bytes += spooler->spool->put_bytes;
	count(COUNT_FOLDED, 1);
	if (spooler->keep_spool && spool_drop_chunk(spooler->spool, finished->epoch))
		count(COUNT_RAW_DROPPED, 1);
	if (spooler->spooled)
		spooler->spooled(spooler->to, name);
}

static void spooler_fold(struct spooler *spooler, struct spooler_done *finished, int fd)
{
	struct text text = { 0 }, why = { 0 }, path = { 0 };
	enum fold_result result;

	text_printf(&path, "%s/out/%" PRIu64 ".data", spooler->dir, finished->epoch);
	text_char(&path, 0);
	result = folding_chunk(spooler->folding, path.p, fd, finished->epoch, &text, &why);
	/* closing the file also releases the lock on the recording */
	close(fd);
	switch (result) {
	case FOLD_PART:
		count(COUNT_DAMAGED, 1);
		warn("window %" PRIu64 " is damaged and used in part: %.*s", finished->epoch, (int)why.n, why.p);
		spooler_put(spooler, finished, text_view(&text));
		break;
	case FOLD_GOOD: spooler_put(spooler, finished, text_view(&text)); break;
	case FOLD_EMPTY:
		finished->folded = true;
		count(COUNT_EMPTY, 1);
		spool_drop_chunk(spooler->spool, finished->epoch);
		break;
	case FOLD_BAD: to_bad(spooler, finished, text_view(&why)); break;
	case FOLD_CRASHED:
		if (++finished->tries >= TRIES)
			to_bad(spooler, finished, text_view(&why));
		else
			spooler_again(spooler, finished, text_view(&why));
		break;
	case FOLD_FAILED: spooler_again(spooler, finished, text_view(&why)); break;
	case FOLD_STOPPED: break;
	}
	text_free(&text);
	text_free(&why);
	text_free(&path);
}

/* Folds the recording of the window `epoch` if it is due. Returns true if the recording waits for pjmap's next scan;
 * false if it was folded, now or earlier, or is not due. */
static bool spooler_take(struct spooler *spooler, uint64_t epoch)
{
	struct spooler_done *finished = spooler_find(spooler, epoch);
	int fd;

	if (finished && finished->folded)
		return false;
	if (finished && finished->due > clock_now_ms())
		return false;
	fd = spool_chunk_open(spooler->spool, epoch);
	if (fd < 0)
		/* pjrecord is deleting the recording; if it stays, the next pass folds it */
		return false;
	if (!is_ready(spooler, fd)) {
		close(fd);
		return true;
	}
	spooler_fold(spooler, spooler_remember(spooler, epoch), fd);
	return false;
}

/* ---- limits of disk space -------------------------------------------------------------------------------------- */

static void spooler_measure(struct spooler *spooler)
{
	if (spooler->counted && clock_now_ms() - spooler->counted < COUNT_MS)
		return;
	spooler->counted = clock_now_ms();
	spooler->bytes = spool_bytes(spooler->spool, &spooler->bad_bytes);
	count_set(COUNT_SPOOL_BYTES, spooler->bytes);
}

static bool short_of_space(const struct spooler *spooler)
{
	return spooler->min_free > 0 && spool_free(spooler->spool) < spooler->min_free;
}

/* Deletes recordings whose folded window is in the spool, oldest first, until the file system has min_free bytes free.
 * epochs[0..n): names of these recordings. The folded windows remain in the spool. */
static void drop_chunks(struct spooler *spooler, const uint64_t *epochs, size_t n)
{
	uint64_t dropped = 0;

	for (size_t i = 0; i < n && short_of_space(spooler); i++) {
		struct spooler_done *finished = spooler_find(spooler, epochs[i]);

		if (finished && finished->folded &&
		    spool_has(spooler->spool, (struct spool_name){ epochs[i], spooler->spool->recorder }) &&
		    spool_drop_chunk(spooler->spool, epochs[i]))
			dropped++;
	}
	count(COUNT_RAW_DROPPED, dropped);
}

static bool spooler_over(const struct spooler *spooler)
{
	return (spooler->max_bytes && spooler->bytes + spooler->bad_bytes > spooler->max_bytes) ||
	       short_of_space(spooler);
}

/* Returns true if spool/ and bad/ exceed their limit of bytes, or if too little of the file system is free. The stored
 * sizes still include windows that were sent since, so the function measures the spool again before it reports an
 * excess. */
static bool spooler_too_much(struct spooler *spooler)
{
	if (spooler->max_bytes && spooler->bytes + spooler->bad_bytes > spooler->max_bytes) {
		spooler->counted = 0;
		spooler_measure(spooler);
	}
	return spooler_over(spooler);
}

static void take_off(uint64_t *bytes, uint64_t n)
{
	*bytes -= n < *bytes ? n : *bytes;
}

/* Deletes the oldest windows in bad/, then the oldest ones in spool/, until the limits are kept. Never deletes the
 * newest window in spool/. */
static void drop_spool(struct spooler *spooler)
{
	struct spool_name *names;
	size_t n;
	uint64_t dropped = 0, refused = 0, bytes;

	while (spooler_over(spooler) && spool_drop_bad(spooler->spool, &bytes)) {
		take_off(&spooler->bad_bytes, bytes);
		refused++;
	}
	if (refused && spooler_may_report(spooler))
		warn("deleted the %" PRIu64 " oldest windows in bad/ for space", refused);
	if (!spooler_over(spooler) || !spool_windows(spooler->spool, &names, &n))
		return;
	spool_oldest_first(spooler->spool, names, n);
	for (size_t i = 0; i + 1 < n && spooler_over(spooler); i++) {
		bytes = spool_window_bytes(spooler->spool, names[i]);
		if (spool_done(spooler->spool, names[i])) {
			dropped++;
			take_off(&spooler->bytes, bytes);
		}
	}
	free(names);
	count(COUNT_DROPPED, dropped);
	if (dropped && spooler_may_report(spooler))
		warn("%" PRIu64 " windows, the oldest, were deleted unsent for space; in all %" PRIu64, dropped,
		     counter_get(COUNT_DROPPED));
}

static void spooler_keep_limits(struct spooler *spooler, const uint64_t *epochs, size_t n)
{
	spooler_measure(spooler);
	if (short_of_space(spooler))
		drop_chunks(spooler, epochs, n);
	if (spooler_too_much(spooler))
		drop_spool(spooler);
}

/* ---- list of the recordings of one run ------------------------------------------------------------------------- */

/* Lists the recordings in out/, sorted. With `once`, omits those that appeared after spooler_begin: a running pjrecord
 * adds new ones, so the run might never end. Returns false on failure, with errno; otherwise the caller frees
 * *epochs. */
static bool spooler_list(struct spooler *spooler, uint64_t **epochs, size_t *n)
{
	size_t listed = 0, at = 0;

	if (!spool_chunks(spooler->spool, epochs, n))
		return false;
	for (size_t i = 0; i < *n && spooler->once; i++) {
		while (at < spooler->nfirst && spooler->first[at] < (*epochs)[i])
			at++;
		if (at < spooler->nfirst && spooler->first[at] == (*epochs)[i])
			(*epochs)[listed++] = (*epochs)[i];
	}
	*n = spooler->once ? listed : *n;
	return true;
}

/* ---- interface of the module ------------------------------------------------------------------------------------- */

void spooler_begin(struct spooler *spooler)
{
	struct spool_name *names;
	size_t n;

	if (!spool_windows(spooler->spool, &names, &n))
		die_errno("cannot read the spool");
	for (size_t i = 0; i < n; i++)
		if (names[i].tag == spooler->spool->recorder)
			spooler_remember(spooler, names[i].epoch)->folded = true;
	free(names);
	if (spooler->once && !spool_chunks(spooler->spool, &spooler->first, &spooler->nfirst))
		die_errno("cannot read '%s/out'", spooler->dir);
}

bool spooler_pass(struct spooler *spooler)
{
	uint64_t *epochs;
	size_t n;
	bool waits = false;

	spooler_measure(spooler);
	if (!spooler_list(spooler, &epochs, &n)) {
		if (spooler_may_report(spooler))
			warn("cannot read '%s/out': %s", spooler->dir, strerror(errno));
		return false;
	}
	for (size_t i = 0; i < n && !*spooler->stop; i++) {
		waits |= spooler_take(spooler, epochs[i]);
		if (spooler->bytes + spooler->bad_bytes > spooler->max_bytes)
			spooler_keep_limits(spooler, epochs, i + 1);
	}
	spooler_keep_limits(spooler, epochs, n);
	spooler_prune(spooler, epochs, n);
	free(epochs);
	return waits;
}

bool spooler_left(struct spooler *spooler, size_t *n)
{
	uint64_t *epochs;
	size_t all;

	*n = 0;
	if (!spooler_list(spooler, &epochs, &all))
		return false;
	for (size_t i = 0; i < all; i++) {
		const struct spooler_done *finished = spooler_find(spooler, epochs[i]);

		*n += !finished || !finished->folded;
	}
	free(epochs);
	return true;
}

void spooler_end(struct spooler *spooler)
{
	free(spooler->done);
	free(spooler->first);
	spooler->done = NULL;
	spooler->first = NULL;
	spooler->n = spooler->nfirst = 0;
}
