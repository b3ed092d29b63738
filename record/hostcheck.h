/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostcheck.h - `pjrecord --check`: tries the steps of a recording and prints which features work on this host.
 *
 * Prints one line for each check: "ok", "limited" or "no", the subject, and the command that helps if the verdict is
 * not "ok". The check opens events and rings as a recording does, because files in /proc alone do not show the
 * restrictions of a security module or a container. It changes nothing on the host. If the directory belongs to an
 * installation, the lines of installcheck.h follow.
 */
#ifndef PJ_HOSTCHECK_H
#define PJ_HOSTCHECK_H

#include "common/base.h"

/* Options, from the command line, of the recording for which the host is checked. */
struct hostcheck_options {
	/* path of the directory in which the recording would write windows */
	const char *dir;
	/* true: the user named no directory, so dir is the current one; then it is no fault that no recorder runs
	 * there */
	bool dir_unspecified;
	/* sampling frequency in Hz */
	uint64_t frequency;
	/* size in bytes of the ring of samples of one CPU; 0: the largest size that the host allows */
	uint64_t ring_bytes;
	/* Same meaning as the members of the same names in struct session_options. */
	uint32_t stack_bytes;
	bool both, exactly;
	/* share of the file system, 0 to 1: retention deletes windows if a smaller share is free */
	double min_free;
};

/* Runs all checks and prints their lines to standard output. Returns true if system-wide recording works, its directory
 * can be written and, in an installation, installcheck.h reports no "no". Exits with a message if standard output
 * cannot be written. */
bool hostcheck(const struct hostcheck_options *options);

#endif
