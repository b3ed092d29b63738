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

static bool samplestack_take(struct str *s, uint64_t n, struct str *part)
{
	if (n > s->n)
		return false;
	*part = str_head(*s, (size_t)n);
	*s = str_from(*s, (size_t)n);
	return true;
}

static bool take_u64(struct str *s, uint64_t *v)
{
	struct str part;

	if (!samplestack_take(s, 8, &part))
		return false;
	*v = load64(part.p);
	return true;
}

static bool samplestack_take_regs(struct str *s, uint64_t mask, struct parts *p)
{
	struct str part = { 0 };

	if (!take_u64(s, &p->abi) || (p->abi && !samplestack_take(s, 8 * (uint64_t)__builtin_popcountll(mask), &part)))
		return false;
	p->regs = (const void *)part.p;
	return true;
}

/* So many bytes were reserved, and so many of them were copied. */
static bool samplestack_take_stack(struct str *s, struct parts *p)
{
	uint64_t size, copied;

	if (!take_u64(s, &size) ||
	    (size && (size % 8 || !samplestack_take(s, size, &p->stack) || !take_u64(s, &copied))))
		return false;
	if (size)
		p->stack = str_head(p->stack, copied < size ? (size_t)copied : (size_t)size);
	return true;
}

static bool take_apart(const struct perf_event_attr *a, const struct ring_sample *r, struct parts *p)
{
	struct str s = { (const char *)r, r->head.size }, part;

	*p = (struct parts){ 0 };
	if (!samplestack_take(&s,
			      a->sample_type & PERF_SAMPLE_PERIOD ? offsetof(struct ring_sample, nips) :
								    offsetof(struct ring_sample, period),
			      &part))
		return false;
	p->chain = s.p;
	if (!take_u64(&s, &p->nips) || p->nips > s.n / 8 || !samplestack_take(&s, 8 * p->nips, &part))
		return false;
	p->ips = (const void *)part.p;
	p->raw.p = s.p;
	if (a->sample_type & PERF_SAMPLE_RAW &&
	    (s.n < 4 || !samplestack_take(&s, ((uint64_t)load32(s.p) + 4 + 7) & ~UINT64_C(7), &p->raw)))
		return false;
	if (!samplestack_take_regs(&s, a->sample_regs_user, p) || !samplestack_take_stack(&s, p))
		return false;
	p->after = s;
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

static enum unwind_end samplestack_step_fp(struct unwind_state *s, const struct code *c, bool leaf, struct frame *f)
{
	(void)c;
	(void)f;
	return unwind_step(s, (struct unwind_code){ 0 }, leaf);
}

static enum unwind_end step_of_file(struct unwind_state *s, const struct code *c, bool leaf, struct frame *f)
{
	enum unwind_end end = unwind_step(s, c->tables, leaf);

	f->marked = !leaf && end == UNWIND_MORE && s->interrupted; /* a signal frame */
	return end;
}

static enum unwind_end samplestack_step_java(struct unwind_state *s, const struct code *c, bool leaf, struct frame *f)
{
	struct javaunwind_frame j;
	enum unwind_end end;

	(void)leaf;
	if (c->gone)
		return UNWIND_NO_CODE;
	end = javaunwind_step(s, javacode_code(c->jvm), &c->blob, &j);
	*f = (struct frame){ j.address, j.method, j.method, j.thawed };
	return end;
}

static enum unwind_end (*const step[KINDS])(struct unwind_state *s, const struct code *c, bool leaf,
					    struct frame *f) = {
	[CODE_FP] = samplestack_step_fp,
	[CODE_OF_FILE] = step_of_file,
	[CODE_JAVA] = samplestack_step_java,
};

static void samplestack_find_java(struct walk *w, const struct unwind_state *s, struct code *c)
{
	enum javacode_answer answer;

	if (!w->jvm && w->u->javacode)
		w->jvm = javacode_of(w->u->javacode, w->process);
	if (!w->jvm)
		return;
	c->jvm = w->jvm;
	answer = javacode_find(w->jvm, s, w->time, &c->blob);
	c->gone = answer == JAVACODE_GONE;
	if (answer == JAVACODE_BLOB || c->gone)
		c->kind = CODE_JAVA;
}

/* Where s is. False: it is not known yet. */
static bool samplestack_code_at(struct walk *w, const struct unwind_state *s, struct code *c)
{
	const struct process *p = w->process;
	uint64_t address = s->interrupted || s->ip == 0 ? s->ip : s->ip - 1;
	const struct mapping *m = processes_at(p, address);

	*c = (struct code){ 0 };
	if (!m)
		return true;
	c->mapped = true;
	switch (cfitables_find(w->u->tables, p, m, address, w->now, &c->tables)) {
	case CFITABLES_READY: c->kind = CODE_OF_FILE; return true;
	case CFITABLES_WAIT: return false;
	case CFITABLES_LATE: c->late = true; return true;
	default: samplestack_find_java(w, s, c); return true;
	}
}

/* ---- walking ------------------------------------------------------------------------------------------------- */

struct walked {
	enum unwind_end end; /* MORE: deeper than a record can be */
	bool fp, late;       /* code without tables was met, or code whose tables are late */
	bool java;
	struct code last; /* where it ended */
};

static void samplestack_put(struct text *out, uint64_t v)
{
	text_bytes(out, &v, sizeof(v));
}

/* A mark is before what is no return address, once; the leaf is behind one anyway. */
static void samplestack_put_frame(struct text *out, const struct frame *f, bool marked)
{
	if (f->nothing)
		return;
	if (f->marked && !marked)
		samplestack_put(out, CONTEXT_USER);
	samplestack_put(out, f->address);
}

/* Whether frame pointers can be expected behind it: stubs of C2, of which no prologue is known, have none. */
static enum fpcompare_code keeps_pointer(const struct unwind_state *s, const struct code *c)
{
	const struct code_blob *p = &c->blob;
	bool made = p->complete != BLOB_NEVER && s->ip - p->start > p->complete;

	if (c->kind != CODE_JAVA)
		return FPCOMPARE_NATIVE;
	switch ((enum blob_kind)p->kind) {
	case BLOB_COMPILED:
	case BLOB_NATIVE:
		return p->frame >= 16 && (made || s->ip - p->start == p->complete) ? FPCOMPARE_KEEPS : FPCOMPARE_BARE;
	case BLOB_STUB: return p->entry ? FPCOMPARE_BARE : FPCOMPARE_KEEPS;
	case BLOB_ENTRY: return made && !s->interrupted ? FPCOMPARE_KEEPS : FPCOMPARE_BARE;
	case BLOB_BYTECODE: return FPCOMPARE_KEEPS;
	default: return FPCOMPARE_BARE;
	}
}

/* Appends addresses to out, up to `most` bytes of it. False: something is not known yet. */
static bool samplestack_walk(struct walk *of, struct unwind_state *s, size_t max, struct text *out, struct walked *w)
{
	bool leaf = true, thawed = false;

	*w = (struct walked){ .end = UNWIND_MORE };
	if (of->u->verify)
		of->u->verify->n = 0;
	for (; w->end == UNWIND_MORE && out->n + FRAME_SPACE <= max; leaf = false) {
		struct frame f = { .address = s->ip };
		bool marked = s->interrupted;
		struct code c;

		if (!leaf && marked)
			samplestack_put(out, CONTEXT_USER);
		if (!samplestack_code_at(of, s, &c)) {
			if (of->wait)
				return false;
			c.late = true;
		}
		if (of->u->verify && !thawed)
			fpcompare_put(of->u->verify, s->ip, keeps_pointer(s, &c));
		w->fp |= c.kind == CODE_FP;
		w->java |= c.kind == CODE_JAVA;
		w->late |= c.late;
		w->end = step[c.kind](s, &c, leaf, &f);
		samplestack_put_frame(out, &f, marked);
		thawed = f.nothing; /* the next one is not where frame pointers lead */
		if (f.method)
			javanames_note(of->u->names, of->process->pid, f.address);
		if (w->end == UNWIND_MORE && s->ip > INT64_MAX) /* no user's; and a mark could be taken for one */
			w->end = UNWIND_NO_CODE;
		w->last = c;
	}
	return true;
}

/* As walk; code of files that their tables leave out is taken for a leaf, if so the stack is whole, and else it is not.
 */
static bool walk_complete(struct walk *of, struct unwind_state *s, size_t max, struct text *out, struct walked *w)
{
	struct unwind_state start = *s;
	size_t first = out->n;

	if (!samplestack_walk(of, s, max, out, w))
		return false;
	if (w->end == UNWIND_ROOT || !s->no_fde)
		return true;
	out->n = first;
	*s = start;
	s->assume_leaf = true;
	if (!samplestack_walk(of, s, max, out, w))
		return false;
	if (w->end == UNWIND_ROOT && !w->fp)
		return true;
	out->n = first;
	*s = start;
	return samplestack_walk(of, s, max, out, w);
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
static bool is_root(struct walk *w, uint64_t ip)
{
	struct unwind_state s = { .ip = ip };
	struct frame f;
	struct code c;

	return ip && samplestack_code_at(w, &s, &c) && step[c.kind](&s, &c, false, &f) == UNWIND_ROOT;
}

/* Those that frame pointers left out at the outer end; bytes of out that stay, or 0: they are not known. */
static size_t find_start(const struct walk *w, size_t from, const struct text *out, const struct root_frames **start)
{
	for (size_t at = out->n; at > from && w->process; at -= 8) {
		*start = rootframes_find(&w->u->starts, w->process->pid, load64(out->p + at - 8));
		if (*start)
			return at;
	}
	return 0;
}

/* Has all that was put code at it? Registers that were taken for a frame pointer, and were none, lead anywhere. */
static bool all_mapped(const struct walk *w, size_t from, const struct text *out)
{
	for (size_t at = from; at < out->n; at += 8)
		if (!processes_at(w->process, load64(out->p + at) - 1))
			return false;
	return true;
}

/* libc's code around main and thread functions has no frame pointer: mostly the callchain ends there, or in something
 * that is none. */
static enum unwind_end join_start(struct walk *w, size_t from, struct text *out)
{
	const struct root_frames *start;
	size_t at;

	if (is_root(w, samplestack_word(out, out->n - 8)))
		return UNWIND_ROOT;
	at = find_start(w, from, out, &start);
	if (!at)
		return UNWIND_STACK_CUT;
	out->n = at;
	for (size_t i = 0; i < ROOTFRAMES_FRAMES && start->outer[i]; i++)
		samplestack_put(out, start->outer[i]);
	if (is_root(w, samplestack_word(out, out->n - 8)))
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
static enum unwind_end samplestack_join(struct walk *w, bool fp_valid, size_t first, const uint64_t *fp, uint64_t n,
					bool full, size_t max, struct text *out)
{
	uint64_t last = samplestack_find_last(out, first, fp, n, fp_valid);
	enum unwind_end end = UNWIND_STACK_CUT;
	size_t from = out->n;

	if (last == n)
		return end;
	w->u->counts.joined++;
	for (uint64_t i = last + 1; i < n && fp[i] <= INT64_MAX && out->n + FRAME_SPACE <= max; i++)
		samplestack_put(out, fp[i]);
	if (!full)
		end = join_start(w, from, out);
	if (!all_mapped(w, from, out)) {
		out->n = from;
		end = UNWIND_STACK_CUT;
	}
	w->u->counts.lost += end != UNWIND_ROOT;
	return end;
}

/* ---- compared with frame pointers
 * ------------------------------------------------------------------------------------ */

enum { SHOWN_FRAMES = 12 };

/* Registers that were taken for a frame pointer lead to what is no code: frame pointers end before. */
static uint64_t in_code(const struct walk *w, const uint64_t *fp, uint64_t n)
{
	uint64_t i = 0;

	while (i < n && processes_at(w->process, i ? fp[i] - 1 : fp[i]))
		i++;
	return i;
}

static void show_frame(const struct walk *w, const char *who, uint64_t ip)
{
	struct unwind_state s = { .ip = ip };
	const struct mapping *m = processes_at(w->process, ip - 1);
	struct code_blob blob;

	if (!m)
		warn("  %s %llx", who, (unsigned long long)ip);
	else if (w->jvm && javacode_find(w->jvm, &s, w->time, &blob) == JAVACODE_BLOB)
		warn("  %s %llx code of the JVM at %llx+%llx, kind %u, frame of %u bytes", who, (unsigned long long)ip,
		     (unsigned long long)blob.start, (unsigned long long)(ip - blob.start), blob.kind, blob.frame);
	else
		warn("  %s %llx %.*s+%llx", who, (unsigned long long)ip, (int)m->file->path.n, m->file->path.p,
		     (unsigned long long)(ip - m->start + m->offset));
}

/* Both, from two frames before they part. */
static void samplestack_show(const struct walk *w, const struct fpcompare_walk *ours, const uint64_t *fp, uint64_t n,
			     size_t at)
{
	size_t from = at > 2 ? at - 2 : 0;

	warn("callers of process %u differ; by tables from frame %zu of %zu, by frame pointers of %llu:",
	     w->process->pid, from, ours->n, (unsigned long long)n);
	for (size_t i = from; i < ours->n && i < from + SHOWN_FRAMES; i++)
		show_frame(w, "tables  ", ours->frame[i].ip);
	for (size_t i = from; i < n && i < from + SHOWN_FRAMES; i++)
		show_frame(w, "pointers", fp[i]);
}

/* fp[0..n): the user's part of the kernel's callchain. */
static void samplestack_verify_one(struct walk *w, const uint64_t *fp, uint64_t n, bool full, enum unwind_end end)
{
	struct pj_unwinding *c = &w->u->counts;
	uint64_t *const count[FPCOMPARES] = {
		[FPCOMPARE_SAME] = &c->same,      [FPCOMPARE_ONE_LOST] = &c->one_lost, [FPCOMPARE_FEWER] = &c->fewer,
		[FPCOMPARE_LOST] = &c->lost_java, [FPCOMPARE_SHORT] = &c->short_of,    [FPCOMPARE_OTHER] = &c->other,
	};
	struct fpcompare_walk *ours = w->u->verify;
	enum fpcompare a;
	size_t at;

	n = in_code(w, fp, n);
	if (n == 0)
		return;
	ours->complete = end == UNWIND_ROOT;
	ours->cut = end == UNWIND_STACK_CUT || end == UNWIND_MORE;
	a = fpcompare_of(ours, fp, n, full, &at);
	++*count[a];
	if (a >= FPCOMPARE_LOST && w->u->show) {
		w->u->show--;
		samplestack_show(w, ours, fp, n, at);
	}
}

/* ---- samples ------------------------------------------------------------------------------------------------- */

static uint64_t *samplestack_reason(struct pj_unwinding *c, const struct walked *w)
{
	if (w->end == UNWIND_LOOP)
		return &c->astray;
	if (w->last.kind == CODE_OF_FILE)
		return &c->no_rule;
	if (w->last.kind == CODE_JAVA)
		return &c->no_caller;
	return w->last.mapped ? &c->no_table : &c->unmapped;
}

/* stack: what was copied. */
static void samplestack_count(struct samplestack *u, const struct walked *w, struct str stack)
{
	struct pj_unwinding *c = &u->counts;

	c->stacks++;
	c->fp += w->fp;
	c->late += w->late;
	c->java += w->java;
	if (w->end == UNWIND_ROOT) {
		c->complete++;
		c->fp_complete += w->fp;
		c->java_complete += w->java;
	} else if (stack.n && (w->end == UNWIND_STACK_CUT || w->end == UNWIND_MORE)) {
		c->cut++;
	} else {
		c->broken++;
		++*(stack.n ? samplestack_reason(c, w) : &c->no_stack);
	}
}

/* The kernel's part: all up to the user's mark. */
static uint64_t kernel_part(const struct parts *p)
{
	uint64_t n = 0;

	while (n < p->nips && p->ips[n] != CONTEXT_USER)
		n++;
	return n;
}

static void samplestack_finish(struct text *out, size_t chain, const struct parts *p)
{
	uint64_t n = (out->n - chain) / 8 - 1;
	uint16_t size;

	memcpy(out->p + chain, &n, sizeof(n));
	text_str(out, p->raw);
	text_str(out, p->after);
	size = (uint16_t)out->n;
	memcpy(out->p + offsetof(struct perf_record, size), &size, sizeof(size));
}

bool samplestack_sample(struct samplestack *u, const struct perf_event_attr *a, const struct ring_sample *r, bool wait,
			uint64_t now, struct text *out)
{
	struct walk of = {
		.u = u, .process = processes_find(u->processes, r->pid), .time = r->time, .now = now, .wait = wait
	};
	struct unwind_state s;
	struct walked w;
	struct parts p;
	size_t chain, max, first;
	uint64_t kernel;

	out->n = 0;
	if (!take_apart(a, r, &p)) {
		u->counts.damaged++;
		return true;
	}
	text_bytes(out, r, (size_t)(p.chain - (const char *)r));
	chain = out->n;
	samplestack_put(out, 0);
	kernel = kernel_part(&p);
	text_bytes(out, p.ips, 8 * kernel);
	max = RECORD_MAX - p.raw.n - p.after.n;
	if (p.abi && unwind_start_on(processor_here(), &s, a->sample_regs_user, p.regs, p.abi, p.stack)) {
		samplestack_put(out, CONTEXT_USER);
		first = out->n;
		if (max >
		    first + FRAME_SPACE + 8 * (u->max_frames - 1)) /* a walk goes on while there is room for one more */
			max = first + FRAME_SPACE + 8 * (u->max_frames - 1);
		if (!walk_complete(&of, &s, max, out, &w))
			return false;
		if (u->verify && p.stack.n && kernel < p.nips)
			samplestack_verify_one(&of, p.ips + kernel + 1, p.nips - kernel - 1, p.nips >= LIMIT, w.end);
		if (w.end == UNWIND_STACK_CUT && kernel < p.nips)
			w.end = samplestack_join(&of, s.fp_valid, first, p.ips + kernel + 1, p.nips - kernel - 1,
						 p.nips >= LIMIT, max, out);
		else if (w.end == UNWIND_ROOT)
			rootframes_learn(&u->starts, of.process, (const void *)(out->p + first), (out->n - first) / 8);
		samplestack_put_end(out, p.stack.n || w.end == UNWIND_ROOT ? w.end : UNWIND_NO_CODE);
		samplestack_count(u, &w, p.stack);
		u->counts.java_late += of.jvm && javacode_was_late(of.jvm);
	} else if (kernel < p.nips) { /* 32-bit code: nobody knows how it ends */
		text_bytes(out, p.ips + kernel, 8 * (p.nips - kernel));
		samplestack_put_end(out, UNWIND_NO_CODE);
		u->counts.stacks++;
		u->counts.fp++;
		u->counts.broken++;
		u->counts.narrow++;
	}
	samplestack_finish(out, chain, &p);
	return true;
}

bool samplestack_skip(const struct perf_event_attr *a, const struct ring_sample *r, struct text *out)
{
	struct parts p;
	size_t chain;

	out->n = 0;
	if (!take_apart(a, r, &p))
		return false;
	text_bytes(out, r, (size_t)(p.chain - (const char *)r));
	chain = out->n;
	samplestack_put(out, 0);
	samplestack_put(out, CONTEXT_USER);
	samplestack_put(out, PJ_OVER_BUDGET_IP);
	samplestack_finish(out, chain, &p);
	return true;
}

/* ---- life ---------------------------------------------------------------------------------------------------- */

struct samplestack *samplestack_new(const struct processes *p, struct cfitables *t, struct javacode *j,
				    struct javanames *names)
{
	struct samplestack *u = mem_alloc(sizeof(*u), 1);

	u->processes = p;
	u->tables = t;
	u->javacode = j;
	u->names = names;
	u->max_frames = MAX_FRAMES;
	return u;
}

void samplestack_limit(struct samplestack *u, uint32_t max_frames)
{
	if (max_frames)
		u->max_frames = max_frames;
}

void samplestack_verify(struct samplestack *u, unsigned show)
{
	u->verify = mem_alloc(sizeof(*u->verify), 1);
	u->show = show;
}

void samplestack_free(struct samplestack *u)
{
	if (u)
		free(u->verify);
	free(u);
}

struct pj_unwinding samplestack_counts(const struct samplestack *u)
{
	struct pj_unwinding c = u->counts;

	if (u->javacode)
		c.jvms_unread = javacode_count(u->javacode).unread - u->unread;
	return c;
}

void samplestack_reset_counts(struct samplestack *u)
{
	u->counts = (struct pj_unwinding){ 0 };
	if (u->javacode)
		u->unread = javacode_count(u->javacode).unread;
}
