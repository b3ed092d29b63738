/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/perfdata/perfevents.h"

#include "common/hash.h"
#include "common/formats/perfrecord.h"
#include "common/text.h"

#include <stdlib.h>

/* Bit of an attr's flags: headers of Linux before 5.12 have no name for it. */
#define ATTR_FLAGS 40
#define ATTR_BUILD_ID (UINT64_C(1) << 34)

void perfevents_init(struct perfevents *e, size_t max)
{
	*e = (struct perfevents){ .cap = max, .clock = -1 };
	e->event = mem_alloc(sizeof(*e->event), max);
	e->layout = mem_alloc(sizeof(*e->layout), max);
}

/* ---- names of events that no feature names: as perf makes them ------------------------------------------------ */

static void add_modifiers(struct text *t, const struct perf_event_attr *a)
{
	bool guest_default = a->exclude_kernel || a->exclude_user || a->exclude_hv || a->precise_ip;
	size_t start = t->n;

	text_char(t, ':');
	if (a->exclude_kernel || a->exclude_user || a->exclude_hv) {
		text_add(t, a->exclude_kernel ? "" : "k");
		text_add(t, a->exclude_user ? "" : "u");
		text_add(t, a->exclude_hv ? "" : "h");
	}
	for (unsigned i = 0; i < a->precise_ip; i++)
		text_char(t, 'p');
	if (a->exclude_host || a->exclude_guest == guest_default) {
		text_add(t, a->exclude_host ? "" : "H");
		text_add(t, a->exclude_guest ? "" : "G");
	}
	if (t->n == start + 1)
		t->n--;
}

static void hardware_name(struct text *t, uint64_t config)
{
	static const char *const name[] = {
		"cycles",        "instructions", "cache-references",        "cache-misses",           "branches",
		"branch-misses", "bus-cycles",   "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles"
	};

	text_add(t, config < countof(name) ? name[config] : "unknown-hardware");
}

static void software_name(struct text *t, uint64_t config)
{
	static const char *const name[] = { "cpu-clock",        "task-clock",   "page-faults",  "context-switches",
					    "cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
					    "emulation-faults", "dummy",        "bpf-output",   "cgroup-switches" };

	text_add(t, config < countof(name) ? name[config] : "unknown-software");
}

static void perfevents_cache_name(struct text *t, uint64_t config)
{
	static const char *const cache[] = { "L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node" };
	static const char *const operation[][2] = { { "load", "loads" },
						    { "store", "stores" },
						    { "prefetch", "prefetches" } };
	unsigned c = config & 0xff, o = config >> 8 & 0xff, miss = config >> 16 & 0xff;

	if (c >= countof(cache) || o >= countof(operation) || miss > 1)
		text_add(t, "unknown-ext-hardware-cache-type");
	else if (miss)
		text_printf(t, "%s-%s-misses", cache[c], operation[o][0]);
	else
		text_printf(t, "%s-%s", cache[c], operation[o][1]);
}

static struct str perfevents_name_of(struct perfevents *e, const struct perf_event_attr *a)
{
	struct text t = { 0 };
	struct str name;

	switch (a->type) {
	case PERF_TYPE_HARDWARE:
		hardware_name(&t, a->config);
		add_modifiers(&t, a);
		break;
	case PERF_TYPE_SOFTWARE:
		software_name(&t, a->config);
		add_modifiers(&t, a);
		break;
	case PERF_TYPE_HW_CACHE:
		perfevents_cache_name(&t, a->config);
		add_modifiers(&t, a);
		break;
	case PERF_TYPE_TRACEPOINT: text_add(&t, "unknown tracepoint"); break;
	case PERF_TYPE_BREAKPOINT:
		text_printf(&t, "mem:0x%llx:%s%s%s", (unsigned long long)a->bp_addr, a->bp_type & 1 ? "r" : "",
			    a->bp_type & 2 ? "w" : "", a->bp_type & 4 ? "x" : "");
		add_modifiers(&t, a);
		break;
	case PERF_TYPE_RAW:
		text_printf(&t, "raw 0x%llx", (unsigned long long)a->config);
		add_modifiers(&t, a);
		break;
	default: text_printf(&t, "unknown attr type: %u", a->type);
	}
	name = arena_copy(&e->text, text_view(&t));
	text_free(&t);
	return name;
}

/* ---- layouts ------------------------------------------------------------------------------------------------- */

static bool perfevents_has(uint64_t set, uint64_t bit)
{
	return (set & bit) != 0;
}

static uint8_t perfevents_count(uint64_t set, uint64_t bits)
{
	return (uint8_t)__builtin_popcountll(set & bits);
}

static struct perfevents_layout layout_of(const struct perf_event_attr *a)
{
	uint64_t s = a->sample_type;
	uint64_t after_time = PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
	uint64_t after_id = PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU;
	struct perfevents_layout l = { .id_at = -1,
				       .time_at = -1,
				       .regs_user = perfevents_count(a->sample_regs_user, ~0ull),
				       .regs_intr = perfevents_count(a->sample_regs_intr, ~0ull) };

	if (perfevents_has(s, PERF_SAMPLE_IDENTIFIER))
		l.id_at = 0;
	else if (perfevents_has(s, PERF_SAMPLE_ID))
		l.id_at = (int8_t)perfevents_count(s, PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
							      PERF_SAMPLE_ADDR);
	if (perfevents_has(s, PERF_SAMPLE_TIME))
		l.time_at = (int8_t)perfevents_count(s, PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID);
	if (!a->sample_id_all)
		return l;
	l.trailer = perfevents_count(s, PERF_SAMPLE_TID | PERF_SAMPLE_TIME | after_time);
	if (perfevents_has(s, PERF_SAMPLE_IDENTIFIER))
		l.id_back = 1;
	else if (perfevents_has(s, PERF_SAMPLE_ID))
		l.id_back = (uint8_t)(1 + perfevents_count(s, after_id));
	if (perfevents_has(s, PERF_SAMPLE_TIME))
		l.time_back = (uint8_t)(1 + perfevents_count(s, after_time));
	return l;
}

static void remember_places(struct perfevents *e, const struct perfevents_layout *l)
{
	unsigned i;

	for (i = 0; i < e->nid_at && e->id_at[i] != l->id_at; i++)
		;
	if (i == e->nid_at && i < countof(e->id_at) && l->id_at >= 0)
		e->id_at[e->nid_at++] = l->id_at;
	for (i = 0; i < e->nid_back && e->id_back[i] != l->id_back; i++)
		;
	if (i == e->nid_back && i < countof(e->id_back) && l->id_back > 0)
		e->id_back[e->nid_back++] = l->id_back;
}

uint32_t perfevents_add(struct perfevents *e, struct str attr)
{
	struct perf_event_attr a = { 0 };
	struct perfdata_event *v;

	if (attr.n < PERF_ATTR_MIN || e->n == e->cap)
		return EVENT_NONE;
	memcpy(&a, attr.p, attr.n < sizeof(a) ? attr.n : sizeof(a));
	if (a.use_clockid && e->n == 0)
		e->clock = a.clockid;
	e->build_ids = e->build_ids || load64(attr.p + ATTR_FLAGS) & ATTR_BUILD_ID;
	v = &e->event[e->n];
	*v = (struct perfdata_event){
		.name = perfevents_name_of(e, &a),
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
	e->layout[e->n] = layout_of(&a);
	remember_places(e, &e->layout[e->n]);
	return (uint32_t)e->n++;
}

void perfevents_set_name(struct perfevents *e, uint32_t event, struct str name)
{
	if (name.n && event < e->n && !str_eq(name, e->event[event].name))
		e->event[event].name = arena_copy(&e->text, name);
}

/* ---- ids ----------------------------------------------------------------------------------------------------- */

static struct perfevents_id *perfevents_slot_of(const struct perfevents *e, uint64_t id)
{
	size_t i = (size_t)hash_number(id) & e->mask;

	while (e->slot[i].event && e->slot[i].id != id)
		i = (i + 1) & e->mask;
	return &e->slot[i];
}

static void perfevents_grow(struct perfevents *e)
{
	struct perfevents_id *old = e->slot;
	size_t n = old ? e->mask + 1 : 0;

	e->mask = n ? 2 * n - 1 : 63;
	e->slot = mem_alloc(sizeof(*e->slot), e->mask + 1);
	for (size_t i = 0; i < n; i++)
		if (old[i].event)
			*perfevents_slot_of(e, old[i].id) = old[i];
	free(old);
}

void perfevents_add_id(struct perfevents *e, uint32_t event, uint64_t id)
{
	struct perfevents_id *slot;

	if (!e->slot || 2 * e->nids > e->mask)
		perfevents_grow(e);
	slot = perfevents_slot_of(e, id);
	if (slot->event)
		return; /* the first that has it keeps it */
	*slot = (struct perfevents_id){ .id = id, .event = event + 1 };
	e->nids++;
}

struct perfevents_id *perfevents_find(const struct perfevents *e, uint64_t id)
{
	struct perfevents_id *slot = e->slot ? perfevents_slot_of(e, id) : NULL;

	return slot && slot->event ? slot : NULL;
}

/* Of what id this is, 0 (made by perf: the first event's) included. */
static uint32_t perfevents_event_of(const struct perfevents *e, const char *p)
{
	uint64_t id = load64(p);
	const struct perfevents_id *found;

	if (id == 0)
		return 0;
	found = perfevents_find(e, id);
	return found ? found->event - 1 : EVENT_NONE;
}

static uint32_t event_of_sample(const struct perfevents *e, const char *body, size_t n)
{
	uint32_t event = e->nid_at ? EVENT_NONE : 0;

	for (unsigned i = 0; event == EVENT_NONE && i < e->nid_at; i++)
		if (((size_t)e->id_at[i] + 1) * 8 <= n)
			event = perfevents_event_of(e, body + e->id_at[i] * 8);
	return event;
}

uint32_t perfevents_of(const struct perfevents *e, uint32_t type, const char *body, size_t n)
{
	uint32_t event = EVENT_NONE;

	n &= ~(size_t)7; /* whole words count, as in perf */
	if (e->n <= 1)
		return e->n ? 0 : EVENT_NONE;
	if (type == RECORD_SAMPLE)
		return event_of_sample(e, body, n);
	for (unsigned i = 0; event == EVENT_NONE && i < e->nid_back; i++)
		if (e->id_back[i] * 8u <= n)
			event = perfevents_event_of(e, body + n - e->id_back[i] * 8u);
	return event == EVENT_NONE ? 0 : event; /* only its trailer's layout matters, and all are alike */
}

bool perfevents_time(const struct perfevents *e, uint32_t event, uint32_t type, const char *body, size_t n,
		     uint64_t *time)
{
	const struct perfevents_layout *l = &e->layout[event];
	uint64_t t = 0;

	n &= ~(size_t)7;
	if (type == RECORD_SAMPLE) {
		if (l->time_at >= 0 && ((size_t)l->time_at + 1) * 8 <= n)
			t = load64(body + l->time_at * 8);
	} else if (l->time_back && l->time_back * 8u <= n) {
		t = load64(body + n - l->time_back * 8u);
	}
	*time = t;
	return t != 0 && t != UINT64_MAX;
}

void perfevents_free(struct perfevents *e)
{
	free(e->event);
	free(e->layout);
	free(e->slot);
	arena_free(&e->text);
	*e = (struct perfevents){ 0 };
}
