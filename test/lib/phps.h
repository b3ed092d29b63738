/* phps.h - the PHPs of this machine, and programs that run in them until they wait for input. */
#ifndef PJ_TEST_PHPS_H
#define PJ_TEST_PHPS_H

#include "runtimes/php/php.h"
#include "test/lib/waitingprograms.h"

/* Finds PHPs: /usr/bin, and those that rootfs.sh unpacked in PJ_PHPS (else /var/tmp/pj-php). Returns their number. */
static inline size_t phps_find(struct waitingprogram *program)
{
	return waitingprograms_find(program, "php[78].[0-9]", "PJ_PHPS", "/var/tmp/pj-php", php_is_library);
}

/* Starts truth.php with two arguments, and waits for its first stop. options: of PHP, as one argument; NULL: none. */
static inline bool phprun_start(const struct waitingprogram *program, const char *options, const char *mode,
				unsigned depth, struct waitingrun *run)
{
	const char *const option[] = { "-n", "-d", options ? options : "display_errors=0", NULL };

	return waitingrun_start(program, option, "php/truth.php", mode, depth, run);
}

/* Opens its memory, and PHP in the first mapping that has it. */
static inline enum php_answer phprun_open(struct waitingrun *run, struct php *php)
{
	enum php_answer answer = PHP_OTHER_FILE;
	uint64_t base[WAITINGRUN_BASES];
	size_t n;

	if (!waitingrun_open_memory(run))
		return PHP_UNREADABLE;
	n = waitingrun_bases(run, base, php_is_library);
	for (size_t i = 0; i < n && answer == PHP_OTHER_FILE; i++)
		answer = php_open(php, &run->memory, run->base = base[i]);
	return answer;
}

#endif
