/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/layout/styles.h"

#include "common/formats/folded.h"
#include "common/visible.h"

#include <stdlib.h>

/* A shown name with its colour. A frame may have several variants, as its colour may depend on its place in a stack
 * (enum code_place). */
struct variant {
	struct str text;
	struct styles_colour paint;
	uint32_t colour; /* index of `paint` in styles.colours */
	uint32_t index;  /* index of the variant before variants are sorted */
};

/* Properties of the name of each frame, by frame id, from which the places of frames are computed. */
struct name_facts {
	uint8_t *mark; /* bits from ENTERS_KERNEL on: effect of the frame on the places of the frames below it */
	uint8_t *kind; /* code kind (enum code) that the name alone shows; only for palettes of code kinds */
};

struct colouring {
	struct styles *styles;
	const struct stacks *stacks;
	const struct styles_how *how;
	struct name_facts facts;
	uint32_t *memo; /* for each frame * CODE_PLACES + place: index of the variant + 1; 0: none yet */
	struct variant *variant;
	uint32_t n, cap;
	struct text scratch;
};

/* ---- places of frames --------------------------------------------------------------------------------------- */

enum { ENTERS_KERNEL = 1, SEPARATES = 2, IS_JS = 4, FOLLOWS_JS = 8 };

/* Returns marks of a frame's name: IS_JS if the name alone shows JavaScript; FOLLOWS_JS if the frame is JavaScript when
 * JavaScript calls it. */
static uint8_t js_marks(struct str plain, struct str suffix, enum code named)
{
	if (named == CODE_JS && code_in_place(plain, suffix, CODE_PLAIN, named) == CODE_JS)
		return IS_JS | FOLLOWS_JS;
	return code_in_place(plain, suffix, CODE_IN_JS, named) == CODE_JS ? FOLLOWS_JS : 0;
}

/* Allocates *facts, and sets for each frame id only the members that the palette needs; the others are 0. */
static void name_facts_make(struct name_facts *facts, const struct stacks *stacks, const struct palette *palette)
{
	bool kind = palette_is_kind(palette), chain = palette_is_chain(palette);

	facts->mark = mem_alloc(1, (size_t)stacks->frames.n + 1);
	facts->kind = mem_alloc(1, (size_t)stacks->frames.n + 1);
	for (uint32_t id = 1; (kind || chain) && id <= stacks->frames.n; id++) {
		struct str name = intern_str(&stacks->frames, id), plain = folded_plain(name);

		if (chain)
			facts->mark[id] = str_eq(name, STR("--")) ? SEPARATES : 0;
		if (!kind)
			continue;
		enum code named = code_by_name(plain);
		facts->kind[id] = (uint8_t)named;
		facts->mark[id] = js_marks(plain, str_from(name, plain.n), named);
		if (plain.n == name.n && code_enters_kernel(name))
			facts->mark[id] |= ENTERS_KERNEL;
	}
}

static void name_facts_free(struct name_facts *facts)
{
	free(facts->mark);
	free(facts->kind);
}

/* Returns an array with the place (enum code_place) of each frame of the layout. mark: name_facts.mark. The caller
 * frees it. */
static uint8_t *frame_places(const struct layout *layout, const uint8_t *mark, const struct palette *palette)
{
	uint8_t *place = mem_alloc(1, (size_t)layout->n + 1);
	bool kind = palette_is_kind(palette), chain = palette_is_chain(palette);

	for (uint32_t i = 0; i < layout->n; i++) {
		uint32_t up = layout->parent[i];
		uint8_t marks = mark[layout->frame[i]];
		bool outermost = up == LAYOUT_ROOT;
		if (outermost)
			place[i] = CODE_OUTERMOST;
		if (kind) {
			if ((marks & ENTERS_KERNEL) || (!outermost && place[up] == CODE_IN_KERNEL))
				place[i] = CODE_IN_KERNEL;
			else if (!outermost && ((marks & IS_JS) || ((marks & FOLLOWS_JS) && place[up] == CODE_IN_JS)))
				place[i] = CODE_IN_JS;
		} else if (chain && !outermost) {
			if (place[up] == CODE_WOKEN || (mark[layout->frame[up]] & SEPARATES))
				place[i] = CODE_WOKEN;
		}
	}
	return place;
}

/* Returns an array with the place (enum code_place) of each frame of reversed stacks: a frame without frames below it
 * is a process; the frames from a kernel entry towards the root are kernel code. The caller frees it. */
static uint8_t *turned_places(const struct layout *layout, const uint8_t *mark, const struct palette *palette)
{
	uint8_t *place = mem_alloc(1, (size_t)layout->n + 1);

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
	return place;
}

static uint8_t *make_places(const struct layout *layout, const uint8_t *mark, const struct styles_how *how)
{
	uint8_t *place = (how->reverse ? turned_places : frame_places)(layout, mark, how->palette);

	for (uint32_t i = 0; how->cut && i < layout->n; i++) {
		if (place[i] == CODE_OUTERMOST)
			place[i] = CODE_PLAIN;
	}
	return place;
}

/* ---- variants of frames ------------------------------------------------------------------------------------- */

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

static struct shade variant_shade(const struct colouring *helper, uint32_t id, enum code_place place)
{
	const struct palette *palette = helper->how->palette;
	struct str frame = intern_str(&helper->stacks->frames, id), plain = folded_plain(frame);

	if (!palette_is_kind(palette))
		return palette_shade(palette, helper->how->hash, frame, place);
	return palette_of_kind(
		code_in_place(plain, str_from(frame, plain.n), place, (enum code)helper->facts.kind[id]));
}

static void variant_add(struct colouring *helper, uint32_t id, enum code_place place)
{
	struct str frame = intern_str(&helper->stacks->frames, id), string = folded_plain(frame);
	struct shade shade = variant_shade(helper, id, place);

	/* As in flamegraph.pl, separators are grey and do not take a colour from the palette map. */
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

/* Creates the variants. Sets styles->of to the index of each frame's variant; number_styles later replaces it by a
 * style id. */
static void collect_variants(struct colouring *helper, const struct layout *layout)
{
	uint8_t *place;

	name_facts_make(&helper->facts, helper->stacks, helper->how->palette);
	place = make_places(layout, helper->facts.mark, helper->how);
	for (uint32_t i = 0; i < layout->n; i++) {
		uint32_t *known = &helper->memo[(size_t)layout->frame[i] * CODE_PLACES + place[i]];
		if (!*known) {
			variant_add(helper, layout->frame[i], place[i]);
			*known = helper->n;
		}
		helper->styles->of[i] = *known - 1;
	}
	free(place);
	name_facts_free(&helper->facts);
}

/* ---- colours of the variants -------------------------------------------------------------------------------- */

/* Replaces the low bits of each colour channel by the middle of their range. low: bit mask of the low bits of a
 * channel: 1, 3, 7, ... */
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

/* ---- style ids ---------------------------------------------------------------------------------------------- */

static int variant_cmp(const void *a, const void *b)
{
	const struct variant *variant = a, *y = b;
	int order = str_cmp(variant->text, y->text);

	return order ? order : (variant->colour > y->colour) - (variant->colour < y->colour);
}

static void number_styles(struct colouring *helper, const struct layout *layout)
{
	struct styles *styles = helper->styles;
	/* style id of each variant, by the index of the variant */
	uint32_t *id = mem_alloc(sizeof(*id), (size_t)helper->n + 1);
	/* bit mask of the variants so far with this text; bit 0: a user function; bit 1: a kernel function */
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

static uint32_t hash_unit(uint32_t h, uint32_t unit)
{
	return (h ^ h >> 15) * 33 + unit;
}

/* Continues the hash h (docs/SVG.md) with the UTF-16 units of a string, and returns the new hash. */
static uint32_t hash_units(uint32_t h, struct str string)
{
	const char *p = string.p, *end = string.p + string.n;

	while (p < end) {
		uint32_t u = (unsigned char)*p;
		if (likely(u < 0x80)) {
			h = hash_unit(h, u);
			p++;
			continue;
		}
		u = 0;
		size_t n = visible_point((struct str){ p, (size_t)(end - p) }, &u);
		if (u > 0xffff) {
			h = hash_unit(h, 0xd7c0 + (u >> 10));
			u = 0xdc00 | (u & 0x3ff);
		}
		h = hash_unit(h, u);
		p += n ? n : 1;
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
