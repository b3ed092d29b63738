/* SPDX-License-Identifier: Apache-2.0 */
#include "record/java/javabudget.h"

#include "record/java/blobcache.h"
#include "common/arena.h"
#include "common/clocks.h"
#include "common/diag.h"
#include "unwind/x86.h"

#include <stdlib.h>

/* Total time in ns that all requests may wait between two readings of the rings. The rings hold the samples of one
 * second, and each reading takes those of half a second, so requests must not delay the next reading for long. */
#define DEADLINE_NS (150 * (SECOND_NS / 1000))
#define FLUSH_NS (20 * (SECOND_NS / 1000))
/* age of the last use, in ns, up to which code is checked before the next samples are walked */
#define LATELY_NS (2 * SECOND_NS)
#define IDLE_NS (60 * SECOND_NS)  /* time in ns without use after which cached code and JVMs are dropped */
#define MISSED_NS (SECOND_NS / 4) /* time in ns after which an address without code is looked up again */
#define RETRY_NS SECOND_NS        /* first pause in ns if a JVM could not be read */
/* first and longest pause in ns if a JVM was starting */
#define SOON_NS (SECOND_NS / 50)
#define SOON_MAX (SECOND_NS / 10)
#define RETRY_MAX (60 * SECOND_NS)
/* Maximum time in ns between a sample and the first reading of the code on its stack. Code that was first read later is
 * not used for the sample: HotSpot may have reused the memory for code in which a call precedes the return address by
 * chance. */
#define FIRST_MAX_NS SECOND_NS
/* Code of a JVM that ended is used for samples up to this time, in ns, after the last check of the code. */
#define GONE_NS SECOND_NS

/* ---- results of requests, and loss of a JVM -------------------------------------------------------------------- */

static bool is_code_of(const struct hotspot_reason *why, const char *code)
{
	return strcmp(why->code, code) == 0;
}

/* Prints a message that a JVM cannot be read, once for each reason. Prints none for a JVM that has ended or may be
 * starting. */
static void javacode_print_message(struct javacode *javacode, const struct javacode_jvm *jvm,
				   const struct hotspot_reason *why)
{
	if (is_code_of(why, "gone") || is_code_of(why, "starting") ||
	    (is_code_of(why, "no-vmstructs") && jvm->pause == 0))
		return;
	javacode->counts.unread++;
	for (size_t i = 0; i < countof(javacode->shown); i++) {
		if (javacode->shown[i] && is_code_of(why, javacode->shown[i]))
			return;
		if (!javacode->shown[i]) {
			javacode->shown[i] = why->code;
			warn("process %u: this JVM cannot be read, so its stacks are unwound by frame pointers (%s: %s)",
			     jvm->pid, why->code, why->why);
			return;
		}
	}
}

static void javacode_release(struct javacode_jvm *jvm)
{
	tenants_release(jvm->owner->tenants, jvm->tenant, TENANT_MEMORY, jvm->bytes);
	jvm->bytes = 0;
}

static void free_code(struct javacode_jvm *jvm)
{
	javacode_release(jvm);
	free(jvm->blob);
	free(jvm->fact);
	for (size_t index = 0; jvm->line && index < LINES; index++)
		free(jvm->line[index].byte);
	free(jvm->line);
	jvm->blob = NULL;
	jvm->fact = NULL;
	jvm->line = NULL;
	jvm->n = jvm->cap = 0;
	blobcache_publish(jvm);
}

/* Forgets all cached code of this JVM. */
static void javacode_forget(struct javacode_jvm *jvm)
{
	jvm->gone = false;
	jvm->n = 0;
	blobcache_publish(jvm);
	blobcache_forget_lines(jvm, 0, UINT64_MAX);
	memset(jvm->missed, 0, sizeof(jvm->missed));
	jvm->code.call_stub_return = jvm->code.continuation_return = 0;
}

/* Stops reading this JVM until a pause has passed. The struct remains until the next javacode_of, because the caller
 * may hold a pointer to it. If the JVM ended, its code remains in the cache: the rings still hold samples of its last
 * half second, which are unwound with this code. */
static void lose_for(struct javacode_jvm *jvm, const struct hotspot_reason *why)
{
	struct javacode *javacode = jvm->owner;
	const struct process *process = processes_find(javacode->processes, jvm->pid);

	javacode_print_message(javacode, jvm, why);
	if (is_code_of(why, "over-budget"))
		budgets_over(javacode->budgets, jvm->tenant, OVER_JVMS, 1);
	jvmreader_close(javacode->reader, jvm->reader);
	jvm->reader = NULL;
	jvm->starting = is_code_of(why, "starting") || is_code_of(why, "no-vmstructs");
	if (is_code_of(why, "gone") && jvm->n)
		jvm->gone = true;
	else
		javacode_forget(jvm);
	/* A JVM that is starting, perhaps after an exec, is read again soon. If the JVM has ended, the record of its
	 * end comes soon, so the pause does not grow. */
	if (jvm->gone)
		jvm->pause = GONE_NS;
	else if (is_code_of(why, "starting") || is_code_of(why, "gone"))
		jvm->pause = jvm->pause < SOON_NS ? SOON_NS : SOON_MAX;
	else
		jvm->pause =
			jvm->pause >= RETRY_NS ? (2 * jvm->pause < RETRY_MAX ? 2 * jvm->pause : RETRY_MAX) : RETRY_NS;
	jvm->retry = javacode->now + jvm->pause;
	/* jvm->process is valid only up to the end of the sample of the last javacode_of */
	jvm->version = process && process->maps ? process->maps->version : 0;
}

static void javacode_lose(struct javacode_jvm *jvm)
{
	struct hotspot_reason why = jvmreader_why(jvm->reader);

	lose_for(jvm, &why);
}

void javabudget_drop(struct javacode_jvm *jvm)
{
	static const struct hotspot_reason why = {
		"over-budget", "the JVMs of its container or user exceed the limit of code for one tenant"
	};

	jvm->owner->counts.over_memory++;
	jvm->pause = RETRY_MAX;
	lose_for(jvm, &why);
	javacode_release(jvm);
	jvm->dropped = true;
}

static void print_over_time(struct javacode *javacode, const struct javacode_jvm *jvm)
{
	char name[TENANT_NAME];

	javacode->counts.over_time++;
	budgets_over(javacode->budgets, jvm->tenant, OVER_JVMS, 1);
	if (javacode->counts.over_time == 1)
		warn("process %u: reading the JVMs of %s takes more time than one tenant may use, so some of "
		     "their stacks are truncated",
		     jvm->pid, tenant_name(&jvm->tenant, name));
}

bool javacode_took(struct javacode_jvm *jvm, enum jvmreader_answer answer)
{
	if (answer == JVMREADER_DONE)
		return true;
	if (answer == JVMREADER_LOST) {
		javacode_lose(jvm);
	} else {
		jvm->late = true;
		jvm->owner->counts.late++;
		if (jvmreader_over_budget(jvm->reader))
			print_over_time(jvm->owner, jvm);
	}
	return false;
}

static struct missed *missed_at(struct javacode_jvm *jvm, uint64_t address)
{
	return &jvm->missed[(address ^ address >> 6 ^ address >> 12) % MISSED];
}

/* Looks up an address that is in no cached blob: reads the code block around it and caches the block. Returns
 * JAVACODE_BLOB if the block is cached now; JAVACODE_LATE if the JVM did not reply in time; JAVACODE_NONE if no code is
 * at the address or the JVM cannot be read. Sets *in to true if no code is there although the address is in a code
 * heap. */
static enum javacode_answer javacode_look_up(struct javacode_jvm *jvm, uint64_t address, bool *in)
{
	struct javacode *javacode = jvm->owner;
	struct missed *missed = missed_at(jvm, address);
	struct jvmreader_found found;

	*in = false;
	if (!jvm->reader)
		return JAVACODE_NONE;
	if (missed->address != address || missed->until < javacode->now) {
		javacode->counts.lookups++;
		if (!javacode_took(jvm, jvmreader_find(javacode->reader, jvm->reader, address, &found)))
			return jvm->reader ? JAVACODE_LATE : JAVACODE_NONE;
		jvm->pause = 0;
		jvm->code.call_stub_return = found.code.call_stub_return;
		jvm->code.continuation_return = found.code.continuation_return;
		if (found.where == CODECACHE_BLOB && blobcache_insert(jvm, &found.code, &found.blob, clock_now())) {
			if (found.bytes)
				blobcache_store_line(jvm, address / LINE, found.bytes);
			return jvm->reader ? JAVACODE_BLOB : JAVACODE_NONE;
		}
		if (!jvm->reader)
			return JAVACODE_NONE;
		*missed = (struct missed){ address, javacode->now + MISSED_NS,
					   found.where == CODECACHE_BLOB ? CODECACHE_FREE : found.where };
	}
	*in = missed->where == CODECACHE_FREE;
	return JAVACODE_NONE;
}

/* Looks up return address ip in the JVM; result and *in as for javacode_look_up. A return address may be the end of the
 * blob that contains the call, so ip - 1 is looked up first. It may also be the start of the return barrier of virtual
 * threads, so ip is looked up second. */
static enum javacode_answer look_up_return(struct javacode_jvm *jvm, uint64_t ip, bool *in)
{
	enum javacode_answer answer = javacode_look_up(jvm, ip - 1, in);

	return answer == JAVACODE_NONE && *in ? javacode_look_up(jvm, ip, in) : answer;
}

/* Checks cached blob i again; to be called if its last check was before the sample. Returns true if the blob is
 * unchanged, or if its state is unknown: the check had no reply in time, or the JVM has ended, whose cache is kept.
 * Returns false if the blob has changed (then removes it), or if the JVM lives, but cannot be read any more (then its
 * cache is empty). */
static bool is_still(struct javacode_jvm *jvm, size_t i)
{
	struct javacode *javacode = jvm->owner;
	struct blob blob = jvm->fact[i].blob;
	size_t n = 1;

	javacode->counts.checks++;
	if (!javacode_took(jvm, jvmreader_check(javacode->reader, jvm->reader, &blob, &n)))
		return jvm->reader || jvm->gone;
	if (n == 0) {
		jvm->freed = clock_now();
		blobcache_forget_lines(jvm, blob.begin, blob.end);
		blobcache_move(jvm, i, i + 1);
		blobcache_publish(jvm);
		return false;
	}
	jvm->fact[i].seen = clock_now();
	return true;
}

/* Caches the blob of enterSpecial, or marks it as used: the unwinder's step from the return barrier of virtual threads
 * leads into this blob. */
static void note_special(struct javacode_jvm *jvm)
{
	uint64_t address = jvm->code.continuation_return;
	size_t i = blobcache_first_after(jvm, address - 1);
	bool in;

	if (address && (i == jvm->n || jvm->blob[i].start >= address))
		javacode_look_up(jvm, address - 1, &in);
	else if (address)
		jvm->fact[i].used = jvm->owner->now;
}

static bool javacode_read_code(void *arg, uint64_t address, void *to, size_t n);

static bool is_mapped(const struct javacode_jvm *jvm, uint64_t address)
{
	return processes_at(jvm->process, address);
}

/* The decoded call instruction before a return address. */
struct call {
	bool direct, indirect; /* if both are true, the bytes can be either kind of call */
	uint64_t target;       /* target address of a direct call; otherwise 0 */
};

/* Decodes the call instruction before the return address ip in blob. Returns false if the code cannot be read. */
static bool read_call(struct javacode_jvm *jvm, const struct code_blob *blob, uint64_t ip, struct call *call)
{
	uint8_t code[X86_CALL_MAX];
	int32_t to;

	*call = (struct call){ 0 };
	if (ip - blob->start < sizeof(code) || !javacode_read_code(jvm, ip - sizeof(code), code, sizeof(code)))
		return false;
	call->direct = x86_is_call_before(code, &to);
	call->target = call->direct ? ip + (uint64_t)(int64_t)to : 0;
	call->indirect = x86_is_indirect_call_before(code);
	return true;
}

/* Returns true if the instruction before this return address is a call: call rel32 to code, or a call by register or
 * memory. Also returns true if the code cannot be read. HotSpot may have patched the call since the sample, and its
 * target may be in a part of the code heaps (240 MB by default) that was not mapped yet at the sample. So a target
 * within 240 MB is treated as code. */
static bool is_after_call(struct javacode_jvm *jvm, const struct code_blob *blob, uint64_t ip)
{
	struct call call;

	if (!read_call(jvm, blob, ip, &call))
		return true;
	if (call.direct && (call.target - ip + HEAPS_USUAL < 2 * (uint64_t)HEAPS_USUAL || is_mapped(jvm, call.target)))
		return true;
	return call.indirect;
}

/* Returns true if the call before return address ip in `blob` is a direct call of the frame that the walk found before:
 * its target is in the nmethod of that frame, or in another cached nmethod of the same method. */
static bool calls_callee(struct javacode_jvm *jvm, const struct code_blob *blob, uint64_t ip)
{
	const struct callee callee = jvm->callee;
	struct call call;
	size_t i;

	if (!callee.end || !read_call(jvm, blob, ip, &call) || !call.direct)
		return false;
	if (call.target - callee.start < callee.end - callee.start)
		return true;
	i = blobcache_first_after(jvm, call.target);
	return i < jvm->n && jvm->blob[i].start <= call.target && jvm->fact[i].blob.compiled &&
	       jvm->fact[i].blob.method == callee.method;
}

/* Returns true if blob i is the code that existed at the time of the sample. That is certain for a blob that was found
 * before the sample and after it. A blob that was first read after the sample may be new code in reused memory. So it
 * must have been read soon after the sample, and the return address must follow a call. If a cached nmethod was found
 * to be freed since the sample, this call must lead to the frame that the walk found before. These checks do not notice
 * the reuse of memory that had no cached nmethod, nor new code at the address of an interrupted frame. */
static bool is_right(struct javacode_jvm *jvm, size_t i, const struct unwind_state *state, uint64_t time)
{
	const struct fact *fact = &jvm->fact[i];
	const struct code_blob *blob = &jvm->blob[i];

	if (!fact->blob.compiled || fact->since <= time)
		return true;
	if (fact->since - time > FIRST_MAX_NS)
		return false;
	if (state->interrupted || code_blob_is_deopt(blob, state->ip))
		return true;
	if (jvm->freed > time && !state->native)
		return calls_callee(jvm, blob, state->ip);
	return is_after_call(jvm, blob, state->ip);
}

/* Returns the result of javacode_find for a frame in cached blob i. */
static enum javacode_answer is_it(struct javacode_jvm *jvm, size_t i, const struct unwind_state *state, uint64_t time)
{
	const struct fact *fact = &jvm->fact[i];

	if (fact->blob.compiled && fact->seen < time) {
		if (jvm->reader && !is_still(jvm, i))
			return JAVACODE_NONE;
		if (jvm->gone && fact->seen + GONE_NS < time)
			return JAVACODE_GONE;
	}
	return is_right(jvm, i, state, time) ? JAVACODE_BLOB : JAVACODE_GONE;
}

/* Adds an entry for the block of blob i to jvm->names, if there is none, and returns its id; 0 if the memory limit is
 * reached. A block of stubs consists of several blobs, which share one id. */
static uint32_t list_block(struct javacode_jvm *jvm, size_t i)
{
	const struct blob *block = &jvm->fact[i].blob;

	for (size_t k = i; !block->compiled && k > 0 && jvm->fact[k - 1].blob.address == block->address; k--)
		if (jvm->fact[k - 1].name)
			return jvm->fact[k - 1].name;
	for (size_t k = i + 1; !block->compiled && k < jvm->n && jvm->fact[k].blob.address == block->address; k++)
		if (jvm->fact[k].name)
			return jvm->fact[k].name;
	return codenames_add(jvm->names, block);
}

/* Records that a frame of a sample at `time` (ns) is in blob i, for the check of its caller and for the names of the
 * window. */
static void javacode_note_use(struct javacode_jvm *jvm, size_t i, uint64_t time)
{
	struct fact *fact = &jvm->fact[i];

	if (fact->blob.compiled)
		jvm->callee = (struct callee){ jvm->blob[i].start, jvm->blob[i].end, fact->blob.method };
	if (!fact->name)
		fact->name = list_block(jvm, i);
	codenames_use(jvm->names, fact->name, time);
}

enum javacode_answer javacode_find(struct javacode_jvm *jvm, const struct unwind_state *state, uint64_t time,
				   struct code_blob *blob)
{
	for (unsigned tries = 0; tries < 2; tries++) {
		const struct code_blob *p = javaunwind_find(&jvm->code, state);
		enum javacode_answer answer;
		bool in;

		if (p) {
			size_t i = (size_t)(p - jvm->blob);

			jvm->fact[i].used = jvm->owner->now;
			*blob = *p;
			answer = is_it(jvm, i, state, time);
			jvm->callee.end = 0;
			if (answer == JAVACODE_BLOB)
				javacode_note_use(jvm, i, time);
			if (answer == JAVACODE_BLOB && blob->kind == BLOB_THAW)
				note_special(jvm);
			if (answer != JAVACODE_NONE)
				return answer;
		}
		answer = state->interrupted || state->ip == 0 ? javacode_look_up(jvm, state->ip, &in) :
								look_up_return(jvm, state->ip, &in);
		if (answer != JAVACODE_BLOB)
			return answer == JAVACODE_NONE && in ? JAVACODE_GONE : answer;
	}
	return JAVACODE_NONE;
}

/* ---- callbacks of javaunwind_step ------------------------------------------------------------------------------- */

static const struct line *line_of(struct javacode_jvm *jvm, uint64_t number)
{
	struct javacode *javacode = jvm->owner;
	const struct line *line = blobcache_line(jvm, number);
	const char *bytes;

	if (line || !jvm->reader)
		return line;
	javacode->counts.bytes++;
	if (!javacode_took(jvm, jvmreader_bytes(javacode->reader, jvm->reader, number * LINE, &bytes)) || !bytes)
		return NULL;
	blobcache_store_line(jvm, number, bytes);
	return blobcache_line(jvm, number);
}

static bool javacode_read_code(void *arg, uint64_t address, void *to, size_t n)
{
	char *out = to;

	while (n) {
		const struct line *line = line_of(arg, address / LINE);
		size_t from = address % LINE, part = n < LINE - from ? n : LINE - from;

		if (!line)
			return false;
		memcpy(out, line->byte + from, part);
		out += part;
		address += part;
		n -= part;
	}
	return true;
}

/* Returns true if an address is in a mapping. That includes addresses of freed code: the unwinder uses the result only
 * to decide if a frame ends here, and never to search for another return address. */
static bool javacode_is_code(void *arg, uint64_t address)
{
	return is_mapped(arg, address);
}

const struct javaunwind_code *javacode_code(const struct javacode_jvm *jvm)
{
	return &jvm->code;
}

void javacode_note_frame_pointers(struct javacode_jvm *jvm)
{
	jvm->frame_pointers = true;
}

bool javacode_keeps_frame_pointers(const struct javacode_jvm *jvm)
{
	return jvm->frame_pointers;
}

bool javacode_was_late(struct javacode_jvm *jvm)
{
	bool late = jvm->late;

	jvm->late = false;
	return late;
}

/* ---- list of JVMs -------------------------------------------------------------------------------------------- */

static bool has_libjvm(const struct process *process)
{
	return process->maps && process->maps->libjvms;
}

static void javacode_let_go(struct javacode *javacode, size_t i)
{
	struct javacode_jvm *jvm = javacode->jvm[i];

	jvmreader_close(javacode->reader, jvm->reader);
	codenames_close(jvm->names);
	free_code(jvm);
	free(jvm);
	javacode->jvm[i] = javacode->jvm[--javacode->n];
}

static struct javacode_jvm *javacode_add(struct javacode *javacode, const struct process *process)
{
	struct javacode_jvm *jvm = mem_alloc(sizeof(*jvm), 1);

	if (javacode->n == JVM_COUNT_MAX)
		javacode_let_go(javacode, javabudget_find_dispensable(javacode));
	jvm->owner = javacode;
	jvm->pid = process->pid;
	jvm->start_ticks = process->start_ticks;
	jvm->tenant = javabudget_find_tenant(process->pid);
	jvm->names = codenames_open(javacode->names, process->pid, jvm->tenant);
	jvm->code.read = javacode_read_code;
	jvm->code.is_code = javacode_is_code;
	jvm->code.arg = jvm;
	javacode->jvm[javacode->n++] = jvm;
	return jvm;
}

static bool javacode_is_of(const struct javacode_jvm *jvm, const struct process *process)
{
	return jvm->pid == process->pid &&
	       (jvm->start_ticks == process->start_ticks || jvm->start_ticks == 0 || process->start_ticks == 0);
}

struct javacode_jvm *javacode_of(struct javacode *javacode, const struct process *process)
{
	struct javacode_jvm *jvm;
	size_t i = 0;

	if (!has_libjvm(process))
		return NULL;
	while (i < javacode->n && !javacode_is_of(javacode->jvm[i], process))
		i++;
	jvm = i < javacode->n ? javacode->jvm[i] : javacode_add(javacode, process);
	jvm->process = process;
	jvm->used = javacode->now;
	if (!jvm->reader && !jvm->dropped && !process->exited &&
	    (javacode->now >= jvm->retry || jvm->version != process->maps->version)) {
		javacode_forget(jvm);
		jvm->reader = jvmreader_open(javacode->reader, process->pid, process->start_ticks, jvm->tenant);
		javacode->counts.opened++;
		if (!jvm->serial || !jvm->starting)
			jvm->serial = javacode->counts.opened;
	}
	return jvm->reader || jvm->gone ? jvm : NULL;
}

struct javanames_jvm javacode_owner(const struct javacode_jvm *jvm)
{
	return (struct javanames_jvm){ jvm->pid, jvm->serial, jvm->tenant };
}

/* Checks all recently used nmethods of a JVM in one call. Removes the changed ones from the cache. */
static void javacode_see(struct javacode *javacode, struct javacode_jvm *jvm)
{
	uint64_t now = clock_now();
	size_t n = 0, retained, next = 0, to = 0;

	if (javacode->space_cap < jvm->n) {
		javacode->space_cap = jvm->n + jvm->n / 2;
		javacode->space = mem_grow(javacode->space, sizeof(*javacode->space), javacode->space_cap);
	}
	for (size_t i = 0; i < jvm->n; i++)
		if (jvm->fact[i].blob.compiled && jvm->fact[i].used + LATELY_NS >= javacode->now)
			javacode->space[n++] = jvm->fact[i].blob;
	retained = n;
	if (n == 0 || !javacode_took(jvm, jvmreader_check(javacode->reader, jvm->reader, javacode->space, &retained)))
		return;
	for (size_t i = 0; i < jvm->n; i++) {
		struct fact fact = jvm->fact[i];

		if (fact.blob.compiled && fact.used + LATELY_NS >= javacode->now) {
			if (next == retained || javacode->space[next].address != fact.blob.address) {
				jvm->freed = now;
				blobcache_forget_lines(jvm, fact.blob.begin, fact.blob.end);
				continue;
			}
			fact.seen = now;
			next++;
		}
		jvm->blob[to] = jvm->blob[i];
		jvm->fact[to++] = fact;
	}
	jvm->n = to;
	blobcache_publish(jvm);
}

void javacode_begin(struct javacode *javacode, uint64_t horizon, uint64_t now, bool flush)
{
	jvmreader_deadline(javacode->reader, flush ? FLUSH_NS : DEADLINE_NS);
	javacode->now = now;
	for (size_t i = 0; i < javacode->n; i++) {
		if (javacode->jvm[i]->dropped)
			free_code(javacode->jvm[i]);
		javacode->jvm[i]->dropped = false;
	}
	if (javacode->seen >= horizon)
		return;
	javacode->seen = now;
	javacode->turn++; /* another JVM comes first each time, because the time may not suffice for all */
	for (size_t i = 0; i < javacode->n; i++) {
		struct javacode_jvm *jvm = javacode->jvm[(javacode->turn + i) % javacode->n];

		if (jvm->reader && jvm->used + LATELY_NS >= now)
			javacode_see(javacode, jvm);
	}
}

void javacode_tick(struct javacode *javacode, uint64_t now)
{
	for (size_t i = javacode->n; i-- > 0;) {
		struct javacode_jvm *jvm = javacode->jvm[i];
		const struct process *process = processes_find(javacode->processes, jvm->pid);

		jvm->process = NULL;
		if (!process || process->exited || !javacode_is_of(jvm, process) || !has_libjvm(process) ||
		    jvm->used + IDLE_NS < now)
			javacode_let_go(javacode, i);
		else if (now > IDLE_NS)
			blobcache_forget_before(jvm, now - IDLE_NS);
	}
}

/* ---- creation and release ------------------------------------------------------------------------------------ */

struct javacode *javacode_new(void)
{
	static const struct tenant_limits limits = { .stock[TENANT_MEMORY] = TENANT_BYTES_MAX,
						     .total[TENANT_MEMORY] = BYTES_MAX };
	struct javacode *javacode = mem_alloc(sizeof(*javacode), 1);

	javacode->tenants = tenants_new(&limits);
	javacode->reader = jvmreader_new(NULL);
	javacode->names = codenames_new();
	javacode->jvm = mem_alloc(sizeof(struct javacode_jvm *), JVM_COUNT_MAX);
	return javacode;
}

void javacode_start(struct javacode *javacode, const struct processes *processes, struct budgets *budgets)
{
	javacode->processes = processes;
	javacode->budgets = budgets;
	jvmreader_budgets(javacode->reader, budgets ? budgets_tenants(budgets) : NULL);
}

void javacode_free(struct javacode *javacode)
{
	if (!javacode)
		return;
	while (javacode->n)
		javacode_let_go(javacode, javacode->n - 1);
	jvmreader_free(javacode->reader);
	codenames_free(javacode->names);
	tenants_free(javacode->tenants);
	free(javacode->jvm);
	free(javacode->space);
	free(javacode);
}

struct javacode_counts javacode_count(const struct javacode *javacode)
{
	struct javacode_counts counts = javacode->counts;

	counts.jvms = javacode->n;
	counts.helpers = jvmreader_count(javacode->reader);
	for (size_t i = 0; i < javacode->n; i++)
		counts.blobs += javacode->jvm[i]->n;
	return counts;
}
