/* SPDX-License-Identifier: Apache-2.0 */
#include "record/symsaver/kernelsaver.h"

#include "common/arena.h"
#include "common/hash.h"
#include "common/text.h"
#include "common/files/fullio.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#define BLOCK (64u << 10)
#define MODULES_MAX (4u << 20)

void kernelsaver_name(char name[SAVERDIR_PATH], const char *boot, uint64_t n)
{
	snprintf(name, SAVERDIR_PATH, "kallsyms-%s.%llu.gz", boot, (unsigned long long)n);
}

static void modules_name(char name[SAVERDIR_PATH], const char *boot, uint64_t n)
{
	snprintf(name, SAVERDIR_PATH, "modules-%s.%llu", boot, (unsigned long long)n);
}

/* ---- list of modules -------------------------------------------------------------------------------------------- */

uint64_t kernelsaver_sum(struct str modules)
{
	uint64_t sum = 0;

	while (modules.n) {
		struct str line = str_cut(&modules, '\n');
		uint64_t one = 0x9E3779B97F4A7C15u;

		for (unsigned field = 0; line.n && field < 6; field++) {
			struct str word = str_cut(&line, ' ');

			/* fields 0, 1 and 5 are the name, size and address of a module */
			if (field == 0 || field == 1 || field == 5)
				one = hash_mix(one, hash_bytes(word.p, word.n));
		}
		sum = hash_mix(sum ^ one, 0x9E3779B97F4A7C15u);
	}
	return sum;
}

/* Reads the text of /proc/modules to *text, which stays empty if no module is loaded. */
static void read_modules(const struct kernelsaver *kernelsaver, struct text *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/modules", kernelsaver->proc);
	fullio_read_at(AT_FDCWD, path, text, MODULES_MAX);
}

static bool write_modules(struct kernelsaver *kernelsaver, uint64_t n, struct str modules)
{
	struct saverdir_file file;
	char name[SAVERDIR_PATH];

	modules_name(name, kernelsaver->dir->boot, n);
	if (!saverdir_begin(kernelsaver->dir, &file))
		return false;
	if (modules.n && write(file.fd, modules.p, modules.n) != (ssize_t)modules.n) {
		saverdir_discard(kernelsaver->dir, &file);
		return false;
	}
	return saverdir_commit(kernelsaver->dir, &file, name, NULL);
}

/* ---- symbols of kallsyms ---------------------------------------------------------------------------------------- */

/* State of has_address in a line of kallsyms: at the start of the line; in leading zeros of the address; after the
 * address. */
enum { AT_START, IN_ZEROS, PAST };

static bool has_address(struct str string, int *state)
{
	for (size_t i = 0; i < string.n; i++) {
		if (string.p[i] == '\n')
			*state = AT_START;
		else if (*state == PAST)
			continue;
		else if (string.p[i] == '0')
			*state = IN_ZEROS;
		else if (byte_is_hex(string.p[i]))
			return true;
		else
			*state = PAST;
	}
	return false;
}

static bool kernelsaver_put(z_stream *stream, int fd, unsigned char *out, int how)
{
	do {
		stream->next_out = out;
		stream->avail_out = BLOCK;
		deflate(stream, how);
		size_t n = BLOCK - stream->avail_out;
		if (n && write(fd, out, n) != (ssize_t)n)
			return false;
	} while (stream->avail_out == 0);
	return true;
}

/* Compresses file `from` into file `to` (gzip). Sets *known to true if any address is not 0, that is, the kernel does
 * not hide addresses. Returns false if the result cannot be written. Uses level 1: for 122,000 symbols level 6 would
 * save 20 % of 1.1 MB, but take 0.13 s of CPU time instead of 0.04 s. */
static bool kernelsaver_pack(int from, int to, bool *known)
{
	unsigned char *in = mem_alloc(1, BLOCK), *out = mem_alloc(1, BLOCK);
	z_stream stream = { 0 };
	int state = AT_START;
	bool good = deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK;
	ssize_t got;

	*known = false;
	while (good && (got = read(from, in, BLOCK)) > 0) {
		*known = *known || has_address((struct str){ (char *)in, (size_t)got }, &state);
		stream.next_in = in;
		stream.avail_in = (unsigned)got;
		good = kernelsaver_put(&stream, to, out, Z_NO_FLUSH);
	}
	good = good && kernelsaver_put(&stream, to, out, Z_FINISH);
	deflateEnd(&stream);
	free(in);
	free(out);
	return good;
}

static bool write_kallsyms(struct kernelsaver *kernelsaver, uint64_t n)
{
	struct saverdir_file file;
	char path[256], name[SAVERDIR_PATH];
	bool known, good;
	int from;

	snprintf(path, sizeof(path), "%s/kallsyms", kernelsaver->proc);
	from = open(path, O_RDONLY | O_CLOEXEC);
	if (from < 0 || !saverdir_begin(kernelsaver->dir, &file)) {
		if (from >= 0)
			close(from);
		return false;
	}
	kernelsaver_name(name, kernelsaver->dir->boot, n);
	good = kernelsaver_pack(from, file.fd, &known);
	close(from);
	if (!good || !known) {
		kernelsaver->hidden = good;
		errno = good ? 0 : errno;
		saverdir_discard(kernelsaver->dir, &file);
		return false;
	}
	return saverdir_commit(kernelsaver->dir, &file, name, NULL);
}

/* Returns true if the first page of kallsyms has an address other than 0. This costs much less than a snapshot. */
static bool shows_addresses(const struct kernelsaver *kernelsaver)
{
	char path[256], page[4096];
	int fd, state = AT_START;
	ssize_t got;

	snprintf(path, sizeof(path), "%s/kallsyms", kernelsaver->proc);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd >= 0 ? read(fd, page, sizeof(page)) : -1;
	if (fd >= 0)
		close(fd);
	return got > 0 && has_address((struct str){ page, (size_t)got }, &state);
}

/* ---- snapshots of the kernel's symbols -------------------------------------------------------------------------- */

static void kernelsaver_snapshot(struct kernelsaver *kernelsaver, uint64_t n, struct str modules)
{
	kernelsaver->hidden = false;
	/* The modules file is written last, because a snapshot is complete only if that file exists. */
	kernelsaver->failed = !write_kallsyms(kernelsaver, n) || !write_modules(kernelsaver, n, modules);
	kernelsaver->error = kernelsaver->failed ? errno : 0;
	if (kernelsaver->failed)
		return;
	kernelsaver->before = kernelsaver->now;
	kernelsaver->now = n;
}

/* Returns the largest number N of a complete snapshot of this boot; 0 if there is none. */
static uint64_t kernelsaver_newest(const struct kernelsaver *kernelsaver)
{
	struct text prefix = { 0 };
	int fd = kernelsaver->dir->symbols >= 0 ?
			 openat(kernelsaver->dir->symbols, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) :
			 -1;
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;
	uint64_t n, max = 0;

	text_printf(&prefix, "modules-%s.", kernelsaver->dir->boot);
	while (dir && (entry = readdir(dir)))
		if (str_starts(str_of(entry->d_name), text_view(&prefix)) &&
		    str_u64(str_of(entry->d_name + prefix.n), &n) && n > max)
			max = n;
	if (dir)
		closedir(dir);
	text_free(&prefix);
	return max;
}

static bool is_snapshot(struct kernelsaver *kernelsaver, uint64_t n, uint64_t sum)
{
	char name[SAVERDIR_PATH];
	struct text text = { 0 };
	bool same;
	int fd;

	kernelsaver_name(name, kernelsaver->dir->boot, n);
	if (!saverdir_touch(kernelsaver->dir, name))
		return false;
	modules_name(name, kernelsaver->dir->boot, n);
	fd = openat(kernelsaver->dir->symbols, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	fullio_read(fd, &text, MODULES_MAX);
	if (fd >= 0)
		close(fd);
	same = kernelsaver_sum(text_view(&text)) == sum;
	text_free(&text);
	return same;
}

void kernelsaver_start(struct kernelsaver *kernelsaver, struct saverdir *dir, const char *proc)
{
	struct text modules = { 0 };
	uint64_t n;

	*kernelsaver = (struct kernelsaver){ .dir = dir, .proc = proc };
	read_modules(kernelsaver, &modules);
	kernelsaver->modules = kernelsaver_sum(text_view(&modules));
	n = kernelsaver_newest(kernelsaver);
	if (n && is_snapshot(kernelsaver, n, kernelsaver->modules))
		kernelsaver->now = n;
	else
		kernelsaver_snapshot(kernelsaver, n + 1, text_view(&modules));
	text_free(&modules);
}

bool kernelsaver_scan(struct kernelsaver *kernelsaver)
{
	struct text modules = { 0 };
	uint64_t sum, before = kernelsaver->now;

	read_modules(kernelsaver, &modules);
	sum = kernelsaver_sum(text_view(&modules));
	if (sum != kernelsaver->modules) {
		kernelsaver->modules = sum;
		kernelsaver_snapshot(kernelsaver, kernelsaver_newest(kernelsaver) + 1, text_view(&modules));
	}
	text_free(&modules);
	return kernelsaver->now != before;
}

/* Makes a new snapshot although no module has changed: the changed hash makes kernelsaver_scan see a difference. */
static void snapshot_again(struct kernelsaver *kernelsaver)
{
	kernelsaver->modules = ~kernelsaver->modules;
	kernelsaver_scan(kernelsaver);
}

void kernelsaver_touch(struct kernelsaver *kernelsaver)
{
	char name[SAVERDIR_PATH];

	kernelsaver_name(name, kernelsaver->dir->boot, kernelsaver->now);
	if (kernelsaver->hidden) {
		if (shows_addresses(kernelsaver))
			snapshot_again(kernelsaver);
		return;
	}
	/* the last snapshot could not be written, or was removed */
	if (!kernelsaver->now || !saverdir_touch(kernelsaver->dir, name)) {
		kernelsaver->now = 0;
		snapshot_again(kernelsaver);
		return;
	}
	modules_name(name, kernelsaver->dir->boot, kernelsaver->now);
	saverdir_touch(kernelsaver->dir, name);
}
