/* SPDX-License-Identifier: Apache-2.0 */
#include "tablemaker.h"

#include "clocks.h"
#include "foreign.h"
#include "inside.h"
#include "unwind.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define ROOTS_EVERY (2 * SECOND_NS)

/* ---- the file ------------------------------------------------------------------------------------------------ */

static struct foreign_mapping mapping_of(const struct tablemaker_request *r)
{
	return (struct foreign_mapping){ .start = r->address, .major = r->major, .minor = r->minor, .inode = r->inode,
					 .generation = r->generation, .path = { r->path, r->npath } };
}

/* Below the root of somebody who is gone: his namespace's, as long as it is held, or ours, when it is the same file there. */
static int open_without(struct foreign_roots *roots, const struct tablemaker_request *r, const struct foreign_mapping *m)
{
	int held = foreign_roots_find(roots, r->mount_ns, clock_now()), own, fd = -1;

	if (held >= 0)
		fd = foreign_open(held, -1, m);
	if (fd >= 0)
		return fd;
	own = inside_root(getpid());
	fd = own >= 0 ? foreign_open(own, -1, m) : -1;
	if (own >= 0)
		close(own);
	return fd;
}

static int open_mapped(struct foreign_roots *roots, const char *proc, const struct tablemaker_request *r)
{
	struct foreign_mapping m = mapping_of(r);
	int process = foreign_process(proc, r->pid, r->start_ticks), root = -1, fd = -1;

	if (process >= 0) {
		root = foreign_root(process);
		if (root >= 0)
			foreign_roots_hold(roots, r->mount_ns, root, process, clock_now());
		fd = foreign_open(root, process, &m);
	}
	if (fd < 0)
		fd = open_without(roots, r, &m);
	if (root >= 0)
		close(root);
	if (process >= 0)
		close(process);
	return fd;
}

/* ---- the image ----------------------------------------------------------------------------------------------- */

/* In memory that nobody can change or shrink any more, this process included. */
static int image_of(const struct unwind_table *t)
{
	int fd = memfd_create("pjrecord-table", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd >= 0 && unwind_table_save(t, fd) && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static enum tablemaker_answer make(struct foreign_roots *roots, const char *proc, const struct tablemaker_request *r, int *image)
{
	int fd = open_mapped(roots, proc, r);
	struct unwind_table *t;
	const char *why;

	if (fd < 0)
		return TABLEMAKER_GONE;
	t = unwind_table_open(fd, &why);
	if (!t)
		return why == unwind_table_too_large ? TABLEMAKER_LARGE : TABLEMAKER_NONE;
	*image = image_of(t);
	unwind_table_close(t);
	return *image >= 0 ? TABLEMAKER_MADE : TABLEMAKER_LARGE;
}

/* ---- the loop ------------------------------------------------------------------------------------------------ */

static bool answer(int socket, const struct tablemaker_reply *reply, int image)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .head = { .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS } };
	struct iovec io = { (void *)(uintptr_t)reply, sizeof(*reply) };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1 };

	if (image >= 0) {
		memcpy(CMSG_DATA(&control.head), &image, sizeof(image));
		m.msg_control = control.room;
		m.msg_controllen = sizeof(control.room);
	}
	return sendmsg(socket, &m, MSG_NOSIGNAL) == (ssize_t)sizeof(*reply);
}

void tablemaker_run(int socket, const char *proc)
{
	static struct tablemaker_request r;
	struct foreign_roots roots = { 0 };
	uint64_t looked = clock_now();
	ssize_t n;

	/* sections are read whole, and given back at once */
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
	while ((n = recv(socket, &r, sizeof(r), 0)) > 0 || (n < 0 && errno == EINTR)) {
		struct tablemaker_reply reply = { .number = r.number };
		int image = -1;
		bool told;

		if (n < (ssize_t)offsetof(struct tablemaker_request, path) || r.npath > sizeof(r.path) ||
		    (size_t)n < offsetof(struct tablemaker_request, path) + r.npath)
			continue;
		reply.answer = make(&roots, proc, &r, &image);
		told = answer(socket, &reply, image);
		if (image >= 0)
			close(image);
		if (!told)
			break;
		if (clock_now() - looked > ROOTS_EVERY) {
			foreign_roots_tick(&roots, clock_now());
			looked = clock_now();
		}
	}
	foreign_roots_free(&roots);
}
