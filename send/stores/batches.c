/* SPDX-License-Identifier: Apache-2.0 */
#include "send/stores/batches.h"

/* number of refused documents at which the whole window is refused, if the server has accepted none */
#define REFUSED_MAX 8

enum store_verdict batches_verdict(enum http_class class, bool isolate)
{
	switch (class) {
	case HTTP_DONE:
	case HTTP_CONFLICT: return STORE_SENT;
	case HTTP_AGAIN: return STORE_LATER;
	case HTTP_HOLD: return STORE_HOLD;
	case HTTP_PERHAPS: return isolate ? STORE_REFUSED : STORE_INDETERMINATE;
	default: return STORE_REFUSED;
	}
}

static const char *batches_mark(const char *string)
{
	return string ? string : "";
}

/* Fills *batch with the next documents of *rest and removes them from *rest: at most `max` documents, and a body of at
 * most how->max_bytes bytes, which only a single document may exceed. */
static void batches_fill(const struct batches *how, struct batch *batch, struct str *rest, size_t max)
{
	struct str stack, start = *rest, before;
	uint64_t count;
	size_t length;

	batch->n = batch->body.n = 0;
	text_add(&batch->body, batches_mark(how->open));
	for (before = *rest; batch->n < max && window_next(rest, &stack, &count); before = *rest) {
		length = batch->body.n;
		if (batch->n)
			text_add(&batch->body, batches_mark(how->between));
		how->add(&batch->body, batch->window, batch->fixed, stack, count);
		if (batch->n && batch->body.n + strlen(batches_mark(how->shut)) > how->max_bytes) {
			batch->body.n = length;
			*rest = before;
			break;
		}
		batch->n++;
	}
	text_add(&batch->body, batches_mark(how->shut));
	batch->stacks = str_head(start, start.n - rest->n);
}

/* Adds the only document of a batch to report->refused, so that it is not sent again. */
static void batches_refuse(const struct batch *batch, struct store_report *report)
{
	text_str(&report->refused, batch->stacks);
	if (!report->refused_why.n)
		text_str(&report->refused_why, text_view(&report->why));
}

static struct str batches_skip(struct str lines, size_t n)
{
	struct str stack;
	uint64_t count;

	for (size_t i = 0; i < n && window_next(&lines, &stack, &count); i++)
		;
	return lines;
}

void batches_send(struct batches *how, void *store, const struct window *window, uint64_t *resume, bool isolate,
		  struct store_report *report)
{
	uint32_t state = (uint32_t)(*resume >> 32);
	struct batch batch = { .window = window, .first = (uint32_t)*resume };
	struct str rest = batches_skip(window->stacks, batch.first);
	size_t max = how->docs_now ? how->docs_now : how->docs_max, refused = 0, done, known;
	bool taken = batch.first > 0;

	if (how->frame)
		how->frame(batch.fixed, window);
	for (report->verdict = STORE_SENT; report->verdict == STORE_SENT;) {
		struct str from = rest;
		enum http_class class;

		batches_fill(how, &batch, &rest, max);
		if (batch.n == 0)
			break;
		done = batch.n;
		known = 0;
		class = how->post(store, &batch, &done, &known, &state, report);
		if (class == HTTP_PERHAPS && isolate)
			class = HTTP_POISON;
		if (class == HTTP_DONE) {
			report->documents += done - known;
			report->known += known;
			taken = true;
			if (done < batch.n)
				rest = batches_skip(from, done);
			max = max < how->docs_max / 2 ? 2 * max : how->docs_now ? how->docs_now : how->docs_max;
		} else if (class == HTTP_SMALLER && batch.n > 1) {
			max = how->docs_now = batch.n / 2;
			rest = from;
			done = 0;
		} else if ((class == HTTP_POISON || class == HTTP_SMALLER) && batch.n > 1) {
			max = batch.n / 2;
			rest = from;
			done = 0;
		} else if (class == HTTP_POISON || class == HTTP_SMALLER) {
			batches_refuse(&batch, report);
			if (++refused >= REFUSED_MAX && !taken)
				report->verdict = STORE_REFUSED;
		} else {
			report->verdict = batches_verdict(class, isolate);
			done = 0;
		}
		batch.first += done;
		if (report->verdict == STORE_SENT)
			state = 0;
	}
	if (report->verdict == STORE_SENT && !taken && refused)
		/* The server refused all documents of the window, so the window is refused, although they are fewer
		 * than REFUSED_MAX. */
		report->verdict = STORE_REFUSED;
	if (report->verdict == STORE_SENT)
		report->why.n = 0;
	*resume = (uint64_t)state << 32 | batch.first;
	text_free(&batch.fixed[0]);
	text_free(&batch.fixed[1]);
	text_free(&batch.body);
}
