/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nametree.h - pass 3 of a recording: makes the tree of names from the tree of locations.
 *
 * Parents have lower numbers than their children, so one loop over the nodes suffices. --skip-after and
 * --collapse-recursion apply here, since they compare names.
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
	/* Frames of the locations, as ids of the tree that is made. */
	const struct resolved *names;
	/* Frames outside of the first frame: one for --time-slice, then one for --by, which is the path of a cgroup. */
	bool slices;
	enum containers_by by;
	struct containers *containers;
};

/* Returns an array by node of `from`: true if its frame is the one of --time-slice or --by. The caller frees it. */
bool *nametree_fronts(const struct nametree *tree);

/* Adds the tree to `stacks`, with the locations replaced by their frames, and the path of a cgroup by the name of the
 * cgroup, container or pod. front: from nametree_fronts(). Returns false if a weight overflows. */
bool nametree_make(const struct nametree *tree, const bool *front, struct stacks *stacks);

#endif
