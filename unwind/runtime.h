/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime.h - the interface of a language runtime that generates code: one folder below runtimes/ for each.
 *
 * A runtime brings four abilities: - recognize: `is_library` decides by the path of a mapped file whether a process
 * runs the runtime. A path is hostile: the layout must prove it. - layout: the folder finds the runtime's structures
 * from what its binary exports, proves them by invariants on the process's memory, and refuses an unknown layout with
 * one line. It runs in a helper process without capabilities, under a budget. - step: `find` and `unwinder` lead from a
 * frame in generated code to its caller. They are pure functions of code blobs, registers and stack copy, and yield the
 * caller's registers. - name: a frame with walk_frame.method is named by the runtime (runtimes/hotspot/methods.h), all
 * other generated code by the ranges and names of its code blobs.
 *
 * pjrecord finds code blobs in live processes (record/java), pjfold in recorded timelines (fold/jvm/frametimes.h); both
 * hand them to the same `unwinder`. docs/HOWTO-ADD.md lists the steps to add a runtime.
 */
#ifndef PJ_RUNTIME_H
#define PJ_RUNTIME_H

#include "common/str.h"
#include "unwind/walk.h"

struct runtime {
	const char *name;
	/* Returns true if a file of this path is the runtime's program or library. */
	bool (*is_library)(struct str path);
	/* Returns the code blob that contains the frame at state, or NULL. view is the runtime's view of the
	 * process. */
	const void *(*find)(const void *view, const struct unwind_state *state);
	/* Steps out of frames in code blobs. walk_code.runtime is the view and walk_code.blob the code blob that `find`
	 * returned. */
	const struct unwinder *unwinder;
};

/* Fills *code and returns true if the frame at state is in a code blob of view; otherwise returns false. */
static inline bool runtime_find(const struct runtime *runtime, const void *view, const struct unwind_state *state,
				struct walk_code *code)
{
	const void *blob = runtime->find(view, state);

	if (!blob)
		return false;
	code->unwinder = runtime->unwinder;
	code->runtime = view;
	code->blob = blob;
	code->mapped = true;
	return true;
}

#endif
