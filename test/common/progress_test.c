/* progress_test - the line on a terminal: after half a second, ten times a second at most, wiped at the end; and no
 * byte where stderr is no terminal. */
/* covers: common/progress.c */
#include "common/progress.h"

#include "common/clocks.h"
#include "common/diag.h"
#include "test/lib/tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define TOTAL UINT64_C(200000000)

/* Half of the work, for that many ms. */
static void work(uint64_t total, unsigned ms)
{
	struct progress progress;
	uint64_t end = clock_now() + ms * (SECOND_NS / 1000);

	progress_begin(&progress, total);
	while (clock_now() < end) {
		progress_at(&progress, TOTAL / 2);
		usleep(1000);
	}
	progress_end(&progress);
	progress_at(&progress, TOTAL);
}

/* What such work prints on a stderr that is a terminal, or a pipe. */
static struct str printed(bool terminal, uint64_t total, unsigned ms)
{
	static char buf[65536];
	int own, fd[2] = { -1, -1 };
	size_t n = 0;
	ssize_t got;
	pid_t pid;

	if (terminal) {
		own = posix_openpt(O_RDWR | O_NOCTTY);
		if (own < 0 || grantpt(own) || unlockpt(own))
			return STR("no terminal");
		fd[1] = open(ptsname(own), O_RDWR | O_NOCTTY);
		fd[0] = own;
	} else if (pipe(fd)) {
		return STR("no pipe");
	}
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		dup2(fd[1], STDERR_FILENO);
		close(fd[0]);
		close(fd[1]);
		diag_tool("worker");
		work(total, ms);
		_exit(0);
	}
	close(fd[1]);
	while ((got = read(fd[0], buf + n, sizeof(buf) - n)) > 0) /* of a terminal: EIO at the end */
		n += (size_t)got;
	close(fd[0]);
	waitpid(pid, NULL, 0);
	return (struct str){ buf, n };
}

static unsigned lines(struct str text)
{
	unsigned n = 0;

	for (size_t i = 0; i < text.n; i++)
		n += text.p[i] == '\r';
	return n;
}

static bool has(struct str text, const char *part)
{
	return str_find_str(text, str_of(part)) >= 0;
}

int main(void)
{
	struct str text;

	is_str(printed(false, TOTAL, 900), STR(""), "no terminal: nothing is printed");
	is_str(printed(true, TOTAL, 200), STR(""), "short work: nothing is printed");
	text = printed(true, TOTAL, 1500);
	ok(has(text, "\r\033[Kworker: 100 of 200 MB (50 %), "), "the tool, bytes and share");
	ok(has(text, " MB/s"), "  and the rate");
	ok(text.n > 4 && memcmp(text.p + text.n - 4, "\r\033[K", 4) == 0, "  are wiped at the end");
	ok(lines(text) >= 2 && lines(text) <= 12, "  drawn ten times a second at most, from half a second on");
	text = printed(true, 0, 900);
	ok(has(text, "\r\033[Kworker: 100 MB, ") && !has(text, "%"), "a size that is not known: no share");
	return done();
}
