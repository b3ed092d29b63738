/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfevents.h - events of a recording: their names, ids and the layout of their records.
 *
 * A record contains the id of its event, but the position of the id depends on the event. perf chooses the options of
 * events so that the position is the same for all events of a file. For other files, perfevents_of() tries each
 * position.
 */
#ifndef PJ_PERFEVENTS_H
#define PJ_PERFEVENTS_H

#include "common/arena.h"
#include "fold/perfdata/perfdata.h"

/* Result of perfevents_add() and perfevents_of() if there is no event. All other results are indexes in
 * perfevents.event. */
#define EVENT_NONE UINT32_MAX

/* Positions in the records of one event, in 8-byte words. */
struct perfevents_layout {
	/* Indexes of words in a SAMPLE: id_at: of the word with the event id; time_at: of the word with the time. Word
	 * 0 follows the header; -1: samples of the event lack the word. */
	int8_t id_at, time_at;
	/* Positions of the event id (id_back) and of the time (time_back) in records that are not samples, in words
	 * from the end: 1: the last word; 0: the records have none. */
	uint8_t id_back, time_back;
	/* Number of words in the sample_id trailer of records that are not samples; 0: no trailer. */
	uint8_t trailer;
	/* Number of registers in a sample: regs_user in PERF_SAMPLE_REGS_USER, regs_intr in PERF_SAMPLE_REGS_INTR. */
	uint8_t regs_user, regs_intr;
};

/* Entry of the hash table of event ids. An event has one id for each CPU. */
struct perfevents_id {
	uint64_t id;
	/* Value of the counter with this id in its last sample with PERF_SAMPLE_READ; 0 before the first. */
	uint64_t last;
	/* 1 + index of the event; 0: the entry is empty. */
	uint32_t event;
};

struct perfevents {
	/* The events and their layouts: arrays of `cap` elements, of which the first n are used. They do not move in
	 * memory: records point to them. */
	struct perfdata_event *event;
	struct perfevents_layout *layout;
	size_t n, cap;
	/* Hash table with mask + 1 entries, of which nids are used; NULL before the first id. */
	struct perfevents_id *slot;
	size_t nids, mask;
	/* Positions at which perfevents_of() searches an event id: the distinct values of id_at and id_back in
	 * `layout`, starting with the first event's. nid_at and nid_back are the numbers of values. */
	int8_t id_at[4];
	uint8_t id_back[4];
	uint8_t nid_at, nid_back;
	/* True if at least one event requests build-ids of mappings (attr.build_id). */
	bool build_ids;
	/* clockid of the first event, for the times of all records; -1: perf's own clock. */
	int32_t clock;
	/* Memory of the names of the events. */
	struct arena text;
};

/* Initializes an empty list for at most `max` events. */
void perfevents_init(struct perfevents *perfevents, size_t max);

/* Adds an event. `attr` has the bytes of a struct perf_event_attr of any version. Returns the index of the event, or
 * EVENT_NONE if `attr` is too short or the list is full. */
uint32_t perfevents_add(struct perfevents *perfevents, struct str attr);
/* Assigns an id to the event with this index; an id that already belongs to another event is ignored. */
void perfevents_add_id(struct perfevents *perfevents, uint32_t event, uint64_t id);
/* Sets the name of the event with this index to a copy of `name`; an empty name is ignored. */
void perfevents_set_name(struct perfevents *perfevents, uint32_t event, struct str name);

/* Returns the hash table's entry of an event id; NULL if no event has this id. */
struct perfevents_id *perfevents_find(const struct perfevents *perfevents, uint64_t id);

/* Returns the index of the event of a record of this `type`, whose header is followed by n bytes at `body`. Returns 0,
 * the first event, if the recording has only one, or for a sample if samples have no id. If no event has the record's
 * id, returns EVENT_NONE for a sample, and 0 for another record. */
uint32_t perfevents_of(const struct perfevents *perfevents, uint32_t type, const char *body, size_t n);

/* Sets *time to the time in ns, on the recording's clock, of a record of the event with this index; 0 if the record has
 * none. `type`, `body` and `n`: as in perfevents_of(). Returns true if the record can be sorted by *time, false if
 * *time is 0 or ~0. */
bool perfevents_time(const struct perfevents *perfevents, uint32_t event, uint32_t type, const char *body, size_t n,
		     uint64_t *time);

/* Frees all memory, events and names included. */
void perfevents_free(struct perfevents *perfevents);

#endif
