/* Layout, faces and the blob: a decoder written from docs/SVG.md reads back what was encoded. */
/* covers: svg/format/encode.c */
#include "test/lib/node.h"
#include "test/lib/tap.h"

#include "common/formats/folded.h"
#include "svg/format/encode.h"

#include <stdlib.h>

/* ---- decoder ------------------------------------------------------------------------------------------------ */

struct reader {
	struct str s;
	size_t at;
};

static uint32_t digit(struct reader *reader)
{
	uint32_t value = 0;

	for (char c = ' '; c < reader->s.p[reader->at]; c++)
		value += strchr("&<>\"'\\`", c) == NULL;
	reader->at++;
	return value;
}

static uint64_t varint(struct reader *reader)
{
	uint64_t value = 0, factor = 1;

	for (;; factor *= 44) {
		uint32_t d = digit(reader);
		if (d < 44)
			return value + d * factor;
		value += (d - 44) * factor;
	}
}

/* Decodes TREE and compares name and depth of every frame. */
static bool tree_matches(struct str tree, const struct layout *layout, const struct styles *styles)
{
	struct reader r = { tree, 0 };
	uint32_t(*list)[64] = calloc((size_t)styles->n + 1, sizeof(*list)),
	*length = calloc((size_t)styles->n + 1, sizeof(*length));
	uint32_t *path = calloc((size_t)layout->depth + 2, sizeof(*path));
	uint32_t depth = 0, i = 0;
	bool good = true;

	path[0] = styles->n;
	for (; good && r.at < tree.n && i < layout->n; i++) {
		uint32_t head = digit(&r), id;
		uint64_t pop = head % 8, k = head / 8;
		pop += pop == 7 ? varint(&r) : 0;
		k += k == 10 ? varint(&r) : 0;
		depth = (uint32_t)(depth + 1 - pop);
		uint32_t *mtf = list[path[depth - 1]], *n = &length[path[depth - 1]];
		id = k ? mtf[k - 1] : (uint32_t)varint(&r);
		size_t move = k ? k - 1 : (*n)++;
		memmove(mtf + 1, mtf, move * sizeof(*mtf));
		mtf[0] = id;
		path[depth] = id;
		good = id == styles->of[i] && depth == layout->level[i] && *n < 64;
	}
	free(list);
	free(length);
	free(path);
	return good && i == layout->n && r.at == tree.n;
}

static bool self_matches(struct str self, const struct layout *layout)
{
	struct reader r = { self, 0 };
	uint64_t sum = 0;
	uint32_t i = 0;

	while (r.at < self.n) {
		i += (uint32_t)varint(&r);
		uint64_t weight = varint(&r) + 1;
		if (i >= layout->n || layout->self[i] != weight)
			return false;
		sum += weight;
		i++;
	}
	return sum == layout->sum;
}

/* ---- profiles ----------------------------------------------------------------------------------------------- */

struct profile {
	struct stacks stacks;
	struct layout layout;
	struct styles styles;
};

static void profile_add(struct profile *profile, const char *stack, uint64_t weight)
{
	stacks_add(&profile->stacks, node_of(&profile->stacks, str_of(stack)), 0, weight);
}

static void profile_make(struct profile *profile, const char *palette)
{
	layout_make(&profile->layout, &profile->stacks);
	styles_make(&profile->styles, &profile->layout, &profile->stacks,
		    &(struct styles_how){ .palette = palette_find(str_of(palette)) });
}

static void profile_free(struct profile *profile)
{
	styles_free(&profile->styles);
	layout_free(&profile->layout);
	stacks_free(&profile->stacks);
}

static void test_layout(void)
{
	struct profile p = { 0 };
	const struct layout *l = &p.layout;

	profile_add(&p, "b;d", 3);
	profile_add(&p, "a", 5);
	profile_add(&p, "b;c", 2);
	profile_add(&p, "b", 1);
	profile_make(&p, "hot");
	is_u64(l->n, 4, "frames");
	is_u64(l->sum, 11, "sum");
	is_u64(l->depth, 2, "depth");
	ok(l->start[0] == 0 && l->width[0] == 5 && l->end[0] == 1 && l->parent[0] == LAYOUT_ROOT, "a");
	ok(l->start[1] == 5 && l->width[1] == 6 && l->end[1] == 4 && l->self[1] == 1, "b");
	ok(l->start[2] == 5 && l->width[2] == 2 && l->parent[2] == 1 && l->level[2] == 2, "c begins where b does");
	ok(l->start[3] == 7 && l->width[3] == 3, "d follows c; the rest of b is its own");
	profile_free(&p);
}

static void test_no_weight(void)
{
	struct profile p = { 0 };

	profile_make(&p, "kind");
	is_u64(p.layout.n, 0, "nothing read, nothing laid out");
	profile_free(&p);
	node_of(&p.stacks, STR("a;b"));
	profile_add(&p, "c", 1);
	profile_make(&p, "kind");
	is_u64(p.layout.n, 1, "frames without weight are left out");
	profile_free(&p);
}

static void test_styles(void)
{
	struct profile p = { 0 };
	const struct styles *f = &p.styles;

	profile_add(&p, "java;run_[j];entry_SYSCALL_64;copy;\x1b", 1);
	profile_add(&p, "java;run_[0];copy", 1);
	profile_make(&p, "kind");
	is_u64(f->n, 7, "distinct (text, colour)");
	is_u64(f->functions, 5, "distinct texts");
	is_str(f->text[0], STR("\\x1b"), "safe text, sorted by bytes");
	ok(str_eq(f->text[1], STR("copy")) && str_eq(f->text[2], STR("copy")) && f->colour[1] < f->colour[2],
	   "one text, two colours");
	ok(str_eq(f->text[5], STR("run")) && str_eq(f->text[6], STR("run")), "the suffix is not text");
	is_str(f->kinds[f->colours[f->colour[5]].kind].suffix, STR("_[0]"), "it is part of the colour's kind");
	profile_free(&p);
}

static void test_many_colours(void)
{
	struct profile p = { 0 };
	char name[32];

	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "%x%d", i * 7919, i);
		profile_add(&p, name, 1);
	}
	layout_make(&p.layout, &p.stacks);
	styles_make(&p.styles, &p.layout, &p.stacks,
		    &(struct styles_how){ .palette = palette_find(STR("hot")), .hash = true });
	ok(p.styles.ncolours <= STYLES_COLOURS && p.styles.ncolours > STYLES_COLOURS / 8,
	   "colours are rounded to few, not to too few");
	profile_free(&p);
}

/* ---- blob --------------------------------------------------------------------------------------------------- */

static void test_bytes(void)
{
	struct profile p = { 0 };
	struct text t = { 0 };

	profile_add(&p, "a;b", 1);
	profile_add(&p, "a;c<", 47);
	profile_make(&p, "wakeup");
	encode_names(&t, &p.styles);
	is_str(text_view(&t), STR("  a\n !b\n #c&lt;"), "NAMES");
	t.n = 0;
	encode_tree(&t, &p.layout, &p.styles);
	is_str(text_view(&t), STR("   !!#"), "TREE");
	t.n = 0;
	encode_self(&t, &p.layout, p.layout.self);
	is_str(text_view(&t), STR("!  S!"), "SELF");
	text_free(&t);
	profile_free(&p);
}

static void round_trip(struct profile *profile, const char *what)
{
	struct text tree = { 0 }, self = { 0 };

	profile_make(profile, "kind");
	encode_tree(&tree, &profile->layout, &profile->styles);
	encode_self(&self, &profile->layout, profile->layout.self);
	ok(tree_matches(text_view(&tree), &profile->layout, &profile->styles), what);
	ok(self_matches(text_view(&self), &profile->layout), "its weights");
	text_free(&tree);
	text_free(&self);
	profile_free(profile);
}

/* Random walks over 40 names: lists longer than 10, deep returns, one name below many callers. */
static void test_round_trip(void)
{
	struct profile p = { 0 };
	uint32_t seed = 1;
	char stack[512];

	for (int i = 0; i < 4000; i++) {
		size_t n = 0;
		for (uint32_t depth = 1 + seed % 60, d = 0; d < depth; d++) {
			seed = seed * 1664525 + 1013904223;
			n += (size_t)snprintf(stack + n, sizeof(stack) - n, "%sf%u", d ? ";" : "",
					      seed >> 28 ? d % 40 : (seed >> 20) % 40);
		}
		profile_add(&p, stack, seed >> 5);
	}
	profile_add(&p, "f1;f2;f3", (uint64_t)1 << 62);
	round_trip(&p, "4,000 random stacks come back");
}

int main(void)
{
	test_layout();
	test_no_weight();
	test_styles();
	test_many_colours();
	test_bytes();
	test_round_trip();
	return done();
}
