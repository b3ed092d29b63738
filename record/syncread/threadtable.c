/* SPDX-License-Identifier: Apache-2.0 */
#include "record/syncread/threadtable.h"

#include "common/arena.h"
#include "common/hash.h"

#include <stdlib.h>
#include <unistd.h>

/* Hash table of entries by tid, with open addressing. A slot is NULL (empty), points to an entry, or points to `gone`
 * (deleted). */
struct places {
	size_t mask, used; /* used: slots that are not NULL */
	const struct threadtable_entry *place[];
};

static const struct threadtable_entry gone;

struct garbage {
	void *memory;
	int fd; /* descriptor to close; -1: none */
};

struct garbage_list {
	struct garbage *item;
	size_t n;
};

struct threadtable {
	struct places *places;
	struct threadtable_process **process;
	struct threadtable_tenant *
		/* tenants with processes, tenants that are avoided, and tenants whose memory has blocked readers */
		*tenant;
	uint32_t nprocesses, nthreads, ntenants;
	uint64_t looked; /* time in ns of the last call of threadtable_remove_blockers */
	uint64_t serial;
	/* Entries and processes that were removed from the table and are not freed yet. removed: those that were added
	 * after the last move to `waiting`. waiting: freed when each reader has changed its epoch after epoch.seen was
	 * set. */
	struct garbage_list removed, waiting;
};

static struct places *places_new(size_t mask)
{
	struct places *places =
		mem_alloc(1, sizeof(struct places) + (mask + 1) * sizeof(const struct threadtable_entry *));

	places->mask = mask;
	return places;
}

struct threadtable *threadtable_new(void)
{
	struct threadtable *threadtable = mem_alloc(sizeof(*threadtable), 1);

	threadtable->places = places_new(63);
	return threadtable;
}

/* ---- entries removed from the table ------------------------------------------------------------------------------ */

static void discard(struct threadtable *threadtable, const void *memory, int fd)
{
	struct garbage_list *removed = &threadtable->removed;

	removed->item = mem_more(removed->item, sizeof(*removed->item), removed->n);
	removed->item[removed->n++] = (struct garbage){ (void *)(uintptr_t)memory, fd };
}

static void empty_garbage(struct garbage_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		if (list->item[i].fd >= 0)
			close(list->item[i].fd);
		free(list->item[i].memory);
	}
	free(list->item);
	*list = (struct garbage_list){ 0 };
}

static bool are_past(struct threadtable_epoch *const *epoch, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t now = __atomic_load_n(&epoch[i]->now, __ATOMIC_SEQ_CST);

		if (epoch[i]->seen & 1 && now == epoch[i]->seen)
			return false;
	}
	return true;
}

void threadtable_free_unused(struct threadtable *threadtable, struct threadtable_epoch *const *epoch, size_t n)
{
	if (threadtable->waiting.n && are_past(epoch, n))
		empty_garbage(&threadtable->waiting);
	if (threadtable->waiting.n || !threadtable->removed.n)
		return;
	threadtable->waiting = threadtable->removed;
	threadtable->removed = (struct garbage_list){ 0 };
	for (size_t i = 0; i < n; i++)
		epoch[i]->seen = __atomic_load_n(&epoch[i]->now, __ATOMIC_SEQ_CST);
}

/* ---- table of threads ----------------------------------------------------------------------------------------- */

static const struct threadtable_entry *load_place(const struct places *places, size_t i)
{
	return __atomic_load_n(&places->place[i], __ATOMIC_SEQ_CST);
}

static size_t home(const struct places *places, uint32_t tid)
{
	return (size_t)hash_mix(tid, 0x9E3779B97F4A7C15u) & places->mask;
}

/* Returns the index of the slot of a thread; if the table does not have the thread, the index of the empty slot for it.
 * Only the owner thread calls it. */
static size_t place_of(const struct places *places, uint32_t tid)
{
	size_t i = home(places, tid);

	for (const struct threadtable_entry *entry; (entry = load_place(places, i)); i = (i + 1) & places->mask)
		if (entry != &gone && entry->tid == tid)
			break;
	return i;
}

/* Looks up the entry of a thread without a lock: loads each slot only once, because the owner thread may change the
 * slot at any time. */
const struct threadtable_entry *threadtable_find(const struct threadtable *threadtable, uint32_t tid)
{
	const struct places *places = __atomic_load_n(&threadtable->places, __ATOMIC_SEQ_CST);
	const struct threadtable_entry *entry;

	for (size_t i = home(places, tid); (entry = load_place(places, i)); i = (i + 1) & places->mask)
		if (entry != &gone && entry->tid == tid)
			return entry;
	return NULL;
}

/* Makes a larger hash table without deleted slots, if less than half of the slots would be empty after one more entry.
 */
static void make_space(struct threadtable *threadtable)
{
	struct places *old = threadtable->places, *wide;
	size_t mask = old->mask;

	if (2 * (old->used + 1) <= old->mask)
		return;
	while (mask < 4 * ((size_t)threadtable->nthreads + 1))
		mask = 2 * mask + 1;
	wide = places_new(mask);
	for (size_t i = 0; i <= old->mask; i++)
		if (old->place[i] && old->place[i] != &gone) {
			wide->place[place_of(wide, old->place[i]->tid)] = old->place[i];
			wide->used++;
		}
	__atomic_store_n(&threadtable->places, wide, __ATOMIC_SEQ_CST);
	discard(threadtable, old, -1);
}

static void unlink_entry(struct threadtable_process *process, struct threadtable_entry *entry)
{
	if (entry->previous)
		entry->previous->next = entry->next;
	else
		process->first = entry->next;
	if (entry->next)
		entry->next->previous = entry->previous;
}

static struct threadtable_process *find_process(const struct threadtable *threadtable, uint32_t pid)
{
	for (uint32_t i = 0; i < threadtable->nprocesses; i++)
		if (threadtable->process[i]->pid == pid)
			return threadtable->process[i];
	return NULL;
}

/* Returns true if a tenant that holds `own` of the `used` slots may have one more slot. max: slots in total. A tenant
 * gets at most half of the slots that other tenants do not hold. */
static bool has_place(uint32_t own, uint32_t used, uint32_t max)
{
	return used < max && own < (max - (used - own) + 1) / 2;
}

void threadtable_remove(struct threadtable *threadtable, uint32_t tid)
{
	struct places *places = threadtable->places;
	size_t i = place_of(places, tid);
	const struct threadtable_entry *entry = places->place[i];

	if (!entry)
		return;
	__atomic_store_n(&places->place[i], &gone, __ATOMIC_SEQ_CST);
	unlink_entry(find_process(threadtable, entry->process->pid), (struct threadtable_entry *)(uintptr_t)entry);
	threadtable->nthreads--;
	entry->process->account->threads--;
	discard(threadtable, entry, -1);
}

bool threadtable_add(struct threadtable *threadtable, uint32_t pid, uint32_t tid, uint64_t root, uint64_t since)
{
	struct threadtable_process *process = find_process(threadtable, pid);
	const struct threadtable_entry *old = threadtable_find(threadtable, tid);
	struct threadtable_entry *entry;
	size_t i;

	if (!process || tid == 0)
		return false;
	if (old && old->process == process && old->root == root)
		return true;
	if (old && old->process != process)
		return false;
	threadtable_remove(threadtable, tid);
	if (!has_place(process->account->threads, threadtable->nthreads, THREADTABLE_THREADS))
		return false;
	make_space(threadtable);
	entry = mem_alloc(sizeof(*entry), 1);
	*entry = (struct threadtable_entry){ .tid = tid,
					     .root = root,
					     .since = since,
					     .serial = ++threadtable->serial,
					     .process = process,
					     .next = process->first };
	if (process->first)
		process->first->previous = entry;
	process->first = entry;
	i = place_of(threadtable->places, tid);
	threadtable->places->used++;
	__atomic_store_n(&threadtable->places->place[i], entry, __ATOMIC_SEQ_CST);
	threadtable->nthreads++;
	process->account->threads++;
	return true;
}

/* ---- table of processes --------------------------------------------------------------------------------------- */

const struct threadtable_process *threadtable_process(const struct threadtable *threadtable, uint32_t pid)
{
	return find_process(threadtable, pid);
}

/* Returns the account of a tenant, with its number of processes increased by 1. */
static struct threadtable_tenant *enter_tenant(struct threadtable *threadtable, struct tenant tenant)
{
	struct threadtable_tenant *entry;

	for (uint32_t i = 0; i < threadtable->ntenants; i++) {
		entry = threadtable->tenant[i];
		if (tenant_same(entry->tenant, tenant)) {
			entry->processes++;
			return entry;
		}
	}
	entry = mem_alloc(sizeof(*entry), 1);
	*entry = (struct threadtable_tenant){ .tenant = tenant, .processes = 1 };
	threadtable->tenant = mem_more(threadtable->tenant, sizeof(struct threadtable_tenant *), threadtable->ntenants);
	threadtable->tenant[threadtable->ntenants++] = entry;
	return entry;
}

/* Adds to the account of a process's tenant the time for which the process's memory has blocked readers. now: time in
 * ns up to which a read that has not returned yet is included; 0: such a read is left out. */
static void charge_account(struct threadtable_process *process, uint64_t now)
{
	uint64_t since = __atomic_load_n(&process->reading_since, __ATOMIC_RELAXED);

	process->account->suspect |= __atomic_load_n(&process->suspect, __ATOMIC_RELAXED);
	process->account->blocked_ns += __atomic_exchange_n(&process->blocked_ns, 0, __ATOMIC_RELAXED);
	if (since && now > since)
		process->account->blocked_ns += now - since;
}

/* Decreases the number of processes of a tenant. refill_accounts frees an account without processes. */
static void leave_tenant(struct threadtable_tenant *entry)
{
	entry->processes--;
}

void threadtable_remove_process(struct threadtable *threadtable, uint32_t pid)
{
	for (uint32_t i = 0; i < threadtable->nprocesses; i++) {
		struct threadtable_process *process = threadtable->process[i];

		if (process->pid != pid)
			continue;
		while (process->first)
			threadtable_remove(threadtable, process->first->tid);
		threadtable->process[i] = threadtable->process[--threadtable->nprocesses];
		charge_account(process, threadtable->looked);
		leave_tenant(process->account);
		discard(threadtable, process, process->memory);
		return;
	}
}

bool threadtable_add_process(struct threadtable *threadtable, const struct threadtable_process *process, uint64_t now)
{
	struct threadtable_process *added;
	struct threadtable_tenant *account;

	threadtable_remove_process(threadtable, process->pid);
	account = enter_tenant(threadtable, process->tenant);
	if (!threadplan_valid(&process->plan) || account->until > now ||
	    !has_place(account->processes - 1, threadtable->nprocesses, THREADTABLE_PROCESSES)) {
		leave_tenant(account);
		close(process->memory);
		return false;
	}
	account->until = 0;
	added = mem_alloc(sizeof(*added), 1);
	*added = (struct threadtable_process){ .pid = process->pid,
					       .tenant = process->tenant,
					       .account = account,
					       .memory = process->memory,
					       .plan = process->plan,
					       .suspect = account->suspect,
					       .since = process->since };
	threadtable->process =
		mem_more(threadtable->process, sizeof(struct threadtable_process *), threadtable->nprocesses);
	threadtable->process[threadtable->nprocesses++] = added;
	return true;
}

/* Reduces the blocked time of each tenant by the share of time that is allowed, and frees accounts that are no longer
 * needed. */
static void refill_accounts(struct threadtable *threadtable, uint64_t now, uint32_t readers)
{
	uint64_t counted = readers < THREADTABLE_BLOCKED_READERS ? readers : THREADTABLE_BLOCKED_READERS;
	uint64_t forgotten = (now - threadtable->looked) * counted / THREADTABLE_BLOCKED_SHARE;
	uint32_t remaining = 0;

	threadtable->looked = now;
	for (uint32_t i = 0; i < threadtable->ntenants; i++) {
		struct threadtable_tenant *account = threadtable->tenant[i];

		account->blocked_ns -= account->blocked_ns < forgotten ? account->blocked_ns : forgotten;
		if (account->processes || account->until > now || account->blocked_ns)
			threadtable->tenant[remaining++] = account;
		else
			free(account);
	}
	threadtable->ntenants = remaining;
}

static void avoid_until(struct threadtable_tenant *account, uint64_t until)
{
	if (account->until < until)
		account->until = until;
}

/* Removes the processes of avoided tenants. Returns their number. */
static uint32_t remove_avoided(struct threadtable *threadtable)
{
	uint32_t removed = 0;

	for (uint32_t i = threadtable->nprocesses; i-- > 0;) {
		if (!threadtable->process[i]->account->until)
			continue;
		threadtable_remove_process(threadtable, threadtable->process[i]->pid);
		removed++;
	}
	return removed;
}

void threadtable_avoid(struct threadtable *threadtable, struct tenant tenant, uint64_t now)
{
	struct threadtable_tenant *account = enter_tenant(threadtable, tenant);

	avoid_until(account, now + THREADTABLE_HUNG_NS);
	leave_tenant(account);
	remove_avoided(threadtable);
}

uint32_t threadtable_remove_blockers(struct threadtable *threadtable, uint64_t now, uint32_t readers)
{
	uint32_t removed;

	for (uint32_t i = 0; i < threadtable->nprocesses; i++)
		charge_account(threadtable->process[i], 0);
	for (uint32_t i = 0; i < threadtable->nprocesses; i++)
		if (threadtable->process[i]->account->suspect)
			__atomic_store_n(&threadtable->process[i]->suspect, 1, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < threadtable->ntenants; i++) {
		struct threadtable_tenant *account = threadtable->tenant[i];

		if (account->blocked_ns < THREADTABLE_BLOCKED_NS)
			continue;
		account->blocked_ns = 0;
		avoid_until(account, now + THREADTABLE_AVOID_NS);
	}
	removed = remove_avoided(threadtable);
	refill_accounts(threadtable, now, readers);
	return removed;
}

uint32_t threadtable_processes(const struct threadtable *threadtable)
{
	return threadtable->nprocesses;
}

uint32_t threadtable_threads(const struct threadtable *threadtable)
{
	return threadtable->nthreads;
}

void threadtable_free(struct threadtable *threadtable)
{
	if (!threadtable)
		return;
	while (threadtable->nprocesses)
		threadtable_remove_process(threadtable, threadtable->process[0]->pid);
	empty_garbage(&threadtable->waiting);
	empty_garbage(&threadtable->removed);
	for (uint32_t i = 0; i < threadtable->ntenants; i++)
		free(threadtable->tenant[i]);
	free(threadtable->process);
	free(threadtable->tenant);
	free(threadtable->places);
	free(threadtable);
}
