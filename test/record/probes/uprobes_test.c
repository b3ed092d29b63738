/* SPDX-License-Identifier: Apache-2.0 */
/* Breakpoints of uprobe:FILE:FUNCTION: their file and offset, and the sentence for each file that has none. */
/* covers: record/probes/uprobes.c record/probes/probehelper.c */
#include "record/probes/uprobes.h"

#include "common/files/fullio.h"
#include "test/lib/tap.h"
#include "test/record/probes/writtenelf.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char names[] = "\0both\0twice\0chosen\0outside\0other";
static const Elf64_Sym symbols[] = { { .st_name = 0 },
				     FUNCTION(1, STB_GLOBAL, STT_FUNC, 0x5120),
				     FUNCTION(6, STB_LOCAL, STT_FUNC, 0x5110),
				     FUNCTION(6, STB_LOCAL, STT_FUNC, 0x5120),
				     FUNCTION(12, STB_GLOBAL, STT_GNU_IFUNC, 0x5110),
				     FUNCTION(19, STB_GLOBAL, STT_FUNC, 0x9000),
				     FUNCTION(27, STB_GLOBAL, STT_FUNC, 0x5130) };

static volatile sig_atomic_t stop;
static struct text why;

/* Writes the file with the first `n` symbols, and with a symbol table of `bytes` bytes if that is not 0. */
static void write_file(const char *path, size_t n, uint64_t bytes)
{
	struct text image = written_elf(symbols, n, (struct str){ names, sizeof(names) });
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0700);

	if (bytes)
		((Elf64_Shdr *)(void *)(image.p + WRITTEN_SECTIONS))[1].sh_size = bytes;
	ok(fd >= 0 && write(fd, image.p, image.n) == (ssize_t)image.n, "a file is written");
	close(fd);
	text_free(&image);
}

static bool find(struct uprobe *uprobe, const char *spec, uint32_t pid)
{
	why.n = 0;
	return uprobes_find(uprobe, str_of(spec), &pid, pid != 0, &stop, &why);
}

/* Returns true if no breakpoint is found, and the sentence contains `text`. */
static bool refused(const char *spec, uint32_t pid, const char *text)
{
	struct uprobe uprobe;
	bool found = find(&uprobe, spec, pid);

	uprobes_free(&uprobe);
	if (!found && str_find_str(text_view(&why), str_of(text)) >= 0)
		return true;
	printf("# %s: '%.*s'\n", found ? "found" : "not found", (int)why.n, why.p ? why.p : "");
	return false;
}

static void test_symbols(void)
{
	struct uprobe uprobe;

	ok(find(&uprobe, "./many:both", 0), "a function of a file");
	is_u64(uprobe.offset, WRITTEN_CODE + 0x20, "  its offset");
	ok(uprobe.fd >= 0 && uprobe.path && access(uprobe.path, R_OK) == 0, "  its file stays open");
	uprobes_free(&uprobe);
	ok(uprobe.fd < 0 && !uprobe.path, "  until it is freed");
	ok(refused("./many:twice", 0, "several functions of './many' are named 'twice'"), "two functions of one name");
	ok(refused("./many:chosen", 0, "'chosen' only selects a function"), "an indirect function");
	ok(refused("./many:outside", 0, "'./many' has no code for 'outside'"), "a function without code");
	ok(refused("./many:bot", 0, "did you mean both?"), "a similar name");
	ok(refused("./none:both", 0, "'./none' has no symbols (stripped)"), "a file without symbols");
	ok(refused("./large:both", 0, "symbols of './large' need more than 384 MB"), "a table that is too large");
	ok(refused("./missing:both", 0, "cannot be opened (No such file or directory)"), "no file");
}

static void test_stop(void)
{
	stop = 1;
	ok(refused("./many:both", 0, "a signal ended pjrecord first"), "pjrecord is ended while it searches");
	stop = 0;
}

/* Maps a file as code, as the dynamic linker does. */
static void *map_code(const char *path)
{
	int fd = open(path, O_RDONLY);
	void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	close(fd);
	return at;
}

static void test_mappings(void)
{
	uint32_t own = (uint32_t)getpid();
	struct uprobe uprobe;
	void *first = map_code("a/lib"), *second;

	ok(find(&uprobe, "lib:other", own) && uprobe.offset == WRITTEN_CODE + 0x30 && !uprobe.nwithout,
	   "a function of a file that a process has mapped, by its name");
	uprobes_free(&uprobe);
	second = map_code("b/lib");
	ok(refused("lib:other", own, "several files 'lib' mapped: give the path of one"), "two files of that name");
	munmap(first, 4096);
	munmap(second, 4096);
	ok(refused("lib:other", own, "no process of -p has a file 'lib' mapped"), "no file of that name");
	ok(refused("lib:other", INT32_MAX, "mappings of process 2147483647 cannot be read"), "no process");
}

static bool find_open(const char *path, const struct uprobe_function *function, struct uprobe *uprobe)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct uprobe_file file = { .name = STR("open"),
				    .function = function,
				    .nfunctions = UPROBES_FUNCTIONS_MAX,
				    .lacks = STR("it lacks one"),
				    .ms = 10000,
				    .stop = &stop };
	bool found;

	why.n = 0;
	found = uprobes_find_open(uprobe, fd, &file, &why);
	close(fd);
	return found;
}

static void test_open_file(void)
{
	const struct str both[] = { STR("none"), STR("both") }, other = STR("other"), twice = STR("twice");
	const struct uprobe_function good[] = { { both, 2 }, { &other, 1 } },
				     lacking[] = { { both, 1 }, { &other, 1 } },
				     several[] = { { both, 2 }, { &twice, 1 } };
	struct uprobe uprobe[UPROBES_FUNCTIONS_MAX];

	ok(find_open("many", good, uprobe), "two functions of an open file, one by its second name");
	ok(uprobe[0].offset == WRITTEN_CODE + 0x20 && uprobe[1].offset == WRITTEN_CODE + 0x30, "  their offsets");
	ok(uprobe[0].fd >= 0 && uprobe[1].fd >= 0 && uprobe[0].fd != uprobe[1].fd, "  each has a descriptor");
	uprobes_free(&uprobe[0]);
	uprobes_free(&uprobe[1]);
	ok(!find_open("many", lacking, uprobe), "a file that lacks one");
	is_str(text_view(&why), STR("it lacks one"), "  the sentence of the caller");
	ok(!find_open("many", several, uprobe), "a name of two functions");
	ok(str_find_str(text_view(&why), STR("several functions of 'open'")) >= 0, "  the sentence of the cause");
}

int main(void)
{
	static const char *const made[] = { "many", "none", "large", "a/lib", "b/lib", "a", "b" };
	char folder[] = "/tmp/pj-uprobes.XXXXXX";

	if (!mkdtemp(folder) || chdir(folder) < 0 || mkdir("a", 0700) < 0 || mkdir("b", 0700) < 0)
		return 1;
	write_file("many", countof(symbols), 0);
	write_file("none", 1, 0);
	write_file("large", countof(symbols), (UINT64_C(384) << 20) + 1);
	write_file("a/lib", countof(symbols), 0);
	write_file("b/lib", countof(symbols), 0);
	test_symbols();
	test_stop();
	test_mappings();
	test_open_file();
	text_free(&why);
	for (size_t i = 0; i < countof(made); i++)
		remove(made[i]);
	ok(rmdir(folder) == 0, "nothing else is left in its folder");
	return done();
}
