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
	/* function of the parser process: symparser_run. A pointer, so that a process that opens files is linked with
	 * no parser. */
	void (*run)(int socket);
	uint64_t limit_ns; /* maximum duration of one request, in ns */
	pid_t pid;         /* pid of the running parser; 0: there is none */
	int socket, schedstat;
	uint64_t serial;
	/* tenant: tenant of the next request; of: tenant of the running parser; both as a hash (backoff_place) */
	uint64_t tenant, of;
	uint64_t place;               /* fault domain of the files of the next request (backoff.h) */
	struct schedstat seen;        /* times of the running parser when last read */
	uint64_t cpu_ns;              /* time in ns for which all parsers together ran or waited for a CPU */
	uint64_t started;             /* number of parsers that were started */
	enum symparser_answer failed; /* last failure of the parser since symhelper_enter; SYMPARSER_DONE: none */
	struct backoff backoff;
};

void symhelper_init(struct symhelper *symhelper, const char *proc, void (*run)(int socket), uint64_t limit_ns);
void symhelper_free(struct symhelper *symhelper);

/* symhelper_enter sets the tenant and the fault domain of the files of the next requests; symhelper_for sets the tenant
 * alone. */
void symhelper_enter(struct symhelper *symhelper, const struct tenant *tenant, uint64_t place);
void symhelper_for(struct symhelper *symhelper, const struct tenant *tenant);

/* Returns the build-id of a file; its n is 0 if the file has none or the parser failed. */
struct build_id symhelper_build_id(struct symhelper *symhelper, int fd);

/* These reduce a file, or a program in the memory of a process, to the empty file `out` of at most max bytes. base is
 * the address of the first byte of the program's file. */
enum symparser_answer symhelper_reduce(struct symhelper *symhelper, int fd, int out, uint64_t max,
				       struct symparser_reply *reply);
enum symparser_answer symhelper_reduce_memory(struct symhelper *symhelper, int mem, uint64_t base, int out,
					      uint64_t max, struct symparser_reply *reply);

/* Finds the end of the complete records of a jitdump (jitrecords_end). Returns RECORDS_LATER if the parser failed. */
enum jitcopy_records symhelper_records(struct symhelper *symhelper, int fd, const struct jitcopy_span *span,
				       uint64_t *end);

#endif
