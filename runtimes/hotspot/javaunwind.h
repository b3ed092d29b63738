/* SPDX-License-Identifier: Apache-2.0 */
/*
 * javaunwind.h - callers through the code of a HotSpot JVM: compiled methods, stubs, the interpreter; without frame
 * pointers.
 *
 * The JVM's own facts say how large the frame of a piece of code is; where code was interrupted, its bytes say how much
 * of the frame is there (prologue, epilogue). What an interpreter frame is made of is fixed by the JDK. Nothing is
 * searched for: a return address lies where these say, and must be code, or the stack ends. x86-64, JDK 8 to 25. Pure;
 * stack, registers, facts and code are hostile. Sources: frame_x86.hpp, stubGenerator_x86_64.cpp (call stub,
 * continuations), templateInterpreterGenerator_x86.cpp, interp_masm_x86.cpp (remove_activation),
 * sharedRuntime_x86_64.cpp (adapters, wrappers), macroAssembler_x86.cpp (verified_entry, build_frame),
 * continuationFreezeThaw_x86.inline.hpp (patch_chunk_pd) of the JDK.
 */
#ifndef PJ_JAVAUNWIND_H
#define PJ_JAVAUNWIND_H

#include "unwind/dwarf/cfiunwind.h"

enum blob_kind {
	BLOB_COMPILED, /* a method, or a stub made by C2: a frame of known size, rbp saved below the return address */
	BLOB_NATIVE,   /* wrapper of a native method: the same, and rbp points at its frame */
	BLOB_STUB,     /* begins with push rbp; mov rbp, rsp; size: 0, or what it has where it calls */
	BLOB_PUSHED,   /* pushes something, then is as large as it says */
	BLOB_LEAF,     /* pushes nothing, or a few words that it pops at its end */
	BLOB_ADAPTER,  /* between compiled and interpreted callers: moves the return address */
	BLOB_ENTRY,    /* interpreter, where a method begins */
	BLOB_BYTECODE, /* interpreter, the rest */
	BLOB_THAW, /* virtual threads: where the last frame on the stack returns to for the next one from the heap */
};

enum { BLOB_NEVER = 0xFFFFFFFF };

/* One piece of code. */
struct code_blob {
	uint64_t start, end;
	uint64_t deopt[2]; /* a return address of these stands for one that was put away; 0: none */
	uint32_t frame;    /* bytes from sp to the caller's, where the piece calls */
	uint32_t entry; /* offset of the verified entry; JAVA_ENTRY: of `pop rax`, JAVA_NEVER: none; JAVA_STUB: of push
			 * rbp, in front of which a word is pushed if it is not 0 */
	uint32_t complete; /* offset behind the prologue; JAVA_ENTRY: of `push rax`; JAVA_NEVER: not known */
	uint32_t orig_pc;  /* offset from sp of the return address that was put away; 0: none. JAVA_LEAF: bytes that its
			      callers push */
	uint8_t kind;      /* enum blob_kind */
};

/* A JVM at one moment. */
struct javaunwind_code {
	const struct code_blob *blob; /* by address, disjoint */
	size_t n;
	uint64_t call_stub_return;    /* return address in the stub that native code calls Java by */
	uint64_t continuation_return; /* that of a virtual thread's outermost frame in enterSpecial; 0: none */
	/* n bytes of code; false: not all can be read. Asked only where code was interrupted. */
	bool (*read)(void *arg, uint64_t address, void *to, size_t n);
	/* May code run there? For addresses in none of the pieces. */
	bool (*is_code)(void *arg, uint64_t address);
	void *arg;
	/* Not NULL: code is gone, but what its bytes said was kept (blobcodec.h): an enum javaframe. Asked in place of
	 * read for a piece with a frame, at an address behind its entry. */
	int (*how)(void *arg, const struct code_blob *blob, uint64_t address);
};

/* What a frame is called by. */
struct javaunwind_frame {
	uint64_t address; /* as unwind_state.ip; of an interpreted method its Method* */
	bool exact;  /* is where it was interrupted, or a Method*: not a return address, from which 1 is subtracted to
			name it */
	bool method; /* a Method* */
	bool thawed; /* no frame: where one of a virtual thread returns to, for the next one from the heap */
	bool beyond; /* the return address lay a few words above where the size of the frame says (OpenTelemetry's rule)
		      */
};

/* The piece that state is in, or NULL: native code, or none. */
const struct code_blob *javaunwind_find(const struct javaunwind_code *jvm_code, const struct unwind_state *state);

/* One step outwards from piece blob, like unwind_step. *frame is of the frame that is left, also where the stack ends.
 */
enum unwind_end javaunwind_step(struct unwind_state *state, const struct javaunwind_code *jvm_code,
				const struct code_blob *blob, struct javaunwind_frame *frame);

#endif
