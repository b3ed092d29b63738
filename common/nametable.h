/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nametable.h - names in a file that describes the code of a JVM: equal names have one id, and each id has a number in
 * the file.
 *
 * A JVM that loads and unloads classes has an unlimited number of names. nametable_renew drops names that live code
 * does not use when they take more memory than the used ones. If a dropped name appears again, it is written again with
 * another number.
 */
#ifndef PJ_NAMETABLE_H
#define PJ_NAMETABLE_H

#include "common/intern.h"

struct nametable {
	struct intern names;
	uint32_t *number; /* number in the file of each id */
	uint32_t cap;
	uint32_t next_number;   /* number of the next name, which is the number of names in the file */
	uint64_t renewed_bytes; /* bytes of memory that the table used after the last renewal */
};

/* Returns the id of a name. *is_new is true if the file does not have the name yet: the caller then writes the name
 * with number[id] into the file. Numbers ascend in the order of the first calls. */
uint32_t nametable_id(struct nametable *nametable, struct str name, bool *is_new);

/* Returns the number of bytes of memory that the table uses. */
uint64_t nametable_bytes(const struct nametable *nametable);

/* Drops all names except those with the n ids in used[], if the table uses twice the memory of the last renewal and at
 * least 512 kB. Replaces the ids in used[] by the new ones. */
void nametable_renew(struct nametable *nametable, uint32_t *used, size_t n);

/* Drops all names and frees the memory; also for the start of a new file, in which numbers start at 0 again. */
void nametable_free(struct nametable *nametable);

#endif
