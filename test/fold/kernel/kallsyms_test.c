/* Kernel names: perf's rules, and a cache that is never believed when it is not exactly what was written. */
/* covers: fold/kernel/kallsyms.c fold/kernel/kallcache.c */
#include "fold/kernel/kallcache.h"
#include "fold/kernel/kallsyms.h"
#include "common/arena.h"
#include "test/lib/tap.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static char path[256];

static const char *in_folder(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void write_file(const char *where, struct str string)
{
	int fd = open(where, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, string.p, string.n) != (ssize_t)string.n)
		exit(1);
	close(fd);
}

static const char *why;

static struct kallsyms *open_text(struct str text)
{
	char where[300];
	struct kallsyms_options o = { .cache = true, .file = where };

	snprintf(where, sizeof(where), "%s", in_folder("kallsyms"));
	write_file(where, text);
	why = NULL;
	return kallsyms_open(&o, &why);
}

/* "name", "name [module]" or "-", with the offset in *offset. */
static struct str query(struct kallsyms *kallsyms, uint64_t address, int64_t relocate, uint32_t *offset)
{
	static char answer[300];
	struct symbols_query q = { .address = address };
	struct intern names = { 0 };
	uint32_t module = 0;

	if (kallsyms_resolve(kallsyms, relocate, &q, 1, &names, &module) == 0)
		return STR("-");
	snprintf(answer, sizeof(answer), "%s%s%s", intern_str(&names, q.name).p, module ? " " : "",
		 module ? intern_str(&names, module).p : "");
	if (offset)
		*offset = q.offset;
	intern_free(&names);
	return str_of(answer);
}

#define BASE 0xffffffff81000000ull
#define MODULE 0xffffffffc0000000ull

static const char table[] = "0000000000000000 d per_cpu_offset\n"
			    "ffffffff81000000 T _stext\n"
			    "ffffffff81000000 T _text\n"
			    "ffffffff81000100 t local\n"
			    "ffffffff81000200 W weak\n"
			    "ffffffff81000300 r readonly\n"
			    "ffffffff81000400 D data\n"
			    "ffffffff81000500 A absolute\n"
			    "ffffffff81000580 t $x\n"
			    "ffffffff81000600 T best_of_all\n"
			    "ffffffff81000600 w _last\n"
			    "ffffffff81000700 T end\n"
			    "not a line\n"
			    "ffffffffc0002000 t second\t[amod]\n"
			    "ffffffffc0001000 t first\t[amod]\n"
			    "ffffffffc0009010 t bpf_prog_6deef7357e7b4530_x\t[bpf]\n"
			    "ffffffffc0009800 t other\t[zmod]\r\n";

static void check_rules(void)
{
	struct kallsyms *k = open_text(str_of(table));
	uint32_t offset = 0;

	is_str(query(k, BASE + 0x110, 0, &offset), STR("local"), "a function");
	is_u64(offset, 0x10, "  offset");
	is_str(query(k, BASE - 1, 0, NULL), STR("-"), "before all");
	is_str(query(k, 0x10, 0, NULL), STR("-"), "offsets of per-CPU variables are no addresses");
	is_str(query(k, BASE, 0, NULL), STR("_text"), "of aliases the last listed");
	is_str(query(k, BASE + 0x610, 0, NULL), STR("_last"), "  be it weak, too: as perf");
	is_str(query(k, BASE + 0x310, 0, NULL), STR("weak"), "read-only data is no symbol for perf");
	is_str(query(k, BASE + 0x410, 0, NULL), STR("data"), "data is");
	is_str(query(k, BASE + 0x590, 0, NULL), STR("data"), "absolute ones and marks are not");
	is_str(query(k, BASE + 0x1fff, 0, NULL), STR("end"), "the last one ends with the next page");
	is_str(query(k, BASE + 0x2000, 0, NULL), STR("-"), "  not later");
	is_str(query(k, MODULE + 0x1fff, 0, NULL), STR("first [amod]"), "modules are sorted");
	is_str(query(k, MODULE + 0x2fff, 0, NULL), STR("second [amod]"), "the last of a module");
	is_str(query(k, MODULE + 0x3001, 0, NULL), STR("-"), "  ends with the next page");
	is_str(query(k, MODULE + 0x9011, 0, NULL), STR("bpf_prog_6deef7357e7b4530_x [bpf]"), "BPF");
	is_str(query(k, MODULE + 0x9801, 0, NULL), STR("other [zmod]"), "a module that begins within the page; CRLF");
	is_str(query(k, BASE + 0x5000110, 0x5000000, &offset), STR("local"), "relocated");
	is_u64(offset, 0x10, "  offset");
	is_str(query(k, MODULE + 0x1fff, 0x5000000, NULL), STR("first [amod]"), "  but not modules");
	is_str(query(k, BASE - 0x1000 + 0x110, -0x1000, NULL), STR("local"), "  downwards");
	is_u64(kallsyms_address(k, STR("_stext")), BASE, "the address of a name");
	is_u64(kallsyms_address(k, STR("_ste")), 0, "  of all of it");
	is_u64(kallsyms_address(k, STR("first")), 0, "  of the core kernel");
	kallsyms_close(k);
}

static void check_refused(void)
{
	struct kallsyms_options o = { .file = in_folder("fifo") };
	struct text t = { 0 };
	struct kallsyms *k;

	ok(!open_text(STR("0000000000000000 T a\n0000000000000000 t b\n")) && strstr(why, "kernel.kptr_restrict=0"),
	   "hidden addresses, with the remedy");
	ok(!open_text(STR("")) && strcmp(why, "no symbols") == 0, "an empty file");
	ok(!open_text(STR("ffffffff81000000 T cut")), "what has no newline was cut");
	for (int i = 0; i < 100000; i++)
		text_add(&t, "xyz");
	text_add(&t, "\nffffffff81000000 T f\n");
	k = open_text(text_view(&t));
	is_str(query(k, BASE, 0, NULL), STR("f"), "a line without end, then one");
	kallsyms_close(k);
	text_free(&t);
	o.file = in_folder("fifo");
	ok(mkfifo(o.file, 0600) == 0 && !kallsyms_open(&o, &why) && strcmp(why, "not a regular file") == 0, "a FIFO");
	o.file = "/";
	ok(!kallsyms_open(&o, &why) && strcmp(why, "not a regular file") == 0, "a folder");
	o.file = "/nonexistent";
	ok(!kallsyms_open(&o, &why) && strcmp(why, "No such file or directory") == 0, "nothing");
}

/* ---- the file of the cache ------------------------------------------------------------------------------------- */

static void make_table(struct ksyms *ksyms, size_t n)
{
	ksyms->sym = mem_alloc(sizeof(*ksyms->sym), n);
	text_char(&ksyms->names, 0);
	for (; ksyms->n < n; ksyms->n++) {
		ksyms->sym[ksyms->n] = (struct ksym){ BASE + ksyms->n / 2 * 2 * 0x10, (uint32_t)ksyms->names.n, 0 };
		text_printf(&ksyms->names, "symbol_%zu", ksyms->n);
		text_char(&ksyms->names, 0);
	}
}

static struct kallcache *cache_of(struct str file, struct str key)
{
	int fd = memfd_create("cache", MFD_CLOEXEC);

	if (fd < 0 || write(fd, file.p, file.n) != (ssize_t)file.n)
		exit(1);
	return kallcache_of(fd, key);
}

/* Wrong answers; with damage none may come, with `all` every one must. */
static unsigned wrong_answers(struct kallcache *kallcache, const struct ksyms *ksyms, bool all)
{
	unsigned wrong = 0;

	for (size_t i = 0; i < ksyms->n; i++) {
		struct str name = { 0 };
		uint64_t start = 0;
		enum kallcache_answer shown = kallcache_find(kallcache, ksyms->sym[i].start + 3, &name, &start);
		size_t last = (i | 1) < ksyms->n ? i | 1 : i; /* pairs begin at one address */

		if (shown != KALLCACHE_FOUND)
			wrong += all;
		else
			wrong += !str_eq(name, str_of(ksyms->names.p + ksyms->sym[last].name)) ||
				 start != ksyms->sym[i].start;
	}
	return wrong;
}

static void check_file(void)
{
	struct ksyms k = { 0 };
	struct text file = { 0 };
	struct kallcache *c;
	struct str name;
	uint64_t start;
	unsigned wrong = 0, opened = 0;

	make_table(&k, 1001);
	kallcache_pack(&k, STR("boot 1"), &file);
	c = cache_of(text_view(&file), STR("boot 1"));
	is_u64(c ? wrong_answers(c, &k, true) : 1, 0, "all that went in comes out");
	ok(kallcache_find(c, BASE - 1, &name, &start) == KALLCACHE_OUTSIDE, "before it");
	ok(kallcache_find(c, BASE + 0x100000, &name, &start) == KALLCACHE_OUTSIDE, "behind it");
	ok(kallcache_address(c, STR("symbol_999"), &start) == KALLCACHE_FOUND && start == BASE + 998 * 0x10, "by name");
	ok(kallcache_address(c, STR("symbol_9999"), &start) == KALLCACHE_NONE, "no such name");
	kallcache_close(c);
	ok(!cache_of(text_view(&file), STR("boot 2")), "of another boot");
	ok(!cache_of(text_view(&file), STR("boot")), "  or of half of its name");
	for (size_t cut = 0; cut < file.n; cut += 97) {
		c = cache_of(str_head(text_view(&file), cut), STR("boot 1"));
		opened += c != NULL;
		wrong += c && wrong_answers(c, &k, false);
		kallcache_close(c);
	}
	is_u64(wrong, 0, "cut anywhere, it never says what is wrong");
	ok(opened, "  but what is whole, is used");
	for (size_t i = 0; i < file.n; i += i < 300 ? 1 : 131) {
		file.p[i] ^= 0x41;
		c = cache_of(text_view(&file), STR("boot 1"));
		wrong += c && wrong_answers(c, &k, false);
		kallcache_close(c);
		file.p[i] ^= 0x41;
	}
	is_u64(wrong, 0, "changed anywhere, neither");
	text_free(&file);
	ksyms_free(&k);
}

/* ---- the live kernel ------------------------------------------------------------------------------------------- */

/* A hash of what the live kernel answers for many addresses; 0: it does not. */
static uint64_t live_answers(bool cache, int64_t beyond)
{
	struct kallsyms_options o = { .cache = cache };
	struct kallsyms *k = kallsyms_open(&o, &why);
	struct symbols_query q[500] = { 0 };
	struct intern names = { 0 };
	uint64_t base, h = 1;

	if (!k)
		return 0;
	base = kallsyms_address(k, STR("_stext"));
	for (size_t i = 0; i < countof(q); i++)
		q[i].address = base + i * 4321;
	q[countof(q) - 1].address += (uint64_t)beyond;
	h += kallsyms_resolve(k, 0, q, countof(q), &names, NULL);
	for (size_t i = 0; i < countof(q); i++) {
		struct str s = q[i].name ? intern_str(&names, q[i].name) : STR("-");

		h = hash_mix(h ^ hash_bytes(s.p, s.n), q[i].offset + 0x9E3779B97F4A7C15u);
	}
	intern_free(&names);
	kallsyms_close(k);
	return h;
}

/* The cache file below where/pj, NULL: there is none. */
static const char *cache_file(const char *where)
{
	static char found[700];
	char pj[300];
	DIR *d;
	struct dirent *e;
	const char *file = NULL;

	snprintf(pj, sizeof(pj), "%s/pj", where);
	d = opendir(pj);
	while (d && (e = readdir(d)))
		if (strncmp(e->d_name, "kallsyms-", 9) == 0) {
			snprintf(found, sizeof(found), "%s/%s", pj, e->d_name);
			file = found;
		}
	if (d)
		closedir(d);
	return file;
}

static bool mode_is(const char *file, mode_t mode)
{
	struct stat st;

	return file && lstat(file, &st) == 0 && (st.st_mode & 07777) == mode;
}

static void check_damaged_live(uint64_t want, const char *file)
{
	char *copy = mem_alloc(1, 16 << 20);
	int fd = open(file, O_RDWR);
	ssize_t n = read(fd, copy, 16 << 20);
	struct stat st;
	char other[800];

	ok(pwrite(fd, "?", 1, n / 2) == 1 && live_answers(true, 0) == want, "a damaged block");
	ok(ftruncate(fd, n / 3) == 0 && live_answers(true, 0) == want, "truncated");
	ok(pwrite(fd, copy, (size_t)n, 0) == n && fchmod(fd, 0644) == 0 && live_answers(true, 0) == want,
	   "open to others");
	ok(mode_is(file, 0600), "  written anew");
	close(fd);
	snprintf(other, sizeof(other), "%s.link", file);
	ok(link(file, other) == 0 && live_answers(true, 0) == want, "with a second name");
	ok(lstat(other, &st) < 0, "  that was swept");
	unlink(file);
	ok(symlink("/proc/kallsyms", file) == 0 && live_answers(true, 0) == want && mode_is(file, 0600),
	   "a symbolic link");
	snprintf(other, sizeof(other), "%.*skallsyms-00000000-0000-0000-0000-000000000000",
		 (int)(str_rfind(str_of(file), '/') + 1), file);
	write_file(other, STR("old"));
	unlink(file);
	ok(live_answers(true, 0) == want && lstat(other, &st) < 0, "what another boot left is swept");
	free(copy);
}

static void check_no_cache(uint64_t want)
{
	char home[200], pj[300];

	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	ok(live_answers(true, 0) == want, "without a home: no cache");
	snprintf(home, sizeof(home), "%s/home", folder);
	mkdir(home, 0700);
	setenv("HOME", home, 1);
	snprintf(pj, sizeof(pj), "%s/.cache", home);
	ok(live_answers(true, 0) == want && cache_file(pj) && mode_is(pj, 0700), "below HOME/.cache");
	setenv("XDG_CACHE_HOME", "relative", 1);
	ok(live_answers(true, 0) == want && access("relative", F_OK) < 0,
	   "XDG_CACHE_HOME that is relative does not count");
	snprintf(home, sizeof(home), "%s/foreign", folder);
	mkdir(home, 0700);
	unsetenv("XDG_CACHE_HOME");
	setenv("HOME", home, 1);
	if (geteuid() == 0 && chown(home, 65534, 65534) == 0) {
		snprintf(pj, sizeof(pj), "%s/.cache", home);
		ok(live_answers(true, 0) == want && access(pj, F_OK) < 0, "root leaves nothing in the home of another");
	} else {
		ok(true, "root leaves nothing in the home of another # SKIP not root");
	}
	snprintf(home, sizeof(home), "%s/wide", folder);
	mkdir(home, 0700);
	chmod(home, 0777);
	setenv("XDG_CACHE_HOME", home, 1);
	ok(live_answers(true, 0) == want && !cache_file(home), "a folder that others can write");
	setenv("XDG_CACHE_HOME", "/proc", 1);
	ok(live_answers(true, 0) == want, "a folder that nobody can write");
}

static void check_live(void)
{
	char xdg[200], pj[300];
	uint64_t want;

	snprintf(xdg, sizeof(xdg), "%s/xdg", folder);
	setenv("XDG_CACHE_HOME", xdg, 1);
	want = live_answers(false, 0);
	if (!want) {
		printf("ok %d - the live kernel # SKIP %s\n", ++tap_n, why);
		return;
	}
	ok(!cache_file(xdg), "without the option nothing is kept");
	ok(live_answers(true, 0) == want, "first time");
	snprintf(pj, sizeof(pj), "%s/pj", xdg);
	ok(mode_is(pj, 0700) && mode_is(cache_file(xdg), 0600), "  modes of folder and file");
	ok(live_answers(true, 0) == want, "from the cache");
	ok(live_answers(true, 0x70000000) == live_answers(false, 0x70000000), "an address that may be a module's");
	check_damaged_live(want, cache_file(xdg));
	check_no_cache(want);
}

int main(void)
{
	char command[100];

	snprintf(folder, sizeof(folder), "/tmp/pj-kallsyms.XXXXXX");
	if (!mkdtemp(folder))
		return 1;
	check_rules();
	check_refused();
	check_file();
	check_live();
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command) + done();
}
