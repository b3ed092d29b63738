/* SPDX-License-Identifier: Apache-2.0 */
/* recordopts.h - pjrecord's command line. Dies with status 2 when it makes no sense. */
#ifndef PJ_RECORDOPTS_H
#define PJ_RECORDOPTS_H

#include "common/base.h"
#include "common/filter/opt.h"

#include <sys/types.h>

struct request {
	/* whom */
	bool host;
	uint32_t *pid;
	size_t npids;
	char **cgroup; /* directories */
	size_t ncgroups;
	char **command; /* NULL: none */

	/* what */
	const char *events;
	char *event_list; /* the same, if any were given */
	uint64_t frequency, period;
	bool idle;
	enum request_unwind { UNWIND_BY_POINTERS, UNWIND_BY_TABLES, UNWIND_BY_BOTH, UNWIND_VERIFIED } unwind;
	uint64_t stack_bytes;  /* copied for it, */
	bool stack_given;      /* so many and not less */
	uint64_t max_frames;   /* of a stack that is walked */
	uint64_t tenant_bytes; /* of samples, each second; 0: the default */
	bool offcpu;
	uint64_t offcpu_least_us;

	/* into */
	const char *output; /* NULL: windows in dir */
	const char *dir;
	uint64_t seconds, count;
	bool align;
	uint64_t keep_bytes, keep_age_s;
	double min_free; /* 0..1 */
	bool keep;
	bool keep_all;
	uint64_t keep_symbols; /* bytes of symbols/ and jit/; 0: the default */

	/* how */
	uint64_t ring_bytes;
	double max_lost; /* share; below 0: no limit */
	const char *user;
	bool quiet, check, cmdline;
	bool with_parent; /* ends with who started it: parent */
	pid_t parent;
	char **argv; /* as given */
};

void record_parse(struct request *request, int argc, char **argv);
void record_free(struct request *request);

#endif
