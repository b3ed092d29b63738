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

#include "hotspot.h"

struct journal {
	char path[512];
	int fd;                  /* locked */
	struct intern names;     /* those that were written; ids are numbers + 1 */
	struct blob *live;       /* by address */
	uint64_t *serial;        /* of live */
	uint32_t *name;          /* of live: in names */
	size_t nlive, cap;
	uint64_t next_serial;
	uint64_t before, before_ns; /* when the scan before began, how long it took */
	uint64_t added, removed, written; /* since the start; written: bytes */
};

/* dir/BOOT/PID-START.jmap; created, or continued where a run before ended. NULL, or what failed (errno; EWOULDBLOCK:
 * another pjmap writes it). */
const char *journal_open(struct journal *t, const char *dir, const struct jvm_process *p, const char *version);

/* Scans, and appends what changed. r.code: it could not be read (nothing is written); *failed: writing failed
 * (errno). */
struct hotspot_reason journal_scan(struct journal *t, struct hotspot *h, const char **failed);

/* Appends what lives now as perf reads it. */
void journal_map(const struct journal *t, enum method_style style, struct text *text);

/* The process ended, if ended: says so. */
void journal_close(struct journal *t, bool ended);

#endif
