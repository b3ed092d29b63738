/* Names of JVM code in a window: described once, proven by a check, written where frames used it, and read by pjfold by
 * address and time; bounded; a damaged list gives what precedes the damage. */
/* covers: record/java/codenames.c record/java/codeitems.c fold/jvm/windowcode.c fold/jvm/inlinetree.c */
#include "record/java/codenames.h"
#include "common/formats/jmapfile.h"
#include "fold/perfdata/recorder.h"
#include "test/lib/tap.h"

#include <stdio.h>
#include <stdlib.h>

static struct recorder window;
static struct arena texts;
static struct text items;

static const struct tenant tenant = { .kind = TENANT_USER, .key = 1000 };

/* Ends a window, or appends to a stream, and reads the items as pjfold does. */
static void end(struct codenames *codenames, bool stream)
{
	if (!stream) {
		recorder_free(&window);
		arena_free(&texts);
	}
	items.n = 0;
	codenames_put(codenames, stream, &items);
	ok(!recorder_read(&window, &texts, text_view(&items)), "the items are valid");
}

static const char *name_at(uint64_t address, uint64_t time)
{
	static char name[256];
	const struct jit_code *code = windowcode_find(window.code, 7, address, time);

	if (!code)
		return "-";
	snprintf(name, sizeof(name), "%.*s", (int)code->name.n, code->name.p);
	for (struct str rest = code->inlined; rest.n;) {
		struct str call = str_cut(&rest, 0);

		snprintf(name + strlen(name), sizeof(name) - strlen(name), ">%.*s", (int)call.n, call.p);
	}
	return name;
}

static void is_named(uint64_t address, uint64_t time, const char *expected, const char *what)
{
	is_str(str_of(name_at(address, time)), str_of(expected), what);
}

static struct blob nmethod(uint64_t begin, uint32_t compile_id)
{
	return (struct blob){ .address = begin - 64,
			      .begin = begin,
			      .end = begin + 100,
			      .method = 0x100,
			      .compile_id = compile_id,
			      .level = 4,
			      .compiled = true };
}

/* Describes an nmethod: up to offset 10 nothing is inlined, up to 20 method[1], up to 30 method[2] called by it. */
static void describe(struct codenames_jvm *jvm, uint32_t id, const struct blob *blob, const uint64_t *method,
		     uint32_t n)
{
	struct jvm_code code = { .nmethods = n, .start = blob->begin, .end = blob->end };
	struct text tree = { 0 };

	if (n == 3) {
		static const uint64_t number[] = { 2, 0, 1, 1, 2, 3, 10, 0, 10, 1, 10, 2 };

		for (size_t i = 0; i < countof(number); i++)
			jmap_number(&tree, number[i]);
	}
	codenames_describe(jvm, id, &code, method, text_view(&tree));
	text_free(&tree);
}

/* Returns the number of blobs that a check has to contain. */
static size_t prove(struct codenames_jvm *jvm, uint32_t id, bool all_same)
{
	size_t n;
	struct blob *blob = codenames_proofs(jvm, &id, 1, &n);

	codenames_prove(jvm, &id, 1, blob, all_same ? n : 0);
	return n;
}

static const uint64_t three[] = { 0x100, 0x200, 0x300 };

/* Lists, describes and proves an nmethod whose three methods have names. */
static uint32_t list_inlined(struct codenames_jvm *jvm, uint64_t begin, uint32_t compile_id)
{
	struct blob blob = nmethod(begin, compile_id);
	uint32_t id = codenames_add(jvm, &blob);
	size_t n;
	const uint64_t *missing;

	describe(jvm, id, &blob, three, 3);
	missing = codenames_missing(jvm, &id, 1, &n);
	for (size_t i = 0; i < n; i++)
		codenames_name(jvm, missing[i],
			       missing[i] == 0x100 ? STR("a") :
			       missing[i] == 0x200 ? STR("b") :
						     STR("c"));
	prove(jvm, id, true);
	return id;
}

static void one_window(void)
{
	struct codenames *codenames = codenames_new();
	struct codenames_jvm *jvm = codenames_open(codenames, 7, tenant);
	uint32_t id = list_inlined(jvm, 0x1000, 1), wanted, unused = list_inlined(jvm, 0x5000, 9);
	struct blob blob;

	ok(codenames_wanted(jvm, &wanted, &blob, 1) == 0, "described code is not wanted again");
	codenames_use(jvm, id, 500);
	codenames_use(jvm, id, 300);
	codenames_use(jvm, id, 400);
	codenames_keep(jvm, id, 350, 600);
	codenames_keep(jvm, unused, 1, 600);
	end(codenames, false);
	ok(windowcode_count(window.code) == 1, "code without a frame is not in the window");
	is_named(0x1000, 300, "a", "the method itself");
	is_named(0x100a, 400, "a", "  up to the last offset of its range");
	is_named(0x100b, 400, "a>b", "an inlined call");
	is_named(0x101e, 400, "a>b>c", "a call inlined in it");
	is_named(0x101f, 400, "a", "after the last range");
	is_named(0x1063, 600, "a", "the last byte, at the last check");
	is_named(0x1064, 500, "-", "the byte after it");
	is_named(0x1000, 299, "-", "before its first frame");
	is_named(0x1000, 601, "-", "after the last check");
	ok(!windowcode_find(window.code, 8, 0x1000, 400), "another process has no code");

	codenames_use(jvm, id, 900);
	codenames_keep(jvm, id, 350, 800);
	end(codenames, false);
	is_named(0x101e, 900, "a>b>c", "the next window has the description, too");
	is_named(0x1000, 349, "-", "  with its own time");

	end(codenames, false);
	ok(!windowcode_has(window.code, 7), "and the third, without a frame, has none");
	codenames_free(codenames);
}

static void reused_memory(void)
{
	struct codenames *codenames = codenames_new();
	struct codenames_jvm *jvm = codenames_open(codenames, 7, tenant);
	uint32_t first = list_inlined(jvm, 0x1000, 1), second;
	struct blob blob = nmethod(0x1020, 2);
	static const uint64_t other = 0x400;
	size_t n;

	codenames_use(jvm, first, 100);
	codenames_use(jvm, first, 200);
	second = codenames_add(jvm, &blob);
	describe(jvm, second, &blob, &other, 1);
	codenames_missing(jvm, &second, 1, &n);
	ok(n == 1, "only the unknown method is requested");
	codenames_name(jvm, 0x400, STR("d"));
	prove(jvm, second, true);
	codenames_use(jvm, second, 300);
	end(codenames, false);
	is_named(0x1030, 150, "a", "before the memory was reused");
	is_named(0x1030, 300, "d", "after it");
	is_named(0x1030, 250, "-", "in between neither is certain");
	codenames_free(codenames);
}

static void failed_proofs(void)
{
	struct codenames *codenames = codenames_new();
	struct codenames_jvm *jvm = codenames_open(codenames, 7, tenant);
	uint32_t first = list_inlined(jvm, 0x1000, 1), second, wanted;
	struct blob blob = nmethod(0x2000, 2), found, *check;
	size_t n;

	second = codenames_add(jvm, &blob);
	describe(jvm, second, &blob, three, 3);
	codenames_missing(jvm, &second, 1, &n);
	ok(n == 0, "names of methods are taken from the cache");
	check = codenames_proofs(jvm, &second, 1, &n);
	ok(n == 2 && check[0].compile_id == 2 && check[1].compile_id == 1,
	   "  and checked by the nmethod that proves them");
	codenames_prove(jvm, &second, 1, check, 1);
	ok(codenames_wanted(jvm, &wanted, &found, 1) == 1 && wanted == second,
	   "it has changed: the new one is wanted again");
	describe(jvm, second, &blob, three, 3);
	codenames_missing(jvm, &second, 1, &n);
	ok(n == 3, "  and the methods are read again");
	codenames_name(jvm, 0x100, STR("A"));
	codenames_name(jvm, 0x200, STR("B"));
	prove(jvm, second, true);
	codenames_use(jvm, first, 100);
	codenames_use(jvm, second, 100);
	end(codenames, false);
	is_named(0x100b, 100, "a>b", "the old name stays where it was proven");
	is_named(0x200b, 100, "A>B", "the new name is that of the new code");
	is_named(0x201e, 100, "A>B", "a call that could not be read is not shown");

	blob = nmethod(0x3000, 3);
	second = codenames_add(jvm, &blob);
	describe(jvm, second, &blob, three, 3);
	prove(jvm, second, false);
	codenames_use(jvm, second, 200);
	end(codenames, false);
	is_named(0x3000, 200, "-", "code that changed while it was read has no name");
	blob = nmethod(0x4000, 4);
	second = codenames_add(jvm, &blob);
	for (unsigned i = 0; i < 10 && codenames_wanted(jvm, &wanted, &found, 1) == 1; i++)
		codenames_postpone(jvm, &second, 1);
	ok(codenames_wanted(jvm, &wanted, &found, 1) == 0, "a JVM that never answers is given up");
	codenames_free(codenames);
}

/* The proof of a cached name has changed, and two nmethods of one check use the name: neither may get it. */
static void refuted_in_batch(void)
{
	struct codenames *codenames = codenames_new();
	struct codenames_jvm *jvm = codenames_open(codenames, 7, tenant);
	struct blob blob[2] = { nmethod(0x2000, 2), nmethod(0x3000, 3) }, found[2], *check;
	uint32_t id[2], wanted[2];
	size_t n;

	list_inlined(jvm, 0x1000, 1);
	for (unsigned i = 0; i < 2; i++) {
		id[i] = codenames_add(jvm, &blob[i]);
		describe(jvm, id[i], &blob[i], three, 3);
	}
	codenames_missing(jvm, id, 2, &n);
	ok(n == 0, "two nmethods take their names from the cache");
	check = codenames_proofs(jvm, id, 2, &n);
	ok(n == 3 && check[1].compile_id == 1, "  one nmethod proves them");
	check[1] = check[2];
	codenames_prove(jvm, id, 2, check, 2);
	ok(codenames_wanted(jvm, wanted, found, 2) == 2, "  it has changed: both are wanted again");
	for (unsigned i = 0; i < 2; i++) {
		describe(jvm, id[i], &blob[i], three, 3);
		codenames_use(jvm, id[i], 100);
	}
	codenames_missing(jvm, id, 2, &n);
	ok(n == 3, "  and the methods are read again");
	codenames_name(jvm, 0x100, STR("A"));
	check = codenames_proofs(jvm, id, 2, &n);
	codenames_prove(jvm, id, 2, check, n);
	end(codenames, false);
	is_named(0x2000, 100, "A", "  the first has the new name");
	is_named(0x3000, 100, "A", "  so has the second");
	codenames_free(codenames);
}

static void stubs(void)
{
	struct codenames *codenames = codenames_new();
	struct codenames_jvm *jvm = codenames_open(codenames, 7, tenant);
	struct blob block = { .address = 0x1000, .begin = 0x1000, .end = 0x2000, .compile_id = 0 };
	uint32_t id = codenames_add(jvm, &block);
	struct jvm_code all = { .start = 0x1000, .end = 0x2000 }, part = { .start = 0x1100, .end = 0x1200 },
			outside = { .start = 0x1f00, .end = 0x2001 };

	codenames_describe(jvm, id, &all, NULL, STR("StubRoutines (1)"));
	codenames_describe(jvm, id, &part, NULL, STR("StubRoutines: call_stub"));
	codenames_describe(jvm, id, &outside, NULL, STR("StubRoutines: lie"));
	ok(prove(jvm, id, true) == 0, "stubs need no check");
	codenames_use(jvm, id, 100);
	end(codenames, false);
	is_named(0x10ff, 100, "StubRoutines (1)", "the block");
	is_named(0x1100, 100, "StubRoutines: call_stub", "its stub");
	is_named(0x1200, 100, "StubRoutines (1)", "after the stub");
	is_named(0x1fff, 100, "StubRoutines (1)", "a range that leaves the block is not used");
	codenames_free(codenames);
}

static void stream(void)
{
	struct codenames *codenames = codenames_new();
	struct codenames_jvm *jvm = codenames_open(codenames, 7, tenant);
	uint32_t first = list_inlined(jvm, 0x1000, 1), second = list_inlined(jvm, 0x2000, 2);

	recorder_free(&window);
	arena_free(&texts);
	codenames_use(jvm, first, 100);
	codenames_keep(jvm, first, 90, 100);
	codenames_keep(jvm, second, 90, 100);
	end(codenames, true);
	is_named(0x100b, 1000, "a>b", "code stays open");
	codenames_use(jvm, first, 150);
	codenames_keep(jvm, first, 90, 150);
	codenames_keep(jvm, second, 90, 150);
	end(codenames, true);
	ok(items.n == 0, "nothing is written twice");
	codenames_use(jvm, second, 200);
	codenames_keep(jvm, second, 90, 200);
	end(codenames, true);
	is_named(0x100b, 150, "a>b", "code that the cache dropped");
	is_named(0x100b, 151, "-", "  ends at its last frame");
	is_named(0x200b, 1000, "a>b", "code that is used later comes later");
	codenames_free(codenames);
}

/* A name that was read before a part of a stream was written, but whose nmethod was proven or used only after it. */
static void stream_late_names(void)
{
	struct codenames *codenames = codenames_new();
	struct codenames_jvm *jvm = codenames_open(codenames, 7, tenant);
	struct blob blob = nmethod(0x3000, 3);
	static const uint64_t other = 0x400;
	uint32_t used = list_inlined(jvm, 0x1000, 1), late;
	size_t n;

	recorder_free(&window);
	arena_free(&texts);
	late = codenames_add(jvm, &blob);
	describe(jvm, late, &blob, &other, 1);
	codenames_missing(jvm, &late, 1, &n);
	codenames_name(jvm, 0x400, STR("d"));
	codenames_postpone(jvm, &late, 1);
	codenames_use(jvm, used, 100);
	codenames_keep(jvm, used, 90, 100);
	codenames_keep(jvm, late, 90, 100);
	end(codenames, true);
	describe(jvm, late, &blob, &other, 1);
	codenames_missing(jvm, &late, 1, &n);
	codenames_name(jvm, 0x400, STR("d"));
	prove(jvm, late, true);
	codenames_use(jvm, late, 200);
	codenames_keep(jvm, used, 90, 200);
	codenames_keep(jvm, late, 90, 200);
	end(codenames, true);
	is_named(0x3000, 200, "d", "a name that was read before the last part comes with the first code that uses it");
	is_named(0x101e, 100, "a>b>c", "  other names are as before");
	codenames_free(codenames);
}

static void limits(void)
{
	struct codenames *codenames = codenames_new();
	struct codenames_jvm *jvm = codenames_open(codenames, 7, tenant);
	char *longest = mem_grow(NULL, 1, JVM_NAME_MAX);
	uint32_t n = 0;

	memset(longest, 'x', JVM_NAME_MAX);
	for (uint64_t i = 1; i < 100000; i++) {
		struct blob block = { .address = i << 16, .begin = i << 16, .end = (i << 16) + 100 };
		struct jvm_code all = { .start = block.begin, .end = block.end };
		uint32_t id = codenames_add(jvm, &block);

		if (id) {
			memcpy(longest, &i, sizeof(i));
			codenames_describe(jvm, id, &all, NULL, (struct str){ longest, JVM_NAME_MAX });
			prove(jvm, id, true);
			n++;
		}
		codenames_use(jvm, id, i);
		if (id)
			codenames_keep(jvm, id, i, i);
	}
	ok(n > 100 && n < 60000, "a tenant has at most 8 MB");
	end(codenames, false);
	ok(windowcode_left_out(window.code) == 99999 - n, "  and the rest is counted");
	ok(windowcode_count(window.code) < 2200, "names beyond it are left out");
	for (unsigned i = 0; i < 3; i++)
		end(codenames, false);
	n = codenames_add(jvm, &(struct blob){ .begin = 1, .end = 2 });
	ok(n != 0, "code that the cache dropped gives its memory back");
	codenames_close(jvm);
	end(codenames, false);
	jvm = codenames_open(codenames, 8, tenant);
	ok(codenames_add(jvm, &(struct blob){ .begin = 1, .end = 2 }) != 0, "so does a JVM");
	codenames_free(codenames);
	free(longest);
}

static void damage(void)
{
	struct codenames *codenames = codenames_new();
	struct codenames_jvm *jvm = codenames_open(codenames, 7, tenant);
	size_t bad = 0;

	codenames_use(jvm, list_inlined(jvm, 0x1000, 1), 100);
	end(codenames, false);
	for (size_t i = 8; i < items.n; i++) {
		struct text copy = { 0 };

		text_bytes(&copy, items.p, items.n);
		copy.p[i] = (char)(copy.p[i] ^ 0xff);
		recorder_free(&window);
		bad += recorder_read(&window, &texts, text_view(&copy)) != NULL;
		for (uint64_t at = 0x1000; at < 0x1064; at += 5)
			windowcode_find(window.code, 7, at, 100);
		text_free(&copy);
	}
	ok(bad > 10, "damage is found, or harmless");
	codenames_free(codenames);
}

int main(void)
{
	one_window();
	reused_memory();
	failed_proofs();
	refuted_in_batch();
	stubs();
	stream();
	stream_late_names();
	limits();
	damage();
	recorder_free(&window);
	arena_free(&texts);
	text_free(&items);
	return done();
}
