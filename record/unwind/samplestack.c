/* SPDX-License-Identifier: Apache-2.0 */
#include "record/unwind/samplestack.h"

#include "record/unwind/fpcompare.h"
#include "common/arena.h"
#include "common/diag.h"
#include "record/unwind/rootframes.h"

#include <stdlib.h>

#define RECORD_MAX (PERF_RECORD_MAX & ~7u)
#define FRAME_SPACE 40u /* bytes that stay free for what a frame, or the end of a walk, adds at most */

struct samplestack {
	const struct processes *processes;
	struct cfitables *tables;
	struct javacode *javacode;
	struct javanames *names;
	uint64_t unread; /* JVMs, before this window */
	uint32_t max_frames;
	struct rootframes starts;
	struct pj_unwinding counts;
	struct fpcompare_walk *verify; /* NULL: walks are not compared; else the last one */
	unsigned show;                 /* so many more that differ are to be shown */
};

/* One sample. */
struct walk {
	struct samplestack *u;
	const struct process *process; /* NULL: not known */
	struct javacode_jvm *jvm;      /* NULL: none, or not met yet */
	uint64_t time, now;
	bool wait; /* for tables */
};

/* ---- a record ------------------------------------------------------------------------------------------------ */

/* Where things are in a SAMPLE. */
struct parts {
	const char *chain; /* nips; before it is what stays */
	const uint64_t *ips;
	uint64_t nips;
	struct str raw, after; /* what stays */
	uint64_t abi;
	const uint64_t *regs;
	struct str stack;
};

static bool samplestack_take(struct str *string, uint64_t n, struct str *part)
{
	if (n > string->n)
		return false;
	*part = str_head(*string, (size_t)n);
	*string = str_from(*string, (size_t)n);
	return true;
}

static bool take_u64(struct str *string, uint64_t *v)
{
	struct str part;

	if (!samplestack_take(string, 8, &part))
		return false;
	*v = load64(part.p);
	return true;
}

static bool samplestack_take_regs(struct str *string, uint64_t mask, struct parts *parts)
{
	struct str part = { 0 };

	if (!take_u64(string, &parts->abi) ||
	    (parts->abi && !samplestack_take(string, 8 * (uint64_t)__builtin_popcountll(mask), &part)))
		return false;
	parts->regs = (const void *)part.p;
	return true;
}

/* So many bytes were reserved, and so many of them were copied. */
static bool samplestack_take_stack(struct str *string, struct parts *parts)
{
	uint64_t size, copied;

	if (!take_u64(string, &size) ||
	    (size && (size % 8 || !samplestack_take(string, size, &parts->stack) || !take_u64(string, &copied))))
		return false;
	if (size)
		parts->stack = str_head(parts->stack, copied < size ? (size_t)copied : (size_t)size);
	return true;
}

static bool take_apart(const struct perf_event_attr *attr, const struct ring_sample *sample, struct parts *parts)
{
	struct str string = { (const char *)sample, sample->head.size }, part;

	*parts = (struct parts){ 0 };
	if (!samplestack_take(&string,
			      attr->sample_type & PERF_SAMPLE_PERIOD ? offsetof(struct ring_sample, nips) :
								       offsetof(struct ring_sample, period),
			      &part))
		return false;
	parts->chain = string.p;
	if (!take_u64(&string, &parts->nips) || parts->nips > string.n / 8 ||
	    !samplestack_take(&string, 8 * parts->nips, &part))
		return false;
	parts->ips = (const void *)part.p;
	parts->raw.p = string.p;
	if (attr->sample_type & PERF_SAMPLE_RAW &&
	    (string.n < 4 ||
	     !samplestack_take(&string, ((uint64_t)load32(string.p) + 4 + 7) & ~UINT64_C(7), &parts->raw)))
		return false;
	if (!samplestack_take_regs(&string, attr->sample_regs_user, parts) || !samplestack_take_stack(&string, parts))
		return false;
	parts->after = string;
	return true;
}

/* ---- steps --------------------------------------------------------------------------------------------------- */

/* What kind of code an address is in says how to get to its caller: one function each. What knows more of a kind of
 * code than its frame pointer belongs here. */
enum kind {
	CODE_FP, /* made at run time, or of a file without tables: frame pointers */
	CODE_OF_FILE,
	CODE_JAVA, /* of a JVM that can be read */
	KINDS
};

struct code {
	enum kind kind;
	struct unwind_code tables;
	struct javacode_jvm *jvm;
	struct code_blob blob;
	bool mapped;
	bool late; /* there may be tables, but not now */
	bool gone; /* it was replaced */
};

/* What is written of a frame. */
struct frame {
	uint64_t address;
	bool marked;  /* it is no return address */
	bool method;  /* but a Method* */
	bool nothing; /* no frame */
};

static enum unwind_end samplestack_step_fp(struct unwind_state *state, const struct code *code, bool leaf,
					   struct frame *frame)
{
	(void)code;
	(void)frame;
	return unwind_step(state, (struct unwind_code){ 0 }, leaf);
}

static enum unwind_end step_of_file(struct unwind_state *state, const struct code *code, bool leaf, struct frame *frame)
{
	enum unwind_end end = unwind_step(state, code->tables, leaf);

	frame->marked = !leaf && end == UNWIND_MORE && state->interrupted; /* a signal frame */
	return end;
}

static enum unwind_end samplestack_step_java(struct unwind_state *state, const struct code *code, bool leaf,
					     struct frame *frame)
{
	struct javaunwind_frame j;
	enum unwind_end end;

	(void)leaf;
	if (code->gone)
		return UNWIND_NO_CODE;
	end = javaunwind_step(state, javacode_code(code->jvm), &code->blob, &j);
	*frame = (struct frame){ j.address, j.method, j.method, j.thawed };
	return end;
}

static enum unwind_end (*const step[KINDS])(struct unwind_state *state, const struct code *code, bool leaf,
					    struct frame *frame) = {
	[CODE_FP] = samplestack_step_fp,
	[CODE_OF_FILE] = step_of_file,
	[CODE_JAVA] = samplestack_step_java,
};

static void samplestack_find_java(struct walk *walk, const struct unwind_state *state, struct code *code)
{
	enum javacode_answer answer;

	if (!walk->jvm && walk->u->javacode)
		walk->jvm = javacode_of(walk->u->javacode, walk->process);
	if (!walk->jvm)
		return;
	code->jvm = walk->jvm;
	answer = javacode_find(walk->jvm, state, walk->time, &code->blob);
	code->gone = answer == JAVACODE_GONE;
	if (answer == JAVACODE_BLOB || code->gone)
		code->kind = CODE_JAVA;
}

/* Where state is. False: it is not known yet. */
static bool samplestack_code_at(struct walk *walk, const struct unwind_state *state, struct code *code)
{
	const struct process *process = walk->process;
	uint64_t address = state->interrupted || state->ip == 0 ? state->ip : state->ip - 1;
	const struct mapping *mapping = processes_at(process, address);

	*code = (struct code){ 0 };
	if (!mapping)
		return true;
	code->mapped = true;
	switch (cfitables_find(walk->u->tables, process, mapping, address, walk->now, &code->tables)) {
	case CFITABLES_READY: code->kind = CODE_OF_FILE; return true;
	case CFITABLES_WAIT: return false;
	case CFITABLES_LATE: code->late = true; return true;
	default: samplestack_find_java(walk, state, code); return true;
	}
}

/* ---- walking ------------------------------------------------------------------------------------------------- */

struct walked {
	enum unwind_end end; /* MORE: deeper than a record can be */
	bool fp, late;       /* code without tables was met, or code whose tables are late */
	bool java;
	struct code last; /* where it ended */
};

static void samplestack_put(struct text *out, uint64_t value)
{
	text_bytes(out, &value, sizeof(value));
}

/* A mark is before what is no return address, once; the leaf is behind one anyway. */
static void samplestack_put_frame(struct text *out, const struct frame *frame, bool marked)
{
	if (frame->nothing)
		return;
	if (frame->marked && !marked)
		samplestack_put(out, CONTEXT_USER);
	samplestack_put(out, frame->address);
}

/* Whether frame pointers can be expected behind it: stubs of C2, of which no prologue is known, have none. */
static enum fpcompare_code keeps_pointer(const struct unwind_state *state, const struct code *code)
{
	const struct code_blob *blob = &code->blob;
	bool made = blob->complete != BLOB_NEVER && state->ip - blob->start > blob->complete;

	if (code->kind != CODE_JAVA)
		return FPCOMPARE_NATIVE;
	switch ((enum blob_kind)blob->kind) {
	case BLOB_COMPILED:
	case BLOB_NATIVE:
		return blob->frame >= 16 && (made || state->ip - blob->start == blob->complete) ? FPCOMPARE_KEEPS :
												  FPCOMPARE_BARE;
	case BLOB_STUB: return blob->entry ? FPCOMPARE_BARE : FPCOMPARE_KEEPS;
	case BLOB_ENTRY: return made && !state->interrupted ? FPCOMPARE_KEEPS : FPCOMPARE_BARE;
	case BLOB_BYTECODE: return FPCOMPARE_KEEPS;
	default: return FPCOMPARE_BARE;
	}
}

/* Appends addresses to out, up to `most` bytes of it. False: something is not known yet. */
static bool samplestack_walk(struct walk *walk, struct unwind_state *state, size_t max, struct text *out,
			     struct walked *walked)
{
	bool leaf = true, thawed = false;

	*walked = (struct walked){ .end = UNWIND_MORE };
	if (walk->u->verify)
		walk->u->verify->n = 0;
	for (; walked->end == UNWIND_MORE && out->n + FRAME_SPACE <= max; leaf = false) {
		struct frame frame = { .address = state->ip };
		bool marked = state->interrupted;
		struct code code;

		if (!leaf && marked)
			samplestack_put(out, CONTEXT_USER);
		if (!samplestack_code_at(walk, state, &code)) {
			if (walk->wait)
				return false;
			code.late = true;
		}
		if (walk->u->verify && !thawed)
			fpcompare_put(walk->u->verify, state->ip, keeps_pointer(state, &code));
		walked->fp |= code.kind == CODE_FP;
		walked->java |= code.kind == CODE_JAVA;
		walked->late |= code.late;
		walked->end = step[code.kind](state, &code, leaf, &frame);
		samplestack_put_frame(out, &frame, marked);
		thawed = frame.nothing; /* the next one is not where frame pointers lead */
		if (frame.method)
			javanames_note(walk->u->names, walk->process->pid, frame.address);
		if (walked->end == UNWIND_MORE &&
		    state->ip > INT64_MAX) /* no user's; and a mark could be taken for one */
			walked->end = UNWIND_NO_CODE;
		walked->last = code;
	}
	return true;
}

/* As walk; code of files that their tables leave out is taken for a leaf, if so the stack is whole, and else it is not.
 */
static bool walk_complete(struct walk *walk, struct unwind_state *state, size_t max, struct text *out,
			  struct walked *walked)
{
	struct unwind_state start = *state;
	size_t first = out->n;

	if (!samplestack_walk(walk, state, max, out, walked))
		return false;
	if (walked->end == UNWIND_ROOT || !state->no_fde)
		return true;
	out->n = first;
	*state = start;
	state->assume_leaf = true;
	if (!samplestack_walk(walk, state, max, out, walked))
		return false;
	if (walked->end == UNWIND_ROOT && !walked->fp)
		return true;
	out->n = first;
	*state = start;
	return samplestack_walk(walk, state, max, out, walked);
}

/* See PJ_ITEM_UNWINDING. */
static void samplestack_put_end(struct text *out, enum unwind_end end)
{
	if (end != UNWIND_ROOT)
		samplestack_put(out, CONTEXT_USER);
	if (end == UNWIND_NO_CODE || end == UNWIND_LOOP)
		samplestack_put(out, CONTEXT_USER);
}

/* ---- frame pointers, too ----------------------------------------------------------------------------------------- */

enum { LIMIT = 127 }; /* kernel.perf_event_max_stack, unless it was raised */
enum { EQUAL = 3 };   /* addresses, one behind the other, that make sure that two callchains met */

static uint64_t samplestack_word(const struct text *out, size_t at)
{
	return load64(out->p + at);
}

/* How many addresses of the walk, from its last one inwards, are those of fp from fp[i] on. Marks are in no callchain
 * of both. */
static uint64_t samplestack_equal(const struct text *out, size_t first, const uint64_t *fp, uint64_t i)
{
	uint64_t n = 0;

	while (n <= i && first + 8 * (n + 1) <= out->n && fp[i - n] == samplestack_word(out, out->n - 8 * (n + 1)))
		n++;
	return n;
}

/* Does nobody call the code at this return address, by its table? */
static bool is_root(struct walk *walk, uint64_t ip)
{
	struct unwind_state state = { .ip = ip };
	struct frame frame;
	struct code code;

	return ip && samplestack_code_at(walk, &state, &code) &&
	       step[code.kind](&state, &code, false, &frame) == UNWIND_ROOT;
}

/* Those that frame pointers left out at the outer end; bytes of out that stay, or 0: they are not known. */
static size_t find_start(const struct walk *walk, size_t from, const struct text *out, const struct root_frames **start)
{
	for (size_t at = out->n; at > from && walk->process; at -= 8) {
		*start = rootframes_find(&walk->u->starts, walk->process->pid, load64(out->p + at - 8));
		if (*start)
			return at;
	}
	return 0;
}

/* Has all that was put code at it? Registers that were taken for a frame pointer, and were none, lead anywhere. */
static bool all_mapped(const struct walk *walk, size_t from, const struct text *out)
{
	for (size_t at = from; at < out->n; at += 8)
		if (!processes_at(walk->process, load64(out->p + at) - 1))
			return false;
	return true;
}

/* libc's code around main and thread functions has no frame pointer: mostly the callchain ends there, or in something
 * that is none. */
static enum unwind_end join_start(struct walk *walk, size_t from, struct text *out)
{
	const struct root_frames *start;
	size_t at;

	if (is_root(walk, samplestack_word(out, out->n - 8)))
		return UNWIND_ROOT;
	at = find_start(walk, from, out, &start);
	if (!at)
		return UNWIND_STACK_CUT;
	out->n = at;
	for (size_t i = 0; i < ROOTFRAMES_FRAMES && start->outer[i]; i++)
		samplestack_put(out, start->outer[i]);
	if (is_root(walk, samplestack_word(out, out->n - 8)))
		return UNWIND_ROOT;
	out->n = at; /* of the program before an exec, perhaps */
	return UNWIND_STACK_CUT;
}

/* Where the last address of the walk is in fp[0..n): where most callers are the same, as in a recursion only the right
 * one has the innermost, too; n: nowhere. Few are enough from the leaf on, where the table says, too, that the frame
 * pointer has the next. */
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

/* The walk's stack goes on above the copy. Where frame pointers came the same way, they say how. fp[0..n): the user's
 * part of the kernel's callchain; full: the kernel had no room for more. */
static enum unwind_end samplestack_join(struct walk *walk, bool fp_valid, size_t first, const uint64_t *fp, uint64_t n,
					bool full, size_t max, struct text *out)
{
	uint64_t last = samplestack_find_last(out, first, fp, n, fp_valid);
	enum unwind_end end = UNWIND_STACK_CUT;
	size_t from = out->n;

	if (last == n)
		return end;
	walk->u->counts.joined++;
	for (uint64_t i = last + 1; i < n && fp[i] <= INT64_MAX && out->n + FRAME_SPACE <= max; i++)
		samplestack_put(out, fp[i]);
	if (!full)
		end = join_start(walk, from, out);
	if (!all_mapped(walk, from, out)) {
		out->n = from;
		end = UNWIND_STACK_CUT;
	}
	walk->u->counts.lost += end != UNWIND_ROOT;
	return end;
}

/* ---- compared with frame pointers
 * ------------------------------------------------------------------------------------ */

enum { SHOWN_FRAMES = 12 };

/* Registers that were taken for a frame pointer lead to what is no code: frame pointers end before. */
static uint64_t in_code(const struct walk *walk, const uint64_t *fp, uint64_t n)
{
	uint64_t i = 0;

	while (i < n && processes_at(walk->process, i ? fp[i] - 1 : fp[i]))
		i++;
	return i;
}

static void show_frame(const struct walk *walk, const char *who, uint64_t ip)
{
	struct unwind_state state = { .ip = ip };
	const struct mapping *mapping = processes_at(walk->process, ip - 1);
	struct code_blob blob;

	if (!mapping)
		warn("  %s %llx", who, (unsigned long long)ip);
	else if (walk->jvm && javacode_find(walk->jvm, &state, walk->time, &blob) == JAVACODE_BLOB)
		warn("  %s %llx code of the JVM at %llx+%llx, kind %u, frame of %u bytes", who, (unsigned long long)ip,
		     (unsigned long long)blob.start, (unsigned long long)(ip - blob.start), blob.kind, blob.frame);
	else
		warn("  %s %llx %.*s+%llx", who, (unsigned long long)ip, (int)mapping->file->path.n,
		     mapping->file->path.p, (unsigned long long)(ip - mapping->start + mapping->offset));
}

/* Both, from two frames before they part. */
static void samplestack_show(const struct walk *walk, const struct fpcompare_walk *ours, const uint64_t *fp, uint64_t n,
			     size_t at)
{
	size_t from = at > 2 ? at - 2 : 0;

	warn("callers of process %u differ; by unwind tables from frame %zu of %zu, by frame pointers "
	     "of %llu:",
	     walk->process->pid, from, ours->n, (unsigned long long)n);
	for (size_t i = from; i < ours->n && i < from + SHOWN_FRAMES; i++)
		show_frame(walk, "tables  ", ours->frame[i].ip);
	for (size_t i = from; i < n && i < from + SHOWN_FRAMES; i++)
		show_frame(walk, "pointers", fp[i]);
}

/* fp[0..n): the user's part of the kernel's callchain. */
static void samplestack_verify_one(struct walk *walk, const uint64_t *fp, uint64_t n, bool full, enum unwind_end end)
{
	struct pj_unwinding *unwinding = &walk->u->counts;
	uint64_t *const count[FPCOMPARES] = {
		[FPCOMPARE_SAME] = &unwinding->same,      [FPCOMPARE_ONE_LOST] = &unwinding->one_lost,
		[FPCOMPARE_FEWER] = &unwinding->fewer,    [FPCOMPARE_LOST] = &unwinding->lost_java,
		[FPCOMPARE_SHORT] = &unwinding->short_of, [FPCOMPARE_OTHER] = &unwinding->other,
	};
	struct fpcompare_walk *ours = walk->u->verify;
	enum fpcompare fpcompare;
	size_t at;

	n = in_code(walk, fp, n);
	if (n == 0)
		return;
	ours->complete = end == UNWIND_ROOT;
	ours->cut = end == UNWIND_STACK_CUT || end == UNWIND_MORE;
	fpcompare = fpcompare_of(ours, fp, n, full, &at);
	++*count[fpcompare];
	if (fpcompare >= FPCOMPARE_LOST && walk->u->show) {
		walk->u->show--;
		samplestack_show(walk, ours, fp, n, at);
	}
}

/* ---- samples ------------------------------------------------------------------------------------------------- */

static uint64_t *samplestack_reason(struct pj_unwinding *unwinding, const struct walked *walked)
{
	if (walked->end == UNWIND_LOOP)
		return &unwinding->astray;
	if (walked->last.kind == CODE_OF_FILE)
		return &unwinding->no_rule;
	if (walked->last.kind == CODE_JAVA)
		return &unwinding->no_caller;
	return walked->last.mapped ? &unwinding->no_table : &unwinding->unmapped;
}

/* stack: what was copied. */
static void samplestack_count(struct samplestack *u, const struct walked *walked, struct str stack)
{
	struct pj_unwinding *unwinding = &u->counts;

	unwinding->stacks++;
	unwinding->fp += walked->fp;
	unwinding->late += walked->late;
	unwinding->java += walked->java;
	if (walked->end == UNWIND_ROOT) {
		unwinding->complete++;
		unwinding->fp_complete += walked->fp;
		unwinding->java_complete += walked->java;
	} else if (stack.n && (walked->end == UNWIND_STACK_CUT || walked->end == UNWIND_MORE)) {
		unwinding->cut++;
	} else {
		unwinding->broken++;
		++*(stack.n ? samplestack_reason(unwinding, walked) : &unwinding->no_stack);
	}
}

/* The kernel's part: all up to the user's mark. */
static uint64_t kernel_part(const struct parts *parts)
{
	uint64_t n = 0;

	while (n < parts->nips && parts->ips[n] != CONTEXT_USER)
		n++;
	return n;
}

static void samplestack_finish(struct text *out, size_t chain, const struct parts *parts)
{
	uint64_t n = (out->n - chain) / 8 - 1;
	uint16_t size;

	memcpy(out->p + chain, &n, sizeof(n));
	text_str(out, parts->raw);
	text_str(out, parts->after);
	size = (uint16_t)out->n;
	memcpy(out->p + offsetof(struct perf_record, size), &size, sizeof(size));
}

bool samplestack_sample(struct samplestack *stack, const struct perf_event_attr *attr, const struct ring_sample *sample,
			bool wait, uint64_t now, struct text *out)
{
	struct walk walk = { .u = stack,
			     .process = processes_find(stack->processes, sample->pid),
			     .time = sample->time,
			     .now = now,
			     .wait = wait };
	struct unwind_state state;
	struct walked walked;
	struct parts parts;
	size_t chain, max, first;
	uint64_t kernel;

	out->n = 0;
	if (!take_apart(attr, sample, &parts)) {
		stack->counts.damaged++;
		return true;
	}
	text_bytes(out, sample, (size_t)(parts.chain - (const char *)sample));
	chain = out->n;
	samplestack_put(out, 0);
	kernel = kernel_part(&parts);
	text_bytes(out, parts.ips, 8 * kernel);
	max = RECORD_MAX - parts.raw.n - parts.after.n;
	if (parts.abi &&
	    unwind_start_on(processor_here(), &state, attr->sample_regs_user, parts.regs, parts.abi, parts.stack)) {
		samplestack_put(out, CONTEXT_USER);
		first = out->n;
		if (max > first + FRAME_SPACE +
				  8 * (stack->max_frames - 1)) /* a walk goes on while there is room for one more */
			max = first + FRAME_SPACE + 8 * (stack->max_frames - 1);
		if (!walk_complete(&walk, &state, max, out, &walked))
			return false;
		if (stack->verify && parts.stack.n && kernel < parts.nips)
			samplestack_verify_one(&walk, parts.ips + kernel + 1, parts.nips - kernel - 1,
					       parts.nips >= LIMIT, walked.end);
		if (walked.end == UNWIND_STACK_CUT && kernel < parts.nips)
			walked.end = samplestack_join(&walk, state.fp_valid, first, parts.ips + kernel + 1,
						      parts.nips - kernel - 1, parts.nips >= LIMIT, max, out);
		else if (walked.end == UNWIND_ROOT)
			rootframes_learn(&stack->starts, walk.process, (const void *)(out->p + first),
					 (out->n - first) / 8);
		samplestack_put_end(out, parts.stack.n || walked.end == UNWIND_ROOT ? walked.end : UNWIND_NO_CODE);
		samplestack_count(stack, &walked, parts.stack);
		stack->counts.java_late += walk.jvm && javacode_was_late(walk.jvm);
	} else if (kernel < parts.nips) { /* 32-bit code: nobody knows how it ends */
		text_bytes(out, parts.ips + kernel, 8 * (parts.nips - kernel));
		samplestack_put_end(out, UNWIND_NO_CODE);
		stack->counts.stacks++;
		stack->counts.fp++;
		stack->counts.broken++;
		stack->counts.narrow++;
	}
	samplestack_finish(out, chain, &parts);
	return true;
}

bool samplestack_skip(const struct perf_event_attr *attr, const struct ring_sample *sample, struct text *out)
{
	struct parts parts;
	size_t chain;

	out->n = 0;
	if (!take_apart(attr, sample, &parts))
		return false;
	text_bytes(out, sample, (size_t)(parts.chain - (const char *)sample));
	chain = out->n;
	samplestack_put(out, 0);
	samplestack_put(out, CONTEXT_USER);
	samplestack_put(out, PJ_OVER_BUDGET_IP);
	samplestack_finish(out, chain, &parts);
	return true;
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
	stack->max_frames = MAX_FRAMES;
	return stack;
}

void samplestack_limit(struct samplestack *stack, uint32_t max_frames)
{
	if (max_frames)
		stack->max_frames = max_frames;
}

void samplestack_verify(struct samplestack *stack, unsigned show)
{
	stack->verify = mem_alloc(sizeof(*stack->verify), 1);
	stack->show = show;
}

void samplestack_free(struct samplestack *stack)
{
	if (stack)
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

void samplestack_reset_counts(struct samplestack *stack)
{
	stack->counts = (struct pj_unwinding){ 0 };
	if (stack->javacode)
		stack->unread = javacode_count(stack->javacode).unread;
}
