/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/hotspot/vmlayout.h"

/* Limit for offsets of fields in bytes. No object has larger offsets in its header. */
#define BYTES_MAX 4096

/* A field to find: type::field, or else or_type::or_field. If `needed` is set and neither exists, the layout fails. */
struct wanted {
	struct vmlayout_field *to;
	bool needed;
	const char *type, *field;
	const char *or_type, *or_field;
};

static struct vmlayout_field vmlayout_find(const struct vmstructs *vmstructs, const char *type, const char *field)
{
	struct vm_field f = type ? vmstructs_field(vmstructs, type, field) : (struct vm_field){ 0 };

	if (!f.known || f.is_static || f.width == 0 || f.at > BYTES_MAX)
		return (struct vmlayout_field){ 0 };
	return (struct vmlayout_field){ (uint32_t)f.at, f.width };
}

static const char *vmlayout_find_all(const struct vmstructs *vmstructs, const struct wanted *wanted, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		*wanted[i].to = vmlayout_find(vmstructs, wanted[i].type, wanted[i].field);
		if (!wanted[i].to->width)
			*wanted[i].to = vmlayout_find(vmstructs, wanted[i].or_type, wanted[i].or_field);
		if (!wanted[i].to->width && wanted[i].needed)
			return wanted[i].field;
	}
	return NULL;
}

static uint64_t static_of(const struct vmstructs *vmstructs, const char *type, const char *field)
{
	struct vm_field f = vmstructs_field(vmstructs, type, field);

	return f.known && f.is_static ? f.at : 0;
}

/* Sets *at to the offset of type::field, a member that is an object itself. Returns false if the member does not
 * exist. */
static bool vmlayout_inner(const struct vmstructs *vmstructs, const char *type, const char *field, uint64_t *at)
{
	struct vm_field f = vmstructs_field(vmstructs, type, field);

	*at = f.at;
	return f.known && !f.is_static && f.at <= BYTES_MAX;
}

static const char *vmlayout_find_heaps(struct vmlayout *vmlayout, const struct vmstructs *vmstructs)
{
	bool array = static_of(vmstructs, "CodeCache", "_heaps") != 0;
	const struct wanted wanted[] = {
		{ &vmlayout->array_n, array, "GrowableArrayBase", "_len", "GenericGrowableArray", "_len" },
		{ &vmlayout->array_data, array, "GrowableArray<int>", "_data", "GrowableArray<int>", "_data" },
		{ &vmlayout->heap_shift, true, "CodeHeap", "_log2_segment_size", NULL, NULL },
		{ &vmlayout->space_low, true, "VirtualSpace", "_low", NULL, NULL },
		{ &vmlayout->space_high, true, "VirtualSpace", "_high", NULL, NULL },
	};

	vmlayout->heaps_array = array;
	/* JDK 8 has only one code heap, CodeCache::_heap. */
	vmlayout->heaps = static_of(vmstructs, "CodeCache", array ? "_heaps" : "_heap");
	if (!vmlayout->heaps)
		return "CodeCache::_heaps";
	if (!vmlayout_inner(vmstructs, "CodeHeap", "_memory", &vmlayout->heap_memory) ||
	    !vmlayout_inner(vmstructs, "CodeHeap", "_segmap", &vmlayout->heap_segmap))
		return "CodeHeap::_segmap";
	return vmlayout_find_all(vmstructs, wanted, countof(wanted));
}

static const char *find_blobs(struct vmlayout *vmlayout, const struct vmstructs *vmstructs)
{
	uint64_t header, size = vmstructs_size(vmstructs, "HeapBlock");
	const struct wanted wanted[] = {
		{ &vmlayout->block_length, true, "HeapBlock::Header", "_length", NULL, NULL },
		{ &vmlayout->block_used, true, "HeapBlock::Header", "_used", NULL, NULL },
		{ &vmlayout->blob_name, true, "CodeBlob", "_name", NULL, NULL },
		{ &vmlayout->blob_kind, false, "CodeBlob", "_kind", NULL, NULL },
		{ &vmlayout->blob_size, true, "CodeBlob", "_size", NULL, NULL },
		{ &vmlayout->code_begin, true, "CodeBlob", "_code_begin", "CodeBlob", "_code_offset" },
		{ &vmlayout->code_end, true, "CodeBlob", "_code_end", "CodeBlob", "_data_offset" },
		{ &vmlayout->method, true, "nmethod", "_method", "CompiledMethod", "_method" },
		{ &vmlayout->compile_id, true, "nmethod", "_compile_id", NULL, NULL },
		{ &vmlayout->level, false, "nmethod", "_comp_level", NULL, NULL },
	};
	const char *missing = vmlayout_find_all(vmstructs, wanted, countof(wanted));

	if (missing)
		return missing;
	if (size == 0 || size > BYTES_MAX || !vmlayout_inner(vmstructs, "HeapBlock", "_header", &header))
		return "HeapBlock";
	vmlayout->block_header = (uint32_t)size;
	vmlayout->block_length.at += (uint32_t)header;
	vmlayout->block_used.at += (uint32_t)header;
	vmlayout->code_offsets = !vmstructs_field(vmstructs, "CodeBlob", "_code_begin").known;
	if (!vmstructs_constant(vmstructs, "CodeBlobKind::Nmethod", &vmlayout->nmethod_kind))
		vmlayout->blob_kind.width = 0;
	for (size_t i = 2; i < countof(wanted); i++)
		if (wanted[i].to->width && wanted[i].to->at + wanted[i].to->width > vmlayout->blob_bytes)
			vmlayout->blob_bytes = wanted[i].to->at + wanted[i].to->width;
	return NULL;
}

static const char *vmlayout_find_names(struct vmlayout *vmlayout, const struct vmstructs *vmstructs)
{
	uint64_t size = vmstructs_size(vmstructs, "ConstantPool"), body;
	const struct wanted wanted[] = {
		{ &vmlayout->const_method, true, "Method", "_constMethod", NULL, NULL },
		{ &vmlayout->constants, true, "ConstMethod", "_constants", NULL, NULL },
		{ &vmlayout->name_index, true, "ConstMethod", "_name_index", NULL, NULL },
		{ &vmlayout->signature_index, true, "ConstMethod", "_signature_index", NULL, NULL },
		{ &vmlayout->pool_holder, true, "ConstantPool", "_pool_holder", NULL, NULL },
		{ &vmlayout->pool_length, true, "ConstantPool", "_length", NULL, NULL },
		{ &vmlayout->class_name, true, "Klass", "_name", NULL, NULL },
		{ &vmlayout->symbol_length, true, "Symbol", "_length", NULL, NULL },
	};
	const char *missing = vmlayout_find_all(vmstructs, wanted, countof(wanted));

	if (missing)
		return missing;
	if (size == 0 || size > BYTES_MAX)
		return "ConstantPool";
	if (!vmlayout_inner(vmstructs, "Symbol", "_body", &body) &&
	    !vmlayout_inner(vmstructs, "Symbol", "_body[0]", &body))
		return "Symbol::_body";
	vmlayout->pool_header = (uint32_t)size;
	vmlayout->symbol_body = (uint32_t)body;
	return NULL;
}

/* Finds the fields for scopes.h. They are optional: if the JVM exports too few of them to read scopes, scopes->known
 * stays false. */
static void find_scopes(struct vmlayout_scopes *scopes, const struct vmstructs *vmstructs)
{
	uint64_t size = vmstructs_size(vmstructs, "PcDesc");
	const struct wanted wanted[] = {
		{ &scopes->pcs, true, "nmethod", "_scopes_pcs_offset", NULL, NULL },
		{ &scopes->pcs_end, false, "nmethod", "_dependencies_offset", NULL, NULL },
		{ &scopes->data, false, "CompiledMethod", "_scopes_data_begin", "nmethod", "_scopes_data_begin" },
		{ &scopes->metadata, false, "nmethod", "_metadata_offset", NULL, NULL },
		{ &scopes->immutable, false, "nmethod", "_immutable_data", NULL, NULL },
		{ &scopes->immutable_size, false, "nmethod", "_immutable_data_size", NULL, NULL },
		{ &scopes->mutable_data, false, "CodeBlob", "_mutable_data", NULL, NULL },
		{ &scopes->mutable_size, false, "CodeBlob", "_mutable_data_size", NULL, NULL },
		{ &scopes->relocation_size, false, "CodeBlob", "_relocation_size", NULL, NULL },
		{ &scopes->pc_offset, true, "PcDesc", "_pc_offset", NULL, NULL },
		{ &scopes->pc_scope, true, "PcDesc", "_scope_decode_offset", NULL, NULL },
	};

	if (vmlayout_find_all(vmstructs, wanted, countof(wanted)) || size > 64 ||
	    scopes->pc_offset.at + scopes->pc_offset.width > size ||
	    scopes->pc_scope.at + scopes->pc_scope.width > size)
		return;
	scopes->pc_bytes = (uint32_t)size;
	scopes->data_is_pointer = scopes->data.width == 8;
	if (!scopes->data.width)
		scopes->data = vmlayout_find(vmstructs, "nmethod", "_scopes_data_offset");
	scopes->known = scopes->data.width &&
			(scopes->immutable.width ? scopes->immutable_size.width != 0 : scopes->pcs_end.width != 0) &&
			(scopes->metadata.width ||
			 (scopes->mutable_data.width && scopes->mutable_size.width && scopes->relocation_size.width));
}

const char *vmlayout_make(struct vmlayout *vmlayout, const struct vmstructs *vmstructs)
{
	const char *missing;

	*vmlayout = (struct vmlayout){ 0 };
	missing = vmlayout_find_heaps(vmlayout, vmstructs);
	if (!missing)
		missing = find_blobs(vmlayout, vmstructs);
	if (!missing)
		missing = vmlayout_find_names(vmlayout, vmstructs);
	find_scopes(&vmlayout->scopes, vmstructs);
	return missing;
}

bool vmlayout_read(struct memory *memory, uint64_t object, struct vmlayout_field field, uint64_t *value)
{
	return field.width && memory_u64(memory, object + field.at, field.width, value);
}

void vmlayout_move(struct vmlayout *vmlayout, uint64_t by)
{
	vmlayout->heaps += by;
}
