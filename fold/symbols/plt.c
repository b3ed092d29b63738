/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/symbols/plt.h"

#include "fold/symbols/symtab.h"

#include <elf.h>
#include <stdlib.h>

#define RELOCATIONS_MAX (64u << 20) /* bytes */

struct plt_slot {
	uint64_t offset, addend;
	uint32_t symbol;
	bool ifunc;
};

static bool is_x86(const struct elffile *f)
{
	return f->machine == EM_386 || f->machine == EM_X86_64;
}

/* Sizes as linkers write them; x86's section header may lie. */
static void plt_sizes(const struct plt *p, const struct elf_section *s, uint64_t *head, uint64_t *entry)
{
	switch (p->file->machine) {
	case EM_ARM:
		*head = 20;
		*entry = 12;
		return;
	case EM_AARCH64:
		*head = 32;
		*entry = 16;
		return;
	default:
		*entry = s->entsize;
		if (is_x86(p->file) && !p->as_perf && *entry != 8 && *entry != 16)
			*entry = s->align == 8 ? 8 : 16;
		*head = *entry;
	}
}

static struct plt_part plt_part_of(const struct elf_section *s, uint64_t entry)
{
	if (s->type == SHT_NOBITS || s->size > UINT64_MAX - s->offset)
		return (struct plt_part){ 0 };
	return (struct plt_part){ s->offset, s->offset + s->size, entry };
}

void plt_close(struct plt *p)
{
	free(p->slot);
	free(p->got_slot);
	text_free(&p->text);
	*p = (struct plt){ 0 };
}

/* ---- relocations --------------------------------------------------------------------------------------------- */

static int by_offset(const void *a, const void *b)
{
	const struct plt_slot *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

static struct plt_slot plt_slot_of(const struct elffile *f, bool rela, const char *p)
{
	union {
		Elf64_Rela a64;
		Elf32_Rela a32;
	} r = { 0 }; /* a Rel is a Rela without its end */
	uint32_t ifunc = f->machine == EM_X86_64  ? R_X86_64_IRELATIVE :
			 f->machine == EM_AARCH64 ? R_AARCH64_IRELATIVE :
						    UINT32_MAX;

	if (f->wide) {
		memcpy(&r.a64, p, rela ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel));
		return (struct plt_slot){ r.a64.r_offset, (uint64_t)r.a64.r_addend, (uint32_t)ELF64_R_SYM(r.a64.r_info),
					  rela && ELF64_R_TYPE(r.a64.r_info) == ifunc };
	}
	memcpy(&r.a32, p, rela ? sizeof(Elf32_Rela) : sizeof(Elf32_Rel));
	return (struct plt_slot){ r.a32.r_offset, 0, ELF32_R_SYM(r.a32.r_info), false };
}

static struct plt_slot *read_slots(struct elffile *f, const struct elf_section *s, size_t *count)
{
	bool rela = s->type == SHT_RELA;
	size_t size = f->wide ? (rela ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel)) :
				(rela ? sizeof(Elf32_Rela) : sizeof(Elf32_Rel));
	struct str bytes = elffile_bytes(f, s, RELOCATIONS_MAX);
	struct plt_slot *slot;

	*count = 0;
	if (s->type != SHT_RELA && s->type != SHT_REL)
		return NULL;
	slot = mem_alloc(sizeof(*slot), bytes.n / size + 1);
	for (; bytes.n >= size; bytes = str_from(bytes, size))
		slot[(*count)++] = plt_slot_of(f, rela, bytes.p);
	return slot;
}

static const struct elf_section *plt_linked(const struct elffile *f, const struct elf_section *s)
{
	const struct elf_section *table = s && s->link && s->link < f->sections ? &f->section[s->link] : NULL;

	return table && (table->type == SHT_DYNSYM || table->type == SHT_SYMTAB) ? table : NULL;
}

static void need_slots(struct plt *p)
{
	const struct elf_section *s = elffile_section(p->file, STR(".rela.plt"));

	if (p->slots_read)
		return;
	p->slots_read = true;
	if (!s)
		s = elffile_section(p->file, STR(".rel.plt"));
	if (!s)
		return;
	p->symbols = plt_linked(p->file, s);
	if (p->as_perf && (!p->symbols || p->symbols->type != SHT_DYNSYM))
		return;
	p->slot = read_slots(p->file, s, &p->slots);
	if (p->as_perf)
		return;
	/* stubs that need no resolver have no head */
	if (!p->direct.entry && p->slots * p->lazy.entry == p->lazy.end - p->lazy.start)
		p->head = 0;
	/* linkers for x86 put relocations of indirect functions last, their stubs not */
	if (is_x86(p->file) && p->slots)
		qsort(p->slot, p->slots, sizeof(*p->slot), by_offset);
}

static void need_got_slots(struct plt *p)
{
	const struct elf_section *s = elffile_section(p->file, STR(".rela.dyn"));
	size_t n = 0;

	if (p->gots_read)
		return;
	p->gots_read = true;
	if (!s || p->file->machine != EM_X86_64 || !plt_linked(p->file, s))
		return;
	p->symbols = plt_linked(p->file, s);
	p->got_slot = read_slots(p->file, s, &p->got_slots);
	for (size_t i = 0; i < p->got_slots; i++)
		if (p->got_slot[i].symbol)
			p->got_slot[n++] = p->got_slot[i];
	p->got_slots = n;
	if (n)
		qsort(p->got_slot, n, sizeof(*p->got_slot), by_offset);
}

void plt_open(struct plt *p, struct elffile *file, bool as_perf)
{
	const struct elf_section *lazy = elffile_section(file, STR(".plt")), *direct, *got;
	uint64_t entry, head;

	*p = (struct plt){ .file = file, .as_perf = as_perf };
	if (!lazy)
		return;
	plt_sizes(p, lazy, &p->head, &entry);
	if (!entry)
		return;
	p->lazy = plt_part_of(lazy, entry);
	if (as_perf)
		need_slots(p);
	if (as_perf || !is_x86(file))
		return;
	direct = elffile_section(file, STR(".plt.sec"));
	if (direct) {
		plt_sizes(p, direct, &head, &entry);
		p->direct = plt_part_of(direct, entry);
	}
	got = elffile_section(file, STR(".plt.got"));
	if (got && got->entsize >= 8)
		p->got = plt_part_of(got, got->entsize);
}

/* ---- answers --------------------------------------------------------------------------------------------------- */

static struct str symbol_name(struct plt *p, uint32_t index)
{
	const struct elf_section *table = p->symbols;
	size_t entry = p->file->wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	uint32_t name = 0; /* both kinds begin with it */

	p->text.n = 0;
	if (table && table->link < p->file->sections && index < table->size / entry && table->type != SHT_NOBITS)
		elffile_read(p->file, table->offset + index * entry, &name, sizeof(name));
	if (name)
		symtab_string(&p->text, p->file, &p->file->section[table->link], name);
	return text_view(&p->text);
}

static struct plt_stub stub_of(struct plt *p, const struct plt_slot *slot, uint64_t start)
{
	struct plt_stub s = { .kind = PLT_SYMBOL, .start = start, .name = symbol_name(p, slot->symbol) };

	if (s.name.n == 0 && !p->as_perf) {
		s.kind = slot->ifunc ? PLT_IFUNC : PLT_UNKNOWN;
		s.address = slot->addend;
	}
	return s;
}

static bool plt_inside(const struct plt_part *part, uint64_t place)
{
	return place >= part->start && place < part->end && part->entry;
}

static struct plt_stub plt_numbered(struct plt *p, const struct plt_part *part, uint64_t head, uint64_t place)
{
	uint64_t i = (place - part->start - head) / part->entry;

	if (i >= p->slots)
		return (struct plt_stub){ 0 };
	return stub_of(p, &p->slot[i], part->start + head + i * part->entry);
}

static struct plt_stub in_lazy(struct plt *p, uint64_t place)
{
	need_slots(p);
	if (p->direct.entry)
		return (struct plt_stub){ .kind = PLT_HEAD, .start = p->lazy.start };
	if (place - p->lazy.start >= p->head)
		return plt_numbered(p, &p->lazy, p->head, place);
	return (struct plt_stub){ .kind = p->as_perf ? PLT_NONE : PLT_HEAD, .start = p->lazy.start };
}

/* The slot that `endbr64; bnd jmp *slot(%rip)` goes through, relative to the stub; 0 when it is something else. */
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

static struct plt_stub in_got(struct plt *p, uint64_t place)
{
	const struct elf_section *s = elffile_section(p->file, STR(".plt.got"));
	uint64_t start = place - (place - p->got.start) % p->got.entry;
	unsigned char code[16];
	size_t n =
		elffile_read(p->file, start, code, p->got.entry < sizeof(code) ? (size_t)p->got.entry : sizeof(code));
	uint64_t d = plt_displacement(code, n);
	struct plt_slot key = { .offset = s->addr + (start - s->offset) + d }, *slot = NULL;

	need_got_slots(p);
	if (d && p->got_slots)
		slot = bsearch(&key, p->got_slot, p->got_slots, sizeof(key), by_offset);
	return slot ? stub_of(p, slot, start) : (struct plt_stub){ .kind = PLT_UNKNOWN, .start = start };
}

struct plt_stub plt_at(struct plt *p, uint64_t place)
{
	if (plt_inside(&p->direct, place)) {
		need_slots(p);
		return plt_numbered(p, &p->direct, 0, place);
	}
	if (plt_inside(&p->got, place))
		return in_got(p, place);
	return plt_inside(&p->lazy, place) ? in_lazy(p, place) : (struct plt_stub){ 0 };
}
