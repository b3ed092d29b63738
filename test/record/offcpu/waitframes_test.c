/* Copies of frames in memory that two processes share: only threads that are entered are found, with the plan of their
 * process; copies come in order, and no size from there is trusted. */
/* covers: record/offcpu/waitframes.c */
#include "record/offcpu/waitframes.h"
#include "test/lib/tap.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct threadplan plan = { .root_bytes = 16,
					.nhops = 1,
					.hop = { 8 },
					.after = 64,
					.frame_bytes = 32,
					.next = 8,
					.mask = ~UINT64_C(0),
					.frames = 9 };

static bool finds(const struct waitframes *waitframes, uint32_t pid, uint32_t tid, uint64_t root)
{
	struct threadplan found;
	uint64_t at;

	return waitframes_find(waitframes, pid, tid, &at, &found) && at == root &&
	       memcmp(&found, &plan, sizeof(plan)) == 0;
}

static void check_entered(struct waitframes *waitframes)
{
	const struct threadplan stack = { .stack = 1 }, invalid = { .root_bytes = 16 };
	uint64_t changes = waitframes_changes(waitframes);

	ok(!finds(waitframes, 7, 8, 0x1000) && !finds(waitframes, 0, 0, 0), "no thread is entered at first");
	waitframes_set_thread(waitframes, 7, 8, 0x1000);
	ok(!finds(waitframes, 7, 8, 0x1000), "nor without its process");
	waitframes_set_process(waitframes, 7, &plan);
	ok(!finds(waitframes, 7, 8, 0x1000) && waitframes_changes(waitframes) == changes, "  nor with that alone");
	waitframes_set_thread(waitframes, 7, 8, 0x1000);
	ok(finds(waitframes, 7, 8, 0x1000) && waitframes_changes(waitframes) != changes, "  a thread of it is");
	ok(!finds(waitframes, 9, 8, 0x1000) && !finds(waitframes, 7, 9, 0x1000), "  and no other one");
	changes = waitframes_changes(waitframes);
	waitframes_set_thread(waitframes, 7, 8, 0x1000);
	ok(waitframes_changes(waitframes) == changes, "the same again is no change");
	waitframes_set_thread(waitframes, 7, 8, 0x2000);
	ok(finds(waitframes, 7, 8, 0x2000) && waitframes_changes(waitframes) != changes, "  another root is");
	waitframes_set_process(waitframes, 7, &plan);
	ok(!finds(waitframes, 7, 8, 0x2000), "a process of the same pid has none of its threads");
	waitframes_set_thread(waitframes, 7, 8, 0x2000);
	waitframes_remove_thread(waitframes, 8);
	ok(!finds(waitframes, 7, 8, 0x2000), "a thread that is removed is found no more");
	waitframes_set_process(waitframes, 5, &stack);
	waitframes_set_thread(waitframes, 5, 5, 0x1000);
	ok(!finds(waitframes, 5, 5, 0x1000), "a plan of the native stack is not entered");
	waitframes_set_process(waitframes, 5, &invalid);
	waitframes_set_thread(waitframes, 5, 5, 0x1000);
	ok(!finds(waitframes, 5, 5, 0x1000), "  nor one that is not valid");
	waitframes_set_process(NULL, 5, &plan);
	waitframes_set_thread(NULL, 5, 5, 0x1000);
	waitframes_remove_process(NULL, 5);
	waitframes_renew(NULL);
	ok(waitframes_fd(NULL) == -1, "no object has no threads, and no descriptor");
}

/* Processes, and threads, whose ids have the same low bits. */
static void check_places(struct waitframes *waitframes)
{
	const uint32_t pid = 100, tid = 200;
	uint32_t last = pid + (WAITFRAMES_PLACES - 1) * WAITFRAMES_PROCESSES,
		 other = tid + WAITFRAMES_PLACES * WAITFRAMES_THREADS;
	bool all = true;

	for (uint32_t i = 0; i <= WAITFRAMES_PLACES; i++)
		waitframes_set_process(waitframes, pid + i * WAITFRAMES_PROCESSES, &plan);
	ok(waitframes_set_thread(waitframes, last, 1, 0x1000) && finds(waitframes, last, 1, 0x1000),
	   "processes whose pids have the same low bits are entered");
	ok(!waitframes_set_thread(waitframes, last + WAITFRAMES_PROCESSES, 2, 0x1000), "  up to a number");
	for (uint32_t i = 0; i < WAITFRAMES_PLACES; i++)
		all &= waitframes_set_thread(waitframes, pid, tid + i * WAITFRAMES_THREADS, 0x1000);
	ok(all, "so are threads");
	ok(!waitframes_set_thread(waitframes, last, other, 0x1000) && finds(waitframes, pid, tid, 0x1000),
	   "  the next one displaces none");
	waitframes_remove_thread(waitframes, tid);
	ok(waitframes_set_thread(waitframes, last, other, 0x1000) && finds(waitframes, last, other, 0x1000),
	   "  but has the place of one that has ended");
	waitframes_remove_process(waitframes, pid);
	all = true;
	for (uint32_t i = 1; i < WAITFRAMES_PLACES; i++)
		all &= waitframes_set_thread(waitframes, last, other + i * WAITFRAMES_THREADS, 0x1000);
	ok(all, "  or of those whose process has");
	for (uint32_t i = 1; i < WAITFRAMES_PLACES; i++)
		waitframes_remove_process(waitframes, pid + i * WAITFRAMES_PROCESSES);
}

/* Writes a copy with n bytes, each the low byte of tid. */
static bool put(struct waitframes *waitframes, uint32_t tid, uint32_t n)
{
	struct threadcopy *copy = waitframes_begin(waitframes);

	if (!copy)
		return false;
	*copy = (struct threadcopy){ .tid = tid, .nbytes = n };
	memset(copy->bytes, (int)tid, n);
	waitframes_publish(waitframes, copy);
	return true;
}

/* Takes all copies, which have ascending tids from *next on. Returns false if one is wrong. */
static bool take(struct waitframes *waitframes, struct threadcopy *into, uint32_t *next)
{
	bool good = true;

	while (waitframes_take(waitframes, into)) {
		good = good && into->tid == *next;
		for (uint32_t i = 0; i < into->nbytes; i++)
			good = good && (unsigned char)into->bytes[i] == (*next & 255);
		++*next;
	}
	return good;
}

static bool is_readable(const struct waitframes *waitframes)
{
	struct pollfd polled = { .fd = waitframes_fd(waitframes), .events = POLLIN };

	return poll(&polled, 1, 0) == 1;
}

static void check_ring(struct waitframes *waitframes, struct threadcopy *into)
{
	uint32_t written = 1, next = 1;
	bool good = true;

	ok(!is_readable(waitframes) && !waitframes_take(waitframes, into), "no copy waits at first");
	for (unsigned round = 0; round < 300 && good; round++) {
		for (unsigned i = 0; i < 10; i++)
			written += put(waitframes, written, (uint32_t)(written * 2654435761u % (WAITFRAMES_BYTES + 1)));
		good = is_readable(waitframes) && take(waitframes, into, &next) && next == written;
	}
	ok(good && written > 2900, "copies in order, also around the end of the ring");
	ok(!is_readable(waitframes), "  the descriptor is readable while some wait");
	while (put(waitframes, written, WAITFRAMES_BYTES))
		written++;
	ok(take(waitframes, into, &next) && next == written, "a full ring refuses, and keeps what it has");
	ok(put(waitframes, written++, 8) && take(waitframes, into, &next), "  then it takes more");
	put(waitframes, 1, 8);
	waitframes_renew(waitframes);
	take(waitframes, into, &next);
	ok(next == written, "a ring that is replaced has no copies");
	ok(put(waitframes, written, 8) && take(waitframes, into, &next) && next == written + 1, "  and takes some");
}

/* Another process writes: it has the ring, and cannot change the tables. */
static void check_process(struct waitframes *waitframes, struct threadcopy *into)
{
	int status = -1;
	pid_t child;

	waitframes_set_process(waitframes, 7, &plan);
	waitframes_set_thread(waitframes, 7, 8, 0x1000);
	child = fork();
	if (child == 0) {
		if (!waitframes_enter(waitframes, waitframes_fd(waitframes)) || !finds(waitframes, 7, 8, 0x1000))
			_exit(1);
		put(waitframes, 42, 64);
		signal(SIGSEGV, SIG_DFL); /* of a sanitizer */
		waitframes_set_thread(waitframes, 7, 8, 0x2000);
		_exit(0);
	}
	ok(waitpid(child, &status, 0) == child && WIFSIGNALED(status),
	   "a process that enters cannot write to the tables");
	ok(waitframes_take(waitframes, into) && into->tid == 42 && finds(waitframes, 7, 8, 0x1000),
	   "  but to the ring");
}

/* What the writer leaves in the ring is checked: words at all places of a copy and its head take any value. */
static void check_damage(struct waitframes *waitframes, struct threadcopy *into)
{
	static const uint64_t values[] = {
		0, 1, 7, 8, UINT32_MAX, UINT64_MAX, UINT64_C(1) << 32, WAITFRAMES_BYTES + 8
	};
	unsigned good = 0, n = 0;

	for (size_t at = 0; at < offsetof(struct threadcopy, area) + 16; at += 4)
		for (size_t i = 0; i < countof(values); i++) {
			struct threadcopy *copy = waitframes_begin(waitframes);

			*copy = (struct threadcopy){ .tid = 1, .nbytes = 64, .nareas = 1 };
			waitframes_publish(waitframes, copy);
			memcpy((char *)copy - 8 + at, &values[i], at % 8 ? 4 : 8);
			while (waitframes_take(waitframes, into))
				good += into->nbytes > WAITFRAMES_BYTES || into->nareas > THREADCOPY_READS;
			/* a next copy arrives, unless the ring's memory behind the damaged one was taken for another */
			put(waitframes, 2, 8);
			n += waitframes_take(waitframes, into) && into->tid == 2;
			waitframes_renew(waitframes);
		}
	ok(good == 0, "no copy has more areas or bytes than the maximum");
	ok(n > 100, "  and copies behind a damaged one arrive");
}

int main(void)
{
	struct waitframes *waitframes = waitframes_new();
	struct threadcopy *into = malloc(sizeof(*into) + WAITFRAMES_BYTES);

	if (!ok(waitframes && into, "the memory is mapped"))
		return done();
	check_entered(waitframes);
	check_places(waitframes);
	check_ring(waitframes, into);
	check_process(waitframes, into);
	check_damage(waitframes, into);
	waitframes_free(waitframes);
	waitframes_free(NULL);
	free(into);
	return done();
}
