/* SPDX-License-Identifier: Apache-2.0 */
/* pjdiff - compare two profiles, and say what changed. */
#include "common/filter/confine.h"
#include "diff/diffopts.h"
#include "diff/noise.h"
#include "diff/scale.h"
#include "diff/table.h"
#include "diff/verdict.h"

#include <stdlib.h>
#include <unistd.h>

/* ---- reading ------------------------------------------------------------------------------------------------- */

/* What folded_read put into the header lives in the window, which ends. */
static void keep_header(struct arena *a, struct folded_header *h)
{
	struct str *text[] = { &h->unit, &h->event, &h->host, &h->labels, &h->from, &h->to, &h->frequency };

	for (size_t i = 0; i < countof(text); i++)
		if (text[i]->n)
			*text[i] = arena_copy(a, *text[i]);
	h->noise = NULL;
	h->nnoise = 0;
}

static void read_window(struct comparison *c, unsigned which, const char *path)
{
	struct side *side = &c->side[which];
	struct in in;

	in_open(&in, path);
	in_expect_text(&in);
	if (folded_read(&in, profile_window(&c->profile, which), &side->header, &side->tally) == 2)
		die("'%s' has two columns: it is a difference already; give the two profiles it was made of", in.name);
	if (in.errors) {
		warn_at((struct place){ in.name, 0 }, "%s: the whole stacks before are used", in.errors);
		side->damaged = true;
	}
	keep_header(&c->arena, &side->header);
	if (!profile_read(&c->profile, which))
		die_at((struct place){ in.name, 0 }, "the sum of all weights does not fit into 63 bits");
	in_close(&in);
}

static void pjdiff_read_all(const struct request *r, struct comparison *c)
{
	c->profile.normalname.exact = r->exact;
	c->profile.normalname.strip_hex = r->strip_hex;
	c->profile.scatter = r->nside[0] > 1 || r->nside[1] > 1;
	for (unsigned side = 0; side < 2; side++)
		for (size_t i = 0; i < r->nside[side]; i++)
			read_window(c, side, r->side[side][i]);
	profile_end(&c->profile);
}

static void pjdiff_check_units(const struct request *r, const struct comparison *c)
{
	const struct folded_header *a = &c->side[0].header, *b = &c->side[1].header;

	if (a->unit.n && b->unit.n && !str_eq(a->unit, b->unit))
		die("'%s' holds %.*s, '%s' holds %.*s: unlike units cannot be compared", r->side[0][0], (int)a->unit.n,
		    a->unit.p, r->side[1][0], (int)b->unit.n, b->unit.p);
	if (a->event.n && b->event.n && !str_eq(a->event, b->event))
		warn("event %.*s is compared with event %.*s", (int)a->event.n, a->event.p, (int)b->event.n,
		     b->event.p);
}

/* ---- judging ------------------------------------------------------------------------------------------------- */

static void choose_rule(const struct request *r, struct comparison *c)
{
	struct sig_rule *rule = &c->rule;
	bool empty, counted = sig_counted(c->side[0].header.unit) && sig_counted(c->side[1].header.unit);

	*rule = (struct sig_rule){ .points = r->points, .relative = r->relative, .dispersion = 1, .counted = counted };
	rule->z = rule->counted ? r->z : 0;
	rule->sum[0] = stacks_sum(&c->profile.s, 0);
	rule->sum[1] = stacks_sum(&c->profile.s, 1);
	empty = !rule->sum[0] || !rule->sum[1];
	rule->shares = r->compare == COMPARE_SHARES ||
		       (r->compare == COMPARE_DEFAULT && sig_by_shares(rule->sum[0], rule->sum[1]));
	rule->shares = rule->shares && !empty; /* nothing has no shares */
	c->noise.dispersion = 1;
	if (!rule->counted || empty)
		return;
	noise_dispersion(&c->noise, &c->profile, rule);
	rule->dispersion = c->noise.dispersion;
	if (r->drift >= 0)
		rule->drift = r->drift;
	else if (c->profile.windows[0] > 1 || c->profile.windows[1] > 1)
		rule->drift = noise_drift(&c->profile, rule);
}

/* ---- writing ------------------------------------------------------------------------------------------------- */

static struct str pjdiff_joined(struct arena *a, struct str x, struct str y)
{
	char *p;

	if (!y.n || str_eq(x, y))
		return x;
	if (!x.n)
		return y;
	p = arena_alloc(a, 1, x.n + y.n + 1);
	memcpy(p, x.p, x.n);
	p[x.n] = '+';
	memcpy(p + x.n + 1, y.p, y.n);
	return (struct str){ p, x.n + y.n + 1 };
}

/* Nodes that have a share worth speaking of and are more than a quarter off what they would inherit. */
static void list_noise(struct comparison *c, struct folded_header *h)
{
	const struct stacks *s = &c->profile.s;
	double complete = (double)c->rule.sum[0] + (double)c->rule.sum[1];
	uint64_t *total[2];
	float *reported;

	if (!c->noise.node)
		return;
	total[0] = stacks_totals(s, 0);
	total[1] = stacks_totals(s, 1);
	reported = mem_alloc(sizeof(*reported), s->n);
	h->noise = arena_new(&c->arena, struct folded_noise, s->n);
	reported[0] = (float)c->noise.dispersion;
	for (uint32_t id = 1; id < s->n; id++) {
		float own = c->noise.node[id];

		reported[id] = reported[s->node[id].parent];
		if ((double)total[0][id] + (double)total[1][id] < 0.002 * complete ||
		    (own <= reported[id] * 1.25F && reported[id] <= own * 1.25F))
			continue;
		reported[id] = own;
		h->noise[h->nnoise++] = (struct folded_noise){ id, own };
	}
	free(total[0]);
	free(total[1]);
	free(reported);
}

static struct folded_header pjdiff_header_of(const struct request *r, struct comparison *c)
{
	const struct folded_header *a = &c->side[0].header, *b = &c->side[1].header;
	struct folded_header h = { .present = true };

	h.unit = a->unit.n ? a->unit : b->unit.n ? b->unit : STR("samples");
	h.event = pjdiff_joined(&c->arena, a->event, b->event);
	h.host = pjdiff_joined(&c->arena, a->host, b->host);
	h.labels = pjdiff_joined(&c->arena, a->labels, b->labels);
	h.frequency = pjdiff_joined(&c->arena, a->frequency, b->frequency);
	h.samples = a->samples + b->samples + c->side[0].tally.headerless + c->side[1].tally.headerless;
	h.samples_unknown = a->samples_unknown || b->samples_unknown;
	h.lost = a->lost + b->lost;
	h.lost_known = a->lost_known && b->lost_known;
	if (r->scale_column) /* what is scaled is not counted any more */
		return h;
	h.windows[0] = c->profile.windows[0];
	h.windows[1] = c->profile.windows[1];
	h.dispersion = c->noise.node ? c->noise.dispersion : 0;
	h.drift = c->rule.drift;
	h.has_rule = true;
	h.z = c->rule.z;
	h.points = c->rule.points;
	h.relative = c->rule.relative;
	list_noise(c, &h);
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

static void write_table(const struct request *r, struct comparison *c, struct out *o)
{
	struct table_style style = { .rows = r->rows, .all = r->all, .tsv = r->tsv };
	struct table t;
	bool assess = verdict_is_possible(&c->rule, c->rule.points);

	table_make(&t, &c->rule, &c->profile.s, c->noise.frame, assess);
	style.all |= !assess;
	if (!r->tsv)
		verdict_describe(c, &t, put_comment, o);
	table_write(o, &t, &style, &c->rule, &c->profile.s);
	if (!r->quiet && (r->tsv || !diag_is_terminal(STDOUT_FILENO)))
		verdict_describe(c, &t, put_warning, NULL);
	table_free(&t);
}

static void write_folded(const struct request *r, struct comparison *c, struct out *o)
{
	struct folded_header h = pjdiff_header_of(r, c);

	if (r->scale_column && !scale_column(&c->profile.s))
		warn("one side is empty: nothing to scale");
	folded_write(o, &c->profile.s, 2, r->header ? &h : NULL);
	if (r->quiet || !(c->rule.sum[0] + c->rule.sum[1]))
		return;
	if (diag_is_terminal(STDERR_FILENO))
		verdict_describe(c, NULL, put_warning, NULL);
	else if (!verdict_is_possible(&c->rule, c->rule.points))
		warn("too few samples to judge: %llu before, %llu after, %.0f a side are needed",
		     (unsigned long long)c->rule.sum[0], (unsigned long long)c->rule.sum[1],
		     verdict_needs(&c->rule, c->rule.points));
}

static void pjdiff_write_result(const struct request *r, struct comparison *c)
{
	struct out *o = mem_alloc(sizeof(*o), 1);

	out_open(o, r->out);
	if (r->table)
		write_table(r, c, o);
	else
		write_folded(r, c, o);
	out_close(o);
	free(o);
}

/* ---- the end ------------------------------------------------------------------------------------------------- */

static int pjdiff_finish(const struct request *r, const struct comparison *c, bool empty)
{
	int status = PJ_OK;

	verdict_bad_lines(c);
	for (unsigned side = 0; side < 2 && !empty; side++)
		if (!c->rule.sum[side])
			warn("'%s': no samples %s: everything is %s", r->side[side][0], side ? "after" : "before",
			     side ? "gone" : "new");
	if (empty) {
		warn("no samples, neither before nor after");
		return PJ_FAILED;
	}
	status = verdict_fail_over(r, c);
	return c->side[0].damaged || c->side[1].damaged ? PJ_FAILED : status;
}

static void comparison_free(struct comparison *c)
{
	profile_free(&c->profile);
	noise_free(&c->noise);
	arena_free(&c->arena);
}

static void give_up_rights(const struct request *r)
{
	char **input = mem_alloc(sizeof(*input), r->nside[0] + r->nside[1] + 1);
	size_t n = 0;

	for (unsigned side = 0; side < 2; side++)
		for (size_t i = 0; i < r->nside[side]; i++)
			input[n++] = (char *)(uintptr_t)r->side[side][i];
	confine(&(struct confine){ .input = input, .output = { r->out } });
	free(input);
}

int main(int argc, char **argv)
{
	struct request r;
	struct comparison c = { 0 };
	bool empty;
	int status;

	diag_tool("pjdiff");
	diffopts_parse(&r, argc, argv);
	give_up_rights(&r);
	pjdiff_read_all(&r, &c);
	pjdiff_check_units(&r, &c);
	choose_rule(&r, &c);
	empty = !c.rule.sum[0] && !c.rule.sum[1];
	if (!empty || !r.out) /* a file that is there is not replaced by nothing */
		pjdiff_write_result(&r, &c);
	status = pjdiff_finish(&r, &c, empty);
	comparison_free(&c);
	diffopts_free(&r);
	return status;
}
