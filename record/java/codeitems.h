/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codeitems.h - table of the code blobs of a JVM that were on stacks (struct codenames_jvm of codenames.h), and the
 * writing of their items PJ_ITEM_CODE and PJ_ITEM_CODE_NAMES for a window.
 *
 * codenames.c and codeitems.c alone include this header.
 */
#ifndef PJ_CODEITEMS_H
#define PJ_CODEITEMS_H

#include "common/nametable.h"
#include "record/java/codenames.h"

/* number of a name that has not been written yet, and number in a row for a name that could not be read */
#define CODEITEMS_NO_NAME UINT32_MAX

enum code_state {
	CODE_FREE,
	CODE_WANTED, /* the description of the blob has not been read yet */
	CODE_NAMED,
	CODE_UNNAMED /* the blob has no name, or its code changed before the name was proven */
};

struct code_entry {
	enum code_state state;
	unsigned tries;
	struct blob blob;
	/* serial number of this entry, unique in the JVM; its id is used again after the entry is freed */
	uint64_t serial;
	/* times in ns of the first and last frame or check in this window; `until` is 0 before a frame is in the blob
	 */
	uint64_t from, until;
	/* true if the cache of code blobs contains the blob, according to codenames_add or codenames_keep */
	bool cached;
	bool written; /* true if the description was written to a stream */
	uint32_t next_free;
	/* codenames_jvm.check at the last check that found the blob unchanged; 0: there was none */
	uint64_t check;
	/* For an nmethod, array of `nmethods` Method*: the compiled method, then the inlined ones. NULL before the
	 * description is read, after codenames_settle, and for a blob that is not an nmethod. */
	uint64_t *method;
	uint32_t nmethods;
	/* rows: a struct pj_code with its tree of inlined calls for each range of the blob; name: ids, in the name
	 * table, of the names of all rows in their order */
	struct text rows;
	uint32_t *name;
	uint32_t nnames;
};

/* Cached name of a Method*. It is valid as long as its proof exists: the entry of an nmethod that refers to the
 * Method*. */
struct code_method {
	uint32_t name; /* id of the name in the name table; 0: the name could not be read */
	/* proof: id of the entry of the nmethod that proves the name, 0 if the name is not proven; serial: serial
	 * number of that entry */
	uint32_t proof;
	uint64_t serial;
	bool refuted; /* true: the proof has changed, so the name must be read again before it is used */
};

struct codenames_jvm {
	struct codenames *owner;
	uint32_t pid, number;
	struct tenant tenant;
	bool closed;
	struct code_entry *entry; /* entries by id: the entry of an id is at index id - 1 */
	/* n: number of elements of `entry`; free: id of the first free element, 0 if there is none */
	uint32_t n, free;
	uint32_t nwanted;
	uint64_t serial, left_out;
	struct nametable names;
	uint32_t names_written; /* number of names that have been written, and number of the next one */
	struct intern methods;
	struct code_method *method; /* name of each Method* in `methods`, at index id - 1 */
	size_t bytes;               /* bytes of memory charged to the JVM's tenant */
	uint32_t nfreed;            /* number of entries freed since codenames_renew last dropped names */
	/* missing: array that codenames_missing returned; proof: array that codenames_proofs returned; proof_id: ids of
	 * the entries of `proof` */
	uint64_t *missing;
	struct blob *proof;
	uint32_t *proof_id;
	size_t nproofs;
	/* number of checks by take_check so far; entry.check refers to it */
	uint64_t check;
};

/* Returns the entry of an id. id: 1 to jvm->n. */
static inline struct code_entry *codeentry_of(const struct codenames_jvm *jvm, uint32_t id)
{
	return &jvm->entry[id - 1];
}

/* Appends the items PJ_ITEM_CODE and PJ_ITEM_CODE_NAMES of all entries that have a name and had a frame in this window.
 * stream: true: the recording is written to a pipe, so only new entries, and entries that have left the cache, are
 * appended. */
void codeitems_put(struct codenames_jvm *jvm, bool stream, struct text *text);

#endif
