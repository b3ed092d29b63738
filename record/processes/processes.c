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
	/* ended threads in the order of their ends, so that processes_forget needs no search; those before index
	 * `forgotten` have been removed from the table; a process without threads has an entry with its pid as tid */
	struct ended *ended;
	size_t nended, cap, forgotten;
	uint32_t scan; /* serial number of the current or latest thread scan */
	uint64_t now;  /* time of the current record, in ns */
};

/* ---- lookups in the table --------------------------------------------------------------------------------------- */

static uint64_t id_hash(uint32_t id)
{
	return hash_mix(id ^ 0xA0761D6478BD642Fu, 0x9E3779B97F4A7C15u);
}

struct process *processes_find(const struct processes *processes, uint32_t pid)
{
	struct link *link = linktable_first(&processes->process, id_hash(pid));

	while (link && ((struct process *)link)->pid != pid)
		link = link->next;
	return (struct process *)link;
}

struct thread *processes_thread(const struct processes *processes, uint32_t tid)
{
	struct link *link = linktable_first(&processes->thread, id_hash(tid));

	while (link && ((struct thread *)link)->tid != tid)
		link = link->next;
	return (struct thread *)link;
}

enum mappings_answer processes_map(struct processes *processes, uint32_t pid, const struct mapping *mapping,
				   const struct mapped_file *file)
{
	struct process *process = processes_make(processes, pid);

	return mappings_put(&processes->pool, &process->maps, &process->tenant, mapping, file);
}

void processes_unmap(struct processes *processes, struct process *process)
{
	mappings_drop(&processes->pool, &process->maps);
}

void processes_replaced(struct processes *processes, struct process *process)
{
	mappings_drop(&processes->pool, &process->maps);
	process->start_ticks = 0;
	process->inner_pid = 0;
	process->mount_ns = 0;
	process->tenant_window = 0;
	process->window = 0;
}

/* ---- start and end of processes and threads --------------------------------------------------------------------- */

struct processes *processes_new(struct tenants *tenants)
{
	struct processes *processes = mem_alloc(sizeof(*processes), 1);

	processes->pool.tenants = tenants;
	return processes;
}

struct process *processes_make(struct processes *processes, uint32_t pid)
{
	struct process *process = processes_find(processes, pid);

	if (process)
		return process;
	struct process *made = mem_alloc(sizeof(*made), 1);
	made->pid = pid;
	made->made = processes->now;
	linktable_add(&processes->process, &made->link, id_hash(pid));
	return made;
}

static void note_end(struct processes *processes, uint32_t pid, uint32_t tid, uint64_t ns)
{
	if (processes->nended == processes->cap && processes->forgotten > processes->nended / 2) {
		processes->nended -= processes->forgotten;
		memmove(processes->ended, processes->ended + processes->forgotten,
			processes->nended * sizeof(*processes->ended));
		processes->forgotten = 0;
	} else if (processes->nended == processes->cap) {
		processes->cap = processes->cap ? 2 * processes->cap : 64;
		processes->ended = mem_grow(processes->ended, sizeof(*processes->ended), processes->cap);
	}
	processes->ended[processes->nended++] = (struct ended){ pid, tid, ns };
}

/* Marks a process of which no thread is known, because records were lost, as ended at time ns. Does nothing if the
 * process has a living thread, or is NULL. */
static void end_threadless(struct processes *processes, struct process *process, uint64_t ns)
{
	if (!process || process->live || process->exited)
		return;
	process->exited = ns;
	note_end(processes, process->pid, process->pid, ns);
}

/* Marks a thread as ended at time ns, because it exited or another thread now has its tid. The end of the last thread
 * ends its process. */
static void end_thread(struct processes *processes, struct thread *thread, uint64_t ns)
{
	struct process *process = processes_find(processes, thread->pid);

	if (thread->exited)
		return;
	thread->exited = ns;
	note_end(processes, thread->pid, thread->tid, ns);
	if (process && process->live && --process->live == 0)
		process->exited = ns;
}

static void remove_thread(struct processes *processes, struct thread *thread)
{
	end_thread(processes, thread, 1);
	linktable_remove(&processes->thread, &thread->link);
	free(thread);
}

struct thread *processes_make_thread(struct processes *processes, uint32_t pid, uint32_t tid)
{
	struct thread *found = processes_thread(processes, tid), *made;
	struct process *process;

	if (found && found->pid == pid)
		return found;
	if (found)
		remove_thread(processes, found);
	made = mem_alloc(sizeof(*made), 1);
	made->pid = pid;
	made->tid = tid;
	made->made = processes->now;
	linktable_add(&processes->thread, &made->link, id_hash(tid));
	process = processes_make(processes, pid);
	process->live++;
	process->exited = 0;
	return made;
}

static void remove_process(struct processes *processes, struct process *process)
{
	mappings_drop(&processes->pool, &process->maps);
	linktable_remove(&processes->process, &process->link);
	free(process->given.id);
	free(process);
}

static void set_comm(struct thread *thread, struct str comm)
{
	size_t n = comm.n < COMM_MAX - 1 ? comm.n : COMM_MAX - 1;

	memset(thread->comm, 0, sizeof(thread->comm));
	memcpy(thread->comm, comm.p, n);
	thread->named = true;
}

/* Ends all threads of a process except its first thread: after an exec only the calling thread exists, and it has the
 * tid of the first thread. */
static void end_others(struct processes *processes, uint32_t pid)
{
	LINKTABLE_EACH(struct thread, thread, processes->thread)
	if (thread->pid == pid && thread->tid != pid)
		end_thread(processes, thread, 1);
}

void processes_time(struct processes *processes, uint64_t ns)
{
	processes->now = ns;
}

/* A process or thread that has the new pid or tid already is removed first: the id was reused, and the end of its
 * previous owner was not recorded. An unknown thread that starts a thread is added: it lives, so the end of the new
 * thread is not the end of the process. */
void processes_fork(struct processes *processes, uint32_t pid, uint32_t ppid, uint32_t tid, uint32_t ptid)
{
	struct thread *parent = processes_thread(processes, ptid), *thread = processes_thread(processes, tid);
	struct process *from, *process = pid != ppid ? processes_find(processes, pid) : NULL;
	char comm[COMM_MAX] = "";
	bool named = parent && parent->named, skipped = process && process->storm;

	if (named)
		memcpy(comm, parent->comm, sizeof(comm));
	if (thread)
		remove_thread(processes, thread);
	if (process) {
		end_others(processes, pid);
		remove_process(processes, process);
	}
	if (pid == ppid && !parent && ptid && ptid != tid)
		processes_make_thread(processes, pid, ptid);
	thread = processes_make_thread(processes, pid, tid);
	memcpy(thread->comm, comm, sizeof(comm));
	thread->named = named;
	from = processes_find(processes, ppid);
	if (pid == ppid)
		return;
	process = processes_find(processes, pid);
	process->stale = skipped || (from && from->stale);
	if (!from)
		return;
	process->since = processes->now;
	process->sure = from->sure;
	process->maps = from->maps;
	if (process->maps)
		process->maps->references++;
	process->mount_ns = from->mount_ns;
	process->tenant = from->tenant;
	process->tenant_window = from->tenant_window;
	/* a process that does not call exec inherits the number of records of its parent's program */
	process->records = from->records;
	process->target = from->target;
}

void processes_comm(struct processes *processes, uint32_t pid, uint32_t tid, struct str comm, bool exec)
{
	struct process *process = processes_make(processes, pid);
	struct thread *thread = processes_make_thread(processes, pid, tid);

	set_comm(thread, comm);
	if (!exec)
		return;
	/* If another thread than the leader executes a program, the leader's end is recorded first, and the executing
	 * thread takes its tid: no record ends its own tid. */
	if (thread->exited) {
		thread->exited = process->exited = 0;
		process->live++;
	}
	mappings_drop(&processes->pool, &process->maps);
	process->tenant_window = 0;
	process->since = process->sure = processes->now;
	process->records = 0;
	/* in a storm, mapping records of the new program may have been skipped before this exec was read, so the
	 * mappings are unknown */
	process->stale = process->storm;
	process->storm = 0;
	if (process->live > 1)
		end_others(processes, pid);
}

void processes_exit(struct processes *processes, uint32_t pid, uint32_t tid, uint64_t ns)
{
	struct thread *thread = processes_thread(processes, tid);

	if (thread)
		end_thread(processes, thread, ns);
	else if (tid == pid)
		end_threadless(processes, processes_find(processes, pid), ns);
}

/* ---- removal of ended processes and threads --------------------------------------------------------------------- */

void processes_forget(struct processes *processes, uint64_t ns)
{
	for (; processes->forgotten < processes->nended && processes->ended[processes->forgotten].ns < ns;
	     processes->forgotten++) {
		const struct ended *ended = processes->ended + processes->forgotten;
		struct thread *thread = processes_thread(processes, ended->tid);
		struct process *process = processes_find(processes, ended->pid);

		/* the entry in the table may belong to a new thread that has reused the tid; a thread that has not
		 * ended stays */
		if (thread && thread->exited && thread->exited < ns)
			remove_thread(processes, thread);
		if (process && process->exited && process->exited < ns)
			remove_process(processes, process);
	}
}

void processes_mark_stale(struct processes *processes)
{
	processes->scan++;
}

void processes_scanned(struct processes *processes, uint32_t pid, uint32_t tid)
{
	processes_make_thread(processes, pid, tid)->scan = processes->scan;
}

void processes_doubted(struct processes *processes, uint64_t ns)
{
	LINKTABLE_EACH(struct thread, thread, processes->thread)
	if (thread->scan != processes->scan && thread->made < ns)
		end_thread(processes, thread, ns);
	LINKTABLE_EACH(struct process, process, processes->process)
	if (process->made < ns)
		end_threadless(processes, process, ns);
}

/* ---- iteration over processes and threads ------------------------------------------------------------------------ */

void processes_each(struct processes *processes, void (*fn)(void *to, struct process *process), void *to)
{
	LINKTABLE_EACH(struct process, process, processes->process)
	fn(to, process);
}

void processes_each_thread(struct processes *processes, void (*fn)(void *to, const struct thread *thread), void *to)
{
	LINKTABLE_EACH(struct thread, thread, processes->thread)
	fn(to, thread);
}

struct processes_counts processes_count(const struct processes *processes)
{
	return (struct processes_counts){ processes->process.n, processes->thread.n, processes->pool.files.n,
					  processes->pool.mappings };
}

void processes_free(struct processes *processes)
{
	if (!processes)
		return;
	LINKTABLE_EACH(struct thread, thread, processes->thread)
	free(thread);
	LINKTABLE_EACH(struct process, process, processes->process)
	{
		mappings_drop(&processes->pool, &process->maps);
		free(process->given.id);
		free(process);
	}
	free(processes->thread.slot);
	free(processes->process.slot);
	mappings_pool_free(&processes->pool);
	free(processes->ended);
	free(processes);
}
