/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/foreign/jsonlines.h"

/* ---- JSON strings ------------------------------------------------------------------------------------------- */

static void jsonlines_put_utf8(struct text *to, uint32_t code)
{
	if (code < 0x80) {
		text_char(to, (char)code);
	} else if (code < 0x800) {
		text_char(to, (char)(0xC0 | code >> 6));
		text_char(to, (char)(0x80 | (code & 0x3F)));
	} else {
		text_char(to, (char)(0xE0 | code >> 12));
		text_char(to, (char)(0x80 | (code >> 6 & 0x3F)));
		text_char(to, (char)(0x80 | (code & 0x3F)));
	}
}

void jsonlines_decode(struct text *to, struct str string)
{
	static const char from[] = "bfnrt\"\\/", plain[] = "\b\f\n\r\t\"\\/";

	while (string.n) {
		const char *escape;
		uint64_t code;

		if (string.p[0] != '\\' || string.n < 2) {
			text_char(to, string.p[0]);
			string = str_from(string, 1);
			continue;
		}
		escape = memchr(from, string.p[1], sizeof(from) - 1);
		if (escape) {
			text_char(to, plain[escape - from]);
			string = str_from(string, 2);
		} else if (string.p[1] == 'u' && string.n >= 6 && str_hex(str_head(str_from(string, 2), 4), &code)) {
			jsonlines_put_utf8(to, (uint32_t)code);
			string = str_from(string, 6);
		} else {
			text_char(to, '\\');
			string = str_from(string, 1);
		}
	}
}

/* Cuts a JSON string and its closing quote off *rest, which begins after the opening quote. Returns the string with its
 * escapes. Without a closing quote the string is all of *rest. */
static struct str jsonlines_cut_string(struct str *rest)
{
	struct str string;
	size_t i = 0;

	while (i < rest->n && rest->p[i] != '"')
		i += rest->p[i] == '\\' && i + 1 < rest->n ? 2 : 1;
	string = str_head(*rest, i);
	*rest = str_from(*rest, i + (i < rest->n));
	return string;
}

/* ---- objects, arrays and values ----------------------------------------------------------------------------- */

static bool in_object(const struct jsonlines *json)
{
	return json->depth && json->depth <= JSONLINES_DEPTH && json->object[json->depth - 1];
}

static char jsonlines_letter(const struct jsonlines *json, struct str key)
{
	for (size_t i = 0; i < json->nkeys; i++)
		if (str_eq(json->keys[i].name, key))
			return json->keys[i].letter;
	return '?';
}

/* Calls the owner for a value in the current object or array, with the path of the value. */
static void jsonlines_value(struct jsonlines *json, enum jsonlines_event event, struct str value)
{
	size_t at = json->depth < JSONLINES_DEPTH ? json->depth : JSONLINES_DEPTH;

	json->path[at] = json->has_key ? json->letter : json->depth ? '-' : '/';
	json->path[at + 1] = 0;
	json->call(json->owner, json, event, value);
	if (event == JSONLINES_STRING || event == JSONLINES_WORD)
		json->path[at] = 0;
	json->has_key = false;
	json->key = (struct str){ 0 };
}

static void jsonlines_open(struct jsonlines *json, bool object)
{
	jsonlines_value(json, JSONLINES_OPEN, (struct str){ 0 });
	if (json->depth < JSONLINES_DEPTH)
		json->object[json->depth] = object;
	json->depth++;
}

static void jsonlines_close(struct jsonlines *json)
{
	if (json->depth == 0)
		return;
	json->depth--;
	json->has_key = false;
	if (json->depth < JSONLINES_DEPTH)
		json->path[json->depth + 1] = 0;
	json->call(json->owner, json, JSONLINES_CLOSE, (struct str){ 0 });
	if (json->depth < JSONLINES_DEPTH)
		json->path[json->depth] = 0;
}

static void jsonlines_string(struct jsonlines *json, struct str string)
{
	if (!in_object(json) || json->has_key) {
		jsonlines_value(json, JSONLINES_STRING, string);
		return;
	}
	json->key = string;
	json->letter = jsonlines_letter(json, string);
	json->has_key = true;
}

void jsonlines_line(struct jsonlines *json, struct str line)
{
	json->key = (struct str){ 0 };
	while (line.n) {
		char byte = line.p[0];
		size_t n = 1;

		switch (byte) {
		case '{':
		case '[': jsonlines_open(json, byte == '{'); break;
		case '}':
		case ']': jsonlines_close(json); break;
		case '"':
			line = str_from(line, 1);
			jsonlines_string(json, jsonlines_cut_string(&line));
			n = 0;
			break;
		case ':':
		case ',':
		case ' ':
		case '\t':
		case '\r': break;
		default:
			while (n < line.n && !memchr(",:]}[{\" \t\r", line.p[n], 10))
				n++;
			jsonlines_value(json, JSONLINES_WORD, str_head(line, n));
		}
		line = str_from(line, n);
	}
}
