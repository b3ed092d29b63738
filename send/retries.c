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

/* "1795293830.0123456789abcdef 7 1795293999 1" */
static bool retries_take_line(struct str line, struct retry *d)
{
	struct str epoch = str_cut(&line, '.'), tag = str_cut(&line, ' '), retries = str_cut(&line, ' '),
		   since = str_cut(&line, ' ');

	*d = (struct retry){ .others = str_eq(line, STR("1")) };
	return str_u64(epoch, &d->name.epoch) && str_hex(tag, &d->name.tag) && str_u64(retries, &d->retries) &&
	       str_u64(since, &d->since);
}

void retries_read(const struct spool *s, struct retry **list, size_t *n)
{
	struct text t = { 0 };
	struct str rest;
	struct retry d;

	*list = NULL;
	*n = 0;
	fullio_read_at(s->space, FILE_NAME, &t, FILE_MAX);
	for (rest = text_view(&t); rest.n;) {
		if (!retries_take_line(str_cut(&rest, '\n'), &d))
			continue;
		*list = mem_more(*list, sizeof(**list), *n);
		(*list)[(*n)++] = d;
	}
	text_free(&t);
}

bool retries_write(const struct spool *s, const struct retry *list, size_t n)
{
	struct text t = { 0 };
	bool good;

	if (n == 0)
		return unlinkat(s->space, FILE_NAME, 0) == 0 || errno == ENOENT;
	for (size_t i = 0; i < n; i++)
		text_printf(&t, "%" PRIu64 ".%016" PRIx64 " %" PRIu64 " %" PRIu64 " %d\n", list[i].name.epoch,
			    list[i].name.tag, list[i].retries, list[i].since, list[i].others);
	good = fullio_replace(s->space, FILE_NAME, text_view(&t));
	text_free(&t);
	return good;
}
