/* SPDX-License-Identifier: Apache-2.0 */
#include "record/session/ownprocesses.h"

#include "common/arena.h"
#include "common/str.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* maximum number of generations of helper processes below pjrecord or its parent */
enum { DEPTH = 4 };

/* ---- choice of the processes to leave out ----------------------------------------------------------------------- */

static bool is_helper(const struct ownprocesses_row *row)
{
	struct str comm = str_of(row->comm);

	return str_starts(comm, STR("pjrecord")) || str_starts(comm, STR("pjmap"));
}

static bool is_starter(const struct ownprocesses_row *row)
{
	return strcmp(row->comm, "pjflame") == 0 || strcmp(row->comm, "pjprofile") == 0;
}

/* Pids of the processes of the recording that were found so far. */
struct choice {
	uint32_t pid[OWNPROCESSES_MAX];
	size_t n;
};

static bool ownprocesses_is_chosen(const struct choice *choice, uint32_t pid)
{
	for (size_t i = 0; i < choice->n; i++)
		if (choice->pid[i] == pid)
			return true;
	return false;
}

static void ownprocesses_choose(struct choice *choice, uint32_t pid)
{
	if (choice->n < OWNPROCESSES_MAX && !ownprocesses_is_chosen(choice, pid))
		choice->pid[choice->n++] = pid;
}

/* Any user may start any number of processes with the names of helper processes. So the effort is limited to n *
 * OWNPROCESSES_MAX steps for each of DEPTH generations. */
void ownprocesses_of(const struct ownprocesses_row *row, size_t n, const struct ownprocesses_pids *pids,
		     void (*add)(void *to, uint32_t pid), void *to)
{
	struct choice choice = { .n = 0 };

	for (size_t i = 0; i < n; i++)
		if (row[i].pid == pids->self || (pids->parent && row[i].pid == pids->parent && is_starter(&row[i])))
			ownprocesses_choose(&choice, row[i].pid);
	for (unsigned depth = 0; depth < DEPTH && choice.n < OWNPROCESSES_MAX; depth++)
		for (size_t i = 0; i < n; i++)
			if (row[i].pid != pids->command && is_helper(&row[i]) &&
			    ownprocesses_is_chosen(&choice, row[i].ppid))
				ownprocesses_choose(&choice, row[i].pid);
	for (size_t i = 0; i < choice.n; i++)
		add(to, choice.pid[i]);
}

/* ---- reading of /proc ------------------------------------------------------------------------------------------- */

/* Reads pid, parent and name of a process from /proc/PID/stat; pid: as text. Returns false if the process has ended. */
static bool read_row(const char *pid, struct ownprocesses_row *row)
{
	char path[64], text[512];
	const char *open_at, *end;
	size_t n;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[got < 0 ? 0 : got] = 0;
	open_at = strchr(text, '(');
	end = strrchr(text, ')');
	if (!open_at || !end || end < open_at || !end[1] || !end[2] || !end[3])
		return false;
	n = (size_t)(end - open_at - 1);
	n = n < sizeof(row->comm) - 1 ? n : sizeof(row->comm) - 1;
	*row = (struct ownprocesses_row){ .pid = (uint32_t)strtoul(pid, NULL, 10),
					  .ppid = (uint32_t)strtoul(end + 4, NULL, 10) };
	memcpy(row->comm, open_at + 1, n);
	return row->pid;
}

static void leave_out(void *to, uint32_t pid)
{
	switches_leave_out(to, pid);
}

void ownprocesses_leave_out(struct switches *switches, uint32_t parent, uint32_t command)
{
	const struct ownprocesses_pids pids = { .self = (uint32_t)getpid(), .parent = parent, .command = command };
	struct ownprocesses_row *rows = NULL, row;
	const struct dirent *entry;
	DIR *dir = switches ? opendir("/proc") : NULL;
	size_t n = 0;

	while (dir && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9' || !read_row(entry->d_name, &row))
			continue;
		/* ownprocesses_of never chooses other processes, so they would only lengthen its search */
		if (!is_helper(&row) && row.pid != pids.parent && row.pid != pids.self)
			continue;
		rows = mem_more(rows, sizeof(*rows), n);
		rows[n++] = row;
	}
	if (dir) {
		closedir(dir);
		switches_leave_out_none(switches);
		ownprocesses_of(rows, n, &pids, leave_out, switches);
	}
	free(rows);
}
