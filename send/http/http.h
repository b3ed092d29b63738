/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.h - one request to one server, and what its answer means for who must not lose anything.
 *
 * Hides libcurl: times, proxies, TLS, packed bodies, and how much of an answer is taken. An answer is a class before it
 * is a number: whether to go on, to try again, to wait for a person, or to send less. Secrets come from a file or the
 * environment and are never said. Built without libcurl, nothing can be opened, and the reason says so.
 */
#ifndef PJ_HTTP_H
#define PJ_HTTP_H

#include "common/text.h"

#define HTTP_REPLY_MAX ((size_t)64 << 20) /* bytes of an answer, unpacked */

enum http_class {
	HTTP_DONE,     /* 2xx */
	HTTP_AGAIN,    /* this will pass: try again for ever */
	HTTP_PERHAPS,  /* this may pass, or it is the document: try again some times */
	HTTP_HOLD,     /* a person must mend something; the data is good */
	HTTP_POISON,   /* something in the body is refused: send less, find it */
	HTTP_SMALLER,  /* the body is too large */
	HTTP_CONFLICT, /* it is there already */
};

/* What became of the transfer itself, whatever number came with it. */
enum http_transfer {
	HTTP_COMPLETE, /* the answer came, to its end */
	HTTP_BROKEN,   /* refused, cut, too slow, too long, not HTTP */
	HTTP_UNTRUSTED /* TLS: not the server that was meant, or not with these keys */
};

/* Pure. A transfer that failed wins over any number: a cut answer has one, too. */
enum http_class http_class(enum http_transfer transfer, unsigned status);

struct http_options {
	const char *cacert;     /* a file of certificates to trust instead of the system's */
	const char *cert, *key; /* the client's own */
	const char *auth;       /* a file with the secret; NULL: the environment's PJ_STORE_AUTH, if any (secret.h) */
	bool insecure_auth;     /* the secret may be sent over plain http */
	unsigned timeout;       /* seconds for a request; 0: 90 */
};

struct http_reply {
	enum http_class class;
	unsigned status;  /* 0: none came */
	unsigned after;   /* seconds that the server wants to be left alone; 0: it did not say */
	uint64_t sent;    /* bytes of the body as it travelled */
	struct str body;  /* until the next request; cut where it was too long */
	struct str total; /* what X-Total-Count says, if it is there */
};

struct http_request {
	const char *method;
	struct str path; /* behind the URL's own: "?query" or "/more?query", escaped */
	struct str body;
	const char *type;                        /* of the body */
	const char *header;                      /* one more line of the head, or NULL */
	bool pack;                               /* gzip the body */
	bool packed;                             /* it is packed so already */
	bool lasting;                            /* the server may think and send for long: only a standstill ends it */
	bool (*take)(void *to, struct str blob); /* NULL: http_reply.body. Else pieces of a 200, of any length
						     together; false: enough */
	void *to;
};

struct http;

/* http://HOST[:PORT][/PATH] or https. NULL: *why says what is wrong and what to do. */
struct http *http_open(const char *url, const struct http_options *options, struct text *why);

/* What is wrong is in *why, which is emptied before: "HTTP 503: overloaded", "connection refused". Never a secret. */
struct http_reply http_send(struct http *http, const struct http_request *request, struct text *why);

struct str http_path(const struct http *http); /* of the URL, without a '/' at its end */
void http_set_path(struct http *http, struct str path);
void http_header(struct http *http, const char *line);                             /* with every request from now on */
bool http_secret(const struct http *http, struct str *user, struct str *password); /* false: none of that form */

void http_close(struct http *http); /* NULL does nothing */

/* Appends string so that it is one part of a path or a query. */
void http_escape(struct text *text, struct str string);

#endif
