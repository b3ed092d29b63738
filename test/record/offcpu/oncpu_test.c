/* Switch records and samples in, weights of the samples out: switches, borders, losses, threads that come and go. */
/* covers: record/offcpu/oncpu.c */
#include "record/offcpu/oncpu.h"
#include "common/text.h"
#include "test/lib/tap.h"

static struct text got;

/* "7:50@3 " is tid 7 with 50 ns without sample, last seen on CPU 3. */
static void see_rest(void *to, const struct oncpu_rest *rest)
{
	(void)to;
	text_printf(&got, "%u:%ju@%u ", rest->tid, (uintmax_t)rest->ns, rest->cpu);
}

static struct oncpu *start_at(uint64_t ns)
{
	struct oncpu *oncpu = oncpu_new(see_rest, NULL);

	got.n = 0;
	oncpu_begin(oncpu, ns);
	return oncpu;
}

static void give(struct oncpu *oncpu, uint32_t type, uint16_t misc, uint32_t tid, uint64_t ns)
{
	struct {
		struct perf_record head;
		uint32_t task[6];
		struct ring_sample_id id;
	} bytes = { { .type = type, .misc = misc, .size = sizeof(bytes) },
		    { 1, type == RECORD_COMM ? tid : 0, tid, 0, 0, 0 },
		    { .pid = 1, .tid = tid, .time = ns, .cpu = 3 } };
	const struct ring_record record = { .head = &bytes.head, .time = ns };

	oncpu_record(oncpu, &record);
}

/* Context switches of processes on any CPU: pid and tid are those of the record. */
static void switch_at(struct oncpu *oncpu, uint16_t misc, uint32_t tid, uint32_t cpu, uint64_t ns)
{
	struct {
		struct perf_record head;
		struct ring_sample_id id;
	} bytes = { { .type = RECORD_SWITCH, .misc = misc, .size = sizeof(bytes) },
		    { .pid = 1, .tid = tid, .time = ns, .cpu = cpu } };
	const struct ring_record record = { .head = &bytes.head, .time = ns };

	oncpu_record(oncpu, &record);
}

static void switch_in(struct oncpu *oncpu, uint32_t tid, uint64_t ns)
{
	give(oncpu, RECORD_SWITCH, 0, tid, ns);
}

static void switch_out(struct oncpu *oncpu, uint32_t tid, uint64_t ns)
{
	give(oncpu, RECORD_SWITCH, 1 << 13, tid, ns);
}

static uint64_t weigh(struct oncpu *oncpu, uint32_t tid, uint64_t ns)
{
	const struct ring_sample sample = { .pid = 1, .tid = tid, .time = ns };

	return oncpu_weight(oncpu, &sample);
}

static void check_unknown(struct oncpu *oncpu, uint64_t times, uint64_t ns, const char *what)
{
	uint64_t got_times, got_ns;

	oncpu_take_unknown(oncpu, &got_times, &got_ns);
	is_u64(got_times, times, what);
	is_u64(got_ns, ns, "  their ns");
	oncpu_free(oncpu);
}

static void complete_records(void)
{
	struct oncpu *oncpu = start_at(1000);

	is_u64(weigh(oncpu, 7, 1100), 100, "a thread whose first record is a sample ran since the start");
	switch_out(oncpu, 7, 1130);
	switch_in(oncpu, 7, 2000);
	switch_out(oncpu, 7, 2010);
	switch_in(oncpu, 7, 3000);
	is_u64(weigh(oncpu, 7, 3005), 45, "a sample has the time since the last one, over switches");
	is_u64(weigh(oncpu, 7, 3005), 0, "a second sample at the same time has none");
	is_u64(weigh(oncpu, 0, 3005), 0, "the idle task has none");
	is_u64(weigh(oncpu, UINT32_MAX, 3005), 0, "nor has a thread without tid");
	switch_out(oncpu, 7, 3010);
	give(oncpu, RECORD_FORK, 0, 8, 3010);
	switch_in(oncpu, 8, 3020);
	give(oncpu, RECORD_EXIT, 0, 8, 3050);
	switch_in(oncpu, 7, 3050);
	is_str(text_view(&got), STR("8:30@3 "), "a thread without sample gives its time at its end");
	got.n = 0;
	oncpu_border(oncpu, 4000);
	is_str(text_view(&got), STR("7:955@3 "), "a border gives the time since the last sample");
	is_u64(weigh(oncpu, 7, 4100), 100, "and the next window begins there");
	is_u64(weigh(oncpu, 7, 4050), 0, "a late sample has no time");
	check_unknown(oncpu, 0, 0, "nothing is unknown");
}

static void lost_records(void)
{
	struct oncpu *oncpu = start_at(1000);

	switch_at(oncpu, 0, 7, 4, 1000);
	switch_in(oncpu, 8, 1000);
	switch_out(oncpu, 8, 1100);
	oncpu_mark_stale(oncpu, 1200);
	switch_in(oncpu, 8, 1300);
	oncpu_sure(oncpu);
	is_u64(weigh(oncpu, 7, 1500), 200, "only the time before the loss counts");
	is_u64(weigh(oncpu, 8, 1500), 100, "records near the loss begin no certain time");
	is_u64(weigh(oncpu, 7, 1600), 100, "after the next record time is certain again");
	check_unknown(oncpu, 2, 500, "the time from the loss to the next record is unknown");
	oncpu = start_at(1000);
	switch_in(oncpu, 7, 1000);
	switch_in(oncpu, 7, 1500);
	is_u64(weigh(oncpu, 7, 1600), 100, "a second switch-in: the first one's time is not certain");
	check_unknown(oncpu, 1, 500, "  and unknown");
}

static void many_threads(void)
{
	struct oncpu *oncpu = start_at(1000);
	uint64_t sum = 0;

	for (uint32_t tid = 1; tid <= 5000; tid++) {
		give(oncpu, RECORD_FORK, 0, tid, 1000 + tid);
		switch_at(oncpu, 0, tid, tid, 1000 + tid);
		if (tid % 2)
			give(oncpu, RECORD_EXIT, 0, tid, 1001 + tid);
	}
	for (uint32_t tid = 2; tid <= 5000; tid += 2)
		sum += weigh(oncpu, tid, 10000) == 9000 - tid;
	is_u64(sum, 2500, "threads stay when the table is rebuilt");
	check_unknown(oncpu, 0, 0, "nothing is unknown");
}

/* Thread 9 of process 1 calls exec and goes on as thread 1: nothing reports that its old tid has ended. */
static void exec_of_a_thread(void)
{
	struct oncpu *oncpu = start_at(1000);

	switch_at(oncpu, 0, 1, 1, 1000);
	switch_at(oncpu, 0, 9, 2, 1000);
	give(oncpu, RECORD_EXIT, 0, 1, 1100);
	got.n = 0;
	give(oncpu, RECORD_COMM, MISC_COMM_EXEC, 1, 1200);
	is_str(text_view(&got), STR("9:200@2 "), "exec by a thread ends its old tid");
	is_u64(weigh(oncpu, 1, 1250), 50, "  and its time goes on as the first thread");
	got.n = 0;
	oncpu_border(oncpu, 2000);
	is_str(text_view(&got), STR("1:750@0 "), "  the old tid has no time after that");
	check_unknown(oncpu, 0, 0, "  nothing is unknown");
}

/* With --align the recording begins after its first records. */
static void before_the_start(void)
{
	struct oncpu *oncpu = start_at(1000);

	switch_out(oncpu, 7, 500);
	oncpu_border(oncpu, 2000);
	is_str(text_view(&got), STR(""), "a thread that left its CPU before the start has no time");
	is_u64(weigh(oncpu, 8, 2500), 500, "a thread whose first record comes after a border ran since that");
	oncpu_free(oncpu);
	oncpu = start_at(1000);
	is_u64(weigh(oncpu, 7, 600), 0, "a sample before the start");
	switch_out(oncpu, 7, 1200);
	oncpu_border(oncpu, 2000);
	is_str(text_view(&got), STR("7:200@3 "), "  the time since the start counts");
	check_unknown(oncpu, 0, 0, "  nothing is unknown");
}

static void samples_beside_switches(void)
{
	struct oncpu *oncpu = start_at(1000);

	switch_in(oncpu, 7, 1000);
	switch_out(oncpu, 7, 1100);
	is_u64(weigh(oncpu, 7, 1200), 100, "a sample of a thread off the CPU has the time before");
	oncpu_border(oncpu, 2000);
	is_str(text_view(&got), STR(""), "  and does not put the thread on a CPU");
	switch_in(oncpu, 7, 2000);
	weigh(oncpu, 7, 2200);
	switch_out(oncpu, 7, 2100);
	is_u64(weigh(oncpu, 7, 2500), 0, "after a late switch-out the time is unknown");
	give(oncpu, RECORD_FORK, 0, 7, 1900);
	is_u64(weigh(oncpu, 7, 2600), 100, "a late FORK record does not take the thread off its CPU");
	give(oncpu, RECORD_EXIT, 0, 7, 2700);
	weigh(oncpu, 7, 2710);
	switch_out(oncpu, 7, 2720);
	got.n = 0;
	oncpu_border(oncpu, 3000);
	is_str(text_view(&got), STR(""), "a thread that has ended has no time, though it is sampled in do_exit");
	check_unknown(oncpu, 1, 300, "  and only the time of the late record is unknown");
}

static bool is_even(void *to, uint32_t tid)
{
	(void)to;
	return tid % 2 == 0;
}

/* Threads that are moved into the recorded cgroup or out of it, and processes that are left out. */
static void set_of_threads(void)
{
	struct oncpu *oncpu = start_at(1000);

	oncpu_newcomers(oncpu);
	is_u64(weigh(oncpu, 7, 1500), 0, "a newcomer is not counted before its first record");
	is_u64(weigh(oncpu, 7, 1600), 100, "  but from there on");
	switch_at(oncpu, 0, 8, 5, 1600);
	switch_at(oncpu, 0, 9, 5, 1700);
	switch_at(oncpu, 1 << 13, 9, 5, 1800);
	got.n = 0;
	oncpu_border(oncpu, 2000);
	is_str(text_view(&got), STR("7:400@0 9:100@5 "), "a thread on whose CPU another one runs is not there");
	oncpu_forget(oncpu, 1);
	got.n = 0;
	oncpu_border(oncpu, 3000);
	is_str(text_view(&got), STR(""), "a process that is left out has no time any more");
	check_unknown(oncpu, 1, 100, "the time until then is unknown");
	oncpu = start_at(1000);
	switch_at(oncpu, 0, 7, 1, 1000);
	switch_at(oncpu, 0, 8, 2, 1000);
	weigh(oncpu, 7, 1100);
	oncpu_check(oncpu, is_even, NULL);
	got.n = 0;
	oncpu_border(oncpu, 2000);
	is_str(text_view(&got), STR("8:1000@2 "), "a thread whose EXIT record was lost ends");
	check_unknown(oncpu, 1, 0, "  when, is unknown");
}

/* Ends a thread whose EXIT record was lost; its tid is used again before that is known. */
static void reused_tid(void)
{
	struct oncpu *oncpu = start_at(1000);

	switch_at(oncpu, 0, 7, 1, 1000);
	switch_at(oncpu, 1 << 13, 7, 1, 1100);
	switch_at(oncpu, 0, 8, 2, 3000);
	oncpu_check(oncpu, is_even, NULL);
	give(oncpu, RECORD_FORK, 0, 7, 1050);
	switch_at(oncpu, 0, 7, 1, 3100);
	is_u64(weigh(oncpu, 7, 3200), 0, "a FORK record from before the latest record starts no ended thread");
	give(oncpu, RECORD_FORK, 0, 7, 2900);
	switch_at(oncpu, 0, 7, 1, 3100);
	is_u64(weigh(oncpu, 7, 3200), 100, "  but a later one does, though it comes late");
	check_unknown(oncpu, 0, 0, "  nothing is unknown");
}

/* A new thread gets the tid of one that has ended, and its FORK record is lost. */
static void reused_tid_without_fork(void)
{
	const uint64_t later = 2000003000;
	struct oncpu *oncpu = start_at(1000);

	switch_in(oncpu, 7, 1000);
	give(oncpu, RECORD_EXIT, 0, 7, 1100);
	switch_in(oncpu, 7, later);
	is_u64(weigh(oncpu, 7, later + 100), 0, "without losses a thread that ended stays ended");
	oncpu_newcomers(oncpu);
	switch_in(oncpu, 7, 2000001000);
	is_u64(weigh(oncpu, 7, 2000001050), 0, "a record less than 2 s after the end is that of the ended thread");
	switch_in(oncpu, 7, later + 200);
	is_u64(weigh(oncpu, 7, later + 300), 100, "a later one is that of a new thread, whose time counts from there");
	give(oncpu, RECORD_EXIT, 0, 7, later + 400);
	weigh(oncpu, 7, 2 * later);
	is_u64(weigh(oncpu, 7, 2 * later + 10), 10, "a sample as its first record");
	check_unknown(oncpu, 0, 0, "  nothing is unknown");
}

/* A thread that is moved out of the recorded cgroup while it runs, in times of 0.1 s. */
static void moved_while_on_cpu(void)
{
	const uint64_t s = 100000000;
	struct oncpu *oncpu = start_at(10 * s);

	oncpu_newcomers(oncpu);
	switch_at(oncpu, 0, 7, 5, 10 * s);
	weigh(oncpu, 7, 15 * s);
	oncpu_border(oncpu, 20 * s);
	is_str(text_view(&got), STR("7:500000000@0 "), "a thread with a sample 0.5 s ago is on its CPU");
	got.n = 0;
	oncpu_border(oncpu, 30 * s);
	oncpu_border(oncpu, 40 * s);
	is_str(text_view(&got), STR(""), "a thread without record for more than 1 s may be out of the cgroup");
	is_u64(weigh(oncpu, 7, 41 * s), 0, "  its time until its next sample is unknown");
	is_u64(weigh(oncpu, 7, 42 * s), s, "  then certain again");
	give(oncpu, RECORD_EXIT, 0, 7, 60 * s);
	is_str(text_view(&got), STR(""), "  so is that before an EXIT record, which comes from outside, too");
	switch_at(oncpu, 0, 8, 5, 60 * s);
	oncpu_border(oncpu, 75 * s);
	switch_at(oncpu, 0, 9, 5, 76 * s);
	switch_at(oncpu, 1 << 13, 9, 5, 77 * s);
	got.n = 0;
	oncpu_border(oncpu, 90 * s);
	is_str(text_view(&got), STR("9:100000000@5 "), "when another thread runs there, it is out");
	check_unknown(oncpu, 6, (10 + 10 + 1 + 18 + 15 + 1) * s, "the times are unknown");
	oncpu = start_at(10 * s);
	switch_at(oncpu, 0, 7, 5, 10 * s);
	oncpu_border(oncpu, 30 * s);
	is_str(text_view(&got), STR("7:2000000000@5 "), "without cgroups, silence changes nothing");
	oncpu_free(oncpu);
}

static void see_cgroup(void *to, const struct oncpu_rest *rest)
{
	*(uint64_t *)to = rest->cgroup;
}

static void cgroup_of_the_rest(void)
{
	uint64_t cgroup = 0;
	struct oncpu *oncpu = oncpu_new(see_cgroup, &cgroup);

	oncpu_begin(oncpu, 1000);
	switch_in(oncpu, 7, 1000);
	oncpu_set_cgroup(oncpu, 7, 42);
	oncpu_border(oncpu, 2000);
	is_u64(cgroup, 42, "time without sample has the cgroup of its thread");
	oncpu_free(oncpu);
}

int main(void)
{
	complete_records();
	exec_of_a_thread();
	before_the_start();
	samples_beside_switches();
	set_of_threads();
	reused_tid();
	reused_tid_without_fork();
	moved_while_on_cpu();
	cgroup_of_the_rest();
	lost_records();
	many_threads();
	text_free(&got);
	return done();
}
