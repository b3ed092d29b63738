/*
 * escapes.c - a fake JVM whose version, command and name hold what a terminal obeys (security: terminal escapes from
 * pjmap --list).
 *
 * escapes SECS: draws some of them by lot, and waits.
 */
#include "test/lib/standin.h"

static const char *const bad[] = { "\033]0;PWNED\007",
				   "\033[2J",
				   "\xc2\x9b"
				   "31m",
				   "\x9b"
				   "31m",
				   "\xe2\x80\xae"
				   "drow",
				   "\r\n0 0 root",
				   "\010\010",
				   "\x7f",
				   "\xf3\xa0\x80\x81" };

/* As many as fit, by lot, in place of a text of the image. */
static void put_bad(struct synth *synth, struct synth *dice, const char *text)
{
	size_t n = strlen(text), used = 0;

	for (size_t at = 0; at + n < synth->n; at++) {
		if (memcmp(synth->byte + at, text, n + 1) != 0)
			continue;
		while (used < n) {
			const char *one = bad[synth_lot(dice, countof(bad))];

			if (strlen(one) > n - used)
				one = "x";
			memcpy(synth->byte + at + used, one, strlen(one));
			used += strlen(one);
		}
		return;
	}
}

int main(int argc, char **argv)
{
	const char *seed = getenv("PJ_SEED");
	struct synth dice = { .seed = seed ? strtoull(seed, NULL, 10) : 1 };
	struct standin j;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (argc < 2 || !standin_make(&j, SYNTH_21))
		return 1;
	put_bad(&j.s, &dice, "17.0.0+synth");
	put_bad(&j.s, &dice, "Work\tidle");
	prctl(PR_SET_NAME, bad[synth_lot(&dice, 2)]);
	if (!standin_map(&j))
		return 1;
	sleep((unsigned)atoi(argv[1]));
	standin_end(&j);
	return 0;
}
