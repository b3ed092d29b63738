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

/* Adds the tree `from` (reader.maybe_two), whose lines were read as one column, to stacks as two columns. In `from`,
 * line "a;b 1 2" is a node "b 1" with weight 2 in column 0 and the number of such lines in column 1. Here it becomes
 * node "b": column 0 gets 1 times the number of lines, column 1 gets the 2. If node "b 1" also has callees, a frame "b
 * 1" with these callees stays. */
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

/* State while a text is read. Only at its end is it known if "a;b 1 2" is one column ("b 1" with weight 2) or two. So a
 * text that begins with such a line is read into maybe_two as one column, with the number of lines as column 1. At its
 * end, this tree becomes one or two columns. */
struct reader {
	struct in *in;
	struct stacks *s;
	struct folded_tally *t;
	struct stacks maybe_two;
	struct path path; /* path in tree s or maybe_two; initialized at the first stack */
	bool any;         /* true if the text has a stack */
	bool callers;     /* true if the text has a stack with more than one frame */
	bool two;         /* true if each line so far ends in two integers */
	bool decimals;    /* true if a weight was rounded */
	uint64_t sum;     /* sum of all weights; cannot overflow, as a tree accepts at most 63 bits in total */
};

/* Adds a stack with its weight. same: length of the common prefix with the previous stack in bytes, or PATH_UNKNOWN.
 * rounded: true if the weight was rounded. */
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
	if (unlikely(!reader->callers) && str_find(stack, ';') >= 0) {
		reader->callers = true;
		reader->t->callers++;
	}
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

		if (folded_is_comment(line)) {
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

	/* no message for an input without stacks (lines == 0): each tool prints one of its own */
	if (bad == 0 || lines == 0 || (bad <= lines && tally->callers > before->callers))
		return;
	die_at((struct place){ name, 0 }, "these are no folded stacks: %llu of %llu lines are, and %s",
	       (unsigned long long)lines, (unsigned long long)(lines + bad),
	       tally->callers > before->callers ? "the others are not understood" : "none of them has a caller");
}
