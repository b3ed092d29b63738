/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symparser.h - the process that parses ELF files and jitdumps of strangers for the keeper, and the messages between
 *the two.
 *
 *	keeper ──question, descriptors──► parser
 *	       ◄──answer──
 *
 * The keeper has the recorder's capabilities: it opens the file of a stranger and makes an empty file of its own, and
 *parses neither. The parser gets both descriptors; it has no capability and no file system (sandbox.h), and limits of
 *memory and of CPU time for each question. It writes what is kept of the file (elfreducer.h); the keeper gives that its
 *name. The keeper trusts no answer beyond the tenant whose file it is about: see symhelper.h.
 *
 * Messages are SOCK_SEQPACKET, one question and one answer each. Both ends are of one build.
 */
#ifndef PJ_SYMPARSER_H
#define PJ_SYMPARSER_H

#include "common/formats/buildid.h"
#include "record/jit/jitcopy.h"

/* Limits: memory beyond that of the process that it was forked from, and CPU time for one question. The largest file
 * that is kept (512 MB of symbols) takes 0.5 s, the tables of a program in memory 32 MB. */
#define SYMPARSER_MEMORY ((uint64_t)112 << 20)
#define SYMPARSER_CPU_MS 4000

enum symparser_question {
	SYMPARSER_ID,           /* build-id of a file, as the kernel reads it: in segments */
	SYMPARSER_REDUCE,       /* writes what is kept of a file */
	SYMPARSER_MEMORY_IMAGE, /* the same of a program in the memory of a process */
	SYMPARSER_RECORDS       /* where complete records of a jitdump end (jitrecords.h) */
};

/* Descriptors of a question: of the stranger's file, or of /proc/PID/mem; of the empty file to write. */
enum { SYMPARSER_IN, SYMPARSER_OUT };

struct symparser_request {
	uint64_t serial; /* returned in the answer */
	uint32_t question;
	uint64_t base;            /* MEMORY_IMAGE: address of the file's first byte */
	uint64_t max;             /* bytes to keep */
	struct jitcopy_span span; /* RECORDS */
};

enum symparser_answer {
	SYMPARSER_DONE,
	SYMPARSER_NOT_ELF, /* or damaged */
	SYMPARSER_LARGE,
	SYMPARSER_CANNOT_WRITE,
	/* from symhelper.h: */
	SYMPARSER_HUNG,    /* now, or at this place before */
	SYMPARSER_CRASHED, /* or over its limits */
	SYMPARSER_OFF      /* there is no parser for now */
};

struct symparser_reply {
	uint64_t serial;
	uint32_t answer;
	uint32_t names; /* not 0: something in it names code */
	struct build_id build_id;
	uint32_t records; /* RECORDS: enum jitcopy_records, */
	uint64_t end;     /* and where they end */
};

/* Enters the sandbox, and answers until the other end is closed. */
void symparser_run(int saver);

#endif
