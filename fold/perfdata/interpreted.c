/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/perfdata/interpreted.h"

#include "common/formats/pjsection.h"

#include <stdlib.h>

const char *interpreted_take(struct interpreted *interpreted, struct arena *arena, struct str body)
{
	static const char cut[] = "the list of interpreted methods is truncated";
	struct pj_methods head;
	struct pj_method row;

	if (body.n < sizeof(head))
		return cut;
	memcpy(&head, body.p, sizeof(head));
	interpreted->left_out += head.left_out;
	for (body = str_from(body, sizeof(head)); body.n; body = str_from(body, row.size)) {
		if (body.n < sizeof(row))
			return cut;
		memcpy(&row, body.p, sizeof(row));
		body = str_from(body, sizeof(row));
		if (row.size > body.n)
			return cut;
		interpreted->method = mem_more(interpreted->method, sizeof(*interpreted->method), interpreted->n);
		interpreted->method[interpreted->n++] =
			(struct interpreted_method){ row.method, head.pid,
						     arena_copy(arena, str_head(body, row.size)) };
	}
	return NULL;
}

static int interpreted_place_cmp(const struct interpreted_method *a, uint32_t pid, uint64_t method)
{
	if (a->pid != pid)
		return a->pid < pid ? -1 : 1;
	return (a->method > method) - (a->method < method);
}

static int method_cmp(const void *left, const void *right)
{
	const struct interpreted_method *method = left, *b = right;
	int c = interpreted_place_cmp(method, b->pid, b->method);

	return c ? c : str_cmp(method->name, b->name);
}

void interpreted_sort(struct interpreted *interpreted)
{
	size_t retained = 0;

	if (interpreted->n)
		qsort(interpreted->method, interpreted->n, sizeof(*interpreted->method), method_cmp);
	for (size_t i = 0; i < interpreted->n; i++) {
		struct interpreted_method method = interpreted->method[i],
					  *last = retained ? &interpreted->method[retained - 1] : NULL;

		if (!last || interpreted_place_cmp(last, method.pid, method.method) != 0)
			interpreted->method[retained++] = method;
		else if (!str_eq(last->name, method.name))
			last->name.n = 0;
	}
	interpreted->n = retained;
}

const struct interpreted_method *interpreted_find(const struct interpreted *interpreted, uint32_t pid, uint64_t method)
{
	size_t low = 0, high = interpreted->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (interpreted_place_cmp(&interpreted->method[mid], pid, method) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low < interpreted->n && interpreted_place_cmp(&interpreted->method[low], pid, method) == 0 ?
		       &interpreted->method[low] :
		       NULL;
}

void interpreted_free(struct interpreted *interpreted)
{
	free(interpreted->method);
	*interpreted = (struct interpreted){ 0 };
}
