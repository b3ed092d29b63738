/* asflamegraph: any lines give a profile whose weights are those of the samples that count, and lines "stack weight".
 * Input: a byte of options, then the text of perf script. */
/* covers: fold/script/asflamegraph.c */
#include "fold/script/asflamegraph.h"

#include "test/fuzz/fuzz.h"

enum { PID = 1, TID = 2, KERNEL = 4, JIT = 8, ADDRS = 16, SRCLINE = 32, SAMPLES = 64, EVENT = 128 };

static void check_lines(const char *path, const struct stacks *stacks)
{
	static struct out o;
	struct text t = { 0 };
	uint64_t sum = 0;
	char block[4096];
	ssize_t got;
	int fd;

	out_open(&o, path);
	asflamegraph_write(&o, stacks);
	out_close(&o);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	MUST(fd >= 0);
	while ((got = read(fd, block, sizeof(block))) > 0)
		text_bytes(&t, block, (size_t)got);
	close(fd);
	for (struct str rest = text_view(&t), line; rest.n;) {
		uint64_t weight;
		ptrdiff_t blank;

		line = str_cut(&rest, '\n');
		blank = str_rfind(line, ' ');
		MUST(blank >= 0 && str_u64(str_from(line, (size_t)blank + 1), &weight));
		sum += weight;
	}
	MUST(sum == stacks_sum(stacks, 0));
	text_free(&t);
}

int fuzz_one(const uint8_t *data, size_t n)
{
	uint8_t bits = n ? data[0] : 0;
	struct asflamegraph f = { .options = { .pid = bits & PID,
					       .tid = bits & TID,
					       .kernel = bits & KERNEL,
					       .jit = bits & JIT,
					       .addrs = bits & ADDRS,
					       .srcline = bits & SRCLINE,
					       .samples = bits & SAMPLES,
					       .event = bits & EVENT ? STR("cycles") : STR("") } };
	struct str rest = { (const char *)data + (n > 0), n - (n > 0) };
	struct place at = { "input", 0 };
	struct stacks s = { 0 };
	char path[80];

	fuzz_folder();
	snprintf(path, sizeof(path), "%s/out", fuzz_folder_path);
	if (FUZZ_GUARD())
		return 0;
	while (rest.n) {
		struct str line = str_cut(&rest, '\n');
		char *copy = fuzz_copy(line.p, line.n);

		at.line++;
		asflamegraph_line(&f, (struct str){ copy, line.n }, at, &s);
		free(copy);
	}
	asflamegraph_end(&f, &s);
	MUST(f.stackless <= f.samples);
	check_lines(path, &s);
	asflamegraph_free(&f);
	stacks_free(&s);
	unlink(path);
	return 0;
}
