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

/* Kind of a code blob: how the unwinder finds the caller of a frame in it. */
enum blob_kind {
	BLOB_COMPILED, /* nmethod or C2 runtime stub: fixed frame size, rbp saved below the return address */
	BLOB_NATIVE,   /* native wrapper: as BLOB_COMPILED, but rbp points to the saved rbp of its frame */
	BLOB_STUB,     /* starts with push rbp; mov rbp, rsp; code_blob.frame is the frame size at calls, or 0 */
	BLOB_PUSHED,   /* pushes some words first; afterwards the frame has a fixed size */
	BLOB_LEAF,     /* has no frame, or pushes a few words and pops them before it returns */
	BLOB_ADAPTER,  /* i2c/c2i adapter: moves the return address */
	BLOB_ENTRY,    /* interpreter: entry code of methods */
	BLOB_BYTECODE, /* interpreter: any codelet that is not the entry code of methods */
	BLOB_THAW,     /* return barrier of virtual threads: thaws the next frame from the heap */
};

enum { BLOB_NEVER = 0xFFFFFFFF };

/* One code blob, or a part of one in which all code unwinds alike. Offsets are bytes from start; sizes are bytes. */
struct code_blob {
	uint64_t start, end;
	/* enum blob_kind; it selects the member of the union */
	uint8_t kind;
	/* Frame size at calls: bytes from sp to the caller's sp; 0 if there is no frame or its size is unknown. */
	uint32_t frame;
	union {
		/* for BLOB_COMPILED and BLOB_NATIVE */
		struct {
			uint32_t entry; /* offset of the verified entry point */
			/* frame complete offset: first offset with a complete frame; BLOB_NEVER if unknown */
			uint32_t complete;
			/* nmethod::_orig_pc_offset: offset from sp of the slot with the original pc of a deoptimized
			 * frame; 0: none */
			uint32_t orig_pc;
		} nmethod;
		/* for BLOB_STUB */
		struct {
			uint32_t push_rbp; /* offset of push rbp; if it is not 0, the stub pushes one word before rbp */
		} stub;
		/* for BLOB_ENTRY: offsets of instructions; BLOB_NEVER if the instruction is absent */
		struct {
			uint32_t pop_rax; /* offset of pop rax, which takes the return address off the stack */
			/* Offset of push rax, before push rbp, which puts the return address back. An entry without it
			 * makes no frame (math intrinsics). */
			uint32_t push_rax;
		} method_entry;
		/* for BLOB_LEAF */
		struct {
			uint32_t unused[2];
			uint32_t argument_bytes; /* bytes of arguments that callers push and the stub pops */
		} leaf;
		/* The members of each of the structs above as an array, for blobcodec.h. */
		uint32_t offset[3];
	};
	/* Addresses of the two deopt handlers of a BLOB_COMPILED; 0: none. In a deoptimized frame, such an address
	 * replaces the original pc as return address. */
	uint64_t deopt[2];
};

/* Returns true if ip, the return address into a frame of blob, is a deopt handler: the frame is deoptimized. */
static inline bool code_blob_is_deopt(const struct code_blob *blob, uint64_t ip)
{
	return ip && (ip == blob->deopt[0] || ip == blob->deopt[1]);
}

/* The code of one JVM at one time, as the caller provides it for the unwinder. arg is passed to each callback. */
struct javaunwind_code {
	/* the code blobs, sorted by address, disjoint */
	const struct code_blob *blob;
	size_t n;
	/* return address in the call stub (JavaCalls::call_helper) */
	uint64_t call_stub_return;
	/* return address of a virtual thread's outermost frame, in enterSpecial; 0: none */
	uint64_t continuation_return;
	/* Copies n bytes of code; returns false if any of them is unreadable. The unwinder calls it for interrupted
	 * frames and at some return addresses (padding, arguments, adapters). */
	bool (*read)(void *arg, uint64_t address, void *to, size_t n);
	/* Returns true if code may run at an address that is in no blob (native code). */
	bool (*is_code)(void *arg, uint64_t address);
	void *arg;
	/* Set (not NULL) if the code is gone but its frame states were recorded (blobcodec.h). Returns the frame state
	 * (enum javaframe) at an address after the blob's entry. The unwinder calls it in place of read for blobs that
	 * have a frame. */
	int (*how)(void *arg, const struct code_blob *blob, uint64_t address);
};

/* The frame that a step has left, for naming. */
struct javaunwind_frame {
	/* Interrupted address or return address in the frame; or the Method* of an interpreted frame if `method` is
	 * set. */
	uint64_t address;
	/* true if address is an interrupted address or a Method*: it is named without subtracting 1, unlike a return
	 * address */
	bool exact;
	/* true if address is a Method* */
	bool method;
	/* true if this is no frame but the return barrier of a virtual thread: its next frame is still in the heap */
	bool thawed;
	/* true if the return address was a few words above the slot that the frame size gives (OpenTelemetry's rule) */
	bool beyond;
};

/* Returns the blob that contains the code of state, or NULL (native code, or no code): the blob at an interrupted
 * address, or at a return address - 1. A return address equal to the start of a BLOB_THAW belongs to that blob, because
 * thawed frames of virtual threads have such addresses. */
const struct code_blob *javaunwind_find(const struct javaunwind_code *jvm_code, const struct unwind_state *state);

/* Moves state from a frame in blob to the frame's caller, as unwind_step does for native code. Fills *frame with the
 * frame that is left, also if the stack ends there. Returns UNWIND_MORE, or the reason of the end; state then remains
 * at the frame in blob. blob = javaunwind_find(code, state); if (blob) end = javaunwind_step(state, code, blob,
 * &frame); */
enum unwind_end javaunwind_step(struct unwind_state *state, const struct javaunwind_code *jvm_code,
				const struct code_blob *blob, struct javaunwind_frame *frame);

#endif
