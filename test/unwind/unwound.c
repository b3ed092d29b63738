/* unwound - unwinds the samples that samples.c wrote, of whatever processor: unwound FILE PROGRAM [ROOT-OF-LIBRARIES]
 * Prints those that are not what libgcc found there, then "samples N, same N, to the root N, frames N". Ends in 1 unless all are. */
#include "unwind.h"

#include "arena.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { OBJECTS = 32, WORDS = 256, COPY = 16384 };

static struct object {
	uint64_t bias, start, end;
	struct unwind_table *table;
} object[OBJECTS];
static unsigned nobjects;

static struct unwind_code code_of(uint64_t address)
{
	for (unsigned i = 0; i < nobjects; i++)
		if (address >= object[i].start && address < object[i].end)
			return (struct unwind_code){ object[i].table, object[i].bias };
	return (struct unwind_code){ 0 };
}

static void add_object(const char *line, const char *program, const char *root)
{
	struct object o = { 0 };
	char path[1024], full[2200];
	const char *why;

	if (nobjects == OBJECTS || sscanf(line, "object %" SCNx64 " %" SCNx64 " %" SCNx64 " %1000s", &o.bias, &o.start, &o.end, path) != 4)
		return;
	snprintf(full, sizeof(full), "%s%s", strcmp(path, "-") == 0 ? "" : root, strcmp(path, "-") == 0 ? program : path);
	o.table = unwind_table_open(open(full, O_RDONLY | O_CLOEXEC), &why);
	if (!o.table)
		fprintf(stderr, "unwound: %s: %s\n", full, why);
	object[nobjects++] = o;
}

static unsigned words(const char *line, uint64_t *to)
{
	unsigned n = 0;
	char *end;

	for (const char *p = strchr(line, ' '); p && n < WORDS; p = *end == ' ' ? end : NULL)
		to[n++] = strtoull(p, &end, 16);
	return n;
}

static size_t bytes(const char *line, char *to)
{
	size_t n = 0;
	unsigned v;

	while (n < COPY && sscanf(line + 2 * n, "%2x", &v) == 1)
		to[n++] = (char)v;
	return n;
}

/* How many callers are the same, and whether the stack ends in a root; libgcc knows no stubs of PLTs, so ours may be longer. */
static unsigned walk(struct unwind_state *s, const uint64_t *want, unsigned nwant, bool *root, bool print)
{
	enum unwind_end end = UNWIND_MORE;
	unsigned i = 0;

	for (; end == UNWIND_MORE && i < WORDS && (i >= nwant || s->ip == want[i]); i++) {
		end = unwind_step(s, code_of(s->ip - !s->interrupted), i == 0);
		if (print)
			printf("    %d %" PRIx64 " sp %" PRIx64 "\n", (int)end, s->ip, s->sp);
	}
	*root = end == UNWIND_ROOT;
	return i < nwant ? i : nwant;
}

int main(int argc, char **argv)
{
	static char line[1 << 17], stack[COPY];
	uint64_t reg[WORDS], want[WORDS];
	unsigned samples = 0, same = 0, roots = 0, frames = 0, nregs = 0;
	size_t ncopied = 0;
	FILE *f = argc >= 3 ? fopen(argv[1], "r") : NULL;

	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "object ", 7) == 0) {
			add_object(line, argv[2], argc > 3 ? argv[3] : "");
		} else if (strncmp(line, "reg ", 4) == 0) {
			nregs = words(line, reg);
		} else if (strncmp(line, "stack ", 6) == 0) {
			ncopied = fgets(line, sizeof(line), f) ? bytes(line, stack) : 0;
		} else if (strncmp(line, "want ", 5) == 0) {
			const struct processor *p = nregs == 33 ? &processor_aarch64 : &processor_x86_64;
			unsigned nwant = words(line, want), found;
			struct unwind_state s, again;
			bool root;

			if (!unwind_start_on(p, &s, p->perf, reg, 2, (struct str){ stack, ncopied }))
				return 1;
			again = s;
			found = walk(&s, want, nwant, &root, false);
			samples++;
			frames += found;
			same += found == nwant;
			roots += root;
			if (found != nwant || !root) {
				printf("sample %u: %u of %u, ip %" PRIx64 ", want %" PRIx64 "\n", samples, found, nwant, s.ip, found < nwant ? want[found] : 0);
				walk(&again, want, nwant, &root, true);
			}
		}
	}
	printf("samples %u, same %u, to the root %u, frames %u\n", samples, same, roots, frames);
	for (unsigned i = 0; i < nobjects; i++)
		unwind_table_close(object[i].table);
	return f && samples && same == samples && roots == samples ? 0 : 1;
}
