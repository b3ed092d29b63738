/* SPDX-License-Identifier: Apache-2.0 */
#include "record/processes/procfs.h"

#include "common/arena.h"
#include "common/text.h"
#include "common/files/fullio.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* ---- reading of files ------------------------------------------------------------------------------------------- */

static bool read_into(struct text *text, const char *path)
{
	text->n = 0;
	return fullio_read_at(AT_FDCWD, path, text, SIZE_MAX);
}

static uint64_t mount_ns(const char *path)
{
	struct stat status;

	return stat(path, &status) ? 0 : status.st_ino;
}

uint64_t procfs_own_mount_ns(void)
{
	return mount_ns("/proc/self/ns/mnt");
}

static struct str procfs_word(struct str *string)
{
	*string = str_trim_left(*string);
	return str_cut(string, ' ');
}

bool procfs_parse_map(struct str line, struct mapping *mapping, struct mapped_file *file)
{
	struct str range = procfs_word(&line), perms = procfs_word(&line), offset = procfs_word(&line),
		   device = procfs_word(&line), inode = procfs_word(&line), start;
	uint64_t end, major, minor;

	if (perms.n != 4 || perms.p[2] != 'x')
		return false;
	start = str_cut(&range, '-');
	struct str major_text = str_cut(&device, ':');
	if (!str_hex(start, &mapping->start) || !str_hex(range, &end) || end <= mapping->start ||
	    !str_hex(offset, &mapping->offset) || !str_hex(major_text, &major) || !str_hex(device, &minor) ||
	    !str_u64(inode, &file->file_id.inode))
		return false;
	mapping->length = end - mapping->start;
	file->file_id.major = (uint32_t)major;
	file->file_id.minor = (uint32_t)minor;
	file->protection = (perms.p[0] == 'r' ? PROT_READ : 0) | (perms.p[1] == 'w' ? PROT_WRITE : 0) | PROT_EXEC;
	file->flags = perms.p[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	file->path = str_trim_left(line);
	if (file->path.n == 0)
		file->path = STR("//anon"); /* name of anonymous memory in MMAP2 records */
	return true;
}

/* ---- identity of a process -------------------------------------------------------------------------------------- */

/* Returns field n (3 or higher) of the text of /proc/PID/stat; empty if the text has fewer fields. Field 2, the comm,
 * may contain any byte, so fields are counted from the last parenthesis. */
static struct str stat_field(struct str stat, int n)
{
	ptrdiff_t at = str_rfind(stat, ')');
	struct str rest = str_from(stat, (size_t)(at + 1)), word = { 0 };

	for (int field = 3; at >= 0 && field <= n; field++)
		word = procfs_word(&rest);
	return word;
}

uint64_t procfs_parse_start(struct str stat)
{
	uint64_t ticks;

	return str_u64(stat_field(stat, 22), &ticks) ? ticks : 0;
}

bool procfs_has_user_stacks(struct str stat)
{
	enum { KERNEL_THREAD = 0x00200000 }; /* flag PF_KTHREAD of the kernel */
	struct str state = stat_field(stat, 3);
	uint64_t flags, threads;

	if (!str_u64(stat_field(stat, 9), &flags) || flags & KERNEL_THREAD || !str_u64(stat_field(stat, 20), &threads))
		return false;
	return threads > 1 || (!str_eq(state, STR("Z")) && !str_eq(state, STR("X")));
}

/* Returns the pid in the innermost PID namespace, from the text of /proc/PID/status: the last number of its NSpid line;
 * 0 if unknown. */
static uint32_t inner_pid(struct str status)
{
	ptrdiff_t at = str_find_str(status, STR("\nNSpid:"));
	uint64_t n = 0;

	if (at < 0)
		return 0;
	struct str line = str_from(status, (size_t)at + 7);
	line = str_trim(str_cut(&line, '\n'));
	ptrdiff_t tab = str_rfind(line, '\t');
	return str_u64(str_from(line, (size_t)(tab + 1)), &n) ? (uint32_t)n : 0;
}

void procfs_identify(struct process *process)
{
	struct text text = { 0 };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/stat", process->pid);
	if (!process->start_ticks && read_into(&text, path))
		process->start_ticks = procfs_parse_start(text_view(&text));
	snprintf(path, sizeof(path), "/proc/%u/status", process->pid);
	if (!process->inner_pid && read_into(&text, path))
		process->inner_pid = inner_pid(text_view(&text));
	snprintf(path, sizeof(path), "/proc/%u/ns/mnt", process->pid);
	if (!process->mount_ns)
		process->mount_ns = mount_ns(path);
	text_free(&text);
}

/* ---- idle times of CPUs (/proc/stat) ------------------------------------------------------------------------- */

uint64_t *procfs_parse_idle(struct str stat, size_t *n)
{
	uint64_t tick = UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK), *idle = NULL;

	*n = 0;
	while (stat.n) {
		struct str line = str_cut(&stat, '\n'), name = procfs_word(&line);
		uint64_t cpu, value = 0, wait = 0;

		if (name.n < 4 || !str_starts(name, STR("cpu")) || !str_u64(str_from(name, 3), &cpu) || cpu >= 65536)
			continue;
		for (int i = 0; i < 3; i++) /* skips the times of user, nice and system */
			procfs_word(&line);
		if (!str_u64(procfs_word(&line), &value) || !str_u64(procfs_word(&line), &wait))
			continue;
		if (cpu >= *n) {
			idle = mem_grow(idle, sizeof(*idle), cpu + 1);
			memset(idle + *n, 0, (cpu + 1 - *n) * sizeof(*idle));
			*n = cpu + 1;
		}
		idle[cpu] = (value + wait) * tick;
	}
	return idle;
}

uint64_t *procfs_idle(size_t *n)
{
	struct text text = { 0 };
	uint64_t *idle;

	read_into(&text, "/proc/stat");
	idle = procfs_parse_idle(text_view(&text), n);
	text_free(&text);
	return idle;
}
