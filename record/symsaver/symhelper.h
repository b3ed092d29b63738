/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symhelper.h - the symbol saver's end of the process that parses files of target processes (symparser.h): starts it,
 * sends requests, replaces it.
 *
 * A parser that hangs or ends is counted and replaced; files of that place are not given to the next one for a while
 * (backoff.h). The caller waits for a reply as long as the parser makes progress, and SYMHELPER_BLOCKED_NS without any.
 *
 * A file of one tenant may take the parser over, which could then write false names into files of other tenants. So a
 * parser serves one tenant only: for a file of another tenant a new one is started.
 */
#ifndef PJ_SYMHELPER_H
#define PJ_SYMHELPER_H

#include "common/process/backoff.h"
#include "record/perf/schedstat.h"
#include "record/symsaver/symparser.h"

#define SYMHELPER_BLOCKED_NS UINT64_C(2000000000)

struct symhelper {
	const char *proc;
	void (*run)(int socket); /* symparser_run; given, so that an opener is not linked with any parser */
	uint64_t limit_ns;       /* time limit of one reply */
	pid_t pid;               /* 0: none */
	int socket, schedstat;
	uint64_t serial;
	uint64_t tenant, of;          /* tenant of the next request; tenant of the running parser */
	uint64_t place;               /* place of the files (backoff.h) */
	struct schedstat seen;        /* of the parser, at the last reading */
	uint64_t cpu_ns;              /* of all parsers, running or waiting for a CPU */
	uint64_t started;             /* number of parsers started */
	enum symparser_answer failed; /* the last failure of the parser since symhelper_enter; SYMPARSER_DONE: none */
	struct backoff backoff;
};

void symhelper_init(struct symhelper *symhelper, const char *proc, void (*run)(int socket), uint64_t limit_ns);
void symhelper_free(struct symhelper *symhelper);

/* Sets place and tenant of the files of the next requests; or the tenant alone. */
void symhelper_enter(struct symhelper *symhelper, const struct tenant *tenant, uint64_t place);
void symhelper_for(struct symhelper *symhelper, const struct tenant *tenant);

/* Returns the build-id of a file; n is 0 if it has none or the parser failed. */
struct build_id symhelper_build_id(struct symhelper *symhelper, int fd);

/* Reduces a file, or a program in memory (base: address of the first byte of its file), to the empty file `out`. */
enum symparser_answer symhelper_reduce(struct symhelper *symhelper, int fd, int out, uint64_t max,
				       struct symparser_reply *reply);
enum symparser_answer symhelper_reduce_memory(struct symhelper *symhelper, int mem, uint64_t base, int out,
					      uint64_t max, struct symparser_reply *reply);

/* Finds the end of the complete records of a jitdump. Returns RECORDS_LATER if the parser failed. */
enum jitcopy_records symhelper_records(struct symhelper *symhelper, int fd, const struct jitcopy_span *span,
				       uint64_t *end);

#endif
