/* The synchronous reader beside a process that rewrites its list of frames all the time. Each write stores a counter
 * that a register of the sample also holds: a copy that is two writes late (about 3 ns) is seen. No copy that is
 * certified may be late; idle, and beside busy loops, with each class. */
/* covers: record/syncread/syncread.c record/syncread/readerthread.c record/syncread/switchwatch.c */
#include "record/syncread/syncread.h"
#include "common/arena.h"
#include "common/clocks.h"
#include "record/perf/eventattrs.h"
#include "record/perf/events.h"
#include "test/hostile/fuse.h"
#include "test/lib/tap.h"

#include <asm/perf_regs.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FRAMES = 32, FREQUENCY = 4999, BUSY_MAX = 8, DELAYS = 16 };

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

#define MEMORY_AT UINT64_C(0x100000000000) /* the same before and after exec */

#if defined(__x86_64__)
/* Writes n to frame n % FRAMES, for n = 1, 2, 3, ... and executes `more` after each write. r12 is n: all writes before
 * it are done, and none after it. */
#define REWRITE(more)                                                                  \
	__asm__ volatile("mov $1, %%r12\n"                                             \
			 "1: mov %%r12, %%rax\n"                                       \
			 "and %1, %%rax\n"                                             \
			 "shl $6, %%rax\n"                                             \
			 "mov %%r12, (%0,%%rax)\n"                                     \
			 "inc %%r12\n" more "jmp 1b\n" ::"r"(&memory->frame[0].value), \
			 "i"(FRAMES - 1), "i"(SYS_getppid)                             \
			 : "rax", "rcx", "r11", "r12", "memory")

static NORETURN void rewrite(void)
{
	REWRITE("");
	__builtin_unreachable();
}

/* A system call after each write: most samples are in kernel mode. */
static NORETURN void rewrite_with_calls(void)
{
	REWRITE("mov %2, %%eax\n"
		"syscall\n");
	__builtin_unreachable();
}
#else
static NORETURN void rewrite(void)
{
	_exit(1);
}

static NORETURN void rewrite_with_calls(void)
{
	_exit(1);
}
#endif

/* ---- processes ------------------------------------------------------------------------------------------------- */

static void make_memory(void)
{
	memory = mmap((void *)MEMORY_AT, sizeof(*memory), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (memory == MAP_FAILED)
		exit(1);
	memory->root.frame = (uintptr_t)&memory->frame[0];
	for (unsigned i = 0; i + 1 < FRAMES; i++)
		memory->frame[i].next = (uintptr_t)&memory->frame[i + 1];
}

enum load { LOAD_BUSY, LOAD_TARGET, LOAD_CALLS };

static pid_t start(enum load load)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpriority(PRIO_PROCESS, 0, 0);
	if (load == LOAD_TARGET)
		rewrite();
	if (load == LOAD_CALLS)
		rewrite_with_calls();
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
	uint64_t time, begun, value[FRAMES];
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
	uint64_t delay[2][DELAYS]; /* right and wrong copies by the time from sample to first read, in steps of 10 us */
	uint64_t samples, wrong[SYNCREAD_VERDICTS], right[SYNCREAD_VERDICTS], none;
	uint64_t in_kernel, certified_in_kernel;
	uint64_t altered, accepted; /* samples with one register altered, and of these, those that are certified */
};

/* process: pid to record for TARGET_COMMAND and TARGET_THREADS; 0 for TARGET_HOST. */
static bool open_run_of(struct run *run, enum syncread_class class, enum target target, uint32_t process)
{
	struct events_options options = { .frequency = FREQUENCY,
					  .inherit = process,
					  .on_exec = target == TARGET_COMMAND };
	struct sources_failure why;

	*run = (struct run){ .rings = rings_new() };
	events_parse(&run->events, "cpu-clock", &options);
	struct eventattrs_options attrs = {
		.event = run->events.event,
		.nevents = 1,
		.stack_bytes = 8192,
		.children = process,
		.on_exec = target == TARGET_COMMAND,
	};
	eventattrs_make(&run->attrs, &attrs);
	struct sources_options open = { .target = target,
					.pid = &process,
					.npids = 1,
					.twins = true,
					.event = run->attrs.event,
					.nevents = 1,
					.state = &run->attrs.event[1].attr,
					.ring_wanted = (size_t)8 << 20,
					.large = true };
	run->sources = sources_open(&open, run->rings, &why);
	if (!run->sources)
		return false;
	struct syncread_options reader = { .sources = run->sources,
					   .rings = run->rings,
					   .hold_ns = SECOND_NS,
					   .best = class };
	run->reader = syncread_new(&reader);
	sources_enable(run->sources);
	return true;
}

static bool open_run(struct run *run, enum syncread_class class)
{
	return open_run_of(run, class, TARGET_HOST, 0);
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

static bool keep_copy(void *to, const struct threadcopy *copy)
{
	struct run *run = to;
	struct taken_copy *taken;

	run->copy = mem_more(run->copy, sizeof(*run->copy), run->ncopies);
	taken = run->copy + run->ncopies++;
	*taken = (struct taken_copy){ .time = copy->time,
				      .begun = copy->begun,
				      .complete = copy->end == THREADCOPY_COMPLETE };
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
	return true;
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

/* Returns the word for the registers' ABI, which the user registers follow. */
static const uint64_t *registers_of(const struct perf_event_attr *attr, const struct ring_sample *sample)
{
	const uint64_t *chain = ring_chain(sample, attr->sample_type);

	return chain + 1 + chain[0];
}

#if defined(__x86_64__)
static uint64_t counter_of(const struct perf_event_attr *attr, const uint64_t *registers)
{
	uint64_t before = attr->sample_regs_user & ((UINT64_C(1) << PERF_REG_X86_R12) - 1);

	return registers[0] ? registers[1 + __builtin_popcountll(before)] : 0;
}
#else
static uint64_t counter_of(const struct perf_event_attr *attr, const uint64_t *registers)
{
	return 0;
}
#endif

/* Returns the verdict on a sample if one bit of a register were `change`. */
static enum syncread_verdict verdict_on(struct run *run, const struct ring_sample *sample, uint64_t change)
{
	const struct perf_event_attr *attr = &run->attrs.event[0].attr;
	const uint64_t *registers = registers_of(attr, sample);
	size_t n = registers[0] ? (size_t)__builtin_popcountll(attr->sample_regs_user) : 0;
	uint64_t value[64] = { 0 };
	struct syncread_sample given = {
		.cpu = sample->cpu,
		.tid = sample->tid,
		.in_kernel = (sample->head.misc & MISC_CPUMODE) == PERF_RECORD_MISC_KERNEL,
		.time = sample->time,
		.registers = value,
		.nregisters = n,
	};

	memcpy(value, registers + 1, n * sizeof(*value));
	value[5] ^= change; /* di */
	return syncread_verdict(run->reader, &given);
}

static void take_record(void *to, const struct ring_record *record)
{
	struct run *run = to;
	const struct ring_sample *sample = (const void *)record->head;
	const struct perf_event_attr *attr = &run->attrs.event[0].attr;
	const struct taken_copy *copy;
	enum syncread_verdict verdict;
	uint64_t n;

	if (record->kind == RING_OF_STATE)
		syncread_state(run->reader, record);
	if (record->head->type != RECORD_SAMPLE || sample->tid != run->tid)
		return;
	n = counter_of(attr, registers_of(attr, sample));
	run->samples++;
	if (run->samples % 32 == 0) {
		run->altered++;
		run->accepted += verdict_on(run, sample, 1) == SYNCREAD_CERTIFIED;
		return;
	}
	verdict = verdict_on(run, sample, 0);
	copy = find_copy(run, sample->time);
	if (copy && (sample->head.misc & MISC_CPUMODE) == PERF_RECORD_MISC_KERNEL) {
		run->in_kernel++;
		run->certified_in_kernel += verdict == SYNCREAD_CERTIFIED;
	}
	if (!copy || n <= FRAMES || n == UINT64_MAX) /* the last: an NMI in kernel mode lacks that register */
		run->none++;
	else if (is_right(copy, n))
		run->right[verdict]++;
	else
		run->wrong[verdict]++;
	if (copy && n > FRAMES && n != UINT64_MAX) {
		uint64_t delay = (copy->begun - copy->time) / 10000;

		run->delay[!is_right(copy, n)][delay < DELAYS ? delay : DELAYS - 1]++;
	}
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
	struct syncread_process process = {
		.pid = (uint32_t)pid, .tenant = { TENANT_USER, (uint64_t)pid }, .plan = &plan, .since = clock_now()
	};
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	process.memory = open(path, O_RDONLY | O_CLOEXEC);
	run->tid = (uint32_t)pid;
	return process.memory >= 0 && syncread_add_process(run->reader, &process) &&
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
	for (unsigned i = 0; i < 2; i++) {
		printf("# %s, by 10 us from sample to read:", i ? "wrong" : "right");
		for (unsigned k = 0; k < DELAYS; k++)
			printf(" %" PRIu64, run->delay[i][k]);
		printf("\n");
	}
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
	target = start(LOAD_TARGET);
	for (unsigned i = 0; i < busy; i++)
		other[i] = start(LOAD_BUSY);
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
			ok(run.right[SYNCREAD_CERTIFIED] > 20, "  and there are certified copies");
		if (class == SYNCREAD_FIFO)
			ok(run.altered > 0 && run.accepted == 0, "  none is certified for other registers");
		else
			ok(run.right[SYNCREAD_CERTIFIED] == 0, "  none is certified without SCHED_FIFO");
	}
	stop(target);
	for (unsigned i = 0; i < busy; i++)
		stop(other[i]);
	close_run(&run);
}

/* A thread that is sampled in a system call leaves the CPU there, or at the end of the call, with its result. */
static void check_calls(double seconds)
{
	struct run run;
	pid_t target;

	if (!open_run(&run, SYNCREAD_FIFO))
		return;
	target = start(LOAD_CALLS);
	usleep(100000);
	add_target(&run, target);
	record_for(&run, seconds);
	print_counters(&run);
	printf("# in kernel mode: %" PRIu64 ", certified %" PRIu64 "\n", run.in_kernel, run.certified_in_kernel);
	if (syncread_counters(run.reader).readers_of[SYNCREAD_FIFO]) {
		ok(run.in_kernel > 20 && run.certified_in_kernel > 20, "samples in system calls are certified");
		ok(run.right[SYNCREAD_CONTINUED] + run.wrong[SYNCREAD_CONTINUED] < run.in_kernel / 20,
		   "  their registers are those of the switch");
		is_u64(run.wrong[SYNCREAD_CERTIFIED], 0, "  and none is wrong");
	} else {
		printf("ok %d - samples in system calls # SKIP SCHED_FIFO is not allowed\n", ++tap_n);
	}
	stop(target);
	close_run(&run);
}

/* ---- beside a real-time thread ---------------------------------------------------------------------------------- */

static void pin_to(pid_t pid, unsigned cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(pid, sizeof(set), &set);
}

/* A real-time loop on the target's CPU: the target runs only while the kernel throttles real-time threads, which may be
 * readers, too. */
static void check_realtime(int priority)
{
	struct sched_param param = { .sched_priority = priority };
	struct run run;
	pid_t target = start(LOAD_TARGET), loop;
	char text[128];

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2 || !open_run(&run, SYNCREAD_FIFO)) {
		stop(target);
		return;
	}
	pin_to(target, 0);
	usleep(100000);
	add_target(&run, target);
	loop = start(LOAD_BUSY);
	pin_to(loop, 0);
	if (sched_setscheduler(loop, SCHED_FIFO, &param) != 0)
		printf("# no right to SCHED_FIFO\n");
	record_for(&run, 1.5);
	stop(loop);
	record_for(&run, 0.3);
	print_counters(&run);
	snprintf(text, sizeof(text), "beside a loop with SCHED_FIFO %d, no certified copy is wrong", priority);
	is_u64(run.wrong[SYNCREAD_CERTIFIED], 0, text);
	stop(target);
	close_run(&run);
}

/* ---- a command -------------------------------------------------------------------------------------------------- */

/* The command: a child of it is the target, whose pid it writes to its standard output. */
static int be_command(void)
{
	pid_t pid;

	make_memory();
	pid = start(LOAD_TARGET);
	if (write(1, &pid, sizeof(pid)) != sizeof(pid))
		return 1;
	waitpid(pid, NULL, 0);
	return 0;
}

/* The children of a command, and those of a process whose threads are recorded, inherit events and twins. */
static void check_children(enum target recorded)
{
	struct run run;
	int go[2], out[2];
	char byte;
	pid_t command, target;

	if (pipe2(go, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
		return;
	command = fork();
	if (command == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (read(go[0], &byte, 1) != 1 || dup2(out[1], 1) < 0)
			_exit(1);
		execl("/proc/self/exe", "syncread_test", "command", (char *)NULL);
		_exit(1);
	}
	ok(open_run_of(&run, SYNCREAD_FIFO, recorded, (uint32_t)command),
	   recorded == TARGET_COMMAND ? "the events of a command" : "the events of the threads of a process");
	if (write(go[1], "x", 1) != 1 || read(out[0], &target, sizeof(target)) != sizeof(target))
		return;
	usleep(100000);
	ok(add_target(&run, target), "  a child of it is registered");
	record_for(&run, 1);
	print_counters(&run);
	ok(run.right[SYNCREAD_CERTIFIED] > 0 && run.wrong[SYNCREAD_CERTIFIED] == 0, "  its copies are right");
	kill(target, SIGKILL);
	stop(command);
	close_run(&run);
	for (unsigned i = 0; i < 2; i++) {
		close(go[i]);
		close(out[i]);
	}
}

/* ---- memory that hangs ------------------------------------------------------------------------------------------ */

static char folder[] = "/tmp/pj-syncread.XXXXXX";

/* Serves a file "file" of one page that can be opened and mapped. A read of it fails after delay_us; 0: it is never
 * answered. */
static void serve(int fd, useconds_t delay_us)
{
	static char bytes[1 << 17];
	struct fuse_in_header in;

	while (read(fd, bytes, sizeof(bytes)) >= (ssize_t)sizeof(in)) {
		struct fuse_init_out init = { .major = 7, .minor = 31, .max_write = 4096, .max_readahead = 4096 };
		struct fuse_entry_out entry = {
			.nodeid = 2, .attr = { .ino = 2, .mode = S_IFREG | 0644, .nlink = 1, .size = 4096 }
		};
		struct fuse_attr_out attr = { .attr = entry.attr };
		struct fuse_open_out opened = { .open_flags = FOPEN_KEEP_CACHE };

		memcpy(&in, bytes, sizeof(in));
		if (in.nodeid == 1)
			attr.attr = (struct fuse_attr){ .ino = 1, .mode = S_IFDIR | 0755, .nlink = 2 };
		if (in.opcode == FUSE_INIT)
			fuse_answer(fd, &in, 0, &init, sizeof(init));
		else if (in.opcode == FUSE_LOOKUP)
			fuse_answer(fd, &in, 0, &entry, sizeof(entry));
		else if (in.opcode == FUSE_GETATTR)
			fuse_answer(fd, &in, 0, &attr, sizeof(attr));
		else if (in.opcode == FUSE_OPEN)
			fuse_answer(fd, &in, 0, &opened, sizeof(opened));
		else if (in.opcode == FUSE_READ && delay_us && usleep(delay_us) == 0)
			fuse_answer(fd, &in, -EIO, NULL, 0);
		else if (in.opcode != FUSE_READ && in.opcode != FUSE_FORGET && in.opcode != FUSE_INTERRUPT)
			fuse_answer(fd, &in, -ENOSYS, NULL, 0);
	}
}

/* A target whose innermost frame is in a page that the server never delivers. */
static NORETURN void hang_target(int ready)
{
	char path[64];
	char *page;
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(path, sizeof(path), "%s/file", folder);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	if (fd < 0 || page == MAP_FAILED)
		_exit(1);
	memory->root.frame = (uintptr_t)page + 2048;
	pid_t self = getpid();
	if (write(ready, &self, sizeof(self)) != sizeof(self))
		_exit(1);
	rewrite();
}

/* Starts the server and the target. Returns the server's pid; -1 if it cannot be made here. */
static pid_t start_hanging(pid_t *target, useconds_t delay_us)
{
	int ready[2], fd;
	char options[128];
	pid_t server;

	if (!mkdtemp(folder) || pipe2(ready, O_CLOEXEC) < 0)
		return -1;
	server = fork();
	if (server == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
		snprintf(options, sizeof(options), "fd=%d,rootmode=40755,user_id=0,group_id=0,allow_other", fd);
		if (fd < 0 || unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		    mount("hang", folder, "fuse.hang", 0, options) < 0)
			_exit(1);
		if (fork() == 0) {
			close(fd); /* or else the end of the server would not end the requests */
			hang_target(ready[1]);
		}
		close(ready[1]);
		serve(fd, delay_us);
		_exit(0);
	}
	close(ready[1]);
	if (read(ready[0], target, sizeof(*target)) != sizeof(*target)) {
		waitpid(server, NULL, 0);
		server = -1;
	}
	close(ready[0]);
	return server;
}

/* One target hangs the reader of a CPU; the stacks of another one are copied all the same, on other CPUs. */
static void check_hang(void)
{
	struct run run;
	pid_t hanging = 0, server = start_hanging(&hanging, 0), target;
	struct syncread_counters counters;
	uint64_t before, certified;

	if (server < 0) {
		printf("ok %d - memory that hangs # SKIP FUSE cannot be mounted here\n", ++tap_n);
		return;
	}
	open_run(&run, SYNCREAD_FIFO);
	add_target(&run, hanging);
	target = start(LOAD_TARGET);
	usleep(100000);
	add_target(&run, target);
	record_for(&run, 1);
	counters = syncread_counters(run.reader);
	is_u64(counters.hung, 0, "a read hangs");
	record_for(&run, 3);
	counters = syncread_counters(run.reader);
	ok(counters.hung >= 1 && counters.abandoned >= 1, "  after 2 s its thread is given up");
	is_u64(counters.processes, 1, "  and its process removed");
	certified = run.right[SYNCREAD_CERTIFIED];
	for (unsigned cpu = 0; cpu < 2; cpu++) { /* one of them has no reader now */
		pin_to(target, cpu);
		record_for(&run, 1.5);
	}
	print_counters(&run);
	ok(counters.abandoned >= (unsigned)sysconf(_SC_NPROCESSORS_ONLN) || run.right[SYNCREAD_CERTIFIED] > certified,
	   "  other CPUs are read");
	is_u64(run.wrong[SYNCREAD_CERTIFIED], 0, "  and no certified copy is wrong");
	before = clock_now();
	close_run(&run);
	ok(clock_now() - before < 2 * SECOND_NS, "the end takes less than 2 s while a read hangs");
	stop(target);
	stop(server);
	rmdir(folder);
}

/* Each read of one target's memory blocks for 40 ms: the target is removed, and the time is not that of the reader's
 * budget. */
static void check_blocked(void)
{
	struct run run;
	struct syncread_counters counters;
	pid_t blocking = 0, server;

	snprintf(folder, sizeof(folder), "/tmp/pj-syncread.XXXXXX");
	server = start_hanging(&blocking, 40000);
	if (server < 0) {
		printf("ok %d - memory that blocks # SKIP FUSE cannot be mounted here\n", ++tap_n);
		return;
	}
	open_run(&run, SYNCREAD_FIFO);
	add_target(&run, blocking);
	record_for(&run, 3);
	print_counters(&run);
	counters = syncread_counters(run.reader);
	ok(counters.blocked == 1 && counters.processes == 0, "a process whose memory blocks readers is removed");
	ok(counters.failed >= 1 && counters.failed <= 20, "  after a quarter of a second in all");
	is_u64(counters.hung + counters.abandoned, 0, "  no reader is given up");
	is_u64(counters.over_budget, 0, "  and the time is not that of a reader's budget");
	ok(!add_target(&run, blocking), "  its tenant is avoided for a time");
	stop(blocking);
	close_run(&run);
	stop(server);
	rmdir(folder);
}

/* ---- many threads ----------------------------------------------------------------------------------------------- */

enum { THREADS = 10000 };

/* All threads of the target have the same root here: registration and lookup are what is tested. */
static void check_threads(void)
{
	struct run run;
	pid_t target = start(LOAD_TARGET);
	unsigned added = 0;

	open_run(&run, SYNCREAD_FIFO);
	usleep(100000);
	ok(add_target(&run, target), "a target");
	for (uint32_t i = 0; i < THREADS; i++)
		added += syncread_add_thread(run.reader, run.tid, 10000000 + i, (uintptr_t)&memory->root, clock_now());
	is_u64(added, THREADS, "10,000 more threads are registered");
	record_for(&run, 1);
	for (uint32_t i = 0; i < THREADS; i++)
		syncread_remove_thread(run.reader, 10000000 + i);
	record_for(&run, 0.5);
	print_counters(&run);
	is_u64(syncread_counters(run.reader).threads, 1, "  and removed beside the readers");
	ok(run.right[SYNCREAD_CERTIFIED] > 0 && run.wrong[SYNCREAD_CERTIFIED] == 0, "  copies are right");
	stop(target);
	record_for(&run, 0.5);
	is_u64(syncread_counters(run.reader).threads, 0, "the record of its end removes a thread");
	close_run(&run);
}

/* Takes all copies, and returns true if the descriptor of copies becomes readable before eight more are made or within
 * `ms` after them: many would fill an eighth of the ring. One reader wakes the consumer for all, and the kernel may run
 * a normal thread in its place for 50 ms at that point, while another reader makes copies. */
static bool is_readable(struct run *run, int ms)
{
	struct pollfd fd = { syncread_copies_fd(run->reader), POLLIN, 0 };

	record_for(run, 0.05);
	uint64_t before = syncread_counters(run->reader).copies;
	for (unsigned i = 0; i < 6000; i++) {
		if (poll(&fd, 1, 5) == 1)
			return true;
		syncread_settle(run->reader); /* or no copy is made while records of switches pause */
		if (syncread_counters(run->reader).copies >= before + 8)
			return poll(&fd, 1, ms) == 1;
	}
	struct syncread_counters counters = syncread_counters(run->reader);
	printf("# %llu copies in 30 s, %llu samples while records of switches pause\n",
	       (unsigned long long)(counters.copies - before), (unsigned long long)counters.off);
	return false;
}

/* Copies of a deferred process wake no consumer: they are there when it comes. */
static void check_deferred(void)
{
	struct run run;
	pid_t target = start(LOAD_TARGET);
	uint64_t copies;

	open_run(&run, SYNCREAD_FIFO);
	usleep(100000);
	add_target(&run, target);
	record_for(&run, 0.5);
	ok(is_readable(&run, 1000), "copies wake the consumer");
	syncread_defer(run.reader, run.tid + 1024, true);
	ok(is_readable(&run, 1000), "  also if another process with the same place is deferred");
	syncread_defer(run.reader, run.tid, true);
	syncread_defer(run.reader, run.tid + 1024, false);
	copies = syncread_counters(run.reader).copies;
	ok(!is_readable(&run, 0), "copies of a deferred process do not");
	ok(syncread_counters(run.reader).copies > copies, "  though they are made");
	ok(syncread_take(run.reader, keep_copy, &run) > 0, "  and can be taken");
	syncread_defer(run.reader, run.tid, false);
	ok(is_readable(&run, 1000), "  until that ends");
	print_counters(&run);
	stop(target);
	close_run(&run);
}

/* A CPU is parked when no registered thread is sampled: then nothing wakes its reader. */
static void check_parking(void)
{
	struct run run;
	pid_t target = start(LOAD_TARGET), busy;
	uint64_t wakes;

	open_run(&run, SYNCREAD_FIFO);
	is_u64(syncread_counters(run.reader).readers, 0, "no reader before the first registration");
	usleep(100000);
	add_target(&run, target);
	record_for(&run, 0.5);
	ok(syncread_counters(run.reader).active > 0, "readers are active");
	stop(target);
	busy = start(LOAD_BUSY);
	record_for(&run, 2);
	is_u64(syncread_counters(run.reader).active, 0, "without samples of registered threads for a second, none is");
	wakes = syncread_counters(run.reader).wakes;
	record_for(&run, 1);
	is_u64(syncread_counters(run.reader).wakes, wakes, "  and nothing wakes them");
	stop(busy);
	target = start(LOAD_TARGET);
	usleep(100000);
	add_target(&run, target);
	record_for(&run, 1);
	ok(syncread_counters(run.reader).wakes > wakes && run.right[SYNCREAD_CERTIFIED] > 0,
	   "a new process wakes them");
	stop(target);
	close_run(&run);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "command") == 0)
		return be_command();

	double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
	struct run run;

	if (argc == 1 && !getenv("PJ_LIVE")) {
		printf("1..0 # SKIP it samples this machine: syncread.t runs it\n");
		return 0;
	}
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
	check_calls(seconds);
	check_realtime(1);
	check_realtime(50);
	check_children(TARGET_COMMAND);
	check_children(TARGET_THREADS);
	check_deferred();
	check_parking();
	check_threads();
	check_hang();
	check_blocked();
	return done();
}
