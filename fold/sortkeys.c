/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/sortkeys.h"

#include "common/diag.h"
#include "common/similar.h"
#include "common/text.h"

static const struct sortkeys_word words[] = {
	{ .name = "self", .is_order = true, .order = SORT_BY_SELF },
	{ .name = "total", .is_order = true, .order = SORT_BY_TOTAL },
	{ .name = "name", .is_order = true, .order = SORT_BY_NAME },
	{ .name = "comm", .column = COLUMN_COMM },
	{ .name = "process", .column = COLUMN_COMM },
	{ .name = "pid", .column = COLUMN_COMM, .label = LABEL_PID },
	{ .name = "tid", .column = COLUMN_COMM, .label = LABEL_TID },
	{ .name = "thread", .column = COLUMN_THREAD },
	{ .name = "cgroup", .column = COLUMN_GROUP, .label = LABEL_CGROUP },
	{ .name = "container", .column = COLUMN_GROUP, .label = LABEL_CONTAINER },
	{ .name = "pod", .column = COLUMN_GROUP, .label = LABEL_POD },
	{ .name = "dso", .column = COLUMN_DSO },
	{ .name = "sym", .column = COLUMN_SYM },
	{ .name = "symbol", .column = COLUMN_SYM },
	{ .name = "function", .column = COLUMN_SYM },
};

static NORETURN void die_unknown_key(struct str word, const char *option)
{
	struct similar similar = similar_to(word);
	struct text list = { 0 };

	for (size_t i = 0; i < countof(words); i++) {
		similar_offer(&similar, str_of(words[i].name));
		text_add(&list, i ? ", " : "");
		text_add(&list, words[i].name);
	}
	if (similar.found.n)
		die_usage("%s: '%.*s' is not one of %.*s: did you mean %.*s?", option, (int)word.n, word.p, (int)list.n,
			  list.p, (int)similar.found.n, similar.found.p);
	die_usage("%s: '%.*s' is not one of %.*s", option, (int)word.n, word.p, (int)list.n, list.p);
}

const struct sortkeys_word *sortkeys_take(struct sortkeys *keys, const char **list, const char *option)
{
	struct str rest = str_of(*list), word = str_cut(&rest, ',');
	size_t i = 0;

	while (i < countof(words) && !str_eq(word, str_of(words[i].name)))
		i++;
	if (i == countof(words))
		die_unknown_key(word, option);
	if (words[i].is_order) {
		keys->order = words[i].order;
	} else if (!keys->has[words[i].column]) {
		keys->has[words[i].column] = true;
		keys->column[keys->ncolumns++] = words[i].column;
	}
	*list += word.n + ((*list)[word.n] == ',');
	return &words[i];
}

void sortkeys_list(struct out *out)
{
	for (size_t i = 0; i < countof(words); i++)
		out_printf(out, "%s\n", words[i].name);
}

bool sortkeys_of_threads(const struct sortkeys *keys)
{
	return keys->has[COLUMN_GROUP] || keys->has[COLUMN_COMM] || keys->has[COLUMN_THREAD];
}
