/* diff_test - names that are one, windows that scatter, columns that are scaled, many tests at once. */
/* covers: diff/noise.c diff/normalname.c diff/profile.c diff/scale.c */
#include "diff/normalname.h"
#include "diff/noise.h"
#include "diff/scale.h"
#include "diff/profile.h"
#include "diff/table.h"
#include "common/formats/folded.h"

#include "test/lib/node.h"
#include "test/lib/tap.h"

#include <math.h>
#include <stdlib.h>

/* ---- names --------------------------------------------------------------------------------------------------- */

static void named(const char *frame, const char *want, enum normalname_kind kind)
{
	/* a copy of exactly this size: who reads past it is caught by AddressSanitizer */
	size_t n = strlen(frame);
	char *copy = mem_alloc(1, n);
	struct normalname c = { 0 };
	enum normalname_kind got;
	struct str name;

	memcpy(copy, frame, n);
	name = normalname_name(&c, (struct str){ copy, n }, &got);
	if (!ok(str_eq(name, str_of(want)) && got == kind, frame))
		printf("# got '%.*s' kind %d\n", (int)name.n, name.p ? name.p : "", (int)got);
	normalname_free(&c);
	free(copy);
}

static void names(void)
{
	struct normalname c = { .strip_hex = true };
	enum normalname_kind kind;

	named("f", "f", NORMALNAME_NATIVE);
	named("", "", NORMALNAME_NATIVE);
	named("f_[j]", "f", NORMALNAME_JIT);
	named("f_[i]", "f", NORMALNAME_INLINED);
	named("f_[0]", "f", NORMALNAME_INTERPRETED);
	named("f_[1]", "f", NORMALNAME_C1);
	named("f_[k]", "f_[k]", NORMALNAME_NATIVE);
	named("f_[w]", "f_[w]", NORMALNAME_NATIVE);
	named("f.cold", "f", NORMALNAME_NATIVE);
	named("f.cold.12", "f", NORMALNAME_NATIVE);
	named("f.part.0", "f", NORMALNAME_NATIVE);
	named("f.part", "f.part", NORMALNAME_NATIVE);
	named("f.constprop.0.isra.2.cold", "f", NORMALNAME_NATIVE);
	named("f.lto_priv.0_[i]", "f", NORMALNAME_INLINED);
	named("f.llvm.123456789", "f", NORMALNAME_NATIVE);
	named("f.isra.0_[k]", "f_[k]", NORMALNAME_NATIVE);
	named(".cold", ".cold", NORMALNAME_NATIVE);
	named(".cold.0", ".cold.0", NORMALNAME_NATIVE);
	named("f.0", "f.0", NORMALNAME_NATIVE);
	named("pkg/Foo.cold_[j]", "pkg/Foo.cold", NORMALNAME_JIT);
	named("a/B$$Lambda$12/0x00007f04bc002aa0.run_[j]", "a/B$$Lambda.run", NORMALNAME_JIT);
	named("a/B$$Lambda$1/485815673.run_[0]", "a/B$$Lambda.run", NORMALNAME_INTERPRETED);
	named("a/B$$Lambda$14.run_[j]", "a/B$$Lambda.run", NORMALNAME_JIT);
	named("a/B$$Lambda/0x80.run", "a/B$$Lambda.run", NORMALNAME_NATIVE);
	named("a/B$$Lambda.run", "a/B$$Lambda.run", NORMALNAME_NATIVE);
	named("a/B.lambda$main$0_[i]", "a/B.lambda$main", NORMALNAME_INLINED);
	named("a/B.lambda$null$7f6d5c3e$1", "a/B.lambda$null", NORMALNAME_NATIVE);
	named("a/B.lambda$main", "a/B.lambda$main", NORMALNAME_NATIVE);
	named("lambda$x$1;", "lambda$x;", NORMALNAME_NATIVE);
	named("a/mylambda$x$1", "a/mylambda$x$1", NORMALNAME_NATIVE);
	named("java/lang/invoke/LambdaForm$MH/0x0000000800c8c400.invoke", "java/lang/invoke/LambdaForm$MH.invoke",
	      NORMALNAME_NATIVE);
	named("java/lang/invoke/LambdaForm$DMH/1234567.invokeStatic_[j]",
	      "java/lang/invoke/LambdaForm$DMH.invokeStatic", NORMALNAME_JIT);
	named("jdk/internal/reflect/GeneratedMethodAccessor12.invoke",
	      "jdk/internal/reflect/GeneratedMethodAccessor.invoke", NORMALNAME_NATIVE);
	named("jdk/proxy2/$Proxy14.get", "jdk/proxy/$Proxy.get", NORMALNAME_NATIVE);
	named("a/B+0x00007f04bc002aa0.run", "a/B.run", NORMALNAME_NATIVE);
	named("memcpy+0x1c", "memcpy", NORMALNAME_NATIVE);
	named("/0x1c", "/0x1c", NORMALNAME_NATIVE);
	named("$$Lambda$", "$$Lambda$", NORMALNAME_NATIVE);
	named("lambda$", "lambda$", NORMALNAME_NATIVE);
	named("0x", "0x", NORMALNAME_NATIVE);
	is_str(normalname_name(&c, STR("[unknown <0x7F1c>]_[j]"), &kind), STR("[unknown <0x...>]"), "--strip-hex");
	is_str(normalname_name(&c, STR("0x"), &kind), STR("0x"), "not without digits");
	c = (struct normalname){ .exact = true, .text = c.text, .hex = c.hex };
	is_str(normalname_name(&c, STR("a.cold_[j]"), &kind), STR("a.cold_[j]"), "--exact");
	normalname_free(&c);
}

/* ---- windows ------------------------------------------------------------------------------------------------- */

static void window(struct profile *profile, unsigned side, const char *const stack[], const uint64_t weight[], size_t n)
{
	struct stacks s = { 0 };

	for (size_t i = 0; i < n; i++)
		if (!stacks_add(&s, node_of(&s, str_of(stack[i])), 0, weight[i]))
			abort();
	if (!profile_add(profile, side, &s))
		abort();
	stacks_free(&s);
}

static const char *const stacks3[] = { "m;a_[j];a_[i]", "m;b.cold", "m;b_[k]" };

static void profiles(void)
{
	struct profile p = { .scatter = true };
	struct sig_rule r = { .z = 2, .dispersion = 1, .shares = true, .counted = true };
	struct noise n;
	double p1 = 130.0 / 400, q, phi;
	uint32_t a, aa, f;

	window(&p, 0, stacks3, (const uint64_t[]){ 20, 70, 10 }, 3);
	window(&p, 0, stacks3, (const uint64_t[]){ 40, 50, 10 }, 3);
	window(&p, 1, stacks3, (const uint64_t[]){ 30, 60, 10 }, 3);
	window(&p, 1, stacks3, (const uint64_t[]){ 40, 50, 10 }, 3);
	window(&p, 1, stacks3, NULL, 0);
	profile_end(&p);
	ok(p.windows[0] == 2 && p.windows[1] == 2, "an empty window does not count");
	a = node_of(&p.s, STR("m;a_[j]"));
	aa = node_of(&p.s, STR("m;a_[j];a_[j]"));
	f = intern_find(&p.s.frames, STR("a_[j]"));
	ok(p.s.self[0][aa] == 60 && p.s.self[1][aa] == 70, "kinds are one, by the heavier; a tie is compiled");
	ok(p.s.self[0][node_of(&p.s, STR("m;b"))] == 120 && p.s.self[0][node_of(&p.s, STR("m;b_[k]"))] == 20,
	   "but not kernel code");
	ok(fabs(p.node[0][a] - (400 + 1600) / 100.0) < 1e-9 && fabs(p.node[1][aa] - (900 + 1600) / 100.0) < 1e-9,
	   "sums by node");
	ok(fabs(p.frame[0][f] - 20) < 1e-9, "by function, recursion once");
	r.sum[0] = 200;
	r.sum[1] = 200;
	noise_dispersion(&n, &p, &r);
	/* chi^2: before 2 * 10^2 / 100, after 2 * 5^2 / 100, over p(1-p) and 2 degrees of freedom; the median of all is
	 * 1 */
	q = (2 * 100 + 2 * 25) / 100.0;
	phi = q / (p1 * (1 - p1)) / 2;
	ok(n.dispersion >= 1 && fabs((double)n.node[a] - (4 * n.dispersion + 2 * phi) / 6) < 1e-5,
	   "dispersion, drawn to the median");
	ok(n.frame[f] == n.node[a], "of the function, too");
	is_u64((uint64_t)(noise_drift(&p, &r) * 1000), 0, "no drift from so few");
	noise_free(&n);
	profile_free(&p);
}

/* Fifty functions that all differ by 8 % and some: the drift is found, and not more than 10 %. */
static void drift(void)
{
	static const double by[] = { 0.08, 0.5, 0.001 };
	double got[3];

	for (int k = 0; k < 3; k++) {
		struct profile p = { 0 };
		struct sig_rule r = { .z = 2, .dispersion = 1, .counted = true };

		for (unsigned side = 0; side < 2; side++) {
			struct stacks s = { 0 };
			char name[20];

			for (int i = 0; i < 50; i++) {
				snprintf(name, sizeof(name), "f%d", i);
				stacks_add(&s, node_of(&s, str_of(name)), 0,
					   (uint64_t)(1e7 * (1 + (side ? by[k] * (i - 25) / 12.5 : 0))));
			}
			profile_add(&p, side, &s);
			stacks_free(&s);
		}
		profile_end(&p);
		r.sum[0] = p.s.sum[0];
		r.sum[1] = p.s.sum[1];
		got[k] = noise_drift(&p, &r);
		profile_free(&p);
	}
	/* the median |d| is by, which is 0.6745 standard deviations */
	ok(fabs(got[0] - 0.1) < 1e-9 && got[1] == 0.1 && got[2] > 0.001 && got[2] < 0.002, "drift");
	printf("# %g %g %g\n", got[0], got[1], got[2]);
}

/* ---- scaling ------------------------------------------------------------------------------------------------- */

static void scaled(uint64_t factor, uint64_t to, unsigned n)
{
	struct stacks s = { 0 };
	uint64_t seed = 7, sum = 0, from, *was;
	bool near = true, saved = true;
	char name[20];

	for (unsigned i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		stacks_add(&s, node_of(&s, str_of(name)), 0, (1 + (seed >> 33) % 100) * factor);
	}
	stacks_add(&s, node_of(&s, STR("after")), 1, to);
	from = s.sum[0];
	was = mem_alloc(sizeof(*was), s.n);
	memcpy(was, s.self[0], s.n * sizeof(*was));
	ok(scale_column(&s) && s.sum[0] == to, "scaled");
	for (uint32_t id = 1; id < s.n; id++) {
		long double want = (long double)was[id] * (long double)to / (long double)from;

		sum += s.self[0][id];
		near = near && fabsl((long double)s.self[0][id] - want) < 1 + want * 1e-15L;
		saved = saved && (was[id] == 0 || s.self[0][id] > 0);
	}
	is_u64(sum, to, "the total is exact");
	ok(near, "each is less than one off");
	ok(saved || to < from, "scaled up, nothing vanishes");
	free(was);
	stacks_free(&s);
}

static void scaling(void)
{
	struct stacks s = { 0 };

	scaled(1, 22000, 1000);
	scaled(1, 70000, 1000);
	scaled(1, 3, 1000);
	scaled(1, 1, 1);
	scaled((uint64_t)1 << 45, (uint64_t)INT64_MAX, 1000);
	scaled(1, (uint64_t)INT64_MAX, 3);
	ok(!scale_column(&s), "nothing to scale");
	stacks_add(&s, node_of(&s, STR("a")), 0, 5);
	ok(!scale_column(&s) && s.self[0][1] == 5, "nothing to scale to");
	stacks_free(&s);
}

/* ---- many tests ---------------------------------------------------------------------------------------------- */

static void many(void)
{
	/* Benjamini and Hochberg 1995, their example: four of fifteen */
	double p[] = { 0.3240, 0.0001, 0.0004, 0.7590, 0.0019, 0.0095, 0.0201, 0.0278,
		       0.0298, 0.0344, 0.0459, 0.4262, 0.5719, 0.6528, 1 };

	ok(table_threshold(p, countof(p), 0.05) == 0.0095, "the example of the paper");
	ok(table_threshold(p, countof(p), 1e-9) == -1, "none");
	ok(table_threshold(p, 0, 0.05) == -1, "of none");
	ok(table_threshold((double[]){ 0.04, 0.05 }, 2, 0.05) == 0.05, "all");
}

int main(void)
{
	names();
	profiles();
	drift();
	scaling();
	many();
	return done();
}
