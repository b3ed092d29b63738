/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eve.c - the store eve:, the unchanged service of the original pipeline, whose documents have the members timestamp,
 * hostname, stack and value only.
 *
 * The store is exact, as a stack has the same id in each attempt: 8 hex digits of the window's start in s since 1970,
 * 16 of window_id(). Eve inserts a batch in order and stops at the first id that exists (status 409), so the existing
 * documents are a prefix of the window; a binary search finds its end. The state of that search survives a broken
 * connection (batches.post, *state): the documents before index `low` exist, those from `high` on do not.
 */
#include "send/stores/eve.h"

#include "common/arena.h"
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

struct http_reply eve_query(struct http *http, const char *method, struct str path, struct text *why)
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

struct jv *eve_request(struct eve *eve, struct str where, const char *rest, enum http_class *class, uint64_t *total)
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

/* To be called if Eve has responded that the first document of the batch exists: sets *done to the number of documents
 * from the first on that exist, by binary search. *state is the state of the search for the next attempt. Returns
 * HTTP_DONE, or the class of a failed query. */
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
