/* keep_test - the keeper at work: deleted programs, maps of JITs, what is planted, keepers that crash or hang, a
 * recorder that is killed. */
/* covers: record/symsaver/symsaver.c record/symsaver/saverprocess.c record/symsaver/saverfiles.c */
/* covers: record/symsaver/saverring.c */
#include "record/symsaver/symsaver.h"

#include "test/lib/tap.h"
#include "common/text.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char dir[] = "/tmp/pj-keep-test.XXXXXX";
static char boot[37];

/* ---- helpers ---------------------------------------------------------------------------------------------------- */

static char *at(const char *name)
{
	static char path[4][300];
	static unsigned i;

	snprintf(path[++i % 4], sizeof(path[0]), "%s/%s", dir, name);
	return path[i % 4];
}

static struct str content(const char *path)
{
	static char buf[65536];
	int fd = open(path, O_RDONLY);
	ssize_t n = fd >= 0 ? read(fd, buf, sizeof(buf)) : 0;

	if (fd >= 0)
		close(fd);
	return (struct str){ buf, n > 0 ? (size_t)n : 0 };
}

/* A command in the folder. */
static bool run(const char *command)
{
	char line[1024];

	snprintf(line, sizeof(line), "cd %s && %s", dir, command);
	return system(line) == 0;
}

static void nap(void)
{
	nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Waits for a condition, for half a minute. */
#define UNTIL(k, cond)                                               \
	for (double until = now() + 30; !(cond) && now() < until;) { \
		if (k)                                               \
			symsaver_tick(k);                            \
		nap();                                               \
	}

static struct symsaver_process who(pid_t pid)
{
	char path[64];
	struct tenant of;
	struct stat st;
	struct str s;
	uint64_t start = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	s = content(path);
	s = str_from(s, (size_t)str_rfind(s, ')') + 2);
	for (int i = 3; i < 22; i++)
		str_cut(&s, ' ');
	str_u64(str_cut(&s, ' '), &start);
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	of = tenant_of(fd);
	close(fd);
	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	return (struct symsaver_process){ (uint32_t)pid, start, stat(path, &st) == 0 ? st.st_ino : 0, of };
}

/* The executable mapping of a path that begins so. */
static bool mapping_of(pid_t pid, const char *begins, struct symsaver_mapping *mapping, char file[4096])
{
	char path[64], line[8192], perms[8];
	unsigned long long start, end, offset, inode;
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "r");
	while (f && !found && fgets(line, sizeof(line), f)) {
		file[0] = 0;
		if (sscanf(line, "%llx-%llx %7s %llx %x:%x %llu %4095[^\n]", &start, &end, perms, &offset,
			   &mapping->file_id.major, &mapping->file_id.minor, &inode, file) >= 7)
			found = perms[2] == 'x' && strncmp(file, begins, strlen(begins)) == 0;
	}
	if (f)
		fclose(f);
	mapping->start = start;
	mapping->length = end - start;
	mapping->pgoff = offset;
	mapping->file_id.inode = inode;
	mapping->path = str_of(file);
	return found;
}

static struct symsaver *start(unsigned hang_s)
{
	struct symsaver_options o = { .dir = dir, .hang_s = hang_s };
	const char *why;
	struct symsaver *k = symsaver_start(&o, &why);

	if (!k)
		printf("# %s\n", why);
	return k;
}

static pid_t saver_of(pid_t parent)
{
	char path[96], children[4096];
	struct str s;
	uint64_t pid;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)parent, (int)parent);
	s = content(path); /* of one file at a time */
	s.n = s.n < sizeof(children) ? s.n : 0;
	memcpy(children, s.p, s.n);
	s.p = children;
	while (s.n) {
		struct str one = str_cut(&s, ' ');

		snprintf(path, sizeof(path), "/proc/%.*s/comm", (int)one.n, one.p);
		if (str_u64(one, &pid) && str_starts(content(path), STR("pjrecord-keeper")))
			return (pid_t)pid;
	}
	return 0;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* ---- binaries --------------------------------------------------------------------------------------------------- */

static pid_t run_copy(const char *name)
{
	char command[400], *path = at(name), file[4096];
	struct symsaver_mapping m = { 0 };
	pid_t pid;

	snprintf(command, sizeof(command), "cp /bin/sleep %s && chmod 775 %s", path,
		 path); /* root's, too, is not trusted */
	if (system(command) != 0)
		abort();
	pid = fork();
	if (pid == 0) {
		execl(path, path, "60", (char *)NULL);
		_exit(127);
	}
	UNTIL((struct symsaver *)NULL, mapping_of(pid, path, &m, file));
	return pid;
}

static void deleted(void)
{
	struct symsaver *k = start(0);
	char file[4096] = "", numbers[256], path[41] = "", folder[TENANT_NAME], command[512];
	struct symsaver_mapping m = { 0 };
	struct build_id id;
	unsigned n;
	pid_t pid = run_copy("gone");
	struct symsaver_process p = who(pid);
	struct symsaver_counts c;

	tenant_folder(&p.of, p.mount_ns, folder);
	unlink(at("gone"));
	ok(k && mapping_of(pid, at("gone"), &m, file) && str_ends(m.path, STR(" (deleted)")),
	   "a program that is deleted");
	ok(!symsaver_process(k, &p), "it is not elsewhere");
	symsaver_mapping(k, &p, &m);
	m.path = STR("/bin/sleep");
	m.file_id.inode++;
	symsaver_mapping(k, &p, &m);
	m.file_id.inode--;
	UNTIL(k, symsaver_counts(k).binaries == 1);
	snprintf(numbers, sizeof(numbers), "symbols/tenants/%s/%s/%x-%x-%llx-0", folder, boot, m.file_id.major,
		 m.file_id.minor, (unsigned long long)m.file_id.inode);
	ok(access(at(numbers), F_OK) == 0, "is kept, as the mapping tells it");
	snprintf(
		command, sizeof(command),
		"exec >/dev/null; command -v readelf || exit 0; id=$(readelf -n /bin/sleep | sed -n 's/.*Build ID: //p'); [ -z \"$id\" ] || "
		"ls symbols/tenants/%s/.build-id/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-).debug",
		folder);
	ok(run(command), "and by its build-id");
	UNTIL(k, symsaver_build_id(k, &m).n > 0);
	id = symsaver_build_id(k, &m);
	n = id.n;
	for (unsigned i = 0; i < n; i++)
		snprintf(path + 2 * i, 3, "%02x", id.byte[i]);
	snprintf(numbers, sizeof(numbers), "symbols/tenants/%s/.build-id/%.2s/%s.debug", folder, path, path + 2);
	ok(n > 1 && access(at(numbers), F_OK) == 0, "which the recorder is told");
	symsaver_window(k);
	ok(symsaver_build_id(k, &m).n == n, "and knows in the next window");
	symsaver_window(k);
	ok(symsaver_build_id(k, &m).n == 0, "and not for ever");
	m.path = str_of(file);
	symsaver_mapping(k, &p, &m);
	UNTIL(k, symsaver_build_id(k, &m).n == n);
	ok(symsaver_build_id(k, &m).n == n, "unless it is mapped again: what was kept tells it");
	end_child(pid);
	symsaver_exit(k, (uint32_t)pid);
	c = symsaver_stop(k, 20000);
	is_u64(c.binaries, 1, "once, however often it is told");
	is_u64(c.dropped + c.hung + c.crashed, 0, "nothing was lost");
	ok(c.kernels == 1 || c.kernel_hidden == 1, "the kernel's symbols are there, or hidden");
	ok(c.bytes > 0, "bytes are counted");
}

static void gone(void)
{
	struct symsaver *k = start(0);
	char file[4096] = "";
	struct symsaver_mapping m = { 0 };
	pid_t first = run_copy("brief"), second;
	struct symsaver_process p = who(first);
	struct symsaver_counts c;

	unlink(at("brief"));
	mapping_of(first, at("brief"), &m, file);
	m.file_id.generation = 4711;
	second = run_copy("brief"); /* another file */
	end_child(first);
	symsaver_mapping(k, &p, &m);
	UNTIL(k, symsaver_counts(k).failed[SYMSAVER_GONE] == 1);
	is_u64(symsaver_counts(k).failed[SYMSAVER_GONE], 1, "its process ended before");
	p = who(second);
	symsaver_mapping(k, &p, &m);
	UNTIL(k, symsaver_counts(k).failed[SYMSAVER_OTHER] + symsaver_counts(k).failed[SYMSAVER_GONE] == 2);
	c = symsaver_stop(k, 20000);
	ok(c.failed[SYMSAVER_OTHER] + c.failed[SYMSAVER_GONE] == 2 && c.binaries == 0,
	   "another process may have the file, but this one has another");
	end_child(second);
	unlink(at("brief"));
}

/* ---- maps of JITs ----------------------------------------------------------------------------------------------- */

static const struct symsaver_mapping anonymous = { .start = 4096, .length = 4096, .path = { "//anon", 6 } };

static pid_t idle_child(void)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	return pid;
}

static void append(const char *path, const char *text)
{
	FILE *f = fopen(path, "a");

	if (!f || fputs(text, f) < 0 || fclose(f))
		abort();
}

/* The folder of what our processes write. */
static const char *own_folder(void)
{
	static char name[TENANT_NAME];
	int self = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct tenant of = tenant_of(self);

	close(self);
	tenant_folder(&of, 0, name);
	return name;
}

static void maps(void)
{
	struct symsaver *k = start(0);
	pid_t pid = idle_child(), second = idle_child(), third = idle_child();
	struct symsaver_process p = who(pid), q = who(second), r = who(third);
	char source[64], copy[300], name[128], planted[64], linked[64];
	struct symsaver_counts c;

	snprintf(source, sizeof(source), "/tmp/perf-%d.map", (int)pid);
	snprintf(planted, sizeof(planted), "/tmp/perf-%d.map", (int)second);
	snprintf(linked, sizeof(linked), "/tmp/perf-%d.map", (int)third);
	snprintf(name, sizeof(name), "jit/%s/%s/%d-%llu.map", boot, own_folder(), (int)pid,
		 (unsigned long long)p.start);
	snprintf(copy, sizeof(copy), "%s", at(name));
	unlink(source);
	unlink(planted);
	unlink(linked);
	ok(mkfifo(planted, 0644) == 0 && symlink("/etc/passwd", linked) == 0, "a FIFO and a link are planted");
	symsaver_mapping(k, &p, &anonymous);
	symsaver_mapping(k, &q, &anonymous);
	symsaver_mapping(k, &r, &anonymous);
	append(source, "1000 10 first\n2000 10 sec");
	UNTIL(k, content(copy).n);
	is_str(content(copy), STR("1000 10 first\n"), "a map that came after it was told of");
	append(source, "ond\n");
	UNTIL(k, content(copy).n > 14);
	is_str(content(copy), STR("1000 10 first\n2000 10 second\n"), "grows");
	UNTIL(k, symsaver_counts(k).failed[SYMSAVER_UNTRUSTED] == 2);
	is_u64(symsaver_counts(k).failed[SYMSAVER_UNTRUSTED], 2, "what is planted is refused, once each");
	append(source, "3000 10 last\n");
	unlink(source);
	end_child(pid);
	symsaver_exit(k, (uint32_t)pid);
	UNTIL(k, content(copy).n > 29);
	is_str(content(copy), STR("1000 10 first\n2000 10 second\n3000 10 last\n"),
	       "what it wrote at its end, though it removed the file");
	c = symsaver_stop(k, 20000);
	is_u64(c.maps, 1, "one map");
	ok(run("test $(find jit -type f | wc -l) = 1"), "and no other file");
	unlink(planted);
	unlink(linked);
	end_child(second);
	end_child(third);
}

/* What stands where a good map was: by the name of a command that puts it there, $1 being the map. */
static const struct {
	const char *what, *command, *copy, *before;
} planted[] = {
	{ "a FIFO", "mkfifo $1.new && mv $1.new $1", "1000 10 good\n", "" },
	{ "a link", "echo 1000 10 bad >other && ln -s $PWD/other $1.new && mv -T $1.new $1", "1000 10 good\n", "" },
	{ "a link to a file of the system", "ln -s /etc/passwd $1.new && mv -T $1.new $1", "1000 10 good\n", "" },
	{ "a folder", "rm $1 && mkdir $1", "1000 10 good\n", "" },
	{ "a device", "mknod $1.new c 1 5 && mv $1.new $1", "1000 10 good\n", "" },
	{ "a file of another user", "echo 1000 10 bad >$1.new && chown 4711 $1.new && mv $1.new $1", "1000 10 good\n",
	  "" },
	{ "a file with another name", "echo 1000 10 bad >$1.new && ln $1.new other2 && mv $1.new $1", "1000 10 good\n",
	  "" },
	{ "a hole of a TB", "echo 1000 10 bad >$1.new && truncate -s 1T $1.new && mv $1.new $1", "", "1000 10 good\n" },
	{ "a line without end", "head -c 3000000 /dev/zero | tr '\\0' 1 >$1.new && mv $1.new $1", "",
	  "1000 10 good\n" },
	{ "nothing", "rm $1", "1000 10 good\n", "" },
	{ "another map", "echo 1000 10 better >$1.new && mv $1.new $1", "1000 10 better\n", "1000 10 good\n" },
	{ "less", "printf '1000 10 l\n' >$1", "1000 10 l\n", "1000 10 good\n" },
};

struct victim {
	pid_t pid;
	struct symsaver_process p;
	char source[64], copy[300], old[304];
};

static bool is_as(const struct victim *victim, const char *copy, const char *old)
{
	return str_eq(content(victim->copy), str_of(copy)) && str_eq(content(victim->old), str_of(old));
}

static bool all_as_planted(const struct victim *victim)
{
	for (size_t i = 0; i < countof(planted); i++)
		if (!is_as(&victim[i], planted[i].copy, planted[i].before))
			return false;
	return true;
}

/* Each has a good map, which something else takes the place of while it lives. */
static void replaced(void)
{
	static struct victim v[countof(planted)];
	struct symsaver *k = start(0);
	char command[500];
	bool good = true;

	for (size_t i = 0; i < countof(planted); i++) {
		v[i].pid = idle_child();
		v[i].p = who(v[i].pid);
		snprintf(v[i].source, sizeof(v[i].source), "/tmp/perf-%d.map", (int)v[i].pid);
		snprintf(v[i].copy, sizeof(v[i].copy), "%s/jit/%s/%s/%d-%llu.map", dir, boot, own_folder(),
			 (int)v[i].pid, (unsigned long long)v[i].p.start);
		snprintf(v[i].old, sizeof(v[i].old), "%s.1", v[i].copy);
		unlink(v[i].source);
		append(v[i].source, "1000 10 good\n");
		symsaver_mapping(k, &v[i].p, &anonymous);
		UNTIL(k, is_as(&v[i], "1000 10 good\n", ""));
		snprintf(command, sizeof(command), "set -- %s && %s", v[i].source, planted[i].command);
		good = run(command) && good;
	}
	ok(good, "maps that something takes the place of");
	/* seven are no file of theirs, two are no text */
	UNTIL(k, symsaver_counts(k).failed[SYMSAVER_UNTRUSTED] >= 9 && all_as_planted(v));
	is_u64(symsaver_counts(k).failed[SYMSAVER_UNTRUSTED], 9, "what is not trusted is counted, once each");
	for (size_t i = 0; i < countof(planted); i++) {
		ok(is_as(&v[i], planted[i].copy, planted[i].before), planted[i].what);
		end_child(v[i].pid);
		symsaver_exit(k, (uint32_t)v[i].pid);
		snprintf(command, sizeof(command), "rm -rf %s other other2", v[i].source);
		run(command);
	}
	ok(symsaver_stop(k, 20000).hung == 0, "no symbol saver hung");
}

/* The number is given to somebody else: what is told of one is not taken from the other. */
static void reused(void)
{
	struct symsaver *k = start(0);
	pid_t pid = idle_child();
	struct symsaver_process p = who(pid);
	char source[64];

	snprintf(source, sizeof(source), "/tmp/perf-%d.map", (int)pid);
	unlink(source);
	append(source, "1000 10 not mine\n");
	p.start++;
	symsaver_mapping(k, &p, &anonymous);
	UNTIL(k, symsaver_counts(k).failed[SYMSAVER_GONE] == 1);
	p.start = 0;
	symsaver_mapping(k, &p, &anonymous);
	symsaver_mapping(k, &p, &anonymous);
	is_u64(symsaver_counts(k).failed[SYMSAVER_GONE], 2,
	       "one that ended before anybody knew when it began is counted, once");
	is_u64(symsaver_stop(k, 20000).maps, 0, "a map of another process with that number is not copied");
	unlink(source);
	end_child(pid);
}

/* ---- keepers that fail ------------------------------------------------------------------------------------------ */

static void crashes(void)
{
	struct symsaver *k = start(1);
	pid_t saver = 0, next = 0, pid = run_copy("gone2");
	struct symsaver_process p = who(pid);
	struct symsaver_mapping m = { 0 };
	char file[4096] = "";
	struct symsaver_counts c;

	unlink(at("gone2"));
	mapping_of(pid, at("gone2"), &m, file);
	m.file_id.generation = 1;
	UNTIL(k, (saver = saver_of(getpid())) > 0);
	ok(saver > 0 && kill(saver, SIGKILL) == 0, "the keeper is killed");
	for (siginfo_t info = { 0 }; saver > 0 && info.si_pid == 0;)
		waitid(P_PID, (id_t)saver, &info, WEXITED | WNOWAIT);
	for (uint64_t i = 100; i < 110; i++) { /* before anybody knows; a signal would end us here */
		m.file_id.generation = i;
		symsaver_mapping(k, &p, &m);
	}
	m.file_id.generation = 1;
	UNTIL(k, symsaver_counts(k).crashed == 1);
	is_u64(symsaver_counts(k).crashed, 1, "which is counted");
	UNTIL(k, (next = saver_of(getpid())) > 0 && next != saver);
	ok(next > 0 && next != saver, "there is another one");
	symsaver_mapping(k, &p, &m);
	UNTIL(k, run("ls symbols/tenants/*/*/*-1 >/dev/null 2>&1"));
	ok(run("ls symbols/tenants/*/*/*-1 >/dev/null"), "which keeps");
	end_child(pid);

	UNTIL(k, (saver = saver_of(getpid())) > 0);
	kill(saver, SIGSTOP);
	m.path.n = 0;
	for (uint32_t i = 0; i < 20000; i++) {
		p.pid = i + 1;
		symsaver_mapping(k, &p, &anonymous);
	}
	c = symsaver_counts(k);
	ok(c.dropped > 0 && c.dropped < 20000, "what a keeper that stands still cannot take is dropped, and counted");
	double before = now();
	c = symsaver_stop(k, 100);
	ok(now() - before < 20 && c.hung == 1, "nobody waits for it");
	kill(saver, SIGCONT);
}

static void killed(void)
{
	int ready[2];
	char byte;
	pid_t recorder, saver, jit = idle_child();
	struct symsaver_process p = who(jit);
	char source[64], name[128];

	snprintf(source, sizeof(source), "/tmp/perf-%d.map", (int)jit);
	snprintf(name, sizeof(name), "jit/%s/%s/%d-%llu.map", boot, own_folder(), (int)jit,
		 (unsigned long long)p.start);
	unlink(source);
	append(source, "1000 10 a\n");
	if (pipe(ready) < 0)
		abort();
	recorder = fork();
	if (recorder == 0) {
		struct symsaver *k = start(0);

		symsaver_mapping(k, &p, &anonymous);
		UNTIL(k, symsaver_counts(k).maps == 1);
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	if (read(ready[0], &byte, 1) != 1)
		abort();
	saver = saver_of(recorder);
	append(source, "2000 10 b\n");
	end_child(recorder);
	UNTIL((struct symsaver *)NULL, kill(saver, 0) < 0);
	ok(saver > 0 && kill(saver, 0) < 0, "a recorder is killed, and its keeper ends");
	is_str(content(at(name)), STR("1000 10 a\n2000 10 b\n"), "after it took what was there");
	unlink(source);
	end_child(jit);
	close(ready[0]);
	close(ready[1]);
}

/* ---- a file system that never answers --------------------------------------------------------------------------- */

static void answer(int fd, const struct fuse_in_header *header, int error, const void *body, size_t n)
{
	char buf[512];
	struct fuse_out_header out = { (uint32_t)(sizeof(out) + n), error, header->unique };

	memcpy(buf, &out, sizeof(out));
	if (n)
		memcpy(buf + sizeof(out), body, n);
	if (write(fd, buf, sizeof(out) + n) < 0)
		return;
}

/* Answers what a mount needs, and no look-up of a name. Ends when the test says so. */
static void serve(int fd, int stop)
{
	static char buf[1 << 17];
	struct pollfd p[2] = { { .fd = fd, .events = POLLIN }, { .fd = stop, .events = POLLIN } };

	for (;;) {
		struct fuse_in_header in;
		ssize_t n;

		if (poll(p, 2, -1) < 0 || p[1].revents)
			return;
		n = read(fd, buf, sizeof(buf));
		if (n < (ssize_t)sizeof(in))
			return;
		memcpy(&in, buf, sizeof(in));
		if (in.opcode == FUSE_INIT) {
			struct fuse_init_out init = {
				.major = 7, .minor = 31, .max_write = 4096, .max_readahead = 4096
			};

			answer(fd, &in, 0, &init, sizeof(init));
		} else if (in.opcode == FUSE_GETATTR) {
			struct fuse_attr_out attr = { .attr = { .ino = 1, .mode = S_IFDIR | 0755, .nlink = 2 } };

			answer(fd, &in, 0, &attr, sizeof(attr));
		} else if (in.opcode != FUSE_LOOKUP && in.opcode != FUSE_FORGET && in.opcode != FUSE_INTERRUPT) {
			answer(fd, &in, -ENOSYS, NULL, 0);
		}
	}
}

/* A process in a mount namespace of its own, with such a file system in dir/hang. -1: it cannot be made here. */
static pid_t hanging_container(int stop)
{
	int ready[2], fd;
	char byte = 0, options[128];
	pid_t pid;

	if (pipe(ready) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
		snprintf(options, sizeof(options), "fd=%d,rootmode=40755,user_id=0,group_id=0,allow_other", fd);
		if (fd < 0 || unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		    mount("hang", at("hang"), "fuse.hang", 0, options) < 0 || write(ready[1], "x", 1) != 1)
			_exit(1);
		serve(fd, stop);
		_exit(0);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1) {
		waitpid(pid, NULL, 0);
		pid = -1;
	}
	close(ready[0]);
	return pid;
}

static void hangs(void)
{
	struct symsaver_mapping m = { .start = 4096, .file_id.inode = 7, .file_id.major = 1, .path = STR("") };
	int stop[2];
	pid_t pid, saver;
	struct symsaver *k;
	struct symsaver_process p;
	struct symsaver_counts c;
	double before;

	if (pipe(stop) < 0 || mkdir(at("hang"), 0755) < 0 || (pid = hanging_container(stop[0])) < 0) {
		ok(true, "a file system that never answers # SKIP FUSE cannot be mounted here");
		return;
	}
	p = who(pid);
	k = start(1);
	m.path = str_of(at("hang/file"));
	ok(symsaver_process(k, &p), "a process that is elsewhere");
	symsaver_mapping(k, &p, &m);
	UNTIL(k, symsaver_counts(k).hung == 1);
	is_u64(symsaver_counts(k).hung, 1, "its file system does not respond: the keeper hangs, and is replaced");
	UNTIL(k, saver_of(getpid()) > 0);
	symsaver_window(k);
	symsaver_mapping(k, &p, &m);
	UNTIL(k, symsaver_counts(k).failed[SYMSAVER_HUNG] == 1);
	c = symsaver_counts(k);
	ok(c.failed[SYMSAVER_HUNG] == 1 && c.hung == 1, "the next one leaves that namespace alone");
	saver = saver_of(getpid());
	before = now();
	c = symsaver_stop(k, 10000);
	ok(saver > 0 && now() - before < 9 && c.hung == 1, "and ends in time");
	if (write(stop[1], "x", 1) != 1)
		abort();
	waitpid(pid, NULL, 0);
	while (waitpid(-1, NULL, 0) > 0) /* the one that hung */
		;
}

int main(void)
{
	if (!mkdtemp(dir))
		return 1;
	memcpy(boot, content("/proc/sys/kernel/random/boot_id").p, 36);
	deleted();
	gone();
	maps();
	if (geteuid() == 0)
		replaced();
	else
		printf("ok %d - maps that something takes the place of # SKIP needs root\n", ++tap_n);
	reused();
	crashes();
	killed();
	hangs();
	ok(run("cd / && rm -rf \"$OLDPWD\""), "clean");
	return done();
}
