/* clocks_test - where aligned windows end, whatever the jitter between two clocks. */
/* covers: common/clocks.c */
#include "common/clocks.h"

#include "common/diag.h"
#include "test/lib/tap.h"

#define S SECOND_NS

int main(void)
{
	uint64_t begin = 777 * S, border = 0, bad = 0;

	diag_tool("pjtest");
	is_u64(clock_next(begin, 100 * S + 1, 60 * S), begin + 20 * S - 1, "the next multiple");
	is_u64(clock_border(begin, 5 * S, 30 * S, false), begin + 30 * S, "not aligned: as long as it is to be");
	is_u64(clock_border(begin, 5 * S, 0, false), UINT64_MAX, "without end");
	is_u64(clock_border(begin, 120 * S, 60 * S, true), begin + 60 * S, "from one multiple to the next");
	is_u64(clock_border(begin, 120 * S + 10, 60 * S, true), begin + 60 * S - 10, "a little behind it");
	is_u64(clock_border(begin, 120 * S - 10, 60 * S, true), begin + 60 * S + 10,
	       "a little before it: no window of 10 ns");
	is_u64(clock_border(begin, 140 * S, 60 * S, true), begin + 40 * S,
	       "the clock was set by 20 s: back to a multiple");
	is_u64(clock_border(begin, 160 * S, 60 * S, true), begin + 80 * S, "or by 40 s");
	for (uint64_t i = 0, b = begin; i < 1000; i++, b = border) {
		border = clock_border(b, 1200 * S + (b - begin) + (i % 3) * 1000 - 1000, 2 * S, true);
		bad += border - b < 2 * S - 3000 || border - b > 2 * S + 3000;
	}
	is_u64(bad, 0, "a thousand windows with a microsecond of jitter");
	return done();
}
