/* SPDX-License-Identifier: Apache-2.0 */
/*
 * couch: - a document for each window, in CouchDB or what speaks like it.
 *
 * Exact because a document has the name HOST:EPOCH:STREAM:MACHINE and is never changed: one that is there already (409)
 * is looked at, not written. The folded text is an attachment, so lists of documents stay small. Ranges are ranges of
 * names. The server adds nothing up: whoever reads does.
 */
#include "send/stores/batches.h"

#include "common/arena.h"
#include "send/http/json.h"
#include "send/format/pack.h"
#include "send/stores.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <fcntl.h>
#include <sys/mman.h>

#define PAGE 200 /* documents in one answer */
#define DEADLINE 4

struct couch {
	struct http *http;
	struct text path;
};

/* Names sort by host, then time: ten digits until the year 2286. */
static void couch_add_name(struct text *t, const struct window *w)
{
	utf8_mend(t, w->host);
	text_printf(t, ":%010" PRIu64 ":%016" PRIx64 ":%016" PRIx64, w->epoch, w->stream, w->machine);
}

static void add_base64(struct text *t, struct str s)
{
	static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	text_reserve(t, s.n / 3 * 4 + 4);
	for (size_t i = 0; i < s.n; i += 3) {
		uint32_t v = (uint32_t)(unsigned char)s.p[i] << 16;

		if (i + 1 < s.n)
			v |= (uint32_t)(unsigned char)s.p[i + 1] << 8;
		if (i + 2 < s.n)
			v |= (unsigned char)s.p[i + 2];
		text_char(t, digit[v >> 18]);
		text_char(t, digit[v >> 12 & 63]);
		text_char(t, i + 1 < s.n ? digit[v >> 6 & 63] : '=');
		text_char(t, i + 2 < s.n ? digit[v & 63] : '=');
	}
}

/* Its number, by which one that is there already is known to be the same. */
static uint64_t couch_sum_of(const struct window *w)
{
	struct str lines = w->stacks, stack;
	uint64_t n, sum = 0;

	while (window_next(&lines, &stack, &n))
		sum += window_id(w, stack) * (2 * n + 1);
	return sum;
}

static bool couch_make(struct text *t, const struct window *w)
{
	struct text packed = { 0 }, head = { 0 }, all = { 0 };
	struct str labels = w->labels, key, value;
	bool good;

	window_header(&head, w);
	text_str(&all, text_view(&head));
	text_str(&all, w->stacks);
	good = pack_gzip(&packed, text_view(&all), 6);
	text_add(t, "{\"hostname\":");
	json_quote(t, w->host);
	text_printf(t, ",\"timestamp\":%" PRIu64 ",\"until\":%" PRIu64 ",\"unit\":", w->epoch, w->until);
	json_quote(t, w->unit);
	text_add(t, ",\"event\":");
	json_quote(t, w->event);
	text_add(t, ",\"frequency\":");
	json_quote(t, w->frequency);
	text_add(t, ",\"labels\":{");
	for (bool first = true; label_next(&labels, &key, &value); first = false) {
		text_add(t, first ? "" : ",");
		json_quote(t, key);
		text_char(t, ':');
		json_quote(t, value);
	}
	text_printf(t, "},\"samples\":%" PRIu64, w->samples);
	if (w->lost_known)
		text_printf(t, ",\"lost\":%" PRIu64, w->lost);
	text_printf(t,
		    ",\"sum\":\"%016" PRIx64
		    "\",\"_attachments\":{\"folded.gz\":{\"content_type\":\"application/gzip\",\"data\":\"",
		    couch_sum_of(w));
	add_base64(t, text_view(&packed));
	text_add(t, "\"}}}");
	text_free(&packed);
	text_free(&head);
	text_free(&all);
	return good;
}

static struct http_reply couch_query(struct couch *c, const char *method, struct text *why)
{
	struct http_request q = { .method = method, .path = text_view(&c->path) };
	struct http_reply r;

	for (int i = 0; i < DEADLINE; i++) {
		r = http_send(c->http, &q, why);
		if (r.status || r.class != HTTP_AGAIN)
			break;
	}
	return r;
}

/* It is there: is it this one? */
static enum http_class couch_compare(struct couch *c, const struct window *w, struct store_report *r)
{
	struct http_reply reply = couch_query(c, "GET", &r->why);
	struct text sum = { 0 };
	const char *wrong = "it is there, but says nothing of itself";
	struct str stored;
	struct jv *v;

	r->requests++;
	if (reply.class != HTTP_DONE)
		return reply.class;
	v = jv_parse(reply.body, &wrong);
	text_printf(&sum, "%016" PRIx64, couch_sum_of(w));
	r->differs = !jv_str(jv_get(v, "sum"), &stored) || !str_eq(stored, text_view(&sum));
	jv_free(v);
	text_free(&sum);
	r->known = 1;
	return HTTP_DONE;
}

static void couch_send(void *store, const struct window *w, uint64_t *resume, bool isolate, struct store_report *r)
{
	struct couch *c = store;
	struct text body = { 0 }, name = { 0 };
	struct http_request q = { .method = "PUT", .type = "application/json" };
	struct http_reply reply;
	enum http_class class;
	const char *wrong;
	struct jv *v;

	(void)resume;
	if (!couch_make(&body, w)) {
		text_add(&r->why, "no memory to pack it");
		r->verdict = STORE_LATER;
		return;
	}
	c->path.n = 0;
	text_char(&c->path, '/');
	couch_add_name(&name, w);
	http_escape(&c->path, text_view(&name));
	q.path = text_view(&c->path);
	q.body = text_view(&body);
	reply = http_send(c->http, &q, &r->why);
	r->requests = 1;
	r->bytes = reply.sent;
	r->after = reply.after;
	class = reply.class;
	v = jv_parse(reply.body, &wrong);
	if (class == HTTP_DONE && !jv_true(jv_get(v, "ok"))) {
		text_printf(&r->why, "HTTP %u, but not as CouchDB confirms", reply.status);
		class = HTTP_HOLD;
	} else if (class == HTTP_POISON && !jv_get(v, "error")) {
		class = HTTP_HOLD; /* somebody in between */
	} else if (class == HTTP_HOLD && reply.status == 404) {
		text_add(&r->why, " (the database is not there: curl -X PUT its URL)");
	}
	jv_free(v);
	if (class == HTTP_CONFLICT)
		class = couch_compare(c, w, r);
	else if (class == HTTP_DONE)
		r->documents = 1;
	r->verdict = batches_verdict(class, isolate);
	if (r->verdict == STORE_REFUSED) {
		text_str(&r->refused, w->stacks);
		text_str(&r->refused_why, text_view(&r->why));
	}
	text_free(&body);
	text_free(&name);
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

/* Documents that may be wanted, read before their attachments, as an answer lives until the next request. */
struct found {
	struct str name;
	struct window w;
};

struct page {
	struct arena arena;
	struct found *found;
	size_t n;
	size_t rows; /* that the server sent */
	struct str last;
};

static struct str couch_copy(struct arena *a, const struct jv *v)
{
	struct str s = { 0 };

	return jv_str(v, &s) ? arena_copy(a, s) : s;
}

static bool add_label(void *to, struct str key, const struct jv *value)
{
	struct str s;

	if (jv_str(value, &s))
		text_printf(to, "%s%.*s=%.*s", ((struct text *)to)->n ? "," : "", (int)key.n, key.p, (int)s.n, s.p);
	return true;
}

static void take_doc(struct page *p, const struct store_query *q, struct str name, const struct jv *doc)
{
	struct found f = { .name = arena_copy(&p->arena, name), .w = { .parts = 1 } };
	struct text labels = { 0 };

	if (!jv_u64(jv_get(doc, "timestamp"), &f.w.epoch) || !jv_u64(jv_get(doc, "until"), &f.w.until))
		return; /* not one of ours */
	f.w.host = couch_copy(&p->arena, jv_get(doc, "hostname"));
	f.w.unit = couch_copy(&p->arena, jv_get(doc, "unit"));
	f.w.event = couch_copy(&p->arena, jv_get(doc, "event"));
	f.w.frequency = couch_copy(&p->arena, jv_get(doc, "frequency"));
	jv_u64(jv_get(doc, "samples"), &f.w.samples);
	f.w.lost_known = jv_u64(jv_get(doc, "lost"), &f.w.lost);
	jv_each(jv_get(doc, "labels"), add_label, &labels);
	f.w.labels = arena_copy(&p->arena, text_view(&labels));
	text_free(&labels);
	if (f.w.epoch < q->from || f.w.epoch >= q->to || !f.w.host.n || !store_wants(q, &f.w))
		return;
	p->found = mem_more(p->found, sizeof(*p->found), p->n);
	p->found[p->n++] = f;
}

/* Documents behind p->last, in order of their names: of all hosts that is all of them, of one host a range. */
static bool read_page(struct couch *c, struct page *p, const struct store_query *q, struct text *why)
{
	struct text key = { 0 };
	struct http_reply reply;
	const char *wrong = "no rows";
	const struct jv *rows;
	struct str name = { 0 };
	struct jv *v;

	c->path.n = 0;
	text_printf(&c->path, "/_all_docs?include_docs=true&limit=%d&startkey=", PAGE);
	if (p->last.n) {
		json_quote(&key, p->last);
	} else {
		struct text first = { 0 };

		utf8_mend(&first, q->host);
		if (q->host.n)
			text_printf(&first, ":%010" PRIu64, q->from);
		json_quote(&key, text_view(&first));
		text_free(&first);
	}
	http_escape(&c->path, text_view(&key));
	if (q->host.n) {
		struct text last = { 0 };

		utf8_mend(&last, q->host);
		text_printf(&last, ":%010" PRIu64, q->to < 9999999999 ? q->to : 9999999999);
		key.n = 0;
		json_quote(&key, text_view(&last));
		text_add(&c->path, "&endkey=");
		http_escape(&c->path, text_view(&key));
		text_free(&last);
	}
	text_free(&key);
	reply = couch_query(c, "GET", why);
	if (reply.class != HTTP_DONE)
		return false;
	v = jv_parse(reply.body, &wrong);
	rows = jv_get(v, "rows");
	if (!jv_is_array(rows)) {
		text_add(why, v ? "the answer has no rows: this is not CouchDB" : wrong);
		jv_free(v);
		return false;
	}
	p->rows = jv_count(rows);
	p->n = 0;
	for (size_t i = 0; i < p->rows; i++)
		if (jv_str(jv_get(jv_at(rows, i), "id"), &name) && !str_eq(name, p->last))
			take_doc(p, q, name, jv_get(jv_at(rows, i), "doc"));
	if (p->rows >= PAGE && str_cmp(name, p->last) <= 0) {
		text_add(why, "the documents come in no order: this is not CouchDB");
		jv_free(v);
		return false;
	}
	p->last = arena_copy(&p->arena, name);
	jv_free(v);
	return true;
}

/* An attachment, unpacked, to the sink. False: see *why; if that is empty the sink has enough. */
static bool couch_read_text(struct couch *c, const struct found *f, const struct store_sink *sink, struct text *why)
{
	int fd = memfd_create("folded", MFD_CLOEXEC);
	struct unpack u = { 0 };
	struct http_reply reply;
	struct str lines, line;
	bool good = true;

	c->path.n = 0;
	text_char(&c->path, '/');
	http_escape(&c->path, f->name);
	text_add(&c->path, "/folded.gz");
	reply = couch_query(c, "GET", why);
	if (reply.class != HTTP_DONE || fd < 0 || write(fd, reply.body.p, reply.body.n) != (ssize_t)reply.body.n ||
	    lseek(fd, 0, SEEK_SET) != 0) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	good = sink->window(sink->to, &f->w);
	unpack_open(&u, fd);
	while (good && unpack_lines(&u, &lines)) {
		while (lines.n && lines.p[0] == '#') {
			line = lines;
			str_cut(&line, '\n');
			lines = line;
		}
		good = !lines.n || sink->lines(sink->to, lines);
	}
	if (good && u.errors && sink->damaged)
		sink->damaged(sink->to, f->name, u.errors);
	unpack_close(&u);
	close(fd);
	return good;
}

static bool couch_each(void *store, const struct store_query *q, const struct store_sink *sink, struct text *why,
		       bool texts)
{
	struct couch *c = store;
	struct page p = { 0 };
	bool good = true;

	if (q->from < q->to) {
		do {
			good = read_page(c, &p, q, why);
			for (size_t i = 0; good && i < p.n; i++)
				good = texts ? couch_read_text(c, &p.found[i], sink, why) :
					       sink->window(sink->to, &p.found[i].w);
		} while (good && p.rows >= PAGE);
	}
	free(p.found);
	arena_free(&p.arena);
	return good;
}

static bool couch_fetch(void *store, const struct store_query *q, const struct store_sink *sink, struct text *why)
{
	return couch_each(store, q, sink, why, true);
}

static bool couch_list(void *store, const struct store_query *q, const struct store_sink *sink, struct text *why)
{
	return couch_each(store, q, sink, why, false);
}

/* ---- */

static void couch_close(void *store)
{
	struct couch *c = store;

	http_close(c->http);
	text_free(&c->path);
	free(c);
}

static void *couch_open(struct str where, const struct store_options *o, struct text *why)
{
	struct couch *c = mem_alloc(sizeof(*c), 1);

	c->http = store_http(where, o, why);
	if (c->http && http_path(c->http).n)
		return c;
	if (c->http)
		text_add(why, "behind the server comes the database: /pj");
	couch_close(c);
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
