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

static struct javanames_jvm jvm(uint32_t pid, uint64_t serial)
{
	return (struct javanames_jvm){ pid, serial, { TENANT_USER, pid } };
}

/* Both at time 0, by the first program of this PID. */
static void note(struct javanames *s, uint32_t pid, uint64_t method)
{
	struct javanames_jvm of = jvm(pid, pid);

	javanames_note(s, &of, method, 0);
}

static void named(struct javanames *s, uint32_t pid, uint64_t method, struct str name)
{
	struct javanames_jvm of = jvm(pid, pid);

	javanames_named(s, &of, method, 0, name);
}

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

	note(s, 7, 0x2000);
	note(s, 7, 0x1000);
	note(s, 9, 0x1000);
	note(s, 7, 0x2000);
	wanted = javanames_wanted(s, 7, ++tick, &n);
	ok(n == 2 && wanted[0] == 0x2000 && wanted[1] == 0x1000, "those of one process, each once");
	named(s, 7, 0x1000, STR("void A.a()"));
	named(s, 8, 0x1000, STR("void X.x()"));
	javanames_wanted(s, 7, ++tick, &n);
	ok(n == 0, "nothing is asked for twice, named or not");
	note(s, 7, 0x2000);
	note(s, 7, 0x3000);
	wanted = javanames_wanted(s, 7, ++tick, &n);
	ok(n == 1 && wanted[0] == 0x3000, "what is new is");
	wanted = javanames_wanted(s, 9, ++tick, &n);
	ok(n == 1 && wanted[0] == 0x1000, "another process has its own");
	named(s, 9, 0x1000, STR("void B.b()"));
	end(s);
	ok(reported.interpreted.n == 4 && reported.interpreted.left_out == 0, "all are told");
	is_str(name_of(7, 0x1000), STR("void A.a()"), "  with their names");
	is_str(name_of(9, 0x1000), STR("void B.b()"), "  by process");
	is_str(name_of(7, 0x2000), STR("(no name)"), "  or without");
	is_str(name_of(8, 0x1000), STR("(not told)"), "  and no others");
	is_u64(end(s), 0, "the next window has none: nothing is told");
	note(s, 7, 0x1000);
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
		note(s, 7, 0x1000 + i * 0x100);
	javanames_wanted(s, 7, SECOND, &n);
	is_u64(n, 3, "new methods are requested");
	named(s, 7, 0x1000, STR("void A.a()"));
	named(s, 7, 0x1100, STR("void A.b()"));
	named(s, 7, 0x1200, STR("void A.c()"));
	note(s, 7, 0x1000);
	note(s, 7, 0x1100);
	javanames_wanted(s, 7, 2 * SECOND - 1, &n);
	is_u64(n, 0, "none is requested again within a second");
	note(s, 9, 0x1000);
	javanames_wanted(s, 7, 2 * SECOND, &n);
	is_u64(n, 2, "those that frames use are requested again");
	javanames_wanted(s, 9, 2 * SECOND, &n);
	is_u64(n, 1, "  at the same time those of other processes");
	named(s, 7, 0x1000, STR("void A.a()"));
	named(s, 7, 0x1100, STR("void B.a()"));
	note(s, 7, 0x1200);
	javanames_recheck(s);
	javanames_wanted(s, 7, 2 * SECOND + 1, &n);
	is_u64(n, 1, "and at the end of a window");
	named(s, 7, 0x1100, STR("void A.b()"));
	end(s);
	is_str(name_of(7, 0x1000), STR("void A.a()"), "a method with one name has it");
	is_str(name_of(7, 0x1100), STR("(no name)"), "one with two has none");
	is_str(name_of(7, 0x1200), STR("void A.c()"), "one that was read once has its name");
	for (uint64_t i = 0; i < 600; i++)
		note(s, 7, 0x1000 + i * 0x100);
	javanames_wanted(s, 7, 3 * SECOND, &n);
	for (uint64_t i = 0; i < 600; i++)
		note(s, 7, 0x1000 + i * 0x100);
	javanames_wanted(s, 7, 5 * SECOND, &n);
	is_u64(n, 256, "a part is read again each time");
	javanames_wanted(s, 7, 7 * SECOND, &n);
	is_u64(n, 256, "  then the next part");
	javanames_wanted(s, 7, 9 * SECOND, &n);
	is_u64(n, 88, "  and the rest");
	for (uint64_t i = 0; i < 600; i++)
		note(s, 7, 0x1000 + i * 0x100);
	javanames_recheck(s);
	javanames_wanted(s, 7, 9 * SECOND + 1, &n);
	is_u64(n, 600, "at the end of a window all are");
	javanames_free(s);
}

/* Classes are in items of their own, by the same rules. */
static void classes(void)
{
	struct javanames *s = javanames_new();
	const struct interpreted_method *class;
	size_t n;

	note(s, 7, 0x1000 | PJ_CLASS_BIT);
	note(s, 7, 0x1000);
	note(s, 9, 0x2000 | PJ_CLASS_BIT);
	note(s, 7, 0x3000 | PJ_CLASS_BIT);
	javanames_wanted(s, 7, ++tick, &n);
	is_u64(n, 3, "names of classes are requested with those of methods");
	named(s, 7, 0x1000 | PJ_CLASS_BIT, STR("java/util/HashMap"));
	named(s, 7, 0x1000, STR("void A.a()"));
	named(s, 7, 0x3000 | PJ_CLASS_BIT, STR("byte[]"));
	named(s, 7, 0x3000 | PJ_CLASS_BIT, STR("A"));
	end(s);
	is_str(name_of(7, 0x1000 | PJ_CLASS_BIT), STR("java/util/HashMap"), "a class has its name");
	is_str(name_of(7, 0x1000), STR("void A.a()"), "  a method at the same address, too");
	is_str(name_of(7, 0x3000 | PJ_CLASS_BIT), STR("(no name)"), "  an address with two classes has none");
	class = interpreted_find(&reported.interpreted, 9, 0x2000 | PJ_CLASS_BIT);
	ok(class && class->language == PJ_LANGUAGE_JAVA_CLASS && !class->name.n, "  one that was not read has none");
	class = interpreted_find(&reported.interpreted, 7, 0x1000);
	ok(class && class->language == 0, "  methods stay methods");
	javanames_free(s);
}

/* Samples at `noted` (ns), whose names are read at `read`. */
static void note_and_name(struct javanames *s, uint64_t address, uint64_t noted, uint64_t read)
{
	struct javanames_jvm of = jvm(7, 1);

	javanames_note(s, &of, address, noted);
	javanames_named(s, &of, address, read, STR("A"));
}

/* A class that is first read late may be another one than that of the sample. */
static void late(void)
{
	struct javanames *s = javanames_new();
	uint64_t at = 100 * SECOND;

	note_and_name(s, 0x1000 | PJ_CLASS_BIT, at, at + JAVANAMES_FIRST_NS);
	note_and_name(s, 0x2000 | PJ_CLASS_BIT, at, at + JAVANAMES_FIRST_NS + 1);
	note_and_name(s, 0x2000 | PJ_CLASS_BIT, at + SECOND, at + JAVANAMES_FIRST_NS + 1);
	note_and_name(s, 0x3000 | PJ_CLASS_BIT, at, at - 1);
	note_and_name(s, 0x4000, at, at + 3 * JAVANAMES_FIRST_NS);
	note_and_name(s, 0x1000 | PJ_CLASS_BIT, at + 3 * JAVANAMES_FIRST_NS, at + 9 * JAVANAMES_FIRST_NS);
	end(s);
	is_str(name_of(7, 0x1000 | PJ_CLASS_BIT), STR("A"),
	       "a class that is read soon has its name, also if read again");
	is_str(name_of(7, 0x2000 | PJ_CLASS_BIT), STR("(no name)"), "  one that is first read late has none");
	is_str(name_of(7, 0x3000 | PJ_CLASS_BIT), STR("A"), "  one that is read before its sample is taken up");
	is_str(name_of(7, 0x4000), STR("A"), "methods are read at any time");
	javanames_free(s);
}

/* Addresses that were noted before an exec are not those of the next program. */
static void restarted(void)
{
	struct javanames *s = javanames_new();
	struct javanames_jvm first = jvm(7, 1), second = jvm(7, 2), closed = jvm(7, 0);

	javanames_note(s, &first, 0x1000, 0);
	javanames_named(s, &second, 0x1000, 0, STR("void B.b()"));
	javanames_named(s, &second, 0x1000, 0, STR("void B.b()"));
	javanames_note(s, &first, 0x2000, 0);
	javanames_note(s, &second, 0x2000, 0);
	javanames_named(s, &second, 0x2000, 0, STR("void B.b()"));
	javanames_note(s, &first, 0x3000, 0);
	javanames_named(s, &first, 0x3000, 0, STR("void A.a()"));
	javanames_note(s, &second, 0x3000, 0);
	javanames_named(s, &second, 0x3000, 0, STR("void A.a()"));
	javanames_note(s, &first, 0x4000, 0);
	javanames_named(s, &first, 0x4000, 0, STR("void A.a()"));
	javanames_note(s, &second, 0x4000, 0);
	javanames_named(s, &second, 0x4000, 0, STR("void B.b()"));
	javanames_note(s, &second, 0x5000, 0);
	javanames_named(s, &second, 0x5000, 0, STR("void B.b()"));
	javanames_note(s, &first, 0x6000, 0);
	javanames_named(s, &first, 0x6000, 0, STR("void A.a()"));
	javanames_note(s, &second, 0x6000, 0);
	javanames_note(s, &first, 0x7000, 0);
	javanames_note(s, &closed, 0x7000, 0);
	javanames_named(s, &first, 0x7000, 0, STR("void A.a()"));
	javanames_note(s, &closed, 0x8000, 0);
	javanames_note(s, &first, 0x8000, 0);
	javanames_named(s, &first, 0x8000, 0, STR("void A.a()"));
	end(s);
	is_str(name_of(7, 0x6000), STR("(no name)"),
	       "a name of the earlier program is none of the next one, which ended unread");
	is_str(name_of(7, 0x7000), STR("void A.a()"), "a JVM that was closed for a moment is the same one");
	is_str(name_of(7, 0x8000), STR("void A.a()"), "  also at first");
	is_str(name_of(7, 0x1000), STR("(no name)"), "a method of the earlier program is not read from the next one");
	is_str(name_of(7, 0x2000), STR("(no name)"), "  nor one that both have");
	is_str(name_of(7, 0x3000), STR("void A.a()"), "  unless both have been read, with one name");
	is_str(name_of(7, 0x4000), STR("(no name)"), "  not with two");
	is_str(name_of(7, 0x5000), STR("void B.b()"), "those of the next program have theirs");
	javanames_free(s);
}

/* Notes n classes of a process of a tenant. Returns the number of those for which there is space. */
static uint32_t note_classes(struct javanames *s, uint32_t pid, uint64_t user, uint32_t n)
{
	struct javanames_jvm of = { pid, 1, { TENANT_USER, user } };
	uint32_t noted = 0;

	for (uint32_t i = 0; i < n; i++)
		noted += javanames_note(s, &of, (0x1000 + 8 * (uint64_t)i) | PJ_CLASS_BIT, 0);
	return noted;
}

/* No tenant can take the space of others by many methods, which forged interpreted frames may have. */
static void test_shares_of_methods(void)
{
	struct javanames *s = javanames_new();
	struct javanames_jvm of = { 1, 1, { TENANT_USER, 1000 } };
	uint32_t noted = 0;

	for (uint32_t i = 0; i < JAVANAMES_MAX; i++) {
		of.pid = 1 + i % 2;
		noted += javanames_note(s, &of, 0x10000 + 8 * (uint64_t)i, 0);
	}
	is_u64(noted, JAVANAMES_TENANT_METHODS, "the JVMs of a tenant have a limit of methods");
	of.pid = 1;
	ok(javanames_note(s, &of, 0x10000, 0), "  those they have are still noted");
	of = (struct javanames_jvm){ 3, 1, { TENANT_USER, 1001 } };
	ok(javanames_note(s, &of, 0x10000, 0), "other tenants have space");
	end(s);
	is_u64(reported.interpreted.left_out, JAVANAMES_MAX - JAVANAMES_TENANT_METHODS, "  the others are counted");
	javanames_free(s);
}

/* Nobody can take the space of others by many classes. */
static void shares(void)
{
	struct javanames *s = javanames_new();
	uint32_t noted = 0;
	size_t n;

	is_u64(note_classes(s, 1, 1000, JAVANAMES_CLASSES + 100), JAVANAMES_CLASSES, "one JVM has a limit of classes");
	is_u64(note_classes(s, 1, 1000, 10), 10, "  those it has are still noted");
	for (uint32_t pid = 2; pid < 20; pid++)
		noted += note_classes(s, pid, 1000, JAVANAMES_CLASSES);
	is_u64(noted, JAVANAMES_TENANT_CLASSES - JAVANAMES_CLASSES, "  the JVMs of a tenant have one");
	is_u64(note_classes(s, 20, 1001, 100), 100, "other tenants have space");
	for (uint32_t pid = 21; pid < 60; pid++)
		note_classes(s, pid, pid, JAVANAMES_CLASSES);
	is_u64(note_classes(s, 60, 60, 1), 0, "  until half of the table is full");
	note(s, 61, 0x1000);
	javanames_wanted(s, 61, ++tick, &n);
	is_u64(n, 1, "  methods have the other half");
	note(s, 60, PJ_CLASS_BIT);
	end(s);
	is_u64(reported.interpreted.n, JAVANAMES_ALL_CLASSES + 2, "the class without a name has space all the same");
	is_str(name_of(60, PJ_CLASS_BIT), STR("(no name)"), "  and is stored");
	is_u64(reported.interpreted.left_out, 0, "classes without space are not counted as methods");
	is_u64(note_classes(s, 1, 1000, JAVANAMES_CLASSES + 1), JAVANAMES_CLASSES, "the next window begins anew");
	end(s);
	note(s, 7, PJ_CLASS_BIT);
	javanames_wanted(s, 7, tick += 2 * SECOND, &n);
	is_u64(n, 0, "the class without a name is never read");
	end(s);
	is_str(name_of(7, PJ_CLASS_BIT), STR("(no name)"), "  but stored");
	javanames_free(s);
}

/* Adds a row of a class, or of a Python function, at address 0x1002. */
static void add_row(struct interpreted *interpreted, bool class, struct str name)
{
	struct pj_functions functions = { .pid = 7, .language = PJ_LANGUAGE_PYTHON };
	struct pj_function function = { .address = 0x1002, .line = 1, .size = (uint32_t)name.n + 3 };
	struct pj_methods methods = { .pid = 7 };
	struct pj_method method = { .method = 0x1002, .size = (uint32_t)name.n };
	struct text item = { 0 };

	if (class) {
		text_bytes(&item, &methods, sizeof(methods));
		text_bytes(&item, &method, sizeof(method));
		text_str(&item, name);
		ok(!interpreted_take_classes(interpreted, &texts, text_view(&item)), "a row of a class");
	} else {
		text_bytes(&item, &functions, sizeof(functions));
		text_bytes(&item, &function, sizeof(function));
		text_str(&item, name);
		text_bytes(&item, "\0f", 3);
		ok(!interpreted_take_functions(interpreted, &texts, text_view(&item)), "a row of a function");
	}
	text_free(&item);
}

/* Rows of the same address and two languages. */
static void languages(void)
{
	struct interpreted interpreted = { 0 };

	add_row(&interpreted, true, (struct str){ 0 });
	add_row(&interpreted, false, STR("f"));
	interpreted_sort(&interpreted);
	is_u64(interpreted.n, 1, "one remains");
	is_str(interpreted.method[0].name, STR("f"), "  the one with a name");
	is_u64(interpreted.method[0].language, PJ_LANGUAGE_PYTHON, "  with its language");
	add_row(&interpreted, true, STR("A"));
	add_row(&interpreted, true, STR("B"));
	interpreted_sort(&interpreted);
	is_u64(interpreted.method[0].name.n, 0, "of several names none remains");
	interpreted_free(&interpreted);
}

enum { LONG = 16384, SHARE = JAVANAMES_TENANT_BYTES / LONG };

static void bounds(void)
{
	struct javanames *s = javanames_new();
	char *longest = mem_alloc(1, 2 * LONG);
	size_t n;

	for (uint64_t i = 0; i < JAVANAMES_MAX + 10; i++)
		note(s, 1 + (uint32_t)(i % 3), 0x10000 + i / 3 * 8);
	note(s, 1, 0x10000);
	note(s, 4, PJ_CLASS_BIT);
	memset(longest, 'a', LONG);
	named(s, 2, 0x10000, (struct str){ longest, 2 * LONG });
	for (uint32_t pid = 1; pid <= 2; pid++)
		for (uint64_t i = 1; i <= SHARE + 1; i++)
			named(s, pid, 0x10000 + i * 8, (struct str){ longest, LONG });
	named(s, 3, 0x10000, STR("void A.a()"));
	javanames_wanted(s, 2, ++tick, &n);
	is_u64(n, JAVANAMES_MAX / 3, "a third of them");
	end(s);
	ok(reported.interpreted.n == JAVANAMES_MAX + 1 && reported.interpreted.left_out == 10,
	   "no more than there is room for, others are counted");
	is_str(name_of(4, PJ_CLASS_BIT), STR("(no name)"), "  but the class without a name has space");
	is_u64(name_of(1, 0x10000 + 8 * SHARE).n, LONG,
	       "names, too: the last one that fits into the share of a tenant");
	is_str(name_of(1, 0x10000 + 8 * (SHARE + 1)), STR("(no name)"), "  the next one");
	is_u64(name_of(2, 0x10000 + 8 * SHARE).n, LONG, "  another tenant has a share, too");
	is_str(name_of(3, 0x10000), STR("(no name)"), "  until all is full");
	is_str(name_of(2, 0x10000), STR("(no name)"), "  one that is too long");
	note(s, 4, 8);
	end(s);
	ok(reported.interpreted.n == 1 && reported.interpreted.left_out == 0, "the next window has all its room");
	free(longest);
	javanames_free(s);
}

int main(void)
{
	windows();
	reused();
	classes();
	late();
	restarted();
	test_shares_of_methods();
	shares();
	languages();
	bounds();
	recorder_free(&reported);
	arena_free(&texts);
	return done();
}
