/* SPDX-License-Identifier: Apache-2.0 */
#include "record/processes/processes.h"

#include "common/arena.h"
#include "common/hash.h"

#include <stdlib.h>

struct ended {
	uint32_t pid, tid;
	uint64_t ns;
};

struct processes {
	struct linktable process, thread;
	struct mapping_pool pool;
	struct ended *ended; /* from `forgotten` on: to be forgotten in that order, without a look at all the others */
	size_t nended, cap, forgotten;
	uint32_t scan; /* serial of the survey of /proc that is going on or was the last */
	uint64_t now;  /* ns: of the record at hand */
};

/* ---- tables -------------------------------------------------------------------------------------------------- */

static uint64_t id_hash(uint32_t id)
{
	return hash_mix(id ^ 0xA0761D6478BD642Fu, 0x9E3779B97F4A7C15u);
}

struct process *processes_find(const struct processes *p, uint32_t pid)
{
	struct link *e = linktable_first(&p->process, id_hash(pid));

	while (e && ((struct process *)e)->pid != pid)
		e = e->next;
	return (struct process *)e;
}

struct thread *processes_thread(const struct processes *p, uint32_t tid)
{
	struct link *e = linktable_first(&p->thread, id_hash(tid));

	while (e && ((struct thread *)e)->tid != tid)
		e = e->next;
	return (struct thread *)e;
}

enum mappings_answer processes_map(struct processes *p, uint32_t pid, const struct mapping *m,
				   const struct mapped_file *file)
{
	struct process *process = processes_make(p, pid);

	return mappings_put(&p->pool, &process->maps, &process->tenant, m, file);
}

void processes_unmap(struct processes *p, struct process *process)
{
	mappings_drop(&p->pool, &process->maps);
}

void processes_replaced(struct processes *p, struct process *process)
{
	mappings_drop(&p->pool, &process->maps);
	process->start_ticks = 0;
	process->inner_pid = 0;
	process->mount_ns = 0;
	process->tenant_window = 0;
	process->window = 0;
}

/* ---- processes and threads ----------------------------------------------------------------------------------- */

struct processes *processes_new(struct tenants *tenants)
{
	struct processes *p = mem_alloc(sizeof(*p), 1);

	p->pool.tenants = tenants;
	return p;
}

struct process *processes_make(struct processes *p, uint32_t pid)
{
	struct process *e = processes_find(p, pid);

	if (e)
		return e;
	struct process *made = mem_alloc(sizeof(*made), 1);
	made->pid = pid;
	linktable_add(&p->process, &made->link, id_hash(pid));
	return made;
}

static void note_end(struct processes *p, const struct thread *t, uint64_t ns)
{
	if (p->nended == p->cap && p->forgotten > p->nended / 2) {
		p->nended -= p->forgotten;
		memmove(p->ended, p->ended + p->forgotten, p->nended * sizeof(*p->ended));
		p->forgotten = 0;
	} else if (p->nended == p->cap) {
		p->cap = p->cap ? 2 * p->cap : 64;
		p->ended = mem_grow(p->ended, sizeof(*p->ended), p->cap);
	}
	p->ended[p->nended++] = (struct ended){ t->pid, t->tid, ns };
}

/* It ends, or another thread gets its number. */
static void end_thread(struct processes *p, struct thread *t, uint64_t ns)
{
	struct process *process = processes_find(p, t->pid);

	if (t->exited)
		return;
	t->exited = ns;
	note_end(p, t, ns);
	if (process && process->live && --process->live == 0)
		process->exited = ns;
}

static void remove_thread(struct processes *p, struct thread *t)
{
	end_thread(p, t, 1);
	linktable_remove(&p->thread, &t->link);
	free(t);
}

struct thread *processes_make_thread(struct processes *p, uint32_t pid, uint32_t tid)
{
	struct thread *found = processes_thread(p, tid), *made;
	struct process *process;

	if (found && found->pid == pid)
		return found;
	if (found)
		remove_thread(p, found);
	made = mem_alloc(sizeof(*made), 1);
	made->pid = pid;
	made->tid = tid;
	made->made = p->now;
	linktable_add(&p->thread, &made->link, id_hash(tid));
	process = processes_make(p, pid);
	process->live++;
	process->exited = 0;
	return made;
}

static void remove_process(struct processes *p, struct process *process)
{
	mappings_drop(&p->pool, &process->maps);
	linktable_remove(&p->process, &process->link);
	free(process->given.id);
	free(process);
}

static void set_comm(struct thread *t, struct str comm)
{
	size_t n = comm.n < COMM_MAX - 1 ? comm.n : COMM_MAX - 1;

	memset(t->comm, 0, sizeof(t->comm));
	memcpy(t->comm, comm.p, n);
	t->named = true;
}

/* All threads but the first: of them only one that calls exec is left, and it takes the first one's number. */
static void end_others(struct processes *p, uint32_t pid)
{
	LINKTABLE_EACH(struct thread, t, p->thread)
	if (t->pid == pid && t->tid != pid)
		end_thread(p, t, 1);
}

void processes_time(struct processes *p, uint64_t ns)
{
	p->now = ns;
}

/* A number that is used again is another process or thread, whatever was known of the old. */
void processes_fork(struct processes *p, uint32_t pid, uint32_t ppid, uint32_t tid, uint32_t ptid)
{
	struct thread *parent = processes_thread(p, ptid), *t = processes_thread(p, tid);
	struct process *from, *to = pid != ppid ? processes_find(p, pid) : NULL;
	char comm[COMM_MAX] = "";
	bool named = parent && parent->named, skipped = to && to->storm;

	if (named)
		memcpy(comm, parent->comm, sizeof(comm));
	if (t)
		remove_thread(p, t);
	if (to) {
		end_others(p, pid);
		remove_process(p, to);
	}
	t = processes_make_thread(p, pid, tid);
	memcpy(t->comm, comm, sizeof(comm));
	t->named = named;
	from = processes_find(p, ppid);
	if (pid == ppid)
		return;
	to = processes_find(p, pid);
	to->stale = skipped || (from && from->stale);
	if (!from)
		return;
	to->since = p->now;
	to->sure = from->sure;
	to->maps = from->maps;
	if (to->maps)
		to->maps->references++;
	to->mount_ns = from->mount_ns;
	to->tenant = from->tenant;
	to->tenant_window = from->tenant_window;
	to->records = from->records; /* a storm of processes that do not call exec is one of its program */
	to->target = from->target;
}

void processes_comm(struct processes *p, uint32_t pid, uint32_t tid, struct str comm, bool exec)
{
	struct process *process = processes_make(p, pid);
	struct thread *t = processes_make_thread(p, pid, tid);

	set_comm(t, comm);
	if (!exec)
		return;
	mappings_drop(&p->pool, &process->maps);
	process->tenant_window = 0;
	process->since = process->sure = p->now;
	process->records = 0;
	process->stale = process->storm; /* records of the new program's mappings may have been skipped before this one
					    was read */
	process->storm = 0;
	if (process->live > 1)
		end_others(p, pid);
}

void processes_exit(struct processes *p, uint32_t tid, uint64_t ns)
{
	struct thread *t = processes_thread(p, tid);

	if (t)
		end_thread(p, t, ns);
}

/* ---- forgetting ---------------------------------------------------------------------------------------------- */

void processes_forget(struct processes *p, uint64_t ns)
{
	for (; p->forgotten < p->nended && p->ended[p->forgotten].ns < ns; p->forgotten++) {
		const struct ended *e = p->ended + p->forgotten;
		struct thread *t = processes_thread(p, e->tid);
		struct process *process = processes_find(p, e->pid);

		if (t && t->exited && t->exited < ns) /* else the number is another's by now */
			remove_thread(p, t);
		if (process && process->exited && process->exited < ns)
			remove_process(p, process);
	}
}

void processes_mark_stale(struct processes *p)
{
	p->scan++;
}

void processes_scanned(struct processes *p, uint32_t pid, uint32_t tid)
{
	processes_make_thread(p, pid, tid)->scan = p->scan;
}

void processes_doubted(struct processes *p, uint64_t ns)
{
	LINKTABLE_EACH(struct thread, t, p->thread)
	if (t->scan != p->scan && t->made < ns)
		end_thread(p, t, ns);
}

/* ---- all ----------------------------------------------------------------------------------------------------- */

void processes_each(struct processes *p, void (*fn)(void *to, struct process *process), void *to)
{
	LINKTABLE_EACH(struct process, process, p->process)
	fn(to, process);
}

struct processes_counts processes_count(const struct processes *p)
{
	return (struct processes_counts){ p->process.n, p->thread.n, p->pool.files.n, p->pool.mappings };
}

void processes_free(struct processes *p)
{
	if (!p)
		return;
	LINKTABLE_EACH(struct thread, t, p->thread)
	free(t);
	LINKTABLE_EACH(struct process, process, p->process)
	{
		mappings_drop(&p->pool, &process->maps);
		free(process->given.id);
		free(process);
	}
	free(p->thread.slot);
	free(p->process.slot);
	mappings_pool_free(&p->pool);
	free(p->ended);
	free(p);
}
