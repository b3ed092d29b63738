/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blobcodec.h - a piece of a JVM's code as a few bytes, from which stacks are walked when the code is gone.
 *
 * What java_piece has, and in place of the code what javaframe.h says of it: nearly everywhere the frame is whole;
 * where it is not, in prologues and epilogues, a run says so. Runs are made from the code's bytes, at the places that
 * such sequences can be at, and answer there as javaframe.h does. All are numbers as in jmapfile.h: kind, frame / 8,
 * entry, complete (these two + 1; 0: JAVA_NEVER), orig_pc, both deopt (offset + 1; 0: none), how many runs, then of
 * each the bytes from the end of the one before, and length - 1 times 4 plus the answer. Reading is pure, of hostile
 * bytes.
 */
#ifndef PJ_BLOBCODEC_H
#define PJ_BLOBCODEC_H

#include "runtimes/hotspot/javaframe.h"
#include "common/text.h"

/* Appends blob, whose code is n bytes; 0: it could not be read, and its frame counts as whole everywhere. */
void blobcodec_encode(struct text *text, const struct code_blob *blob, const void *code, size_t n);

/* The piece that *string begins with, but for start and end, which the caller put into blob; runs are in the bytes of
 * *string. False: none that makes sense. */
bool blobcodec_decode(struct str *string, struct code_blob *blob, struct str *runs);

/* At an offset in the piece that the runs are of. */
enum javaframe blobcodec_how(struct str runs, uint64_t offset);

#endif
