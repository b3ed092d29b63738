/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mappedfile.h - opens the file of a mapping of another process.
 *
 * The process chooses the path and may change its mappings and file systems at any time, so the opened file is compared
 * with device and inode of the mapping.
 */
#ifndef PJ_MAPPEDFILE_H
#define PJ_MAPPEDFILE_H

#include "record/probes/namedmapping.h"

/* Opens the file of a mapping of process pid for reading: by its entry in map_files, or, without the right to that
 * (CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE), by its path below the root directory of the process. Returns -1 with
 * errno; ESTALE if the process has mapped another file there, or another file is at the path. May wait for ever. */
int mappedfile_open(uint32_t pid, const struct namedmapping *mapping);

/* Like mappedfile_open, but in limited time: returns -1 with ETIMEDOUT if the file cannot be opened in time, and with
 * EBUSY or EAGAIN if no attempt was made (timelimit_call). `process` is a descriptor of /proc/PID, which stays open;
 * pid may be a thread of the process. Files of procfs are refused with EINVAL. Files that are not local (hostmounts.h)
 * are refused with EREMOTE, before they are opened: the kernel reads a page of the file when it places a probe, and
 * until that page is read, no process of the host can fork (dup_mmap_sem). */
int mappedfile_open_soon(int process, uint32_t pid, const struct namedmapping *mapping);

#endif
