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
/* Length in bytes of the start of every record: id, size and time. */
#define PREFIX 16
/* Length in bytes of a CODE_LOAD record before the name of its code. */
#define LOAD (PREFIX + 40)
#define MOVE (PREFIX + 48)
/* Length in bytes of a DEBUG_INFO record before its entries. */
#define DEBUG (PREFIX + 16)
/* Length in bytes of an entry of DEBUG_INFO before its file name. */
#define DEBUG_ENTRY 16
/* Length in bytes of an UNWINDING_INFO record before its .eh_frame; .eh_frame_hdr follows .eh_frame. */
#define UNWIND (PREFIX + 24)
#define ARCH_TIMESTAMP 1u

#define FILE_LIMIT ((uint64_t)4 << 30)
#define NAME_LIMIT 8192
#define UNWIND_LIMIT ((uint64_t)1 << 20)
#define CODES_MAX ((size_t)1 << 20)
/* Maximum size in bytes of all names and unwind tables of a jitdump; the target process controls their size. */
#define MEMORY_LIMIT ((size_t)256 << 20)

enum { CODE_LOAD, CODE_MOVE, CODE_DEBUG_INFO, CODE_CLOSE, CODE_UNWINDING_INFO };

#define NO_CODE UINT32_MAX

/* Change of the code at addresses [start, last]: from `time` on, it is `code`, an index in jitdump.code; NO_CODE: no
 * code. order: number of the event in the file. */
struct event {
	uint64_t time, start, last;
	uint32_t code, order;
};

/* Index of events by address and time: a segment tree over the elementary intervals between all starts and ends of
 * events. An event is entered into the few nodes that together cover its range. Each node lists its events in order of
 * time. A lookup does a binary search by time in each node above the interval of the address. */
struct timeline {
	/* Sorted addresses between the intervals; interval i is [cut[i], cut[i + 1]). */
	uint64_t *cut;
	size_t ncuts;
	/* By node, 2 * ncuts of them: index in `list` of its first event; then the length of `list`. */
	uint32_t *first;
	/* Indexes in jitdump.event of the events of all nodes; those of one node are in order of time. */
	uint32_t *list;
};

/* Part of the file in memory. */
struct window {
	int fd;
	/* Size of the file; offset in the file of the n bytes in `buf`. */
	uint64_t size, at;
	size_t n;
	char buf[64 * 1024];
};

struct jitdump {
	uint32_t pid;
	bool arch_clock;
	struct jit_code *code;
	size_t ncodes, cap;
	struct event *event;
	size_t nevents, events_cap;
	struct timeline line;
	/* Interned names, files and unwind tables; interned code indexes (8 bytes each). */
	struct intern names, indexes;
	/* By id in `indexes`: index in `code` of the newest code with that code index; NO_CODE: none. */
	uint32_t *newest;
	size_t newest_cap;
	size_t memory;
	uint64_t bad, first_bad;
	const char *why;
	/* Contents of the latest UNWINDING_INFO and DEBUG_INFO records, which precede the CODE_LOAD that they describe.
	 * debug_line 0: no DEBUG_INFO. */
	struct str unwind, debug_file;
	uint64_t debug_address;
	uint32_t debug_line;
};

/* ---- bytes ----------------------------------------------------------------------------------------------------- */

/* Returns n bytes of the file at `offset`, valid until the next call; NULL if they are beyond its end or too many. */
static const char *window_get(struct window *window, uint64_t offset, size_t n)
{
	if (n > sizeof(window->buf) || offset > window->size || n > window->size - offset)
		return NULL;
	if (offset < window->at || offset + n > window->at + window->n) {
		window->at = offset;
		window->n = fullio_pread(window->fd, window->buf, sizeof(window->buf), offset);
	}
	return n <= window->n ? window->buf + (offset - window->at) : NULL;
}

/* Sets *string to the C string at `offset` of the file. Returns false if it does not end before offset `end`, or if it
 * is longer than NAME_LIMIT. */
static bool window_string(struct window *window, uint64_t offset, uint64_t end, struct str *string)
{
	size_t n = offset < end ? (end - offset < NAME_LIMIT ? (size_t)(end - offset) : NAME_LIMIT) : 0;
	const char *p = n ? window_get(window, offset, n) : NULL;

	if (!p || !memchr(p, 0, n))
		return false;
	*string = str_of(p);
	return true;
}

static uint32_t jitdump_u32_at(const char *p)
{
	uint32_t value;

	memcpy(&value, p, sizeof(value));
	return value;
}

static uint64_t u64_at(const char *p)
{
	uint64_t value;

	memcpy(&value, p, sizeof(value));
	return value;
}

/* ---- records --------------------------------------------------------------------------------------------------- */

struct record {
	/* Offsets in the file of the record and of its end; its time in ns. */
	uint64_t at, end, time;
	uint32_t id;
};

static const char too_much[] = "exceeds the limit for one jitdump";

/* Returns an interned copy of a string, and adds its size to jitdump->memory. */
static struct str jitdump_keep(struct jitdump *jitdump, struct str string)
{
	uint32_t n = jitdump->names.n, id = intern(&jitdump->names, string);

	if (jitdump->names.n > n)
		jitdump->memory += string.n + 32;
	return intern_str(&jitdump->names, id);
}

static void jitdump_add_event(struct jitdump *jitdump, uint64_t time, uint64_t start, uint64_t size, uint32_t code)
{
	if (jitdump->nevents == jitdump->events_cap) {
		jitdump->events_cap = jitdump->events_cap ? jitdump->events_cap * 2 : 1024;
		jitdump->event = mem_grow(jitdump->event, sizeof(*jitdump->event), jitdump->events_cap);
	}
	jitdump->event[jitdump->nevents] =
		(struct event){ time, start, start + (size ? size - 1 : 0), code, (uint32_t)jitdump->nevents };
	jitdump->nevents++;
}

/* Returns the element of `newest` for a code index; it is NO_CODE if no code has that index. */
static uint32_t *jitdump_newest(struct jitdump *jitdump, uint64_t index)
{
	uint32_t id = intern(&jitdump->indexes, (struct str){ (const char *)&index, sizeof(index) });

	if (id >= jitdump->newest_cap) {
		size_t had = jitdump->newest_cap;

		jitdump->newest_cap = had ? had * 2 : 1024;
		jitdump->newest = mem_grow(jitdump->newest, sizeof(*jitdump->newest), jitdump->newest_cap);
		/* Set the new elements to NO_CODE. */
		memset(jitdump->newest + had, 0xff, (jitdump->newest_cap - had) * sizeof(*jitdump->newest));
	}
	return &jitdump->newest[id];
}

static void add_code(struct jitdump *jitdump, const struct jit_code *code)
{
	if (jitdump->ncodes == jitdump->cap) {
		jitdump->cap = jitdump->cap ? jitdump->cap * 2 : 512;
		jitdump->code = mem_grow(jitdump->code, sizeof(*jitdump->code), jitdump->cap);
	}
	jitdump->code[jitdump->ncodes] = *code;
	*jitdump_newest(jitdump, code->index) = (uint32_t)jitdump->ncodes;
	jitdump_add_event(jitdump, code->from, code->start, code->size, (uint32_t)jitdump->ncodes);
	jitdump->ncodes++;
}

static bool jitdump_is_full(const struct jitdump *jitdump)
{
	return jitdump->ncodes >= CODES_MAX || jitdump->memory > MEMORY_LIMIT;
}

/* Reads CODE_LOAD: new code, with the unwind tables and the line of the records before. Returns NULL, or the error. */
static const char *read_load(struct jitdump *jitdump, struct window *window, const struct record *record)
{
	const char *p = record->end - record->at >= LOAD ? window_get(window, record->at, LOAD) : NULL;
	struct jit_code code = { .from = record->time, .unwind = jitdump->unwind };
	uint32_t line = jitdump->debug_line;
	struct str name;

	/* The unwind tables and the line belong to this record only, even if this record is invalid. */
	jitdump->unwind = (struct str){ 0 };
	jitdump->debug_line = 0;
	if (!p)
		return "record is too short for code";
	code.start = u64_at(p + PREFIX + 16);
	code.size = u64_at(p + PREFIX + 24);
	code.index = u64_at(p + PREFIX + 32);
	if (!window_string(window, record->at + LOAD, record->end, &name))
		return "unterminated name";
	if (code.size > record->end - record->at - LOAD - name.n - 1)
		return "code is longer than its record";
	if (code.size > UINT64_MAX - code.start)
		return "code ends after the last address";
	if (jitdump_is_full(jitdump))
		return too_much;
	code.name = jitdump_keep(jitdump, name);
	if (line && jitdump->debug_address == code.start) {
		code.line = line;
		code.file = jitdump->debug_file;
	}
	add_code(jitdump, &code);
	return NULL;
}

/* Reads CODE_MOVE: code that was loaded is at a new address from the record's time on. Returns NULL, or the error. */
static const char *read_move(struct jitdump *jitdump, struct window *window, const struct record *record)
{
	const char *p = record->end - record->at >= MOVE ? window_get(window, record->at, MOVE) : NULL;
	struct jit_code code;
	uint64_t from, to;
	uint32_t at;

	if (!p)
		return "record is too short for a move";
	from = u64_at(p + PREFIX + 16);
	to = u64_at(p + PREFIX + 24);
	at = *jitdump_newest(jitdump, u64_at(p + PREFIX + 40));
	if (at == NO_CODE || jitdump->code[at].start != from)
		return "moves code that was not loaded";
	code = jitdump->code[at];
	if (code.size > UINT64_MAX - to)
		return "code ends after the last address";
	if (jitdump_is_full(jitdump))
		return too_much;
	code.start = to;
	code.from = record->time;
	jitdump_add_event(jitdump, record->time, from, code.size, NO_CODE);
	add_code(jitdump, &code);
	return NULL;
}

/* Reads DEBUG_INFO: the line and file of the next CODE_LOAD. Only the first entry, the start of the function, is used.
 * Returns NULL, or the error. */
static const char *read_debug(struct jitdump *jitdump, struct window *window, const struct record *record)
{
	const char *p = record->end - record->at >= DEBUG ? window_get(window, record->at, DEBUG) : NULL;
	uint64_t address;
	uint32_t line;
	struct str file;

	if (!p)
		return "record is too short for lines";
	address = u64_at(p + PREFIX);
	if (u64_at(p + PREFIX + 8) == 0)
		return NULL;
	p = record->end - record->at >= DEBUG + DEBUG_ENTRY ? window_get(window, record->at + DEBUG, DEBUG_ENTRY) :
							      NULL;
	if (!p)
		return "record is too short for lines";
	line = jitdump_u32_at(p + 8);
	if (!window_string(window, record->at + DEBUG + DEBUG_ENTRY, record->end, &file))
		return "unterminated name";
	if (jitdump_is_full(jitdump))
		return too_much;
	jitdump->debug_address = address;
	jitdump->debug_line = line;
	jitdump->debug_file = jitdump_keep(jitdump, file);
	return NULL;
}

/* Reads UNWINDING_INFO: the .eh_frame of the next CODE_LOAD. Returns NULL, or the error. */
static const char *read_unwind(struct jitdump *jitdump, struct window *window, const struct record *record)
{
	const char *p = record->end - record->at >= UNWIND ? window_get(window, record->at, UNWIND) : NULL;
	uint64_t size, header, done = 0;
	const char *why = NULL;
	char *copy;

	if (!p)
		return "record is too short for unwind tables";
	size = u64_at(p + PREFIX);
	header = u64_at(p + PREFIX + 8);
	if (size > record->end - record->at - UNWIND || header > size)
		return "unwind tables are longer than their record";
	size -= header;
	if (size > UNWIND_LIMIT || jitdump_is_full(jitdump))
		return too_much;
	copy = mem_alloc(1, size);
	while (done < size && !why) {
		size_t n = size - done < 32 * 1024 ? (size_t)(size - done) : 32 * 1024;

		p = window_get(window, record->at + UNWIND + done, n);
		if (p)
			memcpy(copy + done, p, n);
		else
			why = "unreadable unwind tables";
		done += n;
	}
	if (!why)
		jitdump->unwind = jitdump_keep(jitdump, (struct str){ copy, size });
	free(copy);
	return why;
}

static void jitdump_count_bad(struct jitdump *jitdump, uint64_t at, const char *why)
{
	if (jitdump->bad++ == 0) {
		jitdump->first_bad = at;
		jitdump->why = why;
	}
}

/* Reads all records from offset `at` on, and counts invalid ones. Stops at a record whose size is invalid, since the
 * start of the next one is unknown. */
static void jitdump_read_records(struct jitdump *jitdump, struct window *window, uint64_t at)
{
	while (at < window->size) {
		const char *p = window_get(window, at, PREFIX), *why = NULL;
		struct record record = { .at = at };
		uint32_t size = p ? jitdump_u32_at(p + 4) : 0;

		if (!p || size > window->size - at) {
			jitdump_count_bad(jitdump, at, "incomplete last record");
			return;
		}
		/* The size is invalid, so the start of the next record is unknown. */
		if (size < PREFIX) {
			jitdump_count_bad(jitdump, at, "record is shorter than its header");
			return;
		}
		if (at + size > FILE_LIMIT) {
			jitdump_count_bad(jitdump, at, too_much);
			return;
		}
		record.id = jitdump_u32_at(p);
		record.time = u64_at(p + 8);
		record.end = at + size;
		/* Record types of later versions, and CODE_CLOSE, are skipped. */
		switch (record.id) {
		case CODE_LOAD: why = read_load(jitdump, window, &record); break;
		case CODE_MOVE: why = read_move(jitdump, window, &record); break;
		case CODE_DEBUG_INFO: why = read_debug(jitdump, window, &record); break;
		case CODE_UNWINDING_INFO: why = read_unwind(jitdump, window, &record); break;
		}
		if (why)
			jitdump_count_bad(jitdump, at, why);
		at = record.end;
	}
}

/* ---- index of events --------------------------------------------------------------------------------------------- */

static int u64_cmp(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

static int event_cmp(const void *left, const void *right)
{
	const struct event *event = left, *b = right;

	if (event->time != b->time)
		return event->time < b->time ? -1 : 1;
	return (event->order > b->order) - (event->order < b->order);
}

/* Returns the index of the interval that contains `address`; -1 if the address is before all intervals. */
static ptrdiff_t blob_of(const struct timeline *timeline, uint64_t address)
{
	size_t low = 0, high = timeline->ncuts;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (timeline->cut[mid] <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return (ptrdiff_t)low - 1;
}

static void make_cuts(struct timeline *timeline, const struct event *event, size_t n)
{
	size_t retained = 0;

	timeline->cut = mem_alloc(sizeof(*timeline->cut), 2 * n);
	for (size_t i = 0; i < n; i++) {
		timeline->cut[timeline->ncuts++] = event[i].start;
		if (event[i].last < UINT64_MAX)
			timeline->cut[timeline->ncuts++] = event[i].last + 1;
	}
	qsort(timeline->cut, timeline->ncuts, sizeof(*timeline->cut), u64_cmp);
	for (size_t i = 0; i < timeline->ncuts; i++)
		if (i == 0 || timeline->cut[i] != timeline->cut[retained - 1])
			timeline->cut[retained++] = timeline->cut[i];
	timeline->ncuts = retained;
}

/* Enters an event into the few nodes that together cover its address range. Increments place[node] of each such node;
 * with `list`, first writes `number`, the index of the event, to list[place[node]]. */
static void jitdump_enter(const struct timeline *timeline, const struct event *event, uint32_t *place, uint32_t *list,
			  uint32_t number)
{
	size_t l = (size_t)blob_of(timeline, event->start) + timeline->ncuts,
	       r = (size_t)blob_of(timeline, event->last) + 1 + timeline->ncuts;

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

/* Builds the index: counts the events of each node, then writes the lists. */
static void make_timeline(struct jitdump *jitdump)
{
	struct timeline *timeline = &jitdump->line;
	uint32_t *place, sum = 0;
	size_t nodes;

	if (jitdump->nevents == 0)
		return;
	qsort(jitdump->event, jitdump->nevents, sizeof(*jitdump->event), event_cmp);
	make_cuts(timeline, jitdump->event, jitdump->nevents);
	nodes = 2 * timeline->ncuts;
	place = mem_alloc(sizeof(*place), nodes + 1);
	timeline->first = mem_alloc(sizeof(*timeline->first), nodes + 1);
	for (size_t i = 0; i < jitdump->nevents; i++)
		jitdump_enter(timeline, &jitdump->event[i], place, NULL, 0);
	/* `sum` does not overflow: at most 2 million events, each in at most 2 * 22 nodes. */
	for (size_t i = 0; i < nodes; i++) {
		uint32_t n = place[i];

		timeline->first[i] = place[i] = sum;
		sum += n;
	}
	timeline->first[nodes] = sum;
	timeline->list = mem_alloc(sizeof(*timeline->list), sum);
	for (size_t i = 0; i < jitdump->nevents; i++)
		jitdump_enter(timeline, &jitdump->event[i], place, timeline->list, (uint32_t)i);
	free(place);
}

/* Returns 1 + the index in jitdump.event of the node's latest event at or before `time`; 0 if there is none. */
static uint32_t newest_in(const struct jitdump *jitdump, size_t node, uint64_t time)
{
	const uint32_t *list = jitdump->line.list;
	uint32_t low = jitdump->line.first[node], high = jitdump->line.first[node + 1], from = low;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (jitdump->event[list[mid]].time <= time)
			low = mid + 1;
		else
			high = mid;
	}
	return low > from ? list[low - 1] + 1 : 0;
}

const struct jit_code *jitdump_find(const struct jitdump *jitdump, uint64_t address, uint64_t time)
{
	ptrdiff_t blob = blob_of(&jitdump->line, address);
	uint32_t best = 0;

	if (blob < 0)
		return NULL;
	for (size_t node = (size_t)blob + jitdump->line.ncuts; node > 0; node /= 2) {
		uint32_t one = newest_in(jitdump, node, time ? time : UINT64_MAX);

		best = one > best ? one : best;
	}
	if (!best || jitdump->event[best - 1].code == NO_CODE)
		return NULL;
	return &jitdump->code[jitdump->event[best - 1].code];
}

/* ---- interface --------------------------------------------------------------------------------------------------- */

static const char *jitdump_read_header(struct jitdump *jitdump, struct window *window)
{
	const char *p = window_get(window, 0, HEADER);
	uint32_t size;

	if (!p)
		return window->size < HEADER ? "too short for a jitdump" : "cannot be read";
	if (jitdump_u32_at(p) == MAGIC_SWAPPED)
		return "jitdump of the other byte order";
	if (jitdump_u32_at(p) != MAGIC)
		return "not a jitdump";
	if (jitdump_u32_at(p + 4) != 1)
		return "jitdump of an unknown version";
	size = jitdump_u32_at(p + 8);
	if (size < HEADER || size > window->size)
		return "incomplete header";
	jitdump->pid = jitdump_u32_at(p + 20);
	jitdump->arch_clock = u64_at(p + 32) & ARCH_TIMESTAMP;
	jitdump_read_records(jitdump, window, size);
	return NULL;
}

struct jitdump *jitdump_open(int fd, const char **why)
{
	struct jitdump *jitdump = mem_alloc(sizeof(*jitdump), 1);
	struct window *window = mem_alloc(sizeof(*window), 1);
	struct stat status;

	window->fd = fd;
	*why = fstat(fd, &status) < 0 ? strerror(errno) : S_ISREG(status.st_mode) ? NULL : "not a regular file";
	if (!*why) {
		window->size = (uint64_t)status.st_size;
		*why = jitdump_read_header(jitdump, window);
	}
	close(fd);
	free(window);
	if (*why) {
		jitdump_close(jitdump);
		return NULL;
	}
	make_timeline(jitdump);
	return jitdump;
}

uint32_t jitdump_pid(const struct jitdump *jitdump)
{
	return jitdump->pid;
}

bool jitdump_arch_clock(const struct jitdump *jitdump)
{
	return jitdump->arch_clock;
}

size_t jitdump_count(const struct jitdump *jitdump)
{
	return jitdump->ncodes;
}

uint64_t jitdump_bad(const struct jitdump *jitdump, const char **why)
{
	*why = jitdump->why;
	return jitdump->bad;
}

uint64_t jitdump_first_bad(const struct jitdump *jitdump)
{
	return jitdump->first_bad;
}

void jitdump_close(struct jitdump *jitdump)
{
	if (!jitdump)
		return;
	free(jitdump->code);
	free(jitdump->event);
	free(jitdump->line.cut);
	free(jitdump->line.first);
	free(jitdump->line.list);
	free(jitdump->newest);
	intern_free(&jitdump->names);
	intern_free(&jitdump->indexes);
	free(jitdump);
}
