/* The synchronous reader beside a process that rewrites its list of frames all the time. Each write stores a counter
 * that a register of the sample also holds: a copy that is two writes late (about 3 ns) is seen. No copy that is
 * certified may be late; idle, and beside busy loops, with each class. */
/* covers: record/syncread/syncread.c record/syncread/readerthread.c record/syncread/switchwatch.c */
#include "record/syncread/syncread.h"
#include "common/arena.h"
#include "common/clocks.h"
#include "record/perf/eventattrs.h"
#include "record/perf/events.h"
#include "test/lib/tap.h"

#include <asm/perf_regs.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FRAMES = 32, FREQUENCY = 4999, BUSY_MAX = 8 };

struct frame {
	uint64_t zero, next, value, unused[5];
};

/* The memory of the target: the root leads to frame[0]. */
struct target_memory {
	struct {
		uint64_t zero, frame, unused[6];
	} root;
	struct frame frame[FRAMES];
};

static const struct threadplan plan = { .root_bytes = 64,
					.nhops = 1,
					.hop = { 8 },
					.before = 2048,
					.after = 2048,
					.frame_bytes = sizeof(struct frame),
					.next = 8,
					.mask = ~UINT64_C(0),
					.frames = 100 };

static struct target_memory *memory;

#if defined(__x86_64__)
/* Writes n to frame n % FRAMES, for n = 1, 2, 3, ... r12 is n: all writes before it are done, and none after it. */
static NORETURN void rewrite(void)
{
	__asm__ volatile("mov $1, %%r12\n"
			 "1: mov %%r12, %%rax\n"
			 "and %1, %%rax\n"
			 "shl $6, %%rax\n"
			 "mov %%r12, (%0,%%rax)\n"
			 "inc %%r12\n"
			 "jmp 1b\n" ::"r"(&memory->frame[0].value),
			 "i"(FRAMES - 1)
			 : "rax", "r12", "memory");
	__builtin_unreachable();
}
#else
static NORETURN void rewrite(void)
{
	_exit(1);
}
#endif

/* ---- processes ------------------------------------------------------------------------------------------------- */

static void make_memory(void)
{
	memory = mmap(NULL, sizeof(*memory), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		exit(1);
	memory->root.frame = (uintptr_t)&memory->frame[0];
	for (unsigned i = 0; i + 1 < FRAMES; i++)
		memory->frame[i].next = (uintptr_t)&memory->frame[i + 1];
}

static pid_t start(bool target)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpriority(PRIO_PROCESS, 0, 0);
	if (target)
		rewrite();
	for (volatile uint64_t n = 0;; n++)
		;
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* ---- a recording ----------------------------------------------------------------------------------------------- */

struct taken_copy {
	uint64_t time, value[FRAMES];
	bool complete;
};

struct run {
	struct rings *rings;
	struct sources *sources;
	struct events events;
	struct eventattrs attrs;
	struct syncread *reader;
	uint32_t tid;
	struct taken_copy *copy;
	size_t ncopies;
	/* results */
	uint64_t samples, wrong[SYNCREAD_VERDICTS], right[SYNCREAD_VERDICTS], none;
};

static bool open_run(struct run *run, enum syncread_class class)
{
	struct events_options options = { .frequency = FREQUENCY };
	struct sources_failure why;

	*run = (struct run){ .rings = rings_new() };
	events_parse(&run->events, "cpu-clock", &options);
	struct eventattrs_options attrs = { .event = run->events.event, .nevents = 1, .stack_bytes = 8192 };
	eventattrs_make(&run->attrs, &attrs);
	struct sources_options open = { .target = TARGET_HOST,
					.event = run->attrs.event,
					.nevents = 1,
					.state = &run->attrs.event[1].attr,
					.ring_wanted = (size_t)8 << 20,
					.large = true };
	run->sources = sources_open(&open, run->rings, &why);
	if (!run->sources)
		return false;
	struct syncread_options reader = { .sources = run->sources, .rings = run->rings, .best = class };
	run->reader = syncread_new(&reader);
	sources_enable(run->sources);
	return true;
}

static void close_run(struct run *run)
{
	syncread_free(run->reader);
	sources_close(run->sources);
	rings_free(run->rings);
	eventattrs_free(&run->attrs);
	events_free(&run->events);
	free(run->copy);
}

static void keep_copy(void *to, const struct threadcopy *copy)
{
	struct run *run = to;
	struct taken_copy *taken;

	run->copy = mem_more(run->copy, sizeof(*run->copy), run->ncopies);
	taken = run->copy + run->ncopies++;
	*taken = (struct taken_copy){ .time = copy->time, .complete = copy->end == THREADCOPY_COMPLETE };
	for (unsigned f = 0; f < FRAMES && taken->complete; f++) {
		uint64_t at = (uintptr_t)&memory->frame[f].value;
		bool found = false;

		for (uint32_t i = 0; i < copy->nareas && !found; i++) {
			const struct threadcopy_area *area = copy->area + i;

			if (at < area->address || at + 8 > area->address + area->n)
				continue;
			memcpy(&taken->value[f], copy->bytes + area->offset + (at - area->address), 8);
			found = true;
		}
		taken->complete = found;
	}
}

static const struct taken_copy *find_copy(const struct run *run, uint64_t time)
{
	for (size_t i = run->ncopies; i-- > 0;)
		if (run->copy[i].time == time)
			return run->copy + i;
	return NULL;
}

/* Returns true if the copy has the values that the frames had when the register was n. */
static bool is_right(const struct taken_copy *copy, uint64_t n)
{
	for (unsigned f = 0; f < FRAMES; f++) {
		uint64_t last = n - 1 - ((n - 1 - f) & (FRAMES - 1)); /* the last write to this frame before write n */

		if (copy->value[f] != last && (copy->value[f] != n || n % FRAMES != f))
			return false;
	}
	return copy->complete;
}

#if defined(__x86_64__)
static uint64_t counter_of(const struct perf_event_attr *attr, const struct ring_sample *sample)
{
	const uint64_t *chain = ring_chain(sample, attr->sample_type), *registers = chain + 1 + chain[0];
	uint64_t before = attr->sample_regs_user & ((UINT64_C(1) << PERF_REG_X86_R12) - 1);

	return registers[0] ? registers[1 + __builtin_popcountll(before)] : 0;
}
#else
static uint64_t counter_of(const struct perf_event_attr *attr, const struct ring_sample *sample)
{
	return 0;
}
#endif

static void take_record(void *to, const struct ring_record *record)
{
	struct run *run = to;
	const struct ring_sample *sample = (const void *)record->head;
	const struct taken_copy *copy;
	enum syncread_verdict verdict;
	uint64_t n;

	if (record->kind == RING_OF_STATE)
		syncread_state(run->reader, record);
	if (record->head->type != RECORD_SAMPLE || sample->tid != run->tid)
		return;
	n = counter_of(&run->attrs.event[0].attr, sample);
	verdict = syncread_verdict(run->reader, sample->cpu, sample->tid, sample->time);
	copy = find_copy(run, sample->time);
	run->samples++;
	if (!copy || n <= FRAMES)
		run->none++;
	else if (is_right(copy, n))
		run->right[verdict]++;
	else
		run->wrong[verdict]++;
}

static void record_for(struct run *run, double seconds)
{
	uint64_t until = clock_now() + (uint64_t)(seconds * (double)SECOND_NS);

	while (clock_now() < until) {
		struct pollfd fd[] = { { syncread_copies_fd(run->reader), POLLIN, 0 },
				       { syncread_fd(run->reader), POLLIN, 0 } };

		poll(fd, 2, 20);
		syncread_take(run->reader, keep_copy, run);
		syncread_settle(run->reader);
		rings_drain(run->rings, clock_now() - SECOND_NS / 10, take_record, run);
		if (run->ncopies > 40000) {
			memmove(run->copy, run->copy + 20000, (run->ncopies - 20000) * sizeof(*run->copy));
			run->ncopies -= 20000;
		}
	}
}

static bool add_target(struct run *run, pid_t pid)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	run->tid = (uint32_t)pid;
	return fd >= 0 && syncread_add_process(run->reader, run->tid, fd, &plan, clock_now()) &&
	       syncread_add_thread(run->reader, run->tid, run->tid, (uintptr_t)&memory->root, clock_now());
}

static void print_counters(const struct run *run)
{
	struct syncread_counters counters = syncread_counters(run->reader);

	printf("# samples %" PRIu64 ", without copy %" PRIu64 "; reader: samples %" PRIu64 ", copies %" PRIu64
	       ", failed %" PRIu64 ", missed %" PRIu64 ", over budget %" PRIu64 ", off %" PRIu64 ", full %" PRIu64 "\n",
	       run->samples, run->none, counters.samples, counters.copies, counters.failed, counters.missed,
	       counters.over_budget, counters.off, counters.ring_full);
	printf("# wakes %" PRIu64 ", us a wake %.1f, longest %.0f us, switches %" PRIu64 ", pauses %" PRIu64
	       ", demoted %" PRIu64 ", refused %" PRIu64 "\n",
	       counters.wakes, counters.wakes ? (double)counters.ns / (double)counters.wakes / 1e3 : 0,
	       (double)counters.longest_ns / 1e3, counters.switches, counters.pauses, counters.demoted,
	       counters.wakes_refused);
	for (unsigned i = 0; i < SYNCREAD_VERDICTS; i++)
		if (run->right[i] + run->wrong[i])
			printf("# %s: right %" PRIu64 ", wrong %" PRIu64 "\n",
			       syncread_verdict_name((enum syncread_verdict)i), run->right[i], run->wrong[i]);
}

static void check_truth(enum syncread_class class, unsigned busy, double seconds)
{
	static const char *const name[] = { "FIFO", "nice -20", "nice 0" };
	struct run run;
	pid_t target, other[BUSY_MAX];
	char text[128];

	if (!open_run(&run, class)) {
		ok(false, "events");
		return;
	}
	target = start(true);
	for (unsigned i = 0; i < busy; i++)
		other[i] = start(false);
	usleep(100000);
	ok(add_target(&run, target), "the target is registered");
	record_for(&run, seconds);
	printf("# %s, %u busy loops\n", name[class], busy);
	print_counters(&run);
	struct syncread_counters counters = syncread_counters(run.reader);
	if (!counters.readers_of[class]) {
		printf("ok %d - %s # SKIP the class is not allowed\n", ++tap_n, name[class]);
	} else {
		snprintf(text, sizeof(text), "%s, %u busy loops: no certified copy is wrong", name[class], busy);
		is_u64(run.wrong[SYNCREAD_CERTIFIED], 0, text);
		if (class == SYNCREAD_FIFO)
			ok(run.right[SYNCREAD_CERTIFIED] > 100, "  and there are certified copies");
		else
			ok(run.right[SYNCREAD_CERTIFIED] == 0, "  none is certified without SCHED_FIFO");
	}
	stop(target);
	for (unsigned i = 0; i < busy; i++)
		stop(other[i]);
	close_run(&run);
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 2;
	struct run run;

#if !defined(__x86_64__)
	printf("1..0 # SKIP the target is x86-64 code\n");
	return 0;
#endif
	if (!open_run(&run, SYNCREAD_FIFO)) {
		printf("1..0 # SKIP no permission to sample the host\n");
		return 0;
	}
	close_run(&run);
	make_memory();
	check_truth(SYNCREAD_FIFO, 0, seconds);
	check_truth(SYNCREAD_FIFO, 4, seconds);
	check_truth(SYNCREAD_URGENT, 4, seconds);
	check_truth(SYNCREAD_NORMAL, 4, seconds);
	return done();
}
