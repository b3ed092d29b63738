/* How callers are found where not all can be had: which copies, which rings, and what is said. */
/* covers: record/unwind/fallback.c */
#include "record/unwind/fallback.h"
#include "record/unwind/samplestack.h"
#include "test/lib/tap.h"

#include <errno.h>

static struct fallback begin(uint64_t rate, size_t ring, bool choose)
{
	struct fallback f;

	fallback_begin(&f,
		       &(struct fallback_options){
			       .choose = choose, .stack_bytes = SAMPLESTACK_STACK, .rate = rate, .ring_bytes = ring });
	return f;
}

static bool says(const struct fallback *fallback, const char *what)
{
	struct text t = { 0 };
	bool found;

	fallback_text(&t, fallback);
	found = str_find_str(text_view(&t), str_of(what)) != -1;
	if (!found)
		printf("# %.*s\n", (int)t.n, t.p);
	text_free(&t);
	return found;
}

static void check_rings(void)
{
	struct fallback f = begin(303, 0, true);
	struct text t = { 0 };

	is_u64(f.bytes, SAMPLESTACK_STACK, "the usual rate: whole copies");
	is_u64(fallback_ring(&f), 8 << 20, "  and rings for a second");
	is_u64(fallback_ring_least(&f), 256 << 10, "  and what everybody may lock is enough");
	fallback_text(&t, &f);
	is_u64(t.n, 0, "  of which nothing is said");
	f = begin(9999, 0, true);
	is_u64(f.bytes, SAMPLESTACK_STACK, "9,999 Hz: the same copies");
	is_u64(fallback_ring(&f), RING_STACKS, "  rings have a limit");
	f = begin(0, 0, true);
	ok(!f.bytes && !fallback_ring(&f) && !fallback_ring_least(&f) && f.by == FALLBACK_NONE,
	   "no event has copies: no rings for them");
	text_free(&t);
}

static void check_given_rings(void)
{
	struct fallback f = begin(303, 128 << 10, true);

	is_u64(f.bytes, 8192, "a smaller ring: shorter copies");
	ok(says(&f, "copies of stacks have 8 kB, not 24"), "  which is said");
	ok(says(&f, "--ring-size=256K"), "  with the size that helps");
	f = begin(303, 8 << 10, true);
	is_u64(f.bytes, 0, "a ring that holds no sample: none");
	ok(says(&f, "by frame pointers only (--unwind=fp)"), "  which is said, too");
	f = begin(303, 8 << 10, false);
	is_u64(f.bytes, SAMPLESTACK_STACK, "who leaves us no choice gets what was asked for");
	fallback_begin(&f, &(struct fallback_options){ .choose = true,
						       .exactly = true,
						       .stack_bytes = SAMPLESTACK_STACK,
						       .rate = 303,
						       .ring_bytes = 128 << 10 });
	is_u64(f.bytes, 0, "a size that was given is kept, or no copies");
}

static void check_refused(void)
{
	struct fallback f = begin(303, 0, true);
	struct sources_failure map = { .step = SOURCES_MAP, .error = EPERM, .needed = 500 << 10 },
			       registers = { .step = SOURCES_OPEN, .error = ENOSYS, .what = "cycles" };

	ok(fallback_next(&f, &map) && f.bytes == 16384, "memory may not be locked: shorter copies");
	ok(fallback_next(&f, &map) && f.bytes == 8192, "  and shorter ones");
	ok(says(&f, "rings of 500 kB"), "  the first failure is told");
	ok(!says(&f, "smaller --ring-size"), "  not with a remedy that makes it worse");
	ok(fallback_next(&f, &map) && !f.bytes, "  and none");
	ok(!fallback_next(&f, &map), "then there is nothing less");
	f = begin(303, 0, true);
	ok(fallback_next(&f, &registers) && !f.bytes, "a kernel without registers: no copies");
	ok(says(&f, "refuses registers and copies of stacks of cycles: Function not implemented"), "  as it is said");
	f = begin(303, 0, false);
	ok(!fallback_next(&f, &map) && f.bytes == SAMPLESTACK_STACK, "tables only: it fails");
}

int main(void)
{
	check_rings();
	check_given_rings();
	check_refused();
	return done();
}
