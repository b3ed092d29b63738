/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fullio.h - reads or writes all bytes of a descriptor, without messages.
 *
 * Reasons: the size of a file in /proc is known only after reading it, and a read or a write may transfer a part of the
 * bytes or be interrupted. These functions return failures with errno; in.h and out.h end the tool.
 */
#ifndef PJ_FULLIO_H
#define PJ_FULLIO_H

#include "common/text.h"

/* Appends all bytes of fd to text. Returns false with errno if reading fails (fd may be -1), and with EFBIG if fd has
 * max bytes or more. The bytes that were read are in text in each case. */
bool fullio_read(int fd, struct text *text, size_t max);

/* Like fullio_read, for the file `path` relative to the directory descriptor dir (or AT_FDCWD). */
bool fullio_read_at(int dir, const char *path, struct text *text, size_t max);

/* Reads n bytes at offset `at`. Returns the number of bytes read: fewer than n if the file ends there or cannot be
 * read. */
size_t fullio_pread(int fd, void *to, size_t n, uint64_t at);

/* Writes all bytes of string to fd. Returns false with errno if not all of them were written. */
bool fullio_write(int fd, struct str string);

/* Copies the first n bytes of the file `from` to the file `to`, without moving the offset of `from`. Returns false with
 * errno if not all was written, or if `from` is shorter (EIO). */
bool fullio_copy(int to, int from, uint64_t n);

/* Replaces the file `name` in a folder by one with these bytes and mode 0640, through a temporary file (tempfile.h),
 * fsync and rename: after a crash it has all of these bytes, or those that it had before. An entry of that name is
 * replaced, never opened. Returns false with errno. An attempt that was killed leaves a temporary file, so the caller
 * must call tempfile_sweep on the folder from time to time. */
bool fullio_replace(int folder, const char *name, struct str bytes);

/* Renames an entry, and never replaces one: returns false with EEXIST if there is one of the new name, with EINVAL if
 * the file system cannot do that. */
bool fullio_rename_new(int from, const char *name, int to, const char *new_name);

#endif
