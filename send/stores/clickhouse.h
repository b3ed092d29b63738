/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clickhouse.h - what the parts of the store clickhouse: share: a connection, the form of values, and queries.
 *
 * clickhouse.c sends, clickseen.c finds windows that the server already has, clickread.c reads.
 */
#ifndef PJ_CLICKHOUSE_H
#define PJ_CLICKHOUSE_H

#include "send/stores/batches.h"

/* An open store clickhouse:. */
struct clickhouse {
	struct http *http;
	struct batches batches;
	bool verify;
	/* table: `DATABASE`.`TABLE without the last quote, to which a suffix is appended; path and query: buffers of
	 * the current request */
	struct text table, path, query;
	/* windows that share a request, see clickhouse.c; NULL: none so far */
	struct together *together;
	/* cache of windows that the server has, see clickseen.c; NULL: nothing was queried */
	struct ch_seen *seen;
};

/* Append a value in TabSeparated form. quote: with quotes, as a string in a query or an array. ch_put_day appends the
 * date (UTC) of epoch. */
void ch_put(struct text *text, struct str string, bool quote);
void ch_put_day(struct text *text, uint64_t epoch);

/* Take the next column off a line, as a string or a number. The string is unescaped into space, whose capacity must
 * suffice. */
struct str ch_column(struct text *space, struct str *line);
uint64_t ch_number(struct text *space, struct str *line);

/* Runs store->query; the response goes to `take`, or into reply.body if that is NULL. The class results from the
 * error code in ClickHouse's text, which is more exact than the status. */
struct http_reply ch_query(struct clickhouse *store, bool (*take)(void *to, struct str blob), void *to,
			   struct text *why);

/* Sets *differs if the server has another window of that name: one with another end, number of stacks or sum of
 * weights. Returns HTTP_DONE, or another class with the reason in report->why if that is unknown. Queries the server if
 * the answer is not cached; ch_seen_knows returns true if it is. */
enum http_class ch_seen(struct clickhouse *store, const struct window *window, uint64_t stacks, uint64_t sum,
			bool *differs, struct store_report *report);
bool ch_seen_knows(const struct clickhouse *store, const struct window *window);
/* Frees the cache of windows. NULL is allowed. */
void ch_seen_close(struct ch_seen *seen);

/* The functions `fetch` and `list` of struct store_ops. */
bool ch_fetch(void *store, const struct store_query *query, const struct store_sink *sink, struct text *why);
bool ch_list(void *store, const struct store_query *query, const struct store_sink *sink, struct text *why);

#endif
