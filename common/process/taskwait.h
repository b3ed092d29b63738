/* SPDX-License-Identifier: Apache-2.0 */
/*
 * taskwait.h - the questions of taskid.h, and files of /proc/PID, in limited time.
 *
 * A process can make every reader of its stat, maps, mem, root, ns/... wait for ever (timelimit.h; docs/ARCHITECTURE.md
 * names the files). A daemon that reads all processes uses this module: a request without an answer after TASKWAIT_MS
 * is given up, and the tenant of that process rests for a second.
 */
#ifndef PJ_TASKWAIT_H
#define PJ_TASKWAIT_H

#include "common/process/taskid.h"
#include "common/text.h"

enum { TASKWAIT_MS = 50 };

/* taskid_is; false also without an answer. */
bool taskwait_is(int process, const struct taskid *id);

/* As those of taskid.h; TASKID_DENIED, errno ETIMEDOUT, without an answer. */
enum taskid_answer taskwait_check(int process, const struct taskid *id, struct taskid_user *user);
enum taskid_answer taskwait_open_memory(int process, const struct taskid *id, struct taskid_user *user, int *fd);

/* whole_read_at: the bytes of a file of the process, `most` at most. False and errno, ETIMEDOUT without an answer. */
bool taskwait_read(int process, const char *name, struct text *text, size_t max);

/* The target of a symbolic link of the process (root, cwd, exe), its first `most` bytes. False and errno, ETIMEDOUT
 * without an answer. */
bool taskwait_link(int process, const char *name, struct text *text, size_t max);

/* A folder of the process (root, cwd), of O_PATH. -1 and errno, ETIMEDOUT without an answer. */
int taskwait_folder(int process, const char *name);

#endif
