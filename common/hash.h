/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash.h - hashes of bytes and numbers for table lookups. Equal hashes do not prove equal bytes.
 *
 * One 128-bit multiplication mixes 16 bytes. Names and numbers in hostile files could be chosen so that all have one
 * hash, which would make lookups linear. So the factors of the multiplication are secret and differ from run to run,
 * and no output may depend on a hash. Only hash_sum is the same in every run: a checksum for files.
 */
#ifndef PJ_HASH_H
#define PJ_HASH_H

#include "common/base.h"

#include <string.h>

/* Factors of the hash: three odd random numbers, chosen before main() (hash.c). */
struct hash_secret {
	uint64_t a, b, c;
};
extern struct hash_secret hash_secret;

static inline uint64_t hash_load(const unsigned char *p)
{
	uint64_t value;

	memcpy(&value, p, 8);
	return value;
}

static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
	__uint128_t m = (__uint128_t)a * b;

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static inline uint64_t hash_with(struct hash_secret secret, const void *data, size_t n)
{
	const unsigned char *p = data;
	uint64_t h = secret.a ^ n, a = 0, b = 0;

	for (; n > 16; n -= 16, p += 16)
		h = hash_mix(hash_load(p) ^ secret.b, hash_load(p + 8) ^ h);
	if (n >= 8) {
		a = hash_load(p);
		/* the last 8 bytes; they overlap the first 8 if n < 16, but data of another length get another hash, as
		 * h contains n */
		b = hash_load(p + n - 8);
	} else {
		for (size_t i = 0; i < n; i++)
			/* NOLINTNEXTLINE(clang-analyzer-core.*): the caller initializes n bytes */
			a = a << 8 | p[i];
	}
	return hash_mix(h ^ a, b ^ secret.c);
}

static inline uint64_t hash_bytes(const void *data, size_t n)
{
	return hash_with(hash_secret, data, n);
}

/* Returns the hash of two numbers. Mixes twice, because one product is not enough: all keys with one y share the factor
 * y ^ hash_secret.b, and if that ends in zero bits, the low bits of the product hardly vary with x. */
static inline uint64_t hash_pair(uint64_t x, uint64_t y)
{
	return hash_mix(hash_mix(x ^ hash_secret.a, y ^ hash_secret.b) ^ hash_secret.c, UINT64_C(0x9E3779B97F4A7C15));
}

static inline uint64_t hash_number(uint64_t x)
{
	return hash_mix(x ^ hash_secret.a, hash_secret.b);
}

static inline uint64_t hash_sum(const void *data, size_t n)
{
	return hash_with((struct hash_secret){ 0x9E3779B97F4A7C15u, 0xA0761D6478BD642Fu, 0xE7037ED1A0B428DBu }, data,
			 n);
}

#endif
