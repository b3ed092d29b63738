/* SPDX-License-Identifier: Apache-2.0 */
#include "common/process/taskwait.h"

#include "common/arena.h"
#include "common/process/tenants.h"
#include "common/process/timelimit.h"
#include "common/files/fullio.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum question { IS, CHECK, OPEN_MEMORY, READ, OPEN_FOLDER, LINK };

struct job {
	enum question question;
	int process;
	struct taskid id;
	char name[32]; /* name of the file in /proc/PID for READ, OPEN_FOLDER and LINK */
	size_t max;
	/* the members from here on are the result, which the thread sets */
	enum taskid_answer answer; /* result of the check; for IS, READ and LINK, TASKID_SAME stands for success */
	int error;
	struct taskid_user user;
	int fd;
	struct text bytes;
};

static bool read_link(struct job *job)
{
	ssize_t got;

	text_reserve(&job->bytes, job->max);
	got = readlinkat(job->process, job->name, job->bytes.p, job->max);
	job->bytes.n = got < 0 ? 0 : (size_t)got;
	return got >= 0;
}

static void taskwait_work(void *arg)
{
	struct job *job = arg;

	switch (job->question) {
	case IS: job->answer = taskid_is(job->process, &job->id) ? TASKID_SAME : TASKID_GONE; break;
	case CHECK: job->answer = taskid_check(job->process, &job->id, &job->user); break;
	case OPEN_MEMORY: job->answer = taskid_open_memory(job->process, &job->id, &job->user, &job->fd); break;
	case READ:
		job->answer =
			fullio_read_at(job->process, job->name, &job->bytes, job->max) ? TASKID_SAME : TASKID_DENIED;
		break;
	case OPEN_FOLDER: job->fd = openat(job->process, job->name, O_PATH | O_DIRECTORY | O_CLOEXEC); break;
	case LINK: job->answer = read_link(job) ? TASKID_SAME : TASKID_DENIED; break;
	}
	job->error = errno;
}

static void taskwait_drop(void *arg)
{
	struct job *job = arg;

	if (job->process >= 0)
		close(job->process);
	if (job->fd >= 0)
		close(job->fd);
	text_free(&job->bytes);
	free(job);
}

static uint64_t taskwait_find_place(void *arg)
{
	const struct job *job = arg;

	return tenant_place(job->process);
}

/* Does one job for the process with descriptor `process` of its /proc/PID, with a time limit. id: for IS, CHECK and
 * OPEN_MEMORY; name, and max, the limit for the bytes to read: for READ and LINK; name also for OPEN_FOLDER. Returns
 * the job with the result, which the caller frees with taskwait_drop; NULL with errno if there is no result in time. */
static struct job *taskwait_query(enum question question, int process, const struct taskid *id, const char *name,
				  size_t max)
{
	struct job *job = mem_alloc(sizeof(*job), 1);

	*job = (struct job){
		.question = question, .process = fcntl(process, F_DUPFD_CLOEXEC, 0), .fd = -1, .max = max
	};
	if (id)
		job->id = *id;
	snprintf(job->name, sizeof(job->name), "%s", name);
	if (timelimit_call(&(struct timelimit_call){ taskwait_work, taskwait_drop, taskwait_find_place, job,
						     TASKWAIT_MS, 20 * TASKWAIT_MS }))
		return job;
	return NULL;
}

bool taskwait_is(int process, const struct taskid *id)
{
	struct job *job = taskwait_query(IS, process, id, "", 0);
	bool same = job && job->answer == TASKID_SAME;

	if (job)
		taskwait_drop(job);
	return same;
}

enum taskid_answer taskwait_check(int process, const struct taskid *id, struct taskid_user *user)
{
	struct job *job = taskwait_query(CHECK, process, id, "", 0);
	enum taskid_answer answer = job ? job->answer : TASKID_DENIED;

	if (job) {
		*user = job->user;
		taskwait_drop(job);
	}
	return answer;
}

enum taskid_answer taskwait_open_memory(int process, const struct taskid *id, struct taskid_user *user, int *fd)
{
	struct job *job = taskwait_query(OPEN_MEMORY, process, id, "", 0);
	enum taskid_answer answer = job ? job->answer : TASKID_DENIED;
	int error = job ? job->error : errno;

	*fd = -1;
	if (job) {
		*fd = job->fd;
		*user = job->user;
		job->fd = -1;
		taskwait_drop(job);
	}
	errno = error;
	return answer;
}

static bool query_bytes(enum question question, int process, const char *name, struct text *text, size_t max)
{
	struct job *job = taskwait_query(question, process, NULL, name, max);
	bool good = job && job->answer == TASKID_SAME;
	int error = job ? job->error : errno;

	if (job) {
		struct text before = *text;

		/* exchanges the buffers of text and job, so that taskwait_drop frees the old buffer of text */
		*text = job->bytes;
		job->bytes = before;
		taskwait_drop(job);
	}
	errno = error;
	return good;
}

bool taskwait_read(int process, const char *name, struct text *text, size_t max)
{
	return query_bytes(READ, process, name, text, max);
}

bool taskwait_link(int process, const char *name, struct text *text, size_t max)
{
	return query_bytes(LINK, process, name, text, max);
}

int taskwait_folder(int process, const char *name)
{
	struct job *job = taskwait_query(OPEN_FOLDER, process, NULL, name, 0);
	int fd = job ? job->fd : -1, error = job ? job->error : errno;

	if (job) {
		job->fd = -1;
		taskwait_drop(job);
	}
	errno = error;
	return fd;
}
