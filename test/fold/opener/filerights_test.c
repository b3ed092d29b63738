/* filerights_test - the process that opens files for pjfold: regular files only, and none of /proc, whatever is
 * requested. */
/* covers: fold/opener/fileopener.c fold/opener/openerhelper.c */
#include "fold/opener/fileopener.h"

#include "test/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool opens(int fd)
{
	struct stat st;
	bool good = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);

	if (fd >= 0)
		close(fd);
	return good;
}

int main(void)
{
	char folder[] = "/tmp/pj-fileopener.XXXXXX", file[64], link[64], fifo[64];

	if (!mkdtemp(folder))
		return 1;
	snprintf(file, sizeof(file), "%s/perf-1.map", folder);
	snprintf(link, sizeof(link), "%s/link", folder);
	snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	close(open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	if (symlink(file, link) < 0 || mkfifo(fifo, 0600) < 0)
		return 1;
	fileopener_start(false);
	ok(opens(fileopener_plain(file)), "a perf map");
	ok(opens(fileopener_path(file)) && opens(fileopener_path(link)), "a file, also by a link");
	ok(fileopener_plain(link) < 0, "no map behind a link");
	ok(fileopener_plain(fifo) < 0 && fileopener_path(fifo) < 0, "no FIFO");
	ok(fileopener_plain("/dev/zero") < 0 && fileopener_path("/dev/zero") < 0, "no device");
	ok(fileopener_plain("/proc/self/mem") < 0 && errno == EACCES, "as a map: no memory of a process");
	ok(fileopener_path("/proc/self/mem") < 0 && errno == EACCES, "as a file: none, either");
	ok(fileopener_inside(getpid(), STR("/proc/self/mem")) < 0 &&
		   fileopener_map_inside(getpid(), STR("/proc/self/mem")) < 0,
	   "nor below the root of a process");
	unlink(fifo);
	unlink(link);
	unlink(file);
	rmdir(folder);
	return done();
}
