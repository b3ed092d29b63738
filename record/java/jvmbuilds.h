/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvmbuilds.h - a cache of the layouts of HotSpot builds: of all JVMs with the same libjvm.so, only the first is read
 * in full.
 *
 * Reading a layout takes 2.3 ms. Apart from the base address it is the same in each process that maps the file. But it
 * comes from the memory of a process, which can change its own copy. So only processes that trust each other share a
 * layout: those of one user in one mount namespace that map one file (device and inode) with an equal first page.
 *
 * The kernel reuses the number of an ended mount namespace, so an entry is valid while its owner, the process that
 * filled or used it last, lives in that namespace. Entries of the recorder's own namespace stay.
 */
#ifndef PJ_JVMBUILDS_H
#define PJ_JVMBUILDS_H

#include "runtimes/hotspot/blobframes.h"

struct jvmbuilds;

struct jvmbuilds *jvmbuilds_new(void);
void jvmbuilds_free(struct jvmbuilds *jvmbuilds);

/* Identifies processes that share a layout: those with equal keys. */
struct jvmbuilds_key {
	uid_t uid;
	uint64_t mount_ns; /* inode of the mount namespace; 0: unknown, so the layout is not shared */
	uint32_t major, minor;
	uint64_t inode;
};

/* Returns the key of a JVM from its process and its libjvm.so. */
struct jvmbuilds_key jvmbuilds_key(const struct jvm_process *process);

/* Fills *hotspot and *frames from the cache, as hotspot_read_layout and blobframes_open do, as far as lookups of code
 * and names of methods need it. On entry only hotspot->memory is set; libjvm.so starts at `base` in it. process is a
 * descriptor of /proc/PID, of which a copy is kept. Returns false if the build is not cached. */
bool jvmbuilds_take(struct jvmbuilds *jvmbuilds, const struct jvmbuilds_key *key, int process, uint64_t base,
		    struct hotspot *hotspot, struct blobframes *frames);

/* Stores the layouts in *hotspot and *frames, which were read from this process. */
void jvmbuilds_keep(struct jvmbuilds *jvmbuilds, const struct jvmbuilds_key *key, int process, uint64_t base,
		    struct hotspot *hotspot, const struct blobframes *frames);

#endif
