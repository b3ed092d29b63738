/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/picture.h"

#include "svg/bars.h"
#include "svg/heatpicture.h"
#include "svg/format/xml.h"

#include <stdlib.h>

const char picture_ui_font[] =
	"ui-sans-serif,system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','DejaVu Sans',sans-serif";

#define MIDDOT " \xc2\xb7 "
#define ARROW " \xe2\x86\x92 "
#define SQUARE "\xe2\x96\xa0"
#define FOOT_PX 32
#define UI_CHAR_PX 6.6 /* average width in px of a character of the header's small text */
#define CHIP_PX 76     /* width in px of a legend entry without its name: square, percentage and gaps */

enum { TITLE_Y = 29, TOTALS_Y = 49, LINE_PX = 18, LEGEND_PX = 25 };

/* ---- header of the picture ---------------------------------------------------------------------------------- */

/* Appends the totals of a difference: "before 6,000 -> after 6,600 samples (+10.0%)". */
static void put_sums(struct text *text, const struct look *look, const struct layout *layout)
{
	text_add(text, "before ");
	bars_weight(text, look, layout->before_sum);
	text_add(text, ARROW "after ");
	bars_weight(text, look, layout->sum);
	if (layout->before_sum)
		text_printf(text, " (%+.1f%%)",
			    100 * ((double)layout->sum - (double)layout->before_sum) / (double)layout->before_sum);
}

static void put_totals(struct text *text, const struct look *look, const struct layout *layout,
		       const struct styles *styles)
{
	if (layout->before)
		put_sums(text, look, layout);
	else
		bars_weight(text, look, look->total);
	text_add(text, MIDDOT);
	text_grouped(text, layout->n);
	text_add(text, layout->n == 1 ? " frame" MIDDOT : " frames" MIDDOT);
	text_grouped(text, styles->functions);
	text_add(text, styles->functions == 1 ? " function" MIDDOT "depth " : " functions" MIDDOT "depth ");
	text_grouped(text, layout->depth);
}

/* Writes a line of small text at height y in px, truncated to `width`, the width of the picture in px. ink: colour of
 * the text. */
static void picture_put_line(struct text *text, struct str line, double y, uint32_t width, uint32_t ink)
{
	struct text cut = { 0 };

	label_fit(&cut, line, (size_t)((width - 2 * PICTURE_PAD) / UI_CHAR_PX), LABEL_RIGHT);
	text_printf(text, "<text x=\"%d\" y=\"%g\" fill=\"", PICTURE_PAD, y);
	text_rgb(text, ink);
	text_add(text, "\">");
	xml_text(text, text_view(&cut));
	text_add(text, "</text>");
	text_free(&cut);
}

static void put_title(struct picture *picture, const struct look *look)
{
	struct text cut = { 0 };

	label_fit(&cut, look->title, (size_t)((picture->width - 2 * PICTURE_PAD) / 9.5), LABEL_RIGHT);
	text_printf(&picture->head, "<text x=\"%d\" y=\"%d\" font-size=\"17\" font-weight=\"600\" fill=\"", PICTURE_PAD,
		    TITLE_Y);
	text_rgb(&picture->head, picture->ink);
	text_add(&picture->head, "\">");
	xml_text(&picture->head, text_view(&cut));
	text_add(&picture->head, "</text>");
	text_free(&cut);
}

/* Writes totals and subtitle, on one line if they fit, else on two. Returns the height of the header so far in px. */
static uint32_t picture_put_facts(struct picture *picture, const struct look *look)
{
	struct text line = { 0 };
	uint32_t height = TOTALS_Y + 11;

	text_str(&line, text_view(&picture->totals));
	if (look->subtitle.n) {
		text_add(&line, MIDDOT);
		text_str(&line, look->subtitle);
	}
	if (look->subtitle.n == 0 ||
	    (double)label_columns(text_view(&line)) * UI_CHAR_PX <= picture->width - 2.0 * PICTURE_PAD) {
		picture_put_line(&picture->head, text_view(&line), TOTALS_Y, picture->width, picture->muted);
	} else {
		picture_put_line(&picture->head, text_view(&picture->totals), TOTALS_Y, picture->width, picture->muted);
		picture_put_line(&picture->head, look->subtitle, TOTALS_Y + LINE_PX, picture->width, picture->muted);
		height += LINE_PX;
	}
	text_free(&line);
	return height;
}

/* ---- legend of the picture ---------------------------------------------------------------------------------- */

struct share {
	const char *label;
	uint32_t rgb;
	uint64_t self;
};

static int share_cmp(const void *a, const void *b)
{
	const struct share *share = a, *y = b;

	if (share->self != y->self)
		return share->self < y->self ? 1 : -1;
	return strcmp(share->label, y->label);
}

/* Returns the self weight of frame i. Among reversed stacks, an outermost frame is the one that ran: all weight above
 * it is its self weight. */
static uint64_t self_of(const struct layout *layout, const struct look *look, uint32_t i)
{
	if (look->reverse)
		return layout->level[i] == 1 ? layout->width[i] : 0;
	return layout->self[i];
}

/* Sets share[] to the labels of the legend with their self weights, sorted by weight, heaviest first. Returns the
 * number of labels, at most max; further labels are left out. */
static size_t make_shares(struct share *share, size_t max, const struct layout *layout, const struct styles *styles,
			  const struct look *look)
{
	uint64_t *self = mem_alloc(sizeof(*self), (size_t)styles->ncolours + 1);
	bool dark = bars_is_dark(look->background);
	size_t count = 0;

	for (uint32_t i = 0; i < layout->n; i++)
		self[styles->colour[styles->of[i]]] += self_of(layout, look, i);
	for (uint32_t c = 0; c < styles->ncolours; c++) {
		const char *label = styles->kinds[styles->colours[c].kind].label;
		size_t index = 0;
		while (index < count && strcmp(share[index].label, label) != 0)
			index++;
		if (index == max)
			continue;
		if (index == count)
			share[count++] =
				(struct share){ label, dark ? styles->colours[c].dark : styles->colours[c].light, 0 };
		share[index].self += self[c];
	}
	free(self);
	qsort(share, count, sizeof(*share), share_cmp);
	return count;
}

/* Writes one entry of the legend. first: true: it is the first entry of a line. The square of the entry is a character,
 * so that it moves with the text in any font. */
static void picture_put_share(struct text *text, const struct share *share, const struct look *look, bool first)
{
	text_printf(text, "<tspan dx=\"%d\" font-size=\"15\" fill=\"", first ? 0 : 16);
	text_rgb(text, share->rgb);
	text_add(text, "\">" SQUARE "</tspan><tspan dx=\"5\">");
	xml_text(text, str_of(share->label));
	text_add(text, "</tspan><tspan dx=\"5\" fill-opacity=\".72\">");
	bars_percent(text, share->self, look->total);
	text_add(text, "</tspan>");
}

static uint32_t put_legend(struct picture *picture, const struct look *look, const struct layout *layout,
			   const struct styles *styles, uint32_t y)
{
	struct share share[CODE_COUNT] = { 0 };
	size_t count = make_shares(share, countof(share), layout, styles, look);
	/* Like the viewer, the legend omits labels below 0.1 %. */
	uint64_t least = look->total / 1000 + (look->total % 1000 != 0);
	double x = picture->width;
	uint32_t lines = 0;

	for (size_t i = 0; i < count && share[i].self >= least; i++) {
		double chip = CHIP_PX + UI_CHAR_PX * (double)strlen(share[i].label);
		bool first = x + chip > picture->width;
		if (first) {
			text_add(&picture->head, lines ? "</text>" : "");
			text_printf(&picture->head, "<text x=\"%d\" y=\"%u\" fill=\"", PICTURE_PAD,
				    y + 10 + lines * LINE_PX);
			text_rgb(&picture->head, picture->ink);
			text_add(&picture->head, "\">");
			x = PICTURE_PAD;
			lines++;
		}
		picture_put_share(&picture->head, &share[i], look, first);
		x += chip;
	}
	text_add(&picture->head, lines ? "</text>" : "");
	return y + LEGEND_PX + (lines > 1 ? (lines - 1) * LINE_PX : 0);
}

/* ---- the scale of a difference ------------------------------------------------------------------------------ */

static void put_scale(struct picture *picture, const struct look *look, const struct change *change, uint32_t y)
{
	struct text *text = &picture->head;

	text_printf(text, "<text x=\"%d\" y=\"%u\" fill=\"", PICTURE_PAD, y + 10);
	text_rgb(text, picture->ink);
	text_add(text, "\">less <tspan font-size=\"15\">");
	for (unsigned step = 0; step < CHANGE_STEPS; step++) {
		text_add(text, "<tspan fill=\"");
		text_rgb(text, change_colour(change, step, bars_is_dark(look->background)));
		text_add(text, "\">" SQUARE "</tspan>");
	}
	text_printf(text, "</tspan> more<tspan dx=\"10\" fill-opacity=\".72\">compared as %s" MIDDOT "striped: new",
		    change->rule.shares ? "shares of the total" : "counts");
	if (change->gone_sum)
		text_add(text, MIDDOT "right: only before");
	if (change->unsure_sum) {
		struct text gone = { 0 }; /* contains the unit from the input, so it is escaped */
		bars_weight(&gone, look, change->unsure_sum);
		text_add(text, MIDDOT);
		xml_text(text, text_view(&gone));
		text_add(text, " in stacks that are gone, but moved or too few to judge");
		text_free(&gone);
	}
	text_add(text, "</tspan></text>");
}

/* Writes the colour scale of a difference at height y in px, and the note below the scale. Returns the height of the
 * header so far in px. */
static uint32_t put_change_legend(struct picture *picture, const struct look *look, const struct change *change,
				  uint32_t y)
{
	put_scale(picture, look, change, y);
	if (change->note.n == 0)
		return y + LEGEND_PX;
	picture_put_line(&picture->head, change->note, y + 10 + LINE_PX, picture->width, picture->muted);
	return y + LEGEND_PX + LINE_PX;
}

/* ---- complete picture --------------------------------------------------------------------------------------- */

static void put_foot(struct picture *picture, const struct bars *bars, const struct layout *layout)
{
	if (bars->rows_hidden) {
		text_add(&picture->foot, "rows beyond ");
		text_grouped(&picture->foot, bars->rows);
		text_add(&picture->foot, " of ");
		text_grouped(&picture->foot, layout->depth);
		text_add(&picture->foot, " are not drawn here" MIDDOT);
	}
	text_add(&picture->foot, "open in a browser to zoom and search");
}

/* Sets the text colours so that they contrast with the background. */
static void choose_ink(struct picture *picture, const struct look *look)
{
	bool dark = bars_is_dark(look->background);

	picture->ink = dark ? 0xf4f5f7 : 0x16181d;
	picture->muted = dark ? 0x9aa1ab : 0x5b616b;
	if (look->own_background)
		picture->muted = dark ? 0xc4c8ce : 0x454a52;
}

void picture_make(struct picture *picture, const struct look *look, const struct layout *layout,
		  const struct styles *styles, const struct change *change)
{
	struct bars bars = { 0 };

	*picture = (struct picture){ .width = look->width ? look->width : PICTURE_WIDTH };
	choose_ink(picture, look);
	put_totals(&picture->totals, look, layout, styles);
	put_title(picture, look);
	uint32_t top = picture_put_facts(picture, look);
	if (change)
		top = put_change_legend(picture, look, change, top);
	else if (look->legend)
		top = put_legend(picture, look, layout, styles, top);
	if (look->heat) {
		struct heatpicture_ink ink = { picture->ink, picture->muted, bars_is_dark(look->background) };
		top += heatpicture_draw(&picture->head, look->heat, &ink, look->unit, top, picture->width, PICTURE_PAD);
	}
	bars_draw(&bars, &picture->frames, look, layout, styles, change, picture->width, top);
	picture->height = top + (bars.rows + 1) * look->row + FOOT_PX;
	put_foot(picture, &bars, layout);
}

void picture_empty(struct picture *picture, const struct look *look, const char *why)
{
	*picture = (struct picture){ .width = look->width ? look->width : PICTURE_WIDTH, .height = 120 };
	choose_ink(picture, look);
	put_title(picture, look);
	text_add(&picture->totals, "no samples");
	picture_put_line(&picture->head, str_of(why), TOTALS_Y + 6, picture->width, picture->muted);
}

void picture_free(struct picture *picture)
{
	text_free(&picture->head);
	text_free(&picture->frames);
	text_free(&picture->foot);
	text_free(&picture->totals);
	*picture = (struct picture){ 0 };
}
