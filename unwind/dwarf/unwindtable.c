/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/dwarf/unwindtable.h"

#include "common/arena.h"
#include "unwind/dwarf/unwindelf.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* One section and where its FDEs are, by start. Offsets are 32 bits: a larger section is cut. */
struct blobframes {
	struct cfi cfi;
	uint32_t n;
	struct ref {
		uint32_t start; /* relative to the table's base */
		uint32_t at;    /* in the section */
	} * ref;
	_Atomic(struct cfi_rows *) *rows; /* by ref; NULL: not met yet */
};

enum { SLOT_BITS = 12 };

/* A byte of instructions can ask for a row of 300 bytes. Those of compilers take 8 bytes of rows for each of theirs,
 * where all are met. A table with more rows than ROWS_MAX gets no further ones; that of an image, whose owner runs for
 * months, drops it then and has it made anew (unwind_table_is_full). */
enum { ROWS_SOME = 1 << 20, ROWS_TIMES = 16, ROWS_MAX = 64 << 20, IMAGE_ROWS_MAX = 8 << 20 };

/* Bytes of instructions that may be executed for a table, beyond EFFORT_TIMES those of its section: FDEs can share a
 * long program. */
enum { EFFORT_SOME = 4 << 20, EFFORT_TIMES = 4 };

/* Rows that were found, by address. A slot is one pointer, and a row says itself for which addresses it is. */
struct recent {
	_Atomic(const struct cfi_row *) slot[1 << SLOT_BITS];
	atomic_size_t memory; /* of all rows */
	atomic_size_t effort; /* bytes of instructions that were executed */
	atomic_bool full;     /* rows were refused */
	size_t memory_max;
};

struct unwind_table {
	struct unwind_elf elf; /* has the bytes of the sections; empty: they are the caller's, or in */
	struct image *image;   /* mapped, with all that does not change */
	size_t size;           /* of what is mapped or read */
	const struct processor *processor;
	uint64_t base, end;          /* of code */
	struct blobframes frames[2]; /* .eh_frame, .debug_frame */
	struct unwind_plt plt[UNWIND_PLTS_MAX];
	unsigned nplts;
	struct unwind_load *load; /* segments of the file */
	size_t nloads;
	struct recent *recent;
};

/* ---- index ---- */

/* FDEs as they are found: address, offset. */
struct found {
	struct fde {
		uint64_t start, at;
	} * fde;
	size_t n, cap, max;
};

static void found_add(struct found *f, uint64_t start, uint64_t at)
{
	if (f->n == f->max)
		return;
	if (f->n == f->cap) {
		f->cap = f->cap ? 2 * f->cap : 256;
		f->fde = mem_grow(f->fde, sizeof(*f->fde), f->cap);
	}
	f->fde[f->n++] = (struct fde){ start, at };
}

static void unwindtable_find_all(struct found *f, const struct cfi *c)
{
	struct cfi_entry e;
	size_t next;

	for (size_t at = 0; at < c->bytes.n && f->n < f->max; at = next)
		if (cfi_entry_at(c, at, &e, &next) == CFI_FDE && e.length)
			found_add(f, e.start, at);
}

/* The sorted table that linkers put into .eh_frame_hdr: {start, FDE}, 4 bytes each, relative to the section. */
static void find_by_header(struct found *f, const struct cfi *c, const struct cfi *header)
{
	enum { TABLE = 0x3b };
	struct dwarf_bytes b = dwarf_bytes_of(header->bytes);
	uint64_t version = dwarf_uint(&b, 1), count;
	uint8_t frame = (uint8_t)dwarf_uint(&b, 1), number = (uint8_t)dwarf_uint(&b, 1),
		table = (uint8_t)dwarf_uint(&b, 1);

	cfi_pointer(&b, frame, 0, 0);
	count = cfi_pointer(&b, number, 0, 0);
	if (b.bad || version != 1 || table != TABLE || count > dwarf_left(&b) / 8 || count > f->max)
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
static void frames_set(struct blobframes *s, const struct cfi *c, const struct found *f, uint64_t base, uint64_t end)
{
	s->cfi = *c;
	s->ref = mem_alloc(sizeof(*s->ref), f->n);
	for (size_t i = 0; i < f->n; i++)
		if (f->fde[i].start >= base && f->fde[i].start < end)
			s->ref[s->n++] = (struct ref){ (uint32_t)(f->fde[i].start - base), (uint32_t)f->fde[i].at };
	s->rows = mem_alloc(sizeof(*s->rows), s->n);
}

/* How many FDEs a table of n bytes may have: references to them are part of its image. */
static size_t refs_max(size_t n)
{
	return n < UNWIND_TABLE_MAX ? (UNWIND_TABLE_MAX - n) / sizeof(struct ref) : 0;
}

/* header: empty where there is none. */
static void table_add(struct unwind_table *t, struct blobframes *s, struct cfi c, struct cfi header)
{
	struct found f = { .max = refs_max(t->size + c.bytes.n) };

	c.processor = t->processor;
	find_by_header(&f, &c, &header);
	if (f.n == 0)
		unwindtable_find_all(&f, &c);
	found_sort(&f);
	if (!t->elf.processor && f.n) {
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
		t->recent->memory_max = t->image ? IMAGE_ROWS_MAX : ROWS_MAX;
		*why = NULL;
		return t;
	}
	*why = t->elf.large ? unwind_table_too_large : "no call frame information";
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

const char unwind_table_too_large[] = "more call frame information than is read of one file";

/* Read, not mapped: a mapping of a file that shrinks kills its reader. */
struct unwind_table *unwind_table_open(int fd, const char **why)
{
	struct unwind_table *t = mem_alloc(sizeof(*t), 1);
	const struct unwind_elf *e = &t->elf;

	*why = unwind_elf_read(&t->elf, fd);
	if (fd >= 0)
		close(fd);
	if (*why) {
		unwind_table_close(t);
		return NULL;
	}
	t->processor = e->processor;
	t->base = e->base;
	t->end = e->end;
	t->load = e->load;
	t->nloads = e->nloads;
	memcpy(t->plt, e->plt, sizeof(t->plt));
	t->nplts = e->nplts;
	table_add(t, &t->frames[0], e->eh_frame, e->header);
	table_add(t, &t->frames[1], e->debug_frame, (struct cfi){ 0 });
	return table_ready(t, why);
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

static uint64_t unwindtable_place(uint64_t *at, uint64_t n)
{
	uint64_t here = *at;

	*at += (n + 7) & ~UINT64_C(7);
	return here;
}

static struct image unwindtable_layout(const struct unwind_table *t)
{
	struct image i = { .base = t->base, .end = t->end, .nloads = t->nloads, .nplts = t->nplts };
	uint64_t at = sizeof(i);

	memcpy(i.magic, image_magic, sizeof(i.magic));
	i.magic[7] = t->processor->link ? 'a' : i.magic[7];
	i.loads = unwindtable_place(&at, t->nloads * sizeof(*t->load));
	i.plts = unwindtable_place(&at, t->nplts * sizeof(*t->plt));
	for (unsigned k = 0; k < countof(i.part); k++) {
		const struct blobframes *f = &t->frames[k];
		struct part *p = &i.part[k];

		*p = (struct part){ .address = f->cfi.address, .nbytes = f->n ? f->cfi.bytes.n : 0, .nrefs = f->n };
		p->bytes = unwindtable_place(&at, p->nbytes);
		p->refs = unwindtable_place(&at, p->nrefs * sizeof(*f->ref));
	}
	i.size = at;
	return i;
}

/* lseek and write: the process that makes images may not call pwrite (sandbox.h). */
static bool unwindtable_put(int fd, const void *p, uint64_t n, uint64_t at)
{
	while (n) {
		ssize_t done = lseek(fd, (off_t)at, SEEK_SET) < 0 ? -1 : write(fd, p, n);

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
	struct image i = unwindtable_layout(t);
	bool ok = ftruncate(fd, (off_t)i.size) == 0 && unwindtable_put(fd, &i, sizeof(i), 0) &&
		  unwindtable_put(fd, t->load, i.nloads * sizeof(*t->load), i.loads) &&
		  unwindtable_put(fd, t->plt, i.nplts * sizeof(*t->plt), i.plts);

	for (unsigned k = 0; k < countof(i.part) && ok; k++)
		ok = unwindtable_put(fd, t->frames[k].cfi.bytes.p, i.part[k].nbytes, i.part[k].bytes) &&
		     unwindtable_put(fd, t->frames[k].ref, i.part[k].nrefs * sizeof(struct ref), i.part[k].refs);
	return ok;
}

static bool unwindtable_within(const struct image *i, uint64_t at, uint64_t n, uint64_t each)
{
	return at % 8 == 0 && at <= i->size && n <= (i->size - at) / each;
}

static bool is_image(const struct image *i, uint64_t size)
{
	bool ok = size >= sizeof(*i) && memcmp(i->magic, image_magic, 7) == 0 &&
		  (i->magic[7] == image_magic[7] || i->magic[7] == 'a') && i->size == size &&
		  i->nplts <= UNWIND_PLTS_MAX && i->end - i->base <= UINT32_MAX &&
		  unwindtable_within(i, i->loads, i->nloads, sizeof(struct unwind_load)) &&
		  unwindtable_within(i, i->plts, i->nplts, sizeof(struct unwind_plt));

	for (unsigned k = 0; k < countof(i->part) && ok; k++)
		ok = i->part[k].nbytes <= UINT32_MAX && i->part[k].nrefs <= UINT32_MAX &&
		     unwindtable_within(i, i->part[k].bytes, i->part[k].nbytes, 1) &&
		     unwindtable_within(i, i->part[k].refs, i->part[k].nrefs, sizeof(struct ref));
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

		t->frames[k] = (struct blobframes){
			.cfi = { { first + p->bytes, p->nbytes }, p->address, k == 1, t->processor },
			.n = (uint32_t)p->nrefs,
			.ref = (void *)(first + p->refs),
			.rows = mem_alloc(sizeof(_Atomic(struct cfi_rows *)), p->nrefs)
		};
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

bool unwind_table_is_same(const struct unwind_table *a, const struct unwind_table *b)
{
	return a->image && b->image && a->size == b->size && memcmp(a->image, b->image, a->size) == 0;
}

size_t unwind_table_bytes(const struct unwind_table *t)
{
	return sizeof(*t) + sizeof(*t->recent) + t->size + (t->frames[0].n + t->frames[1].n) * sizeof(void *) +
	       atomic_load_explicit(&t->recent->memory, memory_order_relaxed);
}

/* ---- the life of a table ---- */

/* The segment whose pages are mapped at `offset`. lld's segments share a page of the file: then it is that of code. */
static const struct unwind_load *load_of(const struct unwind_table *t, uint64_t offset, bool code)
{
	enum { PAGE = 4096 };

	for (size_t i = 0; i < t->nloads; i++) {
		const struct unwind_load *l = &t->load[i];
		uint64_t before = l->offset % PAGE;

		if (!l->code == !code && offset - (l->offset - before) < l->size + before)
			return l;
	}
	return NULL;
}

bool unwind_table_bias(const struct unwind_table *t, uint64_t start, uint64_t offset, uint64_t *bias)
{
	const struct unwind_load *l = load_of(t, offset, true);

	if (!l)
		l = load_of(t, offset, false);
	if (l)
		*bias = start - (l->address + (offset - l->offset));
	return l;
}

static void rows_free(struct blobframes *s)
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
	unwind_elf_free(&t->elf);
	if (t->image) {
		munmap(t->image, t->size);
	} else {
		free(t->frames[0].ref);
		free(t->frames[1].ref);
	}
	free(t->recent);
	free(t);
}

/* ---- look-up ---- */

/* The rows of an entry, within the limits of the table; NULL beyond them, or if it has none. */
static struct cfi_rows *make_rows(const struct blobframes *s, struct recent *r, uint64_t base,
				  const struct cfi_entry *e)
{
	size_t n = e->initial.n + e->program.n + sizeof(*e), max = ROWS_SOME + ROWS_TIMES * s->cfi.bytes.n;
	struct cfi_rows *rows;

	if (atomic_fetch_add(&r->effort, n) > EFFORT_SOME + EFFORT_TIMES * s->cfi.bytes.n)
		return NULL;
	rows = cfi_rows_of(&s->cfi, e, base);
	if (!rows || atomic_fetch_add(&r->memory, cfi_rows_memory(rows)) <= (max < r->memory_max ? max : r->memory_max))
		return rows;
	atomic_fetch_sub(&r->memory, cfi_rows_memory(rows));
	cfi_rows_free(rows);
	atomic_store(&r->full, max >= r->memory_max);
	return NULL;
}

bool unwind_table_is_full(const struct unwind_table *t)
{
	return atomic_load_explicit(&t->recent->full, memory_order_relaxed);
}

/* The rows of FDE i, made now if nobody did. What has none gets an empty entry. */
static const struct cfi_rows *unwindtable_rows_of(const struct blobframes *s, struct recent *r, uint64_t base, size_t i)
{
	struct cfi_rows *rows = atomic_load_explicit(&s->rows[i], memory_order_acquire), *first = NULL;
	struct cfi_entry e;
	size_t next;

	if (likely(rows))
		return rows;
	if (cfi_entry_at(&s->cfi, s->ref[i].at, &e, &next) == CFI_FDE)
		rows = make_rows(s, r, base, &e);
	if (!rows)
		rows = mem_alloc(1, sizeof(*rows));
	if (atomic_compare_exchange_strong(&s->rows[i], &first, rows))
		return rows;
	cfi_rows_free(rows); /* another thread was faster */
	return first;
}

static const struct cfi_row *frames_row(const struct blobframes *s, struct recent *r, uint64_t base, uint32_t address)
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
	rows = unwindtable_rows_of(s, r, base, low);
	return rows->n ? cfi_row_at(rows, address) : NULL;
}

/* The first entry of aarch64 pushes, the others touch nothing. System V ABI AMD64 section 5.2: the first entry pushes
 * a second word, the others push one before their second jump. */
static const struct cfi_row *plt_row(const struct unwind_table *t, uint64_t address)
{
	static const struct cfi_row row[] = {
		{ .reg = CFI_RSP, .cfa = 8, .ra = CFI_RA },
		{ .reg = CFI_RSP, .cfa = 16, .ra = CFI_RA },
		{ .reg = CFI_RSP, .cfa = 24, .ra = CFI_RA },
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
