/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/heat/heattime.h"

#include <time.h>

#define DECIMALS 9

/* Parses exactly n digits and then `separator` at the start of *string: sets *value to their number, and removes digits
 * and separator from *string. Returns false if the string does not begin so. */
static bool next_field(struct str *string, size_t n, char separator, int *value)
{
	*value = 0;
	if (string->n <= n || string->p[n] != separator)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!byte_is_digit(string->p[i]))
			return false;
		*value = *value * 10 + (string->p[i] - '0');
	}
	*string = str_from(*string, n + 1);
	return true;
}

/* Parses a time in UTC without decimals, "2026-11-26T20:38:45Z", into ns since 1970. Returns false for other text. */
static bool heattime_parse_utc(struct str string, uint64_t *ns)
{
	struct tm tm = { 0 };
	time_t seconds;

	if (!next_field(&string, 4, '-', &tm.tm_year) || !next_field(&string, 2, '-', &tm.tm_mon) ||
	    !next_field(&string, 2, 'T', &tm.tm_mday) || !next_field(&string, 2, ':', &tm.tm_hour) ||
	    !next_field(&string, 2, ':', &tm.tm_min) || !next_field(&string, 2, 'Z', &tm.tm_sec) || string.n)
		return false;
	if (tm.tm_year < 1970 || tm.tm_mon < 1 || tm.tm_mon > 12 || tm.tm_mday < 1 || tm.tm_mday > 31 ||
	    tm.tm_hour > 23 || tm.tm_min > 59 || tm.tm_sec > 60)
		return false;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	seconds = timegm(&tm);
	if (seconds < 0 || (uint64_t)seconds > INT64_MAX / HEATTIME_SECOND - 1)
		return false;
	*ns = (uint64_t)seconds * HEATTIME_SECOND;
	return true;
}

bool heattime_parse(struct str string, uint64_t *ns)
{
	if (heattime_parse_utc(string, ns))
		return true;
	uint64_t seconds = 0, fraction = 0;
	size_t i = 0;

	for (; i < string.n && byte_is_digit(string.p[i]); i++) {
		seconds = seconds * 10 + (uint64_t)(string.p[i] - '0');
		if (seconds > INT64_MAX / HEATTIME_SECOND - 1)
			return false;
	}
	if (i == 0)
		return false;
	if (i < string.n && string.p[i] == '.') {
		size_t decimals = str_decimals(str_from(string, i + 1), HEATTIME_SECOND, &fraction);

		if (decimals == 0 || decimals > DECIMALS)
			return false;
		i += 1 + decimals;
	}
	*ns = seconds * HEATTIME_SECOND + fraction;
	return i == string.n;
}

void heattime_duration(struct text *text, uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = {
		{ 24 * 3600 * HEATTIME_SECOND, "d" }, { 3600 * HEATTIME_SECOND, "h" },
		{ 60 * HEATTIME_SECOND, "min" },      { HEATTIME_SECOND, "s" },
		{ HEATTIME_SECOND / 1000, "ms" },     { 1000, "\xc2\xb5s" },
	};

	for (size_t i = 0; i < countof(units); i++)
		if (ns % units[i].ns == 0) {
			text_printf(text, "%ju %s", (uintmax_t)(ns / units[i].ns), units[i].name);
			return;
		}
	text_printf(text, "%ju ns", (uintmax_t)ns);
}

static void put_milliseconds(struct text *text, uint64_t ns)
{
	text_printf(text, ".%03ju", (uintmax_t)(ns % HEATTIME_SECOND / (HEATTIME_SECOND / 1000)));
}

/* Appends `ns`, a time since the origin of the map, as text: "12.5 s" below two minutes; from then on "m:ss" or
 * "h:mm:ss", with milliseconds if it is not a whole number of seconds. */
static void heattime_since(struct text *text, uint64_t ns)
{
	uint64_t seconds = ns / HEATTIME_SECOND, minutes = seconds / 60;

	if (seconds < 120) {
		text_printf(text, "%.9g s", (double)ns / (double)HEATTIME_SECOND);
		return;
	}
	if (minutes < 60)
		text_printf(text, "%ju:%02ju", (uintmax_t)minutes, (uintmax_t)(seconds % 60));
	else
		text_printf(text, "%ju:%02ju:%02ju", (uintmax_t)(minutes / 60), (uintmax_t)(minutes % 60),
			    (uintmax_t)(seconds % 60));
	if (ns % HEATTIME_SECOND)
		put_milliseconds(text, ns);
}

void heattime_label(struct text *text, uint64_t ns, const struct heattime_axis *axis)
{
	time_t seconds = (time_t)(ns / HEATTIME_SECOND);
	struct tm tm;

	if (axis->origin < HEATTIME_WALL || !gmtime_r(&seconds, &tm)) {
		heattime_since(text, ns - axis->origin);
		return;
	}
	if (axis->column_ns >= 3600 * HEATTIME_SECOND || axis->span > 24 * 3600 * HEATTIME_SECOND)
		text_printf(text, "%02d-%02d ", tm.tm_mon + 1, tm.tm_mday);
	text_printf(text, "%02d:%02d", tm.tm_hour, tm.tm_min);
	if (axis->column_ns % (60 * HEATTIME_SECOND))
		text_printf(text, ":%02d", tm.tm_sec);
	if (axis->column_ns % HEATTIME_SECOND)
		put_milliseconds(text, ns);
}
