/* SPDX-License-Identifier: Apache-2.0 */
#include "send/format/window.h"

#include "common/formats/folded.h"
#include "common/hash.h"

#include <inttypes.h>

/* ---- header of a window ------------------------------------------------------------------------------------------ */

/* Appends " key=value" to a header; appends nothing if the value is empty. Encodes blanks, '%' and control bytes as %XX
 * (pj-folded(5)). */
static void window_put_value(struct text *text, const char *key, struct str value)
{
	if (value.n == 0)
		return;
	text_printf(text, " %s=", key);
	for (size_t i = 0; i < value.n; i++) {
		unsigned char byte = (unsigned char)value.p[i];

		if (byte > ' ' && byte != '%' && byte != 0x7F)
			text_char(text, (char)byte);
		else
			text_printf(text, "%%%02X", byte);
	}
}

void window_header(struct text *text, const struct window *window)
{
	text_add(text, "# pj");
	window_put_value(text, "unit", window->unit);
	window_put_value(text, "event", window->event);
	window_put_value(text, "frequency", window->frequency);
	text_printf(text, " from=%" PRIu64 " to=%" PRIu64, window->epoch, window->until);
	window_put_value(text, "host", window->host);
	text_printf(text, " samples=%" PRIu64, window->samples);
	if (window->lost_known)
		text_printf(text, " lost=%" PRIu64, window->lost);
	window_put_value(text, "labels", window->labels);
	text_printf(text, " machine=%016" PRIx64 " stream=%016" PRIx64, window->machine, window->stream);
	if (window->parts != 1)
		text_printf(text, " parts=%" PRIu64, window->parts);
	text_char(text, '\n');
}

/* Decodes and returns the value of a key of the header. A value with %XX is appended to *text, decoded, and the result
 * points there. The caller must reserve capacity in *text, so that earlier results do not move. */
static struct str window_decoded(struct text *text, struct str value)
{
	size_t at = text->n;

	if (str_find(value, '%') < 0)
		return value;
	for (size_t i = 0; i < value.n; i++) {
		uint64_t c;

		if (value.p[i] == '%' && i + 2 < value.n && str_hex(str_head(str_from(value, i + 1), 2), &c)) {
			text_char(text, (char)c);
			i += 2;
		} else {
			text_char(text, value.p[i]);
		}
	}
	return (struct str){ text->p + at, text->n - at };
}

static bool window_hex16(struct str string, uint64_t *value)
{
	return string.n == 16 && str_hex(string, value);
}

enum { HAS_FROM = 1, HAS_TO = 2, HAS_MACHINE = 4, HAS_STREAM = 8, HAS_SAMPLES = 16, HAS_ALL = 31 };

/* Parses one key=value of the header into *window. Returns the HAS_ bit of a required key; 0 for other keys and for an
 * invalid value. */
static unsigned window_take(struct window *window, struct str key, struct str value)
{
	if (str_eq(key, STR("from")))
		return str_u64(value, &window->epoch) ? HAS_FROM : 0;
	if (str_eq(key, STR("to")))
		return str_u64(value, &window->until) ? HAS_TO : 0;
	if (str_eq(key, STR("machine")))
		return window_hex16(value, &window->machine) ? HAS_MACHINE : 0;
	if (str_eq(key, STR("stream")))
		return window_hex16(value, &window->stream) ? HAS_STREAM : 0;
	if (str_eq(key, STR("samples")))
		return str_u64(value, &window->samples) ? HAS_SAMPLES : 0;
	if (str_eq(key, STR("lost")))
		window->lost_known = str_u64(value, &window->lost);
	else if (str_eq(key, STR("parts")))
		str_u64(value, &window->parts);
	else if (str_eq(key, STR("unit")))
		window->unit = value;
	else if (str_eq(key, STR("event")))
		window->event = value;
	else if (str_eq(key, STR("frequency")))
		window->frequency = value;
	else if (str_eq(key, STR("host")))
		window->host = value;
	else if (str_eq(key, STR("labels")))
		window->labels = value;
	return 0;
}

static const char *window_take_header(struct str line, struct text *text, struct window *window)
{
	unsigned has = 0;

	/* Decoding never lengthens a line, so with this capacity the results of window_decoded do not move. */
	text_reserve(text, line.n);
	while (line.n) {
		struct str value = str_cut(&line, ' '), key = str_cut(&value, '=');

		has |= window_take(window, key, window_decoded(text, value));
	}
	if (has != HAS_ALL || window->host.n == 0)
		return "its header does not identify the window (from, to, host, samples, machine, stream)";
	if (window->until <= window->epoch)
		return "its header has an end before its start";
	return NULL;
}

/* Returns the stack lines of the first window text in `rest`: all lines up to the next header. */
static struct str stacks_of(struct str rest)
{
	size_t n = 0;

	while (n < rest.n) {
		struct str remainder = str_from(rest, n);
		ptrdiff_t end = str_find(remainder, '\n');
		size_t line = end < 0 ? remainder.n : (size_t)end;

		if (remainder.p[0] == '#' && folded_is_header(str_head(remainder, line)))
			break;
		n += end < 0 ? line : line + 1;
	}
	return str_head(rest, n);
}

const char *window_parse_header(struct str *rest, struct text *text, struct window *window)
{
	struct str line = str_cut(rest, '\n');

	*window = (struct window){ .parts = 1 };
	if (!folded_is_header(line))
		return "it does not start with a '# pj' line";
	return window_take_header(str_trim(str_from(line, 4)), text, window);
}

const char *window_parse(struct str *rest, struct text *t, struct window *window)
{
	struct str text = *rest, remainder = text;
	const char *wrong = window_parse_header(&remainder, t, window);

	*rest = (struct str){ 0 };
	if (wrong)
		return wrong;
	window->stacks = stacks_of(remainder);
	if (window->stacks.n && window->stacks.p[window->stacks.n - 1] != '\n')
		return "its last line is truncated";
	*rest = str_from(remainder, window->stacks.n);
	window->text = str_head(text, text.n - rest->n);
	window_key(window);
	return NULL;
}

/* ---- stacks of a window ------------------------------------------------------------------------------------------ */

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

void window_key(struct window *window)
{
	uint64_t parts[3] = { window->machine, window->stream, hash_sum(window->host.p, window->host.n) };

	window->key = hash_sum(parts, sizeof(parts));
}

uint64_t window_id(const struct window *window, struct str stack)
{
	uint64_t parts[2] = { window->key, hash_sum(stack.p, stack.n) };

	return hash_sum(parts, sizeof(parts));
}

/* ---- labels of a window ------------------------------------------------------------------------------------------ */

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
	struct str string, v;

	while (label_next(&labels, &string, &v))
		if (str_eq(string, key)) {
			*value = v;
			return true;
		}
	return false;
}
