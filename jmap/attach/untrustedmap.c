/* SPDX-License-Identifier: Apache-2.0 */
#include "jmap/attach/untrustedmap.h"

#include "common/arena.h"

#include <stdlib.h>

/* maximum size of the code of one map entry in bytes, since no code cache is larger; a larger entry is left out */
#define ENTRY_SIZE_MAX ((uint64_t)1 << 32)

/* Returns the length in bytes of the UTF-8 character at the start of `string`. Returns 0 if the bytes are invalid, or
 * if the character is a control character. */
static size_t untrustedmap_character(struct str string)
{
	unsigned char byte = (unsigned char)string.p[0];
	size_t n = byte < 0x80                 ? 1 :
		   byte >= 0xc2 && byte < 0xe0 ? 2 :
		   byte >= 0xe0 && byte < 0xf0 ? 3 :
		   byte >= 0xf0 && byte < 0xf5 ? 4 :
						 0;

	if (byte < 0x20 || byte == 0x7f || n > string.n)
		return 0;
	for (size_t i = 1; i < n; i++)
		if (((unsigned char)string.p[i] & 0xc0) != 0x80)
			return 0;
	if (n == 2 && byte == 0xc2 && (unsigned char)string.p[1] < 0xa0)
		/* rejects the C1 control characters U+0080 to U+009F */
		return 0;
	if ((byte == 0xe0 && (unsigned char)string.p[1] < 0xa0) ||
	    (byte == 0xed && (unsigned char)string.p[1] > 0x9f) ||
	    (byte == 0xf0 && (unsigned char)string.p[1] < 0x90) || (byte == 0xf4 && (unsigned char)string.p[1] > 0x8f))
		return 0;
	return n;
}

static void put_clean(struct text *text, struct str string)
{
	while (string.n) {
		size_t n = untrustedmap_character(string);

		if (n)
			text_str(text, str_head(string, n));
		else
			text_char(text, '?');
		string = str_from(string, n ? n : 1);
	}
}

/* Returns true if `name` looks like a method, such as "ret pkg.Class.method(args)". False for stubs such as
 * "StubRoutines (1)". */
static bool is_method(struct str name)
{
	ptrdiff_t open = str_find(name, '('), blank = str_find(name, ' ');

	return open > 0 && blank > 0 && blank < open && name.p[open - 1] != ' ' && str_rfind(name, ')') > open;
}

/* Returns the index of the suffix that HotSpot adds to the name of a hidden class: ".0x00007f..", "/0x00007f..", or
 * before JDK 15 "/12345". Returns -1 if the name has no such suffix. */
static ptrdiff_t hidden_at(struct str class_name)
{
	ptrdiff_t at = str_rfind(class_name, '/');
	size_t digits = (size_t)(at + 1);

	while (at > 0 && digits < class_name.n && byte_is_digit(class_name.p[digits]))
		digits++;
	if (at > 0 && (size_t)at + 1 < class_name.n && digits == class_name.n)
		return at;
	at = str_find_str(class_name, STR(".0x"));
	return at >= 0 ? at : str_find_str(class_name, STR("/0x"));
}

/* Splits a name of the form "Lpkg/Class;::method(args)ret" into class, method and signature in *m; *class_name holds
 * the class name. Returns false if the name has another form. */
static bool parse_agent(struct str name, enum method_style style, struct text *class_name, struct method_name *m)
{
	ptrdiff_t end = str_find_str(name, STR(";::")), open = str_rfind(name, '('), mark;
	struct str remainder;

	if (name.n == 0 || name.p[0] != 'L' || end < 1 || open < end + 3)
		return false;
	class_name->n = 0;
	text_str(class_name, (struct str){ name.p + 1, (size_t)end - 1 });
	mark = hidden_at(text_view(class_name));
	if (mark > 0)
		class_name->p[mark] = '+';
	if (mark > 0 && style != METHOD_HOTSPOT)
		/* cuts off the suffix of a hidden class, because it differs from run to run */
		class_name->n = (size_t)mark;
	remainder = str_from(name, (size_t)open);
	*m = (struct method_name){ text_view(class_name), { name.p + end + 3, (size_t)(open - end - 3) }, remainder };
	return true;
}

static void untrustedmap_put_name(struct codemap *codemap, struct str name, enum untrustedmap_names names,
				  enum method_style style)
{
	struct text clean = { 0 }, class_name = { 0 };
	struct method_name m;

	put_clean(&clean, name);
	if (names == UNTRUSTEDMAP_AGENT && parse_agent(text_view(&clean), style, &class_name, &m))
		methods_spell(&codemap->names, &m, style);
	else if (names == UNTRUSTEDMAP_PERFMAP && is_method(text_view(&clean)))
		methods_respell(&codemap->names, text_view(&clean), style);
	else
		text_str(&codemap->names, text_view(&clean));
	text_free(&clean);
	text_free(&class_name);
}

static bool untrustedmap_hex(struct str string, uint64_t *value)
{
	if (str_starts(string, STR("0x")) || str_starts(string, STR("0X")))
		string = str_from(string, 2);
	return str_hex(string, value);
}

static bool untrustedmap_take_line(struct codemap *codemap, struct str line, enum untrustedmap_names names,
				   enum method_style style)
{
	uint64_t begin, size;
	size_t at = codemap->names.n;

	if (line.n > UNTRUSTEDMAP_MOST_LINE || !untrustedmap_hex(str_cut(&line, ' '), &begin) ||
	    !untrustedmap_hex(str_cut(&line, ' '), &size) || line.n == 0 || size == 0 || size > ENTRY_SIZE_MAX ||
	    size > UINT64_MAX - begin || codemap->n == UNTRUSTEDMAP_MOST_LINES)
		return false;
	untrustedmap_put_name(codemap, line, names, style);
	if (codemap->n == codemap->cap) {
		codemap->cap = codemap->cap ? codemap->cap * 2 : 1024;
		codemap->entry = mem_grow(codemap->entry, sizeof(*codemap->entry), codemap->cap);
	}
	codemap->entry[codemap->n++] = (struct codemap_entry){ begin, begin + size, at, codemap->names.n - at, 0 };
	return true;
}

/* Orders entries by address. Of entries with equal addresses, the last line of the input comes first, so drop_overlaps
 * keeps that line: programs append new entries at the end of a map. */
static int untrustedmap_by_begin(const void *a, const void *b)
{
	const struct codemap_entry *entry = a, *y = b;

	if (entry->begin != y->begin)
		return entry->begin < y->begin ? -1 : 1;
	return (y->name > entry->name) - (y->name < entry->name);
}

/* Of entries that overlap, keeps the one of the later line: its code replaced the other code. */
static void drop_overlaps(struct codemap *codemap)
{
	size_t retained = 0;

	for (size_t i = 0; i < codemap->n; i++) {
		const struct codemap_entry *entry = codemap->entry + i;
		struct codemap_entry *before = codemap->entry + retained - (retained > 0);

		if (!retained || entry->begin >= before->end) {
			codemap->entry[retained++] = *entry;
			continue;
		}
		if (entry->name > before->name)
			*before = *entry;
		codemap->left_out++;
	}
	codemap->n = retained;
}

void untrustedmap_read(struct codemap *codemap, struct str bytes, enum untrustedmap_names names,
		       enum method_style style)
{
	*codemap = (struct codemap){ 0 };
	while (bytes.n) {
		struct str line = str_cut(&bytes, '\n');

		if (line.n && line.p[0] != '#')
			codemap->left_out += !untrustedmap_take_line(codemap, line, names, style);
	}
	if (codemap->n)
		qsort(codemap->entry, codemap->n, sizeof(*codemap->entry), untrustedmap_by_begin);
	drop_overlaps(codemap);
}
