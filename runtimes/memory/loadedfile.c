/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/memory/loadedfile.h"

#include "common/diag.h"

#include <elf.h>

#define HEADERS_MAX 64
#define DYNAMIC_MAX 256
/* limit for the number of symbols of one hash bucket that are compared; further ones are not found. Real files have a
 * few. */
#define CHAIN_MAX 65536

static const char not_there[] = "its library cannot be read from memory";

static const char *find_dynamic(struct loadedfile *file, uint64_t *dynamic, uint64_t *n)
{
	Elf64_Ehdr header;
	uint64_t bias = 0;
	bool biased = false;

	if (!memory_read(file->m, file->base, &header, sizeof(header)))
		return not_there;
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
		return "the file mapped as its library is not ELF";
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
		return "its library is not 64-bit little-endian";
	if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > HEADERS_MAX)
		return "its library has no valid program headers";
	*dynamic = 0;
	for (unsigned i = 0; i < header.e_phnum; i++) {
		Elf64_Phdr p;

		if (!memory_read(file->m, file->base + header.e_phoff + i * sizeof(p), &p, sizeof(p)))
			return not_there;
		if (p.p_type == PT_LOAD && !biased) {
			bias = file->base - (p.p_vaddr - p.p_offset);
			biased = true;
		}
		if (p.p_type == PT_LOAD && p.p_flags & PF_W) {
			file->data = p.p_vaddr;
			file->data_n = p.p_memsz;
		}
		if (p.p_type == PT_GNU_EH_FRAME)
			file->unwind = p.p_vaddr;
		if (p.p_type == PT_DYNAMIC) {
			*dynamic = p.p_vaddr;
			*n = p.p_memsz / sizeof(Elf64_Dyn);
		}
	}
	if (*dynamic == 0)
		return "its library has no dynamic section";
	*dynamic += bias;
	file->data = (file->data + bias + 7) & ~(uint64_t)7;
	file->base = bias;
	file->unwind = file->unwind ? file->unwind + bias : 0;
	return NULL;
}

/* Returns the address in memory for an address in an entry of the dynamic section. glibc's loader has added the load
 * base to these entries, musl's loader has not: a value below the load base is an address in the file. */
static uint64_t loadedfile_place(const struct loadedfile *file, uint64_t value)
{
	return value < file->base ? file->base + value : value;
}

const char *loadedfile_open(struct loadedfile *file, struct memory *memory, uint64_t base)
{
	uint64_t dynamic, n = 0;
	const char *why;

	*file = (struct loadedfile){ .m = memory, .base = base };
	why = find_dynamic(file, &dynamic, &n);
	if (why)
		return why;
	for (uint64_t i = 0; i < n && i < DYNAMIC_MAX; i++) {
		Elf64_Dyn d;

		if (!memory_read(memory, dynamic + i * sizeof(d), &d, sizeof(d)))
			return not_there;
		if (d.d_tag == DT_NULL)
			break;
		if (d.d_tag == DT_SYMTAB)
			file->symbols = loadedfile_place(file, d.d_un.d_ptr);
		else if (d.d_tag == DT_STRTAB)
			file->strings = loadedfile_place(file, d.d_un.d_ptr);
		else if (d.d_tag == DT_STRSZ)
			file->strings_n = d.d_un.d_val;
		else if (d.d_tag == DT_GNU_HASH)
			file->gnu_hash = loadedfile_place(file, d.d_un.d_ptr);
		else if (d.d_tag == DT_HASH)
			file->hash = loadedfile_place(file, d.d_un.d_ptr);
	}
	return file->symbols && file->strings && (file->gnu_hash || file->hash) ? NULL :
										  "its library has no symbol table";
}

/* Returns true if symbol i is defined and named `name`, and sets *address to its address in memory and *size to its
 * size in bytes. Otherwise returns false, also if the symbol is not readable or name.n is above 255. */
static bool is_symbol(struct loadedfile *file, uint64_t i, struct str name, uint64_t *address, uint64_t *size)
{
	Elf64_Sym symbol;
	char text[256];

	if (name.n >= sizeof(text) ||
	    !memory_read(file->m, file->symbols + i * sizeof(symbol), &symbol, sizeof(symbol)))
		return false;
	if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= file->strings_n ||
	    name.n + 1 > file->strings_n - symbol.st_name ||
	    !memory_read(file->m, file->strings + symbol.st_name, text, name.n + 1))
		return false;
	if (memcmp(text, name.p, name.n) != 0 || text[name.n])
		return false;
	*address = file->base + symbol.st_value;
	*size = symbol.st_size;
	return true;
}

static bool find_gnu(struct loadedfile *file, struct str name, uint64_t *address, uint64_t *size)
{
	/* Header of a GNU hash table: number of buckets, index of the first hashed symbol, number of 8-byte words of
	 * the Bloom filter, shift. */
	uint32_t head[4], h = 5381, first, value;
	uint64_t buckets, chains;

	for (size_t i = 0; i < name.n; i++)
		h = h * 33 + (unsigned char)name.p[i];
	if (!memory_read(file->m, file->gnu_hash, head, sizeof(head)) || head[0] == 0)
		return false;
	buckets = file->gnu_hash + sizeof(head) + (uint64_t)head[2] * 8;
	chains = buckets + (uint64_t)head[0] * 4;
	if (!memory_read(file->m, buckets + (uint64_t)(h % head[0]) * 4, &first, sizeof(first)) || first < head[1])
		return false;
	for (uint32_t i = 0; i < CHAIN_MAX && first <= UINT32_MAX - i; i++) {
		if (!memory_read(file->m, chains + ((uint64_t)first + i - head[1]) * 4, &value, sizeof(value)))
			return false;
		if ((value | 1) == (h | 1) && is_symbol(file, (uint64_t)first + i, name, address, size))
			return true;
		if (value & 1)
			return false;
	}
	return false;
}

static bool find_sysv(struct loadedfile *file, struct str name, uint64_t *address, uint64_t *size)
{
	uint32_t head[2], h = 0, i;

	for (size_t index = 0; index < name.n; index++) {
		h = (h << 4) + (unsigned char)name.p[index];
		h = (h ^ (h & 0xf0000000u) >> 24) & 0x0fffffffu;
	}
	if (!memory_read(file->m, file->hash, head, sizeof(head)) || head[0] == 0 ||
	    !memory_read(file->m, file->hash + 8 + (uint64_t)(h % head[0]) * 4, &i, sizeof(i)))
		return false;
	for (unsigned steps = 0; i != STN_UNDEF && steps < CHAIN_MAX; steps++) {
		if (is_symbol(file, i, name, address, size))
			return true;
		if (!memory_read(file->m, file->hash + 8 + ((uint64_t)head[0] + i) * 4, &i, sizeof(i)))
			return false;
	}
	return false;
}

bool loadedfile_symbol_size(struct loadedfile *file, struct str name, uint64_t *address, uint64_t *size)
{
	return file->gnu_hash ? find_gnu(file, name, address, size) : find_sysv(file, name, address, size);
}

bool loadedfile_symbol(struct loadedfile *file, struct str name, uint64_t *address)
{
	uint64_t size;

	return loadedfile_symbol_size(file, name, address, &size);
}
