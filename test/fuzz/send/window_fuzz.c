/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stores and spools of others hold: names of files, headers, packed texts. Whatever they say is a value or a
 * reason.
 */
/* covers: send/format/window.c send/format/pack.c common/timearg.c */
#include "send/stores/dirnames.h"
#include "common/timearg.h"
#include "send/format/pack.h"
#include "send/format/window.h"

#include "test/fuzz/fuzz.h"

static void windows(struct str rest)
{
	struct text decoded = { 0 }, again = { 0 }, decoded_again = { 0 };
	struct window w, same;
	uint64_t sum = 0, count;

	while (rest.n) {
		struct str before = rest, stack, lines, labels, key, value;

		decoded.n = again.n = decoded_again.n = 0;
		if (window_parse(&rest, &decoded, &w) != NULL) {
			MUST(rest.n < before.n);
			continue;
		}
		MUST(w.text.n + rest.n == before.n && w.until > w.epoch);
		for (lines = w.stacks; window_next(&lines, &stack, &count);)
			sum += count ^ window_id(&w, stack);
		for (labels = w.labels; label_next(&labels, &key, &value);)
			sum += label_find(w.labels, key, &value);
		/* what it says is said again in the same way */
		window_header(&again, &w);
		lines = text_view(&again);
		MUST(window_parse(&lines, &decoded_again, &same) == NULL);
		MUST(same.epoch == w.epoch && same.until == w.until && same.key == w.key &&
		     str_eq(same.labels, w.labels) && str_eq(same.host, w.host));
	}
	(void)sum;
	text_free(&decoded);
	text_free(&again);
	text_free(&decoded_again);
}

static void packed(struct str string)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct unpack u;
	struct str lines;
	size_t total = 0;

	MUST(fd >= 0 && write(fd, string.p, string.n) == (ssize_t)string.n && lseek(fd, 0, SEEK_SET) == 0);
	unpack_open(&u, fd);
	while (total < (1 << 24) && unpack_lines(&u, &lines)) {
		MUST(lines.n && lines.p[lines.n - 1] == '\n');
		total += lines.n;
		windows(lines);
	}
	unpack_close(&u);
	close(fd);
}

/* All of a packed file that is not damaged. */
static void unpack_file(int fd, struct text *text)
{
	struct unpack u;
	size_t n;

	unpack_open(&u, fd);
	do {
		text_reserve(text, 4096);
		n = unpack_read(&u, text->p + text->n, 4096);
		text->n += n;
	} while (n);
	MUST(!u.errors);
	unpack_close(&u);
}

/* Packed and unpacked it is the same. */
static void there_and_back(struct str string)
{
	struct text t = { 0 }, back = { 0 };

	for (unsigned zstd = 0; zstd < 2; zstd++) {
		int fd = memfd_create("fuzz", MFD_CLOEXEC);

		t.n = back.n = 0;
		if (zstd ? pack_zstd(&t, string, 3) : pack_gzip(&t, string, 6)) {
			MUST(write(fd, t.p, t.n) == (ssize_t)t.n && lseek(fd, 0, SEEK_SET) == 0);
			unpack_file(fd, &back);
			MUST(str_eq(text_view(&back), string));
		}
		close(fd);
	}
	text_free(&t);
	text_free(&back);
}

/* Packed piece by piece, twice, it is the same. */
static void in_blobs(struct str string)
{
	struct gzip *g = gzip_open(1);
	struct text t = { 0 }, back = { 0 };
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	size_t half = string.n / 2;

	MUST(g && fd >= 0);
	gzip_add(g, &t, str_head(string, half), false);
	gzip_add(g, &t, str_from(string, half), true);
	gzip_add(g, &t, string, true);
	MUST(write(fd, t.p, t.n) == (ssize_t)t.n && lseek(fd, 0, SEEK_SET) == 0);
	unpack_file(fd, &back);
	MUST(back.n == 2 * string.n && str_eq(str_head(text_view(&back), string.n), string) &&
	     str_eq(str_from(text_view(&back), string.n), string));
	close(fd);
	gzip_close(g);
	text_free(&t);
	text_free(&back);
}

/* A time that is read is written so that it is read as the same. */
static void moments(const char *text)
{
	uint64_t number, again;
	char written[32];

	if (!timearg_parse(text, 1795294000, &number) || number > 4102444800)
		return;
	timearg_text(written, number);
	MUST(timearg_parse(written, 0, &again) && again == number);
}

int fuzz_one(const uint8_t *data, size_t size)
{
	struct str s = { (const char *)data, size };
	struct dir_name n;
	char *name = malloc(size + 1), back[DIR_NAME], day[16];
	uint64_t number;

	MUST(name);
	memcpy(name, data, size);
	name[size] = 0;
	if (dir_name_parse(name, &n)) {
		dir_name_put(back, &n);
		MUST(strcmp(back, name) == 0);
	}
	if (dir_day_parse(name, &number)) {
		dir_day_put(day, number);
		MUST(strcmp(day, name) == 0);
	}
	dir_host_good(s);
	moments(name);
	windows(s);
	packed(s);
	there_and_back(s);
	in_blobs(s);
	free(name);
	return 0;
}
