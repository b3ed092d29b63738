/* SPDX-License-Identifier: Apache-2.0 */
#include "record/output.h"

#include "common/clocks.h"

bool output_begin(struct output *o, const struct chunk_facts *f, const struct pj_window *w, uint64_t wall_ns)
{
	o->window.fd = o->fd;
	/* an aligned border is a whole second, but for jitter between the two clocks */
	o->open = o->windows ? windows_create(o->windows, (wall_ns + SECOND_NS / 1000) / SECOND_NS, &o->window) :
			       !o->error;
	if (o->open)
		chunk_begin(&o->chunk, o->window.fd, o->pipe, f, w, wall_ns, w->begin);
	return o->open;
}

void output_records(struct output *o, const void *records, size_t n)
{
	if (o->open && n)
		chunk_record(&o->chunk, records, n);
}

void output_flush(struct output *o)
{
	if (o->open)
		chunk_flush(&o->chunk);
}

void output_end(struct output *o, const struct chunk_end *e, struct window_report *r)
{
	if (!o->open)
		return;
	o->open = false;
	chunk_end(&o->chunk, e);
	r->bytes = o->chunk.written;
	o->error = o->chunk.error;
	if (!o->windows)
		return;
	if (o->error)
		windows_drop(o->windows, &o->window, o->error, r);
	else
		windows_finish(o->windows, &o->window, r);
}

bool output_discard(struct output *o, const struct window_report *r)
{
	struct chunk_end e = { 0 };

	if (!o->windows || !o->open)
		return false;
	o->open = false;
	chunk_end(&o->chunk, &e);
	windows_drop(o->windows, &o->window, 0, r);
	return true;
}

bool output_failed(const struct output *o)
{
	return !o->windows && (o->open ? o->chunk.error : o->error);
}
