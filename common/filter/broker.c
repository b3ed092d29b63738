/* SPDX-License-Identifier: Apache-2.0 */
#include "common/filter/broker.h"

#include "common/process/capabilities.h"
#include "common/process/childend.h"
#include "common/diag.h"
#include "common/process/fdmessage.h"
#include "common/files/targetfile.h"
#include "common/process/sandbox.h"
#include "common/files/fullio.h"
#include "common/syscalls.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, PRIOR_MAX = 64, ABANDON_MS = 1000 };

/* Capabilities that the broker keeps if its user has them: for reading any file, /proc/kallsyms and files of other
 * processes in /proc, for writing where the user may, and for sending any number of descriptors (fdmessage_prepare). */
#define CAPABILITIES                                                                                               \
	(CAPABILITY_BIT(CAP_DAC_READ_SEARCH) | CAPABILITY_BIT(CAP_DAC_OVERRIDE) | CAPABILITY_BIT(CAP_SYS_PTRACE) | \
	 CAPABILITY_BIT(CAP_SYSLOG) | CAPABILITY_BIT(CAP_SYS_RESOURCE))

enum operation {
	OPEN,
	INPUT,
	NAMES,
	PATH,
	SPOOL,
	MEMORY,
	OUTPUT,
	COMMIT,
	DISCARD,
	CACHE_OPEN,
	CACHE_CREATE,
	CACHE_COMMIT
};

struct request {
	uint32_t operation, flags;
	char path[PATH_BYTES + 1]; /* path, ended by a NUL; the bytes after the NUL are not sent */
};

struct reply {
	int32_t error; /* errno of the failed request; 0 on success */
	bool temporary;
	/* Reason why the output cannot be written. In the reply to PATH, why.text is the requested path. Bytes after
	 * the NUL of why.text are not sent. */
	struct outfile_failure why;
};

/* State of the process that opens files: the broker, or the calling process if there is no broker. */
static struct {
	struct broker setup;
	struct outfile output;
	int cache; /* descriptor of the cache folder; -1: no cache */
	char cached[TEMPFILE_NAME];
	/* second descriptor of the temporary file whose name is `cached`; it keeps that file locked; -1: none */
	int cached_hold;
	bool is_broker;
} server = { .cache = -1, .cached_hold = -1, .output = { .fd = -1, .place = { .folder = -1, .fd = -1 } } };

/* State of the filter, the process that sends requests. */
static struct {
	pthread_mutex_t lock;
	int socket; /* socket to the broker; -1: there is no broker */
	int pidfd;  /* pidfd of the broker; -1: none */
	bool broken;
	struct prior {
		const char *path;
		int fd; /* descriptor of the open file; -1: broker_input or broker_output has returned it */
		bool output;
		/* files that the filter opened itself, before it gave up its rights: files in /dev and /proc, and all
		 * inputs if there is no broker */
	} prior[PRIOR_MAX];
	size_t npriors;
	volatile sig_atomic_t unfinished; /* true if the open output is a temporary file without its final name */
} client = { .lock = PTHREAD_MUTEX_INITIALIZER, .socket = -1, .pidfd = -1 };

/* ---- execution of requests --------------------------------------------------------------------------------------- */

/* Returns true if the broker may pass fd to the filter: all files outside of procfs, but of procfs only kernel symbols,
 * the boot id, and stat and status of processes. The reason: an attacker who controls the filter could otherwise read
 * the memory of processes. */
static bool broker_may_be_read(int fd)
{
	static const char *const names[] = { "kallsyms", "boot_id", "stat", "status" };
	char link[48], path[PATH_BYTES];
	const char *name;
	ssize_t got;

	if (fd < 0 || !targetfile_is_proc(fd))
		return true;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	got = readlink(link, path, sizeof(path) - 1);
	path[got > 0 ? got : 0] = 0;
	name = strrchr(path, '/');
	for (size_t i = 0; name && i < countof(names); i++)
		if (strcmp(name + 1, names[i]) == 0)
			return true;
	return false;
}

static int open_to_read(int folder, const char *path, int flags)
{
	int fd;

	if (flags & O_DIRECTORY)
		return openat(folder, path, O_RDONLY | O_CLOEXEC | (flags & (O_DIRECTORY | O_NOFOLLOW)));
	fd = openat(folder, path, O_PATH | O_CLOEXEC | (flags & O_NOFOLLOW));
	if (server.is_broker && !broker_may_be_read(fd)) {
		close(fd);
		errno = EACCES;
		return -1;
	}
	return targetfile_reopen(fd);
}

/* Returns true if path is in `named`, the list of paths that the user gave, or if this process is not the broker. */
static bool is_named(const char *const *named, const char *path)
{
	for (const char *const *p = named; server.is_broker && p && *p; p++)
		if (strcmp(*p, path) == 0)
			return true;
	return !server.is_broker;
}

static int open_input(const char *path)
{
	return is_named(server.setup.input, path) ? open(path, O_RDONLY | O_CLOEXEC) : open_to_read(AT_FDCWD, path, 0);
}

/* Calls f(with, name) for each name in a folder, except "." and "..". Returns false with errno if the folder cannot be
 * read. */
static bool each_name(int folder, void (*f)(void *with, const char *name), void *with)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while ((entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			f(with, entry->d_name);
	closedir(dir);
	return true;
}

struct listing {
	int folder;
	bool targets;
	struct text text;
};

static void broker_add_entry(void *with, const char *name)
{
	struct listing *l = with;
	char target[PATH_BYTES];
	ssize_t got = l->targets ? readlinkat(l->folder, name, target, sizeof(target)) : 0;

	text_add(&l->text, name);
	text_char(&l->text, 0);
	if (!l->targets)
		return;
	text_str(&l->text, (struct str){ target, got > 0 ? (size_t)got : 0 });
	text_char(&l->text, 0);
}

/* Returns a memfd with the names in a folder, in the form of broker_links if `targets` is true, else of broker_names;
 * -1 with errno on failure. */
static int names_of(int folder, bool targets)
{
	struct listing l = { .folder = folder, .targets = targets };
	int fd = memfd_create("pj-names", MFD_CLOEXEC);
	bool good = fd >= 0 && each_name(folder, broker_add_entry, &l) && fullio_write(fd, text_view(&l.text)) &&
		    lseek(fd, 0, SEEK_SET) == 0;
	int error = errno;

	text_free(&l.text);
	if (!good && fd >= 0)
		close(fd);
	errno = error;
	return good ? fd : -1;
}

static void broker_path_of(int fd, struct reply *reply)
{
	char link[48];
	ssize_t got;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	got = readlink(link, reply->why.text, PATH_BYTES);
	reply->error = got < 0 ? errno : got == PATH_BYTES ? ENAMETOOLONG : 0;
	reply->why.text[got > 0 && got < PATH_BYTES ? got : 0] = 0;
}

/* Opens an output. Refuses pipes and devices that the user did not name: with -o /dev/null the broker may write in the
 * folder /dev, so an attacker who controls the filter could otherwise write to a disk. */
static int broker_open_output(const char *path, struct reply *reply)
{
	int fd;

	outfile_discard(&server.output);
	fd = outfile_open(&server.output, path, is_named(server.setup.output, path), &reply->why);
	reply->temporary = fd >= 0 && server.output.temp[0];
	return fd;
}

struct sweep {
	const char *name;
	size_t prefix;
};

static void remove_other(void *with, const char *name)
{
	const struct sweep *sweep = with;

	if (strncmp(name, sweep->name, sweep->prefix) == 0 && strcmp(name, sweep->name) != 0)
		unlinkat(server.cache, name, 0);
}

static void end_cached(void)
{
	server.cached[0] = 0;
	if (server.cached_hold >= 0)
		close(server.cached_hold);
	server.cached_hold = -1;
}

static void discard_cached(void)
{
	if (server.cached[0])
		unlinkat(server.cache, server.cached, 0);
	end_cached();
}

static int create_cached(void)
{
	int fd;

	discard_cached();
	fd = tempfile_create(server.cache, 0600, server.cached);
	server.cached_hold = fd >= 0 ? tempfile_hold(fd) : -1;
	return fd;
}

static int commit_cached(const char *name, size_t prefix)
{
	struct sweep sweep = { name, prefix };

	if (!server.cached[0] || strchr(name, '/') || renameat(server.cache, server.cached, server.cache, name) < 0)
		return EINVAL;
	end_cached();
	if (prefix)
		each_name(server.cache, remove_other, &sweep);
	tempfile_sweep(server.cache);
	return 0;
}

static int broker_open_cached(const char *name)
{
	if (!strchr(name, '/'))
		return targetfile_reopen(openat(server.cache, name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
	errno = EINVAL;
	return -1;
}

/* Executes one request and fills *reply. Returns the descriptor of the result, or -1. `given` is the descriptor that
 * came with the request, or AT_FDCWD. */
static int broker_serve(const struct request *request, int given, struct reply *reply)
{
	int fd = -1;

	errno = 0;
	reply->why.text[0] = 0;
	switch ((enum operation)request->operation) {
	case OPEN: fd = open_to_read(given, request->path, (int)request->flags); break;
	case INPUT: fd = open_input(request->path); break;
	case NAMES: fd = names_of(given, request->flags); break;
	case PATH: broker_path_of(given, reply); return -1;
	case SPOOL: fd = open(request->path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600); break;
	case MEMORY: fd = memfd_create("pj-memory", MFD_CLOEXEC); break;
	case OUTPUT: fd = broker_open_output(request->path, reply); break;
	case COMMIT: reply->error = outfile_commit(&server.output, request->path, &reply->why) ? 0 : EIO; return -1;
	case DISCARD: outfile_discard(&server.output); break;
	case CACHE_OPEN: fd = broker_open_cached(request->path); break;
	case CACHE_CREATE: fd = create_cached(); break;
	case CACHE_COMMIT: reply->error = commit_cached(request->path, request->flags); return -1;
	}
	reply->error = fd >= 0 ? 0 : errno ? errno : EINVAL;
	return fd;
}

/* ---- main loop of the broker ------------------------------------------------------------------------------------- */

static bool broker_reply(int socket, const struct reply *reply, int fd)
{
	return fdmessage_put(socket, reply, offsetof(struct reply, why.text) + strlen(reply->why.text) + 1, fd);
}

static bool broker_answer(int socket, const struct request *request, int given)
{
	static struct reply reply;
	bool sent;
	int fd;

	reply = (struct reply){ 0 };
	fd = broker_serve(request, given >= 0 ? given : AT_FDCWD, &reply);
	sent = broker_reply(socket, &reply, fd);
	if (!sent && errno == ETOOMANYREFS) {
		reply.error = errno;
		sent = broker_reply(socket, &reply, -1);
	}
	if (fd >= 0)
		close(fd);
	return sent;
}

/* Receives and answers one request. Returns false if the filter has ended, the request is invalid, or the reply cannot
 * be sent. After false the broker must end: otherwise the filter would wait for the reply for ever. */
static bool answer_next(int socket)
{
	static struct request request;
	int given;
	ssize_t got = fdmessage_take(socket, &request, sizeof(request), &given);
	bool answered = got > (ssize_t)offsetof(struct request, path) &&
			!request.path[got - (ssize_t)offsetof(struct request, path) - 1] &&
			broker_answer(socket, &request, given);

	if (given >= 0)
		close(given);
	return answered;
}

static void broker_run(int socket)
{
	while (answer_next(socket))
		;
	outfile_discard(&server.output);
	discard_cached();
}

static void on_parent_death(int sig)
{
	(void)sig;
}

/* Ignores the signals that a terminal sends to the filter and the broker: the broker must end after the filter, because
 * it removes the temporary file. The kernel sends SIGUSR1 when the filter ends, which interrupts a blocked open(). */
static void set_signals(void)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };
	struct sigaction wake = { .sa_handler = on_parent_death };

	for (size_t i = 0; i < countof(ignored); i++)
		signal(ignored[i], SIG_IGN);
	sigaction(SIGUSR1, &wake, NULL);
	prctl(PR_SET_PDEATHSIG, SIGUSR1);
}

/* Closes all descriptors except the socket and the cache folder, which become 3 and 4; 0 to 2 become /dev/null. The
 * reason: the broker would otherwise hold the output pipe of the filter open, and the reader of the pipe would not see
 * its end. */
static void broker_keep_only(int socket, int null)
{
	int high = fcntl(socket, F_DUPFD_CLOEXEC, 10),
	    second = server.cache >= 0 ? fcntl(server.cache, F_DUPFD_CLOEXEC, 10) : -1;

	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	dup2(high, 3);
	if (second >= 0)
		server.cache = dup2(second, 4);
	else
		close(4);
	syscall(SYS_close_range, 5u, ~0u, 0u);
}

static NORETURN void be_broker(int socket)
{
	struct broker *broker = &server.setup;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	char name[16];

	server.is_broker = true;
	snprintf(name, sizeof(name), "%.9s-files", diag_tool_name());
	prctl(PR_SET_NAME, name);
	set_signals();
	if (!broker->unprivileged)
		capabilities_limit(CAPABILITIES);
	sandbox_enter(&(struct sandbox){
		.groups = SANDBOX_OPENER, .writable = broker->writable, .keep_capabilities = !broker->unprivileged });
	broker_keep_only(socket, null);
	broker_run(3);
	_exit(0);
}

/* ---- files opened before the fork -------------------------------------------------------------------------------- */

static void note_prior(const char *path, int fd, bool output)
{
	if (fd >= 0)
		client.prior[client.npriors++] = (struct prior){ path, fd, output };
}

/* Opens inputs below /dev and /proc, and outputs that are magic links, in the filter itself: in the broker, a path like
 * /dev/fd/N refers to another file. */
static void open_prior(const struct broker *broker)
{
	for (const char *const *p = broker->input; p && *p && client.npriors < PRIOR_MAX; p++)
		if (strncmp(*p, "/dev/", 5) == 0 || strncmp(*p, "/proc/", 6) == 0)
			note_prior(*p, open(*p, O_RDONLY | O_CLOEXEC), false);
	for (const char *const *p = broker->output; p && *p && client.npriors < PRIOR_MAX; p++) {
		struct outpath place;

		if (outpath_resolve(&place, *p) && place.magic)
			note_prior(*p, outpath_open(&place, O_WRONLY), true);
		outpath_close(&place);
	}
}

/* Opens a regular file for reading; returns -1 for any other file. Clears O_NONBLOCK, so that a read waits for data
 * that a file of tracefs or /proc has only later. */
static int open_regular(const char *path)
{
	int fd = targetfile_reopen(open(path, O_PATH | O_CLOEXEC));

	if (fd >= 0)
		fcntl(fd, F_SETFL, 0);
	return fd;
}

bool broker_open_inputs(const char *const *input)
{
	for (; *input; input++) {
		if (strcmp(*input, "-") == 0)
			continue;
		int fd = client.npriors < PRIOR_MAX ? open_regular(*input) : -1;
		if (fd < 0) {
			while (client.npriors)
				close(client.prior[--client.npriors].fd);
			return false;
		}
		note_prior(*input, fd, false);
	}
	return true;
}

static int take_prior(const char *path, bool output)
{
	for (size_t i = 0; i < client.npriors; i++)
		if (client.prior[i].fd >= 0 && client.prior[i].output == output &&
		    strcmp(client.prior[i].path, path) == 0) {
			int fd = client.prior[i].fd;

			client.prior[i].fd = -1;
			return fd;
		}
	return -1;
}

/* Closes the socket, so that the broker ends, and waits for its end. */
static void broker_end(void)
{
	client.broken = true;
	close(client.socket);
	childend_wait(client.pidfd);
	client.pidfd = -1;
}

bool broker_start(const struct broker *broker)
{
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return false;
	server.setup = *broker;
	fdmessage_prepare();
	childend_prepare();
	pid = fork();
	if (pid == 0) {
		close(pair[0]);
		be_broker(pair[1]);
	}
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		return false;
	}
	client.socket = pair[0];
	client.pidfd = childend_watch(pid);
	diag_at_end(broker_end);
	broker_cache(-1);
	open_prior(broker);
	return true;
}

/* ---- requests of the filter -------------------------------------------------------------------------------------- */

/* Fills *request; the meaning of flags depends on the operation. Returns the size of the message in bytes; 0 with errno
 * if the path is too long. */
static size_t broker_make(struct request *request, enum operation operation, const char *path, unsigned flags)
{
	size_t n = strlen(path);

	errno = ENAMETOOLONG;
	if (n > PATH_BYTES)
		return 0;
	request->operation = operation;
	request->flags = flags;
	memcpy(request->path, path, n + 1);
	return offsetof(struct request, path) + n + 1;
}

static int broker_exchange(const struct request *request, size_t size, int given, struct reply *reply)
{
	int fd = -1;
	ssize_t got;

	if (client.broken)
		return -1;
	if (!fdmessage_put(client.socket, request, size, given)) {
		reply->error = errno == ETOOMANYREFS ? errno : EPIPE;
		return -1;
	}
	got = fdmessage_take(client.socket, reply, sizeof(*reply), &fd);
	if (got <= (ssize_t)offsetof(struct reply, why.text)) {
		/* no further request is sent: the late reply to this one would be mistaken for the reply to the next
		 * one */
		client.broken = true;
		return -1;
	}
	errno = reply->error;
	return fd;
}

/* Sends a request to the broker and waits for the reply; without a broker, executes the request in this process. given:
 * descriptor to send with the request, or AT_FDCWD. Returns the descriptor of the result, or -1. errno and reply->error
 * are 0 if a request without a descriptor succeeded. */
static int broker_call(enum operation operation, int given, const char *path, unsigned flags, struct reply *reply)
{
	struct request request;
	size_t size = broker_make(&request, operation, path, flags);
	int fd = -1;

	reply->error = ENAMETOOLONG;
	if (size) {
		reply->error = EPIPE;
		pthread_mutex_lock(&client.lock);
		fd = client.socket >= 0 ? broker_exchange(&request, size, given, reply) :
					  broker_serve(&request, given, reply);
		pthread_mutex_unlock(&client.lock);
	}
	errno = reply->error;
	return fd;
}

static int call_simply(enum operation operation, int given, const char *path, unsigned flags)
{
	struct reply reply;

	return broker_call(operation, given, path, flags, &reply);
}

int broker_open(int folder, const char *path, int flags)
{
	int fd = folder == AT_FDCWD ? take_prior(path, false) : -1;

	return fd >= 0 ? fd : call_simply(OPEN, folder, path, (unsigned)flags);
}

int broker_input(const char *path)
{
	int fd = take_prior(path, false);

	return fd >= 0 ? fd : call_simply(INPUT, AT_FDCWD, path, 0);
}

static bool broker_list(int folder, bool targets, struct text *text)
{
	int fd = call_simply(NAMES, folder, "", targets);
	bool good = fd >= 0 && fullio_read(fd, text, SIZE_MAX / 2);

	if (fd >= 0)
		close(fd);
	return good;
}

bool broker_names(int folder, struct text *names)
{
	return broker_list(folder, false, names);
}

bool broker_links(int folder, struct text *links)
{
	return broker_list(folder, true, links);
}

bool broker_path(int fd, struct text *path)
{
	struct reply reply;

	broker_call(PATH, fd, "", 0, &reply);
	if (reply.error)
		return false;
	text_add(path, reply.why.text);
	text_char(path, 0);
	return true;
}

int broker_spool(const char *folder)
{
	return call_simply(SPOOL, AT_FDCWD, folder, 0);
}

int broker_memory(void)
{
	return call_simply(MEMORY, AT_FDCWD, "", 0);
}

/* Sets *why to the reason in the reply; if the reply has none, makes one from its errno. */
static void broker_explain(struct outfile_failure *why, const char *path, const struct reply *reply)
{
	*why = reply->why;
	if (why->text[0])
		return;
	why->error = reply->error;
	snprintf(why->text, sizeof(why->text), "cannot write '%.4000s'", path);
}

int broker_output(const char *path, bool *temporary, struct outfile_failure *why)
{
	struct reply reply;
	int fd = take_prior(path, true);

	*temporary = false;
	if (fd >= 0)
		return fd;
	reply.why.text[0] = 0;
	fd = broker_call(OUTPUT, AT_FDCWD, path, 0, &reply);
	if (fd < 0)
		broker_explain(why, path, &reply);
	*temporary = fd >= 0 && reply.temporary;
	client.unfinished = *temporary;
	return fd;
}

bool broker_output_commit(const char *path, struct outfile_failure *why)
{
	struct reply reply;

	reply.why = (struct outfile_failure){ 0 };
	broker_call(COMMIT, AT_FDCWD, path, 0, &reply);
	client.unfinished = 0;
	if (!reply.error)
		return true;
	broker_explain(why, path, &reply);
	return false;
}

void broker_output_discard(void)
{
	if (client.unfinished)
		call_simply(DISCARD, AT_FDCWD, "", 0);
	client.unfinished = 0;
}

void broker_output_abandon(void)
{
	struct request request;
	struct pollfd polled = { .fd = client.socket, .events = POLLIN };

	if (!client.unfinished)
		return;
	if (client.socket < 0) {
		outfile_unlink(&server.output);
		return;
	}
	if (fdmessage_put(client.socket, &request, broker_make(&request, DISCARD, "", 0), -1))
		/* waits at most ABANDON_MS for the reply: then the broker has removed the temporary file */
		poll(&polled, 1, ABANDON_MS);
}

void broker_cache(int folder)
{
	if (server.cache >= 0)
		close(server.cache);
	server.cache = folder;
}

bool broker_runs(void)
{
	return client.socket >= 0;
}

int broker_cache_open(const char *name)
{
	return call_simply(CACHE_OPEN, AT_FDCWD, name, 0);
}

int broker_cache_create(void)
{
	return call_simply(CACHE_CREATE, AT_FDCWD, "", 0);
}

bool broker_cache_commit(const char *name, size_t prefix)
{
	struct reply reply;

	broker_call(CACHE_COMMIT, AT_FDCWD, name, (unsigned)prefix, &reply);
	return !reply.error;
}
