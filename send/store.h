/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - interface of the store modules; a store is a destination and source of windows (list of modules: stores.h).
 *
 * A store module sends one window per call and translates the server's answer into a verdict. It does not wait for a
 * retry and deletes nothing in the spool: the sending loop (sender.h) decides order, pauses and the removal of windows.
 * A document is what a store stores and confirms as a unit: a window (dir:, couch:), or one stack of a window with its
 * weight (other stores). A store that is `exact` stores a window once, even if the window is sent several times or the
 * process is killed at any point. Functions report failure by their return value. All functions of an open store are
 * called from one thread, each any number of times. A function that is NULL is not supported.
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

/* The verdict of an attempt, which determines what the sending loop does with the window. */
enum store_verdict {
	/* each document of the window is confirmed by the store, or is in store_report.refused */
	STORE_SENT,
	/* temporary failure: no connection, overload, or a pause that the server requested; the loop repeats the
	 * attempt without limit */
	STORE_LATER,
	/* ambiguous failure, e.g. HTTP status 500: the server is faulty, or a document is poison; the loop repeats the
	 * attempt a limited number of times, then once more with `isolate` */
	STORE_INDETERMINATE,
	/* wrong configuration (HTTP status 401, 403, 404, 405 or 3xx, TLS failure): the window stays in the spool, a
	 * user must act; the loop repeats the attempt slowly */
	STORE_HOLD,
	/* permanent refusal: the store never accepts this window, and the loop moves it to bad/ */
	STORE_REFUSED,
};

/* The result of store_ops.join: whether the window was added to the common request of several windows. */
enum store_joined {
	/* added; the next window may join, too */
	STORE_JOINED,
	/* added, and the common request is full now */
	STORE_FULL,
	/* not added: the caller sends this window by store_ops.send, in a request of its own */
	STORE_ALONE,
	/* the common request failed: none of its windows is confirmed, and the report's verdict gives the reason */
	STORE_PARTED,
};

/* The result of an attempt. Initialize it with {0}; free it by store_report_free. */
struct store_report {
	enum store_verdict verdict;
	/* for STORE_LATER and STORE_INDETERMINATE: pause in s that the store requested (Retry-After); 0: none */
	uint64_t after;
	/* one line with the reason of the verdict, without secrets; empty for STORE_SENT */
	struct text why;
	/* stacks that the store refused for good, as lines "STACK COUNT\n"; the sending loop writes them to bad/ */
	struct text refused;
	/* one line with the reason of the refused stacks */
	struct text refused_why;
	/* number of documents that this attempt stored, without those in `known` */
	uint64_t documents;
	/* number of documents that the store already had from an earlier attempt */
	uint64_t known;
	/* requests: number of requests; bytes: sum of their bodies as transferred, without headers */
	uint64_t requests, bytes;
	/* true if the store holds other content under the id of a document; the sending loop then writes the window to
	 * bad/ and warns, although the verdict is STORE_SENT */
	bool differs;
};

/* Command-line options for access to a store, common to pjsend and pjfetch (STORE_OPTS). A string is NULL if its option
 * is not given; the caller owns the strings. */
struct store_options {
	/* TLS files: CA certificate to trust, client certificate, key of the client certificate */
	const char *cacert, *cert, *key;
	/* file with the secret, USER:PASSWORD or a token; NULL: the secret is the value of PJ_STORE_AUTH */
	const char *auth;
	/* true if the secret may be sent over plain http */
	bool insecure_auth;
	/* for pjfetch from eve: stores: URL of the original pipeline's service that sums stacks */
	const char *stacks_url;
	/* true if the store is only read, so that open creates nothing (pjfetch) */
	bool reading;
	/* true if the store must query its content to confirm a window before the spool drops that window */
	bool verify;
	/* time limit of one request in s; 0: 90 s */
	uint64_t timeout_s;
	/* All following options are for dir: stores only. */
	/* true if windows are compressed by gzip even if zstd is built in */
	bool gzip;
	/* retention limits for each host: keep_days: age in days; max_bytes: bytes; 0: no limit */
	uint64_t keep_days, max_bytes;
	/* age in days at which the windows of an hour are merged into one roll-up; 0: never */
	uint64_t roll_up_days;
};

/* Rows of an option table (opt.h) that set the members of the struct store_options at `o`. */
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

/* A selection of windows: those that start in [from, to), in s since 1970, and match host, labels and event. pjfetch
 * fills it. */
struct store_query {
	uint64_t from, to;
	/* host of the windows; empty: all hosts */
	struct str host;
	/* labels "k=v"; a window must have all of them */
	struct str *label;
	size_t nlabel;
	/* glob patterns (str_glob) for the event of a window, at least one of which must match; none: all events
	 * match */
	struct str *event;
	size_t nevent;
	/* grouping of the result: the store adds up only windows with the same host, time or label value */
	enum store_by { BY_ALL, BY_HOST, BY_TIME, BY_LABEL } by;
	/* for BY_LABEL: key of the label whose value groups the result */
	struct str by_label;
};

/* The receiver of a query's result. If a callback returns false, the store stops, returns false and leaves *why
 * empty. */
struct store_sink {
	/* Receives a window, or the sum of several windows with the same unit, event and grouping value (query.by).
	 * fetch then calls `lines` for this window; list does not. Members of *window that the store does not have
	 * are 0; `text` and `stacks` are not set. */
	bool (*window)(void *to, const struct window *window);
	/* Receives complete lines "STACK COUNT\n" of the latest window. The store may call it any number of times for
	 * each window. */
	bool (*lines)(void *to, struct str lines);
	/* Reports stored data that is damaged; place: its location in the store. The store continues with the rest of
	 * the result, and the tool ends with status 1. For list it may be NULL; then the store checks only files that
	 * it must read anyway. */
	void (*damaged)(void *to, struct str place, const char *why);
	/* first argument of all callbacks */
	void *to;
};

/* The functions and properties of a store module. */
struct store_ops {
	/* part of a spec before the colon, e.g. "dir" */
	const char *scheme;
	/* form of a spec, for messages, e.g. "dir:PATH" */
	const char *form;
	/* one-line description of the store, for --help and messages */
	const char *does;
	/* true if a window that is sent several times is stored once */
	bool exact;
	/* true if the store has no server, so that many hosts cannot overload it */
	bool local;
	/* true if another service can sum this store's stacks (pjfetch --stacks) */
	bool sums;
	/* true if the store's format needs comm-PID as the first frame of each stack (pjfold --pid) */
	bool pids;
	/* true if the store's format has no code kinds (pjfold --annotate=none) */
	bool without_kinds;
	/* earliest epoch that the store's schema accepts, in s since 1970; earlier windows are refused for good */
	uint64_t since;

	/* Opens the store; `where` is the part of the spec after the colon. Returns the module's state; on failure
	 * NULL, with the reason in *why. Makes no connection to a server. */
	void *(*open)(struct str where, const struct store_options *options, struct text *why);

	/* Makes one attempt to send a window, with the result in *report, which is {0} before. *resume is 0 at the
	 * first attempt; the module may store a position there, and the next attempt in this process receives it, so
	 * that confirmed documents are not sent again. isolate: true after too many indeterminate attempts; the
	 * module must find the documents that cause these attempts and report those documents as refused; if every
	 * document causes them, the module refuses the window. The pointer `send` is NULL if the store is read-only. */
	void (*send)(void *store, const struct window *window, uint64_t *resume, bool isolate,
		     struct store_report *report);

	/* Send several windows in fewer requests, for stores where a request costs more than its content; NULL: not
	 * supported. join adds a window, whose memory the caller may free after the call, and may already send a part;
	 * send_joined sends the rest and ends the attempt. All windows are confirmed if the verdict of send_joined is
	 * STORE_SENT. With another verdict, or if join returns STORE_PARTED, the state of all joined windows is
	 * unknown, and the caller sends each of them by send(). */
	enum store_joined (*join)(void *store, const struct window *window, struct store_report *report);
	void (*send_joined)(void *store, struct store_report *report);

	/* Deliver the windows of a query to sink: fetch with stacks, list without. The windows are sorted by host, then
	 * by epoch. Only fetch from eve: has another order: with BY_TIME epoch, then host; else the order of document
	 * ids, in which a host may have several windows with parts of its sum. Return false on failure, with the reason
	 * in *why. NULL: the store is write-only. */
	bool (*list)(void *store, const struct store_query *query, const struct store_sink *sink, struct text *why);
	bool (*fetch)(void *store, const struct store_query *query, const struct store_sink *sink, struct text *why);

	/* Does one step of the store's maintenance (roll-ups, retention), for stores without server. Returns true if
	 * more steps are left. The sending loop calls it when no window is due. host: the host to maintain; empty: all
	 * hosts. now: s since 1970. NULL: the store needs no maintenance. */
	bool (*tidy)(void *store, struct str host, uint64_t now);

	/* Returns the SQL statements that set up the server. NULL: the store needs no setup. */
	const char *(*schema)(void);
	void (*close)(void *store);
};

/* An open store. */
struct store {
	const struct store_ops *ops;
	/* state of the store module, as returned by ops->open */
	void *it;
	/* spec from the command line; it should contain no password */
	const char *spec;
};

/* All store modules of this build; the last entry is NULL. */
extern const struct store_ops *const store_list[];

/* Returns the store module for a spec such as dir:/var/lib/pj-store, and sets *where to the part after the colon. A
 * path without scheme is treated as dir:PATH. Exits with a usage message if the scheme is unknown or not built in. */
const struct store_ops *store_ops_of(const char *spec, struct str *where);
/* Prints the schemes of all stores, "dir:" and so on: the values of the option --store for --values (opt.h). */
void store_print_values(struct out *out, const char *option);
/* Opens the store of a spec; the string must live as long as *store. On failure exits with a usage message. */
void store_open(struct store *store, const char *spec, const struct store_options *options);
/* Closes the store if it is open. */
void store_close(struct store *store);

/* Opens an HTTP connection object for the server at a URL, for store modules that use HTTP. Returns NULL on failure,
 * with the reason in *why. */
struct http *store_http(struct str url, const struct store_options *options, struct text *why);

/* Frees the texts of *report and resets it to {0}. */
void store_report_free(struct store_report *report);

/* Returns true if host, event and labels of a window match the query; the time is not compared. For stores whose server
 * cannot select windows by these properties. */
bool store_wants(const struct store_query *query, const struct window *window);

#endif
