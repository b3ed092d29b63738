/* SPDX-License-Identifier: Apache-2.0 */
/* sha256.h - SHA-256 (FIPS 180-4), for the hash sources of a Content-Security-Policy. A policy with the hash of the
 * viewer permits only this script. */
#ifndef PJ_SHA256_H
#define PJ_SHA256_H

#include "common/text.h"

/* Writes the SHA-256 digest of string to digest. Allocates no memory and cannot fail. */
void sha256(struct str string, unsigned char digest[32]);

/* Appends "sha256-" and the digest of `string` in base64 (44 letters, the last one '='): a hash source for a policy,
 * without its single quotes. */
void sha256_csp(struct text *text, struct str string);

#endif
