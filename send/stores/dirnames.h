/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dirnames.h - names of files and folders of a dir: store, pj-store(5).
 *
 *	PATH/HOST/2026-11-21/1795293830+30.0123456789abcdef.folded.gz    window: start and duration in s, stream
 *	PATH/HOST/2026-11-21/1795291200+3600.0123456789abcdef.hour.gz    roll-up: sum of the windows of that hour
 *
 * The names contain all that a list of windows needs. Files that are compressed by zstd end in .zst instead of .gz.
 * Files with other names do not belong to the store and are never touched, except temporary files (tempfile.h).
 */
#ifndef PJ_DIRNAMES_H
#define PJ_DIRNAMES_H

#include "common/text.h"

#define DIR_HOUR 3600u
#define DIR_DAY 86400u
/* size in bytes of a buffer for any file name */
#define DIR_NAME 128

/* The parts of a file name. epoch, until: time span in s since 1970; stream: hash of the stream's properties. */
struct dir_name {
	uint64_t epoch, until, stream;
	/* true if the file is a roll-up, the sum of an hour */
	bool hour;
	bool zstd;
};

/* Parse a file name, or write it to s. dir_name_parse returns false for names that dir_name_put never writes. */
bool dir_name_parse(const char *string, struct dir_name *name);
void dir_name_put(char s[DIR_NAME], const struct dir_name *name);
/* Compares file names for qsort: by epoch, then roll-ups first, then by stream. */
int dir_name_cmp(const void *left, const void *right);

/* Convert a day (number of days since 1970) to a folder name such as "2026-11-21", and back. dir_day_parse returns
 * false for other names. */
void dir_day_put(char s[16], uint64_t day);
bool dir_day_parse(const char *string, uint64_t *day);

/* Returns true if a host name is a valid folder name: 1 to 255 letters, digits, '.', '_' and '-', not starting with
 * '.'. */
bool dir_host_good(struct str host);

/* Lists the files of a folder whose windows begin in [from, to), in s since 1970, sorted by dir_name_cmp. A window in
 * both compressions is listed once. The caller frees *files by free(). Returns false on failure, with errno. */
bool dir_files(int folder, uint64_t from, uint64_t to, struct dir_name **files, size_t *n);
/* Lists the folders in a folder, sorted by name: folders of days if `days`, else of hosts. The caller frees the list by
 * dir_folders_free. Returns false on failure. */
bool dir_folders(int folder, bool days, char ***names, size_t *n);
void dir_folders_free(char **names, size_t n);

/* Opens a folder in another folder; does not follow symbolic links. Returns its descriptor; -1 with errno on
 * failure. */
int dir_enter(int folder, const char *name);

#endif
