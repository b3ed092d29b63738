/* How often the tenant of a process is looked up: at its first sample in a window, and after changes, however many
 * threads it starts. Which records of names and ends belong into a window. */
/* covers: record/processes/state.c */
#include "record/processes/rescan.h"
#include "test/lib/tap.h"

static unsigned lookups;

static void count_lookup(struct rescan *rescan, struct process *process, uint64_t window)
{
	(void)rescan;
	lookups++;
	process->tenant_window = window;
}

#define rescan_identify count_lookup
#include "record/processes/state.c"

enum { PID = 4000000, THREAD = 4000001, EXITS = 4100000, EVENT = 7 };

static struct {
	struct processes *processes;
	struct budgets *budgets;
	struct rescan *rescan;
	struct state *state;
	uint64_t now;
} world;

/* A record of n bytes beside its head and tail. Returns true if it belongs into the window. */
static bool give(uint32_t type, uint16_t misc, const void *body, size_t n)
{
	static _Alignas(8) char buffer[512];
	struct perf_record *r = (void *)buffer;

	memset(buffer, 0, sizeof(buffer));
	memcpy(r + 1, body, n);
	*r = (struct perf_record){ .type = type,
				   .misc = misc,
				   .size = (uint16_t)(sizeof(*r) + n + sizeof(struct ring_sample_id)) };
	return state_record(world.state, r, ++world.now);
}

static void start_thread(uint32_t pid, uint32_t tid)
{
	uint32_t fork[6] = { pid, PID, tid, PID };

	give(RECORD_FORK, 0, fork, sizeof(fork));
}

/* As the kernel writes it at each fork and each setns: all seven namespaces of a task. */
static void write_namespaces(uint32_t tid, uint64_t mount_ns)
{
	struct {
		uint32_t pid, tid;
		uint64_t n, link[7][2];
	} body = { PID, tid, 7, { { 0 } } };

	for (uint64_t i = 0; i < 7; i++)
		body.link[i][0] = 4, body.link[i][1] = UINT64_C(4026531835) + i;
	body.link[5][1] = mount_ns;
	give(RECORD_NAMESPACES, 0, &body, sizeof(body));
}

static unsigned lookups_of_sample(uint32_t tid)
{
	struct text records = { 0 };
	unsigned before = lookups;

	state_sampled(world.state, &records, PID, tid, ++world.now, 0x10000);
	text_free(&records);
	return lookups - before;
}

static bool end_thread(uint32_t tid)
{
	uint32_t body[6] = { PID, PID, tid, PID, 0, 0 };

	return give(RECORD_EXIT, 0, body, sizeof(body));
}

/* Renames a thread; returns true if the record belongs into the window. */
static bool rename_thread(uint32_t tid)
{
	uint32_t body[4] = { PID, tid, 0x68736162, 0 };

	return give(RECORD_COMM, 0, body, sizeof(body));
}

/* Returns the bytes of the records that a sample of the thread needs in the window. */
static size_t bytes_of_sample(uint32_t tid)
{
	struct text records = { 0 };
	size_t n;

	state_sampled(world.state, &records, PID, tid, ++world.now, 0x10000);
	n = records.n;
	text_free(&records);
	return n;
}

/* A reader of the window has to see the end of each thread that it has a sample of. */
static void test_exits(void)
{
	for (uint32_t tid = EXITS; tid < EXITS + 4; tid++)
		start_thread(PID, tid);
	ok(!rename_thread(EXITS) && !end_thread(EXITS), "no sample: no EXIT record");
	bytes_of_sample(EXITS + 1);
	ok(end_thread(EXITS + 1), "sampled: an EXIT record");
	bytes_of_sample(EXITS + 2);
	rename_thread(EXITS + 2);
	ok(bytes_of_sample(EXITS + 2) && bytes_of_sample(EXITS + 2) == 0, "renamed: one record of the name");
	rename_thread(EXITS + 2);
	ok(end_thread(EXITS + 2), "sampled, then renamed: an EXIT record");
	is_u64(bytes_of_sample(EXITS + 2), 0, "a sample after the EXIT record has no record of a name");
	bytes_of_sample(EXITS + 3);
	state_end(world.state);
	state_begin(world.state, 4);
	ok(!rename_thread(EXITS + 3) && !end_thread(EXITS + 3), "sampled in an earlier window: no EXIT record");
}

/* Each sample of a thread without a known name is counted, not the first of a run alone. */
static void test_unnamed(void)
{
	struct text records = { 0 };

	for (int sample = 0; sample < 3; sample++)
		ok(!state_sampled(world.state, &records, PID + 1, PID + 1, ++world.now, 0x10000),
		   "each sample of a thread without a name is unknown");
	text_free(&records);
}

int main(void)
{
	unsigned repeated = 0;
	uint32_t comm[4] = { PID, PID, 0x68736162, 0 };

	world.now = 1000000000;
	world.budgets = budgets_new((struct budgets_limits){ 0 });
	world.processes = processes_new(budgets_tenants(world.budgets));
	world.rescan = rescan_new(world.processes, world.budgets, false);
	world.state = state_new(world.processes, NULL, NULL, NULL, world.rescan, EVENT);
	state_begin(world.state, 1);
	start_thread(PID, PID);
	write_namespaces(PID, 1);
	ok(lookups_of_sample(PID) == 1, "one lookup at the first sample of a process");
	for (uint32_t tid = THREAD; tid < THREAD + 1000; tid++) {
		start_thread(PID, tid);
		write_namespaces(tid, 1);
		repeated += lookups_of_sample(tid);
	}
	ok(repeated == 0, "none for its new threads");
	write_namespaces(PID, 2);
	ok(lookups_of_sample(PID) == 1 && processes_find(world.processes, PID)->mount_ns == 2,
	   "one after it entered a namespace");
	give(RECORD_COMM, MISC_COMM_EXEC, comm, sizeof(comm));
	ok(lookups_of_sample(PID) == 1 && lookups_of_sample(PID) == 0, "one after an exec");
	state_end(world.state);
	state_begin(world.state, 2);
	ok(lookups_of_sample(PID) == 1 && lookups_of_sample(PID) == 0, "one in the next window");
	state_end(world.state);
	state_begin(world.state, 3);
	test_exits();
	test_unnamed();
	state_end(world.state);
	state_free(world.state);
	rescan_free(world.rescan);
	processes_free(world.processes);
	budgets_free(world.budgets);
	return done();
}
