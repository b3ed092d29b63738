/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waitlimits.h - limits for reads of stacks, in all and for the processes of a class (waitshare.h): their number, their
 * bytes and their duration, and a memory of reads that the kernel refuses.
 *
 * What a class loses by its limits it loses alone. Time is that of CLOCK_MONOTONIC in ns. Pure.
 */
#ifndef PJ_WAITLIMITS_H
#define PJ_WAITLIMITS_H

#include "common/base.h"

#define WAITLIMITS_READS 8000u /* most reads in a second */
#define WAITLIMITS_CLASS 6000u /* the same for a class */
/* Most bytes in a second for a class: a copy stays in the ring of 4 MB for 0.15 s, so a class has about half of it. */
#define WAITLIMITS_BYTES (UINT32_C(12) << 20)
/* A read delays those of all others for its duration, which is up to the owner of the memory (FUSE). Reads of a class
 * may last for 1 / WAITLIMITS_SHARE of the time, and for WAITLIMITS_AHEAD_NS at once; those of resident memory take
 * some us each. */
#define WAITLIMITS_AHEAD_NS UINT64_C(250000000)
#define WAITLIMITS_SHARE 8
/* time for which a process is not read after the kernel refused that */
#define WAITLIMITS_REFUSED_NS UINT64_C(10000000000)
enum {
	WAITLIMITS_CLASSES = 256,
	WAITLIMITS_PIDS = 4096,
	WAITLIMITS_VAIN = 16 /* refusals, without a read that succeeded before, after which none is tried */
};

/* Number of units that are left of a rate, and when they were last refilled. */
struct waitcredit {
	uint32_t left;
	uint64_t refilled;
};

struct waitlimits {
	struct waitcredit all, reads[WAITLIMITS_CLASSES], bytes[WAITLIMITS_CLASSES];
	uint64_t paid[WAITLIMITS_CLASSES]; /* end of the time that pays for the reads; in the past: no debt */
	struct {
		uint32_t pid;
		uint64_t until;
	} refused[WAITLIMITS_PIDS]; /* processes that may not be read, by the low bits of their pids */
	bool read;                  /* a read has succeeded */
	unsigned vain;
	uint64_t rest; /* nothing is read before this time */
};

/* Takes a read of n bytes off the limits of a class. Returns false, and takes none, if one is reached. */
bool waitlimits_take(struct waitlimits *waitlimits, uint8_t class, size_t n, uint64_t now);
/* Charges the duration of a read to its class. */
void waitlimits_charge(struct waitlimits *waitlimits, uint8_t class, uint64_t ns, uint64_t now);
/* Stores that a read of a process succeeded, or that the kernel refused it. */
void waitlimits_note(struct waitlimits *waitlimits, uint32_t pid, bool refused, uint64_t now);
/* Returns true if the kernel would refuse to read the process. */
bool waitlimits_refuses(const struct waitlimits *waitlimits, uint32_t pid, uint64_t now);

#endif
