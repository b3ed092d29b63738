/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tenants.h - finds the tenant of a process, and accounts the budgets that each tenant has left.
 *
 * A tenant is a container, else a user, else, for processes of root, a mount namespace. A tenant must not be able to
 * pose as several. So of nested containers the outermost one is the tenant. Processes below user-N.slice belong to user
 * N (rootless containers, delegated cgroups). A cgroup with the name of a container is accepted only if root alone can
 * create one there. The user of a user namespace is its owner. Containers without an id in their cgroup (LXC,
 * systemd-nspawn) are identified by the outermost user namespace that root created, else by the outermost PID namespace
 * below that of pj: processes inside can become any user and create mount namespaces, but cannot leave it.
 *
 * There are two kinds of budget. A flow (CPU time, bytes written) is refilled with time up to a burst; a stock (memory,
 * saved bytes) is the amount that a tenant holds now. Requests beyond a limit are refused and counted, without effect
 * on other tenants. The table of accounts is bounded: all further tenants share one account.
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
 * Returns TENANT_UNKNOWN for processes of root on this host, too. */
struct tenant tenant_without_namespaces(uint32_t pid);

/* Returns the fault domain of a process for timelimit_call, its container or user, from files in /proc/PID whose
 * readers cannot block. Each process of root on this host is a fault domain of its own. */
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

/* Returns the largest level L at which the n shares held[] fit into `target`: a share above L is cut to L, or to its
 * floor[] if that is larger; a smaller share stays as it is. floor NULL: all floors are 0. Pure. */
uint64_t tenants_level(const uint64_t *held, const uint64_t *floor, size_t n, uint64_t target);

enum tenant_flow {
	TENANT_CPU_NS,
	TENANT_DISK_BYTES,
	TENANT_SAMPLE_BYTES,
	TENANT_WINDOW_BYTES,
	TENANT_JVM_NS,
	/* TENANT_JVM_NS and TENANT_PROC_NS are parts of TENANT_CPU_NS with smaller limits: CPU time for JVMs, and for
	 * /proc and records of mappings */
	TENANT_PROC_NS,
	TENANT_BLOCKED_NS, /* time for which targets block the reader of JVMs */
	TENANT_FLOWS
};
enum tenant_stock { TENANT_MEMORY, TENANT_SAVED_BYTES, TENANT_STOCKS };

struct tenant_limits {
	struct {
		/* per_second: amount refilled per second; burst: largest amount that can be left, 0: no limit */
		uint64_t per_second, burst;
	} flow[TENANT_FLOWS];
	uint64_t stock[TENANT_STOCKS]; /* limit for the amount that one tenant holds; 0: no limit */
	uint64_t total[TENANT_STOCKS]; /* limit for the amount that all tenants together hold; 0: no limit */
};

struct tenants;

struct tenants *tenants_new(const struct tenant_limits *limits);
void tenants_free(struct tenants *tenants);

/* Takes an amount of a flow at time `now` (clock_now). If less than that is left, takes nothing, counts a refusal and
 * returns false. */
bool tenants_take(struct tenants *tenants, struct tenant tenant, enum tenant_flow flow, uint64_t amount, uint64_t now);

/* Takes an amount of a flow that was already used, even if less is left: then the tenant has a debt, and must wait
 * until refills have paid it. */
void tenants_charge(struct tenants *tenants, struct tenant tenant, enum tenant_flow flow, uint64_t amount,
		    uint64_t now);

/* Adds an amount to a flow, up to its burst: for flows that are refilled by actions of the tenant, not by time. */
void tenants_credit(struct tenants *tenants, struct tenant tenant, enum tenant_flow flow, uint64_t amount);

/* Returns true if at least `amount` of a flow is left. Takes nothing and counts no refusal. */
bool tenants_has(struct tenants *tenants, struct tenant tenant, enum tenant_flow flow, uint64_t amount, uint64_t now);

/* Returns true if more than 0 of a flow is left; otherwise counts a refusal and returns false. */
bool tenants_may(struct tenants *tenants, struct tenant tenant, enum tenant_flow flow, uint64_t now);

/* Adds an amount to a stock. If the tenant, or all tenants together, would then exceed a limit, adds nothing, counts a
 * refusal and returns false. */
bool tenants_hold(struct tenants *tenants, struct tenant tenant, enum tenant_stock stock, uint64_t amount);
void tenants_release(struct tenants *tenants, struct tenant tenant, enum tenant_stock stock, uint64_t amount);

/* Counts a refusal of a stock whose cause was not a limit in struct tenant_limits. */
void tenants_refused(struct tenants *tenants, struct tenant tenant, enum tenant_stock stock);

struct tenant_account {
	struct tenant tenant;
	/* used: amounts of flows used since the start; refused_flow: numbers of refusals of flows since the start */
	uint64_t used[TENANT_FLOWS], refused_flow[TENANT_FLOWS];
	/* held: amounts of stocks held now; refused_stock: numbers of refusals of stocks since the start */
	uint64_t held[TENANT_STOCKS], refused_stock[TENANT_STOCKS];
};

/* Calls f for at most `max` tenants with refusals, in descending order of the number of refusals. */
void tenants_each_refused(const struct tenants *tenants, size_t max,
			  void (*f)(void *arg, const struct tenant_account *account), void *arg);

/* Returns the number of tenants with a refusal since the start; all tenants of the shared account are counted as
 * one. */
size_t tenants_over(const struct tenants *tenants);

#endif
