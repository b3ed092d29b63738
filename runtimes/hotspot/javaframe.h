/* SPDX-License-Identifier: Apache-2.0 */
/*
 * javaframe.h - how much of a frame there is where code of a JVM was interrupted, by the bytes around it.
 *
 * HotSpot's compilers build and leave frames by a few fixed sequences; these are recognized, nothing is disassembled.
 * Pure.
 */
#ifndef PJ_JAVAFRAME_H
#define PJ_JAVAFRAME_H

#include "runtimes/hotspot/javaunwind.h"

enum javaframe {
	JAVAFRAME_COMPLETE,
	JAVAFRAME_NONE,    /* nothing pushed, or all popped: the return address is at sp */
	JAVAFRAME_RBP,     /* only rbp is pushed */
	JAVAFRAME_UNSAVED, /* the frame has its size, rbp is not saved yet */
};

/* Of a compiled method or a wrapper, at address in blob. */
enum javaframe javaframe_compiled(const struct javaunwind_code *jvm_code, const struct code_blob *blob,
				  uint64_t address);

/* Of a stub that begins with push rbp; mov rbp, rsp. */
enum javaframe javaframe_stub(const struct javaunwind_code *jvm_code, const struct code_blob *blob, uint64_t address);

/* Such a stub that needs rbp for something else puts it on a stack that it aligned: offset from sp of where it is, 0:
 * it does not, or not yet (sha512_implCompress: sub rsp, N; and rsp, -32; mov [rsp + A], rax; mov [rsp + B], rbp). */
uint32_t javaframe_put_away(const struct javaunwind_code *jvm_code, const struct code_blob *blob, uint64_t address);

/* Of a stub that keeps no frame: bytes that it pushed, and *more: room that it made behind them. */
uint32_t javaframe_pushed(const struct javaunwind_code *jvm_code, const struct code_blob *blob, uint64_t address,
			  uint32_t *more);

/* Of the stub that compiled code jumps to with an exception, and that jumps to who handles it: push rdx, the return
 * address. */
enum javaframe_exception {
	JAVAFRAME_EXCEPTION_NOT, /* another stub */
	JAVAFRAME_EXCEPTION_COMPLETE,
	JAVAFRAME_EXCEPTION_IN_RDX, /* the return address is in rdx, and all behind sp the caller's */
	JAVAFRAME_EXCEPTION_AT_SP,
	JAVAFRAME_EXCEPTION_AFTER, /* it is behind a word; rbp is still, or again, the caller's */
};
enum javaframe_exception javaframe_exception(const struct javaunwind_code *jvm_code, const struct code_blob *blob,
					     uint64_t address);

/* Bytes that were left free below what was called and returns here, so that the stack is aligned. */
uint32_t javaframe_aligned(const struct javaunwind_code *jvm_code, uint64_t address);

/* Bytes that compiled code put on its stack for a stub, and takes away where that returns to: arguments, and a
 * register. */
uint32_t javaframe_arguments(const struct javaunwind_code *jvm_code, uint64_t address);

/* JDK 8's sin() and the like call libjvm from the middle of a method, and put all registers on the stack meanwhile
 * (MacroAssembler::fp_runtime_fallback, pusha, popa). Bytes of the stack from sp to where it is when all are back, or
 * when the interpreter's entry of such a function pops its return address, of code that was interrupted, or returned
 * to, at address; 0: none, or it is no such code. */
uint32_t javaframe_spilled(const struct javaunwind_code *jvm_code, const struct code_blob *blob, uint64_t address,
			   uint64_t sp);

/* Of an adapter, from compiled code to the interpreter or the other way. */
enum javaframe_adapter {
	JAVAFRAME_AT_SP,         /* the return address is at sp, the caller's stack behind it */
	JAVAFRAME_IN_RAX,        /* it waits in rax */
	JAVAFRAME_IN_RAX_SENDER, /* and r13 is the caller's sp */
	JAVAFRAME_AT_SP_SENDER,
	JAVAFRAME_AT_R13, /* the stack was aligned; it is where r13 points */
};
enum javaframe_adapter javaframe_adapter(const struct javaunwind_code *jvm_code, const struct code_blob *blob,
					 uint64_t address);

/* The interpreter leaves a frame: pop A; mov rsp, B; jmp A. True: address is at one of the three, the frame is gone. */
struct javaframe_exit {
	bool popped;        /* the return address is in register `ra` (DWARF number), else at sp */
	uint8_t ra, sender; /* sender: the register that holds the caller's sp */
};
bool javaframe_exit(const struct javaunwind_code *jvm_code, const struct code_blob *blob, uint64_t address,
		    struct javaframe_exit *exit);

#endif
