/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follow.h - all JVMs of the host over time: found as they begin, looked at again and again, let go when they end.
 *
 * A young JVM compiles most of its code in its first seconds, and may be gone soon: it is looked at every 50 ms for 2
 * s, afterwards each interval.
 */
#ifndef PJ_FOLLOW_H
#define PJ_FOLLOW_H

#include "jmap/mapopts.h"

/* Until a signal asks to end (or, with pids, until all of them have ended). False: something could not be written,
 * or a JVM that was named could not be read. */
bool follow(const struct request *request);

#endif
