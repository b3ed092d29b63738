/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.h - sends HTTP requests to one server, and classifies the results for a sender that must lose nothing.
 *
 * The module hides libcurl: timeouts, proxies, TLS, compressed bodies, and the limit of a response. Each result has a
 * class that determines the sender's next action: continue, retry, wait for an operator, or send less. Secrets come
 * from a file or the environment and do not appear in messages. Without libcurl in the build, http_open fails with that
 * reason.
 *
 *	struct http *http = http_open("https://host:9200/db", &options, &why);
 *	struct http_reply reply = http_send(http, &(struct http_request){ .method = "GET", .path = STR("/doc") }, &why);
 *	if (reply.class == HTTP_DONE) ... reply.body ...
 *	http_close(http);
 */
#ifndef PJ_HTTP_H
#define PJ_HTTP_H

#include "common/text.h"

/* limit of a response in bytes, uncompressed; a larger response is an error of class HTTP_AGAIN */
#define HTTP_REPLY_MAX ((size_t)64 << 20)

/* The class of a result: the action that it requires of the sender. */
enum http_class {
	/* status 2xx: continue */
	HTTP_DONE,
	/* temporary failure: retry without limit */
	HTTP_AGAIN,
	/* failure that is temporary or caused by the document: retry a limited number of times */
	HTTP_PERHAPS,
	/* wrong configuration, not wrong data: wait for an operator */
	HTTP_HOLD,
	/* the server refuses a part of the body: send smaller bodies to find the refused document */
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
	/* connection refused or lost, too slow, response too long, or response not HTTP */
	HTTP_BROKEN,
	/* TLS failed: this host does not trust the server, or the server refuses the client's certificate or key */
	HTTP_UNTRUSTED
};

/* Returns the class of a result. If the transfer failed, the status is ignored, as a truncated response has a status,
 * too. Does no input or output. */
enum http_class http_class(enum http_transfer transfer, unsigned status);

/* Options of a connection. The caller owns the strings, which must live as long as the connection. */
struct http_options {
	/* file with CA certificates to trust instead of the system's; NULL: the system's */
	const char *cacert;
	/* files with the client's certificate and its key; NULL: none */
	const char *cert, *key;
	/* file with the secret; NULL: the secret is the value of PJ_STORE_AUTH, if set (secret.h) */
	const char *auth;
	/* true if the secret may be sent over plain http */
	bool insecure_auth;
	/* time limit of a request in s; 0: 90 s */
	unsigned timeout;
};

/* The result of a request. */
struct http_reply {
	enum http_class class;
	/* HTTP status; 0: no response */
	unsigned status;
	/* pause in s that the server requests before the next attempt (Retry-After); 0: none */
	unsigned after;
	/* size in bytes of the request's body as transferred */
	uint64_t sent;
	/* body of the response, valid until the next request; truncated if it exceeds HTTP_REPLY_MAX */
	struct str body;
	/* value of the response's header X-Total-Count; empty if there is none */
	struct str total;
};

/* A request. All members except method may be 0. */
struct http_request {
	const char *method;
	/* suffix of the URL's path: "?query" or "/more?query", already escaped */
	struct str path;
	struct str body;
	/* media type of the request's body; NULL: application/octet-stream */
	const char *type;
	/* one additional header line; NULL: none */
	const char *header;
	/* true if http_send must compress the body by gzip */
	bool pack;
	/* true if the caller has already compressed the body by gzip */
	bool packed;
	/* true if the request may last longer than the time limit, as the response may be large. It fails only if less
	 * than 16 bytes per second arrive for the duration of the time limit, also while the server computes. */
	bool lasting;
	/* Receives the body of a response with status 200 in parts, of any total length; returns false to stop the
	 * transfer. NULL: the body goes to http_reply.body. */
	bool (*take)(void *to, struct str blob);
	/* first argument of take */
	void *to;
};

struct http;

/* Prepares requests to the server at `url`, http://HOST[:PORT][/PATH] or https://...; does not connect. Returns NULL on
 * failure, with the reason and a remedy in *why. */
struct http *http_open(const char *url, const struct http_options *options, struct text *why);

/* Sends a request and waits for the response. Sets *why to the reason of a failure, e.g. "HTTP 503: overloaded" or
 * "connection refused", else to an empty text. The reason never contains a secret. */
struct http_reply http_send(struct http *http, const struct http_request *request, struct text *why);

/* http_path returns the path of the URL, without a '/' at its end. http_set_path replaces that path. */
struct str http_path(const struct http *http);
void http_set_path(struct http *http, struct str path);
/* Adds a copy of a header line to all later requests of this connection. */
void http_header(struct http *http, const char *line);
/* Sets *user and *password from the secret and returns true if the secret has the form USER:PASSWORD. Otherwise returns
 * false, with *user empty and *password the value of the header Authorization; *password is empty without a secret. */
bool http_secret(const struct http *http, struct str *user, struct str *password);

/* Closes the connection. NULL is allowed. */
void http_close(struct http *http);

/* Appends `string`, escaped as one component of a URL's path or query. */
void http_escape(struct text *text, struct str string);

#endif
