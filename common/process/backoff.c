/* SPDX-License-Identifier: Apache-2.0 */
#include "common/process/backoff.h"

#include "common/clocks.h"
#include "common/hash.h"

#include <signal.h>
#include <sys/wait.h>

#define FIRST_NS (10 * SECOND_NS) /* avoided after the first failure */
#define LONGEST_NS (3600 * SECOND_NS)
#define FORGET_NS (3600 * SECOND_NS) /* without a failure */
#define REST_NS (SECOND_NS / 5)      /* between a crash and the next start */
#define LINGER_NS (60 * SECOND_NS)
#define CRASHES_FREE 2 /* of a place: one file did that, or the kernel's need for memory */

bool backoff_is_host(const struct tenant *of, uint64_t own_ns)
{
	return of->kind == TENANT_UNKNOWN || (of->kind == TENANT_MOUNT_NS && of->key == own_ns);
}

uint64_t backoff_place(const struct tenant *of, uint64_t own_ns, uint64_t device)
{
	uint64_t id[3] = { of->kind, of->key, backoff_is_host(of, own_ns) ? device : 0 };

	return hash_bytes(id, sizeof(id)) | 1;
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

static size_t index_of(const struct backoff *b, uint64_t place)
{
	size_t i = 0;

	while (i < BACKOFF_PLACES_MAX && b->place[i].place != place)
		i++;
	return i;
}

static const struct backoff_place *backoff_find_place(const struct backoff *b, uint64_t place)
{
	size_t i = index_of(b, place);

	return i < BACKOFF_PLACES_MAX ? &b->place[i] : NULL;
}

/* When the place is like any other again. */
static uint64_t free_again(const struct backoff_place *p)
{
	return p->until > p->paid ? p->until : p->paid;
}

/* The slot of a place; of too many places the one that is free again first gives way, unless that is later than
 * `until`: NULL. */
static struct backoff_place *backoff_slot_of(struct backoff *b, uint64_t place, uint64_t until)
{
	size_t i = index_of(b, place);

	if (i < BACKOFF_PLACES_MAX)
		return &b->place[i];
	i = 0;
	for (size_t k = 1; k < BACKOFF_PLACES_MAX; k++)
		if (free_again(&b->place[k]) < free_again(&b->place[i]))
			i = k;
	if (free_again(&b->place[i]) > until)
		return NULL;
	b->place[i] = (struct backoff_place){ .place = place };
	return &b->place[i];
}

static uint64_t avoided_ns(unsigned failures)
{
	uint64_t ns = FIRST_NS;

	while (--failures && ns < LONGEST_NS)
		ns *= 4;
	return ns < LONGEST_NS ? ns : LONGEST_NS;
}

/* ---- processes --------------------------------------------------------------------------------------------------- */

static void backoff_reap(struct backoff *b)
{
	for (size_t i = 0; i < countof(b->lingering); i++)
		if (b->lingering[i].pid && waitpid(b->lingering[i].pid, NULL, WNOHANG) != 0)
			b->lingering[i] = (struct backoff_lingering){ 0 };
}

void backoff_abandon(struct backoff *b, pid_t pid, uint64_t place)
{
	kill(pid, SIGKILL);
	if (waitpid(pid, NULL, WNOHANG) != 0)
		return;
	for (size_t i = 0; i < countof(b->lingering); i++) {
		if (b->lingering[i].pid)
			continue;
		b->lingering[i] = (struct backoff_lingering){ pid, place };
		return;
	}
}

void backoff_failed(struct backoff *b, pid_t pid, uint64_t place, bool hung, uint64_t now)
{
	b->hung += hung;
	b->crashed += !hung;
	if (!hung)
		b->rest = now + REST_NS;
	backoff_abandon(b, pid, place);
	if (place) {
		struct backoff_place *slot = backoff_slot_of(b, place, UINT64_MAX);

		if (now > slot->last + FORGET_NS)
			slot->n = slot->crashes = 0;
		slot->last = now;
		if (hung || ++slot->crashes > CRASHES_FREE)
			slot->until = now + avoided_ns(++slot->n);
	}
}

/* ---- time that places cost --------------------------------------------------------------------------------------- */

void backoff_blocked(struct backoff *b, uint64_t place, uint64_t blocked_ns, uint64_t now)
{
	uint64_t counted = blocked_ns < BACKOFF_BLOCKED_MAX_NS ? blocked_ns : BACKOFF_BLOCKED_MAX_NS;
	struct backoff_place *slot = backoff_slot_of(b, place, now + BACKOFF_SHARE * counted);

	if (!slot)
		return;
	slot->paid = (slot->paid > now ? slot->paid : now) + BACKOFF_SHARE * counted;
	if (slot->paid > now + BACKOFF_SHARE * BACKOFF_BLOCKED_MAX_NS)
		slot->paid = now + BACKOFF_SHARE * BACKOFF_BLOCKED_MAX_NS;
}

/* ---- questions --------------------------------------------------------------------------------------------------- */

static bool lingers_at(const struct backoff *b, uint64_t place)
{
	for (size_t i = 0; i < countof(b->lingering); i++)
		if (b->lingering[i].pid && b->lingering[i].place == place)
			return true;
	return false;
}

bool backoff_avoids(struct backoff *b, uint64_t place, uint64_t now)
{
	const struct backoff_place *slot = backoff_find_place(b, place);
	bool avoided = slot && now < slot->until;

	if (!avoided && lingers_at(b, place)) {
		backoff_reap(b);
		avoided = lingers_at(b, place);
	}
	b->avoided += avoided;
	return avoided;
}

bool backoff_rests(const struct backoff *b, uint64_t place, uint64_t now)
{
	const struct backoff_place *slot = backoff_find_place(b, place);

	return slot && slot->paid > now + BACKOFF_SHARE * BACKOFF_BURST_NS;
}

bool backoff_has_space(struct backoff *b)
{
	backoff_reap(b);
	/* a helper may be two processes */
	return backoff_lingering(b) + 2 <= (b->lingering_max ? b->lingering_max : BACKOFF_LINGERING_MAX);
}

bool backoff_may_start(struct backoff *b, uint64_t now)
{
	return backoff_has_space(b) && now >= b->rest;
}

uint64_t backoff_avoided_until(const struct backoff *b, uint64_t place, uint64_t now)
{
	const struct backoff_place *slot = place ? backoff_find_place(b, place) : NULL;
	uint64_t until = slot ? slot->until : 0;

	if (place && lingers_at(b, place) && until < now + LINGER_NS)
		until = now + LINGER_NS;
	return until > now ? until : 0;
}

unsigned backoff_lingering(const struct backoff *b)
{
	unsigned n = 0;

	for (size_t i = 0; i < countof(b->lingering); i++)
		n += b->lingering[i].pid != 0;
	return n;
}

unsigned backoff_places_avoided(const struct backoff *b, uint64_t now)
{
	unsigned n = 0;

	for (size_t i = 0; i < BACKOFF_PLACES_MAX; i++)
		n += b->place[i].place && (now < b->place[i].until || lingers_at(b, b->place[i].place));
	return n;
}

struct helper_counts backoff_counts(const struct backoff *b, bool off)
{
	return (struct helper_counts){ .hung = b->hung,
				       .crashed = b->crashed,
				       .avoided = b->avoided,
				       .lingering = backoff_lingering(b),
				       .off = off };
}

struct helper_counts helper_counts_since(const struct helper_counts *now, const struct helper_counts *before)
{
	struct helper_counts c = *now;

	c.hung -= before->hung;
	c.crashed -= before->crashed;
	c.avoided -= before->avoided;
	return c;
}
