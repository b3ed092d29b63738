/* SPDX-License-Identifier: Apache-2.0 */
/* parent.h - ends a tool when its parent process ends, in whatever way: a killed script cannot end what it started. */
#ifndef PJ_PARENT_H
#define PJ_PARENT_H

#include <sys/types.h>

/* Makes the kernel send SIGTERM to this process when its parent ends; sends it at once if the parent is not `parent`
 * any more. Must be called after all changes of credentials, since they cancel the request. */
void parent_bind(pid_t parent);

#endif
