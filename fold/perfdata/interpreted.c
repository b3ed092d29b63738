/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/perfdata/interpreted.h"

#include "common/formats/pjsection.h"

#include <stdlib.h>

const char *interpreted_take(struct interpreted *s, struct arena *a, struct str body)
{
	static const char cut[] = "what pjrecord says of interpreted methods is cut";
	struct pj_methods head;
	struct pj_method row;

	if (body.n < sizeof(head))
		return cut;
	memcpy(&head, body.p, sizeof(head));
	s->left_out += head.left_out;
	for (body = str_from(body, sizeof(head)); body.n; body = str_from(body, row.size)) {
		if (body.n < sizeof(row))
			return cut;
		memcpy(&row, body.p, sizeof(row));
		body = str_from(body, sizeof(row));
		if (row.size > body.n)
			return cut;
		s->method = mem_more(s->method, sizeof(*s->method), s->n);
		s->method[s->n++] =
			(struct interpreted_method){ row.method, head.pid, arena_copy(a, str_head(body, row.size)) };
	}
	return NULL;
}

static int interpreted_place_cmp(const struct interpreted_method *a, uint32_t pid, uint64_t method)
{
	if (a->pid != pid)
		return a->pid < pid ? -1 : 1;
	return (a->method > method) - (a->method < method);
}

static int method_cmp(const void *va, const void *vb)
{
	const struct interpreted_method *a = va, *b = vb;
	int c = interpreted_place_cmp(a, b->pid, b->method);

	return c ? c : str_cmp(a->name, b->name);
}

void interpreted_sort(struct interpreted *s)
{
	size_t saved = 0;

	if (s->n)
		qsort(s->method, s->n, sizeof(*s->method), method_cmp);
	for (size_t i = 0; i < s->n; i++) {
		struct interpreted_method m = s->method[i], *last = saved ? &s->method[saved - 1] : NULL;

		if (!last || interpreted_place_cmp(last, m.pid, m.method) != 0)
			s->method[saved++] = m;
		else if (!str_eq(last->name, m.name))
			last->name.n = 0;
	}
	s->n = saved;
}

const struct interpreted_method *interpreted_find(const struct interpreted *s, uint32_t pid, uint64_t method)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (interpreted_place_cmp(&s->method[mid], pid, method) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low < s->n && interpreted_place_cmp(&s->method[low], pid, method) == 0 ? &s->method[low] : NULL;
}

void interpreted_free(struct interpreted *s)
{
	free(s->method);
	*s = (struct interpreted){ 0 };
}
