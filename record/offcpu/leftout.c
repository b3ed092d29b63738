/* SPDX-License-Identifier: Apache-2.0 */
#include "record/offcpu/leftout.h"

/* Returns the entry of a process; NULL if the process is not in the set. For pid 0 returns a free entry; NULL if there
 * is none. */
static uint32_t *leftout_place(struct leftout *leftout, uint32_t pid)
{
	for (size_t i = 0; i < LEFTOUT_MAX; i++)
		if (leftout->pid[i] == pid)
			return &leftout->pid[i];
	return NULL;
}

bool leftout_has(const struct leftout *leftout, uint32_t pid)
{
	if (!pid || !leftout->n)
		return false;
	for (size_t i = 0; i < LEFTOUT_MAX; i++)
		if (leftout->pid[i] == pid)
			return true;
	return false;
}

void leftout_add(struct leftout *leftout, uint32_t pid)
{
	uint32_t *place = leftout_has(leftout, pid) ? NULL : leftout_place(leftout, 0);

	if (!pid || !place)
		return;
	*place = pid;
	leftout->n++;
}

void leftout_clear(struct leftout *leftout)
{
	*leftout = (struct leftout){ .n = 0 };
}

static void leftout_drop(struct leftout *leftout, uint32_t pid)
{
	if (!leftout_has(leftout, pid))
		return;
	*leftout_place(leftout, pid) = 0;
	leftout->n--;
}

bool leftout_record(struct leftout *leftout, const struct ring_record *record)
{
	const struct perf_record *head = record->head;
	const char *body = (const char *)(head + 1);
	bool before;
	uint32_t pid;

	if (record->kind != RING_OF_STATE || head->size < sizeof(*head) + 16)
		return false;
	pid = load32(body);
	before = leftout_has(leftout, pid);
	/* The body of FORK and EXIT begins with pid, ppid, tid, ptid. The record is of a process if pid and tid are
	 * equal, else of a further thread. */
	if ((head->type != RECORD_FORK && head->type != RECORD_EXIT) || load32(body + 8) != pid)
		return before;
	leftout_drop(leftout, pid);
	if (head->type == RECORD_EXIT)
		return before;
	if (leftout->n < LEFTOUT_MAX - LEFTOUT_RESERVED && leftout_has(leftout, load32(body + 4)))
		leftout_add(leftout, pid);
	return leftout_has(leftout, pid);
}
