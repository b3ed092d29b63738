/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - where windows go and come from: one small interface, one file a store (stores.c has the list).
 *
 * A store knows how to send one window and what the answer means. It never waits to try again and never deletes: when
 * to try again, what goes first, what becomes of a window, is known once, in the sending loop (sender.h). A store that
 * is `exact` may be sent the same window any number of times, killed anywhere in between, and holds it once. Functions
 * fail by value; who is not NULL may be called any number of times between open and close, by one thread.
 */
#ifndef PJ_STORE_H
#define PJ_STORE_H

#include "common/filter/out.h"
#include "send/format/window.h"

enum store_verdict {
	STORE_SENT,          /* every document of the window is confirmed, or in `refused` */
	STORE_LATER,         /* not now: no connection, overloaded, told to wait. For ever again */
	STORE_INDETERMINATE, /* 500 and the like: the server is ill, or a document is poison. Again, but not for ever
			      * (isolate)
			      */
	STORE_HOLD,    /* wrong configuration (401 403 404 405 3xx TLS): data is kept, somebody must look at it. Again,
			  slowly */
	STORE_REFUSED, /* the whole window, for good: to bad/ */
};

/* A window that is to go with others. */
enum store_joined {
	STORE_JOINED, /* it does; so may the next */
	STORE_FULL,   /* it does, and they are enough */
	STORE_ALONE,  /* it does not: send() it */
	STORE_PARTED, /* nothing goes together any more: the verdict says what was wrong */
};

struct store_report {
	enum store_verdict verdict;
	uint64_t after; /* LATER, DOUBT: not before so many seconds, as the store asked (Retry-After); 0: it did not say
			 */
	struct text why;          /* one line, what went wrong; no secrets. Empty when sent */
	struct text refused;      /* stacks that were refused for good, as lines "STACK COUNT\n": to bad/ */
	struct text refused_why;  /* one line: why */
	uint64_t documents;       /* that were confirmed by this attempt, without those that were */
	uint64_t known;           /* there already */
	uint64_t requests, bytes; /* sent, as on the wire without headers */
	bool differs; /* what is stored under an id is not what was sent: an alarm; verdict is SENT all the same */
};

/* How to get there; from the command line, which both tools share (STORE_OPTS). NULL: not given. */
struct store_options {
	const char *cacert, *cert, *key; /* files for TLS */
	const char *auth;                /* a file with the secret: USER:PASSWORD, or a token; else PJ_STORE_AUTH */
	bool insecure_auth;              /* the secret may travel over plain http */
	const char *stacks_url;          /* eve: the service of the original pipeline that sums, for pjfetch */
	bool reading;                    /* for pjfetch: nothing is made */
	bool verify;                     /* ask the store what it holds before a window is let go */
	uint64_t timeout_s;              /* of one request; 0: 90 */
	/* dir: */
	bool gzip;                     /* although zstd is built in */
	uint64_t keep_days, max_bytes; /* of each host; 0: for ever, any number */
	uint64_t roll_up_days;         /* windows older than that become one an hour; 0: never */
};

/* Rows of a table of options (opt.h). */
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

/* Which windows are wanted: those that begin in [from, to). */
struct store_query {
	uint64_t from, to;
	struct str host;   /* empty: all */
	struct str *label; /* each "k=v": all of them must be so */
	size_t nlabel;
	struct str *event; /* patterns (str_glob), of which one must match; none: any */
	size_t nevent;
	enum store_by { BY_ALL, BY_HOST, BY_TIME, BY_LABEL } by; /* what must not be summed up by the store */
	struct str by_label;                                     /* its key */
};

/* Where they go. False: stop, as it failed; the store then returns false, too, and leaves *why empty. */
struct store_sink {
	/* A window, or a sum of several that are alike in what query.by asks for, in unit and event. fetch: lines
	 * follow; list: that is all. Only what is known is set; text and stacks are not. */
	bool (*window)(void *to, const struct window *window);
	/* Whole lines "STACK COUNT\n" of the window before; any number of calls. */
	bool (*lines)(void *to, struct str lines);
	/* Part of what is stored cannot be used; the rest follows, and the tool ends with status 1. list: may be
	 * NULL, and only files that must be looked at are. */
	void (*damaged)(void *to, struct str place, const char *why);
	void *to;
};

struct store_ops {
	const char *scheme; /* "dir" */
	const char *form;   /* "dir:PATH" */
	const char *does;   /* one line for --help and messages */
	bool exact;
	bool local;     /* no server that a fleet could storm */
	bool sums;      /* another service can add up: --stacks */
	bool pids;      /* first frames are comm-PID: pjfold --pid */
	bool fp;        /* no kinds of code: pjfold --annotate=none */
	uint64_t since; /* earlier windows are refused for good by its schema */

	/* where: what stands behind the colon. NULL, and *why: it cannot be. No connection is needed to open. */
	void *(*open)(struct str where, const struct store_options *options, struct text *why);

	/* One attempt. *resume is 0 at the first, then what this function left there in the attempt before, so that
	 * what was confirmed need not be sent again; it is lost when the process ends. isolate: there were enough
	 * answers of DOUBT; find the documents that make them, report these as refused, or the whole window when it is
	 * each. r is empty before. May be NULL: one-way from there. */
	void (*send)(void *store, const struct window *window, uint64_t *resume, bool isolate,
		     struct store_report *report);

	/* Several windows in fewer requests, where a request costs more than what is in it; NULL: they do not go
	 * together. join takes a window, which may be forgotten behind it, and may send part of it; send_joined is the
	 * attempt for all of them, and ends it. They are confirmed if its verdict is SENT; if it is not, or join says
	 * PARTED, nothing is known of any, and each goes by send(). */
	enum store_joined (*join)(void *store, const struct window *window, struct store_report *report);
	void (*send_joined)(void *store, struct store_report *report);

	/* NULL: what was sent there cannot be read back. By host, then epoch. False: why. */
	bool (*list)(void *store, const struct store_query *query, const struct store_sink *sink, struct text *why);
	bool (*fetch)(void *store, const struct store_query *query, const struct store_sink *sink, struct text *why);

	/* What a store without server must do for itself (roll-ups, retention), now and then when there is nothing to
	 * send; a part of it each time. host: of that one; empty: of all. True: there is more. NULL: nothing. */
	bool (*tidy)(void *store, struct str host, uint64_t now);

	const char *(*schema)(void); /* what the server must be told first; NULL: nothing */
	void (*close)(void *store);
};

/* A store of the command line, open. */
struct store {
	const struct store_ops *ops;
	void *it;
	const char *spec; /* as given; without passwords, which do not belong there */
};

extern const struct store_ops *const store_list[]; /* NULL at the end; those that were built in */

/* The store that a spec (dir:/var/lib/pj-store) is of; a plain path is dir:. Dies (usage) when there is none, or
 * says why it was not built in. */
const struct store_ops *store_ops_of(const char *spec, struct str *where);
void store_open(struct store *store, const char *spec,
		const struct store_options *options); /* dies when it cannot be */
void store_close(struct store *store);

/* What a store behind HTTP opens: its server, or that at another URL, as the options say to get there. NULL: why. */
struct http *store_http(struct str url, const struct store_options *options, struct text *why);

void store_report_free(struct store_report *report);

/* May a window of these facts be wanted? For stores that look at windows one by one. Not asked: what begins when. */
bool store_wants(const struct store_query *query, const struct window *window);

#endif
