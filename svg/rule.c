/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/rule.h"

/* Of time, memory and events that come in bulk one sample is many: their noise is not that of counts. What the input
 * says of itself is known; else the name that the user gave tells. */
static bool is_count(struct str shown, struct str unit)
{
	static const struct str measures[] = {
		STR("bytes"), STR("B"),  STR("KB"), STR("KiB"),     STR("MB"),     STR("MiB"),          STR("ns"),
		STR("us"),    STR("ms"), STR("s"),  STR("seconds"), STR("cycles"), STR("instructions"),
	};

	if (shown.n)
		return sig_counted(shown);
	for (size_t i = 0; i < countof(measures); i++) {
		if (str_eq(measures[i], unit))
			return false;
	}
	return true;
}

static double rule_choose(double is_requested, bool known, double shown, double otherwise)
{
	return is_requested >= 0 ? is_requested : known ? shown : otherwise;
}

struct sig_rule rule_make(const struct request *r, const struct folded_header *h, const struct stacks *s,
			  struct str unit)
{
	return (struct sig_rule){
		.z = rule_choose(r->z, h->has_rule, h->z, SIG_Z),
		.points = rule_choose(r->points, h->has_rule, h->points, SIG_POINTS),
		.relative = rule_choose(r->relative, h->has_rule, h->relative, SIG_RELATIVE),
		.dispersion = h->dispersion > 1 ? h->dispersion : 1,
		.drift = h->drift,
		.shares = sig_by_shares(stacks_sum(s, 0), stacks_sum(s, 1)),
		.counted = is_count(h->unit, unit),
		.sum = { stacks_sum(s, 0), stacks_sum(s, 1) },
	};
}

void rule_caveat(struct text *t, const struct sig_rule *rule, const struct folded_header *h)
{
	if (!rule->counted || rule->z <= 0) {
		text_printf(t, "not tested for noise: coloured is what changed by %g points and %g %%", rule->points,
			    100 * rule->relative);
		return;
	}
	text_printf(t, "coloured: what differs by %g standard errors, %g points of the total and %g %% of itself",
		    rule->z, rule->points, 100 * rule->relative);
	if (h->windows[0] + h->windows[1] > 2)
		text_printf(t, "; %u and %u windows: noise is %.1f times that of counting, drift between runs %.0f %%",
			    h->windows[0], h->windows[1], rule->dispersion, 100 * rule->drift);
	else
		text_add(t,
			 "; one window a side: only counting noise is known, two runs of one program differ by more");
}
