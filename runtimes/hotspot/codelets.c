/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/hotspot/codelets.h"

#include "common/arena.h"

#include <stdlib.h>

#define BYTES_MAX (4u << 20) /* limit for the size of all codelets together, in bytes */
#define HEADER_MAX 256u
#define CODELETS_MAX 4096u
#define NAME_LENGTH_MAX 128

static bool is_member(struct vm_field field, uint8_t width)
{
	return field.known && !field.is_static && field.width == width && field.at + width <= HEADER_MAX;
}

bool codelets_find(struct codelets_layout *layout, const struct vmstructs *vmstructs)
{
	struct vm_field code = vmstructs_field(vmstructs, "AbstractInterpreter", "_code");

	*layout = (struct codelets_layout){ .queue = code.at,
					    .buffer = vmstructs_field(vmstructs, "StubQueue", "_stub_buffer"),
					    .begin = vmstructs_field(vmstructs, "StubQueue", "_queue_begin"),
					    .end = vmstructs_field(vmstructs, "StubQueue", "_queue_end"),
					    .size = vmstructs_field(vmstructs, "InterpreterCodelet", "_size"),
					    .description =
						    vmstructs_field(vmstructs, "InterpreterCodelet", "_description"),
					    .header = vmstructs_size(vmstructs, "InterpreterCodelet") };
	return code.known && code.is_static && is_member(layout->buffer, 8) && is_member(layout->begin, 4) &&
	       is_member(layout->end, 4) && is_member(layout->size, 4) && is_member(layout->description, 8) &&
	       layout->header && layout->header <= HEADER_MAX && layout->size.at + 4 <= layout->header &&
	       layout->description.at + 8 <= layout->header;
}

/* Appends the codelet at offset `at` of bytes[], a copy of the n bytes at `address` in the JVM. Returns false if the
 * codelet is malformed. */
static bool codelets_take_one(struct codelets *codelets, struct memory *memory, const struct codelets_layout *layout,
			      const char *bytes, uint64_t n, uint64_t at, uint64_t address)
{
	char text[NAME_LENGTH_MAX];
	uint64_t description;
	uint32_t size;
	size_t from = codelets->names.n;

	if (n - at < layout->header || codelets->n == CODELETS_MAX)
		return false;
	memcpy(&size, bytes + at + layout->size.at, 4);
	memcpy(&description, bytes + at + layout->description.at, 8);
	if (size <= layout->header || size > n - at || !memory_string(memory, description, text, sizeof(text)) ||
	    text[0] == 0)
		return false;
	for (const char *p = text; *p; p++)
		if (*p < 0x20 || *p == 0x7f)
			return false;
	text_add(&codelets->names, "Interpreter: ");
	text_add(&codelets->names, text);
	codelets->one = mem_more(codelets->one, sizeof(*codelets->one), codelets->n);
	codelets->one[codelets->n++] =
		(struct codelet){ address + at, address + at + size, from, codelets->names.n - from };
	return true;
}

/* Returns true if blob is a block of stubs that HotSpot generates after the interpreter: "StubRoutines (2)" in JDK 8 to
 * 17, "StubRoutines (final..." later. */
static bool is_last_stubs(struct memory *memory, const struct blob *blob)
{
	char name[64];

	return memory_string(memory, blob->name, name, sizeof(name)) &&
	       (str_eq(str_of(name), STR("StubRoutines (2)")) || str_starts(str_of(name), STR("StubRoutines (final")));
}

bool codelets_made(struct memory *memory, const struct codecache *code)
{
	for (size_t i = 0; i < code->n; i++)
		if (code->blob[i].compiled)
			/* HotSpot compiles methods only after the interpreter is complete. This also covers JDKs
			 * whose stubs have other names. */
			return true;
	for (size_t i = 0; i < code->n; i++)
		if (is_last_stubs(memory, &code->blob[i]))
			return true;
	return false;
}

static bool codelets_read_all(struct codelets *codelets, struct memory *memory, const struct codelets_layout *layout,
			      const struct blob *blob)
{
	uint64_t queue, buffer, begin, end;
	char *bytes;
	bool good;

	if (!memory_pointer(memory, layout->queue, &queue) || queue == 0 ||
	    !memory_pointer(memory, queue + layout->buffer.at, &buffer) ||
	    !memory_u64(memory, queue + layout->begin.at, 4, &begin) ||
	    !memory_u64(memory, queue + layout->end.at, 4, &end))
		return false;
	if (begin >= end || end > BYTES_MAX || buffer < blob->begin || buffer > blob->end || end > blob->end - buffer)
		return false;
	bytes = mem_grow(NULL, 1, (size_t)end);
	good = memory_bulk(memory, buffer, bytes, (size_t)end);
	for (uint64_t at = begin; good && at < end;) {
		good = codelets_take_one(codelets, memory, layout, bytes, end, at, buffer);
		if (good)
			at = codelets->one[codelets->n - 1].end - buffer;
	}
	free(bytes);
	return good;
}

bool codelets_take(struct codelets *codelets, struct memory *memory, const struct codelets_layout *layout,
		   const struct blob *interpreter)
{
	*codelets = (struct codelets){ 0 };
	if (codelets_read_all(codelets, memory, layout, interpreter) && codelets->n)
		return true;
	codelets_free(codelets);
	return false;
}

bool codelets_read(struct codelets *codelets, struct hotspot *hotspot, const struct codecache *code,
		   const struct blob *interpreter)
{
	struct codelets_layout layout;

	*codelets = (struct codelets){ 0 };
	return codelets_find(&layout, &hotspot->tables) && codelets_made(&hotspot->memory, code) &&
	       codelets_take(codelets, &hotspot->memory, &layout, interpreter);
}

void codelets_free(struct codelets *codelets)
{
	free(codelets->one);
	text_free(&codelets->names);
	*codelets = (struct codelets){ 0 };
}
