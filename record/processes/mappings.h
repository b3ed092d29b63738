/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mappings.h - executable mappings of processes, ordered by address, as one set for each address space.
 *
 * A set is a row of blocks of at most MAPPINGS_BLOCK mappings. An insertion moves the content of one block and the
 * row's pointers, so its cost does not grow with the number of mappings as that of one array does: with 60,000
 * mappings, 2 MB were moved for each mmap. Forks share their parent's set until one of them maps something, and then
 * all blocks that neither changed.
 *
 * Memory is charged to a tenant (tenants.h), except for the first MAPPINGS_FREE bytes of a set. A mapping over the
 * budget, or over MAPPINGS_MAX, is left out: addresses in it have no file, and the caller counts it. Mappings that
 * it overlaps are removed all the same.
 */
#ifndef PJ_MAPPINGS_H
#define PJ_MAPPINGS_H

#include "common/formats/fileid.h"
#include "common/formats/buildid.h"
#include "record/processes/linktable.h"
#include "common/str.h"
#include "common/process/tenants.h"

/* Maximum number of executable mappings of one process. Typical programs have 10 to 300 of them, .NET with W^X some
 * thousands; vm.max_map_count allows 65,530 of all kinds. */
#define MAPPINGS_MAX 16384u
#define MAPPINGS_BLOCK 64u
#define MAPPINGS_FREE 8192u /* bytes of a set that are charged to no tenant: about 100 mappings */

/* A mapped file, shared by all processes that map it. */
struct mapped_file {
	struct link link;
	struct file_id file_id;
	/* of the mapping, as in the MMAP2 record */
	uint32_t protection, flags;
	/* number of mappings that refer to it */
	uint32_t references;
	/* last known index in the unwind tables of cfitables.h; 0 if unknown */
	uint32_t table;
	/* The next two members do not distinguish files. */
	/* n is 0 while the build-id is unknown */
	struct build_id build_id;
	/* serial + 1 of the latest window that has its build-id */
	uint64_t window;
	/* derived from its path */
	bool libjvm, jitdump;
	/* tenant that pays for the memory */
	struct tenant payer;
	/* bytes that were charged to payer */
	uint32_t charged;
	/* as in the MMAP2 record */
	struct str path;
};

/* An executable mapping; start, length and offset are in bytes. */
struct mapping {
	uint64_t start, length, offset;
	/* never reused, so it identifies a mapping over time; both parts of a split mapping have the same id */
	uint64_t id;
	struct mapped_file *file;
};

/* Mappings in order of address. Blocks with several references are read-only. */
struct mapping_block {
	uint32_t references, n, cap, charged;
	struct tenant payer;
	struct mapping mapping[];
};

/* The set of one address space, shared by `references` processes. */
struct mappings {
	uint32_t references, n, nblocks, cap;
	/* changes with each change of the contents */
	uint64_t version;
	/* number of mappings of such files */
	uint32_t libjvms, jitdumps;
	/* bytes of the blocks and files that were made for this set */
	uint32_t bytes;
	/* nblocks blocks in order of address, none of them empty, without overlaps */
	struct mapping_block **block;
};

/* State that all sets share; sets of one pool belong to one thread. The zero value is valid. The caller sets `tenants`
 * before the first mapping. */
struct mapping_pool {
	struct linktable files;
	/* latest values that were assigned */
	uint64_t version, id;
	/* number of mappings in all blocks */
	size_t mappings;
	/* NULL for no budgets */
	struct tenants *tenants;
};

/* Results of mappings_put. */
enum mappings_answer {
	MAPPINGS_CHANGED,
	MAPPINGS_SAME, /* the set had this mapping, as reported by mprotect or by a second reading of /proc */
	MAPPINGS_OVER, /* over a budget; the mapping is left out */
	MAPPINGS_BAD   /* the mapping is empty, or wraps around the end of memory */
};

/* Adds a mapping of a file to *set, which is created if it is NULL and copied if it is shared. Removes mappings, or
 * parts of them, that it overlaps. mapping->file and mapping->id are ignored, and *file is copied. */
enum mappings_answer mappings_put(struct mapping_pool *pool, struct mappings **set, const struct tenant *payer,
				  const struct mapping *mapping, const struct mapped_file *file);

/* Drops the reference to a set and sets *set to NULL. */
void mappings_drop(struct mapping_pool *pool, struct mappings **set);
/* Frees the pool. Call it after all sets were dropped. */
void mappings_pool_free(struct mapping_pool *pool);

/* Returns the mapping that contains an address, or NULL. Valid until the set changes. */
const struct mapping *mappings_at(const struct mappings *set, uint64_t address);

/* Visits all mappings in order of address. set must not be NULL. */
#define MAPPINGS_EACH(m, set)                                                                                      \
	for (uint32_t block_ = 0; block_ < (set)->nblocks; block_++)                                               \
		for (const struct mapping *m = (set)->block[block_]->mapping, *end_ = m + (set)->block[block_]->n; \
		     m < end_; m++)

#endif
