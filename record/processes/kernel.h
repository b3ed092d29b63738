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

/* Reads ranges and build-ids of the kernel and its modules, and the generated code. If kptr_restrict hides the
 * addresses, kernel_known returns false afterwards. */
struct kernel *kernel_new(void);
/* Frees the state of the kernel. */
void kernel_free(struct kernel *kernel);
/* Returns true if the addresses of the kernel text could be read. */
bool kernel_known(const struct kernel *kernel);

/* Reads the modules again if /proc/modules has changed. */
void kernel_refresh(struct kernel *kernel);

/* Applies a KSYMBOL record, which includes its trailer, to the list of generated code. */
void kernel_symbol(struct kernel *kernel, const struct perf_record *record);

/* Appends the records for the start of a window: mapping of the kernel, and generated code. event is the index of the
 * state event, ns the time of the records. */
void kernel_begin(struct kernel *kernel, struct text *records, uint64_t event, uint64_t ns);

/* Appends a mapping record for each module that contains one of the addresses ips[0..n) and whose record this window
 * does not have yet. */
void kernel_modules_hit(struct kernel *kernel, struct text *records, const uint64_t *ips, uint64_t n, uint64_t event,
			uint64_t ns);

/* Appends BUILD_ID entries of the kernel, and of the modules with a record in this window. */
void kernel_build_ids(const struct kernel *kernel, struct text *section);

/* Appends one BUILD_ID entry to the section. mode is the PERF_RECORD_MISC_ CPU mode, and pid -1 stands for the
 * kernel. */
void kernel_put_build_id(struct text *section, unsigned mode, int32_t pid, const struct build_id *id, struct str path);

#endif
