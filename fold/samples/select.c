/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/samples/select.h"

#include "common/arena.h"
#include "common/diag.h"

#include <stdlib.h>
#include <time.h>

static struct select_key *select_key_of(struct select *s, struct str name, bool *numbers)
{
	*numbers = false;
	if (str_eq(name, STR("comm")))
		return &s->comm;
	if (str_eq(name, STR("event")))
		return &s->event;
	if (str_eq(name, STR("cgroup")))
		return &s->cgroup;
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

static void select_add_value(struct select_key *key, bool numbers, struct str value, const char *text)
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
		die_usage("--only needs KEY=VALUE with KEY one of pid, tid, comm, cpu, event, cgroup");
	while (rest.n) {
		struct str blob = str_cut(&rest, ','), value = blob, name = str_cut(&value, '=');
		bool is_numbers;
		struct select_key *next = name.n < blob.n ? select_key_of(s, name, &is_numbers) : NULL;

		if (next) {
			key = next;
			numbers = is_numbers;
			select_add_value(key, numbers, value, text);
		} else if (!key) {
			die_usage("--only %s: no such key '%.*s': pid, tid, comm, cpu, event and cgroup are there",
				  text, (int)name.n, name.p);
		} else if (numbers) {
			select_add_value(key, true, blob, text);
		} else {
			struct str *last = &key->glob[key->n - 1];

			last->n = (size_t)(blob.p + blob.n - last->p);
		}
	}
}

/* Behind the seconds of ISO 8601: ".25", then nothing (local time), "Z", "+01", "+0100" or "+01:00". */
static bool parse_zone(struct str s, struct tm *tm, uint64_t *ns)
{
	struct str fraction = s, hours, minutes;
	uint64_t h = 0, m = 0;
	int64_t seconds, offset = 0;
	size_t n = 1;
	bool local;

	*ns = 0;
	if (s.n && s.p[0] == '.') {
		char zero[24] = "0";

		while (n < s.n && byte_is_digit(s.p[n]))
			n++;
		if (n > 10)
			return false;
		memcpy(zero + 1, s.p, n);
		fraction = (struct str){ zero, n + 1 };
		if (!samplekey_time(fraction, ns))
			return false;
		s = str_from(s, n);
	}
	local = s.n == 0;
	if (s.n > 2 && (s.p[0] == '+' || s.p[0] == '-')) {
		hours = str_head(str_from(s, 1), 2);
		minutes = str_from(s, 3);
		if (minutes.n && minutes.p[0] == ':')
			minutes = str_from(minutes, 1);
		if (!str_u64(hours, &h) || (minutes.n && !str_u64(minutes, &m)) || h > 23 || m > 59)
			return false;
		offset = (int64_t)(h * 3600 + m * 60) * (s.p[0] == '-' ? -1 : 1);
	} else if (!local && !str_eq(s, STR("Z"))) {
		return false;
	}
	tm->tm_isdst = -1;
	seconds = (int64_t)(local ? mktime(tm) : timegm(tm)) - offset;
	*ns += (uint64_t)seconds * 1000000000u;
	return seconds > 0 && seconds < INT64_MAX / 1000000000;
}

static bool parse_iso(const char *text, uint64_t *ns)
{
	struct tm tm = { 0 };
	const char *rest = strptime(text, "%Y-%m-%d", &tm);

	if (rest && *rest == 0)
		return parse_zone((struct str){ 0 }, &tm, ns); /* midnight */
	if (!rest || (*rest != 'T' && *rest != ' '))
		return false;
	rest = strptime(rest + 1, "%H:%M:%S", &tm);
	return rest && parse_zone(str_of(rest), &tm, ns);
}

struct select_time select_parse_time(const char *text, const char *option)
{
	struct select_time t = { .set = true, .relative = text[0] == '+', .wall = text[0] == '@' };
	struct str s = str_of(text + (t.relative || t.wall));

	if (!t.relative && !t.wall && str_find(s, '-') > 0) {
		t.wall = true;
		if (parse_iso(text, &t.ns))
			return t;
	} else if (samplekey_time(s, &t.ns)) {
		return t;
	}
	die_usage("%s: '%s' is not a time: SECONDS of the record's clock, +SECONDS from the first sample, "
		  "@SECONDS since 1970, or 2026-11-21T15:04:05",
		  option, text);
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

static uint64_t select_absolute(struct select_time t, uint64_t first_ns)
{
	uint64_t ns = t.ns;

	if (t.relative && __builtin_add_overflow(ns, first_ns, &ns))
		ns = UINT64_MAX;
	return ns;
}

bool select_sample(const struct select *s, const struct sample_key *h, uint64_t first_ns)
{
	if (select_needs_time(s)) {
		uint64_t ns;

		if (!samplekey_ns(h, &ns) || (s->from.set && ns < select_absolute(s->from, first_ns)) ||
		    (s->to.set && ns >= select_absolute(s->to, first_ns)))
			return false;
	}
	return in_ranges(&s->pid, h->pid) && in_ranges(&s->tid, h->tid) && in_ranges(&s->cpu, h->cpu) &&
	       comm_in_globs(&s->comm, h->comm) && in_globs(&s->cgroup, h->cgroup);
}

bool select_needs_wall(const struct select *s)
{
	return s->from.wall || s->to.wall;
}

bool select_empty_range(const struct select *s)
{
	return s->from.set && s->to.set && s->from.relative == s->to.relative && s->from.wall == s->to.wall &&
	       s->from.ns >= s->to.ns;
}

void select_free(struct select *s)
{
	free(s->pid.range);
	free(s->tid.range);
	free(s->cpu.range);
	free(s->comm.glob);
	free(s->event.glob);
	free(s->cgroup.glob);
	*s = (struct select){ 0 };
}
