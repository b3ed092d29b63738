/* SPDX-License-Identifier: Apache-2.0 */
#include "runtimes/cpython/pystring.h"

#include "runtimes/cpython/pylayout.h"

#define CHUNK 256u /* maximum number of bytes of a string per read */
#define KEYS_MAX 64u
#define STRING_MAX ((uint64_t)1 << 40)

/* Offsets in a PyDictObject and in its keys object. */
#define DICT_KEYS 32u
#define DICT_VALUES 40u
/* KEYS_LOG2_SIZE, KEYS_LOG2_BYTES and KEYS_KIND exist since 3.11; earlier versions have dk_size at offset
 * KEYS_LOG2_SIZE */
#define KEYS_LOG2_SIZE 8u
#define KEYS_LOG2_BYTES 9u
#define KEYS_KIND 10u
#define KEYS_UNICODE 1u
#define KEYS_ENTRIES 24u
#define KEYS_INDICES 32u
#define OLD_KEYS_ENTRIES 32u
#define OLD_KEYS_INDICES 40u

void pytext_bytes(struct pytext *text, const char *bytes, size_t n)
{
	if (text->cut || n > text->cap - text->n) {
		text->cut = true;
		return;
	}
	memcpy(text->to + text->n, bytes, n);
	text->n += n;
}

void pytext_point(struct pytext *text, uint32_t point)
{
	char bytes[4];

	if (point == 0 || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
		point = 0xfffd;
	if (point < 0x80) {
		bytes[0] = (char)point;
		pytext_bytes(text, bytes, 1);
	} else if (point < 0x800) {
		bytes[0] = (char)(0xc0 | point >> 6);
		bytes[1] = (char)(0x80 | (point & 63));
		pytext_bytes(text, bytes, 2);
	} else if (point < 0x10000) {
		bytes[0] = (char)(0xe0 | point >> 12);
		bytes[1] = (char)(0x80 | (point >> 6 & 63));
		bytes[2] = (char)(0x80 | (point & 63));
		pytext_bytes(text, bytes, 3);
	} else {
		bytes[0] = (char)(0xf0 | point >> 18);
		bytes[1] = (char)(0x80 | (point >> 12 & 63));
		bytes[2] = (char)(0x80 | (point >> 6 & 63));
		bytes[3] = (char)(0x80 | (point & 63));
		pytext_bytes(text, bytes, 4);
	}
}

void pytext_end(struct pytext *text)
{
	if (text->cut && text->cap >= 3) {
		if (text->n > text->cap - 3) {
			text->n = text->cap - 3;
			/* bytes 10xxxxxx continue a code point: an incomplete code point at the end is dropped */
			while (text->n && ((unsigned char)text->to[text->n] & 0xc0) == 0x80)
				text->n--;
		}
		memcpy(text->to + text->n, "...", 3);
		text->n += 3;
	}
	text->to[text->n] = '\0';
}

/* Characters of a str: address, number, and width in bytes. */
struct characters {
	uint64_t at, n;
	uint32_t width;
	bool ascii;
};

static bool find_characters(struct cpython *cpython, uint64_t address, struct characters *characters)
{
	uint64_t type, length, state;
	uint32_t kind;

	if (!memory_pointer(cpython->memory, address + PYOBJECT_TYPE, &type) || type != cpython->string_type ||
	    !memory_pointer(cpython->memory, address + PYSTRING_LENGTH, &length) || length >= STRING_MAX ||
	    !memory_u64(cpython->memory, address + PYSTRING_STATE, 4, &state))
		return false;
	/* Bits of the state: interned 2, kind 3, compact 1, ascii 1. Strings that are not compact exist up to 3.11;
	 * names are always compact. */
	kind = (uint32_t)state >> 2 & 7;
	if (!(state >> 5 & 1) || (kind != 1 && kind != 2 && kind != 4))
		return false;
	*characters = (struct characters){ .n = length, .width = kind, .ascii = state >> 6 & 1 };
	if (characters->ascii && kind != 1)
		return false;
	characters->at = address + (characters->ascii ? cpython->layout.string.ascii : cpython->layout.string.compact);
	return true;
}

static uint32_t character_at(const char *bytes, uint32_t width)
{
	uint32_t point = 0;

	memcpy(&point, bytes, width);
	return point;
}

bool pystring_append(struct cpython *cpython, uint64_t address, struct pytext *text)
{
	struct pytext before = *text;
	struct characters characters;

	if (!find_characters(cpython, address, &characters))
		return false;
	for (uint64_t done = 0; done < characters.n && !text->cut;) {
		char chunk[CHUNK];
		uint64_t left = characters.n - done, fit = CHUNK / characters.width, n = left < fit ? left : fit;

		if (!memory_read(cpython->memory, characters.at + done * characters.width, chunk,
				 (size_t)(n * characters.width))) {
			*text = before;
			return false;
		}
		for (uint64_t i = 0; i < n; i++) {
			uint32_t point = character_at(chunk + i * characters.width, characters.width);

			if (characters.ascii && point >= 0x80) {
				*text = before;
				return false;
			}
			pytext_point(text, point);
		}
		done += n;
	}
	return true;
}

bool pystring_is(struct cpython *cpython, uint64_t address, struct str name)
{
	struct characters characters;
	char bytes[32];

	return name.n <= sizeof(bytes) && find_characters(cpython, address, &characters) && characters.ascii &&
	       characters.n == name.n && memory_read(cpython->memory, characters.at, bytes, name.n) &&
	       memcmp(bytes, name.p, name.n) == 0;
}

/* Entries of a dict: address and number; size of an entry and offset of its key, in bytes. */
struct dict_entries {
	uint64_t at, n;
	uint32_t bytes, key;
};

static bool old_entries(struct memory *memory, uint64_t keys, struct dict_entries *entries)
{
	uint64_t size;

	if (!memory_pointer(memory, keys + KEYS_LOG2_SIZE, &size) || size < 8 || size > (uint64_t)1 << 40 ||
	    (size & (size - 1)) != 0 || !memory_pointer(memory, keys + OLD_KEYS_ENTRIES, &entries->n))
		return false;
	entries->at = keys + OLD_KEYS_INDICES +
		      size * (size <= 0xff       ? 1u :
			      size <= 0xffff     ? 2u :
			      size <= 0xffffffff ? 4u :
						   8u);
	entries->bytes = 24;
	entries->key = 8;
	return entries->n < size;
}

static bool new_entries(struct memory *memory, uint64_t keys, struct dict_entries *entries)
{
	unsigned char head[3];

	if (!memory_read(memory, keys + KEYS_LOG2_SIZE, head, sizeof(head)) || head[0] > 40 || head[1] > 43 ||
	    head[KEYS_KIND - KEYS_LOG2_SIZE] > KEYS_UNICODE ||
	    !memory_pointer(memory, keys + KEYS_ENTRIES, &entries->n))
		return false;
	entries->at = keys + KEYS_INDICES + ((uint64_t)1 << head[KEYS_LOG2_BYTES - KEYS_LOG2_SIZE]);
	entries->bytes = head[KEYS_KIND - KEYS_LOG2_SIZE] == KEYS_UNICODE ? 16 : 24;
	entries->key = entries->bytes - 16;
	return entries->n <= (uint64_t)1 << head[0];
}

bool pydict_get(struct cpython *cpython, uint64_t address, struct str name, uint64_t *value)
{
	struct memory *memory = cpython->memory;
	struct dict_entries entries = { 0 };
	uint64_t type, keys, values;

	if (!memory_pointer(memory, address + PYOBJECT_TYPE, &type) || type != cpython->dict_type ||
	    !memory_pointer(memory, address + DICT_KEYS, &keys) ||
	    !memory_pointer(memory, address + DICT_VALUES, &values) || values != 0)
		return false;
	if (!(cpython->layout.version < 11 ? old_entries : new_entries)(memory, keys, &entries))
		return false;
	for (uint64_t i = 0; i < entries.n && i < KEYS_MAX; i++) {
		uint64_t entry[2]; /* key and value of the entry */

		if (!memory_read(memory, entries.at + i * entries.bytes + entries.key, entry, sizeof(entry)))
			return false;
		if (entry[1] && pystring_is(cpython, entry[0], name)) {
			*value = entry[1];
			return true;
		}
	}
	return false;
}
