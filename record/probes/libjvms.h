/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libjvms.h - opens the files libjvm.so that processes have mapped, each file once.
 *
 * JVMs of one JDK share a file, so a breakpoint in it counts for all of them, also for those that start later. JVMs in
 * containers have files of their own. A file is identified by device and inode, as /proc/PID/maps shows them; paths are
 * chosen by the processes. It is opened right after its mapping was read, by the first process for which that succeeds:
 * what this process does then, such as to end, is of no effect.
 *
 * Any process can map any number of files of this name. Each tenant adds at most LIBJVMS_TENANT files, and the list
 * begins with the first file of each tenant. Each tenant has a share of the time, too, after which its processes are
 * skipped. A helper process reads /proc.
 *
 * To place a probe, the kernel locks the address spaces of all processes that have mapped its page, one after the
 * other, and no process of the host can fork meanwhile (dup_mmap_sem). A process that holds this lock for ever
 * (test/hostile/holdlock.c) would stop the host. Others that need the lock for reading wait, too: so pjrecord reads the
 * mappings of all processes, and looks up a name in their map_files, also if only some processes are recorded. The
 * search fails if one process does not answer in time (timelimit.h), also when it is read again. Processes that could
 * not be read because another one of their tenant did not answer are read again for some seconds, then skipped. The
 * check finds neither a process that takes the lock after it, nor one that is skipped.
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
	uint32_t left_out; /* number of processes with other files, with several ones, or with one that cannot be opened
			    */
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
