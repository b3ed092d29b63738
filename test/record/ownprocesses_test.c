/* Which processes are those of a recording: they are left out of its off-CPU times. */
/* covers: record/ownprocesses.c */
#include "record/ownprocesses.h"

#include "test/lib/tap.h"

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

int main(void)
{
	is_own(&(struct ownprocesses_pids){ .self = 51, .parent = 50, .command = 54 }, " 30 50 51 52 53 55 20",
	       "pjrecord, its helpers, pjflame and pjmap; no command, no other recorder");
	is_own(&(struct ownprocesses_pids){ .self = 51 }, " 30 51 54 55 20 57",
	       "without --with-parent: not what started it; a child that has no name of its own yet is a helper");
	is_own(&(struct ownprocesses_pids){ .self = 51, .parent = 1, .command = 54 }, " 30 51 55 20",
	       "a parent of another name is no part of the suite");
	return done();
}
