/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interphelper.h - helper process that parses the memory of interpreters and the copies of their frames, and the
 * messages between it and the recorder (interpclient.h).
 *
 * The recorder opens /proc/PID/mem and /proc/PID/maps and sends the descriptors to the helper, as for JVMs
 * (jvmhelper.h). The helper has no capability, opens no file, and has a memory limit. The recorder checks all that it
 * receives, as a hostile process may have taken control of the helper.
 *
 * Requests and replies are SOCK_SEQPACKET messages. Copies of frames and arrays are too large for messages: they are in
 * memory that both processes share. The helper may access this memory from a request to its reply, the recorder at all
 * other times. Both processes run the same build, so the messages need no version.
 */
#ifndef PJ_INTERPHELPER_H
#define PJ_INTERPHELPER_H

#include "record/interpreters/interpreter.h"

#include <sys/types.h>

enum interp_question {
	INTERP_OPEN,    /* open a process; the reply has its plan, eval functions and threads */
	INTERP_THREADS, /* list the threads of an open process again */
	INTERP_FRAMES,  /* find the frames in copies, and name them */
	INTERP_CLOSE    /* close a process; has no reply */
};

enum {
	INTERP_SLOTS = 1024,                           /* maximum number of open processes */
	INTERP_TEXT_MAX = 1 << 20,                     /* maximum number of bytes of names and files in one reply */
	INTERP_COPIES = 32,                            /* maximum number of copies in one request */
	INTERP_FRAMES_MAX = 2 * INTERPRETER_FRAMES_MAX /* maximum number of frames in one reply */
};

/* Indexes of the descriptors of /proc/PID/mem and /proc/PID/maps that an INTERP_OPEN request carries. */
enum { INTERP_FD_MEM, INTERP_FD_MAPS, INTERP_FDS };

struct interp_request {
	uint64_t serial; /* serial number of the request; the reply has the same number */
	uint32_t question, slot;
	uint32_t ncopies, zero; /* ncopies: for INTERP_FRAMES, the number of copies; `slot` is not used then */
	uint64_t process;       /* for INTERP_OPEN: number of the process in this recording, never reused */
};

/* One copy of an INTERP_FRAMES request. `slot` and `offset` are set by the recorder, the other members are the helper's
 * reply. The copies themselves lie in interp_shared.copy, one after the other. */
struct interp_copy {
	/* slot: slot of the process; offset: offset in bytes of the struct threadcopy in interp_shared.copy, a multiple
	 * of 8 */
	uint32_t slot, offset;
	/* The helper sets the members below, which are 0 in the request. */
	uint32_t end;  /* completeness of the frames, an enum interpreter_end */
	uint32_t n;    /* number of frames; in the reply's array, they follow the frames of the copy before this one */
	uint32_t lost; /* 1: the process is not open in the helper, so the copy has no frames */
	/* number of frames whose code was not read before the sample, plus 1 if the code of the innermost frame is not
	 * in the copy */
	uint32_t unknown;
	/* offset in interp_shared.text, and size in bytes, of the names and files of the copy's frames */
	uint32_t text, bytes;
	uint32_t reuses; /* 1: a frame's code replaced other code at its address, or is likely to be replaced itself */
	uint32_t zero;
	uint64_t stack_low, stack_high; /* bounds of the native stack, as in struct interpreter_list */
	/* For a thread off the CPU: time in ns of the last read (of frames or of a name) whose result is valid only if
	 * the thread was still off the CPU then. 0: no result depends on that. */
	uint64_t named_by;
};

/* A frame in the reply to INTERP_FRAMES. The frames of a copy are stored innermost first. */
struct interp_frame {
	uint64_t address; /* address of the instruction; it stands for the frame in callchains */
	uint64_t frame;   /* address of the frame in the process */
	/* instruction pointer of the native frame, for an interpreter whose frames are on the native stack */
	uint64_t pc;
	uint32_t line;
	/* offset in bytes of name and file in the text of the copy (interp_copy.text), and their size in bytes; 0
	 * bytes: no name */
	uint32_t text, bytes;
	uint8_t entry, named; /* entry: 1 for an entry frame; named: enum interpreter_named */
	uint8_t first;        /* 1: the frame runs no instruction (interpreter_place.first) */
	uint8_t tier;         /* kind of code that runs the function, an enum interpreter_tier */
};

struct interp_reply {
	uint64_t serial;
	uint32_t answer; /* reply to INTERP_OPEN: result, an enum interpreter_answer */
	uint32_t n; /* number of threads (INTERP_OPEN, INTERP_THREADS), or of frames of all copies (INTERP_FRAMES) */
	uint32_t bytes; /* reply to INTERP_FRAMES: number of bytes in interp_shared.text */
	uint32_t language;
	/* INTERP_OPEN, INTERP_THREADS: 1 if the process is not open, or can no longer be read */
	uint32_t lost;
	uint32_t nevals; /* reply to INTERP_OPEN: number of elements of eval */
	struct onestack_range eval[INTERPRETER_EVALS_MAX];
	struct threadplan plan;
	char why[INTERPRETER_WHY];
};

/* Layout of the memory that recorder and helper share. */
struct interp_shared {
	/* the copies of an INTERP_FRAMES request: one of maximum size, or several smaller ones */
	_Alignas(8) char copy[sizeof(struct threadcopy) + THREADCOPY_BYTES];
	struct interp_copy of_copy[INTERP_COPIES];
	union {
		struct interpreter_thread thread[INTERPRETER_THREADS_MAX];
		struct {
			struct interp_frame frame[INTERP_FRAMES_MAX];
			char text[INTERP_TEXT_MAX];
		};
	};
};

/* Forks the helper process, which performs requests until the recorder closes its end of the socket. socket: the
 * helper's end; memory: descriptor of struct interp_shared. sibling: true: makes the helper a child of the calling
 * process's parent; the calling process must then have no other threads (helperprocess.h). Returns the pid of the
 * helper; 0 on failure. */
pid_t interphelper_fork(int socket, int memory, bool sibling);

#endif
