/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotspotruntime.h - makes HotSpot a runtime of unwind/runtime.h. The view of a process is a struct javaunwind_code,
 * and its code blobs are struct code_blob.
 */
#ifndef PJ_HOTSPOTRUNTIME_H
#define PJ_HOTSPOTRUNTIME_H

#include "unwind/runtime.h"

/* HotSpot's entry in the list of runtimes. The view that its callbacks get is a struct javaunwind_code; `find`
 * returns NULL for a view without code blobs. */
extern const struct runtime runtime_hotspot;

#endif
