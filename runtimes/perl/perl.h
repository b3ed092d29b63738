/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perl.h - Perl 5.32 to 5.42, built with threads as distributions build it: proves the layout of its interpreter on the
 * memory of a process, finds frames in a copy, and reads names, files and lines.
 *
 * A program or library that contains Perl exports what its extensions need: PL_curinterp is the address of the first
 * interpreter of the process, which the main thread runs. Its frames (contexts) are an array for each stackinfo; a
 * stackinfo begins where native code calls back, and leads to the one before. Contexts of blocks and loops are between
 * those of subs, formats and evals. The run loop Perl_runops_standard runs all frames from its entry frame on.
 *
 * All data is hostile, and changes while it is read. A struct perl has no resources: there is nothing to close.
 */
#ifndef PJ_PERL_H
#define PJ_PERL_H

#include "runtimes/memory/evalcode.h"
#include "runtimes/threadcopy.h"

#define PERL_FRAMES_MAX 4096u
#define PERL_NAME_MAX 512u /* maximum number of bytes of a sub's name, and of a file's name, with its NUL */
#define PERL_WHY_MAX 160u
#define PERL_CATCHES_MAX 8u

/* Offsets in the structures of one version, in bytes. */
struct perl_layout {
	uint32_t version; /* the first one with this layout: 32 for 5.32 */
	/* interpreter: current COP; innermost stackinfo; variables of the sub that runs */
	uint32_t cop, stackinfo, pad;
	bool stash_name_in_body; /* the name of a stash is in its body (5.36), not behind its buckets */
};

struct perl {
	struct memory *memory; /* of the caller */
	struct loadedfile file;
	struct perl_layout layout;
	uint64_t interpreter;
	uint32_t run_loop; /* interpreter: offset of the function that runs ops */
	struct {
		uint64_t next, debugged,
			null;    /* functions of the ops nextstate and dbstate, which are COPs, and null */
		uint32_t number; /* of the op nextstate */
	} statement;
	struct evalcode eval; /* code of Perl_runops_standard */
	/* Code of docatch and the ops that call it: it continues its caller's frames in a run loop of its own. */
	struct evalcode_range catching[PERL_CATCHES_MAX];
	uint32_t ncatching;
	char version[16];       /* as "5.36"; "" if unknown */
	char why[PERL_WHY_MAX]; /* result of perl_open in one sentence about the process, if it is not PERL_OPEN */
};

/* Returns true if a file of this path may contain Perl: a program like perl or perl5.36.0, or a library like
 * libperl.so.5.36; the path may end with " (deleted)". The path is hostile: perl_open decides. Pure. */
bool perl_is_library(struct str path);

enum perl_answer {
	PERL_OPEN,
	PERL_OTHER_FILE, /* the file is not Perl, or only loads the library */
	PERL_EARLY,      /* it runs no code at present: the caller may try again */
	PERL_REFUSED,    /* the layout is unknown or contradicts the memory; why names the build */
	PERL_UNREADABLE  /* the memory is not readable, or memory.budget is exceeded */
};

/* Opens the Perl of a process, in the file whose first byte is mapped at base. memory must exist as long as *perl. */
enum perl_answer perl_open(struct perl *perl, struct memory *memory, uint64_t base);

/* Sets *plan to the plan of copying stackinfos and their contexts. The root is perl->interpreter. Pure. */
void perl_plan(const struct perl_layout *layout, struct threadplan *plan);

enum perl_kind {
	PERL_MAIN,    /* code of the program's file */
	PERL_SUB,     /* sub or format */
	PERL_EVAL,    /* eval BLOCK or eval STRING */
	PERL_REQUIRE, /* code of a file that require, use or do runs */
	PERL_SORT,    /* block of a sort */
	PERL_REGEXP,  /* code in a regular expression */
	PERL_DEFER    /* defer or finally block */
};

struct perl_frame {
	uint64_t context; /* address of the context; of the main program's stackinfo */
	uint64_t code; /* address of the CV of PERL_SUB, of the SV with the file's name of PERL_REQUIRE, otherwise 0 */
	uint64_t cop;  /* address of the COP that the frame runs; 0: none is known */
	bool entry;    /* an activation of the run loop ends with the frame */
	bool repeated; /* it runs many times in a row, as that of a sort, or of List::Util's first */
	bool between;  /* it may be between two runs: then it has no activation */
	uint8_t kind;  /* enum perl_kind */
};

enum perl_end {
	PERL_COMPLETE,
	PERL_TRUNCATED, /* the copy or a maximum ends first: the frames are the innermost ones */
	PERL_IMPOSSIBLE /* a link is impossible: the caller drops all */
};

struct perl_stack {
	uint32_t n;
	/* variables that are current, if the innermost frame is a sub that has not ended, else 0; and the depth of its
	 * recursion before it was called */
	uint64_t pad;
	uint32_t depth;
	struct perl_frame frame[PERL_FRAMES_MAX]; /* the innermost first */
};

/* Finds the frames in a copy. Reads live memory only to prove that a sub runs that has reached no statement of its own.
 */
enum perl_end perl_frames(const struct perl *perl, const struct threadcopy *copy, struct perl_stack *stack);

/* What a frame runs. */
struct perl_function {
	uint64_t address; /* of the COP; of the code, or the interpreter, where none is known */
	uint32_t line;    /* 0: unknown */
	/* `Package::sub`, as caller() has it; `Package::__ANON__`; `<main>`; `(eval)`; `(sort)`; `(regexp)`; `(defer)`;
	 * the file as require names it. NUL-terminated UTF-8. A longer name ends with "...". */
	char name[PERL_NAME_MAX];
	char file[PERL_NAME_MAX]; /* as the COP has it; empty if unknown */
};

/* Reads name, file and line of a frame from live memory. Returns false if the memory is no sub's, or is not readable.
 */
bool perl_function(const struct perl *perl, const struct perl_frame *frame, struct perl_function *function);

#endif
