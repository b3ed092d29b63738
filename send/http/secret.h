/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret.h - reads the secret of a store (USER:PASSWORD or a token) and checks that it is sent only where it stays
 * secret.
 *
 * The source is a file, which is refused if other users can read it, or PJ_STORE_AUTH. That variable is removed from
 * the environment at the start: programs started later (pjfold, which parses hostile input) do not inherit it, and
 * /proc/PID/environ does not show it.
 */
#ifndef PJ_SECRET_H
#define PJ_SECRET_H

#include "common/text.h"

/* Moves the value of PJ_STORE_AUTH from the environment into memory of this process. Call it before any thread
 * starts. */
void secret_take_environment(void);

/* Appends the secret to *secret: the content of `file`; if file is NULL, the value of PJ_STORE_AUTH, or nothing if that
 * is not set. Returns false on failure, with the reason in *why. */
bool secret_read(const char *file, struct text *secret, struct text *why);

/* Returns NULL if a secret may be sent to a URL's host, else the reason why not. Over plain http it may be sent only to
 * this machine's loopback interface, as anyone on the way can read it. insecure: the user has allowed plain http. */
const char *secret_forbidden(const char *scheme, const char *host, bool insecure);

#endif
