/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime.h - interface of a language runtime that generates code. Each runtime has one folder below runtimes/.
 *
 * A runtime has four parts:
 * - recognize: `is_library` decides by the path of a mapped file if a process runs the runtime. A path is hostile: the
 * layout must prove the decision.
 * - layout: the folder finds the runtime's structures through the exports of its binary, proves them by invariants in
 * the process's memory, and refuses an unknown layout with a one-line reason. It runs in a helper process without
 * capabilities, under a budget.
 * - step: `find` and `unwinder` step from a frame in generated code to its caller. They are pure functions of code
 * blobs, registers and stack copy.
 * - name: the runtime names frames with walk_frame.method (runtimes/hotspot/methods.h). All other generated code is
 * named by the ranges and names of its code blobs.
 *
 * pjrecord finds code blobs in live processes (record/java), pjfold in recorded timelines (fold/jvm/frametimes.h). Both
 * use the same `unwinder`. docs/HOWTO-ADD.md lists the steps to add a runtime.
 */
#ifndef PJ_RUNTIME_H
#define PJ_RUNTIME_H

#include "common/str.h"
#include "unwind/walk.h"

/* A language runtime; constant. */
struct runtime {
	/* name of the runtime */
	const char *name;
	/* Returns true if `path` is the runtime's program or library. */
	bool (*is_library)(struct str path);
	/* Returns the code blob of the frame at *state, or NULL if the frame is not in generated code. view: the
	 * runtime's data about the process, such as its code blobs. */
	const void *(*find)(const void *view, const struct unwind_state *state);
	/* unwinder for frames in code blobs; its walk_code.runtime is the view, and walk_code.blob the result of
	 * `find` */
	const struct unwinder *unwinder;
};

/* Fills *code if the frame at *state is in a code blob of `view`; otherwise returns false. */
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
