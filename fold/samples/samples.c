/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/samples/samples.h"

#include "fold/names/waitreason.h"

#include <stdio.h>
#include <stdlib.h>

void samples_init(struct samples *samples, const struct samples_options *options)
{
	*samples = (struct samples){ .options = options, .names = options->names };
	samples->tally.first_ns = UINT64_MAX;
}

/* ---- events and units of weights ---------------------------------------------------------------------------- */

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
		name = intern_str(&samples->event_names, id);
		samples->event[samples->nevents++] = (struct samples_event){ .name = name,
									     .key = samplekey_event_key(name),
									     .leaf = waitreason_leaf(name),
									     .weighs = samplekey_has_weights(name) };
	}
	samples->latest = id - 1;
	return &samples->event[samples->latest];
}

static bool samples_counts_as(const struct samples *samples, struct str event, struct str key)
{
	if (!samples->chosen || !str_eq(key, samples->event_key))
		return false;
	/* On a hybrid CPU, cpu_core/cycles/ and cpu_atom/cycles/ have the same key: samples of both are added, unless
	 * the user selects one of them. */
	return !samples->options->select.event.n || str_eq(event, samples->event_name) ||
	       select_event(&samples->options->select, event);
}

bool samples_counts(const struct samples *samples, struct str event)
{
	return samples_counts_as(samples, event, samplekey_event_key(event));
}

/* Returns true if samples of this event are added to the call tree, otherwise false. If no event is chosen yet, chooses
 * this event in two cases: the user selects it; or the user selects no event, and no event with another key is
 * preferred. */
static bool is_chosen(struct samples *samples, const struct samples_event *event)
{
	if (samples->preferred.n && !samples->chosen && !samples->options->select.event.n &&
	    !str_eq(event->key, samples->preferred))
		return false;
	if (!samples->chosen && select_event(&samples->options->select, event->name)) {
		samples->chosen = true;
		samples->event_name = arena_copy(&samples->text, event->name);
		samples->event_key = arena_copy(&samples->text, event->key);
	}
	return samples_counts_as(samples, event->name, event->key);
}

struct str samples_event_name(const struct samples *samples)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < samples->nevents; i++)
		n += samples_counts(samples, samples->event[i].name);
	return n > 1 ? samples->event_key : samples->event_name;
}

/* Returns the kind of weight for the user's `option`. For WEIGHT_DEFAULT it is the period if the event's samples have
 * weights of their own (samplekey_has_weights), otherwise the number of samples. */
static enum samples_weight weight_kind(enum samples_weight option, bool weighs)
{
	if (option != WEIGHT_DEFAULT)
		return option;
	return weighs ? WEIGHT_PERIOD : WEIGHT_SAMPLES;
}

struct str samples_unit(const struct samples *samples, enum samples_weight weight)
{
	struct str name = samples->event_name;

	if (weight_kind(weight, samplekey_has_weights(name)) == WEIGHT_SAMPLES)
		return STR("samples");
	if (samplekey_has_bytes(name))
		return STR("bytes");
	name = str_cut(&name, ':');
	if (str_eq(name, STR("cpu-clock")) || str_eq(name, STR("task-clock")) || samplekey_has_waits(name))
		return STR("ns");
	return name.n ? name : STR("periods");
}

/* ---- first frame of a stack --------------------------------------------------------------------------------- */

static uint32_t make_root(struct samples *samples, const struct sample_key *key)
{
	const struct samples_options *options = samples->options;
	char ids[64], *label;
	struct str comm;
	uint32_t frame;
	int got = 0;

	if (options->comm == COMM_NONE || (key->comm.n == 0 && key->tid < 0 && !options->pid && !options->tid))
		return 0; /* no first frame: the input has neither comm nor tid */
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
	struct samples_root *root;

	samples->root = NULL;
	if (label.n == 0 || label.n > sizeof(root->label))
		return make_root(samples, key);
	if (unlikely(!samples->roots))
		samples->roots = mem_alloc(sizeof(*samples->roots), SAMPLES_ROOTS);
	root = &samples->roots[hash_bytes(label.p, label.n) % SAMPLES_ROOTS];
	samples->root = root;
	if (root->n != label.n || memcmp(root->label, label.p, label.n) != 0) {
		root->node = make_root(samples, key);
		root->number = ++samples->nroots;
		root->n = (uint8_t)label.n;
		memcpy(root->label, label.p, label.n);
	}
	return root->node;
}

/* ---- frames of the open sample ------------------------------------------------------------------------------ */

void samples_grow(struct samples *samples)
{
	samples->frames_cap = samples->frames_cap ? samples->frames_cap * 2 : 256;
	samples->frame = mem_grow(samples->frame, sizeof(*samples->frame), samples->frames_cap);
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
	samples->nframes = 0;
	samples->root = NULL; /* the cache entry may have been reassigned while the sample was suspended */
}

/* ---- opening and closing of samples ------------------------------------------------------------------------- */

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

/* Returns the weight of the open sample: its period or the number of equal samples. A printed period of 0 is a weight
 * of 0 if the event has weights of its own: pjrecord --wall writes a period of 0 for a sample whose thread has no
 * on-CPU time since the sample before, and 0 bytes are an allocation of unknown size. For other events, a period of 0
 * is treated as missing, as in stackcollapse-perf.pl. */
static uint64_t weight_of(const struct samples *samples, const struct samples_event *event,
			  const struct sample_key *key)
{
	bool has_period = key->period || (key->zero_period && event->weighs);

	return weight_kind(samples->options->weight, event->weighs) == WEIGHT_PERIOD && has_period ?
		       key->period :
		       samples->sample.count;
}

void samples_open(struct samples *samples, const struct sample_key *key)
{
	struct samples_event *event = samples_event_of(samples, key->event);

	samples->sample.count = key->count ? key->count : 1;
	event->samples += samples->sample.count;
	event->period += key->period;
	samples->tally.with_pid += key->pid >= 0;
	samples->nframes = 0;
	samples->sample.state = SAMPLE_IGNORED;
	if (!samples->has_first)
		samples->has_first = samplekey_ns(key, &samples->first_ns);
	if (!is_chosen(samples, event))
		return;
	if (!select_sample(&samples->options->select, key, samples->first_ns)) {
		samples->tally.deselected += samples->sample.count;
		return;
	}
	if (samples->options->times)
		count_time(&samples->tally, key);
	samples->sample.root = samples_root_of(samples, key);
	samples->sample.weight = weight_of(samples, event, key);
	samples->sample.leaf = event->leaf.n ? stacks_frame(&samples->stacks, event->leaf) : 0;
	samples->sample.state = SAMPLE_OPEN;
}

static void add_weight(struct samples *samples, uint32_t node)
{
	if (node == 0) /* the sample has neither a comm nor a frame */
		node = stacks_child(&samples->stacks, 0, stacks_frame(&samples->stacks, STR("[unknown]")));
	if (samples->options->counts)
		stacks_add(&samples->stacks, node, 1, 1);
	if (!stacks_add(&samples->stacks, node, 0, samples->sample.weight))
		samples->tally.overflow = true;
}

/* Returns the node of the leaf frame that the open sample of a wall-clock profile adds below `node`. */
static uint32_t wait_node(struct samples *samples, uint32_t node)
{
	uint32_t leaf = samples->sample.leaf;

	if (!samples->locations && str_eq(intern_str(&samples->stacks.frames, leaf), STR("[blocked]")))
		leaf = stacks_frame(&samples->stacks, waitreason_of(&samples->stacks, node, samples->sample.root));
	return stacks_child(&samples->stacks, node, leaf);
}

void samples_close_at(struct samples *samples, uint32_t node, uint64_t frames)
{
	samples->sample.state = SAMPLE_NONE;
	samples->tally.samples += samples->sample.count;
	samples->tally.without_frames += frames == 0 ? samples->sample.count : 0;
	samples->tally.deep += frames > 1 ? samples->sample.count : 0;
	add_weight(samples, samples->sample.leaf ? wait_node(samples, node) : node);
}

void samples_close(struct samples *samples)
{
	uint32_t node = samples->sample.root;

	if (samples->sample.state != SAMPLE_OPEN) {
		samples->sample.state = SAMPLE_NONE;
		return;
	}
	for (size_t i = samples->nframes; i-- > 0;)
		node = stacks_child(&samples->stacks, node, samples->frame[i]);
	samples_close_at(samples, node, samples->nframes);
}

void samples_skip(struct samples *samples, struct str line, uint64_t block, uint64_t number)
{
	struct samples_tally *tally = &samples->tally;
	struct samples_place *place;

	if (tally->skipped < SAMPLES_PLACES) {
		place = &tally->place[tally->skipped];
		place->block = block;
		place->line = number;
		if (line.n >= sizeof(place->text))
			line.n = sizeof(place->text) - 1;
		memcpy(place->text, line.p, line.n);
		place->text[line.n] = 0;
	}
	tally->skipped++;
}

/* ---- samples of several worker threads ---------------------------------------------------------------------- */

void samples_fork(struct samples *worker, const struct samples *samples)
{
	samples_init(worker, samples->options);
	worker->chosen = samples->chosen;
	worker->event_key = samples->event_key;
	worker->event_name = samples->event_name;
	samples_set_first(worker, samples);
}

void samples_set_first(struct samples *worker, const struct samples *samples)
{
	worker->has_first = true;
	worker->first_ns = samples->first_ns;
}

static bool samples_is_before(const struct samples_place *place, const struct samples_place *b)
{
	return place->block != b->block ? place->block < b->block : place->line < b->line;
}

/* Merges the stored places of skipped lines: *tally gets the first SAMPLES_PLACES places of *tally and *from, in the
 * order of the input. */
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
	tally->without_frames += from->without_frames;
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
	arena_free(&samples->text);
	free(samples->event);
	intern_free(&samples->event_names);
	free(samples->frame);
	free(samples->roots);
}
