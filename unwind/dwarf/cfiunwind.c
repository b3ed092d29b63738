/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/dwarf/cfiunwind.h"

#include "unwind/dwarf/cfiexpr.h"
#include "unwind/dwarf/unwindtable.h"

/* TURNS_MAX: maximum number of signal frames in one stack; more end the walk with UNWIND_LOOP. EFFORT_MAX: maximum
 * number of operations of all DWARF expressions for one stack. Expressions of real code have a few operations; 17
 * registers with a thousand operations each would cost 70 ms per stack. */
enum { TURNS_MAX = 16, EFFORT_MAX = 20000 };

static const struct processor *cfiunwind_processor_of(const struct unwind_state *state)
{
	return state->processor ? state->processor : &processor_x86_64;
}

static bool cfiunwind_load(const struct unwind_state *state, uint64_t address, uint64_t *value)
{
	return cfi_load(state->stack, state->stack_start, address, value);
}

/* ---- start of a walk ---- */

bool unwind_start_on(const struct processor *processor, struct unwind_state *state, uint64_t mask, const uint64_t *regs,
		     uint64_t abi, struct str stack)
{
	enum { ABI_64 = 2 };
	bool has_ip = false;

	*state = (struct unwind_state){
		.processor = processor, .stack = stack, .interrupted = true, .effort = EFFORT_MAX
	};
	if (abi != ABI_64)
		return false;
	for (unsigned bit = 0, i = 0; bit < 64; bit++) {
		if (!(mask >> bit & 1))
			continue;
		if (bit == processor->perf_ip) {
			state->ip = regs[i];
			has_ip = true;
		} else if (bit < countof(processor->of_perf) && processor->of_perf[bit] != CFI_NREGS) {
			state->reg[processor->of_perf[bit]] = regs[i];
			state->valid |= 1U << processor->of_perf[bit];
		}
		i++;
	}
	state->bp = state->reg[CFI_RBP];
	state->sp = state->stack_start = state->reg[CFI_RSP];
	return has_ip && state->valid >> CFI_RSP & 1;
}

bool unwind_start(struct unwind_state *state, uint64_t mask, const uint64_t *regs, uint64_t abi, struct str stack)
{
	return unwind_start_on(&processor_x86_64, state, mask, regs, abi, stack);
}

/* ---- steps to the caller ---- */

/* Moves *state to the caller. ip: return address; sp: sp of the caller; *next: state with the caller's other registers.
 * Returns UNWIND_ROOT if the return address is 0. */
static enum unwind_end cfiunwind_arrive(struct unwind_state *state, struct unwind_state *next, uint64_t ip, uint64_t sp)
{
	ip &= cfiunwind_processor_of(state)->code;
	if (ip == 0)
		return UNWIND_ROOT;
	next->ip = ip;
	next->sp = next->reg[CFI_RSP] = sp;
	next->reg[CFI_RBP] = next->bp;
	/* The call to this frame has overwritten the caller's link register, so its value is unknown. */
	next->valid = (next->valid & ~(1U << CFI_RA)) | 1U << CFI_RSP;
	*state = *next;
	return UNWIND_MORE;
}

/* Sets *ip to the return address of a function that has pushed nothing, from the stack or the link register, and *sp to
 * the caller's sp. Returns false if the return address is unknown. */
static bool load_return(const struct unwind_state *state, uint64_t *ip, uint64_t *sp)
{
	if (!cfiunwind_processor_of(state)->link) {
		*sp = state->sp + 8;
		return cfiunwind_load(state, state->sp, ip);
	}
	*sp = state->sp;
	*ip = state->reg[CFI_RA];
	return state->valid >> CFI_RA & 1;
}

/* Steps by the frame pointer, out of code without a row. has_frame_pointer: true if the code is known to keep one.
 * Otherwise rbp may have the value of a caller, or any other value, even 0, so state->unproven becomes true. */
static enum unwind_end step_by_frame_pointer(struct unwind_state *state, bool has_frame_pointer)
{
	struct unwind_state next;
	uint64_t ip, sp;

	/* Interrupted at address 0, after a call through a null pointer: only the return address is on the stack. */
	if (state->ip == 0 && state->interrupted) {
		next = *state;
		next.interrupted = false;
		return load_return(state, &ip, &sp) ? cfiunwind_arrive(state, &next, ip, sp) : UNWIND_STACK_CUT;
	}
	state->unproven |= !has_frame_pointer;
	next = *state;
	if (!(state->valid >> CFI_RBP & 1))
		return UNWIND_NO_CODE;
	if (state->bp == 0)
		return UNWIND_ROOT;
	if (state->bp % 8 || state->bp < state->sp)
		return UNWIND_NO_CODE;
	if (!cfiunwind_load(state, state->bp, &next.bp) || !cfiunwind_load(state, state->bp + 8, &ip))
		return UNWIND_STACK_CUT;
	next.interrupted = false;
	next.valid = 1U << CFI_RBP;
	return cfiunwind_arrive(state, &next, ip, state->bp + 16);
}

/* Sets *value to the caller's value of a register that is saved at `address`. A save slot below sp means that the
 * epilogue has restored the register, so *value, its current value, stays. known: true if the current value is known.
 * Returns true if the caller's value is known. */
static bool cfiunwind_saved(const struct unwind_state *state, uint64_t address, bool known, uint64_t *value)
{
	return address < state->sp ? known : cfiunwind_load(state, address, value);
}

/* Returns UNWIND_STACK_CUT for a return address at `address`, which is outside of the stack copy. Sets
 * state->fp_valid. */
static enum unwind_end cfiunwind_cut_at(struct unwind_state *state, uint64_t address)
{
	state->fp_valid = state->valid >> CFI_RBP & 1 && address == state->reg[CFI_RBP] + 8;
	return UNWIND_STACK_CUT;
}

/* Sets *ip to the return address by a short row, on a processor with a link register. Returns UNWIND_MORE, or the
 * reason why the return address is unknown. */
static enum unwind_end link_of_row(struct unwind_state *state, const struct cfi_row *row, uint64_t cfa, uint64_t *ip)
{
	uint64_t at = cfa + (uint64_t)(8 * (int64_t)row->ra_at);

	/* The save slot of the link register is below sp: the epilogue has restored the register already. */
	if (row->flags & CFI_ROW_LINK || at < state->sp) {
		*ip = state->reg[CFI_RA] & cfiunwind_processor_of(state)->code;
		return state->valid >> CFI_RA & 1 ? UNWIND_MORE : UNWIND_NO_CODE;
	}
	if (!cfiunwind_load(state, at, ip))
		return cfiunwind_cut_at(state, at);
	*ip &= cfiunwind_processor_of(state)->code;
	return UNWIND_MORE;
}

static enum unwind_end step_by_row(struct unwind_state *state, const struct cfi_row *row)
{
	const struct processor *processor = cfiunwind_processor_of(state);
	uint64_t cfa = state->reg[row->reg] + (uint64_t)(int64_t)row->cfa, ip;
	unsigned left = row->saved;
	uint32_t valid = state->valid & processor->saved;
	enum unwind_end end;

	if (unlikely(!(state->valid >> row->reg & 1)))
		return UNWIND_NO_CODE;
	/* With a link register, an interrupted function may have no frame, so sp may stay the same. */
	if (unlikely(cfa < state->sp + !(processor->link && state->interrupted)))
		return UNWIND_LOOP;
	if (processor->link) {
		end = link_of_row(state, row, cfa, &ip);
		if (end != UNWIND_MORE)
			return end;
	} else if (unlikely(!cfiunwind_load(state, cfa - 8, &ip))) {
		return cfiunwind_cut_at(state, cfa - 8);
	}
	if (unlikely(ip == 0))
		return UNWIND_ROOT;
	for (; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctz(left), reg = cfi_saved[i];

		if (cfiunwind_saved(state, cfa + (uint64_t)(8 * (int64_t)row->at[i]), valid >> reg & 1,
				    &state->reg[reg]))
			valid |= 1U << reg;
		else
			valid &= ~(1U << reg);
	}
	state->ip = ip;
	state->bp = state->reg[CFI_RBP];
	state->sp = state->reg[CFI_RSP] = cfa;
	state->valid = valid | 1U << CFI_RSP;
	state->interrupted = false;
	return UNWIND_MORE;
}

/* Sets *value to the caller's value of register `reg` by its rule. Returns false if the value is unknown. Sets *cut to
 * true if the value is in memory outside of the stack copy; otherwise *cut is false or unchanged. */
static bool cfiunwind_apply(const struct cfi_rule *rule, const struct cfi_place *place, unsigned reg, uint64_t cfa,
			    uint64_t *value, bool *cut)
{
	uint64_t address = cfa + (uint64_t)rule->value;
	bool known = place->valid >> reg & 1;

	switch (rule->how) {
	case CFI_SAME: *value = place->reg[reg]; return known;
	case CFI_IS: *value = address; return true;
	case CFI_REGISTER: *value = place->reg[rule->reg]; return place->valid >> rule->reg & 1;
	case CFI_IS_EXPR: return cfi_evaluate((struct str){ rule->expression, rule->length }, place, &cfa, value);
	case CFI_AT_EXPR:
		if (!cfi_evaluate((struct str){ rule->expression, rule->length }, place, &cfa, &address))
			return false;
		break;
	case CFI_AT: break;
	default: return false;
	}
	if (address < place->reg[CFI_RSP] && reg != CFI_RA) {
		*value = place->reg[reg];
		return known;
	}
	*cut = !cfi_load(place->stack, place->stack_start, address, value);
	return !*cut;
}

static bool find_cfa(const struct cfi_rules *full, const struct cfi_place *place, uint64_t *cfa)
{
	const struct cfi_rule *rule = &full->cfa;

	if (rule->how == CFI_IS_EXPR)
		return cfi_evaluate((struct str){ rule->expression, rule->length }, place, NULL, cfa);
	*cfa = place->reg[rule->reg] + (uint64_t)rule->value;
	return rule->how == CFI_REGISTER && place->valid >> rule->reg & 1;
}

/* Computes the caller's registers by the rules of a full row and stores them in *next. Leaves next->ip and next->sp
 * unchanged. */
static void apply_all(const struct cfi_rules *full, const struct cfi_place *place, uint64_t cfa,
		      struct unwind_state *next)
{
	uint32_t saved = cfiunwind_processor_of(next)->saved;
	bool cut;

	next->valid = 0;
	for (unsigned i = 0; i < CFI_RA; i++) {
		struct cfi_rule rule = full->reg[i];

		if (rule.how == CFI_UNSPECIFIED && saved >> i & 1)
			rule.how = CFI_SAME;
		if (i != CFI_RSP && cfiunwind_apply(&rule, place, i, cfa, &next->reg[i], &cut))
			next->valid |= 1U << i;
	}
	next->bp = next->reg[CFI_RBP];
}

static struct cfi_place cfiunwind_place_of(const struct unwind_state *state, uint32_t *effort)
{
	struct cfi_place place = { .processor = state->processor,
				   .valid = state->valid,
				   .stack = state->stack,
				   .stack_start = state->stack_start,
				   .effort = effort };

	memcpy(place.reg, state->reg, sizeof(state->reg));
	if (!cfiunwind_processor_of(state)->link) {
		place.reg[CFI_RA] = state->ip;
		place.valid |= 1U << CFI_RA;
	}
	return place;
}

static enum unwind_end step_by_rules(struct unwind_state *state, const struct cfi_row *row)
{
	const struct cfi_rules *full = row->full;
	bool link = cfiunwind_processor_of(state)->link;
	struct cfi_rule rule = full->reg[row->ra];
	const struct cfi_rule *rsp = &full->reg[CFI_RSP];
	struct unwind_state next = *state;
	struct cfi_place place = cfiunwind_place_of(state, &next.effort);
	bool cut = false, popped;
	uint64_t cfa, ip, sp;

	if (!find_cfa(full, &place, &cfa))
		return UNWIND_NO_CODE;
	sp = cfa;
	if (rsp->how != CFI_UNSPECIFIED && !cfiunwind_apply(rsp, &place, CFI_RSP, cfa, &sp, &cut))
		return cut ? UNWIND_STACK_CUT : UNWIND_NO_CODE;
	if (link && rule.how == CFI_UNSPECIFIED)
		rule.how = CFI_SAME;
	if (!cfiunwind_apply(&rule, &place, row->ra, cfa, &ip, &cut))
		return cut ? UNWIND_STACK_CUT : UNWIND_NO_CODE;
	next.interrupted = row->flags & CFI_ROW_SIGNAL;
	/* The stack of a caller is above the frame; only interrupted code may have another stack, at any address. sp
	 * may stay the same if an interrupted function has popped its return address already: gcc's _Unwind_Resume ends
	 * with a jump to that address in a register. */
	popped = state->interrupted && (link || rule.how == CFI_REGISTER);
	if (next.interrupted ? next.turns++ == TURNS_MAX : sp < state->sp + !popped)
		return UNWIND_LOOP;
	if (!next.interrupted && sp - state->stack_start > state->stack.n)
		return UNWIND_STACK_CUT;
	apply_all(full, &place, cfa, &next);
	return cfiunwind_arrive(state, &next, ip, sp);
}

/* Returns the row of a signal frame that was interrupted in its system call rt_sigreturn; NULL for other frames. The
 * system call is the last instruction of its function, so ip is after the FDE, and the row is looked up at ip - 1. */
static const struct cfi_row *returning_row(const struct unwind_state *state, struct unwind_code code)
{
	const struct cfi_row *row = NULL;

	if (state->interrupted && code.table)
		row = unwind_table_row(code.table, state->ip - 1 - code.bias);
	return row && row->flags & CFI_ROW_SIGNAL ? row : NULL;
}

/* Steps out of an assumed leaf: interrupted code that is assumed to have pushed nothing. */
static enum unwind_end step_from_leaf(struct unwind_state *state)
{
	struct unwind_state next = *state;
	uint64_t ip, sp;

	if (!load_return(state, &ip, &sp))
		return UNWIND_STACK_CUT;
	/* Returns no UNWIND_ROOT, because an assumption cannot prove a root. */
	if (ip == 0)
		return UNWIND_NO_CODE;
	next.interrupted = false;
	next.valid &= cfiunwind_processor_of(state)->saved;
	return cfiunwind_arrive(state, &next, ip, sp);
}

/* Steps out of interrupted code without FDE, in a file with tables. In hand-written assembly rbp may have any value, so
 * rbp = 0 does not prove a root. */
static enum unwind_end step_no_fde(struct unwind_state *state)
{
	state->no_fde = true;
	if (state->assume_leaf)
		return step_from_leaf(state);
	return state->bp || !(state->valid >> CFI_RBP & 1) ? step_by_frame_pointer(state, false) : UNWIND_NO_CODE;
}

/* Steps out of a frame whose code has no row, or no table. The first code of a program has rbp = 0, by the System V
 * ABI. In Go's code, only a return address proves a frame pointer: an interrupted function may be a leaf without
 * one. */
static enum unwind_end step_without_row(struct unwind_state *state, struct unwind_code code)
{
	const struct unwind_table *table = code.table;
	bool has_frame_pointer =
		table &&
		((!state->interrupted && unwind_table_keeps_frame_pointers(table)) ||
		 (state->bp == 0 && unwind_table_is_start(table, state->ip - !state->interrupted - code.bias)));

	return table && !has_frame_pointer && state->interrupted ? step_no_fde(state) :
								   step_by_frame_pointer(state, has_frame_pointer);
}

enum unwind_end unwind_step(struct unwind_state *state, struct unwind_code code, bool leaf)
{
	const struct cfi_row *row = NULL;

	state->interrupted |= leaf;
	state->native = true;
	state->reg[CFI_RBP] = state->bp;
	state->reg[CFI_RSP] = state->sp;
	/* A call may be the last instruction of a function. Then the return address is after the function, so ip - 1 is
	 * looked up. */
	if (code.table)
		row = unwind_table_row(code.table, state->ip - !state->interrupted - code.bias);
	if (unlikely(!row))
		row = returning_row(state, code);
	if (!row)
		return step_without_row(state, code);
	if (row->flags & CFI_ROW_ROOT)
		return UNWIND_ROOT;
	if (unlikely(row->flags & ~CFI_ROW_LINK))
		return step_by_rules(state, row);
	return step_by_row(state, row);
}
