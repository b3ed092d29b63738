/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clickhouse: - a row for each stack, which the server adds up; for fleets.
 *
 * Exact because rows of one key are one: ReplacingMergeTree, read with FINAL, so that sending again changes nothing. What all rows of
 * a window have in common is one row of a second table, written last: a window is there when that row is. Only what every version
 * since 18.16 knows is used: no settings, no types of later ones.
 */
#include "batches.h"

#include "arena.h"
#include "json.h"
#include "stores.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define DOCS_MOST 100000
#define BYTES_MOST ((size_t)8 << 20)

struct clickhouse {
	struct http *http;
	struct batches batches;
	bool verify;
	struct text table, path, query; /* table: DATABASE.TABLE, quoted up to its last letter */
};

static const char *schema(void)
{
	return "-- For clickhouse:URL/DATABASE.TABLE, here default.pj. The order of the key is what it costs: 15 bytes a stack and window.\n"
	       "CREATE TABLE IF NOT EXISTS pj (\n"
	       "    hostname String,\n"
	       "    day Date,\n"
	       "    stack String,\n"
	       "    timestamp DateTime,\n"
	       "    stream UInt64,\n"
	       "    machine UInt64,\n"
	       "    value UInt64\n"
	       ") ENGINE = ReplacingMergeTree PARTITION BY toYYYYMM(day) ORDER BY (hostname, day, stack, timestamp, stream, machine);\n"
	       "CREATE TABLE IF NOT EXISTS pj_windows (\n"
	       "    hostname String,\n"
	       "    day Date,\n"
	       "    timestamp DateTime,\n"
	       "    stream UInt64,\n"
	       "    machine UInt64,\n"
	       "    until DateTime,\n"
	       "    unit String,\n"
	       "    event String,\n"
	       "    frequency String,\n"
	       "    labels Nested(name String, value String),\n"
	       "    samples UInt64,\n"
	       "    lost Int64,\n"
	       "    stacks UInt64,\n"
	       "    value UInt64\n"
	       ") ENGINE = ReplacingMergeTree PARTITION BY toYYYYMM(day) ORDER BY (hostname, day, timestamp, stream, machine);\n"
	       "-- How long it is kept; before ClickHouse 19.6: ALTER TABLE pj DROP PARTITION 202611.\n"
	       "-- ALTER TABLE pj MODIFY TTL day + INTERVAL 90 DAY;\n"
	       "-- ALTER TABLE pj_windows MODIFY TTL day + INTERVAL 90 DAY;\n";
}

/* ---- its text --------------------------------------------------------------------------------------------------- */

/* A value of TabSeparated; quote: of a string in a query, or of an array. */
static void put(struct text *t, struct str s, bool quote)
{
	struct text mended = { 0 };
	size_t plain = 0;

	while (plain < s.n && (signed char)s.p[plain] >= ' ' && s.p[plain] != 0x7F && s.p[plain] != '\\' && s.p[plain] != '\'')
		plain++;
	if (plain == s.n && !quote) { /* as most are */
		text_str(t, s);
		return;
	}
	utf8_mend(&mended, s);
	if (quote)
		text_char(t, '\'');
	for (size_t i = 0; i < mended.n; i++) {
		char c = mended.p[i];

		if (c == '\\' || c == '\'')
			text_char(t, '\\');
		if (c == '\t' || c == '\n' || c == '\r' || c == 0)
			text_add(t, c == '\t' ? "\\t" : c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\0");
		else
			text_char(t, c);
	}
	if (quote)
		text_char(t, '\'');
	text_free(&mended);
}

static void put_day(struct text *t, uint64_t epoch)
{
	time_t when = (time_t)(epoch < UINT32_MAX ? epoch : UINT32_MAX);
	struct tm tm;
	char day[16];

	strftime(day, sizeof(day), "%Y-%m-%d", gmtime_r(&when, &tm));
	text_add(t, day);
}

/* The next column of a line, unescaped into room, which is large enough. */
static struct str column(struct text *room, struct str *line)
{
	struct str raw = str_cut(line, '\t');
	size_t at = room->n;

	for (size_t i = 0; i < raw.n; i++) {
		char c = raw.p[i];

		if (c == '\\' && i + 1 < raw.n) {
			c = raw.p[++i];
			c = c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c == '0' ? 0 : c;
		}
		text_char(room, c);
	}
	return str_from(text_view(room), at);
}

static uint64_t number(struct text *room, struct str *line)
{
	uint64_t n = 0;

	str_u64(column(room, line), &n);
	return n;
}

/* ---- asking ----------------------------------------------------------------------------------------------------- */

/* The number in "Code: 60, e.displayText() = ..."; 0: it is another text. */
static uint64_t code_of(struct str body)
{
	uint64_t code = 0;
	size_t n = 6;

	if (!str_starts(body, STR("Code: ")))
		return 0;
	while (n < body.n && byte_is_digit(body.p[n]))
		n++;
	return str_u64(str_from(str_head(body, n), 6), &code) ? code : 0;
}

static bool is_among(uint64_t code, const uint64_t *codes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (codes[i] == code)
			return true;
	return false;
}

/* What ClickHouse says tells more than the status with it, which changed over the years. */
static enum http_class class_of(const struct http_reply *r, struct text *why)
{
	static const uint64_t poison[] = { 6, 26, 27, 33, 38, 41, 53, 70, 72, 117, 130, 131 };
	static const uint64_t again[] = { 159, 202, 203, 209, 210, 241, 242, 243, 252, 285, 319, 999 };
	static const uint64_t hold[] = { 16, 47, 60, 62, 81, 115, 164, 192, 193, 194, 497, 516 };
	uint64_t code = code_of(r->body);

	if (r->class == HTTP_AGAIN || r->class == HTTP_SMALLER)
		return r->class;
	if (code == 60 || code == 81)
		text_add(why, " (the tables are not there: pjsend --schema prints them)");
	if (is_among(code, hold, countof(hold)))
		return HTTP_HOLD;
	if (is_among(code, poison, countof(poison)))
		return HTTP_POISON;
	if (is_among(code, again, countof(again)))
		return HTTP_AGAIN;
	if (code)
		return HTTP_PERHAPS;
	if (r->class != HTTP_POISON)
		return r->class;
	text_add(why, " (this is not how ClickHouse answers)");
	return HTTP_HOLD;
}

/* INSERT of what is in body. */
static enum http_class insert(struct clickhouse *c, const char *suffix, const char *columns, struct str body,
			      struct store_report *r)
{
	struct http_request q = { .method = "POST", .type = "text/tab-separated-values", .body = body, .pack = true };
	struct http_reply reply;

	c->query.n = 0;
	text_printf(&c->query, "INSERT INTO %.*s%s` (%s) FORMAT TabSeparated", (int)c->table.n, c->table.p, suffix,
		    columns);
	c->path.n = 0;
	text_add(&c->path, "/?query=");
	http_escape(&c->path, text_view(&c->query));
	q.path = text_view(&c->path);
	reply = http_send(c->http, &q, &r->why);
	r->requests++;
	r->bytes += reply.sent;
	r->after = reply.after;
	if (reply.class == HTTP_DONE && !str_is_blank(reply.body)) {
		text_printf(&r->why, "HTTP %u with a text, which ClickHouse does not answer to an INSERT",
			    reply.status);
		return code_of(reply.body) ? HTTP_PERHAPS : HTTP_HOLD;
	}
	return reply.class == HTTP_DONE ? HTTP_DONE : class_of(&reply, &r->why);
}

/* ---- sending ---------------------------------------------------------------------------------------------------- */

static void put_key(struct text *t, const struct window *w)
{
	put(t, w->host, false);
	text_char(t, '\t');
	put_day(t, w->epoch);
}

static void add(struct text *t, const struct window *w, struct str stack, uint64_t count)
{
	put_key(t, w);
	text_char(t, '\t');
	put(t, stack, false);
	text_printf(t, "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", w->epoch, w->stream, w->machine,
		    count);
}

static enum http_class post(void *store, struct batch *b, size_t *done, size_t *known, uint32_t *state,
			    struct store_report *r)
{
	(void)done;
	(void)known;
	(void)state;
	return insert(store, "", "hostname, day, stack, timestamp, stream, machine, value", text_view(&b->body), r);
}

static void put_labels(struct text *t, struct str labels, bool values)
{
	struct str key, value;
	bool first = true;

	text_char(t, '[');
	for (; label_next(&labels, &key, &value); first = false) {
		if (!first)
			text_char(t, ',');
		put(t, values ? value : key, true);
	}
	text_char(t, ']');
}

static void count(const struct window *w, uint64_t *stacks, uint64_t *sum)
{
	struct str lines = w->stacks, stack;
	uint64_t n;

	*stacks = *sum = 0;
	for (; window_next(&lines, &stack, &n); *sum += n)
		++*stacks;
}

/* The row that says that all others are there. */
static enum http_class confirm(struct clickhouse *c, const struct window *w, struct store_report *r)
{
	struct text t = { 0 };
	uint64_t stacks, sum;
	enum http_class class;

	count(w, &stacks, &sum);
	put_key(&t, w);
	text_printf(&t, "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t", w->epoch, w->stream, w->machine,
		    w->until);
	put(&t, w->unit, false);
	text_char(&t, '\t');
	put(&t, w->event, false);
	text_char(&t, '\t');
	put(&t, w->frequency, false);
	text_char(&t, '\t');
	put_labels(&t, w->labels, false);
	text_char(&t, '\t');
	put_labels(&t, w->labels, true);
	text_printf(&t, "\t%" PRIu64 "\t%s%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", w->samples,
		    w->lost_known ? "" : "-", w->lost_known ? w->lost : 1, stacks, sum);
	class = insert(
		c, "_windows",
		"hostname, day, timestamp, stream, machine, until, unit, event, frequency, labels.name, labels.value, samples, lost, stacks, value",
		text_view(&t), r);
	text_free(&t);
	return class;
}

/* The answer to c->query, to `take`, or in reply.body. */
static struct http_reply ask(struct clickhouse *c, bool (*take)(void *to, struct str piece), void *to, struct text *why)
{
	struct http_request q = {
		.method = "POST",
		.path = STR("/?wait_end_of_query=1"),
		.body = text_view(&c->query),
		.type = "text/plain",
		.lasting = true,
		.take = take,
		.to = to,
	};
	struct http_reply r = http_send(c->http, &q, why);

	if (r.class != HTTP_DONE)
		class_of(&r, why);
	return r;
}

static void verify(struct clickhouse *c, const struct window *w, uint64_t *resume, struct store_report *r)
{
	struct text room = { 0 };
	struct http_reply reply;
	struct str body;
	uint64_t stacks, sum, stored, value;

	c->query.n = 0;
	text_printf(&c->query, "SELECT count(), sum(value) FROM %.*s` FINAL WHERE hostname = ", (int)c->table.n,
		    c->table.p);
	put(&c->query, w->host, true);
	text_add(&c->query, " AND day = toDate('");
	put_day(&c->query, w->epoch);
	text_printf(&c->query,
		    "') AND timestamp = toDateTime(%" PRIu64 ") AND stream = %" PRIu64 " AND machine = %" PRIu64
		    " FORMAT TabSeparated",
		    w->epoch, w->stream, w->machine);
	reply = ask(c, NULL, NULL, &r->why);
	r->requests++;
	if (reply.class != HTTP_DONE) {
		r->verdict = batches_verdict(class_of(&reply, &r->why), false);
		return;
	}
	count(w, &stacks, &sum);
	body = reply.body;
	text_room(&room, body.n);
	stored = number(&room, &body);
	body = str_trim(body);
	while (body.n && body.p[body.n - 1] == '\n')
		body.n--;
	value = number(&room, &body);
	if (stored < stacks && !r->refused.n) {
		text_printf(&r->why, "%" PRIu64 " of %" PRIu64 " stacks are there", stored, stacks);
		r->verdict = STORE_LATER;
		*resume = 0;
	} else if (!r->refused.n) {
		r->differs = stored != stacks || value != sum;
	}
	text_free(&room);
}

static void clickhouse_send(void *store, const struct window *w, uint64_t *resume, bool isolate, struct store_report *r)
{
	struct clickhouse *c = store;
	enum http_class class;

	batches_send(&c->batches, c, w, resume, isolate, r);
	if (r->verdict != STORE_SENT)
		return;
	class = confirm(c, w, r);
	r->verdict = batches_verdict(class, isolate);
	if (class == HTTP_DONE)
		r->why.n = 0;
	if (r->verdict == STORE_SENT && c->verify)
		verify(c, w, resume, r);
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

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

static bool take_rows(void *to, struct str piece)
{
	struct rows *r = to;
	struct str all, line;
	ptrdiff_t end;

	text_str(&r->part, piece);
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
static bool take_text(void *to, struct str piece)
{
	struct rows *r = to;
	ptrdiff_t end = str_rfind(piece, '\n');

	if (end < 0) {
		text_str(&r->part, piece);
		return r->part.n < HTTP_REPLY_MAX;
	}
	text_str(&r->part, str_head(piece, (size_t)end + 1));
	r->stopped = !r->sink->lines(r->sink->to, text_view(&r->part));
	r->part.n = 0;
	text_str(&r->part, str_from(piece, (size_t)end + 1));
	return !r->stopped;
}

/* The next of ['a','b'], unescaped into room; false: none is left. */
static bool quoted(struct text *room, struct str *array, struct str *value)
{
	size_t at = room->n, i = 2;

	if (array->n < 3 || array->p[1] != '\'')
		return false;
	for (; i < array->n && array->p[i] != '\''; i++) {
		if (array->p[i] == '\\' && i + 1 < array->n)
			i++;
		text_char(room, array->p[i]);
	}
	*value = str_from(text_view(room), at);
	*array = str_from(*array, i < array->n ? i + 1 : i);
	return true;
}

/* ['a','b'] and ['x','y'] as a=x,b=y */
static void join_labels(struct text *room, struct text *t, struct str names, struct str values)
{
	struct str name, value;

	while (quoted(room, &names, &name) && quoted(room, &values, &value))
		text_printf(t, "%s%.*s=%.*s", t->n ? "," : "", (int)name.n, name.p, (int)value.n, value.p);
}

/* The sum that this one belongs to, new if need be. */
static struct sum *sum_of(struct rows *r, const struct window *w, struct str by)
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

static bool take_window(struct rows *r, struct str line)
{
	struct text room = { 0 }, labels = { 0 };
	struct window w = { .parts = 1 };
	struct str names, values, lost, by = { 0 };
	struct sum *s;
	bool good = true;

	line = arena_copy(&r->arena, line);
	text_room(&room, line.n);
	w.stream = number(&room, &line);
	w.host = column(&room, &line);
	w.epoch = number(&room, &line);
	w.until = number(&room, &line);
	w.unit = column(&room, &line);
	w.event = column(&room, &line);
	w.frequency = column(&room, &line);
	names = str_cut(&line, '\t');
	values = str_cut(&line, '\t');
	w.samples = number(&room, &line);
	lost = column(&room, &line);
	w.parts = number(&room, &line);
	w.lost_known = str_u64(lost, &w.lost);
	join_labels(&room, &labels, names, values);
	w.labels = text_view(&labels);
	w.host = arena_copy(&r->arena, w.host);
	w.unit = arena_copy(&r->arena, w.unit);
	w.event = arena_copy(&r->arena, w.event);
	w.frequency = arena_copy(&r->arena, w.frequency);
	w.labels = arena_copy(&r->arena, w.labels);
	text_free(&room);
	text_free(&labels);
	if (!w.parts || !w.unit.n ||
	    !store_wants(r->query, &(struct window){ .host = r->query->host, .event = w.event, .labels = w.labels }))
		return true;
	if (r->list)
		return r->sink->window(r->sink->to, &w);
	if (r->query->by == BY_LABEL)
		label_find(w.labels, r->query->by_label, &by);
	s = sum_of(r, &w, by);
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
static void where(struct text *t, const struct store_query *q, uint64_t from, uint64_t to, struct str host)
{
	to = to < UINT32_MAX ? to : UINT32_MAX;
	from = from < to ? from : to;
	text_add(t, " WHERE day >= toDate('");
	put_day(t, from);
	text_add(t, "') AND day <= toDate('");
	put_day(t, to > from ? to - 1 : to);
	text_printf(t, "') AND timestamp >= toDateTime(%" PRIu64 ") AND timestamp < toDateTime(%" PRIu64 ")", from, to);
	if (q->host.n || host.n) {
		text_add(t, " AND hostname = ");
		put(t, q->host.n ? q->host : host, true);
	}
}

static bool windows(struct clickhouse *c, struct rows *r, struct text *why)
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
	where(&c->query, q, q->from, q->to, (struct str){ 0 });
	text_printf(
		&c->query,
		" GROUP BY stream, unit, event, labels.name, labels.value%s%s ORDER BY h, e, unit, event, stream FORMAT TabSeparated",
		hosts ? ", hostname" : "", times ? ", timestamp" : "");
	r->row = take_window;
	r->part.n = 0;
	reply = ask(c, take_rows, r, why);
	if (!r->stopped && r->part.n && reply.class == HTTP_DONE) {
		text_add(why, "the answer is cut");
		return false;
	}
	return reply.class == HTTP_DONE && !r->stopped;
}

static bool stacks(struct clickhouse *c, struct rows *r, const struct sum *s, struct text *why)
{
	bool one = r->query->by == BY_TIME, hosts = one || r->query->by == BY_HOST;
	struct http_reply reply;

	if (!r->sink->window(r->sink->to, &s->w))
		return false;
	c->query.n = 0;
	text_printf(&c->query, "SELECT concat(stack, ' ', toString(sum(value))) FROM %.*s` FINAL", (int)c->table.n,
		    c->table.p);
	where(&c->query, r->query, one ? s->w.epoch : r->query->from, one ? s->w.epoch + 1 : r->query->to,
	      hosts ? s->w.host : (struct str){ 0 });
	text_printf(&c->query, " AND stream IN (%.*s) GROUP BY stack ORDER BY stack FORMAT TSVRaw", (int)s->streams.n,
		    s->streams.p);
	r->part.n = 0;
	reply = ask(c, take_text, r, why);
	if (reply.class == HTTP_DONE && !r->stopped && r->part.n) {
		text_add(why, "the answer is cut");
		return false;
	}
	return reply.class == HTTP_DONE && !r->stopped;
}

static bool both(void *store, const struct store_query *q, const struct store_sink *sink, struct text *why, bool list)
{
	struct clickhouse *c = store;
	struct rows r = { .query = q, .sink = sink, .list = list };
	bool good = q->from >= q->to || windows(c, &r, why);

	for (size_t i = 0; i < r.n; i++) {
		good = good && stacks(c, &r, &r.sum[i], why);
		text_free(&r.sum[i].streams);
	}
	if (r.stopped)
		why->n = 0;
	free(r.sum);
	text_free(&r.part);
	arena_free(&r.arena);
	return good;
}

static bool clickhouse_fetch(void *store, const struct store_query *q, const struct store_sink *sink, struct text *why)
{
	return both(store, q, sink, why, false);
}

static bool clickhouse_list(void *store, const struct store_query *q, const struct store_sink *sink, struct text *why)
{
	return both(store, q, sink, why, true);
}

/* ---- */

static void clickhouse_close(void *store)
{
	struct clickhouse *c = store;

	http_close(c->http);
	text_free(&c->table);
	text_free(&c->path);
	text_free(&c->query);
	free(c);
}

static bool is_name(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!byte_is_digit(s.p[i]) && !((s.p[i] | 32) >= 'a' && (s.p[i] | 32) <= 'z') && s.p[i] != '_')
			return false;
	return s.n > 0;
}

/* The last part of the path is [DATABASE.]TABLE. */
static bool take_table(struct clickhouse *c, struct text *why)
{
	struct str path = http_path(c->http), database = STR("default"), name = STR("pj");
	ptrdiff_t slash = str_rfind(path, '/');

	if (slash >= 0) {
		name = str_from(path, (size_t)slash + 1);
		if (str_find(name, '.') >= 0)
			database = str_cut(&name, '.');
	}
	if (!is_name(database) || !is_name(name)) {
		text_add(why, "behind the server comes /DATABASE.TABLE, of letters, digits and '_'");
		return false;
	}
	text_printf(&c->table, "`%.*s`.`%.*s", (int)database.n, database.p, (int)name.n, name.p);
	http_set_path(c->http, str_head(path, slash < 0 ? 0 : (size_t)slash));
	return true;
}

static void *clickhouse_open(struct str where_to, const struct store_options *o, struct text *why)
{
	struct clickhouse *c = mem_alloc(sizeof(*c), 1);

	c->batches = (struct batches){ .docs_most = DOCS_MOST,
				       .bytes_most = BYTES_MOST,
				       .open = "",
				       .between = "",
				       .shut = "",
				       .add = add,
				       .post = post };
	c->verify = o->verify;
	c->http = store_http(where_to, o, why);
	if (c->http && take_table(c, why))
		return c;
	clickhouse_close(c);
	return NULL;
}

const struct store_ops store_clickhouse = {
	.scheme = "clickhouse",
	.form = "clickhouse:URL",
	.does = "a table of ClickHouse: http://HOST:8123/DATABASE.TABLE; sums on the server, for fleets",
	.exact = true,
	.open = clickhouse_open,
	.send = clickhouse_send,
	.list = clickhouse_list,
	.fetch = clickhouse_fetch,
	.schema = schema,
	.close = clickhouse_close,
};
