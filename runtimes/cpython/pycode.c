/* SPDX-License-Identifier: Apache-2.0 */
#include "common/hash.h"
#include "runtimes/cpython/pylayout.h"
#include "runtimes/cpython/pylines.h"
#include "runtimes/cpython/pystring.h"

#define CODE_BYTES_MAX 512u
#define BYTECODE_MAX ((uint64_t)1 << 30)
#define UNIT 2u
#define TABLE_CHUNK 256u
#define IDENTITY_LINES 64u /* maximum number of bytes of the line table that identify a code object */

static bool is_bytes_object(struct cpython *cpython, uint64_t address, uint64_t *n)
{
	uint64_t type;

	return memory_pointer(cpython->memory, address + PYOBJECT_TYPE, &type) && type == cpython->bytes_type &&
	       memory_pointer(cpython->memory, address + PYVAR_SIZE, n) && *n <= BYTECODE_MAX;
}

/* Sets address and size of the bytecode in *code. bytes is the start of the code object. Returns false if the
 * bytecode is malformed. */
static bool find_bytecode(struct cpython *cpython, const char *bytes, struct cpython_code *code)
{
	const struct cpython_layout *layout = &cpython->layout;
	uint64_t n, at;

	if (layout->version >= 11) {
		n = pylayout_word(bytes, PYVAR_SIZE);
		if (n == 0 || n > BYTECODE_MAX / UNIT)
			return false;
		code->bytecode = code->address + layout->code.bytecode;
		code->bytecode_bytes = (uint32_t)n * UNIT;
		return true;
	}
	at = pylayout_word(bytes, layout->code.bytecode);
	if (!is_bytes_object(cpython, at, &n))
		return false;
	code->bytecode = at + PYBYTES_DATA;
	code->bytecode_bytes = (uint32_t)n;
	return true;
}

/* Appends the file name of a path without its suffix: "view" for "/srv/shop/view.py". */
static void append_base(const char *path, struct pytext *text)
{
	struct str base = str_of(path);
	ptrdiff_t slash = str_rfind(base, '/'), dot;

	base = str_from(base, (size_t)(slash + 1));
	dot = str_rfind(base, '.');
	pytext_bytes(text, base.p, dot > 0 ? (size_t)dot : base.n);
}

static bool append_module(struct cpython *cpython, const struct cpython_code *code, struct pytext *text)
{
	uint64_t name;

	if (pydict_get(cpython, code->globals, STR("__name__"), &name) && pystring_append(cpython, name, text))
		return true;
	append_base(code->file, text);
	/* If the budget is exceeded, a failed read does not show that the module has no __name__, so the name is not
	 * used. */
	return !cpython->memory->budget || !cpython->memory->budget->over;
}

static bool read_names(struct cpython *cpython, const char *bytes, struct cpython_code *code)
{
	const struct cpython_layout *layout = &cpython->layout;
	uint32_t at = layout->version >= 11 ? layout->code.qualname : layout->code.name;
	struct pytext file = { code->file, 0, sizeof(code->file) - 1, false };
	struct pytext name = { code->name, 0, sizeof(code->name) - 1, false };

	if (!pystring_append(cpython, pylayout_word(bytes, layout->code.filename), &file))
		return false;
	pytext_end(&file);
	if (!append_module(cpython, code, &name))
		return false;
	pytext_bytes(&name, ".", 1);
	if (!pystring_append(cpython, pylayout_word(bytes, at), &name))
		return false;
	pytext_end(&name);
	return true;
}

enum cpython_code_answer cpython_code(struct cpython *cpython, const struct cpython_frame *frame,
				      struct cpython_code *code)
{
	const struct cpython_layout *layout = &cpython->layout;
	char bytes[CODE_BYTES_MAX];
	uint64_t table_n, name;

	*code = (struct cpython_code){ .address = frame->code, .globals = frame->globals };
	if (layout->code.bytes > sizeof(bytes) ||
	    !memory_read(cpython->memory, frame->code, bytes, layout->code.bytes) ||
	    pylayout_word(bytes, PYOBJECT_TYPE) != cpython->code_type)
		return CPYTHON_CODE_NONE;
	memcpy(&code->firstline, bytes + layout->code.firstline, sizeof(code->firstline));
	/* the code that calls __init__ (_Py_InitCleanup) has one string both as its file name and as its name */
	name = pylayout_word(bytes, layout->code.name);
	if (layout->version >= 12 && pylayout_word(bytes, layout->code.filename) == name &&
	    pystring_is(cpython, name, STR("__init__")))
		return CPYTHON_CODE_INTERNAL;
	code->lines = pylayout_word(bytes, layout->code.lines);
	if (!find_bytecode(cpython, bytes, code) || !is_bytes_object(cpython, code->lines, &table_n) ||
	    !read_names(cpython, bytes, code))
		return CPYTHON_CODE_NONE;
	return CPYTHON_CODE_READ;
}

/* Returns the number of bytes of a code object, from its size field on, that hash_fields reads; 0 if the fields have
 * another order. */
static uint32_t fields_bytes(const struct cpython_layout *layout)
{
	uint32_t from = layout->code.firstline, to = layout->code.lines;

	if (from < PYVAR_SIZE + 2 * sizeof(uint64_t) || to <= from || to > CODE_BYTES_MAX - sizeof(uint64_t) ||
	    to + sizeof(uint64_t) > layout->code.bytes)
		return 0;
	return to + (uint32_t)sizeof(uint64_t) - PYVAR_SIZE;
}

/* Returns a hash of the fields of a code object that never change: all fields from the first line to the line table
 * (pointers, sizes, the version), and since 3.11 the size of the bytecode and the constants, which precede them.
 * `bytes` points to the size field, with fields_bytes() bytes. */
static uint64_t hash_fields(const struct cpython_layout *layout, const char *bytes)
{
	uint32_t from = layout->code.firstline - PYVAR_SIZE, to = fields_bytes(layout);
	uint64_t hash = hash_bytes(bytes + from, to - from);

	return layout->version >= 11 ? hash_pair(hash, hash_bytes(bytes, 2 * sizeof(uint64_t))) : hash;
}

uint64_t pycode_copied(const struct cpython_layout *layout, struct threadcopy_view *view, uint64_t address)
{
	uint32_t n = fields_bytes(layout);
	const char *bytes = n ? threadcopy_bytes(view, address + PYVAR_SIZE, n) : NULL;

	return bytes ? hash_fields(layout, bytes) | 1 : 0;
}

/* Adds the contents of the str at an address to *hash. Returns false if the str is not readable. */
static bool hash_string(struct cpython *cpython, uint64_t address, uint64_t *hash)
{
	char bytes[CPYTHON_NAME_MAX];
	struct pytext text = { bytes, 0, sizeof(bytes) - 1, false };

	if (!pystring_append(cpython, address, &text))
		return false;
	*hash = hash_pair(*hash, hash_bytes(bytes, text.n));
	return true;
}

/* Adds length and start of a line table to *hash. Returns false if the table is not readable. */
static bool hash_lines(struct cpython *cpython, uint64_t address, uint64_t *hash)
{
	char bytes[IDENTITY_LINES];
	uint64_t n;

	if (!is_bytes_object(cpython, address, &n) ||
	    !memory_read(cpython->memory, address + PYBYTES_DATA, bytes, n < sizeof(bytes) ? n : sizeof(bytes)))
		return false;
	*hash = hash_pair(*hash, hash_pair(n, hash_bytes(bytes, n < sizeof(bytes) ? n : sizeof(bytes))));
	return true;
}

uint64_t cpython_identify(struct cpython *cpython, const struct cpython_frame *frame)
{
	const struct cpython_layout *layout = &cpython->layout;
	uint32_t name = layout->version >= 11 ? layout->code.qualname : layout->code.name;
	char bytes[CODE_BYTES_MAX];
	uint64_t hash;

	if (layout->code.bytes > sizeof(bytes) ||
	    !memory_read(cpython->memory, frame->code, bytes, layout->code.bytes) ||
	    pylayout_word(bytes, PYOBJECT_TYPE) != cpython->code_type)
		return 0;
	hash = fields_bytes(layout) ? hash_fields(layout, bytes + PYVAR_SIZE) | 1 : 1;
	if ((frame->copied && frame->copied != hash) ||
	    !hash_string(cpython, pylayout_word(bytes, layout->code.filename), &hash) ||
	    !hash_string(cpython, pylayout_word(bytes, name), &hash) ||
	    !hash_lines(cpython, pylayout_word(bytes, layout->code.lines), &hash))
		return 0;
	return hash | 1;
}

/* Returns the offset in bytes of the frame's instruction in the bytecode; -1 if it is before the first instruction;
 * INT64_MIN if it is outside of the bytecode. */
static int64_t instruction_offset(const struct cpython_layout *layout, const struct cpython_code *code,
				  const struct cpython_frame *frame)
{
	int64_t offset =
		layout->version >= 11 ? (int64_t)(frame->instruction - code->bytecode) : (int64_t)frame->instruction;

	/* The instruction of a new frame is one code unit before the first one in 3.11 and 3.12, and one byte before
	 * it in earlier versions. */
	if (offset < 0 && offset >= -(int64_t)UNIT)
		return -1;
	return offset >= 0 && offset < code->bytecode_bytes ? offset : INT64_MIN;
}

uint64_t cpython_instruction(const struct cpython_layout *layout, const struct cpython_code *code,
			     const struct cpython_frame *frame)
{
	int64_t offset = instruction_offset(layout, code, frame);

	if (offset == INT64_MIN)
		return 0;
	return code->bytecode + (offset > 0 ? (uint64_t)offset : 0);
}

/* Reader of a table in memory, in chunks. */
struct table_reader {
	struct memory *memory;
	uint64_t at, left;
	size_t n, taken;
	unsigned char chunk[TABLE_CHUNK];
};

static int next_byte(void *arg)
{
	struct table_reader *reader = arg;

	if (reader->taken == reader->n) {
		reader->n = reader->left < TABLE_CHUNK ? (size_t)reader->left : TABLE_CHUNK;
		reader->taken = 0;
		if (reader->n == 0 || !memory_read(reader->memory, reader->at, reader->chunk, reader->n)) {
			reader->n = 0;
			reader->left = 0;
			return -1;
		}
		reader->at += reader->n;
		reader->left -= reader->n;
	}
	return reader->chunk[reader->taken++];
}

uint32_t cpython_line(struct cpython *cpython, const struct cpython_code *code, const struct cpython_frame *frame)
{
	int64_t offset = instruction_offset(&cpython->layout, code, frame);
	struct table_reader reader = { .memory = cpython->memory, .at = code->lines + PYBYTES_DATA };
	struct pylines_source source = { next_byte, &reader };

	if (offset == INT64_MIN || !is_bytes_object(cpython, code->lines, &reader.left))
		return 0;
	return pylines_find(&source, cpython->layout.version, code->firstline, offset);
}
