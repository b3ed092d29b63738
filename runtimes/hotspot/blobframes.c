/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/hotspot/blobframes.h"

#include "common/arena.h"

#include <stdlib.h>

enum { BYTES_MAX = 4096, ALIGNMENT = 16, RET = 0xc3 };

/* HotSpot's blocks of stubs have some hundred entries in at most 300 kB (JDK 25); a JVM has up to 16 of them. */
enum { STUB_BYTES_MAX = 2 << 20, STUB_ENTRIES_MAX = 4096, SPLIT_MAX = 65536, OBJECTS = 1024 };

/* ---- where things are -------------------------------------------------------------------------------------------- */

static struct vmlayout_field blobframes_field(const struct vmstructs *v, const char *type, const char *name)
{
	struct vm_field f = vmstructs_field(v, type, name);

	return f.known && !f.is_static && f.width && f.at < BYTES_MAX ?
		       (struct vmlayout_field){ (uint32_t)f.at, f.width } :
		       (struct vmlayout_field){ 0 };
}

/* The first of several names, of an nmethod. */
static struct vmlayout_field blobframes_either(const struct vmstructs *v, const char *name)
{
	struct vmlayout_field f = blobframes_field(v, "nmethod", name);

	return f.width ? f : blobframes_field(v, "CompiledMethod", name);
}

static uint64_t static_at(const struct vmstructs *v, const char *type, const char *name)
{
	struct vm_field f = vmstructs_field(v, type, name);

	return f.known && f.is_static ? f.at : 0;
}

static void find_nmethod(struct blobframes_layout *l, const struct vmstructs *v)
{
	static const struct {
		const char *pointer, *offset, *old;
	} names[] = { { "_verified_entry_point", "_verified_entry_offset", NULL },
		      { "_deopt_handler_begin", "_deopt_handler_offset", "_deoptimize_offset" },
		      { "_deopt_mh_handler_begin", "_deopt_mh_handler_offset", "_deoptimize_mh_offset" } };
	struct vmlayout_field *const to[] = { &l->entry, &l->deopt[0], &l->deopt[1] };

	for (size_t i = 0; i < countof(names); i++) {
		bool *offset = i == 0 ? &l->entry_offset : &l->deopt_offset;

		*to[i] = blobframes_either(v, names[i].pointer);
		if (to[i]->width)
			continue;
		*to[i] = blobframes_either(v, names[i].offset);
		if (!to[i]->width && names[i].old)
			*to[i] = blobframes_either(v, names[i].old);
		*offset |= to[i]->width != 0;
	}
	l->orig_pc = blobframes_either(v, "_orig_pc_offset");
	l->frame_size = blobframes_field(v, "CodeBlob", "_frame_size");
	l->complete = blobframes_field(v, "CodeBlob", "_frame_complete_offset");
}

const char *blobframes_open(struct blobframes *f, const struct hotspot *h)
{
	struct blobframes_layout *l = &f->layout;
	const struct vmstructs *v = &h->tables;

	*f = (struct blobframes){ 0 };
	find_nmethod(l, v);
	l->call_stub_return = static_at(v, "StubRoutines", "_call_stub_return_address");
	l->continuation_return = static_at(v, "ContinuationEntry", "_return_pc");
	l->continuation = blobframes_field(v, "JavaThread", "_cont_entry");
	if (!l->frame_size.width || !l->complete.width || !l->entry.width)
		return "CodeBlob::_frame_size";
	if (!l->deopt[0].width || !l->orig_pc.width)
		return "nmethod::_orig_pc_offset";
	if (!codelets_find(&l->codelets, v))
		return "AbstractInterpreter::_code";
	if (!l->call_stub_return)
		return "StubRoutines::_call_stub_return_address";
	l->method = h->layout.method;
	l->compile_id = h->layout.compile_id;
	const struct vmlayout_field all[] = { l->frame_size, l->complete, l->entry,  l->deopt[0],
					      l->deopt[1],   l->orig_pc,  l->method, l->compile_id };
	for (size_t i = 0; i < countof(all); i++)
		if (all[i].width && all[i].at + all[i].width > l->bytes)
			l->bytes = all[i].at + all[i].width;
	return NULL;
}

void blobframes_move(struct blobframes_layout *l, uint64_t by)
{
	l->codelets.queue += by;
	l->call_stub_return += by;
	if (l->continuation_return)
		l->continuation_return += by;
}

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

static struct code_blob *blobframes_add(struct blobframes *f, uint64_t start, uint64_t end, enum blob_kind kind)
{
	if (f->npieces == f->cap) {
		f->cap = f->cap ? f->cap * 2 : 4096;
		f->blob = mem_grow(f->blob, sizeof(*f->blob), f->cap);
	}
	f->blob[f->npieces] =
		(struct code_blob){ .start = start, .end = end, .kind = (uint8_t)kind, .complete = BLOB_NEVER };
	return &f->blob[f->npieces++];
}

static uint64_t blobframes_address_of(struct vmlayout_field at, bool offset, const char *object, uint64_t base)
{
	int64_t value = vmlayout_get_signed(at, object);

	if (!offset)
		return (uint64_t)value;
	return value > 0 ? base + (uint64_t)value : 0;
}

/* Bytes of a frame; 0: none, or the JVM does not know. */
static uint32_t frame_bytes(const struct blobframes_layout *l, const char *object)
{
	int64_t words = vmlayout_get_signed(l->frame_size, object);

	return words > 0 && words < 1 << 20 ? (uint32_t)words * 8 : 0;
}

static void add_compiled(struct blobframes *f, const struct blob *b, const char *object, bool native)
{
	const struct blobframes_layout *l = &f->layout;
	uint64_t entry = blobframes_address_of(l->entry, l->entry_offset, object, b->begin);
	int64_t complete = vmlayout_get_signed(l->complete, object), orig = vmlayout_get_signed(l->orig_pc, object);
	struct code_blob *p = blobframes_add(f, b->begin, b->end, native ? BLOB_NATIVE : BLOB_COMPILED);

	p->frame = frame_bytes(l, object);
	if (p->frame < 16)
		p->kind = BLOB_LEAF;
	p->entry = entry > b->begin && entry < b->end ? (uint32_t)(entry - b->begin) : 0;
	if (complete >= 0 && (uint64_t)complete <= b->end - b->begin)
		p->complete = (uint32_t)complete;
	for (unsigned i = 0; i < 2 && !native; i++) {
		uint64_t at =
			l->deopt[i].width ? blobframes_address_of(l->deopt[i], l->deopt_offset, object, b->address) : 0;

		p->deopt[i] = at >= b->begin && at <= b->end ? at : 0;
	}
	p->orig_pc = orig > 0 && orig < 1 << 23 ? (uint32_t)orig : 0;
}

static bool blobframes_begins(const unsigned char *code, size_t n, const char *bytes, size_t length)
{
	return n >= length && memcmp(code, bytes, length) == 0;
}

/* push rbp; mov rbp, rsp */
static bool keeps_rbp(const unsigned char *code, size_t n)
{
	return blobframes_begins(code, n, "\x55\x48\x8b\xec", 4);
}

/* mov rsp, [r15 + offset of the continuation]: where a frame that was thawed returns to */
static bool is_thaw(const struct blobframes_layout *l, const unsigned char *code, size_t n)
{
	uint32_t offset;

	if (!l->continuation.width || n < 7 || !blobframes_begins(code, n, "\x49\x8b\xa7", 3))
		return false;
	memcpy(&offset, code + 3, 4);
	return offset == l->continuation.at;
}

/* push -1; push rbp; mov rbp, rsp: the barrier at the entry of methods */
#define COOKIE "\x68\xff\xff\xff\xff\x55\x48\x8b\xec"

/* A block of stubs: each begins at an aligned address, or behind the end of another; those that look like nothing known
 * belong to the one before them, or push nothing if they are the first. A block with more entries than any HotSpot
 * makes gets none at all. */
static void blobframes_add_stubs(struct blobframes *f, struct hotspot *h, const struct blob *b, bool continuations)
{
	size_t n = (size_t)(b->end - b->begin), before = f->npieces, entries_max = SPLIT_MAX - f->nsplit;
	unsigned char *code;
	struct code_blob *p;

	if (entries_max > STUB_ENTRIES_MAX)
		entries_max = STUB_ENTRIES_MAX;
	if (n == 0 || n > STUB_BYTES_MAX || entries_max == 0 || !budget_steps(h->memory.budget, n / 64))
		return;
	code = mem_grow(NULL, 1, n);
	p = blobframes_add(f, b->begin, b->end, continuations ? BLOB_THAW : BLOB_LEAF);
	if (memory_bulk(&h->memory, b->begin, code, n)) {
		for (size_t at = 0; at < n; at++) {
			if ((b->begin + at) % ALIGNMENT && (at == 0 || code[at - 1] != RET))
				continue;
			bool thaw = is_thaw(&f->layout, code + at, n - at),
			     cookie = blobframes_begins(code + at, n - at, COOKIE, sizeof(COOKIE) - 1);

			if (!thaw && !cookie && !keeps_rbp(code + at, n - at))
				continue;
			if (p->start != b->begin + at) {
				if (f->npieces - before == entries_max) {
					f->npieces = before;
					break;
				}
				p->end = b->begin + at;
				p = blobframes_add(f, b->begin + at, b->end, BLOB_STUB);
			}
			p->kind = thaw ? BLOB_THAW : BLOB_STUB;
			p->entry = cookie ? sizeof(COOKIE) - 1 - 4 : 0;
		}
	}
	f->nsplit += f->npieces - before;
	free(code);
}

/* Other pieces of the JVM's own: by their first bytes, and the size that it knows. */
static void add_runtime(struct blobframes *f, struct hotspot *h, const struct blob *b, struct str name,
			const char *object)
{
	unsigned char code[4] = { 0 };
	struct code_blob *p;

	memory_read(&h->memory, b->begin, code, b->end - b->begin < 4 ? 0 : 4);
	p = blobframes_add(f, b->begin, b->end, BLOB_LEAF);
	p->frame = frame_bytes(&f->layout, object);
	if (str_find_str(name, STR("slow_subtype_check")) >= 0)
		p->orig_pc = 16; /* C1 pushes both classes */
	if (keeps_rbp(code, 4)) {
		p->kind = BLOB_STUB;
	} else if (p->frame >= 16) {
		/* C2's begin with sub rsp; others push what they want first */
		p->kind = blobframes_begins(code, 4, "\x48\x81\xec", 3) ||
					  blobframes_begins(code, 4, "\x48\x83\xec", 3) ||
					  blobframes_begins(code, 4, "\x89\x84\x24", 3) ?
				  BLOB_COMPILED :
				  BLOB_PUSHED;
	}
}

/* ---- the interpreter --------------------------------------------------------------------------------------------- */

/* Where a method's frame is made: pop rax; lea r14, [rsp + rcx * 8 - 8], and push rax; push rbp; mov rbp, rsp; push
 * r13. */
static void blobframes_find_entry(struct code_blob *p, const unsigned char *code, size_t n)
{
	p->entry = BLOB_NEVER;
	for (size_t i = 0; i + 7 <= n; i++) {
		if (p->entry == BLOB_NEVER && blobframes_begins(code + i, n - i, "\x58\x4c\x8d\x74\xcc\xf8", 6))
			p->entry = (uint32_t)i;
		if (blobframes_begins(code + i, n - i, "\x50\x55\x48\x8b\xec\x41\x55", 7)) {
			p->complete = (uint32_t)i;
			return;
		}
	}
}

static void add_codelet(struct blobframes *f, struct hotspot *h, const struct codelet *c, struct str name)
{
	struct code_blob *p = blobframes_add(f, c->begin, c->end, BLOB_BYTECODE);
	size_t n = (size_t)(c->end - c->begin);
	unsigned char *code;

	if (!str_starts(name, STR("Interpreter: method entry point")))
		return;
	code = mem_grow(NULL, 1, n);
	p->kind = BLOB_ENTRY;
	if (memory_bulk(&h->memory, c->begin, code, n))
		blobframes_find_entry(p, code, n);
	free(code);
}

/* False: its pieces are not known yet. */
static bool blobframes_add_interpreter(struct blobframes *f, struct hotspot *h, const struct blob *b)
{
	struct codelets c;

	if (f->early || !codelets_take(&c, &h->memory, &f->layout.codelets, b))
		return false;
	for (size_t i = 0; i < c.n && f->nsplit < SPLIT_MAX; i++, f->nsplit++)
		add_codelet(f, h, &c.one[i], codelets_name(&c, &c.one[i]));
	codelets_free(&c);
	return true;
}

/* ---- taking ------------------------------------------------------------------------------------------------------ */

/* False: it is not what it was, or not complete. */
static bool blobframes_add_blob(struct blobframes *f, struct hotspot *h, const struct blob *b, const char *object)
{
	char text[128];
	struct str name;

	if (b->begin >= b->end || !memory_string(&h->memory, b->name, text, sizeof(text)))
		return false;
	if (b->compiled && (vmlayout_get(f->layout.method, object) != b->method ||
			    (uint32_t)vmlayout_get(f->layout.compile_id, object) != b->compile_id))
		return false;
	name = str_of(text);
	if (b->compiled)
		add_compiled(f, b, object, str_starts(name, STR("native")));
	else if (str_eq(name, STR("Interpreter")))
		return blobframes_add_interpreter(f, h, b);
	else if (str_starts(name, STR("StubRoutines")) || str_starts(name, STR("Stub Generator")))
		blobframes_add_stubs(f, h, b, str_find_str(name, STR("continuation")) >= 0);
	else if (str_starts(name, STR("I2C/C2I")) || str_eq(name, STR("adapters")))
		blobframes_add(f, b->begin, b->end, BLOB_ADAPTER);
	else
		add_runtime(f, h, b, name, object);
	return true;
}

/* The first bytes of up to OBJECTS blobs, so that the memory for them is bounded whatever the JVM holds. False: the
 * process ended. */
static bool read_objects(const struct blobframes *f, struct hotspot *h, const struct blob *blob, size_t n,
			 char *objects)
{
	struct memory_want want[OBJECTS];

	if (n > OBJECTS)
		n = OBJECTS;
	for (uint32_t i = 0; i < n; i++)
		want[i] = (struct memory_want){ blob[i].address, f->layout.bytes, i * f->layout.bytes };
	return memory_gather(&h->memory, want, n, objects);
}

/* False: the process ended. */
static bool take_all(struct blobframes *f, struct hotspot *h, const struct blob *blob, size_t n, char *objects)
{
	for (size_t i = 0; i < n; i++) {
		size_t first = f->npieces;

		if (i % OBJECTS == 0 && !read_objects(f, h, blob + i, n - i, objects))
			return false;
		if (!blobframes_add_blob(f, h, &blob[i], objects + i % OBJECTS * f->layout.bytes))
			continue;
		if (f->npieces > first && first > 0 && f->blob[first].start < f->blob[first - 1].end)
			f->npieces = first; /* read while it changed */
	}
	return true;
}

static void blobframes_report(struct blobframes *f, struct hotspot *h)
{
	const struct blobframes_layout *l = &f->layout;

	f->code.blob = f->blob;
	f->code.n = f->npieces;
	memory_pointer(&h->memory, l->call_stub_return, &f->code.call_stub_return);
	if (l->continuation_return)
		memory_pointer(&h->memory, l->continuation_return, &f->code.continuation_return);
}

const char *blobframes_take_some(struct blobframes *f, struct hotspot *h, const struct blob *blob, size_t n)
{
	char *objects = mem_grow(NULL, f->layout.bytes, n < OBJECTS ? n + 1 : OBJECTS);
	bool read;

	f->code.n = f->npieces = f->nsplit = 0;
	f->made = f->made || codelets_made(&h->memory, &h->code);
	f->early = !f->made;
	read = take_all(f, h, blob, n, objects);
	free(objects);
	if (!read) {
		f->npieces = 0;
		return codecache_gone;
	}
	blobframes_report(f, h);
	return NULL;
}

const char *blobframes_take(struct blobframes *f, struct hotspot *h)
{
	return blobframes_take_some(f, h, h->code.blob, h->code.n);
}

void blobframes_rest(struct blobframes *f)
{
	free(f->blob);
	f->blob = NULL;
	f->npieces = f->cap = 0;
	f->code.blob = NULL;
	f->code.n = 0;
}

const char *blobframes_at(struct blobframes *f, struct hotspot *h, uint64_t address, enum codecache_where *where,
			  struct blob *b)
{
	const char *why = codecache_at(&h->memory, &h->layout, address, where, b);
	char *object;

	f->npieces = f->nsplit = 0;
	f->early = false; /* who is in the interpreter does not make it */
	if (!why && *where == CODECACHE_BLOB) {
		object = mem_grow(NULL, f->layout.bytes, 1);
		if (!memory_bulk(&h->memory, b->address, object, f->layout.bytes) ||
		    !blobframes_add_blob(f, h, b, object) || f->npieces == 0)
			*where = CODECACHE_FREE;
		free(object);
	}
	blobframes_report(f, h);
	return why;
}

void blobframes_free(struct blobframes *f)
{
	free(f->blob);
	*f = (struct blobframes){ 0 };
}
