/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8deopt.h - the functions that are inlined at an instruction of optimized code, by its deoptimization data: of Maglev
 * and Turbofan, in V8 12.4, 13.6 and 14.6.
 *
 * Code can be left at its deoptimization points: at each call after which it may be invalid, and at each check that
 * jumps to an exit behind the code. For each point V8 stores the frames that the interpreter would have, from the
 * outermost function to the innermost one, with the offset of the bytecode that each of them runs. A return address is
 * that of a point, by the table of safepoints behind the code. Another instruction lies between two points. The
 * functions that both have, by the same calls, contain it; a function that only one of them has may not run.
 *
 * Each version has its own list of operations of these tables; other versions have none, so that no inlined function is
 * shown. The frames must be as many as the table states, and the outermost one that of the code's function.
 *
 * References: V8's src/deoptimizer/translation-opcode.h, src/objects/deoptimization-data.h,
 * src/codegen/safepoint-table.h and maglev-safepoint-table.h.
 */
#ifndef PJ_V8DEOPT_H
#define PJ_V8DEOPT_H

#include "runtimes/v8/v8code.h"

/* Returns true if this version's tables are known. */
bool v8deopt_is_known(const struct v8 *v8);

/* Sets inlined[0..n) to the functions that are inlined at pc, the innermost first. exact: pc is no return address.
 * Returns n; 0 also if the tables are contradictory or too long. Functions further in, which only one of the two points
 * has, are left out. */
uint32_t v8deopt_inlined(struct v8 *v8, const struct v8_code *code, uint64_t pc, bool exact,
			 uint64_t inlined[V8CODE_INLINED]);

#endif
