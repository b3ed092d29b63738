/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostframe.h - the unwinder for the code of just-in-time compilers that depends on the eval function, its host.
 *
 * The code of PHP's JIT compiler has no frame of its own: the eval function jumps to this code, which jumps back. So
 * the unwind rule of the eval function holds in this code, too. The code of Ruby's YJIT has one native frame for all
 * methods that run in it: the eval function calls the code, the code saves three registers, and its methods call each
 * other by jumps.
 *
 * Some of this code moves the stack pointer by a constant while it calls a function. Each of these constants is tried;
 * a caller is accepted only if it is one of the functions that call the code or its host. Otherwise the stack is
 * broken; if the range of the code is unknown, frame pointers are followed, as out of other generated code.
 */
#ifndef PJ_HOSTFRAME_H
#define PJ_HOSTFRAME_H

#include "unwind/walk.h"

#define HOSTFRAME_CALLERS_MAX 16u

struct hostframe {
	/* HOSTFRAME_NONE: the process has no such code. HOSTFRAME_SHARED: the code runs in frames of its host (PHP).
	 * HOSTFRAME_OWN: the code has a frame of its own, which its host called (Ruby). */
	enum { HOSTFRAME_NONE, HOSTFRAME_SHARED, HOSTFRAME_OWN } kind;
	/* address range of the code, end excluded; 0, 0: any executable memory without a file */
	uint64_t start, end;
	/* HOSTFRAME_SHARED: address in the host after its prologue; the unwind rule of this address holds for the code
	 */
	uint64_t host;
	uint32_t ncallers;
	/* address ranges, ends excluded, of the functions that call the host (HOSTFRAME_SHARED) or the code
	 * (HOSTFRAME_OWN) */
	struct {
		uint64_t start, end;
	} caller[HOSTFRAME_CALLERS_MAX];
};

/* Unwinder of this code; walk_code.blob is the hostframe. For HOSTFRAME_SHARED, walk_code.tables must be the table for
 * the address `host`. Sets walk_frame.generated if it finds one of the known callers. */
extern const struct unwinder unwinder_host_frame;

/* Returns true if the address is in the code. memory: true if the address is in executable memory without a
 * file. Pure. */
static inline bool hostframe_holds(const struct hostframe *hostframe, uint64_t address, bool memory)
{
	if (hostframe->kind == HOSTFRAME_NONE)
		return false;
	return hostframe->end ? address >= hostframe->start && address < hostframe->end : memory;
}

#endif
