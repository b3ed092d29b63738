/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foldrights.h - drops privileges of pjfold before it reads input (confine.h).
 *
 * pjfold keeps the right to write its output, its cache of kernel symbols, and a temporary file for perf.data from a
 * pipe. With --unprivileged it drops all capabilities, too: code in files that only root may read then has no names.
 */
#ifndef PJ_FOLDRIGHTS_H
#define PJ_FOLDRIGHTS_H

#include "fold/foldopts.h"

/* Drops the privileges of the process. Call it once, before threads start and before input is read. paths: inputs,
 * ended by NULL. */
void foldrights_give_up(const struct request *request, char *const *paths);

#endif
