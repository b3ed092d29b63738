/* SPDX-License-Identifier: Apache-2.0 */
#include "helper_failures.h"

#include "clocks.h"
#include "hash.h"

#include <signal.h>
#include <sys/wait.h>

#define FIRST_NS (10 * SECOND_NS)    /* avoided after the first failure */
#define LONGEST_NS (3600 * SECOND_NS)
#define FORGET_NS (3600 * SECOND_NS) /* without a failure */
#define REST_NS (SECOND_NS / 5)      /* between a crash and the next start */
#define LINGER_NS (60 * SECOND_NS)
#define FREE_CPU_NS (SECOND_NS / 10)
#define CPU_REST 20
#define CRASHES_FREE 2               /* of a place: one file did that, or the kernel's need for memory */

bool helper_is_host(const struct tenant *of, uint64_t own_ns)
{
	return of->kind == TENANT_UNKNOWN || (of->kind == TENANT_MOUNT_NS && of->key == own_ns);
}

uint64_t helper_place(const struct tenant *of, uint64_t own_ns, uint64_t device)
{
	uint64_t id[3] = { of->kind, of->key, helper_is_host(of, own_ns) ? device : 0 };

	return hash_bytes(id, sizeof(id)) | 1;
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

static struct helper_place_failures *find_place(const struct helper_failures *f, uint64_t place)
{
	for (size_t i = 0; i < HELPER_PLACES_MAX; i++)
		if (f->place[i].place == place)
			return (struct helper_place_failures *)(uintptr_t)&f->place[i];
	return NULL;
}

/* The slot of a place; of too many places the one that is free again first gives way. */
static struct helper_place_failures *slot_of(struct helper_failures *f, uint64_t place)
{
	struct helper_place_failures *slot = find_place(f, place);

	if (!slot) {
		slot = &f->place[0];
		for (size_t i = 1; i < HELPER_PLACES_MAX; i++)
			if (f->place[i].until < slot->until)
				slot = &f->place[i];
		*slot = (struct helper_place_failures){ .place = place };
	}
	return slot;
}

static uint64_t avoided_ns(unsigned failures)
{
	uint64_t ns = FIRST_NS;

	while (--failures && ns < LONGEST_NS)
		ns *= 4;
	return ns < LONGEST_NS ? ns : LONGEST_NS;
}

/* ---- processes --------------------------------------------------------------------------------------------------- */

static void reap(struct helper_failures *f)
{
	for (size_t i = 0; i < HELPERS_LINGERING_MAX; i++)
		if (f->lingering[i].pid && waitpid(f->lingering[i].pid, NULL, WNOHANG) != 0)
			f->lingering[i] = (struct helper_lingering){ 0 };
}

void helper_abandon(struct helper_failures *f, pid_t pid, uint64_t place)
{
	kill(pid, SIGKILL);
	if (waitpid(pid, NULL, WNOHANG) != 0)
		return;
	for (size_t i = 0; i < HELPERS_LINGERING_MAX; i++) {
		if (f->lingering[i].pid)
			continue;
		f->lingering[i] = (struct helper_lingering){ pid, place };
		return;
	}
}

void helper_failed(struct helper_failures *f, pid_t pid, uint64_t place, bool hung, uint64_t now)
{
	f->hung += hung;
	f->crashed += !hung;
	if (!hung)
		f->rest = now + REST_NS;
	helper_abandon(f, pid, place);
	if (place) {
		struct helper_place_failures *slot = slot_of(f, place);

		if (now > slot->last + FORGET_NS)
			slot->n = slot->crashes = 0;
		slot->last = now;
		if (hung || ++slot->crashes > CRASHES_FREE)
			slot->until = now + avoided_ns(++slot->n);
	}
}

void helper_used(struct helper_failures *f, uint64_t place, uint64_t cpu_ns, uint64_t now)
{
	struct helper_place_failures *slot;

	if (cpu_ns <= FREE_CPU_NS)
		return;
	slot = slot_of(f, place);
	if (slot->until < now + CPU_REST * cpu_ns)
		slot->until = now + CPU_REST * cpu_ns;
}

/* ---- questions --------------------------------------------------------------------------------------------------- */

static bool lingers_at(const struct helper_failures *f, uint64_t place)
{
	for (size_t i = 0; i < HELPERS_LINGERING_MAX; i++)
		if (f->lingering[i].pid && f->lingering[i].place == place)
			return true;
	return false;
}

bool helper_avoids(struct helper_failures *f, uint64_t place, uint64_t now)
{
	const struct helper_place_failures *slot = find_place(f, place);
	bool avoided = slot && now < slot->until;

	if (!avoided && lingers_at(f, place)) {
		reap(f);
		avoided = lingers_at(f, place);
	}
	f->avoided += avoided;
	return avoided;
}

bool helper_may_start(struct helper_failures *f, uint64_t now)
{
	reap(f);
	/* a helper may be two processes */
	return now >= f->rest && helpers_lingering(f) + 2 <= HELPERS_LINGERING_MAX;
}

uint64_t helper_avoided_until(const struct helper_failures *f, uint64_t place, uint64_t now)
{
	const struct helper_place_failures *slot = place ? find_place(f, place) : NULL;
	uint64_t until = slot ? slot->until : 0;

	if (place && lingers_at(f, place) && until < now + LINGER_NS)
		until = now + LINGER_NS;
	return until > now ? until : 0;
}

unsigned helpers_lingering(const struct helper_failures *f)
{
	unsigned n = 0;

	for (size_t i = 0; i < HELPERS_LINGERING_MAX; i++)
		n += f->lingering[i].pid != 0;
	return n;
}

unsigned helper_places_avoided(const struct helper_failures *f, uint64_t now)
{
	unsigned n = 0;

	for (size_t i = 0; i < HELPER_PLACES_MAX; i++)
		n += f->place[i].place && (now < f->place[i].until || lingers_at(f, f->place[i].place));
	return n;
}

struct helper_counts helper_counts(const struct helper_failures *f, bool off)
{
	return (struct helper_counts){ .hung = f->hung, .crashed = f->crashed, .avoided = f->avoided,
				       .lingering = helpers_lingering(f), .off = off };
}

struct helper_counts helper_counts_since(const struct helper_counts *now, const struct helper_counts *before)
{
	struct helper_counts c = *now;

	c.hung -= before->hung;
	c.crashed -= before->crashed;
	c.avoided -= before->avoided;
	return c;
}
