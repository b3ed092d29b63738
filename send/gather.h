/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather.h - sums the windows that a store returns to one profile, and computes which time spans a store covers.
 *
 * Both halves are receivers of a store's callbacks (struct store_sink): `gather_*` for fetch, `cover_*` for list.
 * Windows with different units are refused, not added. With a grouping (query.by) each stack gets one more frame in
 * front: its host, its time, or the value of a label.
 *
 *	struct gather g = { .q = query };
 *	const struct store_sink sink = { gather_window, gather_lines, gather_damaged, &g };
 *	if (ops->fetch(store, &g.q, &sink, &why))
 *		gather_end(&g);
 *	folded_write(&out, &g.s, 1, &g.header);
 *	gather_free(&g);
 */
#ifndef PJ_GATHER_H
#define PJ_GATHER_H

#include "common/formats/folded.h"
#include "send/store.h"

/* A filter KEY=GLOB for the first frame of a stack. A stack needs to match only one of the filters of a key. */
struct gather_only {
	enum { ONLY_COMM, ONLY_PID } key;
	struct str value;
};

/* The sum of windows. The caller sets q, only and nonly, which it owns; the rest is 0 at first. */
struct gather {
	struct store_query q;
	struct gather_only *only;
	size_t nonly;
	/* no frame in front, whatever q.by is */
	bool plain;

	/* s: sum of the stacks of all windows; header: header of that profile */
	struct stacks s;
	struct folded_header header;
	struct arena arena;
	/* start of the first and end of the last window, in s since 1970; meaningless if `windows` is 0 */
	uint64_t first, last;
	uint64_t windows, damaged, skipped;
	/* reused buffers: prefix: the frame in front of each stack, with its ';'; line: lines that passed the
	 * filters */
	struct text prefix, line;
	/* reason for which gather_window refused a window; empty: none was refused */
	char why_not[256];
};

/* Callbacks of struct store_sink; `to` is a struct gather. gather_window returns false, with why_not set, if the
 * unit of the window differs from that of the windows before. gather_damaged prints the first three damaged places. */
bool gather_window(void *to, const struct window *window);
bool gather_lines(void *to, struct str lines);
void gather_damaged(void *to, struct str place, const char *why);

/* Completes the header of the sum: time span and number of samples. Call it after the last window. */
void gather_end(struct gather *gather);
/* Frees the stacks and buffers, not the filters of the caller. */
void gather_free(struct gather *gather);

/* ---- each window by itself -------------------------------------------------------------------------------------- */

/* Writes each window that a store returns to a file of its own, dir/EPOCH-N.folded. N counts them from 1. The caller
 * sets dir, an existing folder, and gather with q.by == BY_TIME and plain, so that stores do not add windows up. */
struct each {
	const char *dir;
	struct gather *gather;
	uint64_t n;
	/* start of the window that is being gathered; meaningless if n is 0 */
	uint64_t epoch;
};

/* Callbacks of struct store_sink; `to` is a struct each. They end the process if a file cannot be written. */
bool each_window(void *to, const struct window *window);
bool each_lines(void *to, struct str lines);
void each_damaged(void *to, struct str place, const char *why);
/* Writes the last window. To be called once, after the last callback. */
void each_end(struct each *each);

/* ---- coverage of a store --------------------------------------------------------------------------------------- */

/* Time spans for which a store holds windows. {0} at first. */
struct coverage {
	struct arena arena;
	/* windows of one stream of one host. first, last: start and end in s since 1970; windows: their number;
	 * longest: length of the longest in s */
	struct coverage_row {
		struct str host, event, unit, labels;
		uint64_t stream, first, last, windows, seconds, longest;
		/* start of the last window */
		uint64_t newest;
		/* the store does not have the ends of windows: there are no gaps, and `last` is the last known start */
		bool endless;
		/* half-open spans in s since 1970, in order, disjoint */
		struct coverage_span {
			uint64_t from, to;
		} * span;
		size_t nspan;
	} * row;
	size_t n;
	uint64_t damaged;
};

/* Callbacks of struct store_sink; `to` is a struct coverage. A store delivers windows by host, then by epoch.
 * Windows at most 1 s apart extend the same span. cover_damaged prints the first three damaged places. */
bool cover_window(void *to, const struct window *window);
void cover_damaged(void *to, struct str place, const char *why);
/* True if a stream has a window of at least an hour, as roll-ups are. */
bool cover_has_hours(const struct coverage *coverage);
/* Sets the starts of the first and the last window. Returns false if there are none. */
bool cover_span(const struct coverage *coverage, uint64_t *first, uint64_t *last);
/* Prints a table: a line for each stream, and a line for each gap below it. An unknown end is `-`. */
void cover_print(const struct coverage *coverage, struct out *out);
/* True if a host has a gap within the query's time range, which ends at `now` (s since 1970) at the latest.
 * print_message: prints a warning for each host with a gap, and for each host whose roll-ups make the result longer
 * than the query. */
bool cover_gaps(const struct coverage *coverage, const struct store_query *query, uint64_t now, bool print_message);
void cover_free(struct coverage *coverage);

#endif
