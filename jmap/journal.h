/* SPDX-License-Identifier: Apache-2.0 */
/*
 * journal.h - what code of one JVM came and went, and when, appended to a file (pj-jmap(5)).
 *
 * Each scan is compared with the one before; only differences are written, each scan as one write of whole records.
 * Times are CLOCK_MONOTONIC, as in pjrecord's windows: a piece of code that is new came after the scan before began
 * and before this one ended.
 */
#ifndef PJ_JOURNAL_H
#define PJ_JOURNAL_H

#include "framefacts.h"
#include "mapsdir.h"
#include "tenants.h"
#include "nametable.h"
#include "stubs.h"

struct journal {
	char path[512];
	int folder;              /* that it lies in */
	int fd;                  /* locked */
	char file[MAPSDIR_NAME], start[224]; /* its name; what a run says first */
	bool anew;               /* the file that is being written takes the name after the next scan */
	struct nametable names;  /* those that were written */
	struct blob *live;       /* by address */
	uint64_t *serial;        /* of live */
	uint32_t *name;          /* of live: in names */
	size_t nlive;
	uint64_t bytes_max;      /* of memory that it may have: code beyond that is left out. 0: no limit */
	uint64_t next_serial;
	bool interpreter;        /* its parts were written */
	struct stubs stubs;      /* those that are known */
	uint64_t *stub, stubs_first; /* where those begin that were written; what the list was then */
	size_t nstubs, stub_blocks;  /* blocks that there were when they were looked for */
	unsigned stub_tries;         /* since then */
	uint64_t before, before_ns; /* when the scan before began, how long it took */
	uint64_t added, removed, written; /* since the start; written: bytes */
	uint64_t size, whole_size;  /* bytes of the file; what of it is one list of all code, 0: not known */
	uint64_t torn, unnamed;     /* in the scan before: could not be read, had no name */
	uint64_t beyond;            /* of these: no memory for them */
	uint64_t later;             /* of these: they wait for the next scan, as the budget of this one was used up */
	uint64_t torn_said, unnamed_said;
	struct framefacts frames;
	struct taskid_user owner;   /* who may read what the last scan found */
};

/* dir/maps/BOOT/PID-START.jmap; created, or continued where a run before ended. NULL, or what failed (errno; EWOULDBLOCK:
 * another pjmap writes it). */
const char *journal_open(struct journal *t, const char *dir, const struct jvm_process *p, const struct tenant *of, const char *version);

/* Memory that it has between scans. */
uint64_t journal_bytes(const struct journal *t);

/* Scans, and appends what changed. Code that is new is read as long as h->memory.budget lasts, and the rest of it in the next scan.
 * r.code: it could not be read, or may not be shown (nothing is written); *failed: writing failed
 * (errno). */
struct hotspot_reason journal_scan(struct journal *t, struct hotspot *h, const char **failed);

/* The file gets too large: from the next scan on there is one with what lives then, in its place; what was before is dropped.
 * False and errno: it stays as it is. */
bool journal_begin_anew(struct journal *t);

/* Appends what lives now as perf reads it. False: that is more than `most` bytes. */
bool journal_map(const struct journal *t, enum method_style style, size_t most, struct text *text);

/* The process ended, if ended: says so. */
void journal_close(struct journal *t, bool ended);

#endif
