/* SPDX-License-Identifier: Apache-2.0 */
#include "jmap/perfmap/codemap.h"

#include "common/arena.h"
#include "runtimes/hotspot/codelets.h"
#include "runtimes/hotspot/stubs.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- making ---------------------------------------------------------------------------------------------------- */

static bool same_blob(const struct blob *a, const struct blob *b)
{
	return a->begin == b->begin && a->end == b->end && a->method == b->method && a->compile_id == b->compile_id &&
	       a->name == b->name;
}

static void codemap_add_named(struct codemap *c, uint64_t begin, uint64_t end, size_t name, size_t name_n,
			      uint32_t blob)
{
	if (c->n == c->cap) {
		c->cap = c->cap ? c->cap * 2 : 1024;
		c->entry = mem_grow(c->entry, sizeof(*c->entry), c->cap);
	}
	c->entry[c->n++] = (struct codemap_entry){ begin, end, name, name_n, blob };
}

/* Code from begin to end of the blob with that number; its name is what was appended since. */
static void codemap_add_entry(struct codemap *c, uint64_t begin, uint64_t end, size_t name, uint32_t blob)
{
	codemap_add_named(c, begin, end, name, c->names.n - name, blob);
}

/* A block of stubs stub by stub, and what is around them as the block. */
static void codemap_add_stubs(struct codemap *c, const struct stubs *stubs, const struct blob *b, uint32_t i,
			      size_t name)
{
	size_t name_n = c->names.n - name;
	uint64_t at = b->begin;

	for (size_t k = 0; k < stubs->n; k++) {
		const struct stub *one = &stubs->one[k];
		size_t from = c->names.n;

		if (one->begin < b->begin || one->end > b->end)
			continue;
		if (one->begin > at)
			codemap_add_named(c, at, one->begin, name, name_n, i);
		text_str(&c->names, stubs_name(stubs, one));
		codemap_add_entry(c, one->begin, at = one->end, from, i);
	}
	if (at < b->end)
		codemap_add_named(c, at, b->end, name, name_n, i);
}

/* The interpreter piece by piece, and what is around them as a whole. */
static void codemap_add_interpreter(struct codemap *c, struct hotspot *h, const struct codecache *code, uint32_t i,
				    size_t name)
{
	const struct blob *b = &code->blob[i];
	struct codelets parts;
	uint64_t at = b->begin;

	if (!codelets_read(&parts, h, code, b)) {
		codemap_add_entry(c, b->begin, b->end, name, i);
		return;
	}
	if (parts.one[0].begin > at)
		codemap_add_entry(c, at, parts.one[0].begin, name, i);
	for (size_t k = 0; k < parts.n; k++) {
		size_t from = c->names.n;

		text_str(&c->names, codelets_name(&parts, &parts.one[k]));
		codemap_add_entry(c, parts.one[k].begin, at = parts.one[k].end, from, i);
	}
	if (at < b->end) {
		size_t from = c->names.n;

		text_add(&c->names, "Interpreter");
		codemap_add_entry(c, at, b->end, from, i);
	}
	codelets_free(&parts);
}

/* Takes out of c what is not in now. */
static void keep_same(struct codemap *c, const struct blob *before, const struct codecache *now)
{
	size_t saved = 0, j = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct blob *b = &before[c->entry[i].blob];

		while (j < now->n && now->blob[j].address < b->address)
			j++;
		if (j < now->n && now->blob[j].address == b->address && same_blob(b, &now->blob[j]))
			c->entry[saved++] = c->entry[i];
		else
			c->left_out++;
	}
	c->n = saved;
}

#define EXPECTED 4096u            /* names that are read at once */
#define NAME_MAX_BYTES (8u << 10) /* longer ones are no names */

/* Of some blobs from number i on. */
static void expect_names(struct hotspot *h, const struct codecache *code, size_t i, enum method_style style)
{
	uint64_t method[EXPECTED];
	size_t n = 0, end = code->n - i < EXPECTED ? code->n : i + EXPECTED;

	for (; i < end; i++)
		if (code->blob[i].compiled)
			method[n++] = code->blob[i].method;
	hotspot_expect(h, method, n, style == METHOD_HOTSPOT);
}

/* Blob number i of the first scan. */
static void codemap_add_blob(struct codemap *c, struct hotspot *h, const struct codecache *code,
			     const struct stubs *stubs, uint32_t i, enum method_style style)
{
	const struct blob *b = &code->blob[i];
	size_t name = c->names.n;

	if (!hotspot_name(h, b, style, &c->names) || c->names.n - name > NAME_MAX_BYTES) {
		c->names.n = name;
		c->left_out++;
		return;
	}
	if (style == METHOD_JAVA && !b->compiled && str_eq(str_from(text_view(&c->names), name), STR("Interpreter")))
		codemap_add_interpreter(c, h, code, i, name);
	else if (stubs->n && !b->compiled && stubs_is_block(str_from(text_view(&c->names), name)))
		codemap_add_stubs(c, stubs, b, i, name);
	else
		codemap_add_entry(c, b->begin, b->end, name, i);
}

/* False: the budget is exceeded. A line takes its name twice: here, and where it is printed. */
static bool add_all(struct codemap *c, struct hotspot *h, const struct codecache *code, const struct stubs *stubs,
		    enum method_style style)
{
	for (size_t i = 0; i < code->n; i++) {
		size_t before = c->names.n + c->n * sizeof(*c->entry);

		if (i % EXPECTED == 0)
			expect_names(h, code, i, style);
		codemap_add_blob(c, h, code, stubs, (uint32_t)i, style);
		if (!readbudget_bytes(h->memory.budget, 2 * (c->names.n + c->n * sizeof(*c->entry) - before)))
			return false;
	}
	return budget_steps(h->memory.budget, 0);
}

struct hotspot_reason codemap_make(struct codemap *c, struct hotspot *h, enum method_style style)
{
	struct hotspot_reason r = hotspot_scan(h);
	struct codecache before;
	struct stubs stubs = { 0 };

	*c = (struct codemap){ 0 };
	if (r.code)
		return r;
	before = codecache_take(&h->code);
	if (style == METHOD_JAVA)
		stubs_read(&stubs, h, &before);
	if (add_all(c, h, &before, &stubs, style))
		r = hotspot_scan(h);
	else
		r = (struct hotspot_reason){ "over-budget", "its code costs more than that of one JVM may" };
	if (!r.code)
		keep_same(c, before.blob, &h->code);
	codecache_free(&before);
	stubs_free(&stubs);
	if (r.code)
		codemap_free(c);
	return r;
}

void codemap_free(struct codemap *c)
{
	text_free(&c->names);
	free(c->entry);
	*c = (struct codemap){ 0 };
}

/* ---- writing --------------------------------------------------------------------------------------------------- */

static void codemap_put_name(struct text *t, struct str name)
{
	for (size_t i = 0; i < name.n; i++) {
		unsigned char b = (unsigned char)name.p[i];

		if (b < 0x20 || b == 0x7f) {
			text_add(t, "\\x");
			text_char(t, "0123456789ABCDEF"[b >> 4]);
			text_char(t, "0123456789ABCDEF"[b & 15]);
		} else {
			text_char(t, (char)b);
		}
	}
}

static void put_hex(struct text *t, uint64_t value)
{
	char digit[16];
	size_t n = 0;

	do
		digit[n++] = "0123456789abcdef"[value & 15];
	while ((value >>= 4) != 0);
	while (n)
		text_char(t, digit[--n]);
}

void codemap_line(uint64_t begin, uint64_t end, struct str name, bool hotspot, struct text *t)
{
	if (hotspot) {
		text_printf(t, "0x%016llx 0x%016llx ", (unsigned long long)begin, (unsigned long long)(end - begin));
	} else {
		put_hex(t, begin);
		text_char(t, ' ');
		put_hex(t, end - begin);
		text_char(t, ' ');
	}
	codemap_put_name(t, name);
	text_char(t, '\n');
}

void codemap_print(const struct codemap *c, bool hotspot, struct text *t)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct codemap_entry *e = &c->entry[i];

		codemap_line(e->begin, e->end, (struct str){ c->names.p + e->name, e->name_n }, hotspot, t);
	}
}
