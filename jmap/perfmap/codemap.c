/* SPDX-License-Identifier: Apache-2.0 */
#include "jmap/perfmap/codemap.h"

#include "common/arena.h"
#include "runtimes/hotspot/codelets.h"
#include "runtimes/hotspot/stubs.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- making a map ---------------------------------------------------------------------------------------------- */

static bool same_blob(const struct blob *blob, const struct blob *one)
{
	return blob->begin == one->begin && blob->end == one->end && blob->method == one->method &&
	       blob->compile_id == one->compile_id && blob->name == one->name;
}

static void codemap_add_named(struct codemap *codemap, uint64_t begin, uint64_t end, size_t name, size_t name_n,
			      uint32_t blob)
{
	if (codemap->n == codemap->cap) {
		codemap->cap = codemap->cap ? codemap->cap * 2 : 1024;
		codemap->entry = mem_grow(codemap->entry, sizeof(*codemap->entry), codemap->cap);
	}
	codemap->entry[codemap->n++] = (struct codemap_entry){ begin, end, name, name_n, blob };
}

/* Adds an entry for the addresses [begin, end) in code blob `blob` of the first scan. The entry's name is the text in
 * codemap->names from offset `name` to the end. */
static void codemap_add_entry(struct codemap *codemap, uint64_t begin, uint64_t end, size_t name, uint32_t blob)
{
	codemap_add_named(codemap, begin, end, name, codemap->names.n - name, blob);
}

/* Adds an entry for each stub in code blob i, which contains stubs. Gaps between the stubs get the name of the code
 * blob, which is at offset `name` in codemap->names. */
static void codemap_add_stubs(struct codemap *codemap, const struct stubs *stubs, const struct blob *blob, uint32_t i,
			      size_t name)
{
	size_t name_n = codemap->names.n - name;
	uint64_t at = blob->begin;

	for (size_t index = 0; index < stubs->n; index++) {
		const struct stub *one = &stubs->one[index];
		size_t from = codemap->names.n;

		if (one->begin < blob->begin || one->end > blob->end)
			continue;
		if (one->begin > at)
			codemap_add_named(codemap, at, one->begin, name, name_n, i);
		text_str(&codemap->names, stubs_name(stubs, one));
		codemap_add_entry(codemap, one->begin, at = one->end, from, i);
	}
	if (at < blob->end)
		codemap_add_named(codemap, at, blob->end, name, name_n, i);
}

/* Adds an entry for each codelet of the interpreter (code blob i). Gaps between the codelets get the name of the
 * interpreter, which is at offset `name` in codemap->names. */
static void codemap_add_interpreter(struct codemap *codemap, struct hotspot *hotspot, const struct codecache *code,
				    uint32_t i, size_t name)
{
	const struct blob *blob = &code->blob[i];
	struct codelets parts;
	uint64_t at = blob->begin;

	if (!codelets_read(&parts, hotspot, code, blob)) {
		codemap_add_entry(codemap, blob->begin, blob->end, name, i);
		return;
	}
	if (parts.one[0].begin > at)
		codemap_add_entry(codemap, at, parts.one[0].begin, name, i);
	for (size_t index = 0; index < parts.n; index++) {
		size_t from = codemap->names.n;

		text_str(&codemap->names, codelets_name(&parts, &parts.one[index]));
		codemap_add_entry(codemap, parts.one[index].begin, at = parts.one[index].end, from, i);
	}
	if (at < blob->end) {
		size_t from = codemap->names.n;

		text_add(&codemap->names, "Interpreter");
		codemap_add_entry(codemap, at, blob->end, from, i);
	}
	codelets_free(&parts);
}

void codemap_keep_same(struct codemap *codemap, const struct blob *before, const struct codecache *now)
{
	size_t retained = 0, second = 0;
	/* code blob that was last counted as left out; its other entries follow directly, and are not counted again */
	uint32_t counted = UINT32_MAX;

	for (size_t i = 0; i < codemap->n; i++) {
		const struct blob *blob = &before[codemap->entry[i].blob];

		while (second < now->n && now->blob[second].address < blob->address)
			second++;
		if (second < now->n && now->blob[second].address == blob->address &&
		    same_blob(blob, &now->blob[second])) {
			codemap->entry[retained++] = codemap->entry[i];
		} else if (codemap->entry[i].blob != counted) {
			counted = codemap->entry[i].blob;
			codemap->left_out++;
		}
	}
	codemap->n = retained;
}

/* number of code blobs whose method names are read from the JVM together */
#define EXPECTED 4096u
/* maximum length of a name in bytes; a code blob with a longer name is left out */
#define NAME_MAX_BYTES (8u << 10)

/* Reads the method names of the next code blobs, from index i on and at most EXPECTED, from the JVM together. */
static void expect_names(struct hotspot *hotspot, const struct codecache *code, size_t i, enum method_style style)
{
	uint64_t method[EXPECTED];
	size_t n = 0, end = code->n - i < EXPECTED ? code->n : i + EXPECTED;

	for (; i < end; i++)
		if (code->blob[i].compiled)
			method[n++] = code->blob[i].method;
	hotspot_expect(hotspot, method, n, style == METHOD_HOTSPOT);
}

/* Adds the entries of code blob i of the first scan, or counts the blob as left out if it has no valid name. */
static void codemap_add_blob(struct codemap *codemap, struct hotspot *hotspot, const struct codecache *code,
			     const struct stubs *stubs, uint32_t i, enum method_style style)
{
	const struct blob *blob = &code->blob[i];
	size_t name = codemap->names.n;

	if (!hotspot_name(hotspot, blob, style, &codemap->names) || codemap->names.n - name > NAME_MAX_BYTES) {
		codemap->names.n = name;
		codemap->left_out++;
		return;
	}
	if (style == METHOD_JAVA && !blob->compiled &&
	    str_eq(str_from(text_view(&codemap->names), name), STR("Interpreter")))
		codemap_add_interpreter(codemap, hotspot, code, i, name);
	else if (stubs->n && !blob->compiled && stubs_is_block(str_from(text_view(&codemap->names), name)))
		codemap_add_stubs(codemap, stubs, blob, i, name);
	else
		codemap_add_entry(codemap, blob->begin, blob->end, name, i);
}

/* Adds the entries of all code blobs. Returns false if the budget is exceeded. Each name is charged twice, because
 * printing the map copies it once more. */
static bool add_all(struct codemap *codemap, struct hotspot *hotspot, const struct codecache *code,
		    const struct stubs *stubs, enum method_style style)
{
	for (size_t i = 0; i < code->n; i++) {
		size_t before = codemap->names.n + codemap->n * sizeof(*codemap->entry);

		if (i % EXPECTED == 0)
			expect_names(hotspot, code, i, style);
		codemap_add_blob(codemap, hotspot, code, stubs, (uint32_t)i, style);
		if (!readbudget_bytes(hotspot->memory.budget,
				      2 * (codemap->names.n + codemap->n * sizeof(*codemap->entry) - before)))
			return false;
	}
	return budget_steps(hotspot->memory.budget, 0);
}

struct hotspot_reason codemap_make(struct codemap *codemap, struct hotspot *hotspot, enum method_style style)
{
	struct hotspot_reason reason = hotspot_scan(hotspot);
	struct codecache before;
	struct stubs stubs = { 0 };

	*codemap = (struct codemap){ 0 };
	if (reason.code)
		return reason;
	before = codecache_take(&hotspot->code);
	if (style == METHOD_JAVA)
		stubs_read(&stubs, hotspot, &before);
	if (add_all(codemap, hotspot, &before, &stubs, style))
		reason = hotspot_scan(hotspot);
	else
		reason = (struct hotspot_reason){ "over-budget", "its code exceeds the limit for one JVM" };
	if (!reason.code)
		codemap_keep_same(codemap, before.blob, &hotspot->code);
	codecache_free(&before);
	stubs_free(&stubs);
	if (reason.code)
		codemap_free(codemap);
	return reason;
}

void codemap_free(struct codemap *codemap)
{
	text_free(&codemap->names);
	free(codemap->entry);
	*codemap = (struct codemap){ 0 };
}

/* ---- printing the entries ---------------------------------------------------------------------------------------- */

static void codemap_put_name(struct text *text, struct str name)
{
	for (size_t i = 0; i < name.n; i++) {
		unsigned char b = (unsigned char)name.p[i];

		if (b < 0x20 || b == 0x7f) {
			text_add(text, "\\x");
			text_char(text, "0123456789ABCDEF"[b >> 4]);
			text_char(text, "0123456789ABCDEF"[b & 15]);
		} else {
			text_char(text, (char)b);
		}
	}
}

static void put_hex(struct text *text, uint64_t value)
{
	char digit[16];
	size_t n = 0;

	do
		digit[n++] = "0123456789abcdef"[value & 15];
	while ((value >>= 4) != 0);
	while (n)
		text_char(text, digit[--n]);
}

void codemap_line(uint64_t begin, uint64_t end, struct str name, bool hotspot, struct text *text)
{
	if (hotspot) {
		text_printf(text, "0x%016llx 0x%016llx ", (unsigned long long)begin, (unsigned long long)(end - begin));
	} else {
		put_hex(text, begin);
		text_char(text, ' ');
		put_hex(text, end - begin);
		text_char(text, ' ');
	}
	codemap_put_name(text, name);
	text_char(text, '\n');
}

void codemap_print(const struct codemap *codemap, bool hotspot, struct text *text)
{
	for (size_t i = 0; i < codemap->n; i++) {
		const struct codemap_entry *entry = &codemap->entry[i];

		codemap_line(entry->begin, entry->end, (struct str){ codemap->names.p + entry->name, entry->name_n },
			     hotspot, text);
	}
}
