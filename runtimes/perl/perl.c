/* SPDX-License-Identifier: Apache-2.0 */
#include "common/arena.h"
#include "runtimes/memory/fdetable.h"
#include "runtimes/memory/livecopy.h"
#include "runtimes/perl/perllayout.h"

#include <stdio.h>
#include <stdlib.h>

#define ATTEMPTS 32u
/* EMPTY_ATTEMPTS: number of attempts without contradiction and without proof after which the attempts end: the process
 * may be starting or ending, or run only its main program. STACKINFOS_PROVEN, COPY_BYTES: maximum number of stackinfos,
 * and maximum bytes of memory, that one attempt copies. */
#define EMPTY_ATTEMPTS 4u
#define STACKINFOS_PROVEN 16u
#define COPY_BYTES (256u << 10)
#define OPS_MAX 1024u /* maximum number of opcodes that are searched for ops; Perl 5.36 has 414 */
#define OP_NAME_MAX 24u
#define CODE_MAX 16384u /* maximum size in bytes of an op's function that is searched; a larger one is not searched */
/* maximum size of docatch in bytes; it has 500 bytes, and a larger function is not taken for docatch */
#define CATCH_MAX 4096u
#define CALLS_MAX 64u /* maximum number of called functions that are examined in one function */
#define SPARE 8u      /* number of zero bytes after copied code: an instruction is decoded from its last byte on, too */

/* ---- paths of Perl ----------------------------------------------------------------------------------------------- */

bool perl_is_library(struct str path)
{
	struct str name = path;

	if (str_ends(name, STR(" (deleted)")))
		name.n -= sizeof(" (deleted)") - 1;
	name = str_from(name, (size_t)(str_rfind(name, '/') + 1));
	if (str_starts(name, STR("libperl.so")))
		return true;
	if (!str_starts(name, STR("perl")))
		return false;
	name = str_from(name, 4);
	while (name.n && (byte_is_digit(name.p[0]) || (name.n > 1 && name.p[0] == '.' && byte_is_digit(name.p[1]))))
		name = str_from(name, 1);
	return name.n == 0 || str_eq(name, STR("-x86_64-linux-gnu"));
}

/* ---- functions of ops -------------------------------------------------------------------------------------------- */

enum perlop {
	PERLOP_NULL,
	PERLOP_NEXTSTATE,
	PERLOP_DBSTATE,
	PERLOP_ENTERTRY,
	PERLOP_ENTEREVAL,
	PERLOP_REQUIRE,
	PERLOP_DOFILE,
	PERLOP_TRYCATCH,
	PERLOPS
};

static const char *const perlop_names[PERLOPS] = {
	[PERLOP_NULL] = "null",         [PERLOP_NEXTSTATE] = "nextstate",    [PERLOP_DBSTATE] = "dbstate",
	[PERLOP_ENTERTRY] = "entertry", [PERLOP_ENTEREVAL] = "entereval",    [PERLOP_REQUIRE] = "require",
	[PERLOP_DOFILE] = "dofile",     [PERLOP_TRYCATCH] = "entertrycatch",
};

/* Sets address[] to the functions of the ops in perlop_names, 0 for an op that this version lacks, and sets
 * perl->statement. PL_op_name has the names of all ops, PL_ppaddr their functions. Returns false if nextstate is not
 * found. */
static bool find_perlops(struct perl *perl, uint64_t address[PERLOPS])
{
	uint64_t names, functions, bytes, functions_bytes, at;
	char name[OP_NAME_MAX];

	memset(address, 0, PERLOPS * sizeof(*address));
	if (!loadedfile_symbol_size(&perl->file, STR("PL_op_name"), &names, &bytes) ||
	    !loadedfile_symbol_size(&perl->file, STR("PL_ppaddr"), &functions, &functions_bytes))
		return false;
	bytes = bytes < functions_bytes ? bytes : functions_bytes;
	for (uint64_t i = 0; i < OPS_MAX && i < bytes / 8; i++) {
		if (!memory_pointer(perl->memory, names + 8 * i, &at) ||
		    !memory_string(perl->memory, at, name, sizeof(name)))
			continue;
		for (size_t k = 0; k < PERLOPS; k++) {
			if (strcmp(name, perlop_names[k]) != 0 || address[k])
				continue;
			memory_pointer(perl->memory, functions + 8 * i, &address[k]);
			perl->statement.number = k == PERLOP_NEXTSTATE ? (uint32_t)i : perl->statement.number;
		}
	}
	perl->statement.next = address[PERLOP_NEXTSTATE];
	perl->statement.debugged = address[PERLOP_DBSTATE];
	perl->statement.null = address[PERLOP_NULL];
	return address[PERLOP_NEXTSTATE] != 0;
}

/* ---- code of docatch --------------------------------------------------------------------------------------------- */

static bool read_perlcode(struct perl *perl, const struct evalcode_range *range, unsigned char *code, size_t max)
{
	uint64_t n = range->end - range->start;

	if (n == 0 || n > max || !budget_steps(perl->memory->budget, n / 32))
		return false;
	memset(code + n, 0, SPARE);
	return memory_bulk(perl->memory, range->start, code, (size_t)n);
}

/* Returns true if the code calls the run loop through its pointer in the interpreter: call *OFFSET(%reg), bytes ff
 * 90+reg OFFSET, with byte 24 before OFFSET for %r12. */
static bool calls_run_loop(const struct perl *perl, const unsigned char *code, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		if (code[i] == 0xff && (code[i + 1] & 0xf8) == 0x90 &&
		    memcmp(code + i + (code[i + 1] == 0x94 ? 3 : 2), &perl->run_loop, sizeof(perl->run_loop)) == 0)
			return true;
	return false;
}

/* Adds a range to perl->catching, unless it is there already or no space is left. */
static void add_catching(struct perl *perl, const struct evalcode_range *range)
{
	for (uint32_t i = 0; i < perl->ncatching; i++)
		if (perl->catching[i].start == range->start)
			return;
	if (perl->ncatching < PERL_CATCHES_MAX)
		perl->catching[perl->ncatching++] = *range;
}

/* Sets *to to the target of the call or jump whose bytes start at code[0], and at `address` in the process. Returns
 * false for any other
 * instruction. */
static bool perlcode_target(const unsigned char *code, uint64_t address, uint64_t *to)
{
	int32_t distance;

	if (code[0] != 0xe8)
		return evalcode_jump(code, address, to);
	memcpy(&distance, code + 1, sizeof(distance));
	*to = address + 5 + (uint64_t)(int64_t)distance;
	return true;
}

/* Adds docatch to perl->catching: docatch is the only function that the op entertry calls and that calls the run
 * loop. code, callee: buffers for CODE_MAX and CATCH_MAX bytes. */
static void find_docatch(struct perl *perl, const struct fdetable *table, const struct evalcode_range *entertry,
			 unsigned char *code, unsigned char *callee)
{
	uint64_t n = entertry->end - entertry->start, to;
	unsigned calls = 0;

	if (!read_perlcode(perl, entertry, code, CODE_MAX))
		return;
	for (uint64_t i = 0; i < n && calls < CALLS_MAX; i++) {
		struct evalcode_range range;

		if (!perlcode_target(code + i, entertry->start + i, &to) ||
		    !fdetable_range(table, to, &range.start, &range.end) || range.start != to)
			continue;
		calls++;
		if (read_perlcode(perl, &range, callee, CATCH_MAX) &&
		    calls_run_loop(perl, callee, range.end - range.start))
			add_catching(perl, &range);
	}
}

/* Adds docatch and the ops that call it to perl->catching. Without unwind tables they are not found; stacks that
 * contain them then get no Perl frames. */
static void find_catching(struct perl *perl, const uint64_t op[PERLOPS])
{
	unsigned char *code = mem_grow(NULL, 1, CODE_MAX + SPARE), *callee = mem_grow(NULL, 1, CATCH_MAX + SPARE);
	struct evalcode_range range;
	struct fdetable table;

	perl->ncatching = 0;
	if (fdetable_open(&table, &perl->file)) {
		if (op[PERLOP_ENTERTRY] && fdetable_range(&table, op[PERLOP_ENTERTRY], &range.start, &range.end))
			find_docatch(perl, &table, &range, code, callee);
		for (size_t i = PERLOP_ENTERTRY; i < PERLOPS; i++)
			if (op[i] && fdetable_range(&table, op[i], &range.start, &range.end))
				add_catching(perl, &range);
	}
	free(code);
	free(callee);
}

/* ---- proof of a layout ------------------------------------------------------------------------------------------- */

enum perlproof { PERLPROOF_PROVEN, PERLPROOF_MAIN, PERLPROOF_EMPTY, PERLPROOF_CONTRADICTED };

struct perlprover {
	struct perl *perl;
	struct threadcopy *copy;
	struct perl_stack *stack;
	const char *why; /* the contradiction, as the end of a sentence; NULL if there is none */
};

/* Returns true if the innermost frame is a sub and the current variables (PL_comppad) belong to this sub. */
static bool has_own_pad(const struct perlprover *prover)
{
	const struct perl_stack *stack = prover->stack;

	return stack->n && stack->frame[0].kind == PERL_SUB &&
	       perlcv_has_pad(prover->perl, stack->frame[0].code, stack->depth, stack->pad);
}

/* Proves the frames of a copy. Returns PERLPROOF_CONTRADICTED if a frame has no name, or its COP is not a COP;
 * PERLPROOF_EMPTY if no frame has a COP; PERLPROOF_PROVEN if a frame is a sub of a named package and the innermost
 * frame is a sub with its own variables; otherwise PERLPROOF_MAIN. */
static enum perlproof prove_perlframes(struct perlprover *prover)
{
	enum perlproof proof = PERLPROOF_EMPTY;

	for (uint32_t i = 0; i < prover->stack->n; i++) {
		const struct perl_frame *frame = &prover->stack->frame[i];
		struct perl_function function;

		prover->why = "a frame has no name";
		if (!perl_function(prover->perl, frame, &function))
			return PERLPROOF_CONTRADICTED;
		prover->why = "a frame runs no statement";
		if (frame->cop && function.address != frame->cop)
			return PERLPROOF_CONTRADICTED;
		if (frame->kind == PERL_SUB && frame->cop && !str_starts(str_of(function.name), STR("__ANON__::")))
			proof = PERLPROOF_PROVEN;
		else if (proof == PERLPROOF_EMPTY && frame->cop)
			proof = PERLPROOF_MAIN;
	}
	prover->why = NULL;
	return proof == PERLPROOF_PROVEN && !has_own_pad(prover) ? PERLPROOF_MAIN : proof;
}

static enum perlproof prove_perl_once(struct perlprover *prover)
{
	struct perl *perl = prover->perl;
	struct threadplan plan;
	enum perl_end end;

	perl_plan(&perl->layout, &plan);
	plan.frames = STACKINFOS_PROVEN;
	livecopy_read(perl->memory, &plan, perl->interpreter, prover->copy, COPY_BYTES);
	end = perl_frames(perl, prover->copy, prover->stack);
	prover->why = end == PERL_IMPOSSIBLE                                         ? "its contexts are impossible" :
		      end == PERL_TRUNCATED && prover->copy->end != THREADCOPY_LIMIT ? "its contexts are not readable" :
										       NULL;
	return prover->why ? PERLPROOF_CONTRADICTED : prove_perlframes(prover);
}

/* Proves perl->layout, in up to ATTEMPTS attempts: the process runs meanwhile, so an attempt may fail although the
 * layout is right. Returns the result of the last attempt, and sets *why to its contradiction; to NULL if there is
 * none. */
static enum perlproof prove_perl(struct perl *perl, const char **why)
{
	struct perlprover prover = { .perl = perl };
	/* An image does not change: one attempt is enough. */
	unsigned attempts = perl->memory->fd < 0 ? 1 : ATTEMPTS, empty = 0;
	enum perlproof proof = PERLPROOF_EMPTY;

	prover.copy = mem_grow(NULL, 1, sizeof(*prover.copy) + COPY_BYTES);
	prover.stack = mem_grow(NULL, 1, sizeof(*prover.stack));
	for (unsigned i = 0; i < attempts && proof != PERLPROOF_PROVEN && empty < EMPTY_ATTEMPTS; i++) {
		memory_forget(perl->memory);
		proof = prove_perl_once(&prover);
		empty += proof != PERLPROOF_CONTRADICTED;
	}
	*why = prover.why;
	free(prover.copy);
	free(prover.stack);
	return proof;
}

/* ---- opening of an interpreter ----------------------------------------------------------------------------------- */

static enum perl_answer perl_refuse(struct perl *perl, const char *why)
{
	snprintf(perl->why, sizeof(perl->why), "its Perl %s is not supported (%s); send us the file and its build-id",
		 perl->version[0] ? perl->version : "of an unknown version", why);
	return PERL_REFUSED;
}

static enum perl_answer perl_early(struct perl *perl)
{
	snprintf(perl->why, sizeof(perl->why), "its Perl runs no code at present");
	return PERL_EARLY;
}

/* Sets perl->run_loop to the offset of the only word in the interpreter that is the address of the run loop. Returns
 * false if there is no such word, or more than one. */
static bool find_run_loop(struct perl *perl)
{
	unsigned found = 0;
	uint64_t word;

	for (uint32_t at = 0; at < INTERPRETER_BYTES; at += 8) {
		if (!memory_pointer(perl->memory, perl->interpreter + at, &word) || word != perl->eval.range[0].start)
			continue;
		perl->run_loop = at;
		found++;
	}
	return found == 1;
}

/* Tries to prove the layout in row `row` of the table. Returns PERL_OPEN if the result is PERLPROOF_PROVEN or
 * PERLPROOF_MAIN. */
static enum perl_answer perl_try_row(struct perl *perl, uint32_t row)
{
	const char *why = NULL;

	perllayout_get(row, &perl->layout);
	switch (prove_perl(perl, &why)) {
	case PERLPROOF_PROVEN:
	case PERLPROOF_MAIN: return PERL_OPEN;
	case PERLPROOF_EMPTY: return perl_early(perl);
	default: return perl_refuse(perl, why);
	}
}

/* Tries all rows of the table. Returns PERL_OPEN if exactly one row is proven by the names of subs
 * (PERLPROOF_PROVEN). */
static enum perl_answer perl_try_all(struct perl *perl)
{
	struct perl_layout proven = { 0 };
	const char *why = NULL;
	bool early = false;

	for (uint32_t i = 0; i < PERLLAYOUTS; i++) {
		enum perlproof proof;

		perllayout_get(i, &perl->layout);
		proof = prove_perl(perl, &why);
		early |= proof == PERLPROOF_MAIN || proof == PERLPROOF_EMPTY;
		if (proof != PERLPROOF_PROVEN)
			continue;
		if (proven.version)
			return perl_refuse(perl, "several layouts are possible");
		proven = perl->layout;
	}
	perl->layout = proven;
	if (proven.version)
		return PERL_OPEN;
	return early ? perl_early(perl) : perl_refuse(perl, "no known layout fits");
}

static enum perl_answer perl_find_layout(struct perl *perl, uint32_t version)
{
	for (uint32_t i = 0; i < PERLLAYOUTS; i++)
		if (perllayout_is_of(i, version))
			return perl_try_row(perl, i);
	return perl_try_all(perl);
}

static enum perl_answer perl_open_interpreter(struct perl *perl, uint32_t version)
{
	uint64_t variable, op[PERLOPS];

	if (loadedfile_symbol(&perl->file, STR("PL_curstackinfo"), &variable))
		return perl_refuse(perl, "it is built without threads");
	if (!loadedfile_symbol(&perl->file, STR("PL_curinterp"), &variable) ||
	    !memory_pointer(perl->memory, variable, &perl->interpreter) || !find_perlops(perl, op))
		return perl_refuse(perl, "it does not export its interpreter");
	if (!perl->interpreter)
		return perl_early(perl);
	if (!perllayout_is_address(perl->interpreter) || !find_run_loop(perl))
		return perl_refuse(perl, "a run loop of a debugger or profiler runs its code");
	find_catching(perl, op);
	return perl_find_layout(perl, version);
}

enum perl_answer perl_open(struct perl *perl, struct memory *memory, uint64_t base)
{
	uint64_t at, version = 0;
	enum perl_answer answer;
	const char *why;

	*perl = (struct perl){ .memory = memory };
	why = loadedfile_open(&perl->file, memory, base);
	if (why || !evalcode_find(&perl->file, STR("Perl_runops_standard"), &perl->eval)) {
		snprintf(perl->why, sizeof(perl->why), "%s", why ? why : "the file is not Perl");
		return PERL_OTHER_FILE;
	}
	if (loadedfile_symbol(&perl->file, STR("PL_version"), &at) && memory_u64(memory, at, 1, &version) && version)
		snprintf(perl->version, sizeof(perl->version), "5.%u", (unsigned)version);
	answer = perl_open_interpreter(perl, (uint32_t)version);
	if (answer != PERL_OPEN && memory->budget && memory->budget->over) {
		snprintf(perl->why, sizeof(perl->why), "its Perl cannot be read from memory");
		answer = PERL_UNREADABLE;
	}
	return answer;
}
