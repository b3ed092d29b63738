/* SPDX-License-Identifier: Apache-2.0 */
#include "record/processes/kerneltext.h"

#include "common/formats/perfrecord.h"
#include "common/text.h"

#define KERNEL_ADDRESS_MIN ((uint64_t)1 << 63) /* lowest kernel address: the highest bit is set */

bool kerneltext_symbol(struct str line, uint64_t *address, struct str *name, struct str *module)
{
	struct str number = str_cut(&line, ' ');

	str_cut(&line, ' '); /* skips the type of the symbol */
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

/* Returns true if a path such as "kernel/fs/nfs/nfs-v4.ko.xz" is the path of the file of the module `name`, such as
 * nfs_v4: in file names, the kernel's "_" may be "-". */
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
