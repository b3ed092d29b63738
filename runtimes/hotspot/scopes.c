/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/hotspot/scopes.h"

#include "common/arena.h"
#include "common/hash.h"

#include <stdlib.h>

#define BYTES_MAX (8u << 20) /* limit for the size of one table of one nmethod, in bytes */
#define DEPTH_MAX 256        /* limit for the number of methods in a scope; HotSpot's MaxInlineLevel is 15 */

/* Copies of the three tables of an nmethod: PcDescs, scopes, metadata (Method* and others); npcs, nscopes and
 * nmetadata are their numbers of PcDescs, bytes and pointers. */
struct debug_tables {
	const char *pcs, *scopes, *metadata;
	uint32_t npcs, nscopes, nmetadata;
};

/* Returns a buffer of at least n bytes, which scopes owns, or NULL if the budget or the system has no memory for it. */
static char *scopes_space(struct scopes *scopes, struct readbudget *budget, size_t n)
{
	if (scopes->space_bytes < n) {
		readbudget_return(budget, scopes->space_bytes);
		free(scopes->space);
		scopes->space_bytes = 0;
		scopes->space = readbudget_bytes(budget, n + n / 2) ? mem_try_grow(NULL, 1, n + n / 2) : NULL;
		if (scopes->space)
			scopes->space_bytes = n + n / 2;
	}
	return scopes->space;
}

/* Address range of a table: n bytes at `from`. */
struct span {
	uint64_t from;
	uint64_t n;
};

static bool span_between(struct span *span, uint64_t from, uint64_t to)
{
	*span = (struct span){ from, to - from };
	return to >= from && span->n <= BYTES_MAX;
}

static bool find_spans(struct memory *memory, const struct vmlayout *vmlayout, const struct blob *blob,
		       struct span span[3])
{
	const struct vmlayout_scopes *scopes = &vmlayout->scopes;
	uint64_t pcs, end, data, base = blob->address, metadata, metadata_end;

	if (!vmlayout_read(memory, blob->address, scopes->pcs, &pcs))
		return false;
	if (scopes->immutable.width) {
		/* JDK 23 and later: PcDescs, then scopes, are in immutable data outside of the blob. */
		uint64_t size;

		if (!vmlayout_read(memory, blob->address, scopes->immutable, &base) || base == 0 ||
		    !vmlayout_read(memory, blob->address, scopes->immutable_size, &size) ||
		    !vmlayout_read(memory, blob->address, scopes->data, &data) ||
		    !span_between(&span[0], base + pcs, base + data) ||
		    !span_between(&span[1], base + data, base + size))
			return false;
	} else {
		/* JDKs before 23: scopes, then PcDescs, are in the blob. */
		if (!vmlayout_read(memory, blob->address, scopes->pcs_end, &end) ||
		    !vmlayout_read(memory, blob->address, scopes->data, &data))
			return false;
		if (!scopes->data_is_pointer)
			data += blob->address;
		if (!span_between(&span[0], base + pcs, base + end) || !span_between(&span[1], data, base + pcs))
			return false;
	}
	if (scopes->metadata.width) {
		/* The metadata is in the blob, before the scopes. */
		if (!vmlayout_read(memory, blob->address, scopes->metadata, &metadata))
			return false;
		metadata += blob->address;
		if (scopes->immutable.width)
			/* JDK 23 and 24 do not export the end of the metadata, so their scopes cannot be read. */
			return false;
		return span_between(&span[2], metadata, span[1].from);
	}
	if (!vmlayout_read(memory, blob->address, scopes->mutable_data, &metadata) || metadata == 0 ||
	    !vmlayout_read(memory, blob->address, scopes->mutable_size, &metadata_end) ||
	    !vmlayout_read(memory, blob->address, scopes->relocation_size, &data))
		return false;
	return span_between(&span[2], metadata + data, metadata + metadata_end);
}

/* Reads the three tables into the buffer `at`, in the order of their addresses, and sets to[i] to the copy of table
 * i. Adjacent tables, the common case, need one read: a read call costs more than its bytes. Returns false if a
 * table is not readable. */
static bool read_spans(struct memory *memory, const struct span span[3], char *at, const char *to[3])
{
	unsigned order[3] = { 0, 1, 2 };
	uint64_t begin = 0, n = 0;

	for (unsigned i = 1; i < 3; i++)
		for (unsigned index = i; index > 0 && span[order[index]].from < span[order[index - 1]].from; index--) {
			unsigned swap = order[index];

			order[index] = order[index - 1];
			order[index - 1] = swap;
		}
	for (unsigned i = 0; i < 3; i++) {
		const struct span *s = &span[order[i]];

		if (n && s->from != begin + n) {
			if (!memory_bulk(memory, begin, at, (size_t)n))
				return false;
			at += n;
			n = 0;
		}
		if (n == 0)
			begin = s->from;
		to[order[i]] = at + n;
		n += s->n;
	}
	return memory_bulk(memory, begin, at, (size_t)n);
}

static bool read_tables(struct scopes *scopes, struct memory *memory, const struct vmlayout *vmlayout,
			const struct blob *blob, struct debug_tables *tables)
{
	struct span span[3];
	const char *at[3];
	char *to;

	if (!find_spans(memory, vmlayout, blob, span) || span[0].n == 0 || span[1].n == 0 || span[2].n == 0)
		return false;
	to = scopes_space(scopes, memory->budget, (size_t)(span[0].n + span[1].n + span[2].n));
	if (!to || !read_spans(memory, span, to, at))
		return false;
	*tables = (struct debug_tables){ .pcs = at[0],
					 .scopes = at[1],
					 .metadata = at[2],
					 .npcs = (uint32_t)(span[0].n / vmlayout->scopes.pc_bytes),
					 .nscopes = (uint32_t)span[1].n,
					 .nmetadata = (uint32_t)(span[2].n / 8) };
	return true;
}

/* Decodes an UNSIGNED5 number at offset *at of the scopes: up to 5 bytes, the lowest 6 bits first; a byte below 192
 * is the last one. `excluded` is the number that the encoder adds to each byte: 1 in JDK 20 and later, otherwise 0.
 * Returns false if it is malformed. */
static bool scopes_get_number(const struct debug_tables *tables, uint32_t *at, unsigned excluded, uint32_t *value)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < 5; i++) {
		uint32_t byte;

		if (*at >= tables->nscopes)
			return false;
		byte = (unsigned char)tables->scopes[(*at)++];
		if (byte < excluded)
			return false;
		sum += (byte - excluded) << 6 * i;
		if (byte < 192)
			break;
	}
	*value = sum;
	return true;
}

/* Stores the methods of the scope at offset `at` in method[], innermost first, and returns their number; 0 if the scope
 * is malformed. excluded: as in scopes_get_number. */
static uint32_t scopes_chain(const struct debug_tables *tables, uint32_t at, unsigned excluded,
			     uint64_t method[DEPTH_MAX])
{
	uint32_t n = 0;

	while (at) {
		uint32_t sender, index, here = at;

		if (n == DEPTH_MAX || !scopes_get_number(tables, &at, excluded, &sender) ||
		    !scopes_get_number(tables, &at, excluded, &index) || index == 0 || index > tables->nmetadata ||
		    sender >= here)
			/* HotSpot writes the scope of a caller before the scope of its callee, so the offsets must
			 * decrease. */
			return 0;
		memcpy(&method[n++], tables->metadata + 8 * (size_t)(index - 1), 8);
		at = sender;
	}
	return n;
}

static uint32_t chain_of(const struct debug_tables *tables, uint32_t at, enum scopes_packing *packing, uint64_t root,
			 uint64_t method[DEPTH_MAX])
{
	uint32_t n = 0;

	for (unsigned excluded = 0; excluded < 2; excluded++) {
		if (*packing != PACKING_UNKNOWN && *packing != PACKING_FROM_0 + excluded)
			continue;
		n = scopes_chain(tables, at, excluded, method);
		if (n && method[n - 1] == root) {
			/* A scope of one method may match either encoding by chance, so it does not prove the
			 * encoding. */
			if (n > 1)
				*packing = PACKING_FROM_0 + excluded;
			return n;
		}
	}
	return 0;
}

static uint32_t *find_slot(const struct scopes *scopes, uint32_t parent, uint32_t method)
{
	uint32_t i = (uint32_t)hash_pair(parent, method) & (scopes->nslots - 1);

	while (scopes->slot[i] &&
	       (scopes->node[scopes->slot[i]].parent != parent || scopes->node[scopes->slot[i]].method != method))
		i = (i + 1) & (scopes->nslots - 1);
	return &scopes->slot[i];
}

static void grow_nodes(struct scopes *scopes)
{
	scopes->cap = scopes->cap ? scopes->cap * 2 : 64;
	scopes->node = mem_grow(scopes->node, sizeof(*scopes->node), scopes->cap);
	free(scopes->slot);
	scopes->nslots = 2 * scopes->cap;
	scopes->slot = mem_alloc(sizeof(*scopes->slot), scopes->nslots);
	for (uint32_t i = 1; i < scopes->n; i++)
		*find_slot(scopes, scopes->node[i].parent, scopes->node[i].method) = i;
}

static void begin_tree(struct scopes *scopes)
{
	scopes->nruns = 0;
	if (scopes->cap == 0)
		grow_nodes(scopes);
	memset(scopes->slot, 0, scopes->nslots * sizeof(*scopes->slot));
	scopes->node[0] = (struct scope_node){ 0, 0 };
	scopes->n = 1;
}

static uint32_t scopes_child(struct scopes *scopes, uint32_t parent, uint32_t method)
{
	uint32_t *slot = find_slot(scopes, parent, method), found = *slot;

	if (found)
		return found;
	if (scopes->n == scopes->cap) {
		grow_nodes(scopes);
		slot = find_slot(scopes, parent, method);
	}
	scopes->node[scopes->n] = (struct scope_node){ parent, method };
	*slot = scopes->n;
	return scopes->n++;
}

static void add_run(struct scopes *scopes, uint32_t end, uint32_t node)
{
	if (scopes->nruns && scopes->run[scopes->nruns - 1].node == node) {
		scopes->run[scopes->nruns - 1].end = end;
		return;
	}
	if (scopes->nruns == scopes->runs_cap) {
		scopes->runs_cap = scopes->runs_cap ? scopes->runs_cap * 2 : 64;
		scopes->run = mem_grow(scopes->run, sizeof(*scopes->run), scopes->runs_cap);
	}
	scopes->run[scopes->nruns++] = (struct scope_run){ end, node };
}

#define NODES_MAX 4096

/* Returns the tree node of the scope at offset `at`. root: Method* of the nmethod; packing, number and arg: as in
 * scopes_read. Sets *calls to the number of methods of the scope; 0 if it is malformed. */
static uint32_t node_of(struct scopes *scopes, const struct debug_tables *tables, uint32_t at,
			enum scopes_packing *packing, uint64_t root, uint32_t (*number)(void *arg, uint64_t method),
			void *arg, uint32_t *calls)
{
	uint64_t method[DEPTH_MAX];
	uint32_t node = 0;

	*calls = chain_of(tables, at, packing, root, method);
	for (uint32_t index = *calls; index-- > 1 && scopes->n < NODES_MAX;) {
		uint32_t called = number(arg, method[index - 1]);

		if (called == 0)
			break;
		node = scopes_child(scopes, node, called);
	}
	return node;
}

bool scopes_read(struct scopes *scopes, struct memory *memory, const struct vmlayout *vmlayout,
		 enum scopes_packing *packing, const struct blob *blob, uint32_t (*number)(void *arg, uint64_t method),
		 void *arg)
{
	struct debug_tables tables = { 0 };
	uint64_t size = blob->end - blob->begin, last = 0;
	uint32_t node = 0, steps = 0;

	if (!vmlayout->scopes.known || !read_tables(scopes, memory, vmlayout, blob, &tables))
		return false;
	begin_tree(scopes);
	for (uint32_t i = 0; i < tables.npcs; i++) {
		const char *pc = tables.pcs + (size_t)i * vmlayout->scopes.pc_bytes;
		int64_t offset = vmlayout_get_signed(vmlayout->scopes.pc_offset, pc);
		uint64_t at = vmlayout_get(vmlayout->scopes.pc_scope, pc);
		uint32_t calls = 0;

		if (offset < 0 || (uint64_t)offset > size || at == 0 || at >= tables.nscopes)
			/* The entries at both ends of the table have no offset in the code; some others have no
			 * scope. */
			continue;
		if (scopes->nruns && (uint64_t)offset < scopes->run[scopes->nruns - 1].end)
			/* The table is not sorted by offset: it is malformed. */
			return false;
		if (at != last)
			node = node_of(scopes, &tables, (uint32_t)at, packing, blob->method, number, arg, &calls);
		last = at;
		steps += 1 + calls;
		if (steps > SCOPES_STEPS_MAX || !budget_steps(memory->budget, 1 + calls / 2))
			return false;
		add_run(scopes, (uint32_t)offset, node);
	}
	return scopes->n > 1;
}

void scopes_free(struct scopes *scopes)
{
	free(scopes->node);
	free(scopes->slot);
	free(scopes->run);
	free(scopes->space);
	*scopes = (struct scopes){ 0 };
}
