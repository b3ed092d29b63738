/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tenants.h - which processes share a budget, and how much of each budget is left.
 *
 * A tenant is a container; else a user; else, for processes of root, a mount namespace. A tenant cannot choose to be
 * several: of nested containers the outermost counts, processes below user-N.slice are those of user N (rootless
 * containers, delegated cgroups), a cgroup with the name of a container counts only where root alone can make one, and
 * the user of a user namespace is its owner. Containers without an id in their cgroup (LXC, systemd-nspawn) are
 * distinguished by the outermost user namespace that root made, else by the outermost PID namespace below ours: inside
 * of it they can take any user and make any mount namespace, but not leave it.
 *
 * Two kinds of budget: a flow (CPU time, bytes written) is refilled with time up to a burst; a stock (memory, bytes
 * kept) is what a tenant holds now. Both are refused over their limit, the refusals are counted, and other tenants do
 * not notice. The table is bounded: tenants beyond it share one entry.
 */
#ifndef PJ_TENANTS_H
#define PJ_TENANTS_H

#include "common/str.h"

#include <sys/types.h>

enum tenant_kind {
	TENANT_UNKNOWN,
	TENANT_CONTAINER,
	TENANT_USER,
	TENANT_MOUNT_NS,
	TENANT_NAMESPACE
}; /* numbers in windows */

struct tenant {
	enum tenant_kind kind;
	uint64_t key; /* first 16 hexadecimal digits of a container's id; uid; inode of a namespace */
};

/* The tenant of a process; `process` is a descriptor of its /proc/PID. TENANT_UNKNOWN if it ended or may not be read. A
 * process whose namespaces cannot be read within TENANT_NAMESPACES_MS is of its container or user. */
struct tenant tenant_of(int process);

/* As tenant_of, but waits for the namespaces of the process without limit: for a thread that may hang. */
struct tenant tenant_of_blocking(int process);

/* Returns the tenant of a process by container or user alone, from texts of /proc/PID whose reading cannot block.
 * Returns TENANT_UNKNOWN also for root on this host. */
struct tenant tenant_without_namespaces(uint32_t pid);

/* A place for timelimit_call, from texts of /proc/PID that no process can make wait: that of its container or user; a
 * process of root on this host is a place of its own. */
uint64_t tenant_place(int process);

/* The same by number. A process whose /proc/PID cannot be opened is a place of its own. */
uint64_t tenant_place_of_pid(uint32_t pid);

enum { TENANT_NAMESPACES_MS = 50 };

/* Facts about a process that its tenant follows from. */
struct tenant_facts {
	struct str cgroup;     /* /proc/PID/cgroup */
	uid_t uid;             /* real user; in a user namespace below ours the owner of the outermost one */
	uint64_t container_ns; /* inode of the outermost user namespace below ours that root owns, else of such a PID
				  namespace; 0: none */
	uint64_t mount_ns;     /* inode; 0: unknown */
	/* Owner of a cgroup's folder, `controllers` and path as in that file; 0 if it cannot be read. NULL: all belong
	 * to root. */
	uid_t (*cgroup_owner)(struct str controllers, struct str path);
};

/* Reads nothing but through cgroup_owner. */
struct tenant tenant_from(const struct tenant_facts *facts);

static inline bool tenant_same(struct tenant tenant, struct tenant b)
{
	return tenant.kind == b.kind && tenant.key == b.key;
}

/* "container 0123456789ab", "user 1000", "mount namespace 4026531841", "namespace 4026532201", "unknown". */
enum { TENANT_NAME = 40 };
const char *tenant_name(const struct tenant *tenant, char name[TENANT_NAME]);

/* Name of a folder for files of that tenant: "container-0123456789abcdef", "user-1000", "mount-4026531841",
 * "namespace-4026532201"; "unknown-N" with the mount namespace N, which of an unknown tenant is all that is known. */
void tenant_folder(const struct tenant *tenant, uint64_t mount_ns, char name[TENANT_NAME]);

/* Which tenant a folder with such a name is of. False: of an unknown one, or it is none. */
bool tenant_from_folder(struct str name, struct tenant *tenant);

/* The level of n shares of what all tenants hold together: the largest one with which they fit into `target`, if each
 * above it is cut to it, but none below its floor (floor NULL: 0). Who holds less than the level loses nothing. Pure.
 */
uint64_t tenants_level(const uint64_t *held, const uint64_t *floor, size_t n, uint64_t target);

enum tenant_flow {
	TENANT_CPU_NS,
	TENANT_DISK_BYTES,
	TENANT_SAMPLE_BYTES,
	TENANT_WINDOW_BYTES,
	TENANT_JVM_NS,
	TENANT_PROC_NS,    /* shares of TENANT_CPU_NS with less ahead: for JVMs; for /proc and records of mappings */
	TENANT_BLOCKED_NS, /* that the reader of JVMs is blocked */
	TENANT_FLOWS
};
enum tenant_stock { TENANT_MEMORY, TENANT_SAVED_BYTES, TENANT_STOCKS };

struct tenant_limits {
	struct {
		uint64_t per_second, burst; /* burst 0: no limit */
	} flow[TENANT_FLOWS];
	uint64_t stock[TENANT_STOCKS]; /* of each tenant; 0: no limit */
	uint64_t total[TENANT_STOCKS]; /* of all; 0: no limit */
};

struct tenants;

struct tenants *tenants_new(const struct tenant_limits *limits);
void tenants_free(struct tenants *tenants);

/* Takes an amount of a flow at a time (clock_now). Returns false, and counts that, if less is left: nothing is taken.
 */
bool tenants_take(struct tenants *tenants, struct tenant tenant, enum tenant_flow flow, uint64_t amount, uint64_t now);

/* Takes an amount that was used already, also beyond the limit: the tenant then waits until its debt is refilled. */
void tenants_charge(struct tenants *tenants, struct tenant tenant, enum tenant_flow flow, uint64_t amount,
		    uint64_t now);

/* Gives a tenant an amount of a flow, up to its burst: of flows that are refilled by what it does, not by time. */
void tenants_credit(struct tenants *tenants, struct tenant tenant, enum tenant_flow flow, uint64_t amount);

/* Returns true if that much is left of a flow. Takes and counts nothing. */
bool tenants_has(struct tenants *tenants, struct tenant tenant, enum tenant_flow flow, uint64_t amount, uint64_t now);

/* Returns false, and counts that, if the tenant is in debt or has nothing left. */
bool tenants_may(struct tenants *tenants, struct tenant tenant, enum tenant_flow flow, uint64_t now);

/* Adds to a stock. Returns false, and counts that, if the tenant or all together would hold too much: nothing is added.
 */
bool tenants_hold(struct tenants *tenants, struct tenant tenant, enum tenant_stock stock, uint64_t amount);
void tenants_release(struct tenants *tenants, struct tenant tenant, enum tenant_stock stock, uint64_t amount);

/* Counts a refusal that another limit caused. */
void tenants_refused(struct tenants *tenants, struct tenant tenant, enum tenant_stock stock);

struct tenant_account {
	struct tenant tenant;
	uint64_t used[TENANT_FLOWS], refused_flow[TENANT_FLOWS]; /* since the start; refusals, not amounts */
	uint64_t held[TENANT_STOCKS], refused_stock[TENANT_STOCKS];
};

/* Calls f for each tenant that was refused something, those refused most often first, at most `most` of them. */
void tenants_each_refused(const struct tenants *tenants, size_t max,
			  void (*f)(void *arg, const struct tenant_account *account), void *arg);

/* Returns the number of tenants with a refusal since the start. */
size_t tenants_over(const struct tenants *tenants);

#endif
