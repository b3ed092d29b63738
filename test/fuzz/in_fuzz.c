/* files, plain and gzip, whole, cut and damaged: lines and blocks give the same bytes. */
/* covers: common/in.c */
#include "in.h"

#include "fuzz.h"

#define KEPT (1 << 20)

/* Lines read with what they share with the line before are the same lines. */
static void check_after(const char *path, const char *lines, size_t n)
{
	struct str line, before = { 0 };
	size_t at = 0, same;
	struct in in;

	in_open(&in, path);
	for (; n < KEPT && in_line_after(&in, &line, &same); at += line.n + 1) {
		MUST(at + line.n < n && lines[at + line.n] == '\n' && memcmp(lines + at, line.p, line.n) == 0);
		MUST(same == str_common(before, line));
		before = (struct str){ lines + at, line.n };
	}
	MUST(at == n || n >= KEPT);
	in_close(&in);
}

int fuzz_one(const uint8_t *data, size_t n)
{
	static char lines[KEPT + 1], blocks[KEPT + 1];
	size_t nlines = 0, nblocks = 0, got, step = n ? data[n - 1] + 1u : 1;
	volatile int fd = -1;
	const char *damage;
	struct str line;
	struct in in;
	char path[32];

	fd = fuzz_file(data, n, path);
	if (FUZZ_GUARD()) {
		close(fd);
		return 0;
	}
	in_open(&in, path);
	while (nlines < KEPT && in_line(&in, &line)) {
		size_t take = line.n < KEPT - nlines ? line.n : KEPT - nlines;

		memcpy(lines + nlines, line.p, take);
		nlines += take;
		lines[nlines++] = '\n';
	}
	damage = in.damage;
	in_close(&in);
	check_after(path, lines, nlines);
	in_open(&in, path);
	MUST(in_peek(&in, 1).n <= 1);
	while (nblocks < KEPT && (got = in_read(&in, blocks + nblocks, step < KEPT - nblocks ? step : KEPT - nblocks)) > 0)
		nblocks += got;
	if (nlines < KEPT && nblocks < KEPT) {
		MUST(in.damage == damage);
		while (damage && nblocks && blocks[nblocks - 1] != '\n')
			nblocks--; /* half a line is not delivered as a line */
		if (nblocks && blocks[nblocks - 1] != '\n')
			blocks[nblocks++] = '\n';
		MUST(nlines == nblocks && memcmp(lines, blocks, nlines) == 0);
	}
	in_close(&in);
	close(fd);
	return 0;
}
