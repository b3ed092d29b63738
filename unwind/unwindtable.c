/* SPDX-License-Identifier: Apache-2.0 */
#include "unwindtable.h"

#include "arena.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* One section and where its FDEs are, by start. Offsets are 32 bits: a larger section is cut. */
struct frames {
	struct cfi cfi;
	uint32_t n;
	struct ref {
		uint32_t start; /* relative to the table's base */
		uint32_t at;    /* in the section */
	} *ref;
	_Atomic(struct cfi_rows *) *rows; /* by ref; NULL: not met yet */
};

/* A section of code that has no FDE: jumps, as of lld's linker; .init and .fini, which are put together from pieces of libc. */
struct plt {
	uint64_t start, size;
	uint8_t lazy;   /* entries push their number; a byte, since images are not trusted to hold a bool */
	uint8_t pushed; /* .init, .fini: offset behind `sub rsp, 8`; 0: jumps */
};

struct load {
	uint64_t offset, size, address;
	uint8_t code;
};

enum { PLTS_MAX = 6, SLOT_BITS = 12 };

/* Ten times of what browsers have. A sparse file costs nothing to make, and reading it all would cost the memory. */
enum { SECTION_MAX = 256 << 20, INIT_MAX = 4096 };

/* A byte of instructions can ask for a row of 300 bytes. Those of compilers take 8 bytes of rows for each of theirs, where all are met. */
enum { ROWS_SOME = 1 << 20, ROWS_TIMES = 16 };

/* Rows that were found, by address. A slot is one pointer, and a row says itself for which addresses it is. */
struct recent {
	_Atomic(const struct cfi_row *) slot[1 << SLOT_BITS];
	atomic_size_t memory; /* of all rows */
};

struct unwind_table {
	Elf *elf; /* has the bytes of the sections; NULL: they are the caller's, or */
	struct image *image; /* mapped, with all that does not change */
	size_t size;         /* of what is mapped or read */
	const struct processor *processor;
	uint64_t base, end; /* of code */
	struct frames frames[2]; /* .eh_frame, .debug_frame */
	struct plt plt[PLTS_MAX];
	unsigned nplts;
	struct load *load; /* segments of the file */
	size_t nloads;
	struct recent *recent;
};

/* ---- index ---- */

/* FDEs as they are found: address, offset. */
struct found {
	struct fde {
		uint64_t start, at;
	} *fde;
	size_t n, cap;
};

static void found_add(struct found *f, uint64_t start, uint64_t at)
{
	if (f->n == f->cap) {
		f->cap = f->cap ? 2 * f->cap : 256;
		f->fde = mem_grow(f->fde, sizeof(*f->fde), f->cap);
	}
	f->fde[f->n++] = (struct fde){ start, at };
}

static void find_all(struct found *f, const struct cfi *c)
{
	struct cfi_entry e;
	size_t next;

	for (size_t at = 0; at < c->bytes.n; at = next)
		if (cfi_entry_at(c, at, &e, &next) == CFI_FDE && e.length)
			found_add(f, e.start, at);
}

/* The sorted table that linkers put into .eh_frame_hdr: {start, FDE}, 4 bytes each, relative to the section. */
static void find_by_header(struct found *f, const struct cfi *c, const struct cfi *header)
{
	enum { TABLE = 0x3b };
	struct dwarf_bytes b = dwarf_bytes_of(header->bytes);
	uint64_t version = dwarf_uint(&b, 1), count;
	uint8_t frame = (uint8_t)dwarf_uint(&b, 1), number = (uint8_t)dwarf_uint(&b, 1), table = (uint8_t)dwarf_uint(&b, 1);

	cfi_pointer(&b, frame, 0, 0);
	count = cfi_pointer(&b, number, 0, 0);
	if (b.bad || version != 1 || table != TABLE || count > dwarf_left(&b) / 8)
		return;
	f->fde = mem_grow(NULL, sizeof(*f->fde), count);
	f->cap = count;
	while (count--) {
		uint64_t start = header->address + dwarf_sint(&b, 4);
		uint64_t at = header->address + dwarf_sint(&b, 4) - c->address;

		if (at < c->bytes.n)
			found_add(f, start, at);
	}
}

static int fde_compare(const void *a, const void *b)
{
	const struct fde *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static void found_sort(struct found *f)
{
	for (size_t i = 1; i < f->n; i++) {
		if (f->fde[i - 1].start > f->fde[i].start) {
			qsort(f->fde, f->n, sizeof(*f->fde), fde_compare);
			return;
		}
	}
}

/* What is not code of this file is what linkers leave of functions that they dropped. */
static void frames_set(struct frames *s, const struct cfi *c, const struct found *f, uint64_t base, uint64_t end)
{
	s->cfi = *c;
	s->ref = mem_alloc(sizeof(*s->ref), f->n);
	for (size_t i = 0; i < f->n; i++)
		if (f->fde[i].start >= base && f->fde[i].start < end)
			s->ref[s->n++] = (struct ref){ (uint32_t)(f->fde[i].start - base), (uint32_t)f->fde[i].at };
	s->rows = mem_alloc(sizeof(*s->rows), s->n);
}

static struct cfi limited(struct cfi c)
{
	if (c.bytes.n > UINT32_MAX)
		c.bytes.n = UINT32_MAX;
	return c;
}

/* header: empty where there is none. */
static void table_add(struct unwind_table *t, struct frames *s, struct cfi c, struct cfi header)
{
	struct found f = { 0 };

	c = limited(c);
	c.processor = t->processor;
	find_by_header(&f, &c, &header);
	if (f.n == 0)
		find_all(&f, &c);
	found_sort(&f);
	if (!t->elf && f.n) {
		t->base = f.fde[0].start;
		t->end = t->base > UINT64_MAX - UINT32_MAX ? UINT64_MAX : t->base + UINT32_MAX;
	}
	frames_set(s, &c, &f, t->base, t->end);
	t->size += c.bytes.n + s->n * sizeof(*s->ref);
	free(f.fde);
}

/* NULL, and t is closed, when it has nothing. */
static struct unwind_table *table_ready(struct unwind_table *t, const char **why)
{
	if (t->frames[0].n + t->frames[1].n) {
		t->recent = mem_alloc(sizeof(*t->recent), 1);
		*why = NULL;
		return t;
	}
	*why = "no call frame information";
	unwind_table_close(t);
	return NULL;
}

struct unwind_table *unwind_table_memory(struct str eh_frame, uint64_t address, const char **why)
{
	struct unwind_table *t = mem_alloc(sizeof(*t), 1);

	t->processor = &processor_x86_64;
	table_add(t, &t->frames[0], (struct cfi){ .bytes = eh_frame, .address = address }, (struct cfi){ 0 });
	return table_ready(t, why);
}

/* ---- ELF ---- */

static struct str data_of(const Elf_Data *d)
{
	return d && d->d_buf ? (struct str){ d->d_buf, d->d_size } : (struct str){ 0 };
}

struct sections {
	struct cfi eh_frame, debug_frame, header;
};

/* Has a PLT of aarch64 the entry that calls the linker? It begins with stp x16, x30, [sp, #-16]!, or behind bti c. A static program's has
 * none. */
static bool is_lazy_link(Elf_Scn *scn, const GElf_Shdr *h)
{
	static const struct str push = STR("\xf0\x7b\xbf\xa9");
	struct str code = h->sh_size <= SECTION_MAX ? data_of(elf_rawdata(scn, NULL)) : (struct str){ 0 };

	return str_starts(code, push) || (code.n > 4 && str_starts(str_from(code, 4), push));
}

static void note_plt(struct unwind_table *t, Elf_Scn *scn, const GElf_Shdr *h, bool lazy)
{
	lazy = lazy && (!t->processor->link || is_lazy_link(scn, h));
	if (t->nplts < PLTS_MAX)
		t->plt[t->nplts++] = (struct plt){ .start = h->sh_addr, .size = h->sh_size, .lazy = lazy };
}

/* What crti.o and crtn.o begin and end it with: endbr64, since CET; sub rsp, 8; and add rsp, 8; ret. */
static void note_init(struct unwind_table *t, Elf_Scn *scn, const GElf_Shdr *h)
{
	static const struct str endbr = STR("\xf3\x0f\x1e\xfa"), enter = STR("\x48\x83\xec\x08"), leave = STR("\x48\x83\xc4\x08\xc3");
	struct str code = h->sh_size <= INIT_MAX && !t->processor->link ? data_of(elf_rawdata(scn, NULL)) : (struct str){ 0 };
	size_t at = str_starts(code, endbr) ? endbr.n : 0;

	if (t->nplts < PLTS_MAX && str_starts(str_from(code, at), enter) && str_ends(code, leave))
		t->plt[t->nplts++] = (struct plt){ .start = h->sh_addr, .size = h->sh_size, .pushed = (uint8_t)(at + enter.n) };
}

/* Bytes of a section that has not been found before, decompressed. */
static void read_section(Elf_Scn *scn, const GElf_Shdr *h, struct cfi *c)
{
	GElf_Chdr compressed;

	if (c->bytes.n || h->sh_size > SECTION_MAX)
		return;
	if (h->sh_flags & SHF_COMPRESSED) {
		if (!gelf_getchdr(scn, &compressed) || compressed.ch_size > SECTION_MAX || elf_compress(scn, 0, 0) < 0)
			return;
	}
	c->bytes = data_of(elf_rawdata(scn, NULL));
	c->address = h->sh_addr;
}

/* The section that has the names of sections, when it is one to be read. */
static bool find_names(Elf *elf, size_t *names)
{
	GElf_Shdr h;

	return elf_getshdrstrndx(elf, names) == 0 && gelf_getshdr(elf_getscn(elf, *names), &h) && h.sh_size <= SECTION_MAX;
}

static void read_sections(struct unwind_table *t, struct sections *s)
{
	size_t names;

	s->debug_frame.debug = true;
	if (!find_names(t->elf, &names))
		return;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(t->elf, scn)) != NULL;) {
		GElf_Shdr h;
		const char *p = gelf_getshdr(scn, &h) ? elf_strptr(t->elf, names, h.sh_name) : NULL;
		struct str name = str_of(p);

		/* separate debug files have headers of the others' sections, without bytes */
		if (!p || h.sh_type == SHT_NOBITS)
			continue;
		if (str_eq(name, STR(".eh_frame")))
			read_section(scn, &h, &s->eh_frame);
		else if (str_eq(name, STR(".eh_frame_hdr")))
			read_section(scn, &h, &s->header);
		else if (str_eq(name, STR(".debug_frame")))
			read_section(scn, &h, &s->debug_frame);
		else if (str_starts(name, STR(".plt")))
			note_plt(t, scn, &h, str_eq(name, STR(".plt")));
		else if (str_eq(name, STR(".init")) || str_eq(name, STR(".fini")))
			note_init(t, scn, &h);
	}
}

static struct str chunk(Elf *elf, uint64_t offset, uint64_t n)
{
	return n <= SECTION_MAX ? data_of(elf_getdata_rawchunk(elf, (int64_t)offset, n, ELF_T_BYTE)) : (struct str){ 0 };
}

/* From an address to the end of its segment in the file. */
static struct str bytes_at(Elf *elf, uint64_t address)
{
	size_t n = 0;
	GElf_Phdr h;

	elf_getphdrnum(elf, &n);
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(elf, (int)i, &h) && h.p_type == PT_LOAD && address - h.p_vaddr < h.p_filesz)
			return chunk(elf, h.p_offset + (address - h.p_vaddr), h.p_filesz - (address - h.p_vaddr));
	return (struct str){ 0 };
}

/* Where the sections' headers were stripped, the program's lead there. */
static void read_segments(struct unwind_table *t, struct sections *s, const GElf_Phdr *h)
{
	struct dwarf_bytes b;
	uint64_t at;

	s->header.address = h->p_vaddr;
	s->header.bytes = chunk(t->elf, h->p_offset, h->p_filesz);
	b = dwarf_bytes_of(s->header.bytes);
	dwarf_take(&b, 1);
	at = dwarf_uint(&b, 1);
	dwarf_take(&b, 2);
	at = cfi_pointer(&b, (uint8_t)at, h->p_vaddr + 4, h->p_vaddr);
	if (!b.bad)
		s->eh_frame = (struct cfi){ .bytes = bytes_at(t->elf, at), .address = at };
}

/* Where code is; and the tables, when no section told of them. */
static void read_program(struct unwind_table *t, struct sections *s)
{
	size_t n = 0;
	GElf_Phdr h;

	t->base = UINT64_MAX;
	if (elf_getphdrnum(t->elf, &n) != 0)
		return;
	t->load = mem_alloc(sizeof(*t->load), n);
	for (size_t i = 0; i < n; i++) {
		if (!gelf_getphdr(t->elf, (int)i, &h))
			continue;
		if (h.p_type == PT_LOAD)
			t->load[t->nloads++] = (struct load){ h.p_offset, h.p_filesz, h.p_vaddr, h.p_flags & PF_X ? 1 : 0 };
		if (h.p_type == PT_LOAD && h.p_flags & PF_X && h.p_vaddr + h.p_memsz >= h.p_vaddr) {
			t->base = h.p_vaddr < t->base ? h.p_vaddr : t->base;
			t->end = h.p_vaddr + h.p_memsz > t->end ? h.p_vaddr + h.p_memsz : t->end;
		}
		if (h.p_type == PT_GNU_EH_FRAME && !s->eh_frame.bytes.n && !s->debug_frame.bytes.n)
			read_segments(t, s, &h);
	}
	if (t->end > t->base && t->end - t->base > UINT32_MAX)
		t->end = t->base + UINT32_MAX;
}

/* By its first bytes. Counts that do not fit into them are refused: libelf would make a table for as many as the file claims. */
static bool is_ours(int fd, const struct processor **processor, const char **why)
{
	Elf64_Ehdr h;
	struct stat st;

	*why = "not a regular file";
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	*why = "not an ELF file";
	if (pread(fd, &h, sizeof(h), 0) != sizeof(h) || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0)
		return false;
	*why = "not for x86-64 or aarch64, 64 bits";
	*processor = processor_of_elf(h.e_machine);
	if (!*processor || h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != ELFDATA2LSB)
		return false;
	*why = "too many sections";
	return (h.e_shnum || !h.e_shoff) && h.e_phnum != PN_XNUM;
}

static struct unwind_table *table_of_elf(Elf *elf, const struct processor *processor, const char **why)
{
	struct unwind_table *t = mem_alloc(sizeof(*t), 1);
	struct sections s = { 0 };

	t->elf = elf;
	t->processor = processor;
	read_sections(t, &s);
	read_program(t, &s);
	table_add(t, &t->frames[0], s.eh_frame, s.header);
	table_add(t, &t->frames[1], s.debug_frame, (struct cfi){ 0 });
	/* all that is needed is in memory: the file may be changed now */
	elf_cntl(elf, ELF_C_FDDONE);
	return table_ready(t, why);
}

/* Read, not mapped: a mapping of a file that shrinks kills who looks. */
struct unwind_table *unwind_table_open(int fd, const char **why)
{
	const struct processor *processor = NULL;
	struct unwind_table *t = NULL;
	Elf *elf = NULL;

	elf_version(EV_CURRENT);
	if (is_ours(fd, &processor, why)) {
		*why = "not an ELF file";
		elf = elf_begin(fd, ELF_C_READ, NULL);
	}
	if (elf && elf_kind(elf) == ELF_K_ELF)
		t = table_of_elf(elf, processor, why);
	else
		elf_end(elf);
	if (fd >= 0)
		close(fd);
	return t;
}

/* ---- images ---- */

/* Of a table, as another process maps it: offsets from its first byte, all multiples of 8. */
struct image {
	char magic[8]; /* the last one is of the processor */
	uint64_t size, base, end;
	uint64_t loads, nloads, plts, nplts;
	struct part {
		uint64_t address, bytes, nbytes, refs, nrefs;
	} part[2];
};

static const char image_magic[8] = "pjtable1";

static uint64_t place(uint64_t *at, uint64_t n)
{
	uint64_t here = *at;

	*at += (n + 7) & ~UINT64_C(7);
	return here;
}

static struct image layout(const struct unwind_table *t)
{
	struct image i = { .base = t->base, .end = t->end, .nloads = t->nloads, .nplts = t->nplts };
	uint64_t at = sizeof(i);

	memcpy(i.magic, image_magic, sizeof(i.magic));
	i.magic[7] = t->processor->link ? 'a' : i.magic[7];
	i.loads = place(&at, t->nloads * sizeof(*t->load));
	i.plts = place(&at, t->nplts * sizeof(*t->plt));
	for (unsigned k = 0; k < countof(i.part); k++) {
		const struct frames *f = &t->frames[k];
		struct part *p = &i.part[k];

		*p = (struct part){ .address = f->cfi.address, .nbytes = f->n ? f->cfi.bytes.n : 0, .nrefs = f->n };
		p->bytes = place(&at, p->nbytes);
		p->refs = place(&at, p->nrefs * sizeof(*f->ref));
	}
	i.size = at;
	return i;
}

static bool put(int fd, const void *p, uint64_t n, uint64_t at)
{
	while (n) {
		ssize_t done = pwrite(fd, p, n, (off_t)at);

		if (done <= 0)
			return false;
		p = (const char *)p + done;
		n -= (uint64_t)done;
		at += (uint64_t)done;
	}
	return true;
}

bool unwind_table_save(const struct unwind_table *t, int fd)
{
	struct image i = layout(t);
	bool ok = ftruncate(fd, (off_t)i.size) == 0 && put(fd, &i, sizeof(i), 0) && put(fd, t->load, i.nloads * sizeof(*t->load), i.loads) &&
		  put(fd, t->plt, i.nplts * sizeof(*t->plt), i.plts);

	for (unsigned k = 0; k < countof(i.part) && ok; k++)
		ok = put(fd, t->frames[k].cfi.bytes.p, i.part[k].nbytes, i.part[k].bytes) &&
		     put(fd, t->frames[k].ref, i.part[k].nrefs * sizeof(struct ref), i.part[k].refs);
	return ok;
}

static bool within(const struct image *i, uint64_t at, uint64_t n, uint64_t each)
{
	return at % 8 == 0 && at <= i->size && n <= (i->size - at) / each;
}

static bool is_image(const struct image *i, uint64_t size)
{
	bool ok = size >= sizeof(*i) && memcmp(i->magic, image_magic, 7) == 0 && (i->magic[7] == image_magic[7] || i->magic[7] == 'a') &&
		  i->size == size && i->nplts <= PLTS_MAX &&
		  i->end - i->base <= UINT32_MAX && within(i, i->loads, i->nloads, sizeof(struct load)) &&
		  within(i, i->plts, i->nplts, sizeof(struct plt));

	for (unsigned k = 0; k < countof(i->part) && ok; k++)
		ok = i->part[k].nbytes <= UINT32_MAX && i->part[k].nrefs <= UINT32_MAX && within(i, i->part[k].bytes, i->part[k].nbytes, 1) &&
		     within(i, i->part[k].refs, i->part[k].nrefs, sizeof(struct ref));
	return ok;
}

static struct unwind_table *table_of_image(struct image *i)
{
	struct unwind_table *t = mem_alloc(sizeof(*t), 1);
	char *first = (char *)i;

	t->image = i;
	t->processor = i->magic[7] == 'a' ? &processor_aarch64 : &processor_x86_64;
	t->size = i->size;
	t->base = i->base;
	t->end = i->end;
	t->load = (void *)(first + i->loads);
	t->nloads = i->nloads;
	memcpy(t->plt, first + i->plts, i->nplts * sizeof(*t->plt));
	t->nplts = (unsigned)i->nplts;
	for (unsigned k = 0; k < countof(i->part); k++) {
		const struct part *p = &i->part[k];

		t->frames[k] = (struct frames){ .cfi = { { first + p->bytes, p->nbytes }, p->address, k == 1, t->processor }, .n = (uint32_t)p->nrefs,
						.ref = (void *)(first + p->refs), .rows = mem_alloc(sizeof(_Atomic(struct cfi_rows *)), p->nrefs) };
	}
	return t;
}

struct unwind_table *unwind_table_load(int fd, const char **why)
{
	struct stat st;
	void *p = MAP_FAILED;

	*why = "no image of a table";
	if (fstat(fd, &st) == 0 && st.st_size >= (off_t)sizeof(struct image))
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return NULL;
	if (is_image(p, (uint64_t)st.st_size))
		return table_ready(table_of_image(p), why);
	munmap(p, (size_t)st.st_size);
	return NULL;
}

size_t unwind_table_bytes(const struct unwind_table *t)
{
	return sizeof(*t) + sizeof(*t->recent) + t->size + (t->frames[0].n + t->frames[1].n) * sizeof(void *) +
	       atomic_load_explicit(&t->recent->memory, memory_order_relaxed);
}

/* ---- the life of a table ---- */

/* The segment whose pages are mapped at `offset`. lld's segments share a page of the file: then it is that of code. */
static const struct load *load_of(const struct unwind_table *t, uint64_t offset, bool code)
{
	enum { PAGE = 4096 };

	for (size_t i = 0; i < t->nloads; i++) {
		const struct load *l = &t->load[i];
		uint64_t before = l->offset % PAGE;

		if (!l->code == !code && offset - (l->offset - before) < l->size + before)
			return l;
	}
	return NULL;
}

bool unwind_table_bias(const struct unwind_table *t, uint64_t start, uint64_t offset, uint64_t *bias)
{
	const struct load *l = load_of(t, offset, true);

	if (!l)
		l = load_of(t, offset, false);
	if (l)
		*bias = start - (l->address + (offset - l->offset));
	return l;
}

static void rows_free(struct frames *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		cfi_rows_free(atomic_load_explicit(&s->rows[i], memory_order_relaxed));
	free(s->rows);
}

void unwind_table_close(struct unwind_table *t)
{
	if (!t)
		return;
	rows_free(&t->frames[0]);
	rows_free(&t->frames[1]);
	elf_end(t->elf);
	if (t->image) {
		munmap(t->image, t->size);
	} else {
		free(t->frames[0].ref);
		free(t->frames[1].ref);
		free(t->load);
	}
	free(t->recent);
	free(t);
}

/* ---- look-up ---- */

/* The rows of FDE i, made now if nobody did. What has none gets an empty entry. */
static const struct cfi_rows *rows_of(const struct frames *s, struct recent *r, uint64_t base, size_t i)
{
	struct cfi_rows *rows = atomic_load_explicit(&s->rows[i], memory_order_acquire), *first = NULL;
	struct cfi_entry e;
	size_t next;

	if (likely(rows))
		return rows;
	if (cfi_entry_at(&s->cfi, s->ref[i].at, &e, &next) == CFI_FDE)
		rows = cfi_rows_of(&s->cfi, &e, base);
	if (rows && atomic_fetch_add(&r->memory, cfi_rows_memory(rows)) > ROWS_SOME + ROWS_TIMES * s->cfi.bytes.n) {
		cfi_rows_free(rows);
		rows = NULL;
	}
	if (!rows)
		rows = mem_alloc(1, sizeof(*rows));
	if (atomic_compare_exchange_strong(&s->rows[i], &first, rows))
		return rows;
	cfi_rows_free(rows); /* another thread was faster */
	return first;
}

static const struct cfi_row *frames_row(const struct frames *s, struct recent *r, uint64_t base, uint32_t address)
{
	const struct cfi_rows *rows;
	size_t low = 0, n = s->n;

	if (n == 0)
		return NULL;
	while (n > 1) {
		size_t half = n / 2;

		low = s->ref[low + half].start <= address ? low + half : low;
		n -= half;
	}
	rows = rows_of(s, r, base, low);
	return rows->n ? cfi_row_at(rows, address) : NULL;
}

/* The first entry of aarch64 pushes, the others touch nothing. System V ABI AMD64 section 5.2: the first entry pushes
 * a second word, the others push one before their second jump. */
static const struct cfi_row *plt_row(const struct unwind_table *t, uint64_t address)
{
	static const struct cfi_row row[] = {
		{ .reg = CFI_RSP, .cfa = 8, .ra = CFI_RA }, { .reg = CFI_RSP, .cfa = 16, .ra = CFI_RA }, { .reg = CFI_RSP, .cfa = 24, .ra = CFI_RA },
	};
	static const struct cfi_row linked = { .reg = CFI_RSP, .ra = CFI_RA, .flags = CFI_ROW_LINK };

	for (unsigned i = 0; i < t->nplts; i++) {
		uint64_t at = address - t->plt[i].start;

		if (at >= t->plt[i].size)
			continue;
		if (t->plt[i].pushed)
			return &row[at >= t->plt[i].pushed && at < t->plt[i].size - 1];
		if (t->processor->link)
			return at < 32 && t->plt[i].lazy ? NULL : &linked;
		if (!t->plt[i].lazy)
			return &row[0];
		return at < 16 ? &row[at < 6 ? 1 : 2] : &row[at % 16 >= 11];
	}
	return NULL;
}

const struct cfi_row *unwind_table_row(const struct unwind_table *t, uint64_t address)
{
	uint32_t at = (uint32_t)(address - t->base);
	_Atomic(const struct cfi_row *) *slot = &t->recent->slot[at * 0x9E3779B1U >> (32 - SLOT_BITS)];
	const struct cfi_row *row = atomic_load_explicit(slot, memory_order_acquire);

	if (address < t->base || address >= t->end)
		return NULL;
	if (likely(row && at - row->start < row->end - row->start))
		return row;
	row = frames_row(&t->frames[0], t->recent, t->base, at);
	if (!row)
		row = frames_row(&t->frames[1], t->recent, t->base, at);
	if (row)
		atomic_store_explicit(slot, row, memory_order_release);
	return row ? row : plt_row(t, address);
}
