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
		    { 1, 0, tid, 0, 0, 0 },
		    { .pid = 1, .tid = tid, .time = ns, .cpu = 3 } };
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
	give(oncpu, RECORD_FORK, 0, 8, 3010);
	switch_in(oncpu, 8, 3020);
	give(oncpu, RECORD_EXIT, 0, 8, 3050);
	is_str(text_view(&got), STR("8:30@3 "), "a thread without sample gives its time at its end");
	got.n = 0;
	oncpu_border(oncpu, 4000);
	is_str(text_view(&got), STR("7:995@3 "), "a border gives the time since the last sample");
	is_u64(weigh(oncpu, 7, 4100), 100, "and the next window begins there");
	is_u64(weigh(oncpu, 7, 4050), 0, "a late sample has no time");
	check_unknown(oncpu, 0, 0, "nothing is unknown");
}

static void lost_records(void)
{
	struct oncpu *oncpu = start_at(1000);

	switch_in(oncpu, 7, 1000);
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
		switch_in(oncpu, tid, 1000 + tid);
		if (tid % 2)
			give(oncpu, RECORD_EXIT, 0, tid, 1001 + tid);
	}
	for (uint32_t tid = 2; tid <= 5000; tid += 2)
		sum += weigh(oncpu, tid, 10000) == 9000 - tid;
	is_u64(sum, 2500, "threads stay when the table is rebuilt");
	check_unknown(oncpu, 0, 0, "nothing is unknown");
}

int main(void)
{
	complete_records();
	lost_records();
	many_threads();
	text_free(&got);
	return done();
}
