/* tap.h - functions for unit tests: ok(), is_str() and is_u64() print TAP; main ends with `return done();`. */
#ifndef PJ_TAP_H
#define PJ_TAP_H

#include "common/str.h"

#include <inttypes.h>
#include <stdio.h>

static int tap_n, tap_failed;

static inline bool tap_result(bool good, const char *file, int line, const char *what)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++tap_n, what);
	if (!good) {
		tap_failed++;
		printf("# failed at %s:%d\n", file, line);
	}
	fflush(stdout); /* otherwise a child process would print the line again */
	return good;
}

static inline bool tap_str(struct str got, struct str want, const char *file, int line, const char *what)
{
	bool good = tap_result(str_eq(got, want), file, line, what);

	if (!good)
		printf("# got  '%.*s'\n# want '%.*s'\n", (int)got.n, got.p ? got.p : "", (int)want.n, want.p);
	return good;
}

static inline bool tap_u64(uint64_t got, uint64_t want, const char *file, int line, const char *what)
{
	bool good = tap_result(got == want, file, line, what);

	if (!good)
		printf("# got  %" PRIu64 "\n# want %" PRIu64 "\n", got, want);
	return good;
}

#define ok(cond, what) tap_result((cond), __FILE__, __LINE__, what)
#define is_str(got, want, what) tap_str((got), (want), __FILE__, __LINE__, what)
#define is_u64(got, want, what) tap_u64((got), (want), __FILE__, __LINE__, what)

static inline int done(void)
{
	printf("1..%d\n", tap_n);
	return tap_failed != 0;
}

#endif
