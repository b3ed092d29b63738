/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/layout/codekind.h"

const char *code_label(enum code code)
{
	static const char *const label[CODE_COUNT] = {
		[CODE_KERNEL] = "kernel",
		[CODE_NATIVE] = "native",
		[CODE_CPP] = "C++, Rust",
		[CODE_JAVA] = "Java",
		[CODE_JAVA_INLINED] = "Java inlined",
		[CODE_JAVA_INTERPRETED] = "Java interpreted",
		[CODE_JIT] = "JIT",
		[CODE_INTERPRETED] = "interpreted",
		[CODE_JS] = "JavaScript",
		[CODE_PYTHON] = "Python",
		[CODE_UNKNOWN] = "unknown",
		[CODE_PROCESS] = CODE_LABEL_PROCESS,
	};

	return label[code];
}

static bool codekind_has(struct str s, struct str needle)
{
	return str_find_str(s, needle) >= 0;
}

static bool starts_with_any(struct str s, const struct str *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (s.n && s.p[0] == list[i].p[0] && str_starts(s, list[i]))
			return true;
	}
	return false;
}

bool code_enters_kernel(struct str name)
{
	/* x86, arm64 and the first frames of kernel threads and of idle CPUs. */
	static const struct str entry[] = {
		STR("entry_SYSCALL_"),    STR("entry_SYSENTER_"),   STR("entry_INT80_"), STR("do_syscall_64"),
		STR("system_call_fast"),  STR("asm_exc_"),          STR("asm_sysvec_"),  STR("asm_common_inter"),
		STR("ret_from_fork"),     STR("secondary_startup"), STR("el0t_64_"),     STR("el1h_64_"),
		STR("cpu_startup_entry"), STR("start_secondary"),   STR("tracesys"),     STR("page_fault"),
		STR("apic_timer_inter"),  STR("reschedule_inter"),
	};

	return starts_with_any(name, entry, countof(entry));
}

bool code_is_separator(struct str name)
{
	return str_eq(name, STR("-")) || str_eq(name, STR("--"));
}

/* [unknown], [libc.so.6], an address: nobody knew the name. */
static bool is_unknown(struct str s)
{
	if (s.n == 0 || (s.p[0] == '[' && s.p[s.n - 1] == ']'))
		return true;
	if (str_starts(s, STR("0x")))
		s = str_from(s, 2);
	else if (s.n < 8)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		if (!byte_is_hex(s.p[i]))
			return false;
	}
	return s.n > 0;
}

/* Without a number and the colon before it at the end; false: there are none. */
static bool drop_number(struct str *s)
{
	size_t n = s->n;

	while (n > 0 && byte_is_digit(s->p[n - 1]))
		n--;
	if (n == s->n || n == 0 || s->p[n - 1] != ':')
		return false;
	*s = str_head(*s, n - 1);
	return true;
}

/* "run /srv/app.wasm:1:2", "(anonymous) :1:1", "node:fs:3:4": V8 tells line and column. */
static bool is_v8_place(struct str s)
{
	return drop_number(&s) && drop_number(&s) && (str_find(s, ' ') > 0 || str_starts(s, STR("node:")));
}

static bool is_js(struct str s)
{
	static const struct str tag[] = {
		STR("LazyCompile:"), STR("Function:"), STR("Script:"),
		STR("Eval:"),        STR("JS:"),       STR("Builtin:"),
		STR("RegExp:"),      STR("Builtins_"), STR("BytecodeHandler:"),
	};

	if (starts_with_any(s, tag, countof(tag)) || codekind_has(s, STR("node:internal/")) || is_v8_place(s))
		return true;
	if (str_find(s, '.') < 0)
		return false;
	return str_ends(s, STR(".js")) || codekind_has(s, STR(".js:")) || codekind_has(s, STR(".mjs:")) ||
	       codekind_has(s, STR(".cjs:")) || codekind_has(s, STR(".ts:"));
}

static bool is_python(struct str s)
{
	return str_starts(s, STR("py::")) || str_ends(s, STR(".py")) || codekind_has(s, STR(".py:")) ||
	       str_eq(s, STR("<module>"));
}

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

/* java/util/HashMap.get, Lorg/vertx/Foo;::bar, java.lang.Thread.run: packages, then a class in upper case. */
static bool is_java(struct str s)
{
	static const struct str package[] = {
		STR("java/"),  STR("javax/"),  STR("jdk/"),     STR("sun/"),  STR("org/"),   STR("com/"),
		STR("scala/"), STR("kotlin/"), STR("clojure/"), STR("java."), STR("javax."), STR("jdk."),
	};

	if (str_eq(s, STR("Interpreter")))
		return true;
	if (str_find(s, ' ') >= 0 || str_find(s, '(') == 0)
		return false;
	if (starts_with_any(s.p[0] == 'L' ? str_from(s, 1) : s, package, countof(package)))
		return true;
	ptrdiff_t slash = str_rfind(s, '/');
	if (slash <= 0)
		return false;
	struct str last = str_from(s, (size_t)slash + 1);
	return last.n && is_upper(last.p[0]) && (str_find(last, '.') > 0 || str_find(last, ':') > 0) &&
	       !codekind_has(last, STR(".go:"));
}

/* What HotSpot compiles at its own start, as its maps and perf-map-agent call it. */
static bool is_java_stub(struct str s)
{
	static const struct str stub[] = {
		STR("Interpreter"),  STR("StubRoutines"),   STR("call_stub"),      STR("vtable stub"),
		STR("itable stub"),  STR("vtable chunks"),  STR("MethodHandles"),  STR("I2C/C2I adapters"),
		STR("RuntimeStub"),  STR("SafepointBlob"),  STR("ExceptionBlob"),  STR("DeoptimizationBlob"),
		STR("UncommonTrap"), STR("Signature Hand"), STR("signature hand"),
	};

	return starts_with_any(s, stub, countof(stub));
}

/* Class.method, a.b.Class$Inner.<init>, void a.b.Class.method(int, long): spelled like Java. */
static bool may_be_java(struct str s)
{
	ptrdiff_t open = str_find(s, '('), dot;

	if (is_java(s) || is_java_stub(s))
		return true;
	if (open > 0)
		s = str_head(s, (size_t)open);
	s = str_from(s, (size_t)(str_rfind(s, ' ') + 1));
	dot = str_rfind(s, '.');
	if (dot <= 0)
		return false;
	struct str owner = str_head(s, (size_t)dot), method = str_from(s, (size_t)dot + 1);
	owner = str_from(owner, (size_t)(str_rfind(owner, '.') + 1));
	if (method.n == 0 || owner.n == 0 || !is_upper(owner.p[0]) || str_eq(method, STR("cold")))
		return false;
	for (const char *c = owner.p; c < method.p + method.n; c++) {
		bool letter =
			is_upper(*c) || (*c >= 'a' && *c <= 'z') || byte_is_digit(*c) || (unsigned char)*c >= 0x80;
		if (!letter && !strchr("._$<>", *c))
			return false;
	}
	return true;
}

static bool is_cpp(struct str s)
{
	return codekind_has(s, STR("::")) || str_starts(s, STR("_ZN")) || str_starts(s, STR("_RN")) ||
	       str_starts(s, STR("operator")) || str_starts(s, STR("-[")) || str_starts(s, STR("+["));
}

static enum code code_by_name(struct str s)
{
	if (is_unknown(s))
		return CODE_UNKNOWN;
	if (is_js(s))
		return CODE_JS;
	if (is_python(s))
		return CODE_PYTHON;
	if (is_java(s))
		return CODE_JAVA;
	return is_cpp(s) ? CODE_CPP : CODE_NATIVE;
}

/* Compiled, inlined or interpreted: which of them depends on the language, which the name may tell. */
static enum code code_by_suffix(char letter, enum code named, struct str fp)
{
	bool java = named == CODE_JAVA || (named != CODE_UNKNOWN && may_be_java(fp));

	if (letter == 'k')
		return CODE_KERNEL;
	if (named == CODE_JS || named == CODE_PYTHON || letter == 'w')
		return named;
	if (letter == 'i')
		return java ? CODE_JAVA_INLINED : named;
	if (letter == '0')
		return java ? CODE_JAVA_INTERPRETED : CODE_INTERPRETED;
	return java ? CODE_JAVA : CODE_JIT;
}

enum code code_of(struct str fp, struct str suffix, enum code_place place)
{
	if (code_is_separator(fp))
		return CODE_PROCESS;
	enum code named = code_by_name(fp);
	if (suffix.n > 2)
		return code_by_suffix(suffix.p[2], named, fp);
	if (named == CODE_JAVA && str_eq(fp, STR("Interpreter")))
		return CODE_JAVA_INTERPRETED;
	if (place == CODE_IN_KERNEL && (named == CODE_NATIVE || named == CODE_UNKNOWN))
		return CODE_KERNEL;
	if (place == CODE_OUTERMOST && named != CODE_JAVA && named != CODE_CPP)
		return CODE_PROCESS;
	return named;
}
