/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/document.h"

#include "svg/assets.h"
#include "svg/format/encode.h"
#include "svg/format/xml.h"
#include "svg/heat/heatdata.h"

/* ---- config block ------------------------------------------------------------------------------------------- */

static void document_put_key(struct text *text, const char *key)
{
	text_printf(text, "%s\"%s\":", text->n > 1 ? "," : "", key);
}

static void document_put_string(struct text *text, const char *key, struct str value)
{
	document_put_key(text, key);
	xml_json(text, value);
}

static void document_put_number(struct text *text, const char *key, double value)
{
	document_put_key(text, key);
	text_printf(text, "%.15g", value);
}

static void put_colour(struct text *text, const char *key, bool present, uint32_t rgb)
{
	document_put_key(text, key);
	text_char(text, '"');
	if (present)
		text_rgb(text, rgb);
	text_char(text, '"');
}

static void put_kinds(struct text *text, const struct styles *styles)
{
	document_put_key(text, "kinds");
	text_char(text, '[');
	for (uint32_t i = 0; i < styles->nkinds; i++) {
		text_add(text, i ? ",[" : "[");
		xml_json(text, str_of(styles->kinds[i].label));
		text_char(text, ',');
		xml_json(text, styles->kinds[i].suffix);
		text_char(text, ']');
	}
	text_char(text, ']');
}

static void put_colours(struct text *text, const struct styles *styles)
{
	document_put_key(text, "colors");
	text_char(text, '[');
	for (uint32_t i = 0; i < styles->ncolours; i++) {
		text_add(text, i ? ",[\"" : "[\"");
		text_rgb(text, styles->colours[i].light);
		text_add(text, "\",\"");
		text_rgb(text, styles->colours[i].dark);
		text_printf(text, "\",%u]", styles->colours[i].kind);
	}
	text_char(text, ']');
}

/* Writes the titles and links that the user gave for functions in the picture (linkattrs.h). */
static void put_attrs(struct text *text, const struct link_attrs *attrs, const struct styles *styles)
{
	bool first = true;

	document_put_key(text, "attrs");
	text_char(text, '[');
	for (uint32_t i = 0; attrs && i < styles->n; i++) {
		const struct link_attr *attr = link_attrs_find(
			attrs, styles->text[i], styles->kinds[styles->colours[styles->colour[i]].kind].suffix);
		if (!attr || attr->title.n + attr->href.n == 0)
			continue;
		text_printf(text, "%s[%u,", first ? "" : ",", i);
		xml_json(text, attr->title);
		text_char(text, ',');
		xml_json(text, attr->href);
		text_char(text, ']');
		first = false;
	}
	text_char(text, ']');
}

static const char *document_cut_name(enum label_cut cut)
{
	return cut == LABEL_SMART ? "smart" : cut == LABEL_LEFT ? "left" : "right";
}

static void put_ramp(struct text *text, const struct change *change)
{
	document_put_key(text, "ramp");
	for (int dark = 0; dark < 2; dark++) {
		text_add(text, dark ? ",[" : "[[");
		for (unsigned step = 0; step < CHANGE_STEPS; step++) {
			text_add(text, step ? ",\"" : "\"");
			text_rgb(text, change_colour(change, step, dark));
			text_char(text, '"');
		}
		text_char(text, ']');
	}
	text_char(text, ']');
}

static void put_diff(struct text *text, const struct layout *layout, const struct change *change)
{
	document_put_key(text, "diff");
	text_printf(text, "{\"sums\":[%ju,%ju]", (uintmax_t)layout->before_sum, (uintmax_t)layout->sum);
	document_put_number(text, "shares", change->rule.shares);
	document_put_number(text, "z", change->rule.z);
	document_put_number(text, "points", change->rule.points);
	document_put_number(text, "relative", change->rule.relative);
	document_put_number(text, "dispersion", change->rule.dispersion);
	document_put_number(text, "drift", change->rule.drift);
	document_put_number(text, "counted", change->rule.counted);
	document_put_string(text, "note", change->note);
	put_ramp(text, change);
	text_char(text, '}');
}

static void put_config(struct text *text, const struct look *look, const struct layout *layout,
		       const struct styles *styles, const struct change *change)
{
	text_char(text, '{');
	document_put_number(text, "v", 1);
	document_put_string(text, "title", look->title);
	document_put_string(text, "subtitle", look->subtitle);
	document_put_string(text, "notes", look->notes);
	document_put_string(text, "unit", look->unit);
	document_put_string(text, "nametype", look->nametype);
	document_put_string(text, "root", STR("all"));
	document_put_key(text, "total");
	text_u64(text, look->total);
	document_put_number(text, "factor", look->factor);
	document_put_number(text, "width", look->width);
	document_put_number(text, "inverted", look->inverted);
	document_put_number(text, "fh", look->row);
	document_put_number(text, "fs", look->font_size);
	document_put_number(text, "cw", look->char_width);
	document_put_string(text, "font", look->font);
	document_put_number(text, "min", look->min_px);
	document_put_string(text, "truncate", str_of(document_cut_name(look->cut)));
	put_colour(text, "search", look->own_search, look->search);
	put_colour(text, "bg", look->own_background, look->background);
	put_kinds(text, styles);
	put_colours(text, styles);
	document_put_number(text, "legend", look->legend);
	document_put_number(text, "reverse", look->reverse);
	document_put_number(text, "chart", look->chart);
	document_put_string(text, "header", look->header);
	put_attrs(text, look->attrs, styles);
	if (change)
		put_diff(text, layout, change);
	if (look->heat) {
		document_put_key(text, "heat");
		heatdata_config(text, look->heat, look->unit);
	}
	text_char(text, '}');
}

/* ---- parts of the document ---------------------------------------------------------------------------------- */

static void put_start(struct out *out, const struct look *look, const struct picture *picture)
{
	struct text text = { 0 };

	text_add(&text, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"pj\"");
	text_printf(&text, " width=\"%u\" height=\"%u\"", picture->width, picture->height);
	text_printf(&text, " viewBox=\"0 0 %u %u\" role=\"img\"", picture->width, picture->height);
	text_printf(&text, " font-family=\"%s\" font-size=\"12\" aria-label=\"", picture_ui_font);
	xml_attribute(&text, look->title);
	text_add(&text, "\">\n<title>");
	xml_text(&text, look->title);
	text_add(&text, "</title>\n<desc>");
	xml_text(&text, text_view(&picture->totals));
	if (look->notes.n)
		text_add(&text, "\n");
	xml_text(&text, look->notes);
	text_add(&text, "</desc>\n");
	out_str(out, text_view(&text));
	text_free(&text);
}

static void put_picture(struct out *out, const struct look *look, const struct picture *picture)
{
	struct text text = { 0 };

	text_add(&text, "<rect width=\"100%\" height=\"100%\" fill=\"");
	text_rgb(&text, look->background);
	text_add(&text, "\"/>\n<g class=\"pj-h\">");
	text_str(&text, text_view(&picture->head));
	text_add(&text, "</g>\n<g class=\"pj-s\">\n");
	text_str(&text, text_view(&picture->frames));
	text_printf(&text, "</g>\n<text class=\"pj-i\" x=\"12\" y=\"%u\" fill=\"", picture->height - 11);
	text_rgb(&text, picture->muted);
	text_add(&text, "\">");
	text_str(&text, text_view(&picture->foot));
	text_add(&text, "</text>\n");
	out_str(out, text_view(&text));
	text_free(&text);
}

/* Writes the columns of numbers in the data block. In a difference: self weights before, self weights after, results of
 * the tests by shares, results of the tests by counts. In other pictures: self weights. */
static void put_columns(struct text *text, const struct layout *layout, const struct change *change)
{
	if (change) {
		encode_self(text, layout, layout->before_self);
		text_add(text, "\n\n");
	}
	encode_self(text, layout, layout->self);
	if (change) {
		text_add(text, "\n\n");
		encode_verdict(text, layout, change->assessed[CHANGE_SHARES]);
		text_add(text, "\n\n");
		encode_verdict(text, layout, change->assessed[CHANGE_COUNTS]);
	}
}

static void put_data(struct out *out, const struct look *look, const struct layout *layout, const struct styles *styles,
		     const struct change *change)
{
	struct text text = { 0 }, config = { 0 };

	text_add(&text, "<script type=\"application/json\" class=\"pj-c\">");
	put_config(&config, look, layout, styles, change);
	text_str(&text, text_view(&config));
	text_add(&text, "</script>\n<script type=\"application/x-pjsvg\" class=\"pj-d\">");
	encode_names(&text, styles);
	text_add(&text, "\n\n");
	encode_tree(&text, layout, styles);
	text_add(&text, "\n\n");
	put_columns(&text, layout, change);
	if (look->chart) {
		text_add(&text, "\n\n");
		encode_pauses(&text, layout);
	}
	text_add(&text, "</script>\n");
	if (look->heat) {
		text_add(&text, "<script type=\"application/x-pjheat\" class=\"pj-t\">");
		heatdata_slots(&text, look->heat);
		text_add(&text, "</script>\n");
	}
	out_str(out, text_view(&text));
	text_free(&config);
	text_free(&text);
}

static void put_style(struct out *out, bool has_heat)
{
	struct text text = { 0 };

	text_add(&text, "<style>");
	xml_text(&text, assets_css());
	if (has_heat)
		xml_text(&text, assets_heat_css());
	text_add(&text, "</style>\n");
	out_str(out, text_view(&text));
	text_free(&text);
}

static void put_viewer(struct out *out, bool has_heat)
{
	out_text(out, "<script><![CDATA[");
	out_str(out, has_heat ? assets_heat() : assets_viewer());
	out_text(out, "]]></script>\n");
}

/* ---- complete document -------------------------------------------------------------------------------------- */

void document_write(struct out *out, const struct look *look, const struct layout *layout, const struct styles *styles,
		    const struct change *change)
{
	struct picture picture;

	picture_make(&picture, look, layout, styles, change);
	put_start(out, look, &picture);
	put_style(out, look->heat);
	put_picture(out, look, &picture);
	put_data(out, look, layout, styles, change);
	put_viewer(out, look->heat);
	out_text(out, "</svg>\n");
	picture_free(&picture);
}

void document_write_empty(struct out *out, const struct look *look, const char *why)
{
	struct picture picture;

	picture_empty(&picture, look, why);
	put_start(out, look, &picture);
	put_picture(out, look, &picture);
	out_text(out, "</svg>\n");
	picture_free(&picture);
}
