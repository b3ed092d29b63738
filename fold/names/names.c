/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/names/names.h"

#include "common/arena.h"
#include "fold/names/languages.h"

#include <stdlib.h>

/* ---- characters of names -------------------------------------------------------------------------------------- */

/* Appends a byte of a name. Folded text must not contain ';', which becomes ':', or control characters, which become \x
 * and two hex digits. */
static void put_safe(struct names *names, unsigned char byte)
{
	static const char hex[] = "0123456789abcdef";

	if (byte == ';') {
		text_char(&names->text, ':');
	} else if (byte < 0x20 || byte == 0x7F) {
		char escape[] = { '\\', 'x', hex[byte >> 4], hex[byte & 15] };

		text_bytes(&names->text, escape, 4);
	} else {
		text_char(&names->text, (char)byte);
	}
}

/* Ends the name that begins at offset `from` in names->text. If it ends with a blank and digits, replaces the blank by
 * '_': "name 12" would be read as a stack and its weight. */
static void end_name(struct names *names, size_t from)
{
	size_t i = names->text.n;

	while (i > from && byte_is_digit(names->text.p[i - 1]))
		i--;
	if (i < names->text.n && i > from && names->text.p[i - 1] == ' ')
		names->text.p[i - 1] = '_';
}

/* ---- kinds of code ------------------------------------------------------------------------------------------ */

static struct str basename_of(struct str path)
{
	return str_from(path, (size_t)(str_rfind(path, '/') + 1));
}

/* Returns the path of a DSO: "/x" for "/x (deleted)", and for "/x+0x12" (perf script -F+dsoff). */
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

/* Returns true if the DSO is the kernel or a module, written as "[name]"; false for mappings of user space with such
 * names, like "[vdso]". */
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

/* Returns true if the DSO is JIT code: perf-PID.map, jitted-PID-N.so, or [JIT] tid N; false for all other DSOs. */
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

bool names_unresolved(struct names_frame frame)
{
	return frame.symbol.n == 0 || str_eq(frame.symbol, STR("[unknown]"));
}

static void put_kind(struct names *names, enum names_kind kind)
{
	static const char letter[] = { 0, 'k', 'j', '1', 'i', '0' };
	char suffix[] = { '_', '[', letter[kind], ']' };

	if (kind != KIND_NATIVE && names->kinds >> kind & 1)
		text_bytes(&names->text, suffix, 4);
}

/* Returns the name without the suffix for its kind of code, and sets *kind to this kind. Agents with
 * annotate_java_frames write these suffixes. Without a suffix, returns the name and does not change *kind. */
static struct str names_cut_kind(struct str string, enum names_kind *kind)
{
	static const char letters[] = "kj1i0";
	const char *at;

	if (string.n > 4 && string.p[string.n - 1] == ']' && string.p[string.n - 3] == '[' &&
	    string.p[string.n - 4] == '_') {
		at = memchr(letters, string.p[string.n - 2], 5);
		if (at) {
			*kind = (enum names_kind)(at - letters) + KIND_KERNEL;
			string.n -= 4;
		}
	}
	return string;
}

/* ---- DSO after a name --------------------------------------------------------------------------------------- */

/* Appends a NUL and the file name of the DSO, if names->dso is set. Replaces characters that frames must not contain.
 */
static void put_dso(struct names *names, struct str dso)
{
	struct str base = basename_of(dso);

	if (!names->dso)
		return;
	base = base.n ? base : STR("[unknown]");
	text_char(&names->text, 0);
	for (size_t i = 0; i < base.n; i++)
		put_safe(names, (unsigned char)base.p[i]);
}

struct str names_dso(struct str name)
{
	const char *end = name.n ? memchr(name.p, 0, name.n) : NULL;

	return end ? str_from(name, (size_t)(end - name.p) + 1) : (struct str){ 0 };
}

struct str names_shown(struct str name)
{
	const char *end = name.n ? memchr(name.p, 0, name.n) : NULL;

	return end ? str_head(name, (size_t)(end - name.p)) : name;
}

/* ---- names of frames ---------------------------------------------------------------------------------------- */

/* Appends the name of a method or function of JIT code. Sets *kind if the symbol shows whether the function is
 * compiled or interpreted. */
static void put_jit(struct names *names, struct str string, enum names_kind *kind)
{
	if (str_eq(string, STR("Interpreter")) || str_starts(string, STR("Interpreter: ")) ||
	    str_starts(string, STR("py::"))) {
		*kind = KIND_INTERPRETED;
		text_str(&names->text, string);
	} else if (names->hotspot || str_starts(string, STR("RegExp:"))) {
		/* The parentheses in a RegExp name belong to the regular expression. */
		text_str(&names->text, string);
	} else if (!dotnet_name(&names->text, string) && !java_name(&names->text, string) &&
		   !v8_name(&names->text, string, kind)) {
		cxx_name(&names->text, string, false);
	}
}

/* Turns the text from offset `from` to its end into a valid frame name: not empty, without ';' and control characters,
 * with nothing that could be read as a comment or a weight. */
static void make_safe(struct names *names, size_t from)
{
	size_t len, bad = 0;
	char *copy;

	while (names->text.n > from && names->text.p[names->text.n - 1] == ' ')
		names->text.n--;
	len = names->text.n - from;
	for (size_t i = from; i < names->text.n; i++) {
		unsigned char byte = (unsigned char)names->text.p[i];

		bad += byte < 0x20 || byte == 0x7F || byte == ';';
	}
	if (len == 0)
		text_str(&names->text, STR("[unknown]"));
	if (names->text.p[from] == '#' && (len == 1 || names->text.p[from + 1] == ' ')) {
		/* A first frame "# ..." would make the line a comment. */
		names->text.p[from] = '_';
	}
	if (bad) {
		copy = mem_alloc(1, len);
		memcpy(copy, names->text.p + from, len);
		names->text.n = from;
		for (size_t i = 0; i < len; i++)
			put_safe(names, (unsigned char)copy[i]);
		free(copy);
	}
	end_name(names, from);
}

static void names_put_line(struct names *names, struct str line)
{
	if (line.n == 0)
		return;
	text_char(&names->text, ':');
	text_str(&names->text, line);
}

/* Appends the name of a frame without symbol: its DSO, or [unknown] or [interpreted], in brackets, with the address of
 * the frame if --addrs is given. */
static void put_unresolved(struct names *names, struct names_frame frame, enum names_kind kind)
{
	struct str base = basename_of(frame.dso);
	size_t from = names->text.n;

	if (kind == KIND_INTERPRETED) {
		text_str(&names->text, STR("[interpreted"));
	} else if (frame.dso.n == 0 || str_eq(frame.dso, STR("[unknown]")) || base.n == 0) {
		text_str(&names->text, STR("[unknown"));
	} else if (base.p[0] == '[' && base.p[base.n - 1] == ']') {
		text_str(&names->text, str_head(base, base.n - 1));
	} else {
		text_char(&names->text, '[');
		text_str(&names->text, base);
	}
	if (names->addresses && frame.address.n) {
		text_str(&names->text, STR(" <"));
		text_str(&names->text, frame.address);
		text_char(&names->text, '>');
	}
	text_char(&names->text, ']');
	names_put_line(names, frame.line);
	make_safe(names, from);
	put_kind(names, kind);
}

/* Returns the name of a Go symbol without the suffix for its calling convention. Go's linker appends the suffix if the
 * function exists in both conventions, as in "runtime.goexit.abi0". Go's own tables of names do not have it. */
static struct str names_without_abi(struct str string)
{
	static const struct str marks[] = { STR(".abi0"), STR(".abiinternal") };

	for (size_t i = 0; i < countof(marks); i++)
		if (string.n > marks[i].n && str_ends(string, marks[i]))
			return str_head(string, string.n - marks[i].n);
	return string;
}

/* Appends the name of the symbol `string` by the rules of its language (jit: true: of a runtime with JIT code), then
 * the source line and the suffix for its kind. */
static void put_resolved(struct names *names, struct str string, enum names_kind kind, bool jit, struct str line)
{
	size_t from = names->text.n;

	string = names_cut_kind(string, &kind);
	if (jit)
		put_jit(names, string, &kind);
	else if (kind == KIND_KERNEL)
		text_str(&names->text, string);
	else if (!rust_name(&names->text, string))
		cxx_name(&names->text, names_without_abi(string), true);
	names_put_line(names, line);
	make_safe(names, from);
	put_kind(names, kind);
}

/* Appends a name without applying the rules of a language, then the source line and the suffix for its kind. */
static void put_as_is(struct names *names, struct str string, enum names_kind kind, struct str line)
{
	size_t from = names->text.n;

	text_str(&names->text, string);
	names_put_line(names, line);
	make_safe(names, from);
	put_kind(names, kind);
}

/* Maximum number of '->' at which one symbol is split; the text after the last split stays one name. JVMs inline at
 * most 15 deep. */
#define INLINED_MAX 100

/* Returns the index of "->" in a symbol like "outer->inner"; -1 if there is none. perf-map-agent with unfolding writes
 * such symbols for inlined calls. To be called for JIT code only, whose symbols contain no C++ operators. */
static ptrdiff_t find_arrow(struct str string)
{
	ptrdiff_t i = str_find_str(string, STR("->"));

	return i > 0 && (size_t)i + 2 < string.n ? i : -1;
}

struct str names_make(struct names *names, struct names_frame frame)
{
	enum names_kind kind = KIND_NATIVE;
	unsigned parts = 0;
	bool jit;

	frame.dso = clean_dso(frame.dso);
	jit = frame.interpreted || frame.java || frame.compiled || names_is_jit(frame.dso);
	if (frame.interpreted)
		kind = KIND_INTERPRETED;
	else if (frame.inlined)
		kind = KIND_INLINED;
	else if (jit && !frame.java)
		kind = KIND_JIT;
	else if (is_kernel(frame.dso))
		kind = KIND_KERNEL;
	names->text.n = 0;
	if (names_unresolved(frame)) {
		put_unresolved(names, frame, kind);
		put_dso(names, frame.dso);
		return text_view(&names->text);
	}
	if (frame.as_is) {
		put_as_is(names, frame.symbol, kind, frame.line);
		put_dso(names, frame.dso);
		return text_view(&names->text);
	}
	for (struct str string = frame.symbol; jit; parts++) {
		ptrdiff_t arrow = parts < INLINED_MAX ? find_arrow(string) : -1;

		if (arrow < 0) {
			frame.symbol = string;
			break;
		}
		put_resolved(names, str_head(string, (size_t)arrow), kind, true, (struct str){ 0 });
		put_dso(names, frame.dso);
		text_char(&names->text, '\n');
		string = str_from(string, (size_t)arrow + 2);
		kind = KIND_INLINED;
	}
	put_resolved(names, frame.symbol, kind, jit, frame.line);
	put_dso(names, frame.dso);
	return text_view(&names->text);
}

struct str names_comm(struct names *names, struct str comm, bool canonical)
{
	struct str all = comm;

	while (canonical && comm.n && (byte_is_digit(comm.p[comm.n - 1]) || memchr("-_:#/. ", comm.p[comm.n - 1], 7)))
		comm.n--;
	if (comm.n == 0)
		comm = all;
	names->text.n = 0;
	text_str(&names->text, comm);
	for (size_t i = 0; i < names->text.n; i++)
		if (names->text.p[i] == ' ' || names->text.p[i] == '\t')
			names->text.p[i] = '_';
	make_safe(names, 0);
	return text_view(&names->text);
}

void names_free(struct names *names)
{
	text_free(&names->text);
}
