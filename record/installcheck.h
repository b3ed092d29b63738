/* SPDX-License-Identifier: Apache-2.0 */
/*
 * installcheck.h - the part of `pjrecord --check` that verifies an installation: programs, user of the services,
 * recorder, names, spool, store.
 *
 * It prints one line for each fact (checkreport.h) and the remedy of each that is not ok. It observes what runs: the
 * recorder's lock and capabilities, the newest window as pjfold folds it, the windows that wait, and an answer of the
 * store to pjfetch. It changes nothing in DIR.
 */
#ifndef PJ_INSTALLCHECK_H
#define PJ_INSTALLCHECK_H

#include "common/base.h"

/* Returns true if DIR is the directory of an installation: it has out/, recording/ or spool/. */
bool installcheck_is(const char *dir);

/* Returns true if a recorder runs on DIR. */
bool installcheck_records(const char *dir);

/* Prints the lines for DIR. Returns false if one of them is a "no". The store is that of PJ_STORE, else that of
 * /etc/pj/environment, else DIR/store. */
bool installcheck(const char *dir);

#endif
