/* SPDX-License-Identifier: Apache-2.0 */
#include "common/formats/vdso.h"

#include "common/base.h"

#include <elf.h>
#include <sys/auxv.h>

#define VDSO_MAX ((size_t)1 << 20) /* limit for the size of the vDSO in bytes; on x86-64 it has two pages */

struct str vdso_image(void)
{
	const char *image = (const char *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	Elf64_Ehdr header;
	size_t size;

	if (!image)
		return (struct str){ 0 };
	memcpy(&header, image, sizeof(header));
	/* the section headers are at the end of the image, so their end is its size */
	size = (size_t)header.e_shoff + (size_t)header.e_shnum * header.e_shentsize;
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || size > VDSO_MAX)
		return (struct str){ 0 };
	return (struct str){ image, size };
}
