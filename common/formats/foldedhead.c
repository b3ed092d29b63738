/* SPDX-License-Identifier: Apache-2.0 */
#include "common/formats/foldedhead.h"

#include "common/arena.h"

#include <stdlib.h>

#define NOISE_MAX 1000000 /* a larger dispersion, or more of them, is no measurement */

/* ---- header ------------------------------------------------------------------------------------------------ */

/* Values hold no blanks: they, '%' and control bytes travel as %XX. */
static void foldedhead_put_value(struct text *t, const char *key, struct str value)
{
	static const char hex[] = "0123456789ABCDEF";

	if (value.n == 0)
		return;
	text_printf(t, " %s=", key);
	for (size_t i = 0; i < value.n; i++) {
		unsigned char c = (unsigned char)value.p[i];

		if (c > ' ' && c != '%' && c != 0x7F) {
			text_char(t, (char)c);
		} else {
			text_char(t, '%');
			text_char(t, hex[c >> 4]);
			text_char(t, hex[c & 15]);
		}
	}
}

static void put_rule(struct text *t, const struct folded_header *h)
{
	if (h->windows[0] && h->windows[1])
		text_printf(t, " windows=%u,%u", h->windows[0], h->windows[1]);
	if (h->dispersion > 0)
		text_printf(t, " dispersion=%.2f", h->dispersion);
	if (h->drift > 0)
		text_printf(t, " drift=%.3f", h->drift);
	if (h->has_rule)
		text_printf(t, " z=%g points=%g relative=%g", h->z, h->points, h->relative);
}

static void foldedhead_put_header(struct text *t, const struct folded_header *h)
{
	text_add(t, "# pj");
	foldedhead_put_value(t, "unit", h->unit);
	foldedhead_put_value(t, "event", h->event);
	foldedhead_put_value(t, "frequency", h->frequency);
	foldedhead_put_value(t, "from", h->from);
	foldedhead_put_value(t, "to", h->to);
	foldedhead_put_value(t, "host", h->host);
	if (!h->samples_unknown)
		text_printf(t, " samples=%llu", (unsigned long long)h->samples);
	if (h->lost_known)
		text_printf(t, " lost=%llu", (unsigned long long)h->lost);
	foldedhead_put_value(t, "labels", h->labels);
	put_rule(t, h);
}

static struct str foldedhead_decoded(struct arena *a, struct str value)
{
	char *p = (char *)(uintptr_t)arena_copy(a, value).p;
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

/* Of several headers: numbers add up, the time range grows, what differs is joined by '+'. */
static void foldedhead_join(struct arena *a, struct str *have, struct str value)
{
	struct str rest = *have;
	char *p;

	while (rest.n)
		if (str_eq(str_cut(&rest, '+'), value))
			return;
	if (have->n == 0) {
		*have = value;
		return;
	}
	p = arena_alloc(a, 1, have->n + value.n + 1);
	memcpy(p, have->p, have->n);
	p[have->n] = '+';
	memcpy(p + have->n + 1, value.p, value.n);
	*have = (struct str){ p, have->n + value.n + 1 };
}

static bool foldedhead_later(struct str a, struct str b)
{
	return a.n != b.n ? a.n > b.n : str_cmp(a, b) > 0; /* numbers and ISO times of equal form */
}

/* A plain decimal from least to most; what is not keeps *to as it is. */
static bool foldedhead_get_number(struct str s, double least, double max, double *to)
{
	char text[32], *end;
	double d;

	if (s.n == 0 || s.n >= sizeof(text) || !byte_is_digit(s.p[0]))
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!strchr("0123456789.e-", s.p[i]) || !s.p[i])
			return false;
	memcpy(text, s.p, s.n);
	text[s.n] = 0;
	d = strtod(text, &end);
	if (*end || !(d >= least && d <= max))
		return false;
	*to = d;
	return true;
}

/* How changes are judged: of several headers the first that says. */
static void get_rule(struct str key, struct str value, struct folded_header *h, bool first_rule)
{
	uint64_t before, after;

	if (str_eq(key, STR("windows"))) {
		struct str rest = value, word = str_cut(&rest, ',');

		if (!h->windows[0] && str_u64(word, &before) && str_u64(rest, &after) && before && after &&
		    before <= NOISE_MAX && after <= NOISE_MAX) {
			h->windows[0] = (unsigned)before;
			h->windows[1] = (unsigned)after;
		}
	} else if (str_eq(key, STR("dispersion")) && h->dispersion <= 0) {
		foldedhead_get_number(value, 1, NOISE_MAX, &h->dispersion);
	} else if (str_eq(key, STR("drift")) && h->drift <= 0) {
		foldedhead_get_number(value, 0.001, 1, &h->drift);
	} else if (first_rule && str_eq(key, STR("z"))) {
		h->has_rule |= foldedhead_get_number(value, 0, 1000, &h->z);
	} else if (first_rule && str_eq(key, STR("points"))) {
		h->has_rule |= foldedhead_get_number(value, 0, 100, &h->points);
	} else if (first_rule && str_eq(key, STR("relative"))) {
		h->has_rule |= foldedhead_get_number(value, 0, 1, &h->relative);
	}
}

/* What becomes of a text that every header has. */
enum several { JOINED, EARLIEST, LATEST };

static const struct {
	struct str key;
	size_t at; /* in the header */
	enum several several;
} texts[] = {
	{ STR("event"), offsetof(struct folded_header, event), JOINED },
	{ STR("host"), offsetof(struct folded_header, host), JOINED },
	{ STR("labels"), offsetof(struct folded_header, labels), JOINED },
	{ STR("frequency"), offsetof(struct folded_header, frequency), JOINED },
	{ STR("from"), offsetof(struct folded_header, from), EARLIEST },
	{ STR("to"), offsetof(struct folded_header, to), LATEST },
};

static bool get_text(struct str key, struct str value, struct folded_header *h, struct arena *a)
{
	for (size_t i = 0; i < countof(texts); i++) {
		struct str *have = (struct str *)(void *)((char *)h + texts[i].at);

		if (!str_eq(key, texts[i].key))
			continue;
		if (texts[i].several == JOINED)
			foldedhead_join(a, have, value);
		else if (have->n == 0 ||
			 (texts[i].several == LATEST ? foldedhead_later(value, *have) : foldedhead_later(*have, value)))
			*have = value;
		return true;
	}
	return false;
}

static void get_unit(struct str unit, struct folded_header *h, struct place at)
{
	if (h->unit.n && !str_eq(h->unit, unit))
		die_at(at, "unit '%.*s' cannot be added to '%.*s' of the input before", (int)unit.n, unit.p,
		       (int)h->unit.n, h->unit.p);
	h->unit = unit;
}

static void foldedhead_get_header(struct str line, struct folded_header *h, struct arena *a, struct place at)
{
	bool first_rule = !h->has_rule, samples = false;
	uint64_t n;

	h->present = true;
	while (line.n) {
		struct str value = str_cut(&line, ' '), key = str_cut(&value, '=');

		value = foldedhead_decoded(a, value);
		if (str_eq(key, STR("unit"))) {
			get_unit(value, h, at);
		} else if (str_eq(key, STR("samples")) && str_u64(value, &n)) {
			h->samples += n;
			samples = true;
		} else if (str_eq(key, STR("lost")) && str_u64(value, &n)) {
			h->lost += n;
			h->lost_known = true;
		} else if (!get_text(key, value, h, a)) {
			get_rule(key, value, h, first_rule);
		}
	}
	h->samples_unknown |= !samples;
}

/* ---- dispersion ---------------------------------------------------------------------------------------------- */

/* "4.20 a;b;c" */
static void keep_about(struct folded_comments *c, struct str line)
{
	struct str stack = line, number = str_cut(&stack, ' ');
	double dispersion;

	if (stack.n == 0 || c->n >= NOISE_MAX || !foldedhead_get_number(number, 1, NOISE_MAX, &dispersion))
		return;
	if (c->n == c->cap) {
		c->cap = c->cap ? c->cap * 2 : 64;
		c->about = mem_grow(c->about, sizeof(*c->about), c->cap);
	}
	c->about[c->n++] = (struct folded_about){ dispersion, c->stacks.n, stack.n };
	text_str(&c->stacks, stack);
}

bool folded_is_header(struct str line)
{
	return str_starts(line, STR("# pj")) && (line.n == 4 || line.p[4] == ' ');
}

void folded_comment(struct folded_comments *c, struct folded_header *h, struct str line, struct stacks *s,
		    struct place at)
{
	line = str_trim(line);
	if (folded_is_header(line)) {
		foldedhead_get_header(str_trim_left(str_from(line, 4)), h, &s->frames.bytes, at);
		c->header = true;
	} else if (str_starts(line, STR("# dispersion "))) {
		keep_about(c, str_from(line, 13));
	}
}

/* The node of a stack that is there, or 0. */
static uint32_t find_stack(struct stacks *s, struct str stack)
{
	uint32_t node = 0;
	bool more = true;

	while (more) {
		uint32_t frame;
		size_t n = stack.n;
		struct str name = str_cut(&stack, ';');

		more = name.n < n;
		frame = intern_find(&s->frames, name);
		node = frame ? stacks_find(s, node, frame) : 0;
		if (!node)
			return 0;
	}
	return node;
}

/* Lines about stacks that are not there say nothing. */
void folded_comments_end(struct folded_comments *c, struct folded_header *h, struct stacks *s)
{
	size_t n = h->nnoise;
	struct folded_noise *all;

	if (c->n) {
		all = arena_new(&s->frames.bytes, struct folded_noise, n + c->n);
		if (n)
			memcpy(all, h->noise, n * sizeof(*all));
		for (size_t i = 0; i < c->n; i++) {
			uint32_t node = find_stack(s, (struct str){ c->stacks.p + c->about[i].at, c->about[i].n });

			if (node)
				all[n++] = (struct folded_noise){ node, (float)c->about[i].dispersion };
		}
		h->noise = all;
		h->nnoise = n;
	}
	text_free(&c->stacks);
	free(c->about);
	*c = (struct folded_comments){ 0 };
}

/* By node, 0 where nothing is said; of several lines about a node the last counts. */
static float *noise_by_node(const struct folded_header *h, const struct stacks *s)
{
	float *by_node = mem_alloc(sizeof(*by_node), s->n);

	for (size_t i = 0; i < h->nnoise; i++)
		if (h->noise[i].node < s->n && h->noise[i].dispersion >= 1)
			by_node[h->noise[i].node] = h->noise[i].dispersion;
	return by_node;
}

float *folded_dispersion(const struct folded_header *h, const struct stacks *s)
{
	float *by_node;

	if (s->n == 0 || (!(h->dispersion > 0) && h->nnoise == 0))
		return NULL;
	by_node = noise_by_node(h, s);
	by_node[0] = h->dispersion > 0 ? (float)h->dispersion : 1;
	for (uint32_t id = 1; id < s->n; id++) /* callers come first */
		if (by_node[id] <= 0)
			by_node[id] = by_node[s->node[id].parent];
	return by_node;
}

/* "a;b;c" of a node, from behind, since nodes know their callers. */
static void foldedhead_put_stack(struct text *t, const struct stacks *s, uint32_t node)
{
	size_t n = 0, at;

	for (uint32_t id = node; id; id = s->node[id].parent)
		n += intern_str(&s->frames, s->node[id].frame).n + 1;
	text_reserve(t, n);
	at = t->n += n - 1;
	for (uint32_t id = node; id; id = s->node[id].parent) {
		struct str frame = intern_str(&s->frames, s->node[id].frame);

		at -= frame.n;
		if (frame.n)
			memcpy(t->p + at, frame.p, frame.n);
		if (s->node[id].parent)
			t->p[--at] = ';';
	}
}

static void put_noise(struct text *t, const struct stacks *s, const struct folded_header *h)
{
	float *by_node = noise_by_node(h, s);
	struct stacks_walk walk;

	stacks_walk_begin(&walk, s);
	for (uint32_t id; (id = stacks_walk_next(&walk)) != 0;) {
		if (by_node[id] <= 0)
			continue;
		text_printf(t, "\n# dispersion %.2f ", (double)by_node[id]);
		foldedhead_put_stack(t, s, id);
	}
	stacks_walk_end(&walk);
	free(by_node);
}

void folded_head(struct text *t, const struct folded_header *h, const struct stacks *s, unsigned columns)
{
	foldedhead_put_header(t, h);
	if (columns == 2 && h->nnoise)
		put_noise(t, s, h);
}
