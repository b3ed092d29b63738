/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symstore.h - reads pjrecord's symbol store: symbols of binaries and of the kernel, files of JITs (DIR/symbols,
 * DIR/jit; pj(7)).
 *
 * DIR is that of the window, which is in DIR/out or DIR/recording. So names are available after the end of a container
 * or a reboot, and to users without permission to read live processes. Files without a build-id are identified by boot
 * and by the start of the process, so a reused number never gets names of another. A user who can write to DIR could
 * write the window, too; nevertheless all files are treated as hostile, and only plain files are read.
 */
#ifndef PJ_SYMSTORE_H
#define PJ_SYMSTORE_H

#include "common/formats/fileid.h"
#include "fold/symbols/elfsyms.h"
#include "common/filter/in.h"
#include "fold/perfdata/recorder.h"
#include "common/text.h"

struct symstore {
	int dir;                           /* DIR; -1: none */
	const struct recorder *who;        /* boot, processes */
	uint64_t kernel[RECORDER_KERNELS]; /* kernel snapshots of this boot, newest first: for a window that was not
					      finished and therefore has no list */
	size_t nkernels;
	struct symstore_index *index; /* of dir */
	struct text jit_folders;      /* names below jit/BOOT, each with a 0 after it */
};

/* Opens the symbol store in dir; NULL: DIR is derived from the path of input, a window of pjrecord. who stays the
 * caller's. Ends the process if the user named dir and it is no folder. */
void symstore_open(struct symstore *symstore, const char *dir, const struct in *input, const struct recorder *who);
void symstore_close(struct symstore *symstore);

/* All functions that return int return a descriptor of a plain file, or -1 and errno. */

/* Opens the reduced ELF file for a mapping of a process: by build-id, otherwise by file_id (of the recorded boot).
 * First that of the host, then that of its tenant: a build-id counts for files of root on the host and within a tenant
 * (record/symsaver/savernames.h). */
int symstore_binary(const struct symstore *symstore, uint32_t pid, const struct build_id *id,
		    const struct file_id *numbers);

/* As symstore_binary, for a process without a tenant in the window, because its recorder was killed: returns the file
 * of any tenant if all tenants have equal files. Call it last: a build-id is only a claim of the file. */
int symstore_unclaimed(const struct symstore *symstore, uint32_t pid, const struct build_id *id,
		       const struct file_id *numbers);

/* The origin of names. Two mappings of one path and build-id have the same names if their origins are equal: inode of
 * the saved file (0: none), and, as files below roots of processes are used, too, the tenant of processes elsewhere. */
struct symstore_origin {
	uint64_t file, tenant;
};
struct symstore_origin symstore_origin(const struct symstore *symstore, uint32_t pid, const struct build_id *id,
				       const struct file_id *numbers);

/* Returns true if the file of a process is saved for its tenant only and has the build-id of another file with other
 * symbols. */
bool symstore_conflicts(const struct symstore *symstore, uint32_t pid, const struct build_id *id);

/* Returns the build-id that the window has for a file; n is 0 if it has none. */
struct build_id symstore_build(const struct symstore *symstore, const struct file_id *numbers);

/* Returns true if a file with this file_id is saved: then it is a program, whatever its path. */
bool symstore_is_program(const struct symstore *symstore, uint32_t pid, const struct file_id *numbers);

/* Opens the saved vDSO of the recorded boot. */
int symstore_vdso(const struct symstore *symstore);

/* Opens the copy of a JIT's file. kind: "map", "map.1" (the map before), "dump". Only for processes whose start is in
 * the window. Copies are in the folder of the process's tenant; earlier versions had no such folders. */
int symstore_jit(const struct symstore *symstore, uint32_t pid, const char *kind);

/* Writes the name of that copy below DIR, for messages. */
void symstore_name(const struct symstore *symstore, uint32_t pid, const char *kind, char *name, size_t space);

/* Return the number of snapshots of kallsyms, and open the i-th (gzip): those that the window names, or the newest of
 * its boot. */
size_t symstore_kernels(const struct symstore *symstore);
int symstore_kernel(const struct symstore *symstore, size_t i);

#endif
