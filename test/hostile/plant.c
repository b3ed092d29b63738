/* plant - puts a link, hard link, FIFO, socket or directory where a tool of another user is about to write.
 *
 * plant KIND PATH TARGET: one entry. plant swap PATH TARGET SECONDS: replaces PATH by entries of all kinds as fast as
 * it can, in an order that depends on PJ_SEED. As root it becomes user 65534 first; the fs.protected_* sysctls decide
 * what it may plant. */
#include "common/base.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define ATTACKER 65534
#define PATH_SIZE 400

static const char *const kinds[] = {
	"link", "relative", "dangling", "chain", "hard", "fifo", "socket", "folder", "file"
};

static bool make_socket(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	bool good;

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	good = bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0;
	close(fd);
	return good;
}

/* "../../.." + TARGET, which is absolute: enough to leave any folder of a test. */
static bool make_relative(const char *path, const char *target)
{
	char up[PATH_SIZE];

	snprintf(up, sizeof(up), "../../../../../../../..%s", target);
	return symlink(up, path) == 0;
}

static bool make_chain(const char *path, const char *target)
{
	char middle[PATH_SIZE + 8];

	snprintf(middle, sizeof(middle), "%s.middle", path);
	unlink(middle);
	return symlink(target, middle) == 0 && symlink(middle, path) == 0;
}

static bool make_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	return fd >= 0 && close(fd) == 0;
}

static bool plant(const char *kind, const char *path, const char *target)
{
	char nothing[PATH_SIZE];

	snprintf(nothing, sizeof(nothing), "%s.new", target);
	return strcmp(kind, "link") == 0     ? symlink(target, path) == 0 :
	       strcmp(kind, "relative") == 0 ? make_relative(path, target) :
	       strcmp(kind, "dangling") == 0 ? symlink(nothing, path) == 0 :
	       strcmp(kind, "chain") == 0    ? make_chain(path, target) :
	       strcmp(kind, "hard") == 0     ? link(target, path) == 0 :
	       strcmp(kind, "fifo") == 0     ? mkfifo(path, 0666) == 0 :
	       strcmp(kind, "socket") == 0   ? make_socket(path) :
	       strcmp(kind, "folder") == 0   ? mkdir(path, 0777) == 0 :
	       strcmp(kind, "file") == 0     ? make_file(path) :
					       false;
}

/* A FIFO that is planted has a reader, so that who opens it does not wait, and the bytes are lost. */
static unsigned long swap(const char *path, const char *target, time_t seconds)
{
	struct timespec now;
	char next[PATH_SIZE + 8];
	unsigned long n = 0;
	time_t end;

	clock_gettime(CLOCK_MONOTONIC, &now);
	end = now.tv_sec + seconds;
	snprintf(next, sizeof(next), "%s.next", path);
	while (clock_gettime(CLOCK_MONOTONIC, &now) == 0 && now.tv_sec < end) {
		remove(next);
		if (!plant(kinds[(unsigned)rand() % countof(kinds)], next, target))
			continue;
		if (rename(next, path) < 0) {
			remove(path); /* a folder takes the place of nothing but a folder */
			if (rename(next, path) < 0)
				continue;
		}
		n++;
		if (rand() % 4 == 0)
			nanosleep(&(struct timespec){ .tv_nsec = rand() % 1000000 }, NULL);
	}
	return n;
}

int main(int argc, char **argv)
{
	const char *seed = getenv("PJ_SEED");

	if (argc < 4 || strlen(argv[2]) >= PATH_SIZE - 40 || strlen(argv[3]) >= PATH_SIZE - 40)
		return 2;
	if (getuid() == 0 && (setgid(ATTACKER) < 0 || setuid(ATTACKER) < 0))
		return 1;
	umask(0);
	srand(seed ? (unsigned)strtoul(seed, NULL, 10) : 1);
	if (strcmp(argv[1], "swap") == 0 && argc > 4) {
		printf("%lu entries planted\n", swap(argv[2], argv[3], strtol(argv[4], NULL, 10)));
		return 0;
	}
	return plant(argv[1], argv[2], argv[3]) ? 0 : 1;
}
