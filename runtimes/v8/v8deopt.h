/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8deopt.h - finds the functions that are inlined at a call in optimized code, by the deoptimization data of the code.
 * Supports code of Maglev and Turbofan, in V8 12.4, 13.6 and 14.6.
 *
 * If code becomes invalid during a call, V8 leaves the code when the call returns: the return address is a
 * deoptimization point. For each point V8 stores the frames that the interpreter would have, from the outermost
 * function to the innermost one. The table of safepoints after the code maps the return address to the point.
 *
 * Instructions between two points have no such data. A function that both points have in common need not contain the
 * instructions between them:
 * a peeled loop has each call twice, with the code of the loop between the copies, and either copy may lack checks that
 * the other one has.
 *
 * Each V8 version has its own list of operations of these tables. A point is accepted if it has as many frames as the
 * table states and its outermost function is the function of the code.
 *
 * References: V8's src/deoptimizer/translation-opcode.h, src/objects/deoptimization-data.h,
 * src/codegen/safepoint-table.h and maglev-safepoint-table.h.
 */
#ifndef PJ_V8DEOPT_H
#define PJ_V8DEOPT_H

#include "runtimes/v8/v8code.h"

/* Returns true if the tables of this V8 version are supported. Pure. */
bool v8deopt_is_known(const struct v8 *v8);

/* Sets inlined[0..n) to the functions that are inlined at the call that returns to pc, innermost first. Returns n.
 * Returns 0 also if pc is not a deoptimization point, and if the tables are contradictory or too long. */
uint32_t v8deopt_inlined(struct v8 *v8, const struct v8_code *code, uint64_t pc, uint64_t inlined[V8CODE_INLINED]);

#endif
