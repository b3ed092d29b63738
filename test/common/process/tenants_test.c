/* tenants_test - how the budgets of tenants empty and refill. */
/* covers: common/process/tenants.c */
#include "common/process/tenants.h"

#include "common/clocks.h"
#include "test/lib/tap.h"

static uint64_t elapsed; /* time in ns that has passed for the accounts only */

static uint64_t later(void)
{
	return clock_now() + elapsed;
}

#define clock_now later
#include "common/process/tenants.c"
#undef clock_now

static const struct tenant a = { TENANT_USER, 1 }, b = { TENANT_USER, 2 };

static void flows(void)
{
	struct tenants *t = tenants_new(&(struct tenant_limits){ .flow = { [TENANT_DISK_BYTES] = { 100, 1000 } } });
	uint64_t now = 5 * SECOND_NS;

	ok(tenants_take(t, a, TENANT_DISK_BYTES, 1000, now), "a burst");
	ok(!tenants_take(t, a, TENANT_DISK_BYTES, 1, now), "nothing is left");
	ok(tenants_take(t, b, TENANT_DISK_BYTES, 1000, now), "another tenant does not notice");
	ok(!tenants_take(t, a, TENANT_DISK_BYTES, 101, now + SECOND_NS), "one second refills 100");
	ok(tenants_take(t, a, TENANT_DISK_BYTES, 100, now + SECOND_NS), "which can be taken");
	for (uint64_t ns = 0; ns < SECOND_NS; ns += 1000000) /* calls that come often do not lose time */
		tenants_may(t, a, TENANT_DISK_BYTES, now + SECOND_NS + ns);
	ok(tenants_take(t, a, TENANT_DISK_BYTES, 99, now + 2 * SECOND_NS), "refilled in small steps");
	tenants_charge(t, a, TENANT_DISK_BYTES, 500, now + 2 * SECOND_NS);
	ok(!tenants_may(t, a, TENANT_DISK_BYTES, now + 6 * SECOND_NS) &&
		   tenants_may(t, a, TENANT_DISK_BYTES, now + 8 * SECOND_NS),
	   "a debt of 500 takes 5 s");
	tenants_charge(t, a, TENANT_DISK_BYTES, UINT64_MAX, now);
	tenants_charge(t, a, TENANT_DISK_BYTES, UINT64_MAX, now);
	tenants_charge(t, a, TENANT_DISK_BYTES, UINT64_MAX, now);
	ok(!tenants_may(t, a, TENANT_DISK_BYTES, UINT64_MAX / 2), "debts do not wrap");
	ok(tenants_take(t, a, TENANT_CPU_NS, UINT64_MAX, now), "a flow without a burst has no limit");
	is_u64(tenants_over(t), 1, "one tenant was refused something");
	tenants_free(t);
}

static void stocks(void)
{
	struct tenants *t = tenants_new(
		&(struct tenant_limits){ .stock = { [TENANT_MEMORY] = 100 }, .total = { [TENANT_MEMORY] = 150 } });

	ok(tenants_hold(t, a, TENANT_MEMORY, 100) && !tenants_hold(t, a, TENANT_MEMORY, 1), "a tenant has a limit");
	ok(tenants_hold(t, b, TENANT_MEMORY, 50) && !tenants_hold(t, b, TENANT_MEMORY, 1), "all together have one");
	tenants_release(t, a, TENANT_MEMORY, UINT64_MAX);
	ok(tenants_hold(t, b, TENANT_MEMORY, 50) && !tenants_hold(t, b, TENANT_MEMORY, UINT64_MAX),
	   "what is released can be held by others");
	tenants_free(t);
}

struct seen {
	size_t n;
	uint64_t key[4];
};

static void see(void *arg, const struct tenant_account *account)
{
	struct seen *s = arg;

	if (s->n < countof(s->key))
		s->key[s->n++] = account->tenant.key;
}

static void table(void)
{
	struct tenants *t = tenants_new(&(struct tenant_limits){ .flow = { [TENANT_CPU_NS] = { 1, 10 } } });
	uint64_t now = clock_now();
	struct seen s = { 0 };
	size_t refused = 0;

	for (uint64_t i = 0; i < 100000; i++)
		refused += !tenants_take(t, (struct tenant){ TENANT_CONTAINER, i }, TENANT_CPU_NS, 10, now);
	is_u64(refused, 100000 - 512 - 1, "tenants beyond the table share one budget");
	for (int i = 0; i < 3; i++)
		tenants_take(t, (struct tenant){ TENANT_CONTAINER, 7 }, TENANT_CPU_NS, 11, now);
	tenants_take(t, (struct tenant){ TENANT_CONTAINER, 8 }, TENANT_CPU_NS, 11, now);
	tenants_each_refused(t, 3, see, &s);
	ok(s.n == 3 && s.key[1] == 7 && s.key[2] == 8, "those refused most often come first");
	tenants_free(t);
}

/* Accounts that were not used for long make place. */
static void eviction(void)
{
	struct tenants *t = tenants_new(
		&(struct tenant_limits){ .flow = { [TENANT_CPU_NS] = { 1, 10 } }, .stock = { [TENANT_MEMORY] = 5 } });
	uint64_t now = clock_now(), old = now > 700 * SECOND_NS ? now - 700 * SECOND_NS : 1;

	for (uint64_t i = 0; i < 512; i++)
		tenants_take(t, (struct tenant){ TENANT_CONTAINER, i }, TENANT_CPU_NS, 1, i < 500 ? old : now);
	tenants_hold(t, (struct tenant){ TENANT_CONTAINER, 3 }, TENANT_MEMORY, 5);
	ok(tenants_take(t, (struct tenant){ TENANT_USER, 1 }, TENANT_CPU_NS, 10, now) &&
		   tenants_take(t, (struct tenant){ TENANT_USER, 2 }, TENANT_CPU_NS, 10, now),
	   "new tenants get accounts of their own");
	ok(!tenants_hold(t, (struct tenant){ TENANT_CONTAINER, 3 }, TENANT_MEMORY, 1),
	   "an account that holds something stays");
	ok(!tenants_take(t, (struct tenant){ TENANT_CONTAINER, 511 }, TENANT_CPU_NS, 10, now),
	   "an account in use stays");
	tenants_free(t);
}

/* A tenant holds memory in the shared account, and releases it after it got an account of its own. */
static void shared_stock(void)
{
	const struct tenant_limits limits = { .stock = { [TENANT_MEMORY] = 700 }, .total = { [TENANT_MEMORY] = 1000 } };
	struct tenants *t = tenants_new(&limits);
	const struct tenant c = { TENANT_USER, 3 };

	for (uint64_t i = 0; i < 512; i++)
		tenants_hold(t, (struct tenant){ TENANT_CONTAINER, i }, TENANT_MEMORY, 1);
	ok(tenants_hold(t, a, TENANT_MEMORY, 300) && tenants_hold(t, b, TENANT_MEMORY, 100), "a full table: shared");
	for (uint64_t i = 0; i < 512; i++)
		tenants_release(t, (struct tenant){ TENANT_CONTAINER, i }, TENANT_MEMORY, 1);
	elapsed = 700 * SECOND_NS;
	ok(tenants_hold(t, a, TENANT_MEMORY, 10), "idle accounts made place: an account of its own");
	tenants_release(t, a, TENANT_MEMORY, 300);
	tenants_release(t, a, TENANT_MEMORY, 10);
	ok(!tenants_hold(t, c, TENANT_MEMORY, 901) && tenants_hold(t, c, TENANT_MEMORY, 700) &&
		   tenants_hold(t, a, TENANT_MEMORY, 200),
	   "tenants_release takes exactly the tenant's amount from the shared account");
	elapsed = 0;
	tenants_free(t);
}

static void levels(void)
{
	const uint64_t held[] = { 10, 50, 100, 0 }, floor[] = { 0, 0, 80, 0 };

	is_u64(tenants_level(held, NULL, 4, 160), 160, "all fit");
	is_u64(tenants_level(held, NULL, 4, 110), 50, "the largest is cut");
	is_u64(tenants_level(held, NULL, 4, 60), 25, "two are cut to one level");
	is_u64(tenants_level(held, floor, 4, 110), 20, "but none below its floor");
	is_u64(tenants_level(held, NULL, 4, 0), 0, "nothing fits");
}

int main(void)
{
	flows();
	stocks();
	table();
	if (clock_now() > 700 * SECOND_NS)
		eviction();
	shared_stock();
	levels();
	return done();
}
