/* two folded texts, parted by a byte 1, and a third as second window of after: nothing is lost, and every judgement is
 * a number. */
/* covers: diff/profile.c diff/normalname.c */
#include "diff/noise.h"
#include "diff/scale.h"
#include "diff/profile.h"
#include "diff/table.h"
#include "common/formats/folded.h"

#include "test/fuzz/fuzz.h"

#include <math.h>

static struct profile p; /* static: freed here when the run before died */
static struct in in;

static uint64_t add(struct str text, unsigned side)
{
	struct folded_header h = { 0 };
	struct folded_tally t = { 0 };
	char path[32];
	int fd = fuzz_file(text.p, text.n, path);
	struct stacks *window;
	uint64_t sum;

	in_open(&in, path);
	close(fd);
	window = profile_window(&p, side);
	sum = stacks_sum(window, 0);
	if (folded_read(&in, window, &h, &t) == 2)
		die("a difference already");
	sum = stacks_sum(window, 0) - sum;
	if (!profile_read(&p, side))
		die("too heavy");
	in_close(&in);
	return sum;
}

static void assess(struct sig_rule *rule)
{
	struct noise n = { .dispersion = 1 };
	struct sig_change *c;
	struct table t;

	if (rule->sum[0] && rule->sum[1]) {
		noise_dispersion(&n, &p, rule);
		rule->drift = noise_drift(&p, rule);
	}
	rule->dispersion = n.dispersion;
	MUST(rule->dispersion >= 1 && rule->drift >= 0 && rule->drift <= NOISE_DRIFT_MAX);
	c = sig_assess(rule, &p.s, n.node);
	for (uint32_t id = 1; id < p.s.n; id++)
		MUST(isfinite((double)c[id].z) && isfinite((double)c[id].points) && c[id].relative >= 0 &&
		     c[id].relative <= 1.0001F && (c[id].why == SIG_CHANGED) == (c[id].level > 0));
	table_make(&t, rule, &p.s, n.frame, true);
	MUST(t.changed + t.moved <= t.n);
	table_free(&t);
	noise_free(&n);
	free(c);
}

int fuzz_one(const uint8_t *data, size_t n)
{
	struct str rest = { (const char *)data, n }, text[3];
	uint64_t sum[2];
	struct sig_rule r = { .z = 2, .points = 0.5, .relative = 0.01, .dispersion = 1, .counted = true };

	for (int i = 0; i < 3; i++)
		text[i] = str_cut(&rest, 1);
	if (in.raw)
		in_close(&in);
	profile_free(&p);
	p = (struct profile){ .scatter = text[2].n > 0 };
	if (FUZZ_GUARD()) /* weights that are too much, unlike units */
		return 0;
	sum[0] = add(text[0], 0);
	sum[1] = add(text[1], 1);
	sum[1] += add(text[2], 1);
	profile_end(&p);
	MUST(stacks_sum(&p.s, 0) == sum[0] && stacks_sum(&p.s, 1) == sum[1]);
	r.sum[0] = sum[0];
	r.sum[1] = sum[1];
	assess(&r);
	r.shares = sum[0] && sum[1];
	assess(&r);
	MUST(scale_column(&p.s) == (sum[0] && sum[1]));
	MUST(!(sum[0] && sum[1]) || stacks_sum(&p.s, 0) == sum[1]);
	return 0;
}
