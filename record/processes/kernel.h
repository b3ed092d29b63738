/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel.h - what a file must say of the kernel: where its text and its modules lie, what they are, and which code was
 * made at run time (BPF programs, trampolines).
 *
 * A window has the kernel's own mapping and the run-time code from its start, modules only when a sample was in them.
 * From /proc/kallsyms, /proc/modules, /sys/kernel/notes, /sys/module/NAME/notes; KSYMBOL records keep it current.
 */
#ifndef PJ_KERNEL_H
#define PJ_KERNEL_H

#include "common/formats/buildid.h"
#include "common/formats/perfrecord.h"
#include "common/text.h"

struct kernel;

/* Reads all of it. There may be nothing to read (kptr_restrict): kernel_known is false then. */
struct kernel *kernel_new(void);
void kernel_free(struct kernel *kernel);
bool kernel_known(const struct kernel *kernel);

/* Reads the modules again when they are not those of the last time. */
void kernel_refresh(struct kernel *kernel);

/* A KSYMBOL record of the kernel, with its trailer. */
void kernel_symbol(struct kernel *kernel, const struct perf_record *record);

/* Appends the records for the start of a window. event: number of the state event. */
void kernel_begin(struct kernel *kernel, struct text *records, uint64_t event, uint64_t ns);

/* Appends the record of each module that ips[0..n) are in and that this window does not have yet. */
void kernel_modules_hit(struct kernel *kernel, struct text *records, const uint64_t *ips, uint64_t n, uint64_t event,
			uint64_t ns);

/* Appends the BUILD_ID entries of what this window has of the kernel. */
void kernel_build_ids(const struct kernel *kernel, struct text *section);

/* One BUILD_ID entry: pid -1 is the kernel. */
void kernel_put_build_id(struct text *section, unsigned mode, int32_t pid, const struct build_id *id, struct str path);

#endif
