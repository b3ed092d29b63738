/* SPDX-License-Identifier: Apache-2.0 */
/*
 * installcheck.h - the part of `pjrecord --check` that verifies an installation: programs, user of the services,
 * recorder, names, spool, store.
 *
 * Prints one line for each fact (checkreport.h), with the remedy if it is not ok. It observes the running installation:
 * the recorder's lock and capabilities, the newest window as pjfold folds it, the windows that wait to be sent, and the
 * store's answer to pjfetch. It changes nothing in DIR.
 */
#ifndef PJ_INSTALLCHECK_H
#define PJ_INSTALLCHECK_H

#include "common/base.h"

/* Returns true if DIR is the directory of an installation: it has a folder recording/ or spool/. */
bool installcheck_is(const char *dir);

/* Returns true if a running recorder holds the recorder's lock of DIR. */
bool installcheck_records(const char *dir);

/* Prints the lines for DIR. Returns false if a line has the verdict "no". The store is the value of PJ_STORE in the
 * environment or, if that is not set, in /etc/pj/environment; otherwise DIR/store. */
bool installcheck(const char *dir);

#endif
