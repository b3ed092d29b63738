/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jitrecords.h - where the complete records of a jitdump end. Sizes in it are its author's: runs in a process without
 * rights (symparser.h).
 */
#ifndef PJ_JITRECORDS_H
#define PJ_JITRECORDS_H

#include "record/jit/jitcopy.h"

/* The end of the complete records of a span of a jitdump, about span->max bytes of them, in *end: between span->at and
 * span->size. */
enum jitcopy_records jitrecords_end(int fd, const struct jitcopy_span *span, uint64_t *end);

#endif
