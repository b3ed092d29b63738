/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/jit/timelines.h"

#include "common/arena.h"
#include "common/filter/boot.h"
#include "common/filter/broker.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void timelines_open(struct timelines *timelines, const char *maps, const struct symstore *symstore,
		    const struct provenance *origin)
{
	*timelines = (struct timelines){ .dir = -1, .symstore = symstore };
	if (maps) {
		timelines->dir = broker_open(AT_FDCWD, maps, O_DIRECTORY);
		if (timelines->dir < 0)
			die_errno("cannot list '%s'", maps);
	} else if (symstore && symstore->dir >= 0) {
		timelines->dir = broker_open(symstore->dir, "maps", O_DIRECTORY | O_NOFOLLOW);
	}
	if (symstore && symstore->who->boot.n == 36)
		snprintf(timelines->boot, sizeof(timelines->boot), "%.*s", 36, symstore->who->boot.p);
	else if (origin->boot)
		boot_id("/proc", timelines->boot);
}

/* Returns the start time of the process with this pid if there is exactly one timeline file for the pid; otherwise 0.
 */
static uint64_t only_start(const struct timelines *timelines, uint32_t pid)
{
	char prefix[24];
	int fd = broker_open(timelines->dir, timelines->boot, O_DIRECTORY | O_NOFOLLOW);
	struct text names = { 0 };
	uint64_t start = 0, one;
	unsigned n = 0;

	if (fd < 0)
		return 0;
	broker_names(fd, &names);
	close(fd);
	snprintf(prefix, sizeof(prefix), "%u-", (unsigned)pid);
	for (struct str left = text_view(&names); left.n;) {
		struct str name = str_cut(&left, 0);

		if (!str_starts(name, str_of(prefix)) || !str_ends(name, STR(".jmap")))
			continue;
		name = str_from(str_head(name, name.n - strlen(".jmap")), strlen(prefix));
		if (str_u64(name, &one)) {
			start = one;
			n++;
		}
	}
	text_free(&names);
	return n == 1 ? start : 0;
}

/* Opens the timeline of process `pid`. Returns NULL if the process has no timeline, or if the file cannot be used; adds
 * an unusable file to timelines->errors. */
static struct timeline *timelines_open_one(struct timelines *timelines, uint32_t pid)
{
	const struct pj_process *process = timelines->symstore && timelines->symstore->who->is ?
						   recorder_process(timelines->symstore->who, pid) :
						   NULL;
	uint64_t start = process                                             ? process->start :
			 timelines->symstore && timelines->symstore->who->is ? 0 :
									       only_start(timelines, pid),
		 at;
	struct timeline *timeline;
	const char *why;
	char path[96];
	int fd;

	if (start == 0)
		return NULL;
	snprintf(path, sizeof(path), "%s/%u-%llu.jmap", timelines->boot, (unsigned)pid, (unsigned long long)start);
	fd = broker_open(timelines->dir, path, O_NOFOLLOW);
	if (fd < 0)
		return NULL;
	timeline = timeline_open(fd, &why);
	if (!timeline) {
		inputerrors_note(&timelines->errors, 1, "maps/%s: %s", path, why);
		return NULL;
	}
	timelines->found++;
	timelines->left_out += timeline_left_out(timeline);
	at = timeline_bad(timeline, &why);
	if (at)
		inputerrors_note(&timelines->errors, 1, "maps/%s@%llu: %s", path, (unsigned long long)at, why);
	return timeline;
}

struct timeline *timelines_of(struct timelines *timelines, uint32_t pid)
{
	size_t low = 0, high = timelines->n;

	if (timelines->dir < 0 || !timelines->boot[0])
		return NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (timelines->one[middle].pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < timelines->n && timelines->one[low].pid == pid)
		return timelines->one[low].t;
	if (timelines->n == timelines->cap) {
		timelines->cap = timelines->cap ? timelines->cap * 2 : 16;
		timelines->one = mem_grow(timelines->one, sizeof(*timelines->one), timelines->cap);
	}
	memmove(&timelines->one[low + 1], &timelines->one[low], (timelines->n - low) * sizeof(*timelines->one));
	timelines->n++;
	timelines->one[low] = (struct timelines_one){ pid, NULL };
	return timelines->one[low].t = timelines_open_one(timelines, pid);
}

void timelines_close(struct timelines *timelines)
{
	for (size_t i = 0; i < timelines->n; i++)
		timeline_close(timelines->one[i].t);
	free(timelines->one);
	if (timelines->dir >= 0)
		close(timelines->dir);
	*timelines = (struct timelines){ .dir = -1 };
}
