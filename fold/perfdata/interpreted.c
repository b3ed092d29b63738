/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/perfdata/interpreted.h"

#include "common/formats/pjrows.h"
#include "common/formats/pjsection.h"

#include <stdlib.h>

static void interpreted_add(struct interpreted *interpreted, struct interpreted_method method)
{
	interpreted->method = mem_more(interpreted->method, sizeof(*interpreted->method), interpreted->n);
	interpreted->method[interpreted->n++] = method;
}

/* Adds the rows of `body`, a struct pj_methods and its rows, as functions of `language`. Returns false if `body` is
 * truncated. */
static bool take_rows(struct interpreted *interpreted, struct arena *arena, struct str body, uint32_t language)
{
	struct pjrows rows = { .rest = body };
	struct pj_methods head = { 0 };
	struct pj_method row;
	struct str name;

	pjrows_head(&rows, &head, sizeof(head));
	interpreted->left_out += head.left_out;
	while (pjrows_next(&rows, &row, sizeof(row), offsetof(struct pj_method, size), &name))
		interpreted_add(interpreted, (struct interpreted_method){ .method = row.method,
									  .pid = head.pid,
									  .language = language,
									  .name = arena_copy(arena, name) });
	return !rows.cut;
}

const char *interpreted_take(struct interpreted *interpreted, struct arena *arena, struct str body)
{
	return take_rows(interpreted, arena, body, 0) ? NULL : "the list of interpreted methods is truncated";
}

const char *interpreted_take_classes(struct interpreted *interpreted, struct arena *arena, struct str body)
{
	return take_rows(interpreted, arena, body, PJ_LANGUAGE_JAVA_CLASS) ? NULL : "the list of classes is truncated";
}

static void method_forget_place(struct interpreted_method *method)
{
	method->file.n = 0;
	method->line = 0;
}

/* Sets the name, file and line of *method from a row; `text` is the name, NUL, the file, NUL. If one of the three is
 * missing, *method gets neither file nor line. */
static void method_set_text(struct interpreted_method *method, struct str text, uint32_t line)
{
	method->name = str_cut(&text, 0);
	method->file = str_cut(&text, 0);
	method->line = line;
	if (!method->name.n || !method->file.n || !method->line)
		method_forget_place(method);
}

const char *interpreted_take_functions(struct interpreted *interpreted, struct arena *arena, struct str body)
{
	struct pjrows rows = { .rest = body };
	struct pj_functions head = { 0 };
	struct pj_function row;
	struct str text, copy = { 0 };

	pjrows_head(&rows, &head, sizeof(head));
	interpreted->left_out += head.left_out;
	head.language = head.language ? head.language : PJ_LANGUAGE_PYTHON;
	while (pjrows_next(&rows, &row, sizeof(row), offsetof(struct pj_function, size), &text)) {
		struct interpreted_method method = { .method = row.address,
						     .pid = head.pid,
						     .language = head.language };

		/* rows of the same function are adjacent, so they share a copy of the text */
		if (!str_eq(text, copy))
			copy = arena_copy(arena, text);
		method_set_text(&method, copy, row.line);
		interpreted_add(interpreted, method);
	}
	return rows.cut ? "the list of interpreted functions is truncated" : NULL;
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

	c = c ? c : str_cmp(method->name, b->name);
	c = c ? c : str_cmp(method->file, b->file);
	return c ? c : (method->line > b->line) - (method->line < b->line);
}

/* Compares *method with `other`, another row for the same address. If the names differ, clears name, file and line of
 * *method; if only the files or lines differ, clears file and line. */
static void method_settle(struct interpreted_method *method, const struct interpreted_method *other)
{
	bool same = str_eq(method->name, other->name);

	if (!same)
		method->name.n = 0;
	if (!same || method->line != other->line || !str_eq(method->file, other->file))
		method_forget_place(method);
}

/* Returns true if the row `other` replaces *method, a row for the same address: only `other` has a name, and the
 * languages differ. */
static bool method_yields(const struct interpreted_method *method, const struct interpreted_method *other)
{
	return method->language != other->language && !method->name.n && other->name.n;
}

void interpreted_sort(struct interpreted *interpreted)
{
	size_t retained = 0;
	bool settled = false; /* true: two rows with names were compared for the last address, so its row is final */

	if (interpreted->n)
		qsort(interpreted->method, interpreted->n, sizeof(*interpreted->method), method_cmp);
	for (size_t i = 0; i < interpreted->n; i++) {
		struct interpreted_method method = interpreted->method[i],
					  *last = retained ? &interpreted->method[retained - 1] : NULL;

		if (!last || interpreted_place_cmp(last, method.pid, method.method) != 0) {
			interpreted->method[retained++] = method;
			settled = false;
		} else if (!settled && method_yields(last, &method)) {
			*last = method;
		} else {
			settled |= last->name.n > 0;
			method_settle(last, &method);
		}
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
