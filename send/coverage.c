/* SPDX-License-Identifier: Apache-2.0 */
#include "send/gather.h"

#include "common/arena.h"
#include "common/timearg.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define GAPS_SHOWN 5
/* maximum distance in s between adjacent windows that is not reported as a gap: their names are whole seconds, so
 * rounding costs up to 1 s */
#define SLACK_S 1
#define HOUR_S 3600
/* time in s by which the first window may start after the query's start, or the last one end after the query's end,
 * without a warning */
#define EDGE_S 60

/* ---- collecting windows ------------------------------------------------------------------------------------------ */

static struct coverage_row *coverage_row_of(struct coverage *coverage, const struct window *window)
{
	struct coverage_row *row;

	/* The search starts at the last row: stores deliver windows host by host, so the window usually belongs to that
	 * row. */
	for (size_t i = coverage->n; i-- > 0;)
		if (coverage->row[i].stream == window->stream && str_eq(coverage->row[i].host, window->host) &&
		    str_eq(coverage->row[i].event, window->event) && str_eq(coverage->row[i].labels, window->labels))
			return coverage->row + i;
	coverage->row = mem_more(coverage->row, sizeof(*coverage->row), coverage->n);
	row = coverage->row + coverage->n++;
	*row = (struct coverage_row){ .stream = window->stream, .first = UINT64_MAX };
	row->host = arena_copy(&coverage->arena, window->host);
	row->event = arena_copy(&coverage->arena, window->event);
	row->unit = arena_copy(&coverage->arena, window->unit);
	row->labels = arena_copy(&coverage->arena, window->labels);
	return row;
}

bool cover_window(void *to, const struct window *window)
{
	struct coverage *coverage = to;
	struct coverage_row *row = coverage_row_of(coverage, window);
	struct coverage_span *last = row->nspan ? row->span + row->nspan - 1 : NULL;

	/* true if the end of the window is unknown, as some stores do not record it: its start is then used as its end,
	 * and no gap is reported between the windows of this row. */
	bool endless = window->until <= window->epoch;
	uint64_t until = endless ? window->epoch : window->until;

	row->endless |= endless;
	row->first = window->epoch < row->first ? window->epoch : row->first;
	row->last = until > row->last ? until : row->last;
	row->newest = window->epoch > row->newest ? window->epoch : row->newest;
	row->windows += window->parts ? window->parts : 1;
	row->longest = until - window->epoch > row->longest ? until - window->epoch : row->longest;
	if (last && window->epoch >= last->from && (row->endless || window->epoch <= last->to + SLACK_S)) {
		last->to = until > last->to ? until : last->to;
		return true;
	}
	row->span = mem_more(row->span, sizeof(*row->span), row->nspan);
	row->span[row->nspan++] = (struct coverage_span){ window->epoch, until };
	return true;
}

void cover_damaged(void *to, struct str place, const char *why)
{
	struct coverage *coverage = to;

	if (coverage->damaged++ < 3)
		warn("%.*s: %s", (int)place.n, place.p, why);
}

bool cover_has_hours(const struct coverage *coverage)
{
	for (size_t i = 0; i < coverage->n; i++)
		if (coverage->row[i].longest >= HOUR_S)
			return true;
	return false;
}

/* ---- printing the coverage --------------------------------------------------------------------------------------- */

static int coverage_by_from(const void *left, const void *right)
{
	const struct coverage_span *span = left, *b = right;

	return span->from < b->from ? -1 : span->from > b->from;
}

/* Returns the gaps of the streams [row, until): time spans after their first window and before their last one in which
 * no stream has a window. Sets *n to the number of gaps, and *seconds to the time with windows in s. The caller frees
 * the result. */
static struct coverage_span *gaps_of(const struct coverage_row *row, const struct coverage_row *until,
				     uint64_t *seconds, size_t *n)
{
	struct coverage_span *all = NULL, *gap = NULL;
	size_t nall = 0;
	uint64_t covered;

	*n = 0;
	*seconds = 0;
	for (; row < until; row++)
		for (size_t i = 0; i < row->nspan; i++) {
			all = mem_more(all, sizeof(*all), nall);
			all[nall++] = row->span[i];
		}
	if (nall)
		qsort(all, nall, sizeof(*all), coverage_by_from);
	covered = nall ? all[0].from : 0;
	for (size_t i = 0; i < nall; i++) {
		if (all[i].from > covered + SLACK_S) {
			gap = mem_more(gap, sizeof(*gap), *n);
			gap[(*n)++] = (struct coverage_span){ covered, all[i].from };
		}
		*seconds += all[i].to > covered ? all[i].to - (all[i].from > covered ? all[i].from : covered) : 0;
		covered = all[i].to > covered ? all[i].to : covered;
	}
	free(all);
	return gap;
}

void cover_print(const struct coverage *coverage, struct out *out)
{
	char from[32], to[32];

	for (size_t i = 0; i < coverage->n; i++) {
		const struct coverage_row *row = coverage->row + i;
		struct coverage_span *gap;
		uint64_t seconds;
		size_t n;

		gap = gaps_of(row, row + 1, &seconds, &n);
		timearg_local_text(from, row->first);
		timearg_local_text(to, row->last);
		out_printf(out, "%.*s  %s  %s  %" PRIu64 " windows  %" PRIu64 " s  %.*s%s%.*s\n", (int)row->host.n,
			   row->host.p, from, row->endless ? "-" : to, row->windows, seconds, (int)row->event.n,
			   row->event.p, row->labels.n ? "  " : "", (int)row->labels.n, row->labels.p);
		for (size_t index = 0; index < n; index++) {
			timearg_local_text(from, gap[index].from);
			timearg_local_text(to, gap[index].to);
			out_printf(out, "  gap  %s  %s  %" PRIu64 " s\n", from, to, gap[index].to - gap[index].from);
		}
		free(gap);
	}
}

/* Returns true if a stream of the host has windows without a known end, so that gaps are unknown. */
static bool is_endless(const struct coverage_row *row, const struct coverage_row *until)
{
	for (; row < until; row++)
		if (row->endless)
			return true;
	return false;
}

bool cover_span(const struct coverage *coverage, uint64_t *first, uint64_t *last)
{
	*first = UINT64_MAX;
	*last = 0;
	for (size_t i = 0; i < coverage->n; i++) {
		*first = coverage->row[i].first < *first ? coverage->row[i].first : *first;
		*last = coverage->row[i].newest > *last ? coverage->row[i].newest : *last;
	}
	return coverage->n;
}

static bool host_gaps(const struct coverage_row *row, const struct coverage_row *until, const struct store_query *query,
		      uint64_t now, bool print_message)
{
	struct text text = { 0 };
	char from[32], to[32];
	uint64_t seconds, first = UINT64_MAX, last = 0, longest = 0, end;
	size_t n, shown = 0, all;
	struct coverage_span *gap = gaps_of(row, until, &seconds, &n);
	bool some;

	for (const struct coverage_row *r = row; r < until; r++) {
		first = r->first < first ? r->first : first;
		last = r->last > last ? r->last : last;
		longest = r->longest > longest ? r->longest : longest;
	}
	end = query->to < now ? query->to : now;
	all = n;
	for (size_t i = 0; i < n && shown < GAPS_SHOWN; i++, shown++) {
		timearg_local_text(from, gap[i].from);
		timearg_local_text(to, gap[i].to);
		text_printf(&text, "%s %s to %s (%" PRIu64 " s)", text.n ? "," : "", from, to, gap[i].to - gap[i].from);
	}
	if (all > shown)
		text_printf(&text, ", and %zu more", all - shown);
	/* The query selects windows by start, so it omits a window that began before query->from and ended after it.
	 * The time from query->from to the first window is a gap only if it exceeds the length of a window. */
	if (query->from && first > query->from + longest + SLACK_S) {
		timearg_local_text(to, first);
		text_printf(&text, "%s before %s (%" PRIu64 " s)", text.n ? "," : "", to, first - query->from);
	}
	/* The time since the last window is a gap only if it exceeds the length of a window plus 5 s: until then, the
	 * next window is being recorded or sent. */
	if (end > last + longest + 5) {
		timearg_local_text(from, last);
		text_printf(&text, "%s since %s (%" PRIu64 " s)", text.n ? "," : "", from, end - last);
	}
	/* Warns if the query begins or ends within a roll-up (the sum of an hour's windows): the store returns a
	 * roll-up complete or not at all. */
	if (print_message && longest >= HOUR_S &&
	    ((query->from && first % HOUR_S == 0 && first > query->from + EDGE_S && first <= query->from + longest) ||
	     last > query->to + EDGE_S)) {
		timearg_local_text(from, first);
		timearg_local_text(to, last);
		warn("%.*s: windows are rolled up to hours there: the result is %s to %s", (int)row->host.n,
		     row->host.p, from, to);
	}
	some = text.n > 0;
	if (some && print_message)
		warn("%.*s: nothing was recorded%.*s", (int)row->host.n, row->host.p, (int)text.n, text.p);
	text_free(&text);
	free(gap);
	return some;
}

bool cover_gaps(const struct coverage *coverage, const struct store_query *query, uint64_t now, bool print_message)
{
	bool some = false;

	for (size_t i = 0, end; i < coverage->n; i = end) {
		for (end = i + 1; end < coverage->n && str_eq(coverage->row[end].host, coverage->row[i].host); end++)
			;
		if (is_endless(coverage->row + i, coverage->row + end))
			continue;
		some |= host_gaps(coverage->row + i, coverage->row + end, query, now, print_message);
	}
	return some;
}

void cover_free(struct coverage *coverage)
{
	for (size_t i = 0; i < coverage->n; i++)
		free(coverage->row[i].span);
	free(coverage->row);
	arena_free(&coverage->arena);
	*coverage = (struct coverage){ 0 };
}
