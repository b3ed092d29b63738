/* SPDX-License-Identifier: Apache-2.0 */
#include "common/progress.h"

#include "common/clocks.h"
#include "common/diag.h"

#include <stdio.h>
#include <unistd.h>

void progress_begin(struct progress *progress, uint64_t total)
{
	*progress = (struct progress){ .total = total, .on = diag_is_terminal(STDERR_FILENO) };
	if (progress->on)
		progress->shown_ns = progress->start_ns = clock_now();
}

void progress_at(struct progress *progress, uint64_t done)
{
	double mb = (double)done / 1e6, seconds;
	uint64_t now;

	if (!progress->on)
		return;
	now = clock_now();
	if (now - progress->start_ns < SECOND_NS / 2 || now - progress->shown_ns < SECOND_NS / 10)
		return;
	progress->shown_ns = now;
	progress->drawn = true;
	seconds = (double)(now - progress->start_ns) / SECOND_NS;
	if (progress->total)
		fprintf(stderr, "\r\033[K%s: %.0f of %.0f MB (%.0f %%), %.0f MB/s", diag_tool_name(), mb,
			(double)progress->total / 1e6, 100.0 * (double)done / (double)progress->total, mb / seconds);
	else
		fprintf(stderr, "\r\033[K%s: %.0f MB, %.0f MB/s", diag_tool_name(), mb, mb / seconds);
	fflush(stderr);
}

void progress_end(struct progress *progress)
{
	if (progress->drawn)
		fputs("\r\033[K", stderr);
	progress->on = false;
}
