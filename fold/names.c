/* SPDX-License-Identifier: Apache-2.0 */
#include "names.h"

#include "arena.h"

#include <stdlib.h>

/* ---- bytes ---------------------------------------------------------------------------------------------------- */

/* A byte of a name as it may stand in folded text. */
static void put_safe(struct names *n, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";

	if (c == ';') {
		text_char(&n->text, ':');
	} else if (c < 0x20 || c == 0x7F) {
		char escape[] = { '\\', 'x', hex[c >> 4], hex[c & 15] };

		text_bytes(&n->text, escape, 4);
	} else {
		text_char(&n->text, (char)c);
	}
}

/* Letters, digits, '_', '$', '~' and all bytes of other scripts: what names of functions are made of. */
static bool is_word(char c)
{
	return byte_is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_' || c == '$' || c == '~' || c < 0;
}

/* A reader takes "name 12" for a stack and a number: the last blank before digits at the end becomes '_'. */
static void end_name(struct names *n, size_t from)
{
	size_t i = n->text.n;

	while (i > from && byte_is_digit(n->text.p[i - 1]))
		i--;
	if (i < n->text.n && i > from && n->text.p[i - 1] == ' ')
		n->text.p[i - 1] = '_';
}

/* ---- kinds -------------------------------------------------------------------------------------------------- */

static struct str basename_of(struct str path)
{
	return str_from(path, (size_t)(str_rfind(path, '/') + 1));
}

/* "/x (deleted)", "/x+0x12" (-F+dsoff): as "/x". */
static struct str clean_dso(struct str dso)
{
	ptrdiff_t plus = str_rfind(dso, '+');
	size_t i;

	if (plus > 0 && str_starts(str_from(dso, (size_t)plus), STR("+0x"))) {
		for (i = (size_t)plus + 3; i < dso.n && byte_is_hex(dso.p[i]); i++)
			;
		if (i == dso.n)
			dso.n = (size_t)plus;
	}
	if (str_ends(dso, STR(" (deleted)")))
		dso.n -= 10;
	return dso;
}

/* [name] of the kernel or a module; not what user space maps under such names. */
static bool kernel_brackets(struct str dso)
{
	static const struct str user[] = { STR("[vdso]"),    STR("[vdso32]"),  STR("[vdsox32]"), STR("[vsyscall]"),
					   STR("[vvar]"),    STR("[vectors]"), STR("[heap]"),    STR("[stack]"),
					   STR("[unknown]"), STR("[uprobes]"), STR("[anon]"),    STR("[sigpage]") };

	if (dso.n < 3 || dso.p[0] != '[' || dso.p[dso.n - 1] != ']')
		return str_starts(dso, STR("[kernel.kallsyms]")) || str_starts(dso, STR("[guest.kernel.kallsyms"));
	for (size_t i = 1; i + 1 < dso.n; i++)
		if (!is_word(dso.p[i]) && dso.p[i] != '.' && dso.p[i] != '-')
			return false;
	for (size_t i = 0; i < countof(user); i++)
		if (str_eq(dso, user[i]))
			return false;
	return true;
}

static bool is_kernel(struct str dso)
{
	struct str base = basename_of(dso);
	ptrdiff_t ko = str_find_str(base, STR(".ko"));

	if (kernel_brackets(dso) || str_starts(base, STR("vmlinux")) || str_starts(dso, STR("bpf_prog_")))
		return true;
	return ko > 0 && ((size_t)ko + 3 == base.n || base.p[ko + 3] == '.');
}

/* perf-PID.map, jitted-PID-N.so, [JIT] tid N. */
static bool is_jit(struct str dso)
{
	struct str base = basename_of(dso), digits;

	if (str_starts(dso, STR("[JIT] ")))
		return true;
	if (str_starts(base, STR("jitted-")) && str_ends(base, STR(".so")))
		return true;
	if (!str_starts(base, STR("perf-")) || !str_ends(base, STR(".map")) || base.n < 10)
		return false;
	digits = str_head(str_from(base, 5), base.n - 9);
	for (size_t i = 0; i < digits.n; i++)
		if (!byte_is_digit(digits.p[i]))
			return false;
	return digits.n > 0;
}

bool names_unresolved(struct names_frame f)
{
	return f.symbol.n == 0 || str_eq(f.symbol, STR("[unknown]"));
}

static void put_kind(struct names *n, enum names_kind kind)
{
	static const char letter[] = { 0, 'k', 'j', '1', 'i', '0' };
	char suffix[] = { '_', '[', letter[kind], ']' };

	if (kind != KIND_NATIVE && n->kinds >> kind & 1)
		text_bytes(&n->text, suffix, 4);
}

/* Names that carry their kind already (agents with annotate_java_frames) keep it. */
static struct str cut_kind(struct str s, enum names_kind *kind)
{
	static const char letters[] = "kj1i0";
	const char *at;

	if (s.n > 4 && s.p[s.n - 1] == ']' && s.p[s.n - 3] == '[' && s.p[s.n - 4] == '_') {
		at = memchr(letters, s.p[s.n - 2], 5);
		if (at) {
			*kind = (enum names_kind)(at - letters) + KIND_KERNEL;
			s.n -= 4;
		}
	}
	return s;
}

/* ---- brackets ----------------------------------------------------------------------------------------------- */

/* Length of the operator token at p (behind the word "operator"), or 0. */
static size_t operator_token(struct str s)
{
	static const struct str tokens[] = { STR("->*"), STR("<=>"), STR("<<="), STR(">>="), STR("()"),
					     STR("[]"),  STR("->"),  STR("<<"),  STR(">>"),  STR("<="),
					     STR(">="),  STR("<"),   STR(">"),   STR(",") };

	for (size_t i = 0; i < countof(tokens); i++)
		if (str_starts(s, tokens[i]))
			return tokens[i].n;
	return 0;
}

static bool operator_at(struct str s, size_t i)
{
	return s.p[i] == 'o' && str_starts(str_from(s, i), STR("operator")) && (i == 0 || !is_word(s.p[i - 1])) &&
	       (i + 8 == s.n || !is_word(s.p[i + 8]));
}

/* Where the bracket that opens at i closes (index behind it), 0 when it never does. Operators are no brackets. */
static size_t skip_group(struct str s, size_t i)
{
	size_t depth = 0;

	for (; i < s.n; i++) {
		char c = s.p[i];

		if (operator_at(s, i))
			i += 7 + operator_token(str_from(s, i + 8));
		else if (c == '(' || c == '<' || c == '{' || c == '[')
			depth++;
		else if (c == ')' || c == '}' || c == ']' || (c == '>' && s.p[i - 1] != '-'))
			depth--;
		if (depth == 0)
			return i + 1;
	}
	return 0;
}

/* ---- C++ ---------------------------------------------------------------------------------------------------- */

static bool word_before(struct str s, size_t i, struct str word)
{
	return i >= word.n && str_eq(str_head(str_from(s, i - word.n), word.n), word) &&
	       (i == word.n || !is_word(s.p[i - word.n - 1]));
}

/* Is the '(' at i a list of parameters? Not: (anonymous namespace), Go's pkg.(*T).m, decltype(x), "name (file:1)". */
static bool is_parameters(struct str s, size_t i)
{
	if (i == 0 || s.p[i - 1] == ' ' || s.p[i - 1] == '.' || s.p[i - 1] == '(')
		return false;
	if (str_starts(str_from(s, i), STR("(anonymous ")) || str_starts(str_from(s, i), STR("(anonymous)")))
		return false;
	return !word_before(s, i, STR("decltype")) && !word_before(s, i, STR("noexcept"));
}

/* Length of the qualifiers that may stand behind parameters: " const", " &&", ... */
static size_t skip_qualifiers(struct str s)
{
	static const struct str words[] = { STR(" const"), STR(" volatile"), STR(" noexcept"), STR(" &&"), STR(" &"),
					    STR("&&"),     STR("&") };
	size_t n = 0, before;

	do {
		before = n;
		for (size_t i = 0; i < countof(words); i++) {
			struct str rest = str_from(s, n);
			size_t len = words[i].n;

			if (str_starts(rest, words[i]) && (rest.n == len || !is_word(rest.p[len])))
				n += len;
		}
	} while (n > before);
	return n;
}

/* Behind the qualifiers: does the name end here? Notes of compilers about clones, constraints and Swift's results do not
 * belong to it. */
static bool is_end(struct str s)
{
	static const struct str notes[] = { STR(" [clone "), STR(" (."), STR(" requires "), STR(" -> ") };

	for (size_t i = 0; i < countof(notes); i++)
		if (str_starts(s, notes[i]))
			return true;
	return s.n == 0;
}

/* A function that takes or returns a pointer to a function in the middle of its name: "void (*f(int))(char)". */
static bool has_function_pointer(struct str s)
{
	for (size_t i = 0; i + 2 < s.n; i++) {
		if (s.p[i] == '<' || s.p[i] == '(' || s.p[i] == '{' || s.p[i] == '[') {
			size_t end = operator_at(s, i) ? 0 : skip_group(s, i);

			if (end == 0)
				return false;
			i = end - 1;
		} else if (s.p[i] == ' ' && s.p[i + 1] == '(' && (s.p[i + 2] == '*' || s.p[i + 2] == '&')) {
			return true;
		}
	}
	return false;
}

/* The return type that demanglers print for templates: up to the last blank outside of brackets, "operator new"
 * aside. Not for "virtual thunk to X", "guard variable for X". */
static size_t return_type(struct str s)
{
	size_t from = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (operator_at(s, i))
			break;
		if (s.p[i] == '(' || s.p[i] == '<' || s.p[i] == '{' || s.p[i] == '[') {
			size_t end = skip_group(s, i);

			if (end == 0)
				return 0;
			i = end - 1;
		} else if (s.p[i] == ' ') {
			struct str word = str_head(s, i);

			if (str_ends(word, STR(" to")) || str_ends(word, STR(" for")))
				return 0;
			from = i + 1;
		}
	}
	return from;
}

/*
 * Parameters, cv-qualifiers, return types and clone notes go; operators, lambdas, template arguments, (anonymous
 * namespace) and Go's receivers stay. What does not balance is kept as it is. typed: a return type may stand in
 * front.
 */
static void put_native(struct names *n, struct str s, bool typed)
{
	size_t from = n->text.n, cut;
	bool parameters = false;
	ptrdiff_t clone = str_find_str(s, STR(" [clone "));

	if (clone > 0)
		s.n = (size_t)clone;
	if (str_find(s, '(') < 0 || has_function_pointer(s)) {
		text_str(&n->text, s);
		return;
	}
	for (size_t i = 0; i < s.n;) {
		size_t end = 0;

		if (operator_at(s, i)) {
			end = i + 8 + operator_token(str_from(s, i + 8));
		} else if (s.p[i] == '(' || s.p[i] == '<' || s.p[i] == '{' || s.p[i] == '[') {
			end = skip_group(s, i);
			if (end == 0)
				end = s.n;
			else if (s.p[i] == '(' && is_parameters(s, i)) {
				struct str behind = str_from(s, end);
				size_t qualifiers = skip_qualifiers(behind);

				behind = str_from(behind, qualifiers);
				parameters = true;
				if (is_end(behind))
					break;
				/* a lambda or class of a const method: "f() const::{lambda()#1}" */
				i = end + (str_starts(behind, STR("::")) ? qualifiers : 0);
				continue;
			}
		} else {
			end = i + 1;
		}
		text_bytes(&n->text, s.p + i, end - i);
		i = end;
	}
	if (!parameters || !typed)
		return;
	cut = return_type((struct str){ n->text.p + from, n->text.n - from });
	memmove(n->text.p + from, n->text.p + from + cut, n->text.n - from - cut);
	n->text.n -= cut;
}

/* ---- Rust --------------------------------------------------------------------------------------------------- */

static bool all_hex(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!byte_is_hex(s.p[i]))
			return false;
	return true;
}

/* Legacy mangling ends in ::h and 16 hex digits; v0 shows the crate's hash as name[16 hex digits]. */
static bool rust_hash(struct str s, struct str *without)
{
	ptrdiff_t llvm = str_find_str(s, STR(".llvm."));

	if (llvm > 0)
		s.n = (size_t)llvm;
	if (s.n > 19 && str_eq(str_head(str_from(s, s.n - 19), 3), STR("::h")) && all_hex(str_from(s, s.n - 16))) {
		*without = str_head(s, s.n - 19);
		return true;
	}
	return false;
}

/* One of legacy mangling's $..$ escapes at the start of s: its length, and what it stands for in *c; 0 when it is
 * none. */
static size_t rust_escape(struct str s, char *c)
{
	static const struct {
		struct str code;
		char c;
	} escapes[] = { { STR("$SP$"), '@' }, { STR("$BP$"), '*' }, { STR("$RF$"), '&' }, { STR("$LT$"), '<' },
			{ STR("$GT$"), '>' }, { STR("$LP$"), '(' }, { STR("$RP$"), ')' }, { STR("$C$"), ',' } };
	uint64_t code;
	ptrdiff_t end;

	for (size_t i = 0; i < countof(escapes); i++) {
		if (str_starts(s, escapes[i].code)) {
			*c = escapes[i].c;
			return escapes[i].code.n;
		}
	}
	if (!str_starts(s, STR("$u")))
		return 0;
	end = str_find(str_from(s, 2), '$');
	if (end < 1 || end > 2 || !str_hex(str_head(str_from(s, 2), (size_t)end), &code) || code < 0x20 || code > 0x7E)
		return 0;
	*c = (char)code;
	return (size_t)end + 3;
}

static void put_rust_legacy(struct names *n, struct str s)
{
	for (size_t i = 0; i < s.n;) {
		char c;
		size_t len = s.p[i] == '$' ? rust_escape(str_from(s, i), &c) : 0;

		if (len) {
			text_char(&n->text, c);
			i += len;
		} else if (str_starts(str_from(s, i), STR(".."))) {
			text_bytes(&n->text, "::", 2);
			i += 2;
		} else if (i == 0 && str_starts(s, STR("_$"))) {
			i++; /* the '_' only keeps the symbol from starting with '$' */
		} else if (s.p[i] == '_' && i >= 2 && s.p[i - 1] == ':' && i + 1 < s.n && s.p[i + 1] == '$') {
			i++;
		} else {
			text_char(&n->text, s.p[i++]);
		}
	}
}

/* core[846817f741e54dfd]::slice -> core::slice; leading zeros of the hash are not printed */
static bool put_rust_v0(struct names *n, struct str s)
{
	bool any = false;

	for (size_t i = 0; i < s.n; i++) {
		ptrdiff_t close = s.p[i] == '[' && i > 0 && is_word(s.p[i - 1]) ? str_find(str_from(s, i), ']') : -1;

		if (close > 8 && close < 18 && all_hex(str_head(str_from(s, i + 1), (size_t)close - 1)) &&
		    str_starts(str_from(s, i + (size_t)close + 1), STR("::"))) {
			i += (size_t)close;
			any = true;
			continue;
		}
		text_char(&n->text, s.p[i]);
	}
	return any;
}

/* ---- Java --------------------------------------------------------------------------------------------------- */

/* pkg.Outer$Inner/0x00007f04bc002aa0 -> pkg/Outer$Inner: the address of a hidden class is another in every run. */
static void put_java_class(struct names *n, struct str class)
{
	for (size_t i = 0; i < class.n; i++) {
		if ((class.p[i] == '/' || class.p[i] == '+' || class.p[i] == '.') && i + 10 < class.n &&
		    class.p[i + 1] == '0' && class.p[i + 2] == 'x') {
			size_t end = i + 3;

			while (end < class.n && byte_is_hex(class.p[end]))
				end++;
			if (end - i >= 11) {
				i = end - 1;
				continue;
			}
		}
		text_char(&n->text, class.p[i] == '.' ? '/' : class.p[i]);
	}
}

static bool is_java_name(struct str s)
{
	if (s.n == 0 || byte_is_digit(s.p[0]))
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!is_word(s.p[i]) && !memchr("./<>-+", s.p[i], 6))
			return false;
	return true;
}

/*
 * Spellings of one method:
 *   Ljava/util/HashMap;::get, ...;.get, ...;get(Ljava/lang/Object;)...        perf-map-agent, old and new, libperf-jvmti
 *   java.lang.Object java.util.HashMap.get(java.lang.Object)                  JDK 17+ Compiler.perfmap
 *   java.util.HashMap::get, java/util/HashMap.get                             others
 * All become java/util/HashMap.get. False, and nothing written, when it is none of them.
 */
static bool put_java(struct names *n, struct str s)
{
	struct str class = s, method;
	ptrdiff_t semicolon = s.n && s.p[0] == 'L' ? str_find(s, ';') : -1, i;

	if (semicolon > 1) {
		class = str_head(str_from(s, 1), (size_t)semicolon - 1);
		method = str_from(s, (size_t)semicolon + 1);
		if (str_starts(method, STR("::")))
			method = str_from(method, 2);
		else if (str_starts(method, STR(".")))
			method = str_from(method, 1);
		method = str_cut(&method, '(');
	} else {
		struct str head = str_cut(&class, '(');

		i = str_rfind(head, ' ');
		if (i >= 0 && head.n == s.n)
			return false; /* a return type without parameters: not Java */
		head = str_from(head, (size_t)(i + 1));
		i = str_find_str(head, STR("::"));
		if (i > 0 && str_find_str(str_from(head, (size_t)i + 2), STR("::")) < 0) {
			class = str_head(head, (size_t)i);
			method = str_from(head, (size_t)i + 2);
			if (str_find(class, '.') < 0 && str_find(class, '/') < 0)
				return false; /* could as well be C++ */
		} else {
			i = str_rfind(head, '.');
			if (i <= 0 ||
			    (head.n == s.n && str_find(head, '/') < 0 && str_find(str_head(head, (size_t)i), '.') < 0))
				return false;
			class = str_head(head, (size_t)i);
			method = str_from(head, (size_t)i + 1);
		}
	}
	if (!is_java_name(class) || method.n == 0 || str_find(method, '/') >= 0 || !is_java_name(method))
		return false;
	put_java_class(n, class);
	text_char(&n->text, '.');
	text_str(&n->text, method);
	return true;
}

/* ---- node, Python ------------------------------------------------------------------------------------------- */

/* V8's "LazyCompile:*name /file.js:1:2": the mark tells the tier (~ interpreted), the prefix nothing that a reader
 * wants. */
static bool put_v8(struct names *n, struct str s, enum names_kind *kind)
{
	static const struct str prefixes[] = { STR("LazyCompile:"), STR("JS:"), STR("Function:"), STR("Script:"),
					       STR("Eval:") };

	for (size_t i = 0; i < countof(prefixes); i++) {
		struct str rest;

		if (!str_starts(s, prefixes[i]))
			continue;
		rest = str_from(s, prefixes[i].n);
		if (rest.n && memchr("*~^+", rest.p[0], 4)) {
			*kind = rest.p[0] == '~' ? KIND_INTERPRETED : KIND_JIT;
			rest = str_from(rest, 1);
		}
		if (rest.n && rest.p[0] == ' ')
			text_str(&n->text, STR("(anonymous)"));
		text_str(&n->text, rest);
		return true;
	}
	return false;
}

/* .NET: "void [System.Private.CoreLib] System.Threading.Thread::Start()[OptimizedTier1]": type and method stay. */
static bool put_dotnet(struct names *n, struct str s)
{
	ptrdiff_t open = str_find(s, '['), close = str_find_str(s, STR("] ")), tier;

	if (open < 0 || close < open || str_find_str(str_from(s, (size_t)close), STR("::")) < 0)
		return false;
	s = str_from(s, (size_t)close + 2);
	tier = str_rfind(s, '[');
	if (tier > 0 && s.p[s.n - 1] == ']')
		s.n = (size_t)tier;
	text_str(&n->text, str_cut(&s, '('));
	return true;
}

/* A method or function in a JIT's map. */
static void put_jit(struct names *n, struct str s, enum names_kind *kind)
{
	if (str_eq(s, STR("Interpreter")) || str_starts(s, STR("py::"))) {
		*kind = KIND_INTERPRETED;
		text_str(&n->text, s);
	} else if (n->hotspot || str_starts(s, STR("RegExp:"))) {
		text_str(&n->text, s); /* an expression's parentheses are its own */
	} else if (!put_dotnet(n, s) && !put_java(n, s) && !put_v8(n, s, kind)) {
		put_native(n, s, false);
	}
}

/* ---- frames ------------------------------------------------------------------------------------------------- */

/* Sanitises what was written since from, in place where nothing grows. */
static void make_safe(struct names *n, size_t from)
{
	size_t len = n->text.n - from, bad = 0;
	char *copy;

	while (n->text.n > from && n->text.p[n->text.n - 1] == ' ')
		n->text.n--;
	len = n->text.n - from;
	for (size_t i = from; i < n->text.n; i++) {
		unsigned char c = (unsigned char)n->text.p[i];

		bad += c < 0x20 || c == 0x7F || c == ';';
	}
	if (len == 0)
		text_str(&n->text, STR("[unknown]"));
	if (n->text.p[from] == '#' && (len == 1 || n->text.p[from + 1] == ' ')) {
		/* as first frame it would make the line a comment */
		n->text.p[from] = '_';
	}
	if (bad) {
		copy = mem_alloc(1, len);
		memcpy(copy, n->text.p + from, len);
		n->text.n = from;
		for (size_t i = 0; i < len; i++)
			put_safe(n, (unsigned char)copy[i]);
		free(copy);
	}
	end_name(n, from);
}

static void put_line(struct names *n, struct str line)
{
	if (line.n == 0)
		return;
	text_char(&n->text, ':');
	text_str(&n->text, line);
}

static void put_unresolved(struct names *n, struct names_frame f, enum names_kind kind)
{
	struct str base = basename_of(f.dso);
	size_t from = n->text.n;

	if (f.dso.n == 0 || str_eq(f.dso, STR("[unknown]")) || base.n == 0) {
		text_str(&n->text, STR("[unknown"));
	} else if (base.p[0] == '[' && base.p[base.n - 1] == ']') {
		text_str(&n->text, str_head(base, base.n - 1));
	} else {
		text_char(&n->text, '[');
		text_str(&n->text, base);
	}
	if (n->addresses && f.address.n) {
		text_str(&n->text, STR(" <"));
		text_str(&n->text, f.address);
		text_char(&n->text, '>');
	}
	text_char(&n->text, ']');
	put_line(n, f.line);
	make_safe(n, from);
	put_kind(n, kind);
}

static void put_resolved(struct names *n, struct str s, enum names_kind kind, bool jit, struct str line)
{
	size_t from = n->text.n;
	struct str rest;

	s = cut_kind(s, &kind);
	if (jit) {
		put_jit(n, s, &kind);
	} else if (kind == KIND_KERNEL) {
		text_str(&n->text, s);
	} else if (rust_hash(s, &rest)) {
		put_rust_legacy(n, rest);
	} else if (str_find(s, '[') > 0 && put_rust_v0(n, s)) {
		;
	} else {
		n->text.n = from;
		put_native(n, s, true);
	}
	put_line(n, line);
	make_safe(n, from);
	put_kind(n, kind);
}

/* perf-map-agent with unfolding: "outer->inner", where inner was inlined. Operators have no place in a JIT's map, so
 * the arrow is unambiguous there, and only there. */
static ptrdiff_t find_arrow(struct str s)
{
	ptrdiff_t i = str_find_str(s, STR("->"));

	return i > 0 && (size_t)i + 2 < s.n ? i : -1;
}

struct str names_make(struct names *n, struct names_frame f)
{
	enum names_kind kind = KIND_NATIVE;
	bool jit;

	f.dso = clean_dso(f.dso);
	jit = is_jit(f.dso);
	if (f.inlined)
		kind = KIND_INLINED;
	else if (jit)
		kind = KIND_JIT;
	else if (is_kernel(f.dso))
		kind = KIND_KERNEL;
	n->text.n = 0;
	if (names_unresolved(f)) {
		put_unresolved(n, f, kind);
		return text_view(&n->text);
	}
	for (struct str s = f.symbol; jit;) {
		ptrdiff_t arrow = find_arrow(s);

		if (arrow < 0) {
			f.symbol = s;
			break;
		}
		put_resolved(n, str_head(s, (size_t)arrow), kind, true, (struct str){ 0 });
		text_char(&n->text, '\n');
		s = str_from(s, (size_t)arrow + 2);
		kind = KIND_INLINED;
	}
	put_resolved(n, f.symbol, kind, jit, f.line);
	return text_view(&n->text);
}

struct str names_comm(struct names *n, struct str comm, bool canonical)
{
	struct str all = comm;

	while (canonical && comm.n && (byte_is_digit(comm.p[comm.n - 1]) || memchr("-_:#/. ", comm.p[comm.n - 1], 7)))
		comm.n--;
	if (comm.n == 0)
		comm = all;
	n->text.n = 0;
	text_str(&n->text, comm);
	for (size_t i = 0; i < n->text.n; i++)
		if (n->text.p[i] == ' ' || n->text.p[i] == '\t')
			n->text.p[i] = '_';
	make_safe(n, 0);
	return text_view(&n->text);
}

void names_free(struct names *n)
{
	text_free(&n->text);
}
