/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of RString, RArray, RClass, st_table and rb_symbols_t: see include/ruby, internal/class.h and symbol.c of
 * Ruby. */
#include "runtimes/ruby/rubyobject.h"

#include "common/visible.h"
#include "runtimes/ruby/rubylayout.h"

#define REPLACEMENT "\xef\xbf\xbd"
#define DATA_CHUNK 4096u
#define DATA_MAX ((uint64_t)4 << 20)

/* Offsets in Strings and Arrays, and bits of their flags. A String has its length in a word, but a short String before
 * 3.2 has it in the flags. A short Array has its length in the flags. */
#define STRING_LENGTH 16u
#define STRING_POINTER 24u
#define STRING_FLAG_SHIFT 14u
#define STRING_FLAG_MASK 31u
#define ARRAY_EMBEDDED 16u
#define ARRAY_LENGTH 16u
#define ARRAY_POINTER 32u
#define ARRAY_FLAG_SHIFT 15u
#define ARRAY_FLAG_MASK 127u
#define ARRAY_MAX (UINT64_C(1) << 24)

/* SYMBOLS_IDS: offset in an rb_symbols_t of the Array of names, after the last serial number (4 bytes and 4 of padding)
 * and a table. SYMBOLS_BYTES: bytes up to the end of this field. Each element of the Array
 * of names is an Array of SYMBOLS_UNIT pairs. */
#define SYMBOLS_IDS 16u
#define SYMBOLS_BYTES 24u
#define SYMBOLS_UNIT 512u
#define ID_SCOPE_SHIFT 4u

/* Offsets that lead to class variables in 3.1: from the class to an rb_classext_t, and from there to an st_table. */
#define CLASS_EXTENSION 24u
#define EXTENSION_VARIABLES 8u
#define TABLE_BOUND 40u
#define TABLE_ENTRIES 48u
#define TABLE_BYTES 56u
#define ENTRY_BYTES 24u
#define ENTRIES_MAX 256u

/* ---- bounded text ------------------------------------------------------------------------------------------------ */

static void put(struct rubytext *text, const char *bytes, size_t n)
{
	if (text->cut || n > text->cap - text->n) {
		text->cut = true;
		return;
	}
	memcpy(text->to + text->n, bytes, n);
	text->n += n;
}

void rubytext_bytes(struct rubytext *text, struct str bytes)
{
	while (bytes.n && !text->cut) {
		uint32_t code = 0;
		size_t n = visible_point(bytes, &code);

		if (n && code)
			put(text, bytes.p, n);
		else
			put(text, REPLACEMENT, sizeof(REPLACEMENT) - 1);
		bytes = str_from(bytes, n ? n : 1);
	}
}

void rubytext_end(struct rubytext *text)
{
	if (text->cut && text->cap >= 3) {
		if (text->n > text->cap - 3) {
			text->n = text->cap - 3;
			/* bytes 10xxxxxx continue a code point: an incomplete code point at the end is dropped */
			while (text->n && ((unsigned char)text->to[text->n] & 0xc0) == 0x80)
				text->n--;
		}
		memcpy(text->to + text->n, "...", 3);
		text->n += 3;
	}
	text->to[text->n] = '\0';
}

/* ---- reading of objects ------------------------------------------------------------------------------------------ */

bool rubyobject_flags(struct ruby *ruby, uint64_t address, uint64_t *flags)
{
	return rubylayout_is_address(address) && memory_pointer(ruby->memory, address + OBJECT_FLAGS, flags);
}

bool rubyobject_is(struct ruby *ruby, uint64_t address, unsigned type)
{
	uint64_t flags;

	return rubyobject_flags(ruby, address, &flags) && (flags & OBJECT_TYPE_MASK) == type;
}

bool rubyobject_is_imemo(struct ruby *ruby, uint64_t address, unsigned kind)
{
	uint64_t flags;

	return rubyobject_flags(ruby, address, &flags) && (flags & OBJECT_TYPE_MASK) == OBJECT_TYPE_IMEMO &&
	       (flags >> 12 & 15) == kind;
}

/* Sets *at to the address and *n to the number of a String's bytes. Returns false if the object is no String. */
static bool string_bytes(struct ruby *ruby, uint64_t address, uint64_t *at, uint64_t *n)
{
	uint64_t flags;

	if (!rubyobject_flags(ruby, address, &flags) || (flags & OBJECT_TYPE_MASK) != OBJECT_TYPE_STRING)
		return false;
	if (!(flags & OBJECT_USER1) && ruby->layout.string_embedded == STRING_LENGTH) {
		*at = address + ruby->layout.string_embedded;
		*n = flags >> STRING_FLAG_SHIFT & STRING_FLAG_MASK;
		return true;
	}
	*at = address + ruby->layout.string_embedded;
	return memory_pointer(ruby->memory, address + STRING_LENGTH, n) && *n < (UINT64_C(1) << 40) &&
	       (!(flags & OBJECT_USER1) || memory_pointer(ruby->memory, address + STRING_POINTER, at));
}

bool rubystring_read(struct ruby *ruby, uint64_t address, char *to, size_t cap, uint64_t *n)
{
	uint64_t at;

	if (!string_bytes(ruby, address, &at, n))
		return false;
	return *n == 0 || memory_read(ruby->memory, at, to, *n < cap ? (size_t)*n : cap);
}

bool rubystring_is(struct ruby *ruby, uint64_t address, struct str bytes)
{
	char found[32];
	uint64_t n;

	return bytes.n <= sizeof(found) && rubystring_read(ruby, address, found, sizeof(found), &n) && n == bytes.n &&
	       memcmp(found, bytes.p, bytes.n) == 0;
}

bool rubyarray_read(struct ruby *ruby, uint64_t address, uint64_t index, unsigned n, uint64_t *element)
{
	uint64_t flags, length, at = address + ARRAY_EMBEDDED;

	if (!rubyobject_flags(ruby, address, &flags) || (flags & OBJECT_TYPE_MASK) != OBJECT_TYPE_ARRAY || n > 4)
		return false;
	length = flags >> ARRAY_FLAG_SHIFT & ARRAY_FLAG_MASK;
	if (!(flags & OBJECT_USER1) && (!memory_pointer(ruby->memory, address + ARRAY_LENGTH, &length) ||
					!memory_pointer(ruby->memory, address + ARRAY_POINTER, &at)))
		return false;
	return length < ARRAY_MAX && index < length && length - index >= n && rubylayout_is_address(at) &&
	       memory_read(ruby->memory, at + 8 * index, element, (size_t)8 * n);
}

/* ---- names of ids ------------------------------------------------------------------------------------------------ */

static bool serial_string(struct ruby *ruby, uint64_t symbols, uint64_t serial, uint64_t *string)
{
	uint64_t array;

	return rubyarray_read(ruby, symbols, serial / SYMBOLS_UNIT, 1, &array) &&
	       rubyarray_read(ruby, array, serial % SYMBOLS_UNIT * 2, 1, string);
}

bool rubyid_string(struct ruby *ruby, uint64_t id, uint64_t *string)
{
	uint64_t last = ruby->layout.last_operator, serial = id > last ? id >> ID_SCOPE_SHIFT : id;

	/* above the last operator but with a small serial number: id of an operator that only a newer version has */
	if (id > last && serial <= last)
		return false;
	/* The id of a dynamic symbol is an address (with lowest bit 0 in most cases): too large for a serial number. */
	return serial <= UINT32_MAX && serial_string(ruby, ruby->symbols, serial, string);
}

/* Returns true if the Array `symbols` has the names of the operators of one character at their serial numbers, which
 * are their character codes. Returns false if a name differs or is not readable. */
static bool has_operators(struct ruby *ruby, uint64_t symbols)
{
	static const char operators[] = "!%*+-/<>";
	uint64_t string;

	for (const char *operator= operators; *operator; operator++)
		if (!serial_string(ruby, symbols, (unsigned char)*operator, & string) ||
		    !rubystring_is(ruby, string, (struct str){ operator, 1 }))
			return false;
	return true;
}

bool rubyid_find(struct ruby *ruby)
{
	char bytes[DATA_CHUNK + SYMBOLS_BYTES];
	uint64_t start = (ruby->file.data + 7) & ~(uint64_t)7;
	uint64_t n = ruby->file.data_n < DATA_MAX ? ruby->file.data_n & ~(uint64_t)7 : DATA_MAX;

	for (uint64_t at = 0; at + SYMBOLS_BYTES <= n; at += DATA_CHUNK) {
		size_t left = n - at < sizeof(bytes) ? (size_t)(n - at) : sizeof(bytes);

		if (!memory_read(ruby->memory, start + at, bytes, left))
			return false;
		for (uint32_t i = 0; i + SYMBOLS_BYTES <= left && i < DATA_CHUNK; i += 8) {
			uint64_t last = rubylayout_word(bytes, i), ids = rubylayout_word(bytes, i + SYMBOLS_IDS);

			if (last < 256 || last > UINT32_MAX || !rubylayout_is_address(ids) || !has_operators(ruby, ids))
				continue;
			ruby->symbols = ids;
			return true;
		}
	}
	return false;
}

/* ---- names of classes -------------------------------------------------------------------------------------------- */

/* A variable of a class. */
struct classvariable {
	uint64_t id, value;
};

typedef bool variable_wanted(struct ruby *ruby, const struct classvariable *variable, uint64_t argument);

/* Sets *variable to the first variable of a class (before 3.2) that `wanted` accepts. Returns false if the class has no
 * such variable. */
static bool rubyclass_variable(struct ruby *ruby, uint64_t address, variable_wanted *wanted, uint64_t argument,
			       struct classvariable *variable)
{
	uint64_t extension, table, bound, entries, entry[3];
	char bytes[TABLE_BYTES];

	if (!memory_pointer(ruby->memory, address + CLASS_EXTENSION, &extension) || !rubylayout_is_address(extension) ||
	    !memory_pointer(ruby->memory, extension + EXTENSION_VARIABLES, &table) || !rubylayout_is_address(table) ||
	    !memory_read(ruby->memory, table, bytes, sizeof(bytes)))
		return false;
	bound = rubylayout_word(bytes, TABLE_BOUND);
	entries = rubylayout_word(bytes, TABLE_ENTRIES);
	for (uint64_t i = 0; i < bound && i < ENTRIES_MAX && rubylayout_is_address(entries); i++) {
		if (!memory_read(ruby->memory, entries + ENTRY_BYTES * i, entry, sizeof(entry)))
			return false;
		/* the hash ~0 marks a deleted entry */
		*variable = (struct classvariable){ entry[1], entry[2] };
		if (entry[0] != ~(uint64_t)0 && wanted(ruby, variable, argument))
			return true;
	}
	return false;
}

static bool is_object_path(struct ruby *ruby, const struct classvariable *variable, uint64_t argument)
{
	(void)argument;
	return rubystring_is(ruby, variable->value, STR("Object"));
}

static bool has_value(struct ruby *ruby, const struct classvariable *variable, uint64_t argument)
{
	(void)ruby;
	return variable->value == argument;
}

static bool has_id(struct ruby *ruby, const struct classvariable *variable, uint64_t argument)
{
	(void)ruby;
	return variable->id == argument;
}

bool rubyclass_find_ids(struct ruby *ruby)
{
	uint64_t variable, object, singleton, value;
	struct classvariable path, attached;

	if (!loadedfile_symbol(&ruby->file, STR("rb_cObject"), &variable) ||
	    !memory_pointer(ruby->memory, variable, &object) || !rubyobject_is(ruby, object, OBJECT_TYPE_CLASS))
		return false;
	if (ruby->layout.class_path != RUBY_NO_FIELD)
		return memory_pointer(ruby->memory, object + ruby->layout.class_path, &value) &&
		       rubystring_is(ruby, value, STR("Object"));
	if (!rubyclass_variable(ruby, object, is_object_path, 0, &path) ||
	    !memory_pointer(ruby->memory, object + OBJECT_CLASS, &singleton) ||
	    !rubyobject_is(ruby, singleton, OBJECT_TYPE_CLASS) ||
	    !rubyclass_variable(ruby, singleton, has_value, object, &attached))
		return false;
	ruby->path_id = path.id;
	ruby->attached_id = attached.id;
	return true;
}

/* Sets *value to the word at offset `field` of a class or, if the offset is RUBY_NO_FIELD, to the class variable `id`;
 * to 0 if the class has no such variable. Returns false if the class is not readable. */
static bool class_field(struct ruby *ruby, uint64_t address, uint32_t field, uint64_t id, uint64_t *value)
{
	struct classvariable variable;

	*value = 0;
	if (field != RUBY_NO_FIELD)
		return memory_pointer(ruby->memory, address + field, value);
	if (rubyclass_variable(ruby, address, has_id, id, &variable))
		*value = variable.value;
	return true;
}

static bool is_class_or_module(uint64_t flags)
{
	return (flags & OBJECT_TYPE_MASK) == OBJECT_TYPE_CLASS || (flags & OBJECT_TYPE_MASK) == OBJECT_TYPE_MODULE;
}

bool rubyclass_append(struct ruby *ruby, uint64_t address, struct rubytext *text)
{
	const struct ruby_layout *layout = &ruby->layout;
	char name[RUBY_NAME_MAX];
	uint64_t flags, path, n;
	bool singleton;

	if (!rubyobject_flags(ruby, address, &flags) || !is_class_or_module(flags))
		return false;
	singleton = (flags & OBJECT_TYPE_MASK) == OBJECT_TYPE_CLASS && (flags & layout->singleton);
	if (singleton) {
		if (!class_field(ruby, address, layout->attached, ruby->attached_id, &address))
			return false;
		/* the attached object of a singleton class is often no class */
		if (!rubyobject_flags(ruby, address, &flags) || !is_class_or_module(flags) ||
		    ((flags & OBJECT_TYPE_MASK) == OBJECT_TYPE_CLASS && (flags & layout->singleton)))
			return true;
	}
	if (!class_field(ruby, address, layout->class_path, ruby->path_id, &path))
		return false;
	if (!rubystring_read(ruby, path, name, sizeof(name), &n) || n == 0)
		return true;
	/* a name with # is temporary: no constant refers to the class */
	if (name[0] == '#')
		return true;
	rubytext_bytes(text, (struct str){ name, n < sizeof(name) ? (size_t)n : sizeof(name) });
	text->cut |= n > sizeof(name);
	rubytext_bytes(text, singleton ? STR(".") : STR("#"));
	return true;
}
