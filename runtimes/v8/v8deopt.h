/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8deopt.h - the functions that are inlined at a call of optimized code, by its deoptimization data: of Maglev and
 * Turbofan, in V8 12.4, 13.6 and 14.6.
 *
 * Code that became invalid during a call is left at the return address, a deoptimization point. For each point V8
 * stores the frames that the interpreter would have, from the outermost function to the innermost one. The table of
 * safepoints behind the code leads from the return address to the point.
 *
 * Instructions between points have no such record. That the point before and the point behind have a function in common
 * does not prove that it contains them: a peeled loop has each call twice, with the code of the loop between the
 * copies, and either copy may lack checks that the other one has.
 *
 * Each version has its own list of operations of these tables. The frames must be as many as the table states, and the
 * outermost one that of the code's function.
 *
 * References: V8's src/deoptimizer/translation-opcode.h, src/objects/deoptimization-data.h,
 * src/codegen/safepoint-table.h and maglev-safepoint-table.h.
 */
#ifndef PJ_V8DEOPT_H
#define PJ_V8DEOPT_H

#include "runtimes/v8/v8code.h"

/* Returns true if this version's tables are known. */
bool v8deopt_is_known(const struct v8 *v8);

/* Sets inlined[0..n) to the functions that are inlined at the call that returns to pc, the innermost first. Returns n;
 * 0 also if the call is no point, and if the tables are contradictory or too long. */
uint32_t v8deopt_inlined(struct v8 *v8, const struct v8_code *code, uint64_t pc, uint64_t inlined[V8CODE_INLINED]);

#endif
