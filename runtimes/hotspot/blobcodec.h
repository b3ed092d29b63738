/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blobcodec.h - encodes the unwinding data of a code blob in a few bytes, for stack walks after the code is gone.
 *
 * A record has the fields of struct code_blob and, in place of the code bytes, the frame states of javaframe.h. At
 * nearly all offsets the frame is complete; runs describe the other offsets, which are in prologues and epilogues. The
 * encoder calls javaframe_compiled and javaframe_stub wherever their patterns can match, so the runs give the same
 * results as these functions.
 *
 * A record is a sequence of numbers as in jmapfile.h: kind; frame / 8; code_blob.offset[0] + 1 and offset[1] + 1 (0:
 * BLOB_NEVER); offset[2]; both deopt handlers (offset + 1; 0: none); number of runs; then for each run the number of
 * bytes since the end of the previous run, and (length - 1) * 4 + enum javaframe. Decoding is pure and accepts hostile
 * bytes.
 */
#ifndef PJ_BLOBCODEC_H
#define PJ_BLOBCODEC_H

#include "runtimes/hotspot/javaframe.h"
#include "common/text.h"

/* Appends the record of a code blob to text. code has the first n code bytes of the blob. n = 0 means that the code
 * is unreadable: the frame then counts as complete at all offsets. */
void blobcodec_encode(struct text *text, const struct code_blob *blob, const void *code, size_t n);

/* Decodes the record at the start of *string and removes it from *string. The caller sets start and end of *blob
 * before; this function sets all other fields. *runs then refers to bytes of *string. Returns false if the record is
 * malformed or truncated. */
bool blobcodec_decode(struct str *string, struct code_blob *blob, struct str *runs);

/* Returns the frame state at an offset, in bytes from the blob's start. runs is the result of blobcodec_decode,
 * which has checked its bytes. A callback javaunwind_code.how returns this result. */
enum javaframe blobcodec_how(struct str runs, uint64_t offset);

#endif
