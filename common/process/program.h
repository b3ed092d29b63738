/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h - finds the executable of another tool of pj, for a tool that runs it.
 */
#ifndef PJ_PROGRAM_H
#define PJ_PROGRAM_H

/* Returns the path of another tool of pj: in the directory of this executable, else in PATH. So "./pjfold" of a build
 * finds the tools of the same build. Returns NULL if there is none; the caller frees the result. */
char *program_find(const char *name);

#endif
