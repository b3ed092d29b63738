/* SPDX-License-Identifier: Apache-2.0 */
/*
 * javaunwind.h - unwinds frames of HotSpot code without frame pointers: nmethods, stubs, adapters, the interpreter.
 *
 * The JVM provides the frame size of a code blob (CodeBlob::_frame_size). In the innermost frame, the code bytes around
 * the interrupted address show how far the prologue or epilogue has run (javaframe.h). The layout of interpreter frames
 * is fixed by the JDK. The unwinder does not scan the stack: it reads the return address from the computed slot (one
 * exception: `beyond`), and ends the stack if that word is no code address.
 *
 * x86-64, JDK 8 to 25. Pure: no I/O except in callbacks. Stack, registers, code blobs and code bytes are hostile.
 * Sources in the JDK: frame_x86.hpp, stubGenerator_x86_64.cpp (call stub, continuations),
 * templateInterpreterGenerator_x86.cpp, interp_masm_x86.cpp (remove_activation), sharedRuntime_x86_64.cpp (adapters,
 * wrappers), macroAssembler_x86.cpp (verified_entry, build_frame), continuationFreezeThaw_x86.inline.hpp
 * (patch_chunk_pd).
 */
#ifndef PJ_JAVAUNWIND_H
#define PJ_JAVAUNWIND_H

#include "unwind/dwarf/cfiunwind.h"

/* Kind of a code blob. It determines how the unwinder finds the caller of a frame. */
enum blob_kind {
	BLOB_COMPILED, /* nmethod or C2 runtime stub: fixed frame size; rbp is saved below the return address */
	BLOB_NATIVE,   /* native wrapper: fixed frame size; rbp points to the saved rbp of its frame */
	/* stub that starts with push rbp; mov rbp, rsp; code_blob.frame is the frame size at calls, or 0 */
	BLOB_STUB,
	BLOB_PUSHED,   /* stub that pushes some words first; afterwards its frame has a fixed size */
	BLOB_LEAF,     /* code without a frame, or stub that pushes a few words and pops them before it returns */
	BLOB_ADAPTER,  /* i2c/c2i adapter: moves the return address */
	BLOB_ENTRY,    /* entry code of methods in the interpreter */
	BLOB_BYTECODE, /* any other codelet of the interpreter */
	BLOB_THAW,     /* return barrier of virtual threads: thaws the next frame from the heap */
};

enum { BLOB_NEVER = 0xFFFFFFFF };

/* One code blob, or a part of one in which all code is unwound in the same way. Offsets are in bytes from `start`;
 * sizes are in bytes. */
struct code_blob {
	uint64_t start, end;
	/* enum blob_kind; selects the member of the union */
	uint8_t kind;
	/* Frame size at calls, from sp to the caller's sp; 0 if there is no frame or its size is unknown. */
	uint32_t frame;
	union {
		/* for BLOB_COMPILED and BLOB_NATIVE */
		struct {
			uint32_t entry; /* offset of the verified entry point */
			/* frame complete offset: first offset at which the frame is complete; BLOB_NEVER if unknown */
			uint32_t complete;
			/* nmethod::_orig_pc_offset: sp offset of the slot with the original pc of a deoptimized
			 * frame; 0: none */
			uint32_t orig_pc;
		} nmethod;
		/* for BLOB_STUB */
		struct {
			uint32_t push_rbp; /* offset of push rbp; if not 0, the stub pushes one word before rbp */
		} stub;
		/* for BLOB_ENTRY: offsets of instructions; BLOB_NEVER if the code does not have the instruction */
		struct {
			uint32_t pop_rax; /* offset of pop rax, which takes the return address off the stack */
			/* Offset of push rax, which puts the return address back before push rbp. An entry without
			 * this instruction makes no frame (math intrinsics). */
			uint32_t push_rax;
		} method_entry;
		/* for BLOB_LEAF */
		struct {
			uint32_t unused[2];
			uint32_t argument_bytes; /* number of bytes of arguments that callers push and the stub pops */
		} leaf;
		/* The members of each struct above as an array, for blobcodec.h. */
		uint32_t offset[3];
	};
	/* Addresses of the two deopt handlers of a BLOB_COMPILED; 0: none. HotSpot deoptimizes a frame by replacing the
	 * return address into it (the original pc) by the address of a deopt handler. */
	uint64_t deopt[2];
};

/* Returns true if ip, a return address into a frame of blob, is a deopt handler: the frame is deoptimized. */
static inline bool code_blob_is_deopt(const struct code_blob *blob, uint64_t ip)
{
	return ip && (ip == blob->deopt[0] || ip == blob->deopt[1]);
}

/* View of the code of one JVM at one time, which the caller provides for the unwinder. */
struct javaunwind_code {
	/* code blobs, sorted by address, disjoint */
	const struct code_blob *blob;
	size_t n;
	/* return address in the call stub (JavaCalls::call_helper), whose caller is native code */
	uint64_t call_stub_return;
	/* return address into enterSpecial, the code of the outermost frame of a virtual thread; 0: none */
	uint64_t continuation_return;
	/* Copies n bytes of code. Returns false if any of them is unreadable. The unwinder calls it for interrupted
	 * frames, and at some return addresses (padding, arguments, adapters). */
	bool (*read)(void *arg, uint64_t address, void *to, size_t n);
	/* Returns true if an address outside of all blobs is an address of code (native code). */
	bool (*is_code)(void *arg, uint64_t address);
	void *arg;
	/* Not NULL if the code is gone but its frame states were recorded (blobcodec.h). Returns the frame state
	 * (enum javaframe) at an address after the blob's entry. The unwinder calls it in place of `read` for blobs
	 * that have a frame. */
	int (*how)(void *arg, const struct code_blob *blob, uint64_t address);
};

/* The frame from which a step has moved on; used for its name. */
struct javaunwind_frame {
	/* Interrupted address or return address in the frame; the Method* of an interpreted frame if `method` is
	 * set. */
	uint64_t address;
	/* true if address is an interrupted address or a Method*, so that lookups use it unchanged; lookups use a
	 * return address minus 1 */
	bool exact;
	/* true if address is a Method* */
	bool method;
	/* true if this is no frame, but the return barrier of a virtual thread whose next frame is still in the heap */
	bool thawed;
	/* true if the return address was a few words above the slot that the frame size gives (as in OpenTelemetry's
	 * unwinder) */
	bool beyond;
};

/* Returns the blob that contains the code of state: at its interrupted address, or at its return address - 1.
 * Returns NULL for native code and for no code. A return address equal to the start of a BLOB_THAW belongs to that
 * blob: thawed frames of virtual threads have such return addresses. */
const struct code_blob *javaunwind_find(const struct javaunwind_code *jvm_code, const struct unwind_state *state);

/* Moves state from a frame in blob to the frame's caller, as unwind_step does for native code. Sets *frame to the
 * frame that is left, also if the stack ends there. Returns UNWIND_MORE, or the reason why the stack ends; state
 * then remains at the frame in blob. Usage: blob = javaunwind_find(code, state); if (blob) end =
 * javaunwind_step(state, code, blob, &frame); */
enum unwind_end javaunwind_step(struct unwind_state *state, const struct javaunwind_code *jvm_code,
				const struct code_blob *blob, struct javaunwind_frame *frame);

#endif
