/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eventids.h - table that translates the kernel's ids of open events to indexes of events.
 *
 * The kernel gives each open event an id of its own: one for each CPU, target and twin. Records contain that id, and
 * one lookup is made for each sample, so the table is a hash table. Ids of closed events stay in the table, because the
 * rings may still hold records of these events.
 */
#ifndef PJ_EVENTIDS_H
#define PJ_EVENTIDS_H

#include "common/base.h"

struct eventid {
	uint64_t id;
	uint64_t event; /* index of the event, from 1; 0: free slot */
};

/* A zeroed table is empty. */
struct eventids {
	struct eventid *slot; /* hash table by id, with open addressing */
	size_t n, mask;
};

/* Adds an id of the kernel, or replaces its event. event: index of the event, at least 1. */
void eventids_add(struct eventids *ids, uint64_t id, uint64_t event);
/* Returns the index of the event with this id; 0 for an unknown id. */
uint64_t eventids_find(const struct eventids *ids, uint64_t id);
/* Frees the table and zeroes the struct. */
void eventids_free(struct eventids *ids);

#endif
