/* SPDX-License-Identifier: Apache-2.0 */
#include "send/stores/clickhouse.h"

#include "common/arena.h"
#include "send/stores.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Rows of an answer, whole, however it is cut. */
struct rows {
	struct text part;
	bool (*row)(struct rows *r, struct str line);
	struct arena arena;
	const struct store_query *query;
	const struct store_sink *sink;
	bool list, stopped;
	struct sum {
		struct window w;
		struct str by; /* value of the label */
		struct text streams;
	} * sum;
	size_t n;
};

static bool clickread_take_rows(void *to, struct str blob)
{
	struct rows *r = to;
	struct str all, line;
	ptrdiff_t end;

	text_str(&r->part, blob);
	end = str_rfind(text_view(&r->part), '\n');
	if (end < 0)
		return r->part.n < HTTP_REPLY_MAX;
	for (all = str_head(text_view(&r->part), (size_t)end + 1); all.n;) {
		line = str_cut(&all, '\n');
		if (!r->row(r, line)) {
			r->stopped = true;
			return false;
		}
	}
	r->part.n -= (size_t)end + 1;
	memmove(r->part.p, r->part.p + end + 1, r->part.n);
	return true;
}

/* Whole lines are the text that is wanted: they are not taken apart. */
static bool clickread_take_text(void *to, struct str blob)
{
	struct rows *r = to;
	ptrdiff_t end = str_rfind(blob, '\n');

	if (end < 0) {
		text_str(&r->part, blob);
		return r->part.n < HTTP_REPLY_MAX;
	}
	text_str(&r->part, str_head(blob, (size_t)end + 1));
	r->stopped = !r->sink->lines(r->sink->to, text_view(&r->part));
	r->part.n = 0;
	text_str(&r->part, str_from(blob, (size_t)end + 1));
	return !r->stopped;
}

/* The next of ['a','b'], unescaped into room; false: none is left. */
static bool clickread_quoted(struct text *space, struct str *array, struct str *value)
{
	size_t at = space->n, i = 2;

	if (array->n < 3 || array->p[1] != '\'')
		return false;
	for (; i < array->n && array->p[i] != '\''; i++) {
		if (array->p[i] == '\\' && i + 1 < array->n)
			i++;
		text_char(space, array->p[i]);
	}
	*value = str_from(text_view(space), at);
	*array = str_from(*array, i < array->n ? i + 1 : i);
	return true;
}

/* ['a','b'] and ['x','y'] as a=x,b=y */
static void join_labels(struct text *space, struct text *t, struct str names, struct str values)
{
	struct str name, value;

	while (clickread_quoted(space, &names, &name) && clickread_quoted(space, &values, &value))
		text_printf(t, "%s%.*s=%.*s", t->n ? "," : "", (int)name.n, name.p, (int)value.n, value.p);
}

/* The sum that this one belongs to, new if need be. */
static struct sum *clickread_sum_of(struct rows *r, const struct window *w, struct str by)
{
	for (size_t i = 0; i < r->n; i++) {
		struct sum *s = &r->sum[i];

		if (str_eq(s->w.unit, w->unit) && str_eq(s->w.event, w->event) && str_eq(s->by, by) &&
		    (r->query->by != BY_HOST || str_eq(s->w.host, w->host)) &&
		    (r->query->by != BY_TIME || (s->w.epoch == w->epoch && str_eq(s->w.host, w->host))))
			return s;
	}
	r->sum = mem_more(r->sum, sizeof(*r->sum), r->n);
	r->sum[r->n] = (struct sum){ .w = *w, .by = by };
	r->sum[r->n].w.samples = r->sum[r->n].w.lost = r->sum[r->n].w.parts = 0;
	return &r->sum[r->n++];
}

static bool clickread_take_window(struct rows *r, struct str line)
{
	struct text space = { 0 }, labels = { 0 };
	struct window w = { .parts = 1 };
	struct str names, values, lost, by = { 0 };
	struct sum *s;
	bool good = true;

	line = arena_copy(&r->arena, line);
	text_reserve(&space, line.n);
	w.stream = ch_number(&space, &line);
	w.host = ch_column(&space, &line);
	w.epoch = ch_number(&space, &line);
	w.until = ch_number(&space, &line);
	w.unit = ch_column(&space, &line);
	w.event = ch_column(&space, &line);
	w.frequency = ch_column(&space, &line);
	names = str_cut(&line, '\t');
	values = str_cut(&line, '\t');
	w.samples = ch_number(&space, &line);
	lost = ch_column(&space, &line);
	w.parts = ch_number(&space, &line);
	w.lost_known = str_u64(lost, &w.lost);
	join_labels(&space, &labels, names, values);
	w.labels = text_view(&labels);
	w.host = arena_copy(&r->arena, w.host);
	w.unit = arena_copy(&r->arena, w.unit);
	w.event = arena_copy(&r->arena, w.event);
	w.frequency = arena_copy(&r->arena, w.frequency);
	w.labels = arena_copy(&r->arena, w.labels);
	text_free(&space);
	text_free(&labels);
	if (!w.parts || !w.unit.n ||
	    !store_wants(r->query, &(struct window){ .host = r->query->host, .event = w.event, .labels = w.labels }))
		return true;
	if (r->list)
		return r->sink->window(r->sink->to, &w);
	if (r->query->by == BY_LABEL)
		label_find(w.labels, r->query->by_label, &by);
	s = clickread_sum_of(r, &w, by);
	s->w.epoch = w.epoch < s->w.epoch ? w.epoch : s->w.epoch;
	s->w.until = w.until > s->w.until ? w.until : s->w.until;
	s->w.samples += w.samples;
	s->w.lost += w.lost;
	s->w.lost_known &= w.lost_known;
	s->w.parts += w.parts;
	if (r->query->by != BY_LABEL && !str_eq(s->w.labels, w.labels))
		s->w.labels = (struct str){ 0 };
	else if (r->query->by == BY_LABEL && by.n) {
		text_printf(&labels, "%.*s=%.*s", (int)r->query->by_label.n, r->query->by_label.p, (int)by.n, by.p);
		s->w.labels = arena_copy(&r->arena, text_view(&labels));
	}
	if (!str_eq(s->w.host, w.host))
		s->w.host = (struct str){ 0 };
	text_free(&labels);
	text_printf(&s->streams, "%s%" PRIu64, s->streams.n ? "," : "", w.stream);
	return good;
}

/* Of which windows: the first days of the key make it cheap. */
static void clickread_where(struct text *t, const struct store_query *q, uint64_t from, uint64_t to, struct str host)
{
	to = to < UINT32_MAX ? to : UINT32_MAX;
	from = from < to ? from : to;
	text_add(t, " WHERE day >= toDate('");
	ch_put_day(t, from);
	text_add(t, "') AND day <= toDate('");
	ch_put_day(t, to > from ? to - 1 : to);
	text_printf(t, "') AND timestamp >= toDateTime(%" PRIu64 ") AND timestamp < toDateTime(%" PRIu64 ")", from, to);
	if (q->host.n || host.n) {
		text_add(t, " AND hostname = ");
		ch_put(t, q->host.n ? q->host : host, true);
	}
}

static bool clickread_windows(struct clickhouse *c, struct rows *r, struct text *why)
{
	const struct store_query *q = r->query;
	bool hosts = r->list || q->by == BY_HOST || q->by == BY_TIME, times = r->list || q->by == BY_TIME;
	struct http_reply reply;

	c->query.n = 0;
	text_printf(
		&c->query,
		"SELECT stream, %s AS h, toUnixTimestamp(min(timestamp)) AS e, toUnixTimestamp(max(until)), unit, event, any(frequency), "
		"labels.name, labels.value, "
		"sum(samples), if(min(lost) < 0, -1, sum(lost)), count() FROM %.*s_windows` FINAL",
		hosts ? "hostname" : "if(min(hostname) = max(hostname), min(hostname), '')", (int)c->table.n,
		c->table.p);
	clickread_where(&c->query, q, q->from, q->to, (struct str){ 0 });
	text_printf(
		&c->query,
		" GROUP BY stream, unit, event, labels.name, labels.value%s%s ORDER BY h, e, unit, event, stream FORMAT TabSeparated",
		hosts ? ", hostname" : "", times ? ", timestamp" : "");
	r->row = clickread_take_window;
	r->part.n = 0;
	reply = ch_query(c, clickread_take_rows, r, why);
	if (!r->stopped && r->part.n && reply.class == HTTP_DONE) {
		text_add(why, "the answer is cut");
		return false;
	}
	return reply.class == HTTP_DONE && !r->stopped;
}

static bool clickread_stacks(struct clickhouse *c, struct rows *r, const struct sum *s, struct text *why)
{
	bool one = r->query->by == BY_TIME, hosts = one || r->query->by == BY_HOST;
	uint64_t from = one ? s->w.epoch : r->query->from, to = one ? s->w.epoch + 1 : r->query->to;
	struct str host = hosts ? s->w.host : (struct str){ 0 };
	struct http_reply reply;

	if (!r->sink->window(r->sink->to, &s->w))
		return false;
	c->query.n = 0;
	text_printf(&c->query, "SELECT concat(stack, ' ', toString(sum(value))) FROM %.*s` FINAL", (int)c->table.n,
		    c->table.p);
	clickread_where(&c->query, r->query, from, to, host);
	text_printf(&c->query, " AND stream IN (%.*s)", (int)s->streams.n, s->streams.p);
	/* stacks are sent before their window: those of a window that is not there yet do not count */
	text_printf(
		&c->query,
		" AND (hostname, timestamp, stream, machine) IN (SELECT hostname, timestamp, stream, machine FROM %.*s_windows`",
		(int)c->table.n, c->table.p);
	clickread_where(&c->query, r->query, from, to, host);
	text_add(&c->query, ") GROUP BY stack ORDER BY stack FORMAT TSVRaw");
	r->part.n = 0;
	reply = ch_query(c, clickread_take_text, r, why);
	if (reply.class == HTTP_DONE && !r->stopped && r->part.n) {
		text_add(why, "the answer is cut");
		return false;
	}
	return reply.class == HTTP_DONE && !r->stopped;
}

static bool clickread_both(void *store, const struct store_query *q, const struct store_sink *sink, struct text *why,
			   bool list)
{
	struct clickhouse *c = store;
	struct rows r = { .query = q, .sink = sink, .list = list };
	bool good = q->from >= q->to || clickread_windows(c, &r, why);

	for (size_t i = 0; i < r.n; i++) {
		good = good && clickread_stacks(c, &r, &r.sum[i], why);
		text_free(&r.sum[i].streams);
	}
	if (r.stopped)
		why->n = 0;
	free(r.sum);
	text_free(&r.part);
	arena_free(&r.arena);
	return good;
}

bool ch_fetch(void *store, const struct store_query *q, const struct store_sink *sink, struct text *why)
{
	return clickread_both(store, q, sink, why, false);
}

bool ch_list(void *store, const struct store_query *q, const struct store_sink *sink, struct text *why)
{
	return clickread_both(store, q, sink, why, true);
}
