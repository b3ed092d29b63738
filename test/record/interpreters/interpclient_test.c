/* The helper for interpreters on a real Python that waits in known functions: it is opened, its thread listed, and the
 * frames in a copy of its memory are named; a process that is none is refused; a damaged copy gives no frames. */
/* covers: record/interpreters/interpclient.c record/interpreters/interphelper.c */
/* covers: record/interpreters/pythoninterpreter.c record/interpreters/interpreter.c */
/* covers: record/interpreters/innerthreads.c */
#include "record/interpreters/interpclient.h"
#include "common/arena.h"
#include "common/clocks.h"
#include "record/interpreters/innerthreads.h"
#include "test/lib/tap.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const char program[] = "import time, sys\n"
			      "class Waiter:\n"
			      "    def rest(self):\n"
			      "        sys.stdout.write('ready\\n'); sys.stdout.flush()\n"
			      "        time.sleep(60)\n"
			      "def outer():\n"
			      "    return sorted([Waiter()], key=lambda w: w.rest())\n"
			      "outer()\n";

static struct interpclient_opened opened;
static struct interpreter_thread *thread;
static size_t nthreads;

/* Writes the program to a new file. Returns its name. */
static const char *program_file(void)
{
	static char name[] = "/tmp/interpclient-XXXXXX";
	int fd = mkstemp(name);

	if (fd < 0 || write(fd, program, sizeof(program) - 1) != (ssize_t)sizeof(program) - 1)
		return NULL;
	close(fd);
	return name;
}

/* Starts the program, from a file or as a text (NULL), whose output is a pipe, and waits for its first line. Returns
 * its pid. */
static pid_t start(const char *path, const char *file)
{
	int out[2];
	char byte;
	pid_t pid;

	if (pipe(out) < 0)
		return 0;
	pid = fork();
	if (pid == 0) {
		dup2(out[1], STDOUT_FILENO);
		execl(path, path, file ? file : "-c", file ? NULL : program, (char *)NULL);
		_exit(127);
	}
	close(out[1]);
	if (read(out[0], &byte, 1) != 1) {
		waitpid(pid, NULL, 0);
		pid = 0;
	}
	close(out[0]);
	usleep(100000); /* from the line to the wait */
	return pid;
}

static int open_file(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static enum interpclient_answer open_process(struct interpclient *client, const struct interpclient_process *process,
					     pid_t pid, int *memory)
{
	int fd[INTERP_FDS] = { open_file(pid, "mem"), open_file(pid, "maps") };
	enum interpclient_answer answer = interpclient_open(client, process, fd, &opened, &thread, &nthreads);

	close(fd[INTERP_FD_MAPS]);
	*memory = fd[INTERP_FD_MEM];
	return answer;
}

static size_t copy_memory(void *to, uint64_t address, void *into, size_t n)
{
	ssize_t got = pread(*(int *)to, into, n, (off_t)address);

	return got < 0 ? 0 : (size_t)got;
}

static struct threadcopy *make_copy(pid_t pid, int memory)
{
	struct threadcopy *copy = mem_alloc(1, sizeof(*copy) + THREADCOPY_BYTES);

	copy->pid = copy->tid = (uint32_t)pid;
	copy->root = thread[0].root;
	copy->time = copy->begun = clock_now();
	threadcopy_follow(&opened.plan, copy_memory, &memory, THREADCOPY_BYTES, copy);
	copy->read_by = clock_now();
	return copy;
}

static struct str name_of(const struct framelist *list, uint32_t i)
{
	struct str text = { list->text + list->frame[i].text, list->frame[i].bytes };

	return str_cut(&text, 0);
}

static struct interpclient_frames found[INTERP_COPIES];

/* Returns true if the helper has found the frames of one copy. */
static bool frames_of(struct interpclient *client, const struct interpclient_process *process,
		      const struct threadcopy *copy, struct framelist **list)
{
	if (!interpclient_add_copy(client, process, copy, false) ||
	    interpclient_send_copies(client) != INTERPCLIENT_DONE || interpclient_take_frames(client, found) != 1)
		return false;
	*list = found[0].list;
	return found[0].process == process->number && !found[0].lost;
}

static bool is_whole(const struct framelist *list)
{
	return list && list->n == 4 && list->end == INTERPRETER_COMPLETE &&
	       str_eq(name_of(list, 0), STR("__main__.Waiter.rest")) &&
	       str_eq(name_of(list, 3), STR("__main__.<module>")) && list->frame[0].line == 5;
}

/* Copies of one tenant are evaluated together. One that is old has names only if its code was read before it. */
static void together(struct interpclient *client, const struct interpclient_process *process, pid_t pid, int memory)
{
	struct interpclient_process other = { .slot = 4, .number = 8 },
				    stranger = { .slot = 3, .number = 7, .tenant = { TENANT_USER, 1234 } };
	struct threadcopy *copy = make_copy(pid, memory);
	size_t n;
	bool right;

	usleep(20000); /* the first of the copies is late now, and its code was read before */
	right = interpclient_add_copy(client, process, copy, false) &&
		interpclient_add_copy(client, &other, copy, false);
	ok(right && !interpclient_add_copy(client, &stranger, copy, false), "copies of one tenant wait together");
	copy->time = 1;
	right = interpclient_add_copy(client, process, copy, false) &&
		interpclient_send_copies(client) == INTERPCLIENT_DONE;
	ok(right && interpclient_take_frames(client, found) == 3, "  and are sent");
	ok(!found[0].lost && found[0].known && is_whole(found[0].list), "  a late copy of known code has names");
	ok(found[1].lost && !found[1].list && found[1].process == 8, "  one of a process that is not open is lost");
	ok(!found[2].lost && !found[2].known && found[2].list && found[2].list->n == 4 &&
		   found[2].list->frame[0].named == INTERPRETER_UNNAMED,
	   "  one from before its code was read has none");
	for (size_t i = 0; i < 3; i++)
		free(found[i].list);
	for (n = 0; n <= INTERP_COPIES && interpclient_add_copy(client, process, copy, false);)
		n++;
	ok(right && n > 1 && n <= INTERP_COPIES, "  32 at most, or as many as there is space for");
	ok(interpclient_send_copies(client) == INTERPCLIENT_DONE && interpclient_take_frames(client, found) == n,
	   "  with a reply to each");
	right = true;
	for (size_t i = 0; i < n; i++) {
		right = right && found[i].list && found[i].list->n == 4 && found[i].list->time == 1;
		free(found[i].list);
	}
	ok(right, "  and its frames");
	copy->time = 2;
	right = interpclient_add_copy(client, process, copy, false) &&
		interpclient_add_copy(client, &other, copy, false);
	copy->time = 3;
	right = right && interpclient_add_copy(client, process, copy, true) &&
		interpclient_send_copies(client) == INTERPCLIENT_DONE && interpclient_take_frames(client, found) == 3;
	ok(right && found[0].list && found[0].list->time == 3 && found[0].list->n == 4, "an urgent one is the first");
	ok(right && found[1].lost && found[2].list && found[2].list->time == 2 && found[2].list->n == 4,
	   "  and the others follow");
	for (size_t i = 0; i < 3; i++)
		free(found[i].list);
	free(copy);
}

/* Changes the constants of the code of the innermost frame in a copy: as if other code had been at its address at the
 * sample. Returns false if the code was not copied. */
static bool change_code(struct threadcopy *copy)
{
	for (uint32_t i = 1; i < copy->nareas; i++) {
		if (opened.plan.object_bytes && copy->area[i].n == opened.plan.object_bytes) {
			copy->bytes[copy->area[i].offset + 24] ^= 0x40;
			return true;
		}
	}
	return false;
}

/* A function whose address had other code at the sample has no name, though its own name is known for long. */
static void address_reused(struct interpclient *client, const struct interpclient_process *process, pid_t pid,
			   int memory)
{
	struct threadcopy *copy = make_copy(pid, memory);
	struct framelist *list = NULL;

	frames_of(client, process, copy, &list);
	ok(is_whole(list) && found[0].known && !found[0].reuses, "code that was there all the time has its name");
	free(list);
	free(copy);
	copy = make_copy(pid, memory);
	if (!change_code(copy)) {
		ok(true, "skipped: code is not copied # SKIP this version");
		free(copy);
		return;
	}
	list = NULL;
	ok(frames_of(client, process, copy, &list) && list && list->n == 4 &&
		   list->frame[0].named == INTERPRETER_UNNAMED && list->frame[3].named == INTERPRETER_NAMED,
	   "code that has replaced that of the sample gives it no name");
	ok(!found[0].known && found[0].reuses, "  and the process is one that reuses addresses of code");
	free(list);
	free(copy);
}

/* A copy of a thread off the CPU is alone in its request, as its budget is another one. Its names are right for as long
 * as the thread sleeps. */
static void off_cpu(struct interpclient *client, const struct interpclient_process *process, pid_t pid, int memory)
{
	struct threadcopy *copy = make_copy(pid, memory);
	uint64_t before = clock_now();
	bool right = interpclient_add_copy(client, process, copy, true);

	copy->off_cpu = 1;
	copy->read_by = 2;
	ok(right && !interpclient_add_copy(client, process, copy, true),
	   "a copy of a thread off the CPU is not sent with one of a sample");
	right = interpclient_send_copies(client) == INTERPCLIENT_DONE && interpclient_take_frames(client, found) == 1;
	ok(right && !found[0].off_cpu, "  which is sent before");
	free(found[0].list);
	right = interpclient_add_copy(client, process, copy, true) &&
		interpclient_send_copies(client) == INTERPCLIENT_DONE && interpclient_take_frames(client, found) == 1;
	ok(right && found[0].off_cpu && !found[0].known && is_whole(found[0].list),
	   "  it has names that were read long after it");
	ok(right && found[0].list && found[0].list->read_by == 2 && found[0].list->root == copy->root &&
		   found[0].list->named_by > before && found[0].list->named_by < clock_now(),
	   "  with the time up to which the thread has to sleep");
	free(found[0].list);
	free(copy);
}

static void frames(struct interpclient *client, const struct interpclient_process *process, pid_t pid, int memory)
{
	struct threadcopy *copy = make_copy(pid, memory);
	struct framelist *list = NULL;

	ok(copy->end == THREADCOPY_COMPLETE, "its frames are copied");
	/* on a loaded machine, names may be read too late for a sample; those of a second one are then proven by them
	 */
	frames_of(client, process, copy, &list);
	free(list);
	list = NULL;
	free(copy);
	copy = make_copy(pid, memory);
	ok(frames_of(client, process, copy, &list) && list, "the copy is evaluated");
	ok(list && list->n == 4 && list->end == INTERPRETER_COMPLETE, "  it has four frames");
	if (list && list->n == 4) {
		is_str(name_of(list, 0), STR("__main__.Waiter.rest"), "  the leaf");
		is_str(name_of(list, 1), STR("__main__.outer.<locals>.<lambda>"), "  called by a lambda");
		is_str(name_of(list, 2), STR("__main__.outer"), "  by a function");
		is_str(name_of(list, 3), STR("__main__.<module>"), "  by the module");
		ok(list->frame[0].line == 5 && list->frame[2].line == 7 && list->frame[3].line == 8, "  with lines");
		ok(!list->frame[0].entry && list->frame[1].entry && !list->frame[2].entry && list->frame[3].entry,
		   "  sorted() separates two activations");
	}
	free(list);
	free(copy);
	copy = make_copy(pid, memory);
	for (uint32_t i = 0; i < copy->nbytes; i += 8)
		memset(copy->bytes + i, 0x41, 8);
	ok(frames_of(client, process, copy, &list) && list && list->n == 0 && !found[0].known,
	   "a damaged copy has no frames, and no known code");
	free(list);
	free(copy);
}

/* Code of a text is likely to be replaced by other code with the same name, file and lines. */
static void text(struct interpclient *client, const char *path)
{
	struct interpclient_process process = { .slot = 5, .number = 12 };
	pid_t pid = start(path, NULL);
	struct framelist *list = NULL;
	int memory = -1;

	ok(pid != 0, "a program that is a text");
	if (!pid)
		return;
	ok(open_process(client, &process, pid, &memory) == INTERPCLIENT_DONE && nthreads == 1, "  is opened");
	if (nthreads == 1) {
		struct threadcopy *copy = make_copy(pid, memory);

		frames_of(client, &process, copy, &list);
		free(list);
		free(copy);
		copy = make_copy(pid, memory);
		ok(frames_of(client, &process, copy, &list) && is_whole(list) && found[0].reuses,
		   "  may have other code soon");
		free(list);
		free(copy);
	}
	free(thread);
	interpclient_close(client, &process);
	close(memory);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void python(struct interpclient *client, const char *path)
{
	struct interpclient_process process = { .slot = 3, .number = 7 };
	const char *file = program_file();
	pid_t pid = file ? start(path, file) : 0;
	int memory;

	if (file)
		unlink(file);
	if (!pid) {
		ok(true, "skipped: no such Python # SKIP");
		return;
	}
	ok(open_process(client, &process, pid, &memory) == INTERPCLIENT_DONE, path);
	ok(opened.answer == INTERPRETER_OPEN && opened.language == 1 && opened.nevals > 0, "  is opened");
	if (opened.answer != INTERPRETER_OPEN)
		printf("# %s\n", opened.why);
	ok(nthreads == 1 && thread[0].tid == (uint32_t)pid, "  its thread is listed");
	if (nthreads == 1) {
		frames(client, &process, pid, memory);
		together(client, &process, pid, memory);
		address_reused(client, &process, pid, memory);
		off_cpu(client, &process, pid, memory);
	}
	free(thread);
	ok(interpclient_threads(client, &process, &thread, &nthreads) == INTERPCLIENT_DONE && nthreads == 1,
	   "its threads are listed again");
	free(thread);
	interpclient_close(client, &process);
	ok(interpclient_threads(client, &process, &thread, &nthreads) == INTERPCLIENT_LOST, "a closed process is lost");
	close(memory);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	text(client, path);
}

/* Returns the pid of the helper, which is the only child of this process. */
static pid_t helper_pid(void)
{
	char text[64] = "";
	int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		return 0;
	close(fd);
	return (pid_t)strtol(text, NULL, 10);
}

static void failures(struct interpclient *client)
{
	struct interpclient_process process = { .slot = 0, .number = 9, .tenant = { TENANT_USER, 1234 } },
				    other = { .slot = 1, .number = 10, .tenant = { TENANT_USER, 1235 } };
	pid_t pid = helper_pid();

	ok(pid > 0 && kill(pid, SIGSTOP) == 0, "the helper is stopped");
	ok(interpclient_threads(client, &process, &thread, &nthreads) == INTERPCLIENT_LOST,
	   "  a request ends all the same");
	ok(interpclient_count(client).hung == 1 && interpclient_helper(client) == 2, "  another helper replaces it");
	ok(interpclient_threads(client, &process, &thread, &nthreads) == INTERPCLIENT_OVER, "its tenant is avoided");
	ok(interpclient_threads(client, &other, &thread, &nthreads) == INTERPCLIENT_LOST, "  another one is not");
	ok(interpclient_helper(client) == 2, "  by the same helper");
}

static void stranger(struct interpclient *client)
{
	struct interpclient_process process = { .slot = 0, .number = 8 };
	int memory;

	ok(open_process(client, &process, getpid(), &memory) == INTERPCLIENT_DONE &&
		   opened.answer == INTERPRETER_OTHER && nthreads == 0,
	   "this test is no interpreter");
	close(memory);
	free(thread);
	ok(interpclient_helper(client) == 1, "all of this was one helper");
}

/* A process that lists threads of others does not get them. */
static void threads_of_others(void)
{
	uint32_t own = (uint32_t)getpid();
	struct interpreter_thread claimed[] = { { .tid = 1 }, { .tid = own }, { .tid = (uint32_t)getppid() } };
	int folder = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	ok(innerthreads_translate(folder, claimed, 3) == 1 && claimed[0].tid == own,
	   "of the threads that a process lists, those that are its own");
	close(folder);
	claimed[0].tid = own;
	ok(innerthreads_translate(-1, claimed, 1) == 0, "  none of a process that has ended");
}

/* Starts a process that is number 1 of a PID namespace. Returns its id in ours; 0: not allowed. */
static pid_t start_inner(pid_t *parent)
{
	pid_t pid = 0;
	int out[2];

	if (pipe(out) < 0)
		return 0;
	*parent = fork();
	if (*parent == 0) {
		if (unshare(CLONE_NEWPID) != 0 || (pid = fork()) < 0)
			_exit(1);
		if (pid == 0)
			_exit(pause());
		if (write(out[1], &pid, sizeof(pid)) < 0)
			_exit(1);
		waitpid(pid, NULL, 0);
		_exit(0);
	}
	close(out[1]);
	if (read(out[0], &pid, sizeof(pid)) != (ssize_t)sizeof(pid))
		pid = 0;
	close(out[0]);
	return pid;
}

static void threads_of_namespace(void)
{
	struct interpreter_thread claimed[3] = { { 0, INTERPRETER_MAIN_THREAD, 0 }, { 0, 1, 0 }, { 0, 2, 0 } };
	pid_t parent = 0, pid = geteuid() == 0 ? start_inner(&parent) : 0;
	int folder = pid ? open_file(pid, "") : -1;

	if (folder < 0) {
		printf("ok - the main thread of a PID namespace has our id # SKIP no PID namespace\n");
	} else {
		ok(innerthreads_translate(folder, claimed, 3) == 2 && claimed[0].tid == (uint32_t)pid &&
			   claimed[1].tid == (uint32_t)pid,
		   "the main thread of a PID namespace has our id");
		close(folder);
	}
	claimed[0].tid = INTERPRETER_MAIN_THREAD;
	folder = open_file(getpid(), "");
	ok(innerthreads_translate(folder, claimed, 1) == 1 && claimed[0].tid == (uint32_t)getpid(),
	   "  and that of ours");
	close(folder);
	if (pid)
		kill(pid, SIGKILL);
	if (parent > 0)
		waitpid(parent, NULL, 0);
}

static unsigned helpers_started;

/* Implements interpstarter.start. */
static pid_t start_helper(void *owner, int socket, int memory)
{
	(void)owner;
	helpers_started++;
	return interphelper_fork(socket, memory, false);
}

/* Implements interpstarter.start; fails. */
static pid_t start_nothing(void *owner, int socket, int memory)
{
	(void)owner;
	(void)socket;
	(void)memory;
	helpers_started++;
	return 0;
}

/* Each failed start may block the caller, so further requests do not repeat it at once. */
static void failed_starts(void)
{
	struct interpclient *client = interpclient_new(&(struct interpstarter){ start_nothing, NULL });
	struct interpclient_process process = { .slot = 0, .number = 9 };
	unsigned before = helpers_started;
	uint64_t begun = clock_now();
	unsigned lost = 0;

	for (unsigned i = 0; i < 20; i++)
		lost += interpclient_threads(client, &process, &thread, &nthreads) == INTERPCLIENT_LOST;
	ok(lost == 20, "requests without a helper are lost");
	/* one for each second that passed, which is none on all but a stopped machine */
	ok(helpers_started - before >= 1 && helpers_started - before <= 1 + (clock_now() - begun) / SECOND_NS,
	   "  and 20 of them start one helper");
	ok(interpclient_count(client).off == 1, "  which is counted");
	interpclient_free(client);
}

int main(void)
{
	struct interpclient *client = interpclient_new(&(struct interpstarter){ start_helper, NULL });
	struct innerthread ids;

	ok(interpclient_helper(client) == 0 && !helpers_started && interpclient_count(client).off == 0,
	   "no helper runs before the first request");
	python(client, "/usr/bin/python3");
	stranger(client);
	failures(client);
	interpclient_free(client);
	failed_starts();
	ok(innerthreads_parse(STR("Name:\tx\nNSpid:\t70\t7\t3\nNSsid:\t1\n"), &ids) && ids.outer == 70 &&
		   ids.inner == 3 && ids.nested,
	   "thread ids of a namespace");
	ok(innerthreads_parse(STR("NSpid:\t70\n"), &ids) && ids.outer == 70 && ids.inner == 70 && !ids.nested,
	   "  of ours");
	ok(innerthreads_parse(STR("NSpid:\t5\t5\n"), &ids) && ids.outer == 5 && ids.inner == 5 && ids.nested,
	   "  equal ids of two namespaces");
	ok(!innerthreads_parse(STR("NSpid:\tx\n"), &ids) && !innerthreads_parse(STR(""), &ids), "  none");
	threads_of_others();
	threads_of_namespace();
	return done();
}
