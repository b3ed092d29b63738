/* SPDX-License-Identifier: Apache-2.0 */
/* sha256.h - SHA-256 of FIPS 180-4, for what Content-Security-Policy calls a hash. */
#ifndef PJ_SHA256_H
#define PJ_SHA256_H

#include "common/text.h"

void sha256(struct str string, unsigned char digest[32]);

/* "sha256-" and base64, as a policy has it. */
void sha256_csp(struct text *text, struct str string);

#endif
