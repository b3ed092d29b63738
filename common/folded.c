/* SPDX-License-Identifier: Apache-2.0 */
#include "folded.h"

#include "arena.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

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
static void put_value(struct out *o, const char *key, struct str value)
{
	static const char hex[] = "0123456789ABCDEF";

	if (value.n == 0)
		return;
	out_printf(o, " %s=", key);
	for (size_t i = 0; i < value.n; i++) {
		unsigned char c = (unsigned char)value.p[i];

		if (c > ' ' && c != '%' && c != 0x7F) {
			out_char(o, (char)c);
		} else {
			out_char(o, '%');
			out_char(o, hex[c >> 4]);
			out_char(o, hex[c & 15]);
		}
	}
}

static void put_header(struct out *o, const struct folded_header *h)
{
	out_text(o, "# pj");
	put_value(o, "unit", h->unit);
	put_value(o, "event", h->event);
	put_value(o, "frequency", h->frequency);
	put_value(o, "from", h->from);
	put_value(o, "to", h->to);
	put_value(o, "host", h->host);
	out_printf(o, " samples=%llu", (unsigned long long)h->samples);
	if (h->lost_known)
		out_printf(o, " lost=%llu", (unsigned long long)h->lost);
	put_value(o, "labels", h->labels);
	out_char(o, '\n');
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

static void get_header(struct str line, struct arena *a, struct folded_header *h, struct place at)
{
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
		}
	}
}

/* ---- reading ----------------------------------------------------------------------------------------------- */

/*
 * The path of the stack before. Folded text is mostly sorted, so a stack shares most of its frames with the one
 * before it: only what differs is looked up.
 */
struct path {
	struct stacks *s;
	char *text;
	size_t n, cap;
	struct step {
		size_t end; /* of the frame's text */
		uint32_t node;
	} *step;
	size_t nsteps, steps_cap;
};

static uint32_t path_to(struct path *p, struct str stack)
{
	size_t same = 0, at, max = stack.n < p->n ? stack.n : p->n;
	uint32_t node;

	while (same + 64 <= max && memcmp(p->text + same, stack.p + same, 64) == 0)
		same += 64;
	while (same < max && p->text[same] == stack.p[same])
		same++;
	/* a step counts only if its frame ends in both texts */
	while (p->nsteps) {
		size_t end = p->step[p->nsteps - 1].end;

		if (end <= same && (end == stack.n || stack.p[end] == ';'))
			break;
		p->nsteps--;
	}
	at = p->nsteps ? p->step[p->nsteps - 1].end + 1 : 0;
	node = p->nsteps ? p->step[p->nsteps - 1].node : 0;
	while (at <= stack.n) {
		struct str rest = str_from(stack, at), frame = str_cut(&rest, ';');

		node = stacks_child(p->s, node, stacks_frame(p->s, frame));
		if (p->nsteps == p->steps_cap) {
			p->steps_cap = p->steps_cap ? p->steps_cap * 2 : 256;
			p->step = mem_grow(p->step, sizeof(*p->step), p->steps_cap);
		}
		p->step[p->nsteps++] = (struct step){ at + frame.n, node };
		at += frame.n + 1;
	}
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
	struct path path = { .s = s };
	struct stacks maybe_two = { 0 };
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
		two = two && !rounded && cut_column(&rest, &before);
		if (!any && two)
			path.s = &maybe_two;
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
	path_free(&path);
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

void folded_write(struct out *o, const struct stacks *s, unsigned columns, const struct folded_header *h)
{
	uint32_t *order = stacks_order(s);
	struct writer w = { 0 };
	size_t depth = 0;

	if (h)
		put_header(o, h);
	for (uint32_t i = 0; i + 1 < s->n; i++) {
		uint32_t id = order[i];
		uint64_t first = s->self[0][id], second = s->self[1] ? s->self[1][id] : 0;

		while (depth && w.at[depth - 1] != s->node[id].parent)
			depth--;
		writer_enter(&w, depth++, intern_str(&s->frames, s->node[id].frame), id);
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
	free(w.text);
	free(w.end);
	free(w.at);
	free(order);
}
