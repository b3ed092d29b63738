/* SPDX-License-Identifier: Apache-2.0 */
#include "common/timearg.h"

#include <stdio.h>
#include <time.h>

/* exclusive upper limit of times in s since 1970: start of the year 10000 */
#define MOMENT_MAX UINT64_C(253402300800)

/* Removes a time of day, "06:00" or "06:00:30", from the start of *string and stores it in *calendar. The rest is a
 * zone, or empty for local time. Returns false if the string has no valid time of day there. */
static bool take_clock(struct str *string, struct tm *calendar)
{
	uint64_t h, m, sec = 0;

	if (string->n < 5 || string->p[2] != ':' || !str_u64(str_head(*string, 2), &h) ||
	    !str_u64(str_head(str_from(*string, 3), 2), &m))
		return false;
	*string = str_from(*string, 5);
	if (string->n >= 3 && string->p[0] == ':') {
		if (!str_u64(str_head(str_from(*string, 1), 2), &sec))
			return false;
		*string = str_from(*string, 3);
	}
	calendar->tm_hour = (int)h;
	calendar->tm_min = (int)m;
	calendar->tm_sec = (int)sec;
	return h < 24 && m < 60 && sec < 61;
}

static bool timearg_ends(struct str zone, struct tm *calendar, uint64_t *moment)
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
	calendar->tm_isdst = -1;
	t = (int64_t)(local ? mktime(calendar) : timegm(calendar)) - offset;
	*moment = (uint64_t)t;
	return t >= 0 && *moment < MOMENT_MAX;
}

static bool take_date(struct str *string, struct tm *calendar)
{
	uint64_t y, m, d;
	struct tm there;

	if (string->n < 10 || string->p[4] != '-' || string->p[7] != '-' || !str_u64(str_head(*string, 4), &y) ||
	    !str_u64(str_head(str_from(*string, 5), 2), &m) || !str_u64(str_head(str_from(*string, 8), 2), &d) ||
	    y < 1970 || m < 1 || m > 12 || d < 1 || d > 31)
		return false;
	*calendar = (struct tm){ .tm_year = (int)y - 1900, .tm_mon = (int)m - 1, .tm_mday = (int)d };
	*string = str_from(*string, 10);
	there = *calendar;
	/* timegm normalizes 30 February to 2 March, so the month changes if the date does not exist. */
	timegm(&there);
	return there.tm_mon == calendar->tm_mon;
}

static bool day_of(uint64_t now, int days, struct tm *calendar)
{
	time_t seconds = (time_t)now;
	struct tm here;

	if (!localtime_r(&seconds, &here))
		return false;
	*calendar = (struct tm){ .tm_year = here.tm_year, .tm_mon = here.tm_mon, .tm_mday = here.tm_mday + days };
	return true;
}

/* Parses a duration before `now`, such as "-10m", into a time *moment in s since 1970; a number without unit letter is
 * in s. */
static bool timearg_relative(struct str string, uint64_t now, uint64_t *moment)
{
	static const struct {
		char letter;
		unsigned seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 }, { 'w', 7 * 86400 } };
	uint64_t n, unit = 1;

	string = str_from(string, 1);
	for (size_t i = 0; i < countof(units); i++)
		if (string.n && string.p[string.n - 1] == units[i].letter) {
			unit = units[i].seconds;
			string.n--;
			break;
		}
	if (!str_u64(string, &n) || n > now / unit)
		return false;
	*moment = now - n * unit;
	return true;
}

bool timearg_parse(const char *text, uint64_t now, uint64_t *moment)
{
	struct str string = str_trim(str_of(text));
	struct tm calendar = { 0 };
	bool dated = true;

	if (str_eq(string, STR("now")) || (string.n && string.p[0] == '-')) {
		*moment = now;
		return string.p[0] == 'n' || timearg_relative(string, now, moment);
	}
	if (str_u64(string.n && string.p[0] == '@' ? str_from(string, 1) : string, moment))
		return *moment < MOMENT_MAX;
	if (str_starts(string, STR("today")) || str_starts(string, STR("yesterday"))) {
		bool today = string.p[0] == 't';

		if (!day_of(now, today ? 0 : -1, &calendar))
			return false;
		string = str_from(string, today ? 5 : 9);
	} else if (!take_date(&string, &calendar)) {
		dated = false;
		if (!day_of(now, 0, &calendar))
			return false;
	}
	if (string.n == 0)
		return dated && timearg_ends(string, &calendar, moment);
	if (dated && string.p[0] != ' ' && string.p[0] != 'T')
		return false;
	string = dated ? str_trim_left(str_from(string, 1)) : string;
	return take_clock(&string, &calendar) && timearg_ends(string, &calendar, moment);
}

void timearg_text(char s[32], uint64_t moment)
{
	time_t seconds = (time_t)moment;
	struct tm calendar;

	gmtime_r(&seconds, &calendar);
	strftime(s, 32, "%Y-%m-%dT%H:%M:%SZ", &calendar);
}

void timearg_local_text(char s[32], uint64_t moment)
{
	time_t seconds = (time_t)moment;
	struct tm calendar;
	long offset;
	size_t n;

	if (!localtime_r(&seconds, &calendar) || calendar.tm_gmtoff == 0) {
		timearg_text(s, moment);
		return;
	}
	offset = calendar.tm_gmtoff < 0 ? -calendar.tm_gmtoff : calendar.tm_gmtoff;
	n = strftime(s, 32, "%Y-%m-%dT%H:%M:%S", &calendar);
	snprintf(s + n, 32 - n, "%c%02ld:%02ld", calendar.tm_gmtoff < 0 ? '-' : '+', offset / 3600 % 100,
		 offset / 60 % 60);
}
