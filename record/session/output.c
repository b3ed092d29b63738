/* SPDX-License-Identifier: Apache-2.0 */
#include "record/session/output.h"

#include "common/clocks.h"

bool output_begin(struct output *output, const struct chunk_facts *facts, const struct pj_window *window,
		  uint64_t wall_ns)
{
	output->window.fd = output->fd;
	/* With --align, a border is at a full second of the wall clock, but CLOCK_MONOTONIC and the wall clock drift a
	 * little. So 1 ms is added before the division: the name is then the second of the border. */
	output->open = output->windows ? windows_create(output->windows, (wall_ns + SECOND_NS / 1000) / SECOND_NS,
							&output->window) :
					 !output->error;
	if (output->open)
		chunk_begin(&output->chunk, output->window.fd, output->pipe, facts, window, wall_ns, window->begin);
	return output->open;
}

void output_records(struct output *output, const void *records, size_t n)
{
	if (output->open && n)
		chunk_record(&output->chunk, records, n);
}

void output_items(struct output *output, struct str items)
{
	if (output->open && output->pipe && items.n)
		chunk_stream_items(&output->chunk, items);
}

void output_flush(struct output *output)
{
	if (output->open)
		chunk_flush(&output->chunk);
}

void output_end(struct output *output, const struct chunk_end *end, struct window_report *report)
{
	if (!output->open)
		return;
	output->open = false;
	chunk_end(&output->chunk, end);
	report->bytes = output->chunk.written;
	output->error = output->chunk.error;
	if (!output->windows)
		return;
	if (output->error)
		windows_drop(output->windows, &output->window, output->error, report);
	else
		windows_finish(output->windows, &output->window, report);
}

bool output_discard(struct output *output, const struct window_report *report)
{
	struct chunk_end end = { 0 };

	if (!output->windows || !output->open)
		return false;
	output->open = false;
	chunk_end(&output->chunk, &end);
	windows_drop(output->windows, &output->window, 0, report);
	return true;
}

bool output_failed(const struct output *output)
{
	return !output->windows && (output->open ? output->chunk.error : output->error);
}
