/* SPDX-License-Identifier: Apache-2.0 */
#include "common/formats/jmapfile.h"

#include "common/files/fullio.h"

#include <zlib.h>

void jmap_number(struct text *text, uint64_t value)
{
	for (; value > 127; value >>= 7)
		text_char(text, (char)(value | 128));
	text_char(text, (char)value);
}

void jmap_signed(struct text *text, int64_t value)
{
	jmap_number(text, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

static void jmapfile_put_u32(struct text *text, uint32_t value)
{
	for (unsigned i = 0; i < 4; i++)
		text_char(text, (char)(value >> 8 * i));
}

static uint32_t get_u32(const char *p)
{
	uint32_t value = 0;

	for (unsigned i = 4; i-- > 0;)
		value = value << 8 | (unsigned char)p[i];
	return value;
}

static uint32_t jmapfile_sum_of(struct str body)
{
	return (uint32_t)crc32_z(0, (const unsigned char *)body.p, body.n);
}

void jmap_frame(struct text *file, struct str body)
{
	jmapfile_put_u32(file, (uint32_t)body.n);
	jmapfile_put_u32(file, jmapfile_sum_of(body));
	text_str(file, body);
}

bool jmap_get(struct str *string, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; shift < 64 && string->n; shift += 7) {
		unsigned char byte = (unsigned char)string->p[0];

		if (shift == 63 && byte > 1)
			return false;
		*string = str_from(*string, 1);
		*value |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			return true;
	}
	return false;
}

bool jmap_get_signed(struct str *string, int64_t *value)
{
	uint64_t raw;

	if (!jmap_get(string, &raw))
		return false;
	*value = (int64_t)(raw >> 1 ^ (~(raw & 1) + 1));
	return true;
}

int jmap_next(struct str *string, struct str *body)
{
	uint32_t n;

	if (string->n == 0)
		return 0;
	if (string->n < JMAP_HEAD_BYTES)
		return -1;
	n = get_u32(string->p);
	if (n == 0 || n > JMAP_MAX_BODY || n > string->n - JMAP_HEAD_BYTES)
		return -1;
	*body = str_head(str_from(*string, JMAP_HEAD_BYTES), n);
	if (jmapfile_sum_of(*body) != get_u32(string->p + 4))
		return -1;
	*string = str_from(*string, JMAP_HEAD_BYTES + n);
	return 1;
}

static bool body_is_sound(int fd, uint64_t at, uint32_t n, uint32_t sum)
{
	unsigned char part[16384];
	unsigned long seen = 0;

	for (uint32_t done = 0; done < n;) {
		size_t want = n - done < sizeof(part) ? n - done : sizeof(part);

		if (fullio_pread(fd, part, want, at + done) != want)
			return false;
		seen = crc32_z(seen, part, want);
		done += (uint32_t)want;
	}
	return seen == sum;
}

uint64_t jmap_complete(int fd)
{
	char head[JMAP_HEAD_BYTES];
	uint64_t at = JMAP_MAGIC_BYTES;

	if (fullio_pread(fd, head, sizeof(head), 0) != sizeof(head) || memcmp(head, JMAP_MAGIC, JMAP_MAGIC_BYTES) != 0)
		return 0;
	while (fullio_pread(fd, head, sizeof(head), at) == sizeof(head)) {
		uint32_t n = get_u32(head);

		if (n == 0 || n > JMAP_MAX_BODY || !body_is_sound(fd, at + JMAP_HEAD_BYTES, n, get_u32(head + 4)))
			break;
		at += JMAP_HEAD_BYTES + n;
	}
	return at;
}
