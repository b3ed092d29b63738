/* SPDX-License-Identifier: Apache-2.0 */
#include "common/formats/foldedread.h"

#include "common/arena.h"
#include "common/formats/folded.h"
#include "common/formats/foldedpath.h"

#include <stdlib.h>

static void bad_line(struct folded_tally *tally, struct place place, const char *why)
{
	for (size_t i = 0; i < countof(tally->first_bad); i++) {
		if (!tally->first_bad[i].name) {
			tally->first_bad[i] = place;
			tally->why[i] = why;
			break;
		}
	}
	tally->bad++;
}

NORETURN static void too_heavy(struct place place)
{
	die_at(place, "the sum of all weights does not fit into 63 bits");
}

/* Adds the tree `from` to stacks as two columns. The name of a node with lines ends in the first number, which is cut
 * off. Column 0 of `from` is the second number, column 1 the number of lines (struct reader). A node with callees is
 * also a frame under its complete name. */
static void split_columns(struct stacks *stacks, const struct stacks *from, struct place place)
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
			node[id] = stacks_child(stacks, parent, stacks_frame(stacks, name));
		if (lines == 0)
			continue;
		folded_cut_number(&name, &before);
		end = stacks_child(stacks, parent, stacks_frame(stacks, name));
		if (__builtin_mul_overflow(before, lines, &before) || !stacks_add(stacks, end, 0, before) ||
		    !stacks_add(stacks, end, 1, from->self[0][id]))
			too_heavy(place);
	}
	free(is_caller);
	free(node);
}

/* The state of reading a text. Whether "a;b 1 2" is one column ("b 1" has weight 2) or two is known only at the end. A
 * text that begins with such a line is read into maybe_two as one column; column 1 there is the number of lines. So it
 * can become either at the end. */
struct reader {
	struct in *in;
	struct stacks *s;
	struct folded_tally *t;
	struct stacks maybe_two;
	struct path path; /* path in the tree s or maybe_two; set from the first stack on */
	bool any;         /* true if the text had a stack */
	bool two;         /* true if each line so far ends in two numbers */
	bool decimals;    /* true if a weight was rounded */
	uint64_t sum;     /* sum of all weights; cannot overflow, as trees accept 63 bits in total */
};

static bool foldedread_is_comment(struct str line)
{
	return line.n && line.p[0] == '#' &&
	       /* "#{" begins the JSON line of gProfiler */
	       (line.n == 1 || line.p[1] == ' ' || line.p[1] == '\r' || line.p[1] == '{');
}

/* Adds a stack with its weight. same: number of bytes in which its line and the previous stack begin alike, or
 * PATH_UNKNOWN. */
static void add_stack(struct reader *reader, struct str stack, size_t same, uint64_t weight, bool rounded)
{
	struct str rest = stack;
	uint64_t before;
	uint32_t node;
	bool two = (!reader->any || reader->two) && !rounded && folded_cut_number(&rest, &before);

	if (reader->any && reader->two && !two)
		warn_at(in_place(reader->in), "one number after lines with two: all lines are read as one column");
	reader->two = two;
	if (!reader->any)
		path_begin(&reader->path, two && !reader->s->in_time ? &reader->maybe_two : reader->s);
	reader->any = true;
	reader->t->lines++;
	reader->t->callers += str_find(stack, ';') >= 0;
	reader->t->rounded += rounded;
	reader->decimals = reader->decimals || rounded;
	node = path_to(&reader->path, stack, same);
	if (!stacks_add(reader->path.s, node, 0, weight))
		too_heavy(in_place(reader->in));
	reader->sum += weight;
	if (reader->path.s == &reader->maybe_two)
		stacks_add(&reader->maybe_two, node, 1, 1);
}

static void take_columns(struct reader *reader)
{
	struct stacks *from = &reader->maybe_two;

	if (reader->two) {
		split_columns(reader->s, from, in_place(reader->in));
	} else {
		free(from->self[1]);
		from->self[1] = NULL;
		if (!stacks_merge(reader->s, from))
			too_heavy(in_place(reader->in));
	}
	stacks_free(from);
}

unsigned folded_read(struct in *input, struct stacks *stacks, struct folded_header *h, struct folded_tally *tally)
{
	struct reader reader = { .in = input, .s = stacks, .t = tally };
	struct folded_comments comments = { 0 };
	struct str line;
	size_t same;
	bool header, after_stack = false;

	while (in_line_after(input, &line, &same)) {
		struct str stack;
		uint64_t weight;
		const char *why;
		bool rounded;

		if (foldedread_is_comment(line)) {
			folded_comment(&comments, h, line, stacks, in_place(input));
			tally->comments++;
			after_stack = false;
			continue;
		}
		why = folded_parse(line, &stack, &weight, &rounded);
		if (likely(!why))
			add_stack(&reader, stack, after_stack ? same : PATH_UNKNOWN, weight, rounded);
		else if (!str_is_blank(line))
			bad_line(tally, in_place(input), why);
		after_stack = !why;
	}
	if (reader.decimals && reader.sum == 0)
		die_at(in_place(input), "all weights are decimals below 0.5, which pj rounds to 0: multiply them, "
					"as in awk '{ $NF *= 1000 } 1'");
	if (reader.any)
		path_end(&reader.path);
	if (reader.path.s == &reader.maybe_two)
		take_columns(&reader);
	header = comments.header;
	folded_comments_end(&comments, h, stacks);
	if (!header && !reader.two)
		tally->headerless += reader.sum;
	return !reader.any ? 0 : reader.two ? 2 : 1;
}

void folded_check(const struct folded_tally *before, const struct folded_tally *tally, const char *name)
{
	uint64_t lines = tally->lines - before->lines, bad = tally->bad - before->bad;

	/* No message here for an input without stacks (lines == 0): each tool prints its own. */
	if (bad == 0 || lines == 0 || (bad <= lines && tally->callers > before->callers))
		return;
	die_at((struct place){ name, 0 }, "these are no folded stacks: %llu of %llu lines are, and %s",
	       (unsigned long long)lines, (unsigned long long)(lines + bad),
	       tally->callers > before->callers ? "the others are not understood" : "none of them has a caller");
}
