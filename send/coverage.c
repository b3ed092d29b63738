/* SPDX-License-Identifier: Apache-2.0 */
#include "send/gather.h"

#include "common/arena.h"
#include "send/timearg.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define GAPS_SHOWN 5
#define SLACK_S 1 /* windows are named by whole seconds */
#define HOUR_S 3600
#define EDGE_S 60 /* nobody minds that the last window goes so far beyond */

/* ---- taking -------------------------------------------------------------------------------------------------- */

static struct coverage_row *coverage_row_of(struct coverage *c, const struct window *w)
{
	struct coverage_row *r;

	for (size_t i = c->n; i-- > 0;) /* hosts come one after the other */
		if (c->row[i].stream == w->stream && str_eq(c->row[i].host, w->host) &&
		    str_eq(c->row[i].event, w->event) && str_eq(c->row[i].labels, w->labels))
			return c->row + i;
	c->row = mem_more(c->row, sizeof(*c->row), c->n);
	r = c->row + c->n++;
	*r = (struct coverage_row){ .stream = w->stream, .first = UINT64_MAX };
	r->host = arena_copy(&c->arena, w->host);
	r->event = arena_copy(&c->arena, w->event);
	r->unit = arena_copy(&c->arena, w->unit);
	r->labels = arena_copy(&c->arena, w->labels);
	return r;
}

bool cover_window(void *to, const struct window *w)
{
	struct coverage *c = to;
	struct coverage_row *r = coverage_row_of(c, w);
	struct coverage_span *last = r->nspan ? r->span + r->nspan - 1 : NULL;

	r->first = w->epoch < r->first ? w->epoch : r->first;
	r->last = w->until > r->last ? w->until : r->last;
	r->windows += w->parts ? w->parts : 1;
	r->longest = w->until - w->epoch > r->longest ? w->until - w->epoch : r->longest;
	if (last && w->epoch >= last->from && w->epoch <= last->to + SLACK_S) {
		last->to = w->until > last->to ? w->until : last->to;
		return true;
	}
	r->span = mem_more(r->span, sizeof(*r->span), r->nspan);
	r->span[r->nspan++] = (struct coverage_span){ w->epoch, w->until };
	return true;
}

void cover_damaged(void *to, struct str place, const char *why)
{
	struct coverage *c = to;

	if (c->damaged++ < 3)
		warn("%.*s: %s", (int)place.n, place.p, why);
}

bool cover_has_hours(const struct coverage *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->row[i].longest >= HOUR_S)
			return true;
	return false;
}

/* ---- telling ------------------------------------------------------------------------------------------------- */

static int coverage_by_from(const void *va, const void *vb)
{
	const struct coverage_span *a = va, *b = vb;

	return a->from < b->from ? -1 : a->from > b->from;
}

/* Of all streams of a host (or one: until == row + 1) the times that nothing covers; *n of them, freed by the caller.
 */
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

void cover_print(const struct coverage *c, struct out *o)
{
	char from[32], to[32];

	for (size_t i = 0; i < c->n; i++) {
		const struct coverage_row *r = c->row + i;
		struct coverage_span *gap;
		uint64_t seconds;
		size_t n;

		gap = gaps_of(r, r + 1, &seconds, &n);
		timearg_text(from, r->first);
		timearg_text(to, r->last);
		out_printf(o, "%.*s  %s  %s  %" PRIu64 " windows  %" PRIu64 " s  %.*s%s%.*s\n", (int)r->host.n,
			   r->host.p, from, to, r->windows, seconds, (int)r->event.n, r->event.p,
			   r->labels.n ? "  " : "", (int)r->labels.n, r->labels.p);
		for (size_t k = 0; k < n; k++) {
			timearg_text(from, gap[k].from);
			timearg_text(to, gap[k].to);
			out_printf(o, "  gap  %s  %s  %" PRIu64 " s\n", from, to, gap[k].to - gap[k].from);
		}
		free(gap);
	}
}

static bool host_gaps(const struct coverage_row *row, const struct coverage_row *until, const struct store_query *q,
		      uint64_t now, bool print_message)
{
	struct text t = { 0 };
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
	end = q->to < now ? q->to : now;
	all = n;
	for (size_t i = 0; i < n && shown < GAPS_SHOWN; i++, shown++) {
		timearg_text(from, gap[i].from);
		timearg_text(to, gap[i].to);
		text_printf(&t, "%s %s to %s (%" PRIu64 " s)", t.n ? "," : "", from, to, gap[i].to - gap[i].from);
	}
	if (all > shown)
		text_printf(&t, ", and %zu more", all - shown);
	if (q->from &&
	    first > q->from + longest + SLACK_S) { /* a window that begins before belongs to what is before */
		timearg_text(to, first);
		text_printf(&t, "%s before %s (%" PRIu64 " s)", t.n ? "," : "", to, first - q->from);
	}
	if (end > last + longest + 5) { /* the window of now is still being recorded, or on its way */
		timearg_text(from, last);
		text_printf(&t, "%s since %s (%" PRIu64 " s)", t.n ? "," : "", from, end - last);
	}
	/* what was asked for begins or ends within a roll-up, which is there as a whole or not at all */
	if (print_message && longest >= HOUR_S &&
	    ((q->from && first % HOUR_S == 0 && first > q->from + EDGE_S && first <= q->from + longest) ||
	     last > q->to + EDGE_S)) {
		timearg_text(from, first);
		timearg_text(to, last);
		warn("%.*s: windows are rolled up to hours there: this is %s to %s", (int)row->host.n, row->host.p,
		     from, to);
	}
	some = t.n > 0;
	if (some && print_message)
		warn("%.*s: nothing was recorded%.*s", (int)row->host.n, row->host.p, (int)t.n, t.p);
	text_free(&t);
	free(gap);
	return some;
}

bool cover_gaps(const struct coverage *c, const struct store_query *q, uint64_t now, bool print_message)
{
	bool some = false;

	for (size_t i = 0, end; i < c->n; i = end) {
		for (end = i + 1; end < c->n && str_eq(c->row[end].host, c->row[i].host); end++)
			;
		some |= host_gaps(c->row + i, c->row + end, q, now, print_message);
	}
	return some;
}

void cover_free(struct coverage *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->row[i].span);
	free(c->row);
	arena_free(&c->arena);
	*c = (struct coverage){ 0 };
}
