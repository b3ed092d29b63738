/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rings.h - merges the ring buffers of the kernel into one stream of records in order of time.
 *
 * The records of one ring are nearly in order of time (exception: one interrupt interrupts another), and each record is
 * in its ring shortly after the kernel has read the clock for it. So rings_drain takes the records older than a
 * horizon, which lies slightly in the past, and leaves the others in the rings. If a ring is almost full of newer
 * records, the caller passes a later horizon. Records that arrive after newer ones were delivered are delivered
 * nevertheless, and counted (rings_late).
 */
#ifndef PJ_RINGS_H
#define PJ_RINGS_H

#include "common/formats/perfrecord.h"

/* Fields that all events request, so that time, CPU and event id of each record are at fixed offsets (perf_event.h).
 * Events with a period above 1 do not request PERIOD: with PERIOD the kernel makes a sample of each occurrence
 * (perf_swevent_event). */
#define RING_SAMPLE_TYPE                                                                                  \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | \
	 PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN)

/* Start of a SAMPLE record with RING_SAMPLE_TYPE. IDENTIFIER is the first field of a sample and the last field of other
 * records. */
struct ring_sample {
	struct perf_record head;
	uint64_t event, ip;
	uint32_t pid, tid;
	/* time, CLOCK_MONOTONIC in ns */
	uint64_t time;
	uint32_t cpu, zero;
	uint64_t period, nips, ips[];
};

/* Returns a pointer to the length of a sample's callchain (nips), which the addresses follow. sample_type is
 * RING_SAMPLE_TYPE with or without PERIOD. */
static inline const uint64_t *ring_chain(const struct ring_sample *sample, uint64_t sample_type)
{
	bool period = sample_type & PERF_SAMPLE_PERIOD;

	return (const void *)((const char *)sample +
			      (period ? offsetof(struct ring_sample, nips) : offsetof(struct ring_sample, period)));
}

/* Trailer of all records except samples (sample_id_all). */
struct ring_sample_id {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, zero;
	uint64_t event;
};

/* Kind of the records in a ring. Of records with equal times, rings_drain delivers those of the lower kind first,
 * because a sample needs the mapping in which it was taken. */
enum ring_kind {
	RING_OF_STATE,    /* side-band records of processes */
	RING_OF_SWITCHES, /* context switches of threads, for off-CPU times */
	RING_OF_SAMPLES
};

/* One complete, aligned record, valid until the callback of rings_drain returns. */
struct ring_record {
	struct perf_record *head;
	/* true if head points into the ring (a large SAMPLE) and is read-only; false if the callback may change the
	 * record */
	bool fixed;
	uint64_t time;
	enum ring_kind kind;
};

struct rings;

/* Returns an empty set of rings, for use by one thread. Example: call rings_add for each CPU, then rings_drain(rings,
 * now - 100 ms, take, to) every half second. */
struct rings *rings_new(void);
/* Unmaps all rings and frees the set. The caller closes the descriptors. Accepts NULL. */
void rings_free(struct rings *rings);

/* Maps the ring of descriptor fd and adds it to the set. `bytes` is a power of two and at least a page; rings_remove
 * selects rings by `tag`. Returns false with errno on failure. */
bool rings_add(struct rings *rings, int fd, size_t bytes, enum ring_kind kind, uint32_t tag);
/* Unmaps all rings with this tag. Records in them are lost, so the caller calls rings_drain first. */
void rings_remove(struct rings *rings, uint32_t tag);

/* Calls fn with all records before the horizon (CLOCK_MONOTONIC in ns), in order of time, and returns their space to
 * the kernel. Horizon UINT64_MAX takes all records. Returns the number of records. */
size_t rings_drain(struct rings *rings, uint64_t horizon, void (*fn)(void *to, const struct ring_record *record),
		   void *to);

/* Sets a filter for the MMAP2, COMM (without exec) and NAMESPACES records of state rings. rings_drain calls skip(to,
 * pid) for each of these records, in any order, before it copies the record or compares it with the horizon. If skip
 * returns true, rings_drain drops the record unread and returns its space to the kernel. Without the filter, a process
 * that maps 100,000 times per second would fill a ring every 10 ms, and records of other processes would be lost. */
void rings_skip(struct rings *rings, bool (*skip)(void *to, uint32_t pid), void *to);

/* Called only by the callback fn of rings_drain: makes rings_drain end and leave the current record in its ring. The
 * next rings_drain delivers that record first. */
void rings_hold(struct rings *rings);

/* Returns true if a ring of this kind contains a LOST, LOST_SAMPLES or malformed record, or is so full that the kernel
 * may drop the next record. Reads the header of every record in these rings. */
bool rings_lossy(const struct rings *rings, enum ring_kind kind);

/* rings_high and rings_left return the fill level of the fullest ring in thousandths: rings_high before the last
 * rings_drain took records, rings_left after it. */
unsigned rings_high(const struct rings *rings);
unsigned rings_left(const struct rings *rings);
/* Returns the number of records that the filter of rings_skip dropped. */
uint64_t rings_skipped(const struct rings *rings);
/* Returns the number of records that were delivered after a record with a later time. */
uint64_t rings_late(const struct rings *rings);
/* Returns the number of times that a ring was emptied because its content was malformed. */
uint64_t rings_broken(const struct rings *rings);
/* Returns the number of bytes that all rings map, including their control pages. */
size_t rings_bytes(const struct rings *rings);

/* Stores in fd[], for poll, up to `max` descriptors of the rings that are not quiet. Returns the number of all rings
 * that are not quiet. */
size_t rings_fds(const struct rings *rings, int *fd, size_t max);

/* Returns the descriptor of the ring with this kind and tag, and sets *bytes to its size without the control page; -1
 * and 0 if there is none. A second mapping of the descriptor, PROT_READ, shows the records. */
int rings_fd(const struct rings *rings, enum ring_kind kind, uint32_t tag, size_t *bytes);
/* Returns a number that changes whenever the result of rings_fds may change. */
uint64_t rings_generation(const struct rings *rings);
/* Sets whether a ring is quiet. rings_fds leaves out quiet rings: another thread polls their descriptors, and the
 * kernel reports each wakeup of a ring to one caller of poll only. */
void rings_set_quiet(struct rings *rings, enum ring_kind kind, uint32_t tag, bool quiet);

#endif
