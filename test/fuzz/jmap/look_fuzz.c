/* look: answers of the process that reads a JVM, which that may have taken over, as pjmap takes them. An answer is of
 * the request that waits, its texts end and are printable, its reason is one of ours; anything else is a helper that
 * crashed. Input: for each request a byte that chooses (HOW_*), then bytes of the answer. The helper is a socket. */
/* covers: jmap/reader/jvmhandle.c */
/* least: 20, as the rest starts processes, and measures and ends them (test/hostile/jvmhang.t) */
#include "jmap/reader/jvmhandle.h"

#include "test/fuzz/fuzz.h"

#include <sys/socket.h>

enum { HOW_SHORT = 1, HOW_SERIAL = 2, HOW_NONE = 4, HOW_END = 8, HOW_LONG = 16, HOW_CODE = 32 };

static void check_text(const char *text, size_t n)
{
	size_t length = strnlen(text, n);

	MUST(length < n);
	for (size_t i = 0; i < length; i++)
		MUST((unsigned char)text[i] >= 0x20 && text[i] != 0x7f);
}

static void check_answer(const struct read_answer *a)
{
	struct hotspot_reason r = jvmhandle_reason(a);

	check_text(a->code, sizeof(a->code));
	check_text(a->why, sizeof(a->why));
	check_text(a->version, sizeof(a->version));
	check_text(a->command, sizeof(a->command));
	check_text(a->collector, sizeof(a->collector));
	MUST(!r.code == !a->code[0]);
	MUST(!r.code || strcmp(r.code, a->code) == 0 || strcmp(r.code, "unreadable") == 0);
	check_text(r.why, sizeof(r.why));
}

/* What the helper does. */
static void answer(int socket, unsigned how, struct str bytes, uint64_t serial)
{
	static const char *const codes[] = { "gone", "over-budget", "no-jvm", "none of ours" };
	static struct {
		struct read_answer a;
		char more[8];
	} message;
	size_t n = sizeof(message.a);

	memset(&message, 0, sizeof(message));
	memcpy(&message, bytes.p, bytes.n < n ? bytes.n : n);
	message.a.serial = how & HOW_SERIAL ? message.a.serial : serial;
	if (how & HOW_CODE)
		snprintf(message.a.code, sizeof(message.a.code), "%s", codes[how >> 6]);
	n = how & HOW_SHORT ? bytes.n % n : how & HOW_LONG ? sizeof(message) : n;
	if (!(how & (HOW_NONE | HOW_END)))
		(void)send(socket, &message, n, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (how & HOW_END)
		shutdown(socket, SHUT_RDWR);
}

int fuzz_one(const uint8_t *data, size_t n)
{
	struct str rest = { (const char *)data, n };
	struct jvmhandle l = { .socket = -1, .records = -1, .map = -1 };
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		abort();
	l.socket = pair[0];
	for (unsigned i = 0; i < 8 && rest.n; i++) {
		struct read_request q = { .task = READ_LAYOUT };
		struct read_answer a;
		unsigned how = (uint8_t)rest.p[0];
		struct str bytes = str_from(rest, 1);
		enum jvmhandle_state state;

		MUST(l.since || jvmhandle_poll(&l, &a) == JVMHANDLE_IDLE);
		jvmhandle_query(&l, &q, 1 + i);
		bytes = str_head(bytes, bytes.n < sizeof(a) ? bytes.n : sizeof(a));
		rest = str_from(rest, 1 + bytes.n);
		answer(pair[1], how, bytes, q.serial);
		state = jvmhandle_poll(&l, &a);
		MUST((state == JVMHANDLE_BUSY) <= ((how & HOW_NONE) != 0));
		if (state == JVMHANDLE_ANSWERED)
			check_answer(&a);
		if (state == JVMHANDLE_CRASHED)
			break;
		MUST(state != JVMHANDLE_ANSWERED || (a.serial == q.serial && !l.since));
	}
	close(pair[0]);
	close(pair[1]);
	return 0;
}
