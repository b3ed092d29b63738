/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recordopts.h - command line of pjrecord.
 *
 * record_parse checks all values and combinations, so that its callers need no checks. It exits with status 2 and a
 * message if the command line is invalid.
 */
#ifndef PJ_RECORDOPTS_H
#define PJ_RECORDOPTS_H

#include "common/base.h"
#include "common/filter/opt.h"
#include "record/interpreters/interpreters.h"

#include <sys/types.h>

/* The options with their defaults applied. Strings point into argv, except where a comment names an owner. */
struct request {
	/* Targets. If none is given, the target is the command; without a command, the host. */
	bool host;
	uint32_t *pid;
	size_t npids;
	/* paths of cgroup directories, from malloc */
	char **cgroup;
	size_t ncgroups;
	/* arguments of the command, NULL-terminated; NULL if there is no command. The recording ends with it. */
	char **command;

	/* Events and stacks. */
	const char *events;
	/* storage of `events` if --event was given, from malloc; else NULL */
	char *event_list;
	/* frequency: samples a second (Hz); period: number of occurrences of a counted event for each sample */
	uint64_t frequency, period;
	bool idle;
	enum request_unwind { UNWIND_BY_POINTERS, UNWIND_BY_TABLES, UNWIND_BY_BOTH, UNWIND_VERIFIED } unwind;
	/* size in bytes of the stack copy in each sample, for unwinding by tables */
	uint64_t stack_bytes;
	/* true: --stack-size was given, so a smaller copy is not acceptable */
	bool stack_given;
	/* processes of which the functions that interpreters run are shown */
	enum interpreters_choice interpreters;
	/* greatest number of frames of a stack that the unwinder produces */
	uint64_t max_frames;
	/* limit of the bytes of samples of one tenant in a second; 0: the default */
	uint64_t tenant_bytes;
	bool offcpu;
	bool wall; /* --wall, which sets offcpu, too */
	/* off-CPU times below this number of us are counted, but give no samples */
	uint64_t offcpu_least_us;

	/* Output. */
	/* path of the single file, or "-" for standard output; NULL: windows in dir */
	const char *output;
	const char *dir;
	/* true: dir is the current directory, as no other was given or is installed */
	bool dir_unspecified;
	/* length of a window in s; number of windows, 0: no limit */
	uint64_t seconds, count;
	/* true: the operand SECONDS was given */
	bool window_operand;
	/* duration of the recording in s; 0: no limit */
	uint64_t length_s;
	/* true: windows start at multiples of their length on the wall clock */
	bool align;
	/* true: pjpack adds the names of functions to the single file */
	bool portable;
	/* ends another recorder of the same directory and continues where its last window ends */
	bool replace;
	/* retention: bytes of all windows, and age of the oldest; 0 is no limit */
	uint64_t keep_bytes, keep_age_s;
	/* share of the file system that must stay free, 0 to 1 */
	double min_free;
	/* true: a symbol store is written */
	bool keep;
	/* true: the symbol store also holds files of the host itself */
	bool keep_all;
	/* limit of symbols/ and jit/ in bytes; 0: the default */
	uint64_t keep_symbols;

	/* Operation. */
	/* size in bytes of each CPU's ring of samples, a power of two; 0: selected automatically */
	uint64_t ring_bytes;
	/* share of lost samples, or of unknown off-CPU time, 0 to 1, above which the exit status is 3; negative: no
	 * limit */
	double max_lost;
	const char *user;
	bool quiet, verbose, check, cmdline;
	/* the recorder ends when the process `parent` ends */
	bool with_parent;
	pid_t parent;
	/* copy of the array argv as the user gave it, from malloc */
	char **argv;
};

/* Fills *request from the command line. Exits with status 2 on an invalid one, and with status 0 after --help or
 * --version. */
void record_parse(struct request *request, int argc, char **argv);
/* Frees the arrays of *request and zeroes it. */
void record_free(struct request *request);

#endif
