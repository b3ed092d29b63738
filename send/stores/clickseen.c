/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clickseen.c - cache of the windows that clickhouse: already has.
 *
 * The cache prevents that other content is sent under the name of an existing window: the server would mix the rows of
 * both.
 * Windows are treated as equal if they have the same end, number of stacks and sum of weights, which are in the row of
 * a window. One query returns the rows of all windows of a host from a given second on, so a backlog needs one query.
 * Windows younger than 10 minutes (SETTLED_S) are queried each time, as another recorder may be writing them at this
 * moment.
 */
#include "send/stores/clickhouse.h"

#include "common/arena.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#define HOSTS_MAX 16
#define ROW_COUNT_MAX 2000
#define SETTLED_S 600

struct seen_row {
	uint64_t epoch, stream, machine, until, stacks, sum;
};

struct seen_host {
	struct text name;
	/* the cache has the rows of all windows of the host with an epoch in [from, to) */
	uint64_t from, to;
	struct seen_row *row;
	size_t n;
};

struct ch_seen {
	struct seen_host host[HOSTS_MAX];
	/* number of entries assigned so far; modulo HOSTS_MAX it is the index of the next entry to replace */
	size_t next;
};

static bool clickseen_knows(const struct seen_host *host, const struct window *window)
{
	return window->epoch >= host->from && window->epoch < host->to && str_eq(window->host, text_view(&host->name));
}

bool ch_seen_knows(const struct clickhouse *store, const struct window *window)
{
	for (size_t i = 0; store->seen && i < HOSTS_MAX; i++)
		if (clickseen_knows(store->seen->host + i, window))
			return true;
	return false;
}

/* Returns the entry of the window's host, or else an entry to replace. */
static struct seen_host *clickseen_host_of(struct ch_seen *seen, const struct window *window)
{
	for (size_t i = 0; i < HOSTS_MAX; i++)
		if (str_eq(window->host, text_view(&seen->host[i].name)))
			return seen->host + i;
	return seen->host + seen->next++ % HOSTS_MAX;
}

static void clickseen_take_rows(struct seen_host *host, struct str body)
{
	struct text space = { 0 };

	while (body.n) {
		struct str line = str_cut(&body, '\n');
		struct seen_row *row;

		if (str_is_blank(line))
			continue;
		host->row = mem_more(host->row, sizeof(*host->row), host->n);
		row = host->row + host->n++;
		space.n = 0;
		text_reserve(&space, line.n);
		row->epoch = ch_number(&space, &line);
		row->stream = ch_number(&space, &line);
		row->machine = ch_number(&space, &line);
		row->until = ch_number(&space, &line);
		row->stacks = ch_number(&space, &line);
		row->sum = ch_number(&space, &line);
	}
	text_free(&space);
}

static void put_question(struct text *text, const struct clickhouse *store, const struct window *window, uint64_t to)
{
	text->n = 0;
	text_printf(
		text,
		"SELECT toUnixTimestamp(timestamp), stream, machine, toUnixTimestamp(until), stacks, value FROM %.*s_windows` "
		"WHERE hostname = ",
		(int)store->table.n, store->table.p);
	ch_put(text, window->host, true);
	text_add(text, " AND day >= toDate('");
	ch_put_day(text, window->epoch);
	text_add(text, "') AND day <= toDate('");
	ch_put_day(text, to - 1);
	text_printf(text,
		    "') AND timestamp >= toDateTime(%" PRIu64 ") AND timestamp < toDateTime(%" PRIu64
		    ") ORDER BY timestamp LIMIT %d FORMAT TabSeparated",
		    window->epoch, to, ROW_COUNT_MAX);
}

static enum http_class clickseen_query(struct clickhouse *store, struct seen_host *host, const struct window *window,
				       struct store_report *report)
{
	uint64_t now = (uint64_t)time(NULL), to = window->epoch + SETTLED_S < now ? now - SETTLED_S : window->epoch + 1;
	struct http_reply reply;

	host->to = host->n = 0;
	put_question(&store->query, store, window, to);
	reply = ch_query(store, NULL, NULL, &report->why);
	report->requests++;
	report->after = reply.after;
	if (reply.class != HTTP_DONE)
		return reply.class;
	clickseen_take_rows(host, reply.body);
	host->name.n = 0;
	text_str(&host->name, window->host);
	host->from = window->epoch;
	host->to = host->n < ROW_COUNT_MAX ? to :
					     /* the result is truncated, so rows of its last second may be missing */
					     host->row[host->n - 1].epoch;
	if (host->to <= window->epoch)
		host->to = window->epoch + 1;
	return HTTP_DONE;
}

/* Returns the index of the first cached row whose epoch is `epoch` or later. */
static size_t clickseen_place_of(const struct seen_host *host, uint64_t epoch)
{
	size_t low = 0, high = host->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (host->row[mid].epoch < epoch)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

enum http_class ch_seen(struct clickhouse *store, const struct window *window, uint64_t stacks, uint64_t sum,
			bool *differs, struct store_report *report)
{
	struct seen_host *host;

	*differs = false;
	if (!store->seen)
		store->seen = mem_alloc(sizeof(*store->seen), 1);
	host = clickseen_host_of(store->seen, window);
	if (!clickseen_knows(host, window)) {
		enum http_class class = clickseen_query(store, host, window, report);

		if (class != HTTP_DONE)
			return class;
	}
	for (size_t i = clickseen_place_of(host, window->epoch); i < host->n && host->row[i].epoch == window->epoch;
	     i++) {
		const struct seen_row *row = host->row + i;

		if (row->stream == window->stream && row->machine == window->machine)
			*differs |= row->until != window->until || row->stacks != stacks || row->sum != sum;
	}
	/* The caller now sends this window, so the next lookup of this second must query the server again. */
	if (!*differs)
		host->from = window->epoch + 1;
	return HTTP_DONE;
}

void ch_seen_close(struct ch_seen *seen)
{
	for (size_t i = 0; seen && i < HOSTS_MAX; i++) {
		text_free(&seen->host[i].name);
		free(seen->host[i].row);
	}
	free(seen);
}
