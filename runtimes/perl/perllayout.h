/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perllayout.h - offsets in Perl's structures: those that all supported versions share, and a table of the others.
 *
 * The offsets are those that the compiler computes from cop.h, cv.h, gv.h, hv.h, sv.h and intrpvar.h of Debian's builds
 * (x86-64, usethreads).
 */
#ifndef PJ_PERLLAYOUT_H
#define PJ_PERLLAYOUT_H

#include "runtimes/perl/perl.h"

#include <string.h>

enum {
	/* Offsets in the interpreter structure. */
	/* offset of the pointer to the current op; the pointer is 0 if the innermost run loop has ended */
	INTERPRETER_OP = 8,
	/* Offsets in a PERL_SI (stackinfo). */
	STACKINFO_CONTEXTS = 8,
	STACKINFO_PREVIOUS = 16,
	STACKINFO_LAST = 32,     /* offset of the index of the innermost context; -1: none */
	STACKINFO_MAX = 36,      /* offset of the largest allocated index */
	STACKINFO_LAST_SUB = 40, /* offset of the index of the innermost sub, format or eval; -1: none */
	STACKINFO_TYPE = 44,
	STACKINFO_BYTES = 56,
	/* Offsets in a PERL_CONTEXT (context). */
	CONTEXT_TYPE = 0,
	CONTEXT_OLD_COP = 16,
	CONTEXT_OLD_SCOPES = 40, /* offset of the depth of the scope stack (ENTER) when the context was pushed */
	CONTEXT_RETURN = 48, /* offset of the pointer to the op with which the caller continues; 0: the run loop ends */
	CONTEXT_FILE = 64,   /* in an eval: offset of the pointer to the SV with the file name */
	/* in a sub or format: offsets of the pointers to the caller's variables (OLD_PAD) and to the CV (CODE); in a
	 * sub: offset of the recursion depth of the CV before the call (OLD_DEPTH) */
	CONTEXT_OLD_PAD = 64,
	CONTEXT_CODE = 72,
	CONTEXT_OLD_DEPTH = 80,
	CONTEXT_BYTES = 104,
	/* Offsets in an OP and in a COP. */
	OP_SIBLING = 8, /* offset of the pointer to the next sibling, or to the parent if the op is the last sibling */
	OP_CODE = 16,
	OP_TARGET = 24, /* in a null op: offset of the opcode number that the op had before */
	OP_BITS = 32,
	OP_BYTES = 40,
	COP_LINE = 36,
	COP_FILE = 48,
	COP_BYTES = 88,
	/* Offsets in an SV and in its bodies. */
	SV_BODY = 0,
	SV_COUNT = 8,
	SV_FLAGS = 12,
	SV_VALUE = 16,
	SV_BYTES = 24,
	CV_STASH = 32,
	CV_START = 40, /* offset of the pointer to the first op of a sub: a statement, if its code has one */
	CV_ROOT = 48,  /* offset of the pointer to the root of the tree of ops */
	CV_NAME = 56,
	CV_PADS = 72,
	CV_FLAGS = 92,
	CV_BYTES = 96,
	/* offset of the largest index of the list of pads; entry i has the variables of a sub at recursion depth i */
	PADS_LAST = 0,
	PADS_LIST = 8,
	PADS_BYTES = 16,
	GV_NAME = 32,
	GV_STASH = 40,
	GV_BYTES = 48,
	GP_EFFECTIVE = 56,
	HV_MAX = 24,
	HV_BYTES = 32,
	/* in the auxiliary structure of a stash: offset of the pointer to its HEK, or to the list of its HEKs */
	STASH_NAME = 0,
	/* in the auxiliary structure of a stash: offset of the number of names; 0: STASH_NAME is the HEK itself */
	STASH_NAMES = 28,
	STASH_BYTES = 32,
	HEK_LENGTH = 4,
	HEK_TEXT = 8
};

/* Types of contexts, in the low 4 bits of the first byte; flags are in its high 4 bits. */
#define CONTEXT_TYPE_MASK 15u
enum {
	CONTEXT_NULL = 0,
	CONTEXT_BLOCK = 2,
	CONTEXT_SUB = 9,
	CONTEXT_FORMAT = 10,
	CONTEXT_EVAL = 11,
	CONTEXT_SUBST = 12,
	CONTEXT_DEFER = 13
};
#define CONTEXT_MULTICALL 0x10u
#define CONTEXT_EVAL_BLOCK 0x40u
#define CONTEXT_EVAL_TRY 0x80u /* flag of an eval: try block (since 5.34) */
#define CONTEXT_REGEXP 0x40u   /* flag of a sub: code in a regular expression */
/* flag of a sub: code in a regular expression; this code uses the variables of the enclosing sub */
#define CONTEXT_REGEXP_FAKE 0x80u

#define STACKINFO_IS_MAIN 1 /* STACKINFO_TYPE of the outermost stackinfo */

#define OP_HAS_SIBLING 0x4000u /* bit of OP_BITS: the op is not the last sibling (op_moresib) */
#define SV_TYPE_MASK 0xffu
#define SV_TYPE_GV 9u
#define SV_TYPE_HV 12u
#define SV_TYPE_CV 13u
#define SV_TYPE_FORMAT 14u
#define SV_IS_STRING 0x400u
#define SV_HAS_AUX 0x2000000u
#define CV_IS_NAMED 0x8000u
#define CV_IS_LEXICAL 0x10000u
#define HEK_IS_UTF8 1u

#define PERLLAYOUTS 3u
#define PERLLAYOUT_NEWEST 42u /* newest version that the table covers: 5.42 */

/* Minimum size of the interpreter structure in bytes. The structure contains PL_compiling, the COP of code that is
 * being compiled. */
#define INTERPRETER_BYTES 4096u

/* Sets *layout to row i of the table, i < PERLLAYOUTS. Pure. */
void perllayout_get(uint32_t i, struct perl_layout *layout);

/* Returns true if row i is the layout of `version` (36 for 5.36); false for all odd, unstable versions. Pure. */
bool perllayout_is_of(uint32_t i, uint32_t version);

/* Returns true if `pad` is the address of the variables of a CV at recursion depth `depth` + 1. cv: address of the CV.
 * Reads live memory. */
bool perlcv_has_pad(const struct perl *perl, uint64_t cv, uint32_t depth, uint64_t pad);

static inline uint64_t perllayout_word(const char *bytes, uint32_t at)
{
	uint64_t value;

	memcpy(&value, bytes + at, sizeof(value));
	return value;
}

static inline uint32_t perllayout_half(const char *bytes, uint32_t at)
{
	uint32_t value;

	memcpy(&value, bytes + at, sizeof(value));
	return value;
}

static inline bool perllayout_is_address(uint64_t value)
{
	return value % 8 == 0 && value >= 4096 && value < (UINT64_C(1) << 47);
}

#endif
