/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.h - one HTTP request to one server, and the classification of its result for a sender that must lose nothing.
 *
 * Hides libcurl: timeouts, proxies, TLS, compressed bodies, and the limit of a response. A response is mapped to a
 * class of action: continue, retry, wait for an operator, or send less. Secrets come from a file or the environment and
 * do not appear in messages. Built without libcurl, http_open fails with that reason.
 *
 *	struct http *http = http_open("https://host:9200/db", &options, &why);
 *	struct http_reply reply = http_send(http, &(struct http_request){ .method = "GET", .path = STR("/doc") }, &why);
 *	if (reply.class == HTTP_DONE) ... reply.body ...
 *	http_close(http);
 */
#ifndef PJ_HTTP_H
#define PJ_HTTP_H

#include "common/text.h"

/* limit of a response in bytes, uncompressed */
#define HTTP_REPLY_MAX ((size_t)64 << 20)

/* The action that the result of a request requires. */
enum http_class {
	/* status 2xx: continue */
	HTTP_DONE,
	/* temporary failure: retry without limit */
	HTTP_AGAIN,
	/* failure that is temporary or caused by the document: retry a limited number of times */
	HTTP_PERHAPS,
	/* the configuration must be corrected; the data is not at fault */
	HTTP_HOLD,
	/* the server refuses a part of the body: send less, to find it */
	HTTP_POISON,
	/* the body is too large: send a smaller one */
	HTTP_SMALLER,
	/* the server already has a document of this id */
	HTTP_CONFLICT,
};

/* The result of the transfer itself, independent of the HTTP status. */
enum http_transfer {
	/* the response arrived completely */
	HTTP_COMPLETE,
	/* connection refused or lost, too slow, response too long or not HTTP */
	HTTP_BROKEN,
	/* TLS failed: the server is not trusted, or refuses the client's certificate or key */
	HTTP_UNTRUSTED
};

/* Maps a result to a class. A failed transfer overrides the status, because a truncated response has a status, too.
 * Does no input or output. */
enum http_class http_class(enum http_transfer transfer, unsigned status);

/* Options of a connection. The strings belong to the caller and must live as long as the connection. */
struct http_options {
	/* file with the certificates to trust, instead of those of the system */
	const char *cacert;
	/* files with the client's certificate and its key */
	const char *cert, *key;
	/* file with the secret; NULL: the secret is the value of PJ_STORE_AUTH, if set (secret.h) */
	const char *auth;
	/* true: the secret may be sent over plain http */
	bool insecure_auth;
	/* time limit of a request in s; 0: 90 */
	unsigned timeout;
};

/* The result of a request. */
struct http_reply {
	enum http_class class;
	/* HTTP status; 0: no response */
	unsigned status;
	/* pause in s that the server requests before the next attempt (Retry-After); 0: none */
	unsigned after;
	/* number of bytes of the request's body as transferred */
	uint64_t sent;
	/* body of the response, valid until the next request; truncated if it exceeds HTTP_REPLY_MAX */
	struct str body;
	/* value of the response's header X-Total-Count; empty: none */
	struct str total;
};

/* A request. Members may be 0, except method. */
struct http_request {
	const char *method;
	/* appended to the URL's path: "?query" or "/more?query", escaped */
	struct str path;
	struct str body;
	/* media type of the request's body */
	const char *type;
	/* one more header line of the request; NULL: none */
	const char *header;
	/* true: http_send compresses the body by gzip */
	bool pack;
	/* true: the caller has already compressed the body by gzip */
	bool packed;
	/* true: the server may compute and send for a long time, so only a stall ends the request */
	bool lasting;
	/* Receives the body of a response 200 in parts, of any total length; returns false to stop. NULL: the body goes
	 * to http_reply.body. */
	bool (*take)(void *to, struct str blob);
	/* first argument of take */
	void *to;
};

struct http;

/* Prepares requests to http://HOST[:PORT][/PATH] or https; does not connect. Returns NULL, and in *why the reason
 * and a remedy. */
struct http *http_open(const char *url, const struct http_options *options, struct text *why);

/* Sends a request and waits for the response. *why is emptied first and then gets the reason of a failure: "HTTP
 * 503: overloaded", "connection refused". It never contains a secret. */
struct http_reply http_send(struct http *http, const struct http_request *request, struct text *why);

/* Returns or replaces the path of the URL, without a '/' at its end. */
struct str http_path(const struct http *http);
void http_set_path(struct http *http, struct str path);
/* Adds a header line to all later requests of this connection. */
void http_header(struct http *http, const char *line);
/* Sets user and password of the secret. Returns false if the secret does not have the form USER:PASSWORD. */
bool http_secret(const struct http *http, struct str *user, struct str *password);

/* Closes the connection. NULL is allowed. */
void http_close(struct http *http);

/* Appends string, escaped as one component of a path or query. */
void http_escape(struct text *text, struct str string);

#endif
