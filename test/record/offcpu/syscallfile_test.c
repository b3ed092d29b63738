/* Registers of a sleeping thread, as the kernel shows them. */
/* covers: record/offcpu/syscallfile.c */
#include "record/offcpu/syscallfile.h"

#include "test/lib/tap.h"

int main(void)
{
	static const char *const wrong[] = {
		"",
		"\n",
		"running\n",
		"-1 0x0 0x0\n",                           /* a thread of the kernel */
		"0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0\n",    /* the same */
		"-1 0xffd12340 0x401000\n",               /* 32-bit code */
		"-1 0xffffffff81000000 0x401000\n",       /* addresses of the kernel */
		"-1 0x7ffd00000000 0xffffffff81000000\n", /* the same */
		"7 0x7ffd00000000 0x401000\n",            /* a system call without arguments */
		"-1 0x7ffd00000000\n",
		"-1 0x7ffd00000000 0x401000 0x1\n",
		"230 0x0 0x0 0x1 0x2 0x0 0x0 0x7ffd00000000 0x401000 0x1\n",
		"230 0x0 0x0 0x1 0x2 0x0 0x0 0x7ffd00000000 401000\n",
		"230 0x0 0x0 0x1 0x2 0x0 0x0 0x17ffd000000000000 0x401000\n",
		"-1 0x7ffd00000000 0x401000\nmore",
		"-1  0x7ffd00000000 0x401000\n",
	};
	uint64_t sp = 0, ip = 0;

	ok(syscallfile_parse(STR("230 0x0 0x0 0x7ffee4207600 0x7ffee4207640 0x0 0x0 0x7ffee42075e8 0x7f3edf7d5503\n"),
			     &sp, &ip),
	   "a thread in a system call");
	ok(sp == 0x7ffee42075e8 && ip == 0x7f3edf7d5503, "  its registers");
	ok(syscallfile_parse(STR("-1 0x7ffd00000008 0x401000"), &sp, &ip),
	   "one in a page fault, of a program below 4 GB");
	ok(sp == 0x7ffd00000008 && ip == 0x401000, "  its registers");
	for (size_t i = 0; i < countof(wrong); i++)
		is_u64(syscallfile_parse(str_of(wrong[i]), &sp, &ip) ? i : countof(wrong), countof(wrong),
		       "other text is refused");
	return done();
}
