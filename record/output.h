/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.h - destination of a recording: one window after another in a directory, or a single file or pipe.
 *
 * A window that cannot be created or written is dropped; recording goes on, and the next window may succeed. If a
 * single file cannot be written, the recording has failed (output_failed).
 */
#ifndef PJ_OUTPUT_H
#define PJ_OUTPUT_H

#include "record/perf/chunk.h"
#include "record/windows/windows.h"

/* Destination of a recording. The caller sets the first three members; the others are 0 at first. */
struct output {
	/* the directory of windows; NULL: a single file */
	struct windows *windows;
	/* descriptor of the single file or pipe */
	int fd;
	/* true: the output is written in perf's pipe mode */
	bool pipe;
	/* true: a file is open and takes records */
	bool open;
	/* errno of the failure of the last file; 0: it did not fail */
	int error;
	struct chunk chunk;
	struct window window;
};

/* Starts a file. wall_ns: wall time of window->begin in ns since 1970. Returns false if no file can be created; then
 * the other functions do nothing until the next output_begin. */
bool output_begin(struct output *output, const struct chunk_facts *facts, const struct pj_window *window,
		  uint64_t wall_ns);

/* Writes n bytes of consecutive records to the file. Does nothing if no file is open. */
void output_records(struct output *output, const void *records, size_t n);
/* Writes items of FEATURE_PJ_END to a pipe, before the records of the next flush. Does nothing if no pipe is open. */
void output_items(struct output *output, struct str items);
/* Makes everything written so far readable for others. Does nothing if no file is open. */
void output_flush(struct output *output);

/* Completes the file and sets report->bytes. In a directory, hands the window to the finisher, or drops it after an
 * error. */
void output_end(struct output *output, const struct chunk_end *end, struct window_report *report);

/* Deletes the open window of a directory. Returns false, and does nothing, if no file is open or the output is a single
 * file, which is kept in any case. */
bool output_discard(struct output *output, const struct window_report *report);

/* Returns true if writing to the single file has failed, so that further recording is useless. */
bool output_failed(const struct output *output);

#endif
