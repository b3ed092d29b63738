/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jitrecords.h - finds the end of the complete records of a jitdump.
 *
 * The sizes in the file are hostile, so this module runs in a helper process without rights (symparser.h).
 */
#ifndef PJ_JITRECORDS_H
#define PJ_JITRECORDS_H

#include "record/jit/jitcopy.h"

/* Sets *end to the end of the complete records in a span of a jitdump. Stops after the record with which the complete
 * records reach span->max bytes; a later call continues there. Returns RECORDS_OK, RECORDS_BAD or RECORDS_LARGE. */
enum jitcopy_records jitrecords_end(int fd, const struct jitcopy_span *span, uint64_t *end);

#endif
