/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.h - where a recording goes: windows in a directory, one after another, or one file or pipe.
 *
 * A window that cannot be made, or not be written, is dropped: recording goes on, and the next may succeed. When the
 * one file cannot be written, all else is in vain.
 */
#ifndef PJ_OUTPUT_H
#define PJ_OUTPUT_H

#include "record/perf/chunk.h"
#include "record/windows/windows.h"

struct output {
	struct windows *windows; /* NULL: one recording, */
	int fd;                  /* here, */
	bool pipe;               /* in perf's pipe mode */
	bool open;               /* there is a file that takes records */
	int error;               /* errno of the last file that failed, 0: it did not */
	struct chunk chunk;
	struct window window;
};

/* window->begin was at wall_ns. False: no file, so nothing needs to be written. */
bool output_begin(struct output *output, const struct chunk_facts *facts, const struct pj_window *window,
		  uint64_t wall_ns);

/* One record, or some, one after another. Nothing, where no file is open. */
void output_records(struct output *output, const void *records, size_t n);
void output_flush(struct output *output);

/* report->bytes is filled in. */
void output_end(struct output *output, const struct chunk_end *end, struct window_report *report);

/* Nobody wants this window; the one file is wanted in any case, and is not touched. False then, and where none is open.
 */
bool output_discard(struct output *output, const struct window_report *report);

/* Would it be in vain to go on? */
bool output_failed(const struct output *output);

#endif
