/* A start of helper processes that takes too long: it fails, and leaves no process. */
/* covers: record/unwind/cfistarter.c */
#include "common/process/helperprocess.h"
#include "test/lib/tap.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* number of the fork before which pjrecord-start stops; 0: it does not stop */
static unsigned stop_before;

static pid_t start_slowly(const struct helperprocess *helperprocess)
{
	if (stop_before && --stop_before == 0)
		raise(SIGSTOP);
	return helperprocess_start_sibling(helperprocess);
}

#define helperprocess_start_sibling start_slowly
#include "record/unwind/cfistarter.c"

/* Returns true if this process has no child, within 5 s. */
static bool is_childless(void)
{
	for (unsigned tries = 0; tries < 5000; tries++, nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL)) {
		siginfo_t info = { 0 };

		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD)
			return true;
	}
	return false;
}

int main(void)
{
	struct cfistarter starter;
	int socket = -1;
	pid_t opener, parser;

	for (unsigned fork = 1; fork <= 2; fork++) {
		stop_before = fork;
		cfistarter_open(&starter, "/proc");
		ok(!cfistarter_begin(&starter, &socket, &opener, &parser), "a start that takes too long fails");
		ok(is_childless(), "  and leaves no process");
		stop_before = 0;
		ok(cfistarter_begin(&starter, &socket, &opener, &parser), "  the next one succeeds");
		close(socket);
		waitpid(opener, NULL, 0);
		waitpid(parser, NULL, 0);
		cfistarter_close(&starter);
		ok(is_childless(), "  and leaves no process at its end");
	}
	return done();
}
