/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blobcodec.h - stores a code blob's unwinding data in a few bytes, for stack walks after the code is gone.
 *
 * A record has the fields of struct code_blob and, in place of the code bytes, the frame states of javaframe.h. At
 * nearly all offsets the frame is complete; runs describe the other offsets, in prologues and epilogues. The encoder
 * evaluates javaframe_compiled and javaframe_stub at the offsets where their patterns can match, so the runs give the
 * same answers.
 *
 * A record is a sequence of numbers as in jmapfile.h: kind; frame / 8; code_blob.offset[0] + 1 and offset[1] + 1 (0:
 * BLOB_NEVER); offset[2]; both deopt handlers (offset + 1; 0: none); number of runs; then for each run the bytes from
 * the end of the one before, and (length - 1) * 4 + enum javaframe. Decoding is pure and accepts hostile bytes.
 */
#ifndef PJ_BLOBCODEC_H
#define PJ_BLOBCODEC_H

#include "runtimes/hotspot/javaframe.h"
#include "common/text.h"

/* Appends the record of blob to text. code has the first n code bytes of blob; n = 0 if the code is unreadable: the
 * frame of blob then counts as complete at all offsets. */
void blobcodec_encode(struct text *text, const struct code_blob *blob, const void *code, size_t n);

/* Decodes the record at the start of *string and advances *string beyond the record. The caller sets blob->start and
 * blob->end before; the function sets all other fields. *runs points into the bytes of *string. Returns false if the
 * record is malformed or cut off. */
bool blobcodec_decode(struct str *string, struct code_blob *blob, struct str *runs);

/* Returns the frame state at an offset, in bytes from the blob's start. runs is the result of blobcodec_decode, which
 * has checked its bytes. A callback javaunwind_code.how returns this result. */
enum javaframe blobcodec_how(struct str runs, uint64_t offset);

#endif
