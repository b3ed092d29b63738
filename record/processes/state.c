/* SPDX-License-Identifier: Apache-2.0 */
#include "record/processes/state.h"

#include "common/arena.h"
#include "record/perf/chunk.h"
#include "common/hash.h"
#include "record/processes/idlist.h"
#include "record/processes/procfs.h"
#include "record/perf/rings.h"

#include <stdlib.h>
#include <sys/mman.h>

#define SAVED_MAX 1024 /* mappings of a process that the keeper is told of before they are hit */

struct state {
	struct processes *processes;
	struct cgroups *cgroups;
	struct kernel *kernel;
	struct symsaver *keep;
	uint64_t event, window, own_mount_ns;
	struct rescan *rescan;
	struct idlist ids;
	struct text items;
	uint64_t nprocesses;
	uint32_t last_tid; /* was sampled last, and has all it needs in this window; 0: none (the idle task is cheap) */
	uint64_t last_cgroup;
};

struct state *state_new(struct processes *p, struct cgroups *g, struct kernel *k, struct symsaver *keep,
			struct rescan *m, uint64_t event)
{
	struct state *s = mem_alloc(sizeof(*s), 1);

	*s = (struct state){ .processes = p,
			     .cgroups = g,
			     .kernel = k,
			     .keep = keep,
			     .event = event,
			     .rescan = m,
			     .own_mount_ns = procfs_own_mount_ns() };
	return s;
}

void state_free(struct state *s)
{
	if (!s)
		return;
	idlist_free(&s->ids);
	text_free(&s->items);
	free(s);
}

void state_begin(struct state *s, uint64_t window)
{
	s->window = window;
	idlist_begin(&s->ids);
	s->items.n = 0;
	s->nprocesses = 0;
	s->last_tid = 0;
	s->last_cgroup = 0;
}

void state_end(struct state *s)
{
	idlist_end(&s->ids, s->keep, &s->items);
}

struct str state_build_ids(const struct state *s)
{
	return text_view(&s->ids.entries);
}

struct str state_items(const struct state *s)
{
	return text_view(&s->items);
}

uint64_t state_processes(const struct state *s)
{
	return s->nprocesses;
}

uint64_t state_markers(const uint64_t *ips, uint64_t n)
{
	uint64_t markers = 0;

	for (uint64_t i = 0; i < n; i++)
		markers += ips[i] >= CONTEXT_MAX;
	return markers;
}

/* ---- records that are made ----------------------------------------------------------------------------------- */

static size_t state_begin_record(struct text *t, uint32_t type, uint16_t misc)
{
	struct perf_record r = { .type = type, .misc = misc };

	text_bytes(t, &r, sizeof(r));
	return t->n - sizeof(r);
}

static void state_end_record(const struct state *s, struct text *t, size_t start, struct str name, uint32_t pid,
			     uint32_t tid, uint64_t ns)
{
	struct ring_tail tail = { .pid = pid, .tid = tid, .time = ns, .event = s->event };
	uint16_t size;

	text_str(t, name);
	do
		text_char(t, 0);
	while ((t->n - start) % 8);
	text_bytes(t, &tail, sizeof(tail));
	size = (uint16_t)(t->n - start);
	memcpy(t->p + start + offsetof(struct perf_record, size), &size, sizeof(size));
}

static void put_comm(const struct state *s, struct text *t, const struct thread *thread, uint64_t ns)
{
	size_t start = state_begin_record(t, RECORD_COMM, 0);

	text_bytes(t, &thread->pid, 4);
	text_bytes(t, &thread->tid, 4);
	state_end_record(s, t, start, str_of(thread->comm), thread->pid, thread->tid, ns);
}

static void state_put_map(const struct state *s, struct text *t, uint32_t pid, const struct mapping *m, uint64_t ns)
{
	const struct mapped_file *f = m->file;
	size_t start = state_begin_record(t, RECORD_MMAP2, (uint16_t)(2 | (f->build_id_size ? MISC_MMAP_BUILD_ID : 0)));
	uint32_t ids[2] = { pid, pid }, device[2] = { f->major, f->minor }, access[2] = { f->protection, f->flags };
	uint64_t where[3] = { m->start, m->length, m->offset }, inode[2] = { f->inode, f->generation };
	uint8_t id[24] = { f->build_id_size };

	memcpy(id + 4, f->build_id, sizeof(f->build_id));
	text_bytes(t, ids, sizeof(ids));
	text_bytes(t, where, sizeof(where));
	if (f->build_id_size) {
		text_bytes(t, id, sizeof(id));
	} else {
		text_bytes(t, device, sizeof(device));
		text_bytes(t, inode, sizeof(inode));
	}
	text_bytes(t, access, sizeof(access));
	state_end_record(s, t, start, f->path, pid, pid, ns);
}

/* The file itself is opened by the keeper only (keep_build_id): its file system may never answer. */
static void note_build_id(struct state *s, const struct process *p, struct mapped_file *f)
{
	if (f->window == s->window)
		return;
	f->window = s->window;
	idlist_add(&s->ids, s->keep, p->pid, f);
}

/* ---- what will be needed later ------------------------------------------------------------------------------- */

static struct symsaver_process state_keeps(const struct process *p)
{
	return (struct symsaver_process){ p->pid, p->start_ticks, p->mount_ns, p->tenant };
}

static void keep_map(struct state *s, const struct process *p, const struct mapping *m)
{
	const struct mapped_file *f = m->file;
	struct symsaver_process who = state_keeps(p);
	struct symsaver_mapping what = { .start = m->start,
					 .length = m->length,
					 .pgoff = m->offset,
					 .major = f->major,
					 .minor = f->minor,
					 .inode = f->inode,
					 .generation = f->generation,
					 .build_id_n = f->build_id_size,
					 .path = f->path };

	memcpy(what.build_id, f->build_id, sizeof(what.build_id));
	if (s->keep)
		symsaver_mapping(s->keep, &who, &what);
}

static void note_process(struct state *s, struct process *p)
{
	struct pj_process item = { 0 };
	struct symsaver_process who;
	bool elsewhere;

	p->changed = false;
	rescan_identify(
		s->rescan, p,
		s->window); /* again: it may be another user, or in a container, since its parent was looked up */
	who = state_keeps(p);
	elsewhere = s->keep ? symsaver_process(s->keep, &who) :
			      p->mount_ns && s->own_mount_ns && p->mount_ns != s->own_mount_ns;
	item = (struct pj_process){ .pid = p->pid,
				    .inner_pid = p->inner_pid,
				    .start = p->start_ticks,
				    .mount_ns = p->mount_ns,
				    .tenant_kind = p->tenant.kind,
				    .tenant = p->tenant.key,
				    .flags = elsewhere ? PJ_PROCESS_ELSEWHERE : 0 };
	chunk_put_item(&s->items, PJ_ITEM_PROCESS, &item, sizeof(item));
}

/* ---- which mappings -------------------------------------------------------------------------------------------- */

static uint64_t *given_slot(const struct process_given *g, uint64_t id)
{
	uint32_t i = (uint32_t)hash_number(id) & (g->cap - 1);

	while (g->id[i] && g->id[i] != id)
		i = (i + 1) & (g->cap - 1);
	return &g->id[i];
}

static void widen_given(struct process_given *g)
{
	struct process_given wide = { .window = g->window, .n = g->n, .cap = g->cap ? 2 * g->cap : 16 };

	wide.id = mem_alloc(sizeof(*wide.id), wide.cap);
	for (uint32_t i = 0; i < g->cap; i++)
		if (g->id[i])
			*given_slot(&wide, g->id[i]) = g->id[i];
	free(g->id);
	*g = wide;
}

/* Is it news that the window gets this mapping of p? From now on it has it. */
static bool is_news(const struct state *s, struct process *p, const struct mapping *m)
{
	struct process_given *g = &p->given;
	uint64_t *slot;

	if (g->window != s->window) {
		free(g->id);
		*g = (struct process_given){ .window = s->window };
	}
	if (2 * g->n >= g->cap)
		widen_given(g);
	slot = given_slot(g, m->id);
	if (*slot)
		return false;
	*slot = m->id;
	g->n++;
	return true;
}

static void give_map(struct state *s, struct text *t, struct process *p, const struct mapping *m, uint64_t ns)
{
	if (!m || !is_news(s, p, m))
		return;
	note_build_id(s, p, m->file);
	state_put_map(s, t, p->pid, m, ns);
	if (p->maps->n > SAVED_MAX)
		keep_map(s, p, m);
}

/* The mappings that a callchain goes through. A return address may be just behind the call's. */
static void give_hits(struct state *s, struct text *t, struct process *p, const uint64_t *ips, uint64_t n, uint64_t ns)
{
	const struct mapping *last = NULL;

	for (uint64_t k = 0; k < n && p->maps; k++) {
		if (ips[k] > INT64_MAX || (last && ips[k] - last->start - 1 < last->length - 1))
			continue; /* the kernel's, or as the one before */
		last = processes_at(p, ips[k]);
		give_map(s, t, p, last, ns);
		if ((!last || last->start == ips[k]) && ips[k])
			give_map(s, t, p, processes_at(p, ips[k] - 1), ns);
	}
}

/* ---- before a sample ----------------------------------------------------------------------------------------- */

static void give_leader(struct state *s, struct text *t, const struct process *p, uint64_t ns)
{
	struct thread *leader = processes_thread(s->processes, p->pid);

	if (!leader || !leader->named || leader->window == s->window)
		return;
	leader->window = s->window;
	put_comm(s, t, leader, ns);
}

static void give_process(struct state *s, struct text *t, struct process *p, uint64_t ns)
{
	uint32_t n = 0;

	p->window = s->window;
	note_process(s, p);
	s->nprocesses++;
	if (!p->maps)
		return;
	MAPPINGS_EACH(m, p->maps)
	{
		if (m->file->jitdump)
			give_map(s, t, p, m, ns);
		if (n++ < SAVED_MAX)
			keep_map(s, p, m);
	}
}

/* The idle tasks, one a CPU, which no record tells of. */
static void name_idle(struct state *s)
{
	processes_comm(s->processes, 0, 0, STR("swapper"), false);
}

void state_note(struct state *s, uint32_t pid, uint32_t tid, uint64_t ip)
{
	if (tid == 0 && !processes_thread(s->processes, 0))
		name_idle(s);
	rescan_sampled(s->rescan, pid, tid, ip);
}

bool state_sampled(struct state *s, struct text *records, uint32_t pid, uint32_t tid, uint64_t ns, uint64_t ip)
{
	struct thread *t = processes_thread(s->processes, tid);
	struct process *p;

	state_note(s, pid, tid, ip);
	if (tid && tid == s->last_tid && t && t->pid == pid && t->window == s->window)
		return true;
	t = processes_thread(s->processes, tid);
	if (!t || t->pid != pid)
		t = processes_make_thread(s->processes, pid, tid);
	p = processes_make(s->processes, pid);
	if (p->window != s->window)
		give_process(s, records, p, ns);
	else if (p->changed)
		note_process(s, p);
	give_leader(s, records, p, ns);
	if (t->named && t->window != s->window)
		put_comm(s, records, t, ns);
	t->window = s->window;
	s->last_tid = tid;
	return t->named;
}

void state_hits(struct state *s, struct text *records, uint32_t pid, uint64_t ns, const uint64_t *ips, uint64_t n)
{
	give_hits(s, records, processes_make(s->processes, pid), ips, n, ns);
}

void state_over_budget(struct state *s, struct text *records, uint32_t pid, uint64_t ns)
{
	static struct mapped_file file = { .protection = PROT_READ | PROT_EXEC,
					   .flags = MAP_PRIVATE,
					   .path = STR(PJ_OVER_BUDGET_PATH) };
	static const struct mapping page = {
		.start = PJ_OVER_BUDGET_START, .length = PJ_OVER_BUDGET_BYTES, .id = UINT64_MAX, .file = &file
	};
	struct process *p = processes_make(s->processes, pid);

	if (is_news(s, p, &page))
		state_put_map(s, records, pid, &page, ns);
}

struct tenant state_tenant(const struct state *s, uint32_t pid)
{
	const struct process *p = processes_find(s->processes, pid);

	return p ? p->tenant : (struct tenant){ .kind = TENANT_UNKNOWN };
}

bool state_is_stale(const struct state *s, uint32_t pid)
{
	const struct process *p = processes_find(s->processes, pid);

	return p && p->stale;
}

bool state_skips(struct state *s, uint32_t pid, uint64_t ns)
{
	struct process *p = processes_find(s->processes, pid);

	return p && rescan_skips(s->rescan, p, ns);
}

void state_cgroup(struct state *s, struct text *records, uint64_t id, uint64_t ns)
{
	struct cgroup *c;
	size_t start;

	if (id == s->last_cgroup)
		return;
	c = cgroups_find(s->cgroups, id, ns);
	s->last_cgroup = id;
	if (!c || c->window == s->window || c->path.n > 4096)
		return;
	c->window = s->window;
	start = state_begin_record(records, RECORD_CGROUP, 0);
	text_bytes(records, &id, sizeof(id));
	state_end_record(s, records, start, c->path, 0, 0, ns);
}

/* ---- the kernel's records ------------------------------------------------------------------------------------ */

static struct str name_at(const struct perf_record *r, size_t at)
{
	const char *p = (const char *)r;
	size_t limit = r->size - sizeof(struct ring_tail);

	return at < limit ? (struct str){ p + at, strnlen(p + at, limit - at) } : STR("");
}

static bool state_has_bytes(const struct perf_record *r, size_t n)
{
	return r->size >= sizeof(*r) + n + sizeof(struct ring_tail);
}

static bool in_window(const struct state *s, uint32_t pid)
{
	const struct process *p = processes_find(s->processes, pid);

	return p && p->window == s->window;
}

/* The record is given the build-id in place of device and inode, as those that we make. */
static void put_build_id(struct perf_record *r, const struct mapped_file *f)
{
	char *p = (char *)(r + 1) + 32;

	if (!f->build_id_size)
		return;
	r->misc |= MISC_MMAP_BUILD_ID;
	memset(p, 0, 24);
	p[0] = (char)f->build_id_size;
	memcpy(p + 4, f->build_id, sizeof(f->build_id));
}

static bool take_map(struct state *s, struct perf_record *r, uint64_t ns)
{
	const char *p = (const char *)(r + 1);
	uint32_t pid = load32(p);
	struct mapping m = { .start = load64(p + 8), .length = load64(p + 16), .offset = load64(p + 24) };
	struct mapped_file f = { .major = load32(p + 32),
				 .minor = load32(p + 36),
				 .inode = load64(p + 40),
				 .generation = load64(p + 48),
				 .protection = load32(p + 56),
				 .flags = load32(p + 60),
				 .path = name_at(r, 72) };

	if ((r->misc & MISC_CPUMODE) != 2 || r->misc & (MISC_MMAP_DATA | MISC_MMAP_BUILD_ID))
		return false;
	struct process *process = processes_make(s->processes, pid);
	if (!rescan_record(s->rescan, process, s->window, ns))
		return false;
	enum mappings_answer answer = processes_map(s->processes, pid, &m, &f);
	if (answer == MAPPINGS_OVER)
		rescan_over(s->rescan, process);
	const struct mapping *saved = processes_at(process, m.start);
	if (!saved || answer != MAPPINGS_CHANGED)
		return false;
	if (!process->tenant_window && process->maps->bytes > MAPPINGS_FREE / 2) /* it will have to pay */
		rescan_tenant(s->rescan, process, s->window);
	if (!in_window(s, pid))
		return false;
	keep_map(s, process, saved);
	if (!saved->file->jitdump)
		return false; /* it comes when it is hit */
	note_build_id(s, process, saved->file);
	put_build_id(r, saved->file);
	return true;
}

/* A container's first program, su(1): from now on it may be another tenant's. */
static void note_change(struct state *s, struct process *p)
{
	if (!p)
		return;
	p->changed = true;
	s->last_tid = 0;
}

/* Only an exec is written at once: a thread can take a million names in a second, and the window needs the one of its
 * next sample. */
static bool take_comm(struct state *s, const struct perf_record *r, uint64_t ns)
{
	const char *p = (const char *)(r + 1);
	uint32_t pid = load32(p), tid = load32(p + 4);
	bool exec = r->misc & MISC_COMM_EXEC, written;

	if (!exec && !rescan_record(s->rescan, processes_make(s->processes, pid), s->window, ns))
		return false;
	processes_comm(s->processes, pid, tid, name_at(r, sizeof(*r) + 8), exec);
	if (exec)
		note_change(s, processes_find(s->processes, pid));
	written = exec && in_window(s, pid);
	processes_thread(s->processes, tid)->window = written ? s->window : 0;
	s->last_tid = 0;
	return written;
}

/* Each new thread has such a record, too: a lookup of the tenant after each of these would cost 0.07 ms a sample. */
static void take_namespaces(struct state *s, const char *p, size_t n, uint64_t ns)
{
	enum { MNT = 5 }; /* enum perf_ns: net uts ipc pid user mnt cgroup; device and inode each */
	struct process *process = processes_find(s->processes, load32(p));
	uint64_t namespaces;

	if (!process || !rescan_record(s->rescan, process, s->window, ns))
		return;
	if (load64(p + 8) > MNT && n >= 16 + (MNT + 1) * 16)
		process->mount_ns = load64(p + 16 + MNT * 16 + 8);
	namespaces = hash_bytes(p + 8, n - 8);
	if (process->namespaces != namespaces)
		note_change(s, process);
	process->namespaces = namespaces;
}

static bool state_take_exit(struct state *s, const char *p, uint64_t ns)
{
	uint32_t pid = load32(p), tid = load32(p + 8);
	const struct thread *t = processes_thread(s->processes, tid);
	const struct process *process;

	processes_exit(s->processes, tid, ns);
	process = processes_find(s->processes, pid);
	if (process && process->exited && s->keep)
		symsaver_exit(s->keep, pid);
	return t && t->pid == pid && t->window == s->window; /* of others the window has nothing */
}

bool state_record(struct state *s, struct perf_record *r, uint64_t ns)
{
	const char *p = (const char *)(r + 1);
	size_t n = r->size - sizeof(*r) - sizeof(struct ring_tail);

	processes_time(s->processes, ns);
	switch (r->type) {
	case RECORD_FORK:
		if (state_has_bytes(r, 24))
			processes_fork(s->processes, load32(p), load32(p + 4), load32(p + 8), load32(p + 12));
		return false;
	case RECORD_EXIT: return state_has_bytes(r, 24) && state_take_exit(s, p, ns);
	case RECORD_COMM: return state_has_bytes(r, 8) && take_comm(s, r, ns);
	case RECORD_MMAP2: return state_has_bytes(r, 64) && take_map(s, r, ns);
	case RECORD_NAMESPACES:
		if (state_has_bytes(r, 16))
			take_namespaces(s, p, n, ns);
		return false;
	case RECORD_CGROUP:
		if (state_has_bytes(r, 8))
			cgroups_add(s->cgroups, load64(p), name_at(r, sizeof(*r) + 8));
		return false;
	case RECORD_KSYMBOL: kernel_symbol(s->kernel, r); return true;
	case RECORD_BPF_EVENT: return true;
	default: return false;
	}
}
