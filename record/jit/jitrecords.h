/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jitrecords.h - finds the end of the complete records of a jitdump.
 *
 * Sizes in the file are hostile, so this module runs in a process without rights (symparser.h).
 */
#ifndef PJ_JITRECORDS_H
#define PJ_JITRECORDS_H

#include "record/jit/jitcopy.h"

/* Sets *end to the end of the complete records in a span of a jitdump. Stops after the record that exceeds span->max
 * bytes, so that a later call continues there. */
enum jitcopy_records jitrecords_end(int fd, const struct jitcopy_span *span, uint64_t *end);

#endif
