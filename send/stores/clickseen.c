/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clickseen.c - which windows clickhouse: holds already, so that no other content goes under the name of one: rows of
 * both would be mixed.
 *
 * The row of a window says how long it is, how many stacks it has and their sum; windows that agree in these are taken
 * for the same. One question tells it for all windows of a host from one second on, so a backlog asks once. What is
 * younger than a few minutes is asked for each time, as another recorder may be writing it at this moment.
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
	uint64_t from, to; /* epochs of which all rows are here */
	struct seen_row *row;
	size_t n;
};

struct ch_seen {
	struct seen_host host[HOSTS_MAX];
	size_t next; /* to be forgotten */
};

static bool clickseen_knows(const struct seen_host *s, const struct window *w)
{
	return w->epoch >= s->from && w->epoch < s->to && str_eq(w->host, text_view(&s->name));
}

bool ch_seen_knows(const struct clickhouse *c, const struct window *w)
{
	for (size_t i = 0; c->seen && i < HOSTS_MAX; i++)
		if (clickseen_knows(c->seen->host + i, w))
			return true;
	return false;
}

/* What is known of its host, or room for that. */
static struct seen_host *clickseen_host_of(struct ch_seen *s, const struct window *w)
{
	for (size_t i = 0; i < HOSTS_MAX; i++)
		if (str_eq(w->host, text_view(&s->host[i].name)))
			return s->host + i;
	return s->host + s->next++ % HOSTS_MAX;
}

static void clickseen_take_rows(struct seen_host *s, struct str body)
{
	struct text space = { 0 };

	while (body.n) {
		struct str line = str_cut(&body, '\n');
		struct seen_row *row;

		if (str_is_blank(line))
			continue;
		s->row = mem_more(s->row, sizeof(*s->row), s->n);
		row = s->row + s->n++;
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

static void put_question(struct text *t, const struct clickhouse *c, const struct window *w, uint64_t to)
{
	t->n = 0;
	text_printf(
		t,
		"SELECT toUnixTimestamp(timestamp), stream, machine, toUnixTimestamp(until), stacks, value FROM %.*s_windows` "
		"WHERE hostname = ",
		(int)c->table.n, c->table.p);
	ch_put(t, w->host, true);
	text_add(t, " AND day >= toDate('");
	ch_put_day(t, w->epoch);
	text_add(t, "') AND day <= toDate('");
	ch_put_day(t, to - 1);
	text_printf(t,
		    "') AND timestamp >= toDateTime(%" PRIu64 ") AND timestamp < toDateTime(%" PRIu64
		    ") ORDER BY timestamp LIMIT %d FORMAT TabSeparated",
		    w->epoch, to, ROW_COUNT_MAX);
}

static enum http_class clickseen_query(struct clickhouse *c, struct seen_host *s, const struct window *w,
				       struct store_report *r)
{
	uint64_t now = (uint64_t)time(NULL), to = w->epoch + SETTLED_S < now ? now - SETTLED_S : w->epoch + 1;
	struct http_reply reply;

	s->to = s->n = 0;
	put_question(&c->query, c, w, to);
	reply = ch_query(c, NULL, NULL, &r->why);
	r->requests++;
	r->after = reply.after;
	if (reply.class != HTTP_DONE)
		return reply.class;
	clickseen_take_rows(s, reply.body);
	s->name.n = 0;
	text_str(&s->name, w->host);
	s->from = w->epoch;
	s->to = s->n < ROW_COUNT_MAX ? to : s->row[s->n - 1].epoch; /* of the last second some may be missing */
	if (s->to <= w->epoch)
		s->to = w->epoch + 1;
	return HTTP_DONE;
}

/* The first row of that second, or behind it. */
static size_t clickseen_place_of(const struct seen_host *s, uint64_t epoch)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->row[mid].epoch < epoch)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

enum http_class ch_seen(struct clickhouse *c, const struct window *w, uint64_t stacks, uint64_t sum, bool *differs,
			struct store_report *r)
{
	struct seen_host *s;

	*differs = false;
	if (!c->seen)
		c->seen = mem_alloc(sizeof(*c->seen), 1);
	s = clickseen_host_of(c->seen, w);
	if (!clickseen_knows(s, w)) {
		enum http_class class = clickseen_query(c, s, w, r);

		if (class != HTTP_DONE)
			return class;
	}
	for (size_t i = clickseen_place_of(s, w->epoch); i < s->n && s->row[i].epoch == w->epoch; i++) {
		const struct seen_row *row = s->row + i;

		if (row->stream == w->stream && row->machine == w->machine)
			*differs |= row->until != w->until || row->stacks != stacks || row->sum != sum;
	}
	if (!*differs) /* it will be there: asked for again, it is looked at again */
		s->from = w->epoch + 1;
	return HTTP_DONE;
}

void ch_seen_close(struct ch_seen *s)
{
	for (size_t i = 0; s && i < HOSTS_MAX; i++) {
		text_free(&s->host[i].name);
		free(s->host[i].row);
	}
	free(s);
}
