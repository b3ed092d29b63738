/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8.h - JavaScript frames of a process that runs V8 as node ships it (node 16 to 26, x86-64): no flag of node.
 *
 * V8 runs functions on the native stack. Each frame of generated code has a frame pointer, and at fixed places below
 * it the JSFunction and, in interpreted and baseline code, the BytecodeArray. v8_open takes the layout of V8's heap
 * from the v8dbg_* constants that node exports. v8_frames finds the frames in a copy of a stack and proves each on
 * live memory: map, context and SharedFunctionInfo of the JSFunction, and the code that belongs to it. v8_function
 * reads name, file and line of a function that is proven.
 *
 * The garbage collector moves objects, so the caller takes no copy older than 10 ms: an object that has moved has no
 * map, or its data contradicts the frame. All memory of the process is hostile. The functions read through struct
 * memory, within its budget; the caller calls memory_forget before it reads data that may have changed. Of a stack,
 * at most V8_FRAMES_MAX frames are found; a name is cut after V8_NAME_MAX bytes. A struct v8 has no resources.
 *
 * References: V8's src/execution/frame-constants.h and src/objects; offsets in six versions of node were read from
 * their v8dbg_* symbols.
 */
#ifndef PJ_V8_H
#define PJ_V8_H

#include "runtimes/memory/loadedfile.h"
#include "runtimes/v8/v8layout.h"

#define V8_FRAMES_MAX 2048u
#define V8_NAME_MAX 512u /* maximum number of bytes of a name, and of a file, with its NUL */
#define V8_WHY 160u

enum v8_answer {
	V8_OPEN,
	V8_OTHER_FILE, /* the file has no V8 */
	V8_REFUSED     /* `why` has a sentence */
};

/* Code that was found at an instruction pointer: start is 0 if none was found there. */
struct v8_known {
	uint64_t pc, start;
	uint64_t used; /* number of the last lookup; start 0: of the search */
};

/* Number of line ends before a position of a source; key: hash of both, and of characters before the position. */
struct v8_lines {
	uint64_t key;
	uint32_t n;
};

#define V8_WAYS 4u
#define V8_KNOWN 512u /* sets of V8_WAYS each, by the hash of the instruction pointer */
#define V8_LINES 2048u
#define V8_REFUTED 10000u

/* Addresses [start, end). */
struct v8_range {
	uint64_t start, end;
};

#define V8_RANGES 128u

struct v8 {
	struct memory *memory;
	struct loadedfile file;
	struct v8_range range[V8_RANGES]; /* executable mappings of files: there is no generated code */
	uint32_t nranges;
	struct v8_range near; /* from the lowest to the highest code that was found */
	struct v8_layout layout;
	char why[V8_WHY];
	struct v8_known known[V8_KNOWN][V8_WAYS];
	struct v8_lines lines[V8_LINES];
	uint64_t lookups; /* in `known` */
	/* Rest of the current stack: searches for code, characters of sources to look at. */
	uint32_t searches, characters;
	/* Candidates of all stacks that were frames, and that were not: after V8_REFUTED of these and no other, the
	 * layout is that of another build, and no further stack is looked at. */
	uint64_t proven, refuted;
};

/* Returns true if the path may be that of a file with node's V8: node, nodejs, libnode.so.*. */
bool v8_is_library(struct str path);

/* Opens V8 in the file whose first byte is mapped at base. maps: /proc/PID/maps; it must have the mapping of V8's code,
 * or no interpreted frame is found. memory must exist as long as *v8. */
enum v8_answer v8_open(struct v8 *v8, struct memory *memory, uint64_t base, struct str maps);

/* A copy of the stack of a thread. */
struct v8_stack {
	uint64_t start; /* address of its first byte */
	struct str bytes;
	uint64_t ip, bp; /* registers of the thread */
};

/* V8_BUILTIN: a function of V8 itself; its code has a name of its own. V8_UNPROVEN: words that look like a frame. */
enum v8_kind { V8_INTERPRETED, V8_BASELINE, V8_OPTIMIZED, V8_BUILTIN, V8_INLINED, V8_UNPROVEN };

/* A frame. An inlined function has a frame of its own before that of the function that it was inlined into. */
struct v8_frame {
	uint64_t fp, pc;  /* frame pointer; instruction pointer: return address, or that of the sample */
	uint64_t shared;  /* tagged pointer to the SharedFunctionInfo; 0 if the frame is not proven */
	uint64_t name;    /* its name, or ScopeInfo: changes if other data replaces it */
	uint64_t address; /* interpreted: of the instruction in the BytecodeArray; otherwise 0 */
	uint8_t kind;     /* enum v8_kind */
	/* It called the leaf, which has no frame of its own (yet): walkers by frame pointers miss it. */
	bool calls_leaf;
};

struct v8_frames {
	uint32_t n;
	bool cut;                             /* some are left out: the stack has too many words that look like one */
	struct v8_frame frame[V8_FRAMES_MAX]; /* in order of fp: the innermost first */
};

/* Finds the frames of a stack. Each has a plausible place in the copy; whether it is one that runs, its native callers
 * and callees show: the caller compares fp and pc with the native stack. One that is not proven, or not within the
 * budget, is V8_UNPROVEN: a function without a name, if it is one that runs. */
void v8_frames(struct v8 *v8, const struct v8_stack *stack, struct v8_frames *frames);

struct v8_function {
	char name[V8_NAME_MAX]; /* UTF-8; (anonymous) if it has none */
	char file[V8_NAME_MAX]; /* name of its script; empty: unknown */
	bool has_name;
	uint32_t line;     /* of the start of the function, from 1; 0: unknown */
	uint32_t position; /* of the start, in characters of the script */
	bool line_later;   /* the line is not known yet: the stack has no characters left. A later call finds it. */
};

/* Reads the function of a SharedFunctionInfo. Returns false if it is none (any longer). */
bool v8_function(struct v8 *v8, uint64_t shared, struct v8_function *function);

#endif
