/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash.h - a number for bytes: where to look in a table, never proof of equality.
 *
 * One 128-bit multiplication mixes 16 bytes. The same value on every little-endian machine and in every run, so that
 * nothing depends on it that anybody sees. Not for keys that an attacker would profit from: colliding names make a
 * table slow, not wrong.
 */
#ifndef PJ_HASH_H
#define PJ_HASH_H

#include "base.h"

#include <string.h>

static inline uint64_t hash_load(const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return v;
}

static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
	__uint128_t m = (__uint128_t)a * b;

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static inline uint64_t hash_bytes(const void *data, size_t n)
{
	const unsigned char *p = data;
	uint64_t h = 0x9E3779B97F4A7C15u ^ n, a = 0, b = 0;

	for (; n > 16; n -= 16, p += 16)
		h = hash_mix(hash_load(p) ^ 0xA0761D6478BD642Fu, hash_load(p + 8) ^ h);
	if (n >= 8) {
		a = hash_load(p);
		b = hash_load(p + n - 8); /* may overlap: the length is mixed in */
	} else {
		for (size_t i = 0; i < n; i++)
			a = a << 8 | p[i];
	}
	return hash_mix(h ^ a, b ^ 0xE7037ED1A0B428DBu);
}

#endif
