/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/dwarf/cfi.h"

#include "common/arena.h"

#include <stdlib.h>

const uint8_t cfi_saved[CFI_NKEPT] = { CFI_RBX, CFI_RBP, 12, 13, 14, 15 };

/* Limits far beyond the output of any compiler, so that few hostile bytes cannot cost much memory or time; the decoding
 * of an entry ends at a limit. STATES_MAX: number of remembered states; ROWS_MAX: number of rows of an FDE;
 * PROGRAM_MAX: bytes of an FDE's instructions; AUGMENTATION_MAX: bytes of an augmentation string. */
enum { STATES_MAX = 16, ROWS_MAX = 1 << 14, PROGRAM_MAX = 1 << 18, AUGMENTATION_MAX = 32 };

/* ---- encoded pointers ---- */

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

static uint64_t plain_pointer(struct dwarf_bytes *bytes, unsigned format)
{
	switch (format) {
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_SIGNED:
	case PE_SDATA8: return dwarf_uint(bytes, 8);
	case PE_ULEB128: return dwarf_uleb(bytes);
	case PE_SLEB128: return (uint64_t)dwarf_sleb(bytes);
	case PE_UDATA2: return dwarf_uint(bytes, 2);
	case PE_UDATA4: return dwarf_uint(bytes, 4);
	case PE_SDATA2: return dwarf_sint(bytes, 2);
	case PE_SDATA4: return dwarf_sint(bytes, 4);
	default: bytes->bad = true; return 0;
	}
}

uint64_t cfi_pointer(struct dwarf_bytes *bytes, uint8_t encoding, uint64_t address, uint64_t data)
{
	uint64_t value = plain_pointer(bytes, encoding & 15);

	/* Compilers and linkers make only absolute, pc-relative and data-relative pointers to code. Other encodings are
	 * refused. */
	switch (encoding & 0xf0) {
	case 0: return value;
	case PE_PCREL: return value + address;
	case PE_DATAREL: return value + data;
	default: bytes->bad = true; return 0;
	}
}

static uint64_t cfi_address_of(const struct cfi *cfi, const struct dwarf_bytes *bytes)
{
	return cfi->address + (uint64_t)(bytes->p - (const uint8_t *)cfi->bytes.p);
}

/* ---- CIE and FDE ---- */

/* Length and id of a CFI entry. */
struct head {
	/* start: offset in the section of the data after length and id; end: offset of the entry's end */
	size_t start, end;
	/* offset of the id in the section */
	size_t id_at;
	/* id of a CIE, or reference of an FDE to its CIE */
	uint64_t id;
	/* size of the id in bytes */
	unsigned id_size;
};

/* Reads length and id of the CFI entry at offset `at` and returns its kind. Sets head->end even for CFI_BAD. */
static enum cfi_kind head_at(const struct cfi *cfi, size_t at, struct head *head)
{
	struct dwarf_bytes bytes = dwarf_bytes_of(str_from(cfi->bytes, at));
	uint64_t length = dwarf_uint(&bytes, 4);
	bool wide = length == UINT32_MAX;

	if (wide)
		length = dwarf_uint(&bytes, 8);
	head->id_at = at + (wide ? 12 : 4);
	head->end = cfi->bytes.n;
	if (bytes.bad || length > dwarf_left(&bytes))
		/* A wrong length: later entries of the section cannot be found. */
		return CFI_BAD;
	head->end = head->id_at + (size_t)length;
	if (length == 0)
		return CFI_END;
	bytes.end = bytes.p + length;
	/* In .eh_frame the id has 4 bytes even if the length has 8. */
	head->id_size = wide && cfi->debug ? 8 : 4;
	head->id = dwarf_uint(&bytes, head->id_size);
	head->start = head->id_at + head->id_size;
	if (bytes.bad)
		return CFI_BAD;
	if (head->id == (!cfi->debug ? 0 : head->id_size == 8 ? UINT64_MAX : UINT32_MAX))
		return CFI_CIE;
	return CFI_FDE;
}

static struct dwarf_bytes cfi_inside(const struct cfi *cfi, const struct head *head)
{
	return dwarf_bytes_of((struct str){ cfi->bytes.p + head->start, head->end - head->start });
}

static struct str cfi_rest(const struct dwarf_bytes *bytes)
{
	return (struct str){ (const char *)bytes->p, dwarf_left(bytes) };
}

/* Reads the augmentation data of a CIE into *entry, up to an unknown letter. Moves *bytes to the end of that data, by
 * its length. letter: augmentation letters after 'z'. */
static void read_augmentation(const struct cfi *cfi, struct dwarf_bytes *bytes, const char *letter,
			      struct cfi_entry *entry)
{
	uint64_t length = dwarf_uleb(bytes);
	struct dwarf_bytes a = *bytes;

	if (!dwarf_take(bytes, length))
		return;
	a.end = bytes->p;
	entry->augmented = true;
	for (; *letter; letter++) {
		switch (*letter) {
		case 'R': entry->encoding = (uint8_t)dwarf_uint(&a, 1); break;
		case 'L': dwarf_uint(&a, 1); break;
		case 'P': {
			uint8_t encoding = (uint8_t)dwarf_uint(&a, 1);

			/* Skips the pointer to the personality routine. It may be indirect, but its target is not
			 * read. */
			if (encoding != PE_OMIT)
				cfi_pointer(&a, encoding & 15, cfi_address_of(cfi, &a), 0);
			break;
		}
		case 'S': entry->signal = true; break;
		case 'B': /* aarch64: letters B and G have no data */
		case 'G': break;
		default: return;
		}
	}
	bytes->bad = bytes->bad || a.bad;
}

static const struct processor *cfi_processor_of(const struct cfi *cfi)
{
	return cfi->processor ? cfi->processor : &processor_x86_64;
}

static bool read_cie(const struct cfi *cfi, const struct head *head, struct cfi_entry *entry)
{
	struct dwarf_bytes bytes = cfi_inside(cfi, head);
	uint64_t version = dwarf_uint(&bytes, 1), ra;
	const char *augmentation = (const char *)bytes.p;
	const uint8_t *nul =
		memchr(bytes.p, 0, dwarf_left(&bytes) < AUGMENTATION_MAX ? dwarf_left(&bytes) : AUGMENTATION_MAX);

	*entry = (struct cfi_entry){ 0 };
	if (bytes.bad || !nul || (version != 1 && version != 3 && version != 4))
		return false;
	bytes.p = nul + 1;
	/* NOLINTNEXTLINE(misc-redundant-expression): each call takes a byte */
	if (version == 4 && (dwarf_uint(&bytes, 1) != 8 || dwarf_uint(&bytes, 1) != 0))
		/* CIE version 4 has the sizes of addresses and of segment selectors; only 8 and 0 bytes are
		 * supported. */
		return false;
	if (strcmp(augmentation, "eh") == 0) {
		/* Skips the pointer that augmentation "eh" of gcc 2 has here. */
		dwarf_take(&bytes, 8);
		augmentation += 2;
	}
	entry->code_align = dwarf_uleb(&bytes);
	entry->data_align = dwarf_sleb(&bytes);
	ra = version == 1 ? dwarf_uint(&bytes, 1) : dwarf_uleb(&bytes);
	if (augmentation[0] == 'z')
		read_augmentation(cfi, &bytes, augmentation + 1, entry);
	else if (augmentation[0])
		/* Augmentation data without 'z' has an unknown length. */
		return false;
	ra = processor_slot(cfi_processor_of(cfi), ra);
	if (bytes.bad || ra >= CFI_NREGS)
		return false;
	entry->ra = (uint8_t)ra;
	entry->initial = cfi_rest(&bytes);
	return true;
}

/* Sets *at to the offset of an FDE's CIE. Returns false if the offset is outside of the section. */
static bool cie_place(const struct cfi *cfi, const struct head *head, size_t *at)
{
	if (cfi->debug) {
		*at = (size_t)head->id;
		return head->id < cfi->bytes.n;
	}
	*at = head->id_at - (size_t)head->id;
	return head->id <= head->id_at;
}

enum cfi_kind cfi_entry_at(const struct cfi *cfi, size_t at, struct cfi_entry *entry, size_t *next)
{
	struct head head, cie;
	struct dwarf_bytes bytes;
	enum cfi_kind kind;
	size_t cie_at;

	*next = cfi->bytes.n;
	if (at >= cfi->bytes.n)
		return CFI_END;
	kind = head_at(cfi, at, &head);
	*next = head.end;
	if (kind != CFI_FDE)
		return kind;
	if (!cie_place(cfi, &head, &cie_at) || head_at(cfi, cie_at, &cie) != CFI_CIE || !read_cie(cfi, &cie, entry))
		return CFI_BAD;
	bytes = cfi_inside(cfi, &head);
	entry->start = cfi_pointer(&bytes, entry->encoding, cfi_address_of(cfi, &bytes), 0);
	entry->length = plain_pointer(&bytes, entry->encoding & 15);
	if (entry->augmented)
		dwarf_take(&bytes, dwarf_uleb(&bytes));
	entry->program = cfi_rest(&bytes);
	return bytes.bad ? CFI_BAD : CFI_FDE;
}

/* ---- instructions of CIEs and FDEs ---- */

/* State of the execution of an FDE's instructions. */
struct machine {
	const struct cfi *c;       /* section of the FDE */
	const struct cfi_entry *e; /* the FDE, with the fields of its CIE */
	/* now: rules of the current row; initial: rules after the instructions of the CIE */
	struct cfi_rules now, initial;
	struct cfi_rule other; /* target of rules for registers without a slot: written, never read */
	/* nkept states that DW_CFA_remember_state has saved */
	struct cfi_rules saved[STATES_MAX];
	unsigned nkept;
	uint64_t at, until; /* ELF virtual addresses; at: start of the current row; until: end of the FDE's code */
	uint64_t base;      /* address from which the addresses in rows count */
	struct cfi_rows *rows;
	uint32_t cap;
};

static unsigned cfi_slot_of(const struct machine *machine, uint64_t reg)
{
	return processor_slot(cfi_processor_of(machine->c), reg);
}

static struct cfi_rule *rule_of(struct machine *machine, uint64_t reg)
{
	unsigned slot = cfi_slot_of(machine, reg);

	return slot < CFI_NREGS ? &machine->now.reg[slot] : &machine->other;
}

/* Returns true if the rule fits a short row: the register is saved at a word offset from the CFA. Sets *at to that
 * offset in words. */
static bool fits_word(const struct cfi_rule *rule, int16_t *at)
{
	*at = (int16_t)(rule->value / 8);
	return rule->how == CFI_AT && rule->value % 8 == 0 && rule->value / 8 == *at;
}

static bool caller_saved_is_plain(const struct cfi_rules *rules)
{
	static const uint8_t reg[] = { 0, 1, 2, 4, 5, 7, 8, 9, 10, 11 };

	for (size_t i = 0; i < countof(reg); i++)
		if (rules->reg[reg[i]].how != CFI_UNSPECIFIED && rules->reg[reg[i]].how != CFI_UNDEFINED)
			return false;
	return rules->reg[CFI_RSP].how == CFI_UNSPECIFIED;
}

/* Returns true if a short row can describe the return address: saved in the word just below the CFA. With a link
 * register: saved in any word, or still in the link register. Sets row->ra_at and CFI_ROW_LINK. */
static bool shorten_ra(const struct cfi_rule *rule, bool link, struct cfi_row *row)
{
	if (row->ra != CFI_RA)
		return false;
	if (link && (rule->how == CFI_UNSPECIFIED || rule->how == CFI_SAME)) {
		row->flags |= CFI_ROW_LINK;
		return true;
	}
	return fits_word(rule, &row->ra_at) && (link || row->ra_at == -1);
}

/* Stores rules in *row as a short row (cfi.h). Returns false if the rules need a full row. */
static bool cfi_shorten(const struct cfi_rules *rules, bool link, struct cfi_row *row)
{
	if (row->flags & CFI_ROW_ROOT)
		return true;
	/* A signal frame restores all registers, so it needs a full row. */
	if (row->flags & CFI_ROW_SIGNAL || rules->cfa.reg >= CFI_RA)
		return false;
	if (rules->cfa.how != CFI_REGISTER || rules->cfa.value != (int32_t)rules->cfa.value ||
	    !caller_saved_is_plain(rules))
		return false;
	if (!shorten_ra(&rules->reg[CFI_RA], link, row))
		return false;
	row->cfa = (int32_t)rules->cfa.value;
	row->reg = rules->cfa.reg;
	for (unsigned i = 0; i < CFI_NKEPT; i++) {
		const struct cfi_rule *rule = &rules->reg[cfi_saved[i]];

		if (rule->how == CFI_UNSPECIFIED || rule->how == CFI_SAME)
			continue;
		if (!fits_word(rule, &row->at[i]))
			return false;
		row->saved |= (uint8_t)(1U << i);
	}
	return true;
}

static struct cfi_row make_row(const struct machine *machine, uint64_t end)
{
	struct cfi_row row = { .start = (uint32_t)(machine->at - machine->base),
			       .end = (uint32_t)(end - machine->base),
			       .ra = machine->e->ra };
	struct cfi_rules *full;

	if (machine->e->signal)
		row.flags |= CFI_ROW_SIGNAL;
	if (machine->now.reg[machine->e->ra].how == CFI_UNDEFINED)
		row.flags |= CFI_ROW_ROOT;
	if (cfi_shorten(&machine->now, cfi_processor_of(machine->c)->link, &row))
		return row;
	row.flags &= (uint8_t)~CFI_ROW_LINK;
	full = mem_alloc(sizeof(*full), 1);
	*full = machine->now;
	row.full = full;
	row.flags |= CFI_ROW_FULL;
	return row;
}

/* Ends the current row at address `to`, appends it, and starts the next one there. Returns false if all further
 * instructions are to be ignored: `to` is the end of the FDE or before the current row, or the limit of rows is
 * reached. */
static bool cfi_advance(struct machine *machine, uint64_t to)
{
	uint64_t end = to < machine->until ? to : machine->until;

	if (to < machine->at)
		return false;
	if (end > machine->at && machine->now.cfa.how != CFI_UNSPECIFIED) {
		if (machine->rows->n == ROWS_MAX)
			return false;
		if (machine->rows->n == machine->cap) {
			machine->cap *= 2;
			machine->rows = mem_grow(machine->rows, 1,
						 sizeof(*machine->rows) + machine->cap * sizeof(struct cfi_row));
		}
		machine->rows->row[machine->rows->n++] = make_row(machine, end);
	}
	machine->at = end;
	return to < machine->until;
}

static void set_cfa(struct machine *machine, uint64_t dwarf, int64_t offset)
{
	unsigned reg = cfi_slot_of(machine, dwarf);

	/* A register without slot has no known value, so the CFA becomes unknown. */
	if (reg >= CFI_NREGS)
		machine->now.cfa = (struct cfi_rule){ 0 };
	else
		machine->now.cfa = (struct cfi_rule){ .how = CFI_REGISTER, .reg = (uint8_t)reg, .value = offset };
}

static struct cfi_rule cfi_expression(struct dwarf_bytes *bytes, enum cfi_how how)
{
	uint64_t n = dwarf_uleb(bytes);
	const uint8_t *p = dwarf_take(bytes, n);

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
	CFA_NEGATE_RA_STATE = 0x2d, /* only on aarch64; the opcode has other meanings on other processors */
	CFA_GNU_ARGS_SIZE = 0x2e,
	CFA_GNU_NEGATIVE_OFFSET = 0x2f,
	CFA_ADVANCE_LOC = 0x40,
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0
};

static bool cfi_remember(struct machine *machine)
{
	if (machine->nkept == STATES_MAX)
		return false;
	machine->saved[machine->nkept++] = machine->now;
	return true;
}

static bool cfi_restore(struct machine *machine)
{
	if (machine->nkept == 0)
		return false;
	machine->now = machine->saved[--machine->nkept];
	return true;
}

static void set_rule(struct machine *machine, uint64_t reg, enum cfi_how how, uint64_t factored)
{
	*rule_of(machine, reg) = (struct cfi_rule){ .how = (uint8_t)how,
						    .value = (int64_t)(factored * (uint64_t)machine->e->data_align) };
}

static void restore_rule(struct machine *machine, uint64_t reg)
{
	unsigned slot = cfi_slot_of(machine, reg);

	if (slot < CFI_NREGS)
		machine->now.reg[slot] = machine->initial.reg[slot];
}

/* Executes an instruction that defines the CFA. Returns false if the opcode is another instruction, or if the
 * instruction is invalid. */
static bool cfa_instruction(struct machine *machine, struct dwarf_bytes *bytes, uint8_t opcode)
{
	int64_t align = machine->e->data_align;
	uint64_t reg;

	switch (opcode) {
	case CFA_DEF_CFA:
		reg = dwarf_uleb(bytes);
		set_cfa(machine, reg, (int64_t)dwarf_uleb(bytes));
		return true;
	case CFA_DEF_CFA_SF:
		reg = dwarf_uleb(bytes);
		set_cfa(machine, reg, (int64_t)((uint64_t)dwarf_sleb(bytes) * (uint64_t)align));
		return true;
	case CFA_DEF_CFA_EXPRESSION: machine->now.cfa = cfi_expression(bytes, CFI_IS_EXPR); return true;
	case CFA_DEF_CFA_REGISTER: set_cfa(machine, dwarf_uleb(bytes), machine->now.cfa.value); return true;
	case CFA_DEF_CFA_OFFSET: machine->now.cfa.value = (int64_t)dwarf_uleb(bytes); break;
	case CFA_DEF_CFA_OFFSET_SF:
		machine->now.cfa.value = (int64_t)((uint64_t)dwarf_sleb(bytes) * (uint64_t)align);
		break;
	default: return false;
	}
	/* A new offset is valid only if the CFA is a register plus an offset. */
	return machine->now.cfa.how == CFI_REGISTER;
}

/* Executes an instruction whose first operand is a register. Returns false if the opcode is unknown. */
static bool register_instruction(struct machine *machine, struct dwarf_bytes *bytes, uint8_t opcode)
{
	uint64_t reg = dwarf_uleb(bytes);

	switch (opcode) {
	case CFA_OFFSET_EXTENDED: set_rule(machine, reg, CFI_AT, dwarf_uleb(bytes)); return true;
	case CFA_OFFSET_EXTENDED_SF: set_rule(machine, reg, CFI_AT, (uint64_t)dwarf_sleb(bytes)); return true;
	case CFA_GNU_NEGATIVE_OFFSET: set_rule(machine, reg, CFI_AT, 0 - dwarf_uleb(bytes)); return true;
	case CFA_VAL_OFFSET: set_rule(machine, reg, CFI_IS, dwarf_uleb(bytes)); return true;
	case CFA_VAL_OFFSET_SF: set_rule(machine, reg, CFI_IS, (uint64_t)dwarf_sleb(bytes)); return true;
	case CFA_RESTORE_EXTENDED: restore_rule(machine, reg); return true;
	case CFA_UNDEFINED: set_rule(machine, reg, CFI_UNDEFINED, 0); return true;
	case CFA_SAME_VALUE: set_rule(machine, reg, CFI_SAME, 0); return true;
	case CFA_REGISTER: {
		unsigned from = cfi_slot_of(machine, dwarf_uleb(bytes));

		*rule_of(machine, reg) = (struct cfi_rule){ .how = from < CFI_NREGS ? CFI_REGISTER : CFI_UNDEFINED,
							    .reg = (uint8_t)(from % CFI_NREGS) };
		return true;
	}
	case CFA_EXPRESSION: *rule_of(machine, reg) = cfi_expression(bytes, CFI_AT_EXPR); return true;
	case CFA_VAL_EXPRESSION: *rule_of(machine, reg) = cfi_expression(bytes, CFI_IS_EXPR); return true;
	default: return false;
	}
}

/* Executes one instruction. Returns false if the FDE's code ends, or if the instruction is unknown or invalid. */
static bool cfi_instruction(struct machine *machine, struct dwarf_bytes *bytes)
{
	uint8_t opcode = (uint8_t)dwarf_uint(bytes, 1);
	uint64_t step = machine->e->code_align;

	switch (opcode & 0xc0) {
	case CFA_ADVANCE_LOC: return cfi_advance(machine, machine->at + (opcode & 63) * step);
	case CFA_OFFSET: set_rule(machine, opcode & 63, CFI_AT, dwarf_uleb(bytes)); return true;
	case CFA_RESTORE: restore_rule(machine, opcode & 63); return true;
	default: break;
	}
	switch (opcode) {
	case CFA_NOP: return true;
	case CFA_SET_LOC:
		return cfi_advance(machine,
				   cfi_pointer(bytes, machine->e->encoding, cfi_address_of(machine->c, bytes), 0));
	case CFA_ADVANCE_LOC1: return cfi_advance(machine, machine->at + dwarf_uint(bytes, 1) * step);
	case CFA_ADVANCE_LOC2: return cfi_advance(machine, machine->at + dwarf_uint(bytes, 2) * step);
	case CFA_ADVANCE_LOC4: return cfi_advance(machine, machine->at + dwarf_uint(bytes, 4) * step);
	case CFA_REMEMBER_STATE: return cfi_remember(machine);
	case CFA_RESTORE_STATE: return cfi_restore(machine);
	/* These instructions mark where the return address becomes signed or unsigned. They have no effect here,
	 * because the unwinder always removes the signature bits. On processors other than aarch64 they are unknown
	 * instructions. */
	case CFA_NEGATE_RA_STATE:
	case CFA_NEGATE_RA_STATE_WITH_PC: return cfi_processor_of(machine->c)->link;
	case CFA_GNU_ARGS_SIZE: dwarf_uleb(bytes); return true;
	case CFA_DEF_CFA:
	case CFA_DEF_CFA_REGISTER:
	case CFA_DEF_CFA_OFFSET:
	case CFA_DEF_CFA_EXPRESSION:
	case CFA_DEF_CFA_SF:
	case CFA_DEF_CFA_OFFSET_SF: return cfa_instruction(machine, bytes, opcode);
	default: return register_instruction(machine, bytes, opcode);
	}
}

/* Executes a program of instructions. Returns false if an instruction ends it early, or if it exceeds PROGRAM_MAX. */
static bool cfi_run(struct machine *machine, struct str program)
{
	struct dwarf_bytes bytes = dwarf_bytes_of(program);

	if (program.n > PROGRAM_MAX)
		return false;
	while (dwarf_left(&bytes))
		if (!cfi_instruction(machine, &bytes) || bytes.bad)
			return false;
	return true;
}

struct cfi_rows *cfi_rows_of(const struct cfi *cfi, const struct cfi_entry *entry, uint64_t base)
{
	struct machine machine = {
		.c = cfi, .e = entry, .base = base, .at = entry->start, .until = entry->start, .cap = 4
	};

	if (entry->start < base || entry->start - base > UINT32_MAX ||
	    entry->length > UINT32_MAX - (entry->start - base))
		return NULL;
	machine.rows = mem_alloc(1, sizeof(*machine.rows) + machine.cap * sizeof(struct cfi_row));
	machine.rows->start = (uint32_t)(entry->start - base);
	machine.rows->end = (uint32_t)(entry->start - base + entry->length);
	/* The instructions of the CIE must not advance the address. `until` still equals `at`, so an advance ends the
	 * program. */
	if (!cfi_run(&machine, entry->initial))
		goto none;
	machine.initial = machine.now;
	machine.until = entry->start + entry->length;
	if (cfi_run(&machine, entry->program))
		cfi_advance(&machine, machine.until);
	if (machine.rows->n)
		return machine.rows;
none:
	cfi_rows_free(machine.rows);
	return NULL;
}

void cfi_rows_free(struct cfi_rows *rows)
{
	for (uint32_t i = 0; rows && i < rows->n; i++)
		if (rows->row[i].flags & CFI_ROW_FULL)
			free((void *)(uintptr_t)rows->row[i].full);
	free(rows);
}

size_t cfi_rows_memory(const struct cfi_rows *rows)
{
	size_t n = sizeof(*rows) + rows->n * sizeof(rows->row[0]);

	for (uint32_t i = 0; i < rows->n; i++)
		if (rows->row[i].flags & CFI_ROW_FULL)
			n += sizeof(*rows->row[i].full);
	return n;
}

const struct cfi_row *cfi_row_at(const struct cfi_rows *rows, uint32_t address)
{
	uint32_t low = 0, n = rows->n;

	/* Binary search for the last row that starts at or before the address. */
	while (n > 1) {
		uint32_t half = n / 2;

		low = rows->row[low + half].start <= address ? low + half : low;
		n -= half;
	}
	return address - rows->row[low].start < rows->row[low].end - rows->row[low].start ? &rows->row[low] : NULL;
}
