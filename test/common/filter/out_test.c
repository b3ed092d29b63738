/* out_test - complete or absent, never lost silently. */
/* covers: common/filter/out.c common/files/outfile.c */
#include "common/filter/out.h"

#include "test/lib/child.h"
#include "common/diag.h"
#include "test/lib/tap.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <zlib.h>

static char dir[] = "/tmp/pj-out-test.XXXXXX";
static char path[64];
static struct child c;
static struct out o;

static struct str content(const char *name)
{
	static char buf[1 << 20];
	FILE *f = fopen(name, "rb");
	size_t n = f ? fread(buf, 1, sizeof(buf), f) : 0;

	if (f)
		fclose(f);
	return (struct str){ buf, n };
}

static unsigned files_in_dir(void)
{
	DIR *d = opendir(dir);
	unsigned n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static bool exists(const char *name)
{
	return access(name, F_OK) == 0;
}

static void writes(void)
{
	static char big[sizeof(o.buf) + 10000], want[sizeof(big)];
	struct stat st;
	char at_border[2] = { 0 };

	out_open(&o, path);
	out_text(&o, "a ");
	out_u64(&o, 0);
	out_char(&o, ' ');
	out_u64(&o, UINT64_MAX);
	out_printf(&o, " %s %d", "x", -5);
	out_str(&o, STR("\0z"));
	out_str(&o, (struct str){ 0 });
	ok(!exists(path) && files_in_dir() == 1, "nothing under that name before the end");
	out_close(&o);
	is_str(content(path), STR("a 0 18446744073709551615 x -5\0z"), "all kinds of writing");
	ok(files_in_dir() == 1, "the temporary file is gone");
	stat(path, &st);
	ok((st.st_mode & 0777) == 0640, "a new file follows the umask");

	memset(big, 'b', sizeof(big));
	chmod(path, 0600);
	out_open(&o, path);
	out_bytes(&o, big, sizeof(o.buf) - 1);
	for (int i = 0; i < 3; i++)
		out_char(&o, 'c');
	out_bytes(&o, big, sizeof(big));
	out_printf(&o, "%.*s", 5000, big);
	out_close(&o);
	memset(want, 'b', sizeof(want));
	at_border[0] = content(path).p[sizeof(o.buf) - 1];
	ok(content(path).n == sizeof(o.buf) - 1 + 3 + sizeof(big) + 5000, "more than the buffer");
	is_str(str_of(at_border), STR("c"), "bytes at the border of the buffer");
	stat(path, &st);
	ok((st.st_mode & 0777) == 0600, "a file that was there keeps its mode");

	unlink(path);
	out_open(&o, path);
	out_close(&o);
	ok(exists(path) && content(path).n == 0, "an empty output is a file, too");
	unlink(path);
}

static void links(void)
{
	char link_name[80], target[80];
	struct stat st;

	snprintf(link_name, sizeof(link_name), "%s/link", dir);
	snprintf(target, sizeof(target), "%s/target", dir);
	if (symlink("target", link_name) < 0)
		abort();
	for (int i = 0; i < 2; i++) {
		out_open(&o, link_name);
		out_text(&o, "x");
		out_close(&o);
		ok(lstat(link_name, &st) == 0 && S_ISLNK(st.st_mode) && content(target).n == 1,
		   i ? "a symbolic link is followed, not replaced" : "even when it points to nothing yet");
	}
	unlink(link_name);
	unlink(target);
}

static void dies_in_between(void *arg)
{
	(void)arg;
	out_open(&o, path);
	out_text(&o, "x");
	die("no");
}

static void killed_in_between(void *signal_number)
{
	out_open(&o, path);
	out_text(&o, "x");
	raise(*(int *)signal_number);
}

static void to_full(void *how)
{
	static char big[sizeof(o.buf) + 10000];

	out_open(&o, *(int *)how == 2 ? "/dev/full" : NULL);
	if (*(int *)how != 2) {
		close(STDOUT_FILENO);
		open("/dev/full", O_WRONLY);
	}
	out_bytes(&o, big, *(int *)how == 1 ? sizeof(big) : 10);
	out_close(&o);
}

static void to_closed(void *arg)
{
	(void)arg;
	close(STDOUT_FILENO);
	diag_tool("pjtest");
	out_open(&o, NULL);
	out_text(&o, "x");
	out_close(&o);
}

static void to_gone_reader(void *arg)
{
	static char big[1 << 20];
	int fd[2];

	(void)arg;
	signal(SIGPIPE, SIG_DFL);
	if (pipe(fd) < 0)
		abort();
	dup2(fd[1], STDOUT_FILENO);
	close(fd[0]);
	out_open(&o, NULL);
	out_bytes(&o, big, sizeof(big));
	out_close(&o);
}

static void to_missing_dir(void *name)
{
	out_open(&o, name);
}

/* Descriptor 2 is closed: what is opened next must not take its place, or messages end up in the output. */
static void without_stderr(void *arg)
{
	(void)arg;
	close(STDERR_FILENO);
	diag_tool("pjtest");
	out_open(&o, path);
	warn("a message");
	out_text(&o, "x");
	out_close(&o);
}

static void to_named_stdout(void *arg)
{
	(void)arg;
	out_open(&o, "/dev/stdout");
	out_text(&o, "x");
	out_close(&o);
}

static void faults(void)
{
	int how[] = { 0, 1, 2, SIGINT, SIGTERM, SIGHUP };
	char missing[80];
	bool left = false;

	child_run(&c, dies_in_between, NULL);
	ok(c.status == 1 && files_in_dir() == 0, "a tool that dies leaves nothing behind");
	for (int i = 3; i < 6; i++) {
		child_run(&c, killed_in_between, &how[i]);
		left = left || c.status != 128 + how[i] || files_in_dir() != 0;
	}
	ok(!left, "nor does one that is interrupted, terminated or hung up");
	child_run(&c, to_full, &how[0]);
	ok(c.status == 1 && str_eq(c.err, STR("pjtest: cannot write standard output: No space left on device\n")),
	   "a full disk, seen at the end");
	child_run(&c, to_full, &how[1]);
	ok(c.status == 1 && str_find_str(c.err, STR("No space left")) > 0, "a full disk, seen on the way");
	child_run(&c, to_full, &how[2]);
	ok(c.status == 1 && str_find_str(c.err, STR("'/dev/full': No space left")) > 0, "a full device by name");
	child_run(&c, to_closed, NULL);
	ok(c.status == 1 && str_find_str(c.err, STR("cannot write standard output")) > 0, "closed standard output");
	child_run(&c, to_gone_reader, NULL);
	ok(c.status == 128 + SIGPIPE && c.err.n == 0, "a reader that leaves: quiet, by SIGPIPE");
	snprintf(missing, sizeof(missing), "%s/no/f", dir);
	child_run(&c, to_missing_dir, missing);
	ok(c.status == 1 && str_find_str(c.err, STR("No such file")) > 0, "a folder that is not there");
	child_run(&c, without_stderr, NULL);
	is_str(content(path), STR("x"), "closed stderr: messages do not get into the output");
	child_run(&c, to_named_stdout, NULL);
	is_str(c.out, STR("x"), "/dev/stdout is standard output");
	unlink(path);
}

/* Larger than any buffer, in small pieces and in one. */
static void compresses(void)
{
	static char big[500000], back[600000];
	struct str first;
	static char saved[600000];
	size_t saved_n = 0;
	gzFile f;

	for (size_t i = 0; i < sizeof(big); i++)
		big[i] = (char)(i * i >> 7);
	for (int twice = 0; twice < 2; twice++) {
		out_open(&o, path);
		out_gzip(&o);
		for (size_t i = 0; i < 1000; i++)
			out_char(&o, big[i]);
		out_bytes(&o, big + 1000, sizeof(big) - 1000);
		out_close(&o);
		first = content(path);
		if (!twice) {
			memcpy(saved, first.p, first.n);
			saved_n = first.n;
		}
	}
	ok(first.n < sizeof(big) && str_eq(first, (struct str){ saved, saved_n }),
	   "gzip: smaller, the same bytes twice");
	ok(memcmp(first.p + 3, "\0\0\0\0\0", 5) == 0, "gzip: no name, no time");
	f = gzopen(path, "rb");
	ok(gzread(f, back, sizeof(back)) == sizeof(big) && memcmp(back, big, sizeof(big)) == 0, "gzip: it comes back");
	gzclose(f);
	out_open(&o, path);
	out_gzip(&o);
	out_close(&o);
	f = gzopen(path, "rb");
	ok(gzread(f, back, sizeof(back)) == 0 && content(path).n == 20, "gzip: of nothing");
	gzclose(f);
	unlink(path);
}

int main(void)
{
	diag_tool("pjtest");
	umask(027);
	if (!mkdtemp(dir))
		abort();
	snprintf(path, sizeof(path), "%s/f", dir);
	writes();
	compresses();
	links();
	faults();
	rmdir(dir);
	return done();
}
