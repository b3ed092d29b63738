/* SPDX-License-Identifier: Apache-2.0 */
#include "common/process/tenants.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "common/hash.h"

#include <stdlib.h>

#define IDLE_NS (600 * SECOND_NS)
#define SWEEP_NS (10 * SECOND_NS)
#define TABLE 1024u /* number of slots for accounts; a power of two */

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

/* Returns true if `held` and `amount` together do not exceed a limit; 0: there is no limit. */
static bool within(uint64_t limit, uint64_t held, uint64_t amount)
{
	return !limit || (amount <= limit && held <= limit - amount);
}

bool tenants_has_room(struct tenants *tenants, struct tenant tenant, enum tenant_stock stock, uint64_t amount)
{
	return within(tenants->limits.stock[stock], account_of(tenants, tenant)->sums.held[stock], amount);
}

bool tenants_hold(struct tenants *tenants, struct tenant tenant, enum tenant_stock stock, uint64_t amount)
{
	struct account *account = account_of(tenants, tenant);

	if (!within(tenants->limits.stock[stock], account->sums.held[stock], amount) ||
	    !within(tenants->limits.total[stock], tenants->total[stock], amount)) {
		account->sums.refused_stock[stock]++;
		return false;
	}
	account->sums.held[stock] += amount;
	tenants->total[stock] += amount;
	return true;
}

/* Removes at most an amount from a stock of an account. Returns the amount removed. */
static uint64_t release_from(struct tenants *tenants, struct account *account, enum tenant_stock stock, uint64_t amount)
{
	uint64_t held = account->sums.held[stock];

	amount = amount < held ? amount : held;
	account->sums.held[stock] -= amount;
	tenants->total[stock] -= amount;
	return amount;
}

void tenants_release(struct tenants *tenants, struct tenant tenant, enum tenant_stock stock, uint64_t amount)
{
	uint64_t rest = amount - release_from(tenants, account_of(tenants, tenant), stock, amount);

	/* the tenant may have held the rest before it got an account of its own */
	release_from(tenants, &tenants->shared, stock, rest);
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
