/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/hotspot/vmstructs.h"

#include "common/text.h"

#include <stdlib.h>

#define ENTRIES_MAX 16384
#define STRIDE_MAX 1024
#define NAME_MAX_BYTES 256

/* One of the four tables: its address, and where in an entry things are, all from symbols. */
struct table {
	uint64_t at, stride;
	uint64_t offset[6];
};

static bool vmstructs_get_number(struct libjvm *l, const char *symbol, uint64_t *value)
{
	uint64_t address;

	return libjvm_symbol(l, str_of(symbol), &address) && memory_u64(l->m, address, 8, value);
}

static bool open_table(struct libjvm *l, struct table *t, const char *name, const char *stride,
		       const char *const *offset, size_t n)
{
	if (!vmstructs_get_number(l, name, &t->at) || t->at == 0 || !vmstructs_get_number(l, stride, &t->stride) ||
	    t->stride == 0 || t->stride > STRIDE_MAX)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!vmstructs_get_number(l, offset[i], &t->offset[i]) || t->offset[i] > t->stride - 4)
			return false;
	return true;
}

/* NULL: the budget is exceeded. */
static struct vm_value *vmstructs_value_of(struct vmstructs *v, const struct libjvm *l, struct str name)
{
	uint32_t id;

	if (!readbudget_bytes(l->m->budget, name.n + 2 * sizeof(*v->value)))
		return NULL;
	id = intern(&v->name, name);

	if (id >= v->cap) {
		uint32_t cap = id + id / 2 + 512;

		v->value = mem_grow(v->value, sizeof(*v->value), cap);
		memset(v->value + v->cap, 0, (cap - v->cap) * sizeof(*v->value));
		v->cap = cap;
	}
	return &v->value[id];
}

/* A string that a pointer at an address points to; NULL: the table ends here (or cannot be read). */
static const char *string_at(struct libjvm *l, uint64_t address, char to[NAME_MAX_BYTES])
{
	uint64_t p;

	return memory_pointer(l->m, address, &p) && p && memory_string(l->m, p, to, NAME_MAX_BYTES) ? to : NULL;
}

/* How wide a number of this C++ type is; 0: another type. Widths differ from JDK to JDK for one field. */
static uint8_t width_of(const struct vmstructs *v, struct str type)
{
	static const struct {
		struct str name;
		uint8_t width;
	} known[] = {
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
	uint64_t size;

	for (struct str prefix; type.n;) {
		prefix = STR("volatile ");
		if (!str_starts(type, prefix))
			prefix = STR("const ");
		if (!str_starts(type, prefix))
			break;
		type = str_from(type, prefix.n);
	}
	if (str_ends(type, STR("*")))
		return 8;
	for (size_t i = 0; i < countof(known); i++)
		if (str_eq(known[i].name, type))
			return known[i].width;
	size = 0;
	if (intern_find(&v->name, type))
		size = (uint64_t)v->value[intern_find(&v->name, type)].value;
	return size == 1 || size == 2 || size == 4 || size == 8 ? (uint8_t)size : 0;
}

static const char *read_types(struct vmstructs *v, struct libjvm *l)
{
	static const char *const offset[] = { "gHotSpotVMTypeEntryTypeNameOffset", "gHotSpotVMTypeEntrySizeOffset" };
	struct table t;

	if (!open_table(l, &t, "gHotSpotVMTypes", "gHotSpotVMTypeEntryArrayStride", offset, countof(offset)))
		return "its libjvm.so does not export gHotSpotVMTypes";
	for (; v->types < ENTRIES_MAX; v->types++) {
		uint64_t entry = t.at + v->types * t.stride, size;
		char name[NAME_MAX_BYTES];
		struct vm_value *value;

		if (!string_at(l, entry + t.offset[0], name))
			break;
		value = vmstructs_value_of(v, l, str_of(name));
		if (!value)
			break;
		if (memory_u64(l->m, entry + t.offset[1], 8, &size) && size < 1u << 20)
			value->value = (int64_t)size;
	}
	return v->types ? NULL : "its gHotSpotVMTypes cannot be read";
}

static const char *read_fields(struct vmstructs *v, struct libjvm *l)
{
	static const char *const offset[] = {
		"gHotSpotVMStructEntryTypeNameOffset",   "gHotSpotVMStructEntryFieldNameOffset",
		"gHotSpotVMStructEntryTypeStringOffset", "gHotSpotVMStructEntryIsStaticOffset",
		"gHotSpotVMStructEntryOffsetOffset",     "gHotSpotVMStructEntryAddressOffset"
	};
	struct text name = { 0 };
	struct table t;

	if (!open_table(l, &t, "gHotSpotVMStructs", "gHotSpotVMStructEntryArrayStride", offset, countof(offset)))
		return "its libjvm.so does not export gHotSpotVMStructs";
	for (; v->fields < ENTRIES_MAX; v->fields++) {
		uint64_t entry = t.at + v->fields * t.stride, is_static;
		char type[NAME_MAX_BYTES], field[NAME_MAX_BYTES], of[NAME_MAX_BYTES];
		struct vm_field f = { .known = true };
		struct vm_value *value;

		if (!string_at(l, entry + t.offset[0], type) || !string_at(l, entry + t.offset[1], field))
			break;
		if (!memory_u64(l->m, entry + t.offset[3], 4, &is_static) ||
		    !memory_u64(l->m, entry + t.offset[is_static ? 5 : 4], 8, &f.at))
			break;
		f.is_static = is_static != 0;
		if (!f.is_static && f.at > 1u << 20)
			continue; /* no object is so large */
		f.width = string_at(l, entry + t.offset[2], of) ? width_of(v, str_of(of)) :
								  8; /* no type string: a pointer to a static */
		name.n = 0;
		text_printf(&name, "%s::%s", type, field);
		value = vmstructs_value_of(v, l, text_view(&name));
		if (!value)
			break;
		value->field = f;
	}
	text_free(&name);
	return v->fields ? NULL : "its gHotSpotVMStructs cannot be read";
}

/* Constants are wanted, never needed: what needs one that is not there is not done. */
static void read_constants(struct vmstructs *v, struct libjvm *l, const char *at, const char *stride,
			   const char *name_offset, const char *value_offset, unsigned width)
{
	const char *const offset[] = { name_offset, value_offset };
	struct text name = { 0 };
	struct table t;

	if (!open_table(l, &t, at, stride, offset, countof(offset)))
		return;
	for (uint32_t i = 0; i < ENTRIES_MAX; i++) {
		uint64_t entry = t.at + i * t.stride;
		char constant[NAME_MAX_BYTES];
		struct vm_value *to;
		int64_t value;

		if (!string_at(l, entry + t.offset[0], constant) ||
		    !memory_i64(l->m, entry + t.offset[1], width, &value))
			break;
		name.n = 0;
		text_printf(&name, "#%s", constant);
		to = vmstructs_value_of(v, l, text_view(&name));
		if (!to)
			break;
		to->value = value;
	}
	text_free(&name);
}

const char *vmstructs_read(struct vmstructs *v, struct libjvm *l)
{
	const char *why;

	*v = (struct vmstructs){ 0 };
	why = read_types(v, l); /* first: widths of fields may need them */
	if (!why)
		why = read_fields(v, l);
	if (why) {
		vmstructs_free(v);
		return why;
	}
	read_constants(v, l, "gHotSpotVMIntConstants", "gHotSpotVMIntConstantEntryArrayStride",
		       "gHotSpotVMIntConstantEntryNameOffset", "gHotSpotVMIntConstantEntryValueOffset", 4);
	read_constants(v, l, "gHotSpotVMLongConstants", "gHotSpotVMLongConstantEntryArrayStride",
		       "gHotSpotVMLongConstantEntryNameOffset", "gHotSpotVMLongConstantEntryValueOffset", 8);
	return NULL;
}

void vmstructs_free(struct vmstructs *v)
{
	intern_free(&v->name);
	free(v->value);
	*v = (struct vmstructs){ 0 };
}

uint64_t vmstructs_bytes(const struct vmstructs *v)
{
	return v->name.bytes.total + (uint64_t)v->name.cap * sizeof(*v->name.str) +
	       (v->name.mask + 1ull) * sizeof(*v->name.slot) + (uint64_t)v->cap * sizeof(*v->value);
}

static const struct vm_value *vmstructs_look_up(const struct vmstructs *v, const char *a, const char *between,
						const char *b)
{
	struct text name = { 0 };
	uint32_t id;

	text_printf(&name, "%s%s%s", a, between, b);
	id = intern_find(&v->name, text_view(&name));
	text_free(&name);
	return id ? &v->value[id] : NULL;
}

struct vm_field vmstructs_field(const struct vmstructs *v, const char *type, const char *field)
{
	const struct vm_value *value = vmstructs_look_up(v, type, "::", field);

	return value ? value->field : (struct vm_field){ 0 };
}

uint64_t vmstructs_size(const struct vmstructs *v, const char *type)
{
	const struct vm_value *value = vmstructs_look_up(v, type, "", "");

	return value ? (uint64_t)value->value : 0;
}

bool vmstructs_constant(const struct vmstructs *v, const char *name, int64_t *value)
{
	const struct vm_value *found = vmstructs_look_up(v, "#", name, "");

	if (found)
		*value = found->value;
	return found != NULL;
}
