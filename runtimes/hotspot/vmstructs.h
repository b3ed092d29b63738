/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vmstructs.h - what HotSpot tells debuggers of its own layout: fields of types, sizes of types, constants.
 *
 * libjvm.so exports these tables for the serviceability agent (vmStructs.hpp of the JDK: gHotSpotVMStructs, -VMTypes,
 * -VMIntConstants, -VMLongConstants), and says even how wide their own entries are. No offset of HotSpot stands as a
 * number here. A field that is not there is not known, and what needs it is not done.
 */
#ifndef PJ_VMSTRUCTS_H
#define PJ_VMSTRUCTS_H

#include "common/intern.h"
#include "runtimes/hotspot/libjvm.h"

/* Where a field is: offset from the start of its object, or, if it is static, an address. */
struct vm_field {
	bool known, is_static;
	uint8_t width; /* bytes; 0: not a number */
	uint64_t at;
};

struct vmstructs {
	struct intern name; /* "Type::field", "Type", "#CONSTANT" */
	uint32_t cap;
	struct vm_value {
		struct vm_field field;
		int64_t value; /* size of a type, constant */
	} * value;             /* by id of the name */
	uint32_t fields, types;
};

/* NULL, or why not. */
const char *vmstructs_read(struct vmstructs *vmstructs, struct libjvm *libjvm);
void vmstructs_free(struct vmstructs *vmstructs);

/* Memory of the tables. */
uint64_t vmstructs_bytes(const struct vmstructs *vmstructs);

/* .known says whether there is such a field. */
struct vm_field vmstructs_field(const struct vmstructs *vmstructs, const char *type, const char *field);

/* Bytes of a type, 0: not known. */
uint64_t vmstructs_size(const struct vmstructs *vmstructs, const char *type);

/* False: no such constant. Those of a class are called as HotSpot does: "Klass::_primary_supers". */
bool vmstructs_constant(const struct vmstructs *vmstructs, const char *name, int64_t *value);

#endif
