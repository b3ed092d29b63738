/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk.h - writes one standard perf.data: a file, or perf's pipe mode.
 *
 * A file is readable at any time: after each flush its header holds the size of the data. Facts that are known at the
 * start (host, kernel, events, clocks, window) precede the data, where chunk_rescue (record/windows/rescue.h) and
 * pjfold find them if the writer was killed (common/formats/pjsection.h). No memory is allocated while records are
 * written. No failure ends the recorder: `error` holds the errno of the first failure, and later records are dropped.
 *
 * Order of calls: chunk_begin, then chunk_record and chunk_flush, then chunk_end. One thread uses a chunk.
 */
#ifndef PJ_CHUNK_H
#define PJ_CHUNK_H

#include "common/formats/pjsection.h"
#include "common/text.h"

#include <linux/perf_event.h>

/* One event with its attributes, as the file header describes it. */
struct chunk_event {
	struct perf_event_attr attr;
	/* event name for EVENT_DESC */
	const char *name;
	/* ids that the samples of this event contain */
	const uint64_t *ids;
	size_t nids;
	/* true if the recorder unwinds the user stacks of this event's samples */
	bool unwound;
	/* true for the entry of a HotSpot function that reports an allocation: user registers give class and bytes */
	bool allocates;
};

/* Facts that are equal in all files of a recording. Strings and arrays must live as long as the chunk. */
struct chunk_facts {
	const char *host, *kernel, *arch, *boot;
	/* CPU model; NULL if unknown */
	const char *cpu;
	/* cpus_online: number of CPUs that are online; cpus: number of configured CPUs */
	uint32_t cpus_online, cpus;
	/* RAM of the host in kB */
	uint64_t memory;
	/* value of kernel.perf_event_max_stack, in addresses; 0: unknown */
	uint64_t max_stack;
	/* command line of the recorder, as a NULL-terminated array; NULL: the file has no command line */
	char **argv;
	/* content of the TRACING_DATA section; empty if there are no tracepoints */
	struct str tracing;
	const struct chunk_event *event;
	size_t nevents;
};

/* A perf.data file that is being written. Callers read only fd, error and written. */
struct chunk {
	int fd;
	/* errno of the first failure; 0: no failure */
	int error;
	bool pipe;
	/* data: offset of the data in the file; written: size of the file so far in bytes, including the bytes in
	 * buf */
	uint64_t data, written;
	/* size of the data in bytes that the file header on disk holds */
	uint64_t reported;
	/* features: struct perf_section of each feature section in front of the data; pre: bit set of these features */
	struct text features;
	uint64_t pre[4];
	/* number of records since the last chunk_flush */
	uint64_t records;
	/* n: number of bytes in buf; cap: capacity of buf in bytes */
	size_t n, cap;
	char *buf;
};

/* Starts a perf.data at fd, which the caller closes after chunk_end. wall_ns and record_ns: the start of the window in
 * ns, on CLOCK_REALTIME and on the clock of the records. */
void chunk_begin(struct chunk *chunk, int fd, bool pipe, const struct chunk_facts *facts,
		 const struct pj_window *window, uint64_t wall_ns, uint64_t record_ns);

/* Appends one complete record of n bytes, a multiple of 8. */
void chunk_record(struct chunk *chunk, const void *record, size_t n);

/* Appends one record in two parts, for records that wrap around the end of a ring. */
void chunk_record2(struct chunk *chunk, const void *a, size_t na, const void *b, size_t nb);

/* Appends items of FEATURE_PJ_END to a pipe, in as many FEATURE records as they need. They precede the FINISHED_ROUND
 * record of the next chunk_flush, so a reader that processes the samples of a round at its end has the items for
 * them. */
void chunk_stream_items(struct chunk *chunk, struct str items);

/* Appends a FINISHED_ROUND record if records were added since the last call, writes the buffer to the file, and updates
 * the data size in the file header. Readers can deliver the records of a finished round without waiting for later
 * ones. */
void chunk_flush(struct chunk *chunk);

/* Content of the sections that are known only at the end of a file. */
struct chunk_end {
	/* content of the BUILD_ID section; empty if there is none */
	struct str build_ids;
	/* content of the FEATURE_PJ_END section */
	struct str pj;
	/* content of SAMPLE_TIME: times of the first and last sample in ns; last 0: there are no samples */
	uint64_t first, last;
};

/* Completes the file and frees the buffers. Then chunk->error is the result: 0, or the errno of the first failure. fd
 * stays open. */
void chunk_end(struct chunk *chunk, const struct chunk_end *end);

/* Appends an item to the text of a FEATURE_PJ section: type, size, then the n bytes at p, padded to a multiple of 8
 * bytes. */
void chunk_put_item(struct text *text, uint32_t type, const void *p, size_t n);

#endif
