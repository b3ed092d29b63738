/* SPDX-License-Identifier: Apache-2.0 */
/* namecounts_test.c - counts by the name of a process: exact for few names, bounded for many. */
/* covers: record/processes/namecounts.c */
#include "record/processes/namecounts.h"
#include "test/lib/tap.h"

#include <stdio.h>

static uint64_t count_of(const struct namecounts *counts, const char *name)
{
	for (size_t i = 0; i < NAMECOUNTS; i++)
		if (counts->row[i].n && strcmp(counts->row[i].name, name) == 0)
			return counts->row[i].n;
	return 0;
}

static void add(struct namecounts *counts, const char *name, unsigned n)
{
	char comm[COMM_MAX] = { 0 };

	snprintf(comm, sizeof(comm), "%s", name);
	while (n--)
		namecounts_add(counts, comm);
}

int main(void)
{
	struct namecounts counts = { 0 };
	char full[COMM_MAX], name[COMM_MAX];
	uint64_t sum = 0;

	add(&counts, "php", 3);
	add(&counts, "erl", 2);
	add(&counts, "php", 1);
	ok(count_of(&counts, "php") == 4 && count_of(&counts, "erl") == 2, "two names");
	for (unsigned i = 0; i < NAMECOUNTS - 2; i++) {
		snprintf(name, sizeof(name), "p%u", i);
		add(&counts, name, 10);
	}
	ok(count_of(&counts, "erl") == 2, "as many names as rows");
	add(&counts, "late", 100);
	ok(count_of(&counts, "late") == 100 && count_of(&counts, "erl") == 0 && count_of(&counts, "php") == 4,
	   "one more takes the row of the least");
	for (size_t i = 0; i < NAMECOUNTS; i++)
		sum += counts.row[i].n;
	ok(sum == 4 + 10 * (NAMECOUNTS - 2) + 100, "no count is above the number of events");
	memset(full, 'x', sizeof(full));
	counts = (struct namecounts){ 0 };
	namecounts_add(&counts, full);
	ok(strlen(counts.row[0].name) == COMM_MAX - 1, "a name without its NUL");
	return done();
}
