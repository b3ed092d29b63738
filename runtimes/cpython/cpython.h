/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpython.h - reads Python frames and their names from a process that runs CPython 3.8 to 3.15 as it is shipped:
 * without symbols, and without any flag of the process.
 *
 * cpython_open finds the layout of the interpreter's structures and proves it by live memory; it refuses an unknown
 * layout with a reason. cpython_threads lists the threads and the addresses of their thread states, which are the roots
 * for record/syncread. cpython_plan makes the plan by which record/syncread copies frames at a sample. cpython_frames
 * finds the frames in a copy; it is pure and checks every pointer. cpython_code reads the name of a frame's function
 * from live memory, and cpython_line the line: to be called within some 10 ms of the sample, since the process may free
 * the code object.
 *
 *   struct cpython_candidate candidate = { .base = first byte of the mapped file, .path = its path };
 *   if (cpython_open(&cpython, &memory, &candidate) == CPYTHON_OPEN)
 *           cpython_plan(&cpython.layout, &plan);
 *   n = cpython_threads(&cpython, thread, CPYTHON_THREADS_MAX);
 *   ... threadcopy ...
 *   end = cpython_frames(&cpython.layout, copy, &stack);
 *   cpython_code(&cpython, &stack.frame[0], &code);  line = cpython_line(&cpython, &code, &stack.frame[0]);
 *
 * All memory of the process is hostile. The functions read through struct memory, within its budget. The caller sets
 * memory.budget, and calls memory_forget before it reads data that may have changed. A struct cpython owns no
 * resources: there is nothing to close.
 */
#ifndef PJ_CPYTHON_H
#define PJ_CPYTHON_H

#include "runtimes/memory/evalcode.h"
#include "runtimes/threadcopy.h"

#define CPYTHON_FRAMES_MAX 4096u
#define CPYTHON_THREADS_MAX 16384u
#define CPYTHON_NAME_MAX 512u /* maximum size of the name of a function, and of a file name, in bytes with the NUL */

/* Offsets in the structures of one build, in bytes. A field that the build lacks is CPYTHON_NO_FIELD. */
#define CPYTHON_NO_FIELD UINT32_MAX
struct cpython_layout {
	uint32_t version; /* minor version: 8 to 15 */
	struct {
		uint32_t interpreters; /* offset of the pointer to the first interpreter */
		uint32_t gil;          /* offset of the GIL (before 3.12) */
	} runtime;
	struct {
		uint32_t next, threads;
		uint32_t gil; /* offset of the pointer to the GIL (since 3.12) */
	} interpreter;
	struct {
		/* offsets of the pointer to the thread state that held the GIL last, and of an int that is 1 while the
		 * GIL is held */
		uint32_t holder, locked;
	} gil;
	struct {
		uint32_t next, prev, interpreter, thread_id, native_thread_id;
		uint32_t frame;  /* offset of the pointer to the innermost frame; in 3.11 and 3.12, to the _PyCFrame */
		uint32_t cframe; /* offset in the _PyCFrame of the pointer to the innermost frame */
	} thread;
	struct {
		uint32_t code, previous, instruction, globals, bytes;
		/* offsets in a frame of two fields of one byte each: is_entry (3.11), 1 for an entry frame, and owner
		 * (enum cpython_owner) */
		uint32_t is_entry, owner;
		uint32_t tag; /* bits of the pointer to the code object that are no part of the address */
	} frame;
	struct {
		uint32_t filename, name, qualname, lines, firstline, bytecode, bytes;
	} code;
	struct {
		uint32_t ascii, compact; /* offsets of the characters of an ASCII str and of any other str */
	} string;
};

struct cpython {
	struct memory *memory; /* memory of the process; owned by the caller */
	struct loadedfile file;
	struct cpython_layout layout;
	uint32_t hexversion; /* PY_VERSION_HEX; 0 if unknown */
	uint64_t runtime;    /* address of _PyRuntime */
	/* Addresses of the type objects PyCode_Type, PyUnicode_Type, PyBytes_Type and PyDict_Type. */
	uint64_t code_type, string_type, bytes_type, dict_type;
	struct evalcode eval; /* code of _PyEval_EvalFrameDefault */
	/* Reason of a result of cpython_open other than CPYTHON_OPEN, as a sentence about the process. */
	char why[160];
};

/* A mapped file that may be CPython. */
struct cpython_candidate {
	uint64_t base; /* address at which the first byte of the file is mapped */
	struct str path;
};

/* Returns true if the file at this path may be CPython: a program such as python3.11, or a library such as
 * libpython3.11.so.1.0. The path may end with " (deleted)". The path is hostile, so true is only a guess: cpython_open
 * decides. Pure. */
bool cpython_is_library(struct str path);

enum cpython_answer {
	CPYTHON_OPEN,
	/* The file is not CPython: a program that uses the libpython of another candidate, or any other file. */
	CPYTHON_OTHER_FILE,
	/* The interpreter has no thread or no frame yet, or is finalizing; the caller may try again. */
	CPYTHON_EARLY,
	/* The layout is unknown or contradicts the memory; cpython.why names the build. */
	CPYTHON_REFUSED,
	/* The memory is not readable, or memory.budget is exceeded. */
	CPYTHON_UNREADABLE
};

/* Opens the CPython of a process. Returns CPYTHON_OPEN on success, otherwise the kind of the failure. memory must exist
 * as long as *cpython. */
enum cpython_answer cpython_open(struct cpython *cpython, struct memory *memory,
				 const struct cpython_candidate *candidate);

/* A thread of an interpreter. */
struct cpython_thread {
	uint32_t tid;   /* thread id in the innermost PID namespace of the process */
	uint64_t state; /* address of its PyThreadState, the root for threadcopy */
	uint64_t interpreter;
};

/* Fills thread[0..cap) with the threads of all interpreters, by ascending tid, and returns their number. Threads that
 * are just starting or ending, whose list entry is inconsistent, are left out. If a thread has states in several
 * interpreters, the only state with a frame is returned. If no state, or more than one, has a frame, the running one is
 * unknown, and the thread is left out. */
size_t cpython_threads(struct cpython *cpython, struct cpython_thread *thread, size_t cap);

/* Returns the address of the state of the thread that holds the GIL of an interpreter; 0 if no thread holds it or
 * the holder is unknown. */
uint64_t cpython_gil_holder(struct cpython *cpython, uint64_t interpreter);

/* Sets *plan to the plan that copies frames and their code objects. Pure. */
void cpython_plan(const struct cpython_layout *layout, struct threadplan *plan);

/* Owner of a frame's memory. */
enum cpython_owner { CPYTHON_OWNED_BY_THREAD, CPYTHON_OWNED_BY_GENERATOR, CPYTHON_OWNED_BY_OBJECT };

struct cpython_frame {
	uint64_t frame;   /* address of the frame */
	uint64_t code;    /* address of the code object */
	uint64_t globals; /* address of the dict of global variables */
	/* address of the current instruction; before 3.11: its offset in the bytecode, in bytes */
	uint64_t instruction;
	/* hash of the code object's fields at the time of the sample, from the copy; 0 if the copy does not contain
	 * them */
	uint64_t copied;
	/* true for an entry frame: C code entered it, and an activation of the eval function ends with it */
	bool entry;
	uint8_t owner; /* enum cpython_owner */
};

enum cpython_end {
	CPYTHON_COMPLETE,  /* the frames reach the outermost frame of the thread */
	CPYTHON_NO_FRAME,  /* the thread runs no Python function */
	CPYTHON_TRUNCATED, /* the copy ends early, or a maximum is reached; the frames are the innermost ones */
	/* A pointer is impossible: a cycle, an unaligned address, a wrong owner. The frames before it may be wrong,
	 * too: the caller discards all frames. */
	CPYTHON_IMPOSSIBLE
};

struct cpython_stack {
	uint32_t n;
	struct cpython_frame frame[CPYTHON_FRAMES_MAX]; /* frames, innermost first */
};

/* Finds the frames in a copy, and returns how they end. Frames that only mark entries from C are left out. Pure. */
enum cpython_end cpython_frames(const struct cpython_layout *layout, const struct threadcopy *copy,
				struct cpython_stack *stack);

/* A code object. The caller may cache it for other frames with the same code and globals. */
struct cpython_code {
	uint64_t address, globals;
	uint64_t bytecode;       /* address of the first instruction */
	uint32_t bytecode_bytes; /* size of the bytecode in bytes, or an upper bound of it */
	uint64_t lines;          /* address of the bytes object with the line table */
	int32_t firstline;
	/* Name: `module.qualname`; before 3.11, `module.name`. module is __name__ of the globals, or else the base
	 * name of the file without its suffix. NUL-terminated UTF-8; NUL and lone surrogates become U+FFFD. Control
	 * bytes are not replaced. A longer name ends with "...". */
	char name[CPYTHON_NAME_MAX];
	char file[CPYTHON_NAME_MAX]; /* file name (co_filename) */
};

enum cpython_code_answer {
	CPYTHON_CODE_READ,
	/* CPython pushed the frame for its own use (a clean-up after __init__). It has no function, and is not
	 * displayed. */
	CPYTHON_CODE_INTERNAL,
	/* The memory at frame->code is not readable or is no code object: the function has ended, or the frame is
	 * invalid. */
	CPYTHON_CODE_NONE
};

/* Reads the code object of a frame from live memory to *code. Returns CPYTHON_CODE_READ on success. Checks every object
 * that it reads: types, lengths, kinds of strings. */
enum cpython_code_answer cpython_code(struct cpython *cpython, const struct cpython_frame *frame,
				      struct cpython_code *code);

/* Returns a number that distinguishes the code object of a frame from others that were at the same address: a hash of
 * all fields that never change, of the contents of its names, and of the start of its line table. The fields include
 * the version of the code object, which is unique since 3.12. Returns 0 if the memory is not readable or is no code
 * object, or if its hash differs from frame->copied. */
uint64_t cpython_identify(struct cpython *cpython, const struct cpython_frame *frame);

/* Returns the address of the frame's instruction in the bytecode of `code`, or 0 if the instruction is not in it.
 * Pure. */
uint64_t cpython_instruction(const struct cpython_layout *layout, const struct cpython_code *code,
			     const struct cpython_frame *frame);

/* Returns the line of the frame's instruction; 0 if the line table has none for it, or is not readable. */
uint32_t cpython_line(struct cpython *cpython, const struct cpython_code *code, const struct cpython_frame *frame);

#endif
