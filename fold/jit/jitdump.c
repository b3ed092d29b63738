/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/jit/jitdump.h"

#include "common/arena.h"
#include "common/intern.h"
#include "common/files/fullio.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC 0x4A695444u
#define MAGIC_SWAPPED 0x4454694Au
#define HEADER 40
#define PREFIX 16          /* id, size, time in front of every record */
#define LOAD (PREFIX + 40) /* the name follows */
#define MOVE (PREFIX + 48)
#define DEBUG (PREFIX + 16)  /* entries follow */
#define DEBUG_ENTRY 16       /* a file name follows */
#define UNWIND (PREFIX + 24) /* .eh_frame follows, then .eh_frame_hdr */
#define ARCH_TIMESTAMP 1u

#define FILE_LIMIT ((uint64_t)4 << 30)
#define NAME_LIMIT 8192
#define UNWIND_LIMIT ((uint64_t)1 << 20)
#define CODES_MAX ((size_t)1 << 20)
#define MEMORY_LIMIT ((size_t)256 << 20) /* for names and unwind tables, which strangers choose */

enum { CODE_LOAD, CODE_MOVE, CODE_DEBUG_INFO, CODE_CLOSE, CODE_UNWINDING_INFO };

#define NO_CODE UINT32_MAX

/* From a time on, code (or nothing any more) is at [start, last]. */
struct event {
	uint64_t time, start, last;
	uint32_t code, order;
};

/* A segment tree over the pieces into which all starts and ends cut the address space. An event stands in the few nodes
 * that cover its range exactly; nodes list events in order of time, so that the newest one that is not too new is found
 * by halves in each node above a piece. */
struct timeline {
	uint64_t *cut; /* sorted; piece i is [cut[i], cut[i+1]) */
	size_t ncuts;
	uint32_t *first; /* of 2 * ncuts nodes and the end: where the list of a node begins */
	uint32_t *list;  /* events */
};

struct window {
	int fd;
	uint64_t size, at; /* of the file; where buf begins */
	size_t n;
	char buf[64 * 1024];
};

struct jitdump {
	uint32_t pid;
	bool arch_clock;
	struct jitdump_code *code;
	size_t ncodes, cap;
	struct event *event;
	size_t nevents, events_cap;
	struct timeline line;
	struct intern names, indexes; /* an index is interned as its 8 bytes */
	uint32_t *newest;             /* by id of an index: the code that has it */
	size_t newest_cap;
	struct arena unwinds;
	size_t memory;
	uint64_t bad, first_bad;
	const char *why;
	/* what was said about the code that comes next */
	struct str unwind, debug_file;
	uint64_t debug_address;
	uint32_t debug_line;
};

/* ---- bytes ----------------------------------------------------------------------------------------------------- */

/* n bytes at offset, or NULL where the file has none; valid until the next call. */
static const char *window_get(struct window *w, uint64_t offset, size_t n)
{
	if (n > sizeof(w->buf) || offset > w->size || n > w->size - offset)
		return NULL;
	if (offset < w->at || offset + n > w->at + w->n) {
		w->at = offset;
		w->n = fullio_pread(w->fd, w->buf, sizeof(w->buf), offset);
	}
	return n <= w->n ? w->buf + (offset - w->at) : NULL;
}

/* A C string at offset that ends before end; false when it does not, or is too long. */
static bool window_string(struct window *w, uint64_t offset, uint64_t end, struct str *s)
{
	size_t n = offset < end ? (end - offset < NAME_LIMIT ? (size_t)(end - offset) : NAME_LIMIT) : 0;
	const char *p = n ? window_get(w, offset, n) : NULL;

	if (!p || !memchr(p, 0, n))
		return false;
	*s = str_of(p);
	return true;
}

static uint32_t jitdump_u32_at(const char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint64_t u64_at(const char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* ---- records --------------------------------------------------------------------------------------------------- */

struct record {
	uint64_t at, end, time; /* where it is in the file */
	uint32_t id;
};

static const char too_much[] = "more than is read of one jitdump";

static struct str jitdump_keep(struct jitdump *j, struct str s)
{
	uint32_t n = j->names.n, id = intern(&j->names, s);

	if (j->names.n > n)
		j->memory += s.n + 32;
	return intern_str(&j->names, id);
}

static void jitdump_add_event(struct jitdump *j, uint64_t time, uint64_t start, uint64_t size, uint32_t code)
{
	if (j->nevents == j->events_cap) {
		j->events_cap = j->events_cap ? j->events_cap * 2 : 1024;
		j->event = mem_grow(j->event, sizeof(*j->event), j->events_cap);
	}
	j->event[j->nevents] = (struct event){ time, start, start + (size ? size - 1 : 0), code, (uint32_t)j->nevents };
	j->nevents++;
}

/* Where the newest code with that index is kept. */
static uint32_t *jitdump_newest(struct jitdump *j, uint64_t index)
{
	uint32_t id = intern(&j->indexes, (struct str){ (const char *)&index, sizeof(index) });

	if (id >= j->newest_cap) {
		size_t had = j->newest_cap;

		j->newest_cap = had ? had * 2 : 1024;
		j->newest = mem_grow(j->newest, sizeof(*j->newest), j->newest_cap);
		memset(j->newest + had, 0xff, (j->newest_cap - had) * sizeof(*j->newest)); /* NO_CODE */
	}
	return &j->newest[id];
}

static void add_code(struct jitdump *j, const struct jitdump_code *code)
{
	if (j->ncodes == j->cap) {
		j->cap = j->cap ? j->cap * 2 : 512;
		j->code = mem_grow(j->code, sizeof(*j->code), j->cap);
	}
	j->code[j->ncodes] = *code;
	*jitdump_newest(j, code->index) = (uint32_t)j->ncodes;
	jitdump_add_event(j, code->from, code->start, code->size, (uint32_t)j->ncodes);
	j->ncodes++;
}

static bool jitdump_is_full(const struct jitdump *j)
{
	return j->ncodes >= CODES_MAX || j->memory > MEMORY_LIMIT;
}

static const char *read_load(struct jitdump *j, struct window *w, const struct record *r)
{
	const char *p = r->end - r->at >= LOAD ? window_get(w, r->at, LOAD) : NULL;
	struct jitdump_code code = { .from = r->time, .unwind = j->unwind };
	struct str name;

	j->unwind = (struct str){ 0 }; /* also when this record is bad: it was for no other */
	if (!p)
		return "record is too short for code";
	code.start = u64_at(p + PREFIX + 16);
	code.size = u64_at(p + PREFIX + 24);
	code.index = u64_at(p + PREFIX + 32);
	if (!window_string(w, r->at + LOAD, r->end, &name))
		return "name without an end";
	if (code.size > r->end - r->at - LOAD - name.n - 1)
		return "code is longer than its record";
	if (code.size > UINT64_MAX - code.start)
		return "code ends behind the last address";
	if (jitdump_is_full(j))
		return too_much;
	code.name = jitdump_keep(j, name);
	if (j->debug_line && j->debug_address == code.start) {
		code.line = j->debug_line;
		code.file = j->debug_file;
	}
	j->debug_line = 0;
	add_code(j, &code);
	return NULL;
}

static const char *read_move(struct jitdump *j, struct window *w, const struct record *r)
{
	const char *p = r->end - r->at >= MOVE ? window_get(w, r->at, MOVE) : NULL;
	struct jitdump_code code;
	uint64_t from, to;
	uint32_t at;

	if (!p)
		return "record is too short for a move";
	from = u64_at(p + PREFIX + 16);
	to = u64_at(p + PREFIX + 24);
	at = *jitdump_newest(j, u64_at(p + PREFIX + 40));
	if (at == NO_CODE || j->code[at].start != from)
		return "moves code that was not loaded";
	code = j->code[at];
	if (code.size > UINT64_MAX - to)
		return "code ends behind the last address";
	if (jitdump_is_full(j))
		return too_much;
	code.start = to;
	code.from = r->time;
	jitdump_add_event(j, r->time, from, code.size, NO_CODE);
	add_code(j, &code);
	return NULL;
}

/* Of the lines of a function only the first is kept: where it begins. */
static const char *read_debug(struct jitdump *j, struct window *w, const struct record *r)
{
	const char *p = r->end - r->at >= DEBUG ? window_get(w, r->at, DEBUG) : NULL;
	uint64_t address;
	uint32_t line;
	struct str file;

	if (!p)
		return "record is too short for lines";
	address = u64_at(p + PREFIX);
	if (u64_at(p + PREFIX + 8) == 0)
		return NULL;
	p = r->end - r->at >= DEBUG + DEBUG_ENTRY ? window_get(w, r->at + DEBUG, DEBUG_ENTRY) : NULL;
	if (!p)
		return "record is too short for lines";
	line = jitdump_u32_at(p + 8);
	if (!window_string(w, r->at + DEBUG + DEBUG_ENTRY, r->end, &file))
		return "name without an end";
	if (jitdump_is_full(j))
		return too_much;
	j->debug_address = address;
	j->debug_line = line;
	j->debug_file = jitdump_keep(j, file);
	return NULL;
}

static const char *read_unwind(struct jitdump *j, struct window *w, const struct record *r)
{
	const char *p = r->end - r->at >= UNWIND ? window_get(w, r->at, UNWIND) : NULL;
	uint64_t size, header, done = 0;
	char *copy;

	if (!p)
		return "record is too short for unwind tables";
	size = u64_at(p + PREFIX);
	header = u64_at(p + PREFIX + 8);
	if (size > r->end - r->at - UNWIND || header > size)
		return "unwind tables are longer than their record";
	size -= header;
	if (size > UNWIND_LIMIT || jitdump_is_full(j))
		return too_much;
	copy = arena_alloc(&j->unwinds, 1, size);
	j->memory += size + 16;
	while (done < size) {
		size_t n = size - done < 32 * 1024 ? (size_t)(size - done) : 32 * 1024;

		p = window_get(w, r->at + UNWIND + done, n);
		if (!p)
			return "unwind tables cannot be read";
		memcpy(copy + done, p, n);
		done += n;
	}
	j->unwind = (struct str){ copy, size };
	return NULL;
}

static void jitdump_count_bad(struct jitdump *j, uint64_t at, const char *why)
{
	if (j->bad++ == 0) {
		j->first_bad = at;
		j->why = why;
	}
}

static void jitdump_read_records(struct jitdump *j, struct window *w, uint64_t at)
{
	while (at < w->size) {
		const char *p = window_get(w, at, PREFIX), *why = NULL;
		struct record r = { .at = at };
		uint32_t size = p ? jitdump_u32_at(p + 4) : 0;

		if (!p || size > w->size - at) {
			jitdump_count_bad(j, at, "the last record is not whole");
			return;
		}
		if (size < PREFIX) { /* where the next one is, nobody knows */
			jitdump_count_bad(j, at, "record is shorter than its own head");
			return;
		}
		if (at + size > FILE_LIMIT) {
			jitdump_count_bad(j, at, too_much);
			return;
		}
		r.id = jitdump_u32_at(p);
		r.time = u64_at(p + 8);
		r.end = at + size;
		switch (r.id) { /* what is new is skipped; after CODE_CLOSE nothing should come */
		case CODE_LOAD: why = read_load(j, w, &r); break;
		case CODE_MOVE: why = read_move(j, w, &r); break;
		case CODE_DEBUG_INFO: why = read_debug(j, w, &r); break;
		case CODE_UNWINDING_INFO: why = read_unwind(j, w, &r); break;
		}
		if (why)
			jitdump_count_bad(j, at, why);
		at = r.end;
	}
}

/* ---- timeline -------------------------------------------------------------------------------------------------- */

static int u64_cmp(const void *va, const void *vb)
{
	uint64_t a = *(const uint64_t *)va, b = *(const uint64_t *)vb;

	return (a > b) - (a < b);
}

static int event_cmp(const void *va, const void *vb)
{
	const struct event *a = va, *b = vb;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

/* The piece that holds address: the last cut not behind it; -1: it lies before all. */
static ptrdiff_t blob_of(const struct timeline *t, uint64_t address)
{
	size_t lo = 0, hi = t->ncuts;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->cut[mid] <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	return (ptrdiff_t)lo - 1;
}

static void make_cuts(struct timeline *t, const struct event *e, size_t n)
{
	size_t saved = 0;

	t->cut = mem_alloc(sizeof(*t->cut), 2 * n);
	for (size_t i = 0; i < n; i++) {
		t->cut[t->ncuts++] = e[i].start;
		if (e[i].last < UINT64_MAX)
			t->cut[t->ncuts++] = e[i].last + 1;
	}
	qsort(t->cut, t->ncuts, sizeof(*t->cut), u64_cmp);
	for (size_t i = 0; i < t->ncuts; i++)
		if (i == 0 || t->cut[i] != t->cut[saved - 1])
			t->cut[saved++] = t->cut[i];
	t->ncuts = saved;
}

/* The nodes that make up the range of e: counted in place[node], or e written where place[node] says, which moves on.
 */
static void jitdump_enter(const struct timeline *t, const struct event *e, uint32_t *place, uint32_t *list,
			  uint32_t number)
{
	size_t l = (size_t)blob_of(t, e->start) + t->ncuts, r = (size_t)blob_of(t, e->last) + 1 + t->ncuts;

	for (; l < r; l /= 2, r /= 2) {
		size_t node[2] = { l & 1 ? l++ : 0, r & 1 ? --r : 0 };

		for (size_t i = 0; i < 2; i++) {
			if (!node[i])
				continue;
			if (list)
				list[place[node[i]]] = number;
			place[node[i]]++;
		}
	}
}

static void make_timeline(struct jitdump *j)
{
	struct timeline *t = &j->line;
	uint32_t *place, sum = 0;
	size_t nodes;

	if (j->nevents == 0)
		return;
	qsort(j->event, j->nevents, sizeof(*j->event), event_cmp);
	make_cuts(t, j->event, j->nevents);
	nodes = 2 * t->ncuts;
	place = mem_alloc(sizeof(*place), nodes + 1);
	t->first = mem_alloc(sizeof(*t->first), nodes + 1);
	for (size_t i = 0; i < j->nevents; i++)
		jitdump_enter(t, &j->event[i], place, NULL, 0);
	for (size_t i = 0; i < nodes; i++) { /* at most 2 million events in 2 * 22 nodes each: fits */
		uint32_t n = place[i];

		t->first[i] = place[i] = sum;
		sum += n;
	}
	t->first[nodes] = sum;
	t->list = mem_alloc(sizeof(*t->list), sum);
	for (size_t i = 0; i < j->nevents; i++)
		jitdump_enter(t, &j->event[i], place, t->list, (uint32_t)i);
	free(place);
}

/* The number, from 1, of the last event in the node's list that is not behind time; 0: none. */
static uint32_t newest_in(const struct jitdump *j, size_t node, uint64_t time)
{
	const uint32_t *list = j->line.list;
	uint32_t lo = j->line.first[node], hi = j->line.first[node + 1], from = lo;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (j->event[list[mid]].time <= time)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo > from ? list[lo - 1] + 1 : 0;
}

const struct jitdump_code *jitdump_find(const struct jitdump *j, uint64_t address, uint64_t time)
{
	ptrdiff_t blob = blob_of(&j->line, address);
	uint32_t best = 0;

	if (blob < 0)
		return NULL;
	for (size_t node = (size_t)blob + j->line.ncuts; node > 0; node /= 2) {
		uint32_t one = newest_in(j, node, time ? time : UINT64_MAX);

		best = one > best ? one : best;
	}
	if (!best || j->event[best - 1].code == NO_CODE)
		return NULL;
	return &j->code[j->event[best - 1].code];
}

/* ---- the whole ------------------------------------------------------------------------------------------------- */

static const char *jitdump_read_header(struct jitdump *j, struct window *w)
{
	const char *p = window_get(w, 0, HEADER);
	uint32_t size;

	if (!p)
		return w->size < HEADER ? "too short for a jitdump" : "cannot be read";
	if (jitdump_u32_at(p) == MAGIC_SWAPPED)
		return "jitdump of a machine of other byte order";
	if (jitdump_u32_at(p) != MAGIC)
		return "not a jitdump";
	if (jitdump_u32_at(p + 4) != 1)
		return "jitdump of a version that is not known";
	size = jitdump_u32_at(p + 8);
	if (size < HEADER || size > w->size)
		return "head is not whole";
	j->pid = jitdump_u32_at(p + 20);
	j->arch_clock = u64_at(p + 32) & ARCH_TIMESTAMP;
	jitdump_read_records(j, w, size);
	return NULL;
}

struct jitdump *jitdump_open(int fd, const char **why)
{
	struct jitdump *j = mem_alloc(sizeof(*j), 1);
	struct window *w = mem_alloc(sizeof(*w), 1);
	struct stat st;

	w->fd = fd;
	*why = fstat(fd, &st) < 0 ? strerror(errno) : S_ISREG(st.st_mode) ? NULL : "not a regular file";
	if (!*why) {
		w->size = (uint64_t)st.st_size;
		*why = jitdump_read_header(j, w);
	}
	close(fd);
	free(w);
	if (*why) {
		jitdump_close(j);
		return NULL;
	}
	make_timeline(j);
	return j;
}

uint32_t jitdump_pid(const struct jitdump *j)
{
	return j->pid;
}

bool jitdump_arch_clock(const struct jitdump *j)
{
	return j->arch_clock;
}

size_t jitdump_count(const struct jitdump *j)
{
	return j->ncodes;
}

uint64_t jitdump_bad(const struct jitdump *j, const char **why)
{
	*why = j->why;
	return j->bad;
}

uint64_t jitdump_first_bad(const struct jitdump *j)
{
	return j->first_bad;
}

void jitdump_close(struct jitdump *j)
{
	if (!j)
		return;
	free(j->code);
	free(j->event);
	free(j->line.cut);
	free(j->line.first);
	free(j->line.list);
	free(j->newest);
	intern_free(&j->names);
	intern_free(&j->indexes);
	arena_free(&j->unwinds);
	free(j);
}
