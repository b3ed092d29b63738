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

/* The action that a result requires. */
enum http_class {
	/* 2xx: continue */
	HTTP_DONE,
	/* temporary: retry without limit */
	HTTP_AGAIN,
	/* temporary, or caused by the document: retry a limited number of times */
	HTTP_PERHAPS,
	/* the configuration must be corrected; the data is good */
	HTTP_HOLD,
	/* the server refuses a part of the body: send less, to find it */
	HTTP_POISON,
	/* the body is too large */
	HTTP_SMALLER,
	/* the document exists already */
	HTTP_CONFLICT,
};

/* The result of the transfer itself, independent of the status. */
enum http_transfer {
	/* the response arrived completely */
	HTTP_COMPLETE,
	/* connection refused or lost, too slow, response too long or not HTTP */
	HTTP_BROKEN,
	/* TLS: the server is not trusted, or refuses the client's keys */
	HTTP_UNTRUSTED
};

/* Maps a result to a class. A failed transfer overrides the status, as a truncated response has one, too. Does no
 * input or output. */
enum http_class http_class(enum http_transfer transfer, unsigned status);

/* Options of a connection. The strings belong to the caller and must live as long as the connection. */
struct http_options {
	/* file with certificates to trust instead of the system's */
	const char *cacert;
	/* files with the client's certificate and key */
	const char *cert, *key;
	/* file with the secret; NULL: PJ_STORE_AUTH of the environment, if set (secret.h) */
	const char *auth;
	/* allows the secret over plain http */
	bool insecure_auth;
	/* limit of a request in seconds; 0: 90 */
	unsigned timeout;
};

/* The result of a request. */
struct http_reply {
	enum http_class class;
	/* 0: no response */
	unsigned status;
	/* pause in s that the server requests (Retry-After); 0: none */
	unsigned after;
	/* transferred bytes of the request's body */
	uint64_t sent;
	/* valid until the next request; truncated if it is too long */
	struct str body;
	/* value of the header X-Total-Count, or empty */
	struct str total;
};

/* A request. Members may be 0, except method. */
struct http_request {
	const char *method;
	/* appended to the URL's path: "?query" or "/more?query", escaped */
	struct str path;
	struct str body;
	/* media type of the body */
	const char *type;
	/* one more header line, or NULL */
	const char *header;
	/* compress the body by gzip */
	bool pack;
	/* the body is already compressed by gzip */
	bool packed;
	/* the server may compute and send for a long time: only a stall ends the request */
	bool lasting;
	/* receives the body of a 200 in parts, without a limit of its length; returns false to stop; NULL:
	 * http_reply.body */
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
/* Adds a header line to all later requests. */
void http_header(struct http *http, const char *line);
/* Returns user and password; false if the secret does not have that form. */
bool http_secret(const struct http *http, struct str *user, struct str *password);

/* Closes the connection. NULL is allowed. */
void http_close(struct http *http);

/* Appends string, escaped as one component of a path or query. */
void http_escape(struct text *text, struct str string);

#endif
