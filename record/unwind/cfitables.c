/* SPDX-License-Identifier: Apache-2.0 */
#include "record/unwind/cfitables.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "record/symsaver/targetfiles.h"
#include "common/hash.h"
#include "record/unwind/cfihelpers.h"
#include "unwind/dwarf/unwindtable.h"
#include "unwind/trampolines.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENTRY_COUNT_MAX 4096u
#define BUCKETS 1024u      /* number of hash buckets, a power of two */
#define KNOWN_TENANTS 256u /* number of processes whose tenant is cached */
#define WAIT_NS SECOND_NS  /* maximum time in ns for which samples wait for a table */
#define RETRY_NS (10 * SECOND_NS)
#define IDLE_NS (60 * SECOND_NS)
/* Time in ms without reply and without CPU use after which helpers count as hung. At the next attempt, the page cache
 * holds the data that they had read. */
#define HANG_MS 2000
#define VDSO_MAX (64u << 10)
#define CODE_MAJOR UINT32_MAX /* file_id.major of tables of generated code; no device has this number */

/* Maximum number of entries of generated code for one owner; code beyond it gets no table. Any process can map
 * gigabytes of generated code, and must not evict the tables of other owners. 128 ranges of 64 kB hold 500,000
 * trampolines. Entries are counted by hash of the owner, so two owners may share the limit. */
#define CODE_ENTRIES_MAX 128u
#define CODE_OWNERS 1024u

enum state { FREE, WANTED, REQUESTED, READY, NONE };

/* A table that several entries may refer to: helpers of different tenants usually make the same bytes from one file. */
struct shared_table {
	struct unwind_table *table;
	uint64_t hash;       /* value of unwind_table_hash */
	unsigned references; /* number of entries that refer to the table */
};

/* Entry of the table of one file for one tenant. The file id of the mapping identifies the file; a table of generated
 * code has a made-up file id that no file has (code_id). Entry 0 is unused. */
struct entry {
	uint64_t owner; /* key of the tenant's pair of helpers (cfihelpers_owner.key) */
	struct file_id file_id;
	/* index in cfitables.entry of the next entry in the same bucket, or of the next free entry; 0: none */
	uint32_t next;
	uint8_t state;
	bool again; /* true: helpers could not open the file or hung at it, so samples no longer wait for the table */
	/* Fault domain (backoff_place) for which helpers could not open the file, or hung at it, at time `wanted`: for
	 * RETRY_NS, samples of this fault domain request no table. 0: none. */
	uint64_t refused;
	/* true: a helper crashed at this file once; after a second crash the file gets no table. One crash may be
	 * chance, because the kernel kills processes when memory is short. */
	bool crashed;
	/* wanted: time in ns of the entry's creation or last failed attempt; used: time in ns of the last lookup */
	uint64_t wanted, used;
	struct shared_table *shared; /* the table in state READY; NULL in other states */
};

struct cfitables {
	struct cfitables_options o;
	struct cfihelpers *helpers;
	struct budgets *budgets; /* budgets of the tenants' CPU time; NULL: no limit */
	/* Cache of the tenants that tenant_of_process has looked up, for processes whose tenant state.c does not know;
	 * index: pid modulo KNOWN_TENANTS. */
	struct known_tenant {
		uint32_t pid;
		uint64_t start_ticks;
		struct tenant of;
	} known[KNOWN_TENANTS];
	uint64_t own_ns; /* inode of the recorder's own mount namespace */
	struct entry *entry;
	uint32_t n, cap, free, bucket[BUCKETS];
	/* Number of entries of generated code, at most CODE_ENTRIES_MAX; index: hash of the owner's key. */
	uint16_t code_entries[CODE_OWNERS];
	size_t bytes;
	struct unwind_table *vdso;
	struct cfitables_counts counts;
};

/* ---- start and end of the cache --------------------------------------------------------------------------------- */

/* Returns the unwind table of the vdso; NULL on failure. The kernel maps the same vdso image into each process,
 * including this one. */
static struct unwind_table *table_of_vdso(void)
{
	const char *image = (const char *)(uintptr_t)getauxval(AT_SYSINFO_EHDR), *why;
	int fd = image ? memfd_create("vdso", MFD_CLOEXEC) : -1;
	size_t n = 0;

	if (fd < 0)
		return NULL;
	while (n < VDSO_MAX && write(fd, image + n, 4096) == 4096)
		/* write fails (EFAULT) at the first unmapped page after the image */
		n += 4096;
	return unwind_table_open(fd, &why);
}

static uint64_t own_mount_ns(const char *proc)
{
	char path[256];
	struct stat status;

	snprintf(path, sizeof(path), "%s/self/ns/mnt", proc);
	return stat(path, &status) == 0 ? status.st_ino : 0;
}

static size_t drop_shared(struct shared_table *table);
static void cfitables_take_answer(void *to, const struct cfihelpers_request *request,
				  const struct cfimaker_reply *reply, int image, uint64_t now);
static void take_failure(void *to, const struct cfihelpers_request *request, bool first, bool hung, uint64_t now);

struct cfitables *cfitables_start(const struct cfitables_options *options)
{
	struct cfitables *tables = mem_alloc(sizeof(*tables), 1);
	struct cfihelpers_user user = { cfitables_take_answer, take_failure, tables };

	tables->o = *options;
	tables->o.max_bytes = options->max_bytes ? options->max_bytes : CFITABLES_MOST;
	tables->n = 1;
	tables->helpers = cfihelpers_start(options->proc, options->hang_ms ? options->hang_ms : HANG_MS, &user);
	tables->vdso = table_of_vdso();
	tables->own_ns = own_mount_ns(options->proc);
	return tables;
}

pid_t cfitables_start_interphelper(struct cfitables *tables, int socket, int memory)
{
	return cfihelpers_start_interphelper(tables->helpers, socket, memory);
}

void cfitables_stop(struct cfitables *tables)
{
	if (!tables)
		return;
	cfihelpers_stop(tables->helpers);
	for (uint32_t i = 1; i < tables->n; i++)
		drop_shared(tables->entry[i].shared);
	unwind_table_close(tables->vdso);
	free(tables->entry);
	free(tables);
}

/* ---- entries of tables ------------------------------------------------------------------------------------------ */

static uint64_t device_of(const struct entry *entry)
{
	return (uint64_t)entry->file_id.major << 32 | entry->file_id.minor;
}

static uint32_t *cfitables_bucket_of(struct cfitables *tables, const struct entry *entry)
{
	return &tables->bucket[hash_pair(entry->file_id.inode ^ entry->file_id.generation << 32, device_of(entry)) &
			       (BUCKETS - 1)];
}

static bool cfitables_is_of(const struct entry *entry, const struct file_id *file_id, uint64_t owner)
{
	return entry->state != FREE && entry->owner == owner && file_id_equal(&entry->file_id, file_id);
}

/* Removes a reference to a table, and frees the table with the last reference. NULL is allowed. Returns the number of
 * bytes freed. */
static size_t drop_shared(struct shared_table *table)
{
	size_t bytes = table && table->references == 1 ? unwind_table_bytes(table->table) : 0;

	if (table && --table->references == 0) {
		unwind_table_close(table->table);
		free(table);
	}
	return bytes;
}

/* Returns the counter of an owner's entries of generated code. owner: key of the owner. */
static uint16_t *cfitables_code_entries(struct cfitables *tables, uint64_t owner)
{
	return &tables->code_entries[hash_number(owner) % CODE_OWNERS];
}

static size_t cfitables_forget(struct cfitables *tables, uint32_t number)
{
	size_t bytes;
	struct entry *entry = &tables->entry[number];
	uint32_t *link = cfitables_bucket_of(tables, entry);

	if (entry->file_id.major == CODE_MAJOR)
		--*cfitables_code_entries(tables, entry->owner);

	while (*link != number)
		link = &tables->entry[*link].next;
	*link = entry->next;
	bytes = drop_shared(entry->shared);
	*entry = (struct entry){ .next = tables->free };
	tables->free = number;
	return bytes;
}

/* Returns true if no request for the entry's table is pending. */
static bool cfitables_is_idle(const struct entry *entry)
{
	return entry->state == READY || entry->state == NONE || entry->state == WANTED;
}

/* Returns the index of the least recently used entry, if its last use is before the time `before` (ns); 0 if no entry
 * qualifies. with_table true: only entries with a table qualify; false: all entries without a pending request do. */
static uint32_t cfitables_oldest(const struct cfitables *tables, bool with_table, uint64_t before)
{
	uint32_t found = 0;

	for (uint32_t i = 1; i < tables->n; i++) {
		const struct entry *entry = &tables->entry[i];
		bool candidate = with_table ? entry->state == READY : cfitables_is_idle(entry);

		if (candidate && entry->used < before && (!found || entry->used < tables->entry[found].used))
			found = i;
	}
	return found;
}

static uint32_t take_number(struct cfitables *tables, uint64_t now)
{
	uint32_t number = tables->free;

	if (!number && tables->n == ENTRY_COUNT_MAX) {
		number = cfitables_oldest(tables, false, now);
		if (!number)
			return 0;
		cfitables_forget(tables, number);
	}
	if (number) {
		tables->free = tables->entry[number].next;
		return number;
	}
	if (tables->n >= tables->cap) {
		tables->cap = tables->cap ? 2 * tables->cap : 64;
		tables->entry = mem_grow(tables->entry, sizeof(*tables->entry), tables->cap);
		tables->entry[0] = (struct entry){ 0 };
	}
	return tables->n++;
}

/* Returns the index of the entry of a file for an owner; creates the entry if necessary. owner: key of the owner.
 * Returns 0 if no entry can be created. */
static uint32_t cfitables_entry_of(struct cfitables *tables, const struct file_id *file_id, uint64_t owner,
				   uint64_t now)
{
	struct entry like = { .owner = owner, .file_id = *file_id };
	bool code = file_id->major == CODE_MAJOR;
	uint32_t i = *cfitables_bucket_of(tables, &like);

	while (i && !cfitables_is_of(&tables->entry[i], file_id, owner))
		i = tables->entry[i].next;
	if (i)
		return i;
	if (code && *cfitables_code_entries(tables, owner) >= CODE_ENTRIES_MAX)
		return 0;
	i = take_number(tables, now);
	if (!i)
		return 0;
	*cfitables_code_entries(tables, owner) += code;
	like.state = WANTED;
	like.wanted = like.used = now;
	like.next = *cfitables_bucket_of(tables, &like);
	tables->entry[i] = like;
	*cfitables_bucket_of(tables, &like) = i;
	return i;
}

/* ---- requests of tables ----------------------------------------------------------------------------------------- */

/* Returns the tenant of a process; kind TENANT_UNKNOWN if the process has ended. state.c has looked up the tenants of
 * sampled processes while they lived. For other processes this function looks up the tenant and caches it. */
static struct tenant tenant_of_process(struct cfitables *tables, const struct process *p)
{
	struct known_tenant *known = &tables->known[p->pid % KNOWN_TENANTS];
	int process;

	if (p->tenant_window)
		return p->tenant;
	if (known->pid == p->pid && known->start_ticks == p->start_ticks && p->start_ticks)
		return known->of;
	process = target_process(tables->o.proc, p->pid, p->start_ticks);
	*known = (struct known_tenant){ p->pid, p->start_ticks,
					process >= 0 ? tenant_of(process) : (struct tenant){ 0 } };
	if (process >= 0)
		close(process);
	return known->of;
}

/* Returns the owner of the table of a file on `device` that a process maps. If the process ended before its tenant was
 * looked up, only its mount namespace is known. That namespace may belong to any user, so the host's helpers never
 * read its files. */
static struct cfihelpers_owner cfitables_owner_of(struct cfitables *tables, const struct process *process,
						  uint64_t device)
{
	struct cfihelpers_owner owner = { .of = tenant_of_process(tables, process) };

	if (owner.of.kind == TENANT_UNKNOWN) {
		owner.of = process->mount_ns ? (struct tenant){ TENANT_MOUNT_NS, process->mount_ns } : owner.of;
		owner.key = owner.place =
			backoff_place(&(struct tenant){ TENANT_UNKNOWN, process->mount_ns }, tables->own_ns, 0);
		return owner;
	}
	owner.place = backoff_place(&owner.of, tables->own_ns, device);
	owner.key = backoff_is_host(&owner.of, tables->own_ns) ? CFIHELPERS_HOST : owner.place;
	return owner;
}

/* Returns false if the owner is the host, but the process belongs to another tenant now. Otherwise returns true. */
static bool is_still_owner(struct cfitables *tables, const struct process *p, const struct cfihelpers_owner *owner)
{
	int process = owner->key == CFIHELPERS_HOST ? target_process(tables->o.proc, p->pid, p->start_ticks) : -1;
	bool same = true;

	if (process >= 0) {
		struct tenant tenant = tenant_of(process);

		same = tenant.kind == TENANT_UNKNOWN || tenant_same(tenant, owner->of);
		close(process);
	}
	return same;
}

/* Returns true if no table may be requested for the owner now: helpers must avoid its fault domain, or the tenant has
 * exceeded its budget of CPU time. If so, counts a loss of the tenant (OVER_TABLES). */
static bool is_left_out(struct cfitables *tables, const struct cfihelpers_owner *owner, uint64_t now)
{
	bool host = backoff_is_host(&owner->of, tables->own_ns);
	bool out = cfihelpers_avoid(tables->helpers, owner->place, now) ||
		   (!host && tables->budgets &&
		    !tenants_may(budgets_tenants(tables->budgets), owner->of, TENANT_CPU_NS, now));

	if (out)
		budgets_over(tables->budgets, owner->of, OVER_TABLES, 1);
	return out;
}

/* A range of a process's generated code: start is a virtual address, n a number of bytes. n is 0 for code of a file. */
struct code_range {
	uint64_t start, n;
};

/* Requests the table of the entry with index `number`. Returns false if the table must not be requested for this
 * process now, or the helpers do not run. Returns true if it was requested, or the helpers are busy. */
static bool cfitables_query(struct cfitables *tables, uint32_t number, const struct process *process,
			    const struct mapping *mapping, struct code_range code, const struct cfihelpers_owner *owner,
			    uint64_t now)
{
	struct entry *entry = &tables->entry[number];
	struct cfimaker_request request = { .number = number,
					    .pid = process->pid,
					    .start_ticks = process->start_ticks,
					    .mount_ns = process->mount_ns,
					    .address = code.n ? code.start : mapping->start,
					    .code_bytes = code.n,
					    .file_id = entry->file_id };
	enum cfihelpers_pending result;
	size_t n = code.n ? 0 : mapping->file->path.n;

	if (n > sizeof(request.path) || (entry->refused == owner->place && now < entry->wanted + RETRY_NS) ||
	    is_left_out(tables, owner, now) || !is_still_owner(tables, process, owner))
		return false;
	request.npath = (uint32_t)n;
	memcpy(request.path, mapping->file->path.p, n);
	result = cfihelpers_query(tables->helpers, owner, &request, offsetof(struct cfimaker_request, path) + n, now);
	if (result == CFIHELPERS_PENDING)
		entry->state = REQUESTED;
	return result != CFIHELPERS_OFF;
}

/* Returns true if the mapping is one of a file with an absolute path; false for anonymous memory and paths that begin
 * with "//". */
static bool is_file(const struct mapped_file *mapped)
{
	return mapped->file_id.inode && mapped->path.n > 1 && mapped->path.p[0] == '/' && mapped->path.p[1] != '/';
}

static enum cfitables_answer cfitables_found(const struct unwind_table *table, uint64_t address, uint64_t offset,
					     struct unwind_code *code)
{
	if (!table || !unwind_table_bias(table, address, offset, &code->bias))
		return CFITABLES_NONE;
	code->table = table;
	return CFITABLES_READY;
}

/* Returns the result of cfitables_find for a sample in the code of the entry with index `number`. Requests the table if
 * necessary. Does not set an unwind_code. */
static enum cfitables_answer cfitables_state_of(struct cfitables *tables, uint32_t number,
						const struct process *process, const struct mapping *mapping,
						struct code_range code, const struct cfihelpers_owner *owner,
						uint64_t now)
{
	struct entry *entry = &tables->entry[number];

	entry->used = now;
	if (entry->state == WANTED && !cfitables_query(tables, number, process, mapping, code, owner, now))
		return CFITABLES_NONE;
	if (entry->state == READY)
		return CFITABLES_READY;
	if (entry->state != WANTED && entry->state != REQUESTED)
		return CFITABLES_NONE;
	return !entry->again && cfihelpers_answer_soon(tables->helpers, owner->key, now) &&
			       now < entry->wanted + WAIT_NS ?
		       CFITABLES_WAIT :
		       CFITABLES_LATE;
}

static enum cfitables_answer find_of_file(struct cfitables *tables, const struct process *process,
					  const struct mapping *mapping, uint64_t address, uint64_t now,
					  struct unwind_code *code)
{
	struct mapped_file *mapped = mapping->file;
	struct cfihelpers_owner owner =
		cfitables_owner_of(tables, process, (uint64_t)mapped->file_id.major << 32 | mapped->file_id.minor);
	enum cfitables_answer answer;

	if (!mapped->table || mapped->table >= tables->n ||
	    !cfitables_is_of(&tables->entry[mapped->table], &mapped->file_id, owner.key))
		mapped->table = cfitables_entry_of(tables, &mapped->file_id, owner.key, now);
	if (!mapped->table)
		return CFITABLES_NONE;
	answer = cfitables_state_of(tables, mapped->table, process, mapping, (struct code_range){ 0 }, &owner, now);
	if (answer != CFITABLES_READY)
		return answer;
	return cfitables_found(tables->entry[mapped->table].shared->table, address,
			       address - mapping->start + mapping->offset, code);
}

/* ---- tables of generated code ----------------------------------------------------------------------------------- */

/* Size in bytes of the ranges of generated code that get one table each. CPython maps 64 kB for trampolines at once, so
 * equal ranges give equal tables in all processes, which are stored once. */
#define PART UINT64_C(65536)

/* Returns the range of a mapping's generated code that contains `address`: one of PART bytes, extended by the longest
 * trampoline at both ends, so that a trampoline across a border is complete. */
static struct code_range code_part(const struct mapping *mapping, uint64_t address)
{
	uint64_t at = (address - mapping->start) / PART * PART, before = at ? TRAMPOLINES_LONGEST : 0;
	uint64_t left = mapping->length - at + before, most = PART + before + TRAMPOLINES_LONGEST;

	return (struct code_range){ mapping->start + at - before, left < most ? left : most };
}

/* Returns a made-up file id for the table of a range of generated code; no file has it. mapping->id changes when the
 * code changes (MAPPINGS_SAME), and forked processes have the same id until then. */
static struct file_id code_id(const struct process *process, const struct mapping *mapping, struct code_range code)
{
	return (struct file_id){ .major = CODE_MAJOR,
				 .minor = process->pid,
				 .inode = mapping->id,
				 .generation = hash_pair(code.start, process->start_ticks) };
}

static enum cfitables_answer find_of_code(struct cfitables *tables, const struct process *process,
					  const struct mapping *mapping, uint64_t address, uint64_t now,
					  struct unwind_code *code)
{
	struct code_range part = code_part(mapping, address);
	struct file_id file_id = code_id(process, mapping, part);
	struct cfihelpers_owner owner = cfitables_owner_of(tables, process, 0);
	uint32_t number = cfitables_entry_of(tables, &file_id, owner.key, now);
	enum cfitables_answer answer =
		number ? cfitables_state_of(tables, number, process, mapping, part, &owner, now) : CFITABLES_NONE;

	if (answer != CFITABLES_READY)
		return answer;
	code->table = tables->entry[number].shared->table;
	code->bias = part.start - CFIMAKER_CODE_ADDRESS;
	return unwind_table_row(code->table, address - code->bias) ? CFITABLES_READY : CFITABLES_NONE;
}

/* Returns true if the mapping may have trampolines of CPython: memory without a file, executable and not writable, of a
 * process with an interpreter, on x86-64. */
static bool may_have_trampolines(const struct process *process, const struct mapped_file *mapped)
{
	return processor_here() == &processor_x86_64 && mapped_file_is_memory(mapped) && process->maps &&
	       process->maps->interpreters && !(mapped->protection & PROT_WRITE);
}

enum cfitables_answer cfitables_find(struct cfitables *tables, const struct process *process,
				     const struct mapping *mapping, uint64_t address, uint64_t now,
				     struct unwind_code *code)
{
	if (is_file(mapping->file))
		return find_of_file(tables, process, mapping, address, now, code);
	if (str_eq(mapping->file->path, STR("[vdso]")))
		return cfitables_found(tables->vdso, address, address - mapping->start, code);
	if (may_have_trampolines(process, mapping->file))
		return find_of_code(tables, process, mapping, address, now, code);
	return CFITABLES_NONE;
}

/* ---- replies of helpers ----------------------------------------------------------------------------------------- */

static void cfitables_make_space(struct cfitables *tables, uint64_t now)
{
	uint32_t i;

	while (tables->bytes > tables->o.max_bytes && (i = cfitables_oldest(tables, true, now))) {
		tables->counts.evicted++;
		tables->bytes -= cfitables_forget(tables, i);
	}
}

/* Loads a table from its image, and closes or keeps the descriptor `image`. Returns NULL if image is -1, is not sealed,
 * or is invalid. The process that made an unsealed image could still shrink or change it. */
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

/* Records at time `now` (ns) that helpers of the fault domain `place` could not open the entry's file, or hung at it.
 * From now on, samples do not wait for the table. */
static void cfitables_refuse(struct entry *entry, uint64_t place, uint64_t now)
{
	entry->state = WANTED;
	entry->refused = place;
	entry->wanted = now;
	entry->again = true;
}

/* Returns true if `other` can have an equal table, and must be compared. For a file: `other` is an entry of the same
 * file for another tenant. For generated code: `other` is any entry of generated code, since that is equal in all
 * processes of one interpreter. */
static bool may_share(const struct entry *entry, const struct entry *other)
{
	if (entry->file_id.major == CODE_MAJOR)
		return other->file_id.major == CODE_MAJOR;
	return other->file_id.inode == entry->file_id.inode && other->file_id.generation == entry->file_id.generation &&
	       device_of(other) == device_of(entry);
}

/* Returns the shared table for `table`: an equal one of another entry, and then frees `table`; otherwise a new one,
 * which owns `table`. */
static struct shared_table *cfitables_share(struct cfitables *tables, const struct entry *entry,
					    struct unwind_table *table)
{
	uint64_t hash = unwind_table_hash(table);
	struct shared_table *s;

	for (uint32_t i = 1; i < tables->n; i++) {
		const struct entry *other = &tables->entry[i];

		if (!other->shared || other->shared->hash != hash || !may_share(entry, other) ||
		    !unwind_table_is_same(other->shared->table, table))
			continue;
		unwind_table_close(table);
		other->shared->references++;
		return other->shared;
	}
	s = mem_alloc(sizeof(*s), 1);
	*s = (struct shared_table){ table, hash, 1 };
	tables->bytes += unwind_table_bytes(table);
	return s;
}

static void cfitables_take_answer(void *to, const struct cfihelpers_request *request,
				  const struct cfimaker_reply *reply, int image, uint64_t now)
{
	struct cfitables *tables = to;
	struct entry *entry = &tables->entry[request->number];
	struct unwind_table *table = cfitables_table_of(image);

	entry->shared = table ? cfitables_share(tables, entry, table) : NULL;
	entry->state = table ? READY : reply->answer == CFIMAKER_GONE ? WANTED : NONE;
	if (entry->state == WANTED)
		cfitables_refuse(entry, request->owner.place, now);
	if (tables->budgets && !backoff_is_host(&request->owner.of, tables->own_ns))
		tenants_charge(budgets_tenants(tables->budgets), request->owner.of, TENANT_CPU_NS,
			       reply->cpu_us * UINT64_C(1000), now);
	tables->counts.made += table != NULL;
	tables->counts.gone += entry->state == WANTED;
	tables->counts.large += reply->answer == CFIMAKER_LARGE;
	tables->counts.none += entry->state == NONE && reply->answer != CFIMAKER_LARGE;
}

/* Handles the failure of a pair for one of its pending requests. A file at which the helpers hung is tried again later.
 * A file at which they crashed twice is not tried again. Files after it in the queue are requested again at their next
 * sample. */
static void take_failure(void *to, const struct cfihelpers_request *request, bool first, bool hung, uint64_t now)
{
	struct cfitables *tables = to;
	struct entry *entry = &tables->entry[request->number];

	entry->state = first && !hung && entry->crashed ? NONE : WANTED;
	entry->crashed = entry->crashed || (first && !hung);
	entry->wanted = now;
	if (first && hung)
		cfitables_refuse(entry, request->owner.place, now);
}

void cfitables_take(struct cfitables *tables, uint64_t now)
{
	cfihelpers_take(tables->helpers, now);
	if (tables->bytes > tables->o.max_bytes)
		cfitables_make_space(tables, now - SECOND_NS);
}

int cfitables_fd(const struct cfitables *tables)
{
	return cfihelpers_fd(tables->helpers);
}

/* ---- removal of unused tables ----------------------------------------------------------------------------------- */

void cfitables_tick(struct cfitables *tables, uint64_t now)
{
	cfihelpers_tick(tables->helpers, now);
	tables->bytes = 0;
	for (uint32_t i = 1; i < tables->n; i++) {
		const struct entry *entry = &tables->entry[i];

		if (cfitables_is_idle(entry) && entry->used + IDLE_NS < now)
			cfitables_forget(tables, i);
		else if (entry->state == READY && unwind_table_is_full(entry->shared->table))
			cfitables_forget(tables, i);
		else if (entry->shared)
			tables->bytes += unwind_table_bytes(entry->shared->table) / entry->shared->references;
	}
	if (tables->bytes > tables->o.max_bytes)
		cfitables_make_space(tables, now - SECOND_NS);
}

void cfitables_budgets(struct cfitables *tables, struct budgets *budgets)
{
	tables->budgets = budgets;
}

struct cfitables_counts cfitables_count(const struct cfitables *tables)
{
	struct cfitables_counts counts = tables->counts;

	for (uint32_t i = 1; i < tables->n; i++)
		counts.tables += tables->entry[i].shared != NULL;
	counts.bytes = tables->bytes;
	counts.helpers = cfihelpers_count(tables->helpers);
	return counts;
}
