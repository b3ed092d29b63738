/* SPDX-License-Identifier: Apache-2.0 */
/*
 * windowfile.h - creates the file of a window under a name that no run has used, and moves it from recording/ to out/.
 *
 * Several runs share DIR and may be killed at any time, so each step leaves a state that another run can judge: a file
 * gets its name only when it is locked, and no rename replaces a file (windows.h).
 */
#ifndef PJ_WINDOWFILE_H
#define PJ_WINDOWFILE_H

#include "record/windows/windir.h"

enum { WINDOWFILE_NAME = 40 }; /* size in bytes of a buffer for the name of a window's file */

/* Sets `name` to the name of the file of the window `epoch`, "E.data". */
void windowfile_name(char name[WINDOWFILE_NAME], uint64_t epoch);

/* Opens recording/used, the file of used names, and returns its descriptor. If the file is missing or empty, fills it
 * with the names of the existing windows. Ends the process if the file cannot be opened. dir: DIR, for messages. */
int windowfile_open_used(const struct windir *windir, const char *dir);

/* Creates the file of the window `epoch` (s since 1970) in recording/, locked, and marked as being written. If any run
 * has used that name before, uses the next free one. `used`: descriptor of the file of used names. Sets *taken to the
 * name. Returns a descriptor, open for reading and writing; -1 with errno on failure. */
int windowfile_create(const struct windir *windir, int used, uint64_t epoch, uint64_t *taken);

/* Returns true if a run is writing the window whose file is open as fd. */
bool windowfile_is_written(int fd);

/* Moves the window named `from` from recording/ to out/, and sets *epoch to its name there: `from`, or the next free
 * name if out/ already has that file. Returns false with errno on failure. */
bool windowfile_publish(const struct windir *windir, int used, uint64_t from, uint64_t *epoch);

#endif
