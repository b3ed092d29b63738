/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/process/addrspace.h"

#include "fold/perfdata/buildids.h"
#include "common/diag.h"
#include "common/hash.h"
#include "unwind/walk.h"

#include <stdio.h>
#include <stdlib.h>

#define MAP_HUGE 0x40000u /* flag MAP_HUGETLB of a mapping */

#define NOBODY UINT32_MAX /* pid in the MMAP records of the kernel and its modules */
#define PROTECTION_EXEC 4u

/* A thread may have samples in the kernel after its EXIT record. So the entry of an ended thread is deleted only after
 * LINGER_NS ns, or after LINGER_MAX more EXIT records of other threads. */
#define LINGER_NS 10000000000u
#define LINGER_MAX 32768u
#define WAITS UINT64_MAX /* addrspace_thread.ended of an ended leader whose process has live threads */

/* ---- table of DSOs ------------------------------------------------------------------------------------------ */

static uint32_t dso_by_key(struct addrspace *addrspace, struct str key, enum dso_kind kind, struct str path)
{
	uint32_t before = addrspace->keys.n, id = intern(&addrspace->keys, key);

	if (id <= before)
		return id;
	if (id >= addrspace->dso_cap) {
		size_t cap = addrspace->dso_cap ? addrspace->dso_cap * 2 : 64;

		addrspace->dso = mem_grow(addrspace->dso, sizeof(*addrspace->dso), cap);
		memset(addrspace->dso + addrspace->dso_cap, 0, (cap - addrspace->dso_cap) * sizeof(*addrspace->dso));
		addrspace->dso_cap = cap;
	}
	addrspace->dso[id] = (struct dso){ .kind = kind,
					   .path = arena_copy(&addrspace->text, path),
					   .v8 = kind == DSO_FILE && walk_is_v8(path) };
	return id;
}

#define KEY_SPACE 128 /* maximum number of bytes of a DSO's key beside the path */

/* Returns the index of the DSO with this kind, path and identity. Creates the DSO at the first call. The n bytes of
 * `identity` distinguish files that have the same path. */
static uint32_t dso_of(struct addrspace *addrspace, enum dso_kind kind, struct str path, const void *identity, size_t n)
{
	if (path.n > sizeof(addrspace->key) - KEY_SPACE)
		/* longer paths are truncated; the kernel's are shorter (PATH_MAX is 4096) */
		path.n = sizeof(addrspace->key) - KEY_SPACE;
	addrspace->key[0] = (char)kind;
	addrspace->key[1] = (char)n;
	memcpy(addrspace->key + 2, identity, n);
	memcpy(addrspace->key + 2 + n, path.p, path.n);
	return dso_by_key(addrspace, (struct str){ addrspace->key, 2 + n + path.n }, kind, path);
}

uint32_t addrspace_special(struct addrspace *addrspace, enum dso_kind kind, struct str name)
{
	return dso_of(addrspace, kind, name, "", 0);
}

uint32_t addrspace_jit(struct addrspace *addrspace, uint32_t pid)
{
	char path[40];
	uint32_t id;

	snprintf(path, sizeof(path), "/tmp/perf-%u.map", (unsigned)pid);
	id = dso_of(addrspace, DSO_JIT, str_of(path), &pid, sizeof(pid));
	addrspace->dso[id].pid = pid;
	return id;
}

/* Returns true for a mapping without a file, like perf's is_anon_memory: anonymous memory or huge pages. flags: MAP_*
 * flags of the mapping. Returns false for mappings of files. */
static bool addrspace_is_anonymous(struct str path, uint32_t flags)
{
	return path.n == 0 || str_eq(path, STR("//anon")) || str_starts(path, STR("/dev/zero")) ||
	       str_starts(path, STR("/anon_hugepage")) || (flags & MAP_HUGE);
}

static bool is_no_file(struct str path)
{
	return str_starts(path, STR("[stack")) || str_starts(path, STR("/SYSV")) || str_eq(path, STR("[heap]"));
}

/* Returns true for the path of a memfd. JITs write code through one mapping of a memfd and run the code in another
 * mapping. Returns false for all other paths. */
static bool is_memfd(struct str path)
{
	return str_starts(path, STR("/memfd:"));
}

/* Returns the build-id of a mapped file: from its MMAP2 record, otherwise from pjrecord's list by file id. Member n of
 * the result is 0 if neither has the build-id. */
static struct build_id build_of(const struct addrspace *addrspace, const struct perfdata_record *record)
{
	const struct file_id *file_id = &record->mmap.file_id;

	return record->mmap.build_id.n || !addrspace->symstore || file_id->inode == 0 ?
		       record->mmap.build_id :
		       symstore_build(addrspace->symstore, file_id);
}

/* Returns true if a packed recording has names of the mapped file, a memfd: pjpack then found a program in the memfd.
 * Otherwise returns false. */
static bool is_packed_program(const struct addrspace *addrspace, const struct perfdata_record *record)
{
	const struct symbolized *symbolized = addrspace->symstore->who->symbolized;
	char folder[SYMSTORE_TENANT];
	struct text key = { 0 };
	struct symbolized_rows rows;
	bool found;

	if (!symbolized)
		return false;
	symbolized_key_file(&key, symstore_tenant(addrspace->symstore, record->pid, folder), &(struct build_id){ 0 },
			    &record->mmap.file_id, record->mmap.path);
	found = symbolized_find(symbolized, text_view(&key), &rows);
	text_free(&key);
	return found;
}

/* Returns true if the mapped file is a memfd with code of a JIT. A memfd with a program, in contrast, has a build-id,
 * or a file in the symbol store. Returns false with as_perf. */
static bool is_jit_memory(const struct addrspace *addrspace, const struct perfdata_record *record)
{
	return is_memfd(record->mmap.path) && !addrspace->as_perf && !build_of(addrspace, record).n &&
	       !(addrspace->symstore && (symstore_is_program(addrspace->symstore, record->pid, &record->mmap.file_id) ||
					 is_packed_program(addrspace, record)));
}

static uint32_t file_dso(struct addrspace *addrspace, const struct perfdata_record *record)
{
	struct build_id reported = build_of(addrspace, record);
	const struct build_id *b = &reported;
	struct {
		struct symstore_origin origin;
		union {
			struct file_id numbers;
			uint8_t id[BUILD_ID_MAX];
		} is;
		uint64_t n;
	} key = { .n = b->n };
	uint32_t id;

	if (addrspace->symstore)
		key.origin = symstore_origin(addrspace->symstore, record->pid, b, &record->mmap.file_id);
	if (b->n)
		memcpy(key.is.id, b->byte, b->n < BUILD_ID_MAX ? b->n : BUILD_ID_MAX);
	else
		key.is.numbers = record->mmap.file_id;
	id = dso_of(addrspace, DSO_FILE, record->mmap.path, &key, sizeof(key));

	if (b->n)
		addrspace->dso[id].build_id = *b;
	addrspace->dso[id].file_id = record->mmap.file_id;
	return id;
}

static uint32_t user_dso(struct addrspace *addrspace, const struct perfdata_record *record)
{
	bool exec = !record->mmap.data || (record->mmap.protection & PROTECTION_EXEC);
	struct str path = record->mmap.path;
	uint32_t id;

	if (str_starts(path, STR("[vdso")))
		id = addrspace_special(addrspace, DSO_VDSO, path);
	else if (str_eq(path, STR(PJ_OVER_BUDGET_PATH)))
		id = addrspace_special(addrspace, DSO_DATA, path);
	else if (addrspace_is_anonymous(path, record->mmap.flags) || is_no_file(path))
		id = exec && record->pid ? addrspace_jit(addrspace, record->pid) :
					   addrspace_special(addrspace, DSO_DATA, path.n ? path : STR("//anon"));
	else if (exec && is_jit_memory(addrspace, record))
		id = addrspace_jit(addrspace, record->pid);
	else
		id = file_dso(addrspace, record);
	if (addrspace->dso[id].kind != DSO_JIT)
		addrspace->dso[id].pid = record->pid;
	addrspace->dso[id].mapped_ns = record->has_time ? record->time : 0;
	return id;
}

void addrspace_build_ids(struct addrspace *addrspace, const struct perfdata_build_id *id, size_t n)
{
	struct buildids ids = { 0 };

	buildids_update(&ids, id, n);
	for (uint32_t d = 1; d <= addrspace->keys.n; d++) {
		struct dso *dso = &addrspace->dso[d];
		bool kernel = dso->kind == DSO_KERNEL;

		/* The recording's list assigns build-ids to paths, and in containers one path may be several files.
		 * pjrecord stores build-ids by file id, so the list is not used for files with a known file id. */
		if (dso->kind == DSO_FILE && dso->file_id.inode && addrspace->symstore && addrspace->symstore->who->is)
			continue;
		if (dso->build_id.n == 0 && (kernel || dso->kind == DSO_FILE || dso->kind == DSO_VDSO))
			dso->build_id = buildids_find(&ids, kernel, dso->path);
	}
	buildids_free(&ids);
}

/* ---- mappings that processes share -------------------------------------------------------------------------- */

static struct addrspace_maps *shared_new(struct addrspace *addrspace)
{
	struct addrspace_maps *maps = mem_alloc(sizeof(*maps), 1);

	maps->refs = 1;
	maps->serial = ++addrspace->serial;
	return maps;
}

static void shared_drop(struct addrspace_maps *maps)
{
	if (--maps->refs)
		return;
	maps_free(&maps->maps);
	free(maps);
}

/* Makes mappings changeable: returns *maps itself, or a copy if other processes share *maps. Gives the result a new
 * serial number. */
static struct addrspace_maps *shared_own(struct addrspace *addrspace, struct addrspace_maps *maps)
{
	struct addrspace_maps *copy;

	if (maps->refs == 1) {
		maps->serial = ++addrspace->serial;
		return maps;
	}
	copy = shared_new(addrspace);
	copy->maps = maps_copy(&maps->maps);
	copy->jvm = maps->jvm;
	maps->refs--;
	return copy;
}

/* ---- table of threads --------------------------------------------------------------------------------------- */

static uint32_t thread_hash(uint32_t tid)
{
	return (uint32_t)hash_number(tid);
}

static void grow_threads(struct addrspace *addrspace)
{
	uint32_t nslots = addrspace->mask ? (addrspace->mask + 1) * 2 : 1024;
	struct addrspace_thread **slot = mem_alloc(sizeof(*slot), nslots);

	for (uint32_t i = 0; addrspace->mask && i <= addrspace->mask; i++) {
		uint32_t at;

		if (!addrspace->slot[i])
			continue;
		for (at = thread_hash(addrspace->slot[i]->tid) & (nslots - 1); slot[at]; at = (at + 1) & (nslots - 1))
			;
		slot[at] = addrspace->slot[i];
	}
	free(addrspace->slot);
	addrspace->slot = slot;
	addrspace->mask = nslots - 1;
}

/* Returns the index of the hash slot that contains this tid; if no slot does, the index of the free slot for a thread
 * with this tid. */
static uint32_t addrspace_slot_of(const struct addrspace *addrspace, uint32_t tid)
{
	uint32_t i = thread_hash(tid) & addrspace->mask;

	while (addrspace->slot[i] && addrspace->slot[i]->tid != tid)
		i = (i + 1) & addrspace->mask;
	return i;
}

/* Returns the entry of a tid. If there is no entry, creates one with `used` false. */
static struct addrspace_thread *addrspace_thread_of(struct addrspace *addrspace, uint32_t tid)
{
	uint32_t i;

	if (addrspace->nthreads >= addrspace->mask / 2)
		grow_threads(addrspace);
	i = addrspace_slot_of(addrspace, tid);
	if (!addrspace->slot[i]) {
		addrspace->nthreads++;
		addrspace->slot[i] = mem_alloc(sizeof(**addrspace->slot), 1);
		addrspace->slot[i]->tid = tid;
	}
	return addrspace->slot[i];
}

static void space_drop(struct addrspace_space *space)
{
	if (!space || --space->refs)
		return;
	shared_drop(space->maps);
	free(space);
}

static struct addrspace_space *space_new(struct addrspace_maps *maps)
{
	struct addrspace_space *space = mem_alloc(sizeof(*space), 1);

	space->refs = 1;
	space->maps = maps;
	return space;
}

static void addrspace_forget(struct addrspace_thread *thread)
{
	space_drop(thread->space);
	*thread = (struct addrspace_thread){ .tid = thread->tid };
}

struct addrspace_thread *addrspace_thread(struct addrspace *addrspace, uint32_t pid, uint32_t tid)
{
	struct addrspace_thread *thread = addrspace_thread_of(addrspace, tid), *leader;

	if (likely(thread->used && thread->pid == pid))
		return thread;
	/* the entry is of an earlier thread with this tid; the EXIT record of that thread was lost */
	addrspace_forget(thread);
	thread->used = true;
	thread->pid = pid;
	if (pid == tid) {
		thread->space = space_new(shared_new(addrspace));
		return thread;
	}
	leader = addrspace_thread_of(addrspace, pid);
	if (!leader->used || leader->pid != pid) {
		addrspace_forget(leader);
		leader->used = true;
		leader->pid = pid;
		leader->space = space_new(shared_new(addrspace));
	}
	thread->space = leader->space;
	thread->space->refs++;
	return thread;
}

/* Deletes the thread in slot `at` and frees it. Later entries move down, so that no search ends at the gap. */
static void delete_thread(struct addrspace *addrspace, uint32_t at)
{
	space_drop(addrspace->slot[at]->space);
	free(addrspace->slot[at]);
	addrspace->nthreads--;
	for (uint32_t i = (at + 1) & addrspace->mask; addrspace->slot[i]; i = (i + 1) & addrspace->mask) {
		uint32_t home = thread_hash(addrspace->slot[i]->tid) & addrspace->mask;

		if (((i - home) & addrspace->mask) < ((i - at) & addrspace->mask))
			continue;
		addrspace->slot[at] = addrspace->slot[i];
		at = i;
	}
	addrspace->slot[at] = NULL;
}

/* Deletes the entry of an ended thread. The entry of a leader stays until the other threads of its process have ended,
 * because the name of the leader is the name of the process. */
static void addrspace_bury(struct addrspace *addrspace, const struct addrspace_end *end)
{
	uint32_t at = addrspace_slot_of(addrspace, end->tid), pid;
	struct addrspace_thread *thread = addrspace->slot[at];

	if (!thread || thread->ended != end->ended)
		return; /* a new thread has this tid: the entry stays */
	if (thread->space && thread->space->refs > 1 && thread->pid == thread->tid) {
		thread->ended = WAITS;
		return;
	}
	pid = thread->pid;
	delete_thread(addrspace, at);
	at = addrspace_slot_of(addrspace, pid);
	thread = addrspace->slot[at];
	if (thread && thread->ended == WAITS && thread->pid == pid && thread->space->refs == 1)
		delete_thread(addrspace, at);
}

static void remember_end(struct addrspace *addrspace, struct addrspace_thread *thread, uint64_t time)
{
	if (addrspace->ends - addrspace->ends_forgotten == addrspace->ends_cap) {
		size_t cap = addrspace->ends_cap ? addrspace->ends_cap * 2 : 256;
		struct addrspace_end *end = mem_alloc(sizeof(*end), cap);

		for (uint64_t i = addrspace->ends_forgotten; i < addrspace->ends; i++)
			/* NOLINTNEXTLINE(clang-analyzer-core.*): no iteration if ends_cap is 0 */
			end[i % cap] = addrspace->end[i % addrspace->ends_cap];
		free(addrspace->end);
		addrspace->end = end;
		addrspace->ends_cap = cap;
	}
	thread->ended = addrspace->ends + 1;
	addrspace->end[addrspace->ends++ % addrspace->ends_cap] =
		(struct addrspace_end){ thread->tid, thread->ended, time };
}

/* Applies an EXIT record: the thread has ended, and entries of threads that ended long ago are deleted. Records without
 * times are not sorted, so later records may still concern the thread: an EXIT record without time is ignored. */
static void exit_record(struct addrspace *addrspace, const struct perfdata_record *record)
{
	struct addrspace_thread *thread;

	if (!record->has_time || record->tid == 0)
		return;
	thread = addrspace->mask ? addrspace->slot[addrspace_slot_of(addrspace, record->tid)] : NULL;
	if (!thread || !thread->used || thread->pid != record->pid)
		return;
	remember_end(addrspace, thread, record->time);
	while (addrspace->ends > addrspace->ends_forgotten) {
		const struct addrspace_end *first = &addrspace->end[addrspace->ends_forgotten % addrspace->ends_cap];

		if (addrspace->ends - addrspace->ends_forgotten <= LINGER_MAX &&
		    record->time <= first->time + LINGER_NS)
			break;
		addrspace->ends_forgotten++;
		addrspace_bury(addrspace, first);
	}
}

uint32_t addrspace_comm(struct addrspace *addrspace, struct addrspace_thread *thread)
{
	char name[16];
	int got;

	if (likely(thread->comm))
		return thread->comm;
	if (thread->tid == 0)
		return intern(&addrspace->comms, STR("swapper"));
	got = snprintf(name, sizeof(name), ":%d", (int)thread->tid);
	return intern(&addrspace->comms, (struct str){ name, (size_t)got });
}

/* ---- effects of records ------------------------------------------------------------------------------------- */

static void fork_thread(struct addrspace *addrspace, const struct perfdata_record *record)
{
	struct addrspace_thread *parent = addrspace_thread(addrspace, record->fork.ppid, record->fork.ptid), *thread;
	uint32_t comm = parent->comm;
	struct addrspace_maps *maps = parent->space->maps;

	if (parent->tid == record->tid)
		return; /* ignore a damaged record: parent and child have the same tid */
	/* own reference: addrspace_forget would free the mappings if the parent's leader has the child's tid */
	maps->refs++;
	addrspace_forget(addrspace_thread_of(addrspace, record->tid));
	thread = addrspace_thread(addrspace, record->pid, record->tid);
	thread->comm = comm;
	if (record->pid != record->fork.ppid && !record->fork.synthesised && maps_empty(&thread->space->maps->maps)) {
		shared_drop(thread->space->maps);
		thread->space->maps = maps;
		return;
	}
	shared_drop(maps);
}

static void comm_record(struct addrspace *addrspace, const struct perfdata_record *record)
{
	struct addrspace_thread *thread = addrspace_thread(addrspace, record->pid, record->tid);

	thread->ended = 0;
	thread->comm = intern(&addrspace->comms, record->comm.comm);
	/* exec removes all mappings. perf keeps the old mappings, and so assigns samples to code that no longer exists.
	 */
	if (record->comm.exec && !addrspace->as_perf) {
		shared_drop(thread->space->maps);
		thread->space->maps = shared_new(addrspace);
	}
}

static bool kernel_map(const struct perfdata_record *record, struct map *map)
{
	map->start = record->mmap.start;
	if (__builtin_add_overflow(map->start, record->mmap.length, &map->end))
		map->end = UINT64_MAX;
	return map->start < map->end;
}

/* Returns the name of the kernel module with this path: for "/lib/modules/6.1/kernel/fs/nfs-v4.ko.xz" the result is
 * "[nfs_v4]". The result is in `name`, a buffer of `cap` bytes, or is a part of `path` that already has brackets. */
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

static void kernel_mmap(struct addrspace *addrspace, const struct perfdata_record *record)
{
	struct str path = record->mmap.path, kernel = STR("[kernel.kallsyms]");
	struct map map = { 0 };
	char name[128];

	if (!kernel_map(record, &map))
		return;
	if (str_starts(path, kernel) || str_starts(path, STR("[guest.kernel"))) {
		map.dso = addrspace->kernel_core = addrspace_special(addrspace, DSO_KERNEL, kernel);
		/* the rest of the path is the name of a symbol (_text or _stext), the record's offset is its address */
		if (path.n > kernel.n) {
			addrspace->kernel_symbol = arena_copy(&addrspace->text, str_from(path, kernel.n));
			addrspace->kernel_text = record->mmap.offset;
		}
		addrspace->kernel_mapped = true;
	} else {
		map.dso = addrspace_special(addrspace, DSO_KERNEL, module_name(path, name, sizeof(name)));
	}
	if (record->mmap.build_id.n)
		addrspace->dso[map.dso].build_id = record->mmap.build_id;
	addrspace->kernel = shared_own(addrspace, addrspace->kernel);
	maps_insert(&addrspace->kernel->maps, map);
}

static void user_mmap(struct addrspace *addrspace, const struct perfdata_record *record)
{
	struct addrspace_thread *thread = addrspace_thread(addrspace, record->pid, record->tid);
	struct map map = { 0 };
	enum dso_kind kind;

	if (!kernel_map(record, &map))
		return;
	thread->ended = 0;
	/* Protection 0 is treated as executable: perf 3.x synthesises MMAP2 records from /proc without protection. */
	map.code = !record->mmap.data && (!record->mmap.protection || record->mmap.protection & PROTECTION_EXEC);
	map.dso = user_dso(addrspace, record);
	kind = addrspace->dso[map.dso].kind;
	if (kind == DSO_FILE)
		map.add = record->mmap.offset - map.start;
	else if (kind == DSO_VDSO)
		map.add = 0 - map.start;
	thread->space->maps = shared_own(addrspace, thread->space->maps);
	maps_insert(&thread->space->maps->maps, map);
	if (kind == DSO_FILE && str_ends(addrspace->dso[map.dso].path, STR("/libjvm.so")))
		thread->space->maps->jvm = true;
}

static void addrspace_ksymbol(struct addrspace *addrspace, const struct perfdata_record *record)
{
	struct map map = { .start = record->ksymbol.start };

	if (__builtin_add_overflow(map.start, (uint64_t)record->ksymbol.length, &map.end) || map.start == map.end)
		return;
	map.dso = record->ksymbol.gone ? 0 : addrspace_special(addrspace, DSO_SYMBOL, record->ksymbol.name);
	addrspace->kernel = shared_own(addrspace, addrspace->kernel);
	maps_insert(&addrspace->kernel->maps, map);
}

void addrspace_record(struct addrspace *addrspace, const struct perfdata_record *record)
{
	switch (record->kind) {
	case PERFDATA_MMAP:
		if (record->pid == NOBODY)
			kernel_mmap(addrspace, record);
		else
			user_mmap(addrspace, record);
		break;
	case PERFDATA_COMM: comm_record(addrspace, record); break;
	case PERFDATA_FORK: fork_thread(addrspace, record); break;
	case PERFDATA_EXIT: exit_record(addrspace, record); break;
	case PERFDATA_KSYMBOL: addrspace_ksymbol(addrspace, record); break;
	default: break;
	}
}

/* ---- lookups of instruction pointers ------------------------------------------------------------------------ */

struct location addrspace_find(const struct addrspace *addrspace, const struct addrspace_thread *thread,
			       enum perfdata_mode mode, uint64_t ip)
{
	const struct map *map = NULL;

	if (mode == MODE_KERNEL) {
		map = maps_find(&addrspace->kernel->maps, ip);
		/* Kernel code outside of all mappings belongs to kernel_core: kallsyms has symbols outside of the
		 * recorded mapping, too. */
		if (!map && (addrspace->kernel_mapped || ((int64_t)ip < 0 && addrspace->kernel_core)))
			return location_in_dso(addrspace->kernel_core, ip);
	} else if (mode == MODE_USER) {
		map = maps_find(&thread->space->maps->maps, ip);
	}
	return map ? location_in_dso(map->dso, ip + map->add) : location_in_dso(0, ip);
}

/* End of the first page, which is never mapped for user code. */
#define ADDRSPACE_PAGE 4096u
/* End of the range of user addresses. Addresses above 2^47 (x86-64) or 2^48 (aarch64) are mapped only if the program
 * requests them. */
#define ADDRSPACE_USER_END (UINT64_C(1) << 48)

bool addrspace_may_be_code(const struct addrspace_thread *thread, uint64_t ip)
{
	const struct map *map = maps_find(&thread->space->maps->maps, ip);

	return map ? map->code : ip >= ADDRSPACE_PAGE && ip < ADDRSPACE_USER_END;
}

void addrspace_init(struct addrspace *addrspace, bool as_perf)
{
	*addrspace = (struct addrspace){ .as_perf = as_perf };
	addrspace->dso_cap = 64;
	addrspace->dso = mem_alloc(sizeof(*addrspace->dso), addrspace->dso_cap);
	addrspace->dso[0] = (struct dso){ .kind = DSO_NOWHERE, .path = STR("[unknown]") };
	addrspace->kernel = shared_new(addrspace);
	/* Recordings of ordinary users, of containers and of WSL have no mapping of the kernel. perf then prints no
	 * names of kernel code; pjfold assigns this code to kernel_core. */
	if (!as_perf)
		addrspace->kernel_core = addrspace_special(addrspace, DSO_KERNEL, STR("[kernel.kallsyms]"));
}

void addrspace_free(struct addrspace *addrspace)
{
	for (uint32_t i = 0; addrspace->mask && i <= addrspace->mask; i++)
		if (addrspace->slot[i]) {
			space_drop(addrspace->slot[i]->space);
			free(addrspace->slot[i]);
		}
	shared_drop(addrspace->kernel);
	intern_free(&addrspace->comms);
	intern_free(&addrspace->keys);
	free(addrspace->dso);
	free(addrspace->slot);
	free(addrspace->end);
	arena_free(&addrspace->text);
}
