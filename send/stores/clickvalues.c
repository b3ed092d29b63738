/* SPDX-License-Identifier: Apache-2.0 */
/* clickvalues.c - values in ClickHouse's TabSeparated form: written for inserts and queries, read from responses. */
#include "send/stores/clickhouse.h"

#include "send/http/json.h"

#include <time.h>

void ch_put(struct text *text, struct str string, bool quote)
{
	struct text mended = { 0 };

	/* fast path: most values need no escapes */
	if (!quote && ascii_run(string, '\\', '\'') == string.n) {
		text_str(text, string);
		return;
	}
	utf8_mend(&mended, string);
	if (quote)
		text_char(text, '\'');
	for (size_t i = 0; i < mended.n; i++) {
		char byte = mended.p[i];

		if (byte == '\\' || byte == '\'')
			text_char(text, '\\');
		if (byte == '\t' || byte == '\n' || byte == '\r' || byte == 0)
			text_add(text, byte == '\t' ? "\\t" : byte == '\n' ? "\\n" : byte == '\r' ? "\\r" : "\\0");
		else
			text_char(text, byte);
	}
	if (quote)
		text_char(text, '\'');
	text_free(&mended);
}

void ch_put_day(struct text *text, uint64_t epoch)
{
	time_t when = (time_t)(epoch < UINT32_MAX ? epoch : UINT32_MAX);
	struct tm calendar;
	char day[16];

	strftime(day, sizeof(day), "%Y-%m-%d", gmtime_r(&when, &calendar));
	text_add(text, day);
}

struct str ch_column(struct text *space, struct str *line)
{
	struct str raw = str_cut(line, '\t');
	size_t at = space->n;

	for (size_t i = 0; i < raw.n; i++) {
		char byte = raw.p[i];

		if (byte == '\\' && i + 1 < raw.n) {
			byte = raw.p[++i];
			byte = byte == 't' ? '\t' : byte == 'n' ? '\n' : byte == 'r' ? '\r' : byte == '0' ? 0 : byte;
		}
		text_char(space, byte);
	}
	return str_from(text_view(space), at);
}

uint64_t ch_number(struct text *space, struct str *line)
{
	uint64_t n = 0;

	str_u64(ch_column(space, line), &n);
	return n;
}
