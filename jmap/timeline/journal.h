/* SPDX-License-Identifier: Apache-2.0 */
/*
 * journal.h - which code of one JVM came and went, and when, as records of a timeline (pj-jmap(5)).
 *
 * Each scan is compared with the one before; only differences become records. Times are CLOCK_MONOTONIC, as in
 * pjrecord's windows: code that is new came after the scan before began and before this one ended. Pure of files:
 * journalfile.h writes the records.
 */
#ifndef PJ_JOURNAL_H
#define PJ_JOURNAL_H

#include "jmap/timeline/frameinfo.h"
#include "jmap/timeline/nametable.h"
#include "runtimes/hotspot/stubs.h"

struct journal {
	struct nametable names; /* those that were written */
	struct blob *live;      /* by address */
	uint64_t *serial;       /* of live */
	uint32_t *name;         /* of live: in names */
	size_t nlive;
	uint64_t bytes_max; /* of memory that it may have: code beyond that is left out. 0: no limit */
	uint64_t next_serial;
	bool interpreter;            /* its parts were written */
	struct stubs stubs;          /* those that are known */
	uint64_t *stub, stubs_first; /* where those begin that were written; what the list was then */
	size_t nstubs, stub_blocks;  /* blocks that there were when they were looked for */
	unsigned stub_tries;         /* since then */
	uint64_t before, before_ns;  /* when the scan before began, how long it took */
	uint64_t came, went;         /* in that scan */
	uint64_t torn, unnamed;      /* in it: could not be read, had no name */
	uint64_t beyond;             /* of these: no memory for them */
	uint64_t later;              /* of these: they wait for the next scan, as the budget of this one was used up */
	uint64_t torn_reported, unnamed_reported;
	struct frameinfo frames;
};

/* Memory that it has between scans. */
uint64_t journal_bytes(const struct journal *journal);

/* Scans, and appends the records of what changed. Code that is new is read as long as hotspot->memory.budget lasts, and
 * the rest of it in the next scan. Returns a reason if it could not be read: nothing is appended. */
struct hotspot_reason journal_scan(struct journal *journal, struct hotspot *hotspot, struct text *file);

/* The next scan is the first one of a file: all code is new. */
void journal_begin_anew(struct journal *journal);

/* Appends what lives now as perf reads it. False: that is more than `most` bytes. */
bool journal_map(const struct journal *journal, enum method_style style, size_t max, struct text *text);

void journal_free(struct journal *journal);

#endif
