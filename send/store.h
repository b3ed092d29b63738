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
	/* temporary: no connection, overload, or a pause that the server requested; the attempt is repeated without
	 * limit */
	STORE_LATER,
	/* status 500 and the like: the server is faulty, or a document is poison; the attempt is repeated a limited
	 * number of times, then with `isolate` */
	STORE_INDETERMINATE,
	/* wrong configuration (status 401 403 404 405 3xx, TLS): the data stays and the configuration needs attention;
	 * the attempt is repeated slowly */
	STORE_HOLD,
	/* the store refuses the window for good; it goes to bad/ */
	STORE_REFUSED,
};

/* The result of store_ops.join: whether a window is in the same request as others. */
enum store_joined {
	/* the window is in the common request, and the next one may join it */
	STORE_JOINED,
	/* the window is in the common request, which is full now */
	STORE_FULL,
	/* the window is not in the common request: the caller sends it by store_ops.send in a request of its own */
	STORE_ALONE,
	/* the request failed: none of its windows is confirmed, and the report's verdict gives the reason */
	STORE_PARTED,
};

/* The result of an attempt. {0} at first; freed by store_report_free. */
struct store_report {
	enum store_verdict verdict;
	/* LATER, INDETERMINATE: pause in s that the store requested (Retry-After); 0: it requested none */
	uint64_t after;
	/* one line with the reason of the verdict, without secrets; empty if the window was sent */
	struct text why;
	/* stacks that the store refused for good, as lines "STACK COUNT\n"; they go to bad/ */
	struct text refused;
	/* one line with the reason for which stacks were refused */
	struct text refused_why;
	/* number of documents that this attempt stored, without those that the store already had */
	uint64_t documents;
	/* number of documents that the store already had */
	uint64_t known;
	/* number of requests; bytes of their bodies as transferred, without headers */
	uint64_t requests, bytes;
	/* true: the store holds other content under an id: an alarm, although the verdict is SENT */
	bool differs;
};

/* Options for access to a store, from the command line; pjsend and pjfetch share them (STORE_OPTS). NULL: not given.
 * The strings belong to the caller. */
struct store_options {
	/* files for TLS: certificates to trust, client certificate and its key */
	const char *cacert, *cert, *key;
	/* file with the secret, USER:PASSWORD or a token; NULL: the value of PJ_STORE_AUTH */
	const char *auth;
	/* true: the secret may be sent over plain http */
	bool insecure_auth;
	/* for eve: and pjfetch: URL of the original pipeline's service that sums stacks */
	const char *stacks_url;
	/* true: the store is only read and creates nothing (pjfetch) */
	bool reading;
	/* true: the sender queries the store's content before the spool drops a window */
	bool verify;
	/* time limit of one request in s; 0: 90 */
	uint64_t timeout_s;
	/* The following options are for the store dir: only. */
	/* true: compress by gzip even if zstd is built in */
	bool gzip;
	/* limits for each host: age in days, bytes; 0: no limit */
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

/* A selection of windows: those that start in [from, to), in s since 1970, and match host, label and event. pjfetch
 * fills it. */
struct store_query {
	uint64_t from, to;
	/* name of the host; empty: all hosts */
	struct str host;
	/* labels "k=v", all of which a window must have */
	struct str *label;
	size_t nlabel;
	/* patterns (str_glob), one of which the name of a window's event must match; none: any event */
	struct str *event;
	size_t nevent;
	/* property by which the result is grouped: the store sums only windows that agree in it */
	enum store_by { BY_ALL, BY_HOST, BY_TIME, BY_LABEL } by;
	/* key of the label whose value groups the result, with BY_LABEL */
	struct str by_label;
};

/* The receiver of a query's result. A callback returns false to stop; the store then returns false, too, and leaves
 * *why empty. */
struct store_sink {
	/* Receives a window, or the sum of several windows that agree in unit, event and the property of query.by. With
	 * fetch, its lines follow; with list, they do not. Members of struct window that the store does not have are 0;
	 * text and stacks are not set. */
	bool (*window)(void *to, const struct window *window);
	/* Receives complete lines "STACK COUNT\n" of the latest window, in any number of calls. */
	bool (*lines)(void *to, struct str lines);
	/* Reports stored data that cannot be used. The rest of the result follows, and the tool ends with status 1.
	 * With list it may be NULL; then the store checks only files that it must read anyway. */
	void (*damaged)(void *to, struct str place, const char *why);
	/* first argument of the callbacks */
	void *to;
};

/* A store module. */
struct store_ops {
	/* part of the spec before the colon, e.g. "dir" */
	const char *scheme;
	/* form of the spec in messages, e.g. "dir:PATH" */
	const char *form;
	/* one line with a description of the store, for --help and messages */
	const char *does;
	/* true: repeated sends of a window store it once */
	bool exact;
	/* true: the store has no server that a fleet of hosts could overload */
	bool local;
	/* true: another service can sum this store's stacks: pjfetch --stacks */
	bool sums;
	/* true: the store's format needs first frames of the form comm-PID: pjfold --pid */
	bool pids;
	/* true: the store's format has no code kinds: pjfold --annotate=none */
	bool without_kinds;
	/* earliest epoch in s since 1970 that the store's schema accepts; it refuses earlier windows for good */
	uint64_t since;

	/* Opens the store; `where` is the part of the spec after the colon. Returns the module's state; NULL, with the
	 * reason in *why, if that is not possible. Makes no connection to a server. */
	void *(*open)(struct str where, const struct store_options *options, struct text *why);

	/* Makes one attempt to send a window. *resume is 0 at the first attempt, later the value that this function
	 * left there, so that confirmed documents are not sent again; it is lost when the process ends. isolate: the
	 * indeterminate attempts reached the limit; find the documents that cause them and report these as refused, or
	 * the window if all of its documents cause them. *report is empty before. NULL: the store is read-only. */
	void (*send)(void *store, const struct window *window, uint64_t *resume, bool isolate,
		     struct store_report *report);

	/* Several windows in fewer requests, for stores where a request costs more than its content; NULL: not
	 * supported. join adds a window, which need not exist after the call, and may already send a part;
	 * send_joined sends the rest and ends the attempt. The windows are confirmed if the verdict of send_joined
	 * is SENT. With another verdict, or if join returns PARTED, the state of all of them is unknown, and each is
	 * sent by send(). */
	enum store_joined (*join)(void *store, const struct window *window, struct store_report *report);
	void (*send_joined)(void *store, struct store_report *report);

	/* Deliver the windows of a query to sink, by host, then by epoch; list without their stacks. Return false, with
	 * the reason in *why, on failure. NULL: the store is write-only. */
	bool (*list)(void *store, const struct store_query *query, const struct store_sink *sink, struct text *why);
	bool (*fetch)(void *store, const struct store_query *query, const struct store_sink *sink, struct text *why);

	/* Does one part of the maintenance of a store without server (roll-ups, retention) and returns true if more is
	 * to be done. Called when there is nothing to send. host: the host to maintain; empty: all. now: s since 1970.
	 * NULL: the store needs none. */
	bool (*tidy)(void *store, struct str host, uint64_t now);

	/* Returns the SQL statements that set up the server. NULL: the store needs none. */
	const char *(*schema)(void);
	void (*close)(void *store);
};

/* An open store, as given on the command line. */
struct store {
	const struct store_ops *ops;
	/* state of the store module, which ops->open returned */
	void *it;
	/* spec of the store as given; it should contain no password */
	const char *spec;
};

/* The store modules of this build; the last entry is NULL. */
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

/* Opens the server at a URL with the given options, for stores that use HTTP. Returns NULL, with the reason in *why, on
 * failure. */
struct http *store_http(struct str url, const struct store_options *options, struct text *why);

/* Frees the texts of *report and resets it to {0}. */
void store_report_free(struct store_report *report);

/* True if host, event and labels of a window match the query; its time is not compared. For stores whose server does
 * not select windows by these. */
bool store_wants(const struct store_query *query, const struct window *window);

#endif
