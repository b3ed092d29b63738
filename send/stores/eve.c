/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eve: - the original pipeline's service, as it is: documents of {timestamp, hostname, stack, value}, and nothing else.
 *
 * Exact by ids that are the same in each attempt: 8 hex digits of the window's second, 16 of window_id(). Eve inserts a
 * batch in order and stops at the first id that is there (409), so what is there is a beginning of the window; where it
 * ends is asked by halves. The state of that search outlives a broken connection (batches.h, *state): the documents
 * below `low` are there, those from `high` on are not.
 */
#include "send/stores/batches.h"

#include "common/arena.h"
#include "send/http/json.h"
#include "send/stores.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define DOCS_MAX 500
#define BYTE_COUNT_MAX ((size_t)768 << 10) /* below the megabyte that nginx lets pass */
#define EPOCH_LEAST 1490778413             /* of the schema */
#define QUERY_MAX 50 /* documents in one answer: of the schema; their ids fit into one line of a request */
#define DEADLINE 4   /* tries of a question, at once */

struct eve {
	struct http *http, *stacks;
	struct batches batches;
	bool verify;
	struct text why, path;
};

struct eve_id {
	char hex[25];
};

static struct eve_id id_of(const struct window *w, struct str stack)
{
	struct eve_id id;

	snprintf(id.hex, sizeof(id.hex), "%08" PRIx32 "%016" PRIx64, (uint32_t)w->epoch, window_id(w, stack));
	return id;
}

/* ---- asking ----------------------------------------------------------------------------------------------------- */

/* A question may be asked again at once: connections that break are not overload. */
static struct http_reply eve_query(struct http *h, const char *method, struct str path, struct text *why)
{
	struct http_request q = { .method = method, .path = path };
	struct http_reply reply;

	for (int i = 0; i < DEADLINE; i++) {
		reply = http_send(h, &q, why);
		if (reply.status || reply.class != HTTP_AGAIN)
			break;
	}
	return reply;
}

/* GET of the documents that `where` asks for; NULL: *class and e->why say why not. */
static struct jv *eve_request(struct eve *e, struct str where, const char *rest, enum http_class *class,
			      uint64_t *total)
{
	struct http_reply reply;
	const char *wrong;
	struct jv *v;

	e->path.n = 0;
	text_add(&e->path, "?where=");
	http_escape(&e->path, where);
	text_add(&e->path, rest);
	reply = eve_query(e->http, "GET", text_view(&e->path), &e->why);
	*class = reply.class;
	if (reply.class != HTTP_DONE)
		return NULL;
	v = jv_parse(reply.body, &wrong);
	if (v && jv_is_array(jv_get(v, "_items"))) {
		if (!str_u64(reply.total, total))
			*total = UINT64_MAX;
		return v;
	}
	e->why.n = 0;
	text_add(&e->why, v ? "the answer has no _items: this is not Eve" : wrong);
	jv_free(v);
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

/* Some documents that were sent: which are there, and are they the same? */
struct is_requested {
	struct eve_id id[QUERY_MAX];
	struct str stack[QUERY_MAX];
	uint64_t count[QUERY_MAX];
	bool found[QUERY_MAX];
	size_t n;
};

static enum http_class eve_look(struct eve *e, struct is_requested *a, struct store_report *r)
{
	struct text where = { 0 };
	enum http_class class;
	uint64_t total;
	struct jv *v;

	text_add(&where, "{\"_id\":{\"$in\":[");
	for (size_t i = 0; i < a->n; i++)
		text_printf(&where, "%s\"%s\"", i ? "," : "", a->id[i].hex);
	text_add(&where, "]}}");
	v = eve_request(e, text_view(&where), "&max_results=50&projection=%7B%22stack%22:1,%22value%22:1%7D", &class,
			&total);
	r->requests++;
	for (size_t k = 0; v && k < jv_count(jv_get(v, "_items")); k++) {
		const struct jv *item = jv_at(jv_get(v, "_items"), k);
		struct str id;

		for (size_t i = 0; i < a->n && jv_str(jv_get(item, "_id"), &id); i++) {
			if (!str_eq(id, str_of(a->id[i].hex)))
				continue;
			a->found[i] = true;
			r->differs |= !same_doc(item, a->stack[i], a->count[i]);
		}
	}
	jv_free(v);
	text_free(&where);
	return class;
}

/* ---- sending ---------------------------------------------------------------------------------------------------- */

/* As %016x. */
static void eve_put_number(struct text *t, uint64_t n)
{
	char hex[16];

	for (int i = 16; i-- > 0; n >>= 4)
		hex[i] = "0123456789abcdef"[n & 15];
	text_bytes(t, hex, sizeof(hex));
}

static void eve_frame(struct text fixed[2], const struct window *w)
{
	text_printf(&fixed[0], "{\"_id\":\"%08" PRIx32, (uint32_t)w->epoch);
	text_printf(&fixed[1], "\",\"timestamp\":%" PRIu64 ",\"hostname\":", w->epoch);
	json_quote(&fixed[1], w->host);
	text_add(&fixed[1], ",\"stack\":");
}

static void eve_add(struct text *t, const struct window *w, const struct text fixed[2], struct str stack,
		    uint64_t count)
{
	text_str(t, text_view(&fixed[0]));
	eve_put_number(t, window_id(w, stack));
	text_str(t, text_view(&fixed[1]));
	json_quote(t, stack);
	text_add(t, ",\"value\":");
	text_u64(t, count);
	text_char(t, '}');
}

/* Does the answer confirm each of n documents? */
static bool eve_confirms(struct str body, size_t n)
{
	const char *wrong;
	struct jv *v = jv_parse(body, &wrong);
	const struct jv *items = jv_get(v, "_items");
	struct str status;
	bool all = n == 1 && !items ? jv_str(jv_get(v, "_status"), &status) && str_eq(status, STR("OK")) :
				      jv_count(items) == n;

	for (size_t i = 0; all && i < jv_count(items); i++)
		all = jv_str(jv_get(jv_at(items, i), "_status"), &status) && str_eq(status, STR("OK"));
	jv_free(v);
	return all;
}

/* Every k-th of the documents that were there, in one question. */
static enum http_class eve_compare(struct eve *e, const struct batch *b, size_t known, struct store_report *r)
{
	struct is_requested a = { 0 };
	struct str lines = b->stacks, stack;
	size_t step = (known + QUERY_MAX - 1) / QUERY_MAX;
	uint64_t count;

	for (size_t i = 0; i < known && window_next(&lines, &stack, &count); i++) {
		if (i % step)
			continue;
		a.id[a.n] = id_of(b->window, stack);
		a.stack[a.n] = stack;
		a.count[a.n++] = count;
	}
	return eve_look(e, &a, r);
}

static struct str eve_nth(struct str lines, size_t i)
{
	struct str stack = { 0 };
	uint64_t count;

	for (size_t k = 0; k <= i && window_next(&lines, &stack, &count); k++)
		;
	return stack;
}

/* A document of the batch is there: how many are? */
static enum http_class eve_search(struct eve *e, const struct batch *b, size_t *done, uint32_t *state,
				  struct store_report *r)
{
	size_t low = *state ? *state & 0xFFFF : 1, high = *state ? *state >> 16 : b->n;
	enum http_class class;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct http_reply reply;

		e->path.n = 0;
		text_printf(&e->path, "/%s", id_of(b->window, eve_nth(b->stacks, middle)).hex);
		reply = eve_query(e->http, "HEAD", text_view(&e->path), &e->why);
		r->requests++;
		*state = (uint32_t)(high << 16 | low);
		if (reply.class == HTTP_DONE)
			low = middle + 1;
		else if (reply.class == HTTP_HOLD && reply.status == 404)
			high = middle;
		else
			return reply.class;
	}
	*state = (uint32_t)(high << 16 | low);
	class = eve_compare(e, b, low, r);
	*done = low;
	return class;
}

static enum http_class eve_post(void *store, struct batch *b, size_t *done, size_t *known, uint32_t *state,
				struct store_report *r)
{
	struct eve *e = store;
	struct http_request q = { .method = "POST", .type = "application/json", .body = text_view(&b->body) };
	struct http_reply reply;
	enum http_class class;
	const char *wrong;
	struct jv *v;

	if (*state && (*state >> 16) <= b->n) { /* where the attempt before was broken off */
		class = HTTP_CONFLICT;
	} else {
		*state = 0;
		reply = http_send(e->http, &q, &e->why);
		r->requests++;
		r->bytes += reply.sent;
		r->after = reply.after;
		class = reply.class;
		if (class == HTTP_DONE && !eve_confirms(reply.body, b->n)) {
			e->why.n = 0;
			text_printf(&e->why, "HTTP %u, but not every document is confirmed: this is not Eve",
				    reply.status);
			class = HTTP_HOLD;
		} else if (class == HTTP_POISON && !jv_get(v = jv_parse(reply.body, &wrong), "_status")) {
			class = HTTP_HOLD; /* somebody in between: our bytes were never looked at */
			jv_free(v);
		} else if (class == HTTP_POISON) {
			jv_free(v);
		}
	}
	if (class == HTTP_CONFLICT) {
		class = eve_search(e, b, done, state, r);
		*known = *done;
	}
	if (class != HTTP_DONE) {
		r->why.n = 0;
		text_str(&r->why, text_view(&e->why));
	}
	return class;
}

/* Is the stack one of these lines? */
static bool is_in(struct str lines, struct str stack)
{
	struct str other;
	uint64_t count;

	while (window_next(&lines, &other, &count))
		if (str_eq(other, stack))
			return true;
	return false;
}

/* All that was sent is there, whatever the database confirmed; what is missing is sent again. */
static void eve_verify(struct eve *e, const struct window *w, struct store_report *r)
{
	struct str lines = w->stacks, refused = text_view(&r->refused);
	struct batch b = { .window = w };
	bool more = true;

	eve_frame(b.fixed, w);
	while (more && r->verdict == STORE_SENT) {
		struct is_requested a = { 0 };
		enum http_class class;
		size_t n = 0;

		while (a.n < QUERY_MAX && (more = window_next(&lines, &a.stack[a.n], &a.count[a.n]))) {
			a.id[a.n] = id_of(w, a.stack[a.n]);
			a.n++;
		}
		class = a.n ? eve_look(e, &a, r) : HTTP_DONE;
		b.body.n = 0;
		for (size_t i = 0; i < a.n && class == HTTP_DONE; i++) {
			if (a.found[i] || is_in(refused, a.stack[i]))
				continue;
			text_char(&b.body, n++ ? ',' : '[');
			eve_add(&b.body, w, b.fixed, a.stack[i], a.count[i]);
		}
		if (n) {
			struct http_request q = { .method = "POST",
						  .type = "application/json",
						  .body = (text_char(&b.body, ']'), text_view(&b.body)) };

			class = http_send(e->http, &q, &e->why).class;
			r->requests++;
		}
		if (class != HTTP_DONE) {
			r->verdict = batches_verdict(class == HTTP_CONFLICT ? HTTP_AGAIN : class, false);
			text_str(&r->why, text_view(&e->why));
		}
	}
	text_free(&b.fixed[0]);
	text_free(&b.fixed[1]);
	text_free(&b.body);
}

static void eve_send(void *store, const struct window *w, uint64_t *resume, bool isolate, struct store_report *r)
{
	struct eve *e = store;

	batches_send(&e->batches, e, w, resume, isolate, r);
	if (r->verdict == STORE_SENT && e->verify)
		eve_verify(e, w, r);
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

static void where_of(struct text *t, const struct store_query *q, struct str after)
{
	/* no document is older than its window; a day for clocks that differ */
	uint32_t least = q->from > 86400 ? q->from - 86400 < UINT32_MAX ? (uint32_t)(q->from - 86400) : UINT32_MAX : 0;

	t->n = 0;
	text_printf(t, "{\"timestamp\":{\"$gte\":%" PRIu64 ",\"$lt\":%" PRIu64 "},\"_id\":{\"$gt\":\"", q->from, q->to);
	if (after.n)
		text_str(t, after);
	else
		text_printf(t, "%08" PRIx32 "0000000000000000", least);
	text_add(t, "\"}");
	if (q->host.n) {
		text_add(t, ",\"hostname\":");
		json_quote(t, q->host);
	}
	text_char(t, '}');
}

/* Blanks in a stack are bytes of a frame; what would end a line is not. */
static void eve_add_line(struct text *t, struct str stack, uint64_t value)
{
	for (size_t i = 0; i < stack.n; i++)
		text_char(t, stack.p[i] == '\n' || stack.p[i] == 0 ? '_' : stack.p[i]);
	text_printf(t, " %" PRIu64 "\n", value);
}

struct reading {
	struct eve *eve;
	const struct store_query *query;
	const struct store_sink *sink;
	struct text lines, host; /* of the window that was told last */
	uint64_t epoch;
	bool begun;
	size_t bad;
};

static bool eve_flush(struct reading *g)
{
	bool good = !g->lines.n || g->sink->lines(g->sink->to, text_view(&g->lines));

	g->lines.n = 0;
	return good;
}

/* A window begins where one of the things changes that must not be added up. */
static bool eve_turn(struct reading *g, struct str host, uint64_t epoch)
{
	bool hosts = g->query->by == BY_HOST, times = g->query->by == BY_TIME;
	struct window w = { .unit = STR("samples"), .parts = 1 };

	if (g->begun && (!(hosts || times) || str_eq(host, text_view(&g->host))) && (!times || epoch == g->epoch))
		return true;
	if (!eve_flush(g))
		return false;
	g->begun = true;
	g->host.n = 0;
	text_str(&g->host, host);
	g->epoch = epoch;
	if (hosts || times || g->query->host.n)
		w.host = text_view(&g->host);
	if (times)
		w.epoch = epoch;
	return g->sink->window(g->sink->to, &w);
}

static bool eve_take_item(struct reading *g, const struct jv *item)
{
	struct str host = { 0 }, stack;
	uint64_t epoch, value;

	jv_str(jv_get(item, "hostname"), &host);
	if (!jv_u64(jv_get(item, "timestamp"), &epoch) || !jv_str(jv_get(item, "stack"), &stack) ||
	    !jv_u64(jv_get(item, "value"), &value) || !stack.n || !value) {
		if (g->bad++ == 0 && g->sink->damaged)
			g->sink->damaged(g->sink->to, STR("eve"), "documents without timestamp, stack or value");
		return true;
	}
	if (!eve_turn(g, host, epoch))
		return false;
	eve_add_line(&g->lines, stack, value);
	return g->lines.n < 65536 || eve_flush(g);
}

/* Pages go on from the last id: numbers of pages make the database count, and "next" of Eve is no URL. */
static bool eve_pages(struct reading *g, struct text *why)
{
	static const char rest[] =
		"&sort=_id&max_results=1000&projection=%7B%22timestamp%22:1,%22hostname%22:1,%22stack%22:1,%22value%22:1%7D";
	struct text where = { 0 }, after = { 0 };
	bool good = true, more = true;

	while (good && more) {
		enum http_class class;
		uint64_t total;
		struct jv *v;
		size_t n;
		struct str id = { 0 };

		where_of(&where, g->query, text_view(&after));
		v = eve_request(g->eve, text_view(&where), rest, &class, &total);
		if (!v) {
			text_str(why, text_view(&g->eve->why));
			good = false;
			break;
		}
		n = jv_count(jv_get(v, "_items"));
		more = n > 0 && total > n;
		for (size_t i = 0; good && i < n; i++)
			good = eve_take_item(g, jv_at(jv_get(v, "_items"), i));
		if (more && (!jv_str(jv_get(jv_at(jv_get(v, "_items"), n - 1), "_id"), &id) ||
			     str_cmp(id, text_view(&after)) <= 0)) {
			text_add(why, "the documents come in no order: this is not Eve");
			good = false;
		}
		after.n = 0;
		text_str(&after, id);
		jv_free(v);
	}
	text_free(&where);
	text_free(&after);
	return good && eve_flush(g);
}

static bool take_sum(void *to, struct str stack, const struct jv *value)
{
	struct reading *g = to;
	uint64_t n;

	if (!stack.n || !jv_u64(value, &n) || !n) {
		if (g->bad++ == 0 && g->sink->damaged)
			g->sink->damaged(g->sink->to, STR("stacks"), "sums that are no whole numbers");
		return true;
	}
	eve_add_line(&g->lines, stack, n);
	return g->lines.n < 65536 || eve_flush(g);
}

/* The original's service adds up; its range has both ends, and no host is a host without name. */
static bool eve_sums(struct reading *g, struct text *why)
{
	const struct store_query *q = g->query;
	struct http_reply reply;
	const char *wrong;
	struct jv *v;
	bool good;

	g->eve->path.n = 0;
	text_printf(&g->eve->path, "/?start_time=%" PRIu64 "&end_time=%" PRIu64 "&hostname=", q->from, q->to - 1);
	http_escape(&g->eve->path, q->host.n ? q->host : STR("ALL"));
	reply = eve_query(g->eve->stacks, "GET", text_view(&g->eve->path), why);
	if (reply.class != HTTP_DONE)
		return false;
	v = jv_parse(reply.body, &wrong);
	if (!v) {
		text_add(why, wrong);
		return false;
	}
	good = eve_turn(g, q->host, 0) && jv_each(v, take_sum, g) && eve_flush(g);
	jv_free(v);
	return good;
}

static bool eve_fetch(void *store, const struct store_query *q, const struct store_sink *sink, struct text *why)
{
	struct eve *e = store;
	struct reading g = { .eve = e, .query = q, .sink = sink };
	bool good;

	if (q->from >= q->to)
		return true;
	if (q->nlabel || q->by == BY_LABEL || q->nevent) {
		text_add(why, "eve: keeps neither labels nor events");
		return false;
	}
	good = e->stacks && (q->by == BY_ALL || (q->by == BY_HOST && q->host.n)) ? eve_sums(&g, why) :
										   eve_pages(&g, why);
	text_free(&g.lines);
	text_free(&g.host);
	return good;
}

struct pair {
	uint64_t epoch;
	struct str host;
};

static int by_host(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	int order = str_cmp(x->host, y->host);

	return order ? order : x->epoch < y->epoch ? -1 : x->epoch > y->epoch;
}

/* The first document behind (epoch, host): a question for each window, not for each of its stacks. */
static void where_next(struct text *t, const struct store_query *q, const struct pair *last)
{
	t->n = 0;
	text_add(t, last && !q->host.n ? "{\"$or\":[{" : "{");
	text_printf(t, "\"timestamp\":{\"%s\":%" PRIu64 ",\"$lt\":%" PRIu64 "}", last ? "$gt" : "$gte",
		    last ? last->epoch : q->from, q->to);
	if (q->host.n) {
		text_add(t, ",\"hostname\":");
		json_quote(t, q->host);
	}
	text_char(t, '}');
	if (!last || q->host.n)
		return;
	text_printf(t, ",{\"timestamp\":%" PRIu64 ",\"hostname\":{\"$gt\":", last->epoch);
	json_quote(t, last->host);
	text_add(t, "}}]}");
}

static bool eve_list(void *store, const struct store_query *q, const struct store_sink *sink, struct text *why)
{
	static const char rest[] =
		"&sort=timestamp,hostname&max_results=1&projection=%7B%22timestamp%22:1,%22hostname%22:1%7D";
	struct eve *e = store;
	struct arena arena = { 0 };
	struct text where = { 0 };
	struct pair *pair = NULL;
	size_t n = 0;
	bool good = true;

	while (good && q->from < q->to) {
		struct pair next = { 0 };
		enum http_class class;
		const struct jv *item;
		uint64_t total;
		struct jv *v;

		where_next(&where, q, n ? &pair[n - 1] : NULL);
		v = eve_request(e, text_view(&where), rest, &class, &total);
		if (!v) {
			text_str(why, text_view(&e->why));
			good = false;
			break;
		}
		item = jv_at(jv_get(v, "_items"), 0);
		if (!item) {
			jv_free(v);
			break;
		}
		good = jv_u64(jv_get(item, "timestamp"), &next.epoch) && jv_str(jv_get(item, "hostname"), &next.host);
		if (good && n)
			good = next.epoch > pair[n - 1].epoch ||
			       (next.epoch == pair[n - 1].epoch && str_cmp(next.host, pair[n - 1].host) > 0);
		if (!good)
			text_add(why, "the documents come in no order, or without timestamp and hostname");
		next.host = arena_copy(&arena, next.host);
		pair = mem_more(pair, sizeof(*pair), n);
		pair[n++] = next;
		jv_free(v);
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

/* ---- */

static void eve_close(void *store)
{
	struct eve *e = store;

	http_close(e->http);
	http_close(e->stacks);
	text_free(&e->why);
	text_free(&e->path);
	free(e);
}

static void *eve_open(struct str where, const struct store_options *o, struct text *why)
{
	struct eve *e = mem_alloc(sizeof(*e), 1);

	e->batches = (struct batches){ .docs_max = DOCS_MAX,
				       .max_bytes = BYTE_COUNT_MAX,
				       .open = "[",
				       .between = ",",
				       .shut = "]",
				       .frame = eve_frame,
				       .add = eve_add,
				       .post = eve_post };
	e->verify = o->verify;
	e->http = store_http(where, o, why);
	if (e->http && o->stacks_url)
		e->stacks = store_http(str_of(o->stacks_url), o, why);
	if (!e->http || (o->stacks_url && !e->stacks)) {
		eve_close(e);
		return NULL;
	}
	if (!http_path(e->http).n)
		http_set_path(e->http, STR("/cpu"));
	return e;
}

const struct store_ops store_eve = {
	.scheme = "eve",
	.form = "eve:URL",
	.does = "the original pipeline's service: http://HOST:5001/cpu",
	.exact = true,
	.pids = true,
	.sums = true,
	.fp = true,
	.since = EPOCH_LEAST,
	.open = eve_open,
	.send = eve_send,
	.list = eve_list,
	.fetch = eve_fetch,
	.close = eve_close,
};
