/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mappings.h - executable mappings of processes in order of address, one set for each address space.
 *
 * A set is an array of blocks of at most MAPPINGS_BLOCK mappings. An insertion moves only the content of one block and
 * the pointers of the array. With one array of mappings instead, each mmap of a process with 60,000 mappings would move
 * 2 MB. After a fork, parent and child share one set until one of them maps something, and then still share all blocks
 * that did not change.
 *
 * Memory is charged to a tenant (tenants.h), except for the first MAPPINGS_FREE bytes of a set. A mapping that exceeds
 * the tenant's budget or MAPPINGS_MAX is left out: addresses in it have no file, and the caller counts the mapping as a
 * loss. Mappings that it overlaps are removed nevertheless.
 */
#ifndef PJ_MAPPINGS_H
#define PJ_MAPPINGS_H

#include "common/formats/fileid.h"
#include "common/formats/buildid.h"
#include "record/processes/linktable.h"
#include "common/str.h"
#include "common/process/tenants.h"

/* MAPPINGS_MAX: maximum number of executable mappings of one process; further ones are left out (MAPPINGS_OVER).
 * Typical programs have 10 to 300, and .NET with W^X has thousands; vm.max_map_count allows 65,530 mappings of all
 * kinds. MAPPINGS_BLOCK: maximum number of mappings of one block; a full block is split. */
#define MAPPINGS_MAX 16384u
#define MAPPINGS_BLOCK 64u
/* number of bytes of a set that are charged to no tenant: those of about 100 mappings */
#define MAPPINGS_FREE 8192u

/* A mapped file, shared by all mappings with the same file id, path, protection and flags. */
struct mapped_file {
	struct link link;
	struct file_id file_id;
	/* protection and flags of the mappings, as in the MMAP2 record */
	uint32_t protection, flags;
	/* number of mappings that refer to this file */
	uint32_t references;
	/* index of the file's entry in the table of unwind tables (cfitables.h), from the latest lookup; 0: unknown */
	uint32_t table;
	/* build-id of the file; build_id.n is 0 if it is unknown; not part of the key by which files are shared */
	struct build_id build_id;
	/* 1 + serial number of the latest window to whose build-ids the file was added (idlist_add); 0: none; not part
	 * of the key */
	uint64_t window;
	/* true if the path names a libjvm.so (libjvm), a jitdump, or the library or program of an interpreter whose
	 * frames pj can read */
	bool libjvm, jitdump, interpreter;
	/* tenant to which the memory of this struct is charged */
	struct tenant payer;
	/* number of bytes that are charged to `payer`; 0: not charged */
	uint32_t charged;
	/* path as in the MMAP2 record */
	struct str path;
};

/* Returns true if the mapping is memory without a file, in which a process may generate code. */
static inline bool mapped_file_is_memory(const struct mapped_file *file)
{
	return !file->file_id.inode && !str_eq(file->path, STR("[vdso]"));
}

/* An executable mapping. start: virtual address. length: in bytes. offset: file offset in bytes. */
struct mapping {
	uint64_t start, length, offset;
	/* number of this mapping, unique in its pool and never reused; both parts of a split mapping have the same
	 * number */
	uint64_t id;
	struct mapped_file *file;
};

/* A block of at most `cap` mappings in order of address. Several sets may contain one block; such a block has several
 * references and is read-only. charged: bytes charged to `payer`. */
struct mapping_block {
	uint32_t references, n, cap, charged;
	struct tenant payer;
	struct mapping mapping[];
};

/* The set of mappings of one address space, which `references` processes use. n: number of mappings. cap: capacity of
 * block[]. */
struct mappings {
	uint32_t references, n, nblocks, cap;
	/* number that is unique in the pool and changes with each change of the set */
	uint64_t version;
	/* Numbers of mappings of a libjvm.so, of a jitdump, and of an interpreter. */
	uint32_t libjvms, jitdumps, interpreters;
	/* Number of bytes of the blocks and files that were made for this set. Blocks and files up to MAPPINGS_FREE are
	 * not charged. */
	uint32_t bytes;
	/* nblocks non-empty blocks in order of address; their mappings do not overlap */
	struct mapping_block **block;
};

/* State that several sets have in common. The sets of one pool belong to one thread. The zero value is valid. The
 * caller sets `tenants` before it adds the first mapping. */
struct mapping_pool {
	struct linktable files;
	/* version and mapping id that were assigned last */
	uint64_t version, id;
	/* number of mappings in all blocks of the pool */
	size_t mappings;
	/* tenants to which memory is charged; NULL: there are no budgets */
	struct tenants *tenants;
};

/* Result of mappings_put. */
enum mappings_answer {
	/* the set was changed: it has the new mapping */
	MAPPINGS_CHANGED,
	/* The set already has this mapping and is unchanged; mprotect and a second reading of /proc report such
	 * mappings. Never returned for memory without a file in a process that has mapped an interpreter: such memory
	 * may contain other code now, so its mapping gets a new id (MAPPINGS_CHANGED). */
	MAPPINGS_SAME,
	/* the tenant is over budget or the set is full: the mapping is left out, and mappings that it overlaps are
	 * removed */
	MAPPINGS_OVER,
	MAPPINGS_BAD /* the mapping is empty or wraps around the end of the address space; the set is unchanged */
};

/* Returns true if the set has this mapping of this file; false if set is NULL. For readings of /proc: a mapping that is
 * read again has not changed, whereas a record of such a mapping may mean that its memory contains other code. */
bool mappings_has(const struct mappings *set, const struct mapping *mapping, const struct mapped_file *file);

/* Adds a mapping of a file to *set, with a new id, and returns what it changed. Creates *set if it is NULL, and copies
 * it if other processes use it. Removes mappings, or parts of them, that overlap the new one. Ignores mapping->file and
 * mapping->id, and copies *file. payer: tenant to which memory is charged. */
enum mappings_answer mappings_put(struct mapping_pool *pool, struct mappings **set, const struct tenant *payer,
				  const struct mapping *mapping, const struct mapped_file *file);

/* Removes one reference to *set and sets *set to NULL. Frees the set if that was the last reference. *set may be
 * NULL. */
void mappings_drop(struct mapping_pool *pool, struct mappings **set);
/* Frees the pool. The caller has dropped all sets of it. */
void mappings_pool_free(struct mapping_pool *pool);

/* Returns the mapping that contains a virtual address; NULL if there is none. The pointer is valid until the set
 * changes. set must not be NULL. */
const struct mapping *mappings_at(const struct mappings *set, uint64_t address);

/* Loops over all mappings of a set in order of address as `const struct mapping *m`. set must not be NULL. */
#define MAPPINGS_EACH(m, set)                                                                                      \
	for (uint32_t block_ = 0; block_ < (set)->nblocks; block_++)                                               \
		for (const struct mapping *m = (set)->block[block_]->mapping, *end_ = m + (set)->block[block_]->n; \
		     m < end_; m++)

#endif
