/* Off-CPU samples of a recording without the processes that are left out: those that exist because of it. */
/* covers: record/offcpu/switches.c */
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

/* A wait of 100 ns of a process with one thread. */
static void wait_from(struct switches *switches, uint32_t pid, uint64_t ns)
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
	switch_at(switches, pid, ns + 100, 0);
}

static void task(struct switches *switches, uint32_t type, uint32_t pid, uint32_t tid, uint64_t ns)
{
	struct {
		struct perf_record head;
		uint32_t pid, ppid, tid, ptid;
		uint64_t time;
		struct ring_sample_id id;
	} r = { { .type = type, .size = sizeof(r) }, pid, 1, tid, 1, ns, { .pid = pid, .tid = tid, .time = ns } };

	give(switches, &r, sizeof(r), RING_OF_STATE, ns);
}

static void check_left_out(struct switches *switches)
{
	switches_leave_out(switches, 7);
	switches_leave_out(switches, 8);
	task(switches, RECORD_FORK, 8, 8, 900);
	wait_from(switches, 7, 1000);
	wait_from(switches, 8, 2000);
	is_u64(samples, 0, "no sample of a process that is left out");
	wait_from(switches, 9, 3000);
	is_u64(samples, 1, "  one of another process");
	is_u64(switches_end(switches, 4000).never, 1, "the one thread that never ran is of neither");
	task(switches, RECORD_EXIT, 7, 70, 4100);
	wait_from(switches, 7, 4200);
	is_u64(samples, 1, "a thread of one ends: it is left out still");
	task(switches, RECORD_EXIT, 7, 7, 4400);
	task(switches, RECORD_FORK, 7, 7, 4500);
	wait_from(switches, 7, 4600);
	is_u64(samples, 2, "  until it has ended: its pid may be that of another process then");
}

int main(void)
{
	struct processes *processes = processes_new(NULL);
	struct switches *switches;

	for (uint32_t pid = 7; pid <= 10; pid++)
		processes_make_thread(processes, pid, pid);
	switches = switches_new(&(struct switches_options){
		.event = 1, .all = true, .processes = processes, .wanted = all_wanted, .emit = count_sample });
	switches_begin(switches, 1);
	check_left_out(switches);
	switches_free(switches);
	processes_free(processes);
	return done();
}
