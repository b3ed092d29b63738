/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/samples/samples.h"

#include "common/formats/folded.h"

#include <stdio.h>
#include <stdlib.h>

#define ROOTS 1024

/* Cache entry: the first node of samples whose headers begin with the same bytes. */
struct samples_root {
	struct suffix_sample last; /* the sample before, with the same label */
	uint32_t node;
	uint8_t n; /* 0: empty */
	char label[59];
};

void samples_init(struct samples *samples, const struct samples_options *options)
{
	*samples = (struct samples){ .options = options, .names = options->names };
	linecache_init(&samples->lines, &samples->names, &samples->stacks);
	samples->roots = mem_alloc(sizeof(*samples->roots), ROOTS);
	samples->tally.first_ns = UINT64_MAX;
	/* Options that change single frames need all frames of each sample, so nothing is shared. */
	samples->share = !options->nskip_after && !options->collapse_recursion && !options->names.addresses;
}

/* ---- lines that cannot be parsed -------------------------------------------------------------------------------- */

void samples_skip(struct samples *samples, struct str line, uint64_t number)
{
	struct samples_place *place;

	samples->regular = false;
	if (samples->tally.skipped < SAMPLES_PLACES) {
		place = &samples->tally.place[samples->tally.skipped];
		place->block = samples->block;
		place->line = number;
		if (line.n >= sizeof(place->text))
			line.n = sizeof(place->text) - 1;
		memcpy(place->text, line.p, line.n);
		place->text[line.n] = 0;
	}
	samples->tally.skipped++;
}

/* ---- events ------------------------------------------------------------------------------------------------- */

int samples_event_cmp(const void *left, const void *right)
{
	const struct samples_event *event = left, *b = right;

	if (event->samples != b->samples)
		return event->samples < b->samples ? 1 : -1;
	return str_cmp(event->name, b->name);
}

static struct samples_event *samples_event_of(struct samples *samples, struct str name)
{
	uint32_t id;

	if (likely(samples->nevents && str_eq(samples->event[samples->latest].name, name)))
		return &samples->event[samples->latest];
	id = intern(&samples->event_names, name);
	if (id > samples->nevents) {
		if (samples->nevents == samples->events_cap) {
			samples->events_cap = samples->events_cap ? 2 * samples->events_cap : 8;
			samples->event = mem_grow(samples->event, sizeof(*samples->event), samples->events_cap);
		}
		samples->event[samples->nevents++] =
			(struct samples_event){ .name = intern_str(&samples->event_names, id) };
	}
	samples->latest = id - 1;
	return &samples->event[samples->latest];
}

/* Returns true if this event is counted. The first selected event decides which one is. */
static bool is_chosen(struct samples *samples, struct str event)
{
	struct str key = samplekey_event_key(event);

	if (samples->preferred.n && !samples->chosen && !samples->options->select.event.n &&
	    !str_eq(key, samples->preferred))
		return false;
	if (!samples->chosen && select_event(&samples->options->select, event)) {
		samples->chosen = true;
		samples->event_name = arena_copy(&samples->text, event);
		samples->event_key = arena_copy(&samples->text, key);
	}
	return samples->chosen && str_eq(key, samples->event_key);
}

struct str samples_event_name(const struct samples *samples)
{
	return samples->event_name;
}

static enum samples_weight weight_kind(enum samples_weight is_requested, struct str event)
{
	if (is_requested != WEIGHT_DEFAULT)
		return is_requested;
	return str_starts(event, STR("offcpu-time")) ? WEIGHT_PERIOD : WEIGHT_SAMPLES;
}

struct str samples_unit(const struct samples *samples, enum samples_weight weight)
{
	struct str name = samples->event_name;

	if (weight_kind(weight, name) == WEIGHT_SAMPLES)
		return STR("samples");
	name = str_cut(&name, ':');
	if (str_eq(name, STR("cpu-clock")) || str_eq(name, STR("task-clock")) || str_starts(name, STR("offcpu-time")))
		return STR("ns");
	return name.n ? name : STR("periods");
}

/* ---- first frame -------------------------------------------------------------------------------------------- */

static uint32_t make_root(struct samples *samples, const struct sample_key *key)
{
	const struct samples_options *options = samples->options;
	char ids[64], *label;
	struct str comm;
	uint32_t frame;
	int got = 0;

	if (options->comm == COMM_NONE || (key->comm.n == 0 && key->tid < 0 && !options->pid && !options->tid))
		return 0; /* without a tid, perf script has not printed names; with one, the name is empty */
	comm = names_comm(&samples->names, key->first.n ? key->first : key->comm, options->comm == COMM_CANONICAL);
	if (options->tid || options->pid) {
		char pid[24] = "?", tid[24] = "?";

		if (key->pid >= 0)
			snprintf(pid, sizeof(pid), "%lld", (long long)key->pid);
		if (key->tid >= 0)
			snprintf(tid, sizeof(tid), "%lld", (long long)key->tid);
		got = options->tid ? snprintf(ids, sizeof(ids), "-%s/%s", pid, tid) :
				     snprintf(ids, sizeof(ids), "-%s", pid);
	}
	label = mem_alloc(1, comm.n + (size_t)got + 1);
	memcpy(label, comm.p, comm.n);
	memcpy(label + comm.n, ids, (size_t)got);
	frame = stacks_frame(&samples->stacks, (struct str){ label, comm.n + (size_t)got });
	free(label);
	return stacks_child(&samples->stacks, 0, frame);
}

static uint32_t samples_root_of(struct samples *samples, const struct sample_key *key)
{
	struct str label = key->before.n ? key->before : key->comm;
	struct samples_root *root = &samples->roots[hash_bytes(label.p, label.n) % ROOTS];

	samples->root = NULL;
	if (label.n == 0 || label.n > sizeof(root->label))
		return make_root(samples, key);
	samples->root = root;
	if (root->n != label.n || memcmp(root->label, label.p, label.n) != 0) {
		root->node = make_root(samples, key);
		root->last.n = 0;
		root->n = (uint8_t)label.n;
		memcpy(root->label, label.p, label.n);
	}
	return root->node;
}

/* ---- frames ------------------------------------------------------------------------------------------------- */

static void push_frame(struct samples *samples, uint32_t frame)
{
	if (unlikely(samples->nframes == samples->frames_cap)) {
		samples->frames_cap = samples->frames_cap ? samples->frames_cap * 2 : 256;
		samples->frame = mem_grow(samples->frame, sizeof(*samples->frame), samples->frames_cap);
	}
	samples->frame[samples->nframes++] = frame;
}

/* --addrs: unresolved frames at different addresses are different frames. */
static uint32_t frame_with_address(struct samples *samples, struct str frame_text, struct str address)
{
	struct names_frame frame = linecache_split(frame_text);

	frame.address = address;
	return stacks_frame(&samples->stacks, names_make(&samples->names, frame));
}

static void push_entry(struct samples *samples, const struct line_entry *entry)
{
	samples->last_frame = samples->nframes;
	samples->tally.frames++;
	samples->tally.unresolved += entry->unresolved;
	push_frame(samples, entry->frame);
	if (unlikely(entry->unwinder))
		for (const uint32_t *f = &samples->lines.more[entry->unwinder]; *f; f++)
			push_frame(samples, *f);
}

/* Turns the collected frame lines into frames. */
void samples_look_up(struct samples *samples)
{
	for (size_t i = 0; i < samples->nrefs; i++)
		linecache_guess(&samples->lines, &samples->ref[i]);
	for (size_t i = 0; i < samples->nrefs; i++)
		push_entry(samples, linecache_get(&samples->lines, &samples->ref[i]));
	samples->nrefs = 0;
}

struct samples_open samples_suspend(struct samples *samples)
{
	struct samples_open sample = samples->sample;

	samples->sample.state = SAMPLE_NONE;
	return sample;
}

void samples_resume(struct samples *samples, struct samples_open sample)
{
	samples->sample = sample;
	samples->nframes = samples->nrefs = 0;
	samples->root = NULL; /* the cache entry may have been reused */
}

void samples_push(struct samples *samples, uint32_t id)
{
	push_frame(samples, id);
}

/* `start`: the start of the line, or NULL if it does not begin with a TAB. */
void samples_frame(struct samples *samples, struct str frame_text, struct str address, const char *start)
{
	struct line_ref *ref;

	if (unlikely(samples->nrefs == samples->refs_cap)) {
		samples->refs_cap = samples->refs_cap ? samples->refs_cap * 2 : 256;
		samples->ref = mem_grow(samples->ref, sizeof(*samples->ref), samples->refs_cap);
	}
	ref = &samples->ref[samples->nrefs++];
	ref->p = frame_text.p;
	ref->n = (uint32_t)frame_text.n;
	ref->start = start;
	samples->regular = samples->regular && start;
	linecache_hash(&samples->lines, ref);
	samples->sample.last = frame_text;
	if (unlikely(samples->names.addresses) && names_unresolved(linecache_split(frame_text))) {
		samples_look_up(samples);
		samples->nframes = samples->last_frame;
		push_frame(samples, frame_with_address(samples, frame_text, address));
	}
}

/* ---- samples ------------------------------------------------------------------------------------------------ */

static void count_time(struct samples_tally *tally, const struct sample_key *key)
{
	uint64_t ns;

	if (!samplekey_ns(key, &ns))
		return;
	if (ns < tally->first_ns)
		tally->first_ns = ns;
	if (ns > tally->last_ns)
		tally->last_ns = ns;
}

static uint64_t weight_of(const struct samples *samples, const struct sample_key *key)
{
	return weight_kind(samples->options->weight, key->event) == WEIGHT_PERIOD && key->period ? key->period : 1;
}

void samples_open(struct samples *samples, const struct sample_key *key)
{
	struct samples_event *event = samples_event_of(samples, key->event);

	event->samples++;
	event->period += key->period;
	samples->tally.with_pid += key->pid >= 0;
	samples->nframes = samples->nrefs = 0;
	samples->sample.state = SAMPLE_IGNORED;
	if (!samples->has_first)
		samples->has_first = samplekey_ns(key, &samples->first_ns);
	if (!is_chosen(samples, key->event))
		return;
	if (!select_sample(&samples->options->select, key, samples->first_ns)) {
		samples->tally.deselected++;
		return;
	}
	if (samples->options->times)
		count_time(&samples->tally, key);
	samples->sample.root = samples_root_of(samples, key);
	samples->sample.weight = weight_of(samples, key);
	samples->sample.state = SAMPLE_OPEN;
	samples->regular = true;
	samples->shared = 0;
	samples->serial++;
}

const struct suffix_sample *samples_before(const struct samples *samples)
{
	return samples->root ? &samples->root->last : NULL;
}

/* Returns true for a frame of --skip-after. Compares names once per frame id. */
static bool samples_is_skip_after(struct samples *samples, uint32_t frame)
{
	if (frame >= samples->skip_cap) {
		size_t cap = (size_t)samples->stacks.frames.cap + 1;

		samples->skip = mem_grow(samples->skip, 1, cap);
		memset(samples->skip + samples->skip_cap, 0, cap - samples->skip_cap);
		samples->skip_cap = cap;
	}
	if (samples->skip[frame] == 0) {
		struct str name = folded_plain(intern_str(&samples->stacks.frames, frame));

		samples->skip[frame] = 2;
		for (size_t i = 0; i < samples->options->nskip_after; i++)
			if (str_eq(name, folded_plain(samples->options->skip_after[i])))
				samples->skip[frame] = 1;
	}
	return samples->skip[frame] == 1;
}

/* Applies --skip-after and --collapse-recursion to the frames. */
static void reduce_frames(struct samples *samples)
{
	const struct intern *names = &samples->stacks.frames;
	size_t n = 0;

	for (size_t i = 0; samples->options->nskip_after && i < samples->nframes; i++) {
		if (samples_is_skip_after(samples, samples->frame[i])) {
			samples->nframes = i + 1;
			samples->sample.root = 0;
		}
	}
	if (!samples->options->collapse_recursion)
		return;
	for (size_t i = 0; i < samples->nframes; i++) {
		bool again = n && (samples->frame[n - 1] == samples->frame[i] ||
				   str_eq(folded_plain(intern_str(names, samples->frame[n - 1])),
					  folded_plain(intern_str(names, samples->frame[i]))));

		if (!again)
			samples->frame[n++] = samples->frame[i];
	}
	samples->nframes = n;
}

static void add_weight(struct samples *samples, uint32_t node)
{
	if (node == 0) /* neither a comm nor a frame */
		node = stacks_child(&samples->stacks, 0, stacks_frame(&samples->stacks, STR("[unknown]")));
	if (samples->options->counts)
		stacks_add(&samples->stacks, node, 1, 1);
	if (!stacks_add(&samples->stacks, node, 0, samples->sample.weight))
		samples->tally.overflow = true;
}

/* Adds the nodes of one line, outermost frame first. The callers of an inlined frame are stored innermost first. */
static void push_inwards(struct samples *samples, const struct line_entry *entry)
{
	uint32_t n = 0;

	while (entry->unwinder && samples->lines.more[entry->unwinder + n])
		n++;
	while (n-- > 0)
		push_frame(samples, samples->lines.more[entry->unwinder + n]);
	push_frame(samples, entry->frame);
}

/* Copies the outer lines, which equal those of the thread's last sample. Returns the node of the innermost of them.
 */
static struct suffix_line samples_take_shared(struct samples *samples, struct suffix_line *line, const char *end)
{
	const struct suffix_sample *last = &samples->root->last;
	const struct suffix_line *from = samples->suffixes.line + last->first + last->n - samples->shared;

	for (uint32_t i = 0; i < samples->shared; i++) {
		line[i] = from[i];
		line[i].start += end - last->end;
	}
	return line[0];
}

/* Adds the collected lines from the outermost inwards: first looks up all frames, then, with prefetched memory, nodes.
 */
static struct suffix_line walk_lines(struct samples *samples, struct suffix_line *line, struct suffix_line outer)
{
	uint32_t n = (uint32_t)samples->nrefs;

	for (uint32_t i = 0; i < n; i++)
		linecache_guess(&samples->lines, &samples->ref[i]);
	for (uint32_t i = n; i-- > 0;) {
		const struct line_entry *entry = linecache_get(&samples->lines, &samples->ref[i]);

		push_inwards(samples, entry);
		outer.unresolved += entry->unresolved;
		line[i] = (struct suffix_line){ samples->ref[i].start, (uint32_t)samples->nframes, outer.unresolved };
	}
	stacks_expect(&samples->stacks, outer.node, samples->frame, samples->nframes);
	for (uint32_t i = n, done = 0; i-- > 0; line[i].node = outer.node)
		for (; done < line[i].node; done++) /* here node is still the end of the frames of the line */
			outer.node = stacks_child(&samples->stacks, outer.node, samples->frame[done]);
	samples->nrefs = samples->nframes = 0;
	return outer;
}

/*
 * Adds a sample whose frames are not looked up yet, and stores its lines for the next sample of the thread. `end`:
 * of its text, NULL when it did not end at an empty line.
 */
static void close_regular(struct samples *samples, const char *end)
{
	uint32_t inner = (uint32_t)samples->nrefs, n = inner + samples->shared, first = samples->suffixes.n;
	struct suffix_line leaf = { .node = samples->sample.root };
	struct suffix_line *line;

	suffixcache_reserve(&samples->suffixes, n + 1); /* at least one, so that the pointer is valid */
	line = samples->suffixes.line + first;
	if (samples->shared)
		leaf = samples_take_shared(samples, line + inner, end);
	leaf = walk_lines(samples, line, leaf);
	samples->tally.samples++;
	samples->tally.fp += n == 0;
	samples->tally.deep += n > 1;
	samples->tally.frames += n;
	samples->tally.unresolved += leaf.unresolved;
	add_weight(samples, leaf.node);
	if (end && samples->root && samples->regular) {
		samples->root->last = (struct suffix_sample){ samples->block + 1, end, first, n };
		samples->suffixes.n += n;
	}
}

/* `end`: the empty line that closes the sample, or NULL if something else does. */
void samples_close(struct samples *samples, const char *end)
{
	uint32_t node = samples->sample.root;
	bool open = samples->sample.state == SAMPLE_OPEN;

	samples->sample.state = SAMPLE_NONE;
	if (!open)
		return;
	if (likely(samples->share && samples->nframes == 0)) {
		close_regular(samples, end);
		return;
	}
	samples_look_up(samples);
	if (unlikely(samples->options->nskip_after || samples->options->collapse_recursion)) {
		reduce_frames(samples);
		node = samples->sample.root;
	}
	samples->tally.samples++;
	samples->tally.fp += samples->nframes == 0;
	samples->tally.deep += samples->nframes > 1;
	for (size_t i = samples->nframes; i-- > 0;)
		node = stacks_child(&samples->stacks, node, samples->frame[i]);
	add_weight(samples, node);
}

void samples_rename_last(struct samples *samples, struct names_frame frame)
{
	struct str names = names_make(&samples->names, frame);
	size_t from;

	samples->nframes = samples->last_frame;
	for (; names.n;
	     names.n = from ? from - 1 : 0) { /* names has them outermost first, the sample innermost first */
		from = (size_t)(str_rfind(names, '\n') + 1);
		push_frame(samples, stacks_frame(&samples->stacks, str_from(names, from)));
	}
}

/* ---- several threads ---------------------------------------------------------------------------------------- */

void samples_fork(struct samples *worker, const struct samples *samples)
{
	samples_init(worker, samples->options);
	worker->chosen = samples->chosen;
	worker->event_key = samples->event_key;
	worker->event_name = samples->event_name;
	worker->has_first = true; /* the result must not depend on the thread that sees the first time */
	worker->first_ns = samples->first_ns;
}

static bool samples_is_before(const struct samples_place *place, const struct samples_place *b)
{
	return place->block != b->block ? place->block < b->block : place->line < b->line;
}

/* Merges the first places of both, in input order. */
static void merge_places(struct samples_tally *tally, const struct samples_tally *from)
{
	struct samples_place all[SAMPLES_PLACES];
	size_t i = 0, second = 0, ni = tally->skipped < SAMPLES_PLACES ? tally->skipped : SAMPLES_PLACES;
	size_t nj = from->skipped < SAMPLES_PLACES ? from->skipped : SAMPLES_PLACES;

	memset(all, 0, sizeof(all));
	for (size_t index = 0; index < SAMPLES_PLACES && (i < ni || second < nj); index++)
		all[index] = second == nj || (i < ni && samples_is_before(&tally->place[i], &from->place[second])) ?
				     tally->place[i++] :
				     from->place[second++];
	memcpy(tally->place, all, sizeof(all));
}

void samples_merge_counts(struct samples *samples, const struct samples *worker)
{
	struct samples_tally *tally = &samples->tally;
	const struct samples_tally *from = &worker->tally;

	if (!samples->chosen && worker->chosen) {
		samples->chosen = true;
		samples->event_name = arena_copy(&samples->text, worker->event_name);
		samples->event_key = arena_copy(&samples->text, worker->event_key);
	}
	merge_places(tally, from);
	tally->samples += from->samples;
	tally->deselected += from->deselected;
	tally->fp += from->fp;
	tally->deep += from->deep;
	tally->frames += from->frames;
	tally->unresolved += from->unresolved;
	tally->lost += from->lost;
	tally->with_pid += from->with_pid;
	tally->deferred += from->deferred;
	tally->skipped += from->skipped;
	if (from->first_ns < tally->first_ns)
		tally->first_ns = from->first_ns;
	if (from->last_ns > tally->last_ns)
		tally->last_ns = from->last_ns;
	tally->overflow = tally->overflow || from->overflow;
	for (uint32_t i = 0; i < worker->nevents; i++) {
		struct samples_event *event = samples_event_of(samples, worker->event[i].name);

		event->samples += worker->event[i].samples;
		event->period += worker->event[i].period;
	}
}

void samples_merge(struct samples *samples, const struct samples *worker)
{
	samples_merge_counts(samples, worker);
	if (!stacks_merge(&samples->stacks, &worker->stacks))
		samples->tally.overflow = true;
}

void samples_free(struct samples *samples)
{
	stacks_free(&samples->stacks);
	names_free(&samples->names);
	linecache_free(&samples->lines);
	arena_free(&samples->text);
	free(samples->event);
	intern_free(&samples->event_names);
	free(samples->ref);
	free(samples->frame);
	free(samples->skip);
	free(samples->roots);
	free(samples->suffixes.line);
}
