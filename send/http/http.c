/* SPDX-License-Identifier: Apache-2.0 */
#include "send/http/http.h"

enum http_class http_class(enum http_transfer transfer, unsigned status)
{
	if (transfer == HTTP_UNTRUSTED)
		return HTTP_HOLD;
	if (transfer == HTTP_BROKEN)
		return HTTP_AGAIN;
	if (status >= 200 && status < 300)
		return HTTP_DONE;
	switch (status) {
	case 400:
	case 422: return HTTP_POISON;
	case 409: return HTTP_CONFLICT;
	case 413: return HTTP_SMALLER;
	case 401:
	case 402:
	case 403:
	case 404:
	case 405:
	case 407: return HTTP_HOLD;
	case 408:
	case 425:
	case 429:
	case 502:
	case 503:
	case 504: return HTTP_AGAIN;
	}
	if (status >= 300 && status < 400)
		return HTTP_HOLD;
	return status >= 400 && status < 600 ? HTTP_PERHAPS : HTTP_AGAIN;
}

void http_escape(struct text *t, struct str s)
{
	static const char hex[] = "0123456789ABCDEF";

	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (byte_is_digit((char)c) || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '-' || c == '_' ||
		    c == '.' || c == '~') {
			text_char(t, (char)c);
		} else {
			text_char(t, '%');
			text_char(t, hex[c >> 4]);
			text_char(t, hex[c & 15]);
		}
	}
}

#ifdef PJ_CURL

#include "common/arena.h"
#include "common/diag.h"
#include "send/http/libcurl.h"
#include "send/format/pack.h"
#include "send/http/secret.h"
#include "common/files/fullio.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define WAIT_CONNECT 5 /* seconds */
#define WAIT_ALL 90
#define AFTER_MAX 300

struct http {
	CURL *curl;
	struct curl_slist *headers;
	struct arena arena;
	struct text path;   /* of the URL, NUL-terminated */
	const char *server; /* scheme://host:port */
	const char *scheme, *host;
	struct http_options options;
	struct str user, password;
	bool basic;
	struct text url; /* these are of the request that runs */
	struct text packed, body;
	char total[24];
	const struct http_request *request;
	bool too_long, enough;
};

static const struct libcurl *lib;

/* ---- opening ---------------------------------------------------------------------------------------------------- */

static const char *http_part(struct http *h, CURLU *u, CURLUPart what)
{
	char *s = NULL;
	const char *copy = NULL;

	if (lib->url_get(u, what, &s, 0) == CURLUE_OK)
		copy = arena_copy(&h->arena, str_of(s)).p;
	lib->free(s);
	return copy;
}

static const char *check_url(CURLU *u, struct http *h)
{
	const char *scheme = http_part(h, u, CURLUPART_SCHEME), *host = http_part(h, u, CURLUPART_HOST);

	if (http_part(h, u, CURLUPART_PASSWORD) || http_part(h, u, CURLUPART_USER))
		return "a URL is seen by everyone who looks at the processes: put user:password into a file for --auth, or into PJ_STORE_AUTH";
	if (!scheme || (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0))
		return "the URL must begin with http:// or https://";
	if (!host || !*host)
		return "the URL names no host";
	if (http_part(h, u, CURLUPART_QUERY) || http_part(h, u, CURLUPART_FRAGMENT))
		return "the URL must end with its path";
	return NULL;
}

void http_set_path(struct http *h, struct str path)
{
	while (path.n && path.p[path.n - 1] == '/')
		path.n--;
	path = arena_copy(&h->arena, path);
	h->path.n = 0;
	text_str(&h->path, path);
}

static const char *split_url(struct http *h, const char *url)
{
	CURLU *u = lib->url();
	const char *wrong, *port;

	if (!u)
		die("cannot start libcurl: out of memory");
	if (lib->url_set(u, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK) {
		wrong = "this is not a URL; it looks like http://HOST:PORT/PATH";
	} else {
		wrong = check_url(u, h);
		if (!wrong) {
			struct text t = { 0 };

			port = http_part(h, u, CURLUPART_PORT);
			h->scheme = http_part(h, u, CURLUPART_SCHEME);
			h->host = http_part(h, u, CURLUPART_HOST);
			text_printf(&t, "%s://%s%s%s", h->scheme, h->host, port ? ":" : "", port ? port : "");
			h->server = arena_copy(&h->arena, text_view(&t)).p;
			text_free(&t);
			http_set_path(h, str_of(http_part(h, u, CURLUPART_PATH)));
		}
	}
	lib->url_cleanup(u);
	return wrong;
}

/* Its first line, which ends up in a header: no control bytes. */
static const char *take_secret(struct http *h, struct str s)
{
	struct str line = str_trim(str_cut(&s, '\n'));

	if (!line.n)
		return "holds no user:password and no token in its first line";
	for (size_t i = 0; i < line.n; i++)
		if ((unsigned char)line.p[i] < ' ' || line.p[i] == 127)
			return "holds control bytes";
	line = arena_copy(&h->arena, line);
	if (str_starts(line, STR("Bearer ")) || str_starts(line, STR("Token "))) {
		h->password = line;
	} else if (str_find(line, ':') > 0) {
		h->basic = true;
		h->user = arena_copy(&h->arena, str_cut(&line, ':'));
		h->password = line;
	} else {
		struct text t = { 0 };

		text_printf(&t, "Bearer %.*s", (int)line.n, line.p);
		h->password = arena_copy(&h->arena, text_view(&t));
		text_free(&t);
	}
	return NULL;
}

static bool read_secret(struct http *h, struct text *why)
{
	const char *file = h->options.auth, *wrong = NULL;
	struct text t = { 0 };
	bool good = secret_read(file, &t, why);

	if (good && (file || t.n))
		wrong = take_secret(h, text_view(&t));
	if (wrong)
		text_printf(why, "%s: %s", file ? file : "PJ_STORE_AUTH", wrong);
	else if (good && h->password.n && (wrong = secret_forbidden(h->scheme, h->host, h->options.insecure_auth)))
		text_printf(why, "%s: %s", h->server, wrong);
	if (t.p)
		explicit_bzero(t.p, t.cap);
	text_free(&t);
	return good && !wrong;
}

static bool http_readable(const char *path, struct text *why)
{
	if (!path || access(path, R_OK) == 0)
		return true;
	text_printf(why, "%s: %s", path, strerror(errno));
	return false;
}

void http_header(struct http *h, const char *line)
{
	struct curl_slist *more = lib->slist_append(h->headers, line);

	if (!more)
		die("cannot start libcurl: out of memory");
	h->headers = more;
}

bool http_secret(const struct http *h, struct str *user, struct str *password)
{
	*user = h->user;
	*password = h->password;
	return h->basic;
}

static void add_token(struct http *h)
{
	struct text t = { 0 };

	if (h->basic || !h->password.n)
		return;
	text_printf(&t, "Authorization: %s%c", h->password.p, 0);
	http_header(h, t.p);
	explicit_bzero(t.p, t.cap);
	text_free(&t);
}

struct http *http_open(const char *url, const struct http_options *o, struct text *why)
{
	struct http *h = mem_alloc(sizeof(*h), 1);
	const char *wrong;

	why->n = 0;
	if (o)
		h->options = *o;
	lib = libcurl_load(&wrong);
	if (!lib) {
		text_add(why, wrong);
		free(h);
		return NULL;
	}
	if (lib->global_init(CURL_GLOBAL_DEFAULT) != 0 || !(h->curl = lib->easy_init()))
		die("cannot start libcurl");
	wrong = split_url(h, url);
	if (wrong)
		text_add(why, wrong);
	else if (read_secret(h, why) && http_readable(h->options.cacert, why) && http_readable(h->options.cert, why) &&
		 http_readable(h->options.key, why))
		goto good;
	http_close(h);
	return NULL;
good:
	http_header(h, "Accept: application/json");
	http_header(h, "Expect:"); /* a server that does not know it costs a second */
	add_token(h);
	return h;
}

void http_close(struct http *h)
{
	if (!h)
		return;
	lib->easy_cleanup(h->curl);
	for (struct curl_slist *l = h->headers; l; l = l->next)
		explicit_bzero(l->data, strlen(l->data));
	lib->slist_free_all(h->headers);
	if (h->password.n)
		explicit_bzero((void *)(uintptr_t)h->password.p, h->password.n);
	arena_free(&h->arena);
	text_free(&h->path);
	text_free(&h->url);
	text_free(&h->packed);
	text_free(&h->body);
	free(h);
}

struct str http_path(const struct http *h)
{
	return text_view(&h->path);
}

/* ---- a request -------------------------------------------------------------------------------------------------- */

static size_t http_take(char *p, size_t size, size_t n, void *to)
{
	struct http *h = to;
	long status = 0;

	n *= size;
	lib->easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, &status);
	if (h->request->take && status == 200) {
		h->enough = !h->request->take(h->request->to, (struct str){ p, n });
		return h->enough ? 0 : n;
	}
	if (n > HTTP_REPLY_MAX - h->body.n) {
		h->too_long = true;
		return 0;
	}
	text_bytes(&h->body, p, n);
	return n;
}

static size_t http_take_header(char *p, size_t size, size_t n, void *to)
{
	static const char name[] = "X-Total-Count:";
	struct http *h = to;
	struct str value;

	n *= size;
	if (n > sizeof(name) && strncasecmp(p, name, sizeof(name) - 1) == 0) {
		value = (struct str){ p + sizeof(name) - 1, n - (sizeof(name) - 1) };
		if (value.n && value.p[value.n - 1] == '\n')
			value.n--;
		value = str_trim(value);
		snprintf(h->total, sizeof(h->total), "%.*s",
			 (int)(value.n < sizeof(h->total) ? value.n : sizeof(h->total) - 1), value.p);
	}
	return n;
}

static void set_trust(struct http *h)
{
	CURL *c = h->curl;

	lib->easy_setopt(c, CURLOPT_SSL_VERIFYPEER, 1L);
	lib->easy_setopt(c, CURLOPT_SSL_VERIFYHOST, 2L);
	if (h->options.cacert) {
		lib->easy_setopt(c, CURLOPT_CAINFO, h->options.cacert);
		lib->easy_setopt(c, CURLOPT_CAPATH, NULL);
	}
	if (h->options.cert)
		lib->easy_setopt(c, CURLOPT_SSLCERT, h->options.cert);
	if (h->options.key)
		lib->easy_setopt(c, CURLOPT_SSLKEY, h->options.key);
	/* a proxy of the environment would read the secret; by https it sees only where to */
	if (h->password.n && strcmp(h->scheme, "https") != 0)
		lib->easy_setopt(c, CURLOPT_PROXY, "");
	if (h->basic) {
		lib->easy_setopt(c, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
		lib->easy_setopt(c, CURLOPT_USERNAME, h->user.p);
		lib->easy_setopt(c, CURLOPT_PASSWORD, h->password.p);
	}
}

static void http_set_limits(struct http *h, bool lasting)
{
	CURL *c = h->curl;
	long all = h->options.timeout ? (long)h->options.timeout : WAIT_ALL;

	lib->easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	lib->easy_setopt(c, CURLOPT_CONNECTTIMEOUT, all < WAIT_CONNECT ? all : WAIT_CONNECT);
	lib->easy_setopt(c, CURLOPT_TIMEOUT, lasting ? 0L : all);
	/* Eve says after 30 s that its database is gone; one byte a second is a standstill as well */
	lib->easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, 16L);
	lib->easy_setopt(c, CURLOPT_LOW_SPEED_TIME, lasting ? all : all * 2 / 3 + 1);
	lib->easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L);
	lib->easy_setopt(c, CURLOPT_HTTP09_ALLOWED, 0L);
#if LIBCURL_VERSION_NUM >= 0x075500
	lib->easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
#else
	lib->easy_setopt(c, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
}

static void set_body(struct http *h, const struct http_request *q, struct curl_slist **headers)
{
	CURL *c = h->curl;
	struct str body = q->body;
	char line[128];

	if (strcmp(q->method, "HEAD") == 0) {
		lib->easy_setopt(c, CURLOPT_NOBODY, 1L);
		return;
	}
	if (strcmp(q->method, "GET") == 0)
		return;
	if (q->pack) {
		h->packed.n = 0;
		if (!pack_gzip(&h->packed, body, 1))
			die("cannot pack %zu bytes", body.n);
		body = text_view(&h->packed);
	}
	if (q->pack || q->packed)
		*headers = lib->slist_append(*headers, "Content-Encoding: gzip");
	snprintf(line, sizeof(line), "Content-Type: %s", q->type ? q->type : "application/octet-stream");
	*headers = lib->slist_append(*headers, line);
	lib->easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.n);
	lib->easy_setopt(c, CURLOPT_POSTFIELDS, body.n ? body.p : "");
	lib->easy_setopt(c, CURLOPT_CUSTOMREQUEST, q->method);
}

static enum http_transfer transfer_of(CURLcode code)
{
	switch (code) {
	case CURLE_OK: return HTTP_COMPLETE;
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CIPHER:
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_CRL_BADFILE:
	case CURLE_SSL_ISSUER_ERROR:
	case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
	case CURLE_SSL_INVALIDCERTSTATUS: return HTTP_UNTRUSTED;
	default: return HTTP_BROKEN;
	}
}

/* What a server says of it: one line, not much, nothing but text. */
static void add_reason(struct text *why, struct str body)
{
	size_t n = 0;

	body = str_trim(body);
	if (!body.n || body.p[0] == '<')
		return;
	text_add(why, ": ");
	for (; n < body.n && n < 300; n++)
		text_char(why, (unsigned char)body.p[n] < ' ' ? ' ' : body.p[n]);
	if (n < body.n)
		text_add(why, "...");
}

static void http_explain(struct http *h, CURLcode code, const char *message, const struct http_reply *r,
			 struct text *why)
{
	text_add(why, h->server);
	if (h->too_long)
		text_printf(why, ": the answer is longer than %zu MB", HTTP_REPLY_MAX >> 20);
	else if (code != CURLE_OK)
		text_printf(why, ": %s", *message ? message : lib->easy_strerror(code));
	else {
		text_printf(why, ": HTTP %u", r->status);
		add_reason(why, r->body);
	}
}

struct http_reply http_send(struct http *h, const struct http_request *q, struct text *why)
{
	struct http_reply r = { 0 };
	struct curl_slist *headers = NULL, *last = NULL;
	char message[CURL_ERROR_SIZE] = "";
	curl_off_t after = 0;
	long status = 0;
	CURLcode code;
	CURL *c = h->curl;

	why->n = 0;
	h->body.n = h->url.n = 0;
	h->total[0] = 0;
	h->too_long = h->enough = false;
	h->request = q;
	text_add(&h->url, h->server);
	text_str(&h->url, text_view(&h->path));
	text_str(&h->url, q->path);
	text_char(&h->url, 0);
	lib->easy_reset(c); /* the connection stays */
	http_set_limits(h, q->lasting);
	set_trust(h);
	set_body(h, q, &headers);
	if (q->header)
		headers = lib->slist_append(headers, q->header);
	if (headers) { /* those of every request stand behind this one's */
		for (last = headers; last->next; last = last->next)
			;
		last->next = h->headers;
	}
	lib->easy_setopt(c, CURLOPT_HTTPHEADER, headers ? headers : h->headers);
	lib->easy_setopt(c, CURLOPT_URL, h->url.p);
	lib->easy_setopt(c, CURLOPT_USERAGENT, "pj/" PJ_VERSION);
	lib->easy_setopt(c, CURLOPT_ACCEPT_ENCODING, "gzip");
	lib->easy_setopt(c, CURLOPT_ERRORBUFFER, message);
	lib->easy_setopt(c, CURLOPT_WRITEFUNCTION, http_take);
	lib->easy_setopt(c, CURLOPT_WRITEDATA, h);
	lib->easy_setopt(c, CURLOPT_HEADERFUNCTION, http_take_header);
	lib->easy_setopt(c, CURLOPT_HEADERDATA, h);
	code = lib->easy_perform(c);
	lib->easy_setopt(c, CURLOPT_ERRORBUFFER, NULL);
	lib->easy_getinfo(c, CURLINFO_RESPONSE_CODE, &status);
	if (h->enough)
		code = CURLE_OK;
	if (lib->easy_getinfo(c, CURLINFO_RETRY_AFTER, &after) == CURLE_OK && after > 0)
		r.after = after > AFTER_MAX ? AFTER_MAX : (unsigned)after;
	if (last) {
		last->next = NULL;
		lib->slist_free_all(headers);
	}
	r.status = status > 0 ? (unsigned)status : 0;
	r.class = http_class(transfer_of(code), r.status);
	r.sent = q->pack ? h->packed.n : q->body.n;
	r.body = text_view(&h->body);
	r.total = str_of(h->total);
	if (r.class != HTTP_DONE)
		http_explain(h, code, message, &r, why);
	h->request = NULL;
	return r;
}

#else

struct http *http_open(const char *url, const struct http_options *o, struct text *why)
{
	(void)url;
	(void)o;
	why->n = 0;
	text_add(why, "built without libcurl: install libcurl4-openssl-dev and build again");
	return NULL;
}

struct http_reply http_send(struct http *h, const struct http_request *q, struct text *why)
{
	(void)h;
	(void)q;
	(void)why;
	return (struct http_reply){ .class = HTTP_HOLD };
}

struct str http_path(const struct http *h)
{
	(void)h;
	return (struct str){ 0 };
}

void http_set_path(struct http *h, struct str path)
{
	(void)h;
	(void)path;
}

void http_header(struct http *h, const char *line)
{
	(void)h;
	(void)line;
}

bool http_secret(const struct http *h, struct str *user, struct str *password)
{
	(void)h;
	*user = *password = (struct str){ 0 };
	return false;
}

void http_close(struct http *h)
{
	(void)h;
}

#endif
