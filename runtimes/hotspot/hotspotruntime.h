/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotspotruntime.h - HotSpot as a runtime (unwind/runtime.h): the view of a process is a struct javaunwind_code, and
 * its code blobs are struct code_blob.
 */
#ifndef PJ_HOTSPOTRUNTIME_H
#define PJ_HOTSPOTRUNTIME_H

#include "unwind/runtime.h"

/* HotSpot's entry for the list of runtimes. The view passed to find and step is a struct javaunwind_code; find
 * returns NULL for views without code blobs. */
extern const struct runtime runtime_hotspot;

#endif
