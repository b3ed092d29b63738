/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fileid.h - the identity of a mapped file: device, inode and inode generation, as an MMAP2 record has them.
 *
 * A path may be that of several files (one for each container), and the path of a file in memory is anything; these
 * numbers identify one file of one boot, as long as it exists. All four are compared.
 */
#ifndef PJ_FILEID_H
#define PJ_FILEID_H

#include <stdbool.h>
#include <stdint.h>

struct file_id {
	uint32_t major, minor;
	uint64_t inode, generation; /* inode 0: no file, or the record has a build-id in place of these numbers */
};

static inline bool file_id_equal(const struct file_id *a, const struct file_id *b)
{
	return a->major == b->major && a->minor == b->minor && a->inode == b->inode && a->generation == b->generation;
}

#endif
