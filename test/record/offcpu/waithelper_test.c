/* The process that reads stacks follows rings that the kernel writes: it reads what a switch-out describes, with frames
 * of interpreters, also when these become known later, and a ring with damaged records neither stops nor crashes it.
 * The rings here are memory of this test. */
/* covers: record/offcpu/waithelper.c */
#include "record/offcpu/waithelper.h"
#include "common/clocks.h"
#include "common/process/fdmessage.h"
#include "record/perf/rings.h"
#include "test/lib/tap.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RING = 1 << 16, REGISTERS = 3, SP = 1, STACK = 4096, IN = 0, OUT = 1 << 13 };

#define load(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)

/* A ring, the process that follows it, and what both share. */
struct rig {
	struct perf_event_mmap_page *page;
	char *data;
	uint64_t head;
	struct waitshare *share;
	struct waitframes *frames;
	int socket;
	pid_t child;
	uint64_t at; /* position behind the last copy that was taken */
	char *stack; /* memory that is read as a stack: that of the process itself, which it may always read */
};

static bool start(struct rig *rig)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int pair[2], fd = memfd_create("ring", MFD_CLOEXEC);
	struct waithelper_message message = { .kind = WAITHELPER_RING, .bytes = RING };

	if (fd < 0 || ftruncate(fd, (off_t)(page + RING)) != 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return false;
	rig->page = mmap(NULL, page + RING, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	rig->data = (char *)rig->page + page;
	rig->share = waitshare_new();
	rig->frames = waitframes_new();
	rig->stack = malloc(STACK);
	for (size_t i = 0; i < STACK; i++)
		rig->stack[i] = (char)(i * 7);
	rig->child = fork();
	if (rig->child == 0) {
		close(pair[0]);
		waithelper_run(&(struct waithelper_options){ .socket = pair[1],
							     .share = rig->share,
							     .frames = rig->frames,
							     .nregisters = REGISTERS,
							     .sp = SP,
							     .sample_type = PERF_SAMPLE_PERIOD });
		_exit(0);
	}
	close(pair[1]);
	rig->socket = pair[0];
	return fdmessage_send(rig->socket, &message, sizeof(message), fd) && close(fd) == 0;
}

static void put(struct rig *rig, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		rig->data[rig->head++ % RING] = ((const char *)bytes)[i];
}

/* Makes what was put visible, as the kernel does. */
static void publish(struct rig *rig)
{
	__atomic_store_n(&rig->page->data_head, rig->head, __ATOMIC_RELEASE);
}

/* Puts a sample of a switch-out of the process, whose record counts `nips` addresses and has one. */
static void put_sample(struct rig *rig, uint64_t nips, uint64_t abi)
{
	struct ring_sample sample = { .head = { .type = PERF_RECORD_SAMPLE },
				      .pid = (uint32_t)rig->child,
				      .tid = (uint32_t)rig->child,
				      .time = clock_now(),
				      .nips = nips };
	uint64_t rest[] = { 0x1234, abi, 1, (uint64_t)(uintptr_t)rig->stack, 2 };

	sample.head.size = (uint16_t)(sizeof(sample) + sizeof(rest));
	put(rig, &sample, sizeof(sample));
	put(rig, rest, sizeof(rest));
}

static void put_switch(struct rig *rig, uint16_t misc, uint16_t size)
{
	struct perf_record head = { .type = PERF_RECORD_SWITCH, .misc = misc, .size = size };
	struct ring_sample_id id = { .pid = (uint32_t)rig->child, .tid = (uint32_t)rig->child, .time = clock_now() };

	put(rig, &head, sizeof(head));
	put(rig, &id, sizeof(id));
}

enum { WHOLE = sizeof(struct perf_record) + sizeof(struct ring_sample_id) };

/* Waits until a counter has this value, 10 s at most. */
static bool reaches(const uint64_t *counter, uint64_t value)
{
	for (unsigned i = 0; i < 1000 && load(counter) < value; i++)
		usleep(10000);
	return load(counter) == value;
}

/* Returns true if a switch-out is read now, with the bytes of this stack. */
static bool is_read(struct rig *rig)
{
	uint64_t copies = load(&rig->share->counters.copies);
	struct waitcopy copy = { 0 };
	const char *stack = NULL;
	bool broken = false, got;

	put_sample(rig, 1, PERF_SAMPLE_REGS_ABI_64);
	publish(rig);
	got = reaches(&rig->share->counters.copies, copies + 1) &&
	      waitshare_next(rig->share, &rig->at, &copy, &stack, &broken);
	got = got && copy.wait.tid == (uint32_t)rig->child && copy.wait.registers[2] == 2 && copy.n >= STACK &&
	      memcmp(stack, rig->stack, STACK) == 0 && copy.begun <= copy.ended && copy.wait.time < copy.begun;
	waitshare_drop(rig->share, rig->at);
	__atomic_store_n(&rig->page->data_tail, rig->head, __ATOMIC_RELEASE);
	return got;
}

static void check_waits(struct rig *rig)
{
	ok(is_read(rig), "a thread that left the CPU is read");
	put_sample(rig, 1, PERF_SAMPLE_REGS_ABI_64);
	put_switch(rig, OUT, WHOLE);
	put_switch(rig, IN, WHOLE);
	put_sample(rig, 1, PERF_SAMPLE_REGS_ABI_32);
	put_sample(rig, 1, PERF_SAMPLE_REGS_ABI_NONE);
	ok(is_read(rig), "one that is back is not, nor one without registers of 64 bits");
	is_u64(rig->share->counters.copies, 2, "  two copies in all");
}

static void check_damage(struct rig *rig)
{
	uint64_t seed = 1, missed = 0;

	put_sample(rig, 2, PERF_SAMPLE_REGS_ABI_64);
	put_sample(rig, UINT64_MAX, PERF_SAMPLE_REGS_ABI_64);
	put_sample(rig, UINT64_MAX / 8, PERF_SAMPLE_REGS_ABI_64);
	ok(is_read(rig), "callchains that are longer than their records are passed");
	is_u64(rig->share->counters.missed, 0, "  without a gap");
	for (uint16_t size = 0; size < 8; size += 4) {
		put_switch(rig, IN, size);
		publish(rig);
		missed += reaches(&rig->share->counters.missed, missed + 1);
		ok(is_read(rig),
		   size ? "  one of 4 bytes, too" : "a record of 0 bytes is a gap, and the next one is read");
	}
	put_switch(rig, IN, UINT16_MAX - 7);
	publish(rig);
	ok(reaches(&rig->share->counters.missed, missed + 1) && is_read(rig), "one beyond the head, too");
	__atomic_store_n(&rig->page->data_tail, rig->head += RING / 2, __ATOMIC_RELEASE);
	publish(rig);
	ok(reaches(&rig->share->counters.missed, missed + 2) && is_read(rig), "records that pjrecord took first, too");
	for (unsigned round = 0; round < 200; round++) {
		for (unsigned i = 0; i < RING / 8; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			/* types and sizes that occur, with any contents */
			put(rig, i % 16 ? &seed : &(uint64_t){ (seed >> 33 & 1 ? 9u : 14u) | UINT64_C(128) << 48 }, 8);
		}
		publish(rig);
		usleep(2000);
		__atomic_store_n(&rig->page->data_tail, rig->head, __ATOMIC_RELEASE);
	}
	ok(waitpid(rig->child, NULL, WNOHANG) == 0, "any bytes do not end the process");
	rig->at = load(&rig->share->head);
	waitshare_drop(rig->share, rig->at);
}

/* Frames of an interpreter: the root leads to a list of two. */
static struct {
	uint64_t id, next;
} frame_list[] = { { 1, 0 }, { 2, 0 } }, frame_root;

static const struct threadplan frame_plan = { .root_bytes = sizeof(frame_root),
					      .nhops = 1,
					      .hop = { 8 },
					      .after = sizeof(*frame_list),
					      .frame_bytes = sizeof(*frame_list),
					      .next = 8,
					      .mask = ~UINT64_C(0),
					      .frames = 9 };

/* Takes the next copy of a stack, within 10 s. Returns its `frames`, -1 if there is none. */
static int next_copy(struct rig *rig, struct waitcopy *copy)
{
	const char *stack;
	bool broken = false, got = false;

	for (unsigned i = 0; i < 1000 && !got; i++) {
		got = waitshare_next(rig->share, &rig->at, copy, &stack, &broken);
		if (!got)
			usleep(10000);
	}
	waitshare_drop(rig->share, rig->at);
	return got ? (int)copy->frames : -1;
}

static bool has_list(const struct threadcopy *copy)
{
	struct threadcopy_view view = threadcopy_view_of(copy);
	const char *inner = threadcopy_bytes(&view, (uint64_t)(uintptr_t)&frame_list[0], 16),
		   *outer = threadcopy_bytes(&view, (uint64_t)(uintptr_t)&frame_list[1], 16);

	return copy->end == THREADCOPY_COMPLETE && inner && outer && *inner == 1 && *outer == 2;
}

static void check_frames(struct rig *rig)
{
	struct threadcopy *copy = malloc(sizeof(*copy) + WAITFRAMES_BYTES);
	uint32_t pid = (uint32_t)rig->child;
	struct waitcopy first, second;
	int frames = -1;

	rig->at = load(&rig->share->head);
	put_sample(rig, 1, PERF_SAMPLE_REGS_ABI_64);
	publish(rig);
	ok(next_copy(rig, &first) == WAITCOPY_NOT_ENTERED, "a thread that is not known to an interpreter is read");
	waitframes_set_process(rig->frames, pid, &frame_plan);
	waitframes_set_thread(rig->frames, pid, pid, (uint64_t)(uintptr_t)&frame_root);
	/* it may be read once more between both calls */
	for (int i = 0; i < 9 && (frames = next_copy(rig, &second)) == WAITCOPY_NOT_ENTERED; i++)
		;
	ok(frames == WAITCOPY_FRAMES, "  and again with its frames when it becomes known");
	ok(second.wait.time == first.wait.time && second.begun > first.ended, "  in the same wait");
	ok(waitframes_take(rig->frames, copy) && has_list(copy), "  which are those that the plan leads to");
	ok(copy->off_cpu && copy->pid == pid && copy->tid == pid && copy->time == first.wait.time &&
		   copy->begun <= copy->read_by && copy->begun >= second.ended,
	   "  with their times");
	__atomic_store_n(&rig->page->data_tail, rig->head, __ATOMIC_RELEASE);
	put_sample(rig, 1, PERF_SAMPLE_REGS_ABI_64);
	publish(rig);
	ok(next_copy(rig, &second) == WAITCOPY_FRAMES && waitframes_take(rig->frames, copy) && has_list(copy),
	   "a thread that is known is read with its frames at once");
	waitframes_set_thread(rig->frames, pid, pid, 8);
	__atomic_store_n(&rig->page->data_tail, rig->head, __ATOMIC_RELEASE);
	put_sample(rig, 1, PERF_SAMPLE_REGS_ABI_64);
	publish(rig);
	ok(next_copy(rig, &second) == WAITCOPY_FRAMES && waitframes_take(rig->frames, copy) &&
		   copy->end == THREADCOPY_FAILED && copy->nareas == 0,
	   "a root that cannot be read has no frames");
	waitframes_remove_process(rig->frames, pid);
	__atomic_store_n(&rig->page->data_tail, rig->head, __ATOMIC_RELEASE);
	free(copy);
}

static void check_classes(struct rig *rig)
{
	uint64_t refused;

	waitshare_set_class(rig->share, (uint32_t)rig->child, 7);
	__atomic_store_n(&rig->share->refused[7], 1, __ATOMIC_RELAXED);
	usleep(100000);
	refused = load(&rig->share->counters.refused);
	put_sample(rig, 1, PERF_SAMPLE_REGS_ABI_64);
	publish(rig);
	ok(reaches(&rig->share->counters.refused, refused + 1), "a process of a class that is avoided is not read");
	waitshare_set_class(rig->share, (uint32_t)rig->child, 8);
	ok(is_read(rig), "  one of another class is");
	__atomic_store_n(&rig->share->strict, WAITSHARE_AVOID, __ATOMIC_RELEASE);
	waitshare_set_class(rig->share, (uint32_t)rig->child, 0);
	put_sample(rig, 1, PERF_SAMPLE_REGS_ABI_64);
	publish(rig);
	ok(reaches(&rig->share->counters.refused, refused + 2), "  one of no class is not, while one is avoided");
}

/* Sends a thread whose file `syscall` has this text. */
static void send_thread(struct rig *rig, const char *text)
{
	struct waithelper_message message = { .kind = WAITHELPER_THREAD,
					      .pid = (uint32_t)rig->child,
					      .tid = (uint32_t)rig->child };
	int fd = memfd_create("syscall", MFD_CLOEXEC);

	ok(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) &&
		   fdmessage_send(rig->socket, &message, sizeof(message), fd),
	   "a thread is sent");
	close(fd);
}

static void check_early(struct rig *rig)
{
	uint64_t copies = load(&rig->share->counters.copies), before = clock_now();
	struct waitcopy copy = { 0 };
	const char *stack = NULL;
	bool broken = false;
	char text[100];

	snprintf(text, sizeof(text), "-1 0x%jx 0x401000\n", (uintmax_t)(uintptr_t)rig->stack);
	send_thread(rig, "running\n");
	send_thread(rig, "");
	send_thread(rig, text);
	ok(reaches(&rig->share->counters.copies, copies + 1) &&
		   waitshare_next(rig->share, &rig->at, &copy, &stack, &broken),
	   "one that sleeps since before the recording is read, one that runs is not");
	ok(copy.wait.time == 0 && copy.wait.nregisters == WAIT_EARLY_REGISTERS && copy.wait.registers[1] == 0x401000 &&
		   copy.wait.registers[0] == (uintptr_t)rig->stack && copy.n >= STACK &&
		   memcmp(stack, rig->stack, STACK) == 0,
	   "  with its two registers and its stack");
	ok(copy.begun >= before && copy.begun < copy.ended, "  and the times around both");
	waitshare_drop(rig->share, rig->at);
}

/* A thread that sleeps since before the recording has frames, too: they are known by the time of the stack's end. */
static void check_early_frames(struct rig *rig)
{
	struct threadcopy *copy = malloc(sizeof(*copy) + WAITFRAMES_BYTES);
	uint32_t pid = (uint32_t)rig->child;
	struct waitcopy first, second;
	char text[100];

	snprintf(text, sizeof(text), "-1 0x%jx 0x401000\n", (uintmax_t)(uintptr_t)rig->stack);
	send_thread(rig, text);
	ok(next_copy(rig, &first) == WAITCOPY_NOT_ENTERED, "  it is read before it is known to an interpreter");
	waitframes_set_process(rig->frames, pid, &frame_plan);
	waitframes_set_thread(rig->frames, pid, pid, (uint64_t)(uintptr_t)&frame_root);
	ok(next_copy(rig, &second) == WAITCOPY_FRAMES && second.wait.time == 0 && second.begun > first.ended,
	   "  and again with its frames");
	ok(waitframes_take(rig->frames, copy) && has_list(copy) && copy->time == second.ended &&
		   copy->begun >= second.ended,
	   "  which have the time of the end of its stack");
	waitframes_remove_process(rig->frames, pid);
	free(copy);
}

int main(void)
{
	struct rig rig = { 0 };
	int status = -1;

	frame_root.next = (uint64_t)(uintptr_t)&frame_list[0];
	frame_list[0].next = (uint64_t)(uintptr_t)&frame_list[1];
	if (!ok(start(&rig), "the process starts"))
		return done();
	check_waits(&rig);
	check_early(&rig);
	check_frames(&rig);
	check_early_frames(&rig);
	check_damage(&rig);
	check_classes(&rig);
	close(rig.socket);
	ok(waitpid(rig.child, &status, 0) == rig.child && status == 0, "it ends when the socket is closed");
	waitshare_free(rig.share);
	waitframes_free(rig.frames);
	free(rig.stack);
	return done();
}
