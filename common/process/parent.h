/* SPDX-License-Identifier: Apache-2.0 */
/* parent.h - to end with who started us, however it ends: a script that is killed cannot end what it started. */
#ifndef PJ_PARENT_H
#define PJ_PARENT_H

#include <sys/types.h>

/* From now on SIGTERM comes when the parent ends, or at once if it is another one than `parent` by now. To be called
 * when the credentials are what they will be, as the kernel forgets it when they change. */
void parent_bind(pid_t parent);

#endif
