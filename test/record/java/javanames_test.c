/* Interpreted methods of a window: asked for once, told once each, in order, as pjfold reads them; no more than there
 * is room for. */
/* covers: record/java/javanames.c fold/perfdata/interpreted.c */
#include "record/java/javanames.h"
#include "fold/perfdata/recorder.h"
#include "test/lib/tap.h"

#include <stdlib.h>

static struct recorder reported;
static struct arena texts;
static uint64_t tick; /* ns */

/* The window ends, and is read. */
static size_t end(struct javanames *javanames)
{
	struct text t = { 0 };
	size_t n;

	javanames_end(javanames, &t);
	recorder_free(&reported);
	arena_free(&texts);
	n = t.n;
	ok(!recorder_read(&reported, &texts, text_view(&t)), "what the window says is understood");
	text_free(&t);
	return n;
}

static struct str name_of(uint32_t pid, uint64_t method)
{
	const struct interpreted_method *m = interpreted_find(&reported.interpreted, pid, method);

	return !m ? STR("(not told)") : m->name.n ? m->name : STR("(no name)");
}

static void windows(void)
{
	struct javanames *s = javanames_new();
	const uint64_t *wanted;
	size_t n;

	javanames_note(s, 7, 0x2000);
	javanames_note(s, 7, 0x1000);
	javanames_note(s, 9, 0x1000);
	javanames_note(s, 7, 0x2000);
	wanted = javanames_wanted(s, 7, ++tick, &n);
	ok(n == 2 && wanted[0] == 0x2000 && wanted[1] == 0x1000, "those of one process, each once");
	javanames_named(s, 7, 0x1000, STR("void A.a()"));
	javanames_named(s, 8, 0x1000, STR("void X.x()"));
	javanames_wanted(s, 7, ++tick, &n);
	ok(n == 0, "nothing is asked for twice, named or not");
	javanames_note(s, 7, 0x2000);
	javanames_note(s, 7, 0x3000);
	wanted = javanames_wanted(s, 7, ++tick, &n);
	ok(n == 1 && wanted[0] == 0x3000, "what is new is");
	wanted = javanames_wanted(s, 9, ++tick, &n);
	ok(n == 1 && wanted[0] == 0x1000, "another process has its own");
	javanames_named(s, 9, 0x1000, STR("void B.b()"));
	end(s);
	ok(reported.interpreted.n == 4 && reported.interpreted.left_out == 0, "all are told");
	is_str(name_of(7, 0x1000), STR("void A.a()"), "  with their names");
	is_str(name_of(9, 0x1000), STR("void B.b()"), "  by process");
	is_str(name_of(7, 0x2000), STR("(no name)"), "  or without");
	is_str(name_of(8, 0x1000), STR("(not told)"), "  and no others");
	is_u64(end(s), 0, "the next window has none: nothing is told");
	javanames_note(s, 7, 0x1000);
	javanames_wanted(s, 7, ++tick, &n);
	is_u64(n, 1, "  and what it meets is asked for again");
	javanames_free(s);
}

#define SECOND UINT64_C(1000000000)

/* An address that two methods had in a window gets no name; others keep theirs. */
static void reused(void)
{
	struct javanames *s = javanames_new();
	size_t n;

	for (uint64_t i = 0; i < 3; i++)
		javanames_note(s, 7, 0x1000 + i * 0x100);
	javanames_wanted(s, 7, SECOND, &n);
	is_u64(n, 3, "new methods are requested");
	javanames_named(s, 7, 0x1000, STR("void A.a()"));
	javanames_named(s, 7, 0x1100, STR("void A.b()"));
	javanames_named(s, 7, 0x1200, STR("void A.c()"));
	javanames_note(s, 7, 0x1000);
	javanames_note(s, 7, 0x1100);
	javanames_wanted(s, 7, 2 * SECOND - 1, &n);
	is_u64(n, 0, "none is requested again within a second");
	javanames_note(s, 9, 0x1000);
	javanames_wanted(s, 7, 2 * SECOND, &n);
	is_u64(n, 2, "those that frames use are requested again");
	javanames_wanted(s, 9, 2 * SECOND, &n);
	is_u64(n, 1, "  at the same time those of other processes");
	javanames_named(s, 7, 0x1000, STR("void A.a()"));
	javanames_named(s, 7, 0x1100, STR("void B.a()"));
	javanames_note(s, 7, 0x1200);
	javanames_recheck(s);
	javanames_wanted(s, 7, 2 * SECOND + 1, &n);
	is_u64(n, 1, "and at the end of a window");
	javanames_named(s, 7, 0x1100, STR("void A.b()"));
	end(s);
	is_str(name_of(7, 0x1000), STR("void A.a()"), "a method with one name has it");
	is_str(name_of(7, 0x1100), STR("(no name)"), "one with two has none");
	is_str(name_of(7, 0x1200), STR("void A.c()"), "one that was read once has its name");
	for (uint64_t i = 0; i < 600; i++)
		javanames_note(s, 7, 0x1000 + i * 0x100);
	javanames_wanted(s, 7, 3 * SECOND, &n);
	for (uint64_t i = 0; i < 600; i++)
		javanames_note(s, 7, 0x1000 + i * 0x100);
	javanames_wanted(s, 7, 5 * SECOND, &n);
	is_u64(n, 256, "a part is read again each time");
	javanames_wanted(s, 7, 7 * SECOND, &n);
	is_u64(n, 256, "  then the next part");
	javanames_wanted(s, 7, 9 * SECOND, &n);
	is_u64(n, 88, "  and the rest");
	javanames_free(s);
}

enum { LONG = 16384 };

static void bounds(void)
{
	struct javanames *s = javanames_new();
	char *longest = mem_alloc(1, 2 * LONG);
	size_t n;

	for (uint64_t i = 0; i < JAVANAMES_MAX + 10; i++)
		javanames_note(s, 1 + (uint32_t)(i % 3), 0x10000 + i / 3 * 8);
	javanames_note(s, 1, 0x10000);
	memset(longest, 'a', LONG);
	for (uint64_t i = 0; i < JAVANAMES_BYTES / LONG + 1; i++)
		javanames_named(s, 1, 0x10000 + i * 8, (struct str){ longest, LONG });
	javanames_named(s, 2, 0x10000, (struct str){ longest, 2 * LONG });
	javanames_wanted(s, 2, ++tick, &n);
	is_u64(n, JAVANAMES_MAX / 3, "a third of them");
	end(s);
	ok(reported.interpreted.n == JAVANAMES_MAX && reported.interpreted.left_out == 10,
	   "no more than there is room for, others are counted");
	is_u64(name_of(1, 0x10000 + 8 * (JAVANAMES_BYTES / LONG - 1)).n, LONG, "names, too: the last one that fits");
	is_str(name_of(1, 0x10000 + 8 * (JAVANAMES_BYTES / LONG)), STR("(no name)"), "  the next one");
	is_str(name_of(2, 0x10000), STR("(no name)"), "  one that is too long");
	javanames_note(s, 4, 8);
	end(s);
	ok(reported.interpreted.n == 1 && reported.interpreted.left_out == 0, "the next window has all its room");
	free(longest);
	javanames_free(s);
}

int main(void)
{
	windows();
	reused();
	bounds();
	recorder_free(&reported);
	arena_free(&texts);
	return done();
}
