/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info.h - report of pjfold --info: describes perf.data files instead of folding them.
 */
#ifndef PJ_INFO_H
#define PJ_INFO_H

#include "fold/foldopts.h"

/* Writes a description of each file in `paths` (ended by NULL; empty: standard input) to the file request->out. Returns
 * the exit status: PJ_OK, or PJ_FAILED if a file is damaged or unfinished. Dies if a file is not perf.data. */
int info(const struct request *request, char **paths);

#endif
