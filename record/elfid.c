/* SPDX-License-Identifier: Apache-2.0 */
#include "elfid.h"

#include "kerneltext.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

#define HEADERS_MAX 128
#define NOTE_MAX 4096

static unsigned note_at(int fd, uint64_t offset, uint64_t size, uint8_t id[20])
{
	char note[NOTE_MAX];
	ssize_t n;

	if (offset > INT64_MAX)
		return 0;
	n = pread(fd, note, size < sizeof(note) ? (size_t)size : sizeof(note), (off_t)offset);
	return n > 0 ? kerneltext_build_id((struct str){ note, (size_t)n }, id) : 0;
}

static unsigned read_64(int fd, const Elf64_Ehdr *h, uint8_t id[20])
{
	for (unsigned i = 0, n = 0; i < h->e_phnum && i < HEADERS_MAX; i++) {
		Elf64_Phdr p;

		if (pread(fd, &p, sizeof(p), (off_t)(h->e_phoff + i * (uint64_t)h->e_phentsize)) != sizeof(p))
			return 0;
		if (p.p_type == PT_NOTE && (n = note_at(fd, p.p_offset, p.p_filesz, id)))
			return n;
	}
	return 0;
}

static unsigned read_32(int fd, const Elf32_Ehdr *h, uint8_t id[20])
{
	for (unsigned i = 0, n = 0; i < h->e_phnum && i < HEADERS_MAX; i++) {
		Elf32_Phdr p;

		if (pread(fd, &p, sizeof(p), (off_t)(h->e_phoff + i * (uint64_t)h->e_phentsize)) != sizeof(p))
			return 0;
		if (p.p_type == PT_NOTE && (n = note_at(fd, p.p_offset, p.p_filesz, id)))
			return n;
	}
	return 0;
}

unsigned elfid_read(int fd, uint8_t id[20])
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf64_Ehdr h64;
		Elf32_Ehdr h32;
	} h;

	if (pread(fd, &h, sizeof(h), 0) != (ssize_t)sizeof(h) || memcmp(h.ident, ELFMAG, SELFMAG) != 0 ||
	    h.ident[EI_DATA] != ELFDATA2LSB)
		return 0;
	if (h.ident[EI_CLASS] == ELFCLASS64 && h.h64.e_phoff <= INT64_MAX / 2)
		return read_64(fd, &h.h64, id);
	return h.ident[EI_CLASS] == ELFCLASS32 ? read_32(fd, &h.h32, id) : 0;
}
