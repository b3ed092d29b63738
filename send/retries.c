/* SPDX-License-Identifier: Apache-2.0 */
#include "send/retries.h"

#include "common/arena.h"
#include "common/files/fullio.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#define FILE_NAME "doubts"
#define FILE_MAX ((size_t)16 << 20)

/* Parses a line "EPOCH.TAG RETRIES SINCE OTHERS" of spool/doubts, e.g. "1795293830.0123456789abcdef 7 1795293999 1".
 * Returns false if it is malformed. */
static bool retries_take_line(struct str line, struct retry *retry)
{
	struct str epoch = str_cut(&line, '.'), tag = str_cut(&line, ' '), retries = str_cut(&line, ' '),
		   since = str_cut(&line, ' ');

	*retry = (struct retry){ .others = str_eq(line, STR("1")) };
	return str_u64(epoch, &retry->name.epoch) && str_hex(tag, &retry->name.tag) &&
	       str_u64(retries, &retry->retries) && str_u64(since, &retry->since);
}

void retries_read(const struct spool *spool, struct retry **list, size_t *n)
{
	struct text text = { 0 };
	struct str rest;
	struct retry retry;

	*list = NULL;
	*n = 0;
	fullio_read_at(spool->space, FILE_NAME, &text, FILE_MAX);
	for (rest = text_view(&text); rest.n;) {
		if (!retries_take_line(str_cut(&rest, '\n'), &retry))
			continue;
		*list = mem_more(*list, sizeof(**list), *n);
		(*list)[(*n)++] = retry;
	}
	text_free(&text);
}

bool retries_write(const struct spool *spool, const struct retry *list, size_t n)
{
	struct text text = { 0 };
	bool good;

	if (n == 0)
		return unlinkat(spool->space, FILE_NAME, 0) == 0 || errno == ENOENT;
	for (size_t i = 0; i < n; i++)
		text_printf(&text, "%" PRIu64 ".%016" PRIx64 " %" PRIu64 " %" PRIu64 " %d\n", list[i].name.epoch,
			    list[i].name.tag, list[i].retries, list[i].since, list[i].others);
	good = fullio_replace(spool->space, FILE_NAME, text_view(&text));
	text_free(&text);
	return good;
}
