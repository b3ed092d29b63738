/* Kinds of code by name, and the colours that flamegraph.pl gives (seen in its output, option by option). */
/* covers: svg/layout/palette.c svg/layout/codekind.c */
#include "test/lib/tap.h"

#include "common/formats/folded.h"
#include "svg/layout/palette.h"

static void code_is(const char *frame, enum code_place place, enum code want)
{
	struct str fp = folded_plain(str_of(frame));

	is_u64(code_of(fp, str_from(str_of(frame), fp.n), place), want, frame);
}

/* What decides may come after other dots and colons. */
static void test_spellings(void)
{
	code_is("a:b run /srv/a.js:12", CODE_PLAIN, CODE_JS);
	code_is("a.b:c /srv/a.mjs:12", CODE_PLAIN, CODE_JS);
	code_is("x /srv/a.cjs:1:2", CODE_PLAIN, CODE_JS);
	code_is("x /srv/a.ts:12", CODE_PLAIN, CODE_JS);
	code_is("x a:node:internal/process", CODE_PLAIN, CODE_JS);
	code_is("a.js", CODE_PLAIN, CODE_JS);
	code_is("a.js.c:3", CODE_PLAIN, CODE_NATIVE);
	code_is("a.jsx:3", CODE_PLAIN, CODE_NATIVE);
	code_is("f:g:/srv/a.py:12", CODE_PLAIN, CODE_PYTHON);
	code_is("py::run", CODE_PLAIN, CODE_PYTHON);
	code_is("<module>", CODE_PLAIN, CODE_PYTHON);
	code_is("a:b::c", CODE_PLAIN, CODE_CPP);
	code_is("a:b:c", CODE_PLAIN, CODE_NATIVE);
	code_is("a.b:c::d", CODE_PLAIN, CODE_CPP);
	code_is("org/x/Foo.bar", CODE_PLAIN, CODE_JAVA);
	code_is("example.com/x/Foo.go:12", CODE_PLAIN, CODE_NATIVE);
}

static void test_suffixes(void)
{
	code_is("do_sys_open_[k]", CODE_PLAIN, CODE_KERNEL);
	code_is("java/util/HashMap.get_[j]", CODE_PLAIN, CODE_JAVA);
	code_is("java/util/HashMap.get_[1]", CODE_PLAIN, CODE_JAVA);
	code_is("java/util/HashMap.get_[i]", CODE_PLAIN, CODE_JAVA_INLINED);
	code_is("java/util/HashMap.get_[0]", CODE_PLAIN, CODE_JAVA_INTERPRETED);
	code_is("LazyCompile:*parse /srv/a.js:12_[j]", CODE_PLAIN, CODE_JS);
	code_is("py::run:/srv/a.py_[j]", CODE_PLAIN, CODE_PYTHON);
	code_is("std::swap_[i]", CODE_PLAIN, CODE_CPP);
	code_is("min_[i]", CODE_PLAIN, CODE_NATIVE);
	code_is("stub_[j]", CODE_PLAIN, CODE_JIT);
}

/* Compiled or interpreted, but in which language? */
static void test_unknown_languages(void)
{
	static const char *const java[] = {
		"Interpreter", "call_stub",      "StubRoutines (1)", "vtable stub",
		"Main.run",    "org.b.Main.run", "Lorg/x/Foo;::bar", "void a.b.Main$1.<init>(int, a.B)",
	};
	static const char *const js[] = {
		"(anonymous) :1:1", "run file:///srv/x.js:1:2", "read node:fs:3:4", "(anonymous) /srv/wl:1:1",
		"Builtin:Call",     "BytecodeHandler:Ldar",     "RegExp:a.*b",      "node:fs:3:4",
	};
	static const char *const other[] = {
		"[perf-4733.map]",
		"Foo::bar",
		"stub",
		"void [app] System.Foo::Bar(int32)",
		"$lists:map/2",
		"Elixir.Enum:map/2",
		"deadbeef0123",
		"Foo.cold",
		"a:b:3",
		"a.b:3",
	};
	static const char *const python[] = { "__main__.<module>",
					      "__main__.Foo.bar",
					      "json.decoder.JSONDecoder.decode",
					      "a.b",
					      "__main__.main:tool:12",
					      "a.b:m.py:3",
					      "a.<lambda>:<string>:1",
					      "importlib._bootstrap._find:<frozen importlib._bootstrap>:7" };
	char frame[80];

	for (size_t i = 0; i < countof(python); i++) {
		snprintf(frame, sizeof(frame), "%s_[0]", python[i]);
		code_is(frame, CODE_PLAIN, CODE_PYTHON);
	}
	for (size_t i = 0; i < countof(java); i++) {
		snprintf(frame, sizeof(frame), "%s_[j]", java[i]);
		code_is(frame, CODE_PLAIN, CODE_JAVA);
		snprintf(frame, sizeof(frame), "%s_[0]", java[i]);
		code_is(frame, CODE_PLAIN, CODE_JAVA_INTERPRETED);
	}
	for (size_t i = 0; i < countof(js); i++) {
		snprintf(frame, sizeof(frame), "%s_[%c]", js[i], i % 2 ? 'j' : '0');
		code_is(frame, CODE_PLAIN, CODE_JS);
	}
	for (size_t i = 0; i < countof(other); i++) {
		snprintf(frame, sizeof(frame), "%s_[j]", other[i]);
		code_is(frame, CODE_PLAIN, CODE_JIT);
		snprintf(frame, sizeof(frame), "%s_[0]", other[i]);
		code_is(frame, CODE_PLAIN, CODE_INTERPRETED);
		snprintf(frame, sizeof(frame), "%s_[1]", other[i]);
		code_is(frame, CODE_PLAIN, CODE_JIT);
	}
	code_is("py::f:/x.py_[0]", CODE_PLAIN, CODE_PYTHON);
	code_is("a::b:12:3", CODE_PLAIN, CODE_CPP);
}

static void test_spelling(void)
{
	code_is("malloc", CODE_PLAIN, CODE_NATIVE);
	code_is("deface", CODE_PLAIN, CODE_NATIVE);
	code_is("ns::f", CODE_PLAIN, CODE_CPP);
	code_is("_ZN3foo3barEv", CODE_PLAIN, CODE_CPP);
	code_is("java/lang/Thread.run", CODE_PLAIN, CODE_JAVA);
	code_is("Lorg/vertx/Foo;::bar", CODE_PLAIN, CODE_JAVA);
	code_is("java.lang.Thread.run", CODE_PLAIN, CODE_JAVA);
	code_is("mypkg/MyClass.run", CODE_PLAIN, CODE_JAVA);
	code_is("github.com/a/b.(*T).Run", CODE_PLAIN, CODE_NATIVE);
	code_is("net/http.HandlerFunc.ServeHTTP", CODE_PLAIN, CODE_NATIVE);
	code_is("Interpreter", CODE_PLAIN, CODE_JAVA_INTERPRETED);
	code_is("Builtins_JSEntry", CODE_PLAIN, CODE_JS);
	code_is("main (/srv/app.py:3)", CODE_PLAIN, CODE_PYTHON);
	code_is("[unknown]", CODE_PLAIN, CODE_UNKNOWN);
	code_is("[libc.so.6]", CODE_PLAIN, CODE_UNKNOWN);
	code_is("0x7f12", CODE_PLAIN, CODE_UNKNOWN);
	code_is("00007f1234567890", CODE_PLAIN, CODE_UNKNOWN);
	code_is("", CODE_PLAIN, CODE_UNKNOWN);
	code_is("--", CODE_PLAIN, CODE_PROCESS);
}

static void test_places(void)
{
	code_is("java", CODE_OUTERMOST, CODE_PROCESS);
	code_is("java/lang/Thread.run", CODE_OUTERMOST, CODE_JAVA);
	code_is("kmem_cache_alloc", CODE_IN_KERNEL, CODE_KERNEL);
	code_is("[unknown]", CODE_IN_KERNEL, CODE_KERNEL);
	code_is("unit_[i]", CODE_IN_JS, CODE_JS);
	code_is("heavy_[0]", CODE_IN_JS, CODE_JS);
	code_is("Module.load_[0]", CODE_IN_JS, CODE_JS);
	code_is("[perf-4733.map]_[j]", CODE_IN_JS, CODE_JS);
	code_is("std::swap_[i]", CODE_IN_JS, CODE_CPP);
	code_is("malloc", CODE_IN_JS, CODE_NATIVE);
	code_is("do_sys_open_[k]", CODE_IN_JS, CODE_KERNEL);
	ok(code_enters_kernel(STR("entry_SYSCALL_64_after_hwframe")), "a system call enters the kernel");
	ok(!code_enters_kernel(STR("syscall")), "libc's wrapper does not");
	ok(code_is_separator(STR("-")) && code_is_separator(STR("--")) && !code_is_separator(STR("---")), "separators");
}

static void colour_is(const char *palette, bool hash, const char *frame, uint32_t want)
{
	struct shade shade = palette_shade(palette_find(str_of(palette)), hash, str_of(frame), CODE_PLAIN);
	bool good = ok(shade.light == want, frame);

	if (!good)
		printf("# %s: got %06x, want %06x\n", palette, (unsigned)shade.light, (unsigned)want);
}

static void test_flamegraph_colours(void)
{
	colour_is("hot", false, "main", 0xf3b32a);
	colour_is("hot", false, "é", 0xd00f03);
	colour_is("hot", false, "--", 0xa0a0a0);
	colour_is("hot", true, "main", 0xf7532e);
	colour_is("hot", true, "a", 0xeb8c21);
	colour_is("hot", true, "libc`malloc", 0xde7012);
	colour_is("hot", true, "日本語", 0xedb223);
	colour_is("mem", false, "main", 0x00e4a3);
	colour_is("io", false, "main", 0x7e7ee8);
	colour_is("red", false, "main", 0xf27070);
	colour_is("green", false, "main", 0x60f260);
	colour_is("blue", false, "main", 0x7e7ef3);
	colour_is("yellow", false, "main", 0xd9d941);
	colour_is("purple", false, "main", 0xf07ef0);
	colour_is("aqua", false, "main", 0x60cfcf);
	colour_is("orange", false, "main", 0xf08c00);
	colour_is("java", false, "java/util/HashMap.get_[j]", 0x43d843);
	colour_is("java", false, "ns::f_[k]", 0xb2b233);
	colour_is("java", false, "do_syscall_64_[k]", 0xcc6800);
	colour_is("java", false, "A:::b", 0x57ea57);
	colour_is("java", false, "malloc", 0xe45b5b);
	colour_is("java", false, "q_[i]", 0x6bd9d9);
	colour_is("js", false, "/a/b.js:3", 0x41d541);
	colour_is("js", false, "x:1", 0x64d3d3);
	colour_is("js", false, "f_[j]", 0x41b2b2);
	colour_is("js", false, "a/f_[j]", 0x58eb58);
	colour_is("perl", false, "Perl_runops", 0x38cd38);
	colour_is("perl", false, "x.pl", 0x44d844);
	colour_is("perl", false, "a::b", 0xe5e545);
	colour_is("python", false, "/usr/lib/python3/site-packages/a.py", 0x34a7a7);
	colour_is("python", false, "/usr/lib/python3.11/json/decoder.py", 0xd5d540);
	colour_is("python", false, "<built-in method time.sleep>", 0xc7c73a);
	colour_is("python", false, "<method 'append' of 'list' objects>", 0xe5e545);
	colour_is("python", false, "<frozen importlib._bootstrap>", 0xcbcb3c);
	colour_is("python", false, "./app.py:main", 0xf16e6e);
	colour_is("python", false, "python", 0xcd3939);
	colour_is("rust", false, "core::fmt::write", 0xd36f00);
	colour_is("rust", false, "<alloc::vec::Vec<T>>::push", 0xd47000);
	colour_is("rust", false, "libapp.so`std::thread::spawn", 0xc66200);
	colour_is("rust", false, "core`app::run", 0x46b7b7);
	colour_is("rust", false, "malloc", 0xcbcb3c);
	colour_is("wakeup", false, "main", 0x60cfcf);
	colour_is("chain", false, "main", 0x7e7ef3);
}

static void test_lookup(void)
{
	uint32_t rgb = 0;

	ok(palette_find(STR("hotter")) == NULL, "no palette of that name");
	ok(palette_is_kind(palette_find(STR("kind"))), "kind shows kinds");
	is_str(palette_name(0), STR("kind"), "the first palette");
	ok(palette_background(STR("yellow"), &rgb) && rgb == 0xeeeeb0, "a named background");
	ok(palette_background(STR("#0a0B0c"), &rgb) && rgb == 0x0a0b0c, "#rrggbb");
	ok(!palette_background(STR("#0a0b0"), &rgb) && !palette_background(STR("#0a0b0g"), &rgb) &&
		   !palette_background(STR("url(x)"), &rgb),
	   "nothing else");
	ok(palette_colour(STR("#1af"), &rgb) && rgb == 0x11aaff, "#rgb");
	ok(palette_colour(STR("#11aafe"), &rgb) && rgb == 0x11aafe, "#rrggbb of any colour");
	ok(palette_colour(STR("teal"), &rgb) && rgb == 0x008080, "a colour of CSS");
	ok(!palette_colour(STR("nocolor"), &rgb) && !palette_colour(STR("#1a"), &rgb) &&
		   !palette_colour(STR("#12345"), &rgb) && !palette_colour(STR(""), &rgb),
	   "no colours");
	is_str(str_of(palette_shade(palette_find(STR("hot")), false, STR("java"), CODE_OUTERMOST).label),
	       STR(CODE_LABEL_PROCESS), "a process has its label in every palette");
	is_u64(palette_blend(0x000000, 0xffffff, 90), 0x1a1a1a, "ink over paper");
}

int main(void)
{
	test_spellings();
	test_suffixes();
	test_unknown_languages();
	test_spelling();
	test_places();
	test_flamegraph_colours();
	test_lookup();
	return done();
}
