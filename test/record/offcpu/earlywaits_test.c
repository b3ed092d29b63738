/* Threads that are off the CPU since before a recording: which are read, when, how many, and which are counted. */
/* covers: record/offcpu/earlywaits.c */
#include "record/offcpu/earlywaits.h"

#include "common/clocks.h"
#include "test/lib/tap.h"

static const uint64_t frames[] = { CONTEXT_USER, 1 };

static void see(void *to, const struct offcpu_sample *sample)
{
	(void)to;
	(void)sample;
}

static void returns(struct offcpu *offcpu, uint32_t tid, uint64_t ns)
{
	struct {
		struct perf_record head;
		struct ring_sample_id id;
	} r = { { .type = RECORD_SWITCH, .size = sizeof(r) }, { .pid = 1, .tid = tid, .time = ns } };

	offcpu_record(offcpu, &(struct ring_record){ .head = &r.head, .time = ns, .kind = RING_OF_SWITCHES }, false);
}

/* Returns the number of threads that are to be read at this time, 0 to `most`. */
static unsigned due(struct earlywaits *earlywaits, struct offcpu *offcpu, uint64_t now, unsigned most)
{
	unsigned n = 0;

	while (n < most && earlywaits_next(earlywaits, offcpu, now))
		n++;
	return n;
}

static void check_tries(void)
{
	struct offcpu *offcpu = offcpu_new(0, see, NULL);
	struct earlywaits early = { 0 };
	const uint64_t start = 1000 * SECOND_NS;

	offcpu_begin(offcpu, start);
	for (uint32_t tid = 105; tid > 100; tid--)
		earlywaits_add(&early, 1, tid / 2, tid);
	earlywaits_begin(&early, start);
	is_u64(earlywaits_pid(&early, 103), 51, "a thread of the table has its process");
	is_u64(earlywaits_pid(&early, 106), 0, "  another one has none");
	is_u64(due(&early, offcpu, start, 100), 5, "all threads are read at the start");
	is_u64(due(&early, offcpu, start + SECOND_NS / 2, 100), 0, "  once");
	offcpu_set_early(offcpu, 50, 101, &(struct offcpu_stack){ frames, 2, true, 1 });
	offcpu_set_early(offcpu, 51, 102, &(struct offcpu_stack){ frames, 2, false, 1 });
	returns(offcpu, 103, start + SECOND_NS / 2);
	returns(offcpu, 104, start + SECOND_NS / 1000);
	is_u64(due(&early, offcpu, start + SECOND_NS, 100), 2, "again: those without a stack, or with a broken one");
	is_u64(due(&early, offcpu, start + 4 * SECOND_NS, 100), 2, "  and a third time");
	is_u64(due(&early, offcpu, start + 50 * SECOND_NS, 100), 0, "  no more");
	is_u64(earlywaits_lacking(&early, offcpu), 2, "one is off the CPU, and one returned, without a stack");
	is_u64(earlywaits_lacking(&early, offcpu), 1, "that which returned counts once");
	is_u64(earlywaits_pid(&early, 103), 0, "  and has left the table");
	earlywaits_free(&early);
	offcpu_free(offcpu);
}

static bool none_is_alive(void *to, uint32_t tid)
{
	(void)to;
	(void)tid;
	return false;
}

static void check_limits(void)
{
	struct offcpu *offcpu = offcpu_new(0, see, NULL);
	struct earlywaits early = { 0 };
	unsigned n = 0;

	for (uint32_t tid = 1; tid <= EARLYWAITS_MAX + 3; tid++)
		earlywaits_add(&early, 1, 1, tid);
	earlywaits_begin(&early, SECOND_NS);
	is_u64(due(&early, offcpu, SECOND_NS, 1000), EARLYWAITS_BURST, "a burst has a limit");
	is_u64(due(&early, offcpu, SECOND_NS + EARLYWAITS_PAUSE_NS / 2, 1000), 0, "  until the next one");
	for (uint64_t now = SECOND_NS + EARLYWAITS_PAUSE_NS; now < 100 * SECOND_NS; now += EARLYWAITS_PAUSE_NS)
		n += due(&early, offcpu, now, 1000);
	ok(n <= 3 * EARLYWAITS_READ && n > EARLYWAITS_READ, "all reads have a limit");
	is_u64(earlywaits_lacking(&early, offcpu), EARLYWAITS_MAX + 3, "  all threads are counted");
	earlywaits_end(&early, none_is_alive, NULL);
	is_u64(earlywaits_lacking(&early, offcpu), 3, "  until their end, as far as they are known");
	earlywaits_free(&early);
	offcpu_free(offcpu);
}

/* A tenant with more threads than all limits, with the lowest tids, and others with few. */
static void check_shares(void)
{
	enum { CROWD = 3 * EARLYWAITS_MAX, FEW = 5, LAST = CROWD + 4 * FEW };
	struct offcpu *offcpu = offcpu_new(0, see, NULL);
	struct earlywaits early = { 0 };
	const struct earlywait *wait;
	unsigned n = 0, few = 0, crowd = 0;

	for (uint32_t tid = 1; tid <= CROWD; tid++)
		earlywaits_add(&early, 1, 1 + tid / 2, tid);
	for (uint32_t tid = CROWD + 1; tid <= LAST; tid++)
		earlywaits_add(&early, 2 + tid % 4, tid, tid);
	earlywaits_begin(&early, SECOND_NS);
	is_u64(early.n, EARLYWAITS_MAX, "the table has a limit");
	is_u64(early.over, LAST - EARLYWAITS_MAX, "  further threads are counted");
	while ((wait = earlywaits_next(&early, offcpu, SECOND_NS)) != NULL) {
		n++;
		few += wait->pid > CROWD;
	}
	ok(n == EARLYWAITS_BURST && few == 4 * FEW, "all threads of small tenants are in the first burst");
	for (uint64_t now = SECOND_NS + EARLYWAITS_PAUSE_NS; now <= 2 * SECOND_NS; now += EARLYWAITS_PAUSE_NS)
		for (few = n = 0; (wait = earlywaits_next(&early, offcpu, now)) != NULL; n++)
			few += wait->pid > CROWD;
	ok(n == EARLYWAITS_BURST && few == 4 * FEW, "  and their second tries are in time");
	earlywaits_free(&early);
	/* in a tenant, processes share */
	early = (struct earlywaits){ 0 };
	for (uint32_t tid = 1; tid <= 1000; tid++)
		earlywaits_add(&early, 1, tid <= 990 ? 1 : tid, tid);
	earlywaits_begin(&early, SECOND_NS);
	while ((wait = earlywaits_next(&early, offcpu, SECOND_NS)) != NULL)
		crowd += wait->pid == 1;
	is_u64(crowd, EARLYWAITS_BURST - 10, "a process with many threads leaves others of its tenant their turns");
	earlywaits_free(&early);
	offcpu_free(offcpu);
}

/* Tries that were not made do not count. */
static void check_retries(void)
{
	struct offcpu *offcpu = offcpu_new(0, see, NULL);
	struct earlywaits early = { 0 };
	const struct earlywait *wait;
	uint64_t now = SECOND_NS;

	offcpu_begin(offcpu, 1);
	for (uint32_t tid = 1; tid <= 3; tid++)
		earlywaits_add(&early, 1, 1, tid);
	earlywaits_begin(&early, now);
	wait = earlywaits_next(&early, offcpu, now);
	ok(wait && wait->tid == 1, "the first thread");
	earlywaits_defer(&early, wait);
	is_u64(due(&early, offcpu, now, 100), 0, "no try can be made: none is in this burst");
	is_u64(due(&early, offcpu, now += EARLYWAITS_PAUSE_NS, 100), 3, "  but all are in the next one");
	offcpu_set_early(offcpu, 1, 2, &(struct offcpu_stack){ frames, 2, true, 1 });
	earlywaits_retry(&early, offcpu);
	is_u64(due(&early, offcpu, now += EARLYWAITS_PAUSE_NS, 100), 2, "the reader has ended: those without a stack");
	for (unsigned i = 0; i < 10; i++) {
		earlywaits_retry(&early, offcpu);
		due(&early, offcpu, now += EARLYWAITS_PAUSE_NS, 100);
	}
	is_u64(early.again, EARLYWAITS_RETRIES, "  a few times only");
	offcpu_mark_stale(offcpu, now);
	is_u64(due(&early, offcpu, now + 5 * SECOND_NS, 100), 0, "after a loss no stack is certain, so none is read");
	earlywaits_free(&early);
	offcpu_free(offcpu);
}

/* A thread with a stack counts again as lacking if records are lost, until its next record. */
static void check_losses(void)
{
	struct offcpu *offcpu = offcpu_new(0, see, NULL);
	struct earlywaits early = { 0 };

	offcpu_begin(offcpu, SECOND_NS);
	earlywaits_add(&early, 1, 1, 7);
	earlywaits_begin(&early, SECOND_NS);
	offcpu_set_early(offcpu, 1, 7, &(struct offcpu_stack){ frames, 2, true, 1 });
	offcpu_border(offcpu, 2 * SECOND_NS);
	is_u64(earlywaits_lacking(&early, offcpu), 0, "a thread with a stack is in samples");
	offcpu_mark_stale(offcpu, 2 * SECOND_NS + 1);
	offcpu_sure(offcpu);
	offcpu_border(offcpu, 3 * SECOND_NS);
	is_u64(earlywaits_lacking(&early, offcpu), 1, "  after a loss it is not, and is counted");
	offcpu_border(offcpu, 4 * SECOND_NS);
	is_u64(earlywaits_lacking(&early, offcpu), 1, "  in each window");
	returns(offcpu, 7, 4 * SECOND_NS + 5);
	is_u64(earlywaits_lacking(&early, offcpu), 0, "  until its next record");
	earlywaits_free(&early);
	offcpu_free(offcpu);
}

/* A thread that returned and ended at once: its records are known for 2 s. */
static void check_ticks(void)
{
	struct offcpu *offcpu = offcpu_new(0, see, NULL);
	struct earlywaits early = { 0 };
	const uint64_t start = 1000 * SECOND_NS;

	offcpu_begin(offcpu, start);
	earlywaits_add(&early, 1, 1, 7);
	earlywaits_begin(&early, start);
	returns(offcpu, 7, start + OFFCPU_RETURNED_NS / 2);
	earlywaits_tick(&early, offcpu, start + SECOND_NS / 4);
	ok(!early.wait[0].gone, "the table is not followed all the time");
	earlywaits_tick(&early, offcpu, start + SECOND_NS);
	ok(early.wait[0].gone, "  but twice a second");
	earlywaits_free(&early);
	offcpu_free(offcpu);
}

int main(void)
{
	check_shares();
	check_retries();
	check_losses();
	check_ticks();
	check_tries();
	check_limits();
	return done();
}
