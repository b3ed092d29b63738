/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packednames.h - reads the results of symbol lookups from a packed recording, and collects results for pjpack.
 *
 * A packed recording contains the names that pjfold found on the recorded machine. These names suffice: files of this
 * machine are searched only if the user names a source (--symfs, --symbol-store, --kallsyms), or requests inlined calls
 * that the recording lacks. Names from these files are added to the names of the recording, but never replace them.
 */
#ifndef PJ_PACKEDNAMES_H
#define PJ_PACKEDNAMES_H

#include "fold/process/addrspace.h"
#include "fold/symbolized/symbolizedwriter.h"

/* The lookups of one DSO. The owner sets the members up to `packed` before it calls the functions below; `why` is a
 * result. */
struct packednames {
	/* n queries in ascending order of addresses. module[i] is the id of the module of query[i]; ids belong to
	 * `raw`. */
	struct symbols_query *query;
	uint32_t *module;
	size_t n;
	struct intern *raw;
	const struct dso *dso;
	const struct symstore *symstore;
	/* as_perf: true: names of the recording are not used (--as-perf). inlined: true: inlined calls are looked up,
	 * too. named_source: true if the user named a source of names (--symfs, --symbol-store or --kallsyms). */
	bool as_perf, inlined, named_source;
	/* pjpack's writer, which stores the results; NULL in other tools. */
	struct symbolizedwriter *packed;
	/* Result: reason why addresses without a name have none (enum resolve_why). */
	unsigned why;

	/* Set by packednames_open. symbolized: the names of a packed recording; NULL: the recording is not packed.
	 * rows: position of the next name of the DSO in them. */
	const struct symbolized *symbolized;
	struct symbolized_rows rows;
	/* Key of the DSO (symbolized.h). */
	struct text key;
};

/* Finds the names of the DSO in a packed recording. Returns true if the recording is packed and has names of the DSO,
 * and --as-perf is not given; false: the names must be looked up in files. */
bool packednames_open(struct packednames *names, const struct recorder *recorder);
/* Returns true if files of this machine must be searched after the recording: the user named a source of names, or
 * requests inlined calls that the recording lacks. Returns false if the names of the recording suffice. */
bool packednames_needs_more(const struct packednames *names);
/* Sets the results of the queries to the names and inlined calls that the recording has. Sets `why` to the recording's
 * reason for missing names, unless files of this machine are searched, too. To be called if packednames_open returned
 * true. */
void packednames_take(struct packednames *names);
/* Passes the results to the writer of pjpack, if names->packed is not NULL, and frees names->key. */
void packednames_close(struct packednames *names);

#endif
