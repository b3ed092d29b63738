/* fileopener: requests of a pjfold that was taken over, to the process that opens files with capabilities. Any bytes
 * are answered, or end it; a descriptor that comes back is of a regular file, and none of /proc; none stays open.
 * Input: for each request a byte that chooses its kind, one that chooses a path (or how many bytes of the input are
 * one), one that damages the message. Files lie in a folder of the run. */
/* covers: fold/opener/fileopener.c fold/opener/openerhelper.c */
/* least: 60, as the rest forks processes (test/fold/opener/fileopener_test.c) */
#include "common/filter/broker.h"
#include "common/process/capabilities.h"
#include "common/process/fdmessage.h"
#include "fold/opener/fileopener.h"
#include "fold/opener/openerhelper.h"
#include "common/hash.h"
#include "common/files/targetfile.h"

#include "common/clocks.h"
#include "test/fuzz/fuzz.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>

static struct {
	struct str rest;
	int sockets[2]; /* of pjfold, of the helper */
	bool remote;    /* the file system is none of this host */
} world;

static int fake_statfs(int fd, struct statfs *s)
{
	int done = fstatfs(fd, s);

	if (world.remote && done == 0)
		s->f_type = 0x65735546; /* FUSE */
	return done;
}

/* The helper is this process: it runs when pjfold waits for a reply, and finds the end of the requests. */
static void run_helper_now(void);

static int fake_poll(struct pollfd *polled, nfds_t n, int ms)
{
	(void)ms;
	run_helper_now();
	return poll(polled, n, 0);
}

#define fstatfs fake_statfs
#define poll fake_poll
#include "fold/opener/openerhelper.c"
#include "fold/opener/fileopener.c"
#undef poll
#undef fstatfs

static void run_helper_now(void)
{
	shutdown(world.sockets[0], SHUT_WR);
	openerhelper_run(world.sockets[1]);
	shutdown(world.sockets[1], SHUT_WR);
}

static void remove_files(void)
{
	static const char *const names[] = { "fifo", "link", "file", "hole" };

	for (size_t i = 0; i < countof(names); i++)
		unlinkat(fuzz_folder(), names[i], 0);
}

/* Enters the folder; returns the one before. */
static int enter_folder(void)
{
	static bool made;
	int before = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (before < 0 || fchdir(fuzz_folder()) < 0)
		abort();
	if (made)
		return before;
	made = true;
	if (mkfifo("fifo", 0600) < 0 || symlink("file", "link") < 0)
		abort();
	fuzz_put("file", STR("some bytes"));
	fuzz_put("hole", STR("x"));
	if (truncate("hole", 3 << 20) < 0)
		abort();
	atexit(remove_files);
	return before;
}

static const char *const paths[] = { "file",
				     "hole",
				     "link",
				     "fifo",
				     ".",
				     "none",
				     "/proc/self/mem",
				     "/proc/1/mem",
				     "/dev/null",
				     "/proc/self/fd/0",
				     "/proc/self/maps",
				     "/proc/kallsyms" };

/* A path of the table, or of the input, without a way out of the folder. */
static struct str next_path(void)
{
	unsigned which = fuzz_byte(&world.rest);
	struct str path;

	if (which < 2 * countof(paths))
		return str_of(paths[which / 2]);
	path = fuzz_bytes(&world.rest, which);
	return path.n && (path.p[0] == '/' || str_find_str(path, STR("..")) >= 0) ? STR("file") : path;
}

static void check_descriptor(int fd)
{
	struct stat st;

	if (fd < 0)
		return;
	MUST(fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && !targetfile_is_proc(fd));
	close(fd);
}

/* The bytes of a request, as they are or damaged. */
static void raw_request(void)
{
	static struct opener_request r;
	struct str path;
	unsigned how, errors;
	size_t n;

	memset(&r, 0, sizeof(r));
	r.kind = fuzz_byte(&world.rest) % (OPENER_WHERE + 2);
	how = fuzz_byte(&world.rest);
	world.remote = how & 1;
	r.pid = r.kind >= OPENER_INSIDE ? how & 2 ? -1 : getpid() : 0;
	path = next_path();
	r.n = (uint32_t)path.n;
	memcpy(r.path, path.p, path.n);
	n = offsetof(struct opener_request, path) + path.n + 1;
	errors = fuzz_byte(&world.rest);
	if (errors % 8 == 1)
		r.n += (uint32_t)fuzz_byte(&world.rest) << (errors >> 4);
	else if (errors % 8 == 2)
		n = errors >> 3;
	else if (errors % 8 == 3)
		memset(r.path, 'x', sizeof(r.path));
	(void)fdmessage_send(world.sockets[0], &r, n, -1);
}

static void replies_of(void)
{
	struct opener_reply reply = { 0 };
	int fd;

	while (fdmessage_receive_some(world.sockets[0], &reply, sizeof(reply), &fd, MSG_DONTWAIT) > 0)
		check_descriptor(fd);
}

/* What pjfold itself does with it: its own functions, and replies of a helper. */
static void query_as_pjfold(void)
{
	unsigned kind = fuzz_byte(&world.rest) % 4;
	struct str path;
	int fd;

	opener.helper = getpid();
	opener.control = dup(world.sockets[1]);
	opener.socket = dup(world.sockets[0]);
	world.remote = fuzz_byte(&world.rest) & 1;
	if (world.remote && fuzz_byte(&world.rest) & 1) { /* a reply that the input has */
		struct opener_reply reply = { .error = (int8_t)fuzz_byte(&world.rest),
					      .mount_ns = fuzz_byte(&world.rest) };

		(void)fdmessage_send(world.sockets[1], &reply, sizeof(reply) - (fuzz_byte(&world.rest) & 1), -1);
	}
	path = next_path();
	fd = open_as((enum opener_kind)kind, kind < OPENER_INSIDE ? 0 : getpid(), path);
	check_descriptor(fd);
	if (opener.socket >= 0)
		close(opener.socket);
	close(opener.control);
	opener.control = opener.socket = -1;
}

int fuzz_one(const uint8_t *data, size_t n)
{
	int before = enter_folder();
	unsigned descriptors = fuzz_descriptors();
	uint8_t how;

	world.rest = (struct str){ (const char *)data, n };
	memset(opener.place, 0, sizeof(opener.place));
	opener.where_pid = 0;
	opener.waits = 0;
	how = fuzz_byte(&world.rest);
	for (unsigned i = 0; i < 6 && world.rest.n; i++) {
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, world.sockets) < 0)
			abort();
		if (how >> i & 1) {
			query_as_pjfold();
		} else {
			raw_request();
			run_helper_now();
			replies_of();
		}
		close(world.sockets[0]);
		close(world.sockets[1]);
	}
	MUST(fuzz_descriptors() == descriptors);
	if (fchdir(before) < 0 || close(before) < 0)
		abort();
	return 0;
}
