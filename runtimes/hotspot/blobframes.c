/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/hotspot/blobframes.h"

#include "unwind/x86.h"

#include "common/arena.h"

#include <stdlib.h>

enum { BYTES_MAX = 4096, ALIGNMENT = 16 };

/* Limits for blocks of stubs. A block of HotSpot has some hundred entries in at most 300 kB (JDK 25); a JVM has up
 * to 16 blocks. */
enum { STUB_BYTES_MAX = 2 << 20, STUB_ENTRIES_MAX = 4096, SPLIT_MAX = 65536, OBJECTS = 1024 };

/* ---- layout ------------------------------------------------------------------------------------------------------ */

static struct vmlayout_field blobframes_field(const struct vmstructs *vmstructs, const char *type, const char *name)
{
	struct vm_field field = vmstructs_field(vmstructs, type, name);

	return field.known && !field.is_static && field.width && field.at < BYTES_MAX ?
		       (struct vmlayout_field){ (uint32_t)field.at, field.width } :
		       (struct vmlayout_field){ 0 };
}

/* Returns a field of nmethod, or of its base class CompiledMethod in the JDKs that have the field there. The width
 * of the result is 0 if neither exists. */
static struct vmlayout_field blobframes_either(const struct vmstructs *vmstructs, const char *name)
{
	struct vmlayout_field field = blobframes_field(vmstructs, "nmethod", name);

	return field.width ? field : blobframes_field(vmstructs, "CompiledMethod", name);
}

static uint64_t static_at(const struct vmstructs *vmstructs, const char *type, const char *name)
{
	struct vm_field field = vmstructs_field(vmstructs, type, name);

	return field.known && field.is_static ? field.at : 0;
}

static void find_nmethod(struct blobframes_layout *layout, const struct vmstructs *vmstructs)
{
	static const struct {
		const char *pointer, *offset, *old;
	} names[] = { { "_verified_entry_point", "_verified_entry_offset", NULL },
		      { "_deopt_handler_begin", "_deopt_handler_offset", "_deoptimize_offset" },
		      { "_deopt_mh_handler_begin", "_deopt_mh_handler_offset", "_deoptimize_mh_offset" } };
	struct vmlayout_field *const field[] = { &layout->entry, &layout->deopt[0], &layout->deopt[1] };

	for (size_t i = 0; i < countof(names); i++) {
		bool *offset = i == 0 ? &layout->entry_offset : &layout->deopt_offset;

		*field[i] = blobframes_either(vmstructs, names[i].pointer);
		if (field[i]->width)
			continue;
		*field[i] = blobframes_either(vmstructs, names[i].offset);
		if (!field[i]->width && names[i].old)
			*field[i] = blobframes_either(vmstructs, names[i].old);
		*offset |= field[i]->width != 0;
	}
	layout->orig_pc = blobframes_either(vmstructs, "_orig_pc_offset");
	layout->frame_size = blobframes_field(vmstructs, "CodeBlob", "_frame_size");
	layout->complete = blobframes_field(vmstructs, "CodeBlob", "_frame_complete_offset");
}

const char *blobframes_open(struct blobframes *frames, const struct hotspot *hotspot)
{
	struct blobframes_layout *layout = &frames->layout;
	const struct vmstructs *vmstructs = &hotspot->tables;

	*frames = (struct blobframes){ 0 };
	find_nmethod(layout, vmstructs);
	layout->call_stub_return = static_at(vmstructs, "StubRoutines", "_call_stub_return_address");
	layout->continuation_return = static_at(vmstructs, "ContinuationEntry", "_return_pc");
	layout->continuation = blobframes_field(vmstructs, "JavaThread", "_cont_entry");
	if (!layout->frame_size.width)
		return "CodeBlob::_frame_size";
	if (!layout->complete.width)
		return "CodeBlob::_frame_complete_offset";
	if (!layout->entry.width)
		return "nmethod::_verified_entry_point";
	if (!layout->deopt[0].width)
		return "nmethod::_deopt_handler_begin";
	if (!layout->orig_pc.width)
		return "nmethod::_orig_pc_offset";
	if (!codelets_find(&layout->codelets, vmstructs))
		return "AbstractInterpreter::_code";
	if (!layout->call_stub_return)
		return "StubRoutines::_call_stub_return_address";
	layout->method = hotspot->layout.method;
	layout->compile_id = hotspot->layout.compile_id;
	const struct vmlayout_field all[] = {
		layout->frame_size, layout->complete, layout->entry,  layout->deopt[0],
		layout->deopt[1],   layout->orig_pc,  layout->method, layout->compile_id
	};
	for (size_t i = 0; i < countof(all); i++)
		if (all[i].width && all[i].at + all[i].width > layout->bytes)
			layout->bytes = all[i].at + all[i].width;
	return NULL;
}

void blobframes_move(struct blobframes_layout *layout, uint64_t by)
{
	layout->codelets.queue += by;
	layout->call_stub_return += by;
	if (layout->continuation_return)
		layout->continuation_return += by;
}

/* ---- code blobs -------------------------------------------------------------------------------------------------- */

static struct code_blob *blobframes_add(struct blobframes *frames, uint64_t start, uint64_t end, enum blob_kind kind)
{
	if (frames->npieces == frames->cap) {
		frames->cap = frames->cap ? frames->cap * 2 : 4096;
		frames->blob = mem_grow(frames->blob, sizeof(*frames->blob), frames->cap);
	}
	frames->blob[frames->npieces] =
		(struct code_blob){ .start = start, .end = end, .kind = (uint8_t)kind, .offset[1] = BLOB_NEVER };
	return &frames->blob[frames->npieces++];
}

static uint64_t blobframes_address_of(struct vmlayout_field field, bool offset, const char *object, uint64_t base)
{
	int64_t value = vmlayout_get_signed(field, object);

	if (!offset)
		return (uint64_t)value;
	return value > 0 ? base + (uint64_t)value : 0;
}

/* Returns the frame size in bytes of the CodeBlob whose first bytes are in `object`; 0 if it has no frame or the JVM
 * does not record its size. */
static uint32_t frame_bytes(const struct blobframes_layout *layout, const char *object)
{
	int64_t words = vmlayout_get_signed(layout->frame_size, object);

	return words > 0 && words < 1 << 20 ? (uint32_t)words * 8 : 0;
}

static void add_compiled(struct blobframes *frames, const struct blob *blob, const char *object, bool native)
{
	const struct blobframes_layout *layout = &frames->layout;
	uint64_t entry = blobframes_address_of(layout->entry, layout->entry_offset, object, blob->begin);
	int64_t complete = vmlayout_get_signed(layout->complete, object),
		orig = vmlayout_get_signed(layout->orig_pc, object);
	struct code_blob *p = blobframes_add(frames, blob->begin, blob->end, native ? BLOB_NATIVE : BLOB_COMPILED);

	p->frame = frame_bytes(layout, object);
	if (p->frame < 16) {
		p->kind = BLOB_LEAF;
		return;
	}
	p->nmethod.entry = entry > blob->begin && entry < blob->end ? (uint32_t)(entry - blob->begin) : 0;
	if (complete >= 0 && (uint64_t)complete <= blob->end - blob->begin)
		p->nmethod.complete = (uint32_t)complete;
	for (unsigned i = 0; i < 2 && !native; i++) {
		uint64_t at = layout->deopt[i].width ? blobframes_address_of(layout->deopt[i], layout->deopt_offset,
									     object, blob->address) :
						       0;

		p->deopt[i] = at >= blob->begin && at <= blob->end ? at : 0;
	}
	p->nmethod.orig_pc = orig > 0 && orig < 1 << 23 ? (uint32_t)orig : 0;
}

static bool blobframes_begins(const unsigned char *code, size_t n, const char *bytes, size_t length)
{
	return n >= length && memcmp(code, bytes, length) == 0;
}

/* Matches push rbp; mov rbp, rsp. */
static bool keeps_rbp(const unsigned char *code, size_t n)
{
	return blobframes_begins(code, n, X86_PUSH_RBP X86_MOV_RBP_RSP, 4);
}

/* Matches mov rsp, [r15 + JavaThread::_cont_entry]: thawed frames return to this code. */
static bool is_thaw(const struct blobframes_layout *layout, const unsigned char *code, size_t n)
{
	uint32_t offset;

	if (!layout->continuation.width || n < 7 || !blobframes_begins(code, n, X86_MOV_RSP_R15_32, 3))
		return false;
	memcpy(&offset, code + 3, 4);
	return offset == layout->continuation.at;
}

/* First instructions of the stub of the nmethod entry barrier: push -1; push rbp; mov rbp, rsp. */
#define COOKIE X86_PUSH_MINUS_1 X86_PUSH_RBP X86_MOV_RBP_RSP

/* Splits a block of stubs into code blobs. A stub starts at an aligned address or after a ret. Code that does not start
 * like a stub with a frame belongs to the code blob before it; at the start of the block it becomes a BLOB_LEAF (a
 * BLOB_THAW if `continuations`). An unreadable block becomes one such code blob. A block gets no code blob if it has
 * more than STUB_BYTES_MAX bytes or STUB_ENTRIES_MAX entries, or if SPLIT_MAX or the budget is exceeded. */
static void blobframes_add_stubs(struct blobframes *frames, struct hotspot *hotspot, const struct blob *blob,
				 bool continuations)
{
	size_t n = (size_t)(blob->end - blob->begin), before = frames->npieces,
	       entries_max = SPLIT_MAX - frames->nsplit;
	unsigned char *code;
	struct code_blob *p;

	if (entries_max > STUB_ENTRIES_MAX)
		entries_max = STUB_ENTRIES_MAX;
	if (n == 0 || n > STUB_BYTES_MAX || entries_max == 0 || !budget_steps(hotspot->memory.budget, n / 64))
		return;
	code = mem_grow(NULL, 1, n);
	p = blobframes_add(frames, blob->begin, blob->end, continuations ? BLOB_THAW : BLOB_LEAF);
	if (memory_bulk(&hotspot->memory, blob->begin, code, n)) {
		for (size_t at = 0; at < n; at++) {
			if ((blob->begin + at) % ALIGNMENT && (at == 0 || code[at - 1] != X86_OP_RET))
				continue;
			bool thaw = is_thaw(&frames->layout, code + at, n - at),
			     cookie = blobframes_begins(code + at, n - at, COOKIE, sizeof(COOKIE) - 1);

			if (!thaw && !cookie && !keeps_rbp(code + at, n - at))
				continue;
			if (p->start != blob->begin + at) {
				if (frames->npieces - before == entries_max) {
					frames->npieces = before;
					break;
				}
				p->end = blob->begin + at;
				p = blobframes_add(frames, blob->begin + at, blob->end, BLOB_STUB);
			}
			p->kind = thaw ? BLOB_THAW : BLOB_STUB;
			p->stub.push_rbp = cookie ? sizeof(COOKIE) - 1 - 4 : 0;
		}
	}
	frames->nsplit += frames->npieces - before;
	free(code);
}

/* Adds a blob that is no nmethod, interpreter, adapter or block of stubs. object: its first bytes. Its kind follows
 * from its first code bytes and its frame size. */
static void add_runtime(struct blobframes *frames, struct hotspot *hotspot, const struct blob *blob, struct str name,
			const char *object)
{
	unsigned char code[4] = { 0 };
	struct code_blob *p;

	memory_read(&hotspot->memory, blob->begin, code, blob->end - blob->begin < 4 ? 0 : 4);
	p = blobframes_add(frames, blob->begin, blob->end, BLOB_LEAF);
	p->frame = frame_bytes(&frames->layout, object);
	if (str_find_str(name, STR("slow_subtype_check")) >= 0)
		/* Code of C1 pushes two classes as arguments before it calls this stub. */
		p->leaf.argument_bytes = 16;
	if (keeps_rbp(code, 4)) {
		p->kind = BLOB_STUB;
	} else if (p->frame >= 16) {
		/* C2's stubs lower sp first (sub rsp) or check the stack; others push some words first. */
		p->kind = blobframes_begins(code, 4, X86_SUB_RSP_32, 3) ||
					  blobframes_begins(code, 4, X86_SUB_RSP_8, 3) ||
					  blobframes_begins(code, 4, X86_MOV_RSP_32_EAX, 3) ?
				  BLOB_COMPILED :
				  BLOB_PUSHED;
	}
}

/* ---- the interpreter --------------------------------------------------------------------------------------------- */

/* Sets two offsets of a method entry: pop_rax, where pop rax; lea r14, [rsp + rcx * 8 - 8] starts, and push_rax,
 * where push rax; push rbp; mov rbp, rsp; push r13 starts. An offset is BLOB_NEVER if its instructions are absent. */
static void blobframes_find_entry(struct code_blob *blob, const unsigned char *code, size_t n)
{
	blob->method_entry.pop_rax = blob->method_entry.push_rax = BLOB_NEVER;
	for (size_t i = 0; i + 7 <= n; i++) {
		if (blob->method_entry.pop_rax == BLOB_NEVER &&
		    blobframes_begins(code + i, n - i, X86_POP_RAX X86_LEA_R14_RSP_RCX, 6))
			blob->method_entry.pop_rax = (uint32_t)i;
		if (blobframes_begins(code + i, n - i, X86_PUSH_RAX X86_PUSH_RBP X86_MOV_RBP_RSP X86_PUSH_R13, 7)) {
			blob->method_entry.push_rax = (uint32_t)i;
			return;
		}
	}
}

static void add_codelet(struct blobframes *frames, struct hotspot *hotspot, const struct codelet *codelet,
			struct str name)
{
	struct code_blob *blob = blobframes_add(frames, codelet->begin, codelet->end, BLOB_BYTECODE);
	size_t n = (size_t)(codelet->end - codelet->begin);
	unsigned char *code;

	if (!str_starts(name, STR("Interpreter: method entry point")))
		return;
	code = mem_grow(NULL, 1, n);
	blob->kind = BLOB_ENTRY;
	if (memory_bulk(&hotspot->memory, codelet->begin, code, n))
		blobframes_find_entry(blob, code, n);
	free(code);
}

/* Adds the codelets of the interpreter. Returns false if they cannot be read or may not be complete yet. */
static bool blobframes_add_interpreter(struct blobframes *frames, struct hotspot *hotspot, const struct blob *blob)
{
	struct codelets codelets;

	if (frames->early || !codelets_take(&codelets, &hotspot->memory, &frames->layout.codelets, blob))
		return false;
	for (size_t i = 0; i < codelets.n && frames->nsplit < SPLIT_MAX; i++, frames->nsplit++)
		add_codelet(frames, hotspot, &codelets.one[i], codelets_name(&codelets, &codelets.one[i]));
	codelets_free(&codelets);
	return true;
}

/* ---- conversion of blobs ----------------------------------------------------------------------------------------- */

/* Converts one CodeBlob (struct blob), whose first bytes are in `object`, and adds the result: one struct code_blob,
 * or several for the interpreter and for a block of stubs. Returns false if the CodeBlob has changed since the scan
 * or is incomplete. */
static bool blobframes_add_blob(struct blobframes *frames, struct hotspot *hotspot, const struct blob *blob,
				const char *object)
{
	char text[128];
	struct str name;

	if (blob->begin >= blob->end || !memory_string(&hotspot->memory, blob->name, text, sizeof(text)))
		return false;
	if (blob->compiled && (vmlayout_get(frames->layout.method, object) != blob->method ||
			       (uint32_t)vmlayout_get(frames->layout.compile_id, object) != blob->compile_id))
		return false;
	name = str_of(text);
	if (blob->compiled)
		add_compiled(frames, blob, object, str_starts(name, STR("native")));
	else if (str_eq(name, STR("Interpreter")))
		return blobframes_add_interpreter(frames, hotspot, blob);
	else if (str_starts(name, STR("StubRoutines")) || str_starts(name, STR("Stub Generator")))
		blobframes_add_stubs(frames, hotspot, blob, str_find_str(name, STR("continuation")) >= 0);
	else if (str_starts(name, STR("I2C/C2I")) || str_eq(name, STR("adapters")))
		blobframes_add(frames, blob->begin, blob->end, BLOB_ADAPTER);
	else
		add_runtime(frames, hotspot, blob, name, object);
	return true;
}

/* Reads the first bytes of the CodeBlobs blob[0..n), at most OBJECTS of them, into objects. OBJECTS bounds the
 * memory, regardless of the size of the code cache. Returns false if the process has ended or the budget is
 * exceeded. */
static bool read_objects(const struct blobframes *frames, struct hotspot *hotspot, const struct blob *blob, size_t n,
			 char *objects)
{
	struct memory_want want[OBJECTS];

	if (n > OBJECTS)
		n = OBJECTS;
	for (uint32_t i = 0; i < n; i++)
		want[i] = (struct memory_want){ blob[i].address, frames->layout.bytes, i * frames->layout.bytes };
	return memory_gather(&hotspot->memory, want, n, objects);
}

/* Converts and adds all n CodeBlobs. objects: buffer for the first bytes of OBJECTS CodeBlobs. Returns false if the
 * process has ended or the budget is exceeded. */
static bool take_all(struct blobframes *frames, struct hotspot *hotspot, const struct blob *blob, size_t n,
		     char *objects)
{
	for (size_t i = 0; i < n; i++) {
		size_t first = frames->npieces;

		if (i % OBJECTS == 0 && !read_objects(frames, hotspot, blob + i, n - i, objects))
			return false;
		if (!blobframes_add_blob(frames, hotspot, &blob[i], objects + i % OBJECTS * frames->layout.bytes))
			continue;
		if (frames->npieces > first && first > 0 && frames->blob[first].start < frames->blob[first - 1].end)
			/* Code blobs overlap if the code cache changed during the scan. The later one is dropped. */
			frames->npieces = first;
	}
	return true;
}

static void blobframes_report(struct blobframes *frames, struct hotspot *hotspot)
{
	const struct blobframes_layout *layout = &frames->layout;

	frames->code.blob = frames->blob;
	frames->code.n = frames->npieces;
	memory_pointer(&hotspot->memory, layout->call_stub_return, &frames->code.call_stub_return);
	if (layout->continuation_return)
		memory_pointer(&hotspot->memory, layout->continuation_return, &frames->code.continuation_return);
}

const char *blobframes_take_some(struct blobframes *frames, struct hotspot *hotspot, const struct blob *blob, size_t n)
{
	char *objects = mem_grow(NULL, frames->layout.bytes, n < OBJECTS ? n + 1 : OBJECTS);
	bool read;

	frames->code.n = frames->npieces = frames->nsplit = 0;
	frames->made = frames->made || codelets_made(&hotspot->memory, &hotspot->code);
	frames->early = !frames->made;
	read = take_all(frames, hotspot, blob, n, objects);
	free(objects);
	if (!read) {
		frames->npieces = 0;
		return codecache_gone;
	}
	blobframes_report(frames, hotspot);
	return NULL;
}

const char *blobframes_take(struct blobframes *frames, struct hotspot *hotspot)
{
	return blobframes_take_some(frames, hotspot, hotspot->code.blob, hotspot->code.n);
}

void blobframes_rest(struct blobframes *frames)
{
	free(frames->blob);
	frames->blob = NULL;
	frames->npieces = frames->cap = 0;
	frames->code.blob = NULL;
	frames->code.n = 0;
}

const char *blobframes_at(struct blobframes *frames, struct hotspot *hotspot, uint64_t address,
			  enum codecache_where *where, struct blob *blob)
{
	const char *why = codecache_at(&hotspot->memory, &hotspot->layout, address, where, blob);
	char *object;

	frames->npieces = frames->nsplit = 0;
	frames->early = false; /* A thread runs in the code at address, so the interpreter is complete. */
	if (!why && *where == CODECACHE_BLOB) {
		object = mem_grow(NULL, frames->layout.bytes, 1);
		if (!memory_bulk(&hotspot->memory, blob->address, object, frames->layout.bytes) ||
		    !blobframes_add_blob(frames, hotspot, blob, object) || frames->npieces == 0)
			*where = CODECACHE_FREE;
		free(object);
	}
	blobframes_report(frames, hotspot);
	return why;
}

void blobframes_free(struct blobframes *frames)
{
	free(frames->blob);
	*frames = (struct blobframes){ 0 };
}
