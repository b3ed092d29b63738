/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/samples/samplekey.h"

bool samplekey_time(struct str string, uint64_t *ns)
{
	struct str decimals = string, seconds = str_cut(&decimals, '.');
	uint64_t sec, frac;

	if (!str_u64(seconds, &sec) || sec > UINT64_MAX / 1000000000u - 1 || decimals.n > 9 ||
	    str_decimals(decimals, 1000000000u, &frac) != decimals.n)
		return false;
	*ns = sec * 1000000000u + frac;
	return true;
}

/* Returns true if the number at index `from` of the line, which has `decimals` decimals, is a time; false for other
 * numbers. perf prints 6 or 9 decimals. simpleperf prints microseconds without leading zeros, so a number with 1 to 5
 * decimals is a time, too, if a cpu "[000]" precedes it. */
static bool is_time_of(struct str line, size_t from, size_t decimals)
{
	if (decimals == 6 || decimals == 9)
		return true;
	while (from && line.p[from - 1] == ' ')
		from--;
	return decimals > 0 && decimals < 6 && from && line.p[from - 1] == ']';
}

/* Finds the time, a separate word of the form DIGITS.DIGITS: in the line. Sets *from to the offset of the time, and
 * *end to the offset after its colon. Returns false if the line has no time. */
static bool find_time(struct str line, size_t *from, size_t *end)
{
	for (size_t dot = 0; dot < line.n; dot++) {
		const char *p = memchr(line.p + dot, '.', line.n - dot);
		size_t i, second;

		if (!p)
			return false;
		dot = (size_t)(p - line.p);
		for (second = dot + 1; second < line.n && byte_is_digit(line.p[second]); second++)
			;
		if (second - dot > 10 || second == line.n || line.p[second] != ':' ||
		    (second + 1 < line.n && !byte_is_blank(line.p[second + 1])))
			continue;
		for (i = dot; i > 0 && (byte_is_digit(line.p[i - 1]) || line.p[i - 1] == ':'); i--)
			;
		if (i == dot || (i > 0 && line.p[i - 1] != ' ') || !is_time_of(line, i, second - dot - 1))
			continue;
		*from = i;
		*end = second + 1;
		return true;
	}
	return false;
}

/* Cuts the last word and the blanks around it off *string. Returns the word, and sets *width to the length of the word
 * plus the number of blanks before it. */
static struct str cut_last_word(struct str *string, size_t *width)
{
	size_t end = string->n, from, blanks;

	while (end && byte_is_blank(string->p[end - 1]))
		end--;
	for (from = end; from && !byte_is_blank(string->p[from - 1]); from--)
		;
	for (blanks = from; blanks && byte_is_blank(string->p[blanks - 1]); blanks--)
		;
	string->n = blanks;
	*width = end - blanks;
	return (struct str){ string->p + from, end - from };
}

static bool id_number(struct str string, int64_t *value)
{
	uint64_t v;

	if (string.n > 1 && string.p[0] == '-' && str_u64(str_from(string, 1), &v)) {
		*value = -1;
		return true;
	}
	if (!str_u64(string, &v) || v > INT32_MAX)
		return false;
	*value = (int64_t)v;
	return true;
}

/* Returns true if the word may be the field misc of -F+misc: 1 to 4 capital letters, like K, U or H. Otherwise returns
 * false. */
static bool is_misc(struct str string)
{
	for (size_t i = 0; i < string.n; i++)
		if (string.p[i] < 'A' || string.p[i] > 'Z')
			return false;
	return string.n > 0 && string.n <= 4;
}

static bool cpu_word(struct str word, int64_t *cpu)
{
	return word.n > 2 && word.p[0] == '[' && word.p[word.n - 1] == ']' &&
	       id_number(str_head(str_from(word, 1), word.n - 2), cpu);
}

/* Parses [comm] [pid[/tid]], and sets comm, pid and tid of *key, and key->before to the text up to the tid. Returns
 * false if there is no tid. perf prints a tid without pid as "%5d" after a blank. So a number at the end is a tid if it
 * has 5 or more digits, 2 or more blanks before it, or no text before it; in "thread 1" the number belongs to the comm.
 * has_cpu: true if cpu and time follow: any number at the end is then a tid, because other programs that print this
 * form do not pad the tid. */
static bool parse_thread(struct str string, bool has_cpu, struct sample_key *key)
{
	struct str rest = string, word, tid, pid;
	bool known;
	size_t width;

	word = cut_last_word(&rest, &width);
	tid = word;
	pid = str_cut(&tid, '/');
	if (pid.n < word.n)
		known = id_number(pid, &key->pid) && id_number(tid, &key->tid);
	else
		known = (has_cpu || width >= 6 || width >= word.n + 2 || !rest.n) && id_number(word, &key->tid);
	if (known) {
		key->before = str_trim_right(str_trim_left(string));
		string = rest;
	} else {
		key->pid = key->tid = -1;
	}
	key->comm = str_trim_right(str_trim_left(string));
	return known;
}

/* Parses the text before the time (or event): [comm] [pid[/tid]] [cpu] [misc]. Returns false if it has neither tid nor
 * cpu. */
static bool parse_before(struct str string, struct sample_key *key)
{
	struct str rest = string, word;
	size_t width;
	bool any = false;

	word = cut_last_word(&rest, &width);
	if (is_misc(word)) { /* the field misc is only printed after a cpu or tid */
		struct str more = rest, next = cut_last_word(&more, &width);
		int64_t ignored;

		if (cpu_word(next, &ignored) || id_number(next, &ignored)) {
			string = rest;
			word = next;
			rest = more;
		}
	}
	if (cpu_word(word, &key->cpu)) {
		string = rest;
		any = true;
	}
	/* perf script -F comm,cpu prints neither tid nor time: a number before the cpu then belongs to the comm. */
	return parse_thread(string, any && key->time.n, key) || any;
}

/* Parses the text after the time: [period] [event:] [rest]. Returns false if it has no event. */
static bool parse_after(struct str string, struct sample_key *key)
{
	struct str rest = str_trim_left(string);
	size_t digits = 0, i, end;

	while (digits < rest.n && byte_is_digit(rest.p[digits]))
		digits++;
	key->period = 0;
	key->zero_period = false;
	if (digits && (digits == rest.n || byte_is_blank(rest.p[digits])) &&
	    str_u64(str_head(rest, digits), &key->period)) {
		key->zero_period = key->period == 0;
		rest = str_trim_left(str_from(rest, digits));
	}
	for (i = 0; i < rest.n && !byte_is_blank(rest.p[i]); i++)
		;
	if (i > 1 && rest.p[i - 1] == ':') {
		key->event = str_head(rest, i - 1);
		rest = str_from(rest, i);
	}
	key->rest = str_trim_left(rest);
	for (end = key->rest.n; end && byte_is_blank(key->rest.p[end - 1]); end--)
		;
	key->rest.n = end;
	for (i = 0; i < end && !byte_is_blank(key->rest.p[i]); i++)
		;
	key->rest_width = end ? (size_t)(key->rest.p - rest.p) + i : 0;
	return key->event.n > 0;
}

/* Parses the text of a PERF_RECORD_* line. Sets key->lost from "PERF_RECORD_LOST lost 12" or "PERF_RECORD_LOST_SAMPLES:
 * lost 12". */
static enum samplekey_kind parse_record(struct str string, struct sample_key *key)
{
	ptrdiff_t at = str_starts(string, STR("PERF_RECORD_LOST")) ? str_find_str(string, STR("lost ")) : -1;

	if (at >= 0) {
		string = str_trim_right(str_from(string, (size_t)at + 5));
		str_u64(str_cut(&string, ' '), &key->lost);
	}
	return SAMPLEKEY_RECORD;
}

/* Parses a line without a time. `from` is the offset of the event in the line. A number before the event is a period if
 * a tid or cpu precedes it, otherwise a tid. Returns SAMPLEKEY_WEAK if the line has neither tid nor cpu. */
static enum samplekey_kind parse_around_event(struct str line, size_t from, struct sample_key *key)
{
	struct str before = str_head(line, from), fewer = before;
	size_t width;
	uint64_t number;
	struct str last = cut_last_word(&fewer, &width);
	bool is_number = str_u64(last, &number), padded = width > last.n + 1;

	if (is_number && parse_before(fewer, key)) {
		parse_after(str_from(line, (size_t)(last.p - line.p)), key);
		return SAMPLEKEY_SAMPLE;
	}
	*key = (struct sample_key){ .pid = -1, .tid = -1, .cpu = -1 };
	if (parse_before(before, key)) {
		parse_after(str_from(line, from), key);
		return SAMPLEKEY_SAMPLE;
	}
	if (is_number &&
	    padded) { /* a padded number is a period ("%10u"); after a single blank, it is the end of the comm */
		parse_before(fewer, key);
		from = (size_t)(last.p - line.p);
	}
	parse_after(str_from(line, from), key);
	return SAMPLEKEY_WEAK;
}

/* Parses a line without a time, if it has an event: the first word that ends in ':', unless this word is the first one
 * of the line. Returns SAMPLEKEY_NONE if there is no event. */
static enum samplekey_kind parse_without_time(struct str line, struct sample_key *key)
{
	struct str all = str_trim_right(line);

	for (size_t i = 0; i < all.n; i++) {
		size_t from = i;

		if (all.p[i] != ':' || (i + 1 < all.n && !byte_is_blank(all.p[i + 1])))
			continue;
		while (from > 0 && !byte_is_blank(all.p[from - 1]))
			from--;
		if (from < i && from > 0)
			return parse_around_event(all, from, key);
	}
	return SAMPLEKEY_NONE;
}

/* Parses comm [tid] [cpu], a line without time and event. A frame may follow; perf pads the address of the frame to 16
 * columns. Sets key->rest to the frame. */
static void parse_weak(struct str line, struct sample_key *key)
{
	struct str all = str_trim_right(line);
	size_t i = 0;

	while (i < all.n && byte_is_blank(all.p[i]))
		i++;
	while (i < all.n) {
		size_t from, word, end;
		uint64_t ip;

		while (i < all.n && !byte_is_blank(all.p[i]))
			i++; /* skips one word of the comm, or a number */
		from = i;
		while (i < all.n && byte_is_blank(all.p[i]))
			i++;
		word = i;
		for (end = word; end < all.n && !byte_is_blank(all.p[end]); end++)
			;
		if (end > word && end < all.n && end - from >= 17 &&
		    str_hex(str_head(str_from(all, word), end - word), &ip)) {
			key->rest = str_from(all, word);
			key->rest_width = end - from;
			all = str_head(all, from);
			break;
		}
	}
	parse_before(all, key);
}

/*
 * Parses a line in the form that perf prints by default, without a payload, backwards in one pass:
 *   comm  tid|pid/tid [cpu]  12.345678:  period event:
 * Returns false for another form; *key is then undefined. Nine of ten first lines have this form, and this parser needs
 * a fifth of the time of the general one.
 */
static bool parse_default(struct str line, struct sample_key *key)
{
	const char *p = line.p;
	size_t i = line.n, end;

	while (i && p[i - 1] == ' ')
		i--;
	if (i < 2 || p[i - 1] != ':')
		return false;
	for (end = --i; i && p[i - 1] != ' '; i--)
		;
	key->event = (struct str){ p + i, end - i };
	key->rest = (struct str){ p + line.n, 0 };
	while (i && p[i - 1] == ' ')
		i--;
	for (end = i; i && byte_is_digit(p[i - 1]); i--)
		;
	if (end == i || end - i > 18 || !str_u64((struct str){ p + i, end - i }, &key->period))
		return false;
	key->zero_period = key->period == 0;
	while (i && p[i - 1] == ' ')
		i--;
	if (i < 8 || p[i - 1] != ':')
		return false;
	for (end = --i; i && byte_is_digit(p[i - 1]); i--)
		;
	if ((end - i != 6 && end - i != 9) || i < 2 || p[i - 1] != '.' || !byte_is_digit(p[i - 2]))
		return false;
	for (i--; i && byte_is_digit(p[i - 1]); i--)
		;
	key->time = (struct str){ p + i, end - i };
	while (i && p[i - 1] == ' ')
		i--;
	if (i < 4 || p[i - 1] != ']')
		return false;
	for (end = --i; i && byte_is_digit(p[i - 1]); i--)
		;
	if (i < 2 || p[i - 1] != '[' || p[i - 2] != ' ' || !id_number((struct str){ p + i, end - i }, &key->cpu))
		return false;
	return parse_thread((struct str){ p, i - 1 }, true, key);
}

enum samplekey_kind samplekey_parse(struct str line, struct sample_key *key)
{
	size_t from, end;

	*key = (struct sample_key){ .pid = -1, .tid = -1, .cpu = -1 };
	if (line.n == 0 || line.p[0] == '\t')
		return SAMPLEKEY_NONE;
	if (likely(parse_default(line, key)))
		return SAMPLEKEY_SAMPLE;
	*key = (struct sample_key){ .pid = -1, .tid = -1, .cpu = -1 };
	if (find_time(line, &from, &end)) {
		struct str before = str_head(line, from), rest = str_trim_left(str_from(line, end));
		size_t width;

		key->time = str_head(str_from(line, from), end - from - 1);
		/* perf script -F+tod: a date precedes the time, which is a time of day */
		if (str_find(key->time, ':') >= 0) {
			cut_last_word(&before, &width);
			key->time.n = 0;
		}
		parse_before(before, key);
		if (str_starts(rest, STR("PERF_RECORD_")))
			return parse_record(rest, key);
		if (str_starts(rest, STR("DEFERRED CALLCHAIN")))
			return SAMPLEKEY_DEFERRED;
		parse_after(str_from(line, end), key);
		return SAMPLEKEY_SAMPLE;
	}
	switch (parse_without_time(line, key)) {
	case SAMPLEKEY_SAMPLE: return SAMPLEKEY_SAMPLE;
	case SAMPLEKEY_WEAK: return SAMPLEKEY_WEAK;
	default:
		*key = (struct sample_key){ .pid = -1, .tid = -1, .cpu = -1 };
		parse_weak(line, key);
		return SAMPLEKEY_WEAK;
	}
}

bool samplekey_ns(const struct sample_key *key, uint64_t *ns)
{
	struct str decimals = key->time, seconds;
	uint64_t micro;

	if (key->timed) {
		*ns = key->ns;
		return true;
	}
	seconds = str_cut(&decimals, '.');
	if (unlikely(decimals.n && decimals.n < 6)) { /* decimals of simpleperf: a number of microseconds */
		if (!samplekey_time(seconds, ns) || !str_u64(decimals, &micro))
			return false;
		*ns += micro * 1000;
		return true;
	}
	return samplekey_time(key->time, ns);
}

struct str samplekey_event_key(struct str event)
{
	if (str_starts(event, STR("cpu_core/")) || str_starts(event, STR("cpu_atom/")))
		return str_from(event, 9);
	if (str_starts(event, STR("wall-time-")))
		return str_head(event, sizeof("wall-time") - 1);
	return event;
}

bool samplekey_has_waits(struct str event)
{
	return str_starts(event, STR("offcpu-time")) || str_starts(event, STR("wall-time"));
}

bool samplekey_has_bytes(struct str event)
{
	return str_eq(event, STR("alloc-bytes"));
}

bool samplekey_has_weights(struct str event)
{
	return samplekey_has_waits(event) || samplekey_has_bytes(event);
}
