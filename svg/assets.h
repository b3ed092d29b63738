/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assets.h - the viewer and its style sheet, which svg/viewer/assemble puts into the program as bytes.
 *
 * The viewer consists of the modules of svg/viewer. Pictures with a heat map have a larger viewer, which also contains
 * the modules whose names begin with heat. They also have the rules of svg/heat.css after the rules of svg/viewer.css.
 */
#ifndef PJ_ASSETS_H
#define PJ_ASSETS_H

#include "common/str.h"

extern const char assets_viewer_begin[], assets_viewer_end[];
extern const char assets_css_begin[], assets_css_end[];
extern const char assets_heat_begin[], assets_heat_end[];
extern const char assets_heat_css_begin[], assets_heat_css_end[];

static inline struct str assets_viewer(void)
{
	return (struct str){ assets_viewer_begin,
			     (size_t)((uintptr_t)assets_viewer_end - (uintptr_t)assets_viewer_begin) };
}

static inline struct str assets_css(void)
{
	return (struct str){ assets_css_begin, (size_t)((uintptr_t)assets_css_end - (uintptr_t)assets_css_begin) };
}

/* Returns the viewer for pictures with a heat map; such pictures contain it instead of assets_viewer. */
static inline struct str assets_heat(void)
{
	return (struct str){ assets_heat_begin, (size_t)((uintptr_t)assets_heat_end - (uintptr_t)assets_heat_begin) };
}

/* Returns the CSS rules for the heat map; pictures with a heat map contain them after assets_css. */
static inline struct str assets_heat_css(void)
{
	return (struct str){ assets_heat_css_begin,
			     (size_t)((uintptr_t)assets_heat_css_end - (uintptr_t)assets_heat_css_begin) };
}

#endif
