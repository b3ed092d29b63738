/* Allocations: class and bytes come from the registers of a sample; the class becomes its leaf frame, the bytes its
 * period. */
/* covers: record/java/allocations.c */
#include "record/java/allocations.h"
#include "common/arena.h"
#include "common/formats/pjsection.h"
#include "record/perf/samplerecord.h"
#include "record/processes/overbudget.h"
#include "test/lib/tap.h"

#include <stdlib.h>

#define MASK UINT64_C(0xff01ff) /* the registers that the unwinder requests on x86-64 */
#define KLASS UINT64_C(0x800001238)
#define LEAF UINT64_C(0x7f0000001000)
#define MOST UINT64_C(1000000)
enum { NREGS = 17, DX = 3, DI = 5, CGROUP = 77 };

static const struct perf_event_attr attr = {
	.sample_type = RING_SAMPLE_TYPE | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_CGROUP,
	.sample_regs_user = MASK,
};

static void put(struct text *text, uint64_t value)
{
	text_bytes(text, &value, sizeof(value));
}

/* A record as the kernel writes it, with a callchain of n entries. */
static void kernel_sample(struct text *text, const uint64_t *ips, uint64_t n, uint64_t abi, uint64_t klass,
			  uint64_t bytes)
{
	struct ring_sample head = { .head = { .type = RECORD_SAMPLE }, .pid = 7, .tid = 8, .period = 1, .nips = n };

	text->n = 0;
	text_bytes(text, &head, sizeof(head));
	text_bytes(text, ips, n * sizeof(*ips));
	put(text, abi);
	for (int i = 0; i < NREGS && abi; i++)
		put(text, i == DI ? klass : i == DX ? bytes : 1000 + (uint64_t)i);
	put(text, 0); /* no stack */
	put(text, CGROUP);
	((struct ring_sample *)(void *)text->p)->head.size = (uint16_t)text->n;
}

static bool is_read(uint64_t abi, uint64_t klass, uint64_t bytes)
{
	struct text text = { 0 };
	struct allocation allocation = { 0 };
	bool good;

	kernel_sample(&text, NULL, 0, abi, klass, bytes);
	good = allocation_read(&attr, (const void *)text.p, MOST, &allocation);
	good = good && allocation.klass == klass && allocation.bytes == bytes;
	text_free(&text);
	return good;
}

static void registers(void)
{
	struct perf_event_attr few = attr;
	struct text text = { 0 };
	struct allocation allocation;

	ok(is_read(PERF_SAMPLE_REGS_ABI_64, KLASS, 65560), "the first and the third argument");
	ok(is_read(PERF_SAMPLE_REGS_ABI_64, KLASS, MOST), "  as many bytes as the host has");
	ok(!is_read(PERF_SAMPLE_REGS_ABI_64, KLASS, MOST + 1), "  no more");
	ok(!is_read(PERF_SAMPLE_REGS_ABI_64, KLASS, 0), "  not 0 bytes");
	ok(!is_read(PERF_SAMPLE_REGS_ABI_64, KLASS + 4, 8), "no class at an odd address");
	ok(!is_read(PERF_SAMPLE_REGS_ABI_64, 0, 8), "  none at 0");
	ok(!is_read(PERF_SAMPLE_REGS_ABI_64, UINT64_MAX - 7, 8), "  none in the kernel");
	ok(!is_read(PERF_SAMPLE_REGS_ABI_32, KLASS, 8), "no process of 32 bits");
	ok(!is_read(PERF_SAMPLE_REGS_ABI_NONE, KLASS, 8), "no sample without registers");
	few.sample_regs_user = MASK & ~(UINT64_C(1) << DX);
	kernel_sample(&text, NULL, 0, PERF_SAMPLE_REGS_ABI_64, KLASS, 8);
	ok(!allocation_read(&few, (const void *)text.p, MOST, &allocation), "no recording without the register");
	text_free(&text);
}

/* A sample as the recorder composes it. */
static void composed(struct text *text, const uint64_t *ips, uint64_t n)
{
	struct ring_sample head = { .head = { .type = RECORD_SAMPLE }, .period = 1, .nips = n };

	text->n = 0;
	text_bytes(text, &head, sizeof(head));
	text_bytes(text, ips, n * sizeof(*ips));
	put(text, CGROUP);
	((struct ring_sample *)(void *)text->p)->head.size = (uint16_t)text->n;
}

static void frames(void)
{
	const uint64_t ips[] = { CONTEXT_KERNEL, 1, CONTEXT_USER, LEAF, LEAF + 1 };
	const uint64_t want[] = { CONTEXT_KERNEL, 1, CONTEXT_USER, KLASS | PJ_CLASS_BIT, CONTEXT_USER, LEAF, LEAF + 1 };
	struct text text = { 0 };
	const struct ring_sample *sample;

	composed(&text, ips, countof(ips));
	allocation_weigh(&text, 65560);
	ok(allocation_has_place(&text), "a sample with a user stack has a place");
	ok(allocation_put_class(&text, KLASS), "a class is added");
	sample = (const void *)text.p;
	is_u64(sample->period, 65560, "the period is that of the allocation");
	ok(sample->nips == countof(want) && memcmp(sample->ips, want, sizeof(want)) == 0,
	   "the class is the leaf of the user stack");
	is_u64(sample->ips[sample->nips], CGROUP, "  the cgroup follows");
	is_u64(sample->head.size, text.n, "  the size of the record");
	ok(pj_is_class(sample->ips[3]) && !pj_is_class(KLASS), "  its address is that of a class");
	composed(&text, ips, 2);
	ok(!allocation_has_place(&text), "no place without a user stack");
	ok(!allocation_put_class(&text, KLASS) && text.n == sizeof(*sample) + 3 * 8, "no class without a user stack");
	text_free(&text);
}

/* Takes a sample of a thread into the history. Returns true if it repeats another one. */
static bool repeats(struct allocation_history *history, uint32_t tid, uint64_t event, uint64_t bytes)
{
	struct text text = { 0 };
	bool repeated;

	kernel_sample(&text, NULL, 0, PERF_SAMPLE_REGS_ABI_64, KLASS, bytes);
	((struct ring_sample *)(void *)text.p)->tid = tid;
	repeated = allocation_repeats(history, &attr, (const void *)text.p, event);
	text_free(&text);
	return repeated;
}

static void repetitions(void)
{
	struct allocation_history *history = allocation_history_new();
	uint64_t others = 0;

	ok(!repeats(history, 8, 1, 100), "the first sample of a call");
	ok(repeats(history, 8, 3, 100), "  the same of another event");
	ok(repeats(history, 8, 5, 100), "  of a third one");
	ok(!repeats(history, 8, 1, 100), "the next call, by the same event");
	ok(repeats(history, 8, 3, 100), "  again of another event");
	ok(!repeats(history, 8, 3, 200), "other arguments are another call");
	ok(!repeats(history, 50, 1, 300) && repeats(history, 50, 3, 300), "a process that calls both functions itself");
	ok(!repeats(history, 51, 3, 300), "  loses its own samples only: the event still counts for others");
	ok(!repeats(history, 9, 1, 200), "another thread has other calls");
	ok(repeats(history, 8, 1, 200), "  and does not come between");
	for (uint32_t i = 0; i < 1020; i++)
		others += repeats(history, 1000 + i, 1, 100);
	is_u64(others, 0, "nor do other threads");
	ok(repeats(history, 8, 1, 200), "  of which there are many");
	repeats(history, 3000, 1, 100);
	ok(!repeats(history, 8, 1, 200), "  but for more than the history has");
	allocation_history_free(history);
}

static void limits(void)
{
	struct text text = { 0 }, chain = { 0 };
	uint64_t most = (SAMPLERECORD_MAX - sizeof(struct ring_sample)) / 8 - 1;
	uint64_t *ips = mem_alloc(sizeof(*ips), most);

	for (uint64_t i = 0; i < most; i++)
		ips[i] = i ? LEAF + i : CONTEXT_USER;
	composed(&text, ips, most);
	ok(!allocation_put_class(&text, KLASS), "no space in the record");
	composed(&text, ips, most - 1);
	ok(!allocation_put_class(&text, KLASS), "  nor for one word");
	composed(&text, ips, most - 2);
	ok(allocation_put_class(&text, KLASS) && text.n <= SAMPLERECORD_MAX, "  for two there is");
	overbudget_put_chain(&chain);
	composed(&text, (const void *)chain.p, chain.n / 8);
	ok(!allocation_put_class(&text, KLASS), "no class over budget");
	ok(allocation_limit() > (1 << 20), "this host has memory");
	free(ips);
	text_free(&chain);
	text_free(&text);
}

static void counts(void)
{
	struct allocation_counts none = { .unread = 3, .repeated = 4 };
	const struct allocation_counts some = { .implausible = 1, .left_out = 2, .repeated = 4 };
	struct text text = { 0 };

	allocation_counts_text(&text, &none, false);
	is_u64(text.n, 0, "nothing is wrong");
	allocation_counts_text(&text, &none, true);
	is_str(text_view(&text),
	       STR("allocations: 3 samples are of processes that could not be read as JVMs (no class), "
		   "4 samples were dropped, as another probe of the same libjvm.so has them"),
	       "  with -v more is counted");
	text.n = 0;
	allocation_counts_text(&text, &some, false);
	is_str(text_view(&text),
	       STR("allocations: 1 samples have implausible arguments (0 bytes, no class), "
		   "2 samples have classes beyond the limits of a window (-w sets a shorter one)"),
	       "samples without bytes or class");
	text_free(&text);
}

int main(void)
{
	registers();
	frames();
	repetitions();
	limits();
	counts();
	return done();
}
