/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include "arena.h"
#include "cgroups.h"
#include "clocks.h"
#include "diag.h"
#include "host.h"
#include "kernel.h"
#include "offcpu.h"
#include "privileges.h"
#include "processes.h"
#include "procfs.h"
#include "state.h"
#include "tables.h"
#include "unwinding.h"
#include "unwound.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SLACK (SECOND_NS / 10)       /* a record is in its ring that long after its time */
#define SLACK_FULL (SECOND_NS / 500) /* and where rings fill faster */
#define DRAIN_MS 500
#define KEPT_NS (2 * SECOND_NS) /* what ended, for samples that come after it */
#define LOOK_NS (2 * SECOND_NS) /* between looks at CPUs and the keeper */
#define HELD_MS 20              /* between tries, when a sample waits for tables */

struct session {
	struct session_options o;
	struct chunk_event *event; /* o.event, and the state event behind them */
	struct chunk_event *told;  /* the same, as files have them */
	struct chunk_facts facts;
	struct host *host;
	struct rings *rings;
	struct sources *sources;
	struct processes *processes;
	struct kernel *kernel;
	struct cgroups *cgroups;
	struct state *state;
	struct perf_event_attr switches;
	struct offcpu *offcpu; /* NULL: nobody wants to know */
	struct tables *tables; /* NULL: the kernel walks stacks, by frame pointers */
	struct javacode *javacode;
	struct javanames *names;
	struct unwinding *unwinding;
	uint64_t held, taking; /* time of the sample that waits for tables, 0: none; of this look at the rings */
	bool hurry;            /* nothing waits */

	/* the window */
	struct chunk chunk;
	struct window window;
	struct window_report report;
	bool open; /* chunk is being written */
	uint64_t begin, end, serial;
	uint64_t first, last; /* times of samples */
	uint64_t *idle;
	size_t nidle;
	struct text text, sample; /* records that are being made */

	/* the recording */
	struct session_totals totals;
	struct keep_counts kept; /* when the last window ended */
	uint64_t done; /* windows ended, dropped ones included */
	uint64_t looked, late, lost_seen, drained;
	bool lost_state, failed;
	int error;
	struct pollfd *poll;
	size_t npoll;
};

/* ---- windows ------------------------------------------------------------------------------------------------- */

static uint64_t state_event(const struct session *s)
{
	return s->o.nevents + 1;
}

/* A window that cannot be made is one that is dropped: recording goes on, and the next may succeed. */
static void begin_window(struct session *s, uint64_t begin, uint64_t end)
{
	struct pj_window w = { begin, end, s->serial };
	uint64_t wall = clock_wall_of(begin);

	s->begin = begin;
	s->end = end;
	s->first = s->last = 0;
	s->report = (struct window_report){
		.begin = begin, .end = end, .depth_limit = s->totals.depth_limit, .has_offcpu = s->offcpu, .has_unwinding = s->unwinding
	};
	s->window.fd = s->o.fd;
	/* an aligned border is a whole second, but for jitter between the two clocks */
	s->open = s->o.windows ?
			  windows_create(s->o.windows, (wall + SECOND_NS / 1000) / SECOND_NS, &s->window) :
			  !s->error;
	free(s->idle);
	s->idle = procfs_idle(&s->nidle);
	kernel_refresh(s->kernel);
	state_begin(s->state, s->serial + 1);
	if (!s->open)
		return;
	chunk_begin(&s->chunk, s->window.fd, s->o.pipe, &s->facts, &w, wall, begin);
	s->text.n = 0;
	kernel_begin(s->kernel, &s->text, state_event(s), begin);
	chunk_record(&s->chunk, s->text.p, s->text.n);
}

static void put_idle(struct session *s, struct text *t)
{
	size_t n;
	uint64_t *now = procfs_idle(&n);

	for (size_t i = 0; i < n && i < s->nidle; i++) {
		struct pj_idle idle = { .cpu = (uint32_t)i, .ns = now[i] - s->idle[i] };

		if (now[i] >= s->idle[i])
			chunk_put_item(t, PJ_ITEM_IDLE, &idle, sizeof(idle));
	}
	free(now);
}

static void count_live(void *to, struct process *p)
{
	struct session *s = to;

	if (p->pid && (s->o.target != TARGET_PROCESSES || p->target))
		s->report.offcpu.never += p->live;
}

/* Times up to the end of the window, and who never came back. */
static void end_offcpu(struct session *s, uint64_t end)
{
	size_t ran = offcpu_threads(s->offcpu);
	uint64_t lost = s->report.offcpu.lost;

	offcpu_border(s->offcpu, end);
	s->report.offcpu = offcpu_counts(s->offcpu);
	s->report.offcpu.lost = lost;
	offcpu_count_from_here(s->offcpu);
	if (s->o.target == TARGET_COMMAND || s->o.target == TARGET_CGROUPS)
		return;
	processes_each(s->processes, count_live, s);
	s->report.offcpu.never -= s->report.offcpu.never < ran ? s->report.offcpu.never : ran;
}

static void put_end(struct session *s, struct text *t)
{
	char name[2][64];
	size_t n = s->o.keep ? keep_kernels(s->o.keep, name) : 0;

	for (size_t i = 0; i < n; i++)
		chunk_put_item(t, PJ_ITEM_KALLSYMS, name[i], strlen(name[i]));
	text_str(t, state_items(s->state));
	put_idle(s, t);
	chunk_put_item(t, PJ_ITEM_LOSS, &s->report.loss, sizeof(s->report.loss));
	if (s->offcpu)
		chunk_put_item(t, PJ_ITEM_OFFCPU, &s->report.offcpu, sizeof(s->report.offcpu));
	if (s->unwinding)
		chunk_put_item(t, PJ_ITEM_UNWINDING, &s->report.unwinding, sizeof(s->report.unwinding));
	if (s->names)
		javanames_end(s->names, t);
}

static void add_up(struct session *s)
{
	struct pj_loss *all = &s->totals.loss, *one = &s->report.loss;

	all->samples += one->samples;
	all->records += one->records;
	all->throttled += one->throttled;
	all->unknown += one->unknown;
	all->late += one->late;
	all->depth += one->depth;
	if (one->ring_high > all->ring_high)
		all->ring_high = one->ring_high;
	offcpu_add(&s->totals.offcpu, &s->report.offcpu);
	unwound_add(&s->totals.unwinding, &s->report.unwinding);
	s->totals.samples += s->report.samples;
	s->totals.windows++;
	s->totals.last = s->report;
}

/* The keeper counts all that it did since it was started. */
static void count_kept(struct session *s)
{
	struct keep_counts now;

	if (!s->o.keep)
		return;
	now = keep_counts(s->o.keep);
	s->report.kept = keep_since(&now, &s->kept);
	s->kept = now;
}

static void end_window(struct session *s, uint64_t end)
{
	struct text pj = { 0 }, build_ids = { 0 };

	if (s->offcpu)
		end_offcpu(s, end);
	if (s->unwinding) {
		javacode_name(s->javacode, s->names);
		s->report.unwinding = unwinding_counts(s->unwinding);
		unwinding_count_from_here(s->unwinding);
	}
	s->report.end = end;
	s->report.processes = state_processes(s->state);
	state_end(s->state);
	count_kept(s);
	put_end(s, &pj);
	kernel_build_ids(s->kernel, &build_ids);
	text_str(&build_ids, state_build_ids(s->state));
	if (s->open) {
		struct chunk_end e = { text_view(&build_ids), text_view(&pj), s->first, s->last };

		chunk_end(&s->chunk, &e);
		s->report.bytes = s->chunk.written;
		s->error = s->chunk.error;
		if (!s->o.windows)
			s->failed = s->error;
		else if (s->error)
			windows_drop(s->o.windows, &s->window, s->error, &s->report);
		else
			windows_finish(s->o.windows, &s->window, &s->report);
	}
	text_free(&pj);
	text_free(&build_ids);
	add_up(s);
	if (s->o.keep)
		keep_window(s->o.keep);
	cgroups_forget(s->cgroups, s->serial > 10 ? s->serial - 10 : 0);
	s->open = false;
	s->done++;
	s->serial++;
}

/* Ends windows until ns is in the one that is open. */
static void turn_to(struct session *s, uint64_t ns)
{
	while (ns >= s->end && s->end != UINT64_MAX) {
		uint64_t border = s->end;

		end_window(s, border);
		if (s->o.count && s->done >= s->o.count) {
			s->begin = s->end = UINT64_MAX;
			return;
		}
		begin_window(s, border, clock_border(border, clock_wall_of(border), s->o.window_ns, s->o.align));
	}
}

/* ---- records ------------------------------------------------------------------------------------------------- */

static void write_record(struct session *s, const struct perf_record *r)
{
	if (s->open)
		chunk_record(&s->chunk, r, r->size);
}

static void write_text(struct session *s)
{
	if (s->open && s->text.n)
		chunk_record(&s->chunk, s->text.p, s->text.n);
	s->text.n = 0;
}

/* Of -p, other processes are of no interest. */
static bool is_target(const struct session *s, uint32_t pid)
{
	const struct process *p = s->o.target == TARGET_PROCESSES ? processes_find(s->processes, pid) : NULL;

	return s->o.target != TARGET_PROCESSES || (p && p->target);
}

/* What ticks also ticks in idle CPUs; what is counted was done there. */
static bool wanted(struct session *s, const struct ring_sample *r, uint64_t event)
{
	if (r->pid == 0 && r->tid == 0 && !s->o.idle && s->event[event - 1].attr.freq) {
		s->totals.idle_samples++;
		return false;
	}
	return is_target(s, r->pid);
}

/* Where the callchain is: nips, and ips behind it. */
static const uint64_t *chain_of(const struct session *s, const struct ring_sample *r, uint64_t event)
{
	bool period = s->event[event - 1].attr.sample_type & PERF_SAMPLE_PERIOD;

	return (const void *)((const char *)r +
			      (period ? offsetof(struct ring_sample, nips) : offsetof(struct ring_sample, period)));
}

/* With all that it needs before it. */
static void write_sample(struct session *s, const struct ring_sample *r)
{
	const struct perf_event_attr *a = &s->event[r->event - 1].attr;
	const uint64_t *chain = chain_of(s, r, r->event), *ips = chain + 1, nips = *chain;

	if (!(a->sample_type & PERF_SAMPLE_STACK_USER) && nips >= s->totals.depth_limit &&
	    nips - state_markers(ips, nips) >= s->totals.depth_limit)
		s->report.loss.depth++;
	s->text.n = 0;
	if (!state_sampled(s->state, &s->text, r->pid, r->tid, r->time, nips ? ips : &r->ip, nips ? nips : 1))
		s->report.loss.unknown++;
	kernel_modules_hit(s->kernel, &s->text, ips, nips, state_event(s), r->time);
	if (a->sample_type & PERF_SAMPLE_CGROUP)
		state_cgroup(s->state, &s->text, load64((const char *)r + r->head.size - 8), r->time);
	write_text(s);
	write_record(s, &r->head);
	s->first = s->first ? s->first : r->time;
	s->last = r->time;
}

/* A thread that ended so far that it has no number: its process still has one. */
static uint32_t thread_of(const struct ring_sample *r)
{
	return r->tid == UINT32_MAX ? r->pid : r->tid;
}

/* The sample with the callchain that is in its copy of the stack, to s->sample. False: it waits for tables, or makes no sense. */
static bool unwind(struct session *s, const struct ring_sample *r, const struct perf_event_attr *a)
{
	state_meet(s->state, r->pid, thread_of(r), r->time);
	if (!unwinding_sample(s->unwinding, a, r, !s->hurry, s->taking, &s->sample)) {
		s->held = r->time;
		rings_hold(s->rings);
		return false;
	}
	return s->sample.n;
}

/* As it is to be written, and ours to change; NULL: it is not. */
static struct ring_sample *whole(struct session *s, const struct ring_record *record, uint64_t event)
{
	const struct perf_event_attr *a = &s->event[event - 1].attr;
	struct ring_sample *r = (struct ring_sample *)record->head;

	if (s->unwinding && a->sample_type & PERF_SAMPLE_STACK_USER) {
		if (!unwind(s, r, a))
			return NULL;
	} else if (record->fixed) {
		s->sample.n = 0;
		text_bytes(&s->sample, r, r->head.size);
	} else {
		return r;
	}
	return (void *)s->sample.p;
}

static void take_sample(struct session *s, const struct ring_record *record)
{
	const struct ring_sample *r = (const struct ring_sample *)record->head;
	uint64_t event = sources_event(s->sources, r->event);
	struct ring_sample *to;
	const uint64_t *chain;
	size_t before;

	if (!event || event > s->o.nevents || record->time < s->begin || !wanted(s, r, event))
		return;
	chain = chain_of(s, r, event);
	before = (size_t)((const char *)(chain + 1) - (const char *)r);
	if (r->head.size < before || *chain > (r->head.size - before) / 8)
		return;
	to = whole(s, record, event);
	if (!to)
		return;
	to->event = event;
	to->tid = thread_of(to);
	write_sample(s, to);
	s->report.samples++;
}

static void write_lost_samples(struct session *s, uint64_t n, uint64_t ns, uint32_t cpu)
{
	struct {
		struct perf_record head;
		uint64_t lost;
		struct ring_tail tail;
	} r = { { .type = RECORD_LOST_SAMPLES, .size = sizeof(r) }, n, { .time = ns, .cpu = cpu, .event = 1 } };

	write_record(s, &r.head);
}

static void take_lost(struct session *s, const struct ring_record *record, uint64_t n)
{
	if (record->kind == RING_OF_STATE) {
		s->report.loss.records += n;
		s->lost_state = true;
	} else if (record->kind == RING_OF_SWITCHES) {
		s->report.offcpu.lost += n;
	} else {
		s->lost_seen += n;
		if (record->time >= s->begin) /* before the first window nothing is recorded, so nothing is lost */
			s->report.loss.samples += n;
	}
}

static void take_switch(struct session *s, const struct ring_record *record)
{
	const struct perf_record *r = record->head;
	const struct ring_tail *tail = (const void *)((const char *)r + r->size - sizeof(*tail));
	uint32_t pid = r->type == RECORD_SAMPLE ? ((const struct ring_sample *)r)->pid : tail->pid;

	if (is_target(s, pid))
		offcpu_record(s->offcpu, record, s->event[s->o.offcpu - 1].attr.sample_type & PERF_SAMPLE_CGROUP);
}

static void take_offcpu(void *to, const struct offcpu_sample *x)
{
	struct session *s = to;
	struct ring_sample r = { .head = { .type = RECORD_SAMPLE, .misc = PERF_RECORD_MISC_USER },
				 .event = s->o.offcpu + x->preempted,
				 .pid = x->pid,
				 .tid = x->tid,
				 .time = x->time,
				 .cpu = x->cpu,
				 .period = x->ns,
				 .nips = x->n };
	struct text *t = &s->sample;
	uint16_t size;

	if (x->time < s->begin)
		return;
	for (uint32_t i = 0; i < x->n && !r.ip; i++)
		r.ip = x->ips[i] < CONTEXT_MAX ? x->ips[i] : 0;
	if (x->n && x->ips[0] == CONTEXT_KERNEL)
		r.head.misc = PERF_RECORD_MISC_KERNEL;
	t->n = 0;
	text_bytes(t, &r, sizeof(r));
	text_bytes(t, x->ips, x->n * sizeof(*x->ips));
	if (s->event[r.event - 1].attr.sample_type & PERF_SAMPLE_CGROUP)
		text_bytes(t, &x->cgroup, sizeof(x->cgroup));
	size = (uint16_t)t->n;
	memcpy(t->p + offsetof(struct perf_record, size), &size, sizeof(size));
	write_sample(s, (const void *)t->p);
}

static void take(void *to, const struct ring_record *record)
{
	struct session *s = to;
	struct perf_record *r = record->head;
	const char *body = (const char *)(r + 1);

	turn_to(s, record->time);
	if (record->kind == RING_OF_SWITCHES && r->type != RECORD_LOST) {
		take_switch(s, record);
		return;
	}
	if (r->type == RECORD_SAMPLE) {
		take_sample(s, record);
		return;
	}
	struct ring_tail *tail = (struct ring_tail *)(void *)((char *)r + r->size - sizeof(*tail));
	tail->event = sources_event(s->sources, tail->event);
	if (r->type == RECORD_MMAP2) /* not asked for, see state_attr */
		r->misc &= (uint16_t)~MISC_MMAP_BUILD_ID;
	bool pass = state_record(s->state, r, record->time);
	if (s->offcpu && record->kind == RING_OF_STATE && is_target(s, load32(body)))
		offcpu_record(s->offcpu, record, false);
	switch (r->type) {
	case RECORD_LOST:
		if (record->kind == RING_OF_SWITCHES) /* in the file there is no such event */
			tail->event = s->o.offcpu;
		take_lost(s, record, load64(body + 8));
		pass = record->kind != RING_OF_SAMPLES;
		if (!pass && record->time >= s->begin) /* all that this ring has is samples: then the file can say so */
			write_lost_samples(s, load64(body + 8), record->time, tail->cpu);
		break;
	case RECORD_LOST_SAMPLES:
		take_lost(s, record, load64(body));
		pass = true;
		break;
	case RECORD_THROTTLE:
		s->report.loss.throttled++;
		pass = true;
		break;
	default:
		break;
	}
	if (pass && record->time >= s->begin)
		write_record(s, r);
}

/* What was lost of switches was lost since the last time; during this one nobody can tell which times it spoils. */
static void drain_rings(struct session *s, uint64_t horizon)
{
	uint64_t broken = rings_broken(s->rings);

	s->held = 0;
	s->taking = clock_now();
	if (s->javacode)
		javacode_begin(s->javacode, horizon, s->taking, s->hurry);
	if (s->offcpu && rings_lossy(s->rings, RING_OF_SWITCHES))
		offcpu_doubt(s->offcpu, s->drained);
	rings_drain(s->rings, horizon, take, s);
	if (s->offcpu && rings_broken(s->rings) != broken)
		offcpu_doubt(s->offcpu, s->drained);
	if (s->offcpu)
		offcpu_sure(s->offcpu);
	s->drained = s->held ? s->held : horizon;
}

/* Takes what is older than horizon; where rings are half full all the same, nearly all there is. */
static void drain(struct session *s, uint64_t horizon)
{
	uint64_t late;

	drain_rings(s, horizon);
	unsigned high = rings_high(s->rings);
	if (rings_left(s->rings) > 400) {
		s->hurry = true;
		drain_rings(s, clock_now() - SLACK_FULL);
		s->hurry = false;
	}
	if (high > s->report.loss.ring_high)
		s->report.loss.ring_high = high;
	late = rings_late(s->rings);
	s->report.loss.late += late - s->late;
	s->late = late;
	if (horizon != UINT64_MAX)
		turn_to(s, s->held && s->held < horizon ? s->held : horizon);
	if (s->names)
		javacode_name(s->javacode, s->names);
	if (s->open)
		chunk_flush(&s->chunk);
}

static void drain_all(void *to)
{
	struct session *s = to;

	s->hurry = true;
	drain(s, clock_now());
	s->hurry = false;
}

static bool is_alive(void *to, uint32_t tid)
{
	const struct thread *t = processes_thread(((struct session *)to)->processes, tid);

	return t && !t->exited;
}

/* What was lost of the state is read from /proc. */
static void mend_state(struct session *s)
{
	s->lost_state = false;
	state_mend(s->state, clock_now());
	if (s->offcpu)
		offcpu_check(s->offcpu, is_alive, s);
}

/* ---- the recording ------------------------------------------------------------------------------------------- */

/* No build_id: while any recorder asks for it, the kernel (seen with 6.18) marks the mappings that it tells to all others, too, as
 * if they had one in place of device and inode, and perf record dies of that. */
static struct perf_event_attr state_attr(const struct session_options *o)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = RING_SAMPLE_TYPE,
		.sample_period = 1,
		.disabled = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.ksymbol = 1,
		.bpf_event = 1,
		.namespaces = 1,
		.cgroup = 1,
		.exclude_kernel = 1,
		.watermark = 1,
		.inherit = o->target == TARGET_THREADS || o->target == TARGET_COMMAND,
		.enable_on_exec = o->target == TARGET_COMMAND,
	};
}

/* Each time a thread leaves a CPU: its callchain, and why; and when it is back. Its ring wakes us when it is half full. */
static struct perf_event_attr switch_attr(const struct session_options *o)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_SW_CONTEXT_SWITCHES,
		.sample_type = RING_SAMPLE_TYPE | PERF_SAMPLE_CGROUP,
		.sample_period = 1,
		.disabled = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.context_switch = 1,
		.exclude_guest = 1,
		.watermark = 1,
		.inherit = o->target == TARGET_THREADS || o->target == TARGET_COMMAND,
		.enable_on_exec = o->target == TARGET_COMMAND,
	};
}

/* Samples that we make are what the kernel's are. */
static void follow_switches(struct session *s)
{
	for (size_t i = s->o.offcpu - 1; i < s->o.offcpu + 1; i++)
		s->event[i].attr.sample_type = s->switches.sample_type;
}

/* Bytes of a ring for samples that a second with copies of stacks needs; 0: no stacks are copied. */
static size_t ring_for_stacks(const struct session_options *o)
{
	uint64_t most = 0, need, bytes = RING_LEAST;

	for (size_t i = 0; i < o->nevents && o->unwind; i++)
		if (o->event[i].attr.freq && o->event[i].attr.sample_freq > most)
			most = o->event[i].attr.sample_freq;
	need = most * (o->stack_bytes + 512);
	while (bytes < need && bytes < RING_STACKS)
		bytes *= 2;
	return o->unwind ? bytes : 0;
}

/* Those that the kernel makes, of code of users. */
static void ask_for_stacks(struct session *s)
{
	for (size_t i = 0; i < s->o.nevents && s->o.unwind; i++) {
		struct perf_event_attr *a = &s->event[i].attr;

		if (!a->exclude_user && (a->type != PERF_TYPE_SOFTWARE || a->config != PERF_COUNT_SW_BPF_OUTPUT))
			unwinding_ask(a, s->o.stack_bytes, s->o.both);
	}
}

static void tell_events(struct session *s)
{
	s->told = mem_alloc(sizeof(*s->told), s->o.nevents + 1);
	memcpy(s->told, s->event, (s->o.nevents + 1) * sizeof(*s->told));
	for (size_t i = 0; i < s->o.nevents; i++)
		if (s->told[i].attr.sample_type & PERF_SAMPLE_STACK_USER)
			unwinding_told(&s->told[i].attr);
	s->facts.event = s->told;
	s->facts.nevents = s->o.nevents + 1;
	s->facts.unwound = s->o.unwind;
}

struct session *session_new(const struct session_options *o, struct sources_failure *why)
{
	struct session *s = mem_alloc(sizeof(*s), 1);
	struct perf_event_attr *state;

	s->o = *o;
	s->switches = switch_attr(o);
	s->window.fd = -1;
	s->event = mem_alloc(sizeof(*s->event), o->nevents + 1);
	memcpy(s->event, o->event, o->nevents * sizeof(*s->event));
	state = &s->event[o->nevents].attr;
	*state = state_attr(o);
	s->event[o->nevents].name = "dummy:u";
	ask_for_stacks(s);
	s->rings = rings_new();
	struct sources_options so = {
		.target = o->target,
		.pid = o->pid,
		.npids = o->npids,
		.cgroup = o->cgroup,
		.ncgroups = o->ncgroups,
		.event = s->event,
		.nevents = o->nevents,
		.state = state,
		.switches = o->offcpu ? &s->switches : NULL,
		.ring_bytes = o->ring_bytes,
		.ring_wanted = ring_for_stacks(o),
		.large = privileges_has(PRIV_IPC_LOCK),
	};
	s->sources = sources_open(&so, s->rings, why);
	if (!s->sources) {
		session_free(s);
		return NULL;
	}
	if (o->offcpu)
		follow_switches(s);
	s->host = host_new();
	s->facts = host_facts(s->host);
	s->facts.argv = o->argv;
	s->facts.tracing = o->tracing;
	for (size_t i = 0; i <= o->nevents; i++) { /* events have our numbers in the files, one each */
		uint64_t *id = mem_alloc(sizeof(*id), 1);

		*id = i + 1;
		s->event[i].ids = id;
		s->event[i].nids = 1;
		s->totals.no_cgroups |= i < o->nevents && !(s->event[i].attr.sample_type & PERF_SAMPLE_CGROUP);
	}
	tell_events(s);
	s->totals.cpus = sources_cpus(s->sources);
	s->totals.ring_bytes = rings_bytes(s->rings);
	s->totals.without_kernel = sources_without_kernel(s->sources);
	s->totals.depth_limit = host_max_stack();
	return s;
}

void session_output(struct session *s, struct windows *windows, struct keep *keep, int fd)
{
	s->o.windows = windows;
	s->o.keep = keep;
	s->o.fd = fd;
	if (s->o.unwind)
		s->tables = tables_start(&(struct tables_options){ .proc = "/proc" });
}

static void mark_targets(struct session *s)
{
	for (size_t i = 0; i < s->o.npids; i++)
		processes_make(s->processes, s->o.pid[i])->target = true;
}

/* The first window begins now, or at the next border: then what comes before is left out. Where another run is about to end its
 * window there, its border is ours to the ns. */
static void first_window(struct session *s)
{
	uint64_t now = clock_now(), begin = now, theirs;

	if (s->o.align && s->o.window_ns) {
		begin = clock_next(now, clock_wall(), s->o.window_ns);
		if (s->o.windows && windows_predecessor(s->o.windows, &theirs) && theirs > now &&
		    theirs != UINT64_MAX && theirs < begin + s->o.window_ns / 2 && begin < theirs + s->o.window_ns / 2)
			begin = theirs;
		s->report.loss = (struct pj_loss){ 0 };
	}
	if (s->offcpu)
		offcpu_begin(s->offcpu, begin);
	begin_window(s, begin, clock_border(begin, clock_wall_of(begin), s->o.window_ns, begin != now));
}

void session_start(struct session *s)
{
	s->processes = processes_new();
	s->cgroups = cgroups_new();
	s->kernel = kernel_new();
	s->state = state_new(s->processes, s->cgroups, s->kernel, s->o.keep, state_event(s),
			     s->o.target == TARGET_HOST || s->o.target == TARGET_PROCESSES ||
				     s->o.target == TARGET_CGROUPS);
	mark_targets(s);
	if (s->tables) {
		s->javacode = javacode_new(s->processes);
		s->names = javanames_new();
		s->unwinding = unwinding_new(s->processes, s->tables, s->javacode, s->names);
	}
	if (s->o.offcpu)
		s->offcpu = offcpu_new(s->o.offcpu_least_ns, take_offcpu, s);
	s->drained = clock_now();
	sources_enable(s->sources);
	if (s->o.target == TARGET_THREADS)
		procfs_read(s->processes, s->o.pid, s->o.npids);
	else if (s->o.target != TARGET_COMMAND)
		procfs_read(s->processes, NULL, 0);
	first_window(s);
}

static void wait_for_records(struct session *s, int ms)
{
	size_t n = rings_fds(s->rings, NULL, 0);
	int *fd;

	if (n != s->npoll) {
		fd = mem_alloc(sizeof(*fd), n);
		rings_fds(s->rings, fd, n);
		s->poll = mem_grow(s->poll, sizeof(*s->poll), n + 1);
		for (size_t i = 0; i < n; i++)
			s->poll[i] = (struct pollfd){ .fd = fd[i], .events = POLLIN };
		s->npoll = n;
		free(fd);
	}
	s->poll[n] = (struct pollfd){ .fd = s->tables ? tables_fd(s->tables) : -1, .events = POLLIN };
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };
	sigset_t mask;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	sigdelset(&mask, SIGCHLD); /* the command's end, see command_fork */
	if (ppoll(s->poll, s->npoll + 1, &t, &mask) <= 0)
		return;
	for (size_t i = 0; i < n; i++)
		if (s->poll[i].revents &
		    (POLLHUP | POLLERR | POLLNVAL)) /* its process ended: it would be ready for ever */
			s->poll[i].fd = -1;
}

/* Until the next look, or shortly after the border. */
static int time_to_wait(const struct session *s, int ms)
{
	uint64_t now = clock_now(), border = s->end == UINT64_MAX ? UINT64_MAX : s->end + SLACK;

	if (ms > DRAIN_MS)
		ms = DRAIN_MS;
	if (s->held && ms > HELD_MS)
		ms = HELD_MS;
	if (border <= now)
		return 0;
	return border - now < (uint64_t)ms * 1000000 ? (int)((border - now) / 1000000) + 1 : ms;
}

/* All windows that were asked for are complete. */
static bool complete(const struct session *s)
{
	return s->o.count && s->done >= s->o.count;
}

/* At what changes now and then: CPUs, and whether the keeper is well. */
static void look(struct session *s, uint64_t now)
{
	bool on_cpus = s->o.target != TARGET_COMMAND && s->o.target != TARGET_THREADS;

	if (on_cpus && sources_follow_cpus(s->sources, drain_all, s) && s->offcpu) { /* who ran there was not seen */
		offcpu_doubt(s->offcpu, s->looked);
		offcpu_sure(s->offcpu);
	}
	if (s->o.keep)
		keep_tick(s->o.keep);
	if (s->tables)
		tables_tick(s->tables, now);
	if (s->javacode)
		javacode_tick(s->javacode, now);
	s->looked = now;
	s->npoll = 0;
}

bool session_step(struct session *s, int ms)
{
	uint64_t now;

	wait_for_records(s, time_to_wait(s, ms));
	now = clock_now();
	if (s->tables)
		tables_take(s->tables, now);
	drain(s, now - SLACK);
	if (s->lost_state)
		mend_state(s);
	processes_forget(s->processes, now - SLACK - KEPT_NS);
	if (now - s->looked > LOOK_NS)
		look(s, now);
	if (complete(s))
		return false;
	return s->o.windows || !s->open || !s->chunk.error;
}

/* What the kernel's own counters say beyond the LOST records: what was lost when nothing came after it. */
static void add_hidden_loss(struct session *s)
{
	uint64_t lost = sources_lost(s->sources);

	if (lost <= s->lost_seen)
		return;
	s->report.loss.samples += lost - s->lost_seen;
	write_lost_samples(s, lost - s->lost_seen, s->last, 0);
}

int session_finish(struct session *s)
{
	uint64_t now = clock_now();
	bool unwanted = s->o.align && now < s->begin; /* stopped before the first border */

	if (complete(s))
		return 0;
	drain(s, now);
	while (s->held && clock_now() < now + SECOND_NS) {
		wait_for_records(s, HELD_MS);
		tables_take(s->tables, clock_now());
		drain(s, now);
	}
	s->hurry = true;
	drain(s, now);
	add_hidden_loss(s);
	if (unwanted && s->o.windows && s->open) {
		struct chunk_end e = { 0 };

		chunk_end(&s->chunk, &e);
		windows_drop(s->o.windows, &s->window, 0, &s->report);
		return 0;
	}
	end_window(s, now < s->end ? now : s->end);
	return s->failed ? s->error : 0;
}

struct session_totals session_totals(const struct session *s)
{
	struct session_totals t = s->totals;
	struct tables_counts c = s->tables ? tables_count(s->tables) : (struct tables_counts){ 0 };

	t.makers = c.hung + c.crashed;
	return t;
}

void session_free(struct session *s)
{
	if (!s)
		return;
	sources_close(s->sources);
	rings_free(s->rings);
	state_free(s->state);
	offcpu_free(s->offcpu);
	unwinding_free(s->unwinding);
	javacode_free(s->javacode);
	javanames_free(s->names);
	tables_stop(s->tables);
	processes_free(s->processes);
	cgroups_free(s->cgroups);
	kernel_free(s->kernel);
	host_free(s->host);
	for (size_t i = 0; s->event && i <= s->o.nevents; i++)
		free((void *)(uintptr_t)s->event[i].ids);
	free(s->event);
	free(s->told);
	free(s->idle);
	free(s->poll);
	text_free(&s->text);
	text_free(&s->sample);
	free(s);
}
