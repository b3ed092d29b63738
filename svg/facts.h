/* SPDX-License-Identifier: Apache-2.0 */
/* facts.h - helpers of pjsvg and pjheat: font, subtitle, messages about the input, and opening of the output file. */
#ifndef PJ_FACTS_H
#define PJ_FACTS_H

#include "common/filter/out.h"
#include "common/formats/folded.h"

#define FACTS_FONT "ui-monospace,SFMono-Regular,Menlo,Consolas,DejaVu Sans Mono,monospace"

/* Warns about skipped lines and rounded weights of the input. */
void facts_report(const struct folded_tally *tally);

/* Returns the subtitle as visible text: `given`, the user's text (NULL: none), then event, frequency, host, time,
 * labels and losses from the header of the input. */
struct str facts_subtitle(struct arena *arena, const char *given, const struct folded_header *header);

/* Opens the output file `path` (NULL: standard output); compresses it by gzip if its name ends in .svgz or .svg.gz. */
void facts_open(struct out *out, const char *path);

#endif
