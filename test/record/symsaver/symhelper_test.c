/* symhelper_test - the process that parses files of strangers: its answers, its replacement for another tenant, parsers
 * that end, hang, spin, lie. */
/* covers: record/symsaver/symhelper.c record/symsaver/symparser.c record/symsaver/elfreducer.c */
/* covers: common/process/backoff.c common/process/helperprocess.c */
#include "record/symsaver/symhelper.h"

#include "common/process/fdmessage.h"
#include "record/symsaver/elfreducer.h"
#include "test/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const struct tenant first = { TENANT_USER, 1000 }, second = { TENANT_USER, 1001 };

static int empty_file(void)
{
	return memfd_create("out", MFD_CLOEXEC);
}

static bool same_bytes(int a, int b)
{
	static char block[2][1 << 16];
	struct stat sa, sb;
	off_t at = 0;

	if (fstat(a, &sa) < 0 || fstat(b, &sb) < 0 || sa.st_size != sb.st_size || !sa.st_size)
		return false;
	while (at < sa.st_size) {
		ssize_t n = pread(a, block[0], sizeof(block[0]), at);

		if (n <= 0 || pread(b, block[1], sizeof(block[1]), at) != n ||
		    memcmp(block[0], block[1], (size_t)n) != 0)
			return false;
		at += n;
	}
	return true;
}

/* ---- the real one ---------------------------------------------------------------------------------------------- */

static void answers(void)
{
	int self = open("/proc/self/exe", O_RDONLY), text = open("/proc/self/comm", O_RDONLY), out = empty_file(),
	    direct = empty_file();
	struct symparser_reply r;
	struct reduced want;
	struct symhelper h;
	struct build_id id;

	symhelper_init(&h, "/proc", symparser_run, 10 * UINT64_C(1000000000));
	symhelper_enter(&h, &first, 7);
	ok(!elfreducer_write(self, direct, 1 << 30, &want) && want.names, "this program, reduced here");
	ok(symhelper_reduce(&h, self, out, 1 << 30, &r) == SYMPARSER_DONE && r.names, "and by the parser");
	ok(same_bytes(out, direct), "  has the same bytes");
	ok(build_id_equal(&r.build_id, &want.build_id), "  and build-id");
	id = symhelper_build_id(&h, self);
	ok(id.n && build_id_equal(&id, &want.build_id), "which can be asked for alone");
	ok(symhelper_reduce(&h, self, empty_file(), 100, &r) == SYMPARSER_LARGE, "more than the limit");
	ok(symhelper_reduce(&h, text, empty_file(), 1 << 20, &r) == SYMPARSER_NOT_ELF &&
		   symhelper_build_id(&h, text).n == 0,
	   "no ELF file");
	ok(symhelper_reduce(&h, self, open("/dev/null", O_RDONLY), 1 << 30, &r) == SYMPARSER_CANNOT_WRITE,
	   "a file that cannot be written");
	is_u64(h.started, 1, "one parser for all of that");
	symhelper_enter(&h, &second, 8);
	symhelper_build_id(&h, self);
	symhelper_enter(&h, &second, 9);
	symhelper_build_id(&h, self);
	is_u64(h.started, 2, "another one for another tenant");
	ok(h.cpu_ns > 0 || h.schedstat < 0, "CPU time is counted");
	is_u64(h.backoff.hung + h.backoff.crashed, 0, "and no failure");
	symhelper_free(&h);
	close(self);
	close(text);
}

/* ---- others ------------------------------------------------------------------------------------------------------ */

/* The next question. */
static struct symparser_request question(int socket)
{
	struct symparser_request q = { 0 };
	int fd[FDMESSAGE_MAX];

	if (fdmessage_receive_all(socket, &q, sizeof(q), fd, 0) <= 0)
		_exit(0);
	return q;
}

static void ends(int socket)
{
	question(socket);
	_exit(1);
}

static void sleeps(int socket)
{
	question(socket);
	for (;;)
		pause();
}

static void spins(int socket)
{
	question(socket);
	for (volatile int i = 1; i;)
		;
}

static void lies(int socket)
{
	for (;;) {
		struct symparser_request q = question(socket);
		struct symparser_reply r = { .serial = q.serial,
					     .answer = q.question == SYMPARSER_ID ? 0 : 4711,
					     .build_id.n = 200,
					     .names = 9 };

		fdmessage_send(socket, &r, sizeof(r), -1);
	}
}

static void answers_twice(int socket)
{
	struct symparser_request q = question(socket);
	struct symparser_reply r = { .serial = q.serial + 1 };

	fdmessage_send(socket, &r, sizeof(r), -1);
	question(socket);
}

static void fails(void (*run)(int), bool hung, uint64_t limit_ms, const char *what)
{
	int self = open("/proc/self/exe", O_RDONLY);
	struct symhelper h;

	symhelper_init(&h, "/proc", run, limit_ms * 1000000);
	symhelper_enter(&h, &first, 7);
	ok(symhelper_build_id(&h, self).n == 0 && h.failed == (hung ? SYMPARSER_HUNG : SYMPARSER_CRASHED), what);
	ok(h.backoff.hung == hung && h.backoff.crashed == !hung, "  is counted");
	if (hung) {
		symhelper_enter(&h, &first, 7);
		ok(symhelper_build_id(&h, self).n == 0 && h.failed == SYMPARSER_HUNG && h.started == 1,
		   "  and that place left alone");
	} else {
		symhelper_enter(&h, &second, 8);
		ok(symhelper_build_id(&h, self).n == 0 && h.failed == SYMPARSER_OFF,
		   "  and no other one is started at once");
		nanosleep(&(struct timespec){ 0, 250000000 }, NULL);
		symhelper_build_id(&h, self);
		is_u64(h.started, 2, "  but soon");
	}
	symhelper_free(&h);
	close(self);
}

static void false_answers(void)
{
	int self = open("/proc/self/exe", O_RDONLY), out = empty_file();
	struct symparser_reply r;
	struct symhelper h;

	symhelper_init(&h, "/proc", lies, 10 * UINT64_C(1000000000));
	symhelper_enter(&h, &first, 7);
	ok(symhelper_build_id(&h, self).n == 0, "a build-id of 200 bytes is none");
	ok(symhelper_reduce(&h, self, out, 1 << 20, &r) == SYMPARSER_NOT_ELF, "an answer that does not exist");
	symhelper_free(&h);
	close(self);
	close(out);
}

int main(void)
{
	answers();
	fails(ends, false, 10000, "a parser that ends");
	fails(answers_twice, false, 10000, "one that answers another question");
	fails(sleeps, true, 10000, "one that is blocked");
	fails(spins, true, 500, "one that does not come to an end");
	false_answers();
	return done();
}
