/* perls.h - finds the Perl interpreters of this machine; runs truth.pl in one until it waits for input. */
#ifndef PJ_TEST_PERLS_H
#define PJ_TEST_PERLS_H

#include "runtimes/perl/perl.h"
#include "test/lib/waitingprograms.h"

/* Finds Perls: in /usr/bin, and those that rootfs.sh unpacked in PJ_PERLS (default /var/tmp/pj-perl). Returns their
 * number. */
static inline size_t perls_find(struct waitingprogram *program)
{
	return waitingprograms_find(program, "perl5.[0-9]*[0-9]", "PJ_PERLS", "/var/tmp/pj-perl", perl_is_library);
}

/* Starts truth.pl with the arguments mode and depth, and waits until it waits for input. */
static inline bool perlrun_start(const struct waitingprogram *program, const char *mode, unsigned depth,
				 struct waitingrun *run)
{
	setenv("LC_ALL", "C", 1);
	return waitingrun_start(program, NULL, "perl/truth.pl", mode, depth, run);
}

/* Opens the memory of the process, and *perl by the first mapping of a file with Perl. */
static inline enum perl_answer perlrun_open(struct waitingrun *run, struct perl *perl)
{
	enum perl_answer answer = PERL_OTHER_FILE;
	uint64_t base[WAITINGRUN_BASES];
	size_t n;

	if (!waitingrun_open_memory(run))
		return PERL_UNREADABLE;
	n = waitingrun_bases(run, base, perl_is_library);
	for (size_t i = 0; i < n && answer == PERL_OTHER_FILE; i++)
		answer = perl_open(perl, &run->memory, run->base = base[i]);
	return answer;
}

#endif
