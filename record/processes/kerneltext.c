/* SPDX-License-Identifier: Apache-2.0 */
#include "record/processes/kerneltext.h"

#include "common/formats/perfrecord.h"
#include "common/text.h"

#define KERNEL_ADDRESS_MIN ((uint64_t)1 << 63) /* kernel addresses have the highest bit */

static uint32_t kerneltext_word(struct str string, size_t at)
{
	return load32(string.p + at);
}

unsigned kerneltext_build_id(struct str notes, uint8_t id[20])
{
	while (notes.n >= 12) {
		uint64_t name = ((uint64_t)kerneltext_word(notes, 0) + 3) & ~(uint64_t)3,
			 desc = kerneltext_word(notes, 4), complete = 12 + name + ((desc + 3) & ~(uint64_t)3);

		if (12 + name + desc > notes.n)
			return 0;
		if (kerneltext_word(notes, 8) == 3 && kerneltext_word(notes, 0) == 4 &&
		    memcmp(notes.p + 12, "GNU", 4) == 0 && desc > 0 && desc <= 20) {
			memset(id, 0, 20);
			memcpy(id, notes.p + 12 + name, desc);
			return (unsigned)desc;
		}
		notes = str_from(notes, complete < notes.n ? (size_t)complete : notes.n);
	}
	return 0;
}

bool kerneltext_symbol(struct str line, uint64_t *address, struct str *name, struct str *module)
{
	struct str number = str_cut(&line, ' ');

	str_cut(&line, ' '); /* the type */
	*name = str_cut(&line, '\t');
	*module = str_trim(line);
	return str_hex(number, address) && *address != 0;
}

bool kerneltext_module(struct str line, char name[KERNELTEXT_MODULE], uint64_t *start, uint64_t *size)
{
	struct str word_name = str_cut(&line, ' '), word_size = str_cut(&line, ' '), address;
	ptrdiff_t at = str_find_str(line, STR(" 0x"));

	if (at < 0 || word_name.n == 0 || word_name.n >= KERNELTEXT_MODULE || str_find(word_name, 0) >= 0 ||
	    !str_u64(word_size, size))
		return false;
	line = str_from(line, (size_t)at + 3);
	address = str_cut(&line, ' ');
	if (!str_hex(address, start) || *start < KERNEL_ADDRESS_MIN || *size > UINT64_MAX - *start)
		return false;
	memset(name, 0, KERNELTEXT_MODULE);
	memcpy(name, word_name.p, word_name.n);
	return true;
}

/* Is "kernel/fs/nfs/nfs-v4.ko.xz" the file of nfs_v4? */
static bool is_file_of(struct str path, const char *name)
{
	struct str file = str_from(path, (size_t)(str_rfind(path, '/') + 1));
	size_t n = strlen(name);

	if (file.n < n + 3 || memcmp(file.p + n, ".ko", 3) != 0)
		return false;
	for (size_t i = 0; i < n; i++)
		if ((file.p[i] == '-' ? '_' : file.p[i]) != name[i])
			return false;
	return true;
}

char *kerneltext_module_path(struct str modules_dep, const char *release, const char *name)
{
	struct text text = { 0 };

	while (modules_dep.n) {
		struct str line = str_cut(&modules_dep, '\n'), path = str_cut(&line, ':');

		if (!is_file_of(path, name))
			continue;
		text_printf(&text, "/lib/modules/%s/", release);
		text_str(&text, path);
		break;
	}
	if (!text.n)
		text_printf(&text, "[%s]", name);
	text_char(&text, 0);
	return text.p;
}
