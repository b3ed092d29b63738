/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recordopts.h - the command line of pjrecord.
 *
 * record_parse checks all values and their combinations, so its caller need not check them. If the command line is
 * invalid, record_parse exits with status 2 and a message.
 */
#ifndef PJ_RECORDOPTS_H
#define PJ_RECORDOPTS_H

#include "common/base.h"
#include "common/filter/opt.h"
#include "record/interpreters/interpreters.h"

#include <sys/types.h>

/* Values of all options, with defaults for options not given. Strings point into argv, unless a comment has "from
 * malloc". */
struct request {
	/* Targets: host (-a), processes (-p), cgroups (-G). Without any, the target is the command; without a command,
	 * the host. */
	bool host;
	uint32_t *pid;
	size_t npids;
	/* paths of cgroup directories, from malloc */
	char **cgroup;
	size_t ncgroups;
	/* the command and its arguments, NULL-terminated; NULL: no command. The recording ends when the command
	 * ends. */
	char **command;

	/* names of the events, separated by commas */
	const char *events;
	/* memory of `events` if --event was given, from malloc; otherwise NULL */
	char *event_list;
	/* frequency: samples per second (Hz) on each busy CPU. period: number of occurrences per sample of an event
	 * with a fixed period. */
	uint64_t frequency, period;
	/* true: idle CPUs are sampled, too */
	bool idle;
	enum request_unwind { UNWIND_BY_POINTERS, UNWIND_BY_TABLES, UNWIND_BY_BOTH, UNWIND_VERIFIED } unwind;
	/* size in bytes of the stack copy in each sample, for unwinding by tables */
	uint64_t stack_bytes;
	/* true: --stack-size was given, so no smaller stack copy is accepted */
	bool stack_given;
	/* choice of the processes whose interpreted functions are recorded */
	enum interpreters_choice interpreters;
	/* maximum number of frames of a stack that the unwinder produces; deeper stacks are truncated */
	uint64_t max_frames;
	/* maximum bytes of samples of one tenant per second, beyond which samples lose their stacks; 0: the default */
	uint64_t tenant_bytes;
	/* true: off-CPU times are recorded, too */
	bool offcpu;
	bool wall; /* true: --wall was given; then offcpu is true, too */
	/* minimum off-CPU time in us that gives a sample; shorter times are only counted */
	uint64_t offcpu_least_us;

	/* path of the single file, or "-" for standard output; NULL: windows in `dir` */
	const char *output;
	/* directory of the windows */
	const char *dir;
	/* true: no directory was given, so dir is the current directory; --check uses /var/lib/pj instead if that
	 * exists */
	bool dir_unspecified;
	/* seconds: length of a window in s. count: number of windows to record; 0: no limit. */
	uint64_t seconds, count;
	/* true: the operand SECONDS was given */
	bool window_operand;
	/* duration of the recording in ns, after which it ends; 0: no limit */
	uint64_t length_ns;
	/* true: windows start at multiples of their length on the wall clock (--align) */
	bool align;
	/* true: pjpack adds the names of functions to the single file (--portable) */
	bool portable;
	/* true: another recorder of the same directory is ended, and this one continues where its last window ends
	 * (--replace) */
	bool replace;
	/* Limits of retention, beyond which windows are deleted. keep_bytes: of all windows, in bytes. keep_age_s: of a
	 * window's age, in s. 0: no limit. */
	uint64_t keep_bytes, keep_age_s;
	/* share of the file system, 0 to 1: retention deletes windows if a smaller share is free */
	double min_free;
	/* true: a symbol store is written */
	bool keep;
	/* true: files of the host itself are stored in the symbol store, too (--keep-symbols=all) */
	bool keep_all;
	/* maximum bytes of symbols/ and jit/, beyond which files are removed; 0: the default */
	uint64_t keep_symbols;

	/* size in bytes of each CPU's ring of samples, a power of two; 0: chosen automatically */
	uint64_t ring_bytes;
	/* share of lost samples, or of unknown off-CPU time, 0 to 1, above which the exit status is 3; negative: no
	 * limit */
	double max_lost;
	const char *user;
	bool quiet, verbose, check, cmdline;
	/* true: the recorder ends when the process `parent`, which started it, ends */
	bool with_parent;
	/* true: the command gets the default actions of SIGINT and SIGQUIT, even if a shell started the recorder in the
	 * background, with both ignored */
	bool foreground;
	pid_t parent;
	/* copy of the array argv of main, from malloc */
	char **argv;
};

/* Fills *request from the command line. Exits with status 2 and a message if the command line is invalid, and with
 * status 0 after --help or --version. */
void record_parse(struct request *request, int argc, char **argv);
/* Frees the memory of *request and sets *request to zero. */
void record_free(struct request *request);

#endif
