/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uprobes.h - finds the function of an event "uprobe:FILE:SYMBOL" for the uprobe PMU of the kernel.
 *
 * The PMU (Linux 4.17) takes a path and an offset in the file, and removes the breakpoint when the descriptor of the
 * event is closed, also after kill -9. The path is /proc/self/fd/N of a descriptor that stays open, so the kernel
 * probes the file whose symbols were read, even if another file takes its name. A helper process opens the file, gives
 * up its rights, and reads the symbols.
 */
#ifndef PJ_UPROBES_H
#define PJ_UPROBES_H

#include "common/text.h"

#include <signal.h>

/* Place of a breakpoint. */
struct uprobe {
	/* descriptor of the file; -1: none */
	int fd;
	/* offset of the first instruction of the function in the file */
	uint64_t offset;
	/* path of the descriptor for the kernel, from malloc */
	char *path;
	/* number of the processes that do not have the file mapped, and the first of these */
	size_t nwithout;
	uint32_t without;
};

/* Returns the type of the PMU for perf_event_attr; 0 if the kernel has none or sysfs cannot be read. */
uint32_t uprobes_type(void);

/* Finds the place of "FILE:SYMBOL". A FILE without '/' is the one of that name that the processes
 * pid[0..npids) have mapped, through their mappings. A FILE with '/' is opened with the rights of the real user alone,
 * since pjrecord may have capabilities from setcap. The search ends as a failure once a handler of signals has set
 * *stop. Returns false and appends a sentence to why on failure. */
bool uprobes_find(struct uprobe *uprobe, struct str spec, const uint32_t *pid, size_t npids,
		  const volatile sig_atomic_t *stop, struct text *why);
void uprobes_free(struct uprobe *uprobe); /* closes the descriptor */

#endif
