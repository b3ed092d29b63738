/* SPDX-License-Identifier: Apache-2.0 */
/* Files by name in texts of /proc/PID/maps: written ones, hostile ones, and the one of this process. */
/* covers: record/probes/namedmapping.c */
#include "record/probes/namedmapping.h"
#include "common/files/fullio.h"
#include "test/lib/tap.h"

#include <fcntl.h>

#define CODE(path) "5000-6000 r-xp 00001000 fd:01 1234     " path "\n"

static struct namedmapping found;

static enum namedmapping_answer look(const char *maps, const char *name)
{
	found = (struct namedmapping){ 0 };
	return namedmapping_find(str_of(maps), str_of(name), &found);
}

static void test_written(void)
{
	const char *two = "4000-5000 r--p 00000000 fd:01 1234     /usr/lib/libx.so\n" CODE("/usr/lib/libx.so");

	ok(look(two, "libx.so") == NAMEDMAPPING_ONE, "a library");
	is_str(found.range, STR("5000-6000"), "  its code, not its data");
	ok(found.major == 0xfd && found.minor == 1 && found.inode == 1234 && !found.deleted, "  device and inode");
	ok(look(two, "x.so") == NAMEDMAPPING_NONE, "the end of a name is no name");
	ok(look(two, "") == NAMEDMAPPING_NONE, "no name");
	ok(look(CODE("/tmp/a b (deleted)"), "a b") == NAMEDMAPPING_ONE && found.deleted, "a file that was replaced");
	is_str(found.path, STR("/tmp/a b"), "  its path");
	ok(look("5000-6000 r-xp 00000000 00:00 0 \n", "x") == NAMEDMAPPING_NONE, "memory without a file");
}

static void test_several(void)
{
	ok(look(CODE("/a/x") CODE("/b/x"), "x") == NAMEDMAPPING_ONE, "one file with two paths");
	ok(look(CODE("/a/x") "7000-8000 r-xp 00000000 fd:01 99 /b/x\n", "x") == NAMEDMAPPING_SEVERAL, "another inode");
	ok(look(CODE("/a/x") "7000-8000 r-xp 00000000 fd:02 1234 /b/x\n", "x") == NAMEDMAPPING_SEVERAL,
	   "another device");
	ok(look(CODE("/a/x") "7000-8000 r--p 00000000 fd:02 1234 /b/x\n", "x") == NAMEDMAPPING_ONE,
	   "another file without code");
}

static void test_hostile(void)
{
	static const char *const line[] = { "",
					    "5000",
					    "5000-6000 r-x 00001000 fd:01 1234 /x\n",
					    "5000-6000 r-xp 00001000 fd01 1234 /x\n",
					    "5000-6000 r-xp 00001000 fd:100000000 1234 /x\n",
					    "5000-6000 r-xp 00001000 fd:01 99999999999999999999 /x\n",
					    "5000-6000 r-xp 00001000 fd:01 1234\n",
					    "5000-6000 r-xp 00001000 fd:01 1234 x\n",
					    "5000-6000 r-xp 00001000 fd:01 1234 (deleted)\n" };
	bool none = true;

	for (size_t i = 0; i < countof(line); i++)
		none = look(line[i], "x") == NAMEDMAPPING_NONE && none;
	ok(none, "damaged lines");
}

static void test_own(void)
{
	struct text maps = { 0 };

	fullio_read_at(AT_FDCWD, "/proc/self/maps", &maps, (size_t)1 << 20);
	text_char(&maps, '\0');
	ok(look(maps.p, "namedmapping_test") == NAMEDMAPPING_ONE, "the program of this process");
	text_free(&maps);
}

int main(void)
{
	test_written();
	test_several();
	test_hostile();
	test_own();
	return done();
}
