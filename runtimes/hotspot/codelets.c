/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/hotspot/codelets.h"

#include "common/arena.h"

#include <stdlib.h>

#define BYTES_MAX (4u << 20) /* of all */
#define HEADER_MAX 256u
#define CODELETS_MAX 4096u
#define NAME_LENGTH_MAX 128

static bool is_member(struct vm_field f, uint8_t width)
{
	return f.known && !f.is_static && f.width == width && f.at + width <= HEADER_MAX;
}

bool codelets_find(struct codelets_layout *l, const struct vmstructs *v)
{
	struct vm_field code = vmstructs_field(v, "AbstractInterpreter", "_code");

	*l = (struct codelets_layout){ .queue = code.at,
				       .buffer = vmstructs_field(v, "StubQueue", "_stub_buffer"),
				       .begin = vmstructs_field(v, "StubQueue", "_queue_begin"),
				       .end = vmstructs_field(v, "StubQueue", "_queue_end"),
				       .size = vmstructs_field(v, "InterpreterCodelet", "_size"),
				       .description = vmstructs_field(v, "InterpreterCodelet", "_description"),
				       .header = vmstructs_size(v, "InterpreterCodelet") };
	return code.known && code.is_static && is_member(l->buffer, 8) && is_member(l->begin, 4) &&
	       is_member(l->end, 4) && is_member(l->size, 4) && is_member(l->description, 8) && l->header &&
	       l->header <= HEADER_MAX && l->size.at + 4 <= l->header && l->description.at + 8 <= l->header;
}

/* The codelet at `at` of bytes, which are n and stand at address; false: it makes no sense. */
static bool codelets_take_one(struct codelets *c, struct memory *m, const struct codelets_layout *l, const char *bytes,
			      uint64_t n, uint64_t at, uint64_t address)
{
	char text[NAME_LENGTH_MAX];
	uint64_t description;
	uint32_t size;
	size_t from = c->names.n;

	if (n - at < l->header || c->n == CODELETS_MAX)
		return false;
	memcpy(&size, bytes + at + l->size.at, 4);
	memcpy(&description, bytes + at + l->description.at, 8);
	if (size <= l->header || size > n - at || !memory_string(m, description, text, sizeof(text)) || text[0] == 0)
		return false;
	for (const char *p = text; *p; p++)
		if (*p < 0x20 || *p == 0x7f)
			return false;
	text_add(&c->names, "Interpreter: ");
	text_add(&c->names, text);
	c->one = mem_more(c->one, sizeof(*c->one), c->n);
	c->one[c->n++] = (struct codelet){ address + at, address + at + size, from, c->names.n - from };
	return true;
}

/* The stubs that are made behind the interpreter: of JDK 8 to 17, and later. */
static bool is_last_stubs(struct memory *m, const struct blob *b)
{
	char name[64];

	return memory_string(m, b->name, name, sizeof(name)) &&
	       (str_eq(str_of(name), STR("StubRoutines (2)")) || str_starts(str_of(name), STR("StubRoutines (final")));
}

bool codelets_made(struct memory *m, const struct codecache *code)
{
	for (size_t i = 0; i < code->n; i++)
		if (code->blob[i].compiled) /* whatever the stubs are called */
			return true;
	for (size_t i = 0; i < code->n; i++)
		if (is_last_stubs(m, &code->blob[i]))
			return true;
	return false;
}

static bool codelets_read_all(struct codelets *c, struct memory *m, const struct codelets_layout *l,
			      const struct blob *b)
{
	uint64_t queue, buffer, begin, end;
	char *bytes;
	bool good;

	if (!memory_pointer(m, l->queue, &queue) || queue == 0 || !memory_pointer(m, queue + l->buffer.at, &buffer) ||
	    !memory_u64(m, queue + l->begin.at, 4, &begin) || !memory_u64(m, queue + l->end.at, 4, &end))
		return false;
	if (begin >= end || end > BYTES_MAX || buffer < b->begin || buffer > b->end || end > b->end - buffer)
		return false;
	bytes = mem_grow(NULL, 1, (size_t)end);
	good = memory_bulk(m, buffer, bytes, (size_t)end);
	for (uint64_t at = begin; good && at < end;) {
		good = codelets_take_one(c, m, l, bytes, end, at, buffer);
		if (good)
			at = c->one[c->n - 1].end - buffer;
	}
	free(bytes);
	return good;
}

bool codelets_take(struct codelets *c, struct memory *m, const struct codelets_layout *l,
		   const struct blob *interpreter)
{
	*c = (struct codelets){ 0 };
	if (codelets_read_all(c, m, l, interpreter) && c->n)
		return true;
	codelets_free(c);
	return false;
}

bool codelets_read(struct codelets *c, struct hotspot *h, const struct codecache *code, const struct blob *interpreter)
{
	struct codelets_layout l;

	*c = (struct codelets){ 0 };
	return codelets_find(&l, &h->tables) && codelets_made(&h->memory, code) &&
	       codelets_take(c, &h->memory, &l, interpreter);
}

void codelets_free(struct codelets *c)
{
	free(c->one);
	text_free(&c->names);
	*c = (struct codelets){ 0 };
}
