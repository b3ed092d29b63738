/* SPDX-License-Identifier: Apache-2.0 */
/*
 * readhelper.h - the process that reads and parses the memory of one JVM for pjmap, and the messages between the two
 * (jvmhandle.h).
 *
 * It is forked with four descriptors: a socket, /proc/PID/mem of one program of the JVM, and two files in memory, for
 * records of the timeline and for a map. It opens nothing and has no capability (common/process/sandbox.h). What it
 * learns stays in it from look to look, so a message has some hundred bytes, and bulk data is written once. pjmap
 * trusts nothing that it receives: the JVM may have taken the helper over, which then writes what it likes into the map
 * and the timeline of that JVM, and nowhere else.
 *
 * One JVM per process: memory that does not answer (FUSE, userfaultfd) blocks the helper for as long as it pleases,
 * also against SIGKILL. A helper takes 200 kB beside what it knows of the code.
 */
#ifndef PJ_READHELPER_H
#define PJ_READHELPER_H

#include "runtimes/hotspot/readbudget.h"
#include "runtimes/hotspot/discover.h"

enum read_task {
	READ_LAYOUT,   /* opens the JVM, and no more */
	READ_TIMELINE, /* what changed since the last one; with a map if that is wanted */
	READ_MAP,      /* a map of what lives now */
	READ_SUMMARY   /* of --list: how much code there is */
};

struct read_request {
	uint64_t serial;                 /* returned in the answer */
	uint32_t task, style;            /* enum read_task, enum method_style */
	uint64_t steps, bytes, deadline; /* its budget (readbudget.h) */
	uint64_t memory_max;             /* TIMELINE: bytes that it may have for what it knows of the code */
	uint64_t map_max;                /* TIMELINE: bytes of a map; 0: none is wanted */
	uint8_t anew;                    /* TIMELINE: all code is new */
	uint8_t map_due;                 /* TIMELINE: a map is wanted even if nothing changed */
};

#define READ_MAP_BYTES ((uint64_t)160 << 20) /* a file that a helper writes has at most so many */

struct read_answer {
	uint64_t serial;
	char code[16], why[160];                       /* of struct hotspot_reason; code empty: none */
	uint32_t over;                                 /* enum readbudget_limit */
	int32_t frame_pointers;                        /* 1, 0; -1: not known */
	char version[64], command[256], collector[16]; /* collector empty: not known */
	uint8_t refuses_attach;                        /* SUMMARY: -XX:+DisableAttachMechanism */
	uint8_t has_map;                               /* TIMELINE: a map was wanted, and written */
	uint8_t map_too_large;                         /* TIMELINE: it would have more than map_max bytes */
	uint64_t began, took, came, went;              /* TIMELINE: of the scan */
	uint64_t torn, unnamed, beyond, later; /* pieces of code that were left out, and why (journal.h, codemap.h) */
	uint64_t code_n;                       /* pieces of code; MAP: lines */
	uint64_t memory, journal_bytes;   /* bytes that it has between looks; of these, for what it knows of the code */
	uint64_t record_bytes, map_bytes; /* in its two files */
};

/* Descriptors of the helper, which are there from the start. */
enum { READ_FD_SOCKET, READ_FD_MEM, READ_FD_RECORDS, READ_FD_MAP, READ_FDS };

/* Becomes the helper that reads process; to be called by the child behind fork. */
NORETURN void readhelper_run(const struct jvm_process *process, const int fd[READ_FDS]);

#endif
