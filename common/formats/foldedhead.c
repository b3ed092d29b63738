/* SPDX-License-Identifier: Apache-2.0 */
#include "common/formats/foldedhead.h"

#include "common/arena.h"

#include <stdlib.h>

/* Maximum plausible value in the header of a differential profile: of a dispersion (variance / mean), of the number of
 * lines with dispersions, and of the number of windows of a side. Larger values are ignored. */
#define NOISE_MAX 1000000

/* ---- header line ------------------------------------------------------------------------------------------------- */

/* Appends " key=value", or nothing if value is empty. In value, blanks, control bytes and '%' become %XX. */
static void foldedhead_put_value(struct text *text, const char *key, struct str value)
{
	static const char hex[] = "0123456789ABCDEF";

	if (value.n == 0)
		return;
	text_printf(text, " %s=", key);
	for (size_t i = 0; i < value.n; i++) {
		unsigned char byte = (unsigned char)value.p[i];

		if (byte > ' ' && byte != '%' && byte != 0x7F) {
			text_char(text, (char)byte);
		} else {
			text_char(text, '%');
			text_char(text, hex[byte >> 4]);
			text_char(text, hex[byte & 15]);
		}
	}
}

static void put_rule(struct text *text, const struct folded_header *header)
{
	if (header->windows[0] && header->windows[1])
		text_printf(text, " windows=%u,%u", header->windows[0], header->windows[1]);
	if (header->dispersion > 0)
		text_printf(text, " dispersion=%.2f", header->dispersion);
	if (header->drift > 0)
		text_printf(text, " drift=%.3f", header->drift);
	if (header->has_rule)
		text_printf(text, " z=%g points=%g relative=%g", header->z, header->points, header->relative);
	if (header->has_compare)
		text_printf(text, " compare=%s", header->by_shares ? "shares" : "counts");
}

static void foldedhead_put_header(struct text *text, const struct folded_header *header)
{
	text_add(text, "# pj");
	foldedhead_put_value(text, "unit", header->unit);
	foldedhead_put_value(text, "event", header->event);
	foldedhead_put_value(text, "frequency", header->frequency);
	foldedhead_put_value(text, "from", header->from);
	foldedhead_put_value(text, "to", header->to);
	foldedhead_put_value(text, "host", header->host);
	if (!header->samples_unknown)
		text_printf(text, " samples=%llu", (unsigned long long)header->samples);
	if (header->lost_known)
		text_printf(text, " lost=%llu", (unsigned long long)header->lost);
	foldedhead_put_value(text, "labels", header->labels);
	put_rule(text, header);
}

static struct str foldedhead_decoded(struct arena *arena, struct str value)
{
	char *p = (char *)(uintptr_t)arena_copy(arena, value).p;
	size_t w = 0;

	for (size_t i = 0; i < value.n; i++) {
		uint64_t c;

		if (p[i] == '%' && i + 2 < value.n && str_hex(str_head(str_from(value, i + 1), 2), &c)) {
			p[w++] = (char)c;
			i += 2;
		} else {
			p[w++] = p[i];
		}
	}
	return (struct str){ p, w };
}

/* Size in bytes of a list of values to which no further value is appended. Appending copies the list. */
enum { JOINED_MAX = 1000 };

void folded_header_join(struct arena *arena, struct str *have, struct str value)
{
	struct str rest = *have;
	char *p;

	if (value.n == 0 || have->n > JOINED_MAX)
		return;
	while (rest.n)
		if (str_eq(str_cut(&rest, '+'), value))
			return;
	if (have->n == 0) {
		*have = arena_copy(arena, value);
		return;
	}
	p = arena_alloc(arena, 1, have->n + value.n + 1);
	memcpy(p, have->p, have->n);
	p[have->n] = '+';
	memcpy(p + have->n + 1, value.p, value.n);
	*have = (struct str){ p, have->n + value.n + 1 };
}

/* Returns true if the time `string` is later than `other`. Both are decimal numbers or ISO times of one form. */
static bool foldedhead_later(struct str string, struct str other)
{
	struct str rest = string, other_rest = other;
	size_t whole = str_cut(&rest, '.').n, other_whole = str_cut(&other_rest, '.').n;

	/* bytewise order equals numeric order if the integral parts have equal length, and time order for ISO times */
	return whole != other_whole ? whole > other_whole : str_cmp(string, other) > 0;
}

/* Sets *have to the earlier or, with `latest`, to the later of both times. An empty *have is replaced. */
static void foldedhead_take_time(struct str *have, struct str value, bool latest)
{
	if (have->n == 0 || (latest ? foldedhead_later(value, *have) : foldedhead_later(*have, value)))
		*have = value;
}

void folded_header_times(struct folded_header *header, struct str from, struct str to)
{
	foldedhead_take_time(&header->from, from, false);
	foldedhead_take_time(&header->to, to, true);
}

/* Parses a decimal number from least to max into *to. Returns false, and leaves *to unchanged, for other text. */
static bool foldedhead_get_number(struct str string, double least, double max, double *to)
{
	char text[32], *end;
	double d;

	if (string.n == 0 || string.n >= sizeof(text) || !byte_is_digit(string.p[0]))
		return false;
	for (size_t i = 0; i < string.n; i++)
		if (!strchr("0123456789.e-", string.p[i]) || !string.p[i])
			return false;
	memcpy(text, string.p, string.n);
	text[string.n] = 0;
	d = strtod(text, &end);
	if (*end || !(d >= least && d <= max))
		return false;
	*to = d;
	return true;
}

/* Parses a key of the significance rule; ignores other keys. windows, dispersion, drift and compare are each from the
 * first header with this key. z, points and relative are from the first header that has any of the three. first_rule:
 * true if no earlier header has any of z, points and relative. */
static void get_rule(struct str key, struct str value, struct folded_header *header, bool first_rule)
{
	uint64_t before, after;

	if (str_eq(key, STR("windows"))) {
		struct str rest = value, word = str_cut(&rest, ',');

		if (!header->windows[0] && str_u64(word, &before) && str_u64(rest, &after) && before && after &&
		    before <= NOISE_MAX && after <= NOISE_MAX) {
			header->windows[0] = (unsigned)before;
			header->windows[1] = (unsigned)after;
		}
	} else if (str_eq(key, STR("dispersion")) && header->dispersion <= 0) {
		foldedhead_get_number(value, 1, NOISE_MAX, &header->dispersion);
	} else if (str_eq(key, STR("drift")) && header->drift <= 0) {
		foldedhead_get_number(value, 0.001, 1, &header->drift);
	} else if (first_rule && str_eq(key, STR("z"))) {
		header->has_rule |= foldedhead_get_number(value, 0, 1000, &header->z);
	} else if (first_rule && str_eq(key, STR("points"))) {
		header->has_rule |= foldedhead_get_number(value, 0, 100, &header->points);
	} else if (first_rule && str_eq(key, STR("relative"))) {
		header->has_rule |= foldedhead_get_number(value, 0, 1, &header->relative);
	} else if (!header->has_compare && str_eq(key, STR("compare"))) {
		header->by_shares = str_eq(value, STR("shares"));
		header->has_compare = header->by_shares || str_eq(value, STR("counts"));
	}
}

/* Rule by which the texts of several headers become one text: all texts joined by '+', the earliest time, or the latest
 * time. */
enum several { JOINED, EARLIEST, LATEST };

static const struct {
	struct str key;
	size_t at; /* offset of the member in struct folded_header */
	enum several several;
} texts[] = {
	{ STR("event"), offsetof(struct folded_header, event), JOINED },
	{ STR("host"), offsetof(struct folded_header, host), JOINED },
	{ STR("labels"), offsetof(struct folded_header, labels), JOINED },
	{ STR("frequency"), offsetof(struct folded_header, frequency), JOINED },
	{ STR("from"), offsetof(struct folded_header, from), EARLIEST },
	{ STR("to"), offsetof(struct folded_header, to), LATEST },
};

static bool get_text(struct str key, struct str value, struct folded_header *header, struct arena *arena)
{
	for (size_t i = 0; i < countof(texts); i++) {
		struct str *have = (struct str *)(void *)((char *)header + texts[i].at);

		if (!str_eq(key, texts[i].key))
			continue;
		if (texts[i].several == JOINED)
			folded_header_join(arena, have, value);
		else
			foldedhead_take_time(have, value, texts[i].several == LATEST);
		return true;
	}
	return false;
}

static void get_unit(struct str unit, struct folded_header *header, struct place place)
{
	if (header->unit.n && !str_eq(header->unit, unit))
		die_at(place, "unit '%.*s' cannot be added to '%.*s' of the input before", (int)unit.n, unit.p,
		       (int)header->unit.n, header->unit.p);
	header->unit = unit;
}

static void foldedhead_get_header(struct str line, struct folded_header *header, struct arena *arena,
				  struct place place)
{
	bool first_rule = !header->has_rule, first = !header->present, samples = false, lost = false;
	uint64_t n;

	header->present = true;
	while (line.n) {
		struct str value = str_cut(&line, ' '), key = str_cut(&value, '=');

		value = foldedhead_decoded(arena, value);
		if (str_eq(key, STR("unit"))) {
			get_unit(value, header, place);
		} else if (str_eq(key, STR("samples")) && str_u64(value, &n)) {
			header->samples += n;
			samples = true;
		} else if (str_eq(key, STR("lost")) && str_u64(value, &n)) {
			header->lost += n;
			lost = true;
		} else if (!get_text(key, value, header, arena)) {
			get_rule(key, value, header, first_rule);
		}
	}
	header->samples_unknown |= !samples;
	header->lost_known = lost && (first || header->lost_known);
}

/* ---- dispersion lines -------------------------------------------------------------------------------------------- */

/* Parses "4.20 a;b;c", the text of a dispersion line, and stores dispersion and stack in *comments. */
static void keep_about(struct folded_comments *comments, struct str line)
{
	struct str stack = line, number = str_cut(&stack, ' ');
	double dispersion;

	if (stack.n == 0 || comments->n >= NOISE_MAX || !foldedhead_get_number(number, 1, NOISE_MAX, &dispersion))
		return;
	if (comments->n == comments->cap) {
		comments->cap = comments->cap ? comments->cap * 2 : 64;
		comments->about = mem_grow(comments->about, sizeof(*comments->about), comments->cap);
	}
	comments->about[comments->n++] = (struct folded_about){ dispersion, comments->stacks.n, stack.n };
	text_str(&comments->stacks, stack);
}

bool folded_is_header(struct str line)
{
	return str_starts(line, STR("# pj")) && (line.n == 4 || line.p[4] == ' ');
}

void folded_comment(struct folded_comments *comments, struct folded_header *header, struct str line,
		    struct stacks *stacks, struct place place)
{
	line = str_trim(line);
	if (folded_is_header(line)) {
		foldedhead_get_header(str_trim_left(str_from(line, 4)), header, &stacks->frames.bytes, place);
		comments->header = true;
	} else if (str_starts(line, STR("# dispersion "))) {
		keep_about(comments, str_from(line, 13));
	}
}

/* Returns the node of the stack "a;b;c"; 0 if the tree does not have it. */
static uint32_t find_stack(struct stacks *stacks, struct str stack)
{
	uint32_t node = 0;
	bool more = true;

	while (more) {
		uint32_t frame;
		size_t n = stack.n;
		struct str name = str_cut(&stack, ';');

		more = name.n < n;
		frame = intern_find(&stacks->frames, name);
		node = frame ? stacks_find(stacks, node, frame) : 0;
		if (!node)
			return 0;
	}
	return node;
}

/* a dispersion of a stack that the tree does not have is ignored */
void folded_comments_end(struct folded_comments *comments, struct folded_header *header, struct stacks *stacks)
{
	size_t n = header->nnoise;
	struct folded_noise *all;

	if (comments->n) {
		all = arena_new(&stacks->frames.bytes, struct folded_noise, n + comments->n);
		if (n)
			memcpy(all, header->noise, n * sizeof(*all));
		for (size_t i = 0; i < comments->n; i++) {
			uint32_t node = find_stack(stacks, (struct str){ comments->stacks.p + comments->about[i].at,
									 comments->about[i].n });

			if (node)
				all[n++] = (struct folded_noise){ node, (float)comments->about[i].dispersion };
		}
		header->noise = all;
		header->nnoise = n;
	}
	text_free(&comments->stacks);
	free(comments->about);
	*comments = (struct folded_comments){ 0 };
}

/* Returns an array by node with the dispersion from the node's dispersion line: 0 if the node has no line, the value of
 * the last line if it has several lines. The caller frees it. */
static float *noise_by_node(const struct folded_header *header, const struct stacks *stacks)
{
	float *by_node = mem_alloc(sizeof(*by_node), stacks->n);

	for (size_t i = 0; i < header->nnoise; i++)
		if (header->noise[i].node < stacks->n && header->noise[i].dispersion >= 1)
			by_node[header->noise[i].node] = header->noise[i].dispersion;
	return by_node;
}

float *folded_dispersion(const struct folded_header *header, const struct stacks *stacks)
{
	float *by_node;

	if (stacks->n == 0 || (!(header->dispersion > 0) && header->nnoise == 0))
		return NULL;
	by_node = noise_by_node(header, stacks);
	by_node[0] = header->dispersion > 0 ? (float)header->dispersion : 1;
	for (uint32_t id = 1; id < stacks->n; id++) /* callers have smaller ids, so their values are already set */
		if (by_node[id] <= 0)
			by_node[id] = by_node[stacks->node[id].parent];
	return by_node;
}

/* Appends the stack of a node, "a;b;c". Writes it from its end, because nodes link to their callers. */
static void foldedhead_put_stack(struct text *text, const struct stacks *stacks, uint32_t node)
{
	size_t n = 0, at;

	for (uint32_t id = node; id; id = stacks->node[id].parent)
		n += intern_str(&stacks->frames, stacks->node[id].frame).n + 1;
	text_reserve(text, n);
	at = text->n += n - 1;
	for (uint32_t id = node; id; id = stacks->node[id].parent) {
		struct str frame = intern_str(&stacks->frames, stacks->node[id].frame);

		at -= frame.n;
		if (frame.n)
			memcpy(text->p + at, frame.p, frame.n);
		if (stacks->node[id].parent)
			text->p[--at] = ';';
	}
}

static void put_noise(struct text *text, const struct stacks *stacks, const struct folded_header *header)
{
	float *by_node = noise_by_node(header, stacks);
	struct stacks_walk walk;

	stacks_walk_begin(&walk, stacks);
	for (uint32_t id; (id = stacks_walk_next(&walk)) != 0;) {
		if (by_node[id] <= 0)
			continue;
		text_printf(text, "\n# dispersion %.2f ", (double)by_node[id]);
		foldedhead_put_stack(text, stacks, id);
	}
	stacks_walk_end(&walk);
	free(by_node);
}

void folded_head(struct text *text, const struct folded_header *header, const struct stacks *stacks, unsigned columns)
{
	foldedhead_put_header(text, header);
	if (columns == 2 && header->nnoise)
		put_noise(text, stacks, header);
}
