/* broker: requests of a filter that was taken over, to the process that opens its files with capabilities. Any bytes
 * are answered, or end it. What comes back is a regular file or a directory to read, of /proc only what holds no
 * memory; or what the user named; or a new file. Of what lies in the folders of outputs only finished outputs change,
 * in that of the cache only its own files; no temporary file stays, no descriptor. Input: options, then for each
 * request a byte that chooses (an operation, or a function of the filter, which sends the request itself), one that
 * chooses a path (or how many bytes of the input are one), flags, damage. Files lie in a folder of the run. */
/* covers: common/filter/broker.c common/filter/brokerserver.c */
/* least: 85, as the rest is the start of the process (test/common/filter/broker_test.c) */
#include "common/filter/broker.h"

#include "common/process/capabilities.h"
#include "common/process/childend.h"
#include "common/diag.h"
#include "common/process/fdmessage.h"
#include "common/files/targetfile.h"
#include "common/process/sandbox.h"
#include "common/files/fullio.h"

#include "test/fuzz/fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { INPUT_ERRORS_LONG = 1, INPUT_ERRORS_SHORT, INPUT_ERRORS_NO_END, INPUT_ERRORS_TWO };

static struct {
	struct str rest;
	int broker; /* its end of the socket */
	int cache, file, pipe[2];
} world = { .broker = -1 };

/* The broker is this process: it answers when the filter waits for a reply. */
static ssize_t fake_take(int socket, void *p, size_t size, int *fd);

static int fake_socketpair(int domain, int type, int protocol, int pair[2])
{
	int failed = socketpair(domain, type, protocol, pair);

	world.broker = failed ? -1 : fcntl(pair[1], F_DUPFD_CLOEXEC, 3);
	return failed;
}

static int fake_poll(struct pollfd *polled, nfds_t n, int ms);

#define fdmessage_take fake_take
#define poll fake_poll
#define socketpair fake_socketpair
#define fork() 1
#define childend_watch(child) (-1)
#include "common/filter/broker.c"
#include "common/filter/brokerserver.c"
#undef childend_watch
#undef fork
#undef socketpair
#undef poll
#undef fdmessage_take

static ssize_t fake_take(int socket, void *p, size_t size, int *fd)
{
	if (socket == client.socket && !answer_next(world.broker))
		shutdown(world.broker, SHUT_RDWR);
	return fdmessage_take(socket, p, size, fd);
}

static int fake_poll(struct pollfd *polled, nfds_t n, int ms)
{
	(void)ms;
	(void)answer_next(world.broker);
	return poll(polled, n, 0);
}

/* ---- the folder of the run -------------------------------------------------------------------------------------- */

static const char *const fixed[] = { "fifo", "link", "own", "file", "cache", "other" };

static bool is_fixed(const char *name)
{
	for (size_t i = 0; i < countof(fixed); i++)
		if (strcmp(fixed[i], name) == 0)
			return true;
	return false;
}

/* Removes what the run made; no temporary file is in it. */
static void empty(int folder)
{
	DIR *dir = fdopendir(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	const struct dirent *e;

	while (dir && (e = readdir(dir))) {
		if (e->d_name[0] != '.' && folder == fuzz_folder() && is_fixed(e->d_name))
			continue;
		MUST(!str_ends(str_of(e->d_name), STR(".tmp")));
		unlinkat(folder, e->d_name, 0);
	}
	closedir(dir);
}

static void remove_files(void)
{
	unlinkat(world.cache, "pipe", 0);
	for (size_t i = 0; i < countof(fixed); i++)
		unlinkat(fuzz_folder(), fixed[i], strcmp(fixed[i], "cache") == 0 ? AT_REMOVEDIR : 0);
}

static void make_files(void)
{
	static bool made;

	if (made)
		return;
	made = true;
	if (mkfifo("fifo", 0600) < 0 || mkfifo("own", 0600) < 0 || symlink("file", "link") < 0 ||
	    symlink("/dev/null", "other") < 0 || mkdir("cache", 0700) < 0)
		abort();
	world.cache = open("cache", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	world.file = open("fifo", O_RDWR | O_CLOEXEC); /* so that nothing waits for the other end */
	if (world.cache < 0 || world.file < 0 || open("own", O_RDWR | O_CLOEXEC) < 0 ||
	    pipe2(world.pipe, O_CLOEXEC) < 0)
		abort();
	atexit(remove_files);
}

/* As before each run. Returns the directory before. */
static int enter_folder(void)
{
	int before = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (before < 0 || fchdir(fuzz_folder()) < 0)
		abort();
	make_files();
	fuzz_put("file", STR("some bytes"));
	if (mkfifoat(world.cache, "pipe", 0600) < 0 && errno != EEXIST)
		abort();
	return before;
}

static const char *const paths[] = { "file",
				     "link",
				     "fifo",
				     "own",
				     ".",
				     "cache",
				     "none/file",
				     "",
				     "out",
				     "other",
				     "/proc/self/mem",
				     "/proc/1/environ",
				     "/proc/self/stat",
				     "/proc/self/fd",
				     "/proc/self/fd/0",
				     "/proc/kallsyms",
				     "/dev/null",
				     "/dev/zero",
				     "pipe",
				     "..",
				     "kallsyms-1",
				     "kallsyms-2",
				     "/dev/fd/2" };
/* Three of them are opened before the fork. */
static const char *const named_inputs[] = { "fifo", "/proc/self/limits", "/dev/null", NULL };
static const char *const named_outputs[] = { "own", "out", "/dev/fd/2", NULL };

/* A path of the table, or of the input, without a way out of the folder. */
static struct str next_path(void)
{
	unsigned which = fuzz_byte(&world.rest);
	struct str path;

	if (which < 2 * countof(paths))
		return str_of(paths[which / 2]);
	path = fuzz_bytes(&world.rest, which);
	if ((path.n && path.p[0] == '/') || str_find_str(path, STR("..")) >= 0 || str_find_str(path, STR(".tmp")) >= 0)
		return STR("file");
	return path;
}

/* ---- laws ------------------------------------------------------------------------------------------------------- */

static bool is_listed(const char *const *list, const char *path)
{
	while (*list && strcmp(*list, path) != 0)
		list++;
	return *list;
}

/* Only `own` and the file that /dev/fd/2 is are outputs that exist as they are; `fifo` is none. */
static void check_output(int fd, const struct stat *st, const char *path)
{
	struct stat own;

	MUST((fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY);
	MUST(S_ISREG(st->st_mode) ||
	     (is_listed(named_outputs, path) && stat(path, &own) == 0 && own.st_ino == st->st_ino));
}

static void check_to_read(int fd, const struct stat *st, bool input, const char *path)
{
	static const char *const harmless[] = { "/kallsyms", "/stat", "/status", "/boot_id" };
	char link[48], target[4097];
	ssize_t n;
	bool good = false;

	MUST((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY);
	if (input && is_listed(named_inputs, path))
		return;
	MUST(S_ISREG(st->st_mode) || (!input && S_ISDIR(st->st_mode)));
	if (!S_ISREG(st->st_mode) || !targetfile_is_proc(fd))
		return;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = 0;
	for (size_t i = 0; i < countof(harmless); i++)
		good = good || str_ends(str_of(target), str_of(harmless[i]));
	MUST(good);
}

/* What an operation returned. Closes it. */
static void check_descriptor(int fd, unsigned operation, const char *path)
{
	struct stat st;

	if (fd < 0)
		return;
	MUST(fstat(fd, &st) == 0);
	switch (operation) {
	case BROKER_OPEN:
	case BROKER_INPUT: check_to_read(fd, &st, operation == BROKER_INPUT, path); break;
	case BROKER_OUTPUT: check_output(fd, &st, path); break;
	case BROKER_CACHE_CREATE: MUST(S_ISREG(st.st_mode) && !(st.st_mode & 077)); break;
	case BROKER_CACHE_OPEN:
		MUST((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY);
		MUST(S_ISREG(st.st_mode) && !(st.st_mode & 077));
		break;
	case BROKER_NAMES:
	case BROKER_MEMORY:
	case BROKER_SPOOL: MUST(S_ISREG(st.st_mode) && st.st_nlink == 0); break;
	default: MUST(fd < 0); /* the others have none */
	}
	close(fd);
}

/* ---- a filter that was taken over ------------------------------------------------------------------------------- */

/* Sends a message, as it is or damaged, with a descriptor or two. */
static void send_damaged(struct broker_request *request, size_t n, unsigned how)
{
	static char large[sizeof(*request) + 8];
	unsigned given = how >> 4 & 7;
	const int with[] = { -1, fuzz_folder(), world.cache, world.pipe[0], world.file, client.socket, -1, -1 };
	int both[2] = { world.cache, world.cache };

	switch (how & 7) {
	case INPUT_ERRORS_SHORT: n = fuzz_byte(&world.rest) % (n + 1); break;
	case INPUT_ERRORS_NO_END: request->path[n - offsetof(struct broker_request, path) - 1] = 'x'; break;
	case INPUT_ERRORS_LONG:
		memcpy(large, request, n);
		(void)fdmessage_send(client.socket, large, sizeof(large), with[given]);
		return;
	case INPUT_ERRORS_TWO: (void)fdmessage_send_all(client.socket, request, n, both, 2); return;
	}
	(void)fdmessage_send(client.socket, request, n, with[given]);
}

/* One request. The broker answers, or ends. */
static void raw_request(void)
{
	static struct broker_request q;
	static struct broker_reply reply;
	struct str path;
	ssize_t n;
	int fd;

	memset(&q, 0, sizeof(q));
	q.operation = fuzz_byte(&world.rest) % (BROKER_CACHE_COMMIT + 2);
	q.flags = fuzz_byte(&world.rest) * UINT32_C(0x10801);
	path = next_path();
	memcpy(q.path, path.p, path.n);
	send_damaged(&q, offsetof(struct broker_request, path) + path.n + 1, fuzz_byte(&world.rest));
	q.path[path.n] = 0;
	n = fake_take(client.socket, &reply, sizeof(reply), &fd);
	if (n <= 0)
		return;
	MUST(n > (ssize_t)offsetof(struct broker_reply, why.text) && !((char *)&reply)[n - 1]);
	MUST(!reply.error || fd < 0);
	check_descriptor(fd, q.operation, q.path);
}

/* ---- the filter itself ------------------------------------------------------------------------------------------ */

static void check_names(int folder, bool links)
{
	struct text t = { 0 };
	size_t zeros = 0;

	if (links ? broker_links(folder, &t) : broker_names(folder, &t)) {
		for (size_t i = 0; i < t.n; i++)
			zeros += !t.p[i];
		MUST(!t.n || !t.p[t.n - 1]);
		MUST(!links || zeros % 2 == 0);
	}
	text_free(&t);
}

/* An output has the bytes that were written to it, under its name, or there is none. */
static void write_output(const char *path, unsigned how)
{
	struct outfile_failure why;
	bool temporary;
	int fd = broker_output(path, &temporary, &why);
	struct stat st, at;

	MUST(fd >= 0 || why.text[0]);
	if (fd < 0)
		return;
	MUST(fstat(fd, &st) == 0);
	check_output(fd, &st, path);
	close(fd);
	if (temporary && how % 3 == 0) {
		MUST(!broker_output_commit(path, &why) || (stat(path, &at) == 0 && at.st_ino == st.st_ino));
	} else if (temporary && how % 3 == 1) {
		broker_output_discard();
		MUST(stat(path, &at) < 0 || at.st_ino != st.st_ino);
	} else if (temporary) {
		broker_output_abandon();
		client.unfinished = 0;
		client.broken = true; /* the filter ends */
	}
}

static void cache_file(const char *name, unsigned how)
{
	int fd = broker_cache_create();

	check_descriptor(fd, BROKER_CACHE_CREATE, "");
	if (how & 1)
		broker_cache_commit(name, how >> 1 & 15);
	check_descriptor(broker_cache_open(name), BROKER_CACHE_OPEN, name);
}

static void query_as_filter(void)
{
	unsigned what = fuzz_byte(&world.rest), how = fuzz_byte(&world.rest);
	char path[BROKER_PATH_MAX + 2] = "";
	struct str bytes = next_path();
	struct text t = { 0 };
	int folder = how & 1 ? world.cache : AT_FDCWD;

	memcpy(path, bytes.p, bytes.n);
	if (how == 0xff)
		memset(path, 'x', sizeof(path) - 1); /* too long for a request */
	switch (what % 8) {
	case 0:
		check_descriptor(broker_open(folder, path,
					     how & 2 ? O_DIRECTORY :
					     how & 4 ? O_NOFOLLOW :
						       0),
				 is_listed(named_inputs, path) ? BROKER_INPUT : BROKER_OPEN, path);
		break;
	case 1: check_descriptor(broker_input(path), BROKER_INPUT, path); break;
	case 2: check_names(how & 2 ? fuzz_folder() : folder, how & 4); break;
	case 3: MUST(!broker_path(how & 2 ? fuzz_folder() : folder, &t) || !t.p[t.n - 1]); break;
	case 4: check_descriptor(broker_spool(path), BROKER_SPOOL, path); break;
	case 5: check_descriptor(broker_memory(), BROKER_MEMORY, path); break;
	case 6: write_output(path, how); break;
	default: cache_file(path, how); break;
	}
	text_free(&t);
}

static void start(void)
{
	client.socket = -1;
	client.broken = false;
	client.npriors = 0;
	client.unfinished = 0;
	MUST(broker_start(&(struct broker){ .input = named_inputs, .output = named_outputs }) && broker_runs());
	server.is_broker = true;
	broker_cache(fcntl(world.cache, F_DUPFD_CLOEXEC, 3));
}

/* The filter ends, and the broker after it. */
static void stop(void)
{
	shutdown(client.socket, SHUT_RDWR);
	answer_all(world.broker);
	for (size_t i = 0; i < client.npriors; i++)
		if (client.prior[i].fd >= 0)
			close(client.prior[i].fd);
	close(client.socket);
	close(world.broker);
	broker_cache(-1);
	client.socket = -1;
}

int fuzz_one(const uint8_t *data, size_t n)
{
	int before = enter_folder();
	unsigned descriptors = fuzz_descriptors(), how;
	struct stat st;

	world.rest = (struct str){ (const char *)data, n };
	how = fuzz_byte(&world.rest);
	start();
	for (unsigned i = 0; i < 12 && world.rest.n && !client.broken; i++)
		if (how >> i % 8 & 1)
			query_as_filter();
		else
			raw_request();
	stop();
	empty(world.cache);
	empty(fuzz_folder());
	MUST(stat("own", &st) == 0 && S_ISFIFO(st.st_mode) && stat("fifo", &st) == 0 && S_ISFIFO(st.st_mode) &&
	     lstat("other", &st) == 0);
	MUST(fuzz_descriptors() == descriptors);
	if (fchdir(before) < 0 || close(before) < 0)
		abort();
	return 0;
}
