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
	uint64_t now;     /* number of the current snapshot; 0: none */
	uint64_t before;  /* number of the one before */
	uint64_t modules; /* kernelsaver_sum of the list of modules */
	bool hidden;      /* all addresses are 0 */
	bool failed;      /* the last snapshot could not be written; error: its errno */
	int error;
};

/* Finds the newest snapshot that is valid, or makes one. */
void kernelsaver_start(struct kernelsaver *kernelsaver, struct saverdir *dir, const char *proc);

/* Compares the list of modules. Returns true if there is a new snapshot. */
bool kernelsaver_scan(struct kernelsaver *kernelsaver);

/* Marks the current snapshot as needed now. */
void kernelsaver_touch(struct kernelsaver *kernelsaver);

/* Writes "kallsyms-BOOT.N.gz" to name. */
void kernelsaver_name(char name[SAVERDIR_PATH], const char *boot, uint64_t n);

/* Returns a hash of names, sizes and addresses in a list of modules, without their use counts. Pure. */
uint64_t kernelsaver_sum(struct str modules);

#endif
