/* SPDX-License-Identifier: Apache-2.0 */
/* document.h - writes the SVG file as docs/SVG.md specifies it. */
#ifndef PJ_DOCUMENT_H
#define PJ_DOCUMENT_H

#include "common/filter/out.h"
#include "svg/picture.h"

/* Writes a complete SVG: static picture, data and viewer. change is NULL if the picture is no difference. */
void document_write(struct out *out, const struct look *look, const struct layout *layout, const struct styles *styles,
		    const struct change *change);

/* Writes an SVG that shows only the reason why there is no graph. */
void document_write_empty(struct out *out, const struct look *look, const char *why);

#endif
