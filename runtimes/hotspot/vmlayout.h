/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vmlayout.h - finds the offsets of the HotSpot fields that pj reads, for one JVM.
 *
 * The offsets come from the JVM's own tables (vmstructs.h), for JDK 8 to 25. Some fields moved to another type, became
 * narrower, or changed from pointers to offsets between JDKs: they are looked up under each of their names. Without a
 * needed field, vmlayout_make returns its name, and the JVM is not supported; without an optional one, only one feature
 * is missing, such as inlined calls. A JVM's tables are hostile: offsets and sizes are limited, and reads through a
 * layout are checked.
 */
#ifndef PJ_VMLAYOUT_H
#define PJ_VMLAYOUT_H

#include "runtimes/hotspot/vmstructs.h"

/* Position of one field in an object whose first bytes are copied. */
struct vmlayout_field {
	/* offset of the field from the start of the object, in bytes */
	uint32_t at;
	/* width of the field in bytes: 1, 2, 4 or 8; 0 if the field does not exist */
	uint8_t width;
};

/* Fields of an nmethod for scopes.h. The tables of an nmethod are in its blob; in later JDKs, in memory outside of
 * the blob. */
struct vmlayout_scopes {
	/* known: true if the scopes can be read. data_is_pointer: true if the field `data` has an address, false if
	 * it has an offset. */
	bool known, data_is_pointer;
	/* Fields of an nmethod: positions of the PcDescs, of the end of the PcDescs, of the scopes and of the
	 * metadata. */
	struct vmlayout_field pcs, pcs_end, data, metadata;
	/* Fields that exist only in JDKs with immutable or mutable data outside of the blob. */
	struct vmlayout_field immutable, immutable_size, mutable_data, mutable_size, relocation_size;
	/* Fields of a PcDesc. */
	struct vmlayout_field pc_offset, pc_scope;
	/* size of a PcDesc in bytes */
	uint32_t pc_bytes;
};

struct vmlayout {
	/* Address of a static variable of CodeCache: it points to the array of code heaps, or to the only code heap
	 * if !heaps_array. */
	uint64_t heaps;
	/* true if the JVM has an array of heaps; false for JDK 8, which has one heap */
	bool heaps_array;
	/* fields of the GrowableArray of code heaps: number of heaps, pointer to them */
	struct vmlayout_field array_n, array_data;
	/* offsets in a CodeHeap of two VirtualSpaces: for the code, and for the segment map */
	uint64_t heap_memory, heap_segmap;
	/* field of a CodeHeap: log2 of the size of a segment in bytes */
	struct vmlayout_field heap_shift;
	/* fields of a VirtualSpace: start and end address of its committed part */
	struct vmlayout_field space_low, space_high;
	/* size of a HeapBlock in bytes; its CodeBlob follows */
	uint32_t block_header;
	/* fields of a HeapBlock: its length in segments, and a flag that is 1 if the block is allocated */
	struct vmlayout_field block_length, block_used;
	/* fields of a CodeBlob: address of its name, its kind, its size in bytes */
	struct vmlayout_field blob_name, blob_kind, blob_size;
	/* fields of a CodeBlob: start and end of its code; these are pointers, or offsets from the CodeBlob if
	 * code_offsets is set */
	struct vmlayout_field code_begin, code_end;
	/* true if the JVM has no CodeBlob::_code_begin, so that code_begin and code_end are offsets */
	bool code_offsets;
	/* value of blob_kind for an nmethod, in JDKs with that field */
	int64_t nmethod_kind;
	/* Fields of an nmethod: its Method*, compile id and compilation level. Method* and compile id identify the
	 * nmethod: HotSpot never reuses a compile id. */
	struct vmlayout_field method, compile_id, level;
	/* number of bytes at the start of a CodeBlob that contain all its fields above */
	uint32_t blob_bytes;
	/* Fields on the path to the name of a method: Method -> ConstMethod -> ConstantPool -> Symbol. */
	struct vmlayout_field const_method, constants, name_index, signature_index, pool_holder, pool_length,
		class_name;
	/* bytes from the start of a ConstantPool to its entries */
	uint32_t pool_header;
	/* field of a Symbol: its length in bytes */
	struct vmlayout_field symbol_length;
	/* offset in a Symbol of its characters */
	uint32_t symbol_body;
	/* fields for inlined calls; if scopes.known is false, inlined calls cannot be read */
	struct vmlayout_scopes scopes;
};

/* Fills *vmlayout from the JVM's tables. Returns NULL, or a static string: the name of the first missing field, with
 * or without its type ("CodeCache::_heaps", "_log2_segment_size"). */
const char *vmlayout_make(struct vmlayout *vmlayout, const struct vmstructs *vmstructs);

/* Adds `by` (modulo 2^64) to all addresses in a layout, for another JVM that has the same libjvm.so mapped `by`
 * bytes higher. */
void vmlayout_move(struct vmlayout *vmlayout, uint64_t by);

/* Returns the value of a field; object has the first bytes of the object. Returns 0 if the field does not exist.
 * Pure. */
static inline uint64_t vmlayout_get(struct vmlayout_field field, const char *object)
{
	uint64_t value = 0;

	/* One case for each width, because memcpy of a constant size compiles to one load. */
	switch (field.width) {
	case 1: memcpy(&value, object + field.at, 1); break;
	case 2: memcpy(&value, object + field.at, 2); break;
	case 4: memcpy(&value, object + field.at, 4); break;
	case 8: memcpy(&value, object + field.at, 8); break;
	default: break;
	}
	return value;
}

/* Like vmlayout_get, but extends the sign of fields below 8 bytes: for offsets and counts that may be -1. Pure. */
static inline int64_t vmlayout_get_signed(struct vmlayout_field field, const char *object)
{
	uint64_t value = vmlayout_get(field, object);

	if (field.width && field.width < 8 && value >> (8 * field.width - 1) & 1)
		value |= ~(uint64_t)0 << 8 * field.width;
	return (int64_t)value;
}

/* Sets *value to a field of the object at an address in the JVM. Returns false if the field does not exist or is not
 * readable. */
bool vmlayout_read(struct memory *memory, uint64_t object, struct vmlayout_field field, uint64_t *value);

#endif
