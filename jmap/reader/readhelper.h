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

#include "runtimes/memory/readbudget.h"
#include "runtimes/hotspot/discover.h"

/* Kinds of requests to the helper. */
enum read_task {
	/* READ_LAYOUT: opens the JVM and reads its layout */
	READ_LAYOUT,
	/* READ_TIMELINE: scans the code, and writes the changes since the last scan, and a map if one is requested */
	READ_TIMELINE,
	/* READ_MAP: scans the code and writes a map */
	READ_MAP,
	/* READ_SUMMARY: scans the code and returns its amount, for --list */
	READ_SUMMARY
};

/* A request. Members whose comment begins with TIMELINE are for READ_TIMELINE only. */
struct read_request {
	/* serial number of the request; the answer has the same one */
	uint64_t serial;
	/* task: enum read_task; style: enum method_style for names in maps */
	uint32_t task, style;
	/* budget of the request: steps, bytes and deadline (readbudget.h) */
	uint64_t steps, bytes, deadline;
	/* TIMELINE: maximum bytes of the helper's data about the code between scans */
	uint64_t memory_max;
	/* TIMELINE: maximum bytes of the map; 0: no map */
	uint64_t map_max;
	/* TIMELINE: true: all code counts as new, because the timeline starts anew */
	uint8_t anew;
	/* TIMELINE: true: write a map even if nothing has changed */
	uint8_t map_due;
};

/* Maximum bytes of each of the two files that a helper writes. */
#define READ_MAP_BYTES ((uint64_t)160 << 20)

/* An answer. All members are untrusted. */
struct read_answer {
	uint64_t serial;
	/* reason why the request failed (struct hotspot_reason); code is empty if it succeeded */
	char code[16], why[160];
	/* enum readbudget_limit: the part of the budget that was exceeded */
	uint32_t over;
	/* value of -XX:+PreserveFramePointer: 1 on, 0 off, -1 unknown */
	int32_t frame_pointers;
	/* texts of the JVM: version, command, garbage collector (empty if unknown) */
	char version[64], command[256], collector[16];
	/* SUMMARY: true: the JVM runs with -XX:+DisableAttachMechanism */
	uint8_t refuses_attach;
	/* TIMELINE: true: a map was requested and has been written */
	uint8_t has_map;
	/* TIMELINE: true: the map would have more than map_max bytes */
	uint8_t map_too_large;
	/* TIMELINE: start (CLOCK_MONOTONIC) and duration of the scan in ns; number of blobs that appeared, and that
	 * disappeared */
	uint64_t began, took, came, went;
	/* number of code blobs that were left out: could not be read, could not be named, no memory, left to the next
	 * scan (journal.h, codemap.h) */
	uint64_t torn, unnamed, beyond, later;
	/* number of code blobs; MAP: number of lines of the map */
	uint64_t code_n;
	/* memory: bytes that the helper holds between scans; journal_bytes: part of that for its data about the code */
	uint64_t memory, journal_bytes;
	/* number of bytes that were written to the helper's files for records and for the map */
	uint64_t record_bytes, map_bytes;
};

/* Indexes of the helper's descriptors, which are open when it starts. */
enum { READ_FD_SOCKET, READ_FD_MEM, READ_FD_RECORDS, READ_FD_MAP, READ_FDS };

/* Becomes the helper that reads a JVM. Call it in the child after fork. Answers requests until pjmap closes the socket,
 * then exits. */
NORETURN void readhelper_run(const struct jvm_process *process, const int fd[READ_FDS]);

#endif
