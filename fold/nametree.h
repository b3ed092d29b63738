/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nametree.h - third pass over a recording: converts the call tree of locations into a call tree of names.
 *
 * A parent has a lower node id than its children, so one loop over the ids visits parents first. --skip-after and
 * --collapse-recursion apply in this pass, because they compare names.
 */
#ifndef PJ_NAMETREE_H
#define PJ_NAMETREE_H

#include "common/formats/containers.h"
#include "fold/process/locations.h"
#include "fold/resolve.h"
#include "fold/samples/samples.h"

struct nametree {
	const struct samples_options *o;
	/* Call tree of the recording: first frames are names, all other frames are locations (LOCATION_BIT). */
	const struct stacks *from;
	const struct locations *locations;
	/* Names of the locations: frame ids in the tree to which nametree_make() adds. */
	const struct resolved *names;
	/* Frames outside of the first frame, outermost first. slices: true: one frame of --time-slice. by: if not
	 * BY_NONE: one frame of --by, which is the path of the cgroup in `from`. */
	bool slices;
	enum containers_by by;
	struct containers *containers;
};

/* Returns an array indexed by node of tree->from: true if the node's frame comes from --time-slice or --by. The caller
 * frees the array. */
bool *nametree_fronts(const struct nametree *tree);

/* Adds the tree of names to `stacks`: each location becomes its frames, and each cgroup path the name of the cgroup,
 * container or pod. front: result of nametree_fronts(). Returns false if a weight overflows. */
bool nametree_make(const struct nametree *tree, const bool *front, struct stacks *stacks);

#endif
