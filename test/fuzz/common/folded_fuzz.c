/* folded text: what was read and written reads back as the same bytes. */
/* covers: common/formats/folded.c common/formats/foldedhead.c common/formats/foldedpath.c */
/* covers: common/formats/foldedread.c common/formats/foldedwrite.c */
#include "common/formats/folded.h"

#include "test/fuzz/fuzz.h"
#include "test/fuzz/mutate.h"
#include "test/lib/node.h"

static void check_dispersion(const struct folded_header *header, const struct stacks *stacks)
{
	float *d = folded_dispersion(header, stacks);

	for (uint32_t id = 0; d && id < stacks->n; id++)
		MUST(d[id] >= 1 && d[id] <= 1e6F);
	free(d);
}

/* Reads fd's bytes, writes them into a new file. */
static int through(const char *path, uint64_t sum[2], unsigned *columns)
{
	static struct out o;
	static struct stacks s; /* static: freed here when the run before died */
	struct folded_header h = { 0 };
	struct folded_tally t = { 0 };
	char result[32];
	static struct in in;
	int fd;

	stacks_free(&s);
	if (in.raw)
		in_close(&in);
	in_open(&in, path);
	*columns = folded_read(&in, &s, &h, &t);
	in_close(&in);
	fd = fuzz_file("", 0, result);
	o = (struct out){ .path = "memory", .fd = dup(fd) };
	folded_write(&o, &s, *columns ? *columns : 1, h.present ? &h : NULL);
	out_close(&o);
	check_dispersion(&h, &s);
	sum[0] = stacks_sum(&s, 0);
	sum[1] = stacks_sum(&s, 1);
	stacks_free(&s);
	return fd;
}

/* Twice into one tree, and every line alone: the same stacks with the same weights. */
static void check_tree(const char *path)
{
	static struct stacks twice, alone; /* static: freed here when the run before died */
	static struct in in;
	struct folded_header h = { 0 };
	struct folded_tally t = { 0 };
	uint64_t weight;
	struct str line, stack;
	uint32_t *x, *y;
	bool rounded;

	stacks_free(&twice);
	stacks_free(&alone);
	for (int i = 0; i < 2; i++) {
		if (in.raw)
			in_close(&in);
		in_open(&in, path);
		if (folded_read(&in, &twice, &h, &t) == 2)
			return;
	}
	in_close(&in);
	in_open(&in, path);
	while (in_line(&in, &line)) {
		bool comment = line.n && line.p[0] == '#' && (line.n == 1 || line.p[1] == ' ' || line.p[1] == '\r');

		if (!comment && !folded_parse(line, &stack, &weight, &rounded))
			MUST(stacks_add(&alone, node_of(&alone, stack), 0, 2 * weight));
	}
	in_close(&in);
	MUST(twice.n == alone.n);
	x = stacks_order(&twice);
	y = stacks_order(&alone);
	for (uint32_t i = 0; i + 1 < twice.n; i++)
		MUST(twice.self[0][x[i]] == alone.self[0][y[i]] &&
		     str_eq(intern_str(&twice.frames, twice.node[x[i]].frame),
			    intern_str(&alone.frames, alone.node[y[i]].frame)));
	free(x);
	free(y);
}

static struct str bytes_of(int fd)
{
	off_t n = lseek(fd, 0, SEEK_END);
	char *p = malloc((size_t)n + 1);

	MUST(p && pread(fd, p, (size_t)n, 0) == n);
	return (struct str){ p, (size_t)n };
}

static bool has_comment(struct str text)
{
	while (text.n) {
		struct str line = str_cut(&text, '\n');

		if (str_starts(line, STR("# ")) && !str_starts(line, STR("# pj ")) &&
		    !str_starts(line, STR("# dispersion ")))
			return true;
	}
	return false;
}

int fuzz_one(const uint8_t *data, size_t n)
{
	uint64_t sum[2], again[2], weight;
	unsigned columns, columns_again;
	char path[32], path2[32];
	struct str first, second, stack;
	volatile int fd = -1, fd2 = -1, fd3 = -1;
	bool rounded;

	(void)folded_parse((struct str){ (const char *)data, n }, &stack, &weight, &rounded);
	fd = fuzz_file(data, n, path);
	if (FUZZ_GUARD()) { /* weights that are too much, unlike units */
		close(fd);
		return 0;
	}
	check_tree(path);
	fd2 = through(path, sum, &columns);
	snprintf(path2, sizeof(path2), "/proc/self/fd/%d", fd2);
	fd3 = through(path2, again, &columns_again);
	first = bytes_of(fd2);
	second = bytes_of(fd3);
	/* names that end in " 1" make one column look like two, and a stack "#" or "# x" is a comment: never of ours,
	 * pj-folded(5) */
	if ((columns != 1 || columns_again != 2) && !has_comment(first)) {
		MUST(str_eq(first, second));
		MUST(sum[0] == again[0] && sum[1] == again[1]);
	}
	free((void *)(uintptr_t)first.p);
	free((void *)(uintptr_t)second.p);
	close(fd);
	close(fd2);
	close(fd3);
	return 0;
}

/* ---- libFuzzer only: lines are records -------------------------------------------------------------------------- */

static bool lines_range(const uint8_t *data, size_t n, size_t *start, size_t *end)
{
	(void)data;
	*start = 0;
	*end = n;
	return true;
}

static size_t line_size(const uint8_t *line, size_t left)
{
	const uint8_t *newline = memchr(line, '\n', left);

	return newline ? (size_t)(newline - line) + 1 : left;
}

/* Weights at the ends of what numbers can be, and names that another line has. */
static size_t change_word(uint8_t *data, size_t n, size_t max, uint64_t *state)
{
	static const char *const words[] = { "0",
					     "1",
					     "9223372036854775807",
					     "9223372036854775808",
					     "18446744073709551615",
					     "-1",
					     "1.5",
					     " ",
					     ";",
					     ";;",
					     "# pj ",
					     "unit=",
					     "\xff",
					     "a;a;a;a" };
	const char *word = words[mutate_lot(state, countof(words))];
	size_t at = mutate_lot(state, n), length = strlen(word), old = 0;

	while (at > 0 && data[at - 1] != ' ' && data[at - 1] != ';' && data[at - 1] != '\n')
		at--;
	while (at + old < n && data[at + old] != ' ' && data[at + old] != ';' && data[at + old] != '\n')
		old++;
	if (n - old + length > max)
		return n;
	n = mutate_resize(data, n, at, old, length);
	memcpy(data + at, word, length);
	return n;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t max, unsigned seed)
{
	static const struct mutate_format f = { lines_range, line_size, NULL, NULL, 0 };
	uint64_t state = seed;

	if (n > 16 && mutate_lot(&state, 3) == 0)
		return change_word(data, n, max, &state);
	return mutate(&f, data, n, max, seed);
}
