/* SPDX-License-Identifier: Apache-2.0 */
#include "record/java/allocations.h"

#include "common/arena.h"
#include "common/formats/pjsection.h"
#include "record/perf/samplerecord.h"
#include "record/processes/overbudget.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/sysinfo.h>

/* perf register numbers of the first and the third argument of a function (System V ABI; asm/perf_regs.h of x86) */
enum { RDI = 5, RDX = 3 };
/* end of user space: with five levels of page tables, addresses have 57 bits, and user space is the lower half */
#define USER_MAX (UINT64_C(1) << 56)
#define CLASS_BYTES (2 * sizeof(uint64_t)) /* the context marker and the address of the class */

/* Sets *value to a register of a sample. mask: registers in the sample; number: perf's number of the register. Returns
 * false if the sample does not have the register. */
static bool register_value(const struct samplerecord *record, uint64_t mask, unsigned number, uint64_t *value)
{
	if (!(mask >> number & 1))
		return false;
	*value = record->regs[__builtin_popcountll(mask & ((UINT64_C(1) << number) - 1))];
	return true;
}

bool allocation_read(const struct perf_event_attr *attr, const struct ring_sample *sample, uint64_t most,
		     struct allocation *allocation)
{
	struct samplerecord record;

	return attr->sample_type & PERF_SAMPLE_REGS_USER && samplerecord_parse(attr, sample, &record) &&
	       record.abi == PERF_SAMPLE_REGS_ABI_64 &&
	       register_value(&record, attr->sample_regs_user, RDI, &allocation->klass) &&
	       register_value(&record, attr->sample_regs_user, RDX, &allocation->bytes) && allocation->klass &&
	       allocation->klass % 8 == 0 && allocation->klass < USER_MAX && allocation->bytes &&
	       allocation->bytes <= most;
}

/* ---- several samples of one call ------------------------------------------------------------------------------- */

/* HISTORY: number of allocations in the history. The samples of one call follow each other within microseconds, so only
 * few samples of other CPUs come in between. */
enum { HISTORY = 1024, REGISTERS_MAX = 64 };

struct allocation_history {
	uint32_t tid[HISTORY]; /* by index in `past`: thread of the allocation; 0: the entry is unused */
	struct past {
		uint64_t event;
		uint32_t pid, nregs;
		uint64_t reg[REGISTERS_MAX];
	} past[HISTORY];
	uint32_t next; /* index of the oldest entry, which the next allocation replaces */
};

struct allocation_history *allocation_history_new(void)
{
	return mem_alloc(sizeof(struct allocation_history), 1);
}

void allocation_history_free(struct allocation_history *history)
{
	free(history);
}

/* Returns the newest entry of a thread; NULL if there is none. */
static const struct past *last_of_thread(const struct allocation_history *history, uint32_t tid)
{
	for (uint32_t i = 1; i <= HISTORY; i++) {
		uint32_t at = (history->next - i) % HISTORY;

		if (history->tid[at] == tid)
			return &history->past[at];
	}
	return NULL;
}

bool allocation_repeats(struct allocation_history *history, const struct perf_event_attr *attr,
			const struct ring_sample *sample, uint64_t event)
{
	uint32_t nregs = (uint32_t)__builtin_popcountll(attr->sample_regs_user);
	struct samplerecord record;
	const struct past *last;
	struct past *past;

	if (!samplerecord_parse(attr, sample, &record) || !record.abi || !sample->tid)
		return false;
	last = last_of_thread(history, sample->tid);
	if (last && last->pid == sample->pid && last->event != event && last->nregs == nregs &&
	    memcmp(last->reg, record.regs, nregs * sizeof(*last->reg)) == 0)
		return true;
	past = &history->past[history->next];
	*past = (struct past){ .event = event, .pid = sample->pid, .nregs = nregs };
	memcpy(past->reg, record.regs, nregs * sizeof(*past->reg));
	history->tid[history->next] = sample->tid;
	history->next = (history->next + 1) % HISTORY;
	return false;
}

/* ---- the composed sample ----------------------------------------------------------------------------------------- */

void allocation_weigh(struct text *sample, uint64_t bytes)
{
	memcpy(sample->p + offsetof(struct ring_sample, period), &bytes, sizeof(bytes));
}

/* Returns the offset in bytes, from the start of the sample, of the context marker before its user stack; 0 if the
 * sample has no user stack, or its tenant is over budget. */
static size_t user_stack(const struct text *sample)
{
	const struct ring_sample *head = (const void *)sample->p;
	uint64_t i = 0;

	if (overbudget_is_chain(head->ips, head->nips))
		return 0;
	while (i < head->nips && head->ips[i] != CONTEXT_USER)
		i++;
	return i < head->nips ? offsetof(struct ring_sample, ips) + i * sizeof(head->ips[0]) : 0;
}

bool allocation_has_place(const struct text *sample)
{
	return user_stack(sample) && sample->n <= SAMPLERECORD_MAX - CLASS_BYTES;
}

bool allocation_put_class(struct text *sample, uint64_t klass)
{
	const uint64_t frame[] = { CONTEXT_USER, klass | PJ_CLASS_BIT };
	size_t at = user_stack(sample);
	struct ring_sample *head;

	if (!allocation_has_place(sample))
		return false;
	text_bytes(sample, frame, CLASS_BYTES);
	memmove(sample->p + at + CLASS_BYTES, sample->p + at, sample->n - CLASS_BYTES - at);
	memcpy(sample->p + at, frame, CLASS_BYTES);
	head = (void *)sample->p;
	head->nips += countof(frame);
	head->head.size = (uint16_t)sample->n;
	return true;
}

uint64_t allocation_limit(void)
{
	struct sysinfo info;

	return sysinfo(&info) == 0 ? (uint64_t)info.totalram * info.mem_unit : UINT64_MAX / 2;
}

/* ---- counts ------------------------------------------------------------------------------------------------------ */

void allocation_counts_text(struct text *text, const struct allocation_counts *counts, bool verbose)
{
	const struct part {
		uint64_t n;
		const char *what;
	} part[] = {
		{ counts->implausible, "have implausible arguments (0 bytes, no class)" },
		{ counts->left_out, "have classes beyond the limits of a window (-w sets a shorter one)" },
		{ verbose ? counts->unread : 0, "are of processes that could not be read as JVMs (no class)" },
		{ verbose ? counts->repeated : 0, "were dropped, as another probe of the same libjvm.so has them" },
	};
	const char *before = "allocations: ";

	for (size_t i = 0; i < countof(part); i++) {
		if (!part[i].n)
			continue;
		text_printf(text, "%s%" PRIu64 " samples %s", before, part[i].n, part[i].what);
		before = ", ";
	}
}
