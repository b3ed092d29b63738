/* SPDX-License-Identifier: Apache-2.0 */
/* Times as people write them. */
/* covers: common/timearg.c */
#include "common/timearg.h"

#include "test/lib/tap.h"

#include <stdlib.h>
#include <time.h>

#define NOW UINT64_C(1795294000) /* 2026-11-21T20:46:40Z */

static const struct {
	const char *text;
	uint64_t want; /* 0: none */
} cases[] = {
	{ "1795293830", 1795293830 },
	{ "@1795293830", 1795293830 },
	{ "0", 0 },
	{ "-10m", NOW - 600 },
	{ "-90s", NOW - 90 },
	{ "-90", NOW - 90 },
	{ "-2h", NOW - 7200 },
	{ "-7d", NOW - 7 * 86400 },
	{ "-1w", NOW - 7 * 86400 },
	{ "now", NOW },
	{ "2026-11-21T20:43:50Z", 1795293830 },
	{ "2026-11-21 20:43:50", 1795293830 },
	{ "2026-11-21T20:43", 1795293780 },
	{ "2026-11-21T21:43:50+01:00", 1795293830 },
	{ "2026-11-21T21:43:50+01", 1795293830 },
	{ "2026-11-21T19:43:50-0100", 1795293830 },
	{ "2026-11-21", 1795219200 },
	{ "2028-02-29", 1835395200 },
	{ "today", 1795219200 },
	{ "today 20:43:50", 1795293830 },
	{ "20:43:50", 1795293830 },
	{ "yesterday 06:00", 1795132800 + 21600 },
	{ "yesterday", 1795132800 },
	{ " 1795293830 ", 1795293830 },
};

static const char *const none[] = { "",
				    "-",
				    "-m",
				    "-1x",
				    "yesterda",
				    "yesterday06:00",
				    "yesterday 6:00",
				    "2026-13-01",
				    "2026-02-29",
				    "2026-11-31",
				    "2026-11-21T",
				    "2026-11-21T25:00",
				    "2026-11-21T20:60",
				    "2026-11-21T20:43:50X",
				    "2026-11-21T20:43:50+",
				    "2026-11-21T20:43:50+1",
				    "2026-11-21T20:43:50+01:",
				    "1e9",
				    "+5",
				    "99999999999999999999",
				    "999999999999999",
				    "-99999999999999999999d",
				    "1969-12-31",
				    "20:4",
				    "tomorrow",
				    "2026-1-1",
				    "now now" };

int main(void)
{
	uint64_t t;
	char text[32];

	setenv("TZ", "UTC", 1);
	tzset();
	for (size_t i = 0; i < countof(cases); i++)
		if (!timearg_parse(cases[i].text, NOW, &t) || t != cases[i].want) {
			is_u64(t, cases[i].want, cases[i].text);
			break;
		}
	ok(timearg_parse("yesterday 06:00", NOW, &t) && t == 1795154400, "all forms are understood");
	for (size_t i = 0; i < countof(none); i++)
		if (timearg_parse(none[i], NOW, &t))
			ok(false, none[i]);
	ok(!timearg_parse("never", NOW, &t), "what is none is refused");
	timearg_text(text, 1795293830);
	is_str(str_of(text), STR("2026-11-21T20:43:50Z"), "and written in one form");
	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1); /* as in Berlin, with or without tzdata */
	tzset();
	ok(timearg_parse("2026-07-01T12:00", NOW, &t) && t == 1782900000, "local times have the zone's summer");
	ok(timearg_parse("yesterday 06:00", 1774864800, &t) && t == 1774756800,
	   "the day that the clock went forward begins an hour earlier: 29 March 2026");
	ok(timearg_parse("yesterday 06:00", 1793008800, &t) && t == 1792904400,
	   "and the one that it went back, later: 25 October 2026");
	ok(timearg_parse("2026-03-29T02:30", NOW, &t) && (t == 1774747800 - 3600 || t == 1774747800),
	   "a time that there was not is one beside it");
	ok(timearg_parse("2026-10-25T02:30", NOW, &t) && (t == 1792888200 || t == 1792891800),
	   "one that there was twice is one of both");
	ok(timearg_parse("2026-10-25T02:30+02:00", NOW, &t) && t == 1792888200 &&
		   timearg_parse("2026-10-25T02:30+01:00", NOW, &t) && t == 1792891800,
	   "a zone tells which");
	return done();
}
