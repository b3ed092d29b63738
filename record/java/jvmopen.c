/* SPDX-License-Identifier: Apache-2.0 */
#include "record/java/jvmopen.h"

#include "common/arena.h"
#include "common/process/tenants.h"
#include "common/process/timelimit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct hotspot_reason open_files(struct jvmopen *o)
{
	enum taskid_answer answer;
	struct stat st;

	if (!taskid_read(o->process, &o->id) || (o->start && o->id.start != o->start))
		return hotspot_refusal(TASKID_GONE);
	answer = taskid_open_memory(o->process, &o->id, &o->user, &o->fd[JVM_FD_MEM]);
	if (answer != TASKID_SAME)
		return hotspot_refusal(answer);
	o->fd[JVM_FD_MAPS] = openat(o->process, "maps", O_RDONLY | O_CLOEXEC);
	if (o->fd[JVM_FD_MAPS] < 0)
		return hotspot_refusal(TASKID_DENIED);
	o->mount_ns = fstatat(o->process, "ns/mnt", &st, 0) == 0 ? st.st_ino : 0;
	return hotspot_refusal(taskid_is(o->process, &o->id) ? TASKID_SAME : TASKID_GONE);
}

static void run_open(void *arg)
{
	struct jvmopen *o = arg;

	o->why = open_files(o);
}

void jvmopen_free(struct jvmopen *o)
{
	if (o->process >= 0)
		close(o->process);
	for (size_t i = 0; i < JVM_FDS; i++)
		if (o->fd[i] >= 0)
			close(o->fd[i]);
	free(o);
}

static uint64_t jvmopen_find_place(void *arg)
{
	const struct jvmopen *o = arg;

	return tenant_place(o->process);
}

static void drop_open(void *arg)
{
	jvmopen_free(arg);
}

struct jvmopen *jvmopen_files(int process, uint64_t start, struct hotspot_reason *why)
{
	struct jvmopen *o;

	*why = hotspot_refusal(TASKID_GONE);
	if (process < 0)
		return NULL;
	o = mem_alloc(sizeof(*o), 1);
	*o = (struct jvmopen){ .process = fcntl(process, F_DUPFD_CLOEXEC, 0), .start = start };
	for (size_t i = 0; i < JVM_FDS; i++)
		o->fd[i] = -1;
	if (!timelimit_call(&(struct timelimit_call){ run_open, drop_open, jvmopen_find_place, o, JVMOPEN_MS,
						      20 * JVMOPEN_MS }))
		return NULL;
	*why = o->why;
	if (!o->why.code)
		return o;
	jvmopen_free(o);
	return NULL;
}
