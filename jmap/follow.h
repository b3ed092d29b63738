/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follow.h - main loop of pjmap -i: finds all JVMs of the host as they start, scans each one repeatedly, and drops it
 * when it ends.
 *
 * A JVM compiles most of its code in its first seconds, and may end soon. So each JVM is scanned every 50 ms until it
 * is 2 s old, then once per interval of option -i.
 */
#ifndef PJ_FOLLOW_H
#define PJ_FOLLOW_H

#include "jmap/mapopts.h"

/* Follows JVMs until SIGINT or SIGTERM. With pids on the command line, also ends when all of these processes have
 * ended. Returns false if a file could not be written, or if a JVM given by its pid could not be read. */
bool follow(const struct request *request);

#endif
