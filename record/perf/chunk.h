/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk.h - writes one standard perf.data: a file, or perf's pipe mode.
 *
 * A file is readable at any moment: the header says after each flush how much data there is, and what is known at the
 * start (host, kernel, events, clocks, window) stands in front of the data, where chunk_rescue and pjfold find it when
 * the writer was killed (common/formats/pjsection.h). Nothing is allocated while records are written, and no failure
 * ends the recorder: the first error stays in `error`, and what comes after it is dropped.
 */
#ifndef PJ_CHUNK_H
#define PJ_CHUNK_H

#include "common/formats/pjsection.h"
#include "common/text.h"

#include <linux/perf_event.h>

struct chunk_event {
	struct perf_event_attr attr;
	const char *name;    /* as in EVENT_DESC */
	const uint64_t *ids; /* of its descriptors */
	size_t nids;
	bool unwound; /* stacks of users in its samples are walked by the recorder */
};

/* What is the same for all files of a run. */
struct chunk_facts {
	const char *host, *kernel, *arch, *boot;
	const char *cpu; /* model, or NULL */
	uint32_t cpus_online, cpus;
	uint64_t memory;    /* kB */
	char **argv;        /* command line; NULL: not to be told */
	struct str tracing; /* TRACING_DATA, empty: none */
	const struct chunk_event *event;
	size_t nevents;
};

struct chunk {
	int fd;
	int error; /* errno of the first failure, 0: none */
	bool pipe;
	uint64_t data, written; /* where the data begin; bytes of the file so far, those in buf included */
	uint64_t reported;      /* size of the data, as the header has it */
	struct text features;   /* the table in front of the data: sections of the bits of pre */
	uint64_t pre[4];
	uint64_t records;
	size_t n, cap;
	char *buf;
};

/* Takes fd, which stays the caller's to close. wall and record: the same moment on CLOCK_REALTIME and on the clock of
 * the records. */
void chunk_begin(struct chunk *chunk, int fd, bool pipe, const struct chunk_facts *facts,
		 const struct pj_window *window, uint64_t wall_ns, uint64_t record_ns);

/* One whole record of n bytes, a multiple of 8. */
void chunk_record(struct chunk *chunk, const void *record, size_t n);

/* The same in two parts, for records that lie at both ends of a ring. */
void chunk_record2(struct chunk *chunk, const void *a, size_t na, const void *b, size_t nb);

/* What is buffered goes to the file, and its header says so. A FINISHED_ROUND comes before it: all records up to here
 * are in order of time, so readers need not wait for more. */
void chunk_flush(struct chunk *chunk);

/* What is known at the end. The texts are whole feature sections. */
struct chunk_end {
	struct str build_ids; /* BUILD_ID; empty: none */
	struct str pj;        /* FEATURE_PJ_END */
	uint64_t first, last; /* SAMPLE_TIME; 0, 0: no sample */
};

void chunk_end(struct chunk *chunk,
	       const struct chunk_end *end); /* completes the file; frees the buffers; c->error and fd stay */

/* Appends an item of a FEATURE_PJ section to text. */
void chunk_put_item(struct text *text, uint32_t type, const void *p, size_t n);

#endif
