/* Attempts to fold a window: crashes of pjfold are limited, failures with another cause are not. */
/* covers: send/spool/spooler.c */
#include "send/spool/spooler.h"
#include "send/spool/counters.h"
#include "test/lib/tap.h"

#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/pj-spooler.XXXXXX";

/* Writes a file below dir. */
static void put(const char *name, const char *bytes, mode_t mode)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "w");
	if (!file || fputs(bytes, file) < 0 || fclose(file) != 0 || chmod(path, mode) != 0)
		abort();
}

/* Folds the window with a pjfold that runs the shell command `line`. Returns true if the window waits for another
 * attempt. */
static bool waits_after(struct spooler *spooler, const char *line)
{
	char script[128];

	snprintf(script, sizeof(script), "#!/bin/sh\n%s\n", line);
	put("pjfold", script, 0700);
	spooler_pass(spooler);
	if (spooler->n != 1)
		return false;
	spooler->done[0].due = 0;
	return !spooler->done[0].folded;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
	(void)status, (void)type, (void)ftw;
	return remove(path);
}

int main(void)
{
	char path[128];
	atomic_bool stop = false;
	struct folding folding = { .pjfold = path, .stop = &stop };
	struct spool spool;
	struct spooler spooler = { .spool = &spool, .folding = &folding, .dir = dir, .stop = &stop };

	if (!mkdtemp(dir) || !freopen("/dev/null", "w", stderr))
		return 1;
	snprintf(path, sizeof(path), "%s/out", dir);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/pjfold", dir);
	put("out/1700000000.data", "window\n", 0600);
	spool_open(&spool, dir);
	counters_open(spool.dir);
	spooler_begin(&spooler);
	for (int i = 0; i < 4; i++)
		ok(waits_after(&spooler, "exit 2"), "a failure without a crash: the window waits");
	ok(waits_after(&spooler, "kill -SEGV $$"), "the first crash of pjfold: it waits");
	ok(waits_after(&spooler, "kill -SEGV $$"), "  the second one, too");
	ok(!waits_after(&spooler, "kill -SEGV $$") && spooler.unreadable == 1, "  the third one: it goes to bad/");
	spooler_end(&spooler);
	spool_close(&spool);
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return done();
}
