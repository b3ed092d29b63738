/* SPDX-License-Identifier: Apache-2.0 */
#include "send/stores/dirnames.h"

#include "common/files/listing.h"
#include "common/arena.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* exclusive upper limit of times in s since 1970: start of the year 10000 */
#define EPOCH_MAX UINT64_C(253402300800)

/* ---- names of files -------------------------------------------------------------------------------------------- */

void dir_name_put(char s[DIR_NAME], const struct dir_name *name)
{
	snprintf(s, DIR_NAME, "%" PRIu64 "+%" PRIu64 ".%016" PRIx64 ".%s.%s", name->epoch, name->until - name->epoch,
		 name->stream, name->hour ? "hour" : "folded", name->zstd ? "zst" : "gz");
}

bool dir_name_parse(const char *string, struct dir_name *name)
{
	struct str rest = str_of(string), epoch = str_cut(&rest, '+'), span = str_cut(&rest, '.'),
		   stream = str_cut(&rest, '.'), kind = str_cut(&rest, '.');
	uint64_t seconds;
	char back[DIR_NAME];

	if (!str_u64(epoch, &name->epoch) || !str_u64(span, &seconds) || !str_hex(stream, &name->stream) ||
	    name->epoch >= EPOCH_MAX || seconds == 0 || seconds > EPOCH_MAX)
		return false;
	name->until = name->epoch + seconds;
	name->hour = str_eq(kind, STR("hour"));
	name->zstd = str_eq(rest, STR("zst"));
	if (name->hour && (seconds != DIR_HOUR || name->epoch % DIR_HOUR))
		return false;
	dir_name_put(back, name);
	return str_eq(str_of(string), str_of(back));
}

int dir_name_cmp(const void *left, const void *right)
{
	const struct dir_name *name = left, *b = right;

	if (name->epoch != b->epoch)
		return name->epoch < b->epoch ? -1 : 1;
	if (name->hour != b->hour)
		return name->hour ? -1 : 1;
	if (name->stream != b->stream)
		return name->stream < b->stream ? -1 : 1;
	if (name->until != b->until)
		return name->until < b->until ? -1 : 1;
	return (int)name->zstd - (int)b->zstd;
}

void dir_day_put(char s[16], uint64_t day)
{
	time_t seconds = (time_t)(day * DIR_DAY);
	struct tm calendar;

	gmtime_r(&seconds, &calendar);
	snprintf(s, 16, "%04u-%02u-%02u", (unsigned)(calendar.tm_year + 1900) % 10000, (unsigned)calendar.tm_mon + 1,
		 (unsigned)calendar.tm_mday);
}

bool dir_day_parse(const char *string, uint64_t *day)
{
	struct str rest = str_of(string), y = str_cut(&rest, '-'), m = str_cut(&rest, '-');
	uint64_t year, month, dom;
	struct tm calendar = { 0 };
	char back[16];
	time_t seconds;

	if (!str_u64(y, &year) || !str_u64(m, &month) || !str_u64(rest, &dom) || year < 1970 || year > 9999 ||
	    month < 1 || month > 12 || dom < 1 || dom > 31)
		return false;
	calendar.tm_year = (int)year - 1900;
	calendar.tm_mon = (int)month - 1;
	calendar.tm_mday = (int)dom;
	seconds = timegm(&calendar);
	if (seconds < 0)
		return false;
	*day = (uint64_t)seconds / DIR_DAY;
	dir_day_put(back, *day);
	return str_eq(str_of(string), str_of(back));
}

bool dir_host_good(struct str host)
{
	if (host.n == 0 || host.n > 255 || host.p[0] == '.')
		return false;
	for (size_t i = 0; i < host.n; i++) {
		char byte = host.p[i];

		if (!byte_is_digit(byte) && !((byte | 32) >= 'a' && (byte | 32) <= 'z') && byte != '.' && byte != '_' &&
		    byte != '-')
			return false;
	}
	return true;
}

/* ---- contents of folders ----------------------------------------------------------------------------------------- */

static bool same_window(const struct dir_name *name, const struct dir_name *b)
{
	return name->epoch == b->epoch && name->until == b->until && name->stream == b->stream && name->hour == b->hour;
}

/* Quick test before a file name is parsed, as there are many names: returns false if its window does not begin in
 * [from, to), in s since 1970. */
static bool is_within(const char *string, uint64_t from, uint64_t to)
{
	uint64_t epoch = 0;

	for (; byte_is_digit(*string) && epoch < EPOCH_MAX; string++)
		epoch = epoch * 10 + (uint64_t)(*string - '0');
	return epoch >= from && epoch < to;
}

bool dir_files(int folder, uint64_t from, uint64_t to, struct dir_name **files, size_t *n)
{
	DIR *dir = listing_open(folder);
	const struct dirent *entry;
	struct dir_name name;
	size_t retained = 0;

	*files = NULL;
	*n = 0;
	if (!dir)
		return false;
	while ((errno = 0, entry = readdir(dir))) {
		if (!is_within(entry->d_name, from, to) || !dir_name_parse(entry->d_name, &name))
			continue;
		*files = mem_more(*files, sizeof(**files), *n);
		(*files)[(*n)++] = name;
	}
	if (errno) {
		closedir(dir);
		free(*files);
		*files = NULL;
		*n = 0;
		return false;
	}
	closedir(dir);
	if (*n)
		qsort(*files, *n, sizeof(**files), dir_name_cmp);
	for (size_t i = 0; i < *n; i++)
		if (retained == 0 || !same_window(*files + retained - 1, *files + i))
			(*files)[retained++] = (*files)[i];
	*n = retained;
	return true;
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

bool dir_folders(int folder, bool days, char ***names, size_t *n)
{
	DIR *dir = listing_open(folder);
	const struct dirent *entry;
	uint64_t day;

	*names = NULL;
	*n = 0;
	if (!dir)
		return false;
	while ((entry = readdir(dir))) {
		size_t len = strlen(entry->d_name);
		char *copy;

		if (!(days ? dir_day_parse(entry->d_name, &day) : dir_host_good((struct str){ entry->d_name, len })))
			continue;
		copy = mem_alloc(1, len + 1);
		memcpy(copy, entry->d_name, len);
		*names = mem_more(*names, sizeof(**names), *n);
		(*names)[(*n)++] = copy;
	}
	closedir(dir);
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
