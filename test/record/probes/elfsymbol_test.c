/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of ELF files by name: this program, damaged copies of it, and a written table of hostile names. */
/* covers: record/probes/elfsymbol.c */
#include "record/probes/elfsymbol.h"
#include "common/files/fullio.h"
#include "test/lib/tap.h"
#include "test/record/probes/writtenelf.h"

#include <fcntl.h>

static volatile int sum;

__attribute__((noinline, used)) static void elfsymbol_test_target(void)
{
	sum += 0x51ab;
}

static enum elfsymbol_answer look(struct str image, const char *name, struct elfsymbol *symbol)
{
	struct elfhead_source source = elfhead_image(image);
	struct elfhead elfhead = { 0 };
	enum elfsymbol_answer answer = ELFSYMBOL_EMPTY;

	if (!elfhead_read(&elfhead, &source, true))
		answer = elfsymbol_find(&elfhead, str_of(name), symbol);
	elfhead_free(&elfhead);
	return answer;
}

enum { CODE = 8 }; /* bytes of the function that are compared */

static void test_program(struct str image)
{
	struct elfsymbol symbol;

	ok(look(image, "elfsymbol_test_target", &symbol) == ELFSYMBOL_FOUND, "a function of this program");
	ok(symbol.offset < image.n - CODE &&
		   memcmp(image.p + symbol.offset, (const void *)(uintptr_t)elfsymbol_test_target, CODE) == 0,
	   "  the bytes at its offset are those of its code");
	ok(look(image, "elfsymbol_test_targte", &symbol) == ELFSYMBOL_NONE, "a name that is not there");
	ok(strcmp(symbol.similar, "elfsymbol_test_target") == 0, "  and the one that is similar");
	ok(look(image, "", &symbol) == ELFSYMBOL_NONE, "no name");
}

/* Damages one word of the headers and sections after another: each answer is one of the list, and the offset is within
 * the file. */
static void test_damage(struct str image)
{
	struct text copy = { 0 };
	struct elfsymbol symbol;
	unsigned random = 1;
	bool valid = true;

	for (size_t i = 0; i < 400; i++) {
		size_t at;

		copy.n = 0;
		text_str(&copy, image);
		for (size_t k = 0; k < 4; k++) {
			random = random * 1103515245 + 12345;
			at = i % 2 ? (random >> 8) % 0x400 : image.n - 1 - (random >> 8) % 0x900;
			copy.p[at] = (char)(random >> 4);
		}
		if (look(text_view(&copy), "elfsymbol_test_target", &symbol) == ELFSYMBOL_FOUND)
			valid = valid && symbol.offset < image.n;
	}
	for (size_t n = 0; n < image.n; n += image.n / 50 + 1)
		look(str_head(image, n), "elfsymbol_test_target", &symbol);
	ok(valid, "damaged and truncated copies");
	text_free(&copy);
}

static void test_written(void)
{
	static const char names[] = "\0both\0twice\0chosen\0outside\0g\033[2J\nod\0ver@@V2\0far";
	const Elf64_Sym symbol[] = { { .st_name = 0 },
				     FUNCTION(1, STB_LOCAL, STT_FUNC, 0x5110),
				     FUNCTION(1, STB_GLOBAL, STT_FUNC, 0x5120),
				     FUNCTION(6, STB_LOCAL, STT_FUNC, 0x5110),
				     FUNCTION(6, STB_LOCAL, STT_FUNC, 0x5120),
				     FUNCTION(12, STB_GLOBAL, STT_GNU_IFUNC, 0x5110),
				     FUNCTION(19, STB_GLOBAL, STT_FUNC, 0x9000),
				     FUNCTION(27, STB_GLOBAL, STT_FUNC, 0x5110),
				     FUNCTION(36, STB_GLOBAL, STT_FUNC, 0x5130),
				     FUNCTION(UINT32_MAX, STB_GLOBAL, STT_FUNC, 0x5110) };
	struct text strings = { 0 }, image;
	Elf64_Shdr *section;
	struct elfsymbol s;

	text_bytes(&strings, names, sizeof(names));
	while (strings.n < WRITTEN_LONG)
		text_char(&strings, 'x'); /* a name of 64 kB without an end */
	image = written_elf(symbol, countof(symbol), text_view(&strings));
	ok(look(text_view(&image), "both", &s) == ELFSYMBOL_FOUND && s.offset == WRITTEN_CODE + 0x20,
	   "global before local");
	ok(look(text_view(&image), "twice", &s) == ELFSYMBOL_SEVERAL, "two functions of one name");
	ok(look(text_view(&image), "chosen", &s) == ELFSYMBOL_INDIRECT, "an indirect function");
	ok(look(text_view(&image), "outside", &s) == ELFSYMBOL_NO_CODE, "an address without code");
	ok(look(text_view(&image), "ver", &s) == ELFSYMBOL_FOUND && s.offset == WRITTEN_CODE + 0x30,
	   "the default version");
	ok(look(text_view(&image), "none", &s) == ELFSYMBOL_NONE, "a name that the table has not");
	ok(look(text_view(&image), "g\033[2J\nox", &s) == ELFSYMBOL_NONE && strcmp(s.similar, "g?[2J?od") == 0,
	   "control characters do not come out");
	section = (Elf64_Shdr *)(void *)(image.p + WRITTEN_SECTIONS);
	section[1].sh_size = ELFSYMBOL_SECTION_MAX + 1;
	ok(look(text_view(&image), "both", &s) == ELFSYMBOL_LARGE, "a table that is too large");
	text_free(&image);
	text_free(&strings);
}

int main(void)
{
	struct text image = { 0 };

	test_written();
	if (fullio_read_at(AT_FDCWD, "/proc/self/exe", &image, (size_t)256 << 20)) {
		test_program(text_view(&image));
		test_damage(text_view(&image));
	}
	text_free(&image);
	return done();
}
