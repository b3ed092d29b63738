/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernelsaver.h - saves snapshots of the kernel's symbols to DIR/symbols: kallsyms-BOOT.N.gz and modules-BOOT.N.
 *
 * Reading /proc/kallsyms costs the kernel 40 ms, and compressing it costs more. So a new snapshot is made only if the
 * list of modules differs from that of the newest snapshot, whichever run made that snapshot. The list is compared
 * every few seconds, which costs little.
 */
#ifndef PJ_KERNELSAVER_H
#define PJ_KERNELSAVER_H

#include "record/symsaver/saverdir.h"

struct kernelsaver {
	struct saverdir *dir;
	const char *proc;
	uint64_t now;     /* number N of the current snapshot; 0: none */
	uint64_t before;  /* number N of the previous snapshot of this run; 0: none */
	uint64_t modules; /* hash of the list of modules (kernelsaver_sum) at the last comparison */
	bool hidden;      /* true: the kernel hides the addresses of symbols, so there is no snapshot */
	bool failed;      /* true: the last snapshot was not written; `error` is the errno, or 0 if `hidden` */
	int error;
};

/* Uses the newest snapshot of this boot if its list of modules equals the current one; otherwise makes a new
 * snapshot. */
void kernelsaver_start(struct kernelsaver *kernelsaver, struct saverdir *dir, const char *proc);

/* Compares the list of modules with the list at the last call, and makes a snapshot if the lists differ. Returns true
 * if it made a snapshot; false if the lists are equal or the snapshot could not be written. */
bool kernelsaver_scan(struct kernelsaver *kernelsaver);

/* Sets the modification time of the current snapshot to now, because the current window needs it. Makes a new snapshot
 * if it was removed, or if none could be written before. While the kernel hides the addresses, only checks if it still
 * does so, and makes a new snapshot if not. */
void kernelsaver_touch(struct kernelsaver *kernelsaver);

/* Writes the name of snapshot n, "kallsyms-BOOT.N.gz", to `name`. */
void kernelsaver_name(char name[SAVERDIR_PATH], const char *boot, uint64_t n);

/* Returns a hash of the names, sizes and addresses in the text of /proc/modules. Use counts of modules do not change
 * it. Pure: no input or output. */
uint64_t kernelsaver_sum(struct str modules);

#endif
