/* SPDX-License-Identifier: Apache-2.0 */
/* heatdata.h - writes the data of a heat map for the viewer: `heat` in the config, and the data block of slots
 * (docs/SVG.md). */
#ifndef PJ_HEATDATA_H
#define PJ_HEATDATA_H

#include "svg/heat/heatmap.h"
#include "common/text.h"

/* Appends the JSON object `heat`. unit: unit of the weights. */
void heatdata_config(struct text *text, const struct heatmap *map, struct str unit);

/* Appends the slots with samples or losses, then their weights by frame. */
void heatdata_slots(struct text *text, const struct heatmap *map);

#endif
