/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/format/sha256.h"

static const uint32_t constant[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t sha256_rotate(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

static void fill_schedule(uint32_t w[64], const unsigned char block[64])
{
	for (unsigned i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (unsigned i = 16; i < 64; i++) {
		uint32_t a = sha256_rotate(w[i - 15], 7) ^ sha256_rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
		uint32_t b = sha256_rotate(w[i - 2], 17) ^ sha256_rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
		w[i] = w[i - 16] + a + w[i - 7] + b;
	}
}

static void sha256_add_block(uint32_t hash[8], const unsigned char block[64])
{
	uint32_t w[64], v[8];

	fill_schedule(w, block);
	memcpy(v, hash, sizeof(v));
	for (unsigned i = 0; i < 64; i++) {
		uint32_t s1 = sha256_rotate(v[4], 6) ^ sha256_rotate(v[4], 11) ^ sha256_rotate(v[4], 25);
		uint32_t s0 = sha256_rotate(v[0], 2) ^ sha256_rotate(v[0], 13) ^ sha256_rotate(v[0], 22);
		uint32_t t1 = v[7] + s1 + ((v[4] & v[5]) ^ (~v[4] & v[6])) + constant[i] + w[i];
		uint32_t t2 = s0 + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
		memmove(v + 1, v, 7 * sizeof(*v));
		v[4] += t1;
		v[0] = t1 + t2;
	}
	for (unsigned i = 0; i < 8; i++)
		hash[i] += v[i];
}

/* Hashes the last blocks: the rest of the text, a 1 bit, zeros, and the length of the complete text in bits. length:
 * length of the complete text in bytes. */
static void add_end(uint32_t hash[8], struct str rest, uint64_t length)
{
	unsigned char end[128] = { 0 };
	size_t n = rest.n < 56 ? 64 : 128;

	if (rest.n)
		memcpy(end, rest.p, rest.n);
	end[rest.n] = 0x80;
	for (unsigned i = 0; i < 8; i++)
		end[n - 1 - i] = (unsigned char)(length * 8 >> (8 * i));
	for (size_t at = 0; at < n; at += 64)
		sha256_add_block(hash, end + at);
}

void sha256(struct str string, unsigned char digest[32])
{
	uint32_t hash[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
			     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
	uint64_t length = string.n;

	for (; string.n >= 64; string = str_from(string, 64))
		sha256_add_block(hash, (const unsigned char *)string.p);
	add_end(hash, string, length);
	for (unsigned i = 0; i < 32; i++)
		digest[i] = (unsigned char)(hash[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_csp(struct text *text, struct str string)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	/* Base64 encodes 3 bytes as 4 letters: a zero byte pads the 32 bytes of the digest to 33. */
	unsigned char digest[33] = { 0 };

	sha256(string, digest);
	text_add(text, "sha256-");
	for (unsigned i = 0; i < 33; i += 3) {
		uint32_t bits = (uint32_t)digest[i] << 16 | (uint32_t)digest[i + 1] << 8 | digest[i + 2];
		for (unsigned index = 0; index < 4; index++)
			text_char(text, letters[bits >> (18 - 6 * index) & 63]);
	}
	text->p[text->n - 1] = '=';
}
