/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfevents.h - the events of a recording: their names, and where in their records things lie.
 *
 * A record says by an id to which event it belongs; where the id lies depends on the event. Perf makes the places equal
 * for all events of a file; where they are not, each place is tried.
 */
#ifndef PJ_PERFEVENTS_H
#define PJ_PERFEVENTS_H

#include "common/arena.h"
#include "fold/perfdata/perfdata.h"

#define EVENT_NONE UINT32_MAX

/* Places in 8-byte words. */
struct perfevents_layout {
	int8_t id_at, time_at;      /* in a SAMPLE, behind the header; -1: there is none */
	uint8_t id_back, time_back; /* in other records, from the end; 0: there is none */
	uint8_t trailer;            /* of other records */
	uint8_t regs_user, regs_intr;
};

struct perfevents_id {
	uint64_t id;
	uint64_t last;  /* value that was read before */
	uint32_t event; /* + 1; 0: empty */
};

struct perfevents {
	struct perfdata_event *event; /* they do not move */
	struct perfevents_layout *layout;
	size_t n, cap;
	struct perfevents_id *slot;
	size_t nids, mask;
	int8_t id_at[4]; /* the distinct places, that of the first event first */
	uint8_t id_back[4];
	uint8_t nid_at, nid_back;
	bool build_ids; /* an event asks for build-ids of mappings */
	int32_t clock;  /* that the first event chose for times; -1: perf's own */
	struct arena text;
};

void perfevents_init(struct perfevents *perfevents, size_t max);

/* attr: the bytes of a struct perf_event_attr, of any version. Its number; EVENT_NONE when there are too many or it is
 * too short. */
uint32_t perfevents_add(struct perfevents *perfevents, struct str attr);
void perfevents_add_id(struct perfevents *perfevents, uint32_t event, uint64_t id);
void perfevents_set_name(struct perfevents *perfevents, uint32_t event, struct str name);

/* NULL when nothing has this id. */
struct perfevents_id *perfevents_find(const struct perfevents *perfevents, uint64_t id);

/* The event of a record, of which n bytes stand behind the header; EVENT_NONE: nobody's. */
uint32_t perfevents_of(const struct perfevents *perfevents, uint32_t type, const char *body, size_t n);

/* Time of the record, if it has one that orders: neither 0 nor ~0. */
bool perfevents_time(const struct perfevents *perfevents, uint32_t event, uint32_t type, const char *body, size_t n,
		     uint64_t *time);

void perfevents_free(struct perfevents *perfevents);

#endif
