/* rounding_test - rounded() gives the integers of llround. */
/* covers: common/rounding.h */
#include "common/rounding.h"

#include "test/lib/tap.h"

#include <math.h>

static bool same(double number)
{
	if (rounded(number) == llround(number) && rounded(-number) == llround(-number))
		return true;
	printf("# %a: got %" PRId64 ", want %lld\n", number, rounded(number), llround(number));
	return false;
}

int main(void)
{
	static const double some[] = { 0, 0.25, 0.5, 0.75, 1, 2.5, 1e15, 4503599627370496, 9007199254740994, 9.2e18 };
	bool halves = true, near = true, binary = true;

	for (size_t i = 0; i < countof(some); i++)
		ok(same(some[i]), "a number");
	for (unsigned i = 0; i < 100000; i++) {
		halves = same(i + .5) && halves;
		near = same(nextafter(i + .5, 0)) && same(nextafter(i + .5, 1e9)) && near;
	}
	for (int e = -60; e < 63; e++)
		binary = same(ldexp(1, e)) && same(nextafter(ldexp(1, e), 0)) && same(ldexp(1.5, e)) && binary;
	ok(halves, "halves are rounded away from 0");
	ok(near, "the numbers next to them are not: 0.49999999999999994 + 0.5 would be 1");
	ok(binary, "powers of two up to 2^62, and what is next to them");
	return done();
}
