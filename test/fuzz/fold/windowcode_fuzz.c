/* windowcode: lists of JVM code in a window, any bytes: lookups at every start, end and time that they name, and
 * inlined calls. Input: bodies of items, each behind two bytes of size, whose highest bit selects names. */
/* covers: fold/jvm/windowcode.c fold/jvm/inlinetree.c */
#include "fold/jvm/windowcode.h"

#include "common/formats/pjsection.h"
#include "common/text.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/mutate.h"

#include <string.h>

enum { NAMES = 0x8000 };

/* Looks up code at the start, in the middle and at the end of an entry. */
static void look_up(struct windowcode *windowcode, uint32_t pid, const struct pj_code *row)
{
	const uint64_t address[] = { row->start, row->start + row->size / 2, row->start + row->size - 1,
				     row->start + row->size };
	const uint64_t time[] = { row->from, row->until, row->from - 1, row->until + 1 };

	for (size_t i = 0; i < 4; i++)
		for (size_t k = 0; k < 4; k++) {
			const struct jit_code *code = windowcode_find(windowcode, pid, address[i], time[k]);

			if (!code)
				continue;
			MUST(address[i] - code->start < code->size && code->from <= time[k] && code->name.n);
		}
}

static void look_up_all(struct windowcode *windowcode, struct str body)
{
	struct pj_codes head;
	struct pj_code row;

	if (body.n < sizeof(head))
		return;
	memcpy(&head, body.p, sizeof(head));
	for (body = str_from(body, sizeof(head)); body.n >= sizeof(row);) {
		memcpy(&row, body.p, sizeof(row));
		look_up(windowcode, head.pid, &row);
		if (row.nnames > body.n || row.bytes > body.n ||
		    sizeof(row) + 4 * (size_t)row.nnames + row.bytes > body.n)
			return;
		body = str_from(body, sizeof(row) + 4 * (size_t)row.nnames + row.bytes);
	}
}

int fuzz_one(const uint8_t *data, size_t n)
{
	struct windowcode *windowcode = windowcode_new();
	struct str rest = { (const char *)data, n };

	while (rest.n > 2) {
		size_t size = (size_t)(uint8_t)rest.p[0] | (size_t)(uint8_t)rest.p[1] << 8;
		struct str body;
		const char *why;

		rest = str_from(rest, 2);
		body = str_head(rest, (size & ~(size_t)NAMES) < rest.n ? size & ~(size_t)NAMES : rest.n);
		rest = str_from(rest, body.n);
		why = size & NAMES ? windowcode_take_names(windowcode, body) : windowcode_take(windowcode, body);
		MUST(!why || *why);
		if (!(size & NAMES))
			look_up_all(windowcode, body);
	}
	MUST(windowcode_count(windowcode) <= n / sizeof(struct pj_code));
	windowcode_free(windowcode);
	return 0;
}

/* ---- libFuzzer only: items -------------------------------------------------------------------------------------- */

static bool items_range(const uint8_t *data, size_t n, size_t *start, size_t *end)
{
	(void)data;
	*start = 0;
	*end = n;
	return n > 2;
}

static size_t item_size(const uint8_t *item, size_t left)
{
	size_t size = left < 2 ? 0 : (size_t)item[0] | (size_t)(item[1] & 0x7f) << 8;

	return left < 2 || size > left - 2 ? 0 : 2 + size;
}

static void item_set_size(uint8_t *item, size_t size)
{
	item[0] = (uint8_t)(size - 2);
	item[1] = (uint8_t)((item[1] & 0x80) | ((size - 2) >> 8 & 0x7f));
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t max, unsigned seed)
{
	static const struct mutate_format f = { items_range, item_size, item_set_size, NULL, 2 };

	return mutate(&f, data, n, max, seed);
}
