/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/dwarf/unwindtable.h"

#include "common/arena.h"
#include "common/hash.h"
#include "unwind/dwarf/unwindelf.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* One section of call frame information, with its FDEs sorted by start address. Offsets have 32 bits, because larger
 * sections than UNWIND_TABLE_MAX bytes are not indexed. */
struct section_fdes {
	struct cfi cfi;
	uint32_t n;
	struct ref {
		uint32_t start; /* start address of the FDE's code relative to the table's base */
		uint32_t at;    /* offset of the FDE in the section */
	} * ref;
	_Atomic(struct cfi_rows *) *rows; /* rows of each FDE, by index in `ref`; NULL if not decoded yet */
};

/* the cache of rows has 2^SLOT_BITS slots */
enum { SLOT_BITS = 12 };

/* Limits for the memory of decoded rows, in bytes. Rows of a section are refused if all rows of the table would exceed
 * ROWS_SOME plus ROWS_TIMES times the size of the section, or ROWS_MAX. Reason: one byte of CFI instructions can cause
 * a row of 300 bytes; compilers' instructions cause 8 bytes of rows each if all are decoded. A table from an image has
 * the limit IMAGE_ROWS_MAX, because the process that uses it runs for months; that process closes a full table and
 * loads it again (unwind_table_is_full). */
enum { ROWS_SOME = 1 << 20, ROWS_TIMES = 16, ROWS_MAX = 64 << 20, IMAGE_ROWS_MAX = 8 << 20 };

/* Limit for the bytes of CFI instructions that are executed for a table: EFFORT_SOME plus EFFORT_TIMES times the size
 * of the section of the FDE. Reason: a long program of instructions can serve many FDEs. */
enum { EFFORT_SOME = 4 << 20, EFFORT_TIMES = 4 };

/* Cache of rows that lookups found, hashed by address, and counters for the limits. A slot has only a pointer, because
 * the row has its own address range. */
struct recent {
	_Atomic(const struct cfi_row *) slot[1 << SLOT_BITS];
	atomic_size_t memory; /* bytes of memory of all decoded rows */
	atomic_size_t effort; /* bytes of CFI instructions executed so far */
	atomic_bool full;     /* true if a row was refused because of memory_max */
	/* limit for `memory`: ROWS_MAX or IMAGE_ROWS_MAX */
	size_t memory_max;
};

struct unwind_table {
	struct unwind_elf elf; /* owns the bytes of the sections; zero if the caller or `image` owns them */
	struct image *image;   /* mapped image, which has all constant data; NULL if the table is not from an image */
	size_t size;           /* size in bytes of the image, or of the sections and of the references to FDEs */
	const struct processor *processor;
	uint64_t base, end;            /* addresses that may have rows: [base, end) */
	struct section_fdes frames[2]; /* [0]: .eh_frame, [1]: .debug_frame */
	struct unwind_plt plt[UNWIND_PLTS_MAX];
	unsigned nplts;
	/* true if all functions without FDE that call others keep frame pointers (Go) */
	bool keeps_frame_pointers;
	/* true if all FDEs of .debug_frame are those of Go functions (unwind_elf.go_frames) */
	bool go_frames;
	uint64_t entry;           /* address of the program's first instruction; 0 if unknown */
	struct unwind_load *load; /* nloads segments of the file */
	size_t nloads;
	struct recent *recent;
};

/* ---- index of FDEs ---- */

/* FDEs found in a section: start address of the code, and offset in the section. They are sorted by start address, then
 * by offset. */
struct found {
	struct fde {
		uint64_t start, at;
	} * fde;
	size_t n, cap, max; /* max: maximum of n; further FDEs are left out */
};

static void found_add(struct found *found, uint64_t start, uint64_t at)
{
	if (found->n == found->max)
		return;
	if (found->n == found->cap) {
		found->cap = found->cap ? 2 * found->cap : 256;
		found->fde = mem_grow(found->fde, sizeof(*found->fde), found->cap);
	}
	found->fde[found->n++] = (struct fde){ start, at };
}

static void unwindtable_find_all(struct found *found, const struct cfi *cfi)
{
	struct cfi_entry entry;
	size_t next;

	for (size_t at = 0; at < cfi->bytes.n && found->n < found->max; at = next)
		if (cfi_entry_at(cfi, at, &entry, &next) == CFI_FDE && entry.length)
			found_add(found, entry.start, at);
}

/* Finds the FDEs of a section by the sorted table that linkers put into .eh_frame_hdr. Its entries are {start address,
 * address of the FDE}, 4 bytes each, relative to .eh_frame_hdr. Finds no FDE if the header has another form. */
static void find_by_header(struct found *found, const struct cfi *cfi, const struct cfi *header)
{
	enum { TABLE = 0x3b };
	struct dwarf_bytes bytes = dwarf_bytes_of(header->bytes);
	uint64_t version = dwarf_uint(&bytes, 1), count;
	uint8_t frame = (uint8_t)dwarf_uint(&bytes, 1), number = (uint8_t)dwarf_uint(&bytes, 1),
		table = (uint8_t)dwarf_uint(&bytes, 1);

	cfi_pointer(&bytes, frame, 0, 0);
	count = cfi_pointer(&bytes, number, 0, 0);
	if (bytes.bad || version != 1 || table != TABLE || count > dwarf_left(&bytes) / 8 || count > found->max)
		return;
	found->fde = mem_grow(NULL, sizeof(*found->fde), count);
	found->cap = count;
	while (count--) {
		uint64_t start = header->address + dwarf_sint(&bytes, 4);
		uint64_t at = header->address + dwarf_sint(&bytes, 4) - cfi->address;

		if (at < cfi->bytes.n)
			found_add(found, start, at);
	}
}

static int fde_compare(const void *a, const void *b)
{
	const struct fde *fde = a, *y = b;

	if (fde->start != y->start)
		return fde->start < y->start ? -1 : 1;
	return fde->at < y->at ? -1 : fde->at > y->at;
}

static void found_sort(struct found *found)
{
	for (size_t i = 1; i < found->n; i++) {
		if (found->fde[i - 1].start > found->fde[i].start) {
			qsort(found->fde, found->n, sizeof(*found->fde), fde_compare);
			return;
		}
	}
}

/* Fills the index of a section. Skips FDEs outside of the file's code, [base, end): they are left from functions that
 * the linker dropped. */
static void frames_set(struct section_fdes *frames, const struct cfi *cfi, const struct found *found, uint64_t base,
		       uint64_t end)
{
	frames->cfi = *cfi;
	frames->ref = mem_alloc(sizeof(*frames->ref), found->n);
	for (size_t i = 0; i < found->n; i++)
		if (found->fde[i].start >= base && found->fde[i].start < end)
			frames->ref[frames->n++] =
				(struct ref){ (uint32_t)(found->fde[i].start - base), (uint32_t)found->fde[i].at };
	frames->rows = mem_alloc(sizeof(*frames->rows), frames->n);
}

/* Returns the maximum number of FDEs of a table whose sections have n bytes. Sections and references to FDEs must fit
 * into an image together. */
static size_t refs_max(size_t n)
{
	return n < UNWIND_TABLE_MAX ? (UNWIND_TABLE_MAX - n) / sizeof(struct ref) : 0;
}

/* Adds a section and its index to the table. header: .eh_frame_hdr of the file; empty if there is none. */
static void table_add(struct unwind_table *table, struct section_fdes *frames, struct cfi cfi, struct cfi header)
{
	struct found found = { .max = refs_max(table->size + cfi.bytes.n) };

	cfi.processor = table->processor;
	find_by_header(&found, &cfi, &header);
	if (found.n == 0)
		unwindtable_find_all(&found, &cfi);
	found_sort(&found);
	if (!table->elf.processor && found.n) {
		table->base = found.fde[0].start;
		table->end = table->base > UINT64_MAX - UINT32_MAX ? UINT64_MAX : table->base + UINT32_MAX;
	}
	frames_set(frames, &cfi, &found, table->base, table->end);
	table->size += cfi.bytes.n + frames->n * sizeof(*frames->ref);
	free(found.fde);
}

/* Completes a table. If it has no FDE and its code is not known to keep frame pointers, closes it and returns NULL and
 * *why. */
static struct unwind_table *table_ready(struct unwind_table *table, const char **why)
{
	if (table->frames[0].n + table->frames[1].n || table->keeps_frame_pointers) {
		table->recent = mem_alloc(sizeof(*table->recent), 1);
		table->recent->memory_max = table->image ? IMAGE_ROWS_MAX : ROWS_MAX;
		*why = NULL;
		return table;
	}
	*why = table->elf.large ? unwind_table_too_large : "no call frame information";
	unwind_table_close(table);
	return NULL;
}

struct unwind_table *unwind_table_memory(struct str eh_frame, uint64_t address, const char **why)
{
	struct unwind_table *table = mem_alloc(sizeof(*table), 1);

	table->processor = &processor_x86_64;
	table_add(table, &table->frames[0], (struct cfi){ .bytes = eh_frame, .address = address }, (struct cfi){ 0 });
	return table_ready(table, why);
}

/* ---- table of an ELF file ---- */

const char unwind_table_too_large[] = "call frame information exceeds the limit for one file";

/* The file is read, not mapped: if a mapped file shrinks, access to the mapping kills the reader. */
struct unwind_table *unwind_table_open(int fd, const char **why)
{
	struct unwind_table *table = mem_alloc(sizeof(*table), 1);
	const struct unwind_elf *elf = &table->elf;

	*why = unwind_elf_read(&table->elf, fd);
	if (fd >= 0)
		close(fd);
	if (*why) {
		unwind_table_close(table);
		return NULL;
	}
	table->processor = elf->processor;
	table->base = elf->base;
	table->end = elf->end;
	table->load = elf->load;
	table->nloads = elf->nloads;
	memcpy(table->plt, elf->plt, sizeof(table->plt));
	table->nplts = elf->nplts;
	table->keeps_frame_pointers = elf->go && !elf->processor->link;
	table->go_frames = elf->go_frames;
	table->entry = elf->entry;
	table_add(table, &table->frames[0], elf->eh_frame, elf->header);
	table_add(table, &table->frames[1], elf->debug_frame, (struct cfi){ 0 });
	return table_ready(table, why);
}

/* ---- images of tables ---- */

/* Header of an image, which another process maps. loads, plts and the offsets in `part` count from the first byte of
 * the image and are multiples of 8. */
struct image {
	char magic[8]; /* image_magic, with 'a' as the last byte on aarch64 */
	uint64_t size, base, end;
	uint64_t loads, nloads, plts, nplts;
	uint64_t go; /* mask of GO_KEEPS_FRAME_POINTERS and GO_FRAMES */
	uint64_t entry;
	/* .eh_frame and .debug_frame: address of the section; offset and number of its bytes; offset and number of its
	 * struct ref */
	struct part {
		uint64_t address, bytes, nbytes, refs, nrefs;
	} part[2];
};

/* Bits of image.go: unwind_table.keeps_frame_pointers and unwind_table.go_frames. */
enum { GO_KEEPS_FRAME_POINTERS = 1, GO_FRAMES = 2 };

static const char image_magic[8] = "pjtable1";

static uint64_t unwindtable_place(uint64_t *at, uint64_t n)
{
	uint64_t here = *at;

	*at += (n + 7) & ~UINT64_C(7);
	return here;
}

static struct image unwindtable_layout(const struct unwind_table *table)
{
	struct image i = { .base = table->base,
			   .end = table->end,
			   .nloads = table->nloads,
			   .nplts = table->nplts,
			   .go = (table->keeps_frame_pointers ? GO_KEEPS_FRAME_POINTERS : 0) |
				 (table->go_frames ? GO_FRAMES : 0),
			   .entry = table->entry };
	uint64_t at = sizeof(i);

	memcpy(i.magic, image_magic, sizeof(i.magic));
	i.magic[7] = table->processor->link ? 'a' : i.magic[7];
	i.loads = unwindtable_place(&at, table->nloads * sizeof(*table->load));
	i.plts = unwindtable_place(&at, table->nplts * sizeof(*table->plt));
	for (unsigned index = 0; index < countof(i.part); index++) {
		const struct section_fdes *frames = &table->frames[index];
		struct part *part = &i.part[index];

		*part = (struct part){ .address = frames->cfi.address,
				       .nbytes = frames->n ? frames->cfi.bytes.n : 0,
				       .nrefs = frames->n };
		part->bytes = unwindtable_place(&at, part->nbytes);
		part->refs = unwindtable_place(&at, part->nrefs * sizeof(*frames->ref));
	}
	i.size = at;
	return i;
}

/* Writes n bytes at file offset `at` of fd. Uses lseek and write, because the sandbox of the parser (sandbox.h) forbids
 * pwrite. Returns false and sets errno on failure. */
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

bool unwind_table_save(const struct unwind_table *table, int fd)
{
	struct image i = unwindtable_layout(table);
	bool valid = ftruncate(fd, (off_t)i.size) == 0 && unwindtable_put(fd, &i, sizeof(i), 0) &&
		     unwindtable_put(fd, table->load, i.nloads * sizeof(*table->load), i.loads) &&
		     unwindtable_put(fd, table->plt, i.nplts * sizeof(*table->plt), i.plts);

	for (unsigned index = 0; index < countof(i.part) && valid; index++)
		valid = unwindtable_put(fd, table->frames[index].cfi.bytes.p, i.part[index].nbytes,
					i.part[index].bytes) &&
			unwindtable_put(fd, table->frames[index].ref, i.part[index].nrefs * sizeof(struct ref),
					i.part[index].refs);
	return valid;
}

static bool unwindtable_within(const struct image *i, uint64_t at, uint64_t n, uint64_t each)
{
	return at % 8 == 0 && at <= i->size && n <= (i->size - at) / each;
}

static bool is_image(const struct image *i, uint64_t size)
{
	bool valid = size >= sizeof(*i) && memcmp(i->magic, image_magic, 7) == 0 &&
		     (i->magic[7] == image_magic[7] || i->magic[7] == 'a') && i->size == size &&
		     i->nplts <= UNWIND_PLTS_MAX && i->end - i->base <= UINT32_MAX &&
		     unwindtable_within(i, i->loads, i->nloads, sizeof(struct unwind_load)) &&
		     unwindtable_within(i, i->plts, i->nplts, sizeof(struct unwind_plt));

	for (unsigned index = 0; index < countof(i->part) && valid; index++)
		valid = i->part[index].nbytes <= UINT32_MAX && i->part[index].nrefs <= UINT32_MAX &&
			unwindtable_within(i, i->part[index].bytes, i->part[index].nbytes, 1) &&
			unwindtable_within(i, i->part[index].refs, i->part[index].nrefs, sizeof(struct ref));
	return valid;
}

static struct unwind_table *table_of_image(struct image *i)
{
	struct unwind_table *table = mem_alloc(sizeof(*table), 1);
	char *first = (char *)i;

	table->image = i;
	table->processor = i->magic[7] == 'a' ? &processor_aarch64 : &processor_x86_64;
	table->size = i->size;
	table->base = i->base;
	table->end = i->end;
	table->load = (void *)(first + i->loads);
	table->nloads = i->nloads;
	memcpy(table->plt, first + i->plts, i->nplts * sizeof(*table->plt));
	table->nplts = (unsigned)i->nplts;
	table->keeps_frame_pointers = i->go & GO_KEEPS_FRAME_POINTERS;
	table->go_frames = i->go & GO_FRAMES;
	table->entry = i->entry;
	for (unsigned index = 0; index < countof(i->part); index++) {
		const struct part *part = &i->part[index];

		table->frames[index] = (struct section_fdes){
			.cfi = { { first + part->bytes, part->nbytes }, part->address, index == 1, table->processor },
			.n = (uint32_t)part->nrefs,
			.ref = (void *)(first + part->refs),
			.rows = mem_alloc(sizeof(_Atomic(struct cfi_rows *)), part->nrefs)
		};
	}
	return table;
}

struct unwind_table *unwind_table_load(int fd, const char **why)
{
	struct stat status;
	void *p = MAP_FAILED;

	*why = "not an image of an unwind table";
	if (fstat(fd, &status) == 0 && status.st_size >= (off_t)sizeof(struct image))
		p = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return NULL;
	if (is_image(p, (uint64_t)status.st_size))
		return table_ready(table_of_image(p), why);
	munmap(p, (size_t)status.st_size);
	return NULL;
}

bool unwind_table_is_same(const struct unwind_table *table, const struct unwind_table *b)
{
	return table->image && b->image && table->size == b->size && memcmp(table->image, b->image, table->size) == 0;
}

uint64_t unwind_table_hash(const struct unwind_table *table)
{
	return table->image ? hash_bytes(table->image, table->size) : 0;
}

bool unwind_table_keeps_frame_pointers(const struct unwind_table *table)
{
	return table->keeps_frame_pointers;
}

bool unwind_table_is_start(const struct unwind_table *table, uint64_t address)
{
	/* size in bytes of the code from e_entry on that is treated as the first code of a program; _start and
	 * _dl_start_user (which calls constructors) of ld.so have 60 */
	enum { START = 256 };

	return table->entry && address - table->entry < START;
}

size_t unwind_table_bytes(const struct unwind_table *table)
{
	return sizeof(*table) + sizeof(*table->recent) + table->size +
	       (table->frames[0].n + table->frames[1].n) * sizeof(void *) +
	       atomic_load_explicit(&table->recent->memory, memory_order_relaxed);
}

/* ---- mappings of the file, closing a table ----------------------------------------------------------------------- */

/* Returns the segment whose pages are mapped at file offset `offset`, or NULL. With lld two segments may share a page
 * of the file; `code` selects the executable segment or the other one. */
static const struct unwind_load *load_of(const struct unwind_table *table, uint64_t offset, bool code)
{
	enum { PAGE = 4096 };

	for (size_t i = 0; i < table->nloads; i++) {
		const struct unwind_load *load = &table->load[i];
		uint64_t before = load->offset % PAGE;

		if (!load->code == !code && offset - (load->offset - before) < load->size + before)
			return load;
	}
	return NULL;
}

bool unwind_table_bias(const struct unwind_table *table, uint64_t start, uint64_t offset, uint64_t *bias)
{
	const struct unwind_load *load = load_of(table, offset, true);

	if (!load)
		load = load_of(table, offset, false);
	if (load)
		*bias = start - (load->address + (offset - load->offset));
	return load;
}

static void rows_free(struct section_fdes *frames)
{
	for (uint32_t i = 0; i < frames->n; i++)
		cfi_rows_free(atomic_load_explicit(&frames->rows[i], memory_order_relaxed));
	free(frames->rows);
}

void unwind_table_close(struct unwind_table *table)
{
	if (!table)
		return;
	rows_free(&table->frames[0]);
	rows_free(&table->frames[1]);
	unwind_elf_free(&table->elf);
	if (table->image) {
		munmap(table->image, table->size);
	} else {
		free(table->frames[0].ref);
		free(table->frames[1].ref);
	}
	free(table->recent);
	free(table);
}

/* ---- lookup of rows ---------------------------------------------------------------------------------------------- */

/* Decodes the rows of an FDE. Returns NULL if the FDE has no rows, or if they exceed a limit of the table. */
static struct cfi_rows *make_rows(const struct section_fdes *frames, struct recent *recent, uint64_t base,
				  const struct cfi_entry *entry)
{
	size_t n = entry->initial.n + entry->program.n + sizeof(*entry),
	       max = ROWS_SOME + ROWS_TIMES * frames->cfi.bytes.n;
	struct cfi_rows *rows;

	if (atomic_fetch_add(&recent->effort, n) > EFFORT_SOME + EFFORT_TIMES * frames->cfi.bytes.n)
		return NULL;
	rows = cfi_rows_of(&frames->cfi, entry, base);
	if (!rows || atomic_fetch_add(&recent->memory, cfi_rows_memory(rows)) <=
			     (max < recent->memory_max ? max : recent->memory_max))
		return rows;
	atomic_fetch_sub(&recent->memory, cfi_rows_memory(rows));
	cfi_rows_free(rows);
	/* Sets `full` only if memory_max was the limit. A refusal by the lower limit of one section leaves `full`
	 * unchanged. */
	if (max >= recent->memory_max)
		atomic_store(&recent->full, true);
	return NULL;
}

bool unwind_table_is_full(const struct unwind_table *table)
{
	return atomic_load_explicit(&table->recent->full, memory_order_relaxed);
}

/* Returns the rows of FDE i. The first lookup decodes them. The result has n = 0 if the FDE has no rows, or if they
 * exceed a limit. */
static const struct cfi_rows *unwindtable_rows_of(const struct section_fdes *frames, struct recent *recent,
						  uint64_t base, size_t i)
{
	struct cfi_rows *rows = atomic_load_explicit(&frames->rows[i], memory_order_acquire), *first = NULL;
	struct cfi_entry entry;
	size_t next;

	if (likely(rows))
		return rows;
	if (cfi_entry_at(&frames->cfi, frames->ref[i].at, &entry, &next) == CFI_FDE)
		rows = make_rows(frames, recent, base, &entry);
	if (!rows)
		rows = mem_alloc(1, sizeof(*rows));
	if (atomic_compare_exchange_strong(&frames->rows[i], &first, rows))
		return rows;
	/* Another thread has stored rows of this FDE first: returns the rows of that thread. */
	cfi_rows_free(rows);
	return first;
}

/* Returns the index of the last FDE that starts at or below an address; 0 if all start above it. frames->n must not be
 * 0. */
static size_t fde_before(const struct section_fdes *frames, uint32_t address)
{
	size_t low = 0, n = frames->n;

	while (n > 1) {
		size_t half = n / 2;

		low = frames->ref[low + half].start <= address ? low + half : low;
		n -= half;
	}
	return low;
}

static const struct cfi_row *frames_row(const struct section_fdes *frames, struct recent *recent, uint64_t base,
					uint32_t address)
{
	const struct cfi_rows *rows;

	if (frames->n == 0)
		return NULL;
	rows = unwindtable_rows_of(frames, recent, base, fde_before(frames, address));
	return rows->n ? cfi_row_at(rows, address) : NULL;
}

/* Returns the row for an address in code without FDEs (PLT, .init, .fini), or NULL. On aarch64 all PLT entries
 * leave the stack unchanged, except the first one of a PLT with lazy binding, which pushes and gets no row. On x86-64
 * (System V ABI AMD64 section 5.2) the first entry pushes a second word, and all others push one word before their
 * second jump. */
static const struct cfi_row *plt_row(const struct unwind_table *table, uint64_t address)
{
	static const struct cfi_row row[] = {
		{ .reg = CFI_RSP, .cfa = 8, .ra = CFI_RA },
		{ .reg = CFI_RSP, .cfa = 16, .ra = CFI_RA },
		{ .reg = CFI_RSP, .cfa = 24, .ra = CFI_RA },
	};
	static const struct cfi_row linked = { .reg = CFI_RSP, .ra = CFI_RA, .flags = CFI_ROW_LINK };

	for (unsigned i = 0; i < table->nplts; i++) {
		uint64_t at = address - table->plt[i].start;

		if (at >= table->plt[i].size)
			continue;
		if (table->plt[i].pushed)
			return &row[at >= table->plt[i].pushed && at < table->plt[i].size - 1];
		if (table->processor->link)
			return at < 32 && table->plt[i].lazy ? NULL : &linked;
		if (!table->plt[i].lazy)
			return &row[0];
		return at < 16 ? &row[at < 6 ? 1 : 2] : &row[at % 16 >= 11];
	}
	return NULL;
}

const struct cfi_row *unwind_table_row(const struct unwind_table *table, uint64_t address)
{
	uint32_t at = (uint32_t)(address - table->base);
	_Atomic(const struct cfi_row *) *slot = &table->recent->slot[at * 0x9E3779B1U >> (32 - SLOT_BITS)];
	const struct cfi_row *row = atomic_load_explicit(slot, memory_order_acquire);

	if (address < table->base || address >= table->end)
		return NULL;
	if (likely(row && at - row->start < row->end - row->start))
		return row;
	row = frames_row(&table->frames[0], table->recent, table->base, at);
	if (!row)
		row = frames_row(&table->frames[1], table->recent, table->base, at);
	if (row)
		atomic_store_explicit(slot, row, memory_order_release);
	return row ? row : plt_row(table, address);
}

const struct cfi_row *unwind_table_go_row(const struct unwind_table *table, uint64_t address)
{
	uint32_t at = (uint32_t)(address - table->base);

	if (!table->elf.go_frames || address < table->base || address >= table->end ||
	    frames_row(&table->frames[0], table->recent, table->base, at))
		return NULL;
	return frames_row(&table->frames[1], table->recent, table->base, at);
}

/* The linker puts all Go functions of a program into one range, so code between two of them is Go's, too. */
bool unwind_table_changes_stack(const struct unwind_table *table, uint64_t address)
{
	const struct section_fdes *go = &table->frames[1];
	struct cfi_entry entry;
	size_t before, next;

	if (!table->go_frames || go->n == 0 || address < table->base || address >= table->end)
		return false;
	before = fde_before(go, (uint32_t)(address - table->base));
	/* an address inside of the FDE has no row if a limit refused it */
	return before + 1 < go->n && cfi_entry_at(&go->cfi, go->ref[before].at, &entry, &next) == CFI_FDE &&
	       address >= entry.start && address - entry.start >= entry.length && !unwind_table_row(table, address);
}
