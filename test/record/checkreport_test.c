/* Lines of pjrecord --check: a long path is complete, and control characters of hostile names are not printed. */
/* covers: record/checkreport.c */
#include "record/checkreport.h"

#include "test/lib/child.h"
#include "test/lib/tap.h"

static void print_path(void *path)
{
	checkreport_line(CHECK_NO, "disk", "cannot open '%s': name another directory", (const char *)path);
}

int main(void)
{
	static struct child child;
	static char path[4096];

	memset(path, 'x', sizeof(path) - 1);
	child_run(&child, print_path, path);
	ok(str_starts(child.out, STR("no       disk: cannot open 'xxx")), "a line has verdict and subject");
	ok(str_ends(child.out, STR("xxx': name another directory\n")), "  and its end, whatever the length of a path");
	child_run(&child, print_path, (char[]){ "a\nok b\x7f" });
	is_str(child.out, STR("no       disk: cannot open 'a?ok b?': name another directory\n"),
	       "control characters are not printed");
	return done();
}
