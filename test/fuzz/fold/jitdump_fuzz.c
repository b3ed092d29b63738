/* jitdumps: what is found holds the address and the time. */
/* covers: fold/jit/jitdump.c */
#include "fold/jit/jitdump.h"

#include "test/fuzz/fuzz.h"
#include "test/fuzz/mutate.h"

static const uint64_t places[] = { 0,      1,      0x1000,         0x1008,         0x1fff,    0x2000,
				   0x3000, 0x3010, 0x7f0000001000, UINT64_MAX - 1, UINT64_MAX };
static const uint64_t times[] = { 0, 1, 10, 20, 25, 30, 40, UINT64_MAX };

static void check(const struct jitdump *jitdump, uint64_t address, uint64_t time, size_t n)
{
	const struct jit_code *c = jitdump_find(jitdump, address, time);

	if (!c)
		return;
	MUST(address >= c->start && address - c->start < (c->size ? c->size : 1));
	MUST(time == 0 || c->from <= time);
	MUST(c->name.n < n && c->unwind.n < n && c->file.n < n);
	MUST(c->name.p[c->name.n] == 0);
}

int fuzz_one(const uint8_t *data, size_t n)
{
	const char *why = NULL;
	char path[32];
	int fd = fuzz_file(data, n, path);
	struct jitdump *j = jitdump_open(fd, &why);

	if (!j) {
		MUST(why);
		return 0;
	}
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		for (size_t k = 0; k < sizeof(times) / sizeof(*times); k++)
			check(j, places[i], times[k], n);
	MUST((jitdump_bad(j, &why) > 0) == (why != NULL));
	MUST(jitdump_first_bad(j) <= n && jitdump_count(j) <= n / 57);
	jitdump_close(j);
	return 0;
}

/* ---- libFuzzer only --------------------------------------------------------------------------------------------- */

static bool records_range(const uint8_t *data, size_t n, size_t *start, size_t *end)
{
	uint32_t header;

	memcpy(&header, data + 8, 4);
	*start = header;
	*end = n;
	return header >= 40 && header < n;
}

static size_t record_size(const uint8_t *record, size_t left)
{
	uint32_t size;

	if (left < 16)
		return 0;
	memcpy(&size, record + 4, 4);
	return size < 16 ? 0 : size;
}

static void record_set_size(uint8_t *record, size_t size)
{
	uint32_t n = (uint32_t)size;

	memcpy(record + 4, &n, 4);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t max, unsigned seed)
{
	static const struct mutate_format f = { records_range, record_size, record_set_size, NULL, 16 };

	return mutate(&f, data, n, max, seed);
}
