/* Files, links and folders of /proc/PID in limited time; processes that do not answer are those of
 * test/hostile/holdlock.t. */
/* covers: common/process/taskwait.c common/process/threads.c */
#include "common/process/taskwait.h"
#include "test/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int open_process(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static void check_own(void)
{
	struct text t = { 0 }, all = { 0 };
	int process = open_process(getpid()), folder = taskwait_folder(process, "cwd");
	struct stat own, its;
	struct taskid id;
	char cwd[4096];

	ok(getcwd(cwd, sizeof(cwd)) && taskwait_link(process, "cwd", &t, sizeof(cwd)), "a link");
	is_str(text_view(&t), str_of(cwd), "  its target");
	ok(taskwait_link(process, "cwd", &t, 2), "a link with room for less");
	is_str(text_view(&t), str_head(str_of(cwd), 2), "  begins so");
	ok(stat(".", &own) == 0 && fstat(folder, &its) == 0 && own.st_ino == its.st_ino && own.st_dev == its.st_dev,
	   "a folder");
	close(folder);
	ok(taskwait_folder(process, "stat") < 0 && errno == ENOTDIR, "a file is no folder");
	ok(!taskwait_link(process, "stat", &t, 2) && errno == EINVAL, "nor a link");
	ok(taskwait_read(process, "stat", &all, 4096) && all.n > 20, "a file");
	ok(taskid_read(process, &id) && taskwait_is(process, &id), "the program that it runs");
	text_free(&t);
	text_free(&all);
	close(process);
}

static void check_gone(void)
{
	pid_t child = fork();
	struct text t = { 0 };
	int process;

	if (child == 0) {
		pause();
		_exit(0);
	}
	process = open_process(child);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	ok(taskwait_folder(process, "root") < 0 && !taskwait_is_unanswered(errno),
	   "no folder of a process that is gone");
	ok(!taskwait_link(process, "root", &t, 2) && !taskwait_is_unanswered(errno), "  and no link");
	close(process);
	ok(taskwait_folder(-1, "root") < 0 && errno == EBADF, "no descriptor");
	text_free(&t);
}

int main(void)
{
	check_own();
	check_gone();
	return done();
}
