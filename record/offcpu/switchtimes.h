/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switchtimes.h - the time at which the kernel's scheduler accounts a context switch, from the records of the switch.
 *
 * The scheduler reads its clock once in a switch. At that time the run time of the old thread ends, and the run time of
 * the new thread begins. The records of the switch are later: first the sample of the event context-switches; after its
 * callchain the SWITCH record of the old thread; and after the switch the SWITCH record of the new thread, 4 to 12 us
 * after the scheduler read its clock. So this module uses the time of the sample for both SWITCH records. Interrupts
 * are off during the switch, so no other record of that CPU comes in between. Pure: no input or output.
 */
#ifndef PJ_SWITCHTIMES_H
#define PJ_SWITCHTIMES_H

#include "record/perf/rings.h"

/* Maximum time in ns between the SWITCH records of two threads for which the second thread is assumed to follow the
 * first on the CPU. It is used for records that do not name the other thread (RECORD_SWITCH). A third thread that runs
 * in between for less than this time is not noticed. */
#define SWITCHTIMES_ADJACENT_NS UINT64_C(10000)

struct switchtimes_cpu {
	uint32_t tid;  /* tid of the thread of the latest sample or switch-out */
	uint32_t next; /* tid of the thread that follows the switch-out on the CPU; UINT32_MAX: unknown */
	/* time in ns of the sample of a switch-out whose SWITCH record is not read yet; 0: no such sample */
	uint64_t sampled;
	/* Time in ns at which, for the scheduler, the run of the thread of the latest switch-out ends: the time of the
	 * switch-out's sample or, without a sample, of its SWITCH record. 0: a switch-in is the latest record, or there
	 * is no record. */
	uint64_t left;
	/* time in ns of the SWITCH record of the latest switch-out */
	uint64_t recorded;
};

/* Latest records of n CPUs; index: CPU. A zeroed object is valid and empty. */
struct switchtimes {
	struct switchtimes_cpu *cpu;
	size_t n;
};

void switchtimes_free(struct switchtimes *switchtimes);

/* Applies a record of a ring of switches. The caller passes records in order of time. Returns the time in ns at which
 * the scheduler accounts the switch of a SWITCH record, at most the time of the record. For other records returns the
 * time of the record. */
uint64_t switchtimes_record(struct switchtimes *switchtimes, const struct ring_record *record);

/* Forgets the latest records of all CPUs, because records were lost: the next SWITCH records keep their own times. */
void switchtimes_lost(struct switchtimes *switchtimes);

#endif
