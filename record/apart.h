/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apart.h - a process of ours that does what may hang or crash: files of those who are profiled are opened there.
 */
#ifndef PJ_APART_H
#define PJ_APART_H

#include "base.h"

enum { APART_FD = 3 };

/* To be called by the child, behind fork. It has nothing of the recorder but fd, which becomes APART_FD, and stderr: descriptors of
 * events, rings and locked windows would live on with it. Signals of the terminal are for the recorder, which then asks it to end. */
void apart_become(const char *name, int fd);

#endif
