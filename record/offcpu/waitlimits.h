/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waitlimits.h - limits for the number, bytes and duration of reads of stacks, for all processes and for each class
 * (waitshare.h), and a table of processes that the kernel refused to read.
 *
 * Reads that a class loses by its own limits do not affect other classes. All times are CLOCK_MONOTONIC in ns. Pure: no
 * input or output.
 */
#ifndef PJ_WAITLIMITS_H
#define PJ_WAITLIMITS_H

#include "common/base.h"

/* maximum number of reads per second, of all classes; further reads are refused */
#define WAITLIMITS_READS 8000u
/* maximum number of reads per second of one class; further reads are refused */
#define WAITLIMITS_CLASS 6000u
/* Maximum number of bytes per second of one class; further reads are refused. A copy stays in the ring of 4 MB for 0.15
 * s, so one class uses at most about half of the ring. */
#define WAITLIMITS_BYTES (UINT32_C(12) << 20)
/* Limits for the duration of reads of one class: 1 / WAITLIMITS_SHARE of the time, and WAITLIMITS_AHEAD_NS (ns) at
 * once. Beyond them, reads of the class are refused. The reason: a read delays all later ones, and the owner of the
 * memory can make it slow (FUSE). A read of resident memory takes some us. */
#define WAITLIMITS_AHEAD_NS UINT64_C(250000000)
#define WAITLIMITS_SHARE 8
/* time in ns for which a process is not read after the kernel has refused a read of it */
#define WAITLIMITS_REFUSED_NS UINT64_C(10000000000)
enum {
	WAITLIMITS_CLASSES = 256,
	WAITLIMITS_PIDS = 4096,
	/* number of refused reads, if no read has ever succeeded, after which no process is read for
	 * WAITLIMITS_REFUSED_NS */
	WAITLIMITS_VAIN = 16
};

/* Token bucket. left: number of units that may be used now. refilled: time of the last refill in ns. */
struct waitcredit {
	uint32_t left;
	uint64_t refilled;
};

struct waitlimits {
	struct waitcredit all, reads[WAITLIMITS_CLASSES], bytes[WAITLIMITS_CLASSES];
	/* for each class: time in ns up to which its past reads have used up its share of the time; if that time is
	 * WAITLIMITS_SHARE * WAITLIMITS_AHEAD_NS or more in the future, reads of the class are refused */
	uint64_t paid[WAITLIMITS_CLASSES];
	struct {
		uint32_t pid;
		uint64_t until;
		/* processes that the kernel refused to read, until time `until`; index: pid modulo WAITLIMITS_PIDS */
	} refused[WAITLIMITS_PIDS];
	bool read; /* true: a read of any process has succeeded */
	unsigned vain;
	uint64_t rest; /* time in ns before which no process is read */
};

/* Charges a read of n bytes to the limits of its class and of all classes, and returns true. Returns false, without
 * charging, if a limit is reached. class: class of the process (waitshare.h). now: time in ns. */
bool waitlimits_take(struct waitlimits *waitlimits, uint8_t class, size_t n, uint64_t now);
/* Charges the duration `ns` of a read to its class. now: time after the read. */
void waitlimits_charge(struct waitlimits *waitlimits, uint8_t class, uint64_t ns, uint64_t now);
/* Stores the result of a read of a process. refused: true: the kernel refused the read; false: it was successful. */
void waitlimits_note(struct waitlimits *waitlimits, uint32_t pid, bool refused, uint64_t now);
/* Returns true if process pid must not be read now: for WAITLIMITS_REFUSED_NS after the kernel refused a read of the
 * process. After the kernel refused WAITLIMITS_VAIN reads and no read had succeeded, returns true for all processes. */
bool waitlimits_refuses(const struct waitlimits *waitlimits, uint32_t pid, uint64_t now);

#endif
