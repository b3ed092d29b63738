/* The table of processes: what records change, what is shared, what is forgotten. */
/* covers: record/processes/processes.c record/processes/mappings.c */
#include "record/processes/processes.h"
#include "test/lib/tap.h"

#include <stdlib.h>

static struct mapped_file file(const char *path, uint64_t inode)
{
	return (struct mapped_file){ .file_id.inode = inode, .protection = 5, .flags = 2, .path = str_of(path) };
}

static const struct mapping *map(struct processes *processes, uint32_t pid, uint64_t start, uint64_t length,
				 uint64_t offset, const char *path)
{
	struct mapping m = { .start = start, .length = length, .offset = offset };
	struct mapped_file f = file(path, 7);

	processes_map(processes, pid, &m, &f);
	return length ? processes_at(processes_find(processes, pid), start) : NULL;
}

/* "START+LENGTH@OFFSET path" of all, in hex. */
static struct str shown(const struct processes *processes, uint32_t pid)
{
	static char text[4096];
	const struct process *process = processes_find(processes, pid);
	size_t n = 0;

	text[0] = 0;
	if (!process || !process->maps)
		return str_of(text);
	MAPPINGS_EACH(m, process->maps)
	{
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%jx+%jx@%jx %.*s", n ? " " : "",
				      (uintmax_t)m->start, (uintmax_t)m->length, (uintmax_t)m->offset,
				      (int)m->file->path.n, m->file->path.p);
	}
	return str_of(text);
}

static void check_maps(void)
{
	struct processes *p = processes_new(NULL);

	map(p, 1, 0x1000, 0x1000, 0, "a");
	map(p, 1, 0x3000, 0x1000, 0x10, "b");
	is_str(shown(p, 1), STR("1000+1000@0 a 3000+1000@10 b"), "two apart");
	map(p, 1, 0x1800, 0x2000, 0, "c");
	is_str(shown(p, 1), STR("1000+800@0 a 1800+2000@0 c 3800+800@810 b"), "a third cuts both");
	map(p, 1, 0x2000, 0x100, 0x5, "d");
	is_str(shown(p, 1), STR("1000+800@0 a 1800+800@0 c 2000+100@5 d 2100+1700@900 c 3800+800@810 b"),
	       "one in the middle splits");
	map(p, 1, 0, 0x10000, 0, "e");
	is_str(shown(p, 1), STR("0+10000@0 e"), "one over all");
	is_u64(processes_count(p).files, 1, "files nobody maps are forgotten");
	uint64_t id = processes_at(processes_find(p, 1), 0)->id;
	const struct mapping *again = map(p, 1, 0, 0x10000, 0, "e");
	ok(again && again->id == id, "the same again changes nothing");
	ok(!map(p, 1, 0x5000, 0, 0, "f") && !map(p, 1, UINT64_MAX - 5, 10, 0, "f"),
	   "empty, and one around the end of memory: no");
	is_str(shown(p, 1), STR("0+10000@0 e"), "  nothing changed");
	processes_free(p);
}

static void check_forks(void)
{
	struct processes *p = processes_new(NULL);

	processes_comm(p, 1, 1, STR("parent"), true);
	map(p, 1, 0x1000, 0x1000, 0, "a");
	processes_find(p, 1)->mount_ns = 77;
	processes_find(p, 1)->target = true;
	processes_fork(p, 2, 1, 2, 1);
	ok(processes_find(p, 2)->maps == processes_find(p, 1)->maps, "a fork shares its parent's mappings");
	is_u64(processes_count(p).mappings, 1, "  which are there once");
	is_str(str_of(processes_thread(p, 2)->comm), STR("parent"), "  and its name");
	ok(processes_find(p, 2)->mount_ns == 77 && processes_find(p, 2)->target,
	   "  its namespace, and that it is wanted");
	map(p, 2, 0x9000, 0x1000, 0, "b");
	is_str(shown(p, 1), STR("1000+1000@0 a"), "what the child maps is its own");
	is_str(shown(p, 2), STR("1000+1000@0 a 9000+1000@0 b"), "  and what it had stays");
	processes_comm(p, 2, 2, STR("a name that is longer than 15"), true);
	is_str(shown(p, 2), STR(""), "exec: no mappings");
	is_str(str_of(processes_thread(p, 2)->comm), STR("a name that is "), "  another name, of 15 bytes");
	processes_fork(p, 1, 1, 3, 1);
	is_str(str_of(processes_thread(p, 3)->comm), STR("parent"), "a thread has the name of who made it");
	is_u64(processes_find(p, 1)->live, 2, "  and counts");
	processes_fork(p, 9, 8, 9, 8);
	ok(processes_find(p, 9) && !processes_thread(p, 9)->named, "an unknown parent has an unknown child");
	processes_free(p);
}

static void check_ends(void)
{
	struct processes *p = processes_new(NULL);

	processes_comm(p, 1, 1, STR("a"), true);
	map(p, 1, 0x1000, 0x1000, 0, "a");
	processes_fork(p, 1, 1, 5, 1);
	processes_exit(p, 1, 1, 100);
	processes_forget(p, 1000);
	ok(!processes_thread(p, 1) && processes_find(p, 1) && processes_find(p, 1)->maps,
	   "the first thread ended: the process goes on");
	processes_exit(p, 1, 5, 200);
	is_u64(processes_find(p, 1)->exited, 200, "with its last thread it ended");
	processes_forget(p, 200);
	ok(processes_find(p, 1), "late samples still find it");
	processes_forget(p, 201);
	ok(!processes_find(p, 1) && !processes_thread(p, 5), "then it is forgotten");
	is_u64(processes_count(p).files + processes_count(p).mappings, 0, "  with all it had");

	processes_comm(p, 2, 2, STR("b"), true);
	processes_exit(p, 2, 2, 300);
	processes_fork(p, 2, 1, 2, 1);
	ok(!processes_find(p, 2)->exited, "a number that is used again is another process");
	ok(!processes_thread(p, 2)->named, "  without the old name");

	processes_comm(p, 3, 3, STR("c"), true);
	processes_fork(p, 3, 3, 31, 3);
	processes_comm(p, 3, 3, STR("d"), true);
	processes_exit(p, 3, 3, 400);
	ok(processes_find(p, 3)->exited, "exec ends all other threads");

	processes_fork(p, 6, 6, 61, 6);
	processes_exit(p, 6, 61, 500);
	ok(!processes_find(p, 6)->exited && processes_thread(p, 6) && !processes_thread(p, 6)->named,
	   "an unknown thread started a thread, which ended: the process goes on");
	processes_exit(p, 6, 6, 600);
	is_u64(processes_find(p, 6)->exited, 600, "  until that thread has ended, too");
	processes_free(p);
}

/* Another thread than the leader executes a program: EXIT of the leader, then COMM with the leader's tid. */
static void test_exec_by_thread(void)
{
	struct processes *p = processes_new(NULL);

	processes_comm(p, 700, 700, STR("launcher"), true);
	processes_fork(p, 700, 700, 701, 700);
	processes_exit(p, 700, 700, 10);
	processes_comm(p, 700, 700, STR("next"), true);
	processes_forget(p, 1000);
	ok(processes_find(p, 700) && processes_thread(p, 700), "exec by a thread: the process and its leader stay");
	ok(!processes_thread(p, 701), "  the thread has ended, since its tid is the leader's now");
	processes_exit(p, 700, 700, 2000);
	processes_forget(p, 3000);
	ok(!processes_find(p, 700) && !processes_thread(p, 700), "  the end of the process removes it");
	processes_free(p);
}

static void check_doubt(void)
{
	struct processes *p = processes_new(NULL);

	processes_comm(p, 1, 1, STR("a"), true);
	processes_comm(p, 2, 2, STR("b"), true);
	processes_mark_stale(p);
	processes_scanned(p, 2, 2);
	processes_scanned(p, 3, 3);
	processes_doubted(p, 50);
	ok(processes_find(p, 1)->exited && !processes_find(p, 2)->exited && !processes_find(p, 3)->exited,
	   "what /proc does not name has ended");
	processes_free(p);
}

/* A process whose FORK and COMM records were lost, so that only a mapping is known. */
static void check_threadless(void)
{
	struct processes *p = processes_new(NULL);

	map(p, 1, 0x1000, 0x1000, 0, "a");
	processes_exit(p, 1, 5, 100);
	ok(!processes_find(p, 1)->exited, "the end of an unknown thread, but not the first: its process may go on");
	processes_exit(p, 1, 1, 200);
	is_u64(processes_find(p, 1)->exited, 200, "the end of an unknown first thread ends its process");
	processes_forget(p, 201);
	ok(!processes_find(p, 1), "  which is forgotten");

	processes_comm(p, 2, 5, STR("b"), false);
	processes_exit(p, 2, 2, 300);
	ok(!processes_find(p, 2)->exited, "  unless another thread of it is known");

	processes_time(p, 400);
	map(p, 3, 0x1000, 0x1000, 0, "a");
	processes_time(p, 500);
	map(p, 4, 0x1000, 0x1000, 0, "a");
	processes_mark_stale(p);
	processes_scanned(p, 2, 5);
	processes_doubted(p, 450);
	processes_forget(p, 451);
	ok(!processes_find(p, 3) && processes_find(p, 2) && processes_find(p, 4),
	   "a process without known threads that the scan did not find has ended, unless it is new");
	processes_free(p);
}

/* Months of forks: nothing may stay. */
static void check_growth(void)
{
	struct processes *p = processes_new(NULL);
	struct processes_counts c;

	processes_comm(p, 1, 1, STR("init"), true);
	for (uint32_t i = 0; i < 200000; i++) {
		char path[32];
		uint32_t pid = 2 + i % 30000;

		processes_fork(p, pid, 1, pid, 1);
		processes_comm(p, pid, pid, STR("child"), true);
		snprintf(path, sizeof(path), "/bin/%u", i);
		map(p, pid, 0x1000, 0x1000, 0, path);
		processes_exit(p, pid, pid, i + 1);
		processes_forget(p, i > 100 ? i - 100 : 0);
	}
	c = processes_count(p);
	ok(c.processes < 110 && c.threads < 110 && c.files < 110 && c.mappings < 110,
	   "200000 short lives leave only the last");
	processes_free(p);
}

/* Against a plain array of bytes: which file is at each address after many random mappings. */
static void check_random(void)
{
	enum { SPACE = 256 };
	struct processes *p = processes_new(NULL);
	unsigned char want[SPACE] = { 0 };
	uint32_t seed = 12345;
	bool good = true;

	for (int i = 0; i < 5000 && good; i++) {
		seed = seed * 1103515245 + 12345;
		uint64_t start = (seed >> 8) % SPACE, length = 1 + (seed >> 20) % 40;
		char path[2] = { (char)('A' + i % 26), 0 };

		if (start + length > SPACE)
			continue;
		map(p, 1, start, length, start, path);
		memset(want + start, path[0], length);
		size_t at = 0, covered = 0;
		MAPPINGS_EACH(m, processes_find(p, 1)->maps)
		{
			good &= m->start >= at;
			at = m->start + m->length;
			covered += m->length;
			for (uint64_t a = m->start; a < at; a++)
				good &= want[a] == (unsigned char)m->file->path.p[0] && m->offset == m->start;
		}
		for (size_t a = 0; a < SPACE; a++)
			covered -= want[a] != 0;
		good &= covered == 0;
	}
	ok(good, "5000 random mappings, against an array");
	processes_free(p);
}

int main(void)
{
	check_maps();
	check_forks();
	check_ends();
	test_exec_by_thread();
	check_doubt();
	check_threadless();
	check_growth();
	check_random();
	return done();
}
