/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/dwarf/cfi.h"

#include "common/arena.h"

#include <stdlib.h>

const uint8_t cfi_saved[CFI_NKEPT] = { CFI_RBX, CFI_RBP, 12, 13, 14, 15 };

/* Limits that no compiler comes near, so that few bytes cannot ask for much memory or time: states that are remembered,
 * rows of an FDE, bytes of its instructions, bytes of an augmentation string. */
enum { STATES_MAX = 16, ROWS_MAX = 1 << 14, PROGRAM_MAX = 1 << 18, AUGMENTATION_MAX = 32 };

/* ---- pointers ---- */

enum {
	PE_ABSPTR,
	PE_ULEB128,
	PE_UDATA2,
	PE_UDATA4,
	PE_UDATA8,
	PE_SIGNED = 8,
	PE_SLEB128,
	PE_SDATA2,
	PE_SDATA4,
	PE_SDATA8,
	PE_PCREL = 0x10,
	PE_DATAREL = 0x30,
	PE_OMIT = 0xff
};

static uint64_t plain_pointer(struct dwarf_bytes *b, unsigned format)
{
	switch (format) {
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_SIGNED:
	case PE_SDATA8: return dwarf_uint(b, 8);
	case PE_ULEB128: return dwarf_uleb(b);
	case PE_SLEB128: return (uint64_t)dwarf_sleb(b);
	case PE_UDATA2: return dwarf_uint(b, 2);
	case PE_UDATA4: return dwarf_uint(b, 4);
	case PE_SDATA2: return dwarf_sint(b, 2);
	case PE_SDATA4: return dwarf_sint(b, 4);
	default: b->bad = true; return 0;
	}
}

uint64_t cfi_pointer(struct dwarf_bytes *b, uint8_t encoding, uint64_t address, uint64_t data)
{
	uint64_t v = plain_pointer(b, encoding & 15);

	/* indirect, aligned, text- and function-relative ones point at no code in files that anybody makes */
	switch (encoding & 0xf0) {
	case 0: return v;
	case PE_PCREL: return v + address;
	case PE_DATAREL: return v + data;
	default: b->bad = true; return 0;
	}
}

static uint64_t cfi_address_of(const struct cfi *c, const struct dwarf_bytes *b)
{
	return c->address + (uint64_t)(b->p - (const uint8_t *)c->bytes.p);
}

/* ---- CIE and FDE ---- */

struct head {
	size_t start, end; /* of what is behind the length; end: of the entry */
	size_t id_at;
	uint64_t id;
	unsigned id_size;
};

/* Length and id of the entry at `at`. */
static enum cfi_kind head_at(const struct cfi *c, size_t at, struct head *h)
{
	struct dwarf_bytes b = dwarf_bytes_of(str_from(c->bytes, at));
	uint64_t length = dwarf_uint(&b, 4);
	bool wide = length == UINT32_MAX;

	if (wide)
		length = dwarf_uint(&b, 8);
	h->id_at = at + (wide ? 12 : 4);
	h->end = c->bytes.n;
	if (b.bad || length > dwarf_left(&b))
		return CFI_BAD; /* nothing behind it can be found */
	h->end = h->id_at + (size_t)length;
	if (length == 0)
		return CFI_END;
	b.end = b.p + length;
	/* the id of .eh_frame stays 4 bytes whatever the length is */
	h->id_size = wide && c->debug ? 8 : 4;
	h->id = dwarf_uint(&b, h->id_size);
	h->start = h->id_at + h->id_size;
	if (b.bad)
		return CFI_BAD;
	if (h->id == (!c->debug ? 0 : h->id_size == 8 ? UINT64_MAX : UINT32_MAX))
		return CFI_CIE;
	return CFI_FDE;
}

static struct dwarf_bytes cfi_inside(const struct cfi *c, const struct head *h)
{
	return dwarf_bytes_of((struct str){ c->bytes.p + h->start, h->end - h->start });
}

static struct str cfi_rest(const struct dwarf_bytes *b)
{
	return (struct str){ (const char *)b->p, dwarf_left(b) };
}

/* The fields that the letters of the augmentation say, up to a letter that nobody knows: then their length skips them.
 */
static void read_augmentation(const struct cfi *c, struct dwarf_bytes *b, const char *letter, struct cfi_entry *e)
{
	uint64_t length = dwarf_uleb(b);
	struct dwarf_bytes a = *b;

	if (!dwarf_take(b, length))
		return;
	a.end = b->p;
	e->augmented = true;
	for (; *letter; letter++) {
		switch (*letter) {
		case 'R': e->encoding = (uint8_t)dwarf_uint(&a, 1); break;
		case 'L': dwarf_uint(&a, 1); break;
		case 'P': {
			uint8_t encoding = (uint8_t)dwarf_uint(&a, 1);

			/* the personality may be indirect; where it leads does not matter */
			if (encoding != PE_OMIT)
				cfi_pointer(&a, encoding & 15, cfi_address_of(c, &a), 0);
			break;
		}
		case 'S': e->signal = true; break;
		case 'B': /* of aarch64, without data */
		case 'G': break;
		default: return;
		}
	}
	b->bad = b->bad || a.bad;
}

static const struct processor *cfi_processor_of(const struct cfi *c)
{
	return c->processor ? c->processor : &processor_x86_64;
}

static bool read_cie(const struct cfi *c, const struct head *h, struct cfi_entry *e)
{
	struct dwarf_bytes b = cfi_inside(c, h);
	uint64_t version = dwarf_uint(&b, 1), ra;
	const char *augmentation = (const char *)b.p;
	const uint8_t *nul = memchr(b.p, 0, dwarf_left(&b) < AUGMENTATION_MAX ? dwarf_left(&b) : AUGMENTATION_MAX);

	*e = (struct cfi_entry){ 0 };
	if (b.bad || !nul || (version != 1 && version != 3 && version != 4))
		return false;
	b.p = nul + 1;
	if (version == 4 && (dwarf_uint(&b, 1) != 8 || dwarf_uint(&b, 1) != 0))
		return false; /* sizes of an address and of a segment */
	if (strcmp(augmentation, "eh") == 0) {
		dwarf_take(&b, 8); /* gcc 2 */
		augmentation += 2;
	}
	e->code_align = dwarf_uleb(&b);
	e->data_align = dwarf_sleb(&b);
	ra = version == 1 ? dwarf_uint(&b, 1) : dwarf_uleb(&b);
	if (augmentation[0] == 'z')
		read_augmentation(c, &b, augmentation + 1, e);
	else if (augmentation[0])
		return false; /* of unknown size */
	ra = processor_slot(cfi_processor_of(c), ra);
	if (b.bad || ra >= CFI_NREGS)
		return false;
	e->ra = (uint8_t)ra;
	e->initial = cfi_rest(&b);
	return true;
}

/* Where the CIE of an FDE is; false where there can be none. */
static bool cie_place(const struct cfi *c, const struct head *h, size_t *at)
{
	if (c->debug) {
		*at = (size_t)h->id;
		return h->id < c->bytes.n;
	}
	*at = h->id_at - (size_t)h->id;
	return h->id <= h->id_at;
}

enum cfi_kind cfi_entry_at(const struct cfi *c, size_t at, struct cfi_entry *e, size_t *next)
{
	struct head h, cie;
	struct dwarf_bytes b;
	enum cfi_kind kind;
	size_t cie_at;

	*next = c->bytes.n;
	if (at >= c->bytes.n)
		return CFI_END;
	kind = head_at(c, at, &h);
	*next = h.end;
	if (kind != CFI_FDE)
		return kind;
	if (!cie_place(c, &h, &cie_at) || head_at(c, cie_at, &cie) != CFI_CIE || !read_cie(c, &cie, e))
		return CFI_BAD;
	b = cfi_inside(c, &h);
	e->start = cfi_pointer(&b, e->encoding, cfi_address_of(c, &b), 0);
	e->length = plain_pointer(&b, e->encoding & 15);
	if (e->augmented)
		dwarf_take(&b, dwarf_uleb(&b));
	e->program = cfi_rest(&b);
	return b.bad ? CFI_BAD : CFI_FDE;
}

/* ---- instructions ---- */

struct machine {
	const struct cfi *c;
	const struct cfi_entry *e;
	struct cfi_rules now, initial;
	struct cfi_rule other; /* of a register that does not matter: written, never read */
	struct cfi_rules saved[STATES_MAX];
	unsigned nkept;
	uint64_t at, until; /* addresses */
	uint64_t base;
	struct cfi_rows *rows;
	uint32_t cap;
};

static unsigned cfi_slot_of(const struct machine *m, uint64_t reg)
{
	return processor_slot(cfi_processor_of(m->c), reg);
}

static struct cfi_rule *rule_of(struct machine *m, uint64_t reg)
{
	unsigned slot = cfi_slot_of(m, reg);

	return slot < CFI_NREGS ? &m->now.reg[slot] : &m->other;
}

/* Is the rule one that a short row has? *at: in words from the CFA. */
static bool fits_word(const struct cfi_rule *r, int16_t *at)
{
	*at = (int16_t)(r->value / 8);
	return r->how == CFI_AT && r->value % 8 == 0 && r->value / 8 == *at;
}

static bool caller_saved_is_plain(const struct cfi_rules *r)
{
	static const uint8_t reg[] = { 0, 1, 2, 4, 5, 7, 8, 9, 10, 11 };

	for (size_t i = 0; i < countof(reg); i++)
		if (r->reg[reg[i]].how != CFI_UNSPECIFIED && r->reg[reg[i]].how != CFI_UNDEFINED)
			return false;
	return r->reg[CFI_RSP].how == CFI_UNSPECIFIED;
}

/* Is the return address where short rows have it: just below the CFA, or with a link register in any word, or in that?
 */
static bool shorten_ra(const struct cfi_rule *ra, bool link, struct cfi_row *row)
{
	if (row->ra != CFI_RA)
		return false;
	if (link && (ra->how == CFI_UNSPECIFIED || ra->how == CFI_SAME)) {
		row->flags |= CFI_ROW_LINK;
		return true;
	}
	return fits_word(ra, &row->ra_at) && (link || row->ra_at == -1);
}

/* Fills what is short of a row; false when the rules need a full one. */
static bool cfi_shorten(const struct cfi_rules *r, bool link, struct cfi_row *row)
{
	if (row->flags & CFI_ROW_ROOT)
		return true;
	/* where a signal frame's registers are, all of them matter */
	if (row->flags & CFI_ROW_SIGNAL || r->cfa.reg >= CFI_RA)
		return false;
	if (r->cfa.how != CFI_REGISTER || r->cfa.value != (int32_t)r->cfa.value || !caller_saved_is_plain(r))
		return false;
	if (!shorten_ra(&r->reg[CFI_RA], link, row))
		return false;
	row->cfa = (int32_t)r->cfa.value;
	row->reg = r->cfa.reg;
	for (unsigned i = 0; i < CFI_NKEPT; i++) {
		const struct cfi_rule *k = &r->reg[cfi_saved[i]];

		if (k->how == CFI_UNSPECIFIED || k->how == CFI_SAME)
			continue;
		if (!fits_word(k, &row->at[i]))
			return false;
		row->saved |= (uint8_t)(1U << i);
	}
	return true;
}

static struct cfi_row make_row(const struct machine *m, uint64_t end)
{
	struct cfi_row row = { .start = (uint32_t)(m->at - m->base), .end = (uint32_t)(end - m->base), .ra = m->e->ra };
	struct cfi_rules *full;

	if (m->e->signal)
		row.flags |= CFI_ROW_SIGNAL;
	if (m->now.reg[m->e->ra].how == CFI_UNDEFINED)
		row.flags |= CFI_ROW_ROOT;
	if (cfi_shorten(&m->now, cfi_processor_of(m->c)->link, &row))
		return row;
	row.flags &= (uint8_t)~CFI_ROW_LINK;
	full = mem_alloc(sizeof(*full), 1);
	*full = m->now;
	row.full = full;
	row.flags |= CFI_ROW_FULL;
	return row;
}

/* The rules so far hold up to `to`. False when there is nothing to be done behind it. */
static bool cfi_advance(struct machine *m, uint64_t to)
{
	uint64_t end = to < m->until ? to : m->until;

	if (to < m->at)
		return false;
	if (end > m->at && m->now.cfa.how != CFI_UNSPECIFIED) {
		if (m->rows->n == ROWS_MAX)
			return false;
		if (m->rows->n == m->cap) {
			m->cap *= 2;
			m->rows = mem_grow(m->rows, 1, sizeof(*m->rows) + m->cap * sizeof(struct cfi_row));
		}
		m->rows->row[m->rows->n++] = make_row(m, end);
	}
	m->at = end;
	return to < m->until;
}

static void set_cfa(struct machine *m, uint64_t dwarf, int64_t offset)
{
	unsigned reg = cfi_slot_of(m, dwarf);

	/* a register that is never known */
	if (reg >= CFI_NREGS)
		m->now.cfa = (struct cfi_rule){ 0 };
	else
		m->now.cfa = (struct cfi_rule){ .how = CFI_REGISTER, .reg = (uint8_t)reg, .value = offset };
}

static struct cfi_rule cfi_expression(struct dwarf_bytes *b, enum cfi_how how)
{
	uint64_t n = dwarf_uleb(b);
	const uint8_t *p = dwarf_take(b, n);

	if (!p)
		return (struct cfi_rule){ 0 };
	return (struct cfi_rule){ .how = (uint8_t)how, .length = (uint32_t)n, .expression = (const char *)p };
}

enum {
	CFA_NOP,
	CFA_SET_LOC,
	CFA_ADVANCE_LOC1,
	CFA_ADVANCE_LOC2,
	CFA_ADVANCE_LOC4,
	CFA_OFFSET_EXTENDED,
	CFA_RESTORE_EXTENDED,
	CFA_UNDEFINED,
	CFA_SAME_VALUE,
	CFA_REGISTER,
	CFA_REMEMBER_STATE,
	CFA_RESTORE_STATE,
	CFA_DEF_CFA,
	CFA_DEF_CFA_REGISTER,
	CFA_DEF_CFA_OFFSET,
	CFA_DEF_CFA_EXPRESSION,
	CFA_EXPRESSION,
	CFA_OFFSET_EXTENDED_SF,
	CFA_DEF_CFA_SF,
	CFA_DEF_CFA_OFFSET_SF,
	CFA_VAL_OFFSET,
	CFA_VAL_OFFSET_SF,
	CFA_VAL_EXPRESSION,
	CFA_NEGATE_RA_STATE_WITH_PC = 0x2c,
	CFA_NEGATE_RA_STATE = 0x2d, /* of aarch64; as numbers of others they say other things */
	CFA_GNU_ARGS_SIZE = 0x2e,
	CFA_GNU_NEGATIVE_OFFSET = 0x2f,
	CFA_ADVANCE_LOC = 0x40,
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0
};

static bool cfi_remember(struct machine *m)
{
	if (m->nkept == STATES_MAX)
		return false;
	m->saved[m->nkept++] = m->now;
	return true;
}

static bool cfi_restore(struct machine *m)
{
	if (m->nkept == 0)
		return false;
	m->now = m->saved[--m->nkept];
	return true;
}

static void set_rule(struct machine *m, uint64_t reg, enum cfi_how how, uint64_t factored)
{
	*rule_of(m, reg) =
		(struct cfi_rule){ .how = (uint8_t)how, .value = (int64_t)(factored * (uint64_t)m->e->data_align) };
}

static void restore_rule(struct machine *m, uint64_t reg)
{
	unsigned slot = cfi_slot_of(m, reg);

	if (slot < CFI_NREGS)
		m->now.reg[slot] = m->initial.reg[slot];
}

/* Instructions about the CFA. */
static bool cfa_instruction(struct machine *m, struct dwarf_bytes *b, uint8_t op)
{
	int64_t align = m->e->data_align;
	uint64_t reg;

	switch (op) {
	case CFA_DEF_CFA:
		reg = dwarf_uleb(b);
		set_cfa(m, reg, (int64_t)dwarf_uleb(b));
		return true;
	case CFA_DEF_CFA_SF:
		reg = dwarf_uleb(b);
		set_cfa(m, reg, (int64_t)((uint64_t)dwarf_sleb(b) * (uint64_t)align));
		return true;
	case CFA_DEF_CFA_EXPRESSION: m->now.cfa = cfi_expression(b, CFI_IS_EXPR); return true;
	case CFA_DEF_CFA_REGISTER: set_cfa(m, dwarf_uleb(b), m->now.cfa.value); return true;
	case CFA_DEF_CFA_OFFSET: m->now.cfa.value = (int64_t)dwarf_uleb(b); break;
	case CFA_DEF_CFA_OFFSET_SF: m->now.cfa.value = (int64_t)((uint64_t)dwarf_sleb(b) * (uint64_t)align); break;
	default: return false;
	}
	return m->now.cfa.how == CFI_REGISTER; /* an offset needs one */
}

/* Instructions that name a register. */
static bool register_instruction(struct machine *m, struct dwarf_bytes *b, uint8_t op)
{
	uint64_t reg = dwarf_uleb(b);

	switch (op) {
	case CFA_OFFSET_EXTENDED: set_rule(m, reg, CFI_AT, dwarf_uleb(b)); return true;
	case CFA_OFFSET_EXTENDED_SF: set_rule(m, reg, CFI_AT, (uint64_t)dwarf_sleb(b)); return true;
	case CFA_GNU_NEGATIVE_OFFSET: set_rule(m, reg, CFI_AT, 0 - dwarf_uleb(b)); return true;
	case CFA_VAL_OFFSET: set_rule(m, reg, CFI_IS, dwarf_uleb(b)); return true;
	case CFA_VAL_OFFSET_SF: set_rule(m, reg, CFI_IS, (uint64_t)dwarf_sleb(b)); return true;
	case CFA_RESTORE_EXTENDED: restore_rule(m, reg); return true;
	case CFA_UNDEFINED: set_rule(m, reg, CFI_UNDEFINED, 0); return true;
	case CFA_SAME_VALUE: set_rule(m, reg, CFI_SAME, 0); return true;
	case CFA_REGISTER: {
		unsigned from = cfi_slot_of(m, dwarf_uleb(b));

		*rule_of(m, reg) = (struct cfi_rule){ .how = from < CFI_NREGS ? CFI_REGISTER : CFI_UNDEFINED,
						      .reg = (uint8_t)(from % CFI_NREGS) };
		return true;
	}
	case CFA_EXPRESSION: *rule_of(m, reg) = cfi_expression(b, CFI_AT_EXPR); return true;
	case CFA_VAL_EXPRESSION: *rule_of(m, reg) = cfi_expression(b, CFI_IS_EXPR); return true;
	default: return false;
	}
}

/* False at the end of what concerns us, or of what can be understood. */
static bool cfi_instruction(struct machine *m, struct dwarf_bytes *b)
{
	uint8_t op = (uint8_t)dwarf_uint(b, 1);
	uint64_t step = m->e->code_align;

	switch (op & 0xc0) {
	case CFA_ADVANCE_LOC: return cfi_advance(m, m->at + (op & 63) * step);
	case CFA_OFFSET: set_rule(m, op & 63, CFI_AT, dwarf_uleb(b)); return true;
	case CFA_RESTORE: restore_rule(m, op & 63); return true;
	default: break;
	}
	switch (op) {
	case CFA_NOP: return true;
	case CFA_SET_LOC: return cfi_advance(m, cfi_pointer(b, m->e->encoding, cfi_address_of(m->c, b), 0));
	case CFA_ADVANCE_LOC1: return cfi_advance(m, m->at + dwarf_uint(b, 1) * step);
	case CFA_ADVANCE_LOC2: return cfi_advance(m, m->at + dwarf_uint(b, 2) * step);
	case CFA_ADVANCE_LOC4: return cfi_advance(m, m->at + dwarf_uint(b, 4) * step);
	case CFA_REMEMBER_STATE: return cfi_remember(m);
	case CFA_RESTORE_STATE: return cfi_restore(m);
	case CFA_NEGATE_RA_STATE: /* signed or not, the bits that sign are dropped */
	case CFA_NEGATE_RA_STATE_WITH_PC: return cfi_processor_of(m->c)->link;
	case CFA_GNU_ARGS_SIZE: dwarf_uleb(b); return true;
	case CFA_DEF_CFA:
	case CFA_DEF_CFA_REGISTER:
	case CFA_DEF_CFA_OFFSET:
	case CFA_DEF_CFA_EXPRESSION:
	case CFA_DEF_CFA_SF:
	case CFA_DEF_CFA_OFFSET_SF: return cfa_instruction(m, b, op);
	default: return register_instruction(m, b, op);
	}
}

/* Runs a program; false when it stopped before its end. */
static bool cfi_run(struct machine *m, struct str program)
{
	struct dwarf_bytes b = dwarf_bytes_of(program);

	if (program.n > PROGRAM_MAX)
		return false;
	while (dwarf_left(&b))
		if (!cfi_instruction(m, &b) || b.bad)
			return false;
	return true;
}

struct cfi_rows *cfi_rows_of(const struct cfi *c, const struct cfi_entry *e, uint64_t base)
{
	struct machine m = { .c = c, .e = e, .base = base, .at = e->start, .until = e->start, .cap = 4 };

	if (e->start < base || e->start - base > UINT32_MAX || e->length > UINT32_MAX - (e->start - base))
		return NULL;
	m.rows = mem_alloc(1, sizeof(*m.rows) + m.cap * sizeof(struct cfi_row));
	m.rows->start = (uint32_t)(e->start - base);
	m.rows->end = (uint32_t)(e->start - base + e->length);
	/* nothing may be advanced in a CIE: `until` is not behind `at` yet */
	if (!cfi_run(&m, e->initial))
		goto none;
	m.initial = m.now;
	m.until = e->start + e->length;
	if (cfi_run(&m, e->program))
		cfi_advance(&m, m.until);
	if (m.rows->n)
		return m.rows;
none:
	cfi_rows_free(m.rows);
	return NULL;
}

void cfi_rows_free(struct cfi_rows *r)
{
	for (uint32_t i = 0; r && i < r->n; i++)
		if (r->row[i].flags & CFI_ROW_FULL)
			free((void *)(uintptr_t)r->row[i].full);
	free(r);
}

size_t cfi_rows_memory(const struct cfi_rows *r)
{
	size_t n = sizeof(*r) + r->n * sizeof(r->row[0]);

	for (uint32_t i = 0; i < r->n; i++)
		if (r->row[i].flags & CFI_ROW_FULL)
			n += sizeof(*r->row[i].full);
	return n;
}

const struct cfi_row *cfi_row_at(const struct cfi_rows *r, uint32_t address)
{
	uint32_t low = 0, n = r->n;

	/* the last that starts at or before it */
	while (n > 1) {
		uint32_t half = n / 2;

		low = r->row[low + half].start <= address ? low + half : low;
		n -= half;
	}
	return address - r->row[low].start < r->row[low].end - r->row[low].start ? &r->row[low] : NULL;
}
