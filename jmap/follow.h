/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follow.h - follows all JVMs of the host over time: finds them as they start, scans them repeatedly, and drops them
 * when they end.
 *
 * A young JVM compiles most of its code in its first seconds, and may end soon: it is scanned every 50 ms for 2 s, then
 * once in each interval.
 */
#ifndef PJ_FOLLOW_H
#define PJ_FOLLOW_H

#include "jmap/mapopts.h"

/* Follows JVMs until a signal requests the end or, with pids, until all of these processes have ended. Returns false if
 * something could not be written, or if a JVM that was given as a pid could not be read. */
bool follow(const struct request *request);

#endif
