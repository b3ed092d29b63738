/* SPDX-License-Identifier: Apache-2.0 */
#include "record/offcpu/switchtimes.h"

#include "common/arena.h"

#include <stdlib.h>

enum {
	LEAVES_CPU = 1 << 13, /* bit of misc in SWITCH records; set: the thread leaves the CPU */
	SWITCHTIMES_CPUS = 65536
};

void switchtimes_free(struct switchtimes *switchtimes)
{
	free(switchtimes->cpu);
	*switchtimes = (struct switchtimes){ 0 };
}

void switchtimes_lost(struct switchtimes *switchtimes)
{
	for (size_t i = 0; i < switchtimes->n; i++)
		switchtimes->cpu[i] = (struct switchtimes_cpu){ 0 };
}

/* Returns the entry of a CPU, and adds it if necessary; NULL if the CPU's number is too high. */
static struct switchtimes_cpu *switchtimes_at(struct switchtimes *switchtimes, uint32_t cpu)
{
	if (cpu >= SWITCHTIMES_CPUS)
		return NULL;
	if (cpu >= switchtimes->n) {
		switchtimes->cpu = mem_grow(switchtimes->cpu, sizeof(*switchtimes->cpu), (size_t)cpu + 1);
		memset(switchtimes->cpu + switchtimes->n, 0, (cpu + 1 - switchtimes->n) * sizeof(*switchtimes->cpu));
		switchtimes->n = (size_t)cpu + 1;
	}
	return &switchtimes->cpu[cpu];
}

static uint64_t time_of_out(struct switchtimes_cpu *cpu, const struct ring_sample_id *id, uint32_t next)
{
	bool sampled = cpu->sampled && cpu->tid == id->tid && cpu->sampled <= id->time;
	uint64_t left = sampled ? cpu->sampled : id->time;

	*cpu = (struct switchtimes_cpu){ .tid = id->tid, .next = next, .left = left, .recorded = id->time };
	return left;
}

static uint64_t time_of_in(struct switchtimes_cpu *cpu, const struct ring_sample_id *id, bool named)
{
	uint64_t ns = id->time;
	bool follows = named ? cpu->next == id->tid : ns - cpu->recorded < SWITCHTIMES_ADJACENT_NS;

	/* if the same thread left the CPU last and now returns, another thread ran in between without a record: then
	 * the time of this SWITCH record is used */
	if (cpu->left && cpu->recorded <= ns && follows && cpu->tid != id->tid)
		ns = cpu->left;
	*cpu = (struct switchtimes_cpu){ 0 };
	return ns;
}

uint64_t switchtimes_record(struct switchtimes *switchtimes, const struct ring_record *record)
{
	const struct perf_record *head = record->head;
	const struct ring_sample_id *id = (const void *)((const char *)head + head->size - sizeof(*id));
	const struct ring_sample *sample = (const void *)head;
	bool named = head->type == RECORD_SWITCH_CPU_WIDE && head->size >= sizeof(*head) + 8 + sizeof(*id);
	struct switchtimes_cpu *cpu;

	if (head->type == RECORD_SAMPLE) {
		cpu = head->size >= sizeof(*sample) ? switchtimes_at(switchtimes, sample->cpu) : NULL;
		if (cpu)
			*cpu = (struct switchtimes_cpu){ .tid = sample->tid, .sampled = sample->time };
		return record->time;
	}
	if (head->type != RECORD_SWITCH && head->type != RECORD_SWITCH_CPU_WIDE)
		return record->time;
	cpu = switchtimes_at(switchtimes, id->cpu);
	if (!cpu)
		return id->time;
	return head->misc & LEAVES_CPU ?
		       time_of_out(cpu, id, named ? load32((const char *)(head + 1) + 4) : UINT32_MAX) :
		       time_of_in(cpu, id, named);
}
