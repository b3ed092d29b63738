/* SPDX-License-Identifier: Apache-2.0 */
#include "record/offcpu/leftout.h"

/* Returns the index of the entry of a process; LEFTOUT_MAX if the process is not in the set. For pid 0 returns a free
 * entry; LEFTOUT_MAX if there is none. */
static size_t leftout_place(const struct leftout *leftout, uint32_t pid)
{
	size_t i = 0;

	while (i < LEFTOUT_MAX && leftout->pid[i] != pid)
		i++;
	return i;
}

bool leftout_has(const struct leftout *leftout, uint32_t pid)
{
	return pid && leftout->n + leftout->nended && leftout_place(leftout, pid) < LEFTOUT_MAX;
}

/* Removes the process of entry i. */
static void leftout_free(struct leftout *leftout, size_t i)
{
	if (leftout->ended[i])
		leftout->nended--;
	else
		leftout->n--;
	leftout->pid[i] = 0;
	leftout->ended[i] = false;
}

/* Returns the index of an entry for a new process: a free entry, otherwise the entry of a process that has ended, after
 * removing that process. Returns LEFTOUT_MAX if there is neither. */
static size_t leftout_space(struct leftout *leftout)
{
	size_t place = leftout_place(leftout, 0);

	if (place < LEFTOUT_MAX || !leftout->nended)
		return place;
	for (place = 0; !leftout->ended[place]; place++)
		;
	leftout_free(leftout, place);
	return place;
}

static void leftout_drop(struct leftout *leftout, uint32_t pid)
{
	if (leftout_has(leftout, pid))
		leftout_free(leftout, leftout_place(leftout, pid));
}

void leftout_add(struct leftout *leftout, uint32_t pid)
{
	size_t place = leftout_place(leftout, pid);

	/* callers add only running processes, so an entry that is marked as ended belongs to an earlier process with
	 * this pid */
	if (pid && place < LEFTOUT_MAX && leftout->ended[place])
		leftout_free(leftout, place);
	place = pid && !leftout_has(leftout, pid) ? leftout_space(leftout) : LEFTOUT_MAX;
	if (place == LEFTOUT_MAX)
		return;
	leftout->pid[place] = pid;
	leftout->n++;
}

void leftout_clear(struct leftout *leftout)
{
	*leftout = (struct leftout){ .n = 0 };
}

static void leftout_end(struct leftout *leftout, uint32_t pid)
{
	size_t place = leftout_has(leftout, pid) ? leftout_place(leftout, pid) : LEFTOUT_MAX;

	if (place == LEFTOUT_MAX || leftout->ended[place])
		return;
	leftout->ended[place] = true;
	leftout->n--;
	leftout->nended++;
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
	if (head->type == RECORD_EXIT) {
		leftout_end(leftout, pid);
		return before;
	}
	leftout_drop(leftout, pid);
	if (leftout->n < LEFTOUT_MAX - LEFTOUT_RESERVED && leftout_has(leftout, load32(body + 4)))
		leftout_add(leftout, pid);
	return leftout_has(leftout, pid);
}
