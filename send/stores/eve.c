/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eve.c - the store eve:, the unchanged service of the original pipeline, whose documents have the members timestamp,
 * hostname, stack and value only.
 *
 * It is exact, as a stack has the same id in each attempt: 8 hex digits of the window's start in s since 1970, 16 of
 * window_id(). Eve inserts a batch in order and stops at the first id that exists (status 409), so the existing
 * documents are a prefix of the window; a binary search finds its end. The state of that search survives a broken
 * connection (batches.post, *state): the documents before index `low` exist, those from `high` on do not.
 */
#include "send/stores/batches.h"

#include "common/arena.h"
#include "send/http/json.h"
#include "send/stores.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define DOCS_MAX 500
/* limit in bytes of a request's body, below the 1 MB that nginx accepts */
#define BYTE_COUNT_MAX ((size_t)768 << 10)
/* earliest timestamp in s since 1970 that the schema accepts */
#define EPOCH_LEAST 1490778413
/* number of documents in one query: a server may limit responses to 50, and 50 ids fit into a request line */
#define QUERY_MAX 50
/* number of attempts of a query, without a pause between them */
#define DEADLINE 4

struct eve {
	struct http *http, *stacks;
	struct batches batches;
	bool verify;
	struct text why, path;
};

struct eve_id {
	char hex[25];
};

static struct eve_id id_of(const struct window *window, struct str stack)
{
	struct eve_id id;

	snprintf(id.hex, sizeof(id.hex), "%08" PRIx32 "%016" PRIx64, (uint32_t)window->epoch, window_id(window, stack));
	return id;
}

/* ---- queries for documents --------------------------------------------------------------------------------------- */

/* Runs a query. Repeats it at once, up to DEADLINE times, if the connection breaks, as that does not indicate
 * overload. */
static struct http_reply eve_query(struct http *http, const char *method, struct str path, struct text *why)
{
	struct http_request request = { .method = method, .path = path };
	struct http_reply reply;

	for (int i = 0; i < DEADLINE; i++) {
		reply = http_send(http, &request, why);
		if (reply.status || reply.class != HTTP_AGAIN)
			break;
	}
	return reply;
}

/* Queries the documents that match the JSON condition `where`; rest: more parameters of the URL. Returns the parsed
 * response and sets *total to the number of all matches (UINT64_MAX: unknown). Returns NULL on failure, with the class
 * in *class and the reason in eve->why. */
static struct jv *eve_request(struct eve *eve, struct str where, const char *rest, enum http_class *class,
			      uint64_t *total)
{
	struct http_reply reply;
	const char *wrong;
	struct jv *value;

	eve->path.n = 0;
	text_add(&eve->path, "?where=");
	http_escape(&eve->path, where);
	text_add(&eve->path, rest);
	reply = eve_query(eve->http, "GET", text_view(&eve->path), &eve->why);
	*class = reply.class;
	if (reply.class != HTTP_DONE)
		return NULL;
	value = jv_parse(reply.body, &wrong);
	if (value && jv_is_array(jv_get(value, "_items"))) {
		if (!str_u64(reply.total, total))
			*total = UINT64_MAX;
		return value;
	}
	eve->why.n = 0;
	text_add(&eve->why, value ? "the answer has no _items: this is not Eve" : wrong);
	jv_free(value);
	*class = HTTP_HOLD;
	return NULL;
}

static bool same_doc(const struct jv *item, struct str stack, uint64_t count)
{
	struct text mended = { 0 };
	struct str stored;
	uint64_t value;
	bool same;

	utf8_mend(&mended, stack);
	same = jv_str(jv_get(item, "stack"), &stored) && str_eq(stored, text_view(&mended)) &&
	       jv_u64(jv_get(item, "value"), &value) && value == count;
	text_free(&mended);
	return same;
}

/* Documents of a window, for a query that finds which of them exist and whether they have the same content. */
struct eve_sought {
	struct eve_id id[QUERY_MAX];
	struct str stack[QUERY_MAX];
	uint64_t count[QUERY_MAX];
	bool found[QUERY_MAX];
	size_t n;
};

static enum http_class eve_look(struct eve *eve, struct eve_sought *requested, struct store_report *report)
{
	struct text where = { 0 };
	enum http_class class;
	uint64_t total;
	struct jv *value;

	text_add(&where, "{\"_id\":{\"$in\":[");
	for (size_t i = 0; i < requested->n; i++)
		text_printf(&where, "%s\"%s\"", i ? "," : "", requested->id[i].hex);
	text_add(&where, "]}}");
	value = eve_request(eve, text_view(&where), "&max_results=50&projection=%7B%22stack%22:1,%22value%22:1%7D",
			    &class, &total);
	report->requests++;
	for (size_t index = 0; value && index < jv_count(jv_get(value, "_items")); index++) {
		const struct jv *item = jv_at(jv_get(value, "_items"), index);
		struct str id;

		for (size_t i = 0; i < requested->n && jv_str(jv_get(item, "_id"), &id); i++) {
			if (!str_eq(id, str_of(requested->id[i].hex)))
				continue;
			requested->found[i] = true;
			report->differs |= !same_doc(item, requested->stack[i], requested->count[i]);
		}
	}
	jv_free(value);
	text_free(&where);
	return class;
}

/* ---- sending windows --------------------------------------------------------------------------------------------- */

/* Appends n as 16 hexadecimal digits, like %016x. */
static void eve_put_number(struct text *text, uint64_t n)
{
	char hex[16];

	for (int i = 16; i-- > 0; n >>= 4)
		hex[i] = "0123456789abcdef"[n & 15];
	text_bytes(text, hex, sizeof(hex));
}

static void eve_frame(struct text fixed[2], const struct window *window)
{
	text_printf(&fixed[0], "{\"_id\":\"%08" PRIx32, (uint32_t)window->epoch);
	text_printf(&fixed[1], "\",\"timestamp\":%" PRIu64 ",\"hostname\":", window->epoch);
	json_quote(&fixed[1], window->host);
	text_add(&fixed[1], ",\"stack\":");
}

static void eve_add(struct text *text, const struct window *window, const struct text fixed[2], struct str stack,
		    uint64_t count)
{
	text_str(text, text_view(&fixed[0]));
	eve_put_number(text, window_id(window, stack));
	text_str(text, text_view(&fixed[1]));
	json_quote(text, stack);
	text_add(text, ",\"value\":");
	text_u64(text, count);
	text_char(text, '}');
}

/* Returns true if the response confirms each of n documents. */
static bool eve_confirms(struct str body, size_t n)
{
	const char *wrong;
	struct jv *value = jv_parse(body, &wrong);
	const struct jv *items = jv_get(value, "_items");
	struct str status;
	bool all = n == 1 && !items ? jv_str(jv_get(value, "_status"), &status) && str_eq(status, STR("OK")) :
				      jv_count(items) == n;

	for (size_t i = 0; all && i < jv_count(items); i++)
		all = jv_str(jv_get(jv_at(items, i), "_status"), &status) && str_eq(status, STR("OK"));
	jv_free(value);
	return all;
}

/* Compares existing documents with the window in one query: up to QUERY_MAX of the batch's first `known` documents,
 * evenly spread. Sets report->differs if a document has other content. Returns the class of the response. */
static enum http_class eve_compare(struct eve *eve, const struct batch *batch, size_t known,
				   struct store_report *report)
{
	struct eve_sought requested = { 0 };
	struct str lines = batch->stacks, stack;
	size_t step = (known + QUERY_MAX - 1) / QUERY_MAX;
	uint64_t count;

	for (size_t i = 0; i < known && window_next(&lines, &stack, &count); i++) {
		if (i % step)
			continue;
		requested.id[requested.n] = id_of(batch->window, stack);
		requested.stack[requested.n] = stack;
		requested.count[requested.n++] = count;
	}
	return eve_look(eve, &requested, report);
}

static struct str eve_nth(struct str lines, size_t i)
{
	struct str stack = { 0 };
	uint64_t count;

	for (size_t index = 0; index <= i && window_next(&lines, &stack, &count); index++)
		;
	return stack;
}

/* Sets *done to the number of the batch's first documents that exist, after Eve has responded that the first one
 * exists. Binary search; *state is its state for the next attempt. Returns HTTP_DONE, or the class of a failed
 * query. */
static enum http_class eve_search(struct eve *eve, const struct batch *batch, size_t *done, uint32_t *state,
				  struct store_report *report)
{
	size_t low = *state ? *state & 0xFFFF : 1, high = *state ? *state >> 16 : batch->n;
	enum http_class class;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct http_reply reply;

		eve->path.n = 0;
		text_printf(&eve->path, "/%s", id_of(batch->window, eve_nth(batch->stacks, middle)).hex);
		reply = eve_query(eve->http, "HEAD", text_view(&eve->path), &eve->why);
		report->requests++;
		*state = (uint32_t)(high << 16 | low);
		if (reply.class == HTTP_DONE)
			low = middle + 1;
		else if (reply.class == HTTP_HOLD && reply.status == 404)
			high = middle;
		else
			return reply.class;
	}
	*state = (uint32_t)(high << 16 | low);
	class = eve_compare(eve, batch, low, report);
	*done = low;
	return class;
}

static enum http_class eve_post(void *store, struct batch *batch, size_t *done, size_t *known, uint32_t *state,
				struct store_report *report)
{
	struct eve *eve = store;
	struct http_request request = { .method = "POST", .type = "application/json", .body = text_view(&batch->body) };
	struct http_reply reply;
	enum http_class class;
	const char *wrong;
	struct jv *value;

	/* An earlier attempt was interrupted during the search: continue it instead of sending. */
	if (*state && (*state >> 16) <= batch->n) {
		class = HTTP_CONFLICT;
	} else {
		*state = 0;
		reply = http_send(eve->http, &request, &eve->why);
		report->requests++;
		report->bytes += reply.sent;
		report->after = reply.after;
		class = reply.class;
		if (class == HTTP_DONE && !eve_confirms(reply.body, batch->n)) {
			eve->why.n = 0;
			text_printf(&eve->why, "HTTP %u, but not every document is confirmed: this is not Eve",
				    reply.status);
			class = HTTP_HOLD;
		} else if (class == HTTP_POISON && !jv_get(value = jv_parse(reply.body, &wrong), "_status")) {
			/* a response without Eve's "_status" comes from a proxy, and Eve has not received the
			 * documents */
			class = HTTP_HOLD;
			jv_free(value);
		} else if (class == HTTP_POISON) {
			jv_free(value);
		}
	}
	if (class == HTTP_CONFLICT) {
		class = eve_search(eve, batch, done, state, report);
		*known = *done;
	}
	if (class != HTTP_DONE) {
		report->why.n = 0;
		text_str(&report->why, text_view(&eve->why));
	}
	return class;
}

/* Returns true if `lines` contains the stack. */
static bool is_in(struct str lines, struct str stack)
{
	struct str other;
	uint64_t count;

	while (window_next(&lines, &other, &count))
		if (str_eq(other, stack))
			return true;
	return false;
}

/* Verifies by queries that all documents of the window exist, independently of Eve's confirmation. Sends missing ones
 * again. */
static void eve_verify(struct eve *eve, const struct window *window, struct store_report *report)
{
	struct str lines = window->stacks, refused = text_view(&report->refused);
	struct batch batch = { .window = window };
	bool more = true;

	eve_frame(batch.fixed, window);
	while (more && report->verdict == STORE_SENT) {
		struct eve_sought requested = { 0 };
		enum http_class class;
		size_t n = 0;

		while (requested.n < QUERY_MAX &&
		       (more = window_next(&lines, &requested.stack[requested.n], &requested.count[requested.n]))) {
			requested.id[requested.n] = id_of(window, requested.stack[requested.n]);
			requested.n++;
		}
		class = requested.n ? eve_look(eve, &requested, report) : HTTP_DONE;
		batch.body.n = 0;
		for (size_t i = 0; i < requested.n && class == HTTP_DONE; i++) {
			if (requested.found[i] || is_in(refused, requested.stack[i]))
				continue;
			text_char(&batch.body, n++ ? ',' : '[');
			eve_add(&batch.body, window, batch.fixed, requested.stack[i], requested.count[i]);
		}
		if (n) {
			struct http_request request = { .method = "POST",
							.type = "application/json",
							.body = (text_char(&batch.body, ']'), text_view(&batch.body)) };

			class = http_send(eve->http, &request, &eve->why).class;
			report->requests++;
		}
		if (class != HTTP_DONE) {
			report->verdict = batches_verdict(class == HTTP_CONFLICT ? HTTP_AGAIN : class, false);
			text_str(&report->why, text_view(&eve->why));
		}
	}
	text_free(&batch.fixed[0]);
	text_free(&batch.fixed[1]);
	text_free(&batch.body);
}

static void eve_send(void *store, const struct window *window, uint64_t *resume, bool isolate,
		     struct store_report *report)
{
	struct eve *eve = store;

	batches_send(&eve->batches, eve, window, resume, isolate, report);
	if (report->verdict == STORE_SENT && eve->verify)
		eve_verify(eve, window, report);
}

/* ---- reading windows --------------------------------------------------------------------------------------------- */

static void where_of(struct text *text, const struct store_query *query, struct str after)
{
	/* Lower limit of _id. An id begins with a time in s since 1970: the window's start, or the time at which the
	 * server created the document, which is later. One day is allowed for clocks that differ. */
	uint32_t least = query->from > 86400 ?
				 query->from - 86400 < UINT32_MAX ? (uint32_t)(query->from - 86400) : UINT32_MAX :
				 0;

	text->n = 0;
	text_printf(text, "{\"timestamp\":{\"$gte\":%" PRIu64 ",\"$lt\":%" PRIu64 "},\"_id\":{\"$gt\":\"", query->from,
		    query->to);
	if (after.n)
		text_str(text, after);
	else
		text_printf(text, "%08" PRIx32 "0000000000000000", least);
	text_add(text, "\"}");
	if (query->host.n) {
		text_add(text, ",\"hostname\":");
		json_quote(text, query->host);
	}
	text_char(text, '}');
}

/* Appends a line with a stack and its value to *text. Blanks are part of frames; a newline or NUL byte, which would end
 * the line, becomes '_'. */
static void eve_add_line(struct text *text, struct str stack, uint64_t value)
{
	for (size_t i = 0; i < stack.n; i++)
		text_char(text, stack.p[i] == '\n' || stack.p[i] == 0 ? '_' : stack.p[i]);
	text_printf(text, " %" PRIu64 "\n", value);
}

struct reading {
	struct eve *eve;
	const struct store_query *query;
	const struct store_sink *sink;
	/* lines, host: stack lines and host of the window that is being delivered to the sink */
	struct text lines, host;
	uint64_t epoch;
	bool begun;
	size_t bad;
};

static bool eve_flush(struct reading *reading)
{
	bool good = !reading->lines.n || reading->sink->lines(reading->sink->to, text_view(&reading->lines));

	reading->lines.n = 0;
	return good;
}

/* Called for each document, with its host and time: if the query groups by host or time, and this host or time differs
 * from that of the document before, delivers the lines so far and begins the next window of the sink. Returns false if
 * the sink stops. */
static bool eve_turn(struct reading *reading, struct str host, uint64_t epoch)
{
	bool hosts = reading->query->by == BY_HOST, times = reading->query->by == BY_TIME;
	struct window window = { .unit = STR("samples"), .parts = 1 };

	if (reading->begun && (!(hosts || times) || str_eq(host, text_view(&reading->host))) &&
	    (!times || epoch == reading->epoch))
		return true;
	if (!eve_flush(reading))
		return false;
	reading->begun = true;
	reading->host.n = 0;
	text_str(&reading->host, host);
	reading->epoch = epoch;
	if (hosts || times || reading->query->host.n)
		window.host = text_view(&reading->host);
	if (times)
		window.epoch = epoch;
	return reading->sink->window(reading->sink->to, &window);
}

static bool eve_take_item(struct reading *reading, const struct jv *item)
{
	struct str host = { 0 }, stack;
	uint64_t epoch, value;

	jv_str(jv_get(item, "hostname"), &host);
	if (!jv_u64(jv_get(item, "timestamp"), &epoch) || !jv_str(jv_get(item, "stack"), &stack) ||
	    !jv_u64(jv_get(item, "value"), &value) || !stack.n || !value) {
		if (reading->bad++ == 0 && reading->sink->damaged)
			reading->sink->damaged(reading->sink->to, STR("eve"),
					       "documents without timestamp, stack or value");
		return true;
	}
	if (!eve_turn(reading, host, epoch))
		return false;
	eve_add_line(&reading->lines, stack, value);
	return reading->lines.n < 65536 || eve_flush(reading);
}

/* Reads all documents of the query, page by page. Each page starts after the last id of the page before: page numbers
 * make the database count, and Eve's "next" link is not a URL. */
static bool eve_pages(struct reading *reading, struct text *why)
{
	static const char rest[] =
		"&sort=_id&max_results=1000&projection=%7B%22timestamp%22:1,%22hostname%22:1,%22stack%22:1,%22value%22:1%7D";
	struct text where = { 0 }, after = { 0 };
	bool good = true, more = true;

	while (good && more) {
		enum http_class class;
		uint64_t total;
		struct jv *value;
		size_t n;
		struct str id = { 0 };

		where_of(&where, reading->query, text_view(&after));
		value = eve_request(reading->eve, text_view(&where), rest, &class, &total);
		if (!value) {
			text_str(why, text_view(&reading->eve->why));
			good = false;
			break;
		}
		n = jv_count(jv_get(value, "_items"));
		more = n > 0 && total > n;
		for (size_t i = 0; good && i < n; i++)
			good = eve_take_item(reading, jv_at(jv_get(value, "_items"), i));
		if (more && (!jv_str(jv_get(jv_at(jv_get(value, "_items"), n - 1), "_id"), &id) ||
			     str_cmp(id, text_view(&after)) <= 0)) {
			text_add(why, "the documents are not sorted: this is not Eve");
			good = false;
		}
		after.n = 0;
		text_str(&after, id);
		jv_free(value);
	}
	text_free(&where);
	text_free(&after);
	return good && eve_flush(reading);
}

static bool take_sum(void *to, struct str stack, const struct jv *value)
{
	struct reading *reading = to;
	uint64_t n;

	if (!stack.n || !jv_u64(value, &n) || !n) {
		if (reading->bad++ == 0 && reading->sink->damaged)
			reading->sink->damaged(reading->sink->to, STR("stacks"), "sums that are not integers");
		return true;
	}
	eve_add_line(&reading->lines, stack, n);
	return reading->lines.n < 65536 || eve_flush(reading);
}

/* Reads the sums from the original pipeline's service. The time range of the service includes both ends. Parameter
 * hostname=ALL selects all hosts; without this parameter the service selects documents without a hostname. */
static bool eve_sums(struct reading *reading, struct text *why)
{
	const struct store_query *query = reading->query;
	struct http_reply reply;
	const char *wrong;
	struct jv *value;
	bool good;

	reading->eve->path.n = 0;
	text_printf(&reading->eve->path, "/?start_time=%" PRIu64 "&end_time=%" PRIu64 "&hostname=", query->from,
		    query->to - 1);
	http_escape(&reading->eve->path, query->host.n ? query->host : STR("ALL"));
	reply = eve_query(reading->eve->stacks, "GET", text_view(&reading->eve->path), why);
	if (reply.class != HTTP_DONE)
		return false;
	value = jv_parse(reply.body, &wrong);
	if (!value) {
		text_add(why, wrong);
		return false;
	}
	good = eve_turn(reading, query->host, 0) && jv_each(value, take_sum, reading) && eve_flush(reading);
	jv_free(value);
	return good;
}

static bool eve_fetch(void *store, const struct store_query *query, const struct store_sink *sink, struct text *why)
{
	struct eve *eve = store;
	struct reading reading = { .eve = eve, .query = query, .sink = sink };
	bool good;

	if (query->from >= query->to)
		return true;
	if (query->nlabel || query->by == BY_LABEL || query->nevent) {
		text_add(why, "eve: stores neither labels nor events");
		return false;
	}
	good = eve->stacks && (query->by == BY_ALL || (query->by == BY_HOST && query->host.n)) ?
		       eve_sums(&reading, why) :
		       eve_pages(&reading, why);
	text_free(&reading.lines);
	text_free(&reading.host);
	return good;
}

struct pair {
	uint64_t epoch;
	struct str host;
};

static int by_host(const void *a, const void *b)
{
	const struct pair *pair = a, *y = b;
	int order = str_cmp(pair->host, y->host);

	return order ? order : pair->epoch < y->epoch ? -1 : pair->epoch > y->epoch;
}

/* Sets *text to the condition for the next window after `last` in the order (epoch, host), so that a list needs one
 * query for each window, not for each stack. last NULL: the first window. */
static void where_next(struct text *text, const struct store_query *query, const struct pair *last)
{
	text->n = 0;
	text_add(text, last && !query->host.n ? "{\"$or\":[{" : "{");
	text_printf(text, "\"timestamp\":{\"%s\":%" PRIu64 ",\"$lt\":%" PRIu64 "}", last ? "$gt" : "$gte",
		    last ? last->epoch : query->from, query->to);
	if (query->host.n) {
		text_add(text, ",\"hostname\":");
		json_quote(text, query->host);
	}
	text_char(text, '}');
	if (!last || query->host.n)
		return;
	text_printf(text, ",{\"timestamp\":%" PRIu64 ",\"hostname\":{\"$gt\":", last->epoch);
	json_quote(text, last->host);
	text_add(text, "}}]}");
}

static bool eve_list(void *store, const struct store_query *query, const struct store_sink *sink, struct text *why)
{
	static const char rest[] =
		"&sort=timestamp,hostname&max_results=1&projection=%7B%22timestamp%22:1,%22hostname%22:1%7D";
	struct eve *eve = store;
	struct arena arena = { 0 };
	struct text where = { 0 };
	struct pair *pair = NULL;
	size_t n = 0;
	bool good = true;

	while (good && query->from < query->to) {
		struct pair next = { 0 };
		enum http_class class;
		const struct jv *item;
		uint64_t total;
		struct jv *value;

		where_next(&where, query, n ? &pair[n - 1] : NULL);
		value = eve_request(eve, text_view(&where), rest, &class, &total);
		if (!value) {
			text_str(why, text_view(&eve->why));
			good = false;
			break;
		}
		item = jv_at(jv_get(value, "_items"), 0);
		if (!item) {
			jv_free(value);
			break;
		}
		good = jv_u64(jv_get(item, "timestamp"), &next.epoch) && jv_str(jv_get(item, "hostname"), &next.host);
		if (good && n)
			good = next.epoch > pair[n - 1].epoch ||
			       (next.epoch == pair[n - 1].epoch && str_cmp(next.host, pair[n - 1].host) > 0);
		if (!good)
			text_add(why, "the documents are not sorted, or have no timestamp and hostname");
		next.host = arena_copy(&arena, next.host);
		pair = mem_more(pair, sizeof(*pair), n);
		pair[n++] = next;
		jv_free(value);
	}
	if (good && n)
		qsort(pair, n, sizeof(*pair), by_host);
	for (size_t i = 0; good && i < n; i++)
		good = sink->window(sink->to, &(struct window){ .epoch = pair[i].epoch,
								.host = pair[i].host,
								.unit = STR("samples"),
								.parts = 1 });
	free(pair);
	arena_free(&arena);
	text_free(&where);
	return good;
}

/* ---- interface of the store -------------------------------------------------------------------------------------- */

static void eve_close(void *store)
{
	struct eve *eve = store;

	http_close(eve->http);
	http_close(eve->stacks);
	text_free(&eve->why);
	text_free(&eve->path);
	free(eve);
}

static void *eve_open(struct str where, const struct store_options *options, struct text *why)
{
	struct eve *eve = mem_alloc(sizeof(*eve), 1);

	eve->batches = (struct batches){ .docs_max = DOCS_MAX,
					 .max_bytes = BYTE_COUNT_MAX,
					 .open = "[",
					 .between = ",",
					 .shut = "]",
					 .frame = eve_frame,
					 .add = eve_add,
					 .post = eve_post };
	eve->verify = options->verify;
	eve->http = store_http(where, options, why);
	if (eve->http && options->stacks_url)
		eve->stacks = store_http(str_of(options->stacks_url), options, why);
	if (!eve->http || (options->stacks_url && !eve->stacks)) {
		eve_close(eve);
		return NULL;
	}
	if (!http_path(eve->http).n)
		http_set_path(eve->http, STR("/cpu"));
	return eve;
}

const struct store_ops store_eve = {
	.scheme = "eve",
	.form = "eve:URL",
	.does = "Eve, a REST service on MongoDB: http://HOST:5001/cpu",
	.exact = true,
	.pids = true,
	.sums = true,
	.without_kinds = true,
	.since = EPOCH_LEAST,
	.open = eve_open,
	.send = eve_send,
	.list = eve_list,
	.fetch = eve_fetch,
	.close = eve_close,
};
