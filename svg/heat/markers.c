/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/heat/markers.h"

#include "common/timearg.h"
#include "common/visible.h"
#include "svg/heat/heattime.h"

#include <stdlib.h>

#define DATE_LENGTH 10 /* length in bytes of a date: 2026-11-26 */
/* maximum length in bytes of date, time of day and zone; a line with a longer time is malformed */
#define TIME_LENGTH 40
#define TIME_WITH_SECONDS 8 /* length in bytes of a time of day with seconds: 20:38:45 */

/* Returns true if string begins as a date does, with a year of four digits and '-'. Times without a date, which
 * timearg_parse also accepts, are refused here: they depend on the current time. */
static bool is_dated(struct str string)
{
	for (size_t i = 0; i < 4; i++)
		if (i >= string.n || !byte_is_digit(string.p[i]))
			return false;
	return string.n >= DATE_LENGTH && string.p[4] == '-';
}

/* Returns true if string begins as a time of day does, with two digits and ':'; otherwise false. */
static bool is_clock(struct str string)
{
	return string.n >= 5 && byte_is_digit(string.p[0]) && byte_is_digit(string.p[1]) && string.p[2] == ':';
}

/* Returns the first word of *line, which ends at a blank. Removes the word and the blanks after it from *line. */
static struct str take_word(struct str *line)
{
	size_t n = 0;

	while (n < line->n && !byte_is_blank(line->p[n]))
		n++;
	struct str word = str_head(*line, n);
	*line = str_trim_left(str_from(*line, n));
	return word;
}

static bool is_utc(struct str word)
{
	return str_eq(word, STR("Z")) || str_eq(word, STR("UTC")) || str_eq(word, STR("GMT"));
}

/* Returns true for a zone that is a word of its own: UTC, +0100, +01:00. Returns false for all other words. */
static bool is_zone(struct str word)
{
	size_t digits = 0;

	if (is_utc(word))
		return true;
	if (word.n < 5 || (word.p[0] != '+' && word.p[0] != '-'))
		return false;
	for (size_t i = 1; i < word.n; i++) {
		if (byte_is_digit(word.p[i]))
			digits++;
		else if (i != 3 || word.p[i] != ':')
			return false;
	}
	return digits == 4;
}

/* Removes decimals of a second, ".25" or ",25", from the start of *string and adds them, in ns, to *ns. Returns true
 * also if there are no decimals; false if no digit follows the point or comma. */
static bool take_decimals(struct str *string, uint64_t *ns)
{
	uint64_t fraction;
	size_t n;

	if (string->n == 0 || (string->p[0] != '.' && string->p[0] != ','))
		return true;
	n = str_decimals(str_from(*string, 1), HEATTIME_SECOND, &fraction);
	*ns += fraction;
	*string = str_from(*string, 1 + n);
	return n > 0;
}

/* Sets *ns to a date, time of day (may be empty) and zone (may be empty) in ns since 1970. Returns false if they are
 * malformed, or longer than TIME_LENGTH. */
static bool date_time(struct str date, struct str clock, struct str zone, uint64_t *ns)
{
	struct text text = { 0 };
	uint64_t seconds;

	if (date.n + clock.n + zone.n > TIME_LENGTH)
		return false;
	text_str(&text, date);
	text_add(&text, clock.n ? " " : "");
	text_str(&text, clock);
	text_str(&text, is_utc(zone) ? STR("Z") : zone);
	text_char(&text, 0);
	bool good = timearg_parse(text.p, 0, &seconds) && seconds <= INT64_MAX / HEATTIME_SECOND - 1;
	text_free(&text);
	*ns = good ? seconds * HEATTIME_SECOND : 0;
	return good;
}

/* Removes a date, with or without a time of day and a zone, from the start of *line, and sets *ns to it in ns since
 * 1970. A zone that is a word of its own, as of git log --format=%ci, belongs to the time before it. Returns false if
 * the date or time is malformed. */
static bool take_date_time(struct str *line, uint64_t *ns)
{
	struct str word = take_word(line), date = str_head(word, DATE_LENGTH), clock;
	uint64_t decimals = 0;
	size_t n = 0;

	if (word.n < DATE_LENGTH)
		return false;
	clock = str_from(word, DATE_LENGTH);
	if (clock.n == 0 && is_clock(*line))
		clock = take_word(line);
	else if (clock.n && (clock.n == 1 || clock.p[0] != 'T'))
		return false;
	else if (clock.n)
		clock = str_from(clock, 1);
	while (n < clock.n && (byte_is_digit(clock.p[n]) || clock.p[n] == ':'))
		n++;
	struct str zone = str_from(clock, n), rest = *line, next = take_word(&rest);
	if (!take_decimals(&zone, &decimals) || (decimals && n != TIME_WITH_SECONDS))
		return false;
	if (zone.n == 0 && is_zone(next)) {
		zone = next;
		*line = rest;
	}
	bool good = date_time(date, str_head(clock, n), zone, ns);
	*ns += decimals;
	return good;
}

/* Sets *ns to the time of a line in ns since 1970 or on the recording's clock, and *label to its label. Returns false
 * if the time is malformed, or time or label are missing. */
static bool marker_parse(struct str line, uint64_t *ns, struct str *label)
{
	*label = line;
	if (is_dated(line))
		return take_date_time(label, ns) && label->n;
	struct str word = take_word(label);
	if (word.n && word.p[0] == '@')
		word = str_from(word, 1);
	return heattime_parse(word, ns) && label->n;
}

static struct str marker_label(struct arena *arena, struct str bytes)
{
	struct text label = { 0 };

	visible_short(&label, bytes, MARKERS_LABEL);
	struct str copy = arena_copy(arena, text_view(&label));
	text_free(&label);
	return copy;
}

static void count_outside(struct markers *markers, uint64_t ns)
{
	markers->outside++;
	markers->outside_wall += ns >= HEATTIME_WALL;
}

bool markers_add(struct markers *markers, const struct heatmap *map, struct str line)
{
	struct marker marker = { 0 };
	struct str label;

	line = str_trim(line);
	if (line.n == 0 || line.p[0] == '#')
		return true;
	markers->lines++;
	if (!marker_parse(line, &marker.ns, &label)) {
		markers->malformed++;
		return false;
	}
	if (!heatmap_position(map, marker.ns, &marker.position)) {
		count_outside(markers, marker.ns);
	} else if (markers->n == MARKERS_MAX) {
		markers->excess++;
	} else {
		marker.number = (uint32_t)markers->n;
		marker.label = marker_label(&markers->arena, label);
		markers->marker = mem_more(markers->marker, sizeof(marker), markers->n);
		markers->marker[markers->n++] = marker;
	}
	return true;
}

static int marker_cmp(const void *a, const void *b)
{
	const struct marker *one = a, *other = b;

	if (one->ns != other->ns)
		return one->ns < other->ns ? -1 : 1;
	return one->number < other->number ? -1 : 1;
}

void markers_sort(struct markers *markers)
{
	if (markers->n)
		qsort(markers->marker, markers->n, sizeof(*markers->marker), marker_cmp);
}

void markers_free(struct markers *markers)
{
	free(markers->marker);
	arena_free(&markers->arena);
	*markers = (struct markers){ 0 };
}
