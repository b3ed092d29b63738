/* Where the kernel's callchain continues a stack that was read: where that is certain only. */
/* covers: record/offcpu/waitjoin.c */
#include "record/offcpu/waitjoin.h"
#include "test/lib/tap.h"

enum { LEAF = 1, R = 2, G = 3, MAIN = 4, X = 5, Y = 6 };

#define find(walk, kernel) waitjoin_find(walk, countof(walk), kernel, countof(kernel))

int main(void)
{
	const uint64_t recursion[] = { LEAF, R, R, R, G, MAIN }, first[] = { LEAF, R }, third[] = { LEAF, R, R, R },
		       other[] = { LEAF, X, R }, deep[] = { LEAF, X, R, R, R }, more[] = { LEAF, X, R, R, R, G },
		       plain[] = { LEAF, G, R, Y, MAIN }, passed[] = { LEAF, X, G, R, Y }, two[] = { LEAF, X, R, Y },
		       twice[] = { LEAF, G, R, Y, G, R, Y, MAIN }, alone[] = { MAIN };

	is_u64(find(first, recursion), 1, "a walk that ends in the first frame of a recursion goes on there");
	is_u64(find(third, recursion), 3, "  one that ends in its last");
	is_u64(find(other, recursion), 6, "  and nowhere, if a caller differs and one address is equal");
	is_u64(find(deep, recursion), 3, "  but where three are equal");
	is_u64(find(more, recursion), 4, "  or four");
	is_u64(find(passed, plain), 3, "a walk with a caller that frame pointers missed");
	is_u64(find(two, plain), 5, "  nowhere with two equal addresses");
	is_u64(find(passed, twice), 8, "  nowhere if two places are as good");
	is_u64(find(alone, plain), 5, "a walk of one other address");
	is_u64(waitjoin_find(plain, 0, plain, 5), 5, "an empty walk");
	is_u64(waitjoin_find(plain, 5, plain, 0), 0, "no callchain of the kernel");
	is_u64(find(twice, plain), 4, "a walk that is longer than the kernel's callchain ends with it");
	is_u64(find(plain, plain), 4, "two equal ones");
	return done();
}
