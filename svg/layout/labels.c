/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/layout/labels.h"

#include "common/visible.h"
#include "svg/layout/codekind.h"

#define ELLIPSIS "\xe2\x80\xa6"

/* ---- width of a string in columns --------------------------------------------------------------------------- */

static size_t columns_of(uint32_t u)
{
	static const struct {
		uint32_t first, last, columns;
	} range[] = {
		{ 0x300, 0x36f, 0 },     /* combining marks */
		{ 0x1100, 0x115f, 2 },   /* Hangul Jamo */
		{ 0x200d, 0x200d, 0 },   /* zero width joiner */
		{ 0x2e80, 0xa4cf, 2 },   /* CJK */
		{ 0xac00, 0xd7a3, 2 },   /* Hangul */
		{ 0xf900, 0xfaff, 2 },   /* CJK compatibility */
		{ 0xfe00, 0xfe0f, 0 },   /* variation selectors */
		{ 0xfe30, 0xfe6f, 2 },   /* CJK forms */
		{ 0xff00, 0xff60, 2 },   /* full-width forms */
		{ 0x1f300, 0x1faff, 2 }, /* pictographs, emoji */
		{ 0x20000, 0x3fffd, 2 }, /* CJK */
	};

	for (size_t i = 0; i < countof(range) && u >= range[i].first; i++) {
		if (u <= range[i].last)
			return range[i].columns;
	}
	return 1;
}

/* Returns the length in bytes of the longest prefix of `string` that has at most max columns. */
static size_t head_bytes(struct str string, size_t max)
{
	size_t at = 0, columns = 0;

	while (at < string.n) {
		uint32_t u = 0;
		size_t n = visible_point(str_from(string, at), &u);
		columns += columns_of(u);
		if (columns > max)
			break;
		at += n ? n : 1;
	}
	return at;
}

size_t label_columns(struct str string)
{
	size_t columns = 0;

	while (string.n) {
		uint32_t u = 0;
		size_t n = visible_point(string, &u);
		columns += columns_of(u);
		string = str_from(string, n ? n : 1);
	}
	return columns;
}

static bool labels_fits(struct str string, size_t max)
{
	/* a name has at most as many columns as bytes, so for most names the columns need not be counted */
	return string.n <= max || (string.n <= max * 4 && label_columns(string) <= max);
}

static void put_head(struct text *text, struct str string, size_t max)
{
	text_str(text, str_head(string, head_bytes(string, max - 1)));
	text_add(text, ELLIPSIS);
}

static void put_suffix(struct text *text, struct str string, size_t max)
{
	size_t skip = 0, columns = label_columns(string);

	while (columns > max - 1) {
		uint32_t u = 0;
		size_t n = visible_point(str_from(string, skip), &u);
		columns -= columns_of(u);
		skip += n ? n : 1;
	}
	text_add(text, ELLIPSIS);
	text_str(text, str_from(string, skip));
}

/* ---- parts of a name ---------------------------------------------------------------------------------------- */

/* The parts of a name: package path, class or namespaces (`owner`), method. */
struct parts {
	struct str all; /* name without parameters; owner and method are offsets in it */
	/* offset of the class, or of another part before the method; equal to `method` if there is none */
	size_t owner;
	size_t method;
};

/* Returns true if the < or > at offset i is part of an operator's name or of an arrow, not a bracket; false if it is a
 * bracket. */
static bool is_operator_sign(struct str string, size_t i)
{
	static const struct str word = STR("operator");
	size_t from = i;

	if (string.p[i] == '>' && i > 0 && string.p[i - 1] == '-')
		return true;
	while (from > 0 && strchr("<>=-", string.p[from - 1]))
		from--;
	return from >= word.n && str_eq((struct str){ string.p + from - word.n, word.n }, word);
}

static bool keeps_parenthesis(struct str string, size_t i)
{
	return str_starts(str_from(string, i), STR("(anonymous")) || str_starts(str_from(string, i), STR("()")) ||
	       str_starts(str_from(string, i), STR("(*"));
}

/* Appends a C++ name without template arguments and parameters: "a::f" for "a::f<int>(char*) const". */
static void put_plain_cpp(struct text *text, struct str string)
{
	size_t depth = 0;

	for (size_t i = 0; i < string.n; i++) {
		char byte = string.p[i];
		bool bracket = (byte == '<' || byte == '>') && !is_operator_sign(string, i);
		if (bracket && byte == '<' && (i > 0 || depth))
			depth++;
		else if (bracket && byte == '>' && depth)
			depth--;
		else if (depth == 0 && byte == '(' && i > 0 && !keeps_parenthesis(string, i))
			break;
		else if (depth == 0)
			text_char(text, byte);
	}
}

/* Returns the offset of the last part of string[0, end): after its last "::" outside of brackets; 0 if there is
 * none. */
static size_t last_scope(struct str string, size_t end)
{
	size_t depth = 0;

	for (size_t i = end; i-- > 0;) {
		char byte = string.p[i];
		if (byte == '>' || byte == ')' || byte == '}')
			depth++;
		else if ((byte == '<' || byte == '(' || byte == '{') && depth)
			depth--;
		else if (byte == ':' && depth == 0 && i > 0 && string.p[i - 1] == ':')
			return i + 1;
	}
	return 0;
}

/* Splits a name with a package path or class, such as java/util/HashMap.get, Lorg/vertx/Foo;::bar, org/netty/Foo:.bar,
 * github.com/a/b.(*T).Run, java.lang.Thread.run. Returns false for other names, such as foo.cold, libc.so.6,
 * [libc.so.6]. */
static bool split_path(struct str string, struct parts *parts)
{
	size_t end = string.n;
	ptrdiff_t open = str_find(string, '(');

	if (string.p[0] == '[' || str_find(string, ' ') >= 0)
		return false;
	if (open > 0 && string.p[open - 1] != '.')
		end = (size_t)open;
	size_t owner = (size_t)(str_rfind(str_head(string, end), '/') + 1), method = end;
	while (method > owner && string.p[method - 1] != '.' && string.p[method - 1] != ':')
		method--;
	if (method > owner && method < string.n && string.p[method] >= '0' && string.p[method] <= '9')
		method = owner;
	if (owner == 0 && method > 0) {
		owner = method - 1;
		while (owner > 0 && string.p[owner - 1] != '.')
			owner--;
		if (string.p[owner] < 'A' || string.p[owner] > 'Z')
			return false;
	}
	*parts = (struct parts){ str_head(string, end), owner, method };
	return method > 0 && owner < end;
}

/* ---- forms of a label, longest first ------------------------------------------------------------------------ */

/* Appends the name with packages as initials, o.s.w.Class.method. Returns false, with *text unchanged, if the result
 * would be longer than max columns. */
static bool put_initials(struct text *text, const struct parts *parts, size_t max)
{
	size_t start = text->n;
	bool first = true;

	for (size_t i = 0; i < parts->owner; i++) {
		char byte = parts->all.p[i];
		if (byte == '/' || byte == '.') {
			first = true;
		} else if (first && !(i == 0 && byte == 'L' && parts->all.n > 1 && parts->all.p[1] != '/')) {
			if ((unsigned char)byte >= 0x80)
				break;
			text_char(text, byte);
			text_char(text, '.');
			first = false;
		}
	}
	text_str(text, str_from(parts->all, parts->owner));
	if (parts->owner && labels_fits((struct str){ text->p + start, text->n - start }, max))
		return true;
	text->n = start;
	return false;
}

/* Returns true if the method and at least half of the class, with an ellipsis, fit into max columns. A shorter part of
 * a class is meaningless (false: the label has only the method). */
static bool shows_half_class(const struct parts *parts, size_t max)
{
	size_t end = parts->method;

	while (end > parts->owner && strchr(".:;#", parts->all.p[end - 1]))
		end--;
	size_t class = label_columns(str_from(str_head(parts->all, end), parts->owner));
	size_t after = label_columns(str_from(parts->all, end)) + 1;
	return class && after < max && 2 * (max - after) >= class;
}

static void fit_path(struct text *text, const struct parts *parts, size_t max)
{
	struct str from_owner = str_from(parts->all, parts->owner);
	struct str method = str_from(parts->all, parts->method);

	if (put_initials(text, parts, max))
		return;
	if (labels_fits(from_owner, max))
		text_str(text, from_owner);
	else if (shows_half_class(parts, max))
		put_suffix(text, from_owner, max);
	else if (labels_fits(method, max))
		text_str(text, method);
	else
		put_head(text, method, max);
}

static void fit_scopes(struct text *text, struct str plain, size_t max)
{
	size_t from = last_scope(plain, plain.n);
	struct str shortest = str_from(plain, from);

	if (!labels_fits(shortest, max)) {
		put_head(text, shortest, max);
		return;
	}
	/* add namespaces from the innermost to the outermost, as long as they fit */
	while (from >= 2) {
		size_t outer = last_scope(plain, from - 2);
		if (!labels_fits(str_from(plain, outer), max))
			break;
		from = outer;
	}
	text_str(text, str_from(plain, from));
}

/* Returns the name of the function without the tag of its code kind: "parse" for "LazyCompile:*parse /srv/a.js:12",
 * "Call" for "Builtins_Call". */
static struct str without_tag(struct str string)
{
	static const struct str tag[] = {
		STR("LazyCompile:"), STR("Function:"), STR("Script:"),   STR("Eval:"),
		STR("JS:"),          STR("Builtin:"),  STR("Builtins_"), STR("py::"),
	};
	size_t i = 0;

	while (i < countof(tag) && !str_starts(string, tag[i]))
		i++;
	if (i == countof(tag))
		return string;
	struct str rest = str_from(string, tag[i].n);
	while (rest.n && strchr("*~^+", rest.p[0]))
		rest = str_from(rest, 1);
	struct str file = rest, function = str_cut(&file, ' ');
	return function.n ? function : rest.n ? rest : string;
}

static void fit_smart(struct text *text, struct str name, size_t max)
{
	struct parts parts;
	struct text plain = { 0 };

	name = code_without_place(without_tag(name));
	if (labels_fits(name, max)) {
		text_str(text, name);
		return;
	}
	if (str_find_str(name, STR("::")) >= 0 && str_find_str(name, STR(";::")) < 0) {
		put_plain_cpp(&plain, name);
		fit_scopes(text, text_view(&plain), max);
	} else if (split_path(name, &parts)) {
		fit_path(text, &parts, max);
	} else {
		put_plain_cpp(&plain, name);
		if (plain.n && labels_fits(text_view(&plain), max))
			text_str(text, text_view(&plain));
		else
			put_head(text, name, max);
	}
	text_free(&plain);
}

/* Appends a Python name shortened to max columns: omits its first parts, then truncates the last part at its end. */
static void fit_python(struct text *text, struct str name, size_t max)
{
	static const struct str locals = STR("<locals>.");
	ptrdiff_t dot;

	name = code_without_place(without_tag(name));
	while (!labels_fits(name, max) && (dot = str_find(name, '.')) >= 0 && (size_t)dot + 1 < name.n) {
		name = str_from(name, (size_t)dot + 1);
		if (str_starts(name, locals) && name.n > locals.n)
			name = str_from(name, locals.n);
	}
	if (labels_fits(name, max))
		text_str(text, name);
	else
		put_head(text, name, max);
}

void label_fit(struct text *text, struct str name, size_t max, enum label_cut cut)
{
	if (max < LABEL_LEAST)
		return;
	if (labels_fits(name, max))
		text_str(text, name);
	else if (cut == LABEL_SMART)
		fit_smart(text, name, max);
	else if (cut == LABEL_PYTHON)
		fit_python(text, name, max);
	else if (cut == LABEL_LEFT)
		put_suffix(text, name, max);
	else
		put_head(text, name, max);
}
