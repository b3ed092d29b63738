/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk.h - writes one standard perf.data: a file, or perf's pipe mode.
 *
 * A file is readable at any time. After each flush the header holds the size of the data. Facts that are known at
 * the start (host, kernel, events, clocks, window) precede the data, where chunk_rescue and pjfold find them if the
 * writer was killed (common/formats/pjsection.h). Nothing is allocated while records are written, and no failure
 * ends the recorder: the first errno stays in `error`, and later records are dropped.
 *
 * Order of calls: chunk_begin, then chunk_record and chunk_flush, then chunk_end. One thread uses a chunk.
 */
#ifndef PJ_CHUNK_H
#define PJ_CHUNK_H

#include "common/formats/pjsection.h"
#include "common/text.h"

#include <linux/perf_event.h>

/* One event, as the header of the file describes it. */
struct chunk_event {
	struct perf_event_attr attr;
	/* name for EVENT_DESC */
	const char *name;
	/* ids that samples of this event carry */
	const uint64_t *ids;
	size_t nids;
	/* the recorder unwound the user stacks of its samples */
	bool unwound;
};

/* Facts that are equal in all files of a recording. Strings and arrays must live as long as the chunk. */
struct chunk_facts {
	const char *host, *kernel, *arch, *boot;
	/* model of the CPU, or NULL */
	const char *cpu;
	/* number of CPUs that are online, and of all configured CPUs */
	uint32_t cpus_online, cpus;
	/* kB of memory */
	uint64_t memory;
	/* command line, NULL-terminated; NULL leaves it out */
	char **argv;
	/* content of TRACING_DATA; empty if there are no tracepoints */
	struct str tracing;
	const struct chunk_event *event;
	size_t nevents;
};

/* A file in the making. Callers read fd, error and written. */
struct chunk {
	int fd;
	/* errno of the first failure, 0 if there was none */
	int error;
	bool pipe;
	/* offset of the data, and bytes of the file so far, including those in buf */
	uint64_t data, written;
	/* size of the data that the header holds */
	uint64_t reported;
	/* table of the feature sections in front of the data; `pre` holds their bits */
	struct text features;
	uint64_t pre[4];
	/* records since the last flush */
	uint64_t records;
	/* bytes in buf, and its capacity */
	size_t n, cap;
	char *buf;
};

/* Starts a file at fd, which the caller closes after chunk_end. wall_ns and record_ns are the same time on
 * CLOCK_REALTIME and on the clock of the records. */
void chunk_begin(struct chunk *chunk, int fd, bool pipe, const struct chunk_facts *facts,
		 const struct pj_window *window, uint64_t wall_ns, uint64_t record_ns);

/* Appends one complete record of n bytes, a multiple of 8. */
void chunk_record(struct chunk *chunk, const void *record, size_t n);

/* Appends one record in two parts, for records that wrap around the end of a ring. */
void chunk_record2(struct chunk *chunk, const void *a, size_t na, const void *b, size_t nb);

/* Appends items of FEATURE_PJ_END to a pipe, in as many records as they need. Readers that process samples at the end
 * of a round have them for all samples before the next chunk_flush. */
void chunk_stream_items(struct chunk *chunk, struct str items);

/* Writes the buffer to the file and updates the header. A FINISHED_ROUND record precedes: all records up to it are
 * in order of time, so readers need not wait for more. */
void chunk_flush(struct chunk *chunk);

/* Facts that are known at the end. The texts are complete feature sections. */
struct chunk_end {
	/* BUILD_ID section; empty if there is none */
	struct str build_ids;
	/* FEATURE_PJ_END section */
	struct str pj;
	/* SAMPLE_TIME: times of the first and last sample; both 0 if there is none */
	uint64_t first, last;
};

void chunk_end(struct chunk *chunk,
	       /* Completes the file and frees the buffers. chunk->error holds the result; fd stays open. */
	       const struct chunk_end *end);

/* Appends an item with n bytes at p to the text of a FEATURE_PJ section, padded to 8 bytes. */
void chunk_put_item(struct text *text, uint32_t type, const void *p, size_t n);

#endif
