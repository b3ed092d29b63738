/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret.h - the secret of a store (USER:PASSWORD or a token): its source, a file or the environment, and the check
 * that it is sent only where it stays secret.
 *
 * A file that other users can read is refused. PJ_STORE_AUTH is moved out of the environment at the start, so that
 * programs started later (pjfold, which parses hostile input) do not inherit it and /proc/PID/environ does not show it.
 */
#ifndef PJ_SECRET_H
#define PJ_SECRET_H

#include "common/text.h"

/* Moves PJ_STORE_AUTH out of the environment into memory of this process. Call it before any thread starts. */
void secret_take_environment(void);

/* Appends the secret to text: the content of `file`, or the value of PJ_STORE_AUTH if file is NULL; nothing if that is
 * not set. Returns false, with the reason, on failure. */
bool secret_read(const char *file, struct text *secret, struct text *why);

/* Returns the reason for which a secret may not be sent to a URL's host; NULL if it may. Over plain http anyone on the
 * way can read it, unless host is this machine's loopback interface. `insecure`: the user has allowed that. */
const char *secret_forbidden(const char *scheme, const char *host, bool insecure);

#endif
