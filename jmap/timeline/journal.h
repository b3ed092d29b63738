/* SPDX-License-Identifier: Apache-2.0 */
/*
 * journal.h - compares scans of one JVM and makes the records of its code timeline (pj-jmap(5)).
 *
 * Each scan is compared with the one before, and only differences become records. Times are CLOCK_MONOTONIC in ns, as
 * in pjrecord's windows: new code appeared between the start of the scan before and the end of this scan. This module
 * writes no files; journalfile.h does. It runs in the helper process, as its input is hostile.
 *
 * struct journal journal = { .bytes_max = 64 << 20 };
 * reason = journal_scan(&journal, &hotspot, &records);
 * journal_free(&journal);
 */
#ifndef PJ_JOURNAL_H
#define PJ_JOURNAL_H

#include "jmap/timeline/frameinfo.h"
#include "common/nametable.h"
#include "runtimes/hotspot/stubs.h"

struct journal {
	struct nametable names; /* names that the file has, and their numbers in the file */
	struct blob *live;      /* blobs that the last scan found in the code cache, sorted by address */
	uint64_t *serial;       /* number of each live blob in the file, by index in live */
	uint32_t *name;         /* id of each live blob's name in `names`, by index in live */
	size_t nlive;
	/* maximum of journal_bytes; new code that would exceed it is left out; 0: no limit */
	uint64_t bytes_max;
	/* number in the file of the next new blob */
	uint64_t next_serial;
	/* true: the codelets of the interpreter were written */
	bool interpreter;
	/* list of HotSpot's stubs, as last read */
	struct stubs stubs;
	/* stub: start addresses of the stubs that were written; stubs_first: first element of the list when they were
	 * written */
	uint64_t *stub, stubs_first;
	/* nstubs: number of elements of stub; stub_blocks: number of stub blocks at the last scan */
	size_t nstubs, stub_blocks;
	/* number of searches for the list of stubs since the number of stub blocks last changed */
	unsigned stub_tries;
	/* start (CLOCK_MONOTONIC) and duration of the last scan, in ns */
	uint64_t before, before_ns;
	/* number of blobs that appeared in the last scan, and that disappeared */
	uint64_t came, went;
	/* number of blobs that the last scan could not read, and that it could not name */
	uint64_t torn, unnamed;
	/* part of `unnamed` for which bytes_max did not suffice */
	uint64_t beyond;
	/* part of `unnamed` for which the budget did not suffice; the next scan reads these blobs */
	uint64_t later;
	/* values of `torn` and `unnamed` in the last JMAP_LEFT record of the file */
	uint64_t torn_reported, unnamed_reported;
	struct frameinfo frames;
};

/* Returns the bytes of memory that the journal holds between scans. */
uint64_t journal_bytes(const struct journal *journal);

/* Scans the code and appends records of the changes to `file`. Reads new code until hotspot->memory.budget is used up;
 * the next scan reads the rest. If the JVM cannot be read, returns a reason and appends nothing; else returns code
 * NULL. */
struct hotspot_reason journal_scan(struct journal *journal, struct hotspot *hotspot, struct text *file);

/* Makes the next scan the first one of a file: it reports all code as new and writes all names. */
void journal_begin_anew(struct journal *journal);

/* Appends a perf map of the live code to text, with names in this style. Returns false if text has more than `max`
 * bytes then. */
bool journal_map(const struct journal *journal, enum method_style style, size_t max, struct text *text);

/* Frees all memory that *journal holds. */
void journal_free(struct journal *journal);

#endif
