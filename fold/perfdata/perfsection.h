/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfsection.h - copies a perf.data and adds a feature section to it.
 *
 * The table of features follows the data, so one more entry moves the sections after the table; the data and all bytes
 * before keep their offsets. perf and pjfold find sections by their offsets, and skip unknown features. An existing
 * section of the same feature is replaced. The file is hostile: its sections are copied only if the sum of their sizes
 * is at most the size of the file.
 */
#ifndef PJ_PERFSECTION_H
#define PJ_PERFSECTION_H

#include "common/filter/in.h"
#include "common/filter/out.h"
#include "common/formats/perfrecord.h"

/* Header and feature table of a perf.data. */
struct perfsection {
	struct perf_file_header header;
	uint64_t end;                          /* offset of the end of the data */
	struct perf_section section[FEATURES]; /* section of each feature, by feature bit; offset 0 and size 0: none */
};

/* Reads the 256 feature bits that pjrecord writes before the data (common/formats/pjsection.h), from a file with this
 * header. Sets *early to true if the file has them: perf does not write such bits, and old versions of perf wrote other
 * data there. Returns NULL, or a static text with the error; *early is false then. */
const char *perfsection_early(const struct perf_file_header *header, struct in *input, uint64_t features[4],
			      bool *early);

/* Reads header and feature table of an input, which must support in_pread. Returns NULL, or a static text with the
 * reason why no section can be added. */
const char *perfsection_read(struct perfsection *perfsection, struct in *input);

/* Writes the input with section `feature`, whose content is `body`. Returns NULL, or a static text with the error; the
 * output is incomplete then. */
const char *perfsection_write(const struct perfsection *perfsection, struct in *input, struct out *out,
			      unsigned feature, struct str body);

#endif
