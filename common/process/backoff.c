/* SPDX-License-Identifier: Apache-2.0 */
#include "common/process/backoff.h"

#include "common/clocks.h"
#include "common/hash.h"

#include <signal.h>
#include <sys/wait.h>

#define FIRST_NS (10 * SECOND_NS) /* time in ns for which a fault domain is avoided after its first counted failure */
#define LONGEST_NS (3600 * SECOND_NS)
/* time in ns without a failure after which the failures of a fault domain are forgotten */
#define FORGET_NS (3600 * SECOND_NS)
#define REST_NS (SECOND_NS / 5) /* time in ns between the crash of a helper and the next start of a helper */
#define LINGER_NS (60 * SECOND_NS)
/* number of crashes at a fault domain that are not counted as its failures: the cause may be one single file, or lack
 * of memory */
#define CRASHES_FREE 2

bool backoff_is_host(const struct tenant *tenant, uint64_t own_ns)
{
	return tenant->kind == TENANT_UNKNOWN || (tenant->kind == TENANT_MOUNT_NS && tenant->key == own_ns);
}

uint64_t backoff_place(const struct tenant *tenant, uint64_t own_ns, uint64_t device)
{
	uint64_t id[3] = { tenant->kind, tenant->key, backoff_is_host(tenant, own_ns) ? device : 0 };

	return hash_bytes(id, sizeof(id)) | 1;
}

/* ---- fault domains ----------------------------------------------------------------------------------------------- */

static size_t index_of(const struct backoff *backoff, uint64_t place)
{
	size_t i = 0;

	while (i < BACKOFF_PLACES_MAX && backoff->place[i].place != place)
		i++;
	return i;
}

static const struct backoff_place *backoff_find_place(const struct backoff *backoff, uint64_t place)
{
	size_t i = index_of(backoff, place);

	return i < BACKOFF_PLACES_MAX ? &backoff->place[i] : NULL;
}

/* Returns the time in ns from which on a fault domain is neither avoided nor in debt. */
static uint64_t free_again(const struct backoff_place *place)
{
	return place->until > place->paid ? place->until : place->paid;
}

/* Returns the slot of a fault domain. A new fault domain replaces the one whose free_again is earliest; returns NULL if
 * that time is later than `until` (ns). */
static struct backoff_place *backoff_slot_of(struct backoff *backoff, uint64_t place, uint64_t until)
{
	size_t i = index_of(backoff, place);

	if (i < BACKOFF_PLACES_MAX)
		return &backoff->place[i];
	i = 0;
	for (size_t index = 1; index < BACKOFF_PLACES_MAX; index++)
		if (free_again(&backoff->place[index]) < free_again(&backoff->place[i]))
			i = index;
	if (free_again(&backoff->place[i]) > until)
		return NULL;
	backoff->place[i] = (struct backoff_place){ .place = place };
	return &backoff->place[i];
}

static uint64_t avoided_ns(unsigned failures)
{
	uint64_t ns = FIRST_NS;

	while (--failures && ns < LONGEST_NS)
		ns *= 4;
	return ns < LONGEST_NS ? ns : LONGEST_NS;
}

/* ---- helper processes -------------------------------------------------------------------------------------------- */

static void backoff_reap(struct backoff *backoff)
{
	for (size_t i = 0; i < countof(backoff->lingering); i++)
		if (backoff->lingering[i].pid && waitpid(backoff->lingering[i].pid, NULL, WNOHANG) != 0)
			backoff->lingering[i] = (struct backoff_lingering){ 0 };
}

void backoff_abandon(struct backoff *backoff, pid_t pid, uint64_t place)
{
	kill(pid, SIGKILL);
	if (waitpid(pid, NULL, WNOHANG) != 0)
		return;
	for (size_t i = 0; i < countof(backoff->lingering); i++) {
		if (backoff->lingering[i].pid)
			continue;
		backoff->lingering[i] = (struct backoff_lingering){ pid, place };
		return;
	}
}

void backoff_failed(struct backoff *backoff, pid_t pid, uint64_t place, bool hung, uint64_t now)
{
	backoff->hung += hung;
	backoff->crashed += !hung;
	if (!hung)
		backoff->rest = now + REST_NS;
	backoff_abandon(backoff, pid, place);
	if (place) {
		struct backoff_place *slot = backoff_slot_of(backoff, place, UINT64_MAX);

		if (now > slot->last + FORGET_NS)
			slot->n = slot->crashes = 0;
		slot->last = now;
		if (hung || ++slot->crashes > CRASHES_FREE)
			slot->until = now + avoided_ns(++slot->n);
	}
}

/* ---- blocked time of fault domains ------------------------------------------------------------------------------- */

void backoff_blocked(struct backoff *backoff, uint64_t place, uint64_t blocked_ns, uint64_t now)
{
	uint64_t counted = blocked_ns < BACKOFF_BLOCKED_MAX_NS ? blocked_ns : BACKOFF_BLOCKED_MAX_NS;
	struct backoff_place *slot = backoff_slot_of(backoff, place, now + BACKOFF_SHARE * counted);

	if (!slot)
		return;
	slot->paid = (slot->paid > now ? slot->paid : now) + BACKOFF_SHARE * counted;
	if (slot->paid > now + BACKOFF_SHARE * BACKOFF_BLOCKED_MAX_NS)
		slot->paid = now + BACKOFF_SHARE * BACKOFF_BLOCKED_MAX_NS;
}

/* ---- state of fault domains and helper processes ----------------------------------------------------------------- */

static bool lingers_at(const struct backoff *backoff, uint64_t place)
{
	for (size_t i = 0; i < countof(backoff->lingering); i++)
		if (backoff->lingering[i].pid && backoff->lingering[i].place == place)
			return true;
	return false;
}

bool backoff_avoids(struct backoff *backoff, uint64_t place, uint64_t now)
{
	const struct backoff_place *slot = backoff_find_place(backoff, place);
	bool avoided = slot && now < slot->until;

	if (!avoided && lingers_at(backoff, place)) {
		backoff_reap(backoff);
		avoided = lingers_at(backoff, place);
	}
	/* NOLINTNEXTLINE(clang-analyzer-core.*): backoff is not NULL */
	backoff->avoided += avoided;
	return avoided;
}

bool backoff_rests(const struct backoff *backoff, uint64_t place, uint64_t now)
{
	const struct backoff_place *slot = backoff_find_place(backoff, place);

	return slot && slot->paid > now + BACKOFF_SHARE * BACKOFF_BURST_NS;
}

bool backoff_has_space(struct backoff *backoff)
{
	backoff_reap(backoff);
	/* a helper may have two processes, and both may linger */
	return backoff_lingering(backoff) + 2 <=
	       (backoff->lingering_max ? backoff->lingering_max : BACKOFF_LINGERING_MAX);
}

bool backoff_may_start(struct backoff *backoff, uint64_t now)
{
	return backoff_has_space(backoff) && now >= backoff->rest;
}

uint64_t backoff_avoided_until(const struct backoff *backoff, uint64_t place, uint64_t now)
{
	const struct backoff_place *slot = place ? backoff_find_place(backoff, place) : NULL;
	uint64_t until = slot ? slot->until : 0;

	if (place && lingers_at(backoff, place) && until < now + LINGER_NS)
		until = now + LINGER_NS;
	return until > now ? until : 0;
}

unsigned backoff_lingering(const struct backoff *backoff)
{
	unsigned n = 0;

	for (size_t i = 0; i < countof(backoff->lingering); i++)
		n += backoff->lingering[i].pid != 0;
	return n;
}

unsigned backoff_places_avoided(const struct backoff *backoff, uint64_t now)
{
	unsigned n = 0;

	for (size_t i = 0; i < BACKOFF_PLACES_MAX; i++)
		n += backoff->place[i].place &&
		     (now < backoff->place[i].until || lingers_at(backoff, backoff->place[i].place));
	return n;
}

struct helper_counts backoff_counts(const struct backoff *backoff, bool off)
{
	return (struct helper_counts){ .hung = backoff->hung,
				       .crashed = backoff->crashed,
				       .avoided = backoff->avoided,
				       .lingering = backoff_lingering(backoff),
				       .off = off };
}

struct helper_counts helper_counts_since(const struct helper_counts *now, const struct helper_counts *before)
{
	struct helper_counts counts = *now;

	counts.hung -= before->hung;
	counts.crashed -= before->crashed;
	counts.avoided -= before->avoided;
	return counts;
}
