/* SPDX-License-Identifier: Apache-2.0 */
/*
 * journal.h - compares successive scans of one JVM and makes the records of its code timeline (pj-jmap(5)).
 *
 * Each scan is compared with its predecessor, and only differences become records. Times are CLOCK_MONOTONIC in ns, as
 * in pjrecord's windows. New code appeared between the start of the last scan and the end of this one. The module runs
 * in the helper process, because its input is hostile. It writes no files; journalfile.h does.
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

/* Memory of one timeline: the live code blobs and the names that its file has. */
struct journal {
	struct nametable names; /* names in the file, with their numbers in the file */
	struct blob *live;      /* live blobs: blobs that the last scan found in the code cache, sorted by address */
	uint64_t *serial;       /* number of each live blob in the file, by index in `live` */
	uint32_t *name;         /* id of each live blob's name in `names`, by index in `live` */
	size_t nlive;
	/* limit for journal_bytes; new code that would exceed it is left out; 0 means no limit */
	uint64_t bytes_max;
	/* number that the next new blob gets in the file */
	uint64_t next_serial;
	/* true if the file has records of the interpreter's codelets */
	bool interpreter;
	/* HotSpot's stubs, as last read */
	struct stubs stubs;
	/* stub: start addresses of the stubs in the file; stubs_first: value of stubs.first when stubs were last
	 * written */
	uint64_t *stub, stubs_first;
	/* nstubs: number of elements of `stub`; stub_blocks: number of code blobs with stubs (StubRoutines) at
	 * the last scan */
	size_t nstubs, stub_blocks;
	/* number of failed searches for the list of stubs since the number of code blobs with stubs last changed */
	unsigned stub_tries;
	/* before: start of the last scan in ns of CLOCK_MONOTONIC; before_ns: duration of the last scan in ns */
	uint64_t before, before_ns;
	/* came: number of records of new blobs in the last scan; went: number of records of removed blobs */
	uint64_t came, went;
	/* number of blobs that the last scan could not read (torn), and could not name (unnamed) */
	uint64_t torn, unnamed;
	/* number of blobs in `unnamed` that were left out because of bytes_max */
	uint64_t beyond;
	/* number of blobs in `unnamed` that were left to the next scan because the budget was used up */
	uint64_t later;
	/* values of `torn` and `unnamed` in the last JMAP_LEFT record of the file */
	uint64_t torn_reported, unnamed_reported;
	/* frame layouts of the new code blobs */
	struct frameinfo frames;
};

/* Returns the number of bytes of memory that the journal holds between scans. */
uint64_t journal_bytes(const struct journal *journal);

/* Scans the code and appends records of the changes to `file`. Reads new code until hotspot->memory.budget is used up,
 * and leaves the rest to the next scan. Returns a reason with code NULL on success; otherwise appends nothing. */
struct hotspot_reason journal_scan(struct journal *journal, struct hotspot *hotspot, struct text *file);

/* Makes the next scan the first one of a new file: it writes all code as new, with all names. */
void journal_begin_anew(struct journal *journal);

/* Appends a perf map of the live blobs to `text`, with names in the spelling `style`. Returns false if `text` then has
 * more than `max` bytes. */
bool journal_map(const struct journal *journal, enum method_style style, size_t max, struct text *text);

/* Frees all memory that *journal holds. */
void journal_free(struct journal *journal);

#endif
