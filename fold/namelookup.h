/* SPDX-License-Identifier: Apache-2.0 */
/*
 * namelookup.h - looks up the addresses of one DSO in the sources of its names: the names of a packed recording, ELF
 * files, perf maps, kernel symbols.
 *
 * Each thread has a lookup of its own, which it uses for one DSO after the other. The names are those of the sources;
 * resolve.h makes the names that are shown from them. Files of this machine are used only for a recording of this
 * machine. Sources are hostile.
 *
 *	n = namelookup_prepare(&lookup, locations, id, count);
 *	why = namelookup_query(&lookup, dso, n);
 *	use(intern_str(&lookup.raw, lookup.q[i].name));
 */
#ifndef PJ_NAMELOOKUP_H
#define PJ_NAMELOOKUP_H

#include "fold/resolve.h"

/* Queries of one DSO, and their results. The owner sets the members up to `out`, zeroes the others, and frees the
 * object with namelookup_free(). */
struct namelookup {
	const struct resolve_options *options;
	const struct provenance *origin;
	const struct addrspace *addrspace;
	/* The members `inlined`, `conflicts` and `kernel` get the results of lookups. */
	struct resolved *out;
	/* Interned names as the sources have them: symbols, modules, lists of inlined calls. */
	struct intern raw;
	/* q: queries, sorted by address. module[i]: id in `raw` of the module of q[i]. Both have `cap` elements. */
	struct symbols_query *q;
	uint32_t *module;
	size_t cap;
	/* maps: number of invalid lines in the perf maps that this thread read, and text of the first error in the map
	 * of DSO maps_dso. maps_dso: lowest index of all DSOs whose maps have an invalid line, so that the text does
	 * not depend on the order in which threads take jobs. */
	struct input_errors maps;
	uint32_t maps_dso;
	/* True if a perf map of the current job was skipped because its file system does not respond; the reason then
	 * is WHY_SILENT. */
	bool silent_map;
};

/* Makes one query in lookup->q for each distinct address of the locations id[0..n), which must be sorted by address.
 * Returns the number of queries. */
size_t namelookup_prepare(struct namelookup *lookup, const struct locations *locations, const uint32_t *id, uint32_t n);

/* Looks up the first n queries in the names of a packed recording. If these names are missing or incomplete, looks up
 * the queries in the source of names for this kind of DSO, too. Passes the results to the writer of pjpack. Returns the
 * reason for queries without a name. */
enum resolve_why namelookup_query(struct namelookup *lookup, const struct dso *dso, size_t n);

/* Adds the errors of the perf map of DSO `dso` to *all. *first: lowest index of a DSO with errors so far; all->first is
 * the error text of this DSO. */
void namelookup_add_maps(struct input_errors *all, uint32_t *first, const struct input_errors *errors, uint32_t dso);

/* Frees the memory to which *lookup refers. */
void namelookup_free(struct namelookup *lookup);

#endif
