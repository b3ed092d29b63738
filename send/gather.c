/* SPDX-License-Identifier: Apache-2.0 */
#include "send/gather.h"

#include "common/arena.h"
#include "common/timearg.h"

#include <inttypes.h>
#include <stdio.h>

static bool gather_unlike(struct gather *gather, const struct window *window)
{
	struct str unit = window->unit.n ? window->unit : STR("samples"), have = gather->header.unit;

	if (!have.n || str_eq(have, unit))
		return false;
	snprintf(gather->why_not, sizeof(gather->why_not),
		 "these windows have the units %.*s (%.*s) and %.*s (%.*s): choose one with --only=event=", (int)have.n,
		 have.p, (int)gather->header.event.n, gather->header.event.p, (int)unit.n, unit.p, (int)window->event.n,
		 window->event.p);
	return true;
}

/* Sets gather->prefix to the frame that is put before all stacks of a window, with a ';' after it: host, time or label
 * value, by the query's grouping. The prefix is empty without a grouping. */
static void choose_prefix(struct gather *gather, const struct window *window)
{
	struct str value = { 0 };
	char time[32];

	gather->prefix.n = 0;
	if (gather->q.by == BY_ALL || gather->plain)
		return;
	if (gather->q.by == BY_HOST) {
		value = window->host;
	} else if (gather->q.by == BY_TIME) {
		timearg_text(time, window->epoch);
		value = str_of(time);
	} else {
		label_find(window->labels, gather->q.by_label, &value);
	}
	if (value.n == 0)
		value = STR("[none]");
	for (size_t i = 0; i < value.n; i++)
		text_char(&gather->prefix, value.p[i] == ';' || (unsigned char)value.p[i] < ' ' ? ':' : value.p[i]);
	text_char(&gather->prefix, ';');
}

bool gather_window(void *to, const struct window *window)
{
	struct gather *gather = to;
	struct folded_header *header = &gather->header;

	if (gather_unlike(gather, window))
		return false;
	header->unit = header->unit.n ? header->unit :
					arena_copy(&gather->arena, window->unit.n ? window->unit : STR("samples"));
	folded_header_join(&gather->arena, &header->event, window->event);
	folded_header_join(&gather->arena, &header->host, window->host);
	folded_header_join(&gather->arena, &header->labels, window->labels);
	folded_header_join(&gather->arena, &header->frequency, window->frequency);
	header->samples += window->samples;
	header->lost += window->lost;
	header->lost_known = window->lost_known && (gather->windows == 0 || header->lost_known);
	gather->first = gather->windows == 0 || window->epoch < gather->first ? window->epoch : gather->first;
	gather->last = window->until > gather->last ? window->until : gather->last;
	gather->windows++;
	choose_prefix(gather, window);
	return true;
}

/* Returns the digits of the pid of a frame such as "java-4711"; empty if the frame has no pid. */
static struct str gather_pid_of(struct str frame)
{
	ptrdiff_t dash = str_rfind(frame, '-');
	uint64_t pid;
	struct str digits = dash > 0 ? str_from(frame, (size_t)dash + 1) : (struct str){ 0 };

	return str_u64(digits, &pid) ? digits : (struct str){ 0 };
}

static bool gather_matches(const struct gather_only *only, struct str frame)
{
	struct str pid = gather_pid_of(frame);

	if (only->key == ONLY_PID)
		return str_eq(only->value, pid);
	return str_glob(only->value, frame) || (pid.n && str_glob(only->value, str_head(frame, frame.n - pid.n - 1)));
}

/* Returns true if the first frame of a line's stack matches at least one filter of each key (command, pid) for which
 * there are filters. */
static bool gather_wanted(const struct gather *gather, struct str line)
{
	ptrdiff_t blank = str_rfind(line, ' ');
	struct str stack = blank > 0 ? str_head(line, (size_t)blank) : line, frame = str_cut(&stack, ';');
	bool has_pattern[2] = { 0 }, good[2] = { 0 };

	for (size_t i = 0; i < gather->nonly; i++) {
		has_pattern[gather->only[i].key] = true;
		good[gather->only[i].key] |= gather_matches(gather->only + i, frame);
	}
	return has_pattern[0] <= good[0] && has_pattern[1] <= good[1];
}

static void gather_add(struct gather *gather, struct str lines)
{
	struct folded_header none = { 0 };
	struct folded_tally tally = { 0 };
	struct in input;

	in_memory(&input, lines, "the store");
	folded_read(&input, &gather->s, &none, &tally);
	gather->skipped += tally.bad;
	in_close(&input);
}

bool gather_lines(void *to, struct str lines)
{
	struct gather *gather = to;

	if (gather->prefix.n == 0 && gather->nonly == 0) {
		gather_add(gather, lines);
		return true;
	}
	gather->line.n = 0;
	while (lines.n) {
		struct str line = str_cut(&lines, '\n');

		if (line.n == 0 || line.p[0] == '#' || !gather_wanted(gather, line))
			continue;
		text_str(&gather->line, text_view(&gather->prefix));
		text_str(&gather->line, line);
		text_char(&gather->line, '\n');
	}
	gather_add(gather, text_view(&gather->line));
	return true;
}

void gather_damaged(void *to, struct str place, const char *why)
{
	struct gather *gather = to;

	if (gather->damaged++ < 3)
		warn("%.*s: %s", (int)place.n, place.p, why);
}

void gather_end(struct gather *gather)
{
	char number[32];

	gather->header.present = true;
	if (gather->windows) {
		snprintf(number, sizeof(number), "%" PRIu64, gather->first);
		if (gather->first)
			gather->header.from = arena_copy(&gather->arena, str_of(number));
		snprintf(number, sizeof(number), "%" PRIu64, gather->last);
		/* A time of 0 is unknown, because the store did not return it: the header omits it. */
		if (gather->last)
			gather->header.to = arena_copy(&gather->arena, str_of(number));
	}
	if (!gather->header.samples && str_eq(gather->header.unit, STR("samples")))
		gather->header.samples = stacks_sum(&gather->s, 0);
	/* Filtered samples can be counted only if the unit is samples, as only then the weights are numbers of
	 * samples. */
	if (gather->nonly) {
		gather->header.samples_unknown = !str_eq(gather->header.unit, STR("samples"));
		gather->header.samples = stacks_sum(&gather->s, 0);
		gather->header.lost_known = false;
	}
}

void gather_free(struct gather *gather)
{
	stacks_free(&gather->s);
	arena_free(&gather->arena);
	text_free(&gather->prefix);
	text_free(&gather->line);
}
