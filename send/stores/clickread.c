/* SPDX-License-Identifier: Apache-2.0 */
#include "send/stores/clickhouse.h"

#include "common/arena.h"
#include "send/stores.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The state of reading a response that arrives in parts. part: incomplete last line; row: receives each complete
 * line, returns false to stop; stopped: true if `row` or the sink has stopped the transfer. */
struct rows {
	struct text part;
	bool (*row)(struct rows *rows, struct str line);
	struct arena arena;
	const struct store_query *query;
	const struct store_sink *sink;
	bool list, stopped; /* list: true for list, false for fetch */
	struct sum {
		struct window w;
		/* value of the label query.by_label in these windows */
		struct str by;
		/* ids of the streams of these windows, "1,2,3", for a query of their stacks */
		struct text streams;
	} * sum;
	size_t n;
};

static bool clickread_take_rows(void *to, struct str blob)
{
	struct rows *rows = to;
	struct str all, line;
	ptrdiff_t end;

	text_str(&rows->part, blob);
	end = str_rfind(text_view(&rows->part), '\n');
	if (end < 0)
		return rows->part.n < HTTP_REPLY_MAX;
	for (all = str_head(text_view(&rows->part), (size_t)end + 1); all.n;) {
		line = str_cut(&all, '\n');
		if (!rows->row(rows, line)) {
			rows->stopped = true;
			return false;
		}
	}
	rows->part.n -= (size_t)end + 1;
	memmove(rows->part.p, rows->part.p + end + 1, rows->part.n);
	return true;
}

/* Passes complete lines of a response to the sink: the query has formatted them as "STACK COUNT". */
static bool clickread_take_text(void *to, struct str blob)
{
	struct rows *rows = to;
	ptrdiff_t end = str_rfind(blob, '\n');

	if (end < 0) {
		text_str(&rows->part, blob);
		return rows->part.n < HTTP_REPLY_MAX;
	}
	text_str(&rows->part, str_head(blob, (size_t)end + 1));
	rows->stopped = !rows->sink->lines(rows->sink->to, text_view(&rows->part));
	rows->part.n = 0;
	text_str(&rows->part, str_from(blob, (size_t)end + 1));
	return !rows->stopped;
}

/* Removes the next string from an array such as ['a','b'] and unescapes it into *space. Returns false at the end. */
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

/* Appends labels to *text: names ['a','b'] and values ['x','y'] become a=x,b=y. */
static void join_labels(struct text *space, struct text *text, struct str names, struct str values)
{
	struct str name, value;

	while (clickread_quoted(space, &names, &name) && clickread_quoted(space, &values, &value))
		text_printf(text, "%s%.*s=%.*s", text->n ? "," : "", (int)name.n, name.p, (int)value.n, value.p);
}

/* Returns the sum to which a window belongs, by the query's grouping; creates it if necessary. string: value of the
 * label query.by_label. */
static struct sum *clickread_sum_of(struct rows *rows, const struct window *window, struct str string)
{
	for (size_t i = 0; i < rows->n; i++) {
		struct sum *sum = &rows->sum[i];

		if (str_eq(sum->w.unit, window->unit) && str_eq(sum->w.event, window->event) &&
		    str_eq(sum->by, string) && (rows->query->by != BY_HOST || str_eq(sum->w.host, window->host)) &&
		    (rows->query->by != BY_TIME ||
		     (sum->w.epoch == window->epoch && str_eq(sum->w.host, window->host))))
			return sum;
	}
	rows->sum = mem_more(rows->sum, sizeof(*rows->sum), rows->n);
	rows->sum[rows->n] = (struct sum){ .w = *window, .by = string };
	rows->sum[rows->n].w.samples = rows->sum[rows->n].w.lost = rows->sum[rows->n].w.parts = 0;
	return &rows->sum[rows->n++];
}

static bool clickread_take_window(struct rows *rows, struct str line)
{
	struct text space = { 0 }, labels = { 0 };
	struct window window = { .parts = 1 };
	struct str names, values, lost, string = { 0 };
	struct sum *sum;
	bool good = true;

	line = arena_copy(&rows->arena, line);
	text_reserve(&space, line.n);
	window.stream = ch_number(&space, &line);
	window.host = ch_column(&space, &line);
	window.epoch = ch_number(&space, &line);
	window.until = ch_number(&space, &line);
	window.unit = ch_column(&space, &line);
	window.event = ch_column(&space, &line);
	window.frequency = ch_column(&space, &line);
	names = str_cut(&line, '\t');
	values = str_cut(&line, '\t');
	window.samples = ch_number(&space, &line);
	lost = ch_column(&space, &line);
	window.parts = ch_number(&space, &line);
	window.lost_known = str_u64(lost, &window.lost);
	join_labels(&space, &labels, names, values);
	window.labels = text_view(&labels);
	window.host = arena_copy(&rows->arena, window.host);
	window.unit = arena_copy(&rows->arena, window.unit);
	window.event = arena_copy(&rows->arena, window.event);
	window.frequency = arena_copy(&rows->arena, window.frequency);
	window.labels = arena_copy(&rows->arena, window.labels);
	text_free(&space);
	text_free(&labels);
	if (!window.parts || !window.unit.n ||
	    !store_wants(rows->query,
			 &(struct window){ .host = rows->query->host, .event = window.event, .labels = window.labels }))
		return true;
	if (rows->list)
		return rows->sink->window(rows->sink->to, &window);
	if (rows->query->by == BY_LABEL)
		label_find(window.labels, rows->query->by_label, &string);
	sum = clickread_sum_of(rows, &window, string);
	sum->w.epoch = window.epoch < sum->w.epoch ? window.epoch : sum->w.epoch;
	sum->w.until = window.until > sum->w.until ? window.until : sum->w.until;
	sum->w.samples += window.samples;
	sum->w.lost += window.lost;
	sum->w.lost_known &= window.lost_known;
	sum->w.parts += window.parts;
	if (rows->query->by != BY_LABEL && !str_eq(sum->w.labels, window.labels))
		sum->w.labels = (struct str){ 0 };
	else if (rows->query->by == BY_LABEL && string.n) {
		text_printf(&labels, "%.*s=%.*s", (int)rows->query->by_label.n, rows->query->by_label.p, (int)string.n,
			    string.p);
		sum->w.labels = arena_copy(&rows->arena, text_view(&labels));
	}
	if (!str_eq(sum->w.host, window.host))
		sum->w.host = (struct str){ 0 };
	text_free(&labels);
	text_printf(&sum->streams, "%s%" PRIu64, sum->streams.n ? "," : "", window.stream);
	return good;
}

/* Appends a WHERE clause with the query's time range and host. The condition on `day` makes the query cheap, as the day
 * is part of the key and of the partition. */
static void clickread_where(struct text *text, const struct store_query *query, uint64_t from, uint64_t to,
			    struct str host)
{
	to = to < UINT32_MAX ? to : UINT32_MAX;
	from = from < to ? from : to;
	text_add(text, " WHERE day >= toDate('");
	ch_put_day(text, from);
	text_add(text, "') AND day <= toDate('");
	ch_put_day(text, to > from ? to - 1 : to);
	text_printf(text, "') AND timestamp >= toDateTime(%" PRIu64 ") AND timestamp < toDateTime(%" PRIu64 ")", from,
		    to);
	if (query->host.n || host.n) {
		text_add(text, " AND hostname = ");
		ch_put(text, query->host.n ? query->host : host, true);
	}
}

static bool clickread_windows(struct clickhouse *store, struct rows *rows, struct text *why)
{
	const struct store_query *query = rows->query;
	bool hosts = rows->list || query->by == BY_HOST || query->by == BY_TIME,
	     times = rows->list || query->by == BY_TIME;
	struct http_reply reply;

	store->query.n = 0;
	text_printf(
		&store->query,
		"SELECT stream, %s AS h, toUnixTimestamp(min(timestamp)) AS e, toUnixTimestamp(max(until)), unit, event, any(frequency), "
		"labels.name, labels.value, "
		"sum(samples), if(min(lost) < 0, -1, sum(lost)), count() FROM %.*s_windows` FINAL",
		hosts ? "hostname" : "if(min(hostname) = max(hostname), min(hostname), '')", (int)store->table.n,
		store->table.p);
	clickread_where(&store->query, query, query->from, query->to, (struct str){ 0 });
	text_printf(
		&store->query,
		" GROUP BY stream, unit, event, labels.name, labels.value%s%s ORDER BY h, e, unit, event, stream FORMAT TabSeparated",
		hosts ? ", hostname" : "", times ? ", timestamp" : "");
	rows->row = clickread_take_window;
	rows->part.n = 0;
	reply = ch_query(store, clickread_take_rows, rows, why);
	if (!rows->stopped && rows->part.n && reply.class == HTTP_DONE) {
		text_add(why, "the answer is truncated");
		return false;
	}
	return reply.class == HTTP_DONE && !rows->stopped;
}

static bool clickread_stacks(struct clickhouse *store, struct rows *rows, const struct sum *sum, struct text *why)
{
	bool one = rows->query->by == BY_TIME, hosts = one || rows->query->by == BY_HOST;
	uint64_t from = one ? sum->w.epoch : rows->query->from, to = one ? sum->w.epoch + 1 : rows->query->to;
	struct str host = hosts ? sum->w.host : (struct str){ 0 };
	struct http_reply reply;

	if (!rows->sink->window(rows->sink->to, &sum->w))
		return false;
	store->query.n = 0;
	text_printf(&store->query, "SELECT concat(stack, ' ', toString(sum(value))) FROM %.*s` FINAL",
		    (int)store->table.n, store->table.p);
	clickread_where(&store->query, rows->query, from, to, host);
	text_printf(&store->query, " AND stream IN (%.*s)", (int)sum->streams.n, sum->streams.p);
	/* Excludes stacks of a window without a row, as the row is written last: such a window is not complete yet. */
	text_printf(
		&store->query,
		" AND (hostname, timestamp, stream, machine) IN (SELECT hostname, timestamp, stream, machine FROM %.*s_windows`",
		(int)store->table.n, store->table.p);
	clickread_where(&store->query, rows->query, from, to, host);
	text_add(&store->query, ") GROUP BY stack ORDER BY stack FORMAT TSVRaw");
	rows->part.n = 0;
	reply = ch_query(store, clickread_take_text, rows, why);
	if (reply.class == HTTP_DONE && !rows->stopped && rows->part.n) {
		text_add(why, "the answer is truncated");
		return false;
	}
	return reply.class == HTTP_DONE && !rows->stopped;
}

static bool clickread_both(void *store, const struct store_query *query, const struct store_sink *sink,
			   struct text *why, bool list)
{
	struct clickhouse *clickhouse = store;
	struct rows rows = { .query = query, .sink = sink, .list = list };
	bool good = query->from >= query->to || clickread_windows(clickhouse, &rows, why);

	for (size_t i = 0; i < rows.n; i++) {
		good = good && clickread_stacks(clickhouse, &rows, &rows.sum[i], why);
		text_free(&rows.sum[i].streams);
	}
	if (rows.stopped)
		why->n = 0;
	free(rows.sum);
	text_free(&rows.part);
	arena_free(&rows.arena);
	return good;
}

bool ch_fetch(void *store, const struct store_query *query, const struct store_sink *sink, struct text *why)
{
	return clickread_both(store, query, sink, why, false);
}

bool ch_list(void *store, const struct store_query *query, const struct store_sink *sink, struct text *why)
{
	return clickread_both(store, query, sink, why, true);
}
