/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/jit/timeline.h"

#include "common/arena.h"
#include "runtimes/hotspot/blobcodec.h"
#include "common/formats/jmapfile.h"
#include "common/files/fullio.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define BYTES_MAX ((uint64_t)1 << 30)
#define STEPS_MAX 4096 /* pieces of code that may have been at one address: real ones are some few */

/* Which calls were inlined in a piece: a tree, 0 is the method itself, and which addresses belong to which. */
struct inlined {
	uint32_t n, nruns;
	struct inlined_node {
		uint32_t parent, name;     /* name: in the timeline's names of that run */
		struct jitdump_code *code; /* made when it is asked for */
	} * node;                          /* from 1 */
	struct inlined_run {
		uint64_t end; /* offset, included */
		uint32_t node;
	} * run;
	const struct str *names;
};

/* What a piece of code is for who walks through it. */
struct walked {
	struct code_blob blob;
	struct str runs; /* blobcodec.h */
};

struct blob {
	struct jitdump_code code; /* from: when it was seen first */
	uint64_t end;
	uint64_t may_from, may_until; /* it was not there before, not behind */
	uint64_t until;               /* when it was seen last; UINT64_MAX: it never went */
	uint64_t highest;             /* end of all up to this one */
	struct inlined *inlined;      /* NULL: nothing is told */
	struct walked *walked;        /* the same */
};

struct timeline {
	struct arena names;
	struct blob *blob; /* while it is read: by number; then by start */
	size_t n, cap;
	size_t first, before_first; /* piece 0 of the run of pjmap that is being read, and of the one before */
	bool resumed;               /* no scan of it was read yet */
	struct str *name;           /* of this run */
	size_t nnames, names_cap;
	struct str **former;   /* of the runs before */
	size_t nformer, named; /* pieces before this one know their names */
	struct other {
		struct walked walked;
		struct frametimes_life life;
	} * other; /* code that stays: stubs, the interpreter */
	size_t nothers;
	uint64_t call_stub, continuation;
	struct frametimes *frames; /* made when it is asked for */
	uint64_t last_scan;        /* end of the last scan of the run before */
	uint64_t left_out;         /* pieces, in the scan with the most of them */
	uint64_t bad;
	const char *why;
};

/* ---- reading
 * -------------------------------------------------------------------------------------------------------------------
 */

static const char *take_names(struct timeline *t, struct str s)
{
	uint64_t count, n;

	if (!jmap_get(&s, &count))
		return "a list of names without their number";
	for (; count; count--) {
		if (!jmap_get(&s, &n) || n > s.n)
			return "a name that is longer than its record";
		if (t->nnames == t->names_cap) {
			t->names_cap = t->names_cap ? t->names_cap * 2 : 1024;
			t->name = mem_grow(t->name, sizeof(*t->name), t->names_cap);
		}
		t->name[t->nnames++] = arena_copy(&t->names, str_head(s, (size_t)n));
		s = str_from(s, (size_t)n);
	}
	return s.n ? "bytes behind the last name" : NULL;
}

/* Two scans: the one before saw what is gone, and not what is new. */
struct scan {
	uint64_t before, before_ns, now, now_ns;
};

static const char *take_gone(struct timeline *t, struct str *s, const struct scan *scan)
{
	uint64_t count, number = 0;
	int64_t delta;

	if (!jmap_get(s, &count))
		return "a scan that ends too soon";
	for (; count; count--) {
		struct blob *p;

		if (!jmap_get_signed(s, &delta))
			return "a scan that ends too soon";
		number += (uint64_t)delta;
		if (number >= t->n - t->first)
			return "code goes that never came";
		p = &t->blob[t->first + number];
		p->until = scan->before;
		p->may_until = scan->now + scan->now_ns;
	}
	return NULL;
}

static const char *timeline_take_new(struct timeline *t, struct str *s, const struct scan *scan)
{
	uint64_t count, size, kind, id = 0, level, name, begin = 0;
	int64_t delta;

	if (!jmap_get(s, &count))
		return "a scan that ends too soon";
	for (; count; count--) {
		struct blob *p;

		if (!jmap_get_signed(s, &delta) || !jmap_get(s, &size) || !jmap_get(s, &kind))
			return "a scan that ends too soon";
		if (kind == JMAP_COMPILED && (!jmap_get(s, &id) || !jmap_get(s, &level)))
			return "a scan that ends too soon";
		begin += (uint64_t)delta;
		if (kind > JMAP_COMPILED || !jmap_get(s, &name) || name >= t->nnames || size > UINT64_MAX - begin)
			return "code that makes no sense";
		if (t->n == t->cap) {
			t->cap = t->cap ? t->cap * 2 : 1024;
			t->blob = mem_grow(t->blob, sizeof(*t->blob), t->cap);
		}
		p = &t->blob[t->n++];
		*p = (struct blob){ .code = { .start = begin,
					      .size = size,
					      .from = scan->now + scan->now_ns,
					      .index = id,
					      .name = t->name[name] },
				    .end = begin + size,
				    .may_from = scan->before,
				    .may_until = UINT64_MAX,
				    .until = UINT64_MAX };
	}
	return NULL;
}

static const char *timeline_take_scan(struct timeline *t, struct str s)
{
	struct scan scan;
	const char *why;

	if (!jmap_get(&s, &scan.before) || !jmap_get(&s, &scan.before_ns) || !jmap_get(&s, &scan.now) ||
	    !jmap_get(&s, &scan.now_ns))
		return "a scan that ends too soon";
	if (scan.now < scan.before || scan.now_ns > UINT64_MAX - scan.now || scan.before_ns > UINT64_MAX - scan.before)
		return "a scan at a time that makes no sense";
	if (scan.before == 0)
		scan.before = t->last_scan; /* pjmap began again: what it did not see it may have missed since */
	for (size_t i = t->before_first; i < t->first && t->resumed; i++) {
		if (t->blob[i].until == UINT64_MAX) { /* it was there when the run before ended */
			t->blob[i].until = t->last_scan;
			t->blob[i].may_until = scan.now + scan.now_ns;
		}
	}
	t->resumed = false;
	why = take_gone(t, &s, &scan);
	if (!why)
		why = timeline_take_new(t, &s, &scan);
	t->last_scan = scan.now + scan.now_ns;
	return why ? why : s.n ? "bytes behind a scan" : NULL;
}

/* Numbers are bounded by the bytes that tell them. */
static const char *take_inlined(struct timeline *t, struct str s)
{
	struct inlined *in = arena_new(&t->names, struct inlined, 1);
	uint64_t number, n, nruns, parent, name, delta, node, end = 0;

	if (!jmap_get(&s, &number) || number >= t->n - t->first || !jmap_get(&s, &n) || n > s.n / 2)
		return "inlined calls of code that never came, or too many";
	in->n = (uint32_t)n + 1;
	in->node = arena_new(&t->names, struct inlined_node, n + 1);
	for (uint64_t i = 1; i <= n; i++) {
		if (!jmap_get(&s, &parent) || parent >= i || !jmap_get(&s, &name) || name >= t->nnames)
			return "inlined calls that make no sense";
		in->node[i] = (struct inlined_node){ (uint32_t)parent, (uint32_t)name, NULL };
	}
	if (!jmap_get(&s, &nruns) || nruns > s.n / 2)
		return "inlined calls that make no sense";
	in->nruns = (uint32_t)nruns;
	in->run = arena_new(&t->names, struct inlined_run, nruns + 1);
	for (uint64_t i = 0; i < nruns; i++) {
		if (!jmap_get(&s, &delta) || delta > UINT64_MAX - end || !jmap_get(&s, &node) || node > n)
			return "inlined calls that make no sense";
		end += delta;
		in->run[i] = (struct inlined_run){ end, (uint32_t)node };
	}
	t->blob[t->first + number].inlined = in;
	return s.n ? "bytes behind inlined calls" : NULL;
}

static bool timeline_take_facts(struct timeline *t, struct str *s, struct walked *w)
{
	if (!blobcodec_decode(s, &w->blob, &w->runs))
		return false;
	w->runs = arena_copy(&t->names, w->runs);
	return true;
}

/* Of code that the last scan saw first. */
static const char *take_frames(struct timeline *t, struct str s)
{
	uint64_t n, number = 0, delta, size, end = 0;
	int64_t from;

	if (!jmap_get(&s, &t->call_stub) || !jmap_get(&s, &t->continuation) || !jmap_get(&s, &n))
		return "frames that end too soon";
	for (; n; n--) {
		struct walked *w = arena_new(&t->names, struct walked, 1);
		struct blob *p;

		if (!jmap_get(&s, &delta) || delta > UINT64_MAX - number || (number += delta) >= t->n - t->first)
			return "frames of code that never came";
		p = &t->blob[t->first + number];
		w->blob = (struct code_blob){ .start = p->code.start, .end = p->end };
		if (!timeline_take_facts(t, &s, w))
			return "frames that make no sense";
		p->walked = w;
	}
	if (!jmap_get(&s, &n))
		return "frames that end too soon";
	for (; n; n--) {
		struct other o = { .life = { 0, t->last_scan, UINT64_MAX, UINT64_MAX } };

		if (!jmap_get_signed(&s, &from) || !jmap_get(&s, &size) || size > UINT32_MAX ||
		    size > UINT64_MAX - (end + (uint64_t)from))
			return "frames that end too soon";
		o.walked.blob.start = end + (uint64_t)from;
		end = o.walked.blob.end = o.walked.blob.start + size;
		if (!timeline_take_facts(t, &s, &o.walked))
			return "frames that make no sense";
		t->other = mem_more(t->other, sizeof(*t->other), t->nothers);
		t->other[t->nothers++] = o;
	}
	return s.n ? "bytes behind frames" : NULL;
}

static const char *take_left(struct timeline *t, struct str s)
{
	uint64_t when, torn, unnamed;

	if (!jmap_get(&s, &when) || !jmap_get(&s, &torn) || !jmap_get(&s, &unnamed) || torn > UINT32_MAX ||
	    unnamed > UINT32_MAX)
		return "what was left out, without its numbers";
	if (torn + unnamed > t->left_out)
		t->left_out = torn + unnamed;
	return NULL;
}

static const char *take_end(struct timeline *t, struct str s)
{
	uint64_t when;

	if (!jmap_get(&s, &when))
		return "an end without a time";
	t->last_scan = when;
	return NULL;
}

/* Inlined calls refer to names by their numbers: these stay, and the table does not move any more. */
static void end_run(struct timeline *t)
{
	for (; t->named < t->n; t->named++)
		if (t->blob[t->named].inlined)
			t->blob[t->named].inlined->names = t->name;
	if (t->nnames) {
		t->former = mem_grow(t->former, sizeof(*t->former), t->nformer + 1);
		t->former[t->nformer++] = t->name;
		t->name = NULL;
	}
	t->nnames = t->names_cap = 0;
}

static const char *timeline_take(struct timeline *t, struct str body)
{
	struct str rest = str_from(body, 1);

	switch (body.p[0]) {
	case JMAP_START:
		if (!t->resumed)
			t->before_first = t->first;
		t->first = t->n;
		t->resumed = true;
		end_run(t);
		return NULL;
	case JMAP_NAMES: return take_names(t, rest);
	case JMAP_SCAN: return timeline_take_scan(t, rest);
	case JMAP_INLINED: return take_inlined(t, rest);
	case JMAP_FRAMES: return take_frames(t, rest);
	case JMAP_LEFT: return take_left(t, rest);
	case JMAP_END: return take_end(t, rest);
	default: return NULL; /* of a later version */
	}
}

static int by_start(const void *a, const void *b)
{
	const struct blob *x = a, *y = b;

	if (x->code.start != y->code.start)
		return x->code.start < y->code.start ? -1 : 1;
	return (x->code.from > y->code.from) - (x->code.from < y->code.from);
}

struct timeline *timeline_parse(struct str bytes, const char **why)
{
	struct timeline *t = mem_alloc(sizeof(*t), 1);
	struct str rest = bytes, body;
	uint64_t highest = 0;
	int got = 1;

	if (!str_starts(bytes, STR(JMAP_MAGIC))) {
		*why = "not a code timeline of pjmap";
		free(t);
		return NULL;
	}
	rest = str_from(rest, JMAP_MAGIC_BYTES);
	while (!t->why) {
		uint64_t at = bytes.n - rest.n;

		got = jmap_next(&rest, &body);
		if (got == 0)
			break;
		t->why = got < 0 ? "torn or damaged from here on" : timeline_take(t, body);
		if (t->why)
			t->bad = at;
	}
	end_run(t);
	if (t->n)
		qsort(t->blob, t->n, sizeof(*t->blob), by_start);
	for (size_t i = 0; i < t->n; i++) {
		highest = t->blob[i].end > highest ? t->blob[i].end : highest;
		t->blob[i].highest = highest;
	}
	return t;
}

struct timeline *timeline_open(int fd, const char **why)
{
	struct timeline *t = NULL;
	struct text bytes = { 0 };
	struct stat st;

	if (fstat(fd, &st) < 0 || (uint64_t)st.st_size > BYTES_MAX) {
		*why = "larger than 1 GiB";
		close(fd);
		return NULL;
	}
	if (fullio_read(fd, &bytes, BYTES_MAX) || errno == EFBIG) /* it may have grown since */
		t = timeline_parse(text_view(&bytes), why);
	else
		*why = strerror(errno);
	close(fd);
	text_free(&bytes);
	return t;
}

void timeline_close(struct timeline *t)
{
	if (!t)
		return;
	arena_free(&t->names);
	frametimes_free(t->frames);
	free(t->other);
	free(t->blob);
	free(t->name);
	for (size_t i = 0; i < t->nformer; i++)
		free(t->former[i]);
	free(t->former);
	free(t);
}

uint64_t timeline_bad(const struct timeline *t, const char **why)
{
	*why = t->why;
	return t->bad;
}

uint64_t timeline_left_out(const struct timeline *t)
{
	return t->left_out;
}

struct frametimes *timeline_frames(struct timeline *t)
{
	if (t->frames || t->nothers == 0)
		return t->frames;
	t->frames = frametimes_new();
	frametimes_returns(t->frames, t->call_stub, t->continuation);
	for (size_t i = 0; i < t->nothers; i++)
		frametimes_add(t->frames, &t->other[i].walked.blob, t->other[i].walked.runs, &t->other[i].life);
	for (size_t i = 0; i < t->n; i++) {
		const struct blob *p = &t->blob[i];
		struct frametimes_life life = { p->may_from, p->code.from, p->until, p->may_until };

		if (p->walked)
			frametimes_add(t->frames, &p->walked->blob, p->walked->runs, &life);
	}
	return t->frames;
}

size_t timeline_count(const struct timeline *t)
{
	return t->n;
}

/* ---- asking
 * --------------------------------------------------------------------------------------------------------------------
 */

static bool is_later(const struct blob *a, const struct blob *b)
{
	return !b || a->code.from > b->code.from;
}

#define DEPTH_MAX 256 /* MaxInlineLevel is 15 */

/* The code at a node: its method, and what was inlined down to there. */
static const struct jitdump_code *timeline_code_at(struct timeline *t, const struct blob *p, uint32_t node)
{
	struct inlined_node *at = &p->inlined->node[node];
	uint32_t chain[DEPTH_MAX], n = 0;
	struct text text = { 0 };

	if (at->code)
		return at->code;
	for (; node && n < DEPTH_MAX; node = p->inlined->node[node].parent)
		chain[n++] = p->inlined->node[node].name;
	while (n--) {
		text_str(&text, p->inlined->names[chain[n]]);
		if (n)
			text_char(&text, 0);
	}
	at->code = arena_new(&t->names, struct jitdump_code, 1);
	*at->code = p->code;
	at->code->inlined = arena_copy(&t->names, text_view(&text));
	text_free(&text);
	return at->code;
}

/* An address belongs to the first run that ends at or behind it. */
static const struct jitdump_code *inlined_at(struct timeline *t, const struct blob *p, uint64_t address)
{
	const struct inlined *in = p->inlined;
	uint64_t offset = address - p->code.start;
	size_t low = 0, high = in ? in->nruns : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (in->run[middle].end < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return in && low < in->nruns && in->run[low].node ? timeline_code_at(t, p, in->run[low].node) : &p->code;
}

const struct jitdump_code *timeline_find(struct timeline *t, uint64_t address, uint64_t time, enum timeline_sure *sure)
{
	const struct blob *certain = NULL, *maybe = NULL;
	size_t low = 0, high = t->n;
	unsigned may = 0;

	while (low < high) { /* the first that starts behind address */
		size_t middle = low + (high - low) / 2;

		if (t->blob[middle].code.start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (unsigned steps = 0; low-- > 0 && t->blob[low].highest > address && steps < STEPS_MAX; steps++) {
		const struct blob *p = &t->blob[low];

		if (address >= p->end)
			continue;
		if (time == 0 || (time >= p->code.from && time <= p->until)) {
			if (is_later(p, certain))
				certain = p;
		} else if (time >= p->may_from && time <= p->may_until) {
			may++;
			if (is_later(p, maybe))
				maybe = p;
		}
	}
	*sure = certain ? TIMELINE_SURE : may > 1 ? TIMELINE_AMBIGUOUS : may ? TIMELINE_LIKELY : TIMELINE_NONE;
	if (!certain)
		certain = maybe;
	return certain ? inlined_at(t, certain, address) : NULL;
}
