/* keepdir_test - names of what is kept, files that appear whole, and which go when. */
/* covers: record/symsaver/saverdir.c record/symsaver/saversweep.c record/symsaver/saverbudget.c common/filter/boot.c */
#include "record/symsaver/saversweep.h"

#include "test/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char dir[] = "/tmp/pj-keepdir-test.XXXXXX";
static struct saverdir k;

static const char *at(const char *name)
{
	static char path[4][512];
	static unsigned i;

	snprintf(path[++i % 4], sizeof(path[0]), "%s/%s", dir, name);
	return path[i % 4];
}

static bool exists(const char *name)
{
	return access(at(name), F_OK) == 0;
}

/* A command in the folder. */
static bool run(const char *command)
{
	char line[1024];

	snprintf(line, sizeof(line), "cd %s && %s", dir, command);
	return system(line) == 0;
}

static unsigned mode(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? st.st_mode & 07777 : 0;
}

/* A file of that many bytes below symbols/, needed so many seconds ago. */
static bool keep(const char *path, const char *also, size_t bytes, time_t age)
{
	struct timespec t[2] = { { time(NULL) - age, 0 }, { time(NULL) - age, 0 } };
	char *data = calloc(1, bytes + 1);
	struct saverdir_file f;
	bool good = saverdir_begin(&k, &f) && write(f.fd, data, bytes) == (ssize_t)bytes &&
		    saverdir_commit(&k, &f, path, also) && utimensat(k.symbols, path, t, 0) == 0;

	free(data);
	return good;
}

static void window(const char *folder, time_t age)
{
	char name[64];

	mkdir(at(folder), 0755);
	snprintf(name, sizeof(name), "%s/%lld.data", folder, (long long)(time(NULL) - age));
	close(open(at(name), O_CREAT | O_WRONLY, 0644));
}

static void names(void)
{
	struct build_id id = { 3, { 0xab, 0xcd, 0x01 } };
	char path[SAVERDIR_PATH];

	saverdir_build_id(path, "", &id);
	is_str(str_of(path), STR(".build-id/ab/cd01.debug"), "by build-id, as every tool looks for it");
	id.n = 20;
	saverdir_build_id(path, "", &id);
	is_u64(strlen(path), strlen(".build-id/ab/.debug") + 38, "a whole one");
	saverdir_numbers(&k, path, "", &(struct file_id){ 8, 0x10, 0x1234567890, UINT64_MAX });
	is_str(str_from(str_of(path), BOOT_ID), STR("/8-10-1234567890-ffffffffffffffff"), "by numbers");
	ok(strncmp(path, k.boot, BOOT_ID) == 0, "of this boot");
}

static void files(void)
{
	struct saverdir_file f;

	ok(!exists("symbols"), "nothing is made before it is needed");
	ok(!saverdir_touch(&k, ".build-id/ab/cd.debug"), "it is not there");
	ok(saverdir_begin(&k, &f) && write(f.fd, "x", 1) == 1, "a file is begun");
	ok(!exists("symbols/.build-id/ab/cd.debug"), "it is not there before it is whole");
	ok(saverdir_commit(&k, &f, ".build-id/ab/cd.debug", "boot/1-2-3-4"), "it is committed");
	ok(exists("symbols/.build-id/ab/cd.debug") && exists("symbols/boot/1-2-3-4"), "it has both names");
	is_u64(mode(at("symbols/boot/1-2-3-4")), 0640, "its mode");
	is_u64(mode(at("symbols/.build-id")), 0750, "a folder's mode");
	ok(saverdir_touch(&k, ".build-id/ab/cd.debug"), "it is touched");
	ok(saverdir_begin(&k, &f), "another one");
	saverdir_discard(&k, &f);
	ok(saverdir_link(&k, ".build-id/ab/cd.debug", "boot/5-6-7-8") && exists("symbols/boot/5-6-7-8"),
	   "one more name");
	ok(saverdir_jit(&k) >= 0 && mode(at("jit")) == 0750, "jit/");
	ok(run("test -z \"$(find . -name '.keep-*')\""), "no temporary file is left");
}

static void refusals(void)
{
	struct saverdir other;
	char sub[64], real[] = "/tmp/pj-keepdir-real.XXXXXX";

	ok(saverdir_open(&other, "/nowhere/at/all", "/proc", 0) != NULL, "no such folder");
	saverdir_close(&other);
	ok(mkdtemp(real) != NULL, "a folder elsewhere");
	snprintf(sub, sizeof(sub), "%s/symbols", real);
	ok(symlink(dir, sub) == 0 && saverdir_open(&other, real, "/proc", 0) != NULL, "symbols/ is a link");
	saverdir_close(&other);
	unlink(sub);
	ok(mkdir(sub, 0777) == 0 && chmod(sub, 0777) == 0 && saverdir_open(&other, real, "/proc", 0) != NULL,
	   "symbols/ is everybody's");
	saverdir_close(&other);
	ok(chmod(sub, 0770) == 0 && saverdir_open(&other, real, "/proc", 0) != NULL, "a group can write to symbols/");
	saverdir_close(&other);
	if (geteuid() == 0)
		ok(chmod(sub, 0755) == 0 && chown(sub, 12345, 0) == 0 &&
			   saverdir_open(&other, real, "/proc", 0) != NULL,
		   "symbols/ is somebody's");
	else
		ok(true, "symbols/ is somebody's # SKIP not root");
	saverdir_close(&other);
	rmdir(sub);
	rmdir(real);
	ok(saverdir_open(&other, dir, "/nowhere", 0) != NULL, "no boot id");
	saverdir_close(&other);
	ok(saverdir_open(&other, dir, "/proc", 1.1) == NULL && !saverdir_has_space(&other, 1) && errno == ENOSPC,
	   "a file system that is too full");
	saverdir_close(&other);
}

static void sweeps(void)
{
	const time_t hour = 3600, day = 24 * hour;
	struct saversweep s;

	ok(run("rm -rf symbols/* symbols/.build-id"), "clean");
	ok(keep(".build-id/aa/old.debug", "boot-a/1-1-1-1", 5000, 40 * day) &&
		   keep(".build-id/bb/new.debug", NULL, 5000, hour) && keep("boot-b/2-2-2-2", NULL, 5000, 3 * day) &&
		   keep("kallsyms-boot-a.1.gz", NULL, 5000, 40 * day),
	   "some files");
	close(openat(k.boot_jit, "1-2.map", O_CREAT | O_WRONLY, 0640));
	window("out", 10 * day);
	window("recording", 5 * day);
	close(open(at("out/1.notdata"), O_CREAT | O_WRONLY, 0644));
	s = saversweep_run(&k, 1 << 30, day);
	is_u64(s.removed, 3, "what is older than the oldest window is removed");
	is_u64(s.forced, 0, "nothing is removed that is needed");
	ok(!exists("symbols/.build-id/aa") && !exists("symbols/boot-a"), "with folders that are empty then");
	ok(exists("symbols/boot-b/2-2-2-2") && exists("symbols/.build-id/bb/new.debug") &&
		   faccessat(k.boot_jit, "1-2.map", F_OK, 0) == 0,
	   "what is younger stays");
	is_u64(k.bytes, 20480, "bytes on disk, 4 kB of an empty file among them");
	ok(run("rm out/* recording/*"), "no windows any more");
	s = saversweep_run(&k, 1 << 30, 4 * day);
	is_u64(s.removed, 0, "without windows, what is younger than the least age stays");
	s = saversweep_run(&k, 1 << 30, 2 * day);
	is_u64(s.removed, 1, "and no more");
}

static void limits(void)
{
	const time_t hour = 3600;
	char name[64];
	struct saversweep s;
	bool good = true;

	window("out", 1000 * hour);
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "boot-c/%d", i);
		good = keep(name, NULL, 8192, i * hour) && good;
	}
	ok(good, "100 files, one for each hour");
	s = saversweep_run(&k, 8192 * 50, hour);
	is_u64(s.removed, 0, "a window needs them all");
	ok(s.forced >= 54 && s.forced <= 64,
	   "but there is a limit: what was needed longest ago goes, until a tenth is free");
	ok(exists("symbols/boot-c/0") && exists("symbols/boot-c/30") && !exists("symbols/boot-c/60") &&
		   !exists("symbols/boot-c/99"),
	   "the youngest stay");
	ok(k.bytes <= 8192 * 45 && k.bytes > 8192 * 30, "bytes on disk");
	s = saversweep_run(&k, 8192 * 50, hour);
	is_u64(s.forced, 0, "once");
	for (int i = 0; i < 30; i++) {
		snprintf(name, sizeof(name), "boot-d/%d", i);
		keep(name, NULL, 8192, 0);
	}
	s = saversweep_run(&k, 8192 * 10, hour);
	ok(k.bytes <= 8192 * 10 && k.bytes >= 8192 * 8, "also when all are of the same age");
}

/* n files of a tenant, of 8 kB each, needed age seconds ago. */
static bool keep_for(const char *folder, unsigned n, time_t age)
{
	bool good = true;
	char name[64];

	for (unsigned i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%s/%u", folder, i);
		good = keep(name, NULL, 8192, age) && good;
	}
	return good;
}

static unsigned count(const char *folder)
{
	char command[200], line[64] = "";
	FILE *f;

	snprintf(command, sizeof(command), "find %s/symbols/%s -type f 2>/dev/null | wc -l", dir, folder);
	f = popen(command, "r");
	if (!f || !fgets(line, sizeof(line), f) || pclose(f) < 0)
		abort();
	return (unsigned)strtoul(line, NULL, 10);
}

static void add_files(void *arg, struct tenant tenant, uint64_t files)
{
	uint64_t *sum = arg;

	sum[tenant.kind == TENANT_USER && tenant.key == 1000] += files;
}

static void shares(void)
{
	static struct saverbudget_over over;
	struct saverbudget_counts before = { 0 };
	uint64_t files[2] = { 0, 0 };
	struct saversweep s;

	ok(run("rm -rf symbols/* symbols/.build-id out/* jit/*"), "clean");
	window("out", 1000 * 3600);
	saverbudget_open(&k.budget, 1 << 20, &over);
	ok(keep_for("tenants/user-1000/.build-id/aa", 100, 0), "a tenant with 100 files");
	s = saversweep_run(&k, 8192 * 100, 3600);
	is_u64(s.forced, 0, "one that is alone has all of the limit");
	ok(keep_for("tenants/user-1001/.build-id/aa", 20, 7200) && keep_for(".build-id/aa", 30, 7200),
	   "a neighbour, and the host, longer ago");
	s = saversweep_run(&k, 8192 * 100, 3600);
	is_u64(count("tenants/user-1001"), 20, "over the limit, the neighbour keeps its files");
	is_u64(count(".build-id"), 30, "so does the host");
	is_u64(count("tenants/user-1000"), 40, "the tenant that is over its share loses those that are too many");
	is_u64(s.forced, 60, "which are counted");
	saverbudget_each(&over, &before, add_files, files);
	ok(files[0] == 0 && files[1] == 60, "for that tenant");
	files[1] = 0;
	saverbudget_each(&over, &before, add_files, files);
	is_u64(files[1], 0, "once");
	ok(keep_for("tenants/user-1002/.build-id/aa", 90, 0), "one more");
	saversweep_run(&k, 8192 * 100, 3600);
	is_u64(count("tenants/user-1001") + count(".build-id"), 50, "smaller shares stay again");
	is_u64(count("tenants/user-1000"), 20, "of two that are too large,");
	is_u64(count("tenants/user-1002"), 20, "  each keeps as much");
	ok(keep("tenants/user-1002/b", "shared/b", 8192, 0) && run("rm symbols/tenants/user-1002/b"),
	   "the last file of a shared one goes");
	saversweep_run(&k, 8192 * 100, 3600);
	ok(!exists("symbols/shared/b"), "and its further link with it");
	saverbudget_close(&k.budget);
}

int main(void)
{
	if (!mkdtemp(dir) || saverdir_open(&k, dir, "/proc", 0))
		return 1;
	names();
	files();
	refusals();
	sweeps();
	limits();
	shares();
	saverdir_close(&k);
	ok(run("cd / && rm -rf \"$OLDPWD\""), "clean");
	return done();
}
