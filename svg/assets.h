/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assets.h - the viewers, as bytes in the program, as svg/viewer/assemble prints them: the modules of svg/viewer and
 * svg/viewer.css; for pictures with a heat map, also the modules that begin with heat, and svg/heat.css.
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

/* The viewer of pictures with a heat map; it replaces assets_viewer. */
static inline struct str assets_heat(void)
{
	return (struct str){ assets_heat_begin, (size_t)((uintptr_t)assets_heat_end - (uintptr_t)assets_heat_begin) };
}

/* Rules of style for the heat map; they follow assets_css. */
static inline struct str assets_heat_css(void)
{
	return (struct str){ assets_heat_css_begin,
			     (size_t)((uintptr_t)assets_heat_css_end - (uintptr_t)assets_heat_css_begin) };
}

#endif
