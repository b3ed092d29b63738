/* SPDX-License-Identifier: Apache-2.0 */
#include "svg/rule.h"

/* Returns true if weights are numbers of samples, so that their counting noise is known; false if they are amounts of
 * time, memory or events, where one sample has a large weight. shown: unit in the header of the input. It decides
 * unless it is empty; then `unit`, which the user gave, decides. */
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

static double rule_choose(double option, bool known, double shown, double otherwise)
{
	return option >= 0 ? option : known ? shown : otherwise;
}

struct sig_rule rule_make(const struct request *request, const struct folded_header *header,
			  const struct stacks *stacks, struct str unit)
{
	return (struct sig_rule){
		.z = rule_choose(request->z, header->has_rule, header->z, SIG_Z),
		.points = rule_choose(request->points, header->has_rule, header->points, SIG_POINTS),
		.relative = rule_choose(request->relative, header->has_rule, header->relative, SIG_RELATIVE),
		.dispersion = header->dispersion > 1 ? header->dispersion : 1,
		.drift = header->drift,
		.shares = header->has_compare ? header->by_shares :
						sig_by_shares(stacks_sum(stacks, 0), stacks_sum(stacks, 1)),
		.counted = is_count(header->unit, unit),
		.sum = { stacks_sum(stacks, 0), stacks_sum(stacks, 1) },
	};
}

void rule_caveat(struct text *text, const struct sig_rule *rule, const struct folded_header *header)
{
	if (!rule->counted || rule->z <= 0) {
		text_printf(text, "not tested for noise: coloured frames changed by at least %g points and %g %%",
			    rule->points, 100 * rule->relative);
		return;
	}
	text_printf(text,
		    "coloured frames differ by at least %g standard errors, %g points of the total and %g %% "
		    "of themselves",
		    rule->z, rule->points, 100 * rule->relative);
	if (header->windows[0] + header->windows[1] > 2)
		text_printf(text,
			    "; %u and %u windows: noise is %.1f times that of counting, drift between runs %.0f %%",
			    header->windows[0], header->windows[1], rule->dispersion, 100 * rule->drift);
	else
		text_add(text,
			 "; one window a side: only counting noise is known, two runs of one program differ by more");
}
