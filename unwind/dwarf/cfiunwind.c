/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/dwarf/cfiunwind.h"

#include "unwind/dwarf/cfiexpr.h"
#include "unwind/dwarf/unwindtable.h"

/* More signal frames than this in one stack are a circle. A frame has an expression of a few operations at most, in
 * which a thousand each for 17 registers would take 70 ms a stack. */
enum { TURNS_MAX = 16, EFFORT_MAX = 20000 };

static const struct processor *cfiunwind_processor_of(const struct unwind_state *s)
{
	return s->processor ? s->processor : &processor_x86_64;
}

static bool cfiunwind_load(const struct unwind_state *s, uint64_t address, uint64_t *value)
{
	return cfi_load(s->stack, s->stack_start, address, value);
}

/* ---- start ---- */

bool unwind_start_on(const struct processor *p, struct unwind_state *s, uint64_t mask, const uint64_t *regs,
		     uint64_t abi, struct str stack)
{
	enum { ABI_64 = 2 };
	bool has_ip = false;

	*s = (struct unwind_state){ .processor = p, .stack = stack, .interrupted = true, .effort = EFFORT_MAX };
	if (abi != ABI_64)
		return false;
	for (unsigned bit = 0, i = 0; bit < 64; bit++) {
		if (!(mask >> bit & 1))
			continue;
		if (bit == p->perf_ip) {
			s->ip = regs[i];
			has_ip = true;
		} else if (bit < countof(p->of_perf) && p->of_perf[bit] != CFI_NREGS) {
			s->reg[p->of_perf[bit]] = regs[i];
			s->valid |= 1U << p->of_perf[bit];
		}
		i++;
	}
	s->bp = s->reg[CFI_RBP];
	s->sp = s->stack_start = s->reg[CFI_RSP];
	return has_ip && s->valid >> CFI_RSP & 1;
}

bool unwind_start(struct unwind_state *s, uint64_t mask, const uint64_t *regs, uint64_t abi, struct str stack)
{
	return unwind_start_on(&processor_x86_64, s, mask, regs, abi, stack);
}

/* ---- steps ---- */

/* The caller is found: its registers are in *next but for these. */
static enum unwind_end cfiunwind_arrive(struct unwind_state *s, struct unwind_state *next, uint64_t ip, uint64_t sp)
{
	ip &= cfiunwind_processor_of(s)->code;
	if (ip == 0)
		return UNWIND_ROOT;
	next->ip = ip;
	next->sp = next->reg[CFI_RSP] = sp;
	next->reg[CFI_RBP] = next->bp;
	next->valid = (next->valid & ~(1U << CFI_RA)) |
		      1U << CFI_RSP; /* a caller's link register had the address of this call */
	*s = *next;
	return UNWIND_MORE;
}

/* The return address, where nothing was pushed but that. */
static bool load_return(const struct unwind_state *s, uint64_t *ip, uint64_t *sp)
{
	if (!cfiunwind_processor_of(s)->link) {
		*sp = s->sp + 8;
		return cfiunwind_load(s, s->sp, ip);
	}
	*sp = s->sp;
	*ip = s->reg[CFI_RA];
	return s->valid >> CFI_RA & 1;
}

/* No table: by the frame that rbp points at. Where code keeps none, rbp is of a caller, or anything. */
static enum unwind_end step_by_frame_pointer(struct unwind_state *s)
{
	struct unwind_state next = *s;
	uint64_t ip, sp;

	/* a call through a pointer that was 0: nothing was pushed but the return address */
	if (s->ip == 0 && s->interrupted) {
		next.interrupted = false;
		return load_return(s, &ip, &sp) ? cfiunwind_arrive(s, &next, ip, sp) : UNWIND_STACK_CUT;
	}
	if (!(s->valid >> CFI_RBP & 1))
		return UNWIND_NO_CODE;
	if (s->bp == 0)
		return UNWIND_ROOT;
	if (s->bp % 8 || s->bp < s->sp)
		return UNWIND_NO_CODE;
	if (!cfiunwind_load(s, s->bp, &next.bp) || !cfiunwind_load(s, s->bp + 8, &ip))
		return UNWIND_STACK_CUT;
	next.interrupted = false;
	next.valid = 1U << CFI_RBP;
	return cfiunwind_arrive(s, &next, ip, s->bp + 16);
}

/* A word that was saved. Below sp it was restored already, and the register has it. True when *value is known. */
static bool cfiunwind_saved(const struct unwind_state *s, uint64_t address, bool known, uint64_t *value)
{
	return address < s->sp ? known : cfiunwind_load(s, address, value);
}

/* The return address is at an address that the copy does not have. */
static enum unwind_end cfiunwind_cut_at(struct unwind_state *s, uint64_t address)
{
	s->fp_valid = s->valid >> CFI_RBP & 1 && address == s->reg[CFI_RBP] + 8;
	return UNWIND_STACK_CUT;
}

/* Of a processor with a link register: *ip, and UNWIND_MORE. */
static enum unwind_end link_of_row(struct unwind_state *s, const struct cfi_row *row, uint64_t cfa, uint64_t *ip)
{
	uint64_t at = cfa + (uint64_t)(8 * (int64_t)row->ra_at);

	/* also where it was saved, and is back already */
	if (row->flags & CFI_ROW_LINK || at < s->sp) {
		*ip = s->reg[CFI_RA] & cfiunwind_processor_of(s)->code;
		return s->valid >> CFI_RA & 1 ? UNWIND_MORE : UNWIND_NO_CODE;
	}
	if (!cfiunwind_load(s, at, ip))
		return cfiunwind_cut_at(s, at);
	*ip &= cfiunwind_processor_of(s)->code;
	return UNWIND_MORE;
}

static enum unwind_end step_by_row(struct unwind_state *s, const struct cfi_row *row)
{
	const struct processor *p = cfiunwind_processor_of(s);
	uint64_t cfa = s->reg[row->reg] + (uint64_t)(int64_t)row->cfa, ip;
	unsigned left = row->saved;
	uint32_t valid = s->valid & p->saved;
	enum unwind_end end;

	if (unlikely(!(s->valid >> row->reg & 1)))
		return UNWIND_NO_CODE;
	if (unlikely(cfa < s->sp + !(p->link && s->interrupted))) /* a leaf may have no frame there */
		return UNWIND_LOOP;
	if (p->link) {
		end = link_of_row(s, row, cfa, &ip);
		if (end != UNWIND_MORE)
			return end;
	} else if (unlikely(!cfiunwind_load(s, cfa - 8, &ip))) {
		return cfiunwind_cut_at(s, cfa - 8);
	}
	if (unlikely(ip == 0))
		return UNWIND_ROOT;
	for (; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctz(left), reg = cfi_saved[i];

		if (!cfiunwind_saved(s, cfa + (uint64_t)(8 * (int64_t)row->at[i]), valid >> reg & 1, &s->reg[reg]))
			valid &= ~(1U << reg);
	}
	s->ip = ip;
	s->bp = s->reg[CFI_RBP];
	s->sp = s->reg[CFI_RSP] = cfa;
	s->valid = valid | 1U << CFI_RSP;
	s->interrupted = false;
	return UNWIND_MORE;
}

/* What a rule says; *cut when it is in memory that is not in the copy. */
static bool cfiunwind_apply(const struct cfi_rule *r, const struct cfi_place *p, unsigned reg, uint64_t cfa,
			    uint64_t *value, bool *cut)
{
	uint64_t address = cfa + (uint64_t)r->value;
	bool known = p->valid >> reg & 1;

	switch (r->how) {
	case CFI_SAME: *value = p->reg[reg]; return known;
	case CFI_IS: *value = address; return true;
	case CFI_REGISTER: *value = p->reg[r->reg]; return p->valid >> r->reg & 1;
	case CFI_IS_EXPR: return cfi_evaluate((struct str){ r->expression, r->length }, p, &cfa, value);
	case CFI_AT_EXPR:
		if (!cfi_evaluate((struct str){ r->expression, r->length }, p, &cfa, &address))
			return false;
		break;
	case CFI_AT: break;
	default: return false;
	}
	if (address < p->reg[CFI_RSP] && reg != CFI_RA) {
		*value = p->reg[reg];
		return known;
	}
	*cut = !cfi_load(p->stack, p->stack_start, address, value);
	return !*cut;
}

static bool find_cfa(const struct cfi_rules *full, const struct cfi_place *p, uint64_t *cfa)
{
	const struct cfi_rule *r = &full->cfa;

	if (r->how == CFI_IS_EXPR)
		return cfi_evaluate((struct str){ r->expression, r->length }, p, NULL, cfa);
	*cfa = p->reg[r->reg] + (uint64_t)r->value;
	return r->how == CFI_REGISTER && p->valid >> r->reg & 1;
}

/* The caller's registers but ip and sp. */
static void apply_all(const struct cfi_rules *full, const struct cfi_place *p, uint64_t cfa, struct unwind_state *next)
{
	uint32_t saved = cfiunwind_processor_of(next)->saved;
	bool cut;

	next->valid = 0;
	for (unsigned i = 0; i < CFI_RA; i++) {
		struct cfi_rule r = full->reg[i];

		if (r.how == CFI_UNSPECIFIED && saved >> i & 1)
			r.how = CFI_SAME;
		if (i != CFI_RSP && cfiunwind_apply(&r, p, i, cfa, &next->reg[i], &cut))
			next->valid |= 1U << i;
	}
	next->bp = next->reg[CFI_RBP];
}

static struct cfi_place cfiunwind_place_of(const struct unwind_state *s, uint32_t *effort)
{
	struct cfi_place p = { .processor = s->processor,
			       .valid = s->valid,
			       .stack = s->stack,
			       .stack_start = s->stack_start,
			       .effort = effort };

	memcpy(p.reg, s->reg, sizeof(s->reg));
	if (!cfiunwind_processor_of(s)->link) {
		p.reg[CFI_RA] = s->ip;
		p.valid |= 1U << CFI_RA;
	}
	return p;
}

static enum unwind_end step_by_rules(struct unwind_state *s, const struct cfi_row *row)
{
	const struct cfi_rules *full = row->full;
	bool link = cfiunwind_processor_of(s)->link;
	struct cfi_rule ra = full->reg[row->ra];
	const struct cfi_rule *rsp = &full->reg[CFI_RSP];
	struct unwind_state next = *s;
	struct cfi_place p = cfiunwind_place_of(s, &next.effort);
	bool cut = false, popped;
	uint64_t cfa, ip, sp;

	if (!find_cfa(full, &p, &cfa))
		return UNWIND_NO_CODE;
	sp = cfa;
	if (rsp->how != CFI_UNSPECIFIED && !cfiunwind_apply(rsp, &p, CFI_RSP, cfa, &sp, &cut))
		return cut ? UNWIND_STACK_CUT : UNWIND_NO_CODE;
	if (link && ra.how == CFI_UNSPECIFIED)
		ra.how = CFI_SAME;
	if (!cfiunwind_apply(&ra, &p, row->ra, cfa, &ip, &cut))
		return cut ? UNWIND_STACK_CUT : UNWIND_NO_CODE;
	next.interrupted = row->flags & CFI_ROW_SIGNAL;
	/* What was interrupted may have another stack, anywhere; that of a caller is above. It is where it was when an
	 * interrupted function has popped the return address already: the end of gcc's _Unwind_Resume jumps there by a
	 * register. */
	popped = s->interrupted && (link || ra.how == CFI_REGISTER);
	if (next.interrupted ? next.turns++ == TURNS_MAX : sp < s->sp + !popped)
		return UNWIND_LOOP;
	if (!next.interrupted && sp - s->stack_start > s->stack.n)
		return UNWIND_STACK_CUT;
	apply_all(full, &p, cfa, &next);
	return cfiunwind_arrive(s, &next, ip, sp);
}

/* The kernel was asked to return from a signal handler, and has not yet: that system call is the last instruction of
 * its function. */
static const struct cfi_row *returning_row(const struct unwind_state *s, struct unwind_code code)
{
	const struct cfi_row *row = NULL;

	if (s->interrupted && code.table)
		row = unwind_table_row(code.table, s->ip - 1 - code.bias);
	return row && row->flags & CFI_ROW_SIGNAL ? row : NULL;
}

/* Code that its file's tables leave out, and where nothing was pushed. */
static enum unwind_end step_from_leaf(struct unwind_state *s)
{
	struct unwind_state next = *s;
	uint64_t ip, sp;

	if (!load_return(s, &ip, &sp))
		return UNWIND_STACK_CUT;
	if (ip == 0) /* a guess is no proof of a root */
		return UNWIND_NO_CODE;
	next.interrupted = false;
	next.valid &= cfiunwind_processor_of(s)->saved;
	return cfiunwind_arrive(s, &next, ip, sp);
}

/* In a loop of assembly rbp may be anything, and 0 is no root. */
static enum unwind_end step_no_fde(struct unwind_state *s)
{
	s->no_fde = true;
	if (s->assume_leaf)
		return step_from_leaf(s);
	return s->bp || !(s->valid >> CFI_RBP & 1) ? step_by_frame_pointer(s) : UNWIND_NO_CODE;
}

enum unwind_end unwind_step(struct unwind_state *s, struct unwind_code code, bool leaf)
{
	const struct cfi_row *row = NULL;

	s->interrupted |= leaf;
	s->native = true;
	s->reg[CFI_RBP] = s->bp;
	s->reg[CFI_RSP] = s->sp;
	/* a call may be the last instruction of a function */
	if (code.table)
		row = unwind_table_row(code.table, s->ip - !s->interrupted - code.bias);
	if (unlikely(!row))
		row = returning_row(s, code);
	if (!row)
		return code.table && s->interrupted ? step_no_fde(s) : step_by_frame_pointer(s);
	if (row->flags & CFI_ROW_ROOT)
		return UNWIND_ROOT;
	if (unlikely(row->flags & ~CFI_ROW_LINK))
		return step_by_rules(s, row);
	return step_by_row(s, row);
}
