/* SPDX-License-Identifier: Apache-2.0 */
#include "common/hash.h"

#include <sys/auxv.h>

struct hash_secret hash_secret;

/* Computes the factors from AT_RANDOM, the 16 random bytes that the kernel gives to every program. Runs before main(),
 * so that no thread sees the factors change. The C library makes its own secrets from the same bytes; mixing the bytes
 * does not reveal these secrets. */
__attribute__((constructor)) static void hash_choose(void)
{
	struct hash_secret fixed = { 0x9E3779B97F4A7C15u, 0xA0761D6478BD642Fu, 0xE7037ED1A0B428DBu };
	const unsigned char *random = (const unsigned char *)getauxval(AT_RANDOM);
	uint64_t x = random ? hash_load(random) : 1, y = random ? hash_load(random + 8) : 2;

	hash_secret.a = hash_mix(x ^ fixed.a, y ^ fixed.b) | 1;
	hash_secret.b = hash_mix(x ^ fixed.b, y ^ fixed.c) | 1;
	hash_secret.c = hash_mix(x ^ fixed.c, y ^ fixed.a) | 1;
}
