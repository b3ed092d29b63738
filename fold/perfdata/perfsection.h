/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfsection.h - copies a perf.data and adds a feature section to it.
 *
 * The table of the features follows the data, so one more entry moves the sections behind the table; the data and all
 * before it stay where they are. perf and pjfold find sections by their offsets, and skip features that they do not
 * know. A section with the same bit is replaced. The file is hostile: its sections are copied only if their sum is not
 * larger than the file.
 */
#ifndef PJ_PERFSECTION_H
#define PJ_PERFSECTION_H

#include "common/filter/in.h"
#include "common/filter/out.h"
#include "common/formats/perfrecord.h"

/* The parts of the file before the data's end, and of the table behind it. */
struct perfsection {
	struct perf_file_header header;
	uint64_t end;                          /* offset of the end of the data */
	struct perf_section section[FEATURES]; /* by bit; size 0 and offset 0: none */
};

/* Reads the header and the table of an input that in_pread can read. Returns NULL, or a static text with the reason why
 * no section can be added to it. */
const char *perfsection_read(struct perfsection *perfsection, struct in *input);

/* Writes the input with section `feature`, whose content is `body`. Returns NULL, or a static text with the error: then
 * the output is incomplete. */
const char *perfsection_write(const struct perfsection *perfsection, struct in *input, struct out *out,
			      unsigned feature, struct str body);

#endif
