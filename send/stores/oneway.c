/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ndjson: and pyroscope: - for other programs; nothing comes back from there.
 *
 * Neither knows what it has already: who is killed between sending and being confirmed sends again, and counts twice.
 * ndjson: a line of JSON for each stack, appended window by window, or to standard output. pyroscope: folded text to
 * /ingest, which takes no window that is older than an hour.
 */
#include "send/stores/batches.h"

#include "common/arena.h"
#include "send/http/json.h"
#include "common/files/outpath.h"
#include "send/stores.h"
#include "common/files/fullio.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- ndjson ----------------------------------------------------------------------------------------------------- */

struct ndjson {
	int fd;
	bool ours, regular;
};

static void add_facts(struct text *t, const struct window *w)
{
	struct str labels = w->labels, key, value;

	text_printf(t, "\"timestamp\":%" PRIu64 ",\"until\":%" PRIu64 ",\"hostname\":", w->epoch, w->until);
	json_quote(t, w->host);
	text_printf(t, ",\"machine\":\"%016" PRIx64 "\",\"stream\":\"%016" PRIx64 "\",\"unit\":", w->machine,
		    w->stream);
	json_quote(t, w->unit);
	text_add(t, ",\"event\":");
	json_quote(t, w->event);
	text_add(t, ",\"labels\":{");
	for (bool first = true; label_next(&labels, &key, &value); first = false) {
		text_add(t, first ? "" : ",");
		json_quote(t, key);
		text_char(t, ':');
		json_quote(t, value);
	}
	text_add(t, "}");
}

static void ndjson_send(void *store, const struct window *w, uint64_t *resume, bool isolate, struct store_report *r)
{
	struct ndjson *n = store;
	struct str lines = w->stacks, stack;
	struct text t = { 0 }, facts = { 0 };
	off_t before = n->regular ? lseek(n->fd, 0, SEEK_END) : -1;
	uint64_t count;

	(void)resume;
	(void)isolate;
	add_facts(&facts, w);
	for (; window_next(&lines, &stack, &count); r->documents++) {
		text_printf(&t, "{\"id\":\"%08" PRIx32 "%016" PRIx64 "\",", (uint32_t)w->epoch, window_id(w, stack));
		text_str(&t, text_view(&facts));
		text_add(&t, ",\"stack\":");
		json_quote(&t, stack);
		text_printf(&t, ",\"value\":%" PRIu64 "}\n", count);
	}
	r->bytes = t.n;
	if (!fullio_write(n->fd, text_view(&t)) || (n->regular && fdatasync(n->fd) != 0)) {
		r->verdict = STORE_LATER;
		r->documents = 0;
		text_add(&r->why, strerror(errno));
		if (before >= 0 && ftruncate(n->fd, before) != 0) /* half a window is none */
			text_printf(&r->why, "; what was written of it stays: %s", strerror(errno));
	}
	text_free(&t);
	text_free(&facts);
}

/* Opens a file to append to; one that another user may have planted is refused. */
static int oneway_open_file(const char *path, struct text *why)
{
	struct outpath place;
	int fd = -1;

	if (outpath_resolve(&place, path)) {
		if (place.fd < 0 && !place.magic)
			fd = openat(place.folder, place.name,
				    O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0640);
		else
			fd = outpath_open(&place, O_WRONLY | O_APPEND);
	}
	if (fd < 0)
		text_add(why, place.refused[0] ? place.refused : strerror(errno));
	outpath_close(&place);
	return fd;
}

static void *ndjson_open(struct str where, const struct store_options *o, struct text *why)
{
	struct ndjson *n = mem_alloc(sizeof(*n), 1);
	struct text path = { 0 };
	struct stat st;

	(void)o;
	text_printf(&path, "%.*s%c", (int)where.n, where.p, 0);
	n->ours = !str_eq(where, STR("-"));
	n->fd = n->ours ? oneway_open_file(path.p, why) : STDOUT_FILENO;
	text_free(&path);
	if (n->fd < 0 || fstat(n->fd, &st) != 0) {
		if (why->n == 0)
			text_add(why, strerror(errno));
		free(n);
		return NULL;
	}
	n->regular = S_ISREG(st.st_mode);
	return n;
}

static void ndjson_close(void *store)
{
	struct ndjson *n = store;

	if (n->ours)
		close(n->fd);
	free(n);
}

const struct store_ops store_ndjson = {
	.scheme = "ndjson",
	.form = "ndjson:FILE",
	.does = "a line of JSON for each stack, appended to a file or, '-', to standard output; one way, at least once",
	.open = ndjson_open,
	.send = ndjson_send,
	.close = ndjson_close,
};

/* ---- pyroscope -------------------------------------------------------------------------------------------------- */

#define PROFILE_DOCS 15000              /* it refuses more than 16 000 samples */
#define PROFILE_BYTES ((size_t)3 << 20) /* and more than 4 MB */

struct pyroscope {
	struct http *http;
	struct batches batches;
	struct text name, path;
};

static void oneway_add(struct text *t, const struct window *w, const struct text fixed[2], struct str stack,
		       uint64_t count)
{
	(void)w;
	(void)fixed;
	utf8_mend(t, stack);
	text_printf(t, " %" PRIu64 "\n", count);
}

/* Values are taken as they are but for what ends one. */
static void oneway_add_value(struct text *t, struct str value)
{
	for (size_t i = 0; i < value.n; i++)
		text_char(t, (unsigned char)value.p[i] <= ' ' || strchr("{},=\"", value.p[i]) ? '_' : value.p[i]);
}

static void add_tag(struct text *t, struct str key, struct str value)
{
	if (t->p[t->n - 1] != '{')
		text_char(t, ',');
	for (size_t i = 0; i < key.n; i++)
		text_char(t, byte_is_digit(key.p[i]) || ((key.p[i] | 32) >= 'a' && (key.p[i] | 32) <= 'z') ? key.p[i] :
													     '_');
	text_char(t, '=');
	oneway_add_value(t, value);
}

/* SERVICE.EVENT{hostname=...,...} */
static void add_series(struct text *t, const struct window *w)
{
	struct str labels = w->labels, key, value;

	if (!label_find(w->labels, STR("service"), &value))
		value = STR("pj");
	oneway_add_value(t, value);
	text_char(t, '.');
	oneway_add_value(t, w->event.n ? w->event : STR("cpu"));
	text_char(t, '{');
	add_tag(t, STR("hostname"), w->host);
	while (label_next(&labels, &key, &value))
		if (!str_eq(key, STR("service")))
			add_tag(t, key, value);
	text_char(t, '}');
}

static enum http_class oneway_post(void *store, struct batch *b, size_t *done, size_t *known, uint32_t *state,
				   struct store_report *r)
{
	struct pyroscope *p = store;
	const struct window *w = b->window;
	struct http_request q = { .method = "POST", .type = "text/plain", .body = text_view(&b->body) };
	bool times = str_eq(w->unit, STR("ns"));
	struct http_reply reply;
	uint64_t rate;

	(void)done;
	(void)known;
	(void)state;
	if (times || !str_u64(w->frequency, &rate) || !rate)
		rate = times ? 1000000000 : 100;
	p->name.n = p->path.n = 0;
	add_series(&p->name, w);
	text_add(&p->path, "/ingest?name=");
	http_escape(&p->path, text_view(&p->name));
	text_printf(&p->path,
		    "&from=%" PRIu64 "&until=%" PRIu64 "&sampleRate=%" PRIu64
		    "&units=samples&aggregationType=sum&spyName=pj&format=folded",
		    w->epoch, w->until, rate);
	q.path = text_view(&p->path);
	reply = http_send(p->http, &q, &r->why);
	r->requests++;
	r->bytes += reply.sent;
	r->after = reply.after;
	return reply.status == 422 ? HTTP_PERHAPS : reply.class; /* it says 422 of everything, also of what passes */
}

static void pyroscope_send(void *store, const struct window *w, uint64_t *resume, bool isolate, struct store_report *r)
{
	struct pyroscope *p = store;

	batches_send(&p->batches, p, w, resume, false, r);
	if (r->verdict == STORE_INDETERMINATE &&
	    isolate) { /* it is never one stack: the window is too old, or all of it is wrong */
		r->verdict = STORE_REFUSED;
		text_str(&r->refused_why, text_view(&r->why));
	}
}

static void pyroscope_close(void *store)
{
	struct pyroscope *p = store;

	http_close(p->http);
	text_free(&p->name);
	text_free(&p->path);
	free(p);
}

static void *pyroscope_open(struct str where, const struct store_options *o, struct text *why)
{
	struct pyroscope *p = mem_alloc(sizeof(*p), 1);

	p->batches = (struct batches){
		.docs_max = PROFILE_DOCS, .max_bytes = PROFILE_BYTES, .add = oneway_add, .post = oneway_post
	};
	p->http = store_http(where, o, why);
	if (p->http)
		return p;
	pyroscope_close(p);
	return NULL;
}

const struct store_ops store_pyroscope = {
	.scheme = "pyroscope",
	.form = "pyroscope:URL",
	.does = "Pyroscope: http://HOST:4040; one way, at least once, windows of the last hour",
	.open = pyroscope_open,
	.send = pyroscope_send,
	.close = pyroscope_close,
};
