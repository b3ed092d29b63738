/*
 * area - how much of a picture is coloured: area DIFF...
 *
 * For every differential folded text: percent of the area of all frames, each as wide as after, that sig_judge calls
 * changed, and that it calls moved. Shares or counts by the same rule as pjdiff.
 */
#include "common/formats/folded.h"
#include "common/significance.h"

#include <stdio.h>
#include <stdlib.h>

static void area(const char *path)
{
	struct stacks s = { 0 };
	struct folded_header h = { 0 };
	struct folded_tally t = { 0 };
	struct sig_rule r = { .counted = true };
	struct sig_change *c;
	uint64_t *after, larger, smaller;
	double all = 0, changed = 0, moved = 0;
	float *dispersion;
	struct in in;

	in_open(&in, path);
	if (folded_read(&in, &s, &h, &t) != 2)
		die("'%s' is no difference", path);
	in_close(&in);
	r.sum[0] = stacks_sum(&s, 0);
	r.sum[1] = stacks_sum(&s, 1);
	larger = r.sum[0] > r.sum[1] ? r.sum[0] : r.sum[1];
	smaller = r.sum[0] > r.sum[1] ? r.sum[1] : r.sum[0];
	r.shares = (double)(larger - smaller) > 0.02 * (double)larger;
	r.z = h.z;
	r.points = h.points;
	r.relative = h.relative;
	r.dispersion = h.dispersion > 0 ? h.dispersion : 1;
	r.drift = h.drift;
	dispersion = folded_dispersion(&h, &s);
	c = sig_assess(&r, &s, dispersion);
	after = stacks_totals(&s, 1);
	for (uint32_t id = 1; id < s.n; id++) {
		all += (double)after[id];
		changed += c[id].why == SIG_CHANGED ? (double)after[id] : 0;
		moved += c[id].why == SIG_MOVED ? (double)after[id] : 0;
	}
	printf("%.2f %.2f\n", all > 0 ? 100 * changed / all : 0, all > 0 ? 100 * moved / all : 0);
	free(after);
	free(c);
	free(dispersion);
	stacks_free(&s);
}

int main(int argc, char **argv)
{
	diag_tool("area");
	for (int i = 1; i < argc; i++)
		area(argv[i]);
	return 0;
}
