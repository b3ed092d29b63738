/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/document.h"

#include "svg/assets.h"
#include "svg/format/encode.h"
#include "svg/format/xml.h"

/* ---- config ------------------------------------------------------------------------------------------------- */

static void document_put_key(struct text *t, const char *key)
{
	text_printf(t, "%s\"%s\":", t->n > 1 ? "," : "", key);
}

static void document_put_string(struct text *t, const char *key, struct str value)
{
	document_put_key(t, key);
	xml_json(t, value);
}

static void document_put_number(struct text *t, const char *key, double value)
{
	document_put_key(t, key);
	text_printf(t, "%.15g", value);
}

static void put_colour(struct text *t, const char *key, bool present, uint32_t rgb)
{
	document_put_key(t, key);
	text_char(t, '"');
	if (present)
		text_rgb(t, rgb);
	text_char(t, '"');
}

static void put_kinds(struct text *t, const struct styles *n)
{
	document_put_key(t, "kinds");
	text_char(t, '[');
	for (uint32_t i = 0; i < n->nkinds; i++) {
		text_add(t, i ? ",[" : "[");
		xml_json(t, str_of(n->kinds[i].label));
		text_char(t, ',');
		xml_json(t, n->kinds[i].suffix);
		text_char(t, ']');
	}
	text_char(t, ']');
}

static void put_colours(struct text *t, const struct styles *n)
{
	document_put_key(t, "colors");
	text_char(t, '[');
	for (uint32_t i = 0; i < n->ncolours; i++) {
		text_add(t, i ? ",[\"" : "[\"");
		text_rgb(t, n->colours[i].light);
		text_add(t, "\",\"");
		text_rgb(t, n->colours[i].dark);
		text_printf(t, "\",%u]", n->colours[i].kind);
	}
	text_char(t, ']');
}

/* What is said about functions that are in the picture. */
static void put_attrs(struct text *t, const struct link_attrs *a, const struct styles *n)
{
	bool first = true;

	document_put_key(t, "attrs");
	text_char(t, '[');
	for (uint32_t i = 0; a && i < n->n; i++) {
		const struct link_attr *attr =
			link_attrs_find(a, n->text[i], n->kinds[n->colours[n->colour[i]].kind].suffix);
		if (!attr || attr->title.n + attr->href.n == 0)
			continue;
		text_printf(t, "%s[%u,", first ? "" : ",", i);
		xml_json(t, attr->title);
		text_char(t, ',');
		xml_json(t, attr->href);
		text_char(t, ']');
		first = false;
	}
	text_char(t, ']');
}

static const char *document_cut_name(enum label_cut cut)
{
	return cut == LABEL_SMART ? "smart" : cut == LABEL_LEFT ? "left" : "right";
}

static void put_ramp(struct text *t, const struct change *c)
{
	document_put_key(t, "ramp");
	for (int dark = 0; dark < 2; dark++) {
		text_add(t, dark ? ",[" : "[[");
		for (unsigned step = 0; step < CHANGE_STEPS; step++) {
			text_add(t, step ? ",\"" : "\"");
			text_rgb(t, change_colour(c, step, dark));
			text_char(t, '"');
		}
		text_char(t, ']');
	}
	text_char(t, ']');
}

static void put_diff(struct text *t, const struct layout *l, const struct change *c)
{
	document_put_key(t, "diff");
	text_printf(t, "{\"sums\":[%ju,%ju]", (uintmax_t)l->before_sum, (uintmax_t)l->sum);
	document_put_number(t, "shares", c->rule.shares);
	document_put_number(t, "z", c->rule.z);
	document_put_number(t, "points", c->rule.points);
	document_put_number(t, "relative", c->rule.relative);
	document_put_number(t, "dispersion", c->rule.dispersion);
	document_put_number(t, "drift", c->rule.drift);
	document_put_number(t, "counted", c->rule.counted);
	document_put_string(t, "note", c->note);
	put_ramp(t, c);
	text_char(t, '}');
}

static void put_config(struct text *t, const struct look *look, const struct layout *l, const struct styles *n,
		       const struct change *c)
{
	text_char(t, '{');
	document_put_number(t, "v", 1);
	document_put_string(t, "title", look->title);
	document_put_string(t, "subtitle", look->subtitle);
	document_put_string(t, "notes", look->notes);
	document_put_string(t, "unit", look->unit);
	document_put_string(t, "nametype", look->nametype);
	document_put_string(t, "root", STR("all"));
	document_put_key(t, "total");
	text_u64(t, look->total);
	document_put_number(t, "factor", look->factor);
	document_put_number(t, "width", look->width);
	document_put_number(t, "inverted", look->inverted);
	document_put_number(t, "fh", look->row);
	document_put_number(t, "fs", look->font_size);
	document_put_number(t, "cw", look->char_width);
	document_put_string(t, "font", look->font);
	document_put_number(t, "min", look->min_px);
	document_put_string(t, "truncate", str_of(document_cut_name(look->cut)));
	put_colour(t, "search", look->own_search, look->search);
	put_colour(t, "bg", look->own_background, look->background);
	put_kinds(t, n);
	put_colours(t, n);
	document_put_number(t, "legend", look->legend);
	document_put_number(t, "reverse", look->reverse);
	document_put_number(t, "chart", look->chart);
	document_put_string(t, "header", look->header);
	put_attrs(t, look->attrs, n);
	if (c)
		put_diff(t, l, c);
	text_char(t, '}');
}

/* ---- parts -------------------------------------------------------------------------------------------------- */

static void put_start(struct out *o, const struct look *look, const struct picture *p)
{
	struct text t = { 0 };

	text_add(&t, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"pj\"");
	text_printf(&t, " width=\"%u\" height=\"%u\"", p->width, p->height);
	text_printf(&t, " viewBox=\"0 0 %u %u\" role=\"img\"", p->width, p->height);
	text_printf(&t, " font-family=\"%s\" font-size=\"12\" aria-label=\"", picture_ui_font);
	xml_attribute(&t, look->title);
	text_add(&t, "\">\n<title>");
	xml_text(&t, look->title);
	text_add(&t, "</title>\n<desc>");
	xml_text(&t, text_view(&p->totals));
	if (look->notes.n)
		text_add(&t, "\n");
	xml_text(&t, look->notes);
	text_add(&t, "</desc>\n");
	out_str(o, text_view(&t));
	text_free(&t);
}

static void put_picture(struct out *o, const struct look *look, const struct picture *p)
{
	struct text t = { 0 };

	text_add(&t, "<rect width=\"100%\" height=\"100%\" fill=\"");
	text_rgb(&t, look->background);
	text_add(&t, "\"/>\n<g class=\"pj-h\">");
	text_str(&t, text_view(&p->head));
	text_add(&t, "</g>\n<g class=\"pj-s\">\n");
	text_str(&t, text_view(&p->frames));
	text_printf(&t, "</g>\n<text class=\"pj-i\" x=\"12\" y=\"%u\" fill=\"", p->height - 11);
	text_rgb(&t, p->muted);
	text_add(&t, "\">");
	text_str(&t, text_view(&p->foot));
	text_add(&t, "</text>\n");
	out_str(o, text_view(&t));
	text_free(&t);
}

/* Before, after, and what is to be said about them. */
static void put_columns(struct text *t, const struct layout *l, const struct change *c)
{
	if (c) {
		encode_self(t, l, l->before_self);
		text_add(t, "\n\n");
	}
	encode_self(t, l, l->self);
	if (c) {
		text_add(t, "\n\n");
		encode_verdict(t, l, c->assessed[CHANGE_SHARES]);
		text_add(t, "\n\n");
		encode_verdict(t, l, c->assessed[CHANGE_COUNTS]);
	}
}

static void put_data(struct out *o, const struct look *look, const struct layout *l, const struct styles *n,
		     const struct change *c)
{
	struct text t = { 0 }, config = { 0 };

	text_add(&t, "<script type=\"application/json\" class=\"pj-c\">");
	put_config(&config, look, l, n, c);
	text_str(&t, text_view(&config));
	text_add(&t, "</script>\n<script type=\"application/x-pjsvg\" class=\"pj-d\">");
	encode_names(&t, n);
	text_add(&t, "\n\n");
	encode_tree(&t, l, n);
	text_add(&t, "\n\n");
	put_columns(&t, l, c);
	if (look->chart) {
		text_add(&t, "\n\n");
		encode_pauses(&t, l);
	}
	text_add(&t, "</script>\n");
	out_str(o, text_view(&t));
	text_free(&config);
	text_free(&t);
}

static void put_style(struct out *o)
{
	struct text t = { 0 };

	text_add(&t, "<style>");
	xml_text(&t, assets_css());
	text_add(&t, "</style>\n");
	out_str(o, text_view(&t));
	text_free(&t);
}

static void put_viewer(struct out *o)
{
	out_text(o, "<script><![CDATA[");
	out_str(o, assets_viewer());
	out_text(o, "]]></script>\n");
}

/* ---- all ---------------------------------------------------------------------------------------------------- */

void document_write(struct out *o, const struct look *look, const struct layout *l, const struct styles *n,
		    const struct change *c)
{
	struct picture p;

	picture_make(&p, look, l, n, c);
	put_start(o, look, &p);
	put_style(o);
	put_picture(o, look, &p);
	put_data(o, look, l, n, c);
	put_viewer(o);
	out_text(o, "</svg>\n");
	picture_free(&p);
}

void document_write_empty(struct out *o, const struct look *look, const char *why)
{
	struct picture p;

	picture_empty(&p, look, why);
	put_start(o, look, &p);
	put_picture(o, look, &p);
	out_text(o, "</svg>\n");
	picture_free(&p);
}
