/* SPDX-License-Identifier: Apache-2.0 */
#include "common/process/taskid.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Numbers of fields in /proc/PID/stat, from 1 (proc_pid_stat(5)). */
enum { FIELD_STATE = 3, FIELD_START = 22, FIELD_START_CODE = 26, FIELD_START_STACK = 28 };

bool taskid_parse(struct str stat, struct taskid *id, bool *zombie)
{
	ptrdiff_t close = str_rfind(stat, ')'); /* the last ')' ends the comm, which can contain any byte */
	bool good = true;

	*id = (struct taskid){ 0 };
	if (close < 0 || (size_t)close + 3 >= stat.n)
		return false;
	stat = str_from(stat, (size_t)close + 2);
	*zombie = stat.p[0] == 'Z' || stat.p[0] == 'X' || stat.p[0] == 'x';
	for (unsigned field = FIELD_STATE; field <= FIELD_START_STACK; field++) {
		struct str word = str_cut(&stat, ' ');

		if (field == FIELD_START)
			good = good && str_u64(word, &id->start);
		if (field == FIELD_START_CODE)
			good = good && str_u64(word, &id->start_code);
		if (field == FIELD_START_STACK)
			good = good && str_u64(str_trim(word), &id->start_stack);
	}
	return good;
}

char taskid_state(struct str stat)
{
	ptrdiff_t close = str_rfind(stat, ')'); /* as in taskid_parse */

	return close >= 0 && (size_t)close + 2 < stat.n && stat.p[close + 1] == ' ' ? stat.p[close + 2] : 0;
}

/* Reads the first n bytes of a file in /proc/PID into buffer; returns an empty str on failure. The first read() must
 * return all bytes that the caller needs; callers need only some hundred. */
static struct str taskid_read_start(int process, const char *name, char *buffer, size_t n)
{
	int fd = openat(process, name, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, buffer, n);

	if (fd >= 0)
		close(fd);
	return (struct str){ buffer, got > 0 ? (size_t)got : 0 };
}

bool taskid_read(int process, struct taskid *id)
{
	char buffer[2048];
	bool zombie;

	return taskid_parse(taskid_read_start(process, "stat", buffer, sizeof(buffer)), id, &zombie) && !zombie;
}

bool taskid_is(int process, const struct taskid *id)
{
	struct taskid now;

	return taskid_read(process, &now) && now.start == id->start && now.start_code == id->start_code &&
	       now.start_stack == id->start_stack;
}

/* ---- user and group of a process --------------------------------------------------------------------------------- */

/* Parses a line "Uid:\treal\teffective\tsaved\tfs". Returns true and sets *value if real, effective and saved id are
 * equal. Returns false otherwise, or if the line is malformed. */
static bool same_three(struct str line, uint64_t *value)
{
	uint64_t other[2];

	str_cut(&line, '\t');
	if (!str_u64(str_cut(&line, '\t'), value) || !str_u64(str_cut(&line, '\t'), &other[0]) ||
	    !str_u64(str_cut(&line, '\t'), &other[1]))
		return false;
	return other[0] == *value && other[1] == *value && *value < UINT32_MAX;
}

bool taskid_parse_user(struct str status, struct taskid_user *user)
{
	uint64_t uid = 0, gid = 0;
	bool has_uid = false, has_gid = false;

	while (status.n) {
		struct str line = str_cut(&status, '\n');

		if (str_starts(line, STR("Uid:")))
			has_uid = same_three(line, &uid);
		else if (str_starts(line, STR("Gid:")))
			has_gid = same_three(line, &gid);
	}
	*user = (struct taskid_user){ (uid_t)uid, (gid_t)gid };
	return has_uid && has_gid;
}

/* Checks that the process still runs the program of the taskid, and that its user (or root, if reader is
 * TASKID_FOR_ROOT) owns its file mem. The owner of mem shows if the process is dumpable: if not, the kernel gives the
 * files in /proc/PID to root, but not the folder /proc/PID itself. The taskid is checked last, because exec changes
 * credentials. */
static enum taskid_answer check_for(enum taskid_reader reader, int process, const struct taskid *id,
				    struct taskid_user *user)
{
	char buffer[4096];
	struct stat status;
	bool one_user = taskid_parse_user(taskid_read_start(process, "status", buffer, sizeof(buffer)), user) &&
			fstatat(process, "mem", &status, AT_SYMLINK_NOFOLLOW) == 0;
	bool is_users = one_user && status.st_uid == user->uid && status.st_gid == user->gid;
	bool is_roots = one_user && reader == TASKID_FOR_ROOT && status.st_uid == 0 && status.st_gid == 0;

	if (!taskid_is(process, id))
		return TASKID_GONE;
	return is_users || is_roots ? TASKID_SAME : TASKID_PRIVATE;
}

enum taskid_answer taskid_check(int process, const struct taskid *id, struct taskid_user *user)
{
	return check_for(TASKID_FOR_USER, process, id, user);
}

enum taskid_reader taskid_reader(void)
{
	uid_t user[3];
	gid_t group[3];

	if (getresuid(&user[0], &user[1], &user[2]) || getresgid(&group[0], &group[1], &group[2]))
		return TASKID_FOR_USER;
	for (size_t i = 0; i < countof(user); i++)
		if (user[i] != 0 || group[i] != 0)
			return TASKID_FOR_USER;
	return TASKID_FOR_ROOT;
}

enum taskid_answer taskid_open_memory_for(enum taskid_reader reader, int process, const struct taskid *id,
					  struct taskid_user *user, int *fd)
{
	enum taskid_answer answer;

	*fd = openat(process, "mem", O_RDONLY | O_CLOEXEC);
	if (*fd < 0)
		return errno == ENOENT || errno == ESRCH ? TASKID_GONE : TASKID_DENIED;
	answer = check_for(reader, process, id, user);
	if (answer != TASKID_SAME) {
		close(*fd);
		*fd = -1;
	}
	return answer;
}

enum taskid_answer taskid_open_memory(int process, const struct taskid *id, struct taskid_user *user, int *fd)
{
	return taskid_open_memory_for(TASKID_FOR_USER, process, id, user, fd);
}
