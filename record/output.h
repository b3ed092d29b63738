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

/* The caller sets the first three members and leaves the others 0. */
struct output {
	/* directory of windows; NULL for a single file */
	struct windows *windows;
	/* descriptor of the single file */
	int fd;
	/* the single file is written in perf's pipe mode */
	bool pipe;
	/* a file is open and takes records */
	bool open;
	/* errno of the last file, 0 if it did not fail */
	int error;
	struct chunk chunk;
	struct window window;
};

/* Starts a file. wall_ns is the time of window->begin on the wall clock. Returns false if no file can be created;
 * then the other functions do nothing until the next output_begin. */
bool output_begin(struct output *output, const struct chunk_facts *facts, const struct pj_window *window,
		  uint64_t wall_ns);

/* Writes n bytes of consecutive records. Does nothing if no file is open. */
void output_records(struct output *output, const void *records, size_t n);
/* Writes items of FEATURE_PJ_END in front of the next flush, to a pipe. Does nothing if no pipe is open. */
void output_items(struct output *output, struct str items);
/* Makes everything written so far readable for others. Does nothing if no file is open. */
void output_flush(struct output *output);

/* Completes the file, sets report->bytes and, in a directory, publishes the window under its name or drops it after
 * an error. */
void output_end(struct output *output, const struct chunk_end *end, struct window_report *report);

/* Deletes the open window of a directory. Returns false, and does nothing, if no file is open or the output is a
 * single file, which is written in any case. */
bool output_discard(struct output *output, const struct window_report *report);

/* Returns true if a single file has failed, so that recording on is useless. */
bool output_failed(const struct output *output);

#endif
