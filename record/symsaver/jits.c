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
#define FIND_MAX (30000 * MS) /* a map that is not there is looked for at least so often */
#define AGAIN (5000 * MS)     /* one that is there may be replaced */
#define ALIVE (2000 * MS)
#define LAST_STEPS 1000     /* of what an ended process left */
#define LAST_NS (2000 * MS) /* for it */
#define END_NS (500 * MS)   /* for all processes, when the tool ends */

struct jit {
	uint32_t pid, uid, inner;
	uint64_t start, mount_ns;
	int process;
	struct tenant tenant;
	uint64_t since, look, alive, seen; /* ns: first seen, next looks, last told of */
	struct jitcopy map, dump;
	bool refused;  /* was counted as untrusted since it was seen last */
	bool no_space; /* and as not written */
	bool over;     /* the budget of its tenant left bytes out since it was asked last */
	bool map_counted, dump_counted;
};

/* ---- opening
 * ---------------------------------------------------------------------------------------------------------- */

static bool jits_enter(struct jits *j, const struct jit *p)
{
	return !j->enter || j->enter(j->to, p->mount_ns, p->process);
}

static void jits_leave(struct jits *j)
{
	if (j->enter)
		j->enter(j->to, 0, -1);
}

static int jits_root_of(struct jits *j, const struct jit *p, uint64_t now)
{
	int root = targetfiles_root(p->process), held;

	if (root >= 0)
		return root;
	held = targetfiles_roots_find(j->roots, p->mount_ns, now);
	return held >= 0 ? fcntl(held, F_DUPFD_CLOEXEC, 0) : -1;
}

/* Counted once for each time it is seen. */
static void jits_refuse(struct jits *j, struct jit *p, enum jits_event why)
{
	if (!p->refused)
		j->count[why]++;
	p->refused = true;
}

/* A plain file of that user. Takes fd; -1 when it is not. */
static int jits_trusted(struct jits *j, struct jit *p, int fd)
{
	struct stat st;

	if (fd < 0 || (fstat(fd, &st) == 0 && (st.st_uid == p->uid || st.st_uid == 0) && st.st_nlink <= 1))
		return fd;
	close(fd);
	jits_refuse(j, p, JITS_UNTRUSTED);
	return -1;
}

static int open_map(struct jits *j, struct jit *p, uint64_t now)
{
	int root = jits_root_of(j, p, now), tmp = -1, fd = -1, error;
	char name[40];

	targetfiles_identity(p->process, &p->uid, &p->inner); /* it may have become another user meanwhile */
	snprintf(name, sizeof(name), "perf-%u.map", p->inner);
	if (root >= 0)
		tmp = targetfile_folder(root, STR("/tmp"));
	if (tmp >= 0)
		fd = targetfile_open(tmp, str_of(name), false);
	error = errno;
	if (tmp >= 0)
		close(tmp);
	if (root >= 0)
		close(root);
	if (fd < 0 && (error == ELOOP || error == EINVAL)) /* a link, or no regular file */
		jits_refuse(j, p, JITS_UNTRUSTED);
	else if (fd < 0 && (error == EACCES || error == EPERM))
		jits_refuse(j, p, JITS_FORBIDDEN);
	return jits_trusted(j, p, fd);
}

static void copy_name(const struct jit *p, const char *kind, char name[JITCOPY_NAME])
{
	char tenant[TENANT_NAME];

	tenant_folder(&p->tenant, p->mount_ns, tenant);
	snprintf(name, JITCOPY_NAME, "%s/%u-%llu.%s", tenant, p->pid, (unsigned long long)p->start, kind);
}

/* Opens the folder of this boot, in which that of the tenant is. Not the caller's. */
static int jits_folder_of(struct jits *j, const struct jit *p)
{
	int folder = saverdir_jit(j->dir);
	char name[TENANT_NAME];

	tenant_folder(&p->tenant, p->mount_ns, name);
	return folder >= 0 && (mkdirat(folder, name, 0750) == 0 || errno == EEXIST) ? folder : -1;
}

/* ---- one process
 * ---------------------------------------------------------------------------------------------------------- */

/* A disk may have room again: it is tried on, and counted once for each time that the process is seen. */
static void jits_count(struct jits *j, struct jit *p, enum jitcopy_why why)
{
	static const uint8_t event[] = { [JITCOPY_LARGE] = JITS_LARGE,
					 [JITCOPY_NO_TEXT] = JITS_UNTRUSTED,
					 [JITCOPY_DISK] = JITS_DISK,
					 [JITCOPY_EVICTED] = JITS_BUDGET };

	if (why == JITCOPY_OK || (why == JITCOPY_DISK && p->no_space))
		return;
	p->no_space = p->no_space || why == JITCOPY_DISK;
	j->count[event[why]]++;
}

static uint64_t jits_cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

/* False: there was nothing new, or it is not the time for it. */
static bool jits_copy(struct jits *j, struct jit *p, struct jitcopy *c, bool *counted)
{
	struct jitcopy_cost cost;
	uint64_t cpu, now = clock_now();
	int folder;

	if (c->fd < 0 || c->ended)
		return false;
	if (!saverbudget_may(&j->dir->budget, p->tenant, now)) {
		p->over = true;
		return false;
	}
	folder = jits_folder_of(j, p);
	if (folder < 0 || !saverdir_room(j->dir, 0)) {
		jits_count(j, p, JITCOPY_DISK);
		return false;
	}
	cpu = jits_cpu_now();
	jits_count(j, p, jitcopy_go_on(c, folder, &j->limits, &cost));
	saverbudget_charge(&j->dir->budget, p->tenant, cost.read, jits_cpu_now() - cpu, now);
	j->dir->bytes += cost.written;
	if (cost.read && !*counted) {
		*counted = true;
		j->count[JITS_SAVED]++;
	}
	return cost.read > 0;
}

static void look_for_map(struct jits *j, struct jit *p, uint64_t now)
{
	char name[JITCOPY_NAME];
	int fd, folder;

	if (now < p->look || p->map.ended)
		return;
	fd = open_map(j, p, now);
	if (fd >= 0 && (folder = jits_folder_of(j, p)) >= 0) {
		if (!p->map.name[0]) {
			copy_name(p, "map", name);
			jitcopy_open(&p->map, JITCOPY_MAP, fd, folder, name);
		} else {
			jitcopy_follow(&p->map, fd, folder, &j->limits);
		}
	} else if (fd >= 0) {
		close(fd);
	}
	p->look = (now - p->since) / 8;
	p->look = now + (p->map.fd >= 0 ? AGAIN : p->look < SOON ? SOON : p->look > FIND_MAX ? FIND_MAX : p->look);
}

static void free_jit(struct jit *p)
{
	jitcopy_close(&p->map);
	jitcopy_close(&p->dump);
	if (p->process >= 0)
		close(p->process);
	free(p);
}

/* All that is there, as far as the budget of the tenant and the time go. */
static void copy_rest(struct jits *j, struct jit *p, struct jitcopy *c, bool *counted)
{
	uint64_t until = j->deadline ? j->deadline : clock_now() + LAST_NS;

	p->over = false;
	for (unsigned n = 0; n < LAST_STEPS && clock_now() < until && jits_copy(j, p, c, counted); n++)
		;
	if (p->over && jitcopy_is_after(c)) {
		j->count[JITS_BUDGET]++;
		saverbudget_count(&j->dir->budget, p->tenant, 1);
	}
}

/* It ended, or is as good as. */
static void jits_finish(struct jits *j, size_t i, uint64_t now)
{
	struct jit *p = j->jit[i];

	if (jits_enter(j, p)) {
		p->look = 0;
		look_for_map(j, p, now);
		copy_rest(j, p, &p->map, &p->map_counted);
		copy_rest(j, p, &p->dump, &p->dump_counted);
		jits_leave(j);
	} else {
		jits_refuse(j, p, JITS_SLOW);
	}
	free_jit(p);
	j->jit[i] = j->jit[--j->n];
}

/* ---- all
 * ----------------------------------------------------------------------------------------------------------------------
 */

static size_t jits_find(const struct jits *j, uint32_t pid)
{
	size_t i = 0;

	while (i < j->n && j->jit[i]->pid != pid)
		i++;
	return i;
}

/* How many processes of its tenant are followed. */
static size_t jits_count_tenant(const struct jits *j, struct tenant of)
{
	size_t n = 0;

	for (size_t i = 0; i < j->n; i++)
		n += tenant_same(j->jit[i]->tenant, of);
	return n;
}

/* Of the tenant that has most processes, the one that was seen longest ago is not followed any more. */
static void jits_make_space(struct jits *j, uint64_t now)
{
	size_t oldest = 0, max = 0;

	if (j->n < JITS_MAX)
		return;
	for (size_t i = 0; i < j->n; i++) {
		size_t n = jits_count_tenant(j, j->jit[i]->tenant);

		if (n > max || (n == max && j->jit[i]->seen < j->jit[oldest]->seen)) {
			max = n;
			oldest = i;
		}
	}
	jits_finish(j, oldest, now);
}

/* The process, new if need be; NULL: it is gone, or nothing of it may be read. */
static struct jit *jits_need(struct jits *j, uint32_t pid, uint64_t start, uint64_t mount_ns, uint64_t now)
{
	size_t i = jits_find(j, pid);
	struct jit *p;
	int process;

	if (i < j->n && j->jit[i]->start != start) {
		jits_finish(j, i, now); /* the number is another's by now */
		i = j->n;
	}
	if (i == j->n) {
		process = start ? target_process(j->proc, pid, start) : -1;
		if (process < 0) {
			j->count[JITS_GONE]++;
			return NULL;
		}
		jits_make_space(j, now);
		p = mem_alloc(sizeof(*p), 1);
		*p = (struct jit){ .pid = pid,
				   .start = start,
				   .mount_ns = mount_ns,
				   .process = process,
				   .since = now,
				   .alive = now + ALIVE };
		p->tenant = tenant_of(process);
		p->map.fd = p->dump.fd = -1;
		if (!targetfiles_identity(process, &p->uid, &p->inner)) {
			free_jit(p);
			j->count[JITS_GONE]++;
			return NULL;
		}
		j->jit[j->n++] = p;
		i = j->n - 1;
	}
	j->jit[i]->seen = now;
	return j->jit[i];
}

/* The copies are needed by one more window. */
static void jits_touch(struct jits *j, const struct jit *p)
{
	static const char *const kinds[] = { "map", "map.1", "dump" };
	char name[JITCOPY_NAME];

	for (size_t i = 0; i < countof(kinds) && j->dir->boot_jit >= 0; i++) {
		copy_name(p, kinds[i], name);
		utimensat(j->dir->boot_jit, name, NULL, AT_SYMLINK_NOFOLLOW);
	}
}

void jits_see(struct jits *j, uint32_t pid, uint64_t start, uint64_t mount_ns, uint64_t now)
{
	struct jit *p = jits_need(j, pid, start, mount_ns, now);

	if (!p)
		return;
	p->refused = p->no_space = false;
	jits_touch(j, p);
	if (!jits_enter(j, p)) {
		jits_refuse(j, p, JITS_SLOW);
		return;
	}
	look_for_map(j, p, now);
	jits_copy(j, p, &p->map, &p->map_counted);
	jits_leave(j);
}

void jits_dump(struct jits *j, uint32_t pid, uint64_t start, uint64_t mount_ns, const struct target_mapping *m,
	       uint64_t now)
{
	struct jit *p = jits_need(j, pid, start, mount_ns, now);
	int root, fd, folder;
	char name[JITCOPY_NAME];

	if (!p)
		return;
	jits_touch(j, p);
	if (p->dump.name[0])
		return;
	if (!jits_enter(j, p)) {
		jits_refuse(j, p, JITS_SLOW);
		return;
	}
	root = jits_root_of(j, p, now);
	fd = targetfiles_open(root, p->process, m, NULL);
	if (root >= 0)
		close(root);
	if (fd < 0)
		j->count[JITS_OTHER]++;
	fd = jits_trusted(j, p, fd);
	folder = fd >= 0 ? jits_folder_of(j, p) : -1;
	if (folder >= 0) {
		copy_name(p, "dump", name);
		jitcopy_open(&p->dump, JITCOPY_DUMP, fd, folder, name);
		jits_copy(j, p, &p->dump, &p->dump_counted);
	} else if (fd >= 0) {
		close(fd);
	}
	jits_leave(j);
}

void jits_exit(struct jits *j, uint32_t pid, uint64_t now)
{
	size_t i = jits_find(j, pid);

	if (i < j->n)
		jits_finish(j, i, now);
}

void jits_tick(struct jits *j, uint64_t now)
{
	for (size_t i = 0; i < j->n;) {
		struct jit *p = j->jit[i];

		if (jits_enter(j, p)) {
			look_for_map(j, p, now);
			jits_copy(j, p, &p->map, &p->map_counted);
			jits_copy(j, p, &p->dump, &p->dump_counted);
			jits_leave(j);
		}
		if (now >= p->alive && !targetfiles_lives(p->process)) {
			jits_finish(j, i, now);
			continue;
		}
		p->alive = now >= p->alive ? now + ALIVE : p->alive;
		i++;
	}
}

void jits_free(struct jits *j, uint64_t now)
{
	j->deadline = clock_now() + END_NS;
	while (j->n)
		jits_finish(j, j->n - 1, now);
}
