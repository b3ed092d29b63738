/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fullio.h - reads or writes all bytes of a descriptor, without messages.
 *
 * The size of files in /proc is known only after reading them; a read or a write may do a part, or be interrupted. Who
 * is to die of a failure uses in.h and out.h; here it is a value, with errno.
 */
#ifndef PJ_FULLIO_H
#define PJ_FULLIO_H

#include "common/text.h"

/* Appends what comes from fd, up to its end. False: it cannot be read (fd may be -1), or EFBIG: `most` bytes or some
 * more were appended, and there may be others. What was read is there in any case. */
bool fullio_read(int fd, struct text *text, size_t max);

/* The same of a file below a folder (AT_FDCWD). */
bool fullio_read_at(int dir, const char *path, struct text *text, size_t max);

/* n bytes at an offset; fewer: the file ends there, or cannot be read. */
size_t fullio_pread(int fd, void *to, size_t n, uint64_t at);

/* False: not all of it was written. */
bool fullio_write(int fd, struct str string);

/* Writes the first n bytes of the file `from` to another one; its offset stays as it is. False and errno: not all of it
 * was written, or `from` is shorter (EIO). */
bool fullio_copy(int to, int from, uint64_t n);

/* Writes a file of a folder, mode 0640, by a temporary file (tempfile.h), fsync and rename: after a crash it has all of
 * these bytes, or those that it had before. An entry of that name is replaced, never opened. Returns false with errno.
 * A killed attempt leaves a temporary file: call tempfile_sweep on the folder now and then. */
bool fullio_replace(int folder, const char *name, struct str bytes);

#endif
