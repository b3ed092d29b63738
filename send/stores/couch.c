/* SPDX-License-Identifier: Apache-2.0 */
/*
 * couch.c - the store couch:, with one document for each window, in CouchDB or a compatible database.
 *
 * The store is exact: a document has the name HOST:EPOCH:STREAM:MACHINE and is never changed. If it exists (status
 * 409), its content is compared, not overwritten. The folded text is an attachment, so lists of documents stay small.
 * Time ranges are ranges of names. The server does not add windows up; the reader does.
 */
#include "send/stores/batches.h"

#include "common/arena.h"
#include "send/http/json.h"
#include "send/format/pack.h"
#include "send/stores.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fcntl.h>
#include <sys/mman.h>

/* number of documents in one response */
#define PAGE 200
/* maximum number of attempts of a query, without a pause between them */
#define DEADLINE 4

struct couch {
	struct http *http;
	struct text path;
};

/* Appends the name of a window's document. Names sort by host, then by time, as epochs have ten digits until the year
 * 2286. */
static void couch_add_name(struct text *text, const struct window *window)
{
	utf8_mend(text, window->host);
	text_printf(text, ":%010" PRIu64 ":%016" PRIx64 ":%016" PRIx64, window->epoch, window->stream, window->machine);
}

static void add_base64(struct text *text, struct str string)
{
	static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	text_reserve(text, string.n / 3 * 4 + 4);
	for (size_t i = 0; i < string.n; i += 3) {
		uint32_t value = (uint32_t)(unsigned char)string.p[i] << 16;

		if (i + 1 < string.n)
			value |= (uint32_t)(unsigned char)string.p[i + 1] << 8;
		if (i + 2 < string.n)
			value |= (unsigned char)string.p[i + 2];
		text_char(text, digit[value >> 18]);
		text_char(text, digit[value >> 12 & 63]);
		text_char(text, i + 1 < string.n ? digit[value >> 6 & 63] : '=');
		text_char(text, i + 2 < string.n ? digit[value & 63] : '=');
	}
}

/* Returns a hash of a window's stacks and weights, to compare the window with an existing document. */
static uint64_t couch_sum_of(const struct window *window)
{
	struct str lines = window->stacks, stack;
	uint64_t n, sum = 0;

	while (window_next(&lines, &stack, &n))
		sum += window_id(window, stack) * (2 * n + 1);
	return sum;
}

static bool couch_make(struct text *text, const struct window *window)
{
	struct text packed = { 0 }, head = { 0 }, all = { 0 };
	struct str labels = window->labels, key, value;
	bool good;

	window_header(&head, window);
	text_str(&all, text_view(&head));
	text_str(&all, window->stacks);
	good = pack_gzip(&packed, text_view(&all), 6);
	text_add(text, "{\"hostname\":");
	json_quote(text, window->host);
	text_printf(text, ",\"timestamp\":%" PRIu64 ",\"until\":%" PRIu64 ",\"unit\":", window->epoch, window->until);
	json_quote(text, window->unit);
	text_add(text, ",\"event\":");
	json_quote(text, window->event);
	text_add(text, ",\"frequency\":");
	json_quote(text, window->frequency);
	text_add(text, ",\"labels\":{");
	for (bool first = true; label_next(&labels, &key, &value); first = false) {
		text_add(text, first ? "" : ",");
		json_quote(text, key);
		text_char(text, ':');
		json_quote(text, value);
	}
	text_printf(text, "},\"samples\":%" PRIu64, window->samples);
	if (window->lost_known)
		text_printf(text, ",\"lost\":%" PRIu64, window->lost);
	text_printf(text,
		    ",\"sum\":\"%016" PRIx64
		    "\",\"_attachments\":{\"folded.gz\":{\"content_type\":\"application/gzip\",\"data\":\"",
		    couch_sum_of(window));
	add_base64(text, text_view(&packed));
	text_add(text, "\"}}}");
	text_free(&packed);
	text_free(&head);
	text_free(&all);
	return good;
}

static struct http_reply couch_query(struct couch *couch, const char *method, struct text *why)
{
	struct http_request request = { .method = method, .path = text_view(&couch->path) };
	struct http_reply reply;

	for (int i = 0; i < DEADLINE; i++) {
		reply = http_send(couch->http, &request, why);
		if (reply.status || reply.class != HTTP_AGAIN)
			break;
	}
	return reply;
}

/* Compares the existing document of the window's name with the window, by their hashes, and sets report->differs. */
static enum http_class couch_compare(struct couch *couch, const struct window *window, struct store_report *report)
{
	struct http_reply reply = couch_query(couch, "GET", &report->why);
	struct text sum = { 0 };
	const char *wrong = "the stored document has no metadata";
	struct str stored;
	struct jv *value;

	report->requests++;
	if (reply.class != HTTP_DONE)
		return reply.class;
	value = jv_parse(reply.body, &wrong);
	text_printf(&sum, "%016" PRIx64, couch_sum_of(window));
	report->differs = !jv_str(jv_get(value, "sum"), &stored) || !str_eq(stored, text_view(&sum));
	jv_free(value);
	text_free(&sum);
	report->known = 1;
	return HTTP_DONE;
}

static void couch_send(void *store, const struct window *window, uint64_t *resume, bool isolate,
		       struct store_report *report)
{
	struct couch *couch = store;
	struct text body = { 0 }, name = { 0 };
	struct http_request request = { .method = "PUT", .type = "application/json" };
	struct http_reply reply;
	enum http_class class;
	const char *wrong;
	struct jv *value;

	(void)resume;
	if (!couch_make(&body, window)) {
		text_add(&report->why, "out of memory to compress it");
		report->verdict = STORE_LATER;
		return;
	}
	couch->path.n = 0;
	text_char(&couch->path, '/');
	couch_add_name(&name, window);
	http_escape(&couch->path, text_view(&name));
	request.path = text_view(&couch->path);
	request.body = text_view(&body);
	reply = http_send(couch->http, &request, &report->why);
	report->requests = 1;
	report->bytes = reply.sent;
	report->after = reply.after;
	class = reply.class;
	value = jv_parse(reply.body, &wrong);
	if (class == HTTP_DONE && !jv_true(jv_get(value, "ok"))) {
		text_printf(&report->why, "HTTP %u, but not a confirmation of CouchDB", reply.status);
		class = HTTP_HOLD;
	} else if (class == HTTP_POISON && !jv_get(value, "error")) {
		/* a response without CouchDB's "error" comes from a proxy */
		class = HTTP_HOLD;
	} else if (class == HTTP_HOLD && reply.status == 404) {
		text_add(&report->why, " (the database does not exist: curl -X PUT its URL)");
	}
	jv_free(value);
	if (class == HTTP_CONFLICT)
		class = couch_compare(couch, window, report);
	else if (class == HTTP_DONE)
		report->documents = 1;
	report->verdict = batches_verdict(class, isolate);
	if (report->verdict == STORE_REFUSED) {
		text_str(&report->refused, window->stacks);
		text_str(&report->refused_why, text_view(&report->why));
	}
	text_free(&body);
	text_free(&name);
}

/* ---- reading windows --------------------------------------------------------------------------------------------- */

/* A document that the query selects. A page of documents is copied before their attachments are read, as a response is
 * valid only until the next request. */
struct found {
	struct str name;
	struct window w;
};

struct page {
	struct arena arena;
	struct found *found;
	size_t n;
	/* number of rows in the response, including those that the query does not select */
	size_t rows;
	/* name of the last document in the response, at which the next page starts; empty for the first page */
	struct str last;
};

static struct str couch_copy(struct arena *arena, const struct jv *value)
{
	struct str string = { 0 };

	return jv_str(value, &string) ? arena_copy(arena, string) : string;
}

static bool add_label(void *to, struct str key, const struct jv *value)
{
	struct str string;

	if (jv_str(value, &string))
		text_printf(to, "%s%.*s=%.*s", ((struct text *)to)->n ? "," : "", (int)key.n, key.p, (int)string.n,
			    string.p);
	return true;
}

static void take_doc(struct page *page, const struct store_query *query, struct str name, const struct jv *doc)
{
	struct found found = { .name = arena_copy(&page->arena, name), .w = { .parts = 1 } };
	struct text labels = { 0 };

	if (!jv_u64(jv_get(doc, "timestamp"), &found.w.epoch) || !jv_u64(jv_get(doc, "until"), &found.w.until))
		/* ignores a document without timestamp or until: pj did not write it */
		return;
	found.w.host = couch_copy(&page->arena, jv_get(doc, "hostname"));
	found.w.unit = couch_copy(&page->arena, jv_get(doc, "unit"));
	found.w.event = couch_copy(&page->arena, jv_get(doc, "event"));
	found.w.frequency = couch_copy(&page->arena, jv_get(doc, "frequency"));
	jv_u64(jv_get(doc, "samples"), &found.w.samples);
	found.w.lost_known = jv_u64(jv_get(doc, "lost"), &found.w.lost);
	jv_each(jv_get(doc, "labels"), add_label, &labels);
	found.w.labels = arena_copy(&page->arena, text_view(&labels));
	text_free(&labels);
	if (found.w.epoch < query->from || found.w.epoch >= query->to || !found.w.host.n ||
	    !store_wants(query, &found.w))
		return;
	page->found = mem_more(page->found, sizeof(*page->found), page->n);
	page->found[page->n++] = found;
}

/* Reads the next page of documents, those with names after page->last: of all hosts, or of the query's host within the
 * query's time range. Returns false on failure, with the reason in *why. */
static bool read_page(struct couch *couch, struct page *page, const struct store_query *query, struct text *why)
{
	struct text key = { 0 };
	struct http_reply reply;
	const char *wrong = "no rows";
	const struct jv *rows;
	struct str name = { 0 };
	struct jv *value;

	couch->path.n = 0;
	text_printf(&couch->path, "/_all_docs?include_docs=true&limit=%d&startkey=", PAGE);
	if (page->last.n) {
		json_quote(&key, page->last);
	} else {
		struct text first = { 0 };

		utf8_mend(&first, query->host);
		if (query->host.n)
			text_printf(&first, ":%010" PRIu64, query->from);
		json_quote(&key, text_view(&first));
		text_free(&first);
	}
	http_escape(&couch->path, text_view(&key));
	if (query->host.n) {
		struct text last = { 0 };

		utf8_mend(&last, query->host);
		text_printf(&last, ":%010" PRIu64, query->to < 9999999999 ? query->to : 9999999999);
		key.n = 0;
		json_quote(&key, text_view(&last));
		text_add(&couch->path, "&endkey=");
		http_escape(&couch->path, text_view(&key));
		text_free(&last);
	}
	text_free(&key);
	reply = couch_query(couch, "GET", why);
	if (reply.class != HTTP_DONE)
		return false;
	value = jv_parse(reply.body, &wrong);
	rows = jv_get(value, "rows");
	if (!jv_is_array(rows)) {
		text_add(why, value ? "the answer has no rows: this is not CouchDB" : wrong);
		jv_free(value);
		return false;
	}
	page->rows = jv_count(rows);
	page->n = 0;
	for (size_t i = 0; i < page->rows; i++)
		if (jv_str(jv_get(jv_at(rows, i), "id"), &name) && !str_eq(name, page->last))
			take_doc(page, query, name, jv_get(jv_at(rows, i), "doc"));
	if (page->rows >= PAGE && str_cmp(name, page->last) <= 0) {
		text_add(why, "the documents are not sorted: this is not CouchDB");
		jv_free(value);
		return false;
	}
	page->last = arena_copy(&page->arena, name);
	jv_free(value);
	return true;
}

/* Returns a memfd with the compressed text of a window, at its start; -1 and the reason in *why on failure. */
static int couch_copy_text(struct str body, struct text *why)
{
	int fd = memfd_create("folded", MFD_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : write(fd, body.p, body.n);

	if (n == (ssize_t)body.n && lseek(fd, 0, SEEK_SET) == 0)
		return fd;
	text_printf(why, "cannot copy the folded text of a window, %zu bytes: %s", body.n,
		    n < 0 ? strerror(errno) : "short write");
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Reads and decompresses the attachment of a document and passes its lines to the sink. Returns false on failure, with
 * the reason in *why; *why is empty if the sink stopped. */
static bool couch_read_text(struct couch *couch, const struct found *found, const struct store_sink *sink,
			    struct text *why)
{
	struct unpack unpack = { 0 };
	struct http_reply reply;
	struct str lines, line;
	bool good = true;
	int fd;

	couch->path.n = 0;
	text_char(&couch->path, '/');
	http_escape(&couch->path, found->name);
	text_add(&couch->path, "/folded.gz");
	reply = couch_query(couch, "GET", why);
	if (reply.class != HTTP_DONE)
		return false;
	fd = couch_copy_text(reply.body, why);
	if (fd < 0)
		return false;
	good = sink->window(sink->to, &found->w);
	unpack_open(&unpack, fd);
	while (good && unpack_lines(&unpack, &lines)) {
		while (lines.n && lines.p[0] == '#') {
			line = lines;
			str_cut(&line, '\n');
			lines = line;
		}
		good = !lines.n || sink->lines(sink->to, lines);
	}
	if (good && unpack.errors && sink->damaged)
		sink->damaged(sink->to, found->name, unpack.errors);
	unpack_close(&unpack);
	close(fd);
	return good;
}

static bool couch_each(void *store, const struct store_query *query, const struct store_sink *sink, struct text *why,
		       bool texts)
{
	struct couch *couch = store;
	struct page page = { 0 };
	bool good = true;

	if (query->from < query->to) {
		do {
			good = read_page(couch, &page, query, why);
			for (size_t i = 0; good && i < page.n; i++)
				good = texts ? couch_read_text(couch, &page.found[i], sink, why) :
					       sink->window(sink->to, &page.found[i].w);
		} while (good && page.rows >= PAGE);
	}
	free(page.found);
	arena_free(&page.arena);
	return good;
}

static bool couch_fetch(void *store, const struct store_query *query, const struct store_sink *sink, struct text *why)
{
	return couch_each(store, query, sink, why, true);
}

static bool couch_list(void *store, const struct store_query *query, const struct store_sink *sink, struct text *why)
{
	return couch_each(store, query, sink, why, false);
}

/* ---- interface of the store -------------------------------------------------------------------------------------- */

static void couch_close(void *store)
{
	struct couch *couch = store;

	http_close(couch->http);
	text_free(&couch->path);
	free(couch);
}

static void *couch_open(struct str where, const struct store_options *options, struct text *why)
{
	struct couch *couch = mem_alloc(sizeof(*couch), 1);

	couch->http = store_http(where, options, why);
	if (couch->http && http_path(couch->http).n)
		return couch;
	if (couch->http)
		text_add(why, "the server must be followed by the database: /pj");
	couch_close(couch);
	return NULL;
}

const struct store_ops store_couch = {
	.scheme = "couch",
	.form = "couch:URL",
	.does = "a database of CouchDB: http://HOST:5984/DATABASE; a document a window",
	.exact = true,
	.open = couch_open,
	.send = couch_send,
	.list = couch_list,
	.fetch = couch_fetch,
	.close = couch_close,
};
