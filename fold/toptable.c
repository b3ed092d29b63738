/* SPDX-License-Identifier: Apache-2.0 */
#include "fold/toptable.h"

#include "common/formats/folded.h"
#include "common/text.h"
#include "common/visible.h"
#include "fold/names/names.h"

#include <stdlib.h>

/* Maximum width, in code points, to which the values of a column are padded; longer values are written in full. */
#define WIDTH_MAX 40u

/* Kind of the last frame that was visited on the way from the root of a stack to its leaf. AT_ROOT: no frame yet.
 * AT_GROUP: group of --by. AT_COMM: command name. AT_FUNCTION: thread or function; only functions follow. */
enum stage { AT_ROOT, AT_GROUP, AT_COMM, AT_FUNCTION };

/* Values of all columns, as ids in toptable.texts, indexed by enum sortkeys_column; 0: no value. Key of a row. */
struct values {
	uint32_t id[COLUMN_COUNT];
};

/* Key under which the self weight of one frame in one row is stored. */
struct spelling {
	uint32_t row, frame;
};

struct row {
	struct str value[COLUMN_COUNT]; /* texts of the columns, in the order of sortkeys.column */
	unsigned nvalues;
	/* shown: the function's name with one of its kind suffixes, the one with the largest self weight. shown_self:
	 * this self weight. */
	struct str shown;
	uint64_t shown_self;
	uint64_t self, total;
};

struct toptable {
	const struct toptable_options *o;
	const struct stacks *stacks;
	struct sortkeys keys;
	struct intern texts;     /* interned texts of column values */
	struct intern rows;      /* interned keys of type struct values, one for each row */
	struct intern spellings; /* interned keys of type struct spelling */
	uint64_t *spelled;       /* self weights, by id in `spellings` */
	struct row *row;         /* rows, by id in `rows` minus 1 */
	uint32_t *row_of;        /* by node: id in `rows` of the row of the node */
	bool *outer; /* by node: true if only the self weight of the node, not its total weight, is added to a row */
	/* by frame: ids in `texts` of function and DSO. function 0: not looked up yet; dso 0: the frame has no DSO */
	uint32_t *function, *dso;
};

/* ---- order of rows ------------------------------------------------------------------------------------------ */

static int toptable_descending(uint64_t left, uint64_t right)
{
	return (left < right) - (left > right);
}

static int rows_by_name(const void *left, const void *right)
{
	const struct row *a = left, *b = right;
	int order = 0;

	for (unsigned i = 0; i < a->nvalues && !order; i++)
		order = str_cmp(a->value[i], b->value[i]);
	return order;
}

static int rows_by_self(const void *left, const void *right)
{
	const struct row *a = left, *b = right;
	int order = toptable_descending(a->self, b->self);

	order = order ? order : toptable_descending(a->total, b->total);
	return order ? order : rows_by_name(left, right);
}

static int rows_by_total(const void *left, const void *right)
{
	const struct row *a = left, *b = right;
	int order = toptable_descending(a->total, b->total);

	order = order ? order : toptable_descending(a->self, b->self);
	return order ? order : rows_by_name(left, right);
}

/* ---- rows and their weights --------------------------------------------------------------------------------- */

/* Sets the columns for the function and the DSO of a frame in `values`. */
static void set_function(struct toptable *table, uint32_t frame, struct values *values)
{
	if (!table->function[frame]) {
		struct str name = intern_str(&table->stacks->frames, frame), dso = names_dso(name);

		table->function[frame] = intern(&table->texts, folded_plain(names_shown(name)));
		table->dso[frame] = dso.n ? intern(&table->texts, dso) : 0;
	}
	values->id[COLUMN_SYM] = table->function[frame];
	values->id[COLUMN_DSO] = table->dso[frame];
}

/* Returns the stage after `frame`, and sets the column of the frame in `values`. stage, values: stage and columns of
 * the frame's caller. A frame with a DSO is a function at any stage, because perf script text may lack the command
 * name. */
static enum stage take_frame(struct toptable *table, enum stage stage, uint32_t frame, struct values *values)
{
	struct str name = intern_str(&table->stacks->frames, frame);
	bool functions = stage == AT_FUNCTION || names_dso(name).n || !sortkeys_of_threads(&table->keys);

	if (!functions && stage == AT_ROOT && table->o->by) {
		values->id[COLUMN_GROUP] = intern(&table->texts, name);
		return AT_GROUP;
	}
	if (!functions && stage != AT_COMM && table->o->comm) {
		values->id[COLUMN_COMM] = intern(&table->texts, name);
		return AT_COMM;
	}
	if (!functions && str_starts(name, STR("[JVM] ")))
		return stage;
	if (!functions && table->o->thread) {
		values->id[COLUMN_THREAD] = intern(&table->texts, name);
		return AT_FUNCTION;
	}
	set_function(table, frame, values);
	return AT_FUNCTION;
}

/* Returns true if `values` has no value for the innermost column of the table. The node of the frame then lies outside
 * of all frames with a row of their own, so only its self weight is added to a row. Returns false for all other
 * nodes. */
static bool is_outer(const struct toptable *table, const struct values *values)
{
	const bool *has = table->keys.has;

	if (has[COLUMN_DSO] && !values->id[COLUMN_DSO])
		return true;
	if (has[COLUMN_SYM] || has[COLUMN_DSO])
		return !values->id[COLUMN_SYM];
	return !values->id[has[COLUMN_THREAD] ? COLUMN_THREAD : has[COLUMN_COMM] ? COLUMN_COMM : COLUMN_GROUP];
}

/* Finds the row of each node. Callers have lower node ids than their callees. */
static void find_rows(struct toptable *table)
{
	const struct stacks *stacks = table->stacks;
	struct values *all = mem_alloc(sizeof(*all), stacks->n);
	uint8_t *stage = mem_alloc(sizeof(*stage), stacks->n);

	for (uint32_t id = 1; id < stacks->n; id++) {
		uint32_t parent = stacks->node[id].parent;
		struct values shown = { 0 };

		all[id] = all[parent];
		all[id].id[COLUMN_SYM] = all[id].id[COLUMN_DSO] = 0;
		stage[id] = (uint8_t)take_frame(table, (enum stage)stage[parent], stacks->node[id].frame, &all[id]);
		table->outer[id] = is_outer(table, &all[id]);
		for (unsigned i = 0; i < table->keys.ncolumns; i++)
			shown.id[table->keys.column[i]] = all[id].id[table->keys.column[i]];
		table->row_of[id] = intern(&table->rows, (struct str){ (const char *)&shown, sizeof(shown) });
	}
	free(all);
	free(stage);
}

/* Adds the weights of all nodes to their rows. The walk is depth-first and counts the frames of each row on the current
 * path, because only the outermost of these frames adds to the total. */
static void sum_rows(struct toptable *table)
{
	const struct stacks *stacks = table->stacks;
	uint32_t *order = stacks_order(stacks), *path = mem_alloc(sizeof(*path), stacks->n), depth = 0;
	uint32_t *open = mem_alloc(sizeof(*open), (size_t)table->rows.n + 1);
	uint64_t *total = stacks_totals(stacks, 0);

	table->spelled = mem_alloc(sizeof(*table->spelled), (size_t)stacks->n + 1);
	for (uint32_t i = 0; i + 1 < stacks->n; i++) {
		uint32_t id = order[i], at = table->row_of[id];
		struct spelling spelling = { at, stacks->node[id].frame };
		struct row *row = &table->row[at - 1];

		while (depth && path[depth - 1] != stacks->node[id].parent) {
			depth--;
			open[table->row_of[path[depth]]] -= !table->outer[path[depth]];
		}
		path[depth++] = id;
		row->self += stacks->self[0][id];
		if (table->outer[id])
			row->total += stacks->self[0][id];
		else if (open[at]++ == 0)
			row->total += total[id];
		table->spelled[intern(&table->spellings, (struct str){ (const char *)&spelling, sizeof(spelling) })] +=
			stacks->self[0][id];
	}
	free(order);
	free(path);
	free(open);
	free(total);
}

/* Sets the texts of the columns of all rows. */
static void spell_rows(struct toptable *table)
{
	for (uint32_t at = 1; at <= table->rows.n; at++) {
		struct row *row = &table->row[at - 1];
		struct values values;

		memcpy(&values, intern_str(&table->rows, at).p, sizeof(values));
		for (unsigned i = 0; i < table->keys.ncolumns; i++) {
			uint32_t text = values.id[table->keys.column[i]];

			row->value[row->nvalues++] = text ? intern_str(&table->texts, text) : STR("-");
		}
	}
	for (uint32_t id = 1; id <= table->spellings.n; id++) {
		struct spelling spelling;
		struct str frame;
		struct row *row;

		memcpy(&spelling, intern_str(&table->spellings, id).p, sizeof(spelling));
		row = &table->row[spelling.row - 1];
		frame = names_shown(intern_str(&table->stacks->frames, spelling.frame));
		if (!row->shown.p || table->spelled[id] > row->shown_self ||
		    (table->spelled[id] == row->shown_self && str_cmp(frame, row->shown) < 0)) {
			row->shown = frame;
			row->shown_self = table->spelled[id];
		}
	}
	/* A row without a function shows "-". */
	for (uint32_t at = 0; at < table->rows.n; at++)
		for (unsigned i = 0; i < table->row[at].nvalues; i++)
			if (table->keys.column[i] == COLUMN_SYM && str_eq(table->row[at].value[i], STR("-")))
				table->row[at].shown = STR("-");
}

/* ---- output of the table ------------------------------------------------------------------------------------ */

static const char *heading_of(const struct toptable *table, unsigned column)
{
	switch (table->keys.column[column]) {
	case COLUMN_GROUP: return table->o->group;
	case COLUMN_COMM: return "comm";
	case COLUMN_THREAD: return "thread";
	case COLUMN_DSO: return "dso";
	default: return "frame";
	}
}

/* Appends the shown text of a column. Returns its width in code points. */
static size_t put_value(struct text *text, const struct toptable *table, const struct row *row, unsigned column)
{
	size_t from = text->n, width = 0;

	visible_str(text, table->keys.column[column] == COLUMN_SYM ? row->shown : row->value[column]);
	for (size_t i = from; i < text->n; i++)
		width += ((unsigned char)text->p[i] & 0xc0) != 0x80;
	return width;
}

/* Sets the width of each column: the width of the widest value in the first n rows, at most WIDTH_MAX. */
static void find_widths(const struct toptable *table, uint32_t n, size_t *width)
{
	struct text text = { 0 };

	for (unsigned i = 0; i < table->keys.ncolumns; i++) {
		width[i] = strlen(heading_of(table, i));
		for (uint32_t at = 0; at < n; at++) {
			size_t needed = put_value(&text, table, &table->row[at], i);

			needed = needed < WIDTH_MAX ? needed : WIDTH_MAX;
			width[i] = needed > width[i] ? needed : width[i];
			text.n = 0;
		}
	}
	text_free(&text);
}

static void toptable_put_rows(struct out *out, const struct toptable *table, uint32_t n, bool ns)
{
	uint64_t sum = stacks_sum(table->stacks, 0);
	double percent = sum ? 100.0 / (double)sum : 0;
	unsigned last = table->keys.ncolumns - 1;
	size_t width[COLUMN_COUNT] = { 0 };
	struct text text = { 0 };

	find_widths(table, n, width);
	out_printf(out, "%12s %7s %12s %7s", ns ? "self ns" : "self", "%", ns ? "total ns" : "total", "%");
	for (unsigned i = 0; i <= last; i++)
		out_printf(out, "  %-*s", i < last ? (int)width[i] : 0, heading_of(table, i));
	out_char(out, '\n');
	for (uint32_t at = 0; at < n; at++) {
		const struct row *row = &table->row[at];

		out_printf(out, "%12llu %6.2f%% %12llu %6.2f%%", (unsigned long long)row->self,
			   percent * (double)row->self, (unsigned long long)row->total, percent * (double)row->total);
		for (unsigned i = 0; i <= last; i++) {
			size_t used;

			text.n = 0;
			used = put_value(&text, table, row, i);
			out_printf(out, "  ");
			out_str(out, text_view(&text));
			if (i < last && used < width[i])
				out_printf(out, "%*s", (int)(width[i] - used), "");
		}
		out_char(out, '\n');
	}
	text_free(&text);
}

void toptable_write(struct out *out, const struct stacks *stacks, const struct toptable_options *options)
{
	struct toptable table = { .o = options, .stacks = stacks, .keys = *options->keys };
	uint32_t n = 0;

	if (!table.keys.ncolumns) {
		table.keys.column[table.keys.ncolumns++] = COLUMN_SYM;
		table.keys.has[COLUMN_SYM] = true;
	}
	if (stacks->n) {
		table.row_of = mem_alloc(sizeof(*table.row_of), stacks->n);
		table.outer = mem_alloc(sizeof(*table.outer), stacks->n);
		table.function = mem_alloc(sizeof(*table.function), (size_t)stacks->frames.n + 1);
		table.dso = mem_alloc(sizeof(*table.dso), (size_t)stacks->frames.n + 1);
		find_rows(&table);
		table.row = mem_alloc(sizeof(*table.row), (size_t)table.rows.n + 1);
		sum_rows(&table);
		spell_rows(&table);
		/* Leave out rows without weight, for example the row of a process without samples of its own. */
		for (uint32_t at = 0; at < table.rows.n; at++)
			if (table.row[at].total)
				table.row[n++] = table.row[at];
		qsort(table.row, n, sizeof(*table.row),
		      table.keys.order == SORT_BY_TOTAL ? rows_by_total :
		      table.keys.order == SORT_BY_NAME  ? rows_by_name :
							  rows_by_self);
	}
	toptable_put_rows(out, &table, n < options->rows ? n : (uint32_t)options->rows, options->ns);
	intern_free(&table.texts);
	intern_free(&table.rows);
	intern_free(&table.spellings);
	free(table.spelled);
	free(table.row);
	free(table.row_of);
	free(table.outer);
	free(table.function);
	free(table.dso);
}
