/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oneway.c - the write-only stores ndjson: and pyroscope:, for other programs.
 *
 * Neither store recognizes a repeated window: if the process is killed before the confirmation, the window is sent
 * again and stored twice. ndjson: appends a line of JSON for each stack to a file, or writes it to standard output.
 * pyroscope: sends folded text to /ingest, which accepts no window older than an hour.
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

/* ---- the store ndjson: ------------------------------------------------------------------------------------------- */

struct ndjson {
	int fd;
	/* ours: true if fd was opened here, false for standard output; regular: true if fd is a regular file */
	bool ours, regular;
};

static void add_facts(struct text *text, const struct window *window)
{
	struct str labels = window->labels, key, value;

	text_printf(text, "\"timestamp\":%" PRIu64 ",\"until\":%" PRIu64 ",\"hostname\":", window->epoch,
		    window->until);
	json_quote(text, window->host);
	text_printf(text, ",\"machine\":\"%016" PRIx64 "\",\"stream\":\"%016" PRIx64 "\",\"unit\":", window->machine,
		    window->stream);
	json_quote(text, window->unit);
	text_add(text, ",\"event\":");
	json_quote(text, window->event);
	text_add(text, ",\"labels\":{");
	for (bool first = true; label_next(&labels, &key, &value); first = false) {
		text_add(text, first ? "" : ",");
		json_quote(text, key);
		text_char(text, ':');
		json_quote(text, value);
	}
	text_add(text, "}");
}

static void ndjson_send(void *store, const struct window *window, uint64_t *resume, bool isolate,
			struct store_report *report)
{
	struct ndjson *ndjson = store;
	struct str lines = window->stacks, stack;
	struct text text = { 0 }, facts = { 0 };
	off_t before = ndjson->regular ? lseek(ndjson->fd, 0, SEEK_END) : -1;
	uint64_t count;

	(void)resume;
	(void)isolate;
	add_facts(&facts, window);
	for (; window_next(&lines, &stack, &count); report->documents++) {
		text_printf(&text, "{\"id\":\"%08" PRIx32 "%016" PRIx64 "\",", (uint32_t)window->epoch,
			    window_id(window, stack));
		text_str(&text, text_view(&facts));
		text_add(&text, ",\"stack\":");
		json_quote(&text, stack);
		text_printf(&text, ",\"value\":%" PRIu64 "}\n", count);
	}
	report->bytes = text.n;
	if (!fullio_write(ndjson->fd, text_view(&text)) || (ndjson->regular && fdatasync(ndjson->fd) != 0)) {
		report->verdict = STORE_LATER;
		report->documents = 0;
		text_add(&report->why, strerror(errno));
		/* Removes the part of this window that was written before the error. */
		if (before >= 0 && ftruncate(ndjson->fd, before) != 0)
			text_printf(&report->why, "; its written part stays: %s", strerror(errno));
	}
	text_free(&text);
	text_free(&facts);
}

/* Opens a file for appending. Refuses a file that another user may have created. Returns -1 on failure, with the reason
 * in *why. */
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

static void *ndjson_open(struct str where, const struct store_options *options, struct text *why)
{
	struct ndjson *ndjson = mem_alloc(sizeof(*ndjson), 1);
	struct text path = { 0 };
	struct stat status;

	(void)options;
	text_printf(&path, "%.*s%c", (int)where.n, where.p, 0);
	ndjson->ours = !str_eq(where, STR("-"));
	ndjson->fd = ndjson->ours ? oneway_open_file(path.p, why) : STDOUT_FILENO;
	text_free(&path);
	if (ndjson->fd < 0 || fstat(ndjson->fd, &status) != 0) {
		if (why->n == 0)
			text_add(why, strerror(errno));
		free(ndjson);
		return NULL;
	}
	ndjson->regular = S_ISREG(status.st_mode);
	return ndjson;
}

static void ndjson_close(void *store)
{
	struct ndjson *ndjson = store;

	if (ndjson->ours)
		close(ndjson->fd);
	free(ndjson);
}

const struct store_ops store_ndjson = {
	.scheme = "ndjson",
	.form = "ndjson:FILE",
	.does = "a line of JSON for each stack, appended to a file or, '-', to standard output; one way, at least once",
	.open = ndjson_open,
	.send = ndjson_send,
	.close = ndjson_close,
};

/* ---- the store pyroscope: ---------------------------------------------------------------------------------------- */

/* limit of lines in a body: Pyroscope refuses more than 16,000 samples */
#define PROFILE_DOCS 15000
/* limit of a body in bytes: Pyroscope refuses more than 4 MB */
#define PROFILE_BYTES ((size_t)3 << 20)

struct pyroscope {
	struct http *http;
	struct batches batches;
	struct text name, path;
};

static void oneway_add(struct text *text, const struct window *window, const struct text fixed[2], struct str stack,
		       uint64_t count)
{
	(void)window;
	(void)fixed;
	utf8_mend(text, stack);
	text_printf(text, " %" PRIu64 "\n", count);
}

/* Appends the value of a label to *text. Bytes that would end the value become '_'. */
static void oneway_add_value(struct text *text, struct str value)
{
	for (size_t i = 0; i < value.n; i++)
		text_char(text, (unsigned char)value.p[i] <= ' ' || strchr("{},=\"", value.p[i]) ? '_' : value.p[i]);
}

static void add_tag(struct text *text, struct str key, struct str value)
{
	if (text->p[text->n - 1] != '{')
		text_char(text, ',');
	for (size_t i = 0; i < key.n; i++)
		text_char(text, byte_is_digit(key.p[i]) || ((key.p[i] | 32) >= 'a' && (key.p[i] | 32) <= 'z') ?
					key.p[i] :
					'_');
	text_char(text, '=');
	oneway_add_value(text, value);
}

/* Appends the name of the series: SERVICE.EVENT{hostname=...,...}. */
static void add_series(struct text *text, const struct window *window)
{
	struct str labels = window->labels, key, value;

	if (!label_find(window->labels, STR("service"), &value))
		value = STR("pj");
	oneway_add_value(text, value);
	text_char(text, '.');
	oneway_add_value(text, window->event.n ? window->event : STR("cpu"));
	text_char(text, '{');
	add_tag(text, STR("hostname"), window->host);
	while (label_next(&labels, &key, &value))
		if (!str_eq(key, STR("service")))
			add_tag(text, key, value);
	text_char(text, '}');
}

static enum http_class oneway_post(void *store, struct batch *batch, size_t *done, size_t *known, uint32_t *state,
				   struct store_report *report)
{
	struct pyroscope *pyroscope = store;
	const struct window *window = batch->window;
	struct http_request request = { .method = "POST", .type = "text/plain", .body = text_view(&batch->body) };
	bool times = str_eq(window->unit, STR("ns"));
	struct http_reply reply;
	uint64_t rate;

	(void)done;
	(void)known;
	(void)state;
	if (times || !str_u64(window->frequency, &rate) || !rate)
		rate = times ? 1000000000 : 100;
	pyroscope->name.n = pyroscope->path.n = 0;
	add_series(&pyroscope->name, window);
	text_add(&pyroscope->path, "/ingest?name=");
	http_escape(&pyroscope->path, text_view(&pyroscope->name));
	text_printf(&pyroscope->path,
		    "&from=%" PRIu64 "&until=%" PRIu64 "&sampleRate=%" PRIu64
		    "&units=samples&aggregationType=sum&spyName=pj&format=folded",
		    window->epoch, window->until, rate);
	request.path = text_view(&pyroscope->path);
	reply = http_send(pyroscope->http, &request, &report->why);
	report->requests++;
	report->bytes += reply.sent;
	report->after = reply.after;
	/* Pyroscope responds with 422 to all errors, including temporary ones. */
	return reply.status == 422 ? HTTP_PERHAPS : reply.class;
}

static void pyroscope_send(void *store, const struct window *window, uint64_t *resume, bool isolate,
			   struct store_report *report)
{
	struct pyroscope *pyroscope = store;

	batches_send(&pyroscope->batches, pyroscope, window, resume, false, report);
	/* Refuses the window, not a single stack: the cause is always the whole window, which is too old or invalid. */
	if (report->verdict == STORE_INDETERMINATE && isolate) {
		report->verdict = STORE_REFUSED;
		text_str(&report->refused_why, text_view(&report->why));
	}
}

static void pyroscope_close(void *store)
{
	struct pyroscope *pyroscope = store;

	http_close(pyroscope->http);
	text_free(&pyroscope->name);
	text_free(&pyroscope->path);
	free(pyroscope);
}

static void *pyroscope_open(struct str where, const struct store_options *options, struct text *why)
{
	struct pyroscope *pyroscope = mem_alloc(sizeof(*pyroscope), 1);

	pyroscope->batches = (struct batches){
		.docs_max = PROFILE_DOCS, .max_bytes = PROFILE_BYTES, .add = oneway_add, .post = oneway_post
	};
	pyroscope->http = store_http(where, options, why);
	if (pyroscope->http)
		return pyroscope;
	pyroscope_close(pyroscope);
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
