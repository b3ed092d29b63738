/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvmthreads.h - groups of the threads that HotSpot starts for itself, by their names.
 *
 * The kernel stores 15 bytes of a name: "C2 CompilerThread0" is "C2 CompilerThre". Threads of the application, and
 * those in which the JDK runs Java code ("Finalizer", "Common-Cleaner"), are in no group. A name with a number counts
 * only if nothing but digits follows: "GC Thread#0", never "GC Thread#0 of mine". The caller knows that the process is
 * a JVM; in other processes these names mean nothing.
 */
#ifndef PJ_JVMTHREADS_H
#define PJ_JVMTHREADS_H

#include "common/str.h"

/* JVMTHREADS_NONE: a thread of the application, or one whose name is not known. */
enum jvmthreads_group { JVMTHREADS_NONE, JVMTHREADS_GC, JVMTHREADS_COMPILER, JVMTHREADS_VM };

enum jvmthreads_group jvmthreads_group(struct str comm);

/* Returns the frame of the group: "[JVM] GC" and so on; empty for JVMTHREADS_NONE. The frame of a thread ends with ']',
 * so no thread has one of these. */
struct str jvmthreads_frame(enum jvmthreads_group group);

#endif
