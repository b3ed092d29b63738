/* SPDX-License-Identifier: Apache-2.0 */
/* pjdiff - compare two profiles and report the changes. */
#include "common/filter/confine.h"
#include "diff/diffopts.h"
#include "diff/noise.h"
#include "diff/scale.h"
#include "diff/table.h"
#include "diff/verdict.h"

#include <stdlib.h>
#include <unistd.h>

/* ---- reading the profiles ---------------------------------------------------------------------------------------- */

/* Copies the texts of a header into arena, because the memory of the window that owns them is freed. Drops the
 * dispersions. */
static void keep_header(struct arena *arena, struct folded_header *header)
{
	struct str *text[] = { &header->unit, &header->event, &header->host,     &header->labels,
			       &header->from, &header->to,    &header->frequency };

	for (size_t i = 0; i < countof(text); i++)
		if (text[i]->n)
			*text[i] = arena_copy(arena, *text[i]);
	header->noise = NULL;
	header->nnoise = 0;
}

static void read_window(struct comparison *comparison, unsigned which, const char *path)
{
	struct side *side = &comparison->side[which];
	struct folded_tally before = side->tally;
	struct in input;

	in_open(&input, path);
	in_expect_text(&input);
	if (folded_read(&input, profile_window(&comparison->profile, which), &side->header, &side->tally) == 2)
		die("'%s' has two columns and is already a difference: give its two profiles", input.name);
	folded_check(&before, &side->tally, input.name);
	if (input.errors) {
		warn_at((struct place){ input.name, 0 }, "%s: the stacks before it are used", input.errors);
		side->damaged = true;
	}
	keep_header(&comparison->arena, &side->header);
	if (!profile_read(&comparison->profile, which))
		die_at((struct place){ input.name, 0 }, "the sum of all weights does not fit into 63 bits");
	in_close(&input);
}

static void pjdiff_read_all(const struct request *request, struct comparison *comparison)
{
	comparison->profile.normalname.exact = request->exact;
	comparison->profile.normalname.strip_hex = request->strip_hex;
	comparison->profile.scatter = request->nside[0] > 1 || request->nside[1] > 1;
	for (unsigned side = 0; side < 2; side++)
		for (size_t i = 0; i < request->nside[side]; i++)
			read_window(comparison, side, request->side[side][i]);
	profile_end(&comparison->profile);
}

/* Returns true for the event of pjrecord --wall, whose times include the time that a thread runs on a CPU; false for
 * all other events. */
static bool is_wall_time(struct str event)
{
	return str_starts(event, STR("wall-time"));
}

static void pjdiff_check_units(const struct request *request, const struct comparison *comparison)
{
	const struct folded_header *header = &comparison->side[0].header, *b = &comparison->side[1].header;

	if (header->unit.n && b->unit.n && !str_eq(header->unit, b->unit))
		die("'%s' has %.*s, '%s' has %.*s: unlike units cannot be compared", request->side[0][0],
		    (int)header->unit.n, header->unit.p, request->side[1][0], (int)b->unit.n, b->unit.p);
	if (header->event.n && b->event.n && is_wall_time(header->event) != is_wall_time(b->event))
		die("'%s' has wall-clock times, '%s' has others: they cannot be compared",
		    request->side[is_wall_time(b->event)][0], request->side[is_wall_time(header->event)][0]);
	if (header->event.n && b->event.n && !str_eq(header->event, b->event))
		warn("event %.*s is compared with event %.*s", (int)header->event.n, header->event.p, (int)b->event.n,
		     b->event.p);
}

enum { IN_FIRST = 1, IN_SECOND = 2, IN_BOTH = IN_FIRST | IN_SECOND };

/* Returns an array by node: bit mask of the sides (IN_FIRST, IN_SECOND) on which the node or one of its callees has
 * weight. Both sides of stacks must have weight. The caller frees the array. One byte for each node is enough: two
 * arrays of total weights took 10 % of pjdiff's CPU time and a fifth of its memory. */
static uint8_t *sides_of_nodes(const struct stacks *stacks)
{
	uint8_t *sides = mem_alloc(sizeof(*sides), stacks->n);

	for (uint32_t id = stacks->n; id-- > 1;) {
		sides[id] |= (stacks->self[0][id] ? IN_FIRST : 0) | (stacks->self[1][id] ? IN_SECOND : 0);
		sides[stacks->node[id].parent] |= sides[id];
	}
	return sides;
}

/* Warns if the sides have no outermost frame in common, and the outermost frames have callees: the outermost frames are
 * then probably the names of two programs, which make all stacks new or gone. */
static void check_roots(const struct comparison *comparison)
{
	const struct stacks *stacks = &comparison->profile.s;
	uint32_t first[2] = { 0 };
	bool common = false;
	uint8_t *sides;

	if (!stacks_sum(stacks, 0) || !stacks_sum(stacks, 1))
		return;
	sides = sides_of_nodes(stacks);
	for (uint32_t id = 1; id < stacks->n && !common; id++) {
		if (stacks->node[id].parent)
			continue;
		common = sides[id] == IN_BOTH || stacks->self[0][id] || stacks->self[1][id];
		first[!(sides[id] & IN_FIRST)] = stacks->node[id].frame;
	}
	if (!common && first[0] && first[1]) {
		struct str name[2] = { intern_str(&stacks->frames, first[0]), intern_str(&stacks->frames, first[1]) };

		warn("all stacks differ from the first frame on (%.*s, %.*s): pjfold --comm=none leaves out the names of programs",
		     (int)(name[0].n < 40 ? name[0].n : 40), name[0].p, (int)(name[1].n < 40 ? name[1].n : 40),
		     name[1].p);
	}
	free(sides);
}

/* ---- rule of the comparison -------------------------------------------------------------------------------------- */

static void choose_rule(const struct request *request, struct comparison *comparison)
{
	struct sig_rule *rule = &comparison->rule;
	bool empty,
		counted = sig_counted(comparison->side[0].header.unit) && sig_counted(comparison->side[1].header.unit);

	*rule = (struct sig_rule){
		.points = request->points, .relative = request->relative, .dispersion = 1, .counted = counted
	};
	rule->z = rule->counted ? request->z : 0;
	rule->sum[0] = stacks_sum(&comparison->profile.s, 0);
	rule->sum[1] = stacks_sum(&comparison->profile.s, 1);
	empty = !rule->sum[0] || !rule->sum[1];
	rule->shares = request->compare == COMPARE_SHARES ||
		       (request->compare == COMPARE_DEFAULT && sig_by_shares(rule->sum[0], rule->sum[1]));
	comparison->chosen = request->compare != COMPARE_DEFAULT;
	/* a comparison of shares needs weight on both sides; otherwise counts are compared */
	rule->shares = rule->shares && !empty;
	comparison->noise.dispersion = 1;
	if (!rule->counted || empty)
		return;
	noise_dispersion(&comparison->noise, &comparison->profile, rule);
	rule->dispersion = comparison->noise.dispersion;
	if (request->drift >= 0)
		rule->drift = request->drift;
	else if (comparison->profile.windows[0] > 1 || comparison->profile.windows[1] > 1)
		rule->drift = noise_drift(&comparison->profile, rule);
}

/* ---- writing the result ------------------------------------------------------------------------------------------ */

static struct str pjdiff_joined(struct arena *arena, struct str string, struct str y)
{
	char *p;

	if (!y.n || str_eq(string, y))
		return string;
	if (!string.n)
		return y;
	p = arena_alloc(arena, 1, string.n + y.n + 1);
	memcpy(p, string.p, string.n);
	p[string.n] = '+';
	memcpy(p + string.n + 1, y.p, y.n);
	return (struct str){ p, string.n + y.n + 1 };
}

/* Stores in the header the dispersion of each node that has at least 0.2 % of the weight, if it differs by more than a
 * quarter from the dispersion that pjsvg would use otherwise: the dispersion of the nearest caller that is in the
 * header. */
static void list_noise(struct comparison *comparison, struct folded_header *header)
{
	const struct stacks *stacks = &comparison->profile.s;
	double complete = (double)comparison->rule.sum[0] + (double)comparison->rule.sum[1];
	uint64_t *total[2];
	float *reported;

	if (!comparison->noise.node)
		return;
	total[0] = stacks_totals(stacks, 0);
	total[1] = stacks_totals(stacks, 1);
	reported = mem_alloc(sizeof(*reported), stacks->n);
	header->noise = arena_new(&comparison->arena, struct folded_noise, stacks->n);
	reported[0] = (float)comparison->noise.dispersion;
	for (uint32_t id = 1; id < stacks->n; id++) {
		float own = comparison->noise.node[id];

		reported[id] = reported[stacks->node[id].parent];
		if ((double)total[0][id] + (double)total[1][id] < 0.002 * complete ||
		    (own <= reported[id] * 1.25F && reported[id] <= own * 1.25F))
			continue;
		reported[id] = own;
		header->noise[header->nnoise++] = (struct folded_noise){ id, own };
	}
	free(total[0]);
	free(total[1]);
	free(reported);
}

static struct folded_header pjdiff_header_of(const struct request *request, struct comparison *comparison)
{
	const struct folded_header *header = &comparison->side[0].header, *b = &comparison->side[1].header;
	struct folded_header h = { .present = true };

	h.unit = header->unit.n ? header->unit : b->unit.n ? b->unit : STR("samples");
	h.event = pjdiff_joined(&comparison->arena, header->event, b->event);
	h.host = pjdiff_joined(&comparison->arena, header->host, b->host);
	h.labels = pjdiff_joined(&comparison->arena, header->labels, b->labels);
	h.frequency = pjdiff_joined(&comparison->arena, header->frequency, b->frequency);
	h.samples = header->samples + b->samples + comparison->side[0].tally.headerless +
		    comparison->side[1].tally.headerless;
	h.samples_unknown = header->samples_unknown || b->samples_unknown;
	h.lost = header->lost + b->lost;
	h.lost_known = header->lost_known && b->lost_known && !comparison->side[0].tally.headerless &&
		       !comparison->side[1].tally.headerless;
	/* scaled weights are no counts of samples, so the header gets no windows, dispersions and rule */
	if (request->scale_column)
		return h;
	h.windows[0] = comparison->profile.windows[0];
	h.windows[1] = comparison->profile.windows[1];
	h.dispersion = comparison->noise.node ? comparison->noise.dispersion : 0;
	h.drift = comparison->rule.drift;
	h.has_rule = true;
	h.z = comparison->rule.z;
	h.points = comparison->rule.points;
	h.relative = comparison->rule.relative;
	h.has_compare = request->compare != COMPARE_DEFAULT;
	h.by_shares = request->compare == COMPARE_SHARES;
	list_noise(comparison, &h);
	return h;
}

static void put_comment(void *to, const char *text)
{
	out_text(to, "# ");
	out_text(to, text);
	out_char(to, '\n');
}

static void put_warning(void *to, const char *text)
{
	(void)to;
	warn("%s", text);
}

static void write_table(const struct request *request, struct comparison *comparison, struct out *out)
{
	struct table_style style = { .rows = request->rows, .all = request->all, .tsv = request->tsv };
	struct table table;
	bool assess = verdict_is_possible(&comparison->rule, comparison->rule.points);

	table_make(&table, &comparison->rule, &comparison->profile.s, comparison->noise.frame, assess);
	style.all |= !assess;
	/* a table for people contains its notes as comment lines, so a pager or a file shows them, too; a table for
	 * scripts (--tsv) contains no notes */
	if (!request->tsv)
		verdict_describe(comparison, &table, put_comment, out);
	else if (!request->quiet)
		verdict_describe(comparison, &table, put_warning, NULL);
	table_write(out, &table, &style, &comparison->rule, &comparison->profile.s);
	table_free(&table);
}

static void write_folded(const struct request *request, struct comparison *comparison, struct out *out)
{
	struct folded_header header = pjdiff_header_of(request, comparison);

	if (request->scale_column && !scale_column(&comparison->profile.s))
		warn("one side is empty: there is nothing to scale");
	folded_write(out, &comparison->profile.s, 2, request->header ? &header : NULL);
	if (request->quiet || !(comparison->rule.sum[0] + comparison->rule.sum[1]))
		return;
	if (diag_is_terminal(STDERR_FILENO))
		verdict_describe(comparison, NULL, put_warning, NULL);
	else if (!verdict_is_possible(&comparison->rule, comparison->rule.points))
		warn("too few samples for a comparison: %llu before, %llu after, %.0f a side are needed",
		     (unsigned long long)comparison->rule.sum[0], (unsigned long long)comparison->rule.sum[1],
		     verdict_needs(&comparison->rule, comparison->rule.points));
}

static void pjdiff_write_result(const struct request *request, struct comparison *comparison)
{
	struct out *out = mem_alloc(sizeof(*out), 1);

	out_open(out, request->out);
	if (request->table)
		write_table(request, comparison, out);
	else
		write_folded(request, comparison, out);
	out_close(out);
	free(out);
}

/* ---- exit status, and main --------------------------------------------------------------------------------------- */

static int pjdiff_finish(const struct request *request, const struct comparison *comparison, bool empty)
{
	int status = PJ_OK;

	verdict_bad_lines(comparison);
	for (unsigned side = 0; side < 2 && !empty; side++)
		if (!comparison->rule.sum[side])
			warn("'%s': no samples %s: everything is %s", request->side[side][0], side ? "after" : "before",
			     side ? "gone" : "new");
	if (empty) {
		warn("no samples, neither before nor after");
		return PJ_FAILED;
	}
	status = verdict_fail_over(request, comparison);
	return comparison->side[0].damaged || comparison->side[1].damaged ? PJ_FAILED : status;
}

static void comparison_free(struct comparison *comparison)
{
	profile_free(&comparison->profile);
	noise_free(&comparison->noise);
	arena_free(&comparison->arena);
}

static void give_up_rights(const struct request *request)
{
	char **input = mem_alloc(sizeof(*input), request->nside[0] + request->nside[1] + 1);
	size_t n = 0;

	for (unsigned side = 0; side < 2; side++)
		for (size_t i = 0; i < request->nside[side]; i++)
			input[n++] = (char *)(uintptr_t)request->side[side][i];
	confine(&(struct confine){ .input = input, .output = { request->out } });
	free(input);
}

int main(int argc, char **argv)
{
	struct request request;
	struct comparison comparison = { 0 };
	bool empty;
	int status;

	diag_tool("pjdiff");
	diffopts_parse(&request, argc, argv);
	give_up_rights(&request);
	pjdiff_read_all(&request, &comparison);
	pjdiff_check_units(&request, &comparison);
	if (!request.quiet)
		check_roots(&comparison);
	choose_rule(&request, &comparison);
	empty = !comparison.rule.sum[0] && !comparison.rule.sum[1];
	if (!empty || !request.out) /* an empty result must not replace an existing file */
		pjdiff_write_result(&request, &comparison);
	status = pjdiff_finish(&request, &comparison, empty);
	comparison_free(&comparison);
	diffopts_free(&request);
	return status;
}
