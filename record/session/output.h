/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.h - destination of a recording: a directory that receives one window after another, or a single file or pipe.
 *
 * In a directory, a window that cannot be created or written is dropped, and the recording continues, as the next
 * window may succeed. If a single file cannot be written, the recording has failed (output_failed).
 */
#ifndef PJ_OUTPUT_H
#define PJ_OUTPUT_H

#include "record/perf/chunk.h"
#include "record/windows/windows.h"

/* Destination of a recording. The caller sets windows, fd and pipe; the other members must be 0 at the start. */
struct output {
	/* directory of windows; NULL: a single file or pipe */
	struct windows *windows;
	/* descriptor of the single file or pipe; unused if `windows` is set */
	int fd;
	/* true: the output is written in perf's pipe mode */
	bool pipe;
	/* true: a file is open, and records can be written to it */
	bool open;
	/* errno of the failure to write the last completed file; 0: no failure */
	int error;
	struct chunk chunk;
	struct window window;
};

/* Starts a file. wall_ns: wall-clock time of window->begin in ns since 1970. Returns false if no file can be created;
 * then the other functions write nothing until the next output_begin. */
bool output_begin(struct output *output, const struct chunk_facts *facts, const struct pj_window *window,
		  uint64_t wall_ns);

/* Writes n bytes of complete records to the file. Does nothing if no file is open. */
void output_records(struct output *output, const void *records, size_t n);
/* Writes FEATURE_PJ_END items to a pipe, before the records of the next flush. Does nothing if the output is no open
 * pipe. */
void output_items(struct output *output, struct str items);
/* Writes all buffered records to the file, so that other processes can read the records. Does nothing if no file is
 * open. */
void output_flush(struct output *output);

/* Completes the file and sets report->bytes to its size. In a directory, passes the window to the finisher (windows.h),
 * which moves it to out/, or removes it if writing failed. Does nothing if no file is open. */
void output_end(struct output *output, const struct chunk_end *end, struct window_report *report);

/* Deletes the open window of a directory and returns true. Returns false, without deleting, if no file is open, or if
 * the output is a single file, which is never deleted. */
bool output_discard(struct output *output, const struct window_report *report);

/* Returns true if writing to the single file or pipe has failed, so that further recording is useless. */
bool output_failed(const struct output *output);

#endif
