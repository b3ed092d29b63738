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

/* maximum number of mappings of a process that are passed to the symbol saver at the process's first sample in a
 * window; further ones are passed when samples hit them */
#define SAVED_MAX 1024

struct state {
	struct processes *processes;
	struct cgroups *cgroups;
	struct kernel *kernel;
	struct symsaver *keep;
	/* event: id of the event of side-band records. window: 1 + serial number. own_mount_ns: inode of the recorder's
	 * mount namespace. */
	uint64_t event, window, own_mount_ns;
	struct rescan *rescan;
	struct idlist ids;
	struct text items;
	uint64_t nprocesses;
	/* tid of the thread of the latest sample; the window has all records that this thread's next sample needs, so
	 * that sample appends none. 0: none, or the idle task */
	uint32_t last_tid;
	uint64_t last_cgroup;
};

struct state *state_new(struct processes *processes, struct cgroups *cgroups, struct kernel *kernel,
			struct symsaver *keep, struct rescan *rescan, uint64_t event)
{
	struct state *state = mem_alloc(sizeof(*state), 1);

	*state = (struct state){ .processes = processes,
				 .cgroups = cgroups,
				 .kernel = kernel,
				 .keep = keep,
				 .event = event,
				 .rescan = rescan,
				 .own_mount_ns = procfs_own_mount_ns() };
	return state;
}

void state_free(struct state *state)
{
	if (!state)
		return;
	idlist_free(&state->ids);
	text_free(&state->items);
	free(state);
}

void state_begin(struct state *state, uint64_t window)
{
	state->window = window;
	idlist_begin(&state->ids);
	state->items.n = 0;
	state->nprocesses = 0;
	state->last_tid = 0;
	state->last_cgroup = 0;
}

void state_end(struct state *state)
{
	idlist_end(&state->ids, state->keep, &state->items);
}

struct str state_build_ids(const struct state *state)
{
	return text_view(&state->ids.entries);
}

struct str state_items(const struct state *state)
{
	return text_view(&state->items);
}

uint64_t state_processes(const struct state *state)
{
	return state->nprocesses;
}

uint64_t state_markers(const uint64_t *ips, uint64_t n)
{
	uint64_t markers = 0;

	for (uint64_t i = 0; i < n; i++)
		markers += ips[i] >= CONTEXT_MAX;
	return markers;
}

/* ---- composed records ------------------------------------------------------------------------------------------- */

static size_t state_begin_record(struct text *text, uint32_t type, uint16_t misc)
{
	struct perf_record r = { .type = type, .misc = misc };

	text_bytes(text, &r, sizeof(r));
	return text->n - sizeof(r);
}

static void state_end_record(const struct state *state, struct text *text, size_t start, struct str name, uint32_t pid,
			     uint32_t tid, uint64_t ns)
{
	struct ring_sample_id sample_id = { .pid = pid, .tid = tid, .time = ns, .event = state->event };
	uint16_t size;

	text_str(text, name);
	do
		text_char(text, 0);
	while ((text->n - start) % 8);
	text_bytes(text, &sample_id, sizeof(sample_id));
	size = (uint16_t)(text->n - start);
	memcpy(text->p + start + offsetof(struct perf_record, size), &size, sizeof(size));
}

static void put_comm(const struct state *state, struct text *text, struct thread *thread, uint64_t ns)
{
	size_t start = state_begin_record(text, RECORD_COMM, 0);

	thread->renamed = false;
	text_bytes(text, &thread->pid, 4);
	text_bytes(text, &thread->tid, 4);
	state_end_record(state, text, start, str_of(thread->comm), thread->pid, thread->tid, ns);
}

static void state_put_map(const struct state *state, struct text *text, uint32_t pid, const struct mapping *mapping,
			  uint64_t ns)
{
	const struct mapped_file *file = mapping->file;
	size_t start =
		state_begin_record(text, RECORD_MMAP2, (uint16_t)(2 | (file->build_id.n ? MISC_MMAP_BUILD_ID : 0)));
	uint32_t ids[2] = { pid, pid }, device[2] = { file->file_id.major, file->file_id.minor },
		 access[2] = { file->protection, file->flags };
	uint64_t where[3] = { mapping->start, mapping->length, mapping->offset },
		 inode[2] = { file->file_id.inode, file->file_id.generation };
	uint8_t id[24] = { file->build_id.n };

	memcpy(id + 4, file->build_id.byte, sizeof(file->build_id.byte));
	text_bytes(text, ids, sizeof(ids));
	text_bytes(text, where, sizeof(where));
	if (file->build_id.n) {
		text_bytes(text, id, sizeof(id));
	} else {
		text_bytes(text, device, sizeof(device));
		text_bytes(text, inode, sizeof(inode));
	}
	text_bytes(text, access, sizeof(access));
	state_end_record(state, text, start, file->path, pid, pid, ns);
}

/* Adds to the build-ids of this window a file that a process maps, unless the window has it. The recorder does not open
 * the file to read its build-id, because the file system may never respond; only the symbol saver does (idlist_add). */
static void note_build_id(struct state *state, const struct process *process, struct mapped_file *file)
{
	if (file->window == state->window)
		return;
	file->window = state->window;
	idlist_add(&state->ids, state->keep, process->pid, file);
}

/* ---- data for the symbol saver ---------------------------------------------------------------------------------- */

static struct symsaver_process state_keeps(const struct process *process)
{
	return (struct symsaver_process){ process->pid, process->start_ticks, process->mount_ns, process->tenant };
}

static void keep_map(struct state *state, const struct process *process, const struct mapping *mapping)
{
	const struct mapped_file *file = mapping->file;
	struct symsaver_process who = state_keeps(process);
	struct symsaver_mapping what = { .start = mapping->start,
					 .length = mapping->length,
					 .pgoff = mapping->offset,
					 .file_id = file->file_id,
					 .build_id = file->build_id,
					 .path = file->path };

	if (state->keep)
		symsaver_mapping(state->keep, &who, &what);
}

static void note_process(struct state *state, struct process *process)
{
	struct pj_process item = { 0 };
	struct symsaver_process who;
	bool elsewhere;

	process->changed = false;
	/* The tenant is looked up again: the process may have changed its user or container since it inherited the
	 * tenant from its parent. */
	rescan_identify(state->rescan, process, state->window);
	who = state_keeps(process);
	elsewhere = state->keep ? symsaver_process(state->keep, &who) :
				  process->mount_ns && state->own_mount_ns && process->mount_ns != state->own_mount_ns;
	item = (struct pj_process){ .pid = process->pid,
				    .inner_pid = process->inner_pid,
				    .start = process->start_ticks,
				    .mount_ns = process->mount_ns,
				    .tenant_kind = process->tenant.kind,
				    .tenant = process->tenant.key,
				    .flags = elsewhere ? PJ_PROCESS_ELSEWHERE : 0 };
	chunk_put_item(&state->items, PJ_ITEM_PROCESS, &item, sizeof(item));
}

/* ---- choice of the mappings for a window ------------------------------------------------------------------------ */

static uint64_t *given_slot(const struct process_given *given, uint64_t id)
{
	uint32_t i = (uint32_t)hash_number(id) & (given->cap - 1);

	while (given->id[i] && given->id[i] != id)
		i = (i + 1) & (given->cap - 1);
	return &given->id[i];
}

static void widen_given(struct process_given *given)
{
	struct process_given wide = { .window = given->window, .n = given->n, .cap = given->cap ? 2 * given->cap : 16 };

	wide.id = mem_alloc(sizeof(*wide.id), wide.cap);
	for (uint32_t i = 0; i < given->cap; i++)
		if (given->id[i])
			*given_slot(&wide, given->id[i]) = given->id[i];
	free(given->id);
	*given = wide;
}

/* Returns true if the window has no record of this mapping yet, and then adds the mapping to process->given; false if
 * it has one. */
static bool is_news(const struct state *state, struct process *process, const struct mapping *mapping)
{
	struct process_given *given = &process->given;
	uint64_t *slot;

	if (given->window != state->window) {
		free(given->id);
		*given = (struct process_given){ .window = state->window };
	}
	if (2 * given->n >= given->cap)
		widen_given(given);
	slot = given_slot(given, mapping->id);
	if (*slot)
		return false;
	*slot = mapping->id;
	given->n++;
	return true;
}

static void give_map(struct state *state, struct text *text, struct process *process, const struct mapping *mapping,
		     uint64_t ns)
{
	if (!mapping || !is_news(state, process, mapping))
		return;
	note_build_id(state, process, mapping->file);
	state_put_map(state, text, process->pid, mapping, ns);
	if (process->maps->n > SAVED_MAX)
		keep_map(state, process, mapping);
}

/* Appends records of the mappings that contain the addresses ips[0..n), unless the window has them. An address that is
 * the start of a mapping, or in no mapping, may be the return address of a call at the end of the mapping before it; so
 * that mapping is appended, too. */
static void give_hits(struct state *state, struct text *text, struct process *process, const uint64_t *ips, uint64_t n,
		      uint64_t ns)
{
	const struct mapping *last = NULL;

	for (uint64_t k = 0; k < n && process->maps; k++) {
		if (ips[k] > INT64_MAX || (last && ips[k] - last->start - 1 < last->length - 1))
			/* the address is one of the kernel, or in the same mapping as the previous address */
			continue;
		last = processes_at(process, ips[k]);
		give_map(state, text, process, last, ns);
		if ((!last || last->start == ips[k]) && ips[k])
			give_map(state, text, process, processes_at(process, ips[k] - 1), ns);
	}
}

/* ---- records before a sample ------------------------------------------------------------------------------------ */

/* Returns true if the window has no record with the current name of a thread. */
static bool lacks_name(const struct state *state, const struct thread *thread)
{
	return thread->window != state->window || thread->renamed;
}

static void give_leader(struct state *state, struct text *text, const struct process *process, uint64_t ns)
{
	struct thread *leader = processes_thread(state->processes, process->pid);

	if (!leader || !leader->named || !lacks_name(state, leader))
		return;
	leader->window = state->window;
	put_comm(state, text, leader, ns);
}

static void give_process(struct state *state, struct text *text, struct process *process, uint64_t ns)
{
	uint32_t n = 0;

	process->window = state->window;
	note_process(state, process);
	state->nprocesses++;
	if (!process->maps)
		return;
	MAPPINGS_EACH(mapping, process->maps)
	{
		if (mapping->file->jitdump)
			give_map(state, text, process, mapping, ns);
		if (n++ < SAVED_MAX)
			keep_map(state, process, mapping);
	}
}

/* Adds the process of the idle tasks (pid 0) with the name "swapper", because no side-band record announces it. */
static void name_idle(struct state *state)
{
	processes_comm(state->processes, 0, 0, STR("swapper"), false);
}

void state_note(struct state *state, uint32_t pid, uint32_t tid, uint64_t ip)
{
	if (tid == 0 && !processes_thread(state->processes, 0))
		name_idle(state);
	rescan_sampled(state->rescan, pid, tid, ip);
}

bool state_sampled(struct state *state, struct text *records, uint32_t pid, uint32_t tid, uint64_t ns, uint64_t ip)
{
	struct thread *thread;
	struct process *process;

	/* first, since it may read the process, which removes threads */
	state_note(state, pid, tid, ip);
	thread = processes_thread(state->processes, tid);
	if (tid && tid == state->last_tid && thread && thread->pid == pid && thread->window == state->window)
		return thread->named;
	if (!thread || thread->pid != pid)
		thread = processes_make_thread(state->processes, pid, tid);
	process = processes_make(state->processes, pid);
	if (process->window != state->window)
		give_process(state, records, process, ns);
	else if (process->changed)
		note_process(state, process);
	give_leader(state, records, process, ns);
	if (thread->named && lacks_name(state, thread))
		put_comm(state, records, thread, ns);
	thread->window = state->window;
	state->last_tid = tid;
	return thread->named;
}

void state_hits(struct state *state, struct text *records, uint32_t pid, uint64_t ns, const uint64_t *ips, uint64_t n)
{
	give_hits(state, records, processes_make(state->processes, pid), ips, n, ns);
}

void state_over_budget(struct state *state, struct text *records, uint32_t pid, uint64_t ns)
{
	static struct mapped_file file = { .protection = PROT_READ | PROT_EXEC,
					   .flags = MAP_PRIVATE,
					   .path = STR(PJ_OVER_BUDGET_PATH) };
	static const struct mapping page = {
		.start = PJ_OVER_BUDGET_START, .length = PJ_OVER_BUDGET_BYTES, .id = UINT64_MAX, .file = &file
	};
	struct process *process = processes_make(state->processes, pid);

	if (is_news(state, process, &page))
		state_put_map(state, records, pid, &page, ns);
}

struct tenant state_tenant(const struct state *state, uint32_t pid)
{
	const struct process *process = processes_find(state->processes, pid);

	return process ? process->tenant : (struct tenant){ .kind = TENANT_UNKNOWN };
}

struct tenant state_identify(struct state *state, uint32_t pid)
{
	struct process *process = processes_find(state->processes, pid);

	if (process && !process->tenant_window)
		rescan_identify(state->rescan, process, state->window);
	return state_tenant(state, pid);
}

bool state_is_stale(const struct state *state, uint32_t pid)
{
	const struct process *process = processes_find(state->processes, pid);

	return process && process->stale;
}

bool state_skips(struct state *state, uint32_t pid, uint64_t ns)
{
	struct process *process = processes_find(state->processes, pid);

	return process && rescan_skips(state->rescan, process, ns);
}

void state_cgroup(struct state *state, struct text *records, uint64_t id, uint64_t ns)
{
	struct cgroup *cgroup;
	size_t start;

	if (id == state->last_cgroup)
		return;
	cgroup = cgroups_find(state->cgroups, id, ns);
	state->last_cgroup = id;
	if (!cgroup || cgroup->window == state->window || cgroup->path.n > 4096)
		return;
	cgroup->window = state->window;
	start = state_begin_record(records, RECORD_CGROUP, 0);
	text_bytes(records, &id, sizeof(id));
	state_end_record(state, records, start, cgroup->path, 0, 0, ns);
}

/* ---- records of the kernel -------------------------------------------------------------------------------------- */

static struct str name_at(const struct perf_record *perf_record, size_t at)
{
	const char *p = (const char *)perf_record;
	size_t limit = perf_record->size - sizeof(struct ring_sample_id);

	return at < limit ? (struct str){ p + at, strnlen(p + at, limit - at) } : STR("");
}

static bool state_has_bytes(const struct perf_record *perf_record, size_t n)
{
	return perf_record->size >= sizeof(*perf_record) + n + sizeof(struct ring_sample_id);
}

static bool in_window(const struct state *state, uint32_t pid)
{
	const struct process *process = processes_find(state->processes, pid);

	return process && process->window == state->window;
}

/* Writes the build-id of a file, if it is known, into an MMAP2 record of the kernel, in place of device and inode.
 * Composed MMAP2 records have it in the same place. */
static void put_build_id(struct perf_record *perf_record, const struct mapped_file *file)
{
	char *p = (char *)(perf_record + 1) + 32;

	if (!file->build_id.n)
		return;
	perf_record->misc |= MISC_MMAP_BUILD_ID;
	memset(p, 0, 24);
	p[0] = (char)file->build_id.n;
	memcpy(p + 4, file->build_id.byte, sizeof(file->build_id.byte));
}

static bool take_map(struct state *state, struct perf_record *perf_record, uint64_t ns)
{
	const char *p = (const char *)(perf_record + 1);
	uint32_t pid = load32(p);
	struct mapping mapping = { .start = load64(p + 8), .length = load64(p + 16), .offset = load64(p + 24) };
	struct mapped_file file = { .file_id.major = load32(p + 32),
				    .file_id.minor = load32(p + 36),
				    .file_id.inode = load64(p + 40),
				    .file_id.generation = load64(p + 48),
				    .protection = load32(p + 56),
				    .flags = load32(p + 60),
				    .path = name_at(perf_record, 72) };

	if ((perf_record->misc & MISC_CPUMODE) != 2 || perf_record->misc & (MISC_MMAP_DATA | MISC_MMAP_BUILD_ID))
		return false;
	struct process *process = processes_make(state->processes, pid);
	if (!rescan_record(state->rescan, process, state->window, ns))
		return false;
	enum mappings_answer answer = processes_map(state->processes, pid, &mapping, &file);
	if (answer == MAPPINGS_OVER)
		rescan_over(state->rescan, process);
	const struct mapping *saved = processes_at(process, mapping.start);
	if (!saved || answer != MAPPINGS_CHANGED)
		return false;
	/* The next mappings of this process will be charged to its tenant, which must be known by then. */
	if (!process->tenant_window && process->maps->bytes > MAPPINGS_FREE / 2)
		rescan_tenant(state->rescan, process, state->window);
	if (!in_window(state, pid))
		return false;
	keep_map(state, process, saved);
	if (!saved->file->jitdump)
		return false; /* the first sample that hits this mapping causes its record */
	note_build_id(state, process, saved->file);
	put_build_id(perf_record, saved->file);
	return true;
}

/* Marks a process that may belong to another tenant now, as after the exec of su(1) or of a container's first program.
 * At the next sample the tenant is looked up. NULL is allowed. */
static void note_change(struct state *state, struct process *process)
{
	if (!process)
		return;
	process->changed = true;
	state->last_tid = 0;
}

/* Applies a COMM record. Returns true if the caller must write the record to the window: only if it is that of an exec,
 * and the window has the process. A thread can change its name a million times per second, and the window needs only
 * the name at the thread's next sample. */
static bool take_comm(struct state *state, const struct perf_record *perf_record, uint64_t ns)
{
	const char *p = (const char *)(perf_record + 1);
	uint32_t pid = load32(p), tid = load32(p + 4);
	bool exec = perf_record->misc & MISC_COMM_EXEC, written;
	struct thread *thread;

	if (!exec && !rescan_record(state->rescan, processes_make(state->processes, pid), state->window, ns))
		return false;
	processes_comm(state->processes, pid, tid, name_at(perf_record, sizeof(*perf_record) + 8), exec);
	if (exec)
		note_change(state, processes_find(state->processes, pid));
	written = exec && in_window(state, pid);
	thread = processes_thread(state->processes, tid);
	thread->renamed = !written;
	if (written)
		thread->window = state->window;
	state->last_tid = 0;
	return written;
}

/* Applies a NAMESPACES record. The kernel writes one for each new thread, but a lookup of the tenant takes 0.07 ms. So
 * the tenant is looked up again only if the record differs from the process's previous one. */
static void take_namespaces(struct state *state, const char *p, size_t n, uint64_t ns)
{
	/* index of the mount namespace in the record (net uts ipc pid user mnt cgroup); each entry is a device and an
	 * inode of 8 bytes */
	enum { MNT = 5 };
	struct process *process = processes_find(state->processes, load32(p));
	uint64_t namespaces;

	if (!process || !rescan_record(state->rescan, process, state->window, ns))
		return;
	if (load64(p + 8) > MNT && n >= 16 + (MNT + 1) * 16)
		process->mount_ns = load64(p + 16 + MNT * 16 + 8);
	namespaces = hash_bytes(p + 8, n - 8);
	if (process->namespaces != namespaces)
		note_change(state, process);
	process->namespaces = namespaces;
}

static bool state_take_exit(struct state *state, const char *p, uint64_t ns)
{
	uint32_t pid = load32(p), tid = load32(p + 8);
	struct thread *thread = processes_thread(state->processes, tid);
	const struct process *process;

	processes_exit(state->processes, pid, tid, ns);
	process = processes_find(state->processes, pid);
	if (process && process->exited && state->keep)
		symsaver_exit(state->keep, pid);
	/* the window needs no EXIT record of a thread that has no records in it */
	if (!thread || thread->pid != pid || thread->window != state->window)
		return false;
	/* the window gets no COMM record after the EXIT record, because readers would assign it to a new thread */
	thread->renamed = false;
	return true;
}

bool state_record(struct state *state, struct perf_record *perf_record, uint64_t ns)
{
	const char *p = (const char *)(perf_record + 1);
	size_t n = perf_record->size - sizeof(*perf_record) - sizeof(struct ring_sample_id);

	processes_time(state->processes, ns);
	switch (perf_record->type) {
	case RECORD_FORK:
		if (state_has_bytes(perf_record, 24))
			processes_fork(state->processes, load32(p), load32(p + 4), load32(p + 8), load32(p + 12));
		return false;
	case RECORD_EXIT: return state_has_bytes(perf_record, 24) && state_take_exit(state, p, ns);
	case RECORD_COMM: return state_has_bytes(perf_record, 8) && take_comm(state, perf_record, ns);
	case RECORD_MMAP2: return state_has_bytes(perf_record, 64) && take_map(state, perf_record, ns);
	case RECORD_NAMESPACES:
		if (state_has_bytes(perf_record, 16))
			take_namespaces(state, p, n, ns);
		return false;
	case RECORD_CGROUP:
		if (state_has_bytes(perf_record, 8))
			cgroups_add(state->cgroups, load64(p), name_at(perf_record, sizeof(*perf_record) + 8));
		return false;
	case RECORD_KSYMBOL: kernel_symbol(state->kernel, perf_record); return true;
	case RECORD_BPF_EVENT: return true;
	default: return false;
	}
}
