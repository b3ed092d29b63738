/* outpath_test - paths are resolved as the kernel does it, but for what another user may have planted. */
/* covers: common/files/outpath.c common/files/tempfile.c common/files/listing.c */
#include "common/files/outpath.h"

#include "test/lib/tap.h"
#include "common/files/tempfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#define STRANGER 65534

static char dir[] = "/tmp/pj-outpath-test.XXXXXX";

static bool resolves(const char *path, const char *name, bool exists)
{
	struct outpath p;
	bool good = outpath_resolve(&p, path) && str_eq(str_of(p.name), str_of(name)) && (p.fd >= 0) == exists;

	outpath_close(&p);
	return good;
}

static bool fails(const char *path, int error)
{
	struct outpath p;
	bool failed = !outpath_resolve(&p, path) && errno == error;

	outpath_close(&p);
	return failed;
}

static bool refused(const char *path)
{
	struct outpath p;
	bool good = outpath_resolve(&p, path);
	bool refused = !good && errno == EPERM && str_find_str(str_of(p.refused), STR("of user 65534 is in")) > 0;

	outpath_close(&p);
	return refused;
}

static void put(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0 || close(fd) < 0)
		abort();
}

static void must(int result)
{
	if (result < 0)
		abort();
}

static void as_the_kernel(void)
{
	char longest[5000];

	put("file");
	must(mkdir("sub", 0755));
	put("sub/inner");
	must(symlink("sub", "way"));
	must(symlink("../file", "sub/up"));
	must(symlink("nothing", "dangling"));
	must(symlink("loop", "loop"));
	ok(resolves("file", "file", true) && resolves("new", "new", false), "what is there, and what is not");
	ok(resolves("./sub//../sub/inner", "inner", true), "dots and slashes");
	ok(resolves("way/inner", "inner", true) && resolves("sub/up", "file", true) && resolves("way/up", "file", true),
	   "links, also on the way");
	ok(resolves("dangling", "nothing", false), "a link to what is not there yet");
	ok(resolves("sub/", ".", true) && resolves("/", ".", true), "a folder");
	ok(fails("loop", ELOOP) && fails("loop/x", ELOOP), "a loop");
	ok(fails("", ENOENT) && fails("no/x", ENOENT) && fails("file/x", ENOTDIR) && fails("new/", ENOENT),
	   "no such folder");
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	ok(fails(longest, ENAMETOOLONG), "a name that is too long");
	ok(resolves("/dev/null", "null", true) && resolves("/proc/self/exe/", ".", true) == false,
	   "a device; a file is no folder");
}

static void magic(void)
{
	struct outpath p;
	char text[4] = "";
	int pipes[2], fd;
	char path[40];

	must(pipe(pipes));
	snprintf(path, sizeof(path), "/dev/fd/%d", pipes[1]);
	fd = outpath_resolve(&p, path) && p.magic ? outpath_open(&p, O_WRONLY) : -1;
	ok(fd >= 0 && write(fd, "abc", 3) == 3 && read(pipes[0], text, 3) == 3 && memcmp(text, "abc", 3) == 0,
	   "a pipe by its descriptor");
	outpath_close(&p);
	close(fd);
	close(pipes[0]);
	close(pipes[1]);
}

static void directories(void)
{
	struct outpath p;
	int fd = outpath_directory(&p, "made/", 0750);
	struct stat st;

	ok(fd >= 0 && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode), "a directory is made, also with a slash behind it");
	outpath_close(&p);
	close(fd);
	fd = outpath_directory(&p, "unmade", 0);
	ok(fd < 0 && errno == ENOENT, "or not");
	outpath_close(&p);
	fd = outpath_directory(&p, "file", 0750);
	ok(fd < 0 && errno == ENOTDIR, "a file is none");
	outpath_close(&p);
}

static bool opens(const char *path, int flags)
{
	struct outpath p;
	int fd = outpath_resolve(&p, path) ? outpath_open(&p, flags) : -1;

	outpath_close(&p);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void planted(void)
{
	if (geteuid() != 0) {
		printf("# what another user planted: needs root, to be two users\n");
		return;
	}
	must(mkdir("shared", 0755));
	must(mkdir("shared/theirs", 0755));
	must(symlink("../file", "shared/link"));
	must(symlink("../sub", "shared/way"));
	must(mkfifo("shared/fifo", 0666));
	put("shared/foreign");
	must(link("file", "shared/hard"));
	must(lchown("shared/link", STRANGER, STRANGER));
	must(lchown("shared/way", STRANGER, STRANGER));
	must(chown("shared/fifo", STRANGER, STRANGER));
	must(chown("shared/foreign", STRANGER, STRANGER));
	ok(resolves("shared/link", "file", true) && opens("shared/fifo", O_RDWR),
	   "in a folder that only its owner can write to, all is the owner's");
	for (int i = 0; i < 3; i++) {
		static const mode_t modes[] = { 01777, 02775, 0777 };

		must(chmod("shared", modes[i]));
		ok(refused("shared/link") && refused("shared/way/inner") && !opens("shared/fifo", O_RDWR) &&
			   !opens("shared/foreign", O_WRONLY) && !opens("shared/hard", O_WRONLY) &&
			   resolves("shared/theirs", "theirs", true),
		   i == 0 ? "refused in a sticky folder" :
		   i == 1 ? "in one of a group" :
			    "in one of everybody");
	}
	must(chown("shared", STRANGER, STRANGER));
	ok(resolves("shared/link", "file", true), "a link of the folder's owner");
	must(lchown("shared/link", 0, 0));
	must(chown("shared", 1, 1));
	ok(resolves("shared/link", "file", true), "a link of this user");
}

static void temporary(void)
{
	struct timeval old[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
	char a[TEMPFILE_NAME], b[TEMPFILE_NAME];
	int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC), one, two, held;

	one = tempfile_create(here, 0600, a);
	two = tempfile_create(here, 0600, b);
	ok(one >= 0 && two >= 0 && strcmp(a, b) != 0 && access(a, F_OK) == 0 && access(b, F_OK) == 0,
	   "two temporary files");
	put(".other.tmp");
	must(utimes(".other.tmp", old));
	must(utimes(a, old));
	must(mkfifo(".0123456789abcdef.tmp", 0600));
	tempfile_sweep(here);
	ok(access(a, F_OK) == 0 && access(b, F_OK) == 0, "those that are open stay, however old");
	held = tempfile_hold(two);
	close(one);
	close(two);
	tempfile_sweep(here);
	ok(access(a, F_OK) < 0 && access(b, F_OK) == 0, "one that no process holds is removed, one that is held stays");
	close(held);
	tempfile_sweep(here);
	ok(access(b, F_OK) < 0 && access(".other.tmp", F_OK) == 0 && access(".0123456789abcdef.tmp", F_OK) == 0,
	   "then it is removed; other files are not");
	must(unlink(".0123456789abcdef.tmp"));
	close(here);
}

int main(void)
{
	char command[80];

	umask(022);
	if (!mkdtemp(dir) || chdir(dir) < 0)
		abort();
	as_the_kernel();
	magic();
	directories();
	planted();
	temporary();
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return chdir("/") < 0 || system(command) != 0 ? 1 : done();
}
