/* SPDX-License-Identifier: Apache-2.0 */
#include "record/symsaver/targetfiles.h"

#include "common/files/targetfile.h"
#include "common/process/taskwait.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#define FIELD_START 22
#define OPEN_FILES_MAX 4096       /* that are looked through */
#define MAP_COUNT_MAX (64u << 20) /* bytes of /proc/PID/maps */
#define LINGER_NS 10000000000u    /* a root is held so long after its process ended */
#define OVERLAY_MAGIC 0x794c7630
#define BTRFS_MAGIC 0x9123683E

/* ---- processes ------------------------------------------------------------------------------------------------------
 */

/* The beginning of a file of the process. */
static struct str targetfiles_read_file(int process, const char *name, char *buf, size_t space)
{
	int fd = openat(process, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, buf, space) : -1;

	if (fd >= 0)
		close(fd);
	return (struct str){ buf, n > 0 ? (size_t)n : 0 };
}

/* State and start: behind comm, which stands in brackets, and may hold anything. */
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

/* In limited time: the recorder itself calls this, and a process can make readers of its stat wait for ever
 * (timelimit.h). */
static bool targetfiles_read_stat(int process, char *state, uint64_t *start)
{
	struct text t = { 0 };
	bool found;

	errno = 0;
	found = taskwait_read(process, "stat", &t, 2048) && parse_stat(text_view(&t), state, start);

	text_free(&t);
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
	return errno == ETIMEDOUT ? '?' : 0;
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

		if (str_starts(line, STR("Uid:\t"))) { /* real, effective, ... */
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

/* ---- is it the one?
 * --------------------------------------------------------------------------------------------------- */

/* A file in an overlay is mapped as that of its layer, but stat tells a device of the overlay, and maybe the layer in
 * the upper bits of the inode. Subvolumes of btrfs have devices of their own, which mappings do not tell. */
static bool is_numbered(int fd, const struct target_mapping *m)
{
	struct stat st;
	struct statfs fs;

	if (fstat(fd, &st) < 0)
		return false;
	if (st.st_ino == m->inode && major(st.st_dev) == m->major && minor(st.st_dev) == m->minor)
		return true;
	if (fstatfs(fd, &fs) < 0)
		return false;
	if ((uint64_t)fs.f_type == OVERLAY_MAGIC)
		return ((st.st_ino ^ m->inode) & 0xFFFFFFFFFFFF) == 0;
	return (uint64_t)fs.f_type == BTRFS_MAGIC && st.st_ino == m->inode;
}

bool targetfiles_is_mapped(int fd, const struct target_mapping *m, const struct targetfiles_judge *assess)
{
	if (!m->build_id_n)
		return is_numbered(fd, m);
	return assess && assess->is_build(assess->to, fd, m->build_id, m->build_id_n);
}

/* Keeps fd when it is the file, else closes it; *other: there was one. */
static int targetfiles_checked(int fd, const struct target_mapping *m, const struct targetfiles_judge *assess,
			       bool *other)
{
	if (fd < 0 || targetfiles_is_mapped(fd, m, assess))
		return fd;
	close(fd);
	*other = true;
	return -1;
}

/* ---- where it may be
 * ---------------------------------------------------------------------------------------------------- */

static struct str without_deleted(struct str path)
{
	struct str end = STR(" (deleted)");

	return str_ends(path, end) ? str_head(path, path.n - end.n) : path;
}

/* What a magic link of /proc leads to: the file itself, wherever its name may be by now. */
static int open_magic(int dir, const char *name)
{
	return targetfile_reopen(openat(dir, name, O_PATH | O_CLOEXEC));
}

/* A file without a name in any file system, which the process has open. */
static int among_open_files(int process, const struct target_mapping *m, const struct targetfiles_judge *assess)
{
	int fd = openat(process, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC), found = -1;
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *e;
	struct stat st;
	bool other;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	for (unsigned n = 0; found < 0 && n < OPEN_FILES_MAX && (e = readdir(dir)); n++) {
		if (!byte_is_digit(e->d_name[0]) || fstatat(dirfd(dir), e->d_name, &st, 0) < 0 || !S_ISREG(st.st_mode))
			continue;
		found = targetfiles_checked(open_magic(dirfd(dir), e->d_name), m, assess, &other);
	}
	closedir(dir);
	return found;
}

/* Needs CAP_CHECKPOINT_RESTORE, so mostly it is not allowed. */
static int among_mapped_files(int process, const struct target_mapping *m, const struct targetfiles_judge *assess)
{
	int dir = openat(process, "map_files", O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd = -1;
	DIR *d = dir >= 0 ? fdopendir(dir) : NULL;
	struct dirent *e;
	char prefix[24];
	bool other;

	if (!d) {
		if (dir >= 0)
			close(dir);
		return -1;
	}
	snprintf(prefix, sizeof(prefix), "%llx-", (unsigned long long)m->start);
	while (fd < 0 && (e = readdir(d)))
		if (strncmp(e->d_name, prefix, strlen(prefix)) == 0)
			fd = targetfiles_checked(open_magic(dirfd(d), e->d_name), m, assess, &other);
	closedir(d);
	return fd;
}

int targetfiles_open(int root, int process, const struct target_mapping *m, const struct targetfiles_judge *assess)
{
	bool other = false;
	int fd = -1, error = ESRCH;

	if (root >= 0 && m->path.n && m->path.p[0] == '/') {
		fd = targetfiles_checked(targetfile_open(root, without_deleted(m->path), true), m, assess, &other);
		error = errno;
	}
	if (fd < 0 && process >= 0)
		fd = targetfiles_checked(open_magic(process, "exe"), m, assess, &other);
	if (fd < 0 && process >= 0 && (!m->build_id_n || str_starts(m->path, STR("/memfd:"))))
		fd = among_open_files(process, m, assess);
	if (fd < 0 && process >= 0)
		fd = among_mapped_files(process, m, assess);
	errno = other ? ESTALE : error;
	return fd;
}

/* ---- memory
 * ---------------------------------------------------------------------------------------------------------------- */

/* A line of /proc/PID/maps, as far as it matters here. */
struct line {
	uint64_t start, end, offset, major, minor, inode;
};

static struct str targetfiles_word(struct str *s, char sep)
{
	*s = str_trim_left(*s);
	return str_cut(s, sep);
}

static bool parse_line(struct str s, struct line *l)
{
	struct str start = targetfiles_word(&s, '-'), end = targetfiles_word(&s, ' '), offset, major, minor;

	targetfiles_word(&s, ' ');
	offset = targetfiles_word(&s, ' ');
	major = targetfiles_word(&s, ':');
	minor = targetfiles_word(&s, ' ');
	return str_hex(start, &l->start) && str_hex(end, &l->end) && str_hex(offset, &l->offset) &&
	       str_hex(major, &l->major) && str_hex(minor, &l->minor) && str_u64(targetfiles_word(&s, ' '), &l->inode);
}

struct base_search {
	const struct target_mapping *m;
	struct line zero; /* the last line with a file's first byte */
	uint64_t base;
	bool found, done;
};

static void targetfiles_look_at(struct base_search *b, struct str text)
{
	struct line l;

	if (!parse_line(text, &l))
		return;
	if (l.offset == 0 && l.inode)
		b->zero = l;
	if (b->m->start < l.start || b->m->start >= l.end)
		return;
	b->done = true;
	b->base = b->zero.start;
	b->found = b->zero.inode && b->zero.inode == l.inode && b->zero.major == l.major && b->zero.minor == l.minor &&
		   (b->m->build_id_n || l.inode == b->m->inode);
}

static bool find_base(int process, struct base_search *b)
{
	int fd = openat(process, "maps", O_RDONLY | O_CLOEXEC);
	char buf[16384];
	size_t have = 0, total = 0;
	ssize_t n;

	while (fd >= 0 && !b->done && total < MAP_COUNT_MAX && (n = read(fd, buf + have, sizeof(buf) - have)) > 0) {
		struct str lines = { buf, have + (size_t)n };

		total += (size_t)n;
		while (!b->done && str_find(lines, '\n') >= 0)
			targetfiles_look_at(b, str_cut(&lines, '\n'));
		have = lines.n == sizeof(buf) ? 0 : lines.n; /* a line is at most a path and some numbers */
		memmove(buf, lines.p, have);
	}
	if (fd >= 0)
		close(fd);
	return b->found;
}

int targetfiles_memory(int process, const struct target_mapping *m, uint64_t *base)
{
	struct base_search b = { .m = m };
	struct taskid_user user;
	struct taskid id;
	int fd = -1;

	if (!taskid_read(process, &id) || !find_base(process, &b)) {
		errno = ESRCH;
		return -1;
	}
	*base = b.base;
	switch (taskid_open_memory(process, &id, &user, &fd)) {
	case TASKID_SAME:
	case TASKID_DENIED: break;
	case TASKID_PRIVATE: errno = EACCES; break;
	case TASKID_GONE: errno = ESRCH; break;
	}
	return fd;
}

/* ---- roots
 * ------------------------------------------------------------------------------------------------------------------ */

static void targetfiles_let_go(struct targetfiles_held *h)
{
	close(h->root);
	close(h->process);
	*h = (struct targetfiles_held){ 0 };
}

static struct targetfiles_held *targetfiles_find(struct targetfiles_roots *r, uint64_t mount_ns)
{
	for (size_t i = 0; i < TARGETFILES_ROOTS; i++)
		if (r->held[i].mount_ns == mount_ns)
			return &r->held[i];
	return NULL;
}

int targetfiles_roots_find(struct targetfiles_roots *r, uint64_t mount_ns, uint64_t now)
{
	struct targetfiles_held *h = mount_ns ? targetfiles_find(r, mount_ns) : NULL;

	if (h)
		h->used = now;
	return h ? h->root : -1;
}

struct tenant targetfiles_roots_tenant(const struct targetfiles_roots *r, uint64_t mount_ns)
{
	for (size_t i = 0; mount_ns && i < TARGETFILES_ROOTS; i++)
		if (r->held[i].mount_ns == mount_ns)
			return r->held[i].of;
	return (struct tenant){ 0 };
}

void targetfiles_roots_hold(struct targetfiles_roots *r, uint64_t mount_ns, int root, int process, uint64_t now)
{
	struct targetfiles_held *h = targetfiles_find(r, mount_ns);
	struct targetfiles_held new = {
		.mount_ns = mount_ns, .root = -1, .process = -1, .of = tenant_of(process), .used = now
	};

	if (mount_ns == 0 || (h && h->died == 0))
		return;
	h = h ? h : targetfiles_find(r, 0);
	if (!h) {
		h = &r->held[0];
		for (size_t i = 1; i < TARGETFILES_ROOTS; i++)
			if (r->held[i].used < h->used)
				h = &r->held[i];
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
	if (h->mount_ns)
		targetfiles_let_go(h);
	*h = new;
}

void targetfiles_roots_tick(struct targetfiles_roots *r, uint64_t now)
{
	for (size_t i = 0; i < TARGETFILES_ROOTS; i++) {
		struct targetfiles_held *h = &r->held[i];

		if (!h->mount_ns)
			continue;
		if (!h->died && !targetfiles_lives(h->process))
			h->died = now;
		if (h->died && now - h->died > LINGER_NS)
			targetfiles_let_go(h);
	}
}

void targetfiles_roots_free(struct targetfiles_roots *r)
{
	for (size_t i = 0; i < TARGETFILES_ROOTS; i++)
		if (r->held[i].mount_ns)
			targetfiles_let_go(&r->held[i]);
}
