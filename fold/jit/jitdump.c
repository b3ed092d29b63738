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
/* Size in bytes of the start of every record: id, size and time. */
#define PREFIX 16
/* Size in bytes of the part of a CODE_LOAD record that precedes the name of the code. */
#define LOAD (PREFIX + 40)
#define MOVE (PREFIX + 48)
/* Size in bytes of the part of a DEBUG_INFO record that precedes its entries. */
#define DEBUG (PREFIX + 16)
/* Size in bytes of the part of a DEBUG_INFO entry that precedes the file name of the entry. */
#define DEBUG_ENTRY 16
/* Size in bytes of the part of an UNWINDING_INFO record that precedes its unwind tables: .eh_frame, then
 * .eh_frame_hdr. */
#define UNWIND (PREFIX + 24)
#define ARCH_TIMESTAMP 1u

#define FILE_LIMIT ((uint64_t)4 << 30)
#define NAME_LIMIT 8192
#define UNWIND_LIMIT ((uint64_t)1 << 20)
#define CODES_MAX ((size_t)1 << 20)
/* Maximum sum in bytes of all names and unwind tables of a jitdump; a record beyond it is an error. The target process
 * chooses their sizes. */
#define MEMORY_LIMIT ((size_t)256 << 20)

enum { CODE_LOAD, CODE_MOVE, CODE_DEBUG_INFO, CODE_CLOSE, CODE_UNWINDING_INFO };

#define NO_CODE UINT32_MAX

/* Change of the code at addresses [start, last]. time: time of the change in ns. code: index in jitdump.code of the
 * code that is at these addresses from then on; NO_CODE: no code. order: number of the event in the file, from 0. */
struct event {
	uint64_t time, start, last;
	uint32_t code, order;
};

/* Index of events by address and time: a segment tree over the elementary intervals between all starts and ends of
 * events. Each event is in the few nodes that together cover its range. Each node lists its events in order of time. A
 * lookup does a binary search by time in the leaf node of the address and in all its ancestors. */
struct timeline {
	/* Sorted borders of the intervals, in addresses: interval i is [cut[i], cut[i + 1]). */
	uint64_t *cut;
	size_t ncuts;
	/* By node (2 * ncuts nodes): index in `list` of the first event of the node. One more element has the length of
	 * `list`. */
	uint32_t *first;
	/* Indexes in jitdump.event of the events, grouped by node; events of one node are in order of time. */
	uint32_t *list;
};

/* Buffer with a part of the file. */
struct window {
	int fd;
	/* size: size of the file in bytes. at: offset in the file of `buf`, which has n bytes. */
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
	/* Times in ns of the CODE_CLOSE records, each of which ends the code that was loaded before it; sorted after
	 * all records are read. */
	uint64_t *closed;
	size_t nclosed;
	/* true: code was added after the last CODE_CLOSE record, so the next CODE_CLOSE record ends code */
	bool open;
	struct timeline line;
	/* names: interned names, files and unwind tables. indexes: interned code indexes, 8 bytes each. */
	struct intern names, indexes;
	/* By id in `indexes`: index in `code` of the newest code with this code index; NO_CODE: none. */
	uint32_t *newest;
	size_t newest_cap;
	size_t memory;
	uint64_t bad, first_bad;
	const char *why;
	/* unwind: contents of the latest UNWINDING_INFO record; debug_file, debug_address and debug_line: of the latest
	 * DEBUG_INFO record. Both records precede the CODE_LOAD record that they describe. debug_line is 0 if there was
	 * no DEBUG_INFO record. */
	struct str unwind, debug_file;
	uint64_t debug_address;
	uint32_t debug_line;
};

/* ---- buffered reading of the file ------------------------------------------------------------------------------ */

/* Returns n bytes of the file at `offset`, valid until the next call; NULL if the file ends before offset + n, or if n
 * is larger than the buffer. */
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

/* Sets *string to the C string at offset `offset` of the file. Returns false if the string does not end before offset
 * `end`, or if the string is longer than NAME_LIMIT. */
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

/* ---- reading of records ---------------------------------------------------------------------------------------- */

struct record {
	/* at, end: offsets in the file of the record and of its end. time: time of the record in ns. */
	uint64_t at, end, time;
	uint32_t id;
};

static const char too_much[] = "exceeds the limit for one jitdump";

/* Returns an interned copy of a string. Adds the size of a new string to jitdump->memory. */
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

/* Returns a pointer to the element of `newest` for a code index; the element is NO_CODE if no code has this index. */
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
	jitdump->open = true;
	jitdump_add_event(jitdump, code->from, code->start, code->size, (uint32_t)jitdump->ncodes);
	jitdump->ncodes++;
}

static bool jitdump_is_full(const struct jitdump *jitdump)
{
	return jitdump->ncodes >= CODES_MAX || jitdump->memory > MEMORY_LIMIT;
}

/* Reads a CODE_LOAD record: new code, with the unwind tables and the line from the records before it. Returns NULL, or
 * the error. */
static const char *read_load(struct jitdump *jitdump, struct window *window, const struct record *record)
{
	const char *p = record->end - record->at >= LOAD ? window_get(window, record->at, LOAD) : NULL;
	struct jit_code code = { .from = record->time, .unwind = jitdump->unwind };
	uint32_t line = jitdump->debug_line;
	struct str name;

	/* The unwind tables and the line describe this CODE_LOAD record only: drop them even if the record is invalid.
	 */
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

/* Reads a CODE_MOVE record: from the time of the record on, code that was loaded before is at a new address. Returns
 * NULL, or the error. */
static const char *read_move(struct jitdump *jitdump, struct window *window, const struct record *record)
{
	const char *p = record->end - record->at >= MOVE ? window_get(window, record->at, MOVE) : NULL;
	struct jit_code code;
	uint64_t from, to, index;
	uint32_t at, id;

	if (!p)
		return "record is too short for a move";
	from = u64_at(p + PREFIX + 16);
	to = u64_at(p + PREFIX + 24);
	index = u64_at(p + PREFIX + 40);
	/* an index without code is not stored: it has no part in the limit of memory */
	id = intern_find(&jitdump->indexes, (struct str){ (const char *)&index, sizeof(index) });
	at = id ? jitdump->newest[id] : NO_CODE;
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

/* Reads a CODE_CLOSE record: the runtime ends, so its memory may hold other code from then on, which the file does not
 * describe. At most one CODE_CLOSE is stored for each loaded code. */
static void read_close(struct jitdump *jitdump, const struct record *record)
{
	if (!jitdump->open)
		return;
	jitdump->open = false;
	jitdump->closed = mem_more(jitdump->closed, sizeof(*jitdump->closed), jitdump->nclosed);
	jitdump->closed[jitdump->nclosed++] = record->time;
}

/* Reads a DEBUG_INFO record: line and file for the next CODE_LOAD. Only the first entry is used, which describes the
 * start of the function. Returns NULL, or the error. */
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

/* Reads an UNWINDING_INFO record: the .eh_frame section for the next CODE_LOAD. Returns NULL, or the error. */
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

/* Reads all records from file offset `at` on, and counts invalid records. Stops at a record with an invalid size, since
 * the start of the next record is unknown. */
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
		/* Record types that later versions of the format define are skipped. */
		switch (record.id) {
		case CODE_LOAD: why = read_load(jitdump, window, &record); break;
		case CODE_MOVE: why = read_move(jitdump, window, &record); break;
		case CODE_DEBUG_INFO: why = read_debug(jitdump, window, &record); break;
		case CODE_CLOSE: read_close(jitdump, &record); break;
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

/* Visits the few nodes that together cover the address range of an event, and increments place[node] for each of these
 * nodes. If `list` is not NULL, first stores `number`, the index of the event, in list[place[node]]. */
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

/* Builds the index of events: counts the events of each node, then fills the lists. */
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
	/* `sum` does not overflow: there are at most 2 million events, each in at most 2 * 22 nodes. */
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

/* Returns the index in jitdump.event, plus 1, of the node's latest event at or before `time`; 0 if there is none. */
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

/* Returns true if the runtime ended after it had loaded the code, and at or before `time`; false if the code was still
 * loaded at `time`. */
static bool jitdump_is_closed(const struct jitdump *jitdump, const struct jit_code *code, uint64_t time)
{
	size_t low = 0, high = jitdump->nclosed;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (jitdump->closed[mid] <= code->from)
			low = mid + 1;
		else
			high = mid;
	}
	return low < jitdump->nclosed && jitdump->closed[low] <= time;
}

const struct jit_code *jitdump_find(const struct jitdump *jitdump, uint64_t address, uint64_t time)
{
	ptrdiff_t blob = blob_of(&jitdump->line, address);
	const struct jit_code *code;
	uint32_t best = 0;

	if (blob < 0)
		return NULL;
	for (size_t node = (size_t)blob + jitdump->line.ncuts; node > 0; node /= 2) {
		uint32_t one = newest_in(jitdump, node, time ? time : UINT64_MAX);

		best = one > best ? one : best;
	}
	if (!best || jitdump->event[best - 1].code == NO_CODE)
		return NULL;
	code = &jitdump->code[jitdump->event[best - 1].code];
	return jitdump_is_closed(jitdump, code, time) ? NULL : code;
}

/* ---- opening and lookup ------------------------------------------------------------------------------------------ */

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
	if (jitdump->nclosed)
		qsort(jitdump->closed, jitdump->nclosed, sizeof(*jitdump->closed), u64_cmp);
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
	free(jitdump->closed);
	free(jitdump->line.cut);
	free(jitdump->line.first);
	free(jitdump->line.list);
	free(jitdump->newest);
	intern_free(&jitdump->names);
	intern_free(&jitdump->indexes);
	free(jitdump);
}
