/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8.h - finds and names JavaScript frames of a process that runs V8 as node ships it (node 16 to 26, x86-64). node
 * needs no flag for this.
 *
 * V8 runs functions on the native stack. Each frame of generated code has a frame pointer. At fixed offsets below
 * the frame pointer are the JSFunction and, in interpreted and baseline code, the BytecodeArray. v8_open reads the
 * layout of V8's heap from the v8dbg_* constants that node exports. v8_frames finds the frames in a stack copy. It
 * proves each frame by live memory: by the map, context and SharedFunctionInfo of the JSFunction, and by the code at
 * the frame's instruction pointer. v8_function reads name, file and line of a proven function.
 *
 * The garbage collector moves objects, so the caller passes only stack copies of the last 10 ms: an object that has
 * moved has no valid map, or its data contradicts the frame. All memory of the process is hostile. The functions read
 * through struct memory, within its budget. The caller calls memory_forget before it reads data that may have changed.
 * v8_frames finds at most V8_FRAMES_MAX frames of a stack; a name is truncated to V8_NAME_MAX bytes. A struct v8 owns
 * no resources.
 *
 * References: V8's src/execution/frame-constants.h and src/objects. The offsets of six versions of node were read from
 * their v8dbg_* symbols.
 */
#ifndef PJ_V8_H
#define PJ_V8_H

#include "runtimes/memory/loadedfile.h"
#include "runtimes/v8/v8layout.h"

#define V8_FRAMES_MAX 2048u
#define V8_NAME_MAX 512u /* maximum size of a function name, and of a file name, in bytes with the NUL */
#define V8_WHY 160u

enum v8_answer {
	V8_OPEN,
	V8_OTHER_FILE, /* the file has no V8 */
	V8_REFUSED     /* V8 cannot be read; v8.why has the sentence with the reason */
};

/* Cached result of a code lookup: `start` is the address of the first instruction of the code at pc; 0 if the search
 * found no code. */
struct v8_known {
	uint64_t pc, start;
	uint64_t used; /* value of v8.lookups when the entry was last used; if start is 0, when the search failed */
};

/* Cached number of line ends before a position in a source. key: hash of the source, the position and the characters
 * before it (v8lines.c); 0: free. */
struct v8_lines {
	uint64_t key;
	uint32_t n;
};

#define V8_WAYS 4u
/* V8_KNOWN: number of sets of the code cache, each with V8_WAYS entries; the hash of the instruction pointer selects
 * the set. V8_LINES: number of entries of the line cache. V8_REFUTED: number of refuted candidates after which
 * v8_frames skips all stacks if no candidate was proven. */
#define V8_KNOWN 512u
#define V8_LINES 2048u
#define V8_REFUTED 10000u

/* Address range [start, end). */
struct v8_range {
	uint64_t start, end;
};

#define V8_RANGES 128u

struct v8 {
	struct memory *memory;
	struct loadedfile file;
	struct v8_range range[V8_RANGES]; /* executable mappings of files; generated code is never in them */
	uint32_t nranges;
	/* range from the lowest to the highest address of generated code that was found so far; 0: none */
	struct v8_range near;
	struct v8_layout layout;
	char why[V8_WHY];
	struct v8_known known[V8_KNOWN][V8_WAYS];
	struct v8_lines lines[V8_LINES];
	uint64_t lookups; /* number of lookups in `known` so far */
	/* Remaining limits of the current stack: number of searches for code, number of source characters to read
	 * for lines. */
	uint32_t searches, characters;
	/* Numbers of candidates of all stacks that were proven to be frames, and that were refuted. If V8_REFUTED
	 * candidates are refuted and none is proven, the layout is wrong for this build, and v8_frames skips all
	 * further stacks. */
	uint64_t proven, refuted;
};

/* Returns true if a path has the file name of a program or library with V8: node, nodejs, libnode.so.*. Pure. */
bool v8_is_library(struct str path);

/* Opens the V8 of the file whose first byte is mapped at base. Returns V8_OPEN on success, otherwise the kind of the
 * failure. maps is the text of /proc/PID/maps; if it lacks the mapping of V8's own code, v8_frames finds no
 * interpreted frame. memory must exist as long as *v8. */
enum v8_answer v8_open(struct v8 *v8, struct memory *memory, uint64_t base, struct str maps);

/* A copy of a thread's native stack. */
struct v8_stack {
	uint64_t start; /* address of the first byte of the copy */
	struct str bytes;
	uint64_t ip, bp; /* instruction pointer and frame pointer of the thread */
};

/* Kind of a frame. V8_BUILTIN: function of V8 itself, whose native code has a symbol. V8_UNPROVEN: candidate whose
 * words look like a frame. */
enum v8_kind { V8_INTERPRETED, V8_BASELINE, V8_OPTIMIZED, V8_BUILTIN, V8_INLINED, V8_UNPROVEN };

/* A JavaScript frame. An inlined function has a frame of its own, before the frame of the function into which it is
 * inlined. */
struct v8_frame {
	/* frame pointer; instruction pointer in the frame: a return address, or the sampled address */
	uint64_t fp, pc;
	uint64_t shared; /* tagged pointer to the SharedFunctionInfo; 0 if the frame is not proven */
	/* tagged pointer to the function's name or ScopeInfo; a different value in a later read shows that other data
	 * replaced the function */
	uint64_t name;
	uint64_t address; /* V8_INTERPRETED: address of the current instruction in the BytecodeArray; otherwise 0 */
	uint8_t kind;     /* enum v8_kind */
	/* true: the frame called the leaf function, which has no frame of its own (yet), so that frame-pointer
	 * unwinding misses this caller */
	bool calls_leaf;
};

struct v8_frames {
	uint32_t n;
	/* true if frames are missing: more than 1024 positions of the stack look like a frame */
	bool cut;
	struct v8_frame frame[V8_FRAMES_MAX]; /* frames in ascending order of fp: innermost first */
};

/* Finds the candidates for JavaScript frames in a stack copy and proves them. A stack may contain frames of
 * functions that have returned, so the caller compares fp and pc with the native stack. A candidate that is not
 * proven, or exceeds the budget, is V8_UNPROVEN: if the native stack has a frame with the same fp and pc, that frame
 * is a function without a name. */
void v8_frames(struct v8 *v8, const struct v8_stack *stack, struct v8_frames *frames);

struct v8_function {
	char name[V8_NAME_MAX]; /* name in UTF-8; "(anonymous)" if the function has none */
	char file[V8_NAME_MAX]; /* name of the function's script; empty if unknown */
	bool has_name;
	uint32_t line;     /* line of the function's start, from 1; 0 if unknown */
	uint32_t position; /* position of the function's start in its script, in characters */
	/* true if the line is not known yet, because the stack has no characters left; a later call may find it */
	bool line_later;
};

/* Reads name, file and line of a SharedFunctionInfo. Returns false if the object is not (or no longer) a
 * SharedFunctionInfo. */
bool v8_function(struct v8 *v8, uint64_t shared, struct v8_function *function);

#endif
