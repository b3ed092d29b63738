/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvmbuilds.h - a cache of the layouts of HotSpot builds, so that of JVMs that run one libjvm.so only the first is read
 * in full.
 *
 * To read a layout takes 2.3 ms. It is the same in each process that maps the same file, but for the address. But it is
 * read from the memory of a process, which may have changed its own copy: so a layout is shared only between processes
 * that trust each other anyway, those of one user in one mount namespace that map one file (device and inode, as the
 * kernel numbers them) with an equal first page.
 *
 * The number of a mount namespace is given again once the namespace is gone, so an entry counts while its owner, the
 * process that filled or used it last, lives there. Our own mount namespace does not end before us: entries of it stay.
 */
#ifndef PJ_JVMBUILDS_H
#define PJ_JVMBUILDS_H

#include "runtimes/hotspot/blobframes.h"

struct jvmbuilds;

struct jvmbuilds *jvmbuilds_new(void);
void jvmbuilds_free(struct jvmbuilds *jvmbuilds);

/* Which processes share a layout. */
struct jvmbuilds_key {
	uid_t uid;
	uint64_t mount_ns; /* 0: not known, nothing is shared */
	uint32_t major, minor;
	uint64_t inode;
};

/* The key of a JVM. */
struct jvmbuilds_key jvmbuilds_key(const struct jvm_process *process);

/* hotspot has memory alone, in which libjvm.so starts at base. If its build is known, hotspot and frames are filled in,
 * as by hotspot_read_layout and frames_open, as far as looking at code and naming methods needs it. process: /proc/PID,
 * which is copied. */
bool jvmbuilds_take(struct jvmbuilds *jvmbuilds, const struct jvmbuilds_key *key, int process, uint64_t base,
		    struct hotspot *hotspot, struct blobframes *frames);

/* They were filled in, by reading. */
void jvmbuilds_keep(struct jvmbuilds *jvmbuilds, const struct jvmbuilds_key *key, int process, uint64_t base,
		    struct hotspot *hotspot, const struct blobframes *frames);

#endif
