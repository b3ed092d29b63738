/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/layout/styles.h"

#include "common/formats/folded.h"
#include "common/visible.h"

#include <stdlib.h>

/* One frame in one kind of place. */
struct variant {
	struct str text;
	struct styles_colour paint;
	uint32_t colour; /* index of paint in faces.colours */
	uint32_t index;  /* before sorting */
};

struct cfi_helper {
	struct styles *styles;
	const struct stacks *stacks;
	const struct styles_how *how;
	uint32_t *memo; /* by frame * CODE_PLACES + place: index of the variant + 1 */
	struct variant *variant;
	uint32_t n, cap;
	struct text scratch;
};

/* ---- places ------------------------------------------------------------------------------------------------- */

enum { ENTERS_KERNEL = 1, SEPARATES = 2 };

/* By frame id: what its children have to know. */
static uint8_t *frame_marks(const struct stacks *s)
{
	uint8_t *mark = mem_alloc(1, (size_t)s->frames.n + 1);

	for (uint32_t id = 1; id <= s->frames.n; id++) {
		struct str name = intern_str(&s->frames, id);
		if (code_enters_kernel(name) && folded_plain(name).n == name.n)
			mark[id] |= ENTERS_KERNEL;
		if (str_eq(name, STR("--")))
			mark[id] |= SEPARATES;
	}
	return mark;
}

/* The place of every frame of the layout. */
static uint8_t *frame_places(const struct layout *l, const struct stacks *s, const struct palette *p)
{
	uint8_t *place = mem_alloc(1, (size_t)l->n + 1);
	uint8_t *mark = frame_marks(s);

	for (uint32_t i = 0; i < l->n; i++) {
		uint32_t up = l->parent[i];
		bool outermost = up == LAYOUT_ROOT;
		if (outermost)
			place[i] = CODE_OUTERMOST;
		if (palette_is_kind(p)) {
			if ((mark[l->frame[i]] & ENTERS_KERNEL) || (!outermost && place[up] == CODE_IN_KERNEL))
				place[i] = CODE_IN_KERNEL;
		} else if (palette_is_chain(p) && !outermost) {
			if (place[up] == CODE_WOKEN || (mark[l->frame[up]] & SEPARATES))
				place[i] = CODE_WOKEN;
		}
	}
	free(mark);
	return place;
}

/* The same of stacks that were turned round: what has no callee drawn below it is a process, and what called on its way
 * out of the kernel is kernel code. */
static uint8_t *turned_places(const struct layout *l, const struct stacks *s, const struct palette *p)
{
	uint8_t *place = mem_alloc(1, (size_t)l->n + 1);
	uint8_t *mark = frame_marks(s);

	for (uint32_t i = l->n; i-- > 0;) {
		uint32_t up = l->parent[i];
		if (l->end[i] == i + 1)
			place[i] = CODE_OUTERMOST;
		if (!palette_is_kind(p))
			continue;
		if (mark[l->frame[i]] & ENTERS_KERNEL)
			place[i] = CODE_IN_KERNEL;
		if (place[i] == CODE_IN_KERNEL && up != LAYOUT_ROOT)
			place[up] = CODE_IN_KERNEL;
	}
	free(mark);
	return place;
}

static uint8_t *make_places(const struct layout *l, const struct stacks *s, const struct styles_how *how)
{
	uint8_t *place = (how->reverse ? turned_places : frame_places)(l, s, how->palette);

	for (uint32_t i = 0; how->cut && i < l->n; i++) {
		if (place[i] == CODE_OUTERMOST)
			place[i] = CODE_PLAIN;
	}
	return place;
}

/* ---- variants ----------------------------------------------------------------------------------------------- */

static uint32_t kind_index(struct styles *n, const char *label, struct str suffix)
{
	for (uint32_t i = 0; i < n->nkinds; i++) {
		if (strcmp(n->kinds[i].label, label) == 0 && str_eq(n->kinds[i].suffix, suffix))
			return i;
	}
	n->kinds = mem_grow(n->kinds, sizeof(*n->kinds), n->nkinds + 1);
	n->kinds[n->nkinds] = (struct styles_kind){ label, suffix };
	return n->nkinds++;
}

static void variant_add(struct cfi_helper *m, struct str frame, enum code_place place)
{
	struct str fp = folded_plain(frame);
	struct shade shade = palette_shade(m->how->palette, m->how->hash, frame, place);

	/* as flamegraph.pl does it, separators keep their grey */
	if (m->how->map && !code_is_separator(frame)) {
		palmap_colour(m->how->map, frame, &shade.light);
		shade.dark = palette_dark(shade.light);
	}
	if (m->n == m->cap) {
		m->cap = m->cap ? m->cap * 2 : 256;
		m->variant = mem_grow(m->variant, sizeof(*m->variant), m->cap);
	}
	m->scratch.n = 0;
	visible_str(&m->scratch, fp);
	m->variant[m->n] = (struct variant){
		.text = arena_copy(&m->styles->memory, text_view(&m->scratch)),
		.paint = { shade.light, shade.dark, kind_index(m->styles, shade.label, str_from(frame, fp.n)) },
		.index = m->n,
	};
	m->n++;
}

/* names->of gets the indexes of variants, for now. */
static void collect_variants(struct cfi_helper *m, const struct layout *l)
{
	uint8_t *place = make_places(l, m->stacks, m->how);

	for (uint32_t i = 0; i < l->n; i++) {
		uint32_t *known = &m->memo[(size_t)l->frame[i] * CODE_PLACES + place[i]];
		if (!*known) {
			variant_add(m, intern_str(&m->stacks->frames, l->frame[i]), place[i]);
			*known = m->n;
		}
		m->styles->of[i] = *known - 1;
	}
	free(place);
}

/* ---- colours ------------------------------------------------------------------------------------------------ */

/* The low bits of every channel (a mask: 1, 3, 7, ...) become their middle. */
static void round_colour(uint32_t *rgb, uint32_t low)
{
	*rgb = (*rgb & ~(low * 0x010101)) | (low + 1) / 2 * 0x010101;
}

static uint32_t count_colours(struct cfi_helper *m, struct intern *table)
{
	for (uint32_t i = 0; i < m->n; i++) {
		struct variant *v = &m->variant[i];
		v->colour = intern(table, (struct str){ (const char *)&v->paint, sizeof(v->paint) }) - 1;
	}
	return table->n;
}

static void number_colours(struct cfi_helper *m)
{
	struct styles *n = m->styles;
	struct intern table = { 0 };

	for (uint32_t low = 1; count_colours(m, &table) > STYLES_COLOURS; low = low * 2 + 1) {
		for (uint32_t i = 0; i < m->n; i++) {
			round_colour(&m->variant[i].paint.light, low);
			round_colour(&m->variant[i].paint.dark, low);
		}
		intern_free(&table);
		table = (struct intern){ 0 };
	}
	n->ncolours = table.n;
	n->colours = arena_new(&n->memory, struct styles_colour, table.n + 1);
	for (uint32_t i = 0; i < m->n; i++)
		n->colours[m->variant[i].colour] = m->variant[i].paint;
	intern_free(&table);
}

/* ---- ids ---------------------------------------------------------------------------------------------------- */

static int variant_cmp(const void *a, const void *b)
{
	const struct variant *x = a, *y = b;
	int order = str_cmp(x->text, y->text);

	return order ? order : (x->colour > y->colour) - (x->colour < y->colour);
}

static void number_styles(struct cfi_helper *m, const struct layout *l)
{
	struct styles *n = m->styles;
	uint32_t *id = mem_alloc(sizeof(*id), (size_t)m->n + 1); /* by index of the variant */
	unsigned seen = 0; /* of the same text: 1 a function, 2 one of the kernel */

	if (m->n)
		qsort(m->variant, m->n, sizeof(*m->variant), variant_cmp);
	n->text = arena_new(&n->memory, struct str, (size_t)m->n + 1);
	n->colour = arena_new(&n->memory, uint32_t, (size_t)m->n + 1);
	for (uint32_t i = 0; i < m->n; i++) {
		const struct variant *v = &m->variant[i];
		bool same_text = i > 0 && str_eq(v->text, v[-1].text);
		if (!same_text || v->colour != v[-1].colour) {
			n->text[n->n] = v->text;
			n->colour[n->n++] = v->colour;
		}
		unsigned side = str_eq(n->kinds[v->paint.kind].suffix, STR("_[k]")) ? 2 : 1;
		seen = same_text ? seen : 0;
		n->functions += !(seen & side);
		seen |= side;
		id[v->index] = n->n - 1;
	}
	for (uint32_t i = 0; i < l->n; i++)
		n->of[i] = id[n->of[i]];
	free(id);
}

/* Goes on with the hash h of docs/SVG.md over the UTF-16 units of s. */
static uint32_t hash_units(uint32_t h, struct str s)
{
	while (s.n) {
		uint32_t u = 0;
		size_t n = visible_point(s, &u);
		if (u > 0xffff) {
			h = (h ^ h >> 15) * 33 + (0xd7c0 + (u >> 10));
			u = 0xdc00 | (u & 0x3ff);
		}
		h = (h ^ h >> 15) * 33 + u;
		s = str_from(s, n ? n : 1);
	}
	return h;
}

static void tint_styles(struct styles *n)
{
	n->tint = arena_new(&n->memory, uint8_t, (size_t)n->n + 1);
	for (uint32_t i = 0; i < n->n; i++) {
		struct str suffix = n->kinds[n->colours[n->colour[i]].kind].suffix;
		n->tint[i] = hash_units(hash_units(7, n->text[i]), suffix) >> 9 & 3;
	}
}

void styles_make(struct styles *n, const struct layout *l, const struct stacks *s, const struct styles_how *how)
{
	struct cfi_helper m = { .styles = n, .stacks = s, .how = how };

	*n = (struct styles){ 0 };
	m.memo = mem_alloc(sizeof(*m.memo), ((size_t)s->frames.n + 1) * CODE_PLACES);
	n->of = mem_alloc(sizeof(*n->of), (size_t)l->n + 1);
	collect_variants(&m, l);
	number_colours(&m);
	number_styles(&m, l);
	tint_styles(n);
	text_free(&m.scratch);
	free(m.variant);
	free(m.memo);
}

void styles_free(struct styles *n)
{
	free(n->of);
	free(n->kinds);
	arena_free(&n->memory);
	*n = (struct styles){ 0 };
}
