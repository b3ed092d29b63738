/* state: the kernel's side-band records, in which programs choose names, paths and numbers. Whatever comes, what a
 * window gets is a row of complete records: sizes are multiples of 8, names end within them, and mappings lie in
 * memory. Input: operations (DO_*), each with its bytes. Time, and what is known of a process in /proc, are those of
 * the input; the kernel and cgroups are empty. */
/* covers: record/processes/state.c record/processes/rescan.c */
#include "record/processes/cgroups.h"
#include "record/processes/identities.h"
#include "record/processes/kernel.h"
#include "record/processes/procreader.h"
#include "record/processes/state.h"

#include "common/clocks.h"
#include "test/fuzz/fuzz.h"
#include "record/perf/rings.h"

enum { DO_RECORD, DO_SAMPLE, DO_HITS, DO_WINDOW, DO_LOST, DO_OVER, DO_CGROUP, DO_STORM, DO_TICK, DO_COUNT };
enum { PIDS = 6, RECORD_SPACE = 9000, REQUESTS = 8, EVENT = 7 };

static struct {
	struct str rest;
	uint64_t now, window;
	uint32_t request[REQUESTS][2]; /* pid (0: a survey) and thread */
	unsigned requests;
	struct budgets *budgets;
	bool reader; /* there is a thread that reads /proc */
} world;

static uint64_t fake_now(void)
{
	return world.now;
}

static bool fake_identity(struct identities *i, uint32_t pid, struct identity *found)
{
	(void)i;
	*found = (struct identity){
		{ pid & 1 ? TENANT_USER : TENANT_CONTAINER, pid % 3 }, pid * 10, pid & 2 ? 77 : 0, pid
	};
	return pid != PIDS;
}

static struct procreader *fake_reader(void)
{
	return world.reader ? (struct procreader *)&world : NULL;
}

static bool fake_request(struct procreader *procreader, uint32_t pid, uint32_t tid)
{
	(void)procreader;
	if (world.requests == REQUESTS)
		return false;
	world.request[world.requests][0] = pid;
	world.request[world.requests++][1] = tid;
	return true;
}

static bool fake_survey(struct procreader *procreader)
{
	return fake_request(procreader, 0, 0);
}

static void give_threads(struct procreader_answer *answer, uint32_t pid, uint32_t tid)
{
	answer->nthreads = fuzz_byte(&world.rest) % 4;
	answer->thread = calloc(4, sizeof(*answer->thread));
	if (!answer->thread)
		abort();
	for (size_t i = 0; i < answer->nthreads; i++) {
		struct str name = fuzz_bytes(&world.rest, fuzz_byte(&world.rest) % (COMM_MAX - 1));

		answer->thread[i] = (struct procreader_thread){ pid ? pid : 1u + fuzz_byte(&world.rest) % PIDS,
								i   ? 100u + fuzz_byte(&world.rest) % 4 :
								tid ? tid :
								      pid,
								"" };
		memcpy(answer->thread[i].comm, name.p ? name.p : "", name.n);
	}
}

/* The first request is answered by the input. */
static struct procreader_answer *fake_take(struct procreader *procreader, uint64_t wait_ns)
{
	struct procreader_answer *a;
	uint8_t how = fuzz_byte(&world.rest);

	(void)procreader;
	world.now += how & 1 ? wait_ns : 0;
	if (!world.requests || how & 1)
		return NULL;
	a = calloc(1, sizeof(*a));
	if (!a)
		abort();
	a->pid = world.request[0][0];
	a->there = how & 2;
	a->stalled = how & 4;
	a->cut = how & 8;
	a->maps_cut = how & 16;
	a->started = how & 32 ? 1 : world.now;
	a->cost_ns = (uint64_t)fuzz_byte(&world.rest) << 18;
	a->start_ticks = how & 64 ? fuzz_byte(&world.rest) : 0;
	give_threads(a, a->pid, world.request[0][1]);
	text_str(&a->maps, fuzz_bytes(&world.rest, fuzz_byte(&world.rest)));
	world.requests--;
	memmove(world.request, world.request + 1, world.requests * sizeof(*world.request));
	return a;
}

static void fake_free(struct procreader_answer *answer)
{
	free(answer->thread);
	text_free(&answer->maps);
	free(answer);
}

static void fake_stop(struct procreader *procreader)
{
	(void)procreader;
}

static struct cgroup *fake_cgroup(struct cgroups *cgroups, uint64_t id, uint64_t ns)
{
	static struct cgroup c;
	static char path[5000];

	(void)cgroups;
	(void)ns;
	memset(path, 'c', sizeof(path));
	if (c.id != id)
		c = (struct cgroup){ .id = id, .path = { path, id % 7 * 800 } };
	return id % 3 ? &c : NULL;
}

#define cgroups_add(g, id, path) \
	((void)(g), MUST((path).n <= PERF_RECORD_MAX && !memchr((path).n ? (path).p : "x", 0, (path).n)))
#define cgroups_find fake_cgroup
#define clock_now fake_now
#define identities_find fake_identity
#define identities_free(i) ((void)(i))
#define identities_new() NULL
#define kernel_symbol(k, r) ((void)(k), MUST((r)->size >= 8))
#define procreader_answer_free fake_free
#define procreader_request fake_request
#define procreader_start fake_reader
#define procreader_stop fake_stop
#define procreader_survey fake_survey
#define procreader_take fake_take
#include "record/processes/rescan.c"
#define begin state_record_begin
#include "record/processes/state.c"
#undef begin

static void check_record(const struct perf_record *r)
{
	const char *p = (const char *)(r + 1);
	size_t name = r->type == RECORD_MMAP2 ? 64 : 8;
	struct ring_sample_id tail;

	MUST(r->type == RECORD_COMM || r->type == RECORD_MMAP2 || r->type == RECORD_CGROUP);
	MUST(r->size >= sizeof(*r) + name + 8 + sizeof(tail));
	memcpy(&tail, (const char *)r + r->size - sizeof(tail), sizeof(tail));
	MUST(tail.event == EVENT);
	MUST(memchr(p + name, 0, r->size - sizeof(*r) - name - sizeof(tail)));
	if (r->type == RECORD_MMAP2)
		MUST(load64(p + 16) && load64(p + 8) + load64(p + 16) > load64(p + 8));
}

static void check_records(struct text *records)
{
	for (size_t at = 0; at < records->n;) {
		struct perf_record r;

		MUST(records->n - at >= sizeof(r));
		memcpy(&r, records->p + at, sizeof(r));
		MUST(r.size >= sizeof(r) && r.size % 8 == 0 && r.size <= records->n - at);
		check_record((const void *)(records->p + at));
		at += r.size;
	}
	records->n = 0;
}

/* A record as the kernel has it: what the input says, with small numbers of processes, and a tail. */
static void record(struct state *state)
{
	static const uint8_t types[] = { RECORD_FORK,    RECORD_EXIT,       RECORD_COMM,
					 RECORD_MMAP2,   RECORD_NAMESPACES, RECORD_CGROUP,
					 RECORD_KSYMBOL, RECORD_BPF_EVENT,  RECORD_SWITCH };
	static _Alignas(8) char buffer[RECORD_SPACE];
	struct perf_record *r = (void *)buffer;
	unsigned type = types[fuzz_byte(&world.rest) % countof(types)], flags = fuzz_byte(&world.rest);
	size_t n = fuzz_byte(&world.rest) | (flags & 3) << 8;
	struct str bytes = fuzz_bytes(&world.rest, n);
	uint32_t pid = 1 + flags % PIDS;

	memset(buffer, 0, sizeof(buffer));
	memcpy(r + 1, bytes.p ? bytes.p : "", bytes.n);
	*r = (struct perf_record){ .type = type,
				   .misc = (uint16_t)((flags & 4 ? 2 : 1) | (flags & 8 ? MISC_COMM_EXEC : 0)) };
	r->size = (uint16_t)(sizeof(*r) + ((bytes.n + 7) & ~(size_t)7) + sizeof(struct ring_sample_id));
	if (!(flags & 16)) /* else process and thread are of the input, too */
		memcpy(r + 1, &pid, sizeof(pid));
	if (!(flags & 48) && type == RECORD_MMAP2) { /* pages near each other */
		uint64_t start = (flags >> 6) * UINT64_C(4096) + 0x10000, length = 4096 * (1 + flags % 3);

		memcpy((char *)(r + 1) + 8, &start, 8);
		memcpy((char *)(r + 1) + 16, &length, 8);
		if (r->size < sizeof(*r) + 80 + sizeof(struct ring_sample_id))
			r->size = sizeof(*r) + 80 + sizeof(struct ring_sample_id);
	}
	(void)state_record(state, r, world.now);
	MUST(r->size % 8 == 0);
}

static void hits(struct state *state, struct text *records)
{
	uint64_t ips[6];
	uint32_t pid = 1 + fuzz_byte(&world.rest) % PIDS;

	for (size_t i = 0; i < countof(ips); i++) {
		uint8_t byte = fuzz_byte(&world.rest);

		ips[i] = byte == 0xff ? CONTEXT_USER : byte == 0xfe ? 0 : 0x10000 + (uint64_t)byte * 512;
	}
	MUST(state_markers(ips, countof(ips)) <= countof(ips));
	state_hits(state, records, pid, world.now, ips, countof(ips));
}

static void new_window(struct state *state, struct processes *processes)
{
	state_end(state);
	MUST(state_items(state).n % 8 == 0);
	MUST(state_build_ids(state).n == 0 &&
	     state_processes(state) <= processes_count(processes).processes + PIDS * 64);
	processes_forget(processes, world.now / 2);
	state_begin(state, ++world.window);
}

static void do_one(struct state *state, struct rescan *rescan, struct processes *processes, struct text *records)
{
	uint32_t pid = 1 + (uint32_t)(world.rest.n % PIDS), tid = world.rest.n & 8 ? pid : 100;

	world.now += 1000;
	switch (fuzz_byte(&world.rest) % DO_COUNT) {
	case DO_RECORD: record(state); break;
	case DO_SAMPLE:
		pid = fuzz_byte(&world.rest) % (PIDS + 1);
		tid = fuzz_byte(&world.rest) & 1 ? pid : 100 + pid;
		(void)state_sampled(state, records, pid, pid ? tid : 0, world.now,
				    0x10000 + fuzz_byte(&world.rest) * 256u);
		break;
	case DO_HITS: hits(state, records); break;
	case DO_WINDOW: new_window(state, processes); break;
	case DO_LOST: rescan_lost(rescan, world.now); break;
	case DO_OVER: state_over_budget(state, records, pid, world.now); break;
	case DO_CGROUP: state_cgroup(state, records, fuzz_byte(&world.rest), world.now); break;
	case DO_STORM:
		pid = 1 + fuzz_byte(&world.rest) % PIDS;
		if (fuzz_byte(&world.rest) & 1) /* it has used up its time */
			budgets_charge_proc(world.budgets, state_tenant(state, pid), 200000000, world.now);
		for (unsigned n = fuzz_byte(&world.rest) * 16; n && processes_find(processes, pid); n--)
			if (!state_skips(state, pid, world.now) &&
			    !rescan_record(rescan, processes_find(processes, pid), world.window, world.now))
				MUST(state_is_stale(state, pid));
		break;
	default:
		world.now += (uint64_t)fuzz_byte(&world.rest) << 23;
		(void)rescan_tick(rescan, world.now);
		break;
	}
	MUST(state_tenant(state, pid).kind <= TENANT_MOUNT_NS);
}

int fuzz_one(const uint8_t *data, size_t n)
{
	struct budgets *b = budgets_new((struct budgets_limits){ 0 });
	struct processes *p = processes_new(budgets_tenants(b));
	struct text records = { 0 };
	struct rescan *m;
	struct state *s;

	world.rest = (struct str){ (const char *)data, n };
	world.now = SECOND_NS;
	world.budgets = b;
	world.window = 1;
	world.requests = 0;
	world.reader = fuzz_byte(&world.rest) & 1;
	m = rescan_new(p, b, true);
	s = state_new(p, NULL, NULL, NULL, m, EVENT);
	if (fuzz_byte(&world.rest) & 1)
		rescan_start(m, (const uint32_t[]){ 1, 2, 3 }, 3);
	state_begin(s, world.window);
	while (world.rest.n) {
		do_one(s, m, p, &records);
		check_records(&records);
	}
	state_end(s);
	state_free(s);
	rescan_free(m);
	processes_free(p);
	budgets_free(b);
	text_free(&records);
	return 0;
}
