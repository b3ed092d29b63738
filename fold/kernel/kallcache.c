/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/kernel/kallcache.h"

#include "common/arena.h"
#include "common/filter/broker.h"
#include "common/hash.h"
#include "fold/symbols/samehost.h"
#include "common/files/fullio.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY_MAX 63
#define BOOT_ID_LEN 36
#define SHARED_WRITE 022
#define PAGE 4096
#define BLOCK_SYMBOLS 256
#define BLOCK_MAX ((size_t)64 * 1024)
#define BLOCKS_MAX (1u << 16)

/* Start of the cache file, followed by the table of blocks. sum: checksum of all bytes of the struct after `sum`, and
 * of the table. */
struct head {
	char magic[8];
	uint64_t sum;
	/* Assumed end address of the last symbol in the file. */
	uint64_t end;
	uint32_t nblocks, unused;
	char key[KEY_MAX + 1];
};

/* Entry of the table of blocks. A block contains n symbols, in three parts. The first part has the distances of their
 * addresses from `first`. The second part has n + 1 offsets of their names; the last offset is the end of the names.
 * The third part has the names. sum: checksum of the block. size: size of the block in bytes. */
struct block {
	/* Address of the first symbol of the block. */
	uint64_t first;
	uint64_t sum;
	/* Offset of the block in the file, in bytes. */
	uint64_t at;
	uint32_t size;
	uint32_t n;
};

struct kallcache {
	int fd;
	struct head head;
	struct block *block;
	/* Index, plus 1, of the block whose contents are in memory (distance, name, names); 0: no block is in memory.
	 */
	uint32_t loaded;
	uint32_t distance[BLOCK_SYMBOLS];
	uint16_t name[BLOCK_SYMBOLS + 1];
	char names[BLOCK_MAX];
};

static const char magic[8] = "pjksym2\n";

void ksyms_free(struct ksyms *ksyms)
{
	free(ksyms->sym);
	text_free(&ksyms->names);
	*ksyms = (struct ksyms){ 0 };
}

uint64_t ksym_last_end(uint64_t start)
{
	return start > UINT64_MAX - 2 * PAGE ? UINT64_MAX : (start + PAGE - 1) / PAGE * PAGE + PAGE;
}

/* ---- packing of symbols into blocks ---------------------------------------------------------------------------- */

/* Returns true for a symbol of the core kernel with a kernel address. Returns false for per-CPU variables, which
 * /proc/kallsyms of 64-bit machines lists with offsets as addresses. */
static bool is_core(const struct ksym *ksym)
{
	return ksym->module == 0 && ksym->start >> 63;
}

/* Packs up to BLOCK_SYMBOLS symbols of the core kernel, from all->sym[i] on, into one block. Appends the contents of
 * the block to `bytes`, and sets *block. Returns the index of the first symbol that is not packed. */
static size_t pack_block(const struct ksyms *all, size_t i, struct block *block, struct text *bytes)
{
	uint32_t distance[BLOCK_SYMBOLS];
	uint16_t name[BLOCK_SYMBOLS + 1];
	struct text names = { 0 };
	size_t from = bytes->n;

	*block = (struct block){ .first = all->sym[i].start, .at = from };
	for (; i < all->n && block->n < BLOCK_SYMBOLS; i++) {
		const struct ksym *ksym = &all->sym[i];
		struct str one = str_of(all->names.p + ksym->name);

		if (!is_core(ksym))
			continue;
		if (ksym->start - block->first > UINT32_MAX || names.n + one.n > UINT16_MAX)
			break;
		distance[block->n] = (uint32_t)(ksym->start - block->first);
		name[block->n++] = (uint16_t)names.n;
		text_str(&names, one);
	}
	name[block->n] = (uint16_t)names.n;
	text_bytes(bytes, distance, block->n * sizeof(*distance));
	text_bytes(bytes, name, (block->n + 1) * sizeof(*name));
	text_str(bytes, text_view(&names));
	text_free(&names);
	block->size = (uint32_t)(bytes->n - from);
	block->sum = hash_sum(bytes->p + from, block->size);
	return i;
}

static uint64_t kallcache_sum_of(const struct head *head, const struct block *block)
{
	size_t skip = offsetof(struct head, end);

	return hash_sum((const char *)head + skip, sizeof(*head) - skip) ^
	       hash_sum(block, head->nblocks * sizeof(*block));
}

void kallcache_pack(const struct ksyms *all, struct str key, struct text *file)
{
	struct head head = { 0 };
	struct block *block = mem_alloc(sizeof(*block), all->n + 1);
	struct text bytes = { 0 };
	size_t i = 0;

	for (size_t index = 0; index < all->n; index++)
		if (is_core(&all->sym[index]))
			head.end = ksym_last_end(all->sym[index].start);
	while (i < all->n) {
		if (is_core(&all->sym[i]))
			i = pack_block(all, i, &block[head.nblocks++], &bytes);
		else
			i++;
	}
	for (uint32_t k = 0; k < head.nblocks; k++)
		block[k].at += sizeof(head) + head.nblocks * sizeof(*block);
	memcpy(head.magic, magic, sizeof(magic));
	memcpy(head.key, key.p, key.n < KEY_MAX ? key.n : KEY_MAX);
	head.sum = kallcache_sum_of(&head, block);
	text_bytes(file, &head, sizeof(head));
	text_bytes(file, block, head.nblocks * sizeof(*block));
	text_str(file, text_view(&bytes));
	text_free(&bytes);
	free(block);
}

/* ---- reading of the cache file --------------------------------------------------------------------------------- */

static bool kallcache_read_at(int fd, void *to, size_t n, uint64_t at)
{
	return fullio_pread(fd, to, n, at) == n;
}

/* Returns true if the counts and offsets in the table entry of a block are within the limits of a block; a valid
 * checksum does not prove this. Returns false if the file must not be used. */
static bool is_sound(const struct block *block)
{
	size_t fixed = block->n * sizeof(uint32_t) + (block->n + 1) * sizeof(uint16_t);

	return block->n > 0 && block->n <= BLOCK_SYMBOLS && block->size >= fixed && block->size - fixed < BLOCK_MAX &&
	       block->at <= INT64_MAX;
}

/* Reads the head and the table of blocks of a cache file. Returns false if they are damaged, or if the file's key is
 * not `key`. */
static bool kallcache_read_head(struct kallcache *kallcache, struct str key)
{
	struct head *head = &kallcache->head;

	if (key.n > KEY_MAX || !kallcache_read_at(kallcache->fd, head, sizeof(*head), 0) ||
	    memcmp(head->magic, magic, sizeof(magic)) != 0 || head->key[KEY_MAX] || !str_eq(str_of(head->key), key) ||
	    head->nblocks == 0 || head->nblocks > BLOCKS_MAX)
		return false;
	kallcache->block = mem_alloc(sizeof(*kallcache->block), head->nblocks);
	if (!kallcache_read_at(kallcache->fd, kallcache->block, head->nblocks * sizeof(*kallcache->block),
			       sizeof(*head)) ||
	    kallcache_sum_of(head, kallcache->block) != head->sum)
		return false;
	for (uint32_t i = 0; i < head->nblocks; i++)
		if (!is_sound(&kallcache->block[i]))
			return false;
	return true;
}

struct kallcache *kallcache_of(int fd, struct str key)
{
	struct kallcache *kallcache = mem_alloc(sizeof(*kallcache), 1);

	kallcache->fd = fd;
	if (kallcache_read_head(kallcache, key))
		return kallcache;
	kallcache_close(kallcache);
	return NULL;
}

void kallcache_close(struct kallcache *kallcache)
{
	if (!kallcache)
		return;
	close(kallcache->fd);
	free(kallcache->block);
	free(kallcache);
}

/* Reads block i, counted from 0, into memory unless this block is in memory already. Returns false if the checksum or
 * the offsets of the block are wrong. */
static bool kallcache_load(struct kallcache *kallcache, uint32_t i)
{
	const struct block *block = &kallcache->block[i];
	char buf[sizeof(kallcache->distance) + sizeof(kallcache->name) + sizeof(kallcache->names)];
	size_t distances = block->n * sizeof(*kallcache->distance), places = (block->n + 1) * sizeof(*kallcache->name);
	size_t names = block->size - distances - places;

	if (kallcache->loaded == i + 1)
		return true;
	kallcache->loaded = 0;
	if (!kallcache_read_at(kallcache->fd, buf, block->size, block->at) || hash_sum(buf, block->size) != block->sum)
		return false;
	memcpy(kallcache->distance, buf, distances);
	memcpy(kallcache->name, buf + distances, places);
	memcpy(kallcache->names, buf + distances + places, names);
	for (uint32_t index = 0; index < block->n; index++)
		if (kallcache->name[index] > kallcache->name[index + 1])
			return false;
	if (kallcache->name[block->n] > names)
		return false;
	kallcache->loaded = i + 1;
	return true;
}

static struct str name_in_block(const struct kallcache *kallcache, uint32_t index)
{
	return (struct str){ kallcache->names + kallcache->name[index],
			     (size_t)(kallcache->name[index + 1] - kallcache->name[index]) };
}

/* Returns the index of the last block that begins at or before `address`, plus 1; 0 if there is none. */
static uint32_t block_of(const struct kallcache *kallcache, uint64_t address)
{
	uint32_t low = 0, high = kallcache->head.nblocks;

	if (kallcache->loaded && kallcache->block[kallcache->loaded - 1].first <= address &&
	    (kallcache->loaded == kallcache->head.nblocks || kallcache->block[kallcache->loaded].first > address))
		/* Callers look up addresses in ascending order, so the block in memory mostly contains the next
		 * address, too. */
		return kallcache->loaded;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (kallcache->block[mid].first <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

enum kallcache_answer kallcache_find(struct kallcache *kallcache, uint64_t address, struct str *name, uint64_t *start)
{
	uint32_t block = block_of(kallcache, address), low = 0, high;
	uint64_t first;

	if (block == 0 || address >= kallcache->head.end)
		return KALLCACHE_OUTSIDE;
	if (!kallcache_load(kallcache, block - 1))
		return KALLCACHE_BROKEN;
	first = kallcache->block[block - 1].first;
	high = kallcache->block[block - 1].n;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (kallcache->distance[mid] <= address - first)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == 0)
		/* Unreachable with a valid file: the first distance of a block is 0, so the block has a symbol at or
		 * before the address. */
		return KALLCACHE_BROKEN;
	*name = name_in_block(kallcache, low - 1);
	*start = first + kallcache->distance[low - 1];
	return KALLCACHE_FOUND;
}

enum kallcache_answer kallcache_address(struct kallcache *kallcache, struct str name, uint64_t *start)
{
	for (uint32_t i = 0; i < kallcache->head.nblocks; i++) {
		if (!kallcache_load(kallcache, i))
			return KALLCACHE_BROKEN;
		for (uint32_t index = 0; index < kallcache->block[i].n; index++) {
			if (!str_eq(name_in_block(kallcache, index), name))
				continue;
			*start = kallcache->block[i].first + kallcache->distance[index];
			return KALLCACHE_FOUND;
		}
	}
	return KALLCACHE_NONE;
}

/* ---- cache directory and files --------------------------------------------------------------------------------- */

static size_t read_small(const char *path, char *to, size_t space)
{
	int fd = broker_open(AT_FDCWD, path, 0);
	ssize_t got = fd >= 0 ? read(fd, to, space) : -1;

	if (fd >= 0)
		close(fd);
	return got > 0 ? (size_t)got : 0;
}

/* Sets `key` to the key of a cache file for the running kernel: the boot id, and a hash of the ELF notes of the kernel,
 * which contain its build-id. Returns false if the boot id cannot be read. */
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
	snprintf(key, KEY_MAX + 1, "%.*s %016llx", BOOT_ID_LEN, boot, (unsigned long long)hash_sum(notes, n));
	return true;
}

/* Start of the names of cache files; the boot id follows. kallcache_store() removes the files of other boots. */
#define CACHE_PREFIX "kallsyms-"

/* Opens the directory `path` relative to `at` (AT_FDCWD: `path` is absolute). flags: further flags of open(). make:
 * true: create the directory first. Returns -1 if the directory does not exist, if it belongs to another user, or if
 * other users can write to it. */
static int kallcache_own_folder(int at, const char *path, int flags, bool make)
{
	struct stat status;
	int fd;

	if (make)
		mkdirat(at, path, 0700);
	fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
	if (fd >= 0 && (fstat(fd, &status) < 0 || status.st_uid != geteuid() || status.st_mode & SHARED_WRITE)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Opens the cache directory: pj below XDG_CACHE_HOME, or below HOME/.cache. Returns -1 if the directory cannot be used.
 * XDG_CACHE_HOME and HOME/.cache may be symbolic links; the directory pj must not be one. make: create missing
 * directories. */
static int cache_folder(bool make)
{
	const char *xdg = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
	int base = -1, fd;

	if (xdg && xdg[0] == '/') {
		base = kallcache_own_folder(AT_FDCWD, xdg, 0, make);
	} else if (home && home[0] == '/') {
		int top = kallcache_own_folder(AT_FDCWD, home, 0, false);

		base = top >= 0 ? kallcache_own_folder(top, ".cache", 0, make) : -1;
		if (top >= 0)
			close(top);
	}
	if (base < 0)
		return -1;
	fd = kallcache_own_folder(base, "pj", O_NOFOLLOW, make);
	close(base);
	return fd;
}

char *kallcache_prepare(void)
{
	const char *xdg = secure_getenv("XDG_CACHE_HOME");
	int fd = cache_folder(true);
	struct text text = { 0 };

	if (fd < 0)
		return NULL;
	broker_cache(fd);
	text_add(&text, xdg && xdg[0] == '/' ? xdg : secure_getenv("HOME"));
	text_add(&text, xdg && xdg[0] == '/' ? "/pj" : "/.cache/pj");
	text_char(&text, 0);
	return text.p;
}

/* Returns true if a cache directory may exist; false if it cannot be opened. Without a broker, opens the directory and
 * passes it to broker.h. If a broker runs, kallcache_prepare() has passed the directory to the broker before. make:
 * true: create missing directories. */
static bool is_there(bool make)
{
	int fd = broker_runs() ? -1 : cache_folder(make);

	if (fd >= 0)
		broker_cache(fd);
	return fd >= 0 || broker_runs();
}

static void kallcache_cache_name(const char *key, char name[64])
{
	snprintf(name, 64, CACHE_PREFIX "%.*s", BOOT_ID_LEN, key);
}

/* Returns true if fd is a regular file of this user that no other user can read or write; otherwise false: the cache
 * file is not used. */
static bool kallcache_is_own(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == samehost_user() &&
	       !(status.st_mode & 077) && status.st_nlink == 1;
}

struct kallcache *kallcache_open(void)
{
	char key[KEY_MAX + 1], name[64];
	struct kallcache *kallcache = NULL;
	int fd;

	if (!this_kernel(key) || !is_there(false))
		return NULL;
	kallcache_cache_name(key, name);
	fd = broker_cache_open(name);
	if (fd >= 0 && kallcache_is_own(fd))
		kallcache = kallcache_of(fd, str_of(key));
	else if (fd >= 0)
		close(fd);
	return kallcache;
}

void kallcache_store(const struct ksyms *all)
{
	char key[KEY_MAX + 1], name[64];
	struct text file = { 0 };
	int fd = this_kernel(key) && is_there(true) ? broker_cache_create() : -1;
	bool good;

	if (fd < 0)
		return;
	kallcache_cache_name(key, name);
	kallcache_pack(all, str_of(key), &file);
	good = fullio_write(fd, text_view(&file));
	if (close(fd) == 0 && good)
		broker_cache_commit(name, strlen(CACHE_PREFIX));
	text_free(&file);
}
