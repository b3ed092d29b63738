/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perllayout.h - offsets of Perl's structures that are the same in all versions here, and the table of the others.
 *
 * They are those that the compiler computes from cop.h, cv.h, gv.h, hv.h, sv.h and intrpvar.h of Debian's builds
 * (x86-64, usethreads).
 */
#ifndef PJ_PERLLAYOUT_H
#define PJ_PERLLAYOUT_H

#include "runtimes/perl/perl.h"

#include <string.h>

enum {
	/* interpreter */
	INTERPRETER_OP = 8, /* op that runs; 0: the innermost run loop has ended */
	/* PERL_SI */
	STACKINFO_CONTEXTS = 8,
	STACKINFO_PREVIOUS = 16,
	STACKINFO_LAST = 32,     /* index of the innermost context, -1: none */
	STACKINFO_MAX = 36,      /* largest index that is allocated */
	STACKINFO_LAST_SUB = 40, /* index of the innermost sub, format or eval, -1: none */
	STACKINFO_TYPE = 44,
	STACKINFO_BYTES = 56,
	/* PERL_CONTEXT */
	CONTEXT_TYPE = 0,
	CONTEXT_OLD_COP = 16,
	CONTEXT_OLD_SCOPES = 40, /* depth of the scopes (ENTER) at the push */
	CONTEXT_RETURN = 48,     /* op to continue with; 0: the run loop ends */
	CONTEXT_FILE = 64,       /* of an eval: SV with the name of the file */
	/* of a sub or format: caller's variables, CV, and (of a sub) depth of the CV's recursion before */
	CONTEXT_OLD_PAD = 64,
	CONTEXT_CODE = 72,
	CONTEXT_OLD_DEPTH = 80,
	CONTEXT_BYTES = 104,
	/* OP and COP */
	OP_CODE = 16,
	OP_TARGET = 24, /* of a null op: number of the op that it was */
	COP_LINE = 36,
	COP_FILE = 48,
	COP_BYTES = 88,
	/* SV and bodies */
	SV_BODY = 0,
	SV_COUNT = 8,
	SV_FLAGS = 12,
	SV_VALUE = 16,
	SV_BYTES = 24,
	CV_STASH = 32,
	CV_NAME = 56,
	CV_PADS = 72,
	CV_FLAGS = 92,
	CV_BYTES = 96,
	PADS_LAST =
		0, /* largest index; a sub's variables are in those from 1 on, one for each depth of its recursion */
	PADS_LIST = 8,
	PADS_BYTES = 16,
	GV_NAME = 32,
	GV_STASH = 40,
	GV_BYTES = 48,
	GP_EFFECTIVE = 56,
	HV_MAX = 24,
	HV_BYTES = 32,
	STASH_NAME = 0,   /* of the auxiliary structure */
	STASH_NAMES = 28, /* number of names; 0: STASH_NAME is the name itself */
	STASH_BYTES = 32,
	HEK_LENGTH = 4,
	HEK_TEXT = 8
};

/* Types of contexts: low 4 bits of the first byte, and its flags. */
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
#define CONTEXT_EVAL_TRY 0x80u    /* try of 5.34 */
#define CONTEXT_REGEXP 0x40u      /* of a sub: code in a regular expression */
#define CONTEXT_REGEXP_FAKE 0x80u /* such code that has the variables of the sub around it */

#define STACKINFO_IS_MAIN 1 /* STACKINFO_TYPE of the outermost one */

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
#define PERLLAYOUT_NEWEST 42u /* 5.42 is the newest version with a row */

/* Bytes of the interpreter's structure, at least; PL_compiling, the COP of code that is compiled, is in it. */
#define INTERPRETER_BYTES 4096u

/* Sets *layout to row i of the table, i < PERLLAYOUTS. Pure. */
void perllayout_get(uint32_t i, struct perl_layout *layout);

/* Returns true if row i is that of a version. Pure. */
bool perllayout_is_of(uint32_t i, uint32_t version);

/* Returns true if `pad` (variables) is the one with which a CV runs that ran `depth` times already, in live memory. */
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
