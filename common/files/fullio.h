/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fullio.h - reads or writes all bytes of a descriptor, without messages.
 *
 * One read() or write() may transfer only a part of the bytes or be interrupted, and the size of a file in /proc is
 * known only after it is read. These functions return failures with errno, in contrast to common/filter/in.h and out.h,
 * which end the tool.
 */
#ifndef PJ_FULLIO_H
#define PJ_FULLIO_H

#include "common/text.h"

/* Appends all bytes of fd to text. Returns false with errno if fd cannot be read (fd may be -1), and with EFBIG if fd
 * has max bytes or more. On failure, too, text has the bytes that were read. */
bool fullio_read(int fd, struct text *text, size_t max);

/* Like fullio_read, but opens the file `path`, relative to the directory descriptor dir (or AT_FDCWD). */
bool fullio_read_at(int dir, const char *path, struct text *text, size_t max);

/* Reads n bytes at file offset `at` to `to`. Returns the number of bytes read: fewer than n at the end of the file or
 * on a read error. */
size_t fullio_pread(int fd, void *to, size_t n, uint64_t at);

/* Writes all bytes of string to fd. Returns false with errno on failure; then some bytes may have been written. */
bool fullio_write(int fd, struct str string);

/* Copies the first n bytes of the file `from` to the file `to`, without moving the offset of `from`. Returns false with
 * errno on failure, EIO if `from` has fewer bytes. */
bool fullio_copy(int to, int from, uint64_t n);

/* Replaces the file `name` in the folder of descriptor `folder` by a file with these bytes and mode 0640. The bytes go
 * through a temporary file (tempfile.h), fsync and rename, so after a crash the file has either all new bytes or its
 * old ones. An existing entry of this name is never opened. Returns false with errno. A process that is killed
 * meanwhile leaves the temporary file, so the caller must call tempfile_sweep on the folder from time to time. */
bool fullio_replace(int folder, const char *name, struct str bytes);

/* Renames the entry `name` of folder `from` to new_name in folder `to`, without replacing an existing entry. Returns
 * false with errno: EEXIST if new_name exists, EINVAL if the file system does not support RENAME_NOREPLACE. */
bool fullio_rename_new(int from, const char *name, int to, const char *new_name);

/* Like fullio_rename_new, for a regular file, also on file systems without RENAME_NOREPLACE (NFS): there it links the
 * file under the new name and then removes the old name. An existing entry is not replaced there either, but a process
 * that is killed in between leaves the file under both names. Returns false with errno: EEXIST if new_name exists,
 * EINVAL if the file system lacks RENAME_NOREPLACE and the entry cannot be linked: no hard links, or a directory. */
bool fullio_move_new(int from, const char *name, int to, const char *new_name);

#endif
