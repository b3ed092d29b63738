/* SPDX-License-Identifier: Apache-2.0 */
/* heattime.h - parses times of samples, and prints durations and the times of a heat map's axis. Does no input or
 * output. */
#ifndef PJ_HEATTIME_H
#define PJ_HEATTIME_H

#include "common/text.h"

#define HEATTIME_SECOND UINT64_C(1000000000)
/* time in ns from which on a time is taken as wall-clock time: no other clock of a kernel runs for 31 years */
#define HEATTIME_WALL (HEATTIME_SECOND * 1000000000)

/* Parses a time into ns: seconds with up to nine decimals, "1795263657.550000000", or a time in UTC from pjfetch
 * --by=time, "2026-11-26T20:38:45Z". Returns false for other text, and for times before 1970 or beyond 63 bits. */
bool heattime_parse(struct str string, uint64_t *ns);

/* Appends `ns`, a duration, in the largest unit in which it is a whole number: "20 ms", "5 s", "1 min", "2 h". */
void heattime_duration(struct text *text, uint64_t ns);

/* A time axis in ns: its first column begins at `origin`, its last column ends `span` later; each column is column_ns
 * long. */
struct heattime_axis {
	uint64_t origin, span, column_ns;
};

/* Appends `ns`, the time at which a column of the axis begins. If the origin is a wall-clock time, writes a time of day
 * in UTC: with month and day if the axis spans more than 24 h or a column an hour or more; without seconds if columns
 * are whole minutes, without milliseconds if they are whole seconds. With another origin, writes the time since it. */
void heattime_label(struct text *text, uint64_t ns, const struct heattime_axis *axis);

#endif
