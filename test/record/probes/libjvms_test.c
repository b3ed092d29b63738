/* Files libjvm.so of real processes: each file once, also of a process that ends at once; no process and no tenant
 * keeps those of others out of the list. Functions of such a file. */
/* covers: record/probes/libjvms.c record/probes/mappedfile.c record/probes/hostmounts.c record/probes/probehelper.c
 * record/probes/uprobes.c */
#include "record/probes/libjvms.h"
#include "common/arena.h"
#include "common/files/fullio.h"
#include "common/process/tenants.h"
#include "record/probes/hostmounts.h"
#include "record/probes/uprobes.h"
#include "test/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN_MAX = 64, PATH = 128, PAGE = 4096 };

static volatile sig_atomic_t stop;
static char folder[PATH];
static uint32_t child[CHILDREN_MAX];
static size_t nchildren;
static struct libjvms found;
static struct text why;

/* Writes the file number i: a copy of this program, if `program`, else a page of zeros. */
static void make_file(unsigned i, bool program, char path[PATH])
{
	struct text bytes = { 0 };
	int fd;

	snprintf(path, PATH, "%.80s/%u", folder, i);
	mkdir(path, 0755);
	snprintf(path, PATH, "%.80s/%u/libjvm.so", folder, i);
	if (!program || !fullio_read_at(AT_FDCWD, "/proc/self/exe", &bytes, (size_t)64 << 20)) {
		text_reserve(&bytes, PAGE);
		memset(bytes.p, 0, PAGE);
		bytes.n = PAGE;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	if (fd < 0 || write(fd, bytes.p, bytes.n) != (ssize_t)bytes.n)
		abort();
	close(fd);
	text_free(&bytes);
}

static void map_code(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		_exit(1);
	close(fd);
}

/* Starts a process of a user (0: the same one) that maps up to two files and then waits. */
static uint32_t start(uid_t user, const char *path, const char *other)
{
	int ready[2];
	char byte;
	pid_t pid;

	if (pipe(ready) < 0)
		abort();
	pid = fork();
	if (pid == 0) {
		if (path)
			map_code(path);
		if (other)
			map_code(other);
		if (user && setresuid(user, user, user) < 0)
			_exit(1);
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (pid < 0 || read(ready[0], &byte, 1) != 1)
		abort();
	close(ready[0]);
	child[nchildren++] = (uint32_t)pid;
	return (uint32_t)pid;
}

static void end_one(uint32_t pid)
{
	kill((pid_t)pid, SIGKILL);
	waitpid((pid_t)pid, NULL, 0);
}

static void end_all(void)
{
	while (nchildren)
		end_one(child[--nchildren]);
	libjvms_free(&found);
}

static bool find(void)
{
	libjvms_free(&found);
	why.n = 0;
	return libjvms_find(&found, child, nchildren, &stop, &why);
}

/* Returns the index of the file in the list; UINT32_MAX if it is not in it. */
static uint32_t index_of(const char *path)
{
	struct stat want, got;

	for (uint32_t i = 0; i < found.n; i++)
		if (stat(path, &want) == 0 && fstat(found.file[i].fd, &got) == 0 && want.st_ino == got.st_ino &&
		    want.st_dev == got.st_dev)
			return i;
	return UINT32_MAX;
}

static void test_files(void)
{
	char a[PATH], b[PATH];
	uint32_t first;

	make_file(1, false, a);
	make_file(2, false, b);
	start(0, NULL, NULL);
	ok(find() && found.n == 0 && !found.left_out && !found.unread, "a process without such a file");
	first = start(0, a, NULL);
	start(0, b, NULL);
	start(0, a, NULL);
	start(0, a, b);
	ok(find(), "several processes");
	ok(found.n == 2 && index_of(a) == 0 && index_of(b) == 1, "  each file once");
	is_u64(found.file[0].pid, first, "  with its first process");
	is_u64(found.left_out, 1, "  a process with two files is left out");
	end_one(first);
	ok(find() && index_of(a) != UINT32_MAX, "if the first process has ended, the next one counts");
	for (size_t i = 0; i < nchildren; i++)
		if (child[i] == first)
			child[i] = child[--nchildren];
	unlink(b);
	ok(find() && index_of(a) != UINT32_MAX && found.n + found.left_out >= 2,
	   "a file that was removed is opened through its mapping, or counted");
	stop = 1;
	ok(!find() && why.n, "a signal ends the search");
	stop = 0;
	end_all();
}

static void *wait_here(void *arg)
{
	const int *ready = arg;

	/* the main thread has ended once its mappings are gone */
	for (int k = 0; k < 10000; k++) {
		struct text maps = { 0 };
		bool gone = fullio_read_at(AT_FDCWD, "/proc/self/maps", &maps, PAGE) && !maps.n;

		text_free(&maps);
		if (gone && write(*ready, "", 1) == 1)
			for (;;)
				pause();
		usleep(1000);
	}
	_exit(1);
}

/* A process whose main thread has ended has no mappings in /proc/PID/maps. */
static void test_ended_thread(void)
{
	char path[PATH], byte;
	int ready[2];
	pid_t pid;

	make_file(8, false, path);
	if (pipe(ready) < 0)
		abort();
	pid = fork();
	if (pid == 0) {
		static pthread_t thread;

		map_code(path);
		if (pthread_create(&thread, NULL, wait_here, &ready[1]) != 0)
			_exit(1);
		pthread_exit(NULL);
	}
	close(ready[1]);
	if (pid < 0 || read(ready[0], &byte, 1) != 1)
		abort();
	close(ready[0]);
	child[nchildren++] = (uint32_t)pid;
	ok(find() && found.n == 1 && index_of(path) == 0 && found.file[0].pid == (uint32_t)pid,
	   "a process whose main thread has ended is read, too");
	end_all();
}

/* Many files of one tenant do not keep out that of another one, and come after its first file. */
static void test_tenants(void)
{
	enum { FILES = LIBJVMS_TENANT + 4 };
	char path[FILES + 1][PATH];
	struct libjvms all = { 0 };

	for (unsigned i = 0; i <= FILES; i++)
		make_file(10 + i, false, path[i]);
	for (unsigned i = 0; i < FILES; i++)
		start(geteuid() ? 0 : 12345, path[i], NULL);
	ok(find(), "many files of one tenant");
	is_u64(found.n, LIBJVMS_TENANT, "  as many as one tenant may have");
	is_u64(found.left_out, FILES - LIBJVMS_TENANT, "  the others are counted");
	if (geteuid() || !tenant_same(tenant_without_namespaces(child[0]), (struct tenant){ TENANT_USER, 12345 })) {
		ok(true, "files of two tenants # SKIP needs root outside of a container");
		end_all();
		return;
	}
	start(12346, path[FILES], NULL);
	start(12346, path[FILES - 1], NULL);
	start(12347, path[2], NULL);
	ok(find() && found.n == LIBJVMS_TENANT + 2, "files of other tenants are added");
	ok(index_of(path[FILES]) <= 2, "  their first ones are among the first");
	ok(index_of(path[2]) <= 2, "  also one that the many files include");
	ok(index_of(path[FILES - 1]) != UINT32_MAX, "  also one for which the first tenant had no space");
	is_u64(libjvms_find(&all, NULL, 0, &stop, &why) && all.n >= LIBJVMS_TENANT + 2, true,
	       "the same among all processes");
	libjvms_free(&all);
	end_all();
}

/* Breakpoints in the file, whatever its process does after the search. */
static void test_functions(void)
{
	const struct str names[] = { STR("no_such_function"), STR("main") }, none[] = { STR("no_such_function") },
			 other[] = { STR("libjvms_find") };
	const struct uprobe_function function[] = { { names, 2 }, { other, 1 } },
				     missing[] = { { names, 2 }, { none, 1 } };
	struct uprobe_file what = { STR("libjvm.so"), function, 2, STR("it lacks one"), 20000, &stop };
	struct uprobe uprobe[2];
	char program[PATH], zeros[PATH];

	make_file(3, true, program);
	make_file(4, false, zeros);
	start(0, program, NULL);
	start(0, zeros, NULL);
	ok(find() && found.n == 2 && index_of(program) == 0, "a program and a file of zeros");
	for (size_t i = 0; i < nchildren; i++)
		end_one(child[i]);
	nchildren = 0;
	unlink(program);
	ok(uprobes_find_open(uprobe, found.file[0].fd, &what, &why),
	   "both functions, although the process has ended and its file is removed");
	ok(uprobe[0].offset && uprobe[1].offset && uprobe[0].offset != uprobe[1].offset &&
		   uprobe[0].fd != uprobe[1].fd && uprobe[0].fd >= 0 && uprobe[0].fd != found.file[0].fd,
	   "  two breakpoints, with descriptors of their own");
	uprobes_free(&uprobe[0]);
	uprobes_free(&uprobe[1]);
	what.function = missing;
	why.n = 0;
	ok(!uprobes_find_open(uprobe, found.file[0].fd, &what, &why), "if it lacks one, there is none");
	is_str(text_view(&why), STR("it lacks one"), "  the reason");
	what.function = function;
	why.n = 0;
	ok(!uprobes_find_open(uprobe, found.file[1].fd, &what, &why) && str_find(text_view(&why), 'E') >= 0,
	   "a file of zeros is no ELF file");
	end_all();
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		_exit(3);
	close(fd);
}

/* Starts a process in a mount namespace of its own, which maps the file `path`. options: if not NULL, it mounts an
 * overlay at `mounted` in a user namespace of its own first. root: if not NULL, its root directory. Returns false if it
 * cannot. */
static bool start_in_namespace(const char *options, const char *mounted, const char *root, const char *path)
{
	uid_t uid = geteuid();
	char map[32];
	int ready[2];
	char byte;
	pid_t pid;

	snprintf(map, sizeof(map), "0 %u 1", (unsigned)uid);
	if (pipe(ready) < 0)
		abort();
	pid = fork();
	if (pid == 0) {
		if (unshare(CLONE_NEWNS | (options ? CLONE_NEWUSER : 0)) < 0)
			_exit(3);
		if (options) {
			put("/proc/self/uid_map", map);
			if (mount("overlay", mounted, "overlay", 0, options) < 0)
				_exit(3);
		}
		if (root && (chroot(root) < 0 || chdir("/") < 0))
			_exit(3);
		map_code(path);
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	child[nchildren++] = (uint32_t)pid;
	byte = read(ready[0], &byte, 1) == 1;
	close(ready[0]);
	return byte;
}

/* The mountinfo of a process after chroot() lacks the mount of its file: the device shows that it is local. */
static void test_root_directory(void)
{
	char path[PATH], root[PATH];

	make_file(8, false, path);
	snprintf(root, PATH, "%.80s/8", folder);
	if (!start_in_namespace(NULL, NULL, root, "/libjvm.so"))
		ok(true, "a root directory in another mount namespace # SKIP it needs root");
	else
		ok(find() && found.n == 1 && index_of(path) == 0, "a root directory in another mount namespace");
	end_all();
}

/* An overlay counts if root of the host has mounted it, as that of a container; its process is in another mount
 * namespace. */
static void test_overlays(void)
{
	char file[PATH], path[PATH], lower[PATH], empty[PATH], mounted[PATH], root[PATH], options[3 * PATH];

	make_file(7, false, file);
	snprintf(lower, PATH, "%.80s/7", folder);
	snprintf(empty, PATH, "%.80s/empty", folder);
	snprintf(mounted, PATH, "%.80s/mounted", folder);
	snprintf(options, sizeof(options), "lowerdir=%s:%s", lower, empty);
	mkdir(empty, 0755);
	mkdir(mounted, 0755);
	snprintf(path, PATH, "%.80s/mounted/libjvm.so", folder);
	if (!start_in_namespace(options, mounted, NULL, path))
		ok(true, "an overlay of a user namespace # SKIP it cannot be mounted");
	else
		ok(find() && found.n == 0 && found.left_out == 1,
		   "a file on an overlay of a user namespace is left out");
	end_all();
	/* a part of the overlay is the root directory: no mountinfo shows the mount */
	snprintf(path, PATH, "%.80s/7/sub/libjvm.so", folder);
	snprintf(root, PATH, "%.80s/7/sub", folder);
	if (mkdir(root, 0755) < 0 || link(file, path) < 0)
		abort();
	snprintf(root, PATH, "%.80s/mounted/sub", folder);
	if (!start_in_namespace(options, mounted, root, "/libjvm.so"))
		ok(true, "a folder of it as root directory # SKIP it cannot be mounted");
	else
		ok(find() && found.n == 0 && found.left_out == 1, "  also if no namespace shows its mount");
	end_all();
	if (mount("overlay", mounted, "overlay", 0, options) < 0) {
		ok(true, "an overlay of the host # SKIP it cannot be mounted");
		return;
	}
	snprintf(path, PATH, "%.80s/mounted/libjvm.so", folder);
	ok(start_in_namespace(NULL, NULL, NULL, path) && find() && found.n == 1 && index_of(path) == 0,
	   "one on an overlay of the host is not, also in another mount namespace");
	end_all();
	umount2(mounted, MNT_DETACH);
}

/* Mounts in text of mountinfo. */
static void test_mountinfo(void)
{
	const struct str text =
		STR("21 1 8:1 / / rw - ext4 /dev/sda1 rw\n36 21 0:45 / /a rw shared:1 - overlay overlay rw\n"
		    "37 21\n38\n39 21 8:1 / /b rw -");
	struct str id = STR("36");
	struct hostmount mount = { 0 };

	ok(hostmounts_find(text, &id, &mount), "a mount by its id");
	is_str(mount.device, STR("0:45"), "  its device");
	is_str(mount.type, STR("overlay"), "  its type");
	mount.device = STR("8:1");
	ok(hostmounts_find(text, NULL, &mount), "  by its device");
	is_str(mount.type, STR("ext4"), "  its type, without optional fields");
	mount.device = STR("0:4");
	ok(!hostmounts_find(text, NULL, &mount), "  part of one is none");
	id = STR("37");
	ok(!hostmounts_find(text, &id, &mount), "  nor is a line that ends early");
	id = STR("39");
	ok(!hostmounts_find(text, &id, &mount), "  or has no type");
	ok(hostmounts_is_local_type(STR("ext4")) && !hostmounts_is_local_type(STR("fuse.ext4")) &&
		   !hostmounts_is_local_type(STR("nfs4")) && !hostmounts_is_local_type(STR("overlay")),
	   "types that are local");
}

/* Writes a page of the same byte. */
static void fill_file(const char *path, char byte)
{
	char page[PAGE];
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	memset(page, byte, PAGE);
	if (fd < 0 || write(fd, page, PAGE) != PAGE)
		abort();
	close(fd);
}

/* Returns the result of uprobes_try in a process that can open no more descriptors. */
static int try_without_descriptors(const struct perf_event_attr *attr)
{
	const struct rlimit none = { 0, 0 };
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		setrlimit(RLIMIT_NOFILE, &none);
		_exit(uprobes_try(attr));
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* A breakpoint that the kernel refuses, because of the bytes that the owner of the file has written there. */
static void test_refused(void)
{
	struct perf_event_attr attr = { .type = uprobes_type(), .config2 = 16 };
	char usual[PATH], forged[PATH];
	int error;

	make_file(5, false, usual);
	make_file(6, false, forged);
	fill_file(usual, '\x55'); /* push %rbp, as most functions begin */
	fill_file(forged, '\xcc');
	start(0, usual, NULL);
	start(0, forged, NULL);
	attr.config1 = (uintptr_t)usual;
	error = attr.type ? uprobes_try(&attr) : ENOENT;
	if (error == ENOENT || error == EACCES || error == EPERM) {
		ok(true, "breakpoints are tried # SKIP needs root and the uprobe PMU");
	} else {
		is_u64((uint64_t)error, 0, "a usual function can be probed");
		attr.config1 = (uintptr_t)forged;
		error = uprobes_try(&attr);
		ok(error > 0 && !uprobes_is_beside_file(error), "  one that begins with a breakpoint cannot");
		attr.config1 = (uintptr_t)usual;
		error = try_without_descriptors(&attr);
		ok(error > 0 && uprobes_is_beside_file(error), "  a lack of descriptors is no fault of the file");
	}
	end_all();
}

int main(void)
{
	const char *tmp = getenv("TMPDIR");
	char command[PATH + 16];

	snprintf(folder, sizeof(folder), "%.60s/libjvms-XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(folder) || chmod(folder, 0755) < 0)
		abort();
	test_files();
	test_ended_thread();
	test_tenants();
	test_functions();
	test_root_directory();
	test_overlays();
	test_mountinfo();
	test_refused();
	text_free(&why);
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	if (system(command) != 0)
		return 1;
	return done();
}
