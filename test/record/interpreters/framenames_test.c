/* Interpreted frames of a window: each address with its name, two functions at one address apart, frames without a name
 * never with that of another; as pjfold reads them. */
/* covers: record/interpreters/framenames.c fold/perfdata/interpreted.c */
#include "record/interpreters/framenames.h"
#include "common/formats/pjsection.h"
#include "fold/perfdata/recorder.h"
#include "test/lib/tap.h"

#include <stdio.h>

static struct recorder reported;
static struct arena texts;

static void end(struct framenames *framenames)
{
	struct text text = { 0 };

	framenames_end(framenames, &text);
	recorder_free(&reported);
	arena_free(&texts);
	ok(!recorder_read(&reported, &texts, text_view(&text)), "pjfold reads the items of the window");
	text_free(&text);
}

static struct str name_of(uint32_t pid, uint64_t address)
{
	const struct interpreted_method *method = interpreted_find(&reported.interpreted, pid, address);

	return !method ? STR("(no row)") : method->name.n ? method->name : STR("(no name)");
}

static uint64_t note(struct framenames *framenames, uint32_t pid, uint64_t address, uint32_t line, struct str text)
{
	const struct framenames_frame frame = { address, PJ_LANGUAGE_PYTHON, line, text };

	return framenames_note(framenames, pid, (struct tenant){ TENANT_USER, pid }, &frame);
}

static void windows(void)
{
	struct framenames *framenames = framenames_new();
	uint64_t second, third;

	ok(note(framenames, 7, 0x1002, 3, STR("m.f\0m.py\0")) == 0x1002, "a frame keeps its address");
	ok(note(framenames, 7, 0x1002, 3, STR("m.f\0m.py\0")) == 0x1002, "  also later");
	ok(note(framenames, 8, 0x1002, 9, STR("m.g\0m.py\0")) == 0x1002, "another process has its own");
	second = note(framenames, 7, 0x1002, 3, STR("m.h\0m.py\0"));
	ok(second != 0x1002 && second >= PJ_FUNCTIONS_MORE, "a second function at the address gets another one");
	ok(note(framenames, 7, 0x1002, 3, STR("m.h\0m.py\0")) == second, "  and keeps that");
	third = note(framenames, 7, 0x1002, 4, STR("m.h\0m.py\0"));
	ok(third != second && third != 0x1002, "a second line at the address, too");
	ok(note(framenames, 7, 0x1002, 0, (struct str){ 0 }) == PJ_FUNCTIONS_UNNAMED,
	   "a frame without a name does not get that of its address");
	end(framenames);
	is_str(name_of(7, 0x1002), STR("m.f"), "names of the first,");
	is_str(name_of(7, second), STR("m.h"), "  the second");
	is_str(name_of(7, third), STR("m.h"), "  and the third");
	is_str(name_of(8, 0x1002), STR("m.g"), "  of the other process");
	is_str(name_of(7, PJ_FUNCTIONS_UNNAMED), STR("(no name)"), "  and none");
	ok(reported.interpreted.left_out == 0, "nothing is left out");
	ok(note(framenames, 7, 0x1002, 3, STR("m.h\0m.py\0")) == 0x1002, "the next window starts empty");
	end(framenames);
	is_str(name_of(7, 0x1002), STR("m.h"), "  and has its own names");
	framenames_free(framenames);
}

static void limits(void)
{
	struct framenames *framenames = framenames_new();
	struct text large = { 0 };
	uint32_t named = 0;

	for (uint32_t line = 1; line <= FRAMENAMES_TURNS + 3; line++)
		named += note(framenames, 7, 0x1002, line, STR("m.f\0m.py\0")) != PJ_FUNCTIONS_UNNAMED;
	ok(named == FRAMENAMES_TURNS, "lines of one address are named up to a number");
	ok(note(framenames, 7, 0x1002, 1, STR("m.f\0m.py\0")) == 0x1002, "  of which each keeps its name");
	end(framenames);
	ok(reported.interpreted.left_out == 3, "  and the others are counted");

	for (uint32_t i = 0; i < FRAMENAMES_MAX; i++)
		note(framenames, 1, 0x10000 + 2 * (uint64_t)i, i, STR("m.f\0m.py\0"));
	ok(note(framenames, 2, 0x1002, 1, STR("m.f\0m.py\0")) == 0x1002, "a tenant leaves half of the table to others");
	end(framenames);
	ok(reported.interpreted.left_out == FRAMENAMES_MAX / 2, "  and its further frames are counted");
	for (uint32_t i = 0; i < FRAMENAMES_MAX + 10; i++)
		note(framenames, 1 + i % 3, 0x10000 + 2 * (uint64_t)i, i, STR("m.f\0m.py\0"));
	end(framenames);
	ok(reported.interpreted.n == FRAMENAMES_MAX && reported.interpreted.left_out == 10,
	   "a full table counts what it leaves out");
	while (large.n < FRAMENAMES_BYTES / 4 + 1)
		text_add(&large, "0123456789abcdef");
	note(framenames, 1, 2, 1, text_view(&large));
	large.p[0] = 'x';
	ok(note(framenames, 1, 4, 1, text_view(&large)) == PJ_FUNCTIONS_UNNAMED,
	   "names beyond the bytes have no space");
	end(framenames);
	ok(reported.interpreted.left_out == 1, "  and are counted");
	text_free(&large);
	framenames_free(framenames);
}

int main(void)
{
	windows();
	limits();
	recorder_free(&reported);
	arena_free(&texts);
	return done();
}
