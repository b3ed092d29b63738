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
		[CODE_PYTHON] = CODE_LABEL_PYTHON,
		[CODE_UNKNOWN] = "unknown",
		[CODE_PROCESS] = CODE_LABEL_PROCESS,
	};

	return label[code];
}

static bool codekind_has(struct str string, struct str needle)
{
	return str_find_str(string, needle) >= 0;
}

static bool starts_with_any(struct str string, const struct str *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (string.n && string.p[0] == list[i].p[0] && str_starts(string, list[i]))
			return true;
	}
	return false;
}

bool code_enters_kernel(struct str name)
{
	/* prefixes of the names of entry points of x86 and arm64, and of the first frames of kernel threads and idle
	 * CPUs */
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

/* Returns true if a name shows that the profiler found no symbol: empty, [unknown], [libc.so.6], an address. */
static bool is_unknown(struct str string)
{
	if (string.n == 0 || (string.p[0] == '[' && string.p[string.n - 1] == ']'))
		return true;
	if (str_starts(string, STR("0x")))
		string = str_from(string, 2);
	else if (string.n < 8)
		return false;
	for (size_t i = 0; i < string.n; i++) {
		if (!byte_is_hex(string.p[i]))
			return false;
	}
	return string.n > 0;
}

/* Removes ":NUMBER" from the end of *string. Returns false if the string does not end in that form. */
static bool drop_number(struct str *string)
{
	size_t n = string->n;

	while (n > 0 && byte_is_digit(string->p[n - 1]))
		n--;
	if (n == string->n || n == 0 || string->p[n - 1] != ':')
		return false;
	*string = str_head(*string, n - 1);
	return true;
}

struct str code_without_place(struct str name)
{
	struct str place = name, function;
	bool digits = true;

	if (!drop_number(&place))
		return name;
	function = str_cut(&place, ':');
	for (size_t i = 0; i < place.n; i++) {
		if (place.p[i] == ':' || place.p[i] == '/')
			return name;
		digits = digits && byte_is_digit(place.p[i]);
	}
	return digits || function.n == 0 || str_find(function, ' ') >= 0 || str_find(function, '/') >= 0 ? name :
													   function;
}

/* Returns true if a name ends in the line and column that V8 appends: "run /srv/app.wasm:1:2", "(anonymous) :1:1",
 * "node:fs:3:4". Otherwise returns false. */
static bool is_v8_place(struct str string)
{
	/* NOLINTNEXTLINE(misc-redundant-expression): each call drops a number */
	return drop_number(&string) && drop_number(&string) &&
	       (str_find(string, ' ') > 0 || str_starts(string, STR("node:")));
}

/* Returns true if one of the strings ending[0..n) is directly before any colon of string, as ".js" in "run app.js:12".
 * colon: index of the first colon of string; -1 if there is none, for which the result is false. */
static bool ends_before_colon(struct str string, ptrdiff_t colon, const struct str *ending, size_t n)
{
	while (colon >= 0) {
		struct str head = str_head(string, (size_t)colon);

		for (size_t i = 0; i < n; i++) {
			if (str_ends(head, ending[i]))
				return true;
		}
		ptrdiff_t more = str_find(str_from(string, (size_t)colon + 1), ':');
		colon = more < 0 ? -1 : colon + 1 + more;
	}
	return false;
}

/* Returns true if the spelling of a name shows JavaScript: a tag of V8, or a file name like app.js. dot, colon: index
 * of the first '.' and of the first ':' in the name; -1: none. They save searches: most names lack one or both. */
static bool is_js(struct str string, ptrdiff_t dot, ptrdiff_t colon)
{
	static const struct str tag[] = {
		STR("LazyCompile:"), STR("Function:"), STR("Script:"),
		STR("Eval:"),        STR("JS:"),       STR("Builtin:"),
		STR("RegExp:"),      STR("Builtins_"), STR("BytecodeHandler:"),
	};
	static const struct str file[] = { STR(".js"), STR(".mjs"), STR(".cjs"), STR(".ts") };

	if (starts_with_any(string, tag, countof(tag)))
		return true;
	if (colon >= 0 && (codekind_has(string, STR("node:internal/")) || is_v8_place(string)))
		return true;
	return dot >= 0 && (str_ends(string, STR(".js")) || ends_before_colon(string, colon, file, countof(file)));
}

static bool is_python(struct str string, ptrdiff_t dot, ptrdiff_t colon)
{
	static const struct str file[] = { STR(".py") };

	if (colon >= 0 && str_starts(string, STR("py::")))
		return true;
	if (dot >= 0 && (str_ends(string, STR(".py")) || ends_before_colon(string, colon, file, countof(file))))
		return true;
	return str_eq(string, STR("<module>"));
}

static bool is_upper(char byte)
{
	return byte >= 'A' && byte <= 'Z';
}

/* Returns true for names with a common package of Java, or with packages before a class that starts in upper case:
 * java/util/HashMap.get, Lorg/vertx/Foo;::bar, java.lang.Thread.run; also for "Interpreter". */
static bool is_java(struct str string)
{
	static const struct str package[] = {
		STR("java/"),  STR("javax/"),  STR("jdk/"),     STR("sun/"),  STR("org/"),   STR("com/"),
		STR("scala/"), STR("kotlin/"), STR("clojure/"), STR("java."), STR("javax."), STR("jdk."),
	};

	if (str_eq(string, STR("Interpreter")))
		return true;
	if (string.p[0] == '(' || str_find(string, ' ') >= 0)
		return false;
	if (starts_with_any(string.p[0] == 'L' ? str_from(string, 1) : string, package, countof(package)))
		return true;
	ptrdiff_t slash = str_rfind(string, '/');
	if (slash <= 0)
		return false;
	struct str last = str_from(string, (size_t)slash + 1);
	return last.n && is_upper(last.p[0]) && (str_find(last, '.') > 0 || str_find(last, ':') > 0) &&
	       !codekind_has(last, STR(".go:"));
}

/* Returns true for names of code that HotSpot generates at its start, in the spelling of perf maps that HotSpot or
 * perf-map-agent writes; false for all other names. */
static bool is_java_stub(struct str string)
{
	static const struct str stub[] = {
		STR("Interpreter"),  STR("StubRoutines"),   STR("call_stub"),      STR("vtable stub"),
		STR("itable stub"),  STR("vtable chunks"),  STR("MethodHandles"),  STR("I2C/C2I adapters"),
		STR("RuntimeStub"),  STR("SafepointBlob"),  STR("ExceptionBlob"),  STR("DeoptimizationBlob"),
		STR("UncommonTrap"), STR("Signature Hand"), STR("signature hand"),
	};

	return starts_with_any(string, stub, countof(stub));
}

/* Returns true if a name may be the name of a Java method by its spelling: Class.method, a.b.Class$Inner.<init>, void
 * a.b.Class.method(int, long). Returns false for all other spellings. */
static bool may_be_java(struct str string)
{
	ptrdiff_t open = str_find(string, '('), dot;

	if (is_java(string) || is_java_stub(string))
		return true;
	if (open > 0)
		string = str_head(string, (size_t)open);
	string = str_from(string, (size_t)(str_rfind(string, ' ') + 1));
	dot = str_rfind(string, '.');
	if (dot <= 0)
		return false;
	struct str owner = str_head(string, (size_t)dot), method = str_from(string, (size_t)dot + 1);
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

static bool is_cpp(struct str string, ptrdiff_t colon)
{
	return (colon >= 0 && codekind_has(str_from(string, (size_t)colon), STR("::"))) ||
	       str_starts(string, STR("_ZN")) || str_starts(string, STR("_RN")) ||
	       str_starts(string, STR("operator")) || str_starts(string, STR("-[")) || str_starts(string, STR("+["));
}

enum code code_by_name(struct str string)
{
	ptrdiff_t dot, colon;

	if (is_unknown(string))
		return CODE_UNKNOWN;
	dot = str_find(string, '.');
	colon = str_find(string, ':');
	if (is_js(string, dot, colon))
		return CODE_JS;
	if (is_python(string, dot, colon))
		return CODE_PYTHON;
	if (is_java(string))
		return CODE_JAVA;
	return is_cpp(string, colon) ? CODE_CPP : CODE_NATIVE;
}

/* Returns true if the name of an interpreted function has the form module.qualname of Python: __main__.Foo.bar,
 * json.decoder.JSONDecoder.decode. Returns false if the first part shows Java: it starts in upper case (class of the
 * default package), or is a domain such as com. */
static bool is_qualified(struct str string)
{
	static const struct str domain[] = { STR("com."), STR("org."),   STR("net."),
					     STR("edu."), STR("scala."), STR("kotlin.") };

	return str_find(string, '.') > 0 && str_find(string, '/') < 0 && str_find(string, '(') < 0 &&
	       str_find(string, ' ') < 0 && str_find(string, ':') < 0 && !is_upper(string.p[0]) &&
	       !starts_with_any(string, domain, countof(domain));
}

/* Returns the code kind of a frame with a suffix. letter: letter of the suffix, k in `_[k]`; named: code kind that the
 * name alone shows. */
static enum code code_by_suffix(char letter, enum code named, struct str string)
{
	if (letter == 'k')
		return CODE_KERNEL;
	if (named == CODE_JS || named == CODE_PYTHON || letter == 'w')
		return named;
	bool java = named == CODE_JAVA || (named != CODE_UNKNOWN && may_be_java(string));
	if (letter == 'i')
		return java ? CODE_JAVA_INLINED : named;
	if (letter == '0' && named != CODE_JAVA && named != CODE_UNKNOWN && is_qualified(code_without_place(string)))
		return CODE_PYTHON;
	if (letter == '0')
		return java ? CODE_JAVA_INTERPRETED : CODE_INTERPRETED;
	return java ? CODE_JAVA : CODE_JIT;
}

/* Returns true if the suffix marks a frame that a runtime compiled, inlined or interprets; false for native and kernel
 * code. */
static bool is_of_runtime(struct str suffix)
{
	return suffix.n > 2 && strchr("ij01", suffix.p[2]);
}

enum code code_in_place(struct str string, struct str suffix, enum code_place place, enum code named)
{
	if (code_is_separator(string))
		return CODE_PROCESS;
	/* A name of a JavaScript function has no typical form, e.g. "unit" or "Module.load", so the place of the frame
	 * decides. */
	if (place == CODE_IN_JS && is_of_runtime(suffix) && (named == CODE_NATIVE || named == CODE_UNKNOWN))
		return CODE_JS;
	if (suffix.n > 2)
		return code_by_suffix(suffix.p[2], named, string);
	if (named == CODE_JAVA && str_eq(string, STR("Interpreter")))
		return CODE_JAVA_INTERPRETED;
	if (place == CODE_IN_KERNEL && (named == CODE_NATIVE || named == CODE_UNKNOWN))
		return CODE_KERNEL;
	if (place == CODE_OUTERMOST && named != CODE_JAVA && named != CODE_CPP)
		return CODE_PROCESS;
	return named;
}

enum code code_of(struct str string, struct str suffix, enum code_place place)
{
	return code_in_place(string, suffix, place, code_by_name(string));
}
