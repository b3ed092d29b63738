/* SPDX-License-Identifier: Apache-2.0 */
/*
 * taskwait.h - the checks of taskid.h, and reads of files in /proc/PID, with a time limit.
 *
 * A process can block every reader of its stat, maps, mem, root or ns/... for ever (timelimit.h; docs/ARCHITECTURE.md
 * lists the files). A daemon that reads all processes uses this module. The module gives up a request that is not
 * answered within TASKWAIT_MS (up to a second, while the reading thread waits for a CPU). Then requests for the tenant
 * of this process fail at once for 20 times that time.
 *
 * Errors of all functions here: ETIMEDOUT if the process did not answer in time; EBUSY if the process was not read at
 * all, because a process of the same tenant did not answer shortly before, or because too many processes do not answer
 * now (timelimit_call).
 */
#ifndef PJ_TASKWAIT_H
#define PJ_TASKWAIT_H

#include "common/process/taskid.h"
#include "common/text.h"

#include <errno.h>

enum { TASKWAIT_MS = 50 };

/* Returns true if `error`, the errno of a failure, is ETIMEDOUT or EBUSY. */
static inline bool taskwait_is_unanswered(int error)
{
	return error == ETIMEDOUT || error == EBUSY;
}

/* Returns taskid_is(process, id), or false if there is no result in time. In all functions here, `process` is a
 * descriptor of /proc/PID. */
bool taskwait_is(int process, const struct taskid *id);

/* Return the result of taskid_check or taskid_open_memory; TASKID_DENIED with errno if there is no result in time. */
enum taskid_answer taskwait_check(int process, const struct taskid *id, struct taskid_user *user);
enum taskid_answer taskwait_open_memory(int process, const struct taskid *id, struct taskid_user *user, int *fd);

/* Replaces text by the contents of the file `name` in /proc/PID. Returns false with errno, EFBIG if the file has max
 * bytes or more (fullio_read_at). */
bool taskwait_read(int process, const char *name, struct text *text, size_t max);

/* Reads the target of the symbolic link `name` in /proc/PID (root, cwd, exe), at most max bytes, into text. Returns
 * false with errno. */
bool taskwait_link(int process, const char *name, struct text *text, size_t max);

/* Opens the folder `name` in /proc/PID (root, cwd) with O_PATH. Returns -1 with errno. */
int taskwait_folder(int process, const char *name);

#endif
