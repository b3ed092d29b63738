/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/script/textstacks.h"

#include "common/arena.h"
#include "common/formats/folded.h"

#include <stdlib.h>

void textstacks_init(struct textstacks *text, struct samples *samples)
{
	const struct samples_options *options = samples->options;

	*text = (struct textstacks){ .samples = samples };
	linecache_init(&text->lines, &samples->names, &samples->stacks);
	/* --skip-after, --collapse-recursion and --addrs drop or change frames of a sample. So with them, samples
	 * cannot share the nodes of their last lines. */
	text->share = !options->nskip_after && !options->collapse_recursion && !options->names.addresses;
}

void textstacks_free(struct textstacks *text)
{
	linecache_free(&text->lines);
	free(text->ref);
	free(text->skip);
	free(text->last);
	free(text->suffixes.line);
}

void textstacks_block(struct textstacks *text, uint64_t block)
{
	text->block = block;
	text->suffixes.n = 0;
}

/* ---- lines that cannot be parsed -------------------------------------------------------------------------------- */

void textstacks_skip(struct textstacks *text, struct str line, uint64_t number)
{
	text->regular = false;
	samples_skip(text->samples, line, text->block, number);
}

/* ---- frames of the open sample ------------------------------------------------------------------------------ */

/* Returns the id of a frame whose name has the address (--addrs). frame_text: text of a frame without symbol. */
static uint32_t frame_with_address(struct samples *samples, struct str frame_text, struct str address)
{
	struct names_frame frame = linecache_split(frame_text);

	frame.address = address;
	return stacks_frame(&samples->stacks, names_make(&samples->names, frame));
}

static void push_entry(struct textstacks *text, const struct line_entry *entry)
{
	struct samples *samples = text->samples;

	text->last_frame = samples->nframes;
	samples->tally.frames++;
	samples->tally.unresolved += entry->unresolved;
	samples_push(samples, entry->frame);
	if (unlikely(entry->callers))
		for (const uint32_t *frame = &text->lines.more[entry->callers]; *frame; frame++)
			samples_push(samples, *frame);
}

void textstacks_look_up(struct textstacks *text)
{
	for (size_t i = 0; i < text->nrefs; i++)
		linecache_guess(&text->lines, &text->ref[i]);
	for (size_t i = 0; i < text->nrefs; i++)
		push_entry(text, linecache_get(&text->lines, &text->ref[i]));
	text->nrefs = 0;
}

void textstacks_frame(struct textstacks *text, struct str frame_text, struct str address, const char *start)
{
	struct samples *samples = text->samples;
	struct line_ref *ref;

	if (unlikely(text->nrefs == text->refs_cap)) {
		text->refs_cap = text->refs_cap ? text->refs_cap * 2 : 256;
		text->ref = mem_grow(text->ref, sizeof(*text->ref), text->refs_cap);
	}
	ref = &text->ref[text->nrefs++];
	ref->p = frame_text.p;
	ref->n = (uint32_t)frame_text.n;
	ref->start = start;
	text->regular = text->regular && start;
	linecache_hash(&text->lines, ref);
	text->last_line = frame_text;
	if (unlikely(samples->names.addresses) && names_unresolved(linecache_split(frame_text))) {
		textstacks_look_up(text);
		samples->nframes = text->last_frame;
		samples_push(samples, frame_with_address(samples, frame_text, address));
	}
}

bool textstacks_has_frames(const struct textstacks *text)
{
	return text->nrefs + text->samples->nframes > 0;
}

void textstacks_rename_last(struct textstacks *text, struct names_frame frame)
{
	struct samples *samples = text->samples;
	struct str names = names_make(&samples->names, frame);
	size_t from;

	samples->nframes = text->last_frame;
	/* names_make() returns the outermost frame first; samples_push() needs the innermost frame first. */
	for (; names.n; names.n = from ? from - 1 : 0) {
		from = (size_t)(str_rfind(names, '\n') + 1);
		samples_push(samples, stacks_frame(&samples->stacks, str_from(names, from)));
	}
}

/* Returns true if --skip-after names the frame, otherwise false. Each frame id is compared only once. */
static bool textstacks_is_skip_after(struct textstacks *text, uint32_t frame)
{
	const struct samples_options *options = text->samples->options;
	const struct intern *frames = &text->samples->stacks.frames;

	if (frame >= text->skip_cap) {
		size_t cap = (size_t)frames->cap + 1;

		text->skip = mem_grow(text->skip, 1, cap);
		memset(text->skip + text->skip_cap, 0, cap - text->skip_cap);
		text->skip_cap = cap;
	}
	if (text->skip[frame] == 0) {
		struct str name = folded_plain(names_shown(intern_str(frames, frame)));

		text->skip[frame] = 2;
		for (size_t i = 0; i < options->nskip_after; i++)
			if (str_eq(name, folded_plain(options->skip_after[i])))
				text->skip[frame] = 1;
	}
	return text->skip[frame] == 1;
}

/* Applies --skip-after and --collapse-recursion to the frames of the open sample. */
static void reduce_frames(struct textstacks *text)
{
	struct samples *samples = text->samples;
	const struct intern *names = &samples->stacks.frames;
	size_t n = 0;

	for (size_t i = 0; samples->options->nskip_after && i < samples->nframes; i++) {
		if (textstacks_is_skip_after(text, samples->frame[i])) {
			samples->nframes = i + 1;
			samples->sample.root = 0;
		}
	}
	if (!samples->options->collapse_recursion)
		return;
	for (size_t i = 0; i < samples->nframes; i++) {
		bool again = n && (samples->frame[n - 1] == samples->frame[i] ||
				   str_eq(folded_plain(names_shown(intern_str(names, samples->frame[n - 1]))),
					  folded_plain(names_shown(intern_str(names, samples->frame[i])))));

		if (!again)
			samples->frame[n++] = samples->frame[i];
	}
	samples->nframes = n;
}

/* ---- opening and closing of samples ------------------------------------------------------------------------- */

void textstacks_open(struct textstacks *text, const struct sample_key *key)
{
	samples_open(text->samples, key);
	text->nrefs = 0;
	if (text->samples->sample.state != SAMPLE_OPEN)
		return;
	text->regular = true;
	text->shared = 0;
	text->serial++;
}

/* Returns the last sample of the open sample's thread (samples_root), with n == 0 if there is none; NULL if headers do
 * not identify threads. */
static struct suffix_sample *textstacks_last_of(struct textstacks *text)
{
	const struct samples_root *root = text->samples->root;
	struct textstacks_last *last;

	if (!root)
		return NULL;
	if (unlikely(!text->last))
		text->last = mem_alloc(sizeof(*text->last), SAMPLES_ROOTS);
	last = &text->last[root - text->samples->roots];
	/* The entry is of another thread if its number differs. */
	if (last->number != root->number)
		*last = (struct textstacks_last){ .number = root->number };
	return &last->sample;
}

const struct suffix_sample *textstacks_before(struct textstacks *text)
{
	return textstacks_last_of(text);
}

/* Pushes the frames of one line, outermost first. The entry stores the callers of an inlined frame innermost first. */
static void push_inwards(struct textstacks *text, const struct line_entry *entry)
{
	uint32_t n = 0;

	while (entry->callers && text->lines.more[entry->callers + n])
		n++;
	while (n-- > 0)
		samples_push(text->samples, text->lines.more[entry->callers + n]);
	samples_push(text->samples, entry->frame);
}

/* Copies the lines that the open sample shares with the thread's last sample to `line`. Returns the innermost of these
 * lines. end: the empty line after the open sample. */
static struct suffix_line textstacks_take_shared(struct textstacks *text, struct suffix_line *line, const char *end)
{
	const struct suffix_sample *last = textstacks_last_of(text);
	const struct suffix_line *from = text->suffixes.line + last->first + last->n - text->shared;

	for (uint32_t i = 0; i < text->shared; i++) {
		line[i] = from[i];
		line[i].start += end - last->end;
	}
	return line[0];
}

/* Adds the collected lines of a sample to the call tree, below `outer`, and stores them in `line`. Looks up all frames
 * first, then all nodes, so that memory is prefetched. Returns the innermost line. */
static struct suffix_line walk_lines(struct textstacks *text, struct suffix_line *line, struct suffix_line outer)
{
	struct samples *samples = text->samples;
	uint32_t n = (uint32_t)text->nrefs;

	for (uint32_t i = 0; i < n; i++)
		linecache_guess(&text->lines, &text->ref[i]);
	for (uint32_t i = n; i-- > 0;) {
		const struct line_entry *entry = linecache_get(&text->lines, &text->ref[i]);

		push_inwards(text, entry);
		outer.unresolved += entry->unresolved;
		line[i] = (struct suffix_line){ text->ref[i].start, (uint32_t)samples->nframes, outer.unresolved };
	}
	stacks_expect(&samples->stacks, outer.node, samples->frame, samples->nframes);
	for (uint32_t i = n, done = 0; i-- > 0; line[i].node = outer.node)
		for (; done < line[i].node;
		     done++) /* until set to a node, `node` is the index after the line's last frame */
			outer.node = stacks_child(&samples->stacks, outer.node, samples->frame[done]);
	text->nrefs = samples->nframes = 0;
	return outer;
}

/*
 * Adds a sample whose frames are not looked up yet, and stores its lines for the next sample of the thread. end: the
 * empty line after its text; NULL if the text does not end with an empty line.
 */
static void close_regular(struct textstacks *text, const char *end)
{
	struct samples *samples = text->samples;
	uint32_t inner = (uint32_t)text->nrefs, n = inner + text->shared, first = text->suffixes.n;
	struct suffix_line leaf = { .node = samples->sample.root };
	struct suffix_line *line;

	/* n + 1, so that the array exists even if the sample has no lines */
	suffixcache_reserve(&text->suffixes, n + 1);
	line = text->suffixes.line + first;
	if (text->shared)
		leaf = textstacks_take_shared(text, line + inner, end);
	leaf = walk_lines(text, line, leaf);
	samples->tally.frames += n;
	samples->tally.unresolved += leaf.unresolved;
	samples_close_at(samples, leaf.node, n);
	if (end && samples->root && text->regular) {
		*textstacks_last_of(text) = (struct suffix_sample){ text->block + 1, end, first, n };
		text->suffixes.n += n;
	}
}

void textstacks_close(struct textstacks *text, const char *end)
{
	struct samples *samples = text->samples;

	if (samples->sample.state == SAMPLE_OPEN) {
		if (likely(text->share && samples->nframes == 0)) {
			close_regular(text, end);
			return;
		}
		textstacks_look_up(text);
		if (unlikely(samples->options->nskip_after || samples->options->collapse_recursion))
			reduce_frames(text);
	}
	samples_close(samples);
}
