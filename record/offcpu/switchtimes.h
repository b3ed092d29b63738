/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switchtimes.h - the times at which the kernel's scheduler counts a context switch, from the records of the switch.
 *
 * The scheduler reads its clock once in a switch: there the run time of the old thread ends, and that of the new one
 * begins. The records of the switch come later: the sample of the event context-switches first, then, after its
 * callchain, the SWITCH record of the old thread, and behind the switch the SWITCH record of the new one, 4 to 12 us
 * after the clock was read. So the time of the sample is taken for all three. Interrupts are off meanwhile, so no other
 * record of that CPU comes in between. Pure.
 */
#ifndef PJ_SWITCHTIMES_H
#define PJ_SWITCHTIMES_H

#include "record/perf/rings.h"

/* Longest time in ns between the SWITCH records of two threads that follow each other on a CPU, if the records do not
 * name the other thread (RECORD_SWITCH): another thread that ran in between for less is not noticed. */
#define SWITCHTIMES_ADJACENT_NS UINT64_C(10000)

struct switchtimes_cpu {
	uint32_t tid;     /* thread of the sample, or of the switch-out */
	uint32_t next;    /* thread that follows; UINT32_MAX: unknown */
	uint64_t sampled; /* time of the sample of a switch-out whose SWITCH record is to come; 0: none */
	/* time at which that switch counts, and of its SWITCH record; left is 0 if the latest record is another */
	uint64_t left, recorded;
};

/* The zero value is empty. */
struct switchtimes {
	struct switchtimes_cpu *cpu;
	size_t n;
};

void switchtimes_free(struct switchtimes *switchtimes);

/* Takes a record of a ring of switches, in order of time. Returns the time at which the switch of a SWITCH record
 * counts, which is not later than that of the record; for other records, their time. */
uint64_t switchtimes_record(struct switchtimes *switchtimes, const struct ring_record *record);

/* Forgets the latest records, since others were lost. */
void switchtimes_lost(struct switchtimes *switchtimes);

#endif
