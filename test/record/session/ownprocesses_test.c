/* Which processes are those of a recording: they are left out of its off-CPU times. */
/* covers: record/session/ownprocesses.c */
#include "record/session/ownprocesses.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "test/lib/tap.h"

#include <stdlib.h>

static void note(void *to, uint32_t pid)
{
	text_printf(to, " %u", (unsigned)pid);
}

static void is_own(const struct ownprocesses_pids *pids, const char *want, const char *what)
{
	static const struct ownprocesses_row rows[] = {
		{ 30, 20, "pjrecord-symbol" }, /* its pid is below that of its parent: pids start again */
		{ 50, 1, "pjflame" },          { 51, 50, "pjrecord" },      { 52, 50, "pjmap" },
		{ 53, 52, "pjmap-parser" },    { 54, 51, "pjrecord" },      { 55, 51, "pjrecord-wait" },
		{ 20, 51, "pjrecord-saver" },  { 56, 50, "sleep" },         { 57, 54, "pjrecord-fake" },
		{ 58, 1, "pjrecord" },         { 59, 58, "pjrecord-wait" },
	};
	struct text text = { 0 };

	ownprocesses_of(rows, countof(rows), pids, note, &text);
	is_str(text_view(&text), str_of(want), what);
	text_free(&text);
}

static unsigned numbers_in(const struct text *text)
{
	unsigned n = 0;

	for (size_t i = 0; i < text->n; i++)
		n += text->p[i] == ' ';
	return n;
}

/* 200,000 processes of another user have names of helpers: they cost no time, and take no place. Then pjrecord itself
 * has more of them than there are places. */
static void check_many(void)
{
	enum { MANY = 200000, CHILDREN = 100 };
	const struct ownprocesses_pids pids = { .self = 51 };
	struct ownprocesses_row *rows = mem_alloc(sizeof(*rows), MANY);
	struct text text = { 0 };
	uint64_t began = clock_now();

	for (uint32_t i = 0; i < MANY; i++)
		rows[i] = (struct ownprocesses_row){ .pid = 1000 + i, .ppid = 999 + i, .comm = "pjrecord-fake" };
	rows[MANY - 1] = (struct ownprocesses_row){ .pid = 51, .ppid = 1, .comm = "pjrecord" };
	rows[7] = (struct ownprocesses_row){ .pid = 90, .ppid = 51, .comm = "pjrecord-wait" };
	ownprocesses_of(rows, MANY, &pids, note, &text);
	is_str(text_view(&text), STR(" 51 90"), "processes of others with names of helpers");
	text.n = 0;
	for (uint32_t i = 0; i < CHILDREN; i++)
		rows[i].ppid = 51;
	ownprocesses_of(rows, MANY, &pids, note, &text);
	is_u64(numbers_in(&text), OWNPROCESSES_MAX, "there are no more than places");
	ok(clock_now() - began < 2 * SECOND_NS, "  in limited time");
	text_free(&text);
	free(rows);
}

int main(void)
{
	check_many();
	is_own(&(struct ownprocesses_pids){ .self = 51, .parent = 50, .command = 54 }, " 50 51 52 53 55 20 30",
	       "pjrecord, its helpers, pjflame and pjmap; no command, no other recorder");
	is_own(&(struct ownprocesses_pids){ .self = 51 }, " 51 54 55 20 57 30",
	       "without --with-parent: not what started it; a child that has no name of its own yet is a helper");
	is_own(&(struct ownprocesses_pids){ .self = 51, .parent = 1, .command = 54 }, " 51 55 20 30",
	       "a parent of another name is no part of the suite");
	return done();
}
