/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/v8/v8layout.h"

#define OFFSET_MAX 4096u /* maximum of offsets, types and indices; a build with a larger one is refused */

/* A v8dbg_* constant: up to three names, which differ by version, and the value for versions that lack it. */
struct constant {
	uint32_t field; /* offset of the target field in struct v8_layout */
	const char *name[3];
	uint32_t otherwise; /* value if the build lacks the constant; NEEDED: such a build is refused */
};

#define NEEDED UINT32_MAX
#define FIELD(member) ((uint32_t)offsetof(struct v8_layout, member))

static const struct constant constants[] = {
	{ FIELD(type.shared), { "type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE" }, NEEDED },
	{ FIELD(type.scope_info), { "type_ScopeInfo__SCOPE_INFO_TYPE" }, NEEDED },
	{ FIELD(type.script), { "type_Script__SCRIPT_TYPE" }, NEEDED },
	{ FIELD(type.code), { "type_Code__CODE_TYPE" }, NEEDED },
	{ FIELD(type.bytecode_array), { "type_BytecodeArray__BYTECODE_ARRAY_TYPE" }, NEEDED },
	{ FIELD(type.map), { "type_Map__MAP_TYPE" }, NEEDED },
	{ FIELD(type.fixed_array), { "type_FixedArray__FIXED_ARRAY_TYPE" }, NEEDED },
	{ FIELD(type.oddball), { "type_Oddball__ODDBALL_TYPE" }, NEEDED },
	{ FIELD(type.interpreter_data), { "type_InterpreterData__INTERPRETER_DATA_TYPE" }, NEEDED },
	{ FIELD(type.wrapper), { "type_SharedFunctionInfoWrapper__SHARED_FUNCTION_INFO_WRAPPER_TYPE" }, 0 },
	{ FIELD(type.baseline_data), { "type_BaselineData__BASELINE_DATA_TYPE" }, 0 },
	{ FIELD(type.nonstring), { "FirstNonstringType" }, NEEDED },
	{ FIELD(type.first), { "FirstJSFunctionType", "type_JSFunction__JS_FUNCTION_TYPE" }, NEEDED },
	{ FIELD(type.last), { "LastJSFunctionType" }, 0 },
	{ FIELD(map.type), { "class_Map__instance_type__uint16_t" }, NEEDED },
	{ FIELD(function.shared), { "class_JSFunction__shared__SharedFunctionInfo" }, NEEDED },
	{ FIELD(function.context), { "class_JSFunction__context__Context" }, NEEDED },
	{ FIELD(shared.data), { "class_SharedFunctionInfo__function_data__Object" }, 8 },
	{ FIELD(shared.name),
	  { "class_SharedFunctionInfo__name_or_scope_info__Object",
	    "class_SharedFunctionInfo__name_or_scope_info__Tagged_Object_",
	    "class_SharedFunctionInfo__name_or_scope_info__Tagged_NameOrScopeInfoT_" },
	  NEEDED },
	{ FIELD(shared.script),
	  { "class_SharedFunctionInfo__script_or_debug_info__HeapObject",
	    "class_SharedFunctionInfo__script__Tagged_HeapObject_" },
	  NEEDED },
	{ FIELD(script.name), { "class_Script__name__Object" }, NEEDED },
	{ FIELD(script.source), { "class_Script__source__Object" }, 8 },
	{ FIELD(script.line_ends), { "class_Script__line_ends__Object" }, NEEDED },
	{ FIELD(script.line_offset), { "class_Script__line_offset__SMI" }, 24 },
	{ FIELD(scope_info.first_vars), { "scopeinfo_idx_first_vars" }, NEEDED },
	{ FIELD(bytecode_array.data), { "class_BytecodeArray__data__uintptr_t" }, 54 },
	{ FIELD(code.start),
	  { "class_Code__instruction_start__Address", "class_Code__instruction_start__uintptr_t" },
	  40 },
	{ FIELD(code.size), { "class_Code__instruction_size__int" }, 56 },
	{ FIELD(code.flags), { "class_Code__flags__uint32_t" }, 48 },
	{ FIELD(code.owner), { "class_InstructionStream__instruction_start__uintptr_t" }, 0 },
	{ FIELD(code.deopt), { "class_Code__deoptimization_data__FixedArray" }, 0 },
	{ FIELD(code.positions), { "class_Code__source_position_table__ByteArray" }, 0 },
	{ FIELD(code.kind_mask), { "CodeKindFieldMask" }, 15 },
	{ FIELD(code.baseline), { "CodeKindBaseline" }, 11 },
	{ FIELD(deopt.count), { "DeoptimizationDataInlinedFunctionCountIndex" }, 1 },
	{ FIELD(deopt.literals), { "DeoptimizationDataLiteralArrayIndex" }, 2 },
	{ FIELD(deopt.shared),
	  { "DeoptimizationDataSharedFunctionInfoIndex", "DeoptimizationDataWrappedSharedFunctionInfoIndex" },
	  6 },
	{ FIELD(deopt.inlining), { "DeoptimizationDataInliningPositionsIndex" }, 7 },
	{ FIELD(deopt.wrapped), { "class_SharedFunctionInfoWrapper__shared_info__Tagged_SharedFunctionInfo_" }, 0 },
};

/* Constants with a fixed value: code of this folder is correct only for these values. */
static const struct {
	const char *name;
	int32_t value;
	bool needed;
} fixed[] = {
	{ "SmiShiftSize", 31, true },
	{ "SmiTagMask", 1, true },
	{ "SmiTag", 0, true },
	{ "HeapObjectTag", 1, true },
	{ "HeapObjectTagMask", 3, true },
	{ "SystemPointerSize", 8, false },
	{ "off_fp_context", -8, true },
	{ "off_fp_function", -16, true },
	{ "off_fp_bytecode_array", -32, false },
	{ "off_fp_bytecode_offset", -40, false },
	{ "StringRepresentationMask", 7, true },
	{ "StringEncodingMask", 8, true },
	{ "SeqStringTag", 0, true },
	{ "ConsStringTag", 1, true },
	{ "ExternalStringTag", 2, true },
	{ "SlicedStringTag", 3, true },
	{ "ThinStringTag", 5, true },
	{ "OneByteStringTag", 8, true },
	{ "class_String__length__int32_t", 12, true },
	{ "class_SeqOneByteString__chars__char", 16, true },
	{ "class_SeqTwoByteString__chars__char", 16, true },
	{ "class_ConsString__first__String", 16, true },
	{ "class_ConsString__second__String", 24, true },
	{ "class_SlicedString__parent__String", 16, true },
	{ "class_SlicedString__offset__SMI", 24, true },
	{ "class_ThinString__actual__String", 16, true },
	{ "class_ExternalString__resource__Object", 16, true },
	{ "class_FixedArrayBase__length__SMI", 8, true },
	{ "class_FixedArray__data__uintptr_t", 16, true },
	{ "scopeinfo_idx_ncontextlocals", 2, true },
};

/* Sets *value to the constant v8dbg_NAME. Returns false if the file does not export it. */
static bool read_constant(struct loadedfile *file, const char *name, int32_t *value)
{
	static const char prefix[] = "v8dbg_";
	char symbol[128];
	size_t n = strlen(name), before = sizeof(prefix) - 1;
	uint64_t address;
	int64_t number;

	if (before + n > sizeof(symbol))
		return false;
	memcpy(symbol, prefix, before);
	memcpy(symbol + before, name, n);
	if (!loadedfile_symbol(file, (struct str){ symbol, before + n }, &address) ||
	    !memory_i64(file->m, address, 4, &number))
		return false;
	*value = (int32_t)number;
	return true;
}

static bool read_version(struct loadedfile *file, struct v8_layout *layout)
{
	static const struct str name[] = { STR("_ZN2v88internal7Version6major_E"),
					   STR("_ZN2v88internal7Version6minor_E"),
					   STR("_ZN2v88internal7Version6build_E"),
					   STR("_ZN2v88internal7Version6patch_E") };
	uint64_t number[countof(name)], address;

	for (size_t i = 0; i < countof(name); i++)
		if (!loadedfile_symbol(file, name[i], &address) || !memory_u64(file->m, address, 4, &number[i]) ||
		    number[i] >= 1000)
			return false;
	layout->version = (uint32_t)(number[0] * 1000 + number[1]);
	layout->build = (uint32_t)number[2];
	layout->patch = (uint32_t)number[3];
	return true;
}

static bool read_debug_constants(struct loadedfile *file, struct v8_layout *layout)
{
	for (size_t i = 0; i < countof(constants); i++) {
		const struct constant *constant = &constants[i];
		uint32_t number = constant->otherwise;
		int32_t value;

		for (size_t k = 0; k < countof(constant->name) && constant->name[k]; k++) {
			if (!read_constant(file, constant->name[k], &value))
				continue;
			if (value < 0 || (uint32_t)value > OFFSET_MAX)
				return false;
			number = (uint32_t)value;
			break;
		}
		if (number == NEEDED)
			return false;
		memcpy((char *)layout + constant->field, &number, sizeof(number));
	}
	return true;
}

/* Sets the fields that depend on the version, or that the version does not export. */
static void derive(struct v8_layout *layout)
{
	if (!layout->type.last)
		layout->type.last = layout->type.first + (layout->version < 10000 ? 13 : 14);
	layout->scope_info.positions_are_fixed = layout->scope_info.first_vars == 5;
	layout->code.is_inline = layout->code.owner == 0;
	layout->code.align = layout->version < 11000 ? 32 : 64;
	/* the pointer to the Code object follows the map of the InstructionStream, 8 bytes after its start */
	layout->code.owner = layout->code.is_inline ? layout->code.start : layout->code.owner - 8;
	if (!layout->code.deopt)
		layout->code.deopt = layout->version < 12000 ? 16 : 8;
	/* V8 10.2 and before export the offset only for another kind of Code; it is the same: the field after `deopt`
	 */
	if (!layout->code.positions)
		layout->code.positions = layout->code.deopt + 8;
}

/* Returns true if all offsets of pointers are multiples of 8. */
static bool is_aligned(const struct v8_layout *layout)
{
	return (layout->function.shared | layout->function.context | layout->shared.data | layout->shared.name |
		layout->shared.script | layout->script.name | layout->script.source | layout->script.line_ends |
		layout->script.line_offset | layout->code.owner | layout->code.deopt | layout->code.positions |
		layout->deopt.wrapped) %
		       8 ==
	       0;
}

const char *v8layout_read(struct loadedfile *file, struct v8_layout *layout, bool *found)
{
	int32_t value;

	*layout = (struct v8_layout){ 0 };
	*found = read_version(file, layout);
	if (!*found)
		return "it exports no version";
	if (layout->version < 9004)
		return "it is older than that of node 16";
	for (size_t i = 0; i < countof(fixed); i++) {
		if (!read_constant(file, fixed[i].name, &value)) {
			if (fixed[i].needed)
				return "it lacks v8dbg_ constants";
		} else if (value != fixed[i].value) {
			return i == 0 ? "it compresses pointers" : "it has another layout";
		}
	}
	if (!read_debug_constants(file, layout))
		return "it lacks v8dbg_ constants";
	derive(layout);
	return is_aligned(layout) && layout->map.type == 12 && layout->scope_info.first_vars >= 3 ?
		       NULL :
		       "it has another layout";
}
