/* phps.h - finds the PHP interpreters of this machine; runs truth.php in one until it waits for input. */
#ifndef PJ_TEST_PHPS_H
#define PJ_TEST_PHPS_H

#include "runtimes/php/php.h"
#include "test/lib/waitingprograms.h"

/* Finds PHPs: in /usr/bin, and those that rootfs.sh unpacked in PJ_PHPS (default /var/tmp/pj-php). Returns their
 * number. */
static inline size_t phps_find(struct waitingprogram *program)
{
	return waitingprograms_find(program, "php[78].[0-9]", "PJ_PHPS", "/var/tmp/pj-php", php_is_library);
}

/* Starts truth.php with the arguments mode and depth, and waits until it waits for input. options: options of PHP, as
 * one argument; NULL: none. */
static inline bool phprun_start(const struct waitingprogram *program, const char *options, const char *mode,
				unsigned depth, struct waitingrun *run)
{
	const char *const option[] = { "-n", "-d", options ? options : "display_errors=0", NULL };

	return waitingrun_start(program, option, "php/truth.php", mode, depth, run);
}

/* As phprun_start, with opcache's JIT compiler. jit: the option opcache.jit=MODE. opcache is a part of PHP since 8.5,
 * and a module before. */
static inline bool phprun_start_compiled(const struct waitingprogram *program, const char *jit, const char *mode,
					 unsigned depth, struct waitingrun *run)
{
	bool module = program->program[strlen(program->program) - 1] < '5';
	const char *const option[] = { "-n",
				       "-d",
				       "opcache.enable_cli=1",
				       "-d",
				       "opcache.jit_buffer_size=16M",
				       "-d",
				       jit,
				       "-d",
				       "opcache.file_update_protection=0", /* compiles new files, too */
				       "-d",
				       "display_errors=0",
				       module ? "-d" : NULL,
				       "zend_extension=opcache.so",
				       NULL };

	return waitingrun_start(program, option, "php/truth.php", mode, depth, run);
}

/* Returns the text of /proc/PID/maps, valid until the next call. */
static inline struct str phprun_maps(const struct waitingrun *run)
{
	static char maps[1 << 18];
	char path[64];
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)run->pid);
	file = fopen(path, "re");
	n = file ? fread(maps, 1, sizeof(maps), file) : 0;
	if (file)
		fclose(file);
	return (struct str){ maps, n };
}

/* Opens the memory of the process, and *php by the first mapping of a file with PHP. */
static inline enum php_answer phprun_open(struct waitingrun *run, struct php *php)
{
	enum php_answer answer = PHP_OTHER_FILE;
	uint64_t base[WAITINGRUN_BASES];
	struct str maps;
	size_t n;

	if (!waitingrun_open_memory(run))
		return PHP_UNREADABLE;
	maps = phprun_maps(run);
	n = waitingrun_bases(run, base, php_is_library);
	for (size_t i = 0; i < n && answer == PHP_OTHER_FILE; i++)
		answer = php_open(php, &run->memory, run->base = base[i], maps);
	return answer;
}

#endif
