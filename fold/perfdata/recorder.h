/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder.h - pjrecord's own sections of a window: boot, identity of processes, losses, statistics (pjsection.h).
 *
 * A window has two such sections, the features PJ_START before the data and PJ_END after it; each is a list of items. A
 * truncated section is read up to its last complete item. Unknown items are skipped, and additional bytes of known
 * items are ignored, so that windows of a newer pjrecord can be read.
 */
#ifndef PJ_RECORDER_H
#define PJ_RECORDER_H

#include "fold/jvm/windowcode.h"
#include "fold/perfdata/interpreted.h"
#include "fold/symbolized/symbolized.h"
#include "common/formats/pjsection.h"

/* Maximum number of kallsyms files of a window; further files are ignored. */
#define RECORDER_KERNELS 4
/* Limit for event numbers in PJ_ITEM_UNWOUND: items with a number of at least this value are ignored. */
#define RECORDER_EVENTS 65536

/* Contents of pjrecord's sections. */
struct recorder {
	/* True if the recording is a window of pjrecord; false: it is from another recorder, such as perf record. */
	bool is;
	/* Boot id: 36 characters, each a hexadecimal digit or '-'; empty: unknown. */
	struct str boot;
	/* Version of the pjrecord that wrote the window; empty: unknown. */
	struct str version;
	/* Names of kallsyms files in DIR/symbols that were valid during the window, without '/'; newest first. */
	struct str kallsyms[RECORDER_KERNELS];
	size_t nkallsyms;
	/* has_window: true if `window` is set, from PJ_ITEM_WINDOW. has_loss: true if `loss` is set, from
	 * PJ_ITEM_LOSS. */
	bool has_window, has_loss;
	/* unwound: true if pjrecord unwound user stacks. walked[i]: true if it unwound the stacks of event i, counted
	 * from 1. `walked` has nwalked elements; NULL: pjrecord unwound the stacks of all events. */
	bool unwound;
	bool *walked;
	size_t nwalked;
	struct pj_window window;
	struct pj_loss loss;
	/* Statistics of the unwinder. They are in PJ_END; an unfinished window lacks them. */
	struct pj_unwinding unwinding;
	/* True if the ends of broken stacks have their reasons (PJ_MARKS_OTHER_STACK); false in a window of an earlier
	 * version, or an unfinished one. */
	bool ends_have_reasons;
	/* Totals of off-CPU times in a recording with --off-cpu, from PJ_END. */
	struct pj_offcpu offcpu;
	/* Time at which the window ended, in ns on the recording's clock; set in a recording with --off-cpu; 0:
	 * unknown. */
	uint64_t border;
	/* Maximum number of addresses in a callchain of the kernel, kernel.perf_event_max_stack; 0: unknown. */
	uint64_t max_stack;
	/* Processes of the window, sorted by pid, then start time. */
	struct pj_process *process;
	size_t nprocesses;
	/* The tenants that were over budget. */
	struct pj_tenants tenants;
	/* Statistics of pjrecord's helper processes; the index is the kind of the helper process. */
	struct pj_helper helper[PJ_HELPERS];
	/* Idle time of the CPUs, one item for each CPU. */
	struct pj_idle *idle;
	size_t nidle;
	/* Build-ids of mapped files, sorted by file id. */
	struct pj_build_id *file;
	size_t nfiles;
	/* Names of interpreted functions, and of classes of allocated objects. They are in PJ_END; an unfinished window
	 * lacks them. */
	struct interpreted interpreted;
	/* Code of JVMs, with the times at which the code existed; NULL: none. In a file this list is in PJ_END; in a
	 * pipe it precedes the samples that need it. */
	struct windowcode *code;
	/* Names of all code on the recording's stacks, which pjpack added to this recording of pjrecord or perf record;
	 * NULL if the recording is not packed. */
	struct symbolized *symbolized;
};

/* Reads the body of the feature PJ_START or PJ_END into *recorder. Texts are copied into `arena`. Returns NULL, or a
 * static text with the first error; the items before and after a damaged one are used. */
const char *recorder_read(struct recorder *recorder, struct arena *arena, struct str body);

/* Returns the process with this pid. NULL if the window has none, or if several processes had the pid one after the
 * other, so that samples cannot be assigned to these processes. */
const struct pj_process *recorder_process(const struct recorder *recorder, uint32_t pid);

/* Returns item i, from 0 in no defined order, of the process with this pid. Returns NULL if there are fewer items, or
 * if recorder_process() returns NULL. A process has several items if it moved to another tenant. */
const struct pj_process *recorder_process_at(const struct recorder *recorder, uint32_t pid, size_t i);

/* Returns true if pjrecord set the flag PJ_PROCESS_ELSEWHERE for at least one process that had this pid: the paths of
 * this process are not paths of the recorded host. Returns false otherwise. */
bool recorder_elsewhere(const struct recorder *recorder, uint32_t pid);

/* Returns the build-id of the mapped file with this file id; NULL if the window has none. */
const struct pj_build_id *recorder_file(const struct recorder *recorder, const struct file_id *file_id);

/* Returns true if pjrecord unwound the user stacks of the samples of this event. Events are numbered from 1. Returns
 * false for an event whose stacks the kernel or perf recorded. */
bool recorder_walked(const struct recorder *recorder, uint64_t event);

/* Frees all memory; texts belong to the arena of recorder_read(). */
void recorder_free(struct recorder *recorder);

#endif
