/* Files that a helper process opens: an answer that comes too late is not taken for that of another request. */
/* covers: fold/opener/fileopener.c fold/opener/openerhelper.c */
#include "fold/opener/fileopener.h"
#include "test/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char dir[] = "/tmp/pj-fileopener.XXXXXX";

static const char *path_of(const char *name)
{
	static char path[2][64];
	static unsigned i;

	i = !i;
	snprintf(path[i], sizeof(path[i]), "%s/%s", dir, name);
	return path[i];
}

static void put(const char *name)
{
	int fd = open(path_of(name), O_WRONLY | O_CREAT, 0600);

	if (fd < 0 || write(fd, name, strlen(name)) < 0)
		perror(name);
	close(fd);
}

/* What a descriptor holds, which is closed. */
static const char *read_all(int fd)
{
	static char text[4096];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[n < 0 ? 0 : n] = 0;
	return n < 0 ? "(none)" : text;
}

/* The helper: a child of the only child of this process. */
static pid_t find_helper(void)
{
	pid_t pid = getpid();

	for (int depth = 0; depth < 2 && pid > 0; depth++) {
		char path[64];

		snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
		pid = (pid_t)strtol(read_all(open(path, O_RDONLY)), NULL, 10);
	}
	return pid;
}

static void check_stat(void)
{
	char own[16];
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	snprintf(own, sizeof(own), "%d (", (int)getpid());
	ok(strncmp(read_all(fileopener_stat(getpid())), own, strlen(own)) == 0, "the stat of a process");
	ok(fileopener_stat(child) < 0, "none of one that is gone");
}

static void *go_on_later(void *arg)
{
	usleep((FILEOPENER_MS + 500) * 1000);
	kill(*(pid_t *)arg, SIGCONT);
	return NULL;
}

static void check_late_answer(void)
{
	pid_t helper;
	pthread_t thread;
	struct str first;
	int fd;

	put("first");
	put("second");
	is_str(str_of(read_all(fileopener_plain(path_of("second")))), STR("second"), "a file");
	helper = find_helper();
	if (helper <= 1 || kill(helper, SIGSTOP) < 0 || pthread_create(&thread, NULL, go_on_later, &helper) != 0) {
		ok(false, "the helper can be stopped");
		return;
	}
	first = str_of(path_of("first"));
	fd = fileopener_map_inside(getppid(), first); /* asks for the mount namespace first */
	ok(fd < 0, "a helper that does not answer is left behind");
	pthread_join(thread, NULL);
	usleep(200000);
	is_str(str_of(read_all(fileopener_plain(path_of("second")))), STR("second"),
	       "  its late answer is not that to the next request");
	is_str(str_of(read_all(fileopener_plain(path_of("second")))), STR("second"), "  nor to the one after that");
}

/* Without inode the times decide; without time, only a live process. */
static void check_no_inode(void)
{
	struct file_id none = { 0 };
	struct str path = str_of(path_of("first"));
	struct timespec now;
	uint64_t later;

	put("first");
	clock_gettime(CLOCK_REALTIME, &now);
	later = ((uint64_t)now.tv_sec + 60) * 1000000000u;
	is_str(str_of(read_all(fileopener_mapped(0, path, &none, later))), STR("first"), "no inode: an unchanged file");
	ok(fileopener_mapped(0, path, &none, later - 120000000000u) < 0 && errno == ESTALE, "  not one made later");
	ok(fileopener_mapped(getpid(), path, &none, later - 120000000000u) < 0 && errno == ESTALE,
	   "  nor below the root of a process");
	is_str(str_of(read_all(fileopener_mapped(getpid(), path, &none, 0))), STR("first"),
	       "  without time: the file below the root of a process");
	ok(fileopener_mapped(0, path, &none, 0) < 0 && errno == ENODATA, "  but no other, as nothing is known");
}

int main(void)
{
	if (!mkdtemp(dir))
		return 1;
	check_stat();
	check_late_answer();
	check_no_inode();
	unlink(path_of("first"));
	unlink(path_of("second"));
	rmdir(dir);
	return done();
}
