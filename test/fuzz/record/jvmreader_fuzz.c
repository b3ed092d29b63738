/* jvmreader: replies of the process that reads JVMs, which a JVM may have taken over. Pieces that are found ascend,
 * names are of methods that were asked for, what is shown to people is text; whatever the helper sends or leaves out,
 * the recorder goes on. Input: a byte of options, then what is done (DO_*) and what the helper does with the request
 * (REPLY_*), each with two bytes of size where a reply follows; its bytes come after the serial. The helper is a
 * socket, and time is what the input makes of it. */
/* covers: record/java/jvmreader.c */
/* largest: 65536 */
#include "common/process/helperprocess.h"
#include "record/java/jvmreader.h"

#include "common/clocks.h"
#include "common/process/fdmessage.h"
#include "test/fuzz/fuzz.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

enum { DO_FIND, DO_CHECK, DO_BYTES, DO_NAMES, DO_REOPEN, DO_WAIT, DO_READY, DO_OTHER, DO_COUNT };
enum { REPLY_RIGHT, REPLY_WRONG_SERIAL, REPLY_NONE, REPLY_END, REPLY_REFUSE, REPLY_KINDS };
enum { REQUESTED = 3 * JVM_METHODS_MAX / 2, BLOBS = 600 };

static struct {
	struct str rest;
	int helper; /* its end of the socket */
	uint64_t now, cpu;
	bool stays; /* killed helpers do not end */
} world;

static struct str next_bytes(void)
{
	size_t n = fuzz_byte(&world.rest);

	n |= (size_t)fuzz_byte(&world.rest) << 8;
	return fuzz_bytes(&world.rest, n);
}

static int fake_socketpair(int domain, int type, int protocol, int pair[2])
{
	int made = socketpair(domain, type, protocol, pair);

	if (world.helper >= 0)
		close(world.helper);
	world.helper = made == 0 ? dup(pair[1]) : -1;
	return made;
}

/* The helper gets a request: it does what the input says. */
static bool fake_send(int socket, const void *p, size_t n, const int *fd, size_t fds)
{
	static struct jvm_reply reply;
	const struct jvm_request *q = p;
	unsigned how = fuzz_byte(&world.rest) % REPLY_KINDS;
	struct str bytes;

	(void)socket;
	(void)n;
	(void)fd;
	if (q->question == JVM_CLOSE)
		return true;
	if (how == REPLY_REFUSE) {
		/* Only a message with descriptors fails because too many are in flight. */
		errno = fds ? ETOOMANYREFS : EAGAIN;
		return false;
	}
	bytes = how == REPLY_END || how == REPLY_NONE ? (struct str){ 0 } : next_bytes();
	if (how == REPLY_END)
		shutdown(world.helper, SHUT_RDWR);
	if (how == REPLY_END || how == REPLY_NONE)
		return true;
	bytes.n = bytes.n < sizeof(reply) - sizeof(reply.serial) ? bytes.n : sizeof(reply) - sizeof(reply.serial);
	memset(&reply, 0, sizeof(reply));
	reply.serial = q->serial + (how == REPLY_WRONG_SERIAL);
	if (bytes.n)
		memcpy((char *)&reply + sizeof(reply.serial), bytes.p, bytes.n);
	if (bytes.n + sizeof(reply.serial) < JVM_REPLY_HEAD && how == REPLY_RIGHT)
		bytes.n = JVM_REPLY_HEAD - sizeof(reply.serial); /* a short one is sent with a wrong serial only */
	MUST(send(world.helper, &reply, sizeof(reply.serial) + bytes.n, MSG_DONTWAIT) > 0);
	return true;
}

static uint64_t fake_now(void)
{
	return world.now += 1000;
}

static int fake_gettime(clockid_t clock, struct timespec *spec)
{
	(void)clock;
	*spec = (struct timespec){ (time_t)(world.cpu / SECOND_NS), (long)(world.cpu % SECOND_NS) };
	return 0;
}

static int fake_cpuclock(pid_t pid, clockid_t *clock)
{
	(void)pid;
	*clock = CLOCK_MONOTONIC;
	return 0;
}

static pid_t fake_start(const struct helperprocess *helperprocess)
{
	(void)helperprocess;
	return getpid();
}

static pid_t fake_wait(pid_t pid)
{
	return world.stays ? 0 : pid;
}

static int fake_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *spec, const sigset_t *mask)
{
	(void)spec;
	(void)mask;
	return poll(fds, n, 0);
}

#define clock_now fake_now
#define clock_gettime fake_gettime
#define clock_getcpuclockid fake_cpuclock
#define helperprocess_start fake_start
#define kill(pid, signal) ((void)(pid))
#define nanosleep(t, left) ((void)(t))
#define ppoll fake_ppoll
#define fdmessage_send_soon fake_send
#define socketpair fake_socketpair
#define waitpid(pid, status, flags) fake_wait(pid)
#include "record/java/jvmreader.c"

static volatile unsigned char touched;

static void touch(struct str bytes)
{
	for (size_t i = 0; i < bytes.n; i++)
		touched = (unsigned char)bytes.p[i];
}

static void take_name(void *to, uint64_t method, struct str name)
{
	MUST(method >= 1000 && method < 1000 + REQUESTED);
	touch(name);
	++*(unsigned *)to;
}

static void do_find(struct jvmreader *jvmreader, struct jvmreader_jvm *jvm, enum jvmreader_answer *answer)
{
	struct jvmreader_found found;

	*answer = jvmreader_find(jvmreader, jvm, 0x7000, &found);
	if (*answer != JVMREADER_DONE)
		return;
	MUST(found.where <= CODECACHE_BLOB && (found.where == CODECACHE_BLOB) == (found.code.n > 0));
	for (size_t i = 0; i < found.code.n; i++) {
		const struct code_blob *p = &found.code.blob[i];

		MUST(p->start <= p->end && p->kind <= BLOB_THAW && (i == 0 || p[-1].end <= p->start));
	}
	if (found.bytes)
		touch((struct str){ found.bytes, JVMREADER_BYTES });
	touched = found.blob.compiled;
}

static void do_check(struct jvmreader *jvmreader, struct jvmreader_jvm *jvm, enum jvmreader_answer *answer)
{
	static struct blob b[BLOBS];
	size_t n = fuzz_byte(&world.rest) * 3u;

	n = n < BLOBS ? n : BLOBS;
	for (size_t i = 0; i < n; i++)
		b[i] = (struct blob){ .address = i + 1 };
	*answer = jvmreader_check(jvmreader, jvm, b, &n);
	for (size_t i = 1; *answer == JVMREADER_DONE && i < n; i++)
		MUST(b[i - 1].address < b[i].address);
}

static void do_names(struct jvmreader *jvmreader, struct jvmreader_jvm *jvm, enum jvmreader_answer *answer)
{
	uint64_t method[REQUESTED];
	unsigned names = 0;

	for (size_t i = 0; i < REQUESTED; i++)
		method[i] = 1000 + i;
	*answer = jvmreader_names(jvmreader, jvm, method, fuzz_byte(&world.rest) % REQUESTED + 1u, take_name, &names);
}

/* false: the JVM is lost, with a reason that people can read. */
static bool check_answer(const struct jvmreader_jvm *jvm, enum jvmreader_answer answer)
{
	struct hotspot_reason why = jvmreader_why(jvm);

	MUST((answer == JVMREADER_LOST) <= (why.code != NULL));
	MUST(strnlen(why.why, sizeof(why.why)) < sizeof(why.why));
	for (const char *p = why.why; why.code && *p; p++)
		MUST(*p >= 0x20 && *p < 0x7f);
	return answer != JVMREADER_LOST;
}

static bool do_one(struct jvmreader *jvmreader, struct jvmreader_jvm **jvm, struct tenant tenant)
{
	enum jvmreader_answer answer = JVMREADER_LATE;
	const char *bytes = NULL;

	jvmreader_deadline(jvmreader, 1 << 20);
	switch (fuzz_byte(&world.rest) % DO_COUNT) {
	case DO_FIND: do_find(jvmreader, *jvm, &answer); break;
	case DO_CHECK: do_check(jvmreader, *jvm, &answer); break;
	case DO_NAMES: do_names(jvmreader, *jvm, &answer); break;
	case DO_BYTES:
		answer = jvmreader_bytes(jvmreader, *jvm, 0x7000, &bytes);
		if (answer == JVMREADER_DONE && bytes)
			touch((struct str){ bytes, JVMREADER_BYTES });
		break;
	case DO_REOPEN:
		jvmreader_close(jvmreader, *jvm);
		*jvm = jvmreader_open(jvmreader, (uint32_t)getpid(), 0, tenant);
		break;
	case DO_WAIT:
		world.now += (uint64_t)fuzz_byte(&world.rest) << 25;
		world.cpu += (uint64_t)fuzz_byte(&world.rest) << 20;
		break;
	case DO_READY: (void)jvmreader_ready(jvmreader); break;
	default: /* a program that is not there, or another one by now */
		jvmreader_close(jvmreader, *jvm);
		*jvm = jvmreader_open(jvmreader, fuzz_byte(&world.rest) & 1 ? (uint32_t)getpid() : UINT32_MAX, 12345,
				      tenant);
		break;
	}
	return check_answer(*jvm, answer);
}

int fuzz_one(const uint8_t *data, size_t n)
{
	const struct tenant_limits limits = { .flow[TENANT_CPU_NS] = { .per_second = 50000000, .burst = 250000000 } };
	struct tenant of = { TENANT_USER, 1000 };
	struct tenants *tenants = NULL;
	struct jvmreader_jvm *jvm;
	struct jvmreader *r;
	unsigned descriptors = fuzz_descriptors();
	uint8_t options;

	world.rest = (struct str){ (const char *)data, n };
	world.now = SECOND_NS;
	world.cpu = 0;
	world.helper = -1;
	options = fuzz_byte(&world.rest);
	world.stays = options & 2;
	if (options & 1)
		tenants = tenants_new(&limits);
	r = jvmreader_new(tenants);
	jvm = jvmreader_open(r, (uint32_t)getpid(), 0, of);
	while (world.rest.n) {
		if (!do_one(r, &jvm, of)) {
			jvmreader_close(r, jvm);
			jvm = jvmreader_open(r, (uint32_t)getpid(), 0, of);
		}
		MUST(jvmreader_count(r).lingering <= LEFT_MAX);
	}
	jvmreader_close(r, jvm);
	jvmreader_free(r);
	tenants_free(tenants);
	if (world.helper >= 0)
		close(world.helper);
	MUST(fuzz_descriptors() == descriptors);
	return 0;
}
