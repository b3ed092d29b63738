/* SPDX-License-Identifier: Apache-2.0 */
#include "send/gather.h"

#include "common/arena.h"
#include "send/timearg.h"

#include <inttypes.h>
#include <stdio.h>

/* Of values that differ from window to window: each once, joined by '+'; more than a few are not a name any more. */
static void gather_join(struct arena *a, struct str *have, struct str value)
{
	struct str rest = *have;
	char *p;

	if (value.n == 0)
		return;
	while (rest.n)
		if (str_eq(str_cut(&rest, '+'), value))
			return;
	if (have->n > 1000)
		return;
	if (have->n == 0) {
		*have = arena_copy(a, value);
		return;
	}
	p = arena_alloc(a, 1, have->n + value.n + 1);
	memcpy(p, have->p, have->n);
	p[have->n] = '+';
	memcpy(p + have->n + 1, value.p, value.n);
	*have = (struct str){ p, have->n + value.n + 1 };
}

static bool gather_unlike(struct gather *g, const struct window *w)
{
	struct str unit = w->unit.n ? w->unit : STR("samples"), have = g->header.unit;

	if (!have.n || str_eq(have, unit))
		return false;
	snprintf(g->why_not, sizeof(g->why_not),
		 "these windows count %.*s (%.*s) and %.*s (%.*s): choose with --only=event=", (int)have.n, have.p,
		 (int)g->header.event.n, g->header.event.p, (int)unit.n, unit.p, (int)w->event.n, w->event.p);
	return true;
}

/* The frame in front of all, with its ';'. */
static void choose_prefix(struct gather *g, const struct window *w)
{
	struct str value = { 0 };
	char time[32];

	g->prefix.n = 0;
	if (g->q.by == BY_ALL)
		return;
	if (g->q.by == BY_HOST) {
		value = w->host;
	} else if (g->q.by == BY_TIME) {
		timearg_text(time, w->epoch);
		value = str_of(time);
	} else {
		label_find(w->labels, g->q.by_label, &value);
	}
	if (value.n == 0)
		value = STR("[none]");
	for (size_t i = 0; i < value.n; i++)
		text_char(&g->prefix, value.p[i] == ';' || (unsigned char)value.p[i] < ' ' ? ':' : value.p[i]);
	text_char(&g->prefix, ';');
}

bool gather_window(void *to, const struct window *w)
{
	struct gather *g = to;
	struct folded_header *h = &g->header;

	if (gather_unlike(g, w))
		return false;
	h->unit = h->unit.n ? h->unit : arena_copy(&g->arena, w->unit.n ? w->unit : STR("samples"));
	gather_join(&g->arena, &h->event, w->event);
	gather_join(&g->arena, &h->host, w->host);
	gather_join(&g->arena, &h->labels, w->labels);
	gather_join(&g->arena, &h->frequency, w->frequency);
	h->samples += w->samples;
	h->lost += w->lost;
	h->lost_known |= w->lost_known;
	g->first = g->windows == 0 || w->epoch < g->first ? w->epoch : g->first;
	g->last = w->until > g->last ? w->until : g->last;
	g->windows++;
	choose_prefix(g, w);
	return true;
}

/* "java-4711": its pid, or empty. */
static struct str gather_pid_of(struct str frame)
{
	ptrdiff_t dash = str_rfind(frame, '-');
	uint64_t pid;
	struct str digits = dash > 0 ? str_from(frame, (size_t)dash + 1) : (struct str){ 0 };

	return str_u64(digits, &pid) ? digits : (struct str){ 0 };
}

static bool gather_matches(const struct gather_only *o, struct str frame)
{
	struct str pid = gather_pid_of(frame);

	if (o->key == ONLY_PID)
		return str_eq(o->value, pid);
	return str_glob(o->value, frame) || (pid.n && str_glob(o->value, str_head(frame, frame.n - pid.n - 1)));
}

/* Values of one key are alternatives, keys are not. */
static bool gather_wanted(const struct gather *g, struct str line)
{
	ptrdiff_t blank = str_rfind(line, ' ');
	struct str stack = blank > 0 ? str_head(line, (size_t)blank) : line, frame = str_cut(&stack, ';');
	bool is_requested[2] = { 0 }, good[2] = { 0 };

	for (size_t i = 0; i < g->nonly; i++) {
		is_requested[g->only[i].key] = true;
		good[g->only[i].key] |= gather_matches(g->only + i, frame);
	}
	return is_requested[0] <= good[0] && is_requested[1] <= good[1];
}

static void gather_add(struct gather *g, struct str lines)
{
	struct folded_header none = { 0 };
	struct folded_tally tally = { 0 };
	struct in in;

	in_memory(&in, lines, "the store");
	folded_read(&in, &g->s, &none, &tally);
	g->skipped += tally.bad;
	in_close(&in);
}

bool gather_lines(void *to, struct str lines)
{
	struct gather *g = to;

	if (g->prefix.n == 0 && g->nonly == 0) {
		gather_add(g, lines);
		return true;
	}
	g->line.n = 0;
	while (lines.n) {
		struct str line = str_cut(&lines, '\n');

		if (line.n == 0 || line.p[0] == '#' || !gather_wanted(g, line))
			continue;
		text_str(&g->line, text_view(&g->prefix));
		text_str(&g->line, line);
		text_char(&g->line, '\n');
	}
	gather_add(g, text_view(&g->line));
	return true;
}

void gather_damaged(void *to, struct str place, const char *why)
{
	struct gather *g = to;

	if (g->damaged++ < 3)
		warn("%.*s: %s", (int)place.n, place.p, why);
}

void gather_end(struct gather *g)
{
	char number[32];

	g->header.present = true;
	if (g->windows) {
		snprintf(number, sizeof(number), "%" PRIu64, g->first);
		g->header.from = arena_copy(&g->arena, str_of(number));
		snprintf(number, sizeof(number), "%" PRIu64, g->last);
		g->header.to = arena_copy(&g->arena, str_of(number));
	}
	if (g->nonly) { /* what was taken of them is known only in samples */
		g->header.samples_unknown = !str_eq(g->header.unit, STR("samples"));
		g->header.samples = stacks_sum(&g->s, 0);
		g->header.lost_known = false;
	}
}

void gather_free(struct gather *g)
{
	stacks_free(&g->s);
	arena_free(&g->arena);
	text_free(&g->prefix);
	text_free(&g->line);
}
