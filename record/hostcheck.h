/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostcheck.h - `pjrecord --check`: tries the steps of a recording and prints which features work on this host.
 *
 * Prints one line for each check: "ok", "limited" or "no", the subject, and the command that helps if it is not ok.
 * The check opens events and rings as a recording does, since files in /proc alone do not show what a security
 * module or a container allows. It changes nothing on the host. If the directory is that of an installation, the
 * lines of installcheck.h follow.
 */
#ifndef PJ_HOSTCHECK_H
#define PJ_HOSTCHECK_H

#include "common/base.h"

/* Options of the recording that is checked, as the command line gives them. */
struct hostcheck_options {
	/* path of the directory that would receive the windows */
	const char *dir;
	/* true: dir is the current directory, which the user did not name: a recorder that does not run is no fault */
	bool dir_unspecified;
	uint64_t frequency;
	/* size of the ring of samples of one CPU in bytes; 0: the largest size that is allowed */
	uint64_t ring_bytes;
	/* stack_bytes, both and exactly: as in struct session_options */
	uint32_t stack_bytes;
	bool both, exactly;
	/* share of the file system, 0 to 1: if less is free, retention deletes windows */
	double min_free;
};

/* Runs all checks and prints their lines to standard output. Returns true if system-wide recording works,
 * its directory is usable and, in an installation, no fact of it is a "no". Exits with a message if standard output
 * cannot be written. */
bool hostcheck(const struct hostcheck_options *options);

#endif
