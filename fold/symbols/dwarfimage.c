/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/symbols/dwarfimage.h"

#include "unwind/dwarf/dwarfbytes.h"
#include "fold/perfdata/zstdstream.h"

#include <elf.h>
#include <stdlib.h>

/* Maximum size in bytes of all sections of an image; a file that needs more is refused. A browser's debug information
 * has 1 GB. */
#define BYTES_MAX ((uint64_t)2 << 30)
/* Maximum size in bytes of all abbreviation tables, each counted once for each unit that uses it; a file with more is
 * refused. */
#define ABBREVS_MAX ((uint64_t)256 << 20)
/* Maximum compression ratio of deflate, which zstd exceeds only for one repeated byte; a section with a larger ratio is
 * treated as damaged. */
#define RATIO_MAX 1032
#define GAP 32 /* alignment of sections in the image, and minimum number of zero bytes after each section */

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

enum { INFO, ABBREV, SECTIONS = 8 };

static const char *const names[SECTIONS] = {
	[INFO] = ".debug_info", [ABBREV] = ".debug_abbrev", ".debug_str",  ".debug_line_str",
	".debug_ranges",        ".debug_rnglists",          ".debug_addr", ".debug_str_offsets",
};

/* A section of the file, and its position in the image. */
struct part {
	uint64_t from, packed; /* from: offset in the file; packed: size in the file; both in bytes */
	uint64_t size;         /* size in bytes after decompression */
	uint64_t to;           /* offset of the section in the image */
	uint32_t method;       /* method of compression, ELFCOMPRESS_*; 0: not compressed */
};

/* ---- finding of sections ------------------------------------------------------------------------------------ */

/* Returns the section with this name, or NULL. old: true: find the section with a "z" in its name, for GNU compression
 * (.zdebug_info). split: true: find the section with ".dwo" at the end, for split units. */
static const struct elf_section *dwarfimage_find(const struct elffile *elffile, const char *name, bool old, bool split)
{
	char text[40] = "";
	struct str string = str_of(name);
	size_t n = 0;

	text[n++] = '.';
	if (old)
		text[n++] = 'z';
	memcpy(text + n, string.p + 1, string.n - 1);
	n += string.n - 1;
	if (split) {
		memcpy(text + n, ".dwo", 4);
		n += 4;
	}
	return elffile_section(elffile, (struct str){ text, n });
}

static bool dwarfimage_holds(const struct elffile *elffile, const struct elf_section *section)
{
	return section && section->type != SHT_NOBITS && section->size && section->offset <= elffile->size &&
	       section->size <= elffile->size - section->offset;
}

bool dwarfimage_has(const struct elffile *elffile, bool split)
{
	return dwarfimage_holds(elffile, dwarfimage_find(elffile, names[INFO], false, split)) ||
	       dwarfimage_holds(elffile, dwarfimage_find(elffile, names[INFO], true, split));
}

/* Reads method and decompressed size from the header of a compressed section, and moves part->from after the header.
 * old: true for GNU compression (.zdebug_*). Returns false if the header is damaged or the ratio exceeds RATIO_MAX. */
static bool dwarfimage_read_head(const struct elffile *elffile, struct part *part, bool old)
{
	union {
		Elf64_Chdr wide;
		Elf32_Chdr narrow;
		unsigned char old[12]; /* "ZLIB", then the decompressed size, big-endian */
	} h = { 0 };
	uint64_t head = old ? sizeof(h.old) : elffile->wide ? sizeof(h.wide) : sizeof(h.narrow);

	if (part->packed < head || elffile_read(elffile, part->from, &h, head) < head)
		return false;
	part->from += head;
	part->packed -= head;
	if (old) {
		if (memcmp(h.old, "ZLIB", 4) != 0)
			return false;
		part->method = ELFCOMPRESS_ZLIB;
		for (size_t i = 4; i < 12; i++)
			part->size = part->size << 8 | h.old[i];
	} else {
		part->method = elffile->wide ? h.wide.ch_type : h.narrow.ch_type;
		part->size = elffile->wide ? h.wide.ch_size : h.narrow.ch_size;
	}
	return part->size / RATIO_MAX <= part->packed;
}

static const char *find_part(const struct elffile *elffile, const char *name, bool split, struct part *part)
{
	const struct elf_section *section = dwarfimage_find(elffile, name, false, split);
	bool old = !section;

	*part = (struct part){ 0 };
	if (old)
		section = dwarfimage_find(elffile, name, true, split);
	if (!dwarfimage_holds(elffile, section))
		return NULL;
	part->from = section->offset;
	part->packed = section->size;
	if (!old && !(section->flags & SHF_COMPRESSED))
		part->size = section->size;
	else if (!dwarfimage_read_head(elffile, part, old))
		return "damaged";
	return elfhead_is_dense(&elffile->head, part->from, part->packed) ? NULL : "damaged";
}

/* ---- decompression of sections ------------------------------------------------------------------------------ */

static bool unpack_zstd(const struct elffile *elffile, const struct part *part, char *to)
{
	struct zstdstream zstdstream = { 0 };
	uint64_t from = part->from, left = part->packed, made = 0;
	char *block = mem_alloc(1, 1u << 16);
	bool good = true;

	while (good && left && made < part->size) {
		size_t n = elffile_read(elffile, from, block, left < 1u << 16 ? (size_t)left : 1u << 16), got;
		struct str packed = { block, n };
		bool more = true;

		if (n == 0)
			break;
		from += n;
		left -= n;
		while (good && more && made < part->size) {
			good = zstdstream_inflate(&zstdstream, &packed, to + made, part->size - made, &got, &more);
			made += got;
		}
	}
	zstdstream_free(&zstdstream);
	free(block);
	return made == part->size;
}

static const char *dwarfimage_unpack(const struct elffile *elffile, const struct part *part, char *to)
{
	switch (part->method) {
	case 0: return elffile_read(elffile, part->from, to, part->size) == part->size ? NULL : "truncated";
	case ELFCOMPRESS_ZLIB:
		return elfhead_inflate(&elffile->head, part->from, part->packed, to, part->size) ? NULL : "damaged";
	case ELFCOMPRESS_ZSTD:
		if (!perfzstd_here)
			return "compressed with zstd, and pjfold was built without it";
		return unpack_zstd(elffile, part, to) ? NULL : "damaged";
	default: return "compressed by an unknown method";
	}
}

/* ---- abbreviation tables that libdw would read too often ---------------------------------------------------- */

/* Returns the size in bytes of the abbreviation table at offset: up to its terminating 0 or the end of the section.
 * Stops counting at about max bytes. */
static uint64_t table_size(struct str abbrevs, uint64_t offset, uint64_t max)
{
	struct dwarf_bytes bytes;
	const uint8_t *from;

	if (offset >= abbrevs.n)
		return 0;
	bytes = dwarf_bytes_of(str_from(abbrevs, offset));
	from = bytes.p;
	while (dwarf_uleb(&bytes) && !bytes.bad && (uint64_t)(bytes.p - from) <= max) {
		uint64_t name, form;

		dwarf_uleb(&bytes);
		dwarf_take(&bytes, 1);
		do {
			name = dwarf_uleb(&bytes);
			form = dwarf_uleb(&bytes);
			if (form == 0x21) /* DW_FORM_implicit_const: its value follows in the table */
				dwarf_sleb(&bytes);
		} while ((name || form) && !bytes.bad);
	}
	return (uint64_t)(bytes.p - from);
}

/* Checks the abbreviation tables of all units. Returns NULL, or the reason to refuse the file. libdw reads the
 * abbreviation table of each unit anew, so many units with one large table would take hours. */
static const char *dwarfimage_check_units(struct str info, struct str abbrevs)
{
	struct dwarf_bytes bytes = dwarf_bytes_of(info);
	uint64_t read = 0, last = UINT64_MAX, size = 0;

	while (dwarf_left(&bytes) > 4) {
		uint64_t length = dwarf_uint(&bytes, 4), table;
		unsigned width = length == 0xffffffff ? 8 : 4;
		struct dwarf_bytes unit;
		const uint8_t *p;

		if (width == 8)
			length = dwarf_uint(&bytes, 8);
		length = length < dwarf_left(&bytes) ? length : dwarf_left(&bytes);
		p = dwarf_take(&bytes, length);
		if (!p)
			break;
		unit = (struct dwarf_bytes){ .p = p, .end = p + length };
		if (dwarf_uint(&unit, 2) >= 5)
			dwarf_uint(&unit, 2); /* skips unit type and address size */
		table = dwarf_uint(&unit, width);
		if (table != last)
			size = table_size(abbrevs, table, ABBREVS_MAX);
		last = table;
		read += size;
		if (read > ABBREVS_MAX)
			return "too many abbreviations";
	}
	return NULL;
}

/* ---- making of the image ------------------------------------------------------------------------------------ */

static uint64_t dwarfimage_aligned(uint64_t n)
{
	return (n + GAP - 1) & ~(uint64_t)(GAP - 1);
}

/* Writes the ELF header, the section headers and the section names, which have no "z" in the image. split: true for an
 * image of split units: the names end in ".dwo". text: offset of the names in the image; table: offset of the section
 * headers. */
static void dwarfimage_put_headers(struct dwarfimage *image, const struct part *part, bool split, uint64_t text,
				   uint64_t table)
{
	Elf64_Shdr s[SECTIONS + 2] = { 0 };
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(header),
		.e_shoff = table,
		.e_shentsize = sizeof(*s),
		.e_shnum = SECTIONS + 2,
		.e_shstrndx = SECTIONS + 1,
	};
	uint64_t at = text + 1;

	for (size_t i = 0; i < SECTIONS; i++) {
		struct str name = str_of(names[i]);

		s[i + 1] = (Elf64_Shdr){ .sh_name = (uint32_t)(at - text),
					 .sh_type = part[i].size ? SHT_PROGBITS : SHT_NOBITS,
					 .sh_offset = part[i].to,
					 .sh_size = part[i].size,
					 .sh_addralign = 1 };
		memcpy(image->p + at, name.p, name.n);
		at += name.n;
		if (split) {
			memcpy(image->p + at, ".dwo", 4);
			at += 4;
		}
		at++;
	}
	s[SECTIONS + 1] = (Elf64_Shdr){
		.sh_name = 0, .sh_type = SHT_STRTAB, .sh_offset = text, .sh_size = at - text, .sh_addralign = 1
	};
	memcpy(image->p, &header, sizeof(header));
	memcpy(image->p + table, s, sizeof(s));
}

static struct str part_bytes(const struct dwarfimage *image, const struct part *part)
{
	return (struct str){ image->p + part->to, part->size };
}

const char *dwarfimage_make(struct dwarfimage *image, const struct elffile *elffile, bool split)
{
	struct part part[SECTIONS];
	uint64_t at = dwarfimage_aligned(sizeof(Elf64_Ehdr)), text;
	const char *why = NULL;

	*image = (struct dwarfimage){ 0 };
	for (size_t i = 0; i < SECTIONS && !why; i++) {
		if (at > BYTES_MAX)
			return "exceeds the limit for one file";
		why = find_part(elffile, names[i], split, &part[i]);
		if (!why && part[i].size > BYTES_MAX - at)
			why = "exceeds the limit for one file";
		part[i].to = at;
		at += why ? 0 : dwarfimage_aligned(part[i].size) + GAP;
	}
	if (why)
		return why;
	if (part[INFO].size == 0)
		return "no debug information";
	text = at;
	at += 32 * (SECTIONS + 1);
	image->n = at + (SECTIONS + 2) * sizeof(Elf64_Shdr) + GAP;
	image->p = mem_alloc(1, image->n);
	for (size_t i = 0; i < SECTIONS && !why; i++)
		why = dwarfimage_unpack(elffile, &part[i], image->p + part[i].to);
	if (!why)
		why = dwarfimage_check_units(part_bytes(image, &part[INFO]), part_bytes(image, &part[ABBREV]));
	if (why) {
		dwarfimage_free(image);
		return why;
	}
	dwarfimage_put_headers(image, part, split, text, at);
	return NULL;
}

void dwarfimage_free(struct dwarfimage *image)
{
	free(image->p);
	*image = (struct dwarfimage){ 0 };
}
