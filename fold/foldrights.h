/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foldrights.h - the privileges that pjfold drops before it reads input (confine.h), and those that it keeps.
 *
 * pjfold keeps the right to write its output, its cache of kernel symbols, and a temporary file for perf.data from a
 * pipe. With --unprivileged it drops all capabilities, too: files that only root may read then give no names.
 */
#ifndef PJ_FOLDRIGHTS_H
#define PJ_FOLDRIGHTS_H

#include "fold/foldopts.h"

/* Drops the privileges. The caller calls it once, before it starts threads and reads input. `paths` lists the inputs
 * and ends with NULL. */
void foldrights_give_up(const struct request *request, char *const *paths);

#endif
