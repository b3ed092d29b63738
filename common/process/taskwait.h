/* SPDX-License-Identifier: Apache-2.0 */
/*
 * taskwait.h - the questions of taskid.h, and files of /proc/PID, in limited time.
 *
 * A process can make every reader of its stat, maps, mem, root, ns/... wait for ever (timelimit.h; docs/ARCHITECTURE.md
 * names the files). A daemon that reads all processes uses this module: a request without an answer after TASKWAIT_MS
 * is given up (later, up to a second, while the thread waits for a CPU), and the tenant of that process rests for 20
 * times as long.
 */
#ifndef PJ_TASKWAIT_H
#define PJ_TASKWAIT_H

#include "common/process/taskid.h"
#include "common/text.h"

enum { TASKWAIT_MS = 50 };

/* Returns taskid_is(process, id); false if there is no answer in time. */
bool taskwait_is(int process, const struct taskid *id);

/* Return the answers of taskid_check and taskid_open_memory; TASKID_DENIED with errno ETIMEDOUT if there is none in
 * time. */
enum taskid_answer taskwait_check(int process, const struct taskid *id, struct taskid_user *user);
enum taskid_answer taskwait_open_memory(int process, const struct taskid *id, struct taskid_user *user, int *fd);

/* Reads at most max bytes of a file in the process's /proc/PID (fullio_read_at) into text. Returns false with errno,
 * ETIMEDOUT if there is no answer in time. */
bool taskwait_read(int process, const char *name, struct text *text, size_t max);

/* Reads the target of a symbolic link in the process's /proc/PID (root, cwd, exe), at most max bytes, into text.
 * Returns false with errno, ETIMEDOUT if there is no answer in time. */
bool taskwait_link(int process, const char *name, struct text *text, size_t max);

/* Opens a folder in the process's /proc/PID (root, cwd) with O_PATH. Returns -1 with errno, ETIMEDOUT if there is no
 * answer in time. */
int taskwait_folder(int process, const char *name);

#endif
