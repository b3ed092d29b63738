/* SPDX-License-Identifier: Apache-2.0 */
#include "select.h"

#include "arena.h"
#include "diag.h"

#include <stdlib.h>

static struct select_key *key_of(struct select *s, struct str name, bool *numbers)
{
	*numbers = false;
	if (str_eq(name, STR("comm")))
		return &s->comm;
	if (str_eq(name, STR("event")))
		return &s->event;
	*numbers = true;
	if (str_eq(name, STR("pid")))
		return &s->pid;
	if (str_eq(name, STR("tid")))
		return &s->tid;
	return str_eq(name, STR("cpu")) ? &s->cpu : NULL;
}

static struct select_range parse_range(struct str value, const char *text)
{
	struct str to = value, from = str_cut(&to, '-');
	struct select_range r;

	if (!str_u64(from, &r.from))
		die_usage("--only %s: '%.*s' is not a number", text, (int)value.n, value.p);
	r.to = r.from;
	if (from.n < value.n && (!str_u64(to, &r.to) || r.to < r.from))
		die_usage("--only %s: '%.*s' is not a range", text, (int)value.n, value.p);
	return r;
}

static void add_value(struct select_key *key, bool numbers, struct str value, const char *text)
{
	if (numbers) {
		key->range = mem_grow(key->range, sizeof(*key->range), key->n + 1);
		key->range[key->n++] = parse_range(value, text);
	} else {
		key->glob = mem_grow(key->glob, sizeof(*key->glob), key->n + 1);
		key->glob[key->n++] = value;
	}
}

/*
 * "pid=1,2,comm=java": a piece without a key belongs to the key before it; as one more number, or, as names may hold
 * commas (cpu/event=0x3c,umask=1/), as the rest of the pattern.
 */
void select_only(struct select *s, const char *text)
{
	struct str rest = str_of(text);
	struct select_key *key = NULL;
	bool numbers = false;

	if (rest.n == 0)
		die_usage("--only needs KEY=VALUE with KEY one of pid, tid, comm, cpu, event");
	while (rest.n) {
		struct str piece = str_cut(&rest, ','), value = piece, name = str_cut(&value, '=');
		bool is_numbers;
		struct select_key *next = name.n < piece.n ? key_of(s, name, &is_numbers) : NULL;

		if (next) {
			key = next;
			numbers = is_numbers;
			add_value(key, numbers, value, text);
		} else if (str_eq(name, STR("cgroup")) && name.n < piece.n) {
			die_usage("--only %s: perf script text does not tell the cgroup", text);
		} else if (!key) {
			die_usage("--only %s: no such key '%.*s': pid, tid, comm, cpu and event are there", text,
				  (int)name.n, name.p);
		} else if (numbers) {
			add_value(key, true, piece, text);
		} else {
			struct str *last = &key->glob[key->n - 1];

			last->n = (size_t)(piece.p + piece.n - last->p);
		}
	}
}

struct select_time select_parse_time(const char *text, const char *option)
{
	struct select_time t = { .set = true, .relative = text[0] == '+' };
	struct str s = str_of(text + t.relative);

	if (str_find(s, '-') >= 0 || str_find(s, ':') >= 0)
		die_usage("%s %s: perf script text does not tell the wall clock; "
			  "give seconds of the record's clock, or +SECONDS from the first sample",
			  option, text);
	if (!header_time(s, &t.ns))
		die_usage("%s: '%s' is not a time: SECONDS of the record's clock, or +SECONDS from the first sample",
			  option, text);
	return t;
}

static bool in_ranges(const struct select_key *key, int64_t value)
{
	if (key->n == 0)
		return true;
	for (size_t i = 0; i < key->n; i++)
		if (value >= 0 && (uint64_t)value >= key->range[i].from && (uint64_t)value <= key->range[i].to)
			return true;
	return false;
}

static bool in_globs(const struct select_key *key, struct str value)
{
	if (key->n == 0)
		return true;
	for (size_t i = 0; i < key->n; i++)
		if (str_glob(key->glob[i], value))
			return true;
	return false;
}

/* A comm may be asked for as perf prints it, or as it stands in folded stacks. */
static bool comm_in_globs(const struct select_key *key, struct str comm)
{
	char folded[64];

	if (in_globs(key, comm))
		return true;
	if (comm.n > sizeof(folded))
		return false;
	for (size_t i = 0; i < comm.n; i++)
		folded[i] = comm.p[i] == ' ' ? '_' : comm.p[i] == ';' ? ':' : comm.p[i];
	return in_globs(key, (struct str){ folded, comm.n });
}

bool select_event(const struct select *s, struct str event)
{
	return in_globs(&s->event, event);
}

static uint64_t absolute(struct select_time t, uint64_t first_ns)
{
	uint64_t ns = t.ns;

	if (t.relative && __builtin_add_overflow(ns, first_ns, &ns))
		ns = UINT64_MAX;
	return ns;
}

bool select_sample(const struct select *s, const struct header *h, uint64_t first_ns)
{
	if (select_needs_time(s)) {
		uint64_t ns;

		if (!header_ns(h, &ns) || (s->from.set && ns < absolute(s->from, first_ns)) ||
		    (s->to.set && ns >= absolute(s->to, first_ns)))
			return false;
	}
	return in_ranges(&s->pid, h->pid) && in_ranges(&s->tid, h->tid) && in_ranges(&s->cpu, h->cpu) &&
	       comm_in_globs(&s->comm, h->comm);
}

bool select_empty_range(const struct select *s)
{
	return s->from.set && s->to.set && s->from.relative == s->to.relative && s->from.ns >= s->to.ns;
}

void select_free(struct select *s)
{
	free(s->pid.range);
	free(s->tid.range);
	free(s->cpu.range);
	free(s->comm.glob);
	free(s->event.glob);
	*s = (struct select){ 0 };
}
