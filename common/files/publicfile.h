/* SPDX-License-Identifier: Apache-2.0 */
/*
 * publicfile.h - checks whether each user may read a file.
 *
 * pjrecord may read all files of the host; pjsend, which folds the windows, runs as a user without rights. So a file
 * that only root may read must be in the symbol store, though it stays where it is.
 */
#ifndef PJ_PUBLICFILE_H
#define PJ_PUBLICFILE_H

#include "common/str.h"

/* Returns true if the mode of the file at an absolute path lets each user read it, and the modes of its folders let
 * each user reach it. Returns false on errors. */
bool publicfile_is(struct str path);

#endif
