/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perffeatures.h - what a recording says about itself: host, kernel, command line, names of events, build-ids.
 *
 * Sections behind the data of a file, or FEATURE and BUILD_ID records in a pipe: the bodies are the same. Those that
 * nobody needs are not looked at.
 */
#ifndef PJ_PERFFEATURES_H
#define PJ_PERFFEATURES_H

#include "fold/perfdata/perfevents.h"

struct perffeatures {
	struct perfdata_info info;
	struct perfdata_build_id *build_id;
	size_t nbuild_ids, cap;
	struct arena text;
};

bool perffeatures_wants(unsigned feature);

/* NULL, or why it was not understood, a static text; what came before that place is used. */
const char *perffeatures_read(struct perffeatures *perffeatures, struct perfevents *perfevents, unsigned feature,
			      struct str body);

/* One BUILD_ID record, its header included. */
const char *perffeatures_build_id(struct perffeatures *perffeatures, struct str record);

void perffeatures_free(struct perffeatures *perffeatures);

#endif
