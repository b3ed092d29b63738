/* SPDX-License-Identifier: Apache-2.0 */
#include "folded.h"

#include "arena.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define NOISE_MAX 1000000 /* a larger dispersion, or more of them, is no measurement */

/* ---- lines ------------------------------------------------------------------------------------------------- */

/* Decimals and exponents of other tools: rounded to the nearest whole number. */
static const char *parse_decimal(struct str s, uint64_t *weight)
{
	char text[64], *end;
	double d;

	if (s.n == 0 || s.n >= sizeof(text))
		return "no weight at the end of the line";
	for (size_t i = 0; i < s.n; i++)
		if (!strchr("0123456789.eE+-", s.p[i]))
			return "no weight at the end of the line";
	memcpy(text, s.p, s.n);
	text[s.n] = 0;
	d = strtod(text, &end);
	if (*end || end == text)
		return "no weight at the end of the line";
	if (d < 0)
		return "the weight is negative";
	if (!(d < 9.2e18))
		return "the weight does not fit into 63 bits";
	*weight = (uint64_t)llround(d);
	return NULL;
}

/* Splits the last word off. */
static struct str last_word(struct str *s)
{
	size_t i = s->n;
	struct str word;

	while (i && s->p[i - 1] != ' ' && s->p[i - 1] != '\t')
		i--;
	word = str_from(*s, i);
	*s = str_trim_right(str_head(*s, i));
	return word;
}

const char *folded_parse(struct str line, struct str *stack, uint64_t *weight, bool *rounded)
{
	struct str number;
	const char *why = NULL;

	*rounded = false;
	line = str_trim_right(line);
	number = last_word(&line);
	if (!str_u64(number, weight) || *weight > INT64_MAX) {
		bool digits = number.n > 0;

		for (size_t i = 0; i < number.n; i++)
			digits = digits && number.p[i] >= '0' && number.p[i] <= '9';
		why = digits ? "the weight does not fit into 63 bits" : parse_decimal(number, weight);
		*rounded = why == NULL;
	}
	if (!why && line.n == 0)
		why = "no stack before the weight";
	*stack = line;
	return why;
}

/* Does the stack itself end in an integer, as in "a;b 1 2"? */
static bool cut_column(struct str *stack, uint64_t *before)
{
	struct str rest = *stack, word = last_word(&rest);

	if (rest.n == 0 || !str_u64(word, before) || *before > INT64_MAX)
		return false;
	*stack = rest;
	return true;
}

struct str folded_bare(struct str f)
{
	if (f.n > 4 && f.p[f.n - 1] == ']' && f.p[f.n - 3] == '[' && f.p[f.n - 4] == '_' &&
	    memchr("kji01w", f.p[f.n - 2], 6))
		f.n -= 4;
	return f;
}

/* ---- header ------------------------------------------------------------------------------------------------ */

/* Values hold no blanks: they, '%' and control bytes travel as %XX. */
static void put_value(struct text *t, const char *key, struct str value)
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

static void put_header(struct text *t, const struct folded_header *h)
{
	text_add(t, "# pj");
	put_value(t, "unit", h->unit);
	put_value(t, "event", h->event);
	put_value(t, "frequency", h->frequency);
	put_value(t, "from", h->from);
	put_value(t, "to", h->to);
	put_value(t, "host", h->host);
	text_printf(t, " samples=%llu", (unsigned long long)h->samples);
	if (h->lost_known)
		text_printf(t, " lost=%llu", (unsigned long long)h->lost);
	put_value(t, "labels", h->labels);
	put_rule(t, h);
}

static struct str decoded(struct arena *a, struct str value)
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
static void join(struct arena *a, struct str *have, struct str value)
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

static bool later(struct str a, struct str b)
{
	return a.n != b.n ? a.n > b.n : str_cmp(a, b) > 0; /* numbers and ISO times of equal form */
}

/* A plain decimal from least to most; what is not keeps *to as it is. */
static bool get_number(struct str s, double least, double most, double *to)
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
	if (*end || !(d >= least && d <= most))
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
		get_number(value, 1, NOISE_MAX, &h->dispersion);
	} else if (str_eq(key, STR("drift")) && h->drift <= 0) {
		get_number(value, 0.001, 1, &h->drift);
	} else if (first_rule && str_eq(key, STR("z"))) {
		h->has_rule |= get_number(value, 0, 1000, &h->z);
	} else if (first_rule && str_eq(key, STR("points"))) {
		h->has_rule |= get_number(value, 0, 100, &h->points);
	} else if (first_rule && str_eq(key, STR("relative"))) {
		h->has_rule |= get_number(value, 0, 1, &h->relative);
	}
}

static void get_header(struct str line, struct arena *a, struct folded_header *h, struct place at)
{
	bool first_rule = !h->has_rule;
	uint64_t n;

	h->present = true;
	while (line.n) {
		struct str value = str_cut(&line, ' '), key = str_cut(&value, '=');

		value = decoded(a, value);
		if (str_eq(key, STR("unit"))) {
			if (h->unit.n && !str_eq(h->unit, value))
				die_at(at, "unit '%.*s' cannot be added to '%.*s' of the input before", (int)value.n,
				       value.p, (int)h->unit.n, h->unit.p);
			h->unit = value;
		} else if (str_eq(key, STR("event"))) {
			join(a, &h->event, value);
		} else if (str_eq(key, STR("host"))) {
			join(a, &h->host, value);
		} else if (str_eq(key, STR("labels"))) {
			join(a, &h->labels, value);
		} else if (str_eq(key, STR("frequency"))) {
			join(a, &h->frequency, value);
		} else if (str_eq(key, STR("from"))) {
			if (h->from.n == 0 || later(h->from, value))
				h->from = value;
		} else if (str_eq(key, STR("to"))) {
			if (h->to.n == 0 || later(value, h->to))
				h->to = value;
		} else if (str_eq(key, STR("samples")) && str_u64(value, &n)) {
			h->samples += n;
		} else if (str_eq(key, STR("lost")) && str_u64(value, &n)) {
			h->lost += n;
			h->lost_known = true;
		} else {
			get_rule(key, value, h, first_rule);
		}
	}
}

/* ---- dispersion ---------------------------------------------------------------------------------------------- */

/* `# dispersion 4.20 a;b;c` lines as read: which nodes they mean is known when all stacks are there. */
struct noises {
	char *text;
	size_t n, cap;
	struct noise {
		double dispersion;
		size_t at, n; /* of the stack in text */
	} *noise;
	size_t nnoise, noise_cap;
};

static void keep_noise(struct noises *k, struct str line)
{
	struct str stack = line, number = str_cut(&stack, ' ');
	double dispersion;

	if (stack.n == 0 || k->nnoise >= NOISE_MAX || !get_number(number, 1, NOISE_MAX, &dispersion))
		return;
	if (k->n + stack.n > k->cap) {
		k->cap = (k->n + stack.n) * 2;
		k->text = mem_grow(k->text, 1, k->cap);
	}
	if (k->nnoise == k->noise_cap) {
		k->noise_cap = k->noise_cap ? k->noise_cap * 2 : 64;
		k->noise = mem_grow(k->noise, sizeof(*k->noise), k->noise_cap);
	}
	k->noise[k->nnoise++] = (struct noise){ dispersion, k->n, stack.n };
	memcpy(k->text + k->n, stack.p, stack.n);
	k->n += stack.n;
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
static void take_noise(struct noises *k, struct stacks *s, struct folded_header *h)
{
	size_t n = h->nnoise;
	struct folded_noise *all;

	if (k->nnoise) {
		all = arena_new(&s->frames.bytes, struct folded_noise, n + k->nnoise);
		if (n)
			memcpy(all, h->noise, n * sizeof(*all));
		for (size_t i = 0; i < k->nnoise; i++) {
			uint32_t node = find_stack(s, (struct str){ k->text + k->noise[i].at, k->noise[i].n });

			if (node)
				all[n++] = (struct folded_noise){ node, (float)k->noise[i].dispersion };
		}
		h->noise = all;
		h->nnoise = n;
	}
	free(k->text);
	free(k->noise);
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

/* ---- reading ----------------------------------------------------------------------------------------------- */

/*
 * The path of the stack before. Folded text is mostly sorted, so a stack shares most of its frames with the one
 * before it: only what differs is looked up.
 *
 * While the text is in the order in which we write, what differs is not looked up either: in an empty tree it is new, and
 * in the sorted tree of a text before, the base, it is found by walking along. A frame out of order is looked up with all
 * that it calls; what follows is in order again when it comes behind all its siblings before.
 */
struct path {
	struct stacks *s;
	bool along;      /* what is in order is not looked up */
	bool in_order;   /* all was */
	size_t loose;    /* below so many steps all is looked up */
	uint32_t base;   /* nodes that were there before */
	uint32_t cursor; /* the first of them that was not passed */
	char *text;
	size_t n, cap;
	struct step {
		size_t end; /* of the frame's text */
		uint32_t node;
		uint32_t last; /* of its siblings in this text so far, by bytes */
	} *step;
	size_t nsteps, steps_cap;
	uint32_t *frame; /* of the stack, from the first that differs */
	size_t frames_cap;
};

/* A text begins. */
static void path_begin(struct path *p, struct stacks *s)
{
	p->s = s;
	p->along = !s->in_time && (s->n <= 1 || s->sorted == s->n);
	p->in_order = true;
	p->loose = SIZE_MAX;
	p->base = s->n ? s->n : 1;
	p->cursor = 1;
}

/* All lines were in order: so is the tree that was made of them. */
static void path_end(const struct path *p)
{
	if (p->along && p->in_order && p->base == 1)
		p->s->sorted = p->s->n;
}

/* How far the texts are the same. */
static size_t common_bytes(const char *a, const char *b, size_t max)
{
	size_t same = 0;

	while (same + 64 <= max && memcmp(a + same, b + same, 64) == 0)
		same += 64;
	while (same + 8 <= max && memcmp(a + same, b + same, 8) == 0)
		same += 8;
	while (same < max && a[same] == b[same])
		same++;
	return same;
}

static struct step *path_step(struct path *p)
{
	if (unlikely(p->nsteps == p->steps_cap)) {
		p->steps_cap = p->steps_cap ? p->steps_cap * 2 : 256;
		p->step = mem_grow(p->step, sizeof(*p->step), p->steps_cap);
	}
	return &p->step[p->nsteps++];
}

/* The byte of a frame that ends before end or at a ';', or -1. */
static int byte_before(const char *p, size_t i, size_t end)
{
	return i < end && p[i] != ';' ? (unsigned char)p[i] : -1;
}

/* Does the frame of stack at `at` come behind its siblings before? The texts are the same up to `same`. */
static bool follows(const struct path *p, struct str stack, size_t at, size_t same)
{
	const struct step *before = &p->step[p->nsteps];
	struct str rest = str_from(stack, at);

	if (before->last == before->node)
		return byte_before(stack.p, same, stack.n) > byte_before(p->text, same, before->end);
	return str_cmp(str_cut(&rest, ';'), intern_str(&p->s->frames, p->s->node[before->last].frame)) > 0;
}

/* The node of the base for the first frame of rest, or 0. Whoever calls for frames in order finds them further on. */
static uint32_t path_along(struct path *p, uint32_t parent, struct str rest)
{
	const struct stacks *s = p->s;

	for (; p->cursor < p->base; p->cursor++) {
		const struct stacks_node *node = &s->node[p->cursor];
		struct str name = intern_str(&s->frames, node->frame), tail = rest;

		if (node->parent < parent)
			break; /* past all that parent calls */
		if (node->parent > parent)
			continue; /* below what was passed */
		if (name.n <= rest.n && (name.n == rest.n || rest.p[name.n] == ';') && memcmp(name.p, rest.p, name.n) == 0)
			return p->cursor++;
		if (str_cmp(name, str_cut(&tail, ';')) > 0)
			break;
	}
	return 0;
}

static uint32_t path_go_along(struct path *p, uint32_t node, struct str stack, size_t at)
{
	while (at <= stack.n) {
		struct str rest = str_from(stack, at), frame;
		uint32_t known = node < p->base ? path_along(p, node, rest) : 0;

		if (known) {
			frame = intern_str(&p->s->frames, p->s->node[known].frame);
			node = known;
		} else {
			frame = str_cut(&rest, ';');
			node = stacks_append(p->s, node, stacks_frame(p->s, frame));
		}
		at += frame.n;
		*path_step(p) = (struct step){ at++, node, node };
	}
	return node;
}

static uint32_t path_go(struct path *p, uint32_t node, struct str stack, size_t at)
{
	size_t first = p->nsteps, n = 0;

	while (at <= stack.n) {
		struct str rest = str_from(stack, at), frame = str_cut(&rest, ';');

		if (n == p->frames_cap) {
			p->frames_cap = p->frames_cap ? p->frames_cap * 2 : 256;
			p->frame = mem_grow(p->frame, sizeof(*p->frame), p->frames_cap);
		}
		p->frame[n++] = stacks_frame(p->s, frame);
		path_step(p)->end = at + frame.n;
		at += frame.n + 1;
	}
	stacks_expect(p->s, node, p->frame, n);
	for (size_t i = 0; i < n; i++)
		p->step[first + i].node = node = stacks_child(p->s, node, p->frame[i]);
	return node;
}

static uint32_t path_to(struct path *p, struct str stack)
{
	size_t same = common_bytes(p->text, stack.p, stack.n < p->n ? stack.n : p->n), nsteps = p->nsteps, at;
	uint32_t node;

	/* a step counts only if its frame ends in both texts */
	while (p->nsteps) {
		size_t end = p->step[p->nsteps - 1].end;

		if (end <= same && (end == stack.n || stack.p[end] == ';'))
			break;
		p->nsteps--;
	}
	at = p->nsteps ? p->step[p->nsteps - 1].end + 1 : 0;
	node = p->nsteps ? p->step[p->nsteps - 1].node : 0;
	if (p->nsteps < p->loose)
		p->loose = SIZE_MAX;
	if (p->along && p->nsteps < nsteps && p->loose == SIZE_MAX) {
		if (at > stack.n)
			p->loose = p->nsteps; /* back to a caller: what it calls next may be there */
		else if (!follows(p, stack, at, same))
			p->loose = p->nsteps + 1;
		p->in_order = p->in_order && p->loose == SIZE_MAX;
	}
	node = (p->along && p->loose == SIZE_MAX ? path_go_along : path_go)(p, node, stack, at);
	if (stack.n > p->cap) {
		p->cap = stack.n * 2;
		p->text = mem_grow(p->text, 1, p->cap);
	}
	if (stack.n)
		memcpy(p->text + same, stack.p + same, stack.n - same);
	p->n = stack.n;
	return node;
}

static void path_free(struct path *p)
{
	free(p->text);
	free(p->step);
	free(p->frame);
}

uint32_t folded_node(struct stacks *s, struct str stack)
{
	struct path p = { .s = s };
	uint32_t node = path_to(&p, stack);

	path_free(&p);
	return node;
}

static void bad_line(struct folded_tally *t, struct place at, const char *why)
{
	for (size_t i = 0; i < countof(t->first_bad); i++) {
		if (!t->first_bad[i].name) {
			t->first_bad[i] = at;
			t->why[i] = why;
			break;
		}
	}
	t->bad++;
}

NORETURN static void too_heavy(struct place at)
{
	die_at(at, "the sum of all weights does not fit into 63 bits");
}

/* Column 1 of `from` counts lines, whose last frames end in the first number: see folded_read. With callees the same
 * frame is whole. */
static void split_columns(struct stacks *s, const struct stacks *from, struct place at)
{
	uint32_t *node = mem_alloc(sizeof(*node), from->n);
	bool *is_caller = mem_alloc(sizeof(*is_caller), from->n);

	for (uint32_t id = 1; id < from->n; id++)
		is_caller[from->node[id].parent] = true;
	for (uint32_t id = 1; id < from->n; id++) {
		struct str name = intern_str(&from->frames, from->node[id].frame);
		uint32_t parent = node[from->node[id].parent], end;
		uint64_t lines = from->self[1] ? from->self[1][id] : 0, before = 0;

		if (is_caller[id])
			node[id] = stacks_child(s, parent, stacks_frame(s, name));
		if (lines == 0)
			continue;
		cut_column(&name, &before);
		end = stacks_child(s, parent, stacks_frame(s, name));
		if (__builtin_mul_overflow(before, lines, &before) || !stacks_add(s, end, 0, before) ||
		    !stacks_add(s, end, 1, from->self[0][id]))
			too_heavy(at);
	}
	free(is_caller);
	free(node);
}

/*
 * Whether "a;b 1 2" is one column ("b 1" has weight 2) or two is known only at the end. Such a file is read into a
 * tree of its own as one column, with the number of lines as second: that loses nothing for either reading.
 */
unsigned folded_read(struct in *in, struct stacks *s, struct folded_header *h, struct folded_tally *t)
{
	struct path path = { 0 };
	struct stacks maybe_two = { 0 };
	struct noises noises = { 0 };
	bool two = true, any = false, header = false;
	uint64_t sum = 0; /* no overflow: the tree takes 63 bits in all */
	struct str line;

	while (in_line(in, &line)) {
		struct str stack, rest;
		uint64_t weight, before;
		const char *why;
		bool rounded;

		if (line.n && line.p[0] == '#' && (line.n == 1 || line.p[1] == ' ' || line.p[1] == '\r')) {
			line = str_trim(line);
			if (str_starts(line, STR("# pj "))) {
				get_header(str_from(line, 5), &s->frames.bytes, h, in_place(in));
				header = true;
			} else if (str_starts(line, STR("# dispersion "))) {
				keep_noise(&noises, str_from(line, 13));
			}
			t->comments++;
			continue;
		}
		if (str_trim_right(line).n == 0)
			continue;
		why = folded_parse(line, &stack, &weight, &rounded);
		if (why) {
			bad_line(t, in_place(in), why);
			continue;
		}
		rest = stack;
		bool both = two && !rounded && cut_column(&rest, &before);
		if (any && two && !both)
			warn_at(in_place(in), "one number, where all lines before end in two: all are read as one column");
		two = both;
		if (!any)
			path_begin(&path, two && !s->in_time ? &maybe_two : s);
		any = true;
		t->lines++;
		t->rounded += rounded;
		if (!stacks_add(path.s, path_to(&path, stack), 0, weight))
			too_heavy(in_place(in));
		sum += weight;
		if (path.s == &maybe_two)
			stacks_add(&maybe_two, path.step[path.nsteps - 1].node, 1, 1);
	}
	if (path.s == &maybe_two) {
		if (two) {
			split_columns(s, &maybe_two, in_place(in));
		} else {
			free(maybe_two.self[1]);
			maybe_two.self[1] = NULL;
			if (!stacks_merge(s, &maybe_two))
				too_heavy(in_place(in));
		}
		stacks_free(&maybe_two);
	}
	if (any && path.s == s)
		path_end(&path);
	path_free(&path);
	take_noise(&noises, s, h);
	if (!header && !two)
		t->headerless += sum;
	return !any ? 0 : two ? 2 : 1;
}

/* ---- writing ----------------------------------------------------------------------------------------------- */

/* The text of the stack that the walk is in: frames are appended and cut off as it goes down and up. */
struct writer {
	char *text;
	size_t cap;
	size_t *end; /* by depth: length of the text with that frame */
	size_t end_cap;
	uint32_t *at; /* by depth: node */
};

static void writer_enter(struct writer *w, size_t depth, struct str frame, uint32_t node)
{
	size_t from = depth ? w->end[depth - 1] : 0, n = from + (depth > 0) + frame.n;

	if (depth == w->end_cap) {
		w->end_cap = w->end_cap ? w->end_cap * 2 : 256;
		w->end = mem_grow(w->end, sizeof(*w->end), w->end_cap);
		w->at = mem_grow(w->at, sizeof(*w->at), w->end_cap);
	}
	if (n > w->cap) {
		w->cap = n * 2;
		w->text = mem_grow(w->text, 1, w->cap);
	}
	if (depth)
		w->text[from] = ';';
	if (frame.n)
		memcpy(w->text + n - frame.n, frame.p, frame.n);
	w->end[depth] = n;
	w->at[depth] = node;
}

/* To the next node of the order, whose depth comes back: one more than its callers. */
static size_t writer_next(struct writer *w, const struct stacks *s, size_t depth, uint32_t id)
{
	while (depth && w->at[depth - 1] != s->node[id].parent)
		depth--;
	writer_enter(w, depth, intern_str(&s->frames, s->node[id].frame), id);
	return depth + 1;
}

static void writer_free(struct writer *w)
{
	free(w->text);
	free(w->end);
	free(w->at);
}

static void put_noise(struct text *t, const struct stacks *s, const struct folded_header *h)
{
	float *by_node = noise_by_node(h, s);
	uint32_t *order = stacks_order(s);
	struct writer w = { 0 };
	size_t depth = 0;

	for (uint32_t i = 0; i + 1 < s->n; i++) {
		depth = writer_next(&w, s, depth, order[i]);
		if (by_node[order[i]] <= 0)
			continue;
		text_printf(t, "\n# dispersion %.2f ", (double)by_node[order[i]]);
		text_bytes(t, w.text, w.end[depth - 1]);
	}
	writer_free(&w);
	free(order);
	free(by_node);
}

void folded_head(struct text *t, const struct stacks *s, const struct folded_header *h)
{
	put_header(t, h);
	if (h->nnoise)
		put_noise(t, s, h);
}

static void write_head(struct out *o, const struct stacks *s, unsigned columns, const struct folded_header *h)
{
	struct text t = { 0 };

	if (columns == 2)
		folded_head(&t, s, h);
	else
		put_header(&t, h);
	out_str(o, text_view(&t));
	out_char(o, '\n');
	text_free(&t);
}

void folded_write(struct out *o, const struct stacks *s, unsigned columns, const struct folded_header *h)
{
	uint32_t *order = stacks_order(s);
	struct writer w = { 0 };
	size_t depth = 0;

	if (h)
		write_head(o, s, columns, h);
	for (uint32_t i = 0; i + 1 < s->n; i++) {
		uint32_t id = order[i];
		uint64_t first = s->self[0][id], second = s->self[1] ? s->self[1][id] : 0;

		depth = writer_next(&w, s, depth, id);
		if (first == 0 && (columns == 1 || second == 0))
			continue;
		out_bytes(o, w.text, w.end[depth - 1]);
		out_char(o, ' ');
		out_u64(o, first);
		if (columns == 2) {
			out_char(o, ' ');
			out_u64(o, second);
		}
		out_char(o, '\n');
	}
	writer_free(&w);
	free(order);
}
