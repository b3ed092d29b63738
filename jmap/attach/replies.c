/* SPDX-License-Identifier: Apache-2.0 */
#include "jmap/attach/replies.h"

#include <stdio.h>

bool replies_status(struct text *text, size_t from, int *status)
{
	struct str all = str_from(text_view(text), from), line = str_cut(&all, '\n');
	bool negative = line.n && line.p[0] == '-';
	uint64_t value;

	if (!str_u64(negative ? str_from(line, 1) : line, &value) || value > INT32_MAX)
		return false;
	*status = negative ? -(int)value : (int)value;
	memmove(text->p + from, all.p, all.n);
	text->n = from + all.n;
	return true;
}

bool replies_major(struct str reply, uint64_t *major)
{
	while (reply.n) {
		struct str line = str_cut(&reply, '\n');
		size_t n = 0;

		if (!str_starts(line, STR("JDK ")))
			continue;
		line = str_from(line, strlen("JDK "));
		while (n < line.n && byte_is_digit(line.p[n]))
			n++;
		return str_u64(str_head(line, n), major);
	}
	return false;
}

void replies_first_line(struct str text, char line[REPLIES_LINE])
{
	struct str one = { 0 };

	while (text.n && one.n == 0)
		one = str_trim(str_cut(&text, '\n'));
	snprintf(line, REPLIES_LINE, "%.*s", (int)(one.n < 99 ? one.n : 99), one.n ? one.p : "");
}

bool replies_loaded(struct str reply, int status)
{
	char line[REPLIES_LINE];

	replies_first_line(reply, line);
	return status == 0 && (strcmp(line, "0") == 0 || strcmp(line, "return code: 0") == 0);
}

static bool status_line(struct str status, struct str key, struct str *value)
{
	while (status.n) {
		struct str line = str_cut(&status, '\n');

		if (str_starts(line, key)) {
			*value = str_trim(str_from(line, key.n));
			return true;
		}
	}
	return false;
}

bool replies_signals(struct str status, struct replies_signals *signals)
{
	struct str value;

	*signals = (struct replies_signals){ 0 };
	if (!status_line(status, STR("SigCgt:"), &value) || !str_hex(value, &signals->caught) ||
	    !status_line(status, STR("ShdPnd:"), &value) || !str_hex(value, &signals->pending))
		return false;
	if (status_line(status, STR("State:"), &value) && value.n)
		signals->state = value.p[0];
	return true;
}
