/* SPDX-License-Identifier: Apache-2.0 */
#include "send/stores/dirnames.h"

#include "common/arena.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define EPOCH_MAX UINT64_C(253402300800) /* the year 10000 */

/* ---- names --------------------------------------------------------------------------------------------------- */

void dir_name_put(char s[DIR_NAME], const struct dir_name *n)
{
	snprintf(s, DIR_NAME, "%" PRIu64 "+%" PRIu64 ".%016" PRIx64 ".%s.%s", n->epoch, n->until - n->epoch, n->stream,
		 n->hour ? "hour" : "folded", n->zstd ? "zst" : "gz");
}

bool dir_name_parse(const char *s, struct dir_name *n)
{
	struct str rest = str_of(s), epoch = str_cut(&rest, '+'), span = str_cut(&rest, '.'),
		   stream = str_cut(&rest, '.'), kind = str_cut(&rest, '.');
	uint64_t seconds;
	char back[DIR_NAME];

	if (!str_u64(epoch, &n->epoch) || !str_u64(span, &seconds) || !str_hex(stream, &n->stream) ||
	    n->epoch >= EPOCH_MAX || seconds == 0 || seconds > EPOCH_MAX)
		return false;
	n->until = n->epoch + seconds;
	n->hour = str_eq(kind, STR("hour"));
	n->zstd = str_eq(rest, STR("zst"));
	if (n->hour && (seconds != DIR_HOUR || n->epoch % DIR_HOUR))
		return false;
	dir_name_put(back, n);
	return str_eq(str_of(s), str_of(back));
}

int dir_name_cmp(const void *va, const void *vb)
{
	const struct dir_name *a = va, *b = vb;

	if (a->epoch != b->epoch)
		return a->epoch < b->epoch ? -1 : 1;
	if (a->hour != b->hour)
		return a->hour ? -1 : 1;
	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	if (a->until != b->until)
		return a->until < b->until ? -1 : 1;
	return (int)a->zstd - (int)b->zstd;
}

void dir_day_put(char s[16], uint64_t day)
{
	time_t t = (time_t)(day * DIR_DAY);
	struct tm tm;

	gmtime_r(&t, &tm);
	snprintf(s, 16, "%04u-%02u-%02u", (unsigned)(tm.tm_year + 1900) % 10000, (unsigned)tm.tm_mon + 1,
		 (unsigned)tm.tm_mday);
}

bool dir_day_parse(const char *s, uint64_t *day)
{
	struct str rest = str_of(s), y = str_cut(&rest, '-'), m = str_cut(&rest, '-');
	uint64_t year, month, dom;
	struct tm tm = { 0 };
	char back[16];
	time_t t;

	if (!str_u64(y, &year) || !str_u64(m, &month) || !str_u64(rest, &dom) || year < 1970 || year > 9999 ||
	    month < 1 || month > 12 || dom < 1 || dom > 31)
		return false;
	tm.tm_year = (int)year - 1900;
	tm.tm_mon = (int)month - 1;
	tm.tm_mday = (int)dom;
	t = timegm(&tm);
	if (t < 0)
		return false;
	*day = (uint64_t)t / DIR_DAY;
	dir_day_put(back, *day);
	return str_eq(str_of(s), str_of(back));
}

bool dir_host_good(struct str host)
{
	if (host.n == 0 || host.n > 255 || host.p[0] == '.')
		return false;
	for (size_t i = 0; i < host.n; i++) {
		char c = host.p[i];

		if (!byte_is_digit(c) && !((c | 32) >= 'a' && (c | 32) <= 'z') && c != '.' && c != '_' && c != '-')
			return false;
	}
	return true;
}

/* ---- folders ------------------------------------------------------------------------------------------------- */

static DIR *dirnames_open_list(int folder)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d && fd >= 0)
		close(fd);
	return d;
}

static bool same_window(const struct dir_name *a, const struct dir_name *b)
{
	return a->epoch == b->epoch && a->until == b->until && a->stream == b->stream && a->hour == b->hour;
}

/* What is far from being asked for is not looked at further: names are many. */
static bool is_within(const char *s, uint64_t from, uint64_t to)
{
	uint64_t epoch = 0;

	for (; byte_is_digit(*s) && epoch < EPOCH_MAX; s++)
		epoch = epoch * 10 + (uint64_t)(*s - '0');
	return epoch >= from && epoch < to;
}

bool dir_files(int folder, uint64_t from, uint64_t to, struct dir_name **files, size_t *n)
{
	DIR *d = dirnames_open_list(folder);
	const struct dirent *e;
	struct dir_name name;
	size_t saved = 0;

	*files = NULL;
	*n = 0;
	if (!d)
		return false;
	while ((errno = 0, e = readdir(d))) {
		if (!is_within(e->d_name, from, to) || !dir_name_parse(e->d_name, &name))
			continue;
		*files = mem_more(*files, sizeof(**files), *n);
		(*files)[(*n)++] = name;
	}
	if (errno) {
		closedir(d);
		free(*files);
		*files = NULL;
		*n = 0;
		return false;
	}
	closedir(d);
	if (*n)
		qsort(*files, *n, sizeof(**files), dir_name_cmp);
	for (size_t i = 0; i < *n; i++)
		if (saved == 0 || !same_window(*files + saved - 1, *files + i))
			(*files)[saved++] = (*files)[i];
	*n = saved;
	return true;
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

bool dir_folders(int folder, bool days, char ***names, size_t *n)
{
	DIR *d = dirnames_open_list(folder);
	const struct dirent *e;
	uint64_t day;

	*names = NULL;
	*n = 0;
	if (!d)
		return false;
	while ((e = readdir(d))) {
		size_t len = strlen(e->d_name);
		char *copy;

		if (!(days ? dir_day_parse(e->d_name, &day) : dir_host_good((struct str){ e->d_name, len })))
			continue;
		copy = mem_alloc(1, len + 1);
		memcpy(copy, e->d_name, len);
		*names = mem_more(*names, sizeof(**names), *n);
		(*names)[(*n)++] = copy;
	}
	closedir(d);
	if (*n)
		qsort(*names, *n, sizeof(**names), by_bytes);
	return true;
}

void dir_folders_free(char **names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

int dir_enter(int folder, const char *name)
{
	return openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}
