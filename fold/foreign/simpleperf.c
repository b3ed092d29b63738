/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/foreign/simpleperf.h"

void simpleperf_begin(struct simpleperf *simpleperf, struct foreignstack *stack)
{
	*simpleperf = (struct simpleperf){ .stack = stack, .key = { .pid = -1, .tid = -1, .cpu = -1 } };
	foreignstack_clear(stack);
}

static void simpleperf_end_frame(struct simpleperf *simpleperf)
{
	if (simpleperf->in_frame)
		foreignstack_frame(simpleperf->stack, (struct foreignframe){ .symbol = text_view(&simpleperf->symbol),
									     .dso = text_view(&simpleperf->dso) });
	simpleperf->in_frame = false;
	simpleperf->dso.n = simpleperf->symbol.n = 0;
}

void simpleperf_end(struct simpleperf *simpleperf)
{
	struct sample_key key = simpleperf->key;

	simpleperf_end_frame(simpleperf);
	if (simpleperf->open) {
		simpleperf->name = simpleperf->comm.n;
		text_printf(&simpleperf->comm, " %lld", (long long)key.tid);
		key.before = text_view(&simpleperf->comm);
		key.comm = str_head(key.before, simpleperf->name);
		key.event = text_view(&simpleperf->event);
		foreignstack_add(simpleperf->stack, &key);
	}
	simpleperf->open = false;
	simpleperf->comm.n = simpleperf->event.n = 0;
	simpleperf->key = (struct sample_key){ .pid = -1, .tid = -1, .cpu = -1 };
	foreignstack_clear(simpleperf->stack);
}

/* Reads a member of the open sample that does not belong to a frame. */
static void simpleperf_member(struct simpleperf *simpleperf, struct str name, struct str value)
{
	struct sample_key *key = &simpleperf->key;
	uint64_t number = 0;
	bool counts = str_u64(value, &number);

	if (str_eq(name, STR("event_type"))) {
		text_str(&simpleperf->event, value);
	} else if (str_eq(name, STR("thread_name"))) {
		text_str(&simpleperf->comm, value);
	} else if (str_eq(name, STR("time")) && counts) {
		key->timed = true;
		key->ns = number;
	} else if (str_eq(name, STR("event_count")) && counts) {
		key->period = number;
	} else if (str_eq(name, STR("thread_id")) && counts && number <= INT32_MAX) {
		key->tid = (int64_t)number;
	}
}

void simpleperf_line(struct simpleperf *simpleperf, struct str line)
{
	struct str value = str_trim(line), name;

	if (value.n == 0)
		return;
	if (line.p[0] != ' ') {
		simpleperf_end(simpleperf);
		simpleperf->open = str_eq(value, STR("sample:"));
		return;
	}
	name = str_cut(&value, ':');
	value = str_trim_left(value);
	if (str_eq(name, STR("lost_count"))) {
		uint64_t lost;

		if (str_u64(value, &lost) && lost <= INT64_MAX)
			simpleperf->stack->samples->tally.lost += lost;
	}
	if (!simpleperf->open)
		return;
	if (str_eq(name, STR("vaddr_in_file"))) {
		simpleperf_end_frame(simpleperf);
		simpleperf->in_frame = true;
	} else if (str_eq(name, STR("file")) && simpleperf->in_frame) {
		text_str(&simpleperf->dso, value);
	} else if (str_eq(name, STR("symbol")) && simpleperf->in_frame) {
		text_str(&simpleperf->symbol, value);
	} else {
		simpleperf_member(simpleperf, name, value);
	}
}

void simpleperf_free(struct simpleperf *simpleperf)
{
	text_free(&simpleperf->comm);
	text_free(&simpleperf->event);
	text_free(&simpleperf->dso);
	text_free(&simpleperf->symbol);
}
