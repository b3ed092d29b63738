/* SPDX-License-Identifier: Apache-2.0 */
#include "record/unwind/cfitables.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "record/symsaver/targetfiles.h"
#include "common/hash.h"
#include "record/unwind/cfihelpers.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENTRY_COUNT_MAX 4096u
#define BUCKETS 1024u      /* a power of two */
#define KNOWN_TENANTS 256u /* processes whose tenant is known */
#define WAIT_NS SECOND_NS  /* for a table */
#define RETRY_NS (10 * SECOND_NS)
#define IDLE_NS (60 * SECOND_NS)
#define HANG_MS 2000 /* without an answer, the helpers not running: what they read is warm then for the next try */
#define VDSO_MAX (64u << 10)

enum state { FREE, WANTED, REQUESTED, READY, NONE };

/* Several tenants' tables of one file have the same bytes, mostly: these are one. */
struct shared_table {
	struct unwind_table *table;
	unsigned references;
};

/* A file, as mappings name it, of one tenant. Number 0 is nobody's. */
struct entry {
	uint64_t owner; /* key of the helpers */
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t next; /* in its bucket, or of the free ones */
	uint8_t state;
	bool again;       /* it could not be had before: nobody waits */
	uint64_t refused; /* the place (backoff_place) at which it could not be had, when it was `wanted`; 0: none */
	bool crashed; /* a helper crashed at it: once may be chance, as the kernel ends processes when it needs memory
		       */
	uint64_t wanted, used;
	struct shared_table *shared; /* NULL: none */
};

struct cfitables {
	struct cfitables_options o;
	struct cfihelpers *helpers;
	struct budgets *budgets; /* NULL: no limit */
	struct known_tenant {
		uint32_t pid;
		uint64_t start_ticks;
		struct tenant of;
	} known[KNOWN_TENANTS];
	uint64_t own_ns; /* mount namespace */
	struct entry *entry;
	uint32_t n, cap, free, bucket[BUCKETS];
	size_t bytes;
	struct unwind_table *vdso;
	struct cfitables_counts counts;
};

/* ---- start and end ------------------------------------------------------------------------------------------- */

/* The image that the kernel maps into every process, also into this one. */
static struct unwind_table *table_of_vdso(void)
{
	const char *image = (const char *)(uintptr_t)getauxval(AT_SYSINFO_EHDR), *why;
	int fd = image ? memfd_create("vdso", MFD_CLOEXEC) : -1;
	size_t n = 0;
	ssize_t done;

	if (fd < 0)
		return NULL;
	while (n < VDSO_MAX && (done = write(fd, image + n, 4096)) == 4096) /* until its pages end */
		n += 4096;
	return unwind_table_open(fd, &why);
}

static uint64_t own_mount_ns(const char *proc)
{
	char path[256];
	struct stat st;

	snprintf(path, sizeof(path), "%s/self/ns/mnt", proc);
	return stat(path, &st) == 0 ? st.st_ino : 0;
}

static size_t drop_shared(struct shared_table *s);
static void cfitables_take_answer(void *to, const struct cfihelpers_request *q, const struct cfimaker_reply *r,
				  int image, uint64_t now);
static void take_failure(void *to, const struct cfihelpers_request *q, bool first, bool hung, uint64_t now);

struct cfitables *cfitables_start(const struct cfitables_options *o)
{
	struct cfitables *t = mem_alloc(sizeof(*t), 1);
	struct cfihelpers_user user = { cfitables_take_answer, take_failure, t };

	t->o = *o;
	t->o.max_bytes = o->max_bytes ? o->max_bytes : CFITABLES_MOST;
	t->n = 1;
	t->helpers = cfihelpers_start(o->proc, o->hang_ms ? o->hang_ms : HANG_MS, &user);
	t->vdso = table_of_vdso();
	t->own_ns = own_mount_ns(o->proc);
	return t;
}

void cfitables_stop(struct cfitables *t)
{
	if (!t)
		return;
	cfihelpers_stop(t->helpers);
	for (uint32_t i = 1; i < t->n; i++)
		drop_shared(t->entry[i].shared);
	unwind_table_close(t->vdso);
	free(t->entry);
	free(t);
}

/* ---- entries ------------------------------------------------------------------------------------------------- */

static uint64_t device_of(const struct entry *e)
{
	return (uint64_t)e->major << 32 | e->minor;
}

static uint32_t *cfitables_bucket_of(struct cfitables *t, const struct entry *e)
{
	return &t->bucket[hash_pair(e->inode ^ e->generation << 32, device_of(e)) & (BUCKETS - 1)];
}

static bool cfitables_is_of(const struct entry *e, const struct mapped_file *f, uint64_t owner)
{
	return e->state != FREE && e->owner == owner && e->inode == f->inode && e->generation == f->generation &&
	       e->major == f->major && e->minor == f->minor;
}

/* Lets a reference go. Returns the bytes of memory that became free. */
static size_t drop_shared(struct shared_table *s)
{
	size_t bytes = s && s->references == 1 ? unwind_table_bytes(s->table) : 0;

	if (s && --s->references == 0) {
		unwind_table_close(s->table);
		free(s);
	}
	return bytes;
}

static size_t cfitables_forget(struct cfitables *t, uint32_t number)
{
	size_t bytes;
	struct entry *e = &t->entry[number];
	uint32_t *link = cfitables_bucket_of(t, e);

	while (*link != number)
		link = &t->entry[*link].next;
	*link = e->next;
	bytes = drop_shared(e->shared);
	*e = (struct entry){ .next = t->free };
	t->free = number;
	return bytes;
}

/* Nothing of it is under way. */
static bool cfitables_is_idle(const struct entry *e)
{
	return e->state == READY || e->state == NONE || e->state == WANTED;
}

/* The entry that can be done without best: 0 when all are in use. */
static uint32_t cfitables_oldest(const struct cfitables *t, bool with_table, uint64_t before)
{
	uint32_t found = 0;

	for (uint32_t i = 1; i < t->n; i++) {
		const struct entry *e = &t->entry[i];
		bool candidate = with_table ? e->state == READY : cfitables_is_idle(e);

		if (candidate && e->used < before && (!found || e->used < t->entry[found].used))
			found = i;
	}
	return found;
}

static uint32_t take_number(struct cfitables *t, uint64_t now)
{
	uint32_t number = t->free;

	if (!number && t->n == ENTRY_COUNT_MAX) {
		number = cfitables_oldest(t, false, now);
		if (!number)
			return 0;
		cfitables_forget(t, number);
	}
	if (number) {
		t->free = t->entry[number].next;
		return number;
	}
	if (t->n >= t->cap) {
		t->cap = t->cap ? 2 * t->cap : 64;
		t->entry = mem_grow(t->entry, sizeof(*t->entry), t->cap);
		t->entry[0] = (struct entry){ 0 };
	}
	return t->n++;
}

static uint32_t cfitables_entry_of(struct cfitables *t, const struct mapped_file *f, uint64_t owner, uint64_t now)
{
	struct entry like = {
		.owner = owner, .major = f->major, .minor = f->minor, .inode = f->inode, .generation = f->generation
	};
	uint32_t i = *cfitables_bucket_of(t, &like);

	while (i && !cfitables_is_of(&t->entry[i], f, owner))
		i = t->entry[i].next;
	if (i)
		return i;
	i = take_number(t, now);
	if (!i)
		return 0;
	like.state = WANTED;
	like.wanted = like.used = now;
	like.next = *cfitables_bucket_of(t, &like);
	t->entry[i] = like;
	*cfitables_bucket_of(t, &like) = i;
	return i;
}

/* ---- questions ----------------------------------------------------------------------------------------------- */

/* Which tenant a process is, as far as it was looked up while it lived. Processes of a recording were looked up for
 * their samples; others are here, once. */
static struct tenant tenant_of_process(struct cfitables *t, const struct process *p)
{
	struct known_tenant *known = &t->known[p->pid % KNOWN_TENANTS];
	int process;

	if (p->tenant_window)
		return p->tenant;
	if (known->pid == p->pid && known->start_ticks == p->start_ticks && p->start_ticks)
		return known->of;
	process = target_process(t->o.proc, p->pid, p->start_ticks);
	*known = (struct known_tenant){ p->pid, p->start_ticks,
					process >= 0 ? tenant_of(process) : (struct tenant){ 0 } };
	if (process >= 0)
		close(process);
	return known->of;
}

/* Of a process that ended before it was looked up only the mount namespace is known: it may be any user's, so the
 * host's helpers never read its files. */
static struct cfihelpers_owner cfitables_owner_of(struct cfitables *t, const struct process *p, uint64_t device)
{
	struct cfihelpers_owner owner = { .of = tenant_of_process(t, p) };

	if (owner.of.kind == TENANT_UNKNOWN) {
		owner.of = p->mount_ns ? (struct tenant){ TENANT_MOUNT_NS, p->mount_ns } : owner.of;
		owner.key = owner.place = backoff_place(&(struct tenant){ TENANT_UNKNOWN, p->mount_ns }, t->own_ns, 0);
		return owner;
	}
	owner.place = backoff_place(&owner.of, t->own_ns, device);
	owner.key = backoff_is_host(&owner.of, t->own_ns) ? CFIHELPERS_HOST : owner.place;
	return owner;
}

/* A process of the host may have become another user's since it was looked up. */
static bool is_still_owner(struct cfitables *t, const struct process *p, const struct cfihelpers_owner *owner)
{
	int process = owner->key == CFIHELPERS_HOST ? target_process(t->o.proc, p->pid, p->start_ticks) : -1;
	bool same = true;

	if (process >= 0) {
		struct tenant of = tenant_of(process);

		same = of.kind == TENANT_UNKNOWN || tenant_same(of, owner->of);
		close(process);
	}
	return same;
}

/* Its tenant is over its budget of CPU time, or helpers failed at its files: counted. */
static bool is_left_out(struct cfitables *t, const struct cfihelpers_owner *owner, uint64_t now)
{
	bool host = backoff_is_host(&owner->of, t->own_ns);
	bool out = cfihelpers_avoid(t->helpers, owner->place, now) ||
		   (!host && t->budgets && !tenants_may(budgets_tenants(t->budgets), owner->of, TENANT_CPU_NS, now));

	if (out)
		budgets_over(t->budgets, owner->of, OVER_TABLES, 1);
	return out;
}

/* False: not for this process, or not now. */
static bool cfitables_query(struct cfitables *t, uint32_t number, const struct process *p, const struct mapping *m,
			    const struct cfihelpers_owner *owner, uint64_t now)
{
	struct entry *e = &t->entry[number];
	struct cfimaker_request r = { .number = number,
				      .pid = p->pid,
				      .start_ticks = p->start_ticks,
				      .mount_ns = p->mount_ns,
				      .address = m->start,
				      .major = e->major,
				      .minor = e->minor,
				      .inode = e->inode,
				      .generation = e->generation };
	enum cfihelpers_pending is_requested;
	size_t n = m->file->path.n;

	if (n > sizeof(r.path) || (e->refused == owner->place && now < e->wanted + RETRY_NS) ||
	    is_left_out(t, owner, now) || !is_still_owner(t, p, owner))
		return false;
	r.npath = (uint32_t)n;
	memcpy(r.path, m->file->path.p, n);
	is_requested = cfihelpers_query(t->helpers, owner, &r, offsetof(struct cfimaker_request, path) + n, now);
	if (is_requested == CFIHELPERS_PENDING)
		e->state = REQUESTED;
	return is_requested != CFIHELPERS_OFF;
}

/* What is mapped from no file has none. */
static bool is_file(const struct mapped_file *f)
{
	return f->inode && f->path.n > 1 && f->path.p[0] == '/' && f->path.p[1] != '/';
}

static enum cfitables_answer cfitables_found(const struct unwind_table *table, uint64_t address, uint64_t offset,
					     struct unwind_code *code)
{
	if (!table || !unwind_table_bias(table, address, offset, &code->bias))
		return CFITABLES_NONE;
	code->table = table;
	return CFITABLES_READY;
}

enum cfitables_answer cfitables_find(struct cfitables *t, const struct process *p, const struct mapping *m,
				     uint64_t address, uint64_t now, struct unwind_code *code)
{
	struct mapped_file *f = m->file;
	struct cfihelpers_owner owner;
	struct entry *e;

	if (!is_file(f))
		return str_eq(f->path, STR("[vdso]")) ? cfitables_found(t->vdso, address, address - m->start, code) :
							CFITABLES_NONE;
	owner = cfitables_owner_of(t, p, (uint64_t)f->major << 32 | f->minor);
	if (!f->table || f->table >= t->n || !cfitables_is_of(&t->entry[f->table], f, owner.key))
		f->table = cfitables_entry_of(t, f, owner.key, now);
	if (!f->table)
		return CFITABLES_NONE;
	e = &t->entry[f->table];
	e->used = now;
	if (e->state == WANTED && !cfitables_query(t, f->table, p, m, &owner, now))
		return CFITABLES_NONE;
	if (e->state == READY)
		return cfitables_found(e->shared->table, address, address - m->start + m->offset, code);
	if (e->state != WANTED && e->state != REQUESTED)
		return CFITABLES_NONE;
	return !e->again && cfihelpers_answer_soon(t->helpers, owner.key, now) && now < e->wanted + WAIT_NS ?
		       CFITABLES_WAIT :
		       CFITABLES_LATE;
}

/* ---- answers ------------------------------------------------------------------------------------------------- */

static void cfitables_make_space(struct cfitables *t, uint64_t now)
{
	uint32_t i;

	while (t->bytes > t->o.max_bytes && (i = cfitables_oldest(t, true, now))) {
		t->counts.evicted++;
		t->bytes -= cfitables_forget(t, i);
	}
}

/* Sealed: who made it cannot take it away or change it. */
static struct unwind_table *cfitables_table_of(int image)
{
	enum { NEEDED = F_SEAL_SHRINK | F_SEAL_WRITE };
	const char *why;

	if (image < 0)
		return NULL;
	if ((fcntl(image, F_GET_SEALS) & NEEDED) == NEEDED)
		return unwind_table_load(image, &why);
	close(image);
	return NULL;
}

/* The file cannot be had by that tenant; nobody waits for it any more. */
static void cfitables_refuse(struct entry *e, uint64_t place, uint64_t now)
{
	e->state = WANTED;
	e->refused = place;
	e->wanted = now;
	e->again = true;
}

/* Another tenant's helpers may have made the same bytes of the same file: then there is one table of them. Takes
 * `table` over. */
static struct shared_table *cfitables_share(struct cfitables *t, const struct entry *e, struct unwind_table *table)
{
	struct shared_table *s;

	for (uint32_t i = *cfitables_bucket_of(t, e); i; i = t->entry[i].next) {
		const struct entry *other = &t->entry[i];

		if (!other->shared || other->inode != e->inode || other->generation != e->generation ||
		    device_of(other) != device_of(e) || !unwind_table_is_same(other->shared->table, table))
			continue;
		unwind_table_close(table);
		other->shared->references++;
		return other->shared;
	}
	s = mem_alloc(sizeof(*s), 1);
	*s = (struct shared_table){ table, 1 };
	t->bytes += unwind_table_bytes(table);
	return s;
}

static void cfitables_take_answer(void *to, const struct cfihelpers_request *q, const struct cfimaker_reply *r,
				  int image, uint64_t now)
{
	struct cfitables *t = to;
	struct entry *e = &t->entry[q->number];
	struct unwind_table *table = cfitables_table_of(image);

	e->shared = table ? cfitables_share(t, e, table) : NULL;
	e->state = table ? READY : r->answer == CFIMAKER_GONE ? WANTED : NONE;
	if (e->state == WANTED)
		cfitables_refuse(e, q->owner.place, now);
	if (t->budgets && !backoff_is_host(&q->owner.of, t->own_ns))
		tenants_charge(budgets_tenants(t->budgets), q->owner.of, TENANT_CPU_NS, r->cpu_us * UINT64_C(1000),
			       now);
	t->counts.made += table != NULL;
	t->counts.gone += e->state == WANTED;
	t->counts.large += r->answer == CFIMAKER_LARGE;
	t->counts.none += e->state == NONE && r->answer != CFIMAKER_LARGE;
}

/* The file at which they hung is tried again later, that at which two crashed is not; the others are asked for again.
 */
static void take_failure(void *to, const struct cfihelpers_request *q, bool first, bool hung, uint64_t now)
{
	struct cfitables *t = to;
	struct entry *e = &t->entry[q->number];

	e->state = first && !hung && e->crashed ? NONE : WANTED;
	e->crashed = e->crashed || (first && !hung);
	e->wanted = now;
	if (first && hung)
		cfitables_refuse(e, q->owner.place, now);
}

void cfitables_take(struct cfitables *t, uint64_t now)
{
	cfihelpers_take(t->helpers, now);
	if (t->bytes > t->o.max_bytes)
		cfitables_make_space(t, now - SECOND_NS);
}

int cfitables_fd(const struct cfitables *t)
{
	return cfihelpers_fd(t->helpers);
}

/* ---- now and then -------------------------------------------------------------------------------------------- */

void cfitables_tick(struct cfitables *t, uint64_t now)
{
	cfihelpers_tick(t->helpers, now);
	t->bytes = 0;
	for (uint32_t i = 1; i < t->n; i++) {
		const struct entry *e = &t->entry[i];

		if (cfitables_is_idle(e) && e->used + IDLE_NS < now)
			cfitables_forget(t, i);
		else if (e->state == READY && unwind_table_is_full(e->shared->table))
			cfitables_forget(t, i);
		else if (e->shared)
			t->bytes += unwind_table_bytes(e->shared->table) / e->shared->references;
	}
	if (t->bytes > t->o.max_bytes)
		cfitables_make_space(t, now - SECOND_NS);
}

void cfitables_budgets(struct cfitables *t, struct budgets *budgets)
{
	t->budgets = budgets;
}

struct cfitables_counts cfitables_count(const struct cfitables *t)
{
	struct cfitables_counts c = t->counts;

	for (uint32_t i = 1; i < t->n; i++)
		c.tables += t->entry[i].shared != NULL;
	c.bytes = t->bytes;
	c.helpers = cfihelpers_count(t->helpers);
	return c;
}
