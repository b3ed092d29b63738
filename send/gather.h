/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather.h - what a store hands out becomes one profile; and which windows there are, with the gaps between them.
 *
 * Windows that count unlike things are refused, not added. With a grouping each stack gets a frame in front: its host,
 * its time, or the value of a label.
 */
#ifndef PJ_GATHER_H
#define PJ_GATHER_H

#include "common/formats/folded.h"
#include "send/store.h"

struct gather_only { /* one KEY=GLOB */
	enum { ONLY_COMM, ONLY_PID } key;
	struct str value;
};

struct gather {
	struct store_query q;
	struct gather_only *only;
	size_t nonly;

	struct stacks s;
	struct folded_header header;
	struct arena arena;
	uint64_t first, last; /* that was covered; first > last: nothing */
	uint64_t windows, damaged, skipped;
	struct text prefix, line;
	char why_not[256]; /* it cannot go on; empty: it can */
};

bool gather_window(void *to, const struct window *window);
bool gather_lines(void *to, struct str lines);
void gather_damaged(void *to, struct str place, const char *why);

void gather_end(struct gather *gather); /* header is complete then */
void gather_free(struct gather *gather);

/* ---- what there is ---- */

struct coverage {
	struct arena arena;
	struct coverage_row { /* a stream of a host */
		struct str host, event, unit, labels;
		uint64_t stream, first, last, windows, seconds, longest;
		struct coverage_span {
			uint64_t from, to;
		} * span; /* in order, apart from each other */
		size_t nspan;
	} * row;
	size_t n;
	uint64_t damaged;
};

bool cover_window(void *to, const struct window *window);
void cover_damaged(void *to, struct str place, const char *why);
bool cover_has_hours(const struct coverage *coverage);              /* is one as long as a roll-up? */
void cover_print(const struct coverage *coverage, struct out *out); /* a table, gaps below each row */
/* Are there any? say: on stderr, a line for each host. */
bool cover_gaps(const struct coverage *coverage, const struct store_query *query, uint64_t now, bool print_message);
void cover_free(struct coverage *coverage);

#endif
