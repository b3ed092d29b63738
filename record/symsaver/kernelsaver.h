/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernelsaver.h - saves snapshots of the kernel's symbols to DIR/symbols: kallsyms-BOOT.N.gz and modules-BOOT.N.
 *
 * Reading /proc/kallsyms costs the kernel 40 ms, and packing it costs more. So a new snapshot is made only if the list
 * of modules differs from that of the newest snapshot, whichever run made it. The list is compared every few seconds,
 * which costs little.
 */
#ifndef PJ_KERNELSAVER_H
#define PJ_KERNELSAVER_H

#include "record/symsaver/saverdir.h"

struct kernelsaver {
	struct saverdir *dir;
	const char *proc;
	uint64_t now;     /* number of the current snapshot; 0: there is none */
	uint64_t before;  /* number of the previous snapshot; 0: there is none */
	uint64_t modules; /* hash of the list of modules (kernelsaver_sum) at the last comparison */
	bool hidden;      /* true: the kernel hides the addresses of symbols, so there is no snapshot */
	bool failed;      /* true: the last snapshot could not be written; error has its errno */
	int error;
};

/* Uses the newest snapshot of this boot if its list of modules is the current one; otherwise makes a new snapshot. */
void kernelsaver_start(struct kernelsaver *kernelsaver, struct saverdir *dir, const char *proc);

/* Compares the list of modules with that of the last call, and makes a snapshot if it differs. Returns true if the
 * current snapshot is a new one. */
bool kernelsaver_scan(struct kernelsaver *kernelsaver);

/* Sets the modification time of the current snapshot to now, because a window needs it. Makes a new one if it was
 * removed. */
void kernelsaver_touch(struct kernelsaver *kernelsaver);

/* Writes the name of snapshot n, "kallsyms-BOOT.N.gz", to `name`. */
void kernelsaver_name(char name[SAVERDIR_PATH], const char *boot, uint64_t n);

/* Returns a hash of the names, sizes and addresses in the text of /proc/modules; use counts do not change it. Pure. */
uint64_t kernelsaver_sum(struct str modules);

#endif
