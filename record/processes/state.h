/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.h - gives each window the process state that its samples need.
 *
 * The kernel's side-band records change the table (processes.h). A record with the name of a thread precedes its
 * first sample in a window, and a record of a mapping the first sample that hits it; both are made from the table
 * with the sample's time. Later changes of names are written through, and so is the mapping of a jitdump, which no
 * sample hits. Everything else, forks included, is left out: a process has hundreds of mappings, of which its
 * samples hit a few.
 *
 * Order of calls for each sample: state_note (only if its stack is to be unwound), state_sampled, state_hits or
 * state_over_budget, and state_cgroup. They append records that belong before the sample.
 */
#ifndef PJ_STATE_H
#define PJ_STATE_H

#include "record/processes/cgroups.h"
#include "record/symsaver/symsaver.h"
#include "record/processes/kernel.h"
#include "record/processes/rescan.h"
#include "record/processes/processes.h"

struct state;

/* Returns the state of a recording. event is the index of the state event, which the composed records carry. keep is
 * the symbol saver, or NULL. All arguments must live longer than the result. */
struct state *state_new(struct processes *processes, struct cgroups *cgroups, struct kernel *kernel,
			struct symsaver *keep, struct rescan *rescan, uint64_t event);
void state_free(struct state *state);

/* Starts a window. `window` is 1 + serial number of the window. */
void state_begin(struct state *state, uint64_t window);

/* Applies a record other than a sample to the table. Returns true if the record belongs into the window, in its current
 * form: mappings of jitdumps get their build-id. */
bool state_record(struct state *state, struct perf_record *perf_record, uint64_t ns);

/* Reads the process of a sample from /proc if it, or its thread, is unknown or stale (rescan_sampled). */
void state_note(struct state *state, uint32_t pid, uint32_t tid, uint64_t ip);

/* Appends records with the names of the process and thread of a sample, unless the window has them. Returns false if
 * the name of the thread is unknown. */
bool state_sampled(struct state *state, struct text *records, uint32_t pid, uint32_t tid, uint64_t ns, uint64_t ip);

/* state_hits appends records of the mappings that contain the addresses ips[0..n), unless the window has them.
 * state_over_budget appends the mapping of PJ_OVER_BUDGET_PATH, which a sample over budget needs. */
void state_hits(struct state *state, struct text *records, uint32_t pid, uint64_t ns, const uint64_t *ips, uint64_t n);
void state_over_budget(struct state *state, struct text *records, uint32_t pid, uint64_t ns);

/* Returns the tenant of a process; its kind is TENANT_UNKNOWN if the process is unknown. */
struct tenant state_tenant(const struct state *state, uint32_t pid);

/* The same; looks the tenant up first if that was never done, for at most 20 ms (rescan_identify). */
struct tenant state_identify(struct state *state, uint32_t pid);

/* Returns true if records of mappings of this process were skipped, and /proc has not been read since. Then the code at
 * its addresses is unknown. */
bool state_is_stale(const struct state *state, uint32_t pid);

/* Returns true if a mapping, name or namespace record of this process at time ns is to be skipped, and counts it
 * (rescan_skips). */
bool state_skips(struct state *state, uint32_t pid, uint64_t ns);
/* Appends a CGROUP record with the path of this cgroup id, unless the window has it. */
void state_cgroup(struct state *state, struct text *records, uint64_t id, uint64_t ns);

/* Ends the window: adds build-ids and other facts that became known after the samples were written. */
void state_end(struct state *state);

/* Valid after state_end: BUILD_ID entries; items of FEATURE_PJ_END such as PJ_ITEM_PROCESS; number of processes in the
 * window. */
struct str state_build_ids(const struct state *state);
struct str state_items(const struct state *state);
uint64_t state_processes(const struct state *state);

/* Returns the number of context markers among ips[0..n). */
uint64_t state_markers(const uint64_t *ips, uint64_t n);

#endif
