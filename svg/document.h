/* SPDX-License-Identifier: Apache-2.0 */
/* document.h - writes a complete SVG file, whose format docs/SVG.md specifies. */
#ifndef PJ_DOCUMENT_H
#define PJ_DOCUMENT_H

#include "common/filter/out.h"
#include "svg/picture.h"

/* Writes a complete SVG: static picture, data and viewer. change: NULL if the picture is not a difference. */
void document_write(struct out *out, const struct look *look, const struct layout *layout, const struct styles *styles,
		    const struct change *change);

/* Writes an SVG without a graph that only shows the text `why`. */
void document_write_empty(struct out *out, const struct look *look, const char *why);

#endif
