/* The table of threads: add, replace, remove, limits; readers find each thread or none while the owner changes it, and
 * what they use is not freed. */
/* covers: record/syncread/threadtable.c */
#include "record/syncread/threadtable.h"
#include "common/clocks.h"
#include "common/process/threads.h"
#include "test/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static const struct threadplan plan = {
	.root_bytes = 16, .nhops = 1, .hop = { 8 }, .after = 16, .frame_bytes = 16, .next = 8, .frames = 10
};

static int open_null(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* Adds a process that is a tenant of its own. */
static bool add_process(struct threadtable *table, uint32_t pid, int memory, const struct threadplan *of,
			uint64_t since)
{
	const struct threadtable_process process = {
		.pid = pid, .tenant = { TENANT_USER, pid }, .memory = memory, .plan = *of, .since = since
	};

	return threadtable_add_process(table, &process, 1);
}

static void check_changes(void)
{
	struct threadtable *table = threadtable_new();
	struct threadplan broken = plan;
	struct threadtable_epoch epoch = { 1, 0 }, *list[] = { &epoch };
	const struct threadtable_entry *entry;
	int fd = open_null(), next;
	uint64_t serial;

	ok(!threadtable_add(table, 5, 5, 0x1000, 1), "a thread of a process that is not registered");
	ok(add_process(table, 5, fd, &plan, 1), "a process");
	ok(threadtable_add(table, 5, 6, 0x1000, 1), "its thread");
	entry = threadtable_find(table, 6);
	ok(entry && entry->root == 0x1000 && entry->process->pid == 5 && entry->process->memory == fd, "  is found");
	serial = entry->serial;
	threadtable_add(table, 5, 6, 0x1000, 9);
	ok(threadtable_find(table, 6)->serial == serial && threadtable_find(table, 6)->since == 1,
	   "with the same root it stays");
	threadtable_add(table, 5, 6, 0x2000, 9);
	ok(threadtable_find(table, 6)->serial != serial && threadtable_find(table, 6)->root == 0x2000,
	   "with another root it is another entry");
	ok(add_process(table, 9, -1, &plan, 1) && !threadtable_add(table, 9, 6, 0x3000, 9) &&
		   threadtable_find(table, 6)->process->pid == 5,
	   "another process does not get it");
	threadtable_remove_process(table, 9);
	ok(!threadtable_find(table, 5) && !threadtable_find(table, 0), "other threads are not found");
	next = open_null();
	ok(add_process(table, 5, next, &plan, 20) && !threadtable_find(table, 6),
	   "a process of the same pid: the threads of the old one are gone");
	threadtable_free_unused(table, list, 1);
	threadtable_free_unused(table, list, 1);
	ok(is_open(fd), "  its descriptor is open while a reader may use it");
	threadtable_step(&epoch);
	threadtable_free_unused(table, list, 1);
	ok(!is_open(fd), "  and closed afterwards");
	broken.nhops = 0;
	fd = open_null();
	ok(!add_process(table, 8, fd, &broken, 1) && !is_open(fd), "a plan that is not valid");
	threadtable_remove(table, 77);
	threadtable_remove_process(table, 77);
	is_u64(threadtable_processes(table), 1, "what is not there is removed without effect");
	threadtable_free(table);
	ok(!is_open(next), "threadtable_free closes the descriptors");
}

static void check_limits(void)
{
	struct threadtable *table = threadtable_new();
	unsigned n = 0, found = 0, others = 0;

	for (uint32_t pid = 1; pid <= THREADTABLE_PROCESSES + 1; pid++)
		n += add_process(table, pid, -1, &plan, 1);
	is_u64(n, THREADTABLE_PROCESSES, "the maximum of processes");
	n = 0;
	for (uint32_t tid = 1; tid <= THREADTABLE_THREADS + 10; tid++)
		n += threadtable_add(table, 7, tid, tid, 1);
	is_u64(n, THREADTABLE_THREADS / 2, "a tenant has half of the threads");
	for (uint32_t tid = THREADTABLE_THREADS; tid <= 2 * THREADTABLE_THREADS; tid++)
		others += threadtable_add(table, 9, tid, tid, 1);
	is_u64(others, THREADTABLE_THREADS / 4, "  another one has half of those that are left");
	ok(threadtable_add(table, 10, 4 * THREADTABLE_THREADS, 1, 1), "  and there is one for a third");
	threadtable_remove_process(table, 9);
	threadtable_remove_process(table, 10);
	for (uint32_t tid = 1; tid <= THREADTABLE_THREADS + 10; tid++) {
		const struct threadtable_entry *entry = threadtable_find(table, tid);

		found += entry && entry->tid == tid && entry->root == tid;
	}
	is_u64(found, THREADTABLE_THREADS / 2, "  all are found");
	threadtable_remove_process(table, 7);
	is_u64(threadtable_threads(table), 0, "  and removed with their process");
	for (unsigned round = 0; round < 300000; round++) {
		threadtable_add(table, 8, 1 + round, round, 1);
		threadtable_remove(table, round > 10 ? round - 10 : 0);
		if (round % 1000 == 0)
			threadtable_free_unused(table, NULL, 0);
	}
	ok(threadtable_threads(table) <= 12 && threadtable_find(table, 300000), "300,000 threads come and go");
	threadtable_free(table);
}

/* A tenant whose memory blocks readers loses all its processes for a time; other tenants lose nothing. */
static void check_blockers(void)
{
	struct threadtable *table = threadtable_new();
	const struct threadtable_process a = { .pid = 5, .tenant = { TENANT_USER, 1 }, .memory = -1, .plan = plan },
					 b = { .pid = 6, .tenant = { TENANT_USER, 1 }, .memory = -1, .plan = plan },
					 c = { .pid = 7, .tenant = { TENANT_USER, 2 }, .memory = -1, .plan = plan };
	uint64_t now = SECOND_NS;

	threadtable_add_process(table, &a, now);
	threadtable_add_process(table, &b, now);
	threadtable_add_process(table, &c, now);
	threadtable_add(table, 5, 5, 0x1000, 1);
	threadtable_add(table, 7, 7, 0x1000, 1);
	threadtable_remove_blockers(table, now, 1);
	threadtable_find(table, 5)->process->blocked_ns = THREADTABLE_BLOCKED_NS / 2;
	threadtable_find(table, 7)->process->blocked_ns = THREADTABLE_BLOCKED_NS - 1;
	is_u64(threadtable_remove_blockers(table, now, 1), 0, "processes may block readers for a while");
	is_u64(threadtable_find(table, 5)->process->blocked_ns, 0, "  which is charged to their tenants");
	threadtable_find(table, 5)->process->blocked_ns = THREADTABLE_BLOCKED_NS / 2;
	is_u64(threadtable_remove_blockers(table, now, 1), 2, "beyond that all processes of the tenant are removed");
	ok(threadtable_process(table, 7) && !threadtable_process(table, 6), "  but not those of others");
	ok(!threadtable_add_process(table, &b, now + THREADTABLE_AVOID_NS - 1), "  and none is added for a time");
	ok(threadtable_add_process(table, &b, now + THREADTABLE_AVOID_NS), "  but afterwards");
	now += THREADTABLE_AVOID_NS;
	is_u64(threadtable_remove_blockers(table, now, 1), 0, "its blocked time is forgotten");
	threadtable_find(table, 7)->process->blocked_ns = THREADTABLE_BLOCKED_NS / 2;
	is_u64(threadtable_remove_blockers(table, now, 1), 0, "so is that of a tenant that blocks rarely");
	threadtable_add_process(table, &a, now);
	threadtable_add(table, 5, 5, 0x1000, 1);
	threadtable_find(table, 5)->process->blocked_ns = THREADTABLE_BLOCKED_NS;
	threadtable_remove_process(table, 5);
	is_u64(threadtable_remove_blockers(table, now, 1), 1, "that of a process that ends is its tenant's");
	now += THREADTABLE_AVOID_NS;
	threadtable_remove_blockers(table, now, 1);
	threadtable_add_process(table, &a, now);
	threadtable_avoid(table, a.tenant, now);
	ok(!threadtable_process(table, 5) && threadtable_process(table, 7), "a read that hangs: the tenant is avoided");
	threadtable_remove_blockers(table, now + THREADTABLE_AVOID_NS, 1);
	ok(!threadtable_add_process(table, &a, now + THREADTABLE_HUNG_NS - 1), "  for ten minutes");
	ok(threadtable_add_process(table, &a, now + THREADTABLE_HUNG_NS), "  and then no longer");
	threadtable_free(table);
}

/* ---- readers beside the owner ------------------------------------------------------------------------------------ */

enum { READERS = 2, TIDS = 64 };

struct reader {
	struct threadtable *table;
	struct threadtable_epoch epoch;
	uint64_t found, wrong;
	bool *stop;
};

static void *look(void *arg)
{
	struct reader *reader = arg;

	for (uint32_t n = 0; !__atomic_load_n(reader->stop, __ATOMIC_ACQUIRE); n++) {
		const struct threadtable_entry *entry;

		threadtable_step(&reader->epoch);
		entry = threadtable_find(reader->table, 1 + n % TIDS);
		if (entry) {
			reader->found++;
			/* the entry and its process are not freed, though they may have been removed */
			reader->wrong += entry->tid != 1 + n % TIDS || entry->process->pid != entry->root / 1000 ||
					 entry->process->plan.root_bytes != 16;
		}
		threadtable_step(&reader->epoch);
	}
	return NULL;
}

static void check_readers(void)
{
	struct threadtable *table = threadtable_new();
	struct reader reader[READERS];
	struct threadtable_epoch *epoch[READERS];
	pthread_t thread[READERS];
	bool stop = false;
	uint64_t wrong = 0;

	for (unsigned i = 0; i < READERS; i++) {
		reader[i] = (struct reader){ .table = table, .stop = &stop };
		epoch[i] = &reader[i].epoch;
		threads_start(&thread[i], 0, look, &reader[i]);
	}
	for (uint32_t round = 0; round < 20000; round++) {
		uint32_t pid = 1 + round % 7;

		if (round % 50 < 7)
			add_process(table, pid, -1, &plan, 1);
		threadtable_remove(table, 1 + (round * 31) % TIDS);
		threadtable_add(table, pid, 1 + (round * 31) % TIDS, pid * 1000 + round % 1000, 1);
		threadtable_free_unused(table, epoch, READERS);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < READERS; i++) {
		pthread_join(thread[i], NULL);
		wrong += reader[i].wrong;
	}
	is_u64(wrong, 0, "readers beside the owner find no wrong entry");
	threadtable_free(table);
}

int main(void)
{
	check_changes();
	check_limits();
	check_blockers();
	check_readers();
	return done();
}
