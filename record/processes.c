/* SPDX-License-Identifier: Apache-2.0 */
#include "processes.h"

#include "arena.h"
#include "hash.h"

#include <stdlib.h>

/* More than the kernel allows (vm.max_map_count), unless it was raised: a bound for what a hostile process can make us keep. */
#define MAPPINGS_MAX 65536

struct table { /* chained; grows with what is in it */
	struct processes_link **slot;
	size_t n, mask;
};

struct ended {
	uint32_t pid, tid;
	uint64_t ns;
};

struct processes {
	struct table process, thread, file;
	size_t mappings;
	struct ended *ended; /* from `forgotten` on: to be forgotten in that order, without a look at all the others */
	size_t nended, cap, forgotten;
	uint32_t scan; /* serial of the reading of /proc that is going on or was the last */
	uint64_t version; /* of mappings, the last that was given */
};

/* ---- tables -------------------------------------------------------------------------------------------------- */

static uint64_t id_hash(uint32_t id)
{
	return hash_mix(id ^ 0xA0761D6478BD642Fu, 0x9E3779B97F4A7C15u);
}

static struct processes_link *first(const struct table *t, uint64_t hash)
{
	return t->slot ? t->slot[hash & t->mask] : NULL;
}

static void widen(struct table *t)
{
	size_t wide = t->slot ? 2 * (t->mask + 1) : 64;
	struct processes_link **slot = mem_alloc(sizeof(struct processes_link *), wide), *next;

	for (size_t i = 0; t->slot && i <= t->mask; i++)
		for (struct processes_link *e = t->slot[i]; e; e = next) {
			next = e->next;
			e->next = slot[e->hash & (wide - 1)];
			slot[e->hash & (wide - 1)] = e;
		}
	free(t->slot);
	t->slot = slot;
	t->mask = wide - 1;
}

static void add(struct table *t, struct processes_link *e, uint64_t hash)
{
	if (!t->slot || t->n > t->mask)
		widen(t);
	e->hash = hash;
	e->next = t->slot[hash & t->mask];
	t->slot[hash & t->mask] = e;
	t->n++;
}

static void take_out(struct table *t, struct processes_link *e)
{
	struct processes_link **link = &t->slot[e->hash & t->mask];

	while (*link != e)
		link = &(*link)->next;
	*link = e->next;
	t->n--;
}

/* All entries of a table; the one at hand may be taken out. */
#define EACH(T, e, table)                                                      \
	for (size_t slot_ = 0; (table).slot && slot_ <= (table).mask; slot_++) \
		for (T *e = (T *)(table).slot[slot_], *after_; e && (after_ = (T *)e->link.next, true); e = after_)

struct process *processes_find(const struct processes *p, uint32_t pid)
{
	struct processes_link *e = first(&p->process, id_hash(pid));

	while (e && ((struct process *)e)->pid != pid)
		e = e->next;
	return (struct process *)e;
}

struct thread *processes_thread(const struct processes *p, uint32_t tid)
{
	struct processes_link *e = first(&p->thread, id_hash(tid));

	while (e && ((struct thread *)e)->tid != tid)
		e = e->next;
	return (struct thread *)e;
}

/* ---- files and mappings -------------------------------------------------------------------------------------- */

static uint64_t file_hash(const struct mapped_file *f)
{
	uint64_t id[4] = { (uint64_t)f->major << 32 | f->minor, f->inode, f->generation,
			   (uint64_t)f->protection << 32 | f->flags };

	return hash_mix(hash_bytes(id, sizeof(id)), hash_bytes(f->path.p, f->path.n));
}

static bool same_file(const struct mapped_file *a, const struct mapped_file *b)
{
	return a->inode == b->inode && a->generation == b->generation && a->major == b->major && a->minor == b->minor &&
	       a->protection == b->protection && a->flags == b->flags && str_eq(a->path, b->path);
}

static struct mapped_file *take_file(struct processes *p, const struct mapped_file *like)
{
	uint64_t h = file_hash(like);
	struct processes_link *e = first(&p->file, h);

	while (e && !(e->hash == h && same_file((struct mapped_file *)e, like)))
		e = e->next;
	struct mapped_file *f = (struct mapped_file *)e;
	if (!f) {
		char *path;

		f = mem_alloc(1, sizeof(*f) + like->path.n + 1);
		path = (char *)(f + 1);
		*f = *like;
		f->references = 0;
		f->window = 0;
		memcpy(path, like->path.p, like->path.n);
		f->path = (struct str){ path, like->path.n };
		add(&p->file, &f->link, h);
	}
	f->references++;
	return f;
}

static void drop_file(struct processes *p, struct mapped_file *f)
{
	if (--f->references)
		return;
	take_out(&p->file, &f->link);
	free(f);
}

static void drop_maps(struct processes *p, struct mappings **maps)
{
	struct mappings *m = *maps;

	*maps = NULL;
	if (!m || --m->references)
		return;
	for (uint32_t i = 0; i < m->n; i++)
		drop_file(p, m->m[i].file);
	p->mappings -= m->n;
	free(m->m);
	free(m);
}

/* maps that nobody else has; made when there are none. */
static struct mappings *own_maps(struct processes *p, struct process *process)
{
	struct mappings *old = process->maps, *m;

	if (old && old->references == 1)
		return old;
	m = process->maps = mem_alloc(sizeof(*m), 1);
	m->references = 1;
	m->version = ++p->version;
	if (!old)
		return m;
	m->n = m->cap = old->n;
	m->m = mem_alloc(sizeof(*m->m), m->cap);
	memcpy(m->m, old->m, m->n * sizeof(*m->m));
	for (uint32_t i = 0; i < m->n; i++)
		m->m[i].file->references++;
	p->mappings += m->n;
	old->references--;
	return m;
}

/* First mapping that ends behind address. */
static uint32_t mapping_at(const struct mappings *m, uint64_t address)
{
	uint32_t lo = 0, hi = m->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (m->m[mid].start + m->m[mid].length <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

uint32_t processes_at(const struct mappings *m, uint64_t address)
{
	uint32_t i = mapping_at(m, address);

	return i < m->n && m->m[i].start <= address ? i : m->n;
}

/* Puts `with[0..n)` where `gone` mappings were, from i on. */
static void splice(struct processes *p, struct mappings *m, uint32_t i, uint32_t gone, const struct mapping *with,
		   uint32_t n)
{
	if (m->n - gone + n > m->cap) {
		m->cap = m->n - gone + n + (m->n < 16 ? 4 : m->n / 4);
		m->m = mem_grow(m->m, sizeof(*m->m), m->cap);
	}
	memmove(m->m + i + n, m->m + i + gone, (m->n - i - gone) * sizeof(*m->m));
	memcpy(m->m + i, with, n * sizeof(*with));
	m->n = m->n - gone + n;
	m->version = ++p->version;
	p->mappings = p->mappings - gone + n;
}

struct mapping *processes_map(struct processes *p, uint32_t pid, const struct mapping *new,
			      const struct mapped_file *file)
{
	struct process *process = processes_make(p, pid);
	uint64_t start = new->start, end;
	struct mapping with[3];
	uint32_t i, at, gone = 0, n = 0;

	if (__builtin_add_overflow(start, new->length, &end) || start == end)
		return NULL;
	if (process->maps) { /* the same again, as mprotect and a second reading of /proc tell it */
		const struct mappings *old = process->maps;
		i = mapping_at(old, start);
		if (i < old->n && old->m[i].start == start && old->m[i].length == new->length &&
		    old->m[i].offset == new->offset &&same_file(old->m[i].file, file))
			return old->m + i;
	}
	struct mappings *m = own_maps(p, process);
	i = mapping_at(m, start);
	if (i < m->n && m->m[i].start < start) { /* what is left of it in front */
		with[n] = m->m[i];
		with[n].length = start - with[n].start;
		with[n++].file->references++;
	}
	at = i + n;
	with[n] = *new;
	with[n++].file = take_file(p, file);
	for (; i + gone < m->n && m->m[i + gone].start < end; gone++) {
		struct mapping *old = m->m + i + gone;

		if (old->start + old->length > end) { /* and behind */
			with[n] = *old;
			with[n].start = end;
			with[n].length = old->start + old->length - end;
			with[n].offset += end - old->start;
			with[n++].file->references++;
		}
	}
	for (uint32_t k = i; k < i + gone; k++)
		drop_file(p, m->m[k].file);
	splice(p, m, i, gone, with, n);
	if (m->n > MAPPINGS_MAX) {
		drop_file(p, m->m[m->n - 1].file);
		splice(p, m, m->n - 1, 1, with, 0);
	}
	return at < m->n ? m->m + at : NULL;
}

/* ---- processes and threads ----------------------------------------------------------------------------------- */

struct processes *processes_new(void)
{
	return mem_alloc(sizeof(struct processes), 1);
}

struct process *processes_make(struct processes *p, uint32_t pid)
{
	struct process *e = processes_find(p, pid);

	if (e)
		return e;
	struct process *made = mem_alloc(sizeof(*made), 1);
	made->pid = pid;
	add(&p->process, &made->link, id_hash(pid));
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
	take_out(&p->thread, &t->link);
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
	add(&p->thread, &made->link, id_hash(tid));
	process = processes_make(p, pid);
	process->live++;
	process->exited = 0;
	return made;
}

static void remove_process(struct processes *p, struct process *process)
{
	drop_maps(p, &process->maps);
	take_out(&p->process, &process->link);
	free(process->given.bit);
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
	EACH(struct thread, t, p->thread)
	if (t->pid == pid && t->tid != pid)
		end_thread(p, t, 1);
}

/* A number that is used again is another process or thread, whatever was known of the old. */
void processes_fork(struct processes *p, uint32_t pid, uint32_t ppid, uint32_t tid, uint32_t ptid)
{
	struct thread *parent = processes_thread(p, ptid), *t = processes_thread(p, tid);
	struct process *from, *to = pid != ppid ? processes_find(p, pid) : NULL;
	char comm[COMM_MAX] = "";
	bool named = parent && parent->named;

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
	if (pid == ppid || !from)
		return;
	to = processes_find(p, pid);
	to->maps = from->maps;
	if (to->maps)
		to->maps->references++;
	to->mount_ns = from->mount_ns;
	to->target = from->target;
}

void processes_comm(struct processes *p, uint32_t pid, uint32_t tid, struct str comm, bool exec)
{
	struct process *process = processes_make(p, pid);
	struct thread *t = processes_make_thread(p, pid, tid);

	set_comm(t, comm);
	if (!exec)
		return;
	drop_maps(p, &process->maps);
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

void processes_doubt(struct processes *p)
{
	p->scan++;
}

void processes_scanned(struct processes *p, uint32_t pid, uint32_t tid)
{
	processes_make_thread(p, pid, tid)->scan = p->scan;
}

void processes_doubted(struct processes *p, uint64_t ns)
{
	EACH(struct thread, t, p->thread)
	if (t->scan != p->scan)
		end_thread(p, t, ns);
}

/* ---- all ----------------------------------------------------------------------------------------------------- */

void processes_each(struct processes *p, void (*fn)(void *to, struct process *process), void *to)
{
	EACH(struct process, process, p->process)
	fn(to, process);
}

struct processes_counts processes_count(const struct processes *p)
{
	return (struct processes_counts){ p->process.n, p->thread.n, p->file.n, p->mappings };
}

void processes_free(struct processes *p)
{
	if (!p)
		return;
	EACH(struct thread, t, p->thread)
	free(t);
	EACH(struct process, process, p->process)
	{
		drop_maps(p, &process->maps);
		free(process->given.bit);
		free(process);
	}
	free(p->thread.slot);
	free(p->process.slot);
	free(p->file.slot);
	free(p->ended);
	free(p);
}
