/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clickhouse.h - internal interface of the clickhouse: store, with its state, the form of values, and queries.
 *
 * clickhouse.c sends windows, clickseen.c finds windows that the server already has, clickread.c reads windows,
 * clickvalues.c has the form of values.
 */
#ifndef PJ_CLICKHOUSE_H
#define PJ_CLICKHOUSE_H

#include "send/stores/batches.h"

/* An open store clickhouse:. */
struct clickhouse {
	struct http *http;
	struct batches batches;
	bool verify;
	/* table: `DATABASE`.`TABLE without the closing quote, so that a suffix can follow; path, query: buffers of the
	 * current request */
	struct text table, path, query;
	/* state of common requests for several windows (clickhouse.c); NULL: none sent yet */
	struct together *together;
	/* cache of windows that the server has (clickseen.c); NULL: nothing queried yet */
	struct ch_seen *seen;
};

/* Appends a value in ClickHouse's TabSeparated form. quote: true puts it in quotes, for a string in a query or an
 * array. */
void ch_put(struct text *text, struct str string, bool quote);
/* Appends the date (UTC) of `epoch`, which is in s since 1970, e.g. "2026-11-21". */
void ch_put_day(struct text *text, uint64_t epoch);

/* ch_column and ch_number remove the next column from *line. ch_column returns it as a string, unescaped into *space;
 * ch_number returns it as a number, 0 if it is none. The caller must reserve enough capacity in *space, because earlier
 * results point into it. */
struct str ch_column(struct text *space, struct str *line);
uint64_t ch_number(struct text *space, struct str *line);

/* Runs the query in store->query; the response goes to `take`, or into reply.body if take is NULL. The class of the
 * reply results from ClickHouse's error code and the HTTP status (class_of). */
struct http_reply ch_query(struct clickhouse *store, bool (*take)(void *to, struct str blob), void *to,
			   struct text *why);

/* Sets *differs to true if the server has a window of that name with another end, number of stacks or sum of weights.
 * Returns HTTP_DONE; on failure another class, with the reason in report->why. Queries the server unless the answer is
 * cached; ch_seen_knows returns true if it is. If *differs is false, the caller may send the window: it is no longer
 * cached then. */
enum http_class ch_seen(struct clickhouse *store, const struct window *window, uint64_t stacks, uint64_t sum,
			bool *differs, struct store_report *report);
bool ch_seen_knows(const struct clickhouse *store, const struct window *window);
/* Frees the cache of windows. NULL is allowed. */
void ch_seen_close(struct ch_seen *seen);

/* The functions `fetch` and `list` of store_clickhouse (struct store_ops). */
bool ch_fetch(void *store, const struct store_query *query, const struct store_sink *sink, struct text *why);
bool ch_list(void *store, const struct store_query *query, const struct store_sink *sink, struct text *why);

#endif
