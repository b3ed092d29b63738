/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/samples/samples.h"

#include "common/formats/folded.h"

#include <stdio.h>
#include <stdlib.h>

#define ROOTS 1024

/* The first node of samples whose header began with the same bytes. */
struct samples_root {
	struct suffix_sample last; /* the sample before, with the same label */
	uint32_t node;
	uint8_t n; /* 0: empty */
	char label[59];
};

void samples_init(struct samples *p, const struct samples_options *o)
{
	*p = (struct samples){ .options = o, .names = o->names };
	linecache_init(&p->lines, &p->names, &p->stacks);
	p->roots = mem_alloc(sizeof(*p->roots), ROOTS);
	p->tally.first_ns = UINT64_MAX;
	/* what depends on single frames of a sample looks at all of them */
	p->share = !o->nskip_after && !o->collapse_recursion && !o->names.addresses;
}

/* ---- what was not understood -------------------------------------------------------------------------------- */

void samples_skip(struct samples *p, struct str line, uint64_t number)
{
	struct samples_place *place;

	p->regular = false;
	if (p->tally.skipped < SAMPLES_PLACES) {
		place = &p->tally.place[p->tally.skipped];
		place->block = p->block;
		place->line = number;
		if (line.n >= sizeof(place->text))
			line.n = sizeof(place->text) - 1;
		memcpy(place->text, line.p, line.n);
		place->text[line.n] = 0;
	}
	p->tally.skipped++;
}

/* ---- events ------------------------------------------------------------------------------------------------- */

int samples_event_cmp(const void *va, const void *vb)
{
	const struct samples_event *a = va, *b = vb;

	if (a->samples != b->samples)
		return a->samples < b->samples ? 1 : -1;
	return str_cmp(a->name, b->name);
}

static struct samples_event *samples_event_of(struct samples *p, struct str name)
{
	uint32_t id;

	if (likely(p->nevents && str_eq(p->event[p->latest].name, name)))
		return &p->event[p->latest];
	id = intern(&p->event_names, name);
	if (id > p->nevents) {
		if (p->nevents == p->events_cap) {
			p->events_cap = p->events_cap ? 2 * p->events_cap : 8;
			p->event = mem_grow(p->event, sizeof(*p->event), p->events_cap);
		}
		p->event[p->nevents++] = (struct samples_event){ .name = intern_str(&p->event_names, id) };
	}
	p->latest = id - 1;
	return &p->event[p->latest];
}

/* Is this the event that is counted? Decides which it is at the first that may be. */
static bool is_chosen(struct samples *p, struct str event)
{
	struct str key = samplekey_event_key(event);

	if (p->preferred.n && !p->chosen && !p->options->select.event.n && !str_eq(key, p->preferred))
		return false;
	if (!p->chosen && select_event(&p->options->select, event)) {
		p->chosen = true;
		p->event_name = arena_copy(&p->text, event);
		p->event_key = arena_copy(&p->text, key);
	}
	return p->chosen && str_eq(key, p->event_key);
}

struct str samples_event_name(const struct samples *p)
{
	return p->event_name;
}

static enum samples_weight weight_kind(enum samples_weight is_requested, struct str event)
{
	if (is_requested != WEIGHT_DEFAULT)
		return is_requested;
	return str_starts(event, STR("offcpu-time")) ? WEIGHT_PERIOD : WEIGHT_SAMPLES;
}

struct str samples_unit(const struct samples *p, enum samples_weight weight)
{
	struct str name = p->event_name;

	if (weight_kind(weight, name) == WEIGHT_SAMPLES)
		return STR("samples");
	name = str_cut(&name, ':');
	if (str_eq(name, STR("cpu-clock")) || str_eq(name, STR("task-clock")) || str_starts(name, STR("offcpu-time")))
		return STR("ns");
	return name.n ? name : STR("periods");
}

/* ---- first frame -------------------------------------------------------------------------------------------- */

static uint32_t make_root(struct samples *p, const struct sample_key *h)
{
	const struct samples_options *o = p->options;
	char ids[64], *label;
	struct str comm;
	uint32_t frame;
	int n = 0;

	if (o->comm == COMM_NONE || (h->comm.n == 0 && h->tid < 0 && !o->pid && !o->tid))
		return 0; /* a thread may have an empty name; without a tid, names were not printed */
	comm = names_comm(&p->names, h->first.n ? h->first : h->comm, o->comm == COMM_CANONICAL);
	if (o->tid || o->pid) {
		char pid[24] = "?", tid[24] = "?";

		if (h->pid >= 0)
			snprintf(pid, sizeof(pid), "%lld", (long long)h->pid);
		if (h->tid >= 0)
			snprintf(tid, sizeof(tid), "%lld", (long long)h->tid);
		n = o->tid ? snprintf(ids, sizeof(ids), "-%s/%s", pid, tid) : snprintf(ids, sizeof(ids), "-%s", pid);
	}
	label = mem_alloc(1, comm.n + (size_t)n + 1);
	memcpy(label, comm.p, comm.n);
	memcpy(label + comm.n, ids, (size_t)n);
	frame = stacks_frame(&p->stacks, (struct str){ label, comm.n + (size_t)n });
	free(label);
	return stacks_child(&p->stacks, 0, frame);
}

static uint32_t samples_root_of(struct samples *p, const struct sample_key *h)
{
	struct str label = h->before.n ? h->before : h->comm;
	struct samples_root *r = &p->roots[hash_bytes(label.p, label.n) % ROOTS];

	p->root = NULL;
	if (label.n == 0 || label.n > sizeof(r->label))
		return make_root(p, h);
	p->root = r;
	if (r->n != label.n || memcmp(r->label, label.p, label.n) != 0) {
		r->node = make_root(p, h);
		r->last.n = 0;
		r->n = (uint8_t)label.n;
		memcpy(r->label, label.p, label.n);
	}
	return r->node;
}

/* ---- frames ------------------------------------------------------------------------------------------------- */

static void push_frame(struct samples *p, uint32_t frame)
{
	if (unlikely(p->nframes == p->frames_cap)) {
		p->frames_cap = p->frames_cap ? p->frames_cap * 2 : 256;
		p->frame = mem_grow(p->frame, sizeof(*p->frame), p->frames_cap);
	}
	p->frame[p->nframes++] = frame;
}

/* --addrs: an unresolved frame is another one at each address. */
static uint32_t frame_with_address(struct samples *p, struct str tail, struct str address)
{
	struct names_frame f = linecache_split(tail);

	f.address = address;
	return stacks_frame(&p->stacks, names_make(&p->names, f));
}

static void push_entry(struct samples *p, const struct line_entry *e)
{
	p->last_frame = p->nframes;
	p->tally.frames++;
	p->tally.unresolved += e->unresolved;
	push_frame(p, e->frame);
	if (unlikely(e->unwinder))
		for (const uint32_t *f = &p->lines.more[e->unwinder]; *f; f++)
			push_frame(p, *f);
}

/* The frame lines that were only noted so far become frames. */
void samples_look_up(struct samples *p)
{
	for (size_t i = 0; i < p->nrefs; i++)
		linecache_guess(&p->lines, &p->ref[i]);
	for (size_t i = 0; i < p->nrefs; i++)
		push_entry(p, linecache_get(&p->lines, &p->ref[i]));
	p->nrefs = 0;
}

struct samples_open samples_suspend(struct samples *p)
{
	struct samples_open sample = p->sample;

	p->sample.state = SAMPLE_NONE;
	return sample;
}

void samples_resume(struct samples *p, struct samples_open sample)
{
	p->sample = sample;
	p->nframes = p->nrefs = 0;
	p->root = NULL; /* the cache may have passed on */
}

void samples_push(struct samples *p, uint32_t id)
{
	push_frame(p, id);
}

/* start: where the line begins, NULL when it is not one behind a TAB. */
void samples_frame(struct samples *p, struct str tail, struct str address, const char *start)
{
	struct line_ref *ref;

	if (unlikely(p->nrefs == p->refs_cap)) {
		p->refs_cap = p->refs_cap ? p->refs_cap * 2 : 256;
		p->ref = mem_grow(p->ref, sizeof(*p->ref), p->refs_cap);
	}
	ref = &p->ref[p->nrefs++];
	ref->p = tail.p;
	ref->n = (uint32_t)tail.n;
	ref->start = start;
	p->regular = p->regular && start;
	linecache_hash(&p->lines, ref);
	p->sample.last = tail;
	if (unlikely(p->names.addresses) && names_unresolved(linecache_split(tail))) {
		samples_look_up(p);
		p->nframes = p->last_frame;
		push_frame(p, frame_with_address(p, tail, address));
	}
}

/* ---- samples ------------------------------------------------------------------------------------------------ */

static void count_time(struct samples_tally *t, const struct sample_key *h)
{
	uint64_t ns;

	if (!samplekey_ns(h, &ns))
		return;
	if (ns < t->first_ns)
		t->first_ns = ns;
	if (ns > t->last_ns)
		t->last_ns = ns;
}

static uint64_t weight_of(const struct samples *p, const struct sample_key *h)
{
	return weight_kind(p->options->weight, h->event) == WEIGHT_PERIOD && h->period ? h->period : 1;
}

void samples_open(struct samples *p, const struct sample_key *h)
{
	struct samples_event *e = samples_event_of(p, h->event);

	e->samples++;
	e->period += h->period;
	p->tally.with_pid += h->pid >= 0;
	p->nframes = p->nrefs = 0;
	p->sample.state = SAMPLE_IGNORED;
	if (!p->has_first)
		p->has_first = samplekey_ns(h, &p->first_ns);
	if (!is_chosen(p, h->event))
		return;
	if (!select_sample(&p->options->select, h, p->first_ns)) {
		p->tally.deselected++;
		return;
	}
	if (p->options->times)
		count_time(&p->tally, h);
	p->sample.root = samples_root_of(p, h);
	p->sample.weight = weight_of(p, h);
	p->sample.state = SAMPLE_OPEN;
	p->regular = true;
	p->shared = 0;
	p->serial++;
}

const struct suffix_sample *samples_before(const struct samples *p)
{
	return p->root ? &p->root->last : NULL;
}

/* Is the frame one of --skip-after? Looked up once per frame id. */
static bool samples_is_skip_after(struct samples *p, uint32_t frame)
{
	if (frame >= p->skip_cap) {
		size_t cap = (size_t)p->stacks.frames.cap + 1;

		p->skip = mem_grow(p->skip, 1, cap);
		memset(p->skip + p->skip_cap, 0, cap - p->skip_cap);
		p->skip_cap = cap;
	}
	if (p->skip[frame] == 0) {
		struct str name = folded_plain(intern_str(&p->stacks.frames, frame));

		p->skip[frame] = 2;
		for (size_t i = 0; i < p->options->nskip_after; i++)
			if (str_eq(name, folded_plain(p->options->skip_after[i])))
				p->skip[frame] = 1;
	}
	return p->skip[frame] == 1;
}

/* What --skip-after and --collapse-recursion leave of the frames. */
static void reduce_frames(struct samples *p)
{
	const struct intern *names = &p->stacks.frames;
	size_t n = 0;

	for (size_t i = 0; p->options->nskip_after && i < p->nframes; i++) {
		if (samples_is_skip_after(p, p->frame[i])) {
			p->nframes = i + 1;
			p->sample.root = 0;
		}
	}
	if (!p->options->collapse_recursion)
		return;
	for (size_t i = 0; i < p->nframes; i++) {
		bool again =
			n && (p->frame[n - 1] == p->frame[i] || str_eq(folded_plain(intern_str(names, p->frame[n - 1])),
								       folded_plain(intern_str(names, p->frame[i]))));

		if (!again)
			p->frame[n++] = p->frame[i];
	}
	p->nframes = n;
}

static void add_weight(struct samples *p, uint32_t node)
{
	if (node == 0) /* neither a comm nor a frame */
		node = stacks_child(&p->stacks, 0, stacks_frame(&p->stacks, STR("[unknown]")));
	if (p->options->counts)
		stacks_add(&p->stacks, node, 1, 1);
	if (!stacks_add(&p->stacks, node, 0, p->sample.weight))
		p->tally.overflow = true;
}

/* The frames of one line, outermost first; those that an inlined one stands in are kept inside out. */
static void push_inwards(struct samples *p, const struct line_entry *e)
{
	uint32_t n = 0;

	while (e->unwinder && p->lines.more[e->unwinder + n])
		n++;
	while (n-- > 0)
		push_frame(p, p->lines.more[e->unwinder + n]);
	push_frame(p, e->frame);
}

/* The outer lines are those of the thread's sample before: copies what is known of them. Gives the innermost of them.
 */
static struct suffix_line samples_take_shared(struct samples *p, struct suffix_line *to, const char *end)
{
	const struct suffix_sample *last = &p->root->last;
	const struct suffix_line *from = p->suffixes.line + last->first + last->n - p->shared;

	for (uint32_t i = 0; i < p->shared; i++) {
		to[i] = from[i];
		to[i].start += end - last->end;
	}
	return to[0];
}

/* The lines that were noted, from the outermost inwards: first all frames, then, with memory on its way, their nodes.
 */
static struct suffix_line walk_lines(struct samples *p, struct suffix_line *line, struct suffix_line outer)
{
	uint32_t n = (uint32_t)p->nrefs;

	for (uint32_t i = 0; i < n; i++)
		linecache_guess(&p->lines, &p->ref[i]);
	for (uint32_t i = n; i-- > 0;) {
		const struct line_entry *e = linecache_get(&p->lines, &p->ref[i]);

		push_inwards(p, e);
		outer.unresolved += e->unresolved;
		line[i] = (struct suffix_line){ p->ref[i].start, (uint32_t)p->nframes, outer.unresolved };
	}
	stacks_expect(&p->stacks, outer.node, p->frame, p->nframes);
	for (uint32_t i = n, done = 0; i-- > 0; line[i].node = outer.node)
		for (; done < line[i].node; done++) /* not the node yet, but where its frames end */
			outer.node = stacks_child(&p->stacks, outer.node, p->frame[done]);
	p->nrefs = p->nframes = 0;
	return outer;
}

/*
 * A sample of which no frame was looked at before. What it leaves in tails serves the next sample of the thread. end:
 * of its text, NULL when it did not end at an empty line.
 */
static void close_regular(struct samples *p, const char *end)
{
	uint32_t inner = (uint32_t)p->nrefs, n = inner + p->shared, first = p->suffixes.n;
	struct suffix_line leaf = { .node = p->sample.root };
	struct suffix_line *line;

	suffixcache_reserve(&p->suffixes, n + 1); /* never nothing: no pointer to it would be valid */
	line = p->suffixes.line + first;
	if (p->shared)
		leaf = samples_take_shared(p, line + inner, end);
	leaf = walk_lines(p, line, leaf);
	p->tally.samples++;
	p->tally.fp += n == 0;
	p->tally.deep += n > 1;
	p->tally.frames += n;
	p->tally.unresolved += leaf.unresolved;
	add_weight(p, leaf.node);
	if (end && p->root && p->regular) {
		p->root->last = (struct suffix_sample){ p->block + 1, end, first, n };
		p->suffixes.n += n;
	}
}

/* end: where the empty line begins that closes the sample; NULL when something else does. */
void samples_close(struct samples *p, const char *end)
{
	uint32_t node = p->sample.root;
	bool open = p->sample.state == SAMPLE_OPEN;

	p->sample.state = SAMPLE_NONE;
	if (!open)
		return;
	if (likely(p->share && p->nframes == 0)) {
		close_regular(p, end);
		return;
	}
	samples_look_up(p);
	if (unlikely(p->options->nskip_after || p->options->collapse_recursion)) {
		reduce_frames(p);
		node = p->sample.root;
	}
	p->tally.samples++;
	p->tally.fp += p->nframes == 0;
	p->tally.deep += p->nframes > 1;
	for (size_t i = p->nframes; i-- > 0;)
		node = stacks_child(&p->stacks, node, p->frame[i]);
	add_weight(p, node);
}

void samples_rename_last(struct samples *p, struct names_frame f)
{
	struct str names = names_make(&p->names, f);
	size_t from;

	p->nframes = p->last_frame;
	for (; names.n; names.n = from ? from - 1 : 0) { /* they come outermost first, and stand innermost first */
		from = (size_t)(str_rfind(names, '\n') + 1);
		push_frame(p, stacks_frame(&p->stacks, str_from(names, from)));
	}
}

/* ---- several threads ---------------------------------------------------------------------------------------- */

void samples_fork(struct samples *worker, const struct samples *of)
{
	samples_init(worker, of->options);
	worker->chosen = of->chosen;
	worker->event_key = of->event_key;
	worker->event_name = of->event_name;
	worker->has_first = true; /* what is not known by now must not depend on the thread */
	worker->first_ns = of->first_ns;
}

static bool samples_is_before(const struct samples_place *a, const struct samples_place *b)
{
	return a->block != b->block ? a->block < b->block : a->line < b->line;
}

/* The first places of both, in order of the input. */
static void merge_places(struct samples_tally *to, const struct samples_tally *from)
{
	struct samples_place all[SAMPLES_PLACES];
	size_t i = 0, j = 0, ni = to->skipped < SAMPLES_PLACES ? to->skipped : SAMPLES_PLACES;
	size_t nj = from->skipped < SAMPLES_PLACES ? from->skipped : SAMPLES_PLACES;

	memset(all, 0, sizeof(all));
	for (size_t k = 0; k < SAMPLES_PLACES && (i < ni || j < nj); k++)
		all[k] = j == nj || (i < ni && samples_is_before(&to->place[i], &from->place[j])) ? to->place[i++] :
												    from->place[j++];
	memcpy(to->place, all, sizeof(all));
}

void samples_merge_counts(struct samples *p, const struct samples *worker)
{
	struct samples_tally *to = &p->tally;
	const struct samples_tally *from = &worker->tally;

	if (!p->chosen && worker->chosen) {
		p->chosen = true;
		p->event_name = arena_copy(&p->text, worker->event_name);
		p->event_key = arena_copy(&p->text, worker->event_key);
	}
	merge_places(to, from);
	to->samples += from->samples;
	to->deselected += from->deselected;
	to->fp += from->fp;
	to->deep += from->deep;
	to->frames += from->frames;
	to->unresolved += from->unresolved;
	to->lost += from->lost;
	to->with_pid += from->with_pid;
	to->deferred += from->deferred;
	to->skipped += from->skipped;
	if (from->first_ns < to->first_ns)
		to->first_ns = from->first_ns;
	if (from->last_ns > to->last_ns)
		to->last_ns = from->last_ns;
	to->overflow = to->overflow || from->overflow;
	for (uint32_t i = 0; i < worker->nevents; i++) {
		struct samples_event *e = samples_event_of(p, worker->event[i].name);

		e->samples += worker->event[i].samples;
		e->period += worker->event[i].period;
	}
}

void samples_merge(struct samples *p, const struct samples *worker)
{
	samples_merge_counts(p, worker);
	if (!stacks_merge(&p->stacks, &worker->stacks))
		p->tally.overflow = true;
}

void samples_free(struct samples *p)
{
	stacks_free(&p->stacks);
	names_free(&p->names);
	linecache_free(&p->lines);
	arena_free(&p->text);
	free(p->event);
	intern_free(&p->event_names);
	free(p->ref);
	free(p->frame);
	free(p->skip);
	free(p->roots);
	free(p->suffixes.line);
}
