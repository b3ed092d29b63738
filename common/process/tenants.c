/* SPDX-License-Identifier: Apache-2.0 */
#include "common/process/tenants.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "common/hash.h"
#include "common/text.h"
#include "common/process/timelimit.h"
#include "common/files/fullio.h"

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
#define IDLE_NS (600 * SECOND_NS)
#define SWEEP_NS (10 * SECOND_NS)
#define TABLE 1024u /* number of slots for accounts; a power of two */

/* ---- the tenant of a process ------------------------------------------------------------------------------------ */

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

/* Returns true for "/user.slice/user-1000.slice/..." and sets *uid, because systemd lets this user create any cgroup
 * below. */
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

static uint64_t namespace_inode(int folder, const char *name)
{
	struct stat status;

	return fstatat(folder, name, &status, 0) == 0 ? status.st_ino : 0;
}

static uint64_t tenants_inode_of(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 ? status.st_ino : 0;
}

enum kind { USER_NAMESPACE, PID_NAMESPACE };

static const char *const kind_names[] = { "ns/user", "ns/pid" };

/* Returns the inode of this process's own namespace of a kind, which does not change; 0 if unknown. */
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

/* Returns the inode of the outermost namespace of a kind, below that of this process, that contains the process; 0 if
 * both processes are in the same namespace. Sets *owner, if not NULL, to the owner of that namespace. For most
 * processes one stat() is enough. */
static uint64_t outermost_namespace(int process, enum kind kind, uid_t *owner)
{
	uint64_t own = own_namespace(kind), inode, outermost = 0;
	int fd;

	if (own && namespace_inode(process, kind_names[kind]) == own)
		return 0;
	fd = openat(process, kind_names[kind], O_RDONLY | O_CLOEXEC);
	for (unsigned i = 0; fd >= 0 && i < NESTED_MAX && (inode = tenants_inode_of(fd)) != own; i++) {
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
	/* real uid; the owner of /proc/PID is no substitute, as that is root while the process is not dumpable */
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

/* Facts from /proc/PID/status and cgroup alone, whose readers cannot block. Readers of namespaces can block for ever
 * since Linux 6.18: exec() of a process holds the lock that they need (test/hostile/holdlock.c). */
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
static uint64_t tenants_place_of(struct tenant tenant, const struct status *status)
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
	return tenants_place_of(*tenant, &texts.status);
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

/* Like find_namespaces, but with a time limit: if it passes, *facts stays unchanged. place: fault domain of the
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
				find_namespaces_soon(process, tenants_place_of(found, &texts.status), &texts.facts);
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

/* ---- level of fair shares ---------------------------------------------------------------------------------------- */

uint64_t tenants_level(const uint64_t *held, const uint64_t *floor, size_t n, uint64_t target)
{
	uint64_t low = 0, high = target;

	while (low < high) {
		uint64_t level = high - (high - low) / 2, sum = 0;

		for (size_t i = 0; i < n; i++) {
			uint64_t max = floor && floor[i] > level ? floor[i] : level;

			sum += held[i] < max ? held[i] : max;
		}
		if (sum <= target)
			low = level;
		else
			high = level - 1;
	}
	return low;
}

/* ---- accounts of tenants ----------------------------------------------------------------------------------------- */

struct account {
	struct tenant_account sums;
	bool used;
	/* Time of the last refill of any flow, in ns (clock_now). */
	uint64_t touched;
	int64_t level[TENANT_FLOWS];   /* amount that is left of each flow; negative: debt */
	uint64_t filled[TENANT_FLOWS]; /* time of the last refill of each flow, in ns */
};

struct tenants {
	struct tenant_limits limits;
	uint64_t total[TENANT_STOCKS];
	size_t n;
	uint64_t next_sweep;   /* time of the next forget_idle at the earliest, in ns */
	struct account shared; /* account of all tenants without an account in the table */
	struct account account[TABLE];
};

struct tenants *tenants_new(const struct tenant_limits *limits)
{
	struct tenants *tenants = mem_alloc(sizeof(*tenants), 1);

	tenants->limits = *limits;
	tenants->shared.used = true;
	for (size_t i = 0; i < TENANT_FLOWS; i++)
		tenants->shared.level[i] = (int64_t)limits->flow[i].burst;
	return tenants;
}

void tenants_free(struct tenants *tenants)
{
	free(tenants);
}

static bool is_tenant(const struct account *account, struct tenant tenant)
{
	return account->used && account->sums.tenant.kind == tenant.kind && account->sums.tenant.key == tenant.key;
}

static size_t first_slot(struct tenant tenant)
{
	return hash_pair(tenant.key, tenant.kind) & (TABLE - 1);
}

/* Removes the account in slot `gap`. Moves later accounts back towards their first slot, as open addressing
 * requires. */
static void remove_account(struct tenants *tenants, size_t gap)
{
	tenants->account[gap].used = false;
	tenants->n--;
	for (size_t i = (gap + 1) & (TABLE - 1); tenants->account[i].used; i = (i + 1) & (TABLE - 1)) {
		size_t wanted = first_slot(tenants->account[i].sums.tenant);

		if (((i - wanted) & (TABLE - 1)) < ((i - gap) & (TABLE - 1)))
			continue;
		tenants->account[gap] = tenants->account[i];
		tenants->account[i].used = false;
		gap = i;
	}
}

/* Returns true if the account holds nothing, has no debt, and no flow of it was refilled for IDLE_NS. */
static bool tenants_is_idle(const struct account *account, uint64_t now)
{
	for (size_t i = 0; i < TENANT_STOCKS; i++)
		if (account->sums.held[i])
			return false;
	for (size_t i = 0; i < TENANT_FLOWS; i++)
		if (account->level[i] < 0)
			return false;
	return account->touched + IDLE_NS < now;
}

static void forget_idle(struct tenants *tenants)
{
	uint64_t now = clock_now();

	if (now < tenants->next_sweep)
		return;
	tenants->next_sweep = now + SWEEP_NS;
	for (size_t i = 0; i < TABLE; i++)
		while (tenants->account[i].used && tenants_is_idle(&tenants->account[i], now))
			remove_account(tenants, i);
}

/* Returns the account of a tenant; adds it if it is new. At most half of the slots are in use, so that searches are
 * short; further tenants get the shared account. */
static struct account *account_of(struct tenants *tenants, struct tenant tenant)
{
	size_t i = first_slot(tenant);

	while (tenants->account[i].used && !is_tenant(&tenants->account[i], tenant))
		i = (i + 1) & (TABLE - 1);
	if (tenants->account[i].used)
		return &tenants->account[i];
	if (tenants->n >= TABLE / 2)
		forget_idle(tenants);
	if (tenants->n >= TABLE / 2)
		return &tenants->shared;
	/* searches again, because forget_idle may have moved accounts */
	for (i = first_slot(tenant); tenants->account[i].used;)
		i = (i + 1) & (TABLE - 1);
	tenants->n++;
	tenants->account[i] = (struct account){ .sums.tenant = tenant, .used = true };
	for (size_t index = 0; index < TENANT_FLOWS; index++)
		tenants->account[i].level[index] = (int64_t)tenants->limits.flow[index].burst;
	return &tenants->account[i];
}

/* Refills a flow by rate times the time since its last refill, up to the burst. An amount below 1 is not added yet, but
 * with a later refill. The product is a double, so that it cannot overflow. */
static void tenants_refill(struct tenants *tenants, struct account *account, enum tenant_flow flow, uint64_t now)
{
	uint64_t rate = tenants->limits.flow[flow].per_second, burst = tenants->limits.flow[flow].burst;
	uint64_t passed = now > account->filled[flow] ? now - account->filled[flow] : 0;
	double more = (double)rate * (double)passed / (double)SECOND_NS;
	double level = (double)account->level[flow] + more;

	if (more < 1 && account->filled[flow])
		return; /* less than 1: `filled` stays, so the next refill includes this time */
	account->level[flow] = level < (double)burst ? (int64_t)level : (int64_t)burst;
	account->filled[flow] = now;
	account->touched = now;
}

bool tenants_may(struct tenants *tenants, struct tenant tenant, enum tenant_flow flow, uint64_t now)
{
	struct account *account = account_of(tenants, tenant);

	if (tenants->limits.flow[flow].burst == 0)
		return true;
	tenants_refill(tenants, account, flow, now);
	account->sums.refused_flow[flow] += account->level[flow] <= 0;
	return account->level[flow] > 0;
}

bool tenants_has(struct tenants *tenants, struct tenant tenant, enum tenant_flow flow, uint64_t amount, uint64_t now)
{
	struct account *account = account_of(tenants, tenant);

	if (tenants->limits.flow[flow].burst == 0)
		return true;
	tenants_refill(tenants, account, flow, now);
	return account->level[flow] >= 0 && (uint64_t)account->level[flow] >= amount;
}

bool tenants_take(struct tenants *tenants, struct tenant tenant, enum tenant_flow flow, uint64_t amount, uint64_t now)
{
	struct account *account = account_of(tenants, tenant);

	if (tenants->limits.flow[flow].burst) {
		tenants_refill(tenants, account, flow, now);
		if (account->level[flow] < 0 || (uint64_t)account->level[flow] < amount) {
			account->sums.refused_flow[flow]++;
			return false;
		}
		account->level[flow] -= (int64_t)amount;
	}
	account->sums.used[flow] += amount;
	return true;
}

void tenants_charge(struct tenants *tenants, struct tenant tenant, enum tenant_flow flow, uint64_t amount, uint64_t now)
{
	struct account *account = account_of(tenants, tenant);

	if (tenants->limits.flow[flow].burst) {
		tenants_refill(tenants, account, flow, now);
		account->level[flow] -= amount < INT64_MAX / 4 ? (int64_t)amount : INT64_MAX / 4;
		if (account->level[flow] < INT64_MIN / 4)
			account->level[flow] = INT64_MIN / 4;
	}
	account->sums.used[flow] += amount;
}

void tenants_credit(struct tenants *tenants, struct tenant tenant, enum tenant_flow flow, uint64_t amount)
{
	struct account *account = account_of(tenants, tenant);
	int64_t burst = (int64_t)tenants->limits.flow[flow].burst;

	account->level[flow] =
		account->level[flow] < burst - (int64_t)amount ? account->level[flow] + (int64_t)amount : burst;
}

bool tenants_hold(struct tenants *tenants, struct tenant tenant, enum tenant_stock stock, uint64_t amount)
{
	struct account *account = account_of(tenants, tenant);
	uint64_t max = tenants->limits.stock[stock], all = tenants->limits.total[stock];

	if ((max && (amount > max || account->sums.held[stock] > max - amount)) ||
	    (all && (amount > all || tenants->total[stock] > all - amount))) {
		account->sums.refused_stock[stock]++;
		return false;
	}
	account->sums.held[stock] += amount;
	tenants->total[stock] += amount;
	return true;
}

void tenants_release(struct tenants *tenants, struct tenant tenant, enum tenant_stock stock, uint64_t amount)
{
	struct account *account = account_of(tenants, tenant);
	uint64_t held = account->sums.held[stock];

	amount = amount < held ? amount : held;
	account->sums.held[stock] -= amount;
	tenants->total[stock] -= amount;
}

void tenants_refused(struct tenants *tenants, struct tenant tenant, enum tenant_stock stock)
{
	account_of(tenants, tenant)->sums.refused_stock[stock]++;
}

/* ---- reports of refusals ----------------------------------------------------------------------------------------- */

static uint64_t tenants_refusals(const struct account *account)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < TENANT_FLOWS; i++)
		sum += account->sums.refused_flow[i];
	for (size_t i = 0; i < TENANT_STOCKS; i++)
		sum += account->sums.refused_stock[i];
	return sum;
}

size_t tenants_over(const struct tenants *tenants)
{
	size_t n = tenants_refusals(&tenants->shared) > 0;

	for (size_t i = 0; i < TABLE; i++)
		n += tenants->account[i].used && tenants_refusals(&tenants->account[i]) > 0;
	return n;
}

static int by_refusals(const void *x, const void *y)
{
	const struct account *account = *(const struct account *const *)x, *b = *(const struct account *const *)y;
	uint64_t m = tenants_refusals(account), n = tenants_refusals(b);

	if (m != n)
		return m < n ? 1 : -1;
	if (account->sums.tenant.kind != b->sums.tenant.kind)
		return account->sums.tenant.kind < b->sums.tenant.kind ? -1 : 1;
	return account->sums.tenant.key < b->sums.tenant.key ? -1 : account->sums.tenant.key > b->sums.tenant.key;
}

void tenants_each_refused(const struct tenants *tenants, size_t max,
			  void (*f)(void *arg, const struct tenant_account *account), void *arg)
{
	const struct account *list[TABLE + 1];
	size_t n = 0;

	for (size_t i = 0; i < TABLE; i++)
		if (tenants->account[i].used && tenants_refusals(&tenants->account[i]))
			list[n++] = &tenants->account[i];
	if (tenants_refusals(&tenants->shared))
		list[n++] = &tenants->shared;
	qsort(list, n, sizeof(*list), by_refusals);
	for (size_t i = 0; i < n && i < max; i++)
		f(arg, &list[i]->sums);
}
