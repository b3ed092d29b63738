/* files, plain and gzip, whole, cut and damaged: lines and blocks give the same bytes. */
/* covers: common/filter/in.c */
#include "common/filter/in.h"

#include "test/fuzz/fuzz.h"

#define SAVED (1 << 20)

/* A kB of gzip may hold a MB, which is read byte by byte here. */
const struct fuzz_budget fuzz_budget = {
	.steps = 40000000, .steps_per_byte = 2000, .heap = 16 << 20, .heap_per_byte = 1024
};

/* Lines read with what they share with the line before are the same lines. */
static void check_after(const char *path, const char *lines, size_t n)
{
	struct str line, before = { 0 };
	size_t at = 0, same;
	struct in in;

	in_open(&in, path);
	for (; n < SAVED && in_line_after(&in, &line, &same); at += line.n + 1) {
		MUST(at + line.n < n && lines[at + line.n] == '\n' && memcmp(lines + at, line.p, line.n) == 0);
		MUST(same == str_common(before, line));
		before = (struct str){ lines + at, line.n };
	}
	MUST(at == n || n >= SAVED);
	in_close(&in);
}

/* What is spooled is what is read, also in another order; what is in memory is what is in the file. */
static void check_spooled(const char *path, const uint8_t *data, size_t n, const char *bytes, size_t nbytes,
			  bool damaged)
{
	char part[512];
	uint64_t size;
	struct str line;
	struct in in;

	in_open(&in, path);
	if (in_seekable(&in, &size))
		MUST(size == n &&
		     in_pread(&in, part, sizeof(part), n / 2) == (n - n / 2 < sizeof(part) ? n - n / 2 : sizeof(part)));
	in_spool(&in);
	MUST(in_seekable(&in, &size) && (damaged || nbytes >= SAVED || size + 1 >= nbytes));
	for (size_t at = 0; at + sizeof(part) <= nbytes && at + sizeof(part) <= size && nbytes < SAVED;
	     at += nbytes / 3 + 1)
		MUST(in_pread(&in, part, sizeof(part), at) == sizeof(part) &&
		     memcmp(part, bytes + at, sizeof(part)) == 0);
	in_close(&in);
	in_memory(&in, (struct str){ (const char *)data, n }, "memory");
	while (in_line(&in, &line))
		MUST(!memchr(line.p, '\n', line.n) && in_place(&in).line > 0);
}

int fuzz_one(const uint8_t *data, size_t n)
{
	static char lines[SAVED + 1], blocks[SAVED + 1];
	size_t nlines = 0, nblocks = 0, got, step = n ? data[n - 1] + 1u : 1;
	volatile int fd = -1;
	const char *errors;
	struct str line;
	struct in in;
	char path[32];

	fd = fuzz_file(data, n, path);
	if (FUZZ_GUARD()) {
		close(fd);
		return 0;
	}
	in_open(&in, path);
	while (nlines < SAVED && in_line(&in, &line)) {
		size_t take = line.n < SAVED - nlines ? line.n : SAVED - nlines;

		memcpy(lines + nlines, line.p, take);
		nlines += take;
		lines[nlines++] = '\n';
	}
	errors = in.errors;
	in_close(&in);
	check_after(path, lines, nlines);
	in_open(&in, path);
	MUST(in_peek(&in, 1).n <= 1);
	while (nblocks < SAVED &&
	       (got = in_read(&in, blocks + nblocks, step < SAVED - nblocks ? step : SAVED - nblocks)) > 0)
		nblocks += got;
	if (nlines < SAVED && nblocks < SAVED) {
		MUST(in.errors == errors);
		while (errors && nblocks && blocks[nblocks - 1] != '\n')
			nblocks--; /* half a line is not delivered as a line */
		if (nblocks && blocks[nblocks - 1] != '\n')
			blocks[nblocks++] = '\n';
		MUST(nlines == nblocks && memcmp(lines, blocks, nlines) == 0);
	}
	in_close(&in);
	check_spooled(path, data, n, blocks, nblocks, errors != NULL);
	in_open(&in, path);
	in_expect_text(&in); /* dies of what is none: last, as that is not given back */
	in_close(&in);
	close(fd);
	return 0;
}
