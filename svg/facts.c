/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/facts.h"

#include "common/visible.h"

#include <stdlib.h>

#define MIDDOT " \xc2\xb7 "

void facts_report(const struct folded_tally *tally)
{
	for (size_t i = 0; i < countof(tally->first_bad) && tally->first_bad[i].name; i++)
		warn_at(tally->first_bad[i], "not a stack: %s", tally->why[i]);
	if (tally->bad > 1)
		warn("%ju lines skipped", (uintmax_t)tally->bad);
	if (tally->rounded)
		warn("%ju %s rounded to a whole number", (uintmax_t)tally->rounded,
		     tally->rounded == 1 ? "weight was" : "weights were");
}

static void add_fact(struct text *text, struct str fact, const char *after)
{
	if (fact.n == 0)
		return;
	if (text->n)
		text_add(text, MIDDOT);
	text_str(text, fact);
	text_add(text, after);
}

/* Sets *value to a number of seconds. Returns false for other text, such as a date and time. */
static bool facts_seconds(struct str string, double *value)
{
	char text[32];

	if (string.n == 0 || string.n >= sizeof(text) || strspn(string.p, "0123456789.") < string.n)
		return false;
	memcpy(text, string.p, string.n);
	text[string.n] = 0;
	*value = strtod(text, NULL);
	return true;
}

/* Appends the time range of the recording. If it is in seconds of the recording's clock, appends only its duration, as
 * that clock has no meaning for a reader. Appends dates and times unchanged. */
static void add_time(struct text *text, const struct folded_header *header)
{
	double from, to;

	if (facts_seconds(header->from, &from) && facts_seconds(header->to, &to) && to >= from) {
		text_printf(text, "%s%.1f s", text->n ? MIDDOT : "", to - from);
		return;
	}
	add_fact(text, header->from, header->to.n ? " to " : " and later");
	text_str(text, header->from.n ? header->to : (struct str){ 0 });
}

struct str facts_subtitle(struct arena *arena, const char *given, const struct folded_header *header)
{
	struct text text = { 0 };

	add_fact(&text, str_of(given), "");
	add_fact(&text, header->event, "");
	add_fact(&text, header->frequency, " Hz");
	add_fact(&text, header->host, "");
	add_time(&text, header);
	add_fact(&text, header->labels, "");
	/* In a sum with a header without lost=, the number is only that of the other headers. */
	if (header->lost)
		text_printf(&text, "%s%s%ju lost", text.n ? MIDDOT : "",
			    header->present && !header->lost_known ? "at least " : "", (uintmax_t)header->lost);
	struct str subtitle = visible_copy(arena, text_view(&text));
	text_free(&text);
	return subtitle;
}

void facts_open(struct out *out, const char *path)
{
	struct str name = str_of(path);

	out_open(out, path);
	if (str_ends(name, STR(".svgz")) || str_ends(name, STR(".svg.gz")))
		out_gzip(out);
}
