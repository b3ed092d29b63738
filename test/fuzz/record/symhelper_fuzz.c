/* symhelper: replies of the process that parses files of strangers, which a file may have taken over, and its ends,
 * silences and delays. A reply counts if it is of the question that waits; its numbers lie in their ranges; the keeper
 * waits for a limited time; a parser is asked for one tenant only; no descriptor stays open. Input: options, then what
 * the keeper does (DO_*), and what the parser answers (REPLY_*) at each look. The parser is a socket, and time is what
 * the input makes of it. */
/* covers: record/symsaver/symhelper.c common/process/backoff.c */
#include "record/symsaver/symhelper.h"

#include "common/process/helperprocess.h"
#include "common/clocks.h"
#include "common/process/fdmessage.h"
#include "record/symsaver/targetfiles.h"
#include "common/hash.h"
#include "common/process/urgency.h"

#include "test/fuzz/fuzz.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

enum { DO_ENTER, DO_ID, DO_REDUCE, DO_MEMORY, DO_RECORDS, DO_PASS, DO_LOOK, DO_BLOCKED, DO_COUNT };
enum {
	REPLY_GOOD,
	REPLY_ANY,
	REPLY_SERIAL,
	REPLY_SHORT,
	REPLY_LONG,
	REPLY_END,
	REPLY_WORKS,
	REPLY_SILENT,
	REPLY_COUNT
};
enum { TENANTS = 4, PLACES = 80, LOOK_MS = 100 };
#define LIMIT_NS (20 * SECOND_NS)

static struct {
	struct str rest;
	int parser; /* its end of the socket; -1: none */
	uint64_t now, started_for, requested;
	struct schedstat used;
	bool stays, runs, refuses; /* killed parsers do not end; /proc shows that it runs; none can be forked */
	unsigned questions;
	uint64_t serial; /* of the last question */
} world;

static uint64_t fake_now(void)
{
	return world.now;
}

static pid_t fake_start(const struct helperprocess *helperprocess)
{
	if (world.refuses)
		return 0;
	if (world.parser >= 0)
		close(world.parser);
	world.parser = fcntl(helperprocess->fd[0], F_DUPFD_CLOEXEC, 3);
	world.started_for = world.requested;
	return getpid();
}

static pid_t fake_wait(pid_t pid)
{
	return world.stays ? 0 : pid;
}

static int fake_schedstat_open(pid_t pid)
{
	return world.runs ? -1 : fcntl(world.parser, F_DUPFD_CLOEXEC, 3) + 0 * pid;
}

static bool fake_schedstat_read(int fd, struct schedstat *schedstat)
{
	if (fd < 0)
		return false;
	*schedstat = world.used;
	return true;
}

/* What the parser does until the next look. */
static ssize_t fake_recv(int socket, void *p, size_t size, int flags);

#define helperprocess_start fake_start
#define clock_now fake_now
#define targetfiles_runs(proc, pid) ((void)(proc), (void)(pid), world.runs)
#define kill(pid, signal) ((void)(pid))
#define nanosleep(t, left) ((void)(t))
#define recv fake_recv
#define schedstat_open fake_schedstat_open
#define schedstat_read fake_schedstat_read
#define waitpid(pid, status, flags) fake_wait(pid)
#include "common/process/backoff.c"
#include "record/symsaver/symhelper.c"
#undef recv

/* The parser takes the question: it is of its tenant, with the descriptors that belong to it. */
static void take_question(void)
{
	struct symparser_request q;
	int fd[FDMESSAGE_MAX];

	if (fdmessage_receive_all(world.parser, &q, sizeof(q), fd, MSG_DONTWAIT) != 1)
		return;
	MUST(world.started_for == world.requested);
	MUST(q.serial > world.serial || world.questions == 0);
	MUST(fd[SYMPARSER_IN] >= 0 &&
	     (fd[SYMPARSER_OUT] >= 0) == (q.question == SYMPARSER_REDUCE || q.question == SYMPARSER_MEMORY_IMAGE));
	world.serial = q.serial;
	world.questions++;
	for (size_t i = 0; i < FDMESSAGE_MAX; i++)
		if (fd[i] >= 0)
			close(fd[i]);
}

static void reply(unsigned how)
{
	static struct {
		struct symparser_reply r;
		char more[8];
	} m;
	struct str bytes = fuzz_bytes(&world.rest, how == REPLY_GOOD ? 1 : sizeof(m.r));
	size_t n = sizeof(m.r);

	memset(&m, 0, sizeof(m));
	if (how == REPLY_GOOD)
		m.r = (struct symparser_reply){ .answer = bytes.n ? (uint8_t)*bytes.p % 5 : 0,
						.build_id.n = 20,
						.records = bytes.n ? (uint8_t)*bytes.p / 5 % 4 : 0 };
	else
		memcpy(&m.r, bytes.p, bytes.n);
	m.r.serial = how == REPLY_SERIAL ? m.r.serial : world.serial;
	n = how == REPLY_SHORT ? bytes.n % sizeof(m.r) : how == REPLY_LONG ? sizeof(m) : n;
	(void)fdmessage_send_soon(world.parser, &m, n, &world.parser, how == REPLY_ANY);
}

static ssize_t fake_recv(int socket, void *p, size_t size, int flags)
{
	unsigned how = world.rest.n ? fuzz_byte(&world.rest) : REPLY_SILENT;
	ssize_t n;

	take_question();
	switch (how % REPLY_COUNT) {
	case REPLY_END: shutdown(world.parser, SHUT_RDWR); break;
	case REPLY_WORKS:
		world.used.ran += (uint64_t)(how / REPLY_COUNT) << 20;
		world.used.waited += how & 64;
		break;
	case REPLY_SILENT: break;
	default: reply(how % REPLY_COUNT); break;
	}
	n = recv(socket, p, size, flags | MSG_DONTWAIT);
	if (n < 0 && errno == EAGAIN)
		world.now += (uint64_t)LOOK_MS * 1000000;
	return n;
}

/* ---- the keeper ------------------------------------------------------------------------------------------------- */

static void check_failed(const struct symhelper *symhelper, enum symparser_answer answer,
			 const struct symparser_reply *r)
{
	static const struct symparser_reply none;

	MUST(answer <= SYMPARSER_OFF);
	MUST(r->build_id.n <= sizeof(r->build_id.byte));
	if (answer <= SYMPARSER_CANNOT_WRITE) {
		MUST(world.questions && r->serial == world.serial && symhelper->pid);
		return;
	}
	MUST(symhelper->failed == answer && memcmp(r, &none, sizeof(none)) == 0);
}

static void query_one(struct symhelper *symhelper, unsigned what)
{
	struct symparser_reply r = { 0 };
	uint64_t end = 0, before = world.now;
	struct jitcopy_span span = { .size = 1000, .max = 100, .record_max = 100 };
	int fd = fuzz_folder(), out = fd;

	world.requested = symhelper->tenant;
	switch (what) {
	case DO_ID: MUST(symhelper_build_id(symhelper, fd).n <= BUILD_ID_MAX); break;
	case DO_REDUCE: check_failed(symhelper, symhelper_reduce(symhelper, fd, out, 100, &r), &r); break;
	case DO_MEMORY: check_failed(symhelper, symhelper_reduce_memory(symhelper, fd, 4096, out, 100, &r), &r); break;
	default: MUST(symhelper_records(symhelper, fd, &span, &end) <= RECORDS_LATER); break;
	}
	MUST(world.now - before <= LIMIT_NS + 2 * (uint64_t)LOOK_MS * 1000000);
	MUST(!symhelper->pid == (symhelper->socket < 0));
}

static void do_one(struct symhelper *symhelper)
{
	unsigned byte = fuzz_byte(&world.rest);
	struct tenant of = { TENANT_USER, byte / DO_COUNT % TENANTS };
	uint64_t place = backoff_place(
		&(struct tenant){ TENANT_USER, byte / DO_COUNT % 3 ? of.key : fuzz_byte(&world.rest) % PLACES }, 1, 0);

	switch (byte % DO_COUNT) {
	case DO_ENTER: symhelper_enter(symhelper, &of, byte / DO_COUNT == 31 ? 0 : place); break;
	case DO_PASS: world.now += (uint64_t)(byte / DO_COUNT) << (30 + fuzz_byte(&world.rest) % 10); break;
	case DO_BLOCKED:
		backoff_blocked(&symhelper->backoff, place, (uint64_t)fuzz_byte(&world.rest) << 29, world.now);
		MUST(!backoff_rests(&symhelper->backoff, place, world.now + BACKOFF_SHARE * BACKOFF_BLOCKED_MAX_NS));
		break;
	case DO_LOOK: {
		uint64_t until = backoff_avoided_until(&symhelper->backoff, place, world.now);
		bool avoided = backoff_avoids(&symhelper->backoff, place, world.now);
		struct helper_counts c = backoff_counts(&symhelper->backoff, false),
				     since = helper_counts_since(&c, &c);

		MUST(!until || until > world.now);
		MUST(!avoided || until);
		MUST(backoff_places_avoided(&symhelper->backoff, world.now) <= BACKOFF_PLACES_MAX);
		MUST(c.lingering <= BACKOFF_LINGERING_MAX && !since.hung && !since.crashed && !since.avoided);
		world.stays = byte & 64;
		world.runs = byte & 128;
		break;
	}
	default: query_one(symhelper, byte % DO_COUNT); break;
	}
}

int fuzz_one(const uint8_t *data, size_t n)
{
	unsigned descriptors, options;
	struct symhelper h;

	fuzz_folder();
	descriptors = fuzz_descriptors();
	world.rest = (struct str){ (const char *)data, n };
	world.parser = -1;
	world.now = SECOND_NS;
	world.used = (struct schedstat){ 0 };
	world.questions = 0;
	world.serial = 0;
	options = fuzz_byte(&world.rest);
	world.stays = options & 1;
	world.runs = options & 2;
	world.refuses = options & 4;
	symhelper_init(&h, "/proc", NULL, LIMIT_NS);
	symhelper_enter(&h, &(struct tenant){ TENANT_USER, 1 }, 1);
	while (world.rest.n)
		do_one(&h);
	symhelper_free(&h);
	if (world.parser >= 0)
		close(world.parser);
	MUST(fuzz_descriptors() == descriptors);
	return 0;
}
