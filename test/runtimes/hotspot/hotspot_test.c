/* What is read of the memory of a JVM that was made for it (synth.h): JDK 8, 17, 21 and 25, fields and tables in any
 * order; a field that is not told takes away what needs it, and makes nothing wrong. */
/* covers: runtimes/hotspot/hotspot.c runtimes/hotspot/blobframes.c runtimes/hotspot/codecache.c */
/* covers: runtimes/hotspot/codelets.c runtimes/memory/loadedfile.c runtimes/memory/memory.c */
/* covers: runtimes/hotspot/methods.c */
/* covers: runtimes/hotspot/scopes.c runtimes/hotspot/stubs.c runtimes/hotspot/vmlayout.c */
/* covers: runtimes/hotspot/vmstructs.c jmap/perfmap/codemap.c */
#include "runtimes/hotspot/blobframes.h"
#include "runtimes/hotspot/stubs.h"
#include "jmap/perfmap/codemap.h"
#include "test/lib/synth.h"
#include "test/lib/tap.h"

enum { SEEDS = 20 };

/* All that is read of an image. */
struct seen {
	struct hotspot_reason reason;
	struct text map, java, calls, blobs;
	char version[64], command[256];
	const char *collector, *no_frames;
	int frame_pointers;
};

static void free_seen(struct seen *seen)
{
	text_free(&seen->map);
	text_free(&seen->java);
	text_free(&seen->calls);
	text_free(&seen->blobs);
}

static struct hotspot_reason print_map(struct hotspot *hotspot, enum method_style style, struct text *text)
{
	struct codemap c;
	struct hotspot_reason r = codemap_make(&c, hotspot, style);

	for (size_t i = 0; i < c.n; i++)
		text_printf(text, "%.*s\n", (int)c.entry[i].name_n, c.names.p + c.entry[i].name);
	codemap_free(&c);
	return r;
}

static uint32_t number_of(void *arg, uint64_t method)
{
	struct hotspot *h = arg;
	struct method_name name;
	struct text t = { 0 };
	uint32_t n = methods_read(&h->memory, &h->layout, method, &t, &name) ? (uint32_t)name.method.p[0] :
									       0; /* their first letters differ */

	text_free(&t);
	return n;
}

/* "id tier: up to where, methods from the outside in; ..." */
static void print_calls(struct hotspot *hotspot, struct text *text)
{
	struct scopes s = { 0 };

	for (size_t i = 0; i < hotspot->code.n; i++) {
		const struct blob *b = &hotspot->code.blob[i];

		if (!b->compiled ||
		    !scopes_read(&s, &hotspot->memory, &hotspot->layout, &hotspot->packing, b, number_of, hotspot))
			continue;
		text_printf(text, "%u %d:", b->compile_id, b->level);
		for (uint32_t k = 0; k < s.nruns; k++) {
			text_printf(text, " %u", s.run[k].end);
			for (uint32_t node = s.run[k].node; node; node = s.node[node].parent)
				text_char(text, (char)s.node[node].method);
		}
		text_char(text, '\n');
	}
	scopes_free(&s);
}

static const char *print_blobs(struct hotspot *hotspot, struct text *text)
{
	struct blobframes f;
	const char *why = blobframes_open(&f, hotspot);

	if (!why)
		why = blobframes_take(&f, hotspot);
	for (size_t i = 0; i < f.code.n; i++) {
		const struct code_blob *p = &f.code.blob[i];

		text_printf(text, "%u+%u%s ", p->kind, p->frame, p->deopt[0] ? "d" : "");
	}
	if (!why)
		text_printf(text, "%s", f.code.call_stub_return ? "call" : "");
	blobframes_free(&f);
	return why;
}

static void look(struct seen *seen, unsigned jdk, uint64_t seed, int without)
{
	struct synth s;
	struct hotspot h;
	struct memory_part blob;

	synth_make(&s, jdk, seed, without);
	blob = synth_part(&s);
	*seen = (struct seen){ .reason = hotspot_open_image(&h, &blob, 1, SYNTH_BASE) };
	memcpy(seen->version, h.version, sizeof(h.version));
	memcpy(seen->command, h.command, sizeof(h.command));
	seen->collector = h.collector;
	seen->frame_pointers = h.frame_pointers;
	if (!seen->reason.code)
		seen->reason = print_map(&h, METHOD_HOTSPOT, &seen->map);
	if (!seen->reason.code)
		seen->reason = print_map(&h, METHOD_JAVA, &seen->java);
	if (!seen->reason.code) {
		print_calls(&h, &seen->calls);
		seen->no_frames = print_blobs(&h, &seen->blobs);
	}
	hotspot_close(&h);
	synth_free(&s);
}

static bool same(const struct text *text, const struct text *b)
{
	return str_eq(text_view(text), text_view(b));
}

static const char map[] =
	"Interpreter\nStubRoutines (1)\nStubRoutines (continuation stubs)\nI2C/C2I adapters\nC2 Runtime new_array\n"
	"slow_subtype_check Runtime1 stub\nvtable chunks\nint Work.some(int, java.lang.String, long[])\nint java.lang.Object.hashCode()\n"
	"void Work$$Lambda/0x00007f04bc002aa0.run()\n";
#define STUB(n) "StubRoutines: stub " #n "\nStubRoutines (1)\n"
#define STUBS STUB(0) STUB(1) STUB(2) STUB(3) STUB(4) STUB(5) STUB(6) STUB(7) STUB(8)
static const char java[] =
	"Interpreter: method entry point (kind = zerolocals)\nInterpreter: iload\nInterpreter: return entry points\nInterpreter\n" STUBS
	"StubRoutines (continuation stubs)\nI2C/C2I adapters\nC2 Runtime new_array\nslow_subtype_check Runtime1 stub\nvtable chunks\nWork.some\n"
	"java/lang/Object.hashCode\nWork$$Lambda.run\n";

/* s, h, g: some, hash, get; the wrapper of a native method has one method three times. */
static const char calls[] = "7 4: 4 9g 12hg 20\n8 0: 4 9h 12hh 20\n9 3: 4 9g 12gg 20\n";

/* Does the text come? Says so if not. */
static bool comes(struct str got, const char *want, const char *what)
{
	return str_eq(got, str_of(want)) || is_str(got, str_of(want), what);
}

static void complete(unsigned jdk, const char *what, const char *blobs)
{
	struct seen s;
	bool good = true;
	char name[96];

	for (uint64_t seed = 0; seed < SEEDS && good; seed++) {
		look(&s, jdk, seed, -1);
		good = comes(str_of(s.reason.code ? s.reason.why : ""), "", "it is read") &&
		       comes(text_view(&s.map), map, "as Compiler.perfmap has it") &&
		       comes(text_view(&s.java), java, "by the parts of the interpreter") &&
		       comes(text_view(&s.calls), calls, "calls that were inlined") &&
		       comes(text_view(&s.blobs), blobs, "what unwinding needs") &&
		       comes(str_of(s.version), "17.0.0+synth", "version") &&
		       comes(str_of(s.command), "Work?idle", "command, without control bytes") &&
		       s.frame_pointers == 0 && comes(str_of(s.collector ? s.collector : ""), "G1", "collector");
		free_seen(&s);
	}
	snprintf(name, sizeof(name), "JDK %s: %d orders of fields and tables", what, SEEDS);
	ok(good, name);
}

/* What is told although a field is missing is right, or not told. */
static bool is_right(const struct seen *seen, const struct seen *all, const char *field)
{
	bool parts = same(&seen->java, &all->java) ||
		     str_starts(text_view(&seen->java), STR("Interpreter\nStubRoutines: stub 0\n"));
	bool inlined = seen->calls.n == 0 || same(&seen->calls, &all->calls) ||
		       strcmp(field, "_comp_level") == 0; /* the tier is shown there */
	bool unwound = seen->no_frames || same(&seen->blobs, &all->blobs) || strncmp(field, "_deopt", 6) == 0 ||
		       strcmp(field, "_cont_entry") == 0;

	return same(&seen->map, &all->map) && parts && inlined && unwound;
}

static void without_each(unsigned jdk, const char *what)
{
	struct seen all, s;
	unsigned refused = 0, poorer = 0, wrong = 0;
	char name[96];

	look(&all, jdk, 1, -1);
	for (int i = 0; i < SYNTH_FIELDS; i++) {
		bool good;

		if (!(synth_fields[i].jdk & jdk))
			continue;
		look(&s, jdk, 1, i);
		refused += s.reason.code != NULL;
		poorer += !s.reason.code && (s.no_frames || !same(&s.calls, &all.calls) || !same(&s.java, &all.java));
		good = s.reason.code ? strcmp(s.reason.code, "unsupported") == 0 && s.map.n == 0 :
				       is_right(&s, &all, synth_fields[i].name);
		if (!good)
			printf("# without %s::%s: %s\n", synth_fields[i].type, synth_fields[i].name,
			       s.reason.code ? s.reason.why : "wrong");
		wrong += !good;
		free_seen(&s);
	}
	printf("# JDK %s: %u fields refuse all, %u some\n", what, refused, poorer);
	snprintf(name, sizeof(name), "JDK %s: without a field: less, by name, never something else", what);
	ok(wrong == 0 && refused > 20 && poorer > 15, name);
	free_seen(&all);
}

static uint64_t word_at(const struct synth *synth, uint64_t address)
{
	uint64_t word;

	memcpy(&word, synth->byte + (address - SYNTH_BASE), 8);
	return word;
}

/* Lists of stubs that must not be believed, and one that changes. */
static void lists_of_stubs(void)
{
	struct synth s;
	struct hotspot h;
	struct memory_part blob;
	struct stubs stubs = { 0 };
	uint64_t head, last, oldest;

	synth_make(&s, SYNTH_17, 1, -1);
	blob = synth_part(&s);
	hotspot_open_image(&h, &blob, 1, SYNTH_BASE);
	hotspot_scan(&h);
	head = word_at(&s, s.data + 24);
	last = oldest = word_at(&s, head); /* the newest is of another group */
	while (word_at(&s, oldest))
		oldest = word_at(&s, oldest);
	ok(stubs_read(&stubs, &h, &h.code) && stubs.n == SYNTH_STUBS && stubs.head == s.data + 24,
	   "stubs: found, and where the list begins");
	synth_number(&s, s.data + 24, last, 8);
	memory_forget(&h.memory);
	ok(stubs_read(&stubs, &h, &h.code) && stubs.n == SYNTH_STUBS && stubs.first == last,
	   "  the list begins elsewhere: read again");
	stubs_free(&stubs);
	const struct {
		uint64_t address, value;
		const char *what;
	} wrong[] = { { last + 32, 0, "  one that is not complete: none" },
		      { last + 24, s.block, "  one upon others: none" },
		      { last + 32, s.block + 65, "  one that leaves its block: none" },
		      { last + 16, SYNTH_BASE, "  a name that is none: none" },
		      { oldest, head, "  a list that goes round: none" } };
	for (size_t i = 0; i < countof(wrong); i++) {
		uint64_t saved = word_at(&s, wrong[i].address);

		synth_number(&s, wrong[i].address, wrong[i].value, 8);
		memory_forget(&h.memory);
		ok(!stubs_read(&stubs, &h, &h.code) && stubs.n == 0, wrong[i].what);
		synth_number(&s, wrong[i].address, saved, 8);
		stubs_free(&stubs);
	}
	hotspot_close(&h);
	synth_free(&s);
}

/* What damage there may be is the fuzz target's; here that heaps and blocks which overlap are refused. */
static void one_upon_the_other(void)
{
	struct synth s;
	struct hotspot h;
	struct memory_part blob;
	struct text t = { 0 };
	int low;

	synth_make(&s, SYNTH_17, 1, -1);
	blob = synth_part(&s);
	hotspot_open_image(&h, &blob, 1, SYNTH_BASE);
	low = synth_field(&s, "HeapBlock::Header", "_length");
	for (size_t i = 0; i + 1 < s.nsegments; i++) /* each block up to the end of the heap */
		synth_number(&s, s.heap + s.segments[i] * SYNTH_SEGMENT + s.at[low],
			     s.segments[s.nsegments - 1] - s.segments[i], 8);
	ok(!print_map(&h, METHOD_HOTSPOT, &t).code && h.code.torn + 1 == s.nsegments - 1,
	   "blocks that reach over others are torn");
	is_str(text_view(&t), str_of("void Work$$Lambda/0x00007f04bc002aa0.run()\n"), "  and the last one is told");
	text_free(&t);
	hotspot_close(&h);
	synth_free(&s);
}

static size_t entries(const struct javaunwind_code *jvm_code)
{
	size_t n = 0;

	for (size_t i = 0; i < jvm_code->n; i++)
		n += jvm_code->blob[i].kind == BLOB_ENTRY;
	return n;
}

/* A JVM at its start: before its last stubs are there, what the interpreter has is not told; then it is, although
 * nothing is compiled. */
static void before_the_interpreter(void)
{
	struct synth s;
	struct hotspot h;
	struct memory_part blob;
	struct blobframes f;
	struct codelets c;
	const struct blob *b;
	size_t saved = 0;

	synth_make(&s, SYNTH_17, 1, -1);
	blob = synth_part(&s);
	hotspot_open_image(&h, &blob, 1, SYNTH_BASE);
	hotspot_scan(&h);
	for (size_t i = 0; i < h.code.n; i++)
		if (!h.code.blob[i].compiled)
			h.code.blob[saved++] = h.code.blob[i];
	h.code.n = saved;
	b = h.code.blob;
	ok(!blobframes_open(&f, &h) && !blobframes_take(&f, &h) && f.code.n > 0 && entries(&f.code) == 0,
	   "an interpreter that may not be complete: no pieces");
	ok(!codelets_read(&c, &h, &h.code, b), "  and no names");
	for (size_t i = 0; i < h.code.n; i++) {
		char *name = (char *)s.byte + (h.code.blob[i].name - SYNTH_BASE);

		if (strcmp(name, "StubRoutines (1)") == 0)
			name[14] = '2';
	}
	memory_forget(&h.memory);
	ok(!blobframes_take(&f, &h) && entries(&f.code) == 1,
	   "the last stubs are there: pieces of the interpreter, too");
	ok(codelets_read(&c, &h, &h.code, b) && c.n == 3, "  and their names");
	codelets_free(&c);
	blobframes_free(&f);
	hotspot_close(&h);
	synth_free(&s);
}

static bool same_blob(const struct blob *blob, const struct blob *b)
{
	return blob->address == b->address && blob->begin == b->begin && blob->end == b->end &&
	       blob->method == b->method && blob->name == b->name && blob->compile_id == b->compile_id &&
	       blob->level == b->level && blob->compiled == b->compiled;
}

/* The pieces of blob: those that a look at all of the code has. */
static bool same_blobs(const struct blobframes *one, const struct blobframes *all, const struct blob *blob)
{
	size_t from = 0;

	while (from < all->code.n && all->code.blob[from].start < blob->begin)
		from++;
	for (size_t i = 0; i < one->code.n; i++) {
		const struct code_blob *x = &one->code.blob[i], *y = &all->code.blob[from + i];

		if (from + i == all->code.n || x->start != y->start || x->end != y->end || x->kind != y->kind ||
		    x->frame != y->frame || memcmp(x->offset, y->offset, sizeof(x->offset)) != 0 ||
		    x->deopt[0] != y->deopt[0] || x->deopt[1] != y->deopt[1])
			return false;
	}
	return one->code.n > 0;
}

/* By an address in it, each block is what a scan says it is. */
static void by_address(unsigned jdk, const char *what)
{
	struct synth s;
	struct hotspot h;
	struct memory_part blob;
	struct blobframes one, all;
	enum codecache_where where;
	struct blob b;
	size_t wrong = 0;

	synth_make(&s, jdk, 1, -1);
	blob = synth_part(&s);
	hotspot_open_image(&h, &blob, 1, SYNTH_BASE);
	hotspot_scan(&h);
	wrong += blobframes_open(&one, &h) || blobframes_open(&all, &h) || blobframes_take(&all, &h);
	for (size_t i = 0; i < h.code.n; i++) {
		const struct blob *want = &h.code.blob[i];
		uint64_t at[] = { want->begin, want->begin + (want->end - want->begin) / 2, want->end - 1 };

		for (size_t k = 0; k < countof(at); k++)
			wrong += blobframes_at(&one, &h, at[k], &where, &b) || where != CODECACHE_BLOB ||
				 !same_blob(&b, want) || !same_blobs(&one, &all, want);
		wrong += blobframes_at(&one, &h, want->begin - 1, &where, &b) || where != CODECACHE_FREE || one.code.n;
	}
	wrong += blobframes_at(&one, &h, SYNTH_BASE, &where, &b) || where != CODECACHE_ELSEWHERE || one.code.n;
	is_u64(wrong, 0, what);
	blobframes_free(&one);
	blobframes_free(&all);
	hotspot_close(&h);
	synth_free(&s);
}

/* Names of classes, as HotSpot's Klass has them. */
static void class_names(void)
{
	static const struct {
		const char *name, *shown; /* shown: NULL if the name is malformed */
	} row[] = {
		{ "java/util/HashMap$Node", "java/util/HashMap$Node" },
		{ "Main", "Main" },
		{ "Work$$Lambda+0x00007f04bc002aa0", "Work$$Lambda" },
		{ "[B", "byte[]" },
		{ "[[J", "long[][]" },
		{ "[Ljava/lang/String;", "java/lang/String[]" },
		{ "[[LWork$$Lambda+0x00007f04bc002aa0;", "Work$$Lambda[][]" },
		{ "", NULL },
		{ "[", NULL },
		{ "[[", NULL },
		{ "[L;", NULL },
		{ "[Ljava/lang/String", NULL },
		{ "[X", NULL },
		{ "[BB", NULL },
	};
	struct synth s;
	struct hotspot h;
	struct memory_part part;
	uint64_t klass[sizeof(row) / sizeof(*row)];
	struct text text = { 0 };

	synth_make(&s, SYNTH_17, 1, -1);
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		klass[i] = synth_space(&s, synth_size(&s, "klass"), 8);
		synth_set(&s, klass[i], "Klass", "_name", synth_symbol(&s, row[i].name));
	}
	s.n = (s.n + SYNTH_PAGE - 1) / SYNTH_PAGE * SYNTH_PAGE;
	part = synth_part(&s);
	ok(!hotspot_open_image(&h, &part, 1, SYNTH_BASE).code, "a JVM with classes");
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		bool known;

		text.n = 0;
		text_add(&text, "x");
		known = hotspot_class(&h, klass[i], &text);
		ok(known == (row[i].shown != NULL), row[i].name);
		is_str(str_from(text_view(&text), 1), str_of(row[i].shown ? row[i].shown : ""), "  its name");
	}
	ok(!hotspot_class(&h, 0, &text) && !hotspot_class(&h, 8, &text), "no class at these addresses");
	text_free(&text);
	hotspot_close(&h);
	synth_free(&s);
}

int main(void)
{
	/* kind of javaunwind.h + bytes of the frame; d: deoptimization is told. From JDK 21 on a stub lets virtual
	 * threads come back */
	static const char old[] = "6+0 7+0 7+0 4+0 2+0 2+0 8+0 2+0 2+0 5+0 0+32 3+32 2+16 0+32d 1+32 0+32d call";
	static const char new[] =
		"6+0 7+0 7+0 4+0 2+0 2+0 8+0 8+0 2+0 2+0 8+0 5+0 0+32 3+32 2+16 0+32d 1+32 0+32d call";

	complete(SYNTH_8, "8", old);
	complete(SYNTH_17, "17", old);
	complete(SYNTH_21, "21", new);
	complete(SYNTH_25, "25", new);
	without_each(SYNTH_8, "8");
	without_each(SYNTH_17, "17");
	without_each(SYNTH_21, "21");
	without_each(SYNTH_25, "25");
	lists_of_stubs();
	one_upon_the_other();
	before_the_interpreter();
	by_address(SYNTH_8, "JDK 8: blocks by an address in them");
	by_address(SYNTH_17, "JDK 17");
	by_address(SYNTH_21, "JDK 21");
	by_address(SYNTH_25, "JDK 25");
	class_names();
	return done();
}
