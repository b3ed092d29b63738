/*
 * synth.h - makes the memory of a HotSpot JVM that never ran: small, complete, and with known content.
 *
 * The table synth_fields has the fields of each JDK. Their offsets in objects, and the order of all tables, are random.
 * Objects are written by names of fields, and fields that a JDK lacks are not written, so the same code makes JDK 8,
 * 17, 21 and 25. For unit tests, and for seeds of a fuzz target.
 */
#ifndef PJ_SYNTH_H
#define PJ_SYNTH_H

#include "common/arena.h"
#include "runtimes/memory/memory.h"
#include "common/text.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	SYNTH_8 = 1,
	SYNTH_17 = 2,
	SYNTH_21 = 4,
	SYNTH_25 = 8,
	SYNTH_ALL = 15,
	SYNTH_MIDDLE = SYNTH_17 | SYNTH_21,
	SYNTH_NEW = SYNTH_ALL - SYNTH_8
};
enum { SYNTH_BYTES = 32768, SYNTH_PAGE = 4096, SYNTH_SEGMENT = 64, SYNTH_SEGMENTS = 128, SYNTH_OBJECT = 512 };

#define SYNTH_BASE UINT64_C(0x7f5500000000)

/* Fields by type of object: those of one family are in the same object; family NULL: static field. */
static const struct synth_field {
	const char *family, *type, *name, *of;
	uint8_t width, jdk;
} synth_fields[] = {
	{ "array", "GrowableArrayBase", "_len", "int", 4, SYNTH_NEW },
	{ "array", "GrowableArray<int>", "_data", "int*", 8, SYNTH_NEW },
	{ "space", "VirtualSpace", "_low", "char*", 8, SYNTH_ALL },
	{ "space", "VirtualSpace", "_high", "char*", 8, SYNTH_ALL },
	{ "heap", "CodeHeap", "_memory", "VirtualSpace", 32, SYNTH_ALL },
	{ "heap", "CodeHeap", "_segmap", "VirtualSpace", 32, SYNTH_ALL },
	{ "heap", "CodeHeap", "_log2_segment_size", "int", 4, SYNTH_ALL },
	{ "block", "HeapBlock::Header", "_length", "size_t", 8, SYNTH_ALL - SYNTH_25 },
	{ "block", "HeapBlock::Header", "_length", "uint32_t", 4, SYNTH_25 },
	{ "block", "HeapBlock::Header", "_used", "bool", 1, SYNTH_ALL },
	{ "blob", "CodeBlob", "_name", "const char*", 8, SYNTH_ALL },
	{ "blob", "CodeBlob", "_kind", "CodeBlobKind", 1, SYNTH_25 },
	{ "blob", "CodeBlob", "_size", "int", 4, SYNTH_ALL },
	{ "blob", "CodeBlob", "_code_begin", "address", 8, SYNTH_MIDDLE },
	{ "blob", "CodeBlob", "_code_end", "address", 8, SYNTH_MIDDLE },
	{ "blob", "CodeBlob", "_code_offset", "int", 4, SYNTH_8 | SYNTH_25 },
	{ "blob", "CodeBlob", "_data_offset", "int", 4, SYNTH_8 | SYNTH_25 },
	{ "blob", "CodeBlob", "_frame_size", "int", 4, SYNTH_ALL },
	{ "blob", "CodeBlob", "_frame_complete_offset", "int", 4, SYNTH_ALL - SYNTH_25 },
	{ "blob", "CodeBlob", "_frame_complete_offset", "int16_t", 2, SYNTH_25 },
	{ "blob", "CodeBlob", "_mutable_data", "address", 8, SYNTH_25 },
	{ "blob", "CodeBlob", "_mutable_data_size", "int", 4, SYNTH_25 },
	{ "blob", "CodeBlob", "_relocation_size", "int", 4, SYNTH_25 },
	{ "blob", "nmethod", "_method", "Method*", 8, SYNTH_8 | SYNTH_25 },
	{ "blob", "CompiledMethod", "_method", "Method*", 8, SYNTH_MIDDLE },
	{ "blob", "nmethod", "_compile_id", "const volatile int", 4, SYNTH_ALL },
	{ "blob", "nmethod", "_comp_level", "int", 4, SYNTH_ALL - SYNTH_25 },
	{ "blob", "nmethod", "_comp_level", "s1", 1, SYNTH_25 },
	{ "blob", "nmethod", "_scopes_pcs_offset", "int", 4, SYNTH_ALL },
	{ "blob", "nmethod", "_dependencies_offset", "int", 4, SYNTH_ALL - SYNTH_25 },
	{ "blob", "CompiledMethod", "_scopes_data_begin", "address", 8, SYNTH_MIDDLE },
	{ "blob", "nmethod", "_scopes_data_offset", "int", 4, SYNTH_8 | SYNTH_25 },
	{ "blob", "nmethod", "_metadata_offset", "int", 4, SYNTH_ALL - SYNTH_25 },
	{ "blob", "nmethod", "_immutable_data", "address", 8, SYNTH_25 },
	{ "blob", "nmethod", "_immutable_data_size", "int", 4, SYNTH_25 },
	{ "blob", "nmethod", "_verified_entry_point", "address", 8, SYNTH_ALL - SYNTH_25 },
	{ "blob", "nmethod", "_verified_entry_offset", "u2", 2, SYNTH_25 },
	{ "blob", "CompiledMethod", "_deopt_handler_begin", "address", 8, SYNTH_MIDDLE },
	{ "blob", "CompiledMethod", "_deopt_mh_handler_begin", "address", 8, SYNTH_MIDDLE },
	{ "blob", "nmethod", "_deoptimize_offset", "int", 4, SYNTH_8 },
	{ "blob", "nmethod", "_deoptimize_mh_offset", "int", 4, SYNTH_8 },
	{ "blob", "nmethod", "_deopt_handler_offset", "int", 4, SYNTH_25 },
	{ "blob", "nmethod", "_deopt_mh_handler_offset", "int", 4, SYNTH_25 },
	{ "blob", "nmethod", "_orig_pc_offset", "int", 4, SYNTH_ALL },
	{ "pc", "PcDesc", "_pc_offset", "int", 4, SYNTH_ALL },
	{ "pc", "PcDesc", "_scope_decode_offset", "int", 4, SYNTH_ALL },
	{ "method", "Method", "_constMethod", "ConstMethod*", 8, SYNTH_ALL },
	{ "const", "ConstMethod", "_constants", "ConstantPool*", 8, SYNTH_ALL },
	{ "const", "ConstMethod", "_name_index", "u2", 2, SYNTH_ALL },
	{ "const", "ConstMethod", "_signature_index", "u2", 2, SYNTH_ALL },
	{ "pool", "ConstantPool", "_pool_holder", "InstanceKlass*", 8, SYNTH_ALL },
	{ "pool", "ConstantPool", "_length", "int", 4, SYNTH_ALL },
	{ "klass", "Klass", "_name", "Symbol*", 8, SYNTH_ALL },
	{ "symbol", "Symbol", "_length", "u2", 2, SYNTH_ALL },
	{ "symbol", "Symbol", "_body[0]", "u1", 1, SYNTH_NEW },
	{ "symbol", "Symbol", "_body", "jbyte", 1, SYNTH_8 },
	{ "queue", "StubQueue", "_stub_buffer", "address", 8, SYNTH_ALL },
	{ "queue", "StubQueue", "_queue_begin", "int", 4, SYNTH_ALL },
	{ "queue", "StubQueue", "_queue_end", "int", 4, SYNTH_ALL },
	{ "codelet", "InterpreterCodelet", "_size", "int", 4, SYNTH_ALL },
	{ "codelet", "InterpreterCodelet", "_description", "const char*", 8, SYNTH_ALL },
	{ "thread", "JavaThread", "_cont_entry", "ContinuationEntry*", 8, SYNTH_21 | SYNTH_25 },
	{ "flag", "Flag", "_name", "const char*", 8, SYNTH_8 },
	{ "flag", "Flag", "_addr", "void*", 8, SYNTH_8 },
	{ "flag", "JVMFlag", "_name", "const char*", 8, SYNTH_NEW },
	{ "flag", "JVMFlag", "_addr", "void*", 8, SYNTH_NEW },
	{ NULL, "CodeCache", "_heap", "CodeHeap*", 8, SYNTH_8 },
	{ NULL, "CodeCache", "_heaps", "GrowableArray<CodeHeap*>*", 8, SYNTH_NEW },
	{ NULL, "AbstractInterpreter", "_code", "StubQueue*", 8, SYNTH_ALL },
	{ NULL, "StubRoutines", "_call_stub_return_address", NULL, 8, SYNTH_ALL },
	{ NULL, "ContinuationEntry", "_return_pc", "address", 8, SYNTH_21 | SYNTH_25 },
	{ NULL, "Abstract_VM_Version", "_s_vm_release", "const char*", 8, SYNTH_ALL },
	{ NULL, "Arguments", "_java_command", "char*", 8, SYNTH_ALL },
	{ NULL, "Flag", "flags", "Flag*", 8, SYNTH_8 },
	{ NULL, "Flag", "numFlags", "size_t", 8, SYNTH_8 },
	{ NULL, "JVMFlag", "flags", "JVMFlag*", 8, SYNTH_NEW },
	{ NULL, "JVMFlag", "numFlags", "size_t", 8, SYNTH_NEW },
};

enum { SYNTH_FIELDS = sizeof(synth_fields) / sizeof(synth_fields[0]) };

struct synth {
	unsigned char *byte; /* bytes of the memory from address SYNTH_BASE on */
	size_t n;
	unsigned jdk;
	uint64_t seed;
	int without; /* index of a field that the JVM does not export; -1: it exports all */
	uint64_t at[SYNTH_FIELDS];
	uint64_t heap, segments[SYNTH_SEGMENTS], block; /* block: code of stubs */
	uint64_t data;                                  /* writable data of the library */
	size_t nsegments;                               /* number of blocks */
};

/* ---- bytes ------------------------------------------------------------------------------------------------------ */

static inline uint64_t synth_lot(struct synth *synth, uint64_t below)
{
	synth->seed = synth->seed * 6364136223846793005u + 1442695040888963407u;
	return (synth->seed >> 33) % below;
}

static inline uint64_t synth_space(struct synth *synth, size_t n, size_t align)
{
	uint64_t at = (synth->n + align - 1) / align * align;

	synth->n = at + n;
	if (synth->n > SYNTH_BYTES)
		abort();
	return SYNTH_BASE + at;
}

static inline void synth_put(struct synth *synth, uint64_t address, const void *p, size_t n)
{
	memcpy(synth->byte + (address - SYNTH_BASE), p, n);
}

static inline void synth_number(struct synth *synth, uint64_t address, uint64_t value, unsigned width)
{
	synth_put(synth, address, &value, width);
}

static inline uint64_t synth_text(struct synth *synth, const char *text)
{
	uint64_t at = synth_space(synth, strlen(text) + 1, 1);

	synth_put(synth, at, text, strlen(text));
	return at;
}

/* ---- fields ----------------------------------------------------------------------------------------------------- */

static inline bool synth_has(const struct synth *synth, unsigned i)
{
	return synth_fields[i].jdk & synth->jdk;
}

static inline uint64_t synth_size(const struct synth *synth, const char *family)
{
	uint64_t size = 8;

	for (unsigned i = 0; i < SYNTH_FIELDS; i++)
		if (synth_has(synth, i) && synth_fields[i].family && strcmp(synth_fields[i].family, family) == 0 &&
		    synth->at[i] + synth_fields[i].width > size)
			size = synth->at[i] + synth_fields[i].width;
	return (size + 7) / 8 * 8;
}

/* Sets the offset of each field in its object at random, with a gap before some fields. */
static inline void synth_lay_out(struct synth *synth)
{
	unsigned order[SYNTH_FIELDS];

	for (unsigned i = 0; i < SYNTH_FIELDS; i++)
		order[i] = i;
	for (unsigned i = SYNTH_FIELDS - 1; i > 0; i--) {
		unsigned other = (unsigned)synth_lot(synth, i + 1), swap = order[i];

		order[i] = order[other];
		order[other] = swap;
	}
	for (unsigned i = 0; i < SYNTH_FIELDS; i++)
		synth->at[i] = UINT64_MAX - 64; /* no offset yet: synth_size skips the field */
	for (unsigned k = 0; k < SYNTH_FIELDS; k++) {
		const struct synth_field *f = &synth_fields[order[k]];
		uint64_t at = 0, width = f->width > 8 ? 8 : f->width;

		if (!synth_has(synth, order[k]))
			continue;
		if (!f->family) {
			synth->at[order[k]] = synth_space(synth, 8, 8);
			continue;
		}
		for (unsigned i = 0; i < SYNTH_FIELDS; i++)
			if (synth_fields[i].family && strcmp(synth_fields[i].family, f->family) == 0 &&
			    synth->at[i] < SYNTH_OBJECT && synth->at[i] + synth_fields[i].width > at)
				at = synth->at[i] + synth_fields[i].width;
		if (strcmp(f->family, "block") != 0 && strncmp(f->name, "_body", 5) != 0)
			at += synth_lot(synth, 2) * width;
		synth->at[order[k]] = (at + width - 1) / width * width;
	}
	for (unsigned i = 0; i < SYNTH_FIELDS; i++) /* the text of a symbol must be its last field */
		if (synth_has(synth, i) && strncmp(synth_fields[i].name, "_body", 5) == 0)
			synth->at[i] = 4;
		else if (synth_has(synth, i) && strcmp(synth_fields[i].type, "Symbol") == 0)
			synth->at[i] = 0;
}

/* Returns the index of a field of this JDK; -1 if it has none. */
static inline int synth_field(const struct synth *synth, const char *type, const char *name)
{
	for (unsigned i = 0; i < SYNTH_FIELDS; i++)
		if (synth_has(synth, i) && strcmp(synth_fields[i].type, type) == 0 &&
		    strcmp(synth_fields[i].name, name) == 0)
			return (int)i;
	return -1;
}

/* Sets a field of an object, or a static one (object 0), if this JDK has it. */
static inline void synth_set(struct synth *synth, uint64_t object, const char *type, const char *name, uint64_t value)
{
	int i = synth_field(synth, type, name);

	if (i >= 0)
		synth_number(synth, object + synth->at[i], value, synth_fields[i].width);
}

/* ---- methods ---------------------------------------------------------------------------------------------------- */

static inline uint64_t synth_symbol(struct synth *synth, const char *text)
{
	uint64_t at = synth_space(synth, 4 + strlen(text), 8);

	synth_set(synth, at, "Symbol", "_length", strlen(text));
	synth_put(synth, at + 4, text, strlen(text));
	return at;
}

/* Writes a class with one method, and returns the method. */
static inline uint64_t synth_method(struct synth *synth, const char *class_name, const char *name,
				    const char *signature)
{
	uint64_t method = synth_space(synth, synth_size(synth, "method"), 8),
		 of = synth_space(synth, synth_size(synth, "const"), 8), header = synth_size(synth, "pool");
	uint64_t pool = synth_space(synth, header + 24, 8), klass = synth_space(synth, synth_size(synth, "klass"), 8);

	synth_set(synth, method, "Method", "_constMethod", of);
	synth_set(synth, of, "ConstMethod", "_constants", pool);
	synth_set(synth, of, "ConstMethod", "_name_index", 1);
	synth_set(synth, of, "ConstMethod", "_signature_index", 2);
	synth_set(synth, pool, "ConstantPool", "_pool_holder", klass);
	synth_set(synth, pool, "ConstantPool", "_length", 3);
	synth_set(synth, klass, "Klass", "_name", synth_symbol(synth, class_name));
	synth_number(synth, pool + header + 8, synth_symbol(synth, name) | 1,
		     8); /* bit 0 has another meaning in some JDKs */
	synth_number(synth, pool + header + 16, synth_symbol(synth, signature), 8);
	return method;
}

/* ---- code ------------------------------------------------------------------------------------------------------- */

/* Writes a block with a code blob, with `extra` bytes of space after its code. Returns the blob, and sets *begin to the
 * start of its code. */
static inline uint64_t synth_blob(struct synth *synth, uint64_t name, struct str code, size_t extra, unsigned words,
				  uint64_t *begin)
{
	uint64_t header = synth_size(synth, "block"), block = synth_space(synth, 0, SYNTH_SEGMENT),
		 blob = block + header, end;

	*begin = (blob + synth_size(synth, "blob") + 15) / 16 * 16;
	end = *begin + code.n + extra;
	synth_space(synth, (end - block + SYNTH_SEGMENT - 1) / SYNTH_SEGMENT * SYNTH_SEGMENT, 1);
	synth_put(synth, *begin, code.p, code.n);
	synth_set(synth, block, "HeapBlock::Header", "_length", (SYNTH_BASE + synth->n - block) / SYNTH_SEGMENT);
	synth_set(synth, block, "HeapBlock::Header", "_used", 1);
	synth_set(synth, blob, "CodeBlob", "_name", name);
	synth_set(synth, blob, "CodeBlob", "_kind", 2);
	synth_set(synth, blob, "CodeBlob", "_size", end - blob);
	synth_set(synth, blob, "CodeBlob", "_code_begin", *begin);
	synth_set(synth, blob, "CodeBlob", "_code_end", *begin + code.n);
	synth_set(synth, blob, "CodeBlob", "_code_offset", *begin - blob);
	synth_set(synth, blob, "CodeBlob", "_data_offset", *begin + code.n - blob);
	synth_set(synth, blob, "CodeBlob", "_frame_size", words);
	synth_set(synth, blob, "CodeBlob", "_frame_complete_offset", 8);
	synth->segments[synth->nsegments++] = (block - synth->heap) / SYNTH_SEGMENT;
	return blob;
}

enum { SYNTH_STUBS = 9, SYNTH_DESCS = SYNTH_STUBS + 1 };

/* Writes the list of descriptors of stubs, the newest first; its head is in the data of the library. One descriptor
 * belongs to another group, and its code is elsewhere. */
static inline void synth_list(struct synth *synth, uint64_t block)
{
	unsigned begin = synth->jdk == SYNTH_8 ? 4 : 3;
	uint64_t group = synth_text(synth, "StubRoutines"), other = synth_text(synth, "ICache"), next = 0;

	for (unsigned i = 0; i < SYNTH_DESCS; i++) {
		uint64_t at = synth_space(synth, 56, 8), code = block + i * 6;
		char name[16];

		snprintf(name, sizeof(name), "stub %u", i);
		synth_number(synth, at, next, 8);
		synth_number(synth, at + 8, i < SYNTH_STUBS ? group : other, 8);
		synth_number(synth, at + 16, synth_text(synth, name), 8);
		synth_number(synth, at + 24, i, 8); /* index in JDK 8; other JDKs: overwritten below */
		synth_number(synth, at + 8 * begin, i < SYNTH_STUBS ? code : SYNTH_BASE, 8);
		synth_number(synth, at + 8 * begin + 8, (i < SYNTH_STUBS ? code : SYNTH_BASE) + 5, 8);
		next = at;
	}
	synth_number(synth, synth->data + 24, next, 8);
}

enum { SYNTH_SCOPES = 32, SYNTH_PCS = 6 };

/* Writes the tables of inlined calls: method[1] is inlined into method[0] at offsets 9 and 12, method[2] into method[1]
 * at offset 12. */
static inline void synth_tables(struct synth *synth, uint64_t metadata, uint64_t scopes, uint64_t pcs,
				const uint64_t method[3])
{
	static const int at[SYNTH_PCS][2] = { { -1, 0 }, { 4, 1 }, { 9, 4 }, { 12, 7 }, { 20, 1 }, { 1 << 20, 0 } };
	unsigned char byte[10] = { 0, 0, 1, 5, 1, 2, 9, 4, 3, 2 }; /* caller, method, bytecode + 1: three times */
	uint64_t size = synth_size(synth, "pc");

	for (unsigned i = 1; i < sizeof(byte) && synth->jdk >= SYNTH_21; i++)
		byte[i]++; /* no byte is 0 */
	synth_put(synth, scopes, byte, sizeof(byte));
	for (unsigned i = 0; i < 3; i++)
		synth_number(synth, metadata + 8 * i, method[i], 8);
	for (unsigned i = 0; i < SYNTH_PCS; i++) {
		synth_set(synth, pcs + i * size, "PcDesc", "_pc_offset", (uint64_t)at[i][0]);
		synth_set(synth, pcs + i * size, "PcDesc", "_scope_decode_offset", (uint64_t)at[i][1]);
	}
}

static inline void synth_nmethod(struct synth *synth, uint64_t name, const uint64_t method[3], unsigned id,
				 unsigned level, uint64_t immutable, uint64_t mutable)
{
	char code[64] = "\x89\x84\x24\x00\xc0\xfe\xff\x55\x48\x83\xec\x10";
	uint64_t begin, pcs = SYNTH_PCS * synth_size(synth, "pc");
	uint64_t blob = synth_blob(synth, name, (struct str){ code, sizeof(code) }, 24 + SYNTH_SCOPES + pcs, 4, &begin),
		 data = begin + sizeof(code) - blob;

	synth_set(synth, blob, "CodeBlob", "_kind", 1);
	synth_set(synth, blob, "nmethod", "_method", method[0]);
	synth_set(synth, blob, "CompiledMethod", "_method", method[0]);
	synth_set(synth, blob, "nmethod", "_compile_id", id);
	synth_set(synth, blob, "nmethod", "_comp_level", level);
	synth_set(synth, blob, "nmethod", "_verified_entry_point", begin + 4);
	synth_set(synth, blob, "nmethod", "_verified_entry_offset", 4);
	synth_set(synth, blob, "nmethod", "_orig_pc_offset", 16);
	synth_set(synth, blob, "CompiledMethod", "_deopt_handler_begin", begin + 50);
	synth_set(synth, blob, "CompiledMethod", "_deopt_mh_handler_begin", 0);
	synth_set(synth, blob, "nmethod", "_deoptimize_offset", begin + 50 - blob);
	synth_set(synth, blob, "nmethod", "_deopt_handler_offset", begin + 50 - blob);
	synth_set(synth, blob, "nmethod", "_deopt_mh_handler_offset", (uint64_t)-1);
	synth_set(synth, blob, "nmethod", "_metadata_offset", data);
	synth_set(synth, blob, "nmethod", "_scopes_data_offset", synth->jdk == SYNTH_25 ? pcs : data + 24);
	synth_set(synth, blob, "CompiledMethod", "_scopes_data_begin", blob + data + 24);
	synth_set(synth, blob, "nmethod", "_scopes_pcs_offset", synth->jdk == SYNTH_25 ? 0 : data + 24 + SYNTH_SCOPES);
	synth_set(synth, blob, "nmethod", "_dependencies_offset", data + 24 + SYNTH_SCOPES + pcs);
	synth_set(synth, blob, "nmethod", "_immutable_data", immutable);
	synth_set(synth, blob, "nmethod", "_immutable_data_size", pcs + SYNTH_SCOPES);
	synth_set(synth, blob, "CodeBlob", "_mutable_data", mutable);
	synth_set(synth, blob, "CodeBlob", "_mutable_data_size", 16 + 24);
	synth_set(synth, blob, "CodeBlob", "_relocation_size", 16);
	if (synth->jdk == SYNTH_25)
		synth_tables(synth, mutable + 16, immutable + pcs, immutable, method);
	else
		synth_tables(synth, blob + data, blob + data + 24, blob + data + 24 + SYNTH_SCOPES, method);
}

/* Writes the blob of the interpreter, with a queue of three codelets. */
static inline void synth_interpreter(struct synth *synth, uint64_t name, const uint64_t description[3])
{
	static const char entry[] = "\x90\x58\x4c\x8d\x74\xcc\xf8\x90\x50\x55\x48\x8b\xec\x41\x55\x90";
	uint64_t header = synth_size(synth, "codelet"), each = (header + sizeof(entry) + 7) / 8 * 8, begin,
		 queue = synth_space(synth, synth_size(synth, "queue"), 8);
	char *code = mem_alloc(1, 3 * each + 8);

	for (unsigned i = 0; i < 3; i++)
		memcpy(code + i * each + header, entry, sizeof(entry));
	synth_blob(synth, name, (struct str){ code, 3 * each + 8 }, 0, 0, &begin);
	for (unsigned i = 0; i < 3; i++) {
		synth_set(synth, begin + i * each, "InterpreterCodelet", "_size", each);
		synth_set(synth, begin + i * each, "InterpreterCodelet", "_description", description[i]);
	}
	synth_set(synth, queue, "StubQueue", "_stub_buffer", begin);
	synth_set(synth, queue, "StubQueue", "_queue_begin", 0);
	synth_set(synth, queue, "StubQueue", "_queue_end", 3 * each);
	synth_set(synth, 0, "AbstractInterpreter", "_code", queue);
	free(code);
}

static inline void synth_stubs(struct synth *synth, const uint64_t name[6])
{
	static const char c2[16] = "\x48\x83\xec\x18", pushes[16] = "\x50\x51\x90\x90";
	char stubs[64] = "\x90\x90\x90\xc3";
	uint64_t begin;
	int thread = synth_field(synth, "JavaThread", "_cont_entry");

	memcpy(stubs + 16, "\x55\x48\x8b\xec\x90\xc3", 6);
	memcpy(stubs + 32, "\x68\xff\xff\xff\xff\x55\x48\x8b\xec\xc3", 10);
	if (thread >= 0) {
		memcpy(stubs + 48, "\x49\x8b\xa7", 3);
		memcpy(stubs + 51, &synth->at[thread], 4);
	}
	synth_blob(synth, name[0], (struct str){ stubs, sizeof(stubs) }, 0, 0, &begin);
	synth->block = begin;
	synth_set(synth, 0, "StubRoutines", "_call_stub_return_address", begin + 20);
	synth_set(synth, 0, "ContinuationEntry", "_return_pc", begin + 50);
	synth_blob(synth, name[1], (struct str){ stubs, sizeof(stubs) }, 0, 0, &begin);
	synth_blob(synth, name[2], (struct str){ stubs, 16 }, 0, 0, &begin);      /* adapters */
	synth_blob(synth, name[3], (struct str){ c2, sizeof(c2) }, 0, 4, &begin); /* made by C2 */
	synth_blob(synth, name[4], (struct str){ pushes, sizeof(pushes) }, 0, 4, &begin);
	synth_blob(synth, name[5], (struct str){ stubs + 16, 16 }, 0, 2, &begin); /* keeps rbp */
}

static inline void synth_code(struct synth *synth)
{
	static const char *const names[] = { "Interpreter",
					     "StubRoutines (1)",
					     "StubRoutines (continuation stubs)",
					     "I2C/C2I adapters",
					     "C2 Runtime new_array",
					     "slow_subtype_check Runtime1 stub",
					     "vtable chunks",
					     "nmethod",
					     "native nmethod" };
	static const char *const codelets[] = { "method entry point (kind = zerolocals)", "iload",
						"return entry points" };
	uint64_t name[9], description[3], method[3], native[3], hidden[3], begin, map, array, pointers, immutable[3],
		mutable[3];

	for (unsigned i = 0; i < 9; i++)
		name[i] = synth_text(synth, names[i]);
	for (unsigned i = 0; i < 3; i++)
		description[i] = synth_text(synth, codelets[i]);
	method[0] = synth_method(synth, "Work", "some", "(ILjava/lang/String;[J)I");
	method[1] = synth_method(synth, "java/util/HashMap", "get", "(Ljava/lang/Object;)Ljava/lang/Object;");
	method[2] = synth_method(synth, "org/example/a/name/that/is/longer/than/sixty/four/bytes/ForItIsOfAnEnterprise",
				 "hash", "([[Ljava/lang/Object;)[Z");
	native[0] = native[1] = native[2] = synth_method(synth, "java/lang/Object", "hashCode", "()I");
	hidden[0] = synth_method(synth, "Work$$Lambda+0x00007f04bc002aa0", "run", "()V");
	hidden[1] = hidden[2] = method[1];
	for (unsigned i = 0; i < 3; i++) {
		immutable[i] = synth_space(synth, SYNTH_PCS * synth_size(synth, "pc") + SYNTH_SCOPES, 8);
		mutable[i] = synth_space(synth, 16 + 24, 8);
	}
	synth->heap = synth_space(synth, 0, SYNTH_SEGMENT);
	synth_interpreter(synth, name[0], description);
	synth_space(synth, 0, SYNTH_SEGMENT);
	synth_stubs(synth, name + 1);
	synth_nmethod(synth, name[7], method, 7, 4, immutable[0], mutable[0]);
	synth_nmethod(synth, name[8], native, 8, 0, immutable[1], mutable[1]);
	synth_nmethod(synth, name[7], hidden, 9, 3, immutable[2], mutable[2]);
	begin = SYNTH_BASE + synth->n; /* free block, up to the end of the heap */
	synth_set(synth, begin, "HeapBlock::Header", "_length", 4);
	synth->segments[synth->nsegments++] = (synth_space(synth, 256, SYNTH_SEGMENT) - synth->heap) / SYNTH_SEGMENT;
	begin = SYNTH_BASE + synth->n;
	map = synth_space(synth, (begin - synth->heap) / SYNTH_SEGMENT, 1);
	memset(synth->byte + (map - SYNTH_BASE), 1, (begin - synth->heap) / SYNTH_SEGMENT);
	for (size_t i = 0; i < synth->nsegments; i++)
		synth_number(synth, map + synth->segments[i], 0, 1);

	pointers = synth_space(synth, 8, 8);
	array = synth_space(synth, synth_size(synth, "array"), 8);
	uint64_t heap = synth_space(synth, synth_size(synth, "heap"), 8);
	int memory = synth_field(synth, "CodeHeap", "_memory"), segmap = synth_field(synth, "CodeHeap", "_segmap");
	synth_set(synth, heap + synth->at[memory], "VirtualSpace", "_low", synth->heap);
	synth_set(synth, heap + synth->at[memory], "VirtualSpace", "_high", begin);
	synth_set(synth, heap + synth->at[segmap], "VirtualSpace", "_low", map);
	synth_set(synth, heap + synth->at[segmap], "VirtualSpace", "_high",
		  map + (begin - synth->heap) / SYNTH_SEGMENT);
	synth_set(synth, heap, "CodeHeap", "_log2_segment_size", 6);
	synth_number(synth, pointers, heap, 8);
	synth_set(synth, array, "GrowableArrayBase", "_len", 1);
	synth_set(synth, array, "GrowableArray<int>", "_data", pointers);
	synth_set(synth, 0, "CodeCache", "_heap", heap);
	synth_set(synth, 0, "CodeCache", "_heaps", array);
}

/* ---- exported tables -------------------------------------------------------------------------------------------- */

static inline void synth_says(struct synth *synth)
{
	static const char *const names[] = { "UseG1GC", "PreserveFramePointer", "MaxHeapSize", "UseSerialGC" };
	uint64_t size = synth_size(synth, "flag"), flags = synth_space(synth, 5 * size, 8);
	const char *type = synth->jdk == SYNTH_8 ? "Flag" : "JVMFlag";

	for (unsigned i = 0; i < 4; i++) {
		uint64_t value = synth_space(synth, 8, 8);

		synth_number(synth, value, i == 0, 1);
		synth_set(synth, flags + i * size, type, "_name", synth_text(synth, names[i]));
		synth_set(synth, flags + i * size, type, "_addr", value);
	}
	synth_set(synth, 0, type, "flags", flags);
	synth_set(synth, 0, type, "numFlags", 5);
	synth_set(synth, 0, "Abstract_VM_Version", "_s_vm_release", synth_text(synth, "17.0.0+synth"));
	synth_set(synth, 0, "Arguments", "_java_command", synth_text(synth, "Work\tidle"));
}

/* ---- tables and symbols ----------------------------------------------------------------------------------------- */

struct synth_symbols {
	struct synth_symbol {
		const char *name;
		uint64_t address;
	} one[32];
	unsigned n;
};

/* Exports a variable with this value. */
static inline void synth_export(struct synth *synth, struct synth_symbols *symbols, const char *name, uint64_t value)
{
	uint64_t at = synth_space(synth, 8, 8);

	synth_number(synth, at, value, 8);
	symbols->one[symbols->n++] = (struct synth_symbol){ name, at };
}

static inline void synth_export_fields(struct synth *synth, struct synth_symbols *symbols)
{
	enum { TYPE, FIELD, OF, IS_STATIC, OFFSET, ADDRESS, MEMBERS };
	static const char *const names[MEMBERS] = {
		"gHotSpotVMStructEntryTypeNameOffset",   "gHotSpotVMStructEntryFieldNameOffset",
		"gHotSpotVMStructEntryTypeStringOffset", "gHotSpotVMStructEntryIsStaticOffset",
		"gHotSpotVMStructEntryOffsetOffset",     "gHotSpotVMStructEntryAddressOffset"
	};
	unsigned order[SYNTH_FIELDS], n = 0, turn = (unsigned)synth_lot(synth, MEMBERS);
	uint64_t table;

	for (unsigned i = 0; i < SYNTH_FIELDS; i++)
		if (synth_has(synth, i) && (int)i != synth->without)
			order[n++] = i;
	for (unsigned i = n - 1; i > 0; i--) {
		unsigned other = (unsigned)synth_lot(synth, i + 1), swap = order[i];

		order[i] = order[other];
		order[other] = swap;
	}
	table = synth_space(synth, (n + 2) * 8 * MEMBERS, 8);
	for (unsigned i = 0; i <= n; i++) {
		const struct synth_field *f = i ? &synth_fields[order[i - 1]] : NULL;
		uint64_t entry = table + 8 * MEMBERS * i;
		uint64_t value[MEMBERS] = { 0 };

		value[TYPE] = synth_text(synth, f ? f->type : "HeapBlock");
		value[FIELD] = synth_text(synth, f ? f->name : "_header");
		value[OF] = f && !f->of ? 0 : synth_text(synth, f ? f->of : "HeapBlock::Header");
		value[IS_STATIC] = f && !f->family;
		value[f && !f->family ? ADDRESS : OFFSET] = f ? synth->at[order[i - 1]] : 0;
		for (unsigned k = 0; k < MEMBERS; k++)
			synth_number(synth, entry + 8 * ((k + turn) % MEMBERS), value[k], 8);
	}
	synth_export(synth, symbols, "gHotSpotVMStructs", table);
	synth_export(synth, symbols, "gHotSpotVMStructEntryArrayStride", 8 * MEMBERS);
	for (unsigned k = 0; k < MEMBERS; k++)
		synth_export(synth, symbols, names[k], 8 * ((k + turn) % MEMBERS));
}

/* Exports a table of names with numbers, which ends in zeros. */
static inline void synth_export_numbers(struct synth *synth, struct synth_symbols *symbols, const char *const symbol[4],
					const struct synth_symbol *number, unsigned n)
{
	uint64_t table = synth_space(synth, (n + 1) * 16, 8);

	for (unsigned i = 0; i < n; i++) {
		synth_number(synth, table + 16 * i, synth_text(synth, number[i].name), 8);
		synth_number(synth, table + 16 * i + 8, number[i].address, 8);
	}
	synth_export(synth, symbols, symbol[0], table);
	synth_export(synth, symbols, symbol[1], 16);
	synth_export(synth, symbols, symbol[2], 0);
	synth_export(synth, symbols, symbol[3], 8);
}

static inline void synth_export_all(struct synth *synth, struct synth_symbols *symbols)
{
	static const char *const types[] = { "gHotSpotVMTypes", "gHotSpotVMTypeEntryArrayStride",
					     "gHotSpotVMTypeEntryTypeNameOffset", "gHotSpotVMTypeEntrySizeOffset" };
	static const char *const ints[] = { "gHotSpotVMIntConstants", "gHotSpotVMIntConstantEntryArrayStride",
					    "gHotSpotVMIntConstantEntryNameOffset",
					    "gHotSpotVMIntConstantEntryValueOffset" };
	static const char *const longs[] = { "gHotSpotVMLongConstants", "gHotSpotVMLongConstantEntryArrayStride",
					     "gHotSpotVMLongConstantEntryNameOffset",
					     "gHotSpotVMLongConstantEntryValueOffset" };
	const struct synth_symbol size[] = { { "HeapBlock", synth_size(synth, "block") },
					     { "ConstantPool", synth_size(synth, "pool") },
					     { "PcDesc", synth_size(synth, "pc") },
					     { "InterpreterCodelet", synth_size(synth, "codelet") },
					     { "CodeBlobKind", 1 },
					     { "VirtualSpace", synth_size(synth, "space") },
					     { synth->jdk == SYNTH_8 ? "Flag" : "JVMFlag",
					       synth_size(synth, "flag") } };
	static const struct synth_symbol kind[] = { { "CodeBlobKind::Blob", 0 }, { "CodeBlobKind::Nmethod", 1 } };

	synth_export_fields(synth, symbols);
	synth_export_numbers(synth, symbols, types, size, sizeof(size) / sizeof(*size));
	synth_export_numbers(synth, symbols, ints, kind, synth->jdk == SYNTH_25 ? 2 : 1);
	synth_export_numbers(synth, symbols, longs, kind, 1);
}

/* Writes a hash table of symbols, of GNU or System V, with all symbols in one chain. */
static inline uint64_t synth_hash(struct synth *synth, const struct synth_symbols *symbols, bool gnu)
{
	uint64_t at = synth_space(synth, (gnu ? 16 + 8 + 4 : 8 + 4 + 4) + 4 * (symbols->n + 1), 8);

	if (gnu) {
		uint32_t head[] = {
			1, 1, 1, 6, 0, 0, 1
		}; /* buckets, first symbol, words of the filter, shift; the filter; the bucket */

		synth_put(synth, at, head, sizeof(head));
		for (unsigned i = 0; i < symbols->n; i++) {
			uint32_t h = 5381;

			for (const char *c = symbols->one[i].name; *c; c++)
				h = h * 33 + (unsigned char)*c;
			synth_number(synth, at + sizeof(head) + 4 * i, i + 1 == symbols->n ? h | 1 : h & ~1u, 4);
		}
	} else {
		uint32_t head[] = { 1, symbols->n + 1, 1, 0 };

		synth_put(synth, at, head, sizeof(head));
		for (unsigned i = 1; i < symbols->n; i++)
			synth_number(synth, at + 12 + 4 * i, i + 1, 4);
	}
	return at;
}

static inline void synth_elf(struct synth *synth, const struct synth_symbols *e)
{
	bool gnu = synth->jdk != SYNTH_8;
	uint64_t bias =
		synth->jdk == SYNTH_17 ? SYNTH_BASE : 0; /* the loader of musl does not relocate these entries */
	uint64_t symbols = synth_space(synth, (e->n + 1) * sizeof(Elf64_Sym), 8), strings = synth_space(synth, 1, 1),
		 dynamic;
	Elf64_Ehdr head = { .e_type = ET_DYN,
			    .e_machine = EM_X86_64,
			    .e_phoff = sizeof(head),
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phnum = 3 };
	Elf64_Phdr segment[3] = { { .p_type = PT_LOAD, .p_filesz = synth->n },
				  { .p_type = PT_DYNAMIC, .p_memsz = 5 * sizeof(Elf64_Dyn) },
				  { .p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_memsz = 64 } };

	for (unsigned i = 0; i < e->n; i++) {
		Elf64_Sym y = { .st_shndx = 1, .st_value = e->one[i].address - SYNTH_BASE };

		y.st_name = (uint32_t)(synth_text(synth, e->one[i].name) - strings);
		synth_put(synth, symbols + (i + 1) * sizeof(y), &y, sizeof(y));
	}
	uint64_t strings_end = SYNTH_BASE + synth->n, hash = synth_hash(synth, e, gnu);
	Elf64_Dyn d[] = { { DT_SYMTAB, { symbols - SYNTH_BASE + bias } },
			  { DT_STRTAB, { strings - SYNTH_BASE + bias } },
			  { DT_STRSZ, { strings_end - strings } },
			  { gnu ? DT_GNU_HASH : DT_HASH, { hash - SYNTH_BASE + bias } },
			  { DT_NULL, { 0 } } };
	dynamic = synth_space(synth, sizeof(d), 8);
	synth_put(synth, dynamic, d, sizeof(d));
	memcpy(head.e_ident, ELFMAG, SELFMAG);
	head.e_ident[EI_CLASS] = ELFCLASS64;
	head.e_ident[EI_DATA] = ELFDATA2LSB;
	segment[1].p_vaddr = dynamic - SYNTH_BASE;
	segment[2].p_vaddr = synth->data - SYNTH_BASE;
	synth_put(synth, SYNTH_BASE, &head, sizeof(head));
	synth_put(synth, SYNTH_BASE + sizeof(head), segment, sizeof(segment));
}

/* ---- the JVM ---------------------------------------------------------------------------------------------------- */

/* Makes the memory of a JVM of this JDK; the same seed gives the same bytes. */
static inline void synth_make(struct synth *synth, unsigned jdk, uint64_t seed, int without)
{
	struct synth_symbols e = { 0 };

	*synth = (struct synth){ .byte = mem_alloc(1, SYNTH_BYTES), .jdk = jdk, .seed = seed, .without = without };
	synth_space(synth, sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr), 1);
	synth->data = synth_space(synth, 64, 8);
	synth_lay_out(synth);
	synth_code(synth);
	synth_says(synth);
	synth_export_all(synth, &e);
	synth_list(synth, synth->block);
	synth_elf(synth, &e);
	synth->n = (synth->n + SYNTH_PAGE - 1) / SYNTH_PAGE * SYNTH_PAGE;
}

static inline struct memory_part synth_part(const struct synth *synth)
{
	return (struct memory_part){ SYNTH_BASE, synth->n, (const char *)synth->byte };
}

static inline void synth_free(struct synth *synth)
{
	free(synth->byte);
	synth->byte = NULL;
}

/* Appends the memory in the input format of test/fuzz/runtimes/jvmimage_fuzz.c: address of libjvm.so, then for each
 * page its number, a number of bytes, and these bytes; the rest of the page is 0. */
static inline void synth_pack(const struct synth *synth, struct text *text)
{
	uint64_t base = SYNTH_BASE;

	text_bytes(text, &base, 8);
	for (size_t at = 0; at < synth->n; at += SYNTH_PAGE) {
		uint64_t number = (SYNTH_BASE + at) / SYNTH_PAGE;
		uint16_t n = SYNTH_PAGE;

		while (n && synth->byte[at + n - 1] == 0)
			n--;
		text_bytes(text, &number, 8);
		text_bytes(text, &n, 2);
		text_bytes(text, synth->byte + at, n);
	}
}

#endif
