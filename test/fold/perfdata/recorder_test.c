/* recorder_test - what pjrecord says of a window: items, damage, and which process had a number. */
/* covers: fold/perfdata/recorder.c fold/perfdata/interpreted.c common/formats/pjrows.c */
#include "fold/perfdata/recorder.h"

#include "test/lib/tap.h"
#include "common/text.h"

#include <stdlib.h>

static void item(struct text *text, uint32_t type, const void *p, size_t n)
{
	struct pj_item head = { type, (uint32_t)n };

	text_bytes(text, &head, sizeof(head));
	text_bytes(text, p, n);
	while (text->n % 8)
		text_char(text, 0);
}

static void process(struct text *text, uint32_t pid, uint64_t start, uint32_t flags)
{
	struct pj_process p = { .pid = pid, .start = start, .flags = flags };

	item(text, PJ_ITEM_PROCESS, &p, sizeof(p));
}

#define BOOT "01234567-89ab-cdef-0123-456789abcdef"

static void items(void)
{
	struct recorder r = { 0 };
	struct arena a = { 0 };
	struct text t = { 0 };
	struct pj_window w = { 5, 7, 9 };
	struct pj_idle idle = { .cpu = 3, .ns = 11 };
	const uint64_t border = 6;
	struct pj_helper helper = { .kind = PJ_HELPER_JVM, .hung = 2 }, unknown = { .kind = PJ_HELPERS, .hung = 3 };
	struct {
		struct pj_loss known;
		uint64_t newer;
	} loss = { { .samples = 1, .depth = 2 }, 3 };

	item(&t, 4711, "of a newer pjrecord", 19);
	item(&t, PJ_ITEM_BOOT, BOOT, 36);
	item(&t, PJ_ITEM_WINDOW, &w, 16); /* as an older one would have it */
	item(&t, PJ_ITEM_LOSS, &loss, sizeof(loss));
	item(&t, PJ_ITEM_BORDER, &border, sizeof(border));
	item(&t, PJ_ITEM_IDLE, &idle, sizeof(idle));
	item(&t, PJ_ITEM_HELPER, &helper, sizeof(helper));
	item(&t, PJ_ITEM_HELPER, &unknown, sizeof(unknown));
	item(&t, PJ_ITEM_VERSION, "0.9", 3);
	item(&t, PJ_ITEM_KALLSYMS, "kallsyms-1.gz", 13);
	process(&t, 7, 100, 0);
	process(&t, 5, 90, PJ_PROCESS_ELSEWHERE);
	process(&t, 9, 1, 0);
	process(&t, 9, 2, PJ_PROCESS_ELSEWHERE);
	process(&t, 8, 3, 0);
	process(&t, 8, 3, 0);
	ok(!recorder_read(&r, &a, text_view(&t)) && r.is, "all items");
	is_str(r.boot, STR(BOOT), "boot");
	is_str(r.version, STR("0.9"), "version");
	ok(r.has_window && r.window.begin == 5 && r.window.end == 7 && r.window.serial == 0, "a shorter window");
	ok(r.has_loss && r.loss.samples == 1 && r.loss.depth == 2, "a longer loss");
	is_u64(r.border, 6, "the end of the window");
	ok(r.nidle == 1 && r.idle[0].cpu == 3 && r.idle[0].ns == 11, "idle");
	ok(r.nkallsyms == 1, "kernel symbols");
	ok(r.helper[PJ_HELPER_JVM].hung == 2 && r.helper[PJ_HELPER_SAVER].hung == 0,
	   "helper processes; of an unknown kind none");
	is_str(r.kallsyms[0], STR("kallsyms-1.gz"), "their name");
	is_u64(r.nprocesses, 6, "processes");
	ok(recorder_process(&r, 7) && recorder_process(&r, 7)->start == 100, "one of them");
	ok(!recorder_process(&r, 6) && !recorder_process(&r, 10) && !recorder_process(&r, 0), "others are not told");
	ok(!recorder_process(&r, 9), "a number that two had is nobody's");
	ok(recorder_process(&r, 8) && recorder_process(&r, 8)->start == 3, "one that is told twice is one");
	ok(recorder_elsewhere(&r, 5) && recorder_elsewhere(&r, 9) && !recorder_elsewhere(&r, 7) &&
		   !recorder_elsewhere(&r, 4),
	   "elsewhere");
	/* the second feature adds to the first */
	t.n = 0;
	item(&t, PJ_ITEM_KALLSYMS, "kallsyms-0.gz", 13);
	process(&t, 1, 1, 0);
	ok(!recorder_read(&r, &a, text_view(&t)) && r.nkallsyms == 2 && r.nprocesses == 7 && r.process[0].pid == 1,
	   "in order again");
	recorder_free(&r);
	text_free(&t);
	arena_free(&a);
}

static const char *read_one(uint32_t type, const char *text, struct recorder *recorder, struct arena *arena)
{
	struct text t = { 0 };
	const char *why;

	*recorder = (struct recorder){ 0 };
	item(&t, type, text, strlen(text));
	why = recorder_read(recorder, arena, text_view(&t));
	text_free(&t);
	return why;
}

static void file(struct text *text, uint32_t minor, uint64_t inode, uint64_t generation, uint8_t size)
{
	struct pj_build_id id = { .file_id.major = 8,
				  .file_id.minor = minor,
				  .file_id.inode = inode,
				  .file_id.generation = generation,
				  .build_id.n = size,
				  .build_id.byte = { (uint8_t)inode } };

	item(text, PJ_ITEM_BUILD_ID, &id, sizeof(id));
}

static void files(void)
{
	struct recorder r = { 0 };
	struct arena a = { 0 };
	struct text t = { 0 };
	size_t found = 0;

	ok(!recorder_file(&r, &(struct file_id){ 8, 1, 5, 0 }), "no file is told");
	for (unsigned i = 100; i > 0; i--)
		file(&t, i % 3, i / 2 + 1, i % 2, 20);
	file(&t, 1, 1000, 0, 21);
	file(&t, 1, 1001, 0, 1);
	file(&t, 1, 0, 0, 20);
	ok(!recorder_read(&r, &a, text_view(&t)) && r.nfiles == 100, "files, and some that are none");
	for (unsigned i = 1; i <= 100; i++) {
		const struct pj_build_id *id = recorder_file(&r, &(struct file_id){ 8, i % 3, i / 2 + 1, i % 2 });

		found += id && id->build_id.byte[0] == i / 2 + 1;
	}
	is_u64(found, 100, "each is found by all its numbers");
	ok(!recorder_file(&r, &(struct file_id){ 8, 1, 1000, 0 }) &&
		   !recorder_file(&r, &(struct file_id){ 9, 1, 2, 0 }) &&
		   !recorder_file(&r, &(struct file_id){ 8, 3, 2, 0 }),
	   "and no other");
	recorder_free(&r);
	text_free(&t);
	arena_free(&a);
}

static void method(struct text *text, uint64_t at, const char *name)
{
	struct pj_method m = { at, (uint32_t)strlen(name) };

	text_bytes(text, &m, sizeof(m));
	text_add(text, name);
}

static struct str name_of(const struct recorder *recorder, uint32_t pid, uint64_t at)
{
	const struct interpreted_method *m = interpreted_find(&recorder->interpreted, pid, at);

	return !m ? STR("(not told)") : m->name.n ? m->name : STR("(no name)");
}

static void methods(void)
{
	struct pj_methods seven = { 7, 3 }, five = { 5, 1 };
	struct recorder r = { 0 };
	struct arena a = { 0 };
	struct text t = { 0 }, body = { 0 };

	text_bytes(&body, &seven, sizeof(seven));
	method(&body, 0x2000, "B.b()");
	method(&body, 0x1000, "A.a()");
	method(&body, 0x3000, "");
	method(&body, 0x4000, "C.c()");
	method(&body, 0x4000, "D.d()");
	method(&body, 0x1000, "A.a()");
	item(&t, PJ_ITEM_METHODS, body.p, body.n);
	body.n = 0;
	text_bytes(&body, &five, sizeof(five));
	method(&body, 0x1000, "E.e()");
	item(&t, PJ_ITEM_METHODS, body.p, body.n);
	item(&t, PJ_ITEM_METHODS, &five, sizeof(five)); /* as pids are: several items */
	ok(!recorder_read(&r, &a, text_view(&t)) && r.interpreted.n == 5 && r.interpreted.left_out == 5,
	   "methods, each once");
	is_str(name_of(&r, 7, 0x1000), STR("A.a()"), "  by address");
	is_str(name_of(&r, 5, 0x1000), STR("E.e()"), "  and process");
	is_str(name_of(&r, 7, 0x2000), STR("B.b()"), "  in any order");
	is_str(name_of(&r, 7, 0x3000), STR("(no name)"), "  without a name");
	is_str(name_of(&r, 7, 0x4000), STR("(no name)"), "  an address that two methods had is nobody's");
	is_str(name_of(&r, 5, 0x2000), STR("(not told)"), "  not told");
	is_str(name_of(&r, 8, 0x1000), STR("(not told)"), "  of another process");
	recorder_free(&r);
	t.n = 0;
	text_bytes(&body, "\1\0\0\0\0\0\0\0\xff\xff\xff\xff", 12); /* a name that is longer than all */
	item(&t, PJ_ITEM_METHODS, body.p, body.n);
	item(&t, PJ_ITEM_METHODS, &seven, 4);
	item(&t, PJ_ITEM_VERSION, "0.9", 3);
	ok(recorder_read(&r, &a, text_view(&t)) != NULL && r.interpreted.n == 1 && r.version.n == 3,
	   "rows that are cut: those before, and other items, stay");
	recorder_free(&r);
	text_free(&t);
	text_free(&body);
	arena_free(&a);
}

static void function(struct text *text, uint64_t at, uint32_t line, struct str name_and_file)
{
	struct pj_function f = { at, line, (uint32_t)name_and_file.n };

	text_bytes(text, &f, sizeof(f));
	text_str(text, name_and_file);
}

static void place_is(const struct recorder *recorder, uint64_t at, const char *want, const char *what)
{
	const struct interpreted_method *m = interpreted_find(&recorder->interpreted, 7, at);
	char got[80];

	snprintf(got, sizeof(got), "%.*s %.*s:%u", (int)m->name.n, m->name.p, (int)m->file.n, m->file.p, m->line);
	is_str(str_of(got), str_of(want), what);
}

static void functions(void)
{
	struct pj_functions head = { .pid = 7, .language = PJ_LANGUAGE_PYTHON };
	struct recorder r = { 0 };
	struct arena a = { 0 };
	struct text t = { 0 }, body = { 0 };

	text_bytes(&body, &head, sizeof(head));
	function(&body, 0x10, 3, STR("m.f\0/m.py\0"));
	function(&body, 0x12, 4, STR("m.f\0/m.py\0"));
	function(&body, 0x14, 0, STR("m.f\0/m.py\0"));
	function(&body, 0x16, 5, STR("m.g"));
	function(&body, 0x18, 6, STR("\0/m.py\0"));
	function(&body, 0x20, 8, STR("m.h\0/m.py\0"));
	function(&body, 0x20, 7, STR("m.h\0/m.py\0"));
	function(&body, 0x20, 8, STR("m.h\0/m.py\0"));
	function(&body, 0x22, 7, STR("m.h\0/m.py\0"));
	function(&body, 0x22, 7, STR("m.h\0/n.py\0"));
	function(&body, 0x24, 7, STR("m.i\0/m.py\0"));
	function(&body, 0x24, 7, STR("m.j\0/m.py\0"));
	function(&body, 0x24, 7, STR("m.j\0/m.py\0"));
	function(&body, 0x26, 9, STR("m.k\0a\0b\0"));
	item(&t, PJ_ITEM_FUNCTIONS, body.p, body.n);
	ok(!recorder_read(&r, &a, text_view(&t)) && r.interpreted.n == 9, "functions");
	place_is(&r, 0x10, "m.f /m.py:3", "  each instruction with its line");
	place_is(&r, 0x12, "m.f /m.py:4", "  that of another");
	place_is(&r, 0x14, "m.f :0", "  without a line: no file, either");
	place_is(&r, 0x16, "m.g :0", "  without a file: no line");
	place_is(&r, 0x18, " :0", "  without a name: neither");
	place_is(&r, 0x20, "m.h :0", "  an address with two lines keeps its name alone");
	place_is(&r, 0x22, "m.h :0", "  so does one with two files");
	place_is(&r, 0x24, " :0", "  one with two names has nothing");
	place_is(&r, 0x26, "m.k a:9", "  what follows the file is not used");
	recorder_free(&r);
	text_free(&t);
	text_free(&body);
	arena_free(&a);
}

static void walked_events(void)
{
	struct recorder r = { 0 };
	struct arena a = { 0 };
	struct text t = { 0 };
	uint64_t third = 3, absurd = UINT64_MAX / 2;

	ok(!recorder_walked(&r, 1), "nobody says that stacks were walked");
	item(&t, PJ_ITEM_UNWINDING, "", 0);
	ok(!recorder_read(&r, &a, text_view(&t)) && recorder_walked(&r, 1) && recorder_walked(&r, 700),
	   "stacks were walked, of all events");
	item(&t, PJ_ITEM_UNWOUND, &third, sizeof(third));
	item(&t, PJ_ITEM_UNWOUND, &absurd, sizeof(absurd));
	ok(!recorder_read(&r, &a, text_view(&t)) && recorder_walked(&r, 3), "of one");
	ok(!recorder_walked(&r, 1) && !recorder_walked(&r, 4) && !recorder_walked(&r, absurd), "  and of no other");
	recorder_free(&r);
	text_free(&t);
	arena_free(&a);
}

static void hostile(void)
{
	struct recorder r = { 0 };
	struct arena a = { 0 };
	struct text t = { 0 };
	size_t bad = 0;

	ok(read_one(PJ_ITEM_BOOT, "../../../../../../../../../../etc/pas", &r, &a) && r.boot.n == 0,
	   "a boot that leads elsewhere");
	ok(read_one(PJ_ITEM_BOOT, "0123", &r, &a) && r.boot.n == 0, "too short");
	ok(read_one(PJ_ITEM_KALLSYMS, "../kallsyms", &r, &a) && r.nkallsyms == 0, "a file elsewhere");
	ok(read_one(PJ_ITEM_KALLSYMS, ".hidden", &r, &a) && r.nkallsyms == 0, "a hidden one");
	ok(read_one(PJ_ITEM_KALLSYMS, "", &r, &a) && r.nkallsyms == 0, "none");
	ok(!read_one(PJ_ITEM_KALLSYMS, "a", &r, &a) && r.nkallsyms == 1, "a short name");
	item(&t, PJ_ITEM_BOOT, BOOT, 36);
	process(&t, 1, 2, 0);
	for (int i = 0; i < 100; i++)
		item(&t, PJ_ITEM_KALLSYMS, "k", 1);
	r = (struct recorder){ 0 };
	ok(!recorder_read(&r, &a, text_view(&t)) && r.nkallsyms == RECORDER_KERNELS,
	   "more snapshots than anybody needs");
	recorder_free(&r);
	for (size_t n = 0; n < 120; n++) {
		char *copy = mem_alloc(1, n + 1);

		memcpy(copy, t.p, n);
		bad += recorder_read(&r, &a, (struct str){ copy, n }) != NULL;
		free(copy);
		recorder_free(&r);
	}
	ok(bad > 80, "cut anywhere: told");
	memset(t.p + 4, 0xff, 4);
	ok(recorder_read(&r, &a, text_view(&t)) != NULL, "an item beyond all");
	recorder_free(&r);
	text_free(&t);
	arena_free(&a);
}

/* Items beyond the maximum, and those of the others, are one sum, which does not wrap. */
static void tenants(void)
{
	struct recorder r = { 0 };
	struct arena a = { 0 };
	struct text t = { 0 };
	const struct pj_tenant *others = &r.tenants.others;

	for (uint32_t i = 0; i < PJ_TENANTS + 3; i++) {
		struct pj_tenant row = { .kind = 1, .key = i, .samples = 10, .mappings = 1, .tables = UINT64_MAX };

		item(&t, PJ_ITEM_TENANT, &row, sizeof(row));
	}
	struct pj_tenant sum = { .samples = 100, .reads = 2, .bytes = 3, .files = 4, .jvms = 5, .tables = 6 };

	item(&t, PJ_ITEM_TENANT, &sum, sizeof(sum));
	item(&t, PJ_ITEM_TENANT, &sum, offsetof(struct pj_tenant, files));
	ok(!recorder_read(&r, &a, text_view(&t)), "more tenants than rows");
	is_u64(r.tenants.n, PJ_TENANTS, "as many rows as there may be");
	is_u64(others->samples, 230, "the others are a sum: samples");
	is_u64(others->mappings, 3, "mappings");
	ok(others->reads == 4 && others->bytes == 6 && others->files == 4 && others->jvms == 5,
	   "reads, bytes, files and JVMs; an older item has no files");
	ok(others->tables == UINT64_MAX, "a sum that would wrap is the largest number");
	text_free(&t);
	arena_free(&a);
	recorder_free(&r);
}

int main(void)
{
	items();
	files();
	methods();
	functions();
	walked_events();
	tenants();
	hostile();
	return done();
}
