/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.h - gives each window the process state that its samples need.
 *
 * The kernel's side-band records change the table (processes.h). A record with the name of a thread precedes the
 * thread's first sample in a window, and a mapping record precedes the first sample with an address in that mapping.
 * The recorder makes these records from the table, with the time of the sample. A later change of a name is written to
 * the window at once or before the next sample of the thread. The mapping of a jitdump, which no sample hits, is
 * written at once. All other records, including forks, are left out: a process has hundreds of mappings, of which its
 * samples hit a few.
 *
 * Order of calls for each sample: state_note (only if its stack is to be unwound), state_sampled, state_hits or
 * state_over_budget, and state_cgroup. They append the records that must precede the sample.
 */
#ifndef PJ_STATE_H
#define PJ_STATE_H

#include "record/processes/cgroups.h"
#include "record/symsaver/symsaver.h"
#include "record/processes/kernel.h"
#include "record/processes/rescan.h"
#include "record/processes/processes.h"

struct state;

/* Returns the state of this module for one recording, which the caller frees with state_free. event: id of the event of
 * side-band records, for the trailers of composed records. keep: symbol saver, or NULL. All arguments must live longer
 * than the result. */
struct state *state_new(struct processes *processes, struct cgroups *cgroups, struct kernel *kernel,
			struct symsaver *keep, struct rescan *rescan, uint64_t event);
void state_free(struct state *state);

/* Starts a window. window: 1 + serial number of the window. */
void state_begin(struct state *state, uint64_t window);

/* Applies a side-band record of the kernel to the table. Returns true if the caller must write the record to the
 * window, false if the window does not need it. May change the record: adds the build-id to mappings of jitdumps. ns:
 * time of the record (CLOCK_MONOTONIC). */
bool state_record(struct state *state, struct perf_record *perf_record, uint64_t ns);

/* To be called for a sample at the virtual address ip: if its process or thread is unknown or stale, requests a reading
 * of the process from /proc, and may wait for it (rescan_sampled). */
void state_note(struct state *state, uint32_t pid, uint32_t tid, uint64_t ip);

/* Appends records with the names of the process and thread of a sample, unless the window has them. ns, ip: time and
 * virtual address of the sample. Returns false if the name of the thread is unknown. */
bool state_sampled(struct state *state, struct text *records, uint32_t pid, uint32_t tid, uint64_t ns, uint64_t ip);

/* state_hits appends records of the mappings that contain the addresses ips[0..n) of a callchain, unless the window has
 * them. state_over_budget appends the mapping of PJ_OVER_BUDGET_PATH, which a sample over budget needs, unless the
 * window has it. ns: time of the sample. */
void state_hits(struct state *state, struct text *records, uint32_t pid, uint64_t ns, const uint64_t *ips, uint64_t n);
void state_over_budget(struct state *state, struct text *records, uint32_t pid, uint64_t ns);

/* Returns the last known tenant of a process; its kind is TENANT_UNKNOWN if the process is unknown. */
struct tenant state_tenant(const struct state *state, uint32_t pid);

/* Returns the tenant of a process. If it was never looked up, looks it up first, in at most 20 ms (rescan_identify).
 * The kind of the tenant is TENANT_UNKNOWN if the process is unknown. */
struct tenant state_identify(struct state *state, uint32_t pid);

/* Returns true if records of this process were skipped and /proc has not been read since, so that the code at its
 * addresses is unknown. */
bool state_is_stale(const struct state *state, uint32_t pid);

/* Returns true if a mapping, name or namespace record of this process at time ns must be skipped because of a storm,
 * and counts it as a loss (rescan_skips). */
bool state_skips(struct state *state, uint32_t pid, uint64_t ns);
/* Appends a CGROUP record with the path of this cgroup id, unless the window has one or the path is unknown. ns: time
 * of the sample. */
void state_cgroup(struct state *state, struct text *records, uint64_t id, uint64_t ns);

/* Ends the window: adds build-ids that became known after the samples were written. */
void state_end(struct state *state);

/* Results of a window, valid between state_end and state_begin. state_build_ids returns its BUILD_ID entries,
 * state_items its items of FEATURE_PJ_END such as PJ_ITEM_PROCESS, and state_processes the number of processes with
 * samples. */
struct str state_build_ids(const struct state *state);
struct str state_items(const struct state *state);
uint64_t state_processes(const struct state *state);

/* Returns the number of context markers among ips[0..n). */
uint64_t state_markers(const uint64_t *ips, uint64_t n);

#endif
