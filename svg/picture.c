/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/picture.h"

#include "svg/bars.h"
#include "svg/format/xml.h"

#include <stdlib.h>

const char picture_ui_font[] =
	"ui-sans-serif,system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','DejaVu Sans',sans-serif";

#define MIDDOT " \xc2\xb7 "
#define ARROW " \xe2\x86\x92 "
#define SQUARE "\xe2\x96\xa0"
#define FOOT_PX 32
#define UI_CHAR_PX 6.6 /* a character of the header's small text, on average */
#define CHIP_PX 76     /* square, percentage and gaps of one kind in the legend */

enum { TITLE_Y = 29, TOTALS_Y = 49, LINE_PX = 18, LEGEND_PX = 25 };

/* ---- header ------------------------------------------------------------------------------------------------- */

/* "before 6,000 -> after 6,600 samples (+10.0%)" */
static void put_sums(struct text *t, const struct look *look, const struct layout *l)
{
	text_add(t, "before ");
	bars_weight(t, look, l->before_sum);
	text_add(t, ARROW "after ");
	bars_weight(t, look, l->sum);
	if (l->before_sum)
		text_printf(t, " (%+.1f%%)", 100 * ((double)l->sum - (double)l->before_sum) / (double)l->before_sum);
}

static void put_totals(struct text *t, const struct look *look, const struct layout *l, const struct styles *n)
{
	if (l->before)
		put_sums(t, look, l);
	else
		bars_weight(t, look, look->total);
	text_add(t, MIDDOT);
	text_grouped(t, l->n);
	text_add(t, l->n == 1 ? " frame" MIDDOT : " frames" MIDDOT);
	text_grouped(t, n->functions);
	text_add(t, n->functions == 1 ? " function" MIDDOT "depth " : " functions" MIDDOT "depth ");
	text_grouped(t, l->depth);
}

/* One line of small text at y, cut to the picture's width. */
static void picture_put_line(struct text *t, struct str line, double y, uint32_t width, uint32_t ink)
{
	struct text cut = { 0 };

	label_fit(&cut, line, (size_t)((width - 2 * PICTURE_PAD) / UI_CHAR_PX), LABEL_RIGHT);
	text_printf(t, "<text x=\"%d\" y=\"%g\" fill=\"", PICTURE_PAD, y);
	text_rgb(t, ink);
	text_add(t, "\">");
	xml_text(t, text_view(&cut));
	text_add(t, "</text>");
	text_free(&cut);
}

static void put_title(struct picture *p, const struct look *look)
{
	struct text cut = { 0 };

	label_fit(&cut, look->title, (size_t)((p->width - 2 * PICTURE_PAD) / 9.5), LABEL_RIGHT);
	text_printf(&p->head, "<text x=\"%d\" y=\"%d\" font-size=\"17\" font-weight=\"600\" fill=\"", PICTURE_PAD,
		    TITLE_Y);
	text_rgb(&p->head, p->ink);
	text_add(&p->head, "\">");
	xml_text(&p->head, text_view(&cut));
	text_add(&p->head, "</text>");
	text_free(&cut);
}

/* Totals and subtitle, on one line where they fit. Returns the height of the header so far. */
static uint32_t picture_put_facts(struct picture *p, const struct look *look)
{
	struct text line = { 0 };
	uint32_t height = TOTALS_Y + 11;

	text_str(&line, text_view(&p->totals));
	if (look->subtitle.n) {
		text_add(&line, MIDDOT);
		text_str(&line, look->subtitle);
	}
	if (look->subtitle.n == 0 ||
	    (double)label_columns(text_view(&line)) * UI_CHAR_PX <= p->width - 2.0 * PICTURE_PAD) {
		picture_put_line(&p->head, text_view(&line), TOTALS_Y, p->width, p->muted);
	} else {
		picture_put_line(&p->head, text_view(&p->totals), TOTALS_Y, p->width, p->muted);
		picture_put_line(&p->head, look->subtitle, TOTALS_Y + LINE_PX, p->width, p->muted);
		height += LINE_PX;
	}
	text_free(&line);
	return height;
}

/* ---- legend ------------------------------------------------------------------------------------------------- */

struct share {
	const char *label;
	uint32_t rgb;
	uint64_t self;
};

static int share_cmp(const void *a, const void *b)
{
	const struct share *x = a, *y = b;

	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	return strcmp(x->label, y->label);
}

/* Self weight by label, the heaviest first. Returns their number; at most max. */
static size_t make_shares(struct share *share, size_t max, const struct layout *l, const struct styles *n, bool dark)
{
	uint64_t *self = mem_alloc(sizeof(*self), (size_t)n->ncolours + 1);
	size_t count = 0;

	for (uint32_t i = 0; i < l->n; i++)
		self[n->colour[n->of[i]]] += l->self[i];
	for (uint32_t c = 0; c < n->ncolours; c++) {
		const char *label = n->kinds[n->colours[c].kind].label;
		size_t k = 0;
		while (k < count && strcmp(share[k].label, label) != 0)
			k++;
		if (k == max)
			continue;
		if (k == count)
			share[count++] = (struct share){ label, dark ? n->colours[c].dark : n->colours[c].light, 0 };
		share[k].self += self[c];
	}
	free(self);
	qsort(share, count, sizeof(*share), share_cmp);
	return count;
}

/* The square is a character: it flows with the text, whatever the font. */
static void picture_put_share(struct text *t, const struct share *share, const struct look *look, bool first)
{
	text_printf(t, "<tspan dx=\"%d\" font-size=\"15\" fill=\"", first ? 0 : 16);
	text_rgb(t, share->rgb);
	text_add(t, "\">" SQUARE "</tspan><tspan dx=\"5\">");
	xml_text(t, str_of(share->label));
	text_add(t, "</tspan><tspan dx=\"5\" fill-opacity=\".72\">");
	bars_percent(t, share->self, look->total);
	text_add(t, "</tspan>");
}

static uint32_t put_legend(struct picture *p, const struct look *look, const struct layout *l, const struct styles *n,
			   uint32_t y)
{
	struct share share[CODE_COUNT] = { 0 };
	size_t count = make_shares(share, countof(share), l, n, bars_is_dark(look->background));
	uint64_t least = look->total / 1000 + (look->total % 1000 != 0); /* 0.1 %, as in the viewer */
	double x = p->width;
	uint32_t lines = 0;

	for (size_t i = 0; i < count && share[i].self >= least; i++) {
		double chip = CHIP_PX + UI_CHAR_PX * (double)strlen(share[i].label);
		bool first = x + chip > p->width;
		if (first) {
			text_add(&p->head, lines ? "</text>" : "");
			text_printf(&p->head, "<text x=\"%d\" y=\"%u\" fill=\"", PICTURE_PAD, y + 10 + lines * LINE_PX);
			text_rgb(&p->head, p->ink);
			text_add(&p->head, "\">");
			x = PICTURE_PAD;
			lines++;
		}
		picture_put_share(&p->head, &share[i], look, first);
		x += chip;
	}
	text_add(&p->head, lines ? "</text>" : "");
	return y + LEGEND_PX + (lines > 1 ? (lines - 1) * LINE_PX : 0);
}

/* ---- the scale of a difference ------------------------------------------------------------------------------ */

static void put_scale(struct picture *p, const struct look *look, const struct change *c, uint32_t y)
{
	struct text *t = &p->head;

	text_printf(t, "<text x=\"%d\" y=\"%u\" fill=\"", PICTURE_PAD, y + 10);
	text_rgb(t, p->ink);
	text_add(t, "\">less <tspan font-size=\"15\">");
	for (unsigned step = 0; step < CHANGE_STEPS; step++) {
		text_add(t, "<tspan fill=\"");
		text_rgb(t, change_colour(c, step, bars_is_dark(look->background)));
		text_add(t, "\">" SQUARE "</tspan>");
	}
	text_printf(t, "</tspan> more<tspan dx=\"10\" fill-opacity=\".72\">compared as %s" MIDDOT "striped: new",
		    c->rule.shares ? "shares of the total" : "counts");
	if (c->gone_sum)
		text_add(t, MIDDOT "right: only before");
	if (c->unsure_sum) {
		struct text gone = { 0 }; /* (a unit is what somebody wrote) */
		bars_weight(&gone, look, c->unsure_sum);
		text_add(t, MIDDOT);
		xml_text(t, text_view(&gone));
		text_add(t, " in stacks that are gone, but moved or too few to judge");
		text_free(&gone);
	}
	text_add(t, "</tspan></text>");
}

/* The scale, and below it what the reader has to know. Returns the height of the header so far. */
static uint32_t put_change_legend(struct picture *p, const struct look *look, const struct change *c, uint32_t y)
{
	put_scale(p, look, c, y);
	if (c->note.n == 0)
		return y + LEGEND_PX;
	picture_put_line(&p->head, c->note, y + 10 + LINE_PX, p->width, p->muted);
	return y + LEGEND_PX + LINE_PX;
}

/* ---- all ---------------------------------------------------------------------------------------------------- */

static void put_foot(struct picture *p, const struct bars *bars, const struct layout *l)
{
	if (bars->rows_hidden) {
		text_add(&p->foot, "rows beyond ");
		text_grouped(&p->foot, bars->rows);
		text_add(&p->foot, " of ");
		text_grouped(&p->foot, l->depth);
		text_add(&p->foot, " are not drawn here" MIDDOT);
	}
	text_add(&p->foot, "open in a browser to zoom and search");
}

/* Text colours that can be read on the background. */
static void choose_ink(struct picture *p, const struct look *look)
{
	bool dark = bars_is_dark(look->background);

	p->ink = dark ? 0xf4f5f7 : 0x16181d;
	p->muted = dark ? 0x9aa1ab : 0x5b616b;
	if (look->own_background)
		p->muted = dark ? 0xc4c8ce : 0x454a52;
}

void picture_make(struct picture *p, const struct look *look, const struct layout *l, const struct styles *n,
		  const struct change *c)
{
	struct bars bars = { 0 };

	*p = (struct picture){ .width = look->width ? look->width : PICTURE_WIDTH };
	choose_ink(p, look);
	put_totals(&p->totals, look, l, n);
	put_title(p, look);
	uint32_t top = picture_put_facts(p, look);
	if (c)
		top = put_change_legend(p, look, c, top);
	else if (look->legend)
		top = put_legend(p, look, l, n, top);
	bars_draw(&bars, &p->frames, look, l, n, c, p->width, top);
	p->height = top + (bars.rows + 1) * look->row + FOOT_PX;
	put_foot(p, &bars, l);
}

void picture_empty(struct picture *p, const struct look *look, const char *why)
{
	*p = (struct picture){ .width = look->width ? look->width : PICTURE_WIDTH, .height = 120 };
	choose_ink(p, look);
	put_title(p, look);
	text_add(&p->totals, "no samples");
	picture_put_line(&p->head, str_of(why), TOTALS_Y + 6, p->width, p->muted);
}

void picture_free(struct picture *p)
{
	text_free(&p->head);
	text_free(&p->frames);
	text_free(&p->foot);
	text_free(&p->totals);
	*p = (struct picture){ 0 };
}
