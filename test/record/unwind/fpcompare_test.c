/* agreement_test - what frame pointers lose is told from what differs. */
/* covers: record/unwind/fpcompare.c */
#include "record/unwind/fpcompare.h"

#include "test/lib/tap.h"

#define N FPCOMPARE_NATIVE
#define K FPCOMPARE_KEEPS
#define B FPCOMPARE_NO_FRAME

static struct fpcompare_walk w;

/* A walk of frames 1, 2, 3 ... in such code, whole. */
static void walked(const enum fpcompare_code *code, size_t n)
{
	w.n = 0;
	w.complete = true;
	w.cut = false;
	for (size_t i = 0; i < n; i++)
		fpcompare_put(&w, i + 1, code[i]);
}
#define WALKED(...)                                          \
	walked((const enum fpcompare_code[]){ __VA_ARGS__ }, \
	       sizeof((const enum fpcompare_code[]){ __VA_ARGS__ }) / sizeof(enum fpcompare_code))

static size_t at;

static enum fpcompare pointers(const uint64_t *fp, size_t n, bool full)
{
	return fpcompare_of(&w, fp, n, full, &at);
}
#define POINTERS(...) pointers((const uint64_t[]){ __VA_ARGS__ }, sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8, false)

static void test_same(void)
{
	WALKED(K, K, K, N, N, N);
	ok(POINTERS(1, 2, 3, 4, 5, 6) == FPCOMPARE_SAME, "the same");
	ok(POINTERS(1, 3, 4, 5, 6) == FPCOMPARE_ONE_LOST, "but for the leaf's caller");
	ok(POINTERS(1, 2, 3, 4) == FPCOMPARE_SAME && POINTERS(1, 3, 4) == FPCOMPARE_ONE_LOST,
	   "libc's outermost frames are missing");
	ok(POINTERS(1, 2, 4, 5, 6) == FPCOMPARE_LOST, "a caller that Java has lost is none of these");
	ok(POINTERS(1, 2, 3) == FPCOMPARE_LOST && POINTERS(1, 2) == FPCOMPARE_LOST, "nor is an end in Java");
	WALKED(K, B, K, K, N);
	ok(POINTERS(1, 2, 4, 5) == FPCOMPARE_ONE_LOST && POINTERS(1, 4, 5) == FPCOMPARE_ONE_LOST,
	   "bare code loses its caller, too");
	WALKED(N, N, B, B, K, N);
	ok(POINTERS(1, 3, 6) == FPCOMPARE_ONE_LOST, "any number of them");
	ok(pointers((const uint64_t[]){ 1, 2 }, 2, true) == FPCOMPARE_SAME, "the kernel had no room for more");
	WALKED(K, K, K, K, K, K);
	for (size_t i = 1; i < 5; i++)
		w.frame[i].ip = 7;
	ok(POINTERS(1, 7, 7, 7, 6) == FPCOMPARE_ONE_LOST, "in a recursion: the innermost one");
	ok(POINTERS(1, 7, 7, 6) == FPCOMPARE_LOST, "  two are not");
}

static void test_less(void)
{
	WALKED(N, N, N, N, N, N);
	ok(POINTERS(1) == FPCOMPARE_FEWER, "no frame pointers");
	ok(POINTERS(1, 2) == FPCOMPARE_FEWER, "they end");
	ok(POINTERS(1, 2, 5, 6) == FPCOMPARE_FEWER, "they leave callers out");
	ok(POINTERS(1, 2, 99) == FPCOMPARE_FEWER && at == 2, "they go astray, and say where");
	ok(POINTERS(1, 2, 99, 5, 6) == FPCOMPARE_OTHER, "they have another caller, and come back");
	ok(POINTERS(1, 2, 3, 4, 5, 6, 7) == FPCOMPARE_OTHER, "they go on behind the root");
	WALKED(K, K, K, K);
	ok(POINTERS(1, 99) == FPCOMPARE_OTHER && POINTERS(1, 99, 3, 4) == FPCOMPARE_OTHER, "Java does not go astray");
	WALKED(B, K, K, K);
	ok(POINTERS(1, 99) == FPCOMPARE_FEWER && POINTERS(1, 99, 3, 4) == FPCOMPARE_FEWER,
	   "but where it makes its frame");
	ok(POINTERS(1, 2, 99, 4) == FPCOMPARE_OTHER, "  not behind it");
}

static void test_parts(void)
{
	WALKED(K, K, K);
	w.complete = false;
	w.cut = true;
	ok(POINTERS(1, 2, 3, 4, 5) == FPCOMPARE_SAME && POINTERS(1, 3, 4, 5) == FPCOMPARE_ONE_LOST,
	   "as far as the copy goes");
	ok(POINTERS(1, 2, 98, 99) == FPCOMPARE_OTHER, "  and others within");
	w.cut = false;
	ok(POINTERS(1, 2, 3, 4, 5) == FPCOMPARE_SHORT, "tables end where frame pointers go on");
	ok(POINTERS(1, 2, 3) == FPCOMPARE_SAME, "  or both do");
	w.n = 0;
	for (size_t i = 0; i < FPCOMPARE_FRAMES + 5; i++)
		fpcompare_put(&w, i + 1, K);
	ok(w.n == FPCOMPARE_FRAMES, "no more than there is room for");
}

int main(void)
{
	test_same();
	test_less();
	test_parts();
	return done();
}
