/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clickhouse.c - the store clickhouse:, a table with one row for each stack, which the server adds up; for fleets.
 *
 * The store is exact, as the server merges rows with equal keys (ReplacingMergeTree, read with FINAL): a repeated send
 * changes nothing. A second table has one row for each window, with the properties that all rows of its stacks share.
 * That row is written last: the window exists only if its row does. The statements work with each version since 18.16,
 * as they use no settings or types of later versions.
 */
#include "send/stores/clickhouse.h"

#include "common/arena.h"
#include "send/format/pack.h"
#include "send/stores.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define DOCS_MAX 100000
#define BYTE_COUNT_MAX ((size_t)8 << 20)

/* maximum number of rows in one INSERT of stacks for several windows; further rows go in the next INSERT */
#define DOCS_TOGETHER 8192
/* maximum size in bytes of the compressed body of an INSERT for several windows, below the 1 MB that nginx accepts */
#define PACKED_TOGETHER ((size_t)768 << 10)
/* maximum size in bytes of the body of an INSERT for several windows, before compression */
#define BYTES_TOGETHER ((size_t)32 << 20)
/* maximum number of windows in a common request; further windows go in the next one */
#define WINDOWS_TOGETHER 32
/* number of bytes of rows that are compressed at a time */
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

/* ---- requests to the server -------------------------------------------------------------------------------------- */

/* Returns the error code of a response such as "Code: 60, e.displayText() = ..."; 0 if it has none. */
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

/* Returns the class of a response. HTTP statuses that mean a retry or a smaller body decide at once. Otherwise
 * ClickHouse's error code decides, because versions differ in the HTTP status for the same error. Without an error
 * code, the HTTP status decides, but 400, 409 and 422 are then not from ClickHouse: HTTP_HOLD. Appends a hint to
 * *why. */
static enum http_class class_of(const struct http_reply *reply, struct text *why)
{
	static const uint64_t poison[] = { 6, 26, 27, 33, 38, 41, 53, 70, 72, 117, 130, 131 };
	static const uint64_t again[] = { 159, 202, 203, 209, 210, 241, 242, 243, 252, 285, 319, 999 };
	static const uint64_t hold[] = { 16, 47, 60, 62, 81, 115, 164, 192, 193, 194, 497, 516 };
	uint64_t code = clickhouse_code_of(reply->body);

	if (reply->class == HTTP_AGAIN || reply->class == HTTP_SMALLER)
		return reply->class;
	if (code == 60 || code == 81)
		text_add(why, " (the tables do not exist: pjsend --schema prints their statements)");
	if (is_among(code, hold, countof(hold)))
		return HTTP_HOLD;
	if (is_among(code, poison, countof(poison)))
		return HTTP_POISON;
	if (is_among(code, again, countof(again)))
		return HTTP_AGAIN;
	if (code)
		return HTTP_PERHAPS;
	if (reply->class != HTTP_POISON && reply->class != HTTP_CONFLICT)
		return reply->class;
	text_add(why, " (this is not ClickHouse)");
	return HTTP_HOLD;
}

/* Inserts rows into the table whose name is store->table plus `suffix`. columns: names of the columns; body: the rows
 * in TabSeparated form; packed: true if body is compressed already. Returns the class of the response, with the reason
 * of a failure in report->why. */
static enum http_class clickhouse_insert(struct clickhouse *store, const char *suffix, const char *columns,
					 struct str body, bool packed, struct store_report *report)
{
	struct http_request request = {
		.method = "POST", .type = "text/tab-separated-values", .body = body, .pack = !packed, .packed = packed
	};
	struct http_reply reply;

	store->query.n = 0;
	text_printf(&store->query, "INSERT INTO %.*s%s` (%s) FORMAT TabSeparated", (int)store->table.n, store->table.p,
		    suffix, columns);
	store->path.n = 0;
	text_add(&store->path, "/?query=");
	http_escape(&store->path, text_view(&store->query));
	request.path = text_view(&store->path);
	reply = http_send(store->http, &request, &report->why);
	report->requests++;
	report->bytes += reply.sent;
	report->after = reply.after;
	if (reply.class == HTTP_DONE && !str_is_blank(reply.body)) {
		text_printf(&report->why, "HTTP %u with a text: this is not ClickHouse", reply.status);
		return clickhouse_code_of(reply.body) ? HTTP_PERHAPS : HTTP_HOLD;
	}
	return reply.class == HTTP_DONE ? HTTP_DONE : class_of(&reply, &report->why);
}

/* ---- sending windows --------------------------------------------------------------------------------------------- */

static enum http_class insert_stacks(struct clickhouse *store, struct str body, bool packed,
				     struct store_report *report)
{
	return clickhouse_insert(store, "", "hostname, day, stack, timestamp, stream, machine, value", body, packed,
				 report);
}

static enum http_class insert_windows(struct clickhouse *store, struct str body, struct store_report *report)
{
	return clickhouse_insert(
		store, "_windows",
		"hostname, day, timestamp, stream, machine, until, unit, event, frequency, labels.name, labels.value, samples, lost, stacks, value",
		body, false, report);
}

static void clickhouse_put_key(struct text *text, const struct window *window)
{
	ch_put(text, window->host, false);
	text_char(text, '\t');
	ch_put_day(text, window->epoch);
}

static void clickhouse_put_name(struct text *text, const struct window *window)
{
	text_printf(text, "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t", window->epoch, window->stream, window->machine);
}

static void clickhouse_frame(struct text fixed[2], const struct window *window)
{
	clickhouse_put_key(&fixed[0], window);
	text_char(&fixed[0], '\t');
	clickhouse_put_name(&fixed[1], window);
}

static void clickhouse_add(struct text *text, const struct window *window, const struct text fixed[2], struct str stack,
			   uint64_t count)
{
	(void)window;
	text_str(text, text_view(&fixed[0]));
	ch_put(text, stack, false);
	text_str(text, text_view(&fixed[1]));
	text_u64(text, count);
	text_char(text, '\n');
}

static enum http_class clickhouse_post(void *store, struct batch *batch, size_t *done, size_t *known, uint32_t *state,
				       struct store_report *report)
{
	(void)done;
	(void)known;
	(void)state;
	return insert_stacks(store, text_view(&batch->body), false, report);
}

static void put_labels(struct text *text, struct str labels, bool values)
{
	struct str key, value;
	bool first = true;

	text_char(text, '[');
	for (; label_next(&labels, &key, &value); first = false) {
		if (!first)
			text_char(text, ',');
		ch_put(text, values ? value : key, true);
	}
	text_char(text, ']');
}

static void clickhouse_count(const struct window *window, uint64_t *stacks, uint64_t *sum)
{
	struct str lines = window->stacks, stack;
	uint64_t n;

	*stacks = *sum = 0;
	for (; window_next(&lines, &stack, &n); *sum += n)
		++*stacks;
}

/* Appends the row of a window. Once inserted, it confirms that the rows of all of the window's stacks exist. */
static void clickhouse_put_window(struct text *text, const struct window *window, uint64_t stacks, uint64_t sum)
{
	clickhouse_put_key(text, window);
	clickhouse_put_name(text, window);
	text_printf(text, "%" PRIu64 "\t", window->until);
	ch_put(text, window->unit, false);
	text_char(text, '\t');
	ch_put(text, window->event, false);
	text_char(text, '\t');
	ch_put(text, window->frequency, false);
	text_char(text, '\t');
	put_labels(text, window->labels, false);
	text_char(text, '\t');
	put_labels(text, window->labels, true);
	text_printf(text, "\t%" PRIu64 "\t%s%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", window->samples,
		    window->lost_known ? "" : "-", window->lost_known ? window->lost : 1, stacks, sum);
}

static enum http_class clickhouse_confirm(struct clickhouse *store, const struct window *window,
					  struct store_report *report)
{
	struct text text = { 0 };
	uint64_t stacks, sum;
	enum http_class class;

	clickhouse_count(window, &stacks, &sum);
	clickhouse_put_window(&text, window, stacks, sum);
	class = insert_windows(store, text_view(&text), report);
	text_free(&text);
	return class;
}

/* Runs the query in store->query; the response goes to `take`, or into reply.body if take is NULL. */
struct http_reply ch_query(struct clickhouse *store, bool (*take)(void *to, struct str blob), void *to,
			   struct text *why)
{
	struct http_request request = {
		.method = "POST",
		.path = STR("/?wait_end_of_query=1"),
		.body = text_view(&store->query),
		.type = "text/plain",
		.lasting = true,
		.take = take,
		.to = to,
	};
	struct http_reply reply = http_send(store->http, &request, why);

	if (reply.class != HTTP_DONE)
		reply.class = class_of(&reply, why);
	return reply;
}

static void clickhouse_verify(struct clickhouse *store, const struct window *window, uint64_t *resume,
			      struct store_report *report)
{
	struct text space = { 0 };
	struct http_reply reply;
	struct str body;
	uint64_t stacks, sum, stored, value;

	store->query.n = 0;
	text_printf(&store->query, "SELECT count(), sum(value) FROM %.*s` FINAL WHERE hostname = ", (int)store->table.n,
		    store->table.p);
	ch_put(&store->query, window->host, true);
	text_add(&store->query, " AND day = toDate('");
	ch_put_day(&store->query, window->epoch);
	text_printf(&store->query,
		    "') AND timestamp = toDateTime(%" PRIu64 ") AND stream = %" PRIu64 " AND machine = %" PRIu64
		    " FORMAT TabSeparated",
		    window->epoch, window->stream, window->machine);
	reply = ch_query(store, NULL, NULL, &report->why);
	report->requests++;
	if (reply.class != HTTP_DONE) {
		report->verdict = batches_verdict(reply.class, false);
		return;
	}
	clickhouse_count(window, &stacks, &sum);
	body = reply.body;
	text_reserve(&space, body.n);
	stored = ch_number(&space, &body);
	body = str_trim(body);
	while (body.n && body.p[body.n - 1] == '\n')
		body.n--;
	value = ch_number(&space, &body);
	if (stored < stacks && !report->refused.n) {
		text_printf(&report->why, "%" PRIu64 " of %" PRIu64 " stacks are stored", stored, stacks);
		report->verdict = STORE_LATER;
		*resume = 0;
	} else if (!report->refused.n) {
		report->differs = stored != stacks || value != sum;
	}
	text_free(&space);
}

/* Returns true if the window must not be sent: the server holds other content under its name (report->differs), or
 * cannot be queried; report->verdict is then set. A window with the same content on the server is sent again, as rows
 * of its stacks may be missing. */
static bool is_taken(struct clickhouse *store, const struct window *window, bool isolate, struct store_report *report)
{
	uint64_t stacks, sum;
	enum http_class class;

	clickhouse_count(window, &stacks, &sum);
	class = ch_seen(store, window, stacks, sum, &report->differs, report);
	report->verdict = batches_verdict(class, isolate);
	if (class == HTTP_DONE)
		report->why.n = 0;
	return class != HTTP_DONE || report->differs;
}

static void clickhouse_send(void *store, const struct window *window, uint64_t *resume, bool isolate,
			    struct store_report *report)
{
	struct clickhouse *clickhouse = store;
	enum http_class class;

	if (*resume == 0 && is_taken(clickhouse, window, isolate, report))
		return;
	batches_send(&clickhouse->batches, clickhouse, window, resume, isolate, report);
	if (report->verdict != STORE_SENT)
		return;
	class = clickhouse_confirm(clickhouse, window, report);
	report->verdict = batches_verdict(class, isolate);
	if (class == HTTP_DONE)
		report->why.n = 0;
	if (report->verdict == STORE_SENT && clickhouse->verify)
		clickhouse_verify(clickhouse, window, resume, report);
}

/* ---- several windows in one request ---------------------------------------------------------------------------- */

/* The state of a common request for several windows. An INSERT costs the server more than the rows of one window (about
 * 2000), so the stacks of several windows go in one INSERT, and the rows of these windows in a second INSERT after it.
 * The next request is prepared while the current one is being sent. */
struct together {
	struct gzip *gzip;
	/* rows: rows of stacks that are not compressed yet; windows: rows of all windows of the common request */
	struct text rows, windows;
	/* compressed bodies: packed[which] is being prepared, the other one is being sent */
	struct text packed[2];
	unsigned which;
	/* n: number of windows in the common request; docs, bytes: number of rows in the body that is being prepared,
	 * and its size before compression */
	size_t n, docs, bytes;
	/* current limit in bytes of a compressed body: PACKED_TOGETHER, halved each time the server refuses one as too
	 * large */
	size_t packed_max;
	/* INSERT of stacks that is being sent; any: true if there is one; threaded: true if a thread sends it, which
	 * sets class and r */
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

static struct together *together_of(struct clickhouse *store)
{
	if (!store->together) {
		store->together = mem_alloc(sizeof(*store->together), 1);
		store->together->gzip = gzip_open(1);
		store->together->packed_max = PACKED_TOGETHER;
	}
	return store->together;
}

static void *post_body(void *arg)
{
	struct under_way *way = arg;

	way->class = insert_stacks(way->c, way->body, true, &way->r);
	return NULL;
}

/* Waits until the INSERT of stacks that is being sent, if any, has ended. Returns false if it failed, with reason and
 * verdict in *report. */
static bool clickhouse_arrived(struct together *together, struct store_report *report)
{
	struct under_way *way = &together->under_way;

	if (!way->any)
		return true;
	if (way->threaded)
		pthread_join(way->thread, NULL);
	way->any = false;
	report->requests += way->r.requests;
	report->bytes += way->r.bytes;
	report->after = way->r.after;
	if (way->class == HTTP_DONE) {
		report->documents += way->docs;
	} else {
		text_str(&report->why, text_view(&way->r.why));
		report->verdict = batches_verdict(way->class, false);
	}
	if (way->class == HTTP_SMALLER)
		together->packed_max /= 2;
	store_report_free(&way->r);
	return way->class == HTTP_DONE;
}

static void pack_rows(struct together *together, bool last)
{
	gzip_add(together->gzip, &together->packed[together->which], text_view(&together->rows), last);
	together->bytes += together->rows.n;
	together->rows.n = 0;
}

/* Waits for the INSERT that is being sent, then sends the prepared body in a thread. Returns false if the earlier
 * INSERT failed. */
static bool post_together(struct clickhouse *store, struct store_report *report)
{
	struct together *together = store->together;
	struct under_way *way = &together->under_way;

	pack_rows(together, true);
	if (!clickhouse_arrived(together, report))
		return false;
	*way = (struct under_way){
		.c = store, .any = true, .body = text_view(&together->packed[together->which]), .docs = together->docs
	};
	way->threaded = pthread_create(&way->thread, NULL, post_body, way) == 0;
	if (!way->threaded)
		post_body(way);
	together->which ^= 1;
	together->packed[together->which].n = 0;
	together->docs = together->bytes = 0;
	return true;
}

/* Ends the common request: waits for the INSERT that is being sent and drops the rows that are not sent yet. */
static void clickhouse_part(struct together *together)
{
	struct store_report report = { 0 };

	clickhouse_arrived(together, &report);
	store_report_free(&report);
	/* ends the gzip member, so that the next body begins a new one; the output is dropped below */
	if (together->docs)
		pack_rows(together, true);
	together->packed[together->which].n = together->rows.n = together->windows.n = 0;
	together->n = together->docs = together->bytes = 0;
}

static bool clickhouse_is_full(const struct together *together)
{
	return together->docs >= DOCS_TOGETHER || together->bytes >= BYTES_TOGETHER ||
	       together->packed[together->which].n >= together->packed_max;
}

/* Decides if a window with this number of stacks and sum of weights may join the common request. Returns STORE_JOINED
 * if it may, STORE_ALONE if the server holds other content under its name or cannot be queried, STORE_PARTED if the
 * common request failed. */
static enum store_joined may_join(struct clickhouse *store, const struct window *window, uint64_t stacks, uint64_t sum,
				  struct store_report *report)
{
	struct store_report own = { 0 };
	enum http_class class;
	bool differs;

	/* A query needs the connection, which carries one request at a time, so the INSERT must end first. */
	if (!ch_seen_knows(store, window) && !clickhouse_arrived(store->together, report))
		return STORE_PARTED;
	class = ch_seen(store, window, stacks, sum, &differs, &own);
	report->requests += own.requests;
	store_report_free(&own);
	return class == HTTP_DONE && !differs ? STORE_JOINED : STORE_ALONE;
}

static enum store_joined clickhouse_join(void *store, const struct window *window, struct store_report *report)
{
	struct clickhouse *clickhouse = store;
	struct together *together = together_of(clickhouse);
	struct text fixed[2] = { 0 };
	struct str lines = window->stacks, stack;
	uint64_t n, stacks, sum;
	bool good = true;

	if (clickhouse->verify || !together->gzip || together->packed_max < PACKED_TOGETHER / 16)
		return STORE_ALONE;
	clickhouse_count(window, &stacks, &sum);
	switch (may_join(clickhouse, window, stacks, sum, report)) {
	case STORE_PARTED: clickhouse_part(together); return STORE_PARTED;
	case STORE_ALONE: return STORE_ALONE;
	default: break;
	}
	clickhouse_frame(fixed, window);
	while (good && window_next(&lines, &stack, &n)) {
		clickhouse_add(&together->rows, window, fixed, stack, n);
		together->docs++;
		if (together->rows.n >= PART)
			pack_rows(together, false);
		if (clickhouse_is_full(together))
			good = post_together(clickhouse, report);
	}
	clickhouse_put_window(&together->windows, window, stacks, sum);
	text_free(&fixed[0]);
	text_free(&fixed[1]);
	if (!good) {
		clickhouse_part(together);
		return STORE_PARTED;
	}
	return ++together->n < WINDOWS_TOGETHER ? STORE_JOINED : STORE_FULL;
}

static void clickhouse_send_joined(void *store, struct store_report *report)
{
	struct clickhouse *clickhouse = store;
	struct together *together = clickhouse->together;
	enum http_class class;

	if ((together->docs == 0 || post_together(clickhouse, report)) && clickhouse_arrived(together, report) &&
	    together->windows.n) {
		class = insert_windows(clickhouse, text_view(&together->windows), report);
		report->verdict = batches_verdict(class, false);
		if (class == HTTP_DONE)
			report->why.n = 0;
	}
	clickhouse_part(together);
}

static void together_close(struct together *together)
{
	if (!together)
		return;
	clickhouse_part(together);
	gzip_close(together->gzip);
	text_free(&together->rows);
	text_free(&together->windows);
	text_free(&together->packed[0]);
	text_free(&together->packed[1]);
	free(together);
}

/* ---- interface of the store -------------------------------------------------------------------------------------- */

static void clickhouse_close(void *store)
{
	struct clickhouse *clickhouse = store;

	together_close(clickhouse->together);
	ch_seen_close(clickhouse->seen);
	http_close(clickhouse->http);
	text_free(&clickhouse->table);
	text_free(&clickhouse->path);
	text_free(&clickhouse->query);
	free(clickhouse);
}

static bool is_name(struct str string)
{
	for (size_t i = 0; i < string.n; i++)
		if (!byte_is_digit(string.p[i]) && !((string.p[i] | 32) >= 'a' && (string.p[i] | 32) <= 'z') &&
		    string.p[i] != '_')
			return false;
	return string.n > 0;
}

/* Sets the table name from the last component of the URL's path, [DATABASE.]TABLE, and removes it from the path.
 * Returns false if it is not a valid name, with the reason in *why. */
static bool take_table(struct clickhouse *store, struct text *why)
{
	struct str path = http_path(store->http), database = STR("default"), name = STR("pj");
	ptrdiff_t slash = str_rfind(path, '/');

	if (slash >= 0) {
		name = str_from(path, (size_t)slash + 1);
		if (str_find(name, '.') >= 0)
			database = str_cut(&name, '.');
	}
	if (!is_name(database) || !is_name(name)) {
		text_add(why, "the server must be followed by /DATABASE.TABLE, of letters, digits and '_'");
		return false;
	}
	text_printf(&store->table, "`%.*s`.`%.*s", (int)database.n, database.p, (int)name.n, name.p);
	http_set_path(store->http, str_head(path, slash < 0 ? 0 : (size_t)slash));
	return true;
}

static void *clickhouse_open(struct str where_to, const struct store_options *options, struct text *why)
{
	struct clickhouse *store = mem_alloc(sizeof(*store), 1);

	store->batches = (struct batches){ .docs_max = DOCS_MAX,
					   .max_bytes = BYTE_COUNT_MAX,
					   .frame = clickhouse_frame,
					   .add = clickhouse_add,
					   .post = clickhouse_post };
	store->verify = options->verify;
	store->http = store_http(where_to, options, why);
	if (store->http && take_table(store, why))
		return store;
	clickhouse_close(store);
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
