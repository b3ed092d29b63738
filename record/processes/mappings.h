/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mappings.h - the executable mappings of processes, by address, as one set for each address space.
 *
 * A set is a row of blocks of at most MAPPINGS_BLOCK mappings. An insertion moves what is in one block and the row's
 * pointers, so its cost does not grow with the number of mappings as that of one array does: of 60,000 mappings, 2 MB
 * were moved for each mmap. Forks share their parent's set until one of them maps something, and then all blocks that
 * neither changed.
 *
 * Memory is charged to a tenant (tenants.h), but for the first MAPPINGS_FREE bytes of a set. A mapping over the budget,
 * or over MAPPINGS_MAX, is left out: addresses in it have no file, and the caller counts it. What it replaces is
 * removed all the same.
 */
#ifndef PJ_MAPPINGS_H
#define PJ_MAPPINGS_H

#include "common/formats/fileid.h"
#include "common/formats/buildid.h"
#include "record/processes/linktable.h"
#include "common/str.h"
#include "common/process/tenants.h"

/* Executable mappings of one process. Typical programs have 10 to 300 of them, .NET with W^X some thousands;
 * vm.max_map_count allows 65,530 of all kinds. */
#define MAPPINGS_MAX 16384u
#define MAPPINGS_BLOCK 64u
#define MAPPINGS_FREE 8192u /* bytes of a set that no tenant is charged for: about 100 mappings */

/* What a mapping maps: the same for all processes that have it. */
struct mapped_file {
	struct link link;
	struct file_id file_id;
	uint32_t protection, flags;
	uint32_t references;
	uint32_t table; /* of cfitables.h: its number there, as it was last; 0: not known */
	/* The next two do not distinguish files. */
	struct build_id build_id; /* n is 0 while it is unknown */
	uint64_t window;          /* serial + 1 of the window that has its build-id already */
	bool libjvm, jitdump;     /* by its path */
	struct tenant payer;
	uint32_t charged; /* bytes */
	struct str path;  /* as in MMAP2 */
};

struct mapping {
	uint64_t start, length, offset;
	uint64_t id; /* unique, also over time; both parts of a split mapping keep it */
	struct mapped_file *file;
};

struct mapping_block {
	uint32_t references, n, cap, charged;
	struct tenant payer;
	struct mapping mapping[];
};

struct mappings {
	uint32_t references, n, nblocks, cap;
	uint64_t version;             /* another one whenever the contents are */
	uint32_t libjvms, jitdumps;   /* mappings of such files */
	uint32_t bytes;               /* of the blocks and files that were made for this set */
	struct mapping_block **block; /* none is empty; by address, without overlaps */
};

/* What all sets share. */
struct mapping_pool {
	struct linktable files;
	uint64_t version, id;    /* the last that were given */
	size_t mappings;         /* in all blocks */
	struct tenants *tenants; /* NULL: no budgets */
};

enum mappings_answer {
	MAPPINGS_CHANGED,
	MAPPINGS_SAME, /* the set has this mapping already, as mprotect and a second reading of /proc report it */
	MAPPINGS_OVER, /* over a budget: the mapping is left out */
	MAPPINGS_BAD   /* empty, or around the end of memory */
};

/* Puts a mapping of a file into *set, which is made if it is NULL, and copied if it is shared; mapping->file and ->id
 * are not looked at, and the file is copied. */
enum mappings_answer mappings_put(struct mapping_pool *pool, struct mappings **set, const struct tenant *payer,
				  const struct mapping *mapping, const struct mapped_file *file);

void mappings_drop(struct mapping_pool *pool, struct mappings **set); /* *set becomes NULL */
void mappings_pool_free(struct mapping_pool *pool);                   /* after all sets were dropped */

/* The mapping that an address lies in; NULL: none. Valid until the set changes. */
const struct mapping *mappings_at(const struct mappings *set, uint64_t address);

/* All mappings, by address. set may not be NULL. */
#define MAPPINGS_EACH(m, set)                                                                                      \
	for (uint32_t block_ = 0; block_ < (set)->nblocks; block_++)                                               \
		for (const struct mapping *m = (set)->block[block_]->mapping, *end_ = m + (set)->block[block_]->n; \
		     m < end_; m++)

#endif
