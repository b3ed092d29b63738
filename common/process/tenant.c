/* SPDX-License-Identifier: Apache-2.0 */
#include "common/process/tenant.h"

#include "common/arena.h"
#include "common/files/fullio.h"
#include "common/hash.h"
#include "common/process/timelimit.h"
#include "common/text.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define ID_DIGITS 64  /* number of hexadecimal digits of a container id */
#define KEY_DIGITS 16 /* number of leading digits of a container id that are the key of the tenant */
#define CGROUP_MAX (64u << 10)
#define NESTED_MAX 40 /* limit for the nesting of namespaces; the kernel allows 32 user namespaces */

/* ---- the tenant of a set of facts -------------------------------------------------------------------------------- */

static size_t hex_run(struct str string)
{
	size_t n = 0;

	while (n < string.n && byte_is_hex(string.p[n]))
		n++;
	return n;
}

/* Finds the first container id in the path of a cgroup, that of the outermost container. Sets *parent to the path of
 * the folder above this container, and *key to the key of the tenant. Returns false if path has no container id. */
static bool outermost_container(struct str path, struct str *parent, uint64_t *key)
{
	const char *start = path.p;

	while (path.n >= ID_DIGITS) {
		size_t n = hex_run(path);

		if (n == ID_DIGITS) {
			*parent = (struct str){ start, (size_t)(path.p - start) };
			while (parent->n && parent->p[parent->n - 1] != '/')
				parent->n--;
			return str_hex(str_head(path, KEY_DIGITS), key);
		}
		path = str_from(path, n + 1 < path.n ? n + 1 : path.n);
	}
	return false;
}

/* Returns true for "/user.slice/user-1000.slice/..." and sets *uid. systemd lets this user create any cgroup below, so
 * container ids there prove nothing. */
static bool user_slice(struct str path, uint64_t *uid)
{
	struct str rest = path, part;

	if (!str_starts(path, STR("/user.slice/user-")))
		return false;
	rest = str_from(path, STR("/user.slice/user-").n);
	part = str_cut(&rest, '.');
	return str_u64(part, uid) && *uid > 0 && str_starts(rest, STR("slice"));
}

struct tenant tenant_from(const struct tenant_facts *facts)
{
	struct str cgroup = facts->cgroup, parent;
	uint64_t key;

	while (cgroup.n) { /* each line is HIERARCHY:CONTROLLERS:PATH */
		struct str path = str_cut(&cgroup, '\n'), controllers;
		uid_t owner;

		str_cut(&path, ':');
		controllers = str_cut(&path, ':');
		if (user_slice(path, &key))
			return (struct tenant){ TENANT_USER, key };
		if (!outermost_container(path, &parent, &key))
			continue;
		owner = facts->cgroup_owner ? facts->cgroup_owner(controllers, parent) : 0;
		if (!owner)
			return (struct tenant){ TENANT_CONTAINER, key };
		if (!facts->container_ns)
			return (struct tenant){ TENANT_USER, owner };
	}
	if (facts->container_ns)
		return (struct tenant){ TENANT_NAMESPACE, facts->container_ns };
	if (facts->uid)
		return (struct tenant){ TENANT_USER, facts->uid };
	return (struct tenant){ facts->mount_ns ? TENANT_MOUNT_NS : TENANT_UNKNOWN, facts->mount_ns };
}

/* ---- facts of a process ------------------------------------------------------------------------------------------ */

static uint64_t namespace_inode(int folder, const char *name)
{
	struct stat status;

	return fstatat(folder, name, &status, 0) == 0 ? status.st_ino : 0;
}

static uint64_t tenant_inode_of(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 ? status.st_ino : 0;
}

enum kind { USER_NAMESPACE, PID_NAMESPACE };

static const char *const kind_names[] = { "ns/user", "ns/pid" };

/* Returns the inode of this process's own namespace of a kind; 0 if unknown. The inode never changes. */
static uint64_t own_namespace(enum kind kind)
{
	static _Atomic uint64_t own[countof(kind_names)];
	char self[32];

	if (!own[kind]) {
		snprintf(self, sizeof(self), "/proc/self/%s", kind_names[kind]);
		own[kind] = namespace_inode(AT_FDCWD, self);
	}
	return own[kind];
}

/* Returns the inode of the outermost namespace of this kind that contains the process with descriptor `process` and is
 * below the namespace of pj; 0 if the process is in the namespace of pj. Sets *owner, if not NULL, to the owner of that
 * namespace. For most processes one stat() is enough. */
static uint64_t outermost_namespace(int process, enum kind kind, uid_t *owner)
{
	uint64_t own = own_namespace(kind), inode, outermost = 0;
	int fd;

	if (own && namespace_inode(process, kind_names[kind]) == own)
		return 0;
	fd = openat(process, kind_names[kind], O_RDONLY | O_CLOEXEC);
	for (unsigned i = 0; fd >= 0 && i < NESTED_MAX && (inode = tenant_inode_of(fd)) != own; i++) {
		int parent = ioctl(fd, NS_GET_PARENT);

		outermost = inode;
		if (owner)
			ioctl(fd, NS_GET_OWNER_UID, owner);
		close(fd);
		fd = parent;
	}
	if (fd >= 0)
		close(fd);
	return outermost;
}

static void find_namespaces(int process, struct tenant_facts *facts)
{
	uint64_t user_ns = outermost_namespace(process, USER_NAMESPACE, &facts->uid);

	if (!user_ns)
		facts->container_ns = outermost_namespace(process, PID_NAMESPACE, NULL);
	else if (facts->uid == 0)
		facts->container_ns = user_ns;
	facts->mount_ns = namespace_inode(process, "ns/mnt");
}

/* Returns the owner of the folder of a cgroup, 0 if unknown. controllers and path: fields of a line of
 * /proc/PID/cgroup. Uses the conventional mount points of cgroup version 2, of version 1, and of both together. */
static uid_t owner_of_cgroup(struct str controllers, struct str path)
{
	static const char *const unified[] = { "/sys/fs/cgroup/cgroup.controllers", "/sys/fs/cgroup",
					       "/sys/fs/cgroup/unified" };
	struct text text = { 0 };
	struct stat status;
	uid_t owner = 0;

	if (str_starts(controllers, STR("name=")))
		controllers = str_from(controllers, STR("name=").n);
	if (controllers.n)
		text_printf(&text, "/sys/fs/cgroup/%.*s%.*s%c", (int)controllers.n, controllers.p, (int)path.n, path.p,
			    0);
	else
		text_printf(&text, "%s%.*s%c", unified[access(unified[0], F_OK) == 0 ? 1 : 2], (int)path.n, path.p, 0);
	if (stat(text.p, &status) == 0)
		owner = status.st_uid;
	text_free(&text);
	return owner;
}

struct status {
	/* real uid; the owner of /proc/PID is no substitute, since root owns it while the process is not dumpable */
	uint64_t uid;
	uint64_t pid;
	bool is_nested; /* true if the process is in a PID namespace below that of pj */
};

static bool parse_status(struct str rest, struct status *status)
{
	bool found = false;

	*status = (struct status){ 0 };
	while (rest.n) {
		struct str line = str_cut(&rest, '\n'), name = str_cut(&line, '\t'), first = str_cut(&line, '\t');

		if (str_eq(name, STR("Uid:")))
			found = str_u64(first, &status->uid);
		else if (str_eq(name, STR("Pid:")))
			str_u64(first, &status->pid);
		else if (str_eq(name, STR("NSpid:")))
			status->is_nested = line.n > 0;
	}
	return found;
}

/* Facts from /proc/PID/status and cgroup alone: readers of these two files cannot block. Readers of namespaces can
 * block for ever since Linux 6.18: exec() of a process holds the lock that they need (test/hostile/holdlock.c). */
struct texts {
	struct status status;
	struct text cgroup;
	struct tenant_facts facts;
};

/* Reads status and cgroup of a process. Returns false if the process has ended or may not be read; texts->cgroup is
 * then empty. */
static bool read_texts(int process, struct texts *texts)
{
	struct text status = { 0 };
	bool found = process >= 0 && fullio_read_at(process, "status", &status, CGROUP_MAX) &&
		     parse_status(text_view(&status), &texts->status);

	text_free(&status);
	texts->cgroup = (struct text){ 0 };
	if (found)
		fullio_read_at(process, "cgroup", &texts->cgroup, CGROUP_MAX);
	texts->facts = (struct tenant_facts){ .cgroup = text_view(&texts->cgroup),
					      .uid = (uid_t)texts->status.uid,
					      .cgroup_owner = owner_of_cgroup };
	return found;
}

/* Returns the fault domain of a process for timelimit_call. A process of an unknown tenant is a fault domain of its
 * own, by its PID. Exception: all processes of unknown tenants in nested PID namespaces together are one fault domain,
 * since root of a container without an id cannot be distinguished from root of the host. */
static uint64_t tenant_place_from(struct tenant tenant, const struct status *status)
{
	uint64_t key = tenant.kind != TENANT_UNKNOWN ? tenant.key : status->is_nested ? 0 : status->pid;

	return hash_pair(key, tenant.kind);
}

static uint64_t place_from_texts(int process, uint64_t pid, struct tenant *tenant)
{
	struct texts texts = { 0 };

	if (!read_texts(process, &texts))
		texts.status = (struct status){ .pid = pid };
	*tenant = tenant_from(&texts.facts);
	text_free(&texts.cgroup);
	return tenant_place_from(*tenant, &texts.status);
}

static uint64_t place_of_pid(uint32_t pid, struct tenant *tenant)
{
	char path[32];
	uint64_t place;
	int process;

	snprintf(path, sizeof(path), "/proc/%u", pid);
	process = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	place = place_from_texts(process, pid, tenant);
	if (process >= 0)
		close(process);
	return place;
}

struct tenant tenant_without_namespaces(uint32_t pid)
{
	struct tenant tenant;

	place_of_pid(pid, &tenant);
	return tenant;
}

uint64_t tenant_place(int process)
{
	struct tenant tenant;

	return place_from_texts(process, 0, &tenant);
}

uint64_t tenant_place_of_pid(uint32_t pid)
{
	struct tenant tenant;

	return place_of_pid(pid, &tenant);
}

struct namespaces {
	int process;
	uint64_t place;
	struct tenant_facts facts;
};

static void read_namespaces(void *arg)
{
	struct namespaces *namespaces = arg;

	find_namespaces(namespaces->process, &namespaces->facts);
}

static void drop_namespaces(void *arg)
{
	struct namespaces *namespaces = arg;

	close(namespaces->process);
	free(namespaces);
}

static uint64_t place_of_namespaces(void *arg)
{
	const struct namespaces *namespaces = arg;

	return namespaces->place;
}

/* Like find_namespaces, but with a time limit: after the limit, *facts stays unchanged. place: fault domain of the
 * process, for timelimit_call. */
static void find_namespaces_soon(int process, uint64_t place, struct tenant_facts *facts)
{
	struct namespaces *namespaces = mem_alloc(sizeof(*namespaces), 1);

	*namespaces = (struct namespaces){ fcntl(process, F_DUPFD_CLOEXEC, 0), place, { .uid = facts->uid } };
	if (!timelimit_call(&(struct timelimit_call){ read_namespaces, drop_namespaces, place_of_namespaces, namespaces,
						      TENANT_NAMESPACES_MS, 20 * TENANT_NAMESPACES_MS }))
		return;
	facts->uid = namespaces->facts.uid;
	facts->container_ns = namespaces->facts.container_ns;
	facts->mount_ns = namespaces->facts.mount_ns;
	drop_namespaces(namespaces);
}

static struct tenant find_tenant(int process, bool soon)
{
	struct tenant found = { .kind = TENANT_UNKNOWN };
	struct texts texts;

	if (read_texts(process, &texts)) {
		found = tenant_from(&texts.facts);
		if (found.kind != TENANT_CONTAINER) {
			if (soon)
				find_namespaces_soon(process, tenant_place_from(found, &texts.status), &texts.facts);
			else
				find_namespaces(process, &texts.facts);
			found = tenant_from(&texts.facts);
		}
	}
	text_free(&texts.cgroup);
	return found;
}

struct tenant tenant_of(int process)
{
	return find_tenant(process, true);
}

struct tenant tenant_of_blocking(int process)
{
	return find_tenant(process, false);
}

/* ---- names of tenants -------------------------------------------------------------------------------------------- */

const char *tenant_name(const struct tenant *tenant, char name[TENANT_NAME])
{
	switch (tenant->kind) {
	case TENANT_CONTAINER:
		snprintf(name, TENANT_NAME, "container %012llx", (unsigned long long)(tenant->key >> 16));
		break;
	case TENANT_USER: snprintf(name, TENANT_NAME, "user %llu", (unsigned long long)tenant->key); break;
	case TENANT_MOUNT_NS:
		snprintf(name, TENANT_NAME, "mount namespace %llu", (unsigned long long)tenant->key);
		break;
	case TENANT_NAMESPACE: snprintf(name, TENANT_NAME, "namespace %llu", (unsigned long long)tenant->key); break;
	case TENANT_UNKNOWN:
	default: snprintf(name, TENANT_NAME, "unknown");
	}
	return name;
}

void tenant_folder(const struct tenant *tenant, uint64_t mount_ns, char name[TENANT_NAME])
{
	switch (tenant->kind) {
	case TENANT_CONTAINER: snprintf(name, TENANT_NAME, "container-%016llx", (unsigned long long)tenant->key); break;
	case TENANT_USER: snprintf(name, TENANT_NAME, "user-%llu", (unsigned long long)tenant->key); break;
	case TENANT_MOUNT_NS: snprintf(name, TENANT_NAME, "mount-%llu", (unsigned long long)tenant->key); break;
	case TENANT_NAMESPACE: snprintf(name, TENANT_NAME, "namespace-%llu", (unsigned long long)tenant->key); break;
	case TENANT_UNKNOWN:
	default: snprintf(name, TENANT_NAME, "unknown-%llu", (unsigned long long)mount_ns);
	}
}

bool tenant_from_folder(struct str name, struct tenant *tenant)
{
	struct str kind = str_cut(&name, '-');

	*tenant = (struct tenant){ TENANT_UNKNOWN, 0 };
	if (str_eq(kind, STR("container")) && str_hex(name, &tenant->key))
		tenant->kind = TENANT_CONTAINER;
	else if (str_eq(kind, STR("user")) && str_u64(name, &tenant->key))
		tenant->kind = TENANT_USER;
	else if (str_eq(kind, STR("mount")) && str_u64(name, &tenant->key))
		tenant->kind = TENANT_MOUNT_NS;
	else if (str_eq(kind, STR("namespace")) && str_u64(name, &tenant->key))
		tenant->kind = TENANT_NAMESPACE;
	else
		tenant->key = 0;
	return tenant->kind != TENANT_UNKNOWN;
}
