/* Switches in, times off the CPU out: pairs, borders, losses, threads that come and go. */
/* covers: record/offcpu/offcpu.c record/offcpu/chains.c */
#include "record/offcpu/chains.h"
#include "record/offcpu/offcpu.h"
#include "test/lib/tap.h"

#include <stdlib.h>

static struct text got;

/* "7:100+50@3 a,b" is tid 7, off from 100 for 50, having left CPU 3; "!" preempted. */
static void see(void *to, const struct offcpu_sample *sample)
{
	(void)to;
	text_printf(&got, "%s%u:%ju+%ju@%u%s ", got.n ? "| " : "", sample->tid, (uintmax_t)(sample->time - sample->ns),
		    (uintmax_t)sample->ns, sample->cpu, sample->preempted ? "!" : "");
	for (uint32_t i = 0; i < sample->n; i++)
		text_printf(&got, "%s%jx", i ? "," : "", (uintmax_t)sample->ips[i]);
}

static struct offcpu *start(uint64_t least_ns)
{
	got.n = 0;
	return offcpu_new(least_ns, see, NULL);
}

/* Ends the test of one: what was seen, and how much of it was not known. */
static void check(struct offcpu *offcpu, const char *want, uint64_t unknown, uint64_t unknown_ns, const char *what)
{
	struct pj_offcpu c = offcpu_counts(offcpu);

	is_str(text_view(&got), str_of(want), what);
	is_u64(c.unknown, unknown, "  times that are not known");
	is_u64(c.unknown_ns, unknown_ns, "  how long");
	offcpu_free(offcpu);
}

static void put(struct offcpu *offcpu, struct text *text, enum ring_kind kind, uint64_t ns, bool cgroup)
{
	uint16_t size = (uint16_t)text->n;

	memcpy(text->p + offsetof(struct perf_record, size), &size, sizeof(size));
	struct ring_record r = { .head = (void *)text->p, .time = ns, .kind = kind };
	offcpu_record(offcpu, &r, cgroup);
	text_free(text);
}

static void chain_in(struct offcpu *offcpu, uint32_t pid, uint32_t tid, uint64_t ns, uint64_t a, uint64_t b,
		     uint64_t cgroup)
{
	struct ring_sample s = { .head = { .type = RECORD_SAMPLE }, .pid = pid, .tid = tid, .time = ns, .nips = 2 };
	struct text t = { 0 };

	text_bytes(&t, &s, sizeof(s));
	text_bytes(&t, &a, 8);
	text_bytes(&t, &b, 8);
	if (cgroup)
		text_bytes(&t, &cgroup, 8);
	put(offcpu, &t, RING_OF_SWITCHES, ns, cgroup);
}

static void chain(struct offcpu *offcpu, uint32_t tid, uint64_t ns, uint64_t a, uint64_t b)
{
	chain_in(offcpu, 1, tid, ns, a, b, 0);
}

static void record(struct offcpu *offcpu, enum ring_kind kind, uint32_t type, uint16_t misc, uint32_t pid, uint32_t tid,
		   uint64_t ns, uint32_t cpu)
{
	struct perf_record head = { .type = type, .misc = misc };
	struct ring_sample_id tail = { .pid = pid, .tid = tid, .time = ns, .cpu = cpu };
	struct text t = { 0 };
	uint32_t task[6] = { pid, 1, tid, 6, 0, 0 }; /* thread 6 of process 1 starts it */

	text_bytes(&t, &head, sizeof(head));
	if (type == RECORD_SWITCH_CPU_WIDE)
		text_bytes(&t, (uint32_t[]){ 0, 0 }, 8);
	if (type == RECORD_FORK || type == RECORD_EXIT)
		text_bytes(&t, task, sizeof(task));
	if (type == RECORD_COMM) {
		text_bytes(&t, (uint32_t[]){ pid, tid }, 8);
		text_bytes(&t, "name\0\0\0", 8);
	}
	text_bytes(&t, &tail, sizeof(tail));
	put(offcpu, &t, kind, ns, false);
}

static void out(struct offcpu *offcpu, uint32_t tid, uint64_t ns)
{
	record(offcpu, RING_OF_SWITCHES, RECORD_SWITCH_CPU_WIDE, 1 << 13, 1, tid, ns, 3);
}

static void preempt(struct offcpu *offcpu, uint32_t tid, uint64_t ns)
{
	record(offcpu, RING_OF_SWITCHES, RECORD_SWITCH_CPU_WIDE, 3 << 13, 1, tid, ns, 3);
}

static void in(struct offcpu *offcpu, uint32_t tid, uint64_t ns)
{
	record(offcpu, RING_OF_SWITCHES, RECORD_SWITCH_CPU_WIDE, 0, 1, tid, ns, 4);
}

static void leave(struct offcpu *offcpu, uint32_t tid, uint64_t ns, uint64_t a)
{
	chain(offcpu, tid, ns - 1, a, 0xf);
	out(offcpu, tid, ns);
}

static void task(struct offcpu *offcpu, uint32_t type, uint32_t tid, uint64_t ns)
{
	record(offcpu, RING_OF_STATE, type, 0, 1, tid, ns, 0);
}

/* ---- pairs --------------------------------------------------------------------------------------------------- */

static void check_pairs(void)
{
	struct offcpu *o = start(0);

	leave(o, 7, 100, 0xa);
	in(o, 7, 150);
	leave(o, 7, 160, 0xb);
	leave(o, 8, 165, 0xc);
	in(o, 7, 170);
	in(o, 8, 175);
	check(o, "7:100+50@3 a,f| 7:160+10@3 b,f| 8:165+10@3 c,f", 0, 0, "out and in");

	o = start(0);
	chain(o, 7, 99, 0xa, 0xb);
	preempt(o, 7, 100);
	in(o, 7, 130);
	is_u64(offcpu_counts(o).preempted_ns, 30, "preempted is counted apart");
	is_u64(offcpu_counts(o).blocked, 0, "  and not as blocked");
	check(o, "7:100+30@3! a,b", 0, 0, "preempted");

	o = start(0);
	record(o, RING_OF_SWITCHES, RECORD_SWITCH, 0, 1, 7, 90, 0);
	chain_in(o, 1, 7, 99, 0xa, 0xb, 77);
	record(o, RING_OF_SWITCHES, RECORD_SWITCH, 1 << 13, 1, 7, 100, 5);
	record(o, RING_OF_SWITCHES, RECORD_SWITCH, 0, 1, 7, 140, 5);
	check(o, "7:100+40@5 a,b", 0, 0, "of one task, with a cgroup");

	o = start(0);
	leave(o, 0, 100, 0xa);
	in(o, 0, 150);
	leave(o, UINT32_MAX, 160, 0xa);
	leave(o, UINT32_MAX, 170, 0xa);
	offcpu_border(o, 200);
	is_u64(offcpu_threads(o), 0, "the idle task, and those beyond their end, are no threads");
	check(o, "", 0, 0, "  and wait for nothing");

	o = start(0);
	in(o, 7, 150);
	offcpu_border(o, 200);
	is_u64(offcpu_counts(o).before, 1, "off before the recording: counted");
	is_u64(offcpu_counts(o).before_ns, 150, "  its time, too");
	check(o, "", 0, 0, "  never invented");

	o = start(0);
	out(o, 7, 100);
	in(o, 7, 150);
	is_u64(offcpu_counts(o).without_chain_ns, 50, "without a callchain: counted");
	check(o, "", 0, 0, "  not handed over");
}

static void check_brief(void)
{
	struct offcpu *o = start(20);

	leave(o, 7, 100, 0xa);
	in(o, 7, 119);
	leave(o, 7, 200, 0xa);
	in(o, 7, 220);
	is_u64(offcpu_counts(o).brief, 1, "too short: counted");
	is_u64(offcpu_counts(o).brief_ns, 19, "  with its time");
	leave(o, 7, 295, 0xb);
	offcpu_border(o, 300);
	in(o, 7, 310);
	is_u64(offcpu_counts(o).brief_ns, 29, "short across a border: its part before is kept, the rest counted");
	leave(o, 7, 395, 0xc);
	offcpu_border(o, 400);
	in(o, 7, 416);
	check(o, "7:200+20@3 a,f| 7:294+5@3 b,f| 7:394+5@3 c,f| 7:400+16@3 c,f", 0, 0, "long enough in all is both");
}

/* A wall-clock profile has the times without callchain, too. */
static void see_cgroup(void *to, const struct offcpu_sample *sample)
{
	*(uint64_t *)to = sample->cgroup;
}

static void check_cgroup_of_new_threads(void)
{
	uint64_t cgroup = 1;
	struct offcpu *o = offcpu_new(0, see_cgroup, &cgroup);

	offcpu_emit_all(o);
	chain_in(o, 1, 6, 90, 0xa, 0xf, 42);
	task(o, RECORD_FORK, 7, 100);
	in(o, 7, 110);
	is_u64(cgroup, 42, "the first wait of a new thread has the cgroup of the thread that started it");
	record(o, RING_OF_STATE, RECORD_FORK, 0, 2, 8, 120, 0);
	in(o, 8, 130);
	is_u64(cgroup, 0, "  that of a new process has none");
	record(o, RING_OF_STATE, RECORD_FORK, 0, 2, 6, 140, 0);
	cgroup = 1;
	in(o, 6, 160);
	is_u64(cgroup, 0, "  and a reused tid has not that of its earlier thread");
	offcpu_free(o);
}

static void check_all(void)
{
	struct offcpu *o = start(0);

	offcpu_emit_all(o);
	offcpu_begin(o, 1000);
	in(o, 7, 1150);
	is_u64(offcpu_early(o, 7), OFFCPU_EARLY_NONE, "of a wall-clock profile: a sample has the time before a return");
	task(o, RECORD_FORK, 8, 1200);
	in(o, 8, 1230);
	out(o, 8, 1300);
	in(o, 8, 1310);
	check(o, "7:1000+150@4294967295 | 8:1200+30@4294967295! | 8:1300+10@3 ", 0, 0,
	      "  off since before, new, and without callchain");

	o = start(0);
	offcpu_emit_all(o);
	offcpu_begin(o, 1000);
	task(o, RECORD_FORK, 7, 500);
	in(o, 7, 600);
	task(o, RECORD_FORK, 8, 500);
	in(o, 8, 1100);
	check(o, "8:1000+100@4294967295! ", 0, 0, "a new thread that ran before the beginning did not wait after it");

	o = start(0);
	offcpu_emit_all(o);
	task(o, RECORD_FORK, 7, 500);
	offcpu_border(o, 600);
	in(o, 7, 700);
	check(o, "7:499+100@4294967295! | 7:600+100@4294967295! ", 0, 0, "a new thread that waits across a border");

	o = start(0);
	offcpu_emit_all(o);
	in(o, 7, 100);
	got.n = 0;
	task(o, RECORD_FORK, 7, 50);
	leave(o, 7, 200, 0xa);
	in(o, 7, 210);
	check(o, "7:200+10@3 a,f", 0, 0, "a late FORK record");

	o = start(0);
	offcpu_emit_all(o);
	task(o, RECORD_FORK, 7, 100);
	offcpu_mark_stale(o, 150);
	offcpu_sure(o);
	in(o, 7, 200);
	check(o, "", 1, 100, "records were lost since the start of a thread");

	o = start(0);
	offcpu_emit_all(o);
	offcpu_newcomers(o);
	in(o, 7, 200);
	is_u64(offcpu_counts(o).before_ns, 200, "a thread that may have come later: its time is only counted");
	leave(o, 7, 300, 0xa);
	offcpu_forget(o, 1);
	offcpu_border(o, 400);
	in(o, 7, 410);
	check(o, "", 0, 0, "  a process that is not recorded any more does not wait");
}

/* ---- borders ------------------------------------------------------------------------------------------------- */

static void check_borders(void)
{
	struct offcpu *o = start(0);

	leave(o, 7, 100, 0xa);
	offcpu_border(o, 1000);
	offcpu_border(o, 2000);
	in(o, 7, 2100);
	check(o, "7:99+900@3 a,f| 7:999+1000@3 a,f| 7:2000+100@3 a,f", 0, 0,
	      "parts: each in its window, at its last ns");

	o = start(0);
	offcpu_begin(o, 1000);
	leave(o, 7, 100, 0xa);
	in(o, 7, 900);
	leave(o, 7, 950, 0xb);
	in(o, 7, 1010);
	leave(o, 8, 960, 0xc);
	offcpu_border(o, 1000);
	offcpu_border(o, 1100);
	check(o, "7:1000+10@3 b,f| 8:999+100@3 c,f", 0, 0, "nothing before the beginning");

	o = start(0);
	leave(o, 7, 1000, 0xa);
	offcpu_border(o, 1000);
	in(o, 7, 1000);
	check(o, "", 0, 0, "no part of no length");
}

/* ---- losses -------------------------------------------------------------------------------------------------- */

static void check_losses(void)
{
	struct offcpu *o = start(0);

	leave(o, 7, 100, 0xa);
	leave(o, 8, 180, 0xb);
	offcpu_mark_stale(o, 150);
	offcpu_sure(o);
	in(o, 7, 400);
	in(o, 8, 400);
	leave(o, 7, 500, 0xc);
	in(o, 7, 600);
	check(o, "7:350+50@3 a,f| 7:500+100@3 c,f", 2, 250 + 220,
	      "up to the last certain moment; the rest is not known; then all is well again");

	o = start(0);
	leave(o, 7, 100, 0xa);
	offcpu_mark_stale(o, 150);
	leave(o, 8, 160, 0xb);
	in(o, 8, 170);
	leave(o, 9, 165, 0xb);
	offcpu_sure(o);
	in(o, 9, 200);
	offcpu_border(o, 1000);
	in(o, 7, 1200);
	check(o, "7:948+50@3 a,f", 3, 10 + 35 + 850 + 200,
	      "while records are being lost no pair is believed, nor across borders");

	o = start(0);
	leave(o, 7, 100, 0xa);
	offcpu_mark_stale(o, 150);
	offcpu_sure(o);
	leave(o, 8, 200, 0xb);
	offcpu_border(o, 1000);
	check(o, "7:948+50@3 a,f| 8:199+800@3 b,f", 1, 850,
	      "of two threads off the CPU only the certain one has the last ns of the window");

	o = start(0);
	chain(o, 7, 99, 0xa, 0xb);
	offcpu_mark_stale(o, 120);
	offcpu_sure(o);
	out(o, 7, 200);
	in(o, 7, 250);
	is_u64(offcpu_counts(o).without_chain_ns, 50, "a callchain from before a loss is that of another switch");
	check(o, "", 0, 0, "  and not used");

	o = start(0);
	leave(o, 7, 100, 0xa);
	leave(o, 7, 200, 0xb);
	in(o, 7, 230);
	check(o, "7:200+30@3 b,f", 1, 99, "out twice: its return is missing, without a word");

	o = start(0);
	leave(o, 7, 100, 0xa);
	in(o, 7, 110);
	in(o, 7, 300);
	check(o, "7:100+10@3 a,f", 1, 0, "in twice: nobody knows since when it was off");

	o = start(0);
	leave(o, 7, 100, 0xa);
	in(o, 7, 200);
	leave(o, 7, 150, 0xb);
	offcpu_border(o, 1000);
	check(o, "7:100+100@3 a,f", 2, 0, "what comes too late puts no thread off that runs");

	o = start(0);
	leave(o, 7, 100, 0xa);
	for (uint64_t i = 0; i < 3000; i++)
		offcpu_mark_stale(o, 150 + i);
	leave(o, 8, 4000, 0xb);
	offcpu_sure(o);
	leave(o, 9, 4000, 0xb);
	for (uint64_t i = 0; i < 10; i++)
		offcpu_mark_stale(o, 4100 + i);
	in(o, 7, 5000);
	in(o, 9, 5000);
	check(o, "7:4950+50@3 a,f", 3, 4850 + 1000, "more losses than can be told apart: less is certain");
}

/* ---- threads ------------------------------------------------------------------------------------------------- */

static bool is_even(void *to, uint32_t tid)
{
	(void)to;
	return tid % 2 == 0;
}

static void check_threads(void)
{
	struct offcpu *o = start(0);

	task(o, RECORD_FORK, 7, 100);
	in(o, 7, 150);
	is_u64(offcpu_counts(o).before, 0, "a new thread was not off before");
	leave(o, 7, 200, 0xa);
	in(o, 7, 210);
	task(o, RECORD_EXIT, 7, 250);
	leave(o, 7, 260, 0xb);
	offcpu_border(o, 1000);
	is_u64(offcpu_threads(o), 0, "it ended");
	task(o, RECORD_FORK, 7, 1100);
	is_u64(offcpu_threads(o), 1, "its number is used again");
	in(o, 7, 1200);
	leave(o, 7, 1210, 0xc);
	in(o, 7, 1220);
	check(o, "7:200+10@3 a,f| 7:1210+10@3 c,f", 0, 0, "the last switch of a thread is no wait");

	o = start(0);
	task(o, RECORD_EXIT, 7, 100);
	leave(o, 7, 110, 0xa);
	offcpu_border(o, 1000);
	check(o, "", 0, 0, "also of one that was not known");

	o = start(0);
	leave(o, 7, 100, 0xa);
	task(o, RECORD_FORK, 7, 500);
	in(o, 7, 510);
	check(o, "", 1, 0, "an end that was lost");

	/* thread 9 of process 7 calls exec, and goes on as 7 */
	o = start(0);
	leave(o, 7, 90, 0xa);
	in(o, 7, 95);
	leave(o, 9, 98, 0xb);
	in(o, 9, 99);
	record(o, RING_OF_STATE, RECORD_EXIT, 0, 7, 7, 100, 0);
	chain_in(o, 7, 9, 101, 0xb, 0xf, 0);
	record(o, RING_OF_SWITCHES, RECORD_SWITCH_CPU_WIDE, 1 << 13, 7, 9, 102, 3);
	record(o, RING_OF_STATE, RECORD_COMM, 1 << 13, 7, 7, 110, 0);
	chain_in(o, 7, 7, 119, 0xc, 0xf, 0);
	record(o, RING_OF_SWITCHES, RECORD_SWITCH_CPU_WIDE, 1 << 13, 7, 7, 120, 3);
	offcpu_border(o, 1000);
	is_u64(offcpu_threads(o), 1, "exec leaves one thread");
	check(o, "7:90+5@3 a,f| 9:98+1@3 b,f| 7:119+880@3 c,f", 0, 0, "  which is tracked by its new number");

	o = start(0);
	leave(o, 7, 100, 0xa);
	leave(o, 8, 100, 0xa);
	offcpu_check(o, is_even, NULL);
	offcpu_border(o, 200);
	is_u64(offcpu_threads(o), 1, "who is gone without a word is found by asking");
	check(o, "8:99+100@3 a,f", 1, 0, "  and waits no longer");

	o = start(0);
	leave(o, 7, 100, 0xa);
	leave(o, 8, 250, 0xa);
	offcpu_check(o, is_even, NULL);
	task(o, RECORD_FORK, 7, 99);
	is_u64(offcpu_threads(o), 1, "a FORK record from before its latest record does not start it again");
	task(o, RECORD_FORK, 7, 150);
	is_u64(offcpu_threads(o), 2, "  but a later one does, though it comes late");
	offcpu_free(o);

	o = start(0);
	task(o, RECORD_EXIT, 7, 100);
	task(o, RECORD_FORK, 7, 50);
	is_u64(offcpu_threads(o), 0, "a FORK record that comes after the thread's EXIT record does not start it again");
	offcpu_free(o);
}

/* A new thread gets the tid of one that has ended, and its FORK record is lost. */
static void check_reused_tid(void)
{
	const uint64_t later = 2000000200;
	struct offcpu *o = start(0);

	task(o, RECORD_EXIT, 7, 100);
	leave(o, 7, 2000000000, 0xa);
	is_u64(offcpu_threads(o), 0, "a switch less than 2 s after the EXIT record is that of the ended thread");
	leave(o, 7, later, 0xb);
	is_u64(offcpu_threads(o), 0, "  and so is a later one, if no record was lost: PID 1 waits for its container");
	offcpu_newcomers(o);
	leave(o, 7, later, 0xb);
	in(o, 7, later + 50);
	is_u64(offcpu_threads(o), 1, "after FORK records were lost, it is that of a new thread");
	check(o, "7:2000000200+50@3 b,f", 0, 0, "  whose off-CPU time is recorded");

	o = start(0);
	offcpu_newcomers(o);
	task(o, RECORD_EXIT, 7, 100);
	in(o, 7, later);
	leave(o, 7, later + 10, 0xb);
	in(o, 7, later + 30);
	check(o, "7:2000000210+20@3 b,f", 1, 0, "a switch-in as its first record: only its time before is unknown");

	o = start(0);
	offcpu_emit_all(o);
	task(o, RECORD_EXIT, 7, 100);
	leave(o, 7, later, 0xb);
	is_u64(offcpu_threads(o), 0, "a thread that ended stays ended in a wall-clock profile without losses");
	offcpu_newcomers(o);
	leave(o, 7, later + 10, 0xb);
	is_u64(offcpu_threads(o), 1, "  but not after FORK records were lost");
	offcpu_free(o);
}

static void count(void *to, const struct offcpu_sample *sample)
{
	*(uint64_t *)to += sample->ns;
}

static void check_many(void)
{
	uint64_t sum = 0;
	struct offcpu *o = offcpu_new(0, count, &sum);

	for (uint32_t tid = 1; tid <= 20000; tid++)
		leave(o, tid, 1000 + tid, 0xa + tid % 50);
	ok(offcpu_bytes(o) < 20000 * 4 * 80, "20,000 threads that wait in 50 places: below 6.4 MB");
	is_u64(offcpu_threads(o), 20000, "all are known");
	for (uint32_t tid = 1; tid <= 20000; tid++)
		in(o, tid, 2000 + tid);
	is_u64(sum, 20000u * 1000u, "all their times");
	for (uint32_t round = 0; round < 50; round++)
		for (uint32_t i = 0; i < 1000; i++) {
			uint64_t ns = 100000 + UINT64_C(1000000000) * round + i;

			task(o, RECORD_FORK, 100000 + round * 1000 + i, ns);
			task(o, RECORD_EXIT, 100000 + round * 1000 + i, ns + 10);
		}
	ok(offcpu_bytes(o) < 20000 * 4 * 80, "50,000 that came and went need no more");
	is_u64(offcpu_threads(o), 20000, "  and are gone");
	offcpu_free(o);

	o = offcpu_new(0, count, &sum);
	sum = 0;
	for (uint32_t tid = 1; tid <= 500000; tid++)
		leave(o, tid, 1000 + tid, tid);
	for (uint32_t tid = 1; tid <= 500000; tid++)
		in(o, tid, 2000 + tid);
	is_u64(sum + offcpu_counts(o).without_chain_ns, UINT64_C(500000) * 1000,
	       "500,000 in as many places: some callchains find no room, and are counted");
	ok(offcpu_counts(o).without_chain && sum > CHAINS_MAX / 60 * 1000, "  but many do");
	offcpu_free(o);
}

static void check_text(void)
{
	struct pj_offcpu c = { .blocked = 1234, .blocked_ns = 83200000000, .preempted = 2, .preempted_ns = 3000000 },
			 sum = { 0 };
	struct text t = { 0 };

	offcpu_text(&t, &c);
	is_str(text_view(&t), STR("1,234 times blocked (83.2 s), 2 preempted (0.003 s)"), "in words");
	t.n = 0;
	offcpu_text(&t, &(struct pj_offcpu){ .blocked = 1, .before = 1, .never = 1 });
	is_str(text_view(&t),
	       STR("1 time blocked (0.000 s), 0 preempted (0.000 s); off the CPU since before the recording, without stack: "
		   "1 thread that returned (0.000 s) and 1 that did not return"),
	       "one of each");
	t.n = 0;
	c.brief = 3;
	c.unknown = 4;
	c.without_chain = 5;
	c.before = 6;
	c.never = 7;
	offcpu_add(&sum, &c);
	offcpu_add(&sum, &c);
	offcpu_text(&t, &sum);
	is_str(text_view(&t),
	       STR("2,468 times blocked (166.4 s), 4 preempted (0.006 s); not written: 6 shorter than the minimum (0.000 s); "
		   "unknown, because records were lost: 8 times (0.000 s); without callchain, not written: 10 times (0.000 s); "
		   "off the CPU since before the recording, without stack: 12 threads that returned (0.000 s) and 7 that did not return"),
	       "and of windows together");
	text_free(&t);
}

/* ---- copies of stacks ---------------------------------------------------------------------------------------- */

/* The verdict on a copy of thread 7, which left the CPU at 100 with the sample of 99. */
static enum offcpu_verdict verdict(struct offcpu *offcpu, uint64_t begun, uint64_t ended, uint64_t until)
{
	return offcpu_verdict(offcpu, &(struct offcpu_copy){ .tid = 7, .sampled = 99, .begun = begun, .ended = ended },
			      until);
}

static void check_certificate(void)
{
	struct offcpu *o = start(0);
	const uint64_t end = 200 + OFFCPU_MARGIN_NS;

	is_u64(verdict(o, 150, 200, 9000), OFFCPU_RESUMED, "a copy of an unknown thread");
	leave(o, 7, 100, 0xa);
	is_u64(verdict(o, 150, 200, end + 1), OFFCPU_CERTIFIED, "a copy that ends before the thread returns");
	is_u64(verdict(o, 150, 200, end), OFFCPU_RESUMED, "  not by more than the clocks may differ");
	is_u64(verdict(o, 150, 200, 180), OFFCPU_RESUMED, "  after the thread returns");
	is_u64(verdict(o, 99, 200, 9000), OFFCPU_RESUMED, "  begun before the thread left");
	is_u64(verdict(o, 150, 140, 9000), OFFCPU_RESUMED, "  ended before it began");
	is_u64(verdict(o, 150, UINT64_MAX, UINT64_MAX), OFFCPU_RESUMED, "  ended at no time");
	is_u64(offcpu_verdict(o, &(struct offcpu_copy){ 7, 98, 150, 200 }, 9000), OFFCPU_RESUMED,
	       "  of another switch-out");
	is_u64(offcpu_verdict(o, &(struct offcpu_copy){ 8, 99, 150, 200 }, 9000), OFFCPU_RESUMED,
	       "  of another thread");
	in(o, 7, 2000);
	is_u64(verdict(o, 150, 200, 9000), OFFCPU_RESUMED, "  of a wait that is over");
	leave(o, 7, 3000, 0xa);
	is_u64(verdict(o, 3100, 3200, 9000), OFFCPU_RESUMED, "  with the registers of the wait before");
	offcpu_free(o);
}

/* A copy whose thread could have run without a record of it. */
static void check_certificate_losses(void)
{
	struct offcpu *o = start(0);

	leave(o, 7, 100, 0xa);
	offcpu_mark_stale(o, 120);
	is_u64(verdict(o, 150, 200, 9000), OFFCPU_UNCERTAIN, "records were lost after the switch-out");
	offcpu_sure(o);
	is_u64(verdict(o, 150, 200, 9000), OFFCPU_UNCERTAIN, "  and the records after that are complete");
	in(o, 7, 300);
	leave(o, 7, 400, 0xa);
	is_u64(offcpu_verdict(o, &(struct offcpu_copy){ 7, 399, 450, 500 }, 9000), OFFCPU_CERTIFIED, "the next wait");
	offcpu_free(o);
}

static void check_exec_and_exit(void)
{
	struct offcpu *o = start(0);

	leave(o, 7, 100, 0xa);
	task(o, RECORD_EXIT, 7, 150);
	is_u64(verdict(o, 160, 200, 9000), OFFCPU_RESUMED, "a thread that ended: its record of the return was lost");
	task(o, RECORD_FORK, 7, 170);
	is_u64(verdict(o, 180, 200, 9000), OFFCPU_RESUMED, "  and whose tid another thread has");
	offcpu_free(o);
	o = start(0);
	leave(o, 7, 100, 0xa);
	record(o, RING_OF_STATE, RECORD_COMM, MISC_COMM_EXEC, 1, 7, 150, 0);
	is_u64(verdict(o, 160, 200, 9000), OFFCPU_RESUMED, "a thread that called exec");
	offcpu_free(o);
}

static void check_set_stack(void)
{
	const uint64_t read[] = { CONTEXT_USER, 1, 2, 3 };
	const struct offcpu_stack stack = { read, 4, true, 1 }, part = { read, 3, false, 1 };
	struct offcpu *o = start(0);
	struct offcpu_sample wait;
	struct pj_offcpu c;

	ok(!offcpu_wait(o, 7, &wait), "no wait of an unknown thread");
	ok(!offcpu_set_stack(o, 7, &stack), "  which gets no stack");
	leave(o, 7, 100, 0xa);
	ok(offcpu_wait(o, 7, &wait) && wait.time == 99 && wait.n == 2 && wait.ips[0] == 0xa, "the wait of a thread");
	ok(!wait.read && offcpu_set_stack(o, 7, &part), "  gets a stack");
	ok(offcpu_wait(o, 7, &wait) && wait.read && wait.n == 3, "  which its wait has then");
	ok(offcpu_set_stack(o, 7, &stack) && offcpu_wait(o, 7, &wait) && wait.n == 4, "  or another one");
	ok(offcpu_set_stack(o, 7, &part) && offcpu_wait(o, 7, &wait) && wait.n == 4,
	   "  but none that is not complete in place of a complete one");
	offcpu_border(o, 150);
	in(o, 7, 200);
	ok(!offcpu_wait(o, 7, &wait), "no wait of a thread that runs");
	ok(!offcpu_set_stack(o, 7, &stack), "  which gets no stack");
	chain_in(o, 1, 7, 299, CONTEXT_USER, 0xa, 0);
	out(o, 7, 300);
	in(o, 7, 400);
	leave(o, 7, 500, 0xa);
	in(o, 7, 600);
	c = offcpu_counts(o);
	is_u64(c.read, 2, "times with a stack that was read: two parts of one wait");
	is_u64(c.read_ns, 100, "  how long");
	is_u64(c.complete_ns, 100, "  with a complete one");
	is_u64(c.unread, 1, "times with the callchain of the kernel");
	is_u64(c.unread_ns, 100, "  how long, without threads of the kernel");
	check(o,
	      "7:99+50@3 fffffffffffffe00,1,2,3| 7:150+50@3 fffffffffffffe00,1,2,3| 7:300+100@3 fffffffffffffe00,a| "
	      "7:500+100@3 a,f",
	      0, 0, "each time has its own stack");
}

/* Two times of a preempted thread, one with a complete stack, and one time of a blocked thread: the times of the
 * preempted thread are counted apart, too. */
static void check_preempted_stacks(void)
{
	const uint64_t read[] = { CONTEXT_USER, 1, 2, 3 };
	const struct offcpu_stack stack = { read, 4, true, 1 };
	struct offcpu *o = start(0);
	struct pj_offcpu c;

	chain(o, 7, 99, 0xa, 0xb);
	preempt(o, 7, 100);
	ok(offcpu_set_stack(o, 7, &stack), "a preempted thread gets a stack");
	in(o, 7, 130);
	chain_in(o, 1, 7, 199, CONTEXT_USER, 0xa, 0);
	preempt(o, 7, 200);
	in(o, 7, 207);
	leave(o, 7, 300, 0xa);
	ok(offcpu_set_stack(o, 7, &stack), "  a blocked one, too");
	in(o, 7, 350);
	c = offcpu_counts(o);
	is_u64(c.read_ns, 80, "times with a stack that was read");
	is_u64(c.preempted_read_ns, 30, "  of which those of preempted threads");
	is_u64(c.preempted_complete_ns, 30, "  with a complete one");
	is_u64(c.unread_ns, 7, "times with the callchain of the kernel");
	is_u64(c.preempted_unread_ns, 7, "  of which those of preempted threads");
	offcpu_free(o);
}

/* ---- waits that began before the recording -------------------------------------------------------------------- */

static enum offcpu_verdict early_verdict(struct offcpu *offcpu, uint32_t tid, uint64_t until)
{
	return offcpu_early_verdict(offcpu, &(struct offcpu_copy){ .tid = tid, .begun = 150, .ended = 200 }, until);
}

static void check_early_certificate(void)
{
	struct offcpu *o = start(0);
	const uint64_t end = 200 + OFFCPU_MARGIN_NS;

	offcpu_begin(o, 100);
	is_u64(early_verdict(o, 7, end + 1), OFFCPU_CERTIFIED, "a copy of a thread without records");
	is_u64(early_verdict(o, 7, end), OFFCPU_RESUMED, "  that returns too soon after the copy");
	is_u64(early_verdict(o, 7, 200 + UINT64_C(3000000000)), OFFCPU_UNCERTAIN,
	       "  so long ago that the records of its end may be dropped");
	in(o, 7, 180);
	is_u64(early_verdict(o, 7, end + 1), OFFCPU_RESUMED, "  of one that returned meanwhile");
	leave(o, 8, 120, 0xa);
	is_u64(early_verdict(o, 8, end + 1), OFFCPU_RESUMED, "  of one whose switch-out was recorded");
	offcpu_mark_stale(o, 130);
	is_u64(early_verdict(o, 9, end + 1), OFFCPU_UNCERTAIN, "records were lost");
	offcpu_sure(o);
	is_u64(early_verdict(o, 9, end + 1), OFFCPU_UNCERTAIN, "  at any time since the start");
	offcpu_free(o);
}

static void check_early_waits(void)
{
	const uint64_t read[] = { CONTEXT_USER, 1, 2 };
	const struct offcpu_stack complete = { read, 3, true, 1 }, broken = { read, 2, false, 1 };
	const uint64_t late = 150 + OFFCPU_RETURNED_NS;
	struct offcpu *o = start(0);
	struct pj_offcpu c;

	offcpu_begin(o, 100);
	is_u64(offcpu_early(o, 7), OFFCPU_EARLY_SILENT, "a thread without records");
	ok(offcpu_set_early(o, 1, 7, &broken) && offcpu_early(o, 7) == OFFCPU_EARLY_READ, "it gets a stack");
	ok(offcpu_set_early(o, 1, 7, &complete) && offcpu_early(o, 7) == OFFCPU_EARLY_COMPLETE, "  a better one");
	ok(offcpu_set_early(o, 1, 8, &broken), "another one, too");
	offcpu_border(o, 150);
	in(o, 7, 200);
	is_u64(offcpu_early(o, 7), OFFCPU_EARLY_NONE, "it returns");
	in(o, 9, 120);
	is_u64(offcpu_early(o, 9), OFFCPU_EARLY_NONE, "one without a stack returns at once");
	in(o, 10, late);
	is_u64(offcpu_early(o, 10), OFFCPU_EARLY_RETURNED, "  or after a time that is worth a word");
	c = offcpu_counts(o);
	is_u64(c.early, 3, "parts of waits since before the recording");
	is_u64(c.early_ns, 150, "  how long");
	is_u64(c.early_complete_ns, 100, "  with a complete stack");
	is_u64(c.read_ns, 150, "  all of which were read");
	is_u64(c.before_ns, OFFCPU_RETURNED_NS, "time of the threads without a stack that returned");
	check(o,
	      "7:99+50@4294967295 fffffffffffffe00,1,2| 8:99+50@4294967295 fffffffffffffe00,1| "
	      "7:150+50@4294967295 fffffffffffffe00,1,2",
	      0, 0, "they count from the start of the recording on, on no known CPU");
}

int main(void)
{
	check_early_certificate();
	check_early_waits();
	check_pairs();
	check_brief();
	check_all();
	check_cgroup_of_new_threads();
	check_borders();
	check_losses();
	check_threads();
	check_reused_tid();
	check_many();
	check_text();
	check_certificate();
	check_certificate_losses();
	check_exec_and_exit();
	check_set_stack();
	check_preempted_stacks();
	text_free(&got);
	return done();
}
