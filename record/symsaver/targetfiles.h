/* SPDX-License-Identifier: Apache-2.0 */
/*
 * targetfiles.h - opens target processes and the files that they mapped, as far as these still exist.
 *
 * Parameter `process` is a descriptor of the /proc folder of a process, which stays bound to that process when another
 * one gets its pid. The root of a mount namespace is held open while a known process in it lives, and 10 s longer, so
 * that files of ended processes can be opened; not longer, because that would keep its file systems mounted.
 */
#ifndef PJ_TARGETFILES_H
#define PJ_TARGETFILES_H

#include "common/formats/fileid.h"
#include "common/formats/buildid.h"
#include "common/str.h"
#include "common/process/tenants.h"

/* A mapped file, as its record in the window describes it. */
struct target_mapping {
	uint64_t start; /* start address of the mapping */
	struct file_id file_id;
	struct build_id build_id; /* build-id of the file; if its n is not 0, file_id is unknown */
	struct str path;
};

/* Opens the /proc folder of the process that has this pid and started at `start` (clock ticks since boot; 0: any).
 * Returns a descriptor, or -1 with errno: ESRCH if the process has ended or does not respond in time, or for lack of
 * permission. */
int target_process(const char *proc, uint32_t pid, uint64_t start);

/* Returns true if the process lives. Also returns true if it does not respond in time. */
bool targetfiles_lives(int process);

/* Returns the state letter of /proc/PID/stat: 'R', 'S', 'D', 'Z' and so on. Returns 0 if the process has ended, and '?'
 * if it does not respond in time (taskwait.h). */
char targetfiles_state(int process);

/* Returns true if a process runs or waits for a CPU (state R), so that it waits for no file system. */
bool targetfiles_runs(const char *proc, pid_t pid);

/* Reads the effective uid of a process, and its pid in its own PID namespace. Returns false and leaves both unchanged
 * if the process has ended. */
bool targetfiles_identity(int process, uint32_t *uid, uint32_t *inner_pid);

/* Opens the root directory of a process with O_PATH. Returns a descriptor, or -1 with errno. */
int targetfiles_root(int process);

/* Callback that compares the build-id of an open file. The bytes of the file are hostile, so a process without rights
 * reads them (symhelper.h); this module parses no files. */
struct targetfiles_verifier {
	bool (*is_build)(void *to, int fd, const struct build_id *id);
	void *to;
};

/* Returns true if fd is the mapped file, by file_id; a file in an overlay matches with the inode of its layer. If the
 * mapping has only a build-id, `assess` decides; without it (NULL) returns false. */
bool targetfiles_is_mapped(int fd, const struct target_mapping *mapping, const struct targetfiles_verifier *assess);

/* Opens the mapped file. Tries its path below root (a descriptor; -1: unknown), then the program of the process, its
 * open files, and its mapped files. Returns a descriptor, or -1 with errno: ESTALE if the path has another file now. */
int targetfiles_open(int root, int process, const struct target_mapping *mapping,
		     const struct targetfiles_verifier *assess);

/* Opens /proc/PID/mem and sets *base to the address of the first byte of the mapped file. Both are of the same program:
 * an exec in between is detected. Returns a descriptor, or -1 with errno: ESRCH if the process has ended or runs
 * another program, EACCES if the user of the process may not read its memory (taskid.h). */
int targetfiles_memory(int process, const struct target_mapping *mapping, uint64_t *base);

#define TARGETFILES_ROOTS 64

struct targetfiles_roots {
	struct targetfiles_held {
		uint64_t mount_ns; /* inode of the mount namespace; 0: the slot is free */
		int root, process;
		struct tenant of;
		/* used: time of the last use; died: time of the end of the process, 0 while it lives; in ns */
		uint64_t used, died;
	} held[TARGETFILES_ROOTS];
};

/* Returns a descriptor of the root directory that is held for a mount namespace, or -1. *roots owns the descriptor. */
int targetfiles_roots_find(struct targetfiles_roots *roots, uint64_t mount_ns, uint64_t now);
/* Returns the tenant of the process whose root is held for a mount namespace; TENANT_UNKNOWN if none is held. */
struct tenant targetfiles_roots_tenant(const struct targetfiles_roots *roots, uint64_t mount_ns);
/* Holds the root directory of a process, with duplicates of both descriptors. If all TARGETFILES_ROOTS slots are used,
 * closes the root whose last use is the oldest. */
void targetfiles_roots_hold(struct targetfiles_roots *roots, uint64_t mount_ns, int root, int process, uint64_t now);
/* Closes roots whose processes ended 10 s ago or earlier. Call it every few seconds. */
void targetfiles_roots_tick(struct targetfiles_roots *roots, uint64_t now);
void targetfiles_roots_free(struct targetfiles_roots *roots);

#endif
