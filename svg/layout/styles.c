/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/layout/styles.h"

#include "common/formats/folded.h"
#include "common/visible.h"

#include <stdlib.h>

/* A shown name with its colour. The same frame may have different colours in different places (enum code_place). */
struct variant {
	struct str text;
	struct styles_colour paint;
	uint32_t colour; /* index of paint in styles.colours */
	uint32_t index;  /* position before sorting */
};

struct colouring {
	struct styles *styles;
	const struct stacks *stacks;
	const struct styles_how *how;
	uint32_t *memo; /* for each frame * CODE_PLACES + place: index of the variant + 1; 0: none yet */
	struct variant *variant;
	uint32_t n, cap;
	struct text scratch;
};

/* ---- places ------------------------------------------------------------------------------------------------- */

enum { ENTERS_KERNEL = 1, SEPARATES = 2, IS_JS = 4, FOLLOWS_JS = 8 };

/* Returns IS_JS for frames whose name alone shows JavaScript, FOLLOWS_JS for those that are JavaScript below it. */
static uint8_t js_marks(struct str name)
{
	struct str plain = folded_plain(name), suffix = str_from(name, plain.n);

	if (code_of(plain, suffix, CODE_PLAIN) == CODE_JS)
		return IS_JS | FOLLOWS_JS;
	return code_of(plain, suffix, CODE_IN_JS) == CODE_JS ? FOLLOWS_JS : 0;
}

/* Returns, for each frame id, marks that decide the place of frames below it. */
static uint8_t *frame_marks(const struct stacks *stacks)
{
	uint8_t *mark = mem_alloc(1, (size_t)stacks->frames.n + 1);

	for (uint32_t id = 1; id <= stacks->frames.n; id++) {
		struct str name = intern_str(&stacks->frames, id);
		if (code_enters_kernel(name) && folded_plain(name).n == name.n)
			mark[id] |= ENTERS_KERNEL;
		if (str_eq(name, STR("--")))
			mark[id] |= SEPARATES;
		mark[id] |= js_marks(name);
	}
	return mark;
}

/* Returns the place (enum code_place) of each frame of the layout. */
static uint8_t *frame_places(const struct layout *layout, const struct stacks *stacks, const struct palette *palette)
{
	uint8_t *place = mem_alloc(1, (size_t)layout->n + 1);
	uint8_t *mark = frame_marks(stacks);

	for (uint32_t i = 0; i < layout->n; i++) {
		uint32_t up = layout->parent[i];
		bool outermost = up == LAYOUT_ROOT;
		if (outermost)
			place[i] = CODE_OUTERMOST;
		if (palette_is_kind(palette)) {
			if ((mark[layout->frame[i]] & ENTERS_KERNEL) || (!outermost && place[up] == CODE_IN_KERNEL))
				place[i] = CODE_IN_KERNEL;
			else if (!outermost && ((mark[layout->frame[i]] & IS_JS) ||
						((mark[layout->frame[i]] & FOLLOWS_JS) && place[up] == CODE_IN_JS)))
				place[i] = CODE_IN_JS;
		} else if (palette_is_chain(palette) && !outermost) {
			if (place[up] == CODE_WOKEN || (mark[layout->frame[up]] & SEPARATES))
				place[i] = CODE_WOKEN;
		}
	}
	free(mark);
	return place;
}

/* Returns the place of each frame of reversed stacks. A frame without frames below it is a process; a frame above a
 * kernel entry, towards the root, is kernel code. */
static uint8_t *turned_places(const struct layout *layout, const struct stacks *stacks, const struct palette *palette)
{
	uint8_t *place = mem_alloc(1, (size_t)layout->n + 1);
	uint8_t *mark = frame_marks(stacks);

	for (uint32_t i = layout->n; i-- > 0;) {
		uint32_t up = layout->parent[i];
		if (layout->end[i] == i + 1)
			place[i] = CODE_OUTERMOST;
		if (!palette_is_kind(palette))
			continue;
		if (mark[layout->frame[i]] & ENTERS_KERNEL)
			place[i] = CODE_IN_KERNEL;
		if (place[i] != CODE_OUTERMOST && place[i] != CODE_IN_KERNEL && (mark[layout->frame[i]] & IS_JS))
			place[i] = CODE_IN_JS;
		if (up == LAYOUT_ROOT)
			continue;
		if (place[i] == CODE_IN_KERNEL)
			place[up] = CODE_IN_KERNEL;
		else if (place[i] == CODE_IN_JS && place[up] == CODE_PLAIN && (mark[layout->frame[up]] & FOLLOWS_JS))
			place[up] = CODE_IN_JS;
	}
	free(mark);
	return place;
}

static uint8_t *make_places(const struct layout *layout, const struct stacks *stacks, const struct styles_how *how)
{
	uint8_t *place = (how->reverse ? turned_places : frame_places)(layout, stacks, how->palette);

	for (uint32_t i = 0; how->cut && i < layout->n; i++) {
		if (place[i] == CODE_OUTERMOST)
			place[i] = CODE_PLAIN;
	}
	return place;
}

/* ---- variants ----------------------------------------------------------------------------------------------- */

static uint32_t kind_index(struct styles *styles, const char *label, struct str suffix)
{
	for (uint32_t i = 0; i < styles->nkinds; i++) {
		if (strcmp(styles->kinds[i].label, label) == 0 && str_eq(styles->kinds[i].suffix, suffix))
			return i;
	}
	styles->kinds = mem_grow(styles->kinds, sizeof(*styles->kinds), styles->nkinds + 1);
	styles->kinds[styles->nkinds] = (struct styles_kind){ label, suffix };
	return styles->nkinds++;
}

static void variant_add(struct colouring *helper, struct str frame, enum code_place place)
{
	struct str string = folded_plain(frame);
	struct shade shade = palette_shade(helper->how->palette, helper->how->hash, frame, place);

	/* As in flamegraph.pl, separators have their grey whatever the map is. */
	if (helper->how->map && !code_is_separator(frame)) {
		palmap_colour(helper->how->map, frame, &shade.light);
		shade.dark = palette_dark(shade.light);
	}
	if (helper->n == helper->cap) {
		helper->cap = helper->cap ? helper->cap * 2 : 256;
		helper->variant = mem_grow(helper->variant, sizeof(*helper->variant), helper->cap);
	}
	helper->scratch.n = 0;
	visible_str(&helper->scratch, string);
	helper->variant[helper->n] = (struct variant){
		.text = arena_copy(&helper->styles->memory, text_view(&helper->scratch)),
		.paint = { shade.light, shade.dark,
			   kind_index(helper->styles, shade.label, str_from(frame, string.n)) },
		.index = helper->n,
	};
	helper->n++;
}

/* Makes the variants and stores the index of each frame's variant in styles->of, where number_styles replaces it by an
 * id. */
static void collect_variants(struct colouring *helper, const struct layout *layout)
{
	uint8_t *place = make_places(layout, helper->stacks, helper->how);

	for (uint32_t i = 0; i < layout->n; i++) {
		uint32_t *known = &helper->memo[(size_t)layout->frame[i] * CODE_PLACES + place[i]];
		if (!*known) {
			variant_add(helper, intern_str(&helper->stacks->frames, layout->frame[i]), place[i]);
			*known = helper->n;
		}
		helper->styles->of[i] = *known - 1;
	}
	free(place);
}

/* ---- colours ------------------------------------------------------------------------------------------------ */

/* Replaces the low bits of each channel by the middle of their range; low is the mask of these bits: 1, 3, 7, ... */
static void round_colour(uint32_t *rgb, uint32_t low)
{
	*rgb = (*rgb & ~(low * 0x010101)) | (low + 1) / 2 * 0x010101;
}

static uint32_t count_colours(struct colouring *helper, struct intern *table)
{
	for (uint32_t i = 0; i < helper->n; i++) {
		struct variant *variant = &helper->variant[i];
		variant->colour =
			intern(table, (struct str){ (const char *)&variant->paint, sizeof(variant->paint) }) - 1;
	}
	return table->n;
}

static void number_colours(struct colouring *helper)
{
	struct styles *styles = helper->styles;
	struct intern table = { 0 };

	for (uint32_t low = 1; count_colours(helper, &table) > STYLES_COLOURS; low = low * 2 + 1) {
		for (uint32_t i = 0; i < helper->n; i++) {
			round_colour(&helper->variant[i].paint.light, low);
			round_colour(&helper->variant[i].paint.dark, low);
		}
		intern_free(&table);
		table = (struct intern){ 0 };
	}
	styles->ncolours = table.n;
	styles->colours = arena_new(&styles->memory, struct styles_colour, table.n + 1);
	for (uint32_t i = 0; i < helper->n; i++)
		styles->colours[helper->variant[i].colour] = helper->variant[i].paint;
	intern_free(&table);
}

/* ---- ids ---------------------------------------------------------------------------------------------------- */

static int variant_cmp(const void *a, const void *b)
{
	const struct variant *variant = a, *y = b;
	int order = str_cmp(variant->text, y->text);

	return order ? order : (variant->colour > y->colour) - (variant->colour < y->colour);
}

static void number_styles(struct colouring *helper, const struct layout *layout)
{
	struct styles *styles = helper->styles;
	uint32_t *id = mem_alloc(sizeof(*id), (size_t)helper->n + 1); /* style id of each variant, by its index */
	/* marks of variants with the current text: 1: one is a function, 2: one is a kernel function */
	unsigned seen = 0;

	if (helper->n)
		qsort(helper->variant, helper->n, sizeof(*helper->variant), variant_cmp);
	styles->text = arena_new(&styles->memory, struct str, (size_t)helper->n + 1);
	styles->colour = arena_new(&styles->memory, uint32_t, (size_t)helper->n + 1);
	for (uint32_t i = 0; i < helper->n; i++) {
		const struct variant *variant = &helper->variant[i];
		bool same_text = i > 0 && str_eq(variant->text, variant[-1].text);
		if (!same_text || variant->colour != variant[-1].colour) {
			styles->text[styles->n] = variant->text;
			styles->colour[styles->n++] = variant->colour;
		}
		unsigned side = str_eq(styles->kinds[variant->paint.kind].suffix, STR("_[k]")) ? 2 : 1;
		seen = same_text ? seen : 0;
		styles->functions += !(seen & side);
		seen |= side;
		id[variant->index] = styles->n - 1;
	}
	for (uint32_t i = 0; i < layout->n; i++)
		styles->of[i] = id[styles->of[i]];
	free(id);
}

/* Continues the hash h of docs/SVG.md with the UTF-16 units of string, and returns the hash. */
static uint32_t hash_units(uint32_t h, struct str string)
{
	while (string.n) {
		uint32_t u = 0;
		size_t n = visible_point(string, &u);
		if (u > 0xffff) {
			h = (h ^ h >> 15) * 33 + (0xd7c0 + (u >> 10));
			u = 0xdc00 | (u & 0x3ff);
		}
		h = (h ^ h >> 15) * 33 + u;
		string = str_from(string, n ? n : 1);
	}
	return h;
}

static void tint_styles(struct styles *styles)
{
	styles->tint = arena_new(&styles->memory, uint8_t, (size_t)styles->n + 1);
	for (uint32_t i = 0; i < styles->n; i++) {
		struct str suffix = styles->kinds[styles->colours[styles->colour[i]].kind].suffix;
		styles->tint[i] = hash_units(hash_units(7, styles->text[i]), suffix) >> 9 & 3;
	}
}

void styles_make(struct styles *styles, const struct layout *layout, const struct stacks *stacks,
		 const struct styles_how *how)
{
	struct colouring helper = { .styles = styles, .stacks = stacks, .how = how };

	*styles = (struct styles){ 0 };
	helper.memo = mem_alloc(sizeof(*helper.memo), ((size_t)stacks->frames.n + 1) * CODE_PLACES);
	styles->of = mem_alloc(sizeof(*styles->of), (size_t)layout->n + 1);
	collect_variants(&helper, layout);
	number_colours(&helper);
	number_styles(&helper, layout);
	tint_styles(styles);
	text_free(&helper.scratch);
	free(helper.variant);
	free(helper.memo);
}

void styles_free(struct styles *styles)
{
	free(styles->of);
	free(styles->kinds);
	arena_free(&styles->memory);
	*styles = (struct styles){ 0 };
}
