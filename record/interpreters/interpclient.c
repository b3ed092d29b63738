/* SPDX-License-Identifier: Apache-2.0 */
#include "record/interpreters/interpclient.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "common/process/fdmessage.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* CPU time in ns of the recorder itself that is charged for a request, or for each copy in the request */
#define REQUEST_NS 10000
/* Bursts of budgets, in ns of CPU time: CPU_AHEAD for INTERPCLIENT_CPU_NS, WAITS_AHEAD for INTERPCLIENT_WAITS_NS. */
#define CPU_AHEAD (UINT64_C(10) * INTERPCLIENT_CPU_NS)
#define WAITS_AHEAD (UINT64_C(10) * INTERPCLIENT_WAITS_NS)
/* Minimum time in ns between a start that failed and the next one. A start may take CFISTARTER_WAIT_MS ms, and the main
 * thread may have to wait until it ends (cfistarter.h). */
#define RETRY_NS SECOND_NS

/* The sample that a copy belongs to. */
struct interpclient_copied {
	uint64_t process; /* number of the process in this recording (interpclient_process.number) */
	uint32_t pid, tid;
	/* time of the sample, root of the copy, and time after the copy's last read, as in struct framelist */
	uint64_t time, root, read_by;
};

struct interpclient {
	struct interpstarter starter;
	/* memory shared with the helper, and its descriptor; NULL and -1 before the first request, or without memory */
	struct interp_shared *shared;
	int memory;
	struct backoff backoff;
	/* tenants: budgets for all copies; waits: budgets for copies of threads off the CPU alone */
	struct tenants *tenants, *waits;
	bool off_cpu; /* true if the copies of the next request, or of the last one sent, are of threads off the CPU */
	uint64_t own_ns;  /* inode of the recorder's mount namespace */
	pid_t pid;        /* pid of the helper process; 0: none runs */
	uint64_t restart; /* time in ns before which no helper is started, because the last start failed */
	bool requested;   /* true: a helper was started, or its start was tried */
	int socket;
	clockid_t clock;
	uint64_t helper, cpu, serial;
	struct interp_request request;
	struct interp_reply reply;
	/* Copies of the interpreters' frames in the next request or, until its reply is taken, in the request sent.
	 * copied: process of the newest copy; all are of one tenant. copy[0..ncopies): thread and time of each. nbytes:
	 * bytes of shared memory that the next request's copies use so far; 0 after the request was sent. */
	struct interpclient_process copied;
	struct interpclient_copied copy[INTERP_COPIES];
	uint32_t ncopies, nbytes;
	_Atomic uint64_t hung, crashed, avoided, lingering, off;
};

/* ---- start and end of the helper process ------------------------------------------------------------------------ */

/* Replaces the memory that is shared with the helper by new memory. Its size is sealed: a helper that shrinks it would
 * end the recorder with SIGBUS. On failure, keeps the present memory: with RLIMIT_FSIZE below its size, 1.9 MB,
 * ftruncate fails, and no function of an interpreter is read. */
static void interpclient_renew_memory(struct interpclient *client)
{
	int fd = memfd_create("pjrecord-interp", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *shared = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, sizeof(*client->shared)) == 0 &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		shared = mmap(NULL, sizeof(*client->shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (shared == MAP_FAILED) {
		if (fd >= 0)
			close(fd);
		return;
	}
	if (client->shared) {
		munmap(client->shared, sizeof(*client->shared));
		close(client->memory);
	}
	client->shared = shared;
	client->memory = fd;
}

static void interpclient_start(struct interpclient *client)
{
	int pair[2];

	client->requested = true;
	if (clock_now() < client->restart)
		return;
	if (!client->shared)
		interpclient_renew_memory(client);
	if (!client->shared || !backoff_may_start(&client->backoff, clock_now()) ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return;
	client->pid = client->starter.start(client->starter.owner, pair[1], client->memory);
	close(pair[1]);
	if (!client->pid || clock_getcpuclockid(client->pid, &client->clock) != 0) {
		close(pair[0]);
		client->pid = 0;
		client->restart = clock_now() + RETRY_NS;
		return;
	}
	client->socket = pair[0];
	client->helper++;
	client->cpu = 0;
}

static void interpclient_publish(struct interpclient *client)
{
	struct helper_counts counts = backoff_counts(&client->backoff, client->requested && !client->pid);

	client->hung = counts.hung;
	client->crashed = counts.crashed;
	client->avoided = counts.avoided;
	client->lingering = counts.lingering;
	client->off = counts.off;
}

static uint64_t interpclient_place(const struct interpclient *client, const struct interpclient_process *process)
{
	return backoff_place(&process->tenant, client->own_ns, 0);
}

/* Kills the helper, which hung or crashed at a request for this process. Replaces the shared memory, to which a killed
 * helper that has not ended yet may still write, and starts another helper. If no new memory is available, starts
 * none. */
static void interpclient_fail(struct interpclient *client, const struct interpclient_process *process, bool hung)
{
	int memory = client->memory;

	close(client->socket);
	backoff_failed(&client->backoff, client->pid, interpclient_place(client, process), hung, clock_now());
	client->pid = 0;
	interpclient_renew_memory(client);
	if (client->memory != memory)
		interpclient_start(client);
	interpclient_publish(client);
}

/* ---- requests and replies --------------------------------------------------------------------------------------- */

/* Charges the helper's CPU time since the last charge, and REQUEST_NS of the recorder, to a tenant. */
static void interpclient_charge(struct interpclient *client, struct tenant tenant)
{
	struct timespec spec;
	uint64_t cpu = client->cpu, own = REQUEST_NS * (client->ncopies ? client->ncopies : 1);

	if (clock_gettime(client->clock, &spec) == 0)
		cpu = (uint64_t)spec.tv_sec * SECOND_NS + (uint64_t)spec.tv_nsec;
	tenants_charge(client->tenants, tenant, TENANT_CPU_NS, cpu - client->cpu + own, clock_now());
	if (client->off_cpu)
		tenants_charge(client->waits, tenant, TENANT_CPU_NS, cpu - client->cpu + own, clock_now());
	client->cpu = cpu;
}

/* Waits for the reply. Returns false if no reply came in time (then *hung is true), or if the helper crashed (then
 * *hung is false). */
static bool interpclient_receive(struct interpclient *client, bool *hung)
{
	uint64_t until = clock_now() + INTERPCLIENT_HANG_NS, now;
	ssize_t got;

	for (;;) {
		struct pollfd polled = { .fd = client->socket, .events = POLLIN };

		got = recv(client->socket, &client->reply, sizeof(client->reply), MSG_DONTWAIT);
		if (got == (ssize_t)sizeof(client->reply) && client->reply.serial == client->serial)
			return true;
		now = clock_now();
		*hung = got < 0 && (errno == EAGAIN || errno == EINTR);
		if (!*hung || now >= until)
			return false;
		poll(&polled, 1, (int)((until - now) / 1000000) + 1);
	}
}

/* Kills and replaces the helper, which sent no reply to the request for this process. */
static enum interpclient_answer interpclient_lose(struct interpclient *client,
						  const struct interpclient_process *process, bool hung)
{
	interpclient_charge(client, process->tenant);
	interpclient_fail(client, process, hung);
	return INTERPCLIENT_LOST;
}

static enum interpclient_answer interpclient_send(struct interpclient *client,
						  const struct interpclient_process *process,
						  enum interp_question question, const int *fd)
{
	if (!client->pid) {
		interpclient_start(client);
		interpclient_publish(client);
	}
	if (backoff_avoids(&client->backoff, interpclient_place(client, process), clock_now()) ||
	    !tenants_may(client->tenants, process->tenant, TENANT_CPU_NS, clock_now()) ||
	    (client->off_cpu && !tenants_may(client->waits, process->tenant, TENANT_CPU_NS, clock_now()))) {
		interpclient_publish(client);
		return INTERPCLIENT_OVER;
	}
	if (!client->pid)
		return INTERPCLIENT_LOST;
	client->request = (struct interp_request){ .serial = ++client->serial,
						   .question = question,
						   .slot = process->slot,
						   .ncopies = question == INTERP_FRAMES ? client->ncopies : 0,
						   .process = process->number };
	if (!fdmessage_send_soon(client->socket, &client->request, sizeof(client->request), fd, fd ? INTERP_FDS : 0))
		return interpclient_lose(client, process, false);
	return INTERPCLIENT_DONE;
}

/* Waits for the reply to the last request and stores it in client->reply. Returns INTERPCLIENT_LOST if the helper
 * failed, or if the request was INTERP_THREADS and its process is not open; otherwise INTERPCLIENT_DONE. */
static enum interpclient_answer interpclient_take(struct interpclient *client,
						  const struct interpclient_process *process)
{
	bool hung = false;

	if (!interpclient_receive(client, &hung))
		return interpclient_lose(client, process, hung);
	interpclient_charge(client, process->tenant);
	return client->reply.lost && client->request.question == INTERP_THREADS ? INTERPCLIENT_LOST : INTERPCLIENT_DONE;
}

static enum interpclient_answer interpclient_query(struct interpclient *client,
						   const struct interpclient_process *process,
						   enum interp_question question, const int *fd)
{
	enum interpclient_answer answer;

	client->off_cpu = false;
	answer = interpclient_send(client, process, question, fd);
	return answer == INTERPCLIENT_DONE ? interpclient_take(client, process) : answer;
}

/* Copies the threads of the reply from shared memory to a new array. */
static void interpclient_take_threads(struct interpclient *client, struct interpreter_thread **thread, size_t *n)
{
	*n = client->reply.n <= INTERPRETER_THREADS_MAX ? client->reply.n : 0;
	*thread = mem_try_alloc(sizeof(**thread), *n ? *n : 1);
	if (!*thread)
		*n = 0;
	else if (*n)
		memcpy(*thread, client->shared->thread, *n * sizeof(**thread));
}

enum interpclient_answer interpclient_open(struct interpclient *client, const struct interpclient_process *process,
					   const int fd[INTERP_FDS], struct interpclient_opened *opened,
					   struct interpreter_thread **thread, size_t *n)
{
	const struct interp_reply *reply = &client->reply;
	enum interpclient_answer answer = interpclient_query(client, process, INTERP_OPEN, fd);

	*opened = (struct interpclient_opened){ .answer = INTERPRETER_OTHER };
	*thread = NULL;
	*n = 0;
	if (answer != INTERPCLIENT_DONE)
		return answer;
	opened->answer = reply->answer <= INTERPRETER_REFUSED ? reply->answer : INTERPRETER_REFUSED;
	opened->language = reply->language;
	opened->nevals = reply->nevals <= INTERPRETER_EVALS_MAX ? reply->nevals : 0;
	memcpy(opened->eval, reply->eval, sizeof(opened->eval));
	opened->plan = reply->plan;
	for (size_t i = 0; i + 1 < sizeof(opened->why) && reply->why[i]; i++)
		opened->why[i] = reply->why[i] >= 0x20 && reply->why[i] < 0x7f ? reply->why[i] : '?';
	if (opened->answer == INTERPRETER_OPEN)
		interpclient_take_threads(client, thread, n);
	return answer;
}

enum interpclient_answer interpclient_threads(struct interpclient *client, const struct interpclient_process *process,
					      struct interpreter_thread **thread, size_t *n)
{
	enum interpclient_answer answer = interpclient_query(client, process, INTERP_THREADS, NULL);

	*thread = NULL;
	*n = 0;
	if (answer == INTERPCLIENT_DONE)
		interpclient_take_threads(client, thread, n);
	return answer;
}

/* Validates a frame from the helper: removes its name if its text is outside of the list's text, or if its address is
 * not a user-space address; corrects invalid values of its other members. */
static void interpclient_check_frame(const struct framelist *list, struct interp_frame *frame)
{
	if (frame->address > INT64_MAX || frame->text > list->bytes || frame->bytes > list->bytes - frame->text)
		frame->bytes = 0;
	if (frame->named > INTERPRETER_UNNAMED || (frame->named == INTERPRETER_NAMED && !frame->bytes))
		frame->named = INTERPRETER_UNNAMED;
	if (frame->tier >= INTERPRETER_TIERS)
		frame->tier = INTERPRETER_BYTECODE;
	frame->entry &= 1;
	frame->first &= 1;
}

/* Swaps the first copy of the request with the last one, which has index `last`. */
static void interpclient_put_first(struct interpclient *client, uint32_t last)
{
	struct interpclient_copied copied = client->copy[0];
	struct interp_copy of_copy;

	client->copy[0] = client->copy[last];
	client->copy[last] = copied;
	if (!client->shared)
		return;
	of_copy = client->shared->of_copy[0];
	client->shared->of_copy[0] = client->shared->of_copy[last];
	client->shared->of_copy[last] = of_copy;
}

bool interpclient_add_copy(struct interpclient *client, const struct interpclient_process *process,
			   const struct threadcopy *copy, bool urgent)
{
	uint32_t at = client->nbytes, n = (uint32_t)offsetof(struct threadcopy, bytes) + copy->nbytes;

	if (client->ncopies == INTERP_COPIES || n > sizeof(client->shared->copy) - at ||
	    (client->ncopies &&
	     (!tenant_same(client->copied.tenant, process->tenant) || client->off_cpu != (copy->off_cpu != 0))))
		return false;
	client->copied = *process;
	client->off_cpu = copy->off_cpu;
	client->copy[client->ncopies] = (struct interpclient_copied){ process->number,
								      copy->pid,
								      copy->tid,
								      copy->time,
								      copy->off_cpu ? copy->root : 0,
								      copy->off_cpu ? copy->read_by : 0 };
	if (client->shared) {
		memcpy(client->shared->copy + at, copy, n);
		client->shared->of_copy[client->ncopies] = (struct interp_copy){ .slot = process->slot, .offset = at };
	}
	if (urgent)
		interpclient_put_first(client, client->ncopies);
	client->ncopies++;
	client->nbytes = (at + n + 7) & ~7u;
	if (client->nbytes > sizeof(client->shared->copy))
		client->nbytes = sizeof(client->shared->copy);
	return true;
}

enum interpclient_answer interpclient_send_copies(struct interpclient *client)
{
	enum interpclient_answer answer = interpclient_send(client, &client->copied, INTERP_FRAMES, NULL);

	client->nbytes = 0;
	if (answer != INTERPCLIENT_DONE)
		client->ncopies = 0;
	return answer;
}

/* Returns a list of the frames of a copy: of_copy->n frames of the helper's reply from index `first` on. Returns NULL
 * if memory is not available. */
static struct framelist *interpclient_list(const struct interpclient *client, const struct interpclient_copied *copied,
					   const struct interp_copy *of_copy, uint32_t first)
{
	struct framelist *list = framelist_new(of_copy->n, of_copy->bytes);

	if (!list)
		return NULL;
	list->pid = copied->pid;
	list->tid = copied->tid;
	list->time = copied->time;
	list->root = copied->root;
	list->read_by = copied->read_by;
	list->named_by = of_copy->named_by;
	list->end = of_copy->end;
	list->stack_low = of_copy->stack_low;
	list->stack_high = of_copy->stack_high;
	memcpy(list->frame, client->shared->frame + first, of_copy->n * sizeof(*list->frame));
	if (list->bytes)
		memcpy(list->text, client->shared->text + of_copy->text, list->bytes);
	for (uint32_t i = 0; i < of_copy->n; i++)
		interpclient_check_frame(list, &list->frame[i]);
	return list;
}

size_t interpclient_take_frames(struct interpclient *client, struct interpclient_frames frames[INTERP_COPIES])
{
	const struct interp_reply *reply = &client->reply;
	enum interpclient_answer answer = interpclient_take(client, &client->copied);
	uint32_t n = client->ncopies, first = 0, left = reply->bytes;
	bool valid = answer == INTERPCLIENT_DONE && reply->n <= INTERP_FRAMES_MAX && reply->bytes <= INTERP_TEXT_MAX;

	client->ncopies = 0;
	for (uint32_t i = 0; i < n; i++) {
		/* a local copy, as the helper may change the shared memory while the fields are checked */
		struct interp_copy of_copy = valid ? client->shared->of_copy[i] : (struct interp_copy){ .lost = 1 };

		frames[i] = (struct interpclient_frames){ .process = client->copy[i].process,
							  .lost = of_copy.lost,
							  .known = of_copy.n > 0 && of_copy.unknown == 0,
							  .reuses = of_copy.reuses != 0,
							  .off_cpu = client->off_cpu };
		valid = valid && of_copy.n <= reply->n - first && of_copy.n <= INTERPRETER_FRAMES_MAX &&
			of_copy.end <= INTERPRETER_LATE && of_copy.text <= reply->bytes &&
			of_copy.bytes <= reply->bytes - of_copy.text && of_copy.bytes <= left;
		if (!valid)
			frames[i].lost = true;
		if (frames[i].lost)
			continue;
		frames[i].list = interpclient_list(client, &client->copy[i], &of_copy, first);
		first += of_copy.n;
		left -= of_copy.bytes;
	}
	return n;
}

void interpclient_spend(struct interpclient *client, const struct interpclient_process *process, uint64_t ns)
{
	tenants_charge(client->tenants, process->tenant, TENANT_CPU_NS, ns, clock_now());
}

void interpclient_close(struct interpclient *client, const struct interpclient_process *process)
{
	client->request =
		(struct interp_request){ .question = INTERP_CLOSE, .slot = process->slot, .process = process->number };
	if (client->pid)
		fdmessage_send_soon(client->socket, &client->request, sizeof(client->request), NULL, 0);
}

/* ---- creation and release --------------------------------------------------------------------------------------- */

uint64_t interpclient_helper(const struct interpclient *client)
{
	return client->pid ? client->helper : 0;
}

struct helper_counts interpclient_count(const struct interpclient *client)
{
	return (struct helper_counts){ .hung = client->hung,
				       .crashed = client->crashed,
				       .avoided = client->avoided,
				       .lingering = client->lingering,
				       .off = client->off };
}

struct interpclient *interpclient_new(const struct interpstarter *starter)
{
	struct tenant_limits limits = { .flow[TENANT_CPU_NS] = { INTERPCLIENT_CPU_NS, CPU_AHEAD } },
			     waits = { .flow[TENANT_CPU_NS] = { INTERPCLIENT_WAITS_NS, WAITS_AHEAD } };
	struct interpclient *client = mem_alloc(sizeof(*client), 1);
	struct stat own;

	client->starter = *starter;
	client->memory = -1;
	client->own_ns = stat("/proc/self/ns/mnt", &own) == 0 ? own.st_ino : 0;
	client->tenants = tenants_new(&limits);
	client->waits = tenants_new(&waits);
	return client;
}

void interpclient_free(struct interpclient *client)
{
	if (!client)
		return;
	if (client->pid) {
		close(client->socket);
		backoff_abandon(&client->backoff, client->pid, 0);
	}
	if (client->shared) {
		munmap(client->shared, sizeof(*client->shared));
		close(client->memory);
	}
	tenants_free(client->tenants);
	tenants_free(client->waits);
	free(client);
}
