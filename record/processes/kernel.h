/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel.h - state of the kernel for perf.data: address ranges and build-ids of its text and modules, and code that it
 * generated at run time (BPF programs, trampolines).
 *
 * A window contains the kernel's own mapping and the generated code from its start, but a module only from the first
 * sample in that module. Sources are /proc/kallsyms, /proc/modules, /sys/kernel/notes and /sys/module/NAME/notes.
 * KSYMBOL records keep the state up to date.
 */
#ifndef PJ_KERNEL_H
#define PJ_KERNEL_H

#include "common/formats/buildid.h"
#include "common/formats/perfrecord.h"
#include "common/text.h"

struct kernel;

/* Returns the state of the kernel, with address ranges and build-ids of the kernel and its modules, and the list of
 * generated code. If kptr_restrict hides the addresses, windows have no mapping of the kernel. The caller frees the
 * result with kernel_free. */
struct kernel *kernel_new(void);
void kernel_free(struct kernel *kernel);

/* Reads the list of modules again if /proc/modules has changed. */
void kernel_refresh(struct kernel *kernel);

/* Applies a KSYMBOL record, including its trailer, to the list of generated code: adds or removes an entry. */
void kernel_symbol(struct kernel *kernel, const struct perf_record *record);

/* Starts a window and appends its first records: the kernel's mapping, and KSYMBOL records of the generated code.
 * event: id of the event of side-band records, for the trailer. ns: time of the records. */
void kernel_begin(struct kernel *kernel, struct text *records, uint64_t event, uint64_t ns);

/* Appends a mapping record for each module that contains one of the kernel addresses at the start of the callchain
 * ips[0..n) and has no record in this window yet. event: id of the event of side-band records, for the trailer. ns:
 * time of the records. */
void kernel_modules_hit(struct kernel *kernel, struct text *records, const uint64_t *ips, uint64_t n, uint64_t event,
			uint64_t ns);

/* Appends the BUILD_ID entries of the kernel, and of the modules with a record in this window. */
void kernel_build_ids(const struct kernel *kernel, struct text *section);

/* Appends one BUILD_ID entry to the section. mode: CPU mode, PERF_RECORD_MISC_KERNEL or _USER. pid: -1 for the
 * kernel. */
void kernel_put_build_id(struct text *section, unsigned mode, int32_t pid, const struct build_id *id, struct str path);

#endif
