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
	char name[32]; /* READ, OPEN_FOLDER, LINK */
	size_t max;
	/* the answer */
	enum taskid_answer answer; /* IS, READ, LINK: TASKID_SAME is true */
	int error;
	struct taskid_user user;
	int fd;
	struct text bytes;
};

static bool read_link(struct job *j)
{
	ssize_t n;

	text_reserve(&j->bytes, j->max);
	n = readlinkat(j->process, j->name, j->bytes.p, j->max);
	j->bytes.n = n < 0 ? 0 : (size_t)n;
	return n >= 0;
}

static void taskwait_work(void *arg)
{
	struct job *j = arg;

	switch (j->question) {
	case IS: j->answer = taskid_is(j->process, &j->id) ? TASKID_SAME : TASKID_GONE; break;
	case CHECK: j->answer = taskid_check(j->process, &j->id, &j->user); break;
	case OPEN_MEMORY: j->answer = taskid_open_memory(j->process, &j->id, &j->user, &j->fd); break;
	case READ:
		j->answer = fullio_read_at(j->process, j->name, &j->bytes, j->max) ? TASKID_SAME : TASKID_DENIED;
		break;
	case OPEN_FOLDER: j->fd = openat(j->process, j->name, O_PATH | O_DIRECTORY | O_CLOEXEC); break;
	case LINK: j->answer = read_link(j) ? TASKID_SAME : TASKID_DENIED; break;
	}
	j->error = errno;
}

static void taskwait_drop(void *arg)
{
	struct job *j = arg;

	if (j->process >= 0)
		close(j->process);
	if (j->fd >= 0)
		close(j->fd);
	text_free(&j->bytes);
	free(j);
}

static uint64_t taskwait_find_place(void *arg)
{
	const struct job *j = arg;

	return tenant_place(j->process);
}

/* NULL and errno: no answer. The caller drops it. */
static struct job *taskwait_query(enum question question, int process, const struct taskid *id, const char *name,
				  size_t max)
{
	struct job *j = mem_alloc(sizeof(*j), 1);

	*j = (struct job){ .question = question, .process = fcntl(process, F_DUPFD_CLOEXEC, 0), .fd = -1, .max = max };
	if (id)
		j->id = *id;
	snprintf(j->name, sizeof(j->name), "%s", name);
	if (timelimit_call(&(struct timelimit_call){ taskwait_work, taskwait_drop, taskwait_find_place, j, TASKWAIT_MS,
						     20 * TASKWAIT_MS }))
		return j;
	return NULL;
}

bool taskwait_is(int process, const struct taskid *id)
{
	struct job *j = taskwait_query(IS, process, id, "", 0);
	bool same = j && j->answer == TASKID_SAME;

	if (j)
		taskwait_drop(j);
	return same;
}

enum taskid_answer taskwait_check(int process, const struct taskid *id, struct taskid_user *user)
{
	struct job *j = taskwait_query(CHECK, process, id, "", 0);
	enum taskid_answer answer = j ? j->answer : TASKID_DENIED;

	if (j) {
		*user = j->user;
		taskwait_drop(j);
	}
	return answer;
}

enum taskid_answer taskwait_open_memory(int process, const struct taskid *id, struct taskid_user *user, int *fd)
{
	struct job *j = taskwait_query(OPEN_MEMORY, process, id, "", 0);
	enum taskid_answer answer = j ? j->answer : TASKID_DENIED;
	int error = j ? j->error : errno;

	*fd = -1;
	if (j) {
		*fd = j->fd;
		*user = j->user;
		j->fd = -1;
		taskwait_drop(j);
	}
	errno = error;
	return answer;
}

static bool query_bytes(enum question question, int process, const char *name, struct text *t, size_t max)
{
	struct job *j = taskwait_query(question, process, NULL, name, max);
	bool good = j && j->answer == TASKID_SAME;
	int error = j ? j->error : errno;

	if (j) {
		struct text before = *t;

		*t = j->bytes; /* the buffer of t is reused by nobody: it is freed with the job */
		j->bytes = before;
		taskwait_drop(j);
	}
	errno = error;
	return good;
}

bool taskwait_read(int process, const char *name, struct text *t, size_t max)
{
	return query_bytes(READ, process, name, t, max);
}

bool taskwait_link(int process, const char *name, struct text *t, size_t max)
{
	return query_bytes(LINK, process, name, t, max);
}

int taskwait_folder(int process, const char *name)
{
	struct job *j = taskwait_query(OPEN_FOLDER, process, NULL, name, 0);
	int fd = j ? j->fd : -1, error = j ? j->error : errno;

	if (j) {
		j->fd = -1;
		taskwait_drop(j);
	}
	errno = error;
	return fd;
}
