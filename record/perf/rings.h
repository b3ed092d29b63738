/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rings.h - the kernel's ring buffers, merged into one stream in order of time.
 *
 * Every ring is nearly in order (an interrupt within an interrupt is not), and a record is in its ring a moment after
 * its time was taken. So what is older than a horizon a little in the past is taken, and the rest stays in the rings.
 * Where rings fill faster than that, the horizon moves up; what comes too late then is delivered all the same, and
 * counted.
 */
#ifndef PJ_RINGS_H
#define PJ_RINGS_H

#include "common/formats/perfrecord.h"

/* What all of our events record, so that time, CPU and event of every record lie at known places (perf_event.h). Only
 * those of which each Nth is wanted have no PERIOD: with it the kernel makes a sample of each one (perf_swevent_event).
 */
#define RING_SAMPLE_TYPE                                                                                  \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | \
	 PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN)

/* The start of a SAMPLE with that type; IDENTIFIER comes first, and for the others last. */
struct ring_sample {
	struct perf_record head;
	uint64_t event, ip;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, zero;
	uint64_t period, nips, ips[];
};

/* Where the callchain of one with that type is: nips, and ips behind it. */
static inline const uint64_t *ring_chain(const struct ring_sample *sample, uint64_t sample_type)
{
	bool period = sample_type & PERF_SAMPLE_PERIOD;

	return (const void *)((const char *)sample +
			      (period ? offsetof(struct ring_sample, nips) : offsetof(struct ring_sample, period)));
}

/* The end of all other records (sample_id_all). */
struct ring_tail {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, zero;
	uint64_t event;
};

/* What a ring carries. At the same time, what comes first here goes first: a sample wants the mapping that it was taken
 * in. */
enum ring_kind {
	RING_OF_STATE,    /* of processes */
	RING_OF_SWITCHES, /* of threads, for off-CPU times */
	RING_OF_SAMPLES
};

/* One record, whole and aligned, until the next one. */
struct ring_record {
	struct perf_record *head;
	bool fixed; /* a large SAMPLE, where the kernel wrote it; all others are ours to change */
	uint64_t time;
	enum ring_kind kind;
};

struct rings;

struct rings *rings_new(void);
void rings_free(struct rings *rings); /* unmaps; descriptors are their owner's */

/* Maps the ring of fd: bytes is a power of two, at least a page. False and errno. tag is what rings_remove knows it by.
 */
bool rings_add(struct rings *rings, int fd, size_t bytes, enum ring_kind kind, uint32_t tag);
void rings_remove(struct rings *rings, uint32_t tag); /* what is in it is lost: drain before */

/* Hands over all records before horizon (ns), in order. Says how many. */
size_t rings_drain(struct rings *rings, uint64_t horizon, void (*fn)(void *to, const struct ring_record *record),
		   void *to);

/* From now on skip(to, pid) is called for each mapping (MMAP2), new name (COMM without exec) and change of namespaces
 * of a process, before it is copied, in any order, and before the horizon is looked at; of those for which it returns
 * true nothing else is read, and their place is the kernel's again. A storm of 100,000 mappings a second fills a ring
 * each 10 ms, and what others recorded there would be lost. */
void rings_skip(struct rings *rings, bool (*skip)(void *to, uint32_t pid), void *to);

/* To be called by fn: the record at hand is not taken, and rings_drain ends; the next one begins with it. */
void rings_hold(struct rings *rings);

/* Did the kernel have no room for a record of that kind, in what is there now or behind it? Looks at the head of every
 * record. */
bool rings_lossy(const struct rings *rings, enum ring_kind kind);

/* Share of the fullest ring at the last rings_drain, before it took anything and after it, 0 to 1000. */
unsigned rings_high(const struct rings *rings);
unsigned rings_left(const struct rings *rings);
uint64_t rings_skipped(const struct rings *rings); /* records that rings_skip left out */
uint64_t rings_late(const struct rings *rings);    /* records that were older than one delivered before */
uint64_t rings_broken(
	const struct rings *rings); /* times that a ring had to be skipped since its content made no sense */
size_t rings_bytes(const struct rings *rings);

/* Its descriptors, for poll. */
size_t rings_fds(const struct rings *rings, int *fd, size_t max);

#endif
