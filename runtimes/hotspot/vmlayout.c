/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/hotspot/vmlayout.h"

/* Whatever is larger is no header of anything. */
#define BYTES_MAX 4096

/* The first of the names that is there. want: bytes it may have, as bits 1 2 4 8; 0: any (it is an object). */
struct wanted {
	struct vmlayout_field *to;
	bool needed;
	const char *type, *field;
	const char *or_type, *or_field;
};

static struct vmlayout_field vmlayout_find(const struct vmstructs *v, const char *type, const char *field)
{
	struct vm_field f = type ? vmstructs_field(v, type, field) : (struct vm_field){ 0 };

	if (!f.known || f.is_static || f.width == 0 || f.at > BYTES_MAX)
		return (struct vmlayout_field){ 0 };
	return (struct vmlayout_field){ (uint32_t)f.at, f.width };
}

static const char *vmlayout_find_all(const struct vmstructs *v, const struct wanted *w, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		*w[i].to = vmlayout_find(v, w[i].type, w[i].field);
		if (!w[i].to->width)
			*w[i].to = vmlayout_find(v, w[i].or_type, w[i].or_field);
		if (!w[i].to->width && w[i].needed)
			return w[i].field;
	}
	return NULL;
}

static uint64_t static_of(const struct vmstructs *v, const char *type, const char *field)
{
	struct vm_field f = vmstructs_field(v, type, field);

	return f.known && f.is_static ? f.at : 0;
}

/* An object within another one: its offset. */
static bool vmlayout_inner(const struct vmstructs *v, const char *type, const char *field, uint64_t *at)
{
	struct vm_field f = vmstructs_field(v, type, field);

	*at = f.at;
	return f.known && !f.is_static && f.at <= BYTES_MAX;
}

static const char *vmlayout_find_heaps(struct vmlayout *l, const struct vmstructs *v)
{
	bool array = static_of(v, "CodeCache", "_heaps") != 0;
	const struct wanted wanted[] = {
		{ &l->array_n, array, "GrowableArrayBase", "_len", "GenericGrowableArray", "_len" },
		{ &l->array_data, array, "GrowableArray<int>", "_data", "GrowableArray<int>", "_data" },
		{ &l->heap_shift, true, "CodeHeap", "_log2_segment_size", NULL, NULL },
		{ &l->space_low, true, "VirtualSpace", "_low", NULL, NULL },
		{ &l->space_high, true, "VirtualSpace", "_high", NULL, NULL },
	};

	l->heaps_array = array;
	l->heaps = static_of(v, "CodeCache", array ? "_heaps" : "_heap"); /* JDK 8 has one */
	if (!l->heaps)
		return "CodeCache::_heaps";
	if (!vmlayout_inner(v, "CodeHeap", "_memory", &l->heap_memory) ||
	    !vmlayout_inner(v, "CodeHeap", "_segmap", &l->heap_segmap))
		return "CodeHeap::_segmap";
	return vmlayout_find_all(v, wanted, countof(wanted));
}

static const char *find_blobs(struct vmlayout *l, const struct vmstructs *v)
{
	uint64_t header, size = vmstructs_size(v, "HeapBlock");
	const struct wanted wanted[] = {
		{ &l->block_length, true, "HeapBlock::Header", "_length", NULL, NULL },
		{ &l->block_used, true, "HeapBlock::Header", "_used", NULL, NULL },
		{ &l->blob_name, true, "CodeBlob", "_name", NULL, NULL },
		{ &l->blob_kind, false, "CodeBlob", "_kind", NULL, NULL },
		{ &l->blob_size, true, "CodeBlob", "_size", NULL, NULL },
		{ &l->code_begin, true, "CodeBlob", "_code_begin", "CodeBlob", "_code_offset" },
		{ &l->code_end, true, "CodeBlob", "_code_end", "CodeBlob", "_data_offset" },
		{ &l->method, true, "nmethod", "_method", "CompiledMethod", "_method" },
		{ &l->compile_id, true, "nmethod", "_compile_id", NULL, NULL },
		{ &l->level, false, "nmethod", "_comp_level", NULL, NULL },
	};
	const char *missing = vmlayout_find_all(v, wanted, countof(wanted));

	if (missing)
		return missing;
	if (size == 0 || size > BYTES_MAX || !vmlayout_inner(v, "HeapBlock", "_header", &header))
		return "HeapBlock";
	l->block_header = (uint32_t)size;
	l->block_length.at += (uint32_t)header;
	l->block_used.at += (uint32_t)header;
	l->code_offsets = !vmstructs_field(v, "CodeBlob", "_code_begin").known;
	if (!vmstructs_constant(v, "CodeBlobKind::Nmethod", &l->nmethod_kind))
		l->blob_kind.width = 0;
	for (size_t i = 2; i < countof(wanted); i++)
		if (wanted[i].to->width && wanted[i].to->at + wanted[i].to->width > l->blob_bytes)
			l->blob_bytes = wanted[i].to->at + wanted[i].to->width;
	return NULL;
}

static const char *vmlayout_find_names(struct vmlayout *l, const struct vmstructs *v)
{
	uint64_t size = vmstructs_size(v, "ConstantPool"), body;
	const struct wanted wanted[] = {
		{ &l->const_method, true, "Method", "_constMethod", NULL, NULL },
		{ &l->constants, true, "ConstMethod", "_constants", NULL, NULL },
		{ &l->name_index, true, "ConstMethod", "_name_index", NULL, NULL },
		{ &l->signature_index, true, "ConstMethod", "_signature_index", NULL, NULL },
		{ &l->pool_holder, true, "ConstantPool", "_pool_holder", NULL, NULL },
		{ &l->pool_length, true, "ConstantPool", "_length", NULL, NULL },
		{ &l->class_name, true, "Klass", "_name", NULL, NULL },
		{ &l->symbol_length, true, "Symbol", "_length", NULL, NULL },
	};
	const char *missing = vmlayout_find_all(v, wanted, countof(wanted));

	if (missing)
		return missing;
	if (size == 0 || size > BYTES_MAX)
		return "ConstantPool";
	if (!vmlayout_inner(v, "Symbol", "_body", &body) && !vmlayout_inner(v, "Symbol", "_body[0]", &body))
		return "Symbol::_body";
	l->pool_header = (uint32_t)size;
	l->symbol_body = (uint32_t)body;
	return NULL;
}

/* Which calls were inlined: wanted, not needed. */
static void find_scopes(struct vmlayout_scopes *s, const struct vmstructs *v)
{
	uint64_t size = vmstructs_size(v, "PcDesc");
	const struct wanted wanted[] = {
		{ &s->pcs, true, "nmethod", "_scopes_pcs_offset", NULL, NULL },
		{ &s->pcs_end, false, "nmethod", "_dependencies_offset", NULL, NULL },
		{ &s->data, false, "CompiledMethod", "_scopes_data_begin", "nmethod", "_scopes_data_begin" },
		{ &s->metadata, false, "nmethod", "_metadata_offset", NULL, NULL },
		{ &s->immutable, false, "nmethod", "_immutable_data", NULL, NULL },
		{ &s->immutable_size, false, "nmethod", "_immutable_data_size", NULL, NULL },
		{ &s->mutable_data, false, "CodeBlob", "_mutable_data", NULL, NULL },
		{ &s->mutable_size, false, "CodeBlob", "_mutable_data_size", NULL, NULL },
		{ &s->relocation_size, false, "CodeBlob", "_relocation_size", NULL, NULL },
		{ &s->pc_offset, true, "PcDesc", "_pc_offset", NULL, NULL },
		{ &s->pc_scope, true, "PcDesc", "_scope_decode_offset", NULL, NULL },
	};

	if (vmlayout_find_all(v, wanted, countof(wanted)) || size > 64 || s->pc_offset.at + s->pc_offset.width > size ||
	    s->pc_scope.at + s->pc_scope.width > size)
		return;
	s->pc_bytes = (uint32_t)size;
	s->data_is_pointer = s->data.width == 8;
	if (!s->data.width)
		s->data = vmlayout_find(v, "nmethod", "_scopes_data_offset");
	s->known = s->data.width && (s->immutable.width ? s->immutable_size.width != 0 : s->pcs_end.width != 0) &&
		   (s->metadata.width || (s->mutable_data.width && s->mutable_size.width && s->relocation_size.width));
}

const char *vmlayout_make(struct vmlayout *l, const struct vmstructs *v)
{
	const char *missing;

	*l = (struct vmlayout){ 0 };
	missing = vmlayout_find_heaps(l, v);
	if (!missing)
		missing = find_blobs(l, v);
	if (!missing)
		missing = vmlayout_find_names(l, v);
	find_scopes(&l->scopes, v);
	return missing;
}

bool vmlayout_read(struct memory *m, uint64_t object, struct vmlayout_field f, uint64_t *value)
{
	return f.width && memory_u64(m, object + f.at, f.width, value);
}

void vmlayout_move(struct vmlayout *l, uint64_t by)
{
	l->heaps += by;
}
