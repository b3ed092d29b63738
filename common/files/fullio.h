/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fullio.h - reads or writes all bytes of a descriptor, without messages.
 *
 * The size of a file in /proc is known only after reading it; a read or a write may transfer a part of the bytes, or be
 * interrupted. These functions return failures with errno; in.h and out.h end the tool.
 */
#ifndef PJ_FULLIO_H
#define PJ_FULLIO_H

#include "common/text.h"

/* Appends all bytes of fd to text. Returns false if reading fails (fd may be -1), and with EFBIG after max bytes or
 * some more. The bytes that were read are in text in each case. */
bool fullio_read(int fd, struct text *text, size_t max);

/* As fullio_read, of the file `path` below the folder dir (or AT_FDCWD). */
bool fullio_read_at(int dir, const char *path, struct text *text, size_t max);

/* Reads n bytes at an offset. Returns the number of bytes; fewer than n if the file ends there or cannot be read. */
size_t fullio_pread(int fd, void *to, size_t n, uint64_t at);

/* Writes all of string. Returns false with errno if not all was written. */
bool fullio_write(int fd, struct str string);

/* Copies the first n bytes of the file `from` to the file `to`, without moving the offset of `from`. Returns false with
 * errno if not all was written, or if `from` is shorter (EIO). */
bool fullio_copy(int to, int from, uint64_t n);

/* Writes a file of a folder, mode 0640, by a temporary file (tempfile.h), fsync and rename: after a crash it has all of
 * these bytes, or those that it had before. An entry of that name is replaced, never opened. Returns false with errno.
 * A killed attempt leaves a temporary file: call tempfile_sweep on the folder now and then. */
bool fullio_replace(int folder, const char *name, struct str bytes);

#endif
