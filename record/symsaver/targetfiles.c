/* SPDX-License-Identifier: Apache-2.0 */
#include "record/symsaver/targetfiles.h"

#include "common/files/targetfile.h"
#include "common/process/taskwait.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIELD_START 22
/* maximum number of descriptors of a process that are searched for the mapped file; further ones are ignored */
#define OPEN_FILES_MAX 4096
/* maximum number of bytes of /proc/PID/maps that are read; a mapping beyond is not found */
#define MAP_COUNT_MAX (64u << 20)
#define LINGER_NS 10000000000u /* ns for which a root directory stays open after its process has ended */

/* ---- state of processes ----------------------------------------------------------------------------------------- */

/* Reads into buf the first bytes, at most `space`, of a file in the /proc folder of a process. Returns the bytes that
 * were read; an empty string on failure. */
static struct str targetfiles_read_file(int process, const char *name, char *buf, size_t space)
{
	int fd = openat(process, name, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd >= 0 ? read(fd, buf, space) : -1;

	if (fd >= 0)
		close(fd);
	return (struct str){ buf, got > 0 ? (size_t)got : 0 };
}

/* Parses the state and the start time (clock ticks since boot) in the text of /proc/PID/stat. These fields come after
 * the comm, which is in parentheses and may contain any byte. Returns false if the text is malformed. */
static bool parse_stat(struct str stat, char *state, uint64_t *start)
{
	ptrdiff_t close = str_rfind(stat, ')');
	struct str one = { 0 };

	if (close < 0 || stat.n < (size_t)close + 3)
		return false;
	stat = str_from(stat, (size_t)close + 2);
	*state = stat.p[0];
	for (unsigned field = 3; field <= FIELD_START; field++)
		one = str_cut(&stat, ' ');
	return str_u64(one, start);
}

/* Reads the state and the start time (clock ticks since boot) of a process, with a time limit. The reason: the recorder
 * itself calls this function, and a process can block readers of its stat for ever (timelimit.h). Returns false on
 * failure, with errno (taskwait.h). */
static bool targetfiles_read_stat(int process, char *state, uint64_t *start)
{
	struct text text = { 0 };
	bool found;

	errno = 0;
	found = taskwait_read(process, "stat", &text, 2048) && parse_stat(text_view(&text), state, start);

	text_free(&text);
	return found;
}

int target_process(const char *proc, uint32_t pid, uint64_t start)
{
	char path[256], state;
	uint64_t began;
	int fd;

	snprintf(path, sizeof(path), "%s/%u", proc, pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (targetfiles_read_stat(fd, &state, &began) && (start == 0 || began == start))
		return fd;
	close(fd);
	errno = ESRCH;
	return -1;
}

char targetfiles_state(int process)
{
	uint64_t start;
	char state;

	if (targetfiles_read_stat(process, &state, &start))
		return state;
	return taskwait_is_unanswered(errno) ? '?' : 0;
}

bool targetfiles_lives(int process)
{
	char state = targetfiles_state(process);

	return state && state != 'Z' && state != 'X';
}

bool targetfiles_runs(const char *proc, pid_t pid)
{
	int process = target_process(proc, (uint32_t)pid, 0);
	bool running = process >= 0 && targetfiles_state(process) == 'R';

	if (process >= 0)
		close(process);
	return running;
}

bool targetfiles_identity(int process, uint32_t *uid, uint32_t *inner_pid)
{
	char buf[8192];
	struct str status = targetfiles_read_file(process, "status", buf, sizeof(buf));
	bool has_uid = false;

	while (status.n) {
		struct str line = str_cut(&status, '\n');
		uint64_t value;

		/* fields: real, effective, saved and file system uid; read the second one */
		if (str_starts(line, STR("Uid:\t"))) {
			line = str_from(line, 5);
			str_cut(&line, '\t');
			has_uid = str_u64(str_cut(&line, '\t'), &value) && value <= UINT32_MAX;
			*uid = has_uid ? (uint32_t)value : *uid;
		} else if (str_starts(line, STR("NSpid:\t"))) {
			line = str_from(line, (size_t)str_rfind(line, '\t') + 1);
			if (str_u64(str_trim(line), &value) && value <= INT32_MAX)
				*inner_pid = (uint32_t)value;
		}
	}
	return has_uid;
}

int targetfiles_root(int process)
{
	return openat(process, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* ---- comparison of files ---------------------------------------------------------------------------------------- */

bool targetfiles_is_mapped(int fd, const struct target_mapping *mapping, const struct targetfiles_verifier *assess)
{
	if (!mapping->build_id.n)
		return targetfile_is(fd, mapping->file_id.major, mapping->file_id.minor, mapping->file_id.inode);
	return assess && assess->is_build(assess->to, fd, &mapping->build_id);
}

/* Returns fd if it is the mapped file. Otherwise closes fd, sets *other to true and returns -1. Returns -1, without
 * setting *other, if fd is -1. */
static int targetfiles_checked(int fd, const struct target_mapping *mapping, const struct targetfiles_verifier *assess,
			       bool *other)
{
	if (fd < 0 || targetfiles_is_mapped(fd, mapping, assess))
		return fd;
	close(fd);
	*other = true;
	return -1;
}

/* ---- search for a mapped file ----------------------------------------------------------------------------------- */

static struct str without_deleted(struct str path)
{
	struct str end = STR(" (deleted)");

	return str_ends(path, end) ? str_head(path, path.n - end.n) : path;
}

/* Opens the target of a link in /proc such as PID/exe: the file itself, even if it was renamed or deleted. Returns -1
 * with errno on failure. */
static int open_magic(int dir, const char *name)
{
	return targetfile_reopen(openat(dir, name, O_PATH | O_CLOEXEC));
}

/* Searches the open files of the process (at most OPEN_FILES_MAX) for the mapped file, which may be deleted. Returns a
 * descriptor; -1 if the file is not found. */
static int among_open_files(int process, const struct target_mapping *mapping,
			    const struct targetfiles_verifier *assess)
{
	int fd = openat(process, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC), found = -1;
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;
	struct stat status;
	bool other;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	for (unsigned n = 0; found < 0 && n < OPEN_FILES_MAX && (entry = readdir(dir)); n++) {
		if (!byte_is_digit(entry->d_name[0]) || fstatat(dirfd(dir), entry->d_name, &status, 0) < 0 ||
		    !S_ISREG(status.st_mode))
			continue;
		found = targetfiles_checked(open_magic(dirfd(dir), entry->d_name), mapping, assess, &other);
	}
	closedir(dir);
	return found;
}

/* Searches /proc/PID/map_files for the mapped file. That needs CAP_CHECKPOINT_RESTORE, which pjrecord rarely has.
 * Returns a descriptor; -1 if the file is not found. */
static int among_mapped_files(int process, const struct target_mapping *mapping,
			      const struct targetfiles_verifier *assess)
{
	int dir = openat(process, "map_files", O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd = -1;
	DIR *folder = dir >= 0 ? fdopendir(dir) : NULL;
	struct dirent *entry;
	char prefix[24];
	bool other;

	if (!folder) {
		if (dir >= 0)
			close(dir);
		return -1;
	}
	snprintf(prefix, sizeof(prefix), "%llx-", (unsigned long long)mapping->start);
	while (fd < 0 && (entry = readdir(folder)))
		if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0)
			fd = targetfiles_checked(open_magic(dirfd(folder), entry->d_name), mapping, assess, &other);
	closedir(folder);
	return fd;
}

int targetfiles_open(int root, int process, const struct target_mapping *mapping,
		     const struct targetfiles_verifier *assess)
{
	bool other = false;
	int fd = -1, error = ESRCH;

	if (root >= 0 && mapping->path.n && mapping->path.p[0] == '/') {
		fd = targetfiles_checked(targetfile_open(root, without_deleted(mapping->path), true), mapping, assess,
					 &other);
		error = errno;
	}
	if (fd < 0 && process >= 0)
		fd = targetfiles_checked(open_magic(process, "exe"), mapping, assess, &other);
	if (fd < 0 && process >= 0 && (!mapping->build_id.n || str_starts(mapping->path, STR("/memfd:"))))
		fd = among_open_files(process, mapping, assess);
	if (fd < 0 && process >= 0)
		fd = among_mapped_files(process, mapping, assess);
	errno = other ? ESTALE : error;
	return fd;
}

/* ---- memory of a process ---------------------------------------------------------------------------------------- */

/* Fields of one line of /proc/PID/maps: virtual addresses, file offset in bytes, device and inode. */
struct line {
	uint64_t start, end, offset, major, minor, inode;
};

static struct str targetfiles_word(struct str *string, char sep)
{
	*string = str_trim_left(*string);
	return str_cut(string, sep);
}

static bool parse_line(struct str string, struct line *line)
{
	struct str start = targetfiles_word(&string, '-'), end = targetfiles_word(&string, ' '), offset, major, minor;

	targetfiles_word(&string, ' ');
	offset = targetfiles_word(&string, ' ');
	major = targetfiles_word(&string, ':');
	minor = targetfiles_word(&string, ' ');
	return str_hex(start, &line->start) && str_hex(end, &line->end) && str_hex(offset, &line->offset) &&
	       str_hex(major, &line->major) && str_hex(minor, &line->minor) &&
	       str_u64(targetfiles_word(&string, ' '), &line->inode);
}

struct base_search {
	const struct target_mapping *m;
	struct line zero; /* last line so far that maps the first byte of a file; inode 0: none */
	uint64_t base;
	bool found, done;
};

static void targetfiles_look_at(struct base_search *search, struct str text)
{
	struct line line;

	if (!parse_line(text, &line))
		return;
	if (line.offset == 0 && line.inode)
		search->zero = line;
	if (search->m->start < line.start || search->m->start >= line.end)
		return;
	search->done = true;
	search->base = search->zero.start;
	search->found = search->zero.inode && search->zero.inode == line.inode && search->zero.major == line.major &&
			search->zero.minor == line.minor &&
			(search->m->build_id.n || line.inode == search->m->file_id.inode);
}

static bool find_base(int process, struct base_search *search)
{
	int fd = openat(process, "maps", O_RDONLY | O_CLOEXEC);
	char buf[16384];
	size_t have = 0, total = 0;
	ssize_t got;

	while (fd >= 0 && !search->done && total < MAP_COUNT_MAX &&
	       (got = read(fd, buf + have, sizeof(buf) - have)) > 0) {
		struct str lines = { buf, have + (size_t)got };

		total += (size_t)got;
		while (!search->done && str_find(lines, '\n') >= 0)
			targetfiles_look_at(search, str_cut(&lines, '\n'));
		/* A line has at most a path and a few numbers. A full buffer without newline is malformed and is
		 * dropped. */
		have = lines.n == sizeof(buf) ? 0 : lines.n;
		memmove(buf, lines.p, have);
	}
	if (fd >= 0)
		close(fd);
	return search->found;
}

int targetfiles_memory(int process, const struct target_mapping *mapping, uint64_t *base)
{
	struct base_search search = { .m = mapping };
	struct taskid_user user;
	struct taskid id;
	int fd = -1;

	if (!taskid_read(process, &id) || !find_base(process, &search)) {
		errno = ESRCH;
		return -1;
	}
	*base = search.base;
	switch (taskid_open_memory(process, &id, &user, &fd)) {
	case TASKID_SAME:
	case TASKID_DENIED: break;
	case TASKID_PRIVATE: errno = EACCES; break;
	case TASKID_GONE: errno = ESRCH; break;
	}
	return fd;
}

/* ---- held root directories -------------------------------------------------------------------------------------- */

static void targetfiles_let_go(struct targetfiles_held *held)
{
	close(held->root);
	close(held->process);
	*held = (struct targetfiles_held){ 0 };
}

static struct targetfiles_held *targetfiles_find(struct targetfiles_roots *roots, uint64_t mount_ns)
{
	for (size_t i = 0; i < TARGETFILES_ROOTS; i++)
		if (roots->held[i].mount_ns == mount_ns)
			return &roots->held[i];
	return NULL;
}

int targetfiles_roots_find(struct targetfiles_roots *roots, uint64_t mount_ns, uint64_t now)
{
	struct targetfiles_held *held = mount_ns ? targetfiles_find(roots, mount_ns) : NULL;

	if (held)
		held->used = now;
	return held ? held->root : -1;
}

struct tenant targetfiles_roots_tenant(const struct targetfiles_roots *roots, uint64_t mount_ns)
{
	for (size_t i = 0; mount_ns && i < TARGETFILES_ROOTS; i++)
		if (roots->held[i].mount_ns == mount_ns)
			return roots->held[i].of;
	return (struct tenant){ 0 };
}

void targetfiles_roots_hold(struct targetfiles_roots *roots, uint64_t mount_ns, int root, int process, uint64_t now)
{
	struct targetfiles_held *held = targetfiles_find(roots, mount_ns);
	struct targetfiles_held new = {
		.mount_ns = mount_ns, .root = -1, .process = -1, .of = tenant_of(process), .used = now
	};

	if (mount_ns == 0 || (held && held->died == 0))
		return;
	held = held ? held : targetfiles_find(roots, 0);
	if (!held) {
		held = &roots->held[0];
		for (size_t i = 1; i < TARGETFILES_ROOTS; i++)
			if (roots->held[i].used < held->used)
				held = &roots->held[i];
	}
	new.root = fcntl(root, F_DUPFD_CLOEXEC, 0);
	new.process = fcntl(process, F_DUPFD_CLOEXEC, 0);
	if (new.root < 0 || new.process < 0) {
		if (new.root >= 0)
			close(new.root);
		if (new.process >= 0)
			close(new.process);
		return;
	}
	if (held->mount_ns)
		targetfiles_let_go(held);
	*held = new;
}

void targetfiles_roots_tick(struct targetfiles_roots *roots, uint64_t now)
{
	for (size_t i = 0; i < TARGETFILES_ROOTS; i++) {
		struct targetfiles_held *held = &roots->held[i];

		if (!held->mount_ns)
			continue;
		if (!held->died && !targetfiles_lives(held->process))
			held->died = now;
		if (held->died && now - held->died > LINGER_NS)
			targetfiles_let_go(held);
	}
}

void targetfiles_roots_free(struct targetfiles_roots *roots)
{
	for (size_t i = 0; i < TARGETFILES_ROOTS; i++)
		if (roots->held[i].mount_ns)
			targetfiles_let_go(&roots->held[i]);
}
