/* tables: replies of the processes that make tables for unwinding, which a file may have taken over, and the images
 * that come with them: files of any kind, sealed or not, or several. A table is for the file that was asked for, or
 * there is none; no descriptor is left open; the recorder goes on. Input: what is done (DO_*), and what the helpers
 * answer (HELPER_*). They are a socket, and time is what the input makes of it. */
/* covers: record/unwind/cfitables.c record/unwind/cfihelpers.c */
#include "common/process/fdmessage.h"
#include "common/process/backoff.h"
#include "record/unwind/cfimaker.h"
#include "record/unwind/cfistarter.h"
#include "record/unwind/cfitables.h"

#include "common/clocks.h"
#include "test/fuzz/fuzz.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

enum { DO_FIND, DO_ANSWER, DO_WAIT, DO_TICK, DO_END, DO_COUNT };
enum { IMAGE_NONE, IMAGE_SEALED, IMAGE_OPEN, IMAGE_TWO, IMAGE_PIPE, IMAGE_SHORT, IMAGE_KINDS };
enum { FILES = 40, PROCESSES = 3, PAIRS = 4, IMAGE_MAX = 4096 };

static struct {
	struct str rest;
	int pair[PAIRS]; /* the helpers' ends of their sockets, of several tenants; -1: none */
	unsigned pairs;  /* that were started */
	int helper;      /* that one which acts */
	uint64_t now;
	bool stays; /* killed helpers do not end */
} world;

static uint32_t next_u16(void)
{
	uint32_t low = fuzz_byte(&world.rest);

	return low | (uint32_t)fuzz_byte(&world.rest) << 8;
}

static void fake_open(struct cfistarter *cfistarter, const char *proc)
{
	*cfistarter = (struct cfistarter){ .proc = proc, .socket = -1 };
}

/* The helpers of the tenant that was served first give way: their end is closed. */
static bool fake_begin(struct cfistarter *cfistarter, int *socket, pid_t *opener, pid_t *parser)
{
	int pair[2];

	(void)cfistarter;
	MUST(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	if (world.pair[world.pairs % PAIRS] >= 0)
		close(world.pair[world.pairs % PAIRS]);
	world.pair[world.pairs++ % PAIRS] = pair[1];
	*socket = pair[0];
	*opener = *parser = getpid();
	return true;
}

static pid_t fake_wait(pid_t pid)
{
	return world.stays ? 0 : pid;
}

#define cfistarter_begin fake_begin
#define cfistarter_begin_interphelper(s, socket, memory) ((void)(s), (void)(socket), (void)(memory), 0)
#define cfistarter_close(s) ((void)(s))
#define cfistarter_open fake_open
#define kill(pid, signal) ((void)(pid))
#define nanosleep(t, left) ((void)(t))
#define waitpid(pid, status, flags) fake_wait(pid)
#include "common/process/backoff.c"
#include "record/unwind/cfihelpers.c"
#include "record/unwind/cfitables.c"

static int image_of(unsigned kind, struct str bytes)
{
	int fd = memfd_create("image", MFD_CLOEXEC | MFD_ALLOW_SEALING), pair[2];

	if (kind == IMAGE_PIPE) {
		close(fd);
		MUST(pipe2(pair, O_CLOEXEC) == 0);
		close(pair[1]);
		return pair[0];
	}
	MUST(fd >= 0 && (!bytes.n || write(fd, bytes.p, bytes.n) == (ssize_t)bytes.n));
	if (kind != IMAGE_OPEN)
		MUST(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0);
	return fd;
}

/* Two descriptors, where one is expected. */
static void send_two(const void *p, size_t n, int fd)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(2 * sizeof(int))];
	} control = {
		.head = { .cmsg_len = CMSG_LEN(2 * sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS }
	};
	struct iovec part = { (void *)(uintptr_t)p, n };
	struct msghdr m = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};

	memcpy(CMSG_DATA(&control.head), (int[]){ fd, fd }, 2 * sizeof(int));
	(void)sendmsg(world.helper, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* A request is read, and answered: by its number or another one. */
static void helper_answers(void)
{
	struct cfimaker_request request = { 0 };
	struct cfimaker_reply reply;
	unsigned kind = fuzz_byte(&world.rest) % IMAGE_KINDS;
	struct str bytes;
	size_t n;
	int fd;

	if (recv(world.helper, &request, sizeof(request), MSG_DONTWAIT) <= 0)
		request.number = 0;
	reply = (struct cfimaker_reply){ .number = request.number + (fuzz_byte(&world.rest) & 1 ? next_u16() : 0),
					 .answer = fuzz_byte(&world.rest) % 5 };
	reply.cpu_us = next_u16() << 8;
	n = next_u16() % IMAGE_MAX;
	bytes = str_head(world.rest, n < world.rest.n ? n : world.rest.n);
	world.rest = str_from(world.rest, bytes.n);
	fd = image_of(kind, bytes);
	if (kind == IMAGE_TWO)
		send_two(&reply, sizeof(reply), fd);
	else
		(void)fdmessage_send(world.helper, &reply, sizeof(reply) - (kind == IMAGE_SHORT),
				     kind == IMAGE_NONE ? -1 : fd);
	close(fd);
}

static void find(struct cfitables *tables)
{
	unsigned which = fuzz_byte(&world.rest) % FILES;
	struct mapped_file file = { .file_id.major = 8, .file_id.inode = which + 1, .path = STR("/usr/lib/libx.so") };
	if (which == FILES - 1)
		file = (struct mapped_file){ .path = STR("[vdso]") };
	if (which == FILES - 2)
		file = (struct mapped_file){ .path = STR("//anon") };
	MUST(cfitables_fd(tables) >= -1);
	struct mapping m = { .start = 0x400000, .length = 0x100000, .file = &file };
	struct process p = { .pid = UINT32_MAX - which % PROCESSES, .mount_ns = which % PROCESSES, .start_ticks = 7 };
	struct unwind_code code = { 0 };
	struct unwind_state s;
	uint64_t regs[3] = { 0x1000, 0x1000, m.start + next_u16() };
	char stack[64] = { 1 };

	if (cfitables_find(tables, &p, &m, regs[2], world.now, &code) != CFITABLES_READY)
		return;
	MUST(code.table);
	if (unwind_start(&s, 0x1c0, regs, 2, (struct str){ stack, sizeof(stack) }))
		for (unsigned steps = 0; steps < 100 && unwind_step(&s, code, steps == 0) == UNWIND_MORE; steps++)
			;
}

static void do_one(struct cfitables *tables)
{
	unsigned byte = fuzz_byte(&world.rest);

	world.helper = world.pair[byte / DO_COUNT % PAIRS];
	switch (byte % DO_COUNT) {
	case DO_FIND: find(tables); break;
	case DO_ANSWER:
		helper_answers();
		cfitables_take(tables, world.now);
		break;
	case DO_WAIT:
		world.now += (uint64_t)fuzz_byte(&world.rest) << 26;
		cfitables_take(tables, world.now);
		break;
	case DO_TICK:
		world.now += (uint64_t)fuzz_byte(&world.rest) << 30;
		cfitables_tick(tables, world.now);
		break;
	default:
		shutdown(world.helper, SHUT_RDWR);
		cfitables_take(tables, world.now);
		break;
	}
}

int fuzz_one(const uint8_t *data, size_t n)
{
	struct cfitables_options o = { .proc = "/proc" };
	struct cfitables_counts c;
	struct budgets *b;
	struct cfitables *t;
	unsigned descriptors = fuzz_descriptors();
	uint8_t options;

	world.rest = (struct str){ (const char *)data, n };
	memset(world.pair, -1, sizeof(world.pair));
	world.pairs = 0;
	world.now = SECOND_NS;
	options = fuzz_byte(&world.rest);
	world.stays = options & 1;
	o.max_bytes = options & 2 ? (options & 4 ? 64 : 8192) : 0; /* one table, some, the default */
	t = cfitables_start(&o);
	b = options & 8 ? budgets_new((struct budgets_limits){ 0 }) : NULL;
	cfitables_budgets(t, b);
	while (world.rest.n) {
		do_one(t);
		c = cfitables_count(t);
		MUST(c.tables <= FILES * PROCESSES && c.helpers.lingering <= BACKOFF_LINGERING_TENANTS);
	}
	cfitables_stop(t);
	budgets_free(b);
	for (unsigned i = 0; i < PAIRS; i++)
		if (world.pair[i] >= 0)
			close(world.pair[i]);
	MUST(fuzz_descriptors() == descriptors);
	return 0;
}
