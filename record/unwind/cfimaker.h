/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfimaker.h - messages to and between the two helper processes that make unwind tables of target processes' files,
 * and of code that target processes generate (trampolines.h).
 *
 * 	recorder ──request──► opener ──file, memory──► parser
 * 	         ◄──reply, image──   ◄──reply───────
 *
 * The opener has the recorder's capabilities: it finds the file, checks that it is the mapped one, and parses nothing
 * of it. Generated code it copies from the memory of the process (taskid.h). The parser gets the descriptor, and
 * memory for the image of the table (unwind_table_save), which the opener seals and passes to the recorder. The parser
 * has no capability and no file system (sandbox.h), and limits of memory and of CPU time for each file. Files are
 * processed one after the other. A file system that does not respond blocks the opener or the parser: the recorder
 * waits for neither, kills both, and avoids that tenant's files for a time (backoff.h). If one of the two ends, the
 * other one ends, too.
 */
#ifndef PJ_CFIMAKER_H
#define PJ_CFIMAKER_H

#include "common/formats/fileid.h"
#include "common/base.h"

/* Greatest length of a mapping's path, in bytes. */
#define CFIMAKER_PATH 4096

/* Limits of the parser: memory in addition to that of the process from which it is forked, and CPU time for one
 * file. The tables of the largest browser take 60 MB and 0.2 s. */
#define CFIPARSER_MEMORY ((uint64_t)112 << 20)
#define CFIPARSER_CPU_MS 2000

/* Greatest number of bytes of generated code for one table. */
#define CFIMAKER_CODE ((uint64_t)66 << 10)

/* Address of the first byte of generated code in its table. */
#define CFIMAKER_CODE_ADDRESS UINT64_C(4096)

/* Request for the table of a file that process `pid` mapped, or of its memory. All members come from the kernel's
 * records. */
struct cfimaker_request {
	/* number: chosen by the recorder, returned in the reply; pid: process that mapped the file */
	uint32_t number, pid;
	uint64_t start_ticks, mount_ns; /* start time of the process in clock ticks; inode of its mount namespace; 0:
					 * unknown */
	uint64_t address;               /* start address of the mapping; with code_bytes: of the code */
	uint64_t code_bytes; /* bytes of generated code, at most CFIMAKER_CODE; 0: the request is for a file */
	struct file_id file_id;
	/* number of used bytes of path, which has no NUL */
	uint32_t npath;
	char path[CFIMAKER_PATH];
};

/* Result of a request. */
enum cfimaker_answer {
	CFIMAKER_MADE,  /* the table was made; a descriptor of its image comes with the reply */
	CFIMAKER_NONE,  /* the file has no tables, or is no ELF file */
	CFIMAKER_LARGE, /* the tables exceed the limit of memory */
	CFIMAKER_GONE   /* neither the process nor the file can be opened any more */
};

/* Reply to a request. number: that of the request; answer: enum cfimaker_answer. */
struct cfimaker_reply {
	uint32_t number, answer;
	uint32_t cpu_us; /* CPU time in us that the parser used for this file */
};

/* Descriptors that come with struct cfimaker_parse: of the file, and of empty memory for the image. */
enum { CFIMAKER_IN, CFIMAKER_OUT };

/* Request of the opener to the parser. If code is nonzero, the first descriptor is that of a copy of generated code,
 * whose first byte gets CFIMAKER_CODE_ADDRESS in the table. */
struct cfimaker_parse {
	uint32_t number, code;
};

/* Runs the opener: answers requests until the recorder or the parser closes its end of the socket, then returns; the
 * caller exits. recorder and parser are sockets; proc is "/proc". */
void cfiopener_run(int recorder, int parser, const char *proc);

/* Runs the parser: enters the sandbox and makes images of files. Descriptors come with requests (struct
 * cfimaker_parse). Returns when the opener closes its end of the socket; the caller exits. */
void cfiparser_run(int opener);

#endif
