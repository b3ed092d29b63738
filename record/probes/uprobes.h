/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uprobes.h - finds the function of an event "uprobe:FILE:SYMBOL" for the uprobe PMU of the kernel.
 *
 * The PMU (Linux 4.17) takes a path and a file offset. It removes the breakpoint when the descriptor of the event is
 * closed, also after kill -9. The path is /proc/self/fd/N of a descriptor that stays open. So the kernel probes the
 * file whose symbols were read, even if another file replaces it at its path. A helper process opens the file, drops
 * its rights, and reads the symbols.
 */
#ifndef PJ_UPROBES_H
#define PJ_UPROBES_H

#include "common/text.h"

#include <linux/perf_event.h>
#include <signal.h>

/* A breakpoint. */
struct uprobe {
	/* descriptor of the file; -1: none */
	int fd;
	/* file offset of the first instruction of the function */
	uint64_t offset;
	/* "/proc/self/fd/N" with N = fd: the path by which the kernel opens the file; uprobes_free frees it */
	char *path;
	/* nwithout: number of target processes that have not mapped the file; without: pid of the first of these
	 * processes */
	size_t nwithout;
	uint32_t without;
};

/* Returns the type of the uprobe PMU for perf_event_attr; 0 if the kernel has none or sysfs cannot be read. */
uint32_t uprobes_type(void);

/* Finds the breakpoint of "FILE:SYMBOL" and fills *uprobe. A FILE without '/' is the file with that name that the
 * processes pid[0..npids) have mapped, opened through their mappings. A FILE with '/' is opened with the rights of the
 * real user only, since pjrecord may have capabilities from setcap. The search fails once a signal handler has set
 * *stop. Returns false and appends a sentence to *why on failure. */
bool uprobes_find(struct uprobe *uprobe, struct str spec, const uint32_t *pid, size_t npids,
		  const volatile sig_atomic_t *stop, struct text *why);

/* Alternative names of one function; the first name that the file has is used. */
struct uprobe_function {
	const struct str *name;
	size_t n;
};

enum { UPROBES_FUNCTIONS_MAX = 2 };

/* Functions to find in a file, for uprobes_find_open; nfunctions is at most UPROBES_FUNCTIONS_MAX. */
struct uprobe_file {
	struct str name; /* name of the file, for messages */
	const struct uprobe_function *function;
	size_t nfunctions;
	struct str lacks; /* sentence for a file that lacks one of the functions */
	unsigned ms;      /* time limit in ms, at least 1000 */
	const volatile sig_atomic_t *stop;
};

/* Finds the breakpoints of all functions what->function[0..nfunctions) in the open file `file`, and fills
 * uprobe[0..nfunctions). `file` stays open. If the file lacks a function, or the search fails, returns false, leaves
 * uprobe[] as it is, and appends a sentence to *why. */
bool uprobes_find_open(struct uprobe *uprobe, int file, const struct uprobe_file *what, struct text *why);

/* Opens the breakpoint that config1 and config2 of an attribute of the uprobe PMU describe, on one CPU for all
 * processes, and closes it. The kernel then reads the instruction from the file, and its pages in all processes that
 * have mapped the file. That may fail, because anybody can write such a file. Returns 0 or the errno of the failure. */
int uprobes_try(const struct perf_event_attr *attr);

/* Returns true if `error`, the errno of a failed open of a breakpoint, has another cause than the file: pjrecord lacks
 * a right, descriptors or memory, or the CPU is missing. */
bool uprobes_is_beside_file(int error);

/* Closes the descriptor and frees the path. */
void uprobes_free(struct uprobe *uprobe);

#endif
