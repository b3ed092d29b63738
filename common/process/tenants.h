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
 * kept) is what a tenant holds now. What goes beyond a limit is refused and counted, without effect on other tenants.
 * The table is bounded: tenants beyond it share one entry.
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
}; /* windows contain these numbers */

struct tenant {
	enum tenant_kind kind;
	uint64_t key; /* by kind: first 16 hexadecimal digits of a container's id, uid, or inode of a namespace */
};

/* Returns the tenant of a process; `process` is a descriptor of its /proc/PID. Returns TENANT_UNKNOWN if the process
 * has ended or may not be read. If its namespaces cannot be read in limited time (TENANT_NAMESPACES_MS), the tenant is
 * its container or user. */
struct tenant tenant_of(int process);

/* Like tenant_of, but waits for the namespaces without a time limit: for a thread that may hang. */
struct tenant tenant_of_blocking(int process);

/* Returns the tenant of a process by container or user alone, from files in /proc/PID whose reading cannot hang.
 * Returns TENANT_UNKNOWN also for root on this host. */
struct tenant tenant_without_namespaces(uint32_t pid);

/* Returns a process's place for timelimit_call, from files in /proc/PID whose reading cannot hang: that of its
 * container or user. A process of root on this host is a place of its own. */
uint64_t tenant_place(int process);

/* Like tenant_place, by pid. A process whose /proc/PID cannot be opened is a place of its own, too. */
uint64_t tenant_place_of_pid(uint32_t pid);

enum { TENANT_NAMESPACES_MS = 50 };

/* The facts that the tenant of a process follows from. */
struct tenant_facts {
	struct str cgroup; /* text of /proc/PID/cgroup */
	uid_t uid;         /* real uid; in a user namespace below ours: owner of the outermost one */
	/* Inode of the outermost user namespace below ours, if root owns it; without a user namespace, of the outermost
	 * PID namespace below ours; else 0. */
	uint64_t container_ns;
	uint64_t mount_ns; /* inode of the mount namespace; 0: unknown */
	/* Returns the owner of a cgroup's folder, 0 if unknown; `controllers` and path are from a line of `cgroup`.
	 * NULL: root owns all. */
	uid_t (*cgroup_owner)(struct str controllers, struct str path);
};

/* Returns the tenant of a process with these facts. Reads files only through cgroup_owner. */
struct tenant tenant_from(const struct tenant_facts *facts);

static inline bool tenant_same(struct tenant tenant, struct tenant b)
{
	return tenant.kind == b.kind && tenant.key == b.key;
}

/* Writes the name of a tenant for messages and returns it: "container 0123456789ab", "user 1000", "mount namespace
 * 4026531841", "namespace 4026532201" or "unknown". */
enum { TENANT_NAME = 40 };
const char *tenant_name(const struct tenant *tenant, char name[TENANT_NAME]);

/* Writes the name of the folder for a tenant's files: "container-0123456789abcdef", "user-1000", "mount-4026531841" or
 * "namespace-4026532201"; for an unknown tenant "unknown-N" with N = mount_ns, as its mount namespace is all that we
 * know. */
void tenant_folder(const struct tenant *tenant, uint64_t mount_ns, char name[TENANT_NAME]);

/* Sets *tenant to the one whose folder has that name. Returns false if it is of an unknown tenant or not such a
 * name. */
bool tenant_from_folder(struct str name, struct tenant *tenant);

/* Returns the largest level at which n shares fit into `target` together: a share above the level is cut to it, but not
 * below its floor (floor NULL: 0). Smaller shares lose nothing. Pure. */
uint64_t tenants_level(const uint64_t *held, const uint64_t *floor, size_t n, uint64_t target);

enum tenant_flow {
	TENANT_CPU_NS,
	TENANT_DISK_BYTES,
	TENANT_SAMPLE_BYTES,
	TENANT_WINDOW_BYTES,
	TENANT_JVM_NS,
	/* parts of TENANT_CPU_NS with smaller limits: TENANT_JVM_NS for JVMs, TENANT_PROC_NS for /proc and records of
	 * mappings */
	TENANT_PROC_NS,
	TENANT_BLOCKED_NS, /* time for which the reader of JVMs is blocked */
	TENANT_FLOWS
};
enum tenant_stock { TENANT_MEMORY, TENANT_SAVED_BYTES, TENANT_STOCKS };

struct tenant_limits {
	struct {
		uint64_t per_second, burst; /* burst: largest amount that can be left; 0: no limit */
	} flow[TENANT_FLOWS];
	uint64_t stock[TENANT_STOCKS]; /* limit for what one tenant holds; 0: no limit */
	uint64_t total[TENANT_STOCKS]; /* limit for what all tenants hold together; 0: no limit */
};

struct tenants;

struct tenants *tenants_new(const struct tenant_limits *limits);
void tenants_free(struct tenants *tenants);

/* Takes an amount of a flow at time `now` (clock_now). If less is left, takes nothing, counts a refusal, and returns
 * false. */
bool tenants_take(struct tenants *tenants, struct tenant tenant, enum tenant_flow flow, uint64_t amount, uint64_t now);

/* Takes an amount that was already used, also if less is left: the tenant then waits until its debt is refilled. */
void tenants_charge(struct tenants *tenants, struct tenant tenant, enum tenant_flow flow, uint64_t amount,
		    uint64_t now);

/* Gives a tenant an amount of a flow, up to its burst: for flows that are refilled by what the tenant does, not by
 * time. */
void tenants_credit(struct tenants *tenants, struct tenant tenant, enum tenant_flow flow, uint64_t amount);

/* Returns true if at least `amount` is left of a flow. Takes nothing and counts no refusal. */
bool tenants_has(struct tenants *tenants, struct tenant tenant, enum tenant_flow flow, uint64_t amount, uint64_t now);

/* Returns true if anything is left of a flow. Otherwise counts a refusal and returns false. */
bool tenants_may(struct tenants *tenants, struct tenant tenant, enum tenant_flow flow, uint64_t now);

/* Adds an amount to a stock. If the tenant, or all together, would hold too much, adds nothing, counts a refusal, and
 * returns false. */
bool tenants_hold(struct tenants *tenants, struct tenant tenant, enum tenant_stock stock, uint64_t amount);
void tenants_release(struct tenants *tenants, struct tenant tenant, enum tenant_stock stock, uint64_t amount);

/* Counts a refusal of a stock that another limit caused. */
void tenants_refused(struct tenants *tenants, struct tenant tenant, enum tenant_stock stock);

struct tenant_account {
	struct tenant tenant;
	/* since the start: amounts that were used, and number of refusals */
	uint64_t used[TENANT_FLOWS], refused_flow[TENANT_FLOWS];
	uint64_t held[TENANT_STOCKS], refused_stock[TENANT_STOCKS];
};

/* Calls f for at most `max` tenants with a refusal, first those with the most refusals. */
void tenants_each_refused(const struct tenants *tenants, size_t max,
			  void (*f)(void *arg, const struct tenant_account *account), void *arg);

/* Returns the number of tenants with a refusal since the start; tenants in the shared account count as one. */
size_t tenants_over(const struct tenants *tenants);

#endif
