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

/* Maximum of kallsyms files, and of event numbers, that are read from a window. */
#define RECORDER_KERNELS 4
#define RECORDER_EVENTS 65536

/* Contents of pjrecord's sections. */
struct recorder {
	/* The recording is a window of pjrecord. */
	bool is;
	/* Boot id: 36 hexadecimal digits and '-', or empty. */
	struct str boot;
	/* Version of the pjrecord that wrote the window; empty: unknown. */
	struct str version;
	/* Names of kallsyms files in DIR/symbols that were valid during the window, without '/'; newest first. */
	struct str kallsyms[RECORDER_KERNELS];
	size_t nkallsyms;
	/* True if `window` and `loss` are set, from the items PJ_ITEM_WINDOW and PJ_ITEM_LOSS. */
	bool has_window, has_loss;
	/* unwound: pjrecord unwound user stacks. walked[i]: it did so for event i, counted from 1; `walked` has nwalked
	 * elements, and NULL stands for all events. */
	bool unwound;
	bool *walked;
	size_t nwalked;
	struct pj_window window;
	struct pj_loss loss;
	/* Statistics of the unwinder. They are in PJ_END; an unfinished window lacks them. */
	struct pj_unwinding unwinding;
	/* Off-CPU times, of a recording with --off-cpu. They are in PJ_END. */
	struct pj_offcpu offcpu;
	/* Time at which the window ended, in ns of the record clock, of a recording with --off-cpu; 0: unknown. */
	uint64_t border;
	/* Processes of the window, sorted by pid, then start time. */
	struct pj_process *process;
	size_t nprocesses;
	/* The tenants that were over budget. */
	struct pj_tenants tenants;
	/* Statistics of pjrecord's helper processes, by their kind. */
	struct pj_helper helper[PJ_HELPERS];
	/* Idle time of the CPUs, one item for each. */
	struct pj_idle *idle;
	size_t nidle;
	/* Build-ids of mapped files, sorted by file id. */
	struct pj_build_id *file;
	size_t nfiles;
	/* Names of interpreted methods. They are in PJ_END; an unfinished window lacks them. */
	struct interpreted interpreted;
	/* Code of JVMs with its times; NULL if there is none. A file has it in PJ_END; a pipe has it before the samples
	 * that need it. */
	struct windowcode *code;
	/* Names of all code of the recording, which pjpack added to it, also to one of perf record; NULL: not packed.
	 */
	struct symbolized *symbolized;
};

/* Reads the body of one of the two features. Texts are copied into `arena`. Returns NULL, or a static text with the
 * first error; the items before and after a damaged one are used. */
const char *recorder_read(struct recorder *recorder, struct arena *arena, struct str body);

/* Returns the process with this pid. NULL if the window has none, or if several processes had the pid one after the
 * other, so that a sample cannot be assigned to one of them. */
const struct pj_process *recorder_process(const struct recorder *recorder, uint32_t pid);

/* Returns one of the items of the process with this pid: number i, from 0, in no defined order. Returns NULL if there
 * are fewer items, or if recorder_process() returns NULL. A process has several items if it moved to another tenant. */
const struct pj_process *recorder_process_at(const struct recorder *recorder, uint32_t pid, size_t i);

/* Returns true if the paths of a process with this pid are not paths of the recorded host: pjrecord set the flag
 * PJ_PROCESS_ELSEWHERE for at least one process that had this pid. */
bool recorder_elsewhere(const struct recorder *recorder, uint32_t pid);

/* Returns the build-id of the mapped file with this file id; NULL if the window has none. */
const struct pj_build_id *recorder_file(const struct recorder *recorder, const struct file_id *file_id);

/* Returns true if pjrecord unwound the user stacks of the samples of this event. Events are numbered from 1. */
bool recorder_walked(const struct recorder *recorder, uint64_t event);

/* Frees all memory; texts belong to the arena of recorder_read(). */
void recorder_free(struct recorder *recorder);

#endif
