/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pyeval.h - finds the code of _PyEval_EvalFrameDefault: its symbol's range, and the parts that the compiler put
 * elsewhere.
 *
 * A part elsewhere has an FDE of its own and no symbol: Debian's 3.14 has 1,184 bytes at the symbol and 84,423 bytes
 * elsewhere. It is accepted if code of a known range jumps to the start of the FDE's range or into it, and code of the
 * FDE's range jumps back into the inside of a known range, not to the function's start. No other function does the
 * latter. A part that never jumps back is left out: it only ends the process (pyenv's 3.12 has one of 8 bytes). Jumps
 * are jmp and jcc with a displacement of 32 bits, at any byte: an accidental pair of both is improbable (2^-32 for each
 * byte and target).
 */
#ifndef PJ_PYEVAL_H
#define PJ_PYEVAL_H

#include "runtimes/cpython/cpython.h"

/* Sets cpython->eval and neval. Returns false if the symbol does not exist, or its code is not readable. Parts
 * elsewhere are left out if the unwind tables (.eh_frame_hdr) are not readable. */
bool pyeval_find(struct cpython *cpython);

#endif
