/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timearg.h - parses times in the formats that people write, and prints times; a time is s since 1970.
 *
 *	1795293830   @1795293830   2026-11-21   2026-11-21T15:04[:05][Z|+01:00]   '2026-11-21 15:04'
 *	-10m  -90s  -2h  -7d       (before now)   now   today   yesterday   'yesterday 06:00'   06:00 (today)
 *
 * A time without a zone is local (TZ).
 */
#ifndef PJ_TIMEARG_H
#define PJ_TIMEARG_H

#include "common/str.h"

/* Parses a time into *moment, in s since 1970; relative times refer to `now`, also in s since 1970. Returns false if
 * the text is not a time, or a time before 1970 or after the year 9999. */
bool timearg_parse(const char *text, uint64_t now, uint64_t *moment);

/* Writes `moment`, a time in s since 1970, as UTC, e.g. "2026-11-21T15:04:05Z". */
void timearg_text(char s[32], uint64_t moment);

/* Writes `moment`, a time in s since 1970, in the local zone with the UTC offset, e.g. "2026-11-21T16:04:05+01:00", or
 * like timearg_text if the offset is 0. timearg_parse can read both. */
void timearg_local_text(char s[32], uint64_t moment);

#endif
