/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interphelper.h - the process that parses the memory of interpreters and the copies of their frames, and the messages
 * between it and the recorder (interpclient.h).
 *
 * The recorder opens /proc/PID/mem and /proc/PID/maps and sends the descriptors, as for JVMs (jvmhelper.h). The helper
 * has no capability, opens no file, and has a memory limit. The recorder checks all that it receives: a process may
 * have taken the helper over.
 *
 * Requests and replies are SOCK_SEQPACKET messages. Copies and arrays are too large for them: they are in memory that
 * both processes share, which belongs to the helper from a request to its reply. Both ends are of one build.
 */
#ifndef PJ_INTERPHELPER_H
#define PJ_INTERPHELPER_H

#include "record/interpreters/interpreter.h"

enum interp_question {
	INTERP_OPEN,    /* opens a process: plan, eval function, threads */
	INTERP_THREADS, /* lists the threads again */
	INTERP_FRAMES,  /* finds and names the frames in the copies */
	INTERP_CLOSE    /* closes a process; has no reply */
};

enum {
	INTERP_SLOTS = 1024,                           /* maximum number of open processes */
	INTERP_TEXT_MAX = 1 << 20,                     /* maximum bytes of the names and files of one request */
	INTERP_COPIES = 32,                            /* maximum number of copies of one request */
	INTERP_FRAMES_MAX = 2 * INTERPRETER_FRAMES_MAX /* maximum number of frames of one reply */
};

/* Indexes of the descriptors of /proc/PID/mem and /proc/PID/maps that an INTERP_OPEN request carries. */
enum { INTERP_FD_MEM, INTERP_FD_MAPS, INTERP_FDS };

struct interp_request {
	uint64_t serial; /* serial number of the request; the reply has the same one */
	uint32_t question, slot;
	uint32_t ncopies, zero; /* FRAMES: number of copies; `slot` is not used */
	uint64_t process;       /* OPEN: number of the process in this recording, never reused */
};

/* A copy of a request, and the reply to it: the copies lie in struct interp_shared, one after the other. */
struct interp_copy {
	uint32_t slot, offset; /* of the process; of the struct threadcopy, a multiple of 8 */
	/* the reply */
	uint32_t end;     /* enum interpreter_end */
	uint32_t n;       /* number of frames: they follow those of the copy before */
	uint32_t lost;    /* 1: the process cannot be read any longer */
	uint32_t unknown; /* number of frames whose code was not read before the sample, and 1 if that of the innermost
			     one was not copied */
	uint32_t text, bytes; /* offset and size of the names and files of its frames in the text */
	uint32_t reuses;      /* 1: code of a frame replaced other code at its address, or is likely to be replaced */
	uint32_t zero;
	uint64_t stack_low, stack_high; /* of struct interpreter_list */
	/* of a thread off the CPU: the time of the last read, of frames or a name, that is right only if the thread was
	 * still off the CPU; 0: none was */
	uint64_t named_by;
};

/* A frame in the reply to INTERP_FRAMES, innermost first. */
struct interp_frame {
	uint64_t address; /* of the instruction */
	uint64_t frame;   /* address of the frame in the process */
	uint64_t pc;      /* of its native frame, for an interpreter whose frames are on the native stack */
	uint32_t line;
	uint32_t text, bytes; /* offset of name and file in the text of its copy, and their size; 0 bytes: no name */
	uint8_t entry, named; /* named: enum interpreter_named */
	uint8_t first;        /* interpreter_place.first */
	uint8_t tier;         /* enum interpreter_tier */
};

struct interp_reply {
	uint64_t serial;
	uint32_t answer; /* OPEN: enum interpreter_answer */
	uint32_t n;      /* number of elements of the array: threads (OPEN, THREADS), frames of all copies (FRAMES) */
	uint32_t bytes;  /* FRAMES: size of the text that follows the frames */
	uint32_t language;
	/* OPEN, THREADS: 1: the process cannot be read any longer */
	uint32_t lost;
	uint32_t nevals; /* OPEN */
	struct onestack_range eval[INTERPRETER_EVALS_MAX];
	struct threadplan plan;
	char why[INTERPRETER_WHY];
};

/* Memory that recorder and helper share. */
struct interp_shared {
	/* FRAMES: one copy of any size, or several smaller ones */
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

/* Enters the sandbox and answers requests until the recorder closes the socket. */
void interphelper_run(int socket, struct interp_shared *shared);

#endif
