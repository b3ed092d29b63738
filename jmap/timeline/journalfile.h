/* SPDX-License-Identifier: Apache-2.0 */
/*
 * journalfile.h - the file of one code timeline (pj-jmap(5)), to which records are appended.
 *
 * A helper process reads the JVM (readhelper.h) and writes the records of a scan to a file in memory. pjmap copies them
 * to the timeline without parsing them, because it has the rights to read other processes and the records are
 * untrusted.
 */
#ifndef PJ_JOURNALFILE_H
#define PJ_JOURNALFILE_H

#include "runtimes/hotspot/discover.h"
#include "jmap/timeline/mapsdir.h"
#include "common/process/tenants.h"

struct journalfile {
	/* path of the file, for messages */
	char path[512];
	/* descriptor of the directory with the file */
	int folder;
	/* descriptor of the file, which is locked; -1: not open */
	int fd;
	/* file: name of the file; start: text of the first record of a run */
	char file[MAPSDIR_NAME], start[288];
	/* true: a new file is being written, which replaces the old one after the next scan */
	bool anew;
	/* sums since journalfile_open: number of blobs that appeared, number that disappeared, bytes that were
	 * written */
	uint64_t added, removed, written;
	/* size: bytes of the file; first_size: bytes that the first scan after the file was opened or restarted wrote,
	 * which is a list of all code; 0 before that scan */
	uint64_t size, first_size;
	/* time at which the last scan ended, in ns of CLOCK_MONOTONIC */
	uint64_t last;
	/* user that may read the timeline, as the last scan found it */
	struct taskid_user owner;
};

/* Opens or creates dir/maps/BOOT/PID-START.jmap, locks it, and starts a new run of records after the valid records in
 * it. version is that of the JVM, untrusted. Returns NULL, or a static text with the step that failed and errno;
 * EWOULDBLOCK: another pjmap has locked it. */
const char *journalfile_open(struct journalfile *journalfile, const char *dir, const struct jvm_process *process,
			     const struct tenant *tenant, const char *version);

/* One scan: number of blobs that appeared, number that disappeared, start (CLOCK_MONOTONIC) and duration in ns. */
struct journalfile_scan {
	uint64_t came, went, began, took;
};

/* Appends the first n bytes of descriptor `from`, the records of a scan. Sets the file's modification time even if n is
 * 0, because pjsend waits for it (send/spool/jmapscans.h). Returns false with errno on failure. */
bool journalfile_append(struct journalfile *journalfile, const struct journalfile_scan *scan, int from, uint64_t n);

/* Starts a new file, because this one is too large. The new file replaces the old one after the next scan, and the old
 * records are lost. Returns false with errno if the old file remains in use. */
bool journalfile_begin_anew(struct journalfile *journalfile);

/* Closes the file. ended: first writes a record that the process has ended. */
void journalfile_close(struct journalfile *journalfile, bool ended);

#endif
