/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel.h - state of the kernel in a file: ranges and build-ids of its text and modules, and code that it generated
 * at run time (BPF programs, trampolines).
 *
 * A window has the kernel's own mapping and the generated code from its start, modules only from the first sample in
 * them. Sources are /proc/kallsyms, /proc/modules, /sys/kernel/notes and /sys/module/NAME/notes; KSYMBOL records
 * keep the state current.
 */
#ifndef PJ_KERNEL_H
#define PJ_KERNEL_H

#include "common/formats/buildid.h"
#include "common/formats/perfrecord.h"
#include "common/text.h"

struct kernel;

/* Reads everything. If the addresses are hidden (kptr_restrict), kernel_known returns false. */
struct kernel *kernel_new(void);
/* Frees the state. */
void kernel_free(struct kernel *kernel);
/* Returns true if the addresses of the kernel's text could be read. */
bool kernel_known(const struct kernel *kernel);

/* Reads the modules again if their list has changed. */
void kernel_refresh(struct kernel *kernel);

/* Applies a KSYMBOL record with its trailer. */
void kernel_symbol(struct kernel *kernel, const struct perf_record *record);

/* Appends the records for the start of a window. event is the index of the state event, ns the time of the records. */
void kernel_begin(struct kernel *kernel, struct text *records, uint64_t event, uint64_t ns);

/* Appends the record of each module that ips[0..n) are in and that this window does not have yet. */
void kernel_modules_hit(struct kernel *kernel, struct text *records, const uint64_t *ips, uint64_t n, uint64_t event,
			uint64_t ns);

/* Appends the BUILD_ID entries of the kernel and of the modules that this window has. */
void kernel_build_ids(const struct kernel *kernel, struct text *section);

/* Appends one BUILD_ID entry; pid -1 is the kernel. */
void kernel_put_build_id(struct text *section, unsigned mode, int32_t pid, const struct build_id *id, struct str path);

#endif
