/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clickhouse.h - what the two halves of the store clickhouse: share: a connection, and how values are written.
 *
 * Sending is in clickhouse.c, what is there before in clickseen.c, reading in clickread.c.
 */
#ifndef PJ_CLICKHOUSE_H
#define PJ_CLICKHOUSE_H

#include "send/stores/batches.h"

struct clickhouse {
	struct http *http;
	struct batches batches;
	bool verify;
	struct text table, path, query; /* table: DATABASE.TABLE, quoted up to its last letter */
	struct together *together;      /* windows that go in common requests */
	struct ch_seen *seen;           /* that are there */
};

/* A value of TabSeparated; quote: of a string in a query, or of an array. */
void ch_put(struct text *text, struct str string, bool quote);
void ch_put_day(struct text *text, uint64_t epoch);

/* The next column of a line as a number; unescaped into room, which is large enough. */
struct str ch_column(struct text *space, struct str *line);
uint64_t ch_number(struct text *space, struct str *line);

/* The answer to store->query, to `take`, or in its body. Its class is what ClickHouse says in it, which tells more than
 * its status. */
struct http_reply ch_query(struct clickhouse *store, bool (*take)(void *to, struct str blob), void *to,
			   struct text *why);

/* *differs: is there another window of that name than one of so many stacks and that sum? Anything but HTTP_DONE: it is
 * not known, report->why says why. Where nothing is known of it yet (ch_seen_knows), the server is asked. */
enum http_class ch_seen(struct clickhouse *store, const struct window *window, uint64_t stacks, uint64_t sum,
			bool *differs, struct store_report *report);
bool ch_seen_knows(const struct clickhouse *store, const struct window *window);
void ch_seen_close(struct ch_seen *seen);

bool ch_fetch(void *store, const struct store_query *query, const struct store_sink *sink, struct text *why);
bool ch_list(void *store, const struct store_query *query, const struct store_sink *sink, struct text *why);

#endif
