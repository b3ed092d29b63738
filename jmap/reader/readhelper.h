/* SPDX-License-Identifier: Apache-2.0 */
/*
 * readhelper.h - helper process that reads and parses the memory of one JVM for pjmap, and its messages (jvmhandle.h).
 *
 * The helper is forked with four descriptors: a socket, /proc/PID/mem of the JVM's current address space (an exec ends
 * it), and two files in memory, for records of the timeline and for a map. It opens nothing and has no capability
 * (common/process/sandbox.h). Its data about the JVM stays in the helper between scans, so a message has some hundred
 * bytes, and bulk data is written once. pjmap trusts no byte that it receives. A hostile JVM may control its helper,
 * which then can write anything to the map and the timeline of that JVM, but to nothing else.
 *
 * Each JVM has a helper of its own: memory that does not respond (FUSE, userfaultfd) blocks the helper for as long as
 * the JVM's user likes, even after SIGKILL. A helper takes 200 kB in addition to its data about the code.
 */
#ifndef PJ_READHELPER_H
#define PJ_READHELPER_H

#include "runtimes/memory/readbudget.h"
#include "runtimes/hotspot/discover.h"

/* Kinds of requests to the helper. */
enum read_task {
	/* open the JVM and read its layout */
	READ_LAYOUT,
	/* scan the code and write records of the changes since the last scan; also write a map if one is requested */
	READ_TIMELINE,
	/* scan the code and write a map */
	READ_MAP,
	/* scan the code and count the code blobs, for --list */
	READ_SUMMARY
};

/* A request to the helper. A comment that begins with "READ_TIMELINE:" means that other tasks ignore the member. */
struct read_request {
	/* serial number of the request; its answer has the same number */
	uint64_t serial;
	/* task: enum read_task; style: enum method_style, spelling of names in maps */
	uint32_t task, style;
	/* budget of the request (readbudget.h): steps, bytes of memory, deadline in ns of clock_now() */
	uint64_t steps, bytes, deadline;
	/* READ_TIMELINE: limit in bytes for the helper's data about the code between scans */
	uint64_t memory_max;
	/* READ_TIMELINE: limit for the map in bytes; 0 means no map */
	uint64_t map_max;
	/* READ_TIMELINE: nonzero if all code must be written as new, because the timeline starts anew */
	uint8_t anew;
	/* READ_TIMELINE: nonzero if a map must be written even if no code has changed; only with map_max */
	uint8_t map_due;
};

/* limit in bytes for each of the two files that a helper writes; a request that exceeds it fails (over-budget) */
#define READ_MAP_BYTES ((uint64_t)160 << 20)

/* An answer of the helper. All members are untrusted. A comment that begins with a task applies to that task only. */
struct read_answer {
	/* serial number of the request */
	uint64_t serial;
	/* reason why the request failed (struct hotspot_reason); code is empty on success */
	char code[16], why[160];
	/* enum readbudget_limit: part of the budget that was used up; 0 if none was */
	uint32_t over;
	/* value of -XX:+PreserveFramePointer: 1 on, 0 off, -1 unknown */
	int32_t frame_pointers;
	/* texts of the JVM: version, command, garbage collector; empty if unknown */
	char version[64], command[256], collector[16];
	/* nonzero if the JVM runs with -XX:+DisableAttachMechanism */
	uint8_t refuses_attach;
	/* READ_TIMELINE: nonzero if a map was written */
	uint8_t has_map;
	/* READ_TIMELINE: nonzero if no map was written because it would have more than map_max bytes */
	uint8_t map_too_large;
	/* READ_TIMELINE: began: start of the scan in ns of CLOCK_MONOTONIC; took: duration of the scan in ns; came:
	 * number of new code blobs; went: number of removed code blobs */
	uint64_t began, took, came, went;
	/* numbers of code blobs without record or map entry. torn: unreadable; unnamed: all others: nameless, changed
	 * during the scan, left out for lack of memory (their number is `beyond`) or left to the next scan because the
	 * budget was used up (their number is `later`) */
	uint64_t torn, unnamed, beyond, later;
	/* number of code blobs; READ_MAP: number of lines of the map */
	uint64_t code_n;
	/* memory: bytes of memory that the helper holds between scans; journal_bytes: part of `memory` for the data
	 * about the code */
	uint64_t memory, journal_bytes;
	/* record_bytes: number of bytes written to the file for records; map_bytes: number of bytes written to the file
	 * for the map */
	uint64_t record_bytes, map_bytes;
};

/* Indexes of the helper's descriptors in the argument of readhelper_run. */
enum { READ_FD_SOCKET, READ_FD_MEM, READ_FD_RECORDS, READ_FD_MAP, READ_FDS };

/* Turns the calling process, a new child of pjmap, into the helper that reads a JVM. Answers requests until pjmap
 * closes the socket, then exits. */
NORETURN void readhelper_run(const struct jvm_process *process, const int fd[READ_FDS]);

#endif
