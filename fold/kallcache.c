/* SPDX-License-Identifier: Apache-2.0 */
#include "kallcache.h"

#include "arena.h"
#include "hash.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX ((off_t)256 << 20)
#define KEY_MAX 63
#define BOOT_ID_LEN 36
#define SHARED_WRITE 022

/* In front of the symbols and the names. The sum is over all behind it. */
struct head {
	char magic[8];
	uint64_t sum;
	uint64_t nsym, nnames;
	char key[KEY_MAX + 1];
};

static const char magic[8] = "pjksym1\n";

void ksyms_free(struct ksyms *k)
{
	free(k->sym);
	text_free(&k->names);
	*k = (struct ksyms){ 0 };
}

/* ---- bytes ----------------------------------------------------------------------------------------------------- */

static uint64_t sum_of(struct str file)
{
	size_t from = offsetof(struct head, nsym);

	return hash_bytes(file.p + from, file.n - from);
}

/* Core symbols, as far as they are kernel addresses: a machine of 64 bits also lists offsets of per-CPU variables. */
static bool is_core(const struct ksym *s)
{
	return s->module == 0 && s->start >> 63;
}

static const char *name_at(const struct ksyms *k, size_t i)
{
	return k->names.p + k->sym[i].name;
}

static bool is_prefix_of_next(const char *name, const char *next)
{
	return strncmp(name, "__pfx_", 6) == 0 && strcmp(name + 6, next) == 0;
}

/* Lets the symbol packed last borrow the name of the one that comes now, unless another borrows that of the last. */
static void borrow_name(struct text *file, struct text *names, struct ksym *s)
{
	struct ksym *before = (struct ksym *)(void *)(file->p + file->n - sizeof(*s));

	if (file->n >= sizeof(struct head) + 2 * sizeof(*s) && before[-1].name == KSYM_PFX)
		return;
	names->n = before->name;
	s->name = before->name;
	before->name = KSYM_PFX;
}

void kallcache_pack(const struct ksyms *all, struct str key, struct text *file)
{
	struct head head = { 0 };
	struct text names = { 0 };
	size_t last = SIZE_MAX;

	text_bytes(file, &head, sizeof(head));
	text_char(&names, 0);
	for (size_t i = 0; i < all->n; i++) {
		struct ksym s = { .start = all->sym[i].start, .name = (uint32_t)names.n };
		const char *name;

		if (!is_core(&all->sym[i]) || all->sym[i].name & KSYM_PFX)
			continue;
		name = name_at(all, i);
		if (last != SIZE_MAX && is_prefix_of_next(name_at(all, last), name))
			borrow_name(file, &names, &s);
		text_bytes(&names, name, strlen(name) + 1);
		text_bytes(file, &s, sizeof(s));
		last = i;
	}
	memcpy(head.magic, magic, sizeof(magic));
	head.nsym = (file->n - sizeof(head)) / sizeof(struct ksym);
	head.nnames = names.n;
	memcpy(head.key, key.p, key.n < KEY_MAX ? key.n : KEY_MAX);
	text_str(file, text_view(&names));
	memcpy(file->p, &head, sizeof(head));
	head.sum = sum_of(text_view(file));
	memcpy(file->p, &head, sizeof(head));
	text_free(&names);
}

/* Whatever the sum says: no number in it may lead outside. */
static bool is_sound(const struct ksyms *k)
{
	for (size_t i = 0; i < k->n; i++) {
		const struct ksym *s = &k->sym[i];
		bool prefixed = s->name == KSYM_PFX && i + 1 < k->n && !(s[1].name & KSYM_PFX);

		if ((s->name >= k->names.n && !prefixed) || s->module || (i && s->start < s[-1].start))
			return false;
	}
	return k->n && k->names.n && k->names.p[0] == 0 && k->names.p[k->names.n - 1] == 0;
}

bool kallcache_unpack(struct str file, struct str key, struct ksyms *core)
{
	struct head head;
	struct str symbols;

	if (file.n < sizeof(head) || key.n > KEY_MAX)
		return false;
	memcpy(&head, file.p, sizeof(head));
	if (memcmp(head.magic, magic, sizeof(magic)) != 0 || head.key[KEY_MAX] || !str_eq(str_of(head.key), key))
		return false;
	symbols = str_from(file, sizeof(head));
	if (head.nsym > symbols.n / sizeof(struct ksym) || head.nnames != symbols.n - head.nsym * sizeof(struct ksym) ||
	    head.nnames >= KSYM_PFX || head.sum != sum_of(file))
		return false;
	core->n = (size_t)head.nsym;
	core->sym = mem_alloc(sizeof(*core->sym), core->n);
	memcpy(core->sym, symbols.p, core->n * sizeof(*core->sym));
	text_str(&core->names, str_from(symbols, core->n * sizeof(*core->sym)));
	if (is_sound(core))
		return true;
	ksyms_free(core);
	return false;
}

/* ---- files ----------------------------------------------------------------------------------------------------- */

static size_t read_small(const char *path, char *to, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, to, room) : -1;

	if (fd >= 0)
		close(fd);
	return n > 0 ? (size_t)n : 0;
}

/* "BOOTID NOTES": the notes hold the kernel's build-id. False when the boot cannot be told. */
static bool this_kernel(char key[KEY_MAX + 1])
{
	char boot[BOOT_ID_LEN + 2], notes[8192];
	size_t n = read_small("/proc/sys/kernel/random/boot_id", boot, sizeof(boot));

	if (n < BOOT_ID_LEN)
		return false;
	for (size_t i = 0; i < BOOT_ID_LEN; i++)
		if (!byte_is_hex(boot[i]) && boot[i] != '-')
			return false;
	n = read_small("/sys/kernel/notes", notes, sizeof(notes));
	snprintf(key, KEY_MAX + 1, "%.*s %016llx", BOOT_ID_LEN, boot, (unsigned long long)hash_bytes(notes, n));
	return true;
}

/* A folder that is ours, below at (AT_FDCWD: path is absolute); made when make is set. -1: there is none. */
static int own_folder(int at, const char *path, int flags, bool make)
{
	struct stat st;
	int fd;

	if (make)
		mkdirat(at, path, 0700);
	fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
	if (fd >= 0 && (fstat(fd, &st) < 0 || st.st_uid != geteuid() || st.st_mode & SHARED_WRITE)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* The folder pj, below XDG_CACHE_HOME or HOME/.cache; -1: no cache. Both may be links, pj may not. */
static int cache_folder(bool make)
{
	const char *xdg = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
	int base = -1, fd;

	if (xdg && xdg[0] == '/') {
		base = own_folder(AT_FDCWD, xdg, 0, make);
	} else if (home && home[0] == '/') {
		int top = own_folder(AT_FDCWD, home, 0, false);

		base = top >= 0 ? own_folder(top, ".cache", 0, make) : -1;
		if (top >= 0)
			close(top);
	}
	if (base < 0)
		return -1;
	fd = own_folder(base, "pj", O_NOFOLLOW, make);
	close(base);
	return fd;
}

static void cache_name(const char *key, char name[64])
{
	snprintf(name, 64, "kallsyms-%.*s", BOOT_ID_LEN, key);
}

/* All of an open file of ours into a text; false when it is not such a file, or changes. */
static bool read_own(int fd, struct text *file)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 077 || st.st_nlink != 1 ||
	    st.st_size <= 0 || st.st_size > FILE_MAX)
		return false;
	text_room(file, (size_t)st.st_size);
	while (file->n < (size_t)st.st_size) {
		ssize_t got = read(fd, file->p + file->n, (size_t)st.st_size - file->n);

		if (got <= 0)
			return false;
		file->n += (size_t)got;
	}
	return true;
}

bool kallcache_load(struct ksyms *core)
{
	char key[KEY_MAX + 1], name[64];
	struct text file = { 0 };
	int folder, fd;
	bool good = false;

	if (!this_kernel(key))
		return false;
	folder = cache_folder(false);
	if (folder < 0)
		return false;
	cache_name(key, name);
	fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0) {
		good = read_own(fd, &file) && kallcache_unpack(text_view(&file), str_of(key), core);
		close(fd);
	}
	close(folder);
	text_free(&file);
	return good;
}

/* What other boots left, and what was never finished. */
static void sweep(int folder, const char *keep)
{
	int fd = dup(folder);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(dir)))
		if (strncmp(entry->d_name, "kallsyms-", 9) == 0 && strcmp(entry->d_name, keep) != 0)
			unlinkat(folder, entry->d_name, 0);
	closedir(dir);
}

static bool write_new(int folder, const char *name, struct str file)
{
	int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	bool good = fd >= 0;

	while (good && file.n) {
		ssize_t n = write(fd, file.p, file.n);

		good = n > 0;
		if (good)
			file = str_from(file, (size_t)n);
	}
	if (fd >= 0)
		good = close(fd) == 0 && good;
	return good;
}

void kallcache_store(const struct ksyms *all)
{
	char key[KEY_MAX + 1], name[64], temp[96];
	struct text file = { 0 };
	int folder = this_kernel(key) ? cache_folder(true) : -1;

	if (folder < 0)
		return;
	cache_name(key, name);
	snprintf(temp, sizeof(temp), "%s.%ld", name, (long)getpid());
	sweep(folder, name);
	kallcache_pack(all, str_of(key), &file);
	if (!write_new(folder, temp, text_view(&file)) || renameat(folder, temp, folder, name) < 0)
		unlinkat(folder, temp, 0);
	text_free(&file);
	close(folder);
}
