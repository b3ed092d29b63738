/* SPDX-License-Identifier: Apache-2.0 */
/*
 * journalfile.h - the file of one code timeline (pj-jmap(5)), to which records are appended.
 *
 * A helper process reads the JVM (readhelper.h) and provides the records of a scan in a descriptor. They are copied
 * unchanged: this process, which has the rights to read other processes, does not parse them.
 */
#ifndef PJ_JOURNALFILE_H
#define PJ_JOURNALFILE_H

#include "runtimes/hotspot/discover.h"
#include "jmap/timeline/mapsdir.h"
#include "common/process/tenants.h"

struct journalfile {
	/* path for messages */
	char path[512];
	/* descriptor of its directory */
	int folder;
	/* descriptor of the locked file; -1: not open */
	int fd;
	/* name of the file, and text of the first record of a run */
	char file[MAPSDIR_NAME], start[288];
	/* A new file is being written, which takes the name after the next scan. */
	bool anew;
	/* Since the start: number of blobs that appeared and disappeared, and bytes that were written. */
	uint64_t added, removed, written;
	/* Bytes of the file, and bytes that one list of all code takes in it; 0: unknown. */
	uint64_t size, first_size;
	/* end of the last scan, CLOCK_MONOTONIC in ns */
	uint64_t last;
	/* user that may read the data of the last scan */
	struct taskid_user owner;
};

/* Opens or creates dir/maps/BOOT/PID-START.jmap, locks it, and continues it after the end of the run before. version
 * is that of the JVM, untrusted. Returns NULL, or a static text with the step that failed and errno; EWOULDBLOCK
 * means that another pjmap has locked it. */
const char *journalfile_open(struct journalfile *journalfile, const char *dir, const struct jvm_process *process,
			     const struct tenant *tenant, const char *version);

/* A scan: number of blobs that appeared and disappeared, start and duration in ns. */
struct journalfile_scan {
	uint64_t came, went, began, took;
};

/* Appends the first n bytes of descriptor `from`, the records of a scan. A scan without records also changes the
 * file's time, for which pjsend waits (send/spool/jmapscans.h). Returns false and sets errno on failure. */
bool journalfile_append(struct journalfile *journalfile, const struct journalfile_scan *scan, int from, uint64_t n);

/* Starts a new file, because this one is too large. It replaces the old file after the next scan; the old records
 * are dropped. Returns false and sets errno if the old file remains. */
bool journalfile_begin_anew(struct journalfile *journalfile);

/* Closes the file. ended: writes a record that the process has ended. */
void journalfile_close(struct journalfile *journalfile, bool ended);

#endif
