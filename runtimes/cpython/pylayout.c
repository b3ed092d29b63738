/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/cpython/pylayout.h"

#define MEMBERS_MAX 64u
#define MEMBER_BYTES 40u
#define MEMBER_OFFSET 16u
/* upper bound of plausible offsets; the largest ones, in _PyRuntime and in an interpreter, are some 10 kB */
#define OFFSET_MAX (1u << 20)
#define NONE CPYTHON_NO_FIELD

/* Layout of versions with PyFrameObject: caller and code are at its start; 3.10 has two fields less before f_lasti. */
#define LAYOUT_OF_OBJECTS(minor, lasti, gil_offset)                                                                 \
	{                                                                                                           \
		.version = (minor), .runtime = { 32, gil_offset }, .interpreter = { 0, 8, NONE }, .gil = { 8, 16 }, \
		.thread = { .next = 8,                                                                              \
			    .prev = 0,                                                                              \
			    .interpreter = 16,                                                                      \
			    .thread_id = 176,                                                                       \
			    .native_thread_id = NONE,                                                               \
			    .frame = 24,                                                                            \
			    .cframe = NONE },                                                                       \
		.frame = { .code = 32,                                                                              \
			   .previous = 24,                                                                          \
			   .instruction = (lasti),                                                                  \
			   .globals = 48,                                                                           \
			   .bytes = 112,                                                                            \
			   .is_entry = NONE,                                                                        \
			   .owner = NONE,                                                                           \
			   .tag = 0 },                                                                              \
		.code = { .filename = 104,                                                                          \
			  .name = 112,                                                                              \
			  .qualname = NONE,                                                                         \
			  .lines = 120,                                                                             \
			  .firstline = 40,                                                                          \
			  .bytecode = 48,                                                                           \
			  .bytes = 176 },                                                                           \
		.string = { 48, 72 },                                                                               \
	}

static const struct cpython_layout by_version[] = {
	LAYOUT_OF_OBJECTS(8, 104, NONE),
	LAYOUT_OF_OBJECTS(9, 104, 352),
	LAYOUT_OF_OBJECTS(10, 96, 352),
	{
		.version = 11,
		.runtime = { 40, 360 },
		.interpreter = { 0, 16, NONE },
		.gil = { 8, 16 },
		.thread = { 8, 0, 16, 152, 160, 56, 8 },
		.frame = { 32, 48, 56, 8, 72, 68, 69, 0 },
		.code = { 112, 120, 128, 136, 72, 184, 184 },
		.string = { 48, 72 },
	},
	{
		.version = 12,
		.runtime = { 40, NONE },
		.interpreter = { 0, 72, 384 },
		.gil = { 8, 16 },
		.thread = { 8, 0, 16, 136, 144, 56, 0 },
		.frame = { 0, 8, 56, 24, 72, NONE, 70, 0 },
		.code = { 112, 120, 128, 136, 68, 192, 192 },
		.string = { 40, 56 },
	},
};

bool pylayout_of_version(uint32_t minor, struct cpython_layout *layout)
{
	for (size_t i = 0; i < sizeof(by_version) / sizeof(*by_version); i++) {
		if (by_version[i].version == minor) {
			*layout = by_version[i];
			return true;
		}
	}
	return false;
}

/* ---- layout from _Py_DebugOffsets -------------------------------------------------------------------------------- */

/* Positions of the groups of words in _Py_DebugOffsets of one version, in bytes. They differ because versions insert
 * words. The group of the interpreter is at 48 in all versions. */
static const struct debug_order {
	uint32_t version, gil, thread, thread_ids, frame, code, object, string;
} debug_orders[] = {
	{ 13, 112, 152, 192, 224, 272, 352, 536 },
	{ 14, 120, 176, 216, 248, 312, 400, 616 },
	{ 15, 120, 176, 240, 312, 376, 464, 712 },
};

bool pylayout_has_debug(const char *bytes, struct pylayout_debug *debug)
{
	uint64_t version = pylayout_word(bytes, 8), free_threaded = pylayout_word(bytes, 16);

	if (memcmp(bytes, "xdebugpy", 8) != 0 || version >> 24 != 3 || free_threaded > 1)
		return false;
	*debug = (struct pylayout_debug){ (uint32_t)version, free_threaded == 1 };
	return true;
}

/* Sets *to to the word at byte `at` of the table, which is the offset of a field. Returns false if this offset is
 * implausible. */
static bool debug_offset(const char *bytes, uint32_t at, uint32_t *to)
{
	uint64_t value = pylayout_word(bytes, at);

	if (value >= OFFSET_MAX)
		return false;
	*to = (uint32_t)value;
	return true;
}

static bool debug_threads(const char *bytes, const struct debug_order *order, struct cpython_layout *layout)
{
	uint32_t gil = 0, locked = 0, holder = 0;
	bool good = debug_offset(bytes, 40, &layout->runtime.interpreters) &&
		    debug_offset(bytes, 64, &layout->interpreter.next) &&
		    debug_offset(bytes, 72, &layout->interpreter.threads) &&
		    debug_offset(bytes, order->gil, &layout->interpreter.gil) &&
		    debug_offset(bytes, order->gil + 8, &gil) && debug_offset(bytes, order->gil + 24, &locked) &&
		    debug_offset(bytes, order->gil + 32, &holder) &&
		    debug_offset(bytes, order->thread + 8, &layout->thread.prev) &&
		    debug_offset(bytes, order->thread + 16, &layout->thread.next) &&
		    debug_offset(bytes, order->thread + 24, &layout->thread.interpreter) &&
		    debug_offset(bytes, order->thread + 32, &layout->thread.frame) &&
		    debug_offset(bytes, order->thread_ids, &layout->thread.thread_id) &&
		    debug_offset(bytes, order->thread_ids + 8, &layout->thread.native_thread_id);

	layout->runtime.gil = NONE;
	layout->thread.cframe = NONE;
	layout->gil.holder = holder - gil;
	layout->gil.locked = locked - gil;
	return good && holder >= gil && locked >= gil;
}

static bool debug_frames(const char *bytes, const struct debug_order *order, struct cpython_layout *layout)
{
	uint32_t size = 0;

	layout->frame.is_entry = NONE;
	/* The table has no word for f_globals; this field follows f_funcobj in 3.12 to 3.15. */
	layout->frame.globals = 24;
	layout->frame.tag = order->version < 14 ? 0 : 7;
	if (!(debug_offset(bytes, order->frame, &size) &&
	      debug_offset(bytes, order->frame + 8, &layout->frame.previous) &&
	      debug_offset(bytes, order->frame + 16, &layout->frame.code) &&
	      debug_offset(bytes, order->frame + 24, &layout->frame.instruction) &&
	      debug_offset(bytes, order->frame + 40, &layout->frame.owner)))
		return false;
	layout->frame.bytes = size;
	return size >= 64 && size <= 256 && layout->frame.previous <= size - 8 && layout->frame.code <= size - 8 &&
	       layout->frame.instruction <= size - 8 && layout->frame.owner < size;
}

static bool debug_code(const char *bytes, const struct debug_order *order, struct cpython_layout *layout)
{
	uint32_t at = order->code;

	if (!(debug_offset(bytes, at + 8, &layout->code.filename) && debug_offset(bytes, at + 16, &layout->code.name) &&
	      debug_offset(bytes, at + 24, &layout->code.qualname) &&
	      debug_offset(bytes, at + 32, &layout->code.lines) &&
	      debug_offset(bytes, at + 40, &layout->code.firstline) &&
	      debug_offset(bytes, at + 72, &layout->code.bytecode) &&
	      debug_offset(bytes, order->string + 24, &layout->string.ascii)))
		return false;
	layout->code.bytes = layout->code.bytecode;
	layout->string.compact = layout->string.ascii + 16;
	return layout->code.bytes >= 64 && layout->code.bytes <= 512 &&
	       layout->code.filename <= layout->code.bytes - 8 && layout->code.name <= layout->code.bytes - 8 &&
	       layout->code.qualname <= layout->code.bytes - 8 && layout->code.lines <= layout->code.bytes - 8 &&
	       layout->code.firstline <= layout->code.bytes - 4;
}

bool pylayout_of_debug(const char *bytes, uint32_t version, struct cpython_layout *layout)
{
	const struct debug_order *order = NULL;

	for (size_t i = 0; i < sizeof(debug_orders) / sizeof(*debug_orders); i++)
		if (debug_orders[i].version == version)
			order = &debug_orders[i];
	*layout = (struct cpython_layout){ .version = version };
	if (!order)
		return false;
	/* Words with a known value in all builds with a GIL: sizeof(PyObject), ob_type; length and state of a str. */
	if (pylayout_word(bytes, order->object) != 16 || pylayout_word(bytes, order->object + 8) != PYOBJECT_TYPE ||
	    pylayout_word(bytes, order->string + 8) != PYSTRING_STATE ||
	    pylayout_word(bytes, order->string + 16) != PYSTRING_LENGTH ||
	    pylayout_word(bytes, order->string + 24) != 40)
		return false;
	return debug_threads(bytes, order, layout) && debug_frames(bytes, order, layout) &&
	       debug_code(bytes, order, layout);
}

/* ---- offsets of code objects from tp_members --------------------------------------------------------------------- */

static void take_member(const char *name, uint32_t offset, struct cpython_layout *layout, unsigned *found)
{
	const struct {
		const char *name;
		uint32_t *field;
	} wanted[] = {
		{ "co_filename", &layout->code.filename },     { "co_name", &layout->code.name },
		{ "co_firstlineno", &layout->code.firstline }, { "co_qualname", &layout->code.qualname },
		{ "co_linetable", &layout->code.lines },       { "co_lnotab", &layout->code.lines },
		{ "co_code", &layout->code.bytecode },
	};

	for (unsigned i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		/* co_lnotab (since 3.10) and co_code (since 3.11) are computed on request, so tp_members lacks them. */
		if (strcmp(name, wanted[i].name) == 0) {
			*wanted[i].field = offset;
			*found |= 1u << i;
		}
	}
}

bool pylayout_members(struct memory *memory, uint64_t code_type, struct cpython_layout *layout)
{
	unsigned found = 0, needed = layout->version >= 11 ? 0x1fu : layout->version == 10 ? 0x57u : 0x67u;
	uint64_t members, name, offset;

	if (!memory_pointer(memory, code_type + PYTYPE_MEMBERS, &members) || members == 0)
		return false;
	for (unsigned i = 0; i < MEMBERS_MAX; i++) {
		uint64_t member = members + (uint64_t)i * MEMBER_BYTES;
		char text[32];

		if (!memory_pointer(memory, member, &name))
			return false;
		if (name == 0)
			break;
		/* memory_string fails for names longer than `text`: these are none of the wanted ones */
		if (!memory_pointer(memory, member + MEMBER_OFFSET, &offset) || offset > layout->code.bytes - 8)
			return false;
		if (memory_string(memory, name, text, sizeof(text)))
			take_member(text, (uint32_t)offset, layout, &found);
	}
	return (found & needed) == needed;
}
