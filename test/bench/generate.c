/*
 * generate - large inputs without large files: generate script BYTES | distinct BYTES | folded FRAMES
 *
 * script: perf script text of a busy host. distinct: the same with every address another one. folded: stacks of about
 * FRAMES frames in all, more than 5000 names of 55 characters on average, up to 150 deep, where a function calls some
 * few others, one more often than the next. Always the same bytes.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed = 42;

static unsigned pick(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

static const char *const comms[] = { "java", "node",           "http worker 12", "postgres", "kworker/u8:1-events",
				     "t",    "C2 CompilerThre" };
static const char *const dsos[] = { "/usr/lib/x86_64-linux-gnu/libc.so.6", "[kernel.kallsyms]", "/tmp/perf-4711.map",
				    "/usr/bin/node", "/usr/lib/postgresql/15/bin/postgres" };

/* One of a set of stacks, so that stacks repeat as they do in life. */
static void script(uint64_t size, int distinct)
{
	uint64_t done = 0, address = 0x7f0000000000u, t = 0;

	while (done < size) {
		unsigned which = pick(25000), depth;
		uint64_t saved;

		t += 1 + pick(400);
		done += (uint64_t)printf("%s %5u/%-5u [%03u] %5llu.%06llu: %10u cycles:P: \n", comms[which % 7],
					 100 + which % 7, 200 + which % 40, pick(8), (unsigned long long)(t / 1000000),
					 (unsigned long long)(t % 1000000), 1 + pick(1000000));
		saved = seed;
		seed = which;
		depth = 2 + pick(26);
		for (unsigned i = 0; i < depth; i++) {
			unsigned f = pick(13000), offset = pick(9) * 16 + 3;

			address = distinct ? address + 16 : 0x400000 + (uint64_t)f * 4096 + offset;
			done += (uint64_t)printf("\t%16llx function_of_some_length_%u+0x%x (%s)\n",
						 (unsigned long long)address, f, offset, dsos[f % 5]);
		}
		seed = distinct ? saved : saved + which;
		putchar('\n');
		done++;
	}
}

static void name(char *to, size_t cap, unsigned i)
{
	static const char *const parts[] = {
		"org/springframework",   "com/example/service", "java/util/concurrent", "std::vector",       "internal",
		"RequestHandlerAdapter", "AbstractRepository",  "invokeAndHandle",      "processSelectedKey"
	};
	size_t n = 0;
	uint64_t saved = seed;

	seed = i * 7919u + 1;
	while (n < 30 + i % 36)
		n += (size_t)snprintf(to + n, cap - n, "%s/", parts[pick(9)]);
	snprintf(to + n, cap - n, "f%u%s", i, i % 5 ? "" : i % 10 ? "_[k]" : "_[j]");
	seed = saved;
}

/* Who is called from f: one of a few, the first of them most often; now and then anyone. */
static unsigned callee(unsigned f)
{
	unsigned k = 0, n = 1 + f % 7;

	if (pick(40) == 0)
		return pick(6000);
	while (k + 1 < n && pick(2))
		k++;
	return (f * 2654435761u + k * 40503u + 12345) % 6000;
}

static void folded(unsigned frames)
{
	unsigned path[150], depth = 0, made = 0;
	char text[256];

	while (made < frames) {
		unsigned keep = depth ? pick(depth) : 0, add = 1 + pick(pick(12) ? 6 : 150 - keep);

		depth = keep;
		for (; add && depth < 150; add--) {
			path[depth] = depth ? callee(path[depth - 1]) : pick(40);
			depth++;
			made++;
		}
		fputs("service", stdout);
		for (unsigned i = 0; i < depth; i++) {
			name(text, sizeof(text), path[i]);
			printf(";%s", text);
		}
		printf(" %u\n", 1 + pick(pick(50) ? 5 : 500));
	}
}

int main(int argc, char **argv)
{
	static char buf[1 << 16];
	uint64_t n = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;

	setvbuf(stdout, buf, _IOFBF, sizeof(buf));
	if (n && strcmp(argv[1], "script") == 0)
		script(n, 0);
	else if (n && strcmp(argv[1], "distinct") == 0)
		script(n, 1);
	else if (n && strcmp(argv[1], "folded") == 0)
		folded((unsigned)n);
	else
		return 2;
	return fflush(stdout) != 0;
}
