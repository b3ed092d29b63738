/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder.h - what pjrecord says of a window, beyond perf: which boot, which process had a number, what was lost
 * (pjsection.h).
 *
 * Bodies of the two features are read as far as they are whole; what is unknown is passed over, what is longer than
 * known, too.
 */
#ifndef PJ_RECORDER_H
#define PJ_RECORDER_H

#include "fold/perfdata/interpreted.h"
#include "common/formats/pjsection.h"

#define RECORDER_KERNELS 4
#define RECORDER_EVENTS 65536

struct recorder {
	bool is;         /* a window of pjrecord */
	struct str boot; /* 36 bytes of hexadecimal digits and '-', or empty */
	struct str version;
	struct str kallsyms[RECORDER_KERNELS]; /* names of files, without '/'; newest first */
	size_t nkallsyms;
	bool has_window, has_loss;
	bool unwound; /* stacks of users were walked by the recorder: */
	bool *walked; /* by number of the event; NULL: none is told, so of all */
	size_t nwalked;
	struct pj_window window;
	struct pj_loss loss;
	struct pj_unwinding unwinding; /* known at the end */
	struct pj_process *process;    /* by pid, then start */
	size_t nprocesses;
	struct pj_tenants tenants;           /* over budget */
	struct pj_helper helper[PJ_HELPERS]; /* processes of pjrecord: by kind */
	struct pj_idle *idle;
	size_t nidle;
	struct pj_build_id *file; /* by numbers */
	size_t nfiles;
	struct interpreted interpreted; /* known at the end */
};

/* One of the features; texts are copied into a. NULL, or why it was not understood. */
const char *recorder_read(struct recorder *recorder, struct arena *arena, struct str body);

/* The process that had this number; NULL: it is not told, or several had it one after the other, so nobody can say
 * which. */
const struct pj_process *recorder_process(const struct recorder *recorder, uint32_t pid);

/* Item number i of that process, in any order: it has several if it became another tenant's meanwhile. NULL: no more.
 */
const struct pj_process *recorder_process_at(const struct recorder *recorder, uint32_t pid, size_t i);

/* Is it told that the paths of this process are not those of the recorded machine? Of several: of one of them. */
bool recorder_elsewhere(const struct recorder *recorder, uint32_t pid);

/* The build-id of the file that was mapped with these numbers; NULL: it is not told. */
const struct pj_build_id *recorder_file(const struct recorder *recorder, const struct file_id *file_id);

/* Were stacks of users walked by the recorder in samples of the event with that number, from 1? */
bool recorder_walked(const struct recorder *recorder, uint64_t event);

void recorder_free(struct recorder *recorder);

#endif
