/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nametable.h - the names that a code timeline of a JVM refers to: equal names have one id, and each id has a number in
 * the file.
 *
 * A JVM that loads and unloads classes has an unlimited number of names. So nametable_renew drops the names that live
 * code does not use once the table has doubled in size. If a dropped name appears again, it is written to the file
 * again, with another number.
 */
#ifndef PJ_NAMETABLE_H
#define PJ_NAMETABLE_H

#include "common/intern.h"

struct nametable {
	struct intern names;
	uint32_t *number; /* number of each name in the file, by id */
	uint32_t cap;
	uint32_t next_number;   /* number that the next new name gets, which is the number of names in the file */
	uint64_t renewed_bytes; /* size of the table in bytes of memory after the last renewal */
};

/* Returns the id of a name. Sets *is_new to true if the name is not in the file yet: the caller must then append it to
 * the file, where its number is number[id]. Numbers ascend in the order of the calls. */
uint32_t nametable_id(struct nametable *nametable, struct str name, bool *is_new);

/* Returns the number of bytes of memory that the table uses. */
uint64_t nametable_bytes(const struct nametable *nametable);

/* Drops all names except those with the n ids in used[], if the table has twice the size that it had after the last
 * renewal, and at least 512 kB. Replaces each id in used[] by the new id of the same name. */
void nametable_renew(struct nametable *nametable, uint32_t *used, size_t n);

/* Drops all names and frees their memory. Writers also call it at the start of a new file, in which numbers start at 0
 * again. */
void nametable_free(struct nametable *nametable);

#endif
