/* SPDX-License-Identifier: Apache-2.0 */
#include "common/filter/broker.h"

#include "common/diag.h"
#include "common/filter/brokerserver.h"
#include "common/process/childend.h"
#include "common/process/fdmessage.h"
#include "common/files/targetfile.h"
#include "common/files/fullio.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PRIOR_MAX = 64, ABANDON_MS = 1000 };

/* State of the filter, the process that sends requests. */
static struct {
	pthread_mutex_t lock;
	int socket; /* socket to the broker; -1: there is no broker */
	int pidfd;  /* pidfd of the broker; -1: none */
	bool broken;
	/* files that the filter opened itself, before it gave up its rights: files in /dev and /proc, and all inputs if
	 * there is no broker */
	struct prior {
		const char *path;
		int fd; /* descriptor of the open file; -1: broker_input or broker_output has returned it */
		bool output;
	} prior[PRIOR_MAX];
	size_t npriors;
	volatile sig_atomic_t unfinished; /* true if the open output is a temporary file without its final name */
} client = { .lock = PTHREAD_MUTEX_INITIALIZER, .socket = -1, .pidfd = -1 };

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
	fdmessage_prepare();
	childend_prepare();
	pid = fork();
	if (pid == 0) {
		close(pair[0]);
		brokerserver_run(broker, pair[1]);
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
static size_t broker_make(struct broker_request *request, enum broker_operation operation, const char *path,
			  unsigned flags)
{
	size_t n = strlen(path);

	errno = ENAMETOOLONG;
	if (n > BROKER_PATH_MAX)
		return 0;
	request->operation = operation;
	request->flags = flags;
	memcpy(request->path, path, n + 1);
	return offsetof(struct broker_request, path) + n + 1;
}

static int broker_exchange(const struct broker_request *request, size_t size, int given, struct broker_reply *reply)
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
	if (got <= (ssize_t)offsetof(struct broker_reply, why.text)) {
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
static int broker_call(enum broker_operation operation, int given, const char *path, unsigned flags,
		       struct broker_reply *reply)
{
	struct broker_request request;
	size_t size = broker_make(&request, operation, path, flags);
	int fd = -1;

	reply->error = ENAMETOOLONG;
	if (size) {
		reply->error = EPIPE;
		pthread_mutex_lock(&client.lock);
		fd = client.socket >= 0 ? broker_exchange(&request, size, given, reply) :
					  brokerserver_serve(&request, given, reply);
		pthread_mutex_unlock(&client.lock);
	}
	errno = reply->error;
	return fd;
}

static int call_simply(enum broker_operation operation, int given, const char *path, unsigned flags)
{
	struct broker_reply reply;

	return broker_call(operation, given, path, flags, &reply);
}

int broker_open(int folder, const char *path, int flags)
{
	int fd = folder == AT_FDCWD ? take_prior(path, false) : -1;

	return fd >= 0 ? fd : call_simply(BROKER_OPEN, folder, path, (unsigned)flags);
}

int broker_input(const char *path)
{
	int fd = take_prior(path, false);

	return fd >= 0 ? fd : call_simply(BROKER_INPUT, AT_FDCWD, path, 0);
}

static bool broker_list(int folder, bool targets, struct text *text)
{
	int fd = call_simply(BROKER_NAMES, folder, "", targets);
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
	struct broker_reply reply;

	broker_call(BROKER_PATH, fd, "", 0, &reply);
	if (reply.error)
		return false;
	text_add(path, reply.why.text);
	text_char(path, 0);
	return true;
}

int broker_spool(const char *folder)
{
	return call_simply(BROKER_SPOOL, AT_FDCWD, folder, 0);
}

int broker_memory(void)
{
	return call_simply(BROKER_MEMORY, AT_FDCWD, "", 0);
}

/* Sets *why to the reason in the reply; if the reply has none, makes one from its errno. */
static void broker_explain(struct outfile_failure *why, const char *path, const struct broker_reply *reply)
{
	*why = reply->why;
	if (why->text[0])
		return;
	why->error = reply->error;
	snprintf(why->text, sizeof(why->text), "cannot write '%.4000s'", path);
}

int broker_output(const char *path, bool *temporary, struct outfile_failure *why)
{
	struct broker_reply reply;
	int fd = take_prior(path, true);

	*temporary = false;
	if (fd >= 0)
		return fd;
	reply.why.text[0] = 0;
	fd = broker_call(BROKER_OUTPUT, AT_FDCWD, path, 0, &reply);
	if (fd < 0)
		broker_explain(why, path, &reply);
	*temporary = fd >= 0 && reply.temporary;
	client.unfinished = *temporary;
	return fd;
}

bool broker_output_commit(const char *path, struct outfile_failure *why)
{
	struct broker_reply reply;

	reply.why = (struct outfile_failure){ 0 };
	broker_call(BROKER_COMMIT, AT_FDCWD, path, 0, &reply);
	client.unfinished = 0;
	if (!reply.error)
		return true;
	broker_explain(why, path, &reply);
	return false;
}

void broker_output_discard(void)
{
	if (client.unfinished)
		call_simply(BROKER_DISCARD, AT_FDCWD, "", 0);
	client.unfinished = 0;
}

void broker_output_abandon(void)
{
	struct broker_request request;
	struct pollfd polled = { .fd = client.socket, .events = POLLIN };

	if (!client.unfinished)
		return;
	if (client.socket < 0) {
		brokerserver_abandon();
		return;
	}
	if (fdmessage_put(client.socket, &request, broker_make(&request, BROKER_DISCARD, "", 0), -1))
		/* waits at most ABANDON_MS for the reply: then the broker has removed the temporary file */
		poll(&polled, 1, ABANDON_MS);
}

void broker_cache(int folder)
{
	brokerserver_cache(folder);
}

bool broker_runs(void)
{
	return client.socket >= 0;
}

int broker_cache_open(const char *name)
{
	return call_simply(BROKER_CACHE_OPEN, AT_FDCWD, name, 0);
}

int broker_cache_create(void)
{
	return call_simply(BROKER_CACHE_CREATE, AT_FDCWD, "", 0);
}

bool broker_cache_commit(const char *name, size_t prefix)
{
	struct broker_reply reply;

	broker_call(BROKER_CACHE_COMMIT, AT_FDCWD, name, (unsigned)prefix, &reply);
	return !reply.error;
}
