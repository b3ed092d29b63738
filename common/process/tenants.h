/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tenants.h - records how much of its budgets each tenant (tenant.h) has left, and refuses more.
 *
 * There are two kinds of budget. A flow (CPU time, bytes written) is refilled with time up to a burst; a stock (memory,
 * saved bytes) is the amount that a tenant holds now. Requests beyond a limit are refused and counted, without effect
 * on other tenants. The table of accounts is bounded: all further tenants share one account.
 */
#ifndef PJ_TENANTS_H
#define PJ_TENANTS_H

#include "common/process/tenant.h"

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

/* Takes an amount of a flow that the tenant has already used, even if less is left: then the tenant has a debt, and
 * must wait until refills have paid it. */
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
/* Returns true if the tenant's own limit of a stock leaves room for an amount, whatever all tenants together hold. */
bool tenants_has_room(struct tenants *tenants, struct tenant tenant, enum tenant_stock stock, uint64_t amount);
/* Removes from a stock an amount that tenants_hold added for this tenant. */
void tenants_release(struct tenants *tenants, struct tenant tenant, enum tenant_stock stock, uint64_t amount);

/* Counts a refusal of a stock for another reason than a limit in struct tenant_limits. */
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
