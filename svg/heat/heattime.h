/* SPDX-License-Identifier: Apache-2.0 */
/* heattime.h - times of a heat map as text: reads those of samples, writes those of axes. Pure. */
#ifndef PJ_HEATTIME_H
#define PJ_HEATTIME_H

#include "common/text.h"

#define HEATTIME_SECOND UINT64_C(1000000000)
/* Times from here on, in ns, are of the wall clock: no other clock of a kernel runs for 31 years. */
#define HEATTIME_WALL (HEATTIME_SECOND * 1000000000)

/* Parses seconds with up to nine decimals, as "1795263657.550000000", or a time in UTC, as "2026-11-26T20:38:45Z" of
 * pjfetch --by=time, into ns. Returns false for other text, for times before 1970 and for times that do not fit into 63
 * bits. */
bool heattime_parse(struct str string, uint64_t *ns);

/* Appends a duration in its largest whole unit: "20 ms", "5 s", "1 min", "2 h". */
void heattime_duration(struct text *text, uint64_t ns);

/* An axis of times in ns: the first column begins at `origin`, the last one ends `span` later. */
struct heattime_axis {
	uint64_t origin, span, column_ns;
};

/* Appends the time `ns` at which a column of the axis begins: time of day in UTC if origin is of the wall clock, with
 * month and day for more than 24 h or columns of an hour or more; else the time since origin. It has seconds and
 * milliseconds only if columns are not of whole minutes or seconds. */
void heattime_label(struct text *text, uint64_t ns, const struct heattime_axis *axis);

#endif
