/* SPDX-License-Identifier: Apache-2.0 */
/*
 * targetfiles.h - opens target processes and the files that they mapped, as far as these still exist.
 *
 * A process is a descriptor of its folder in /proc, which stays bound to it when its PID is reused. The root of a mount
 * namespace is held while a known process of it lives, and 10 s longer, so that files of ended processes can be opened;
 * not longer, as that would keep its file systems mounted.
 */
#ifndef PJ_TARGETFILES_H
#define PJ_TARGETFILES_H

#include "common/formats/fileid.h"
#include "common/formats/buildid.h"
#include "common/str.h"
#include "common/process/tenants.h"

/* A mapped file, as the window has it. */
struct target_mapping {
	uint64_t start; /* address of the mapping */
	struct file_id file_id;
	struct build_id build_id; /* if n is not 0, file_id is unknown */
	struct str path;
};

/* Opens the /proc folder of the process that has this PID since `start`. Returns -1 and errno if it has ended or does
 * not respond in time (ESRCH), or without permission. */
int target_process(const char *proc, uint32_t pid, uint64_t start);

/* Returns true if the process lives, or does not respond in time. */
bool targetfiles_lives(int process);

/* Returns the state in /proc/PID/stat: 'R', 'S', 'D', 'Z' and so on; 0 if the process has ended, '?' if it does not
 * respond in time (taskwait.h). */
char targetfiles_state(int process);

/* Returns true if a process runs or waits for a CPU, and so for no file system. */
bool targetfiles_runs(const char *proc, pid_t pid);

/* Returns the effective user of a process, and its PID in its own PID namespace. Returns false and leaves both if it
 * has ended. */
bool targetfiles_identity(int process, uint32_t *uid, uint32_t *inner_pid);

/* Opens the root of a process, with O_PATH. Returns -1 and errno on failure. */
int targetfiles_root(int process);

/* Compares the build-id of an open file. The bytes are hostile, so a process without rights reads them (symhelper.h);
 * this module parses no file. */
struct targetfiles_verifier {
	bool (*is_build)(void *to, int fd, const struct build_id *id);
	void *to;
};

/* Returns true if fd is the mapped file, by its file_id; a file in an overlay has that of its lower layer. If only the
 * build-id is known, `assess` decides; NULL: false. */
bool targetfiles_is_mapped(int fd, const struct target_mapping *mapping, const struct targetfiles_verifier *assess);

/* Opens the mapped file: by its path below root (-1: unknown), as the program of the process, among its open files, or
 * among its mapped files. Returns -1 and errno on failure: ESTALE if the path has another file. */
int targetfiles_open(int root, int process, const struct target_mapping *mapping,
		     const struct targetfiles_verifier *assess);

/* Opens /proc/PID/mem and finds the address of the first byte of the mapped file, both of one program: an exec in
 * between is detected. Returns -1 and errno: ESRCH if the process has ended or runs another program, EACCES if its own
 * user may not read its memory (taskid.h). */
int targetfiles_memory(int process, const struct target_mapping *mapping, uint64_t *base);

#define TARGETFILES_ROOTS 64

struct targetfiles_roots {
	struct targetfiles_held {
		uint64_t mount_ns; /* 0: free */
		int root, process;
		struct tenant of;
		uint64_t used, died; /* ns; died 0: the process lives */
	} held[TARGETFILES_ROOTS];
};

/* Returns the root that is held for a mount namespace, or -1. It stays owned by *roots. */
int targetfiles_roots_find(struct targetfiles_roots *roots, uint64_t mount_ns, uint64_t now);
/* Returns the tenant of the process whose root is held; TENANT_UNKNOWN if none is. */
struct tenant targetfiles_roots_tenant(const struct targetfiles_roots *roots, uint64_t mount_ns);
/* Holds the root of a process (duplicates both); beyond the limit, the least recently used root is closed. */
void targetfiles_roots_hold(struct targetfiles_roots *roots, uint64_t mount_ns, int root, int process, uint64_t now);
/* Closes roots of ended processes. To be called every few seconds. */
void targetfiles_roots_tick(struct targetfiles_roots *roots, uint64_t now);
void targetfiles_roots_free(struct targetfiles_roots *roots);

#endif
