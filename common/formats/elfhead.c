/* SPDX-License-Identifier: Apache-2.0 */
#include "common/formats/elfhead.h"

#include "common/files/fullio.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define NAMES_MAX (16u << 20)
/* limit for the bytes that are read of one note section or segment; the rest is ignored */
#define NOTES_MAX (64u << 10)
#define ALL_NOTES_MAX (1u << 20) /* limit for the bytes of notes that are read of one file; the rest is ignored */
#define BLOCK (64u << 10)
#define DENSE_MIN (1u << 20) /* sections of fewer bytes are read without a search for holes */

static size_t elfhead_read_file(const struct elfhead_source *source, uint64_t at, void *p, size_t n)
{
	if (at >= source->size)
		return 0;
	if (n > source->size - at)
		n = (size_t)(source->size - at);
	return fullio_pread(source->fd, p, n, at);
}

bool elfhead_file(struct elfhead_source *source, int fd)
{
	struct stat status;

	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
		return false;
	*source = (struct elfhead_source){ .read = elfhead_read_file, .fd = fd, .size = (uint64_t)status.st_size };
	return true;
}

static size_t elfhead_read_image(const struct elfhead_source *source, uint64_t at, void *p, size_t n)
{
	if (at >= source->size)
		return 0;
	if (n > source->size - at)
		n = (size_t)(source->size - at);
	memcpy(p, source->image + at, n);
	return n;
}

struct elfhead_source elfhead_image(struct str image)
{
	return (struct elfhead_source){ .read = elfhead_read_image, .fd = -1, .image = image.p, .size = image.n };
}

/* ---- 32-bit and 64-bit headers in one form ----------------------------------------------------------------------- */

static Elf64_Ehdr wide_header(const Elf32_Ehdr *h)
{
	Elf64_Ehdr w = { .e_type = h->e_type,
			 .e_machine = h->e_machine,
			 .e_version = h->e_version,
			 .e_entry = h->e_entry,
			 .e_phoff = h->e_phoff,
			 .e_shoff = h->e_shoff,
			 .e_flags = h->e_flags,
			 .e_ehsize = h->e_ehsize,
			 .e_phentsize = h->e_phentsize,
			 .e_phnum = h->e_phnum,
			 .e_shentsize = h->e_shentsize,
			 .e_shnum = h->e_shnum,
			 .e_shstrndx = h->e_shstrndx };

	memcpy(w.e_ident, h->e_ident, EI_NIDENT);
	return w;
}

static Elf64_Phdr segment_at(const struct elfhead *elfhead, const char *p)
{
	Elf64_Phdr w;
	Elf32_Phdr n;

	if (elfhead->wide) {
		memcpy(&w, p, sizeof(w));
		return w;
	}
	memcpy(&n, p, sizeof(n));
	return (Elf64_Phdr){ n.p_type, n.p_flags, n.p_offset, n.p_vaddr, n.p_paddr, n.p_filesz, n.p_memsz, n.p_align };
}

static Elf64_Shdr section_at(const struct elfhead *elfhead, const char *p)
{
	Elf64_Shdr w;
	Elf32_Shdr n;

	if (elfhead->wide) {
		memcpy(&w, p, sizeof(w));
		return w;
	}
	memcpy(&n, p, sizeof(n));
	return (Elf64_Shdr){ n.sh_name, n.sh_type, n.sh_flags, n.sh_addr,      n.sh_offset,
			     n.sh_size, n.sh_link, n.sh_info,  n.sh_addralign, n.sh_entsize };
}

void elfhead_put_section(const struct elfhead *elfhead, const Elf64_Shdr *section, void *to)
{
	Elf32_Shdr n = { section->sh_name,
			 section->sh_type,
			 (uint32_t)section->sh_flags,
			 (uint32_t)section->sh_addr,
			 (uint32_t)section->sh_offset,
			 (uint32_t)section->sh_size,
			 section->sh_link,
			 section->sh_info,
			 (uint32_t)section->sh_addralign,
			 (uint32_t)section->sh_entsize };

	if (elfhead->wide)
		memcpy(to, section, sizeof(*section));
	else
		memcpy(to, &n, sizeof(n));
}

const Elf64_Phdr *elfhead_segment(const struct elfhead *elfhead, uint64_t address)
{
	for (size_t i = 0; i < elfhead->segments; i++) {
		const Elf64_Phdr *segment = &elfhead->segment[i];

		if (segment->p_type == PT_LOAD && address >= segment->p_vaddr &&
		    address - segment->p_vaddr < segment->p_filesz)
			return segment;
	}
	return NULL;
}

size_t elfhead_section_size(const struct elfhead *elfhead)
{
	return elfhead->wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
}

size_t elfhead_symbol_size(const struct elfhead *elfhead)
{
	return elfhead->wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
}

/* ---- reading the headers ----------------------------------------------------------------------------------------- */

static const char *elfhead_read_header(struct elfhead *elfhead)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf64_Ehdr h64;
		Elf32_Ehdr h32;
	} u = { 0 };
	size_t n = elfhead_bytes(elfhead, 0, &u, sizeof(u));

	if (n < SELFMAG || memcmp(u.ident, ELFMAG, SELFMAG) != 0)
		return "not an ELF file";
	if (u.ident[EI_CLASS] != ELFCLASS64 && u.ident[EI_CLASS] != ELFCLASS32)
		return "an ELF file of an unknown class";
	if (u.ident[EI_DATA] != ELFDATA2LSB)
		return "an ELF file of another byte order";
	if (u.ident[EI_VERSION] != EV_CURRENT)
		return "an ELF file of an unknown version";
	elfhead->wide = u.ident[EI_CLASS] == ELFCLASS64;
	if (n < (elfhead->wide ? sizeof(u.h64) : sizeof(u.h32)))
		return "truncated";
	elfhead->header = elfhead->wide ? u.h64 : wide_header(&u.h32);
	return NULL;
}

/* Returns true if a table of n entries of `size` bytes each at file offset `at` lies within the file. */
static bool is_inside(const struct elfhead *elfhead, uint64_t at, uint64_t n, uint64_t size)
{
	return at <= elfhead->source.size && n * size <= elfhead->source.size - at;
}

/* Returns a copy of a table of n entries of `size` bytes each at file offset `at`, followed by a 0 byte, in the arena
 * of elfhead; NULL if the table is not within the file. */
static char *elfhead_read_table(struct elfhead *elfhead, uint64_t at, size_t n, size_t size)
{
	char *p;

	if (!is_inside(elfhead, at, n, size))
		return NULL;
	p = arena_alloc(&elfhead->arena, 1, n * size + 1);
	return elfhead_bytes(elfhead, at, p, n * size) == n * size ? p : NULL;
}

/* Sets the names of all sections from the string table, which is section `index`. Tens of thousands of sections may
 * share one long name; so a name without a NUL within ELFHEAD_NAME_MAX bytes is treated as empty. */
static void elfhead_read_names(struct elfhead *elfhead, uint64_t index)
{
	const Elf64_Shdr *section = &elfhead->section[index];
	struct str text = { 0 };

	if (index == 0 || index >= elfhead->sections || section->sh_type == SHT_NOBITS || section->sh_size > NAMES_MAX)
		return;
	text.n = (size_t)section->sh_size;
	text.p = elfhead_is_dense(elfhead, section->sh_offset, section->sh_size) ?
			 elfhead_read_table(elfhead, section->sh_offset, text.n, 1) :
			 NULL;
	for (size_t i = 0; text.p && i < elfhead->sections; i++) {
		struct str rest =
			str_from(text, elfhead->section[i].sh_name < text.n ? elfhead->section[i].sh_name : text.n);
		const char *end =
			rest.n ? memchr(rest.p, 0, rest.n < ELFHEAD_NAME_MAX ? rest.n : ELFHEAD_NAME_MAX) : NULL;

		if (end)
			elfhead->name[i] = (struct str){ rest.p, (size_t)(end - rest.p) };
	}
}

/* Reads the section headers and names. Returns NULL on success, or the reason why the file cannot be used. If the
 * number of sections, or the index of the section with the names, does not fit into the ELF header, section 0 contains
 * it. */
static const char *elfhead_read_sections(struct elfhead *elfhead)
{
	size_t size = elfhead_section_size(elfhead);
	uint64_t n = elfhead->header.e_shnum, names = elfhead->header.e_shstrndx;
	Elf64_Shdr first;
	char *table;

	if (elfhead->header.e_shoff == 0)
		return NULL;
	if (elfhead->header.e_shnum && elfhead->header.e_shentsize != size)
		return "an ELF file with headers of an unknown size";
	table = elfhead_read_table(elfhead, elfhead->header.e_shoff, 1, size);
	if (!table)
		return "truncated";
	first = section_at(elfhead, table);
	n = n ? n : first.sh_size;
	names = names == SHN_XINDEX ? first.sh_link : names;
	if (n > ELFHEAD_SECTIONS_MAX)
		return "an ELF file with too many sections";
	table = elfhead_read_table(elfhead, elfhead->header.e_shoff, (size_t)n, size);
	if (!table)
		return "truncated";
	elfhead->sections = (size_t)n;
	elfhead->section = arena_new(&elfhead->arena, Elf64_Shdr, n + 1);
	elfhead->name = arena_new(&elfhead->arena, struct str, n + 1);
	for (size_t i = 0; i < n; i++)
		elfhead->section[i] = section_at(elfhead, table + i * size);
	elfhead_read_names(elfhead, names);
	return NULL;
}

static const char *read_segments(struct elfhead *elfhead)
{
	size_t size = elfhead->wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr), n = elfhead->header.e_phnum;
	char *table;

	if (n > ELFHEAD_SEGMENTS_MAX)
		return "an ELF file with too many segments";
	if (n == 0)
		return NULL;
	if (elfhead->header.e_phentsize != size)
		return "an ELF file with headers of an unknown size";
	table = elfhead_read_table(elfhead, elfhead->header.e_phoff, n, size);
	if (!table)
		return "truncated";
	elfhead->segments = n;
	elfhead->segment = arena_new(&elfhead->arena, Elf64_Phdr, n);
	for (size_t i = 0; i < n; i++)
		elfhead->segment[i] = segment_at(elfhead, table + i * size);
	return NULL;
}

const char *elfhead_read(struct elfhead *elfhead, const struct elfhead_source *source, bool sections)
{
	const char *why;

	*elfhead = (struct elfhead){ .source = *source };
	why = elfhead_read_header(elfhead);
	if (!why)
		why = read_segments(elfhead);
	if (!why && sections)
		why = elfhead_read_sections(elfhead);
	return why;
}

void elfhead_free(struct elfhead *elfhead)
{
	arena_free(&elfhead->arena);
}

/* ---- build-id of the file ---------------------------------------------------------------------------------------- */

/* Returns the build-id in n bytes of notes at offset or address `at`; its n is 0 if there is none. notes: buffer of
 * NOTES_MAX bytes. *left: number of bytes of notes that may still be read of this file. */
static struct build_id id_at(const struct elfhead *elfhead, uint64_t at, uint64_t n, char *notes, size_t *left)
{
	size_t max = *left < NOTES_MAX ? *left : NOTES_MAX, size = n < max ? (size_t)n : max;

	*left -= size;
	return buildid_in_notes((struct str){ notes, elfhead_bytes(elfhead, at, notes, size) });
}

struct build_id elfhead_build_id(const struct elfhead *elfhead, bool memory)
{
	char *notes = mem_alloc(1, NOTES_MAX);
	size_t left = ALL_NOTES_MAX;
	struct build_id id = { 0 };

	for (size_t i = 0; i < elfhead->segments && !id.n; i++) {
		const Elf64_Phdr *p = &elfhead->segment[i];

		if (p->p_type == PT_NOTE)
			id = id_at(elfhead, memory ? p->p_vaddr : p->p_offset, p->p_filesz, notes, &left);
	}
	/* a linker script may leave the note out of all segments, so the sections are searched, too */
	for (size_t i = 1; i < elfhead->sections && !id.n; i++) {
		const Elf64_Shdr *section = &elfhead->section[i];

		if (section->sh_type == SHT_NOTE)
			id = id_at(elfhead, section->sh_offset, section->sh_size, notes, &left);
	}
	free(notes);
	return id;
}

/* ---- bytes of sections ------------------------------------------------------------------------------------------ */

bool elfhead_is_dense(const struct elfhead *elfhead, uint64_t at, uint64_t n)
{
	off_t hole;

	if (n < DENSE_MIN || elfhead->source.image || elfhead->source.size == UINT64_MAX)
		return true;
	hole = lseek(elfhead->source.fd, (off_t)at, SEEK_HOLE);
	return hole < 0 || (uint64_t)hole >= at + n;
}

bool elfhead_inflate(const struct elfhead *elfhead, uint64_t at, uint64_t packed, char *to, uint64_t n)
{
	z_stream stream = { .next_out = (Bytef *)to };
	unsigned char *block = mem_alloc(1, BLOCK);
	int status = inflateInit(&stream) == Z_OK ? Z_OK : Z_MEM_ERROR;

	while (status == Z_OK && n && (packed || stream.avail_in)) {
		uInt max = n < 1u << 30 ? (uInt)n : 1u << 30;

		if (stream.avail_in == 0) {
			stream.next_in = block;
			stream.avail_in =
				(uInt)elfhead_bytes(elfhead, at, block, packed < BLOCK ? (size_t)packed : BLOCK);
			if (stream.avail_in == 0)
				break; /* the file became shorter after its size was read */
			at += stream.avail_in;
			packed -= stream.avail_in;
		}
		stream.avail_out = max;
		status = inflate(&stream, Z_NO_FLUSH);
		n -= max - stream.avail_out;
	}
	inflateEnd(&stream);
	free(block);
	return n == 0;
}

static struct str elfhead_inflated(const struct elfhead *elfhead, const Elf64_Shdr *section, struct arena *arena,
				   uint64_t max)
{
	union {
		Elf64_Chdr wide;
		Elf32_Chdr narrow;
	} c = { 0 };
	size_t head = elfhead->wide ? sizeof(c.wide) : sizeof(c.narrow);
	uint64_t n;
	char *p;

	if (section->sh_size < head || elfhead_bytes(elfhead, section->sh_offset, &c, head) < head)
		return (struct str){ 0 };
	n = elfhead->wide ? c.wide.ch_size : c.narrow.ch_size;
	/* refused: deflate compresses to 1/1032 at best, so a larger n cannot be the size of this section */
	if ((elfhead->wide ? c.wide.ch_type : c.narrow.ch_type) != ELFCOMPRESS_ZLIB || n == 0 || n > max ||
	    n / 1032 > section->sh_size)
		return (struct str){ 0 };
	p = arena_alloc(arena, 1, (size_t)n);
	return elfhead_inflate(elfhead, section->sh_offset + head, section->sh_size - head, p, n) ?
		       (struct str){ p, (size_t)n } :
		       (struct str){ 0 };
}

struct str elfhead_section(const struct elfhead *elfhead, const Elf64_Shdr *section, struct arena *arena, uint64_t max)
{
	char *p;

	if (section->sh_type == SHT_NOBITS || section->sh_size == 0 || section->sh_size > max ||
	    !is_inside(elfhead, section->sh_offset, section->sh_size, 1) ||
	    !elfhead_is_dense(elfhead, section->sh_offset, section->sh_size))
		return (struct str){ 0 };
	if (section->sh_flags & SHF_COMPRESSED)
		return elfhead_inflated(elfhead, section, arena, max);
	if (elfhead->source.image)
		return (struct str){ elfhead->source.image + section->sh_offset, (size_t)section->sh_size };
	p = arena_alloc(arena, 1, (size_t)section->sh_size);
	return (struct str){ p, elfhead_bytes(elfhead, section->sh_offset, p, (size_t)section->sh_size) };
}
