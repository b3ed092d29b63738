/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perl.h - checks the layout of a Perl interpreter against the memory of its process, finds frames in a copy, and reads
 * names, files and lines. Supports Perl 5.32 to 5.42, built with threads as distributions build it.
 *
 * A program or library that contains Perl exports the symbols that its extensions need. PL_curinterp has the address of
 * the first interpreter of the process, which the main thread runs. Frames are contexts, in an array for each
 * stackinfo. A new stackinfo begins where native code calls Perl code, and points to the previous one. Contexts of
 * blocks and loops lie between the contexts of subs, formats and evals. One activation of the run loop
 * Perl_runops_standard runs all frames from its entry frame on.
 *
 * All data is hostile, and changes while it is read. A struct perl owns no resources: there is nothing to close.
 */
#ifndef PJ_PERL_H
#define PJ_PERL_H

#include "runtimes/memory/evalcode.h"
#include "runtimes/threadcopy.h"

#define PERL_FRAMES_MAX 4096u
#define PERL_NAME_MAX 512u /* maximum size of the name of a sub, and of a file name, in bytes with the NUL */
#define PERL_WHY_MAX 160u
#define PERL_CATCHES_MAX 8u

/* Offsets in the interpreter structure of one version, in bytes. */
struct perl_layout {
	uint32_t version; /* first version with this layout: 32 for 5.32 */
	/* offsets in the interpreter: current COP (PL_curcop); innermost stackinfo; variables of the running sub
	 * (PL_comppad) */
	uint32_t cop, stackinfo, pad;
	/* true if the auxiliary structure of a stash, with its name, is in the body of the stash (since 5.36); false if
	 * it is after the array of buckets */
	bool stash_name_in_body;
};

struct perl {
	struct memory *memory; /* memory of the process; owned by the caller */
	struct loadedfile file;
	struct perl_layout layout;
	uint64_t interpreter;
	uint32_t run_loop; /* offset in the interpreter of the pointer to the run loop (PL_runops) */
	/* addresses of the functions of three ops: nextstate (next) and dbstate (debugged), which are COPs, and null */
	struct {
		uint64_t next, debugged, null;
		uint32_t number; /* opcode number of nextstate */
	} statement;
	struct evalcode eval; /* code of Perl_runops_standard */
	/* Code ranges of docatch and of the ops that call it. docatch continues the frames of its caller in a nested
	 * run loop. */
	struct evalcode_range catching[PERL_CATCHES_MAX];
	uint32_t ncatching;
	char version[16];       /* version, as "5.36"; "" if unknown */
	char why[PERL_WHY_MAX]; /* reason of a result other than PERL_OPEN, as a sentence about the process */
};

/* Returns true if the file at this path may contain Perl: a program such as perl or perl5.36.0, or a library such as
 * libperl.so.5.36. The path may end with " (deleted)". The path is hostile, so true is only a guess: perl_open decides.
 * Pure. */
bool perl_is_library(struct str path);

enum perl_answer {
	PERL_OPEN,
	PERL_OTHER_FILE, /* the file is not Perl, only loads the library, or is not readable in memory */
	PERL_EARLY,      /* the interpreter runs no code at present; the caller may try again */
	/* the layout is unknown or contradicts the memory, Perl is built without threads, or another run loop than
	 * Perl_runops_standard runs its code; perl.why names the build */
	PERL_REFUSED,
	PERL_UNREADABLE /* memory.budget is exceeded */
};

/* Opens the Perl interpreter of a process, in the file whose first byte is mapped at base. Returns PERL_OPEN on
 * success, otherwise the kind of the failure. memory must exist as long as *perl. */
enum perl_answer perl_open(struct perl *perl, struct memory *memory, uint64_t base);

/* Sets *plan to the plan that copies stackinfos and their contexts. The root of the copy is perl->interpreter. Pure. */
void perl_plan(const struct perl_layout *layout, struct threadplan *plan);

enum perl_kind {
	PERL_MAIN,    /* code of the main program file */
	PERL_SUB,     /* sub or format */
	PERL_EVAL,    /* eval BLOCK or eval STRING */
	PERL_REQUIRE, /* code of a file that require, use or do runs */
	PERL_SORT,    /* block of a sort */
	PERL_REGEXP,  /* code in a regular expression */
	PERL_DEFER    /* defer or finally block */
};

struct perl_frame {
	uint64_t context; /* address of the context; for PERL_MAIN, address of the stackinfo */
	/* PERL_SUB: address of the CV; PERL_REQUIRE: address of the SV with the file name; otherwise 0 */
	uint64_t code;
	uint64_t cop;  /* address of the COP that the frame runs; 0 if unknown */
	bool entry;    /* true for an entry frame: an activation of the run loop ends with it */
	bool repeated; /* true if the context serves many consecutive runs, as for sort and for first of List::Util */
	bool between;  /* true if the code of a repeated frame may be between two runs: it then has no activation */
	uint8_t kind;  /* enum perl_kind */
};

enum perl_end {
	PERL_COMPLETE,
	PERL_TRUNCATED, /* the copy ends early, or a maximum is reached; the frames are the innermost ones */
	/* a pointer or index is impossible, or it is unknown if the innermost sub runs; the caller discards all frames
	 */
	PERL_IMPOSSIBLE
};

struct perl_stack {
	uint32_t n;
	/* Set if the innermost frame is a running sub, otherwise 0. pad: address of its variables (PL_comppad); depth:
	 * recursion depth of its CV before this call. */
	uint64_t pad;
	uint32_t depth;
	struct perl_frame frame[PERL_FRAMES_MAX]; /* frames, innermost first */
};

/* Finds the frames in a copy, and returns how they end. Reads live memory only if the innermost sub has not reached its
 * first statement, to prove that this sub runs. */
enum perl_end perl_frames(const struct perl *perl, const struct threadcopy *copy, struct perl_stack *stack);

/* Name, file and line of the code that a frame runs. */
struct perl_function {
	/* address of the COP; perl_frame.code if the COP is unknown; address of the interpreter if both are unknown */
	uint64_t address;
	uint32_t line; /* line of the COP; 0 if unknown */
	/* Name: `Package::sub`, as caller() returns it; `Package::__ANON__` for a closure, followed by `[FILE:LINE]` of
	 * its first statement if the sub in memory is proven to be that of the frame; `<main>`; `(eval)`; `(sort)`;
	 * `(regexp)`;
	 * `(defer)`; for PERL_REQUIRE the file name as require has it. NUL-terminated UTF-8. A longer name ends with
	 * "...". */
	char name[PERL_NAME_MAX];
	char file[PERL_NAME_MAX]; /* file name of the COP; empty if unknown */
};

/* Reads name, file and line of a frame from live memory. Returns false if the frame's code has no name: its memory
 * is not readable, or has something else by now. */
bool perl_function(const struct perl *perl, const struct perl_frame *frame, struct perl_function *function);

#endif
