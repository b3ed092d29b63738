/* SPDX-License-Identifier: Apache-2.0 */
#include "record/java/javabudget.h"

#include "common/arena.h"
#include "common/clocks.h"
#include "common/diag.h"
#include "unwind/x86.h"

#include <stdlib.h>

/* Time in ns for all requests between two readings of the rings. The rings hold the samples of a second, and each
 * reading covers half a second. */
#define DEADLINE_NS (150 * (SECOND_NS / 1000))
#define FLUSH_NS (20 * (SECOND_NS / 1000))
#define LATELY_NS (2 * SECOND_NS) /* code that was used within this time, in ns, is checked before the next samples */
#define IDLE_NS (60 * SECOND_NS)  /* time in ns without use after which code and JVMs are dropped */
#define MISSED_NS (SECOND_NS / 4) /* time in ns until an address without code is looked up again */
#define RETRY_NS SECOND_NS        /* first pause in ns after a JVM could not be read */
#define SOON_NS (SECOND_NS / 10)  /* first pause in ns after a JVM was starting */
#define RETRY_MAX (60 * SECOND_NS)
/* Maximum time in ns from a sample to the first reading of code on its stack. HotSpot may have reused the memory since,
 * and then a call may precede the return address by chance. */
#define FIRST_MAX_NS SECOND_NS
/* code of a JVM that ended is valid for samples up to this time, in ns, after the code's last check */
#define GONE_NS SECOND_NS

/* ---- code blobs -------------------------------------------------------------------------------------------------- */

/* Returns the first line of the set in which the line with this number is cached. */
static struct line *ways_of(const struct javacode_jvm *jvm, uint64_t number)
{
	return &jvm->line[(number ^ number >> 8) % (LINES / WAYS) * WAYS];
}

static const struct line *line_at(const struct javacode_jvm *jvm, uint64_t number)
{
	const struct line *line = jvm->line ? ways_of(jvm, number) : NULL;

	for (unsigned i = 0; line && i < WAYS; i++)
		if (line[i].number == number + 1)
			return &line[i];
	return NULL;
}

static void forget_lines(struct javacode_jvm *jvm, uint64_t begin, uint64_t end)
{
	for (size_t i = 0; jvm->line && i < LINES; i++) {
		uint64_t from = (jvm->line[i].number - 1) * LINE;

		if (jvm->line[i].number && from < end && from + LINE > begin)
			jvm->line[i].number = 0;
	}
}

static void javacode_show(struct javacode_jvm *jvm)
{
	jvm->code.blob = jvm->blob;
	jvm->code.n = jvm->n;
}

static void javacode_move(struct javacode_jvm *jvm, size_t to, size_t from)
{
	memmove(jvm->blob + to, jvm->blob + from, (jvm->n - from) * sizeof(*jvm->blob));
	memmove(jvm->fact + to, jvm->fact + from, (jvm->n - from) * sizeof(*jvm->fact));
	jvm->n = jvm->n + to - from;
}

/* Removes cached blobs that were last used before `since` (ns). */
static void forget_before(struct javacode_jvm *jvm, uint64_t since)
{
	size_t retained = 0;

	for (size_t i = 0; i < jvm->n; i++) {
		if (jvm->fact[i].used < since)
			continue;
		jvm->blob[retained] = jvm->blob[i];
		jvm->fact[retained++] = jvm->fact[i];
	}
	jvm->n = retained;
	javacode_show(jvm);
}

/* Returns the index of the first cached blob that ends after an address. */
static size_t first_after(const struct javacode_jvm *jvm, uint64_t address)
{
	size_t low = 0, high = jvm->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (jvm->blob[mid].end <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Inserts code->n blobs of one block into the cache; they replace cached blobs that overlap them. Returns false if they
 * are inconsistent, or if the budget is exceeded. */
static bool javacode_insert(struct javacode_jvm *jvm, const struct javaunwind_code *code, const struct blob *blob,
			    uint64_t now)
{
	uint64_t begin = code->blob[0].start, end = code->blob[code->n - 1].end;
	size_t at, after;

	for (size_t i = 1; i < code->n; i++)
		/* the JVM changed the code during the read */
		if (code->blob[i].start < code->blob[i - 1].end)
			return false;
	if (jvm->n + code->n > BLOBS_MAX)
		forget_before(jvm, now);
	if (jvm->n + code->n > BLOBS_MAX)
		return false;
	if (!javabudget_make_space(jvm, jvm->n + code->n))
		return false;
	at = first_after(jvm, begin);
	for (after = at; after < jvm->n && jvm->blob[after].start < end; after++)
		jvm->freed = now;
	javacode_move(jvm, at + code->n, after);
	for (size_t i = 0; i < code->n; i++) {
		jvm->blob[at + i] = code->blob[i];
		jvm->fact[at + i] = (struct fact){ *blob, now, now, now, 0 };
	}
	forget_lines(jvm, begin, end);
	javacode_show(jvm);
	return true;
}

/* ---- requests -------------------------------------------------------------------------------------------------- */

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
	javacode_show(jvm);
}

/* Forgets all cached code of this JVM. */
static void javacode_forget(struct javacode_jvm *jvm)
{
	jvm->gone = false;
	jvm->n = 0;
	javacode_show(jvm);
	forget_lines(jvm, 0, UINT64_MAX);
	memset(jvm->missed, 0, sizeof(jvm->missed));
	jvm->code.call_stub_return = jvm->code.continuation_return = 0;
}

/* Stops reading this JVM until a pause has passed. The struct stays, because the caller may hold a pointer to it, until
 * the next javacode_of. The code of a JVM that ended stays in the cache: the rings still hold samples of its last half
 * second, which are walked with this code. */
static void lose_for(struct javacode_jvm *jvm, const struct hotspot_reason *why)
{
	struct javacode *javacode = jvm->owner;

	javacode_print_message(javacode, jvm, why);
	if (is_code_of(why, "over-budget"))
		budgets_over(javacode->budgets, jvm->tenant, OVER_JVMS, 1);
	jvmreader_close(javacode->reader, jvm->reader);
	jvm->reader = NULL;
	if (is_code_of(why, "gone") && jvm->n)
		jvm->gone = true;
	else
		javacode_forget(jvm);
	/* A JVM that is starting, perhaps after an exec, is read again soon. For one that is gone, a record of its end
	 * comes soon, so its pause does not grow. */
	if (is_code_of(why, "starting") || is_code_of(why, "gone"))
		jvm->pause = jvm->gone ? GONE_NS : SOON_NS;
	else
		jvm->pause =
			jvm->pause >= RETRY_NS ? (2 * jvm->pause < RETRY_MAX ? 2 * jvm->pause : RETRY_MAX) : RETRY_NS;
	jvm->retry = javacode->now + jvm->pause;
	jvm->version = jvm->process && jvm->process->maps ? jvm->process->maps->version : 0;
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

static void keep_line(struct javacode_jvm *jvm, uint64_t number, const char *bytes)
{
	struct line *line;
	unsigned way = jvm->turn++ % WAYS;

	if (!jvm->line && !javabudget_hold(jvm, LINES * sizeof(*jvm->line)))
		return;
	if (!jvm->line)
		jvm->line = mem_alloc(sizeof(*jvm->line), LINES);
	line = ways_of(jvm, number);
	for (unsigned i = 0; i < WAYS; i++)
		if (line[i].number == 0 || line[i].number == number + 1)
			way = i;
	if (!line[way].byte && !javabudget_hold(jvm, LINE))
		return;
	if (!line[way].byte)
		line[way].byte = mem_grow(NULL, 1, LINE);
	line[way].number = number + 1;
	memcpy(line[way].byte, bytes, LINE);
}

/* Reads the code block around an address that is in no cached blob, and caches it. Returns JAVACODE_NONE if there is no
 * code; sets *in if the address is in a code heap nevertheless. */
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
		if (found.where == CODECACHE_BLOB && javacode_insert(jvm, &found.code, &found.blob, clock_now())) {
			if (found.bytes)
				keep_line(jvm, address / LINE, found.bytes);
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

/* As javacode_look_up, for a return address. That may be the end of the blob with the call, or the start of the return
 * barrier of virtual threads, so ip - 1 is looked up first. */
static enum javacode_answer look_up_return(struct javacode_jvm *jvm, uint64_t ip, bool *in)
{
	enum javacode_answer answer = javacode_look_up(jvm, ip - 1, in);

	return answer == JAVACODE_NONE && *in ? javacode_look_up(jvm, ip, in) : answer;
}

/* Checks if cached blob i, whose last check was before the sample, still exists. Returns false, and removes it, if it
 * does not. Without an answer of the JVM the blob counts as existing. */
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
		forget_lines(jvm, blob.begin, blob.end);
		javacode_move(jvm, i, i + 1);
		javacode_show(jvm);
		return false;
	}
	jvm->fact[i].seen = clock_now();
	return true;
}

/* Reads the blob of enterSpecial, too, because a step from the return barrier of virtual threads leads into it. */
static void note_special(struct javacode_jvm *jvm)
{
	uint64_t address = jvm->code.continuation_return;
	size_t i = first_after(jvm, address - 1);
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

/* The call instruction before a return address. */
struct call {
	bool direct, indirect; /* both: the bytes can be either */
	uint64_t target;       /* of a direct call */
};

/* Reads the call before the return address ip in blob. Returns false if its code cannot be read. */
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
 * memory. HotSpot may have patched the call since the sample. Its target then may be in a part of the code heaps (240
 * MB by default) that was not mapped at the time of the sample, so a target within 240 MB counts, too. */
static bool is_after_call(struct javacode_jvm *jvm, const struct code_blob *blob, uint64_t ip)
{
	struct call call;

	if (!read_call(jvm, blob, ip, &call))
		return true;
	if (call.direct && (call.target - ip + HEAPS_USUAL < 2 * (uint64_t)HEAPS_USUAL || is_mapped(jvm, call.target)))
		return true;
	return call.indirect;
}

/* Returns true if the call before the return address ip in blob leads to the frame that was found before: to the same
 * nmethod, or to another one of the same method. */
static bool calls_callee(struct javacode_jvm *jvm, const struct code_blob *blob, uint64_t ip)
{
	const struct callee callee = jvm->callee;
	struct call call;
	size_t i;

	if (!callee.end || !read_call(jvm, blob, ip, &call) || !call.direct)
		return false;
	if (call.target - callee.start < callee.end - callee.start)
		return true;
	i = first_after(jvm, call.target);
	return i < jvm->n && jvm->blob[i].start <= call.target && jvm->fact[i].blob.compiled &&
	       jvm->fact[i].blob.method == callee.method;
}

/* Returns true if blob i is the code that existed at the time of the sample. A blob that was found before and after the
 * sample is the right one. HotSpot reuses code memory: so if the blob was first read after the sample, that must be
 * soon after, and the return address must follow a call. If a cached nmethod was found to be freed since the sample, it
 * must follow a call to the frame that was found before. The reuse of memory of other nmethods is not noticed, nor
 * is it for the frame that was interrupted. */
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

/* Returns the answer for a frame in cached blob i. */
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

/* Lists the block of blob i for the names of the window, and returns its id. A block of stubs is split into several
 * blobs, which share one id. */
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

/* Records that a frame of a sample at `time` is in blob i: for the check of its caller, and for the names of the
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
	const struct line *line = line_at(jvm, number);
	const char *bytes;

	if (line || !jvm->reader)
		return line;
	javacode->counts.bytes++;
	if (!javacode_took(jvm, jvmreader_bytes(javacode->reader, jvm->reader, number * LINE, &bytes)) || !bytes)
		return NULL;
	keep_line(jvm, number, bytes);
	return line_at(jvm, number);
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

/* Returns true if an address is in a mapping. Addresses of freed code count, too: the unwinder only decides by them
 * whether a frame ends here; it never searches for another return address. */
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

/* ---- JVMs ---------------------------------------------------------------------------------------------------- */

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
	}
	return jvm->reader || jvm->gone ? jvm : NULL;
}

/* Checks all recently used nmethods of a JVM in one request, and removes those that have changed from the cache. */
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
				forget_lines(jvm, fact.blob.begin, fact.blob.end);
				continue;
			}
			fact.seen = now;
			next++;
		}
		jvm->blob[to] = jvm->blob[i];
		jvm->fact[to++] = fact;
	}
	jvm->n = to;
	javacode_show(jvm);
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
	javacode->turn++; /* another JVM is first each time, because the time may not suffice for all */
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
			forget_before(jvm, now - IDLE_NS);
	}
}

/* ---- life ---------------------------------------------------------------------------------------------------- */

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
