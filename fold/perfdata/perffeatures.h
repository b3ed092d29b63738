/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perffeatures.h - reader of the features: host, kernel, command line, event names, build-ids, pjrecord's sections.
 *
 * In file mode, features are sections after the data; in pipe mode, they are FEATURE and BUILD_ID records with the same
 * bodies. Features that pjfold does not use are not read.
 */
#ifndef PJ_PERFFEATURES_H
#define PJ_PERFFEATURES_H

#include "fold/perfdata/perfevents.h"

struct perffeatures {
	/* Description of the recording, from all features except the list of build-ids. */
	struct perfdata_info info;
	/* List of build-ids, in the order of the file. */
	struct perfdata_build_id *build_id;
	size_t nbuild_ids, cap;
	/* Memory of all texts of info and build_id. */
	struct arena text;
};

/* Returns true if perffeatures_read() uses the feature with this number (HEADER_* of perf, FEATURE_PJ_* of pjrecord);
 * false if it ignores the feature. */
bool perffeatures_wants(unsigned feature);

/* Reads the body of a feature into perffeatures->info; the names and ids of EVENT_DESC go to `perfevents`. Returns
 * NULL, or a static text with the error; all data before the error are used. */
const char *perffeatures_read(struct perffeatures *perffeatures, struct perfevents *perfevents, unsigned feature,
			      struct str body);

/* Adds a BUILD_ID record to the list; `record` includes the header. Returns NULL, or a static text with the error. */
const char *perffeatures_build_id(struct perffeatures *perffeatures, struct str record);

/* Frees all memory, info included. */
void perffeatures_free(struct perffeatures *perffeatures);

#endif
