/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/format/unpack.h"

#include "common/formats/folded.h"
#include "svg/format/callees.h"
#include "common/visible.h"

#include <stdlib.h>

#define CONFIG_TAG STR("<script type=\"application/json\" class=\"pj-c\">")
#define DATA_TAG STR("<script type=\"application/x-pjsvg\" class=\"pj-d\">")
#define END_TAG STR("</script>")

/* A script block. text: its content without entities; raw: its content in the document, with entities; offset: position
 * of raw in the document in bytes. */
struct block {
	struct text text;
	struct str raw;
	size_t offset;
};

/* The read position in a block: offsets in block->text of the next byte and of the end of the current section. */
struct cursor {
	struct block *block;
	size_t at, end;
};

struct names {
	uint32_t n, cap;
	uint32_t *frame; /* frame id in `stacks` of each name */
};

/* The frames of the tree in preorder; each pointer is an array by frame number. */
struct preorder {
	uint32_t n, depth;
	uint32_t *parent; /* number of the parent; UINT32_MAX: the root */
	uint32_t *name;
	/* self: self weights, in a difference those before; other: self weights after (in a difference), or pauses (in
	 * a flame chart) */
	uint64_t *self, *other;
};

struct parser {
	struct unpacked *u;
	struct block config, data;
	const char *why;
	size_t where;
	bool chart, diff;
	uint32_t nkinds, ncolours;
	struct str *suffix; /* suffix of each code kind */
	uint32_t *kind;     /* code kind of each colour */
	struct names names;
	struct preorder frames;
	struct arena memory;
};

/* ---- script blocks of the SVG ------------------------------------------------------------------------------- */

static size_t entity_length(struct str string)
{
	return str_starts(string, STR("&amp;"))                                   ? 5 :
	       str_starts(string, STR("&lt;")) || str_starts(string, STR("&gt;")) ? 4 :
										    1;
}

/* Returns the offset in the document, for messages, of the byte at offset `at` in block->text. */
static size_t unpack_place_of(const struct block *block, size_t at)
{
	size_t i = 0;

	while (at-- && i < block->raw.n)
		i += entity_length(str_from(block->raw, i));
	return block->offset + i;
}

static bool unpack_fail(struct parser *parser, size_t where, const char *why)
{
	if (!parser->why) {
		parser->why = why;
		parser->where = where;
	}
	return false;
}

static bool fail_at(struct parser *parser, const struct cursor *cursor, const char *why)
{
	return unpack_fail(parser, unpack_place_of(cursor->block, cursor->at), why);
}

/* Finds the first block that starts with `tag`, from offset `from` of the document on. Returns false if there is none,
 * or if its end is missing. */
static bool find_block(struct parser *parser, struct block *block, struct str bytes, size_t from, struct str tag)
{
	ptrdiff_t at = str_find_str(str_from(bytes, from), tag);

	if (at < 0)
		return false;
	block->offset = from + (size_t)at + tag.n;
	block->raw = str_from(bytes, block->offset);
	ptrdiff_t end = str_find_str(block->raw, END_TAG);
	if (end < 0)
		return unpack_fail(parser, block->offset, "the block is unterminated");
	block->raw.n = (size_t)end;
	return true;
}

static bool unpack_unescape(struct parser *parser, struct block *block)
{
	for (size_t i = 0; i < block->raw.n;) {
		struct str rest = str_from(block->raw, i);
		size_t n = entity_length(rest);
		char byte = n == 5 ? '&' : n == 1 ? rest.p[0] : rest.p[1] == 'l' ? '<' : '>';
		if (n == 1 && (byte == '&' || byte == '<' || byte == '>'))
			return unpack_fail(parser, block->offset + i,
					   "the block has an escape that pjsvg does not write");
		text_char(&block->text, byte);
		i += n;
	}
	return true;
}

/* ---- config block of a picture ------------------------------------------------------------------------------ */

static char unpack_peek(const struct cursor *cursor)
{
	return cursor->at < cursor->end ? cursor->block->text.p[cursor->at] : 0;
}

static bool unpack_take(struct parser *parser, struct cursor *cursor, char wanted)
{
	if (unpack_peek(cursor) != wanted || cursor->at == cursor->end)
		return fail_at(parser, cursor, "the config differs from pjsvg's format");
	cursor->at++;
	return true;
}

/* Moves the cursor to the next element of a JSON array or object, whose closing byte is `end`. Returns false after the
 * last element, and on an error. *first: true before the first element; set to false. */
static bool unpack_more(struct parser *parser, struct cursor *cursor, bool *first, char end)
{
	if (unpack_peek(cursor) == end && cursor->at < cursor->end) {
		cursor->at++;
		return false;
	}
	if (!*first && !unpack_take(parser, cursor, ','))
		return false;
	*first = false;
	return true;
}

static bool get_string(struct parser *parser, struct cursor *cursor, struct text *text)
{
	text->n = 0;
	if (!unpack_take(parser, cursor, '"'))
		return false;
	while (cursor->at < cursor->end && unpack_peek(cursor) != '"') {
		if (unpack_peek(cursor) == '\\' && ++cursor->at < cursor->end && unpack_peek(cursor) != '"' &&
		    unpack_peek(cursor) != '\\')
			return fail_at(parser, cursor, "the config has an escape that pjsvg does not write");
		if (cursor->at < cursor->end)
			text_char(text, cursor->block->text.p[cursor->at++]);
	}
	return unpack_take(parser, cursor, '"');
}

static bool get_count(struct parser *parser, struct cursor *cursor, uint32_t *value)
{
	uint64_t v = 0;
	size_t from = cursor->at;

	while (byte_is_digit(unpack_peek(cursor)) && v <= UINT32_MAX)
		v = v * 10 + (uint64_t)(cursor->block->text.p[cursor->at++] - '0');
	if (cursor->at == from || v > UINT32_MAX)
		return fail_at(parser, cursor, "the config lacks an integer here");
	*value = (uint32_t)v;
	return true;
}

/* Skips a JSON value of any type. Returns false on an error. */
static bool skip_value(struct parser *parser, struct cursor *cursor)
{
	struct text ignored = { 0 };
	size_t depth = 0;
	bool good = true;

	do {
		char b = unpack_peek(cursor);
		if (b == '"') {
			good = get_string(parser, cursor, &ignored);
			continue;
		}
		if (cursor->at == cursor->end || (depth == 0 && (b == ',' || b == '}')))
			break;
		depth += b == '[' || b == '{';
		depth -= (b == ']' || b == '}') && depth;
		cursor->at++;
	} while (good && (depth || (unpack_peek(cursor) != ',' && unpack_peek(cursor) != '}')));
	text_free(&ignored);
	return good;
}

static bool is_suffix(struct str string)
{
	char name[5] = { 'x' };

	if (string.n != 4)
		return string.n == 0;
	memcpy(name + 1, string.p, 4);
	return folded_plain((struct str){ name, 5 }).n == 1;
}

/* Reads the list of code kinds after its opening bracket: [[label, suffix], ...]. text: scratch buffer. Returns false
 * on an error. */
static bool get_kinds(struct parser *parser, struct cursor *cursor, struct text *text)
{
	bool first = true;

	for (parser->nkinds = 0; unpack_more(parser, cursor, &first, ']'); parser->nkinds++) {
		if (!unpack_take(parser, cursor, '[') || !get_string(parser, cursor, text) ||
		    !unpack_take(parser, cursor, ',') || !get_string(parser, cursor, text) ||
		    !unpack_take(parser, cursor, ']'))
			return false;
		if (!is_suffix(text_view(text)))
			return fail_at(parser, cursor, "the config has an unknown suffix for the kind of code");
		parser->suffix = mem_grow(parser->suffix, sizeof(*parser->suffix), (size_t)parser->nkinds + 1);
		parser->suffix[parser->nkinds] = arena_copy(&parser->memory, text_view(text));
	}
	return !parser->why;
}

/* Reads the list of colours after its opening bracket: [[light, dark, kind], ...]. text: scratch buffer. Returns false
 * on an error. */
static bool get_colours(struct parser *parser, struct cursor *cursor, struct text *text)
{
	bool first = true;

	for (parser->ncolours = 0; unpack_more(parser, cursor, &first, ']'); parser->ncolours++) {
		uint32_t kind;
		if (!unpack_take(parser, cursor, '[') || !get_string(parser, cursor, text) ||
		    !unpack_take(parser, cursor, ',') || !get_string(parser, cursor, text) ||
		    !unpack_take(parser, cursor, ',') || !get_count(parser, cursor, &kind) ||
		    !unpack_take(parser, cursor, ']'))
			return false;
		parser->kind = mem_grow(parser->kind, sizeof(*parser->kind), (size_t)parser->ncolours + 1);
		parser->kind[parser->ncolours] = kind;
	}
	return !parser->why;
}

/* Returns true if a string is a valid header: empty, or a `# pj` line, after which only comment lines may follow (as in
 * a difference). Returns false for all other strings. */
static bool is_head(struct str string)
{
	if (string.n && !folded_is_header(str_cut(&string, '\n')))
		return false;
	while (string.n) {
		if (!str_starts(str_cut(&string, '\n'), STR("# ")))
			return false;
	}
	return true;
}

static bool unpack_get_header(struct parser *parser, struct cursor *cursor, struct text *text)
{
	struct text *header = &parser->u->header;

	if (!get_string(parser, cursor, text))
		return false;
	header->n = 0;
	visible_bytes(header, text_view(text));
	if (!is_head(text_view(header)))
		return fail_at(parser, cursor, "the config has an invalid header");
	return true;
}

static bool get_value(struct parser *parser, struct cursor *cursor, struct str key, struct text *text)
{
	uint32_t number = 0;

	if (str_eq(key, STR("header")))
		return unpack_get_header(parser, cursor, text);
	if (str_eq(key, STR("kinds")))
		return unpack_take(parser, cursor, '[') && get_kinds(parser, cursor, text);
	if (str_eq(key, STR("colors")))
		return unpack_take(parser, cursor, '[') && get_colours(parser, cursor, text);
	if (str_eq(key, STR("diff")))
		parser->diff = true;
	if (!str_eq(key, STR("v")) && !str_eq(key, STR("reverse")) && !str_eq(key, STR("chart")))
		return skip_value(parser, cursor);
	if (!get_count(parser, cursor, &number))
		return false;
	if (str_eq(key, STR("reverse")))
		parser->u->reverse = number;
	else if (str_eq(key, STR("chart")))
		parser->chart = number;
	else if (number != 1)
		return fail_at(parser, cursor, "the picture is of a later version of pjsvg");
	return true;
}

static bool parse_config(struct parser *parser)
{
	struct cursor cursor = { &parser->config, 0, parser->config.text.n };
	struct text key = { 0 }, value = { 0 };
	bool first = true, good = unpack_take(parser, &cursor, '{');

	while (good && unpack_more(parser, &cursor, &first, '}'))
		good = get_string(parser, &cursor, &key) && unpack_take(parser, &cursor, ':') &&
		       get_value(parser, &cursor, text_view(&key), &value);
	text_free(&key);
	text_free(&value);
	if (parser->why || !good)
		return false;
	if (cursor.at < cursor.end)
		return fail_at(parser, &cursor, "the config is followed by other data");
	return parser->chart && parser->diff ? fail_at(parser, &cursor, "a flame chart cannot be a difference") : true;
}

/* ---- numbers of the data block ------------------------------------------------------------------------------ */

/* Returns the value of a digit in the alphabet of docs/SVG.md; 88 if the byte is not a digit. */
static uint32_t digit_of(char byte)
{
	static const char skipped[] = "\"&'<>\\`"; /* printable bytes that are not digits, in ascending order */
	uint32_t value = (uint32_t)(unsigned char)byte - 0x20;

	if (byte < 0x20 || byte == 0x7f)
		return 88;
	for (size_t i = 0; skipped[i]; i++) {
		if (byte == skipped[i])
			return 88;
		value -= byte > skipped[i];
	}
	return value;
}

static bool get_digit(struct parser *parser, struct cursor *cursor, uint32_t *digit)
{
	*digit = cursor->at < cursor->end ? digit_of(unpack_peek(cursor)) : 88;
	if (*digit == 88)
		return fail_at(parser, cursor, "a digit is missing");
	cursor->at++;
	return true;
}

static bool get_varint(struct parser *parser, struct cursor *cursor, uint64_t *value)
{
	uint64_t factor = 1;
	uint32_t digit;
	bool fits = true;

	*value = 0;
	do {
		uint64_t part;
		if (!get_digit(parser, cursor, &digit))
			return false;
		fits = fits && factor && !__builtin_mul_overflow(factor, digit % 44, &part) &&
		       !__builtin_add_overflow(*value, part, value) && *value <= INT64_MAX;
		if (!fits)
			return fail_at(parser, cursor, "the number does not fit into 63 bits");
		if (__builtin_mul_overflow(factor, 44, &factor))
			factor = 0;
	} while (digit >= 44);
	return true;
}

/* ---- sections of the data block ----------------------------------------------------------------------------- */

/* Moves the cursor to the next section of the data block. last: true if this must be the last section of the block.
 * Returns false if the section is missing, or if another section follows although `last` is true. */
static bool next_section(struct parser *parser, struct cursor *cursor, bool last)
{
	struct str rest = str_from(text_view(&parser->data.text), cursor->at = cursor->end);

	if (rest.n && cursor->at) {
		if (!str_starts(rest, STR("\n\n")))
			return fail_at(parser, cursor, "a section is missing");
		cursor->at += 2;
		rest = str_from(rest, 2);
	} else if (cursor->at) {
		return fail_at(parser, cursor, "a section is missing");
	}
	ptrdiff_t n = str_find_str(rest, STR("\n\n"));
	if (last && n >= 0)
		return unpack_fail(parser, unpack_place_of(cursor->block, cursor->at + (size_t)n), "too many sections");
	cursor->end = cursor->at + (n < 0 ? rest.n : (size_t)n);
	return true;
}

static bool unpack_add_name(struct parser *parser, struct cursor *cursor, struct str visible, uint32_t colour,
			    struct text *bytes)
{
	if (colour >= parser->ncolours || parser->kind[colour] >= parser->nkinds)
		return fail_at(parser, cursor, "the name has a colour that the config lacks");
	bytes->n = 0;
	visible_bytes(bytes, visible);
	text_str(bytes, parser->suffix[parser->kind[colour]]);
	struct str name = text_view(bytes);
	if (str_find(name, ';') >= 0 || str_find(name, '\n') >= 0)
		return fail_at(parser, cursor, "the name has bytes that frames cannot have");
	if (parser->names.n == parser->names.cap) {
		parser->names.cap = parser->names.cap * 2 + 64;
		parser->names.frame = mem_grow(parser->names.frame, sizeof(*parser->names.frame), parser->names.cap);
	}
	parser->names.frame[parser->names.n++] = stacks_frame(&parser->u->stacks, name);
	return true;
}

/* Reads a line of NAMES: length of the prefix shared with the line before, colour, rest of the name. *text: in: name of
 * the line before; out: name of this line. bytes: scratch buffer. Returns false if the line is malformed. */
static bool get_name(struct parser *parser, struct cursor *cursor, struct text *text, struct text *bytes)
{
	uint32_t shared;
	uint64_t colour;

	if (!get_digit(parser, cursor, &shared) || !get_varint(parser, cursor, &colour))
		return false;
	if (shared > text->n)
		return fail_at(parser, cursor, "the name shares more bytes than the previous name has");
	text->n = shared;
	while (cursor->at < cursor->end && unpack_peek(cursor) != '\n')
		text_char(text, cursor->block->text.p[cursor->at++]);
	return unpack_add_name(parser, cursor, text_view(text), colour > UINT32_MAX ? UINT32_MAX : (uint32_t)colour,
			       bytes);
}

static bool parse_names(struct parser *parser, struct cursor *cursor)
{
	struct text text = { 0 }, bytes = { 0 };
	bool good = true;

	while (good && cursor->at < cursor->end) {
		good = get_name(parser, cursor, &text, &bytes);
		cursor->at += good && cursor->at < cursor->end;
	}
	text_free(&text);
	text_free(&bytes);
	return good;
}

/* ---- call tree (TREE) --------------------------------------------------------------------------------------- */

struct tree {
	struct callees *of; /* callees of each name, by name id; the callees of the root at index names.n */
	uint32_t *at;       /* last frame that was read at each depth; at[0] is not used */
	struct arena memory;
};

static bool get_frame(struct parser *parser, struct cursor *cursor, struct tree *tree)
{
	struct preorder *frames = &parser->frames;
	uint64_t pop, k, id, extra = 0;
	uint32_t head;

	if (!get_digit(parser, cursor, &head))
		return false;
	pop = head % 8;
	if (pop == 7 && !get_varint(parser, cursor, &extra))
		return false;
	pop += extra;
	k = head / 8;
	extra = 0;
	if (k == 10 && !get_varint(parser, cursor, &extra))
		return false;
	k += extra;
	if (pop > frames->depth)
		return fail_at(parser, cursor, "the frame is outside the root");
	frames->depth = frames->depth + 1 - (uint32_t)pop;

	uint32_t parent = frames->depth == 1 ? UINT32_MAX : tree->at[frames->depth - 1];
	struct callees *list = &tree->of[parent == UINT32_MAX ? parser->names.n : frames->name[parent]];
	if (k > list->n)
		return fail_at(parser, cursor, "the frame's name has not occurred before");
	if (k) {
		id = callees_to_front(list, (uint32_t)k);
	} else {
		if (!get_varint(parser, cursor, &id))
			return false;
		if (id >= parser->names.n)
			return fail_at(parser, cursor, "the frame has an undefined name");
		callees_push(list, (uint32_t)id, &tree->memory);
	}
	frames->parent[frames->n] = parent;
	frames->name[frames->n] = (uint32_t)id;
	tree->at[frames->depth] = frames->n++;
	return true;
}

/* Reads TREE, and returns false on an error. Each frame needs at least one byte, so the length of the section limits
 * the number of frames and the depth. */
static bool parse_tree(struct parser *parser, struct cursor *cursor)
{
	size_t max = cursor->end - cursor->at;
	struct tree tree = { 0 };
	bool good = true;

	if (max >= UINT32_MAX)
		return fail_at(parser, cursor, "the tree is too large");
	tree.of = mem_alloc(sizeof(*tree.of), (size_t)parser->names.n + 1);
	tree.at = mem_alloc(sizeof(*tree.at), max + 2);
	parser->frames.parent = mem_alloc(sizeof(*parser->frames.parent), max + 1);
	parser->frames.name = mem_alloc(sizeof(*parser->frames.name), max + 1);
	while (good && cursor->at < cursor->end)
		good = get_frame(parser, cursor, &tree);
	arena_free(&tree.memory);
	free(tree.of);
	free(tree.at);
	return good;
}

/* Reads a column of numbers that are mostly 0, as pairs: number of frames with 0, then the number of the next frame
 * minus 1. Returns the column, which the caller frees; NULL on an error. */
static uint64_t *parse_sparse(struct parser *parser, struct cursor *cursor)
{
	uint64_t *value = mem_alloc(sizeof(*value), (size_t)parser->frames.n + 1);
	uint64_t i = 0, zeros, less;

	while (cursor->at < cursor->end) {
		if (!get_varint(parser, cursor, &zeros) || !get_varint(parser, cursor, &less))
			break;
		if (i >= parser->frames.n || zeros >= parser->frames.n - i) {
			fail_at(parser, cursor, "more weights than frames");
			break;
		}
		i += zeros;
		value[i++] = less + 1;
	}
	if (!parser->why)
		return value;
	free(value);
	return NULL;
}

/* ---- stacks from the call tree ------------------------------------------------------------------------------ */

/* Adds the pause before frame i as weight to parent_node, the node of its parent in the stacks, and subtracts the pause
 * from the parent's self weight, which includes it. Returns false if the pause is larger than this self weight, or if
 * the sum of all weights exceeds 63 bits. */
static bool add_pause(struct parser *parser, uint32_t i, uint32_t parent_node)
{
	struct preorder *frames = &parser->frames;
	uint64_t pause = frames->other[i];

	if (pause == 0)
		return true;
	if (frames->parent[i] == UINT32_MAX || frames->self[frames->parent[i]] < pause)
		return unpack_fail(parser, parser->data.offset, "a gap is longer than its frame's own weight");
	frames->self[frames->parent[i]] -= pause;
	return stacks_add(&parser->u->stacks, parent_node, 0, pause) ||
	       unpack_fail(parser, parser->data.offset, "the sum of all weights does not fit into 63 bits");
}

static bool add_weights(struct parser *parser, const uint32_t *node)
{
	const struct preorder *frames = &parser->frames;

	for (uint32_t i = 0; i < frames->n; i++) {
		if ((frames->self[i] && !stacks_add(&parser->u->stacks, node[i], 0, frames->self[i])) ||
		    (parser->diff && frames->other[i] && !stacks_add(&parser->u->stacks, node[i], 1, frames->other[i])))
			return unpack_fail(parser, parser->data.offset,
					   "the sum of all weights does not fit into 63 bits");
	}
	return true;
}

static bool build_stacks(struct parser *parser)
{
	struct stacks *stacks = &parser->u->stacks;
	struct preorder *frames = &parser->frames;
	uint32_t *node = mem_alloc(sizeof(*node), (size_t)frames->n + 1);
	bool good = true;

	stacks_add(stacks, 0, 0, 0); /* creates the root, even if the tree is empty */
	for (uint32_t i = 0; good && i < frames->n; i++) {
		uint32_t parent = frames->parent[i] == UINT32_MAX ? 0 : node[frames->parent[i]];
		uint32_t frame = parser->names.frame[frames->name[i]];
		if (parser->chart)
			good = add_pause(parser, i, parent);
		node[i] = parser->chart ? stacks_append(stacks, parent, frame) : stacks_child(stacks, parent, frame);
	}
	good = good && add_weights(parser, node);
	free(node);
	return good;
}

static bool parse_data(struct parser *parser)
{
	struct cursor cursor = { &parser->data, 0, 0 };

	parser->u->columns = parser->diff ? 2 : 1;
	parser->u->stacks.in_time = parser->chart;
	if (!next_section(parser, &cursor, false) || !parse_names(parser, &cursor) ||
	    !next_section(parser, &cursor, false) || !parse_tree(parser, &cursor) ||
	    !next_section(parser, &cursor, !parser->chart && !parser->diff))
		return false;
	parser->frames.self = parse_sparse(parser, &cursor);
	if (parser->frames.self && (parser->chart || parser->diff)) {
		if (!next_section(parser, &cursor, parser->chart))
			return false;
		parser->frames.other = parse_sparse(parser, &cursor);
	}
	return !parser->why && build_stacks(parser);
}

/* ---- data blocks of a document ------------------------------------------------------------------------------ */

static size_t count_blocks(struct str bytes)
{
	size_t n = 0;

	for (ptrdiff_t at; (at = str_find_str(bytes, DATA_TAG)) >= 0; n++)
		bytes = str_from(bytes, (size_t)at + DATA_TAG.n);
	return n;
}

static bool unpack_find_blocks(struct parser *parser, struct str bytes)
{
	if (!find_block(parser, &parser->config, bytes, 0, CONFIG_TAG))
		return unpack_fail(parser, 0,
				   str_find_str(bytes, STR("class=\"pj\"")) >= 0 ?
					   "no pj-c block: the picture has no samples, or is truncated" :
					   "not a picture of pjsvg: no pj-c block");
	if (!find_block(parser, &parser->data, bytes, parser->config.offset, DATA_TAG))
		return unpack_fail(parser, 0, "no pj-d block: the picture is truncated");
	return unpack_unescape(parser, &parser->config) && unpack_unescape(parser, &parser->data);
}

const char *unpack_parse(struct unpacked *unpacked, struct str bytes, size_t *offset)
{
	struct parser parser = { .u = unpacked };

	*unpacked = (struct unpacked){ .pictures = count_blocks(bytes) };
	if (unpack_find_blocks(&parser, bytes) && parse_config(&parser))
		parse_data(&parser);
	*offset = parser.where;
	text_free(&parser.config.text);
	text_free(&parser.data.text);
	free(parser.suffix);
	free(parser.kind);
	free(parser.names.frame);
	free(parser.frames.parent);
	free(parser.frames.name);
	free(parser.frames.self);
	free(parser.frames.other);
	arena_free(&parser.memory);
	return parser.why;
}

void unpack_free(struct unpacked *unpacked)
{
	stacks_free(&unpacked->stacks);
	text_free(&unpacked->header);
}
