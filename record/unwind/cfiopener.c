/* SPDX-License-Identifier: Apache-2.0 */
#include "record/unwind/cfimaker.h"

#include "common/clocks.h"
#include "common/files/fullio.h"
#include "common/process/fdmessage.h"
#include "common/process/taskid.h"
#include "record/symsaver/targetfiles.h"
#include "common/files/targetfile.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define ROOTS_EVERY (2 * SECOND_NS)

/* ---- opening of mapped files ------------------------------------------------------------------------------------ */

static struct target_mapping cfiopener_mapping_of(const struct cfimaker_request *request)
{
	return (struct target_mapping){ .start = request->address,
					.file_id = request->file_id,
					.path = { request->path, request->npath } };
}

/* Opens the mapped file of a request whose process has ended or did not give the file. Tries the mount namespace of the
 * process, if a descriptor of its root directory is held, then this process's own. targetfiles_open checks that the
 * file has the mapping's file id. Returns its descriptor, -1 on failure. */
static int open_without(struct targetfiles_roots *roots, const struct cfimaker_request *request,
			const struct target_mapping *mapping)
{
	int held = targetfiles_roots_find(roots, request->mount_ns, clock_now()), own, fd = -1;

	if (held >= 0)
		fd = targetfiles_open(held, -1, mapping, NULL);
	if (fd >= 0)
		return fd;
	own = targetfile_root(getpid());
	fd = own >= 0 ? targetfiles_open(own, -1, mapping, NULL) : -1;
	if (own >= 0)
		close(own);
	return fd;
}

static int cfiopener_open_mapped(struct targetfiles_roots *roots, const char *proc,
				 const struct cfimaker_request *request)
{
	struct target_mapping mapping = cfiopener_mapping_of(request);
	int process = target_process(proc, request->pid, request->start_ticks), root = -1, fd = -1;

	if (process >= 0) {
		root = targetfiles_root(process);
		if (root >= 0)
			targetfiles_roots_hold(roots, request->mount_ns, root, process, clock_now());
		fd = targetfiles_open(root, process, &mapping, NULL);
	}
	if (fd < 0)
		fd = open_without(roots, request, &mapping);
	if (root >= 0)
		close(root);
	if (process >= 0)
		close(process);
	return fd;
}

/* ---- copies of generated code ----------------------------------------------------------------------------------- */

/* Returns a descriptor of a copy of n bytes from virtual address `address` of the memory `fd` (/proc/PID/mem); -1 on
 * failure. */
static int copy_of_memory(int fd, uint64_t address, uint64_t n)
{
	static char code[CFIMAKER_CODE];
	int copy = memfd_create("pjrecord-code", MFD_CLOEXEC);

	if (copy < 0)
		return -1;
	if (fullio_pread(fd, code, n, address) == n && fullio_write(copy, (struct str){ code, n }))
		return copy;
	close(copy);
	return -1;
}

/* Returns a descriptor of a copy of the requested generated code. Returns -1 if the process has ended, runs another
 * program, or may not be read by its own user (taskid.h). */
static int cfiopener_copy_code(const char *proc, const struct cfimaker_request *request)
{
	int process = target_process(proc, request->pid, request->start_ticks), memory = -1, copy = -1;
	struct taskid_user user;
	struct taskid id;

	if (process < 0)
		return -1;
	if (taskid_read(process, &id) && taskid_open_memory(process, &id, &user, &memory) == TASKID_SAME) {
		copy = copy_of_memory(memory, request->address, request->code_bytes);
		close(memory);
	}
	close(process);
	return copy;
}

/* ---- main loop ----------------------------------------------------------------------------------------------------
 */

/* Makes the parser read `fd` (a file, or a copy of code) and write the table's image to `image`; receives *reply. If a
 * table was made, seals the image, so that no process can change or shrink it. The kernel refuses the seal while the
 * parser has a writable mapping of the image. Returns false if the parser has ended or the kernel refused the seal;
 * then the opener ends. */
static bool have_parsed(int parser, int fd, const struct cfimaker_request *request, struct cfimaker_reply *reply,
			int image)
{
	struct cfimaker_parse parse = { request->number, request->code_bytes != 0 };
	int none;

	if (!fdmessage_send_all(parser, &parse, sizeof(parse), (int[]){ fd, image }, 2) ||
	    fdmessage_receive(parser, reply, sizeof(*reply), &none, 0) <= 0)
		return false;
	if (none >= 0)
		close(none);
	return reply->answer != CFIMAKER_MADE ||
	       fcntl(image, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0;
}

static bool cfiopener_answer(int recorder, int parser, struct targetfiles_roots *roots, const char *proc,
			     const struct cfimaker_request *request)
{
	struct cfimaker_reply reply = { .number = request->number, .answer = CFIMAKER_GONE };
	int fd = request->code_bytes ? cfiopener_copy_code(proc, request) : cfiopener_open_mapped(roots, proc, request);
	int image = fd >= 0 ? memfd_create("pjrecord-table", MFD_CLOEXEC | MFD_ALLOW_SEALING) : -1;
	bool good = image < 0 || have_parsed(parser, fd, request, &reply, image);

	if (fd >= 0)
		close(fd);
	good = good && fdmessage_send(recorder, &reply, sizeof(reply), reply.answer == CFIMAKER_MADE ? image : -1);
	if (image >= 0)
		close(image);
	return good;
}

static bool cfiopener_is_complete(const struct cfimaker_request *request, size_t n)
{
	size_t head = offsetof(struct cfimaker_request, path);

	return n >= head && request->npath <= sizeof(request->path) && n >= head + request->npath &&
	       request->code_bytes <= CFIMAKER_CODE;
}

/* Waits for a request and returns its size in bytes; 0 if the recorder or the parser has ended. The parser sends
 * nothing between requests, so its socket becomes readable only when the parser ends. Then the opener ends, too, so
 * that the recorder counts even the crash of an idle parser. */
static size_t await_request(int recorder, int parser, struct cfimaker_request *request)
{
	struct pollfd ready[] = { { .fd = recorder, .events = POLLIN }, { .fd = parser, .events = POLLIN } };

	for (;;) {
		ssize_t got;

		if (poll(ready, countof(ready), -1) < 0 && errno != EINTR)
			return 0;
		if (ready[1].revents)
			return 0;
		got = recv(recorder, request, sizeof(*request), MSG_DONTWAIT);
		if (got >= 0 || (errno != EINTR && errno != EAGAIN))
			return got > 0 ? (size_t)got : 0;
	}
}

void cfiopener_run(int recorder, int parser, const char *proc)
{
	static struct cfimaker_request request;
	struct targetfiles_roots roots = { 0 };
	uint64_t polled = clock_now();
	size_t n;

	while ((n = await_request(recorder, parser, &request)) > 0) {
		if (!cfiopener_is_complete(&request, n))
			continue;
		if (!cfiopener_answer(recorder, parser, &roots, proc, &request))
			break;
		if (clock_now() - polled > ROOTS_EVERY) {
			targetfiles_roots_tick(&roots, clock_now());
			polled = clock_now();
		}
	}
	targetfiles_roots_free(&roots);
}
