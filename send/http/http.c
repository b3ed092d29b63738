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

void http_escape(struct text *text, struct str string)
{
	static const char hex[] = "0123456789ABCDEF";

	for (size_t i = 0; i < string.n; i++) {
		unsigned char byte = (unsigned char)string.p[i];

		if (byte_is_digit((char)byte) || ((byte | 32) >= 'a' && (byte | 32) <= 'z') || byte == '-' ||
		    byte == '_' || byte == '.' || byte == '~') {
			text_char(text, (char)byte);
		} else {
			text_char(text, '%');
			text_char(text, hex[byte >> 4]);
			text_char(text, hex[byte & 15]);
		}
	}
}

#ifdef PJ_CURL

#include "common/arena.h"
#include "common/debug.h"
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

/* time limit of connecting in s */
#define WAIT_CONNECT 5
/* default time limit of a complete request in s */
#define WAIT_ALL 90
#define AFTER_MAX 300

struct http {
	CURL *curl;
	struct curl_slist *headers;
	struct arena arena;
	/* path of the URL, NUL-terminated */
	struct text path;
	const char *server; /* scheme, host and port of the URL: "scheme://host:port" */
	const char *scheme, *host;
	struct http_options options;
	/* secret; basic: true for USER:PASSWORD; otherwise `password` is the value of the header Authorization, empty
	 * without a secret */
	struct str user, password;
	bool basic;
	/* buffers of the current request; url: its URL; packed: its compressed body; body: body of the response */
	struct text url;
	struct text packed, body;
	char total[24];
	const struct http_request *request;
	/* too_long: true if the response exceeds HTTP_REPLY_MAX; enough: true if request->take stopped the transfer */
	bool too_long, enough;
};

static const struct libcurl *lib;

/* ---- opening a connection ---------------------------------------------------------------------------------------- */

static const char *http_part(struct http *http, CURLU *u, CURLUPart what)
{
	char *string = NULL;
	const char *copy = NULL;

	if (lib->url_get(u, what, &string, 0) == CURLUE_OK)
		copy = arena_copy(&http->arena, str_of(string)).p;
	lib->free(string);
	return copy;
}

static const char *check_url(CURLU *u, struct http *http)
{
	const char *scheme = http_part(http, u, CURLUPART_SCHEME), *host = http_part(http, u, CURLUPART_HOST);

	if (http_part(http, u, CURLUPART_PASSWORD) || http_part(http, u, CURLUPART_USER))
		return "a URL on the command line is public: put user:password into a file for --auth, or into "
		       "PJ_STORE_AUTH";
	if (!scheme || (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0))
		return "the URL must start with http:// or https://";
	if (!host || !*host)
		return "the URL has no host";
	if (http_part(http, u, CURLUPART_QUERY) || http_part(http, u, CURLUPART_FRAGMENT))
		return "the URL must end with its path";
	return NULL;
}

void http_set_path(struct http *http, struct str path)
{
	while (path.n && path.p[path.n - 1] == '/')
		path.n--;
	path = arena_copy(&http->arena, path);
	http->path.n = 0;
	text_str(&http->path, path);
}

static const char *split_url(struct http *http, const char *url)
{
	CURLU *u = lib->url();
	const char *wrong, *port;

	if (!u)
		die("cannot start libcurl: out of memory");
	if (lib->url_set(u, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK) {
		wrong = "not a URL such as http://HOST:PORT/PATH";
	} else {
		wrong = check_url(u, http);
		if (!wrong) {
			struct text text = { 0 };

			port = http_part(http, u, CURLUPART_PORT);
			http->scheme = http_part(http, u, CURLUPART_SCHEME);
			http->host = http_part(http, u, CURLUPART_HOST);
			text_printf(&text, "%s://%s%s%s", http->scheme, http->host, port ? ":" : "", port ? port : "");
			http->server = arena_copy(&http->arena, text_view(&text)).p;
			text_free(&text);
			http_set_path(http, str_of(http_part(http, u, CURLUPART_PATH)));
		}
	}
	lib->url_cleanup(u);
	return wrong;
}

/* Parses the first line of `string` as the secret and stores it in *http. Returns NULL on success, else the reason why
 * it is refused. Control bytes are refused, as the secret becomes part of a header. */
static const char *take_secret(struct http *http, struct str string)
{
	struct str line = str_trim(str_cut(&string, '\n'));

	if (!line.n)
		return "has neither user:password nor a token in its first line";
	for (size_t i = 0; i < line.n; i++)
		if ((unsigned char)line.p[i] < ' ' || line.p[i] == 127)
			return "contains control bytes";
	line = arena_copy(&http->arena, line);
	if (str_starts(line, STR("Bearer ")) || str_starts(line, STR("Token "))) {
		http->password = line;
	} else if (str_find(line, ':') > 0) {
		http->basic = true;
		http->user = arena_copy(&http->arena, str_cut(&line, ':'));
		http->password = line;
	} else {
		struct text text = { 0 };

		text_printf(&text, "Bearer %.*s", (int)line.n, line.p);
		http->password = arena_copy(&http->arena, text_view(&text));
		text_free(&text);
	}
	return NULL;
}

static bool read_secret(struct http *http, struct text *why)
{
	const char *file = http->options.auth, *wrong = NULL;
	struct text text = { 0 };
	bool good = secret_read(file, &text, why);

	if (good && (file || text.n))
		wrong = take_secret(http, text_view(&text));
	if (wrong)
		text_printf(why, "%s: %s", file ? file : "PJ_STORE_AUTH", wrong);
	else if (good && http->password.n &&
		 (wrong = secret_forbidden(http->scheme, http->host, http->options.insecure_auth)))
		text_printf(why, "%s: %s", http->server, wrong);
	if (text.p)
		explicit_bzero(text.p, text.cap);
	text_free(&text);
	return good && !wrong;
}

static bool http_readable(const char *path, struct text *why)
{
	if (!path || access(path, R_OK) == 0)
		return true;
	text_printf(why, "%s: %s", path, strerror(errno));
	return false;
}

void http_header(struct http *http, const char *line)
{
	struct curl_slist *more = lib->slist_append(http->headers, line);

	if (!more)
		die("cannot start libcurl: out of memory");
	http->headers = more;
}

bool http_secret(const struct http *http, struct str *user, struct str *password)
{
	*user = http->user;
	*password = http->password;
	return http->basic;
}

static void add_token(struct http *http)
{
	struct text text = { 0 };

	if (http->basic || !http->password.n)
		return;
	text_printf(&text, "Authorization: %s%c", http->password.p, 0);
	http_header(http, text.p);
	explicit_bzero(text.p, text.cap);
	text_free(&text);
}

struct http *http_open(const char *url, const struct http_options *options, struct text *why)
{
	struct http *http = mem_alloc(sizeof(*http), 1);
	const char *wrong;

	why->n = 0;
	if (options)
		http->options = *options;
	lib = libcurl_load(&wrong);
	if (!lib) {
		text_add(why, wrong);
		free(http);
		return NULL;
	}
	if (lib->global_init(CURL_GLOBAL_DEFAULT) != 0 || !(http->curl = lib->easy_init()))
		die("cannot start libcurl");
	wrong = split_url(http, url);
	if (wrong)
		text_add(why, wrong);
	else if (read_secret(http, why) && http_readable(http->options.cacert, why) &&
		 http_readable(http->options.cert, why) && http_readable(http->options.key, why))
		goto good;
	http_close(http);
	return NULL;
good:
	http_header(http, "Accept: application/json");
	/* disables "Expect: 100-continue": if a server does not support it, each request takes one second longer */
	http_header(http, "Expect:");
	add_token(http);
	return http;
}

void http_close(struct http *http)
{
	if (!http)
		return;
	lib->easy_cleanup(http->curl);
	for (struct curl_slist *slist = http->headers; slist; slist = slist->next)
		explicit_bzero(slist->data, strlen(slist->data));
	lib->slist_free_all(http->headers);
	if (http->password.n)
		explicit_bzero((void *)(uintptr_t)http->password.p, http->password.n);
	arena_free(&http->arena);
	text_free(&http->path);
	text_free(&http->url);
	text_free(&http->packed);
	text_free(&http->body);
	free(http);
}

struct str http_path(const struct http *http)
{
	return text_view(&http->path);
}

/* ---- sending a request ------------------------------------------------------------------------------------------- */

static size_t http_take(char *p, size_t size, size_t n, void *to)
{
	struct http *http = to;
	long status = 0;

	n *= size;
	lib->easy_getinfo(http->curl, CURLINFO_RESPONSE_CODE, &status);
	if (http->request->take && status == 200) {
		http->enough = !http->request->take(http->request->to, (struct str){ p, n });
		return http->enough ? 0 : n;
	}
	if (n > HTTP_REPLY_MAX - http->body.n) {
		http->too_long = true;
		return 0;
	}
	text_bytes(&http->body, p, n);
	return n;
}

static size_t http_take_header(char *p, size_t size, size_t n, void *to)
{
	static const char name[] = "X-Total-Count:";
	struct http *http = to;
	struct str value;

	n *= size;
	if (n > sizeof(name) && strncasecmp(p, name, sizeof(name) - 1) == 0) {
		value = (struct str){ p + sizeof(name) - 1, n - (sizeof(name) - 1) };
		if (value.n && value.p[value.n - 1] == '\n')
			value.n--;
		value = str_trim(value);
		snprintf(http->total, sizeof(http->total), "%.*s",
			 (int)(value.n < sizeof(http->total) ? value.n : sizeof(http->total) - 1), value.p);
	}
	return n;
}

static void set_trust(struct http *http)
{
	CURL *handle = http->curl;

	lib->easy_setopt(handle, CURLOPT_SSL_VERIFYPEER, 1L);
	lib->easy_setopt(handle, CURLOPT_SSL_VERIFYHOST, 2L);
	if (http->options.cacert) {
		lib->easy_setopt(handle, CURLOPT_CAINFO, http->options.cacert);
		lib->easy_setopt(handle, CURLOPT_CAPATH, NULL);
	} else if (libcurl_authorities()) {
		lib->easy_setopt(handle, CURLOPT_CAINFO, libcurl_authorities());
	}
	if (http->options.cert)
		lib->easy_setopt(handle, CURLOPT_SSLCERT, http->options.cert);
	if (http->options.key)
		lib->easy_setopt(handle, CURLOPT_SSLKEY, http->options.key);
	/* Over plain http a proxy from the environment could read the secret, so no proxy is used. With https a proxy
	 * sees only the server's address. */
	if (http->password.n && strcmp(http->scheme, "https") != 0)
		lib->easy_setopt(handle, CURLOPT_PROXY, "");
	if (http->basic) {
		lib->easy_setopt(handle, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
		lib->easy_setopt(handle, CURLOPT_USERNAME, http->user.p);
		lib->easy_setopt(handle, CURLOPT_PASSWORD, http->password.p);
	}
}

static void http_set_limits(struct http *http, bool lasting)
{
	CURL *handle = http->curl;
	long all = http->options.timeout ? (long)http->options.timeout : WAIT_ALL;

	lib->easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
	lib->easy_setopt(handle, CURLOPT_CONNECTTIMEOUT, all < WAIT_CONNECT ? all : WAIT_CONNECT);
	lib->easy_setopt(handle, CURLOPT_TIMEOUT, lasting ? 0L : all);
	/* A stall is less than 16 bytes a second. Its time limit must exceed 30 s, as Eve reports a failed database
	 * after 30 s. */
	lib->easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, 16L);
	lib->easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, lasting ? all : all * 2 / 3 + 1);
	lib->easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
	lib->easy_setopt(handle, CURLOPT_HTTP09_ALLOWED, 0L);
#if LIBCURL_VERSION_NUM >= 0x075500
	lib->easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
#else
	lib->easy_setopt(handle, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
}

static void set_body(struct http *http, const struct http_request *request, struct curl_slist **headers)
{
	CURL *handle = http->curl;
	struct str body = request->body;
	char line[128];

	if (strcmp(request->method, "HEAD") == 0) {
		lib->easy_setopt(handle, CURLOPT_NOBODY, 1L);
		return;
	}
	if (strcmp(request->method, "GET") == 0)
		return;
	if (request->pack) {
		http->packed.n = 0;
		if (!pack_gzip(&http->packed, body, 1))
			die("cannot compress %zu bytes", body.n);
		body = text_view(&http->packed);
	}
	if (request->pack || request->packed)
		*headers = lib->slist_append(*headers, "Content-Encoding: gzip");
	snprintf(line, sizeof(line), "Content-Type: %s", request->type ? request->type : "application/octet-stream");
	*headers = lib->slist_append(*headers, line);
	lib->easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.n);
	lib->easy_setopt(handle, CURLOPT_POSTFIELDS, body.n ? body.p : "");
	lib->easy_setopt(handle, CURLOPT_CUSTOMREQUEST, request->method);
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

/* Appends the server's explanation of an error from a response's body to *why: at most 300 bytes, on one line. */
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

static void http_explain(struct http *http, CURLcode code, const char *message, const struct http_reply *reply,
			 struct text *why)
{
	text_add(why, http->server);
	if (http->too_long)
		text_printf(why, ": the answer is longer than %zu MB", HTTP_REPLY_MAX >> 20);
	else if (code != CURLE_OK)
		text_printf(why, ": %s", *message ? message : lib->easy_strerror(code));
	else {
		text_printf(why, ": HTTP %u", reply->status);
		add_reason(why, reply->body);
	}
}

/* Clears the state of the last request and builds the URL of this one. */
static void http_begin(struct http *http, const struct http_request *request)
{
	http->body.n = http->url.n = 0;
	http->total[0] = 0;
	http->too_long = http->enough = false;
	http->request = request;
	text_add(&http->url, http->server);
	text_str(&http->url, text_view(&http->path));
	text_str(&http->url, request->path);
	text_char(&http->url, 0);
}

/* Sets libcurl's options for a request. message: buffer for libcurl's error text. Returns the list of this request's
 * own headers, NULL if it has none. Sets *last to the last entry of that list, which is linked to the headers of all
 * requests (http_header); the caller unlinks it before it frees the list. */
static struct curl_slist *set_options(struct http *http, const struct http_request *request, char *message,
				      struct curl_slist **last)
{
	struct curl_slist *headers = NULL;
	CURL *handle = http->curl;

	/* resets libcurl's options, but keeps the connection open */
	lib->easy_reset(handle);
	http_set_limits(http, request->lasting);
	set_trust(http);
	set_body(http, request, &headers);
	if (request->header)
		headers = lib->slist_append(headers, request->header);
	*last = headers;
	if (headers) {
		while ((*last)->next)
			*last = (*last)->next;
		(*last)->next = http->headers;
	}
	lib->easy_setopt(handle, CURLOPT_HTTPHEADER, headers ? headers : http->headers);
	lib->easy_setopt(handle, CURLOPT_URL, http->url.p);
	lib->easy_setopt(handle, CURLOPT_USERAGENT, "pj/" PJ_VERSION);
	lib->easy_setopt(handle, CURLOPT_ACCEPT_ENCODING, "gzip");
	lib->easy_setopt(handle, CURLOPT_ERRORBUFFER, message);
	lib->easy_setopt(handle, CURLOPT_WRITEFUNCTION, http_take);
	lib->easy_setopt(handle, CURLOPT_WRITEDATA, http);
	lib->easy_setopt(handle, CURLOPT_HEADERFUNCTION, http_take_header);
	lib->easy_setopt(handle, CURLOPT_HEADERDATA, http);
	return headers;
}

/* Returns the reply for the transfer of *request, which ended with the libcurl code `code`. */
static struct http_reply reply_of(struct http *http, const struct http_request *request, CURLcode code)
{
	struct http_reply reply = { 0 };
	curl_off_t after = 0;
	long status = 0;

	lib->easy_getinfo(http->curl, CURLINFO_RESPONSE_CODE, &status);
	if (lib->easy_getinfo(http->curl, CURLINFO_RETRY_AFTER, &after) == CURLE_OK && after > 0)
		reply.after = after > AFTER_MAX ? AFTER_MAX : (unsigned)after;
	reply.status = status > 0 ? (unsigned)status : 0;
	reply.class = http_class(transfer_of(code), reply.status);
	reply.sent = request->pack ? http->packed.n : request->body.n;
	reply.body = text_view(&http->body);
	reply.total = str_of(http->total);
	return reply;
}

struct http_reply http_send(struct http *http, const struct http_request *request, struct text *why)
{
	struct curl_slist *headers, *last;
	char message[CURL_ERROR_SIZE] = "";
	struct http_reply reply;
	CURLcode code;

	why->n = 0;
	http_begin(http, request);
	headers = set_options(http, request, message, &last);
	code = lib->easy_perform(http->curl);
	lib->easy_setopt(http->curl, CURLOPT_ERRORBUFFER, NULL);
	if (http->enough)
		code = CURLE_OK;
	reply = reply_of(http, request, code);
	if (last) {
		last->next = NULL;
		lib->slist_free_all(headers);
	}
	debug(DEBUG_HTTP, "%s: status %u, %zu bytes sent, %zu received", http->server, reply.status, (size_t)reply.sent,
	      http->body.n);
	if (reply.class != HTTP_DONE)
		http_explain(http, code, message, &reply, why);
	http->request = NULL;
	return reply;
}

#else

struct http *http_open(const char *url, const struct http_options *options, struct text *why)
{
	(void)url;
	(void)options;
	why->n = 0;
	text_add(why, "built without libcurl: install libcurl4-openssl-dev and rebuild");
	return NULL;
}

struct http_reply http_send(struct http *http, const struct http_request *request, struct text *why)
{
	(void)http;
	(void)request;
	(void)why;
	return (struct http_reply){ .class = HTTP_HOLD };
}

struct str http_path(const struct http *http)
{
	(void)http;
	return (struct str){ 0 };
}

void http_set_path(struct http *http, struct str path)
{
	(void)http;
	(void)path;
}

void http_header(struct http *http, const char *line)
{
	(void)http;
	(void)line;
}

bool http_secret(const struct http *http, struct str *user, struct str *password)
{
	(void)http;
	*user = *password = (struct str){ 0 };
	return false;
}

void http_close(struct http *http)
{
	(void)http;
}

#endif
