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
	struct nametable names; /* names in the file, and their numbers */
	struct blob *live;      /* live blobs, sorted by address */
	uint64_t *serial;       /* by index of live: number of the blob in the file */
	uint32_t *name;         /* by index of live: id in names */
	size_t nlive;
	/* Limit for journal_bytes. New code beyond it is left out. 0: no limit. */
	uint64_t bytes_max;
	/* number of the next new blob */
	uint64_t next_serial;
	/* The interpreter's codelets were written. */
	bool interpreter;
	/* The known stubs, and the starts and number of those that were written. */
	struct stubs stubs;
	/* stubs_first is the head of the list when they were written. */
	uint64_t *stub, stubs_first;
	/* stub_blocks: number of stub blocks at the last search. */
	size_t nstubs, stub_blocks;
	/* Searches since the number of blocks has changed. */
	unsigned stub_tries;
	/* Start and duration of the last scan. */
	uint64_t before, before_ns;
	/* Number of blobs that appeared and disappeared in it. */
	uint64_t came, went;
	/* Blobs that it could not read, and those without name. */
	uint64_t torn, unnamed;
	/* Part of `unnamed`: no memory was left. */
	uint64_t beyond;
	/* Part of `unnamed`: the budget was used up, so the next scan reads them. */
	uint64_t later;
	/* values of torn and unnamed in the last JMAP_LEFT record */
	uint64_t torn_reported, unnamed_reported;
	struct frameinfo frames;
};

/* Returns the bytes of memory that the journal holds between scans. */
uint64_t journal_bytes(const struct journal *journal);

/* Scans and appends the records of the changes to file. Reads new code until hotspot->memory.budget is used up, and
 * the rest in the next scan. If the JVM cannot be read, returns a reason and appends nothing. */
struct hotspot_reason journal_scan(struct journal *journal, struct hotspot *hotspot, struct text *file);

/* Makes the next scan the first one of a file: all code is new, and names are written again. */
void journal_begin_anew(struct journal *journal);

/* Appends a perf map of the live code to text, with names in a style. Returns false if it has more than max bytes. */
bool journal_map(const struct journal *journal, enum method_style style, size_t max, struct text *text);

/* Frees all memory of journal. */
void journal_free(struct journal *journal);

#endif
