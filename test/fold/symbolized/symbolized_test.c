/* symbolized_test - the names of a portable recording: what is written is read; damage anywhere is an error. */
/* covers: fold/symbolized/symbolized.c fold/symbolized/symbolizedwriter.c */
#include "fold/symbolized/symbolizedwriter.h"

#include "common/formats/pjsection.h"
#include "test/lib/tap.h"

#include <stdlib.h>

static const struct build_id id = { 20, { 1, 2, 3 } }, none;
static const struct file_id numbers = { 8, 1, 4711, 9 };

static void add(struct symbolizedwriter *writer, struct str key, uint64_t address, struct str name, struct str module,
		struct str inlined)
{
	symbolizedwriter_row(writer, symbolizedwriter_dso(writer, key, 3),
			     &(struct symbolized_row){ address, name, module, inlined });
}

/* Two DSOs, the code of two processes, and two stacks. */
static void fill(struct symbolizedwriter *writer, struct str file, struct str kernel)
{
	struct jit_code a = { .name = STR("Lone;::a"), .inlined = STR("b\0c") }, b = { .name = STR("Ltwo;::b") };
	struct symbolized_frame frame[] = { { 100, true, false }, { 90, false, true }, { UINT64_MAX, false, false } };

	writer->inlined = true;
	add(writer, kernel, 0xffffffff81000010, STR("schedule"), STR(""), STR(""));
	add(writer, file, 0x2000, STR("main"), STR(""), STR("in\0ner"));
	add(writer, file, 0x1000, STR("start"), STR(""), STR(""));
	add(writer, file, 0x3000, STR(""), STR(""), STR(""));
	add(writer, kernel, 0xffffffffc0000010, STR("ext4_read"), STR("[ext4]"), STR(""));
	symbolizedwriter_code(writer, 7, false, 50, 1000, NULL);
	symbolizedwriter_code(writer, 7, false, 50, 2000, &a);
	symbolizedwriter_code(writer, 7, false, 50, 2500, &a);
	symbolizedwriter_code(writer, 7, false, 50, 3000, NULL);
	symbolizedwriter_code(writer, 7, false, 50, 4000, &b);
	symbolizedwriter_code(writer, 7, false, 40, 4000, &b);
	symbolizedwriter_code(writer, 5, true, 50, 1000, NULL);
	ok(symbolizedwriter_stack(writer, 3, 4), "a stack fits");
	for (size_t i = 0; i < 3; i++)
		symbolizedwriter_frame(writer, &frame[i], i ? &frame[i - 1] : NULL);
	ok(symbolizedwriter_stack(writer, 0, 1), "an empty one, too");
}

static void names(const struct symbolized *symbolized, struct str file, struct str kernel)
{
	struct symbolized_rows rows;
	struct symbolized_row row;

	ok(symbolized_find(symbolized, file, &rows) && rows.left == 3 && rows.why == 3, "a file");
	ok(symbolized_row(symbolized, &rows, &row) && row.address == 0x1000, "its first address");
	is_str(row.name, STR("start"), "  name");
	ok(symbolized_row(symbolized, &rows, &row) && row.address == 0x2000, "the second");
	is_str(row.inlined, STR("in\0ner"), "  inlined calls");
	ok(symbolized_row(symbolized, &rows, &row) && row.address == 0x3000 && row.name.n == 0, "the third: no name");
	ok(!symbolized_row(symbolized, &rows, &row), "no more");
	ok(symbolized_find(symbolized, kernel, &rows) && symbolized_row(symbolized, &rows, &row) &&
		   symbolized_row(symbolized, &rows, &row),
	   "the kernel");
	is_str(row.module, STR("[ext4]"), "  module");
	ok(!symbolized_find(symbolized, STR("none"), &rows), "no such DSO");
	ok(symbolized_has_inlined(symbolized) && symbolized_left_out(symbolized) == 0, "what the head has");
}

static void code(struct symbolized *symbolized)
{
	const struct jit_code *found;

	ok(symbolized_has_code(symbolized, 7) == SYMBOLIZED_MORE &&
		   symbolized_has_code(symbolized, 5) == SYMBOLIZED_ALL &&
		   symbolized_has_code(symbolized, 6) == SYMBOLIZED_NONE,
	   "processes with code");
	ok(!symbolized_code(symbolized, 7, 50, 1999) && !symbolized_code(symbolized, 7, 50, 3500) &&
		   !symbolized_code(symbolized, 7, 51, 2000) && !symbolized_code(symbolized, 5, 50, 2000),
	   "times and addresses without code");
	found = symbolized_code(symbolized, 7, 50, 2000);
	ok(found && found == symbolized_code(symbolized, 7, 50, 2999), "code by time, the same object");
	is_str(found->name, STR("Lone;::a"), "  name");
	is_str(found->inlined, STR("b\0c"), "  inlined calls");
	found = symbolized_code(symbolized, 7, 50, UINT64_MAX);
	is_str(found ? found->name : STR(""), STR("Ltwo;::b"), "later code");
}

static void stacks(struct symbolized *symbolized)
{
	struct symbolized_frame frame[3];
	unsigned end;
	uint64_t n;

	ok(symbolized_stack(symbolized, &n, &end) && n == 3 && end == 4, "a stack");
	for (size_t i = 0; i < 3; i++)
		frame[i] = symbolized_frame(symbolized);
	ok(frame[0].address == 100 && frame[0].exact && frame[1].address == 90 && frame[1].method &&
		   frame[2].address == UINT64_MAX,
	   "  its frames");
	ok(symbolized_stack(symbolized, &n, &end) && n == 0 && end == 1, "the second");
	ok(!symbolized_stack(symbolized, &n, &end), "no more");
}

/* A section with any byte changed or cut off has no names, and nothing else happens. */
static void damage(struct str section)
{
	struct symbolized *symbolized;
	size_t read = 0;

	for (size_t n = 0; n < section.n; n++) {
		char *copy = malloc(n + 1);

		memcpy(copy, section.p, n);
		read += symbolized_read(&symbolized, (struct str){ copy, n }) == NULL;
		symbolized_free(symbolized);
		free(copy);
	}
	is_u64(read, 0, "cut anywhere: an error");
	for (size_t i = 0; i < section.n; i++) {
		char *copy = malloc(section.n);
		const char *why;

		memcpy(copy, section.p, section.n);
		copy[i] = (char)~copy[i];
		why = symbolized_read(&symbolized, (struct str){ copy, section.n });
		/* the flags and the count of what is left out may have any value */
		read += !why && !(i >= 4 && i < 8) && i < 16;
		read += !why && i >= sizeof(struct pj_names);
		symbolized_free(symbolized);
		free(copy);
	}
	is_u64(read, 0, "changed anywhere: an error");
}

static void two_names(void)
{
	struct symbolizedwriter writer = { 0 };
	struct symbolized *symbolized;
	struct symbolized_rows rows;
	struct symbolized_row row;
	struct text section = { 0 };

	add(&writer, STR("k"), 5, STR("one"), STR(""), STR(""));
	add(&writer, STR("k"), 5, STR("two"), STR(""), STR(""));
	add(&writer, STR("k"), 6, STR("same"), STR(""), STR(""));
	add(&writer, STR("k"), 6, STR("same"), STR(""), STR(""));
	symbolizedwriter_put(&writer, &section);
	is_u64(writer.conflicts, 1, "two names for one address are counted");
	ok(!symbolized_read(&symbolized, text_view(&section)) && symbolized_find(symbolized, STR("k"), &rows) &&
		   rows.left == 2 && symbolized_row(symbolized, &rows, &row) && row.name.n == 0,
	   "  and none is used");
	symbolized_free(symbolized);
	symbolizedwriter_free(&writer);
	text_free(&section);
}

/* More names than the section may have: the rest is left out, and what is there is read. */
static void limits(void)
{
	struct symbolizedwriter writer = { 0 };
	struct symbolized *symbolized;
	struct text section = { 0 };
	char *name = malloc(1 << 20);

	memset(name, 'n', 1 << 20);
	for (uint32_t i = 0; i < 40; i++) {
		memcpy(name, &i, sizeof(i));
		add(&writer, STR("k"), i, (struct str){ name, 1 << 20 }, STR(""), STR(""));
	}
	for (uint32_t i = 0; i < PJ_NAMES_PROCESSES + 10; i++)
		symbolizedwriter_code(&writer, i, false, 1, 1, NULL);
	symbolizedwriter_put(&writer, &section);
	ok(writer.left_out > 8, "names beyond the limits are counted");
	ok(!symbolized_read(&symbolized, text_view(&section)) && symbolized_left_out(symbolized) == writer.left_out,
	   "  and the others are read");
	symbolized_free(symbolized);
	symbolizedwriter_free(&writer);
	text_free(&section);
	free(name);
}

int main(void)
{
	struct symbolizedwriter writer = { 0 }, again = { 0 };
	struct text file = { 0 }, other = { 0 }, kernel = { 0 }, section = { 0 }, same = { 0 };
	struct symbolized *symbolized;

	symbolized_key_file(&file, STR("tenants/t/"), &id, &numbers, STR("/usr/bin/x"));
	symbolized_key_file(&other, STR(""), &none, &numbers, STR("/usr/bin/x"));
	symbolized_key_image(&kernel, STR("kernel"));
	ok(!str_eq(text_view(&file), text_view(&other)), "keys of two files differ");
	fill(&writer, text_view(&file), text_view(&kernel));
	symbolizedwriter_put(&writer, &section);
	fill(&again, text_view(&file), text_view(&kernel));
	symbolizedwriter_put(&again, &same);
	ok(str_eq(text_view(&section), text_view(&same)), "equal calls, equal bytes");
	ok(!symbolized_read(&symbolized, text_view(&section)), "what was written is read");
	names(symbolized, text_view(&file), text_view(&kernel));
	code(symbolized);
	stacks(symbolized);
	symbolized_free(symbolized);
	damage(text_view(&section));
	symbolizedwriter_free(&writer);
	symbolizedwriter_free(&again);
	text_free(&file);
	text_free(&other);
	text_free(&kernel);
	text_free(&section);
	text_free(&same);
	two_names();
	limits();
	return done();
}
