/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dirstore.h - what the parts of the store in a directory share.
 *
 * dirstore.c sends, dirread.c reads, dirtidy.c rolls up and deletes. Files are written to a temporary name, synced and
 * renamed, so a reader sees complete files only.
 */
#ifndef PJ_DIRSTORE_H
#define PJ_DIRSTORE_H

#include "send/stores/dirnames.h"
#include "send/store.h"

/* An open store dir:. */
struct dir_store {
	/* path of the store's directory; its descriptor */
	char *path;
	int root;
	/* true: compress by zstd; false: by gzip */
	bool zstd;
	/* limits, see struct store_options */
	uint64_t keep_days, max_bytes, roll_up_days;
};

/* Appends string, compressed for this store. Returns false if memory is short. */
bool dir_pack(const struct dir_store *store, struct text *text, struct str string);

/* The functions send, list, fetch and tidy of struct store_ops for dir:. */
bool dir_list(void *store, const struct store_query *query, const struct store_sink *sink, struct text *why);
bool dir_fetch(void *store, const struct store_query *query, const struct store_sink *sink, struct text *why);
bool dir_tidy(void *store, struct str host, uint64_t now);

/* True if a roll-up's list of windows ("0,30,60", seconds from the start of its hour) contains offset. */
bool dir_hour_holds(struct str offsets, uint64_t offset);
/* Opens the roll-up of an hour and stream, in either compression, and sets *name to its file name. Returns the
 * descriptor; -1 if there is none. */
int dir_hour_open(int day, uint64_t hour, uint64_t stream, struct dir_name *name);
/* Reads the list of windows of a roll-up from the line after its header. Returns false if the file is corrupt. */
bool dir_hour_list(int fd, struct text *offsets);

#endif
