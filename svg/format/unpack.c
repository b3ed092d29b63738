/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/format/unpack.h"

#include "common/formats/folded.h"
#include "svg/format/callees.h"
#include "common/visible.h"

#include <stdlib.h>

#define CONFIG_TAG STR("<script type=\"application/json\" class=\"pj-c\">")
#define DATA_TAG STR("<script type=\"application/x-pjsvg\" class=\"pj-d\">")
#define END_TAG STR("</script>")

/* A block's text without entities, and where it is in the bytes. */
struct block {
	struct text text;
	struct str raw;
	size_t offset;
};

/* A piece of a block that is being read. */
struct cursor {
	struct block *block;
	size_t at, end;
};

struct names {
	uint32_t n, cap;
	uint32_t *frame; /* by name id: in stacks */
};

/* The frames in preorder. */
struct blobframes {
	uint32_t n, depth;
	uint32_t *parent; /* UINT32_MAX: the root */
	uint32_t *name;
	uint64_t *self, *other; /* other: of after, or the pauses */
};

struct parser {
	struct unpacked *u;
	struct block config, data;
	const char *why;
	size_t where;
	bool chart, diff;
	uint32_t nkinds, ncolours;
	struct str *suffix; /* by kind */
	uint32_t *kind;     /* by colour */
	struct names names;
	struct blobframes frames;
	struct arena memory;
};

/* ---- blocks ------------------------------------------------------------------------------------------------- */

static size_t entity_length(struct str s)
{
	return str_starts(s, STR("&amp;")) ? 5 : str_starts(s, STR("&lt;")) || str_starts(s, STR("&gt;")) ? 4 : 1;
}

/* Where in the bytes the text's position is. */
static size_t unpack_place_of(const struct block *b, size_t at)
{
	size_t i = 0;

	while (at-- && i < b->raw.n)
		i += entity_length(str_from(b->raw, i));
	return b->offset + i;
}

static bool unpack_fail(struct parser *p, size_t where, const char *why)
{
	if (!p->why) {
		p->why = why;
		p->where = where;
	}
	return false;
}

static bool fail_at(struct parser *p, const struct cursor *c, const char *why)
{
	return unpack_fail(p, unpack_place_of(c->block, c->at), why);
}

/* Finds the first block at or behind from. */
static bool find_block(struct parser *p, struct block *b, struct str bytes, size_t from, struct str tag)
{
	ptrdiff_t at = str_find_str(str_from(bytes, from), tag);

	if (at < 0)
		return false;
	b->offset = from + (size_t)at + tag.n;
	b->raw = str_from(bytes, b->offset);
	ptrdiff_t end = str_find_str(b->raw, END_TAG);
	if (end < 0)
		return unpack_fail(p, b->offset, "the block does not end");
	b->raw.n = (size_t)end;
	return true;
}

static bool unpack_unescape(struct parser *p, struct block *b)
{
	for (size_t i = 0; i < b->raw.n;) {
		struct str rest = str_from(b->raw, i);
		size_t n = entity_length(rest);
		char c = n == 5 ? '&' : n == 1 ? rest.p[0] : rest.p[1] == 'l' ? '<' : '>';
		if (n == 1 && (c == '&' || c == '<' || c == '>'))
			return unpack_fail(p, b->offset + i, "the block is not escaped as pjsvg does it");
		text_char(&b->text, c);
		i += n;
	}
	return true;
}

/* ---- config ------------------------------------------------------------------------------------------------- */

static char unpack_peek(const struct cursor *c)
{
	return c->at < c->end ? c->block->text.p[c->at] : 0;
}

static bool unpack_take(struct parser *p, struct cursor *c, char wanted)
{
	if (unpack_peek(c) != wanted || c->at == c->end)
		return fail_at(p, c, "the config is not as pjsvg writes it");
	c->at++;
	return true;
}

/* True: there is one more element, and c stands on it. */
static bool unpack_more(struct parser *p, struct cursor *c, bool *first, char end)
{
	if (unpack_peek(c) == end && c->at < c->end) {
		c->at++;
		return false;
	}
	if (!*first && !unpack_take(p, c, ','))
		return false;
	*first = false;
	return true;
}

static bool get_string(struct parser *p, struct cursor *c, struct text *t)
{
	t->n = 0;
	if (!unpack_take(p, c, '"'))
		return false;
	while (c->at < c->end && unpack_peek(c) != '"') {
		if (unpack_peek(c) == '\\' && ++c->at < c->end && unpack_peek(c) != '"' && unpack_peek(c) != '\\')
			return fail_at(p, c, "the config has an escape that pjsvg does not write");
		if (c->at < c->end)
			text_char(t, c->block->text.p[c->at++]);
	}
	return unpack_take(p, c, '"');
}

static bool get_count(struct parser *p, struct cursor *c, uint32_t *value)
{
	uint64_t v = 0;
	size_t from = c->at;

	while (byte_is_digit(unpack_peek(c)) && v <= UINT32_MAX)
		v = v * 10 + (uint64_t)(c->block->text.p[c->at++] - '0');
	if (c->at == from || v > UINT32_MAX)
		return fail_at(p, c, "the config has no whole number here");
	*value = (uint32_t)v;
	return true;
}

/* Any value; nothing depends on what is in it. */
static bool skip_value(struct parser *p, struct cursor *c)
{
	struct text ignored = { 0 };
	size_t depth = 0;
	bool good = true;

	do {
		char b = unpack_peek(c);
		if (b == '"') {
			good = get_string(p, c, &ignored);
			continue;
		}
		if (c->at == c->end || (depth == 0 && (b == ',' || b == '}')))
			break;
		depth += b == '[' || b == '{';
		depth -= (b == ']' || b == '}') && depth;
		c->at++;
	} while (good && (depth || (unpack_peek(c) != ',' && unpack_peek(c) != '}')));
	text_free(&ignored);
	return good;
}

static bool is_suffix(struct str s)
{
	char name[5] = { 'x' };

	if (s.n != 4)
		return s.n == 0;
	memcpy(name + 1, s.p, 4);
	return folded_plain((struct str){ name, 5 }).n == 1;
}

/* [[label, suffix], ...] */
static bool get_kinds(struct parser *p, struct cursor *c, struct text *t)
{
	bool first = true;

	for (p->nkinds = 0; unpack_more(p, c, &first, ']'); p->nkinds++) {
		if (!unpack_take(p, c, '[') || !get_string(p, c, t) || !unpack_take(p, c, ',') ||
		    !get_string(p, c, t) || !unpack_take(p, c, ']'))
			return false;
		if (!is_suffix(text_view(t)))
			return fail_at(p, c, "the config has a suffix that is none of a kind of code");
		p->suffix = mem_grow(p->suffix, sizeof(*p->suffix), (size_t)p->nkinds + 1);
		p->suffix[p->nkinds] = arena_copy(&p->memory, text_view(t));
	}
	return !p->why;
}

/* [[light, dark, kind], ...] */
static bool get_colours(struct parser *p, struct cursor *c, struct text *t)
{
	bool first = true;

	for (p->ncolours = 0; unpack_more(p, c, &first, ']'); p->ncolours++) {
		uint32_t kind;
		if (!unpack_take(p, c, '[') || !get_string(p, c, t) || !unpack_take(p, c, ',') ||
		    !get_string(p, c, t) || !unpack_take(p, c, ',') || !get_count(p, c, &kind) ||
		    !unpack_take(p, c, ']'))
			return false;
		p->kind = mem_grow(p->kind, sizeof(*p->kind), (size_t)p->ncolours + 1);
		p->kind[p->ncolours] = kind;
	}
	return !p->why;
}

/* The header, and the comments of a difference behind it. */
static bool is_head(struct str s)
{
	if (s.n && !folded_is_header(str_cut(&s, '\n')))
		return false;
	while (s.n) {
		if (!str_starts(str_cut(&s, '\n'), STR("# ")))
			return false;
	}
	return true;
}

static bool unpack_get_header(struct parser *p, struct cursor *c, struct text *t)
{
	struct text *header = &p->u->header;

	if (!get_string(p, c, t))
		return false;
	header->n = 0;
	visible_bytes(header, text_view(t));
	if (!is_head(text_view(header)))
		return fail_at(p, c, "the config has a header that is none");
	return true;
}

static bool get_value(struct parser *p, struct cursor *c, struct str key, struct text *t)
{
	uint32_t number = 0;

	if (str_eq(key, STR("header")))
		return unpack_get_header(p, c, t);
	if (str_eq(key, STR("kinds")))
		return unpack_take(p, c, '[') && get_kinds(p, c, t);
	if (str_eq(key, STR("colors")))
		return unpack_take(p, c, '[') && get_colours(p, c, t);
	if (str_eq(key, STR("diff")))
		p->diff = true;
	if (!str_eq(key, STR("v")) && !str_eq(key, STR("reverse")) && !str_eq(key, STR("chart")))
		return skip_value(p, c);
	if (!get_count(p, c, &number))
		return false;
	if (str_eq(key, STR("reverse")))
		p->u->reverse = number;
	else if (str_eq(key, STR("chart")))
		p->chart = number;
	else if (number != 1)
		return fail_at(p, c, "the picture is of a later pjsvg");
	return true;
}

static bool parse_config(struct parser *p)
{
	struct cursor c = { &p->config, 0, p->config.text.n };
	struct text key = { 0 }, value = { 0 };
	bool first = true, good = unpack_take(p, &c, '{');

	while (good && unpack_more(p, &c, &first, '}'))
		good = get_string(p, &c, &key) && unpack_take(p, &c, ':') && get_value(p, &c, text_view(&key), &value);
	text_free(&key);
	text_free(&value);
	if (p->why || !good)
		return false;
	if (c.at < c.end)
		return fail_at(p, &c, "something follows the config");
	return p->chart && p->diff ? fail_at(p, &c, "a flame chart has no differences") : true;
}

/* ---- numbers ------------------------------------------------------------------------------------------------ */

/* Index into the alphabet of docs/SVG.md, or 88. */
static uint32_t digit_of(char c)
{
	static const char skipped[] = "\"&'<>\\`"; /* in ascending order */
	uint32_t value = (uint32_t)(unsigned char)c - 0x20;

	if (c < 0x20 || c == 0x7f)
		return 88;
	for (size_t i = 0; skipped[i]; i++) {
		if (c == skipped[i])
			return 88;
		value -= c > skipped[i];
	}
	return value;
}

static bool get_digit(struct parser *p, struct cursor *c, uint32_t *digit)
{
	*digit = c->at < c->end ? digit_of(unpack_peek(c)) : 88;
	if (*digit == 88)
		return fail_at(p, c, "there is no digit");
	c->at++;
	return true;
}

static bool get_varint(struct parser *p, struct cursor *c, uint64_t *value)
{
	uint64_t factor = 1;
	uint32_t digit;
	bool fits = true;

	*value = 0;
	do {
		uint64_t part;
		if (!get_digit(p, c, &digit))
			return false;
		fits = fits && factor && !__builtin_mul_overflow(factor, digit % 44, &part) &&
		       !__builtin_add_overflow(*value, part, value) && *value <= INT64_MAX;
		if (!fits)
			return fail_at(p, c, "the number does not fit into 63 bits");
		if (__builtin_mul_overflow(factor, 44, &factor))
			factor = 0;
	} while (digit >= 44);
	return true;
}

/* ---- sections ----------------------------------------------------------------------------------------------- */

/* Sets the cursor to the next section of the data; the last one takes the rest. */
static bool next_section(struct parser *p, struct cursor *c, bool last)
{
	struct str rest = str_from(text_view(&p->data.text), c->at = c->end);

	if (rest.n && c->at) {
		if (!str_starts(rest, STR("\n\n")))
			return fail_at(p, c, "a section is missing");
		c->at += 2;
		rest = str_from(rest, 2);
	} else if (c->at) {
		return fail_at(p, c, "a section is missing");
	}
	ptrdiff_t n = str_find_str(rest, STR("\n\n"));
	if (last && n >= 0)
		return unpack_fail(p, unpack_place_of(c->block, c->at + (size_t)n),
				   "there are more sections than there should be");
	c->end = c->at + (n < 0 ? rest.n : (size_t)n);
	return true;
}

static bool unpack_add_name(struct parser *p, struct cursor *c, struct str visible, uint32_t colour, struct text *bytes)
{
	if (colour >= p->ncolours || p->kind[colour] >= p->nkinds)
		return fail_at(p, c, "the name has a colour that the config has not");
	bytes->n = 0;
	visible_bytes(bytes, visible);
	text_str(bytes, p->suffix[p->kind[colour]]);
	struct str name = text_view(bytes);
	if (str_find(name, ';') >= 0 || str_find(name, '\n') >= 0)
		return fail_at(p, c, "the name holds what no name of a frame can");
	if (p->names.n == p->names.cap) {
		p->names.cap = p->names.cap * 2 + 64;
		p->names.frame = mem_grow(p->names.frame, sizeof(*p->names.frame), p->names.cap);
	}
	p->names.frame[p->names.n++] = stacks_frame(&p->u->stacks, name);
	return true;
}

/* One line: shared prefix, colour, the rest of the text. */
static bool get_name(struct parser *p, struct cursor *c, struct text *text, struct text *bytes)
{
	uint32_t shared;
	uint64_t colour;

	if (!get_digit(p, c, &shared) || !get_varint(p, c, &colour))
		return false;
	if (shared > text->n)
		return fail_at(p, c, "the name shares more than the one before has");
	text->n = shared;
	while (c->at < c->end && unpack_peek(c) != '\n')
		text_char(text, c->block->text.p[c->at++]);
	return unpack_add_name(p, c, text_view(text), colour > UINT32_MAX ? UINT32_MAX : (uint32_t)colour, bytes);
}

static bool parse_names(struct parser *p, struct cursor *c)
{
	struct text text = { 0 }, bytes = { 0 };
	bool good = true;

	while (good && c->at < c->end) {
		good = get_name(p, c, &text, &bytes);
		c->at += good && c->at < c->end;
	}
	text_free(&text);
	text_free(&bytes);
	return good;
}

/* ---- tree --------------------------------------------------------------------------------------------------- */

struct tree {
	struct callees *of; /* by name; the root's at names.n */
	uint32_t *at;       /* by depth: frame; [0] is not used */
	struct arena memory;
};

static bool get_frame(struct parser *p, struct cursor *c, struct tree *t)
{
	struct blobframes *f = &p->frames;
	uint64_t pop, k, id, extra = 0;
	uint32_t head;

	if (!get_digit(p, c, &head))
		return false;
	pop = head % 8;
	if (pop == 7 && !get_varint(p, c, &extra))
		return false;
	pop += extra;
	k = head / 8;
	extra = 0;
	if (k == 10 && !get_varint(p, c, &extra))
		return false;
	k += extra;
	if (pop > f->depth)
		return fail_at(p, c, "the frame is outside of the root");
	f->depth = f->depth + 1 - (uint32_t)pop;

	uint32_t parent = f->depth == 1 ? UINT32_MAX : t->at[f->depth - 1];
	struct callees *list = &t->of[parent == UINT32_MAX ? p->names.n : f->name[parent]];
	if (k > list->n)
		return fail_at(p, c, "the frame's name was not called before");
	if (k) {
		id = callees_to_front(list, (uint32_t)k);
	} else {
		if (!get_varint(p, c, &id))
			return false;
		if (id >= p->names.n)
			return fail_at(p, c, "the frame has a name that is not there");
		callees_push(list, (uint32_t)id, &t->memory);
	}
	f->parent[f->n] = parent;
	f->name[f->n] = (uint32_t)id;
	t->at[f->depth] = f->n++;
	return true;
}

/* A frame takes a byte at least, so there are not more frames, nor is any deeper, than there are bytes. */
static bool parse_tree(struct parser *p, struct cursor *c)
{
	size_t max = c->end - c->at;
	struct tree t = { 0 };
	bool good = true;

	if (max >= UINT32_MAX)
		return fail_at(p, c, "the tree is too large");
	t.of = mem_alloc(sizeof(*t.of), (size_t)p->names.n + 1);
	t.at = mem_alloc(sizeof(*t.at), max + 2);
	p->frames.parent = mem_alloc(sizeof(*p->frames.parent), max + 1);
	p->frames.name = mem_alloc(sizeof(*p->frames.name), max + 1);
	while (good && c->at < c->end)
		good = get_frame(p, c, &t);
	arena_free(&t.memory);
	free(t.of);
	free(t.at);
	return good;
}

/* Pairs: how many have nothing, then how much less one. NULL: wrong. */
static uint64_t *parse_sparse(struct parser *p, struct cursor *c)
{
	uint64_t *value = mem_alloc(sizeof(*value), (size_t)p->frames.n + 1);
	uint64_t i = 0, zeros, less;

	while (c->at < c->end) {
		if (!get_varint(p, c, &zeros) || !get_varint(p, c, &less))
			break;
		if (i >= p->frames.n || zeros >= p->frames.n - i) {
			fail_at(p, c, "there are more weights than frames");
			break;
		}
		i += zeros;
		value[i++] = less + 1;
	}
	if (!p->why)
		return value;
	free(value);
	return NULL;
}

/* ---- stacks ------------------------------------------------------------------------------------------------- */

/* A pause is a part of what the parent has of its own. */
static bool add_pause(struct parser *p, uint32_t i, uint32_t parent_node)
{
	struct blobframes *f = &p->frames;
	uint64_t pause = f->other[i];

	if (pause == 0)
		return true;
	if (f->parent[i] == UINT32_MAX || f->self[f->parent[i]] < pause)
		return unpack_fail(p, p->data.offset, "a pause is longer than its frame's own weight");
	f->self[f->parent[i]] -= pause;
	return stacks_add(&p->u->stacks, parent_node, 0, pause) ||
	       unpack_fail(p, p->data.offset, "the sum of all weights does not fit into 63 bits");
}

static bool add_weights(struct parser *p, const uint32_t *node)
{
	const struct blobframes *f = &p->frames;

	for (uint32_t i = 0; i < f->n; i++) {
		if ((f->self[i] && !stacks_add(&p->u->stacks, node[i], 0, f->self[i])) ||
		    (p->diff && f->other[i] && !stacks_add(&p->u->stacks, node[i], 1, f->other[i])))
			return unpack_fail(p, p->data.offset, "the sum of all weights does not fit into 63 bits");
	}
	return true;
}

static bool build_stacks(struct parser *p)
{
	struct stacks *s = &p->u->stacks;
	struct blobframes *f = &p->frames;
	uint32_t *node = mem_alloc(sizeof(*node), (size_t)f->n + 1);
	bool good = true;

	stacks_add(s, 0, 0, 0); /* the root is there, whatever comes */
	for (uint32_t i = 0; good && i < f->n; i++) {
		uint32_t parent = f->parent[i] == UINT32_MAX ? 0 : node[f->parent[i]];
		uint32_t frame = p->names.frame[f->name[i]];
		if (p->chart)
			good = add_pause(p, i, parent);
		node[i] = p->chart ? stacks_append(s, parent, frame) : stacks_child(s, parent, frame);
	}
	good = good && add_weights(p, node);
	free(node);
	return good;
}

static bool parse_data(struct parser *p)
{
	struct cursor c = { &p->data, 0, 0 };

	p->u->columns = p->diff ? 2 : 1;
	p->u->stacks.in_time = p->chart;
	if (!next_section(p, &c, false) || !parse_names(p, &c) || !next_section(p, &c, false) || !parse_tree(p, &c) ||
	    !next_section(p, &c, !p->chart && !p->diff))
		return false;
	p->frames.self = parse_sparse(p, &c);
	if (p->frames.self && (p->chart || p->diff)) {
		if (!next_section(p, &c, p->chart))
			return false;
		p->frames.other = parse_sparse(p, &c);
	}
	return !p->why && build_stacks(p);
}

/* ---- all ---------------------------------------------------------------------------------------------------- */

static size_t count_blocks(struct str bytes)
{
	size_t n = 0;

	for (ptrdiff_t at; (at = str_find_str(bytes, DATA_TAG)) >= 0; n++)
		bytes = str_from(bytes, (size_t)at + DATA_TAG.n);
	return n;
}

static bool unpack_find_blocks(struct parser *p, struct str bytes)
{
	if (!find_block(p, &p->config, bytes, 0, CONFIG_TAG))
		return unpack_fail(p, 0,
				   str_find_str(bytes, STR("class=\"pj\"")) >= 0 ?
					   "no pj-c block: the picture had no samples, or it is cut off" :
					   "not a picture of pjsvg: no pj-d block");
	if (!find_block(p, &p->data, bytes, p->config.offset, DATA_TAG))
		return unpack_fail(p, 0, "no pj-d block: the picture is cut off");
	return unpack_unescape(p, &p->config) && unpack_unescape(p, &p->data);
}

const char *unpack_parse(struct unpacked *u, struct str bytes, size_t *offset)
{
	struct parser p = { .u = u };

	*u = (struct unpacked){ .pictures = count_blocks(bytes) };
	if (unpack_find_blocks(&p, bytes) && parse_config(&p))
		parse_data(&p);
	*offset = p.where;
	text_free(&p.config.text);
	text_free(&p.data.text);
	free(p.suffix);
	free(p.kind);
	free(p.names.frame);
	free(p.frames.parent);
	free(p.frames.name);
	free(p.frames.self);
	free(p.frames.other);
	arena_free(&p.memory);
	return p.why;
}

void unpack_free(struct unpacked *u)
{
	stacks_free(&u->stacks);
	text_free(&u->header);
}
