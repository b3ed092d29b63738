/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/process/addrspace.h"

#include "fold/perfdata/buildids.h"
#include "common/diag.h"
#include "common/hash.h"

#include <stdio.h>
#include <stdlib.h>

#define MAP_HUGE 0x40000u /* MAP_HUGETLB */

#define NOBODY UINT32_MAX /* pid of the kernel's mappings */
#define PROTECTION_EXEC 4u

/* Samples of a thread's last steps in the kernel come behind its EXIT: so long, or so many ends, it is remembered. */
#define LINGER_NS 10000000000u
#define LINGER_MAX 32768u
#define WAITS UINT64_MAX /* ended long ago, but other threads of its process live */

/* ---- DSOs --------------------------------------------------------------------------------------------------- */

static uint32_t dso_by_key(struct addrspace *a, struct str key, enum dso_kind kind, struct str path)
{
	uint32_t before = a->keys.n, id = intern(&a->keys, key);

	if (id <= before)
		return id;
	if (id >= a->dso_cap) {
		size_t cap = a->dso_cap ? a->dso_cap * 2 : 64;

		a->dso = mem_grow(a->dso, sizeof(*a->dso), cap);
		memset(a->dso + a->dso_cap, 0, (cap - a->dso_cap) * sizeof(*a->dso));
		a->dso_cap = cap;
	}
	a->dso[id] = (struct dso){ .kind = kind, .path = arena_copy(&a->text, path) };
	return id;
}

#define KEY_SPACE 128 /* of what is not the path */

/* Equal bytes are the same DSO: the kind, what tells files of one path apart, the path. */
static uint32_t dso_of(struct addrspace *a, enum dso_kind kind, struct str path, const void *identity, size_t n)
{
	if (path.n > sizeof(a->key) - KEY_SPACE)
		path.n = sizeof(a->key) - KEY_SPACE; /* longer than any path of the kernel */
	a->key[0] = (char)kind;
	a->key[1] = (char)n;
	memcpy(a->key + 2, identity, n);
	memcpy(a->key + 2 + n, path.p, path.n);
	return dso_by_key(a, (struct str){ a->key, 2 + n + path.n }, kind, path);
}

uint32_t addrspace_special(struct addrspace *a, enum dso_kind kind, struct str name)
{
	return dso_of(a, kind, name, "", 0);
}

uint32_t addrspace_jit(struct addrspace *a, uint32_t pid)
{
	char path[40];
	uint32_t id;

	snprintf(path, sizeof(path), "/tmp/perf-%u.map", (unsigned)pid);
	id = dso_of(a, DSO_JIT, str_of(path), &pid, sizeof(pid));
	a->dso[id].pid = pid;
	return id;
}

uint32_t addrspace_code(struct addrspace *a, uint32_t jit)
{
	uint32_t code = a->dso[jit].code;

	if (code == 0) {
		code = addrspace_special(a, DSO_CODE, a->dso[jit].path);
		a->dso[jit].code = code;
	}
	return code;
}

uint32_t addrspace_methods(struct addrspace *a, uint32_t pid)
{
	uint32_t id = dso_of(a, DSO_METHOD, STR("[interpreted]"), &pid, sizeof(pid));

	a->dso[id].pid = pid;
	return id;
}

/* perf's is_anon_memory, is_no_dso_memory. */
static bool addrspace_is_anonymous(struct str path, uint32_t flags)
{
	return path.n == 0 || str_eq(path, STR("//anon")) || str_starts(path, STR("/dev/zero")) ||
	       str_starts(path, STR("/anon_hugepage")) || (flags & MAP_HUGE);
}

static bool is_no_file(struct str path)
{
	return str_starts(path, STR("[stack")) || str_starts(path, STR("/SYSV")) || str_eq(path, STR("[heap]"));
}

/* Memory that a process shares with itself to write code through one mapping and run it in another. */
static bool is_memfd(struct str path)
{
	return str_starts(path, STR("/memfd:"));
}

static struct symstore_numbers numbers_of(const struct perfdata_record *r)
{
	return (struct symstore_numbers){ r->mmap.major, r->mmap.minor, r->mmap.inode, r->mmap.generation };
}

/* The mapping's word, else the recorder's. */
static struct build_id build_of(const struct addrspace *a, const struct perfdata_record *r)
{
	struct symstore_numbers n = numbers_of(r);

	return r->mmap.build_id.n || !a->symstore || n.inode == 0 ? r->mmap.build_id : symstore_build(a->symstore, &n);
}

/* Code of a JIT, and no program that somebody put there. */
static bool is_jit_memory(const struct addrspace *a, const struct perfdata_record *r)
{
	struct symstore_numbers n = numbers_of(r);

	return is_memfd(r->mmap.path) && !a->as_perf && !build_of(a, r).n &&
	       !(a->symstore && symstore_is_program(a->symstore, r->pid, &n));
}

static uint32_t file_dso(struct addrspace *a, const struct perfdata_record *r)
{
	struct symstore_numbers inode = numbers_of(r);
	struct build_id reported = build_of(a, r);
	const struct build_id *b = &reported;
	struct {
		struct symstore_origin origin;
		union {
			struct symstore_numbers numbers;
			uint8_t id[BUILD_ID_MAX];
		} is;
		uint64_t n;
	} key = { .n = b->n };
	uint32_t id;

	if (a->symstore)
		key.origin = symstore_origin(a->symstore, r->pid, b, &inode);
	if (b->n)
		memcpy(key.is.id, b->byte, b->n < BUILD_ID_MAX ? b->n : BUILD_ID_MAX);
	else
		key.is.numbers = inode;
	id = dso_of(a, DSO_FILE, r->mmap.path, &key, sizeof(key));

	if (b->n)
		a->dso[id].build_id = *b;
	a->dso[id].major = inode.major;
	a->dso[id].minor = inode.minor;
	a->dso[id].inode = inode.inode;
	a->dso[id].generation = inode.generation;
	return id;
}

static uint32_t user_dso(struct addrspace *a, const struct perfdata_record *r)
{
	bool exec = !r->mmap.data || (r->mmap.protection & PROTECTION_EXEC);
	struct str path = r->mmap.path;
	uint32_t id;

	if (str_starts(path, STR("[vdso")))
		id = addrspace_special(a, DSO_VDSO, path);
	else if (str_eq(path, STR(PJ_OVER_BUDGET_PATH)))
		id = addrspace_special(a, DSO_DATA, path);
	else if (addrspace_is_anonymous(path, r->mmap.flags) || is_no_file(path))
		id = exec && r->pid ? addrspace_jit(a, r->pid) :
				      addrspace_special(a, DSO_DATA, path.n ? path : STR("//anon"));
	else if (exec && is_jit_memory(a, r))
		id = addrspace_jit(a, r->pid);
	else
		id = file_dso(a, r);
	if (a->dso[id].kind != DSO_JIT)
		a->dso[id].pid = r->pid;
	a->dso[id].mapped_ns = r->has_time ? r->time : 0;
	return id;
}

void addrspace_build_ids(struct addrspace *a, const struct perfdata_build_id *id, size_t n)
{
	struct buildids ids = { 0 };

	buildids_update(&ids, id, n);
	for (uint32_t d = 1; d <= a->keys.n; d++) {
		struct dso *dso = &a->dso[d];
		bool kernel = dso->kind == DSO_KERNEL;

		/* a path of ours may be that of other files in containers: whatever is known of them stood by their
		 * numbers */
		if (dso->kind == DSO_FILE && dso->inode && a->symstore && a->symstore->who->is)
			continue;
		if (dso->build_id.n == 0 && (kernel || dso->kind == DSO_FILE || dso->kind == DSO_VDSO))
			dso->build_id = buildids_find(&ids, kernel, dso->path);
	}
	buildids_free(&ids);
}

/* ---- maps --------------------------------------------------------------------------------------------------- */

static struct addrspace_maps *shared_new(struct addrspace *a)
{
	struct addrspace_maps *m = mem_alloc(sizeof(*m), 1);

	m->refs = 1;
	m->serial = ++a->serial;
	return m;
}

static void shared_drop(struct addrspace_maps *m)
{
	if (--m->refs)
		return;
	maps_free(&m->maps);
	free(m);
}

/* The one to write to: a copy when others see it, too. */
static struct addrspace_maps *shared_own(struct addrspace *a, struct addrspace_maps *m)
{
	struct addrspace_maps *copy;

	if (m->refs == 1) {
		m->serial = ++a->serial;
		return m;
	}
	copy = shared_new(a);
	copy->maps = maps_copy(&m->maps);
	m->refs--;
	return copy;
}

/* ---- threads ------------------------------------------------------------------------------------------------ */

static uint32_t thread_hash(uint32_t tid)
{
	return (uint32_t)hash_number(tid);
}

static void grow_threads(struct addrspace *a)
{
	uint32_t nslots = a->mask ? (a->mask + 1) * 2 : 1024;
	struct addrspace_thread **slot = mem_alloc(sizeof(*slot), nslots);

	for (uint32_t i = 0; a->mask && i <= a->mask; i++) {
		uint32_t at;

		if (!a->slot[i])
			continue;
		for (at = thread_hash(a->slot[i]->tid) & (nslots - 1); slot[at]; at = (at + 1) & (nslots - 1))
			;
		slot[at] = a->slot[i];
	}
	free(a->slot);
	a->slot = slot;
	a->mask = nslots - 1;
}

/* Where a tid is in the table, or would be. */
static uint32_t addrspace_slot_of(const struct addrspace *a, uint32_t tid)
{
	uint32_t i = thread_hash(tid) & a->mask;

	while (a->slot[i] && a->slot[i]->tid != tid)
		i = (i + 1) & a->mask;
	return i;
}

/* The place of a tid; used is false until somebody was seen under it. */
static struct addrspace_thread *addrspace_thread_of(struct addrspace *a, uint32_t tid)
{
	uint32_t i;

	if (a->nthreads >= a->mask / 2)
		grow_threads(a);
	i = addrspace_slot_of(a, tid);
	if (!a->slot[i]) {
		a->nthreads++;
		a->slot[i] = mem_alloc(sizeof(**a->slot), 1);
		a->slot[i]->tid = tid;
	}
	return a->slot[i];
}

static void space_drop(struct addrspace_space *s)
{
	if (!s || --s->refs)
		return;
	shared_drop(s->maps);
	free(s);
}

static struct addrspace_space *space_new(struct addrspace_maps *maps)
{
	struct addrspace_space *s = mem_alloc(sizeof(*s), 1);

	s->refs = 1;
	s->maps = maps;
	return s;
}

static void addrspace_forget(struct addrspace_thread *t)
{
	space_drop(t->space);
	*t = (struct addrspace_thread){ .tid = t->tid };
}

struct addrspace_thread *addrspace_thread(struct addrspace *a, uint32_t pid, uint32_t tid)
{
	struct addrspace_thread *t = addrspace_thread_of(a, tid), *leader;

	if (likely(t->used && t->pid == pid))
		return t;
	addrspace_forget(t); /* the number was given to another process, and nobody told */
	t->used = true;
	t->pid = pid;
	if (pid == tid) {
		t->space = space_new(shared_new(a));
		return t;
	}
	leader = addrspace_thread_of(a, pid);
	if (!leader->used || leader->pid != pid) {
		addrspace_forget(leader);
		leader->used = true;
		leader->pid = pid;
		leader->space = space_new(shared_new(a));
	}
	t->space = leader->space;
	t->space->refs++;
	return t;
}

/* Takes the thread at a slot out of the table; those behind it move up. */
static void delete_thread(struct addrspace *a, uint32_t at)
{
	space_drop(a->slot[at]->space);
	free(a->slot[at]);
	a->nthreads--;
	for (uint32_t i = (at + 1) & a->mask; a->slot[i]; i = (i + 1) & a->mask) {
		uint32_t home = thread_hash(a->slot[i]->tid) & a->mask;

		if (((i - home) & a->mask) < ((i - at) & a->mask))
			continue;
		a->slot[at] = a->slot[i];
		at = i;
	}
	a->slot[at] = NULL;
}

/* Nobody asks for it any more: but for a leader, whose name is that of its process. */
static void addrspace_bury(struct addrspace *a, const struct addrspace_end *end)
{
	uint32_t at = addrspace_slot_of(a, end->tid), pid;
	struct addrspace_thread *t = a->slot[at];

	if (!t || t->ended != end->ended)
		return; /* the number lives again */
	if (t->space && t->space->refs > 1 && t->pid == t->tid) {
		t->ended = WAITS;
		return;
	}
	pid = t->pid;
	delete_thread(a, at);
	at = addrspace_slot_of(a, pid);
	t = a->slot[at];
	if (t && t->ended == WAITS && t->pid == pid && t->space->refs == 1)
		delete_thread(a, at);
}

static void remember_end(struct addrspace *a, struct addrspace_thread *t, uint64_t time)
{
	if (a->ends - a->ends_forgotten == a->ends_cap) {
		size_t cap = a->ends_cap ? a->ends_cap * 2 : 256;
		struct addrspace_end *end = mem_alloc(sizeof(*end), cap);

		for (uint64_t i = a->ends_forgotten; i < a->ends; i++)
			end[i % cap] = a->end[i % a->ends_cap];
		free(a->end);
		a->end = end;
		a->ends_cap = cap;
	}
	t->ended = a->ends + 1;
	a->end[a->ends++ % a->ends_cap] = (struct addrspace_end){ t->tid, t->ended, time };
}

/* Without times, records are in no order: then all are remembered. */
static void exit_record(struct addrspace *a, const struct perfdata_record *r)
{
	struct addrspace_thread *t;

	if (!r->has_time || r->tid == 0)
		return;
	t = a->mask ? a->slot[addrspace_slot_of(a, r->tid)] : NULL;
	if (!t || !t->used || t->pid != r->pid)
		return;
	remember_end(a, t, r->time);
	while (a->ends > a->ends_forgotten) {
		const struct addrspace_end *first = &a->end[a->ends_forgotten % a->ends_cap];

		if (a->ends - a->ends_forgotten <= LINGER_MAX && r->time <= first->time + LINGER_NS)
			break;
		a->ends_forgotten++;
		addrspace_bury(a, first);
	}
}

uint32_t addrspace_comm(struct addrspace *a, struct addrspace_thread *t)
{
	char name[16];
	int n;

	if (likely(t->comm))
		return t->comm;
	if (t->tid == 0)
		return intern(&a->comms, STR("swapper"));
	n = snprintf(name, sizeof(name), ":%d", (int)t->tid);
	return intern(&a->comms, (struct str){ name, (size_t)n });
}

/* ---- records ------------------------------------------------------------------------------------------------ */

static void fork_thread(struct addrspace *a, const struct perfdata_record *r)
{
	struct addrspace_thread *parent = addrspace_thread(a, r->fork.ppid, r->fork.ptid), *t;
	uint32_t comm = parent->comm;
	struct addrspace_maps *maps = parent->space->maps;

	if (parent->tid == r->tid)
		return; /* nobody is its own child */
	maps->refs++;   /* the new one may take the number of the old one's leader */
	addrspace_forget(addrspace_thread_of(a, r->tid));
	t = addrspace_thread(a, r->pid, r->tid);
	t->comm = comm;
	if (r->pid != r->fork.ppid && !r->fork.synthesised && maps_empty(&t->space->maps->maps)) {
		shared_drop(t->space->maps);
		t->space->maps = maps;
		return;
	}
	shared_drop(maps);
}

static void comm_record(struct addrspace *a, const struct perfdata_record *r)
{
	struct addrspace_thread *t = addrspace_thread(a, r->pid, r->tid);

	t->ended = 0;
	t->comm = intern(&a->comms, r->comm.comm);
	/* what the program before had mapped is gone; perf keeps it, and so finds code that is not there */
	if (r->comm.exec && !a->as_perf) {
		shared_drop(t->space->maps);
		t->space->maps = shared_new(a);
	}
}

static bool kernel_map(const struct perfdata_record *r, struct map *m)
{
	m->start = r->mmap.start;
	if (__builtin_add_overflow(m->start, r->mmap.length, &m->end))
		m->end = UINT64_MAX;
	return m->start < m->end;
}

/* "/lib/modules/6.1/kernel/fs/nfs-v4.ko.xz" is [nfs_v4]. */
static struct str module_name(struct str path, char *name, size_t cap)
{
	struct str base = str_from(path, (size_t)(str_rfind(path, '/') + 1));
	ptrdiff_t dot = str_find_str(base, STR(".ko"));
	size_t n = 0;

	if (base.n && base.p[0] == '[')
		return base;
	if (dot >= 0)
		base.n = (size_t)dot;
	name[n++] = '[';
	for (size_t i = 0; i < base.n && n < cap - 1; i++)
		name[n++] = base.p[i];
	for (size_t i = 1; i < n; i++)
		if (name[i] == '-')
			name[i] = '_';
	name[n++] = ']';
	return (struct str){ name, n };
}

static void kernel_mmap(struct addrspace *a, const struct perfdata_record *r)
{
	struct str path = r->mmap.path, kernel = STR("[kernel.kallsyms]");
	struct map m = { 0 };
	char name[128];

	if (!kernel_map(r, &m))
		return;
	if (str_starts(path, kernel) || str_starts(path, STR("[guest.kernel"))) {
		m.dso = addrspace_special(a, DSO_KERNEL, kernel);
		if (path.n > kernel.n) { /* the symbol that was used to tell how far the kernel was moved */
			a->kernel_symbol = arena_copy(&a->text, str_from(path, kernel.n));
			a->kernel_text = r->mmap.offset;
		}
		a->kernel_core = m.dso;
	} else {
		m.dso = addrspace_special(a, DSO_KERNEL, module_name(path, name, sizeof(name)));
	}
	if (r->mmap.build_id.n)
		a->dso[m.dso].build_id = r->mmap.build_id;
	a->kernel = shared_own(a, a->kernel);
	maps_insert(&a->kernel->maps, m);
}

static void user_mmap(struct addrspace *a, const struct perfdata_record *r)
{
	struct addrspace_thread *t = addrspace_thread(a, r->pid, r->tid);
	struct map m = { 0 };
	enum dso_kind kind;

	if (!kernel_map(r, &m))
		return;
	t->ended = 0;
	m.dso = user_dso(a, r);
	kind = a->dso[m.dso].kind;
	if (kind == DSO_FILE)
		m.add = r->mmap.offset - m.start;
	else if (kind == DSO_VDSO)
		m.add = 0 - m.start;
	t->space->maps = shared_own(a, t->space->maps);
	maps_insert(&t->space->maps->maps, m);
}

static void addrspace_ksymbol(struct addrspace *a, const struct perfdata_record *r)
{
	struct map m = { .start = r->ksymbol.start };

	if (__builtin_add_overflow(m.start, (uint64_t)r->ksymbol.length, &m.end) || m.start == m.end)
		return;
	m.dso = r->ksymbol.gone ? 0 : addrspace_special(a, DSO_SYMBOL, r->ksymbol.name);
	a->kernel = shared_own(a, a->kernel);
	maps_insert(&a->kernel->maps, m);
}

void addrspace_record(struct addrspace *a, const struct perfdata_record *r)
{
	switch (r->kind) {
	case PERFDATA_MMAP:
		if (r->pid == NOBODY)
			kernel_mmap(a, r);
		else
			user_mmap(a, r);
		break;
	case PERFDATA_COMM: comm_record(a, r); break;
	case PERFDATA_FORK: fork_thread(a, r); break;
	case PERFDATA_EXIT: exit_record(a, r); break;
	case PERFDATA_KSYMBOL: addrspace_ksymbol(a, r); break;
	default: break;
	}
}

/* ---- questions ---------------------------------------------------------------------------------------------- */

struct addrspace_place addrspace_find(const struct addrspace *a, const struct addrspace_thread *t,
				      enum perfdata_mode mode, uint64_t ip)
{
	const struct map *m = NULL;

	if (mode == MODE_KERNEL) {
		m = maps_find(&a->kernel->maps, ip);
		if (!m && a->kernel_core)
			return (struct addrspace_place){ a->kernel_core,
							 ip }; /* kallsyms knows more than one mapping tells */
	} else if (mode == MODE_USER) {
		m = maps_find(&t->space->maps->maps, ip);
	}
	return m ? (struct addrspace_place){ m->dso, ip + m->add } : (struct addrspace_place){ 0, ip };
}

void addrspace_init(struct addrspace *a, bool as_perf)
{
	*a = (struct addrspace){ .as_perf = as_perf };
	a->dso_cap = 64;
	a->dso = mem_alloc(sizeof(*a->dso), a->dso_cap);
	a->dso[0] = (struct dso){ .kind = DSO_NOWHERE, .path = STR("[unknown]") };
	a->kernel = shared_new(a);
}

void addrspace_free(struct addrspace *a)
{
	for (uint32_t i = 0; a->mask && i <= a->mask; i++)
		if (a->slot[i]) {
			space_drop(a->slot[i]->space);
			free(a->slot[i]);
		}
	shared_drop(a->kernel);
	intern_free(&a->comms);
	intern_free(&a->keys);
	free(a->dso);
	free(a->slot);
	free(a->end);
	arena_free(&a->text);
}
