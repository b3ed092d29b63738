/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foldrights.h - the rights that pjfold gives up before it reads (confine.h), and those that it needs.
 *
 * It writes its output, its cache of kernel symbols, and a temporary file for perf.data that comes through a pipe.
 * --unprivileged also gives up all capabilities: files that only root may read then have no names.
 */
#ifndef PJ_FOLDRIGHTS_H
#define PJ_FOLDRIGHTS_H

#include "fold/foldopts.h"

/* To be called once, before threads start; paths: the inputs, up to NULL. */
void foldrights_give_up(const struct request *request, char *const *paths);

#endif
