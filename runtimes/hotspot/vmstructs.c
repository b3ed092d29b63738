/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/hotspot/vmstructs.h"

#include "common/text.h"

#include <stdlib.h>

#define ENTRIES_MAX 16384
#define STRIDE_MAX 1024
#define NAME_MAX_BYTES 256

/* One of HotSpot's four tables: its address, the distance from one entry to the next in bytes, and the offsets of an
 * entry's members. All come from exported symbols. */
struct table {
	uint64_t at, stride;
	uint64_t offset[6];
};

static bool vmstructs_get_number(struct loadedfile *libjvm, const char *symbol, uint64_t *value)
{
	uint64_t address;

	return loadedfile_symbol(libjvm, str_of(symbol), &address) && memory_u64(libjvm->m, address, 8, value);
}

static bool open_table(struct loadedfile *libjvm, struct table *table, const char *name, const char *stride,
		       const char *const *offset, size_t n)
{
	if (!vmstructs_get_number(libjvm, name, &table->at) || table->at == 0 ||
	    !vmstructs_get_number(libjvm, stride, &table->stride) || table->stride == 0 || table->stride > STRIDE_MAX)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!vmstructs_get_number(libjvm, offset[i], &table->offset[i]) || table->offset[i] > table->stride - 4)
			return false;
	return true;
}

/* Returns the struct vm_value of a name, and adds the name if it is new; NULL if the budget is exceeded. */
static struct vm_value *vmstructs_value_of(struct vmstructs *vmstructs, const struct loadedfile *libjvm,
					   struct str name)
{
	uint32_t id;

	if (!readbudget_bytes(libjvm->m->budget, name.n + 2 * sizeof(*vmstructs->value)))
		return NULL;
	id = intern(&vmstructs->name, name);

	if (id >= vmstructs->cap) {
		uint32_t cap = id + id / 2 + 512;

		vmstructs->value = mem_grow(vmstructs->value, sizeof(*vmstructs->value), cap);
		memset(vmstructs->value + vmstructs->cap, 0, (cap - vmstructs->cap) * sizeof(*vmstructs->value));
		vmstructs->cap = cap;
	}
	return &vmstructs->value[id];
}

/* Copies the C string to which the char * at an address points. Returns NULL if the pointer is 0 (end of the table)
 * or the string is not readable. */
static const char *string_at(struct loadedfile *libjvm, uint64_t address, char to[NAME_MAX_BYTES])
{
	uint64_t p;

	return memory_pointer(libjvm->m, address, &p) && p && memory_string(libjvm->m, p, to, NAME_MAX_BYTES) ? to :
														NULL;
}

/* Widths in bytes of C++ types of fields. */
static const struct {
	struct str name;
	uint8_t width;
} type_widths[] = {
	{ STR("bool"), 1 },
	{ STR("char"), 1 },
	{ STR("u1"), 1 },
	{ STR("s1"), 1 },
	{ STR("jbyte"), 1 },
	{ STR("uint8_t"), 1 },
	{ STR("int8_t"), 1 },
	{ STR("signed char"), 1 },
	{ STR("unsigned char"), 1 },
	{ STR("jboolean"), 1 },
	{ STR("u2"), 2 },
	{ STR("s2"), 2 },
	{ STR("short"), 2 },
	{ STR("unsigned short"), 2 },
	{ STR("jshort"), 2 },
	{ STR("int16_t"), 2 },
	{ STR("uint16_t"), 2 },
	{ STR("u4"), 4 },
	{ STR("s4"), 4 },
	{ STR("int"), 4 },
	{ STR("unsigned int"), 4 },
	{ STR("jint"), 4 },
	{ STR("uint"), 4 },
	{ STR("int32_t"), 4 },
	{ STR("uint32_t"), 4 },
	{ STR("juint"), 4 },
	{ STR("unsigned"), 4 },
	{ STR("u8"), 8 },
	{ STR("size_t"), 8 },
	{ STR("intptr_t"), 8 },
	{ STR("uintptr_t"), 8 },
	{ STR("jlong"), 8 },
	{ STR("uint64_t"), 8 },
	{ STR("int64_t"), 8 },
	{ STR("julong"), 8 },
	{ STR("address"), 8 },
	{ STR("long"), 8 },
	{ STR("unsigned long"), 8 },
	{ STR("narrowKlass"), 4 },
	{ STR("narrowOop"), 4 },
};

/* Returns the type without leading `const` and `volatile`. */
static struct str without_qualifiers(struct str type)
{
	for (struct str prefix; type.n;) {
		prefix = STR("volatile ");
		if (!str_starts(type, prefix))
			prefix = STR("const ");
		if (!str_starts(type, prefix))
			break;
		type = str_from(type, prefix.n);
	}
	return type;
}

/* Returns the width in bytes of a field of a C++ type; 0 if the type is neither a number nor a pointer. The types of
 * fields differ between JDKs. */
static uint8_t width_of(const struct vmstructs *vmstructs, struct str type)
{
	uint64_t size;

	type = without_qualifiers(type);
	if (str_ends(type, STR("*")))
		return 8;
	for (size_t i = 0; i < countof(type_widths); i++)
		if (str_eq(type_widths[i].name, type))
			return type_widths[i].width;
	size = 0;
	if (intern_find(&vmstructs->name, type))
		size = (uint64_t)vmstructs->value[intern_find(&vmstructs->name, type)].value;
	return size == 1 || size == 2 || size == 4 || size == 8 ? (uint8_t)size : 0;
}

static const char *read_types(struct vmstructs *vmstructs, struct loadedfile *libjvm)
{
	static const char *const offset[] = { "gHotSpotVMTypeEntryTypeNameOffset", "gHotSpotVMTypeEntrySizeOffset" };
	struct table table;

	if (!open_table(libjvm, &table, "gHotSpotVMTypes", "gHotSpotVMTypeEntryArrayStride", offset, countof(offset)))
		return "its libjvm.so does not export gHotSpotVMTypes";
	for (; vmstructs->types < ENTRIES_MAX; vmstructs->types++) {
		uint64_t entry = table.at + vmstructs->types * table.stride, size;
		char name[NAME_MAX_BYTES];
		struct vm_value *value;

		if (!string_at(libjvm, entry + table.offset[0], name))
			break;
		value = vmstructs_value_of(vmstructs, libjvm, str_of(name));
		if (!value)
			break;
		if (memory_u64(libjvm->m, entry + table.offset[1], 8, &size) && size < 1u << 20)
			value->value = (int64_t)size;
	}
	return vmstructs->types ? NULL : "its gHotSpotVMTypes cannot be read";
}

static const char *read_fields(struct vmstructs *vmstructs, struct loadedfile *libjvm)
{
	static const char *const offset[] = {
		"gHotSpotVMStructEntryTypeNameOffset",   "gHotSpotVMStructEntryFieldNameOffset",
		"gHotSpotVMStructEntryTypeStringOffset", "gHotSpotVMStructEntryIsStaticOffset",
		"gHotSpotVMStructEntryOffsetOffset",     "gHotSpotVMStructEntryAddressOffset"
	};
	struct text name = { 0 };
	struct table table;

	if (!open_table(libjvm, &table, "gHotSpotVMStructs", "gHotSpotVMStructEntryArrayStride", offset,
			countof(offset)))
		return "its libjvm.so does not export gHotSpotVMStructs";
	for (; vmstructs->fields < ENTRIES_MAX; vmstructs->fields++) {
		uint64_t entry = table.at + vmstructs->fields * table.stride, is_static;
		char type[NAME_MAX_BYTES], field[NAME_MAX_BYTES], of[NAME_MAX_BYTES];
		struct vm_field f = { .known = true };
		struct vm_value *value;

		if (!string_at(libjvm, entry + table.offset[0], type) ||
		    !string_at(libjvm, entry + table.offset[1], field))
			break;
		if (!memory_u64(libjvm->m, entry + table.offset[3], 4, &is_static) ||
		    !memory_u64(libjvm->m, entry + table.offset[is_static ? 5 : 4], 8, &f.at))
			break;
		f.is_static = is_static != 0;
		if (!f.is_static && f.at > 1u << 20)
			/* No object is so large: skip the field. */
			continue;
		f.width = string_at(libjvm, entry + table.offset[2], of) ?
				  width_of(vmstructs, str_of(of)) :
				  /* Without a type string the entry is a pointer to a static variable. */
				  8;
		name.n = 0;
		text_printf(&name, "%s::%s", type, field);
		value = vmstructs_value_of(vmstructs, libjvm, text_view(&name));
		if (!value)
			break;
		value->field = f;
	}
	text_free(&name);
	return vmstructs->fields ? NULL : "its gHotSpotVMStructs cannot be read";
}

/* Reads a table of constants of `width` bytes each. The other parameters are names of exported symbols: with the
 * address of the table, the size of an entry, and the offsets of name and value in an entry. Constants are optional: a
 * feature that lacks one is disabled. */
static void read_constants(struct vmstructs *vmstructs, struct loadedfile *libjvm, const char *at, const char *stride,
			   const char *name_offset, const char *value_offset, unsigned width)
{
	const char *const offset[] = { name_offset, value_offset };
	struct text name = { 0 };
	struct table table;

	if (!open_table(libjvm, &table, at, stride, offset, countof(offset)))
		return;
	for (uint32_t i = 0; i < ENTRIES_MAX; i++) {
		uint64_t entry = table.at + i * table.stride;
		char constant[NAME_MAX_BYTES];
		struct vm_value *to;
		int64_t value;

		if (!string_at(libjvm, entry + table.offset[0], constant) ||
		    !memory_i64(libjvm->m, entry + table.offset[1], width, &value))
			break;
		name.n = 0;
		text_printf(&name, "#%s", constant);
		to = vmstructs_value_of(vmstructs, libjvm, text_view(&name));
		if (!to)
			break;
		to->value = value;
	}
	text_free(&name);
}

const char *vmstructs_read(struct vmstructs *vmstructs, struct loadedfile *libjvm)
{
	const char *why;

	*vmstructs = (struct vmstructs){ 0 };
	/* Types come first, because read_fields needs the sizes of types. */
	why = read_types(vmstructs, libjvm);
	if (!why)
		why = read_fields(vmstructs, libjvm);
	if (why) {
		vmstructs_free(vmstructs);
		return why;
	}
	read_constants(vmstructs, libjvm, "gHotSpotVMIntConstants", "gHotSpotVMIntConstantEntryArrayStride",
		       "gHotSpotVMIntConstantEntryNameOffset", "gHotSpotVMIntConstantEntryValueOffset", 4);
	read_constants(vmstructs, libjvm, "gHotSpotVMLongConstants", "gHotSpotVMLongConstantEntryArrayStride",
		       "gHotSpotVMLongConstantEntryNameOffset", "gHotSpotVMLongConstantEntryValueOffset", 8);
	return NULL;
}

void vmstructs_free(struct vmstructs *vmstructs)
{
	intern_free(&vmstructs->name);
	free(vmstructs->value);
	*vmstructs = (struct vmstructs){ 0 };
}

uint64_t vmstructs_bytes(const struct vmstructs *vmstructs)
{
	return vmstructs->name.bytes.total + (uint64_t)vmstructs->name.cap * sizeof(*vmstructs->name.str) +
	       (vmstructs->name.mask + 1ull) * sizeof(*vmstructs->name.slot) +
	       (uint64_t)vmstructs->cap * sizeof(*vmstructs->value);
}

static const struct vm_value *vmstructs_look_up(const struct vmstructs *vmstructs, const char *a, const char *between,
						const char *b)
{
	struct text name = { 0 };
	uint32_t id;

	text_printf(&name, "%s%s%s", a, between, b);
	id = intern_find(&vmstructs->name, text_view(&name));
	text_free(&name);
	return id ? &vmstructs->value[id] : NULL;
}

struct vm_field vmstructs_field(const struct vmstructs *vmstructs, const char *type, const char *field)
{
	const struct vm_value *value = vmstructs_look_up(vmstructs, type, "::", field);

	return value ? value->field : (struct vm_field){ 0 };
}

uint64_t vmstructs_size(const struct vmstructs *vmstructs, const char *type)
{
	const struct vm_value *value = vmstructs_look_up(vmstructs, type, "", "");

	return value ? (uint64_t)value->value : 0;
}

bool vmstructs_constant(const struct vmstructs *vmstructs, const char *name, int64_t *value)
{
	const struct vm_value *found = vmstructs_look_up(vmstructs, "#", name, "");

	if (found)
		*value = found->value;
	return found != NULL;
}
