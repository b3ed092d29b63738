/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fileid.h - the identity of a mapped file: device, inode and inode generation, as in an MMAP2 record.
 *
 * Several files can have the same path (one in each container), and a file in memory can have any path. The four
 * numbers of struct file_id together identify a file as long as it exists and the host runs.
 */
#ifndef PJ_FILEID_H
#define PJ_FILEID_H

#include <stdbool.h>
#include <stdint.h>

struct file_id {
	uint32_t major, minor;
	/* inode and its generation. inode 0: the mapping has no file, or its record has a build-id in place of these
	 * numbers */
	uint64_t inode, generation;
};

static inline bool file_id_equal(const struct file_id *a, const struct file_id *b)
{
	return a->major == b->major && a->minor == b->minor && a->inode == b->inode && a->generation == b->generation;
}

#endif
