/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfimaker.h - the two processes that make tables for unwinding of the files that others mapped.
 *
 *	recorder ──request──► opener ──descriptor──► parser
 *	         ◄──reply, image──   ◄──reply, image──
 *
 * The opener has the recorder's capabilities: it finds the file, checks that it is the one that was mapped, and parses
 *nothing of it. The parser gets the descriptor; it has no capability and no file system (sandbox.h), and limits of
 *memory and of CPU time for each file. The recorder gets an image in sealed memory. Each file is done before the next
 *one is begun. A file system that does not answer holds up the opener or the parser: the recorder waits for neither,
 *kills both, and avoids that tenant's files for a while (backoff.h). If one of the two ends, the other one follows.
 */
#ifndef PJ_CFIMAKER_H
#define PJ_CFIMAKER_H

#include "common/formats/fileid.h"
#include "common/base.h"

#define CFIMAKER_PATH 4096

/* Limits of the parser: memory beyond that of the process that it was forked from, and CPU time for one file. The
 * tables of the largest browser take 60 MB and 0.2 s. */
#define CFIPARSER_MEMORY ((uint64_t)112 << 20)
#define CFIPARSER_CPU_MS 2000

/* A file that process `pid` mapped, as the kernel reported it. */
struct cfimaker_request {
	uint32_t number, pid;
	uint64_t start_ticks, mount_ns; /* 0: not known */
	uint64_t address;               /* of the mapping */
	struct file_id file_id;
	uint32_t npath;
	char path[CFIMAKER_PATH];
};

enum cfimaker_answer {
	CFIMAKER_MADE,  /* with a descriptor of the image */
	CFIMAKER_NONE,  /* it has no tables, or is no ELF file */
	CFIMAKER_LARGE, /* beyond the limit */
	CFIMAKER_GONE   /* neither the process nor the file can be had, or not allowed */
};

struct cfimaker_reply {
	uint32_t number, answer;
	uint32_t cpu_us; /* CPU time of the parser */
};

/* Answers requests of the recorder until its end of the socket, or the parser's, is closed. proc: /proc. */
void cfiopener_run(int recorder, int parser, const char *proc);

/* Enters the sandbox, and makes images of the files whose descriptors come with a request (its number, uint32_t) until
 * the other end is closed. */
void cfiparser_run(int opener);

#endif
