/* SPDX-License-Identifier: Apache-2.0 */
#include "send/stores/batches.h"

#define REFUSED_MAX 8 /* documents one after the other, none taken before: then it is all of them */

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

static const char *batches_mark(const char *s)
{
	return s ? s : "";
}

/* Takes up to `most` documents off *rest. */
static void batches_fill(const struct batches *how, struct batch *b, struct str *rest, size_t max)
{
	struct str stack, start = *rest, before;
	uint64_t count;
	size_t length;

	b->n = b->body.n = 0;
	text_add(&b->body, batches_mark(how->open));
	for (before = *rest; b->n < max && window_next(rest, &stack, &count); before = *rest) {
		length = b->body.n;
		if (b->n)
			text_add(&b->body, batches_mark(how->between));
		how->add(&b->body, b->window, b->fixed, stack, count);
		if (b->n && b->body.n + strlen(batches_mark(how->shut)) > how->max_bytes) {
			b->body.n = length;
			*rest = before;
			break;
		}
		b->n++;
	}
	text_add(&b->body, batches_mark(how->shut));
	b->stacks = str_head(start, start.n - rest->n);
}

/* The next document, which will not be sent again. */
static void batches_refuse(const struct batch *b, struct store_report *r)
{
	text_str(&r->refused, b->stacks);
	if (!r->refused_why.n)
		text_str(&r->refused_why, text_view(&r->why));
}

static struct str batches_skip(struct str lines, size_t n)
{
	struct str stack;
	uint64_t count;

	for (size_t i = 0; i < n && window_next(&lines, &stack, &count); i++)
		;
	return lines;
}

void batches_send(struct batches *how, void *store, const struct window *w, uint64_t *resume, bool isolate,
		  struct store_report *r)
{
	uint32_t state = (uint32_t)(*resume >> 32);
	struct batch b = { .window = w, .first = (uint32_t)*resume };
	struct str rest = batches_skip(w->stacks, b.first);
	size_t max = how->docs_now ? how->docs_now : how->docs_max, refused = 0, done, known;
	bool taken = b.first > 0;

	if (how->frame)
		how->frame(b.fixed, w);
	for (r->verdict = STORE_SENT; r->verdict == STORE_SENT;) {
		struct str from = rest;
		enum http_class class;

		batches_fill(how, &b, &rest, max);
		if (b.n == 0)
			break;
		done = b.n;
		known = 0;
		class = how->post(store, &b, &done, &known, &state, r);
		if (class == HTTP_PERHAPS && isolate)
			class = HTTP_POISON;
		if (class == HTTP_DONE) {
			r->documents += done - known;
			r->known += known;
			taken = true;
			if (done < b.n)
				rest = batches_skip(from, done);
			max = max < how->docs_max / 2 ? 2 * max : how->docs_now ? how->docs_now : how->docs_max;
		} else if (class == HTTP_SMALLER && b.n > 1) {
			max = how->docs_now = b.n / 2;
			rest = from;
			done = 0;
		} else if ((class == HTTP_POISON || class == HTTP_SMALLER) && b.n > 1) {
			max = b.n / 2;
			rest = from;
			done = 0;
		} else if (class == HTTP_POISON || class == HTTP_SMALLER) {
			batches_refuse(&b, r);
			if (++refused >= REFUSED_MAX && !taken)
				r->verdict = STORE_REFUSED;
		} else {
			r->verdict = batches_verdict(class, isolate);
			done = 0;
		}
		b.first += done;
		if (r->verdict == STORE_SENT)
			state = 0;
	}
	if (r->verdict == STORE_SENT && !taken && refused)
		r->verdict = STORE_REFUSED; /* each of few */
	if (r->verdict == STORE_SENT)
		r->why.n = 0;
	*resume = (uint64_t)state << 32 | b.first;
	text_free(&b.fixed[0]);
	text_free(&b.fixed[1]);
	text_free(&b.body);
}
