/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvmthreads.h - groups of the threads that HotSpot starts for itself, by their names.
 *
 * The kernel stores the first 15 bytes of a name: "C2 CompilerThread0" becomes "C2 CompilerThre". Threads of the
 * application, and threads in which the JDK runs Java code ("Finalizer", "Common-Cleaner"), are in no group. After '#'
 * only digits may follow: "GC Thread#0" is in a group, "GC Thread#0 of mine" is not. The caller must have checked that
 * the process is a JVM; threads of other processes may have the same names.
 */
#ifndef PJ_JVMTHREADS_H
#define PJ_JVMTHREADS_H

#include "common/str.h"

/* Groups of JVM threads. JVMTHREADS_NONE: threads of the application, and threads with unknown names. JVMTHREADS_GC:
 * threads of the garbage collector. JVMTHREADS_COMPILER: compiler threads. JVMTHREADS_VM: all other threads that
 * HotSpot starts for itself. */
enum jvmthreads_group { JVMTHREADS_NONE, JVMTHREADS_GC, JVMTHREADS_COMPILER, JVMTHREADS_VM };

/* Returns the group of the JVM thread with this name; JVMTHREADS_NONE if the name belongs to no group. */
enum jvmthreads_group jvmthreads_group(struct str comm);

/* Returns the text of the group's frame, such as "[JVM] GC"; empty for JVMTHREADS_NONE. This text does not end with
 * ']', so it differs from all frames of single threads, "[NAME]". */
struct str jvmthreads_frame(enum jvmthreads_group group);

#endif
