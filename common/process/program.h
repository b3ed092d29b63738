/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h - finds another tool of pj, for a tool that runs it.
 */
#ifndef PJ_PROGRAM_H
#define PJ_PROGRAM_H

/* Returns the path of another tool of pj: the one in the directory of this executable, else the one in PATH. Thus
 * "./pjfold" of a build finds its neighbour. Returns NULL if there is none; the caller frees the result. */
char *program_find(const char *name);

#endif
