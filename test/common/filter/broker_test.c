/* broker_test - a filter that was taken over gets no memory and no environment of a process from its broker, nor a
 * device. */
/* covers: common/filter/broker.c common/filter/brokerserver.c */
#include "common/filter/broker.h"

#include "test/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool opens(const char *path)
{
	int fd = broker_open(AT_FDCWD, path, 0);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool writes(const char *path)
{
	struct outfile_failure why;
	bool temporary;
	int fd = broker_output(path, &temporary, &why);

	if (fd >= 0)
		close(fd);
	errno = fd < 0 ? why.error : 0;
	return fd >= 0;
}

/* A filter without a broker: its inputs are open before it gives up its rights. */
static void test_open_inputs(const char *folder)
{
	char regular[64], fifo[64];
	int fd, least = dup(0);

	close(least);
	snprintf(regular, sizeof(regular), "%s/regular", folder);
	snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	fd = open(regular, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	ok(fd >= 0 && close(fd) == 0 && mkfifo(fifo, 0600) == 0, "a file and a FIFO");
	ok(!broker_open_inputs((const char *[]){ regular, fifo, NULL }), "a FIFO is not opened");
	ok(!broker_open_inputs((const char *[]){ regular, folder, NULL }), "nor a folder");
	ok(!broker_open_inputs((const char *[]){ regular, "/absent", NULL }), "nor what does not exist");
	fd = dup(0);
	ok(fd == least, "nothing is left open");
	close(fd);
	ok(broker_open_inputs((const char *[]){ regular, "-", regular, NULL }), "a file is opened twice");
	ok(unlink(regular) == 0 && broker_input(regular) >= 0 && broker_input(regular) >= 0, "and given out twice");
	ok(broker_input(regular) < 0, "but not a third time");
	unlink(fifo);
}

int main(void)
{
	static const char *const refused[] = { "/proc/self/mem", "/proc/self/environ", "/proc/self/maps",
					       "/proc/1/cmdline" };
	char link[] = "/tmp/pj-broker.XXXXXX", path[64];
	static const char *const inputs[] = { "/proc/self/limits", NULL }, *const outputs[] = { "/dev/null", NULL },
				 *const folders[] = { "/dev", NULL };

	if (!mkdtemp(link))
		return 1;
	test_open_inputs(link);
	snprintf(path, sizeof(path), "%s/stat", link);
	ok(symlink("/proc/self/environ", path) == 0, "a link with a harmless name");
	ok(broker_start(&(struct broker){ .input = inputs, .output = outputs, .writable = folders }),
	   "the broker starts");
	for (size_t i = 0; i < countof(refused); i++)
		ok(!opens(refused[i]) && errno == EACCES, refused[i]);
	ok(!opens(path) && errno == EACCES, "the link is refused, too");
	ok(opens("/proc/self/stat"), "which process a PID is can be read");
	ok(opens("/etc/passwd"), "so can other files");
	ok(broker_input("/proc/self/limits") >= 0, "and what the user named");
	ok(writes("/dev/null"), "a device that the user named is an output");
	ok(!writes("/dev/zero") && errno == EINVAL, "another one in its folder is none");
	unlink(path);
	rmdir(link);
	return done();
}
