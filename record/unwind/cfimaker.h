/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfimaker.h - messages of the two helper processes that make unwind tables of files that target processes map, and of
 * code that target processes generate (trampolines.h).
 *
 *	recorder ──request──► opener ──file, memory──► parser
 *	         ◄──reply, image──   ◄──reply───────
 *
 * The opener has the recorder's capabilities. It opens the file, checks that it is the mapped one, and parses none of
 * its bytes. If the request is for generated code, it copies the code from the memory of the process (taskid.h). It
 * sends the descriptor of the file or copy to the parser, with that of empty memory for the image of the table
 * (unwind_table_save). After the parser's reply, it seals the image and sends it to the recorder.
 *
 * The parser has no capability and no file system (sandbox.h), and limits of memory and of CPU time for each file. It
 * processes files one after the other. A file system that does not respond blocks the opener or the parser: the
 * recorder waits for neither, kills both, and avoids that tenant's files for a time (backoff.h). If one of the two
 * processes ends, the other one ends, too.
 */
#ifndef PJ_CFIMAKER_H
#define PJ_CFIMAKER_H

#include "common/formats/fileid.h"
#include "common/base.h"

/* Maximum length of a mapping's path, in bytes; files with a longer path get no table. */
#define CFIMAKER_PATH 4096

/* Limit of the parser's memory in bytes, in addition to the memory of the process from which it is forked. A parser
 * that needs more ends, which counts as a crash; UNWIND_TABLE_MAX keeps the tables below that. The table of the largest
 * browser needs 60 MB. */
#define CFIPARSER_MEMORY ((uint64_t)112 << 20)
/* Limit of the parser's CPU time for one file, in ms; the kernel kills a parser that exceeds it. The table of the
 * largest browser needs 200 ms. */
#define CFIPARSER_CPU_MS 2000

/* Maximum number of bytes of generated code for one table. */
#define CFIMAKER_CODE ((uint64_t)66 << 10)

/* Virtual address that the first byte of generated code has in its table. */
#define CFIMAKER_CODE_ADDRESS UINT64_C(4096)

/* Request for the table of a file that process `pid` maps, or of code in its memory. All members come from the kernel:
 * from its records or /proc. */
struct cfimaker_request {
	/* number: id that the recorder chooses and the reply repeats. pid: process that maps the file or has the
	 * code. */
	uint32_t number, pid;
	/* start_ticks: start time of the process in clock ticks since boot. mount_ns: inode of its mount namespace. 0:
	 * unknown. */
	uint64_t start_ticks, mount_ns;
	/* virtual address in the process: start of the mapping; with code_bytes > 0: start of the generated code */
	uint64_t address;
	/* number of bytes of generated code, at most CFIMAKER_CODE; 0: the request is for a file */
	uint64_t code_bytes;
	struct file_id file_id;
	/* number of used bytes of path, which has no NUL at its end */
	uint32_t npath;
	char path[CFIMAKER_PATH];
};

/* Result of a request for a table. */
enum cfimaker_answer {
	CFIMAKER_MADE,  /* the table was made; a descriptor of its image comes with the reply */
	CFIMAKER_NONE,  /* the file has no unwind tables, or is not an ELF file */
	CFIMAKER_LARGE, /* the file's unwind tables exceed UNWIND_TABLE_MAX, or their image cannot be written */
	CFIMAKER_GONE   /* the file, or the code of the process, could not be opened */
};

/* Reply to a request. number: id of the request. answer: an enum cfimaker_answer. The image, if any, accompanies it. */
struct cfimaker_reply {
	uint32_t number, answer;
	uint32_t cpu_us; /* CPU time that the parser used for this table, in us */
};

/* Indexes of the descriptors that accompany struct cfimaker_parse: IN is the file or copy of code, OUT is empty memory
 * for the image. */
enum { CFIMAKER_IN, CFIMAKER_OUT };

/* Request of the opener to the parser. number: id of the recorder's request. code: 0 if descriptor CFIMAKER_IN is an
 * ELF file; otherwise it is a copy of generated code, whose first byte gets CFIMAKER_CODE_ADDRESS in the table. */
struct cfimaker_parse {
	uint32_t number, code;
};

/* Runs the opener: processes requests until the recorder or the parser closes its end of its socket. Then returns, and
 * the caller must exit. recorder, parser: sockets to these processes. proc is "/proc". */
void cfiopener_run(int recorder, int parser, const char *proc);

/* Runs the parser: enters the sandbox and makes the image of one table for each struct cfimaker_parse. Returns when the
 * opener closes its end of the socket; then the caller must exit. opener: socket to the opener. */
void cfiparser_run(int opener);

#endif
