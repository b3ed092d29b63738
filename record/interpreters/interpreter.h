/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interpreter.h - the interface of a language whose functions have no symbols: one table of functions for each
 * language. All that is specific to a language is behind it.
 *
 * A file of a process that may be the interpreter (`is_library`) is opened in a helper process without capabilities
 * (interphelper.h). `open` proves the layout of the interpreter's structures on the memory of the process, or refuses
 * it. Then `plan` has what to copy at a sample (runtimes/threadcopy.h), `threads` the threads with the roots of their
 * states, and `evals` the code of the eval function. `frames` finds the frames in a copy; `describe` reads
 * function, file and line of a frame from live memory, at most INTERPRETER_NAME_NS after the sample: later, the memory
 * of code that has ended is another's. A language that is `deferrable` has `identify`: if the code is the same as in
 * the copy, and was read before the sample, its name may be read later. Frames of a thread that is off the CPU keep
 * their code (`pinned`).
 *
 * An interpreter keeps its frames on the heap, or on the native stack (V8: plan.stack). Then the copy is that of the
 * sample, `frames` reads the objects to which the frames lead, threads need no root, and there is no eval function: the
 * frames are matched with native ones by frame pointer and instruction pointer (jsstacks.h).
 */
#ifndef PJ_INTERPRETER_H
#define PJ_INTERPRETER_H

#include "common/text.h"
#include "record/interpreters/onestack.h"
#include "runtimes/memory/memory.h"
#include "runtimes/threadcopy.h"

/* Measured with two programs that make new code all the time: in one, no name was wrong after 10 ms and 3.1 % after
 * 100 ms; in the other one, 0.1 % were wrong within 5 ms. */
#define INTERPRETER_NAME_NS UINT64_C(1000000)

enum {
	INTERPRETER_FRAMES_MAX = 4096,
	INTERPRETER_THREADS_MAX = 16384,
	INTERPRETER_EVALS_MAX = 16,
	INTERPRETER_WHY = 160
};

/* A mapped file of a process. */
struct interpreter_candidate {
	uint64_t base; /* address at which its first byte is mapped */
	struct str path;
	struct str maps; /* /proc/PID/maps */
};

enum interpreter_answer {
	INTERPRETER_OPEN,
	INTERPRETER_OTHER,  /* the file is not this interpreter */
	INTERPRETER_EARLY,  /* it is starting, or ending: the caller may try again */
	INTERPRETER_REFUSED /* the layout is unknown, or the memory is not readable: `why` has a sentence */
};

/* interpreter_thread.tid of the main thread, for a runtime that does not store its id */
#define INTERPRETER_MAIN_THREAD UINT32_MAX

struct interpreter_thread {
	uint64_t root; /* for threadplan */
	uint32_t tid;  /* in the innermost PID namespace of the process */
	uint32_t zero;
};

/* How a function runs: added to the language in a recording (pjsection.h). */
enum interpreter_tier { INTERPRETER_BYTECODE, INTERPRETER_COMPILED, INTERPRETER_INLINED, INTERPRETER_TIERS };

struct interpreter_frame {
	/* Address of the code object; of what its name depends on besides (CPython: the global variables); of the
	 * instruction, or its offset in the code. */
	uint64_t code, scope, instruction;
	uint64_t copied;  /* deferrable: number that identifies the code in the copy; 0: it was not copied */
	uint64_t frame;   /* its address; plan.stack: the frame pointer */
	uint64_t pc;      /* plan.stack: instruction pointer in the native frame */
	uint64_t address; /* plan.stack: address that stands for the frame, as interpreter_place.address */
	uint8_t tier;     /* enum interpreter_tier */
	/* outermost frame of an activation of the eval function; plan.stack: a leaf without a frame has its pointer */
	bool entry;
	uint8_t kind;
};

/* LATE: plan.stack: the copy is too old. */
enum interpreter_end { INTERPRETER_COMPLETE, INTERPRETER_TRUNCATED, INTERPRETER_IMPOSSIBLE, INTERPRETER_LATE };

struct interpreter_list {
	/* The native stack on which code of these frames runs: [stack_low, stack_high]. A thread whose stack pointer is
	 * elsewhere is between two stacks (Ruby: Fibers). 0, 0: unknown. */
	uint64_t stack_low, stack_high;
	uint32_t n;
	struct interpreter_frame frame[INTERPRETER_FRAMES_MAX]; /* the innermost first */
};

enum interpreter_named {
	INTERPRETER_NAMED,
	INTERPRETER_INTERNAL, /* a frame of the interpreter itself, which is not shown */
	INTERPRETER_UNNAMED
};

struct interpreter_place {
	/* Address of the instruction; 0 for a frame without a name. plan.stack: any number that identifies the line in
	 * the file. */
	uint64_t address;
	uint32_t line;   /* 0: unknown */
	bool line_later; /* it is not known yet: a line that was read before counts, and no line is none */
	/* The frame runs no instruction: it has not begun, as far as the language shows it, or it is between two runs
	 * (Perl: the block of a sort). */
	bool first;
	/* deferrable: the source is a text, no file: other code often has the same name, file and lines */
	bool from_text;
};

struct interpreter {
	const char *name;
	uint32_t language; /* enum pj_language */
	/* A frame is in the list before its activation of the eval function begins, and is no longer before that ends.
	 */
	bool frames_lead;
	/* `frames` needs nothing but the copy: it can be called later than INTERPRETER_NAME_NS after the sample. Then
	 * frames whose code was not read before the sample get no name. `identify` shows that; without it, and if it is
	 * false, `describe` must be called in time. */
	bool deferrable;
	/* The eval function has the address of the frame that it runs in the register r14: onestack.h. */
	bool frame_in_r14;
	/* What the name and the line of a frame are read of neither moves nor ends before the frame does: while its
	 * thread is off the CPU, they may be read at any time. False: at most INTERPRETER_NAME_NS after the copy. */
	bool pinned;
	size_t size; /* bytes of the state that `open` fills; it has no resources */
	bool (*is_library)(struct str path);
	/* why has INTERPRETER_WHY bytes. memory must exist as long as the state. */
	enum interpreter_answer (*open)(void *state, struct memory *memory,
					const struct interpreter_candidate *candidate, char *why);
	void (*plan)(const void *state, struct threadplan *plan);
	size_t (*evals)(const void *state, struct onestack_range range[INTERPRETER_EVALS_MAX]);
	size_t (*threads)(void *state, struct interpreter_thread *thread, size_t cap);
	enum interpreter_end (*frames)(void *state, const struct threadcopy *copy, struct interpreter_list *list);
	/* Appends the name and the file, each with a NUL, to text. */
	enum interpreter_named (*describe)(void *state, const struct interpreter_frame *frame,
					   struct interpreter_place *place, struct text *text);
	/* deferrable: returns a number that differs for code that was at the same address at another time, from live
	 * memory; 0: there is no code, or it is not that in the copy. */
	uint64_t (*identify)(void *state, const struct interpreter_frame *frame);
};

extern const struct interpreter interpreter_python;
extern const struct interpreter interpreter_ruby;
extern const struct interpreter interpreter_php;
extern const struct interpreter interpreter_perl;
extern const struct interpreter interpreter_javascript;

/* All interpreters; NULL ends the list. */
extern const struct interpreter *const interpreter_list[];

/* Returns the interpreter whose file may have this path; NULL if there is none. Pure. */
const struct interpreter *interpreter_of_path(struct str path);

/* Returns the interpreter of this language (enum pj_language); NULL if there is none. Pure. */
const struct interpreter *interpreter_of_language(uint32_t language);

#endif
