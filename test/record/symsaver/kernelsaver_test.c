/* kernelkeep_test - snapshots of kernel symbols: when there is a new one, and what is in it. */
/* covers: record/symsaver/kernelsaver.c */
#include "record/symsaver/kernelsaver.h"

#include "test/lib/tap.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static char dir[] = "/tmp/pj-kernelkeep-test.XXXXXX";
static char proc[128], out[128];

static const char *at(const char *name)
{
	static char path[2][256];
	static unsigned i;

	snprintf(path[++i % 2], sizeof(path[0]), "%s/%s", dir, name);
	return path[i % 2];
}

static void put(const char *name, const char *text)
{
	FILE *f = fopen(at(name), "w");

	if (!f || fputs(text, f) < 0 || fclose(f))
		abort();
}

static struct str snapshot(const struct saverdir *saverdir, uint64_t n)
{
	static char buf[1 << 20];
	char name[SAVERDIR_PATH], path[512];
	gzFile f;
	int got;

	kernelsaver_name(name, saverdir->boot, n);
	snprintf(path, sizeof(path), "%s/symbols/%s", out, name);
	f = gzopen(path, "rb");
	got = f ? gzread(f, buf, sizeof(buf)) : 0;
	if (f)
		gzclose(f);
	return (struct str){ buf, got > 0 ? (size_t)got : 0 };
}

#define TABLE "ffffffff81000000 T _text\nffffffff81000010 t do_one\t[nfs]\n"
#define HIDDEN "0000000000000000 T _text\n0000000000000000 t do_one\t[nfs]\n"

int main(void)
{
	struct saverdir d;
	struct kernelsaver k, again;
	char command[512], name[SAVERDIR_PATH];

	if (!mkdtemp(dir))
		return 1;
	snprintf(proc, sizeof(proc), "%s/proc", dir);
	snprintf(out, sizeof(out), "%s/out", dir);
	snprintf(command, sizeof(command), "mkdir -p %s/sys/kernel/random %s", proc, out);
	if (system(command) != 0)
		return 1;
	put("proc/sys/kernel/random/boot_id", "01234567-89ab-cdef-0123-456789abcdef\n");
	put("proc/kallsyms", TABLE);
	put("proc/modules", "nfs 1000 1 - Live 0xffffffffc0000000\n");

	is_u64(kernelsaver_sum(STR("nfs 1000 1 - Live 0xffffffffc0000000\n")),
	       kernelsaver_sum(STR("nfs 1000 7 lockd, Live 0xffffffffc0000000\n")),
	       "who uses a module does not matter");
	ok(kernelsaver_sum(STR("nfs 1000 1 - Live 0xffffffffc0000000\n")) !=
		   kernelsaver_sum(STR("nfs 1000 1 - Live 0xffffffffc1000000\n")),
	   "where it is does");
	ok(kernelsaver_sum(STR("a 1 1 - Live 0\nb 1 1 - Live 0\n")) !=
			   kernelsaver_sum(STR("b 1 1 - Live 0\na 1 1 - Live 0\n")) &&
		   kernelsaver_sum(STR("")) == 0,
	   "so does their order");

	ok(saverdir_open(&d, out, proc, 0) == NULL, "a folder");
	is_str(str_of(d.boot), STR("01234567-89ab-cdef-0123-456789abcdef"), "the boot");
	kernelsaver_start(&k, &d, proc);
	is_u64(k.now, 1, "the first snapshot");
	is_u64(k.before, 0, "nothing before it");
	is_str(snapshot(&d, 1), STR(TABLE), "is kallsyms as it was");
	put("proc/modules", "nfs 1000 2 - Live 0xffffffffc0000000\n");
	ok(!kernelsaver_scan(&k) && k.now == 1, "a module is used by one more");
	put("proc/kallsyms", TABLE "ffffffffc1000000 t new_one\t[new]\n");
	put("proc/modules", "nfs 1000 2 - Live 0xffffffffc0000000\nnew 10 0 - Live 0xffffffffc1000000\n");
	ok(kernelsaver_scan(&k) && k.now == 2 && k.before == 1, "a module is new");
	is_str(snapshot(&d, 2), STR(TABLE "ffffffffc1000000 t new_one\t[new]\n"), "the second snapshot");
	is_str(snapshot(&d, 1), STR(TABLE), "the first is still there");
	kernelsaver_start(&again, &d, proc);
	is_u64(again.now, 2, "a recorder that is started again uses what is there");
	put("proc/modules", "");
	kernelsaver_start(&again, &d, proc);
	is_u64(again.now, 3, "unless the modules changed meanwhile");

	put("proc/modules", "other 10 0 - Live 0xffffffffc1000000\n");
	put("proc/kallsyms", HIDDEN);
	ok(!kernelsaver_scan(&again) && again.now == 3 && again.hidden, "addresses are hidden: nothing is kept");
	kernelsaver_touch(&again);
	ok(again.hidden && snapshot(&d, 4).n == 0, "nor tried again");
	put("proc/kallsyms", "0000000000000000 A fixed_percpu_data\n" TABLE);
	kernelsaver_touch(&again);
	ok(again.now == 4 && again.before == 3 && !again.hidden && snapshot(&d, 4).n > strlen(TABLE),
	   "until the kernel shows them (kptr_restrict)");
	put("proc/kallsyms", HIDDEN);
	put("proc/modules", "second 10 0 - Live 0xffffffffc1000000\n");
	ok(!kernelsaver_scan(&again) && again.hidden, "hidden again");
	put("proc/kallsyms", TABLE);
	put("proc/modules", "third 10 0 - Live 0xffffffffc1000000\n");
	ok(kernelsaver_scan(&again) && again.now == 5 && !again.hidden, "until modules change");
	kernelsaver_name(name, d.boot, 5);
	unlinkat(d.symbols, name, 0);
	kernelsaver_touch(&again);
	ok(again.now == 6 && snapshot(&d, 6).n == strlen(TABLE), "what somebody removed is written again");
	unlink(at("proc/modules"));
	kernelsaver_start(&k, &d, proc);
	ok(k.now == 7 && !k.failed, "a kernel without modules");
	unlink(at("proc/kallsyms"));
	put("proc/modules", "x 1 1 - Live 0\n");
	ok(!kernelsaver_scan(&k) && k.failed && k.now == 7, "no kallsyms");
	saverdir_close(&d);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ok(system(command) == 0, "clean");
	return done();
}
