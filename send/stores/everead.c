/* SPDX-License-Identifier: Apache-2.0 */
/* everead.c - reads windows from the store eve: page by page, or as sums of the original pipeline's service. */
#include "send/stores/eve.h"

#include "common/arena.h"

#include <inttypes.h>
#include <stdlib.h>

/* A window's name: its start in s since 1970 and its host. */
struct pair {
	uint64_t epoch;
	struct str host;
};

/* Sets *text to the condition for the documents of the query, or of one of its windows, whose ids are greater than
 * `after`. one NULL: all windows of the query. */
static void where_of(struct text *text, const struct store_query *query, const struct pair *one, struct str after)
{
	/* Lower limit of _id. An id begins with a time in s since 1970: the window's start, or the time at which the
	 * server created the document, which is later. One day is allowed for clocks that differ. */
	uint64_t from = one ? one->epoch : query->from, to = one ? one->epoch + 1 : query->to;
	uint32_t least = from > 86400 ? from - 86400 < UINT32_MAX ? (uint32_t)(from - 86400) : UINT32_MAX : 0;

	text->n = 0;
	text_printf(text, "{\"timestamp\":{\"$gte\":%" PRIu64 ",\"$lt\":%" PRIu64 "},\"_id\":{\"$gt\":\"", from, to);
	if (after.n)
		text_str(text, after);
	else
		text_printf(text, "%08" PRIx32 "0000000000000000", least);
	text_add(text, "\"}");
	if (one || query->host.n) {
		text_add(text, ",\"hostname\":");
		json_quote(text, one ? one->host : query->host);
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
	/* begun: true if a window was begun; bad: number of documents or sums without the expected members */
	bool begun;
	size_t bad;
};

static bool eve_flush(struct reading *reading)
{
	bool good = !reading->lines.n || reading->sink->lines(reading->sink->to, text_view(&reading->lines));

	reading->lines.n = 0;
	return good;
}

/* To be called for each document, with its host and time. For the first document, and if the query groups by host or
 * time and this host or time differs from that of the document before, delivers the lines so far and begins the next
 * window of the sink. Returns false if the sink stops. */
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

/* Reads all documents of the query, or of its window `one` unless that is NULL, page by page. Each page starts after
 * the last id of the page before: page numbers make the database count, and Eve's "next" link is not a URL. */
static bool eve_pages(struct reading *reading, const struct pair *one, struct text *why)
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

		where_of(&where, reading->query, one, text_view(&after));
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

/* A position in the windows of a query, in the order (epoch, host). Initialize it with {0}. */
struct eve_cursor {
	/* the current window, whose host is in `host`; undefined before the first window */
	struct pair pair;
	struct text host, where;
	/* begun: true if there is a current window; end: true if no window is left */
	bool begun, end;
};

/* Moves the cursor to the next window of the query, by one request for one document. Each window is after the window
 * before it, so that no server makes a window appear twice. Returns false on failure, with the reason in *why. */
static bool eve_next(struct eve *eve, const struct store_query *query, struct eve_cursor *cursor, struct text *why)
{
	static const char rest[] =
		"&sort=timestamp,hostname&max_results=1&projection=%7B%22timestamp%22:1,%22hostname%22:1%7D";
	const struct pair *last = cursor->begun ? &cursor->pair : NULL;
	struct pair next = { 0 };
	enum http_class class;
	const struct jv *item;
	uint64_t total;
	struct jv *value;
	bool good;

	where_next(&cursor->where, query, last);
	value = eve_request(eve, text_view(&cursor->where), rest, &class, &total);
	if (!value) {
		text_str(why, text_view(&eve->why));
		return false;
	}
	item = jv_at(jv_get(value, "_items"), 0);
	cursor->end = !item;
	good = !item ||
	       (jv_u64(jv_get(item, "timestamp"), &next.epoch) && jv_str(jv_get(item, "hostname"), &next.host) &&
		(!last || next.epoch > last->epoch ||
		 (next.epoch == last->epoch && str_cmp(next.host, last->host) > 0)));
	if (!good) {
		text_add(why, "the documents are not sorted, or have no timestamp and hostname");
	} else if (item) {
		cursor->host.n = 0;
		text_str(&cursor->host, next.host);
		cursor->pair = (struct pair){ next.epoch, text_view(&cursor->host) };
		cursor->begun = true;
	}
	jv_free(value);
	return good;
}

static void eve_cursor_free(struct eve_cursor *cursor)
{
	text_free(&cursor->host);
	text_free(&cursor->where);
}

/* Reads the query window by window: in the order of ids, documents of hosts whose windows begin in one second are
 * mixed. Needs memory for one page, regardless of the number of windows. */
static bool eve_each_window(struct reading *reading, struct text *why)
{
	struct eve_cursor cursor = { 0 };
	bool good = true;

	while (good && !cursor.end) {
		good = eve_next(reading->eve, reading->query, &cursor, why);
		if (good && !cursor.end)
			good = eve_pages(reading, &cursor.pair, why);
	}
	eve_cursor_free(&cursor);
	return good;
}

bool eve_fetch(void *store, const struct store_query *query, const struct store_sink *sink, struct text *why)
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
	       query->by == BY_TIME ? eve_each_window(&reading, why) :
				      eve_pages(&reading, NULL, why);
	text_free(&reading.lines);
	text_free(&reading.host);
	return good;
}

static int by_host(const void *a, const void *b)
{
	const struct pair *pair = a, *y = b;
	int order = str_cmp(pair->host, y->host);

	return order ? order : pair->epoch < y->epoch ? -1 : pair->epoch > y->epoch;
}

bool eve_list(void *store, const struct store_query *query, const struct store_sink *sink, struct text *why)
{
	struct arena arena = { 0 };
	struct eve_cursor cursor = { 0 };
	struct pair *pair = NULL;
	size_t n = 0;
	bool good = true;

	while (good && query->from < query->to) {
		good = eve_next(store, query, &cursor, why);
		if (!good || cursor.end)
			break;
		pair = mem_more(pair, sizeof(*pair), n);
		pair[n++] = (struct pair){ cursor.pair.epoch, arena_copy(&arena, cursor.pair.host) };
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
	eve_cursor_free(&cursor);
	return good;
}
