/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/names/names.h"

#include "common/arena.h"
#include "fold/names/languages.h"

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
static bool names_is_jit(struct str dso)
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
static struct str names_cut_kind(struct str s, enum names_kind *kind)
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

/* ---- frames ------------------------------------------------------------------------------------------------- */

/* A method or function in a JIT's map. */
static void put_jit(struct names *n, struct str s, enum names_kind *kind)
{
	if (str_eq(s, STR("Interpreter")) || str_starts(s, STR("Interpreter: ")) || str_starts(s, STR("py::"))) {
		*kind = KIND_INTERPRETED;
		text_str(&n->text, s);
	} else if (n->hotspot || str_starts(s, STR("RegExp:"))) {
		text_str(&n->text, s); /* an expression's parentheses are its own */
	} else if (!dotnet_name(&n->text, s) && !java_name(&n->text, s) && !v8_name(&n->text, s, kind)) {
		cxx_name(&n->text, s, false);
	}
}

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

static void names_put_line(struct names *n, struct str line)
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

	if (kind == KIND_INTERPRETED) {
		text_str(&n->text, STR("[interpreted"));
	} else if (f.dso.n == 0 || str_eq(f.dso, STR("[unknown]")) || base.n == 0) {
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
	names_put_line(n, f.line);
	make_safe(n, from);
	put_kind(n, kind);
}

static void put_resolved(struct names *n, struct str s, enum names_kind kind, bool jit, struct str line)
{
	size_t from = n->text.n;

	s = names_cut_kind(s, &kind);
	if (jit)
		put_jit(n, s, &kind);
	else if (kind == KIND_KERNEL)
		text_str(&n->text, s);
	else if (!rust_name(&n->text, s))
		cxx_name(&n->text, s, true);
	names_put_line(n, line);
	make_safe(n, from);
	put_kind(n, kind);
}

#define INLINED_MAX 100 /* that one line of a map unfolds to: JVMs inline 15 deep */

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
	unsigned parts = 0;
	bool jit;

	f.dso = clean_dso(f.dso);
	jit = f.interpreted || names_is_jit(f.dso);
	if (f.interpreted)
		kind = KIND_INTERPRETED;
	else if (f.inlined)
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
	for (struct str s = f.symbol; jit; parts++) {
		ptrdiff_t arrow = parts < INLINED_MAX ? find_arrow(s) : -1;

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
