/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/foreign/bpftrace.h"

#define KEY_MAX ((size_t)4 << 20) /* Maximum size of a key in bytes; a longer key is skipped as malformed. */

/* ---- stacks and words of a key ------------------------------------------------------------------------------ */

/* Returns a symbol without its offset, such as "main" for "main+37". */
static struct str without_offset(struct str symbol)
{
	ptrdiff_t plus = str_rfind(symbol, '+');
	struct str digits;

	if (plus <= 0)
		return symbol;
	digits = str_from(symbol, (size_t)plus + 1);
	if (str_starts(digits, STR("0x")))
		digits = str_from(digits, 2);
	for (size_t i = 0; i < digits.n; i++)
		if (!byte_is_hex(digits.p[i]))
			return symbol;
	return digits.n ? str_head(symbol, (size_t)plus) : symbol;
}

/* Cuts the address off the start of *text, a frame like "ffffffff8a0e1c3d main+37" or "0x7f1a2b3c4d5e". Returns the hex
 * digits of the address; empty if there is none. */
static struct str bpftrace_address(struct str *text)
{
	struct str rest = *text, word = str_cut(&rest, ' ');
	bool prefix = str_starts(word, STR("0x"));
	struct str digits = str_from(word, prefix ? 2 : 0);
	uint64_t number;

	if (!str_hex(digits, &number) || digits.n > 16 || (!prefix && (digits.n < 6 || rest.n == 0)))
		return (struct str){ 0 };
	*text = str_trim_left(rest);
	return digits;
}

/* Adds the frame in a line like "tcp_recvmsg+808", "main+37 (/usr/bin/app)", "0x7f1a2b3c4d5e" or "7f1a2b3c4d5e main+37
 * (/usr/bin/app)". */
static void bpftrace_frame(struct foreignstack *stack, struct str line)
{
	struct foreignframe frame = { 0 };
	struct str text = str_trim(line);
	uint64_t number;
	ptrdiff_t open;

	frame.address = bpftrace_address(&text);
	open = str_find_str(text, STR(" (/"));
	if (open < 0)
		open = str_find_str(text, STR(" (["));
	if (open >= 0 && text.p[text.n - 1] == ')') {
		frame.dso = str_head(str_from(text, (size_t)open + 2), text.n - (size_t)open - 3);
		text = str_head(text, (size_t)open);
	}
	frame.symbol = without_offset(text);
	if (str_starts(frame.symbol, STR("0x")) && str_hex(str_from(frame.symbol, 2), &number))
		frame.symbol.n = 0; /* in perf mode, an address with its module is a frame without symbol */
	if (frame.symbol.n && frame.symbol.p[0] == 'L' && str_find_str(frame.symbol, STR(";::")) > 0 && !frame.dso.n)
		frame.code = FOREIGN_METHOD; /* Java method as perf-map-agent spells it: "Lpackage/Class;::method" */
	foreignstack_frame(stack, frame);
}

/* Words of a key that are neither stacks nor numbers: comm is the first of these words, `more` has up to 8 further
 * words. */
struct bpftrace_words {
	struct str comm;
	struct str more[8];
	size_t n;
};

static void bpftrace_words_add(struct bpftrace_words *words, struct str list)
{
	while (list.n) {
		struct str word = str_trim(str_cut(&list, ','));
		uint64_t number;

		if (word.n == 0 || str_u64(word, &number) || (word.p[0] == '-' && str_u64(str_from(word, 1), &number)))
			continue;
		if (!words->comm.n)
			words->comm = word;
		else if (words->n < countof(words->more))
			words->more[words->n++] = word;
	}
}

/* Ends the stack that began at frame `from`. If this stack has only kernel code, moves its frames to the start of the
 * array, the leaf end. Returns the index at which the next stack begins. */
static size_t bpftrace_end_stack(struct foreignstack *stack, size_t from)
{
	if (foreignstack_find_kernel(stack, from) == stack->n - from)
		foreignstack_move_to_leaf(stack, from);
	return stack->n;
}

/* Adds `count` samples with the stacks and words of `key`, the text between the brackets. map: name of the map, which
 * becomes the event. */
static void bpftrace_add(struct bpftrace *bpftrace, struct str map, struct str key, uint64_t count)
{
	struct foreignstack *stack = bpftrace->stack;
	struct bpftrace_words words = { 0 };
	struct sample_key sample = { .pid = -1, .tid = -1, .cpu = -1, .event = map, .count = count };
	size_t from = 0;
	bool first = true;

	foreignstack_clear(stack);
	while (key.n) {
		struct str line = str_trim(str_cut(&key, '\n'));

		if (first || (line.n && line.p[0] == ',')) {
			from = bpftrace_end_stack(stack, from);
			bpftrace_words_add(&words, line);
		} else if (line.n) {
			bpftrace_frame(stack, line);
		}
		first = false;
	}
	bpftrace_end_stack(stack, from);
	for (size_t i = words.n; i-- > 0;)
		foreignstack_frame(stack, (struct foreignframe){ .symbol = words.more[i] });
	sample.comm = sample.before = words.comm;
	if (count)
		foreignstack_add(stack, &sample);
}

/* ---- text format -------------------------------------------------------------------------------------------- */

/* Splits *line at its last "]:" into the end of a key, which stays in *line, and *value. Returns false if there is no
 * "]:". */
static bool bpftrace_cut_value(struct str *line, struct str *value)
{
	for (size_t i = line->n; i-- > 0;)
		if (line->p[i] == ']' && i + 1 < line->n && line->p[i + 1] == ':') {
			*value = str_trim(str_from(*line, i + 2));
			*line = str_head(*line, i);
			return true;
		}
	return false;
}

/* Ends the open key: appends `last`, its last line, and adds the key's samples. Returns false if `value` is not a
 * count, or if the key is longer than KEY_MAX. */
static bool bpftrace_end_key(struct bpftrace *bpftrace, struct str last, struct str value)
{
	uint64_t count;

	bpftrace->open = false;
	text_char(&bpftrace->key, '\n');
	text_str(&bpftrace->key, last);
	if (!str_u64(value, &count) || count > INT64_MAX || bpftrace->key.n > KEY_MAX)
		return false;
	bpftrace_add(bpftrace, text_view(&bpftrace->map), text_view(&bpftrace->key), count);
	return true;
}

static bool bpftrace_begin_key(struct bpftrace *bpftrace, struct str line)
{
	ptrdiff_t open = str_find(line, '[');
	struct str key, value;

	if (line.n == 0 || line.p[0] != '@' || open < 0)
		return false;
	bpftrace->map.n = bpftrace->key.n = 0;
	text_str(&bpftrace->map, str_head(line, (size_t)open));
	key = str_from(line, (size_t)open + 1);
	if (bpftrace_cut_value(&key, &value)) {
		text_str(&bpftrace->key, key);
		return bpftrace_end_key(bpftrace, (struct str){ 0 }, value);
	}
	text_str(&bpftrace->key, key);
	bpftrace->open = true;
	return true;
}

/* Returns true for empty lines and for messages of bpftrace about its run, which are not errors; false for all other
 * lines. */
static bool bpftrace_is_notice(struct str line)
{
	return line.n == 0 || str_eq(line, STR("^C")) || str_starts(line, STR("Attach"));
}

static bool bpftrace_text(struct bpftrace *bpftrace, struct str line)
{
	struct str trimmed = str_trim(line), last = trimmed, value;

	if (!bpftrace->open)
		return bpftrace_is_notice(trimmed) || bpftrace_begin_key(bpftrace, str_trim_right(line));
	/* Only lines that begin with "]" or "," can end a key: a frame may contain "]:". */
	if (trimmed.n && (trimmed.p[0] == ']' || trimmed.p[0] == ',') && bpftrace_cut_value(&last, &value))
		return bpftrace_end_key(bpftrace, last, value);
	if (bpftrace->key.n <= KEY_MAX) {
		text_char(&bpftrace->key, '\n');
		text_str(&bpftrace->key, trimmed);
	}
	return true;
}

/* ---- JSON format -------------------------------------------------------------------------------------------- */

/* Handles an event in the output of bpftrace -o json. Its maps look like
 * {"type":"map","data":{"@":{"\nmain+5\n,app":3}}}. */
static void bpftrace_json(void *owner, struct jsonlines *json, enum jsonlines_event event, struct str value)
{
	struct bpftrace *bpftrace = owner;
	uint64_t count;

	if (event == JSONLINES_OPEN && strcmp(json->path, "/d?") == 0 && json->key.n && json->key.p[0] == '@') {
		bpftrace->map.n = 0;
		jsonlines_decode(&bpftrace->map, json->key);
	} else if (event == JSONLINES_CLOSE && strcmp(json->path, "/d?") == 0) {
		bpftrace->map.n = 0;
	} else if (event == JSONLINES_WORD && strcmp(json->path, "/d??") == 0 && bpftrace->map.n &&
		   str_u64(value, &count) && count <= INT64_MAX) {
		bpftrace->key.n = 0;
		jsonlines_decode(&bpftrace->key, json->key);
		bpftrace_add(bpftrace, text_view(&bpftrace->map), text_view(&bpftrace->key), count);
	}
}

/* ---- functions for both formats ----------------------------------------------------------------------------- */

void bpftrace_begin(struct bpftrace *bpftrace, struct foreignstack *stack, bool is_json)
{
	static const struct jsonlines_key keys[] = { { STR("data"), 'd' } };

	*bpftrace = (struct bpftrace){ .stack = stack };
	if (is_json)
		bpftrace->json = (struct jsonlines){
			.keys = keys, .nkeys = countof(keys), .call = bpftrace_json, .owner = bpftrace
		};
}

bool bpftrace_line(struct bpftrace *bpftrace, struct str line)
{
	if (!bpftrace->json.call)
		return bpftrace_text(bpftrace, line);
	jsonlines_line(&bpftrace->json, line);
	return true;
}

void bpftrace_free(struct bpftrace *bpftrace)
{
	text_free(&bpftrace->map);
	text_free(&bpftrace->key);
}
