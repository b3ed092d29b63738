/* SPDX-License-Identifier: Apache-2.0 */
/* parent.h - ends a tool when its parent process ends in any way: a killed script cannot end the tools that it
 * started. */
#ifndef PJ_PARENT_H
#define PJ_PARENT_H

#include <sys/types.h>

/* Makes the kernel send SIGTERM to this process when its parent ends. Sends it at once if `parent`, the PID of the
 * parent at the start, has already ended. Must be called after all changes of credentials, since these cancel the
 * request (PR_SET_PDEATHSIG). */
void parent_bind(pid_t parent);

#endif
