/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symstore.h - reads pjrecord's symbol store: symbols of binaries and of the kernel, and files of JITs (DIR/symbols,
 * DIR/jit; pj(7)).
 *
 * DIR is the spool directory of the window; the window is in DIR/out or DIR/recording. The store makes names available
 * after the end of a container or a reboot, and to users without permission to read live processes. Files without a
 * build-id are identified by boot and by the start of the process, so a process with a reused PID never gets names of
 * an earlier process. A user who can write to DIR could write the window, too; nevertheless all files are treated as
 * hostile, and only plain files are read.
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
	/* numbers of the recorded boot's kallsyms snapshots in DIR, newest first; filled only if the window does not
	 * list its snapshots, because the window is unfinished */
	uint64_t kernel[RECORDER_KERNELS];
	size_t nkernels;
	/* True for pjpack and for packed recordings: files of two tenants are different DSOs, even if the store has the
	 * same symbols for both. pjpack can read the store, but a pjfold that reads the packed recording may not: with
	 * by_tenant both distinguish the same DSOs. */
	bool by_tenant;
	struct symstore_index *index; /* index of the files in dir */
	struct text jit_folders;      /* names of the folders in jit/BOOT, each ended by NUL */
};

/* Opens the symbol store in dir or, if dir is NULL, in the DIR of the window `input`. `who` must stay valid until
 * symstore_close(). Ends the process if dir is given and is no folder. */
void symstore_open(struct symstore *symstore, const char *dir, const struct in *input, const struct recorder *who);
void symstore_close(struct symstore *symstore);

/* Functions that return int open a plain file and return its descriptor, or -1 and errno. `numbers` is the file id of
 * a mapped file. */

/* Opens the reduced ELF file for a mapping of process `pid`: by build-id or, if the build-id is unknown, by file id (of
 * the recorded boot). Searches the files of root on the host, then only the files of the process's own tenants, because
 * a build-id is a claim of the file (record/symsaver/savernames.h). A file id is from the kernel, so any tenant's file
 * with this id is the same file: without a build-id, symstore_unclaimed is tried last. */
int symstore_binary(const struct symstore *symstore, uint32_t pid, const struct build_id *id,
		    const struct file_id *numbers);

/* Opens the reduced ELF file for a process `pid` whose tenant is unknown: pjrecord's data do not list it, because the
 * recorder was killed, or several processes had this pid (recorder_process). Searches the folders of all tenants, but
 * not the files of root. Returns -1 if the tenant is known, if no file is found, or if the files found have different
 * inodes. To be called after all other lookups: any tenant can save a file under any build-id. */
int symstore_unclaimed(const struct symstore *symstore, uint32_t pid, const struct build_id *id,
		       const struct file_id *numbers);

/* Size in bytes of a buffer for the folder of a tenant (symstore_tenant). */
#define SYMSTORE_TENANT (TENANT_NAME + 16)
/* Origin of the names of a mapping. Mappings with the same path, build-id and origin have the same names. file: inode
 * of the saved file; 0: there is none. tenant: hash of the process's tenant, with by_tenant or if the process is in
 * another mount namespace (files below its root are then used, too); otherwise 0. */
struct symstore_origin {
	uint64_t file, tenant;
};
struct symstore_origin symstore_origin(const struct symstore *symstore, uint32_t pid, const struct build_id *id,
				       const struct file_id *numbers);

/* Writes the folder of the first tenant of process `pid` to `folder`, and returns this folder; empty if the process is
 * unknown. With by_tenant, two processes share DSOs only if their folders are equal. */
struct str symstore_tenant(const struct symstore *symstore, uint32_t pid, char folder[SYMSTORE_TENANT]);

/* Returns true if the tenant of process `pid` has a file with this build-id, and root on the host or the shared folder
 * has another file with the same build-id but other symbols. Returns false otherwise, also without a symbol store or a
 * build-id. */
bool symstore_conflicts(const struct symstore *symstore, uint32_t pid, const struct build_id *id);

/* Returns the build-id that pjrecord stored in the window for a file; n is 0 if there is none. */
struct build_id symstore_build(const struct symstore *symstore, const struct file_id *numbers);

/* Returns true if the symbol store has a file with this file id for process `pid`: the mapped file then is a program or
 * library, even if its path is that of a memfd. Returns false if the store has none. */
bool symstore_is_program(const struct symstore *symstore, uint32_t pid, const struct file_id *numbers);

/* Opens the saved vDSO of the recorded boot. */
int symstore_vdso(const struct symstore *symstore);

/* Opens the copy of a file that the JIT of process `pid` wrote. kind: "map" (perf map), "map.1" (the previous perf map)
 * or "dump" (jitdump). Returns -1 also if the process's start time is not in the window. Copies are in the folder of a
 * tenant; a copy outside of these folders, as earlier versions of pj made it, is opened, too. */
int symstore_jit(const struct symstore *symstore, uint32_t pid, const char *kind);

/* Writes the path, relative to DIR, of the copy that symstore_jit opens for these arguments, to `name`, a buffer of
 * `space` bytes, for messages. */
void symstore_name(const struct symstore *symstore, uint32_t pid, const char *kind, char *name, size_t space);

/* Returns the number of kallsyms snapshots for the window: the snapshots in the window's list or, without a list, the
 * snapshots of the window's boot. */
size_t symstore_kernels(const struct symstore *symstore);
/* Opens kallsyms snapshot i (gzip) for the window, from 0 in the order newest first. Returns -1 if there is no such
 * snapshot. */
int symstore_kernel(const struct symstore *symstore, size_t i);

#endif
