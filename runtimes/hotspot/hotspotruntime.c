/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/hotspot/hotspotruntime.h"

#include "runtimes/hotspot/discover.h"
#include "runtimes/hotspot/javaunwind.h"

static const void *hotspotruntime_find(const void *view, const struct unwind_state *state)
{
	const struct javaunwind_code *jvm_code = view;

	return jvm_code->n ? javaunwind_find(jvm_code, state) : NULL;
}

static enum unwind_end hotspotruntime_step(struct unwind_state *state, const struct walk_code *code, bool leaf,
					   struct walk_frame *frame)
{
	struct javaunwind_frame java;
	enum unwind_end end = javaunwind_step(state, code->runtime, code->blob, &java);

	(void)leaf;
	*frame = (struct walk_frame){
		.address = java.address, .exact = java.exact, .method = java.method, .omitted = java.thawed
	};
	return end;
}

static const struct unwinder unwinder_hotspot = { "HotSpot", hotspotruntime_step };

const struct runtime runtime_hotspot = {
	.name = "HotSpot",
	.is_library = discover_is_libjvm,
	.find = hotspotruntime_find,
	.unwinder = &unwinder_hotspot,
};
