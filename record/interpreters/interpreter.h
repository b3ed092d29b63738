/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interpreter.h - interface between the recorder and a language whose functions have no symbols: one table of
 * functions, struct interpreter, for each language. All code that is specific to a language is behind this interface.
 *
 * The functions run in a helper process without capabilities (interphelper.h). `is_library` recognizes, by its path, a
 * mapped file that may be the interpreter. `open` proves the layout of the interpreter's structures on the memory of
 * the process, or refuses the process. After that, `plan` returns the offsets of the data to copy at a sample
 * (runtimes/threadcopy.h), `threads` the threads with the roots of their states, and `evals` the code of the eval
 * function. `frames` finds the frames in a copy. `describe` reads function, file and line of a frame from live memory,
 * at most INTERPRETER_NAME_NS after the sample: later, the memory of code that has ended may hold other code.
 * `identify` (deferrable languages only) returns a number for the code that is at the frame's address now; 0 if that is
 * not the code in the copy. If the helper had read the same number there before the sample, the code was the same at
 * the sample, so its name may be read later than INTERPRETER_NAME_NS. Frames of a thread that is off the CPU keep their
 * code, so their names may be read as long as the thread is off the CPU (`pinned`).
 *
 * An interpreter stores its frames on the heap or, as V8, on the native stack (plan.stack). In the second case, the
 * copy is the stack copy of the sample, and `frames` reads the objects to which the stack's frames point. Threads then
 * need no root, and there is no eval function: frames are matched with native frames by frame pointer and instruction
 * pointer (jsstacks.h).
 */
#ifndef PJ_INTERPRETER_H
#define PJ_INTERPRETER_H

#include "common/text.h"
#include "record/interpreters/onestack.h"
#include "runtimes/memory/memory.h"
#include "runtimes/threadcopy.h"

/* Longest time in ns between a sample and the reading of a name. Measured with two programs that generate new code all
 * the time: in one, no name was wrong after 10 ms, and 3.1 % were wrong after 100 ms; in the other one, 0.1 % were
 * wrong within 5 ms. */
#define INTERPRETER_NAME_NS UINT64_C(1000000)

enum {
	INTERPRETER_FRAMES_MAX = 4096,
	INTERPRETER_THREADS_MAX = 16384,
	INTERPRETER_EVALS_MAX = 32,
	INTERPRETER_WHY = 160
};

/* A mapped file that may be the interpreter of a process. */
struct interpreter_candidate {
	uint64_t base; /* address at which the first byte of the file is mapped */
	struct str path;
	struct str maps; /* content of /proc/PID/maps */
};

enum interpreter_answer {
	INTERPRETER_OPEN,
	INTERPRETER_OTHER, /* the file is not an interpreter of this language */
	INTERPRETER_EARLY, /* the interpreter is starting or ending: the caller may try again */
	/* the layout is unknown, or the memory cannot be read; `why` has the reason as a sentence */
	INTERPRETER_REFUSED
};

/* Value of interpreter_thread.tid for the main thread, if the runtime does not store the main thread's id. */
#define INTERPRETER_MAIN_THREAD UINT32_MAX

struct interpreter_thread {
	uint64_t root; /* address of the thread's state, from which a threadplan starts */
	uint32_t tid;  /* thread id in the innermost PID namespace of the process */
	uint32_t zero;
};

/* How a function runs. The value is added to the language in a recording (pjsection.h). */
enum interpreter_tier { INTERPRETER_BYTECODE, INTERPRETER_COMPILED, INTERPRETER_INLINED, INTERPRETER_TIERS };

struct interpreter_frame {
	/* code: address of the code object; scope: address of other data that the name depends on (CPython: the global
	 * variables); instruction: address of the instruction, or its offset in the code. */
	uint64_t code, scope, instruction;
	/* for a deferrable language: number that identifies the code in the copy; 0: the code is not in the copy */
	uint64_t copied;
	uint64_t frame;   /* address of the frame; with plan.stack, its frame pointer */
	uint64_t pc;      /* with plan.stack: instruction pointer of the native frame */
	uint64_t address; /* with plan.stack: address that stands for the frame in callchains; otherwise 0 */
	uint8_t tier;     /* kind of code that runs the function, an enum interpreter_tier */
	/* true: the frame is the outermost one of an activation of the eval function; with plan.stack: the frame calls
	 * a leaf that has no frame of its own, so that the leaf's frame pointer is that of this frame */
	bool entry;
	uint8_t kind;
};

/* Completeness of the frames in a copy. COMPLETE: the frames reach the outermost one. TRUNCATED: outer frames are
 * missing. IMPOSSIBLE: the data contradict each other, or the list lacks frames in another way than TRUNCATED; the
 * frames must not be used. LATE: with plan.stack, the copy is too old; in a reply of the helper, the reply had no space
 * for all frames, or there was no time to find them. */
enum interpreter_end { INTERPRETER_COMPLETE, INTERPRETER_TRUNCATED, INTERPRETER_IMPOSSIBLE, INTERPRETER_LATE };

struct interpreter_list {
	/* Bounds of the native stack on which the code of the frames runs: [stack_low, stack_high]. A thread whose
	 * stack pointer is elsewhere is switching between two stacks (Ruby: Fibers). 0, 0: unknown. */
	uint64_t stack_low, stack_high;
	uint32_t n;
	struct interpreter_frame frame[INTERPRETER_FRAMES_MAX]; /* interpreted frames, innermost first */
};

enum interpreter_named {
	INTERPRETER_NAMED,
	INTERPRETER_INTERNAL, /* a frame of the interpreter itself; not shown in stacks */
	INTERPRETER_UNNAMED
};

struct interpreter_place {
	/* Address of the instruction; 0 for a frame without a name. With plan.stack: any number that identifies the
	 * line within the file. */
	uint64_t address;
	uint32_t line;   /* line in the file; 0: unknown */
	bool line_later; /* true: the line cannot be read yet: use the line of an earlier reading, if there is one */
	/* true: the frame runs no instruction: as far as the interpreter's data show it, it has not begun to run, or it
	 * is between two runs (Perl: the block of a sort) */
	bool first;
	/* for a deferrable language: the source is a string, not a file, and other code often has the same name, file
	 * and lines */
	bool from_text;
};

struct interpreter {
	const char *name;
	uint32_t language; /* number of the language in recordings, an enum pj_language */
	/* True: a frame is in the list before its activation of the eval function begins, and is removed before the
	 * activation ends. */
	bool frames_lead;
	/* True: `frames` reads only the copy, so it can be called later than INTERPRETER_NAME_NS after the sample. Then
	 * frames whose code was not read before the sample get no name; `identify` finds out which code has changed
	 * since the sample. False: `frames` and `describe` must be called within INTERPRETER_NAME_NS. */
	bool deferrable;
	/* True: the register r14 holds the address of the frame that the eval function runs (onestack.h). */
	bool frame_in_r14;
	/* True: the data from which name and line of a frame are read neither move nor are freed before the frame ends.
	 * So while the thread is off the CPU, they may be read at any time. False: they must be read at most
	 * INTERPRETER_NAME_NS after the copy. */
	bool pinned;
	size_t size; /* size in bytes of the state that `open` fills; the state owns no resources */
	bool (*is_library)(struct str path);
	/* Returns true if an executable mapping with this path may have JIT code of the language (PHP: shared memory of
	 * opcache). If a sample is in such a mapping, but `open` found no JIT code (no hostframe, unwind/hostframe.h),
	 * the process is opened again. NULL: never. */
	bool (*is_compiled)(struct str path);
	/* Fills *state. why: buffer of INTERPRETER_WHY bytes for the reason of a refusal. *memory must exist as long as
	 * the state. */
	enum interpreter_answer (*open)(void *state, struct memory *memory,
					const struct interpreter_candidate *candidate, char *why);
	void (*plan)(const void *state, struct threadplan *plan);
	size_t (*evals)(const void *state, struct onestack_range range[INTERPRETER_EVALS_MAX]);
	size_t (*threads)(void *state, struct interpreter_thread *thread, size_t cap);
	enum interpreter_end (*frames)(void *state, const struct threadcopy *copy, struct interpreter_list *list);
	/* Fills *place, and appends the name and the file of a frame, each followed by a NUL, to text. */
	enum interpreter_named (*describe)(void *state, const struct interpreter_frame *frame,
					   struct interpreter_place *place, struct text *text);
	/* Deferrable languages only. Returns a hash of the code object at frame->code, read from live memory: if
	 * another code object takes its place, the hash differs, unless the content is equal. Returns 0 if no code
	 * object is there, or if it differs from frame->copied (0: not compared). */
	uint64_t (*identify)(void *state, const struct interpreter_frame *frame);
};

extern const struct interpreter interpreter_python;
extern const struct interpreter interpreter_ruby;
extern const struct interpreter interpreter_php;
extern const struct interpreter interpreter_perl;
extern const struct interpreter interpreter_javascript;

/* Table of all interpreters, ended by NULL. */
extern const struct interpreter *const interpreter_list[];

/* Returns the interpreter whose file may have this path (is_library); NULL if the path is not that of an interpreter.
 * Pure. */
const struct interpreter *interpreter_of_path(struct str path);

/* Returns the interpreter of this language (enum pj_language); NULL if the language has none. Pure. */
const struct interpreter *interpreter_of_language(uint32_t language);

#endif
