/* SPDX-License-Identifier: Apache-2.0 */
#include "send/format/window.h"

#include "common/formats/folded.h"
#include "common/hash.h"

#include <inttypes.h>

/* ---- header -------------------------------------------------------------------------------------------------- */

/* Values hold no blanks: they, '%' and control bytes travel as %XX (pj-folded(5)). */
static void window_put_value(struct text *t, const char *key, struct str value)
{
	if (value.n == 0)
		return;
	text_printf(t, " %s=", key);
	for (size_t i = 0; i < value.n; i++) {
		unsigned char c = (unsigned char)value.p[i];

		if (c > ' ' && c != '%' && c != 0x7F)
			text_char(t, (char)c);
		else
			text_printf(t, "%%%02X", c);
	}
}

void window_header(struct text *t, const struct window *w)
{
	text_add(t, "# pj");
	window_put_value(t, "unit", w->unit);
	window_put_value(t, "event", w->event);
	window_put_value(t, "frequency", w->frequency);
	text_printf(t, " from=%" PRIu64 " to=%" PRIu64, w->epoch, w->until);
	window_put_value(t, "host", w->host);
	text_printf(t, " samples=%" PRIu64, w->samples);
	if (w->lost_known)
		text_printf(t, " lost=%" PRIu64, w->lost);
	window_put_value(t, "labels", w->labels);
	text_printf(t, " machine=%016" PRIx64 " stream=%016" PRIx64, w->machine, w->stream);
	if (w->parts != 1)
		text_printf(t, " parts=%" PRIu64, w->parts);
	text_char(t, '\n');
}

/* Into t, which has room for it, so that what was decoded before stays where it is. */
static struct str window_decoded(struct text *t, struct str value)
{
	size_t at = t->n;

	if (str_find(value, '%') < 0)
		return value;
	for (size_t i = 0; i < value.n; i++) {
		uint64_t c;

		if (value.p[i] == '%' && i + 2 < value.n && str_hex(str_head(str_from(value, i + 1), 2), &c)) {
			text_char(t, (char)c);
			i += 2;
		} else {
			text_char(t, value.p[i]);
		}
	}
	return (struct str){ t->p + at, t->n - at };
}

static bool window_hex16(struct str s, uint64_t *value)
{
	return s.n == 16 && str_hex(s, value);
}

enum { HAS_FROM = 1, HAS_TO = 2, HAS_MACHINE = 4, HAS_STREAM = 8, HAS_SAMPLES = 16, HAS_ALL = 31 };

/* One key=value of the header; a value that is wrong is as if it were absent. */
static unsigned window_take(struct window *w, struct str key, struct str value)
{
	if (str_eq(key, STR("from")))
		return str_u64(value, &w->epoch) ? HAS_FROM : 0;
	if (str_eq(key, STR("to")))
		return str_u64(value, &w->until) ? HAS_TO : 0;
	if (str_eq(key, STR("machine")))
		return window_hex16(value, &w->machine) ? HAS_MACHINE : 0;
	if (str_eq(key, STR("stream")))
		return window_hex16(value, &w->stream) ? HAS_STREAM : 0;
	if (str_eq(key, STR("samples")))
		return str_u64(value, &w->samples) ? HAS_SAMPLES : 0;
	if (str_eq(key, STR("lost")))
		w->lost_known = str_u64(value, &w->lost);
	else if (str_eq(key, STR("parts")))
		str_u64(value, &w->parts);
	else if (str_eq(key, STR("unit")))
		w->unit = value;
	else if (str_eq(key, STR("event")))
		w->event = value;
	else if (str_eq(key, STR("frequency")))
		w->frequency = value;
	else if (str_eq(key, STR("host")))
		w->host = value;
	else if (str_eq(key, STR("labels")))
		w->labels = value;
	return 0;
}

static const char *window_take_header(struct str line, struct text *t, struct window *w)
{
	unsigned has = 0;

	text_reserve(t, line.n); /* what is decoded never moves */
	while (line.n) {
		struct str value = str_cut(&line, ' '), key = str_cut(&value, '=');

		has |= window_take(w, key, window_decoded(t, value));
	}
	if (has != HAS_ALL || w->host.n == 0)
		return "its header does not say which window it is (from, to, host, samples, machine, stream)";
	if (w->until <= w->epoch)
		return "its header says that it ends before it begins";
	return NULL;
}

/* The stacks of the first text: up to the next header. */
static struct str stacks_of(struct str rest)
{
	size_t n = 0;

	while (n < rest.n) {
		struct str tail = str_from(rest, n);
		ptrdiff_t end = str_find(tail, '\n');
		size_t line = end < 0 ? tail.n : (size_t)end;

		if (tail.p[0] == '#' && folded_is_header(str_head(tail, line)))
			break;
		n += end < 0 ? line : line + 1;
	}
	return str_head(rest, n);
}

const char *window_parse_header(struct str *rest, struct text *t, struct window *w)
{
	struct str line = str_cut(rest, '\n');

	*w = (struct window){ .parts = 1 };
	if (!folded_is_header(line))
		return "it does not begin with a '# pj' line";
	return window_take_header(str_trim(str_from(line, 4)), t, w);
}

const char *window_parse(struct str *rest, struct text *t, struct window *w)
{
	struct str text = *rest, tail = text;
	const char *wrong = window_parse_header(&tail, t, w);

	*rest = (struct str){ 0 };
	if (wrong)
		return wrong;
	w->stacks = stacks_of(tail);
	if (w->stacks.n && w->stacks.p[w->stacks.n - 1] != '\n')
		return "its last line is cut";
	*rest = str_from(tail, w->stacks.n);
	w->text = str_head(text, text.n - rest->n);
	window_key(w);
	return NULL;
}

/* ---- stacks -------------------------------------------------------------------------------------------------- */

bool window_next(struct str *lines, struct str *stack, uint64_t *count)
{
	while (lines->n) {
		struct str line = str_cut(lines, '\n');
		ptrdiff_t blank = str_rfind(line, ' ');

		if (blank > 0 && line.p[0] != '#' && str_u64(str_from(line, (size_t)blank + 1), count) && *count) {
			*stack = str_head(line, (size_t)blank);
			return true;
		}
	}
	return false;
}

void window_key(struct window *w)
{
	uint64_t parts[3] = { w->machine, w->stream, hash_sum(w->host.p, w->host.n) };

	w->key = hash_sum(parts, sizeof(parts));
}

uint64_t window_id(const struct window *w, struct str stack)
{
	uint64_t parts[2] = { w->key, hash_sum(stack.p, stack.n) };

	return hash_sum(parts, sizeof(parts));
}

/* ---- labels -------------------------------------------------------------------------------------------------- */

bool label_next(struct str *labels, struct str *key, struct str *value)
{
	while (labels->n) {
		struct str pair = str_cut(labels, ',');

		*key = str_cut(&pair, '=');
		*value = pair;
		if (key->n)
			return true;
	}
	return false;
}

bool label_find(struct str labels, struct str key, struct str *value)
{
	struct str k, v;

	while (label_next(&labels, &k, &v))
		if (str_eq(k, key)) {
			*value = v;
			return true;
		}
	return false;
}
