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

/* Limits of the parser: memory in bytes, in addition to that of the process from which it was forked; CPU time of one
 * request in ms. The largest accepted file (512 MB of symbols) takes 0.5 s; the tables of a program in memory take 32
 * MB. */
#define SYMPARSER_MEMORY ((uint64_t)112 << 20)
#define SYMPARSER_CPU_MS 4000

enum symparser_question {
	SYMPARSER_ID,           /* read the build-id of a file from its segments, as the kernel does */
	SYMPARSER_REDUCE,       /* reduce a file */
	SYMPARSER_MEMORY_IMAGE, /* reduce a program in the memory of a process */
	SYMPARSER_RECORDS       /* find the end of the complete records of a jitdump (jitrecords.h) */
};

/* Indexes of a request's descriptors. IN: the target's file, or /proc/PID/mem. OUT: the empty file for the result. */
enum { SYMPARSER_IN, SYMPARSER_OUT };

struct symparser_request {
	uint64_t serial; /* serial number of the request; the reply has the same one */
	uint32_t question;
	uint64_t base;            /* SYMPARSER_MEMORY_IMAGE: address of the first byte of the program's file */
	uint64_t max;             /* maximum size of the result in bytes */
	struct jitcopy_span span; /* SYMPARSER_RECORDS: range of the jitdump */
};

enum symparser_answer {
	SYMPARSER_DONE,
	SYMPARSER_NOT_ELF, /* the file is no ELF file, or is damaged */
	SYMPARSER_LARGE,
	SYMPARSER_CANNOT_WRITE,
	/* The following values are not in replies; symhelper.h sets them. */
	SYMPARSER_HUNG,    /* the parser hung, now or earlier with files of this fault domain */
	SYMPARSER_CRASHED, /* the parser crashed, or exceeded its limits of memory or CPU time */
	SYMPARSER_OFF      /* no parser can be started now */
};

struct symparser_reply {
	uint64_t serial;
	uint32_t answer;
	uint32_t names; /* not 0: the reduced file has names of code */
	struct build_id build_id;
	uint32_t records; /* SYMPARSER_RECORDS: result of the search, enum jitcopy_records */
	uint64_t end;     /* SYMPARSER_RECORDS: offset of the end of the complete records */
};

/* Enters the sandbox, and answers requests from the socket `saver` until the symbol saver closes it. */
void symparser_run(int saver);

#endif
