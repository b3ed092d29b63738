/* SPDX-License-Identifier: Apache-2.0 */
#include "record/java/jvmopen.h"

#include "common/arena.h"
#include "common/process/tenants.h"
#include "common/process/timelimit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct hotspot_reason open_files(struct jvmopen *jvmopen)
{
	enum taskid_answer answer;
	struct stat status;

	if (!taskid_read(jvmopen->process, &jvmopen->id) || (jvmopen->start && jvmopen->id.start != jvmopen->start))
		return hotspot_refusal(TASKID_GONE);
	answer = taskid_open_memory_for(jvmopen->reader, jvmopen->process, &jvmopen->id, &jvmopen->user,
					&jvmopen->fd[JVM_FD_MEM]);
	if (answer != TASKID_SAME)
		return hotspot_refusal(answer);
	jvmopen->fd[JVM_FD_MAPS] = openat(jvmopen->process, "maps", O_RDONLY | O_CLOEXEC);
	if (jvmopen->fd[JVM_FD_MAPS] < 0)
		return hotspot_refusal(TASKID_DENIED);
	jvmopen->mount_ns = fstatat(jvmopen->process, "ns/mnt", &status, 0) == 0 ? status.st_ino : 0;
	return hotspot_refusal(taskid_is(jvmopen->process, &jvmopen->id) ? TASKID_SAME : TASKID_GONE);
}

static void run_open(void *arg)
{
	struct jvmopen *jvmopen = arg;

	jvmopen->why = open_files(jvmopen);
}

void jvmopen_free(struct jvmopen *jvmopen)
{
	if (jvmopen->process >= 0)
		close(jvmopen->process);
	for (size_t i = 0; i < JVM_FDS; i++)
		if (jvmopen->fd[i] >= 0)
			close(jvmopen->fd[i]);
	free(jvmopen);
}

static uint64_t jvmopen_find_place(void *arg)
{
	const struct jvmopen *jvmopen = arg;

	return tenant_place(jvmopen->process);
}

static void drop_open(void *arg)
{
	jvmopen_free(arg);
}

struct jvmopen *jvmopen_files(int process, uint64_t start, enum taskid_reader reader, struct hotspot_reason *why)
{
	struct jvmopen *jvmopen;

	*why = hotspot_refusal(TASKID_GONE);
	if (process < 0)
		return NULL;
	jvmopen = mem_alloc(sizeof(*jvmopen), 1);
	*jvmopen = (struct jvmopen){ .process = fcntl(process, F_DUPFD_CLOEXEC, 0), .start = start, .reader = reader };
	for (size_t i = 0; i < JVM_FDS; i++)
		jvmopen->fd[i] = -1;
	if (!timelimit_call(&(struct timelimit_call){ run_open, drop_open, jvmopen_find_place, jvmopen, JVMOPEN_MS,
						      20 * JVMOPEN_MS }))
		return NULL;
	*why = jvmopen->why;
	if (!jvmopen->why.code)
		return jvmopen;
	jvmopen_free(jvmopen);
	return NULL;
}
