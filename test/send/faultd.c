/*
 * faultd - stands between a client and a server of a test, and does to connections what networks do.
 *
 * faultd [--plan A,B,...] [--percent N --seed S] --to PORT --portfile FILE: connections suffer A, then B, ...; then N
 * percent of them suffer something by chance, the others nothing. --free prints a port that nobody uses now.
 */
#include "serve.h"

#include "common/arena.h"

#include <time.h>
#include <zlib.h>

enum fault { FINE, RESET, UPLOAD, SWALLOW, CUT, STALL, SLOW, GARBAGE, ENDLESS, BOMB, NOTHING, ANSWER };

static const struct {
	const char *name;
	enum fault fault;
	bool by_chance;
} faults[] = {
	{ "ok", FINE, false },         { "reset", RESET, true }, /* accepted, and gone */
	{ "upload", UPLOAD, true },   /* gone while the body travels; the server has half of it */
	{ "swallow", SWALLOW, true }, /* the server has done it, nobody hears of it */
	{ "cut", CUT, true },         /* half an answer */
	{ "stall", STALL, false },    /* no answer, for ever */
	{ "slow", SLOW, false },      /* an answer at a byte a second */
	{ "garbage", GARBAGE, true }, /* not HTTP */
	{ "endless", ENDLESS, false }, { "bomb", BOMB, false }, /* 300 kB that unpack to 300 MB */
	{ "nothing", NOTHING, true },                           /* closed without a byte */
};

#define PLAN_MAX 256
static struct {
	enum fault fault;
	unsigned status;
} plan[PLAN_MAX];
static size_t nplan, at;
static unsigned target, percent;
static uint64_t state;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t chance(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state >> 33;
}

static enum fault next(unsigned *status)
{
	enum fault f = FINE;

	pthread_mutex_lock(&lock);
	if (at < nplan) {
		f = plan[at].fault;
		*status = plan[at++].status;
	} else if (chance() % 100 < percent) {
		size_t i;

		if (chance() % 4 == 0) {
			static const unsigned some[] = { 500, 502, 503, 504, 429 };

			f = ANSWER;
			*status = some[chance() % countof(some)];
		} else {
			do
				i = chance() % countof(faults);
			while (!faults[i].by_chance);
			f = faults[i].fault;
		}
	}
	pthread_mutex_unlock(&lock);
	return f;
}

/* ---- answers of our own ----------------------------------------------------------------------------------------- */

static void answer(int c, unsigned status)
{
	static const char html[] = "<!doctype html>\n<title>something went wrong</title>\n";
	struct text t = { 0 };
	struct text when = { 0 };
	time_t soon = time(NULL) + 2;
	struct tm tm;
	char date[64];

	strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&soon, &tm));
	if (status == 503)
		text_add(&when, "Retry-After: 1\r\n");
	else if (status == 429)
		text_printf(&when, "Retry-After: %s\r\n", date);
	else if (status == 302)
		text_add(&when, "Location: http://127.0.0.1:9/elsewhere\r\n");
	text_printf(
		&t,
		"HTTP/1.1 %u It is so\r\nContent-Type: text/html\r\n%.*sContent-Length: %zu\r\nConnection: close\r\n\r\n%s",
		status, (int)when.n, when.n ? when.p : "", sizeof(html) - 1, html);
	serve_write(c, t.p, t.n);
	text_free(&t);
	text_free(&when);
}

static void endless(int c)
{
	static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n[";
	static char much[65536];

	memset(much, ' ', sizeof(much));
	if (!serve_write(c, head, sizeof(head) - 1))
		return;
	for (int i = 0; i < 8192 && serve_write(c, much, sizeof(much)); i++)
		; /* half a gigabyte is endless enough */
}

static void bomb(int c)
{
	static const char head[] =
		"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n";
	static unsigned char zeros[65536], packed[131072];
	z_stream z = { 0 };

	if (deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK ||
	    !serve_write(c, head, sizeof(head) - 1))
		return;
	for (int i = 0; i < 4800; i++) {
		z.next_in = zeros;
		z.avail_in = sizeof(zeros);
		z.next_out = packed;
		z.avail_out = sizeof(packed);
		if (deflate(&z, Z_NO_FLUSH) != Z_OK || !serve_write(c, (char *)packed, sizeof(packed) - z.avail_out))
			break;
	}
	deflateEnd(&z);
}

/* ---- between the two -------------------------------------------------------------------------------------------- */

/* One byte a second, until the client has enough. */
static void drip(int c, const char *p, size_t n)
{
	for (size_t i = 0; i < n && serve_write(c, p + i, 1); i++)
		sleep(1);
}

/* The first bytes of the answer are there. True: go on. */
static bool spoil(enum fault fault, int c, const char *p, size_t n)
{
	switch (fault) {
	case SWALLOW: return false;
	case CUT: serve_write(c, p, n / 2); return false;
	case SLOW: drip(c, p, n); return false;
	case STALL:
		while (recv(c, (char[256]){ 0 }, 256, 0) > 0)
			;
		return false;
	default: return serve_write(c, p, n);
	}
}

static void relay(enum fault fault, int c)
{
	struct pollfd p[2] = { { .fd = c, .events = POLLIN }, { .fd = serve_connect(target), .events = POLLIN } };
	char *buf = mem_alloc(1, 65536);

	while (p[1].fd >= 0 && poll(p, 2, -1) > 0) {
		ssize_t n;

		if (p[0].revents) {
			n = recv(c, buf, 65536, 0);
			if (n <= 0)
				break;
			if (fault == UPLOAD) {
				serve_write(p[1].fd, buf, (size_t)n / 2);
				break;
			}
			if (!serve_write(p[1].fd, buf, (size_t)n))
				break;
		}
		if (p[1].revents) {
			n = recv(p[1].fd, buf, 65536, 0);
			if (n <= 0 || !spoil(fault, c, buf, (size_t)n))
				break;
		}
	}
	if (p[1].fd >= 0)
		close(p[1].fd);
	free(buf);
}

static void *each(void *connection)
{
	int c = (int)(intptr_t)connection;
	unsigned status = 0;
	enum fault f = next(&status);
	struct text t = { 0 };
	struct str head, body;

	if (f == ANSWER || f == GARBAGE || f == ENDLESS || f == BOMB || f == NOTHING) {
		if (serve_request(c, &t, &head, &body)) {
			if (f == ANSWER)
				answer(c, status);
			else if (f == GARBAGE)
				serve_write(c, "\x16\x03\x01 this is no HTTP\n\0\xFF", 22);
			else if (f == ENDLESS)
				endless(c);
			else if (f == BOMB)
				bomb(c);
		}
	} else if (f != RESET) {
		relay(f, c);
	}
	if (f == RESET || f == UPLOAD)
		serve_reset(c);
	else
		close(c);
	text_free(&t);
	return NULL;
}

static void read_plan(struct str string)
{
	while (string.n) {
		struct str name = str_cut(&string, ',');
		uint64_t status;
		size_t i;

		if (nplan == PLAN_MAX)
			die("the plan is too long");
		if (str_u64(name, &status)) {
			plan[nplan].fault = ANSWER;
			plan[nplan++].status = (unsigned)status;
			continue;
		}
		for (i = 0; i < countof(faults) && !str_eq(name, str_of(faults[i].name)); i++)
			;
		if (i == countof(faults))
			die("no such fault: %.*s", (int)name.n, name.p);
		plan[nplan++].fault = faults[i].fault;
	}
}

int main(int argc, char **argv)
{
	const char *portfile = NULL;
	struct sockaddr_in a;
	socklen_t n = sizeof(a);

	diag_tool("faultd");
	for (int i = 1; i < argc; i += 2) {
		const char *value = i + 1 < argc ? argv[i + 1] : "";

		if (strcmp(argv[i], "--free") == 0) {
			getsockname(serve_listen(0, NULL), (struct sockaddr *)&a, &n);
			printf("%u\n", ntohs(a.sin_port));
			return 0;
		}
		if (strcmp(argv[i], "--plan") == 0)
			read_plan(str_of(value));
		else if (strcmp(argv[i], "--percent") == 0)
			percent = (unsigned)strtoul(value, NULL, 10);
		else if (strcmp(argv[i], "--seed") == 0)
			state = strtoul(value, NULL, 10);
		else if (strcmp(argv[i], "--to") == 0)
			target = (unsigned)strtoul(value, NULL, 10);
		else if (strcmp(argv[i], "--portfile") == 0)
			portfile = value;
		else
			die("what is %s", argv[i]);
	}
	serve(serve_listen(0, portfile), each);
}
