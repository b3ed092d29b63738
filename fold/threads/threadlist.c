/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/threads/threadlist.h"

#include "fold/threads/threadstacks.h"

#include <stdlib.h>

/* Sets *id to the number at the start of *line, and removes the number and the blank or tab after it. Returns false if
 * the line is malformed. */
static bool take_id(struct str *line, uint32_t *id)
{
	size_t n = 0;
	uint64_t value;

	while (n < line->n && line->p[n] >= '0' && line->p[n] <= '9')
		n++;
	if (!str_u64(str_head(*line, n), &value) || value > UINT32_MAX)
		return false;
	*id = (uint32_t)value;
	*line = str_from(*line, n);
	if (!line->n)
		return true;
	if (line->p[0] != ' ' && line->p[0] != '\t')
		return false;
	*line = str_from(*line, 1);
	return true;
}

bool threadlist_line(struct threadlist *threadlist, struct str line)
{
	struct listed_thread thread;

	if (!take_id(&line, &thread.pid) || !take_id(&line, &thread.tid))
		return false;
	thread.name = arena_copy(&threadlist->names, line);
	threadlist->thread = mem_more(threadlist->thread, sizeof(*threadlist->thread), threadlist->n);
	threadlist->thread[threadlist->n++] = thread;
	return true;
}

static int threadlist_cmp(const void *left, const void *right)
{
	const struct listed_thread *thread = left, *other = right;

	return threadstacks_order(thread->pid, thread->tid, other->pid, other->tid);
}

void threadlist_sort(struct threadlist *threadlist)
{
	size_t n = 0;

	if (threadlist->n)
		qsort(threadlist->thread, threadlist->n, sizeof(*threadlist->thread), threadlist_cmp);
	for (size_t i = 0; i < threadlist->n; i++)
		if (n == 0 || threadlist_cmp(&threadlist->thread[n - 1], &threadlist->thread[i]) != 0)
			threadlist->thread[n++] = threadlist->thread[i];
	threadlist->n = n;
}

void threadlist_free(struct threadlist *threadlist)
{
	free(threadlist->thread);
	arena_free(&threadlist->names);
}
