/* SPDX-License-Identifier: Apache-2.0 */
#include "record/unwind/samplestack.h"

#include "record/unwind/fpcompare.h"
#include "common/arena.h"
#include "common/diag.h"
#include "record/processes/overbudget.h"
#include "record/unwind/rootframes.h"
#include "record/perf/samplerecord.h"
#include "runtimes/hotspot/hotspotruntime.h"
#include "unwind/walk.h"

#include <stdlib.h>

/* Bytes of a record that stay free while frames are appended: enough for a frame with its context marker, and for the
 * markers of a truncated or broken stack. */
#define FRAME_SPACE 40u

struct samplestack {
	const struct processes *processes;
	struct cfitables *tables;
	struct javacode *javacode;
	struct javanames *names;
	struct interpreters *interpreters; /* NULL: stacks keep the native frames of interpreters */
	uint64_t until;                    /* samplestack_off_cpu */
	enum waitcopy_frames frames;
	uint64_t unread; /* number of JVMs that could not be read before this window */
	struct rootframes starts;
	struct pj_unwinding counts;
	struct stacks_by_name names_of;
	struct walk walk;
	size_t used;                   /* samplestack_used */
	struct fpcompare_walk *verify; /* the last walk, for the comparison; NULL: walks are not compared */
	struct text native;            /* native callchain of a truncated stack, and what continues it */
	unsigned show;                 /* number of differing walks that are still to be printed */
};

/* A sample whose stack is being walked. */
struct sampled {
	struct samplestack *stack;
	const struct process *process; /* the sampled process; NULL: no record of it has come */
	struct javacode_jvm *jvm;      /* the sampled JVM; NULL: the process is none, or no frame was in its code yet */
	struct code_blob blob;         /* code blob of the current frame, if that is in code of the JVM */
	/* Indexes in the walk of the last compiled Java frame, and of the one before it; SIZE_MAX: there is none. */
	size_t compiled, compiled_before;
	uint64_t time, now;
	uint32_t tid, cpu;
	bool in_kernel; /* sampled in kernel mode */
	size_t nregs;   /* number of registers in the sample */
	bool wait;      /* true: the sample waits for unwind tables that are being made */
};

/* ---- the code of a frame ------------------------------------------------------------------------------------- */

static struct javacode_jvm *samplestack_jvm(struct sampled *sampled)
{
	if (!sampled->jvm && sampled->stack->javacode)
		sampled->jvm = javacode_of(sampled->stack->javacode, sampled->process);
	return sampled->jvm;
}

/* Fills *code for a frame in code of a JVM. If the JVM did not answer in time, the stack ends at this frame: compiled
 * code keeps no frame pointers by default, so they would lead past callers. */
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

/* Fills *code for the frame at state. Returns false if the unwind table of its code is being made. */
static bool samplestack_code_at(struct sampled *sampled, const struct unwind_state *state, struct walk_code *code)
{
	uint64_t address = walk_code_address(state);
	const struct mapping *mapping = processes_at(sampled->process, address);

	*code = (struct walk_code){ .unwinder = &unwinder_frame_pointer,
				    .mapped = mapping,
				    .v8 = state->unproven && mapping && walk_is_v8(mapping->file->path) };
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

/* Returns the class of the frame at state for fpcompare.h. C2's stubs, whose prologue is unknown, count as code that
 * keeps no frame pointer. */
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

/* Returns true if the frame at state is a compiled Java method that called another function. */
static bool is_compiled_caller(const struct unwind_state *state, const struct walk_code *code)
{
	const struct code_blob *blob = code->blob;

	return code->unwinder == runtime_hotspot.unwinder && !code->gone && !state->interrupted &&
	       blob->kind == BLOB_COMPILED && blob->frame >= 16;
}

/* Implements walk.find. Notes compiled Java frames for java_keeps_pointers. For --unwind=verify it also notes the
 * frame, unless the walk omitted a frame before: frame pointers do not lead there. */
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

/* ---- a callchain of the walk --------------------------------------------------------------------------------- */

static void samplestack_put(struct text *out, uint64_t value)
{
	text_bytes(out, &value, sizeof(value));
}

/* Appends the addresses of the walk to out, up to max bytes in all. Puts PERF_CONTEXT_USER before each address that is
 * interrupted (the caller of a signal frame) or that of a method. The leaf needs no marker: the caller wrote the one
 * that begins the user's part. Returns false if addresses did not fit. */
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
			javanames_note(sampled->stack->names, sampled->process->pid, frame->address);
	}
	return true;
}

/* Appends the marks of a stack that is truncated (one), broken (two) or of unknown completeness (three): see
 * PJ_ITEM_UNWINDING. */
static void samplestack_put_end(struct text *out, enum unwind_end end)
{
	unsigned marks = end == UNWIND_ROOT ? 0 : end == UNWIND_UNKNOWN ? 3 : 1;

	if (end == UNWIND_NO_CODE || end == UNWIND_LOOP)
		marks = 2;
	while (marks--)
		samplestack_put(out, CONTEXT_USER);
}

/* ---- continuing a truncated walk by frame pointers ----------------------------------------------------------- */

enum { LIMIT = 127 }; /* default of kernel.perf_event_max_stack, in frames */
enum { EQUAL = 3 };   /* number of consecutive equal addresses that prove that two callchains have the same frames */

static uint64_t samplestack_word(const struct text *out, size_t at)
{
	return load64(out->p + at);
}

/* Returns the number of equal addresses when both callchains are followed towards the leaf, from the walk's last
 * address and from fp[i]. Context markers are in only one of the two callchains, so they never match. */
static uint64_t samplestack_equal(const struct text *out, size_t first, const uint64_t *fp, uint64_t i)
{
	uint64_t n = 0;

	while (n <= i && first + 8 * (n + 1) <= out->n && fp[i - n] == samplestack_word(out, out->n - 8 * (n + 1)))
		n++;
	return n;
}

/* Returns true if the unwind table of the code at this return address marks it as the outermost frame. */
static bool is_root(struct sampled *sampled, uint64_t ip)
{
	struct unwind_state state = { .ip = ip };
	struct walk_frame frame = { .address = ip };
	struct walk_code code;

	return ip && samplestack_code_at(sampled, &state, &code) && !code.gone &&
	       code.unwinder->step(&state, &code, false, &frame) == UNWIND_ROOT;
}

/* Finds the cached root frames that frame pointers missed. Returns the size of out in bytes up to the address that they
 * follow; 0 if they are unknown. */
static size_t find_start(const struct sampled *sampled, size_t from, const struct text *out,
			 const struct root_frames **start)
{
	for (size_t at = out->n; at > from && sampled->process; at -= 8) {
		*start = rootframes_find(&sampled->stack->starts, sampled->process->pid, load64(out->p + at - 8));
		if (*start)
			return at;
	}
	return 0;
}

/* Returns true if all addresses of out from offset `from` on are in mappings. If a register that the kernel took for a
 * frame pointer was none, it may lead to any address. */
static bool all_mapped(const struct sampled *sampled, size_t from, const struct text *out)
{
	for (size_t at = from; at < out->n; at += 8)
		if (!processes_at(sampled->process, load64(out->p + at) - 1))
			return false;
	return true;
}

/* Returns true if one of these addresses, which are in mappings, is in code that is not known to keep frame pointers:
 * code without a file, of a process without the code of HotSpot or V8. */
static bool any_unproven(const struct sampled *sampled, size_t from, const struct text *out)
{
	bool generated = false, v8 = sampled->stack->walk.v8;

	for (size_t at = from; at < out->n; at += 8) {
		const struct mapping *mapping = processes_at(sampled->process, load64(out->p + at) - 1);

		generated |= mapped_file_is_memory(mapping->file);
		v8 |= walk_is_v8(mapping->file->path);
	}
	return !v8 && (sampled->stack->walk.unproven || (generated && !sampled->jvm));
}

/* Appends the root frames: libc's code around main and thread functions keeps no frame pointer, so most callchains end
 * below it, or in a word that is no return address. */
static enum unwind_end join_start(struct sampled *sampled, size_t from, struct text *out)
{
	const struct root_frames *start;
	size_t at;

	if (is_root(sampled, samplestack_word(out, out->n - 8)))
		return UNWIND_ROOT;
	at = find_start(sampled, from, out, &start);
	if (!at)
		return UNWIND_STACK_CUT;
	out->n = at;
	for (size_t i = 0; i < ROOTFRAMES_FRAMES && start->outer[i]; i++)
		samplestack_put(out, start->outer[i]);
	if (is_root(sampled, samplestack_word(out, out->n - 8)))
		return UNWIND_ROOT;
	/* The cached frames do not end in a root frame of this program, so they may be from before an exec: removes
	 * them, and the stack remains truncated. */
	out->n = at;
	return UNWIND_STACK_CUT;
}

/* Returns the index of the walk's last address in fp[0..n); n if it is not found. In a recursion several places match;
 * the right one has the most equal addresses. Fewer than EQUAL are enough if they reach the leaf and fp_valid is true:
 * then the unwind table confirms that the frame pointer leads to the next caller. */
static uint64_t samplestack_find_last(const struct text *out, size_t first, const uint64_t *fp, uint64_t n,
				      bool fp_valid)
{
	uint64_t best = n, max = EQUAL - 1, walked = (out->n - first) / 8;

	if (fp_valid && walked && walked <= n && samplestack_equal(out, first, fp, walked - 1) == walked)
		return walked - 1;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t same = samplestack_equal(out, first, fp, i);

		if (same > max) {
			best = i;
			max = same;
		}
	}
	return best;
}

/* Returns true if the callchain fp[0..n) passes generated code from fp[i] on. */
static bool any_generated(const struct sampled *sampled, const uint64_t *fp, uint64_t i, uint64_t n)
{
	for (; i < n && fp[i] <= INT64_MAX; i++) {
		const struct mapping *mapping = processes_at(sampled->process, fp[i] - 1);

		if (mapping && mapped_file_is_memory(mapping->file))
			return true;
	}
	return false;
}

/* Returns true if the compiled code of the sampled JVM keeps frame pointers (-XX:+PreserveFramePointer): if this has
 * been seen once in the JVM, or if it is seen in this stack. Otherwise frame pointers lead past compiled methods. The
 * evidence is a compiled method whose caller by its code blob is its caller by frame pointers, too. `same`: number of
 * equal addresses of both callchains at the end of the walk. */
static bool java_keeps_pointers(struct sampled *sampled, uint64_t same)
{
	size_t n = sampled->stack->walk.n;
	size_t last = sampled->compiled + 1 < n ? sampled->compiled : sampled->compiled_before;

	if (last != SIZE_MAX && last + same >= n)
		javacode_note_frame_pointers(sampled->jvm);
	return javacode_keeps_frame_pointers(sampled->jvm);
}

/* Continues a walk whose stack goes on above the copy with the kernel's callers by frame pointers, if both callchains
 * have the same callers up to there, and if Java code on the way keeps frame pointers. fp[0..n) is the user's part of
 * the kernel's callchain; `full`: the kernel stopped at its limit. Returns UNWIND_ROOT if the result is complete,
 * UNWIND_UNKNOWN if that is unknown. */
static enum unwind_end samplestack_join(struct sampled *sampled, bool fp_valid, size_t first, const uint64_t *fp,
					uint64_t n, bool full, size_t max, struct text *out)
{
	uint64_t last = samplestack_find_last(out, first, fp, n, fp_valid);
	enum unwind_end end = UNWIND_STACK_CUT;
	size_t from = out->n;

	if (last == n)
		return end;
	if (any_generated(sampled, fp, last, n) && samplestack_jvm(sampled) &&
	    !java_keeps_pointers(sampled, samplestack_equal(out, first, fp, last)))
		return end;
	sampled->stack->counts.joined++;
	for (uint64_t i = last + 1; i < n && fp[i] <= INT64_MAX && out->n + FRAME_SPACE <= max; i++)
		samplestack_put(out, fp[i]);
	if (!full)
		end = join_start(sampled, from, out);
	if (!all_mapped(sampled, from, out)) {
		out->n = from;
		end = UNWIND_STACK_CUT;
	} else if (end == UNWIND_ROOT && any_unproven(sampled, from, out)) {
		end = UNWIND_UNKNOWN;
	}
	sampled->stack->counts.lost += end == UNWIND_STACK_CUT;
	return end;
}

/* ---- comparing with frame pointers --------------------------------------------------------------------------- */

enum { SHOWN_FRAMES = 12 };

/* Returns the number of addresses in fp[0..n) before the first one outside of all mappings. There the kernel took
 * another value for a frame pointer. */
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

/* Prints the walk and the frame-pointer callchain, from two frames before the first difference. */
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

/* Compares the walk with fp[0..n), the user's part of the kernel's frame-pointer callchain, and counts the result. */
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

/* ---- samples ------------------------------------------------------------------------------------------------- */

/* The user's part of the kernel's frame-pointer callchain. full: the kernel truncated the callchain at its limit. */
struct by_pointers {
	const uint64_t *ips;
	uint64_t n;
	bool full;
};

static struct by_pointers samplestack_pointers(const struct samplerecord *record)
{
	if (record->kernel == record->nips)
		return (struct by_pointers){ 0 };
	return (struct by_pointers){ record->ips + record->kernel + 1, record->nips - record->kernel - 1,
				     record->nips >= LIMIT };
}

/* Registers and stack copy of a sample, for samplestack_holds. */
struct held {
	const struct samplerecord *record;
	size_t nregs;
};

enum { NEAR_LEAF = 512 }; /* bytes of the stack in which the leaf stores its variables */

/* Implements interpreters_sample.holds. */
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

/* Puts the interpreted frames of the sample into its walk. */
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

/* Continues the truncated walk of a stack whose native frames are to be replaced: the comparison with the kernel's
 * callchain needs them. Sets *more to the addresses that follow, valid until the next call. */
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
	end = samplestack_join(sampled, state->fp_valid, 0, pointers->ips, pointers->n, pointers->full, max, native);
	*more = str_from(text_view(native), n);
	return end;
}

/* Counts the sampled process if its stack became one of the broken ones, or of those of unknown completeness, since
 * `before`. */
static void count_name(struct samplestack *stack, const struct process *process, const struct pj_unwinding *before)
{
	bool broken = stack->counts.broken > before->broken, unknown = stack->counts.unknown > before->unknown;
	const struct thread *leader =
		process && (broken || unknown) ? processes_thread(stack->processes, process->pid) : NULL;

	if (leader && leader->named)
		namecounts_add(broken ? &stack->names_of.broken : &stack->names_of.unknown, leader->comm);
}

/* Walks the stack from state and appends the user's part of the resulting callchain to out. Returns false if unwind
 * tables are being made. */
static bool samplestack_walk(struct sampled *sampled, const struct samplerecord *record, struct unwind_state *state,
			     struct text *out)
{
	struct samplestack *stack = sampled->stack;
	struct by_pointers pointers = samplestack_pointers(record);
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
	if (walk->end == UNWIND_MORE)
		more.n = 0; /* frames between these and the callers are left out */
	samplestack_put(out, CONTEXT_USER);
	first = out->n;
	if (!samplestack_put_frames(sampled, max, out) || more.n + FRAME_SPACE > max - out->n)
		walk->end = UNWIND_MORE;
	else
		text_str(out, more);
	if (stack->verify && record->stack.n && pointers.ips)
		samplestack_verify_one(sampled, pointers.ips, pointers.n, pointers.full, walk->end);
	if (walk->end == UNWIND_STACK_CUT && pointers.ips && !joined)
		walk->end = samplestack_join(sampled, state->fp_valid, first, pointers.ips, pointers.n, pointers.full,
					     max, out);
	else if (walk->end == UNWIND_ROOT && !joined)
		rootframes_learn(&stack->starts, sampled->process, (const void *)(out->p + first),
				 (out->n - first) / 8);
	if (!record->stack.n && walk->end != UNWIND_ROOT && walk->end != UNWIND_UNKNOWN)
		walk->end = UNWIND_NO_CODE;
	samplestack_put_end(out, walk->end);
	before = stack->counts;
	walk_count(walk, record->stack.n, &stack->counts);
	count_name(stack, sampled->process, &before);
	walk_debug(walk, sampled->process ? sampled->process->pid : 0);
	stack->counts.java_late += sampled->jvm && javacode_was_late(sampled->jvm);
	return true;
}

/* Appends the kernel's callchain of 32-bit code, marked as broken, because its end cannot be verified. */
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

/* Notes a frame: code of the JVM, or else an interpreted method, whose address is in no executable mapping. */
static void note_frame(struct sampled *sampled, uint64_t address, bool exact)
{
	struct unwind_state state = { .ip = address, .interrupted = exact };
	const struct mapping *mapping = processes_at(sampled->process, walk_code_address(&state));
	struct code_blob blob;

	if (mapping && mapped_file_is_memory(mapping->file))
		javacode_find(sampled->jvm, &state, sampled->time, &blob);
	else if (!mapping && exact)
		javanames_note(sampled->stack->names, sampled->process->pid, address);
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
	uint64_t *const by_marks[] = { &counts->complete, &counts->cut, &counts->broken, &counts->unknown };
	uint64_t marks = 0;
	bool user = false;

	for (uint64_t i = 0; i < nips; i++)
		user |= ips[i] == CONTEXT_USER;
	if (!user) { /* samplestack_sample does not count samples without user frames */
		counts->stacks++;
		counts->unknown++;
		return;
	}
	while (marks < nips && marks + 1 < countof(by_marks) && ips[nips - 1 - marks] == CONTEXT_USER)
		marks++;
	if (*by_marks[marks])
		--*by_marks[marks];
	counts->unknown++;
}

/* ---- life ---------------------------------------------------------------------------------------------------- */

struct samplestack *samplestack_new(const struct processes *processes, struct cfitables *tables,
				    struct javacode *javacode, struct javanames *names)
{
	struct samplestack *stack = mem_alloc(sizeof(*stack), 1);

	stack->processes = processes;
	stack->tables = tables;
	stack->javacode = javacode;
	stack->names = names;
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

void samplestack_interpret(struct samplestack *stack, struct interpreters *interpreters)
{
	stack->interpreters = interpreters;
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

	if (stack->javacode)
		unwinding.jvms_unread = javacode_count(stack->javacode).unread - stack->unread;
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
	if (stack->javacode)
		stack->unread = javacode_count(stack->javacode).unread;
}
