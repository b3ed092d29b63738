/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/jit/timelines.h"

#include "common/arena.h"
#include "common/filter/boot.h"
#include "common/filter/broker.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void timelines_open(struct timelines *s, const char *maps, const struct symstore *symstore,
		    const struct provenance *origin)
{
	*s = (struct timelines){ .dir = -1, .symstore = symstore };
	if (maps) {
		s->dir = broker_open(AT_FDCWD, maps, O_DIRECTORY);
		if (s->dir < 0)
			die_errno("cannot look into '%s'", maps);
	} else if (symstore && symstore->dir >= 0) {
		s->dir = broker_open(symstore->dir, "maps", O_DIRECTORY | O_NOFOLLOW);
	}
	if (symstore && symstore->who->boot.n == 36)
		snprintf(s->boot, sizeof(s->boot), "%.*s", 36, symstore->who->boot.p);
	else if (origin->boot)
		boot_id("/proc", s->boot);
}

/* When the process began, by the only file that is there of its number; 0: none, or several. */
static uint64_t only_start(const struct timelines *s, uint32_t pid)
{
	char prefix[24];
	int fd = broker_open(s->dir, s->boot, O_DIRECTORY | O_NOFOLLOW);
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

static struct timeline *timelines_open_one(struct timelines *s, uint32_t pid)
{
	const struct pj_process *p =
		s->symstore && s->symstore->who->is ? recorder_process(s->symstore->who, pid) : NULL;
	uint64_t start = p ? p->start : s->symstore && s->symstore->who->is ? 0 : only_start(s, pid), at;
	struct timeline *t;
	const char *why;
	char path[96];
	int fd;

	if (start == 0)
		return NULL;
	snprintf(path, sizeof(path), "%s/%u-%llu.jmap", s->boot, (unsigned)pid, (unsigned long long)start);
	fd = broker_open(s->dir, path, O_NOFOLLOW);
	if (fd < 0)
		return NULL;
	t = timeline_open(fd, &why);
	if (!t) {
		inputerrors_note(&s->errors, 1, "maps/%s: %s", path, why);
		return NULL;
	}
	s->found++;
	s->left_out += timeline_left_out(t);
	at = timeline_bad(t, &why);
	if (at)
		inputerrors_note(&s->errors, 1, "maps/%s@%llu: %s", path, (unsigned long long)at, why);
	return t;
}

struct timeline *timelines_of(struct timelines *s, uint32_t pid)
{
	size_t low = 0, high = s->n;

	if (s->dir < 0 || !s->boot[0])
		return NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->one[middle].pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < s->n && s->one[low].pid == pid)
		return s->one[low].t;
	if (s->n == s->cap) {
		s->cap = s->cap ? s->cap * 2 : 16;
		s->one = mem_grow(s->one, sizeof(*s->one), s->cap);
	}
	memmove(&s->one[low + 1], &s->one[low], (s->n - low) * sizeof(*s->one));
	s->n++;
	s->one[low] = (struct timelines_one){ pid, NULL };
	return s->one[low].t = timelines_open_one(s, pid);
}

void timelines_close(struct timelines *s)
{
	for (size_t i = 0; i < s->n; i++)
		timeline_close(s->one[i].t);
	free(s->one);
	if (s->dir >= 0)
		close(s->dir);
	*s = (struct timelines){ .dir = -1 };
}
