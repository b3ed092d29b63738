/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostcheck.h - `pjrecord --check`: tries what a recording needs, and prints what will work.
 *
 * A line each: "ok", "limited" or "no", what, and where it is not ok the command that helps. It opens events and rings
 * as a recording does, since files in /proc alone do not tell what a security module or a container allows; it changes
 * nothing.
 */
#ifndef PJ_HOSTCHECK_H
#define PJ_HOSTCHECK_H

#include "common/base.h"

struct hostcheck_options {
	const char *dir; /* of windows */
	uint64_t frequency;
	uint64_t ring_bytes;  /* of each CPU; 0: as large as allowed */
	uint32_t stack_bytes; /* as of session_options */
	bool both, exactly;
	double min_free;
};

/* Prints to stdout. True: a recording of the whole system will work. */
bool hostcheck(const struct hostcheck_options *options);

#endif
