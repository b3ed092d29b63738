/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/perfdata/perfevents.h"

#include "common/hash.h"
#include "common/formats/perfrecord.h"
#include "common/text.h"

#include <stdlib.h>

/* Offset in bytes of the 64 flag bits in struct perf_event_attr. */
#define ATTR_FLAGS 40
/* Flag build_id of struct perf_event_attr; Linux headers before 5.12 have no name for it. */
#define ATTR_BUILD_ID (UINT64_C(1) << 34)

void perfevents_init(struct perfevents *perfevents, size_t max)
{
	*perfevents = (struct perfevents){ .cap = max, .clock = -1 };
	perfevents->event = mem_alloc(sizeof(*perfevents->event), max);
	perfevents->layout = mem_alloc(sizeof(*perfevents->layout), max);
}

/* ---- names of events without an EVENT_DESC feature, composed as perf does ---------------------------------------- */

/* Appends the modifiers of an event, like ":u" or ":ppH", as perf prints them. */
static void add_modifiers(struct text *text, const struct perf_event_attr *attr)
{
	bool guest_default = attr->exclude_kernel || attr->exclude_user || attr->exclude_hv || attr->precise_ip;
	size_t start = text->n;

	text_char(text, ':');
	if (attr->exclude_kernel || attr->exclude_user || attr->exclude_hv) {
		text_add(text, attr->exclude_kernel ? "" : "k");
		text_add(text, attr->exclude_user ? "" : "u");
		text_add(text, attr->exclude_hv ? "" : "h");
	}
	for (unsigned i = 0; i < attr->precise_ip; i++)
		text_char(text, 'p');
	if (attr->exclude_host || attr->exclude_guest == guest_default) {
		text_add(text, attr->exclude_host ? "" : "H");
		text_add(text, attr->exclude_guest ? "" : "G");
	}
	/* remove the colon if no modifiers follow */
	if (text->n == start + 1)
		text->n--;
}

static void hardware_name(struct text *text, uint64_t config)
{
	static const char *const name[] = {
		"cycles",        "instructions", "cache-references",        "cache-misses",           "branches",
		"branch-misses", "bus-cycles",   "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles"
	};

	text_add(text, config < countof(name) ? name[config] : "unknown-hardware");
}

static void software_name(struct text *text, uint64_t config)
{
	static const char *const name[] = { "cpu-clock",        "task-clock",   "page-faults",  "context-switches",
					    "cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
					    "emulation-faults", "dummy",        "bpf-output",   "cgroup-switches" };

	text_add(text, config < countof(name) ? name[config] : "unknown-software");
}

static void perfevents_cache_name(struct text *text, uint64_t config)
{
	static const char *const cache[] = { "L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node" };
	static const char *const operation[][2] = { { "load", "loads" },
						    { "store", "stores" },
						    { "prefetch", "prefetches" } };
	unsigned c = config & 0xff, o = config >> 8 & 0xff, miss = config >> 16 & 0xff;

	if (c >= countof(cache) || o >= countof(operation) || miss > 1)
		text_add(text, "unknown-ext-hardware-cache-type");
	else if (miss)
		text_printf(text, "%s-%s-misses", cache[c], operation[o][0]);
	else
		text_printf(text, "%s-%s", cache[c], operation[o][1]);
}

/* Composes the name of an event from its attr. */
static struct str perfevents_name_of(struct perfevents *perfevents, const struct perf_event_attr *attr)
{
	struct text text = { 0 };
	struct str name;

	switch (attr->type) {
	case PERF_TYPE_HARDWARE:
		hardware_name(&text, attr->config);
		add_modifiers(&text, attr);
		break;
	case PERF_TYPE_SOFTWARE:
		software_name(&text, attr->config);
		add_modifiers(&text, attr);
		break;
	case PERF_TYPE_HW_CACHE:
		perfevents_cache_name(&text, attr->config);
		add_modifiers(&text, attr);
		break;
	case PERF_TYPE_TRACEPOINT: text_add(&text, "unknown tracepoint"); break;
	case PERF_TYPE_BREAKPOINT:
		text_printf(&text, "mem:0x%llx:%s%s%s", (unsigned long long)attr->bp_addr, attr->bp_type & 1 ? "r" : "",
			    attr->bp_type & 2 ? "w" : "", attr->bp_type & 4 ? "x" : "");
		add_modifiers(&text, attr);
		break;
	case PERF_TYPE_RAW:
		text_printf(&text, "raw 0x%llx", (unsigned long long)attr->config);
		add_modifiers(&text, attr);
		break;
	default: text_printf(&text, "unknown attr type: %u", attr->type);
	}
	name = arena_copy(&perfevents->text, text_view(&text));
	text_free(&text);
	return name;
}

/* ---- positions of event id and time in records --------------------------------------------------------------- */

static bool perfevents_has(uint64_t set, uint64_t bit)
{
	return (set & bit) != 0;
}

static uint8_t perfevents_count(uint64_t set, uint64_t bits)
{
	return (uint8_t)__builtin_popcountll(set & bits);
}

/* Computes the positions of id and time in the records of an event from its sample_type. */
static struct perfevents_layout layout_of(const struct perf_event_attr *attr)
{
	uint64_t s = attr->sample_type;
	uint64_t after_time = PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
	uint64_t after_id = PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU;
	struct perfevents_layout layout = { .id_at = -1,
					    .time_at = -1,
					    .regs_user = perfevents_count(attr->sample_regs_user, ~0ull),
					    .regs_intr = perfevents_count(attr->sample_regs_intr, ~0ull) };

	if (perfevents_has(s, PERF_SAMPLE_IDENTIFIER))
		layout.id_at = 0;
	else if (perfevents_has(s, PERF_SAMPLE_ID))
		layout.id_at = (int8_t)perfevents_count(s, PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
								   PERF_SAMPLE_ADDR);
	if (perfevents_has(s, PERF_SAMPLE_TIME))
		layout.time_at = (int8_t)perfevents_count(s, PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID);
	if (!attr->sample_id_all)
		return layout;
	layout.trailer = perfevents_count(s, PERF_SAMPLE_TID | PERF_SAMPLE_TIME | after_time);
	if (perfevents_has(s, PERF_SAMPLE_IDENTIFIER))
		layout.id_back = 1;
	else if (perfevents_has(s, PERF_SAMPLE_ID))
		layout.id_back = (uint8_t)(1 + perfevents_count(s, after_id));
	if (perfevents_has(s, PERF_SAMPLE_TIME))
		layout.time_back = (uint8_t)(1 + perfevents_count(s, after_time));
	return layout;
}

/* Adds the positions of the event id in *layout to perfevents->id_at and id_back, where perfevents_of() searches.
 * Ignores a position that is already there, and positions beyond the space for four. */
static void remember_places(struct perfevents *perfevents, const struct perfevents_layout *layout)
{
	unsigned i;

	for (i = 0; i < perfevents->nid_at && perfevents->id_at[i] != layout->id_at; i++)
		;
	if (i == perfevents->nid_at && i < countof(perfevents->id_at) && layout->id_at >= 0)
		perfevents->id_at[perfevents->nid_at++] = layout->id_at;
	for (i = 0; i < perfevents->nid_back && perfevents->id_back[i] != layout->id_back; i++)
		;
	if (i == perfevents->nid_back && i < countof(perfevents->id_back) && layout->id_back > 0)
		perfevents->id_back[perfevents->nid_back++] = layout->id_back;
}

uint32_t perfevents_add(struct perfevents *perfevents, struct str attr)
{
	struct perf_event_attr a = { 0 };
	struct perfdata_event *event;

	if (attr.n < PERF_ATTR_MIN || perfevents->n == perfevents->cap)
		return EVENT_NONE;
	memcpy(&a, attr.p, attr.n < sizeof(a) ? attr.n : sizeof(a));
	if (a.use_clockid && perfevents->n == 0)
		perfevents->clock = a.clockid;
	perfevents->build_ids = perfevents->build_ids || load64(attr.p + ATTR_FLAGS) & ATTR_BUILD_ID;
	event = &perfevents->event[perfevents->n];
	*event = (struct perfdata_event){
		.name = perfevents_name_of(perfevents, &a),
		.type = a.type,
		.config = a.config,
		.frequency = a.freq ? a.sample_freq : 0,
		.period = a.freq ? 0 : a.sample_period,
		.sample_type = a.sample_type,
		.read_format = a.read_format,
		.branch_sample_type = a.branch_sample_type,
		.regs_user = a.sample_regs_user,
		.regs_intr = a.sample_regs_intr,
		.max_stack = a.sample_max_stack,
		.sample_id_all = a.sample_id_all,
		.is_time = a.type == PERF_TYPE_SOFTWARE && a.config <= PERF_COUNT_SW_TASK_CLOCK,
	};
	perfevents->layout[perfevents->n] = layout_of(&a);
	remember_places(perfevents, &perfevents->layout[perfevents->n]);
	return (uint32_t)perfevents->n++;
}

void perfevents_set_name(struct perfevents *perfevents, uint32_t event, struct str name)
{
	if (name.n && event < perfevents->n && !str_eq(name, perfevents->event[event].name))
		perfevents->event[event].name = arena_copy(&perfevents->text, name);
}

/* ---- table of event ids -------------------------------------------------------------------------------------- */

static struct perfevents_id *perfevents_slot_of(const struct perfevents *perfevents, uint64_t id)
{
	size_t i = (size_t)hash_number(id) & perfevents->mask;

	while (perfevents->slot[i].event && perfevents->slot[i].id != id)
		i = (i + 1) & perfevents->mask;
	return &perfevents->slot[i];
}

static void perfevents_grow(struct perfevents *perfevents)
{
	struct perfevents_id *old = perfevents->slot;
	size_t n = old ? perfevents->mask + 1 : 0;

	perfevents->mask = n ? 2 * n - 1 : 63;
	perfevents->slot = mem_alloc(sizeof(*perfevents->slot), perfevents->mask + 1);
	for (size_t i = 0; i < n; i++)
		if (old[i].event)
			*perfevents_slot_of(perfevents, old[i].id) = old[i];
	free(old);
}

void perfevents_add_id(struct perfevents *perfevents, uint32_t event, uint64_t id)
{
	struct perfevents_id *slot;

	if (!perfevents->slot || 2 * perfevents->nids > perfevents->mask)
		perfevents_grow(perfevents);
	slot = perfevents_slot_of(perfevents, id);
	if (slot->event)
		/* an id that two events have stays assigned to the first event */
		return;
	*slot = (struct perfevents_id){ .id = id, .event = event + 1 };
	perfevents->nids++;
}

struct perfevents_id *perfevents_find(const struct perfevents *perfevents, uint64_t id)
{
	struct perfevents_id *slot = perfevents->slot ? perfevents_slot_of(perfevents, id) : NULL;

	return slot && slot->event ? slot : NULL;
}

/* Returns the index of the event whose id is the 8 bytes at p; EVENT_NONE if there is none. Id 0, which records
 * synthesised by perf have, means the first event. */
static uint32_t perfevents_event_of(const struct perfevents *perfevents, const char *p)
{
	uint64_t id = load64(p);
	const struct perfevents_id *found;

	if (id == 0)
		return 0;
	found = perfevents_find(perfevents, id);
	return found ? found->event - 1 : EVENT_NONE;
}

static uint32_t event_of_sample(const struct perfevents *perfevents, const char *body, size_t n)
{
	uint32_t event = perfevents->nid_at ? EVENT_NONE : 0;

	for (unsigned i = 0; event == EVENT_NONE && i < perfevents->nid_at; i++)
		if (((size_t)perfevents->id_at[i] + 1) * 8 <= n)
			event = perfevents_event_of(perfevents, body + perfevents->id_at[i] * 8);
	return event;
}

uint32_t perfevents_of(const struct perfevents *perfevents, uint32_t type, const char *body, size_t n)
{
	uint32_t event = EVENT_NONE;

	/* Ignores the bytes after the last complete 8-byte word of the record's body, as perf does: positions of event
	 * ids are numbers of words. */
	n &= ~(size_t)7;
	if (perfevents->n <= 1)
		return perfevents->n ? 0 : EVENT_NONE;
	if (type == RECORD_SAMPLE)
		return event_of_sample(perfevents, body, n);
	for (unsigned i = 0; event == EVENT_NONE && i < perfevents->nid_back; i++)
		if (perfevents->id_back[i] * 8u <= n)
			event = perfevents_event_of(perfevents, body + n - perfevents->id_back[i] * 8u);
	/* If no event has the id, use the first event. The caller needs only the layout of the trailer, which is the
	 * same for all events of perf. */
	return event == EVENT_NONE ? 0 : event;
}

bool perfevents_time(const struct perfevents *perfevents, uint32_t event, uint32_t type, const char *body, size_t n,
		     uint64_t *time)
{
	const struct perfevents_layout *layout = &perfevents->layout[event];
	uint64_t t = 0;

	n &= ~(size_t)7;
	if (type == RECORD_SAMPLE) {
		if (layout->time_at >= 0 && ((size_t)layout->time_at + 1) * 8 <= n)
			t = load64(body + layout->time_at * 8);
	} else if (layout->time_back && layout->time_back * 8u <= n) {
		t = load64(body + n - layout->time_back * 8u);
	}
	*time = t;
	return t != 0 && t != UINT64_MAX;
}

void perfevents_free(struct perfevents *perfevents)
{
	free(perfevents->event);
	free(perfevents->layout);
	free(perfevents->slot);
	arena_free(&perfevents->text);
	*perfevents = (struct perfevents){ 0 };
}
