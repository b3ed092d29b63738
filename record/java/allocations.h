/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allocations.h - class and bytes of an allocation, from a sample at the entry of a function by which HotSpot reports
 * it.
 *
 * HotSpot calls AllocTracer::send_allocation_in_new_tlab(Klass*, HeapWord*, size_t tlab_size, size_t alloc_size,
 * Thread*) when an allocation needs a new TLAB, and send_allocation_outside_tlab(Klass*, HeapWord*, size_t alloc_size,
 * Thread*) for an object outside of TLABs (allocTracer.hpp; both take bytes). The first and the third argument are
 * class and bytes of both. A TLAB counts with its full size for the class of its first object, as in JFR's events. So
 * the sum of all samples is the allocated memory, plus the unused ends of TLABs. Class and bytes come from registers of
 * the process, which may be hostile.
 */
#ifndef PJ_ALLOCATIONS_H
#define PJ_ALLOCATIONS_H

#include "common/text.h"
#include "record/perf/rings.h"

struct allocation {
	uint64_t klass; /* address of the Klass of the object */
	uint64_t bytes; /* size of the TLAB, or of the object outside of TLABs */
};

/* Fills *allocation from the user registers of a sample with the attributes attr. Returns false if the sample has no
 * registers of a 64-bit process, if `klass` is no aligned address of user space, or if `bytes` is 0 or more than
 * `most`; *allocation is then undefined. */
bool allocation_read(const struct perf_event_attr *attr, const struct ring_sample *sample, uint64_t most,
		     struct allocation *allocation);

/* The last allocations of a recording. Containers that share a file by an overlay file system have mappings with
 * devices and inodes of their own, so pjrecord opens events for each of these mappings. But the kernel places all their
 * probes in the one file below them (seen with 6.18), so one call makes a sample of each event. */
struct allocation_history;

struct allocation_history *allocation_history_new(void);
void allocation_history_free(struct allocation_history *history);

/* Returns true if a sample repeats the last sample of its thread in the history: the same call, recorded for another
 * event. The call is the same if all user registers are equal: a later call has other registers, since the address of
 * the new object is an argument. Otherwise adds the sample to the history and returns false. The target process
 * controls the registers, so the caller may use the result only to drop a sample of that process, and never to close an
 * event. */
bool allocation_repeats(struct allocation_history *history, const struct perf_event_attr *attr,
			const struct ring_sample *sample, uint64_t event);

/* Sets the period of a sample with PERF_SAMPLE_PERIOD to the allocated bytes; 0: the bytes are unknown. */
void allocation_weigh(struct text *sample, uint64_t bytes);

/* Returns true if allocation_put_class can add a class to a sample with PERF_SAMPLE_PERIOD; false if the sample has no
 * user stack, its tenant is over budget (overbudget.h), or it has no space for the class. */
bool allocation_has_place(const struct text *sample);

/* Adds the class as the leaf frame of a sample with PERF_SAMPLE_PERIOD, as PJ_CLASS_BIT (pjsection.h) describes.
 * Returns false, without a change, if allocation_has_place returns false. */
bool allocation_put_class(struct text *sample, uint64_t klass);

/* Numbers of samples of allocations. */
struct allocation_counts {
	uint64_t implausible; /* arguments are implausible: 0 bytes and no class */
	uint64_t repeated;    /* dropped, because another event has a sample of the same call */
	uint64_t unread;      /* class without a name, because the process could not be read as a JVM */
	uint64_t left_out;    /* class without a name, because of the limits of javanames.h */
};

/* Appends a sentence with the numbers of samples without bytes or class, and advice. Appends nothing if there are none.
 * verbose: true: with the numbers of samples of unreadable processes, and of repeated ones. */
void allocation_counts_text(struct text *text, const struct allocation_counts *counts, bool verbose);

/* Returns the largest plausible size of an allocation: the memory of this host in bytes. */
uint64_t allocation_limit(void);

#endif
