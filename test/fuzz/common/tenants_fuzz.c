/* tenants: the tenant of a process from texts of /proc that may hold anything, names of tenants and of their folders,
 * shares of what all hold. Input: a byte that chooses, then cgroup and status (fuzz_part), or the name of a folder,
 * amounts of 8 bytes, or uses of budgets of 8 bytes. */
/* covers: common/process/tenant.c common/process/tenants.c */
#include "common/formats/perfrecord.h"
#include "common/process/tenants.h"

#include "common/clocks.h"
#include "test/fuzz/fuzz.h"

#include <unistd.h>

/* Accounts are forgotten by this clock. */
static uint64_t fake_clock;

static uint64_t fake_now(void)
{
	return fake_clock;
}

#define clock_now fake_now
#include "common/process/tenant.c"
#include "common/process/tenants.c"
#undef clock_now

static uid_t owner;

static uid_t find_owner(struct str controllers, struct str path)
{
	MUST(str_find(controllers, '\n') < 0 && str_find(path, '\n') < 0);
	return owner;
}

/* The folder's name leads back to the tenant. */
static void check_names(struct tenant tenant)
{
	char name[TENANT_NAME], folder[TENANT_NAME];
	struct tenant again;

	MUST(strlen(tenant_name(&tenant, name)) < TENANT_NAME);
	tenant_folder(&tenant, 7, folder);
	MUST(strlen(folder) < TENANT_NAME && !strchr(folder, '/') && folder[0] != '.');
	if (tenant.kind == TENANT_UNKNOWN)
		MUST(strcmp(folder, "unknown-7") == 0 && !tenant_from_folder(str_of(folder), &again));
	else
		MUST(tenant_from_folder(str_of(folder), &again) && tenant_same(tenant, again));
}

static bool holds_number(struct str text, uint64_t number)
{
	char digits[40];

	snprintf(digits, sizeof(digits), "%llu", (unsigned long long)number);
	return str_find_str(text, str_of(digits)) >= 0;
}

/* cgroup is in lower case: so are ids in names of folders. */
static void facts(struct str cgroup, uint8_t choice)
{
	struct tenant_facts f = { .cgroup = cgroup,
				  .uid = choice & 2 ? 1000 : 0,
				  .container_ns = choice & 4 ? 4026532201 : 0,
				  .mount_ns = choice & 8 ? 4026531841 : 0,
				  .cgroup_owner = choice & 16 ? find_owner : NULL };
	struct tenant of;

	owner = choice & 32 ? 1001 : 0;
	of = tenant_from(&f);
	check_names(of);
	switch (of.kind) {
	case TENANT_CONTAINER: MUST(!f.cgroup_owner || !owner); break;
	case TENANT_USER:
		MUST((of.key == f.uid && f.uid) || (of.key == owner && owner && f.cgroup_owner) ||
		     holds_number(cgroup, of.key));
		break;
	case TENANT_NAMESPACE: MUST(of.key == f.container_ns && f.container_ns); break;
	case TENANT_MOUNT_NS: MUST(of.key == f.mount_ns && !f.uid && !f.container_ns); break;
	case TENANT_UNKNOWN: MUST(!f.uid && !f.container_ns && !f.mount_ns); break;
	}
}

/* Files of a process: without namespaces there, so a container, a user or unknown. And this process, whose namespaces
 * can be read. */
static void files(struct str cgroup, struct str status)
{
	int folder = fuzz_folder(), self;
	struct tenant of;
	uint64_t place;

	fuzz_put("cgroup", cgroup);
	fuzz_put("status", status);
	of = tenant_of_blocking(folder);
	MUST(of.kind == TENANT_CONTAINER || of.kind == TENANT_USER || (of.kind == TENANT_UNKNOWN && of.key == 0));
	check_names(of);
	place = tenant_place(folder);
	MUST(place == tenant_place(folder));
	MUST(tenant_place_of_pid(4194305) != tenant_place_of_pid(4194306));
	MUST(tenant_without_namespaces((uint32_t)getpid()).kind == tenant_without_namespaces((uint32_t)getpid()).kind);
	unlinkat(folder, "cgroup", 0);
	unlinkat(folder, "status", 0);
	self = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
	of = tenant_of(self);
	/* without an answer in time its namespaces do not count */
	MUST(tenant_same(of, tenant_of_blocking(self)) ||
	     tenant_same(of, tenant_without_namespaces((uint32_t)getpid())));
	MUST(tenant_place(self) == tenant_place_of_pid((uint32_t)getpid()));
	close(self);
}

static void folder_name(struct str name)
{
	struct tenant of;

	if (!tenant_from_folder(name, &of))
		return;
	MUST(of.kind != TENANT_UNKNOWN);
	check_names(of);
}

/* At the level all fits, and with one more it would not; who is below keeps all. */
static void shares(struct str bytes)
{
	uint64_t held[64] = { 0 }, least[64] = { 0 }, target, level, sum = 0, above = 0, bound = 0;
	size_t n = 0;

	target = bytes.n >= 8 ? load64(bytes.p) >> 8 : 0;
	for (bytes = str_from(bytes, bytes.n < 8 ? bytes.n : 8); n < countof(held) && bytes.n >= 16;
	     bytes = str_from(bytes, 16), n++) {
		held[n] = load64(bytes.p) >> 8;
		least[n] = load64(bytes.p + 8) >> 8;
	}
	level = tenants_level(held, least, n, target);
	for (size_t i = 0; i < n; i++) {
		uint64_t cap = level > least[i] ? level : least[i], more = level + 1 > least[i] ? level + 1 : least[i];

		sum += held[i] < cap ? held[i] : cap;
		above += level == UINT64_MAX || held[i] < more ? held[i] : more;
		bound += held[i] < least[i] ? held[i] : least[i];
	}
	MUST(sum <= target || bound > target);
	MUST(sum == above || above > target);
}

static void count_refused(void *arg, const struct tenant_account *account)
{
	uint64_t refused = 0;

	for (size_t i = 0; i < TENANT_FLOWS; i++)
		refused += account->refused_flow[i];
	for (size_t i = 0; i < TENANT_STOCKS; i++)
		refused += account->refused_stock[i];
	MUST(refused);
	++*(size_t *)arg;
}

/* More tenants than the table has room for share an account; after ten minutes without use, those that hold nothing
 * give way. */
static void crowd(struct tenants *tenants, uint64_t now, unsigned n, unsigned holds)
{
	fake_clock = now;
	for (unsigned i = 0; i < 8 * n; i++) {
		struct tenant of = { TENANT_MOUNT_NS, 100 + i };

		tenants_charge(tenants, of, TENANT_CPU_NS, i % 7 * 1000, now);
		if (i % 16 < holds && tenants_hold(tenants, of, TENANT_SAVED_BYTES, 1))
			tenants_release(tenants, of, TENANT_SAVED_BYTES, i % 3);
	}
	tenants_refused(tenants, (struct tenant){ TENANT_MOUNT_NS, 100 }, TENANT_SAVED_BYTES);
}

/* Budgets: what a tenant has it may take, and no tenant holds more than its limit. Each use is 8 bytes. */
static void budgets(struct str uses)
{
	static const struct tenant_limits limits = {
		.flow = { [TENANT_CPU_NS] = { 1000, 5000 }, [TENANT_JVM_NS] = { 10, 20 } },
		.stock = { 3000, 0 },
		.total = { 9000, 100000 }
	};
	struct tenants *t = tenants_new(&limits);
	uint64_t now = 1, held[8] = { 0 }, sum = 0;
	size_t refused = 0;
	unsigned crowds = 0;

	for (; uses.n >= 8; uses = str_from(uses, 8)) {
		const uint8_t *u = (const uint8_t *)uses.p;
		struct tenant of = { TENANT_USER, 1 + u[1] % 8u };
		enum tenant_flow flow = (enum tenant_flow)(u[2] % TENANT_FLOWS);
		uint64_t amount = u[3] * 40u, *mine = &held[u[1] % 8u];
		bool had;

		now += u[4] * UINT64_C(3000000) + (u[5] == 0xff ? 700 * UINT64_C(1000000000) : 0);
		fake_clock = now;
		switch (u[0] % 7) {
		case 0:
			had = tenants_has(t, of, flow, amount, now);
			MUST(tenants_take(t, of, flow, amount, now) == had);
			break;
		case 1: tenants_charge(t, of, flow, amount, now); break;
		case 2: tenants_credit(t, of, flow, amount); break;
		case 3: (void)tenants_may(t, of, flow, now); break;
		case 6:
			if (crowds++ < 8)
				crowd(t, now, u[6], u[7] % 17);
			break;
		case 4:
			had = tenants_hold(t, of, TENANT_MEMORY, amount);
			MUST(crowds || had == (*mine + amount <= 3000 && sum + amount <= 9000));
			*mine += had ? amount : 0;
			sum += had ? amount : 0;
			break;
		default:
			amount = amount < *mine ? amount : *mine;
			tenants_release(t, of, TENANT_MEMORY, amount);
			*mine -= amount;
			sum -= amount;
			break;
		}
	}
	tenants_each_refused(t, 2000, count_refused, &refused);
	MUST(refused == tenants_over(t));
	tenants_free(t);
}

int fuzz_one(const uint8_t *data, size_t n)
{
	struct str rest = { (const char *)data, n };
	uint8_t choice;

	if (!n)
		return 0;
	choice = data[0];
	rest = str_from(rest, 1);
	if (choice % 2) {
		facts(rest, choice);
	} else if (choice % 8 == 0) {
		struct str cgroup = fuzz_part(&rest);

		files(cgroup, rest);
	} else if (choice % 8 == 2) {
		folder_name(rest);
	} else if (choice % 8 == 6) {
		budgets(rest);
	} else {
		shares(rest);
	}
	return 0;
}
