/* SPDX-License-Identifier: Apache-2.0 */
#include "send/spool/spool.h"

#include "common/files/listing.h"
#include "common/arena.h"
#include "common/clocks.h"
#include "common/diag.h"
#include "common/hash.h"
#include "common/intern.h"
#include "common/files/outpath.h"
#include "send/format/pack.h"
#include "common/files/tempfile.h"
#include "common/files/fullio.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define NAME 80
/* limit in bytes of a window's uncompressed text; a file with a longer text is treated as corrupt */
#define TEXT_MAX ((size_t)1 << 30)

/* ---- names of files -------------------------------------------------------------------------------------------- */

static void spool_put_name(char s[NAME], struct spool_name name, bool zstd)
{
	snprintf(s, NAME, "%" PRIu64 ".%016" PRIx64 ".folded.%s", name.epoch, name.tag, zstd ? "zst" : "gz");
}

static bool spool_parse_name(const char *name, struct spool_name *n, bool *zstd)
{
	struct str rest = str_of(name), epoch = str_cut(&rest, '.'), tag = str_cut(&rest, '.');
	char back[NAME];

	*zstd = str_eq(rest, STR("folded.zst"));
	if (!str_u64(epoch, &n->epoch) || tag.n != 16 || !str_hex(tag, &n->tag))
		return false;
	spool_put_name(back, *n, *zstd);
	return str_eq(str_of(name), str_of(back));
}

static void chunk_name(char s[NAME], uint64_t epoch)
{
	snprintf(s, NAME, "%" PRIu64 ".data", epoch);
}

static bool parse_chunk(const char *name, uint64_t *epoch)
{
	struct str string = str_of(name);
	char back[NAME];

	if (!str_ends(string, STR(".data")) || !str_u64(str_head(string, string.n - 5), epoch))
		return false;
	chunk_name(back, *epoch);
	return str_eq(string, str_of(back));
}

static int name_cmp(const void *left, const void *right)
{
	const struct spool_name *name = left, *b = right;

	if (name->epoch != b->epoch)
		return name->epoch < b->epoch ? -1 : 1;
	return name->tag < b->tag ? -1 : name->tag > b->tag;
}

static int epoch_cmp(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

static int spool_open_file(int folder, const char *name)
{
	return openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

static bool spool_synced(int folder)
{
	return fsync(folder) == 0 || errno == EINVAL;
}

/* ---- opening DIR ----------------------------------------------------------------------------------------------- */

static int spool_enter(int dir, const char *dir_name, const char *space, bool make)
{
	struct stat status, own;
	int fd;

	if (make && mkdirat(dir, space, 0750) < 0 ? errno != EEXIST : make && !spool_synced(dir))
		die_errno("cannot create the directory '%s/%s'", dir_name, space);
	fd = openat(dir, space, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
		die("'%s/%s' is a link or not a directory: refused", dir_name, space);
	if (fd < 0 && errno == ENOENT)
		return -1;
	if (fd < 0 || fstat(fd, &status) < 0 || fstat(dir, &own) < 0)
		die_errno("cannot use the directory '%s/%s'", dir_name, space);
	if (geteuid() == 0 && status.st_uid != 0 && status.st_uid != own.st_uid)
		die("'%s/%s' belongs to user %lu, not to %lu: refused", dir_name, space, (unsigned long)status.st_uid,
		    (unsigned long)own.st_uid);
	return fd;
}

/* Returns a hash of the machine id. The id itself must not leave the host (machine-id(5)). */
static uint64_t machine_number(void)
{
	struct text text = { 0 };
	char host[256] = "";
	uint64_t n;

	text_add(&text, "pj machine ");
	if (!fullio_read_at(AT_FDCWD, "/etc/machine-id", &text, 4096) || text.n < 11 + 32) {
		gethostname(host, sizeof(host) - 1);
		text_add(&text, host);
	}
	n = hash_sum(text.p, text.n);
	text_free(&text);
	return n;
}

static bool read_recorder(struct spool *spool)
{
	struct text text = { 0 };
	bool good = fullio_read_at(spool->space, "recorder", &text, 64) &&
		    str_hex(str_trim(str_head(text_view(&text), text.n ? text.n - 1 : 0)), &spool->recorder);

	text_free(&text);
	return good;
}

/* Reads spool->recorder from spool/recorder; creates the file with a random id if it does not exist. If two processes
 * create it at once, the rename of the second one fails, and it uses the id of the first. */
static void make_recorder(struct spool *spool, const char *dir)
{
	char temp[TEMPFILE_NAME] = "", line[32];
	uint64_t random;
	int fd;

	if (read_recorder(spool))
		return;
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		die_errno("cannot read random numbers");
	snprintf(line, sizeof(line), "%016" PRIx64 "\n", random);
	fd = tempfile_create(spool->space, 0640, temp);
	if (fd < 0 || !fullio_write(fd, str_of(line)) || fsync(fd) < 0) {
		int error = errno;

		/* A job of cron may fail here every minute, so the temporary file must not remain. */
		unlinkat(spool->space, temp, 0);
		errno = error;
		die_errno("cannot write '%s/spool/%s'", dir, temp);
	}
	if (!fullio_move_new(spool->space, temp, spool->space, "recorder"))
		unlinkat(spool->space, temp, 0);
	close(fd);
	if (!spool_synced(spool->space) || !read_recorder(spool))
		die("cannot read '%s/spool/recorder': remove it if it is damaged and nothing waits to be sent", dir);
}

void spool_open(struct spool *spool, const char *dir)
{
	struct outpath place;

	spool->name = dir;
	spool->dir = outpath_directory(&place, dir, 0);
	if (place.refused[0])
		die("cannot use the directory '%s': %s", dir, place.refused);
	if (spool->dir < 0)
		die_errno("cannot use the directory '%s'", dir);
	outpath_close(&place);
	spool->space = spool_enter(spool->dir, dir, "spool", true);
	spool->bad = spool_enter(spool->dir, dir, "bad", true);
	spool->out = spool_enter(spool->dir, dir, "out", false);
	spool->machine = machine_number();
	spool->alone = false;
	make_recorder(spool, dir);
}

bool spool_lock(struct spool *spool)
{
	spool->alone = flock(spool->space, LOCK_EX | LOCK_NB) == 0;
	return spool->alone;
}

void spool_sweep(struct spool *spool)
{
	/* tempfile_sweep skips temporary files that other processes are writing, as these are locked. */
	tempfile_sweep(spool->space);
	tempfile_sweep(spool->bad);
	/* temporary files of DIR/pjsend.prom */
	tempfile_sweep(spool->dir);
}

void spool_close(struct spool *spool)
{
	close(spool->dir);
	close(spool->space);
	close(spool->bad);
	if (spool->out >= 0)
		close(spool->out);
}

/* ---- lists of windows ------------------------------------------------------------------------------------------ */

bool spool_windows(const struct spool *spool, struct spool_name **names, size_t *n)
{
	DIR *dir = listing_open(spool->space);
	const struct dirent *entry;
	struct spool_name name;
	size_t retained = 0;
	bool zstd;

	*names = NULL;
	*n = 0;
	if (!dir)
		return false;
	while ((entry = readdir(dir))) {
		if (!spool_parse_name(entry->d_name, &name, &zstd))
			continue;
		*names = mem_more(*names, sizeof(**names), *n);
		(*names)[(*n)++] = name;
	}
	closedir(dir);
	if (*n)
		qsort(*names, *n, sizeof(**names), name_cmp);
	for (size_t i = 0; i < *n; i++)
		if (retained == 0 || name_cmp(*names + retained - 1, *names + i) != 0)
			(*names)[retained++] = (*names)[i];
	*n = retained;
	return true;
}

/* Returns the modification time of a file in ns since 1970; 0 if it is absent. */
static uint64_t changed_at(int folder, const char *name)
{
	struct stat status;

	if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) < 0 || status.st_mtim.tv_sec < 0)
		return 0;
	return (uint64_t)status.st_mtim.tv_sec * SECOND_NS + (uint64_t)status.st_mtim.tv_nsec;
}

struct completed {
	uint64_t at;
	struct spool_name name;
};

static int completed_cmp(const void *a, const void *b)
{
	const struct completed *completed = a, *y = b;

	if (completed->at != y->at)
		return completed->at < y->at ? -1 : 1;
	return name_cmp(&completed->name, &y->name);
}

void spool_oldest_first(const struct spool *spool, struct spool_name *names, size_t n)
{
	struct completed *list = mem_alloc(sizeof(*list), n + 1);
	char name[NAME];

	for (size_t i = 0; i < n; i++) {
		list[i].name = names[i];
		for (unsigned zstd = 0; zstd < 2; zstd++) {
			uint64_t at;

			spool_put_name(name, names[i], zstd);
			at = changed_at(spool->space, name);
			if (at > list[i].at)
				list[i].at = at;
		}
	}
	qsort(list, n, sizeof(*list), completed_cmp);
	for (size_t i = 0; i < n; i++)
		names[i] = list[i].name;
	free(list);
}

bool spool_chunks(struct spool *spool, uint64_t **epochs, size_t *n)
{
	DIR *dir;
	const struct dirent *entry;
	uint64_t epoch;

	*epochs = NULL;
	*n = 0;
	/* pjrecord may create out/ after pjsend has started. */
	if (spool->out < 0)
		spool->out = spool_enter(spool->dir, spool->name, "out", false);
	if (spool->out < 0)
		return true;
	dir = listing_open(spool->out);
	if (!dir)
		return false;
	while ((entry = readdir(dir))) {
		if (!parse_chunk(entry->d_name, &epoch))
			continue;
		*epochs = mem_more(*epochs, sizeof(**epochs), *n);
		(*epochs)[(*n)++] = epoch;
	}
	closedir(dir);
	if (*n)
		qsort(*epochs, *n, sizeof(**epochs), epoch_cmp);
	return true;
}

static int spool_open_window(const struct spool *spool, struct spool_name n, char name[NAME])
{
	int fd = -1;

	for (unsigned zstd = 0; zstd < 2 && fd < 0; zstd++) {
		spool_put_name(name, n, zstd);
		fd = spool_open_file(spool->space, name);
	}
	return fd;
}

bool spool_has(const struct spool *spool, struct spool_name n)
{
	char name[NAME];
	int fd = spool_open_window(spool, n, name);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* ---- reading and writing windows ------------------------------------------------------------------------------- */

/* Sets the modification time of a spooled window to the modification time of its recording, at which the recording was
 * completed (spool_oldest_first). Without a recording, or on failure, the window keeps its own modification time. */
static void copy_stamp(const struct spool *spool, struct spool_name n, const char *name)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { 0 } };
	char chunk[NAME];
	uint64_t at;

	chunk_name(chunk, n.epoch);
	if (spool->out < 0 || n.tag != spool->recorder || !(at = changed_at(spool->out, chunk)))
		return;
	times[1] = (struct timespec){ .tv_sec = (time_t)(at / SECOND_NS), .tv_nsec = (long)(at % SECOND_NS) };
	utimensat(spool->space, name, times, AT_SYMLINK_NOFOLLOW);
}

bool spool_put(struct spool *spool, struct spool_name n, struct str text)
{
	struct text packed = { 0 };
	char name[NAME];
	bool good;
	int error;

	spool_put_name(name, n, pack_has_zstd);
	errno = ENOMEM;
	good = (pack_has_zstd ? pack_zstd(&packed, text, spool->saved ? PACK_ZSTD : PACK_ZSTD_SHORT) :
				pack_gzip(&packed, text, PACK_GZIP)) &&
	       fullio_replace(spool->space, name, text_view(&packed));
	error = errno;
	if (good)
		copy_stamp(spool, n, name);
	spool->put_bytes = (packed.n + 4095) & ~(uint64_t)4095;
	text_free(&packed);
	errno = error;
	return good;
}

/* Appends the decompressed content of a file to *text. Returns false on failure, with errno; EBADMSG: the file is
 * corrupt. */
static bool unpack_all(int fd, struct text *text)
{
	struct unpack unpack;
	size_t n = 1;
	bool good;

	unpack_open(&unpack, fd);
	while (n && text->n < TEXT_MAX) {
		text_reserve(text, 65536);
		n = unpack_read(&unpack, text->p + text->n, text->cap - text->n);
		text->n += n;
	}
	good = !unpack.errors && n == 0;
	unpack_close(&unpack);
	errno = unpack.error ? unpack.error : EBADMSG;
	return good;
}

bool spool_get(const struct spool *spool, struct spool_name n, struct text *text, struct text *packed)
{
	char name[NAME];
	int fd = spool_open_window(spool, n, name), error;
	bool good;

	if (fd < 0)
		return false;
	text->n = 0;
	good = unpack_all(fd, text);
	if (good && packed) {
		packed->n = 0;
		good = lseek(fd, 0, SEEK_SET) == 0 && fullio_read(fd, packed, TEXT_MAX);
	}
	error = errno;
	close(fd);
	errno = error;
	return good;
}

int spool_chunk_open(const struct spool *spool, uint64_t epoch)
{
	char name[NAME];
	struct stat status;
	int fd, error;

	chunk_name(name, epoch);
	fd = spool->out < 0 ? -1 : spool_open_file(spool->out, name);
	if (fd < 0)
		return -1;
	if (flock(fd, LOCK_SH | LOCK_NB) < 0)
		error = errno == EWOULDBLOCK ? EBUSY : errno;
	else if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
		error = EINVAL;
	else
		return fd;
	close(fd);
	errno = error;
	return -1;
}

/* Removes the recording under an exclusive lock, which fails, with EBUSY, while a reader holds a shared lock. */
bool spool_drop_chunk(const struct spool *spool, uint64_t epoch)
{
	char name[NAME];
	int fd, error = 0;

	chunk_name(name, epoch);
	fd = spool->out < 0 ? -1 : spool_open_file(spool->out, name);
	if (fd < 0)
		return spool->out < 0 || errno == ENOENT;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		error = EBUSY;
	else if (unlinkat(spool->out, name, 0) < 0 && errno != ENOENT)
		error = errno;
	else if (!spool_synced(spool->out))
		error = errno;
	close(fd);
	errno = error;
	return error == 0;
}

static bool drop_window(const struct spool *spool, struct spool_name n)
{
	char name[NAME];

	for (unsigned zstd = 0; zstd < 2; zstd++) {
		spool_put_name(name, n, zstd);
		if (unlinkat(spool->space, name, 0) < 0 && errno != ENOENT)
			return false;
	}
	return true;
}

bool spool_done(struct spool *spool, struct spool_name name)
{
	if (name.tag == spool->recorder && !spool_drop_chunk(spool, name.epoch))
		return false;
	return drop_window(spool, name);
}

/* ---- refused windows ------------------------------------------------------------------------------------------- */

static bool spool_write_why(const struct spool *spool, const char *name, struct str why)
{
	struct text text = { 0 };
	char file[NAME + 32];
	bool good;

	text_str(&text, why);
	text_char(&text, '\n');
	snprintf(file, sizeof(file), "%s.why", name);
	good = fullio_replace(spool->bad, file, text_view(&text));
	text_free(&text);
	return good;
}

/* Appends to *there the lines of `text` that *there does not contain yet. */
static void spool_merge(struct text *there, struct str text)
{
	struct intern lines = { 0 };

	for (struct str rest = text_view(there); rest.n;)
		intern(&lines, str_cut(&rest, '\n'));
	while (text.n) {
		struct str line = str_cut(&text, '\n');

		if (intern_find(&lines, line))
			continue;
		text_str(there, line);
		text_char(there, '\n');
	}
	intern_free(&lines);
}

bool spool_refuse_part(struct spool *spool, struct spool_name n, struct str text, struct str why)
{
	struct text packed = { 0 }, all = { 0 };
	char name[NAME];
	bool good;
	int fd;

	spool_put_name(name, n, false);
	fd = spool_open_file(spool->bad, name);
	if (fd < 0 || !unpack_all(fd, &all))
		all.n = 0;
	if (fd >= 0)
		close(fd);
	spool_merge(&all, text);
	good = spool_write_why(spool, name, why) && pack_gzip(&packed, text_view(&all), PACK_GZIP) &&
	       fullio_replace(spool->bad, name, text_view(&packed));
	text_free(&packed);
	text_free(&all);
	return good;
}

/* Moves the file `name` of folder `from` to bad/ under the name `to`, and writes the reason to a file beside it.
 * Returns false on failure, with errno; EEXIST: bad/ already has a file of that name. */
static bool move_to_bad(const struct spool *spool, int from, const char *name, const char *to, struct str why)
{
	if (faccessat(spool->bad, to, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
		errno = EEXIST;
		return false;
	}
	return spool_write_why(spool, to, why) && fullio_move_new(from, name, spool->bad, to) &&
	       spool_synced(spool->bad);
}

bool spool_refuse(struct spool *spool, struct spool_name n, struct str why)
{
	char name[NAME], to[NAME];
	int fd;
	bool good;

	if (n.tag == spool->recorder && !spool_drop_chunk(spool, n.epoch))
		return false;
	fd = spool_open_window(spool, n, name);
	if (fd < 0)
		return false;
	close(fd);
	do {
		spool_put_name(to, n, str_ends(str_of(name), STR(".zst")));
		good = move_to_bad(spool, spool->space, name, to, why);
		n.tag++;
	} while (!good && errno == EEXIST);
	return good;
}

bool spool_refuse_chunk(struct spool *spool, uint64_t epoch, struct str why)
{
	char name[NAME], to[NAME + 24];
	bool good;

	chunk_name(name, epoch);
	snprintf(to, sizeof(to), "%s", name);
	for (unsigned i = 2; !(good = move_to_bad(spool, spool->out, name, to, why)) && errno == EEXIST; i++)
		snprintf(to, sizeof(to), "%s.%u", name, i);
	return good && spool_synced(spool->out);
}

/* ---- disk space of the spool ------------------------------------------------------------------------------------- */

static uint64_t spool_bytes_at(int folder, const char *name)
{
	struct stat status;

	return fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_blocks > 0 ?
		       (uint64_t)status.st_blocks * 512 :
		       0;
}

/* Returns true if a file has a name that pj gives: a window in spool/ or bad/, or a recording in bad/ ("E.data",
 * "E.data.2"). Sets *epoch to the start of the window in s since 1970. */
static bool is_ours(const char *name, uint64_t *epoch)
{
	struct str rest = str_of(name), digits = str_cut(&rest, '.');
	struct spool_name n;
	uint64_t again;
	bool zstd;

	if (spool_parse_name(name, &n, &zstd)) {
		*epoch = n.epoch;
		return true;
	}
	return str_u64(digits, epoch) &&
	       (str_eq(rest, STR("data")) || (str_starts(rest, STR("data.")) && str_u64(str_from(rest, 5), &again)));
}

static uint64_t spool_bytes_of(int folder)
{
	DIR *dir = listing_open(folder);
	const struct dirent *entry;
	uint64_t bytes = 0, epoch;

	while (dir && (entry = readdir(dir)))
		if (is_ours(entry->d_name, &epoch))
			bytes += spool_bytes_at(folder, entry->d_name);
	if (dir)
		closedir(dir);
	return bytes;
}

uint64_t spool_bytes(const struct spool *spool, uint64_t *bad)
{
	*bad = spool_bytes_of(spool->bad);
	return spool_bytes_of(spool->space);
}

uint64_t spool_window_bytes(const struct spool *spool, struct spool_name n)
{
	char name[NAME];
	uint64_t bytes = 0;

	for (unsigned zstd = 0; zstd < 2; zstd++) {
		spool_put_name(name, n, zstd);
		bytes += spool_bytes_at(spool->space, name);
	}
	return bytes;
}

double spool_free(const struct spool *spool)
{
	struct statvfs filesystem;

	if (fstatvfs(spool->dir, &filesystem) < 0 || !filesystem.f_blocks)
		return 1;
	return (double)filesystem.f_bavail / (double)filesystem.f_blocks;
}

bool spool_drop_bad(const struct spool *spool, uint64_t *bytes)
{
	DIR *dir = listing_open(spool->bad);
	const struct dirent *entry;
	uint64_t epoch, least = UINT64_MAX;
	char oldest[NAME + 24] = "", why[NAME + 32];

	while (dir && (entry = readdir(dir)))
		if (is_ours(entry->d_name, &epoch) && epoch < least && strlen(entry->d_name) < sizeof(oldest)) {
			least = epoch;
			memcpy(oldest, entry->d_name, strlen(entry->d_name) + 1);
		}
	if (dir)
		closedir(dir);
	if (!*oldest)
		return false;
	*bytes = spool_bytes_at(spool->bad, oldest);
	snprintf(why, sizeof(why), "%s.why", oldest);
	unlinkat(spool->bad, why, 0);
	return unlinkat(spool->bad, oldest, 0) == 0;
}
