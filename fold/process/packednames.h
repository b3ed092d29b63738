/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packednames.h - the results of lookups in a packed recording, for resolve.h: reads them, and collects them for
 * pjpack.
 *
 * The names in a packed recording are those that pjfold found on the recorded machine. They suffice: files of this
 * machine are searched only if the user names a source (--symfs, --symbol-store, --kallsyms), or requests inlined calls
 * that the recording lacks, and then complete the names of the recording but never replace them.
 */
#ifndef PJ_PACKEDNAMES_H
#define PJ_PACKEDNAMES_H

#include "fold/process/addrspace.h"
#include "fold/symbolized/symbolizedwriter.h"

/* The lookups of one DSO. The owner sets the members up to `packed`, before the other functions are called; `why` is
 * the result. */
struct packednames {
	/* n queries in ascending order of addresses, and by query the id of its module; ids are those of `raw`. */
	struct symbols_query *query;
	uint32_t *module;
	size_t n;
	struct intern *raw;
	const struct dso *dso;
	const struct symstore *symstore;
	/* Use no names of the recording (--as-perf); look up inlined calls; the user named a source of names. */
	bool as_perf, inlined, named_source;
	/* The writer of pjpack; NULL: none. */
	struct symbolizedwriter *packed;
	/* Reason for addresses without a name: a number of resolve.h. */
	unsigned why;

	const struct symbolized *symbolized;
	struct symbolized_rows rows;
	/* Key of the DSO (symbolized.h). */
	struct text key;
};

/* Returns true if the recording is packed and has names of the DSO. */
bool packednames_open(struct packednames *names, const struct recorder *recorder);
/* Returns true if the usual sources must be searched, too. */
bool packednames_needs_more(const struct packednames *names);
/* Sets the results of the queries for which the recording has a name, and the reason for the others. */
void packednames_take(struct packednames *names);
/* Passes the results to the writer of pjpack, if there is one, and frees memory. */
void packednames_close(struct packednames *names);

#endif
