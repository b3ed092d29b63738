/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symparser.h - the process that parses ELF files and jitdumps of target processes for the symbol saver, and the
 * messages between the two.
 *
 *	symbol saver ──request, descriptors──► parser
 *	             ◄──reply──
 *
 * The symbol saver has the recorder's capabilities: it opens the target's file and an empty file for the result, and
 * parses neither. The parser gets both descriptors; it has no capability and no file system (sandbox.h), and limits
 * of memory and of CPU time for each request. It writes the reduced file (elfreducer.h); the symbol saver gives it
 * its name. A reply counts only for the tenant of the file: see symhelper.h.
 *
 * Messages are SOCK_SEQPACKET: a request and a reply. Both ends are of one build.
 */
#ifndef PJ_SYMPARSER_H
#define PJ_SYMPARSER_H

#include "common/formats/buildid.h"
#include "record/jit/jitcopy.h"

/* Limits: memory beyond that of the process that it was forked from, and CPU time of one request. The largest accepted
 * file (512 MB of symbols) takes 0.5 s, the tables of a program in memory 32 MB. */
#define SYMPARSER_MEMORY ((uint64_t)112 << 20)
#define SYMPARSER_CPU_MS 4000

enum symparser_question {
	SYMPARSER_ID,           /* build-id of a file, as the kernel reads it: in segments */
	SYMPARSER_REDUCE,       /* reduces a file */
	SYMPARSER_MEMORY_IMAGE, /* reduces a program in the memory of a process */
	SYMPARSER_RECORDS       /* finds the end of the complete records of a jitdump (jitrecords.h) */
};

/* Descriptors of a request: of the target's file, or of /proc/PID/mem; of the empty file to write. */
enum { SYMPARSER_IN, SYMPARSER_OUT };

struct symparser_request {
	uint64_t serial; /* returned in the reply */
	uint32_t question;
	uint64_t base;            /* MEMORY_IMAGE: address of the file's first byte */
	uint64_t max;             /* limit of the result in bytes */
	struct jitcopy_span span; /* RECORDS */
};

enum symparser_answer {
	SYMPARSER_DONE,
	SYMPARSER_NOT_ELF, /* or damaged */
	SYMPARSER_LARGE,
	SYMPARSER_CANNOT_WRITE,
	/* set by symhelper.h: */
	SYMPARSER_HUNG,    /* now, or earlier at this place */
	SYMPARSER_CRASHED, /* or over its limits */
	SYMPARSER_OFF      /* no parser runs now */
};

struct symparser_reply {
	uint64_t serial;
	uint32_t answer;
	uint32_t names; /* not 0: the result names code */
	struct build_id build_id;
	uint32_t records; /* RECORDS: enum jitcopy_records, */
	uint64_t end;     /* and where they end */
};

/* Enters the sandbox, and answers requests until the other end is closed. */
void symparser_run(int saver);

#endif
