/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symhelper.h - the symbol saver's side of the parser process (symparser.h): starts it, sends requests to it, replaces
 * it.
 *
 * A parser that hangs or crashes is counted and replaced. For a while no parser gets files of the same fault domain
 * (backoff.h). The caller waits for a reply while the parser makes progress, for at most SYMHELPER_BLOCKED_NS without
 * progress, and for at most limit_ns in all.
 *
 * A file of one tenant may take over the parser, which could then write false names into the results of other tenants.
 * So a parser serves one tenant only; for a file of another tenant a new parser is started.
 */
#ifndef PJ_SYMHELPER_H
#define PJ_SYMHELPER_H

#include "common/process/backoff.h"
#include "record/perf/schedstat.h"
#include "record/symsaver/symparser.h"

#define SYMHELPER_BLOCKED_NS UINT64_C(2000000000)

struct symhelper {
	const char *proc;
	/* main function of the parser process: symparser_run. It is a pointer, so that the symbol saver, which opens
	 * files, is linked with no parser. */
	void (*run)(int socket);
	uint64_t limit_ns; /* maximum duration of one request, in ns; a longer one means that the parser hangs */
	pid_t pid;         /* pid of the running parser; 0: no parser runs */
	int socket, schedstat;
	uint64_t serial;
	/* Hashes (backoff_place) of two tenants. tenant: the tenant of the next request. of: the tenant of the running
	 * parser, whose files it has read. */
	uint64_t tenant, of;
	uint64_t place; /* fault domain of the files of the next request (backoff.h) */
	/* time that the running parser has spent on a CPU, and waiting for one, at the last reading */
	struct schedstat seen;
	uint64_t cpu_ns;              /* ns for which all parsers together have run or waited for a CPU */
	uint64_t started;             /* number of parsers started so far */
	enum symparser_answer failed; /* last failure of a request since symhelper_enter; SYMPARSER_DONE: none */
	struct backoff backoff;
};

void symhelper_init(struct symhelper *symhelper, const char *proc, void (*run)(int socket), uint64_t limit_ns);
void symhelper_free(struct symhelper *symhelper);

/* symhelper_enter sets the tenant and the fault domain (backoff.h) of the files of the next requests, and resets
 * `failed`. symhelper_for sets only the tenant. */
void symhelper_enter(struct symhelper *symhelper, const struct tenant *tenant, uint64_t place);
void symhelper_for(struct symhelper *symhelper, const struct tenant *tenant);

/* Returns the build-id of the file fd; its n is 0 if the file has no build-id or the parser failed. */
struct build_id symhelper_build_id(struct symhelper *symhelper, int fd);

/* symhelper_reduce reduces the file fd; symhelper_reduce_memory a program in the memory `mem` of a process, whose file
 * starts at virtual address `base`. Both write the result to the empty file `out`, at most max bytes of sections, fill
 * *reply, and return SYMPARSER_DONE on success. On failure of the parser, *reply is zeroed. */
enum symparser_answer symhelper_reduce(struct symhelper *symhelper, int fd, int out, uint64_t max,
				       struct symparser_reply *reply);
enum symparser_answer symhelper_reduce_memory(struct symhelper *symhelper, int mem, uint64_t base, int out,
					      uint64_t max, struct symparser_reply *reply);

/* Sets *end to the file offset of the end of the complete records of the jitdump fd (jitrecords_end), and returns the
 * result of the search. Returns RECORDS_LATER, without setting *end, if the parser failed. */
enum jitcopy_records symhelper_records(struct symhelper *symhelper, int fd, const struct jitcopy_span *span,
				       uint64_t *end);

#endif
