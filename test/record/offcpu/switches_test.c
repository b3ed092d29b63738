/* Off-CPU samples of a recording without the processes that are left out: those that exist because of it. */
/* covers: record/offcpu/switches.c record/offcpu/leftout.c */
#include "record/offcpu/leftout.h"
#include "record/offcpu/switches.h"
#include "test/lib/tap.h"

#include <string.h>

static unsigned samples;

static void count_sample(void *to, struct ring_sample *sample)
{
	(void)to;
	samples += sample->period == 100;
}

static bool all_wanted(void *to, uint32_t pid)
{
	(void)to;
	return pid;
}

static void give(struct switches *switches, const void *bytes, size_t n, enum ring_kind kind, uint64_t ns)
{
	struct text text = { 0 };

	text_bytes(&text, bytes, n);
	switches_record(switches, &(struct ring_record){ .head = (void *)text.p, .time = ns, .kind = kind });
	text_free(&text);
}

static void switch_at(struct switches *switches, uint32_t pid, uint64_t ns, uint16_t misc)
{
	struct {
		struct perf_record head;
		struct ring_sample_id id;
	} r = { { .type = RECORD_SWITCH, .misc = misc, .size = sizeof(r) }, { .pid = pid, .tid = pid, .time = ns } };

	give(switches, &r, sizeof(r), RING_OF_SWITCHES, ns);
}

static void leave_cpu(struct switches *switches, uint32_t pid, uint64_t ns)
{
	const struct ring_sample sample = { .head = { .type = RECORD_SAMPLE, .size = sizeof(sample) + 8 },
					    .pid = pid,
					    .tid = pid,
					    .time = ns - 1,
					    .nips = 1 };
	const uint64_t ip = 0x1234;
	char record[sizeof(sample) + sizeof(ip)];

	memcpy(record, &sample, sizeof(sample));
	memcpy(record + sizeof(sample), &ip, sizeof(ip));
	give(switches, record, sizeof(record), RING_OF_SWITCHES, ns - 1);
	switch_at(switches, pid, ns, 1 << 13);
}

/* A wait of 100 ns of a process with one thread. */
static void wait_from(struct switches *switches, uint32_t pid, uint64_t ns)
{
	leave_cpu(switches, pid, ns);
	switch_at(switches, pid, ns + 100, 0);
}

static void task(struct switches *switches, uint32_t type, uint32_t pid, uint32_t tid, uint32_t ppid, uint64_t ns)
{
	struct {
		struct perf_record head;
		uint32_t pid, ppid, tid, ptid;
		uint64_t time;
		struct ring_sample_id id;
	} r = { { .type = type, .size = sizeof(r) }, pid, ppid, tid, ppid, ns, { .pid = pid, .tid = tid, .time = ns } };

	give(switches, &r, sizeof(r), RING_OF_STATE, ns);
}

static void check_left_out(struct switches *switches)
{
	struct pj_offcpu counts;

	switches_leave_out(switches, 7);
	switches_leave_out(switches, 8);
	task(switches, RECORD_FORK, 8, 8, 7, 900);
	wait_from(switches, 7, 1000);
	wait_from(switches, 8, 2000);
	is_u64(samples, 0, "no sample of a process that is left out");
	wait_from(switches, 9, 3000);
	is_u64(samples, 1, "  one of another process");
	counts = switches_end(switches, 4000);
	is_u64(counts.never, 1, "the one thread that never ran is of neither");
	is_u64(counts.own, 2, "both are counted");
	task(switches, RECORD_EXIT, 7, 70, 1, 4100);
	wait_from(switches, 7, 4200);
	is_u64(samples, 1, "a thread of one ends: it is left out still");
	task(switches, RECORD_FORK, 20, 20, 7, 4300);
	task(switches, RECORD_FORK, 20, 21, 20, 4300);
	wait_from(switches, 20, 4400);
	is_u64(samples, 1, "a process that it starts is left out, too");
	task(switches, RECORD_FORK, 20, 20, 9, 4500);
	wait_from(switches, 20, 4600);
	is_u64(samples, 2, "  until its pid is that of another process, though its end was not recorded");
	task(switches, RECORD_EXIT, 7, 7, 1, 4700);
	wait_from(switches, 7, 4750);
	is_u64(samples, 2, "the first thread of one has ended: its other threads are left out still");
	task(switches, RECORD_FORK, 7, 7, 1, 4800);
	wait_from(switches, 7, 4900);
	is_u64(samples, 3, "  until its pid is that of another process");
	is_u64(switches_end(switches, 5000).own, 1, "one is left");
	switches_leave_out_none(switches);
	wait_from(switches, 8, 5100);
	is_u64(samples, 4, "after lost records none is left out that is not found again");
}

/* More processes than there is space for: the further ones are recorded, no other is left out. */
static void check_full(struct leftout *leftout)
{
	for (uint32_t pid = 1; pid <= LEFTOUT_MAX + 1; pid++)
		leftout_add(leftout, pid);
	leftout_add(leftout, 1);
	is_u64(leftout->n, LEFTOUT_MAX, "the set is full");
	ok(leftout_has(leftout, LEFTOUT_MAX) && !leftout_has(leftout, LEFTOUT_MAX + 1) && !leftout_has(leftout, 0),
	   "  and has the first ones");
}

/* FORK records of these processes take no reserved place, and say whose the pid is from then on. */
static void check_records(struct leftout *leftout)
{
	struct {
		struct perf_record head;
		uint32_t pid, ppid, tid, ptid;
	} fork = { { .type = RECORD_FORK, .size = sizeof(fork) }, 2, 1, 2, 1 };
	const struct ring_record record = { .head = &fork.head, .kind = RING_OF_STATE };

	leftout_add(leftout, 1);
	for (uint32_t pid = 2; pid <= 2 * LEFTOUT_MAX; pid++) {
		fork.pid = fork.tid = pid;
		leftout_record(leftout, &record);
	}
	is_u64(leftout->n, LEFTOUT_MAX - LEFTOUT_RESERVED, "children take all places but the reserved ones");
	leftout_add(leftout, 1000);
	ok(leftout_has(leftout, 1000), "  which are for those that are added");
	fork.pid = fork.tid = 3;
	fork.ppid = 5000;
	ok(!leftout_record(leftout, &record), "the FORK record of another process with such a pid is not of the set");
	fork.head.type = RECORD_EXIT;
	fork.pid = fork.tid = 4;
	ok(leftout_record(leftout, &record) && leftout_has(leftout, 4) && leftout->n == LEFTOUT_MAX - 2,
	   "the EXIT record of the first thread of one is, and leaves the others in the set");
	leftout_add(leftout, 1001);
	leftout_add(leftout, 1002);
	ok(leftout_has(leftout, 1002) && !leftout_has(leftout, 4), "  until its place is needed");
	ok(!leftout_record(leftout, &record), "then its EXIT record is of no process of the set");
	leftout_clear(leftout);
	ok(!leftout_has(leftout, 1) && !leftout->n, "a set that was cleared has none");
}

/* Threads that wait since before the recording: of programs, also of those whose mappings may not be read. */
static void check_early(void)
{
	struct processes *processes = processes_new(NULL);
	struct switches *switches = switches_new(&(struct switches_options){
		.event = 1, .early = true, .processes = processes, .wanted = all_wanted, .emit = count_sample });

	for (uint32_t pid = 1; pid <= 3; pid++) {
		processes_make_thread(processes, pid, pid);
		processes_make(processes, pid)->user_stacks = pid > 1;
	}
	switches_leave_out(switches, 3);
	switches_begin(switches, 1);
	switches_begin_early(switches, 1);
	is_u64(earlywaits_pid(switches_early(switches), 2), 2, "a thread of a program without known mappings");
	is_u64(earlywaits_pid(switches_early(switches), 1) + earlywaits_pid(switches_early(switches), 3), 0,
	       "  but none of the kernel, and none that is left out");
	is_u64(switches_end(switches, 2).lacking, 1, "  is counted");
	switches_free(switches);
	processes_free(processes);
}

static void drop_stack(void *to, struct ring_sample *sample)
{
	(void)sample;
	switches_drop_stack(*(struct switches **)to);
}

/* A wait whose certified stack is not written, as its tenant is over budget, counts as one that was not read. */
static void over_budget(void)
{
	const uint64_t stack[] = { CONTEXT_USER, 0x1234, 0x2345 },
		       continued[] = { CONTEXT_USER, 0x1234,       0x2345,      CONTEXT_USER,
				       CONTEXT_USER, CONTEXT_USER, CONTEXT_USER };
	struct switches *switches = NULL;
	struct pj_offcpu counts;

	switches = switches_new(&(struct switches_options){
		.event = 1, .marks = true, .wanted = all_wanted, .emit = drop_stack, .to = &switches });
	switches_begin(switches, 1);
	leave_cpu(switches, 7, 1000);
	ok(offcpu_set_stack(switches_offcpu(switches), 7,
			    &(struct offcpu_stack){ .ips = stack, .n = 3, .complete = true, .owner = 1 }),
	   "a thread off the CPU has a certified stack");
	switch_at(switches, 7, 1100, 0);
	counts = switches_end(switches, 1200);
	is_u64(counts.read + counts.complete + counts.complete_ns, 0, "over budget, it does not count as read");
	is_u64(counts.unread_ns, 100, "  but as not read");
	/* a continued stack ends with the marks of a callchain of the kernel */
	ok(offcpu_set_early(switches_offcpu(switches), 8, 8,
			    &(struct offcpu_stack){ .ips = continued, .n = 7, .owner = 1 }),
	   "a thread that waits since before the recording has a continued stack");
	switch_at(switches, 8, 1300, 0);
	counts = switches_end(switches, 1400);
	is_u64(counts.read + counts.read_ns + counts.early + counts.early_ns, 0, "  over budget, it counts as neither");
	is_u64(counts.unread_ns, 100, "  but as not read");
	switches_free(switches);
}

static struct ring_sample rest;

static void see_rest(void *to, struct ring_sample *sample)
{
	(void)to;
	if (sample->event == 3)
		rest = *sample;
}

static uint64_t weigh_at(struct switches *switches, uint32_t pid, uint64_t ns)
{
	struct ring_sample sample = { .pid = pid, .tid = pid, .time = ns, .period = 7 };

	return switches_weigh(switches, &sample, 0) ? sample.period : UINT64_MAX;
}

/* Of a wall-clock profile: on-CPU time ends at the sample of the switch-out, where the scheduler counts it. */
static void wall_clock(void)
{
	struct switches *switches = switches_new(
		&(struct switches_options){ .event = 1, .wall = true, .wanted = all_wanted, .emit = see_rest });
	struct pj_offcpu counts;

	switches_begin(switches, 1000);
	leave_cpu(switches, 7, 1101);
	is_u64(weigh_at(switches, 7, 1150), 100, "a sample has the on-CPU time of its thread");
	is_u64(weigh_at(switches, 7, 1150), 0, "  once; the next sample has none, but is kept");
	switch_at(switches, 7, 1300, 0);
	switches_leave_out(switches, 8);
	is_u64(weigh_at(switches, 8, 1400), UINT64_MAX, "a sample of a process that is left out is dropped");
	counts = switches_end(switches, 2000);
	is_u64(counts.blocked_ns, 200, "the wait begins where on-CPU time ends");
	is_u64(rest.period, 700, "the time after the last sample is one without stack");
	is_u64(switches_oncpu_ns(switches), 800, "  and on-CPU time, too");
	switches_leave_out(switches, 7);
	rest.period = 0;
	is_u64(switches_end(switches, 3000).unknown_ns + rest.period, 0, "a process that is left out has no more time");
	switches_free(switches);
}

int main(void)
{
	struct processes *processes = processes_new(NULL);
	struct switches *switches;

	for (uint32_t pid = 7; pid <= 10; pid++)
		processes_make_thread(processes, pid, pid);
	switches = switches_new(&(struct switches_options){ .event = 1,
							    .all = true,
							    .own = true,
							    .processes = processes,
							    .wanted = all_wanted,
							    .emit = count_sample });
	switches_begin(switches, 1);
	check_left_out(switches);
	switches_free(switches);
	processes_free(processes);
	check_full(&(struct leftout){ 0 });
	check_records(&(struct leftout){ 0 });
	check_early();
	over_budget();
	wall_clock();
	return done();
}
