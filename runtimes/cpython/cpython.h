/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpython.h - Python frames of a process that runs CPython 3.8 to 3.15, as it is shipped: no flag, no symbols.
 *
 * cpython_open finds the layout of the interpreter's structures and proves it on the live memory; an unknown layout is
 * refused with one line. cpython_threads lists the threads and the addresses of their states: the roots for
 * record/syncread. cpython_plan makes the plan of what it copies at a sample. cpython_frames finds the frames in a
 * copy: pure, every link is checked. cpython_code reads the name of a frame's function from live memory, within 10 ms
 * of the sample, and cpython_line the line.
 *
 * struct cpython_candidate candidate = { .base = first byte of the mapped file, .path = its path };
 * if (cpython_open(&cpython, &memory, &candidate) == CPYTHON_OPEN)
 *	cpython_plan(&cpython, &plan);
 * n = cpython_threads(&cpython, thread, CPYTHON_THREADS_MAX);
 * ... threadcopy ...
 * end = cpython_frames(&cpython.layout, copy, &stack);
 * cpython_code(&cpython, &stack.frame[0], &code);  line = cpython_line(&cpython, &code, &stack.frame[0]);
 *
 * All memory of the process is hostile. The functions read through struct memory, within its budget; the caller sets
 * memory.budget, and calls memory_forget before it reads data that may have changed. A struct cpython has no resources:
 * there is nothing to close.
 */
#ifndef PJ_CPYTHON_H
#define PJ_CPYTHON_H

#include "runtimes/memory/evalcode.h"
#include "runtimes/threadcopy.h"

#define CPYTHON_FRAMES_MAX 4096u
#define CPYTHON_THREADS_MAX 16384u
#define CPYTHON_NAME_MAX 512u /* maximum number of bytes of a function's name, and of a file's name, with its NUL */

/* Offsets in the structures of one build, in bytes. A field that the build lacks is CPYTHON_NO_FIELD. */
#define CPYTHON_NO_FIELD UINT32_MAX
struct cpython_layout {
	uint32_t version; /* minor version: 8 to 15 */
	struct {
		uint32_t interpreters; /* pointer to the first interpreter */
		uint32_t gil;          /* the GIL itself, before 3.12 */
	} runtime;
	struct {
		uint32_t next, threads;
		uint32_t gil; /* pointer to the GIL, since 3.12 */
	} interpreter;
	struct {
		uint32_t holder, locked; /* pointer to the thread that held it last; int: 1 while it is held */
	} gil;
	struct {
		uint32_t next, prev, interpreter, thread_id, native_thread_id;
		uint32_t frame;  /* pointer to the innermost frame, or to the _PyCFrame (3.11, 3.12) */
		uint32_t cframe; /* offset in the _PyCFrame of the pointer to the innermost frame */
	} thread;
	struct {
		uint32_t code, previous, instruction, globals, bytes;
		uint32_t is_entry, owner; /* one byte each */
		uint32_t tag;             /* bits of the pointer to the code object that are no address */
	} frame;
	struct {
		uint32_t filename, name, qualname, lines, firstline, bytecode, bytes;
	} code;
	struct {
		uint32_t ascii, compact; /* offset of the characters of a str: ASCII, other */
	} string;
};

struct cpython {
	struct memory *memory; /* of the caller */
	struct loadedfile file;
	struct cpython_layout layout;
	uint32_t hexversion; /* PY_VERSION_HEX; only major and minor version are set if the build exports no more */
	uint64_t runtime;    /* address of _PyRuntime */
	/* Addresses of the types: PyCode_Type, PyUnicode_Type, PyBytes_Type, PyDict_Type. */
	uint64_t code_type, string_type, bytes_type, dict_type;
	struct evalcode eval; /* code of _PyEval_EvalFrameDefault */
	/* Result of cpython_open in one sentence about the process, if it is not CPYTHON_OPEN. */
	char why[160];
};

/* A mapped file that may be CPython. */
struct cpython_candidate {
	uint64_t base; /* address at which its first byte is mapped */
	struct str path;
};

/* Returns true if a file of this path may be CPython: a program like python3.11 or a library like libpython3.11.so.1.0;
 * the path may end with " (deleted)". The path is hostile: cpython_open decides. Pure. */
bool cpython_is_library(struct str path);

enum cpython_answer {
	CPYTHON_OPEN,
	/* The file is not CPython: a program that uses the libpython of another candidate, or a stranger. */
	CPYTHON_OTHER_FILE,
	/* The interpreter has no thread or no frame yet, or is finalizing: the caller may try again. */
	CPYTHON_EARLY,
	/* The layout is unknown or contradicts the memory; why names the build. */
	CPYTHON_REFUSED,
	/* The memory is not readable, or memory.budget is exceeded. */
	CPYTHON_UNREADABLE
};

/* Opens the CPython of a process. memory must exist as long as *cpython. */
enum cpython_answer cpython_open(struct cpython *cpython, struct memory *memory,
				 const struct cpython_candidate *candidate);

/* A thread of an interpreter. */
struct cpython_thread {
	uint32_t tid;   /* thread id in the innermost PID namespace of the process */
	uint64_t state; /* address of its PyThreadState: the root for threadcopy */
	uint64_t interpreter;
};

/* Fills thread[0..cap) with the threads of all interpreters, by ascending tid, and returns their number. A thread that
 * is just starting or ending, whose list entry contradicts itself, is left out. A thread that has states in several
 * interpreters is there with the only one that has a frame; if several have one, which of them runs is unknown, and the
 * thread is left out. */
size_t cpython_threads(struct cpython *cpython, struct cpython_thread *thread, size_t cap);

/* Returns the state of the thread that holds the GIL of an interpreter; 0 if none does or it is unknown. */
uint64_t cpython_gil_holder(struct cpython *cpython, uint64_t interpreter);

/* Sets *plan to the plan of this build. Pure. */
void cpython_plan(const struct cpython_layout *layout, struct threadplan *plan);

/* Kind of a frame: where its memory comes from. */
enum cpython_owner { CPYTHON_OWNED_BY_THREAD, CPYTHON_OWNED_BY_GENERATOR, CPYTHON_OWNED_BY_OBJECT };

struct cpython_frame {
	uint64_t frame;       /* address of the frame */
	uint64_t code;        /* address of the code object */
	uint64_t globals;     /* address of the dict of global variables */
	uint64_t instruction; /* address of the instruction; before 3.11: its offset in the bytecode, in bytes */
	uint64_t copied;      /* hash of the fields of the code object at the sample, from the copy; 0: not copied */
	bool entry;           /* the frame was entered from C: an activation of the eval function ends with it */
	uint8_t owner;        /* enum cpython_owner */
};

enum cpython_end {
	CPYTHON_COMPLETE,  /* the frames reach the outermost one of the thread */
	CPYTHON_NO_FRAME,  /* the thread runs no Python function */
	CPYTHON_TRUNCATED, /* the copy or a maximum ends first: the frames are the innermost ones */
	/* A link is impossible: a cycle, an unaligned address, a wrong owner. The frames before it are right only as
	 * far as the memory was: the caller drops all. */
	CPYTHON_IMPOSSIBLE
};

struct cpython_stack {
	uint32_t n;
	struct cpython_frame frame[CPYTHON_FRAMES_MAX]; /* the innermost first */
};

/* Finds the frames in a copy. Frames that only mark entries from C are not in *stack. Pure. */
enum cpython_end cpython_frames(const struct cpython_layout *layout, const struct threadcopy *copy,
				struct cpython_stack *stack);

/* A code object. The caller may keep it for other frames with the same code and globals. */
struct cpython_code {
	uint64_t address, globals;
	uint64_t bytecode;       /* address of the first instruction */
	uint32_t bytecode_bytes; /* size of the bytecode, or an upper bound of it */
	uint64_t lines;          /* address of the bytes object with the table of lines */
	int32_t firstline;
	/* `module.qualname`, before 3.11 `module.name`: module is __name__ of the globals, otherwise the file's base
	 * name without its suffix. NUL-terminated UTF-8; NUL and lone surrogates become U+FFFD. Bytes of control are
	 * not replaced. A longer name ends with "...". */
	char name[CPYTHON_NAME_MAX];
	char file[CPYTHON_NAME_MAX]; /* co_filename */
};

enum cpython_code_answer {
	CPYTHON_CODE_READ,
	/* CPython pushed the frame for its own use (a clean-up after __init__): it has no function, and is not shown.
	 */
	CPYTHON_CODE_INTERNAL,
	/* The memory is no code object, or is not readable: the function has ended, or the frame is not one. */
	CPYTHON_CODE_NONE
};

/* Reads the code object of a frame from live memory. Every object on the way is checked: types, lengths, kinds of
 * strings. */
enum cpython_code_answer cpython_code(struct cpython *cpython, const struct cpython_frame *frame,
				      struct cpython_code *code);

/* Returns a number that identifies the code object of a frame among those that were at its address: a hash of all that
 * remains the same from its creation on, with the contents of its names and the start of its table of lines, and its
 * version (since 3.12, no two code objects have the same one). Returns 0 if the memory is no code object, is not
 * readable, or is not that of frame->copied. */
uint64_t cpython_identify(struct cpython *cpython, const struct cpython_frame *frame);

/* Returns the address of the frame's instruction in the bytecode of its code, or 0 if it is not in it. Pure. */
uint64_t cpython_instruction(const struct cpython_layout *layout, const struct cpython_code *code,
			     const struct cpython_frame *frame);

/* Returns the line of the frame's instruction; 0 if the table of lines has none or is not readable. */
uint32_t cpython_line(struct cpython *cpython, const struct cpython_code *code, const struct cpython_frame *frame);

#endif
