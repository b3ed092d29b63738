/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwindstats.h - describes in words how many stacks the recorder unwound completely, and why others are broken. The
 * recorder and readers of windows print the same text.
 */
#ifndef PJ_UNWINDSTATS_H
#define PJ_UNWINDSTATS_H

#include "common/formats/pjsection.h"
#include "common/text.h"

/* Adds each member of *more to the same member of *sum. The sum of interpreters_private has no meaning except that it
 * is 0 or not. */
void unwindstats_add(struct pj_unwinding *sum, const struct pj_unwinding *more);

/* Appends part / all in percent, such as "0.3 %". "100.0 %" and "0.0 %" are exact: other shares are at most "99.9 %",
 * or "under 0.1 %". */
void unwindstats_share(struct text *text, uint64_t part, uint64_t all);

/* Appends a summary such as "99.8 % of 5,012 stacks are complete, 0.1 % are longer than the copy, 0.1 % are broken (0.1
 * % in exec or exit: no stack)". */
void unwindstats_text(struct text *text, const struct pj_unwinding *unwinding);

#endif
