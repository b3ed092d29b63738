/* SPDX-License-Identifier: Apache-2.0 */
#include "methods.h"

#include "javaclass.h"

#define MOST_SYMBOL 65535

/* Where a piece of the text will be: it may move as it grows. */
struct piece {
	size_t from, n;
};

static bool read_symbol(struct memory *m, const struct vmlayout *l, uint64_t symbol, struct text *t, struct piece *p)
{
	uint64_t n;

	if (symbol == 0 || !vmlayout_read(m, symbol, l->symbol_length, &n) || n > MOST_SYMBOL)
		return false;
	*p = (struct piece){ t->n, (size_t)n };
	text_room(t, (size_t)n);
	if (!memory_read(m, symbol + l->symbol_body, t->p + t->n, (size_t)n))
		return false;
	t->n += (size_t)n;
	return true;
}

/* Bit 0 of an entry tells something else in some JDKs. */
static bool read_entry(struct memory *m, const struct vmlayout *l, uint64_t pool, uint64_t length, uint64_t index,
		       struct text *t, struct piece *p)
{
	uint64_t symbol;

	return index && index < length && memory_pointer(m, pool + l->pool_header + 8 * index, &symbol) &&
	       read_symbol(m, l, symbol & ~(uint64_t)1, t, p);
}

bool methods_read(struct memory *m, const struct vmlayout *l, uint64_t method, struct text *t, struct method_name *name)
{
	uint64_t of, pool, length, index, signature, holder, class_name;
	struct piece c, n, s;

	if (!vmlayout_read(m, method, l->const_method, &of) || of == 0 || !vmlayout_read(m, of, l->constants, &pool) || pool == 0 ||
	    !vmlayout_read(m, of, l->name_index, &index) || !vmlayout_read(m, of, l->signature_index, &signature) ||
	    !vmlayout_read(m, pool, l->pool_length, &length) || !vmlayout_read(m, pool, l->pool_holder, &holder) || holder == 0 ||
	    !vmlayout_read(m, holder, l->class_name, &class_name))
		return false;
	if (!read_symbol(m, l, class_name, t, &c) || !read_entry(m, l, pool, length, index, t, &n) ||
	    !read_entry(m, l, pool, length, signature, t, &s) || c.n == 0 || n.n == 0)
		return false;
	*name = (struct method_name){ { t->p + c.from, c.n }, { t->p + n.from, n.n }, { t->p + s.from, s.n } };
	return true;
}

/* ---- spelling -------------------------------------------------------------------------------------------------- */

static void put_dotted(struct text *t, struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		text_char(t, s.p[i] == '/' ? '.' : s.p[i]);
}

/* The type that a signature begins with; false: there is none. What does not parse is written as it is. */
static bool put_type(struct text *t, struct str *s)
{
	static const char *const basic[26] = { ['B' - 'A'] = "byte", ['C' - 'A'] = "char", ['D' - 'A'] = "double", ['F' - 'A'] = "float",
					       ['I' - 'A'] = "int", ['J' - 'A'] = "long", ['S' - 'A'] = "short", ['V' - 'A'] = "void",
					       ['Z' - 'A'] = "boolean" };
	size_t dimensions = 0;
	char c;

	while (dimensions < s->n && s->p[dimensions] == '[')
		dimensions++;
	if (dimensions == s->n)
		return false;
	*s = str_from(*s, dimensions);
	c = s->p[0];
	*s = str_from(*s, 1);
	if (c == 'L') {
		put_dotted(t, str_cut(s, ';'));
	} else if (c >= 'A' && c <= 'Z' && basic[c - 'A']) {
		text_add(t, basic[c - 'A']);
	} else {
		return false;
	}
	while (dimensions--)
		text_add(t, "[]");
	return true;
}

static void put_hotspot(struct text *t, const struct method_name *name)
{
	struct str arguments = name->signature, result;
	ptrdiff_t end = str_rfind(arguments, ')'), plus = str_rfind(name->class_name, '+');
	bool first = true;

	result = end < 0 ? (struct str){ 0 } : str_from(arguments, (size_t)end + 1);
	arguments = end < 1 ? (struct str){ 0 } : (struct str){ arguments.p + 1, (size_t)end - 1 };
	put_type(t, &result);
	text_char(t, ' ');
	if (plus > 0) { /* a hidden class */
		put_dotted(t, str_head(name->class_name, (size_t)plus));
		text_char(t, '/');
		put_dotted(t, str_from(name->class_name, (size_t)plus + 1));
	} else {
		put_dotted(t, name->class_name);
	}
	text_char(t, '.');
	text_str(t, name->method);
	text_char(t, '(');
	for (; arguments.n; first = false) {
		size_t before = t->n;

		if (!first)
			text_add(t, ", ");
		if (!put_type(t, &arguments)) {
			t->n = before;
			break;
		}
	}
	text_char(t, ')');
}

void methods_spell(struct text *t, const struct method_name *name, enum method_style style)
{
	if (style == METHOD_HOTSPOT) {
		put_hotspot(t, name);
	} else if (style == METHOD_FLAMEGRAPH) {
		text_char(t, 'L');
		text_str(t, name->class_name);
		text_add(t, ";::");
		text_str(t, name->method);
	} else {
		java_class(t, name->class_name);
		text_char(t, '.');
		text_str(t, name->method);
	}
}

void methods_respell(struct text *t, struct str hotspot, enum method_style style)
{
	struct str head = hotspot, arguments = hotspot;
	ptrdiff_t blank, dot;

	if (style != METHOD_HOTSPOT) {
		head = str_cut(&arguments, '(');
		blank = str_rfind(head, ' ');
		head = str_from(head, (size_t)(blank + 1));
	}
	dot = style == METHOD_HOTSPOT ? -1 : str_rfind(head, '.');
	if (dot <= 0) {
		text_str(t, hotspot);
		return;
	}
	if (style == METHOD_FLAMEGRAPH)
		text_char(t, 'L');
	java_class(t, str_head(head, (size_t)dot));
	text_add(t, style == METHOD_FLAMEGRAPH ? ";::" : ".");
	text_str(t, str_from(head, (size_t)dot + 1));
}
