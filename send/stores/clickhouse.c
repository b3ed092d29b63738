/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clickhouse: - a row for each stack, which the server adds up; for fleets.
 *
 * Exact because rows of one key are one: ReplacingMergeTree, read with FINAL, so that sending again changes nothing.
 * What all rows of a window have in common is one row of a second table, written last: a window is there when that row
 * is. Only what every version since 18.16 knows is used: no settings, no types of later ones.
 */
#include "send/stores/clickhouse.h"

#include "common/arena.h"
#include "send/http/json.h"
#include "send/format/pack.h"
#include "send/stores.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define DOCS_MAX 100000
#define BYTE_COUNT_MAX ((size_t)8 << 20)

/* Of windows that go together: in one INSERT of stacks, in one of windows; and how much text is packed at a time. */
#define DOCS_TOGETHER 8192
#define PACKED_TOGETHER ((size_t)768 << 10) /* below the megabyte that nginx lets pass */
#define BYTES_TOGETHER ((size_t)32 << 20)
#define WINDOWS_TOGETHER 32
#define PART ((size_t)256 << 10)

static const char *clickhouse_schema(void)
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
void ch_put(struct text *t, struct str s, bool quote)
{
	struct text mended = { 0 };

	if (!quote && ascii_run(s, '\\', '\'') == s.n) { /* as most are */
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

void ch_put_day(struct text *t, uint64_t epoch)
{
	time_t when = (time_t)(epoch < UINT32_MAX ? epoch : UINT32_MAX);
	struct tm tm;
	char day[16];

	strftime(day, sizeof(day), "%Y-%m-%d", gmtime_r(&when, &tm));
	text_add(t, day);
}

/* The next column of a line, unescaped into room, which is large enough. */
struct str ch_column(struct text *space, struct str *line)
{
	struct str raw = str_cut(line, '\t');
	size_t at = space->n;

	for (size_t i = 0; i < raw.n; i++) {
		char c = raw.p[i];

		if (c == '\\' && i + 1 < raw.n) {
			c = raw.p[++i];
			c = c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c == '0' ? 0 : c;
		}
		text_char(space, c);
	}
	return str_from(text_view(space), at);
}

uint64_t ch_number(struct text *space, struct str *line)
{
	uint64_t n = 0;

	str_u64(ch_column(space, line), &n);
	return n;
}

/* ---- asking ----------------------------------------------------------------------------------------------------- */

/* The number in "Code: 60, e.displayText() = ..."; 0: it is another text. */
static uint64_t clickhouse_code_of(struct str body)
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
	uint64_t code = clickhouse_code_of(r->body);

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
	if (r->class != HTTP_POISON && r->class != HTTP_CONFLICT)
		return r->class;
	text_add(why, " (this is not how ClickHouse answers)");
	return HTTP_HOLD;
}

/* INSERT of what is in body, which may be packed already. */
static enum http_class clickhouse_insert(struct clickhouse *c, const char *suffix, const char *columns, struct str body,
					 bool packed, struct store_report *r)
{
	struct http_request q = {
		.method = "POST", .type = "text/tab-separated-values", .body = body, .pack = !packed, .packed = packed
	};
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
		return clickhouse_code_of(reply.body) ? HTTP_PERHAPS : HTTP_HOLD;
	}
	return reply.class == HTTP_DONE ? HTTP_DONE : class_of(&reply, &r->why);
}

/* ---- sending ---------------------------------------------------------------------------------------------------- */

static enum http_class insert_stacks(struct clickhouse *c, struct str body, bool packed, struct store_report *r)
{
	return clickhouse_insert(c, "", "hostname, day, stack, timestamp, stream, machine, value", body, packed, r);
}

static enum http_class insert_windows(struct clickhouse *c, struct str body, struct store_report *r)
{
	return clickhouse_insert(
		c, "_windows",
		"hostname, day, timestamp, stream, machine, until, unit, event, frequency, labels.name, labels.value, samples, lost, stacks, value",
		body, false, r);
}

static void clickhouse_put_key(struct text *t, const struct window *w)
{
	ch_put(t, w->host, false);
	text_char(t, '\t');
	ch_put_day(t, w->epoch);
}

static void clickhouse_put_name(struct text *t, const struct window *w)
{
	text_printf(t, "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t", w->epoch, w->stream, w->machine);
}

static void clickhouse_frame(struct text fixed[2], const struct window *w)
{
	clickhouse_put_key(&fixed[0], w);
	text_char(&fixed[0], '\t');
	clickhouse_put_name(&fixed[1], w);
}

static void clickhouse_add(struct text *t, const struct window *w, const struct text fixed[2], struct str stack,
			   uint64_t count)
{
	(void)w;
	text_str(t, text_view(&fixed[0]));
	ch_put(t, stack, false);
	text_str(t, text_view(&fixed[1]));
	text_u64(t, count);
	text_char(t, '\n');
}

static enum http_class clickhouse_post(void *store, struct batch *b, size_t *done, size_t *known, uint32_t *state,
				       struct store_report *r)
{
	(void)done;
	(void)known;
	(void)state;
	return insert_stacks(store, text_view(&b->body), false, r);
}

static void put_labels(struct text *t, struct str labels, bool values)
{
	struct str key, value;
	bool first = true;

	text_char(t, '[');
	for (; label_next(&labels, &key, &value); first = false) {
		if (!first)
			text_char(t, ',');
		ch_put(t, values ? value : key, true);
	}
	text_char(t, ']');
}

static void clickhouse_count(const struct window *w, uint64_t *stacks, uint64_t *sum)
{
	struct str lines = w->stacks, stack;
	uint64_t n;

	*stacks = *sum = 0;
	for (; window_next(&lines, &stack, &n); *sum += n)
		++*stacks;
}

/* The row that says that all others are there. */
static void clickhouse_put_window(struct text *t, const struct window *w, uint64_t stacks, uint64_t sum)
{
	clickhouse_put_key(t, w);
	clickhouse_put_name(t, w);
	text_printf(t, "%" PRIu64 "\t", w->until);
	ch_put(t, w->unit, false);
	text_char(t, '\t');
	ch_put(t, w->event, false);
	text_char(t, '\t');
	ch_put(t, w->frequency, false);
	text_char(t, '\t');
	put_labels(t, w->labels, false);
	text_char(t, '\t');
	put_labels(t, w->labels, true);
	text_printf(t, "\t%" PRIu64 "\t%s%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", w->samples, w->lost_known ? "" : "-",
		    w->lost_known ? w->lost : 1, stacks, sum);
}

static enum http_class clickhouse_confirm(struct clickhouse *c, const struct window *w, struct store_report *r)
{
	struct text t = { 0 };
	uint64_t stacks, sum;
	enum http_class class;

	clickhouse_count(w, &stacks, &sum);
	clickhouse_put_window(&t, w, stacks, sum);
	class = insert_windows(c, text_view(&t), r);
	text_free(&t);
	return class;
}

/* The answer to c->query, to `take`, or in reply.body. */
struct http_reply ch_query(struct clickhouse *c, bool (*take)(void *to, struct str blob), void *to, struct text *why)
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
		r.class = class_of(&r, why);
	return r;
}

static void clickhouse_verify(struct clickhouse *c, const struct window *w, uint64_t *resume, struct store_report *r)
{
	struct text space = { 0 };
	struct http_reply reply;
	struct str body;
	uint64_t stacks, sum, stored, value;

	c->query.n = 0;
	text_printf(&c->query, "SELECT count(), sum(value) FROM %.*s` FINAL WHERE hostname = ", (int)c->table.n,
		    c->table.p);
	ch_put(&c->query, w->host, true);
	text_add(&c->query, " AND day = toDate('");
	ch_put_day(&c->query, w->epoch);
	text_printf(&c->query,
		    "') AND timestamp = toDateTime(%" PRIu64 ") AND stream = %" PRIu64 " AND machine = %" PRIu64
		    " FORMAT TabSeparated",
		    w->epoch, w->stream, w->machine);
	reply = ch_query(c, NULL, NULL, &r->why);
	r->requests++;
	if (reply.class != HTTP_DONE) {
		r->verdict = batches_verdict(reply.class, false);
		return;
	}
	clickhouse_count(w, &stacks, &sum);
	body = reply.body;
	text_reserve(&space, body.n);
	stored = ch_number(&space, &body);
	body = str_trim(body);
	while (body.n && body.p[body.n - 1] == '\n')
		body.n--;
	value = ch_number(&space, &body);
	if (stored < stacks && !r->refused.n) {
		text_printf(&r->why, "%" PRIu64 " of %" PRIu64 " stacks are there", stored, stacks);
		r->verdict = STORE_LATER;
		*resume = 0;
	} else if (!r->refused.n) {
		r->differs = stored != stacks || value != sum;
	}
	text_free(&space);
}

/* Its name is taken by another content, or that is not known: nothing is sent. What is there goes again, as rows may be
 * missing. */
static bool is_taken(struct clickhouse *c, const struct window *w, bool isolate, struct store_report *r)
{
	uint64_t stacks, sum;
	enum http_class class;

	clickhouse_count(w, &stacks, &sum);
	class = ch_seen(c, w, stacks, sum, &r->differs, r);
	r->verdict = batches_verdict(class, isolate);
	if (class == HTTP_DONE)
		r->why.n = 0;
	return class != HTTP_DONE || r->differs;
}

static void clickhouse_send(void *store, const struct window *w, uint64_t *resume, bool isolate, struct store_report *r)
{
	struct clickhouse *c = store;
	enum http_class class;

	if (*resume == 0 && is_taken(c, w, isolate, r))
		return;
	batches_send(&c->batches, c, w, resume, isolate, r);
	if (r->verdict != STORE_SENT)
		return;
	class = clickhouse_confirm(c, w, r);
	r->verdict = batches_verdict(class, isolate);
	if (class == HTTP_DONE)
		r->why.n = 0;
	if (r->verdict == STORE_SENT && c->verify)
		clickhouse_verify(c, w, resume, r);
}

/* ---- several windows in one request ------------------------------------------------------------------------------ */

/*
 * An INSERT costs the server more than the two thousand rows in it. So the stacks of several windows go in one, and the
 * rows of these windows in one behind them; and while one is under way, the next is put together.
 */
struct together {
	struct gzip *gzip;
	struct text rows, windows; /* stacks, not packed yet; their windows */
	struct text packed[2];     /* one is put together, one is under way */
	unsigned which;
	size_t n, docs, bytes; /* windows; of this body: rows, bytes before they were packed */
	size_t packed_max;
	struct under_way {
		struct clickhouse *c;
		pthread_t thread;
		bool any, threaded;
		struct str body;
		size_t docs;
		enum http_class class;
		struct store_report r;
	} under_way;
};

static struct together *together_of(struct clickhouse *c)
{
	if (!c->together) {
		c->together = mem_alloc(sizeof(*c->together), 1);
		c->together->gzip = gzip_open(1);
		c->together->packed_max = PACKED_TOGETHER;
	}
	return c->together;
}

static void *post_body(void *arg)
{
	struct under_way *u = arg;

	u->class = insert_stacks(u->c, u->body, true, &u->r);
	return NULL;
}

/* The stacks that are under way are there. False: r says why not. */
static bool clickhouse_arrived(struct together *t, struct store_report *r)
{
	struct under_way *u = &t->under_way;

	if (!u->any)
		return true;
	if (u->threaded)
		pthread_join(u->thread, NULL);
	u->any = false;
	r->requests += u->r.requests;
	r->bytes += u->r.bytes;
	r->after = u->r.after;
	if (u->class == HTTP_DONE) {
		r->documents += u->docs;
	} else {
		text_str(&r->why, text_view(&u->r.why));
		r->verdict = batches_verdict(u->class, false);
	}
	if (u->class == HTTP_SMALLER)
		t->packed_max /= 2;
	store_report_free(&u->r);
	return u->class == HTTP_DONE;
}

static void pack_rows(struct together *t, bool last)
{
	gzip_add(t->gzip, &t->packed[t->which], text_view(&t->rows), last);
	t->bytes += t->rows.n;
	t->rows.n = 0;
}

/* What was put together goes its way, when what went before is there. */
static bool post_together(struct clickhouse *c, struct store_report *r)
{
	struct together *t = c->together;
	struct under_way *u = &t->under_way;

	pack_rows(t, true);
	if (!clickhouse_arrived(t, r))
		return false;
	*u = (struct under_way){ .c = c, .any = true, .body = text_view(&t->packed[t->which]), .docs = t->docs };
	u->threaded = pthread_create(&u->thread, NULL, post_body, u) == 0;
	if (!u->threaded)
		post_body(u);
	t->which ^= 1;
	t->packed[t->which].n = 0;
	t->docs = t->bytes = 0;
	return true;
}

/* Nothing is joined any more. */
static void clickhouse_part(struct together *t)
{
	struct store_report r = { 0 };

	clickhouse_arrived(t, &r);
	store_report_free(&r);
	if (t->docs) /* what is packed of it is forgotten */
		pack_rows(t, true);
	t->packed[t->which].n = t->rows.n = t->windows.n = 0;
	t->n = t->docs = t->bytes = 0;
}

static bool clickhouse_is_full(const struct together *t)
{
	return t->docs >= DOCS_TOGETHER || t->bytes >= BYTES_TOGETHER || t->packed[t->which].n >= t->packed_max;
}

/* Not if something else is there under its name: it is looked at alone. */
static enum store_joined may_join(struct clickhouse *c, const struct window *w, uint64_t stacks, uint64_t sum,
				  struct store_report *r)
{
	struct store_report own = { 0 };
	enum http_class class;
	bool differs;

	if (!ch_seen_knows(c, w) && !clickhouse_arrived(c->together, r)) /* one request at a time */
		return STORE_PARTED;
	class = ch_seen(c, w, stacks, sum, &differs, &own);
	r->requests += own.requests;
	store_report_free(&own);
	return class == HTTP_DONE && !differs ? STORE_JOINED : STORE_ALONE;
}

static enum store_joined clickhouse_join(void *store, const struct window *w, struct store_report *r)
{
	struct clickhouse *c = store;
	struct together *t = together_of(c);
	struct text fixed[2] = { 0 };
	struct str lines = w->stacks, stack;
	uint64_t n, stacks, sum;
	bool good = true;

	if (c->verify || !t->gzip || t->packed_max < PACKED_TOGETHER / 16)
		return STORE_ALONE;
	clickhouse_count(w, &stacks, &sum);
	switch (may_join(c, w, stacks, sum, r)) {
	case STORE_PARTED: clickhouse_part(t); return STORE_PARTED;
	case STORE_ALONE: return STORE_ALONE;
	default: break;
	}
	clickhouse_frame(fixed, w);
	while (good && window_next(&lines, &stack, &n)) {
		clickhouse_add(&t->rows, w, fixed, stack, n);
		t->docs++;
		if (t->rows.n >= PART)
			pack_rows(t, false);
		if (clickhouse_is_full(t))
			good = post_together(c, r);
	}
	clickhouse_put_window(&t->windows, w, stacks, sum);
	text_free(&fixed[0]);
	text_free(&fixed[1]);
	if (!good) {
		clickhouse_part(t);
		return STORE_PARTED;
	}
	return ++t->n < WINDOWS_TOGETHER ? STORE_JOINED : STORE_FULL;
}

static void clickhouse_send_joined(void *store, struct store_report *r)
{
	struct clickhouse *c = store;
	struct together *t = c->together;
	enum http_class class;

	if ((t->docs == 0 || post_together(c, r)) && clickhouse_arrived(t, r) && t->windows.n) {
		class = insert_windows(c, text_view(&t->windows), r);
		r->verdict = batches_verdict(class, false);
		if (class == HTTP_DONE)
			r->why.n = 0;
	}
	clickhouse_part(t);
}

static void together_close(struct together *t)
{
	if (!t)
		return;
	clickhouse_part(t);
	gzip_close(t->gzip);
	text_free(&t->rows);
	text_free(&t->windows);
	text_free(&t->packed[0]);
	text_free(&t->packed[1]);
	free(t);
}

/* ---- */

static void clickhouse_close(void *store)
{
	struct clickhouse *c = store;

	together_close(c->together);
	ch_seen_close(c->seen);
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

	c->batches = (struct batches){ .docs_max = DOCS_MAX,
				       .max_bytes = BYTE_COUNT_MAX,
				       .frame = clickhouse_frame,
				       .add = clickhouse_add,
				       .post = clickhouse_post };
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
	.join = clickhouse_join,
	.send_joined = clickhouse_send_joined,
	.list = ch_list,
	.fetch = ch_fetch,
	.schema = clickhouse_schema,
	.close = clickhouse_close,
};
