/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symstore.h - what pjrecord kept for the fold: symbols of binaries and of the kernel, maps of JITs (DIR/symbols,
 * DIR/jit; pj(7)).
 *
 * DIR is that of the window: it lies in DIR/out or DIR/recording. So names are there when the container is gone, the
 * machine was started again, or the reader may not ask it. What is not named by a build-id is named by boot and by the
 * start of the process, so a number that was used again borrows nothing. Whoever could write to DIR could write the
 * window, too; but all files are read as hostile ones, and only plain ones.
 */
#ifndef PJ_SYMSTORE_H
#define PJ_SYMSTORE_H

#include "common/formats/fileid.h"
#include "fold/symbols/elfsyms.h"
#include "common/filter/in.h"
#include "fold/perfdata/recorder.h"
#include "common/text.h"

struct symstore {
	int dir;                           /* DIR; -1: there is none */
	const struct recorder *who;        /* boot, processes */
	uint64_t kernel[RECORDER_KERNELS]; /* numbers of snapshots, where the window, which was not finished, names
					      none; newest first */
	size_t nkernels;
	struct symstore_index *index; /* of dir */
	struct text jit_folders;      /* names below jit/BOOT, each with a 0 after it */
};

/* dir: as the user says, or NULL: found from the place of in, a window of pjrecord. who stays the caller's. Dies when
 * dir was named and is no folder. */
void symstore_open(struct symstore *symstore, const char *dir, const struct in *input, const struct recorder *who);
void symstore_close(struct symstore *symstore);

/* All give a plain file, or -1 and errno. */

/* A reduced ELF file for a mapping of that process: by build-id, else by the numbers in the mapping (of the recorded
 * boot). First that of all, then that of its tenant: a build-id is believed of files of root on the host and within a
 * tenant (record/symsaver/savernames.h). */
int symstore_binary(const struct symstore *symstore, uint32_t pid, const struct build_id *id,
		    const struct file_id *numbers);

/* The same for a process of which the window names no tenant, as its recorder was killed: what was kept for any tenant,
 * if that is one file. To be asked last: a build-id is what a file claims. */
int symstore_unclaimed(const struct symstore *symstore, uint32_t pid, const struct build_id *id,
		       const struct file_id *numbers);

/* Two mappings of one path and build-id have the same names if their origins are equal: the file that is kept of each
 * (0: none), and, as files below the roots of processes may be asked, too, the tenant of processes elsewhere. */
struct symstore_origin {
	uint64_t file, tenant;
};
struct symstore_origin symstore_origin(const struct symstore *symstore, uint32_t pid, const struct build_id *id,
				       const struct file_id *numbers);

/* True if the file of that process was kept for its tenant only, and has the build-id of another one with other
 * symbols. */
bool symstore_conflicts(const struct symstore *symstore, uint32_t pid, const struct build_id *id);

/* Which build that file is, as the window says; numbers is 0 when it does not. */
struct build_id symstore_build(const struct symstore *symstore, const struct file_id *numbers);

/* Is a file with these numbers kept, so that it is a program, whatever it is called? */
bool symstore_is_program(const struct symstore *symstore, uint32_t pid, const struct file_id *numbers);

int symstore_vdso(const struct symstore *symstore);

/* kind: "map", "map.1" (what was before it), "dump". Only of a process whose start the window tells. Copies lie in a
 * folder of the process's tenant; earlier versions had none. */
int symstore_jit(const struct symstore *symstore, uint32_t pid, const char *kind);

/* Its name below DIR, for people. */
void symstore_name(const struct symstore *symstore, uint32_t pid, const char *kind, char *name, size_t space);

/* The i-th snapshot of kallsyms, gzip, of those that the window names, or else of the newest of its boot. */
size_t symstore_kernels(const struct symstore *symstore);
int symstore_kernel(const struct symstore *symstore, size_t i);

#endif
