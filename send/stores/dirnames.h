/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dirnames.h - how files and folders of a store in a directory are called, pj-store(5).
 *
 *	PATH/HOST/2026-11-21/1795293830+30.0123456789abcdef.folded.gz    a window: when, how long, which stream
 *	PATH/HOST/2026-11-21/1795291200+3600.0123456789abcdef.hour.gz    the sum of those that began in that hour
 *
 * The name says all that listing needs. .zst instead of .gz: packed by zstd. Whatever is called otherwise is not ours,
 *and is never touched, but for temporary files (tempfile.h).
 */
#ifndef PJ_DIRNAMES_H
#define PJ_DIRNAMES_H

#include "common/text.h"

#define DIR_HOUR 3600u
#define DIR_DAY 86400u
#define DIR_NAME 128 /* bytes that hold any name of a file */

struct dir_name {
	uint64_t epoch, until, stream;
	bool hour; /* a roll-up */
	bool zstd;
};

/* Only what dir_name_put would make is a name. */
bool dir_name_parse(const char *string, struct dir_name *name);
void dir_name_put(char s[DIR_NAME], const struct dir_name *name);
int dir_name_cmp(const void *left, const void *right); /* by epoch, roll-ups first, then stream */

/* "2026-11-21" of a day since 1970, and back. */
void dir_day_put(char s[16], uint64_t day);
bool dir_day_parse(const char *string, uint64_t *day);

/* Letters, digits, '.', '_' and '-', not beginning with a dot, at most 255. */
bool dir_host_good(struct str host);

/* Lists: freed with free. Files of a folder that begin in [from, to), in order; one of each window, should there be two
 * (of either packing). False: errno. */
bool dir_files(int folder, uint64_t from, uint64_t to, struct dir_name **files, size_t *n);
/* Names of folders below, sorted, each allocated: days, or hosts. dir_folders_free. */
bool dir_folders(int folder, bool days, char ***names, size_t *n);
void dir_folders_free(char **names, size_t n);

/* A folder below another, no link; -1: errno. */
int dir_enter(int folder, const char *name);

#endif
