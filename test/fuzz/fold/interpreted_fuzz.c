/* interpreted: items of a recording about interpreted methods, classes and functions, any bytes: names are found by
 * process and address, an address with two different names has none, and a line has a file and a name. Input:
 * bodies of items, each behind two bytes of size. */
/* covers: fold/perfdata/interpreted.c */
#include "fold/perfdata/interpreted.h"

#include "test/fuzz/fuzz.h"
#include "test/fuzz/mutate.h"

static void check(const struct interpreted *interpreted, size_t bytes)
{
	MUST(interpreted->n <= bytes);
	for (size_t i = 0; i < interpreted->n; i++) {
		const struct interpreted_method *m = &interpreted->method[i], *last = m - 1;

		MUST(m->name.n + m->file.n <= bytes && !m->file.n == !m->line && (m->name.n || !m->line));
		MUST(interpreted_find(interpreted, m->pid, m->method) == m);
		MUST(i == 0 || last->pid < m->pid || (last->pid == m->pid && last->method < m->method));
	}
	MUST(interpreted->n == 0 ||
	     !interpreted_find(interpreted, interpreted->method[interpreted->n - 1].pid,
			       interpreted->method[interpreted->n - 1].method + 1) ||
	     interpreted->method[interpreted->n - 1].method == UINT64_MAX);
}

int fuzz_one(const uint8_t *data, size_t n)
{
	struct interpreted s = { 0 };
	struct arena a = { 0 };
	struct str rest = { (const char *)data, n };

	while (rest.n > 2) {
		size_t size = (size_t)(uint8_t)rest.p[0] | (size_t)(uint8_t)rest.p[1] << 8;
		struct str body;
		const char *why;

		rest = str_from(rest, 2);
		body = str_head(rest, size < rest.n ? size : rest.n);
		rest = str_from(rest, body.n);
		why = size % 2      ? interpreted_take_functions(&s, &a, body) :
		      size % 4 == 2 ? interpreted_take_classes(&s, &a, body) :
				      interpreted_take(&s, &a, body);
		MUST(!why || *why);
	}
	interpreted_sort(&s);
	check(&s, n);
	interpreted_free(&s);
	arena_free(&a);
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
	size_t size = left < 2 ? 0 : (size_t)item[0] | (size_t)item[1] << 8;

	return left < 2 || size > left - 2 ? 0 : 2 + size;
}

static void item_set_size(uint8_t *item, size_t size)
{
	item[0] = (uint8_t)(size - 2);
	item[1] = (uint8_t)((size - 2) >> 8);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n, size_t max, unsigned seed)
{
	static const struct mutate_format f = { items_range, item_size, item_set_size, NULL, 2 };

	return mutate(&f, data, n, max, seed);
}
