/* SPDX-License-Identifier: Apache-2.0 */
/*
 * targetfiles.h - opens target processes and the files that they map, as far as these still exist.
 *
 * Parameter `process` is a descriptor of the /proc folder of a process. It stays bound to that process even if another
 * process gets the pid. The root directory of a mount namespace is held open while the process whose root it is lives,
 * and 10 s longer. So files of processes that have ended can be opened. A longer time would keep the file systems of
 * the namespace mounted.
 */
#ifndef PJ_TARGETFILES_H
#define PJ_TARGETFILES_H

#include "common/formats/fileid.h"
#include "common/formats/buildid.h"
#include "common/str.h"
#include "common/process/tenants.h"

/* A mapped file, with the fields of its MMAP2 record in the window. */
struct target_mapping {
	uint64_t start; /* virtual address of the start of the mapping */
	struct file_id file_id;
	struct build_id build_id; /* build-id of the file; if its n is not 0, file_id is unknown */
	struct str path;
};

/* Opens the /proc folder of the process with this pid and start time (clock ticks since boot; 0: any). Returns a
 * descriptor (O_PATH); -1 with errno on failure. ESRCH: the process has ended, does not respond in time, or may not be
 * read. */
int target_process(const char *proc, uint32_t pid, uint64_t start);

/* Returns true if the process lives, or if reading its stat times out. Returns false if the process has ended, also for
 * a zombie. */
bool targetfiles_lives(int process);

/* Returns the state letter of /proc/PID/stat, such as 'R', 'S', 'D' or 'Z'; 0 if the process has ended; '?' if reading
 * it times out (taskwait.h). */
char targetfiles_state(int process);

/* Returns true if the process with this pid runs or waits for a CPU (state R): then no file system blocks it. */
bool targetfiles_runs(const char *proc, pid_t pid);

/* Sets *uid to the effective uid of a process, and *inner_pid to its pid in its own PID namespace. Returns false and
 * leaves both unchanged if the process has ended. */
bool targetfiles_identity(int process, uint32_t *uid, uint32_t *inner_pid);

/* Opens the root directory of a process with O_PATH. Returns a descriptor; -1 with errno on failure. */
int targetfiles_root(int process);

/* Callback that returns true if the build-id of the open file fd equals *id. The bytes of the file are hostile, so a
 * process without rights reads them (symhelper.h). This module parses no files. */
struct targetfiles_verifier {
	bool (*is_build)(void *to, int fd, const struct build_id *id);
	void *to;
};

/* Returns true if fd is the mapped file, by its file_id; a file in an overlay is also recognized by the inode of its
 * layer. If the mapping has a build-id instead, returns the result of `assess`; false if `assess` is NULL. */
bool targetfiles_is_mapped(int fd, const struct target_mapping *mapping, const struct targetfiles_verifier *assess);

/* Opens the mapped file. Tries in this order: its path below the directory root (a descriptor; -1: unknown), the
 * program of the process (process -1: unknown), the open files of the process (only for a mapping without build-id, or
 * of a memfd), its mapped files. Returns a descriptor; -1 with errno on failure (ESTALE: the path has another file
 * now). */
int targetfiles_open(int root, int process, const struct target_mapping *mapping,
		     const struct targetfiles_verifier *assess);

/* Opens /proc/PID/mem of a process and sets *base to the virtual address of the first byte of the mapped file. Both are
 * of the same program: an exec in between is detected. Returns a descriptor; -1 with errno on failure. ESRCH: the
 * process has ended or runs another program. EACCES: the user of the process may not read its memory (taskid.h). */
int targetfiles_memory(int process, const struct target_mapping *mapping, uint64_t *base);

#define TARGETFILES_ROOTS 64

struct targetfiles_roots {
	struct targetfiles_held {
		uint64_t mount_ns; /* inode of the mount namespace; 0: the slot is free */
		/* descriptors of the root directory and of the /proc folder of the process */
		int root, process;
		struct tenant of;
		/* Times in ns (clock_now). used: last use of the root. died: end of the process; 0: it lives. */
		uint64_t used, died;
	} held[TARGETFILES_ROOTS];
};

/* Returns a descriptor of the root directory that is held for a mount namespace; -1 if none is held. *roots owns the
 * descriptor. */
int targetfiles_roots_find(struct targetfiles_roots *roots, uint64_t mount_ns, uint64_t now);
/* Returns the tenant of the process whose root directory is held for a mount namespace; TENANT_UNKNOWN if none is
 * held. */
struct tenant targetfiles_roots_tenant(const struct targetfiles_roots *roots, uint64_t mount_ns);
/* Holds the root directory of a process for its mount namespace, by duplicates of both descriptors. Does nothing if a
 * root of a living process is held for the namespace. If all TARGETFILES_ROOTS slots are in use, closes the least
 * recently used root. */
void targetfiles_roots_hold(struct targetfiles_roots *roots, uint64_t mount_ns, int root, int process, uint64_t now);
/* Closes root directories whose processes ended at least 10 s ago. Call it every few seconds. */
void targetfiles_roots_tick(struct targetfiles_roots *roots, uint64_t now);
void targetfiles_roots_free(struct targetfiles_roots *roots);

#endif
