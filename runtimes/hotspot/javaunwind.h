/* SPDX-License-Identifier: Apache-2.0 */
/*
 * javaunwind.h - unwinds frames of HotSpot code blobs without frame pointers: nmethods, stubs, adapters, interpreter.
 *
 * The frame size of a code blob comes from the JVM (CodeBlob::_frame_size). In the innermost frame, the code bytes
 * around the interrupted address show how far the prologue or epilogue has run (javaframe.h). The layout of interpreter
 * frames is fixed by the JDK. The unwinder does not scan the stack: it reads the return address at the computed slot
 * (but see `beyond`), and ends the stack if that word is no code address.
 *
 * x86-64, JDK 8 to 25. Pure: no I/O but the callbacks. Stack, registers, code blobs and code bytes are hostile.
 * Sources, of the JDK: frame_x86.hpp, stubGenerator_x86_64.cpp (call stub, continuations),
 * templateInterpreterGenerator_x86.cpp, interp_masm_x86.cpp (remove_activation), sharedRuntime_x86_64.cpp (adapters,
 * wrappers), macroAssembler_x86.cpp (verified_entry, build_frame), continuationFreezeThaw_x86.inline.hpp
 * (patch_chunk_pd).
 */
#ifndef PJ_JAVAUNWIND_H
#define PJ_JAVAUNWIND_H

#include "unwind/dwarf/cfiunwind.h"

/* The way to the caller of a frame in a code blob. */
enum blob_kind {
	BLOB_COMPILED, /* nmethod or C2 runtime stub: fixed frame size, rbp saved below the return address */
	BLOB_NATIVE,   /* native wrapper: as BLOB_COMPILED, and rbp points to its frame */
	BLOB_STUB,     /* starts with push rbp; mov rbp, rsp; frame: its size at calls, or 0 */
	BLOB_PUSHED,   /* pushes some words first, then has its frame size */
	BLOB_LEAF,     /* has no frame, or pushes a few words that it pops before it returns */
	BLOB_ADAPTER,  /* i2c/c2i adapter: moves the return address */
	BLOB_ENTRY,    /* interpreter: method entry code */
	BLOB_BYTECODE, /* interpreter: all other codelets */
	BLOB_THAW,     /* return barrier of virtual threads: thaws the next frame from the heap */
};

enum { BLOB_NEVER = 0xFFFFFFFF };

/* One code blob, or a part of one that unwinds alike. Offsets are bytes from start; sizes are bytes. */
struct code_blob {
	uint64_t start, end;
	/* enum blob_kind: selects the member of the union */
	uint8_t kind;
	/* From sp to the caller's sp at calls; 0 if there is no frame, or its size is unknown. */
	uint32_t frame;
	union {
		/* BLOB_COMPILED, BLOB_NATIVE */
		struct {
			uint32_t entry;    /* verified entry point */
			uint32_t complete; /* first offset with a complete frame; BLOB_NEVER: unknown */
			/* nmethod::_orig_pc_offset: slot, from sp, of the original pc of a deoptimized frame; 0: none
			 */
			uint32_t orig_pc;
		} nmethod;
		/* BLOB_STUB */
		struct {
			uint32_t push_rbp; /* offset of push rbp; if it is not 0, the stub pushes one word before */
		} stub;
		/* BLOB_ENTRY; BLOB_NEVER where the instruction is absent */
		struct {
			uint32_t pop_rax;  /* takes the return address off the stack */
			uint32_t push_rax; /* puts it back, before push rbp; absent: the entry makes no frame (math) */
		} method_entry;
		/* BLOB_LEAF */
		struct {
			uint32_t unused[2];
			uint32_t argument_bytes; /* that its callers push and it pops */
		} leaf;
		/* All of a kind, as blobcodec.h stores them. */
		uint32_t offset[3];
	};
	/* BLOB_COMPILED: deopt handlers. A return address here replaces the original pc of a deoptimized frame; 0:
	 * none. */
	uint64_t deopt[2];
};

/* Returns true if ip is the return address of a deoptimized frame in blob. */
static inline bool code_blob_is_deopt(const struct code_blob *blob, uint64_t ip)
{
	return ip && (ip == blob->deopt[0] || ip == blob->deopt[1]);
}

/* The code of one JVM at one time, in the caller's view. The callbacks get arg. */
struct javaunwind_code {
	/* sorted by address, disjoint */
	const struct code_blob *blob;
	size_t n;
	/* Return address within the call stub (JavaCalls::call_helper). */
	uint64_t call_stub_return;
	/* Return address of a virtual thread's outermost frame, in enterSpecial; 0: none. */
	uint64_t continuation_return;
	/* Copies n bytes of code; returns false if any of them is unreadable. Called for innermost frames alone. */
	bool (*read)(void *arg, uint64_t address, void *to, size_t n);
	/* Returns true if code may run at an address that is in no blob. */
	bool (*is_code)(void *arg, uint64_t address);
	void *arg;
	/* If not NULL: the code is gone, but its frame states were recorded (blobcodec.h). Returns an enum javaframe
	 * for an address after the blob's entry; called in place of read for blobs that have a frame. */
	int (*how)(void *arg, const struct code_blob *blob, uint64_t address);
};

/* The frame that a step leaves, for naming. */
struct javaunwind_frame {
	/* As unwind_state.ip; if method is set, the Method* of an interpreted frame. */
	uint64_t address;
	/* The address is an interrupted one or a Method*, not a return address: name it without subtracting 1. */
	bool exact;
	/* The address is a Method*. */
	bool method;
	/* Not a frame, but the return barrier of a virtual thread: its next frame is still in the heap. */
	bool thawed;
	/* The return address was a few words above the slot that the frame size gives (OpenTelemetry's rule). */
	bool beyond;
};

/* Returns the blob that contains the address of state, or NULL (native code, or no code). A return address equal to a
 * blob's start belongs to that blob: thawed frames of virtual threads have such addresses. */
const struct code_blob *javaunwind_find(const struct javaunwind_code *jvm_code, const struct unwind_state *state);

/* Moves state from a frame in blob to its caller, as unwind_step does for native code. Fills *frame with the frame
 * that is left, also if the stack ends there. Returns UNWIND_MORE, or the reason of the end; state then remains at
 * the frame in blob.
 * blob = javaunwind_find(code, state); if (blob) end = javaunwind_step(state, code, blob, &frame); */
enum unwind_end javaunwind_step(struct unwind_state *state, const struct javaunwind_code *jvm_code,
				const struct code_blob *blob, struct javaunwind_frame *frame);

#endif
