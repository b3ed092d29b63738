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

/* Maximum number of executable mappings of one process. Typical programs have 10 to 300, .NET with W^X has thousands;
 * vm.max_map_count allows 65,530 mappings of all kinds. */
#define MAPPINGS_MAX 16384u
#define MAPPINGS_BLOCK 64u
#define MAPPINGS_FREE 8192u /* first bytes of a set, which are charged to no tenant: about 100 mappings */

/* A mapped file, shared by all mappings with the same file id, path, protection and flags. */
struct mapped_file {
	struct link link;
	struct file_id file_id;
	/* protection and flags of the mapping, as in the MMAP2 record */
	uint32_t protection, flags;
	/* number of mappings that refer to this file */
	uint32_t references;
	/* index of the file's unwind table when last looked up (cfitables.h); 0 if unknown */
	uint32_t table;
	/* The members build_id and window do not distinguish files. */
	/* build-id of the file; build_id.n is 0 while it is unknown */
	struct build_id build_id;
	/* 1 + serial number of the latest window to whose build-ids the file was added (idlist_add); 0 if there was
	 * none */
	uint64_t window;
	/* true if the path is that of a libjvm.so, of a jitdump, or of an interpreter whose frames can be read */
	bool libjvm, jitdump, interpreter;
	/* tenant to which the memory of this struct is charged */
	struct tenant payer;
	/* number of bytes that are charged to payer */
	uint32_t charged;
	/* path as in the MMAP2 record */
	struct str path;
};

/* Returns true if the mapping is of memory without a file, in which a process generates code. */
static inline bool mapped_file_is_memory(const struct mapped_file *file)
{
	return !file->file_id.inode && !str_eq(file->path, STR("[vdso]"));
}

/* An executable mapping. start is its address; length and offset in the file are in bytes. */
struct mapping {
	uint64_t start, length, offset;
	/* number of this mapping, which is never reused; both parts of a split mapping have the same one */
	uint64_t id;
	struct mapped_file *file;
};

/* A block of mappings in order of address. A block with several references is shared by several sets, and is
 * read-only. */
struct mapping_block {
	uint32_t references, n, cap, charged;
	struct tenant payer;
	struct mapping mapping[];
};

/* The set of mappings of one address space, shared by `references` processes. */
struct mappings {
	uint32_t references, n, nblocks, cap;
	/* number that changes with each change of the set */
	uint64_t version;
	/* number of mappings of a libjvm.so, of jitdumps, and of interpreters */
	uint32_t libjvms, jitdumps, interpreters;
	/* bytes of the blocks and files that were made for this set; below MAPPINGS_FREE they are not charged */
	uint32_t bytes;
	/* nblocks non-empty blocks in order of address, whose mappings do not overlap */
	struct mapping_block **block;
};

/* State that all sets share. The sets of one pool belong to one thread. The zero value is valid. The caller sets
 * `tenants` before it adds the first mapping. */
struct mapping_pool {
	struct linktable files;
	/* version and id that were assigned last */
	uint64_t version, id;
	/* number of mappings in all blocks of the pool */
	size_t mappings;
	/* table of tenants to charge; NULL for no budgets */
	struct tenants *tenants;
};

/* Result of mappings_put. */
enum mappings_answer {
	MAPPINGS_CHANGED,
	/* The set had this mapping already; mprotect and a second reading of /proc report such mappings. Never returned
	 * for memory without a file of CPython: the code in it may be other code now, which gets an id of its own. */
	MAPPINGS_SAME,
	MAPPINGS_OVER, /* the payer is over budget or the set is full; the mapping is left out */
	MAPPINGS_BAD   /* the mapping is empty or wraps around the end of memory; the set is unchanged */
};

/* Returns true if the set has this mapping of this file. Accepts NULL. A reading of /proc that shows it again is no
 * sign that code in memory without a file has changed: a record would be. */
bool mappings_has(const struct mappings *set, const struct mapping *mapping, const struct mapped_file *file);

/* Adds a mapping of a file to *set, which is created if it is NULL, and copied if it is shared. Removes mappings, or
 * parts of them, that overlap the new one. Ignores mapping->file and mapping->id, and copies *file. */
enum mappings_answer mappings_put(struct mapping_pool *pool, struct mappings **set, const struct tenant *payer,
				  const struct mapping *mapping, const struct mapped_file *file);

/* Drops one reference to *set and sets *set to NULL. Frees the set if that was the last reference. */
void mappings_drop(struct mapping_pool *pool, struct mappings **set);
/* Frees the pool. Call it after all sets were dropped. */
void mappings_pool_free(struct mapping_pool *pool);

/* Returns the mapping that contains an address, or NULL. The pointer is valid until the set changes. */
const struct mapping *mappings_at(const struct mappings *set, uint64_t address);

/* Visits all mappings of a set in order of address as `const struct mapping *m`. set must not be NULL. */
#define MAPPINGS_EACH(m, set)                                                                                      \
	for (uint32_t block_ = 0; block_ < (set)->nblocks; block_++)                                               \
		for (const struct mapping *m = (set)->block[block_]->mapping, *end_ = m + (set)->block[block_]->n; \
		     m < end_; m++)

#endif
