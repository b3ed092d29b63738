/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dirstore.h - internal interface of the dir: store.
 *
 * dirstore.c sends windows, dirread.c reads them, dirtidy.c rolls up and deletes them. Files are written under a
 * temporary name, synced and renamed, so a reader sees only complete files.
 */
#ifndef PJ_DIRSTORE_H
#define PJ_DIRSTORE_H

#include "send/stores/dirnames.h"
#include "send/store.h"

/* An open dir: store. */
struct dir_store {
	/* path of the store's directory, and its descriptor */
	char *path;
	int root;
	/* true if new files are compressed by zstd, false if by gzip */
	bool zstd;
	/* limits as in struct store_options */
	uint64_t keep_days, max_bytes, roll_up_days;
};

/* Appends `string` to *text, compressed by the store's format. Returns false if memory is short. */
bool dir_pack(const struct dir_store *store, struct text *text, struct str string);

/* The functions `list`, `fetch` and `tidy` of store_dir (struct store_ops). */
bool dir_list(void *store, const struct store_query *query, const struct store_sink *sink, struct text *why);
bool dir_fetch(void *store, const struct store_query *query, const struct store_sink *sink, struct text *why);
bool dir_tidy(void *store, struct str host, uint64_t now);

/* Returns true if a roll-up's list of windows contains `offset`. offsets: "0,30,60", starts of the windows in s after
 * the start of the hour. */
bool dir_hour_holds(struct str offsets, uint64_t offset);
/* Opens the roll-up of an hour and stream, in either compression, and sets *name to the parts of its file name. Returns
 * its descriptor; -1 if there is none. */
int dir_hour_open(int day, uint64_t hour, uint64_t stream, struct dir_name *name);
/* Reads a roll-up's list of windows into *offsets. Returns false if the file is corrupt. */
bool dir_hour_list(int fd, struct text *offsets);

#endif
