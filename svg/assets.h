/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assets.h - the viewer, as bytes in the program: the modules of svg/viewer and svg/viewer.css, as
 * svg/viewer/assemble prints them.
 */
#ifndef PJ_ASSETS_H
#define PJ_ASSETS_H

#include "common/str.h"

extern const char assets_viewer_begin[], assets_viewer_end[];
extern const char assets_css_begin[], assets_css_end[];

static inline struct str assets_viewer(void)
{
	return (struct str){ assets_viewer_begin,
			     (size_t)((uintptr_t)assets_viewer_end - (uintptr_t)assets_viewer_begin) };
}

static inline struct str assets_css(void)
{
	return (struct str){ assets_css_begin, (size_t)((uintptr_t)assets_css_end - (uintptr_t)assets_css_begin) };
}

#endif
