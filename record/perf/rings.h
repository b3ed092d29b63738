/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rings.h - merges the ring buffers of the kernel into one stream of records in order of time.
 *
 * Each ring is nearly in order (an interrupt within an interrupt is not), and a record is in its ring shortly after
 * its time was taken. So records older than a horizon slightly in the past are taken, and the others stay in the
 * rings. If rings fill faster than that, the caller moves the horizon up; records that come too late for the order
 * are delivered all the same, and counted.
 */
#ifndef PJ_RINGS_H
#define PJ_RINGS_H

#include "common/formats/perfrecord.h"

/* Fields that all events request, so that time, CPU and event of each record lie at fixed places (perf_event.h).
 * Events of which each Nth occurrence is sampled have no PERIOD: with it the kernel makes a sample of each
 * occurrence (perf_swevent_event). */
#define RING_SAMPLE_TYPE                                                                                  \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | \
	 PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN)

/* Start of a SAMPLE with that type. IDENTIFIER is the first field of a sample and the last one of other records. */
struct ring_sample {
	struct perf_record head;
	uint64_t event, ip;
	uint32_t pid, tid;
	/* ns of CLOCK_MONOTONIC */
	uint64_t time;
	uint32_t cpu, zero;
	uint64_t period, nips, ips[];
};

/* Returns the callchain of a sample with that type: nips, followed by ips. */
static inline const uint64_t *ring_chain(const struct ring_sample *sample, uint64_t sample_type)
{
	bool period = sample_type & PERF_SAMPLE_PERIOD;

	return (const void *)((const char *)sample +
			      (period ? offsetof(struct ring_sample, nips) : offsetof(struct ring_sample, period)));
}

/* Trailer of all other records (sample_id_all). */
struct ring_sample_id {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, zero;
	uint64_t event;
};

/* Content of a ring. Of records with equal times, the one with the lower kind is delivered first: a sample needs the
 * mapping in which it was taken. */
enum ring_kind {
	RING_OF_STATE,    /* side-band records of processes */
	RING_OF_SWITCHES, /* context switches of threads, for off-CPU times */
	RING_OF_SAMPLES
};

/* One complete, aligned record. It is valid until the callback returns. */
struct ring_record {
	struct perf_record *head;
	/* head points into the ring (a large SAMPLE) and is read-only; all other records may be changed */
	bool fixed;
	uint64_t time;
	enum ring_kind kind;
};

struct rings;

/* Returns an empty set of rings, for use by one thread.
 *
 * Example: rings_add for each CPU, then every half second rings_drain(rings, now - 100 ms, take, to). */
struct rings *rings_new(void);
/* Unmaps all rings. Descriptors stay open; they belong to their owner. Accepts NULL. */
void rings_free(struct rings *rings);

/* Maps the ring of fd. bytes is a power of two and at least a page. tag identifies the ring in rings_remove. Returns
 * false with errno on failure. */
bool rings_add(struct rings *rings, int fd, size_t bytes, enum ring_kind kind, uint32_t tag);
/* Unmaps all rings with this tag. Their records are lost, so call rings_drain before. */
void rings_remove(struct rings *rings, uint32_t tag);

/* Calls fn with all records before horizon (ns of CLOCK_MONOTONIC), in order of time, and returns their space to the
 * kernel. Returns their number. UINT64_MAX is a horizon that takes all. */
size_t rings_drain(struct rings *rings, uint64_t horizon, void (*fn)(void *to, const struct ring_record *record),
		   void *to);

/* Sets a filter for records of processes: for each MMAP2, COMM without exec and NAMESPACES record of a state ring,
 * rings_drain calls skip(to, pid) before it copies the record and compares it with the horizon, in any order. If
 * skip returns true, the record is dropped unread and its space is returned to the kernel. A storm of 100,000
 * mappings a second fills a ring each 10 ms, and records of others would be lost. */
void rings_skip(struct rings *rings, bool (*skip)(void *to, uint32_t pid), void *to);

/* Only fn may call it: the current record stays in its ring and rings_drain ends. The next rings_drain delivers that
 * record first. */
void rings_hold(struct rings *rings);

/* Returns true if a ring of that kind contains a LOST record, or is so full that the kernel drops records now. Reads
 * the header of every record. */
bool rings_lossy(const struct rings *rings, enum ring_kind kind);

/* Fill level of the fullest ring, 0 to 1000, before the last rings_drain took records and after it. */
unsigned rings_high(const struct rings *rings);
unsigned rings_left(const struct rings *rings);
/* Returns the number of records that the filter dropped. */
uint64_t rings_skipped(const struct rings *rings);
/* Returns the number of records that were older than one delivered before. */
uint64_t rings_late(const struct rings *rings);
uint64_t rings_broken(
	/* Returns how often a ring was emptied because its content was malformed. */
	const struct rings *rings);
/* Returns the bytes that all rings map, including their control pages. */
size_t rings_bytes(const struct rings *rings);

/* Stores up to max descriptors, for poll, and returns the number of all rings. */
size_t rings_fds(const struct rings *rings, int *fd, size_t max);

#endif
