/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vmlayout.h - offsets of the HotSpot fields that pj reads, for one JVM.
 *
 * They come from the JVM's own tables (vmstructs.h), for JDK 8 to 25: fields that moved to another type, became
 * narrower, or changed from pointers to offsets are looked up under each of their names. A missing field disables one
 * feature, with a reason; the others work. A JVM's tables are hostile: offsets and sizes are limited, and reads through
 * a layout are checked.
 */
#ifndef PJ_VMLAYOUT_H
#define PJ_VMLAYOUT_H

#include "runtimes/hotspot/vmstructs.h"

/* One field of an object. Objects are read as a block of bytes. */
struct vmlayout_field {
	/* offset in bytes from the start of the object */
	uint32_t at;
	/* Bytes: 1, 2, 4 or 8; 0 if the field does not exist. */
	uint8_t width;
};

/* Fields of an nmethod for scopes.h. The tables are in the blob, or in memory of their own in later JDKs. */
struct vmlayout_scopes {
	/* known: scopes can be read. data_is_pointer: `data` is an address, not an offset. */
	bool known, data_is_pointer;
	/* Offsets of the PcDescs, their end, the scopes and the metadata. */
	struct vmlayout_field pcs, pcs_end, data, metadata;
	/* Only in JDKs with immutable and mutable data outside of the blob. */
	struct vmlayout_field immutable, immutable_size, mutable_data, mutable_size, relocation_size;
	/* Fields of a PcDesc. */
	struct vmlayout_field pc_offset, pc_scope;
	/* size of a PcDesc */
	uint32_t pc_bytes;
};

struct vmlayout {
	/* CodeCache: address of the pointer to the array of heaps, or to the only heap if !heaps_array. */
	uint64_t heaps;
	/* False for JDK 8, which has one heap. */
	bool heaps_array;
	/* Fields of the GrowableArray of heaps. */
	struct vmlayout_field array_n, array_data;
	/* Offsets of the VirtualSpaces in a CodeHeap: code and segment map. */
	uint64_t heap_memory, heap_segmap;
	/* Log2 of the bytes of a segment. */
	struct vmlayout_field heap_shift;
	/* Bounds of the committed part of a VirtualSpace. */
	struct vmlayout_field space_low, space_high;
	/* Bytes of a HeapBlock before its CodeBlob. */
	uint32_t block_header;
	/* Fields of a HeapBlock: its length in segments, and if it is allocated. */
	struct vmlayout_field block_length, block_used;
	/* Fields of a CodeBlob. */
	struct vmlayout_field blob_name, blob_kind, blob_size;
	/* Pointers, or offsets from the blob if code_offsets is set. */
	struct vmlayout_field code_begin, code_end;
	/* True if the JVM has no CodeBlob::_code_begin. */
	bool code_offsets;
	/* Value of blob_kind for an nmethod, in JDKs with that field. */
	int64_t nmethod_kind;
	/* Fields of an nmethod: its Method*, its compile id and its compilation level. The first two identify it:
	 * HotSpot never reuses a compile id. */
	struct vmlayout_field method, compile_id, level;
	/* Number of first bytes of a blob that contain all these fields. */
	uint32_t blob_bytes;
	/* Names: Method -> ConstMethod -> ConstantPool -> Symbol. */
	struct vmlayout_field const_method, constants, name_index, signature_index, pool_holder, pool_length,
		class_name;
	/* Bytes of a ConstantPool before its entries. */
	uint32_t pool_header;
	/* Length field of a Symbol. */
	struct vmlayout_field symbol_length;
	/* Offset of the bytes of a Symbol. */
	uint32_t symbol_body;
	/* .known is false if inlined calls cannot be read. */
	struct vmlayout_scopes scopes;
};

/* Fills *vmlayout. Returns NULL, or the name of the first missing field, as "CodeCache::_heaps" (a static string). */
const char *vmlayout_make(struct vmlayout *vmlayout, const struct vmstructs *vmstructs);

/* Adjusts the addresses in a layout to the same libjvm.so mapped `by` bytes higher (modulo 2^64). */
void vmlayout_move(struct vmlayout *vmlayout, uint64_t by);

/* Returns a field of an object whose first bytes were read; 0 if the field does not exist. Pure. */
static inline uint64_t vmlayout_get(struct vmlayout_field field, const char *object)
{
	uint64_t value = 0;

	/* memcpy of a constant size compiles to one load. */
	switch (field.width) {
	case 1: memcpy(&value, object + field.at, 1); break;
	case 2: memcpy(&value, object + field.at, 2); break;
	case 4: memcpy(&value, object + field.at, 4); break;
	case 8: memcpy(&value, object + field.at, 8); break;
	default: break;
	}
	return value;
}

/* Like vmlayout_get, with sign extension of fields below 8 bytes: for offsets and counts that may be -1. Pure. */
static inline int64_t vmlayout_get_signed(struct vmlayout_field field, const char *object)
{
	uint64_t value = vmlayout_get(field, object);

	if (field.width && field.width < 8 && value >> (8 * field.width - 1) & 1)
		value |= ~(uint64_t)0 << 8 * field.width;
	return (int64_t)value;
}

/* Reads a field of the object at an address. Returns false if the field does not exist or is not readable. */
bool vmlayout_read(struct memory *memory, uint64_t object, struct vmlayout_field field, uint64_t *value);

#endif
