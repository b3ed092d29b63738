/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symhelper.h - the keeper's end of the process that parses files of strangers (symparser.h): starts it, asks it,
 * replaces it.
 *
 * A parser that hangs or ends is counted and replaced; files of that place are not given to the next one for a while
 * (backoff.h). The caller waits for an answer as long as the parser makes progress, for SYMHELPER_BLOCKED_NS without
 * any.
 *
 * A file of one tenant may take the parser over, which then could write false names into what is kept for others. So a
 * parser answers questions for one tenant only: for the next tenant's file a new one is started.
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
	uint64_t limit_ns;       /* for one answer, whatever the parser does */
	pid_t pid;               /* 0: none */
	int socket, schedstat;
	uint64_t serial;
	uint64_t tenant, of;          /* for which is asked; for which the parser was started */
	uint64_t place;               /* where the files are that are asked about */
	struct schedstat seen;        /* of the parser */
	uint64_t cpu_ns;              /* of all parsers, on a CPU or in the queue for one */
	uint64_t started;             /* parsers */
	enum symparser_answer failed; /* the last failure of the parser since symhelper_enter; SYMPARSER_DONE: none */
	struct backoff backoff;
};

void symhelper_init(struct symhelper *symhelper, const char *proc, void (*run)(int socket), uint64_t limit_ns);
void symhelper_free(struct symhelper *symhelper);

/* What follows is asked about files of a place; for a tenant. */
void symhelper_enter(struct symhelper *symhelper, const struct tenant *tenant, uint64_t place);
void symhelper_for(struct symhelper *symhelper, const struct tenant *tenant);

/* The size of a file's build-id, 0 if there is none or the parser failed. */
struct build_id symhelper_build_id(struct symhelper *symhelper, int fd);

/* Writes what is kept of a file, or of a program in memory (base: address of the file's first byte), into the empty
 * file `out`. */
enum symparser_answer symhelper_reduce(struct symhelper *symhelper, int fd, int out, uint64_t max,
				       struct symparser_reply *reply);
enum symparser_answer symhelper_reduce_memory(struct symhelper *symhelper, int mem, uint64_t base, int out,
					      uint64_t max, struct symparser_reply *reply);

/* Where complete records of a jitdump end. RECORDS_LATER if the parser failed. */
enum jitcopy_records symhelper_records(struct symhelper *symhelper, int fd, const struct jitcopy_span *span,
				       uint64_t *end);

#endif
