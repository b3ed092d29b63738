/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vmstructs.h - reads HotSpot's description of its own layout, which it exports for debuggers: fields, sizes,
 * constants.
 *
 * libjvm.so exports tables of these for the serviceability agent (vmStructs.hpp of the JDK: gHotSpotVMStructs,
 * -VMTypes, -VMIntConstants, -VMLongConstants), and also the offsets of the members of their entries. So pj's source
 * has no numeric offset of a HotSpot object. If a field is missing, the feature that needs it is disabled.
 *
 * vmstructs_read(&tables, &libjvm);
 * struct vm_field size = vmstructs_field(&tables, "CodeBlob", "_frame_size");
 * vmstructs_free(&tables);
 */
#ifndef PJ_VMSTRUCTS_H
#define PJ_VMSTRUCTS_H

#include "common/intern.h"
#include "runtimes/memory/loadedfile.h"

/* Position of a field: `at` is its offset from the start of the object, or the address of a static variable if
 * is_static. known: true if the field exists. */
struct vm_field {
	bool known, is_static;
	uint8_t width; /* width of the field in bytes; 0 if it is neither a number nor a pointer */
	uint64_t at;
};

struct vmstructs {
	struct intern name; /* names of all values: "Type::field", "Type" or "#CONSTANT" */
	uint32_t cap;
	struct vm_value {
		struct vm_field field;
		int64_t value; /* size of a type in bytes, or value of a constant */
	} * value;             /* indexed by the id of the name */
	/* numbers of entries read from HotSpot's tables of fields and of types */
	uint32_t fields, types;
};

/* Reads all tables of libjvm. Returns NULL, or the reason of the failure as a static string; *vmstructs is empty
 * then. The tables are hostile: counts, strides and lengths are limited, and memory is taken from libjvm->m->budget. */
const char *vmstructs_read(struct vmstructs *vmstructs, struct loadedfile *libjvm);
/* Frees the tables; *vmstructs is empty afterwards. */
void vmstructs_free(struct vmstructs *vmstructs);

/* Returns the number of bytes of memory that the tables use. */
uint64_t vmstructs_bytes(const struct vmstructs *vmstructs);

/* Looks a field up by type and name. `known` of the result is false if the field does not exist. */
struct vm_field vmstructs_field(const struct vmstructs *vmstructs, const char *type, const char *field);

/* Returns the size of a type in bytes; 0 if the type is unknown. */
uint64_t vmstructs_size(const struct vmstructs *vmstructs, const char *type);

/* Sets *value to the value of a constant. Returns false if it does not exist. Constants of a class have HotSpot's
 * name: "Klass::_primary_supers". */
bool vmstructs_constant(const struct vmstructs *vmstructs, const char *name, int64_t *value);

#endif
