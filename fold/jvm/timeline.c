/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/jvm/timeline.h"

#include "common/arena.h"
#include "runtimes/hotspot/blobcodec.h"
#include "common/formats/jmapfile.h"
#include "fold/jvm/inlinetree.h"
#include "common/files/fullio.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define BYTES_MAX ((uint64_t)1 << 30)
/* Maximum number of code blobs that one lookup examines; further blobs are not found. In timelines of real JVMs, a
 * lookup examines few. */
#define STEPS_MAX 4096

/* Frame layout of a code blob, for the unwinder. */
struct walked {
	struct code_blob blob;
	/* Frame states of the blob (blobcodec.h). */
	struct str runs;
};

struct blob {
	/* code.from: time in ns at which the first scan that saw the blob ended. */
	struct jit_code code;
	/* End address of the blob. */
	uint64_t end;
	/* Times in ns of CLOCK_MONOTONIC: the blob certainly did not exist before may_from or after may_until. */
	uint64_t may_from, may_until;
	/* Last time in ns at which the blob certainly existed: start of the last scan that saw the blob, or end of the
	 * run of pjmap in which the blob was seen. UINT64_MAX: the blob never disappeared. */
	uint64_t until;
	/* Highest end address of this blob and all blobs before it, in order of start addresses. */
	uint64_t highest;
	/* Tree of the calls inlined in the blob; NULL: the timeline has no record of inlined calls for the blob. */
	struct inlinetree *inlined;
	/* Names of the run of pjmap in which the blob appeared; `inlined` refers to them by index. */
	const struct str *names;
	/* Frame layout of the blob; NULL: the timeline has no record of the layout. */
	struct walked *walked;
};

struct timeline {
	struct arena names;
	/* All blobs: in order of their numbers while the file is read, afterwards sorted by start address. */
	struct blob *blob;
	size_t n, cap;
	/* first: index in `blob` of the first blob of the current run of pjmap; before_first: index of the first blob
	 * of the run of pjmap before that run. */
	size_t first, before_first;
	/* True if the current run of pjmap has begun, but none of its scans has been read yet. */
	bool resumed;
	/* Names of the current run of pjmap. */
	struct str *name;
	size_t nnames, names_cap;
	/* Names of the earlier runs, to be freed. */
	struct str **former;
	/* nformer: number of elements of `former`. named: number of blobs whose `names` is set. */
	size_t nformer, named;
	/* Code that HotSpot never frees: stubs and the interpreter. */
	struct other {
		struct walked walked;
		struct frametimes_life life;
	} * other;
	size_t nothers;
	uint64_t call_stub, continuation;
	/* Cached result of timeline_frames(); NULL before its first call. */
	struct frametimes *frames;
	/* Time in ns at which the last scan or run of pjmap that was read ended. */
	uint64_t last_scan;
	/* Largest number of blobs in one scan that pjmap could not read or name. */
	uint64_t left_out;
	uint64_t bad;
	const char *why;
};

/* ---- reading of records ------------------------------------------------------------------------------------------ */

/* Reads a list of names, and appends them to the names of the current run. Returns NULL, or the error. */
static const char *take_names(struct timeline *timeline, struct str string)
{
	uint64_t count, n;

	if (!jmap_get(&string, &count))
		return "a list of names without its count";
	for (; count; count--) {
		if (!jmap_get(&string, &n) || n > string.n)
			return "a name longer than its record";
		if (timeline->nnames == timeline->names_cap) {
			timeline->names_cap = timeline->names_cap ? timeline->names_cap * 2 : 1024;
			timeline->name = mem_grow(timeline->name, sizeof(*timeline->name), timeline->names_cap);
		}
		timeline->name[timeline->nnames++] = arena_copy(&timeline->names, str_head(string, (size_t)n));
		string = str_from(string, (size_t)n);
	}
	return string.n ? "bytes after the last name" : NULL;
}

/* Start and duration, in ns, of a scan (now, now_ns) and of the scan before it (before, before_ns). A blob that only
 * the scan before saw has disappeared; a blob that only this scan saw is new. */
struct scan {
	uint64_t before, before_ns, now, now_ns;
};

/* Reads the list of blobs that have disappeared since the scan before, and ends their lifetimes. Returns NULL, or the
 * error. */
static const char *take_gone(struct timeline *timeline, struct str *string, const struct scan *scan)
{
	uint64_t count, number = 0;
	int64_t delta;

	if (!jmap_get(string, &count))
		return "a truncated scan";
	for (; count; count--) {
		struct blob *blob;

		if (!jmap_get_signed(string, &delta))
			return "a truncated scan";
		number += (uint64_t)delta;
		if (number >= timeline->n - timeline->first)
			return "removal of code that was never added";
		blob = &timeline->blob[timeline->first + number];
		blob->until = scan->before;
		blob->may_until = scan->now + scan->now_ns;
	}
	return NULL;
}

/* Reads the list of new blobs of a scan. Returns NULL, or the error. */
static const char *timeline_take_new(struct timeline *timeline, struct str *string, const struct scan *scan)
{
	uint64_t count, size, kind, id = 0, level, name, begin = 0;
	int64_t delta;

	if (!jmap_get(string, &count))
		return "a truncated scan";
	for (; count; count--) {
		struct blob *blob;

		if (!jmap_get_signed(string, &delta) || !jmap_get(string, &size) || !jmap_get(string, &kind))
			return "a truncated scan";
		if (kind == JMAP_COMPILED && (!jmap_get(string, &id) || !jmap_get(string, &level)))
			return "a truncated scan";
		begin += (uint64_t)delta;
		if (kind > JMAP_COMPILED || !jmap_get(string, &name) || name >= timeline->nnames ||
		    size > UINT64_MAX - begin)
			return "invalid code";
		if (timeline->n == timeline->cap) {
			timeline->cap = timeline->cap ? timeline->cap * 2 : 1024;
			timeline->blob = mem_grow(timeline->blob, sizeof(*timeline->blob), timeline->cap);
		}
		blob = &timeline->blob[timeline->n++];
		*blob = (struct blob){ .code = { .start = begin,
						 .size = size,
						 .from = scan->now + scan->now_ns,
						 .index = id,
						 .name = timeline->name[name] },
				       .end = begin + size,
				       .may_from = scan->before,
				       .may_until = UINT64_MAX,
				       .until = UINT64_MAX };
	}
	return NULL;
}

/* Reads a scan. The first scan after a restart of pjmap ends the lifetimes of all blobs of the run before. Returns
 * NULL, or the error. */
static const char *timeline_take_scan(struct timeline *timeline, struct str string)
{
	struct scan scan;
	const char *why;

	if (!jmap_get(&string, &scan.before) || !jmap_get(&string, &scan.before_ns) || !jmap_get(&string, &scan.now) ||
	    !jmap_get(&string, &scan.now_ns))
		return "a truncated scan";
	if (scan.now < scan.before || scan.now_ns > UINT64_MAX - scan.now || scan.before_ns > UINT64_MAX - scan.before)
		return "a scan with an invalid time";
	if (scan.before == 0)
		/* In the first scan of a run of pjmap, blobs may have appeared at any time since the end of the run
		 * before. */
		scan.before = timeline->last_scan;
	for (size_t i = timeline->before_first; i < timeline->first && timeline->resumed; i++) {
		/* A blob that existed at the end of the run before may have disappeared at any time since then. */
		if (timeline->blob[i].until == UINT64_MAX) {
			timeline->blob[i].until = timeline->last_scan;
			timeline->blob[i].may_until = scan.now + scan.now_ns;
		}
	}
	timeline->resumed = false;
	why = take_gone(timeline, &string, &scan);
	if (!why)
		why = timeline_take_new(timeline, &string, &scan);
	timeline->last_scan = scan.now + scan.now_ns;
	return why ? why : string.n ? "bytes after a scan" : NULL;
}

/* Reads the record of the calls inlined in one blob. Returns NULL, or the error. */
static const char *take_inlined(struct timeline *timeline, struct str string)
{
	struct inlinetree *tree = NULL;
	uint64_t number;
	const char *why;

	if (!jmap_get(&string, &number) || number >= timeline->n - timeline->first)
		return "inlined calls of code that was never added";
	why = inlinetree_parse(&timeline->names, string, timeline->nnames, &tree);
	if (tree)
		timeline->blob[timeline->first + number].inlined = tree;
	return why;
}

static bool timeline_take_facts(struct timeline *timeline, struct str *string, struct walked *walked)
{
	if (!blobcodec_decode(string, &walked->blob, &walked->runs))
		return false;
	walked->runs = arena_copy(&timeline->names, walked->runs);
	return true;
}

/* Reads a record of frame layouts, for blobs of the current run and for code that HotSpot never frees. Returns NULL, or
 * the error. */
static const char *take_frames(struct timeline *timeline, struct str string)
{
	uint64_t n, number = 0, delta, size, end = 0;
	int64_t from;

	if (!jmap_get(&string, &timeline->call_stub) || !jmap_get(&string, &timeline->continuation) ||
	    !jmap_get(&string, &n))
		return "truncated frames";
	for (; n; n--) {
		struct walked *walked = arena_new(&timeline->names, struct walked, 1);
		struct blob *blob;

		if (!jmap_get(&string, &delta) || delta > UINT64_MAX - number ||
		    (number += delta) >= timeline->n - timeline->first)
			return "frames of code that was never added";
		blob = &timeline->blob[timeline->first + number];
		walked->blob = (struct code_blob){ .start = blob->code.start, .end = blob->end };
		if (!timeline_take_facts(timeline, &string, walked))
			return "invalid frames";
		blob->walked = walked;
	}
	if (!jmap_get(&string, &n))
		return "truncated frames";
	for (; n; n--) {
		struct other other = { .life = { 0, timeline->last_scan, UINT64_MAX, UINT64_MAX } };

		if (!jmap_get_signed(&string, &from) || !jmap_get(&string, &size) || size > UINT32_MAX ||
		    size > UINT64_MAX - (end + (uint64_t)from))
			return "truncated frames";
		other.walked.blob.start = end + (uint64_t)from;
		end = other.walked.blob.end = other.walked.blob.start + size;
		if (!timeline_take_facts(timeline, &string, &other.walked))
			return "invalid frames";
		timeline->other = mem_more(timeline->other, sizeof(*timeline->other), timeline->nothers);
		timeline->other[timeline->nothers++] = other;
	}
	return string.n ? "bytes after frames" : NULL;
}

static const char *take_left(struct timeline *timeline, struct str string)
{
	uint64_t when, torn, unnamed;

	if (!jmap_get(&string, &when) || !jmap_get(&string, &torn) || !jmap_get(&string, &unnamed) ||
	    torn > UINT32_MAX || unnamed > UINT32_MAX)
		return "a record of omissions without its counts";
	if (torn + unnamed > timeline->left_out)
		timeline->left_out = torn + unnamed;
	return NULL;
}

static const char *take_end(struct timeline *timeline, struct str string)
{
	uint64_t when;

	if (!jmap_get(&string, &when))
		return "an end record without a time";
	timeline->last_scan = when;
	return NULL;
}

/* Ends a run of pjmap: sets `names` of its blobs to the run's array of names, which is complete and does not move any
 * more. */
static void end_run(struct timeline *timeline)
{
	for (; timeline->named < timeline->n; timeline->named++)
		timeline->blob[timeline->named].names = timeline->name;
	if (timeline->nnames) {
		timeline->former = mem_grow(timeline->former, sizeof(*timeline->former), timeline->nformer + 1);
		timeline->former[timeline->nformer++] = timeline->name;
		timeline->name = NULL;
	}
	timeline->nnames = timeline->names_cap = 0;
}

/* Reads one record. Returns NULL, or the error. */
static const char *timeline_take(struct timeline *timeline, struct str body)
{
	struct str rest = str_from(body, 1);

	switch (body.p[0]) {
	case JMAP_START:
		if (!timeline->resumed)
			timeline->before_first = timeline->first;
		timeline->first = timeline->n;
		timeline->resumed = true;
		end_run(timeline);
		return NULL;
	case JMAP_NAMES: return take_names(timeline, rest);
	case JMAP_SCAN: return timeline_take_scan(timeline, rest);
	case JMAP_INLINED: return take_inlined(timeline, rest);
	case JMAP_FRAMES: return take_frames(timeline, rest);
	case JMAP_LEFT: return take_left(timeline, rest);
	case JMAP_END: return take_end(timeline, rest);
	/* Record types that later versions of pjmap write are skipped. */
	default: return NULL;
	}
}

static int by_start(const void *a, const void *b)
{
	const struct blob *blob = a, *y = b;

	if (blob->code.start != y->code.start)
		return blob->code.start < y->code.start ? -1 : 1;
	return (blob->code.from > y->code.from) - (blob->code.from < y->code.from);
}

struct timeline *timeline_parse(struct str bytes, const char **why)
{
	struct timeline *timeline = mem_alloc(sizeof(*timeline), 1);
	struct str rest = bytes, body;
	uint64_t highest = 0;
	int got = 1;

	if (!str_starts(bytes, STR(JMAP_MAGIC))) {
		*why = "not a code timeline of pjmap";
		free(timeline);
		return NULL;
	}
	rest = str_from(rest, JMAP_MAGIC_BYTES);
	while (!timeline->why) {
		uint64_t at = bytes.n - rest.n;

		got = jmap_next(&rest, &body);
		if (got == 0)
			break;
		timeline->why = got < 0 ? "truncated or damaged from here on" : timeline_take(timeline, body);
		if (timeline->why)
			timeline->bad = at;
	}
	end_run(timeline);
	if (timeline->n)
		qsort(timeline->blob, timeline->n, sizeof(*timeline->blob), by_start);
	for (size_t i = 0; i < timeline->n; i++) {
		highest = timeline->blob[i].end > highest ? timeline->blob[i].end : highest;
		timeline->blob[i].highest = highest;
	}
	return timeline;
}

struct timeline *timeline_open(int fd, const char **why)
{
	struct timeline *timeline = NULL;
	struct text bytes = { 0 };
	struct stat status;

	*why = fstat(fd, &status) < 0               ? strerror(errno) :
	       !S_ISREG(status.st_mode)             ? "not a regular file" :
	       (uint64_t)status.st_size > BYTES_MAX ? "larger than 1 GiB" :
						      NULL;
	if (*why) {
		close(fd);
		return NULL;
	}
	/* EFBIG: the file has grown beyond the limit since fstat(). Use the part that was read. */
	if (fullio_read(fd, &bytes, BYTES_MAX) || errno == EFBIG)
		timeline = timeline_parse(text_view(&bytes), why);
	else
		*why = strerror(errno);
	close(fd);
	text_free(&bytes);
	return timeline;
}

void timeline_close(struct timeline *timeline)
{
	if (!timeline)
		return;
	arena_free(&timeline->names);
	frametimes_free(timeline->frames);
	free(timeline->other);
	free(timeline->blob);
	free(timeline->name);
	for (size_t i = 0; i < timeline->nformer; i++)
		free(timeline->former[i]);
	free(timeline->former);
	free(timeline);
}

uint64_t timeline_bad(const struct timeline *timeline, const char **why)
{
	*why = timeline->why;
	return timeline->bad;
}

uint64_t timeline_left_out(const struct timeline *timeline)
{
	return timeline->left_out;
}

struct frametimes *timeline_frames(struct timeline *timeline)
{
	if (timeline->frames || timeline->nothers == 0)
		return timeline->frames;
	timeline->frames = frametimes_new();
	frametimes_returns(timeline->frames, timeline->call_stub, timeline->continuation);
	for (size_t i = 0; i < timeline->nothers; i++)
		frametimes_add(timeline->frames, &timeline->other[i].walked.blob, timeline->other[i].walked.runs,
			       &timeline->other[i].life);
	for (size_t i = 0; i < timeline->n; i++) {
		const struct blob *blob = &timeline->blob[i];
		struct frametimes_life life = { blob->may_from, blob->code.from, blob->until, blob->may_until };

		if (blob->walked)
			frametimes_add(timeline->frames, &blob->walked->blob, blob->walked->runs, &life);
	}
	return timeline->frames;
}

size_t timeline_count(const struct timeline *timeline)
{
	return timeline->n;
}

/* ---- lookup of code ---------------------------------------------------------------------------------------------- */

static bool is_later(const struct blob *blob, const struct blob *one)
{
	return !one || blob->code.from > one->code.from;
}

const struct jit_code *timeline_find(struct timeline *timeline, uint64_t address, uint64_t time,
				     enum timeline_sure *sure)
{
	const struct blob *certain = NULL, *maybe = NULL;
	size_t low = 0, high = timeline->n;
	unsigned may = 0;

	/* Find the first blob that starts after the address. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (timeline->blob[middle].code.start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (unsigned steps = 0; low-- > 0 && timeline->blob[low].highest > address && steps < STEPS_MAX; steps++) {
		const struct blob *blob = &timeline->blob[low];

		if (address >= blob->end)
			continue;
		if (time == 0 || (time >= blob->code.from && time <= blob->until)) {
			if (is_later(blob, certain))
				certain = blob;
		} else if (time >= blob->may_from && time <= blob->may_until) {
			may++;
			if (is_later(blob, maybe))
				maybe = blob;
		}
	}
	*sure = certain ? TIMELINE_SURE : may > 1 ? TIMELINE_AMBIGUOUS : may ? TIMELINE_LIKELY : TIMELINE_NONE;
	if (!certain)
		certain = maybe;
	return certain ? inlinetree_at(certain->inlined, &certain->code, address - certain->code.start, certain->names,
				       &timeline->names) :
			 NULL;
}
