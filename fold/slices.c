/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/slices.h"

#include "common/diag.h"
#include "fold/report.h"
#include "common/text.h"

#include <stdio.h>
#include <stdlib.h>

bool slices_name_fits(const char *pattern)
{
	const char *at = pattern ? strstr(pattern, "%s") : NULL;

	return at && !strstr(at + 1, "%s");
}

/* Nodes grouped by slice. A slice is identified by s, the node of its outermost frame. The ids of the nodes of slice s
 * are order[first[s]] to order[first[s + 1] - 1], parents before children. */
struct slice_groups {
	/* By node: node that identifies its slice. It is the outermost ancestor, or the node itself. */
	uint32_t *slice;
	/* By node that identifies a slice: index in `order` of its first node. */
	uint32_t *first;
	uint32_t *order;
};

/* Groups the nodes of the call tree by slice, with a counting sort. The caller frees the arrays. */
static struct slice_groups slices_group(const struct stacks *stacks)
{
	struct slice_groups groups;

	groups.slice = mem_alloc(sizeof(*groups.slice), stacks->n);
	groups.first = mem_alloc(sizeof(*groups.first), (size_t)stacks->n + 2);
	groups.order = mem_alloc(sizeof(*groups.order), stacks->n);
	for (uint32_t id = 1; id < stacks->n; id++) {
		uint32_t parent = stacks->node[id].parent;

		groups.slice[id] = parent ? groups.slice[parent] : id;
		groups.first[groups.slice[id] + 2]++;
	}
	for (uint32_t i = 1; i <= stacks->n; i++)
		groups.first[i + 1] += groups.first[i];
	for (uint32_t id = 1; id < stacks->n; id++)
		groups.order[groups.first[groups.slice[id] + 1]++] = id;
	return groups;
}

/* Copies the stacks of one slice of `s` into `stacks`, without the outermost frame, which names the slice. node:
 * scratch space with one element for each node of `s`. */
static void slices_take(struct stacks *stacks, const struct stacks *s, const struct slice_groups *groups,
			uint32_t slice, uint32_t *node)
{
	for (uint32_t i = groups->first[slice]; i < groups->first[slice + 1]; i++) {
		uint32_t id = groups->order[i], at = 0;

		if (id != slice)
			at = stacks_child(stacks, node[s->node[id].parent],
					  stacks_frame(stacks, intern_str(&s->frames, s->node[id].frame)));
		node[id] = at;
		if (s->self[0][id] && at == 0)
			/* The weight comes from samples that have neither a thread name nor a frame. */
			at = stacks_child(stacks, 0, stacks_frame(stacks, STR("[unknown]")));
		if (s->self[0][id])
			/* Cannot overflow: all weights come from `s`. */
			stacks_add(stacks, at, 0, s->self[0][id]);
	}
}

/* Writes the file of the slice `name`, whose path is `pattern` with "%s" replaced by the name: the header `h` unless it
 * is NULL, then the stacks. lost: number of lost samples for the header. Subtrees with a weight below `min` become
 * [other]. */
static void write_one(const char *pattern, struct str name, const struct stacks *stacks, const struct folded_header *h,
		      uint64_t lost, uint64_t min)
{
	const char *at = strstr(pattern, "%s");
	struct out *out = mem_alloc(sizeof(*out), 1);
	struct folded_header header = { 0 };
	struct stacks few = { 0 };
	struct text path = { 0 };

	text_bytes(&path, pattern, (size_t)(at - pattern));
	text_str(&path, name);
	text_add(&path, at + 2);
	text_char(&path, 0);
	if (h) {
		header = *h;
		header.samples = stacks_sum(stacks, 0);
		header.samples_unknown = !str_eq(h->unit, STR("samples"));
		header.from = str_eq(name, STR(SLICES_NO_TIME)) ? (struct str){ 0 } : name;
		header.to = (struct str){ 0 };
		/* The common header has the losses of all slices: replace this number by the losses of the one slice,
		 * which may be 0. */
		header.lost = lost;
	}
	if (min > 1)
		report_min(&few, stacks, min);
	out_open(out, path.p);
	folded_write(out, min > 1 ? &few : stacks, 1, h ? &header : NULL);
	out_close(out);
	stacks_free(&few);
	text_free(&path);
	free(out);
}

/* ---- losses by slice ---------------------------------------------------------------------------------------- */

static uint64_t lost_in(const struct slices_lost *lost, struct str name)
{
	uint32_t id = intern_find(&lost->names, name);

	return id ? lost->n[id] : 0;
}

/* ---- one text with all slices ------------------------------------------------------------------------------- */

static void add_in_slice(struct stacks *stacks, uint32_t slice, struct str name, uint64_t weight)
{
	if (weight && !stacks_add(stacks, stacks_child(stacks, slice, stacks_frame(stacks, name)), 0, weight))
		die("the sum of all weights does not fit into 63 bits");
}

/* Renames frames [lost] directly below slices to _lost_, so that they do not pass for losses. */
static void keep_lost(struct stacks *stacks)
{
	uint32_t lost = intern_find(&stacks->frames, STR("[lost]"));
	struct stacks made = { 0 };

	if (!lost)
		return;
	uint32_t *node = mem_alloc(sizeof(*node), stacks->n);

	for (uint32_t id = 1; id < stacks->n; id++) {
		uint32_t parent = stacks->node[id].parent, frame = stacks->node[id].frame;
		bool is_first = parent && !stacks->node[parent].parent;
		struct str name = is_first && frame == lost ? STR("_lost_") : intern_str(&stacks->frames, frame);

		node[id] = stacks_child(&made, node[parent], stacks_frame(&made, name));
		stacks_add(&made, node[id], 0, stacks->self[0][id]); /* no overflow: all weights come from `stacks` */
	}
	free(node);
	stacks_free(stacks);
	*stacks = made;
}

void slices_complete(struct stacks *stacks, const struct slices_lost *lost)
{
	keep_lost(stacks);
	uint32_t nodes = stacks->n;

	for (uint32_t id = 1; id < nodes; id++) {
		uint64_t weight = stacks->self[0][id];

		if (stacks->node[id].parent || !weight)
			continue;
		stacks->self[0][id] = 0;
		stacks->sum[0] -= weight;
		add_in_slice(stacks, id, STR("[unknown]"), weight);
	}
	for (uint32_t id = 1; id <= lost->names.n; id++)
		add_in_slice(stacks, stacks_child(stacks, 0, stacks_frame(stacks, intern_str(&lost->names, id))),
			     STR("[lost]"), lost->n[id]);
}

/* ---- output files ------------------------------------------------------------------------------------------------ */

struct str slices_name(uint64_t ns, uint64_t slice_ns, char name[SLICES_NAME])
{
	int got;

	ns -= ns % slice_ns;
	got = snprintf(name, SLICES_NAME, "%llu", (unsigned long long)(ns / 1000000000u));
	/* Only slice_ns decides if the name has decimals, so that all names of a run have the same format. */
	if (slice_ns % 1000000000u)
		got = snprintf(name, SLICES_NAME, "%llu.%09llu", (unsigned long long)(ns / 1000000000u),
			       (unsigned long long)(ns % 1000000000u));
	return (struct str){ name, (size_t)got };
}

/* Writes a file without stacks for each slice in `lost` that is not in `written`. pattern: path of the files, with "%s"
 * for the name of the slice. Returns the number of files. */
static uint64_t write_empty(const char *pattern, const struct intern *written, const struct folded_header *header,
			    const struct slices_lost *lost)
{
	struct stacks none = { 0 };
	uint64_t n = 0;

	for (uint32_t id = 1; id <= lost->names.n; id++) {
		struct str name = intern_str(&lost->names, id);

		if (intern_find(written, name) || lost->n[id] == 0)
			continue;
		write_one(pattern, name, &none, header, lost->n[id], 1);
		n++;
	}
	return n;
}

/* Writes a file for each slice that has samples, and adds the name of the slice to `written`. pattern: path of the
 * files, with "%s" for the name; subtrees with a weight below min_samples become [other]. Returns the number of
 * files. */
static uint64_t write_full(const char *pattern, const struct stacks *stacks, const struct folded_header *header,
			   const struct slices_lost *lost, uint64_t min_samples, struct intern *written)
{
	uint32_t *node = mem_alloc(sizeof(*node), stacks->n);
	struct slice_groups groups = slices_group(stacks);
	uint64_t n = 0;

	for (uint32_t id = 1; id < stacks->n; id++) {
		struct str name = intern_str(&stacks->frames, stacks->node[id].frame);
		struct stacks slice = { 0 };

		if (groups.slice[id] != id)
			continue;
		slices_take(&slice, stacks, &groups, id, node);
		if (stacks_sum(&slice, 0)) {
			write_one(pattern, name, &slice, header, lost_in(lost, name), min_samples);
			intern(written, name);
			n++;
		}
		stacks_free(&slice);
	}
	free(node);
	free(groups.slice);
	free(groups.first);
	free(groups.order);
	return n;
}

uint64_t slices_write(const char *pattern, const struct stacks *stacks, const struct folded_header *header,
		      const struct slices_lost *lost, uint64_t min_samples)
{
	struct intern written = { 0 };
	uint64_t n = stacks->n ? write_full(pattern, stacks, header, lost, min_samples, &written) : 0;

	if (header)
		n += write_empty(pattern, &written, header, lost);
	intern_free(&written);
	return n;
}
