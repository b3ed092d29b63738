/* How many lost samples belong to the recorded processes. */
/* covers: record/session/lostshare.c */
#include "record/session/lostshare.h"

#include "test/lib/tap.h"

static void samples(struct lostshare *lostshare, uint32_t cpu, unsigned wanted, unsigned others)
{
	for (unsigned i = 0; i < wanted; i++)
		lostshare_sample(lostshare, cpu, true);
	for (unsigned i = 0; i < others; i++)
		lostshare_sample(lostshare, cpu, false);
}

int main(void)
{
	struct lostshare lostshare = { 0 };
	uint64_t sum = 0;

	is_u64(lostshare_of(&lostshare, 3, 1000), 1000, "without a sample, all are counted");
	is_u64(lostshare_of_all(&lostshare, 1000), 1000, "on unknown CPUs, too");
	samples(&lostshare, 0, 10, 0);
	is_u64(lostshare_of(&lostshare, 0, 1000), 1000, "without other processes, all are counted");
	samples(&lostshare, 1, 1, 999);
	is_u64(lostshare_of(&lostshare, 1, 1000000), 1000, "of a CPU with other processes, the share is counted");
	is_u64(lostshare_of(&lostshare, 0, 1000), 1000, "other CPUs keep their own share");
	for (unsigned i = 0; i < 10000; i++)
		sum += lostshare_of(&lostshare, 1, 1);
	is_u64(sum, 10, "single losses add up to the share");
	is_u64(lostshare_of(&lostshare, 1, UINT64_MAX / 1000 * 1000), UINT64_MAX / 1000,
	       "the largest number does not overflow");
	is_u64(lostshare_of_all(&lostshare, 1010), 11, "on unknown CPUs, the share of all CPUs is counted");
	samples(&lostshare, 1, 100000, 0);
	ok(lostshare_of(&lostshare, 1, 1000000) > 990000, "recent samples count more than earlier ones");
	samples(&lostshare, UINT32_MAX, 1, 1);
	ok(lostshare.n <= 8192, "the number of a CPU is limited");
	is_u64(lostshare_of(&lostshare, UINT32_MAX - 1, 10), 5, "CPUs beyond the limit share a row");
	lostshare_free(&lostshare);
	return done();
}
