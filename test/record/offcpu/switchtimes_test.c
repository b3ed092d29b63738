/* SWITCH records in, times at which the scheduler counts the switches out. */
/* covers: record/offcpu/switchtimes.c */
#include "record/offcpu/switchtimes.h"
#include "test/lib/tap.h"

static uint64_t sample(struct switchtimes *times, uint32_t cpu, uint32_t tid, uint64_t ns)
{
	struct ring_sample bytes = {
		.head = { .type = RECORD_SAMPLE, .size = sizeof(bytes) }, .tid = tid, .time = ns, .cpu = cpu
	};
	const struct ring_record record = { .head = &bytes.head, .time = ns, .kind = RING_OF_SWITCHES };

	return switchtimes_record(times, &record);
}

/* A record of an event of a CPU, which has the other thread of the switch. */
static uint64_t of_cpu(struct switchtimes *times, uint16_t misc, uint32_t cpu, uint32_t tid, uint32_t other,
		       uint64_t ns)
{
	struct {
		struct perf_record head;
		uint32_t pid, tid;
		struct ring_sample_id id;
	} bytes = { { .type = RECORD_SWITCH_CPU_WIDE, .misc = misc, .size = sizeof(bytes) },
		    other,
		    other,
		    { .tid = tid, .time = ns, .cpu = cpu } };
	const struct ring_record record = { .head = &bytes.head, .time = ns, .kind = RING_OF_SWITCHES };

	return switchtimes_record(times, &record);
}

static uint64_t of_thread(struct switchtimes *times, uint16_t misc, uint32_t cpu, uint32_t tid, uint64_t ns)
{
	struct {
		struct perf_record head;
		struct ring_sample_id id;
	} bytes = { { .type = RECORD_SWITCH, .misc = misc, .size = sizeof(bytes) },
		    { .tid = tid, .time = ns, .cpu = cpu } };
	const struct ring_record record = { .head = &bytes.head, .time = ns, .kind = RING_OF_SWITCHES };

	return switchtimes_record(times, &record);
}

enum { OUT = 1 << 13 };

static void on_cpus(void)
{
	struct switchtimes times = { 0 };

	is_u64(sample(&times, 3, 7, 1000), 1000, "a sample has its own time");
	is_u64(of_cpu(&times, OUT, 3, 7, 8, 1004), 1000, "the switch-out counts at its sample");
	is_u64(of_cpu(&times, 0, 3, 8, 7, 500000), 1000, "  and so does the switch-in of the next thread");
	is_u64(of_cpu(&times, 0, 3, 8, 7, 500001), 500001, "  once");
	sample(&times, 3, 7, 600000);
	is_u64(of_cpu(&times, OUT, 4, 7, 8, 600004), 600004, "the sample of another CPU does not count");
	is_u64(of_cpu(&times, OUT, 3, 9, 8, 600005), 600005, "nor does that of another thread");
	is_u64(of_cpu(&times, 0, 3, 8, 9, 600009), 600005, "without a sample, the SWITCH record counts");
	sample(&times, 3, 7, 700000);
	of_cpu(&times, OUT, 3, 7, 10, 700004);
	is_u64(of_cpu(&times, 0, 3, 8, 10, 700009), 700009, "another thread, which is not recorded, ran in between");
	sample(&times, 3, 7, 800000);
	switchtimes_lost(&times);
	is_u64(of_cpu(&times, OUT, 3, 7, 8, 800004), 800004, "after a loss the latest records do not count");
	switchtimes_lost(&times);
	is_u64(of_cpu(&times, 0, 3, 8, 7, 800009), 800009, "  of either direction");
	sample(&times, UINT32_MAX, 7, 900000);
	is_u64(of_cpu(&times, OUT, UINT32_MAX, 7, 8, 900004), 900004, "a CPU without number");
	switchtimes_free(&times);
}

static void of_threads(void)
{
	struct switchtimes times = { 0 };

	sample(&times, 3, 7, 1000);
	is_u64(of_thread(&times, OUT, 3, 7, 5000), 1000, "of threads: the switch-out counts at its sample");
	is_u64(of_thread(&times, 0, 3, 8, 8000), 1000, "  and the switch-in that follows soon, too");
	sample(&times, 3, 7, 20000);
	of_thread(&times, OUT, 3, 7, 25000);
	is_u64(of_thread(&times, 0, 3, 8, 35000), 35000, "  but not a later one");
	sample(&times, 3, 7, 40000);
	of_thread(&times, OUT, 3, 7, 40001);
	is_u64(of_thread(&times, 0, 3, 7, 40002), 40002, "  nor that of the same thread");
	sample(&times, 3, 7, 50000);
	of_thread(&times, OUT, 3, 7, 52000);
	is_u64(of_thread(&times, 0, 3, 8, 51000), 51000, "  nor one that is older");
	switchtimes_free(&times);
}

int main(void)
{
	on_cpus();
	of_threads();
	return done();
}
