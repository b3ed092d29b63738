/* SPDX-License-Identifier: Apache-2.0 */
/*
 * journalfile.h - appends records to the file of one code timeline (pj-jmap(5)).
 *
 * A helper process reads the JVM (readhelper.h) and writes the records of a scan to a file in memory. pjmap has the
 * right to read other processes, and the records are untrusted. So pjmap copies them to the timeline without parsing
 * them.
 */
#ifndef PJ_JOURNALFILE_H
#define PJ_JOURNALFILE_H

#include "runtimes/hotspot/discover.h"
#include "jmap/timeline/mapsdir.h"
#include "common/process/tenants.h"

struct journalfile {
	/* path of the timeline, for messages */
	char path[512];
	/* descriptor of the directory of the timeline; -1 if not open */
	int folder;
	/* descriptor of the timeline, which is locked; -1 if not open */
	int fd;
	/* file: name of the timeline; start: text of the first record of a run */
	char file[MAPSDIR_NAME], start[288];
	/* true if fd is a new file, which replaces the old timeline after the next scan */
	bool anew;
	/* sums since journalfile_open: number of new code blobs, number of removed ones, number of bytes written */
	uint64_t added, removed, written;
	/* size: size of the file in bytes; first_size: bytes that the first scan after an open or restart wrote, a list
	 * of all code, 0 before that scan */
	uint64_t size, first_size;
	/* time at which the last scan ended, in ns of CLOCK_MONOTONIC */
	uint64_t last;
	/* user of the process at the last scan: owner of the JVM's perf-PID.map */
	struct taskid_user owner;
};

/* Opens or creates dir/maps/BOOT/PID-START.jmap, locks it, and starts a new run of records after the valid records in
 * the file. version: version of the JVM, untrusted. Returns NULL on success, or the step that failed (static text) and
 * errno; EWOULDBLOCK means that another pjmap has locked the file. */
const char *journalfile_open(struct journalfile *journalfile, const char *dir, const struct jvm_process *process,
			     const struct tenant *tenant, const char *version);

/* One scan. came: number of new code blobs; went: number of removed code blobs; began: start of the scan in ns of
 * CLOCK_MONOTONIC; took: duration of the scan in ns. */
struct journalfile_scan {
	uint64_t came, went, began, took;
};

/* Appends the records of a scan: the first n bytes of descriptor `from`. Sets the file's modification time to the start
 * of the scan, even if n is 0: by this time, pjsend finds out if the JVM was scanned after the end of a window
 * (send/spool/jmapscans.h). Returns false and sets errno on failure. */
bool journalfile_append(struct journalfile *journalfile, const struct journalfile_scan *scan, int from, uint64_t n);

/* Starts a new file, which replaces the old one after the next scan; the old records are lost then. Does nothing if a
 * new file waits for its scan already. Returns false and sets errno on failure; the old file then stays in use. */
bool journalfile_begin_anew(struct journalfile *journalfile);

/* Closes the file. If a new file has not replaced the old one yet, removes the new one. ended: true if the process has
 * ended; a record of its end is then written first. */
void journalfile_close(struct journalfile *journalfile, bool ended);

#endif
