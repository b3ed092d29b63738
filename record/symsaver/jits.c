/* SPDX-License-Identifier: Apache-2.0 */
#include "record/symsaver/jits.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "common/files/targetfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MS ((uint64_t)1000000)
#define SOON (500 * MS)
/* maximum interval in ns between two lookups of a perf map that does not exist */
#define FIND_MAX (30000 * MS)
#define AGAIN (5000 * MS) /* interval in ns between two checks if a perf map was replaced */
#define ALIVE (2000 * MS)
#define LAST_STEPS 1000     /* maximum number of calls of jits_copy for one file of an ended process */
#define LAST_NS (2000 * MS) /* maximum time in ns for copying one file of an ended process */
/* maximum time in ns for copying the rest of the files of all processes when the symbol saver ends */
#define END_NS (500 * MS)

struct jit {
	uint32_t pid, uid, inner;
	uint64_t start, mount_ns;
	int process;
	struct tenant tenant;
	/* Times in ns of clock_now(). since: addition of the process. look: next lookup of the perf map. alive: next
	 * check if the process lives. seen: last report of the process by the recorder. */
	uint64_t since, look, alive, seen;
	struct jitcopy map, dump;
	bool refused;  /* true: a refused file of the process was counted; false again after the next jits_see */
	bool no_space; /* true: a full disk was counted for the process; false again after the next jits_see */
	bool over;     /* true: the tenant's budget prevented a copy after copy_rest began */
	bool map_counted, dump_counted;
};

/* ---- opening of files ------------------------------------------------------------------------------------------- */

static bool jits_enter(struct jits *jits, const struct jit *jit)
{
	return !jits->enter || jits->enter(jits->to, jit->mount_ns, jit->process);
}

static void jits_leave(struct jits *jits)
{
	if (jits->enter)
		jits->enter(jits->to, 0, -1);
}

static int jits_root_of(struct jits *jits, const struct jit *jit, uint64_t now)
{
	int root = targetfiles_root(jit->process), held;

	if (root >= 0)
		return root;
	held = targetfiles_roots_find(jits->roots, jit->mount_ns, now);
	return held >= 0 ? fcntl(held, F_DUPFD_CLOEXEC, 0) : -1;
}

/* Counts a refused file of a process for the reason `why`, at most once between two reports of the process (jits_see).
 */
static void jits_refuse(struct jits *jits, struct jit *jit, enum jits_event why)
{
	if (!jit->refused)
		jits->count[why]++;
	jit->refused = true;
}

/* Returns fd if its file belongs to the process's user or to root and has at most one link. Otherwise closes fd, counts
 * the file as untrusted and returns -1. Returns -1 if fd is -1. */
static int jits_trusted(struct jits *jits, struct jit *jit, int fd)
{
	struct stat status;

	if (fd < 0 ||
	    (fstat(fd, &status) == 0 && (status.st_uid == jit->uid || status.st_uid == 0) && status.st_nlink <= 1))
		return fd;
	close(fd);
	jits_refuse(jits, jit, JITS_UNTRUSTED);
	return -1;
}

static int open_map(struct jits *jits, struct jit *jit, uint64_t now)
{
	int root = jits_root_of(jits, jit, now), tmp = -1, fd = -1, error;
	char name[40];

	/* uid and inner pid are read again, because the process may have changed its user */
	targetfiles_identity(jit->process, &jit->uid, &jit->inner);
	snprintf(name, sizeof(name), "perf-%u.map", jit->inner);
	if (root >= 0)
		tmp = targetfile_folder(root, STR("/tmp"));
	if (tmp >= 0)
		fd = targetfile_open(tmp, str_of(name), false);
	error = errno;
	if (tmp >= 0)
		close(tmp);
	if (root >= 0)
		close(root);
	if (fd < 0 && (error == ELOOP || error == EINVAL)) /* the file is a link, or not a regular file */
		jits_refuse(jits, jit, JITS_UNTRUSTED);
	else if (fd < 0 && (error == EACCES || error == EPERM))
		jits_refuse(jits, jit, JITS_FORBIDDEN);
	return jits_trusted(jits, jit, fd);
}

static void copy_name(const struct jit *jit, const char *kind, char name[JITCOPY_NAME])
{
	char tenant[TENANT_NAME];

	tenant_folder(&jit->tenant, jit->mount_ns, tenant);
	snprintf(name, JITCOPY_NAME, "%s/%u-%llu.%s", tenant, jit->pid, (unsigned long long)jit->start, kind);
}

/* Returns a descriptor of the folder jit/BOOT, and creates the tenant's folder in it. The saverdir owns the
 * descriptor. Returns -1 on failure. */
static int jits_folder_of(struct jits *jits, const struct jit *jit)
{
	int folder = saverdir_jit(jits->dir);
	char name[TENANT_NAME];

	tenant_folder(&jit->tenant, jit->mount_ns, name);
	return folder >= 0 && (mkdirat(folder, name, 0750) == 0 || errno == EEXIST) ? folder : -1;
}

/* ---- files of one process --------------------------------------------------------------------------------------- */

/* Counts a failed copy by its reason `why`. Counts a full disk at most once between two reports of the process, because
 * the copy is tried again: the disk may have space then. */
static void jits_count(struct jits *jits, struct jit *jit, enum jitcopy_why why)
{
	static const uint8_t event[] = { [JITCOPY_LARGE] = JITS_LARGE,
					 [JITCOPY_NO_TEXT] = JITS_UNTRUSTED,
					 [JITCOPY_DISK] = JITS_DISK,
					 [JITCOPY_EVICTED] = JITS_BUDGET };

	if (why == JITCOPY_OK || (why == JITCOPY_DISK && jit->no_space))
		return;
	jit->no_space = jit->no_space || why == JITCOPY_DISK;
	jits->count[event[why]]++;
}

/* Copies new bytes of one file. Sets *counted when the first bytes were copied and counted (JITS_SAVED). Returns false
 * if it copied no bytes: the file has no new bytes, the copy has ended, the tenant is over its budget, or the disk is
 * full. */
static bool jits_copy(struct jits *jits, struct jit *jit, struct jitcopy *jitcopy, bool *counted)
{
	struct jitcopy_cost cost;
	uint64_t cpu, now = clock_now();
	int folder;

	if (jitcopy->fd < 0 || jitcopy->ended)
		return false;
	if (!saverbudget_may(&jits->dir->budget, jit->tenant, now)) {
		jit->over = true;
		return false;
	}
	folder = jits_folder_of(jits, jit);
	if (folder < 0 || !saverdir_has_space(jits->dir, 0)) {
		jits_count(jits, jit, JITCOPY_DISK);
		return false;
	}
	cpu = clock_thread_cpu();
	jits_count(jits, jit, jitcopy_go_on(jitcopy, folder, &jits->limits, &cost));
	saverbudget_charge(&jits->dir->budget, jit->tenant, cost.read, clock_thread_cpu() - cpu, now);
	jits->dir->bytes += cost.written;
	if (cost.read && !*counted) {
		*counted = true;
		jits->count[JITS_SAVED]++;
	}
	return cost.read > 0;
}

static void look_for_map(struct jits *jits, struct jit *jit, uint64_t now)
{
	char name[JITCOPY_NAME];
	int fd, folder;

	if (now < jit->look || jit->map.ended)
		return;
	fd = open_map(jits, jit, now);
	if (fd >= 0 && (folder = jits_folder_of(jits, jit)) >= 0) {
		if (!jit->map.name[0]) {
			copy_name(jit, "map", name);
			jitcopy_open(&jit->map, JITCOPY_MAP, fd, folder, name);
		} else {
			jitcopy_follow(&jit->map, fd, folder, &jits->limits);
		}
	} else if (fd >= 0) {
		close(fd);
	}
	jit->look = (now - jit->since) / 8;
	jit->look = now + (jit->map.fd >= 0     ? AGAIN :
			   jit->look < SOON     ? SOON :
			   jit->look > FIND_MAX ? FIND_MAX :
						  jit->look);
}

static void free_jit(struct jit *jit)
{
	jitcopy_close(&jit->map);
	jitcopy_close(&jit->dump);
	if (jit->process >= 0)
		close(jit->process);
	free(jit);
}

/* Copies the rest of one file of a process, within the tenant's budget and a time limit. If the budget prevents the
 * copy, counts the file as over budget. */
static void copy_rest(struct jits *jits, struct jit *jit, struct jitcopy *jitcopy, bool *counted)
{
	uint64_t until = jits->deadline ? jits->deadline : clock_now() + LAST_NS;

	jit->over = false;
	for (unsigned n = 0; n < LAST_STEPS && clock_now() < until && jits_copy(jits, jit, jitcopy, counted); n++)
		;
	if (jit->over && jitcopy_is_after(jitcopy)) {
		jits->count[JITS_BUDGET]++;
		saverbudget_count(&jits->dir->budget, jit->tenant, 1);
	}
}

/* Copies the rest of the files of the process with index i, then removes it from the table and frees it. To be called
 * when the process has ended, or must leave the table. */
static void jits_finish(struct jits *jits, size_t i, uint64_t now)
{
	struct jit *jit = jits->jit[i];

	if (jits_enter(jits, jit)) {
		jit->look = 0;
		look_for_map(jits, jit, now);
		copy_rest(jits, jit, &jit->map, &jit->map_counted);
		copy_rest(jits, jit, &jit->dump, &jit->dump_counted);
		jits_leave(jits);
	} else {
		jits_refuse(jits, jit, JITS_SLOW);
	}
	free_jit(jit);
	jits->jit[i] = jits->jit[--jits->n];
}

/* ---- table of processes that generate code ---------------------------------------------------------------------- */

static size_t jits_find(const struct jits *jits, uint32_t pid)
{
	size_t i = 0;

	while (i < jits->n && jits->jit[i]->pid != pid)
		i++;
	return i;
}

/* Returns the number of processes of a tenant in the table. */
static size_t jits_count_tenant(const struct jits *jits, struct tenant tenant)
{
	size_t n = 0;

	for (size_t i = 0; i < jits->n; i++)
		n += tenant_same(jits->jit[i]->tenant, tenant);
	return n;
}

/* If the table is full, drops a process of the tenant with the most processes: the one whose last report is the oldest.
 * Copies the rest of its files first. */
static void jits_make_space(struct jits *jits, uint64_t now)
{
	size_t oldest = 0, max = 0;

	if (jits->n < JITS_MAX)
		return;
	for (size_t i = 0; i < jits->n; i++) {
		size_t n = jits_count_tenant(jits, jits->jit[i]->tenant);

		if (n > max || (n == max && jits->jit[i]->seen < jits->jit[oldest]->seen)) {
			max = n;
			oldest = i;
		}
	}
	jits_finish(jits, oldest, now);
}

/* Returns the entry of a process, and adds it to the table if it is new. Returns NULL if the process has ended or may
 * not be read; then counts the process as gone. */
static struct jit *jits_need(struct jits *jits, uint32_t pid, uint64_t start, uint64_t mount_ns, uint64_t now)
{
	size_t i = jits_find(jits, pid);
	struct jit *jit;
	int process;

	if (i < jits->n && jits->jit[i]->start != start) {
		/* a new process has this pid now, so the entry is that of an ended process */
		jits_finish(jits, i, now);
		i = jits->n;
	}
	if (i == jits->n) {
		process = start ? target_process(jits->proc, pid, start) : -1;
		if (process < 0) {
			jits->count[JITS_GONE]++;
			return NULL;
		}
		jits_make_space(jits, now);
		jit = mem_alloc(sizeof(*jit), 1);
		*jit = (struct jit){ .pid = pid,
				     .start = start,
				     .mount_ns = mount_ns,
				     .process = process,
				     .since = now,
				     .alive = now + ALIVE };
		jit->tenant = tenant_of(process);
		jit->map.fd = jit->dump.fd = -1;
		if (!targetfiles_identity(process, &jit->uid, &jit->inner)) {
			free_jit(jit);
			jits->count[JITS_GONE]++;
			return NULL;
		}
		jits->jit[jits->n++] = jit;
		i = jits->n - 1;
	}
	jits->jit[i]->seen = now;
	return jits->jit[i];
}

/* Sets the modification time of the copies of a process's files to now, because the current window needs them. */
static void jits_touch(struct jits *jits, const struct jit *jit)
{
	static const char *const kinds[] = { "map", "map.1", "dump" };
	char name[JITCOPY_NAME];

	for (size_t i = 0; i < countof(kinds) && jits->dir->boot_jit >= 0; i++) {
		copy_name(jit, kinds[i], name);
		utimensat(jits->dir->boot_jit, name, NULL, AT_SYMLINK_NOFOLLOW);
	}
}

void jits_see(struct jits *jits, uint32_t pid, uint64_t start, uint64_t mount_ns, uint64_t now)
{
	struct jit *jit = jits_need(jits, pid, start, mount_ns, now);

	if (!jit)
		return;
	jit->refused = jit->no_space = false;
	jits_touch(jits, jit);
	if (!jits_enter(jits, jit)) {
		jits_refuse(jits, jit, JITS_SLOW);
		return;
	}
	look_for_map(jits, jit, now);
	jits_copy(jits, jit, &jit->map, &jit->map_counted);
	jits_leave(jits);
}

void jits_dump(struct jits *jits, uint32_t pid, uint64_t start, uint64_t mount_ns, const struct target_mapping *mapping,
	       uint64_t now)
{
	struct jit *jit = jits_need(jits, pid, start, mount_ns, now);
	int root, fd, folder;
	char name[JITCOPY_NAME];

	if (!jit)
		return;
	jits_touch(jits, jit);
	if (jit->dump.name[0])
		return;
	if (!jits_enter(jits, jit)) {
		jits_refuse(jits, jit, JITS_SLOW);
		return;
	}
	root = jits_root_of(jits, jit, now);
	fd = targetfiles_open(root, jit->process, mapping, NULL);
	if (root >= 0)
		close(root);
	if (fd < 0)
		jits->count[JITS_OTHER]++;
	fd = jits_trusted(jits, jit, fd);
	folder = fd >= 0 ? jits_folder_of(jits, jit) : -1;
	if (folder >= 0) {
		copy_name(jit, "dump", name);
		jitcopy_open(&jit->dump, JITCOPY_DUMP, fd, folder, name);
		jits_copy(jits, jit, &jit->dump, &jit->dump_counted);
	} else if (fd >= 0) {
		close(fd);
	}
	jits_leave(jits);
}

void jits_exit(struct jits *jits, uint32_t pid, uint64_t now)
{
	size_t i = jits_find(jits, pid);

	if (i < jits->n)
		jits_finish(jits, i, now);
}

void jits_tick(struct jits *jits, uint64_t now)
{
	for (size_t i = 0; i < jits->n;) {
		struct jit *jit = jits->jit[i];

		if (jits_enter(jits, jit)) {
			look_for_map(jits, jit, now);
			jits_copy(jits, jit, &jit->map, &jit->map_counted);
			jits_copy(jits, jit, &jit->dump, &jit->dump_counted);
			jits_leave(jits);
		}
		if (now >= jit->alive && !targetfiles_lives(jit->process)) {
			jits_finish(jits, i, now);
			continue;
		}
		jit->alive = now >= jit->alive ? now + ALIVE : jit->alive;
		i++;
	}
}

void jits_free(struct jits *jits, uint64_t now)
{
	jits->deadline = clock_now() + END_NS;
	while (jits->n)
		jits_finish(jits, jits->n - 1, now);
}
