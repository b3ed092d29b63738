/* SPDX-License-Identifier: Apache-2.0 */
/*
 * javaframe.h - determines how much of its frame interrupted JIT code has built, by the code bytes around the address.
 *
 * HotSpot emits a few fixed instruction sequences in prologues, epilogues and stubs. Each function here matches some of
 * these sequences; nothing is disassembled. All functions are pure: they read code only by the callback jvm_code->read.
 * `address` is inside of `blob` unless stated otherwise. Code that is not readable, or that matches no pattern, counts
 * as code with a complete frame.
 */
#ifndef PJ_JAVAFRAME_H
#define PJ_JAVAFRAME_H

#include "runtimes/hotspot/javaunwind.h"

/* Frame state: how much of its frame the code has built at an address. The values are part of the format of
 * blobcodec.h. */
enum javaframe {
	JAVAFRAME_COMPLETE, /* the frame is complete: the frame size gives the slot of the return address */
	JAVAFRAME_NONE,     /* nothing is pushed yet, or all is popped: the return address is at sp */
	JAVAFRAME_RBP,      /* only rbp is pushed: the return address is at sp + 8 */
	JAVAFRAME_UNSAVED,  /* sp is lowered by the frame size, but rbp is not saved yet */
};

/* Returns the frame state at an address of a BLOB_COMPILED or BLOB_NATIVE. Before the verified entry point it is
 * JAVAFRAME_NONE. From there on, the function calls jvm_code->how, if set, in place of reading code bytes. */
enum javaframe javaframe_compiled(const struct javaunwind_code *jvm_code, const struct code_blob *blob,
				  uint64_t address);

/* Returns the frame state at an address of a BLOB_STUB (stub that starts with push rbp; mov rbp, rsp):
 * JAVAFRAME_COMPLETE, _NONE or _RBP. After these pushes, the function calls jvm_code->how, if set, in place of
 * reading code bytes. */
enum javaframe javaframe_stub(const struct javaunwind_code *jvm_code, const struct code_blob *blob, uint64_t address);

/* Returns the sp offset of the saved rbp in a stub that uses rbp as scratch and saves it on a realigned stack
 * (sha512_implCompress: sub rsp, N; and rsp, -32; mov [rsp + A], rax; mov [rsp + B], rbp). Returns 0 if rbp is not
 * saved (yet), and for any other stub. */
uint32_t javaframe_put_away(const struct javaunwind_code *jvm_code, const struct code_blob *blob, uint64_t address);

/* Returns the number of bytes that a stub without a frame has pushed at the interrupted address. Sets *more to the
 * number of bytes of stack that it has reserved after the pushes. */
uint32_t javaframe_pushed(const struct javaunwind_code *jvm_code, const struct code_blob *blob, uint64_t address,
			  uint32_t *more);

/* Location of the return address in the exception stub. Compiled code jumps to this stub with an exception, and the
 * stub jumps to the handler. The return address is in rdx at the stub's start and end, and on the stack in between. */
enum javaframe_exception {
	JAVAFRAME_EXCEPTION_NOT, /* the code blob is not the exception stub */
	/* the frame is complete: the frame size gives the slot of the return address */
	JAVAFRAME_EXCEPTION_COMPLETE,
	JAVAFRAME_EXCEPTION_IN_RDX, /* the return address is in rdx, and sp is the caller's sp */
	/* the return address is at sp, and rbp has the caller's value */
	JAVAFRAME_EXCEPTION_AT_SP,
	JAVAFRAME_EXCEPTION_AFTER, /* the return address is at sp + 8, and rbp has the caller's value */
};
/* Returns the location of the return address at an address of the exception stub. Returns JAVAFRAME_EXCEPTION_NOT
 * for any other blob. */
enum javaframe_exception javaframe_exception(const struct javaunwind_code *jvm_code, const struct code_blob *blob,
					     uint64_t address);

/* Returns the number of padding bytes that the caller pushed to align the stack for a call: 8 if the code at the
 * return address `address` is add rsp, 8, otherwise 0. */
uint32_t javaframe_aligned(const struct javaunwind_code *jvm_code, uint64_t address);

/* Returns the number of bytes that compiled code pushed for the called stub (arguments, and perhaps a saved
 * register) and pops at the return address `address`: 16, 24 or 0. */
uint32_t javaframe_arguments(const struct javaunwind_code *jvm_code, uint64_t address);

/* Returns the number of bytes by which sp is below its usual value because registers are spilled to the stack; 0 if
 * none are. `address` is an interrupted address or a return address, sp the value of rsp there. Math intrinsics of JDK
 * 8 (sin and others) spill all registers around a call of libjvm in the middle of a method
 * (MacroAssembler::fp_runtime_fallback, pusha, popa). In the interpreter's entry of such an intrinsic, the result is
 * the distance from sp to the return address. */
uint32_t javaframe_spilled(const struct javaunwind_code *jvm_code, const struct code_blob *blob, uint64_t address,
			   uint64_t sp);

/* Location of the return address at an address of an i2c or c2i adapter. */
enum javaframe_adapter {
	JAVAFRAME_AT_SP,         /* at sp; the caller's stack starts after it */
	JAVAFRAME_IN_RAX,        /* in rax */
	JAVAFRAME_IN_RAX_SENDER, /* in rax, and r13 has the caller's sp */
	/* at sp, and r13 has the caller's sp */
	JAVAFRAME_AT_SP_SENDER,
	JAVAFRAME_AT_R13, /* at the address in r13, because the stack was realigned */
};
enum javaframe_adapter javaframe_adapter(const struct javaunwind_code *jvm_code, const struct code_blob *blob,
					 uint64_t address);

/* The sequence with which the interpreter leaves a frame: pop A; mov rsp, B; jmp A; JDK 25 has more instructions.
 * javaframe_exit returns true if address is in this sequence, so that the frame is gone already. */
struct javaframe_exit {
	/* true if register `ra` has the return address; false if it is still at sp */
	bool popped;
	/* DWARF numbers of the registers with the return address and the caller's sp. */
	uint8_t ra, sender;
};
bool javaframe_exit(const struct javaunwind_code *jvm_code, const struct code_blob *blob, uint64_t address,
		    struct javaframe_exit *exit);

#endif
