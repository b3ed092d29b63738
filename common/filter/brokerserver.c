/* SPDX-License-Identifier: Apache-2.0 */
#include "common/filter/brokerserver.h"

#include "common/diag.h"
#include "common/files/fullio.h"
#include "common/files/targetfile.h"
#include "common/process/capabilities.h"
#include "common/process/fdmessage.h"
#include "common/process/sandbox.h"
#include "common/syscalls.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Capabilities that the broker keeps if its user has them: for reading any file, /proc/kallsyms and files of other
 * processes in /proc, for writing where the user may, and for sending any number of descriptors (fdmessage_prepare). */
#define CAPABILITIES                                                                                               \
	(CAPABILITY_BIT(CAP_DAC_READ_SEARCH) | CAPABILITY_BIT(CAP_DAC_OVERRIDE) | CAPABILITY_BIT(CAP_SYS_PTRACE) | \
	 CAPABILITY_BIT(CAP_SYSLOG) | CAPABILITY_BIT(CAP_SYS_RESOURCE))

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

/* ---- execution of requests --------------------------------------------------------------------------------------- */

/* Returns true if the broker may pass fd to the filter: all files outside of procfs, but of procfs only kernel symbols,
 * the boot id, and stat and status of processes. The reason: an attacker who controls the filter could otherwise read
 * the memory of processes. */
static bool broker_may_be_read(int fd)
{
	static const char *const names[] = { "kallsyms", "boot_id", "stat", "status" };
	char link[48], path[BROKER_PATH_MAX];
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
	char target[BROKER_PATH_MAX];
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

static void broker_path_of(int fd, struct broker_reply *reply)
{
	char link[48];
	ssize_t got;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	got = readlink(link, reply->why.text, BROKER_PATH_MAX);
	reply->error = got < 0 ? errno : got == BROKER_PATH_MAX ? ENAMETOOLONG : 0;
	reply->why.text[got > 0 && got < BROKER_PATH_MAX ? got : 0] = 0;
}

/* Opens an output. Refuses pipes and devices that the user did not name: with -o /dev/null the broker may write in the
 * folder /dev, so an attacker who controls the filter could otherwise write to a disk. */
static int broker_open_output(const char *path, struct broker_reply *reply)
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

int brokerserver_serve(const struct broker_request *request, int given, struct broker_reply *reply)
{
	int fd = -1;

	errno = 0;
	reply->why.text[0] = 0;
	switch ((enum broker_operation)request->operation) {
	case BROKER_OPEN: fd = open_to_read(given, request->path, (int)request->flags); break;
	case BROKER_INPUT: fd = open_input(request->path); break;
	case BROKER_NAMES: fd = names_of(given, request->flags); break;
	case BROKER_PATH: broker_path_of(given, reply); return -1;
	case BROKER_SPOOL: fd = open(request->path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600); break;
	case BROKER_MEMORY: fd = memfd_create("pj-memory", MFD_CLOEXEC); break;
	case BROKER_OUTPUT: fd = broker_open_output(request->path, reply); break;
	case BROKER_COMMIT:
		reply->error = outfile_commit(&server.output, request->path, &reply->why) ? 0 : EIO;
		return -1;
	case BROKER_DISCARD: outfile_discard(&server.output); break;
	case BROKER_CACHE_OPEN: fd = broker_open_cached(request->path); break;
	case BROKER_CACHE_CREATE: fd = create_cached(); break;
	case BROKER_CACHE_COMMIT: reply->error = commit_cached(request->path, request->flags); return -1;
	}
	reply->error = fd >= 0 ? 0 : errno ? errno : EINVAL;
	return fd;
}

/* ---- main loop of the broker ------------------------------------------------------------------------------------- */

static bool broker_reply(int socket, const struct broker_reply *reply, int fd)
{
	return fdmessage_put(socket, reply, offsetof(struct broker_reply, why.text) + strlen(reply->why.text) + 1, fd);
}

static bool broker_answer(int socket, const struct broker_request *request, int given)
{
	static struct broker_reply reply;
	bool sent;
	int fd;

	reply = (struct broker_reply){ 0 };
	fd = brokerserver_serve(request, given >= 0 ? given : AT_FDCWD, &reply);
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
	static struct broker_request request;
	int given;
	ssize_t got = fdmessage_take(socket, &request, sizeof(request), &given);
	bool answered = got > (ssize_t)offsetof(struct broker_request, path) &&
			!request.path[got - (ssize_t)offsetof(struct broker_request, path) - 1] &&
			broker_answer(socket, &request, given);

	if (given >= 0)
		close(given);
	return answered;
}

static void answer_all(int socket)
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
 * the broker then removes the incomplete output. When the filter ends, the kernel sends SIGUSR1 to the broker: this
 * interrupts a blocked open(). */
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

NORETURN void brokerserver_run(const struct broker *broker, int socket)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	char name[16];

	server.setup = *broker;
	server.is_broker = true;
	snprintf(name, sizeof(name), "%.9s-files", diag_tool_name());
	prctl(PR_SET_NAME, name);
	set_signals();
	if (!broker->unprivileged)
		capabilities_limit(CAPABILITIES);
	sandbox_enter(&(struct sandbox){
		.groups = SANDBOX_OPENER, .writable = broker->writable, .keep_capabilities = !broker->unprivileged });
	broker_keep_only(socket, null);
	answer_all(3);
	_exit(0);
}

void brokerserver_cache(int folder)
{
	if (server.cache >= 0)
		close(server.cache);
	server.cache = folder;
}

void brokerserver_abandon(void)
{
	outfile_unlink(&server.output);
}
