/* SPDX-License-Identifier: Apache-2.0 */
/*
 * journalfile.h - the file of one timeline (pj-jmap(5)), to which records are appended.
 *
 * The records of a scan come in a descriptor of the helper process that read the JVM (readhelper.h), and are copied as
 * they are: this process, which may look into others, does not parse them.
 */
#ifndef PJ_JOURNALFILE_H
#define PJ_JOURNALFILE_H

#include "runtimes/hotspot/discover.h"
#include "jmap/timeline/mapsdir.h"
#include "common/process/tenants.h"

struct journalfile {
	char path[512];
	int folder;                          /* that it lies in */
	int fd;                              /* locked; -1: not open */
	char file[MAPSDIR_NAME], start[288]; /* its name; the text of the first record of a run */
	bool anew;                           /* the file that is being written takes the name after the next scan */
	uint64_t added, removed, written;    /* since the start; written: bytes */
	uint64_t size, first_size;           /* bytes of the file; what of it is one list of all code, 0: not known */
	uint64_t last;                       /* when the last scan ended */
	struct taskid_user owner;            /* who may read what the last scan found */
};

/* Opens or creates dir/maps/BOOT/PID-START.jmap, and continues it where a run before ended. version: of the JVM,
 * untrusted. Returns NULL, or what failed (errno; EWOULDBLOCK: another pjmap writes it). */
const char *journalfile_open(struct journalfile *journalfile, const char *dir, const struct jvm_process *process,
			     const struct tenant *tenant, const char *version);

/* A scan: which code came and went, when it began, and how many ns it took. */
struct journalfile_scan {
	uint64_t came, went, began, took;
};

/* Appends the first n bytes of `from`, the records of a scan. Also a scan without records changes the time of the file:
 * pjsend waits for it (send/spool/jmapscans.h). Returns false and errno if it could not be written. */
bool journalfile_append(struct journalfile *journalfile, const struct journalfile_scan *scan, int from, uint64_t n);

/* The file gets too large: the next scan begins one that replaces it; what was before is dropped. Returns false and
 * errno if the file stays as it is. */
bool journalfile_begin_anew(struct journalfile *journalfile);

/* ended: the process ended, which is written. */
void journalfile_close(struct journalfile *journalfile, bool ended);

#endif
