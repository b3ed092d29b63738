/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waithelper.h - the helper process pjrecord-wait: reads the stacks of threads while they are off the CPU.
 *
 * It maps the rings of context switches a second time, read-only, and follows them with its own cursors. pjrecord takes
 * the records out independently of this process. Once a thread has been off the CPU for WAITHELPER_DELAY_NS,
 * pjrecord-wait copies the thread's stack from sp upwards with process_vm_readv; the kernel checks at each read whether
 * pjrecord-wait may read the target. pjrecord-wait cannot decide if the thread was off the CPU all the time: pjrecord
 * decides that when it has the records of all CPUs (offcpu_verdict).
 *
 * A thread that has been off the CPU since before the recording has no record. pjrecord sends a descriptor of its file
 * `syscall`, which shows the stack pointer and the address of the next instruction, but only while the thread sleeps.
 * The kernel checks at the read whether this process may read the file. The copy of such a thread has the sample time 0
 * and these two registers, in this order.
 *
 * After the stack of a thread of an interpreter, the process copies its interpreted frames (waitframes.h): it follows
 * pointers of the target by a plan, for at most WAITHELPER_FRAMES_NS, and parses nothing else of the target. If
 * pjrecord enters a thread in the table of waitframes.h when its stack was read already in the current wait, the
 * process reads that thread again.
 *
 * The only capability of the process is CAP_SYS_PTRACE. A target can make a read hang for as long as it likes
 * (userfaultfd, FUSE): pjrecord then kills and replaces the process.
 */
#ifndef PJ_WAITHELPER_H
#define PJ_WAITHELPER_H

#include "record/offcpu/waitframes.h"
#include "record/offcpu/waitshare.h"

#define WAITHELPER_DELAY_NS UINT64_C(50000) /* minimum time off the CPU in ns before a thread is read */
/* minimum sleep in ns between two polls of the rings */
#define WAITHELPER_POLL_NS UINT64_C(200000)
#define WAITHELPER_POLL_MOST_NS UINT64_C(10000000) /* maximum sleep in ns between two polls of the rings */
/* minimum sleep between two polls, as a multiple of the CPU time of a poll */
#define WAITHELPER_SHARE 25u
/* Maximum duration in ns of a copy of frames, and maximum time in ns between a poll of the rings and a copy of frames;
 * otherwise the frames are left out. In so short a time the kernel does not give a tid to another process again, since
 * it assigns tids in turn. */
#define WAITHELPER_FRAMES_NS UINT64_C(50000000)
/* maximum number of CPUs whose rings pjrecord-wait follows; rings of further CPUs are ignored */
enum { WAITHELPER_CPUS = 1024 };

enum waithelper_kind {
	WAITHELPER_RINGS, /* stop following all rings that were sent before */
	/* Follow the ring of context switches of CPU `cpu`. The descriptor of the ring comes with the message. bytes:
	 * size of the ring in bytes, without its control page. */
	WAITHELPER_RING,
	/* Read thread `tid` of process `pid` if it is off the CPU. The descriptor of the thread's
	 * /proc/PID/task/TID/syscall comes with the message. */
	WAITHELPER_THREAD,
};
struct waithelper_message {
	uint32_t kind; /* enum waithelper_kind */
	uint32_t cpu, pid, tid;
	uint64_t bytes;
};

struct waithelper_options {
	int socket;
	struct waitshare *share;
	struct waitframes *frames; /* shared memory for interpreted frames; NULL: such frames are not copied */
	/* nregisters: number of user registers in a sample of a context switch. sp: index of the stack pointer among
	 * them. */
	uint32_t nregisters, sp;
	uint64_t sample_type;
};
/* Runs pjrecord-wait, which receives struct waithelper_message from `socket`, until pjrecord closes its end of the
 * socket. The caller must then exit. */
void waithelper_run(const struct waithelper_options *options);

#endif
