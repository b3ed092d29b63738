/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info.h - pjfold --info: what a perf.data file is, without folding it.
 */
#ifndef PJ_INFO_H
#define PJ_INFO_H

#include "fold/foldopts.h"

/* Writes what the files say of themselves; returns the exit status. No path: standard input. */
int info(const struct request *request, char **paths);

#endif
