/* SPDX-License-Identifier: Apache-2.0 */
#include "send/gather.h"

#include <inttypes.h>

/* Resets the sum for the next window; query, filters and the counts of faults stay. */
static void each_reset(struct gather *gather)
{
	struct gather next = { .q = gather->q,
			       .only = gather->only,
			       .nonly = gather->nonly,
			       .plain = gather->plain,
			       .damaged = gather->damaged,
			       .skipped = gather->skipped };

	gather_free(gather);
	*gather = next;
}

void each_end(struct each *each)
{
	struct text path = { 0 };
	struct out out = { 0 };

	if (!each->n)
		return;
	gather_end(each->gather);
	text_printf(&path, "%s/%" PRIu64 "-%" PRIu64 ".folded", each->dir, each->epoch, each->n);
	text_char(&path, 0);
	out_open(&out, path.p);
	folded_write(&out, &each->gather->s, 1, &each->gather->header);
	out_close(&out);
	text_free(&path);
	each_reset(each->gather);
}

bool each_window(void *to, const struct window *window)
{
	struct each *each = to;

	each_end(each);
	each->n++;
	each->epoch = window->epoch;
	return gather_window(each->gather, window);
}

bool each_lines(void *to, struct str lines)
{
	return gather_lines(((struct each *)to)->gather, lines);
}

void each_damaged(void *to, struct str place, const char *why)
{
	gather_damaged(((struct each *)to)->gather, place, why);
}
