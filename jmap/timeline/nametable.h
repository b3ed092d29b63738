/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nametable.h - the names of one timeline: equal names get one id, and each id has a number in the file.
 *
 * A JVM that loads and unloads classes has new names for ever. Names that live code does not use are forgotten when
 * they take more memory than those in use: nametable_renew makes a new generation. A forgotten name that comes again is
 * written again, under another number.
 */
#ifndef PJ_NAMETABLE_H
#define PJ_NAMETABLE_H

#include "common/intern.h"

struct nametable {
	struct intern names;
	uint32_t *number; /* in the file, by id */
	uint32_t cap;
	uint32_t next_number;   /* how many names the file has */
	uint64_t renewed_bytes; /* of memory, after the last renewal */
};

/* The id of a name; *is_new: the file does not have it. */
uint32_t nametable_id(struct nametable *nametable, struct str name, bool *is_new);

/* Memory of the names. */
uint64_t nametable_bytes(const struct nametable *nametable);

/* Forgets all but the names with the ids in used, which become the new ids, if that pays. */
void nametable_renew(struct nametable *nametable, uint32_t *used, size_t n);

/* Forgets all, as does a file that begins anew. */
void nametable_free(struct nametable *nametable);

#endif
