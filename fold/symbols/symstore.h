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
#include "common/process/tenants.h"
#include "fold/perfdata/recorder.h"
#include "common/text.h"

struct symstore {
	int dir;                    /* descriptor of DIR; -1: there is none */
	const struct recorder *who; /* pjrecord's data in the window: boot and processes */
	/* numbers of the kallsyms snapshots in DIR of the recorded boot, newest first; filled only if the window is
	 * unfinished and therefore does not list its snapshots itself */
	uint64_t kernel[RECORDER_KERNELS];
	size_t nkernels;
	/* Files of two tenants are different DSOs, also if both have the same symbols here: so that pjpack, which can
	 * use the symbol store, and pjfold without it distinguish the same DSOs */
	bool by_tenant;
	struct symstore_index *index; /* index of the files in dir */
	struct text jit_folders;      /* names of the folders in jit/BOOT, each ended by NUL */
};

/* Opens the symbol store in dir; if dir is NULL, in the DIR of the window `input`. `who` must stay valid until
 * symstore_close(). Ends the process if dir is given and is no folder. */
void symstore_open(struct symstore *symstore, const char *dir, const struct in *input, const struct recorder *who);
void symstore_close(struct symstore *symstore);

/* All functions that return int return a descriptor of a plain file, or -1 and errno. */

/* Opens the reduced ELF file for a mapping of a process: by build-id, otherwise by file_id (of the recorded boot).
 * Files of root on the host come first, then those of the process's tenant: a build-id is valid only within these
 * (record/symsaver/savernames.h). */
int symstore_binary(const struct symstore *symstore, uint32_t pid, const struct build_id *id,
		    const struct file_id *numbers);

/* Opens the reduced ELF file for a process whose tenant is unknown because its recorder was killed. Searches the
 * folders of all tenants; returns -1 unless all files found have the same inode. Call it after all other lookups: any
 * tenant can save a file under any build-id. */
int symstore_unclaimed(const struct symstore *symstore, uint32_t pid, const struct build_id *id,
		       const struct file_id *numbers);

/* Origin of the names of a mapping. Mappings of one path and build-id have the same names if their origins are equal.
 * file: inode of the saved file, 0 if there is none. tenant: hash of the tenant if the process is in another mount
 * namespace, since files below its root are used, too, and of each process with by_tenant; otherwise 0. */
#define SYMSTORE_TENANT (TENANT_NAME + 16)
struct symstore_origin {
	uint64_t file, tenant;
};
struct symstore_origin symstore_origin(const struct symstore *symstore, uint32_t pid, const struct build_id *id,
				       const struct file_id *numbers);

/* Returns the folder of the first tenant of a process, in `folder`; empty if the process is unknown. With by_tenant,
 * two processes share DSOs only if their folders are equal. */
struct str symstore_tenant(const struct symstore *symstore, uint32_t pid, char folder[SYMSTORE_TENANT]);

/* Returns true if the file of a process is saved for its tenant only and has the build-id of another file with other
 * symbols. */
bool symstore_conflicts(const struct symstore *symstore, uint32_t pid, const struct build_id *id);

/* Returns the build-id that pjrecord stored in the window for a file; n is 0 if there is none. */
struct build_id symstore_build(const struct symstore *symstore, const struct file_id *numbers);

/* Returns true if the symbol store has a file with this file_id: the file is a program or library, although its path
 * may not look like one. */
bool symstore_is_program(const struct symstore *symstore, uint32_t pid, const struct file_id *numbers);

/* Opens the saved vDSO of the recorded boot. */
int symstore_vdso(const struct symstore *symstore);

/* Opens the copy of a file that a JIT wrote. kind: "map", "map.1" (the previous perf map), "dump" (jitdump). Only for
 * processes whose start time is in the window. Copies are in the folder of the process's tenant; earlier versions had
 * no such folders. */
int symstore_jit(const struct symstore *symstore, uint32_t pid, const char *kind);

/* Writes the path of the copy that symstore_jit opens, relative to DIR, for messages. */
void symstore_name(const struct symstore *symstore, uint32_t pid, const char *kind, char *name, size_t space);

/* Return the number of snapshots of kallsyms for the window, and open the i-th (gzip). They are those in the window's
 * list; without a list, the newest of its boot. */
size_t symstore_kernels(const struct symstore *symstore);
int symstore_kernel(const struct symstore *symstore, size_t i);

#endif
