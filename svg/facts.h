/* SPDX-License-Identifier: Apache-2.0 */
/* facts.h - what pictures have in common: font, subtitle, messages about their input, and how their file is opened. */
#ifndef PJ_FACTS_H
#define PJ_FACTS_H

#include "common/filter/out.h"
#include "common/formats/folded.h"

#define FACTS_FONT "ui-monospace,SFMono-Regular,Menlo,Consolas,DejaVu Sans Mono,monospace"

/* Warns about skipped lines and rounded weights. */
void facts_report(const struct folded_tally *tally);

/* Returns the subtitle: the user's text (NULL: none), then the facts in the header of the input. It is visible text. */
struct str facts_subtitle(struct arena *arena, const char *given, const struct folded_header *header);

/* Opens the output file `path` (NULL: standard output), compressed for a name in .svgz or .svg.gz. */
void facts_open(struct out *out, const char *path);

#endif
