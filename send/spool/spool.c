/* SPDX-License-Identifier: Apache-2.0 */
#include "send/spool/spool.h"

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
#define TEXT_MAX ((size_t)1 << 30) /* of a window, unpacked */

/* ---- names --------------------------------------------------------------------------------------------------- */

static void spool_put_name(char s[NAME], struct spool_name n, bool zstd)
{
	snprintf(s, NAME, "%" PRIu64 ".%016" PRIx64 ".folded.%s", n.epoch, n.tag, zstd ? "zst" : "gz");
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
	struct str s = str_of(name);
	char back[NAME];

	if (!str_ends(s, STR(".data")) || !str_u64(str_head(s, s.n - 5), epoch))
		return false;
	chunk_name(back, *epoch);
	return str_eq(s, str_of(back));
}

static int name_cmp(const void *va, const void *vb)
{
	const struct spool_name *a = va, *b = vb;

	if (a->epoch != b->epoch)
		return a->epoch < b->epoch ? -1 : 1;
	return a->tag < b->tag ? -1 : a->tag > b->tag;
}

static int epoch_cmp(const void *va, const void *vb)
{
	const uint64_t *a = va, *b = vb;

	return *a < *b ? -1 : *a > *b;
}

static DIR *spool_open_list(int folder)
{
	int fd = folder < 0 ? -1 : openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d && fd >= 0)
		close(fd);
	return d;
}

static int spool_open_file(int folder, const char *name)
{
	return openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

static bool spool_synced(int folder)
{
	return fsync(folder) == 0 || errno == EINVAL;
}

/* ---- DIR ----------------------------------------------------------------------------------------------------- */

static int spool_enter(int dir, const char *dir_name, const char *space, bool make)
{
	struct stat st, own;
	int fd;

	if (make && mkdirat(dir, space, 0750) < 0 ? errno != EEXIST : make && !spool_synced(dir))
		die_errno("cannot make the directory '%s/%s'", dir_name, space);
	fd = openat(dir, space, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
		die("'%s/%s' is a link, or no directory: refused", dir_name, space);
	if (fd < 0 && errno == ENOENT)
		return -1;
	if (fd < 0 || fstat(fd, &st) < 0 || fstat(dir, &own) < 0)
		die_errno("cannot use the directory '%s/%s'", dir_name, space);
	if (geteuid() == 0 && st.st_uid != 0 && st.st_uid != own.st_uid)
		die("'%s/%s' belongs to user %lu, not to %lu: refused", dir_name, space, (unsigned long)st.st_uid,
		    (unsigned long)own.st_uid);
	return fd;
}

/* The id itself is not to leave the host (machine-id(5)). */
static uint64_t machine_number(void)
{
	struct text t = { 0 };
	char host[256] = "";
	uint64_t n;

	text_add(&t, "pj machine ");
	if (!fullio_read_at(AT_FDCWD, "/etc/machine-id", &t, 4096) || t.n < 11 + 32) {
		gethostname(host, sizeof(host) - 1);
		text_add(&t, host);
	}
	n = hash_sum(t.p, t.n);
	text_free(&t);
	return n;
}

static bool read_recorder(struct spool *s)
{
	struct text t = { 0 };
	bool good = fullio_read_at(s->space, "recorder", &t, 64) &&
		    str_hex(str_trim(str_head(text_view(&t), t.n ? t.n - 1 : 0)), &s->recorder);

	text_free(&t);
	return good;
}

/* Two that start at once must agree: the one that comes second fails to link. */
static void make_recorder(struct spool *s, const char *dir)
{
	char temp[TEMPFILE_NAME] = "", line[32];
	uint64_t random;
	int fd;

	if (read_recorder(s))
		return;
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		die_errno("no random numbers");
	snprintf(line, sizeof(line), "%016" PRIx64 "\n", random);
	fd = tempfile_create(s->space, 0640, temp);
	if (fd < 0 || !fullio_write(fd, str_of(line)) || fsync(fd) < 0) {
		int error = errno;

		unlinkat(s->space, temp, 0); /* cron may come here each minute */
		errno = error;
		die_errno("cannot write '%s/spool/%s'", dir, temp);
	}
	if (renameat2(s->space, temp, s->space, "recorder", RENAME_NOREPLACE) < 0)
		unlinkat(s->space, temp, 0);
	close(fd);
	if (!spool_synced(s->space) || !read_recorder(s))
		die("cannot read '%s/spool/recorder': remove it, if it is damaged and nothing waits to be sent", dir);
}

void spool_open(struct spool *s, const char *dir)
{
	struct outpath place;

	s->name = dir;
	s->dir = outpath_directory(&place, dir, 0);
	if (place.refused[0])
		die("cannot use the directory '%s': %s", dir, place.refused);
	if (s->dir < 0)
		die_errno("cannot use the directory '%s'", dir);
	outpath_close(&place);
	s->space = spool_enter(s->dir, dir, "spool", true);
	s->bad = spool_enter(s->dir, dir, "bad", true);
	s->out = spool_enter(s->dir, dir, "out", false);
	s->machine = machine_number();
	s->alone = false;
	make_recorder(s, dir);
}

bool spool_lock(struct spool *s)
{
	s->alone = flock(s->space, LOCK_EX | LOCK_NB) == 0;
	return s->alone;
}

void spool_sweep(struct spool *s)
{
	DIR *d = spool_open_list(s->space);
	const struct dirent *e;

	while (d && (e = readdir(d))) {
		struct str name = str_of(e->d_name);
		struct stat st;

		/* others (a pipe) may be writing one right now */
		if (name.n < 5 || name.p[0] != '.' || !str_ends(name, STR(".tmp")) ||
		    fstatat(s->space, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		unlinkat(s->space, e->d_name, 0);
	}
	if (d)
		closedir(d);
	tempfile_sweep(s->bad);
	tempfile_sweep(s->dir); /* of pjsend.prom */
}

void spool_close(struct spool *s)
{
	close(s->dir);
	close(s->space);
	close(s->bad);
	if (s->out >= 0)
		close(s->out);
}

/* ---- lists --------------------------------------------------------------------------------------------------- */

bool spool_windows(const struct spool *s, struct spool_name **names, size_t *n)
{
	DIR *d = spool_open_list(s->space);
	const struct dirent *e;
	struct spool_name name;
	size_t saved = 0;
	bool zstd;

	*names = NULL;
	*n = 0;
	if (!d)
		return false;
	while ((e = readdir(d))) {
		if (!spool_parse_name(e->d_name, &name, &zstd))
			continue;
		*names = mem_more(*names, sizeof(**names), *n);
		(*names)[(*n)++] = name;
	}
	closedir(d);
	if (*n)
		qsort(*names, *n, sizeof(**names), name_cmp);
	for (size_t i = 0; i < *n; i++)
		if (saved == 0 || name_cmp(*names + saved - 1, *names + i) != 0)
			(*names)[saved++] = (*names)[i];
	*n = saved;
	return true;
}

/* ns since 1970 of the last change of a file; 0 if it is absent. */
static uint64_t changed_at(int folder, const char *name)
{
	struct stat st;

	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_mtim.tv_sec < 0)
		return 0;
	return (uint64_t)st.st_mtim.tv_sec * SECOND_NS + (uint64_t)st.st_mtim.tv_nsec;
}

struct completed {
	uint64_t at;
	struct spool_name name;
};

static int completed_cmp(const void *a, const void *b)
{
	const struct completed *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return name_cmp(&x->name, &y->name);
}

void spool_oldest_first(const struct spool *s, struct spool_name *names, size_t n)
{
	struct completed *list = mem_alloc(sizeof(*list), n + 1);
	char name[NAME];

	for (size_t i = 0; i < n; i++) {
		list[i].name = names[i];
		for (unsigned zstd = 0; zstd < 2; zstd++) {
			uint64_t at;

			spool_put_name(name, names[i], zstd);
			at = changed_at(s->space, name);
			if (at > list[i].at)
				list[i].at = at;
		}
	}
	qsort(list, n, sizeof(*list), completed_cmp);
	for (size_t i = 0; i < n; i++)
		names[i] = list[i].name;
	free(list);
}

bool spool_chunks(struct spool *s, uint64_t **epochs, size_t *n)
{
	DIR *d;
	const struct dirent *e;
	uint64_t epoch;

	*epochs = NULL;
	*n = 0;
	if (s->out < 0) /* who records may begin later than who sends */
		s->out = spool_enter(s->dir, s->name, "out", false);
	if (s->out < 0)
		return true;
	d = spool_open_list(s->out);
	if (!d)
		return false;
	while ((e = readdir(d))) {
		if (!parse_chunk(e->d_name, &epoch))
			continue;
		*epochs = mem_more(*epochs, sizeof(**epochs), *n);
		(*epochs)[(*n)++] = epoch;
	}
	closedir(d);
	if (*n)
		qsort(*epochs, *n, sizeof(**epochs), epoch_cmp);
	return true;
}

static int spool_open_window(const struct spool *s, struct spool_name n, char name[NAME])
{
	int fd = -1;

	for (unsigned zstd = 0; zstd < 2 && fd < 0; zstd++) {
		spool_put_name(name, n, zstd);
		fd = spool_open_file(s->space, name);
	}
	return fd;
}

bool spool_has(const struct spool *s, struct spool_name n)
{
	char name[NAME];
	int fd = spool_open_window(s, n, name);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* ---- windows ------------------------------------------------------------------------------------------------- */

/* When the recording was completed, for spool_oldest_first. Where it is gone, or this fails, the window is as new as it
 * seems. */
static void copy_stamp(const struct spool *s, struct spool_name n, const char *name)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { 0 } };
	char chunk[NAME];
	uint64_t at;

	chunk_name(chunk, n.epoch);
	if (s->out < 0 || n.tag != s->recorder || !(at = changed_at(s->out, chunk)))
		return;
	times[1] = (struct timespec){ .tv_sec = (time_t)(at / SECOND_NS), .tv_nsec = (long)(at % SECOND_NS) };
	utimensat(s->space, name, times, AT_SYMLINK_NOFOLLOW);
}

bool spool_put(struct spool *s, struct spool_name n, struct str text)
{
	struct text packed = { 0 };
	char name[NAME];
	bool good;
	int error;

	spool_put_name(name, n, pack_has_zstd);
	errno = ENOMEM;
	good = (pack_has_zstd ? pack_zstd(&packed, text, s->saved ? PACK_ZSTD : PACK_ZSTD_SHORT) :
				pack_gzip(&packed, text, PACK_GZIP)) &&
	       fullio_replace(s->space, name, text_view(&packed));
	error = errno;
	if (good)
		copy_stamp(s, n, name);
	s->put_bytes = (packed.n + 4095) & ~(uint64_t)4095;
	text_free(&packed);
	errno = error;
	return good;
}

/* A packed text into memory. False and errno: EBADMSG if it is damaged. */
static bool unpack_all(int fd, struct text *text)
{
	struct unpack u;
	size_t n = 1;
	bool good;

	unpack_open(&u, fd);
	while (n && text->n < TEXT_MAX) {
		text_reserve(text, 65536);
		n = unpack_read(&u, text->p + text->n, text->cap - text->n);
		text->n += n;
	}
	good = !u.errors && n == 0;
	unpack_close(&u);
	errno = u.error ? u.error : EBADMSG;
	return good;
}

bool spool_get(const struct spool *s, struct spool_name n, struct text *text, struct text *packed)
{
	char name[NAME];
	int fd = spool_open_window(s, n, name), error;
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

int spool_chunk_open(const struct spool *s, uint64_t epoch)
{
	char name[NAME];
	struct stat st;
	int fd, error;

	chunk_name(name, epoch);
	fd = s->out < 0 ? -1 : spool_open_file(s->out, name);
	if (fd < 0)
		return -1;
	if (flock(fd, LOCK_SH | LOCK_NB) < 0)
		error = errno == EWOULDBLOCK ? EBUSY : errno;
	else if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		error = EINVAL;
	else
		return fd;
	close(fd);
	errno = error;
	return -1;
}

/* Whoever unlinks holds the window's lock, so that nobody loses what it reads. */
bool spool_drop_chunk(const struct spool *s, uint64_t epoch)
{
	char name[NAME];
	int fd, error = 0;

	chunk_name(name, epoch);
	fd = s->out < 0 ? -1 : spool_open_file(s->out, name);
	if (fd < 0)
		return s->out < 0 || errno == ENOENT;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		error = EBUSY;
	else if (unlinkat(s->out, name, 0) < 0 && errno != ENOENT)
		error = errno;
	else if (!spool_synced(s->out))
		error = errno;
	close(fd);
	errno = error;
	return error == 0;
}

static bool drop_window(const struct spool *s, struct spool_name n)
{
	char name[NAME];

	for (unsigned zstd = 0; zstd < 2; zstd++) {
		spool_put_name(name, n, zstd);
		if (unlinkat(s->space, name, 0) < 0 && errno != ENOENT)
			return false;
	}
	return true;
}

bool spool_done(struct spool *s, struct spool_name n)
{
	if (n.tag == s->recorder && !spool_drop_chunk(s, n.epoch))
		return false;
	return drop_window(s, n);
}

/* ---- bad ----------------------------------------------------------------------------------------------------- */

static bool spool_write_why(const struct spool *s, const char *name, struct str why)
{
	struct text t = { 0 };
	char file[NAME + 32];
	bool good;

	text_str(&t, why);
	text_char(&t, '\n');
	snprintf(file, sizeof(file), "%s.why", name);
	good = fullio_replace(s->bad, file, text_view(&t));
	text_free(&t);
	return good;
}

/* Lines of text that are not there yet. */
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

bool spool_refuse_part(struct spool *s, struct spool_name n, struct str text, struct str why)
{
	struct text packed = { 0 }, all = { 0 };
	char name[NAME];
	bool good;
	int fd;

	spool_put_name(name, n, false);
	fd = spool_open_file(s->bad, name);
	if (fd < 0 || !unpack_all(fd, &all))
		all.n = 0;
	if (fd >= 0)
		close(fd);
	spool_merge(&all, text);
	good = spool_write_why(s, name, why) && pack_gzip(&packed, text_view(&all), PACK_GZIP) &&
	       fullio_replace(s->bad, name, text_view(&packed));
	text_free(&packed);
	text_free(&all);
	return good;
}

/* From a folder to bad/, with a reason beside it. False: errno; EEXIST: something has that name there. */
static bool move_to_bad(const struct spool *s, int from, const char *name, const char *to, struct str why)
{
	if (faccessat(s->bad, to, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
		errno = EEXIST;
		return false;
	}
	return spool_write_why(s, to, why) && renameat2(from, name, s->bad, to, RENAME_NOREPLACE) == 0 &&
	       spool_synced(s->bad);
}

bool spool_refuse(struct spool *s, struct spool_name n, struct str why)
{
	char name[NAME], to[NAME];
	int fd;
	bool good;

	if (n.tag == s->recorder && !spool_drop_chunk(s, n.epoch))
		return false;
	fd = spool_open_window(s, n, name);
	if (fd < 0)
		return false;
	close(fd);
	do {
		spool_put_name(to, n, str_ends(str_of(name), STR(".zst")));
		good = move_to_bad(s, s->space, name, to, why);
		n.tag++;
	} while (!good && errno == EEXIST);
	return good;
}

bool spool_refuse_chunk(struct spool *s, uint64_t epoch, struct str why)
{
	char name[NAME], to[NAME + 24];
	bool good;

	chunk_name(name, epoch);
	snprintf(to, sizeof(to), "%s", name);
	for (unsigned i = 2; !(good = move_to_bad(s, s->out, name, to, why)) && errno == EEXIST; i++)
		snprintf(to, sizeof(to), "%s.%u", name, i);
	return good && spool_synced(s->out);
}

/* ---- room ---------------------------------------------------------------------------------------------------- */

static uint64_t spool_bytes_at(int folder, const char *name)
{
	struct stat st;

	return fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_blocks > 0 ? (uint64_t)st.st_blocks * 512 :
											  0;
}

/* A window of ours in spool/ or bad/, or a recording in bad/ ("E.data", "E.data.2"), with the second in which it
 * begins. */
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
	DIR *d = spool_open_list(folder);
	const struct dirent *e;
	uint64_t bytes = 0, epoch;

	while (d && (e = readdir(d)))
		if (is_ours(e->d_name, &epoch))
			bytes += spool_bytes_at(folder, e->d_name);
	if (d)
		closedir(d);
	return bytes;
}

uint64_t spool_bytes(const struct spool *s, uint64_t *bad)
{
	*bad = spool_bytes_of(s->bad);
	return spool_bytes_of(s->space);
}

uint64_t spool_window_bytes(const struct spool *s, struct spool_name n)
{
	char name[NAME];
	uint64_t bytes = 0;

	for (unsigned zstd = 0; zstd < 2; zstd++) {
		spool_put_name(name, n, zstd);
		bytes += spool_bytes_at(s->space, name);
	}
	return bytes;
}

double spool_free(const struct spool *s)
{
	struct statvfs fs;

	if (fstatvfs(s->dir, &fs) < 0 || !fs.f_blocks)
		return 1;
	return (double)fs.f_bavail / (double)fs.f_blocks;
}

bool spool_drop_bad(const struct spool *s, uint64_t *bytes)
{
	DIR *d = spool_open_list(s->bad);
	const struct dirent *e;
	uint64_t epoch, least = UINT64_MAX;
	char oldest[NAME + 24] = "", why[NAME + 32];

	while (d && (e = readdir(d)))
		if (is_ours(e->d_name, &epoch) && epoch < least && strlen(e->d_name) < sizeof(oldest)) {
			least = epoch;
			memcpy(oldest, e->d_name, strlen(e->d_name) + 1);
		}
	if (d)
		closedir(d);
	if (!*oldest)
		return false;
	*bytes = spool_bytes_at(s->bad, oldest);
	snprintf(why, sizeof(why), "%s.why", oldest);
	unlinkat(s->bad, why, 0);
	return unlinkat(s->bad, oldest, 0) == 0;
}
