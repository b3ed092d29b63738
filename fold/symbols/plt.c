/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/symbols/plt.h"

#include "fold/symbols/symtab.h"

#include <elf.h>
#include <stdlib.h>

#ifndef R_AARCH64_IRELATIVE
#define R_AARCH64_IRELATIVE 1032 /* musl's elf.h lacks this constant */
#endif

/* maximum size in bytes of a relocation section; with a larger section, stubs get no names */
#define RELOCATIONS_MAX (64u << 20)

struct plt_slot {
	uint64_t offset, addend;
	uint32_t symbol;
	bool ifunc;
};

static bool is_x86(const struct elffile *elffile)
{
	return elffile->machine == EM_386 || elffile->machine == EM_X86_64;
}

/* Sets *head and *entry to the sizes, in bytes, of the head and of an entry that linkers write into a PLT section,
 * since sh_entsize of x86 may be wrong. */
static void plt_sizes(const struct plt *plt, const struct elf_section *section, uint64_t *head, uint64_t *entry)
{
	switch (plt->file->machine) {
	case EM_ARM:
		*head = 20;
		*entry = 12;
		return;
	case EM_AARCH64:
		*head = 32;
		*entry = 16;
		return;
	default:
		*entry = section->entsize;
		if (is_x86(plt->file) && !plt->as_perf && *entry != 8 && *entry != 16)
			*entry = section->align == 8 ? 8 : 16;
		*head = *entry;
	}
}

static struct plt_part plt_part_of(const struct elf_section *section, uint64_t entry)
{
	if (section->type == SHT_NOBITS || section->size > UINT64_MAX - section->offset)
		return (struct plt_part){ 0 };
	return (struct plt_part){ section->offset, section->offset + section->size, entry };
}

void plt_close(struct plt *plt)
{
	free(plt->slot);
	free(plt->got_slot);
	text_free(&plt->text);
	*plt = (struct plt){ 0 };
}

/* ---- relocations of PLT entries ------------------------------------------------------------------------------ */

static int by_offset(const void *a, const void *b)
{
	const struct plt_slot *slot = a, *y = b;

	return (slot->offset > y->offset) - (slot->offset < y->offset);
}

static struct plt_slot plt_slot_of(const struct elffile *elffile, bool rela, const char *p)
{
	union {
		Elf64_Rela a64;
		Elf32_Rela a32;
	} r = { 0 }; /* a Rel is the start of a Rela, so this union holds both */
	uint32_t ifunc = elffile->machine == EM_X86_64  ? R_X86_64_IRELATIVE :
			 elffile->machine == EM_AARCH64 ? R_AARCH64_IRELATIVE :
							  UINT32_MAX;

	if (elffile->wide) {
		memcpy(&r.a64, p, rela ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel));
		return (struct plt_slot){ r.a64.r_offset, (uint64_t)r.a64.r_addend, (uint32_t)ELF64_R_SYM(r.a64.r_info),
					  rela && ELF64_R_TYPE(r.a64.r_info) == ifunc };
	}
	memcpy(&r.a32, p, rela ? sizeof(Elf32_Rela) : sizeof(Elf32_Rel));
	return (struct plt_slot){ r.a32.r_offset, 0, ELF32_R_SYM(r.a32.r_info), false };
}

static struct plt_slot *read_slots(struct elffile *elffile, const struct elf_section *section, size_t *count)
{
	bool rela = section->type == SHT_RELA;
	size_t size = elffile->wide ? (rela ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel)) :
				      (rela ? sizeof(Elf32_Rela) : sizeof(Elf32_Rel));
	struct str bytes = elffile_bytes(elffile, section, RELOCATIONS_MAX);
	struct plt_slot *slot;

	*count = 0;
	if (section->type != SHT_RELA && section->type != SHT_REL)
		return NULL;
	slot = mem_alloc(sizeof(*slot), bytes.n / size + 1);
	for (; bytes.n >= size; bytes = str_from(bytes, size))
		slot[(*count)++] = plt_slot_of(elffile, rela, bytes.p);
	return slot;
}

static const struct elf_section *plt_linked(const struct elffile *elffile, const struct elf_section *section)
{
	const struct elf_section *table =
		section && section->link && section->link < elffile->sections ? &elffile->section[section->link] : NULL;

	return table && (table->type == SHT_DYNSYM || table->type == SHT_SYMTAB) ? table : NULL;
}

static void need_slots(struct plt *plt)
{
	const struct elf_section *section = elffile_section(plt->file, STR(".rela.plt"));

	if (plt->slots_read)
		return;
	plt->slots_read = true;
	if (!section)
		section = elffile_section(plt->file, STR(".rel.plt"));
	if (!section)
		return;
	plt->symbols = plt_linked(plt->file, section);
	if (plt->as_perf && (!plt->symbols || plt->symbols->type != SHT_DYNSYM))
		return;
	plt->slot = read_slots(plt->file, section, &plt->slots);
	if (plt->as_perf)
		return;
	/* a .plt with exactly one entry for each relocation has no head */
	if (!plt->direct.entry && plt->slots * plt->lazy.entry == plt->lazy.end - plt->lazy.start)
		plt->head = 0;
	/* Linkers for x86 write relocations of indirect functions last, but their stubs in between: sort by GOT slot.
	 */
	if (is_x86(plt->file) && plt->slots)
		qsort(plt->slot, plt->slots, sizeof(*plt->slot), by_offset);
}

static void need_got_slots(struct plt *plt)
{
	const struct elf_section *section = elffile_section(plt->file, STR(".rela.dyn"));
	size_t n = 0;

	if (plt->gots_read)
		return;
	plt->gots_read = true;
	if (!section || plt->file->machine != EM_X86_64 || !plt_linked(plt->file, section))
		return;
	plt->symbols = plt_linked(plt->file, section);
	plt->got_slot = read_slots(plt->file, section, &plt->got_slots);
	for (size_t i = 0; i < plt->got_slots; i++)
		if (plt->got_slot[i].symbol)
			plt->got_slot[n++] = plt->got_slot[i];
	plt->got_slots = n;
	if (n)
		qsort(plt->got_slot, n, sizeof(*plt->got_slot), by_offset);
}

void plt_open(struct plt *plt, struct elffile *file, bool as_perf)
{
	const struct elf_section *lazy = elffile_section(file, STR(".plt")), *direct, *got;
	uint64_t entry, head;

	*plt = (struct plt){ .file = file, .as_perf = as_perf };
	if (!lazy)
		return;
	plt_sizes(plt, lazy, &plt->head, &entry);
	if (!entry)
		return;
	plt->lazy = plt_part_of(lazy, entry);
	if (as_perf)
		need_slots(plt);
	if (as_perf || !is_x86(file))
		return;
	direct = elffile_section(file, STR(".plt.sec"));
	if (direct) {
		plt_sizes(plt, direct, &head, &entry);
		plt->direct = plt_part_of(direct, entry);
	}
	got = elffile_section(file, STR(".plt.got"));
	if (got && got->entsize >= 8)
		plt->got = plt_part_of(got, got->entsize);
}

/* ---- lookups of stubs ------------------------------------------------------------------------------------------ */

static struct str symbol_name(struct plt *plt, uint32_t index)
{
	const struct elf_section *table = plt->symbols;
	size_t entry = plt->file->wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	uint32_t name = 0; /* st_name, the first member of Elf32_Sym and Elf64_Sym */

	plt->text.n = 0;
	if (table && table->link < plt->file->sections && index < table->size / entry && table->type != SHT_NOBITS)
		elffile_read(plt->file, table->offset + index * entry, &name, sizeof(name));
	if (name)
		symtab_string(&plt->text, plt->file, &plt->file->section[table->link], name);
	return text_view(&plt->text);
}

static struct plt_stub stub_of(struct plt *plt, const struct plt_slot *slot, uint64_t start)
{
	struct plt_stub stub = { .kind = PLT_SYMBOL, .start = start, .name = symbol_name(plt, slot->symbol) };

	if (stub.name.n == 0 && !plt->as_perf) {
		stub.kind = slot->ifunc ? PLT_IFUNC : PLT_UNKNOWN;
		stub.address = slot->addend;
	}
	return stub;
}

static bool plt_inside(const struct plt_part *part, uint64_t place)
{
	return place >= part->start && place < part->end && part->entry;
}

static struct plt_stub plt_numbered(struct plt *plt, const struct plt_part *part, uint64_t head, uint64_t place)
{
	uint64_t i = (place - part->start - head) / part->entry;

	if (i >= plt->slots)
		return (struct plt_stub){ 0 };
	return stub_of(plt, &plt->slot[i], part->start + head + i * part->entry);
}

static struct plt_stub in_lazy(struct plt *plt, uint64_t place)
{
	need_slots(plt);
	if (plt->direct.entry)
		return (struct plt_stub){ .kind = PLT_HEAD, .start = plt->lazy.start };
	if (place - plt->lazy.start >= plt->head)
		return plt_numbered(plt, &plt->lazy, plt->head, place);
	return (struct plt_stub){ .kind = plt->as_perf ? PLT_NONE : PLT_HEAD, .start = plt->lazy.start };
}

/* Returns the address of the GOT slot of a stub, relative to the start of the stub. code[0..n): the code of the stub,
 * `endbr64; bnd jmp *slot(%rip)`, where endbr64 and bnd may be missing. Returns 0 for other code. */
static uint64_t plt_displacement(const unsigned char *code, size_t n)
{
	static const unsigned char endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	size_t i = n >= sizeof(endbr64) && memcmp(code, endbr64, sizeof(endbr64)) == 0 ? sizeof(endbr64) : 0;
	int32_t d;

	if (i < n && code[i] == 0xf2)
		i++;
	if (i + 6 > n || code[i] != 0xff || code[i + 1] != 0x25)
		return 0;
	memcpy(&d, code + i + 2, sizeof(d));
	return i + 6 + (uint64_t)(int64_t)d;
}

static struct plt_stub in_got(struct plt *plt, uint64_t place)
{
	const struct elf_section *section = elffile_section(plt->file, STR(".plt.got"));
	uint64_t start = place - (place - plt->got.start) % plt->got.entry;
	unsigned char code[16];
	size_t n = elffile_read(plt->file, start, code,
				plt->got.entry < sizeof(code) ? (size_t)plt->got.entry : sizeof(code));
	uint64_t d = plt_displacement(code, n);
	struct plt_slot key = { .offset = section->addr + (start - section->offset) + d }, *slot = NULL;

	need_got_slots(plt);
	if (d && plt->got_slots)
		slot = bsearch(&key, plt->got_slot, plt->got_slots, sizeof(key), by_offset);
	return slot ? stub_of(plt, slot, start) : (struct plt_stub){ .kind = PLT_UNKNOWN, .start = start };
}

struct plt_stub plt_at(struct plt *plt, uint64_t place)
{
	if (plt_inside(&plt->direct, place)) {
		need_slots(plt);
		return plt_numbered(plt, &plt->direct, 0, place);
	}
	if (plt_inside(&plt->got, place))
		return in_got(plt, place);
	return plt_inside(&plt->lazy, place) ? in_lazy(plt, place) : (struct plt_stub){ 0 };
}
