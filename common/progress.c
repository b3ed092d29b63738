/* SPDX-License-Identifier: Apache-2.0 */
#include "common/progress.h"

#include "common/clocks.h"
#include "common/diag.h"

#include <stdio.h>
#include <unistd.h>

void progress_begin(struct progress *p, uint64_t total)
{
	*p = (struct progress){ .total = total, .on = diag_is_terminal(STDERR_FILENO) };
	if (p->on)
		p->shown_ns = p->start_ns = clock_now();
}

void progress_at(struct progress *p, uint64_t done)
{
	double mb = (double)done / 1e6, seconds;
	uint64_t now;

	if (!p->on)
		return;
	now = clock_now();
	if (now - p->start_ns < SECOND_NS / 2 || now - p->shown_ns < SECOND_NS / 10)
		return;
	p->shown_ns = now;
	p->drawn = true;
	seconds = (double)(now - p->start_ns) / SECOND_NS;
	if (p->total)
		fprintf(stderr, "\r\033[K%s: %.0f of %.0f MB (%.0f %%), %.0f MB/s", diag_tool_name(), mb,
			(double)p->total / 1e6, 100.0 * (double)done / (double)p->total, mb / seconds);
	else
		fprintf(stderr, "\r\033[K%s: %.0f MB, %.0f MB/s", diag_tool_name(), mb, mb / seconds);
	fflush(stderr);
}

void progress_end(struct progress *p)
{
	if (p->drawn)
		fputs("\r\033[K", stderr);
	p->on = false;
}
