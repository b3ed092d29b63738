/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waithelper.h - the process pjrecord-wait: reads the stacks of threads while they are off the CPU.
 *
 * It maps the rings of context switches a second time, read-only, and follows them with cursors of its own; pjrecord
 * takes the records out, whatever this process does. A thread that has been off the CPU for WAITHELPER_DELAY_NS is read
 * by process_vm_readv, from sp upwards: the kernel checks at each read whether this process may read that one. Whether
 * the thread was off the CPU all the time is not known here: pjrecord decides that when it has the records of all CPUs
 * (offcpu_copy_verdict).
 *
 * A thread that is off the CPU since before the recording has no record: pjrecord sends a descriptor of its file
 * `syscall`, which has the stack pointer and the address of the next instruction, but only while the thread sleeps. The
 * kernel checks at the read whether this process may read that. A copy of such a thread has the time 0, and these two
 * registers in this order.
 *
 * After the stack of a thread of an interpreter, the process copies its interpreted frames (waitframes.h): it follows
 * pointers of the target by a plan, at most WAITHELPER_FRAMES_NS, and parses nothing else of it. A thread that is
 * entered there only while it is off the CPU, such as in its first wait, is read again then.
 *
 * The process keeps CAP_SYS_PTRACE alone, and may hang in a read for as long as the target decides (userfaultfd, FUSE):
 * pjrecord then kills and replaces it.
 */
#ifndef PJ_WAITHELPER_H
#define PJ_WAITHELPER_H

#include "record/offcpu/waitframes.h"
#include "record/offcpu/waitshare.h"

#define WAITHELPER_DELAY_NS UINT64_C(50000)        /* shortest time off the CPU after which a thread is read */
#define WAITHELPER_POLL_NS UINT64_C(200000)        /* shortest sleep between two looks at the rings */
#define WAITHELPER_POLL_MOST_NS UINT64_C(10000000) /* longest one */
#define WAITHELPER_SHARE 25u                       /* it sleeps for so many times its CPU time of a look */
/* Longest time for a copy of frames, and since the records were followed, in which no thread id can be that of another
 * process again: the kernel gives them out in turn. */
#define WAITHELPER_FRAMES_NS UINT64_C(50000000)
enum { WAITHELPER_CPUS = 1024 }; /* most CPUs whose rings it follows */

enum waithelper_kind {
	WAITHELPER_RINGS, /* the rings that were sent before are followed no more */
	WAITHELPER_RING, /* a ring of context switches of `cpu`, with its descriptor; bytes: without the control page */
	WAITHELPER_THREAD, /* a thread to be read if it is off the CPU, with the descriptor of its
			      /proc/PID/task/TID/syscall */
};
struct waithelper_message {
	uint32_t kind; /* enum waithelper_kind */
	uint32_t cpu, pid, tid;
	uint64_t bytes;
};

struct waithelper_options {
	int socket;
	struct waitshare *share;
	struct waitframes *frames; /* NULL: frames of interpreters are not read */
	uint32_t nregisters, sp;   /* number of user registers of a sample; index of the stack pointer among them */
	uint64_t sample_type;
};
/* Runs the process until the other end of `socket` is closed. Messages on it are struct waithelper_message. */
void waithelper_run(const struct waithelper_options *options);

#endif
