/* What pjrecord reads from /proc and /sys, borders of windows, lists of CPUs. */
/* covers: record/processes/procfs.c record/processes/cgroups.c record/processes/kerneltext.c */
/* covers: common/clocks.c record/perf/cpulist.c */
#include "record/processes/cgroups.h"
#include "common/formats/buildid.h"
#include "common/clocks.h"
#include "record/processes/kerneltext.h"
#include "record/processes/procfs.h"
#include "record/perf/cpulist.h"
#include "test/lib/tap.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define S SECOND_NS

static void check_cpus(void)
{
	static const struct {
		const char *text, *want;
	} list[] = { { "0-3\n", "0 1 2 3 " },  { "0,2,5-6\n", "0 2 5 6 " },
		     { "7\n", "7 " },          { "", "" },
		     { "x,1,3-2,-4\n", "1 " }, { "0-1", "0 1 " } };

	for (size_t i = 0; i < countof(list); i++) {
		char got[64] = "";
		size_t n;
		uint32_t *cpu = cpulist_parse(str_of(list[i].text), &n);

		for (size_t k = 0; k < n; k++)
			snprintf(got + strlen(got), sizeof(got) - strlen(got), "%u ", cpu[k]);
		is_str(str_of(got), str_of(list[i].want), "CPUs");
		free(cpu);
	}
}

static void check_maps(void)
{
	struct mapping m;
	struct mapped_file f = { 0 };

	ok(procfs_parse_map(
		   STR("7fa0f551d000-7fa0f5673000 r-xp 00026000 fe:00 332835                     /usr/lib/a b.so (deleted)"),
		   &m, &f),
	   "a line of maps");
	ok(m.start == 0x7fa0f551d000 && m.length == 0x156000 && m.offset == 0x26000, "  where");
	ok(f.file_id.major == 0xfe && f.file_id.minor == 0 && f.file_id.inode == 332835 && f.protection == 5 &&
		   f.flags == MAP_PRIVATE,
	   "  what");
	is_str(f.path, STR("/usr/lib/a b.so (deleted)"), "  path with blanks");
	ok(procfs_parse_map(STR("1000-2000 rwxs 00000000 00:00 0 "), &m, &f) && f.protection == 7 &&
		   f.flags == MAP_SHARED,
	   "anonymous, shared");
	is_str(f.path, STR("//anon"), "  has the kernel's name for it");
	ok(!procfs_parse_map(STR("1000-2000 rw-p 00000000 00:00 0 "), &m, &f), "data is not wanted");
	ok(!procfs_parse_map(STR("2000-1000 r-xp 00000000 00:00 0 "), &m, &f), "nothing backwards");
	ok(!procfs_parse_map(STR("r-xp"), &m, &f) && !procfs_parse_map(STR(""), &m, &f), "no line");
}

static void check_stat(void)
{
	const struct str program = STR("7 (a) Z 1 (b) S 1 7 7 0 -1 4194560 5 0 0 0 1 2 0 0 20 0 1 0 4711 9 9\n"),
			 kernel = STR("8 (kworker/0:1) I 2 0 0 0 -1 69238880 0 0 0 0 0 4 0 0 20 0 1 0 42 0 0\n"),
			 zombie = STR("9 (z) Z 1 9 9 0 -1 4228108 0 0 0 0 0 4 0 0 20 0 1 0 43 0 0\n"),
			 leader = STR("9 (z) Z 1 9 9 0 -1 4228108 0 0 0 0 0 4 0 0 20 0 2 0 43 0 0\n");

	is_u64(procfs_parse_start(program), 4711, "the start time, behind a name with anything in it");
	ok(procfs_has_user_stacks(program), "a program has user stacks");
	ok(!procfs_has_user_stacks(kernel), "  a thread of the kernel has none");
	ok(!procfs_has_user_stacks(zombie), "  a process that has ended has none");
	ok(procfs_has_user_stacks(leader), "  but the other threads have, if the first one alone has ended");
	ok(!procfs_has_user_stacks(STR("")) && !procfs_parse_start(STR("9 (z) S 1")), "malformed text");
}

static void check_idle(void)
{
	uint64_t tick = S / (uint64_t)sysconf(_SC_CLK_TCK);
	size_t n;
	uint64_t *idle =
		procfs_parse_idle(STR("cpu  1 2 3 4 5 6\ncpu0 1 2 3 10 5 6 7\ncpu2 0 0 0 7 1 0\nintr 5\n"), &n);

	is_u64(n, 3, "CPUs of /proc/stat");
	ok(idle[0] == 15 * tick && idle[1] == 0 && idle[2] == 8 * tick, "  idle and waiting");
	free(idle);
}

static void check_mountinfo(void)
{
	struct str point, root;

	ok(cgroups_parse_mountinfo(STR("30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"), &point,
				   &root),
	   "version 2");
	is_str(point, STR("/sys/fs/cgroup"), "  where");
	ok(cgroups_parse_mountinfo(STR("30 23 0:26 / /sys/fs/cgroup/unified rw - cgroup2 c rw\n"
				       "31 23 0:27 / /sys/fs/cgroup/cpu rw - cgroup c rw,cpu\n"
				       "32 23 0:28 /docker/1 /sys/fs/cgroup/perf_event rw - cgroup c rw,perf_event\n"),
				   &point, &root),
	   "version 1, with a hierarchy of its own");
	is_str(point, STR("/sys/fs/cgroup/perf_event"), "  which comes first");
	is_str(root, STR("/docker/1"), "  and what is mounted there");
	ok(!cgroups_parse_mountinfo(STR("31 23 0:27 / /sys/fs/cgroup/cpu rw - cgroup c rw,cpu\nnonsense\n"), &point,
				    &root),
	   "none");
}

/* A user makes and removes cgroups in one that was delegated. */
static void check_cgroup_flood(void)
{
	struct cgroups *g = cgroups_new();
	char path[4000];
	size_t max = 0;

	memset(path, 'x', sizeof(path));
	cgroups_add(g, UINT64_C(7) << 40, STR("/victim"));
	cgroups_find(g, UINT64_C(7) << 40, 0)->window = 3;
	for (uint64_t i = 0; i < 20000; i++) {
		cgroups_add(g, (i + 100) << 40, (struct str){ path, sizeof(path) });
		max = cgroups_bytes(g) > max ? cgroups_bytes(g) : max;
	}
	ok(max <= (size_t)6 << 20, "20,000 cgroups that no window has take 4 MB");
	for (uint64_t i = 0; i < 20000; i++) {
		struct cgroup *c;

		cgroups_add(g, (i + 100) << 40, (struct str){ path, sizeof(path) - i % 100 });
		c = cgroups_find(g, (i + 100) << 40, 0);
		if (c)
			c->window = 2;
		max = cgroups_bytes(g) > max ? cgroups_bytes(g) : max;
	}
	ok(max <= (size_t)17 << 20, "  and 16 MB if windows have them");
	ok(cgroups_find(g, UINT64_C(7) << 40, 0), "  those of the latest window stay");
	cgroups_free(g);
}

static void check_cgroups(void)
{
	struct cgroups *g = cgroups_new();

	for (uint64_t i = 0; i < 10000; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/c%ju", (uintmax_t)i);
		cgroups_add(g, (i + 1) << 40, str_of(path));
	}
	struct cgroup *c = cgroups_find(g, UINT64_C(5) << 40, 0);
	ok(c && str_eq(c->path, STR("/c4")), "found");
	cgroups_add(g, UINT64_C(5) << 40, STR("/renamed"));
	c = cgroups_find(g, UINT64_C(5) << 40, 0);
	ok(c && str_eq(c->path, STR("/renamed")), "renamed");
	c->window = 9;
	cgroups_forget(g, 5);
	ok(cgroups_find(g, UINT64_C(5) << 40, 0) && !cgroups_find(g, UINT64_C(6) << 40, 0),
	   "of many, those that no window had are forgotten");
	cgroups_free(g);
}

static void check_notes(void)
{
	static const char note[] = "\4\0\0\0\3\0\0\0\1\0\0\0GNU\0abc\0"
				   "\4\0\0\0\10\0\0\0\3\0\0\0GNU\0\1\2\3\4\5\6\7\10";
	struct str all = { note, sizeof(note) - 1 };
	struct build_id id = buildid_in_notes(all);

	is_u64(id.n, 8, "a build-id behind another note");
	ok(memcmp(id.byte, "\1\2\3\4\5\6\7\10\0", 9) == 0, "  its bytes");
	for (size_t n = 0; n < all.n; n++) {
		char *exact = malloc(n ? n : 1);

		memcpy(exact, all.p, n);
		if (buildid_in_notes((struct str){ exact, n }).n)
			ok(false, "cut notes have none");
		free(exact);
	}
	ok(buildid_in_notes(STR("\xff\xff\xff\xff\xff\xff\xff\xff\3\0\0\0GNU\0")).n == 0, "sizes that are too large");
}

static void check_modules(void)
{
	struct str dep =
		STR("kernel/fs/nfs/nfs-common.ko.xz:\nkernel/fs/nfs/nfs-v4.ko.xz: kernel/fs/nfs/nfs-common.ko.xz\n");
	char *p = kerneltext_module_path(dep, "6.1", "nfs_v4");

	is_str(str_of(p), STR("/lib/modules/6.1/kernel/fs/nfs/nfs-v4.ko.xz"), "path of a module");
	free(p);
	p = kerneltext_module_path(dep, "6.1", "nfs");
	is_str(str_of(p), STR("[nfs]"), "one that is not there");
	free(p);
}

static void check_borders(void)
{
	is_u64(clock_border(5 * S, 1000 * S, 0, false), UINT64_MAX, "no window");
	is_u64(clock_border(5 * S, 1000 * S + 7, 2 * S, false), 7 * S, "not aligned: a length later");
	is_u64(clock_border(5 * S, 1001 * S, 10 * S, true), 14 * S, "aligned: at the next multiple on the wall clock");
	is_u64(clock_border(5 * S, 1000 * S, 10 * S, true), 15 * S, "at a border: the next");
}

int main(void)
{
	check_cpus();
	check_maps();
	check_stat();
	check_idle();
	check_mountinfo();
	check_cgroups();
	check_cgroup_flood();
	check_notes();
	check_modules();
	check_borders();
	return done();
}
