/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/hotspot/methods.h"

#include "common/arena.h"
#include "common/javaclass.h"

#include <stdlib.h>

#define SYMBOL_MAX 65535
/* number of bytes of each symbol that the first sweep reads; nearly all symbols are shorter */
#define FIRST_BYTES 64u
#define LONGER_MAX (8u << 20) /* limit for the bytes of all longer symbols of one methods_gather */
#define DIMENSIONS_MAX 255u   /* limit of the class file format for the dimensions of an array */
#define ROW_MAX 512u          /* limit for the number of first bytes of an object that are read */

/* Position of a string in a text: offset and length. A pointer would become invalid when the text grows. */
struct text_part {
	size_t from, n;
};

static bool read_symbol(struct memory *memory, const struct vmlayout *vmlayout, uint64_t symbol, struct text *text,
			struct text_part *part)
{
	uint64_t n;

	if (symbol == 0 || !vmlayout_read(memory, symbol, vmlayout->symbol_length, &n) || n > SYMBOL_MAX)
		return false;
	*part = (struct text_part){ text->n, (size_t)n };
	/* One more byte than needed, so that text->p is not NULL for an empty symbol. */
	text_reserve(text, (size_t)n + 1);
	if (!memory_read(memory, symbol + vmlayout->symbol_body, text->p + text->n, (size_t)n))
		return false;
	text->n += (size_t)n;
	return true;
}

/* Reads the symbol to which entry `index` of the constant pool points: appends its characters to text, and sets *part
 * to their position. Bit 0 of an entry is a flag in some JDKs. Returns false if the index or the symbol is invalid. */
static bool read_entry(struct memory *memory, const struct vmlayout *vmlayout, uint64_t pool, uint64_t length,
		       uint64_t index, struct text *text, struct text_part *part)
{
	uint64_t symbol;

	return index && index < length && memory_pointer(memory, pool + vmlayout->pool_header + 8 * index, &symbol) &&
	       read_symbol(memory, vmlayout, symbol & ~(uint64_t)1, text, part);
}

bool methods_read(struct memory *memory, const struct vmlayout *vmlayout, uint64_t method, struct text *text,
		  struct method_name *name)
{
	uint64_t of, pool, length, index, signature, holder, class_name;
	struct text_part class, n, s;

	if (!vmlayout_read(memory, method, vmlayout->const_method, &of) || of == 0 ||
	    !vmlayout_read(memory, of, vmlayout->constants, &pool) || pool == 0 ||
	    !vmlayout_read(memory, of, vmlayout->name_index, &index) ||
	    !vmlayout_read(memory, of, vmlayout->signature_index, &signature) ||
	    !vmlayout_read(memory, pool, vmlayout->pool_length, &length) ||
	    !vmlayout_read(memory, pool, vmlayout->pool_holder, &holder) || holder == 0 ||
	    !vmlayout_read(memory, holder, vmlayout->class_name, &class_name))
		return false;
	if (!read_symbol(memory, vmlayout, class_name, text, &class) ||
	    !read_entry(memory, vmlayout, pool, length, index, text, &n) ||
	    !read_entry(memory, vmlayout, pool, length, signature, text, &s) || class.n == 0 || n.n == 0)
		return false;
	*name = (struct method_name){ { text->p + class.from, class.n },
				      { text->p + n.from, n.n },
				      { text->p + s.from, s.n } };
	return true;
}

bool methods_read_class(struct memory *memory, const struct vmlayout *vmlayout, uint64_t klass, struct text *text)
{
	uint64_t symbol;
	struct text_part part;

	return klass && vmlayout_read(memory, klass, vmlayout->class_name, &symbol) &&
	       read_symbol(memory, vmlayout, symbol, text, &part) && part.n;
}

/* ---- many methods ------------------------------------------------------------------------------------------------ */

/* State of a sweep over many methods. Each step of a sweep reads one kind of object for all methods, as rows of equal
 * length. */
struct sweep {
	struct memory *m;
	const struct vmlayout *l;
	struct memory_want *want; /* requests of the current step; has space for three requests for each method */
	bool gone;
};

static void *methods_rows(size_t size, size_t n)
{
	return mem_grow(NULL, size, n + 1);
}

/* Sorts sweep->want[0..n) by address, drops duplicates, and returns the remaining number. Sets number[want.at] of
 * each original request to the new position of its address. */
static size_t each_once(struct sweep *sweep, size_t n, uint32_t *number)
{
	size_t retained = 0;

	memory_sort(sweep->m, sweep->want, n);
	for (size_t i = 0; i < n; i++) {
		struct memory_want want = sweep->want[i];

		if (retained == 0 || sweep->want[retained - 1].address != want.address)
			sweep->want[retained++] = want;
		number[want.at] = (uint32_t)retained - 1;
	}
	return retained;
}

/* Reads `size` bytes at `offset` of each of the first n requested objects, as rows. The caller frees the result. */
static char *read_rows(struct sweep *sweep, size_t n, uint32_t offset, uint32_t size)
{
	char *to = methods_rows(size, n);

	for (size_t i = 0; i < n; i++)
		sweep->want[i] = (struct memory_want){ sweep->want[i].address + offset, size, (uint32_t)i * size };
	sweep->gone = !memory_gather(sweep->m, sweep->want, n, to) || sweep->gone;
	return to;
}

static uint32_t methods_end_of(struct vmlayout_field field, uint32_t least)
{
	return field.at + field.width > least ? field.at + field.width : least;
}

/* Positions of a method's symbols in the array of all symbols; NONE if not requested. */
struct symbols_of {
	uint32_t class_name, method, signature;
};

#define NONE UINT32_MAX

/* Reads the bytes of the n requested symbols. names owns the bytes; the caller frees the returned array of strings. */
static struct str *methods_read_symbols(struct sweep *sweep, size_t n, struct methods *names)
{
	const struct vmlayout *vmlayout = sweep->l;
	struct str *symbol = methods_rows(sizeof(*symbol), n);
	uint64_t *at = methods_rows(sizeof(*at), n);
	uint32_t total = 0;
	size_t nlonger = 0;

	for (size_t i = 0; i < n; i++)
		at[i] = sweep->want[i].address;
	names->symbols = read_rows(sweep, n, 0, FIRST_BYTES);
	for (size_t i = 0; i < n; i++) {
		const char *bytes = names->symbols + i * FIRST_BYTES;
		uint64_t length = vmlayout_get(vmlayout->symbol_length, bytes);

		symbol[i] = (struct str){ bytes + vmlayout->symbol_body, (size_t)length };
		if (length && vmlayout->symbol_body + length <= FIRST_BYTES)
			continue;
		symbol[i].n = 0;
		/* The symbol is longer than the bytes read, or too near to the end of its mapping: it is read again,
		 * with its length. */
		if (at[i] == 0 || !vmlayout_read(sweep->m, at[i], vmlayout->symbol_length, &length) ||
		    length > SYMBOL_MAX || length > LONGER_MAX - total)
			continue;
		symbol[i] = (struct str){ NULL, (size_t)length };
		sweep->want[nlonger++] = (struct memory_want){ at[i] + vmlayout->symbol_body, (uint32_t)length, total };
		at[i] = total;
		total += (uint32_t)length;
	}
	names->longer = methods_rows(1, total);
	sweep->gone = !memory_gather(sweep->m, sweep->want, nlonger, names->longer) || sweep->gone;
	for (size_t i = 0; i < n; i++)
		if (!symbol[i].p)
			symbol[i].p = names->longer + at[i];
	free(at);
	return symbol;
}

/* The constant pools of all ConstMethods, each once, and the classes of these pools. */
struct pools {
	uint32_t *of;      /* for each ConstMethod: position of its pool */
	uint64_t *address; /* for each pool: its address */
	char *row;         /* for each pool: a row of its first bytes */
	uint32_t bytes;    /* number of bytes of each row */
	size_t n;
	uint32_t *holder; /* for each pool: position of its class */
	char *class_name; /* for each class: address of the symbol with its name */
	size_t nholders;
};

static struct pools read_pools(struct sweep *sweep, size_t n, const char *consts, uint32_t const_bytes)
{
	const struct vmlayout *vmlayout = sweep->l;
	struct pools pools = { .of = methods_rows(sizeof(*pools.of), n),
			       .bytes = methods_end_of(vmlayout->pool_length,
						       methods_end_of(vmlayout->pool_holder, 0)) };

	for (size_t i = 0; i < n; i++)
		sweep->want[i] = (struct memory_want){ vmlayout_get(vmlayout->constants, consts + i * const_bytes), 0,
						       (uint32_t)i };
	pools.n = each_once(sweep, n, pools.of);
	pools.address = methods_rows(sizeof(*pools.address), pools.n);
	for (size_t i = 0; i < pools.n; i++)
		pools.address[i] = sweep->want[i].address;
	pools.row = read_rows(sweep, pools.n, 0, pools.bytes);
	pools.holder = methods_rows(sizeof(*pools.holder), pools.n);
	for (size_t i = 0; i < pools.n; i++)
		sweep->want[i] = (struct memory_want){ vmlayout_get(vmlayout->pool_holder, pools.row + i * pools.bytes),
						       0, (uint32_t)i };
	pools.nholders = each_once(sweep, pools.n, pools.holder);
	pools.class_name = read_rows(sweep, pools.nholders, vmlayout->class_name.at, 8);
	return pools;
}

static void free_pools(struct pools *pools)
{
	free(pools->of);
	free(pools->address);
	free(pools->row);
	free(pools->holder);
	free(pools->class_name);
}

/* Returns two symbol addresses for each ConstMethod, from its constant pool: of the name (0 if an index is invalid) and
 * of the signature (0 if not requested). Clears bit 0 of the entries, which is a flag in some JDKs. consts: first bytes
 * of the ConstMethods, in rows of const_bytes. */
static uint64_t *methods_read_entries(struct sweep *sweep, size_t n, const char *consts, uint32_t const_bytes,
				      const struct pools *pools, bool signatures)
{
	const struct vmlayout *vmlayout = sweep->l;
	uint64_t *entry = methods_rows(2 * sizeof(*entry), n);

	for (size_t i = 0; i < n; i++) {
		uint64_t first = pools->address[pools->of[i]] + vmlayout->pool_header;
		const char *c = consts + i * const_bytes;

		sweep->want[i] =
			(struct memory_want){ first + 8 * vmlayout_get(vmlayout->name_index, c), 8, (uint32_t)i * 16 };
		if (signatures)
			sweep->want[n + i] =
				(struct memory_want){ first + 8 * vmlayout_get(vmlayout->signature_index, c), 8,
						      (uint32_t)i * 16 + 8 };
	}
	sweep->gone = !memory_gather(sweep->m, sweep->want, signatures ? 2 * n : n, entry) || sweep->gone;
	for (size_t i = 0; i < n; i++) {
		const char *c = consts + i * const_bytes;
		uint64_t length = vmlayout_get(vmlayout->pool_length, pools->row + pools->of[i] * pools->bytes);
		uint64_t name = vmlayout_get(vmlayout->name_index, c),
			 signature = vmlayout_get(vmlayout->signature_index, c);
		bool sound = name && name < length && signature && signature < length;

		entry[2 * i] = sound ? entry[2 * i] & ~(uint64_t)1 : 0;
		entry[2 * i + 1] = signatures ? entry[2 * i + 1] & ~(uint64_t)1 : 0;
	}
	return entry;
}

/* Requests the symbols of n ConstMethods (consts, in rows of const_bytes), without duplicates, and sets *nsymbols to
 * the number of symbols. Returns the positions of each method's symbols; the caller frees them. */
static struct symbols_of *find_symbols(struct sweep *sweep, size_t n, const char *consts, uint32_t const_bytes,
				       bool signatures, size_t *nsymbols)
{
	struct symbols_of *of = methods_rows(sizeof(*of), n);
	struct pools pools = read_pools(sweep, n, consts, const_bytes);
	uint64_t *entry = methods_read_entries(sweep, n, consts, const_bytes, &pools, signatures);
	size_t index = 0, each = signatures ? 2 : 1;
	uint32_t *number = methods_rows(sizeof(*number), pools.nholders + each * n);

	for (; index < pools.nholders; index++) {
		uint64_t symbol;

		memcpy(&symbol, pools.class_name + 8 * index, 8);
		sweep->want[index] = (struct memory_want){ symbol, 0, (uint32_t)index };
	}
	for (size_t i = 0; i < n; i++)
		for (size_t what = 0; what < each; what++, index++)
			sweep->want[index] = (struct memory_want){ entry[2 * i + what], 0, (uint32_t)index };
	*nsymbols = each_once(sweep, index, number);
	for (size_t i = 0; i < n; i++) {
		const uint32_t *own = number + pools.nholders + each * i;

		of[i] = (struct symbols_of){ number[pools.holder[pools.of[i]]], own[0], signatures ? own[1] : NONE };
	}
	free_pools(&pools);
	free(entry);
	free(number);
	return of;
}

bool methods_gather(struct methods *names, struct memory *memory, const struct vmlayout *vmlayout,
		    const uint64_t *method, size_t n, bool signatures)
{
	struct sweep sweep = { .m = memory, .l = vmlayout };
	uint32_t *number, const_bytes = methods_end_of(
				  vmlayout->constants,
				  methods_end_of(vmlayout->name_index, methods_end_of(vmlayout->signature_index, 0)));
	struct symbols_of *of;
	struct str *symbol;
	size_t nsymbols;
	char *row, *consts;

	methods_free(names);
	if (const_bytes > ROW_MAX ||
	    methods_end_of(vmlayout->pool_length, methods_end_of(vmlayout->pool_holder, 0)) > ROW_MAX ||
	    methods_end_of(vmlayout->symbol_length, vmlayout->symbol_body) > FIRST_BYTES)
		/* No JVM has such a layout. With an empty table, the caller reads names one by one. */
		return true;
	number = methods_rows(sizeof(*number), n);
	sweep.want = methods_rows(3 * sizeof(*sweep.want), n);
	for (size_t i = 0; i < n; i++)
		sweep.want[i] = (struct memory_want){ method[i], 0, (uint32_t)i };
	names->n = n = each_once(&sweep, n, number);
	names->method = methods_rows(sizeof(*names->method), n);
	names->name = methods_rows(sizeof(*names->name), n);
	for (size_t i = 0; i < n; i++)
		names->method[i] = sweep.want[i].address;
	row = read_rows(&sweep, n, vmlayout->const_method.at, 8);
	for (size_t i = 0; i < n; i++)
		memcpy(&sweep.want[i].address, row + 8 * i, 8);
	free(row);
	/* Row i belongs to method i: read_rows assigns rows in the order of the requests, before these are sorted by
	 * address. */
	consts = read_rows(&sweep, n, 0, const_bytes);
	of = find_symbols(&sweep, n, consts, const_bytes, signatures, &nsymbols);
	symbol = methods_read_symbols(&sweep, nsymbols, names);
	for (size_t i = 0; i < n; i++) {
		struct str class_name = symbol[of[i].class_name], own = symbol[of[i].method];

		names->name[i] = (struct method_name){ 0 };
		if (class_name.n && own.n)
			names->name[i] =
				(struct method_name){ class_name, own,
						      signatures ? symbol[of[i].signature] : (struct str){ 0 } };
	}
	free(sweep.want);
	free(number);
	free(of);
	free(symbol);
	free(consts);
	if (sweep.gone)
		methods_free(names);
	return !sweep.gone;
}

const struct method_name *methods_find(const struct methods *methods, uint64_t method)
{
	size_t low = 0, high = methods->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (methods->method[middle] < method)
			low = middle + 1;
		else
			high = middle;
	}
	return low < methods->n && methods->method[low] == method ? &methods->name[low] : NULL;
}

void methods_free(struct methods *methods)
{
	free(methods->method);
	free(methods->name);
	free(methods->symbols);
	free(methods->longer);
	*methods = (struct methods){ 0 };
}

/* ---- spelling ---------------------------------------------------------------------------------------------------- */

static void put_dotted(struct text *text, struct str string)
{
	for (size_t i = 0; i < string.n; i++)
		text_char(text, string.p[i] == '/' ? '.' : string.p[i]);
}

/* Returns the name of a primitive type from its letter in a signature; NULL if there is none. */
static const char *basic_type(char letter)
{
	static const char *const basic[26] = { ['B' - 'A'] = "byte",  ['C' - 'A'] = "char", ['D' - 'A'] = "double",
					       ['F' - 'A'] = "float", ['I' - 'A'] = "int",  ['J' - 'A'] = "long",
					       ['S' - 'A'] = "short", ['V' - 'A'] = "void", ['Z' - 'A'] = "boolean" };

	return letter >= 'A' && letter <= 'Z' ? basic[letter - 'A'] : NULL;
}

/* Removes the brackets at the start of a type and returns their number: the dimensions of an array. */
static size_t cut_dimensions(struct str *string)
{
	size_t dimensions = 0;

	while (dimensions < string->n && string->p[dimensions] == '[')
		dimensions++;
	*string = str_from(*string, dimensions);
	return dimensions;
}

/* Appends the type at the start of a signature as in Java source, and removes it from *string. Returns false if the
 * signature does not start with a type. */
static bool put_type(struct text *text, struct str *string)
{
	size_t dimensions = cut_dimensions(string);
	char byte;

	if (!string->n)
		return false;
	byte = string->p[0];
	*string = str_from(*string, 1);
	if (byte == 'L')
		put_dotted(text, str_cut(string, ';'));
	else if (basic_type(byte))
		text_add(text, basic_type(byte));
	else
		return false;
	while (dimensions--)
		text_add(text, "[]");
	return true;
}

bool methods_spell_class(struct text *text, struct str name)
{
	size_t dimensions = cut_dimensions(&name);

	if (!name.n || dimensions > DIMENSIONS_MAX)
		return false;
	if (!dimensions)
		java_class(text, name);
	else if (name.p[0] == 'L' && name.n > 2 && name.p[name.n - 1] == ';')
		java_class(text, str_head(str_from(name, 1), name.n - 2));
	else if (name.n == 1 && basic_type(name.p[0]))
		text_add(text, basic_type(name.p[0]));
	else
		return false;
	while (dimensions--)
		text_add(text, "[]");
	return true;
}

static void put_hotspot(struct text *text, const struct method_name *name)
{
	struct str arguments = name->signature, result;
	ptrdiff_t end = str_rfind(arguments, ')'), plus = str_rfind(name->class_name, '+');
	bool first = true;

	result = end < 0 ? (struct str){ 0 } : str_from(arguments, (size_t)end + 1);
	arguments = end < 1 ? (struct str){ 0 } : (struct str){ arguments.p + 1, (size_t)end - 1 };
	put_type(text, &result);
	text_char(text, ' ');
	if (plus > 0) {
		/* The name of a hidden class has a '+' before the address. */
		put_dotted(text, str_head(name->class_name, (size_t)plus));
		text_char(text, '/');
		put_dotted(text, str_from(name->class_name, (size_t)plus + 1));
	} else {
		put_dotted(text, name->class_name);
	}
	text_char(text, '.');
	text_str(text, name->method);
	text_char(text, '(');
	for (; arguments.n; first = false) {
		size_t before = text->n;

		if (!first)
			text_add(text, ", ");
		if (!put_type(text, &arguments)) {
			text->n = before;
			break;
		}
	}
	text_char(text, ')');
}

void methods_spell(struct text *text, const struct method_name *name, enum method_style style)
{
	if (style == METHOD_HOTSPOT) {
		put_hotspot(text, name);
	} else if (style == METHOD_FLAMEGRAPH) {
		text_char(text, 'L');
		text_str(text, name->class_name);
		text_add(text, ";::");
		text_str(text, name->method);
	} else {
		java_class(text, name->class_name);
		text_char(text, '.');
		text_str(text, name->method);
	}
}

void methods_respell(struct text *text, struct str hotspot, enum method_style style)
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
		text_str(text, hotspot);
		return;
	}
	if (style == METHOD_FLAMEGRAPH)
		text_char(text, 'L');
	java_class(text, str_head(head, (size_t)dot));
	text_add(text, style == METHOD_FLAMEGRAPH ? ";::" : ".");
	text_str(text, str_from(head, (size_t)dot + 1));
}
