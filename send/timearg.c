/* SPDX-License-Identifier: Apache-2.0 */
#include "send/timearg.h"

#include <stdio.h>
#include <time.h>

#define MOMENT_MAX UINT64_C(253402300800) /* the year 10000 */

/* "06:00" or "06:00:30", then a zone, or nothing: local. */
static bool take_clock(struct str *s, struct tm *tm)
{
	uint64_t h, m, sec = 0;

	if (s->n < 5 || s->p[2] != ':' || !str_u64(str_head(*s, 2), &h) || !str_u64(str_head(str_from(*s, 3), 2), &m))
		return false;
	*s = str_from(*s, 5);
	if (s->n >= 3 && s->p[0] == ':') {
		if (!str_u64(str_head(str_from(*s, 1), 2), &sec))
			return false;
		*s = str_from(*s, 3);
	}
	tm->tm_hour = (int)h;
	tm->tm_min = (int)m;
	tm->tm_sec = (int)sec;
	return h < 24 && m < 60 && sec < 61;
}

static bool timearg_ends(struct str zone, struct tm *tm, uint64_t *moment)
{
	int64_t offset = 0, t;
	uint64_t h, m = 0;
	bool local = zone.n == 0;

	if (!local && !str_eq(zone, STR("Z"))) {
		struct str minutes;

		if (zone.n < 3 || (zone.p[0] != '+' && zone.p[0] != '-') ||
		    !str_u64(str_head(str_from(zone, 1), 2), &h))
			return false;
		minutes = str_from(zone, 3);
		if (minutes.n && minutes.p[0] == ':')
			minutes = str_from(minutes, 1);
		if (zone.n > 3 && (minutes.n != 2 || !str_u64(minutes, &m)))
			return false;
		if (h > 23 || m > 59)
			return false;
		offset = (int64_t)(h * 3600 + m * 60) * (zone.p[0] == '-' ? -1 : 1);
	}
	tm->tm_isdst = -1;
	t = (int64_t)(local ? mktime(tm) : timegm(tm)) - offset;
	*moment = (uint64_t)t;
	return t >= 0 && *moment < MOMENT_MAX;
}

static bool take_date(struct str *s, struct tm *tm)
{
	uint64_t y, m, d;
	struct tm there;

	if (s->n < 10 || s->p[4] != '-' || s->p[7] != '-' || !str_u64(str_head(*s, 4), &y) ||
	    !str_u64(str_head(str_from(*s, 5), 2), &m) || !str_u64(str_head(str_from(*s, 8), 2), &d) || y < 1970 ||
	    m < 1 || m > 12 || d < 1 || d > 31)
		return false;
	*tm = (struct tm){ .tm_year = (int)y - 1900, .tm_mon = (int)m - 1, .tm_mday = (int)d };
	*s = str_from(*s, 10);
	there = *tm;
	timegm(&there); /* 30 February becomes 2 March */
	return there.tm_mon == tm->tm_mon;
}

static bool day_of(uint64_t now, int days, struct tm *tm)
{
	time_t t = (time_t)now;
	struct tm here;

	if (!localtime_r(&t, &here))
		return false;
	*tm = (struct tm){ .tm_year = here.tm_year, .tm_mon = here.tm_mon, .tm_mday = here.tm_mday + days };
	return true;
}

/* "-10m" */
static bool timearg_relative(struct str s, uint64_t now, uint64_t *moment)
{
	static const struct {
		char letter;
		unsigned seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 }, { 'w', 7 * 86400 } };
	uint64_t n, unit = 1;

	s = str_from(s, 1);
	for (size_t i = 0; i < countof(units); i++)
		if (s.n && s.p[s.n - 1] == units[i].letter) {
			unit = units[i].seconds;
			s.n--;
			break;
		}
	if (!str_u64(s, &n) || n > now / unit)
		return false;
	*moment = now - n * unit;
	return true;
}

bool timearg_parse(const char *text, uint64_t now, uint64_t *moment)
{
	struct str s = str_trim(str_of(text));
	struct tm tm = { 0 };
	bool dated = true;

	if (str_eq(s, STR("now")) || (s.n && s.p[0] == '-')) {
		*moment = now;
		return s.p[0] == 'n' || timearg_relative(s, now, moment);
	}
	if (str_u64(s.n && s.p[0] == '@' ? str_from(s, 1) : s, moment))
		return *moment < MOMENT_MAX;
	if (str_starts(s, STR("today")) || str_starts(s, STR("yesterday"))) {
		bool today = s.p[0] == 't';

		if (!day_of(now, today ? 0 : -1, &tm))
			return false;
		s = str_from(s, today ? 5 : 9);
	} else if (!take_date(&s, &tm)) {
		dated = false;
		if (!day_of(now, 0, &tm))
			return false;
	}
	if (s.n == 0)
		return dated && timearg_ends(s, &tm, moment);
	if (dated && s.p[0] != ' ' && s.p[0] != 'T')
		return false;
	s = dated ? str_trim_left(str_from(s, 1)) : s;
	return take_clock(&s, &tm) && timearg_ends(s, &tm, moment);
}

void timearg_text(char s[32], uint64_t moment)
{
	time_t t = (time_t)moment;
	struct tm tm;

	gmtime_r(&t, &tm);
	strftime(s, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
}
