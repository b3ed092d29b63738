/* SPDX-License-Identifier: Apache-2.0 */
/*
 * targetfiles.h - processes that somebody else runs, and the files that they mapped, as far as they can still be had.
 *
 * A process is a descriptor of its folder in /proc, which stays that of this process when its number is given to
 * another one. Of mount namespaces the roots are held while a process of theirs lives that we saw, and a little longer,
 * so that files of what just ended can be opened; not for ever, as that would keep their file systems mounted.
 */
#ifndef PJ_TARGETFILES_H
#define PJ_TARGETFILES_H

#include "common/formats/fileid.h"
#include "common/formats/buildid.h"
#include "common/str.h"
#include "common/process/tenants.h"

/* What was mapped, as the window says. */
struct target_mapping {
	uint64_t start; /* address of the mapping */
	struct file_id file_id;
	struct build_id build_id; /* if n is not 0, file_id is unknown */
	struct str path;
};

/* The folder of the process that has had this number since start; -1: it is gone, or does not answer in time (errno
 * ESRCH), or may not be read. */
int target_process(const char *proc, uint32_t pid, uint64_t start);

/* True also if the process does not answer in time. */
bool targetfiles_lives(int process);

/* Its state as in /proc/PID/stat: 'R', 'S', 'D', 'Z', ...; 0 if it is gone, '?' if it does not answer in time
 * (taskwait.h). */
char targetfiles_state(int process);

/* True if a process runs, or waits for a CPU: it waits for no file system. */
bool targetfiles_runs(const char *proc, pid_t pid);

/* Its effective user, and its number in its own PID namespace; false, and both as they were, when it is gone. */
bool targetfiles_identity(int process, uint32_t *uid, uint32_t *inner_pid);

/* Its root, of O_PATH; -1 and errno. */
int targetfiles_root(int process);

/* Compares the build-id of an open file. It is in bytes of strangers, so a process without rights reads it
 * (symhelper.h): this module parses none. */
struct targetfiles_verifier {
	bool (*is_build)(void *to, int fd, const struct build_id *id);
	void *to;
};

/* True if fd is the file that was mapped: by its numbers; those of a file in an overlay are those of the layer below.
 * Where only a build-id is known the judge decides; NULL: false. */
bool targetfiles_is_mapped(int fd, const struct target_mapping *mapping, const struct targetfiles_verifier *assess);

/* The file that was mapped: by its path below root (-1: not known), else as its program, else among its open files,
 * else among its mapped files. -1 and errno: ESTALE when there is another file at the path, which is known only when
 * nothing better is. */
int targetfiles_open(int root, int process, const struct target_mapping *mapping,
		     const struct targetfiles_verifier *assess);

/* /proc/PID/mem, and the address where the mapped file's first byte is, of one program: an exec between the two is
 * noticed. -1 and errno: ESRCH if it ended or runs another program, EACCES if its own user may not read its memory
 * (taskid.h). */
int targetfiles_memory(int process, const struct target_mapping *mapping, uint64_t *base);

#define TARGETFILES_ROOTS 64

struct targetfiles_roots {
	struct targetfiles_held {
		uint64_t mount_ns; /* 0: free */
		int root, process;
		struct tenant of;
		uint64_t used, died; /* ns; died 0: lives */
	} held[TARGETFILES_ROOTS];
};

/* The root that is held for a mount namespace, or -1. Not the caller's. */
int targetfiles_roots_find(struct targetfiles_roots *roots, uint64_t mount_ns, uint64_t now);
/* The tenant of the process whose root is held; TENANT_UNKNOWN if none is. */
struct tenant targetfiles_roots_tenant(const struct targetfiles_roots *roots, uint64_t mount_ns);
/* Holds the root of a process (both are copied); of too many the one that was not used for longest is let go. */
void targetfiles_roots_hold(struct targetfiles_roots *roots, uint64_t mount_ns, int root, int process, uint64_t now);
/* Lets go what belongs to nobody any more. To be called every few seconds. */
void targetfiles_roots_tick(struct targetfiles_roots *roots, uint64_t now);
void targetfiles_roots_free(struct targetfiles_roots *roots);

#endif
