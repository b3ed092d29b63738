/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libjvms.h - opens the files libjvm.so that processes have mapped, each file once.
 *
 * JVMs of one JDK share a file, so one breakpoint in it samples all of them, also those that start later. JVMs in
 * containers have files of their own. A file is identified by device and inode, as /proc/PID/maps shows them, because
 * processes choose the paths. Each file is opened right after its mapping was read, through the first process for which
 * that succeeds, and stays open if this process then ends.
 *
 * Any process can map any number of files of this name. Each tenant adds at most LIBJVMS_TENANT files, and the list
 * begins with the first file of each tenant. Once the processes of a tenant have used the tenant's share of the time,
 * its further processes are skipped. A helper process reads /proc.
 *
 * To place a probe, the kernel locks the address spaces of all processes that have mapped its page, one after the
 * other, and no process of the host can fork meanwhile (dup_mmap_sem). A process that holds this lock for ever
 * (test/hostile/holdlock.c) would stop the host. Readers of the mappings of such a process wait, too. So pjrecord reads
 * the mappings of all processes, and looks up a name in their map_files, also if only some processes are recorded. The
 * search fails if a process answers in time (timelimit.h) neither when it is read nor when it is read again. Processes
 * that could not be read because another one of their tenant did not answer are read again for some seconds, then
 * skipped. The search does not find a process that takes the lock later, or that it skipped.
 */
#ifndef PJ_LIBJVMS_H
#define PJ_LIBJVMS_H

#include "common/text.h"

#include <signal.h>

#define LIBJVMS_NAME STR("libjvm.so")
enum {
	LIBJVMS_TENANT = 8,     /* maximum number of files that the processes of one tenant add */
	LIBJVMS_FILES_MAX = 128 /* maximum number of files */
};

struct libjvm {
	int fd;
	uint32_t pid; /* a process that has mapped the file */
};

struct libjvms {
	uint32_t n;
	struct libjvm file[LIBJVMS_FILES_MAX];
	uint32_t left_out; /* number of processes whose libjvm.so is not in file[]: a limit is reached, it cannot be
			      opened, or there are several */
	uint32_t unread;   /* number of processes whose mappings cannot be read */
	uint32_t skipped;  /* number of processes that were not read for lack of time; they may hold their lock */
	uint32_t blocked;  /* PID of a process that did not answer in time; 0: none */
};

/* Fills *libjvms from the mappings of the processes pid[0..npids), or of all processes if npids is 0. The caller closes
 * the files with libjvms_free. Returns false and appends a sentence to *why on failure, also if a process of the host
 * blocks readers of its mappings. The search ends once a signal
 * handler has set *stop. */
bool libjvms_find(struct libjvms *libjvms, const uint32_t *pid, size_t npids, const volatile sig_atomic_t *stop,
		  struct text *why);
void libjvms_free(struct libjvms *libjvms);

#endif
