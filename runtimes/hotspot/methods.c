/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/hotspot/methods.h"

#include "common/arena.h"
#include "common/javaclass.h"

#include <stdlib.h>

#define SYMBOL_MAX 65535
#define FIRST_BYTES 64u       /* of a symbol: nearly all are shorter */
#define LONGER_MAX (8u << 20) /* bytes of those that are not, of methods that are read together */
#define ROW_MAX 512u          /* of an object whose first bytes are read */

/* Where a piece of the text will be: it may move as it grows. */
struct blob {
	size_t from, n;
};

static bool read_symbol(struct memory *m, const struct vmlayout *l, uint64_t symbol, struct text *t, struct blob *p)
{
	uint64_t n;

	if (symbol == 0 || !vmlayout_read(m, symbol, l->symbol_length, &n) || n > SYMBOL_MAX)
		return false;
	*p = (struct blob){ t->n, (size_t)n };
	text_reserve(t, (size_t)n + 1); /* an empty one, too, has a place */
	if (!memory_read(m, symbol + l->symbol_body, t->p + t->n, (size_t)n))
		return false;
	t->n += (size_t)n;
	return true;
}

/* Bit 0 of an entry tells something else in some JDKs. */
static bool read_entry(struct memory *m, const struct vmlayout *l, uint64_t pool, uint64_t length, uint64_t index,
		       struct text *t, struct blob *p)
{
	uint64_t symbol;

	return index && index < length && memory_pointer(m, pool + l->pool_header + 8 * index, &symbol) &&
	       read_symbol(m, l, symbol & ~(uint64_t)1, t, p);
}

bool methods_read(struct memory *m, const struct vmlayout *l, uint64_t method, struct text *t, struct method_name *name)
{
	uint64_t of, pool, length, index, signature, holder, class_name;
	struct blob c, n, s;

	if (!vmlayout_read(m, method, l->const_method, &of) || of == 0 || !vmlayout_read(m, of, l->constants, &pool) ||
	    pool == 0 || !vmlayout_read(m, of, l->name_index, &index) ||
	    !vmlayout_read(m, of, l->signature_index, &signature) || !vmlayout_read(m, pool, l->pool_length, &length) ||
	    !vmlayout_read(m, pool, l->pool_holder, &holder) || holder == 0 ||
	    !vmlayout_read(m, holder, l->class_name, &class_name))
		return false;
	if (!read_symbol(m, l, class_name, t, &c) || !read_entry(m, l, pool, length, index, t, &n) ||
	    !read_entry(m, l, pool, length, signature, t, &s) || c.n == 0 || n.n == 0)
		return false;
	*name = (struct method_name){ { t->p + c.from, c.n }, { t->p + n.from, n.n }, { t->p + s.from, s.n } };
	return true;
}

/* ---- many ------------------------------------------------------------------------------------------------------ */

/* A sweep on its way: pieces that are wanted, and where they come to. */
struct sweep {
	struct memory *m;
	const struct vmlayout *l;
	struct memory_want *want; /* room for three of each method */
	bool gone;
};

static void *methods_rows(size_t size, size_t n)
{
	return mem_grow(NULL, size, n + 1);
}

/* Sorts the first n of what is wanted and leaves each address once; number: which one that of piece `at` is now. */
static size_t each_once(struct sweep *s, size_t n, uint32_t *number)
{
	size_t saved = 0;

	memory_sort(s->m, s->want, n);
	for (size_t i = 0; i < n; i++) {
		struct memory_want w = s->want[i];

		if (saved == 0 || s->want[saved - 1].address != w.address)
			s->want[saved++] = w;
		number[w.at] = (uint32_t)saved - 1;
	}
	return saved;
}

/* `size` bytes of each of the first n, in rows. */
static char *read_rows(struct sweep *s, size_t n, uint32_t offset, uint32_t size)
{
	char *to = methods_rows(size, n);

	for (size_t i = 0; i < n; i++)
		s->want[i] = (struct memory_want){ s->want[i].address + offset, size, (uint32_t)i * size };
	s->gone = !memory_gather(s->m, s->want, n, to) || s->gone;
	return to;
}

static uint32_t methods_end_of(struct vmlayout_field f, uint32_t least)
{
	return f.at + f.width > least ? f.at + f.width : least;
}

/* Which symbols a method is called by: of `symbol`, or NONE. */
struct symbols_of {
	uint32_t class_name, method, signature;
};

#define NONE UINT32_MAX

/* The symbols that are wanted become their bytes. */
static struct str *methods_read_symbols(struct sweep *s, size_t n, struct methods *names)
{
	const struct vmlayout *l = s->l;
	struct str *symbol = methods_rows(sizeof(*symbol), n);
	uint64_t *at = methods_rows(sizeof(*at), n);
	uint32_t total = 0;
	size_t nlonger = 0;

	for (size_t i = 0; i < n; i++)
		at[i] = s->want[i].address;
	names->symbols = read_rows(s, n, 0, FIRST_BYTES);
	for (size_t i = 0; i < n; i++) {
		const char *bytes = names->symbols + i * FIRST_BYTES;
		uint64_t length = vmlayout_get(l->symbol_length, bytes);

		symbol[i] = (struct str){ bytes + l->symbol_body, (size_t)length };
		if (length && l->symbol_body + length <= FIRST_BYTES)
			continue;
		symbol[i].n = 0; /* it is longer, or too near to the end of what is mapped */
		if (at[i] == 0 || !vmlayout_read(s->m, at[i], l->symbol_length, &length) || length > SYMBOL_MAX ||
		    length > LONGER_MAX - total)
			continue;
		symbol[i] = (struct str){ NULL, (size_t)length };
		s->want[nlonger++] = (struct memory_want){ at[i] + l->symbol_body, (uint32_t)length, total };
		at[i] = total;
		total += (uint32_t)length;
	}
	names->longer = methods_rows(1, total);
	s->gone = !memory_gather(s->m, s->want, nlonger, names->longer) || s->gone;
	for (size_t i = 0; i < n; i++)
		if (!symbol[i].p)
			symbol[i].p = names->longer + at[i];
	free(at);
	return symbol;
}

/* What ConstMethods, as rows, lead to: their constant pools, each once, and the classes that these belong to. */
struct pools {
	uint32_t *of;      /* by ConstMethod: which pool */
	uint64_t *address; /* of pools */
	char *row;         /* their first bytes */
	uint32_t bytes;    /* of a row */
	size_t n;
	uint32_t *holder; /* by pool: which class */
	char *class_name; /* by class: address of its name's symbol */
	size_t nholders;
};

static struct pools read_pools(struct sweep *s, size_t n, const char *consts, uint32_t const_bytes)
{
	const struct vmlayout *l = s->l;
	struct pools p = { .of = methods_rows(sizeof(*p.of), n),
			   .bytes = methods_end_of(l->pool_length, methods_end_of(l->pool_holder, 0)) };

	for (size_t i = 0; i < n; i++)
		s->want[i] =
			(struct memory_want){ vmlayout_get(l->constants, consts + i * const_bytes), 0, (uint32_t)i };
	p.n = each_once(s, n, p.of);
	p.address = methods_rows(sizeof(*p.address), p.n);
	for (size_t i = 0; i < p.n; i++)
		p.address[i] = s->want[i].address;
	p.row = read_rows(s, p.n, 0, p.bytes);
	p.holder = methods_rows(sizeof(*p.holder), p.n);
	for (size_t i = 0; i < p.n; i++)
		s->want[i] = (struct memory_want){ vmlayout_get(l->pool_holder, p.row + i * p.bytes), 0, (uint32_t)i };
	p.nholders = each_once(s, p.n, p.holder);
	p.class_name = read_rows(s, p.nholders, l->class_name.at, 8);
	return p;
}

static void free_pools(struct pools *p)
{
	free(p->of);
	free(p->address);
	free(p->row);
	free(p->holder);
	free(p->class_name);
}

/* Of each ConstMethod the entries of its name and its signature, addresses of symbols; 0: makes no sense. Bit 0 of one
 * tells something else in some JDKs. */
static uint64_t *methods_read_entries(struct sweep *s, size_t n, const char *consts, uint32_t const_bytes,
				      const struct pools *p, bool signatures)
{
	const struct vmlayout *l = s->l;
	uint64_t *entry = methods_rows(2 * sizeof(*entry), n);

	for (size_t i = 0; i < n; i++) {
		uint64_t first = p->address[p->of[i]] + l->pool_header;
		const char *c = consts + i * const_bytes;

		s->want[i] = (struct memory_want){ first + 8 * vmlayout_get(l->name_index, c), 8, (uint32_t)i * 16 };
		if (signatures)
			s->want[n + i] = (struct memory_want){ first + 8 * vmlayout_get(l->signature_index, c), 8,
							       (uint32_t)i * 16 + 8 };
	}
	s->gone = !memory_gather(s->m, s->want, signatures ? 2 * n : n, entry) || s->gone;
	for (size_t i = 0; i < n; i++) {
		const char *c = consts + i * const_bytes;
		uint64_t length = vmlayout_get(l->pool_length, p->row + p->of[i] * p->bytes);
		uint64_t name = vmlayout_get(l->name_index, c), signature = vmlayout_get(l->signature_index, c);
		bool sound = name && name < length && signature && signature < length;

		entry[2 * i] = sound ? entry[2 * i] & ~(uint64_t)1 : 0;
		entry[2 * i + 1] = signatures ? entry[2 * i + 1] & ~(uint64_t)1 : 0;
	}
	return entry;
}

/* ConstMethods, as rows, to the symbols of each, which are wanted then, each once. */
static struct symbols_of *find_symbols(struct sweep *s, size_t n, const char *consts, uint32_t const_bytes,
				       bool signatures, size_t *nsymbols)
{
	struct symbols_of *of = methods_rows(sizeof(*of), n);
	struct pools p = read_pools(s, n, consts, const_bytes);
	uint64_t *entry = methods_read_entries(s, n, consts, const_bytes, &p, signatures);
	size_t k = 0, each = signatures ? 2 : 1;
	uint32_t *number = methods_rows(sizeof(*number), p.nholders + each * n);

	for (; k < p.nholders; k++) {
		uint64_t symbol;

		memcpy(&symbol, p.class_name + 8 * k, 8);
		s->want[k] = (struct memory_want){ symbol, 0, (uint32_t)k };
	}
	for (size_t i = 0; i < n; i++)
		for (size_t what = 0; what < each; what++, k++)
			s->want[k] = (struct memory_want){ entry[2 * i + what], 0, (uint32_t)k };
	*nsymbols = each_once(s, k, number);
	for (size_t i = 0; i < n; i++) {
		const uint32_t *own = number + p.nholders + each * i;

		of[i] = (struct symbols_of){ number[p.holder[p.of[i]]], own[0], signatures ? own[1] : NONE };
	}
	free_pools(&p);
	free(entry);
	free(number);
	return of;
}

bool methods_gather(struct methods *names, struct memory *m, const struct vmlayout *l, const uint64_t *method, size_t n,
		    bool signatures)
{
	struct sweep s = { .m = m, .l = l };
	uint32_t *number, const_bytes = methods_end_of(
				  l->constants, methods_end_of(l->name_index, methods_end_of(l->signature_index, 0)));
	struct symbols_of *of;
	struct str *symbol;
	size_t nsymbols;
	char *row, *consts;

	methods_free(names);
	if (const_bytes > ROW_MAX || methods_end_of(l->pool_length, methods_end_of(l->pool_holder, 0)) > ROW_MAX ||
	    methods_end_of(l->symbol_length, l->symbol_body) > FIRST_BYTES)
		return true; /* no JVM is so: one by one, then */
	number = methods_rows(sizeof(*number), n);
	s.want = methods_rows(3 * sizeof(*s.want), n);
	for (size_t i = 0; i < n; i++)
		s.want[i] = (struct memory_want){ method[i], 0, (uint32_t)i };
	names->n = n = each_once(&s, n, number);
	names->method = methods_rows(sizeof(*names->method), n);
	names->name = methods_rows(sizeof(*names->name), n);
	for (size_t i = 0; i < n; i++)
		names->method[i] = s.want[i].address;
	row = read_rows(&s, n, l->const_method.at, 8);
	for (size_t i = 0; i < n; i++)
		memcpy(&s.want[i].address, row + 8 * i, 8);
	free(row);
	consts = read_rows(&s, n, 0,
			   const_bytes); /* they stand in the order of their methods, whatever that of memory is */
	of = find_symbols(&s, n, consts, const_bytes, signatures, &nsymbols);
	symbol = methods_read_symbols(&s, nsymbols, names);
	for (size_t i = 0; i < n; i++) {
		struct str class_name = symbol[of[i].class_name], own = symbol[of[i].method];

		names->name[i] = (struct method_name){ 0 };
		if (class_name.n && own.n)
			names->name[i] =
				(struct method_name){ class_name, own,
						      signatures ? symbol[of[i].signature] : (struct str){ 0 } };
	}
	free(s.want);
	free(number);
	free(of);
	free(symbol);
	free(consts);
	if (s.gone)
		methods_free(names);
	return !s.gone;
}

const struct method_name *methods_find(const struct methods *s, uint64_t method)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->method[middle] < method)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->n && s->method[low] == method ? &s->name[low] : NULL;
}

void methods_free(struct methods *s)
{
	free(s->method);
	free(s->name);
	free(s->symbols);
	free(s->longer);
	*s = (struct methods){ 0 };
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
	static const char *const basic[26] = { ['B' - 'A'] = "byte",  ['C' - 'A'] = "char", ['D' - 'A'] = "double",
					       ['F' - 'A'] = "float", ['I' - 'A'] = "int",  ['J' - 'A'] = "long",
					       ['S' - 'A'] = "short", ['V' - 'A'] = "void", ['Z' - 'A'] = "boolean" };
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
