/* SPDX-License-Identifier: Apache-2.0 */
/*
 * javaframe.h - recognizes how much of its frame interrupted JIT code has built, by the code bytes around the address.
 *
 * HotSpot emits a few fixed instruction sequences in prologues, epilogues and stubs; each function here matches some of
 * them. Nothing is disassembled. All functions are pure: they read code by jvm_code->read alone. `address` is inside of
 * `blob` unless stated. Code that cannot be read, or that matches no pattern, counts as code with a complete frame.
 */
#ifndef PJ_JAVAFRAME_H
#define PJ_JAVAFRAME_H

#include "runtimes/hotspot/javaunwind.h"

/* State of a frame at an address. The values are part of the format of blobcodec.h. */
enum javaframe {
	JAVAFRAME_COMPLETE, /* the frame is set up: the frame size gives the return address */
	JAVAFRAME_NONE,     /* nothing pushed yet, or all popped: the return address is at sp */
	JAVAFRAME_RBP,      /* rbp is pushed and nothing else: the return address is at sp + 8 */
	JAVAFRAME_UNSAVED,  /* sp is lowered by the frame size, rbp is not saved yet */
};

/* For BLOB_COMPILED and BLOB_NATIVE. Before the verified entry point the state is JAVAFRAME_NONE; after it,
 * jvm_code->how replaces the code bytes if it is set. */
enum javaframe javaframe_compiled(const struct javaunwind_code *jvm_code, const struct code_blob *blob,
				  uint64_t address);

/* For BLOB_STUB: stubs that start with push rbp; mov rbp, rsp. Its states are COMPLETE, NONE and RBP. jvm_code->how
 * replaces the code bytes after the push, if it is set. */
enum javaframe javaframe_stub(const struct javaunwind_code *jvm_code, const struct code_blob *blob, uint64_t address);

/* Stubs that use rbp as scratch save it on a realigned stack (sha512_implCompress: sub rsp, N; and rsp, -32;
 * mov [rsp + A], rax; mov [rsp + B], rbp). Returns the offset of the saved rbp from sp, 0 if it is not (yet) saved. */
uint32_t javaframe_put_away(const struct javaunwind_code *jvm_code, const struct code_blob *blob, uint64_t address);

/* For stubs without a frame. Returns the bytes that the stub has pushed; *more is the space that it reserved after
 * them. */
uint32_t javaframe_pushed(const struct javaunwind_code *jvm_code, const struct code_blob *blob, uint64_t address,
			  uint32_t *more);

/* Location of the return address in the exception stub. Compiled code jumps to this stub with an exception, and the
 * stub jumps to the handler. The return address is in rdx at its start and at its end; in between the stub has pushed
 * it. */
enum javaframe_exception {
	JAVAFRAME_EXCEPTION_NOT, /* another stub */
	JAVAFRAME_EXCEPTION_COMPLETE,
	JAVAFRAME_EXCEPTION_IN_RDX, /* the return address is in rdx; the stack from sp on is the caller's */
	JAVAFRAME_EXCEPTION_AT_SP,
	JAVAFRAME_EXCEPTION_AFTER, /* it is at sp + 8; rbp is still, or again, the caller's */
};
/* Returns the location of the return address if blob is the exception stub. */
enum javaframe_exception javaframe_exception(const struct javaunwind_code *jvm_code, const struct code_blob *blob,
					     uint64_t address);

/* Code that aligns the stack for a call pushes padding. Returns the bytes of padding at the return address
 * `address`: 8 if add rsp, 8 follows, otherwise 0. */
uint32_t javaframe_aligned(const struct javaunwind_code *jvm_code, uint64_t address);

/* Returns the bytes of arguments (and one saved register) that compiled code pushed for a stub and pops at the return
 * address. */
uint32_t javaframe_arguments(const struct javaunwind_code *jvm_code, uint64_t address);

/* Math intrinsics of JDK 8 (sin and others) call libjvm from the middle of a method with all registers spilled to the
 * stack (MacroAssembler::fp_runtime_fallback, pusha, popa). Returns the bytes from sp to its value after they are
 * restored, or after the interpreter's entry of such a function has popped its return address; `address` is the
 * interrupted one or a return address. Returns 0 if nothing is spilled there. */
uint32_t javaframe_spilled(const struct javaunwind_code *jvm_code, const struct code_blob *blob, uint64_t address,
			   uint64_t sp);

/* For i2c and c2i adapters. Returns the place of the return address. */
enum javaframe_adapter {
	JAVAFRAME_AT_SP,         /* at sp, followed by the caller's stack */
	JAVAFRAME_IN_RAX,        /* in rax */
	JAVAFRAME_IN_RAX_SENDER, /* in rax, and r13 holds the caller's sp */
	JAVAFRAME_AT_SP_SENDER,
	JAVAFRAME_AT_R13, /* at the address in r13: the stack was realigned */
};
enum javaframe_adapter javaframe_adapter(const struct javaunwind_code *jvm_code, const struct code_blob *blob,
					 uint64_t address);

/* The interpreter leaves a frame by pop A; mov rsp, B; jmp A. Returns true if address is at one of the three: the frame
 * is gone. */
struct javaframe_exit {
	/* The return address is in register `ra`, otherwise it is at sp. */
	bool popped;
	/* DWARF numbers of the registers that hold the return address and the caller's sp. */
	uint8_t ra, sender;
};
bool javaframe_exit(const struct javaunwind_code *jvm_code, const struct code_blob *blob, uint64_t address,
		    struct javaframe_exit *exit);

#endif
