/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symparser.h - the process that parses ELF files and jitdumps of target processes for the symbol saver, and its
 * messages.
 *
 *	symbol saver ──request, descriptors──► parser
 *	             ◄──reply──
 *
 * The symbol saver has the recorder's capabilities. It opens the target's file and an empty file for the result, and
 * parses neither. The parser gets both descriptors. It has no capability and no file system (sandbox.h), and limits of
 * memory and of CPU time for each request. It writes the reduced file (elfreducer.h), and the symbol saver gives the
 * file its name. A reply is used only for the tenant of the file (symhelper.h).
 *
 * Messages are sent by SOCK_SEQPACKET: a request, then its reply. Both processes run the same build, so the structs
 * need no version.
 */
#ifndef PJ_SYMPARSER_H
#define PJ_SYMPARSER_H

#include "common/formats/buildid.h"
#include "record/jit/jitcopy.h"

/* Limit of the parser's memory in bytes, in addition to the memory of the process from which it is forked. A request
 * that needs more fails (SYMPARSER_CRASHED). The tables of a program in memory need 32 MB. */
#define SYMPARSER_MEMORY ((uint64_t)112 << 20)
/* Limit of the parser's CPU time for one request, in ms; the kernel kills a parser that exceeds it. The largest
 * accepted file (512 MB of symbols) takes 500 ms. */
#define SYMPARSER_CPU_MS 4000

enum symparser_question {
	SYMPARSER_ID,           /* read the build-id of a file from its segments, as the kernel does */
	SYMPARSER_REDUCE,       /* reduce an ELF file */
	SYMPARSER_MEMORY_IMAGE, /* reduce a program in the memory of a process */
	SYMPARSER_RECORDS       /* find the end of the complete records of a jitdump (jitrecords.h) */
};

/* Indexes of a request's descriptors. SYMPARSER_IN: the target's file, or /proc/PID/mem. SYMPARSER_OUT: the empty file
 * for the result, if the request has one. */
enum { SYMPARSER_IN, SYMPARSER_OUT };

struct symparser_request {
	uint64_t serial; /* id of the request; the reply repeats it */
	uint32_t question;
	/* for SYMPARSER_MEMORY_IMAGE: virtual address of the first byte of the program's file */
	uint64_t base;
	/* maximum bytes of the kept sections or tables; a larger result is refused (SYMPARSER_LARGE) */
	uint64_t max;
	struct jitcopy_span span; /* for SYMPARSER_RECORDS: range of the jitdump to search */
};

enum symparser_answer {
	SYMPARSER_DONE,
	SYMPARSER_NOT_ELF, /* the file is not an ELF file, or is damaged */
	SYMPARSER_LARGE,
	SYMPARSER_CANNOT_WRITE,
	/* The values from here on are never in replies; symhelper.h returns them. */
	SYMPARSER_HUNG,    /* the parser hung at this request, or hung earlier at files of this fault domain */
	SYMPARSER_CRASHED, /* the parser crashed, or exceeded its limits of memory or CPU time */
	SYMPARSER_OFF      /* no parser can be started now */
};

struct symparser_reply {
	uint64_t serial;
	uint32_t answer;
	uint32_t names; /* 1: the reduced file has names of functions; 0: it has none */
	struct build_id build_id;
	uint32_t records; /* for SYMPARSER_RECORDS: result of the search, an enum jitcopy_records */
	uint64_t end;     /* for SYMPARSER_RECORDS: file offset of the end of the complete records */
};

/* Enters the sandbox, and processes requests from the socket `saver` until the symbol saver closes its end. */
void symparser_run(int saver);

#endif
