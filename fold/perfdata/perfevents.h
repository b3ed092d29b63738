/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfevents.h - events of a recording: their names, ids and the layout of their records.
 *
 * A record has the id of its event, but the position of the id depends on the event. perf chooses its options so that
 * the position is the same for all events of a file. For other files, perfevents_of() tries each position.
 */
#ifndef PJ_PERFEVENTS_H
#define PJ_PERFEVENTS_H

#include "common/arena.h"
#include "fold/perfdata/perfdata.h"

/* Result of perfevents_add() and perfevents_of() without an event; other results are indexes of `event` and
 * `layout`. */
#define EVENT_NONE UINT32_MAX

/* Positions in the records of one event, in 8-byte words. */
struct perfevents_layout {
	/* Word of the id and of the time in a SAMPLE, counted from the end of the header; -1: the samples have none. */
	int8_t id_at, time_at;
	/* Word of the id and of the time in other records, counted from the end of the record (1: the last); 0:
	 * none. */
	uint8_t id_back, time_back;
	/* Length of the sample_id trailer of other records. */
	uint8_t trailer;
	/* Number of registers in PERF_SAMPLE_REGS_USER and PERF_SAMPLE_REGS_INTR. */
	uint8_t regs_user, regs_intr;
};

/* Entry of the hash table: the id of an event on one CPU. */
struct perfevents_id {
	uint64_t id;
	/* Value of this counter in the last sample (PERF_SAMPLE_READ). */
	uint64_t last;
	/* Index of the event plus 1; 0: the entry is empty. */
	uint32_t event;
};

struct perfevents {
	/* The events and their layouts, n of cap. They do not move in memory: records point to them. */
	struct perfdata_event *event;
	struct perfevents_layout *layout;
	size_t n, cap;
	/* Hash table of nids ids; mask + 1 entries. */
	struct perfevents_id *slot;
	size_t nids, mask;
	/* Distinct positions of the id, in 8-byte words: id_at from the start of a sample's body, id_back from the end
	 * of other records. That of the first event comes first. */
	int8_t id_at[4];
	uint8_t id_back[4];
	uint8_t nid_at, nid_back;
	/* At least one event requests build-ids of mappings (attr.build_id). */
	bool build_ids;
	/* clockid of the times, as the first event has it; -1: perf's own clock. */
	int32_t clock;
	/* Names of the events. */
	struct arena text;
};

/* Initializes an empty list for at most `max` events. */
void perfevents_init(struct perfevents *perfevents, size_t max);

/* Adds an event. `attr` has the bytes of a struct perf_event_attr of any version. Returns the index of the event, or
 * EVENT_NONE if `attr` is too short or the list is full. */
uint32_t perfevents_add(struct perfevents *perfevents, struct str attr);
/* Assigns an id to an event, or a name (copied; an empty name is ignored). */
void perfevents_add_id(struct perfevents *perfevents, uint32_t event, uint64_t id);
void perfevents_set_name(struct perfevents *perfevents, uint32_t event, struct str name);

/* Returns the entry of an id; NULL if no event has it. */
struct perfevents_id *perfevents_find(const struct perfevents *perfevents, uint64_t id);

/* Returns the index of the event of a record: n bytes at `body` follow the header of a record of this `type`.
 * EVENT_NONE if the file lists no event with that id. Records other than samples fall back to the first event. */
uint32_t perfevents_of(const struct perfevents *perfevents, uint32_t type, const char *body, size_t n);

/* Sets *time to the time of the record in ns, 0 if it has none. Returns true if the time can order the record: it is
 * neither 0 nor ~0. */
bool perfevents_time(const struct perfevents *perfevents, uint32_t event, uint32_t type, const char *body, size_t n,
		     uint64_t *time);

/* Frees all memory, events and names included. */
void perfevents_free(struct perfevents *perfevents);

#endif
