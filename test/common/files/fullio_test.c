/* Renames that replace nothing, on file systems with RENAME_NOREPLACE and on those that refuse it. */
/* covers: common/files/fullio.c */
#include "common/files/fullio.h"
#include "test/lib/norenameat2.h"
#include "test/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool has(int folder, const char *name, const char *bytes)
{
	struct text text = { 0 };
	bool same = fullio_read_at(folder, name, &text, 64) && str_eq(text_view(&text), str_of(bytes));

	text_free(&text);
	return same;
}

static void test_moves(int folder)
{
	struct stat status;

	ok(fullio_replace(folder, "a", STR("1")) && fullio_replace(folder, "b", STR("2")), "two files");
	ok(fullio_move_new(folder, "a", folder, "c") && has(folder, "c", "1") && faccessat(folder, "a", F_OK, 0) < 0 &&
		   fstatat(folder, "c", &status, 0) == 0 && status.st_nlink == 1,
	   "a file is moved");
	ok(!fullio_move_new(folder, "b", folder, "c") && errno == EEXIST && has(folder, "c", "1") &&
		   has(folder, "b", "2"),
	   "an existing file is not replaced");
	ok(!fullio_move_new(folder, "none", folder, "d") && errno == ENOENT, "a missing file");
	unlinkat(folder, "b", 0);
	unlinkat(folder, "c", 0);
}

int main(void)
{
	char dir[] = "/tmp/pj-fullio.XXXXXX";
	int folder = mkdtemp(dir) ? open(dir, O_RDONLY | O_DIRECTORY) : -1;

	if (folder < 0)
		return 1;
	test_moves(folder);
	if (!norenameat2_begin()) {
		printf("ok %d - without RENAME_NOREPLACE # SKIP seccomp is not available\n", ++tap_n);
	} else {
		ok(!fullio_rename_new(folder, "a", folder, "b") && errno == EINVAL, "RENAME_NOREPLACE is refused");
		test_moves(folder);
		mkdirat(folder, "e", 0700);
		ok(!fullio_move_new(folder, "e", folder, "f") && errno == EINVAL, "no directory is moved then");
		unlinkat(folder, "e", AT_REMOVEDIR);
	}
	close(folder);
	rmdir(dir);
	return done();
}
