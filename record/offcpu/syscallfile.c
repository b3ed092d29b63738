/* SPDX-License-Identifier: Apache-2.0 */
#include "record/offcpu/syscallfile.h"

/* number of words in the line of a thread that sleeps outside of a system call, and within a system call */
enum { OUTSIDE = 3, INSIDE = 9 };

/* Returns the value of a word 0xHEX; 0 for any other text. */
static uint64_t syscallfile_value(struct str word)
{
	uint64_t value;

	return str_starts(word, STR("0x")) && str_hex(str_from(word, 2), &value) ? value : 0;
}

bool syscallfile_parse(struct str text, uint64_t *sp, uint64_t *ip)
{
	struct str line = str_cut(&text, '\n'), word[INSIDE];
	size_t n = 0;

	while (line.n && n < INSIDE)
		word[n++] = str_cut(&line, ' ');
	if ((n != OUTSIDE && n != INSIDE) || line.n || text.n || (n == OUTSIDE && !str_eq(word[0], STR("-1"))))
		return false;
	*sp = syscallfile_value(word[n - 2]);
	*ip = syscallfile_value(word[n - 1]);
	/* stacks of 32-bit code are below 4 GB; stacks of 64-bit code are above, unless a program maps a stack there */
	return *sp > UINT32_MAX && *sp <= INT64_MAX && *ip && *ip <= INT64_MAX;
}
