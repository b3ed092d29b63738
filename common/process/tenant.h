/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tenant.h - finds the tenant of a process: the costs of the process are charged to the budgets of its tenant
 * (tenants.h).
 *
 * A tenant is a container, else a user, else, for processes of root, a mount namespace. A tenant must not be able to
 * pose as several. So of nested containers the outermost one is the tenant. Processes below user-N.slice belong to user
 * N (rootless containers, delegated cgroups). A cgroup with the name of a container is accepted only if root alone can
 * create one there. A process in a user namespace below that of pj belongs to the owner of the outermost such
 * namespace. Containers without an id in their cgroup (LXC, systemd-nspawn) are identified by the outermost user
 * namespace that root created, else by the outermost PID namespace below that of pj: processes inside can become any
 * user and create mount namespaces, but cannot leave this namespace.
 */
#ifndef PJ_TENANT_H
#define PJ_TENANT_H

#include "common/str.h"

#include <sys/types.h>

enum tenant_kind {
	TENANT_UNKNOWN,
	TENANT_CONTAINER,
	TENANT_USER,
	TENANT_MOUNT_NS,
	TENANT_NAMESPACE
}; /* the values of enum tenant_kind are stored in windows and must not change */

struct tenant {
	enum tenant_kind kind;
	/* first 16 hexadecimal digits of the container id as a number, uid, or inode of a namespace, by kind */
	uint64_t key;
};

/* Returns the tenant of a process; `process` is a descriptor of its /proc/PID. Returns TENANT_UNKNOWN if the process
 * has ended or may not be read. If its namespaces cannot be read within TENANT_NAMESPACES_MS, the tenant is determined
 * by container and user alone. */
struct tenant tenant_of(int process);

/* Like tenant_of, but waits for the namespaces without a time limit: for a thread that may block for ever. */
struct tenant tenant_of_blocking(int process);

/* Returns the tenant of a process by container and user alone, from files in /proc/PID whose readers cannot block.
 * Returns TENANT_UNKNOWN for processes of root, too, unless they are in a container with an id. */
struct tenant tenant_without_namespaces(uint32_t pid);

/* Returns the fault domain of a process for timelimit_call, its container or user, from files in /proc/PID whose
 * readers cannot block. Each process of root on this host is a fault domain of its own; processes of root in nested PID
 * namespaces without a container id are one fault domain together. */
uint64_t tenant_place(int process);

/* Like tenant_place, but by PID. A process whose /proc/PID cannot be opened is a fault domain of its own, too. */
uint64_t tenant_place_of_pid(uint32_t pid);

enum { TENANT_NAMESPACES_MS = 50 };

/* The facts that determine the tenant of a process. */
struct tenant_facts {
	struct str cgroup; /* text of /proc/PID/cgroup */
	/* real uid; for a process in a user namespace below that of pj, the owner of the outermost such namespace */
	uid_t uid;
	/* Inode of the outermost user namespace below that of pj, if root owns it; for a process in no such user
	 * namespace, inode of the outermost PID namespace below that of pj; 0: none. */
	uint64_t container_ns;
	uint64_t mount_ns; /* inode of the mount namespace; 0: unknown */
	/* Returns the owner of the folder of a cgroup, 0 if unknown; `controllers` and path are from a line of
	 * `cgroup`. NULL: root owns all folders. */
	uid_t (*cgroup_owner)(struct str controllers, struct str path);
};

/* Returns the tenant of a process with these facts. Reads files only through cgroup_owner. */
struct tenant tenant_from(const struct tenant_facts *facts);

static inline bool tenant_same(struct tenant tenant, struct tenant b)
{
	return tenant.kind == b.kind && tenant.key == b.key;
}

/* Writes the name of a tenant for messages to `name` and returns it: "container 0123456789ab", "user 1000", "mount
 * namespace 4026531841", "namespace 4026532201" or "unknown". */
enum { TENANT_NAME = 40 };
const char *tenant_name(const struct tenant *tenant, char name[TENANT_NAME]);

/* Writes the name of the folder for a tenant's files to `name`: "container-0123456789abcdef", "user-1000",
 * "mount-4026531841" or "namespace-4026532201"; for an unknown tenant "unknown-N", where N is mount_ns, the inode of
 * its mount namespace. */
void tenant_folder(const struct tenant *tenant, uint64_t mount_ns, char name[TENANT_NAME]);

/* Sets *tenant to the tenant whose folder has this name. Returns false for the folder of an unknown tenant, and for
 * other names. */
bool tenant_from_folder(struct str name, struct tenant *tenant);

#endif
