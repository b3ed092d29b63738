/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/hotspot/scopes.h"

#include "common/arena.h"
#include "common/hash.h"

#include <stdlib.h>

#define BYTES_MAX (8u << 20) /* of one table of one method */
#define DEPTH_MAX 256        /* MaxInlineLevel is 15 */

/* The three tables of a method, copied. */
struct cfitables {
	const char *pcs, *scopes, *metadata;
	uint32_t npcs, nscopes, nmetadata;
};

/* Returns NULL if there is no memory for it. */
static char *scopes_space(struct scopes *s, struct readbudget *budget, size_t n)
{
	if (s->folder_count < n) {
		readbudget_return(budget, s->folder_count);
		free(s->space);
		s->folder_count = 0;
		s->space = readbudget_bytes(budget, n + n / 2) ? mem_try_grow(NULL, 1, n + n / 2) : NULL;
		if (s->space)
			s->folder_count = n + n / 2;
	}
	return s->space;
}

/* Where they are: from address, n bytes. */
struct span {
	uint64_t from;
	uint64_t n;
};

static bool span_between(struct span *s, uint64_t from, uint64_t to)
{
	*s = (struct span){ from, to - from };
	return to >= from && s->n <= BYTES_MAX;
}

static bool find_spans(struct memory *m, const struct vmlayout *l, const struct blob *b, struct span span[3])
{
	const struct vmlayout_scopes *f = &l->scopes;
	uint64_t pcs, end, data, base = b->address, metadata, metadata_end;

	if (!vmlayout_read(m, b->address, f->pcs, &pcs))
		return false;
	if (f->immutable.width) { /* pcs and scopes in memory of their own, in this order */
		uint64_t size;

		if (!vmlayout_read(m, b->address, f->immutable, &base) || base == 0 ||
		    !vmlayout_read(m, b->address, f->immutable_size, &size) ||
		    !vmlayout_read(m, b->address, f->data, &data) || !span_between(&span[0], base + pcs, base + data) ||
		    !span_between(&span[1], base + data, base + size))
			return false;
	} else { /* scopes, then pcs, in the blob */
		if (!vmlayout_read(m, b->address, f->pcs_end, &end) || !vmlayout_read(m, b->address, f->data, &data))
			return false;
		if (!f->data_is_pointer)
			data += b->address;
		if (!span_between(&span[0], base + pcs, base + end) || !span_between(&span[1], data, base + pcs))
			return false;
	}
	if (f->metadata.width) { /* in front of the scopes */
		if (!vmlayout_read(m, b->address, f->metadata, &metadata))
			return false;
		metadata += b->address;
		if (f->immutable.width)
			return false; /* JDK 23 and 24: where they end is not told */
		return span_between(&span[2], metadata, span[1].from);
	}
	if (!vmlayout_read(m, b->address, f->mutable_data, &metadata) || metadata == 0 ||
	    !vmlayout_read(m, b->address, f->mutable_size, &metadata_end) ||
	    !vmlayout_read(m, b->address, f->relocation_size, &data))
		return false;
	return span_between(&span[2], metadata + data, metadata + metadata_end);
}

/* Each behind the other in `at`, in order of their addresses: most touch, and a call costs more than what it reads. */
static bool read_spans(struct memory *m, const struct span span[3], char *at, const char *to[3])
{
	unsigned order[3] = { 0, 1, 2 };
	uint64_t begin = 0, n = 0;

	for (unsigned i = 1; i < 3; i++)
		for (unsigned k = i; k > 0 && span[order[k]].from < span[order[k - 1]].from; k--) {
			unsigned swap = order[k];

			order[k] = order[k - 1];
			order[k - 1] = swap;
		}
	for (unsigned i = 0; i < 3; i++) {
		const struct span *s = &span[order[i]];

		if (n && s->from != begin + n) {
			if (!memory_bulk(m, begin, at, (size_t)n))
				return false;
			at += n;
			n = 0;
		}
		if (n == 0)
			begin = s->from;
		to[order[i]] = at + n;
		n += s->n;
	}
	return memory_bulk(m, begin, at, (size_t)n);
}

static bool read_tables(struct scopes *s, struct memory *m, const struct vmlayout *l, const struct blob *b,
			struct cfitables *t)
{
	struct span span[3];
	const char *at[3];
	char *to;

	if (!find_spans(m, l, b, span) || span[0].n == 0 || span[1].n == 0 || span[2].n == 0)
		return false;
	to = scopes_space(s, m->budget, (size_t)(span[0].n + span[1].n + span[2].n));
	if (!to || !read_spans(m, span, to, at))
		return false;
	*t = (struct cfitables){ .pcs = at[0],
				 .scopes = at[1],
				 .metadata = at[2],
				 .npcs = (uint32_t)(span[0].n / l->scopes.pc_bytes),
				 .nscopes = (uint32_t)span[1].n,
				 .nmetadata = (uint32_t)(span[2].n / 8) };
	return true;
}

/* UNSIGNED5: up to 5 bytes, the lowest 6 bits first; a byte below 192 is the last. excluded: bytes are larger by so
 * much. */
static bool scopes_get_number(const struct cfitables *t, uint32_t *at, unsigned excluded, uint32_t *value)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < 5; i++) {
		uint32_t byte;

		if (*at >= t->nscopes)
			return false;
		byte = (unsigned char)t->scopes[(*at)++];
		if (byte < excluded)
			return false;
		sum += (byte - excluded) << 6 * i;
		if (byte < 192)
			break;
	}
	*value = sum;
	return true;
}

/* The methods of the scope at `at`, innermost first, as addresses; 0: makes no sense. */
static uint32_t scopes_chain(const struct cfitables *t, uint32_t at, unsigned excluded, uint64_t method[DEPTH_MAX])
{
	uint32_t n = 0;

	while (at) {
		uint32_t sender, index, here = at;

		if (n == DEPTH_MAX || !scopes_get_number(t, &at, excluded, &sender) ||
		    !scopes_get_number(t, &at, excluded, &index) || index == 0 || index > t->nmetadata ||
		    sender >= here)
			return 0; /* callers stand before what they call */
		memcpy(&method[n++], t->metadata + 8 * (size_t)(index - 1), 8);
		at = sender;
	}
	return n;
}

static uint32_t chain_of(const struct cfitables *t, uint32_t at, enum scopes_packing *packing, uint64_t root,
			 uint64_t method[DEPTH_MAX])
{
	uint32_t n = 0;

	for (unsigned excluded = 0; excluded < 2; excluded++) {
		if (*packing != PACKING_UNKNOWN && *packing != PACKING_FROM_0 + excluded)
			continue;
		n = scopes_chain(t, at, excluded, method);
		if (n && method[n - 1] == root) {
			if (n > 1) /* alone it might be chance */
				*packing = PACKING_FROM_0 + excluded;
			return n;
		}
	}
	return 0;
}

static uint32_t *find_slot(const struct scopes *s, uint32_t parent, uint32_t method)
{
	uint32_t i = (uint32_t)hash_pair(parent, method) & (s->nslots - 1);

	while (s->slot[i] && (s->node[s->slot[i]].parent != parent || s->node[s->slot[i]].method != method))
		i = (i + 1) & (s->nslots - 1);
	return &s->slot[i];
}

static void grow_nodes(struct scopes *s)
{
	s->cap = s->cap ? s->cap * 2 : 64;
	s->node = mem_grow(s->node, sizeof(*s->node), s->cap);
	free(s->slot);
	s->nslots = 2 * s->cap;
	s->slot = mem_alloc(sizeof(*s->slot), s->nslots);
	for (uint32_t i = 1; i < s->n; i++)
		*find_slot(s, s->node[i].parent, s->node[i].method) = i;
}

static void begin_tree(struct scopes *s)
{
	s->nruns = 0;
	if (s->cap == 0)
		grow_nodes(s);
	memset(s->slot, 0, s->nslots * sizeof(*s->slot));
	s->node[0] = (struct scope_node){ 0, 0 };
	s->n = 1;
}

static uint32_t scopes_child(struct scopes *s, uint32_t parent, uint32_t method)
{
	uint32_t *slot = find_slot(s, parent, method), found = *slot;

	if (found)
		return found;
	if (s->n == s->cap) {
		grow_nodes(s);
		slot = find_slot(s, parent, method);
	}
	s->node[s->n] = (struct scope_node){ parent, method };
	*slot = s->n;
	return s->n++;
}

static void add_run(struct scopes *s, uint32_t end, uint32_t node)
{
	if (s->nruns && s->run[s->nruns - 1].node == node) {
		s->run[s->nruns - 1].end = end;
		return;
	}
	if (s->nruns == s->runs_cap) {
		s->runs_cap = s->runs_cap ? s->runs_cap * 2 : 64;
		s->run = mem_grow(s->run, sizeof(*s->run), s->runs_cap);
	}
	s->run[s->nruns++] = (struct scope_run){ end, node };
}

#define NODES_MAX 4096

/* The node of the scope at `at`, and in *calls how deep it is. */
static uint32_t node_of(struct scopes *s, const struct cfitables *t, uint32_t at, enum scopes_packing *packing,
			uint64_t root, uint32_t (*number)(void *arg, uint64_t method), void *arg, uint32_t *calls)
{
	uint64_t method[DEPTH_MAX];
	uint32_t node = 0;

	*calls = chain_of(t, at, packing, root, method);
	for (uint32_t k = *calls; k-- > 1 && s->n < NODES_MAX;) {
		uint32_t called = number(arg, method[k - 1]);

		if (called == 0)
			break;
		node = scopes_child(s, node, called);
	}
	return node;
}

bool scopes_read(struct scopes *s, struct memory *m, const struct vmlayout *l, enum scopes_packing *packing,
		 const struct blob *b, uint32_t (*number)(void *arg, uint64_t method), void *arg)
{
	struct cfitables t = { 0 };
	uint64_t size = b->end - b->begin, last = 0;
	uint32_t node = 0, steps = 0;

	if (!l->scopes.known || !read_tables(s, m, l, b, &t))
		return false;
	begin_tree(s);
	for (uint32_t i = 0; i < t.npcs; i++) {
		const char *pc = t.pcs + (size_t)i * l->scopes.pc_bytes;
		int64_t offset = vmlayout_get_signed(l->scopes.pc_offset, pc);
		uint64_t at = vmlayout_get(l->scopes.pc_scope, pc);
		uint32_t calls = 0;

		if (offset < 0 || (uint64_t)offset > size || at == 0 || at >= t.nscopes)
			continue; /* the ends of the table, or nothing is told */
		if (s->nruns && (uint64_t)offset < s->run[s->nruns - 1].end)
			return false; /* not sorted */
		if (at != last)
			node = node_of(s, &t, (uint32_t)at, packing, b->method, number, arg, &calls);
		last = at;
		steps += 1 + calls;
		if (steps > SCOPES_STEPS_MAX || !budget_steps(m->budget, 1 + calls / 2))
			return false;
		add_run(s, (uint32_t)offset, node);
	}
	return s->n > 1;
}

void scopes_free(struct scopes *s)
{
	free(s->node);
	free(s->slot);
	free(s->run);
	free(s->space);
	*s = (struct scopes){ 0 };
}
