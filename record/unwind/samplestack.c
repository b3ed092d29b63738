/* SPDX-License-Identifier: Apache-2.0 */
#include "record/unwind/samplestack.h"

#include "record/unwind/stackjoin.h"
#include "common/arena.h"
#include "common/diag.h"
#include "record/processes/overbudget.h"
#include "record/perf/samplerecord.h"
#include "runtimes/hotspot/hotspotruntime.h"
#include "unwind/hostframe.h"
#include "unwind/walk.h"

#include <stdlib.h>

/* ---- code at the address of a frame ----------------------------------------------------------------------------- */

struct javacode_jvm *samplestack_jvm(struct sampled *sampled)
{
	if (!sampled->jvm && sampled->stack->javacode)
		sampled->jvm = javacode_of(sampled->stack->javacode, sampled->process);
	return sampled->jvm;
}

/* Fills *code for a frame in JVM code; leaves it unchanged for other code. If the reader of the JVM did not reply in
 * time, the stack ends at this frame: by default compiled code keeps no frame pointers, so frame pointers would skip
 * callers. */
static void samplestack_find_java(struct sampled *sampled, const struct unwind_state *state,
				  const struct mapping *mapping, struct walk_code *code)
{
	enum javacode_answer answer;

	if (!samplestack_jvm(sampled))
		return;
	sampled->blob = (struct code_blob){ 0 };
	answer = javacode_find(sampled->jvm, state, sampled->time, &sampled->blob);
	code->late = answer == JAVACODE_LATE && mapped_file_is_memory(mapping->file);
	code->gone = answer == JAVACODE_GONE || code->late;
	if (answer == JAVACODE_BLOB || code->gone) {
		code->unwinder = runtime_hotspot.unwinder;
		code->runtime = javacode_code(sampled->jvm);
		code->blob = &sampled->blob;
	}
}

/* Returns the description of generated code that depends on the interpreter's eval function, if the address is in such
 * code; otherwise NULL. */
static const struct hostframe *samplestack_hostframe(struct sampled *sampled, uint64_t address,
						     const struct mapping *mapping)
{
	bool memory = mapping && mapped_file_is_memory(mapping->file);

	if (!sampled->looked_up && sampled->stack->interpreters) {
		sampled->hostframe = interpreters_hostframe(sampled->stack->interpreters, sampled->process);
		sampled->looked_up = true;
	}
	if (!sampled->hostframe && mapping && sampled->stack->interpreters)
		interpreters_found_code(sampled->stack->interpreters, sampled->process, mapping->file->path);
	return sampled->hostframe && hostframe_holds(sampled->hostframe, address, memory) ? sampled->hostframe : NULL;
}

/* Fills *code for a frame in generated code that *hostframe describes. Returns false if the unwind table of the host,
 * the eval function on which the code depends, is still being made. */
static bool samplestack_find_hosted(struct sampled *sampled, const struct hostframe *hostframe, struct walk_code *code)
{
	const struct mapping *mapping = hostframe->host ? processes_at(sampled->process, hostframe->host) : NULL;
	enum cfitables_answer answer = mapping ? cfitables_find(sampled->stack->tables, sampled->process, mapping,
								hostframe->host, sampled->now, &code->tables) :
						 CFITABLES_NONE;

	if (hostframe->kind == HOSTFRAME_OWN)
		answer = CFITABLES_READY;
	code->mapped = true;
	code->late = answer == CFITABLES_LATE;
	code->gone = answer != CFITABLES_READY;
	code->unwinder = &unwinder_host_frame;
	code->blob = hostframe;
	return answer != CFITABLES_WAIT;
}

bool samplestack_code_at(struct sampled *sampled, const struct unwind_state *state, struct walk_code *code)
{
	uint64_t address = walk_code_address(state);
	const struct mapping *mapping = processes_at(sampled->process, address);
	const struct hostframe *hostframe = samplestack_hostframe(sampled, address, mapping);

	*code = (struct walk_code){ .unwinder = &unwinder_frame_pointer,
				    .mapped = mapping,
				    .v8 = state->unproven && mapping && walk_is_v8(mapping->file->path) };
	/* without a range, the code may also be that of a JVM in the same process */
	if (hostframe && !hostframe->end && mapping)
		samplestack_find_java(sampled, state, mapping, code);
	if (hostframe)
		return code->runtime || samplestack_find_hosted(sampled, hostframe, code);
	if (!mapping)
		return true;
	switch (cfitables_find(sampled->stack->tables, sampled->process, mapping, address, sampled->now,
			       &code->tables)) {
	case CFITABLES_READY: code->unwinder = &unwinder_cfi; return true;
	case CFITABLES_WAIT: return false;
	case CFITABLES_LATE: code->late = true; return true;
	default: samplestack_find_java(sampled, state, mapping, code); return true;
	}
}

/* Returns the use of the frame pointer by the code of the frame at `state`, for fpcompare.h. C2's stubs, whose prologue
 * is unknown, are classified as code without frame. */
static enum fpcompare_code keeps_pointer(const struct unwind_state *state, const struct walk_code *code)
{
	const struct code_blob *blob = code->blob;
	uint64_t at;

	if (code->unwinder != runtime_hotspot.unwinder)
		return FPCOMPARE_NATIVE;
	at = state->ip - blob->start;
	switch ((enum blob_kind)blob->kind) {
	case BLOB_COMPILED:
	case BLOB_NATIVE:
		return blob->frame >= 16 && at >= blob->nmethod.complete ? FPCOMPARE_KEEPS : FPCOMPARE_NO_FRAME;
	case BLOB_STUB: return blob->stub.push_rbp ? FPCOMPARE_NO_FRAME : FPCOMPARE_KEEPS;
	case BLOB_ENTRY:
		return at > blob->method_entry.push_rax && !state->interrupted ? FPCOMPARE_KEEPS : FPCOMPARE_NO_FRAME;
	case BLOB_BYTECODE: return FPCOMPARE_KEEPS;
	default: return FPCOMPARE_NO_FRAME;
	}
}

/* Returns true if the frame at `state` is a compiled Java method that has called another function: not interrupted, and
 * with a frame. */
static bool is_compiled_caller(const struct unwind_state *state, const struct walk_code *code)
{
	const struct code_blob *blob = code->blob;

	return code->unwinder == runtime_hotspot.unwinder && !code->gone && !state->interrupted &&
	       blob->kind == BLOB_COMPILED && blob->frame >= 16;
}

/* Implements walk.find: fills *code for the frame at `state`. Returns false if the sample may wait for an unwind table
 * of the frame. Records compiled Java frames for java_keeps_pointers. With --unwind=verify also records the frame for
 * the comparison, unless the walk omitted an earlier frame, because frame pointers do not lead there. */
static bool samplestack_find(void *owner, const struct walk *walk, const struct unwind_state *state,
			     struct walk_code *code)
{
	struct sampled *sampled = owner;
	struct fpcompare_walk *verify = sampled->stack->verify;

	if (!samplestack_code_at(sampled, state, code)) {
		if (sampled->wait)
			return false;
		code->late = true;
	}
	if (walk->leaf)
		sampled->compiled = sampled->compiled_before = SIZE_MAX;
	if (is_compiled_caller(state, code)) {
		sampled->compiled_before = sampled->compiled;
		sampled->compiled = walk->n;
	}
	if (verify && walk->leaf)
		verify->n = 0;
	if (verify && !walk->omitted)
		fpcompare_put(verify, state->ip, keeps_pointer(state, code));
	return true;
}

/* Makes the current window name the Method at `address`. Ignores an address that is not a multiple of 8, because no
 * Method is there: it may be that of an instruction outside of all mappings, and the names would take it for a class
 * (PJ_CLASS_BIT). */
static void note_method(const struct sampled *sampled, uint64_t address)
{
	const struct javanames_jvm jvm =
		sampled->jvm ? javacode_owner(sampled->jvm) : (struct javanames_jvm){ .pid = sampled->process->pid };

	if (address % 8 == 0)
		javanames_note(sampled->stack->names, &jvm, address, sampled->time);
}

/* ---- user part of the callchain --------------------------------------------------------------------------------- */

/* Appends the addresses of the walk to out, until out would exceed max bytes. Puts PERF_CONTEXT_USER before an address
 * that is no return address: an interrupted one (caller of a signal frame), or one of a method. The leaf needs no
 * marker, because the caller has written the marker that begins the user part. Returns false if some addresses did not
 * fit. */
static bool samplestack_put_frames(struct sampled *sampled, size_t max, struct text *out)
{
	const struct walk *walk = &sampled->stack->walk;

	for (size_t i = 0; i < walk->n; i++) {
		const struct walk_frame *frame = &walk->frame[i];

		if (out->n + FRAME_SPACE > max)
			return false;
		if (i && frame->exact)
			samplestack_put(out, CONTEXT_USER);
		samplestack_put(out, frame->address);
		if (frame->method)
			note_method(sampled, frame->address);
	}
	return true;
}

/* Appends the context markers that end a stack (PJ_ITEM_UNWINDING). */
static void samplestack_put_end(struct text *out, enum unwind_end end)
{
	static const uint8_t marks_of[] = {
		[UNWIND_ROOT] = 0,
		[UNWIND_MORE] = 1,
		[UNWIND_STACK_CUT] = 1,
		[UNWIND_NO_CODE] = 2,
		[UNWIND_LOOP] = 2,
		[UNWIND_UNKNOWN] = 3,
		[UNWIND_OTHER_STACK] = PJ_MARKS_OTHER_STACK,
		[UNWIND_NO_STACK] = PJ_MARKS_NO_STACK,
	};

	for (unsigned marks = marks_of[end]; marks; marks--)
		samplestack_put(out, CONTEXT_USER);
}

/* ---- comparison of walks with frame pointers -------------------------------------------------------------------- */

enum { SHOWN_FRAMES = 12 };

/* Returns the number of addresses of the callchain fp[0..n) before the first one outside of all mappings. There the
 * kernel followed a value that was no frame pointer. */
static uint64_t in_code(const struct sampled *sampled, const uint64_t *fp, uint64_t n)
{
	uint64_t i = 0;

	while (i < n && processes_at(sampled->process, i ? fp[i] - 1 : fp[i]))
		i++;
	return i;
}

static void show_frame(const struct sampled *sampled, const char *label, uint64_t ip)
{
	struct unwind_state state = { .ip = ip };
	const struct mapping *mapping = processes_at(sampled->process, ip - 1);
	struct code_blob blob;

	if (!mapping)
		warn("  %s %llx", label, (unsigned long long)ip);
	else if (sampled->jvm && javacode_find(sampled->jvm, &state, sampled->time, &blob) == JAVACODE_BLOB)
		warn("  %s %llx code of the JVM at %llx+%llx, kind %u, frame of %u bytes", label,
		     (unsigned long long)ip, (unsigned long long)blob.start, (unsigned long long)(ip - blob.start),
		     blob.kind, blob.frame);
	else
		warn("  %s %llx %.*s+%llx", label, (unsigned long long)ip, (int)mapping->file->path.n,
		     mapping->file->path.p, (unsigned long long)(ip - mapping->start + mapping->offset));
}

/* Prints the stacks of the unwinder (`ours`) and of the kernel (fp[0..n)), from two frames before their first
 * difference, which is at index `at`. */
static void samplestack_show(const struct sampled *sampled, const struct fpcompare_walk *ours, const uint64_t *fp,
			     uint64_t n, size_t at)
{
	size_t from = at > 2 ? at - 2 : 0;

	warn("callers of process %u differ; by unwind tables from frame %zu of %zu, by frame pointers "
	     "of %llu:",
	     sampled->process->pid, from, ours->n, (unsigned long long)n);
	for (size_t i = from; i < ours->n && i < from + SHOWN_FRAMES; i++)
		show_frame(sampled, "tables  ", ours->frame[i].ip);
	for (size_t i = from; i < n && i < from + SHOWN_FRAMES; i++)
		show_frame(sampled, "pointers", fp[i]);
}

/* Compares the walk with fp[0..n), the user part of the kernel's frame-pointer callchain, and counts the result. full:
 * true: the kernel may have truncated the callchain. end: how the walk ended. */
static void samplestack_verify_one(struct sampled *sampled, const uint64_t *fp, uint64_t n, bool full,
				   enum unwind_end end)
{
	struct pj_unwinding *unwinding = &sampled->stack->counts;
	uint64_t *const count[FPCOMPARES] = {
		[FPCOMPARE_SAME] = &unwinding->same,      [FPCOMPARE_ONE_LOST] = &unwinding->one_lost,
		[FPCOMPARE_FEWER] = &unwinding->fewer,    [FPCOMPARE_LOST] = &unwinding->lost_java,
		[FPCOMPARE_SHORT] = &unwinding->short_of, [FPCOMPARE_OTHER] = &unwinding->other,
	};
	struct fpcompare_walk *ours = sampled->stack->verify;
	enum fpcompare fpcompare;
	size_t at;

	n = in_code(sampled, fp, n);
	if (n == 0)
		return;
	ours->complete = end == UNWIND_ROOT;
	ours->cut = end == UNWIND_STACK_CUT || end == UNWIND_MORE;
	fpcompare = fpcompare_of(ours, fp, n, full, &at);
	++*count[fpcompare];
	if (fpcompare >= FPCOMPARE_LOST && sampled->stack->show) {
		sampled->stack->show--;
		samplestack_show(sampled, ours, fp, n, at);
	}
}

/* ---- conversion of samples -------------------------------------------------------------------------------------- */

/* default of kernel.perf_event_max_stack, in addresses */
enum { KERNEL_LIMIT = 127 };

/* User part of the kernel's frame-pointer callchain: ips[0..n). full: true if the kernel may have truncated the
 * callchain, because it has as many addresses as the kernel allows. */
struct by_pointers {
	const uint64_t *ips;
	uint64_t n;
	bool full;
};

/* Returns true if a callchain of the kernel has at least `limit` addresses. The kernel limits its context markers
 * separately (kernel.perf_event_max_contexts_per_stack). */
static bool samplestack_is_full(const struct samplerecord *record, uint64_t limit)
{
	uint64_t addresses = record->nips;

	for (uint64_t i = 0; i < record->nips && addresses >= limit; i++)
		addresses -= record->ips[i] >= CONTEXT_MAX;
	return addresses >= limit;
}

static struct by_pointers samplestack_pointers(const struct samplestack *stack, const struct samplerecord *record)
{
	if (record->kernel == record->nips)
		return (struct by_pointers){ 0 };
	return (struct by_pointers){ record->ips + record->kernel + 1, record->nips - record->kernel - 1,
				     samplestack_is_full(record, stack->kernel_limit) };
}

/* Argument of samplestack_holds: the record of a sample, and the number of its user registers. */
struct held {
	const struct samplerecord *record;
	size_t nregs;
};

enum { NEAR_LEAF = 512 }; /* number of bytes from sp on in which the leaf function stores its variables */

/* Implements interpreters_sample.holds: returns true if a user register, or a word of the stack copy near the leaf,
 * equals `value`. */
static bool samplestack_holds(void *owner, uint64_t value)
{
	const struct held *held = owner;
	struct str stack = held->record->stack;

	for (size_t i = 0; i < held->nregs; i++)
		if (held->record->regs[i] == value)
			return true;
	for (size_t at = 0; at + 8 <= stack.n && at < NEAR_LEAF; at += 8)
		if (load64(stack.p + at) == value)
			return true;
	return false;
}

/* Returns true if the sampled process maps a file of an interpreter. */
static bool samplestack_interprets(const struct sampled *sampled)
{
	return sampled->process && sampled->process->maps && sampled->process->maps->interpreters;
}

/* Merges the frames of the process's interpreter into the walk of the sample. stack_pointer: sp at the sample. */
static void samplestack_add_interpreted(struct sampled *sampled, const struct samplerecord *record,
					uint64_t stack_pointer)
{
	struct samplestack *stack = sampled->stack;
	struct held held = { record, sampled->nregs };
	struct interpreters_sample sample = { .process = sampled->process,
					      .tid = sampled->tid,
					      .cpu = sampled->cpu,
					      .in_kernel = sampled->in_kernel,
					      .time = sampled->time,
					      .until = stack->until,
					      .frames = stack->frames,
					      .registers = record->regs,
					      .nregisters = sampled->nregs,
					      .stack_pointer = stack_pointer,
					      .stack_bytes = record->stack.n,
					      .holds = samplestack_holds,
					      .owner = &held,
					      .max = (uint32_t)stack->walk.max };

	interpreters_merge(stack->interpreters, &sample, &stack->walk, &stack->counts);
}

/* Continues the truncated walk of a stack, by frame pointers, before interpreted frames replace its native ones: the
 * comparison with the kernel's callchain needs the native frames. Sets *more to the addresses to append after the walk,
 * valid until the next call. Returns how the continued stack ends. */
static enum unwind_end samplestack_join_native(struct sampled *sampled, const struct unwind_state *state,
					       const struct by_pointers *pointers, size_t max, struct str *more)
{
	struct text *native = &sampled->stack->native;
	enum unwind_end end = UNWIND_STACK_CUT;
	size_t n;

	native->n = 0;
	*more = (struct str){ 0 };
	if (!samplestack_put_frames(sampled, max, native))
		return UNWIND_MORE;
	n = native->n;
	end = stackjoin_continue(sampled, state->fp_valid, 0, pointers->ips, pointers->n, pointers->full, max, native);
	*more = str_from(text_view(native), n);
	return end;
}

/* Returns the counts by name for the kind of incomplete stack that was counted since `before`, an earlier copy of the
 * counts; NULL if no such stack was counted. */
static struct namecounts *names_since(struct samplestack *stack, const struct pj_unwinding *before)
{
	const struct pj_unwinding *counts = &stack->counts;

	if (counts->no_stack > before->no_stack)
		return &stack->names_of.no_stack;
	if (counts->other_stack > before->other_stack)
		return &stack->names_of.other_stack;
	if (counts->broken > before->broken)
		return &stack->names_of.broken;
	return counts->unknown > before->unknown ? &stack->names_of.unknown : NULL;
}

/* Adds the name of the sampled process to the names of incomplete stacks, if such a stack was counted since `before`,
 * an earlier copy of the counts. */
static void count_name(struct samplestack *stack, const struct process *process, const struct pj_unwinding *before)
{
	struct namecounts *names = names_since(stack, before);
	const struct thread *leader = process && names ? processes_thread(stack->processes, process->pid) : NULL;

	if (leader && leader->named)
		namecounts_add(names, leader->comm);
}

/* Walks the stack from `state` and appends the user part of the resulting callchain to out. Returns false without
 * appending if the sample may wait for unwind tables that are still being made. */
static bool samplestack_walk(struct sampled *sampled, const struct samplerecord *record, struct unwind_state *state,
			     struct text *out)
{
	struct samplestack *stack = sampled->stack;
	struct by_pointers pointers = samplestack_pointers(stack, record);
	struct walk *walk = &stack->walk;
	size_t max = SAMPLERECORD_MAX - record->raw.n - record->after.n, first;
	uint64_t stack_pointer = state->sp;
	struct str more = { 0 };
	struct pj_unwinding before;
	bool joined = false;

	walk->owner = sampled;
	if (!walk_stack(walk, state))
		return false;
	stack->used = walk->end == UNWIND_STACK_CUT || state->sp < state->stack_start ?
			      SIZE_MAX :
			      (size_t)(state->sp - state->stack_start);
	if (stack->interpreters && !stack->until && walk->end == UNWIND_STACK_CUT && pointers.ips &&
	    interpreters_are_native(stack->interpreters, sampled->process)) {
		walk->end = samplestack_join_native(sampled, state, &pointers, max, &more);
		joined = true;
	}
	if (stack->interpreters)
		samplestack_add_interpreted(sampled, record, stack_pointer);
	else
		stack->saw_interpreter |= samplestack_interprets(sampled);
	if (walk->end == UNWIND_MORE)
		/* some frames of the walk were dropped, so frames are missing between the walk and the addresses in
		 * `more` */
		more.n = 0;
	samplestack_put(out, CONTEXT_USER);
	first = out->n;
	if (!samplestack_put_frames(sampled, max, out) || more.n + FRAME_SPACE > max - out->n)
		walk->end = UNWIND_MORE;
	else
		text_str(out, more);
	if (stack->verify && record->stack.n && pointers.ips)
		samplestack_verify_one(sampled, pointers.ips, pointers.n, pointers.full, walk->end);
	if (walk->end == UNWIND_STACK_CUT && pointers.ips && !joined)
		walk->end = stackjoin_continue(sampled, state->fp_valid, first, pointers.ips, pointers.n, pointers.full,
					       max, out);
	else if (walk->end == UNWIND_ROOT && !joined)
		rootframes_learn(&stack->starts, sampled->process, (const void *)(out->p + first),
				 (out->n - first) / 8);
	if (!record->stack.n && walk->end != UNWIND_ROOT && walk->end != UNWIND_UNKNOWN)
		walk->end = UNWIND_NO_STACK;
	samplestack_put_end(out, walk->end);
	before = stack->counts;
	walk_count(walk, record->stack.n, &stack->counts);
	count_name(stack, sampled->process, &before);
	walk_debug(walk, sampled->process ? sampled->process->pid : 0);
	stack->counts.java_late += sampled->jvm && javacode_was_late(sampled->jvm);
	return true;
}

/* Appends the kernel's frame-pointer callchain of 32-bit code, marked as broken because its end cannot be verified. */
static void samplestack_narrow(const struct sampled *sampled, const struct samplerecord *record, struct text *out)
{
	struct samplestack *stack = sampled->stack;
	struct pj_unwinding before = stack->counts;

	text_bytes(out, record->ips + record->kernel, 8 * (record->nips - record->kernel));
	samplestack_put_end(out, UNWIND_NO_CODE);
	stack->counts.stacks++;
	stack->counts.fp++;
	stack->counts.broken++;
	stack->counts.narrow++;
	count_name(stack, sampled->process, &before);
}

bool samplestack_sample(struct samplestack *stack, const struct perf_event_attr *attr, const struct ring_sample *sample,
			bool wait, uint64_t now, struct text *out)
{
	struct sampled sampled = { .stack = stack,
				   .process = processes_find(stack->processes, sample->pid),
				   .time = sample->time,
				   .tid = sample->tid,
				   .cpu = sample->cpu,
				   .in_kernel = (sample->head.misc & MISC_CPUMODE) == PERF_RECORD_MISC_KERNEL,
				   .nregs = (size_t)__builtin_popcountll(attr->sample_regs_user),
				   .now = now,
				   .wait = wait };
	struct unwind_state state;
	struct samplerecord record;
	size_t chain;

	out->n = 0;
	if (!samplerecord_parse(attr, sample, &record)) {
		stack->counts.damaged++;
		return true;
	}
	chain = samplerecord_begin(&record, sample, out);
	text_bytes(out, record.ips, 8 * record.kernel);
	if (record.abi &&
	    unwind_start_on(processor_here(), &state, attr->sample_regs_user, record.regs, record.abi, record.stack)) {
		if (!samplestack_walk(&sampled, &record, &state, out))
			return false;
	} else if (record.kernel + 1 < record.nips) {
		samplestack_narrow(&sampled, &record, out);
	}
	samplerecord_end(&record, chain, out);
	return true;
}

size_t samplestack_used(const struct samplestack *stack)
{
	return stack->used;
}

/* Ensures that the current window has the name of the JVM's frame at `address`: of a code blob, or of an interpreted
 * method (a Method*, outside of all executable mappings). exact: true if `address` is no return address. */
static void note_frame(struct sampled *sampled, uint64_t address, bool exact)
{
	struct unwind_state state = { .ip = address, .interrupted = exact };
	const struct mapping *mapping = processes_at(sampled->process, walk_code_address(&state));
	struct code_blob blob;

	if (mapping && mapped_file_is_memory(mapping->file))
		javacode_find(sampled->jvm, &state, sampled->time, &blob);
	else if (!mapping && exact)
		note_method(sampled, address);
}

void samplestack_note(struct samplestack *stack, uint32_t pid, uint64_t time, const uint64_t *ips, uint64_t nips)
{
	struct sampled sampled = { .stack = stack, .process = processes_find(stack->processes, pid), .time = time };
	uint64_t i = 0;

	if (!sampled.process || !samplestack_jvm(&sampled))
		return;
	while (i < nips && ips[i] != CONTEXT_USER)
		i++;
	for (; i < nips; i++)
		if (ips[i] < CONTEXT_MAX)
			note_frame(&sampled, ips[i], ips[i - 1] == CONTEXT_USER);
}

bool samplestack_skip(struct samplestack *stack, const struct perf_event_attr *attr, const struct ring_sample *sample,
		      struct text *out)
{
	struct samplerecord record;
	size_t chain;

	out->n = 0;
	if (!samplerecord_parse(attr, sample, &record))
		return false;
	chain = samplerecord_begin(&record, sample, out);
	overbudget_put_chain(out);
	stack->counts.stacks++;
	stack->counts.unknown++;
	samplerecord_end(&record, chain, out);
	return true;
}

void samplestack_recount(struct samplestack *stack, const uint64_t *ips, uint64_t nips)
{
	struct pj_unwinding *counts = &stack->counts;
	uint64_t *const by_marks[] = { &counts->complete, &counts->cut,    &counts->broken, &counts->unknown,
				       &counts->unknown,  &counts->broken, &counts->broken };
	_Static_assert(countof(by_marks) == PJ_MARKS_NO_STACK + 1, "one for each number of markers");
	uint64_t marks = 0, others, *reason;
	bool user = false;

	for (uint64_t i = 0; i < nips; i++)
		user |= ips[i] == CONTEXT_USER;
	if (!user) { /* samplestack_sample counts no stacks without user frames */
		counts->stacks++;
		counts->unknown++;
		return;
	}
	while (marks < nips && marks + 1 < countof(by_marks) && ips[nips - 1 - marks] == CONTEXT_USER)
		marks++;
	if (*by_marks[marks])
		--*by_marks[marks];
	reason = marks == PJ_MARKS_OTHER_STACK ? &counts->other_stack : &counts->no_stack;
	if (marks >= PJ_MARKS_OTHER_STACK && *reason)
		--*reason;
	others = counts->broken - counts->no_stack - counts->other_stack;
	if (counts->broken_late > others && others <= counts->broken)
		counts->broken_late = others;
	counts->unknown++;
}

/* ---- creation and settings of a converter ----------------------------------------------------------------------- */

struct samplestack *samplestack_new(const struct processes *processes, struct cfitables *tables,
				    struct javacode *javacode, struct javanames *names)
{
	struct samplestack *stack = mem_alloc(sizeof(*stack), 1);

	stack->processes = processes;
	stack->tables = tables;
	stack->javacode = javacode;
	stack->names = names;
	stack->kernel_limit = KERNEL_LIMIT;
	stack->walk = (struct walk){
		.find = samplestack_find, .max = MAX_FRAMES, .retry_leaf = true, .slot = INTERPRETERS_SLOT
	};
	return stack;
}

void samplestack_limit(struct samplestack *stack, uint32_t max_frames)
{
	if (max_frames)
		stack->walk.max = max_frames;
}

void samplestack_kernel_limit(struct samplestack *stack, uint32_t max_addresses)
{
	if (max_addresses)
		stack->kernel_limit = max_addresses;
}

void samplestack_interpret(struct samplestack *stack, struct interpreters *interpreters)
{
	stack->interpreters = interpreters;
}

bool samplestack_saw_interpreter(const struct samplestack *stack)
{
	return stack->saw_interpreter;
}

void samplestack_off_cpu(struct samplestack *stack, uint64_t until, enum waitcopy_frames frames)
{
	stack->until = until;
	stack->frames = frames;
}

void samplestack_verify(struct samplestack *stack, unsigned show)
{
	stack->verify = mem_alloc(sizeof(*stack->verify), 1);
	stack->show = show;
}

void samplestack_free(struct samplestack *stack)
{
	if (!stack)
		return;
	walk_release(&stack->walk);
	text_free(&stack->native);
	free(stack->verify);
	free(stack);
}

struct pj_unwinding samplestack_counts(const struct samplestack *stack)
{
	struct pj_unwinding unwinding = stack->counts;

	if (stack->javacode) {
		struct javacode_counts java = javacode_count(stack->javacode);

		unwinding.jvms_unread = java.unread - stack->unread;
		unwinding.java_limited = java.limited - stack->limited;
	}
	return unwinding;
}

struct stacks_by_name samplestack_names(const struct samplestack *stack)
{
	return stack->names_of;
}

void samplestack_reset_counts(struct samplestack *stack)
{
	stack->counts = (struct pj_unwinding){ 0 };
	stack->names_of = (struct stacks_by_name){ 0 };
	if (stack->javacode) {
		struct javacode_counts java = javacode_count(stack->javacode);

		stack->unread = java.unread;
		stack->limited = java.limited;
	}
}
