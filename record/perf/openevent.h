/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openevent.h - opens one event of the kernel with as many features as the kernel and the user's rights allow.
 *
 * The kernel refuses a perf_event_attr completely if it does not support one feature that the attribute requests, or if
 * the user has no right to a feature. So openevent removes features one by one, the least important first, until the
 * event opens.
 */
#ifndef PJ_OPENEVENT_H
#define PJ_OPENEVENT_H

#include "common/base.h"

#include <linux/perf_event.h>
#include <sys/types.h>

/* Opens an event with the arguments of perf_event_open, without a group, close-on-exec. Removes refused features from
 * *attr. user_only: if the user may not sample kernel code, excludes it (attr->exclude_kernel), unless the event occurs
 * only in the kernel. Returns the descriptor; -1 with errno on failure. */
int openevent(struct perf_event_attr *attr, pid_t pid, int cpu, unsigned long flags, bool user_only);

#endif
