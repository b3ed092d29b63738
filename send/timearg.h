/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timearg.h - times as people write them, as seconds since 1970.
 *
 *	1795293830   @1795293830   2026-11-21   2026-11-21T15:04[:05][Z|+01:00]   '2026-11-21 15:04'
 *	-10m  -90s  -2h  -7d       (before now)   now   today   yesterday   'yesterday 06:00'   06:00 (today)
 *
 * A time without a zone is local (TZ).
 */
#ifndef PJ_TIMEARG_H
#define PJ_TIMEARG_H

#include "common/str.h"

/* Parses a time into *moment, in s since 1970; `now`, in the same unit, is the base of relative times. Returns false
 * if text is no time before the year 10000. */
bool timearg_parse(const char *text, uint64_t now, uint64_t *moment);

/* Writes a time in UTC, e.g. "2026-11-21T15:04:05Z". */
void timearg_text(char s[32], uint64_t moment);

/* Writes a time in the local zone, as timearg_parse reads it, with its difference to UTC, e.g.
 * "2026-11-21T16:04:05+01:00"; where that is 0, as timearg_text. */
void timearg_local_text(char s[32], uint64_t moment);

#endif
