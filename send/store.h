/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - interface of a store, the destination and source of windows; each module implements one (stores.h).
 *
 * A store module sends one window and translates the server's answer into a verdict. It does not wait for a retry and
 * deletes nothing in the spool: order, pauses and the removal of windows belong to the sending loop alone (sender.h). A
 * store that is `exact` stores a window once, even if the window is sent several times or the process is killed at any
 * point. Functions fail by return value. Callbacks that are not NULL may be called any number of times between open and
 * close, from one thread.
 *
 *	store_open(&store, "dir:/srv/profiles", &options);
 *	store.ops->send(store.it, &window, &resume, false, &report);
 *	store_report_free(&report);
 *	store_close(&store);
 */
#ifndef PJ_STORE_H
#define PJ_STORE_H

#include "common/filter/out.h"
#include "send/format/window.h"

/* The verdict of an attempt. The sending loop acts on it. */
enum store_verdict {
	/* every document of the window is confirmed, or in `refused` */
	STORE_SENT,
	/* temporary: no connection, overload, or a pause that the server requested; repeated without limit */
	STORE_LATER,
	/* 500 and the like: the server is faulty, or a document is poison; repeated a limited number of times, then
	 * with `isolate` */
	STORE_INDETERMINATE,
	/* wrong configuration (401 403 404 405 3xx TLS): the data stays and the configuration needs attention;
	 * repeated slowly */
	STORE_HOLD,
	/* the store refuses the window for good; it goes to bad/ */
	STORE_REFUSED,
};

/* The result of store_ops.join: if a window goes in the same request as others. */
enum store_joined {
	/* the window is included, and the next one may follow */
	STORE_JOINED,
	/* the window is included, and the request is full */
	STORE_FULL,
	/* the window is not included: use send() for it */
	STORE_ALONE,
	/* the request failed: no window of it is confirmed, and the verdict gives the reason */
	STORE_PARTED,
};

/* The result of an attempt. {0} at first; freed by store_report_free. */
struct store_report {
	enum store_verdict verdict;
	/* LATER, INDETERMINATE: pause in s that the store requested (Retry-After); 0: it requested none */
	uint64_t after;
	/* one line with the reason, without secrets; empty if the window was sent */
	struct text why;
	/* stacks that were refused for good, as lines "STACK COUNT\n"; they go to bad/ */
	struct text refused;
	/* one line with the reason of that refusal */
	struct text refused_why;
	/* number of documents that this attempt stored, without those of `known` */
	uint64_t documents;
	/* number of documents that the store already had */
	uint64_t known;
	/* bytes as transferred, without headers */
	uint64_t requests, bytes;
	/* the store holds other content under an id: an alarm, although the verdict is SENT */
	bool differs;
};

/* Options for access to a store, from the command line; pjsend and pjfetch share them (STORE_OPTS). NULL: not given.
 * The strings belong to the caller. */
struct store_options {
	/* files for TLS: certificates to trust, client certificate and its key */
	const char *cacert, *cert, *key;
	/* file with the secret, USER:PASSWORD or a token; NULL: the value of PJ_STORE_AUTH */
	const char *auth;
	/* allows the secret over plain http */
	bool insecure_auth;
	/* eve: URL of the original pipeline's service that sums stacks, for pjfetch */
	const char *stacks_url;
	/* pjfetch: the store creates nothing */
	bool reading;
	/* queries the store's content before the spool drops a window */
	bool verify;
	/* limit of one request in s; 0: 90 */
	uint64_t timeout_s;
	/* Options of dir:. */
	/* compress by gzip even if zstd is built in */
	bool gzip;
	/* limits for each host; 0: no limit */
	uint64_t keep_days, max_bytes;
	/* age in days at which the windows of an hour are merged into one; 0: never */
	uint64_t roll_up_days;
};

/* Rows of a table of options (opt.h) that set the members of struct store_options. */
#define STORE_OPTS(o)                                                                                              \
	{                                                                                                          \
		0,                                                                                                 \
		"cacert",                                                                                          \
		"FILE",                                                                                            \
		OPT_STR,                                                                                           \
		&(o)->cacert,                                                                                      \
		NULL,                                                                                              \
		"trust this authority's certificate instead of the system's"                                       \
	},                                                                                                         \
		{ 0, "cert", "FILE", OPT_STR, &(o)->cert, NULL, "client certificate, if the store requires one" }, \
		{ 0, "key", "FILE", OPT_STR, &(o)->key, NULL, "key of the client certificate" },                   \
		{ 0,                                                                                               \
		  "auth",                                                                                          \
		  "FILE",                                                                                          \
		  OPT_STR,                                                                                         \
		  &(o)->auth,                                                                                      \
		  NULL,                                                                                            \
		  "read USER:PASSWORD or a token from its first line (PJ_STORE_AUTH)" },                           \
		{ 0,                                                                                               \
		  "insecure-auth",                                                                                 \
		  NULL,                                                                                            \
		  OPT_FLAG,                                                                                        \
		  &(o)->insecure_auth,                                                                             \
		  NULL,                                                                                            \
		  "send the secret over plain http, which anyone on the way can read" },                           \
	{                                                                                                          \
		0, "timeout", "SECONDS", OPT_U64, &(o)->timeout_s, NULL,                                           \
			"wait at most SECONDS for an answer of the store (90)"                                     \
	}

/* A selection of windows: those that start in [from, to), in s since 1970, and match all members. pjfetch fills it. */
struct store_query {
	uint64_t from, to;
	/* empty: all hosts */
	struct str host;
	/* each "k=v"; a window must have all of them */
	struct str *label;
	size_t nlabel;
	/* patterns (str_glob), of which one must match; none: any event */
	struct str *event;
	size_t nevent;
	/* distinction that the store must not lose by summing windows */
	enum store_by { BY_ALL, BY_HOST, BY_TIME, BY_LABEL } by;
	/* key of the label, for BY_LABEL */
	struct str by_label;
};

/* The receiver of a query's result. A callback returns false to stop; the store then returns false, too, and leaves
 * *why empty. */
struct store_sink {
	/* Receives a window, or the sum of several windows that agree in unit, event and the property of query.by.
	 * With fetch, lines follow; with list, they do not. Members that the store does not have are 0; text and
	 * stacks are not set. */
	bool (*window)(void *to, const struct window *window);
	/* Receives complete lines "STACK COUNT\n" of the latest window, in any number of calls. */
	bool (*lines)(void *to, struct str lines);
	/* Reports stored data that cannot be used; the rest follows, and the tool ends with status 1. With list it
	 * may be NULL; then only files that must be read anyway are checked. */
	void (*damaged)(void *to, struct str place, const char *why);
	/* first argument of the callbacks */
	void *to;
};

/* A store module. */
struct store_ops {
	/* part of the spec before the colon, e.g. "dir" */
	const char *scheme;
	/* form of the spec for messages, e.g. "dir:PATH" */
	const char *form;
	/* one line for --help and messages */
	const char *does;
	/* repeated sends of a window store it once */
	bool exact;
	/* has no server that a fleet of hosts could overload */
	bool local;
	/* another service can sum stacks: pjfetch --stacks */
	bool sums;
	/* its format needs first frames of the form comm-PID: pjfold --pid */
	bool pids;
	/* its format has no code kinds: pjfold --annotate=none */
	bool fp;
	/* s since 1970; its schema refuses earlier windows for good */
	uint64_t since;

	/* Opens the store; `where` is the part of the spec after the colon. Returns NULL, and *why, if that is not
	 * possible. Makes no connection to a server. */
	void *(*open)(struct str where, const struct store_options *options, struct text *why);

	/* Makes one attempt. *resume is 0 at the first attempt, later the value that this function left there, so
	 * that confirmed documents are not sent again; it is lost when the process ends. isolate: the indeterminate
	 * attempts reached the limit; find the documents that cause them and report these as refused, or the window
	 * if all of its documents cause them. *report is empty before. NULL: the store is read-only. */
	void (*send)(void *store, const struct window *window, uint64_t *resume, bool isolate,
		     struct store_report *report);

	/* Several windows in fewer requests, for stores where a request costs more than its content; NULL: not
	 * supported. join adds a window, which need not exist after the call, and may already send a part;
	 * send_joined sends the rest and ends the attempt. The windows are confirmed if the verdict of send_joined
	 * is SENT. With another verdict, or if join returns PARTED, the state of all of them is unknown, and each is
	 * sent by send(). */
	enum store_joined (*join)(void *store, const struct window *window, struct store_report *report);
	void (*send_joined)(void *store, struct store_report *report);

	/* Deliver the windows of a query to sink, by host, then by epoch. Return false and *why on failure. NULL:
	 * the store is write-only. */
	bool (*list)(void *store, const struct store_query *query, const struct store_sink *sink, struct text *why);
	bool (*fetch)(void *store, const struct store_query *query, const struct store_sink *sink, struct text *why);

	/* Maintenance of a store without server (roll-ups, retention), at times when there is nothing to send; a
	 * part of it in each call. host: the host to maintain; empty: all. `now` is in s since 1970. Returns true if
	 * more is to be done. NULL: nothing. */
	bool (*tidy)(void *store, struct str host, uint64_t now);

	/* Returns the statements that set up the server; NULL: none are needed. */
	const char *(*schema)(void);
	void (*close)(void *store);
};

/* An open store of the command line. */
struct store {
	const struct store_ops *ops;
	/* the module's state */
	void *it;
	/* as given; passwords do not belong there */
	const char *spec;
};

/* The store modules of this build, NULL at the end. */
extern const struct store_ops *const store_list[];

/* Returns the store module of a spec (dir:/var/lib/pj-store), and in *where the part after the colon. A path without
 * scheme is dir:. Exits with a message (usage) if the scheme is unknown or was not built in. */
const struct store_ops *store_ops_of(const char *spec, struct str *where);
/* For --values=store (opt.h): prints the kinds of stores, "dir:" and so on. */
void store_print_values(struct out *out, const char *option);
/* Opens the store of a spec, which must live as long as *store. Exits with a message if that is not possible. */
void store_open(struct store *store, const char *spec, const struct store_options *options);
/* Closes the store, if it is open. */
void store_close(struct store *store);

/* Opens the server at a URL with the given options, for stores that use HTTP. Returns NULL and *why on failure. */
struct http *store_http(struct str url, const struct store_options *options, struct text *why);

/* Frees the texts of *report and resets it to {0}. */
void store_report_free(struct store_report *report);

/* True if host, event and labels of a window match the query; its time is not compared. For stores that read windows
 * one by one. */
bool store_wants(const struct store_query *query, const struct window *window);

#endif
