/* SPDX-License-Identifier: Apache-2.0 */
/* dirstore.h - what the parts of the store in a directory share: sending (dirstore), reading (dirread), upkeep
 * (dirtidy). */
#ifndef PJ_DIRSTORE_H
#define PJ_DIRSTORE_H

#include "send/stores/dirnames.h"
#include "send/store.h"

struct dir_store {
	char *path;
	int root;
	bool zstd; /* what is written */
	uint64_t keep_days, max_bytes, roll_up_days;
};

bool dir_pack(const struct dir_store *store, struct text *text, struct str string);

bool dir_list(void *store, const struct store_query *query, const struct store_sink *sink, struct text *why);
bool dir_fetch(void *store, const struct store_query *query, const struct store_sink *sink, struct text *why);
bool dir_tidy(void *store, struct str host, uint64_t now);

/* A roll-up says which windows it holds, as seconds from its hour: "0,30,60". Does it hold one that began then? */
bool dir_hour_holds(struct str offsets, uint64_t offset);
/* Opens the roll-up of an hour and stream, of either packing; -1: there is none. *n: its name. */
int dir_hour_open(int day, uint64_t hour, uint64_t stream, struct dir_name *name);
/* Its list of windows, from the line behind the header; false: it is damaged. */
bool dir_hour_list(int fd, struct text *offsets);

#endif
