/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/samples/select.h"

#include "common/arena.h"
#include "common/diag.h"

#include <stdlib.h>
#include <time.h>

static struct select_key *select_key_of(struct select *select, struct str name, bool *numbers)
{
	*numbers = false;
	if (str_eq(name, STR("comm")))
		return &select->comm;
	if (str_eq(name, STR("event")))
		return &select->event;
	if (str_eq(name, STR("cgroup")))
		return &select->cgroup;
	*numbers = true;
	if (str_eq(name, STR("pid")))
		return &select->pid;
	if (str_eq(name, STR("tid")))
		return &select->tid;
	return str_eq(name, STR("cpu")) ? &select->cpu : NULL;
}

static struct select_range parse_range(struct str value, const char *text)
{
	struct str string = value, from = str_cut(&string, '-');
	struct select_range range;

	if (!str_u64(from, &range.from))
		die_usage("--only %s: '%.*s' is not a number", text, (int)value.n, value.p);
	range.to = range.from;
	if (from.n < value.n && (!str_u64(string, &range.to) || range.to < range.from))
		die_usage("--only %s: '%.*s' is not a range", text, (int)value.n, value.p);
	return range;
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

/* Splits the text at commas, as in "pid=1,2,comm=java". A part without KEY= belongs to the key before it. The part is
 * one more number, or, because names may contain commas (cpu/event=0x3c,umask=1/), the rest of the pattern. */
void select_only(struct select *select, const char *text)
{
	struct str rest = str_of(text);
	struct select_key *key = NULL;
	bool numbers = false;

	if (rest.n == 0)
		die_usage("--only needs KEY=VALUE with KEY one of pid, tid, comm, cpu, event, cgroup");
	while (rest.n) {
		struct str blob = str_cut(&rest, ','), value = blob, name = str_cut(&value, '=');
		bool is_numbers;
		struct select_key *next = name.n < blob.n ? select_key_of(select, name, &is_numbers) : NULL;

		if (next) {
			key = next;
			numbers = is_numbers;
			select_add_value(key, numbers, value, text);
		} else if (!key) {
			die_usage("--only %s: unknown key '%.*s': use pid, tid, comm, cpu, event or cgroup", text,
				  (int)name.n, name.p);
		} else if (numbers) {
			select_add_value(key, true, blob, text);
		} else {
			struct str *last = &key->glob[key->n - 1];

			last->n = (size_t)(blob.p + blob.n - last->p);
		}
	}
}

/* Parses the text after the seconds of an ISO 8601 time: a fraction like ".25" or nothing, then nothing (local time),
 * "Z", "+01", "+0100" or "+01:00". Sets *ns to the resulting time of *calendar in ns since 1970. Returns false if the
 * text is malformed or the time is not after 1970. */
static bool parse_zone(struct str string, struct tm *calendar, uint64_t *ns)
{
	struct str fraction, hours, minutes;
	uint64_t h = 0, m = 0;
	int64_t seconds, offset = 0;
	size_t n = 1;
	bool local;

	*ns = 0;
	if (string.n && string.p[0] == '.') {
		char zero[24] = "0";

		while (n < string.n && byte_is_digit(string.p[n]))
			n++;
		if (n > 10)
			return false;
		memcpy(zero + 1, string.p, n);
		fraction = (struct str){ zero, n + 1 };
		if (!samplekey_time(fraction, ns))
			return false;
		string = str_from(string, n);
	}
	local = string.n == 0;
	if (string.n > 2 && (string.p[0] == '+' || string.p[0] == '-')) {
		hours = str_head(str_from(string, 1), 2);
		minutes = str_from(string, 3);
		if (minutes.n && minutes.p[0] == ':')
			minutes = str_from(minutes, 1);
		if (!str_u64(hours, &h) || (minutes.n && !str_u64(minutes, &m)) || h > 23 || m > 59)
			return false;
		offset = (int64_t)(h * 3600 + m * 60) * (string.p[0] == '-' ? -1 : 1);
	} else if (!local && !str_eq(string, STR("Z"))) {
		return false;
	}
	calendar->tm_isdst = -1;
	seconds = (int64_t)(local ? mktime(calendar) : timegm(calendar)) - offset;
	*ns += (uint64_t)seconds * 1000000000u;
	return seconds > 0 && seconds < INT64_MAX / 1000000000;
}

static bool parse_iso(const char *text, uint64_t *ns)
{
	struct tm calendar = { 0 };
	const char *rest = strptime(text, "%Y-%m-%d", &calendar);

	if (rest && *rest == 0)
		return parse_zone((struct str){ 0 }, &calendar, ns); /* a date without time is midnight in local time */
	if (!rest || (*rest != 'T' && *rest != ' '))
		return false;
	rest = strptime(rest + 1, "%H:%M:%S", &calendar);
	return rest && parse_zone(str_of(rest), &calendar, ns);
}

struct select_time select_parse_time(const char *text, const char *option)
{
	struct select_time time = { .set = true, .relative = text[0] == '+', .wall = text[0] == '@' };
	struct str string = str_of(text + (time.relative || time.wall));

	if (!time.relative && !time.wall && str_find(string, '-') > 0) {
		time.wall = true;
		if (parse_iso(text, &time.ns))
			return time;
	} else if (samplekey_time(string, &time.ns)) {
		return time;
	}
	die_usage("%s: '%s' is not a time: SECONDS of the recording's clock, +SECONDS from the first sample, "
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

/* Returns true if a pattern matches the comm as perf prints it, or as folded stacks contain it: with '_' for ' ' and
 * ':' for ';'. Otherwise returns false. */
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

bool select_event(const struct select *select, struct str event)
{
	return in_globs(&select->event, event);
}

static uint64_t select_absolute(struct select_time time, uint64_t first_ns)
{
	uint64_t ns = time.ns;

	if (time.relative && __builtin_add_overflow(ns, first_ns, &ns))
		ns = UINT64_MAX;
	return ns;
}

bool select_is_partial(const struct select *select)
{
	return select_needs_time(select) || select->pid.n || select->tid.n || select->cpu.n || select->comm.n ||
	       select->cgroup.n;
}

bool select_sample(const struct select *select, const struct sample_key *key, uint64_t first_ns)
{
	if (likely(!select_is_partial(select)))
		return true;
	if (select_needs_time(select)) {
		uint64_t ns;

		if (!samplekey_ns(key, &ns) || (select->from.set && ns < select_absolute(select->from, first_ns)) ||
		    (select->to.set && ns >= select_absolute(select->to, first_ns)))
			return false;
	}
	return in_ranges(&select->pid, key->pid) && in_ranges(&select->tid, key->tid) &&
	       in_ranges(&select->cpu, key->cpu) && in_globs(&select->cgroup, key->cgroup) &&
	       (comm_in_globs(&select->comm, key->comm) || (key->first.n && comm_in_globs(&select->comm, key->first)));
}

bool select_needs_wall(const struct select *select)
{
	return select->from.wall || select->to.wall;
}

bool select_empty_range(const struct select *select)
{
	return select->from.set && select->to.set && select->from.relative == select->to.relative &&
	       select->from.wall == select->to.wall && select->from.ns >= select->to.ns;
}

void select_free(struct select *select)
{
	free(select->pid.range);
	free(select->tid.range);
	free(select->cpu.range);
	free(select->comm.glob);
	free(select->event.glob);
	free(select->cgroup.glob);
	*select = (struct select){ 0 };
}
