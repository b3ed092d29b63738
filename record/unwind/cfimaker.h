/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfimaker.h - messages to and between the two helper processes that make unwind tables of target processes' files.
 *
 * 	recorder ──request──► opener ──descriptor──► parser
 * 	         ◄──reply, image──   ◄──reply, image──
 *
 * The opener has the recorder's capabilities: it finds the file, checks that it is the mapped one, and parses nothing
 * of it. The parser gets the descriptor. It has no capability and no file system (sandbox.h), and limits of memory and
 * of CPU time for each file. The recorder gets an image of the table (unwind_table_save) in sealed memory. Files are
 * processed one after the other. A file system that does not respond blocks the opener or the parser: the recorder
 * waits for neither, kills both, and avoids that tenant's files for a time (backoff.h). If one of the two ends, the
 * other one ends, too.
 */
#ifndef PJ_CFIMAKER_H
#define PJ_CFIMAKER_H

#include "common/formats/fileid.h"
#include "common/base.h"

/* Limit for the path of a mapping, in bytes. */
#define CFIMAKER_PATH 4096

/* Limits of the parser: memory in addition to that of the process from which it is forked, and CPU time for one
 * file. The tables of the largest browser take 60 MB and 0.2 s. */
#define CFIPARSER_MEMORY ((uint64_t)112 << 20)
#define CFIPARSER_CPU_MS 2000

/* Request for the table of a file that process `pid` mapped. All members come from the kernel's records. */
struct cfimaker_request {
	/* number is returned in the reply */
	uint32_t number, pid;
	uint64_t start_ticks, mount_ns; /* 0: unknown */
	uint64_t address;               /* start of the mapping */
	struct file_id file_id;
	/* bytes of path that are used; path has no NUL */
	uint32_t npath;
	char path[CFIMAKER_PATH];
};

/* Result for one file. */
enum cfimaker_answer {
	CFIMAKER_MADE,  /* with a descriptor of the image */
	CFIMAKER_NONE,  /* the file has no tables, or is no ELF file */
	CFIMAKER_LARGE, /* the tables exceed the limit */
	CFIMAKER_GONE   /* the process and the file are gone, or access is denied */
};

/* Reply to a request. */
struct cfimaker_reply {
	uint32_t number, answer;
	uint32_t cpu_us; /* CPU time of the parser for this file */
};

/* Runs the opener: answers requests until the recorder's or the parser's end of its socket is closed. recorder and
 * parser are sockets; proc is "/proc". Returns then; the caller exits. */
void cfiopener_run(int recorder, int parser, const char *proc);

/* Runs the parser: enters the sandbox, and makes images of the files whose descriptors come with requests (a number,
 * uint32_t) until the other end of the socket is closed. Returns then; the caller exits. */
void cfiparser_run(int opener);

#endif
