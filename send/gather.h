/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather.h - adds up the windows that a store returns, and computes for which time spans a store holds windows.
 *
 * Both parts are receivers of a store's results (struct store_sink): `gather_*` for fetch, `cover_*` for list. Windows
 * with different units are refused, not added. With a grouping (query.by) each stack gets one more outermost frame: its
 * host, its time, or the value of a label.
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

/* A filter KEY=GLOB for the first frame of a stack, its process. Filters of one key are alternatives; a stack must
 * match one filter of each key. */
struct gather_only {
	enum { ONLY_COMM, ONLY_PID } key;
	struct str value;
};

/* A sum of windows. The caller sets q, only and nonly, and continues to own their memory; the rest is 0 at first. */
struct gather {
	struct store_query q;
	struct gather_only *only;
	size_t nonly;
	/* true if stacks get no additional frame, regardless of q.by */
	bool plain;

	/* s: sum of the stacks of all windows; header: header of the resulting profile */
	struct stacks s;
	struct folded_header header;
	struct arena arena;
	/* start of the first window and end of the last one, in s since 1970; undefined if `windows` is 0 */
	uint64_t first, last;
	/* numbers of windows that were added, of reports of damaged data, and of lines that are no stacks */
	uint64_t windows, damaged, skipped;
	/* reused buffers; prefix: additional frame of the current window's stacks, with its ';'; line: lines that
	 * passed the filters */
	struct text prefix, line;
	/* reason why gather_window refused a window; empty if it refused none */
	char why_not[256];
};

/* Callbacks of struct store_sink; `to` is a struct gather. gather_window returns false and sets why_not if the unit of
 * the window differs from the unit of earlier windows. gather_lines adds stack lines to the sum. gather_damaged prints
 * a warning for the first three calls only. */
bool gather_window(void *to, const struct window *window);
bool gather_lines(void *to, struct str lines);
void gather_damaged(void *to, struct str place, const char *why);

/* Completes the header of the sum: time span and number of samples. Call it once, after the last window. */
void gather_end(struct gather *gather);
/* Frees the stacks and buffers, but not the caller's filters. */
void gather_free(struct gather *gather);

/* ---- each window in a file of its own --------------------------------------------------------------------------- */

/* A receiver that writes each window of a store to a file of its own, dir/EPOCH-N.folded, where N counts the files from
 * 1. The caller sets dir, an existing folder, and gather with `plain` and q.by == BY_TIME, so that stores do not add
 * windows up. */
struct each {
	const char *dir;
	struct gather *gather;
	/* number of windows so far, including the one in `gather` */
	uint64_t n;
	/* start in s since 1970 of the window in `gather`; undefined if n is 0 */
	uint64_t epoch;
};

/* Callbacks of struct store_sink; `to` is a struct each. They exit with a message if a file cannot be written. */
bool each_window(void *to, const struct window *window);
bool each_lines(void *to, struct str lines);
void each_damaged(void *to, struct str place, const char *why);
/* Writes the file of the last window. Call it once, after the last callback. */
void each_end(struct each *each);

/* ---- coverage of a store --------------------------------------------------------------------------------------- */

/* The time spans for which a store holds windows. Initialize it with {0}. */
struct coverage {
	struct arena arena;
	/* One row for each stream of each host. first: start of the earliest window in s since 1970; last: latest end
	 * of a window in s since 1970; windows: number of windows; longest: duration of the longest window in s */
	struct coverage_row {
		struct str host, event, unit, labels;
		uint64_t stream, first, last, windows, longest;
		/* start of the latest window in s since 1970 */
		uint64_t newest;
		/* true if the store does not record the ends of windows: gaps are unknown, and `last` is the latest
		 * start */
		bool endless;
		/* spans with windows: half-open, in s since 1970, sorted, disjoint */
		struct coverage_span {
			uint64_t from, to;
		} * span;
		size_t nspan;
	} * row;
	size_t n;
	/* number of reports of damaged data (cover_damaged) */
	uint64_t damaged;
};

/* Callbacks of struct store_sink; `to` is a struct coverage. The store must deliver windows by host, then by epoch. A
 * window at most 1 s after the last span extends that span. cover_damaged prints a warning for the first three calls
 * only. */
bool cover_window(void *to, const struct window *window);
void cover_damaged(void *to, struct str place, const char *why);
/* Returns true if a stream has a window of an hour or more, as roll-ups have. */
bool cover_has_hours(const struct coverage *coverage);
/* Sets *first and *last to the starts of the first and the last window. Returns false if there are no windows. */
bool cover_span(const struct coverage *coverage, uint64_t *first, uint64_t *last);
/* Prints one line for each stream and, below it, one line for each of its gaps. An unknown end is printed as `-`. */
void cover_print(const struct coverage *coverage, struct out *out);
/* Returns true if a host has a gap in the query's time range up to `now` (s since 1970). print_message: also print a
 * warning for each host with a gap, and for each host whose roll-ups extend the result beyond the query. Skips hosts
 * with windows of unknown end (coverage_row.endless). */
bool cover_gaps(const struct coverage *coverage, const struct store_query *query, uint64_t now, bool print_message);
void cover_free(struct coverage *coverage);

#endif
