/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vmlayout.h - where in the memory of one HotSpot the things are that a map of its code is made of.
 *
 * From its own tables, for JDK 8 to 25: fields that moved to another type, became narrower, or turned from pointers
 * into offsets are found under each of their names. What is missing makes one feature impossible, with the reason; the
 * rest stays.
 */
#ifndef PJ_VMLAYOUT_H
#define PJ_VMLAYOUT_H

#include "runtimes/hotspot/vmstructs.h"

/* One field of an object that is read as a whole. */
struct vmlayout_field {
	uint32_t at;
	uint8_t width; /* 0: not there */
};

/* Of an nmethod, for scopes.h. Either all in the blob, or in memory of their own. */
struct vmlayout_scopes {
	bool known, data_is_pointer;
	struct vmlayout_field pcs, pcs_end, data, metadata;
	struct vmlayout_field immutable, immutable_size, mutable_data, mutable_size, relocation_size;
	struct vmlayout_field pc_offset, pc_scope; /* of a PcDesc */
	uint32_t pc_bytes;
};

struct vmlayout {
	/* CodeCache */
	uint64_t heaps; /* address of the pointer to an array of heaps; of the only heap if !heaps_array */
	bool heaps_array;
	struct vmlayout_field array_n, array_data; /* GrowableArray */
	uint64_t heap_memory, heap_segmap;         /* VirtualSpaces in a CodeHeap */
	struct vmlayout_field heap_shift;
	struct vmlayout_field space_low, space_high;
	/* HeapBlock, and the CodeBlob behind its header */
	uint32_t block_header; /* bytes */
	struct vmlayout_field block_length, block_used;
	struct vmlayout_field blob_name, blob_kind, blob_size;
	struct vmlayout_field code_begin, code_end; /* pointers, or offsets from the blob */
	bool code_offsets;
	int64_t nmethod_kind;                            /* value of blob_kind, where there is that */
	struct vmlayout_field method, compile_id, level; /* of an nmethod */
	uint32_t blob_bytes;                             /* that much of a blob holds all of them */
	/* Method -> ConstMethod -> ConstantPool -> Symbol */
	struct vmlayout_field const_method, constants, name_index, signature_index, pool_holder, pool_length,
		class_name;
	uint32_t pool_header; /* bytes in front of its entries */
	struct vmlayout_field symbol_length;
	uint32_t symbol_body;
	struct vmlayout_scopes scopes;
};

/* NULL, or which part is missing, as "CodeCache::_heaps", for "its libjvm.so does not tell ...". */
const char *vmlayout_make(struct vmlayout *vmlayout, const struct vmstructs *vmstructs);

/* To the same library, so many bytes further up. */
void vmlayout_move(struct vmlayout *vmlayout, uint64_t by);

/* The field of an object whose first bytes were read; 0 if it is not there. Pure. */
static inline uint64_t vmlayout_get(struct vmlayout_field field, const char *object)
{
	uint64_t value = 0;

	switch (field.width) { /* copies of a known size are one load */
	case 1: memcpy(&value, object + field.at, 1); break;
	case 2: memcpy(&value, object + field.at, 2); break;
	case 4: memcpy(&value, object + field.at, 4); break;
	case 8: memcpy(&value, object + field.at, 8); break;
	default: break;
	}
	return value;
}

static inline int64_t vmlayout_get_signed(struct vmlayout_field field, const char *object)
{
	uint64_t value = vmlayout_get(field, object);

	if (field.width && field.width < 8 && value >> (8 * field.width - 1) & 1)
		value |= ~(uint64_t)0 << 8 * field.width;
	return (int64_t)value;
}

/* The same read from memory. False: the field is not known, or cannot be read. */
bool vmlayout_read(struct memory *memory, uint64_t object, struct vmlayout_field field, uint64_t *value);

#endif
