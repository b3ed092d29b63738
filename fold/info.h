/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info.h - pjfold --info: description of a perf.data file, without folded output.
 */
#ifndef PJ_INFO_H
#define PJ_INFO_H

#include "fold/foldopts.h"

/* Writes the description of each file to the output of `request`. Without a path it reads standard input. Returns the
 * exit status: PJ_FAILED if a file is damaged or unfinished. Dies if a file is not perf.data. */
int info(const struct request *request, char **paths);

#endif
