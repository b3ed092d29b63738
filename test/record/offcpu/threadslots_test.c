/* SPDX-License-Identifier: Apache-2.0 */
/* threadslots_test - a table of threads: found, added, moved as it grows, and old ones dropped. */
/* covers: record/offcpu/threadslots.c */
#include "record/offcpu/threadslots.h"
#include "test/lib/tap.h"

enum { FREE, ON, ENDED };

struct task {
	struct threadslot thread;
	uint64_t end;
};

static bool has_ended(const void *slot, uint64_t now)
{
	const struct task *task = slot;

	return task->thread.status == ENDED && task->end < now;
}

/* Returns the number of threads from 1 to n whose slot is theirs. */
static uint64_t found(const struct threadslots *slots, uint32_t n)
{
	uint64_t count = 0;

	for (uint32_t tid = 1; tid <= n; tid++) {
		const struct task *task = threadslots_find(slots, tid);

		count += task && task->thread.tid == tid && task->thread.pid == tid / 2 && task->end == tid;
	}
	return count;
}

/* Adds the threads from `first` to `last`, whose end is their tid. Returns the number of new ones. */
static uint64_t add(struct threadslots *slots, uint32_t first, uint32_t last, uint64_t now)
{
	uint64_t count = 0;

	for (uint32_t tid = first; tid <= last; tid++) {
		bool added;
		struct task *task = threadslots_get(slots, tid / 2, tid, ON, now, &added);

		count += added && task->end == 0;
		task->end = tid;
	}
	return count;
}

int main(void)
{
	struct threadslots slots;
	bool added;
	struct task *task;
	size_t full;

	threadslots_init(&slots, sizeof(struct task), has_ended);
	ok(!threadslots_find(&slots, 0) && !threadslots_find(&slots, 7), "an empty table has no thread");
	is_u64(add(&slots, 1, 10000, 0), 10000, "new threads are 0 but for tid, pid and status");
	is_u64(found(&slots, 10000), 10000, "  all are found after the table grew");
	is_u64(slots.used, 10000, "  and counted");
	is_u64(add(&slots, 1, 10000, 0), 0, "threads that have a slot keep it");
	task = threadslots_get(&slots, 99, 7, ENDED, 0, &added);
	ok(!added && task->thread.pid == 99 && task->thread.status == ON, "  with a new pid and the old status");
	task->thread.pid = 3;
	full = threadslots_bytes(&slots);
	for (uint32_t tid = 1; tid <= 9000; tid++)
		((struct task *)threadslots_find(&slots, tid))->thread.status = ENDED;
	is_u64(found(&slots, 10000), 10000, "ended threads are found");
	add(&slots, 10001, 20000, 5000);
	is_u64(threadslots_bytes(&slots), full, "the table drops old threads instead of growing");
	ok(!threadslots_find(&slots, 4999), "  those that ended before now");
	ok(threadslots_find(&slots, 5000) && threadslots_find(&slots, 9001) && threadslots_find(&slots, 20000),
	   "  and no other");
	threadslots_free(&slots);
	return done();
}
