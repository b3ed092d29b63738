/* SPDX-License-Identifier: Apache-2.0 */
/*
 * readhelper.h - the process that reads and parses the memory of one JVM for pjmap, and its messages (jvmhandle.h).
 *
 * It is forked with four descriptors: a socket, /proc/PID/mem of one program of the JVM, and two files in memory, for
 * records of the timeline and for a map. It opens nothing and has no capability (common/process/sandbox.h). Its state
 * stays in the process between scans, so a message has some hundred bytes, and bulk data is written once. pjmap trusts
 * no byte that it receives: a hostile JVM may have taken over the helper, which then can write anything into the map
 * and the timeline of that JVM, but into nothing else.
 *
 * Each JVM has a process of its own: memory that does not respond (FUSE, userfaultfd) blocks the helper as long as the
 * JVM's user likes, also against SIGKILL. A helper takes 200 kB in addition to its data about the code.
 */
#ifndef PJ_READHELPER_H
#define PJ_READHELPER_H

#include "runtimes/hotspot/readbudget.h"
#include "runtimes/hotspot/discover.h"

/* Kind of a request. */
enum read_task {
	/* opens the JVM and reads its layout */
	READ_LAYOUT,
	/* scans and writes the changes since the last scan, and a map if it is requested */
	READ_TIMELINE,
	/* scans and writes a map of the present code */
	READ_MAP,
	/* for --list: scans and returns the amount of code */
	READ_SUMMARY
};

/* A request. Members whose comment begins with TIMELINE are used by READ_TIMELINE only. */
struct read_request {
	/* returned in the answer */
	uint64_t serial;
	/* enum read_task, enum method_style */
	uint32_t task, style;
	/* budget of the request (readbudget.h) */
	uint64_t steps, bytes, deadline;
	/* TIMELINE: limit for the bytes of the helper's data about the code */
	uint64_t memory_max;
	/* TIMELINE: limit for the bytes of a map; 0: no map */
	uint64_t map_max;
	/* TIMELINE: all code counts as new, for the start of a file */
	uint8_t anew;
	/* TIMELINE: write a map even if nothing has changed */
	uint8_t map_due;
};

/* Limit for each file that a helper writes, in bytes. */
#define READ_MAP_BYTES ((uint64_t)160 << 20)

/* Answer. All members are untrusted. */
struct read_answer {
	uint64_t serial;
	/* struct hotspot_reason; code is empty if there is none */
	char code[16], why[160];
	/* enum readbudget_limit */
	uint32_t over;
	/* -XX:+PreserveFramePointer: 1, 0; -1: unknown */
	int32_t frame_pointers;
	/* texts of the JVM; collector is empty if it is unknown */
	char version[64], command[256], collector[16];
	/* SUMMARY: -XX:+DisableAttachMechanism */
	uint8_t refuses_attach;
	/* TIMELINE: a map was requested and written */
	uint8_t has_map;
	/* TIMELINE: the map would have more than map_max bytes */
	uint8_t map_too_large;
	/* TIMELINE: start and duration of the scan in ns; number of blobs that appeared and disappeared */
	uint64_t began, took, came, went;
	/* Number of code blobs that were left out, by reason (journal.h, codemap.h). */
	uint64_t torn, unnamed, beyond, later;
	/* number of code blobs; MAP: lines */
	uint64_t code_n;
	/* Bytes of the helper between scans, and the part of them that is its data about the code. */
	uint64_t memory, journal_bytes;
	/* bytes that were written to its two files */
	uint64_t record_bytes, map_bytes;
};

/* Indexes of the helper's descriptors, which are open from its start. */
enum { READ_FD_SOCKET, READ_FD_MEM, READ_FD_RECORDS, READ_FD_MAP, READ_FDS };

/* Becomes the helper that reads process. Called in the child after fork. Answers requests until pjmap closes the
 * socket, then exits. */
NORETURN void readhelper_run(const struct jvm_process *process, const int fd[READ_FDS]);

#endif
