/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernelsaver.h - snapshots of the kernel's symbols, in DIR/symbols: kallsyms-BOOT.N.gz and modules-BOOT.N.
 *
 * /proc/kallsyms costs the kernel 40 ms and is packed, so it is read only when the list of modules is another one than
 * that of the newest snapshot, whoever made it. What modules are there is looked at every few seconds, as that costs
 * little.
 */
#ifndef PJ_KERNELSAVER_H
#define PJ_KERNELSAVER_H

#include "record/symsaver/saverdir.h"

struct kernelsaver {
	struct saverdir *dir;
	const char *proc;
	uint64_t now;     /* number of the snapshot that holds; 0: there is none */
	uint64_t before;  /* the one before it */
	uint64_t modules; /* what the list of modules was */
	bool hidden;      /* all addresses are 0 */
	bool failed;      /* it could not be written; errno of the last try */
	int error;
};

/* The newest snapshot, or a new one. */
void kernelsaver_start(struct kernelsaver *kernelsaver, struct saverdir *dir, const char *proc);

/* Looks at the modules; true when there is a new snapshot. */
bool kernelsaver_scan(struct kernelsaver *kernelsaver);

/* What holds is needed now. */
void kernelsaver_touch(struct kernelsaver *kernelsaver);

/* "kallsyms-BOOT.N.gz" */
void kernelsaver_name(char name[SAVERDIR_PATH], const char *boot, uint64_t n);

/* A number for a list of modules: names, sizes, places; not how often they are used. Pure. */
uint64_t kernelsaver_sum(struct str modules);

#endif
