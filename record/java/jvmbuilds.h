/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvmbuilds.h - cache of the layouts of HotSpot builds: for JVMs with the same libjvm.so, the layout is read only once.
 *
 * Reading a layout takes 2.3 ms. Except for the base address, it is the same in each process that maps the file. But it
 * comes from the memory of a process, which can change its own copy. So a layout is shared only between processes that
 * trust each other: processes of one user in one mount namespace that map the same file (device and inode) with an
 * equal first page.
 *
 * The kernel reuses the inode number of a mount namespace that has ended. So an entry is valid while its owner lives in
 * that namespace; the owner is the process that filled or used the entry last. Entries for the recorder's own mount
 * namespace are always valid.
 */
#ifndef PJ_JVMBUILDS_H
#define PJ_JVMBUILDS_H

#include "runtimes/hotspot/blobframes.h"

struct jvmbuilds;

struct jvmbuilds *jvmbuilds_new(void);
void jvmbuilds_free(struct jvmbuilds *jvmbuilds);

/* Processes with equal keys share a layout. */
struct jvmbuilds_key {
	uid_t uid;
	uint64_t mount_ns; /* inode of the mount namespace; 0: unknown, so the layout is not shared */
	uint32_t major, minor;
	uint64_t inode;
};

/* Returns the key for a JVM process and its libjvm.so. */
struct jvmbuilds_key jvmbuilds_key(const struct jvm_process *process);

/* Fills *hotspot and *frames from the cache, as hotspot_read_layout and blobframes_open would do, but only the members
 * that lookups of code and names of methods need. Before the call, only hotspot->memory is set. base: address of
 * libjvm.so in the process. process: descriptor of /proc/PID, which the cache duplicates; -1 if key->mount_ns is 0 or
 * the recorder's own. Returns false if the build is not in the cache. */
bool jvmbuilds_take(struct jvmbuilds *jvmbuilds, const struct jvmbuilds_key *key, int process, uint64_t base,
		    struct hotspot *hotspot, struct blobframes *frames);

/* Stores the layouts in *hotspot and *frames, which were read from this process, in the cache. Does nothing if
 * key->mount_ns is 0. */
void jvmbuilds_keep(struct jvmbuilds *jvmbuilds, const struct jvmbuilds_key *key, int process, uint64_t base,
		    struct hotspot *hotspot, const struct blobframes *frames);

#endif
